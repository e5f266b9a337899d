"""Compaction of conversations: nothing is lost, nothing else changes, and no file is outside the server's folders."""

from __future__ import annotations

from lro_conformance.capture.records import as_record, show
from lro_conformance.checks.extensions.test_extraction import describe
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.extensions.compaction import TEXT, Compaction, conversation
from lro_conformance.trials.extensions.extraction import MARK

_LARGE = 3
"""Index of the message that is large and old."""


@check("LRO-EXTRACT-18")
def test_offloaded_messages_can_be_reloaded(compaction: Compaction, subjects: Subjects) -> None:
    """A message that was offloaded is in the file that replaces it, and `read_file` returns it exactly."""
    if compaction.stored is None:
        raise NotObserved("no message refers to a file")
    stored = compaction.stored.data.decode("utf-8", "replace")
    subjects.expect(
        TEXT in stored,
        expected=f"the {len(TEXT)} characters of the message in {compaction.stored.path}",
        observed=compaction.stored.problem or f"{len(stored)} characters: … {show(stored[-60:])}",
        at=compaction.done,
    )
    if compaction.reload is not None and TEXT in stored:
        call = compaction.reload.call
        received = f"{len(call.text)} characters: … {show(call.text[-60:])}"
        subjects.expect(
            call.outcome == "inline" and TEXT in call.text,
            expected=f"{compaction.reload.about}, all {len(TEXT)} characters",
            observed=received if call.outcome == "inline" else describe(call),
            at=compaction.reload,
        )


@check("LRO-EXTRACT-19")
def test_only_large_old_results_are_offloaded(compaction: Compaction, subjects: Subjects) -> None:
    """Only large tool results other than the latest are replaced, by something shorter."""
    original, compacted = conversation(), compaction.messages
    if not subjects.expect(
        len(compacted) == len(original),
        expected=f"{len(original)} messages",
        observed=f"{len(compacted)} messages; {describe(compaction.done.call)}",
        at=compaction.done,
    ):
        return
    for place, (before, after) in enumerate(zip(original, compacted, strict=True)):
        message = as_record(after)
        if place == _LARGE:
            rest = {**message, "content": TEXT} == before
            shorter = isinstance(message.get("content"), str) and len(message["content"]) < len(TEXT) / 2
            right, expected = rest and shorter, "a shorter content and no other change"
        else:
            right, expected = message == before, show(before, 120)
        subjects.expect(
            right, expected=f"message {place + 1}: {expected}", observed=show(after, 160), at=compaction.done
        )


@check("LRO-EXTRACT-20")
def test_nothing_is_stored_outside(compaction: Compaction, subjects: Subjects) -> None:
    """Neither a call's id nor a folder that the client names leads to a file outside the server's own folders."""
    if compaction.stored is None or compaction.stored.problem is not None:
        raise NotObserved("no stored file can be read by the suite")
    for asked, path in compaction.escaping:
        subjects.expect(not path, expected=f"{asked.about}: no file elsewhere", observed=f"the file {path}", at=asked)


@check("LRO-EXTRACT-21")
def test_only_stored_messages_are_read(compaction: Compaction, subjects: Subjects) -> None:
    """`read_file` reads offloaded messages and no other file."""
    if compaction.reload is None:
        raise NotApplicable("the server lists no read_file along with context_offload, or names no file")
    if compaction.reload.call.outcome != "inline":
        raise NotObserved("read_file does not read a file that it should read")
    for one in compaction.foreign:
        subjects.expect(
            MARK not in one.call.text, expected=f"{one.about} is refused", observed="the content of that file", at=one
        )
