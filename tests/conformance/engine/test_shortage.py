"""Shortages of the machine end a run without a verdict, in one line, and blame nobody; a crash is one finding."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lro_conformance import profile as profiles
from lro_conformance.cli.main import main
from lro_conformance.engine import capture
from lro_conformance.engine.run import certify
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.profile import profile_for_command
from lro_conformance.report.causes import troubles
from lro_conformance.report.exit_code import EXIT_NO_VERDICT, exit_code
from lro_conformance.report.terminal import plain_lines
from lro_conformance.wire import shortage
from lro_conformance.wire.shortage import lack_of_space, shortage_of
from tests.servers.variants import command


@pytest.mark.parametrize(
    ("problem", "word"),
    [
        (OSError(errno.ENOSPC, "x", "/full"), "No space left on device (/full)"),
        (OSError(errno.EMFILE, "x"), "ulimit -n"),
        (OSError(errno.EAGAIN, "x"), "ulimit -u"),
        (MemoryError(), "ran out of memory"),
        (RuntimeError("can't start new thread"), "ulimit -u"),
    ],
)
def test_a_shortage_says_what_to_do(problem: BaseException, word: str) -> None:
    assert word in (shortage_of(problem) or "")


def test_other_problems_are_no_shortage() -> None:
    assert shortage_of(OSError(errno.ENOENT, "x")) is None
    assert shortage_of(ValueError()) is None


def test_a_full_folder_is_named_before_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(capture, "lack_of_space", lambda *_: lack_of_space(Path("/"), 1 << 62))
    assert main(["certify", "--plain", "--", "lro", "serve"]) == EXIT_NO_VERDICT
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("lro: the temporary folder / is full (")
    assert said.err.count("\n") == 1
    assert "set TMPDIR" in said.err


def test_a_folder_that_fills_ends_the_run_without_blame(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the second second on there is no space: whatever was seen may be the machine's fault."""
    looks: list[int] = []

    def look(*where: Any) -> str | None:
        looks.append(1)
        return "the temporary folder is full" if where and len(looks) > 6 else None

    monkeypatch.setattr(capture, "lack_of_space", look)
    report = certify(profile_for_command(["lro", "serve"]), seed=1, examples=0)
    assert (report.failure, exit_code(report)) == ("the temporary folder is full", EXIT_NO_VERDICT)
    assert "proved" not in report.levels.values()
    assert not [r.requirement.id for r in report.requirements if r.verdict in (Verdict.FAIL, Verdict.ERROR)]


def test_a_trial_that_meets_a_full_disk_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "x", "/tmp/x")

    monkeypatch.setattr("lro_conformance.trials.decoys.plant", full, raising=False)
    monkeypatch.setattr("pathlib.Path.mkdir", full)
    report = certify(profile_for_command(["lro", "serve"]), seed=1, examples=0)
    assert "No space left on device" in (report.failure or "")
    assert report.counts()["error"] == report.counts()["fail"] == 0
    assert not any("defect of lro-spec" in line for line in plain_lines(report))


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limits")
@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("-n 12", "Too many open files|the limit of open files is 12"),
        ("-n 24", "the limit of open files is 24, and a run needs 256: ulimit -n 1024"),
        ("-v 300000", "the limit of memory is 292 MiB, and a run needs 512 MiB: ulimit -v unlimited"),
        ("-f 20", "the limit of file size is 0 MiB, and a run needs 32 MiB: ulimit -f unlimited"),
    ],
)
def test_a_limit_that_is_too_low_is_said_in_one_line(limit: str, said: str) -> None:
    """A server inherits it; one that cannot write its file would be accused of not offloading."""
    script = f"ulimit {limit}; exec {sys.executable} -P -m lro_conformance certify --plain -q -- lro serve"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == EXIT_NO_VERDICT
    assert re.search(said, done.stdout + done.stderr)
    assert (done.stdout + done.stderr).count("\n") == 1
    assert "defect" not in done.stdout + done.stderr


def test_a_crash_in_an_experiment_is_one_finding(tmp_path: Path) -> None:
    """The server deletes what is named like its files when it starts, and dies of a folder of such a name."""
    path = tmp_path / "lro.yaml"
    wrapper = tmp_path / "server.sh"
    wrapper.write_text(
        "#!/bin/bash\n"
        'for f in "$ATLATL_PROMPT__OFFLOAD__OUTPUT_DIR"/atlatl-*.jsonl; do\n'
        '  if [ -d "$f" ]; then\n'
        '    echo "Error: EISDIR: illegal operation on a directory, unlink" >&2\n'
        "    for n in 1 2 3 4 5 6; do echo \"  property $n: '…'\" >&2; done\n"
        "    exit 1\n  fi\ndone\n"
        'exec "$@"\n'
    )
    os.chmod(wrapper, 0o755)
    words = ", ".join(f'"{w}"' for w in (str(wrapper), *command()))
    path.write_text(f"server: {{command: [{words}]}}\ncleanup: {{restart: true}}\n", encoding="utf-8")
    report = certify(profiles.load(path), seed=1, examples=0, only={"LRO-CLN-01", "LRO-CLN-04", "LRO-CLN-05"})
    found = troubles(report)
    assert len(found) == 1
    assert "exited with code 1" in found[0].text
    assert "Error: EISDIR: illegal operation on a directory, unlink" in found[0].text
    assert len(found[0].ids) > 1
    again = subprocess.run(["bash", "-c", "\n".join(found[0].reproduce)], capture_output=True, timeout=30, check=False)
    assert b"Error: EISDIR" in again.stderr
    shown = list(plain_lines(report, -1))
    assert sum("EISDIR" in line for line in shown) == 1
    assert any(line.startswith("  unobserved   LRO-") for line in shown)


def test_the_reserve_is_less_than_what_a_run_begins_with() -> None:
    assert shortage.RESERVE_BYTES < shortage.MIN_FREE_BYTES
