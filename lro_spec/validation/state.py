"""What is known of an offloaded file while it is read, and who reads along."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from lro_spec.findings import Finding
from lro_spec.jsonl.lines import Block, PhysicalLine
from lro_spec.schema.fast import Gate
from lro_spec.validation.asked import Asked
from lro_spec.validation.duplicates import SeenIds


class RecordReader(Protocol):
    """Takes in the records of a file while it is validated, and may have something to say about them."""

    schema: object
    """What it holds every record against; None for nothing."""

    def take(self, records: list[dict[str, Any]], block: Block, fit: bool) -> Iterator[Finding]:
        """The objects of consecutive record lines, in the order of the file; *fit* where all satisfy `schema`."""
        ...


@dataclass(slots=True)
class FileState:
    """What is known of a file so far, and at its end."""

    edition: str
    reader: RecordReader | None = None
    header: dict[str, Any] | None = None
    header_line: PhysicalLine | None = None
    lines: int = 0
    """How many lines there are, the header's among them."""
    records: int = 0
    """How many of them count as records."""
    detail: str | None = None
    memories: bool = True
    """Whether the records are memories; others only have to be objects."""
    part: str = "any"
    """The part of the line schema that holds at this detail level."""
    carriage_return_told: bool = False
    missing: set[str] = field(default_factory=set[str])
    """Of the fields that full detail has, those that no record had yet (I-04)."""
    objects: bool = False
    """Whether one of the records was an object, as far as fields were looked for."""
    ids: SeenIds = field(default_factory=SeenIds)
    gate: Gate | None = None
    """Lets through lists of what is surely a record of this part, where there is such a thing."""
    joint: Gate | None = None
    """The same for what satisfies the reader's schema too, where one look can tell both."""
    doubtful: bool = False
    """Whether a line could not be read, so that its record, or how many there are in it, is not known."""
    asked: Asked | None = None
    """The call that the file answers, where that is known."""
    opaque: bool = False
    """Whether the record of some line is not known, though it is one."""
