"""Threshold detection: which results are offloaded, and what is compared with the threshold.

E is the server's own estimate of a result in tokens. The header of the file states it as estimated_tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf

from lro_conformance.analysis.comparison import Comparison
from lro_conformance.analysis.detail import NO_DETAIL
from lro_conformance.analysis.documents import Document, Documents
from lro_conformance.analysis.estimate import ESTIMATE_OF_EARLIER_CALL, LARGER, MEASURES_OTHER_RECORDS, Estimates
from lro_conformance.analysis.exchanges import ALTERED, Exchanges
from lro_conformance.analysis.on_off import NOT_OFF_BETWEEN_ON, difference, on_off_pairs, texts_only
from lro_conformance.analysis.threshold import (
    MAX_DRIFT_SHARE,
    Decision,
    is_another_figure_stated,
    offloads_everything_after_first,
)
from lro_conformance.capture.call import Call, CallInContext, ComparedCall
from lro_conformance.capture.estimate import characters, is_within_tolerance, tolerated_range
from lro_conformance.capture.records import (
    MAX_MESSAGE_CHARACTERS,
    Record,
    envelope,
    mentions_any,
    show,
    size,
    strings_in,
    wide_share,
)
from lro_conformance.capture.warnings import write_failure
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.subjects import CONCURRENT_CALL, ESTIMATE_IN_HEADERS, MarkedSubject, Subjects, evidence_of
from lro_conformance.lab.operations import TOOLS, matching_tool
from lro_conformance.trials.defaults import Bracket, Defaults, require_default
from lro_conformance.trials.disabled import Control, Disabled
from lro_conformance.trials.edges import Edge, Edges, Probe
from lro_conformance.trials.exploration import Explored
from lro_conformance.trials.seeded import Seeded
from lro_conformance.trials.survey import Inline, Survey
from lro_spec.display import counted
from lro_spec.editions import Edition
from lro_spec.tokens import MIN_FACTOR


@check("LRO-SCOPE-01")
def test_recall_is_offloaded(survey: Survey, subjects: Subjects) -> None:
    """At the lowest threshold, recall's results are offloaded."""
    _expect_offloading(survey, "recall", subjects)


@check("LRO-SCOPE-02")
def test_search_is_offloaded(survey: Survey, subjects: Subjects) -> None:
    """At the lowest threshold, search's results are offloaded."""
    _expect_offloading(survey, "search", subjects)


@check("LRO-SCOPE-03")
def test_inject_is_offloaded(survey: Survey, subjects: Subjects) -> None:
    """At the lowest threshold, inject's results are offloaded."""
    _expect_offloading(survey, "inject", subjects)


@check("LRO-SCOPE-08")
def test_list_is_offloaded(survey: Survey, subjects: Subjects) -> None:
    """At the lowest threshold, list's results are offloaded."""
    _expect_offloading(survey, "list", subjects)


def _expect_offloading(survey: Survey, operation: str, subjects: Subjects) -> None:
    """Expect that an operation offloads its results. Other checks judge at which threshold it does so."""
    if operation not in survey.operations:
        listed = matching_tool(operation, [str(t.get("name")) for t in survey.tools])
        if operation in survey.absent and listed not in (None, TOOLS[operation]):
            raise NotApplicable(f"the profile says that {listed} does not perform {operation}")
        if listed is not None:
            raise NotObserved(
                f"the server lists {listed}, but the profile does not name it (profile: operations.{operation})"
            )
        known = {key for c in survey.calls for key in c.file_ids}
        hidden = (q for q in survey.queries if q.operation == operation and known & set(q.ids) and not q.offloaded)
        if operation not in survey.absent and (inline := next(hidden, None)) is not None:
            raise NotObserved(
                f"{inline.tool} returns memories inline at threshold_tokens = {survey.lowest}: if it performs "
                f"{operation}, name it; if not, write {operation}: null (profile: operations.{operation})"
            )
        raise NotApplicable(f"the server lists no tool for {operation}")
    calls = [c for (n, _), c in survey.whole.items() if n == operation and c.outcome in ("inline", "offloaded")]
    if not survey.adjustable and not any(c.outcome == "offloaded" for c in calls):
        subjects.not_observed(f"{survey.reason_not_set('threshold_tokens')}, and no result was above it")
        return
    known = [r for c in survey.calls for r in (c.file_records or c.records or [])]
    large = [c for c in calls if not survey.is_small(c)]
    filled = [c for c in large if c.outcome == "offloaded" or c.records or _is_a_result(c, known) or write_failure(c)]
    if not filled:
        subjects.not_observed(f"no call of {operation} returned results" + _error_of(survey, operation))
        return
    offloaded = [c for c in filled if c.outcome == "offloaded"]
    if offloaded and not survey.effective:
        filled = offloaded  # if the threshold cannot be set, results may be small enough to be inline at some levels
    inline = next((c for c in filled if c.outcome == "inline"), None)
    subjects.expect(
        inline is None,
        expected=f"{operation} returns a descriptor whenever its result exceeds the threshold",
        observed=f"{inline.label} was returned inline" if inline is not None else "",
        subject=inline,
    )


def _is_a_result(call: Call, memories: list[Record]) -> bool:
    """Return whether a text without records is a result, and not merely a message such as "No memories match.". It is a
    result if it is long or mentions one of the *memories*."""
    return call.records is None and (len(call.text) > MAX_MESSAGE_CHARACTERS or mentions_any(call.text, memories))


def _error_of(survey: Survey, operation: str) -> str:
    failed = next((c for c in survey.calls if c.operation == operation and c.outcome in ("error", "no answer")), None)
    return "" if failed is None else f": {evidence_of(failed).splitlines()[-1][:300]}"


@check("LRO-THR-01", optional=("comparison",))
def test_default_threshold(
    survey: Survey,
    edges: Edges,
    defaults: Defaults,
    decisions: Mapping[str, Decision],
    estimates: Estimates,
    comparison: Comparison | None,
    edition: Edition,
    subjects: Subjects,
) -> None:
    """If no threshold is set, a result of up to the default threshold is inline, and a larger result is offloaded.

    The suite compares the default threshold with E, the estimated_tokens in the header of the file. To vary the size of
    results, it uses the limit that the tool accepts, up to 4,000 memories. If the tool accepts no limit, the suite uses
    queries that find few or many memories. If the profile names a tool that stores memories (`seed`), the suite also
    stores memories one at a time. If estimates are rounded or vary between identical calls, E may be wrong by 5 %. The
    E of an inline result is that of the same call to another server process, and is unknown if that process returned
    other records. If it cannot be told which records they were, and each process may return different records, E may be
    wrong by 25 %.
    """
    require_default(defaults.preset, "threshold_tokens")
    default = edition.default_threshold_tokens
    offloading = [b for b in defaults.brackets if b.offloaded is not None]
    offloaded_once_enabled = [c for c in defaults.enabled if c.outcome == "offloaded"]
    if offloaded_once_enabled:
        subjects.not_observed("LRO is not on by default, so the default threshold cannot be observed")
        return
    if offloads_everything_after_first(edges) or contradiction(defaults) is not None:
        subjects.not_observed("the default is not one threshold for all calls")
        return
    if is_another_figure_stated(decisions, estimates):
        subjects.not_observed(
            "the server compares something other than the header's E with the threshold (LRO-FILE-13), so E does not "
            "reveal the default"
        )
        return
    for bracket in offloading if len(offloading) > 1 or not defaults.brackets else defaults.brackets:
        returns_other_records = (
            comparison is not None and bracket.operation in comparison.operations_differing_between_processes
        )
        varies = returns_other_records or bracket.operation in survey.volatile_operations or estimates.rounding_step > 1
        slack = MAX_DRIFT_SHARE if varies else 0.0
        _expect_right_sides(
            bracket,
            default,
            subjects,
            slack=slack,
            slack_of_inline=DRIFT_OF_OTHER_RECORDS if returns_other_records else slack,
        )
    if not offloading:
        subjects.inconclusive(
            f"no result of more than {default} tokens was offloaded by default ({survey.seed_advice})"
        )
    elif all(b.inline is None for b in offloading):
        subjects.inconclusive(f"no result of {default} tokens or less was seen inline")
    elif (estimates_far_apart := _far_apart(offloading)) is not None:
        lower, upper = estimates_far_apart
        subjects.inconclusive(
            f"the largest inline result has {lower:,} tokens and the smallest offloaded result has {upper:,}, too far "
            "apart to show the default between them; to vary the size, name the argument that limits a "
            "result (profile: operations) or a tool that stores memories (profile: seed)"
        )


def _far_apart(brackets: Sequence[Bracket]) -> tuple[int, int] | None:
    """Tokens of the largest inline result and of the smallest offloaded result, if their ratio exceeds `MAX_RATIO`;
    otherwise None."""
    upper = min((size for b in brackets if (size := _offloaded_tokens(b)) is not None), default=0)
    lower = max((b.inline_estimate for b in brackets if b.inline_estimate is not None), default=upper)
    return (lower, upper) if upper > MAX_RATIO * lower else None


MAX_RATIO = 2
"""Results show the default threshold only if the smallest offloaded result is at most this many times as large as the
largest inline result."""


def contradiction(defaults: Defaults) -> tuple[Bracket, Bracket] | None:
    """Under the default threshold, a result that stayed inline, and a clearly smaller result that was offloaded. None
    if there is no such pair."""
    for a in defaults.brackets:
        for b in defaults.brackets:
            smaller = _offloaded_tokens(b)
            if a.inline_estimate is not None and smaller is not None and a.inline_estimate > 1.1 * smaller:
                return a, b
    return None


DRIFT_OF_OTHER_RECORDS = 0.25
"""Share by which E may differ between two results with the same number of records, if the records are different."""


def _expect_right_sides(
    bracket: Bracket, default: int, subjects: Subjects, *, slack: float, slack_of_inline: float
) -> None:
    """Expect both results of a bracket to be on the right side of the default threshold.

    The E of the offloaded result may be wrong by the share *slack*, and the E of the inline result by the share
    *slack_of_inline*.
    """
    if bracket.offloaded is not None and bracket.offloaded.estimate is not None:
        above = bracket.offloaded.estimate * (1 + slack) > default
        subjects.expect(
            above,
            expected=_by_default(f"{bracket.offloaded.estimate} tokens", default, above=above),
            observed="it was offloaded",
            subject=bracket.offloaded,
        )
    if bracket.inline is None:
        return
    estimate, size = bracket.inline_estimate, len(bracket.inline.text)
    if estimate is not None:
        described, below = f"{estimate} tokens", estimate * (1 - slack_of_inline) <= default
    elif bracket.inline.records:
        described, below = f"{size} characters", size / 4 * MIN_FACTOR <= default
    else:
        return
    subjects.expect(
        below,
        expected=_by_default(described, default, above=not below),
        observed="returned inline",
        subject=bracket.inline,
    )


def _by_default(size: str, default: int, *, above: bool) -> str:
    return f"a result of {size} is {'offloaded' if above else 'inline'} by default (threshold {default} tokens)"


@check("LRO-THR-02", calls_of=("inline",))
def test_estimate_is_honest(
    survey: Survey, documents: Documents, estimates: Estimates, exchanges: Exchanges, subjects: Subjects
) -> None:
    """The header's estimated_tokens is 0.6 to 1.8 times the characters of the file's record lines ÷ 4 (± 64 tokens),
    and all operations count about the same number of tokens per character.

    A wide character, such as a CJK character, or a `\\u` escape may count for up to two tokens. The tokens per
    character of operations are compared by files with twenty or more records; they may differ by a fifth. An operation
    is not examined if its estimate ignores the detail level or covers only part of the result (LRO-THR-05). A file is
    not examined if it does not have the records of its call (LRO-FILE-09, LRO-FILE-10, LRO-INJ-03).
    """
    inaccurate = {n for n in survey.operations if estimates.are_of_other_records(n)}
    covers_a_part = any(estimates.call_estimated_in_part(n) is not None for n in survey.operations)

    def reason_to_skip(document: Document) -> str | None:
        call = document.call
        if call.operation in inaccurate:
            return MEASURES_OTHER_RECORDS
        if estimates.is_cut_short(call):
            return "a file of inject has fewer records than its E counts (LRO-INJ-03)"
        if covers_a_part and (call.estimate or 0) < tolerated_range(call)[0]:
            return "E covers only a part of the result (LRO-THR-05)"
        return ALTERED if not is_within_tolerance(call) and exchanges.alters(call) else None

    documents.judge("LRO-THR-02", subjects, skip=reason_to_skip, among=survey.files)
    if estimates.fraction is not None:
        call, share = estimates.fraction
        subjects.expect(
            holds=False,
            expected="E is about a quarter of the characters of the record lines",
            observed=f"E is characters ÷ {4 / share:.1f} at every detail level: {call.estimate} for {characters(call)}",
            subject=call,
        )

    if estimates.results_with_unlike_rates is not None:
        one, other = estimates.results_with_unlike_rates
        subjects.expect(
            holds=False,
            expected=f"one heuristic for all operations: {other.operation} has E = {other.estimate} for "
            f"{characters(other)} characters",
            observed=f"{one.operation} has E = {one.estimate} for {characters(one)} characters of the same kind",
            subject=one,
        )


_MAINLY_WIDE = 0.4
"""A text counts as mainly in a wide script, such as CJK, if at least this share of its characters is in wide
scripts."""


@check("LRO-THR-03")
def test_wide_scripts_weigh_more(survey: Survey, seeded: Seeded, estimates: Estimates, subjects: Subjects) -> None:
    """Records in CJK scripts are estimated at 1.2 times characters ÷ 4 or more, because any tokenizer counts at least
    as many tokens.

    A file is examined only if at least 40 % of the characters of its record lines are CJK characters.
    """
    implausible = any(
        not is_within_tolerance(c) for c in survey.files if isinstance(c.estimate, int) and c.file_records
    )
    if implausible or estimates.fraction is not None:
        raise NotObserved("the estimate of other texts is not plausible, either (LRO-THR-02, LRO-THR-05)")
    wide_shares = {id(c): wide_share("".join(strings_in(c.file_records))) for c in seeded.wide if c.estimate}
    reason_given = False
    for call in sorted((c for c in seeded.wide if c.estimate), key=lambda c: wide_shares[id(c)], reverse=True):
        text = "".join(line.raw.decode("utf-8", "replace") for line in call.file.record_lines) if call.file else ""
        if wide_share(text) < _MAINLY_WIDE:
            share = wide_shares[id(call)]
            if not reason_given:  # later calls have fewer such characters, so their reason would be the same
                subjects.not_observed(
                    "the file writes CJK characters as \\u escapes, so its text is not mainly CJK"
                    if share >= _MAINLY_WIDE
                    else f"{share:.0%} of the characters that {call.label} returned are CJK, under {_MAINLY_WIDE:.0%}"
                )
            reason_given = True
            continue
        min_tokens = -(-3 * len(text) // 10)
        subjects.expect(
            (call.estimate or 0) >= min_tokens,
            expected=f"an estimate of at least {min_tokens} tokens: 1.2 times a quarter of the {len(text)} characters "
            f"of the records, of which {wide_share(text):.0%} are CJK",
            observed=f"an estimate of {call.estimate} tokens",
            subject=call,
        )


@check("LRO-THR-04", optional=("disabled", "control"))
def test_operation_runs_as_without_lro(
    survey: Survey,
    inline: Inline,
    comparison: Comparison,
    disabled: Disabled | None,
    control: Control | None,
    edition: Edition,
    subjects: Subjects,
) -> None:
    """With LRO on, a result below the threshold has the same records as the same call returns with LRO off, in the same
    order and with the same values. If all results are texts, no line of the text is missing.

    One pair of records in twenty may be in the reverse order, because records with equal rank may come in any order.
    Numbers, times and ids in a line of text may differ. LRO-FILE-09 and LRO-FILE-10 judge whether files have the same
    records as inline results.
    """
    pairs = [] if disabled is None else on_off_pairs(inline, disabled, control)
    if not pairs and not edition.switchable:
        raise NotApplicable("this edition cannot switch LRO off, so there is no other result to compare with")
    if not pairs and disabled is None and "enabled" in survey.fixed:
        raise NotObserved(survey.reason_not_set("enabled"))
    if not pairs:
        raise NotObserved(
            "no call could be compared with LRO on and off: such a call has to return its result inline with LRO off "
            "(if not, see LRO-CFG-01 first), and the same memories each time with LRO on"
        )
    for pair in (p for p in pairs if p.off.records is not None):
        if pair.off.operation in comparison.unstable_operations and (pair.off.limit or 0) <= len(
            pair.off.records or []
        ):
            subjects.not_observed(
                f"{pair.off.operation} returns different records in each server process, with LRO on or off"
            )
            continue
        if pair.ignores_limit or pair.off_lost_records:
            subjects.not_observed("with LRO off, a result is truncated or exceeds its limit (LRO-CFG-01)")
            continue
        differing = difference(pair, comparison)
        subjects.expect(
            differing is None,
            expected=f"{pair.off.label} below the threshold returns the same with LRO on as with LRO off: "
            f"{differing[0]}"
            if differing is not None
            else "",
            observed=differing[1] if differing is not None else "",
            subject=pair.subject,
        )
    for pair in texts_only(pairs):
        lost = pair.lost_lines
        if lost is None:
            subjects.not_observed("identical calls return different texts, in which no records can be read")
            continue
        if not pair.is_off_between_on:
            subjects.not_observed(NOT_OFF_BETWEEN_ON)
            continue
        subjects.expect(
            not lost,
            expected=f"{pair.off.label} below the threshold returns the same with LRO on as with LRO off: "
            f"{show(lost[:1], 100)}",
            observed=f"{counted(len(lost), 'line')} of that text missing",
            subject=pair.subject,
        )


@check("LRO-THR-05")
def test_estimate_follows_detail(survey: Survey, estimates: Estimates, subjects: Subjects) -> None:
    """The header's estimated_tokens (E) is the estimate of the records at the requested detail level.

    If the numbers of characters of two files with the same memories differ by less than 3 %, one E may be at most one
    and a half times the other. An operation is not observed if its tool takes no detail level, or if its records have
    about the same size at every level.
    """
    if not any(o.details for o in survey.operations.values()):
        raise NotApplicable(NO_DETAIL)
    for name, operation in survey.operations.items():
        sized = {c.detail: characters(c) for (n, _), c in survey.whole.items() if n == name and c.estimate}
        if not operation.details or not sized or max(sized.values()) <= LARGER * min(sized.values()):
            subjects.not_observed(
                f"{name} takes no detail level, or no files with E show that its levels differ in size"
            )
            continue
        if estimates.calls_estimated_at_budget(name) is not None:
            subjects.not_observed(_BUDGETED)
            continue
        contradicting_calls = estimates.call_ignoring_detail(name)
        subjects.expect(
            contradicting_calls is None,
            expected=f"{name}: E follows the size of the records at the requested level",
            observed="; ".join(map(_size_at_level, contradicting_calls or ())),
            subject=survey.whole[name, None]
            if contradicting_calls is None
            else ComparedCall(*contradicting_calls, "at another level of detail"),
        )


def _size_at_level(call: Call) -> str:
    level = "no detail level requested" if call.detail is None else f"detail {call.detail}"
    return f"{level}: E = {call.estimate} for {characters(call)} characters"


@check("LRO-THR-05")
def test_estimate_covers_the_whole_set(survey: Survey, estimates: Estimates, subjects: Subjects) -> None:
    """The header's estimated_tokens covers all records of the result and no others: if it is plausible (LRO-THR-02) for
    results of a few records, it is plausible for results of many records, too."""
    for name in survey.operations:
        calls_with_same_estimate = estimates.estimated_before_limit(name)
        if calls_with_same_estimate is not None:
            smaller, larger = calls_with_same_estimate
            subjects.expect(
                holds=False,
                expected=f"{name}: different E for {counted(len(smaller.file_records), 'record')} and for "
                f"{len(larger.file_records)}",
                observed=f"E = {smaller.estimate} for both limits {smaller.limit} and {larger.limit}: it was computed "
                "before the limit was applied",
                subject=smaller,
            )
        elif estimates.calls_estimated_at_budget(name) is not None:
            subjects.not_observed(_BUDGETED)
        else:
            _covers_all(name, survey.files, estimates.call_estimated_in_part(name), subjects)


@check("LRO-THR-05")
def test_estimate_covers_stored_memories(
    survey: Survey, seeded: Seeded, estimates: Estimates, subjects: Subjects
) -> None:
    """If the header's estimated_tokens is plausible (LRO-THR-02) for the server's own memories, it is also plausible
    for results with memories that the suite has stored."""
    for name in {c.operation for c in seeded.wide}:
        if estimates.calls_estimated_at_budget(name) is not None:
            subjects.not_observed(_BUDGETED)
        elif estimates.estimated_before_limit(name) is None:
            _covers_all(
                name, [*survey.files, *seeded.wide], estimates.call_estimated_in_part(name, seeded.wide), subjects
            )


@check("LRO-THR-05")
def test_estimate_is_of_the_records(exchanges: Exchanges, subjects: Subjects) -> None:
    """If the header's estimated_tokens is proportional to the number of characters in nearly all files of an operation,
    it is proportional in all of its files.

    An exception suggests that the header of the file has the estimate of an earlier result, or of other records. A
    server may count an escape such as `\\u0041` as one character or as six, and a character outside ASCII as up to two
    tokens.
    """
    exchanges.judge("LRO-THR-05", subjects)
    if not subjects.examined:
        raise NotObserved("E was not seen to be proportional to the characters of files, so it cannot be predicted")


_BUDGETED = "inject computes E after budgeting (LRO-INJ-02)"


def _covers_all(name: str, files: Iterable[Call], partial: Call | None, subjects: Subjects) -> None:
    """Expect that *partial* is None. Otherwise, it is a call whose E covers only some of its records.

    This is not observed unless the operation has two different honest estimates, which show that E depends on the size
    of the result.
    """
    if len({c.estimate for c in files if c.operation == name and c.estimate and is_within_tolerance(c)}) < 2:
        subjects.not_observed(
            "fewer than two different accurate estimates were seen, so it is unknown whether E follows the size"
        )
        return
    low = tolerated_range(partial)[0] if partial is not None else 0
    subjects.expect(
        partial is None,
        expected=f"{name}: E is at least {low} for {len(partial.file_records)} records, since E is accurate for "
        "smaller results"
        if partial is not None
        else "",
        observed=f"E = {partial.estimate}, enough for only some of the records" if partial is not None else "",
        subject=partial,
    )


@check("LRO-THR-06")
def test_one_token_above_is_offloaded(
    edges: Edges, decisions: Mapping[str, Decision], estimates: Estimates, subjects: Subjects
) -> None:
    """A result that exceeds the threshold by one token is offloaded.

    The call is made twice. If the estimates of identical calls differ, the margin is larger than one token. If the
    profile names a tool that stores memories (`seed`), servers that are started for one operation may be used for
    further operations, too: the suite stores memories on them until the results of these operations reach the
    threshold. If the decision about such a result is wrong, its operation is tested again on servers that are started
    for it.
    """
    _expect_at_edges(edges, decisions, estimates, subjects, "offloaded", lambda e: e.below)


def _own_estimate(call: Call, larger: Call) -> float:
    """E of an inline result, inferred from the E of a larger result that was offloaded. Infinite if the larger E is
    unknown."""
    one, other = (sum(map(size, records)) for records in (call.records or [], larger.file_records))
    return inf if larger.estimate is None or not other else larger.estimate * one / other


@check("LRO-THR-06")
def test_one_record_is_offloaded(survey: Survey, subjects: Subjects) -> None:
    """A result of a single record that exceeds the threshold is offloaded. So is a result of two records."""
    if not survey.adjustable:
        raise NotObserved(survey.reason_not_set("threshold_tokens"))
    calls_for_few_records = [*survey.single.values(), *survey.minimal_calls.values()]
    for call in calls_for_few_records:
        if not survey.effective or not survey.offloads(call.operation):
            continue  # the setting has no effect (LRO-CFG-02), or the operation never offloads (LRO-SCOPE-01 to -03)
        is_text = call.records is None and len(call.text) > MAX_MESSAGE_CHARACTERS  # not only "No memories match."
        if call.outcome == "inline" and (not (call.records or is_text) or survey.is_small(call)):
            continue
        larger = survey.whole.get((call.operation, None))
        if call.outcome == "inline" and larger is not None:
            if larger.outcome == "inline":
                continue  # a larger result is inline, too, so the size does not decide (LRO-SCOPE-01 to -03)
            if not is_text and _own_estimate(call, larger) <= survey.lowest:
                continue  # by the E in headers, the result does not exceed the threshold (LRO-THR-02)
        if call.outcome in ("inline", "offloaded"):
            subjects.expect(
                call.outcome == "offloaded",
                expected=f"{call.label} is offloaded at threshold_tokens = {survey.lowest}",
                observed="returned inline",
                subject=call,
            )


@check("LRO-THR-07")
def test_equal_to_threshold_stays_inline(
    edges: Edges, decisions: Mapping[str, Decision], estimates: Estimates, subjects: Subjects
) -> None:
    """A result that is exactly as large as the threshold is returned inline."""
    _expect_at_edges(edges, decisions, estimates, subjects, "inline", lambda e: e.at)


def _expect_at_edges(
    edges: Edges,
    decisions: Mapping[str, Decision],
    estimates: Estimates,
    subjects: Subjects,
    outcome: str,
    side: Callable[[Edge], Iterable[Probe]],
) -> None:
    """Expect an *outcome* of all calls on one side of each exact threshold.

    An edge has the calls of one operation on both sides of its threshold. *side* returns the calls of an edge to
    examine.
    """
    if edges.reason is not None:
        subjects.not_observed(edges.reason)
    stated_differently = is_another_figure_stated(decisions, estimates)
    for name, rule in decisions.items():
        if rule == "other records":
            subjects.not_observed(f"{name} returns different records in each server process, so their size is unknown")
        if rule not in ("exact", "comparison"):
            continue
        if estimates.is_of_an_earlier_call(name):
            subjects.not_observed(ESTIMATE_OF_EARLIER_CALL)
            continue
        edge = edges.edges[name]
        probes_after = [edge.after] if outcome == "inline" and edge.after is not None else []
        for probe in (*side(edge), *probes_after):
            subject = CallInContext(probe.call) if probe is edge.after else probe.call
            subjects.expect(
                probe.call.outcome == outcome,
                expected=f"{name}, a result of {_tokens(edge)} at threshold {probe.threshold}, is "
                f"{_described(outcome)}",
                observed=_described(probe.call.outcome),
                subject=MarkedSubject(subject, None, ESTIMATE_IN_HEADERS) if stated_differently else subject,
            )


@check("LRO-THR-06", optional=("explored",))
def test_anything_above_is_offloaded(exchanges: Exchanges, explored: Explored | None, subjects: Subjects) -> None:
    """A result that exceeds the threshold is offloaded, whatever the limit, detail level, query and memories."""
    exchanges.judge("LRO-THR-06", subjects)
    if explored is None:
        subjects.not_observed("no sequences of calls were explored")
    elif (series := explored.series) is not None and series.calls > 1 and series.call.outcome != "error":
        subjects.expect(
            series.call.outcome == "offloaded",
            expected=f"{series.call.label} is offloaded, as in {counted(series.calls - 1, 'identical call')} before",
            observed=f"{series.call.outcome} (some of these calls were in flight together)"
            + (f", {show(series.call.text, 200)}" if series.call.text else ""),
            subject=MarkedSubject(series, None, CONCURRENT_CALL),
        )


@check("LRO-THR-07")
def test_anything_else_is_inline(exchanges: Exchanges, subjects: Subjects) -> None:
    """A result that does not exceed the threshold is inline, whatever the limit, detail level, query and memories."""
    exchanges.judge("LRO-THR-07", subjects)


@check("LRO-THR-08")
def test_any_memory_counts(exchanges: Exchanges, subjects: Subjects) -> None:
    """Every memory is counted: a single memory, whatever it contains, exceeds the lowest threshold.

    The suite examines memories that it has stored. It does so only if single memories of the server itself exceed that
    threshold.
    """
    exchanges.judge("LRO-THR-08", subjects)


@check("LRO-THR-07", optional=("control",))
def test_envelope_is_that_without_lro(
    inline: Inline, disabled: Disabled, control: Control | None, subjects: Subjects
) -> None:
    """A result below the threshold has, besides its records, every member that the same call returns with LRO off."""
    for pair in (p for p in on_off_pairs(inline, disabled, control) if p.off.records):
        lost = pair.lost_members
        subjects.expect(
            not lost,
            expected=f"{pair.off.label} below the threshold returns the same members with LRO on as with LRO off: "
            + (lost[0] if lost else ""),
            observed=f"this member is missing; the members are {', '.join(sorted(envelope(pair.on[-1].result, ())))}",
            subject=pair.subject,
        )


@check("LRO-THR-08")
def test_total_is_compared(
    edges: Edges, decisions: Mapping[str, Decision], estimates: Estimates, subjects: Subjects
) -> None:
    """Many small memories are offloaded if they exceed the threshold together, although no single memory exceeds it."""
    for name, edge in edges.edges.items():
        rule = decisions[name]
        unclear = rule not in ("exact", "per record") or estimates.are_of_other_records(name)
        if estimates.is_of_an_earlier_call(name):
            subjects.not_observed(ESTIMATE_OF_EARLIER_CALL)
            continue
        if edge.largest >= edge.below[0].threshold or unclear:
            subjects.not_observed(
                "a result has a record that is too large, or its E is not compared exactly with the threshold"
            )
            continue
        subjects.expect(
            rule != "per record",
            expected=f"{edge.below[0].call.label}, a result of {edge.estimate} tokens whose records have at most "
            f"{edge.largest} each, is offloaded at threshold {edge.below[0].threshold}",
            observed="returned inline, but offloaded at a threshold below the largest single record",
            subject=edge.below[0].call,
        )
    if edges.reason is not None:
        subjects.not_observed(edges.reason)


@check("LRO-THR-08")
def test_large_memory_below_threshold_stays_inline(survey: Survey, seeded: Seeded, subjects: Subjects) -> None:
    """A single large memory that does not exceed the threshold is returned inline."""
    if not survey.effective:
        raise NotObserved(f"a threshold of {survey.lowest} has no effect, so perhaps no threshold has (LRO-CFG-02)")
    call = seeded.large
    if call is None or (call.outcome == "inline" and len(call.records or []) != 1):
        raise NotObserved("no large memory could be stored and then retrieved alone")
    subjects.expect(
        call.outcome == "inline",
        expected=f"one memory of {seeded.large_estimate} tokens at threshold {2 * seeded.large_estimate} is returned "
        "inline",
        observed=_described(call.outcome),
        subject=call,
    )


@check("LRO-THR-09")
def test_one_threshold_for_all(
    survey: Survey,
    edges: Edges,
    defaults: Defaults,
    decisions: Mapping[str, Decision],
    estimates: Estimates,
    subjects: Subjects,
) -> None:
    """The same threshold holds for every operation and every detail level."""
    if len(survey.operations) == 1 and not any(len(o.details) > 1 for o in survey.operations.values()):
        raise NotApplicable("the server has one operation and no choice of detail levels")
    if edges.reason is not None:
        subjects.not_observed(edges.reason)
    if offloads_everything_after_first(edges):
        subjects.not_observed("once it has offloaded a result, the server offloads everything, whatever the threshold")
        return
    contradicting_brackets = contradiction(defaults)
    if contradicting_brackets is not None and set(decisions.values()) <= {"exact"}:
        one, other = contradicting_brackets
        subjects.expect(
            holds=False,
            expected=f"one default threshold: since {other.operation} ({_offloaded_tokens(other)} tokens, "
            f"{other.detail} detail) is offloaded, the larger result of {one.operation} must be offloaded, too",
            observed=f"{one.operation} ({one.inline_estimate} tokens, {one.detail} detail) was returned inline",
            subject=one.inline,
        )
    for name, rule in decisions.items():
        if rule == "own threshold" and estimates.is_of_an_earlier_call(name):
            subjects.not_observed(ESTIMATE_OF_EARLIER_CALL)
        elif rule == "own threshold":
            edge = edges.edges[name]
            wrong_probe = next(
                p for p in (*edge.below, *edge.at) if p.call.outcome != ("offloaded" if p in edge.below else "inline")
            )
            subjects.expect(
                holds=False,
                expected=f"{name}, a result of {_tokens(edge)} at threshold {wrong_probe.threshold}, is "
                f"{_described('offloaded' if wrong_probe in edge.below else 'inline')}, as results of other "
                "operations are",
                observed=_described(wrong_probe.call.outcome),
                subject=wrong_probe.call,
            )
    if not any(r in ("exact", "own threshold") for r in decisions.values()):
        subjects.not_observed("no operation has an exact threshold to compare with")
        return
    for probe in edges.far:
        if decisions.get(probe.call.operation) in (
            "budgeted",
            "per record",
            "comparison",
            "own threshold",
            "text",
            "other records",
        ):
            continue
        outcome = "offloaded" if probe.estimate > probe.threshold else "inline"
        if probe.call.outcome in ("error", "no answer"):
            continue
        subjects.expect(
            probe.call.outcome == outcome,
            expected=f"{probe.call.label}, a result of {probe.estimate} tokens at threshold {probe.threshold}, is "
            f"{_described(outcome)}",
            observed=_described(probe.call.outcome),
            subject=probe.call,
        )


def _offloaded_tokens(bracket: Bracket) -> int | None:
    return bracket.offloaded.estimate if bracket.offloaded is not None else None


def _tokens(edge: Edge) -> str:
    drift = f" (± {edge.drift}, because identical calls differed)" if edge.drift else ""
    return f"{edge.estimate} tokens{drift}"


def _described(outcome: str) -> str:
    return {"inline": "returned inline", "offloaded": "offloaded"}.get(outcome, outcome)
