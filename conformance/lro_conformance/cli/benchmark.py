"""`lro bench` and `lro weigh`: commands of the benchmark, a package of its own that needs the extra ``bench``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import cast

import click

_PASS_THROUGH = {"allow_interspersed_args": False, "ignore_unknown_options": True}


@click.command(context_settings=_PASS_THROUGH, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="COMMAND [ARG…]")
def bench(arguments: tuple[str, ...]) -> int:
    """Measure what offloading buys. See lro bench --help."""
    return _start("bench", arguments)


@click.command(context_settings=_PASS_THROUGH, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTION…] -- COMMAND [ARG…]")
def weigh(arguments: tuple[str, ...]) -> int:
    """Count the tokens that the results of a server's own tools take up in a context. See lro weigh --help."""
    return _start("weigh", arguments)


def _start(name: str, arguments: tuple[str, ...]) -> int:
    # imported by name, and only here: nothing depends on the benchmark, whose dependencies are an extra
    run = cast("Callable[[str, Sequence[str]], int]", importlib.import_module("lro_bench.cli").main)
    return run(name, arguments)
