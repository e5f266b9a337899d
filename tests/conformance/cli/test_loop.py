"""The loop of a developer: a part of the requirements, the last failures, the first failure, again on change."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import lro_conformance.cli.certify as certifying
from lro_conformance.cli import doctor, selection, watching
from lro_conformance.cli.main import main
from lro_conformance.engine.judgement import Judgement
from lro_conformance.engine.plan import EXPLORING_TRIALS, Plan
from lro_conformance.engine.run import certify
from lro_conformance.errors import UsageError
from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import LevelVerdict, Verdict
from lro_conformance.profile import Profile, load, profile_for_command
from lro_conformance.report import baseline
from lro_conformance.report.exit_code import EXIT_FAILED, EXIT_NO_VERDICT, EXIT_OK, exit_code
from lro_conformance.report.formats.baseline import to_baseline
from lro_conformance.report.terminal import View, plain_lines
from lro_spec.catalogue import catalogue
from tests.servers.variants import command, profile_text
from tests.support.report_samples import judged, report

FAULT = "offloads_at_equal_threshold"
PLAIN = profile_for_command(command())


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "least"),
    [(["LRO-THR-07"], 1), (["thr-07"], 1), (["threshold"], 9), (["threshold.equal_to_threshold_stays_inline"], 1)],
)
def test_ids_groups_and_checks_are_selected(words: list[str], least: int) -> None:
    assert len(selection.selected(words, PLAIN) or ()) >= least


@pytest.mark.parametrize(
    ("word", "said"), [("thresold", "did you mean threshold"), ("failed", "nothing failed in the last run")]
)
def test_a_word_that_selects_nothing_is_wrong(word: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        selection.selected([word], PLAIN)


def test_the_last_failures_are_run_again_in_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(certifying.BUDGETS, "quick", 1)  # it matters that something is explored, not how much
    assert main(["certify", "--plain", "--only", "THR-06,THR-07", "--", *command(FAULT)]) == EXIT_FAILED
    capsys.readouterr()
    begun = sum(os.times()[:4])  # of this process and its children, as others may be busy
    words = ["--plain", "--budget", "quick", "--only", "failed"]
    assert main(["certify", *words, "--", *command(FAULT)]) == EXIT_FAILED
    assert sum(os.times()[:4]) - begun < 15
    shown = capsys.readouterr().out
    assert "FAIL LRO-THR-07" in shown
    assert (
        "selected        1 of 159 requirements, judged by the experiments that their checks need; a level needs"
        in shown
    )
    assert "Level 1         failed by LRO-THR-07" in shown
    assert "unproved" not in shown
    assert "not part of this run" not in shown


@pytest.mark.parametrize(("id", "starts"), [("LRO-DESC-03", 1), ("LRO-REC-04", 1), ("LRO-FILE-10", 3)])
def test_a_requirement_of_documents_takes_few_starts(id: str, starts: int) -> None:
    """A whole run has some twenty."""
    found = certify(PLAIN, seed=1, examples=0, only={id})
    assert found.starts <= starts
    assert [r.verdict for r in found.requirements if r.requirement.id == id] == [Verdict.PASS]


def test_no_selection_of_one_requirement_needs_an_explorer_or_all_trials() -> None:
    whole = {t.name for t in Plan.of(PLAIN, only=None, examples=0).trials}
    for r in catalogue():
        planned = {t.name for t in Plan.of(PLAIN, only={r.id}, examples=0).trials}
        assert len(planned) <= 6 < len(whole), r.id
        assert planned.isdisjoint(EXPLORING_TRIALS), r.id


def test_what_only_the_explorer_found_is_tried_by_all_trials_again(tmp_path: Path) -> None:
    (tmp_path / "lro.yaml").write_text(profile_text("schema_closes_itself_to_further_fields"))
    fault = load(tmp_path / "lro.yaml")
    found = certify(fault, seed=1, only={"LRO-DESC-09"}, examples=1)
    failed = [c for r in found.requirements for c in r.checks if c.verdict is Verdict.FAIL]
    assert [c.elsewhere for c in failed] == [True]
    assert not found.all_experiments
    selection.remember(found, fault)
    assert selection.needs_all_trials({"LRO-DESC-09"}, fault)
    assert not selection.needs_all_trials({"LRO-THR-07"}, fault)
    names = {t.name for t in Plan.of(fault, only={"LRO-DESC-09"}, examples=8, all_trials=True).trials}
    assert names == {t.name for t in Plan.of(fault, only=None, examples=8).trials}


def test_a_part_that_all_experiments_judged_says_so() -> None:
    left_out = replace(judged("LRO-A-02", Verdict.NOT_OBSERVED), checks=(), reason="not part of this run")
    part = report(judged("LRO-A-01", Verdict.FAIL), left_out)
    assert "judged by the experiments that their checks need" in "\n".join(plain_lines(part))
    (line,) = (li for li in plain_lines(replace(part, all_experiments=True)) if li.startswith("selected"))
    assert "1 of 2 requirements, judged by all experiments, because the last failure showed only in one that " in line


def test_all_experiments_of_a_part_are_seen_in_its_evidence() -> None:
    few, wide = (
        certify(PLAIN, seed=1, examples=0, only={"LRO-CFG-06"}, all_trials=all_trials) for all_trials in (False, True)
    )
    assert (few.all_experiments, wide.all_experiments) == (False, True)


def test_a_selection_passes_by_what_passed_and_never_proves_a_level(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "--plain", "--only", "FILE-01", "--", *command()]) == EXIT_OK
    assert main(["certify", "--level", "1", "--only", "FILE-01", "--", *command()]) == 2
    assert "proves no level" in capsys.readouterr().err


def test_a_selection_of_which_nothing_passed_has_no_verdict() -> None:
    unseen = judged("LRO-A-01", Verdict.NOT_OBSERVED)
    left_out = type(unseen)(unseen.requirement, Verdict.NOT_OBSERVED, (), "not part of this run")
    assert exit_code(report(unseen, left_out)) == EXIT_NO_VERDICT


def test_fail_fast_ends_at_the_first_failure() -> None:
    found = certify(profile_for_command(command("recall_defaults_to_full")), seed=1, examples=0, fail_fast=True)
    assert found.incomplete == "the run ended once LRO-DET-02 had failed (--fail-fast)"
    assert found.starts <= 2
    assert exit_code(found) == EXIT_FAILED
    assert "proved" not in found.levels.values()
    assert {r.requirement.id for r in found.requirements if r.verdict is Verdict.FAIL} == {"LRO-DET-02"}


@pytest.mark.parametrize(
    ("fault", "id", "starts"),
    [
        # as test_fail_fast_ends_at_the_first_failure has it, of recipes
        pytest.param("recipe_8_counts_by_type", "LRO-REC-08", 2, marks=pytest.mark.long),
        (FAULT, "LRO-THR-07", 28),
    ],
    ids=["a check of the evidence of all trials", "a check of one trial"],
)
def test_fail_fast_ends_before_the_last_experiment(fault: str, id: str, starts: int) -> None:
    found = certify(profile_for_command(command(fault)), seed=1, fail_fast=True)
    assert found.incomplete == f"the run ended once {id} had failed (--fail-fast)"
    assert found.starts <= starts


def test_what_does_not_bind_the_server_needs_no_complete_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of one operation: what is asked of inject is not what the run lacks at its end."""
    monkeypatch.setattr(Judgement, "find_failure", lambda _: "LRO-A-01")
    found = certify(profile_for_command(command("can_only_recall")), seed=1, fail_fast=True)
    assert found.incomplete
    verdicts = {r.requirement.id: r.verdict for r in found.requirements}
    assert verdicts["LRO-INJ-02"] is Verdict.NOT_APPLICABLE
    assert verdicts["LRO-THR-07"] is Verdict.NOT_OBSERVED


def test_fail_fast_does_not_end_for_what_decides_no_level() -> None:
    private = profile_for_command(command("files_are_readable_by_everyone"))
    found = certify(private, seed=1, examples=0, only={"LRO-HARD-01", "LRO-FILE-01"}, fail_fast=True)
    assert {r.requirement.id for r in found.requirements if r.verdict is Verdict.FAIL} == {"LRO-HARD-01"}
    assert found.incomplete == ""


def test_a_change_is_seen_once_it_has_settled(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("1")
    steps = iter([lambda: None, lambda: (tmp_path / "server.py").write_text("22"), lambda: None])

    def sleep(_: float) -> None:
        next(steps, lambda: None)()

    assert next(watching.changes([tmp_path], watching.state([tmp_path]), (), sleep)) == str(tmp_path / "server.py")


def test_folders_that_tools_fill_are_not_watched(tmp_path: Path) -> None:
    for name in ("node_modules", "__pycache__", ".git", "src"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("")
    assert list(watching.state([tmp_path])) == [str(tmp_path / "src" / "x")]


def test_what_a_run_writes_itself_starts_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("server.py", "report.json", "evidence/calls/1"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    assert list(watching.state([Path()], [Path("report.json"), Path("evidence")])) == ["./server.py"]


def test_watch_runs_again_until_it_is_interrupted(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    argv = [sys.executable, "-P", "-m", "lro_conformance", "certify", "--plain", "-q", "--only", "FILE-01"]
    argv += ["--watch", "src", "--", *command()]
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watch:
        assert watch.stderr is not None
        seen = watch.stderr.readline()
        (tmp_path / "src" / "server.py").write_text("changed")
        seen += "".join(watch.stderr.readline() for _ in range(3))
        assert watch.stdout is not None
        lines: list[str] = []
        while sum(line.startswith("selected  ") for line in lines) < 2:
            lines.append(watch.stdout.readline())
        watch.terminate()  # an interrupt is ignored where tests run in the background
        watch.communicate(timeout=30)
    waiting = "lro: watching src; Ctrl-C ends it\n"
    assert re.fullmatch(rf"{waiting}\nlro: src/server\.py changed: running FILE-01, which took \d+ s\n{waiting}", seen)


@pytest.mark.parametrize(
    ("verdicts", "runs"),
    [
        ([Verdict.FAIL, Verdict.PASS, Verdict.PASS], ["whole", "part", "whole"]),
        ([Verdict.NOT_OBSERVED, Verdict.NOT_OBSERVED], ["whole", "whole"]),
    ],
    ids=["the failure is repaired", "nothing failed, something is not observed"],
)
def test_a_claim_is_judged_again_once_nothing_fails(
    verdicts: list[Verdict],
    runs: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given, made = iter(verdicts), list[str]()

    def certified(profile: Profile, view: View, *, only: object = None, **_: object) -> tuple[tuple[Report, ...], None]:
        made.append("whole" if only is None else "part")
        proved: LevelVerdict = "proved" if (verdict := next(given)) is Verdict.PASS and only is None else "unproved"
        return (report(judged("LRO-FILE-01", verdict), claimed=profile.level, levels={1: proved}),), None

    def one_change(*_: object) -> Iterator[str]:
        yield "server.py"

    monkeypatch.setattr(certifying, "_certify", certified)
    monkeypatch.setattr(watching, "changes", one_change)
    code = main(["certify", "-q", "--plain", "--level", "1", "--watch", str(tmp_path), "--", "server"])
    assert made == runs
    assert code == (EXIT_OK if verdicts[-1] is Verdict.PASS else EXIT_FAILED)
    said = capsys.readouterr().err
    assert said.count("; Ctrl-C ends it") == 2
    assert ("\nlro: server.py changed: running what failed last\n" in said) == ("part" in runs)
    assert ("\nlro: what failed last passes: running everything, which took" in said) == ("part" in runs)


def test_a_changed_profile_is_read_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that is not valid, or is gone, is reported, and does not end the watch."""
    profile, tried = Path("lro.yaml"), list[str]()
    profile.write_text("server: {command: [first]}\n")

    def certified(profile: Profile, view: View, **_: object) -> tuple[tuple[Report, ...], None]:
        tried.append(profile.server.command[0])
        return (report(judged("LRO-FILE-01", Verdict.PASS)),), None

    def changed(*watched: object) -> Iterator[str]:
        assert watched[0] == [tmp_path / "src", profile]
        for text in ("server: {command: [second]}\n", "server: {comand: [third]}\n"):
            profile.write_text(text)
            yield "lro.yaml"
        profile.unlink()
        yield "lro.yaml"

    monkeypatch.setattr(certifying, "_certify", certified)
    monkeypatch.setattr(watching, "changes", changed)
    (tmp_path / "src").mkdir()
    assert main(["certify", "-q", "--plain", "--watch", str(tmp_path / "src")]) == EXIT_OK
    assert tried == ["first", "second"]
    said = capsys.readouterr().err
    assert said.count("lro: using lro.yaml in the working directory\n") == 1
    assert said.count(f"lro: watching {tmp_path / 'src'}, lro.yaml; Ctrl-C ends it\n") == 4
    assert "lro.yaml changed; nothing was run:\nlro: lro.yaml:1: server.command: missing; it is required\n" in said
    assert "\nlro: lro.yaml:1: server.comand: unknown key; did you mean command?\n" in said
    assert "\nlro: lro.yaml changed; nothing was run:\nlro: lro.yaml: cannot be read: No such file" in said


def test_a_written_baseline_is_one_that_accepts_what_is_there(tmp_path: Path) -> None:
    found = certify(profile_for_command(command(FAULT)), seed=1, examples=0, only={"LRO-THR-07"})
    path = tmp_path / "accepted.yaml"
    path.write_text(to_baseline(found), encoding="utf-8")
    (entry,) = baseline.load(path)
    assert (entry.check, entry.verdict) == ("threshold.equal_to_threshold_stays_inline", Verdict.FAIL)
    assert exit_code(baseline.apply_baseline(found, (entry,))) != EXIT_FAILED
    path.write_text(to_baseline(report(judged("LRO-A-01", Verdict.PASS))), encoding="utf-8")
    assert baseline.load(path) == ()


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (report(failure="the server exited with 1"), "the run has no verdict"),
        (
            report(judged("LRO-FILE-01", Verdict.FAIL), incomplete="at its end"),
            "the run ended before its last experiment",
        ),
    ],
    ids=["no verdict", "incomplete"],
)
def test_no_baseline_is_written_of_a_run_that_shows_too_little(
    found: Report, reason: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(certifying, "_certify", lambda *_, **__: ((found,), None))
    Path("e.yaml").write_text("accept: []\n")
    code = main(["certify", "--plain", "--write-baseline", "e.yaml", "--json", "r.json", "--", "server"])
    assert code == exit_code(found)
    assert Path("e.yaml").read_text() == "accept: []\n"
    assert Path("r.json").is_file()
    assert f"lro: --write-baseline e.yaml: not written: {reason}\n" in capsys.readouterr().err


def test_a_written_baseline_says_what_is_left_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = report(judged("LRO-FILE-01", Verdict.FAIL), levels={1: "failed", 2: "failed", 3: "failed"})
    monkeypatch.setattr(certifying, "_certify", lambda *_, **__: ((found,), None))
    assert main(["certify", "--plain", "--write-baseline", "e.yaml", "--", "server"]) == EXIT_FAILED
    assert "lro: wrote e.yaml: 1 entry; complete the reason of each\n" in capsys.readouterr().err


def test_doctor_names_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["doctor"])
    shown = capsys.readouterr().out
    for word in ("Python", "temporary folder", "open files", "memory", "libjq"):
        assert word in shown
    assert (code == EXIT_OK) == ("problem" not in shown)


def test_doctor_says_what_to_do(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(doctor, "findings", lambda: iter([doctor.Finding("open files", "12", "ulimit -n 1024")]))
    assert main(["doctor"]) == EXIT_NO_VERDICT
    assert "problem  open files" in capsys.readouterr().out


def test_the_memory_of_failures_is_no_condition(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    selection.remember(report(judged("LRO-A-01", Verdict.FAIL)), PLAIN)
    assert os.listdir(tmp_path) == ["file"]
