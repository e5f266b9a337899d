"""A tool as it is listed, what a call returns, and whether its arguments are what the tool has promised to take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, cast

_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is listed."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    reads_only: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call returns: text blocks, and whether they tell of an error."""

    texts: tuple[str, ...]
    is_error: bool = False
    meta: Mapping[str, Any] | None = None
    """For a proxy, which offloads in this server's stead."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", tuple(map(writable, self.texts)))


def writable(text: str) -> str:
    """The text; half a surrogate pair, which no encoding has, as the escape that JSON has for it."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


class BadCall(ValueError):
    """A call that cannot be made; the message is for the caller."""


def tool_named(name: str, tools: Iterable[Tool]) -> Tool:
    """The tool of this name. Raises `BadCall`, which names those that there are."""
    known = {tool.name: tool for tool in tools}
    if name not in known:
        raise BadCall(f"there is no tool {shown(name)}; there are {', '.join(known)}")
    return known[name]


def with_defaults(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, and the defaults of those that are left out."""
    return {key: entry["default"] for key, entry in _properties(tool).items() if "default" in entry} | dict(arguments)


def check_arguments(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Raises `BadCall` for an argument that the tool's input schema does not allow."""
    properties = _properties(tool)
    for key in tool.input_schema.get("required", ()):
        if key not in arguments:
            raise BadCall(f"{tool.name} needs the argument {key!r}")
    for key, value in arguments.items():
        if key not in properties:
            raise BadCall(f"{tool.name} has no argument {shown(key)}; it has {', '.join(properties)}")
        check_value(f"{tool.name}: {key}", properties[key], value)


_TYPES: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "string": (str, "a string"),
    "integer": (int, "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": (bool, "true or false"),
    "object": (dict, "an object"),
    "array": (list, "an array"),
}


def check_value(where: str, schema: Mapping[str, Any], value: Any) -> None:
    """Raises `BadCall` for a value that a schema (of the few keywords that tools here use) does not allow."""
    kind, said = _TYPES[schema["type"]]
    if not _is(value, kind):
        raise BadCall(f"{where} must be {said}, not {shown(value)}")
    if "enum" in schema and value not in schema["enum"]:
        raise BadCall(f"{where} must be one of {', '.join(map(str, schema['enum']))}, not {shown(value)}")
    if "minimum" in schema and value < schema["minimum"]:
        raise BadCall(f"{where} must be at least {schema['minimum']}, not {shown(value)}")
    if "maximum" in schema and value > schema["maximum"]:
        raise BadCall(f"{where} must be at most {schema['maximum']}, not {shown(value)}")
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        raise BadCall(f"{where} must have at most {schema['maxLength']} characters, not {len(value)}")
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        raise BadCall(f"{where} must be valid Unicode, without half a surrogate pair")
    if "items" in schema:
        for place, item in enumerate(value):
            check_value(f"{where}[{place}]", schema["items"], item)
    if schema.get("additionalProperties") is False:
        for key, inner in cast("Mapping[str, Any]", value).items():
            if key not in schema["properties"]:
                raise BadCall(f"{where} has no {shown(key)}; it has {', '.join(schema['properties'])}")
            check_value(f"{where}.{key}", schema["properties"][key], inner)


def _is(value: object, kind: type | tuple[type, ...]) -> bool:
    if isinstance(value, (bool, float)):
        return kind is bool if isinstance(value, bool) else isinstance(value, kind) and isfinite(value)
    return isinstance(value, kind)


def shown(value: object) -> str:
    """A value as a message shows it: never longer than a line."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _properties(tool: Tool) -> Mapping[str, Mapping[str, Any]]:
    return cast("Mapping[str, Mapping[str, Any]]", tool.input_schema["properties"])
