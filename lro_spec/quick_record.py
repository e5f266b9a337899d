"""The common record line, judged without a schema validator.

A hundred times faster than the general way, and deliberately one-sided: a record that passes here satisfies
``line.schema.json``; one that does not is left for the validator to judge. A test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

READABLE, TYPED, WITHOUT_CONTENT = "LRO-FILE-01", "LRO-FILE-11", "LRO-DET-01"
"""What a record can break: it is an object, its fields have their types, at light detail it has no content."""

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


def rules_broken(value: object, part: str) -> Iterator[str]:
    """The rule of each finding that `lro_spec.record_rules.validate_line` would make of a record, without making it."""
    if not isinstance(value, dict):
        yield READABLE
        return
    get = cast("dict[str, Any]", value).get
    id, tags, provenance = get("id"), get("tags"), get("provenance")
    if not isinstance(id, str) or not id:
        yield TYPED
    for name in _TEXTS:
        if not isinstance(get(name), str | None):
            yield TYPED
        elif part == "light" and name == "content" and get(name):
            yield WITHOUT_CONTENT
    if isinstance(tags, list):
        yield from (TYPED for tag in cast("list[object]", tags) if not isinstance(tag, str))
    elif tags is not None:
        yield TYPED
    if isinstance(provenance, dict):
        if type(cast("dict[str, Any]", provenance).get("confidence")) not in _NUMBER_OR_NULL:
            yield TYPED
    elif provenance is not None:
        yield TYPED
