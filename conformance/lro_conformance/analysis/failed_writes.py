"""Rules of failed writes: the demands on a call whose result could not be written, and on calls after writing works
again.

Each rule is a function of one such call and of the evidence that the rule needs. It yields what it examined: a `Judged`
for each subject, or the reason why there was none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from lro_conformance.analysis.comparison import Comparison
from lro_conformance.analysis.estimate import Estimates
from lro_conformance.analysis.exchanges import Context, Judged
from lro_conformance.analysis.sequences import failing_in, recovered_in
from lro_conformance.capture.call import Call, Identity
from lro_conformance.capture.estimate import is_honest, tokens_per_character
from lro_conformance.capture.intervention import FROM_START, MENDED, Intervention
from lro_conformance.capture.overall import Overall
from lro_conformance.capture.records import (
    MEMORY_FIELDS,
    Path,
    Record,
    as_record,
    at_path,
    by_id,
    cut_off,
    id_of,
    lost_or_changed,
    mentions_any,
    show,
    size,
    strings_in,
    texts_of,
    value_at,
)
from lro_conformance.capture.reproduce import Conversation
from lro_conformance.capture.warnings import (
    FAILED,
    SAYS_NOTHING,
    SHORT,
    foreign,
    long_strings,
    text_outside_records,
    true_names,
    without,
)
from lro_conformance.judging.derived import derived
from lro_conformance.trials.exploration import Explored
from lro_conformance.trials.fallback import KINDS, Failing, Fallback, Recovered
from lro_conformance.trials.survey import Inline, Survey
from lro_conformance.trials.tasks import Tasks
from lro_spec.display import counted
from lro_spec.editions import DETAILS
from lro_spec.tokens import CHARACTERS_PER_TOKEN, LOW

ROOM = 1.15
"""Factor by which a truncated result may exceed the threshold, since the suite only infers how the server measures."""

SLACK = 16
"""Further tokens by which a truncated result may exceed the threshold."""

TEXT_ROOM = 1.6
"""Factor by which a formatted text may exceed the threshold: its characters per token differ from those of JSON."""


@dataclass(frozen=True)
class FailedWrites:
    """All failed writes of a run, and the calls after writing works again."""

    failing: Sequence[Failing]
    """All failed writes. If the trial `fallback` saw no result offloaded again after writing worked again, only those
    with `Failing.first`: for the others, the server may not have tried to write."""
    recovered: Sequence[Recovered]
    skipped: Mapping[str, str]
    """Kinds of failures (`KINDS`) that could not be provoked, with the reason."""

    @property
    def inline(self) -> list[Failing]:
        """The failed writes whose call returned an inline result."""
        return [f for f in self.failing if f.call.outcome == "inline"]

    def in_context(self, failing: Failing, missed: Collection[Identity]) -> Failing:
        """A failed write that violates a rule, together with the failed writes before it in its process; alone if its
        kind or its operation explains the violation.

        *missed* has the calls of all failed writes that violate the rule. The kind explains the violation under two
        conditions: exactly the failed writes of this kind violate the rule; and in this process, some later failed
        write does not violate it, or failed writes of two other kinds came before. The operation explains it in the
        same way.
        """
        if failing.steps:
            return failing
        of_process = [f for f in self.failing if _is_of_process(f, failing.call) and not f.steps]
        earlier = [f for f in of_process if f.call.identity < failing.call.identity]
        later = [f for f in of_process if f.call.identity > failing.call.identity]
        traits: tuple[Callable[[Failing], str], ...] = (lambda f: f.kind, lambda f: f.call.operation)
        for trait in traits:
            alike = [f for f in self.failing if trait(f) == trait(failing)]
            others = {trait(f) for f in earlier} - {trait(failing)}
            is_contrasted = len(others) > 1 or any(f.call.identity not in missed for f in later)
            if is_contrasted and {f.call.identity for f in alike} == {*missed}:
                return failing
        return replace(failing, steps=_steps(earlier, failing.kind, failing.limit)) if earlier else failing


@derived
def failed_writes(fallback: Fallback, found: Mapping[str, Any]) -> FailedWrites:
    """The failed writes of all trials: provoked one by one, in sequences of the explorer, and in a task."""
    explored, tasks = found.get("explored"), found.get("tasks")
    failing, recovered = list(fallback.failing), list(_recovered(fallback))
    gave_up = bool(recovered) and not any(c.outcome == "offloaded" for c in fallback.recovered)
    if isinstance(explored, Explored):
        failing += failing_in(explored)
        recovered += recovered_in(explored)
    if isinstance(tasks, Tasks) and tasks.failing is not None:
        failing.append(tasks.failing)
    return FailedWrites([f for f in failing if f.first or not gave_up], recovered, fallback.skipped)


@derived
def wrong_output(overall: Overall, found: Mapping[str, Any]) -> Failing | Conversation | None:
    """The subject that reproduces the first output on stdout that is not a message: the failed write during which it
    came, otherwise the whole conversation; None if there was no such output."""
    first, at, fallback = overall.first, overall.first_at, found.get("fallback")
    if first is None or at is None or not isinstance(fallback, Fallback):
        return None if first is None else Conversation(first)
    writes = failed_writes(fallback, found)
    during = [
        f
        for f in writes.failing
        if f.call.start.number == first.number and f.call.started <= at <= f.call.ended + LATER_S
    ]
    last = max(during, key=lambda f: f.call.started, default=None)
    return Conversation(first) if last is None else writes.in_context(last, ())


LATER_S = 0.2
"""Seconds after an answer within which output counts as having come with it."""


def _is_of_process(failing: Failing, call: Call) -> bool:
    return failing.call.start.number == call.start.number


def _steps(earlier: Sequence[Failing], kind: str, largest: int | None = None) -> tuple[Call | Intervention, ...]:
    """The interventions and calls of *earlier* failed writes of one process, then the intervention of a further *kind*.

    Before each intervention of another kind, the folder is mended. *largest* is the file-size limit of the last
    intervention.
    """
    steps: list[Call | Intervention] = []
    current = ""
    for following, limit, call in (*((f.kind, f.limit, f.call) for f in earlier), (kind, largest, None)):
        if following != current:
            steps += [Intervention(MENDED)] if current and following != MENDED else []
            steps += [Intervention(following, largest=limit)]
            current = following
        steps += [] if call is None else [call]
    return tuple(steps)


def _recovered(fallback: Fallback) -> Iterator[Recovered]:
    """The calls after writing works again, each with the failed writes and calls that came before it in its process.

    If another process, whose folder had been a file from the start, did not write again either, failed writes of a
    single kind suffice.
    """
    for number, call in enumerate(fallback.recovered):
        earlier = [f for f in fallback.failing if _is_of_process(f, call) and f.call.identity < call.identity]
        # If a process that began without a folder lived on, this one was started only because that one did not write to
        # the folder that was made for it.
        elsewhere = [f for f in fallback.failing if f.kind == FROM_START and not _is_of_process(f, call)]
        if elsewhere and all(f.alive for f in elsewhere):
            earlier = [f for f in earlier if f.kind == earlier[0].kind]
        before = [c for c in fallback.recovered[:number] if c.start.number == call.start.number]
        yield Recovered(call, (*_steps(earlier, MENDED), *before) if earlier else ())


def violated_by(failing: Failing, context: Context, inline: Inline, estimates: Estimates) -> Iterator[str]:
    """The requirements that a failed write violates."""
    rules: dict[str, Iterator[Judged | str]] = {"LRO-ERR-01": succeeds(failing), "LRO-ERR-05": no_file_rule(failing)}
    if failing.call.outcome == "inline":
        rules["LRO-ERR-03"] = warns(failing, inline, estimates, {})
        rules["LRO-ERR-07"] = has_fewer_records(failing)
        if context.comparison is not None:
            rules["LRO-ERR-02"] = keeps_whole_records(failing, context.survey, estimates, context.comparison)
    if failing.events_known and failing.events_observable:
        rules["LRO-ERR-04"] = emits_event(failing, estimates, watched=False)
    for requirement, found in rules.items():
        if not all(one.holds for one in found if not isinstance(one, str)):
            yield requirement


def succeeds(failing: Failing) -> Iterator[Judged | str]:
    """The call succeeds, and the server goes on."""
    yield Judged(
        failing.call.outcome in ("inline", "offloaded") and failing.alive and failing.task_status != "failed",
        f"{failing.call.operation} succeeds although {KINDS[failing.kind]}",
        _outcome(failing),
    )


def _outcome(failing: Failing) -> str:
    if not failing.alive:
        return f"the server ended ({failing.call.outcome})"
    call = failing.call
    if failing.task_status == "failed":
        return f"a task that failed: {show(call.reply.error or call.text, 200)}"
    return f"{call.outcome}: {show(call.reply.error or call.text, 200)}"


def keeps_whole_records(
    failing: Failing, survey: Survey, estimates: Estimates, comparison: Comparison
) -> Iterator[Judged | str]:
    """The inline result has fewer, but whole records, within the threshold."""
    if not is_honest(failing.original) or estimates.call_ignoring_detail(failing.call.operation) is not None:
        yield "the server's estimate is inaccurate, so result sizes cannot be compared with the threshold"
        return
    if failing.call.operation not in survey.effective:
        yield "a low threshold has no effect (LRO-CFG-02), so the limit in effect is unknown"
        return
    wrong = not_truncated(failing, comparison.volatile(failing.call.operation), comparison.added)
    room = f"{failing.threshold} token{'' if failing.threshold == 1 else 's'}"
    expected = (
        f"as many of the {len(failing.known or failing.original.file_records)} records as fit, whole, within {room}"
    )
    yield Judged(wrong is None, expected, wrong or "")


def has_fewer_records(failing: Failing) -> Iterator[Judged | str]:
    """The inline result has fewer records than the file of the same call."""
    records = _returned(failing)
    if records is None or not failing.known:
        yield "a formatted text, or a result without records"
        return
    yield Judged(
        not _has_all(failing, records),
        f"fewer than {len(failing.known)} records, because {KINDS[failing.kind]}",
        f"all {len(records)} records",
    )


def not_truncated(failing: Failing, volatile: Collection[Path], added: Collection[str] = ()) -> str | None:
    """The defect of the records that came inline because they could not be written. None if they are whole and few
    enough; also if there are none, and the first one may be too large.

    *added* are fields that only files have.
    """
    records = _returned(failing)
    listed = failing.original.file_records if records is not None else []  # these records may have no ids
    known = [*failing.known.values()] or listed
    first = sum(map(size, known[:1])) * tokens_per_character(failing.original)
    is_empty = not records if records is not None else not _shows_any(failing)
    if is_empty and first < failing.threshold / 4:
        return f"no records, although the first one ({first:.0f} tokens) would fit"
    if records is None:
        tokens = len(failing.call.text) / 4
        if tokens > TEXT_ROOM * failing.threshold + 200:
            return f"a text of {len(failing.call.text)} characters, about {tokens:.0f} tokens"
        is_cut_off = any(cut_off(text, failing.known) for text in texts_of(failing.call.result))
        return "JSON that is cut off in the middle of a record" if is_cut_off else None
    if _has_all(failing, records):
        return f"all {len(records)} records"
    each, ids = by_id(records), [id for r in records if (id := id_of(r)) is not None]
    if len(each) < len(ids) and len(failing.known) == len(failing.original.file_records):
        return f"{counted(len(records), 'record')} with only {counted(len(each), 'distinct id')}: some are repeated"
    rate, returned = tokens_per_character(failing.original), sum(map(size, records))
    tokens = returned * rate
    if failing.returned_estimate:  # E of the same records, which may have more fields than usual
        tokens = max(failing.returned_estimate, LOW * returned / CHARACTERS_PER_TOKEN)
    alone = _too_large_by_itself(failing, records)
    # A record that is too large by itself can be cut only in its texts.
    measured = tokens if alone is None else min(tokens, rate * max(map(len, strings_in(alone)), default=0))
    if measured > ROOM * failing.threshold + SLACK:
        return f"{len(records)} records of about {tokens:.0f} tokens"
    for key, record in each.items() if alone is None else ():
        whole = failing.known.get(key, record)
        apart = lost_or_changed(record, whole, volatile, added=added)
        cut = [p for p in apart if _is_cut(at_path(whole, p), at_path(record, p))]
        if cut:
            return f"record {key} is cut: /{'/'.join(cut[0])} is {value_at(record, cut[0])}"
    return None


def _shows_any(failing: Failing) -> bool:
    """Return whether a formatted text shows some record of the file by its title or by another long text.

    Also true if no record has a title or such a text.
    """
    records = [*failing.known.values()]
    long = [{"content": text} for text in strings_in(records) if len(text) >= _LONG_TEXT]
    titles = [title for record in records if isinstance(title := record.get("title"), str) and title]
    shown = "\n".join([failing.call.text, *texts_of(failing.call.result)])
    return not (long or titles) or mentions_any(shown, long) or any(title in shown for title in titles)


_LONG_TEXT = 12
"""Length in characters from which a text is hardly a word that many records have, such as a type or a status."""


def _returned(failing: Failing) -> list[Record] | None:
    """The records of the inline result; empty if its only member is a remark, as when no record fits.

    None for a formatted text.
    """
    records = failing.call.records
    is_remark = (
        records is not None
        and len(records) == 1
        and bool(failing.known)
        and not records[0].keys() & {"id", *MEMORY_FIELDS}
        and not _names_of(failing.known.values()) & {*strings_in(records[0])}
    )
    return [] if is_remark else records


def _names_of(records: Iterable[Record]) -> set[str]:
    """The ids and titles of records, by which a record is recognised whatever its fields are called."""
    return {text for r in records for text in (id_of(r), r.get("title")) if isinstance(text, str) and text.strip()}


def _too_large_by_itself(failing: Failing, records: Sequence[Record]) -> Record | None:
    """The only record of a result, if the whole memory exceeds the threshold, so that its texts may be cut (I-13). None
    if there are several records, or if the memory does not exceed it."""
    known = failing.known.get(id_of(records[0]) or "") if len(records) == 1 else None
    exceeds = known is not None and size(known) * tokens_per_character(failing.original) > failing.threshold
    return records[0] if exceeds else None


def _has_all(failing: Failing, records: Sequence[Record]) -> bool:
    """Return whether a result has all records although they clearly exceed the threshold.

    A single record that exceeds it may come alone, with its texts cut (I-13).
    """
    estimate = failing.original.estimate
    is_near = estimate is not None and estimate <= ROOM * failing.threshold + SLACK
    return bool(failing.known) and len(records) >= max(2, len(failing.known)) and not is_near


def _is_cut(whole: object, part: object) -> bool:
    """Return whether a text or a list lost its end, or a value is missing; a counter with a different value is not
    cut."""
    if part is None:
        return True
    if isinstance(whole, list) and isinstance(part, list):
        return len(cast("list[object]", part)) < len(cast("list[object]", whole))
    if not isinstance(whole, str):
        return False
    return isinstance(part, str) and len(part) < len(whole) and whole.startswith(part[: max(8, len(part) // 2)])


def warns(failing: Failing, inline: Inline, estimates: Estimates, texts: dict[int, str]) -> Iterator[Judged | str]:
    """The response says that offloading failed and that the results are truncated.

    A warning in a language that the suite does not read (`lro_conformance.capture.warnings`) is not judged.
    *texts* caches the texts of inline calls by `id`: several failed writes may be compared with the same call.
    """
    if (reason := _perhaps_not_tried(estimates, failing)) is not None:
        yield reason
        return
    whole = _text_outside_memories(failing.call, failing)
    same = [c for c in inline.calls if c.arguments == failing.call.arguments]
    texts |= {id(c): _text_outside_memories(c, failing) for c in same if id(c) not in texts}
    unusual = _unusual(whole, [texts[id(c)] for c in same])
    text = unusual + true_names(unusual)
    failed, short = FAILED.search(text), SHORT.search(text + true_names(whole))
    if (failed is None or short is None) and foreign(text):
        yield (
            f"the warning is in a language that the suite does not read: {show(text.strip(), 200)} (add it in "
            "English, or confirm it in the profile: attest)"
        )
        return
    yield Judged(
        failed is not None and short is not None,
        "a warning that offloading failed and that the results are truncated",
        _incomplete(unusual, failed=failed is not None, short=short is not None),
    )


def _unusual(text: str, usual: Iterable[str]) -> str:
    """The members and sentences of a text that are not in the *usual* texts, compared without numbers.

    Members that say nothing (null, false, 0, empty) are left out. A sentence with a count such as "3 of 10" is always
    unusual.
    """
    known = {_NUMBER.sub("0", part) for each in usual for part in _parts(each)}
    return "\n".join(p for p in _parts(text) if _counts_some(p) or _NUMBER.sub("0", p) not in known)


def _parts(text: str) -> list[str]:
    return [part for piece in _PART_ENDS.split(SAYS_NOTHING.sub("", text)) if (part := piece.strip(" ,:{}[]"))]


def _counts_some(text: str) -> bool:
    found = _SOME_OF.search(text)
    return found is not None and found[1] != found[2]


_NUMBER = re.compile(r"\d+")
_PART_ENDS = re.compile(r'\n|(?<=[,{\[])\s*(?=["{\[])|(?<=[.!?;])\s+')
_SOME_OF = re.compile(r"\b(\d+) ?(?:of|out of|von|van|de|des|sur|di|из) ?(\d+)\b")


def _perhaps_not_tried(estimates: Estimates, failing: Failing) -> str | None:
    """The reason why the server may not have tried to write; None if there is none.

    If all records came inline without a failure event, and the server estimates a different set of records, its
    estimate may have been below the threshold.
    """
    records = _returned(failing)
    is_complete = records is None or len(records) >= len(failing.known)
    if failing.call.outcome != "inline" or failing.events or not is_complete:
        return None
    if not estimates.measure_differently(failing.call.operation):
        return None
    return (
        "the server estimates a different set of records (LRO-THR-05), so this result may have been below the "
        "threshold and never written"
    )


def _incomplete(text: str, *, failed: bool, short: bool) -> str:
    if not failed and not short:
        return "no warning"
    missing = "the failure" if not failed else "the truncation"
    return f"{missing} is not mentioned: {show(_words(text), 200)}"


_MEMBER = re.compile(r'"(?P<name>[^"]*)"\s*(?::\s*(?P<value>.*))?', re.DOTALL)


def _words(text: str) -> str:
    """The words of a message: its texts, each once and without the names of their members; other members if it has no
    texts."""
    texts, others = list[str](), list[str]()
    for part in text.split("\n"):
        member = _MEMBER.fullmatch(part)
        value = part if member is None else (member["value"] or "").strip(" {}[]:,")
        if member is None or value.startswith('"'):
            texts.append(value.strip(' "'))
        elif value:
            others.append(f"{member['name']}: {value}")
    return " ".join(dict.fromkeys(texts or others)) or text.strip()


def _text_outside_memories(call: Call, failing: Failing) -> str:
    """Text of a result outside its records; of a formatted text, outside the strings of the memories of *failing*."""
    records = _returned(failing)
    text = call.text if call.records and not records else text_outside_records(call)
    if call.records is None:
        text = without(text, long_strings([*failing.known.values(), *failing.original.file_records]))
    return text


def no_file_rule(failing: Failing) -> Iterator[Judged | str]:
    """No descriptor is returned for a file that was not written, was only partly written, or is in another folder."""
    if failing.call.outcome in ("error", "no answer") or (failing.recreated and not failing.elsewhere):
        return
    if failing.unreadable_even_normally:
        yield _NEVER_READABLE
        return
    kind = "a file in a different folder" if failing.elsewhere else "an incomplete file"
    yield Judged(
        failing.call.outcome == "inline",
        f"no descriptor of {kind}"
        if failing.recreated or failing.torn is not None
        else "no descriptor, as there is no file",
        f"a descriptor of {show(failing.call.descriptor.get('file_path'))}"
        + (f": {failing.torn}" if failing.torn is not None else ""),
    )
    in_memories = {*strings_in([*failing.known.values(), *(failing.call.records or [])])}
    named = re.findall(r'"file_path"\s*:\s*"([^"]+)"', _text_outside_memories(failing.call, failing))
    named = [path for path in named if path not in in_memories]
    yield Judged(not named, "no file_path, as there is no file", f"file_path {named[0] if named else ''}")


def offloads_again(call: Call, survey: Survey) -> Iterator[Judged]:
    """A result is offloaded again after writing works again, without a warning.

    A text that descriptors already had before anything failed is not a warning.
    """
    doubtful = [text for text in _descriptive_texts(call) if FAILED.search(text)]
    usual = {text for c in (survey.offloaded if doubtful else ()) for text in _descriptive_texts(c)}
    stale = next((text for text in doubtful if text not in usual), None)
    yield Judged(
        call.outcome == "offloaded" and stale is None,
        f"{call.operation} is offloaded again once the folder is there, without a warning",
        call.outcome if stale is None else f"{call.outcome}, with {show(stale, 200)}",
    )


def _descriptive_texts(call: Call) -> list[str]:
    """The texts of a descriptor and those next to it, without the texts of memories, the path and numbers."""
    if _descriptive_texts not in call.computed:
        blocks = [text for text in texts_of(call.result) if not text.lstrip().startswith("{")]
        texts, values = (*strings_in(call.descriptor), *blocks), long_strings(call.file_records)
        call.computed[_descriptive_texts] = [
            _NUMBER.sub("", without(text, values).replace(call.path, "")) for text in texts
        ]
    return call.computed[_descriptive_texts]


def remark_on_announced(judged: Sequence[tuple[Failing, bool]]) -> str:
    """A remark that only the first failed write of a server process was announced by an event; empty if that is not so.

    *judged* has each failed write, with True if it was announced.
    """
    processes: dict[int, list[tuple[Identity, bool]]] = {}
    for failing, announced in judged:
        processes.setdefault(failing.call.start.number, []).append((failing.call.identity, announced))
    ordered = [[announced for _, announced in sorted(one)] for one in processes.values()]
    if any(any(later) for _, *later in ordered) or not any(first and later for first, *later in ordered):
        return ""
    each = "each server process" if all(first for first, *_ in ordered) else "some server processes"
    number = sum(first for first, *_ in ordered)
    return f"; only the first failed write of {each} has such an event ({number} of {len(judged)} failed writes)"


def emits_event(failing: Failing, estimates: Estimates, *, watched: bool) -> Iterator[Judged | str]:
    """An OffloadWriteFailed event has the error's details. *watched*: such events were seen in this run."""
    if (reason := _perhaps_not_tried(estimates, failing)) is not None:
        yield reason
        return
    if failing.recreated or failing.torn is not None:  # an unnoticed failure cannot be reported (LRO-ERR-05)
        return
    if failing.unreadable_even_normally:
        yield _NEVER_READABLE
        return
    if not failing.events and not failing.events_observable and not watched:
        yield "no event was seen, but the suite may not be watching the right channel (profile: events)"
        return
    yield Judged(
        any(map(_has_details, failing.events)),
        "an OffloadWriteFailed event with the error's details",
        f"an event without details: {show(failing.events[0], 200)}" if failing.events else "no event",
    )


_NEVER_READABLE = "this server's files cannot be read in any case (LRO-DESC-02), so a missing file proves nothing"


def _has_details(event: str) -> bool:
    """Return whether an event describes the error, by a word or by the number of a code.

    Its name, envelope, time, call and path do not describe the error, nor does "Success".
    """
    line = event.partition(": ")[2]  # after the channel
    try:
        message = as_record(json.loads(line))
    except ValueError:
        message = {}
    params = as_record(message.get("params"))
    data: Any = params.get("data", params or message) or line
    words = re.sub(r"OffloadWriteFailed|\d{4}-\d\d-\d\dT[\d:.+Z-]+", "", " ".join(_error_texts(data)))
    letters = re.sub(r"[^A-Za-z]", "", _NO_ERROR.sub("", _CALLED.sub("", words)))
    return len(letters) >= 3 or _CODE.search(words) is not None


def _error_texts(value: object) -> Iterator[str]:
    """Texts of a value, and codes as ``name=number``, except for members of the envelope and of the call."""
    if isinstance(value, str):
        if value not in DETAILS and (": " in value or not value.startswith("/")):  # no level's name, no mere path
            yield value
    elif isinstance(value, list):
        for each in cast("list[object]", value):
            yield from _error_texts(each)
    elif isinstance(value, dict):
        for key, each in cast("Record", value).items():
            if key in _ENVELOPE or key in _CALL:
                continue
            if isinstance(each, int | float) and not isinstance(each, bool):
                yield f"{key}={each}" if _CODE.search(f"{key}={each}") else ""
            else:
                yield from _error_texts(each)


_ENVELOPE = {"event", "type", "name", "kind", "timestamp", "time", "ts", "at", "level", "logger", "severity"}
"""Names of members that say what the event is, and when and where it was logged."""

_CALL = {"operation", "tool", "query", "limit", "arguments", "component", "service", "pid"}
"""Names of members that say which call of which process failed."""

_CALLED = re.compile(rf"\b(?:{'|'.join(sorted(_CALL))})\s*[=:]\s*(?:\"[^\"]*\"|\S+)")
_NO_ERROR = re.compile(r"\b(?:success|no error|undefined|null|none)\b", re.IGNORECASE)
"""Words for an error that did not occur, or that was lost."""

_CODE = re.compile(r"(?:errno|err|error|code|status)\w*\W{0,3}-?[1-9]\d*", re.IGNORECASE)
"""A code of an error: ``errno=28``, ``[Errno 28]``, ``"error_code": 28``."""
