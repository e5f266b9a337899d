"""Which files the arguments of `lro validate` mean: files, folders, patterns, standard input."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lro_spec.jsonl.compression import plain_name

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
    """True when it was named itself: then it has to be something that can be judged."""


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
    closed: list[str] = []
    if os.path.isdir(argument):
        inside = [Chosen(path, named=False) for path in _inside(argument, closed)]
        inside += _unopened(closed)
        if not inside:
            raise NothingFoundError(f"{argument}: no .json, .jsonl or .ndjson file and no lro.yaml in this folder")
        return inside
    if _PATTERN.isdisjoint(argument) or os.path.lexists(argument):
        return [Chosen(argument, named=True)]
    root, parts = ("/", argument[1:]) if argument.startswith("/") else ("", argument)
    paths = set(_matching(root, [part for part in parts.split("/") if part], closed))
    matched = [Chosen(path, named=False) for path in sorted(paths) if os.path.isfile(path) or not os.path.exists(path)]
    if not matched and not closed:
        raise NothingFoundError(f"{argument}: no file matches this pattern")
    return [*_unopened(closed), *matched]


def _matching(here: str, parts: list[str], closed: list[str], *, found: bool = False) -> Iterator[str]:
    """What a pattern means below a folder, *parts* being its names.

    Links to folders are gone through as far as all names are written out, not where *here* was *found*: they may lead
    anywhere, and to the same files again. Folders that cannot be read are put to *closed*.
    """
    if not parts:
        yield here
        return
    part, rest = parts[0], parts[1:]
    if part == "**":
        for folder, _, _ in _walked(here or ".", closed):
            below = folder if here else os.path.normpath(folder).removeprefix(".")
            yield from _matching(below, rest or ["*"], closed, found=True)
    elif _PATTERN.isdisjoint(part):
        path = os.path.join(here, part)
        if os.path.lexists(path) and not (rest and found and os.path.islink(path)):
            yield from _matching(path, rest, closed, found=found)
    else:
        for name in _names(here, closed):
            shown = part.startswith(".") or not name.startswith(".")
            if shown and fnmatch.fnmatchcase(name, part):
                path = os.path.join(here, name)
                if not rest or (os.path.isdir(path) and not os.path.islink(path)):
                    yield from _matching(path, rest, closed, found=True)


def _names(folder: str, closed: list[str]) -> list[str]:
    try:
        return os.listdir(folder or ".")
    except OSError:
        if os.path.isdir(folder or "."):
            closed.append(folder)
        return []


def _walked(folder: str, closed: list[str]) -> Iterator[tuple[str, list[str], list[str]]]:
    """A folder and those below it, in the order of their names; no hidden ones, none behind a link."""
    for here, folders, files in os.walk(folder, onerror=lambda problem: closed.append(problem.filename)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield here, folders, files


def _unopened(closed: list[str]) -> list[Chosen]:
    """Folders that cannot be read, to be opened all the same: that fails, and is told."""
    return [Chosen(path, named=True) for path in dict.fromkeys(closed)]


def _inside(folder: str, closed: list[str]) -> Iterator[str]:
    """The candidates of a folder and those below it, by name; nothing hidden, no links, no pipes."""
    for here, _, files in _walked(folder, closed):
        for name in sorted(files):
            path = os.path.join(here, name)
            if not name.startswith(".") and _is_candidate(name) and stat.S_ISREG(os.lstat(path).st_mode):
                yield path


def _is_candidate(name: str) -> bool:
    return name in _PROFILES or Path(plain_name(name)).suffix.lower() in (".json", *LINES)
