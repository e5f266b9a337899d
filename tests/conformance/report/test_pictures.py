"""Pictures of pages: on a desk and on a phone, light and dark, held against pictures in tests/data/pictures.

Pictures are kept small and compared smaller still, so that other fonts do not matter, but a bar that is gone does.
``LRO_PICTURES=write pytest tests/conformance/report/test_pictures.py`` takes them again; look at them.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lro_conformance.judging.results import Report
from lro_conformance.report.compare import matrix
from lro_conformance.report.compare_views import to_html as compared_html
from lro_conformance.report.formats.html import to_html
from lro_conformance.report.load import read_report
from tests.support.browser import browser, visit
from tests.support.paths import DATA
from tests.support.report_samples import mixed

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["browser"]  # the fixture

PICTURES = DATA / "pictures"
HEIGHT = 1000
KEPT, COMPARED = 0.25, 1 / 16
"""Scales of what is kept and of what is compared."""
MOST = 0.3
"""Largest share of a picture's ink that may be elsewhere; another page has 0.6 or more, an empty one 1."""

DIFFERENCE = """async ([a, b, scale]) => {
  const pixels = async (url, size) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const [width, height] = size ?? [image.width, image.height].map((n) => Math.round(n * scale));
    const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, width, height);
    return [context.getImageData(0, 0, width, height).data, [width, height], canvas];
  };
  const [one, size, canvas] = await pixels(a, null);
  const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
  if (b === null) return btoa(String.fromCharCode(...bytes));
  const [other] = await pixels(b, size);
  let ink = 0, elsewhere = 0;
  one.forEach((value, n) => {
    ink += Math.abs(other[n] - other[n % 4]);
    elsewhere += Math.abs(value - other[n]);
  });
  return elsewhere / Math.max(1, ink);
}"""


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


def url(picture: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(picture).decode()


def shot(browser: Browser, page: Path, width: int, scheme: str) -> bytes:
    with visit(browser, page, viewport={"width": width, "height": HEIGHT}, color_scheme=scheme) as seen:
        assert seen.trouble == []
        assert seen.page.evaluate("document.documentElement.scrollWidth") == width
        return seen.page.screenshot()


def differ(browser: Browser, a: bytes, b: bytes | None, scale: float) -> Any:
    page = browser.new_page()
    try:
        return page.evaluate(DIFFERENCE, [url(a), None if b is None else url(b), scale])
    finally:
        page.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_looks_as_it_did(browser: Browser, tmp_path: Path, name: str, width: int, scheme: str) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGES[name](), encoding="utf-8")
    taken = shot(browser, page, width, scheme)
    kept = PICTURES / f"{name}-{width}-{scheme}.png"
    if os.environ.get("LRO_PICTURES") == "write":
        kept.write_bytes(base64.b64decode(differ(browser, taken, None, KEPT)))
    assert differ(browser, taken, kept.read_bytes(), COMPARED) < MOST


def test_another_page_and_an_empty_one_would_be_noticed(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><title>x</title>", encoding="utf-8")
    empty = shot(browser, page, 1280, "light")
    kept = (PICTURES / "report-1280-light.png").read_bytes()
    assert differ(browser, empty, kept, COMPARED) > 2 * MOST
    assert differ(browser, (PICTURES / "trend-1280-light.png").read_bytes(), kept, 2 * COMPARED) > 1.5 * MOST
