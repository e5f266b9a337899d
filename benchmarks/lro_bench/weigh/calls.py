"""Calls of a server's tools: the calls that a file lists, or one call of each read-only tool that needs no arguments.

A tool is read-only if it is annotated as read-only. No other calls are made, and no argument is made up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from lro_conformance.errors import UsageError


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that is to be made, or the reason why it is not made."""

    tool: str
    arguments: Mapping[str, Any]
    title: str = ""
    """The call in a few words."""
    skipped: str = ""
    """The reason why the call is not made. Empty if it is made."""


def read_calls(path: Path, values: Mapping[str, str] | None = None) -> list[ToolCall]:
    """Read a calls file. ``{name}`` in a text is replaced by the value of that name in *values*.

    Raises `UsageError`, whose message names the file or the key that is wrong.
    """
    try:
        data: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise UsageError(f"{path}: {problem.strerror}") from None
    except UnicodeDecodeError as problem:
        raise UsageError(f"{path}: not UTF-8: {problem.reason} at byte {problem.start}") from None
    except yaml.YAMLError as problem:
        raise UsageError(f"{path}: not valid YAML: {' '.join(str(problem).split())}") from None
    entries: Any = cast("dict[str, Any]", data).get("calls") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not entries:
        raise UsageError(f"{path}: expected a key calls with a list of {{tool: NAME, arguments: {{…}}}}")
    return [call_of(entry, f"{path}: calls[{n}]", values or {}) for n, entry in enumerate(cast("list[Any]", entries))]


def call_of(entry: Any, where: str, values: Mapping[str, str]) -> ToolCall:
    """The call described by an entry of a calls file or of the register. Raises `UsageError` if the entry is wrong."""
    if not isinstance(entry, dict) or not isinstance(cast("dict[str, Any]", entry).get("tool"), str):
        raise UsageError(f"{where}: expected an object with tool: NAME")
    members = cast("dict[str, Any]", entry)
    if unknown := sorted(set(members) - {"tool", "arguments", "title"}):
        raise UsageError(f"{where}: unknown key {unknown[0]}; expected tool, arguments, title")
    arguments: Any = members.get("arguments")
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise UsageError(f"{where}.arguments: expected an object, got {arguments!r}")
    try:
        json.dumps(arguments, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise UsageError(f"{where}.arguments: not JSON: {problem} (a date or a time needs quotes)") from None
    return ToolCall(
        members["tool"], cast("dict[str, Any]", fill_placeholders(arguments, values)), str(members.get("title", ""))
    )


def fill_placeholders(value: Any, values: Mapping[str, str]) -> Any:
    """The value, with each ``{name}`` in its strings replaced if *values* has that name."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), value)
    if isinstance(value, list):
        return [fill_placeholders(item, values) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: fill_placeholders(item, values) for key, item in cast("dict[str, Any]", value).items()}
    return value


def read_only_calls(tools: Sequence[Mapping[str, Any]]) -> list[ToolCall]:
    """A call of each tool. It is skipped, with the reason, if the tool is not read-only or needs arguments."""
    calls: list[ToolCall] = []
    for tool in tools:
        name = str(tool.get("name", ""))
        annotations = tool.get("annotations")
        if (
            not isinstance(annotations, Mapping)
            or cast("Mapping[str, Any]", annotations).get("readOnlyHint") is not True
        ):
            reason = "not annotated as read-only (readOnlyHint: true): name it in a file with --calls"
            calls.append(ToolCall(name, {}, skipped=reason))
            continue
        schema = tool.get("inputSchema")
        required = cast("Mapping[str, Any]", schema).get("required") if isinstance(schema, Mapping) else None
        if required:
            names = ", ".join(map(str, cast("list[Any]", required if isinstance(required, list) else [required])))
            calls.append(ToolCall(name, {}, skipped=f"needs arguments ({names}): give them in a file with --calls"))
        else:
            calls.append(ToolCall(name, {}))
    return calls
