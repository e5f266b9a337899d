"""The explanation of a requirement, for `lro explain` and the documentation.

It combines the catalogue, the docstrings of the checks, the interpretations and errata, and examples recorded from
servers that pass and fail (``examples.json``, written by ``tests/tools/examples.py``).
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

from lro_conformance.report.catalogue import check_sources, notes
from lro_spec.catalogue import Requirement, wordings_by_edition

EXAMPLES = Path(__file__).with_name("examples.json")
WIDTH = 100
"""Default line width."""

_REFERENCE = re.compile(r"\b(?:LRO-[A-Z]+-\d{2}|[IE]-\d{2})\b")


@dataclass(frozen=True, slots=True)
class Code:
    """Preformatted lines: expectations, observations and messages."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, followed by preformatted lines and paragraphs. In paragraphs, backticks mark code."""

    heading: str
    parts: tuple[str | Code, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of a requirement."""

    id: str
    title: str
    facts: str
    """Keyword, level, group, section and editions in one line."""
    sections: tuple[Section, ...]


def explanation(requirement: Requirement) -> Explanation:
    """Explain a requirement: statement, rationale, checks, an example of a pass and of a failure, and the fix."""
    return Explanation(requirement.id, requirement.title, _facts(requirement), tuple(_sections(requirement)))


def as_text(page: Explanation, width: int = WIDTH) -> Iterator[str]:
    """Lines for a terminal of *width* columns; words that are longer than a line are broken."""
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


def as_markdown(page: Explanation, link: Callable[[str], str | None]) -> Iterator[str]:
    """Lines of a Markdown page. *link* returns the address of a requirement, interpretation or erratum, or None."""
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
    editions = list(wordings_by_edition(r.id))
    named = f"edition{'s' * (len(editions) > 1)} {', '.join(editions)}"
    return f"{_keyword_and_level(r)}, group {r.group}, section “{r.section}”, {named}"


def _keyword_and_level(r: Requirement) -> str:
    """The keyword and the level of a requirement, as text."""
    return f"{r.keyword}, {f'level {r.level}' if r.level is not None else 'decides no level'}"


def _other_statements(r: Requirement) -> tuple[str, ...]:
    """A paragraph for each edition in which the keyword, the level or the statement differs from those of *r*."""
    versions = {name: (_keyword_and_level(other), other.statement) for name, other in wordings_by_edition(r.id).items()}
    differing = {name: version for name, version in versions.items() if version != (_keyword_and_level(r), r.statement)}
    return tuple(
        f"`{name}` ({binding}): {'same statement.' if statement == r.statement else ' '.join(statement.split())}"
        for name, (binding, statement) in differing.items()
    )


def _sections(r: Requirement) -> Iterator[Section]:
    yield Section("Statement", _paragraphs(r.statement))
    if other_statements := _other_statements(r):
        yield Section("In other editions", other_statements)
    yield Section("Rationale", _paragraphs(r.rationale))
    if titles := tuple(f"{name}: {title}" for name, title, ids in notes() if r.id in ids):
        yield Section("Interpretations and errata", titles)
    yield Section("How it is checked", _paragraphs(r.observed))
    if r.excluded is not None:
        yield Section("Why it is not judged", _paragraphs(r.excluded))
    for check in check_sources(r.id):
        evidence = f"Evidence: {', '.join(check.evidence)}. Defined in `{check.path}`."
        yield Section(f"Check {check.name}", (*_paragraphs(check.doc), evidence))
    yield from _recorded(example_key(r))
    yield Section("Fix", _paragraphs(r.fix))


def example_key(r: Requirement) -> str:
    """Key of a requirement's examples: its id, and the name of the first edition in which it has this statement.

    The name is left out if this edition is the first one that has the requirement at all.
    """
    first, *_ = versions = wordings_by_edition(r.id)
    edition = next(name for name in versions if versions[name].statement == r.statement)
    return r.id if edition == first else f"{r.id} {edition}"


def _recorded(key: str) -> Iterator[Section]:
    recorded = examples().get(key, {})
    if (good := recorded.get("pass")) is not None:
        examined = f"the first of {good['examined']} subjects" if good["examined"] > 1 else "the only subject"
        summary = f"From {good['about']}, check `{good['check']}`: {examined}."
        yield Section("Example of a pass", (summary, Code((f"expected  {good['expected']}", *good["seen"]))))
    if (bad := recorded.get("fail")) is not None:
        summary = f"From `{bad['server']}`, check `{bad['check']}`: {bad['about']}"
        lines = (f"expected  {bad['expected']}", f"observed  {bad['observed']}")
        yield Section(
            "Example of a failure" if bad["verdict"] == "fail" else "Example of a warning",
            (summary, Code((*lines, *bad["seen"]))),
        )


@cache
def examples() -> dict[str, dict[str, dict[str, Any]]]:
    """Recorded examples by `example_key`, then by ``pass`` and ``fail``; either may be missing."""
    return cast("dict[str, dict[str, dict[str, Any]]]", json.loads(EXAMPLES.read_text(encoding="utf-8")))


def _paragraphs(text: str) -> tuple[str, ...]:
    return tuple(" ".join(part.split()) for part in text.strip().split("\n\n") if part.strip())


def _prose(text: str, link: Callable[[str], str | None]) -> str:
    """Prose as Markdown: code spans are kept, all else is escaped, references become links."""

    def linked(match: re.Match[str]) -> str:
        address = link(match[0])
        return match[0] if address is None else f"[{match[0]}]({address})"

    parts = re.split(r"(`[^`]+`)", text)
    plain = (re.sub(r"([\\*_<\[\]|#])", r"\\\1", part) for part in parts[::2])
    linkable = [_REFERENCE.sub(linked, part) for part in plain]
    return "".join(a + b for a, b in zip(linkable, (*parts[1::2], ""), strict=True))
