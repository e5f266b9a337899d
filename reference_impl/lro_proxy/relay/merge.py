"""Merges the answers of several servers to one request, and finds the server behind each merged name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from lro_proxy.wire.jsonrpc import Message

LISTS: Mapping[str, tuple[str, str]] = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
}
"""For each method: the member of the result that holds the list, and the member that identifies an entry."""
_INVALID_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Target:
    """An entry of a server's list: a tool, a prompt, a resource or a template of resources."""

    server: str
    name: str
    """The name that the server itself gives the entry; for a resource its URI, for a template its URI template."""


def merge_initialize(results: Mapping[str, Message]) -> Message:
    """Merge the results of `initialize` of all servers: the oldest version, all capabilities, all instructions."""
    capabilities: Message = {}
    instructions: list[str] = []
    for server, result in results.items():
        offered = result.get("capabilities")
        _merge_into(capabilities, cast("Message", offered) if isinstance(offered, dict) else {})
        if isinstance(text := result.get("instructions"), str) and text:
            instructions.append(f"{server}: {text}")
    versions = [version for result in results.values() if isinstance(version := result.get("protocolVersion"), str)]
    merged: Message = {
        "protocolVersion": min(versions, default="2025-11-25"),
        "capabilities": capabilities,
        "serverInfo": {"name": "lro proxy", "version": "1"},
    }
    return merged | ({"instructions": "\n\n".join(instructions)} if instructions else {})


def _merge_into(merged: Message, addition: Message) -> None:
    for key, value in addition.items():
        present = merged.get(key)
        if isinstance(present, dict) and isinstance(value, dict):
            _merge_into(cast("Message", present), cast("Message", value))
        elif key not in merged or present is False:
            merged[key] = dict(cast("Message", value)) if isinstance(value, dict) else value


def merge_lists(
    method: str, entries: Mapping[str, list[Any]], assigned: dict[Target, str] | None = None
) -> tuple[list[Any], dict[str, Target]]:
    """Merge the lists of several servers; returns the merged list, and the target of each name in it.

    A tool or prompt whose name is used by several servers is listed once for each of them, prefixed by the server's
    name. It is left out if the prefixed name is in use, too. *assigned* holds the names under which tools or prompts
    were listed before, and new names are added to it. Thus an entry keeps its name even if another server later lists
    the same name. If several servers list the same resource, only the entry of the first server is listed.
    """
    _, key = LISTS[method]
    assigned = {} if assigned is None else assigned
    items = {
        Target(server, cast("str", item[key])): cast("Message", item)
        for server, listed in entries.items()
        for item in listed
        if isinstance(item, dict) and isinstance(cast("Message", item).get(key), str)
    }
    counts = Counter(target.name for target in items)
    used_names = set(assigned.values())
    merged: list[Any] = []
    targets: dict[str, Target] = {}
    for target, item in items.items():
        listed_name = assigned.get(target)
        if listed_name is None:
            is_shared = key == "name" and (counts[target.name] > 1 or target.name in used_names)
            listed_name = f"{_INVALID_IN_NAMES.sub('_', target.server)}_{target.name}" if is_shared else target.name
            if key == "name" and listed_name not in used_names:
                assigned[target] = listed_name
                used_names.add(listed_name)
            elif key == "name":
                continue
        if listed_name not in targets:
            targets[listed_name] = target
            merged.append({**item, key: listed_name})
    return merged, targets
