"""A progress bar for validations that take longer than a second. It is shown on a terminal if rich is installed."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from lro_conformance.validate.paths import STDIN, InputFile
from lro_spec.jsonl.lines import Readable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE_S = 1.0
"""Seconds before the bar is shown."""

_REDRAWN_S = 0.1


class Meter:
    """A progress bar, as a context manager. It shows how many bytes have been read of all *files*, and of the files
    that are named by descriptors among them."""

    def __init__(self, stream: TextIO, files: Sequence[InputFile]) -> None:
        self._stream = stream
        self._files = files
        self._shown = stream.isatty() and os.environ.get("TERM") != "dumb" and find_spec("rich") is not None
        self._followed_bytes = 0  # size of the files that are named by descriptors
        self._read_bytes = 0
        self._began = time.monotonic()
        self._drawn = 0.0
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.hide()

    def hide(self) -> None:
        """Remove the bar before other output is written. It appears again when the next bytes are read."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def watched(self, path: str, stream: Readable) -> Readable:
        """The stream, wrapped so that its bytes count as progress."""
        if all(file.path != path for file in self._files):  # a file that is named by a descriptor
            with suppress(OSError):
                self._followed_bytes += os.path.getsize(path)
        return _Watched(self, path, stream) if self._shown else stream

    def add(self, path: str, size: int) -> None:
        """Add *size* bytes that were read from a file, and redraw the bar."""
        self._read_bytes += size
        if not self._shown or time.monotonic() - self._began < PATIENCE_S:
            return
        if self._bar is None:
            self._bar = self._new_bar()
            self._task = self._bar.add_task("", total=None)
            self._bar.start()
        if self._task is not None and time.monotonic() - self._drawn >= _REDRAWN_S:
            name = os.path.basename(path)[-40:]
            self._bar.update(
                self._task, completed=self._read_bytes, total=self._total(), description=name, refresh=True
            )
            self._drawn = time.monotonic()

    def _new_bar(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        # The bar is drawn by the thread that reads, so that it never interrupts the output of a finding.
        return Progress(*columns, console=Console(file=self._stream), transient=True, auto_refresh=False)

    def _total(self) -> int | None:
        return self._input_bytes and self._input_bytes + self._followed_bytes

    @cached_property
    def _input_bytes(self) -> int | None:
        """Size of all files to validate. None if the size is unknown or 0; the bar then moves without showing a
        share."""
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
