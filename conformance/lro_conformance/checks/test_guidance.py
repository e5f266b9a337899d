"""The guidance is brief, advisory and true."""

from __future__ import annotations

import re

from lro_conformance.analysis.documents import Documents
from lro_conformance.capture.call import Call
from lro_conformance.capture.records import show
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.survey import Survey
from lro_spec.editions import Edition
from lro_spec.validation.guidance import COUNT, paths

EXTRACT = "lro_extract"
"""Name of the native extraction tool."""

_COMMANDS = re.compile(
    r"\b(you|the assistant|the model)\s+(must|have to|need to|are required to|shall)\s+(?!(?:not|have|be able)\b)"
    r"[^.\n]{0,60}?"
    r"\b(run|execute|use|open|read|pipe|call|invoke|shell|jq|bash|terminal)\b"
    r"|^\s*(now\s+)?(run|execute)\s+(the\s+|this\s+|these\s+)?[^.\n]{0,40}\b(command|jq|shell|bash|recipe)\w*[^.\n]{0,30}"
    r"\b(now|immediately|first|before)\b"
    r"|\b(run|execute)\b[^.\n]{0,60}\b(now|immediately)\b|\bopen\s+(your|a|the)\s+(terminal|shell|console)\b"
    r"|\balways\s+(run|execute)\b|\b(start|begin) (by|with) (running|executing)\b"
    r"|\bbefore (you )?(answer|respond|continue|proceed)\w*,? (please )?(run|execute|open|read)\b"
    r"|\bdo not (answer|continue|proceed|respond)[^.\n]{0,40}\b(until|before|without)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Orders that a model without a shell could not follow. Advice ("use …", "you can", "consider") is not an order."""

_CONDITION = re.compile(r"\b(if|where|unless|provided|in case)\b[^.\n]*$", re.IGNORECASE)
"""Condition before an order that limits it to models that can follow it."""
_SENTENCE = 300
"""Characters before an order in which a condition is looked for."""


@check("LRO-GUI-01")
def test_guidance_is_brief(documents: Documents, subjects: Subjects) -> None:
    """The guidance is a block of text, not empty, of at most 4,000 characters."""
    documents.judge("LRO-GUI-01", subjects)


@check("LRO-GUI-02")
def test_guidance_follows_the_template(survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """The guidance mentions the count, the file, the recipes and that line 1 is the header, as the template does."""
    native = _extracts(survey) and "list" in edition.operations
    for call in _guided(survey):
        guidance = _text(call)
        missing = [
            what
            for what, there in {
                "the count": bool(COUNT.search(guidance)) or str(len(call.filed)) in _plain_numbers(guidance),
                "the path of the file": str(call.descriptor.get("file_path")) in guidance or bool(paths(guidance)),
                "the recipes": "recipe" in guidance.lower(),
                "the header line": native
                or re.search(r"header|line 1|first line", guidance, re.IGNORECASE) is not None,
            }.items()
            if not there
        ]
        subjects.expect(
            not missing,
            expected="count, file, recipes and header line",
            observed=f"missing: {', '.join(missing)}",
            at=call,
        )


@check("LRO-GUI-03")
def test_guidance_names_the_detail(survey: Survey, subjects: Subjects) -> None:
    """The guidance names the active detail level."""
    for call in _guided(survey):
        level = call.summary.get("detail")
        if not isinstance(level, str) or not level:
            continue
        subjects.expect(
            re.search(rf"\b{re.escape(level)}\b", _text(call), re.IGNORECASE) is not None,
            expected=f"{show(level)} in the guidance",
            observed=show(_text(call), 200),
            at=call,
        )


@check("LRO-GUI-04")
def test_guidance_is_advice(survey: Survey, subjects: Subjects) -> None:
    """The guidance advises: it gives no order that a model without a shell could not follow."""
    for call in _guided(survey):
        order = _order(_text(call))
        subjects.expect(
            order is None,
            expected="advice that can be skipped without a shell",
            observed=f"an order: {show(order)}",
            at=call,
        )


def _order(text: str) -> str | None:
    """The first unconditional order in a guidance; None if there is none."""
    for found in _COMMANDS.finditer(text):
        at = found.start()
        if not _CONDITION.search(text, max(0, at - _SENTENCE), at):
            return found.group(0)
    return None


@check("LRO-GUI-05")
def test_guidance_is_true(documents: Documents, subjects: Subjects) -> None:
    """The guidance states the same count, tokens, path, level and recipe numbers as the descriptor."""
    documents.judge("LRO-GUI-05", subjects)


@check("LRO-GUI-06")
def test_guidance_names_the_tool(survey: Survey, subjects: Subjects) -> None:
    """The guidance names lro_extract if the server lists it."""
    if not _extracts(survey):
        raise NotApplicable("the server lists no lro_extract")
    for call in _guided(survey):
        subjects.expect(
            EXTRACT in _text(call), expected=f"guidance that names {EXTRACT}", observed=show(_text(call), 200), at=call
        )


def _extracts(survey: Survey) -> bool:
    return any(t.get("name") == EXTRACT for t in survey.tools)


def _plain_numbers(text: str) -> str:
    return re.sub(r"(?<=\d)[,._ ](?=\d{3})", "", text)


def _guided(survey: Survey) -> list[Call]:
    return [
        c for c in survey.files if isinstance(c.descriptor.get("guidance"), str) and c.descriptor["guidance"].strip()
    ]


def _text(call: Call) -> str:
    return str(call.descriptor["guidance"])
