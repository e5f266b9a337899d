"""Guidance compared with its descriptor and file (section "Guidance Prompt")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from lro_spec.display import show
from lro_spec.editions import Edition
from lro_spec.jsonl.values import whole_number

COUNT_PATTERN = re.compile(
    r"(?<![\d,._])([\d,._]*\d)\s+"
    r"(?:memor(?:y|ies)|records?|results|notes?|articles?|tickets?|entr(?:y|ies)|items?|documents?|facts?|hits?)\b"
)
"""A number of records in guidance."""

TOKENS_PATTERN = re.compile(r"(?<![\d,._])([\d,._]*\d)\s+tokens\b")
"""A number of tokens in guidance."""

_EXAMINED_CHARACTERS = 8000
"""Only this many characters of guidance are examined: twice the limit of brief guidance."""
_MAX_DIGITS = 100


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of guidance: up to a stop (. ! ?) that white space follows, or to the end of its line."""

    text: str
    """The sentence, without the mark of a list item."""
    heading: str = ""
    """For an item of a list, the sentence with a colon that introduces the list; otherwise empty."""


_WRAPPED_LINE = re.compile(r"(?<=[^.!?:\s])[ \t]*\n[ \t]*(?=[a-z])|(?<=,)[ \t]*\n")
"""A line break within a sentence: the next line goes on in lower case, or the line before it ends in a comma."""
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•–]|\d+[.)])\s")


@lru_cache(maxsize=16)  # several requirements examine the same guidance
def sentences(guidance: str) -> tuple[Sentence, ...]:
    """The sentences of guidance, as far as it is examined (twice the limit of brief guidance)."""
    return tuple(_sentences(guidance))


def _sentences(guidance: str) -> Iterator[Sentence]:
    heading = ""
    for line in _WRAPPED_LINE.sub(" ", guidance[:_EXAMINED_CHARACTERS]).splitlines():
        item = _LIST_ITEM.match(line)
        heading = heading if item is not None else ""
        parts = [part for part in _SENTENCE_END.split(line[item.end() if item is not None else 0 :]) if part.strip()]
        yield from (Sentence(part, heading) for part in parts)
        if parts and item is None and parts[-1].rstrip().endswith(":"):
            heading = parts[-1]


# Numbers

_ABOUT_RESULT = re.compile(
    r"offload|\bsav(?:e[ds]?|ing)\b|\bwr(?:ote|itten)\b|\bstored\b|\bkept\b|\bfound\b|match|\bholds?\b|contain"
    r"|\btotal\b|returned|\bcosts?\b|\b(?:has|have|was|were|is|are)\b|/\S*\.json"
    r"|^\W*\d",
    re.IGNORECASE,
)
"""Words by which a sentence is taken to state facts about the result. Other sentences with numbers may be advice ("read
20 records at a time")."""
_ABOUT_RECIPE = re.compile(r"\brecipes?\b|#\d", re.IGNORECASE)
"""Words by which a sentence is taken to be about a recipe."""
_BEFORE_NO_TOTAL = re.compile(
    r"\b(?:threshold|limit|budget|exceed\w*|(?:more|less|fewer) than|at (?:most|least)|up to|over|above|below|under)"
    r"(?:\s+[a-z]+){0,3}[^\w,.;]*$|\b(?:top|first|last|best|newest|latest|each|every)\s+$"
    r"|\b(?:lines?|rows?|steps?|pages?|levels?|versions?|parts?|number)\s+$",
    re.IGNORECASE,
)
"""Text before a number that is a bound, a count of only some records, or the number of a line, page or version."""
_PART_BEFORE_WHOLE = re.compile(r"(?<![\d,._])([\d,._]*\d)\s+(?:out\s+)?of\s+(?:(?:all|about|the)\s+)*$", re.IGNORECASE)
"""Text before a number of which another number is a part, such as "40 of " before "200 memories"."""
_AFTER_BOUND = re.compile(r"\s+(?:threshold|limit|budget)\b", re.IGNORECASE)
"""Text after a number that is a bound."""


def wrong_number(guidance: str, counts: Sequence[object], tokens: Sequence[object]) -> str | None:
    """Return what is wrong with the numbers in guidance, in words for a finding, or None if they are right.

    They are wrong if the count in guidance is not near any of *counts*, or if its number of tokens is not near any of
    *tokens*. Only the first count and the first number of tokens are compared. Only sentences with facts about the
    result are read; advice and sentences about a recipe are not.
    """
    facts = [s.text for s in sentences(guidance) if _ABOUT_RESULT.search(s.text) and not _ABOUT_RECIPE.search(s.text)]
    for what, pattern, expected in (("count", COUNT_PATTERN, counts), ("tokens", TOKENS_PATTERN, tokens)):
        stated = next((claim for text in facts for claim in _stated_numbers(pattern, text)), ())
        expected_numbers = sorted({abs(m) for m in map(whole_number, expected) if m is not None})
        numbers = [int(re.sub(r"\D", "", n)[:_MAX_DIGITS]) for n in stated]
        if not numbers or not any(expected_numbers):
            continue
        if not any(_is_about(n, m) for n in numbers for m in expected_numbers):
            return f"{what}: guidance says {numbers[-1]}, descriptor and file {' or '.join(map(str, expected_numbers))}"
    return None


def _stated_numbers(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, ...]]:
    """The numbers that a text states about the result. Each is a tuple of the numbers that may be meant: in "40 of 200
    memories", the text may mean 40 or 200."""
    for match in pattern.finditer(text):
        text_before = text[max(0, match.start() - 80) : match.start()]
        part = _PART_BEFORE_WHOLE.search(text_before)
        if part is not None:
            yield part.group(1), match.group(1)
        elif not _BEFORE_NO_TOTAL.search(text_before) and not _AFTER_BOUND.match(text, match.end()):
            yield (match.group(1),)


def _is_about(stated: int, expected: int) -> bool:
    """True if *stated* equals *expected*, or is off by at most five percent, as a rounded number may be."""
    return stated == expected or 20 * abs(stated - expected) <= expected


# Orders

_SHELL = r"(?:shell|bash|zsh|terminal|console|command[ -]line|command prompt)\b"
_SENTENCE_START = r"(?:^|;\s)\W*(?:(?:now|first|then|next|please|always|immediately|important)\b[,:]?\s*)*"
_MUST = r"(?:must|ha(?:ve|s) to|needs? to|(?:are|is) (?:required|obliged) to|shall)\s+(?:(?:always|first|now|also)\s+)*"
_AT_ONCE = r"(?:now|immediately|first|at once|right away|before)\b"
_VERSION = re.compile(r"\bjq\s+(?:version\s+)?v?\d[\d.]*(?:\+|\s+or\s+\w+)?", re.IGNORECASE)
"""A version of jq. It is a fact about the recipes, not a program to run."""

_URGENT = re.compile(
    rf"{_SENTENCE_START}(?:run|execute)\b.{{0,80}}\b(?:command|jq|shell|bash|recipe)\w*.{{0,80}}\b{_AT_ONCE}"
    r"|\b(?:run|execute)\b.{0,60}\b(?:now|immediately)\b"
    r"|\balways\s+(?:run|execute)\b|\b(?:start|begin) (?:by|with) (?:running|executing)\b"
    r"|\bbefore (?:you )?(?:answer|respond|continue|proceed)\w*,? (?:please )?(?:run|execute|open|read)\b"
    r"|\b(?:do not|don't|never) (?:answer|continue|proceed|respond).{0,40}\b(?:until|before|without)\b"
    rf"|(?<!you can )\b(?:open|launch|enter|(?<!to )start)\s+(?:(?:your|an?|the)\s+)?(?:new\s+)?{_SHELL}"
    r"|\b(?:make|be) sure (?:to|you|that you) (?:run|execute|open)\b",
    re.IGNORECASE,
)
"""Orders that are excused only by a condition."""

_NECESSARY = re.compile(
    rf"\b(?:you|(?:the )?(?:assistant|model|agent|client|reader))s?(?:\s+will|'ll)?\s+{_MUST}"
    r"(?!(?:not|never|have|be)\b).{0,60}?"
    rf"\b(?:run|execute|open|read|pipe|call|invoke|use\b.{{0,40}}\b(?:recipe|command|tail|jq|{_SHELL}))"
    rf"|{_SENTENCE_START}(?:run|execute|pipe|type)\b.{{0,120}}\b(?:with|in|into|through|via|using|from)\s+(?:(?:your|an?|the|any)\s+)?"
    rf"(?:[\w-]+\s+)?{_SHELL}"
    rf"|\b{_MUST}be\s+(?:run|executed|opened|piped|invoked)\b"
    rf"(?!\s+(?:with|by|in|under|from|as|through|via)\s+(?!(?:your|the)\s+(?:\w+\s+)?{_SHELL}))"
    r"|\b(?:running|executing|opening)\b.{0,60}\b(?:is|are) (?:mandatory|required|obligatory|compulsory)\b"
    r"|\bit is (?:mandatory|required|essential|necessary|imperative|vital) (?:to|that you) (?:run|execute|open|pipe)\b",
    re.IGNORECASE,
)
"""Orders that are also excused by a purpose: "to see the titles you need to use recipe #1" is a fact about the
recipe."""

_REQUIRED = re.compile(
    rf"(?<!\bno )(?<!\bno other ){_SHELL}(?:\s+(?:access|tool))?\s+(?:is|will be)\s+"
    r"(?:required|needed|necessary|mandatory|essential|assumed|presumed)\b"
    r"(?!\s+(?:to (?!answer|continue|proceed)|for\b))",
    re.IGNORECASE,
)
"""A statement that a shell is needed or assumed. A shell that is needed for something other than to answer or to go on
is not meant."""

_CONDITION = re.compile(
    r"\b(?:(?<!even )(?<!as )if|where|unless|provided|in case|as long as|assuming|should (?:you|the \w+) have)\b"
    r"|\bwhen(?:ever)?\s+(?:\w+\s+){0,6}?(?:available|possible|needed|need|want|have|has|can|using|running)\b"
    rf"|\bwith (?:(?:an?|your) )?{_SHELL}(?: access)?[,:]",
    re.IGNORECASE,
)
"""A condition that limits an order to models that can follow it."""

_PURPOSE = re.compile(
    r"\b(?:to|for)\s+(?:\w+ly\s+)?(?:see|list|find|brows|extract|filter|count|get|search|narrow|sort|select|pick|look"
    r"|show|analy[sz]|check|explor|inspect|quer|retriev|rank|group|locat|view|display|fetch|summari[sz]|compar)\w*"
    r"|\bfor recipes?\b",
    re.IGNORECASE,
)
"""A purpose by which an order of `_NECESSARY` is excused."""


def first_order(guidance: str) -> str | None:
    """Return the first sentence of guidance with an order that a model without a shell could not follow.

    Returns None if there is no such sentence. Advice ("use …", "you can", "consider") is not an order. A sentence that
    depends on a condition is not an order either.
    """
    return next((sentence.text.strip() for sentence in sentences(guidance) if _has_order(sentence)), None)


@lru_cache(maxsize=1024)  # most sentences are the same in all descriptors of a server
def _has_order(sentence: Sentence) -> bool:
    text = _VERSION.sub("that version", sentence.text)
    has_purpose = _PURPOSE.search(text) is not None
    for pattern in (_URGENT, _REQUIRED) if has_purpose else (_URGENT, _NECESSARY, _REQUIRED):
        order = pattern.search(text)
        if order is not None and not _is_conditional(sentence, text, order):
            return True
    return False


def _is_conditional(sentence: Sentence, text: str, order: re.Match[str]) -> bool:
    """True if an order depends on a condition, which is before the end of the order, in the heading, or after the order
    in the same clause."""
    after = re.split(r"[;:]|,?\s+and\b", text[order.end() :], maxsplit=1)[0]
    return any(_CONDITION.search(each) for each in (sentence.heading, text[: order.end()], after))


# Paths, recipes and instructions


def wrong_name(guidance: str, descriptor: Mapping[str, Any]) -> str | None:
    """Return what is wrong, in words for a finding, if the path, the detail level or a recipe number in guidance
    contradicts the descriptor. Otherwise return None."""
    path, text = str(descriptor.get("file_path")), guidance[:_EXAMINED_CHARACTERS]
    if path not in guidance and (stated_paths := paths(text)):
        return f"path: guidance says {show(stated_paths[0])}, the descriptor {show(path)}"
    level = re.search(r"detail(?: level)?\s*[:=]\s*[`'\"]?(light|medium|full)\b", text, re.IGNORECASE)
    summary = descriptor.get("summary")
    summary_level = cast("dict[str, Any]", summary).get("detail") if isinstance(summary, dict) else None
    if level is not None and summary_level in ("light", "medium", "full") and level.group(1).lower() != summary_level:
        return f"detail level: guidance says {level.group(1)}, the descriptor {summary_level}"
    recipes = descriptor.get("jq_recipes")
    recipe_count = len(cast("list[Any]", recipes)) if isinstance(recipes, list) else 0
    unknown_numbers = [
        number for number in _recipes_in(text.replace(path, "")) if recipe_count and not 1 <= number <= recipe_count
    ]
    return f"recipe #{unknown_numbers[0]}: the descriptor has {recipe_count}" if unknown_numbers else None


def _recipes_in(text: str) -> Iterator[int]:
    """The numbers of recipes in guidance: ``#3`` after the word "recipe" in a sentence or its heading, but not in
    quotation marks."""
    for sentence in sentences(text) if "#" in text else ():
        full_text = f"{sentence.heading} {_QUOTATION.sub('', sentence.text)}"
        recipe_word = re.search(r"\brecipes?\b", full_text, re.IGNORECASE)
        if recipe_word is not None:
            yield from map(int, re.findall(r"(?<![\w&])#(\d{1,9})\b", full_text[recipe_word.end() :]))


_QUOTATION = re.compile(r"\"[^\"]*\"|`[^`]*`|\u201c[^\u201d]*\u201d|(?<!\w)'[^']*'(?!\w)")


def wrong_recipe(guidance: str, descriptor: Mapping[str, Any], edition: Edition | None) -> str | None:
    """Return what is wrong, in words for a finding, if guidance puts the description of another recipe in parentheses
    after a recipe's number. Otherwise return None.

    Misquotations in the *edition*'s own text are accepted. If *edition* is None, no misquotation is accepted.
    """
    recipes = descriptor.get("jq_recipes")
    words_by_number = {
        number: _words(cast("dict[str, Any]", recipe).get("description") if isinstance(recipe, dict) else None)
        for number, recipe in enumerate(cast("list[object]", recipes) if isinstance(recipes, list) else [], 1)
    }
    for number, stated in re.findall(r"#(\d{1,9})\s*\(([^)]*)\)", guidance[:_EXAMINED_CHARACTERS]):
        if edition is not None and edition.misquoted.get(int(number)) == stated:
            continue
        stated_words, own_words = _words(stated), words_by_number.get(int(number), set())
        matching_numbers = [n for n, words in words_by_number.items() if stated_words and stated_words <= words]
        if own_words and not stated_words & own_words and matching_numbers:
            return f"recipe #{number} is not {show(stated)}: #{matching_numbers[0]} is"
    return None


_REFERENCE = re.compile(
    r"#\d|\bjq\b|json|file|fichier|archivo|arquivo|datei|bestand|re[zc][ei]|tool|shell|command|quer|extract|summary|\bpath\b",
    re.IGNORECASE,
)
"""Words for the file, the recipes and the programs that read them, in some European languages."""
_MIN_CHARACTERS = 6
"""Minimum length of an instruction that is not in ASCII. In Chinese, for example, a word may be one character."""


def lacks_instructions(guidance: str, path: str) -> bool:
    """True if no word of a text refers to the file, the recipes or a tool.

    A text that is not in ASCII may use words that are not known here, so it only needs `_MIN_CHARACTERS` characters.
    """
    if path in guidance or _REFERENCE.search(guidance):
        return False
    return guidance.isascii() or len(guidance.strip()) < _MIN_CHARACTERS


def paths(text: str) -> list[str]:
    """The parts of a text that look like the path of a JSON file."""
    return re.findall(r"(?<![\w.])/[^\s'\"`]*?\.json\w*", text)


def _words(text: object) -> set[str]:
    """The significant words of a description, without a final s."""
    words = re.findall(r"[a-z]+", str(text).lower())
    return {w.rstrip("s") for w in words} - _INSIGNIFICANT_WORDS


_INSIGNIFICANT_WORDS = frozenset(("by", "with", "the", "of", "a", "all", "and", "in", "their", "how", "many", "ha"))
"""Words that are not significant, without a final s. For example, "ha" is "has"."""
