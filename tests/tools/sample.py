"""Writes the sample report of the documents: ``python -m tests.tools.sample [--again]``.

Certifies one server with a fault (`NAME`), keeps the report in tests/data/reports/sample.json, and renders it as
docs/sample/report.html with a picture in both schemes. ``--again`` renders the kept report, after a change of the page.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from lro_conformance.engine.run import certify
from lro_conformance.profile import profile_for_command
from lro_conformance.report.formats.html import to_html
from lro_conformance.report.load import read_report
from tests.support.browser import chromium
from tests.support.paths import DATA, ROOT

NAME = "one_light_record_in_fifty_keeps_its_content"
KEPT = DATA / "reports" / "sample.json"
FOLDER = ROOT / "docs" / "sample"
WIDTH, HEIGHT = 900, 1020


def main() -> None:
    if "--again" not in sys.argv:
        os.chdir(ROOT)
        report = certify(profile_for_command(["python3", "-I", "-S", "tests/servers/run.py", NAME]), seed=1)
        text = json.dumps(report.to_dict(), ensure_ascii=False, indent=1).replace(str(ROOT), "/srv/memories")
        KEPT.write_text(text + "\n", encoding="utf-8")
    FOLDER.mkdir(exist_ok=True)
    page = FOLDER / "report.html"
    page.write_text(to_html(read_report(KEPT)), encoding="utf-8")
    _photograph(page)


def _photograph(page: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, chromium(playwright) as browser:
        for scheme in ("light", "dark"):
            shown = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
            shown.goto(page.as_uri())
            shown.screenshot(path=FOLDER / f"report-{scheme}.png")


if __name__ == "__main__":
    main()
