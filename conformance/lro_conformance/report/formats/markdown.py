"""The report as Markdown for a step summary of GitHub, a comment or a wiki.

Untrusted text is escaped, mostly within ``<code>``, or it is in a code block that it cannot close. Therefore it cannot
add markup, links or mentions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from lro_conformance.errors import EXIT_NO_VERDICT, EXIT_OK
from lro_conformance.judging.results import Report, RequirementResult
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.causes import Cause, causes, troubles
from lro_conformance.report.details import (
    REST_IN_JSON,
    CheckDetail,
    Detail,
    failure_lines,
    failure_reproducer,
    length_note,
    reasons_without_repetition,
    warnings_of,
)
from lro_conformance.report.exit_code import exit_code
from lro_conformance.report.sanitize import one_line
from lro_conformance.report.view import facts

SIGNS = {
    Verdict.PASS: "✅",
    Verdict.WARN: "⚠️",
    Verdict.FAIL: "❌",
    Verdict.NOT_OBSERVED: "❔",
    Verdict.NOT_APPLICABLE: "➖",
    Verdict.NOT_JUDGED: "⚪",
    Verdict.ATTESTED: "📝",
    Verdict.ERROR: "💥",
}

UNTRUSTED = ("server", "note", "accepted", "expired", "undecided")
"""Labels of the facts that are shown as code, because they consist mainly of text of a server, a profile or a
baseline."""

MAX_BYTES = 900_000
"""Length, in bytes, at which a document is cut, because GitHub rejects step summaries of more than one mebibyte."""
MAX_LINE_CHARACTERS = 1_000
MAX_SCRIPT_CHARACTERS = 4_000
"""Length of the longest script that is shown. A longer script is replaced by the command that prints it, because half a
script is useless."""
MAX_LINES = 20

_SPECIAL = re.compile(r"[&<>*_`|~\\\[\]#$@]|:(?=/)|(?<=[wW]{3})\.")


def to_markdown(report: Report) -> str:
    """The report as GitHub-flavoured Markdown."""
    return _limited("\n\n".join(_blocks(report)) + "\n")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; header and cells are Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def plain(text: str) -> str:
    """Escape untrusted text for a single line of Markdown."""
    # an empty comment after the at sign prevents addresses and mentions
    return _SPECIAL.sub(lambda m: "&#64;<!---->" if m[0] == "@" else f"&#{ord(m[0])};", one_line(text))


def prose(text: str) -> str:
    """Text of the catalogue as Markdown; text between backticks becomes code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return plain(text)
    return "".join(code(piece) if n % 2 else plain(piece) for n, piece in enumerate(pieces))


def code(text: str) -> str:
    """Untrusted text as inline code, escaped for any place in a document."""
    return f"<code>{plain(text)}</code>" if text else ""


def block(lines: Sequence[str], *, complete: bool = False) -> str:
    """Lines as a code block, with a fence that no line can close.

    If *complete* is false, only the first `MAX_LINES` lines are shown, and long lines are cut.
    """
    shown = list(lines) if complete else [_truncated(line) for line in lines[:MAX_LINES]]
    if (more := len(lines) - MAX_LINES) > 0 and not complete:
        shown.append(f"… ({more} more line{'s' * (more > 1)}; complete in the JSON report)")
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join((f"{fence}text", *shown, fence))


def collapsible(summary: str, content: str) -> str:
    """Content that is hidden until its summary is clicked."""
    return f"<details><summary>{summary}</summary>\n\n{content}\n\n</details>"


def _blocks(report: Report) -> Iterator[str]:
    yield f"## {headline(report)}"
    if report.failure is not None:
        yield block(failure_lines(report))
        if reproducer := failure_reproducer(report):
            yield collapsible("Reproduce", block(reproducer, complete=True))
    yield table(("", ""), ((f.label, code(f.text) if f.label in UNTRUSTED else plain(f.text)) for f in facts(report)))
    for trouble in troubles(report):
        yield f"### 💥 {code(trouble.text)}\n\nNot observed because of this: {plain(', '.join(trouble.ids))}"
        yield _script(trouble.reproduce, trouble.ids[0])
    for cause in causes(report):
        yield from _cause(cause)
    warnings = list(warnings_of(report))
    if warnings:
        content = "\n\n".join(part for detail in warnings for part in _detail(detail))
        yield collapsible(f"Warnings ({len(warnings)})", content)
    if report.failure is None:
        reasons = reasons_without_repetition(report.requirements)
        rows = (_row(r, reasons.get(r.requirement.id, "")) for r in report.requirements)
        requirement_table = table(("Verdict", "Requirement", "Keyword", "Reason"), rows)
        yield collapsible(f"All requirements ({len(report.requirements)})", requirement_table)


def headline(report: Report) -> str:
    """The outcome in one line."""
    who = code(report.server.name) or "the server"
    if report.failure is not None:
        return f"💥 No verdict on {who}"
    outcome = f"level {report.achieved} proved" if report.achieved else "no level proved"
    claimed = report.claimed
    accepted = any(a.state == "accepted" for a in report.baseline)
    holds_sign = "⚠️" if accepted else "✅"
    sign = {EXIT_OK: holds_sign, EXIT_NO_VERDICT: SIGNS[Verdict.NOT_OBSERVED]}.get(
        exit_code(report), SIGNS[Verdict.FAIL]
    )
    states = {a.state for a in report.baseline}
    outcome += f", level {claimed} claimed" if claimed is not None and claimed != report.achieved else ""
    if sign == SIGNS[Verdict.FAIL] and (failing_states := [s for s in ("stale", "expired") if s in states]):
        outcome += f"; {' and '.join(failing_states)} entries in the baseline"
    elif accepted and sign == holds_sign:
        outcome += "; the rest accepted by the baseline"
    return f"{sign} {who}: {outcome} ({plain(report.edition)})"


def _cause(cause: Cause) -> Iterator[str]:
    """A cause, with the evidence of its first failure. The other failures are folded."""
    yield from _detail(cause.first)
    if cause.others:
        content = "\n\n".join(part for detail in cause.others for part in _detail(detail))
        yield collapsible(f"Same cause: {plain(', '.join(d.id for d in cause.others))}", content)


def _detail(detail: Detail) -> Iterator[str]:
    yield f"### {SIGNS[detail.verdict]} {plain(detail.id)} {plain(detail.title)}"
    paragraphs = [f"{detail.binding}. {prose(detail.statement)}"]
    if detail.reason:
        paragraphs.append(code(detail.reason))
    if detail.verdict is not Verdict.ERROR and detail.fix:
        paragraphs.append(f"**Fix:** {prose(detail.fix)}")
    yield "\n\n".join(paragraphs)
    for check in detail.checks:
        yield from _check(check, detail.id)


def _check(check: CheckDetail, id: str) -> Iterator[str]:
    rows = [("check", f"{code(check.name)} ({check.subjects} examined)")]
    rows += [
        ("expected", code(_truncated(" ".join(check.expected)))),
        ("observed", code(_truncated(" ".join(check.observed)))),
    ]
    if check.location:
        rows.append(("transcript", code(check.location)))
    yield table(("", ""), rows)
    if check.evidence:
        yield collapsible("Evidence", block(check.evidence))
    if check.reproduce:
        yield _script(check.reproduce, id)


def _script(script: Sequence[str], id: str) -> str:
    """The script of a requirement, folded. A long script is replaced by the command that prints it."""
    characters = sum(map(len, script))
    if characters <= MAX_SCRIPT_CHARACTERS:
        return collapsible("Reproduce", block(script, complete=True))
    printed = code(f"lro certify --only {id} -v")
    return (
        f"Reproduce: {printed} prints the script of {characters:,} characters; the HTML and JSON reports have it, too."
    )


def _row(result: RequirementResult, reason: str) -> tuple[str, ...]:
    r = result.requirement
    keyword = f"{r.keyword}, level {r.level}" if r.level is not None else r.keyword
    return f"{SIGNS[result.verdict]} {result.verdict.label}", f"{plain(r.id)} {plain(r.title)}", keyword, code(reason)


def _truncated(text: str) -> str:
    if len(text) <= MAX_LINE_CHARACTERS:
        return text
    return f"{text[:MAX_LINE_CHARACTERS]}… ({length_note(text, *REST_IN_JSON)})"


def _limited(text: str) -> str:
    """Return the text. If it is longer than `MAX_BYTES`, return its beginning, up to the last section that fits
    completely."""
    if len(text.encode()) <= MAX_BYTES:
        return text
    kept = text.encode()[:MAX_BYTES].decode(errors="ignore").rpartition("\n### ")[0]
    still_open = kept.count("<details>") - kept.count("</details>")
    return f"{kept}{'</details>' * still_open}\n\n… see the JSON report for the rest.\n"
