"""Changes to a server's declarations: output schemas that also accept a descriptor, and the capability ``lro``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

_DESCRIPTOR_SCHEMA: Mapping[str, Any] = {"required": ["offloaded"]}
"""Schema of a descriptor in place of a result. It is short because clients show output schemas to their model."""
_DEFINITIONS = ("$defs", "definitions")
_DATA_KEYWORDS = frozenset(("const", "enum", "default", "examples"))
"""Keywords whose values are data: a ``$ref`` in them is not a reference."""
_SCHEMAS_BY_NAME = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
"""Keywords whose values map names to schemas. The names are not keywords, even if a property is named ``default``."""


def widen(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The output schema, extended to accept a descriptor.

    Definitions stay at the top, so that references to them remain valid. Other local references are adjusted.
    """
    inner = dict(schema)
    outer = {key: inner.pop(key) for key in ("$schema", "$id") if key in inner}
    definitions = {key: inner.pop(key) for key in _DEFINITIONS if key in inner}
    is_object = inner.get("type") == "object"  # since 2026-07-28, other types are allowed
    alternatives = [
        _adjust_references(inner),
        {**_DESCRIPTOR_SCHEMA} if is_object else {"type": "object", **_DESCRIPTOR_SCHEMA},
    ]
    outer |= ({"type": "object"} if is_object else {}) | {"anyOf": alternatives}
    return outer | {key: _adjust_references(value, is_schema=False) for key, value in definitions.items()}


def _adjust_references(node: Any, *, is_schema: bool = True) -> Any:
    """The node with its references adjusted; *is_schema* is false for an object whose keys are names of schemas."""
    if isinstance(node, list):
        return [_adjust_references(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    members = cast("dict[str, Any]", node)
    if not is_schema:
        return {name: _adjust_references(inner) for name, inner in members.items()}
    if "$id" in members:  # a document of its own: its references are relative to itself
        return members
    adjusted: dict[str, Any] = {}
    for key, value in members.items():
        if key in ("$ref", "$dynamicRef") and isinstance(value, str):
            adjusted[key] = _adjusted_reference(value)
        else:
            adjusted[key] = (
                value if key in _DATA_KEYWORDS else _adjust_references(value, is_schema=key not in _SCHEMAS_BY_NAME)
            )
    return adjusted


def _adjusted_reference(reference: str) -> str:
    is_moved = reference == "#" or (reference.startswith("#/") and reference.split("/")[1] not in _DEFINITIONS)
    return f"#/anyOf/0{reference[1:]}" if is_moved else reference


def widen_tool(tool: dict[str, Any]) -> bool:
    """Widen the output schema of an entry of `tools/list`; False if it has none."""
    schema = tool.get("outputSchema")
    if not isinstance(schema, dict):
        return False
    try:
        tool["outputSchema"] = widen(cast("Mapping[str, Any]", schema))
    except RecursionError:  # nested too deeply: accept any object
        tool["outputSchema"] = {"type": "object"}
    return True


def widen_tools(result: dict[str, Any]) -> None:
    """Widen all output schemas in the result of `tools/list`."""
    listed = result.get("tools")
    for tool in cast("list[Any]", listed) if isinstance(listed, list) else []:
        if isinstance(tool, dict):
            widen_tool(cast("dict[str, Any]", tool))


def advertise(result: dict[str, Any], capability: Mapping[str, Any]) -> bool:
    """Add the capability ``lro`` to a result that states the server's capabilities, unless it is already there.

    Returns True if the result was changed.
    """
    capabilities = result.setdefault("capabilities", {})
    if not isinstance(capabilities, dict):
        return False
    experimental = cast("dict[str, Any]", capabilities).setdefault("experimental", {})
    if not isinstance(experimental, dict) or "lro" in experimental:
        return False
    experimental["lro"] = dict(capability)
    return True
