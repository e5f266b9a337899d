"""The state of a file's validation, and the interface of a reader of its records."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from lro_spec.findings import Finding
from lro_spec.jsonl.lines import Block, PhysicalLine
from lro_spec.schema.fast import FastValidator
from lro_spec.validation.duplicates import SeenIds
from lro_spec.validation.request import Request


class RecordReader(Protocol):
    """Receives the records of a file while it is validated, and may yield findings about them."""

    schema: object
    """The schema of every record; None for no schema."""

    def take(
        self, records: list[dict[str, Any]], block: Block, satisfied: bool, reported: Collection[str] = ()
    ) -> Iterator[Finding]:
        """Receives the objects of consecutive record lines.

        *satisfied* is True if all of the records are known to satisfy `schema`, and False if that has not been checked.
        *reported* has JSON pointers to values of which a violation has been reported already. It is given only with a
        single record.
        """
        ...


@dataclass(frozen=True, slots=True)
class RecordCount:
    """The number of records of a file, as far as it is known."""

    minimum: int
    maximum: float
    """Infinity if the end of the file is unknown."""

    @property
    def exact(self) -> int | None:
        """The number of records. None if several numbers are possible."""
        return self.minimum if self.minimum == self.maximum else None

    def admits(self, number: object) -> bool:
        """True if the file may have *number* records."""
        return isinstance(number, int | float) and self.minimum <= number <= self.maximum

    def __str__(self) -> str:
        if self.exact is not None:
            return f"{self.exact}, the number of record lines"
        if math.isinf(self.maximum):
            return f"at least {self.minimum}, as the end of the file is unknown"
        return f"{self.minimum} to {self.maximum}, depending on what the unreadable lines are"


ANY_NUMBER = RecordCount(0, math.inf)
"""The number of records of a file that could not be read to its end."""


@dataclass(slots=True)
class FileState:
    """Facts about the part of a file that was read."""

    edition: str
    reader: RecordReader | None = None
    header: dict[str, Any] | None = None
    header_line: PhysicalLine | None = None
    lines: int = 0
    """Number of lines, including the header."""
    records: int = 0
    """Number of lines that count as records."""
    stated_detail: str | None = None
    """The detail level in the summary of the file's descriptor. None if there is no descriptor, or no level in it."""
    detail: str | None = None
    """The detail level of the records: the level of the request or, if no request is known, the level in the header.
    None if this level is not stated, or if no request is known and header and summary do not agree."""
    memories: bool = True
    """True if the records are memories; other records only have to be objects."""
    part: str = "any"
    """The part of the line schema that applies at the level in `detail`."""
    carriage_return_reported: bool = False
    missing: set[str] = field(default_factory=set[str])
    """Fields of full detail that no record has had so far (I-04); empty at other levels."""
    first_record: tuple[PhysicalLine, dict[str, Any]] | None = None
    """The first record that is an object, with its line; only set while fields are missing."""
    ids: SeenIds = field(default_factory=SeenIds)
    record_validator: FastValidator | None = None
    """Accepts lists of records that are valid under `part` of the line schema. None if the records are not memories."""
    joint_validator: FastValidator | None = None
    """Accepts lists of records that are valid both under `part` of the line schema and under the reader's schema. None
    if there is no reader, if the records are not memories, or if the two schemas cannot be combined."""
    request: Request | None = None
    """The request that the file answers, if it is known."""
    opaque: bool = False
    """True if the content of a record is unknown, because its line is too long or not an object, or if the end of the
    file is unknown."""
    uncertain_records: int = 0
    """Number of lines that are counted in `records` although they may not be records."""
    possible_extra_records: int = 0
    """Maximum number of further records in the lines that are counted in `uncertain_records`."""
    is_cut: bool = False
    """True if the end of the file is unknown."""

    @property
    def doubtful(self) -> bool:
        """True if the number of records is unknown, because the end of the file is unknown or a line may not be a
        record."""
        return self.is_cut or self.uncertain_records > 0

    @property
    def count(self) -> RecordCount:
        """The number of records. A line that cannot be read may be a part of a record, or contain several records."""
        if self.is_cut:
            return ANY_NUMBER
        return RecordCount(self.records - self.uncertain_records, self.records + self.possible_extra_records)
