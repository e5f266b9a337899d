"""inject_context: the estimate is computed before the token budget is applied, files are complete, and results below
the threshold are formatted as text."""

from __future__ import annotations

from collections.abc import Mapping

from lro_conformance.analysis.comparison import Comparison
from lro_conformance.analysis.estimate import Estimates
from lro_conformance.analysis.exchanges import Exchanges, repeated_record
from lro_conformance.analysis.on_off import NOT_OFF_BETWEEN_ON, difference, on_off_pairs, texts_only
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
    """Below the threshold, inject returns its formatted text, which contains memories that it has found.

    The memories that it has found are those in the file of the same call. If identical calls of inject may find
    different memories, any memory counts that is in a file or was stored by the suite.
    """
    _require_inject(survey)
    for call in (c for c in inline.calls if c.operation == "inject" and c.outcome in ("inline", "error")):
        files_of_same_call = [c for c in survey.files if c.operation == "inject" and c.arguments == call.arguments]
        ids = frozenset[str]().union(*(c.file_ids for c in files_of_same_call))
        records_found = [r for c in files_of_same_call for r in c.file_records]
        # At light detail, a record may be only an id. Other files have more fields of the same memories.
        records_of_all_files = [r for c in survey.files for r in c.file_records]
        if files_of_same_call and "inject" in comparison.unstable_operations:
            records_found += [*records_of_all_files, *(corpus() if survey.seeded_by is not None else ())]
        else:
            records_found += [r for r in records_of_all_files if id_of(r) in ids]
        shows_memory = call.outcome == "inline" and (bool(call.records) or mentions_any(call.text, records_found))
        have_texts = any(r.keys() & {"title", "summary", "content"} for r in records_found)
        if not (shows_memory or have_texts or (records_found and call.outcome != "inline")):
            subjects.not_observed("no file of the same call shows which memories were found")
            continue
        subjects.expect(
            shows_memory,
            expected="text with at least one of the memories found",
            observed=f"{len(call.text)} characters without any of them" if call.outcome == "inline" else "an error",
            subject=call,
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
    """Below the threshold, the text of inject has every line that it also has with LRO off.

    The numbers, times and ids in a line may differ. With LRO on, a line that says that LRO is off may be missing.
    """
    _require_inject(survey)
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
        if not pair.is_off_between_on:
            subjects.not_observed(NOT_OFF_BETWEEN_ON)
            continue
        subjects.expect(
            not lost,
            expected=f"the text that inject returns with LRO off: {show(lost[0], 100) if lost else ''}",
            observed=f"{counted(len(lost), 'line')} missing in a text of {len(pair.on[-1].text)} characters",
            subject=pair.subject,
        )


@check("LRO-INJ-02")
def test_decided_before_budgeting(
    survey: Survey, edges: Edges, decisions: Mapping[str, Decision], estimates: Estimates, subjects: Subjects
) -> None:
    """Whether inject offloads depends on all memories that it has found, not on the text that is left after the token
    budget has been applied.

    If two files state nearly the same estimated_tokens, although the records of one have more than two and a half times
    the characters of the other, inject seems to measure the text after budgeting. If inject decides wrongly at its
    threshold for another reason, only results with different budgets are compared.
    """
    _require_inject(survey)
    for small, large in _budget_pairs(survey):
        if large.estimate and (small.estimate or small.outcome == "inline"):
            subjects.expect(
                (small.estimate or 0) >= 0.9 * large.estimate,
                expected=f"the same estimate E = {large.estimate} with any token budget",
                observed=f"{f'E = {small.estimate}' if small.estimate else 'an inline result'} with a small budget: "
                "the server seems to measure what is left after budgeting",
                subject=small,
            )
    if (calls_at_budget := estimates.calls_estimated_at_budget("inject")) is not None:
        smaller, larger = calls_at_budget
        subjects.expect(
            holds=False,
            expected=f"an E that grows with the result: {characters(smaller)} characters have E = {smaller.estimate}",
            observed=f"E = {larger.estimate} for {characters(larger)} characters: the server seems to measure what is "
            "left after budgeting",
            subject=larger,
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
        subject=probe.call,
    )


def _measured_text(edge: Edge) -> str:
    """Description of what the server seems to measure. Calls at thresholds just below and just above the tokens of the
    formatted text can show that the server measures this text. If they do, these thresholds are named."""
    if not compares_the_text(edge) or edge.below_text is None or edge.above_text is None:
        return "what is left after budgeting"
    return (
        f"its formatted text, perhaps as cut to a budget (about {text_tokens(edge.below[0].call)} tokens): the same "
        f"call is offloaded at threshold {edge.below_text.threshold} and inline at {edge.above_text.threshold}"
    )


MIN_MEMORIES = 40
"""If a file of inject has at least this many memories, and another operation finds the same memories, the file counts
as complete."""

MAX_SHARE_OF_CUT_FILE = 0.8
"""If a file has at most this share of the memories in a file of another detail level, a budget must have cut it."""


@check("LRO-INJ-03")
def test_file_holds_the_set_before_budgeting(survey: Survey, estimates: Estimates, subjects: Subjects) -> None:
    """The file of inject has all memories that inject has found, whatever the token budget and the detail level.

    Files of inject with different budgets or detail levels are compared with each other. They are also compared with
    files of other operations for the same query.
    """
    _require_inject(survey)
    for call in (c for (n, _), c in survey.whole.items() if n == "inject" and c.file_records):
        is_cut_short, recalled_memories = estimates.is_cut_short(call), estimates.memories_of_same_recall(call)
        if is_cut_short is None:
            continue
        subjects.expect(
            not is_cut_short and not recalled_memories,
            expected=f"the file has every memory that E = {call.estimate} counts",
            observed=f"{counted(len(call.file_records), 'memory')}, "
            + (
                f"but a file of recall has {recalled_memories} at the same E"
                if recalled_memories and not is_cut_short
                else "far too few for this E"
            ),
            subject=call,
        )
    by_level = sorted(
        (c for (n, level), c in survey.whole.items() if n == "inject" and level is not None and c.file_records),
        key=lambda c: len(c.file_ids),
    )
    fewest, most = (by_level[0], by_level[-1]) if by_level else (None, None)
    # If the number of memories is the same at each level, that proves nothing: a limit may have cut the set each time.
    if (
        fewest
        and most
        and fewest.file_ids < most.file_ids
        and len(fewest.file_ids) <= MAX_SHARE_OF_CUT_FILE * len(most.file_ids)
    ):
        subjects.expect(
            holds=False,
            expected=f"the same {counted(len(most.file_ids), 'memory')} at {fewest.detail} detail as at {most.detail}",
            observed=f"{len(fewest.file_ids)} of them: the file seems to be cut to a budget",
            subject=fewest,
        )
    pairs = [(small, "with a small budget", large) for small, large in _budget_pairs(survey)]
    without_budget = survey.whole.get(("inject", None))
    if without_budget is not None and pairs:
        pairs.append((without_budget, "without a budget", pairs[0][-1]))
    for other, budget, large in pairs:
        is_readable = other.outcome == "offloaded" and other.file is not None and other.file.problem is None
        if is_readable and large.file_records:
            subjects.expect(
                other.file_ids == large.file_ids,
                expected=f"the same {counted(len(large.file_ids), 'memory')} {budget} as with a large budget",
                observed=f"{counted(len(other.file_ids), 'memory')}",
                subject=other,
            )
    if not subjects.examined:
        calls_for_word = [
            c
            for c in survey.calls
            if c.query is not None and c.query == survey.word and len(c.file_records) >= MIN_MEMORIES
        ]
        inject_call = next((c for c in calls_for_word if c.operation == "inject"), None)
        if inject_call is not None and any(
            c.file_ids == inject_call.file_ids for c in calls_for_word if c.operation != "inject"
        ):
            expected = (
                f"the {counted(len(inject_call.file_records), 'memory')} that another operation finds by the same word"
            )
            subjects.expect(holds=True, expected=expected, observed="the same ones", subject=inject_call)
    if not subjects.examined:
        subjects.not_observed(
            "the tool takes no token budget (profile: operations.inject.budget), and no other operation finds the same "
            "memories by the same word, or has the same fields to compare with (profile: operations)"
        )


@check("LRO-INJ-04")
def test_text_is_discarded(survey: Survey, exchanges: Exchanges, subjects: Subjects) -> None:
    """When inject is offloaded, its formatted text is not returned next to the descriptor."""
    _require_inject(survey)
    if any(repeated_record(c) for c in survey.files if c.operation != "inject"):
        raise NotObserved("other operations also return records next to the descriptor (LRO-DESC-11)")
    exchanges.judge("LRO-INJ-04", subjects)


def _budget_pairs(survey: Survey) -> list[tuple[Call, Call]]:
    """Pairs of calls that differ only in their token budget: the first has a small budget, the second a large
    budget."""
    return list(zip(survey.budgets[::2], survey.budgets[1::2], strict=False))


def _require_inject(survey: Survey) -> None:
    """Raise `NotApplicable` if the server has no tool for inject."""
    if "inject" not in survey.operations:
        raise NotApplicable("the server lists no tool for inject")
