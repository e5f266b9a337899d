"""The messages of Large Result Offloading: a file's header, and the descriptor that replaces a result.

Each class reads itself from parsed JSON (`from_dict`) and writes itself with the keys of the specification (`to_dict`).
A descriptor also writes the members in `further`. Reading is lenient about details that do not matter (unknown keys,
3.0 for 3). The text of a `MessageError` begins with the JSON pointer to the invalid value. `lro_spec.discovery` finds a
descriptor in the result of a tool call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from lro_spec.discovery import FoundDescriptor, find_descriptor

__all__ = [
    "FoundDescriptor",
    "JqRecipe",
    "MessageError",
    "OffloadHeader",
    "OffloadResponse",
    "OffloadSummary",
    "find_descriptor",
]

HEADER_TYPE = "lro_header"


class MessageError(ValueError):
    """A message does not have the shape of the specification."""

    def __init__(self, pointer: str, expected: str, observed: object) -> None:
        observed_text = repr(observed)
        if len(observed_text) > 80:
            observed_text = observed_text[:79] + "…"
        super().__init__(f"{pointer or '/'}: expected {expected}, got {observed_text}")
        self.pointer = pointer
        """JSON pointer (RFC 6901) to the invalid value. It is empty if the value is the message itself."""


@dataclass(frozen=True, slots=True)
class OffloadHeader:
    """The first line of an offloaded file (section "Header Line")."""

    operation: str
    count: int
    """Number of record lines that follow."""
    schema_version: str
    """The MIF version of the records."""
    timestamp: str
    """Time of writing, ISO 8601."""
    estimated_tokens: int
    """The estimate for the whole result set, in tokens."""
    detail: str
    query: str | None = None
    """The query of the call; None if it had none."""

    @classmethod
    def from_dict(cls, value: object) -> OffloadHeader:
        """Reads parsed JSON. Raises `MessageError` if it is malformed."""
        reader = _Reader(value)
        if reader.get("type") != HEADER_TYPE:
            raise MessageError("/type", repr(HEADER_TYPE), reader.get("type"))
        return cls(
            operation=reader.text("operation"),
            count=reader.count("count"),
            schema_version=reader.text("schema_version"),
            timestamp=reader.text("timestamp"),
            estimated_tokens=reader.count("estimated_tokens"),
            detail=reader.text("detail"),
            query=None if reader.get("query") is None else reader.text("query"),
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of the line."""
        return {
            "type": HEADER_TYPE,
            "operation": self.operation,
            "query": self.query,
            "count": self.count,
            "schema_version": self.schema_version,
            "timestamp": self.timestamp,
            "estimated_tokens": self.estimated_tokens,
            "detail": self.detail,
        }


@dataclass(frozen=True, slots=True)
class OffloadSummary:
    """Summary of the file for a reader who does not open it (section "Inline Response Format")."""

    count: int
    estimated_tokens: int
    """Tokens saved: the estimate of the result set, with or without the descriptor's own cost subtracted."""
    operation: str
    top_namespaces: tuple[str, ...]
    """The most frequent namespaces, at most five."""
    detail: str
    score_range: tuple[float, float] | None = None
    """Lowest and highest score, if the records have scores."""

    @classmethod
    def from_dict(cls, value: object, pointer: str = "") -> OffloadSummary:
        """Reads parsed JSON, whose place in the message is *pointer*. Raises `MessageError` if it is malformed."""
        reader = _Reader(value, pointer)
        return cls(
            count=reader.count("count"),
            estimated_tokens=reader.count("estimated_tokens"),
            operation=reader.text("operation"),
            top_namespaces=tuple(
                _text(item, f"{pointer}/top_namespaces/{i}") for i, item in enumerate(reader.items("top_namespaces"))
            ),
            detail=reader.text("detail"),
            score_range=_range(reader.get("score_range"), f"{pointer}/score_range"),
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "count": self.count,
            "estimated_tokens": self.estimated_tokens,
            "operation": self.operation,
            "top_namespaces": list(self.top_namespaces),
            "score_range": None if self.score_range is None else list(self.score_range),
            "detail": self.detail,
        }


@dataclass(frozen=True, slots=True)
class JqRecipe:
    """A command that extracts something from the file."""

    description: str
    command: str
    """A shell command, with the real path of the file in it."""

    @classmethod
    def from_dict(cls, value: object, pointer: str = "") -> JqRecipe:
        """Reads parsed JSON, whose place in the message is *pointer*. Raises `MessageError` if it is malformed."""
        reader = _Reader(value, pointer)
        return cls(description=reader.text("description"), command=reader.text("command"))

    def to_dict(self) -> dict[str, Any]:
        """The JSON object."""
        return {"description": self.description, "command": self.command}


@dataclass(frozen=True, slots=True)
class OffloadResponse:
    """The descriptor: what a tool returns instead of a result that is too large (section "Inline Response Format")."""

    summary: OffloadSummary
    file_path: str
    """Absolute path of the offloaded file."""
    line_schema: Mapping[str, Any]
    """JSON Schema of a record line."""
    jq_recipes: tuple[JqRecipe, ...]
    guidance: str
    offloaded: bool = True
    further: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Members that the specification allows but does not define (I-28). `from_dict` ignores them."""

    @classmethod
    def from_dict(cls, value: object) -> OffloadResponse:
        """Reads parsed JSON. Raises `MessageError` if it is malformed, or if `offloaded` is not true."""
        reader = _Reader(value)
        if reader.get("offloaded") is not True:
            raise MessageError("/offloaded", "true", reader.get("offloaded"))
        return cls(
            summary=OffloadSummary.from_dict(reader.get("summary"), "/summary"),
            file_path=reader.text("file_path"),
            line_schema=_object(reader.get("line_schema"), "/line_schema"),
            jq_recipes=tuple(
                JqRecipe.from_dict(item, f"/jq_recipes/{i}") for i, item in enumerate(reader.items("jq_recipes"))
            ),
            guidance=reader.text("guidance"),
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "offloaded": self.offloaded,
            "summary": self.summary.to_dict(),
            "file_path": self.file_path,
            **self.further,
            "line_schema": dict(self.line_schema),
            "jq_recipes": [recipe.to_dict() for recipe in self.jq_recipes],
            "guidance": self.guidance,
        }


class _Reader:
    """Typed access to the members of one JSON object."""

    def __init__(self, value: object, pointer: str = "") -> None:
        self._members = _object(value, pointer)
        self._pointer = pointer

    def get(self, key: str) -> object:
        return self._members.get(key)

    def text(self, key: str) -> str:
        return _text(self.get(key), f"{self._pointer}/{key}")

    def count(self, key: str) -> int:
        value = self.get(key)
        whole = (isinstance(value, int) and not isinstance(value, bool)) or (
            isinstance(value, float) and value.is_integer()
        )
        if not whole or cast("float", value) < 0:
            raise MessageError(f"{self._pointer}/{key}", "a whole number, 0 or more", value)
        return int(cast("float", value))

    def items(self, key: str) -> Sequence[object]:
        value = self.get(key)
        if not isinstance(value, (list, tuple)):
            raise MessageError(f"{self._pointer}/{key}", "an array", value)
        return cast("Sequence[object]", value)


def _text(value: object, pointer: str) -> str:
    if not isinstance(value, str):
        raise MessageError(pointer, "a string", value)
    return value


def _object(value: object, pointer: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise MessageError(pointer, "an object", value)
    return cast("Mapping[str, Any]", value)


def _range(value: object, pointer: str) -> tuple[float, float] | None:
    if value is None:
        return None
    match value:
        case [int() | float() as low, int() | float() as high] if low <= high and bool not in (type(low), type(high)):
            return low, high
        case _:
            raise MessageError(pointer, "null or [lowest, highest]", value)
