"""Content of a rendered report as data: sections, details of failures, summary facts. All text is escaped.

The renderings choose the layout; the words are the same in all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lro_conformance.capture.marks import MARK
from lro_conformance.judging.results import Acceptance, CheckResult, Report, RequirementResult
from lro_conformance.judging.subjects import SHARED_FILE
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.exit_code import is_selection, open_results
from lro_conformance.report.sanitize import lines, one_line

REASON_CHARACTERS = 200
EVIDENCE_CHARACTERS = 8_000
EVIDENCE_LINES = 40

# A terminal shows the first run of a bad server on two screens: at most 120 lines of 100 columns.
TABLE_ROWS = 40
"""Rows of a report's table above which a terminal counts verdicts, if there are failures to show below it."""
SHOWN = 6
"""Number of causes that a terminal shows, one of them with its evidence."""
MANY = 6
"""Number of requirements of a level from which on those with one reason for no verdict are a single row."""
BRIEF_CHARACTERS = 200
"""Characters of a line of evidence in a view that has to be short, and of what is shown of a failure without it."""
BRIEF_EVIDENCE = 9
"""Lines of evidence in such a view."""
BRIEF_SCRIPT = 2_000
"""Characters of a script up to which such a view shows it; half a script is useless."""

MORE = "of each with a script, and why others were not observed: -v, or --only ID"
"""The way to the evidence that a terminal does not show."""

MARKS = {
    Verdict.PASS: "✓",
    Verdict.WARN: "!",
    Verdict.FAIL: "✗",
    Verdict.NOT_OBSERVED: "–",
    Verdict.NOT_APPLICABLE: "·",
    Verdict.NOT_JUDGED: "○",
    Verdict.ATTESTED: "a",
    Verdict.ERROR: "E",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A requirement, or the number of requirements of a group that share a verdict; *id* is then the group."""

    verdict: Verdict
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """The requirements of a level, or those that decide no level."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class CheckDetail:
    """Details of a check. Lines of *evidence* are for pasting: they are neither wrapped nor indented."""

    name: str
    verdict: Verdict
    subjects: int
    expected: tuple[str, ...]
    observed: tuple[str, ...]
    evidence: tuple[str, ...]
    reproduce: tuple[str, ...]
    """Command that reproduces the observation, complete."""
    location: str
    """File and line in the evidence directory."""


@dataclass(frozen=True, slots=True)
class Detail:
    """All details of a requirement, mostly of one that was not met."""

    verdict: Verdict
    id: str
    title: str
    binding: str
    statement: str
    fix: str
    checks: tuple[CheckDetail, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of the summary; *tone* is ``good``, ``bad``, ``doubtful`` or empty."""

    label: str
    text: str
    tone: str = ""


def sections(report: Report, *, unfold: bool = False) -> list[Section]:
    """Verdicts by level, then those that decide no level; *unfold* gives each requirement its own row."""
    if unfold:
        return _sections(report, lambda results: map(_row, results))
    folded = _sections(report, _folded)
    has_failed = any(r.verdict is Verdict.FAIL for r in report.requirements)
    is_long = sum(len(section.rows) for section in folded) > TABLE_ROWS
    return _sections(report, _counted) if has_failed and is_long else folded


def _sections(report: Report, rows: Callable[[list[RequirementResult]], Iterable[Row]]) -> list[Section]:
    part = is_selection(report)
    found: list[Section] = []
    for level in (1, 2, 3, None):
        results = [r for r in report.requirements if r.requirement.level == level and (r.checks or not part)]
        if results:
            verdict = "" if part else f" {report.levels.get(level or 0, 'unproved')}"
            heading = "Deciding no level" if level is None else f"Level {level}{verdict}"
            found.append(Section(heading, tuple(rows(results))))
    return found


def details(report: Report, *, warnings: bool = False) -> Iterator[Detail]:
    """Details of all requirements that were not met: warnings if asked for, errors of the suite, failures."""
    if warnings:
        yield from warnings_of(report)
    for verdict in (Verdict.ERROR, Verdict.FAIL):
        yield from (detail_of(r) for r in report.requirements if r.verdict is verdict)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A server that ended or fell silent in an experiment, and the requirements that were not observed for that."""

    text: str
    ids: tuple[str, ...]
    evidence: tuple[str, ...]
    location: str
    reproduce: tuple[str, ...]


def troubles(report: Report) -> list[Trouble]:
    """Servers that ended in an experiment, each once; empty if that is why there is no verdict at all."""
    found: dict[str, Trouble] = {}
    for result in report.requirements if report.failure is None else ():
        for check in result.checks:
            if check.verdict is not Verdict.NOT_OBSERVED or not check.reproduce:
                continue
            known = found.get(check.observed)
            detail = check_detail(check)
            ids = (*(known.ids if known else ()), result.requirement.id)
            found[check.observed] = Trouble(
                one_line(check.observed, 1_000),
                tuple(dict.fromkeys(ids)),
                detail.evidence,
                detail.location,
                detail.reproduce,
            )
    return list(found.values())


def shown_troubles(report: Report, *, verbose: bool) -> list[Trouble]:
    """Troubles as a terminal shows them: all in full if *verbose*, else the first with some of its evidence."""
    found = troubles(report)
    if verbose or not found:
        return found
    first, *rest = found
    shown = replace(first, evidence=tuple(_brief_lines(first.evidence)), reproduce=_brief_script(first.reproduce))
    return [shown, *(replace(t, evidence=(), location="", reproduce=()) for t in rest)]


@dataclass(frozen=True, slots=True)
class Cause:
    """Failures that show the same: one repair is likely to end all of them."""

    first: Detail
    """The one to read: it is shown with the evidence."""
    others: tuple[Detail, ...]
    """Those that the same repair ends, without the evidence that *first* shows already."""
    level: int | None
    """The lowest level that they keep from being proved; None if they decide none."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all its requirements."""
        return (self.first.id, *(d.id for d in self.others))


def causes(report: Report) -> list[Cause]:
    """Failures and errors by cause, in the order in which to repair them: what blocks the lowest level first."""
    groups: dict[tuple[object, ...], list[RequirementResult]] = {}
    for result in report.requirements:
        if result.verdict in (Verdict.FAIL, Verdict.ERROR):
            groups.setdefault(_cause_key(result), []).append(result)
    found = [_cause(results) for results in groups.values()]
    return sorted(found, key=lambda c: (c.first.verdict is not Verdict.ERROR, c.level or 9, -len(c.others)))


def _cause_key(result: RequirementResult) -> tuple[object, ...]:
    """Equal for failures at the same place of a document, or that show the same observation of the same subject."""
    worst = max(result.checks, key=lambda c: c.verdict, default=None)
    if worst is None:
        return (result.requirement.id,)
    if worst.place:
        return (result.verdict, worst.place)
    observed = _TALLY.sub("", worst.observed)
    return (result.verdict, observed, worst.evidence) if worst.evidence else (result.verdict, observed)


ROOTS = {SHARED_FILE: "LRO-NAME-04"}
"""The requirement whose fix ends all failures at a place."""

_TALLY = re.compile(r" \(\d+ of \d+ subjects\)$")


def _cause(results: list[RequirementResult]) -> Cause:
    levels = [r.requirement.level for r in results if r.requirement.level is not None and _binds(r)]
    roots = {ROOTS.get(c.place) for r in results for c in r.checks}
    ordered = sorted(results, key=lambda r: (r.requirement.id not in roots, r.requirement.level or 9))
    first, *others = map(detail_of, ordered)
    seen = {c.evidence for c in first.checks}
    return Cause(first, tuple(_without(d, seen) for d in others), min(levels, default=None))


def _without(detail: Detail, seen: Container[tuple[str, ...]]) -> Detail:
    """A requirement without evidence, and its script, that has been shown."""
    checks = (replace(c, evidence=(), reproduce=(), location="") if c.evidence in seen else c for c in detail.checks)
    return replace(detail, checks=tuple(checks))


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """A line of evidence; *start* and *end* enclose what is marked in it, and are equal if nothing is."""

    text: str
    start: int = 0
    end: int = 0
    name: str = ""
    """Name of what is marked, such as ``summary/count``."""


def evidence_lines(evidence: Iterable[str]) -> Iterator[EvidenceLine]:
    """Lines of evidence, with the marks below them as places in them."""
    pending: EvidenceLine | None = None
    for text in evidence:
        mark = MARK.fullmatch(text) if pending is not None else None
        if mark is not None and pending is not None:
            yield replace(pending, start=mark.start("underline"), end=mark.end("underline"), name=mark["name"] or "")
            pending = None
            continue
        if pending is not None:
            yield pending
        pending = EvidenceLine(text)
    if pending is not None:
        yield pending


def first_failure(found: Iterable[Cause]) -> Cause | None:
    """The cause that a short view shows in full; None if only the suite itself failed."""
    return next((cause for cause in found if cause.first.verdict is Verdict.FAIL), None)


def others(found: Sequence[Cause]) -> str:
    """The requirements of the causes that a short view does not show."""
    return _abbreviated([id for cause in found[SHOWN:] for id in cause.ids], 12)


def shortened(detail: Detail) -> Detail:
    """A requirement with little evidence of one check, and without a script of more than `BRIEF_SCRIPT` characters."""
    return replace(detail, checks=tuple(map(_shortened, detail.checks[:1])))


def _shortened(check: CheckDetail) -> CheckDetail:
    return replace(
        check,
        expected=(abridged(check.expected),),
        observed=(abridged(check.observed),),
        evidence=tuple(_brief_lines(check.evidence)),
        reproduce=_brief_script(check.reproduce),
    )


def _brief_script(script: tuple[str, ...]) -> tuple[str, ...]:
    characters = sum(map(len, script))
    if characters <= BRIEF_SCRIPT:
        return script
    return (f"# a script of {characters:,} characters: -v shows it, and the HTML and JSON reports have it",)


def abridged(texts: Iterable[str]) -> str:
    """Lines as one that is not long."""
    text = " ".join(texts)
    return f"{text[: BRIEF_CHARACTERS - 1]}…" if len(text) > BRIEF_CHARACTERS else text


def _brief_lines(evidence: Sequence[str]) -> Iterator[str]:
    """Lines of evidence, long ones cut, the last ones left out; those with a mark as they are."""
    for number, text in enumerate(evidence):
        if number >= BRIEF_EVIDENCE:
            yield f"… ({len(evidence) - number:,} more lines: -v)"
            return
        is_marked = number + 1 < len(evidence) and MARK.fullmatch(evidence[number + 1])
        if len(text) > BRIEF_CHARACTERS and not is_marked:
            more = f"… ({len(text):,} characters: -v)"
            yield text[: BRIEF_CHARACTERS - len(more)] + more
        else:
            yield text


def _binds(result: RequirementResult) -> bool:
    return result.requirement.keyword == "MUST"


def next_step(report: Report) -> str | None:
    """Repairs, or else observations, that would prove the next level; None if all are proved or nothing is known."""
    if report.failure is not None or is_selection(report):
        return None
    failed = [n for n in sorted(report.levels) if report.levels[n] == "failed"]
    if not failed:
        return _next_observation(report)
    level = failed[0]
    blocking = [c for c in causes(report) if c.level is not None and c.level <= level]
    others = [f" (and {len(c.others)} by the same cause)" if c.others else "" for c in blocking]
    heads = _abbreviated([f"{c.first.id}{also}" for c, also in zip(blocking, others, strict=True)], 8)
    what = f"this: {heads}" if len(blocking) == 1 else f"these {len(blocking)}: {heads}"
    if trouble := _hiding(report):
        what = f"{trouble}, then {what}"
    if unseen := _unobserved(report, level):
        return f"fix {what}; level {level} also needs {_ids(unseen)}, not observed so far"
    if report.implemented is False:
        return f"fix {what}; only then do the other requirements of LRO apply"
    return f"fix {what}, and level {level} is proved"


def _next_observation(report: Report) -> str | None:
    """The step towards the lowest unproved level: requirements to be observed, or the trouble that hides them."""
    unproved = (n for n in sorted(report.levels) if report.levels[n] == "unproved")
    unseen = _unobserved(report, next(unproved, 0))
    if not unseen:
        return None
    if trouble := _hiding(report):
        return f"fix {trouble}"
    if {r.reason for r in unseen} <= {*report.notes}:  # the notes say it, and what to do
        return None
    first = "" if len(unseen) == 1 else "the first: "
    return f"let the suite observe {_ids(unseen)} ({first}{reason_of(unseen[0])})"


def _hiding(report: Report) -> str:
    hidden = {id for trouble in troubles(report) for id in trouble.ids}
    return f"the trouble that hides {len(hidden)} requirement{'s' * (len(hidden) > 1)}" if hidden else ""


def _unobserved(report: Report, level: int) -> list[RequirementResult]:
    """The MUSTs up to a level that were not observed."""
    return [
        r
        for r in report.requirements
        if r.verdict is Verdict.NOT_OBSERVED and _binds(r) and 0 < (r.requirement.level or 0) <= level
    ]


def _ids(results: Iterable[RequirementResult]) -> str:
    return _abbreviated([r.requirement.id for r in results])


def warnings_of(report: Report) -> Iterator[Detail]:
    """Details of all warnings."""
    yield from (detail_of(r) for r in report.requirements if r.verdict is Verdict.WARN)


def facts(report: Report) -> Iterator[Fact]:
    """Facts of the summary."""
    server = report.server
    protocol = f" (MCP {one_line(server.protocol, 40)})" if server.protocol else ""
    name = " ".join(one_line(part, 120) for part in (server.name, server.version) if part)
    yield Fact("server", f"{name or 'unnamed'}{protocol}")
    yield Fact("edition", one_line(report.edition))
    if report.failure is None:
        yield from _outcome(report)
        yield from map(_acceptance, report.baseline)
        yield from _still_open(report)
    if (step := next_step(report)) is not None:
        yield Fact("next", step, "doubtful")
    if report.incomplete and report.failure is None:
        yield Fact("incomplete", one_line(report.incomplete, 300), "bad")
    for note in report.notes:
        yield Fact("note", one_line(note, 1_000))
    starts = f"{report.starts} server {'start' if report.starts == 1 else 'starts'}"
    yield Fact("run", f"seed {report.seed}, {report.duration_s:.1f} s, {starts}")


def brief_facts(report: Report) -> Iterator[Fact]:
    """The facts of the summary that differ between editions of one run."""
    return (f for f in facts(report) if f.label in ("edition", "achieved", "verdicts", "errata") or f.label in _LEVELS)


_LEVELS = ("Level 1", "Level 2", "Level 3")


def _outcome(report: Report) -> Iterator[Fact]:
    if is_selection(report):
        chosen = [r for r in report.requirements if r.checks]
        yield Fact(
            "selected",
            f"{len(chosen)} of {len(report.requirements)} requirements, by few experiments; a level needs all of them",
            "doubtful",
        )
        yield from (_level(report, n) for n in sorted(report.levels) if report.levels[n] == "failed")
        yield _implemented(report)
        yield Fact("verdicts", _verdict_counts(chosen))
        return
    for number in sorted(report.levels):
        yield _level(report, number)
    achieved = f"level {report.achieved}" if report.achieved else "no level"
    claimed = f" (claimed: level {report.claimed})" if report.claimed is not None else ""
    yield Fact("achieved", achieved + claimed)
    yield _implemented(report)
    yield _group("hardening", report.hardening)
    yield from (_group(group, verdict) for group, verdict in applicable_extensions(report).items())
    yield Fact("verdicts", _verdict_counts(report.requirements))
    errata = [r.requirement.id for r in report.requirements if any(_is_erratum(c) for c in r.checks)]
    if errata:
        yield Fact("errata", f"defects of the specification, not of the server: {', '.join(errata)}", "doubtful")


def _verdict_counts(results: Iterable[RequirementResult]) -> str:
    given = Counter(r.verdict for r in results)
    return ", ".join(f"{given[v]} {v.label}" for v in Verdict if given[v]) or "none"


def applicable_extensions(report: Report) -> dict[str, str]:
    """Verdicts by name of the extension groups that apply to the server."""
    return {name: verdict for name, verdict in report.extensions.items() if verdict != Verdict.NOT_APPLICABLE.label}


def _group(group: str, verdict: str) -> Fact:
    """The verdict of a group that decides no level."""
    return Fact(one_line(group), one_line(verdict), {"pass": "good", "fail": "bad"}.get(verdict, ""))


def failure_lines(report: Report) -> list[str]:
    """Lines that explain why there is no verdict; empty if there is one."""
    return [one_line(line, 1_000) for line in lines(report.failure or "")][:EVIDENCE_LINES]


def failure_reproducer(report: Report) -> list[str]:
    """Lines of the command that reproduces why there is no verdict; empty if there is one."""
    return lines(report.reproduce) if report.failure is not None else []


def _row(result: RequirementResult) -> Row:
    requirement = result.requirement
    keyword = "" if requirement.keyword == "MUST" else f" ({requirement.keyword})"
    reason = "" if result.verdict is Verdict.PASS else reason_of(result)
    return Row(result.verdict, requirement.id, f"{requirement.title}{keyword}{': ' if reason else ''}{reason}")


def reason_of(result: RequirementResult) -> str:
    """Reason for a verdict, on one line: that of the requirement, or the observation of its worst check."""
    if result.reason:
        return one_line(result.reason, REASON_CHARACTERS)
    worst = max(result.checks, key=lambda c: c.verdict, default=None)
    if worst is None:
        return ""
    erratum = "erratum of the specification: " if _is_erratum(worst) else ""
    return erratum + one_line(worst.observed, REASON_CHARACTERS)


def _folded(results: list[RequirementResult]) -> Iterator[Row]:
    """A row with the passes of each group, a row for each result to read, and what is not judged or does not apply.

    Results that were not observed for one reason, if they are many, are one row.
    """
    reasons = Counter(r.reason for r in results if r.verdict is Verdict.NOT_OBSERVED)
    many = {reason for reason, number in reasons.items() if number >= MANY}
    uncounted: dict[Verdict, dict[str, int]] = {Verdict.NOT_JUDGED: {}, Verdict.NOT_APPLICABLE: {}}
    for group in dict.fromkeys(r.requirement.group for r in results):
        members = [r for r in results if r.requirement.group == group]
        passed = sum(r.verdict is Verdict.PASS for r in members)
        if passed:
            yield Row(Verdict.PASS, group, f"{passed} passed")
        shown = (r for r in members if r.verdict not in (Verdict.PASS, *uncounted))
        yield from (_row(r) for r in shown if r.verdict is not Verdict.NOT_OBSERVED or r.reason not in many)
        for verdict, number in uncounted.items():
            number[group] = sum(r.verdict is verdict for r in members)
    for reason in (reason for reason in reasons if reason in many):
        ids = [r.requirement.id for r in results if r.verdict is Verdict.NOT_OBSERVED and r.reason == reason]
        text = f"{len(ids)} not observed ({_abbreviated(ids, 3)}): {one_line(reason, REASON_CHARACTERS)}"
        yield Row(Verdict.NOT_OBSERVED, "others", text)
    for verdict, number in uncounted.items():
        if any(number.values()):
            counts = ", ".join(f"{group} {n}" for group, n in number.items() if n)
            yield Row(verdict, "others", f"{sum(number.values())} {verdict.label.replace('-', ' ')}: {counts}")


def _counted(results: list[RequirementResult]) -> Iterator[Row]:
    """A row with the requirements of each verdict, the worst first, and the passes of each group."""
    place = "no level" if (level := results[0].requirement.level) is None else f"level {level}"
    for verdict in (Verdict.ERROR, Verdict.FAIL, Verdict.WARN, Verdict.NOT_OBSERVED, Verdict.ATTESTED):
        if ids := [r.requirement.id for r in results if r.verdict is verdict]:
            yield Row(verdict, place, f"{len(ids)} {_COUNTED[verdict]}: {_abbreviated(ids, 3)}")
    groups = Counter(r.requirement.group for r in results if r.verdict is Verdict.PASS)
    if groups:
        yield Row(Verdict.PASS, place, f"{groups.total()} passed: {', '.join(f'{g} {n}' for g, n in groups.items())}")


_COUNTED = {
    Verdict.ERROR: "with an error of the suite",
    Verdict.FAIL: "failed",
    Verdict.WARN: "with a warning",
    Verdict.NOT_OBSERVED: "not observed",
    Verdict.ATTESTED: "attested",
}


def detail_of(result: RequirementResult) -> Detail:
    """All details of a requirement, with the checks that decided its verdict."""
    requirement = result.requirement
    level = f"level {requirement.level}" if requirement.level is not None else "deciding no level"
    return Detail(
        result.verdict,
        requirement.id,
        requirement.title,
        f"{requirement.keyword}, {level}",
        " ".join(requirement.statement.split()),
        " ".join(requirement.fix.split()),
        tuple(check_detail(c) for c in result.checks if c.verdict is result.verdict),
        one_line(result.reason, 1_000),
    )


def check_detail(check: CheckResult) -> CheckDetail:
    """Details of a check, escaped and cut."""
    return CheckDetail(
        one_line(check.name),
        check.verdict,
        check.subjects,
        tuple(_truncated(check.expected)),
        tuple(_truncated(check.observed)),
        tuple(_truncated(check.evidence)),
        tuple(lines(check.reproduce)),
        one_line(check.location, 300),
    )


def _truncated(text: str) -> Iterable[str]:
    """Lines of *text*; lines that are too long or too many are cut, with a pointer to the JSON report."""
    every = lines(text)
    for line in every[:EVIDENCE_LINES]:
        if len(line) > EVIDENCE_CHARACTERS:
            yield f"{line[:EVIDENCE_CHARACTERS]}… ({len(line):,} characters; complete in the JSON report)"
        else:
            yield line
    if len(every) > EVIDENCE_LINES:
        yield f"… ({len(every) - EVIDENCE_LINES:,} more lines; complete in the JSON report)"


def _level(report: Report, number: int) -> Fact:
    level = report.levels[number]
    label = f"Level {number}"
    if level == "proved":
        return Fact(label, level, "good")
    link, tone = {
        "failed": (" by", "bad"),
        "attested": (" by the vendor for", "doubtful"),
        "unproved": (": no verdict on", "doubtful"),
    }[level]
    below = [n for n in report.levels if n < number and report.levels[n] == level]
    named = {id for n in below for id in blocking_ids(report, n)}
    ids = [id for id in blocking_ids(report, number) if id not in named]
    what = " and ".join([*(["the same"] if named else []), *([_abbreviated(ids)] if ids else [])])
    return Fact(label, f"{level}{link} {what}" if what else level, tone)


def _still_open(report: Report) -> Iterator[Fact]:
    """Requirements that keep the claimed level from being proved although a baseline accepts the rest."""
    if report.claimed is None or not any(a.state == "accepted" for a in report.baseline):
        return
    for result, verdict in open_results(report):
        if verdict is Verdict.NOT_OBSERVED:
            names = ", ".join(one_line(c.name) for c in result.checks if c.verdict is verdict)
            yield Fact("still open", f"{result.requirement.id} ({names}): accept it with verdict: not-observed", "bad")
        else:
            yield Fact("still open", f"{result.requirement.id} ({verdict.label}): fix it, or accept it", "bad")


def _acceptance(entry: Acceptance) -> Fact:
    subject = one_line(f"{entry.requirement} {entry.check}".strip())
    reason = one_line(entry.reason, 300)
    if entry.state == "stale":
        return Fact("stale", f"{subject} is no longer {entry.verdict.label}: remove it from the baseline", "bad")
    if entry.state == "expired":
        return Fact("expired", f"{subject} was accepted until {entry.until}: {reason}", "bad")
    state = "accepted" if entry.state == "accepted" else "undecided"
    return Fact(state, f"{subject} ({entry.verdict.label}) until {entry.until}: {reason}", "doubtful")


def blocking_ids(report: Report, number: int) -> list[str]:
    """Ids of the requirements that prevent a level from being proved."""
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


def _abbreviated(ids: list[str], limit: int = 5) -> str:
    more = f" and {len(ids) - limit} more" if len(ids) > limit else ""
    return ", ".join(ids[:limit]) + more


def _implemented(report: Report) -> Fact:
    if report.implemented is None:
        return Fact("offloads", "unknown: no call of recall, search or inject shows it", "doubtful")
    if report.implemented:
        return Fact("offloads", "yes")
    return Fact("offloads", f"no: it does not implement LRO, {_duty_to_implement(report)}")


def _duty_to_implement(report: Report) -> str:
    """Consequence of not implementing LRO in the edition of the report."""
    if report.levels.get(1) == "failed":
        return "which every level requires"
    return "which is optional at levels 1 and 2 and required at level 3"


def _is_erratum(check: CheckResult) -> bool:
    return check.erratum and check.verdict is Verdict.WARN
