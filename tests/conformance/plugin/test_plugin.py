"""The checks under plain pytest: which run, what their verdicts become, and what the session makes of them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from lro_conformance.engine.judgement import judge_again
from lro_conformance.evidence.reader import read
from lro_conformance.judging.check import checks
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.plugin.items import CheckFailureRepr
from lro_spec.catalogue import catalogue
from tests.servers.variants import RUN, profile_text
from tests.support.paths import ROOT
from tests.support.report_samples import judged

pytest_plugins = ["pytester"]

ONE = "recall_is_offloaded"
EVERY = [c for c in checks() if c.requirement in {r.id for r in catalogue()}]
"""The checks that the default edition has."""
"""The name of a check that needs the first look only, so that a run for it takes half a second."""


def test_a_failure_of_a_cause_that_another_shows_is_short_and_names_it():
    (failed,) = judged("LRO-FILE-06", Verdict.FAIL).checks
    whole, short = (str(CheckFailureRepr.for_result(failed, "lro-6400", cause)) for cause in (None, "LRO-FILE-01"))
    assert failed.evidence in whole
    assert failed.evidence not in short
    assert short.splitlines()[-1] == "  same cause   LRO-FILE-01, which shows the evidence"
    assert "expected of LRO-FILE-06" in short


class Suite:
    """Runs pytest in a folder of its own, with no plugin but this one."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.folder = pytester.path

    def profile(self, name: str = "", sections: str = "") -> None:
        (self.folder / "lro.yaml").write_text(profile_text(name, sections), encoding="utf-8")

    def run(self, *arguments: str, pyargs: bool = True) -> pytest.RunResult:
        """In this process, as an import for each takes longer than most runs; one with a conftest.py, which changes
        the suite itself, in a process of its own."""
        ours = ("--pyargs", "lro_conformance") if pyargs else ()
        if (self.folder / "conftest.py").exists():
            return self.run_apart(*ours, *arguments)
        return self.pytester.runpytest_inprocess("-p", "lro_conformance.plugin", *ours, *arguments)

    def run_apart(self, *arguments: str) -> pytest.RunResult:
        return self.pytester.runpytest_subprocess("-p", "lro_conformance.plugin", *arguments, timeout=100)


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Suite:
    root = ROOT
    monkeypatch.setenv("PYTHONPATH", ":".join(str(root / p) for p in (".", "conformance", "reference_impl")))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # installed, it would be there twice
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return Suite(pytester)


def said(result: pytest.RunResult) -> str:
    return result.stdout.str() + result.stderr.str()


def test_import_brings_nothing_of_the_suite_along():
    code = (
        "import sys, pytest; before = set(sys.modules); import lro_conformance.plugin;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["lro_conformance", "lro_conformance.plugin", "lro_conformance.plugin.current"]


class TestWhichServer:
    def test_without_any_the_checks_are_skipped_and_the_summary_says_so(self, suite: Suite):
        result = suite.run("-rs")
        result.assert_outcomes(skipped=len(EVERY))
        assert result.ret == 0
        result.stdout.fnmatch_lines(["nothing was certified: no server to certify: pass --lro-command or *"])
        result.stdout.fnmatch_lines(["SKIPPED*no server to certify*"])

    def test_a_level_without_any_is_refused(self, suite: Suite):
        result = suite.run("--lro-level", "2")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert "--lro-level 2: no server to certify" in said(result)

    def test_command_is_one_argument(self, suite: Suite):
        result = suite.run("--lro-command", f"{sys.executable} -I -S '{RUN}'", "-k", ONE)
        result.assert_outcomes(passed=1, deselected=len(EVERY) - 1)

    def test_profile_of_the_rootdir_is_used(self, suite: Suite):
        suite.profile()
        suite.run("-k", ONE).assert_outcomes(passed=1, deselected=len(EVERY) - 1)

    @pytest.mark.parametrize("options", [(), ("--lro-profile", "lro.yaml")])
    def test_wrong_profile_ends_the_run_with_its_line_and_key(self, suite: Suite, options: tuple[str, ...]):
        (suite.folder / "lro.yaml").write_text("server:\n  comand: [x]\n")
        result = suite.run(*options)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert "lro.yaml:2: server.comand: unknown key; did you mean command?" in said(result)

    def test_server_that_does_not_start_fails_the_session_with_one_finding(self, suite: Suite):
        result = suite.run("--lro-command", "no-such-program-anywhere")
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.assert_outcomes(skipped=len(EVERY))
        result.stdout.fnmatch_lines(
            ["no verdict *cannot start no-such-program-anywhere*", "result *there is no verdict*"]
        )


class TestWhichChecks:
    def test_selection_runs_only_the_trials_it_needs(self, suite: Suite):
        suite.profile()
        result = suite.run("-k", ONE, "--lro-json", "r.json", "--lro-seed", "7", "--lro-evidence", "seen")
        assert result.ret == 0
        again = judge_again(read(suite.folder / "seen"))
        assert [c.verdict.label for r in again.requirements for c in r.checks if c.name == f"threshold.{ONE}"] == [
            "pass"
        ]
        report = json.loads((suite.folder / "r.json").read_bytes())
        judged = {c["name"] for r in report["requirements"] for c in r["checks"]}
        assert (judged, report["server_starts"], report["seed"]) == ({f"threshold.{ONE}"}, 1, 7)
        result.stdout.fnmatch_lines([f"selected * 1 of {len(EVERY)} checks*"])

    def test_a_folder_that_cannot_be_used_for_evidence_ends_the_run_in_one_line(self, suite: Suite):
        suite.profile()
        (suite.folder / "seen").write_text("no folder", encoding="utf-8")
        result = suite.run("-k", ONE, "--lro-evidence", "seen")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert "--lro-evidence: " in said(result)
        assert "Traceback" not in said(result)

    @pytest.mark.parametrize("chosen", [("-k", "LRO-SCOPE-01"), ("-m", "lro(id='LRO-SCOPE-01')")])
    def test_checks_are_chosen_by_requirement(self, suite: Suite, chosen: tuple[str, str]):
        suite.profile()
        wanted = sum(c.requirement == "LRO-SCOPE-01" for c in EVERY)
        suite.run(*chosen).assert_outcomes(passed=wanted, deselected=len(EVERY) - wanted)

    def test_patterns_and_modes_of_the_users_configuration_do_not_matter(self, suite: Suite):
        suite.profile()
        suite.pytester.makeini(
            "[pytest]\npython_files = *.py\npython_functions = check_*\n"
            "addopts = --import-mode=importlib --doctest-modules --strict-markers\n"
        )
        suite.run("-k", ONE).assert_outcomes(passed=1, deselected=len(EVERY) - 1)


class TestVerdicts:
    def test_fail_shows_expected_observed_and_evidence_and_no_traceback(self, suite: Suite):
        suite.profile("needs_one_token_more")
        result = suite.run("-k", "one_token_above_is_offloaded")
        result.assert_outcomes(failed=1, deselected=len(EVERY) - 1)
        result.stdout.fnmatch_lines(
            [
                "*LRO-THR-06 test_one_token_above_is_offloaded*",
                "  expected     recall, a result of * tokens at threshold *, is offloaded",
                "  observed     returned inline*",
                "settings: threshold_tokens=*",
                '→ {"jsonrpc":"2.0",*"tools/call"*',
                "  fix *",
                "Level 1 *failed by LRO-THR-06",
                "FAILED *test_one_token_above_is_offloaded - LRO-THR-*",  # cut at 80 columns
            ]
        )
        assert "Traceback" not in said(result)
        assert "raise " not in said(result)

    def test_warn_passes_with_a_warning(self, suite: Suite):
        suite.profile("guidance_lacks_the_count")
        result = suite.run_apart(
            "--pyargs", "lro_conformance", "-k", "LRO-GUI-02"
        )  # pytest here has warnings of its own
        result.assert_outcomes(passed=1, warnings=1, deselected=len(EVERY) - 1)
        result.stdout.fnmatch_lines(["*LroWarning: LRO-GUI-02 (recommendation not met): expected *; observed *"])

    def test_a_filter_names_the_warning(self, suite: Suite):
        suite.profile("guidance_lacks_the_count")
        result = suite.run("-k", "LRO-GUI-02", "-W", "error::lro_conformance.plugin.LroWarning")
        result.assert_outcomes(failed=1, deselected=len(EVERY) - 1)

    def test_not_observed_is_skipped_with_its_reason(self, suite: Suite):
        suite.profile(sections="seed: null")
        result = suite.run("-k", "LRO-THR-03", "-rs")
        result.assert_outcomes(skipped=1, deselected=len(EVERY) - 1)
        result.stdout.fnmatch_lines(["SKIPPED*not-observed: the suite cannot store memories (profile: seed)"])

    def test_fault_of_the_suite_is_an_error(self, suite: Suite):
        suite.profile()
        suite.pytester.makeconftest(
            "from dataclasses import replace\n"
            "import lro_conformance.engine.judgement as engine\n"
            "from lro_conformance.judging.verdicts import Verdict\n"
            "judge = engine.judge\n"
            "engine.judge = lambda *a, **k: replace(judge(*a, **k), verdict=Verdict.ERROR)\n"
        )
        result = suite.run("-k", ONE)
        result.assert_outcomes(errors=1, deselected=len(EVERY) - 1)
        result.stdout.fnmatch_lines(["*a defect of lro-spec, not of the server*"])

    def test_run_that_breaks_down_is_told_once_and_fails_every_check(self, suite: Suite):
        suite.profile()
        suite.pytester.makeconftest(
            "import lro_conformance.engine.run as engine\n"
            "calls = []\n"
            "def certify(*a, **k):\n"
            "    calls.append(1)\n"
            "    raise OSError(f'broke down {len(calls)}')\n"
            "engine.certify = certify\n"
        )
        result = suite.run("-k", "is_offloaded and not above")
        assert result.parseoutcomes()["errors"] > 1
        assert "broke down 1" in said(result)
        assert "broke down 2" not in said(result)


class TestLevel:
    def test_level_that_the_selection_cannot_prove_fails_the_session(self, suite: Suite):
        suite.profile()
        result = suite.run("-k", ONE, "--lro-level", "1")
        result.assert_outcomes(passed=1, deselected=len(EVERY) - 1)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines(["result          level 1 is not proved, so the session fails"])

    def test_level_of_the_profile_is_not_asked_of_a_selection(self, suite: Suite):
        suite.profile(sections="level: 3")
        assert suite.run("-k", ONE).ret == 0

    def test_level_that_nothing_was_run_for_fails_the_session(self, suite: Suite):
        suite.profile()
        suite.pytester.makepyfile("def test_of_my_own(): pass")
        result = suite.run("--lro-level", "1", pyargs=False)
        result.assert_outcomes(passed=1)
        assert result.ret == pytest.ExitCode.TESTS_FAILED

    def test_listing_the_checks_claims_nothing(self, suite: Suite):
        suite.profile()
        assert suite.run("--collect-only", "-q", "--lro-level", "3").ret == 0


class TestInsideOfASuite:
    EXPLORES_NOTHING = (
        "from functools import partial\n"
        "import lro_conformance.engine.run as engine\n"
        "engine.certify = partial(engine.certify, examples=0)\n"
    )
    """Here it matters that all checks share one run, not how much that run tries."""
    TRIES_ONE = (
        "import lro_conformance.engine.run as engine\n"
        "certify = engine.certify\n"
        "engine.certify = lambda *a, **k: certify(*a, **{**k, 'only': {'LRO-THR-06'}, 'examples': 0})\n"
    )
    """Here it matters how a failure is told, which is the same if it is all that is judged."""
    THREE_LINES = "def test_lro(lro_report):\n    assert lro_report.achieved >= 3\n"

    def test_three_lines_certify_and_checks_share_the_run(self, suite: Suite):
        suite.profile()
        suite.pytester.makeconftest(self.EXPLORES_NOTHING)
        suite.pytester.makepyfile(self.THREE_LINES)
        result = suite.run(str(suite.folder), "--lro-level", "3", "--lro-json", "r.json")
        assert result.ret == 0
        found = result.parseoutcomes()
        # a check that sees nothing here leaves its requirement to its neighbours
        assert found["passed"] + found.get("skipped", 0) == len(EVERY) + 1
        assert found.keys() <= {"passed", "skipped"}
        assert json.loads((suite.folder / "r.json").read_bytes())["level"]["achieved"] == 3
        result.stdout.fnmatch_lines(["achieved        level 3*", "result          level 3 is proved"])

    def test_failure_is_told_in_full_where_no_check_was_collected(self, suite: Suite):
        suite.profile("needs_one_token_more")
        suite.pytester.makeconftest(self.TRIES_ONE)
        suite.pytester.makepyfile(self.THREE_LINES)
        result = suite.run(pyargs=False)
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["FAIL LRO-THR-06 *", "  expected * is offloaded", "Level 1 *failed by LRO-THR-06"])

    def test_report_without_a_server_is_an_error_and_no_skip(self, suite: Suite):
        suite.pytester.makepyfile(self.THREE_LINES)
        result = suite.run(pyargs=False)
        result.assert_outcomes(errors=1)
        assert "no server to certify" in said(result)

    def test_ordinary_suite_sees_nothing_of_the_plugin(self, suite: Suite):
        suite.profile()
        suite.pytester.makepyfile("def test_of_my_own(): pass")
        result = suite.run(pyargs=False)
        assert result.ret == 0
        assert "Large Result Offloading" not in said(result)


def test_workers_of_xdist_share_one_run(suite: Suite):
    pytest.importorskip("xdist")
    starts = suite.folder / "starts"
    wrapper = suite.folder / "server.sh"
    wrapper.write_text(f"#!/bin/sh\necho >> '{starts}'\nexec '{sys.executable}' -I -S '{RUN}'\n")
    wrapper.chmod(0o755)
    suite.profile(sections=f'server: {{command: ["{wrapper}"]}}')
    chosen = "is_offloaded and not above"
    options = ("-p", "xdist.plugin", "-n", "2", "-k", chosen, "--lro-json", "r.json")
    result = suite.run_apart("--pyargs", "lro_conformance", *options)
    assert result.ret == 0, said(result)
    assert result.parseoutcomes()["passed"] > 1
    report = json.loads((suite.folder / "r.json").read_bytes())
    assert len(starts.read_text().splitlines()) == report["server_starts"]
    result.stdout.fnmatch_lines(["*Large Result Offloading*", "offloads        yes"])
