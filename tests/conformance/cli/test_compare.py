"""Reports side by side: what got worse, what got better, and how several servers stand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import html

from lro_conformance.cli.main import main
from lro_conformance.judging.results import UNSELECTED, Report, ServerInfo
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.compare import Comparison, compare, matrix
from lro_conformance.report.compare_views import text_lines, to_html, to_markdown
from lro_conformance.report.formats.json import write_json
from tests.support.paths import DATA, ROOT
from tests.support.renderings import LOG_COMMAND, UNSAFE, elements, shown
from tests.support.report_samples import hostile, judged, mixed, report

REPORTS = DATA / "reports"
NAMES = ("old.json", "new.json")


def changed(old: Report, new: Report) -> list[tuple[str, str]]:
    return [(c.direction, c.id) for c in compare(old, new, NAMES).changes]


@pytest.mark.parametrize(
    ("was", "now", "direction"),
    [
        (Verdict.PASS, Verdict.FAIL, "worse"),
        (Verdict.PASS, Verdict.NOT_OBSERVED, "worse"),
        (Verdict.NOT_OBSERVED, Verdict.FAIL, "worse"),
        (Verdict.NOT_APPLICABLE, Verdict.WARN, "worse"),
        (Verdict.FAIL, Verdict.PASS, "better"),
        (Verdict.WARN, Verdict.NOT_APPLICABLE, "better"),
        (Verdict.NOT_APPLICABLE, Verdict.PASS, "other"),
        (Verdict.PASS, Verdict.NOT_APPLICABLE, "other"),
    ],
)
def test_a_verdict_that_changed_has_a_direction(was: Verdict, now: Verdict, direction: str):
    assert changed(report(judged("LRO-A-01", was)), report(judged("LRO-A-01", now))) == [(direction, "LRO-A-01")]


def test_nothing_changes_from_a_report_to_itself():
    assert changed(mixed(), mixed(seed=7, started_at="2027-01-01T00:00:00Z")) == []


def test_levels_come_first_and_worse_before_better():
    old = report(judged("LRO-A-01", Verdict.FAIL), judged("LRO-A-02", Verdict.PASS))
    new = report(
        judged("LRO-A-01", Verdict.PASS),
        judged("LRO-A-02", Verdict.FAIL),
        levels={1: "proved", 2: "failed", 3: "failed"},
    )
    assert changed(old, new) == [
        ("worse", "Level 2"),
        ("worse", "Level 3"),
        ("worse", "LRO-A-02"),
        ("better", "LRO-A-01"),
    ]


def test_a_requirement_that_only_one_release_knows_is_worse_only_when_it_failed():
    assert changed(report(), report(judged("LRO-A-01", Verdict.PASS))) == [("other", "LRO-A-01")]
    assert changed(report(), report(judged("LRO-A-01", Verdict.FAIL))) == [("worse", "LRO-A-01")]
    assert changed(report(judged("LRO-A-01", Verdict.FAIL)), report()) == [("other", "LRO-A-01")]


def test_losing_the_verdict_altogether_is_worse():
    assert changed(report(), report(failure="exit code 1")) == [("worse", "Verdict")]
    assert changed(report(failure="exit code 1"), report()) == [("better", "Verdict")]


def test_what_was_not_part_of_a_run_is_not_compared_and_nor_are_levels():
    first, second = (judged(f"LRO-A-0{n}", Verdict.PASS) for n in (1, 2))
    whole = report(first, second, levels={1: "proved", 2: "proved", 3: "proved"})
    other = replace(second, verdict=Verdict.NOT_OBSERVED, checks=(), reason=UNSELECTED)
    part = report(replace(first, verdict=Verdict.FAIL), other, levels={1: "failed", 2: "failed", 3: "failed"})
    assert changed(whole, part) == [("worse", "LRO-A-01")]
    assert changed(part, whole) == [("better", "LRO-A-01")]
    said = "the new run judged only 1 requirement (--only): no others and no levels are compared"
    assert compare(whole, part, NAMES).notes == (said,)


def test_other_reasons_for_a_change_are_named():
    new = report(edition="lro-1600", suite_version="0.2.0", server=ServerInfo("memories", "2", ("x",), ""))
    assert compare(report(), new, NAMES).notes == (
        "different edition: lro-6400 → lro-1600",
        "different version of lro-spec: 0.1.0 → 0.2.0",
        "different command: python -m memories → x",
    )


def test_matrix_shows_what_somebody_does_not_meet_and_counts_the_rest():
    made = matrix([mixed(), report(judged("LRO-FILE-06", Verdict.PASS))], NAMES)
    shown_rows = {row.id: row.verdicts for row in made.rows}
    assert shown_rows["Level 1"] == ("failed", "proved")
    assert shown_rows["LRO-FILE-06"] == ("fail", "pass")
    assert shown_rows["LRO-FILE-01"] == ("pass", None)
    same = matrix([mixed(), mixed()], NAMES)
    assert same.omitted == 4
    assert len(matrix([mixed(), mixed()], NAMES, show_all=True).rows) == 3 + 10


RENDERINGS = {
    "terminal": lambda made: "\n".join(text_lines(made)),
    "markdown": to_markdown,
    "html": to_html,
}


@pytest.mark.parametrize("render", RENDERINGS.values(), ids=RENDERINGS)
@pytest.mark.parametrize(
    "made", [compare(report(), hostile(), NAMES), matrix([hostile(), mixed()], NAMES, show_all=True)]
)
def test_what_a_server_said_stays_text(render, made):
    text = render(made)
    assert "owned" in text
    assert UNSAFE.search(text.replace("\t", "")) is None
    assert LOG_COMMAND.search(text) is None


@pytest.mark.parametrize("made", [compare(report(), hostile(), NAMES), matrix([hostile(), mixed()], NAMES)])
def test_markup_is_ours_alone(made: Comparison):
    assert elements(shown(to_markdown(made))) <= {
        "div",
        "h2",
        "h3",
        "p",
        "code",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    page = html.document_fromstring(to_html(made))
    assert page.xpath("//img | //iframe | //@src | //@*[starts-with(name(), 'on')]") == []
    assert len(page.xpath("//script")) == 1


class TestCommand:
    def test_says_what_got_worse_and_exits_with_1(self, capsys: pytest.CaptureFixture[str]):
        assert main(["compare", str(REPORTS / "reference.json"), str(REPORTS / "equal.json")]) == 1
        told = capsys.readouterr().out
        assert re.search(
            "^worse +LRO-THR-07 +pass → fail +At the threshold means inline: offloaded", told, re.MULTILINE
        )
        assert told.splitlines()[-1] == "changed    5 worse, 1 other"

    def test_what_got_better_is_no_failure(self, capsys: pytest.CaptureFixture[str]):
        assert main(["compare", str(REPORTS / "equal.json"), str(REPORTS / "reference.json")]) == 0
        assert capsys.readouterr().out.splitlines()[-1] == "changed    5 better, 1 other"

    def test_matrix_takes_any_number_and_never_fails(self, capsys: pytest.CaptureFixture[str]):
        assert (
            main(["compare", "--matrix", *map(str, [REPORTS / "reference.json", *[REPORTS / "equal.json"] * 2])]) == 0
        )
        assert "LRO-THR-07    ✓  ✗  ✗  At the threshold means inline" in capsys.readouterr().out

    def test_files_are_written(self, tmp_path: Path):
        write_json(mixed(), tmp_path / "a.json")
        outputs = ["--markdown", str(tmp_path / "c.md"), "--html", str(tmp_path / "c.html")]
        assert main(["compare", str(tmp_path / "a.json"), str(tmp_path / "a.json"), *outputs]) == 0
        assert "Nothing got worse" in (tmp_path / "c.md").read_text(encoding="utf-8")
        assert "No verdict changed." in (tmp_path / "c.html").read_text(encoding="utf-8")

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["a.json"], "expected two reports, OLD and NEW (for more than two: --matrix), got 1"),
            (["--matrix", "a.json"], "expected two reports or more, got 1"),
            (["--all", "a.json", "b.json"], "--all requires --matrix"),
            (["a.json", "b.json"], "a.json: cannot be read: No such file or directory"),
        ],
    )
    def test_a_mistake_is_one_line(
        self,
        arguments: list[str],
        says: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ):
        monkeypatch.chdir(tmp_path)
        assert main(["compare", *arguments]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert says in line


def test_the_documents_show_what_it_says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(REPORTS)
    assert main(["compare", "reference.json", "equal.json"]) == 1
    assert capsys.readouterr().out in (ROOT / "docs/reports.md").read_text(encoding="utf-8")


def run(day: int, *verdicts: Verdict, name: str = "memories") -> Report:
    results = (judged(f"LRO-A-{n:02}", v) for n, v in enumerate(verdicts, 1))
    achieved = 3 if set(verdicts) == {Verdict.PASS} else 0
    state = "proved" if achieved else "failed"
    levels = dict.fromkeys((1, 2, 3), state)
    who = ServerInfo(name, "1", ("x",), "")
    return report(*results, levels=levels, achieved=achieved, server=who, started_at=f"2026-11-{day:02}T10:00:00Z")


def test_reports_of_several_servers_are_a_scoreboard_with_the_best_first():
    bad, good = run(1, Verdict.FAIL, name="bad"), run(2, Verdict.PASS, name="good")
    none = run(3, Verdict.PASS, name="none")
    none = replace(none, failure="exit code 1")
    made = matrix([none, bad, good], ["n.json", "b.json", "g.json"])
    assert ([r.server.name for r in made.reports], made.title) == (["good", "bad", "none"], "Servers side by side")
    page = html.document_fromstring(to_html(made))
    assert [" ".join("".join(e.itertext()).split()) for e in page.xpath("//p[@class='who']")] == [
        "A good 1 lro-6400level 3 proved 2026-11-02, g.json",
        "B bad 1 lro-6400level 1 failed 2026-11-01, b.json",
        "C none 1 lro-6400no verdict 2026-11-03, n.json",
    ]
    assert len(page.xpath("//ol[@class='board']//div[@class='bar']")) == 6
    assert page.xpath("//svg[@class='trend']") == []


def test_reports_of_one_server_are_a_trend_in_the_order_of_their_runs():
    made = matrix([run(9, Verdict.PASS, Verdict.PASS), run(8, Verdict.FAIL, Verdict.PASS)], ["new.json", "old.json"])
    assert (made.is_trend, made.files, made.title) == (True, ("old.json", "new.json"), "Trend of memories")
    page = html.document_fromstring(to_html(made))
    (picture,) = page.xpath("//svg[@class='trend']")
    assert picture.get("aria-label") == (
        "2026-11-08: level 1 failed, 1 pass, 1 fail; 2026-11-09: level 3 proved, 2 pass"
    )
    assert [(r.get("class"), r.get("height")) for r in picture.xpath(".//rect")] == [("fail", "70.0%")]
    assert to_markdown(made).startswith("## Trend of memories")
