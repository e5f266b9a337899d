"""A sandbox: a child process that runs one job after the other, under limits on time, memory and output.

The child is started without a shell and runs jobs in an empty environment. On Linux, it cannot gain privileges, and it
never outlives the thread that started it, even if that thread is killed. If a job brings the child down, only that job
is lost: the next job gets a new child.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

if TYPE_CHECKING:
    import subprocess  # loaded where a child is started, because most commands start none

_FOLDER = Path(__file__).parent
_WORKER = _FOLDER / "worker.py"

JQ = _FOLDER / "jq.py"
"""The job that runs jq programs, with libjq or a jq binary."""
REGEX = _FOLDER / "regex.py"
"""The job that searches the lines of files by a regular expression."""

_CHUNK = 1 << 18
_MAX_HEADER = 64 << 20
_START_S = 20.0
"""Maximum time for a child to start on a busy machine."""
_KILL_DELAY_S = 2.0
"""A child that has not ended by itself is killed this long after the job's own time limit. A new child is killed
`_START_S` after that limit."""
_TIME_LIMIT_STATUSES = (-signal.SIGXCPU, -signal.SIGPROF, -signal.SIGALRM)
"""Exit statuses of a child that the kernel ended at a time limit."""


@dataclass(frozen=True, slots=True)
class JobLimits:
    """Limits of one job."""

    cpu_s: float
    """Processor time in seconds."""
    wall_s: float
    """Seconds from the start of the job to its end."""
    max_output: int
    """Largest number of bytes of output that the parent reads; the job itself should stop earlier."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to a request."""

    result: Mapping[str, Any]
    output: bytes
    cpu_s: float
    """Processor time that the job took, in seconds."""


class WorkerError(RuntimeError):
    """A request got no answer: the child ended by itself or at a limit, its answer was malformed, the job raised an
    exception, or the sandbox was aborted. The message is one line: ``timed out``, or for example ``died (SIGSEGV)``."""

    def __init__(
        self, status: int, *, timed_out: bool, exception: str = "", message: str = "", traceback: str = ""
    ) -> None:
        super().__init__("timed out" if timed_out else f"died ({_status_name(status)})")
        self.status = status
        """The child's exit status, negative for a signal; 1 if the job raised an exception."""
        self.timed_out = timed_out
        self.exception = exception
        """Class of the Python exception that ended the job; empty if there was none."""
        self.message = message
        """Message of that exception."""
        self.traceback = traceback


class Sandbox:
    """A child process for one kind of job; a context manager, for one thread at a time.

    *job* is a Python file as `lro_spec.sandbox.worker` describes it, and *options* are passed to its ``prepare``.
    *path* is added to the child's module search path. *memory* is the limit of the child's address space, in bytes.
    *files* are descriptors for the job to read from. A *sealed* child cannot open a file, connect, or start a process
    once the job is prepared.

    The child starts with the first request. Requests of another thread start another child.
    """

    def __init__(
        self,
        job: Path,
        options: Mapping[str, Any] | None = None,
        *,
        memory: int,
        path: Sequence[str] = (),
        files: Sequence[int] = (),
        sealed: bool = False,
    ) -> None:
        self._settings = {
            "job": str(job),
            "options": dict(options or {}),
            "memory": memory,
            "path": list(path),
            "files": list(files),
            "sealed": sealed,
        }
        self._files = files
        self._lock = threading.Lock()
        self._aborted = False
        self._child: subprocess.Popen[bytes] | None = None
        self._starter: threading.Thread | None = None
        self._finalizer: weakref.finalize[..., Sandbox] | None = None
        self._sent: bytes | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def run(self, request: Mapping[str, Any], data: bytes = b"", *, limits: JobLimits) -> Answer:
        """Run a job and return its answer. Raises `WorkerError` if there is no answer.

        Data that is the same object as in the previous request is not sent again.
        """
        child, new = self._running_child()
        already_sent = data is self._sent
        header = {
            "request": request,
            "bytes": None if already_sent else len(data),
            "cpu_s": limits.cpu_s,
            "wall_s": limits.wall_s,
        }
        message = [json.dumps(header).encode() + b"\n", *([] if already_sent else [data])]
        if new:
            settings = {**self._settings, "parent": os.getpid()}
            message.insert(0, json.dumps(settings).encode() + b"\n")
        until = time.monotonic() + limits.wall_s + (_START_S if new else _KILL_DELAY_S)
        try:
            answer, output, ran_out_of_time = _exchange(child, message, until, limits.max_output)
        except BaseException:
            self.close()  # the rest of this answer must not be read as the next answer
            raise
        if answer is None or "failure" in answer:
            self.close()
            if answer is not None:
                raise WorkerError(1, timed_out=False, **cast("dict[str, str]", answer["failure"]))
            raise WorkerError(child.returncode, timed_out=ran_out_of_time or child.returncode in _TIME_LIMIT_STATUSES)
        self._sent = data
        return Answer(answer["result"], output, answer["cpu_s"])

    def close(self) -> None:
        """End the child and the programs that it runs."""
        with self._lock:
            child, self._child, self._sent = self._child, None, None
            if self._finalizer is not None:
                self._finalizer.detach()
            if child is not None:
                _end(child)

    def abort(self) -> None:
        """End the running job, and refuse all later jobs. May be called from any thread."""
        with self._lock:
            self._aborted = True
            if self._child is not None:
                _kill(self._child)

    def _running_child(self) -> tuple[subprocess.Popen[bytes], bool]:
        """The child, and True if it has just been started."""
        if self._child is not None and (
            self._starter is not threading.current_thread()  # the child ends with the thread that started it
            or self._child.poll() is not None
        ):
            self.close()
        with self._lock:
            if self._aborted:
                raise WorkerError(-signal.SIGKILL, timed_out=False)
            if self._child is not None:
                return self._child, False
            self._child = child = self._start()
            self._starter = threading.current_thread()
            self._finalizer = weakref.finalize(self, _end, child)
            return child, True

    def _start(self) -> subprocess.Popen[bytes]:
        import subprocess

        # With -I and -S, Python reads nothing of the user's environment or site. -B is inherited.
        argv = [sys.executable, "-I", "-S", *(["-B"] if sys.dont_write_bytecode else []), str(_WORKER)]
        return subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=self._files,
            env={k: v for k, v in os.environ.items() if k in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")},
            cwd="/",
            start_new_session=True,
        )


@cache
def jq_folder() -> str | None:
    """The directory from which the jq package is imported; None if it is not installed."""
    spec = find_spec("jq")
    return None if spec is None or spec.origin is None else str(Path(spec.origin).parent)


def _kill(child: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _end(child: subprocess.Popen[bytes]) -> None:
    _kill(child)
    with child:  # closes its pipes and reaps it
        pass


def _exchange(
    child: subprocess.Popen[bytes], message: Sequence[bytes], until: float, max_output: int
) -> tuple[dict[str, Any] | None, bytes, bool]:
    """Send a request and read the answer.

    Returns the answer's header (None if there is no complete and well-formed answer within the limits), its output, and
    True if the time ran out.
    """
    import selectors

    assert child.stdin is not None
    assert child.stdout is not None
    to_send = [memoryview(part) for part in message if part]
    received = bytearray()
    answer: dict[str, Any] | None = None
    os.set_blocking(child.stdin.fileno(), False)
    while to_send and _send(child.stdin.fileno(), to_send):  # usually everything, because the child is waiting for it
        pass
    with selectors.DefaultSelector() as selector:
        if to_send:
            selector.register(child.stdin, selectors.EVENT_WRITE)
        selector.register(child.stdout, selectors.EVENT_READ)
        while answer is None or len(received) < answer["bytes"]:
            remaining_s = until - time.monotonic()
            if remaining_s <= 0:
                return None, b"", True
            for key, _ in selector.select(remaining_s):
                if key.fileobj is child.stdout:
                    chunk = os.read(key.fd, _CHUNK)
                    if not chunk:
                        return None, b"", False
                    received += chunk
                    continue
                if _send(key.fd, to_send) and not to_send:
                    selector.unregister(child.stdin)
            if answer is None and (newline := received.find(b"\n")) >= 0:
                answer = _header(received[:newline])
                del received[: newline + 1]
                if answer is None:
                    return None, b"", False
            if len(received) > (_MAX_HEADER if answer is None else min(answer["bytes"], max_output)):
                return None, b"", False
    return answer, bytes(received), False


def _send(pipe: int, parts: list[memoryview]) -> bool:
    """Send the next bytes of *parts* and remove them from *parts*. Returns False if the pipe is full."""
    try:
        parts[0] = parts[0][os.write(pipe, parts[0][:_CHUNK]) :]
    except BlockingIOError:
        return False
    except OSError:  # the child has ended, but may have answered before
        parts.clear()
        return True
    if not parts[0]:
        parts.pop(0)
    return True


def _header(line: bytearray) -> dict[str, Any] | None:
    """Return the first line of an answer, or None if it is malformed, which means that the child is out of control."""
    try:
        answer = json.loads(line)
        return answer if isinstance(answer["bytes"], int) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _status_name(status: int) -> str:
    if status < 0:
        with suppress(ValueError):
            return signal.Signals(-status).name
    return f"exit {status}"
