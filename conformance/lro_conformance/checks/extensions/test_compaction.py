"""Conversations made shorter: nothing is lost, nothing else is touched, and no file leads or lies elsewhere."""

from __future__ import annotations

from lro_conformance.capture.records import as_record, show
from lro_conformance.checks.extensions.test_extraction import told
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.extensions.compaction import TEXT, Compaction, conversation
from lro_conformance.trials.extensions.extraction import MARK

_LARGE = 3
"""The place of the message that is large and old."""


@check("LRO-EXTRACT-18")
def test_offloaded_messages_can_be_reloaded(compaction: Compaction, subjects: Subjects) -> None:
    """What has left a conversation is in the file that it refers to, and `read_file` gives it back, to the letter."""
    if compaction.stored is None:
        raise NotObserved("no message refers to a file")
    kept = compaction.stored.data.decode("utf-8", "replace")
    subjects.expect(
        TEXT in kept,
        expected=f"the {len(TEXT)} characters of the message in {compaction.stored.path}",
        observed=compaction.stored.problem or f"{len(kept)} characters: … {show(kept[-60:])}",
        at=compaction.done,
    )
    if compaction.reload is not None and TEXT in kept:
        call = compaction.reload.call
        got = f"{len(call.text)} characters: … {show(call.text[-60:])}"
        subjects.expect(
            call.outcome == "inline" and TEXT in call.text,
            expected=f"{compaction.reload.about}, all {len(TEXT)} characters",
            observed=got if call.outcome == "inline" else told(call),
            at=compaction.reload,
        )


@check("LRO-EXTRACT-19")
def test_only_large_old_results_are_offloaded(compaction: Compaction, subjects: Subjects) -> None:
    """Of a conversation only a large result of a tool that is not the latest is replaced, by something shorter."""
    given, got = conversation(), compaction.messages
    if not subjects.expect(
        len(got) == len(given),
        expected=f"{len(given)} messages",
        observed=f"{len(got)} messages; {told(compaction.done.call)}",
        at=compaction.done,
    ):
        return
    for place, (before, after) in enumerate(zip(given, got, strict=True)):
        said = as_record(after)
        if place == _LARGE:
            rest = {**said, "content": TEXT} == before
            shorter = isinstance(said.get("content"), str) and len(said["content"]) < len(TEXT) / 2
            right, expected = rest and shorter, "a shorter content, and all else as it was"
        else:
            right, expected = said == before, show(before, 120)
        subjects.expect(
            right, expected=f"message {place + 1}: {expected}", observed=show(after, 160), at=compaction.done
        )


@check("LRO-EXTRACT-20")
def test_nothing_is_stored_outside(compaction: Compaction, subjects: Subjects) -> None:
    """Neither the id of a call nor a folder that the caller names makes a file outside of the server's own folders."""
    if compaction.stored is None or compaction.stored.problem is not None:
        raise NotObserved("nothing is stored where the suite can look")
    for asked, path in compaction.escaping:
        subjects.expect(not path, expected=f"{asked.about}: no file elsewhere", observed=f"the file {path}", at=asked)


@check("LRO-EXTRACT-21")
def test_only_stored_messages_are_read(compaction: Compaction, subjects: Subjects) -> None:
    """`read_file` reads what left a conversation, and no other file."""
    if compaction.reload is None:
        raise NotApplicable("the server lists no read_file beside context_offload, or names no file")
    if compaction.reload.call.outcome != "inline":
        raise NotObserved("read_file does not read a file that it ought to")
    for one in compaction.foreign:
        subjects.expect(
            MARK not in one.call.text, expected=f"{one.about} is refused", observed="what stands in that file", at=one
        )
