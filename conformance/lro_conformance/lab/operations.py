"""The tools that perform operations and their arguments: from the profile, or from the listed tools."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from lro_conformance.capture.records import as_record
from lro_conformance.profile import DetailValue
from lro_spec.editions import DETAILS

if TYPE_CHECKING:
    from lro_conformance.profile import Operation as Named
    from lro_conformance.profile import Profile

OPERATIONS = ("recall", "search", "inject")
"""The operations of the default edition, which `lro init` looks for. If an edition lists no operations, the names of
planted files contain these."""

TOOLS = {
    "recall": "recall_memories",
    "search": "search_memories",
    "inject": "inject_context",
    "list": "list_memories",
}
"""The usual name of the tool that performs each operation. If an edition lists no operations, all of these are
looked for."""
_WORDS = {"recall": {"recall"}, "search": {"search"}, "inject": {"inject"}}
"""Words in the names of tools that perform an operation; for list there are none, because names vary too much."""
_QUERIES = {"recall": "*", "search": "memory", "inject": "*", "list": "*"}
"""A query for each operation that is likely to find many memories."""
_NAMES = {
    "query": ("query", "q", "search_query", "text", "search", "pattern", "prompt", "term", "keywords"),
    "limit": (
        *("limit", "max_results", "top_k", "k", "n", "max", "max_count", "count", "num_results", "page_size"),
        *("top", "size", "max_items"),
    ),
    "detail": ("detail", "detail_level", "details", "level", "verbosity"),
    "asks for full": (
        *("full", "verbose", "detailed", "full_detail", "full_details", "full_content", "full_text"),
        *("include_content", "with_content", "include_body", "with_body", "include_text", "with_text", "expand"),
    ),
    "asks for light": (
        *("brief", "compact", "short", "concise", "terse", "summary", "summary_only", "minimal"),
        *("headers_only", "ids_only"),
    ),
    "view": ("view", "format", "projection"),
    "budget": (
        *("max_tokens", "token_budget", "budget", "budget_tokens", "max_context_tokens"),
        *("max_chars", "max_characters", "max_words", "char_budget", "character_budget"),
    ),
}
"""Usual names of arguments by their kind, the most usual first. "asks for full" and "asks for light" are kinds of
booleans that choose a level of detail."""


@dataclass(frozen=True)
class Operation:
    """A tool that performs an operation, and its arguments."""

    name: str
    tool: str
    arguments: Mapping[str, Any]
    """Arguments sent with every call; the query, limit, detail and budget of a call override them."""
    query: str | None
    limit: str | None
    detail: str | None
    budget: str | None
    details: tuple[str, ...]
    """The detail levels that the tool accepts, from light to full; empty if it takes none."""
    limit_maximum: int | None
    """The largest limit that the tool accepts; None if that is not known."""
    output_schema: Mapping[str, Any] | None = field(default=None, repr=False)
    needs_detail: bool = False
    """True if the tool requires a detail level, so that it has no default level."""
    needs_query: bool = True
    """True unless the schema of the tool shows that it can be called without a query."""
    levels: Mapping[str, DetailValue] = field(default_factory=dict[str, DetailValue])
    """Values of the argument `detail` by level; empty if the values are the names of the levels."""
    possible_details: Mapping[str, tuple[DetailValue, ...]] = field(default_factory=dict[str, tuple[DetailValue, ...]])
    """Arguments that may choose a level of detail, with their values; empty if two levels or more are known, or if the
    profile says that there is no such argument."""

    possible_query: str | None = None
    """The argument that may be the query under an unusual name, because it is the tool's only required argument that
    takes any text. None if there is no such argument, if `query` is known, or if the profile says that the tool takes
    no query."""

    def detail_value(self, level: str) -> DetailValue:
        """The value of the detail argument for a level."""
        return self.levels.get(level, level)

    def with_levels(self, argument: str, levels: Mapping[str, DetailValue]) -> Operation:
        """This operation with an argument for its level of detail, and that argument's values by level."""
        return replace(self, detail=argument, details=tuple(levels), levels=levels, possible_details={})

    def with_query(self, argument: str) -> Operation:
        """This operation with an argument for its query."""
        return replace(self, query=argument, possible_query=None)


class NoSuchTool(ValueError):
    """The server lists no tool of that name; the message names the tools that it lists."""


def resolve(
    profile: Profile, tools: Sequence[Mapping[str, Any]], known: Iterable[str] = OPERATIONS
) -> dict[str, Operation]:
    """The *known* operations that the server has, by name: those that the profile names or, if it has no key
    ``operations``, those for which a listed tool has a matching name."""
    listed = {str(t.get("name")): t for t in tools}
    found: dict[str, Operation] = {}
    for name in known:
        if profile.operations is not None:
            named = profile.operations.get(name)
            if named is not None:
                found[name] = _operation(name, {"name": named.tool, **listed.get(named.tool, {})}, named)
            continue
        tool = matching_tool(name, listed)
        if tool is not None:
            found[name] = _operation(name, listed[tool])
    return found


def operations_of(tools: Mapping[str, str], listed: Sequence[Mapping[str, Any]]) -> dict[str, Operation]:
    """The operations that *tools* perform, with arguments by the tools' schemas.

    *tools* has the name of a tool for each operation. Raises `NoSuchTool` if a tool is not listed.
    """
    return {name: _operation(name, listed_tool(tool, listed)) for name, tool in tools.items()}


def listed_tool(name: str, listed: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The listed tool of this name. Raises `NoSuchTool` if there is none."""
    by_name = {str(t.get("name")): t for t in listed}
    if name not in by_name:
        raise NoSuchTool(f"the server lists no tool {name}; it lists {', '.join(by_name) or 'none'}")
    return by_name[name]


def _operation(name: str, tool: Mapping[str, Any], named: Named | None = None) -> Operation:
    """An operation as the profile names it; arguments that the profile does not name are chosen by the tool's schema.

    An argument with a value in the profile has this value in every call, so it is not chosen as limit, query or detail.
    """
    properties, required = properties_of(tool), required_of(tool)
    given: Mapping[str, Any] = named.arguments if named is not None else {}
    free = {n: node for n, node in properties.items() if n not in given}

    def argument(kind: str, among: Mapping[str, Any] = free) -> str | None:
        if named is not None and (kind in named.without or getattr(named, kind) is not None):
            return getattr(named, kind)
        return _argument(kind, among)

    query, limit = argument("query"), argument("limit")
    may_take_query = named is None or "query" not in named.without
    if limit is None and (named is None or "limit" not in named.without):
        limit = next((n for n, node in free.items() if _is_largest_number(n, node)), None)
    detail = argument("detail")
    may_take_detail = named is None or "detail" not in named.without
    if detail is None and may_take_detail:
        detail = next((n for n, node in free.items() if _names_levels(node)), None)
    details: tuple[str, ...] = ()
    levels: Mapping[str, DetailValue] = {}
    if detail is not None:
        details, levels = _details(detail, properties.get(detail, {}), named)
    if not details and (named is None or named.detail is None):
        detail = None
    arguments: dict[str, Any] = {}
    if query is not None and (named is None or query in required):
        arguments[query] = _QUERIES[name]
    for other in required:
        if other not in arguments and other not in (limit, detail):
            arguments[other] = sample_value(properties.get(other, {}))
    return Operation(
        name=name,
        tool=str(tool.get("name")),
        arguments={**_needed_detail(name, detail, details, levels, tool), **arguments, **given},
        query=query,
        limit=limit,
        detail=detail,
        budget=argument("budget", properties) if name == "inject" or named is not None else None,
        details=details,
        limit_maximum=_maximum(properties.get(limit, {})) if limit is not None else None,
        output_schema=_output_schema(tool),
        needs_detail=bool(details) and detail in required,
        needs_query=query not in properties or query in required,
        levels=levels,
        possible_details=_possible_details(free) if len(details) < 2 and may_take_detail else {},
        possible_query=_possible_query(properties, required) if query is None and may_take_query else None,
    )


def _possible_query(properties: Mapping[str, Any], required: Sequence[str]) -> str | None:
    """The only required argument of a tool that takes any text; None if there is none, or more than one. It may be one
    to which the profile gives a value."""
    nodes = {name: as_record(properties.get(name)) for name in required}
    closed = {"enum", "const", "default", "format"}
    texts = [name for name, node in nodes.items() if node.get("type") == "string" and not closed & node.keys()]
    return texts[0] if len(texts) == 1 else None


def _needed_detail(
    name: str,
    detail: str | None,
    details: tuple[str, ...],
    levels: Mapping[str, DetailValue],
    tool: Mapping[str, Any],
) -> dict[str, Any]:
    """If the tool requires a level of detail: the detail argument with the specified default level, for calls that do
    not choose one. Otherwise empty."""
    if detail is None or not details or detail not in required_of(tool):
        return {}
    usual = "medium" if name == "inject" else "light"
    usual = usual if usual in details else details[0]
    return {detail: levels.get(usual, usual)}


def matching_tool(name: str, listed: Iterable[str]) -> str | None:
    """The name of the listed tool that performs an operation: the usual name or, if that is not listed, a name with
    one of the operation's words and without a verb of change. None if there is no such tool."""
    names = list(listed)
    if TOOLS[name] in names:
        return TOOLS[name]
    similar = (t for t in names if _WORDS.get(name, set()) & _words_of(t) and not _CHANGES & _words_of(t))
    return next(similar, None)


def hinted_tool(name: str, tools: Sequence[Mapping[str, Any]], known: Collection[str]) -> Mapping[str, Any] | None:
    """A tool other than the *known* ones whose name, or else whose description, hints at an operation; None if there is
    no such tool.

    Tools whose names say that they change something are ignored.
    """
    free = [t for t in tools if t.get("name") not in known and not _CHANGES & _words_of(str(t.get("name")))]
    texts = ((t, str(t.get(key) or "")) for key in ("name", "description") for t in free)
    return next((tool for tool, text in texts if _HINTS[name] & _words_of(text)), None)


_HINTS = {
    "recall": {"recall", "recalls", "retrieve", "retrieves", "remember", "remembers", "list", "lists"},
    "search": {"search", "searches", "find", "finds", "query", "queries", "lookup"},
    "inject": {"inject", "injects", "context", "prompt"},
}


def reading_tools(
    tools: Sequence[Mapping[str, Any]], known: Collection[str]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Tools other than the *known* ones that seem to search or recall and to change nothing.

    Yields the tool's name, the operation and the arguments for a call. The name has a verb such as find or list; a
    search requires no argument other than a query, and a recall requires none.
    """
    for tool in tools:
        name, required = str(tool.get("name")), set(required_of(tool))
        words, query = _words_of(name), _argument("query", properties_of(tool))
        changes = words & _CHANGES or as_record(tool.get("annotations")).get("readOnlyHint") is False
        if name in known or changes:
            continue
        if query is not None and words & _FINDS and required <= {query}:
            yield name, "search", {query: _QUERIES["search"]}
        elif words & _READS and not required:
            yield name, "recall", {}


def storing_tools(tools: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Tools that seem to store something, by the first verb of their names: store_memory, addNote, memory-create."""
    verbs = ((tool, [w for w in _split(str(tool.get("name"))) if w in _STORES | _READS]) for tool in tools)
    return [tool for tool, found in verbs if found and found[0] in _STORES]


_FINDS = {"query", "find", "lookup", "retrieve"}
_READS = {*_FINDS, "fetch", "get", "inspect", "list", "read", "recall", "search", "show"}
_STORES = {"add", "capture", "create", "insert", "memorize", "put", "remember", "save", "store", "write"}
_CHANGES = {
    *_STORES,
    *("archive", "cancel", "clear", "delete", "edit", "forget", "merge", "move", "purge"),
    *("remove", "replace", "set", "start", "stop", "update"),
}
"""Verbs of tools that change something, or that return no results, such as one that only starts a search."""


def _words_of(name: str) -> set[str]:
    return set(_split(name))


def _split(name: str) -> list[str]:
    """The words of a name or a text, in lower case; camelCase is split, too."""
    return re.split(r"[^a-z]+", re.sub(r"([A-Z])", r"_\1", name).lower())


def properties_of(tool: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a listed tool, each with its schema; empty if there are none.

    A reference to a definition in the tool's schema is replaced by that definition.
    """
    schema = as_record(tool.get("inputSchema"))
    return {name: _resolved(as_record(node), schema) for name, node in as_record(schema.get("properties")).items()}


def _resolved(node: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    named = _DEFINITION.fullmatch(str(node.get("$ref")))
    definition = as_record(as_record(schema.get(named["place"])).get(named["name"])) if named is not None else {}
    return {**definition, **{k: v for k, v in node.items() if k != "$ref"}} if definition else node


_DEFINITION = re.compile(r"#/(?P<place>\$defs|definitions)/(?P<name>[^/~%]+)")


def required_of(tool: Mapping[str, Any]) -> list[str]:
    """The names of the required arguments of a listed tool."""
    schema = tool.get("inputSchema")
    required = cast("dict[str, Any]", schema).get("required") if isinstance(schema, dict) else None
    return [r for r in cast("list[Any]", required) if isinstance(r, str)] if isinstance(required, list) else []


def _argument(kind: str, properties: Mapping[str, Any]) -> str | None:
    return next(iter(_arguments(kind, properties)), None)


def _arguments(kind: str, properties: Mapping[str, Any]) -> list[str]:
    """The arguments whose names are usual for this kind of argument (`_NAMES`), the most usual first."""
    spelt = {plain_name(name): name for name in [*properties][::-1]}
    return [n if n in properties else spelt[plain_name(n)] for n in _NAMES[kind] if plain_name(n) in spelt]


def _is_largest_number(name: str, schema: object) -> bool:
    """True for a number that limits how many records are returned, by its name: max and a plural that is no unit, such
    as maxArticles."""
    first, *others = re.findall(r"[A-Z]?[a-z]+", name) or [""]
    counts = first.lower() in ("max", "maximum") and bool(others) and others[-1].lower().endswith("s")
    is_integer = isinstance(schema, dict) and cast("dict[str, Any]", schema).get("type") in ("integer", "number")
    return counts and is_integer and others[-1].lower() not in _UNITS


_UNITS = frozenset(("tokens", "characters", "chars", "words", "bytes", "days", "hours", "minutes", "seconds", "lines"))
"""Plurals that show that a number limits a size or a time, and not the number of records."""


def plain_name(name: str) -> str:
    """A name in lower case with letters and digits only: equal for max_results, maxResults and max-results."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _details(argument: str, schema: Any, named: Named | None) -> tuple[tuple[str, ...], Mapping[str, DetailValue]]:
    """The levels that a detail argument accepts, and its values by level if they are not the names of the levels.

    If the profile names levels, they are used. Otherwise, a boolean argument accepts the least and the most detailed
    level, an argument with an enumeration the levels in it, and any other argument all three levels.
    """
    if named is not None and named.levels:
        return tuple(named.levels), named.levels
    if _is_boolean(schema):
        levels = flag_levels(argument)
        return tuple(levels), levels
    options = enumeration_of(schema)
    return DETAILS if options is None else tuple(d for d in DETAILS if d in options), {}


def flag_levels(argument: str) -> Mapping[str, DetailValue]:
    """The values of a boolean argument by level: true is full detail, unless the argument's name asks for little, like
    ``brief``."""
    is_for_light = plain_name(argument) in {plain_name(n) for n in _NAMES["asks for light"]}
    return {"light": is_for_light, "full": not is_for_light}


def levels_of(values: Sequence[DetailValue]) -> dict[str, DetailValue]:
    """Two or three values, which are in the order of growing detail, by level; two values stand for light and full."""
    return dict(zip(DETAILS if len(values) > 2 else (DETAILS[0], DETAILS[-1]), values, strict=True))


def _possible_details(properties: Mapping[str, Any]) -> dict[str, tuple[DetailValue, ...]]:
    """Arguments that may choose a level of detail, with their values: booleans, and enumerations of two or three words.

    Enumerations that contain the name of a notation, such as json, are left out: they choose the notation.
    """
    found: dict[str, tuple[DetailValue, ...]] = {}
    for kind in ("asks for full", "asks for light"):
        booleans = {name: node for name, node in properties.items() if _is_boolean(node)}
        found |= dict.fromkeys(_arguments(kind, booleans), (False, True))
    for kind in ("detail", "view"):
        for name in _arguments(kind, properties):
            words = tuple(v for v in enumeration_of(properties[name]) or () if isinstance(v, str))
            if len(words) in (2, 3) and not _NOTATIONS & {w.lower() for w in words}:
                found[name] = words
    return found


_NOTATIONS = frozenset(
    ("json", "jsonl", "markdown", "md", "text", "plain", "txt", "csv", "tsv", "yaml", "toml", "xml", "html", "table")
)


def enumeration_of(schema: Any) -> list[Any] | None:
    """The values that a schema enumerates, itself or in a union; None if it does not enumerate values."""
    if not isinstance(schema, dict):
        return None
    node = cast("dict[str, Any]", schema)
    if isinstance(node.get("enum"), list):
        return cast("list[Any]", node["enum"])
    for union in ("anyOf", "oneOf"):
        if isinstance(node.get(union), list):
            found = [
                enumeration_of(n) or ([n["const"]] if isinstance(n, dict) and "const" in n else []) for n in node[union]
            ]
            return [v for part in found for v in part] or None
    return None


def _is_boolean(schema: Any) -> bool:
    """Return whether an argument accepts only true and false, and perhaps null."""
    kinds = {kind for one in alternatives(as_record(schema)) for kind in types_of(one)}
    return "boolean" in kinds and kinds <= {"boolean", "null"}


def _names_levels(schema: Any) -> bool:
    """Return whether the enumeration of an argument has the names of two detail levels or more."""
    return len(set(DETAILS) & {v for v in enumeration_of(schema) or [] if isinstance(v, str)}) > 1


def _maximum(schema: Any) -> int | None:
    value = cast("dict[str, Any]", schema).get("maximum") if isinstance(schema, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _output_schema(tool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    schema = tool.get("outputSchema")
    return cast("dict[str, Any]", schema) if isinstance(schema, dict) else None


def sample_value(schema: Any) -> Any:
    """A value that a schema probably admits, by its constant, default, enumeration, or type and format; "memory" if
    these are missing. Other keywords, such as ``minimum``, are ignored."""
    node = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
    for certain in ("const", "default"):
        if certain in node:
            return node[certain]
    options = enumeration_of(node)
    if options:
        return options[0]
    for one in alternatives(node):
        for kind in types_of(one):
            if kind == "string" and (known := FORMATS.get(str(one.get("format")))) is not None:
                return known.sample
            if kind in _SAMPLES:
                return _SAMPLES[kind]
    return "memory"


def alternatives(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The alternatives of a union, each with the keywords next to the union; the schema itself if it has no union."""
    for union in ("anyOf", "oneOf"):
        members: object = schema.get(union)
        if isinstance(members, list) and members:
            beside = {k: v for k, v in schema.items() if k != union}
            return [{**beside, **as_record(member)} for member in cast("list[Any]", members)]
    return [schema]


def types_of(schema: Mapping[str, Any]) -> list[str]:
    """The JSON types that a schema names outside of unions; a schema with a known format but no type is a string."""
    named: Any = schema.get("type", "string" if str(schema.get("format")) in FORMATS else None)
    kinds = cast("list[Any]", named) if isinstance(named, list) else [named]
    return [k for k in kinds if isinstance(k, str)]


_SAMPLES: Mapping[str, Any] = {
    "string": "memory", "integer": 1, "number": 1, "boolean": False, "array": [], "object": {},
}  # fmt: skip
"""A value of each JSON type except null, so that an argument that also accepts null gets a value of its other type."""


@dataclass(frozen=True)
class Format:
    """A format of JSON Schema."""

    sample: str
    pattern: re.Pattern[str]
    """Matches all texts that have the format, and some that do not: a coarse test."""


_DATE, _TIME = r"\d{4}-\d\d-\d\d", r"\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"
_URI = Format("https://example.org/memory", re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"))
_EMAIL = Format("memory@example.org", re.compile(r"[^@\s]+@[^@\s]+"))
_HOST = Format("example.org", re.compile(r"[\w-]+(\.[\w-]+)*"))
_UUID = "5d1e3c7a-0f52-4b8e-9a63-1c2f70b4d800"
FORMATS: Mapping[str, Format] = {
    **dict.fromkeys(("uri", "iri", "url"), _URI),
    **dict.fromkeys(("uri-reference", "iri-reference"), Format(_URI.sample, re.compile(r"\S*"))),
    **dict.fromkeys(("email", "idn-email"), _EMAIL),
    **dict.fromkeys(("hostname", "idn-hostname"), _HOST),
    "uuid": Format(_UUID, re.compile(r"[\da-fA-F]{8}(-[\da-fA-F]{4}){3}-[\da-fA-F]{12}")),
    "date-time": Format("2026-01-02T03:04:05Z", re.compile(f"{_DATE}[Tt]{_TIME}")),
    "date": Format("2026-01-02", re.compile(_DATE)),
    "time": Format("03:04:05Z", re.compile(_TIME)),
    "duration": Format("P1D", re.compile(r"P[\dYMWDTHS.]+")),
    "ipv4": Format("192.0.2.1", re.compile(r"\d+(\.\d+){3}")),
    "ipv6": Format("2001:db8::1", re.compile(r"[\da-fA-F:.]*:[\da-fA-F:.]*")),
    "json-pointer": Format("/memory", re.compile(r"(/.*)?")),
}
"""Formats of texts by their names; ``url`` is not in JSON Schema, but is used in practice."""


def may_have_format(text: str, schema: Mapping[str, Any]) -> bool:
    """Return whether a text may have the format that a schema names; True if it names no known format."""
    known = FORMATS.get(str(schema.get("format")))
    return known is None or known.pattern.fullmatch(text) is not None
