"""inject_context: E is computed before budgeting, files are complete, and results below the threshold are formatted."""

from __future__ import annotations

from collections.abc import Mapping

from lro_conformance.analysis.comparison import Comparison
from lro_conformance.analysis.estimate import Estimates
from lro_conformance.analysis.exchanges import Exchanges, repeated_record
from lro_conformance.analysis.on_off import NOT_SURROUNDED, difference, on_off_pairs, texts_only
from lro_conformance.analysis.threshold import Decision, compares_the_text
from lro_conformance.capture.call import Call
from lro_conformance.capture.corpus import corpus
from lro_conformance.capture.estimate import characters
from lro_conformance.capture.records import id_of, mentions_any, show
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.disabled import Control, Disabled
from lro_conformance.trials.edges import Edge, Edges, text_tokens
from lro_conformance.trials.survey import Inline, Survey
from lro_spec.display import counted


@check("LRO-INJ-01")
def test_text_inline_below_the_threshold(
    survey: Survey, inline: Inline, comparison: Comparison, subjects: Subjects
) -> None:
    """Below the threshold, inject returns its formatted text, with memories that it found.

    The memories that it found are those in the file of the same call. If identical calls of inject may find different
    memories, every known memory counts as found.
    """
    _needs_inject(survey)
    for call in (c for c in inline.calls if c.operation == "inject" and c.outcome in ("inline", "error")):
        same = [c for c in survey.files if c.operation == "inject" and c.arguments == call.arguments]
        ids = frozenset[str]().union(*(c.file_ids for c in same))
        found = [r for c in same for r in c.file_records]
        # a light record may be only an id; other files hold more of the same memories
        others = [r for c in survey.files for r in c.file_records]
        if same and "inject" in comparison.unstable_operations:
            known = [*found, *others, *(corpus() if survey.seeded_by is not None else ())]
        else:
            known = [*found, *(r for r in others if id_of(r) in ids)]
        shows_memory = call.outcome == "inline" and (bool(call.records) or mentions_any(call.text, known))
        have_texts = any(r.keys() & {"title", "summary", "content"} for r in known)
        if not (shows_memory or have_texts or (known and call.outcome != "inline")):
            subjects.not_observed("no file of the same call shows which memories were found")
            continue
        subjects.expect(
            shows_memory,
            expected="text with at least one of the memories found",
            observed=f"{len(call.text)} characters without any of them" if call.outcome == "inline" else "an error",
            at=call,
        )


@check("LRO-INJ-01", optional=("disabled", "control"))
def test_text_is_that_without_lro(
    survey: Survey,
    inline: Inline,
    comparison: Comparison,
    disabled: Disabled | None,
    control: Control | None,
    subjects: Subjects,
) -> None:
    """Below the threshold, inject's text has every line that it has with LRO off.

    Numbers, times and ids in a line may differ. A line that says that LRO is off may be missing.
    """
    _needs_inject(survey)
    pairs = on_off_pairs(inline, disabled, control) if disabled is not None else []
    others = [p for p in pairs if p.off.operation != "inject"]
    if any(difference(p, comparison) is not None for p in others if p.off.records is not None) or any(
        p.lost_lines for p in texts_only(others)
    ):
        subjects.not_observed("other operations also return different results with LRO on (LRO-THR-04)")
        return
    for pair in pairs:
        if pair.off.operation != "inject" or pair.off.records is not None:
            continue
        lost = pair.lost_lines
        if lost is None or "inject" in comparison.unstable_operations:
            subjects.not_observed("identical calls of inject return different texts")
            continue
        if not pair.surrounded:
            subjects.not_observed(NOT_SURROUNDED)
            continue
        subjects.expect(
            not lost,
            expected=f"the text that inject returns with LRO off: {show(lost[0], 100) if lost else ''}",
            observed=f"{counted(len(lost), 'line')} missing in a text of {len(pair.on[-1].text)} characters",
            at=pair.at,
        )


@check("LRO-INJ-02")
def test_decided_before_budgeting(
    survey: Survey, edges: Edges, decisions: Mapping[str, Decision], estimates: Estimates, subjects: Subjects
) -> None:
    """Whether inject offloads depends on all memories found, not on the text that is left after budgeting.

    If two results have nearly the same E, although one has more than two and a half times the characters of the other,
    inject seems to measure the budgeted text. If inject decides wrongly at its threshold for another reason, only
    results with different budgets are compared.
    """
    _needs_inject(survey)
    for small, large in _budget_pairs(survey):
        if large.estimate and (small.estimate or small.outcome == "inline"):
            subjects.expect(
                (small.estimate or 0) >= 0.9 * large.estimate,
                expected=f"the same estimate E = {large.estimate} with any token budget",
                observed=f"{f'E = {small.estimate}' if small.estimate else 'an inline result'} with a small budget: "
                "the server seems to measure what is left after budgeting",
                at=small,
            )
    if (capped := estimates.calls_estimated_at_budget("inject")) is not None:
        less, more = capped
        subjects.expect(
            holds=False,
            expected=f"an E that grows with the result: {characters(less)} characters have E = {less.estimate}",
            observed=f"E = {more.estimate} for {characters(more)} characters: the server seems to measure what is left "
            "after budgeting",
            at=more,
        )
        return
    rule, edge = decisions.get("inject"), edges.edges.get("inject")
    if edge is None:
        subjects.not_observed(edges.reason or "the exact threshold of inject could not be tested")
        return
    if rule not in ("exact", "budgeted"):
        subjects.not_observed("inject does not decide exactly at its threshold (see LRO-THR-06 and LRO-THR-07)")
        return
    probe = edge.below[0]
    subjects.expect(
        rule == "exact",
        expected=f"inject is offloaded at threshold {probe.threshold}, because the memories found have "
        f"{edge.estimate} tokens",
        observed=f"returned inline: the server seems to measure {_measured_text(edge)}",
        at=probe.call,
    )


def _measured_text(edge: Edge) -> str:
    """Description of what the server seems to measure. If calls at thresholds just below and above the tokens of the
    formatted text show that it is this text, these thresholds are named."""
    if not compares_the_text(edge) or edge.below_text is None or edge.above_text is None:
        return "what is left after budgeting"
    return (
        f"its formatted text, perhaps as cut to a budget (about {text_tokens(edge.below[0].call)} tokens): the same "
        f"call is offloaded at threshold {edge.below_text.threshold} and inline at {edge.above_text.threshold}"
    )


SEVERAL = 40
"""A file of inject with this many memories or more counts as complete if another operation finds the same memories."""

FEWER = 0.8
"""If a file has at most this share of the memories in a file of another detail level, a budget must have cut it."""


@check("LRO-INJ-03")
def test_file_holds_the_set_before_budgeting(survey: Survey, estimates: Estimates, subjects: Subjects) -> None:
    """The file of inject has all memories found, whatever the token budget and the detail level.

    For this, files with different budgets or detail levels are compared, and files of inject with files of other
    operations for the same word.
    """
    _needs_inject(survey)
    for call in (c for (n, _), c in survey.whole.items() if n == "inject" and c.file_records):
        short, recalled = estimates.is_cut_short(call), estimates.memories_of_same_recall(call)
        if short is None:
            continue
        subjects.expect(
            not short and not recalled,
            expected=f"the file has every memory that E = {call.estimate} counts",
            observed=f"{counted(len(call.file_records), 'memory')}, "
            + (
                f"but a file of recall has {recalled} at the same E"
                if recalled and not short
                else "far too few for this E"
            ),
            at=call,
        )
    by_level = sorted(
        (c for (n, level), c in survey.whole.items() if n == "inject" and level is not None and c.file_records),
        key=lambda c: len(c.file_ids),
    )
    least, most = (by_level[0], by_level[-1]) if by_level else (None, None)
    # An equal number at each level would show nothing: a limit on the number of memories may have cut the set.
    if least and most and least.file_ids < most.file_ids and len(least.file_ids) <= FEWER * len(most.file_ids):
        subjects.expect(
            holds=False,
            expected=f"the same {counted(len(most.file_ids), 'memory')} at {least.detail} detail as at {most.detail}",
            observed=f"{len(least.file_ids)} of them: the file seems to be cut to a budget",
            at=least,
        )
    pairs = [(small, "with a small budget", large) for small, large in _budget_pairs(survey)]
    plain = survey.whole.get(("inject", None))
    if plain is not None and pairs:
        pairs.append((plain, "without a budget", pairs[0][-1]))
    for other, budget, large in pairs:
        is_readable = other.outcome == "offloaded" and other.file is not None and other.file.problem is None
        if is_readable and large.file_records:
            subjects.expect(
                other.file_ids == large.file_ids,
                expected=f"the same {counted(len(large.file_ids), 'memory')} {budget} as with a large budget",
                observed=f"{counted(len(other.file_ids), 'memory')}",
                at=other,
            )
    if not subjects.examined:
        for_word = [
            c for c in survey.calls if c.query is not None and c.query == survey.word and len(c.file_records) >= SEVERAL
        ]
        own = next((c for c in for_word if c.operation == "inject"), None)
        if own is not None and any(c.file_ids == own.file_ids for c in for_word if c.operation != "inject"):
            expected = f"the {counted(len(own.file_records), 'memory')} that another operation finds by the same word"
            subjects.expect(holds=True, expected=expected, observed="the same ones", at=own)
    if not subjects.examined:
        subjects.not_observed(
            "the tool takes no token budget (profile: operations.inject.budget), and no other operation finds the same "
            "memories by the same word, or has the same fields to compare with (profile: operations)"
        )


@check("LRO-INJ-04")
def test_text_is_discarded(survey: Survey, exchanges: Exchanges, subjects: Subjects) -> None:
    """When inject is offloaded, its formatted text is not returned next to the descriptor."""
    _needs_inject(survey)
    if any(repeated_record(c) for c in survey.files if c.operation != "inject"):
        raise NotObserved("other operations also return records next to the descriptor (LRO-DESC-11)")
    exchanges.judge("LRO-INJ-04", subjects)


def _budget_pairs(survey: Survey) -> list[tuple[Call, Call]]:
    """Pairs of calls that differ only in their token budget: with a small budget, and with a large one."""
    return list(zip(survey.budgets[::2], survey.budgets[1::2], strict=False))


def _needs_inject(survey: Survey) -> None:
    """Raise `NotApplicable` if the server has no tool for inject."""
    if "inject" not in survey.operations:
        raise NotApplicable("the server lists no tool for inject")
