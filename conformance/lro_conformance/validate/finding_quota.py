"""A limit on the number of findings that are shown for all documents together. Errors have priority over warnings."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lro_spec.findings import Finding

if TYPE_CHECKING:
    from lro_conformance.validate.document import Document

_BUFFER_FACTOR = 2
"""To save time, the findings of a document are not sorted and cut to the limit each time that a finding is added. This
is done only when their number reaches this many times the limit plus a hundred."""


class FindingQuota:
    """Selects at most *limit* findings to show, and keeps them in the order of documents and of their lines.

    An error is shown if fewer than *limit* errors came before it. A warning is shown if the errors of all documents
    leave room for it. Therefore an error can be shown at once, but only if no warning is waiting before it. A warning
    and all findings after it have to wait until it is known whether the warning is shown. This is known when errors
    have taken the place of the warning, or at the end.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: deque[tuple[str, Finding]] = deque()
        self._errors = 0  # number of errors of all documents, including those that are no longer waiting
        self._warnings = 0

    def add(self, document: Document, found: Iterator[Finding]) -> None:
        """Add the findings of a document."""
        room = self._limit - self._errors
        first_errors, first_warnings = _FirstFindings(room), _FirstFindings(max(0, room - self._warnings))
        try:
            for finding in found:
                (first_errors if finding.severity == "error" else first_warnings).add(finding)
        finally:  # if the rest of a document cannot be read, the findings up to there still count
            errors, warnings = first_errors.in_order(), first_warnings.in_order()
            self._errors += len(errors)
            self._warnings += len(warnings)
            ordered = sorted((*errors, *warnings), key=_place)
            self._waiting += ((finding.path or document.path, finding) for finding in ordered)
            self._make_room()

    def ready(self) -> Iterator[tuple[str, Finding]]:
        """Yield the findings that are certain to be shown, each with the path of its file. Every finding is yielded
        only once."""
        while self._waiting and self._waiting[0][1].severity == "error":
            yield self._waiting.popleft()

    def rest(self) -> Iterator[tuple[str, Finding]]:
        """Yield the remaining findings. To be called at the end."""
        while self._waiting:
            yield self._waiting.popleft()

    def _make_room(self) -> None:
        """If errors and warnings together exceed the limit, drop the last warnings."""
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


class _FirstFindings:
    """The first findings of a document by their positions, at most *limit*.

    Most of the other findings are dropped because of their line alone. Their columns are not read, because reading a
    column computes all lazy fields of a finding.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._findings: list[Finding] = []
        self._last = ("", 0) if limit == 0 else None

    def add(self, finding: Finding) -> None:
        """Keep a finding, unless it is certain not to be among the first."""
        if self._last is not None and _line(finding) > self._last:
            return
        self._findings.append(finding)
        if len(self._findings) >= _BUFFER_FACTOR * self._limit + 100:
            self._findings = self.in_order()
            self._last = _line(self._findings[-1]) if self._findings else ("", 0)

    def in_order(self) -> list[Finding]:
        """The first findings, sorted."""
        return sorted(self._findings, key=_place)[: self._limit]


def _line(finding: Finding) -> tuple[str, int]:
    return finding.path or "", finding.line or 0


def _place(finding: Finding) -> tuple[str, int, int]:
    return finding.path or "", finding.line or 0, finding.column or 0
