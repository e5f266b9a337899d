"""Faults in MCP messages: deviations from the defined shape that make clients fail.

These are pure functions, which return None for a well-formed message. The shapes are defined by the schemas of the
versions 2025-11-25 and 2026-07-28 of MCP, which differ in the members that every result must have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from lro_conformance.capture.records import as_record, show

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


def wrong_message(method: str, value: object, *, modern: bool) -> str | None:
    """The fault in a result of this method, or in the parameters of a notification; None if there is no fault.

    *modern* is True if the version of MCP is 2026-07-28, and False if it is an earlier version.
    """
    if method.startswith("notifications/"):
        return _wrong_notification(method, value)
    result = as_record(value)
    if not isinstance(value, dict):
        return f"the result is {show(value, 60)}, not an object"
    fault_of = _FAULTS.get(method)
    return (fault_of(result) if fault_of is not None else None) or wrong_result(result, modern=modern)


def wrong_result(result: Mapping[str, Any], *, modern: bool) -> str | None:
    """The fault in the fields that every result has; None if there is no fault."""
    if not isinstance(result.get("_meta", {}), dict):
        return f"_meta is {show(result['_meta'], 60)}, not an object"
    if modern and not isinstance(result.get("resultType"), str):
        return f"resultType is {show(result['resultType'], 60) if 'resultType' in result else 'absent'}"
    return None


def wrong_call_result(result: Mapping[str, Any]) -> str | None:
    """The fault in a CallToolResult; None if there is no fault."""
    content = result.get("content")
    if not isinstance(content, list):
        return f"content is {show(content, 60)}, not a list"
    for entry in cast("list[Any]", content):
        block = as_record(entry)
        if not isinstance(block.get("type"), str):
            return f"a content block has no type: {show(entry, 60)}"
        if block["type"] == "text" and not isinstance(block.get("text"), str):
            return f"the text of a text block is {show(block.get('text'), 60)}, not a string"
    if not isinstance(result.get("isError", False), bool):
        return f"isError is {show(result['isError'])}, not true or false"
    structured = result.get("structuredContent")
    if structured is not None and not isinstance(structured, dict):
        return f"structuredContent is {show(structured, 60)}, not an object"
    return None


def _wrong_initialize(result: Mapping[str, Any]) -> str | None:
    info = as_record(result.get("serverInfo"))
    if not isinstance(result.get("protocolVersion"), str):
        return f"protocolVersion is {show(result.get('protocolVersion'), 60)}, not a string"
    if not isinstance(result.get("capabilities"), dict):
        return f"capabilities are {show(result.get('capabilities'), 60)}, not an object"
    if not (isinstance(info.get("name"), str) and isinstance(info.get("version"), str)):
        return f"serverInfo is {show(result.get('serverInfo'), 60)}, not a name and a version"
    return _wrong_instructions(result)


def _wrong_discover(result: Mapping[str, Any]) -> str | None:
    versions: object = result.get("supportedVersions")
    listed_versions = cast("list[Any]", versions) if isinstance(versions, list) else [None]
    if not all(isinstance(v, str) for v in listed_versions):
        return f"supportedVersions is {show(result.get('supportedVersions'), 60)}, not a list of strings"
    if not isinstance(result.get("capabilities"), dict):
        return f"capabilities are {show(result.get('capabilities'), 60)}, not an object"
    return _wrong_instructions(result)


def _wrong_instructions(result: Mapping[str, Any]) -> str | None:
    instructions = result.get("instructions", "")
    return None if isinstance(instructions, str) else f"instructions are {show(instructions, 60)}, not a string"


def _wrong_listing(result: Mapping[str, Any]) -> str | None:
    tools = result.get("tools")
    if not isinstance(tools, list):
        return f"tools is {show(tools, 60)}, not a list"
    for entry in cast("list[Any]", tools):
        tool = as_record(entry)
        if not isinstance(tool.get("name"), str):
            return f"a tool is {show(entry, 60)}: it has no name"
        schema = as_record(tool.get("inputSchema"))
        if schema.get("type") != "object":
            return f"inputSchema of {tool['name']} is {show(tool.get('inputSchema'), 60)}, not of type object"
        for key in ("description", "title"):
            if not isinstance(tool.get(key, ""), str):
                return f"{key} of {tool['name']} is {show(tool[key], 60)}, not a string"
        for key in ("outputSchema", "annotations"):
            if not isinstance(tool.get(key, {}), dict):
                return f"{key} of {tool['name']} is {show(tool[key], 60)}, not an object"
    cursor = result.get("nextCursor", "")
    return None if isinstance(cursor, str) else f"nextCursor is {show(cursor, 60)}, not a string"


def _wrong_notification(method: str, params: object) -> str | None:
    members = as_record(params)
    if params is not None and not isinstance(params, dict):
        return f"params of {method} are {show(cast('Any', params), 60)}, not an object"
    if method != "notifications/message":
        return None
    if members.get("level") not in LEVELS:
        return f"level of a log message is {show(members.get('level'), 60)}, not one of {', '.join(LEVELS)}"
    if "data" not in members:
        return "a log message has no data"
    logger = members.get("logger", "")
    return None if isinstance(logger, str) else f"logger of a log message is {show(logger, 60)}, not a string"


_FAULTS: Mapping[str, Callable[[Mapping[str, Any]], str | None]] = {
    "initialize": _wrong_initialize,
    "server/discover": _wrong_discover,
    "tools/list": _wrong_listing,
    "tools/call": wrong_call_result,
}
