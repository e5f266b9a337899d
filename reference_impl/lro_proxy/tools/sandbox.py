"""Runs a caller's query or regular expression in an isolated process.

The child gets an open file and a job, and nothing more: no environment, no argument, no way to open a file, start a
process or reach the network, and limits on time, memory and output. It never outlives this process (Linux).
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

from lro_proxy.tools.limits import MOST_UTF8_BYTES, Limits, Refused, TooLarge
from lro_reference.cancellation import Cancellation

_CHILD = Path(__file__).with_name("_sandbox_worker.py")
_CHUNK = 1 << 16
_MOST_NOTES = 4096
_START_S = 20.0
"""Maximum wait for a turn, and for a child to start on a busy machine."""
_MESSAGES = {
    signal.SIGPROF: "it ran for too long",
    signal.SIGALRM: "it ran for too long",
    signal.SIGXCPU: "it ran for too long",
    signal.SIGABRT: "it needed too much memory",
    signal.SIGKILL: "it was killed",
    signal.SIGSEGV: "it needed too much memory",
}


@dataclass(frozen=True, slots=True)
class Output:
    """Output of a job."""

    text: str
    notes: str = ""
    """Failures on single records, for the caller."""


class Sandbox:
    """Runs jobs under *limits*. Thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._turns = threading.BoundedSemaphore(limits.at_once)
        self._cancellation = Cancellation()

    def until(self, cancellation: Cancellation) -> Sandbox:
        """A view of this sandbox for one call, whose jobs end when *cancellation* is requested."""
        made = copy(self)
        made._cancellation = cancellation
        return made

    def run(self, job: Mapping[str, Any], *files: BinaryIO) -> Output:
        """Run a job on the files, one after the other from their beginnings. Raises `Refused`."""
        if not self._turns.acquire(timeout=_START_S):
            raise Refused("too many queries are running: ask again in a moment")
        try:
            if self._cancellation.requested:  # it leaves the queue when its turn comes
                raise Refused("the call was cancelled")
            return self._run(job, [file.fileno() for file in files])
        finally:
            self._turns.release()

    def _run(self, job: Mapping[str, Any], files: Sequence[int]) -> Output:
        limits = self._limits
        for file in files:
            os.lseek(file, 0, os.SEEK_SET)
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=files,
            env={},
            cwd="/",
            start_new_session=True,
        )
        order = {
            **job,
            "files": files,
            "parent": os.getpid(),
            "jq": _jq_folder(),
            "seconds": limits.seconds,
            "memory": limits.memory_mb << 20,
            "most_bytes": limits.output_characters * MOST_UTF8_BYTES,
        }
        try:
            with self._cancellation.on_request(lambda: _kill(child)):
                return _answer(child, json.dumps(order).encode() + b"\n", limits)
        finally:
            _kill(child)
            with child:  # closes its pipes and reaps it
                pass


def _kill(child: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _answer(child: subprocess.Popen[bytes], order: bytes, limits: Limits) -> Output:
    assert child.stdin is not None
    with suppress(BrokenPipeError):
        child.stdin.write(order)
        child.stdin.flush()
    output = _read_output(child, limits)
    text, notes = (part.decode("utf-8", "replace") for part in output)
    status = child.wait(_START_S)
    if status < 0:
        raise Refused(f"the query was stopped: {_MESSAGES.get(signal.Signals(-status), 'it failed')}; {_LESS}")
    if status not in (0, 2):
        raise Refused(notes.strip() or f"the query failed (exit code {status})")
    text = text.removesuffix("\n")
    if status or len(text) > limits.output_characters:
        raise TooLarge(text.count("\n", 0, limits.output_characters + 1), limits.output_characters)
    return Output(text, notes.strip())


_LESS = "ask for something simpler, or for less"


def _read_output(child: subprocess.Popen[bytes], limits: Limits) -> tuple[bytes, bytes]:
    """Its stdout and stderr until it ends, up to the limits. Raises `Refused` when it takes too long."""
    assert child.stdout is not None
    assert child.stderr is not None
    output = {child.stdout.fileno(): bytearray(), child.stderr.fileno(): bytearray()}
    most = {child.stdout.fileno(): limits.output_characters * MOST_UTF8_BYTES + 1, child.stderr.fileno(): _MOST_NOTES}
    # The child limits its own time from the start of the job; this limit is for one that never starts, or hangs.
    until = time.monotonic() + _START_S + limits.seconds
    with selectors.DefaultSelector() as selector:
        for pipe in output:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, until - time.monotonic()))
            if not ready:
                raise Refused(f"the query was stopped: it ran for more than {limits.seconds:g} s; {_LESS}")
            for key, _ in ready:
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    selector.unregister(key.fd)
                output[key.fd] += chunk[: max(0, most[key.fd] - len(output[key.fd]))]
    return bytes(output[child.stdout.fileno()]), bytes(output[child.stderr.fileno()])


@cache
def _jq_folder() -> str:
    found = find_spec("jq")
    if found is None or found.origin is None:
        raise Refused("the jq package is not installed here, so there are no queries")
    return str(Path(found.origin).parent)
