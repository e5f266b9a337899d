"""Which files the arguments of `lro validate` mean: files, folders, patterns, standard input."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lro_spec.streams import plain_name

STDIN = "-"
LINES = (".jsonl", ".ndjson")
"""What the names of files of lines end with."""

_PROFILES = ("lro.yaml", "lro.yml")
_PATTERN = frozenset("*?[")


class NothingFoundError(Exception):
    """An argument means no file at all; the message names it."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """One file to look at."""

    path: str
    named: bool
    """Whether it was named itself: then it has to be something that can be judged."""


def chosen(arguments: Sequence[str]) -> list[Chosen]:
    """The files that the arguments mean, in their order, each once.

    Raises `NothingFoundError` for a folder without any candidate and for a pattern that nothing matches. A path that
    does not exist is kept: whoever opens it says so.
    """
    found: dict[str, Chosen] = {}
    for argument in arguments:
        for one in _meant(argument):
            if one.path not in found or one.named:
                found[one.path] = one
    return list(found.values())


def _meant(argument: str) -> list[Chosen]:
    if argument == STDIN:
        return [Chosen(STDIN, named=True)]
    if os.path.isdir(argument):
        inside = [Chosen(path, named=False) for path in _inside(argument)]
        if not inside:
            raise NothingFoundError(f"{argument}: no .json, .jsonl or .ndjson file and no lro.yaml in this folder")
        return inside
    if _PATTERN.isdisjoint(argument) or os.path.lexists(argument):
        return [Chosen(argument, named=True)]
    matched = sorted(path for path in glob.glob(argument, recursive=True) if not os.path.isdir(path))
    if not matched:
        raise NothingFoundError(f"{argument}: no file matches this pattern")
    return [Chosen(path, named=False) for path in matched]


def _inside(folder: str) -> Iterator[str]:
    """The candidates of a folder and those below it, in the order of their names; no hidden ones, no links."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = os.path.join(here, name)
            if not name.startswith(".") and _is_candidate(name) and not os.path.islink(path):
                yield path


def _is_candidate(name: str) -> bool:
    return name in _PROFILES or Path(plain_name(name)).suffix.lower() in (".json", *LINES)
