"""What is said of a server whose results are too small to tell whether it offloads: no more than was seen."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from lro_conformance import profile as profiles
from lro_conformance.capture.call import Call
from lro_conformance.capture.claims import claims
from lro_conformance.engine.run import certify
from lro_conformance.judging.results import Report
from lro_conformance.lab.lab import Lab
from lro_conformance.profile import Profile, ServerSpec, profile_for_command
from lro_conformance.report.exit_code import EXIT_NO_VERDICT, EXIT_OK, exit_code
from lro_conformance.trials import edges
from lro_conformance.trials.survey import Survey
from tests.servers.variants import command, profile_text

SILENT = "ignores_its_settings_and_is_small"
MUTE = "is_small_and_says_nothing_of_files"
UNKNOWN = "names_its_tools_as_nobody_does"


def test_a_text_of_megabytes_is_searched_at_once() -> None:
    text = "i" * 4_000_000
    profile = Profile(ServerSpec(("server",)))
    begun = time.monotonic()
    assert claims(profile, [], {"instructions": text}) == ()
    assert claims(profile, [], {"instructions": f"{text}offloads"}) == ('its handshake speaks of "offloads"',)
    assert time.monotonic() - begun < 10


def report_of(profile: Profile) -> Report:
    return certify(profile, seed=1, examples=0)


def test_settings_of_a_profile_that_do_not_take_effect_are_no_proof_of_level_2(tmp_path: Path) -> None:
    (tmp_path / "lro.yaml").write_text(
        profile_text(MUTE, "settings: {threshold_tokens: {env: LRO_MEMORY_THRESHOLD}}\nseed: null\ncleanup: null\n")
    )
    report = report_of(profiles.load(tmp_path / "lro.yaml"))
    assert (report.implemented, report.achieved, exit_code(report)) == (None, 0, EXIT_NO_VERDICT)
    assert report.failure is not None
    assert "the profile says how threshold_tokens is set" in report.failure
    assert "is surely above the default of 6400 tokens" in report.failure


def test_a_server_that_speaks_of_offloading_is_not_one_without_lro() -> None:
    report = report_of(profile_for_command(command(SILENT)))
    assert (report.implemented, exit_code(report)) == (None, EXIT_NO_VERDICT)
    assert 'its tool "recall_memories" speaks of "offloaded"' in (report.failure or "")


def test_a_tool_of_an_unknown_name_that_speaks_of_offloading_asks_for_operations() -> None:
    report = report_of(profile_for_command(command(UNKNOWN)))
    assert exit_code(report) == EXIT_NO_VERDICT
    assert "so none was called and no level is proved" in (report.failure or "")
    assert "lro init --tool recall=NAME -- COMMAND (profile: operations)" in (report.failure or "")


def test_a_small_server_of_which_nobody_says_that_it_offloads_has_a_note() -> None:
    report = report_of(profile_for_command(command(MUTE)))
    assert (report.implemented, report.levels[2], exit_code(replace(report, claimed=2))) == (False, "proved", EXIT_OK)
    assert any("if the server has settings of its own, name them" in note for note in report.notes)


def test_a_claim_that_large_results_refute_is_told(tmp_path: Path) -> None:
    (tmp_path / "lro.yaml").write_text(profile_text("knows_no_offloading"))
    report = report_of(profiles.load(tmp_path / "lro.yaml"))
    assert (report.implemented, report.achieved) == (False, 2)
    assert any("but nothing was offloaded, not even a result of" in note for note in report.notes)


def test_an_operation_whose_exact_threshold_was_not_tested_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_estimates(_lab: Lab, survey: Survey, name: str) -> list[Call]:
        return [] if name == "inject" else list(survey.repeats[name])

    monkeypatch.setattr(edges, "_with_estimates", with_estimates)
    report = certify(profile_for_command(command()), only={"LRO-THR-07"}, examples=0)
    assert [n for n in report.notes if "was not tested" in n] == [
        "the exact threshold of inject was not tested: its result has fewer than 3 tokens"
    ]
