"""The facts about an offloaded file while it is validated, and a reader of its records."""

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
    """Receives the records of a file while it is validated, and may yield findings about them."""

    schema: object
    """The schema of every record; None for no schema."""

    def take(self, records: list[dict[str, Any]], block: Block, fit: bool) -> Iterator[Finding]:
        """Receives the objects of consecutive record lines; *fit* says that all satisfy `schema`."""
        ...


@dataclass(slots=True)
class FileState:
    """Facts about the part of a file that was read."""

    edition: str
    reader: RecordReader | None = None
    header: dict[str, Any] | None = None
    header_line: PhysicalLine | None = None
    lines: int = 0
    """Number of lines, with the header."""
    records: int = 0
    """Number of lines that count as records."""
    detail: str | None = None
    memories: bool = True
    """True if the records are memories; others only have to be objects."""
    part: str = "any"
    """The part of the line schema that holds at this detail level."""
    carriage_return_told: bool = False
    missing: set[str] = field(default_factory=set[str])
    """Fields of full detail that no record had yet (I-04)."""
    objects: bool = False
    """True if a record was an object, as long as fields are missing."""
    ids: SeenIds = field(default_factory=SeenIds)
    gate: Gate | None = None
    """Accepts lists of valid records of this part; None if the records are not memories."""
    joint: Gate | None = None
    """Accepts lists of records that satisfy the reader's schema, too; None if there is no such gate."""
    doubtful: bool = False
    """True if a line could not be read, so that the number of records is unknown."""
    asked: Asked | None = None
    """The call that the file answers, if that is known."""
    opaque: bool = False
    """True if the content of a record is unknown."""
