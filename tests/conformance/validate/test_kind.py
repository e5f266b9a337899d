"""Which kind a document is, where its name does not say so: what only resembles LRO is not judged as that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lro_conformance.validate.document import Document, UnknownKindError
from lro_spec.discovery import reply_result
from tests.golden.files import HEADER

MEMORY = {"id": "m1", "memory_type": "semantic", "title": "T", "content": "C"}
OTHERS = [
    '{"level": "info"}\n{"level": "warn"}\n',
    '[\n{"a":1}\n]',
    '{"a":\n{"b":1}\n}',
    '[\n{"offloaded": true}\n]',
    'started\n{"level": "info"}\n',
]


def kind(path: Path, text: str, *, named: bool) -> str | None:
    path.write_text(text)
    document = Document(str(path), None, "lro-6400", named=named)
    list(document.findings())
    return document.kind


@pytest.mark.parametrize("text", OTHERS)
def test_other_json_in_a_folder_is_passed_over(tmp_path: Path, text: str):
    with pytest.raises(UnknownKindError):
        kind(tmp_path / "x.json", text, named=False)
    assert kind(tmp_path / "x.json", text, named=True) == "file"  # named, and so meant


@pytest.mark.parametrize("named", [False, True])
def test_lines_of_lro_are_found_under_any_name(tmp_path: Path, named: bool):
    for lines in ([HEADER, MEMORY], [MEMORY, MEMORY], ["cut off", MEMORY], ["cut off", HEADER]):
        text = "".join(f"{json.dumps(line) if isinstance(line, dict) else line}\n" for line in lines)
        assert kind(tmp_path / "x.json", text, named=named) == "file"
    assert kind(tmp_path / "atlatl-recall-x.json", OTHERS[0], named=named) == "file"
    assert kind(tmp_path / "x.json", json.dumps({"offloaded": True}, indent=1), named=named) == "descriptor"
    assert kind(tmp_path / "x.json", '{"summary":\n{"count": 1}\n, "offloaded": true}', named=False) == "descriptor"


def test_a_program_that_mentions_a_descriptor_is_no_document(tmp_path: Path):
    """Only what begins as JSON may be a document that is damaged."""
    program = "// A server\nconst answer = {offloaded: true, file_path: path, type: 'lro_header'}\n"
    for text in (program, program.replace("// A", "#!/usr/bin/env node")):
        with pytest.raises(UnknownKindError, match="its kind cannot be detected: name it with --kind"):
            kind(tmp_path / "server.mjs", text, named=True)
    assert kind(tmp_path / "x.json", '\ufeff{"offloaded": true, "file_path": ', named=True) == "descriptor"


@pytest.mark.parametrize("value", [MEMORY, {"content": "..."}, {"content": None}])
def test_a_text_called_content_makes_no_reply(tmp_path: Path, value: dict[str, object]):
    assert reply_result(value) is None
    with pytest.raises(UnknownKindError, match="name it with --kind"):
        kind(tmp_path / "x.json", json.dumps(value), named=True)
