"""Alike findings: the same requirement broken in the same way in many lines of one file."""

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
"""Findings of one requirement and kind that are compared, because reading the details of a finding takes much longer
than counting it."""

_NUMBER = re.compile(r"\d+")


@dataclass(slots=True)
class AlikeFindings:
    """A finding and those like it in other lines."""

    first: Finding
    others: list[Finding] = field(default_factory=list[Finding])
    """The next findings, so many that their lines can be shown or named."""
    size: int = 1
    """Number of the findings together."""

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


class Groups:
    """Groups the findings of documents."""

    def __init__(self) -> None:
        self._groups: dict[int, AlikeFindings] = {}

    def unlike(self, findings: Iterator[Finding], *, is_of_lines: Callable[[], bool]) -> Iterator[Finding]:
        """Yield the findings of a document that are unlike those before; the others are added to their groups.

        *is_of_lines* is called when the kind of the document is known: it is true for a file of lines. Findings in a
        descriptor are each of their own, but not those in its file, which have a path.
        """
        known: dict[object, AlikeFindings] = {}
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
                known[key] = self._groups[id(finding)] = AlikeFindings(finding)
                yield finding
                continue
            group.size += 1
            if len(group.others) < LINES_SHOWN - 1 + LINES_NAMED:
                group.others.append(finding)

    def of(self, finding: Finding) -> AlikeFindings:
        """The group of a finding that `unlike` yielded."""
        return self._groups.get(id(finding)) or AlikeFindings(finding)
