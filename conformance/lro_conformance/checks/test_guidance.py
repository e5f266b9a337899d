"""The guidance is brief, advisory and true."""

from __future__ import annotations

import re

from lro_conformance.analysis.documents import Documents
from lro_conformance.analysis.results import EXTRACT, names_extraction
from lro_conformance.capture.call import Call
from lro_conformance.capture.records import show
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.survey import Survey
from lro_spec.editions import Edition
from lro_spec.jsonl.values import whole_number
from lro_spec.validation.guidance import COUNT_PATTERN, TOKENS_PATTERN, paths


@check("LRO-GUI-01")
def test_guidance_is_brief(documents: Documents, subjects: Subjects) -> None:
    """The guidance is a block of instructions of at most 4,000 characters. It refers to the file, to the recipes or to
    a tool.

    If the guidance is not in ASCII, only its length is examined: it needs at least six characters (I-47).
    """
    documents.judge("LRO-GUI-01", subjects)


@check("LRO-GUI-02")
def test_guidance_follows_the_template(survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """The guidance mentions what the template mentions: the count, the tokens saved, the file, the recipes and the
    header line.

    In an edition that has the operation `list`, a server that lists the tool lro_extract need not mention the header
    line.
    """
    header_is_optional = _lists_extraction_tool(survey) and "list" in edition.operations
    for call in _calls_with_guidance(survey):
        guidance = _guidance_of(call)
        missing = [
            element
            for element, is_mentioned in {
                "the count": bool(COUNT_PATTERN.search(guidance))
                or str(len(call.file_records)) in _plain_numbers(guidance),
                "the tokens saved": bool(TOKENS_PATTERN.search(guidance)) or _names_estimate(call),
                "the path of the file": str(call.descriptor.get("file_path")) in guidance or bool(paths(guidance)),
                "the recipes": "recipe" in guidance.lower(),
                "the header line": header_is_optional
                or re.search(r"header|metadata|line 1|first line", guidance, re.IGNORECASE) is not None,
            }.items()
            if not is_mentioned
        ]
        subjects.expect(
            not missing,
            expected="count, tokens saved, file"
            + (" and recipes" if header_is_optional else ", recipes and header line"),
            observed=f"missing: {', '.join(missing)}",
            subject=call,
        )


@check("LRO-GUI-03")
def test_guidance_names_the_detail(survey: Survey, subjects: Subjects) -> None:
    """The guidance names the active detail level."""
    for call in _calls_with_guidance(survey):
        level = call.summary.get("detail")
        if not isinstance(level, str) or not level:
            continue
        subjects.expect(
            re.search(rf"\b{re.escape(level)}\b", _guidance_of(call), re.IGNORECASE) is not None,
            expected=f"{show(level)} in the guidance",
            observed=show(_guidance_of(call), 200),
            subject=call,
        )


@check("LRO-GUI-04")
def test_guidance_is_advice(documents: Documents, subjects: Subjects) -> None:
    """The guidance gives advice. It does not order the model to run a command, because a model without a shell could
    not do that."""
    documents.judge("LRO-GUI-04", subjects)


@check("LRO-GUI-05")
def test_guidance_is_true(documents: Documents, subjects: Subjects) -> None:
    """The guidance states the same count, tokens, path, level and recipe numbers as the descriptor."""
    documents.judge("LRO-GUI-05", subjects)


@check("LRO-GUI-06")
def test_guidance_names_the_tool(survey: Survey, subjects: Subjects) -> None:
    """The guidance names lro_extract if the server lists it."""
    if not _lists_extraction_tool(survey):
        raise NotApplicable("the server lists no lro_extract")
    for call in _calls_with_guidance(survey):
        subjects.expect(
            names_extraction(call.descriptor),
            expected=f"guidance that names {EXTRACT}",
            observed=show(_guidance_of(call), 200),
            subject=call,
        )


def _lists_extraction_tool(survey: Survey) -> bool:
    return any(t.get("name") == EXTRACT for t in survey.tools)


def _plain_numbers(text: str) -> str:
    """The text without the characters that separate thousands in its numbers."""
    return re.sub(r"(?<=\d)[,._ ](?=\d{3})", "", text)


def _names_estimate(call: Call) -> bool:
    """True if the guidance contains the value of estimated_tokens in the summary or in the header, whatever the words
    around it."""
    estimates = (call.summary.get("estimated_tokens"), call.header.get("estimated_tokens"))
    return any(
        re.search(rf"(?<!\d){n}(?!\d)", _plain_numbers(_guidance_of(call))) for n in map(whole_number, estimates) if n
    )


def _calls_with_guidance(survey: Survey) -> list[Call]:
    """The calls that have a readable file, and a descriptor with guidance that is not blank."""
    return [
        c for c in survey.files if isinstance(c.descriptor.get("guidance"), str) and c.descriptor["guidance"].strip()
    ]


def _guidance_of(call: Call) -> str:
    return str(call.descriptor["guidance"])
