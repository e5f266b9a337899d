"""Compaction of conversations: no text is lost, nothing else changes, and files stay in the server's own folders."""

from __future__ import annotations

from collections.abc import Iterable

from lro_conformance.capture.records import as_record, show
from lro_conformance.checks.extensions.test_extraction import describe, refused
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.extensions.compaction import LARGE_TEXT, Compaction, conversation, messages_of
from lro_conformance.trials.extensions.extraction import MARK
from lro_conformance.trials.extensions.families import FileToolCall

_LARGE = 3
"""Index of the only message in the suite's conversation that has to be replaced: a large result of a tool that is not
the latest message."""


@check("LRO-EXTRACT-18")
def test_offloaded_messages_can_be_reloaded(compaction: Compaction, subjects: Subjects) -> None:
    """The file that replaces a message has the complete text of the message, and `read_file` returns this text
    unchanged."""
    if compaction.stored is None:
        raise NotObserved("the message in place of the large one names no file")
    stored = compaction.stored.data.decode("utf-8", "replace")
    subjects.expect(
        LARGE_TEXT in stored,
        expected=f"the {len(LARGE_TEXT)} characters of the message in {compaction.stored.path}",
        observed=compaction.stored.problem or f"{len(stored)} characters: … {show(stored[-60:])}",
        subject=compaction.done,
    )
    if compaction.reload is not None and LARGE_TEXT in stored:
        call = compaction.reload.call
        received = f"{len(call.text)} characters: … {show(call.text[-60:])}"
        subjects.expect(
            call.outcome == "inline" and LARGE_TEXT in call.text,
            expected=f"{compaction.reload.about}, all {len(LARGE_TEXT)} characters",
            observed=received if call.outcome == "inline" else describe(call),
            subject=compaction.reload,
        )


@check("LRO-EXTRACT-19")
def test_only_large_old_results_are_offloaded(compaction: Compaction, subjects: Subjects) -> None:
    """Only large tool results are replaced, each by a shorter text. The latest tool result is never replaced."""
    original, compacted = conversation(), compaction.messages
    if not subjects.expect(
        len(compacted) == len(original),
        expected=f"{len(original)} messages",
        observed=f"{len(compacted)} messages; {describe(compaction.done.call)}",
        subject=compaction.done,
    ):
        return
    for index, (before, after) in enumerate(zip(original, compacted, strict=True)):
        message = as_record(after)
        if index == _LARGE:
            rest = {**message, "content": LARGE_TEXT} == before
            shorter = isinstance(message.get("content"), str) and len(message["content"]) < len(LARGE_TEXT) / 2
            holds, expected = rest and shorter, "a content of less than half the length, and no other change"
        else:
            holds, expected = message == before, show(before, 120)
        subjects.expect(
            holds, expected=f"message {index + 1}: {expected}", observed=show(after, 160), subject=compaction.done
        )


@check("LRO-EXTRACT-20")
def test_only_own_folders_are_written(compaction: Compaction, subjects: Subjects) -> None:
    """If the client names a folder, the server writes files to it only if it is one of the server's own folders."""
    if compaction.elsewhere is None:
        raise NotObserved("no call that names a folder was tried")
    if not compaction.elsewhere:
        raise NotApplicable("context_offload takes no store_dir")
    _expect_no_file(compaction, compaction.elsewhere, subjects)


@check("LRO-EXTRACT-25")
def test_ids_do_not_lead_elsewhere(compaction: Compaction, subjects: Subjects) -> None:
    """The server never writes a file outside its own folders, whatever the ids of tool calls are."""
    _expect_no_file(compaction, compaction.escaping, subjects)


def _expect_no_file(compaction: Compaction, tried: Iterable[tuple[FileToolCall, str]], subjects: Subjects) -> None:
    if compaction.stored is None or compaction.stored.problem is not None:
        raise NotObserved("the suite cannot read the file of any offloaded message")
    for tool_call, path in tried:
        subjects.expect(
            not path, expected=f"{tool_call.about}: no file elsewhere", observed=f"the file {path}", subject=tool_call
        )


@check("LRO-EXTRACT-21")
def test_only_stored_messages_are_read(compaction: Compaction, subjects: Subjects) -> None:
    """`read_file` reads the files of offloaded messages, and no other files."""
    if compaction.reload is None:
        raise NotApplicable("the server lists no read_file along with context_offload, or names no file")
    if compaction.reload.call.outcome != "inline":
        raise NotObserved("read_file does not read a file that it should read")
    for tool_call in compaction.foreign:
        subjects.expect(
            MARK not in tool_call.call.text,
            expected=f"{tool_call.about} is refused",
            observed="the content of that file",
            subject=tool_call,
        )


@check("LRO-EXTRACT-28")
def test_small_conversations_stay(compaction: Compaction, subjects: Subjects) -> None:
    """A conversation of at most max_total_tokens is returned unchanged."""
    tool_call = compaction.within
    if tool_call is None:
        raise NotApplicable("context_offload takes no max_total_tokens")
    messages = messages_of(tool_call.call)
    changed = [n for n, (m, o) in enumerate(zip(messages, conversation(), strict=False), 1) if m != o]
    if not changed and len(messages) != len(conversation()):
        changed = [len(messages)]
    subjects.expect(
        list(messages) == conversation(),
        expected=f"{tool_call.about}: its {len(conversation())} messages, unchanged",
        observed=f"message {changed[0]} of {len(messages)} differs"
        if changed and messages
        else describe(tool_call.call),
        subject=tool_call,
    )


@check("LRO-EXTRACT-29")
def test_system_and_recent_messages_stay(compaction: Compaction, subjects: Subjects) -> None:
    """A mode that summarises a conversation keeps the text of the system message at the beginning of the first message,
    and keeps the latest message unchanged.

    The server may also refuse such a mode with an error. In this case, the mode is not observed.
    """
    if not compaction.summarised:
        raise NotApplicable("context_offload takes no context_manage_mode")
    system, *_, last = conversation()
    for tool_call in compaction.summarised:
        if refused(tool_call.call):
            subjects.not_observed(f"{tool_call.about} is refused, perhaps because it needs a language model")
            continue
        messages = [as_record(m) for m in messages_of(tool_call.call)]
        first = str(messages[0].get("content")) if messages else ""
        subjects.expect(
            bool(messages) and first.startswith(system["content"]) and messages[-1] == last,
            expected=f"{tool_call.about}: first the system message, last the latest message unchanged",
            observed=show(messages, 160) if messages else describe(tool_call.call),
            subject=tool_call,
        )


@check("LRO-EXTRACT-30")
def test_stored_messages_are_read_by_lines(compaction: Compaction, subjects: Subjects) -> None:
    """`read_file` returns the lines that are selected by offset and limit. The offset counts from 0."""
    tool_call = compaction.lines
    if tool_call is None:
        raise NotApplicable(
            "the server lists no read_file with offset and limit along with context_offload, or names no file"
        )
    if compaction.reload is None or LARGE_TEXT not in compaction.reload.call.text:
        raise NotObserved("read_file does not return what was stored")
    rows = LARGE_TEXT.split("\n")
    wanted = [row.strip() for row in rows[1:3]]
    more = [row.strip() for row in (rows[0], rows[3]) if row.strip() in tool_call.call.text]
    subjects.expect(
        tool_call.call.outcome == "inline" and all(row in tool_call.call.text for row in wanted) and not more,
        expected=f"{tool_call.about}: {show(wanted)}",
        observed=describe(tool_call.call),
        subject=tool_call,
    )
