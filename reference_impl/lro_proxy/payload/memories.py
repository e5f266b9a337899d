"""Recognises memories, the records of a memory server, in the result of a tool that knows nothing of offloading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lro_proxy.payload.fields import fields
from lro_reference.memory import model
from lro_reference.results import Records
from lro_spec.editions import DETAILS

_REQUIRED_TEXTS = ("id", "title", "namespace")
_OPERATIONS = ("inject", "search", "recall")


def are_memories(records: Records) -> bool:
    """True if there are records, and each looks like a memory: its id, its title and its namespace are texts."""
    return len(records) > 0 and all(
        all(isinstance(record.get(name), str) for name in _REQUIRED_TEXTS) for record in records
    )


def operation(tool: str) -> str:
    """The operation that is contained in the name of a tool that returns memories; recall if there is none."""
    return next((name for name in _OPERATIONS if name in tool.lower()), "recall")


def detail(arguments: Mapping[str, Any], records: Records) -> str:
    """The detail level that the arguments request. If they do not, the level that the records seem to have.

    The level is light if no record has content. Otherwise, it is full if a record has a field that medium records lack,
    and medium if all fields are those of medium records.
    """
    requested = arguments.get("detail")
    if requested in DETAILS:
        return requested
    if not any(record.get("content") for record in records):
        return "light"
    medium_fields = set(model.fields("medium"))
    return "full" if any(set(record) - medium_fields for record in records) else "medium"


def line_schema(records: Records) -> dict[str, Any]:
    """The schema of the fields that the records have."""
    return fields(records).schema()
