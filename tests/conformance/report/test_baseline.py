"""The baseline: it opens a gate for single checks, until a day, and closes it when an entry has outlived its use."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lro_conformance.errors import UsageError
from lro_conformance.judging.results import UNEXPLAINED, Report, RequirementResult
from lro_conformance.judging.verdicts import LevelVerdict, Verdict
from lro_conformance.report.baseline import Entry, apply_baseline, load
from lro_conformance.report.exit_code import EXIT_FAILED, EXIT_NO_VERDICT, EXIT_OK, exit_code
from lro_conformance.report.formats.attestation import to_attestation
from lro_conformance.report.formats.baseline import to_baseline
from lro_conformance.report.formats.github import report_annotations
from lro_conformance.report.formats.junit import to_junit
from lro_conformance.report.formats.markdown import to_markdown
from lro_conformance.report.formats.sarif import to_sarif
from lro_conformance.report.load import read_report
from lro_conformance.report.terminal import plain_lines
from tests.support.paths import DATA
from tests.support.report_samples import check, judged, report, requirement

EQUAL = DATA / "reports" / "equal.json"
FAILED: dict[int, LevelVerdict] = {1: "failed", 2: "failed", 3: "failed"}


def entry(id: str, verdict: Verdict = Verdict.FAIL, until: str = "2026-11-21") -> Entry:
    return Entry(f"file.{id.lower().replace('-', '_')}", verdict, date.fromisoformat(until), "issue 123")


def states(made: Report) -> list[str]:
    return [a.state for a in made.baseline]


def with_failures(*ids: str, claimed: int | None = None) -> Report:
    results = [judged(id, Verdict.FAIL) for id in ids]
    return report(judged("LRO-A-09", Verdict.PASS), *results, claimed=claimed, levels=FAILED, achieved=0)


class TestGate:
    @pytest.mark.parametrize("claimed", [None, 1, 3])
    def test_opens_when_all_that_fails_is_accepted(self, claimed: int | None):
        made = apply_baseline(with_failures("LRO-A-01", claimed=claimed), (entry("LRO-A-01"),))
        assert (states(made), exit_code(made)) == (["accepted"], EXIT_OK)

    @pytest.mark.parametrize("claimed", [None, 1])
    def test_stays_closed_for_another_failure(self, claimed: int | None):
        made = apply_baseline(with_failures("LRO-A-01", "LRO-A-02", claimed=claimed), (entry("LRO-A-01"),))
        assert exit_code(made) == EXIT_FAILED

    def test_stays_closed_for_another_check_of_the_same_requirement(self):
        both = (check("LRO-A-01", Verdict.FAIL), check("LRO-A-01", Verdict.FAIL, name="file.other"))
        result = RequirementResult(requirement("LRO-A-01"), Verdict.FAIL, both)
        made = apply_baseline(report(result, levels=FAILED), (entry("LRO-A-01"),))
        assert exit_code(made) == EXIT_FAILED

    def test_closes_when_the_day_has_passed(self):
        made = apply_baseline(with_failures("LRO-A-01"), (entry("LRO-A-01", until="2026-11-20"),))
        assert (states(made), exit_code(made)) == (["expired"], EXIT_FAILED)

    @pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.NOT_OBSERVED, Verdict.WARN])
    def test_closes_when_the_verdict_is_another_now(self, verdict: Verdict):
        made = apply_baseline(report(judged("LRO-A-01", verdict)), (entry("LRO-A-01"),))
        assert (states(made), exit_code(made)) == (["stale"], EXIT_FAILED)

    def test_opens_for_what_could_not_be_observed_where_that_is_accepted(self):
        unseen = report(
            judged("LRO-A-01", Verdict.NOT_OBSERVED),
            judged("LRO-A-02", Verdict.PASS),
            claimed=1,
            levels={1: "unproved"},
        )
        assert exit_code(unseen) == EXIT_FAILED
        assert exit_code(apply_baseline(unseen, (entry("LRO-A-01", Verdict.NOT_OBSERVED),))) == EXIT_OK

    @pytest.mark.parametrize("made", [report(judged("LRO-A-01", Verdict.ERROR)), report(failure="x")])
    def test_says_nothing_where_there_is_no_verdict(self, made: Report):
        held = apply_baseline(made, (entry("LRO-A-01"),))
        assert (states(held), exit_code(held)) == (["open"], EXIT_NO_VERDICT)

    def test_changes_no_verdict_and_no_level(self):
        before = read_report(EQUAL)
        after = apply_baseline(
            before, (Entry("threshold.equal_to_threshold_stays_inline", Verdict.FAIL, date(2099, 1, 1), "later"),)
        )
        assert replace(after, baseline=()) == before


class TestShown:
    accepted = apply_baseline(with_failures("LRO-A-01"), (entry("LRO-A-01"),))
    stale = apply_baseline(report(judged("LRO-A-01", Verdict.PASS)), (entry("LRO-A-01"),))

    def test_in_the_summary(self):
        told = [line.split(maxsplit=1) for line in plain_lines(self.accepted)]
        assert ["accepted", "LRO-A-01 file.lro_a_01 (fail) until 2026-11-21: issue 123"] in told
        told = [line.split(maxsplit=1) for line in plain_lines(self.stale)]
        assert ["stale", "LRO-A-01 file.lro_a_01 is no longer fail: remove it from the baseline"] in told

    def test_in_junit(self):
        root = ElementTree.fromstring(to_junit(self.accepted))
        assert root.attrib["failures"] == "0"
        (skipped,) = root.findall(".//skipped")
        assert skipped.attrib["message"] == "accepted by the baseline, fail: issue 123"
        (failure,) = ElementTree.fromstring(to_junit(self.stale)).findall(".//failure")
        said = "LRO-A-01 file.lro_a_01 is no longer fail: remove it from the baseline"
        assert failure.attrib["message"] == f"stale: {said}"
        assert said in "".join(report_annotations(self.stale, "lro.yaml"))
        (result,) = json.loads(to_sarif(self.stale, "lro.yaml"))["runs"][0]["results"]
        assert (result["ruleId"], result["level"], result["message"]["text"]) == ("baseline", "error", f"stale: {said}")

    def test_in_a_line_about_the_gate(self):
        assert "gate            green, exit code 0: the baseline accepts all that fails" in list(
            plain_lines(self.accepted)
        )
        assert "gate            red, exit code 1: 1 entry stale" in list(plain_lines(self.stale))
        assert not [line for line in plain_lines(with_failures("LRO-A-01")) if line.startswith("gate")]

    def test_in_the_headline(self):
        assert to_markdown(self.stale).startswith(
            "## ❌ <code>memories</code>: level 3 proved; stale entries in the baseline"
        )
        assert (
            to_markdown(self.accepted)
            .splitlines()[0]
            .endswith("no level proved; the rest accepted by the baseline (lro-6400)")
        )

    def test_with_a_remark_as_long_as_no_reason_is_given(self):
        made = apply_baseline(with_failures("LRO-A-01"), (replace(entry("LRO-A-01"), reason=UNEXPLAINED),))
        assert (
            "accepted        LRO-A-01 file.lro_a_01 (fail) until 2026-11-21: no reason is given yet: complete the entry"
        ) in list(plain_lines(made))
        for text in (to_junit(made), to_sarif(made, "lro.yaml")):
            assert "no reason is given yet" in text
            assert UNEXPLAINED not in text

    def test_in_code_scanning(self):
        (result,) = json.loads(to_sarif(self.accepted, "lro.yaml"))["runs"][0]["results"]
        assert result["suppressions"] == [
            {"kind": "external", "status": "accepted", "justification": "until 2026-11-21: issue 123"}
        ]

    def test_without_hiding_it(self):
        assert to_markdown(self.accepted).startswith("## ⚠️")
        statement = json.loads(to_attestation(self.accepted, []))
        assert statement["predicate"]["result"] == "WARNED"
        assert "LRO-A-01" in statement["predicate"]["failedTests"]


class TestWritten:
    def test_entries_that_hold_stay_as_they_are_and_stale_ones_go(self, tmp_path: Path):
        today = replace(with_failures("LRO-A-01", "LRO-A-02"), started_at="2026-11-21T10:15:00Z")
        made = apply_baseline(today, (entry("LRO-A-01"), entry("LRO-A-09")))
        text = to_baseline(made)
        assert text.count("- check:") == 2
        assert text.index('reason: "issue 123"') < text.index(f'reason: "{UNEXPLAINED}"')


class TestFile:
    good: Sequence[str] = (
        "accept:",
        "- check: threshold.equal_to_threshold_stays_inline",
        "  until: 2027-03-31",
        "  reason: issue 123",
    )

    def test_is_read_with_dates_in_quotes_or_without(self, tmp_path: Path):
        (tmp_path / "b.yaml").write_text("\n".join(self.good[:4]))
        assert load(tmp_path / "b.yaml") == (
            Entry("threshold.equal_to_threshold_stays_inline", Verdict.FAIL, date(2027, 3, 31), "issue 123"),
        )

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("", "b.yaml: empty: expected at least accept: []"),
            ("accept: [", "b.yaml:1: not YAML"),
            ("accepts: []", "b.yaml:1: accepts: unknown key; did you mean accept?"),
            ("accept:\n- {check: a.b, until: 2027-01-01}", "b.yaml:2: accept[0].reason: missing; it is required"),
            (
                "accept:\n- {check: threshold.equal_to_threshold_stay_inline, until: 2027-01-01, reason: r}",
                (
                    "accept[0].check: no check threshold.equal_to_threshold_stay_inline; "
                    "did you mean threshold.equal_to_threshold_stays_inline?"
                ),
            ),
            (
                "accept:\n- {check: threshold.equal_to_threshold_stays_inline, until: 2027-02-30, reason: r}",
                "b.yaml:2: accept[0].until: expected a day as YYYY-MM-DD, got 2027-02-30",
            ),
            (
                "accept:\n- {check: threshold.equal_to_threshold_stays_inline, until: next year, reason: r}",
                "b.yaml:2: accept[0].until: expected ",
            ),
        ],
    )
    def test_says_in_which_line_what_is_wrong(
        self, text: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.chdir(tmp_path)
        Path("b.yaml").write_text(text)
        with pytest.raises(UsageError) as refused:
            load(Path("b.yaml"))
        assert says in str(refused.value)

    def test_a_check_may_be_accepted_once(self, tmp_path: Path):
        (tmp_path / "b.yaml").write_text("\n".join([*self.good[:4], *self.good[1:4]]))
        with pytest.raises(UsageError, match=r"b\.yaml:5: accept\[1\]\.check: accepted twice, first on line 2"):
            load(tmp_path / "b.yaml")

    def test_one_that_is_not_there_is_named(self, tmp_path: Path):
        with pytest.raises(UsageError, match=r"--baseline .*none\.yaml: cannot be read: No such file"):
            load(tmp_path / "none.yaml")
