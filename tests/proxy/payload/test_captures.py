"""Results of published servers, made by benchmarks/captures.py, become the records that a person would make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lro_proxy import Interceptor
from lro_proxy.payload.fields import fields
from lro_proxy.payload.records import payload_records
from lro_proxy.payload.result import result_of_program
from lro_reference.settings import Settings
from lro_spec.schema.line_schema import judge_lines
from lro_spec.validation import validate_file
from tests.support.rebuilding import payload

CAPTURES = Path(__file__).parents[2] / "data" / "captures"
ORDERS = {
    "id": "integer",
    "customer": "string",
    "product": "string",
    "quantity": "integer",
    "price": "number",
    "status": "string",
    "ordered_at": "string",
    "note": "string",
}
TEXTS = dict.fromkeys(ORDERS, "string")
SECTIONS = {"heading": "string", "level": "integer", "line": "integer", "text": "string"}
DEFINITIONS = {"kind": "string", "name": "string", "line": "integer", "text": "string"}
CHANGES = {"file": "string", "hunk": "integer", "change": "string", "line": "integer", "text": "string"}
HITS = {"file": "string", "line": "integer", "text": "string"}

PAGES = {
    "page": "integer",
    "text": "string",
    "chars": "integer",
    "images": "array",
    "image_count": "integer",
    "tables": "array",
    "table_count": "integer",
    "page_rect": "array",
    "hidden_text": "boolean",
}
PROJECT = {
    "table": "string",
    "number": "integer",
    "title": "string",
    "state": "string",
    "merged": "boolean",
    "n": "integer",
    "value": "string",
    "text": "string",
}
GRAPH = {
    "table": "string",
    "name": "string",
    "entityType": "string",
    "observations": "array",
    "from": "string",
    "to": "string",
    "relationType": "string",
}
NODES = {
    "depth": "integer",
    "role": "string",
    "name": "string",
    "ref": "string",
    "active": "boolean",
    "level": "string",
    "text": "string",
}

EXPECTED: dict[str, tuple[str, int, dict[str, str]]] = {
    "filesystem-csv": ("table", 200, ORDERS),
    "filesystem-tree": ("json", 166, {"path": "string", "type": "string", "children": "integer"}),
    "filesystem-markdown": ("sections", 41, SECTIONS),
    "filesystem-log": ("log", 400, {"time": "string", "level": "string", "text": "string"}),
    "filesystem-python": ("definitions", 31, DEFINITIONS),
    "filesystem-several": ("tables", 400, PROJECT),
    "memory": ("tables", 239, GRAPH),
    "desktop-commander": ("table", 199, ORDERS),
    "ripgrep": ("hits", 240, HITS),
    "repomix": ("elements", 6, {"element": "string", "path": "string", "line": "integer", "text": "string"}),
    "cyanheads-git": ("diff", 986, CHANGES),
    "graphql": ("definitions", 61, DEFINITIONS),
    "git-show": ("diff", 981, CHANGES),
    "git-diff": ("diff", 461, CHANGES),
    "sqlite": ("json", 200, {**TEXTS, "id": "integer", "quantity": "integer"}),
    "motherduck": ("json", 200, {**ORDERS, "note": "null string"}),
    "tree-sitter": ("blocks", 100, {**HITS, "context": "array"}),
    "excel": ("json", 200, TEXTS),
    "code-index": ("json", 200, HITS),
    "negokaz-excel": ("html table", 200, {"row": "integer", **ORDERS}),
    "sylphx-pdf": ("texts", 31, {"n": "integer", "text": "string"}),
    "pdf-mcp": ("json", 20, PAGES),
    "playwright": ("outline", 1820, NODES),
    "fetch": ("markdown table", 200, {name.replace("_", "\\_"): kind for name, kind in ORDERS.items()}),
    "git-log": ("stanzas", 40, {"Commit": "string", "Author": "string", "Date": "string", "Message": "string"}),
    "alchemy": ("text", 281, {}),
}
"""The format, the number of records, and the types of their fields; no fields for lines of text."""


def result_of(name: str) -> dict[str, Any]:
    return json.loads((CAPTURES / f"{name}.json").read_text(encoding="utf-8"))["result"]


def test_every_capture_is_known() -> None:
    assert {path.stem for path in CAPTURES.glob("*.json")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_capture_becomes_the_records_that_a_person_would_make(name: str) -> None:
    found = payload_records(result_of_program(result_of(name)))
    assert found is not None
    types = {field: " ".join(sorted(types)) for field, types in fields(found.records).types.items()}
    assert (found.extra["format"], len(found.lines), types) == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_the_file_of_a_capture_is_valid_and_has_all_of_it(name: str, tmp_path: Path) -> None:
    sent = result_of(name)
    interceptor = Interceptor(Settings(threshold_tokens=100, output_dir=str(tmp_path)), emit=lambda event: None)
    answer = interceptor.result(sent, tool=name)
    descriptor = json.loads(answer["content"][0]["text"])
    path = Path(descriptor["file_path"])
    text = path.read_text(encoding="utf-8")
    header, *lines = map(loaded, text.split("\n")[:-1])
    assert [finding for finding in validate_file(str(path), edition="lro-paper") if finding.line in (None, 1)] == []
    assert judge_lines(descriptor["line_schema"], list(map(json.loads, text.split("\n")[1:-1]))).violations == ()
    texts, structured = payload(header, lines, loaded)
    for built, block in zip(texts or [], sent["content"], strict=True):
        assert built == (block["text"] if isinstance(built, str) else loaded(block["text"]))
    assert values_of(structured) == values_of(loaded(json.dumps(sent.get("structuredContent"))))


def loaded(text: str) -> Any:
    """JSON with every decimal as it is written."""
    return json.loads(text, parse_float=str)


def values_of(structured: Any) -> Any:
    """Structured content, with the values of members that are JSON texts: spaces in them are not kept."""
    members = structured or {}
    return {k: loaded(v) if isinstance(v, str) and v[:1] in ("[", "{") else v for k, v in members.items()}
