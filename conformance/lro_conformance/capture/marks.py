"""Marking the offending key and value of a record in evidence, underlined as compilers do.

A mark is two lines: ``line 3: {"id": "m1", "content": "text"}``, and below it ``^~~~`` under the key with its value,
followed by a name for it. Every rendering of a report finds marks with `MARK`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from lro_conformance.judging.subjects import Mark
from lro_spec.display import pointer
from lro_spec.findings import excerpt
from lro_spec.jsonl.strict import nearest_position, position

if TYPE_CHECKING:
    from lro_conformance.capture.call import Call
    from lro_conformance.capture.records import Record

MARK = re.compile(r"(?P<margin> *)(?P<underline>\^~*)(?: (?P<name>.*))?")
"""A line that underlines a part of the line above it."""

_CHARACTER = re.compile(r"(?i:\\u(?:d[89ab]..\\ud[c-f]..|....))|\\.|.")
"""A character of a JSON string: a pair of escapes may be one."""

_KEY = re.compile(r'"(?:[^"\\]|\\.)*"\s*:\s*$')
_DECODER = json.JSONDecoder()


def underlined(label: str, text: str, at: int, name: str = "") -> tuple[str, str]:
    """*text* after a label, and below it a mark of the value at index *at* with its key."""
    key = _KEY.search(text, 0, min(at, len(text)))
    start = at if key is None else key.start()
    try:
        end = _DECODER.raw_decode(text, at)[1]
    except ValueError:  # no JSON, or cut off
        end = len(text) if key is not None else at + 1
    mark = "^" + "~" * (max(end, start + 1) - start - 1)
    return f"{label}{text}", f"{' ' * (len(label) + start)}{mark} {name}".rstrip()


def mark_in_file(call: Call, record: Record, *path: str, expected: object = None) -> Mark | None:
    """The line of a call's file that holds *record*, with a mark of the value at *path*.

    If there is no such value, the mark is that of the innermost value that should contain it; if that is the record
    itself, that of the record's id.

    If both that value and the *expected* one are texts, and the part of the line that is shown ends before they differ,
    the mark is where they differ. None if the file does not hold the record.
    """
    lines = call.file.record_lines if call.file is not None else []
    line = next((each for each in lines if each.record is record or each.record == record), None)
    if line is None:
        return None
    text = line.raw.decode("utf-8", "replace").rstrip()
    at = nearest_position(text, pointer([*path])) or position(text, "/id") or 0
    part, label, name = excerpt(text, at), f"line {line.number}: ", "/".join(path)
    apart = _difference(text, at, expected)
    if apart is None or apart < at - part.mark + len(part.text):
        return Mark(underlined(label, part.text, part.mark, name), line.number, at)
    part = excerpt(text, apart)
    mark = f"{' ' * (len(label) + part.mark)}^ {name} differs from here on"
    return Mark((f"{label}{part.text}", mark), line.number, apart)


def _difference(text: str, at: int, expected: object) -> int | None:
    """The index in a JSON *text* where the string that begins at *at* differs from the *expected* one; None if either
    is not a string."""
    if not isinstance(expected, str) or not text.startswith('"', at):
        return None
    value, index = _DECODER.raw_decode(text, at)[0], at + 1
    for one, other in zip(value, expected, strict=False):
        character = _CHARACTER.match(text, index)
        if one != other or character is None:
            break
        index = character.end()
    return index
