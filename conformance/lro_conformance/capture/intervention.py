"""Interventions of the suite between two calls of a sequence. They change the output folder of a server, or its
process."""

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
"""Shell commands that make a folder unusable, by the kind of intervention."""


@dataclass(frozen=True)
class Intervention:
    """One intervention."""

    kind: str
    """A key of `BREAKING`, or another constant of this module."""
    ages: tuple[int, ...] = ()
    """If the folder was cleaned up: the ages, in seconds, of the copies of an offloaded file that the suite had put
    there."""
    operation: str = ""
    """The operation that the names of these copies contain."""
    request: int | None = None
    """The id of the request that triggered cleanup; None if no request did."""
    largest: int | None = None
    """Size, in bytes, of the largest file that the process may write after the intervention; None if there is no
    limit."""
