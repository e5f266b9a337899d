"""Servers that do not start with every value of a setting: what stands for it, and what is left out."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

from lro_conformance.bench import Bench, ServerTrouble, Settings
from lro_conformance.lab import Lab
from lro_conformance.taken import NEVER

LOW = (16, 64, 128, 256, 512, 1024, 2048)
"""Thresholds that are tried where 1 is refused: of a higher one, what most servers return by default is no excess."""
HIGH = (1_000_000, 200_000, 100_000)
"""Thresholds that are tried where `NEVER` is refused: of a lower one, many results are an excess."""


@contextmanager
def lowest_bench(lab: Lab, settings: Settings, *, keep: bool = False) -> Generator[Bench, None, None]:
    """A bench under *settings*, with a threshold of 1 if any, of a server of which nothing is known yet.

    Where it does not start, but with a greater threshold, the lowest of `LOW` that it takes stands for 1 from then on.
    Raises `ServerTrouble` with what it said first.
    """
    with _bench(lab, settings, _find_lowest, keep=keep) as bench:
        yield bench


@contextmanager
def highest_bench(lab: Lab, settings: Settings, *, keep: bool = False) -> Generator[Bench, None, None]:
    """A bench under *settings* with a threshold of `NEVER`, for which one of `HIGH` may stand from then on.

    Raises `ServerTrouble` with what the server said first.
    """
    with _bench(lab, settings, _find_highest, keep=keep) as bench:
        yield bench


@contextmanager
def bench_if_taken(lab: Lab, settings: Settings) -> Generator[Bench | None, None, None]:
    """A bench under *settings*; None where the server declines them."""
    with ExitStack() as stack:
        try:
            bench = stack.enter_context(lab.bench(settings))
        except ServerTrouble as trouble:
            if not trouble.declined:
                raise
            bench = None
        yield bench


@contextmanager
def _bench(
    lab: Lab, settings: Settings, find: Callable[[Lab, Settings], bool], *, keep: bool
) -> Generator[Bench, None, None]:
    with ExitStack() as stack:
        try:
            bench = stack.enter_context(lab.bench(settings, keep=keep))
        except ServerTrouble as trouble:
            if settings.threshold_tokens is None or not trouble.declined or not find(lab, settings):
                raise
            bench = stack.enter_context(lab.bench(settings, keep=keep))
        yield bench


def _find_lowest(lab: Lab, settings: Settings) -> bool:
    if not _starts(lab, settings, LOW[-1]):
        return False
    lab.taken.lowest = next((t for t in LOW if _starts(lab, settings, t)), LOW[-1])
    return True


def _find_highest(lab: Lab, settings: Settings) -> bool:
    lab.taken.highest = next((t for t in HIGH if _starts(lab, settings, t)), NEVER)
    return lab.taken.highest < NEVER


def _starts(lab: Lab, settings: Settings, threshold: int) -> bool:
    with suppress(ServerTrouble), lab.bench(replace(settings, threshold_tokens=threshold)):
        return True
    return False
