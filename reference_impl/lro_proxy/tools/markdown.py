"""The sections of a Markdown text: its headings, nested by level, and the lines that each of them covers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lro_proxy.payload.forms.markdown import Heading, are_sections, headings

_MAX_TITLE_LENGTH = 80


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


def record_sections(records: Sequence[Any]) -> list[Section]:
    """The sections of a file in which each record is a section. The line numbers are record numbers.

    The list is empty for any other file.
    """
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
        following = (other for other, other_level, _ in found[place + 1 :] if other_level <= level)
        result.append(Section(level, title, line, next(following, count + 1) - 1))
    return result


def section_tree(parts: Sequence[Section], depth: int, indent: int, lines_before: int = 0) -> Iterator[str]:
    """Yield one line per section, down to a depth. *lines_before* is the number of lines that precede the text."""
    ancestors: list[Section] = []
    for section in parts:
        while ancestors and ancestors[-1].level >= section.level:
            ancestors.pop()
        if len(ancestors) < depth:
            title = section.title
            title = title if len(title) <= _MAX_TITLE_LENGTH else f"{title[:_MAX_TITLE_LENGTH]}…"
            place = line_range(section.first + lines_before, section.last + lines_before)
            yield f"{'  ' * (indent + len(ancestors))}{'#' * section.level} {title}: {place}"
        ancestors.append(section)


def line_range(first: int, last: int) -> str:
    """A range of lines in words."""
    return f"line {first}" if first == last else f"lines {first}-{last}"
