"""Results of 50 MB through the proxy, with integers of any size and all kinds of letters: the file has all of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.proxying import SCRIPTED, proxy, records
from tests.support.rebuilding import JsonLines, payload

COUNT = 55_000
ROWS = f"""
def row(n: int) -> str:
    return '{{"n":%d,"price":%d.10,"text":"%s"}}' % (10**22 + n, n, "日本 𝄞 \\\\u0000 é\\\\n" * 40)


def rows(form: str) -> str:
    lines = [row(n) for n in range({COUNT})]
    array = f"[{{','.join(lines)}}]"
    text = array if form != "lines" else "\\n".join(lines) + "\\n"
    if form == "prose":
        text = "\\n".join(f"line {{n}}: {{'日本 𝄞' * 84}}" for n in range({COUNT}))
    said = f'"content":[{{{{"type":"text","text":{{json.dumps(text, ensure_ascii=False)}}}}}}]'
    return f'{{{{{{said}},"structuredContent":{{{{"items":{{array}}}}}}}}}}' if form == "both" else f"{{{{{{said}}}}}}"
"""


def row(n: int) -> dict[str, Any]:
    return {"n": 10**22 + n, "price": float(f"{n}.10"), "text": "日本 𝄞 \0 é\n" * 40}


FORMS: dict[str, Callable[[int], Any]] = {
    "array": row,
    "lines": row,
    "both": row,
    "prose": lambda n: f"line {n}: {'日本 𝄞' * 84}",
}


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("form", list(FORMS))
def test_fifty_megabytes_are_all_in_the_file(tmp_path: Path, form: str) -> None:
    server = tmp_path / "server.py"
    source = Path(SCRIPTED[-1]).read_text(encoding="utf-8").replace("def call(", f"{ROWS.strip()}\n\n\ndef call(", 1)
    source = source.replace(
        'case "sleep":', 'case "rows":\n            answer(id, rows(arguments["form"]))\n        case "sleep":', 1
    )
    server.write_text(source, encoding="utf-8")
    with proxy(tmp_path / "out", server=[*SCRIPTED[:-1], str(server)], threshold=6400) as client:
        answer = client.answer(client.call("rows", form=form), timeout_s=200)["result"]
    descriptor = json.loads(answer["content"][0]["text"])
    path = Path(descriptor["file_path"])
    assert path.stat().st_size > 50_000_000
    assert len(json.dumps(answer)) < 50_000
    if form != "prose":
        data = path.read_bytes()
        assert data.count(b".10,") == COUNT, "no decimal has lost its last digit"
    texts, structured = payload(*records(path))
    said = texts[0] if texts else structured["items"]
    got = said if isinstance(said, list) else JsonLines(said) if isinstance(said, JsonLines) else said.split("\n")
    wanted = FORMS[form]
    assert len(got) == COUNT
    assert all(one == wanted(n) for n, one in enumerate(got))
