"""The report as JSON (``schemas/report.schema.json``), on a stream or in a file that is never half written."""

from __future__ import annotations

import json
import re
from pathlib import Path

from lro_conformance.report.model import Report
from lro_conformance.report.target import check_target, write_text
from lro_conformance.report.text import clean

__all__ = ["check_target", "dumped", "to_json", "write_json"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def to_json(report: Report) -> str:
    """The report's JSON, indented, ending with a newline; harmless on a terminal and free of lone surrogates."""
    return dumped(report.to_dict())


def dumped(value: object) -> str:
    """Any JSON value as `to_json` writes the report's."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    # json.dumps left only what a JSON string may hold raw; lone surrogates are refused by strict readers
    return clean(_SURROGATE.sub("\ufffd", text))


def write_json(report: Report, path: Path) -> None:
    """Writes the report to *path* in one step: a reader sees the old file or the whole new one. Raises `OSError`."""
    write_text(to_json(report), path)
