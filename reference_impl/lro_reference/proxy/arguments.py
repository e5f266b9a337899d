"""The arguments of a call to one of the proxy's own tools, as its line has them."""

from __future__ import annotations

import json
from typing import Any, cast

import orjson

from lro_reference.proxy.messages import exactly

_MOST_DIGITS = 4300
"""Python refuses integers of more."""


def arguments(line: bytes) -> Any:
    """What a call's line says under ``arguments``; nothing is an empty object.

    Objects in a list, which are the messages of a conversation, keep every digit (`exact.parse`); other numbers are
    for the tools to reckon with, and plain.
    """
    found = exactly(line)["params"].get("arguments")
    return {} if found is None else _plain(found)


def _plain(value: Any) -> Any:
    if isinstance(value, orjson.Fragment):
        text = orjson.dumps(value)
        return json.loads(text) if len(text) < _MOST_DIGITS else float(text)
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [item if isinstance(item, dict) else _plain(item) for item in cast("list[Any]", value)]
    return value
