"""The guidance: brief, advisory, and true."""

from __future__ import annotations

import re
from typing import Any, cast

from lro_conformance.calls import Call
from lro_conformance.judge import NotApplicable, Subjects, check
from lro_conformance.records import show
from lro_conformance.trials.recipes import commands_of
from lro_conformance.trials.survey import Survey
from lro_spec.editions import Edition

BRIEF = 4000
"""The most characters of a brief block: four times what the template of the text fills."""

EXTRACT = "lro_extract"
"""The tool of native extraction."""

_COUNT = re.compile(r"([\d,._]*\d)\s+(?:memor(?:y|ies)|records?|results)\b")

_COMMANDS = re.compile(
    r"\b(you|the assistant|the model)\s+(must|have to|need to|are required to|shall)\s+(?!not\b)[^.\n]{0,60}?"
    r"\b(run|execute|use|open|read|pipe|call|invoke|shell|jq|bash|terminal)\b"
    r"|^\s*(now\s+)?(run|execute)\s+(the\s+|this\s+|these\s+)?[^.\n]{0,40}\b(command|jq|shell|bash|recipe)\w*[^.\n]{0,30}"
    r"\b(now|immediately|first|before)\b"
    r"|\b(run|execute)\b[^.\n]{0,60}\b(now|immediately)\b|\bopen\s+(your|a|the)\s+(terminal|shell|console)\b"
    r"|\balways\s+(run|execute)\b|\bdo not (answer|continue|proceed|respond)[^.\n]{0,40}\b(until|before|without)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Orders that a model without a shell could not follow. Advice ("use …", "you can", "consider") is not among them."""


@check("LRO-GUI-01")
def test_guidance_is_brief(survey: Survey, see: Subjects) -> None:
    """The guidance is a block of text, not empty, of at most 4,000 characters."""
    for call in (c for c in survey.offloaded if isinstance(c.descriptor.get("guidance"), str)):
        text = call.descriptor["guidance"]
        see.expect(
            len(text.strip()) > 0 and len(text) <= BRIEF,
            expected=f"text of 1 to {BRIEF} characters",
            observed=f"{len(text)} characters" if text.strip() else "nothing",
            at=call,
        )


@check("LRO-GUI-02")
def test_guidance_follows_the_template(survey: Survey, text: Edition, see: Subjects) -> None:
    """The guidance tells the count, the file, the recipes and that line 1 is the header, as the template does."""
    native = _extracts(survey) and "list" in text.operations
    for call in _guided(survey):
        said = _text(call)
        missing = [
            what
            for what, there in {
                "the count": _COUNT.search(said) is not None or str(len(call.filed)) in _plain_numbers(said),
                "the path of the file": str(call.descriptor.get("file_path")) in said or bool(_paths(said)),
                "the recipes": "recipe" in said.lower(),
                "the header line": native or re.search(r"header|line 1|first line", said, re.IGNORECASE) is not None,
            }.items()
            if not there
        ]
        see.expect(
            not missing,
            expected="count, file, recipes and header line",
            observed=f"missing: {', '.join(missing)}",
            at=call,
        )


@check("LRO-GUI-03")
def test_guidance_notes_the_detail(survey: Survey, see: Subjects) -> None:
    """The guidance names the active detail level."""
    for call in _guided(survey):
        level = call.summary.get("detail")
        if not isinstance(level, str) or not level:
            continue
        see.expect(
            re.search(rf"\b{re.escape(level)}\b", _text(call), re.IGNORECASE) is not None,
            expected=f"{show(level)} in the guidance",
            observed=show(_text(call), 200),
            at=call,
        )


@check("LRO-GUI-04")
def test_guidance_is_advice(survey: Survey, see: Subjects) -> None:
    """The guidance advises: it orders nothing that a model without a shell could not do."""
    for call in _guided(survey):
        order = _COMMANDS.search(_text(call))
        see.expect(
            order is None,
            expected="advice that can be skipped without a shell",
            observed=f"an order: {show(order.group(0)) if order else ''}",
            at=call,
        )


@check("LRO-GUI-05")
def test_guidance_is_true(survey: Survey, text: Edition, see: Subjects) -> None:
    """What the guidance says of count, tokens, path, level and recipe numbers is what the descriptor says."""
    for call in _guided(survey):
        wrong = _untrue(call)
        misquoted = _misquoted(call, text) if wrong is None else None
        if misquoted is not None:
            said = f"{misquoted}, as in the text's own words"
            see.erratum(expected="the descriptor's own facts", observed=said, at=call)
            continue
        if wrong is None:
            wrong = _wrong_recipe(call, _text(call), text)
        see.expect(wrong is None, expected="the descriptor's own facts", observed=wrong or "", at=call)


def _misquoted(call: Call, text: Edition) -> str | None:
    """A recipe that the guidance describes wrongly, where the text itself does and nothing else is wrong."""
    wrong = _wrong_recipe(call, _text(call), None)
    return wrong if wrong is not None and _wrong_recipe(call, _text(call), text) is None else None


@check("LRO-GUI-06")
def test_guidance_leads_to_the_tool(survey: Survey, see: Subjects) -> None:
    """Where the server lists lro_extract, the guidance names it."""
    if not _extracts(survey):
        raise NotApplicable("the server lists no lro_extract")
    for call in _guided(survey):
        see.expect(
            EXTRACT in _text(call), expected=f"guidance that names {EXTRACT}", observed=show(_text(call), 200), at=call
        )


def _extracts(survey: Survey) -> bool:
    return any(t.get("name") == EXTRACT for t in survey.tools)


def _untrue(call: Call) -> str | None:
    text = _text(call)
    numbers = {
        "count": (
            _COUNT,
            {call.summary.get("count"), len(call.filed)},
        ),
        "tokens": (
            re.compile(r"~?\s*([\d,._]*\d)\s+tokens\b"),
            {call.summary.get("estimated_tokens"), call.header.get("estimated_tokens")},
        ),
    }
    for what, (pattern, meant) in numbers.items():
        said = pattern.search(text)
        if said is None or meant <= {None, 0}:
            continue
        number = int(re.sub(r"\D", "", said.group(1)))
        if not any(isinstance(m, int) and _about(number, m) for m in meant):
            return f"{what}: it says {number}, the descriptor {sorted(m for m in meant if isinstance(m, int))}"
    path = str(call.descriptor.get("file_path"))
    named = _paths(text)
    if named and path not in text:
        return f"path: it says {show(named[0])}, the descriptor {show(path)}"
    level = re.search(r"detail(?: level)?\s*[:=]\s*[`'\"]?(light|medium|full)\b", text, re.IGNORECASE)
    meant = call.summary.get("detail")
    if level is not None and meant in ("light", "medium", "full") and level.group(1).lower() != meant:
        return f"detail level: it says {level.group(1)}, the descriptor {meant}"
    recipes = call.descriptor.get("jq_recipes")
    most = len(cast("list[Any]", recipes)) if isinstance(recipes, list) else 0
    beyond = [int(n) for n in re.findall(r"recipes?\s+#(\d+)", text) if most and not 1 <= int(n) <= most]
    if beyond:
        return f"recipe #{beyond[0]}: the descriptor has {most}"
    return None


def _wrong_recipe(call: Call, text: str, edition: Edition | None) -> str | None:
    """A recipe that the guidance describes in brackets, as the template does, and that is another one.

    What *edition* misquotes itself is passed over.
    """
    described = {c.index + 1: _words(c.description) for c in commands_of(call)}
    for number, said in re.findall(r"#(\d+)\s*\(([^)]*)\)", text):
        if edition is not None and edition.misquoted.get(int(number)) == said:
            continue
        wanted, own = _words(said), described.get(int(number), set())
        better = [n for n, words in described.items() if wanted and wanted <= words]
        if own and not wanted & own and better:
            return f"recipe #{number} is not {show(said)}: #{better[0]} is"
    return None


def _words(text: object) -> set[str]:
    """The words of a description that mean something, in the singular."""
    words = re.findall(r"[a-z]+", str(text).lower())
    return {w.rstrip("s") for w in words} - {
        "by",
        "with",
        "the",
        "of",
        "a",
        "all",
        "and",
        "in",
        "their",
        "how",
        "many",
        "ha",
    }


def _paths(text: str) -> list[str]:
    return re.findall(r"(?<![\w.])/[^\s'\"`]*?\.json\w*", text)


def _about(said: int, meant: int) -> bool:
    """Equal, or rounded to two significant figures or better."""
    return said == meant or abs(said - meant) <= 0.05 * meant


def _plain_numbers(text: str) -> str:
    return re.sub(r"(?<=\d)[,._ ](?=\d{3})", "", text)


def _guided(survey: Survey) -> list[Call]:
    return [
        c for c in survey.files if isinstance(c.descriptor.get("guidance"), str) and c.descriptor["guidance"].strip()
    ]


def _text(call: Call) -> str:
    return str(call.descriptor["guidance"])
