"""What evidence says, where more than one check must read it the same way: whose fault an inexact threshold is, what is
volatile, how a server measures. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd
from typing import Literal

from lro_conformance.capture.call import Call
from lro_conformance.capture.estimate import characters, honest_range, is_honest, tokens_per_character
from lro_conformance.capture.records import (
    MEMORY_FIELDS,
    Path,
    Record,
    by_id,
    is_blank,
    volatile_paths,
    wide_characters,
)
from lro_conformance.trials.boundary import Edge, Edges, Probe
from lro_conformance.trials.survey import Inline, Survey
from lro_spec.jsonl.values import whole_number
from lro_spec.tokens import HIGH, LOW
from lro_spec.validation.record import CORE

Rule = Literal["exact", "comparison", "per record", "budgeted", "own threshold", "another figure"]
"""How an operation decides, seen from its edge: exactly as required; by a wrong comparison; by single records; by the
budgeted text; by a threshold that is not the one of the other operations; or by a figure that is not the header's."""

ALIKE = 0.03
"""Two sizes that differ by less than this share are taken as the same."""

LARGER = 1.1
"""A file that is so many times another's size has the greater E."""


def rounding_step(survey: Survey) -> int:
    """What all estimates of files are multiples of: 10 or more means that headers round. 1 where too few are known."""
    known = {e for c in survey.files if (e := whole_number(c.header.get("estimated_tokens"))) is not None and e > 0}
    step = gcd(*known) if len(known) >= 6 else 1
    return step if step >= 10 else 1


def rules(survey: Survey, edges: Edges) -> dict[str, Rule]:
    """How each operation decides. A fault is one rule's, so that exactly one requirement is blamed."""
    exact = {name for name, edge in edges.edges.items() if is_exact(edge)}
    found: dict[str, Rule] = {}
    for name, edge in edges.edges.items():
        if name in exact:
            found[name] = "exact"
        elif rounding_step(survey) > 1 or _elsewhere(edge):
            found[name] = "another figure"
        elif _by_less_than_the_set(edge):
            found[name] = "per record" if name != "inject" else "budgeted"
        else:
            found[name] = "own threshold" if exact and not _close(edge) else "comparison"
    if "per record" in found.values():
        found = {n: "per record" if r == "budgeted" else r for n, r in found.items()}
    return found


def of_the_same(survey: Survey) -> Iterator[tuple[Call, Call]]:
    """Calls at one detail level whose files hold the same memories with the same fields, each beside the first of its
    kind.

    Where one was asked for fewer, and there are more, its file may only seem to be the other's: it has lost some.
    """
    known: dict[tuple[object, ...], Call] = {}
    for other in (c for c in survey.files if c.filed and whole_number(c.header.get("estimated_tokens")) is not None):
        level = other.detail or str(other.header.get("detail"))
        key = (other.operation, level, frozenset(by_id(other.filed)), frozenset(other.filed[0]))
        one = known.setdefault(key, other)
        more = (len(c.filed) > len(other.filed) for c in survey.files if c.operation == other.operation)
        partly = one.limit != other.limit and any(more)
        if one is not other and not partly and not cut_short(survey, other):
            yield one, other


def slack_of(one: Call, other: Call) -> int:
    """By how much the E of two files of the same memories may differ: what they differ in size."""
    return abs(characters(one) - characters(other)) + 2


def is_steady(survey: Survey) -> bool:
    """Whether the same memories have the same E each time."""
    return all(
        abs(a.header["estimated_tokens"] - b.header["estimated_tokens"]) <= slack_of(a, b)
        for a, b in of_the_same(survey)
    )


def latches_after_offloading(edges: Edges) -> bool:
    """Whether a server that has offloaded once offloads everything from then on."""
    return any(
        is_exact(e) and e.after is not None and e.after.call.outcome == "offloaded" for e in edges.edges.values()
    )


def is_exact(edge: Edge) -> bool:
    """Inline at E and offloaded at E−1, each time."""
    return all(p.call.outcome == "inline" for p in edge.at) and all(p.call.outcome == "offloaded" for p in edge.above)


def _close(edge: Edge) -> bool:
    """Right again a fiftieth of E further off: the threshold is the same, the comparison is wrong."""
    return edge.near is not None and _right(edge, edge.near)


def _elsewhere(edge: Edge) -> bool:
    """Still wrong a few tokens further off, and right soon after: it decides, rightly perhaps, by another figure."""
    return edge.next is not None and not _right(edge, edge.next) and _close(edge)


def _right(edge: Edge, probe: Probe) -> bool:
    return probe.call.outcome == ("offloaded" if probe.threshold < edge.estimate else "inline")


def _by_less_than_the_set(edge: Edge) -> bool:
    """Inline even at half of E, but offloaded at half of the greatest record: less than the set is weighed."""
    if edge.half is None or edge.low is None or edge.largest >= edge.estimate // 2:
        return False
    return edge.half.call.outcome == "inline" and edge.low.call.outcome == "offloaded"


def covers_part(survey: Survey, operation: str) -> Call | None:
    """A call whose E is too low for its file though it is honest of smaller ones: it covers a part of the set only.

    Honest are two at least that differ in E by half, so that no constant passes for an estimate.
    """
    groups: dict[object, list[Call]] = {}
    for call in survey.files:
        if call.operation == operation and call.estimate and call.filed and not cut_short(survey, call):
            groups.setdefault((call.query, frozenset(call.filed[0])), []).append(call)
    for calls in groups.values():
        sound = [c for c in calls if LOW <= 4 * tokens_per_character(c) <= HIGH]
        known = [c.estimate or 0 for c in sound]
        largest = max(calls, key=characters)
        if known and max(known) >= 1.5 * min(known) and (largest.estimate or 0) < honest_range(largest)[0]:
            return largest if characters(largest) > max(map(characters, sound)) else None
    return None


def before_the_limit(survey: Survey, operation: str) -> tuple[Call, Call] | None:
    """Two calls that differ in their limits, of files one of which is twice as large, that have the same E.

    None where E grows with the limit, or is no estimate: that of other queries and levels has to differ.
    """
    groups: dict[object, list[Call]] = {}
    for call in survey.files:
        if call.operation == operation and call.estimate and call.filed and call.limit is not None:
            groups.setdefault((call.query, frozenset(call.filed[0])), []).append(call)
    pairs = [(min(calls, key=characters), max(calls, key=characters)) for calls in groups.values()]
    pairs = [(a, b) for a, b in pairs if characters(b) >= 2 * characters(a)]
    same = all(abs((a.estimate or 0) - (b.estimate or 0)) <= 2 for a, b in pairs)
    if not same or len({c.estimate for calls in groups.values() for c in calls}) < 2:
        return None
    return next(((a, b) for a, b in pairs if (b.estimate or 0) >= honest_range(b)[0]), None)


def ignored_detail(survey: Survey, operation: str) -> str | None:
    """The level that an operation's files say they have whatever is asked for, where all have the same fields.

    Where each file says what was asked for, that level at which other operations have core fields, and this one none.
    """
    calls = {d: c for (n, d), c in survey.whole.items() if n == operation and d is not None and c.filed}
    if len(calls) < 2 or len({filled_fields(c.filed) for c in calls.values()}) > 1:
        return None
    said = {str(c.header.get("detail")) for c in calls.values()}
    if len(said) == 1 and not said & {"None", ""}:
        return said.pop()
    full = calls.get("full")
    others = [c for (n, d), c in survey.whole.items() if d == "full" and n != operation and c.filed]
    if full is None or not lacks_core(full) or not others or any(map(lacks_core, others)):
        return None
    return "the same"


def no_level(survey: Survey, call: Call) -> str | None:
    """Why it cannot be told which level a call's header and summary should name; None where it can."""
    if level_of(survey, call) is None:
        return "the level of a call that asks for none is not certain"
    return IGNORES_DETAIL if ignored_detail(survey, call.operation) is not None else None


IGNORES_DETAIL = "an operation has the same records at whatever level is asked for (LRO-DET-01)"


def lacks_core(call: Call) -> list[str]:
    """The core fields that no record of a file has."""
    return [k for k in CORE if not any(k in r for r in call.filed)]


def filled_fields(records: Sequence[Record]) -> frozenset[str]:
    """The documented fields that at least one record fills."""
    return frozenset(k for k in MEMORY_FIELDS if any(not is_blank(r.get(k)) for r in records))


def taken_for(inline: Inline, filed: Call, shown: Call) -> str | None:
    """The other detail level whose fields a file has, where those are not the fields that the call shows inline."""
    fields = filled_fields(filed.filed)
    if fields == filled_fields(shown.records or []):
        return None
    others = {d: c for (n, d), c in inline.whole.items() if n == filed.operation and d not in (None, filed.detail)}
    return next((d for d, c in others.items() if c.records and filled_fields(c.records) == fields), None)


def cut_short(survey: Survey, call: Call) -> bool | None:
    """Whether an inject's E speaks of more memories than its file holds, going by recall of the same query.

    None where there is no such recall.
    """
    level = level_of(survey, call)
    known = survey.whole.get(("recall", level)) if call.operation == "inject" else None
    if known is None or known.query != call.query or not known.filed or not call.filed:
        return None
    return len(call.filed) < len(known.filed) and tokens_per_character(call) > 1.6 * tokens_per_character(known)


def fewer_for_the_same_estimate(survey: Survey, call: Call) -> int | None:
    """How many memories the file of a recall has that was asked the same, where an inject's has fewer at the same E.

    None where it has as many, or nothing tells: another E means that another set was found.
    """
    level = level_of(survey, call)
    known = survey.whole.get(("recall", level)) if call.operation == "inject" else None
    if (
        known is None
        or known.query != call.query
        or known.limit != call.limit
        or survey.volatile_operations
        or rounding_step(survey) > 1
    ):
        return None
    same = known.estimate == call.estimate and known.estimate is not None and is_honest(known)
    return len(known.filed) if same and 0 < len(call.filed) < len(known.filed) else None


def level_of(survey: Survey, call: Call) -> str | None:
    """The detail level that a call must have been answered at: the one asked for, or the default of its operation.

    None where the text gives no default, or the records are visibly of another level.
    """
    if call.detail is not None:
        return call.detail
    default = {"recall": "light", "inject": "medium"}.get(call.operation)
    if not survey.operations[call.operation].details:
        return default if default != "light" or not _has_content(call) else None
    asked = survey.whole.get((call.operation, default))
    if default is None or asked is None or not asked.filed or not call.filed:
        return None
    same = set(asked.filed[0]) == set(call.filed[0]) and _has_content(asked) == _has_content(call)
    return default if same else None


def _has_content(call: Call) -> bool:
    return any(r.get("content") not in (None, "") for r in call.filed)


def follows_detail(survey: Survey, operation: str) -> str | None:
    """None when E follows the detail level; else what stands against it, in words.

    Of two calls for the same records, the one whose file is larger by a tenth must have the greater E; and files of the
    same size may not have an E that differs by half.
    """
    calls = [c for (n, _), c in survey.whole.items() if n == operation and c.estimate and characters(c)]
    ids = {id(c): by_id(c.filed).keys() for c in calls}
    for one in calls:
        for other in calls:
            if one is other or ids[id(one)] != ids[id(other)] or not ids[id(one)]:
                continue
            sizes, estimates = characters(other) / characters(one), (other.estimate or 0) / (one.estimate or 1)
            if (sizes > LARGER and estimates <= 1) or (abs(sizes - 1) < ALIKE and estimates > 1.5):
                return (
                    f"{_detail(one)}: E = {one.estimate} for {characters(one)} characters; "
                    f"{_detail(other)}: E = {other.estimate} for {characters(other)} characters"
                )
    return None


def measures_differently(survey: Survey, operation: str) -> bool:
    """Whether E is that of another set than the one that is returned: of another level, or made before the limit."""
    return follows_detail(survey, operation) is not None or before_the_limit(survey, operation) is not None


def _detail(call: Call) -> str:
    return f"detail {call.detail}" if call.detail is not None else "no detail asked for"


def volatile(inline: Inline, operation: str) -> set[Path]:
    """The fields that differ between identical inline calls, in one server process or from one to the next."""
    first = inline.whole.get((operation, None))
    paths = _volatile(first, inline.again.get(operation)) | _volatile(first, inline.elsewhere.get(operation))
    for more in (inline.edges.get(operation), inline.fullest.get(operation)):
        if more is not None:
            paths |= _volatile(inline.whole.get((operation, more.detail)), more)
    return paths


def _volatile(a: Call | None, b: Call | None) -> set[Path]:
    return volatile_paths(a.records or [], b.records or []) if a is not None and b is not None else set()


def incomparable(survey: Survey, inline: Inline) -> str | None:
    """Why files cannot be compared with inline results of another process; None where they can."""
    there = {k for c in survey.files for k in by_id(c.filed)}
    here = {k for c in inline.calls for k in by_id(c.records or [])}
    if not there:
        return "records of files have no id"
    if not here:
        return "no records with ids can be read in inline results (profile: inline)"
    return None if there & here else "memories have other ids in every server process"


def pairs(survey: Survey, inline: Inline) -> list[tuple[Call, Call]]:
    """Each call whose file was read, beside the same call made inline."""
    found = [(c, inline.whole[key]) for key, c in survey.whole.items() if key in inline.whole]
    found += [(survey.repeats[n][0], c) for n, c in inline.edges.items() if n in survey.repeats]
    return [(a, b) for a, b in found if a.file is not None and a.file.problem is None and b.records is not None]


def died(call: Call) -> bool:
    """Whether the server ended before it answered."""
    return call.reply.failure is not None and call.reply.failure.kind == "exited"


def wide_share(text: str) -> float:
    """The share of characters of a text that are not of Latin script or near it (CJK, kana, hangul, emoji …)."""
    return wide_characters(text) / len(text) if text else 0.0
