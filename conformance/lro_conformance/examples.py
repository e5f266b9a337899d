"""Hypothesis as a run uses it: no file in the user's folder, and a seed means the same examples everywhere."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import hypothesis.internal.conjecture.providers as providers
from hypothesis.configuration import set_hypothesis_home_dir, storage_directory
from hypothesis.internal.entropy import deterministic_PRNG


@contextmanager
def on_its_own(folder: Path) -> Generator[None]:
    """Hypothesis keeps its tables in *folder* for a while, and draws no constants from the modules that are loaded.

    By itself it reads the source of every module outside of site-packages for numbers and strings to try: that takes
    as long as ten starts of a server, and a seed would find other examples from a checkout than from an installation.
    There is no public switch; where a later Hypothesis has another inside, its usual way is kept.
    """
    usual = storage_directory(intent_to_write=False).home_directory
    set_hypothesis_home_dir(folder)
    with deterministic_PRNG():
        pass  # the first time it collects garbage: little now, much among all that a run finds
    inside: Any = providers
    before: dict[str, object] = {}
    with suppress(AttributeError, TypeError):
        none, cache = inside.Constants(), inside.LRUCache(1024)
        changed: dict[str, object] = {"_get_local_constants": lambda: none, "CONSTANTS_CACHE": cache}
        before = {name: getattr(inside, name) for name in changed}
        _set(inside, changed)
    try:
        yield
    finally:
        _set(inside, before)
        set_hypothesis_home_dir(usual)


def _set(module: object, values: Mapping[str, object]) -> None:
    for name, value in values.items():
        setattr(module, name, value)
