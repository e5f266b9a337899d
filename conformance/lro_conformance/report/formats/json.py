"""The report as JSON (``schemas/report.schema.json``)."""

from __future__ import annotations

import json
import re
from pathlib import Path

from lro_conformance.judging.results import Report
from lro_conformance.report.atomic import check_target, write_text
from lro_conformance.report.sanitize import clean

__all__ = ["check_target", "dump", "to_json", "write_json"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def to_json(report: Report) -> str:
    """The report as indented JSON with a final newline, escaped for terminals and free of lone surrogates."""
    return dump(report.to_dict())


def dump(value: object) -> str:
    """Any JSON value as indented JSON with a final newline, escaped for terminals and free of lone surrogates."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    # json.dumps escapes only control characters up to U+001F; strict readers reject lone surrogates
    return clean(_SURROGATE.sub("\ufffd", text))


def write_json(report: Report, path: Path) -> None:
    """Write the report to *path* atomically: a reader sees the old file or the complete new one. Raises `OSError`."""
    write_text(to_json(report), path)
