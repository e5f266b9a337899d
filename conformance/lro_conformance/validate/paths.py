"""The files to which the arguments of `lro validate` refer. An argument is a file, a directory, a pattern, or ``-`` for
standard input."""

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
_WILDCARDS = frozenset("*?[")


class NothingFoundError(Exception):
    """An argument matches no file; the message names it."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to validate."""

    path: str
    named: bool
    """True for a path that is an argument itself, and for a directory that cannot be read. If the kind of such a file
    cannot be detected, that is an error. If the kind of any other file cannot be detected, the file is skipped."""


def input_files(arguments: Sequence[str]) -> list[InputFile]:
    """The files to which the arguments refer, in the order of the arguments. No file is listed twice.

    Raises `NothingFoundError` for a directory without files that may be documents, and for a pattern without matches.
    If a path does not exist, it is kept, and opening it fails later.
    """
    files_by_path: dict[str, InputFile] = {}
    for argument in arguments:
        for file in _expand(argument):
            if file.path not in files_by_path or file.named:
                files_by_path[file.path] = file
    return list(files_by_path.values())


def _expand(argument: str) -> list[InputFile]:
    if argument == STDIN:
        return [InputFile(STDIN, named=True)]
    unreadable: list[str] = []
    if os.path.isdir(argument):
        files = [InputFile(path, named=False) for path in _candidates_in(argument, unreadable)]
        files += _unreadable_as_files(unreadable)
        if not files:
            raise NothingFoundError(f"{argument}: no .json, .jsonl or .ndjson file and no lro.yaml in this directory")
        return files
    if _WILDCARDS.isdisjoint(argument) or os.path.lexists(argument):
        return [InputFile(argument, named=True)]
    root, parts = ("/", argument[1:]) if argument.startswith("/") else ("", argument)
    paths = set(_matching(root, [part for part in parts.split("/") if part], unreadable))
    matched = [
        InputFile(path, named=False) for path in sorted(paths) if os.path.isfile(path) or not os.path.exists(path)
    ]
    if not matched and not unreadable:
        raise NothingFoundError(f"{argument}: no file matches this pattern")
    return [*_unreadable_as_files(unreadable), *matched]


def _matching(start: str, parts: list[str], unreadable: list[str], *, after_wildcard: bool = False) -> Iterator[str]:
    """Yield the paths below the directory *start* that match a pattern. *parts* are the parts of the pattern between
    its slashes.

    *after_wildcard* is True if *start* itself was found by a wildcard. In this case, links to directories are not
    followed, because they may lead anywhere, even to files that are also found in another way. Directories that cannot
    be read are added to *unreadable*.
    """
    if not parts:
        yield start
        return
    part, rest = parts[0], parts[1:]
    if part == "**":
        for folder, _, _ in _walked(start or ".", unreadable):
            subfolder = folder if start else os.path.normpath(folder).removeprefix(".")
            yield from _matching(subfolder, rest or ["*"], unreadable, after_wildcard=True)
    elif _WILDCARDS.isdisjoint(part):
        path = os.path.join(start, part)
        if os.path.lexists(path) and not (rest and after_wildcard and os.path.islink(path)):
            yield from _matching(path, rest, unreadable, after_wildcard=after_wildcard)
    else:
        for name in _names(start, unreadable):
            is_eligible = part.startswith(".") or not name.startswith(".")
            if is_eligible and fnmatch.fnmatchcase(name, part):
                path = os.path.join(start, name)
                if not rest or (os.path.isdir(path) and not os.path.islink(path)):
                    yield from _matching(path, rest, unreadable, after_wildcard=True)


def _names(folder: str, unreadable: list[str]) -> list[str]:
    try:
        return os.listdir(folder or ".")
    except OSError:
        if os.path.isdir(folder or "."):
            unreadable.append(folder)
        return []


def _walked(folder: str, unreadable: list[str]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk through a directory and the directories below it, in the order of their names. Hidden directories and links
    to directories are left out."""
    for here, folders, files in os.walk(folder, onerror=lambda problem: unreadable.append(problem.filename)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield here, folders, files


def _unreadable_as_files(unreadable: list[str]) -> list[InputFile]:
    """Unreadable directories as input files. When such a file is opened later, the error is reported."""
    return [InputFile(path, named=True) for path in dict.fromkeys(unreadable)]


def _candidates_in(folder: str, unreadable: list[str]) -> Iterator[str]:
    """Files in a directory and in the directories below it that may be documents by their names, in the order of names.

    Only regular files are yielded; hidden files and links are left out.
    """
    for here, _, files in _walked(folder, unreadable):
        for name in sorted(files):
            path = os.path.join(here, name)
            if not name.startswith(".") and _is_candidate(name) and stat.S_ISREG(os.lstat(path).st_mode):
                yield path


def _is_candidate(name: str) -> bool:
    return name in _PROFILES or Path(plain_name(name)).suffix.lower() in (".json", *LINES)
