"""The first records of a file, shortened, for a reader who has not opened it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, cast

from lro_spec.jsonl import lossless
from lro_spec.tokens import script_aware_estimate

_MAX_RECORDS, _MAX_LINES = 3, 10
"""Maximum number of records that are shown, and maximum number of lines of text."""
_RECORDS_PER_SHOWN = 4
"""At most one in this many records is shown, because a preview is not a copy. At least one record is always shown."""
_LIMITS = ((100, 6), (60, 4), (30, 2), (15, 1))
"""The limits to try, from the widest to the narrowest. The first number of each pair is how many characters of a text
are shown, and the second is how many members of a list or an object within a record are shown."""
_MAX_FIELDS = 40
"""Maximum number of fields that are shown of a record."""
_MAX_LINE_BYTES = 1 << 20
_MIN_UNBROKEN_LENGTH, _MAX_SHOWN_OF_UNBROKEN = 200, 20
"""A long text without a blank, such as base64, is shortened to the second number of characters. A text is treated like
this if it is longer than the first number, and has no blank among its first so many characters."""


def preview(lines: Iterable[bytes], count: int, tokens: int) -> list[Any]:
    """The first of *count* records, shortened so that together they have at most *tokens* tokens.

    Lines of text are shown as their texts only. Empty if not even one record fits.
    """
    max_count = max(1, min(_MAX_LINES, count // _RECORDS_PER_SHOWN))
    first_lines = list(islice(lines, max_count))
    if not first_lines or any(len(line) > _MAX_LINE_BYTES for line in first_lines):
        return []
    records = [lossless.parse(line) for line in first_lines]
    if all(list(record) == ["n", "text"] and isinstance(record["text"], str) for record in records):
        records = [record["text"] for record in records]
    else:
        del records[_MAX_RECORDS:]
    for max_characters, max_members in _LIMITS:
        shortened = [_shortened(record, max_characters, max_members, _MAX_FIELDS) for record in records]
        while len(shortened) > (1 if max_characters < _LIMITS[0][0] else 2) and _size(shortened) > tokens:
            shortened.pop()
        if _size(shortened) <= tokens:
            return shortened
    return []


def _size(records: list[Any]) -> int:
    return script_aware_estimate(lossless.dump(records).decode("utf-8", "replace"))


def _shortened(value: Any, max_characters: int, max_members: int, max_outer_members: int) -> Any:
    """The value with at most *max_characters* characters of each text in it.

    Each list and object in it keeps at most *max_members* items or members. If the value itself is an object, it keeps
    at most *max_outer_members* members instead.
    """
    if isinstance(value, str):
        if len(value) > _MIN_UNBROKEN_LENGTH and not any(map(str.isspace, value[:_MIN_UNBROKEN_LENGTH])):
            max_characters = min(max_characters, _MAX_SHOWN_OF_UNBROKEN)
        return value if len(value) <= max_characters else f"{value[:max_characters]}… ({len(value)} characters)"
    if isinstance(value, list):
        items = cast("list[Any]", value)
        shortened = [_shortened(item, max_characters, max_members, max_members) for item in items[:max_members]]
        return shortened if len(items) <= max_members else [*shortened, f"… ({len(items)} items)"]
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        shortened = {
            key: _shortened(fields[key], max_characters, max_members, max_members)
            for key in islice(fields, max_outer_members)
        }
        return shortened if len(fields) <= max_outer_members else {**shortened, "…": f"{len(fields)} members"}
    return value
