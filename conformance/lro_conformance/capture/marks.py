"""Marks in evidence: the wrong key and value of a record are underlined, as in the messages of compilers.

A mark has two lines. The first one is a line of a file, such as ``line 3: {"id": "m1", "content": "text"}``. The second
one has ``^~~~`` under the key and its value, followed by a name for them. All formats of reports find marks by `MARK`.
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
"""A character of a JSON string. A pair of ``\\uXXXX`` escapes may stand for a single character."""

_KEY = re.compile(r'"(?:[^"\\]|\\.)*"\s*:\s*$')
_DECODER = json.JSONDecoder()


def underlined(label: str, text: str, index: int, name: str = "") -> tuple[str, str]:
    """Two lines: the *text* after a *label*, and below it the mark that underlines the value at *index* with its key,
    followed by the *name*."""
    key = _KEY.search(text, 0, min(index, len(text)))
    start = index if key is None else key.start()
    try:
        end = _DECODER.raw_decode(text, index)[1]
    except ValueError:  # The value is not JSON, or is cut off.
        end = len(text) if key is not None else index + 1
    mark = "^" + "~" * (max(end, start + 1) - start - 1)
    return f"{label}{text}", f"{' ' * (len(label) + start)}{mark} {name}".rstrip()


def mark_in_file(call: Call, record: Record, *path: str, expected: object = None) -> Mark | None:
    """The line of a call's file that holds *record*, with a mark of the value at *path*. None if the file does not hold
    the record.

    If there is no value at *path*, the innermost object or list that should contain it is marked. If that is the record
    itself, the record's id is marked.

    Only a part of a long line is shown. If the value and the *expected* value are both texts, and that part would end
    before they differ, then the mark is at the first character that differs.
    """
    lines = call.file.record_lines if call.file is not None else []
    line = next((each for each in lines if each.record is record or each.record == record), None)
    if line is None:
        return None
    text = line.raw.decode("utf-8", "replace").rstrip()
    index = nearest_position(text, pointer([*path])) or position(text, "/id") or 0
    part, label, name = excerpt(text, index), f"line {line.number}: ", "/".join(path)
    difference = _difference(text, index, expected)
    if difference is None or difference < index - part.mark + len(part.text):
        return Mark(underlined(label, part.text, part.mark, name), line.number, index)
    part = excerpt(text, difference)
    mark = f"{' ' * (len(label) + part.mark)}^ {name} differs from here on"
    return Mark((f"{label}{part.text}", mark), line.number, difference)


def _difference(text: str, start: int, expected: object) -> int | None:
    """The index in a JSON *text* at which the string that begins at *start* differs from the *expected* string. None if
    there is no string at *start*, or if *expected* is not a string."""
    if not isinstance(expected, str) or not text.startswith('"', start):
        return None
    value, index = _DECODER.raw_decode(text, start)[0], start + 1
    for one, other in zip(value, expected, strict=False):
        character = _CHARACTER.match(text, index)
        if one != other or character is None:
            break
        index = character.end()
    return index
