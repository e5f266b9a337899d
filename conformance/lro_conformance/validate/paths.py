"""Files that the arguments of `lro validate` name: files, directories, patterns, standard input."""

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
"""Suffixes of files of JSON lines."""

_PROFILES = ("lro.yaml", "lro.yml")
_PATTERN = frozenset("*?[")


class NothingFoundError(Exception):
    """An argument matches no file; the message names it."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to validate."""

    path: str
    named: bool
    """True for a path that is an argument itself, and for a directory that cannot be read. If the kind of such a path
    cannot be detected, that is an error; any other file is then skipped."""


def input_files(arguments: Sequence[str]) -> list[InputFile]:
    """The files that the arguments name, in their order, each once.

    Raises `NothingFoundError` for a directory without files that may be documents, and for a pattern without matches. A
    path that does not exist is kept, so that opening it fails later.
    """
    found: dict[str, InputFile] = {}
    for argument in arguments:
        for one in _expand(argument):
            if one.path not in found or one.named:
                found[one.path] = one
    return list(found.values())


def _expand(argument: str) -> list[InputFile]:
    if argument == STDIN:
        return [InputFile(STDIN, named=True)]
    unreadable: list[str] = []
    if os.path.isdir(argument):
        inside = [InputFile(path, named=False) for path in _inside(argument, unreadable)]
        inside += _unreadable_as_files(unreadable)
        if not inside:
            raise NothingFoundError(f"{argument}: no .json, .jsonl or .ndjson file and no lro.yaml in this directory")
        return inside
    if _PATTERN.isdisjoint(argument) or os.path.lexists(argument):
        return [InputFile(argument, named=True)]
    root, parts = ("/", argument[1:]) if argument.startswith("/") else ("", argument)
    paths = set(_matching(root, [part for part in parts.split("/") if part], unreadable))
    matched = [
        InputFile(path, named=False) for path in sorted(paths) if os.path.isfile(path) or not os.path.exists(path)
    ]
    if not matched and not unreadable:
        raise NothingFoundError(f"{argument}: no file matches this pattern")
    return [*_unreadable_as_files(unreadable), *matched]


def _matching(here: str, parts: list[str], unreadable: list[str], *, found: bool = False) -> Iterator[str]:
    """Paths below the directory *here* that match a pattern; *parts* are the names in the pattern, between its slashes.

    *found* is True if a wildcard led to *here*. From then on, links to directories are not followed, because they may
    point anywhere, also to files that are found in another way. Directories that cannot be read are added to
    *unreadable*.
    """
    if not parts:
        yield here
        return
    part, rest = parts[0], parts[1:]
    if part == "**":
        for folder, _, _ in _walked(here or ".", unreadable):
            below = folder if here else os.path.normpath(folder).removeprefix(".")
            yield from _matching(below, rest or ["*"], unreadable, found=True)
    elif _PATTERN.isdisjoint(part):
        path = os.path.join(here, part)
        if os.path.lexists(path) and not (rest and found and os.path.islink(path)):
            yield from _matching(path, rest, unreadable, found=found)
    else:
        for name in _names(here, unreadable):
            shown = part.startswith(".") or not name.startswith(".")
            if shown and fnmatch.fnmatchcase(name, part):
                path = os.path.join(here, name)
                if not rest or (os.path.isdir(path) and not os.path.islink(path)):
                    yield from _matching(path, rest, unreadable, found=True)


def _names(folder: str, unreadable: list[str]) -> list[str]:
    try:
        return os.listdir(folder or ".")
    except OSError:
        if os.path.isdir(folder or "."):
            unreadable.append(folder)
        return []


def _walked(folder: str, unreadable: list[str]) -> Iterator[tuple[str, list[str], list[str]]]:
    """A directory and those below it, in the order of their names, without hidden and linked ones."""
    for here, folders, files in os.walk(folder, onerror=lambda problem: unreadable.append(problem.filename)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield here, folders, files


def _unreadable_as_files(unreadable: list[str]) -> list[InputFile]:
    """Unreadable directories as input files: opening them fails with the error to report."""
    return [InputFile(path, named=True) for path in dict.fromkeys(unreadable)]


def _inside(folder: str, unreadable: list[str]) -> Iterator[str]:
    """Files in a directory, and in the directories below it, whose names are those of documents; in the order of names.

    Only regular files, neither hidden ones nor links.
    """
    for here, _, files in _walked(folder, unreadable):
        for name in sorted(files):
            path = os.path.join(here, name)
            if not name.startswith(".") and _is_candidate(name) and stat.S_ISREG(os.lstat(path).st_mode):
                yield path


def _is_candidate(name: str) -> bool:
    return name in _PROFILES or Path(plain_name(name)).suffix.lower() in (".json", *LINES)
