"""The first records of a file, shortened, for a reader who has not opened it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, cast

from lro_spec.jsonl import lossless
from lro_spec.tokens import script_aware_estimate

_RECORDS, _LINES = 3, 10
"""Maximum number of records, and of lines of text, that are shown."""
_SHARE = 4
"""At most one in this many records is shown, but at least one: a preview is not a copy."""
_WIDTHS = ((100, 6), (60, 4), (30, 2), (15, 1))
"""The previews to try, from the widest to the narrowest: the characters that are shown of a text, and the members that
are shown of a list or an object within a record."""
_MOST_MEMBERS = 40
"""Maximum number of fields that are shown of a record."""
_LONGEST_LINE = 1 << 20
_LONG_UNBROKEN, _UNBROKEN = 200, 20
"""A text with more characters than the first number, and no blank among the first so many, such as base64, is shortened
to the second number of characters."""


def preview(lines: Iterable[bytes], count: int, tokens: int) -> list[Any]:
    """The first of *count* records, or of the texts of lines, in at most *tokens* tokens; none if not even one fits."""
    most = max(1, min(_LINES, count // _SHARE))
    first = list(islice(lines, most))
    if not first or any(len(line) > _LONGEST_LINE for line in first):
        return []
    records = [lossless.parse(line) for line in first]
    if all(list(record) == ["n", "text"] and isinstance(record["text"], str) for record in records):
        records = [record["text"] for record in records]
    else:
        del records[_RECORDS:]
    for text, members in _WIDTHS:
        shown = [_shortened(record, text, members, _MOST_MEMBERS) for record in records]
        while len(shown) > (1 if text < _WIDTHS[0][0] else 2) and _size(shown) > tokens:
            shown.pop()
        if _size(shown) <= tokens:
            return shown
    return []


def _size(shown: list[Any]) -> int:
    return script_aware_estimate(lossless.dump(shown).decode("utf-8", "replace"))


def _shortened(value: Any, text: int, members: int, outermost: int) -> Any:
    """The value with at most *text* characters of each text in it, and at most *members* items or members of each list
    and object in it. If the value itself is an object, it keeps at most *outermost* members instead."""
    if isinstance(value, str):
        if len(value) > _LONG_UNBROKEN and not any(map(str.isspace, value[:_LONG_UNBROKEN])):
            text = min(text, _UNBROKEN)
        return value if len(value) <= text else f"{value[:text]}… ({len(value)} characters)"
    if isinstance(value, list):
        items = cast("list[Any]", value)
        shown = [_shortened(item, text, members, members) for item in items[:members]]
        return shown if len(items) <= members else [*shown, f"… ({len(items)} items)"]
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        shown = {key: _shortened(fields[key], text, members, members) for key in islice(fields, outermost)}
        return shown if len(fields) <= outermost else {**shown, "…": f"{len(fields)} members"}
    return value
