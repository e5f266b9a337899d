"""The report as JSON (``schemas/report.schema.json``), on a stream or in a file that is never half written."""

from __future__ import annotations

import json
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from lro_conformance.report.model import Report
from lro_conformance.report.text import clean

_SURROGATE = re.compile("[\ud800-\udfff]")


def to_json(report: Report) -> str:
    """The report's JSON, indented, ending with a newline; harmless on a terminal and free of lone surrogates."""
    text = json.dumps(report.to_dict(), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    # json.dumps left only what a JSON string may hold raw; lone surrogates are refused by strict readers
    return clean(_SURROGATE.sub("\ufffd", text))


def check_target(path: Path) -> None:
    """Raises `OSError` when a report could not be written to *path*: to learn it before a run, not after."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} does not exist")
    if not os.access(path if _is_special(path) else _real(path).parent, os.W_OK):
        raise PermissionError(f"{path} cannot be written")


def write_json(report: Report, path: Path) -> None:
    """Writes the report to *path* in one step: a reader sees the old file or the whole new one. Raises `OSError`."""
    data = to_json(report).encode()
    if _is_special(path):  # /dev/stdout, a named pipe: renaming over one would replace it
        path.write_bytes(data)
        return
    target = _real(path)
    partial = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # through a symlink: the link stays, its target is replaced
