"""Driving `lro proxy` as a client does, with raw lines."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import lro_reference
import lro_spec
from tests.support.paths import SERVERS

ROOTS = os.pathsep.join(str(Path(module.__file__ or "").parent.parent) for module in (lro_spec, lro_reference))
SETTING = "ATLATL_PROMPT__OFFLOAD__"
SCRIPTED = (sys.executable, "-I", "-S", str(SERVERS / "upstream" / "scripted.py"))


class Client:
    """The client's side of a started proxy (or of a server alone)."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._pending = bytearray()
        self._next = 0

    def send(self, message: object) -> None:
        assert self.process.stdin
        line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def line(self, timeout_s: float = 30) -> bytes:
        """The next line, without its end; empty at the end of the output. Raises `TimeoutError`."""
        assert self.process.stdout
        until = time.monotonic() + timeout_s
        looked = 0
        while (end := self._pending.find(b"\n", looked)) < 0:
            looked = len(self._pending)
            if not select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError(f"no line within {timeout_s} s, only {bytes(self._pending[:200])!r}")
            chunk = os.read(self.process.stdout.fileno(), 1 << 20)
            if not chunk:
                return b""
            self._pending += chunk
        found = bytes(self._pending[:end])
        del self._pending[: end + 1]
        return found

    def post(self, method: str, **params: Any) -> int:
        """Sends a request and returns its id."""
        self._next += 1
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        return self._next

    def call(self, tool: str, **arguments: Any) -> int:
        return self.post("tools/call", name=tool, arguments=arguments)

    def answer(self, id: object, timeout_s: float = 30) -> dict[str, Any]:
        """The answer to a request; what comes before it is dropped."""
        until = time.monotonic() + timeout_s
        while line := self.line(max(0.1, until - time.monotonic())):
            message = json.loads(line)
            if message.get("id") == id and "method" not in message:
                return message
        raise EOFError("the output ended before the answer")

    def result(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.answer(self.call(tool, **arguments))["result"]

    def leave(self, timeout_s: float = 20) -> int:
        """Closes stdin and returns the exit code."""
        assert self.process.stdin
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        return self.process.wait(timeout_s)


@contextmanager
def proxy(
    folder: Path,
    *options: str,
    server: Sequence[str] = SCRIPTED,
    stderr: Any = subprocess.DEVNULL,
    threshold: int | None = 200,
    **env: str,
) -> Iterator[Client]:
    """A proxy whose files go to *folder*; ended with the context."""
    command = [sys.executable, "-m", "lro_proxy", *options, "--", *server]
    settings = {f"{SETTING}OUTPUT_DIR": str(folder)} | (
        {} if threshold is None else {f"{SETTING}THRESHOLD_TOKENS": str(threshold)}
    )
    with started(command, stderr, **settings, **env) as client:
        yield client


@contextmanager
def started(command: Sequence[str], stderr: Any = subprocess.DEVNULL, **env: str) -> Iterator[Client]:
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, "PYTHONPATH": ROOTS, **env},
    )
    try:
        yield Client(process)
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with suppress(BrokenPipeError):
                if pipe:
                    pipe.close()


def records(path: str | Path) -> tuple[dict[str, Any], list[Any]]:
    """The header and the records of a file."""
    header, *lines = Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return json.loads(header), [json.loads(line) for line in lines]


def gone(pid: int, timeout_s: float = 10) -> bool:
    """Whether a process ends within a time; a zombie has ended."""
    until = time.monotonic() + timeout_s
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False
