"""Progress of a run on standard error, with the time that remains."""

from __future__ import annotations

import sys
import time
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

_LINE_INTERVAL_S = 5.0


class Progress:
    """Shows a bar on a terminal, and a line every few seconds elsewhere. A context manager."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._bar = (
            Bar(TextColumn("samples"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console)
            if console.is_terminal
            else None
        )
        self._task = None if self._bar is None else self._bar.add_task("samples", total=None)
        self._start = self._last_line_at = time.monotonic()
        self._done_at_start: int | None = None

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        """Write a line beside the progress."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            sys.stderr.write(f"lro bench: {text}\n")

    def update(self, done: int, total: int) -> None:
        """Show that *done* of *total* samples are complete."""
        self._done_at_start = done if self._done_at_start is None else self._done_at_start
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total)
            return
        now = time.monotonic()
        if now - self._last_line_at >= _LINE_INTERVAL_S and done > self._done_at_start:
            self._last_line_at = now
            remaining_s = (now - self._start) / (done - self._done_at_start) * (total - done)
            sys.stderr.write(f"lro bench: {done} of {total} samples, about {remaining_s:.0f} s remain\n")
            sys.stderr.flush()
