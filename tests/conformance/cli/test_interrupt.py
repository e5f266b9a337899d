"""Ctrl-C ends a run, also where what it raises is dropped first."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lro_conformance.engine.interrupt import AGAIN_S, interruptible


@pytest.fixture
def deaf() -> Iterator[list[str]]:
    """Ctrl-C comes while garbage is collected, in a callback, from which nothing can be raised."""
    phases: list[str] = []

    def callback(phase: str, info: dict[str, int]) -> None:
        phases.append(phase)
        if len(phases) == 1:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)

    gc.callbacks.append(callback)
    yield phases
    gc.callbacks.remove(callback)


def _rest(after: Callable[[], object]) -> None:
    with interruptible():
        after()
        time.sleep(20)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_a_callback_dropped_comes_again(deaf: list[str]) -> None:
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        _rest(gc.collect)
    assert deaf
    assert AGAIN_S <= time.monotonic() - begun < 10
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_import_is_finished_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the lock of all imports could stay locked, for which other threads would wait for ever."""
    module = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nfinished = True\n"
    (tmp_path / "interrupted_while_imported.py").write_text(module, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        _rest(lambda: importlib.import_module("interrupted_while_imported"))
    assert time.monotonic() - begun < 10
    assert sys.modules["interrupted_while_imported"].finished


def test_it_is_heard_where_the_whole_run_is_within_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = (
        "import os, signal, time\nfrom lro_conformance.engine.interrupt import interruptible\n"
        "with interruptible():\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(20)\n"
    )
    (tmp_path / "runs_while_imported.py").write_text(module, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        importlib.import_module("runs_while_imported")
    assert time.monotonic() - begun < AGAIN_S


def test_it_comes_once_where_it_is_heard() -> None:
    with pytest.raises(KeyboardInterrupt):
        _rest(lambda: os.kill(os.getpid(), signal.SIGINT))
    time.sleep(AGAIN_S + 0.2)
    assert not [t for t in threading.enumerate() if t.name == "ctrl-c"]


def test_where_ctrl_c_means_something_else_it_still_does() -> None:
    told: list[int] = []
    usual = signal.signal(signal.SIGINT, lambda number, frame: told.append(number))
    try:
        with interruptible():
            os.kill(os.getpid(), signal.SIGINT)
        assert told == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, usual)


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
