"""The ten recipes: run on the file, compared with an independent evaluation of what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from lro_conformance.capture.call import Call
from lro_conformance.capture.records import is_utf8, show
from lro_conformance.judging.check import check
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.recipes import Command, Recipes, Try, hides, right, without_path
from lro_spec.editions import Edition
from lro_spec.editions import edition as edition_named
from lro_spec.recipes.pipeline import UNDERSTOOD, file_read


@check("LRO-REC-01")
def test_titles_with_scores(recipes: Recipes, subjects: Subjects) -> None:
    """Recipe 1 lists titles with scores, tab-separated."""
    purpose("LRO-REC-01", recipes, subjects)


@check("LRO-REC-02")
def test_namespace_prefix(recipes: Recipes, subjects: Subjects) -> None:
    """Recipe 2 keeps the memories whose namespace begins with a prefix."""
    purpose("LRO-REC-02", recipes, subjects)


@check("LRO-REC-03")
def test_title_keyword(recipes: Recipes, subjects: Subjects) -> None:
    """Recipe 3 keeps the memories whose title matches a keyword, in any case."""
    purpose("LRO-REC-03", recipes, subjects)


@check("LRO-REC-04")
def test_sorted_by_confidence(recipes: Recipes, subjects: Subjects) -> None:
    """Recipe 4 sorts all memories by falling confidence."""
    purpose("LRO-REC-04", recipes, subjects)


@check("LRO-REC-05")
def test_ids_and_titles(recipes: Recipes, subjects: Subjects) -> None:
    """Recipe 5 gives id, title and namespace of each memory."""
    purpose("LRO-REC-05", recipes, subjects)


@check("LRO-REC-06")
def test_memory_type(recipes: Recipes, subjects: Subjects) -> None:
    """Recipe 6 keeps the memories of one type."""
    purpose("LRO-REC-06", recipes, subjects)


@check("LRO-REC-07")
def test_with_entities(recipes: Recipes, subjects: Subjects) -> None:
    """Recipe 7 keeps the memories that have entities."""
    purpose("LRO-REC-07", recipes, subjects)


@check("LRO-REC-08")
def test_counts_by_namespace(recipes: Recipes, subjects: Subjects) -> None:
    """Recipe 8 counts the memories of each namespace, the most frequent first."""
    purpose("LRO-REC-08", recipes, subjects)


@check("LRO-REC-09")
def test_top_ten(recipes: Recipes, subjects: Subjects) -> None:
    """Recipe 9 gives the ten memories of the greatest confidence."""
    purpose("LRO-REC-09", recipes, subjects)


@check("LRO-REC-10")
def test_content_search(recipes: Recipes, subjects: Subjects) -> None:
    """Recipe 10 keeps the memories whose content matches a pattern, in any case."""
    purpose("LRO-REC-10", recipes, subjects)


def purpose(id: str, recipes: Recipes, subjects: Subjects) -> None:
    """Examine what the recipes with the purpose of a requirement gave, whatever their numbers in this edition."""
    for role, call in recipes.lacking():
        if role.requirement != id:
            continue
        number = role.number
        own = next((c for c in recipes.commands if c.call is call and c.index == number - 1), None)
        if unlisted(call, recipes):
            subjects.not_observed(UNLISTED)
        elif own is not None and own.pipeline is None:
            odd = f"its command could not be understood; understood are {UNDERSTOOD}"
            subjects.not_observed(odd if isinstance(own.text, str) else "it has no command (LRO-REC-13)")
        elif own is not None and without_path(own) in recipes.unrun:
            subjects.not_observed(recipes.unrun[without_path(own)])
        elif not is_utf8(call.file.data if call.file is not None else b""):
            subjects.not_observed(NO_TEXT)
        elif hides(recipes.edition, role, call):
            subjects.not_observed(
                "a descriptor has too few recipes (LRO-REC-13), and its file cannot tell which are missing"
            )
        else:
            subjects.expect(holds=False, expected=f"a recipe that does what #{number} does", observed="none", at=call)
    for one in (t for t in recipes.tries if t.standard.requirement == id):
        if not headed(one):
            subjects.not_observed("a file has no header on its first line, so every recipe skips a record")
            continue
        looking = f" looking for {show(one.literal)}" if one.literal is not None else ""
        meant = f"{one.agreement.expected}{looking}"
        if right(one) and one.refused is not None:
            expected = f"a command that runs as it stands, as it does{looking}"
            subjects.expect(holds=False, expected=expected, observed=one.refused, at=one)
        elif one.agreement.ok:
            subjects.expect(holds=True, expected="", observed="")
        elif one.agreement.erratum is not None:
            subjects.erratum(expected=meant, observed=one.agreement.erratum, at=one)
        elif garbled(one):
            subjects.not_observed(NO_TEXT)
        elif skips_wrongly(one):
            subjects.not_observed("it does not skip the header, or more than that")
        else:
            subjects.expect(holds=False, expected=meant, observed=one.agreement.observed, at=one)


UNLISTED = "jq_recipes is no list (LRO-DESC-01)"
NO_TEXT = "a file is not UTF-8 (LRO-FILE-01), and each reader makes another text of it"


def unlisted(call: Call, recipes: Recipes) -> bool:
    """Whether a descriptor lacks the field for recipes, or has something else there, and that is blamed already."""
    required = "jq_recipes" in edition_named(recipes.edition).descriptor_fields
    return required and not isinstance(call.descriptor.get("jq_recipes"), list)


def headed(one: Try) -> bool:
    """Whether the file begins with its header and has no other: skipping one line skips all that is no record."""
    file = one.command.call.file
    if file is None or file.header is None or file.lines[0].record is not file.header:
        return False
    mark = file.header.get("type")
    return mark is None or not any((line.record or {}).get("type") == mark for line in file.lines[1:])


def garbled(one: Try) -> bool:
    """Whether a wrong output may come of lines that are not UTF-8."""
    return not right(one) and not is_utf8(one.command.data)


def skips_wrongly(one: Try) -> bool:
    """Whether a wrong output comes of the lines that were skipped."""
    pipeline = one.command.pipeline
    skips_others = pipeline is not None and pipeline.skip != 1 and not one.header_left_out
    return not one.agreement.ok and (one.agreement.with_header or skips_others)


@check("LRO-REC-11")
def test_path_is_filled_in(recipes: Recipes, subjects: Subjects) -> None:
    """Every recipe names the file of its descriptor in place of `{file}`."""
    for one in (c for c in recipes.commands if c.pipeline is not None):
        named = one.pipeline.path if one.pipeline else ""
        meant: object = one.call.descriptor.get("file_path")
        subjects.expect(
            named == meant or (isinstance(meant, str) and recipes.real.get(named) == recipes.real.get(meant, "")),
            expected=f"the file {show(meant)}",
            observed=show(named),
            at=one,
        )
    _none(recipes, subjects)


@check("LRO-REC-12")
def test_header_is_skipped(recipes: Recipes, subjects: Subjects) -> None:
    """Every recipe skips the header line, and no record."""
    for one in (t for t in recipes.tries if headed(t)):
        if garbled(one):
            subjects.not_observed(NO_TEXT)
            continue
        subjects.expect(
            not skips_wrongly(one),
            expected=f"recipe #{one.command.index + 1} reads from line 2 on",
            observed=_skipped(one),
            at=one,
        )
    _none(recipes, subjects)


def _skipped(one: Try) -> str:
    skip = one.command.pipeline.skip if one.command.pipeline is not None else 0
    return f"it skips {skip} lines: {one.agreement.observed}"


@check("LRO-REC-13")
def test_recipes_are_well_formed(recipes: Recipes, edition: Edition, subjects: Subjects) -> None:
    """Every recipe has a description and a command, a plain pipeline that jq can run."""
    for call, listed in _counted(recipes):
        if unlisted(call, recipes):
            subjects.not_observed(UNLISTED)
            continue
        few, many = listed < edition.recipe_count, listed > edition.recipe_count and not edition.more_recipes
        wanted = f"at least {edition.recipe_count}" if edition.more_recipes else f"exactly {edition.recipe_count}"
        subjects.expect(not few and not many, expected=f"{wanted} recipes", observed=str(listed), at=call)
    for one in recipes.commands:
        wrong = malformed(one, edition)
        if wrong is not None and one.beyond_us:
            subjects.not_observed(f"recipe #{one.index + 1}: {wrong}; understood are {UNDERSTOOD}")
            continue
        subjects.expect(
            wrong is None,
            expected=f"recipe #{one.index + 1} with a description and one pipeline of plain commands",
            observed=f"{wrong}: {show(one.text, 200)}",
            at=one,
        )
    _none(recipes, subjects)


@check("LRO-REC-13")
def test_descriptions_stay_with_their_commands(recipes: Recipes, subjects: Subjects) -> None:
    """A command does not bear the description that another command has in another descriptor."""
    known: dict[str, object] = {}
    for own in _by_text(recipes):
        known = known or {text: one.description for text, one in own.items()}
        for text, one in own.items():
            others = [t for t, described in known.items() if described == one.description]
            subjects.expect(
                text not in known or not others or text in others,
                expected=f"{show(known.get(text))}, as in another descriptor, for {show(text, 120)}",
                observed=f"{show(one.description)}, which is there for {show(others[0] if others else '', 120)}",
                at=one,
            )
    _none(recipes, subjects)


def _by_text(recipes: Recipes) -> list[dict[str, Command]]:
    """The commands of each descriptor by their texts, but for the file's name."""
    found: dict[int, dict[str, Command]] = {}
    for one in (c for c in recipes.commands if c.pipeline is not None):
        found.setdefault(id(one.call), {})[without_path(one)] = one
    return list(found.values())


def _counted(recipes: Recipes) -> Iterator[tuple[Call, int]]:
    """Each descriptor with how many recipes it lists."""
    calls = {id(c.call): c.call for c in recipes.commands}
    calls |= {id(call): call for _, call in recipes.unmet}
    for call in calls.values():
        listed = call.descriptor.get("jq_recipes")
        yield call, len(cast("list[Any]", listed)) if isinstance(listed, list) else 0


def malformed(one: Command, edition: Edition) -> str | None:
    """What is wrong with a recipe as it stands; None where nothing is."""
    if not isinstance(one.description, str) or not one.description.strip():
        return "no description"
    # A row of tools that only read its file and print need not be understood beside the standard ones.
    beside = one.problem and one.index >= edition.recipe_count and isinstance(one.text, str) and file_read(one.text)
    return None if beside and beside == one.call.descriptor.get("file_path") else one.problem


def _none(recipes: Recipes, subjects: Subjects) -> None:
    if not recipes.commands:
        subjects.not_observed("no descriptor has a recipe")
