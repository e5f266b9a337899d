"""Input and outcomes of the interceptor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from lro_spec.messages import JqRecipe, OffloadResponse


class Lines(Protocol):
    """Serialised records, one JSON text each. They can be counted, and iterated repeatedly; they need not be in
    memory."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[bytes]: ...


class Records(Protocol):
    """Parsed records. They can be counted, and iterated repeatedly; they need not be in memory."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Mapping[str, Any]]: ...


@runtime_checkable
class BlockLines(Protocol):
    """Lines that are faster to write many at a time."""

    def blocks(self) -> Iterator[bytes]:
        """All lines in order, several in each block, separated by line feeds."""
        ...


class Guide(Protocol):
    """The parts of a descriptor that explain the records and their file to a reader."""

    top_values: tuple[str, ...]
    """The most frequent values of the field that groups the records best, at most five."""
    noun: str
    """Plural noun for the records, such as "memories"."""
    advice_to_narrow: str
    """Advice on requesting fewer records, as a sentence."""

    def recipes(self, path: str) -> Sequence[JqRecipe]:
        """The jq recipes for the file at *path*."""
        ...

    def guidance(self, path: str, tokens: int, recipes: Sequence[JqRecipe]) -> str:
        """The guidance of the descriptor: advice on using the file, in a few sentences."""
        ...


@dataclass(frozen=True, slots=True)
class ResultSet:
    """The complete result of an operation, before any token budget is applied."""

    operation: str
    detail: str
    records: Records
    """The records at the requested detail level."""
    line_schema: Mapping[str, Any]
    """JSON Schema of every record."""
    schema_version: str
    """The MIF version of the records."""
    query: str | None = None
    scores: Sequence[float] | None = None
    """One score per record; None if the records have no scores."""
    lines: Lines | None = None
    """The serialised records. If None, the interceptor serialises `records`."""
    tokens: int | None = None
    """Estimated tokens of the inline result. If None, the interceptor estimates its lines."""
    extra: Mapping[str, Any] | None = None
    """Data of the result that belongs to no record. It goes to the file's header."""
    on_chunk: Callable[[bytes], object] = lambda chunk: None
    """Receives everything that is written to the file, in pieces of some whole lines each."""
    guide: Guide | None = None
    """Explains the records. If None, they are memories, explained by the standard recipes and their top namespaces."""


@dataclass(frozen=True, slots=True)
class Inline:
    """A result within the threshold: every record, one JSON text each."""

    lines: Lines


@dataclass(frozen=True, slots=True)
class Offloaded:
    """A result above the threshold: the records are in a file, and the assistant receives its descriptor."""

    response: OffloadResponse


@dataclass(frozen=True, slots=True)
class Truncated:
    """A result whose file could not be written: the leading records that fit the threshold, and a warning."""

    lines: Sequence[bytes]
    total: int
    """Number of records of the complete result."""
    warning: str


Outcome = Inline | Offloaded | Truncated
