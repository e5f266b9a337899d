"""The common record line, judged without a schema validator.

A hundred times faster than the general way, and deliberately one-sided: a record that passes here satisfies
``line.schema.json``; one that does not is left for the validator to judge. A test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

_TEXTS = ("memory_type", "content", "created", "modified", "namespace", "title", "status")


def plainly_sound(record: Mapping[str, Any], part: str) -> bool:
    """Whether a record surely satisfies a part (any, light, medium, full) of the line schema's ``$defs``."""
    id = record.get("id")
    if type(id) is not str or not id:
        return False
    get = record.get
    for name in _TEXTS:
        value = get(name)
        if value is not None and type(value) is not str:
            return False
    if (part == "light" and get("content")) or (part == "full" and "content" not in record):
        return False
    return _tags_sound(get("tags")) and _provenance_sound(get("provenance"))


def _tags_sound(tags: object) -> bool:
    if tags is None:
        return True
    return type(tags) is list and all(type(tag) is str for tag in cast("list[Any]", tags))


def _provenance_sound(provenance: object) -> bool:
    if provenance is None:
        return True
    if type(provenance) is not dict:
        return False
    confidence = cast("dict[str, Any]", provenance).get("confidence")
    return confidence is None or type(confidence) in (float, int)
