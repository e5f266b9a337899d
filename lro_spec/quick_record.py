"""The common record line, judged without a schema validator.

A hundred times faster than the general way, and deliberately one-sided: a record that passes here satisfies
``line.schema.json``; one that does not is left for the validator to judge. A test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

_TEXTS = ("memory_type", "content", "created", "modified", "namespace", "title", "status")
_TEXT = frozenset({str})
_TEXT_OR_NULL = frozenset({str, type(None)})
_NUMBER_OR_NULL = (float, int, type(None))


def plainly_sound(record: Mapping[str, Any], part: str) -> bool:
    """Whether a record surely satisfies a part (any, light, medium, full) of the line schema's ``$defs``."""
    get = record.get
    id = get("id")
    if type(id) is not str or not id:
        return False
    # Sets of types, built in C: a loop here would be the slowest step of all.
    if not _TEXT_OR_NULL.issuperset(map(type, map(get, _TEXTS))):
        return False
    if part == "light" and get("content"):
        return False
    tags = get("tags")
    if tags is not None and (type(tags) is not list or not _TEXT.issuperset(map(type, cast("list[object]", tags)))):
        return False
    provenance = get("provenance")
    if provenance is None:
        return True
    if type(provenance) is not dict:
        return False
    return type(cast("dict[str, Any]", provenance).get("confidence")) in _NUMBER_OR_NULL
