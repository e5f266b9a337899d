"""Tools and their answers, and the check of a call's arguments against the tool's input schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Protocol, cast

from lro_reference.cancellation import Cancellation
from lro_reference.events import Emit
from lro_spec.messages import OffloadResponse

_MAX_LENGTH = 120


@dataclass(frozen=True, slots=True)
class Tool:
    """An entry of `tools/list`."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    reads_only: bool = True
    """True if calls change nothing; it is published as the hint ``readOnlyHint``."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call: text blocks, and a flag for errors."""

    texts: tuple[str, ...]
    is_error: bool = False
    meta: Mapping[str, Any] | None = None
    """The ``_meta`` for a proxy that offloads for this server."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", tuple(map(escape_unpaired_surrogates, self.texts)))


Ask = Callable[[str], str]
"""Sends a prompt to the client's language model (MCP sampling) and returns the answer."""
SendSampling = Callable[[dict[str, Any], float], object]
"""Sends the parameters of ``sampling/createMessage`` and returns the result; the number limits the wait, in seconds."""


class FileTools(Protocol):
    """Tools that read offloaded files, in addition to a server's own; `lro_proxy.tools` has four families of them."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The entries of `tools/list`."""
        ...

    def __contains__(self, name: object) -> bool: ...

    def ask_through(self, send: SendSampling) -> Ask:
        """An `Ask` over *send*, for clients that support sampling."""
        ...

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        ask: Ask | None = None,
        cancellation: Cancellation | None = None,
    ) -> Answer:
        """Call a tool. A refused call returns an answer with ``is_error``."""
        ...

    def publish(self, response: OffloadResponse) -> OffloadResponse:
        """Make the file of a descriptor readable by the tools; returns the descriptor with guidance that names them."""
        ...

    def report(self, emit: Emit) -> None:
        """Emit the usage of the tools, when the server ends."""
        ...


def escape_unpaired_surrogates(text: str) -> str:
    """The text with its unpaired surrogates, which cannot be encoded, replaced by their JSON escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


class BadCall(ValueError):
    """An invalid call; the message is for the caller."""


def find_tool(name: str, tools: Iterable[Tool]) -> Tool:
    """The tool of this name. Raises `BadCall`, whose message lists the existing tools, if there is none."""
    by_name = {tool.name: tool for tool in tools}
    if name not in by_name:
        raise BadCall(f"there is no tool {abbreviate(name)}; there are {', '.join(by_name)}")
    return by_name[name]


def with_defaults(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, completed by the defaults of the tool's input schema."""
    return {key: entry["default"] for key, entry in _properties(tool).items() if "default" in entry} | dict(arguments)


def check_arguments(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Check arguments against the tool's input schema. Raises `BadCall` for the first invalid one."""
    properties = _properties(tool)
    for key in tool.input_schema.get("required", ()):
        if key not in arguments:
            raise BadCall(f"{tool.name} needs the argument {key!r}")
    for key, value in arguments.items():
        if key not in properties:
            raise BadCall(f"{tool.name} has no argument {abbreviate(key)}; it has {', '.join(properties)}")
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
    """Check a value against a schema, which may have only the few keywords that these tools use.

    Raises `BadCall` if the value is invalid.
    """
    expected, noun = _TYPES[schema["type"]]
    if not _has_type(value, expected):
        raise BadCall(f"{where} must be {noun}, not {abbreviate(value)}")
    if "enum" in schema and value not in schema["enum"]:
        raise BadCall(f"{where} must be one of {', '.join(map(str, schema['enum']))}, not {abbreviate(value)}")
    if "minimum" in schema and value < schema["minimum"]:
        raise BadCall(f"{where} must be at least {schema['minimum']}, not {abbreviate(value)}")
    if "maximum" in schema and value > schema["maximum"]:
        raise BadCall(f"{where} must be at most {schema['maximum']}, not {abbreviate(value)}")
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
                raise BadCall(f"{where} has no {abbreviate(key)}; it has {', '.join(schema['properties'])}")
            check_value(f"{where}.{key}", schema["properties"][key], inner)


def _has_type(value: object, kind: type | tuple[type, ...]) -> bool:
    if isinstance(value, (bool, float)):
        return kind is bool if isinstance(value, bool) else isinstance(value, kind) and isfinite(value)
    return isinstance(value, kind)


def abbreviate(value: object) -> str:
    """The repr of a value for a message, cut to one line."""
    text = repr(value)
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"


def _properties(tool: Tool) -> Mapping[str, Mapping[str, Any]]:
    return cast("Mapping[str, Mapping[str, Any]]", tool.input_schema["properties"])
