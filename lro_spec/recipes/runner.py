"""Running jq programs that a server under test supplied: in a process of their own, under limits, without a shell.

Two engines: a jq binary, and libjq from the ``jq`` package. Versions differ, so a result names its engine. One child
process runs many jobs, because a start costs more than a recipe.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from lro_spec.recipes.lexer import tokens
from lro_spec.recipes.pipeline import JqCall, Pipeline

_CHUNK = 1 << 18
_MEBIBYTE = 1 << 20
# What the child may take beyond a job's own time before it is killed: it notices most overruns by itself.
_GRACE_S = 1.0


class EngineError(RuntimeError):
    """No engine here can run this program; says nothing about the program."""


@dataclass(frozen=True, slots=True)
class JqRun:
    """What a run gave."""

    status: int
    """jq's exit status; negative when it was ended by that signal, or before it could end."""
    stdout: bytes
    stderr: str
    """Its beginning."""
    timed_out: bool
    engine: str
    """``jq 1.6``, or ``libjq``."""
    problem: str = ""
    """Set when a limit ended the run: time, output, or the process (memory, mostly)."""

    @property
    def ok(self) -> bool:
        """Whether jq ended by itself and without an error."""
        return self.status == 0 and not self.problem


def run(
    pipeline: Pipeline,
    data: bytes,
    *,
    binary: str | None,
    timeout_s: float = 10.0,
    max_output: int = 64 * _MEBIBYTE,
    memory: int = 2048 * _MEBIBYTE,
) -> JqRun:
    """Runs one understood command on the bytes of its file; limits in seconds and bytes.

    *binary* is the path of a jq, or None for libjq. Raises `EngineError` when neither can do it. For more than a few
    runs use `JqRunner` or `run_many`.
    """
    with JqRunner(binary, timeout_s=timeout_s, max_output=max_output, memory=memory) as runner:
        return runner.run(pipeline, data)


def run_many(
    jobs: Iterable[tuple[Pipeline, bytes]],
    *,
    binary: str | None,
    timeout_s: float = 10.0,
    max_output: int = 64 * _MEBIBYTE,
    memory: int = 2048 * _MEBIBYTE,
    workers: int = 1,
) -> list[JqRun]:
    """Runs many jobs, in order, in *workers* child processes; like `run` otherwise."""
    todo = list(jobs)
    with ExitStack() as stack:
        runners = [
            stack.enter_context(JqRunner(binary, timeout_s=timeout_s, max_output=max_output, memory=memory))
            for _ in range(max(1, min(workers, len(todo))))
        ]
        if len(runners) == 1:
            return [runners[0].run(*job) for job in todo]
        from concurrent.futures import ThreadPoolExecutor

        pool = stack.enter_context(ThreadPoolExecutor(len(runners)))
        shares = [todo[i :: len(runners)] for i in range(len(runners))]
        done = list(pool.map(_run_share, runners, shares))
        return [done[i % len(runners)][i // len(runners)] for i in range(len(todo))]


def _run_share(runner: JqRunner, jobs: Sequence[tuple[Pipeline, bytes]]) -> list[JqRun]:
    return [runner.run(*job) for job in jobs]


class JqRunner:
    """A child process that runs jobs one after the other; a context manager, for one thread at a time.

    A job that runs out of time or brings the child down costs only itself: the next one gets a new child.
    """

    def __init__(
        self,
        binary: str | None = None,
        *,
        timeout_s: float = 10.0,
        max_output: int = 64 * _MEBIBYTE,
        memory: int = 2048 * _MEBIBYTE,
        ends_with_thread: bool = False,
    ) -> None:
        """*ends_with_thread*: on Linux the child ends when the thread that made it ends, also where that is killed."""
        self.binary = binary
        self.timeout_s = timeout_s
        self.max_output = max_output
        self.memory = memory
        self._parent = os.getpid() if ends_with_thread else 0
        self._child: subprocess.Popen[bytes] | None = None
        self._sent: bytes | None = None
        self._patient = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends the child and whatever it runs."""
        child, self._child, self._sent = self._child, None, None
        if child is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        with child:
            pass

    def run(self, pipeline: Pipeline, data: bytes) -> JqRun:
        """Runs one understood command on the bytes of its file. Raises `EngineError`.

        The first job that runs out of time is tried once more, and so is each that was left to wait for half of it: a
        machine may stand still for a while, and no command is to be blamed for that.
        """
        done, cpu_s = self._once(pipeline, data)
        if not done.timed_out or not (self._patient or cpu_s < self.timeout_s / 2):
            return done
        self._patient = False
        return self._once(pipeline, data)[0]

    def _once(self, pipeline: Pipeline, data: bytes) -> tuple[JqRun, float]:
        """A run, and the seconds of processor time that it took; as many as there may be, where nobody knows."""
        if pipeline.without is not None:
            text = pipeline.without.encode("utf-8", "surrogatepass")
            data = b"".join(line for line in re.findall(rb"[^\n]*\n|[^\n]+", data) if text not in line)
        if pipeline.last is not None:
            lines = data.removesuffix(b"\n").split(b"\n")
            data = b"\n".join(lines[-pipeline.last :]) if pipeline.last else b""
        engine = _version(self.binary) if self.binary else "libjq"
        calls = [_job(call, wrap=self.binary is None) for call in (pipeline.jq, *pipeline.more)]
        child = self._started()
        header: dict[str, Any] = {
            "calls": calls,
            "skip": pipeline.skip,
            "take": pipeline.take,
            "binary": self.binary,
            "timeout_s": self.timeout_s,
            "max_output": self.max_output,
            "bytes": None if data is self._sent else len(data),
        }
        message = [json.dumps(header).encode() + b"\n", *([] if data is self._sent else [data])]
        try:
            answer, stdout = _exchange(child, message, time.monotonic() + self.timeout_s + _GRACE_S)
        except BaseException:
            self.close()  # half an answer must not be taken for the next one's
            raise
        if answer is None:
            self.close()
            timed_out = child.returncode == -signal.SIGXCPU or stdout == b"timeout"
            problem = "timed out" if timed_out else f"died ({_name(child.returncode)})"
            return JqRun(min(child.returncode or -1, -1), b"", "", timed_out, engine, problem), self.timeout_s
        self._sent = data
        problem = cast("str", answer["problem"])
        run = JqRun(answer["status"], stdout, answer["stderr"], problem == "timed out", engine, problem)
        return run, cast("float", answer["cpu_s"])

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is not None and self._child.poll() is not None:
            self.close()
        if self._child is None:
            script = str(Path(__file__).with_name("_worker.py"))
            argv = [sys.executable, "-I", "-S", script, str(self.memory), str(self._parent)]
            if self.binary is None:
                argv.append(_package_folder())
            kept = {k: v for k, v in os.environ.items() if k in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")}
            self._child = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=kept,
                cwd="/",
                start_new_session=True,
            )
        return self._child


def _exchange(
    child: subprocess.Popen[bytes], message: Sequence[bytes], deadline: float
) -> tuple[dict[str, Any] | None, bytes]:
    """Sends a job and reads its answer; (None, b"timeout" or b"") when there is none."""
    assert child.stdin is not None
    assert child.stdout is not None
    to_send = [memoryview(part) for part in message if part]
    received = bytearray()
    answer: dict[str, Any] | None = None
    os.set_blocking(child.stdin.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdin, selectors.EVENT_WRITE)
        selector.register(child.stdout, selectors.EVENT_READ)
        while answer is None or len(received) < answer["bytes"]:
            left = deadline - time.monotonic()
            if left <= 0:
                return None, b"timeout"
            for key, _ in selector.select(left):
                if key.fileobj is child.stdout:
                    chunk = os.read(key.fd, _CHUNK)
                    if not chunk:
                        return None, b""
                    received += chunk
                    continue
                try:
                    to_send[0] = to_send[0][os.write(key.fd, to_send[0][:_CHUNK]) :]
                except BlockingIOError:
                    continue
                except OSError:
                    return None, b""
                if not to_send[0]:
                    to_send.pop(0)
                if not to_send:
                    selector.unregister(child.stdin)
            if answer is None and (newline := received.find(b"\n")) >= 0:
                answer = cast("dict[str, Any]", json.loads(received[:newline]))
                del received[: newline + 1]
    return answer, bytes(received)


def _job(call: JqCall, *, wrap: bool) -> dict[str, Any]:
    return {**asdict(call), "wrapped": _with_inputs(call) if wrap else None}


_ONCE = (("reduce", "inputs"), ("foreach", "inputs"))


def _with_inputs(call: JqCall) -> str | None:
    """The program with `input` and `inputs` bound to its slurped input, which libjq alone does not feed; None without.

    One `input` and then one `inputs`, the idiom that skips a header, is as far as that goes.
    """
    code = [t for t in tokens(call.program) if t.kind not in ("space", "comment")]
    used = [t.text for t in code if t.kind == "word" and t.text in ("input", "inputs")]
    if not used:
        return None
    branches = {
        "if",
        "try",
        "first",
        "limit",
        "label",
        "reduce",
        "foreach",
        "def",
        "until",
        "while",
        "repeat",
        "?",
        "//",
    }
    words = [t.text for t in code]
    # What follows reduce or foreach is evaluated once, as it is in the open.
    bare = [w for w, then in zip(words, [*words[1:], ""], strict=True) if (w, then) not in _ONCE]
    plain = used in (["input"], ["inputs"], ["input", "inputs"]) and branches.isdisjoint(bare)
    if not plain or call.slurp or (used == ["input"] and not call.null_input):
        raise EngineError("this use of input and inputs needs a jq binary")
    first = 0 if call.null_input else 1
    rest = first + (used[0] == "input")
    start = "null" if call.null_input else "$lro_inputs[0]"
    return (
        f". as $lro_inputs | def input: $lro_inputs[{first}]; def inputs: $lro_inputs[{rest}:][]; "
        f"{start} | (\n{call.program}\n)"
    )


@cache
def _package_folder() -> str:
    found = find_spec("jq")
    if found is None or found.origin is None:
        raise EngineError("there is no jq binary, and the jq package is not installed")
    return str(Path(found.origin).parent)


@cache
def _version(binary: str) -> str:
    try:
        done = subprocess.run([binary, "--version"], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise EngineError(f"{binary} is not a jq that runs: {problem}") from None
    text = (done.stdout or done.stderr).decode(errors="replace").strip()
    return text.replace("jq-", "jq ", 1)[:40] or "jq"


def _name(status: int | None) -> str:
    if status is not None and status < 0:
        with suppress(ValueError):
            return signal.Signals(-status).name
    return f"exit {status}"
