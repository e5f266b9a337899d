"""Ctrl-C ends a run in order: nothing is raised in the middle of it, and it is never lost."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lro_conformance.wire.interrupt import interruptible
from tests.servers.variants import command


def _press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@contextmanager
def _interrupted() -> Generator[threading.Event]:
    """A block that Ctrl-C ends, and what it sets meanwhile."""
    aborted = threading.Event()
    with pytest.raises(KeyboardInterrupt), interruptible(aborted.set):
        yield aborted
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not [t for t in threading.enumerate() if t.name == "ctrl-c"]


def test_it_aborts_at_once_and_is_raised_at_the_end() -> None:
    after: list[bool] = []
    with _interrupted() as aborted:
        _press()
        after.append(aborted.wait(20))
    assert after == [True]


def test_it_may_come_again_while_the_first_is_obeyed() -> None:
    with _interrupted() as aborted:
        for _ in range(100):
            _press()
        assert aborted.wait(20)


def test_it_is_heard_where_exceptions_are_dropped() -> None:
    """In a callback of the garbage collection, for example."""

    def callback(phase: str, info: dict[str, int]) -> None:
        _press()

    with _interrupted() as aborted:
        gc.callbacks.append(callback)
        gc.collect()
        gc.callbacks.remove(callback)
        assert aborted.wait(20)


def test_it_takes_precedence_over_what_the_abort_leads_to() -> None:
    with _interrupted() as aborted:
        _press()
        assert aborted.wait(20)
        raise RuntimeError("the run was aborted")


def test_where_ctrl_c_means_something_else_it_still_does() -> None:
    told: list[int] = []
    usual = signal.signal(signal.SIGINT, lambda number, frame: told.append(number))
    try:
        with interruptible(lambda: told.append(0)):
            _press()
        assert told == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, usual)


def test_without_it_nothing_happens() -> None:
    with interruptible(pytest.fail):
        pass


PRESSING = """
import os, pkgutil, signal, sys, threading
import lro_conformance.cli.certify, lro_conformance.wire.workspace
from lro_conformance.__main__ import run

def pressing(*arguments, **options):
    found = usual(*arguments, **options)
    if threading.current_thread() is threading.main_thread():
        os.kill(os.getpid(), signal.SIGINT)
    return found

owner, name = sys.argv.pop(1).split(":")
owner = pkgutil.resolve_name(owner)
usual = getattr(owner, name)
setattr(owner, name, pressing)
signal.signal(signal.SIGINT, signal.default_int_handler)
run()
"""
"""`lro`, interrupted by Ctrl-C each time that the main thread has called the function that the first argument names."""


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    "function",
    [
        # it has just acquired the locks of all futures, for which the threads of the trials wait
        "concurrent.futures._base._AcquireFutures:__enter__",
        # the server runs, but nobody has noted it yet
        "lro_conformance.wire.child:spawn",
        # the temporary folder has not been removed yet
        "lro_conformance.wire.watchdog:kill_marked",
    ],
)
def test_a_run_ends_and_leaves_nothing_at_the_worst_moments(function: str, tmp_path: Path) -> None:
    run = [
        sys.executable,
        "-c",
        PRESSING,
        function,
        "certify",
        "--plain",
        "--only",
        "LRO-THR-06",
        "--",
        *command(),
    ]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert (done.returncode, done.stderr) == (130, "lro: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_before_the_command_has_begun_it_is_one_line_too() -> None:
    program = (
        "import os, signal, sys, lro_conformance.__main__ as m\n"
        "class Late:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'click': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Late())\n"
        "m.run()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (130, "lro: interrupted\n")


def test_after_the_command_has_ended_it_shows_no_traceback() -> None:
    program = (
        "import atexit, os, signal, sys, lro_conformance.__main__ as m\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "sys.argv[1:] = ['--version']\n"
        "m.run()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
    assert done.stdout.startswith("lro-spec ")
