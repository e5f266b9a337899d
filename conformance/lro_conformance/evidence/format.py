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
"""The file that describes the run. It also has the checksums of all other files, except for the files in `FILES`: their
names are their checksums."""
CALLS = "calls.jsonl"
PROPERTIES = "properties.jsonl"
"""Results of property checks, only in evidence of earlier versions. Those versions of the suite explored the server
without recording what they saw."""
TRIALS = "trials"
SERVERS = "servers"
FILES = "files"
"""The folder of stored contents: files that servers wrote, and lines and outputs of more than `INLINE_BYTES`. Each
content is stored once, in a file named by its SHA-256."""
REPORT = "report.json"
START, TRANSCRIPT, END = "start.json", "transcript.jsonl", "end.json"

TOP_LEVEL_NAMES = (MANIFEST, CALLS, PROPERTIES, TRIALS, SERVERS, FILES, REPORT)
"""All names that are allowed at the top level of a folder of evidence."""

INLINE_BYTES = 16 << 10
"""Largest size in bytes of a line or an output that is recorded in place. A longer one is stored in a file of its
own."""

CHATTER_BYTES = 8 << 20
"""Largest number of bytes of unsolicited lines (stderr, notifications) that are recorded for each server. Requests and
their answers are always recorded completely."""


class EvidenceError(Exception):
    """Raised if a folder is not evidence, was changed since it was recorded, or cannot be used. Also raised if a run
    could not be recorded completely.

    The message is one line.
    """

    def __init__(self, message: str, report: Report | None = None) -> None:
        super().__init__(message)
        self.report = report
        """The report of the run that was not fully recorded; None if there was no run."""


def dumps(value: object, *, indent: int | None = None) -> str:
    """Return a value as JSON that can always be written as UTF-8. If a text in the value has a lone surrogate, the
    whole document is escaped to ASCII."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def as_text(data: bytes) -> dict[str, str]:
    """Return bytes as a JSON object with one member: ``text`` if the bytes are UTF-8, otherwise ``base64``."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def as_bytes(value: Mapping[str, Any]) -> bytes:
    """Return the bytes in an object that `as_text` made. Raises `ValueError` for any other object."""
    if isinstance(value.get("text"), str):
        return cast("str", value["text"]).encode()
    if isinstance(value.get("base64"), str):
        return base64.b64decode(cast("str", value["base64"]), validate=True)
    raise ValueError("expected text or base64")
