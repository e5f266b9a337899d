"""The process that runs a caller's query or pattern: never imported, started by `sandbox` with a job on stdin.

Before it looks at the job's program it gives up everything that a program could misuse: the environment, files,
processes, and all but its share of time and memory. It reads the file that it was handed open, and writes to stdout.
Exit code 1: the program is wrong (stderr says why); 2: there is more output than may be.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, BinaryIO

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_MOST_FAILURES_SHOWN = 3


def main() -> None:
    """Run the job that comes on stdin."""
    job: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    _end_with(job["parent"])
    engine: Any = None
    if job["kind"] == "jq":
        sys.path.append(job["jq"])
        engine = importlib.import_module("jq")
    files = [os.fdopen(number, "rb", buffering=1 << 18) for number in job["files"]]
    _drop_privileges(job)
    results = _Results(job["most_bytes"], job.get("skip", 0), job.get("most"))
    try:
        if job["kind"] == "jq":
            _query(engine, job, files[0], results.write)
        else:
            _search(job, files, results.write)
    except _Enough:
        pass
    except MemoryError:
        _fail("the query was stopped: it needed too much memory; ask for something simpler, or for less")
    except Exception as problem:
        _fail(f"the query failed: {_message(problem) or 'nobody knows why'}")
    if 0 < results.count <= results.skip:
        sys.stderr.write(f"\nthere are {results.count} results, so none is left after the first {results.skip}")
    sys.stdout.buffer.flush()
    sys.stderr.flush()
    os._exit(0)  # a jq that has grown large takes long to tidy up


def _end_with(parent: int) -> None:
    """End with the parent process."""
    with contextlib.suppress(OSError, AttributeError, ImportError):
        prctl = importlib.import_module("ctypes").CDLL(None).prctl
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _drop_privileges(job: dict[str, Any]) -> None:
    for name in list(os.environ):
        del os.environ[name]
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + job["seconds"]) + 1
    limits = (
        ("RLIMIT_CPU", seconds),
        ("RLIMIT_AS", job["memory"]),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_NPROC", 0),
        ("RLIMIT_NOFILE", 0),  # from here on nothing can be opened: no file, no socket, no pipe
    )
    for limit, value in limits:
        with contextlib.suppress(ValueError, OSError, AttributeError):
            resource.setrlimit(getattr(resource, limit), (value, value))
    # Signals that end the process by themselves: a handler would have to wait until jq returns.
    signal.setitimer(signal.ITIMER_PROF, job["seconds"])
    signal.setitimer(signal.ITIMER_REAL, 2 * job["seconds"] + 1)


def _fail(reason: str) -> None:
    os.write(2, reason.encode("utf-8", "replace")[:2000])
    os._exit(1)


class _Enough(Exception):
    """The requested number of results has been written."""


class _Results:
    """Writes at most *most* results after the first *skip*, within the limit of bytes."""

    def __init__(self, most_bytes: int, skip: int, most: int | None) -> None:
        self._room, self.skip, self._most = most_bytes, skip, most
        self.count = 0

    def write(self, line: str) -> None:
        self.count += 1
        if self.count <= self.skip:
            return
        data = line.encode("utf-8", "replace") + b"\n"
        self._room -= len(data)
        if self._room < 0:
            sys.stdout.buffer.flush()
            os._exit(2)
        sys.stdout.buffer.write(data)
        if self._most is not None and self.count >= self.skip + self._most:
            raise _Enough


# --- jq


def _query(engine: Any, job: dict[str, Any], file: BinaryIO, write: Callable[[str], None]) -> None:
    try:
        engine.compile(job["program"], args=job["args"])  # alone: what stands around it must not mend it
        # As text that jq writes itself: Python's numbers have fewer digits than its own.
        texts = 'if type == "string" then . else tojson end' if job["raw"] else "tojson"
        program = engine.compile(f"(\n{job['program']}\n) | {texts}", args=job["args"])
    except ValueError as problem:
        _fail(f"the query is no valid jq program: {_message(problem)}")
        return
    file.readline()  # the header
    failed = done = 0
    first: list[str] = []
    for n, text in enumerate(_inputs(file, job["slurp"]), 1):
        try:
            for value in program.input_text(text):
                done += 1
                write(_indented(value) if job.get("indent") else value)
        except ValueError as problem:
            failed += 1
            if len(first) < _MOST_FAILURES_SHOWN:
                first.append(_message(problem) if job["slurp"] else f"record {n}: {_message(problem)}")
    if failed and not done:
        _fail(f"the query failed on {'the records' if job['slurp'] else f'{failed} records'} ({'; '.join(first)})")
    elif failed:
        sys.stderr.write(f"left out: {failed} records on which the query failed ({'; '.join(first)})")


def _inputs(file: BinaryIO, slurp: bool) -> Iterator[str]:
    lines = (_paired(line.decode("utf-8", "replace")) for line in file if line.strip())
    if slurp:
        yield f"[{','.join(lines)}]"
    else:
        yield from lines


_ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)


def _paired(text: str) -> str:
    """JSON with U+FFFD for each unpaired surrogate, at which jq would stop."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _ESCAPE.sub(lambda found: r"\ufffd" if found[1] else found[0], text)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\[\]{},:"]+')


def _indented(text: str) -> str:
    """A JSON text without spaces, over several lines; token by token, so that no digit is lost."""
    parts: list[str] = []
    depth, before = 0, ""
    for part in _TOKEN.findall(text):
        closes = part in ("]", "}")
        depth -= closes
        if before == "," or (before not in ("[", "{") if closes else before in ("[", "{")):
            parts.append("\n" + "  " * depth)
        parts.append(": " if part == ":" else part)
        depth += part in ("[", "{")
        before = part
    return "".join(parts)


def _message(problem: Exception) -> str:
    return " ".join(str(problem).split())[:300]


# --- regular expressions


def _search(job: dict[str, Any], files: list[BinaryIO], write: Callable[[str], None]) -> None:
    """Write the numbers of the matching lines, from 1 and continued across the files."""
    try:
        pattern = re.compile(job["program"], 0 if job["case_sensitive"] else re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as problem:
        _fail(f"the pattern is no valid regular expression: {_message(problem)}")
        return
    for n, line in enumerate(chain.from_iterable(files), 1):
        if pattern.search(line.decode("utf-8", "replace").rstrip("\n")):
            write(str(n))


if __name__ == "__main__":
    main()
