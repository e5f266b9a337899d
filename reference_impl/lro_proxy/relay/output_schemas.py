"""Changes to a server's declarations: output schemas that also accept a descriptor, and the capability ``lro``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

DESCRIPTOR: Mapping[str, Any] = {
    "type": "object",
    "description": "Replaces a large result: offloaded true, with the file that holds it; or false, with its "
    "beginning, if the file could not be written.",
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
_DATA = frozenset(("const", "enum", "default", "examples"))
"""Keywords whose values are data: a ``$ref`` in them is not a reference."""


_SCHEMAS_BY_NAME = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
"""Keywords whose values are schemas by name: a property may be named ``default``."""


def widen(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The output schema, extended to accept a descriptor. Local references are adjusted."""
    inner = dict(schema)
    outer: dict[str, Any] = {"type": "object"}
    for key in ("$schema", "$id"):
        if key in inner:
            outer[key] = inner.pop(key)
    inner = _adjust_references(inner, "#/anyOf/0")
    return {**outer, "anyOf": [inner, dict(DESCRIPTOR)]}


def _adjust_references(node: Any, prefix: str) -> Any:
    if isinstance(node, list):
        return [_adjust_references(item, prefix) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    members = cast("dict[str, Any]", node)
    if "$id" in members:  # a document of its own: its references are relative to itself
        return members
    adjusted: dict[str, Any] = {}
    for key, value in members.items():
        if key in ("$ref", "$dynamicRef") and isinstance(value, str) and (value == "#" or value.startswith("#/")):
            adjusted[key] = prefix + value[1:]
        elif key in _SCHEMAS_BY_NAME and isinstance(value, dict):
            adjusted[key] = {
                name: _adjust_references(inner, prefix) for name, inner in cast("dict[str, Any]", value).items()
            }
        else:
            adjusted[key] = value if key in _DATA else _adjust_references(value, prefix)
    return adjusted


def widen_tools(result: dict[str, Any]) -> bool:
    """Widen the output schemas in the result of `tools/list`; True if there were any."""
    listed = result.get("tools")
    changed = False
    for tool in cast("list[Any]", listed) if isinstance(listed, list) else []:
        if isinstance(tool, dict) and isinstance(cast("dict[str, Any]", tool).get("outputSchema"), dict):
            try:
                tool["outputSchema"] = widen(cast("Mapping[str, Any]", tool["outputSchema"]))
            except RecursionError:  # nested too deeply: accept any object
                tool["outputSchema"] = {"type": "object"}
            changed = True
    return changed


def advertise(result: dict[str, Any], capability: Mapping[str, Any]) -> bool:
    """Add the capability ``lro`` to the result of `initialize`, unless the server has it; True if changed."""
    capabilities = result.setdefault("capabilities", {})
    if not isinstance(capabilities, dict):
        return False
    experimental = cast("dict[str, Any]", capabilities).setdefault("experimental", {})
    if not isinstance(experimental, dict) or "lro" in experimental:
        return False
    experimental["lro"] = dict(capability)
    return True
