"""A snapshot of a file, taken when a descriptor named the file, and parsed line by line."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from lro_conformance.capture.records import Record, show, wide_characters
from lro_spec.filenames import real_path
from lro_spec.jsonl.strict import MAX_LEVELS, StrictJsonError, loads, too_deep

_SURROGATE = re.compile("[\ud800-\udbff\udc00-\udc7f\udd00-\udfff]")
"""Surrogates that do not represent a byte of a file name."""

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Size limit of files that are read; the suite requests results of a few megabytes at most."""


@dataclass(frozen=True)
class Line:
    """One line of a file, counted from 1."""

    number: int
    raw: bytes
    value: Any
    """The JSON value as lenient readers understand it; None if the line is not JSON, or is nested too deeply."""
    problem: str | None
    """Reason why the line is not strict JSON; None if it is."""

    @property
    def record(self) -> Record | None:
        """The object on this line; None if the line is not an object."""
        value: object = self.value
        return cast("Record", value) if isinstance(value, dict) else None


@dataclass(frozen=True)
class FileSeen:
    """A snapshot of a file, taken when a descriptor named the file."""

    path: str
    """The path of the file, as the descriptor has it."""
    problem: str | None = None
    """Reason why the file could not be read; None if it was read."""
    data: bytes = b""
    mode: int | None = None
    mtime: float | None = None
    real_path: str | None = None
    """The real path: `path` with symbolic links resolved at that moment. None if `path` cannot be the path of a
    file."""
    may_be_written_by_call: bool = True
    """True if the file was last written so late that it may have been written by the call that named it; False if it is
    older than the call, or does not exist (`written_since`)."""

    @cached_property
    def lines(self) -> list[Line]:
        """The lines, each of which is parsed strictly. The last line may lack its newline."""
        raw = self.data.split(b"\n")
        if not raw[-1]:
            raw.pop()
        return [self._first_line, *(_line(number, text) for number, text in enumerate(raw[1:], 2))] if raw else []

    @cached_property
    def _first_line(self) -> Line:
        return _line(1, self.data.partition(b"\n")[0])

    @cached_property
    def header(self) -> Record | None:
        """The header object; None if there is none.

        If the first line is an object with `type` or `operation`, that object is the header. Otherwise, the header is
        the first object that is marked as a header (`is_header`).
        """
        record = self._first_line.record  # The other lines are not parsed yet, because only E is needed of many files.
        if record is not None and ("type" in record or "operation" in record):
            return record
        return next((o for line in self.lines if (o := line.record) is not None and is_header(o)), None)

    @cached_property
    def record_lines(self) -> list[Line]:
        """All lines except headers and blank lines."""
        header = self.header
        return [
            line
            for line in self.lines
            if line.raw.strip() and (line.record is None or line.record is not header) and not is_header(line.value)
        ]

    @cached_property
    def characters(self) -> int:
        """Number of characters of the record lines that are JSON objects."""
        lines = (line.raw for line in self.record_lines if line.record is not None)
        return sum(len(raw.decode("utf-8", "replace")) for raw in lines)

    @cached_property
    def scripts(self) -> tuple[int, int, int]:
        """Three counts in the record lines that are JSON objects: the characters of wide scripts such as Chinese
        (`wide_characters`), the ``\\uXXXX`` escapes, and all other characters."""
        lines = (line.raw for line in self.record_lines if line.record is not None)
        text = b"".join(lines).decode("utf-8", "replace")
        wide, escapes = wide_characters(text), text.count("\\u")
        return wide, escapes, len(text) - wide - 6 * escapes

    @cached_property
    def special_characters(self) -> int:
        """Number of characters in the record lines that a server may count in another way than the suite does. These
        are all characters outside ASCII, and backslashes."""
        lines = (line.raw for line in self.record_lines if line.record is not None)
        text = b"".join(lines).decode("utf-8", "replace")
        return len(text) - len(text.encode("ascii", "ignore")) + self.backslashes

    @cached_property
    def backslashes(self) -> int:
        """Number of backslashes in the record lines. A server may count an escape as one character, or each of its
        characters."""
        return sum(line.raw.count(b"\\") for line in self.record_lines if line.record is not None)

    @cached_property
    def quotes(self) -> int:
        """Number of quotation marks in the record lines."""
        return sum(line.raw.count(b'"') for line in self.record_lines if line.record is not None)

    @cached_property
    def separators(self) -> int:
        """Approximate number of JSON separators (colons and commas) in the record lines.

        A server's estimate may include a space after each separator, whether or not the file has such spaces.
        """
        lines = [line.raw for line in self.record_lines if line.record is not None]
        return sum(line.count(separator) for line in lines for separator in (b'":', b',"', b', "'))

    @cached_property
    def records(self) -> list[Record]:
        """The objects in the record lines."""
        return [r for line in self.record_lines if (r := line.record) is not None]


def is_header(value: Any) -> bool:
    """True if a parsed line is marked as a header."""
    return isinstance(value, dict) and cast("Record", value).get("type") == "lro_header"


def written_since(path: str, moment: float) -> bool:
    """True if the file exists and was last written at or after *moment*, or at most 2 s before it.

    The 2 s are for clocks that are coarse. Always True for a relative path, because it is unknown to which directory
    the path is relative.
    """
    try:
        return not os.path.isabs(path) or os.lstat(path).st_mtime >= moment - 2
    except (OSError, ValueError):  # The path has a NUL or a lone surrogate.
        return False


OUTSIDE = "outside every directory that the server was given, so it was not read"
"""Reason why a file outside the server's directories was not opened."""


def see_file(path: object, roots: tuple[Path, ...]) -> FileSeen:
    """Read the file at a path that a descriptor names. The file is read only if it is a regular file below one of the
    directories *roots*.

    A file elsewhere is not opened, because its content would end up in a report. If the path leads to a pipe, the
    function does not block.
    """
    if not isinstance(path, str) or not path:
        return FileSeen(str(path), f"file_path is {show(path)}")
    if _SURROGATE.search(path) or "\0" in path or len(path) > 4096:
        return FileSeen(path, "not the path of a file")
    real = Path(real_path(path))
    if not any(real.is_relative_to(root) for root in roots):
        return FileSeen(path, OUTSIDE, real_path=str(real))
    try:
        descriptor = os.open(real, os.O_NONBLOCK | os.O_NOFOLLOW)  # The path may be a pipe, or may have become a link.
    except OSError as problem:
        return FileSeen(path, f"cannot be opened: {problem.strerror}", real_path=str(real))
    seen = os.fstat(descriptor)
    if not stat.S_ISREG(seen.st_mode):
        os.close(descriptor)
        return FileSeen(path, "is not a regular file", real_path=str(real))
    with os.fdopen(descriptor, "rb") as stream:
        if seen.st_size > MAX_FILE_BYTES:
            problem = f"has {seen.st_size} bytes; files of more than {MAX_FILE_BYTES} bytes are not read"
            return FileSeen(path, problem, real_path=str(real))
        data = stream.read(MAX_FILE_BYTES)
    return FileSeen(path, None, data, stat.S_IMODE(seen.st_mode), seen.st_mtime, str(real))


@contextmanager
def open_preserving_atime(path: Path) -> Generator[BinaryIO]:
    """Open a file for reading, and restore its time of last access afterwards, because a server may decide by this time
    which files to delete.

    Raises `OSError` if the file cannot be opened.
    """
    with path.open("rb") as stream:
        before = os.fstat(stream.fileno())
        try:
            yield stream
        finally:
            with suppress(OSError):  # The file may be gone, or belong to another user.
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _line(number: int, raw: bytes) -> Line:
    try:
        value = orjson.loads(raw)
        if raw.count(b"{") + raw.count(b"[") <= MAX_LEVELS or not too_deep(value):
            return Line(number, raw, value, None)
    except orjson.JSONDecodeError:
        pass
    try:
        return Line(number, raw, loads(raw), None)
    except StrictJsonError as problem:
        first = str(problem)
    try:
        value = json.loads(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        value = None
    return Line(number, raw, None if too_deep(value) else value, first)
