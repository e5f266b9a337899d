"""Random use of the proxy: calls, crashes, cancellations, disconnects, full disks and removed folders, in any order.

Each request is answered exactly once, each offloaded answer is whole, no process stays, and memory does not grow. The
tests try a few sequences; this tries them for two hours, always others:

    LRO_RANDOM_MINUTES=120 pytest --long tests/proxy/test_random_use.py

It prints a line every minute, and at its end what was tried.
"""

from __future__ import annotations

import json
import os
import queue
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from lro_proxy.errors import CANCELLED, GONE, TOO_LONG, UNREADABLE
from tests.support.proxying import ROOTS, SCRIPTED, SETTING, gone, records

MINUTES = float(os.environ.get("LRO_RANDOM_MINUTES", "2"))
PATIENCE_S = 30
MOST_MB = 260
"""Limit of the memory of a proxy whose largest message has 6 MB."""
SMALL = {"content": [{"type": "text", "text": "small"}]}
CODES = {GONE, CANCELLED, TOO_LONG, UNREADABLE}


@dataclass
class Tally:
    """What was tried; a lost answer, a second one or a process that stays ends the test."""

    sequences: int = 0
    proxies: int = 0
    requests: int = 0
    answers: int = 0
    peak_mb: float = 0
    """The largest memory of a proxy since the last line."""
    peaks: list[float] = field(default_factory=list[float])
    """The same, of each line before."""

    def line(self) -> str:
        self.peaks.append(self.peak_mb)
        self.peak_mb = 0
        return (
            f"{self.sequences} sequences, {self.proxies} proxies, {self.requests} requests, {self.answers} answers; "
            f"at most {self.peaks[-1]:.0f} MB"
        )


TALLY = Tally()


class Session:
    """A started proxy, and every message that it sends."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "lro_proxy", "--max-line-mb", "8", "--", *SCRIPTED]
        environ = {"PYTHONPATH": ROOTS, f"{SETTING}OUTPUT_DIR": str(folder), f"{SETTING}THRESHOLD_TOKENS": "200"}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env={**os.environ, **environ}
        )
        self.arrived: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            if line.endswith(b"\n"):  # of a proxy that is killed, the last line may be cut
                self.arrived.put(json.loads(line))

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def children(self) -> set[int]:
        found: set[int] = set()
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            with suppress(OSError):
                found |= set(map(int, (task / "children").read_text().split()))
        return found

    def memory_mb(self) -> float:
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())
        return int(found[1]) / 1024 if found else 0

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(BrokenPipeError):
                if pipe:
                    pipe.close()


class Use(RuleBasedStateMachine):
    """A client, its proxy and the server behind it."""

    patient = False
    """True if the proxy may be made to wait for a server that never answers, which takes ten seconds."""
    lasts = False
    """True if the proxy is the same to the end of a sequence."""

    @initialize()
    def start(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="lro-random-"))
        self.folder = self.root / "out"
        self.number = 0
        self.leaves = r"lro-\w+-\w+\.jsonl"
        self.begin()

    def begin(self) -> None:
        TALLY.proxies += 1
        self.session = Session(self.folder)
        self.waiting: dict[int, str] = {}
        """The expected answer to each request."""
        self.ended = self.server_ended = self.limited = False
        self.children: set[int] = set()
        self.ask("initialize", "any", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
        self.settle()
        self.children |= self.session.children()

    def ask(self, method: str, expected: str, **params: Any) -> None:
        self.number += 1
        TALLY.requests += 1
        self.waiting[self.number] = expected
        self.session.send({"id": self.number, "method": method, "params": params})

    def call(self, tool: str, expected: str, **arguments: Any) -> None:
        self.ask("tools/call", expected, name=tool, arguments=arguments)

    # --- calls

    @precondition(lambda self: not self.ended)
    @rule(count=st.integers(1, 5), lines=st.sampled_from([300, 3000, 200_000]), typed=st.booleans())
    def call_for_a_large_result(self, count: int, lines: int, typed: bool) -> None:
        rows = [{"id": n, "name": f"item {n}"} for n in range(min(lines, 20_000))]
        text = json.dumps(rows) if typed else "GET /items/1 200\n" * lines
        for _ in range(count):
            result = {"content": [{"type": "text", "text": text}]} | (
                {"structuredContent": {"items": rows}} if typed else {}
            )
            self.call("typed" if typed else "say", f"large {len(rows) if typed else lines}", result=json.dumps(result))

    @precondition(lambda self: not self.ended)
    @rule(count=st.integers(1, 20))
    def call_for_small_results(self, count: int) -> None:
        for _ in range(count):
            self.call("say", "small", result=json.dumps(SMALL))

    @precondition(lambda self: not self.ended)
    @rule(tool=st.sampled_from(["hang", "flood", "raw", "huge", "unknown"]))
    def call_for_something_odd(self, tool: str) -> None:
        match tool:
            case "hang":
                self.call("hang", "hangs")
            case "flood":
                self.call("flood", "any", lines=2000)
            case "raw":
                self.call("raw", "error", text='{"jsonrpc":"2.0","id":$ID,"result":{"content":[}}\n')
            case "huge":
                self.call("huge", "error", mb=9)
            case _:
                self.ask("something/unknown", "any")

    @precondition(lambda self: not self.ended and "hangs" in self.waiting.values())
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(id for id, expected in self.waiting.items() if expected == "hangs")))
        self.session.send({"method": "notifications/cancelled", "params": {"requestId": id}})
        del self.waiting[id]  # nobody waits for it; an answer may still come

    @precondition(lambda self: not self.ended)
    @rule()
    def settle(self) -> None:
        """Wait for all answers that are due."""
        until = time.monotonic() + PATIENCE_S
        while any(expected != "hangs" for expected in self.waiting.values()):
            self.take(self.session.arrived.get(timeout=max(0.01, until - time.monotonic())))

    # --- the machine

    @precondition(lambda self: not self.ended)
    @rule()
    def remove_the_folder(self) -> None:
        self.settle()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.leaves = r"lro-\w+-\w+\.jsonl"

    @precondition(lambda self: not self.ended and not self.limited)
    @rule(size=st.sampled_from([0, 100, 5000]))
    def fill_the_disk(self, size: int) -> None:
        """No file may become larger than this, as on a disk with so much space."""
        self.settle()
        resource.prlimit(self.session.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        self.limited = True

    @precondition(lambda self: not self.ended and self.limited)
    @rule()
    def free_the_disk(self) -> None:
        self.settle()
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.prlimit(self.session.process.pid, resource.RLIMIT_FSIZE, unlimited)
        self.limited = False

    # --- ends

    @precondition(lambda self: not self.ended and not self.server_ended and not self.lasts)
    @rule(tool=st.sampled_from(["die", "killed", "half"]))
    def the_server_ends(self, tool: str) -> None:
        self.call(tool, "error")
        for id, expected in self.waiting.items():
            self.waiting[id] = "error" if expected == "hangs" else f"{expected} or error"
        self.server_ended = True

    @precondition(lambda self: self.ended)
    @rule()
    def start_again(self) -> None:
        self.session.close()
        self.begin()

    @precondition(lambda self: not self.ended and not self.lasts)
    @rule(number=st.sampled_from([signal.SIGTERM, signal.SIGINT, signal.SIGHUP]))
    def a_signal_ends_it(self, number: signal.Signals) -> None:
        self.session.process.send_signal(number)
        assert self.session.process.wait(PATIENCE_S) == 128 + number
        self.end(are_known=False)

    @precondition(
        lambda self: not self.ended and not self.lasts and (self.patient or "hangs" not in self.waiting.values())
    )
    @rule()
    def the_client_leaves(self) -> None:
        assert self.session.process.stdin
        self.session.process.stdin.close()
        assert self.session.process.wait(3 * PATIENCE_S) == 0
        self.end(are_known=True)

    @precondition(lambda self: not self.ended and not self.lasts)
    @rule()
    def it_is_killed(self) -> None:
        self.session.process.kill()
        self.session.process.wait(PATIENCE_S)
        self.leaves = r"(\.lro-\w+-\w+\.jsonl\.tmp|lro-\w+-\w+\.jsonl)"  # the next cleanup knows the hidden ones
        self.end(are_known=False)

    def end(self, *, are_known: bool) -> None:
        """Check what is left when the proxy has ended. Requests that it may not have read need no answer."""
        self.ended = True
        self.session.reader.join(PATIENCE_S)
        self.waiting = {id: "error" if one == "hangs" else f"{one} or error" for id, one in self.waiting.items()}
        while not self.session.arrived.empty():
            self.take(self.session.arrived.get())
        assert not are_known or not self.waiting, self.waiting
        assert all(gone(pid) for pid in self.children)
        names = [file.name for file in self.folder.iterdir()] if self.folder.exists() else []
        assert [name for name in names if not re.fullmatch(self.leaves, name)] == []

    # --- what has to hold

    def take(self, message: dict[str, Any]) -> None:
        """Check a message; an answer must be the only one, and what was expected."""
        if "method" in message:
            return
        TALLY.answers += 1
        expected = self.waiting.pop(message["id"], None)
        if expected is None:  # only a cancelled call may still get an answer
            assert "error" in message, message
            return
        wanted = expected.split(" or ")
        if "error" in message:
            assert message["error"]["code"] in CODES, message
            assert "error" in wanted or self.server_ended, (expected, message)
        elif wanted[0].startswith("large"):
            self.check_large(int(wanted[0].split()[1]), message["result"])
        elif wanted[0] == "small":
            assert message["result"] == SMALL
        else:
            assert wanted[0] == "any", (expected, message)

    def check_large(self, count: int, result: dict[str, Any]) -> None:
        text = result["content"][0]["text"]
        value = json.loads(text) if text.startswith("{") else {}
        if value.get("offloaded"):
            header, lines = records(value["file_path"])
            assert header["count"] == len(lines) == count
        else:
            assert self.limited
            assert "Offloading failed" in text

    @invariant()
    def memory_is_bounded(self) -> None:
        if not self.ended and hasattr(self, "session"):
            memory_mb = self.session.memory_mb()
            TALLY.peak_mb = max(TALLY.peak_mb, memory_mb)
            assert memory_mb < MOST_MB

    def teardown(self) -> None:
        TALLY.sequences += 1
        if not hasattr(self, "session"):
            return
        try:
            if not self.ended:
                self.ask("ping", "any")  # its answer comes after everything else has been read
                self.settle()
                self.a_signal_ends_it(signal.SIGTERM)
                assert not self.waiting, self.waiting
        finally:
            self.session.process.kill()
            self.session.process.wait()
            self.session.close()
            shutil.rmtree(self.root, ignore_errors=True)


CHECKS = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
QUICK = settings(max_examples=6, stateful_step_count=12, deadline=None, suppress_health_check=CHECKS)


class Patient(Use):
    patient = True


class Lasting(Use):
    """A client that stays with its proxy, whose memory must not grow however much it has passed on."""

    lasts = True


@pytest.mark.parametrize("machine", [Use, Lasting])
def test_any_use(machine: type[Use]) -> None:
    run_state_machine_as_test(machine, settings=QUICK)


@pytest.mark.long
@pytest.mark.timeout(0)
def test_any_use_for_hours(capsys: pytest.CaptureFixture[str]) -> None:
    begun = told = time.monotonic()
    until = begun + 60 * MINUTES
    phases = [phase for phase in Phase if phase is not Phase.explain]
    long = settings(
        max_examples=10, stateful_step_count=100, deadline=None, suppress_health_check=CHECKS, phases=phases
    )
    while time.monotonic() < until:
        for machine in (Patient, Lasting):
            run_state_machine_as_test(machine, settings=settings(long, derandomize=False, database=None))
        if time.monotonic() > told + 60:
            told = time.monotonic()
            with capsys.disabled():
                print(f"\n{(told - begun) / 60:.0f} min: {TALLY.line()}", end="", flush=True)
    with capsys.disabled():
        print(f"\n{TALLY.line()}; {max(TALLY.peaks[:2]):.0f} MB at first, {max(TALLY.peaks[-2:]):.0f} MB at last")
        print("no answer was lost, none came twice, no process stayed; who gets none has cancelled or ended the proxy")
