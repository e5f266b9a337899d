"""The requirement catalogue: every MUST, SHOULD and MAY of an edition, in our own words.

The texts live in ``requirements/*.yaml``, one file a chapter, worded for the default edition; what another edition
holds stands in ``requirements/editions/<edition>.yaml``, which `lro_spec.requirement_sets` reads. Ids have the form
``LRO-<CHAPTER>-<NN>``, are stable, and are never reused: one that several editions hold means the same in each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

import yaml

from lro_spec.editions import DEFAULT_EDITION, EDITIONS

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
"""What requirements are about. The last ones are `EXTENSIONS`."""

EXTENSIONS: tuple[str, ...] = ("proxy", "extraction")
"""Groups that bind servers with such a part only; they decide no level, and each has a verdict of its own."""


FOLDER = Path(__file__).parent / "requirements"


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
    """The conformance level it binds at (1 to 3); None where it decides no level (hardening, the protocol itself)."""
    section: str
    """The section of the specification it comes from."""
    statement: str
    """What is required."""
    rationale: str
    """Why it matters to the user of a server."""
    observed: str
    """How it is seen from outside."""
    mend: str
    """How a failure is mended."""
    editions: tuple[str, ...] = ("lro-6400",)
    """The editions whose requirement sets hold it."""
    excluded: str | None = None
    """Why no check can or should judge it; None where checks do."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """One file of the catalogue."""

    title: str
    requirements: tuple[Requirement, ...]


@cache
def chapters() -> tuple[Chapter, ...]:
    """The whole catalogue, all editions, in its reading order; a requirement is worded as its first edition has it.

    Raises `ValueError` when a file is malformed, an id is used twice, or a set names one that there is not.
    """
    from lro_spec.requirement_sets import completed

    return completed(written())


@cache
def written() -> tuple[Chapter, ...]:
    """The chapters as their files have them, without what stands in the sets of other editions."""
    return tuple(load(FOLDER))


@cache
def catalogue(edition: str = "lro-6400") -> tuple[Requirement, ...]:
    """All requirements of an edition in their reading order; none for an edition that has no set.

    Raises `ValueError` as `chapters` does.
    """
    return tuple(r for chapter in edition_chapters(edition) for r in chapter.requirements)


@cache
def edition_chapters(edition: str = "lro-6400") -> tuple[Chapter, ...]:
    """The catalogue of one edition by chapters, worded as that edition has it; empty chapters are left out.

    Which other editions hold a requirement is told by those alone: the default one is read in a hurry, and by itself.
    """
    if edition == DEFAULT_EDITION:
        own = (Chapter(c.title, tuple(r for r in c.requirements if edition in r.editions)) for c in written())
        return tuple(c for c in own if c.requirements)
    from lro_spec.requirement_sets import worded

    found = (Chapter(c.title, worded(c, edition)) for c in chapters())
    return tuple(c for c in found if c.requirements)


def requirement(id: str, edition: str = "lro-6400") -> Requirement:
    """The requirement with this id. Raises `KeyError` when the edition has none."""
    return _by_id(edition)[id]


def anywhere(id: str) -> Requirement:
    """The requirement with this id as the first edition that holds it has it. Raises `KeyError` when none does."""
    found = next((r for name in EDITIONS for r in [_by_id(name).get(id)] if r is not None), None)
    if found is None:
        raise KeyError(id)
    return found


@cache
def by_edition(id: str) -> dict[str, Requirement]:
    """What each edition that holds a requirement makes of it; empty where none does.

    Of the chapters only the one that has the id is read: to explain one requirement is to be done in a hurry.
    """
    from lro_spec.requirement_sets import in_each

    for path in sorted(FOLDER.glob("*.yaml")):
        if f"id: {id}" in path.read_text(encoding="utf-8"):
            for entry in _read(path)[1]:
                if isinstance(entry, dict) and cast("dict[str, object]", entry).get("id") == id:
                    return dict(in_each(made_of(path.name, cast("object", entry))))
    return {name: r for name in EDITIONS for r in [_by_id(name).get(id)] if r is not None}


@cache
def _by_id(edition: str) -> dict[str, Requirement]:
    return {r.id: r for r in catalogue(edition)}


def load(folder: Path) -> Iterator[Chapter]:
    """The chapters of a folder of YAML files, by file name.

    Raises `ValueError` that names the file, the entry and what is wrong with it.
    """
    used: set[str] = set()
    for path in sorted(folder.glob("*.yaml")):
        title, entries = _read(path)
        made = tuple(made_of(path.name, entry) for entry in entries)
        for r in made:
            if r.id in used:
                raise ValueError(f"{path.name}: {r.id} is used twice; ids are never reused")
            used.add(r.id)
        yield Chapter(title, made)


def read_yaml(path: Path) -> dict[str, object]:
    """The mapping that a YAML file holds, empty where it holds something else. Raises `ValueError` for no YAML."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # eight times faster, where PyYAML has libyaml
    try:
        document = cast("object", yaml.load(path.read_text(encoding="utf-8"), loader))
    except yaml.YAMLError as problem:
        raise ValueError(f"{path.name}: not YAML: {problem}") from None
    return cast("dict[str, object]", document) if isinstance(document, dict) else {}


def _read(path: Path) -> tuple[str, list[object]]:
    chapter = read_yaml(path)
    title, entries = chapter.get("chapter"), chapter.get("requirements")
    if not (isinstance(title, str) and isinstance(entries, list)):
        raise ValueError(f"{path.name}: a chapter needs the keys 'chapter', a text, and 'requirements', a list")  # noqa: TRY004
    return title, cast("list[object]", entries)


_ID = re.compile(r"LRO-[A-Z]+-\d{2}")
_KEYS = {field.name for field in fields(Requirement)}
_OPTIONAL = {"editions", "excluded"}


def made_of(file: str, entry: object) -> Requirement:
    """A requirement from an entry of a YAML file. Raises `ValueError` that names the file, the entry and the reason."""
    if not isinstance(entry, dict):
        raise ValueError(f"{file}: an entry has to be a mapping, not {entry!r}")  # noqa: TRY004 - the file is at fault
    written = cast("dict[str, Any]", entry)
    if problems := "; ".join(_problems(written)):
        raise ValueError(f"{file}: {written.get('id', 'an entry without id')}: {problems}")
    made: dict[str, Any] = {**written, "editions": tuple(written.get("editions", ("lro-6400",)))}
    return Requirement(**made)


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
        yield f"group {entry['group']!r} is none of {', '.join(GROUPS)}"
    if entry.get("keyword", "MUST") not in get_args(Keyword):
        yield f"keyword {entry['keyword']!r} is none of {', '.join(get_args(Keyword))}"
    if entry.get("level") not in (None, 1, 2, 3):
        yield f"level {entry['level']!r} is none of 1, 2, 3 and null"
