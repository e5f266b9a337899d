"""The child process of every sandbox: never imported, started by `lro_spec.sandbox.process`.

Standard input has a line of JSON with the settings, and then requests. A request is a line of JSON and as many bytes of
data as that line announces. If the line announces null, the data of the previous request are used again. Each answer
goes to standard output in the same form. The settings name a job: a Python file with a function ``prepare(context)``.
This function returns the function ``run(request, data)``, which runs one request and returns a result (an object) and
output (bytes). An exception in a job is also sent as an answer; then the process ends. Few modules are imported, not
even `typing`, because most of the cost of a sandbox is its start.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
from importlib.machinery import SourceFileLoader
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

    Run = Callable[[dict[str, Any], bytes], tuple[dict[str, Any], bytes]]

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_MAX_TRACEBACK = 4000


class Context:
    """Options and files of a job."""

    def __init__(self, options: dict[str, Any], files: list[BinaryIO]) -> None:
        self.options = options
        self.files = files
        """The files that the parent has passed, open for reading."""

    @staticmethod
    def end_with_parent() -> None:
        """Make the kernel kill this process when the thread that started it ends (Linux)."""
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Answer requests until standard input ends."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that a job prints must not look like an answer
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # signal dispositions and masks are inherited
    for number in (signal.SIGALRM, signal.SIGPROF, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    settings: dict[str, Any] = json.loads(requests.readline())
    _end_with_parent(settings["parent"])
    os.environ.clear()
    try:
        _serve(requests, answers, settings)
    except Exception as problem:
        failure = {"exception": type(problem).__name__, "message": str(problem), "traceback": _traceback()}
        answers.write(json.dumps({"failure": failure, "bytes": 0}).encode() + b"\n")
        answers.flush()
        os._exit(1)


def _serve(requests: BinaryIO, answers: BinaryIO, settings: dict[str, Any]) -> None:
    sys.path += settings["path"]
    files = [os.fdopen(number, "rb", buffering=1 << 18) for number in settings["files"]]
    run: Run = _load(settings["job"]).prepare(Context(settings["options"], files))
    _restrict(settings["memory"], sealed=settings["sealed"])
    data = b""
    while line := requests.readline():
        header: dict[str, Any] = json.loads(line)
        if header["bytes"] is not None:
            data = _read(requests, header["bytes"])
        cpu_before_s = _cpu_s()
        _limit_time(header["cpu_s"], header["wall_s"])
        result, output = run(header["request"], data)
        _end_time_limit()
        answer = {"result": result, "cpu_s": _cpu_s() - cpu_before_s, "bytes": len(output)}
        answers.write(json.dumps(answer).encode() + b"\n" + output)
        answers.flush()


def _load(path: str) -> Any:
    """The module of a job. Its compiled code is cached, unlike the code of this script."""
    module = sys.modules["job"] = ModuleType("job")
    module.__file__ = path
    SourceFileLoader("job", path).exec_module(module)
    return module


def _read(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        os._exit(1)  # the parent has ended
    return data


def _traceback() -> str:
    try:
        import traceback
    except (ImportError, OSError):  # a sealed process opens no file
        return ""
    return traceback.format_exc()[-_MAX_TRACEBACK:]


# --- limits


def _end_with_parent(parent: int) -> None:
    # The kernel ends this process. A thread that watches the parent would starve, because libjq never releases the
    # interpreter's lock.
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)  # this also applies to programs that the job starts
    if os.getppid() != parent:  # the parent ended before the call
        os._exit(1)


def _prctl(option: int, value: int) -> None:
    if sys.platform != "linux":
        return
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _restrict(memory: int, *, sealed: bool) -> None:
    """Limit memory and forbid writing files; *sealed* also forbids opening anything and starting processes."""
    limits = {"RLIMIT_AS": memory, "RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0}
    if sealed:
        limits |= {"RLIMIT_NPROC": 0, "RLIMIT_NOFILE": 0}
    for name, value in limits.items():
        with contextlib.suppress(ValueError, OSError, AttributeError):  # not on this system
            resource.setrlimit(getattr(resource, name), (value, value))


def _limit_time(cpu_s: float, wall_s: float) -> None:
    """Make the kernel end the process after *cpu_s* seconds of processor time or *wall_s* seconds in all. A handler in
    Python would have to wait until libjq returns."""
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    signal.setitimer(signal.ITIMER_REAL, wall_s)
    used = resource.getrusage(resource.RUSAGE_SELF)
    # Unlike the timers, this limit is inherited by programs that the job starts.
    soft = int(used.ru_utime + used.ru_stime + cpu_s) + 2
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _end_time_limit() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.setitimer(signal.ITIMER_PROF, 0)


def _cpu_s() -> float:
    """Processor time of this process and of the programs that it has started, in seconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


if __name__ == "__main__":
    main()
