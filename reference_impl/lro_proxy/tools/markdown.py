"""The sections of a Markdown text: its headings, nested by level, and the lines that each of them covers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_CLOSING = re.compile(r"[ \t]+#+[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LONGEST_TITLE = 80


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its text, up to the next heading of its level or above."""

    level: int
    title: str
    first: int
    """The heading's line, from 1."""
    last: int


def sections(lines: Sequence[str]) -> list[Section]:
    """The sections in order; empty if the lines are not Markdown.

    Lines that merely begin with ``#``, such as comments of programs, do not count: some heading must have level 2.
    """
    headings = list(_headings(lines))
    if len(headings) < 2 or all(level == 1 for _, level, _ in headings) or 3 * len(headings) > len(lines):
        return []
    result: list[Section] = []
    for place, (line, level, title) in enumerate(headings):
        after = (other for other, deep, _ in headings[place + 1 :] if deep <= level)
        result.append(Section(level, title, line, next(after, len(lines) + 1) - 1))
    return result


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    fence = ""
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip()
            fence = "" if closes else fence
        elif mark is not None:
            fence = mark[1]
        elif (heading := _HEADING.match(line)) is not None:
            yield number, len(heading[1]), _CLOSING.sub("", heading[2]).strip()


def tree(parts: Sequence[Section], depth: int, indent: int, before: int = 0) -> Iterator[str]:
    """One line per section, down to a depth; *before* is the number of lines that precede the text."""
    above: list[Section] = []
    for section in parts:
        while above and above[-1].level >= section.level:
            above.pop()
        if len(above) < depth:
            title = section.title
            title = title if len(title) <= _LONGEST_TITLE else f"{title[:_LONGEST_TITLE]}…"
            place = spanned(section.first + before, section.last + before)
            yield f"{'  ' * (indent + len(above))}{'#' * section.level} {title}: {place}"
        above.append(section)


def spanned(first: int, last: int) -> str:
    """A range of lines in words."""
    return f"line {first}" if first == last else f"lines {first}-{last}"
