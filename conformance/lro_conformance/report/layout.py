"""What a report tells a reader at a terminal, as data: sections, failures, facts. All text in it is harmless.

Both views render this; neither decides what is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lro_conformance.report.model import Acceptance, CheckResult, Report, RequirementResult
from lro_conformance.report.text import lines, one_line
from lro_conformance.verdicts import Verdict

REASON_CHARACTERS = 200
EVIDENCE_CHARACTERS = 8_000
EVIDENCE_LINES = 40

MARKS = {
    Verdict.PASS: "✓",
    Verdict.WARN: "!",
    Verdict.FAIL: "✗",
    Verdict.NOT_OBSERVED: "–",
    Verdict.NOT_APPLICABLE: "·",
    Verdict.ATTESTED: "a",
    Verdict.ERROR: "E",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement, or several of a group with the same verdict folded into a count (*id* is the group then)."""

    verdict: Verdict
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """The requirements that bind at one level, or at none."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class CheckDetail:
    """A check as a failure shows it; *evidence* lines are meant for pasting and stay as they are."""

    name: str
    verdict: Verdict
    subjects: int
    expected: tuple[str, ...]
    observed: tuple[str, ...]
    evidence: tuple[str, ...]
    reproduce: tuple[str, ...]
    """The command that shows it once more; whole, or it would not."""
    location: str
    """Where it stands in the folder of evidence."""


@dataclass(frozen=True, slots=True)
class Detail:
    """Everything about a requirement that was not met."""

    verdict: Verdict
    id: str
    title: str
    binding: str
    statement: str
    mend: str
    checks: tuple[CheckDetail, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of the summary; *tone* is ``good``, ``bad``, ``doubtful`` or empty."""

    label: str
    text: str
    tone: str = ""


def sections(report: Report, *, unfold: bool = False) -> Iterator[Section]:
    """The verdicts by level, those that decide none last; *unfold* gives every requirement a row of its own."""
    for level in (1, 2, 3, None):
        results = [r for r in report.requirements if r.requirement.level == level]
        if results:
            heading = "Deciding no level" if level is None else f"Level {level} {report.levels.get(level, 'unproved')}"
            rows = map(_row, results) if unfold else _folded(results)
            yield Section(heading, tuple(rows))


def details(report: Report, *, warnings: bool = False) -> Iterator[Detail]:
    """What was not met, in full: errors of the suite first, failures last; on request warnings before both."""
    if warnings:
        yield from warnings_of(report)
    for verdict in (Verdict.ERROR, Verdict.FAIL):
        yield from (detail_of(r) for r in report.requirements if r.verdict is verdict)


def warnings_of(report: Report) -> Iterator[Detail]:
    """The warnings in full."""
    yield from (detail_of(r) for r in report.requirements if r.verdict is Verdict.WARN)


def facts(report: Report) -> Iterator[Fact]:
    """The summary."""
    server = report.server
    protocol = f" (MCP {one_line(server.protocol, 40)})" if server.protocol else ""
    named = " ".join(one_line(part, 120) for part in (server.name, server.version) if part)
    yield Fact("server", f"{named or 'did not name itself'}{protocol}")
    yield Fact("edition", one_line(report.edition))
    if report.failure is None:
        yield from _found(report)
        yield from map(_acceptance, report.baseline)
    for note in report.notes:
        yield Fact("note", one_line(note, 1_000))
    starts = f"{report.starts} server {'start' if report.starts == 1 else 'starts'}"
    yield Fact("run", f"seed {report.seed}, {report.duration_s:.1f} s, {starts}")


def brief_facts(report: Report) -> Iterator[Fact]:
    """The summary without what another report of the same run says as well."""
    return (f for f in facts(report) if f.label in ("edition", "achieved", "verdicts", "errata") or f.label in _LEVELS)


_LEVELS = ("Level 1", "Level 2", "Level 3")


def _found(report: Report) -> Iterator[Fact]:
    for number in sorted(report.levels):
        yield _level(report, number)
    reached = f"level {report.achieved}" if report.achieved else "no level"
    claimed = f" (claimed: level {report.claimed})" if report.claimed is not None else ""
    yield Fact("achieved", reached + claimed)
    yield _implemented(report)
    yield _own("hardening", report.hardening)
    yield from (_own(group, found) for group, found in bound_extensions(report).items())
    yield Fact("verdicts", ", ".join(f"{n} {label}" for label, n in report.counts().items() if n) or "none")
    errata = [r.requirement.id for r in report.requirements if any(_is_erratum(c) for c in r.checks)]
    if errata:
        yield Fact("errata", f"the text's defects, not the server's: {', '.join(errata)}", "doubtful")


def bound_extensions(report: Report) -> dict[str, str]:
    """The verdicts of the extension groups that bind the server, by their names."""
    return {name: found for name, found in report.extensions.items() if found != Verdict.NOT_APPLICABLE.label}


def _own(group: str, verdict: str) -> Fact:
    """A group that decides no level, with the verdict of its own."""
    return Fact(one_line(group), one_line(verdict), {"pass": "good", "fail": "bad"}.get(verdict, ""))


def no_verdict(report: Report) -> list[str]:
    """Why there is no verdict, a line at a time; nothing where there is one."""
    return [one_line(line, 1_000) for line in lines(report.failure or "")][:EVIDENCE_LINES]


def once_more(report: Report) -> list[str]:
    """The command that shows once more why there is no verdict, a line at a time, as it has to be pasted."""
    return lines(report.reproduce) if report.failure is not None else []


def _row(result: RequirementResult) -> Row:
    requirement = result.requirement
    keyword = "" if requirement.keyword == "MUST" else f" ({requirement.keyword})"
    reason = "" if result.verdict is Verdict.PASS else reason_of(result)
    return Row(result.verdict, requirement.id, f"{requirement.title}{keyword}{': ' if reason else ''}{reason}")


def reason_of(result: RequirementResult) -> str:
    """Why a requirement has its verdict, on one line: its own reason, or what the worst of its checks saw."""
    if result.reason:
        return one_line(result.reason, REASON_CHARACTERS)
    worst = max(result.checks, key=lambda c: c.verdict, default=None)
    if worst is None:
        return ""
    erratum = "erratum of the text: " if _is_erratum(worst) else ""
    return erratum + one_line(worst.observed, REASON_CHARACTERS)


def _folded(results: list[RequirementResult]) -> Iterator[Row]:
    """Passes become a row a group, what does not apply one row of the section; the rest stays."""
    idle: dict[str, int] = {}
    for group in dict.fromkeys(r.requirement.group for r in results):
        members = [r for r in results if r.requirement.group == group]
        passed = sum(r.verdict is Verdict.PASS for r in members)
        if passed:
            yield Row(Verdict.PASS, group, f"{passed} passed")
        yield from (_row(r) for r in members if r.verdict not in (Verdict.PASS, Verdict.NOT_APPLICABLE))
        idle[group] = sum(r.verdict is Verdict.NOT_APPLICABLE for r in members)
    if any(idle.values()):
        counted = ", ".join(f"{group} {n}" for group, n in idle.items() if n)
        yield Row(Verdict.NOT_APPLICABLE, "others", f"{sum(idle.values())} not judged or not applicable: {counted}")


def detail_of(result: RequirementResult) -> Detail:
    """Everything about one requirement, with those of its checks that decided its verdict."""
    requirement = result.requirement
    level = f"level {requirement.level}" if requirement.level is not None else "deciding no level"
    return Detail(
        result.verdict,
        requirement.id,
        requirement.title,
        f"{requirement.keyword}, {level}",
        " ".join(requirement.statement.split()),
        " ".join(requirement.mend.split()),
        tuple(check_detail(c) for c in result.checks if c.verdict is result.verdict),
        one_line(result.reason, 1_000),
    )


def check_detail(check: CheckResult) -> CheckDetail:
    """A check as it is shown."""
    return CheckDetail(
        one_line(check.name),
        check.verdict,
        check.subjects,
        tuple(_cut(check.expected)),
        tuple(_cut(check.observed)),
        tuple(_cut(check.evidence)),
        tuple(lines(check.reproduce)),
        one_line(check.location, 300),
    )


def _cut(text: str) -> Iterable[str]:
    """The lines of *text*; what a terminal should not be flooded with is left to the JSON report, and said to be."""
    every = lines(text)
    for line in every[:EVIDENCE_LINES]:
        if len(line) > EVIDENCE_CHARACTERS:
            yield f"{line[:EVIDENCE_CHARACTERS]}… ({len(line):,} characters; whole in the JSON report)"
        else:
            yield line
    if len(every) > EVIDENCE_LINES:
        yield f"… ({len(every) - EVIDENCE_LINES:,} more lines; whole in the JSON report)"


def _level(report: Report, number: int) -> Fact:
    found = report.levels[number]
    label = f"Level {number}"
    if found == "proved":
        return Fact(label, found, "good")
    why, tone = {
        "failed": ("by", "bad"),
        "attested": ("by the vendor's word for", "doubtful"),
        "unproved": ("for want of", "doubtful"),
    }[found]
    ids = in_the_way(report, number)
    return Fact(label, f"{found} {why} {_some(ids)}" if ids else found, tone)


def _acceptance(entry: Acceptance) -> Fact:
    what = one_line(f"{entry.requirement} {entry.check}".strip())
    reason = one_line(entry.reason, 300)
    if entry.state == "stale":
        return Fact("stale", f"{what} is not {entry.verdict.label} any more: take it out of the baseline", "bad")
    if entry.state == "expired":
        return Fact("expired", f"{what} was accepted until {entry.until}: {reason}", "bad")
    state = "accepted" if entry.state == "accepted" else "undecided"
    return Fact(state, f"{what} ({entry.verdict.label}) until {entry.until}: {reason}", "doubtful")


def in_the_way(report: Report, number: int) -> list[str]:
    """The ids of the requirements that keep a level from being proved."""
    verdicts = {
        "failed": (Verdict.FAIL,),
        "attested": (Verdict.ATTESTED,),
        "unproved": (Verdict.NOT_OBSERVED, Verdict.ERROR),
    }.get(report.levels[number], ())
    return [
        r.requirement.id
        for r in report.requirements
        if r.verdict in verdicts
        and r.requirement.keyword == "MUST"
        and r.requirement.level is not None
        and r.requirement.level <= number
    ]


def _some(ids: list[str], limit: int = 6) -> str:
    more = f" and {len(ids) - limit} more" if len(ids) > limit else ""
    return ", ".join(ids[:limit]) + more


def _implemented(report: Report) -> Fact:
    if report.implemented is None:
        return Fact("offloads", "could not be observed", "doubtful")
    if report.implemented:
        return Fact("offloads", "yes")
    return Fact("offloads", f"no: it does not implement LRO, {_left_open(report)}")


def _left_open(report: Report) -> str:
    """What the edition says to a server without LRO."""
    if report.levels.get(1) == "failed":
        return "which every level requires"
    return "which levels 1 and 2 leave to a server and level 3 requires"


def _is_erratum(check: CheckResult) -> bool:
    return check.erratum and check.verdict is Verdict.WARN
