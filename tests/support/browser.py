"""A real browser for tests of pages, where there is one."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Names of the browser's program, the one without windows first, which takes half the time; playwright's own browser is
taken where there is none of them."""

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-font-subpixel-positioning")
"""Options of the program. Without subpixel positions lines break at the same words in each of these browsers."""


@dataclass
class Visit:
    """A page as it was visited, and what went on meanwhile."""

    page: Page
    trouble: list[str] = field(default_factory=list[str])
    """Errors of scripts, what the console complained of, dialogs, and requests for anything but the page."""

    def dismiss(self, box: Dialog) -> None:
        """Note a dialog, and close it."""
        self.trouble.append(f"dialog: {box.message}")
        box.dismiss()

    def shown(self, selector: str) -> list[str]:
        """The texts of the elements that can be seen, spaces made one."""
        texts = [e.inner_text() for e in self.page.query_selector_all(selector) if e.is_visible()]
        return [" ".join(text.split()) for text in texts]


SOCKET = "org.chromium.Chromium.XXXXXX/SingletonSocket"
"""The socket of a running Chromium, below the folder for temporary files; its path has at most 107 bytes on Linux."""


@contextmanager
def temporary_folder() -> Generator[str]:
    """The folder for temporary files of a browser: the usual one, or a new one where its path would be too long."""
    usual = tempfile.gettempdir()
    if len(os.fsencode(os.path.join(usual, SOCKET))) <= 107:
        yield usual
        return
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="lro-") as short:
        yield short


@contextmanager
def chromium(playwright: Playwright, **options: Any) -> Generator[Browser]:
    """Chromium, without a window: the system's own, or else that of playwright."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    with temporary_folder() as folder:
        environment: dict[str, str | float | bool] = {**os.environ, "TMPDIR": folder}
        # no sandbox: it is refused to the superuser, whom containers run tests as; the pages are our own
        started = playwright.chromium.launch(executable_path=path, args=ARGUMENTS, env=environment, **options)
        try:
            yield started
        finally:
            started.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, without a window."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra: browser)")
    with sync_api.sync_playwright() as playwright, ExitStack() as stack:
        try:
            started = stack.enter_context(chromium(playwright, timeout=60_000))
        except sync_api.Error as problem:
            pytest.skip(f"no Chromium could be started: {str(problem).splitlines()[0]}")
        yield started


@contextmanager
def visit(browser: Browser, path: Path, *, at: str = "", **options: Any) -> Generator[Visit]:
    """Opens a page; *options* are those of a browser context, like ``color_scheme`` or ``viewport``."""
    context = browser.new_context(**options)
    try:
        made = Visit(context.new_page())
        url = path.as_uri()
        made.page.on("console", lambda said: made.trouble.append(f"console: {said.text}"))
        made.page.on("pageerror", lambda problem: made.trouble.append(f"script: {problem}"))
        made.page.on("dialog", made.dismiss)
        made.page.on(
            "request",
            lambda asked: made.trouble.append(f"request: {asked.url}") if asked.url.partition("#")[0] != url else None,
        )
        made.page.goto(f"{url}{at}")
        yield made
    finally:
        context.close()


def violations(page: Page) -> list[str]:
    """The violations that axe finds on a page as it is now."""
    axe_module = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    found = axe_module.Axe().run(page).response["violations"]
    return [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]} ({len(v['nodes'])} places)" for v in found]
