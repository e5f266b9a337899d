"""What the proxy changes in what a server says of itself: output schemas that a descriptor satisfies, a capability."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import orjson

DESCRIPTOR: Mapping[str, Any] = {
    "type": "object",
    "description": "Stands instead of a large result: offloaded true, with the file that holds it; or false, with its "
    "beginning, where the file could not be written.",
    "required": ["offloaded"],
    "properties": {
        "offloaded": {"type": "boolean"},
        "summary": {"type": "object"},
        "file_path": {"type": "string"},
        "line_schema": {"type": "object"},
        "jq_recipes": {"type": "array", "items": {"type": "object"}},
        "guidance": {"type": "string"},
        "results": {"type": "array"},
        "count": {"type": "integer"},
        "total": {"type": "integer"},
        "warning": {"type": "string"},
    },
    "anyOf": [{"required": ["file_path", "summary", "guidance"]}, {"required": ["results", "warning"]}],
}
_A_REFERENCE = re.compile(rb"\$(?:dynamicR|r)ef")
_WORDS = frozenset(("const", "enum", "default", "examples"))
"""Keywords whose values are data: a ``$ref`` in there refers to nothing."""


_NAMED = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
"""Keywords whose values are schemas by name: a property may be called ``default``."""


def widened(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An output schema that accepts what it accepted, and a descriptor. Its local references still lead home."""
    inner = dict(schema)
    outer: dict[str, Any] = {"type": "object"}
    for key in ("$schema", "$id"):
        if key in inner:
            outer[key] = inner.pop(key)
    inner = _moved(inner, "#/anyOf/0")
    return {**outer, "anyOf": [inner, dict(DESCRIPTOR)]}


def _moved(node: Any, to: str) -> Any:
    if isinstance(node, list):
        return [_moved(item, to) for item in cast("list[Any]", node)]
    if isinstance(node, orjson.Fragment) and _A_REFERENCE.search(orjson.dumps(node)):
        raise ValueError("a reference lies too deep")
    if not isinstance(node, dict):
        return node
    members = cast("dict[str, Any]", node)
    if "$id" in members:  # a document of its own: its references lead nowhere else
        return members
    made: dict[str, Any] = {}
    for key, value in members.items():
        if key in ("$ref", "$dynamicRef") and isinstance(value, str) and (value == "#" or value.startswith("#/")):
            made[key] = to + value[1:]
        elif key in _NAMED and isinstance(value, dict):
            made[key] = {name: _moved(inner, to) for name, inner in cast("dict[str, Any]", value).items()}
        else:
            made[key] = value if key in _WORDS else _moved(value, to)
    return made


def widen_tools(result: dict[str, Any]) -> bool:
    """Widens the output schemas in the result of `tools/list`; whether there were any."""
    listed = result.get("tools")
    changed = False
    for tool in cast("list[Any]", listed) if isinstance(listed, list) else []:
        if isinstance(tool, dict) and isinstance(cast("dict[str, Any]", tool).get("outputSchema"), dict):
            try:
                tool["outputSchema"] = widened(cast("Mapping[str, Any]", tool["outputSchema"]))
            except (ValueError, RecursionError):  # nested too deeply: of this one nothing more is promised
                tool["outputSchema"] = {"type": "object"}
            changed = True
    return changed


def advertise(result: dict[str, Any], capability: Mapping[str, Any]) -> bool:
    """Adds the capability ``lro`` to the result of `initialize`, where the server has none of its own."""
    capabilities = result.setdefault("capabilities", {})
    if not isinstance(capabilities, dict):
        return False
    experimental = cast("dict[str, Any]", capabilities).setdefault("experimental", {})
    if not isinstance(experimental, dict) or "lro" in experimental:
        return False
    experimental["lro"] = dict(capability)
    return True
