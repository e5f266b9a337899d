"""Requirement sets of the editions other than the default one: ``data/editions/*.yaml``.

A set has two parts. ``held`` lists the ids that keep their wording, by section of the edition's text. ``requirements``
has an entry for each id with another wording; the entry has only the keys that differ. It also has an entry with all
keys for each new id. An id is new if it is missing in the default edition and in the sets of the earlier files. A
requirement that a set does not name is not part of the edition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from lro_spec.catalogue.model import FOLDER, Chapter, Requirement, parse_requirement, read_yaml

_KEYS = {f.name for f in fields(Requirement)} - {"editions"}


@dataclass(frozen=True, slots=True)
class RequirementSet:
    """The set of one edition."""

    edition: str
    changes: Mapping[str, Mapping[str, Any]]
    """For each id, the keys that differ from the first edition that has the requirement. If this edition is the first,
    all keys."""


@cache
def sets() -> tuple[RequirementSet, ...]:
    """All sets, in the order of their file names. Raises a `ValueError` that names the file and the problem."""
    return tuple(read(path) for path in sorted((FOLDER / "editions").glob("*.yaml")))


def read(path: Path) -> RequirementSet:
    """Return the set in one file.

    Raises a `ValueError` that names the file and the problem, and also the id if the problem is in an entry.
    """
    document = read_yaml(path)
    held, entries = document.get("held"), document.get("requirements")
    if not (document.get("edition") == path.stem and isinstance(held, dict) and isinstance(entries, list)):
        keys = f"'edition', which is {path.stem}, 'held', a mapping, and 'requirements', a list"
        raise ValueError(f"{path.name}: a set needs the keys {keys}")
    changes: dict[str, Mapping[str, Any]] = {}
    for id, change in (*_held(cast("dict[str, list[str]]", held)), *_entries(path.name, cast("list[object]", entries))):
        if id in changes:
            raise ValueError(f"{path.name}: {id} is listed twice")
        changes[id] = change
    return RequirementSet(path.stem, changes)


def _held(held: Mapping[str, list[str]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for section, ids in held.items():
        for id in ids:
            yield id, {"section": section}


def _entries(file: str, entries: list[object]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for entry in entries:
        written = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        unknown = sorted(written.keys() - _KEYS)
        if "id" not in written or unknown:
            problem = f"unknown key {unknown[0]!r}" if unknown else f"an entry without id: {entry!r:.80}"
            raise ValueError(f"{file}: {written.get('id', 'an entry')}: {problem}")
        yield written["id"], {k: v for k, v in written.items() if k != "id"}


def with_own_requirements(chapters: tuple[Chapter, ...]) -> tuple[Chapter, ...]:
    """The chapters, extended by the requirements that the default edition lacks; each requirement names all editions
    that have it.

    Raises `ValueError` if a set is malformed, or if an added requirement lacks a key or belongs to no chapter.
    """
    requirements = {r.id: r for c in chapters for r in c.requirements}
    for requirement_set in sets():
        for id, change in requirement_set.changes.items():
            if id in requirements:
                requirements[id] = _also_in(requirements[id], requirement_set.edition)
            else:
                requirements[id] = parse_requirement(
                    f"{requirement_set.edition}.yaml", {"id": id, **change, "editions": [requirement_set.edition]}
                )
    chapter_by_prefix = {_prefix(r.id): c.title for c in chapters for r in c.requirements}
    without_chapter = [id for id in requirements if _prefix(id) not in chapter_by_prefix]
    if without_chapter:
        raise ValueError(f"{without_chapter[0]}: no chapter has ids with this prefix")
    return tuple(Chapter(c.title, _placed(c, requirements, chapter_by_prefix)) for c in chapters)


def _placed(
    chapter: Chapter, requirements: Mapping[str, Requirement], chapter_by_prefix: Mapping[str, str]
) -> tuple[Requirement, ...]:
    """The requirements of a chapter. A requirement that a set adds comes after the others with the same prefix."""
    own = [r.id for r in chapter.requirements]
    added = [id for id in requirements if chapter_by_prefix[_prefix(id)] == chapter.title and id not in own]
    order: list[str] = []
    for prefix, ids in groupby(own, _prefix):
        order += [*ids, *(id for id in added if _prefix(id) == prefix)]
    return tuple(requirements[id] for id in dict.fromkeys(order))


def in_words_of(chapter: Chapter, edition: str) -> tuple[Requirement, ...]:
    """Those requirements of a chapter that are part of an edition, in the wording of that edition."""
    changes = {id: change for s in sets() if s.edition == edition for id, change in s.changes.items()}
    return tuple(_changed(r, changes.get(r.id), edition) for r in chapter.requirements if edition in r.editions)


def wordings(requirement: Requirement) -> Iterator[tuple[str, Requirement]]:
    """The wordings of a requirement that was read from a chapter's own file, each with the name of its edition."""
    yield from ((edition, requirement) for edition in requirement.editions)
    changes = {s.edition: s.changes[requirement.id] for s in sets() if requirement.id in s.changes}
    for edition in changes:
        requirement = _also_in(requirement, edition)
    yield from ((edition, _changed(requirement, change, edition)) for edition, change in changes.items())


def _also_in(requirement: Requirement, edition: str) -> Requirement:
    return replace(requirement, editions=tuple(dict.fromkeys((*requirement.editions, edition))))


def _changed(requirement: Requirement, change: Mapping[str, Any] | None, edition: str) -> Requirement:
    if not change:
        return requirement
    entry = {name: getattr(requirement, name) for name in requirement.__slots__}
    if entry["excluded"] is None:
        del entry["excluded"]
    if change.get("excluded", "") is None:
        entry.pop("excluded", None)
    changed = parse_requirement(
        f"{edition}.yaml", entry | {k: v for k, v in change.items() if v is not None or k == "level"}
    )
    return replace(changed, editions=requirement.editions)


def _prefix(id: str) -> str:
    return id.rpartition("-")[0]
