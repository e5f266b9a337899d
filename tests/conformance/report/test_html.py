"""The HTML page as text: one file, a policy that allows nothing but its own script, and a server's words as text."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace

import pytest
from lxml import etree, html

from lro_conformance.judging.results import Acceptance, DecidedCall, Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.formats.html import level_bars, threshold_picture, to_html
from lro_conformance.report.load import read_report
from lro_conformance.report.sanitize import one_line
from tests.support.paths import DATA
from tests.support.report_samples import ATTACKS, hostile, judged, mixed, report

REPORTS = DATA / "reports"
MADE = {
    "mixed": mixed(),
    "hostile": hostile(),
    "equal": read_report(REPORTS / "equal.json"),
    "no verdict": report(failure="exit code 1\nno database"),
}

all_of_them = pytest.mark.parametrize("made", MADE.values(), ids=MADE)


def parsed(made: Report) -> etree._Element:
    return html.document_fromstring(to_html(made))


def texts(page: etree._Element, path: str) -> list[str]:
    return [" ".join("".join(e.itertext()).split()) for e in page.xpath(path)]


@all_of_them
def test_policy_allows_its_own_style_and_script_and_nothing_else(made: Report):
    page = parsed(made)
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    (style,), (script,) = page.xpath("//style/text()"), page.xpath("//script/text()")
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    assert page.xpath("//head/*[not(self::meta or self::title)][1]/preceding-sibling::meta[@http-equiv]")


@all_of_them
def test_nothing_leads_out_of_the_page(made: Report):
    page = parsed(made)
    assert all(target == "data:," or target.startswith("#") for target in page.xpath("//@href"))
    assert page.xpath("//@src | //@style | //@srcset | //@action | //@data | //iframe | //img | //object") == []
    assert page.xpath("//@*[starts-with(name(), 'on')]") == []
    assert "url(" not in "".join(page.xpath("//style/text()"))


@all_of_them
def test_links_lead_somewhere_and_ids_are_used_once(made: Report):
    page = parsed(made)
    ids = page.xpath("//@id")
    assert len(set(ids)) == len(ids)
    assert {t.removeprefix("#") for t in page.xpath("//a/@href")} <= set(ids)


def test_what_was_said_is_shown_as_it_was():
    page = parsed(hostile())
    everything = "".join(page.itertext())
    for said in ATTACKS.values():
        assert one_line(said) in everything or all(part in everything for part in one_line(said).split("\\n"))


def test_every_requirement_is_there_once_under_its_verdict():
    page = parsed(mixed())
    assert texts(page, "//section[@class='part']/h2") == [
        "Not met 2",
        "Warnings 2",
        "Not observed 2",
        "Passed 2",
        "Not judged 1",
        "Not applicable 1",
    ]
    assert page.xpath("//details[@open]/@id") == ["LRO-HARD-01", "LRO-FILE-06"]
    assert len(page.xpath("//details[contains(@class, 'entry')]")) == 10


def test_a_failure_leads_to_the_line_that_was_observed():
    page = parsed(MADE["equal"])
    (target,) = page.xpath("//details[@id='LRO-THR-07']//a/@href")
    (marked,) = page.xpath(f"//li[@id='{target.removeprefix('#')}']")
    assert "marked" in marked.attrib["class"]
    assert re.match(r"observed here ← {", " ".join("".join(marked.itertext()).split()))
    why = ["by LRO-THR-07", "by the same", "by the same"]
    assert texts(page, "//ul[@class='levels']/li") == [f"✗ Level {n} failed {by}" for n, by in enumerate(why, 1)]
    assert "Fix Compare with >, not >=, and write no file" in texts(page, "//p[@class='fix']")[0]


def test_no_verdict_says_why_and_shows_no_levels():
    page = parsed(MADE["no verdict"])
    assert texts(page, "//p[contains(@class, 'outcome')]") == ["No verdict"]
    assert page.xpath("//pre/text()") == ["exit code 1\nno database"]
    assert page.xpath("//ul[@class='levels']") == []


def test_timing_shows_each_stretch_where_it_was():
    page = parsed(mixed(duration_s=10.0))
    rows = page.xpath("//table[@class='timing chart']/tbody/tr")
    assert [(r.xpath("string(td[1])"), r.xpath("string(td[3])")) for r in rows] == [
        ("0.0 s", "1.2 s"),
        ("1.2 s", "3.0 s"),
        ("4.3 s", "0.2 s"),
    ]
    assert [(r.xpath(".//rect/@x")[0], r.xpath(".//rect/@width")[0]) for r in rows] == [
        ("0.1%", "12.0%"),
        ("12.1%", "30.0%"),
        ("43.0%", "2.5%"),
    ]
    assert "a call had no answer" in texts(page, "//tr[contains(@class, 'broken')]/th")[0]


def test_a_report_of_another_release_without_a_timeline_has_no_chart():
    assert parsed(report(judged("LRO-A-01", Verdict.PASS), timeline=())).xpath("//table") == []


def test_the_page_begins_with_a_bar_for_each_level_and_a_cell_for_each_requirement():
    page = to_html(mixed())
    assert [page.index(f"MUSTs up to level {n}: ") for n in (1, 2, 3)] == sorted(
        page.index(f"MUSTs up to level {n}: ") for n in (1, 2, 3)
    )
    assert page.index('class="bars"') < page.index('class="facts"')
    assert page.count('<a class="cell ') == len(mixed().requirements)
    for result in mixed().requirements:
        id, label = result.requirement.id, result.verdict.label
        assert f'<a class="cell {label}" href="#{id}" aria-label="{id} ' in page


def test_bars_are_whole_and_count_musts_only():
    for bar in level_bars(mixed()):
        assert abs(sum(width for _, _, width in bar.parts) - 100) < 0.1 or not bar.parts


MARKED = """settings: threshold_tokens=1
→ {"id":1}
← {"id":1,"result":{}}
line 3: {"id": "m", "content": "text"}
                    ^~~~~~~~~~~~~~~~~ content"""


def one_cause() -> Report:
    """Three failures, two of which have one cause."""
    results = [
        judged(id, Verdict.FAIL, evidence=MARKED, place=place)
        for id, place in (("LRO-A-01", "descriptor /a"), ("LRO-B-01", "descriptor /b"), ("LRO-A-02", "descriptor /a"))
    ]
    return report(*results, levels={1: "failed", 2: "failed", 3: "failed"}, achieved=0)


def test_failures_are_grouped_by_cause_with_the_evidence_once():
    page = parsed(one_cause())
    assert page.xpath("//section[@class='part']//details[starts-with(@id, 'LRO')]/@id") == [
        "LRO-A-01",
        "LRO-A-02",
        "LRO-B-01",
    ]
    assert page.xpath("//details[@open]/@id") == ["LRO-A-01", "LRO-B-01"]
    assert "Same cause as LRO-A-01" in texts(page, "//details[@id='LRO-A-02']//p[@class='causes']")[0]
    assert page.xpath("//details[@id='LRO-A-02']//ol") == []
    assert "LRO-A-02 as well" in texts(page, "//details[@id='LRO-A-01']//p[@class='causes']")[0]
    assert texts(page, "//p[@class='next']") == [
        "Next: fix these 2: LRO-A-01 (and 1 with the same cause), LRO-B-01, and level 3 is proved."
    ]


def test_the_grid_says_what_its_marks_mean():
    page = parsed(mixed())
    legend = texts(page, "//section[@class='grid']//p[@class='legend']//span[contains(@class, 'verdict')]")
    assert {"○ not-judged", "· not-applicable", "✗ fail"} <= {" ".join(text.split()) for text in legend}
    marks = {" ".join(text.split()) for text in texts(page, "//section[@class='grid']//a")}
    assert marks == {text.split()[0] for text in legend}


def test_a_baseline_says_whether_the_gate_is_open():
    failed = report(judged("LRO-A-01", Verdict.FAIL), levels={1: "failed", 2: "failed", 3: "failed"}, achieved=0)
    accepted = Acceptance("file.lro_a_01", "LRO-A-01", Verdict.FAIL, "2099-01-01", "issue 123", "accepted")
    page = parsed(replace(failed, baseline=(accepted,)))
    assert texts(page, "//p[@class='gate']") == ["Gate: green, exit code 0: the baseline accepts all that fails."]
    assert texts(parsed(failed), "//p[@class='gate']") == []


def test_the_offending_key_and_value_are_marked():
    page = parsed(one_cause())
    (line,) = page.xpath("//details[@id='LRO-A-01']//li[contains(@class, 'marked')]")
    assert texts(line, ".//mark") == ['"content": "text"']
    assert texts(line, ".//span[@class='here']") == ["observed here: content"]
    assert page.xpath("//details[@id='LRO-A-01']//li[contains(., '^~')]") == []


def test_each_call_is_shown_on_its_side_of_the_threshold():
    calls = (
        DecidedCall("recall", "light", 2737, 2737, "inline"),
        DecidedCall("recall", "light", 2737, 2736, "offloaded"),
        DecidedCall("recall", "", 9000, 6400, "inline"),
        DecidedCall("inject", "", 100, 6400, "inline"),
    )
    picture = threshold_picture(mixed(decided=calls))
    assert picture is not None
    recall, inject = picture.strips
    assert [(d.x < picture.boundary, d.outcome, d.is_right) for d in recall.dots] == [
        (True, "inline", True),
        (False, "offloaded", True),
        (False, "inline", False),
    ]
    assert recall.in_words == "recall: 1 inline at or below the threshold, 1 offloaded above it, 1 wrong"
    assert (len(inject.dots), threshold_picture(mixed())) == (1, None)
    assert all(0 < x < 100 for x, _ in picture.ticks)
    page = parsed(mixed(decided=calls))
    assert page.xpath("//svg[@role='img']/@aria-label")[3:] == [recall.in_words, inject.in_words]
    assert len(page.xpath("//section[@class='threshold']//tbody/tr")) == 4


def test_the_page_begins_with_levels_then_grid_then_threshold_then_the_rest():
    page = to_html(mixed(decided=(DecidedCall("recall", "", 2, 1, "offloaded"),)))
    places = [page.index(text) for text in ('class="bars"', 'id="grid"', 'id="threshold"', 'id="summary"', "<form")]
    assert places == sorted(places)
