"""Memories in the result of a tool that knows nothing of offloading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lro_proxy.payload.fields import fields
from lro_reference.memory import model
from lro_reference.results import Records
from lro_spec.editions import DETAILS

_MARKS = ("id", "title", "namespace")
_OPERATIONS = ("inject", "search", "recall")


def are_memories(records: Records) -> bool:
    """True if all records look like memories: with an id, a title and a namespace, all texts."""
    return len(records) > 0 and all(all(isinstance(record.get(m), str) for m in _MARKS) for record in records)


def operation(tool: str) -> str:
    """The operation of a tool that returns memories, by its name; recall if the name does not say."""
    return next((name for name in _OPERATIONS if name in tool.lower()), "recall")


def detail(arguments: Mapping[str, Any], records: Records) -> str:
    """The requested detail level; otherwise light if no record has content, full if a record has a field
    that medium records do not have, and medium if none has."""
    requested = arguments.get("detail")
    if requested in DETAILS:
        return requested
    if not any(record.get("content") for record in records):
        return "light"
    known = set(model.fields("medium"))
    return "full" if any(set(record) - known for record in records) else "medium"


def line_schema(records: Records) -> dict[str, Any]:
    """The schema of the fields that the records have."""
    return fields(records).schema()
