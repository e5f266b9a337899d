"""Findings that nobody will be shown: they are counted by their rules, and not made.

Most of what a finding costs is its words and its place: a schema's errors explained, a pointer followed to a column.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from lro_spec.findings import Severity


@dataclass(slots=True)
class Beyond:
    """How far into a file findings are wanted, and how many there were behind that.

    Whoever reads the findings moves the two bounds while they come; at first everything is wanted.
    """

    errors_after: float = math.inf
    """Errors on lines after this one are only counted."""
    warnings_after: float = math.inf
    """The same for warnings."""
    counts: Counter[tuple[str, Severity]] = field(default_factory=Counter[tuple[str, Severity]])
    """How many there were of each rule and severity."""

    def begins(self, line: int) -> bool:
        """Whether neither errors nor warnings are wanted of a line."""
        return line > self.errors_after and line > self.warnings_after

    def takes(self, rule: str, severity: Severity, line: int) -> bool:
        """Whether such a finding on a line is not wanted; then it is counted here."""
        if line <= (self.errors_after if severity == "error" else self.warnings_after):
            return False
        self.counts[rule, severity] += 1
        return True
