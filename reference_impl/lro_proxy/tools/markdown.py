"""The sections of a Markdown text: its headings, nested by level, and the lines that each of them covers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lro_proxy.payload.forms.markdown import Heading, are_sections, headings

_LONGEST_TITLE = 80


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its text, up to the next heading of the same or a higher level."""

    level: int
    title: str
    first: int
    """The heading's line, from 1."""
    last: int


def sections(lines: Sequence[str]) -> list[Section]:
    """The sections in order; empty if the lines are not Markdown."""
    found = list(headings(lines))
    return _nested(found, len(lines)) if are_sections(found, len(lines)) else []


def of_records(records: Sequence[Any]) -> list[Section]:
    """The sections of a file in which each record is a section, with record numbers as lines; else an empty list."""
    found: list[Heading] = []
    for number, record in enumerate(records, 1):
        match record:
            case {"heading": str(title), "level": int(level)}:
                found.append(Heading(number, level, title))
            case {"line": int(), "text": str()} if number == 1 and isinstance(record, Mapping):
                pass  # the text above the first heading
            case _:
                return []
    return _nested(found, len(records))


def _nested(found: Sequence[Heading], count: int) -> list[Section]:
    result: list[Section] = []
    for place, (line, level, title) in enumerate(found):
        after = (other for other, deep, _ in found[place + 1 :] if deep <= level)
        result.append(Section(level, title, line, next(after, count + 1) - 1))
    return result


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
