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

_ALIKE = 3
"""Recipes with the same description are reported if there are at least this many: two may do the same in two ways."""

_EXCHANGED = 2
"""Descriptions that name other fields than their commands use are reported if there are at least this many: a single
one may be a matter of wording."""

_WORDS: Mapping[str, frozenset[str]] = {
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

_NAMES: Mapping[str, frozenset[str]] = {name: frozenset({name}) for name in _WORDS} | {
    "confidence": frozenset({"confidence", "score"}),
    "memory_type": frozenset({"memory_type", "type"}),
}
"""Names of these fields in programs."""


def unhelpful_descriptions(recipes: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """Findings about descriptions that do not help to choose a command: several are the same, or name other fields than
    their commands use."""
    # The description of a command that is listed twice counts once.
    different = {(_normal(r["description"]), r["command"]) for r in recipes}
    alike, times = Counter(about for about, _ in different).most_common(1)[0] if different else ("", 0)
    if times >= _ALIKE:
        message, expected = "recipes cannot be told apart by their descriptions", "a description of what each one does"
        observed = f"{times} with the description {show(alike)}"
        yield Finding("LRO-REC-13", Kind.REPEATED_ITEM, "/jq_recipes", message, expected, observed)
    wrong = [text for n, recipe in enumerate(recipes, 1) if (text := _other_fields(n, recipe)) is not None]
    if len(wrong) >= _EXCHANGED:
        message, expected = "descriptions do not fit their commands", "descriptions of what the commands do"
        hint = "generate descriptions and commands from the same table"
        yield Finding("LRO-REC-13", Kind.OTHER_RECIPE, "/jq_recipes", message, expected, "; ".join(wrong[:3]), hint)


def _other_fields(number: int, recipe: Mapping[str, Any]) -> str | None:
    """A clause about a description if it names fields, and its command uses other fields instead; otherwise None."""
    named = _named(str(recipe["description"]))
    try:
        pipeline = parse_command(recipe["command"])
    except RecipeSyntaxError:
        return None
    used = _used(" ".join(call.program for call in (pipeline.jq, *pipeline.more)))
    if not named or not used or named & used:
        return None
    return f"recipe {number}, {show(recipe['description'])}, uses {', '.join(sorted(used))}"


@lru_cache(maxsize=256)
def _named(description: str) -> frozenset[str]:
    """The fields that a description names."""
    words = set(re.findall(r"[a-z]+", description.lower()))
    return frozenset(field for field, known in _WORDS.items() if words & known)


@lru_cache(maxsize=256)
def _used(programs: str) -> frozenset[str]:
    """The fields that programs use."""
    names = set(re.findall(r"[a-z_]+", programs))
    return frozenset(field for field, known in _NAMES.items() if names & known)


def _normal(description: str) -> str:
    return " ".join(description.lower().split())
