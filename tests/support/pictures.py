"""Pictures of pages: on a desk and on a phone, light and dark, held against pictures in tests/data/pictures.

Pictures are kept small and compared smaller still, so that a title in another font does not matter, but a bar that is
gone does. A page of prose is pictured in `bars`, since another font would break its lines elsewhere.
``LRO_PICTURES=write pytest FILE`` takes them again; look at them.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.browser import violations, visit
from tests.support.paths import DATA

if TYPE_CHECKING:
    from playwright.sync_api import Browser

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

VIEWS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
"""Widths and colour schemes."""
EXAMINED = (VIEWS[0], VIEWS[3])
"""The views that axe looks at, which takes seconds: each width once and each scheme once."""


def assert_looks_as_it_did(browser: Browser, page: Path, name: str, width: int, scheme: str) -> None:
    """A page has its kept picture, fits its width and asks for nothing else, and axe finds nothing."""
    assert_is_as_kept(browser, shot(browser, page, width, scheme), name, width, scheme)


def assert_is_as_kept(browser: Browser, taken: bytes, name: str, width: int, scheme: str) -> None:
    """A screenshot is like the picture that is kept under a name."""
    kept = PICTURES / f"{name}-{width}-{scheme}.png"
    if os.environ.get("LRO_PICTURES") == "write":
        kept.write_bytes(base64.b64decode(differ(browser, taken, None, KEPT)))
    assert differ(browser, taken, kept.read_bytes(), COMPARED) < MOST


def bars() -> str:
    """A style sheet under which every character is the same bar, so that text has the same width on every machine."""
    font = base64.b64encode((DATA / "bars.woff2").read_bytes()).decode()
    return (
        f"@font-face {{ font-family: Bars; src: url(data:font/woff2;base64,{font}) }}"
        "* { font-family: Bars !important; font-synthesis: none !important }"
    )


def url(picture: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(picture).decode()


def shot(browser: Browser, page: Path, width: int, scheme: str) -> bytes:
    with visit(browser, page, viewport={"width": width, "height": HEIGHT}, color_scheme=scheme) as seen:
        assert seen.trouble == []
        assert seen.page.evaluate("document.documentElement.scrollWidth") == width
        taken = seen.page.screenshot()
        if (width, scheme) in EXAMINED:
            assert violations(seen.page) == []
        return taken


def differ(browser: Browser, a: bytes, b: bytes | None, scale: float) -> Any:
    page = browser.new_page()
    try:
        return page.evaluate(DIFFERENCE, [url(a), None if b is None else url(b), scale])
    finally:
        page.close()
