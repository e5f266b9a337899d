"""Standard streams that are closed (`>&-`) or full: what cannot be told is no defect, and the exit code still tells."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import TextIO, cast

import click


class _Nowhere(io.TextIOWrapper):
    """Stands for a stream that was closed: takes what is written, which nobody reads."""


class _Refusing(io.TextIOBase):
    def write(self, text: str, /) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def open_streams() -> None:
    """Gives each standard stream that a shell has closed one that leads nowhere."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, _Nowhere(open(os.devnull, "wb"), encoding="utf-8"))  # noqa: SIM115


def must_be_read(stream: TextIO) -> TextIO:
    """A stream for what a command is called for: one that was closed refuses it with an `OSError`, as a full disk."""
    return cast("TextIO", _Refusing()) if isinstance(stream, _Nowhere) else stream


def complain(line: str) -> None:
    """A line to standard error, if that takes it."""
    with suppress(OSError):
        click.echo(line, err=True)
