"""Server-sent events as bytes. A parser of strings, such as httpx2's, takes five times the memory of a large event."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n?|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TooLargeError(ValueError):
    """An event above the size limit."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"an event of the server is larger than {max_bytes} bytes")


@dataclass(slots=True)
class Event:
    """An event. It is incomplete while `events` reads its lines; only complete events are yielded."""

    data: bytearray | None = None
    kind: str = "message"
    id: str = ""
    """The last id in the stream so far; it may come from an earlier event."""
    retry_s: float | None = None
    """The wait before a reconnection, if the event asks for one."""


def events(chunks: Iterable[bytes], max_bytes: int) -> Iterator[Event]:
    """The events of a stream, parsed as the HTML standard prescribes. An incomplete event at the end is dropped.

    Events without data are ignored by the standard, but yielded here, because they may have an id or a retry time.
    Raises `TooLargeError` if an event is larger than *max_bytes*.
    """
    event = Event()
    for line in _lines(chunks, max_bytes):
        if not line:
            yield event
            event = Event(id=event.id)
            continue
        _add_field(event, line)
        if event.data is not None and len(event.data) > max_bytes:
            raise TooLargeError(max_bytes)
        del line  # frees its memory, unless it is the event's data, before the next line is complete; see `_lines`


def _lines(chunks: Iterable[bytes], max_bytes: int) -> Iterator[bytearray]:
    pending = bytearray()
    searched, mark_removed, after_return = 0, False, False
    for chunk in chunks:
        pending += chunk[1:] if after_return and chunk[:1] == b"\n" else chunk  # the LF of a split CR LF is skipped
        after_return = chunk[-1:] == b"\r"
        if not mark_removed and len(pending) >= len(_BYTE_ORDER_MARK):
            pending, mark_removed = pending.removeprefix(_BYTE_ORDER_MARK), True
        while end := _LINE_END.search(pending, searched):
            rest = pending[end.end() :]
            del pending[end.start() :]
            line, pending, searched = pending, rest, 0
            yield line
            del line  # `events` deletes it, too, so that its memory is free before the next one is complete
        searched = len(pending)
        if searched > max_bytes:
            raise TooLargeError(max_bytes)


def _add_field(event: Event, line: bytearray) -> None:
    name, _, _ = line[:64].partition(b":")
    del line[: len(name) + 1]
    if line.startswith(b" "):
        del line[:1]
    match bytes(name):
        case b"data":
            if event.data is None:
                event.data = line
            else:
                event.data += b"\n"
                event.data += line
        case b"event":
            event.kind = line.decode(errors="replace") or "message"
        case b"id" if b"\0" not in line:
            event.id = line.decode(errors="replace")
        case b"retry" if line.isdigit():
            event.retry_s = int(line[:9]) / 1000
        case _:
            pass
