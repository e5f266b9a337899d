"""`lro serve` and `lro proxy`: the reference implementation, which reads its own arguments."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import cast

import click

_ITS_OWN = {"allow_interspersed_args": False, "ignore_unknown_options": True}


@click.command(context_settings=_ITS_OWN, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARG…]")
def serve(arguments: tuple[str, ...]) -> int:
    """Run the reference server over stdio; its own --help names its arguments."""
    return _reference("lro_reference.__main__", arguments)


@click.command(context_settings=_ITS_OWN, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTION…] -- COMMAND [ARG…]")
def proxy(arguments: tuple[str, ...]) -> int:
    """Offload the large results of any MCP server, between it and the client; its own --help names its options."""
    return _reference("lro_reference.proxy.__main__", arguments)


def _reference(module: str, arguments: tuple[str, ...]) -> int:
    # by name, and only here: the judge shares no code with the reference implementation
    run = cast("Callable[[Sequence[str]], int | None]", importlib.import_module(module).main)
    return run(list(arguments)) or 0
