"""Runs a caller's query or regular expression in a sandbox (`lro_spec.sandbox`).

Each query runs in a child process of its own, which gets only the request and the open files. The process has no
environment. Because its sandbox is ``sealed``, it cannot open another file, start a process or reach the network. Its
time, memory and output are limited.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from lro_proxy.tools.limits import MAX_UTF8_BYTES, InvalidPattern, Limits, Refused, TooLarge
from lro_reference.cancellation import Cancellation
from lro_spec.sandbox.process import JQ, REGEX, JobLimits, Sandbox, WorkerError, jq_folder

_TURN_S = 20.0
"""Maximum time that a query waits until it may run."""
_REASONS = {
    -signal.SIGPROF: "it ran for too long",
    -signal.SIGALRM: "it ran for too long",
    -signal.SIGXCPU: "it ran for too long",
    -signal.SIGABRT: "it needed too much memory",
    -signal.SIGKILL: "it was killed",
    -signal.SIGSEGV: "it needed too much memory",
}
_ADVICE = "use a simpler query, or one that returns less"


@dataclass(frozen=True, slots=True)
class Query:
    """A jq program that runs on each record of a file or, with *slurp*, on the array of all records."""

    program: str
    args: Mapping[str, Any]
    """Values of the program's variables, by name."""
    slurp: bool = False
    raw: bool = False
    """True if strings are returned without quotes."""
    indent: bool = False
    skip: int = 0
    """Number of results to leave out first."""
    limit: int | None = None
    """Maximum number of results."""


@dataclass(frozen=True, slots=True)
class Output:
    """Output of a query."""

    text: str
    notes: str = ""
    """Notes for the caller. They say for which records the query failed, or that all results were left out because of
    `Query.skip`."""


class QueryRunner:
    """Runs queries and searches under *limits*. Thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._turns = threading.BoundedSemaphore(limits.concurrent_queries)
        self._cancellation = Cancellation()

    def with_cancellation(self, cancellation: Cancellation) -> QueryRunner:
        """A view of this runner for one call, whose processes end when *cancellation* is requested."""
        view = copy(self)
        view._cancellation = cancellation
        return view

    def query(self, query: Query, file: BinaryIO) -> Output:
        """Run a query on a file. Raises `Refused`."""
        folder = jq_folder()
        if folder is None:
            raise Refused("the jq package is not installed here, so queries cannot be run")
        request = {
            "query": query.program,
            "args": dict(query.args),
            "slurp": query.slurp,
            "raw": query.raw,
            "indent": query.indent,
            "skip": query.skip,
            "limit": query.limit,
        }
        return self._in_turn(JQ, [folder], request, [file])

    def search(self, pattern: str, files: Sequence[BinaryIO], *, case_sensitive: bool, limit: int) -> list[int]:
        """The numbers of the first *limit* matching lines. Raises `Refused`.

        The numbers start at 1, and continue from file to file.
        """
        request = {"pattern": pattern, "case_sensitive": case_sensitive, "limit": limit}
        return [int(number) for number in self._in_turn(REGEX, [], request, files).text.split()]

    def _in_turn(
        self, job: Path, module_folders: list[str], request: Mapping[str, Any], files: Sequence[BinaryIO]
    ) -> Output:
        """Run a job for a request when its turn has come, and return its output.

        The job can import modules from *module_folders*.
        """
        if not self._turns.acquire(timeout=_TURN_S):
            raise Refused("too many queries are running: try again in a moment")
        try:
            if self._cancellation.requested:  # a cancelled call leaves the queue only when its turn comes
                raise Refused("the call was cancelled")
            numbers = [file.fileno() for file in files]
            for number in numbers:
                os.lseek(number, 0, os.SEEK_SET)
            with (
                Sandbox(
                    job, memory=self._limits.memory_mb << 20, path=module_folders, files=numbers, sealed=True
                ) as sandbox,
                self._cancellation.on_request(sandbox.abort),
            ):
                return self._run(sandbox, request)
        finally:
            self._turns.release()

    def _run(self, sandbox: Sandbox, request: Mapping[str, Any]) -> Output:
        limits = self._limits
        max_output = limits.output_characters * MAX_UTF8_BYTES
        try:
            request = {**request, "max_output": max_output}
            answer = sandbox.run(request, limits=JobLimits(limits.seconds, 2 * limits.seconds + 1, max_output))
        except WorkerError as problem:
            raise Refused(_explanation(problem, limits)) from None
        if answer.result["problem"]:
            refused = InvalidPattern if answer.result.get("invalid_pattern") else Refused
            raise refused(answer.result["problem"])
        text = answer.output.decode("utf-8", "replace").removesuffix("\n")
        if answer.result["too_large"] or len(text) > limits.output_characters:
            raise TooLarge(text.count("\n", 0, limits.output_characters + 1), limits.output_characters)
        return Output(text, answer.result.get("notes", ""))


def _explanation(problem: WorkerError, limits: Limits) -> str:
    if problem.exception == "MemoryError":
        return f"the query was stopped: {_REASONS[-signal.SIGABRT]}; {_ADVICE}"
    if problem.exception:
        return f"the query failed: {' '.join(problem.message.split())[:300] or problem.exception}"
    if problem.timed_out and problem.status == -signal.SIGKILL:
        return f"the query was stopped: it ran for more than {limits.seconds:g} s; {_ADVICE}"
    if problem.status < 0:
        return f"the query was stopped: {_REASONS.get(problem.status, 'it failed')}; {_ADVICE}"
    return f"the query failed (exit code {problem.status})"
