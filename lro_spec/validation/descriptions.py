"""Descriptions of recipes, compared with one another and with their commands (section "Standard jq Recipe Library")."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from lro_spec.display import show
from lro_spec.findings import Finding, Kind
from lro_spec.recipes.pipeline import parse_command
from lro_spec.recipes.shell import RecipeSyntaxError

_MIN_REPEATED = 3
"""Recipes with the same description are reported if there are at least this many. Two recipes may do the same in two
ways."""

_MIN_MISFITS = 2
"""Descriptions that name other fields than their commands use are reported if there are at least this many. A single
such description may be a matter of wording."""

_FIELD_WORDS: Mapping[str, frozenset[str]] = {
    "title": frozenset({"title", "titles"}),
    "namespace": frozenset({"namespace", "namespaces"}),
    "confidence": frozenset({"confidence", "confident", "score", "scores"}),
    "memory_type": frozenset({"type", "types"}),
    "entities": frozenset({"entity", "entities"}),
    "content": frozenset({"content"}),
    "id": frozenset({"id", "ids"}),
    "tags": frozenset({"tag", "tags"}),
}
"""English words for the fields that standard recipes use. "contents" is not one of them, because it may mean the
contents of the file."""

_FIELD_NAMES: Mapping[str, frozenset[str]] = {name: frozenset({name}) for name in _FIELD_WORDS} | {
    "confidence": frozenset({"confidence", "score"}),
    "memory_type": frozenset({"memory_type", "type"}),
}
"""Names of these fields in programs."""


def unhelpful_descriptions(recipes: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """Findings about descriptions that do not help to choose a command. Several descriptions are the same, or several
    name other fields than their commands use."""
    # The description of a command that is listed twice counts once.
    distinct = {(_normalised(r["description"]), r["command"]) for r in recipes}
    repeated, repetitions = (
        Counter(description for description, _ in distinct).most_common(1)[0] if distinct else ("", 0)
    )
    if repetitions >= _MIN_REPEATED:
        message, expected = "recipes cannot be told apart by their descriptions", "a description of what each one does"
        observed = f"{repetitions} with the description {show(repeated)}"
        yield Finding("LRO-REC-13", Kind.REPEATED_ITEM, "/jq_recipes", message, expected, observed)
    misfits = [text for n, recipe in enumerate(recipes, 1) if (text := _other_fields(n, recipe)) is not None]
    if len(misfits) >= _MIN_MISFITS:
        message, expected = "descriptions do not fit their commands", "descriptions of what the commands do"
        hint = "generate descriptions and commands from the same table"
        yield Finding("LRO-REC-13", Kind.OTHER_RECIPE, "/jq_recipes", message, expected, "; ".join(misfits[:3]), hint)


def _other_fields(number: int, recipe: Mapping[str, Any]) -> str | None:
    """Return a clause about a description that names fields, if its command uses other fields instead. Otherwise
    None."""
    described = _described_fields(str(recipe["description"]))
    try:
        pipeline = parse_command(recipe["command"])
    except RecipeSyntaxError:
        return None
    used_fields = _used_fields(" ".join(call.program for call in (pipeline.jq, *pipeline.more)))
    if not described or not used_fields or described & used_fields:
        return None
    return f"recipe {number}, {show(recipe['description'])}, uses {', '.join(sorted(used_fields))}"


@lru_cache(maxsize=256)
def _described_fields(description: str) -> frozenset[str]:
    """The fields that a description names."""
    words = set(re.findall(r"[a-z]+", description.lower()))
    return frozenset(field for field, field_words in _FIELD_WORDS.items() if words & field_words)


@lru_cache(maxsize=256)
def _used_fields(programs: str) -> frozenset[str]:
    """The fields that programs use."""
    names = set(re.findall(r"[a-z_]+", programs))
    return frozenset(field for field, field_names in _FIELD_NAMES.items() if names & field_names)


def _normalised(description: str) -> str:
    return " ".join(description.lower().split())
