"""Recipes in an edition whose library depends on the detail level of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lro_conformance.analysis.documents import Commands, Documents
from lro_conformance.capture.call import Call
from lro_conformance.capture.recipes import Command
from lro_conformance.capture.records import Record
from lro_conformance.judging.check import check
from lro_conformance.judging.subjects import Subjects
from lro_spec.editions import Edition
from lro_spec.recipes.lexer import field_paths
from lro_spec.validation.recipes import level_in


@check("LRO-REC-14")
def test_titles_with_namespaces(recipes: Documents, subjects: Subjects) -> None:
    """A recipe lists titles with namespaces, tab-separated."""
    recipes.judge("LRO-REC-14", subjects)


@check("LRO-REC-15")
def test_by_tag(recipes: Documents, subjects: Subjects) -> None:
    """A recipe selects the memories that have a certain tag."""
    recipes.judge("LRO-REC-15", subjects)


@check("LRO-REC-16")
def test_sorted_by_date(recipes: Documents, subjects: Subjects) -> None:
    """A recipe sorts all memories by their date of creation."""
    recipes.judge("LRO-REC-16", subjects)


@check("LRO-REC-17")
def test_unique_namespaces(recipes: Documents, subjects: Subjects) -> None:
    """For a light file, a recipe lists each namespace once."""
    recipes.judge("LRO-REC-17", subjects)


@check("LRO-REC-18")
def test_counts_by_type(recipes: Documents, subjects: Subjects) -> None:
    """For a light file, a recipe counts the memories of each type."""
    recipes.judge("LRO-REC-18", subjects)


@check("LRO-REC-19")
def test_fields_are_those_of_the_level(commands: Commands, edition: Edition, subjects: Subjects) -> None:
    """No recipe names a field that only records of another detail level have."""
    files = {id(c.call): c.call for c in commands}.values()
    records: dict[str, list[Record]] = {}
    for call in files:
        records.setdefault(_level(edition, call), []).extend(call.file_records)
    records = {level: found for level, found in records.items() if found}
    if len(records) < 2:
        subjects.not_observed("there are no files of two different detail levels")
        return
    for one in (c for c in commands if c.pipeline is not None and c.call.file_records):
        level_of_file = _level(edition, one.call)
        records_of_other_levels = [r for level, found in records.items() if level != level_of_file for r in found]
        foreign_fields = [
            p for p in fields_of(one) if not _has(records[level_of_file], p) and _has(records_of_other_levels, p)
        ]
        subjects.expect(
            not foreign_fields,
            expected=f"recipe #{one.index + 1} at level {level_of_file}: only fields that records of this level have",
            observed=f".{'.'.join(foreign_fields[0])}, which only records of another level have: {one.text}"
            if foreign_fields
            else "",
            subject=one,
        )


@check("LRO-REC-20")
def test_no_recipe_names_the_score(recipes: Documents, subjects: Subjects) -> None:
    """No recipe refers to .score."""
    recipes.judge("LRO-REC-20", subjects)


def fields_of(command: Command) -> Iterator[tuple[str, ...]]:
    """Paths of the fields to which the jq programs of a command refer. String literals are ignored."""
    pipeline = command.pipeline
    for call in (pipeline.jq, *pipeline.more) if pipeline is not None else ():
        yield from field_paths(call.program)


def _level(edition: Edition, call: Call) -> str:
    return level_in(edition, call.header, call.summary)


def _has(records: Iterable[Record], path: tuple[str, ...]) -> bool:
    """True if a record has a field at *path*, whatever its value."""
    for record in records:
        value: object = record
        for key in path:
            if not isinstance(value, dict) or key not in value:
                break
            value = value[key]  # pyright: ignore[reportUnknownVariableType]
        else:
            return True
    return False
