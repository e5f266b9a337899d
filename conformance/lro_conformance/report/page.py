"""The report as an HTML page: one file that needs nothing else, asks nobody for anything and runs its own script."""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from lro_conformance.report.layout import (
    MARKS,
    CheckDetail,
    check_detail,
    detail_of,
    facts,
    in_the_way,
    no_verdict,
    once_more,
    reason_of,
)
from lro_conformance.report.model import CheckResult, Report, RequirementResult
from lro_conformance.report.text import clean, one_line
from lro_conformance.report.timing import chart
from lro_conformance.report.transcript import Line, transcript
from lro_conformance.verdicts import Verdict

PAGES = Path(__file__).parent / "pages"

MOST_LINKS = 6
"""How many requirements a level names that stand in its way; the rest is below."""

SECTIONS = (
    ("unmet", "Not met", (Verdict.ERROR, Verdict.FAIL)),
    ("warned", "Warnings", (Verdict.WARN,)),
    ("unseen", "Not observed", (Verdict.NOT_OBSERVED, Verdict.ATTESTED)),
    ("met", "Passed", (Verdict.PASS,)),
    ("idle", "Not applicable", (Verdict.NOT_APPLICABLE,)),
)


@dataclass(frozen=True, slots=True)
class ShownCheck:
    """A check on the page."""

    detail: CheckDetail
    lines: tuple[Line, ...]
    decides: bool
    """Whether it gave the requirement its verdict."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A requirement on the page."""

    id: str
    title: str
    group: str
    verdict: Verdict
    binding: str
    level: str
    """What the filter calls its level: ``1`` to ``3``, or ``none``."""
    statement: str
    reason: str
    mend: str
    open: bool
    checks: tuple[ShownCheck, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Requirements under one heading."""

    key: str
    heading: str
    entries: tuple[Entry, ...]


def to_html(report: Report) -> str:
    """The report as one HTML document."""
    parts = [Part(key, heading, tuple(_entries(report, verdicts))) for key, heading, verdicts in SECTIONS]
    return rendered(
        "report.html.j2",
        report=report,
        title=one_line(f"{report.server.name or 'The server'} {report.server.version}".strip(), 120),
        levels=[(n, report.levels[n], in_the_way(report, n)[:MOST_LINKS]) for n in sorted(report.levels)],
        facts=[fact for fact in facts(report) if not fact.label.startswith("Level ")],
        problem=no_verdict(report),
        again=once_more(report),
        parts=[part for part in parts if part.entries],
        verdicts=[(v, sum(r.verdict is v for r in report.requirements)) for v in reversed(Verdict)],
        bars=chart(report),
        command=one_line(shlex.join(report.server.command)),
        total=len(report.requirements),
    )


def rendered(template: str, **values: Any) -> str:
    """A page from its template, with the styles and scripts of `pages` inside, and a policy that allows these alone."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    made = _environment().get_template(template)
    page = made.render(**values, style=Markup(style), script=Markup(script), policy=policy, marks=MARKS)
    return clean(page.strip() + "\n")


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(PAGES),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["ticked"] = _ticked
    return made


def _ticked(text: str) -> Markup:
    """Prose of the catalogue, what stands between backticks shown as code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return escape(text)
    return Markup("").join(Markup("<code>{}</code>").format(p) if n % 2 else escape(p) for n, p in enumerate(pieces))


@cache
def _asset(name: str) -> str:
    return (PAGES / name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    """The source of a policy that allows exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _entries(report: Report, verdicts: tuple[Verdict, ...]) -> Iterable[Entry]:
    for verdict in verdicts:
        yield from (_entry(r) for r in report.requirements if r.verdict is verdict)


def _entry(result: RequirementResult) -> Entry:
    detail = detail_of(result)
    return Entry(
        detail.id,
        one_line(detail.title),
        one_line(result.requirement.group),
        detail.verdict,
        detail.binding,
        str(result.requirement.level or "none"),
        one_line(detail.statement),
        "" if detail.verdict is Verdict.PASS else reason_of(result),
        one_line(detail.mend),
        detail.verdict in (Verdict.ERROR, Verdict.FAIL),
        tuple(_shown(c, result) for c in sorted(result.checks, key=lambda c: c.verdict, reverse=True)),
    )


def _shown(check: CheckResult, result: RequirementResult) -> ShownCheck:
    detail = check_detail(check)
    return ShownCheck(detail, transcript(detail.evidence), check.verdict is result.verdict)
