"""Runs jq programs of a server under test: in a child process, under limits, without a shell.

There are two engines: a jq binary, and libjq from the ``jq`` package. Their versions differ, so a result names its
engine. One child process runs many jobs, because starting a process takes longer than running a recipe.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from functools import cache
from types import TracebackType
from typing import Any, Self, cast

from lro_spec.recipes.lexer import tokens
from lro_spec.recipes.pipeline import JqCall, Pipeline
from lro_spec.sandbox.process import JQ, JobLimits, Sandbox, WorkerError, jq_folder

_MEBIBYTE = 1 << 20
_GRACE_S = 1.0
"""A job is killed this long after its time limit. Most jobs notice by themselves that they have reached the limit."""


class EngineError(RuntimeError):
    """The engine cannot run this program although it may be correct, or there is no working engine."""


@dataclass(frozen=True, slots=True)
class JqRun:
    """Result of a run."""

    status: int
    """jq's exit status, which is negative if a signal ended jq. If jq was called several times, the status of the last
    call that ran. It means nothing if there is a `problem`."""
    stdout: bytes
    stderr: str
    """The beginning of what jq wrote to standard error."""
    timed_out: bool
    engine: str
    """The version of the binary, such as ``jq 1.6``, or ``libjq``."""
    problem: str = ""
    """The reason why jq did not end by itself: a limit of time or output, the death of the process (mostly for lack of
    memory), or a binary that could not be started. Empty if jq ended by itself."""

    @property
    def ok(self) -> bool:
        """True if jq ended by itself and without an error."""
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
    """Run a parsed command on the bytes of its file. The limits are in seconds and bytes.

    *binary* is the path of a jq binary, or None for libjq. Raises `EngineError` if that engine does not work or cannot
    run the program. For more than a few runs use `JqRunner` or `run_many`.
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
    """Like `run`, for many jobs in *workers* child processes; returns their results in order."""
    pending = list(jobs)
    with ExitStack() as stack:
        runners = [
            stack.enter_context(JqRunner(binary, timeout_s=timeout_s, max_output=max_output, memory=memory))
            for _ in range(max(1, min(workers, len(pending))))
        ]
        if len(runners) == 1:
            return [runners[0].run(*job) for job in pending]
        from concurrent.futures import ThreadPoolExecutor

        pool = stack.enter_context(ThreadPoolExecutor(len(runners)))
        shares = [pending[i :: len(runners)] for i in range(len(runners))]
        results_by_share = list(pool.map(_run_share, runners, shares))
        return [results_by_share[i % len(runners)][i // len(runners)] for i in range(len(pending))]


def _run_share(runner: JqRunner, jobs: Sequence[tuple[Pipeline, bytes]]) -> list[JqRun]:
    return [runner.run(*job) for job in jobs]


class JqRunner:
    """A child process that runs jobs one after the other; a context manager, for one thread at a time.

    If a job runs out of time or brings the child down, only that job is lost: the next job gets a new child.
    """

    def __init__(
        self,
        binary: str | None = None,
        *,
        timeout_s: float = 10.0,
        max_output: int = 64 * _MEBIBYTE,
        memory: int = 2048 * _MEBIBYTE,
    ) -> None:
        self.binary = binary
        self.timeout_s = timeout_s
        self.max_output = max_output
        self.memory = memory
        self._sandbox: Sandbox | None = None
        self._retries_next_timeout = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the child and whatever it runs."""
        if self._sandbox is not None:
            self._sandbox.close()

    def run(self, pipeline: Pipeline, data: bytes) -> JqRun:
        """Run a parsed command on the bytes of its file. Raises `EngineError` if the engine cannot run the program.

        If a job times out, the machine may have been busy, which is not the command's fault. So the first job that
        times out is run once more. A later job that times out is run once more if it used the processor for less than
        half of its time limit.
        """
        result, cpu_s = self._run_once(pipeline, data)
        if not result.timed_out or not (self._retries_next_timeout or cpu_s < self.timeout_s / 2):
            return result
        self._retries_next_timeout = False
        return self._run_once(pipeline, data)[0]

    def _run_once(self, pipeline: Pipeline, data: bytes) -> tuple[JqRun, float]:
        """Return a run and its processor time in seconds. If the processor time is unknown, the time limit takes its
        place."""
        if pipeline.without is not None:
            text = pipeline.without.encode("utf-8", "surrogatepass")
            data = b"".join(line for line in re.findall(rb"[^\n]*\n|[^\n]+", data) if text not in line)
        skip, take = pipeline.skip, pipeline.take
        if pipeline.last is not None:
            lines = data.removesuffix(b"\n").split(b"\n")
            if pipeline.is_last_after:
                lines = lines[skip:] if take is None else lines[skip : skip + take]
                skip, take = 0, None
            data = b"\n".join(lines[-pipeline.last :]) if pipeline.last else b""
        engine = _version(self.binary) if self.binary else "libjq"
        request = {
            "calls": [_job(call, wrap=self.binary is None) for call in (pipeline.jq, *pipeline.more)],
            "skip": skip,
            "take": take,
            "timeout_s": self.timeout_s,
            "max_output": self.max_output,
        }
        limits = JobLimits(self.timeout_s + _GRACE_S, self.timeout_s + _GRACE_S, self.max_output)
        self._sandbox = sandbox = self._sandbox or self._new_sandbox()
        try:
            answer = sandbox.run(request, data, limits=limits)
        except WorkerError as problem:
            return JqRun(min(problem.status, -1), b"", "", problem.timed_out, engine, str(problem)), self.timeout_s
        result = answer.result
        problem = cast("str", result["problem"])
        timed_out = problem == "timed out"
        return JqRun(result["status"], answer.output, result["stderr"], timed_out, engine, problem), answer.cpu_s

    def _new_sandbox(self) -> Sandbox:
        if self.binary is not None:
            return Sandbox(JQ, {"binary": self.binary}, memory=self.memory)
        folder = jq_folder()
        if folder is None:
            raise EngineError("no jq binary is used, and the jq package is not installed")
        return Sandbox(JQ, memory=self.memory, path=[folder], sealed=True)


def _job(call: JqCall, *, wrap: bool) -> dict[str, Any]:
    options = {name: getattr(call, name) for name in _OPTIONS}
    return {**options, "wrapped": _with_inputs(call) if wrap else None}


_OPTIONS = tuple(f.name for f in fields(JqCall))


_EVALUATED_ONCE = (("reduce", "inputs"), ("foreach", "inputs"))
"""Pairs of successive words that are allowed although the first of them is in `_REPEATING`: the `inputs` after it is
evaluated only once."""
_REPEATING = frozenset(("reduce", "foreach", "def", "until", "while", "repeat"))
"""Words after which an expression may be evaluated more than once."""
_BRANCHING = _REPEATING | {"if", "try", "first", "limit", "label", "?", "//"}
"""`_REPEATING`, and words after which an expression may be evaluated only in part. If it is, a later `input` or
`inputs` returns the remaining inputs in jq."""


def _with_inputs(call: JqCall) -> str | None:
    """The program with `input` and `inputs` bound to its slurped input, because libjq itself does not provide them.

    Returns None if the program uses neither of them. Supports a single `inputs`, an `input` followed by one `inputs`
    (the idiom that skips a header) and, with -n, a single `input`. With -n, a lone `inputs` may also be read in part,
    as in ``first(inputs | …)``. Raises `EngineError` for any other use.
    """
    code = [t for t in tokens(call.program) if t.kind not in ("space", "comment")]
    input_words = [t.text for t in code if t.kind == "word" and t.text in ("input", "inputs")]
    if not input_words:
        return None
    words = [t.text for t in code]
    # The expression after reduce or foreach is evaluated once, like code outside of them.
    exposed_words = [
        w for w, following in zip(words, [*words[1:], ""], strict=True) if (w, following) not in _EVALUATED_ONCE
    ]
    obstacles = _REPEATING if call.null_input and input_words == ["inputs"] else _BRANCHING
    is_supported = input_words in (["input"], ["inputs"], ["input", "inputs"]) and obstacles.isdisjoint(exposed_words)
    if not is_supported or call.slurp or (input_words == ["input"] and not call.null_input):
        raise EngineError("this use of input and inputs needs a jq binary")
    first = 0 if call.null_input else 1
    rest = first + (input_words[0] == "input")
    start = "null" if call.null_input else "$lro_inputs[0]"
    return (
        f". as $lro_inputs | def input: $lro_inputs[{first}]; def inputs: $lro_inputs[{rest}:][]; "
        f"{start} | (\n{call.program}\n)"
    )


@cache
def _version(binary: str) -> str:
    try:
        completed = subprocess.run([binary, "--version"], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise EngineError(f"{binary} is not a working jq: {problem}") from None
    text = (completed.stdout or completed.stderr).decode(errors="replace").strip()
    return text.replace("jq-", "jq ", 1)[:40] or "jq"
