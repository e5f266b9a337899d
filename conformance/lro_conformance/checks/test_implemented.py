"""Whether the server offloads large results at all."""

from __future__ import annotations

from lro_conformance.judging.check import check
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.survey import Survey
from lro_conformance.version import CLIENT_NAME


@check("LRO-IMPL-02")
def test_should_offload(survey: Survey, subjects: Subjects) -> None:
    """A server of level 2 offloads large results.

    If a server returns no descriptor, it is tried again with `enabled` set to true. In two cases, inline results count
    as a failure only if one of them certainly exceeds the default threshold. The first case is that the threshold
    cannot be set. The second case is that there is reason to expect offloading, because the profile names `settings` or
    `cleanup`, or because the server itself mentions offloading: if a low threshold then has no effect, it has perhaps
    only been set in the wrong way.
    """
    _expect_offloading(survey, subjects)


@check("LRO-IMPL-03")
def test_must_offload(survey: Survey, subjects: Subjects) -> None:
    """A server of level 3 offloads large results."""
    _expect_offloading(survey, subjects)


def _expect_offloading(survey: Survey, subjects: Subjects) -> None:
    if survey.implemented is None:
        subjects.not_observed("no call of recall, search or inject shows whether the server offloads")
        return
    subjects.expect(
        survey.implemented,
        expected="a result above the threshold is offloaded to a JSONL file and a descriptor is returned",
        observed=_what_was_observed(survey),
        subject=survey.answered[0] if survey.answered else None,
    )


def _what_was_observed(survey: Survey) -> str:
    claim = f", though {survey.claims[0]}" if survey.claims else ""
    tools = ", ".join(o.tool for o in survey.operations.values())
    if survey.client:
        return f"every result of {tools} came inline{claim}"
    return (
        f"every result of {tools} came inline to the client {CLIENT_NAME!r}{claim}; if the server offloads only for "
        "certain clients, name one of them (client in the profile)"
    )
