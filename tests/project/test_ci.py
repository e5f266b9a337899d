"""action.yml and the pipelines of the documents: of the shape that their readers want, and doing what they say."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
import yaml

from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.baseline import Entry, apply_baseline
from lro_conformance.report.formats.github import main, report_annotations, step_outputs
from lro_conformance.report.formats.json import write_json
from lro_conformance.report.formats.sarif import to_sarif
from tests.support.action import ACTION, Step
from tests.support.paths import ROOT
from tests.support.renderings import UNSAFE
from tests.support.report_samples import hostile, judged, mixed, report
from tests.support.schemastore import problems

PAGE = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def block(word: str) -> str:
    return next(b for b in BLOCKS if word in b)


class TestShapes:
    def test_action(self):
        assert problems("github-actions", ACTION) == []
        assert problems("github-actions", {"name": "x"}) != []

    def test_gitlab(self):
        assert problems("gitlab-ci", yaml.safe_load(block("image:"))) == []
        assert problems("gitlab-ci", {"lro": {"script": 7}}) != []

    @pytest.mark.parametrize("name", ["name: LRO\n", "name: LRO code scanning\n"])
    def test_workflows(self, name: str, tmp_path: Path):
        text = block(name)
        assert problems("github-workflows", yaml.safe_load(text.replace("\non:", '\n"on":'))) == []
        actionlint = shutil.which("actionlint") or shutil.which("actionlint", path=str(Path(sys.executable).parent))
        if actionlint is None:
            pytest.skip("actionlint is not installed")
        # with the action beside it, so that its inputs and outputs are held against action.yml
        (tmp_path / ".github/workflows").mkdir(parents=True)
        (tmp_path / ".git").mkdir()
        shutil.copy(ROOT / "action.yml", tmp_path / "action.yml")
        path = tmp_path / ".github/workflows/lro.yml"
        path.write_text(text.replace("OWNER/lro-spec@v0.1.0", "./"), encoding="utf-8")
        done = subprocess.run([actionlint, str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert (done.stdout, done.returncode) == ("", 0)

    def test_pre_commit(self):
        (hook,) = yaml.safe_load(block("repo: local"))["repos"][0]["hooks"]
        assert set(hook) <= {"id", "name", "entry", "language", "pass_filenames", "always_run", "stages"}
        assert hook["stages"] == ["pre-push"]


def test_every_input_and_output_is_documented_and_no_other():
    tables = re.findall(r"^\| (input|output) \|.*?(?=^$)", PAGE, re.MULTILINE | re.DOTALL)
    assert tables == ["input", "output"]
    inputs, outputs = (re.findall(r"^\| `([\w-]+)` \|", part, re.MULTILINE) for part in PAGE.split("| output | is |"))
    assert inputs == list(ACTION["inputs"])
    assert outputs == list(ACTION["outputs"])


def test_no_input_is_pasted_into_a_script():
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert len(scripts) == 3
    assert [s for s in scripts if "${{" in s] == []


class TestStep:
    def test_a_server_that_does_not_start_leaves_summary_outputs_annotations_and_all_reports(self, tmp_path: Path):
        command = f"""{sys.executable} -c 'import sys; sys.exit("::error::no database")'"""
        step = Step(tmp_path, COMMAND=command, LEVEL="2")
        assert (step.done.returncode, step.outputs["exit-code"], step.outputs["achieved"]) == (0, "3", "0")
        assert step.outputs["level-2"] == "no-verdict"
        assert (tmp_path / "summary").read_text(encoding="utf-8").startswith("## 💥 No verdict")
        shown = [line for line in step.done.stdout.splitlines() if line.lstrip().startswith("::")]
        assert len(shown) == 1
        assert shown[0].startswith("::error file=lro.yaml,title=LRO%3A no verdict::initialize: the server exited")
        promised = set(re.findall(r"\w+\.\w+", ACTION["outputs"]["report-directory"]["description"]))
        assert {p.name for p in (tmp_path / "out").iterdir()} == promised

    def test_a_wrong_call_is_told_apart_and_leaves_no_report_of_an_earlier_run(self, tmp_path: Path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out/report.json").write_text("{}")
        step = Step(tmp_path, PROFILE="none.yaml")
        assert step.outputs == {"exit-code": "2", "report-directory": str(tmp_path / "out")}
        assert "none.yaml" in step.done.stderr
        assert not (tmp_path / "summary").exists()

    @pytest.mark.parametrize("command", ['node "server_bad.js', "   ", "# nothing"])
    def test_a_command_that_is_none_never_falls_back_to_a_profile(self, tmp_path: Path, command: str):
        (tmp_path / "lro.yaml").write_text("server: {command: [lro, serve]}\n")
        step = Step(tmp_path, COMMAND=command)
        assert (step.done.returncode, step.outputs["exit-code"]) == (0, "2" if command != "# nothing" else "3")
        assert "Traceback" not in step.done.stderr
        assert "achieved" not in step.outputs or step.outputs["achieved"] == "0"


def test_the_action_names_another_runner_on_windows(tmp_path: Path):
    install = ACTION["runs"]["steps"][0]
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", install["run"]],
        env={"PATH": "/nowhere", "RUNNER_OS": "Windows", "RUNNER_TEMP": str(tmp_path), "ACTION": str(ROOT)},
        executable=shutil.which("bash"),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stdout.startswith("::error title=lro::servers can be certified on Linux and macOS only")
    assert list(tmp_path.iterdir()) == []


def test_the_jobs_of_a_matrix_are_told_to_name_their_artifacts():
    """upload-artifact refuses a name that another job of the run has used."""
    keep = next(s for s in ACTION["runs"]["steps"] if "upload-artifact" in s.get("uses", ""))
    assert keep["with"]["name"] == "${{ inputs.artifact }}"
    for text in (ACTION["inputs"]["artifact"]["description"], PAGE):
        assert "matrix" in text
        assert "lro-report-${{ matrix.python }}" in PAGE


class TestAnnotations:
    def test_failures_are_errors_and_warnings_warnings(self):
        told = list(report_annotations(mixed(), "lro.yaml"))
        assert told == [
            "::error file=lro.yaml,title=LRO-FILE-06 title of LRO-FILE-06::observed of LRO-FILE-06",
            "::warning file=lro.yaml,title=LRO-HARD-01 title of LRO-HARD-01::observed of LRO-HARD-01",
            (
                "::warning file=lro.yaml,title=LRO-REC-04 title of LRO-REC-04::"
                "erratum of the specification: observed of LRO-REC-04"
            ),
            "::warning file=lro.yaml,title=LRO-GUI-03 title of LRO-GUI-03::observed of LRO-GUI-03",
        ]

    def test_a_server_can_make_none_of_its_own(self):
        told = list(report_annotations(hostile(), "lro.yaml"))
        assert all(line.startswith(("::error file=lro.yaml", "::warning file=lro.yaml")) for line in told)
        assert not any("\n" in line or UNSAFE.search(line) for line in told)

    def test_what_a_baseline_accepts_is_a_notice_and_what_is_stale_an_error(self):
        made = report(judged("LRO-A-01", Verdict.FAIL), judged("LRO-A-02", Verdict.PASS))
        day = date(2027, 1, 1)
        entries = tuple(Entry(f"file.lro_a_0{n}", Verdict.FAIL, day, "issue 1") for n in (1, 2))
        told = list(report_annotations(apply_baseline(made, entries), "lro.yaml"))
        assert [line.split(" ", 1)[0] for line in told] == ["::error", "::notice"]
        assert "title=LRO baseline%3A stale" in told[0]

    def test_a_requirement_with_a_further_failure_that_is_not_accepted_stays_an_error(self):
        failed = judged("LRO-A-01", Verdict.FAIL)
        further = replace(failed.checks[0], name="file.another_check")
        made = report(replace(failed, checks=(*failed.checks, further)))
        entries = (Entry("file.lro_a_01", Verdict.FAIL, date(2027, 1, 1), "issue 1"),)
        told = list(report_annotations(apply_baseline(made, entries), "lro.yaml"))
        assert [line.split(" ", 1)[0] for line in told] == ["::error"]

    @pytest.mark.parametrize(("level", "kind"), [(2, "::error"), (3, "::warning"), (None, "::warning")])
    def test_what_the_claimed_level_does_not_need_is_no_error(self, level: int | None, kind: str):
        made = report(judged("LRO-A-01", Verdict.FAIL, level=level), claimed=2)
        assert [line.split(" ", 1)[0] for line in report_annotations(made, "lro.yaml")] == [kind]

    def test_name_the_file_from_the_root_of_the_workspace(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        (tmp_path / "server").mkdir()
        monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
        monkeypatch.chdir(tmp_path / "server")
        told = [
            *report_annotations(mixed(), "lro.yaml"),
            *report_annotations(mixed(), str(tmp_path / "server/lro.yaml")),
        ]
        assert all(" file=server/lro.yaml," in line for line in told)
        assert next(report_annotations(mixed(), "/elsewhere/lro.yaml")).startswith("::error file=/elsewhere/lro.yaml,")
        assert json.loads(to_sarif(mixed(), "lro.yaml"))["runs"][0]["results"][0]["locations"][0]["physicalLocation"][
            "artifactLocation"
        ] == {"uri": "server/lro.yaml"}

    def test_results_are_lines_for_other_steps(self):
        assert list(step_outputs(mixed())) == ["achieved=0", "level-1=failed", "level-2=failed", "level-3=failed"]

    def test_command_reads_a_report_or_says_why_not(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        write_json(mixed(), tmp_path / "r.json")
        assert main(["annotations", str(tmp_path / "r.json"), "my.yaml"]) == 0
        assert capsys.readouterr().out.startswith("::error file=my.yaml,")
        assert main(["results", str(tmp_path / "none.json")]) == 2
        assert "cannot be read" in capsys.readouterr().err
