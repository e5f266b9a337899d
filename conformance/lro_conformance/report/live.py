"""The live view of a terminal: experiments under way, then the report in colour.

Only `terminal.open_view` imports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from lro_conformance.events import Event
from lro_conformance.report.layout import (
    MARKS,
    Detail,
    Fact,
    Row,
    brief_facts,
    details,
    facts,
    no_verdict,
    once_more,
    sections,
)
from lro_conformance.report.model import Report
from lro_conformance.report.progress import Progress, TrialProgress
from lro_conformance.verdicts import Verdict

STYLES = {
    Verdict.PASS: "green",
    Verdict.WARN: "yellow",
    Verdict.FAIL: "bold red",
    Verdict.NOT_OBSERVED: "cyan",
    Verdict.NOT_APPLICABLE: "dim",
    Verdict.ATTESTED: "magenta",
    Verdict.ERROR: "bold magenta",
}
TONES = {"good": "green", "bad": "bold red", "doubtful": "yellow", "": ""}


class LiveView:
    """A table of experiments that moves while they run and goes when they end; then the report."""

    def __init__(self, stream: TextIO, verbosity: int = 0, *, width: int | None = None) -> None:
        # every text below is a Text: a server's words are never markup, emoji codes or links
        self._console = Console(file=stream, width=width, markup=False, emoji=False, highlight=False)
        self._verbosity = verbosity
        self._progress = Progress()
        self._spinner = Spinner("dots")
        self._live = Live(
            console=self._console,
            get_renderable=self.moving,
            refresh_per_second=8,
            transient=True,
            redirect_stdout=False,  # a report may be written there while the table moves
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def __call__(self, event: Event) -> None:
        """Takes an event, from any thread."""
        self._progress.apply(event)

    def show(self, report: Report, *, brief: bool = False) -> None:
        """Prints the report."""
        if brief:
            self._console.print()
            self._console.print(_facts(brief_facts(report)))
            return
        if report.failure is None and self._verbosity >= 0:
            for section in sections(report, unfold=self._verbosity > 0):
                self._console.print(Text(section.heading, "bold"))
                self._console.print(_rows(section.rows))
                self._console.print()
        for detail in details(report, warnings=self._verbosity > 0):
            self._detail(detail)
            self._console.print()
        for line in no_verdict(report):
            self._console.print(Text(line, "bold red"), soft_wrap=True)
        if again := once_more(report):
            self._labelled([("once more", "to paste:")])
            self._as_it_is(again)
        self._console.print(_facts(facts(report)))

    def moving(self) -> RenderableType:
        """The table of experiments as it stands, cut to the height of the terminal."""
        height = max(3, self._console.height - 3)
        table = Table.grid(padding=(0, 1))
        table.add_column(no_wrap=True)
        table.add_column()  # rich narrows only columns that may wrap; their cells then refuse to
        table.add_column(no_wrap=True, justify="right")
        table.add_column(style="dim")
        trials = self._progress.trials()
        for trial in _visible(trials, height):
            mark, style = _STATES[trial.state]
            shown = self._spinner if trial.state == "running" else Text(mark, style)
            seconds = Text("" if trial.state == "waiting" else f"{trial.seconds:.1f} s")
            table.add_row(shown, _cut(trial.title or trial.name), seconds, _cut(trial.detail))
        ended = sum(t.state in ("done", "broken") for t in trials)
        return Group(table, Text.assemble(f"{ended} of {len(trials)} experiments", *self._counted()))

    def _counted(self) -> Iterator[tuple[str, str] | str]:
        checks = self._progress.checks()
        if checks:
            yield f", checks {sum(checks.values())}:"
        for verdict in sorted(checks):
            yield (f" {MARKS[verdict]} {checks[verdict]}", STYLES[verdict])

    def _as_it_is(self, lines: Iterable[str]) -> None:
        for line in lines:  # from the first column and unwrapped: a terminal's own wrap pastes as one line
            self._console.print(Text(line), soft_wrap=True)

    def _detail(self, detail: Detail) -> None:
        style = STYLES[detail.verdict]
        head = Text.assemble((f"{MARKS[detail.verdict]} {detail.id}", style), f"  {detail.title} ({detail.binding})")
        self._console.print(head)
        self._labelled([("requirement", detail.statement), ("reason", detail.reason)])
        for check in detail.checks:
            self._labelled(
                [
                    ("check", f"{check.name} ({check.subjects} examined)"),
                    ("expected", "\n".join(check.expected)),
                    ("observed", "\n".join(check.observed)),
                    ("evidence", "as seen:" if check.evidence else ""),
                ]
            )
            self._as_it_is(check.evidence)
            self._labelled([("kept in", check.location), ("once more", "to paste:" if check.reproduce else "")])
            self._as_it_is(check.reproduce)
        if detail.verdict is Verdict.ERROR:
            self._labelled([("mend", "a defect of lro-spec, not of the server: please report it")])
        else:
            self._labelled([("mend", detail.mend), ("more", f"lro explain {detail.id}")])

    def _labelled(self, pairs: Iterable[tuple[str, str]]) -> None:
        grid = Table.grid(padding=(0, 1))
        grid.add_column(no_wrap=True, min_width=11, style="dim")
        grid.add_column(overflow="fold")
        for label, text in pairs:
            if text:
                grid.add_row(Text(label), Text(text))
        self._console.print(Padding(grid, (0, 0, 0, 2), expand=False))


def _facts(told: Iterable[Fact]) -> RenderableType:
    summary = Table.grid(padding=(0, 2))
    summary.add_column(no_wrap=True)
    summary.add_column(overflow="fold")
    for fact in told:
        summary.add_row(Text(fact.label, "bold"), Text(fact.text, TONES[fact.tone]))
    return summary


def _cut(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ellipsis")


_STATES = {"waiting": ("·", "dim"), "running": ("", ""), "done": ("✓", "green"), "broken": ("!", "yellow")}


def _rows(rows: Iterable[Row]) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for row in rows:
        style = STYLES[row.verdict]
        grid.add_row(Text(MARKS[row.verdict], style), Text(row.id), Text(row.text, "dim" if style == "dim" else ""))
    return Padding(grid, (0, 0, 0, 2), expand=False)


def _visible(trials: tuple[TrialProgress, ...], height: int) -> list[TrialProgress]:
    """The trials that fit: those under way always, then the ones that ended last, then those to come."""
    if len(trials) <= height:
        return list(trials)
    rank = {"running": 0, "broken": 1, "done": 2, "waiting": 3}
    order = sorted(range(len(trials)), key=lambda n: (rank[trials[n].state], -n if trials[n].state != "waiting" else n))
    return [trials[n] for n in sorted(order[:height])]
