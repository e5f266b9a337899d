"""What several servers say to the same request, as one answer; and which of them a name means."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from lro_reference.proxy.messages import Message

LISTS: Mapping[str, tuple[str, str]] = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
}
"""By method: the member with the entries, and what an entry is known by."""
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Known:
    """An entry of a server's list."""

    server: str
    name: str
    """As the server knows it."""


def introduced(results: Mapping[str, Message]) -> Message:
    """The answers to `initialize` as one: the oldest version, the capabilities of all."""
    capabilities: Message = {}
    told: list[str] = []
    for server, result in results.items():
        offered = result.get("capabilities")
        _unite(capabilities, cast("Message", offered) if isinstance(offered, dict) else {})
        if isinstance(said := result.get("instructions"), str) and said:
            told.append(f"{server}: {said}")
    versions = [version for r in results.values() if isinstance(version := r.get("protocolVersion"), str)]
    made: Message = {
        "protocolVersion": min(versions, default="2025-11-25"),
        "capabilities": capabilities,
        "serverInfo": {"name": "lro proxy", "version": "1"},
    }
    return made | ({"instructions": "\n\n".join(told)} if told else {})


def _unite(into: Message, more: Message) -> None:
    for key, value in more.items():
        there = into.get(key)
        if isinstance(there, dict) and isinstance(value, dict):
            _unite(cast("Message", there), cast("Message", value))
        elif key not in into or there is False:
            into[key] = dict(cast("Message", value)) if isinstance(value, dict) else value


def listed(
    method: str, entries: Mapping[str, list[Any]], given: dict[Known, str] | None = None
) -> tuple[list[Any], dict[str, Known]]:
    """The lists of several servers as one, and whom each name in it means.

    A tool or prompt whose name several servers have is listed with the server's name before it, for each of them; a
    name once *given* is kept, whoever comes or goes. Of an address that several servers have the first one is meant.
    """
    _, key = LISTS[method]
    given = {} if given is None else given
    items = {
        Known(server, cast("str", item[key])): cast("Message", item)
        for server, found in entries.items()
        for item in found
        if isinstance(item, dict) and isinstance(cast("Message", item).get(key), str)
    }
    times = Counter(meant.name for meant in items)
    taken = set(given.values())
    made: list[Any] = []
    known: dict[str, Known] = {}
    for meant, item in items.items():
        shown = given.get(meant)
        if shown is None:
            shared = key == "name" and (times[meant.name] > 1 or meant.name in taken)
            shown = f"{_NO_NAME.sub('_', meant.server)}_{meant.name}" if shared else meant.name
            if key == "name" and shown not in taken:
                given[meant] = shown
                taken.add(shown)
            elif key == "name":
                continue
        if shown not in known:
            known[shown] = meant
            made.append({**item, key: shown})
    return made, known
