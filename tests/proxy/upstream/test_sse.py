"""Server-sent events as bytes: by the HTML standard, wherever the chunks are cut, and never more than their bound."""

from __future__ import annotations

import pytest

from lro_proxy.upstream.sse import TooLargeError, events

STREAM = (
    "\ufeff: a comment\r\nretry: 1500\rid: 1\ndata: {\"a\":\r\ndata: \"é\"}\n\n"
    "event: other\rdata:x\r\rdata\nid: 2\n\nunknown: 5\nid: a\0b\n\ndata:  two\r\n\r\ndata: lost"
).encode()  # fmt: skip
MEANT = [
    (b'{"a":\n"\xc3\xa9"}', "message", "1", 1.5),
    (b"x", "other", "1", None),
    (b"", "message", "2", None),
    (None, "message", "2", None),
    (b" two", "message", "2", None),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_read_wherever_the_chunks_are_cut(size: int) -> None:
    chunks = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    assert [(e.data, e.kind, e.id, e.retry_s) for e in events(chunks, 100)] == MEANT


@pytest.mark.parametrize("lines", [["data: " + "x" * 300], ["data: " + "x" * 60] * 3])
def test_no_more_than_the_bound_is_kept(lines: list[str]) -> None:
    with pytest.raises(TooLargeError):
        list(events([line.encode() + b"\n" for line in lines], 100))
    with pytest.raises(TooLargeError):
        list(events([b"data: ", *[b"x" * 30] * 5], 100))
