"""Results of tool calls: the two places for a descriptor, and the schema that a tool declares for structured content.

Pure functions, which judge live servers and the vectors of kind `result`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from lro_conformance.capture.records import as_record, broken_descriptor, show
from lro_spec.discovery import FoundDescriptor
from lro_spec.schema.line_schema import lines_violating

EXTRACT = "lro_extract"
"""Name of the native extraction tool."""


def is_failure(result: Mapping[str, Any]) -> bool:
    """Return whether a result says that the operation failed."""
    return result.get("isError") is True


def differing_descriptors(result: Mapping[str, Any], found: FoundDescriptor) -> str | None:
    """Difference between the descriptors in text and structuredContent; None if they agree, or if there is only one.

    Beside one in structuredContent, a descriptor in the text that is not valid JSON is a difference, too.
    """
    if found.where == "both":
        return None if found.text_value == found.structured_value else "two that differ"
    if found.where == "text":
        return None
    content: object = result.get("content")
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    texts = (as_record(b).get("text") for b in blocks)
    broken = next((p for t in texts if isinstance(t, str) and (p := broken_descriptor(t)) is not None), None)
    return None if broken is None else f"complete in structuredContent, invalid JSON in the text: {broken}"


def against_output_schema(result: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """Violation of a tool's outputSchema by the structuredContent of its result, "none" if that is missing; None if it
    is valid."""
    structured = result.get("structuredContent")
    if structured is None:
        return "none"
    wrong = lines_violating(dict(schema), [structured], limit=1)
    return wrong[0][1] if wrong else None


def names_extraction(descriptor: Mapping[str, Any]) -> bool:
    """Return whether the guidance of a descriptor names the native extraction tool."""
    return EXTRACT in str(descriptor.get("guidance", ""))


def cursor_beside(result: Mapping[str, Any] | None, found: FoundDescriptor | None) -> str | None:
    """The cursor to a next page in a result or in its descriptor, in words; None if there is none."""
    places = (result, None if found is None else found.value)
    return next((cursor for place in places for cursor in _cursors(place)), None)


_CURSOR = re.compile(r"(next_?)?(page_?)?(cursor|token)", re.IGNORECASE)


def _cursors(value: object) -> Iterator[str]:
    """The members of a value that lead to a next page, in words."""
    if isinstance(value, list):
        for entry in cast("list[object]", value):
            yield from _cursors(entry)
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            if key in ("line_schema", "jq_recipes"):
                continue
            if inner not in (None, False, "", 0) and _CURSOR.fullmatch(key) and key.lower() != "token":
                yield f"{key} is {show(inner, 80)}"
            yield from _cursors(inner)
