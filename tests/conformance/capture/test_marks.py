"""Marks in evidence: the offending key with its value, underlined."""

from __future__ import annotations

import json
from types import SimpleNamespace as Made
from typing import Any

import pytest

from lro_conformance.capture.file import FileSeen
from lro_conformance.capture.marks import MARK, mark_in_file, underlined
from lro_conformance.judging.subjects import Mark

FILE = b"""{"type": "lro_header", "operation": "recall"}
{"id": "a", "title": "A \\" {", "provenance": {"confidence": 0.5, "source": "x"}}
{"id": "b", "content": "%s"}
""" % (b"long " * 100)


def marked(made: Mark | None) -> tuple[str, str]:
    """The start of the line, and what is underlined in it."""
    assert made is not None
    shown, mark = made.lines
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
    made = mark_in_file(call, {"id": "b", "content": "long " * 100}, "content")
    assert made is not None
    assert max(map(len, made.lines)) < 160
    assert marked(made)[1].startswith('"content": "long')


WRITTEN = '\\n\\u00e9\\ud83d\\ude00\\"' * 20


@pytest.mark.parametrize(
    ("end", "expected", "rest"),
    [
        ("abc", "abX", 'c"}'),
        ("abc", "abcd", '"}'),
        ("abc", "ab", 'c"}'),
        ("\\ud83d\\ude00", "\\ud83d\\ude01", '\\ud83d\\ude00"}'),
    ],
)
def test_texts_that_differ_beyond_the_part_shown_are_marked_where_they_differ(
    end: str, expected: str, rest: str
) -> None:
    text = f'{{"id": "a", "content": "{WRITTEN}{end}"}}'
    call: Any = Made(file=FileSeen("/out/x.jsonl", data=f'{{"type": "lro_header"}}\n{text}\n'.encode()))
    record = json.loads(text)
    made = mark_in_file(call, record, "content", expected=json.loads(f'"{WRITTEN}{expected}"'))
    assert made is not None
    shown, mark = made.lines
    assert max(map(len, made.lines)) < 160
    assert shown[mark.index("^") :] == rest
    assert mark.endswith("^ content differs from here on")
    assert (made.number, text[made.index :]) == (2, rest)


@pytest.mark.parametrize("expected", ["A", None, ["A"]])
def test_a_difference_that_is_shown_is_marked_with_its_key(expected: Any) -> None:
    file = FileSeen("/out/x.jsonl", data=FILE)
    call: Any = Made(file=file)
    record = file.record_lines[0].record
    assert record is not None
    assert marked(mark_in_file(call, record, "title", expected=expected)) == ("line 2", '"title": "A \\" {"')


def test_a_record_that_is_not_in_the_file_has_no_mark() -> None:
    call: Any = Made(file=FileSeen("/out/x.jsonl", data=FILE))
    assert mark_in_file(call, {"id": "z"}, "id") is None
    call = Made(file=None)
    assert mark_in_file(call, {"id": "z"}, "id") is None


def test_what_is_no_json_is_marked_at_its_place() -> None:
    assert underlined("line 1: ", "nonsense", 3, "x") == ("line 1: nonsense", "           ^ x")
