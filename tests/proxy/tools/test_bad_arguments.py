"""Invalid arguments for the tools of every family: the answer is a sentence of ours, never one of Python's."""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from lro_proxy.payload.interceptor import Interceptor
from lro_proxy.tools.recipes import RECIPES
from lro_proxy.tools.toolbox import FAMILIES, Toolbox
from lro_reference.settings import Settings
from lro_spec.validation.descriptor import validate_descriptor

NAMES = {name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, Exception)}
PYTHON = re.compile(rf"\b({'|'.join(NAMES)}|[A-Z]\w*(Error|Exception)|Traceback|NoneType|object at 0x)\b")
NONSENSE: Mapping[str, Any] = {
    "null": None,
    "true": True,
    "a number": 7,
    "negative": -1,
    "huge": 10**30,
    "a fraction": 1.5,
    "nan": float("nan"),
    "infinity": float("inf"),
    "empty": "",
    "a word": "title",
    "long": "x" * 100_000,
    "nul": "a\0b",
    "half": "a\ud800",
    "an escape": r'"\q"',
    "a quote": '"',
    "half escaped": r'0."k\ud800"',
    "brackets": "[({",
    "a list": [None, [], {}],
    "numbers": [10**30, float("nan")],
    "an object": {"n": 10**30, "skip": -1, "keyword": "\ud800", "x": []},
    "deep": json.loads("[" * 900 + "]" * 900),
}
GOOD: Mapping[str, Any] = {
    "pattern": "a",
    "path": "0",
    "fields": ["text"],
    "start": 1,
    "end": 2,
    "query": ".",
    "messages": [{"role": "user", "content": "hello"}],
}
PATHS = ("file_path", "file", "filename", "absolute_path")
TEXT = "a \ud800 line\n" * 3000
MEMORY = {"id": "m\ud800", "title": "half \udc00 a pair", "namespace": "a\ud800", "content": "word", "k\ud800": 1.50}


@pytest.fixture(scope="module")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Toolbox, str]]:
    """A toolbox and a file for each kind of payload with half a surrogate pair."""
    found: dict[str, tuple[Toolbox, str]] = {}
    for kind, text in {
        "text": TEXT,
        "memories": json.dumps([{**MEMORY, "id": f"m{n}"} for n in range(60)]),
        "records": json.dumps([{"n": n, "k\ud800": "a\udfffb", "big": 10**25} for n in range(60)]),
    }.items():
        settings = Settings(threshold_tokens=100, output_dir=str(tmp_path_factory.mktemp(kind)))
        toolbox = Toolbox(list(FAMILIES), settings)
        lro = Interceptor(settings, emit=lambda event: None, publish=toolbox.publish)
        result = lro.result({"content": [{"type": "text", "text": text}]}, tool="recall")
        found[kind] = toolbox, json.loads(result["content"][0]["text"])["file_path"]
    return found


def said(ground: tuple[Toolbox, str], name: str, arguments: Mapping[str, Any]) -> str:
    """The answer, which can be written as JSON and holds no name of Python's."""
    answer = ground[0].call(name, arguments)
    orjson.dumps(answer.texts)
    (text,) = answer.texts
    assert not PYTHON.search(text), text
    return text


def needed(name: str, schema: Mapping[str, Any], path: str) -> dict[str, Any]:
    given = {key: path if key in PATHS else GOOD[key] for key in schema["required"]}
    return given | ({"query": "."} if name == "lro_extract" else {})


@pytest.mark.parametrize("kind", ["text", "memories", "records"])
def test_a_sound_call_is_answered_in_writable_json(kind: str, grounds: dict[str, tuple[Toolbox, str]]) -> None:
    toolbox, path = grounds[kind]
    for tool in toolbox.tools:
        said(grounds[kind], tool.name, needed(tool.name, tool.input_schema, path))


@pytest.mark.parametrize("nonsense", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_answered_by_a_sentence(nonsense: Any, grounds: dict[str, tuple[Toolbox, str]]) -> None:
    ground = grounds["text"]
    for tool in ground[0].tools:
        properties = tool.input_schema["properties"]
        arguments = needed(tool.name, tool.input_schema, ground[1])
        for key in [*properties, "unknown"]:
            if _runs_a_program(key) and isinstance(nonsense, str) and len(nonsense) < 1000:
                continue  # `attacks.yaml` has those, and each starts a process
            said(ground, tool.name, {**arguments, key: nonsense})
        for key, inner in properties.get("params", {}).get("properties", {}).items():
            wanted = {"string": str, "integer": int}[inner["type"]]
            if not isinstance(nonsense, wanted) or isinstance(nonsense, bool) or nonsense in (10**30, -1, "a\ud800"):
                said(ground, tool.name, {"file_path": ground[1], "recipe": 1, "params": {key: nonsense}})


def _runs_a_program(key: str) -> bool:
    return key in ("query", "pattern")


@pytest.mark.parametrize("key", ["n", "skip"])
def test_a_count_beyond_all_counting_is_told_what_is_most(key: str, grounds: dict[str, tuple[Toolbox, str]]) -> None:
    for kind, ground in grounds.items():
        arguments = {"file_path": ground[1], "recipe": 1, "params": {key: 10**30}}
        assert "must be at most 2147483648" in said(ground, "lro_extract", arguments), kind


@pytest.mark.parametrize("number", range(1, 11))
def test_a_recipe_answers_of_memories_with_half_a_pair(number: int, grounds: dict[str, tuple[Toolbox, str]]) -> None:
    ground = grounds["memories"]
    assert said(ground, "lro_extract", {"file_path": ground[1], "recipe": number})


@pytest.mark.parametrize("effect", RECIPES)
def test_half_a_pair_beside_long_digits_stops_no_recipe(effect: str, tmp_path: Path) -> None:
    odd = b'["\\udc00", 1.50]'
    line = b'{"id": %b, "title": %b, "namespace": %b, "memory_type": %b, "confidence": %b}\n' % ((odd,) * 5)
    (tmp_path / "x").write_bytes(b"{}\n" + line * 2)
    with (tmp_path / "x").open("rb") as file:
        rows = list(RECIPES[effect].rows(file, "", None))
    assert all(rb"\udc00" in row and b"1.50" in row for row in rows if effect == "identity-projection")


def test_a_text_with_half_a_pair_is_read_by_every_way(grounds: dict[str, tuple[Toolbox, str]]) -> None:
    ground = grounds["text"]
    file = ground[1]
    assert said(ground, "get_in", {"file": file, "path": "0.text"}) == r"a \ud800 line"
    assert json.loads(said(ground, "get_in", {"file": file, "path": "0"})) == {"n": 1, "text": "a \ud800 line"}
    rows = said(ground, "iterate_over", {"file": file, "fields": ["text"], "limit": 2}).splitlines()
    assert [json.loads(row)["text"] for row in rows] == ["a \ud800 line"] * 2
    assert said(ground, "lro_extract", {"file_path": file, "recipe": 1}).startswith("this file has no recipes")
    assert said(ground, "lro_extract", {"file_path": file, "query": ".text", "params": {"n": 1}}) == '"a \ufffd line"'


def test_a_key_with_half_a_pair_is_told_and_reached(grounds: dict[str, tuple[Toolbox, str]]) -> None:
    ground = grounds["records"]
    told = said(ground, "get_in", {"file": ground[1], "path": "0.nope"})
    assert r'"k\ud800"' in told
    assert said(ground, "get_in", {"file": ground[1], "path": r'0."k\ud800"'}) == r"a\udfffb"
    assert json.loads(said(ground, "get_in", {"file": ground[1], "path": "0"}))["big"] == 10**25
    assert "k\ud800" in json.loads(said(ground, "item_schema", {"file": ground[1]}))["keys"]


def test_recipes_that_would_not_run_are_not_offered(tmp_path: Path) -> None:
    settings = Settings(threshold_tokens=1, output_dir=str(tmp_path))
    lro = Interceptor(settings, emit=lambda event: None)
    values = ["fine"] * 40
    assert len(lro(values)["jq_recipes"]) >= 2
    assert lro([*values, r"C:\udata", "\U0001f680"])["jq_recipes"]
    made = lro([*values, "\ud800"])
    assert made["jq_recipes"] == []
    assert "half of a surrogate pair" in made["guidance"]
    text = lro.result({"content": [{"type": "text", "text": TEXT}]}, tool="read")["content"][0]["text"]
    assert json.loads(text)["jq_recipes"] == []
    findings = validate_descriptor(json.loads(text), edition="lro-paper")
    assert not [finding for finding in findings if finding.severity == "error"]
