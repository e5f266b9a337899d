"""Results of tool calls: the two places for a descriptor, and the schema that a tool declares for structured content.

These are pure functions. They judge the results of live servers, and the test vectors of kind `result`.
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


def differing_descriptors(result: Mapping[str, Any], descriptor: FoundDescriptor) -> str | None:
    """The difference between the descriptor in the text and the one in structuredContent. None if they agree, or if
    only one of the two places has a descriptor.

    If structuredContent has a descriptor, a descriptor in the text that is not valid JSON is a difference, too.
    """
    if descriptor.where == "both":
        return None if descriptor.text_value == descriptor.structured_value else "two that differ"
    if descriptor.where == "text":
        return None
    content: object = result.get("content")
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    texts = (as_record(b).get("text") for b in blocks)
    broken = next((p for t in texts if isinstance(t, str) and (p := broken_descriptor(t)) is not None), None)
    return None if broken is None else f"complete in structuredContent, invalid JSON in the text: {broken}"


def against_output_schema(result: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """The violation of a tool's outputSchema by the structuredContent of its result. None if structuredContent is
    valid; "none" if it is missing."""
    structured = result.get("structuredContent")
    if structured is None:
        return "none"
    wrong = lines_violating(dict(schema), [structured], limit=1)
    return wrong[0][1] if wrong else None


def names_extraction(descriptor: Mapping[str, Any]) -> bool:
    """Return whether the guidance of a descriptor names the native extraction tool."""
    return EXTRACT in str(descriptor.get("guidance", ""))


def cursor_beside(result: Mapping[str, Any] | None, descriptor: FoundDescriptor | None) -> str | None:
    """A description of the cursor to a next page in a result or in its descriptor; None if there is no such cursor."""
    places = (result, None if descriptor is None else descriptor.value)
    return next((cursor for place in places for cursor in _cursors(place)), None)


_CURSOR = re.compile(r"(next_?)?(page_?)?(cursor|token)", re.IGNORECASE)


def _cursors(value: object) -> Iterator[str]:
    """Descriptions of the members of a value that lead to a next page."""
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
