"""Documented tools that read offloaded files: how they are recognized, and how they are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lro_conformance.lab.operations import properties_of

QUERY, PATTERN = "query", "pattern"
"""Names of the arguments for a jq program and for a regular expression."""


@dataclass(frozen=True)
class Tool:
    """One tool of a family."""

    name: str
    """Its documented name; a server may add a prefix."""
    family: str
    """``extract``, ``virtual`` or ``scratchpad``."""
    path: str
    """The argument that names the file."""
    small_part: Mapping[str, Any]
    """Arguments for a small part of a file. ``{id}`` is replaced by the id of the file's first record, ``{end}`` by the
    number of its characters (at most 5,000), and ``{lines}`` by the number of its lines (at most 50)."""
    largest_part: Mapping[str, Any] | None
    """Arguments for the largest answer of the tool; None if its answers are always small."""
    shows: str = "{id}"
    """A text that the answer to a call with `small_part` has to contain. ``{id}`` is replaced as in `small_part`."""


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("lro_extract", "extract", "file_path", {QUERY: "."}, {QUERY: "."}),
        Tool("read_large_output", "virtual", "filename", {"start": 0, "end": "{end}"}, {"start": 0, "end": 10_000_000}),
        Tool("search_large_output", "virtual", "filename", {PATTERN: "{id}"}, {PATTERN: ".", "max_results": 10_000}),
        Tool("query_large_output", "virtual", "filename", {QUERY: "."}, {QUERY: "."}),
        Tool("schema", "scratchpad", "file", {}, None, "title"),
        Tool("item_schema", "scratchpad", "file", {}, None, "title"),
        Tool("head", "scratchpad", "file", {"lines": 50}, {"lines": 10_000}),
        Tool("grep", "scratchpad", "file", {PATTERN: "{id}"}, {PATTERN: "."}),
        Tool("get_in", "scratchpad", "file", {"path": "0"}, {"path": "0"}),
        Tool("iterate_over", "scratchpad", "file", {"fields": ["id"]}, {"fields": ["content"]}),
        Tool("slice", "scratchpad", "file", {"start": 1, "end": "{lines}"}, {"start": 1, "end": 10_000}),
        Tool("read", "scratchpad", "file", {}, {}),
    )
}
_DISTINCTIVE = {"scratchpad": ("item_schema", "get_in", "iterate_over")}
"""Distinctive tools of a family whose other tools have common names. The tools of the family are recognized only if at
least one of these is listed."""


@dataclass(frozen=True)
class Listed:
    """A tool of a family as a server lists it."""

    tool: Tool
    name: str
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Properties of its input schema."""


def listed(tools: Sequence[Mapping[str, Any]]) -> dict[str, Listed]:
    """The tools that read offloaded files, by their documented names, recognized by name and arguments."""
    found = {one.tool.name: one for one in _listed(tools)}
    return {
        name: one for name, one in found.items() if any(n in found for n in _DISTINCTIVE.get(one.tool.family, (name,)))
    }


def _listed(tools: Sequence[Mapping[str, Any]]) -> Iterator[Listed]:
    for tool in TOOLS.values():
        for listed_tool in tools:
            name, properties = str(listed_tool.get("name")), properties_of(listed_tool)
            named = name == tool.name or name.endswith(tuple(f"{mark}{tool.name}" for mark in "_-./"))
            if named and {tool.path, *tool.small_part} <= set(properties):
                yield Listed(tool, name, properties)
                break
