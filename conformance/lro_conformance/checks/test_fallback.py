"""Write failure: the operation succeeds, its result is cut to whole records within the threshold, and it says so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from lro_conformance.analysis.estimate import Estimates
from lro_conformance.analysis.events import events_in
from lro_conformance.analysis.warnings import FAILED, SHORT, foreign
from lro_conformance.capture.call import Call
from lro_conformance.capture.estimate import is_honest, tokens_per_character
from lro_conformance.capture.records import (
    Record,
    as_record,
    at_path,
    by_id,
    cut_off,
    id_of,
    lost_or_changed,
    show,
    size,
    value_at,
)
from lro_conformance.judging.check import check
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.fallback import KINDS, Failing, Fallback
from lro_conformance.trials.survey import Survey

ROOM = 1.15
"""How far a truncated result may exceed the threshold: the suite knows the server's measure from its files only."""

TEXT_ROOM = 1.6
"""The same for a formatted text, whose characters weigh otherwise than those of JSON."""


@check("LRO-ERR-01")
def test_operation_succeeds(fallback: Fallback, subjects: Subjects) -> None:
    """A result that cannot be written does not fail the call, nor end the server."""
    for failing in _each(fallback, subjects):
        subjects.expect(
            failing.call.outcome in ("inline", "offloaded") and failing.alive,
            expected=f"{failing.call.operation} succeeds although {KINDS[failing.kind]}",
            observed=_outcome(failing),
            at=failing,
        )


def _outcome(failing: Failing) -> str:
    if not failing.alive:
        return f"the server ended ({failing.call.outcome})"
    call = failing.call
    said = call.reply.error or call.text
    return f"{call.outcome}: {show(said, 200)}"


@check("LRO-ERR-02")
def test_whole_records_within_the_threshold(
    survey: Survey, fallback: Fallback, estimates: Estimates, subjects: Subjects
) -> None:
    """The inline result holds fewer, but whole records, within threshold_tokens."""
    for failing in _inline(fallback, subjects):
        if not is_honest(failing.original) or estimates.against_detail(failing.call.operation) is not None:
            subjects.not_observed("the estimate is not honest, so the threshold says nothing of sizes")
            continue
        if failing.call.operation not in survey.effective:
            subjects.not_observed("a low threshold has no effect (LRO-CFG-02), so what fits is weighed by another")
            continue
        wrong = _not_truncated(failing)
        subjects.expect(
            wrong is None,
            expected=f"some of the {len(failing.known)} records, whole, within {failing.threshold} tokens",
            observed=wrong or "",
            at=failing,
        )


def _not_truncated(failing: Failing) -> str | None:
    records = failing.call.records
    if records is None:
        tokens = len(failing.call.text) / 4
        if tokens > TEXT_ROOM * failing.threshold + 200:
            return f"a text of {len(failing.call.text)} characters, about {tokens:.0f} tokens"
        return "JSON that is cut off amid a record" if cut_off(failing.call.text, failing.known) else None
    if len(records) >= len(failing.known) and failing.known:
        return f"all {len(records)} records"
    each, ids = by_id(records), [id for r in records if (id := id_of(r)) is not None]
    if len(each) < len(ids) and len(failing.known) == len(failing.original.filed):
        return f"{len(records)} records, of which {len(each)} differ"
    first = sum(map(size, [*failing.known.values()][:1])) * tokens_per_character(failing.original)
    if not records and first < failing.threshold / 4:
        return f"none, though the first, of {first:.0f} tokens, would fit"
    tokens = failing.weighed or sum(map(size, records)) * tokens_per_character(failing.original)
    if tokens > ROOM * failing.threshold + 16:
        return f"{len(records)} records of about {tokens:.0f} tokens"
    for key, record in each.items():
        known = failing.known.get(key)
        cut = (
            [p for p in lost_or_changed(known, record, ()) if _is_cut(at_path(known, p), at_path(record, p))]
            if known
            else []
        )
        if cut and known is not None:
            return f"record {key} is cut: /{'/'.join(cut[0])} is {value_at(record, cut[0])}"
    return None


def _is_cut(whole: object, part: object) -> bool:
    """A text that lost its end, or a field that went missing; a counter that has another value is no cut."""
    if not isinstance(whole, str):
        return part is None and isinstance(whole, (list, dict))
    if part is None:
        return True
    return isinstance(part, str) and len(part) < len(whole) and whole.startswith(part[: max(8, len(part) // 2)])


@check("LRO-ERR-03")
def test_warning(fallback: Fallback, estimates: Estimates, subjects: Subjects) -> None:
    """The response says that offloading failed and that the results are truncated, in whatever language."""
    for failing in _inline(fallback, subjects):
        if _perhaps_not_tried(estimates, failing, subjects):
            continue
        text = _beside_the_memories(failing)
        text += "".join(f" {_NAME_ENDS.sub(' ', name)}" for name in _TRUE.findall(text))
        failed, short = FAILED.search(text), SHORT.search(text)
        if (failed is None or short is None) and foreign(text):
            subjects.not_observed(
                f"the warning is in a language that the suite does not read: {show(text.strip(), 200)} (say it in "
                "English beside it, or vouch for it in the profile: attest)"
            )
            continue
        subjects.expect(
            failed is not None and short is not None,
            expected="a warning that offloading failed and that the results are truncated",
            observed=_said(text, failed is not None, short is not None),
            at=failing,
        )


_TRUE = re.compile(r'"(\w+)"\s*:\s*true\b')
"""The name of a field that says yes: `offload_failed` warns as well as a sentence does."""
_NAME_ENDS = re.compile(r"_|(?<=[a-z])(?=[A-Z])")


def _perhaps_not_tried(estimates: Estimates, failing: Failing, subjects: Subjects) -> bool:
    """Whether all came inline, unremarked, of a server that weighs another set: it may not have wanted to write."""
    records = failing.call.records
    whole = records is None or len(records) >= len(failing.known)
    if failing.call.outcome != "inline" or failing.events or not whole:
        return False
    if not estimates.measure_differently(failing.call.operation):
        return False
    subjects.not_observed(
        "the estimate is of another set (LRO-THR-05), so a result that came inline may not have been too large"
    )
    return True


def _said(text: str, failed: bool, short: bool) -> str:
    if not failed and not short:
        return "no warning"
    missing = "the failure" if not failed else "the truncation"
    return f"nothing of {missing}: {show(text.strip(), 200)}"


def _beside_the_memories(failing: Failing) -> str:
    """All that a result says outside of its records; of a formatted text, what is no memory's own."""
    text = _beside_the_records(failing.call)
    if failing.call.records is None:
        text = _without(text, [*failing.known.values(), *failing.original.filed])
    return text


def _beside_the_records(call: Call) -> str:
    """All that a result says outside of its records."""
    result, records = call.result or {}, call.records or []
    text = show({k: v for k, v in result.items() if k != "content"}, 10_000_000) + "\n" + call.text
    text = _ESCAPED.sub(lambda found: json.loads(f'"{found[0]}"'), text)
    text = _without(text, records)
    for value in dict.fromkeys(_strings(records)):  # a short word may be one of the warning, too
        text = text.replace(f'"{value}"', '""')
    return text


def _without(text: str, records: list[Record]) -> str:
    """A text without the strings of these records that are longer than a word."""
    values = {v for v in _strings(records) if len(v) > 12}
    for value in sorted(values, key=len, reverse=True):  # one may be part of another
        text = text.replace(value, "")
    return text


_ESCAPED = re.compile(r'(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))+')
"""What a string of JSON may have in place of a character, as each library likes."""


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        inner = cast("list[object]", value) if isinstance(value, list) else cast("Record", value).values()
        for each in inner:
            yield from _strings(each)


@check("LRO-ERR-05")
def test_no_dangling_descriptor(fallback: Fallback, subjects: Subjects) -> None:
    """No descriptor is returned for a file that could not be written, or not to its end, or to another folder only."""
    for failing in _each(fallback, subjects):
        if failing.call.outcome in ("error", "no answer") or (failing.recreated and not failing.elsewhere):
            continue
        if failing.lost:
            subjects.not_observed(_LOST)
            continue
        wanted = "no descriptor of a file in another folder" if failing.elsewhere else "no descriptor of a torn file"
        subjects.expect(
            failing.call.outcome == "inline",
            expected=wanted if failing.recreated or failing.torn is not None else "no descriptor, as there is no file",
            observed=f"a descriptor of {show(failing.call.descriptor.get('file_path'))}"
            + (f": {failing.torn}" if failing.torn is not None else ""),
            at=failing,
        )
        theirs = {*_strings([*failing.known.values(), *(failing.call.records or [])])}
        named = re.findall(r'"file_path"\s*:\s*"([^"]+)"', _beside_the_memories(failing))
        named = [path for path in named if path not in theirs]
        subjects.expect(
            not named,
            expected="no file_path, as there is no file",
            observed=f"file_path {named[0] if named else ''}",
            at=failing,
        )


@check("LRO-ERR-06")
def test_offloads_again(fallback: Fallback, subjects: Subjects) -> None:
    """Once writing works again, results are offloaded again."""
    for call in fallback.recovered:
        subjects.expect(
            call.outcome == "offloaded",
            expected=f"{call.operation} is offloaded again once the folder is there",
            observed=call.outcome,
            at=call,
        )


@check("LRO-ERR-04")
def test_failure_event_is_emitted(fallback: Fallback, estimates: Estimates, subjects: Subjects) -> None:
    """An OffloadWriteFailed event with the error's details is emitted for a write that failed."""
    for failing in _each(fallback, subjects):
        if _perhaps_not_tried(estimates, failing, subjects):
            continue
        if failing.recreated or failing.torn is not None:  # what went unnoticed cannot be told (LRO-ERR-05)
            continue
        if failing.lost:
            subjects.not_observed(_LOST)
            continue
        if not failing.events and not failing.listened:
            subjects.not_observed("no event was seen, and none may be visible (profile: events)")
            continue
        details = [e for e in failing.events if len(_details(e)) >= 3]
        subjects.expect(
            bool(details),
            expected="an OffloadWriteFailed event that tells the error",
            observed=f"an event without details: {show(failing.events[0], 200)}" if failing.events else "no event",
            at=failing,
        )


@check("LRO-ERR-04", optional=("fallback",))
def test_no_failure_event_for_success(survey: Survey, fallback: Fallback | None, subjects: Subjects) -> None:
    """No OffloadWriteFailed event comes where every result was written."""
    false = events_in(survey, "OffloadWriteFailed")
    tells = fallback is not None and any(f.events for f in _each(fallback, subjects))
    if (false or tells) and survey.files and len(survey.files) == len(survey.answered):
        subjects.expect(
            not false,
            expected=f"no OffloadWriteFailed event, as all of {len(survey.files)} results were written",
            observed=show(false[0], 200) if false else "no such event",
            at=survey.files[0],
        )
    subjects.not_observed("no event was seen that tells a failure")


_LOST = "no file of this server is where it says (LRO-DESC-02), so that none can be missed"


def _details(event: str) -> str:
    """The letters that an event says beside its own name, its envelope and its time."""
    said = event.partition(": ")[2]  # the channel stands before it
    try:
        message = as_record(json.loads(said))
    except ValueError:
        message = {}
    data: Any = as_record(message.get("params")).get("data", message) or said
    told = {k: v for k, v in as_record(data).items() if k not in _ENVELOPE}
    values = list(told.values()) if as_record(data) else data
    text = re.sub(r"OffloadWriteFailed|\d{4}-\d\d-\d\dT[\d:.+Z-]+", "", show(values, 10_000))
    return re.sub(r"[^A-Za-z]", "", text)


_ENVELOPE = {"event", "type", "name", "kind", "timestamp", "time", "ts", "at", "level", "logger", "severity"}


def _each(fallback: Fallback, subjects: Subjects) -> list[Failing]:
    if any(f.call.outcome in ("error", "no answer") for f in fallback.failing):
        subjects.not_observed("the call failed instead (LRO-ERR-01)")
    elif not fallback.failing:
        for kind, why in fallback.skipped.items():
            subjects.not_observed(f"{kind}: {why}")
    gave_up = bool(fallback.recovered) and not any(c.outcome == "offloaded" for c in fallback.recovered)
    return [f for f in fallback.failing if f.first or not gave_up]


def _inline(fallback: Fallback, subjects: Subjects) -> list[Failing]:
    return [f for f in _each(fallback, subjects) if f.call.outcome == "inline"]
