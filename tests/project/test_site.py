"""The documents as a site: what a requirement's page says, where links go, and that no page asks another machine."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lro_conformance.cli.explain import Explanation, as_markdown, as_text, examples, explanation
from lro_conformance.report.catalogue import check_names
from lro_conformance.report.formats.html import to_html
from lro_conformance.report.load import read_report
from lro_spec.catalogue import catalogue, chapters, requirement
from tests.servers.editions.catalogue import variants
from tests.servers.faults.catalogue import faults
from tests.support.browser import browser, violations
from tests.support.paths import ROOT
from tests.support.pictures import EXAMINED, HEIGHT, VIEWS, assert_is_as_kept, bars

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["browser"]  # the fixture

JUDGED = [r for r in catalogue() if r.excluded is None]


@cache
def explained(id: str) -> Explanation:
    """The page of a requirement: made once for all that looks at it."""
    return explanation(requirement(id))


@cache
def pages() -> Mapping[str, str]:
    return {r.id: "\n".join(as_markdown(explained(r.id), lambda id: f"{id}.md")) for r in catalogue()}


# What a page says


def test_every_judged_requirement_shows_a_pass_and_a_failure():
    lacking = [r.id for r in JUDGED if {"pass", "fail"} - set(examples().get(r.id, ()))]
    assert lacking == [], "record them: python tests/tools/examples.py --missing"


def test_examples_are_of_servers_and_checks_that_there_are():
    broken, checks = {**faults(), **variants()}, set(check_names())
    for key, recorded in examples().items():
        id = key.partition(" ")[0]
        if "fail" in recorded:
            assert broken[recorded["fail"]["server"]].requirement == id
        assert {example["check"] for example in recorded.values()} <= checks, key


def test_a_failure_that_is_shown_is_the_one_that_the_fault_must_be_blamed_for():
    broken = {**faults(), **variants()}
    for id, recorded in examples().items():
        if (bad := recorded.get("fail")) is None:
            continue
        said = f"{bad['expected']}: {bad['observed']}"
        says = broken[bad["server"]].says.lower()
        assert says in said.lower() or "…" in said, id  # long messages are cut


def test_a_page_tells_what_other_editions_make_of_a_requirement():
    paper, later = "`lro-paper` (MUST, level 3): same statement.", "`lro-1600` (MUST, level 1): Without a configured"
    shown = {
        id: next((s.parts for s in explained(id).sections if "other editions" in s.heading), ())
        for id in ("LRO-CLN-01", "LRO-THR-01", "LRO-THR-07")
    }
    assert shown["LRO-CLN-01"] == (paper,)
    assert str(shown["LRO-THR-01"][0]).startswith(later)
    assert shown["LRO-THR-07"] == ()


def test_the_terminal_and_the_page_say_the_same():
    for r in catalogue():
        page = explained(r.id)
        text = "".join(" ".join(as_text(page, 72)).split())
        for section in page.sections:
            for part in section.parts:
                lines = part.lines if not isinstance(part, str) else (part,)
                for line in lines:
                    assert "".join(line.split()) in text, r.id


@pytest.mark.parametrize("width", [40, 72, 200])
def test_no_line_is_wider_than_the_terminal(width: int):
    for r in catalogue():
        assert max(len(line) for line in as_text(explained(r.id), width)) <= width, r.id


def test_a_page_links_the_requirements_and_readings_that_it_names():
    page = pages()["LRO-THR-07"]
    assert "[I-31](I-31.md)" in page
    assert "[LRO-THR-02](LRO-THR-02.md)" in pages()["LRO-THR-05"]


def test_what_the_catalogue_says_is_no_markup():
    for id, page in pages().items():
        prose = re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE))
        assert not re.search(r"(?<!\\)<", prose), id
        assert len(re.findall(r"(?<!\\)\*", prose)) == 2, id  # around the line of facts


# How the site is put together


@pytest.fixture(scope="module")
def build() -> Iterator[object]:
    pytest.importorskip("griffe", reason="griffelib is not installed (extra: docs)")
    sys.path.insert(0, str(ROOT / "docs" / "site"))
    try:
        import build

        yield build
    finally:
        sys.path.remove(str(ROOT / "docs" / "site"))


@pytest.fixture(scope="module")
def staged(build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages that the site is built from, only to be read."""
    folder = tmp_path_factory.mktemp("staged")
    build.stage(folder)
    return folder


def test_links_lead_to_where_documents_lie_on_the_site(build):
    text = "[a](../README.md#x) [b](../schemas/report.schema.json) [c](ci.md) LRO-THR-07, `LRO-THR-07` [d](../tests)\n"
    assert build.moved(text, "docs/reports.md", {"LRO-THR-07"}) == (
        "[a](overview.md#x) [b](reference/schemas/report.md) [c](ci.md) "
        "[LRO-THR-07](reference/requirements/LRO-THR-07.md), `LRO-THR-07` d\n"
    )
    with pytest.raises(ValueError, match="there is no nowhere"):
        build.moved("[a](../nowhere.md)", "docs/reports.md", set())


def test_what_a_page_would_fetch_from_elsewhere_is_found(build, tmp_path: Path):
    (tmp_path / "a.html").write_text('<a href="https://a.example">x</a><script src="//b.example/x.js"></script>')
    (tmp_path / "b.css").write_text("@import 'https://c.example/x.css'; a { background: url(x.png) }")
    assert list(build.from_elsewhere(tmp_path)) == ["a.html: //b.example/x.js", "b.css: https://c.example/x.css"]


def test_requirements_lead_to_their_checks_vectors_and_faults_and_back(staged: Path):
    folder = staged / "reference"
    texts = {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in folder.rglob("*.md")}
    for r in JUDGED:
        page = texts[f"requirements/{r.id}.md"]
        links = re.findall(r"\]\(\.\./([\w/-]+\.md)#([\w-]+)\)", page)
        targets = {
            target.partition("/")[0] for target, _ in links if target.startswith(("checks", "faults", "vectors"))
        }
        assert {"checks.md", "faults.md"} <= targets, r.id
        assert "vectors" in targets or "## Vectors" in page or r.keyword != "MUST", r.id
        for target, anchor in links:
            if target.startswith(("checks", "faults", "vectors")):
                line = next(line for line in texts[target].splitlines() if f'id="{anchor}"' in line)
                assert f"requirements/{r.id}.md" in line


def test_vectors_lead_to_the_servers_that_they_were_captured_from(staged: Path):
    folder = staged / "reference"
    servers = set(re.findall(r'<span id="([\w-]+)">', (folder / "faults.md").read_text(encoding="utf-8")))
    rows = "\n".join(p.read_text(encoding="utf-8") for p in (folder / "vectors").glob("*.md"))
    captured = re.findall(r'<span id="documents-(?:sound-)?([\w-]+)">.*\(\.\./faults\.md#([\w-]+)\)', rows)
    assert len(captured) > 100
    assert [pair for pair in captured if pair[0] != pair[1] or pair[1] not in servers] == []


def test_the_reference_tells_of_every_command_schema_and_name(staged: Path):
    commands = (staged / "reference/command-line.md").read_text(encoding="utf-8")
    assert "## lro certify" in commands
    assert "--evidence DIR" in commands
    assert "threshold_tokens" in (staged / "reference/schemas/profile.md").read_text(encoding="utf-8")
    python = (staged / "reference/python.md").read_text(encoding="utf-8")
    assert "validate_file(\n    source: str" in python
    assert "Findings about an offloaded file, while it is read" in python
    ids = {r.id for chapter in chapters() for r in chapter.requirements}
    assert {p.stem for p in (staged / "reference/requirements").glob("LRO-*.md")} == ids


def test_the_front_page_says_what_it_is_and_shows_a_command_a_report_and_a_picture():
    text = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    title, sentence, command, picture = text.split("\n\n")[:4]
    assert title == "# lro-spec"
    assert sentence.count(".") == 1
    assert command.startswith("```sh\nlro certify")
    for name in re.findall(r"(?:href|src|srcset)=\"([^\"]+)\"", picture):
        assert (ROOT / "docs" / name).is_file()
    assert "alt=" in picture


def test_the_sample_report_is_the_rendering_of_the_kept_one():
    kept = read_report(ROOT / "tests/data/reports/sample.json")
    page = (ROOT / "docs/sample/report.html").read_text(encoding="utf-8")
    assert page == to_html(kept), "render it again: python -m tests.tools.sample --again"
    assert str(ROOT) not in page


def test_the_page_of_results_is_made_of_what_was_kept():
    pytest.importorskip("bpe_openai", reason="the extra bench is not installed")
    from tests.tools import results

    kept = json.loads(results.KEPT.read_text(encoding="utf-8"))
    assert results.PAGE.read_text(encoding="utf-8") == results.page(kept)
    assert [row["name"] for row in kept] == list(results.entries())


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "docs/site/mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = set(re.findall(r": (\S+\.md)$", navigation, re.MULTILINE))
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")} - {"README.md"}
    assert written - listed == set()


# In a browser


@pytest.fixture(scope="module")
def site(build, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of the built site: the one that LRO_SITE names, and with ``--long`` one of our own."""
    folder = Path(os.environ.get("LRO_SITE", ""))
    if "LRO_SITE" not in os.environ:
        if not request.config.getoption("--long"):
            pytest.skip("LRO_SITE names no built site")
        folder = tmp_path_factory.mktemp("site")
        assert build.build(folder) == []

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


PAGES = {
    "": "lro-spec",
    "reference/requirements/LRO-THR-07/": "offloads_at_equal_threshold",
    "results/": "server-filesystem",
    "results/scoreboard.html": "Scoreboard",
    "sample/report.html": "Calls that test the threshold",
}
PICTURED = {"": "front", "results/": "results"}


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_asks_no_other_machine_and_axe_finds_nothing(
    browser: Browser, site: str, page: str, width: int, scheme: str
):
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": HEIGHT})
    asked: list[str] = []
    trouble: list[str] = []
    seen = context.new_page()
    seen.on("request", lambda request: asked.append(request.url))
    seen.on("console", lambda said: trouble.append(said.text) if said.type == "error" else None)
    seen.on("pageerror", lambda problem: trouble.append(str(problem)))
    try:
        seen.goto(f"{site}/{page}", wait_until="networkidle")
        assert PAGES[page] in seen.inner_text("body")
        assert [url for url in asked if not url.startswith((site, "data:", "blob:"))] == []
        assert trouble == []
        assert seen.evaluate("document.documentElement.scrollWidth") <= width
        if (width, scheme) in EXAMINED:
            assert violations(seen) == []
        if page in PICTURED:
            seen.add_style_tag(content=bars())
            seen.evaluate("document.fonts.ready")
            assert_is_as_kept(browser, seen.screenshot(), f"site-{PICTURED[page]}", width, scheme)
    finally:
        context.close()


BROKEN = """() => [...document.querySelectorAll("article a, article code")]
  .filter((e) => /^(LRO-[A-Z]+-[0-9]{2}|[IE]-[0-9]{2})$/.test(e.textContent) && e.getClientRects().length > 1)
  .map((e) => e.textContent)"""


@pytest.mark.parametrize(
    "page",
    [
        "reference/requirements/",
        "reference/requirements/LRO-THR-07/",
        "reference/checks/",
        "reference/faults/",
        "detection/",
        "interpretations/",
        "levels/",
    ],
)
def test_an_id_is_on_one_line(browser: Browser, site: str, page: str):
    context = browser.new_context(viewport={"width": 1280, "height": HEIGHT})
    try:
        seen = context.new_page()
        seen.goto(f"{site}/{page}", wait_until="networkidle")
        assert seen.evaluate(BROKEN) == []
        seen.set_viewport_size({"width": 390, "height": HEIGHT})
        assert seen.evaluate("innerWidth") == 390
        assert seen.evaluate(BROKEN) == []
    finally:
        context.close()
