"""The project's documents, and the code in them."""

from __future__ import annotations

import re

from tests.support.paths import ROOT

DOCS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in DOCS}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def fenced(text: str, *languages: str) -> list[str]:
    return [block for language, block in FENCE.findall(text) if language in languages]
