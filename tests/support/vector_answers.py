"""Answers to every vector: by the suite's own rules, by the plain server of an edition, and by the proxy's interceptor.

``python vector_answers.py`` is an adapter with them; ``python vector_answers.py FILE`` is one that repeats the answers
in a file, so that several runners need not wait for jq.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "conformance"), str(ROOT / "reference_impl")]


def answer_of(kind: str, asked: Mapping[str, Any], edition: str) -> Any:
    """The answer to a vector."""
    if kind == "write":
        from tests.servers.vectors import WRITERS

        return WRITERS[edition]().write_vector(dict(asked))
    if kind == "mapping":
        return _mapped(asked)
    from lro_conformance.vectors.answers import answer

    return answer(kind, asked, edition)


def _mapped(asked: Mapping[str, Any]) -> dict[str, Any]:
    from lro_proxy import Interceptor
    from lro_reference.settings import Settings

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(threshold_tokens=0 if asked["exceeds"] else 10_000, output_dir=folder)
        result = Interceptor(settings, emit=lambda *_: None).result(asked["result"], tool=asked["tool"])
        files = os.listdir(folder)
        if not files:
            return {"outcome": "inline", "result": result}
        text = Path(folder, files[0]).read_text(encoding="utf-8")
    kept = [block for block in result["content"] if block["type"] != "text"]
    records = [json.loads(line) for line in text.removesuffix("\n").split("\n")[1:]]
    return {"outcome": "offloaded", "records": records, "file": text, "kept": kept}


def serve(lines: Iterable[str], known: Mapping[str, Any] | None) -> None:
    """Answer the requests on some lines, if *known* is given from there."""
    for line in lines:
        request = json.loads(line)
        asked = request["params"]
        given = (
            known[asked["vector"]]
            if known is not None
            else answer_of(request["method"], asked["input"], asked["edition"])
        )
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"answer": given}}), flush=True)


if __name__ == "__main__":
    from tests.support.shared_jq import one_jq_process

    path = sys.argv[1] if len(sys.argv) > 1 else None
    with one_jq_process():
        serve(sys.stdin, None if path is None else json.loads(Path(path).read_text(encoding="utf-8")))
