"""Which findings are shown where not all are: errors before warnings, over all documents."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lro_spec.findings import Finding

if TYPE_CHECKING:
    from lro_conformance.validate.document import Document

_SLACK = 2
"""Findings are sorted and cut when there are this many times more than are kept."""


class Capped:
    """Keeps the findings that will be shown, at most *limit*, in the order of documents and of their lines.

    An error is shown unless *limit* errors came before it; a warning, if the errors of all documents leave room for it.
    So errors are ready at once, and findings after a warning when there is no room left, or at the end.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: deque[tuple[str, Finding]] = deque()
        self._errors = 0  # of all documents, including findings that are no longer waiting
        self._warnings = 0

    def add(self, document: Document, found: Iterator[Finding]) -> None:
        """Add the findings of a document."""
        errors: list[Finding] = []
        warnings: list[Finding] = []
        room = self._limit - self._errors
        left = max(0, room - self._warnings)
        try:
            for finding in found:
                same, limit = (errors, room) if finding.severity == "error" else (warnings, left)
                same.append(finding)
                if len(same) >= _SLACK * limit + 100:
                    same[:] = _first(same, limit)
        finally:  # findings before a document turned out to be unreadable count, too
            errors, warnings = _first(errors, room), _first(warnings, left)
            self._errors += len(errors)
            self._warnings += len(warnings)
            ordered = sorted((*errors, *warnings), key=_place)
            self._waiting += ((finding.path or document.path, finding) for finding in ordered)
            self._make_room()

    def ready(self) -> Iterator[tuple[str, Finding]]:
        """Findings that later ones cannot displace, each once, with its document's path."""
        while self._waiting and self._waiting[0][1].severity == "error":
            yield self._waiting.popleft()

    def rest(self) -> Iterator[tuple[str, Finding]]:
        """All other findings, at the end."""
        while self._waiting:
            yield self._waiting.popleft()

    def _make_room(self) -> None:
        """Drop the last warnings that exceed the limit together with the errors."""
        room = self._limit - self._errors
        if self._warnings <= room:
            return
        self._warnings = 0
        remaining: deque[tuple[str, Finding]] = deque()
        for path, finding in self._waiting:
            if finding.severity == "warning":
                if self._warnings == room:
                    continue
                self._warnings += 1
            remaining.append((path, finding))
        self._waiting = remaining


def _first(found: list[Finding], limit: int) -> list[Finding]:
    return sorted(found, key=_place)[:limit]


def _place(finding: Finding) -> tuple[str, int, int]:
    return finding.path or "", finding.line or 0, finding.column or 0
