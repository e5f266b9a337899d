"""The requirement catalogue: every MUST, SHOULD and MAY of an edition, in our own words.

The texts are in ``data/*.yaml``, one file per chapter, in the wording of the default edition. The requirements of
another edition are listed in its set, ``data/editions/<edition>.yaml``, which is read by `lro_spec.catalogue.overlays`.
Ids have the form ``LRO-<CHAPTER>-<NN>``, are stable and never reused. An id means the same in every edition that has
it.
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
    parse_requirement,
    read_chapter,
)
from lro_spec.catalogue.overlays import in_words_of, with_own_requirements, wordings
from lro_spec.editions import DEFAULT_EDITION, EDITIONS

__all__ = [
    "EXTENSIONS",
    "GROUPS",
    "Chapter",
    "Keyword",
    "Requirement",
    "catalogue",
    "chapters",
    "edition_chapters",
    "first_wording",
    "requirement",
    "wordings_by_edition",
]  # fmt: skip


@cache
def chapters() -> tuple[Chapter, ...]:
    """The whole catalogue, all editions, in reading order; each requirement in the wording of the first edition that
    has it.

    Raises `ValueError` if a file is malformed, an id is used twice, or a set names a new id without all of its keys.
    """
    return with_own_requirements(default_chapters())


@cache
def default_chapters() -> tuple[Chapter, ...]:
    """The chapters as they are in their own files, without the requirements that the sets of other editions add."""
    return tuple(load(FOLDER))


@cache
def catalogue(edition: str = "lro-6400") -> tuple[Requirement, ...]:
    """All requirements of an edition in reading order; empty for an edition without a set.

    Raises `ValueError` as `chapters` does.
    """
    return tuple(r for chapter in edition_chapters(edition) for r in chapter.requirements)


@cache
def edition_chapters(edition: str = "lro-6400") -> tuple[Chapter, ...]:
    """The catalogue of one edition by chapters, in the wording of that edition, without empty chapters.

    For the default edition, the sets of the other editions are not read, which saves time. Therefore the other editions
    are missing in `Requirement.editions`.
    """
    if edition == DEFAULT_EDITION:
        default_wordings = (
            Chapter(c.title, tuple(r for r in c.requirements if edition in r.editions)) for c in default_chapters()
        )
        return tuple(c for c in default_wordings if c.requirements)
    edition_wordings = (Chapter(c.title, in_words_of(c, edition)) for c in chapters())
    return tuple(c for c in edition_wordings if c.requirements)


def requirement(id: str, edition: str = "lro-6400") -> Requirement:
    """The requirement with this id. Raises `KeyError` if the edition does not have it."""
    return _by_id(edition)[id]


def first_wording(id: str) -> Requirement:
    """The requirement with this id in the wording of the first edition that has it.

    Raises `KeyError` if no edition has it.
    """
    found = next((r for name in EDITIONS for r in [_by_id(name).get(id)] if r is not None), None)
    if found is None:
        raise KeyError(id)
    return found


@cache
def wordings_by_edition(id: str) -> dict[str, Requirement]:
    """The wording of a requirement in each edition that has it, by edition. It is empty if no edition has it.

    If the id is in a chapter's own file, only that chapter and the sets are parsed, so that `lro explain` answers at
    once.
    """
    for path in sorted(FOLDER.glob("*.yaml")):
        if f"id: {id}" in path.read_text(encoding="utf-8"):
            for entry in read_chapter(path)[1]:
                if isinstance(entry, dict) and cast("dict[str, object]", entry).get("id") == id:
                    return dict(wordings(parse_requirement(path.name, cast("object", entry))))
    return {name: r for name in EDITIONS for r in [_by_id(name).get(id)] if r is not None}


@cache
def _by_id(edition: str) -> dict[str, Requirement]:
    return {r.id: r for r in catalogue(edition)}
