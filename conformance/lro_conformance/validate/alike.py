"""FindingGroups of similar findings: one requirement that is broken in the same way in many lines of one file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lro_spec.findings import Finding

LINES_SHOWN = 3
"""Number of lines of a group whose text is shown."""
LINES_NAMED = 3
"""Number of further findings of a group whose lines are named."""

_COMPARED = 10_000
"""Number of findings of one requirement and kind that are compared; further ones are only counted, because computing
the details of a finding takes much longer."""

_NUMBER = re.compile(r"\d+")


@dataclass(slots=True)
class SimilarFindings:
    """A finding and similar ones in other lines."""

    first: Finding
    others: list[Finding] = field(default_factory=list[Finding])
    """The next findings, as many as can be shown or named by their lines."""
    size: int = 1
    """Number of all findings of the group."""

    @property
    def lines(self) -> tuple[Finding, ...]:
        """The findings whose lines are shown, besides the first; in the order of lines."""
        return tuple(f for f in self._ordered[: LINES_SHOWN - 1] if f.excerpt is not None)

    @property
    def rest(self) -> str:
        """The count of the findings whose lines are not shown, with some of the lines; empty if there are none."""
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
    """FindingGroups the similar findings of documents."""

    def __init__(self) -> None:
        self._groups: dict[int, SimilarFindings] = {}

    def first_of_each_group(self, findings: Iterator[Finding], *, is_of_lines: Callable[[], bool]) -> Iterator[Finding]:
        """Yield the findings of a document that are not similar to an earlier one; the others are added to its group.

        *is_of_lines* returns whether the document is a file of lines; it is called once the kind is known. Findings in
        a descriptor are never grouped, but those in its file are, which have a path.
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
        """The group of a finding that `first_of_each_group` yielded."""
        return self._groups.get(id(finding)) or SimilarFindings(finding)
