"""What goes into the interceptor and what comes out of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from lro_spec.messages import JqRecipe, OffloadResponse


class Lines(Protocol):
    """Records as they are written, one JSON text each: counted, and read as often as needed, but maybe never kept."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[bytes]: ...


class Records(Protocol):
    """Parsed records: counted, and read as often as needed, but maybe never kept."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Mapping[str, Any]]: ...


@runtime_checkable
class InBlocks(Protocol):
    """Lines that are quicker to write many at a time."""

    def blocks(self) -> Iterator[bytes]:
        """All lines in order, several in each block with line feeds between them."""
        ...


class Guide(Protocol):
    """What a reader is told of the records and of their file."""

    top: tuple[str, ...]
    """The most frequent values of what groups the records best, at most five."""
    noun: str
    """What the records are, in the plural."""
    narrower: str
    """How a caller asks for less, as a sentence."""

    def recipes(self, path: str) -> Sequence[JqRecipe]:
        """Commands that extract something from the file."""
        ...

    def guidance(self, path: str, tokens: int, recipes: Sequence[JqRecipe]) -> str:
        """Advice in a few sentences."""
        ...


@dataclass(frozen=True, slots=True)
class ResultSet:
    """What an operation found, complete and before any budget."""

    operation: str
    detail: str
    records: Records
    """At the requested detail level."""
    line_schema: Mapping[str, Any]
    """JSON Schema of every record."""
    schema_version: str
    """The MIF version of the records."""
    query: str | None = None
    scores: Sequence[float] | None = None
    """One a record, where the operation ranks."""
    lines: Lines | None = None
    """The records just as they are to be written; left out, they are serialised."""
    tokens: int | None = None
    """What the result costs a reader when it stays inline; left out, what its lines cost."""
    extra: Mapping[str, Any] | None = None
    """What belongs to the result and is no record; the header holds it."""
    guide: Guide | None = None
    """Left out, the records are memories: standard recipes, top namespaces."""


@dataclass(frozen=True, slots=True)
class Inline:
    """The result as usual: every record, one JSON text each."""

    lines: Lines


@dataclass(frozen=True, slots=True)
class Offloaded:
    """The records are in a file; this goes to the assistant instead."""

    response: OffloadResponse


@dataclass(frozen=True, slots=True)
class Truncated:
    """The file could not be written: the leading records that fit the threshold, and a warning."""

    lines: Sequence[bytes]
    total: int
    """How many records there were."""
    warning: str


Outcome = Inline | Offloaded | Truncated
