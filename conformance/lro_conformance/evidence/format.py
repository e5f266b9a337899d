"""File names and formats of recorded evidence (format ``lro-evidence/1``; docs/evidence.md)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from lro_conformance.judging.results import Report

FORMAT = "lro-evidence/1"
MANIFEST = "evidence.json"
"""The description of the run, with the checksums of all other files, except for those in `FILES`, whose names are their
checksums."""
CALLS = "calls.jsonl"
PROPERTIES = "properties.jsonl"
"""Results of property checks in evidence of earlier versions, which explored without keeping what they saw."""
TRIALS = "trials"
SERVERS = "servers"
FILES = "files"
"""Contents by their SHA-256, each stored once: files that servers wrote, and lines and outputs of more than
`INLINE_BYTES`."""
REPORT = "report.json"
START, TRANSCRIPT, END = "start.json", "transcript.jsonl", "end.json"

OWN = (MANIFEST, CALLS, PROPERTIES, TRIALS, SERVERS, FILES, REPORT)
"""All names that are allowed at the top of a folder of evidence."""

INLINE_BYTES = 16 << 10
"""Largest size in bytes of a line or an output that is recorded in place; a longer one has a file of its own."""

CHATTER_BYTES = 8 << 20
"""Largest number of bytes of unsolicited lines (stderr, notifications) that are recorded per server; requests and their
answers are always complete."""


class EvidenceError(Exception):
    """A folder is not evidence, was changed since it was recorded, or cannot be used; or a run was not fully recorded.

    The message is one line.
    """

    def __init__(self, message: str, report: Report | None = None) -> None:
        super().__init__(message)
        self.report = report
        """The report of the run that was not fully recorded; None if there was no run."""


def dumps(value: object, *, indent: int | None = None) -> str:
    """JSON for recording, which can always be written as UTF-8: if a text has a lone surrogate, the whole document is
    escaped to ASCII."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def as_text(data: bytes) -> dict[str, str]:
    """Bytes as a member of a JSON object: ``text`` if they are UTF-8, otherwise ``base64``."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def as_bytes(value: Mapping[str, Any]) -> bytes:
    """The bytes that `as_text` wrote. Raises `ValueError` for anything else."""
    if isinstance(value.get("text"), str):
        return cast("str", value["text"]).encode()
    if isinstance(value.get("base64"), str):
        return base64.b64decode(cast("str", value["base64"]), validate=True)
    raise ValueError("expected text or base64")
