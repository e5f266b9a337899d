"""Cost of a question about a large result behind the proxy: ``python -m benchmarks.proxy_table [DIR] [--write]``.

For each capture in DIR (default: tests/data/captures; ``captures.py --large DIR`` makes large ones) the scripted
assistant of the tests answers a question of tests/data/questions.yaml with a shell. The table has the estimated tokens
of the result as the server sent it, of the descriptor, and of the descriptor together with the output of the queries.
With ``--write``, the table is written to docs/proxy.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from lro_proxy import Interceptor
from lro_reference.settings import Settings
from lro_spec.tokens import script_aware_estimate
from tests.support.assistant import Assistant, Shell
from tests.support.captures import FOLDER, Capture, captures_in

PAGE = Path(__file__).resolve().parent.parent / "docs" / "proxy.md"
BEGIN, END = "<!-- made by benchmarks/proxy_table.py -->\n", "<!-- end -->\n"
TABLE_HEAD = """| server | tool | question | records, shape | result | descriptor | with the answer | ratio |
|---|---|---|---|---|---|---|---|
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, metavar="DIR")
    parser.add_argument("--write", action="store_true", help="write the table to docs/proxy.md")
    options = parser.parse_args()
    table = TABLE_HEAD + "".join(rows(captures_in(options.folder)))
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    else:
        print(table, end="")
    return 0


def rows(captures: list[Capture]) -> Iterator[str]:
    """The rows of the table, for results that are offloaded at the default threshold."""
    questions: list[dict[str, str]] = yaml.safe_load((FOLDER.parent / "questions.yaml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="lro") as folder:
        lro = Interceptor(Settings(threshold_tokens=6400, output_dir=folder), emit=lambda event: None)
        for capture in captures:
            response: Any = lro.result(capture.result, tool=capture.tool, arguments=capture.arguments)
            if response is capture.result:
                continue
            text: str = response["content"][0]["text"]
            descriptor: dict[str, Any] = json.loads(text)
            header = json.loads(Path(descriptor["file_path"]).read_text(encoding="utf-8").partition("\n")[0])
            question = next(entry["question"] for entry in questions if entry["capture"] == capture.name)
            assistant = Assistant(descriptor, Shell(descriptor))
            assistant.answer(question)
            result_tokens, descriptor_tokens = descriptor["summary"]["estimated_tokens"], script_aware_estimate(text)
            answer_tokens = descriptor_tokens + sum(map(script_aware_estimate, assistant.outputs))
            records = f"{descriptor['summary']['count']:,}, {header['extra']['format']}"
            name = capture.server.removeprefix("@modelcontextprotocol/")
            cells = (
                name,
                f"`{capture.tool}`",
                question,
                records,
                f"{result_tokens:,}",
                descriptor_tokens,
                f"{answer_tokens:,}",
                f"{result_tokens / answer_tokens:.0f}",
            )
            yield f"| {' | '.join(map(str, cells))} |\n"


if __name__ == "__main__":
    sys.exit(main())
