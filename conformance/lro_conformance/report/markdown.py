"""The report as Markdown, fit for a step summary of GitHub, a comment or a wiki.

What a server said stands in ``<code>`` or in a code block: there is no markup there, no link and no mention.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from lro_conformance.report.exits import HOLDS, exit_code
from lro_conformance.report.layout import (
    CheckDetail,
    Detail,
    details,
    facts,
    no_verdict,
    once_more,
    reason_of,
    warnings_of,
)
from lro_conformance.report.model import Report, RequirementResult
from lro_conformance.report.text import one_line
from lro_conformance.verdicts import Verdict

SIGNS = {
    Verdict.PASS: "✅",
    Verdict.WARN: "⚠️",
    Verdict.FAIL: "❌",
    Verdict.NOT_OBSERVED: "❔",
    Verdict.NOT_APPLICABLE: "➖",
    Verdict.ATTESTED: "📝",
    Verdict.ERROR: "💥",
}

SAID = ("server", "note", "accepted", "expired", "undecided")
"""The facts in which others have a say."""

MOST_BYTES = 900_000
"""GitHub takes a step summary of at most one mebibyte, and drops a larger one whole."""
LINE_CHARACTERS = 1_000
REPRODUCER_CHARACTERS = 10_000
"""A longer command is left out: half of one would be of no use."""
LINES = 20

_SPECIAL = re.compile(r"[&<>*_`|~\\\[\]#$@]|:(?=/)|(?<=[wW]{3})\.")


def to_markdown(report: Report) -> str:
    """The report as GitHub-flavoured Markdown."""
    return _within("\n\n".join(_blocks(report)) + "\n")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def plain(text: str) -> str:
    """Text that is none of ours on one line, every character of which means itself."""
    # an empty comment after the at sign: nothing is an address or a mention across it
    return _SPECIAL.sub(lambda m: "&#64;<!---->" if m[0] == "@" else f"&#{ord(m[0])};", one_line(text))


def code(text: str) -> str:
    """Text of a server's on one line, shown as code; nothing in it is markup, wherever it stands."""
    return f"<code>{plain(text)}</code>" if text else ""


def block(lines: Sequence[str], *, whole: bool = False) -> str:
    """Lines as a code block, which none of them can end; cut to what a reader takes, unless they are to be pasted."""
    cut = list(lines) if whole else [_cut(line) for line in lines[:LINES]]
    if len(lines) > LINES and not whole:
        cut.append(f"… ({len(lines) - LINES} more lines; whole in the JSON report)")
    longest = max((len(run) for line in cut for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join((f"{fence}text", *cut, fence))


def folded(summary: str, content: str) -> str:
    """Content behind a line that opens it."""
    return f"<details><summary>{summary}</summary>\n\n{content}\n\n</details>"


def _blocks(report: Report) -> Iterator[str]:
    yield f"## {headline(report)}"
    if report.failure is not None:
        yield block(no_verdict(report))
        if again := once_more(report):
            yield folded("See it again", block(again, whole=True))
    yield table(("", ""), ((f.label, code(f.text) if f.label in SAID else plain(f.text)) for f in facts(report)))
    for detail in details(report):
        yield from _detail(detail)
    warned = list(warnings_of(report))
    if warned:
        inside = "\n\n".join(part for detail in warned for part in _detail(detail))
        yield folded(f"Warnings ({len(warned)})", inside)
    if report.failure is None:
        every = table(("Verdict", "Requirement", "Binds", "Why"), map(_row, report.requirements))
        yield folded(f"All requirements ({len(report.requirements)})", every)


def headline(report: Report) -> str:
    """The outcome in a line."""
    who = code(report.server.name) or "the server"
    if report.failure is not None:
        return f"💥 No verdict on {who}"
    found = f"level {report.achieved} proved" if report.achieved else "no level proved"
    claimed = report.claimed
    accepted = any(a.state == "accepted" for a in report.baseline)
    sign = ("⚠️" if accepted else "✅") if exit_code(report) == HOLDS else "❌"
    wanted = f", level {claimed} claimed" if claimed is not None and claimed != report.achieved else ""
    return f"{sign} {who}: {found}{wanted} ({plain(report.edition)})"


def _detail(detail: Detail) -> Iterator[str]:
    yield f"### {SIGNS[detail.verdict]} {plain(detail.id)} {plain(detail.title)}"
    told = [f"{detail.binding}. {plain(detail.statement)}"]
    if detail.reason:
        told.append(code(detail.reason))
    if detail.verdict is not Verdict.ERROR and detail.mend:
        told.append(f"**How to mend it:** {plain(detail.mend)}")
    yield "\n\n".join(told)
    for check in detail.checks:
        yield from _check(check)


def _check(check: CheckDetail) -> Iterator[str]:
    rows = [("check", f"{code(check.name)} ({check.subjects} examined)")]
    rows += [("expected", code(_cut(" ".join(check.expected)))), ("observed", code(_cut(" ".join(check.observed))))]
    if check.location:
        rows.append(("recorded at", code(check.location)))
    yield table(("", ""), rows)
    if check.evidence:
        yield folded("Evidence", block(check.evidence))
    if check.reproduce and sum(map(len, check.reproduce)) <= REPRODUCER_CHARACTERS:
        yield folded("See it again", block(check.reproduce, whole=True))


def _row(result: RequirementResult) -> tuple[str, ...]:
    r = result.requirement
    binds = f"{r.keyword}, level {r.level}" if r.level is not None else r.keyword
    why = "" if result.verdict is Verdict.PASS else code(reason_of(result))
    return f"{SIGNS[result.verdict]} {result.verdict.label}", f"{plain(r.id)} {plain(r.title)}", binds, why


def _cut(text: str) -> str:
    if len(text) <= LINE_CHARACTERS:
        return text
    return f"{text[:LINE_CHARACTERS]}… ({len(text):,} characters; whole in the JSON report)"


def _within(text: str) -> str:
    """The whole text, or as many of its first sections as are taken."""
    if len(text.encode()) <= MOST_BYTES:
        return text
    kept = text.encode()[:MOST_BYTES].decode(errors="ignore").rpartition("\n### ")[0]
    still_open = kept.count("<details>") - kept.count("</details>")
    return f"{kept}{'</details>' * still_open}\n\n… the rest is in the JSON report.\n"
