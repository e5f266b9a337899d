"""The view for an interactive terminal: the progress of a run, then its report in colour.

Only `terminal.open_view` imports this module, because rich takes 60 ms to load.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Literal, Self, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from lro_conformance.judging.events import CheckJudged, Event, RunStarted, TrialFinished, TrialStarted, TrialStep
from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.causes import MAX_SHOWN_CAUSES, Cause, causes, first_failure, omitted_ids, shown_troubles
from lro_conformance.report.details import (
    BREVITY_STEPS,
    TWO_SCREENS_LINES,
    Brevity,
    CheckDetail,
    Detail,
    abridged,
    details,
    failure_lines,
    failure_reproducer,
    shortened,
    terminal_lines,
)
from lro_conformance.report.sanitize import one_line
from lro_conformance.report.view import MARKS, Fact, Row, brief_facts, facts, sections, verbose_hint

STYLES = {
    Verdict.PASS: "green",
    Verdict.WARN: "yellow",
    Verdict.FAIL: "bold red",
    Verdict.NOT_OBSERVED: "cyan",
    Verdict.NOT_APPLICABLE: "dim",
    Verdict.NOT_JUDGED: "dim",
    Verdict.ATTESTED: "magenta",
    Verdict.ERROR: "bold magenta",
}
TONES = {"good": "green", "bad": "bold red", "doubtful": "yellow", "": ""}


@dataclass(frozen=True, slots=True)
class TrialProgress:
    """State of a trial; times are seconds of the clock of `Progress`."""

    name: str
    title: str = ""
    state: Literal["waiting", "running", "done", "broken"] = "waiting"
    detail: str = ""
    started: float = 0.0
    seconds: float = 0.0


class Progress:
    """Progress of a run, built from its events: trials in the announced order, and verdicts counted. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._trials: dict[str, TrialProgress] = {}
        self._checks: dict[Verdict, int] = {}

    def apply(self, event: Event) -> None:
        """Process an event; a trial that was not announced is appended."""
        with self._lock:
            match event:
                case RunStarted(trials=names):
                    self._trials = {name: TrialProgress(name) for name in names}
                case TrialStarted(trial=name, title=title):
                    self._update_trial(name, title=one_line(title, 80), state="running", started=self._clock())
                case TrialStep(trial=name, detail=detail):
                    self._update_trial(name, detail=one_line(detail, 80))
                case TrialFinished(trial=name, seconds=seconds, problem=problem):
                    state = "done" if problem is None else "broken"
                    self._update_trial(name, state=state, seconds=seconds, detail=one_line(problem or "", 80))
                case CheckJudged(result=result):
                    self._checks[result.verdict] = self._checks.get(result.verdict, 0) + 1
                case _:
                    pass

    def trials(self) -> tuple[TrialProgress, ...]:
        """All trials. For a running trial, `seconds` is the time that has passed since its start."""
        with self._lock:
            now = self._clock()
            return tuple(
                replace(t, seconds=now - t.started) if t.state == "running" else t for t in self._trials.values()
            )

    def checks(self) -> dict[Verdict, int]:
        """Number of checks by verdict so far."""
        with self._lock:
            return dict(self._checks)

    def _update_trial(self, name: str, **changes: object) -> None:
        trial = self._trials.get(name, TrialProgress(one_line(name, 40)))
        self._trials[name] = replace(trial, **changes)  # pyright: ignore[reportArgumentType] - the fields above


class LiveView:
    """A live table of trials while the run lasts, then the report."""

    def __init__(self, stream: TextIO, verbosity: int = 0, *, width: int | None = None) -> None:
        # texts are always passed as Text, so that nothing a server wrote becomes markup, an emoji or a link
        self._console = Console(file=stream, width=width, markup=False, emoji=False, highlight=False)
        self._verbosity = verbosity
        self._progress = Progress()
        self._spinner = Spinner("dots")
        self._live = Live(
            console=self._console,
            get_renderable=self.progress_table,
            refresh_per_second=8,
            transient=True,
            redirect_stdout=False,  # the report may go to standard output while the table is live
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def __call__(self, event: Event) -> None:
        """Process an event; may be called from any thread."""
        self._progress.apply(event)

    def show(self, report: Report, *, brief: bool = False) -> None:
        """Print the report."""
        if brief:
            self._console.print()
            self._console.print(_summary(brief_facts(report)))
            return
        if self._verbosity > 0:
            self._report(report, Brevity())
            return
        rendered = ""
        for step in BREVITY_STEPS:
            with self._console.capture() as captured:
                self._report(report, Brevity(step, self._console.width))
            rendered = captured.get()
            if terminal_lines(Text.from_ansi(rendered).plain.splitlines(), self._console.width) <= TWO_SCREENS_LINES:
                break
        self._console.file.write(rendered)
        self._console.file.flush()

    def _report(self, report: Report, brevity: Brevity) -> None:
        if report.failure is None and self._verbosity >= 0:
            for section in sections(report, unfold=self._verbosity > 0, count=brevity.counts_rows):
                self._console.print(Text(section.heading, "bold"))
                self._console.print(_rows(section.rows, cut=brevity.cuts_rows))
                self._console.print()
        if self._verbosity > 0:
            for detail in details(report, warnings=True):
                self._detail(detail)
                self._console.print()
        else:
            self._causes(causes(report), brevity)
            if text := verbose_hint(report):
                self._labelled([("more", text)])
                self._console.print()
        for trouble in shown_troubles(report, None if self._verbosity > 0 else brevity):
            self._console.print(Text(trouble.text, "bold red"), soft_wrap=True)
            self._labelled([("unobserved", ", ".join(trouble.ids))])
            self._verbatim(trouble.evidence)
            self._script(trouble.location, trouble.reproduce, trouble.omitted)
            self._console.print()
        for line in failure_lines(report):
            self._console.print(Text(line, "bold red"), soft_wrap=True)
        if reproducer := failure_reproducer(report):
            self._labelled([("reproduce", "paste this:")])
            self._verbatim(reproducer)
        self._console.print(_summary(facts(report)))

    def progress_table(self) -> RenderableType:
        """The current state of all trials, cut to the height of the terminal."""
        height = max(3, self._console.height - 3)
        table = Table.grid(padding=(0, 1))
        table.add_column(no_wrap=True)
        table.add_column()  # rich narrows only columns whose cells may wrap; the cells of this column are cut
        table.add_column(no_wrap=True, justify="right")
        table.add_column(style="dim")
        trials = self._progress.trials()
        for trial in _visible(trials, height):
            mark, style = _STATE_MARKS[trial.state]
            icon = self._spinner if trial.state == "running" else Text(mark, style)
            seconds = Text("" if trial.state == "waiting" else f"{trial.seconds:.1f} s")
            table.add_row(icon, _truncated(trial.title or trial.name), seconds, _truncated(trial.detail))
        finished = sum(t.state in ("done", "broken") for t in trials)
        return Group(table, Text.assemble(f"{finished} of {len(trials)} trials", *self._verdict_counts()))

    def _verdict_counts(self) -> Iterator[tuple[str, str] | str]:
        checks = self._progress.checks()
        if checks:
            yield f", checks {sum(checks.values())}:"
        for verdict in sorted(checks):
            yield (f" {MARKS[verdict]} {checks[verdict]}", STYLES[verdict])

    def _verbatim(self, lines: Iterable[str]) -> None:
        for line in lines:  # unindented and unwrapped: a line that the terminal wraps is still copied as one line
            self._console.print(Text(line), soft_wrap=True)

    def _causes(self, all_causes: list[Cause], brevity: Brevity) -> None:
        """Print failures by cause: the first failure of the server in full, the others in brief."""
        in_full = first_failure(all_causes)
        for cause in all_causes[:MAX_SHOWN_CAUSES]:
            self._detail(shortened(cause.first, brevity), in_full=cause is in_full)
            if cause.others:
                self._labelled([("same cause", ", ".join(d.id for d in cause.others))])
            self._console.print()
        if rest := omitted_ids(all_causes):
            self._console.print(Text(f"also failed: {rest}", "bold red"))

    def _detail(self, detail: Detail, *, in_full: bool = True) -> None:
        style = STYLES[detail.verdict]
        head = Text.assemble((f"{MARKS[detail.verdict]} {detail.id}", style), f"  {detail.title} ({detail.binding})")
        self._console.print(head)
        if in_full:
            self._labelled([("requirement", detail.statement), ("reason", detail.reason)])
            for check in detail.checks:
                self._check(check)
        else:
            for check in detail.checks[:1]:
                self._labelled([("expected", abridged(check.expected)), ("observed", abridged(check.observed))])
        if detail.verdict is Verdict.ERROR:
            self._labelled([("fix", "this is a defect of lro-spec, not of the server: please report it")])
        else:
            self._labelled([("fix", detail.fix), ("more", f"lro explain {detail.id}" if in_full else "")])

    def _check(self, check: CheckDetail) -> None:
        self._labelled(
            [
                ("check", f"{check.name} ({check.subjects} examined)"),
                ("expected", "\n".join(check.expected)),
                ("observed", "\n".join(check.observed)),
                ("evidence", "as recorded:" if check.evidence else ""),
            ]
        )
        self._verbatim(check.evidence)
        self._script(check.location, check.reproduce, check.omitted)

    def _script(self, transcript: str, script: Iterable[str], omitted: str) -> None:
        self._labelled([("transcript", transcript), ("reproduce", omitted or ("paste this:" if script else ""))])
        self._verbatim(script)

    def _labelled(self, pairs: Iterable[tuple[str, str]]) -> None:
        grid = Table.grid(padding=(0, 1))
        grid.add_column(no_wrap=True, min_width=11, style="dim")
        grid.add_column(overflow="fold")
        for label, text in pairs:
            if text:
                grid.add_row(Text(label), Text(text))
        self._console.print(Padding(grid, (0, 0, 0, 2), expand=False))


def _summary(rows: Iterable[Fact]) -> RenderableType:
    summary = Table.grid(padding=(0, 2))
    summary.add_column(no_wrap=True)
    summary.add_column(overflow="fold")
    for fact in rows:
        summary.add_row(Text(fact.label, "bold"), Text(fact.text, TONES[fact.tone]))
    return summary


def _truncated(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ellipsis")


_STATE_MARKS = {"waiting": ("·", "dim"), "running": ("", ""), "done": ("✓", "green"), "broken": ("!", "yellow")}


def _rows(rows: Iterable[Row], *, cut: bool) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for row in rows:
        style = STYLES[row.verdict]
        text = _truncated(row.text) if cut else Text(row.text)
        text.stylize("dim" if style == "dim" else "")
        grid.add_row(Text(MARKS[row.verdict], style), Text(row.id), text)
    return Padding(grid, (0, 0, 0, 2), expand=False)


def _visible(trials: tuple[TrialProgress, ...], height: int) -> list[TrialProgress]:
    """The trials that fit into *height* lines, in their order. Running trials are preferred, then broken, finished and
    waiting trials."""
    if len(trials) <= height:
        return list(trials)
    rank = {"running": 0, "broken": 1, "done": 2, "waiting": 3}
    order = sorted(range(len(trials)), key=lambda n: (rank[trials[n].state], -n if trials[n].state != "waiting" else n))
    return [trials[n] for n in sorted(order[:height])]
