"""Events for operators: the memory server writes each as a JSON line to stderr, and logs it to the client.

The specification names the events `OffloadFileExpired` and `OffloadWriteFailed`, but no channel for them. An MCP server
over stdio has these two channels. The proxy only writes the lines.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

Level = Literal["debug", "info", "warning"]

FILE_WRITTEN = "OffloadFileWritten"
FILE_EXPIRED = "OffloadFileExpired"
WRITE_FAILED = "OffloadWriteFailed"


def timestamp(when: datetime | None = None) -> str:
    """A time (default: now) in ISO 8601, UTC, with milliseconds."""
    return (when or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Event:
    """An event, mostly in the life of an offloaded file."""

    name: str
    level: Level
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    at: str = field(default_factory=timestamp)

    def data(self) -> dict[str, object]:
        """The event as a JSON object: ``event``, ``at``, and the details."""
        return {"event": self.name, "at": self.at, **self.details}


Emit = Callable[[Event], None]


def to_stderr(event: Event) -> None:
    """Write the event as one JSON line; a closed stderr must not fail the operation."""
    try:
        sys.stderr.write(json.dumps({"level": event.level, **event.data()}) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass
