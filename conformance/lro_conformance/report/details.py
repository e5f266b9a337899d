"""Details of requirements and checks for all renderings: escaped, limited in size, and shortened for terminals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lro_conformance.capture.marks import MARK
from lro_conformance.judging.results import CheckResult, Report, RequirementResult
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.sanitize import lines, one_line

REASON_CHARACTERS = 300
REPEATED_CHARACTERS = 60
"""Length of the longest reason that is repeated for each requirement. If a reason is longer, further requirements with
this reason refer to the first one."""
EVIDENCE_CHARACTERS = 8_000
EVIDENCE_LINES = 40
BRIEF_CHARACTERS = 200
"""Length to which a short view cuts lines of evidence, expectations and observations."""
BRIEF_EVIDENCE_LINES = 9
"""Number of lines of evidence that a short view shows before it counts the rest."""
BRIEF_SCRIPT_CHARACTERS = 2_000
"""Length of the longest script in a short view. A longer script is left out, because half a script is useless."""
SHORT_SCRIPT_LINES = 8
"""Length of the longest script in a shortened view (from `Brevity.step` 1 on), in lines of the terminal."""
TWO_SCREENS_LINES = 120
"""Largest number of terminal lines that a short view should take, so that even the report on a bad server fits two
screens."""
BREVITY_STEPS = range(4)
"""Steps by which a view is shortened until it fits `TWO_SCREENS_LINES`."""


@dataclass(frozen=True, slots=True)
class Brevity:
    """The step by which a view is shortened, and the width of its terminal."""

    step: int = 0
    """From 1 on, only short scripts are shown, and lines of evidence are cut to the width of the terminal. From 2 on,
    the rows of requirements are cut to this width, too. At 3, the rows are replaced by counts."""
    columns: int | None = None
    """The width of the terminal; None for a file or a pipe, where no line is wrapped."""

    def omits(self, script: tuple[str, ...]) -> bool:
        """True if a script is too long for this view."""
        too_high = self.step > 0 and terminal_lines(script, self.columns) > SHORT_SCRIPT_LINES
        return too_high or sum(map(len, script)) > BRIEF_SCRIPT_CHARACTERS

    @property
    def cuts_rows(self) -> bool:
        """True if rows of requirements are cut to the width of the terminal."""
        return self.step >= 2

    @property
    def counts_rows(self) -> bool:
        """True if the rows of requirements are replaced by counts."""
        return self.step >= 3

    @property
    def evidence_characters(self) -> int:
        """Longest line of evidence, in characters."""
        return BRIEF_CHARACTERS if self.step == 0 or self.columns is None else min(self.columns, BRIEF_CHARACTERS)


def terminal_lines(texts: Iterable[str], columns: int | None) -> int:
    """Number of lines that *texts* take up on a terminal. *columns* is its width, or None if lines are not wrapped."""
    return sum(1 if columns is None else max(1, -(-len(text) // columns)) for text in texts)


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
    """Lines of the complete script that reproduces the observation; empty if there is none, or if a short view omits
    it."""
    location: str
    """File and line in the evidence directory."""
    omitted: str = ""
    """If a short view leaves out the script: its length, and where to find it. *reproduce* is then empty."""


@dataclass(frozen=True, slots=True)
class Detail:
    """All details of a requirement. Usually the requirement was not met."""

    verdict: Verdict
    id: str
    title: str
    binding: str
    """The keyword and the level, such as ``MUST, level 2``."""
    statement: str
    fix: str
    checks: tuple[CheckDetail, ...]
    reason: str


def details(report: Report, *, warnings: bool = False) -> Iterator[Detail]:
    """Details of all requirements that were not met: errors of the suite, then failures. If *warnings* is true, the
    requirements with a warning come before them."""
    if warnings:
        yield from warnings_of(report)
    for verdict in (Verdict.ERROR, Verdict.FAIL):
        yield from (detail_of(r) for r in report.requirements if r.verdict is verdict)


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """A line of evidence; *start* and *end* enclose its marked part, and are equal if it has none."""

    text: str
    start: int = 0
    end: int = 0
    name: str = ""
    """Name of the marked part, such as ``summary/count``."""


def evidence_lines(evidence: Iterable[str]) -> Iterator[EvidenceLine]:
    """Lines of evidence. A line that only marks a part of the line above it becomes *start*, *end* and *name* of the
    line above."""
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


def shortened(detail: Detail, brevity: Brevity) -> Detail:
    """A requirement with its first check only, with little evidence, and without a long script."""
    return replace(detail, checks=tuple(_shortened(check, brevity) for check in detail.checks[:1]))


def _shortened(check: CheckDetail, brevity: Brevity) -> CheckDetail:
    script, omitted = brief_script(check.reproduce, brevity)
    return replace(
        check,
        expected=(abridged(check.expected),),
        observed=(abridged(check.observed),),
        evidence=tuple(brief_lines(check.evidence, brevity.evidence_characters)),
        reproduce=script,
        omitted=omitted,
    )


def brief_script(script: tuple[str, ...], brevity: Brevity) -> tuple[tuple[str, ...], str]:
    """Return the script and an empty text. If the script is too long for the view, return an empty script, and a text
    that says where to find it."""
    if not brevity.omits(script):
        return script, ""
    characters = sum(map(len, script))
    return (), f"a script of {characters:,} characters; -v and the HTML and JSON reports show it"


def abridged(texts: Iterable[str]) -> str:
    """Join *texts* to one line, and cut this line to `BRIEF_CHARACTERS`."""
    text = " ".join(texts)
    return f"{text[: BRIEF_CHARACTERS - 1]}…" if len(text) > BRIEF_CHARACTERS else text


def brief_lines(evidence: Sequence[str], limit: int = BRIEF_CHARACTERS) -> Iterator[str]:
    """The first lines of evidence. A long line is cut, unless a part of it is marked."""
    for number, text in enumerate(evidence):
        if (
            number == BRIEF_EVIDENCE_LINES and len(evidence) > number + 1
        ):  # a single line takes no more room than its count
            yield f"… ({len(evidence) - number:,} more lines; -v shows them)"
            return
        is_marked = number + 1 < len(evidence) and MARK.fullmatch(evidence[number + 1])
        if len(text) > limit and not is_marked:
            more = f"… ({length_note(text, '; -v shows them', '; -v shows more')})"
            yield text[: limit - len(more)] + more
        else:
            yield text


REST_IN_JSON = ("; complete in the JSON report", "; more in the JSON report")
"""Texts that say where to find the rest of a line that is cut. The first one is for a line that is complete in the JSON
report. The second one is for a line of which even the JSON report has only a part."""


def length_note(text: str, complete: str, partial: str) -> str:
    """Return the length of a line that is cut by a view, followed by *complete*. If even the evidence has only the
    beginning of the line, return the number of bytes that were received, followed by *partial*."""
    received = _RECEIVED_LENGTH.search(text)
    return f"{len(text):,} characters{complete}" if received is None else f"{int(received[1]):,} bytes{partial}"


_RECEIVED_LENGTH = re.compile(r" … \((\d+) bytes\)$")
"""The end of a message that is cut in the evidence. It says how many bytes were received."""


def warnings_of(report: Report) -> Iterator[Detail]:
    """Details of all warnings."""
    yield from (detail_of(r) for r in report.requirements if r.verdict is Verdict.WARN)


def failure_lines(report: Report) -> list[str]:
    """Lines that explain why the run has no verdict. Empty if the run has a verdict."""
    return [one_line(line, 1_000) for line in lines(report.failure or "")][:EVIDENCE_LINES]


def failure_reproducer(report: Report) -> list[str]:
    """Lines of a command that starts the server, if the server could not be observed. Empty if the run has a verdict,
    or if no such command is known."""
    return lines(report.reproduce) if report.failure is not None else []


def reason_of(result: RequirementResult) -> str:
    """The reason for the verdict of a requirement, on one line. It is the requirement's own reason or, if it has none,
    the observation of its worst check."""
    if result.reason:
        return one_line(result.reason, REASON_CHARACTERS)
    worst = max(result.checks, key=lambda c: c.verdict, default=None)
    if worst is None:
        return ""
    erratum = "erratum of the specification: " if is_erratum(worst) else ""
    return erratum + one_line(worst.observed, REASON_CHARACTERS)


def unobserved_part(result: RequirementResult) -> str:
    """The number of a requirement's checks that were not observed, with the reasons. Empty if there are no such
    checks."""
    reasons = [check.observed for check in result.checks if check.verdict is Verdict.NOT_OBSERVED]
    if not reasons:
        return ""
    why = one_line("; ".join(dict.fromkeys(reasons)), BRIEF_CHARACTERS)
    return f"{len(reasons)} of {len(result.checks)} checks not observed ({why})"


def reasons_without_repetition(results: Iterable[RequirementResult]) -> Mapping[str, str]:
    """Map ids of requirements that did not pass to the reasons for their verdicts, for a table in the order of
    *results*.

    A long reason why something was not observed, such as the traceback of a server that exits in many experiments, is
    shown once; further requirements with the same reason refer to the first.
    """
    first_ids: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for result in results:
        if result.verdict is Verdict.PASS:
            continue
        id, reason = result.requirement.id, reason_of(result)
        if result.verdict is Verdict.NOT_OBSERVED and len(reason) > REPEATED_CHARACTERS:
            first = first_ids.setdefault(reason, id)
            reason = reason if first == id else same_as(first)
        reasons[id] = reason
    return reasons


def same_as(id: str) -> str:
    """A text that refers to the requirement *id*, at which the same reason is shown."""
    return f"for the same reason as {id}"


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
    """Lines of *text*. Lines that are too long are cut, and lines that are too many are left out; in their place is a
    pointer to the JSON report."""
    all_lines = lines(text)
    for line in all_lines[:EVIDENCE_LINES]:
        if len(line) > EVIDENCE_CHARACTERS:
            yield f"{line[:EVIDENCE_CHARACTERS]}… ({length_note(line, *REST_IN_JSON)})"
        else:
            yield line
    if (more := len(all_lines) - EVIDENCE_LINES) > 0:
        yield f"… ({more:,} more line{'s' * (more > 1)}; complete in the JSON report)"


def abbreviated(ids: list[str], limit: int = 5) -> str:
    """The first ids of a list, and how many more there are."""
    more = f" and {len(ids) - limit} more" if len(ids) > limit else ""
    return ", ".join(ids[:limit]) + more


def is_erratum(check: CheckResult) -> bool:
    """True if a check warns of a defect of the specification."""
    return check.erratum and check.verdict is Verdict.WARN
