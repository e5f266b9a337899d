"""Guidance compared with its descriptor and file (section "Guidance Prompt")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from lro_spec.display import show
from lro_spec.editions import Edition
from lro_spec.jsonl.values import whole_number

COUNT = re.compile(r"(?<![\d,._])([\d,._]*\d)\s+(?:memor(?:y|ies)|records?|results)\b")
"""A number of records in guidance."""

_TOKENS = re.compile(r"(?<![\d,._])([\d,._]*\d)\s+tokens\b")
_BESIDE = re.compile(
    r"\b(?:threshold|limit|budget|exceed\w*|(?:more|less|fewer) than|at (?:most|least)|up to|over|above|below|under)"
    r"(?:\s+[a-z]+){0,3}[^\w,.;]*$|\b(?:top|first|last|best|newest|latest|each|every)\s+$",
    re.IGNORECASE,
)
"""Text before a number that is a bound, or that counts only some records."""
_PART = re.compile(r"(?<![\d,._])([\d,._]*\d)\s+(?:out\s+)?of\s+(?:(?:all|about|the)\s+)*$", re.IGNORECASE)
_BOUND = re.compile(r"\s+(?:threshold|limit|budget)\b", re.IGNORECASE)
_EXAMINED_CHARACTERS = 8000
"""Number of characters that are examined: twice the limit of brief guidance."""
_MOST_DIGITS = 100


def wrong_number(guidance: str, counts: Sequence[object], tokens: Sequence[object]) -> str | None:
    """The first count or number of tokens in guidance that is not in *counts* or *tokens*; None if all are."""
    for what, pattern, meant in (("count", COUNT, counts), ("tokens", _TOKENS, tokens)):
        said = next(_claims(pattern, guidance[:_EXAMINED_CHARACTERS]), ())
        known = sorted({abs(m) for m in map(whole_number, meant) if m is not None})
        numbers = [int(re.sub(r"\D", "", n)[:_MOST_DIGITS]) for n in said]
        if not numbers or not any(known):
            continue
        if not any(_about(n, m) for n in numbers for m in known):
            return f"{what}: it says {numbers[-1]}, the descriptor {known}"
    return None


def _claims(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, ...]]:
    """The numbers that a text states about the descriptor; in "40 of 200 memories" either may be meant."""
    for found in pattern.finditer(text):
        before = text[max(0, found.start() - 80) : found.start()]
        part = _PART.search(before)
        if part is not None:
            yield part.group(1), found.group(1)
        elif not _BESIDE.search(before) and not _BOUND.match(text, found.end()):
            yield (found.group(1),)


def wrong_name(guidance: str, descriptor: Mapping[str, Any]) -> str | None:
    """The first path, detail level or recipe number in guidance that contradicts the descriptor; None if there is
    none."""
    path, text = str(descriptor.get("file_path")), guidance[:_EXAMINED_CHARACTERS]
    named = paths(text)
    if named and path not in guidance:
        return f"path: it says {show(named[0])}, the descriptor {show(path)}"
    level = re.search(r"detail(?: level)?\s*[:=]\s*[`'\"]?(light|medium|full)\b", text, re.IGNORECASE)
    summary = descriptor.get("summary")
    meant = cast("dict[str, Any]", summary).get("detail") if isinstance(summary, dict) else None
    if level is not None and meant in ("light", "medium", "full") and level.group(1).lower() != meant:
        return f"detail level: it says {level.group(1)}, the descriptor {meant}"
    recipes = descriptor.get("jq_recipes")
    most = len(cast("list[Any]", recipes)) if isinstance(recipes, list) else 0
    beyond = [int(n) for n in re.findall(r"recipes?\s+#(\d{1,9})", text) if most and not 1 <= int(n) <= most]
    return f"recipe #{beyond[0]}: the descriptor has {most}" if beyond else None


def wrong_recipe(guidance: str, descriptor: Mapping[str, Any], edition: Edition | None) -> str | None:
    """A recipe number followed by the description of a different recipe in parentheses; None if there is none.

    Misquotations in the *edition*'s own text are accepted.
    """
    recipes = descriptor.get("jq_recipes")
    described = {
        number: _words(cast("dict[str, Any]", recipe).get("description") if isinstance(recipe, dict) else None)
        for number, recipe in enumerate(cast("list[object]", recipes) if isinstance(recipes, list) else [], 1)
    }
    for number, said in re.findall(r"#(\d{1,9})\s*\(([^)]*)\)", guidance[:_EXAMINED_CHARACTERS]):
        if edition is not None and edition.misquoted.get(int(number)) == said:
            continue
        wanted, own = _words(said), described.get(int(number), set())
        better = [n for n, words in described.items() if wanted and wanted <= words]
        if own and not wanted & own and better:
            return f"recipe #{number} is not {show(said)}: #{better[0]} is"
    return None


def paths(text: str) -> list[str]:
    """The parts of a text that look like the path of a JSON file."""
    return re.findall(r"(?<![\w.])/[^\s'\"`]*?\.json\w*", text)


def _words(text: object) -> set[str]:
    """The significant words of a description, in the singular."""
    words = re.findall(r"[a-z]+", str(text).lower())
    return {w.rstrip("s") for w in words} - _EMPTY


_EMPTY = frozenset(("by", "with", "the", "of", "a", "all", "and", "in", "their", "how", "many", "ha"))


def _about(said: int, meant: int) -> bool:
    """True if *said* equals *meant*, or is off by at most five percent, as a rounded number may be."""
    return said == meant or 20 * abs(said - meant) <= meant
