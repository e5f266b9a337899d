"""Judges an answer to a vector by comparing it with the expected answer. If the answer is a descriptor and a file that
an implementation has written, they are also validated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from lro_conformance.vectors.match import mismatch
from lro_conformance.vectors.model import Vector
from lro_spec.findings import Finding, Kind


@dataclass(frozen=True, slots=True)
class Problem:
    """A reason why an answer is not as expected, with the requirement that is violated by the answer."""

    requirement: str
    text: str


def judge(vector: Vector, answered: object, edition: str) -> list[Problem]:
    """The problems of an answer by the rules of an edition. Empty if the answer is as expected."""
    if vector.kind == "write":
        return list(_judge_written(vector, answered, edition))
    if vector.kind == "quoting" and _is_quoted(vector, answered):
        return []
    difference = mismatch(vector.expect, answered)
    return [] if difference is None else [Problem(vector.requirements[0], difference)]


def _is_quoted(vector: Vector, answered: object) -> bool:
    """Return whether a shell would read the answer as a single word that equals the path in the question.

    This is enough, because a path can be quoted in many ways, and the vector does not list all of them.
    """
    from lro_spec.recipes.shell import RecipeSyntaxError, split_pipeline

    try:
        return "path" in vector.input and split_pipeline(str(answered)) == ((vector.input["path"],),)
    except RecipeSyntaxError:
        return False


def _judge_written(vector: Vector, answered: object, edition: str) -> Iterator[Problem]:
    from lro_conformance.analysis.documents import violates
    from lro_conformance.vectors.answers import descriptor_and_file, linked

    first = vector.requirements[0]
    parts = descriptor_and_file(answered)
    if parts is None:
        yield Problem(first, 'expected {"descriptor": {…}, "file": "…"}, the file as one text')
        return
    descriptor, data = parts
    found = [f for f in linked(descriptor, data, vector.input["call"], edition) if violates(f)]
    yield from {f.rule: Problem(f.rule, _sentence(f)) for f in reversed(found)}.values()
    if not found:
        difference = mismatch(vector.expect, {**cast("dict[str, Any]", answered), **content_of(data)})
        if difference is not None:
            yield Problem(first, difference)


def _sentence(finding: Finding) -> str:
    line = f"line {finding.line}: " if finding.line is not None else ""
    says_all = finding.kind is Kind.MISSING_FIELD or not finding.expected
    values = "" if says_all else f": expected {finding.expected}, got {finding.observed}"
    return f"{line}{finding.message_with_place}{values}"


def content_of(data: bytes) -> dict[str, Any]:
    """The parsed header and records of a file. They are added to an answer to `write` so that the rules of the vector
    can refer to them."""
    header, *records = [json.loads(line) for line in data.decode().removesuffix("\n").split("\n")]
    return {"header": header, "records": records}
