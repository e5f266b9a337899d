"""Comparison of the result that a proxy forwards with the server's original result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from lro_conformance.capture.call import Call
from lro_conformance.capture.file import FileSeen
from lro_conformance.capture.records import show
from lro_conformance.trials.extensions.payloads import Large, dumps, marks

_MAY_BE_ADDED = {"_meta", "resultType"}
"""Members of a result that a proxy may add, because MCP leaves them to the sender."""


def first_difference(original_json: str, call: Call) -> str | None:
    """The first difference between a forwarded result and the server's original result, which is given as JSON text.
    None if they are equal as JSON values, apart from members that a proxy may add: those of `_MAY_BE_ADDED`, and
    ``isError`` if it is false."""
    if call.outcome == "offloaded":
        return "a descriptor"
    result = call.result
    if result is None:
        return f"{call.outcome}: {show(call.reply.error or call.reply.failure, 120)}"
    original: dict[str, Any] = json.loads(original_json)
    for key, value in original.items():
        forwarded = result.get(key)
        if key == "_meta" and isinstance(forwarded, dict):
            forwarded = {k: v for k, v in cast("dict[str, Any]", forwarded).items() if k in value}
        if key == "isError" and value is False and forwarded is None:
            continue
        if key not in result or forwarded != value:
            return f"{key}: {show(forwarded, 120) if key in result else 'missing'}, not {show(value, 120)}"
    added = [
        k for k, v in result.items() if k not in original and k not in _MAY_BE_ADDED and (k, v) != ("isError", False)
    ]
    return f"with {added[0]} added: {show(result[added[0]], 120)}" if added else None


def first_missing_part(payload: Large, file: FileSeen) -> str | None:
    """A description of the first part of a *payload* that is missing from a file or altered there. None if the file has
    the whole payload."""
    values_by_id: dict[bytes, list[Any]] = {}
    for line in file.record_lines:
        for id in marks(line.raw):
            values_by_id.setdefault(id, []).append(line.value)
    for record in payload.records:
        values = values_by_id.get(record["id"].encode())
        if values is None:
            return f"no record {record['id']}"
        if not any(_holds(value, record) for value in values):
            return f"the record {record['id']} differs: {show(values[0], 160)}"
    texts = [text for value in (file.header, *(line.value for line in file.record_lines)) for text in _texts(value)]
    whole = "\n".join(texts)
    missing = next((line for line in payload.lines if line not in whole), None)
    return None if missing is None else f"no line has {show(missing, 120)}"


def _holds(value: Any, record: Any) -> bool:
    """True if the *value* of a line is the *record*, has the record as a member, or has a member with the record's JSON
    text."""
    members = list(cast("Mapping[str, Any]", value).values()) if isinstance(value, Mapping) else []
    text = dumps(record)
    return record in (value, *members) or any(isinstance(member, str) and text in member for member in members)


def proxy_text(text: str, payload: Large, original_json: str) -> str:
    """The proxy's own words in a text: its lines, or its strings if it is JSON, without those that are in the payload
    or in the server's original result."""
    try:
        parts = list(_texts(json.loads(text)))
    except ValueError:
        parts = text.split("\n")
    payload_text = "\n".join([*_texts(payload.records), *payload.lines, *_texts(json.loads(original_json))])
    return "\n".join(part for part in parts if part not in payload_text)


def _texts(value: Any) -> Iterator[str]:
    """All strings in a JSON value, in their order. The names of members are included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, member in cast("Mapping[str, Any]", value).items():
            yield key
            yield from _texts(member)
    elif isinstance(value, Sequence):
        for member in cast("Sequence[Any]", value):
            yield from _texts(member)
