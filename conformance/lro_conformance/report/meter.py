"""How far a long reading has come, on a terminal; nothing for what takes less than a second."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from lro_conformance.chosen_paths import STDIN, Chosen
from lro_spec.physical_lines import Readable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE_S = 1.0
"""How long nothing is shown."""


class Meter:
    """A progress bar over all the bytes of some files; a context manager."""

    def __init__(self, stream: TextIO, files: Sequence[Chosen]) -> None:
        self._stream = stream
        self._files = files
        self._shown = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._read = 0
        self._began = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.hide()

    def hide(self) -> None:
        """Takes the bar away, so that something else can be written; it comes back with the next bytes."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def watched(self, path: str, stream: Readable) -> Readable:
        """The stream; what is read from it counts."""
        return _Watched(self, path, stream) if self._shown else stream

    def add(self, path: str, size: int) -> None:
        """Bytes of a file that were read."""
        self._read += size
        if time.monotonic() - self._began < PATIENCE_S:
            return
        if self._bar is None:
            self._bar = self._made()
            self._task = self._bar.add_task("", total=self._total())
            self._bar.start()
        if self._task is not None:
            self._bar.update(self._task, completed=self._read, description=os.path.basename(path)[-40:])

    def _made(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        return Progress(*columns, console=Console(file=self._stream), transient=True)

    def _total(self) -> int | None:
        """None where it cannot be known: then the bar only moves."""
        if any(file.path == STDIN for file in self._files):
            return None
        try:
            return sum(os.path.getsize(file.path) for file in self._files) or None
        except OSError:
            return None


class _Watched:
    def __init__(self, meter: Meter, path: str, stream: Readable) -> None:
        self._meter = meter
        self._path = path
        self._stream = stream

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size)
        self._meter.add(self._path, len(data))
        return data
