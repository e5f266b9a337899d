"""What validation found, as lines for people and grep or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TextIO

from lro_conformance.report.text import one_line
from lro_spec.findings import Finding

Sources = Iterable[tuple[str, Iterable[Finding]]]


def printed(sources: Sources, form: str, stream: TextIO) -> int:
    """Prints the findings of each path as they come; *form* is ``text`` or ``json``. 1 when one is an error, else 0."""
    write = _json_lines if form == "json" else _text_lines
    wrong = False

    def watched() -> Iterator[tuple[str, Finding]]:
        nonlocal wrong
        for path, found in sources:
            for finding in found:
                wrong = wrong or finding.severity == "error"
                yield path, finding

    write(watched(), stream)
    stream.flush()
    return int(wrong)


def line(path: str, finding: Finding) -> str:
    """``path:line:column: LRO-FILE-06 /count: expected …, got … — hint``, without what is not known."""
    place = ":".join(str(part) for part in (one_line(path), finding.line, finding.column) if part is not None)
    warning = "warning: " if finding.severity == "warning" else ""
    what = f"expected {finding.expected}, got {finding.observed}" if finding.expected else finding.message
    where = f" {finding.pointer}" if finding.pointer else ""
    hint = f" — {finding.hint}" if finding.hint else ""
    return one_line(f"{place}: {warning}{finding.rule}{where}: {what}{hint}")


def _text_lines(found: Iterator[tuple[str, Finding]], stream: TextIO) -> None:
    for path, finding in found:
        stream.write(line(path, finding) + "\n")


def _json_lines(found: Iterator[tuple[str, Finding]], stream: TextIO) -> None:
    """One object a line inside of one array: valid JSON, and a million findings need no memory."""
    separator = "[\n"
    try:
        for path, finding in found:
            stream.write(f"{separator}{json.dumps({'path': path, **asdict(finding)})}")
            separator = ",\n"
    finally:  # also when a path cannot be read: what was found until then stays readable
        stream.write("[]\n" if separator == "[\n" else "\n]\n")
