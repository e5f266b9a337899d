"""What is looked at before it is read costs no more than its size."""

from __future__ import annotations

import io
import time
from types import SimpleNamespace
from typing import Any

from lro_spec.streams import Peekable


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
