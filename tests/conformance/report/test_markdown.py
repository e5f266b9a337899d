"""Markdown as GitHub renders it: what a server said is text in it, and the whole is never too large to be shown."""

from __future__ import annotations

import re

import pytest
from lxml import etree

from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.formats.markdown import MAX_BYTES, block, code, to_markdown
from lro_conformance.report.load import read_report
from lro_conformance.report.sanitize import lines, one_line
from tests.support.paths import DATA
from tests.support.renderings import elements, shown
from tests.support.report_samples import ATTACKS, hostile, judged, mixed, report

REPORTS = DATA / "reports"
OURS = {
    "div",
    "h2",
    "h3",
    "p",
    "strong",
    "code",
    "pre",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "details",
    "summary",
}


def texts(made: etree._Element, tag: str) -> list[str]:
    return ["".join(e.itertext()) for e in made.iter(tag)]


@pytest.mark.parametrize("made", [hostile(), mixed(), read_report(REPORTS / "equal.json")])
def test_nothing_but_our_own_elements_comes_of_it(made: Report):
    page = shown(to_markdown(made))
    assert elements(page) <= OURS
    assert [e.attrib for e in page.iter() if isinstance(e.tag, str) and set(e.attrib) - {"lang"}] == []
    assert len(texts(page, "h2")) == 1
    assert len(texts(page, "details")) == to_markdown(made).count("<details>")


@pytest.mark.parametrize("said", ATTACKS.values(), ids=ATTACKS)
def test_what_was_said_is_shown_as_it_was(said: str):
    page = shown(f"| a | b |\n|---|---|\n| {code(said)} | x |\n\n{block(lines(said))}\n")
    assert texts(page, "td") == [one_line(said), "x"]
    assert texts(page, "pre") == ["\n".join(lines(said)) + "\n"]


def test_tables_keep_their_shape():
    page = shown(to_markdown(hostile()))
    rows = [row for t in page.iter("table") for row in {len(r) for r in t.iter("tr")}]
    assert set(rows) == {2, 4}
    assert [len({len(r) for r in t.iter("tr")}) for t in page.iter("table")] == [1] * len(list(page.iter("table")))


def test_a_failure_is_there_with_all_that_a_reader_needs():
    page = shown(to_markdown(read_report(REPORTS / "equal.json")))
    assert texts(page, "h2") == ["❌ plain-memory: no level proved, level 2 claimed (lro-6400)"]
    assert texts(page, "h3") == ["❌ LRO-THR-07 At the threshold means inline"]
    (evidence,) = texts(page, "pre")
    assert re.search("^→ {", evidence, re.MULTILINE)
    text = "".join(page.itertext())
    assert "recall, a result of 2737 tokens at threshold 2737, is returned inline" in text
    assert "Fix: Compare with >, not >=" in text


def test_a_report_without_a_verdict_has_no_sign_of_failure():
    page = shown(to_markdown(report(implemented=None, achieved=0, levels=dict.fromkeys((1, 2, 3), "unproved"))))
    (title,) = texts(page, "h2")
    assert title.startswith("❔ ")
    assert title.endswith(": no level proved (lro-6400)")


def test_a_failure_comes_with_the_command_that_shows_it_again():
    page = shown(to_markdown(mixed()))
    assert texts(page, "pre")[1] == "printf '%s' LRO-FILE-06 | serve\n"
    long = report(judged("LRO-A-01", Verdict.FAIL, reproduce="x" * 20_000))
    assert "xxx" not in to_markdown(long)
    paragraphs = texts(shown(to_markdown(long)), "p")
    assert (
        "Reproduce: lro certify --only LRO-A-01 -v prints the script of 20,000 characters; the HTML and JSON reports "
        "have it, too."
    ) in paragraphs


def test_a_proof_is_short_with_the_details_folded():
    page = shown(to_markdown(read_report(REPORTS / "reference.json")))
    assert texts(page, "h2") == ["✅ lro-reference: level 3 proved (lro-6400)"]
    assert texts(page, "h3") == []
    assert texts(page, "summary") == ["All requirements (111)"]


def test_no_verdict_says_why():
    page = shown(to_markdown(report(failure="exit code 1\nno database")))
    assert texts(page, "h2") == ["💥 No verdict on memories"]
    assert texts(page, "pre") == ["exit code 1\nno database\n"]


def test_what_is_too_much_for_a_summary_is_left_to_the_json_report():
    failed = [judged(f"LRO-A-{n}", Verdict.FAIL, evidence="\n".join(["x" * 5_000] * 50)) for n in range(100)]
    text = to_markdown(report(*failed))
    assert 800_000 < len(text.encode()) <= MAX_BYTES + 100
    assert text.endswith("… see the JSON report for the rest.\n")
    assert "5,000 characters; complete in the JSON report" in text
    assert text.count("<details>") == text.count("</details>")


def test_failures_of_one_cause_are_folded_below_the_first_without_the_evidence_again():
    results = [judged(f"LRO-A-0{n}", Verdict.FAIL, place="descriptor /a", evidence="← the evidence") for n in (1, 2, 3)]
    shown = to_markdown(report(*results))
    assert shown.count("← the evidence") == 1
    assert (
        shown.index("### ❌ LRO-A-01") < shown.index("Same cause: LRO-A-02, LRO-A-03") < shown.index("LRO-A-02 title")
    )


def test_code_in_a_fix_is_code():
    shown = to_markdown(read_report(REPORTS / "equal.json"))
    assert "**Fix:** Compare with <code>&#62;</code>, not <code>&#62;=</code>, and write" in shown
    assert "&#96;" not in shown.partition("**Fix:**")[2].partition("\n")[0]


def test_a_long_script_of_a_trouble_is_not_printed_either():
    ended = judged("LRO-A-01", Verdict.NOT_OBSERVED, observed="the server exited", reproduce="x" * 20_000)
    page = to_markdown(report(ended))
    assert "xxx" not in page
    assert "--only LRO-A-01 -v" in page
