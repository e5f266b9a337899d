"""Sandboxes: a job that misbehaves is a one-line error, the next one works, and no process is left behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lro_spec.sandbox.process import JQ, REGEX, Answer, JobLimits, Sandbox, WorkerError, jq_folder
from tests.support.children import alive, children, descendants, wait_for_end
from tests.support.paths import ROOT

JOB = Path(__file__).with_name("crashing_job.py")
MEMORY = 512 << 20
LIMITS = JobLimits(cpu_s=10, wall_s=20, max_output=1 << 20)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(JOB, memory=MEMORY) as sandbox:
        yield sandbox


def works(sandbox: Sandbox) -> bool:
    return sandbox.run({"do": "echo"}, b"data", limits=LIMITS).output == b"data"


def failure(sandbox: Sandbox, limits: JobLimits = LIMITS, **request: Any) -> WorkerError:
    with pytest.raises(WorkerError) as caught:
        sandbox.run(request, b"", limits=limits)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGBUS])
def test_a_job_that_is_ended_by_a_signal_is_one_line_and_the_next_one_works(sandbox: Sandbox, number: int) -> None:
    assert works(sandbox)
    problem = failure(sandbox, do="signal", number=number)
    assert str(problem) == f"died ({signal.Signals(number).name})"
    assert (problem.status, problem.timed_out, problem.exception) == (-number, False, "")
    assert works(sandbox)


def test_a_job_that_exits_is_one_line_and_the_next_one_works(sandbox: Sandbox) -> None:
    assert str(failure(sandbox, do="exit")) == "died (exit 3)"
    assert works(sandbox)


def test_an_exception_of_a_job_is_known_and_the_next_one_works(sandbox: Sandbox) -> None:
    problem = failure(sandbox, do="defect")
    assert (problem.status, problem.exception, problem.message) == (1, "ZeroDivisionError", "1 / 0")
    assert "crashing_job.py" in problem.traceback
    assert works(sandbox)


def test_a_job_that_cannot_be_prepared_is_an_error() -> None:
    with Sandbox(JOB, {"fails": True}, memory=MEMORY) as sandbox:
        assert failure(sandbox, do="echo").message == "there is no such engine"


@pytest.mark.parametrize(
    ("wish", "limits"),
    [("spin", JobLimits(0.3, 20, 0)), ("spin", JobLimits(20, 0.3, 0)), ("sleep", JobLimits(20, 0.3, 0))],
    ids=["processor time", "time, busy", "time, idle"],
)
def test_a_job_out_of_time_is_ended_and_the_next_one_works(sandbox: Sandbox, wish: str, limits: JobLimits) -> None:
    assert works(sandbox)
    begun = time.monotonic()
    problem = failure(sandbox, limits, do=wish)
    assert (str(problem), problem.timed_out) == ("timed out", True)
    assert time.monotonic() - begun < 10
    assert works(sandbox)


def test_the_time_of_one_job_does_not_count_for_the_next(sandbox: Sandbox) -> None:
    limits = JobLimits(cpu_s=5, wall_s=1.5, max_output=1000)
    for _ in range(4):
        sandbox.run({"do": "echo"}, b"", limits=limits)
        time.sleep(0.5)


def test_a_worker_that_stands_still_is_killed(sandbox: Sandbox) -> None:
    pid = sandbox.run({"do": "look"}, limits=LIMITS).result["pid"]
    os.kill(pid, signal.SIGSTOP)
    problem = failure(sandbox, JobLimits(1, 0.3, 0), do="echo")
    assert (str(problem), problem.status) == ("timed out", -signal.SIGKILL)
    assert works(sandbox)


def test_memory_is_limited(sandbox: Sandbox) -> None:
    assert failure(sandbox, do="allocate").exception == "MemoryError"
    assert works(sandbox)


def test_output_is_limited(sandbox: Sandbox) -> None:
    limits = JobLimits(10, 20, 1000)
    assert len(sandbox.run({"do": "flood", "bytes": 1000}, limits=limits).output) == 1000
    assert not failure(sandbox, limits, do="flood", bytes=1001).timed_out
    assert works(sandbox)


def test_an_answer_out_of_form_ends_the_worker(sandbox: Sandbox) -> None:
    assert str(failure(sandbox, do="garbage")) == "died (SIGKILL)"
    assert works(sandbox)


def test_what_a_job_prints_is_not_an_answer(sandbox: Sandbox) -> None:
    assert sandbox.run({"do": "print"}, b"data", limits=LIMITS).output == b"data"


def test_a_worker_that_died_between_two_jobs_is_replaced(sandbox: Sandbox) -> None:
    pid = sandbox.run({"do": "look"}, limits=LIMITS).result["pid"]
    os.kill(pid, signal.SIGKILL)
    assert wait_for_end([pid]) == []
    assert works(sandbox)


def test_the_same_data_is_known(sandbox: Sandbox) -> None:
    data = b"x" * 100_000
    for _ in range(2):
        assert sandbox.run({"do": "echo"}, data, limits=LIMITS).output == data
    failure(sandbox, do="exit")
    assert sandbox.run({"do": "echo"}, data, limits=LIMITS).output == data
    assert sandbox.run({"do": "echo"}, limits=LIMITS).output == b""


def test_data_larger_than_a_pipe_goes_both_ways(sandbox: Sandbox) -> None:
    data = os.urandom(8 << 20)
    assert sandbox.run({"do": "echo"}, data, limits=JobLimits(10, 60, len(data))).output == data


# --- privileges


def test_a_job_knows_nothing_of_its_surroundings(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "s3cret")
    result = sandbox.run({"do": "look"}, limits=LIMITS).result
    assert (result["env"], result["cwd"]) == ({}, "/")


def test_a_job_cannot_write_files(sandbox: Sandbox, tmp_path: Path) -> None:
    assert failure(sandbox, do="write", path=str(tmp_path / "file")).exception == "OSError"
    assert (tmp_path / "file").read_text() == ""


def test_a_sealed_job_reads_the_files_that_it_was_given_and_opens_no_other(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("contents")
    with path.open("rb") as file, Sandbox(JOB, memory=MEMORY, files=[file.fileno()], sealed=True) as sandbox:
        assert sandbox.run({"do": "echo"}, limits=LIMITS).result == {"files": ["contents"]}
        assert failure(sandbox, do="open", path=str(path)).exception == "OSError"


# --- the end


def test_closing_ends_the_worker_and_what_it_has_started(sandbox: Sandbox) -> None:
    before = children()
    pid = sandbox.run({"do": "grandchild"}, limits=LIMITS).result["pid"]
    assert len(children()) == len(before) + 1
    sandbox.close()
    assert children() == before
    assert wait_for_end([pid]) == []


def test_a_sandbox_that_is_forgotten_leaves_no_process() -> None:
    before = children()
    sandbox = Sandbox(JOB, memory=MEMORY)
    assert works(sandbox)
    del sandbox
    gc.collect()
    assert children() == before


def test_an_aborted_job_ends_at_once_and_no_other_starts(sandbox: Sandbox) -> None:
    timer = threading.Timer(0.3, sandbox.abort)
    timer.start()
    begun = time.monotonic()
    assert str(failure(sandbox, do="sleep")) == "died (SIGKILL)"
    assert time.monotonic() - begun < 10
    assert str(failure(sandbox, do="echo")) == "died (SIGKILL)"
    timer.join()


def test_a_worker_ends_with_the_thread_that_started_it_and_another_thread_gets_its_own(sandbox: Sandbox) -> None:
    pids: list[int] = []
    thread = threading.Thread(target=lambda: pids.append(sandbox.run({"do": "look"}, limits=LIMITS).result["pid"]))
    thread.start()
    thread.join()
    assert wait_for_end(pids) == []
    assert works(sandbox)


PARENT = """
import sys
sys.path[:] = {path!r}
from pathlib import Path
from lro_spec.sandbox.process import JQ, JobLimits, Sandbox, jq_folder
with {sandbox} as sandbox:
    {first}
    print("ready", flush=True)
    sandbox.run({request!r}, b"", limits=JobLimits(60, 60, 1000))
"""
CALL = {
    "program": "def f: f; f",
    "slurp": False,
    "null_input": True,
    "raw": False,
    "join": False,
    "args": {},
    "argjson": {},
    "wrapped": None,
}
CALLS = {"calls": [CALL], "skip": 0, "take": None, "timeout_s": 60, "max_output": 1000}
PARENTS = {
    "idle": (f"Sandbox(Path({str(JOB)!r}), memory={MEMORY})", {"do": "sleep"}),
    "busy": (f"Sandbox(Path({str(JOB)!r}), memory={MEMORY})", {"do": "spin"}),
    "libjq": (f"Sandbox(JQ, memory={MEMORY}, path=[jq_folder()], sealed=True)", CALLS),
    "binary": (f"Sandbox(JQ, {{'binary': '/usr/bin/jq'}}, memory={MEMORY})", CALLS),
}


@pytest.fixture(params=PARENTS)
def parent(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose sandbox runs an endless job."""
    if request.param == "binary" and not Path("/usr/bin/jq").exists():
        pytest.skip("no jq binary here")
    sandbox, endless = PARENTS[request.param]
    code = PARENT.format(path=[str(ROOT), *sys.path], sandbox=sandbox, first="", request=endless)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        until = time.monotonic() + 20
        while len(descendants(process.pid)) < 1 + (request.param == "binary") and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.3)
        yield process
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_a_killed_parent_leaves_no_child(parent: subprocess.Popen[bytes]) -> None:
    pids = descendants(parent.pid)
    assert pids
    assert all(map(alive, pids))
    parent.kill()
    assert wait_for_end(pids) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_parent_that_is_interrupted_leaves_no_child(parent: subprocess.Popen[bytes], number: int) -> None:
    pids = descendants(parent.pid)
    assert pids
    parent.send_signal(number)
    assert parent.stderr is not None
    errors = parent.stderr.read()
    assert parent.wait(20) == -number
    assert (b"KeyboardInterrupt" in errors) == (number == signal.SIGINT)
    assert wait_for_end(pids) == []


def test_an_interrupted_job_is_not_answered_by_the_next_one(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    assert works(sandbox)

    def interrupt(number: int, _: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            sandbox.run({"do": "sleep"}, limits=LIMITS)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    assert works(sandbox)


def test_limits_hold_whatever_signals_the_parent_ignores_or_blocks(sandbox: Sandbox) -> None:
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF])
    try:
        assert failure(sandbox, JobLimits(20, 0.3, 0), do="sleep").status == -signal.SIGALRM
        assert failure(sandbox, JobLimits(0.3, 20, 0), do="spin").status == -signal.SIGPROF
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


# --- the jobs


@pytest.fixture
def searched(tmp_path: Path) -> Callable[..., Answer]:
    path = tmp_path / "file"
    path.write_text("one\ntwo\nThree\ntwo\n")

    def search(pattern: str, *, case_sensitive: bool = True, limit: int = 10, max_output: int = 100) -> Answer:
        with path.open("rb") as file, Sandbox(REGEX, memory=MEMORY, files=[file.fileno()], sealed=True) as sandbox:
            options = {"case_sensitive": case_sensitive, "limit": limit, "max_output": max_output}
            request = {"pattern": pattern, **options}
            return sandbox.run(request, limits=LIMITS)

    return search


def test_a_regular_expression_gives_the_numbers_of_its_lines(searched: Callable[..., Answer]) -> None:
    assert searched("^t").output == b"2\n4\n"
    assert searched("^t", case_sensitive=False).output == b"2\n3\n4\n"
    assert searched("^t", case_sensitive=False, limit=2).output == b"2\n3\n"
    assert searched("x").output == b""
    assert (searched("t", max_output=4).result["too_large"], searched("t", max_output=3).result["too_large"]) == (
        False,
        True,
    )
    assert str(searched("(").result["problem"]).startswith("the pattern is not a valid regular expression: missing )")


def test_workers_load_only_what_their_job_needs(tmp_path: Path) -> None:
    """The start of a process is most of what a call of a tool costs."""
    probe = tmp_path / "job.py"
    job = "import sys\nfrom importlib.machinery import SourceFileLoader\nfrom types import ModuleType\n"
    job += "def prepare(context):\n    module = ModuleType('x')\n"
    job += "    SourceFileLoader('x', context.options['job']).exec_module(module)\n    module.prepare(context)\n"
    job += "    return lambda request, data: ({'modules': sorted(sys.modules)}, b'')\n"
    probe.write_text(job)
    folder = jq_folder()
    assert folder is not None
    for path, engine in ((REGEX, ()), (JQ, ("jq",))):
        with Sandbox(probe, {"job": str(path)}, memory=MEMORY, path=[folder]) as sandbox:
            modules = sandbox.run({}, limits=JobLimits(10, 20, 1 << 20)).result["modules"]
        heavy = {"lro_spec", "subprocess", "selectors", "jsonschema", "jq", "site"} & set(modules)
        assert heavy == set(engine)
