"""Marks in evidence: the offending key with its value, underlined."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any

import pytest

from lro_conformance.capture.file import FileSeen
from lro_conformance.capture.marks import MARK, mark_in_file, underlined

FILE = b"""{"type": "lro_header", "operation": "recall"}
{"id": "a", "title": "A \\" {", "provenance": {"confidence": 0.5, "source": "x"}}
{"id": "b", "content": "%s"}
""" % (b"long " * 100)


def marked(lines: tuple[str, ...]) -> tuple[str, str]:
    """The start of the line, and what is underlined in it."""
    shown, mark = lines
    found = MARK.fullmatch(mark)
    assert found is not None
    return shown[: shown.index(":")], shown[found.start("underline") : found.end("underline")]


@pytest.mark.parametrize(
    ("number", "path", "text"),
    [
        (0, ("title",), '"title": "A \\" {"'),
        (0, ("provenance", "confidence"), '"confidence": 0.5'),
        (0, ("provenance", "none"), '"provenance": {"confidence": 0.5, "source": "x"}'),
        (0, ("none",), '"id": "a"'),
        (0, (), '"id": "a"'),
    ],
)
def test_a_key_is_marked_with_its_value(number: int, path: tuple[str, ...], text: str) -> None:
    file = FileSeen("/out/x.jsonl", data=FILE)
    call: Any = Made(file=file)
    record = file.record_lines[number].record
    assert record is not None
    assert marked(mark_in_file(call, record, *path)) == (f"line {number + 2}", text)


def test_a_long_line_is_cut_around_the_mark() -> None:
    file = FileSeen("/out/x.jsonl", data=FILE)
    call: Any = Made(file=file)
    lines = mark_in_file(call, {"id": "b", "content": "long " * 100}, "content")
    assert max(map(len, lines)) < 160
    assert marked(lines)[1].startswith('"content": "long')


def test_a_record_that_is_not_in_the_file_has_no_mark() -> None:
    call: Any = Made(file=FileSeen("/out/x.jsonl", data=FILE))
    assert mark_in_file(call, {"id": "z"}, "id") == ()
    call = Made(file=None)
    assert mark_in_file(call, {"id": "z"}, "id") == ()


def test_what_is_no_json_is_marked_at_its_place() -> None:
    assert underlined("line 1: ", "nonsense", 3, "x") == ("line 1: nonsense", "           ^ x")
