"""Reports and comparisons look as they did (tests/support/pictures.py), and axe finds nothing in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lro_conformance.judging.results import Report
from lro_conformance.report.compare import matrix
from lro_conformance.report.compare_views import to_html as compared_html
from lro_conformance.report.formats.html import to_html
from lro_conformance.report.load import read_report
from tests.support.browser import browser, visit
from tests.support.paths import DATA
from tests.support.pictures import COMPARED, HEIGHT, MOST, PICTURES, VIEWS, assert_looks_as_it_did, differ
from tests.support.report_samples import mixed

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["browser"]  # the fixture


def sample() -> Report:
    return read_report(DATA / "reports" / "sample.json")


def several() -> list[Report]:
    names = ("equal", "reference", "sample")
    return [read_report(DATA / "reports" / f"{name}.json") for name in names]


def runs() -> list[Report]:
    server = sample().server
    days = (f"2026-11-{day}T10:00:00Z" for day in (20, 21, 22))
    return [replace(r, server=server, started_at=day) for r, day in zip(several(), days, strict=True)]


PAGES: dict[str, Callable[[], str]] = {
    "report": lambda: to_html(sample()),
    "all-verdicts": lambda: to_html(mixed()),
    "scoreboard": lambda: compared_html(matrix(several(), ["a.json", "b.json", "c.json"])),
    "trend": lambda: compared_html(matrix(runs(), ["a.json", "b.json", "c.json"])),
}


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_looks_as_it_did(browser: Browser, tmp_path: Path, name: str, width: int, scheme: str) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGES[name](), encoding="utf-8")
    assert_looks_as_it_did(browser, page, name, width, scheme)


def test_another_page_and_an_empty_one_would_be_noticed(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><title>x</title>", encoding="utf-8")
    with visit(browser, page, viewport={"width": 1280, "height": HEIGHT}) as seen:
        empty = seen.page.screenshot()
    kept = (PICTURES / "report-1280-light.png").read_bytes()
    assert differ(browser, empty, kept, COMPARED) > 2 * MOST
    assert differ(browser, (PICTURES / "trend-1280-light.png").read_bytes(), kept, 2 * COMPARED) > 1.5 * MOST
