"""The tools that perform operations and the names of their arguments: from the profile, or from the listed tools."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from lro_conformance.profile import Operation as Named
    from lro_conformance.profile import Profile

OPERATIONS = ("recall", "search", "inject")
"""The operations of the default edition, also used if an edition enumerates none."""
DETAILS = ("light", "medium", "full")

TOOLS = {
    "recall": "recall_memories",
    "search": "search_memories",
    "inject": "inject_context",
    "list": "list_memories",
}
"""The tools that LRO applies to, by their specified names."""
_WORDS = {"recall": {"recall"}, "search": {"search"}, "inject": {"inject"}}
"""Words in the names of similar tools; tools that list something have too many names."""
_QUERIES = {"recall": "*", "search": "memory", "inject": "*", "list": "*"}
_NAMES = {
    "query": ("query", "q", "search_query", "text", "search", "pattern", "prompt", "term", "keywords"),
    "limit": (
        *("limit", "max_results", "top_k", "k", "n", "max", "max_count", "count", "num_results", "page_size"),
        *("top", "size", "max_items"),
    ),
    "detail": ("detail", "detail_level", "details", "level", "verbosity"),
    "budget": ("max_tokens", "token_budget", "budget", "budget_tokens", "max_context_tokens"),
}


@dataclass(frozen=True)
class Operation:
    """A tool that performs an operation, and its arguments."""

    name: str
    tool: str
    arguments: Mapping[str, Any]
    """Sent with every call; the query, limit and detail of a call override them."""
    query: str | None
    limit: str | None
    detail: str | None
    budget: str | None
    details: tuple[str, ...]
    """The detail levels it accepts; empty when it takes none."""
    limit_maximum: int | None
    output_schema: Mapping[str, Any] | None = field(default=None, repr=False)
    needs_detail: bool = False
    """True when the tool requires a level, so it has no default."""


class NoSuchTool(ValueError):
    """The server lists no tool of that name; the message names those that it lists."""


def resolve(
    profile: Profile, tools: Sequence[Mapping[str, Any]], known: Iterable[str] = OPERATIONS
) -> dict[str, Operation]:
    """The operations that this server has of those *known*, by name and in their order."""
    listed = {str(t.get("name")): t for t in tools}
    found: dict[str, Operation] = {}
    for name in known:
        named = profile.operations.get(name) if profile.operations is not None else None
        if profile.operations is not None:
            if named is not None:
                found[name] = _from_profile(name, named, listed.get(named.tool, {}))
            continue
        tool = matching_tool(name, listed)
        if tool is not None:
            found[name] = _from_listing(name, listed[tool])
    return found


def operations_of(tools: Mapping[str, str], listed: Sequence[Mapping[str, Any]]) -> dict[str, Operation]:
    """The operations with these tools, their arguments guessed. Raises `NoSuchTool` for one that is not listed."""
    by_name = {str(t.get("name")): t for t in listed}
    if missing := [tool for tool in tools.values() if tool not in by_name]:
        raise NoSuchTool(f"the server lists no tool {missing[0]}; it lists {', '.join(by_name) or 'none'}")
    return {name: _from_listing(name, by_name[tool]) for name, tool in tools.items()}


def _from_profile(name: str, named: Named, tool: Mapping[str, Any]) -> Operation:
    schema = properties_of(tool)
    details = _details(schema.get(named.detail or "", {})) if named.detail else ()
    return Operation(
        name=name,
        tool=named.tool,
        arguments={**_needed_detail(name, named.detail, details, tool), **named.arguments},
        query=named.query,
        limit=named.limit,
        detail=named.detail,
        budget=named.budget or _argument("budget", schema),
        details=details,
        limit_maximum=_maximum(schema.get(named.limit or "", {})),
        output_schema=_output_schema(tool),
        needs_detail=named.detail in required_of(tool),
    )


def _from_listing(name: str, tool: Mapping[str, Any]) -> Operation:
    properties = properties_of(tool)
    names = {kind: _argument(kind, properties) for kind in _NAMES}
    arguments: dict[str, Any] = {}
    if names["query"] is not None:
        arguments[names["query"]] = _QUERIES[name]
    for required in required_of(tool):
        if required not in arguments and required not in (names["limit"], names["detail"]):
            arguments[required] = sample_value(properties.get(required, {}))
    detail = names["detail"] or next((n for n, node in properties.items() if _names_levels(node)), None)
    details = _details(properties.get(detail, {})) if detail else ()
    limit = names["limit"]
    return Operation(
        name=name,
        tool=str(tool.get("name")),
        arguments=_needed_detail(name, detail, details, tool) | arguments,
        query=names["query"],
        limit=limit,
        detail=detail if details else None,
        budget=names["budget"] if name == "inject" else None,
        details=details,
        limit_maximum=_maximum(properties.get(limit, {})) if limit else None,
        output_schema=_output_schema(tool),
        needs_detail=bool(details) and detail in required_of(tool),
    )


def _needed_detail(name: str, detail: str | None, details: tuple[str, ...], tool: Mapping[str, Any]) -> dict[str, Any]:
    """The specified default level, sent with calls without a level to tools that require one."""
    if detail is None or not details or detail not in required_of(tool):
        return {}
    usual = "medium" if name == "inject" else "light"
    return {detail: usual if usual in details else details[0]}


def matching_tool(name: str, listed: Iterable[str]) -> str | None:
    """The listed tool that performs an operation, judging by its name; None when none resembles it."""
    names = list(listed)
    if TOOLS[name] in names:
        return TOOLS[name]
    for tool in names:
        if _WORDS.get(name, set()) & _words_of(tool):
            return tool
    return None


def queries_in(tools: Sequence[Mapping[str, Any]], known: Collection[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tools that seem to find something by a query and to change nothing, other than those *known*, with arguments.

    A verb in the name says so, and the tool requires nothing but the query.
    """
    for tool in tools:
        name = str(tool.get("name"))
        properties, words = properties_of(tool), _words_of(name)
        query = _argument("query", properties)
        if name in known or query is None or not words & _FINDS or words & _CHANGES:
            continue
        if set(required_of(tool)) <= {query}:
            yield name, {query: _QUERIES["search"]}


_FINDS = {"query", "find", "lookup", "retrieve"}
_CHANGES = {
    *("add", "archive", "clear", "create", "delete", "edit", "forget", "insert", "merge", "move", "purge", "remove"),
    *("replace", "save", "set", "store", "update", "write"),
}


def _words_of(name: str) -> set[str]:
    return set(re.split(r"[^a-z]+", re.sub(r"([A-Z])", r"_\1", name).lower()))


def properties_of(tool: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a tool as a server lists it, each with its schema; empty if there are none."""
    schema = tool.get("inputSchema")
    properties = cast("dict[str, Any]", schema).get("properties") if isinstance(schema, dict) else None
    return cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}


def required_of(tool: Mapping[str, Any]) -> list[str]:
    """The required arguments of a tool."""
    schema = tool.get("inputSchema")
    required = cast("dict[str, Any]", schema).get("required") if isinstance(schema, dict) else None
    return [r for r in cast("list[Any]", required) if isinstance(r, str)] if isinstance(required, list) else []


def _argument(kind: str, properties: Mapping[str, Any]) -> str | None:
    spelt = {_plain(name): name for name in [*properties][::-1]}
    return next((n if n in properties else spelt[_plain(n)] for n in _NAMES[kind] if _plain(n) in spelt), None)


def _plain(name: str) -> str:
    """A name without differences of style: max_results, maxResults, max-results."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _details(schema: Any) -> tuple[str, ...]:
    """The levels that a schema of the detail argument admits; one without an enumeration admits all three."""
    options = _enumeration(schema)
    return DETAILS if options is None else tuple(d for d in DETAILS if d in options)


def _enumeration(schema: Any) -> list[Any] | None:
    if not isinstance(schema, dict):
        return None
    node = cast("dict[str, Any]", schema)
    if isinstance(node.get("enum"), list):
        return cast("list[Any]", node["enum"])
    for union in ("anyOf", "oneOf"):
        if isinstance(node.get(union), list):
            found = [
                _enumeration(n) or ([n["const"]] if isinstance(n, dict) and "const" in n else []) for n in node[union]
            ]
            return [v for part in found for v in part] or None
    return None


def _names_levels(schema: Any) -> bool:
    """Return whether an argument, whatever its name, accepts two detail levels or more."""
    return len(set(DETAILS) & {v for v in _enumeration(schema) or [] if isinstance(v, str)}) > 1


def _maximum(schema: Any) -> int | None:
    value = cast("dict[str, Any]", schema).get("maximum") if isinstance(schema, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _output_schema(tool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    schema = tool.get("outputSchema")
    return cast("dict[str, Any]", schema) if isinstance(schema, dict) else None


def sample_value(schema: Any) -> Any:
    """A value that is valid for a schema's default, enumeration and type."""
    node = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
    if "default" in node:
        return node["default"]
    options = _enumeration(node)
    if options:
        return options[0]
    kind = node.get("type")
    samples: dict[Any, Any] = {"integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}
    return samples.get(kind, "memory") if isinstance(kind, str) else "memory"
