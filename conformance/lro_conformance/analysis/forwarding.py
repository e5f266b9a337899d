"""Comparison of a forwarded result with the server's own: differences, and missing parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from lro_conformance.capture.call import Call
from lro_conformance.capture.file import FileSeen
from lro_conformance.capture.records import show
from lro_conformance.trials.extensions.payloads import Large, dumps, marks

_ADDED = {"_meta", "resultType"}
"""Members of a result that a proxy may add, because MCP leaves them to the sender."""


def changed(given: str, call: Call) -> str | None:
    """First difference between a forwarded result and the server's own, *given* as JSON text. None if they are equal as
    JSON values, apart from members that a proxy may add (`_ADDED`, and ``isError`` if it is false)."""
    if call.outcome == "offloaded":
        return "a descriptor"
    result = call.result
    if result is None:
        return f"{call.outcome}: {show(call.reply.error or call.reply.failure, 120)}"
    wanted: dict[str, Any] = json.loads(given)
    for key, value in wanted.items():
        there = result.get(key)
        if key == "_meta" and isinstance(there, dict):
            there = {k: v for k, v in cast("dict[str, Any]", there).items() if k in value}
        if key == "isError" and value is False and there is None:
            continue
        if key not in result or there != value:
            return f"{key}: {show(there, 120) if key in result else 'missing'}, not {show(value, 120)}"
    added = [k for k, v in result.items() if k not in wanted and k not in _ADDED and (k, v) != ("isError", False)]
    return f"with {added[0]} added: {show(result[added[0]], 120)}" if added else None


def lost(known: Large, file: FileSeen) -> str | None:
    """First part of a payload that is missing from a file or altered there; None if the file has all of the payload."""
    lines: dict[bytes, list[Any]] = {}
    for line in file.record_lines:
        for id in marks(line.raw):
            lines.setdefault(id, []).append(line.value)
    for record in known.records:
        found = lines.get(record["id"].encode())
        if found is None:
            return f"no record {record['id']}"
        if not any(_holds(value, record) for value in found):
            return f"the record {record['id']} differs: {show(found[0], 160)}"
    texts = [text for value in (file.header, *(line.value for line in file.record_lines)) for text in _texts(value)]
    whole = "\n".join(texts)
    missing = next((line for line in known.lines if line not in whole), None)
    return None if missing is None else f"no line has {show(missing, 120)}"


def _holds(found: Any, record: Any) -> bool:
    """True if a line is a record, has the record as a member, or has a member that contains the record's JSON text."""
    members = list(cast("Mapping[str, Any]", found).values()) if isinstance(found, Mapping) else []
    text = dumps(record)
    return record in (found, *members) or any(isinstance(member, str) and text in member for member in members)


def proxy_text(text: str, known: Large, given: str) -> str:
    """Lines or strings of a text that are not in the payload: the proxy's own words."""
    try:
        parts = list(_texts(json.loads(text)))
    except ValueError:
        parts = text.split("\n")
    payload = "\n".join([*_texts(known.records), *known.lines, *_texts(json.loads(given))])
    return "\n".join(part for part in parts if part not in payload)


def _texts(value: Any) -> Iterator[str]:
    """All strings in a JSON value, including keys, in their order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, member in cast("Mapping[str, Any]", value).items():
            yield key
            yield from _texts(member)
    elif isinstance(value, Sequence):
        for member in cast("Sequence[Any]", value):
            yield from _texts(member)
