"""The tools that perform operations, and their arguments. They are taken from the profile, or found among the tools
that the server lists."""

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
"""The operations of the default edition. `lro init` looks for them. If an edition lists no operations, these operations
are used in the names of planted files."""

TOOLS = {
    "recall": "recall_memories",
    "search": "search_memories",
    "inject": "inject_context",
    "list": "list_memories",
}
"""For each operation, the usual name of the tool that performs it. If an edition lists no operations, all operations in
this table are looked for."""
_TOOL_WORDS = {"recall": {"recall"}, "search": {"search"}, "inject": {"inject"}}
"""Words that occur in the names of tools that perform an operation. There are none for the operation list, because the
names of such tools vary too much."""
_BROAD_QUERIES = {"recall": "*", "search": "memory", "inject": "*", "list": "*"}
"""For each operation, a query that is likely to find many memories."""
_ARGUMENT_NAMES = {
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
"""Usual names of arguments by the kind of the argument, the most usual name first. "asks for full" and "asks for light"
are kinds of boolean arguments that choose a level of detail: true means full detail, or light detail."""


@dataclass(frozen=True)
class Operation:
    """A tool that performs an operation, and its arguments."""

    name: str
    tool: str
    arguments: Mapping[str, Any]
    """Arguments that are sent with every call. The query, limit, detail and budget of a call override them."""
    query: str | None
    limit: str | None
    detail: str | None
    budget: str | None
    details: tuple[str, ...]
    """The detail levels that the tool accepts, from light to full. Empty if the tool has no argument for the level."""
    limit_maximum: int | None
    """The largest limit that the tool accepts; None if that is not known."""
    output_schema: Mapping[str, Any] | None = field(default=None, repr=False)
    needs_detail: bool = False
    """True if the tool requires a detail level. Such a tool has no default level."""
    needs_query: bool = True
    """False if the schema of the tool shows that the tool can be called without a query."""
    levels: Mapping[str, DetailValue] = field(default_factory=dict[str, DetailValue])
    """Values of the argument `detail` by level; empty if the values are the names of the levels."""
    possible_details: Mapping[str, tuple[DetailValue, ...]] = field(default_factory=dict[str, tuple[DetailValue, ...]])
    """Arguments that may choose a level of detail, with their values. Empty if at least two levels are known, or if the
    profile says that there is no such argument."""

    possible_query: str | None = None
    """An argument that may be the query although its name is unusual: it is the tool's only required argument that
    takes any text. None if there is no such argument, if `query` is known, or if the profile says that the tool takes
    no query."""

    def detail_value(self, level: str) -> DetailValue:
        """Return the value of the detail argument for a level."""
        return self.levels.get(level, level)

    def with_levels(self, argument: str, levels: Mapping[str, DetailValue]) -> Operation:
        """Return this operation with an argument for its level of detail, and the values of this argument by level."""
        return replace(self, detail=argument, details=tuple(levels), levels=levels, possible_details={})

    def with_query(self, argument: str) -> Operation:
        """Return this operation with an argument for its query."""
        return replace(self, query=argument, possible_query=None)


class NoSuchTool(ValueError):
    """Raised if the server lists no tool of a name. The message names the tools that the server lists."""


def resolve(
    profile: Profile, tools: Sequence[Mapping[str, Any]], known: Iterable[str] = OPERATIONS
) -> dict[str, Operation]:
    """Return those of the *known* operations that the server has, by name. If the profile has the key ``operations``,
    these are the operations that it names. Otherwise, they are the operations for which a listed tool has a matching
    name."""
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
    """Return operations, with arguments that are chosen by the schemas of their tools.

    *tools* has the name of a tool for each operation. Raises `NoSuchTool` if a tool is not listed.
    """
    return {name: _operation(name, listed_tool(tool, listed)) for name, tool in tools.items()}


def listed_tool(name: str, listed: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the listed tool of this name. Raises `NoSuchTool` if there is none."""
    by_name = {str(t.get("name")): t for t in listed}
    if name not in by_name:
        raise NoSuchTool(f"the server lists no tool {name}; it lists {', '.join(by_name) or 'none'}")
    return by_name[name]


def _operation(name: str, tool: Mapping[str, Any], named: Named | None = None) -> Operation:
    """Return an operation. Arguments that the profile does not name are chosen by the tool's schema.

    *named* is the operation in the profile. If the profile gives an argument a value, the argument has this value in
    every call, so it is not chosen as limit, query or detail.
    """
    properties, required = properties_of(tool), required_of(tool)
    fixed_arguments: Mapping[str, Any] = named.arguments if named is not None else {}
    candidates = {n: node for n, node in properties.items() if n not in fixed_arguments}

    def argument(kind: str, among: Mapping[str, Any] = candidates) -> str | None:
        if named is not None and (kind in named.without or getattr(named, kind) is not None):
            return getattr(named, kind)
        return _argument(kind, among)

    query, limit = argument("query"), argument("limit")
    may_take_query = named is None or "query" not in named.without
    if limit is None and (named is None or "limit" not in named.without):
        limit = next((n for n, node in candidates.items() if _is_largest_number(n, node)), None)
    detail = argument("detail")
    may_take_detail = named is None or "detail" not in named.without
    if detail is None and may_take_detail:
        detail = next((n for n, node in candidates.items() if _names_levels(node)), None)
    details: tuple[str, ...] = ()
    levels: Mapping[str, DetailValue] = {}
    if detail is not None:
        details, levels = _details(detail, properties.get(detail, {}), named)
    if not details and (named is None or named.detail is None):
        detail = None
    arguments: dict[str, Any] = {}
    if query is not None and (named is None or query in required):
        arguments[query] = _BROAD_QUERIES[name]
    for other in required:
        if other not in arguments and other not in (limit, detail):
            arguments[other] = sample_value(properties.get(other, {}))
    return Operation(
        name=name,
        tool=str(tool.get("name")),
        arguments={**_needed_detail(name, detail, details, levels, tool), **arguments, **fixed_arguments},
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
        possible_details=_possible_details(candidates) if len(details) < 2 and may_take_detail else {},
        possible_query=_possible_query(properties, required) if query is None and may_take_query else None,
    )


def _possible_query(properties: Mapping[str, Any], required: Sequence[str]) -> str | None:
    """Return the required argument of a tool that takes any text; None if there is no such argument, or more than one.
    The profile may give the argument a value."""
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
    """If the tool requires a level of detail, return the detail argument with the specified default level. It is used
    for calls that do not choose a level. Otherwise return no arguments."""
    if detail is None or not details or detail not in required_of(tool):
        return {}
    default_level = "medium" if name == "inject" else "light"
    default_level = default_level if default_level in details else details[0]
    return {detail: levels.get(default_level, default_level)}


def matching_tool(name: str, listed: Iterable[str]) -> str | None:
    """Return the name of the listed tool that performs an operation; None if there is no such tool. It is the usual
    name or, if that is not listed, a name that has one of the operation's words and no verb of change."""
    names = list(listed)
    if TOOLS[name] in names:
        return TOOLS[name]
    similar = (t for t in names if _TOOL_WORDS.get(name, set()) & _words_of(t) and not _CHANGE_VERBS & _words_of(t))
    return next(similar, None)


def hinted_tool(name: str, tools: Sequence[Mapping[str, Any]], known: Collection[str]) -> Mapping[str, Any] | None:
    """Return a tool whose name, or else whose description, hints at an operation; None if there is no such tool.
    *known* are the names of tools that are not considered.

    Tools whose names say that they change something are ignored.
    """
    candidates = [t for t in tools if t.get("name") not in known and not _CHANGE_VERBS & _words_of(str(t.get("name")))]
    texts = ((t, str(t.get(key) or "")) for key in ("name", "description") for t in candidates)
    return next((tool for tool, text in texts if _HINT_WORDS[name] & _words_of(text)), None)


_HINT_WORDS = {
    "recall": {"recall", "recalls", "retrieve", "retrieves", "remember", "remembers", "list", "lists"},
    "search": {"search", "searches", "find", "finds", "query", "queries", "lookup"},
    "inject": {"inject", "injects", "context", "prompt"},
}


def reading_tools(
    tools: Sequence[Mapping[str, Any]], known: Collection[str]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield tools that seem to search or recall, and to change nothing. *known* are the names of tools that are left
    out.

    For each tool, its name, the operation and the arguments for a call are yielded. The name of such a tool has a verb
    such as find or list. A tool that searches requires at most a query, and a tool that recalls requires no argument.
    """
    for tool in tools:
        name, required = str(tool.get("name")), set(required_of(tool))
        words, query = _words_of(name), _argument("query", properties_of(tool))
        changes = words & _CHANGE_VERBS or as_record(tool.get("annotations")).get("readOnlyHint") is False
        if name in known or changes:
            continue
        if query is not None and words & _SEARCH_VERBS and required <= {query}:
            yield name, "search", {query: _BROAD_QUERIES["search"]}
        elif words & _READ_VERBS and not required:
            yield name, "recall", {}


def storing_tools(tools: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return tools that seem to store something, by the first verb of their names: store_memory, addNote,
    memory-create."""
    verbs = (
        (tool, [w for w in _word_list(str(tool.get("name"))) if w in _STORE_VERBS | _READ_VERBS]) for tool in tools
    )
    return [tool for tool, found in verbs if found and found[0] in _STORE_VERBS]


_SEARCH_VERBS = {"query", "find", "lookup", "retrieve"}
_READ_VERBS = {*_SEARCH_VERBS, "fetch", "get", "inspect", "list", "read", "recall", "search", "show"}
_STORE_VERBS = {"add", "capture", "create", "insert", "memorize", "put", "remember", "save", "store", "write"}
_CHANGE_VERBS = {
    *_STORE_VERBS,
    *("archive", "cancel", "clear", "delete", "edit", "forget", "merge", "move", "purge"),
    *("remove", "replace", "set", "start", "stop", "update"),
}
"""Verbs in the names of tools that change something. Also verbs of tools that return no results, such as a tool that
only starts a search."""


def _words_of(name: str) -> set[str]:
    return set(_word_list(name))


def _word_list(name: str) -> list[str]:
    """Return the words of a name or a text, in lower case. Words in camelCase are split, too."""
    return re.split(r"[^a-z]+", re.sub(r"([A-Z])", r"_\1", name).lower())


def properties_of(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a listed tool, each with its schema.

    A reference to a definition in the tool's schema is replaced by that definition.
    """
    schema = as_record(tool.get("inputSchema"))
    return {name: _resolved(as_record(node), schema) for name, node in as_record(schema.get("properties")).items()}


def _resolved(node: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    reference = _DEFINITION.fullmatch(str(node.get("$ref")))
    definition = (
        as_record(as_record(schema.get(reference["place"])).get(reference["name"])) if reference is not None else {}
    )
    return {**definition, **{k: v for k, v in node.items() if k != "$ref"}} if definition else node


_DEFINITION = re.compile(r"#/(?P<place>\$defs|definitions)/(?P<name>[^/~%]+)")


def required_of(tool: Mapping[str, Any]) -> list[str]:
    """Return the names of the required arguments of a listed tool."""
    schema = tool.get("inputSchema")
    required = cast("dict[str, Any]", schema).get("required") if isinstance(schema, dict) else None
    return [r for r in cast("list[Any]", required) if isinstance(r, str)] if isinstance(required, list) else []


def _argument(kind: str, properties: Mapping[str, Any]) -> str | None:
    return next(iter(_arguments(kind, properties)), None)


def _arguments(kind: str, properties: Mapping[str, Any]) -> list[str]:
    """Return the arguments whose names are usual for this kind of argument (`_ARGUMENT_NAMES`), the most usual name
    first."""
    names_by_plain_name = {plain_name(name): name for name in [*properties][::-1]}
    return [
        n if n in properties else names_by_plain_name[plain_name(n)]
        for n in _ARGUMENT_NAMES[kind]
        if plain_name(n) in names_by_plain_name
    ]


def _is_largest_number(name: str, schema: object) -> bool:
    """True for a number that seems to limit how many records are returned. Its name has max and a plural, such as
    maxArticles, but the plural is not a unit."""
    first, *others = re.findall(r"[A-Z]?[a-z]+", name) or [""]
    counts = first.lower() in ("max", "maximum") and bool(others) and others[-1].lower().endswith("s")
    is_integer = isinstance(schema, dict) and cast("dict[str, Any]", schema).get("type") in ("integer", "number")
    return counts and is_integer and others[-1].lower() not in _UNIT_WORDS


_UNIT_WORDS = frozenset(
    ("tokens", "characters", "chars", "words", "bytes", "days", "hours", "minutes", "seconds", "lines")
)
"""Plurals that show that an argument limits a size or a time, and not the number of records."""


def plain_name(name: str) -> str:
    """Return a name in lower case, with letters and digits only. It is the same for max_results, maxResults and
    max-results."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _details(argument: str, schema: Any, named: Named | None) -> tuple[tuple[str, ...], Mapping[str, DetailValue]]:
    """Return the levels that a detail argument accepts, and its values by level. There are no values if they are the
    names of the levels.

    If the profile names levels, they are used. Otherwise, a boolean argument accepts the least and the most detailed
    level. An argument with an enumeration accepts the levels in the enumeration. Any other argument accepts all levels.
    """
    if named is not None and named.levels:
        return tuple(named.levels), named.levels
    if _is_boolean(schema):
        levels = flag_levels(argument)
        return tuple(levels), levels
    options = enumeration_of(schema)
    return DETAILS if options is None else tuple(d for d in DETAILS if d in options), {}


def flag_levels(argument: str) -> Mapping[str, DetailValue]:
    """Return the values of a boolean argument by level. True means light detail if the argument's name asks for little,
    such as ``brief``; otherwise it means full detail."""
    is_for_light = plain_name(argument) in {plain_name(n) for n in _ARGUMENT_NAMES["asks for light"]}
    return {"light": is_for_light, "full": not is_for_light}


def levels_of(values: Sequence[DetailValue]) -> dict[str, DetailValue]:
    """Return two or three values by level. The values are in the order of growing detail; two values mean light and
    full."""
    return dict(zip(DETAILS if len(values) > 2 else (DETAILS[0], DETAILS[-1]), values, strict=True))


def _possible_details(properties: Mapping[str, Any]) -> dict[str, tuple[DetailValue, ...]]:
    """Return arguments that may choose a level of detail, with their values: booleans, and enumerations of two or three
    words.

    An enumeration that has the name of a notation, such as json, is left out, because it chooses the notation.
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
    """Return the values that are enumerated by a schema, or by the members of its union. None if there is no
    enumeration."""
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
    """Return a value that a schema probably admits. It is the schema's constant, default or first enumerated value, or
    a value of its type and format. If all of these are missing, it is "memory". Other keywords, such as ``minimum``,
    are ignored."""
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
    """Return the alternatives of a union, each with the keywords next to the union. Without a union, return the schema
    itself."""
    for union in ("anyOf", "oneOf"):
        members: object = schema.get(union)
        if isinstance(members, list) and members:
            shared_keywords = {k: v for k, v in schema.items() if k != union}
            return [{**shared_keywords, **as_record(member)} for member in cast("list[Any]", members)]
    return [schema]


def types_of(schema: Mapping[str, Any]) -> list[str]:
    """Return the JSON types that a schema names outside of unions. A schema with a known format, but without a type, is
    a string."""
    type_names: Any = schema.get("type", "string" if str(schema.get("format")) in FORMATS else None)
    kinds = cast("list[Any]", type_names) if isinstance(type_names, list) else [type_names]
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
    """A coarse test: it matches all texts that have the format, and some other texts, too."""


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
"""Formats of texts by their names. JSON Schema does not define ``url``, but it is used in practice."""


def may_have_format(text: str, schema: Mapping[str, Any]) -> bool:
    """Return whether a text may have the format that a schema names. If the schema names no known format, return
    True."""
    known = FORMATS.get(str(schema.get("format")))
    return known is None or known.pattern.fullmatch(text) is not None
