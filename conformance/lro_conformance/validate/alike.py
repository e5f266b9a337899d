"""Groups of similar findings: one requirement that is broken in the same way in many lines of one file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lro_spec.findings import Finding

LINES_SHOWN = 3
"""The texts of at most this many lines of a group are shown, the line of its first finding included."""
LINES_NAMED = 3
"""Of the findings of a group whose lines are not shown, at most this many are listed by their line numbers."""

_COMPARED = 10_000
"""Of the findings of one requirement and kind in a file, at most this many are compared. Further ones are in no group,
and only the summary counts them, because computing the details to compare takes much longer than counting."""

_NUMBER = re.compile(r"\d+")


@dataclass(slots=True)
class SimilarFindings:
    """A finding and similar ones, mostly in other lines."""

    first: Finding
    others: list[Finding] = field(default_factory=list[Finding])
    """The next findings of the group; only as many as can be shown, or listed by their line numbers."""
    size: int = 1
    """Number of findings in the group, including those that are not in `others`."""

    @property
    def lines(self) -> tuple[Finding, ...]:
        """The findings whose lines are shown below the first one, in the order of lines."""
        return tuple(f for f in self._ordered[: LINES_SHOWN - 1] if f.excerpt is not None)

    @property
    def rest(self) -> str:
        """The number of findings whose lines are not shown, and some of these lines, such as ``and 5 more like this, in
        lines 8, 9, 12, …``; empty if all lines are shown."""
        shown = self.lines
        left = self.size - 1 - len(shown)
        if not left:
            return ""
        further = [f for f in self._ordered if f not in shown]
        named = list(dict.fromkeys(f"{f.line}" for f in further[:LINES_NAMED]))
        more = ", …" if left > LINES_NAMED else ""
        return f"and {left:,} more like this, in {'line' if left == 1 else 'lines'} {', '.join(named)}{more}"

    @property
    def _ordered(self) -> list[Finding]:
        return sorted(self.others, key=lambda finding: finding.line or 0)


class FindingGroups:
    """Groups the similar findings of documents.

    Findings are similar if they break the same requirement in the same file, and their kind, severity, message, pointer
    and expected value are the same; numbers in message and pointer may differ.
    """

    def __init__(self) -> None:
        self._groups: dict[int, SimilarFindings] = {}

    def first_of_each_group(self, findings: Iterator[Finding], *, is_of_lines: Callable[[], bool]) -> Iterator[Finding]:
        """Yield the findings of a document that are not similar to an earlier one. Any other finding is added to the
        group of the earlier one, except those beyond `_COMPARED`, which are dropped.

        *is_of_lines* returns whether the document is a file of lines. It is called only when the document has a
        finding, because its kind is not known before it is read. Findings in a descriptor are never grouped; those in
        the descriptor's file, which have a path, are.
        """
        known: dict[object, SimilarFindings] = {}
        compared: Counter[object] = Counter()
        for finding in findings:
            if finding.line is None or not (finding.path is not None or is_of_lines()):
                yield finding
                continue
            kind = (finding.path, finding.rule, finding.kind, finding.severity)
            compared[kind] += 1
            if compared[kind] > _COMPARED:
                continue
            key = (*kind, _NUMBER.sub("#", finding.pointer), _NUMBER.sub("#", finding.message), finding.expected)
            group = known.get(key)
            if group is None:
                known[key] = self._groups[id(finding)] = SimilarFindings(finding)
                yield finding
                continue
            group.size += 1
            if len(group.others) < LINES_SHOWN - 1 + LINES_NAMED:
                group.others.append(finding)

    def of(self, finding: Finding) -> SimilarFindings:
        """The group of a finding that `first_of_each_group` yielded; a group of one if it was not grouped."""
        return self._groups.get(id(finding)) or SimilarFindings(finding)
