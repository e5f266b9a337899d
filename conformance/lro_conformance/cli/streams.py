"""Standard streams that are closed (`>&-`) or full. They cause no crash, and the exit code stays right."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import TextIO, cast

import click


class _ClosedStream(io.TextIOWrapper):
    """Replacement for a closed stream; discards all output."""


class _FailingStream(io.TextIOBase):
    """A stream on which every write fails."""

    def write(self, text: str, /) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def open_streams() -> None:
    """Replace each standard stream that is closed."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, _ClosedStream(open(os.devnull, "wb"), encoding="utf-8"))  # noqa: SIM115


def required_output(stream: TextIO) -> TextIO:
    """A stream for the essential output of a command. If *stream* was closed, writing raises `OSError`, as on a full
    disk."""
    return cast("TextIO", _FailingStream()) if isinstance(stream, _ClosedStream) else stream


def report_error(line: str) -> None:
    """Write a line to standard error. Nothing happens if standard error is closed or full."""
    with suppress(OSError):
        click.echo(line, err=True)
