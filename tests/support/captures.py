"""Results that published servers returned, kept in tests/data/captures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lro_proxy import Interceptor
from lro_reference.settings import Settings

FOLDER = Path(__file__).resolve().parent.parent / "data" / "captures"


@dataclass(frozen=True)
class Capture:
    """The result of one call."""

    name: str
    server: str
    tool: str
    arguments: dict[str, Any]
    result: dict[str, Any]

    def __str__(self) -> str:
        return self.name

    def answer(self, folder: Path, threshold: int = 0, form: Any = "full") -> dict[str, Any]:
        """The result that the proxy makes of it."""
        settings = Settings(threshold_tokens=threshold, output_dir=str(folder))
        lro = Interceptor(settings, emit=lambda event: None, form=form)
        return dict(lro.result(self.result, tool=self.tool, arguments=self.arguments))

    def descriptor(self, folder: Path, threshold: int = 0, form: Any = "full") -> dict[str, Any]:
        """The descriptor of the result."""
        answer = self.answer(folder, threshold, form)
        return json.loads(answer["content"][0]["text"])


def captures_in(folder: Path) -> list[Capture]:
    """The captures in a folder."""
    found: list[Capture] = []
    for path in sorted(folder.glob("*.json")):
        value = json.loads(path.read_text(encoding="utf-8"))
        server, arguments = value["server"], value.get("arguments") or {}
        found.append(Capture(path.stem, str(server), value["tool"], arguments, value["result"]))
    return found


CAPTURES = captures_in(FOLDER)
