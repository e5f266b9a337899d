"""Interventions of the suite between two calls of a sequence: in the output folder of a server, or in its process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

REPLACED, REMOVED, PARENT_REPLACED, READ_ONLY = "replaced by a file", "removed", "parent replaced", "read-only"
FROM_START = "a file from the start"
SIZE_LIMIT = "file-size limit"
MENDED = "mended"
CLEANED_UP = "cleaned up"
RESTARTED = "restarted"

BREAKING: Mapping[str, str] = {
    REPLACED: "rm -rf {folder}; printf 'in the way\\n' > {folder}",
    REMOVED: "rm -rf {folder}",
    PARENT_REPLACED: "rm -rf {parent}; printf 'in the way\\n' > {parent}",
    READ_ONLY: "chmod 500 {folder}",
}
"""Shell commands that break a folder, by the kind of failure."""


@dataclass(frozen=True)
class Intervention:
    """One intervention."""

    kind: str
    """A key of `BREAKING`, or another of the constants above."""
    ages: tuple[int, ...] = ()
    """Ages, in seconds, of the copies of an offloaded file that lay in the folder when it was cleaned up."""
    operation: str = ""
    """The operation in the names of these copies."""
    request: int | None = None
    """The id of the request that triggered cleanup; None if none did."""
    largest: int | None = None
    """The largest file that the process may write from here on, in bytes; None if there is no limit."""
