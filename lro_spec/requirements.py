"""The requirement catalogue: every MUST, SHOULD and MAY of an edition, in our own words.

The texts live in ``requirements/*.yaml``, one file a chapter; this module loads them and nothing else. Ids have the
form ``LRO-<CHAPTER>-<NN>``, are stable, and are never reused.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

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
)


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
    """The conformance level it binds at (1 to 3); None where it never decides a level (hardening, the protocol itself)."""
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
    editions: tuple[str, ...]
    """The editions whose requirement sets hold it."""
    excluded: str | None = None
    """Why no check can or should judge it; None where checks do."""


@cache
def catalogue(edition: str = "lro-6400") -> tuple[Requirement, ...]:
    """All requirements of an edition, by chapter file and in the order written there.

    Raises `ValueError` when a chapter file is malformed or an id is used twice.
    """
    found: dict[str, Requirement] = {}
    for path in sorted((Path(__file__).parent / "requirements").glob("*.yaml")):
        for entry in _entries(path):
            requirement = _requirement(path.name, entry)
            if requirement.id in found:
                raise ValueError(f"{path.name}: {requirement.id} is used twice; ids are never reused")
            found[requirement.id] = requirement
    return tuple(r for r in found.values() if edition in r.editions)


def requirement(id: str, edition: str = "lro-6400") -> Requirement:
    """The requirement with this id. Raises `KeyError` when the edition has none."""
    return _by_id(edition)[id]


@cache
def _by_id(edition: str) -> dict[str, Requirement]:
    return {r.id: r for r in catalogue(edition)}


def _entries(path: Path) -> list[dict[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506 - a safe loader either way
    return cast("list[dict[str, Any]]", document["requirements"])


def _requirement(file: str, entry: dict[str, Any]) -> Requirement:
    try:
        made = Requirement(**{"editions": ("lro-6400",), **entry, **_tuple(entry)})
    except TypeError as problem:
        raise ValueError(f"{file}: {entry.get('id', 'an entry without id')}: {problem}") from None
    if made.group not in GROUPS:
        raise ValueError(f"{file}: {made.id}: group {made.group!r} is none of {', '.join(GROUPS)}")
    return made


def _tuple(entry: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    return {"editions": tuple(entry["editions"])} if "editions" in entry else {}
