"""Rules for failed writes: what is required of a call whose result could not be written to a file, and of calls after
writing works again.

Each rule is a function of such a call and of the evidence that the rule needs. It yields a `Judged` for each subject
that it examined. If it could examine nothing, it yields the reason.
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
from lro_conformance.capture.estimate import is_within_tolerance, tokens_per_character
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
    EMPTY_MEMBER,
    FAILURE,
    TRUNCATION,
    is_in_foreign_language,
    long_strings,
    names_of_true_fields,
    text_outside_records,
    without_values,
)
from lro_conformance.judging.derived import derived
from lro_conformance.trials.exploration import Explored
from lro_conformance.trials.fallback import FAILURE_KINDS, Failing, Fallback, Recovered
from lro_conformance.trials.survey import Inline, Survey
from lro_conformance.trials.tasks import Tasks
from lro_spec.display import counted
from lro_spec.editions import DETAILS
from lro_spec.tokens import CHARACTERS_PER_TOKEN, MIN_FACTOR

SIZE_TOLERANCE = 1.15
"""A truncated result may have this number of times the tokens of the threshold, because the suite only infers how the
server counts tokens."""

EXTRA_TOKENS = 16
"""Number of tokens that a truncated result may have in addition to `SIZE_TOLERANCE` times the threshold."""

TEXT_SIZE_TOLERANCE = 1.6
"""A formatted text may have this number of times the tokens of the threshold, because its number of characters per
token is not that of JSON."""


@dataclass(frozen=True)
class FailedWrites:
    """All failed writes of a run, and the calls after writing works again."""

    failing: Sequence[Failing]
    """All failed writes. If no result was offloaded after writing worked again in the trial `fallback`, only those with
    `Failing.first` are included, because the server may not have tried to write in the other cases."""
    recovered: Sequence[Recovered]
    skipped: Mapping[str, str]
    """The kinds of failures (`FAILURE_KINDS`) that could not be provoked, each with the reason."""

    @property
    def inline(self) -> list[Failing]:
        """The failed writes whose call returned an inline result."""
        return [f for f in self.failing if f.call.outcome == "inline"]

    def in_context(self, failing: Failing, violating_calls: Collection[Identity]) -> Failing:
        """A failed write that violates a rule, with the earlier failed writes of its process as its steps. If its kind
        or its operation explains the violation, it is returned without these steps.

        *violating_calls* has the calls of all failed writes that violate the rule. The kind explains the violation
        under two conditions. First, exactly the failed writes of this kind violate the rule. Second, a later failed
        write of this process does not violate the rule, or earlier failed writes of the process are of two other kinds.
        The operation explains the violation under the same conditions.
        """
        if failing.steps:
            return failing
        of_process = [f for f in self.failing if _is_of_process(f, failing.call) and not f.steps]
        earlier = [f for f in of_process if f.call.identity < failing.call.identity]
        later = [f for f in of_process if f.call.identity > failing.call.identity]
        traits: tuple[Callable[[Failing], str], ...] = (lambda f: f.kind, lambda f: f.call.operation)
        for trait in traits:
            with_same_trait = [f for f in self.failing if trait(f) == trait(failing)]
            others = {trait(f) for f in earlier} - {trait(failing)}
            is_contrasted = len(others) > 1 or any(f.call.identity not in violating_calls for f in later)
            if is_contrasted and {f.call.identity for f in with_same_trait} == {*violating_calls}:
                return failing
        return replace(failing, steps=_steps(earlier, failing.kind, failing.limit)) if earlier else failing


@derived
def failed_writes(fallback: Fallback, found: Mapping[str, Any]) -> FailedWrites:
    """The failed writes of all trials. They were provoked one by one, in sequences of the explorer, and in a task."""
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
    """The subject that reproduces the first output on stdout that is not a message. If the output came during a failed
    write, the subject is this failed write. Otherwise, it is the whole conversation. None if there was no such
    output."""
    first, read_at, fallback = overall.first, overall.first_at, found.get("fallback")
    if first is None or read_at is None or not isinstance(fallback, Fallback):
        return None if first is None else Conversation(first)
    writes = failed_writes(fallback, found)
    writes_at_that_time = [
        f
        for f in writes.failing
        if f.call.start.number == first.number and f.call.started <= read_at <= f.call.ended + MAX_DELAY_S
    ]
    last = max(writes_at_that_time, key=lambda f: f.call.started, default=None)
    return Conversation(first) if last is None else writes.in_context(last, ())


MAX_DELAY_S = 0.2
"""Output that comes at most this number of seconds after a response counts as output of the same call."""


def _is_of_process(failing: Failing, call: Call) -> bool:
    return failing.call.start.number == call.start.number


def _steps(earlier: Sequence[Failing], kind: str, last_limit: int | None = None) -> tuple[Call | Intervention, ...]:
    """The interventions and calls of *earlier* failed writes of one process, followed by a last intervention of this
    *kind*.

    When the kind of the interventions changes, the folder is first made usable again (`MENDED`). *last_limit* is the
    file-size limit of the last intervention.
    """
    steps: list[Call | Intervention] = []
    current_kind = ""
    for next_kind, limit, call in (*((f.kind, f.limit, f.call) for f in earlier), (kind, last_limit, None)):
        if next_kind != current_kind:
            steps += [Intervention(MENDED)] if current_kind and next_kind != MENDED else []
            steps += [Intervention(next_kind, largest=limit)]
            current_kind = next_kind
        steps += [] if call is None else [call]
    return tuple(steps)


def _recovered(fallback: Fallback) -> Iterator[Recovered]:
    """The calls after writing works again. Each has the failed writes and calls before it in its process as its steps.

    If there was another process, whose folder had been a file from the start, and if it did not write to its new folder
    either, the failed writes of a single kind are enough to reproduce the call.
    """
    for number, call in enumerate(fallback.recovered):
        earlier = [f for f in fallback.failing if _is_of_process(f, call) and f.call.identity < call.identity]
        # A process that began without a folder got one later. If it was still alive then, but another process was
        # started nevertheless, it did not write to its new folder.
        failing_from_start = [f for f in fallback.failing if f.kind == FROM_START and not _is_of_process(f, call)]
        if failing_from_start and all(f.alive for f in failing_from_start):
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
        rules["LRO-ERR-04"] = emits_event(failing, estimates, events_were_seen=False)
    for requirement, found in rules.items():
        if not all(one.holds for one in found if not isinstance(one, str)):
            yield requirement


def succeeds(failing: Failing) -> Iterator[Judged | str]:
    """The call succeeds, and the server continues to run."""
    yield Judged(
        failing.call.outcome in ("inline", "offloaded") and failing.alive and failing.task_status != "failed",
        f"{failing.call.operation} succeeds although {FAILURE_KINDS[failing.kind]}",
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
    """The inline result has fewer records than the file. They are whole, and do not exceed the threshold."""
    if not is_within_tolerance(failing.original) or estimates.call_ignoring_detail(failing.call.operation) is not None:
        yield "the server's estimate is inaccurate, so result sizes cannot be compared with the threshold"
        return
    if failing.call.operation not in survey.effective:
        yield "a low threshold has no effect (LRO-CFG-02), so the limit in effect is unknown"
        return
    wrong = not_truncated(failing, comparison.volatile(failing.call.operation), comparison.fields_missing_inline)
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
        f"fewer than {len(failing.known)} records, because {FAILURE_KINDS[failing.kind]}",
        f"all {len(records)} records",
    )


def not_truncated(failing: Failing, volatile: Collection[Path], added: Collection[str] = ()) -> str | None:
    """The defect of an inline result whose records could not be written to a file. None if the records are whole and do
    not exceed the threshold. Also None if there are no records because the first one may be too large.

    *volatile* are the paths of fields that differ between identical calls. *added* are the fields that only files have.
    """
    records = _returned(failing)
    records_without_ids = failing.original.file_records if records is not None else []
    file_records = [*failing.known.values()] or records_without_ids
    first_tokens = sum(map(size, file_records[:1])) * tokens_per_character(failing.original)
    is_empty = not records if records is not None else not _shows_any(failing)
    if is_empty and file_records and first_tokens < failing.threshold / 4:
        return f"no records, although the first one ({first_tokens:.0f} tokens) would fit"
    if records is None:
        tokens = len(failing.call.text) / 4
        if tokens > TEXT_SIZE_TOLERANCE * failing.threshold + 200:
            return f"a text of {len(failing.call.text)} characters, about {tokens:.0f} tokens"
        is_cut_off = any(cut_off(text, failing.known) for text in texts_of(failing.call.result))
        return "JSON that is cut off in the middle of a record" if is_cut_off else None
    if _has_all(failing, records):
        return f"all {len(records)} records"
    records_by_id, ids = by_id(records), [id for r in records if (id := id_of(r)) is not None]
    if len(records_by_id) < len(ids) and len(failing.known) == len(failing.original.file_records):
        distinct_ids = counted(len(records_by_id), "distinct id")
        return f"{counted(len(records), 'record')} with only {distinct_ids}: some are repeated"
    rate, returned = tokens_per_character(failing.original), sum(map(size, records))
    tokens = returned * rate
    if failing.returned_estimate:  # This is E of the same records. They may have more fields than usual.
        tokens = max(failing.returned_estimate, MIN_FACTOR * returned / CHARACTERS_PER_TOKEN)
    single_record = _too_large_by_itself(failing, records)
    # A record that is too large by itself can be cut only in its texts.
    counted_tokens = (
        tokens if single_record is None else min(tokens, rate * max(map(len, strings_in(single_record)), default=0))
    )
    if counted_tokens > SIZE_TOLERANCE * failing.threshold + EXTRA_TOKENS:
        return f"{len(records)} records of about {tokens:.0f} tokens"
    for key, record in records_by_id.items() if single_record is None else ():
        whole = failing.known.get(key, record)
        differing_paths = lost_or_changed(record, whole, volatile, added=added)
        cut_paths = [p for p in differing_paths if _is_cut(at_path(whole, p), at_path(record, p))]
        if cut_paths:
            return f"record {key} is cut: /{'/'.join(cut_paths[0])} is {value_at(record, cut_paths[0])}"
    return None


def _shows_any(failing: Failing) -> bool:
    """Return whether a formatted text shows a record of the file by its title or by another long text.

    Also True if no record of the file has a title or another long text.
    """
    records = [*failing.known.values()]
    long_texts = [{"content": text} for text in strings_in(records) if len(text) >= _MIN_LONG_TEXT]
    titles = [title for record in records if isinstance(title := record.get("title"), str) and title]
    shown = "\n".join([failing.call.text, *texts_of(failing.call.result)])
    return not (long_texts or titles) or mentions_any(shown, long_texts) or any(title in shown for title in titles)


_MIN_LONG_TEXT = 12
"""Least length, in characters, of a text that identifies a record. A shorter text may be a word that many records
share, such as a type or a status."""


def _returned(failing: Failing) -> list[Record] | None:
    """The records of the inline result. Empty if the result only has a remark, for example because no record fits. None
    for a formatted text."""
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
    """The ids and titles of records. A record can be recognised by them even if its fields have unusual names."""
    return {text for r in records for text in (id_of(r), r.get("title")) if isinstance(text, str) and text.strip()}


def _too_large_by_itself(failing: Failing, records: Sequence[Record]) -> Record | None:
    """The only record of a result, if the memory as a whole exceeds the threshold, so that the texts of the record may
    be cut (I-13). None if there are several records, or if the memory does not exceed the threshold."""
    memory = failing.known.get(id_of(records[0]) or "") if len(records) == 1 else None
    exceeds = memory is not None and size(memory) * tokens_per_character(failing.original) > failing.threshold
    return records[0] if exceeds else None


def _has_all(failing: Failing, records: Sequence[Record]) -> bool:
    """Return whether a result has all records although they clearly exceed the threshold.

    False for a single record, because it may be returned even if it exceeds the threshold, with its texts cut (I-13).
    """
    estimate = failing.original.estimate
    is_near = estimate is not None and estimate <= SIZE_TOLERANCE * failing.threshold + EXTRA_TOKENS
    return bool(failing.known) and len(records) >= max(2, len(failing.known)) and not is_near


def _is_cut(whole: object, part: object) -> bool:
    """Return whether *part* is what is left of *whole* after a cut: a text or a list without its end, or no value at
    all.

    Other values, such as counters, do not count as cut if they differ.
    """
    if part is None:
        return True
    if isinstance(whole, list) and isinstance(part, list):
        return len(cast("list[object]", part)) < len(cast("list[object]", whole))
    if not isinstance(whole, str):
        return False
    return isinstance(part, str) and len(part) < len(whole) and whole.startswith(part[: max(8, len(part) // 2)])


def warns(failing: Failing, inline: Inline, estimates: Estimates, texts: dict[int, str]) -> Iterator[Judged | str]:
    """The response says that offloading failed and that the results are truncated.

    A warning in a language that the suite cannot read (`lro_conformance.capture.warnings`) is not judged. *texts*
    caches the texts of inline calls by the `id` of the call, because several failed writes may be compared with the
    same call.
    """
    if (reason := _perhaps_not_tried(estimates, failing)) is not None:
        yield reason
        return
    full_text = _text_outside_memories(failing.call, failing)
    inline_calls = [c for c in inline.calls if c.arguments == failing.call.arguments]
    texts |= {id(c): _text_outside_memories(c, failing) for c in inline_calls if id(c) not in texts}
    unusual = _unusual_text(full_text, [texts[id(c)] for c in inline_calls])
    text = unusual + names_of_true_fields(unusual)
    failed, short = FAILURE.search(text), TRUNCATION.search(text + names_of_true_fields(full_text))
    if (failed is None or short is None) and is_in_foreign_language(text):
        yield (
            f"the warning is in a language that the suite does not read: {show(text.strip(), 200)} (add it in "
            "English, or confirm it in the profile: attest)"
        )
        return
    yield Judged(
        failed is not None and short is not None,
        "a warning that offloading failed and that the results are truncated",
        _missing_mention(unusual, failed=failed is not None, short=short is not None),
    )


def _unusual_text(text: str, usual_texts: Iterable[str]) -> str:
    """The members and sentences of a text that are in none of the *usual_texts*. They are compared without numbers.

    Members whose value is null, false, 0 or empty are left out. A sentence with a count such as "3 of 10" is always
    included.
    """
    usual_parts = {_NUMBER.sub("0", part) for each in usual_texts for part in _sentences(each)}
    return "\n".join(p for p in _sentences(text) if _counts_some(p) or _NUMBER.sub("0", p) not in usual_parts)


def _sentences(text: str) -> list[str]:
    return [part for piece in _PART_ENDS.split(EMPTY_MEMBER.sub("", text)) if (part := piece.strip(" ,:{}[]"))]


def _counts_some(text: str) -> bool:
    found = _COUNT_OF_TOTAL.search(text)
    return found is not None and found[1] != found[2]


_NUMBER = re.compile(r"\d+")
_PART_ENDS = re.compile(r'\n|(?<=[,{\[])\s*(?=["{\[])|(?<=[.!?;])\s+')
_COUNT_OF_TOTAL = re.compile(r"\b(\d+) ?(?:of|out of|von|van|de|des|sur|di|из) ?(\d+)\b")


def _perhaps_not_tried(estimates: Estimates, failing: Failing) -> str | None:
    """The reason why the server may not have tried to write a file; None if there is no such reason.

    There is a reason if all records came inline without a failure event, and if the server estimates a different set of
    records. Then its estimate may have been below the threshold.
    """
    records = _returned(failing)
    is_complete = records is None or len(records) >= len(failing.known)
    if failing.call.outcome != "inline" or failing.events or not is_complete:
        return None
    if not estimates.are_of_other_records(failing.call.operation):
        return None
    return (
        "the server estimates a different set of records (LRO-THR-05), so this result may have been below the "
        "threshold and never written"
    )


def _missing_mention(text: str, *, failed: bool, short: bool) -> str:
    if not failed and not short:
        return "no warning"
    missing = "the failure" if not failed else "the truncation"
    return f"{missing} is not mentioned: {show(_message_texts(text), 200)}"


_MEMBER = re.compile(r'"(?P<name>[^"]*)"\s*(?::\s*(?P<value>.*))?', re.DOTALL)


def _message_texts(text: str) -> str:
    """The texts in a message, without the names of their members. Each text is included once. If the message has no
    texts, its other members are returned with their names."""
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
    """The text of a result without the texts of its records. If the result is a formatted text, the strings of the
    memories of *failing* are removed instead."""
    records = _returned(failing)
    text = call.text if call.records and not records else text_outside_records(call)
    if call.records is None:
        text = without_values(text, long_strings([*failing.known.values(), *failing.original.file_records]))
    return text


def no_file_rule(failing: Failing) -> Iterator[Judged | str]:
    """No descriptor is returned for a file that was not written, was only partly written, or is in another folder."""
    if failing.call.outcome in ("error", "no answer") or (failing.recreated and not failing.elsewhere):
        return
    if failing.unreadable_even_normally:
        yield _FILES_NEVER_READABLE
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
    texts_of_memories = {*strings_in([*failing.known.values(), *(failing.call.records or [])])}
    named_paths = re.findall(r'"file_path"\s*:\s*"([^"]+)"', _text_outside_memories(failing.call, failing))
    named_paths = [path for path in named_paths if path not in texts_of_memories]
    yield Judged(
        not named_paths, "no file_path, as there is no file", f"file_path {named_paths[0] if named_paths else ''}"
    )


def offloads_again(call: Call, survey: Survey) -> Iterator[Judged]:
    """When writing works again, a result is offloaded again, and comes without a warning.

    A text does not count as a warning if descriptors already had it before anything failed.
    """
    texts_about_failure = [text for text in _descriptive_texts(call) if FAILURE.search(text)]
    usual_texts = {text for c in (survey.offloaded if texts_about_failure else ()) for text in _descriptive_texts(c)}
    remaining_warning = next((text for text in texts_about_failure if text not in usual_texts), None)
    yield Judged(
        call.outcome == "offloaded" and remaining_warning is None,
        f"{call.operation} is offloaded again once the folder is there, without a warning",
        call.outcome if remaining_warning is None else f"{call.outcome}, with {show(remaining_warning, 200)}",
    )


def _descriptive_texts(call: Call) -> list[str]:
    """The texts of a descriptor, and the other texts of the result. The texts of memories, the path of the file, and
    numbers are removed."""
    if _descriptive_texts not in call.computed:
        blocks = [text for text in texts_of(call.result) if not text.lstrip().startswith("{")]
        texts, values = (*strings_in(call.descriptor), *blocks), long_strings(call.file_records)
        call.computed[_descriptive_texts] = [
            _NUMBER.sub("", without_values(text, values).replace(call.path, "")) for text in texts
        ]
    return call.computed[_descriptive_texts]


def remark_on_announced(judged: Sequence[tuple[Failing, bool]]) -> str:
    """A remark which says that only the first failed write of a server process was announced by an event. Empty if
    events do not have this pattern.

    *judged* has each failed write. It comes with True if an event announced it, and with False if no event did.
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


def emits_event(failing: Failing, estimates: Estimates, *, events_were_seen: bool) -> Iterator[Judged | str]:
    """An OffloadWriteFailed event has the error's details. *events_were_seen* is True if such events were seen in this
    run."""
    if (reason := _perhaps_not_tried(estimates, failing)) is not None:
        yield reason
        return
    if failing.recreated or failing.torn is not None:  # The server did not notice this failure (LRO-ERR-05).
        return
    if failing.unreadable_even_normally:
        yield _FILES_NEVER_READABLE
        return
    if not failing.events and not failing.events_observable and not events_were_seen:
        yield "no event was seen, but the suite may not be watching the right channel (profile: events)"
        return
    yield Judged(
        any(map(_has_details, failing.events)),
        "an OffloadWriteFailed event with the error's details",
        f"an event without details: {show(failing.events[0], 200)}" if failing.events else "no event",
    )


_FILES_NEVER_READABLE = "this server's files cannot be read in any case (LRO-DESC-02), so a missing file proves nothing"


def _has_details(event: str) -> bool:
    """Return whether an event describes the error by a word, or by a code with a number.

    The event's name, envelope, time, call and path do not count as a description. "Success" does not count, either.
    """
    line = event.partition(": ")[2]  # The channel comes first.
    try:
        message = as_record(json.loads(line))
    except ValueError:
        message = {}
    params = as_record(message.get("params"))
    data: Any = params.get("data", params or message) or line
    words = re.sub(r"OffloadWriteFailed|\d{4}-\d\d-\d\dT[\d:.+Z-]+", "", " ".join(_error_texts(data)))
    letters = re.sub(r"[^A-Za-z]", "", _NO_ERROR.sub("", _CALL_FIELD.sub("", words)))
    return len(letters) >= 3 or _CODE.search(words) is not None


def _error_texts(value: object) -> Iterator[str]:
    """The texts in a value, and its codes as ``name=number``. Members of the envelope and of the call are left out."""
    if isinstance(value, str):
        # The name of a level and a mere path are left out.
        if value not in DETAILS and (": " in value or not value.startswith("/")):
            yield value
    elif isinstance(value, list):
        for each in cast("list[object]", value):
            yield from _error_texts(each)
    elif isinstance(value, dict):
        for key, each in cast("Record", value).items():
            if key in _ENVELOPE_NAMES or key in _CALL_NAMES:
                continue
            if isinstance(each, int | float) and not isinstance(each, bool):
                yield f"{key}={each}" if _CODE.search(f"{key}={each}") else ""
            else:
                yield from _error_texts(each)


_ENVELOPE_NAMES = {"event", "type", "name", "kind", "timestamp", "time", "ts", "at", "level", "logger", "severity"}
"""Names of members of an event which say what the event is, and when and where it was logged."""

_CALL_NAMES = {"operation", "tool", "query", "limit", "arguments", "component", "service", "pid"}
"""Names of members of an event which say what call failed, and in what process."""

_CALL_FIELD = re.compile(rf"\b(?:{'|'.join(sorted(_CALL_NAMES))})\s*[=:]\s*(?:\"[^\"]*\"|\S+)")
_NO_ERROR = re.compile(r"\b(?:success|no error|undefined|null|none)\b", re.IGNORECASE)
"""Words that stand for the absence of an error, or for a lost error."""

_CODE = re.compile(r"(?:errno|err|error|code|status)\w*\W{0,3}-?[1-9]\d*", re.IGNORECASE)
"""A code of an error: ``errno=28``, ``[Errno 28]``, ``"error_code": 28``."""
