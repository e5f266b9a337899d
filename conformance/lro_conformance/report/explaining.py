"""One requirement explained: the one text behind `lro explain` and the pages of the documents.

It is put together from the catalogue, the docstrings of the checks, the readings of the text, and what was recorded of
servers that pass and that fail (``examples.json``, by ``benchmarks/examples.py``).
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from lro_conformance.report.catalogue import notes, written_checks
from lro_spec.requirements import Requirement, by_edition

EXAMPLES = Path(__file__).with_name("examples.json")
WIDTH = 100
"""Characters of a line where nobody has a wish."""

_REFERENCE = re.compile(r"\b(?:LRO-[A-Z]+-\d{2}|[IE]-\d{2})\b")


@dataclass(frozen=True, slots=True)
class Code:
    """Lines that stand as they are: what was expected, seen and sent."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, and what stands under it: paragraphs, with code between backticks, and lines as they are."""

    heading: str
    parts: tuple[str | Code, ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """A requirement as a reader gets it."""

    id: str
    title: str
    facts: str
    """Keyword, level, group, section and editions in one line."""
    sections: tuple[Section, ...]


def explained(requirement: Requirement) -> Explained:
    """All that is known of one requirement: what, why, how it is checked, a pass and a failure, how to mend it."""
    return Explained(requirement.id, requirement.title, _facts(requirement), tuple(_sections(requirement)))


def as_text(page: Explained, width: int = WIDTH) -> Iterator[str]:
    """The lines for a terminal of *width* columns; words that are longer than that are broken."""
    yield from textwrap.wrap(f"{page.id}  {page.title}", width)
    yield from textwrap.wrap(page.facts, width, break_on_hyphens=False)
    for section in page.sections:
        yield ""
        yield from textwrap.wrap(section.heading, width)
        for part in section.parts:
            if isinstance(part, Code):
                for line in part.lines:
                    yield from textwrap.wrap(line, width, initial_indent="    ", subsequent_indent="      ")
            else:
                yield from textwrap.wrap(
                    part, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
                )


def as_markdown(page: Explained, link: Callable[[str], str | None]) -> Iterator[str]:
    """The lines of a page; *link* gives the address of a requirement, reading or erratum, None where it has none."""
    yield f"# {page.id} {_prose(page.title, link)}"
    yield ""
    yield f"*{_prose(page.facts, link)}*"
    for section in page.sections:
        yield ""
        yield f"## {_prose(section.heading, link)}"
        for part in section.parts:
            yield ""
            if isinstance(part, Code):
                yield from ("``` text", *part.lines, "```")
            else:
                yield _prose(part, link)


def _facts(r: Requirement) -> str:
    return f"{_force(r)}, group {r.group}, section “{r.section}”, edition {', '.join(by_edition(r.id))}"


def _force(r: Requirement) -> str:
    return f"{r.keyword}, {f'level {r.level}' if r.level is not None else 'decides no level'}"


def _elsewhere(r: Requirement) -> tuple[str, ...]:
    """What other editions say, where it is not what is said here."""
    theirs = {name: (_force(other), other.statement) for name, other in by_edition(r.id).items()}
    differing = {name: said for name, said in theirs.items() if said != (_force(r), r.statement)}
    return tuple(
        f"`{name}` ({force}): {'the same.' if statement == r.statement else ' '.join(statement.split())}"
        for name, (force, statement) in differing.items()
    )


def _sections(r: Requirement) -> Iterator[Section]:
    yield Section("What it says", _paragraphs(r.statement))
    if other := _elsewhere(r):
        yield Section("In other editions", other)
    yield Section("Why", _paragraphs(r.rationale))
    if read := tuple(f"{name}: {title}" for name, title, ids in notes() if r.id in ids):
        yield Section("How the text is read", read)
    yield Section("How it is seen", _paragraphs(r.observed))
    if r.excluded is not None:
        yield Section("Why it is not judged", _paragraphs(r.excluded))
    for check in written_checks(r.id):
        yield Section(f"Check {check.name}", _paragraphs(check.doc))
    yield from _recorded(example_key(r))
    yield Section("How a failure is mended", _paragraphs(r.mend))


def example_key(r: Requirement) -> str:
    """Under which key its examples are kept: the id, and the edition where that is the first with another wording."""
    first, *_ = held = by_edition(r.id)
    own = next(name for name in held if held[name].statement == r.statement)
    return r.id if own == first else f"{r.id} {own}"


def _recorded(key: str) -> Iterator[Section]:
    recorded = examples().get(key, {})
    if (good := recorded.get("pass")) is not None:
        examined = (
            f"the first of {good['examined']} things examined" if good["examined"] > 1 else "the one thing examined"
        )
        said = f"Of {good['about']}, by check `{good['check']}`: {examined}."
        yield Section("A pass", (said, Code((f"expected  {good['expected']}", *good["seen"]))))
    if (bad := recorded.get("fail")) is not None:
        said = f"Of `{bad['server']}`, by check `{bad['check']}`: {bad['about']}"
        told = (f"expected  {bad['expected']}", f"observed  {bad['observed']}")
        yield Section("A failure" if bad["verdict"] == "fail" else "A warning", (said, Code((*told, *bad["seen"]))))


@cache
def examples() -> dict[str, dict[str, dict[str, Any]]]:
    """What was recorded of each, by `example_key`: under ``pass`` and ``fail``, where there is something."""
    return cast("dict[str, dict[str, dict[str, Any]]]", json.loads(EXAMPLES.read_text(encoding="utf-8")))


def _paragraphs(text: str) -> tuple[str, ...]:
    return tuple(" ".join(part.split()) for part in text.strip().split("\n\n") if part.strip())


def _prose(text: str, link: Callable[[str], str | None]) -> str:
    """Prose as Markdown: what is code stays code, nothing else is markup, references become links."""

    def linked(found: re.Match[str]) -> str:
        address = link(found[0])
        return found[0] if address is None else f"[{found[0]}]({address})"

    parts = re.split(r"(`[^`]+`)", text)
    plain = (re.sub(r"([\\*_<\[\]|#])", r"\\\1", part) for part in parts[::2])
    linkable = [_REFERENCE.sub(linked, part) for part in plain]
    return "".join(a + b for a, b in zip(linkable, (*parts[1::2], ""), strict=True))
