"""`lro serve`, `lro proxy` and `lro gain`: start the reference implementation, which parses the arguments."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import cast

import click

_PASS_THROUGH = {"allow_interspersed_args": False, "ignore_unknown_options": True}


@click.command(context_settings=_PASS_THROUGH, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARG…]")
def serve(arguments: tuple[str, ...]) -> int:
    """Run the reference server over stdio. See lro serve --help."""
    return _reference("lro_proxy.serve", arguments)


@click.command(context_settings=_PASS_THROUGH, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTION…] -- COMMAND [ARG…]")
def proxy(arguments: tuple[str, ...]) -> int:
    """Run a proxy that offloads the large results of any MCP server. See lro proxy --help."""
    return _reference("lro_proxy.__main__", arguments)


@click.command(context_settings=_PASS_THROUGH, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTION…]")
def gain(arguments: tuple[str, ...]) -> int:
    """Show what lro proxy saved and what it cost. See lro gain --help."""
    return _reference("lro_proxy.gain.command", arguments)


def _reference(module: str, arguments: tuple[str, ...]) -> int:
    # imported by name, and only here: the suite shares no code with the reference implementation
    run = cast("Callable[[Sequence[str]], int | None]", importlib.import_module(module).main)
    return run(list(arguments)) or 0
