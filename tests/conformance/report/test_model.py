"""The report's JSON form, its file, and the exit code that is made from it."""

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from lro_conformance.judging.results import (
    UNSELECTED,
    Coverage,
    DecidedCall,
    ExploredCalls,
    Report,
    RequirementResult,
)
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.exit_code import EXIT_FAILED, EXIT_NO_VERDICT, EXIT_OK, exit_code
from lro_conformance.report.formats.json import check_target, to_json, write_json
from tests.support.paths import ROOT
from tests.support.report_samples import judged, mixed, report

SCHEMA = json.loads((ROOT / "schemas" / "report.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=FormatChecker())


def test_schema_is_a_valid_2020_12_schema_and_its_example_is_valid():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "urn:lro-spec:schema:report"
    assert len(SCHEMA["examples"]) == 1
    VALIDATOR.validate(SCHEMA["examples"][0])


def test_every_key_of_the_schema_is_described():
    def keys(schema: dict, at: str):
        for name, part in schema.get("properties", {}).items():
            yield f"{at}/{name}", part
            yield from keys(part, f"{at}/{name}")

    places = [("#", SCHEMA), *((f"#/$defs/{name}", part) for name, part in SCHEMA["$defs"].items())]
    described = [pair for at, part in places for pair in keys(part, at)]
    assert len(described) > 35
    assert [at for at, part in described if "description" not in part and "$ref" not in part] == []


@pytest.mark.parametrize("made", [mixed(), report(), report(claimed=2, implemented=None, failure="it did not start")])
def test_json_form_is_valid_for_the_schema(made: Report):
    VALIDATOR.validate(made.to_dict())


COVERAGE = Coverage(1, 2, 3, 4, (ExploredCalls("recall", "light", "1", inline=1, offloaded=2),))


def test_json_form_has_no_key_that_the_schema_does_not_describe():
    made = replace(
        mixed(),
        failure="not started",
        reproduce="my-server",
        extensions={"proxy": "pass"},
        coverage=COVERAGE,
        decided=(DecidedCall("recall", "light", 2737, 2736, "offloaded"),),
        incomplete="the run ended at its time limit",
        all_experiments=True,
    )
    made = made.to_dict()
    assert set(made) == set(SCHEMA["properties"])
    assert set(made["requirements"][0]) == set(SCHEMA["$defs"]["requirement"]["properties"])
    assert set(made["requirements"][0]["checks"][0]) <= set(SCHEMA["$defs"]["check"]["properties"])


@pytest.mark.parametrize("missing", SCHEMA["required"])
def test_a_report_without_a_promised_key_is_refused(missing: str):
    made = mixed().to_dict()
    del made[missing]
    assert [e.validator for e in VALIDATOR.iter_errors(made)] == ["required"]


def test_a_pass_that_examined_nothing_is_refused():
    made = report(judged("LRO-FILE-01", Verdict.PASS, subjects=0)).to_dict()
    assert [list(e.absolute_path)[-1] for e in VALIDATOR.iter_errors(made)] == ["subjects"]


def test_counts_cover_every_verdict():
    assert mixed().to_dict()["counts"] == {
        "pass": 2,
        "fail": 1,
        "warn": 2,
        "not-applicable": 1,
        "not-judged": 1,
        "not-observed": 1,
        "attested": 1,
        "error": 1,
    }


class TestExitCode:
    def test_without_a_claim_and_without_a_failure_it_holds(self):
        unobserved = judged("LRO-CLN-01", Verdict.NOT_OBSERVED, level=2)
        assert exit_code(report(judged("LRO-FILE-01", Verdict.PASS), unobserved)) == EXIT_OK

    def test_a_failed_must_of_any_level_fails_without_a_claim(self):
        assert exit_code(report(judged("LRO-ERR-01", Verdict.FAIL, level=3))) == EXIT_FAILED

    @pytest.mark.parametrize("changes", [{"level": None, "group": "hardening"}, {"keyword": "SHOULD"}])
    def test_what_decides_no_level_does_not_fail(self, changes: dict):
        assert exit_code(report(judged("LRO-X-01", Verdict.FAIL, **changes))) == EXIT_OK

    def test_an_error_of_the_suite_is_no_verdict(self):
        assert exit_code(report(judged("LRO-FILE-01", Verdict.ERROR))) == EXIT_NO_VERDICT

    def test_a_failure_outweighs_an_error_of_the_suite(self):
        assert exit_code(report(judged("LRO-A-01", Verdict.ERROR), judged("LRO-A-02", Verdict.FAIL))) == EXIT_FAILED

    @pytest.mark.parametrize(
        ("verdict", "code"), [(Verdict.WARN, EXIT_OK), (Verdict.NOT_OBSERVED, EXIT_NO_VERDICT)], ids=["warns", "unseen"]
    )
    def test_a_selection_needs_one_requirement_that_was_observed(self, verdict: Verdict, code: int):
        unselected = RequirementResult(
            judged("LRO-B-01", Verdict.PASS).requirement, Verdict.NOT_OBSERVED, (), UNSELECTED
        )
        assert exit_code(report(judged("LRO-A-01", verdict), unselected)) == code

    @pytest.mark.parametrize("found", ["proved", "attested"])
    def test_a_claimed_level_that_is_proved_or_attested_holds_whatever_is_above(self, found: str):
        above = judged("LRO-ERR-01", Verdict.FAIL, level=3)
        assert exit_code(report(above, claimed=2, levels={1: "proved", 2: found, 3: "failed"})) == EXIT_OK

    @pytest.mark.parametrize("found", ["unproved", "failed"])
    def test_a_claimed_level_that_is_not_proved_does_not_hold(self, found: str):
        assert exit_code(report(claimed=2, levels={1: "proved", 2: found, 3: "failed"})) == EXIT_FAILED

    def test_a_level_unproved_over_an_error_of_the_suite_is_no_verdict(self):
        levels = {1: "unproved", 2: "unproved", 3: "unproved"}
        assert exit_code(report(judged("LRO-A-01", Verdict.ERROR), claimed=1, levels=levels)) == EXIT_NO_VERDICT

    def test_an_error_above_the_claim_does_not_excuse_it(self):
        erred = judged("LRO-A-01", Verdict.ERROR, level=3)
        assert exit_code(report(erred, claimed=1, levels={1: "unproved", 2: "unproved", 3: "unproved"})) == EXIT_FAILED

    def test_a_server_that_could_not_be_observed_is_no_verdict(self):
        failed = judged("LRO-A-01", Verdict.FAIL)
        assert exit_code(report(failed, failure="exited with 1", claimed=1)) == EXIT_NO_VERDICT


class TestFile:
    def test_is_the_json_form(self, tmp_path: Path):
        write_json(mixed(), tmp_path / "r.json")
        assert json.loads((tmp_path / "r.json").read_bytes()) == mixed().to_dict()

    def test_replaces_the_old_one_and_leaves_nothing_beside_it(self, tmp_path: Path):
        (tmp_path / "r.json").write_text("old")
        write_json(mixed(), tmp_path / "r.json")
        assert [p.name for p in tmp_path.iterdir()] == ["r.json"]

    def test_a_write_that_fails_leaves_the_old_one(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        (tmp_path / "r.json").write_text("old")

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            write_json(mixed(), tmp_path / "r.json")
        assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"r.json": "old"}

    def test_goes_through_a_symlink_and_leaves_it(self, tmp_path: Path):
        (tmp_path / "real").mkdir()
        (tmp_path / "real" / "r.json").write_text("old")
        (tmp_path / "link.json").symlink_to(tmp_path / "real" / "r.json")
        write_json(mixed(), tmp_path / "link.json")
        assert (tmp_path / "link.json").is_symlink()
        assert json.loads((tmp_path / "real" / "r.json").read_bytes())["seed"] == 42

    def test_follows_the_umask(self, tmp_path: Path):
        before = os.umask(0o027)
        try:
            write_json(mixed(), tmp_path / "r.json")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "r.json").stat().st_mode) == 0o640

    def test_a_device_is_written_to_and_not_replaced(self):
        write_json(mixed(), Path("/dev/null"))
        assert Path("/dev/null").is_char_device()

    def test_what_a_server_said_is_harmless_raw_and_the_same_when_parsed(self, tmp_path: Path):
        said = "\x1b[2J\x9b\u202eevil\u2028\U000e0041 ünï 漢"
        text = to_json(report(judged("LRO-A-01", Verdict.FAIL, observed=said)))
        assert not any(c in text for c in "\x1b\x9b\u202e\u2028\U000e0041")
        assert "ünï 漢" in text
        assert json.loads(text)["requirements"][0]["checks"][0]["observed"] == said

    def test_lone_surrogates_become_what_strict_readers_accept(self):
        text = to_json(report(judged("LRO-A-01", Verdict.FAIL, observed="a\ud800b")))
        assert json.loads(text.encode())["requirements"][0]["checks"][0]["observed"] == "a\ufffdb"

    @pytest.mark.parametrize(
        ("target", "problem"),
        [
            ("no/r.json", "does not exist"),
            (".", "is a directory"),
            ("file/r.json", "does not exist"),
            ("/proc/r.json", "cannot be written|does not exist"),
        ],
    )
    def test_a_target_that_cannot_be_written_is_found_before_the_run(self, tmp_path: Path, target: str, problem: str):
        (tmp_path / "file").touch()
        with pytest.raises(OSError, match=problem):
            check_target(tmp_path / target)
