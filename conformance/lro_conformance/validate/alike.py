"""Groups of similar findings: one requirement that is broken in the same way in many lines of one file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lro_spec.findings import Finding

MAX_LINES_WITH_TEXT = 3
"""The text of a line is shown for at most this many findings of a group. The first finding of the group is one of
them."""
MAX_LINE_NUMBERS = 3
"""For at most this many further findings of a group, the number of the line is shown, but not its text."""

_MAX_COMPARED = 10_000
"""At most this many findings of one requirement and kind in a file are compared with each other. Further findings are
only counted in the summary, because to compute the details of a finding takes much longer than to count it."""

_NUMBER = re.compile(r"\d+")


@dataclass(slots=True)
class SimilarFindings:
    """A group of similar findings. A line may have several of them, but usually each finding is in another line."""

    first: Finding
    others: list[Finding] = field(default_factory=list[Finding])
    """The findings that follow the first one. The list ends when it has enough findings for a report: those whose line
    is shown with its text, and those for which only the number of the line is shown."""
    size: int = 1
    """Number of findings in the group, including those that are not in `others`."""

    @property
    def lines(self) -> tuple[Finding, ...]:
        """The findings whose lines are shown below the line of the first finding, in the order of lines."""
        return tuple(f for f in self._ordered[: MAX_LINES_WITH_TEXT - 1] if f.excerpt is not None)

    @property
    def rest(self) -> str:
        """A text about the findings whose lines are not shown: their number, and the numbers of some of their lines.
        For example, ``and 5 more like this, in lines 8, 9, 12, …``. Empty if all lines are shown."""
        shown = self.lines
        remaining = self.size - 1 - len(shown)
        if not remaining:
            return ""
        findings_not_shown = [f for f in self._ordered if f not in shown]
        line_numbers = list(dict.fromkeys(f"{f.line}" for f in findings_not_shown[:MAX_LINE_NUMBERS]))
        ellipsis = ", …" if remaining > MAX_LINE_NUMBERS else ""
        unit = "line" if remaining == 1 else "lines"
        return f"and {remaining:,} more like this, in {unit} {', '.join(line_numbers)}{ellipsis}"

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
        """Yield each finding of a document that is not similar to an earlier finding. A finding that is similar to an
        earlier finding is added to the group of the earlier one. Findings beyond `_MAX_COMPARED` are dropped.

        *is_of_lines* returns whether the document is a file of lines. It is called only when the document has a
        finding, because the kind of the document is not known before the document is read. Findings in a descriptor are
        never grouped. If the document is a descriptor, findings in the file that it names are grouped. They can be told
        from findings in the descriptor because only they have a path.
        """
        groups: dict[object, SimilarFindings] = {}
        compared: Counter[object] = Counter()
        for finding in findings:
            if finding.line is None or not (finding.path is not None or is_of_lines()):
                yield finding
                continue
            kind = (finding.path, finding.rule, finding.kind, finding.severity)
            compared[kind] += 1
            if compared[kind] > _MAX_COMPARED:
                continue
            key = (*kind, _NUMBER.sub("#", finding.pointer), _NUMBER.sub("#", finding.message), finding.expected)
            group = groups.get(key)
            if group is None:
                groups[key] = self._groups[id(finding)] = SimilarFindings(finding)
                yield finding
                continue
            group.size += 1
            if len(group.others) < MAX_LINES_WITH_TEXT - 1 + MAX_LINE_NUMBERS:
                group.others.append(finding)

    def of(self, finding: Finding) -> SimilarFindings:
        """The group of a finding that was yielded by `first_of_each_group`. If the finding was not grouped, the group
        contains only this finding."""
        return self._groups.get(id(finding)) or SimilarFindings(finding)
