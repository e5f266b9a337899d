"""What `lro validate` found in golden documents, kept in tests/data/frozen: rule, severity and place, no words.

An entry is a document, what lies beside it, and the options; it needs nothing of the suite but its command line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lro_conformance.cli.main import main
from tests.support.frozen import FOLDER

VALIDATION = FOLDER / "validation.json"


def cases() -> dict[str, dict[str, Any]]:
    """The documents, and what was found in each."""
    return json.loads(VALIDATION.read_text(encoding="utf-8"))


def found(case: Mapping[str, Any]) -> dict[str, Any]:
    """What is found in a document of these: the exit code, and of each finding rule, severity, line and pointer."""
    with TemporaryDirectory() as folder, chdir(folder), redirect_stdout(StringIO()) as out:
        for name, text in {**case["beside"], case["name"]: case["text"]}.items():
            Path(name).write_bytes(text.encode("utf-8", "surrogateescape"))
        code = main(["validate", "--format", "json", *case["options"], case["name"]])
    report = json.loads(out.getvalue() or '{"findings": []}')
    findings = [[f["rule"], f["severity"], f["line"], f["pointer"]] for f in report["findings"]]
    return {"exit": code, "findings": findings}


def write() -> None:
    """Keep what is found now in the documents that are kept."""
    lines = [
        f"{json.dumps(name)}: {json.dumps({**case, 'found': found(case)}, ensure_ascii=True)}"
        for name, case in cases().items()
    ]
    VALIDATION.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
