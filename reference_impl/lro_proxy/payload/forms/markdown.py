"""The headings of a Markdown text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_CLOSING = re.compile(r"[ \t]+#+[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class Heading(NamedTuple):
    """A heading."""

    line: int
    """The number of its line, from 1."""
    level: int
    title: str


def headings(lines: Sequence[str]) -> Iterator[Heading]:
    """The headings among the lines of a text."""
    fence = ""
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip()
            fence = "" if closes else fence
        elif mark is not None:
            fence = mark[1]
        elif (heading := _HEADING.match(line)) is not None:
            yield Heading(number, len(heading[1]), _CLOSING.sub("", heading[2]).strip())


def are_sections(found: Sequence[Heading], lines: int) -> bool:
    """True if the headings are those of a Markdown text that has this number of *lines*.

    Lines that merely begin with ``#``, such as comments in programs, do not count. So there must be at least two
    headings, some heading must be below level 1, and at most a third of the lines may be headings.
    """
    return len(found) > 1 and any(heading.level > 1 for heading in found) and 3 * len(found) <= lines
