"""Content of a rendered report as data: sections and summary facts.

The renderings choose the layout; the words are the same in all of them. Text from a server, a profile or a baseline is
escaped; ids, titles and groups of requirements are those of the catalogue.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lro_conformance.errors import EXIT_NO_VERDICT, EXIT_OK
from lro_conformance.judging.results import Acceptance, Report, RequirementResult
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.causes import causes, next_step
from lro_conformance.report.details import (
    REASON_CHARACTERS,
    abbreviated,
    is_erratum,
    reason_of,
    reasons_without_repetition,
    unobserved_part,
)
from lro_conformance.report.exit_code import blocking_results, exit_code, is_selection, is_unselected
from lro_conformance.report.sanitize import one_line

TABLE_ROWS = 40
"""Largest number of rows in a table of requirements on a terminal if the report has failures. A longer table is
replaced by counts, so that the failures below it stay in view."""
MIN_SHARED_REASON = 6
"""If at least this many requirements of a level were not observed for the same reason, they share a row."""

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
    """A row about a requirement, or about several with the same verdict. For several, *id* is their group, their level
    or ``others``."""

    verdict: Verdict
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """The requirements of a level, or the requirements that belong to no level."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of the summary; *tone* is ``good``, ``bad``, ``doubtful`` or empty."""

    label: str
    text: str
    tone: str = ""


_SECTIONS = (1, 2, 3, None)
"""Levels of the sections in their order. None is for the requirements that belong to no level."""


def verbose_hint(report: Report) -> str:
    """Advice to show all failures in full. Empty if there are fewer than two causes, because the only cause is shown in
    full."""
    if len(causes(report)) < 2:
        return ""
    unobserved = sum(r.verdict is Verdict.NOT_OBSERVED and not is_unselected(r) for r in report.requirements)
    plural = "requirements were" if unobserved > 1 else "requirement was"
    why = f", and why {unobserved} {plural} not observed" if unobserved else ""
    return f"-v shows all failures with evidence and script{why}; --only ID runs one of them again"


def sections(report: Report, *, unfold: bool = False, count: bool = False) -> list[Section]:
    """Sections for the levels, then for the requirements that belong to no level.

    With *unfold*, each requirement has a row of its own.

    With *count*, a report with failures has only rows of counts, even if it is short. Its failures are shown below the
    rows.
    """
    if unfold:
        reasons = reasons_without_repetition(
            r for level in _SECTIONS for r in report.requirements if r.requirement.level == level
        )
        return _sections(report, lambda results: (_row(r, reasons.get(r.requirement.id)) for r in results))
    folded = _sections(report, _folded)
    has_failed = any(r.verdict is Verdict.FAIL for r in report.requirements)
    is_long = count or sum(len(section.rows) for section in folded) > TABLE_ROWS
    return _sections(report, _counted) if has_failed and is_long else folded


def _sections(report: Report, rows: Callable[[list[RequirementResult]], Iterable[Row]]) -> list[Section]:
    is_part = is_selection(report)
    shown_sections: list[Section] = []
    for level in _SECTIONS:
        results = [r for r in report.requirements if r.requirement.level == level and (r.checks or not is_part)]
        if results:
            verdict = "" if is_part else f" {report.levels.get(level or 0, 'unproved')}"
            heading = "Deciding no level" if level is None else f"Level {level}{verdict}{_cause_below(report, level)}"
            shown_sections.append(Section(heading, tuple(rows(results))))
    return shown_sections


def _cause_below(report: Report, level: int) -> str:
    """The reason why a level failed, if all of its own requirements are met: a lower level failed. Otherwise empty."""
    failed_levels = {r.requirement.level for r in report.requirements if r.verdict is Verdict.FAIL}
    below = min((n for n in failed_levels if n is not None and n < level), default=None)
    if below is None or level in failed_levels or report.levels.get(level) != "failed":
        return ""
    return f", since level {below} failed"


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
        yield from _gate(report)
    if (step := next_step(report)) is not None:
        yield Fact("next", step, "doubtful")
    if report.incomplete and report.failure is None:
        yield Fact("incomplete", one_line(report.incomplete, 300), "bad")
    for note in report.notes:
        yield Fact("note", one_line(note, 1_000))
    starts = f"{report.starts} server {'start' if report.starts == 1 else 'starts'}"
    yield Fact("run", f"seed {report.seed}, {report.duration_s:.1f} s, {starts}")


def brief_facts(report: Report) -> Iterator[Fact]:
    """The facts that depend most on the edition. They are the summary of a report that is shown after another report of
    the same run."""
    return (f for f in facts(report) if f.label in ("edition", "achieved", "verdicts", "errata") or f.label in _LEVELS)


_LEVELS = ("Level 1", "Level 2", "Level 3")


def _outcome(report: Report) -> Iterator[Fact]:
    if is_selection(report):
        selected = [r for r in report.requirements if r.checks]
        yield Fact(
            "selected",
            f"{len(selected)} of {len(report.requirements)} requirements, {_by_experiments(report)}; a level needs all "
            "requirements",
            "doubtful",
        )
        yield from (level_fact(report, n) for n in sorted(report.levels) if report.levels[n] == "failed")
        yield _implemented(report)
        yield Fact("verdicts", _verdict_counts(selected))
        return
    for number in sorted(report.levels):
        yield level_fact(report, number)
    achieved = f"level {report.achieved}" if report.achieved else "no level"
    claimed = f" (claimed: level {report.claimed})" if report.claimed is not None else ""
    yield Fact("achieved", achieved + claimed)
    yield _implemented(report)
    yield _group(report, "hardening", report.hardening)
    yield from (_group(report, group, verdict) for group, verdict in applicable_extensions(report).items())
    yield Fact("verdicts", _verdict_counts(report.requirements))
    errata = [r.requirement.id for r in report.requirements if any(is_erratum(c) for c in r.checks)]
    if errata:
        yield Fact("errata", f"defects of the specification, not of the server: {', '.join(errata)}", "doubtful")


def _by_experiments(report: Report) -> str:
    if report.all_experiments:
        return "judged by all experiments, because the last failure showed only in one that their checks do not need"
    return "judged by the experiments that their checks need"


def _verdict_counts(results: Iterable[RequirementResult]) -> str:
    counts = Counter(r.verdict for r in results)
    return ", ".join(f"{counts[v]} {v.label}" for v in Verdict if counts[v]) or "none"


def applicable_extensions(report: Report) -> dict[str, str]:
    """The verdict of each extension group that applies to the server, by the name of the group."""
    return {name: verdict for name, verdict in report.extensions.items() if verdict != Verdict.NOT_APPLICABLE.label}


def _group(report: Report, group: str, verdict: str) -> Fact:
    """The verdict of a group that decides no level, with the number of its requirements that were not observed."""
    unobserved = sum(r.requirement.group == group and r.verdict is Verdict.NOT_OBSERVED for r in report.requirements)
    text = f"{verdict} ({unobserved} not observed)" if unobserved and verdict == "pass" else verdict
    return Fact(one_line(group), one_line(text), {"pass": "good", "fail": "bad"}.get(verdict, ""))


def _row(result: RequirementResult, reason_text: str | None = None) -> Row:
    """The row of a requirement, with the reason for its verdict. If *reason_text* is given, it takes the place of the
    reason.

    If the requirement passed, the row has no reason. Instead it says why some of its checks were not observed, if there
    are such checks.
    """
    requirement = result.requirement
    keyword = "" if requirement.keyword == "MUST" else f" ({requirement.keyword})"
    full_reason = reason_of(result) if reason_text is None else reason_text
    reason = unobserved_part(result) if result.verdict is Verdict.PASS else full_reason
    unmet = "not met: " if result.verdict in (Verdict.FAIL, Verdict.WARN) else ""  # the title says what has to be true
    return Row(result.verdict, requirement.id, f"{unmet}{requirement.title}{keyword}{': ' if reason else ''}{reason}")


def _folded(results: list[RequirementResult]) -> Iterator[Row]:
    """Rows of a level, in which some requirements are only counted.

    Passes are counted in one row for each group. Requirements that are not judged are counted in one row, and
    requirements that do not apply in another. Every other requirement has a row of its own. But if at least
    `MIN_SHARED_REASON` requirements were not observed for the same reason, they share a row.
    """
    reason_counts = Counter(r.reason for r in results if r.verdict is Verdict.NOT_OBSERVED)
    shared_reasons = {reason for reason, count in reason_counts.items() if count >= MIN_SHARED_REASON}
    group_counts: dict[Verdict, dict[str, int]] = {Verdict.NOT_JUDGED: {}, Verdict.NOT_APPLICABLE: {}}
    for group in dict.fromkeys(r.requirement.group for r in results):
        members = [r for r in results if r.requirement.group == group]
        passed = sum(r.verdict is Verdict.PASS for r in members)
        if passed:
            yield Row(Verdict.PASS, group, f"{passed} passed")
        single = (r for r in members if r.verdict not in (Verdict.PASS, *group_counts))
        yield from (_row(r) for r in single if r.verdict is not Verdict.NOT_OBSERVED or r.reason not in shared_reasons)
        for verdict, by_group in group_counts.items():
            by_group[group] = sum(r.verdict is verdict for r in members)
    for reason in (reason for reason in reason_counts if reason in shared_reasons):
        ids = [r.requirement.id for r in results if r.verdict is Verdict.NOT_OBSERVED and r.reason == reason]
        text = f"{len(ids)} not observed ({abbreviated(ids, 3)}): {one_line(reason, REASON_CHARACTERS)}"
        yield Row(Verdict.NOT_OBSERVED, "others", text)
    for verdict, by_group in group_counts.items():
        if any(by_group.values()):
            counts = ", ".join(f"{group} {n}" for group, n in by_group.items() if n)
            yield Row(verdict, "others", f"{sum(by_group.values())} {verdict.label.replace('-', ' ')}: {counts}")


def _counted(results: list[RequirementResult]) -> Iterator[Row]:
    """A row for each verdict, beginning with the worst. It has the first ids of the requirements with this verdict.

    The row of passes has the number of passes in each group instead of ids. Requirements that are not judged or do not
    apply have no row.
    """
    level_name = "no level" if (level := results[0].requirement.level) is None else f"level {level}"
    for verdict in (Verdict.ERROR, Verdict.FAIL, Verdict.WARN, Verdict.NOT_OBSERVED, Verdict.ATTESTED):
        if ids := [r.requirement.id for r in results if r.verdict is verdict]:
            yield Row(verdict, level_name, f"{len(ids)} {_COUNT_PHRASES[verdict]}: {abbreviated(ids, 3)}")
    groups = Counter(r.requirement.group for r in results if r.verdict is Verdict.PASS)
    if groups:
        yield Row(
            Verdict.PASS, level_name, f"{groups.total()} passed: {', '.join(f'{g} {n}' for g, n in groups.items())}"
        )


_COUNT_PHRASES = {
    Verdict.ERROR: "with an error of the suite",
    Verdict.FAIL: "failed",
    Verdict.WARN: "with a warning",
    Verdict.NOT_OBSERVED: "not observed",
    Verdict.ATTESTED: "attested",
}


def level_fact(report: Report, number: int) -> Fact:
    """The verdict of a level and what keeps it from being proved."""
    level = report.levels[number]
    label = f"Level {number}"
    if level == "proved":
        return Fact(label, level, "good")
    preposition, tone = {
        "failed": (" by", "bad"),
        "attested": (" by the vendor for", "doubtful"),
        "unproved": (": no verdict on", "doubtful"),
    }[level]
    below = [n for n in report.levels if n < number and report.levels[n] == level]
    lower_ids = {id for n in below for id in blocking_ids(report, n)}
    ids = [id for id in blocking_ids(report, number) if id not in lower_ids]
    blocking = " and ".join([*(["the same"] if lower_ids else []), *([abbreviated(ids)] if ids else [])])
    return Fact(label, f"{level}{preposition} {blocking}" if blocking else level, tone)


def _still_open(report: Report) -> Iterator[Fact]:
    """Facts about the checks that the baseline does not accept and that keep the claim from holding, with advice.

    The checks are those of `blocking_checks`.
    """
    blocking = blocking_checks(report)
    if any(verdict is Verdict.FAIL for _, _, verdict in blocking):
        unobserved_ids = [id for id, _, verdict in blocking if verdict is Verdict.NOT_OBSERVED]
        blocking = [check for check in blocking if check[2] is not Verdict.NOT_OBSERVED]
    else:
        unobserved_ids = []
    for id, check, verdict in blocking[:MAX_BLOCKING_CHECKS]:
        yield Fact("still open", one_line(f"{id} {check} ({verdict.label}): {_ADVICE[verdict]}"), "bad")
    if (rest := len(blocking) - MAX_BLOCKING_CHECKS) > 0:
        yield Fact("still open", f"{rest} more", "bad")
    if ids := list(dict.fromkeys(unobserved_ids)):
        advice = f"fix the failures first, which may hide {'it' if len(ids) == 1 else 'them'}"
        yield Fact("still open", one_line(f"{abbreviated(ids)} (not-observed): {advice}"), "bad")


_ADVICE = {
    Verdict.ERROR: "a defect of lro-spec, not of the server: please report it",
    Verdict.FAIL: "fix it, or accept it",
    Verdict.NOT_OBSERVED: "let it be observed, or accept it with verdict: not-observed",
}


MAX_BLOCKING_CHECKS = 12
"""Largest number of checks that the summary lists as still open. Further checks are only counted."""


def blocking_checks(report: Report) -> list[tuple[str, str, Verdict]]:
    """Requirement, name and verdict of each check that keeps the claim from holding.

    Checks that are accepted by an entry of the baseline are left out. Checks with an expired entry are left out, too,
    because expired entries are reported anyway. Empty if there is no baseline, or if the claim holds with the baseline.
    """
    if not report.baseline or exit_code(report) == EXIT_OK:
        return []
    listed = {a.check for a in report.baseline if a.state in ("accepted", "expired")}
    return [
        (result.requirement.id, check.name, verdict)
        for result, verdict in blocking_results(report)
        for check in result.checks
        if check.verdict is verdict and check.name not in listed
    ]


def gate(report: Report) -> str:
    """The exit code and how the baseline affects it. Empty if there is no baseline, or if the server could not be
    observed."""
    if not report.baseline or report.failure is not None:
        return ""
    code = exit_code(report)
    if code == EXIT_OK:
        accepted = "fails" if report.claimed is None else f"keeps level {report.claimed} from being proved"
        return f"green, exit code 0: the baseline accepts all that {accepted}"
    if code == EXIT_NO_VERDICT:
        return f"no verdict, exit code {code}"
    states = Counter(a.state for a in report.baseline)
    reasons = [f"{states[s]} {'entries' if states[s] > 1 else 'entry'} {s}" for s in ("stale", "expired") if states[s]]
    reasons += [f"{open_count} still open"] if (open_count := len(blocking_checks(report))) else []
    return f"red, exit code {code}: {', '.join(reasons) or 'the claim does not hold'}"


def _gate(report: Report) -> Iterator[Fact]:
    if text := gate(report):
        yield Fact("gate", text, {EXIT_OK: "good", EXIT_NO_VERDICT: "doubtful"}.get(exit_code(report), "bad"))


def _acceptance(entry: Acceptance) -> Fact:
    label = "undecided" if entry.state == "open" else entry.state
    return Fact(label, acceptance_line(entry), "bad" if entry.state in ("stale", "expired") else "doubtful")


def acceptance_line(entry: Acceptance) -> str:
    """An entry of the baseline in one line: what it accepts, until when, and why. For a stale entry, the line advises
    to remove the entry instead."""
    subject = one_line(f"{entry.requirement} {entry.check}".strip())
    reason = one_line(entry.explanation, 300)
    if entry.state == "stale":
        return f"{subject} is no longer {entry.verdict.label}: remove it from the baseline"
    if entry.state == "expired":
        return f"{subject} was accepted until {entry.until}: {reason}"
    return f"{subject} ({entry.verdict.label}) until {entry.until}: {reason}"


def blocking_ids(report: Report, number: int) -> list[str]:
    """Ids of the MUSTs that decide the verdict of a level that is not proved.

    Failures and errors are in the order in which to repair them, and come before all others.
    """
    verdicts = {
        "failed": (Verdict.FAIL,),
        "attested": (Verdict.ATTESTED,),
        "unproved": (Verdict.NOT_OBSERVED, Verdict.ERROR),
    }.get(report.levels[number], ())
    ids = [
        r.requirement.id
        for r in report.requirements
        if r.verdict in verdicts
        and r.requirement.keyword == "MUST"
        and r.requirement.level is not None
        and r.requirement.level <= number
    ]
    repairs = [id for cause in causes(report) for id in cause.ids]
    return sorted(ids, key=lambda id: repairs.index(id) if id in repairs else len(repairs))


def _implemented(report: Report) -> Fact:
    if report.implemented is None:
        return Fact(
            "offloads", "unknown: no call of recall, search or inject shows whether the server offloads", "doubtful"
        )
    if report.implemented:
        return Fact("offloads", "yes")
    return Fact("offloads", f"no: it does not implement LRO, {_duty_to_implement(report)}")


_MUST_IMPLEMENT = "LRO-IMPL-03"
"""The requirement to implement LRO. Depending on the edition, it applies from level 1 or from level 3 on."""


def _duty_to_implement(report: Report) -> str:
    """Consequence of not implementing LRO in the edition of the report."""
    level = next((r.requirement.level for r in report.requirements if r.requirement.id == _MUST_IMPLEMENT), 3)
    if level == 1:
        return "which every level requires"
    return "which is optional at levels 1 and 2 and required at level 3"
