"""Certifying what cannot be certified: one clear finding, in bounded time, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.lab import launcher
from lro_conformance.report.exit_code import exit_code
from lro_spec.catalogue import EXTENSIONS
from tests.servers.variants import profile_text
from tests.support import in_process
from tests.support.paths import SERVERS
from tests.support.wire_helpers import eventually, marked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

RUN = SERVERS / "broken" / "run.py"
TRACE = "LRO_TEST_TRACE"
"""An environment variable that everything started here inherits, so that it can be found."""
FEW = ("LRO-THR-06",)
"""A requirement whose trials start nine servers, for what shows whenever one ends or answers."""
SOME = ("LRO-THR-06", "LRO-FILE-01", "LRO-CLN-01")
"""Requirements whose trials start a dozen servers, and let time pass; a run for them alone takes a second or two."""
NOTIFYING = (*FEW, "LRO-ERR-04")
"""Requirements of which one asks for a notification, by servers that cannot write."""
QUICK = "  timeout_s: 1\n  start_timeout_s: 6\n"
PATIENT = "  timeout_s: 60\n  start_timeout_s: 60\n"


@dataclass
class Place:
    """A private temporary folder and a name in the environment: where and how leftovers show."""

    folder: Path
    trace: str

    @property
    def temp(self) -> Path:
        return self.folder / "tmp"

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, TRACE: self.trace, "TMPDIR": str(self.temp)}

    def processes(self) -> list[str]:
        """The command lines of what was started here and lives."""
        return marked(TRACE, self.trace)

    def profile(self, name: str, *arguments: str, limits: str = QUICK) -> Path:
        """The profile of a bad server."""
        words = ", ".join(json.dumps(w) for w in (sys.executable, "-I", "-S", str(RUN), name, *arguments))
        path = self.folder / "bad.yaml"
        path.write_text(profile_text(sections=f"server:\n  command: [{words}]\n{limits}"))
        return path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Whatever a test does here, in the end no process and no temporary file is left."""
    made = Place(tmp_path, f"{os.getpid()}-{time.monotonic_ns()}")
    made.temp.mkdir()
    yield made
    assert made.processes() == []
    assert list(made.temp.iterdir()) == []


@dataclass
class Said:
    """What the command line said."""

    code: int
    out: str
    err: str
    report: dict[str, Any]
    seconds: float

    @property
    def finding(self) -> str:
        """The one finding that says why there is no verdict, with its further lines."""
        rows = self.out.splitlines()
        (at,) = [n for n, row in enumerate(rows) if row.startswith("no verdict")]
        return "\n".join([rows[at], *takewhile(lambda row: row.startswith("      "), rows[at + 1 :])])


def lro(place: Place, *options: str) -> Said:
    """`lro certify`, with the private temporary folder and the name in the environment."""
    target = place.folder / "report.json"
    budget = [] if "--only" in options else ["--budget", "quick"]  # a selection explores nothing unless told to
    begun = time.monotonic()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(TRACE, place.trace)
        patch.setenv("TMPDIR", str(place.temp))
        patch.setattr(tempfile, "tempdir", None)
        done = in_process.lro(place.folder, ["certify", *budget, "--json", str(target), *options])
    report: dict[str, Any] = json.loads(target.read_bytes()) if target.exists() else {}
    assert "Traceback" not in done.stdout + done.stderr
    return Said(done.returncode, done.stdout, done.stderr, report, time.monotonic() - begun)


def run_some(
    place: Place, monkeypatch: pytest.MonkeyPatch, path: Path, examples: int = 0, only: Sequence[str] = SOME
) -> Report:
    """The engine, for a few requirements."""
    monkeypatch.setenv(TRACE, place.trace)
    monkeypatch.setattr(tempfile, "tempdir", str(place.temp))
    return certify(profiles.load(path), seed=1, jobs=2, only=only, examples=examples)


def verdicts(report: Report, only: Sequence[str] = SOME) -> dict[str, str]:
    return {r.requirement.id: r.verdict.label for r in report.requirements if r.requirement.id in only}


# No verdict: the server could not be observed

ENDS = [
    (("ExitsAtOnce",), ["initialize", "exited with code 3", "no database at /var/lib/memories"], 0),
    (("HangsAtInitialize",), ["initialize", "no response within 6 s", "waiting for a lock"], 6),
    (("PrintsGarbage",), ["initialize", "no response within 6 s", "Welcome to my server!"], 6),
    (("RefusesToShakeHands",), ["initialize was refused", "no licence"], 0),
    (("RefusesTheSetting", "THRESHOLD_TOKENS"), ["exited with code 78", "THRESHOLD_TOKENS=1 is not supported"], 0),
    (("DiesAtTheList",), ["tools/list", "exited with code 101", "list_tools: index out of range"], 0),
    (("DiesAtCall", "1"), ["recall_memories", "ended by SIGSEGV", "fatal: the index is corrupt"], 0),
    (("Silent",), ["no response within"], 1),
    (("HangsAtCalls",), ["recall_memories", "no response within 1 s", "searching"], 2),
    (("RefusesCalls",), ["recall_memories", "quota exceeded"], 0),
    (("FailsCalls",), ["recall_memories", "the index is being rebuilt"], 0),
]


@pytest.mark.parametrize(("server", "words", "waits_s"), ENDS, ids=[" ".join(s) for s, _, _ in ENDS])
def test_a_server_that_cannot_be_observed_makes_one_finding(
    place: Place, server: tuple[str, ...], words: list[str], waits_s: float
) -> None:
    said = lro(place, "--profile", str(place.profile(*server)))
    assert said.code == 3
    for word in words:
        assert word in said.finding
    assert said.err == ""
    assert all(line in said.finding for line in said.report["failure"].splitlines())
    assert said.report["counts"]["pass"] == said.report["counts"]["fail"] == 0
    assert said.report["level"]["achieved"] == 0
    assert said.report["duration_s"] < waits_s + 8  # stopping a server takes three seconds when it hangs


@pytest.mark.parametrize("server", ["Silent", "HangsAtCalls", "RefusesCalls", "FailsCalls"])
def test_what_answers_nothing_or_refuses_everything_earns_not_a_single_pass(
    place: Place, monkeypatch: pytest.MonkeyPatch, server: str
) -> None:
    monkeypatch.setenv(TRACE, place.trace)
    monkeypatch.setattr(tempfile, "tempdir", str(place.temp))
    report = certify(profiles.load(place.profile(server)), seed=1, jobs=2)
    # an extension does not bind a server that says nothing of it, which is known before anything is observed
    checks = [c for r in report.requirements if r.requirement.group not in EXTENSIONS for c in r.checks]
    assert checks
    assert {c.verdict for c in checks} == {Verdict.NOT_OBSERVED}
    verdicts = {r.verdict for r in report.requirements} - {Verdict.NOT_APPLICABLE}
    assert verdicts == {Verdict.NOT_OBSERVED, Verdict.NOT_JUDGED}
    assert report.achieved == 0
    assert set(report.levels.values()) == {"unproved"}
    assert report.failure is not None
    assert exit_code(report) == 3


def test_words_for_nothing_found_do_not_show_that_nothing_is_offloaded(place: Place) -> None:
    said = lro(place, "--profile", str(place.profile("FindsNothing")))
    assert said.code == 3
    assert "no call returned a result that could have been offloaded" in said.finding
    assert said.report["counts"]["fail"] == said.report["counts"]["warn"] == 0
    assert said.report["level"]["achieved"] == 0


def test_a_command_that_does_not_exist(place: Place) -> None:
    said = lro(place, "--", "no-such-server-anywhere", "--flag")
    assert said.code == 3
    assert "cannot start no-such-server-anywhere: it is not on the PATH" in said.finding
    assert said.seconds < 20


def test_a_file_that_is_not_executable(place: Place) -> None:
    script = place.folder / "server.py"
    script.write_text("print()\n")
    said = lro(place, "--", str(script))
    assert said.code == 3
    assert f"cannot start {script}: it is not executable" in said.finding


def test_a_result_over_the_cap_is_read_past(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a smaller cap than the real one: what is read past costs processor time."""
    assert launcher.MAX_LINE_BYTES == 67_108_864
    monkeypatch.setattr(launcher, "MAX_LINE_BYTES", 1 << 20)
    report = run_some(place, monkeypatch, place.profile("LongLines", "1300000", limits=PATIENT), only=FEW)
    assert exit_code(report) == 3
    assert report.failure is not None
    assert "recall_memories" in report.failure
    assert "its response is over 1,048,576 bytes" in report.failure


@pytest.mark.long
def test_a_result_over_the_real_cap_is_read_past(place: Place) -> None:
    said = lro(place, "--profile", str(place.profile("LongLines", "70000000", limits=PATIENT)))
    assert said.code == 3
    assert "recall_memories" in said.finding
    assert "its response is over 67,108,864 bytes" in said.finding
    assert said.report["duration_s"] < 60


def test_an_endless_run_of_calls_that_hang_is_given_up(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Healthy while it is surveyed, then every process hangs as soon as it offloads: dozens of calls in vain."""
    path = place.profile("HangsOnceOffloading", str(place.folder / "mark"))
    begun = time.monotonic()
    report = run_some(place, monkeypatch, path, examples=2)
    assert time.monotonic() - begun < 40
    assert report.implemented
    assert report.failure is None
    assert "not-observed" in verdicts(report).values()
    assert "fail" not in verdicts(report).values()
    assert any("no response within 1 s" in note for note in report.notes)


# Trouble on the way, and a verdict all the same


def test_a_server_that_dies_in_the_middle_is_judged_by_what_was_seen(place: Place) -> None:
    path = place.profile("DiesAtCall", "30", limits=PATIENT)
    said = lro(place, "--only", ",".join(SOME), "--profile", str(path))
    assert said.code in (0, 1)
    assert said.report["counts"]["error"] == 0
    (note,) = [n for n in said.report["notes"] if "no response" in n]
    assert "ended by SIGSEGV" in note
    assert "the index is corrupt" in note
    assert note in said.out


@pytest.mark.parametrize(
    ("server", "note"),
    [
        (("IgnoresTheEnd",), "had to be killed"),
        (("LeavesAChild", "group"), "leaves a process behind"),
        pytest.param(("LeavesAChild", "session"), "leaves a process behind", marks=pytest.mark.long),
        (("FloodsStderr",), None),
        (("FloodsNotifications",), None),
    ],
    ids=str,
)
def test_bad_manners_decide_no_requirement_of_offloading(
    place: Place, monkeypatch: pytest.MonkeyPatch, server: tuple[str, ...], note: str | None
) -> None:
    begun = time.monotonic()
    only = NOTIFYING if server == ("FloodsNotifications",) else FEW
    report = run_some(place, monkeypatch, place.profile(*server, limits=PATIENT), only=only)
    if server == ("IgnoresTheEnd",):  # only a signal stops it, which costs the whole patience once
        assert report.starts > 8
        assert time.monotonic() - begun < 3 * report.starts
    assert report.failure is None
    assert verdicts(report, only) == dict.fromkeys(only, "pass")
    assert not any("no response" in note for note in report.notes)
    manners = [n for n in report.notes if "had to be killed" in n or "leaves a process" in n]
    assert len(manners) == (note is not None)
    assert all(note is not None and note in said for said in manners)


@pytest.mark.parametrize(
    "command",
    [["certify", "-q", "--only", "LRO-PROT-02", "--profile"], ["init", "--output", "new.yaml", "--"]],
    ids=["certify", "init"],
)
def test_a_process_without_any_tie_to_its_server_goes_with_the_command(place: Place, command: list[str]) -> None:
    stranger = f"stranger-{place.trace}"
    server = [sys.executable, "-I", "-S", str(RUN), "LeavesAStranger", stranger]
    target = [str(place.profile("LeavesAStranger", stranger))] if command[0] == "certify" else server
    only = "from lro_conformance.cli.main import main; import sys; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", only, *command, *target],
        cwd=place.folder,
        env=place.environment,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr.decode()
    assert [words for words in commands() if stranger in words] == []


def commands() -> Iterator[str]:
    """The command line of every process."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                yield (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")


def test_results_that_are_not_utf_8_are_the_servers_fault_and_end_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TRACE, place.trace)
    monkeypatch.setattr(tempfile, "tempdir", str(place.temp))
    path = place.profile("InvalidUtf8", limits=PATIENT)
    report = certify(profiles.load(path), seed=1, jobs=2, only=("LRO-PROT-02", "LRO-THR-06"), examples=0)
    (result,) = [r for r in report.requirements if r.requirement.id == "LRO-PROT-02"]
    assert report.failure is None
    assert result.verdict is Verdict.FAIL
    assert "UTF-8" in result.checks[0].observed


def test_a_setting_that_a_server_refuses_leaves_only_its_own_requirements_open(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = run_some(place, monkeypatch, place.profile("RefusesTheSetting", "TTL_SECONDS"))
    seen = verdicts(report)
    assert report.failure is None
    assert seen.pop("LRO-CLN-01") == "not-observed"
    assert set(seen.values()) == {"pass"}
    (reason,) = [r.reason for r in report.requirements if r.requirement.id == "LRO-CLN-01"]
    assert "TTL_SECONDS=7200 is not supported here" in reason


# The profile and the user


def test_a_wrong_key_in_the_profile_names_the_line_and_the_nearest_right_key(place: Place) -> None:
    path = place.folder / "lro.yaml"
    path.write_text("level: 3\nserver:\n  comand: [my-server]\n")
    said = lro(place)
    assert said.code == 2
    assert said.out == ""
    assert "lro.yaml:3" in said.err
    assert "comand" in said.err
    assert "did you mean command" in said.err
    assert said.report == {}


@pytest.mark.parametrize(
    ("server", "moment"),
    [
        (("HangsAtInitialize",), "waiting for a lock"),
        (("HangsAtCalls",), "survey"),
        (("IgnoresTheEnd",), "a TTL has to pass"),
        (("Slow", "0.3"), "trials"),
        (("Slow", "0.3"), "seeding"),
    ],
    ids=" ".join,
)
def test_ctrl_c_ends_the_run_at_once(place: Place, server: tuple[str, ...], moment: str) -> None:
    words = [sys.executable, "-c", "import time; time.sleep(60)", str(RUN), "{seed_file}"]
    seed = f"seed: {{command: {json.dumps(words)}}}\n" if moment == "seeding" else ""
    path = place.profile(*server, limits=PATIENT + seed)
    argv = [sys.executable, "-m", "lro_conformance", "certify", "-v", "--plain", "--profile", str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, env=place.environment, stdout=pipe, stderr=pipe, text=True, cwd=place.folder) as suite:
        assert suite.stderr is not None
        assert eventually(lambda: any(str(RUN) in p for p in place.processes()), 30)
        if moment == "trials":
            assert "trial survey" in suite.stderr.readline()
        time.sleep(0.5)
        suite.send_signal(signal.SIGINT)
        begun = time.monotonic()
        _, err = suite.communicate(timeout=30)
        seconds = time.monotonic() - begun
    assert suite.returncode == 130
    assert err.splitlines()[-1] == "lro: interrupted"
    assert "Traceback" not in err
    assert seconds < 10  # the limit of a request is 60
