"""The HTML page in a real Chromium: what is seen, the filter, the keyboard, and that nothing leaves the page."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lro_conformance.report.compare import compare, matrix
from lro_conformance.report.compare_views import to_html as compared_html
from lro_conformance.report.formats.html import to_html
from lro_conformance.report.load import read_report
from tests.support.browser import browser, violations, visit
from tests.support.paths import DATA, ROOT
from tests.support.report_samples import hostile, mixed

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["browser"]  # the fixture

MADE = {
    "mixed": mixed,
    "hostile": hostile,
    "equal": lambda: read_report(DATA / "reports" / "equal.json"),
}
PHONE = {"viewport": {"width": 360, "height": 700}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("pages")

    def written(name: str) -> Path:
        path = folder / f"{name}.html"
        path.write_text(to_html(MADE[name]()), encoding="utf-8")
        return path

    return written


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("mixed", "light"),
        ("hostile", "dark"),
        pytest.param("equal", "light", marks=pytest.mark.long),
        pytest.param("equal", "dark", marks=pytest.mark.long),
    ],
)
def test_axe_finds_nothing_and_nothing_leaves_the_page(
    browser: Browser, page_of: Callable[[str], Path], name: str, scheme: str
):
    with visit(browser, page_of(name), color_scheme=scheme) as seen:
        seen.page.click("text=Open all")
        assert violations(seen.page) == []
        assert seen.trouble == []


@pytest.mark.parametrize(("kind", "scheme"), [("two", "dark"), ("matrix", "light")])
def test_axe_finds_nothing_in_comparisons_and_nothing_leaves_them(
    browser: Browser, tmp_path: Path, kind: str, scheme: str
):
    reports = [mixed(), hostile(), MADE["equal"]()]
    made = compare(*reports[:2], ("a", "b")) if kind == "two" else matrix(reports, ["a", "b", "c"], show_all=True)
    path = tmp_path / "compared.html"
    path.write_text(compared_html(made), encoding="utf-8")
    with visit(browser, path, color_scheme=scheme) as seen:
        assert violations(seen.page) == []
        assert seen.trouble == []
        for width in (1280, 390):
            seen.page.set_viewport_size({"width": width, "height": 800})
            assert seen.page.evaluate("document.documentElement.scrollWidth") == width


def test_the_heads_of_a_long_matrix_stay_in_sight_and_a_row_has_an_address(browser: Browser, tmp_path: Path):
    path = tmp_path / "matrix.html"
    path.write_text(compared_html(matrix([MADE["equal"]()] * 3, ["a", "b", "c"], show_all=True)), encoding="utf-8")
    with visit(browser, path, viewport={"width": 1280, "height": 800}) as seen:
        head = "document.querySelector('.tall thead th').getBoundingClientRect()"
        before = seen.page.evaluate(f"{head}.top")
        seen.page.evaluate("document.querySelector('.tall').scrollTop = 600")
        assert seen.page.evaluate("document.querySelector('.tall').scrollTop") == 600
        assert abs(seen.page.evaluate(f"{head}.top") - before) < 2
        assert seen.page.evaluate(f"{head}.height") < 60
        seen.page.click("text=LRO-THR-07")
        assert seen.page.evaluate("location.hash") == "#LRO-THR-07"
        assert seen.page.is_visible("tr:target >> text=LRO-THR-07")


def test_light_and_dark_follow_the_reader(browser: Browser, page_of: Callable[[str], Path]):
    def ground(scheme: str) -> str:
        with visit(browser, page_of("mixed"), color_scheme=scheme) as seen:
            return seen.page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert (ground("light"), ground("dark")) == ("rgb(255, 255, 255)", "rgb(20, 23, 27)")


def test_filter_by_verdict_level_and_text(browser: Browser, page_of: Callable[[str], Path]):
    with visit(browser, page_of("mixed")) as seen:
        assert seen.shown("#shown") == ["10 of 10 requirements"]
        seen.page.uncheck("[name=verdict][value=pass]")
        assert seen.shown("#shown") == ["8 of 10 requirements"]
        assert seen.shown(".part h2") == [
            "Not met 2",
            "Warnings 2",
            "Not observed 2",
            "Not judged 1",
            "Not applicable 1",
        ]
        seen.page.uncheck("[name=level][value='1']")
        assert seen.shown(".entry .id") == ["LRO-HARD-01", "LRO-REC-04", "LRO-CLN-01", "LRO-ERR-04"]
        seen.page.fill("[name=text]", "AUDIT may")
        assert seen.shown(".entry .id") == ["LRO-ERR-04"]
        seen.page.click("button[type=reset]")
        seen.page.locator("#shown", has_text="10 of 10").wait_for()
        assert len(seen.shown(".entry")) == 10
        assert seen.trouble == []


def test_a_link_into_what_is_folded_or_filtered_leads_there(browser: Browser, page_of: Callable[[str], Path]):
    with visit(browser, page_of("equal"), at="#LRO-FILE-01") as seen:
        assert seen.page.eval_on_selector("#LRO-FILE-01", "e => e.open")
        seen.page.uncheck("[name=verdict][value=fail]")
        assert seen.shown("#LRO-THR-07") == []
        seen.page.click(".levels a >> nth=0")
        assert len(seen.shown("#LRO-THR-07")) == 1
        seen.page.click("text=see line 4")
        assert seen.page.is_visible("li.marked:target")


def test_the_command_that_shows_a_failure_again_can_be_copied(browser: Browser, page_of: Callable[[str], Path]):
    with visit(browser, page_of("mixed"), permissions=["clipboard-read", "clipboard-write"]) as seen:
        seen.page.click("#LRO-FILE-06 >> text=Reproduce")
        seen.page.click("#LRO-FILE-06 >> text=Copy the command")
        seen.page.wait_for_selector("text=Copied")
        assert seen.page.evaluate("navigator.clipboard.readText()") == "printf '%s' LRO-FILE-06 | serve"


def test_everything_can_be_reached_and_worked_by_keyboard(browser: Browser, page_of: Callable[[str], Path]):
    with visit(browser, page_of("mixed")) as seen:
        focused = "document.activeElement"
        seen.page.keyboard.press("Tab")
        assert seen.page.evaluate(f"{focused}.textContent") == "Skip to the requirements"
        seen.page.keyboard.press("Enter")
        for _ in range(40):
            seen.page.keyboard.press("Tab")
            if seen.page.evaluate(f"{focused}.value") == "pass":
                seen.page.keyboard.press("Space")
            if seen.page.evaluate(f"{focused}.parentElement.id") == "LRO-GUI-03":
                seen.page.keyboard.press("Enter")
                break
        assert seen.shown("#shown") == ["8 of 10 requirements"]
        assert seen.page.eval_on_selector("#LRO-GUI-03", "e => e.open")


@pytest.mark.parametrize("name", ["hostile", "equal"])
def test_a_phone_scrolls_in_one_direction_only(browser: Browser, page_of: Callable[[str], Path], name: str):
    with visit(browser, page_of(name), **PHONE) as seen:
        seen.page.tap("text=Open all")
        assert seen.page.evaluate("document.documentElement.scrollWidth") == 360


def test_without_scripts_all_is_there_and_no_filter_that_does_nothing(browser: Browser, page_of: Callable[[str], Path]):
    with visit(browser, page_of("mixed"), java_script_enabled=False) as seen:
        assert len(seen.shown(".entry")) == 10
        assert seen.shown("#filter") == []


def test_the_browser_starts_where_the_folder_for_temporary_files_has_a_long_path(
    browser: Browser, tmp_path: Path
) -> None:
    """A second process, as the folder is read when a browser starts; it is skipped where the first is."""
    folder = tmp_path / ("long" * 25)
    folder.mkdir()
    script = "from playwright.sync_api import sync_playwright\nfrom tests.support.browser import chromium\n"
    script += "with sync_playwright() as p, chromium(p) as started:\n    print(started.is_connected())\n"
    argv, environment = [sys.executable, "-c", script], {**os.environ, "TMPDIR": str(folder)}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=100, check=False, cwd=ROOT, env=environment)
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr
    assert list(folder.iterdir()) == []
