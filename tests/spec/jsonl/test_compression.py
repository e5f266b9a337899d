"""What is looked at before it is read costs no more than its size."""

from __future__ import annotations

import io
import time
from types import SimpleNamespace
from typing import Any

import pytest

from lro_spec.jsonl.compression import DamagedError, Peekable
from lro_spec.validation.file import validate_file
from tests.support.streams import Steps


def test_small_parts_are_not_copied_with_each_other() -> None:
    data = bytes(range(256)) * 2**13
    source = io.BytesIO(data)

    def read(size: int) -> bytes:
        return source.read(min(size, 64))

    small: Any = SimpleNamespace(read=read)
    stream = Peekable(small)
    began = time.process_time()
    assert stream.peek(len(data)) == data
    assert b"".join(iter(lambda: stream.read(1024), b"")) == data
    assert time.process_time() - began < 1  # it takes 0.02 s; many where each part costs a copy of all before it


def test_nothing_yet_is_no_end() -> None:
    parts: list[bytes | None] = [b'{"type": "lro_header"', None, b"}"]

    def read(_: int) -> bytes | None:
        return parts.pop(0)

    waiting: Any = SimpleNamespace(read=read)
    with pytest.raises(BlockingIOError, match="unavailable"):
        list(validate_file(waiting))


def test_texts_are_no_bytes() -> None:
    text: Any = io.StringIO("{}")
    with pytest.raises(TypeError, match="open the file with 'rb'"):
        list(validate_file(text))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_named(encoding: str) -> None:
    data = ("\ufeff" if encoding == "utf-16-be" else "").encode(encoding) + '{"a": 1}'.encode(encoding)
    first = next(iter(validate_file(io.BytesIO(data))))
    assert (first.message, first.line, first.column) == ("the file is UTF-16", 1, 1)


def test_a_byte_order_mark_within_a_file_is_named() -> None:
    data = b'{"type": "lro_header"}\n\xef\xbb\xbf{}\n'
    found = [f.message for f in validate_file(io.BytesIO(data)) if f.line == 2]
    assert found == ["the line is not JSON: a byte order mark"]


@pytest.mark.parametrize("damaged", [False, True])
@pytest.mark.parametrize("step", [1, 2, 3, 9])
def test_what_was_looked_at_is_still_there_to_be_read(step: int, damaged: bool) -> None:
    stream, left = Peekable(Steps(b"abcdef", step, damaged=damaged)), b"abcdef"
    for look, size in ((2, 1), (3, 2), (0, 1), (9, 1), (4, 9)):
        assert stream.peek(look) == left[:look]
        assert stream.read(size) == left[:size]
        left = left[size:]
    for ask in (stream.peek, stream.read):
        if damaged:  # what came before the damage has been read
            with pytest.raises(DamagedError, match="cut off"):
                ask(1)
        else:
            assert ask(1) == b""


def test_all_that_was_looked_at_is_read_at_once() -> None:
    stream = Peekable(io.BytesIO(b"abcdef"))
    assert (stream.peek(2), stream.read(), stream.readable()) == (b"ab", b"abcdef", True)
