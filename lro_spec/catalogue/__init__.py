"""The requirement catalogue: every MUST, SHOULD and MAY of an edition, in our own words.

The texts live in ``data/*.yaml``, one file a chapter, worded for the default edition; what another edition
holds stands in ``data/editions/<edition>.yaml``, which `lro_spec.catalogue.overlays` reads. Ids have the form
``LRO-<CHAPTER>-<NN>``, are stable, and are never reused: one that several editions hold means the same in each.
"""

from __future__ import annotations

from functools import cache
from typing import cast

from lro_spec.catalogue.model import (
    EXTENSIONS,
    FOLDER,
    GROUPS,
    Chapter,
    Keyword,
    Requirement,
    load,
    made_of,
    read_chapter,
)
from lro_spec.catalogue.overlays import completed, in_each, worded
from lro_spec.editions import DEFAULT_EDITION, EDITIONS

__all__ = [
    "EXTENSIONS", "GROUPS", "Chapter", "Keyword", "Requirement", "anywhere", "by_edition", "catalogue", "chapters",
    "edition_chapters", "requirement",
]  # fmt: skip


@cache
def chapters() -> tuple[Chapter, ...]:
    """The whole catalogue, all editions, in its reading order; a requirement is worded as its first edition has it.

    Raises `ValueError` when a file is malformed, an id is used twice, or a set names one that there is not.
    """
    return completed(written())


@cache
def written() -> tuple[Chapter, ...]:
    """The chapters of the default edition's files, without the sets of other editions."""
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

    The default edition is read without the sets of the others, which saves time; its requirements do not name them.
    """
    if edition == DEFAULT_EDITION:
        own = (Chapter(c.title, tuple(r for r in c.requirements if edition in r.editions)) for c in written())
        return tuple(c for c in own if c.requirements)
    every = (Chapter(c.title, worded(c, edition)) for c in chapters())
    return tuple(c for c in every if c.requirements)


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
    """A requirement as each edition that has it words it, by edition; empty if none has it.

    Only the chapter with the id is read, so that `lro explain` answers at once.
    """
    for path in sorted(FOLDER.glob("*.yaml")):
        if f"id: {id}" in path.read_text(encoding="utf-8"):
            for entry in read_chapter(path)[1]:
                if isinstance(entry, dict) and cast("dict[str, object]", entry).get("id") == id:
                    return dict(in_each(made_of(path.name, cast("object", entry))))
    return {name: r for name in EDITIONS for r in [_by_id(name).get(id)] if r is not None}


@cache
def _by_id(edition: str) -> dict[str, Requirement]:
    return {r.id: r for r in catalogue(edition)}
