"""The command line in this process: importing it anew for each call would take most of the time of a short command."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess

from lro_conformance.cli.main import main


def lro(folder: Path, words: Sequence[str]) -> CompletedProcess[str]:
    """What `lro` said and returned when it was called in a folder."""
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8") for _ in range(2))
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = main(words)
    return CompletedProcess(["lro", *words], code, _text(out), _text(err))


def _text(stream: TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
