"""The data model of requirements, and the reader of their YAML files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, cast, get_args

import yaml

Keyword = Literal["MUST", "SHOULD", "MAY"]

GROUPS: tuple[str, ...] = (
    "implemented",
    "threshold",
    "detail",
    "file",
    "descriptor",
    "recipes",
    "guidance",
    "inject",
    "cleanup",
    "fallback",
    "config",
    "events",
    "protocol",
    "hardening",
    "proxy",
    "extraction",
)
"""Subjects of requirements. The last two are the `EXTENSIONS`."""

EXTENSIONS: tuple[str, ...] = ("proxy", "extraction")
"""Groups of requirements that apply only to a server with the feature of that name. They do not affect the conformance
level; each group has a verdict of its own."""

FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement of the catalogue."""

    id: str
    """``LRO-<CHAPTER>-<NN>``; never reused, never renamed."""
    title: str
    """A few words, for tables."""
    group: str
    """One of `GROUPS`."""
    keyword: Keyword
    """MUST, SHOULD or MAY; RECOMMENDED counts as SHOULD, MUST NOT as MUST."""
    level: int | None
    """The lowest conformance level (1 to 3) for which the requirement has to be met. None if no level depends on it, as
    for hardening, extensions, and rules for deployment."""
    section: str
    """The section of the specification from which the requirement comes."""
    statement: str
    """The requirement itself, in one sentence."""
    rationale: str
    """The reason for the requirement, for the user of a server."""
    observed: str
    """The experiment that shows from outside whether a server meets it."""
    fix: str
    """Advice for fixing a failure."""
    editions: tuple[str, ...] = ("lro-6400",)
    """The editions that have the requirement."""
    excluded: str | None = None
    """The reason why no check can or should judge the requirement. None if there are checks that judge it."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter of the catalogue: the requirements of a file, and those that sets of other editions add to it."""

    title: str
    requirements: tuple[Requirement, ...]


def load(folder: Path) -> Iterator[Chapter]:
    """Load the chapters of a folder of YAML files, in the order of the file names.

    Raises a `ValueError` that names the file and the problem, and also the entry if the problem is in an entry.
    """
    used_ids: set[str] = set()
    for path in sorted(folder.glob("*.yaml")):
        title, entries = read_chapter(path)
        requirements = tuple(parse_requirement(path.name, entry) for entry in entries)
        for r in requirements:
            if r.id in used_ids:
                raise ValueError(f"{path.name}: {r.id} is used twice; ids are never reused")
            used_ids.add(r.id)
        yield Chapter(title, requirements)


def read_yaml(path: Path) -> dict[str, object]:
    """The mapping in a YAML file; empty if the file has any other value. Raises `ValueError` if it is not YAML."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # eight times as fast, if PyYAML has libyaml
    try:
        document = cast("object", yaml.load(path.read_text(encoding="utf-8"), loader))
    except yaml.YAMLError as problem:
        raise ValueError(f"{path.name}: not YAML: {problem}") from None
    return cast("dict[str, object]", document) if isinstance(document, dict) else {}


def read_chapter(path: Path) -> tuple[str, list[object]]:
    """The title of a chapter and its unparsed entries.

    Raises `ValueError` if the file is not YAML, or if one of the two keys is missing or has a value of another type.
    """
    chapter = read_yaml(path)
    title, entries = chapter.get("chapter"), chapter.get("requirements")
    if not (isinstance(title, str) and isinstance(entries, list)):
        raise ValueError(f"{path.name}: a chapter needs the keys 'chapter', a text, and 'requirements', a list")  # noqa: TRY004
    return title, cast("list[object]", entries)


_ID = re.compile(r"LRO-[A-Z]+-\d{2}")
_KEYS = {field.name for field in fields(Requirement)}
_OPTIONAL = {"editions", "excluded"}


def parse_requirement(file: str, entry: object) -> Requirement:
    """A requirement from an entry of a YAML file. Raises a `ValueError` that names the file, the entry and the
    reason."""
    if not isinstance(entry, dict):
        raise ValueError(f"{file}: an entry has to be a mapping, not {entry!r}")  # noqa: TRY004 - the file is at fault
    written = cast("dict[str, Any]", entry)
    if problems := "; ".join(_problems(written)):
        raise ValueError(f"{file}: {written.get('id', 'an entry without id')}: {problems}")
    arguments: dict[str, Any] = {**written, "editions": tuple(written.get("editions", ("lro-6400",)))}
    return Requirement(**arguments)


def _problems(entry: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted(entry.keys() - _KEYS):
        yield f"unknown key {key!r}"
    for key in sorted(_KEYS - _OPTIONAL - entry.keys()):
        yield f"{key!r} is missing"
    for key in sorted(entry.keys() & (_KEYS - {"level", "editions"})):
        if not isinstance(entry[key], str) or not entry[key].strip():
            yield f"{key!r} has to be a text, not {entry[key]!r}"
    if not _ID.fullmatch(str(entry.get("id", "LRO-X-00"))):
        yield "an id has the form LRO-<CHAPTER>-<NN>"
    if entry.get("group", GROUPS[0]) not in GROUPS:
        yield f"group {entry['group']!r} is not one of {', '.join(GROUPS)}"
    if entry.get("keyword", "MUST") not in get_args(Keyword):
        yield f"keyword {entry['keyword']!r} is not one of {', '.join(get_args(Keyword))}"
    if entry.get("level") not in (None, 1, 2, 3):
        yield f"level {entry['level']!r} is not 1, 2, 3 or null"
