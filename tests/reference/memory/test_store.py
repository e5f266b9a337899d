"""The store and the shape of memories: nothing is lost, every record carries what the recipes need."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lro_reference.memory.demo import COUNT, demo_memories
from lro_reference.memory.model import DEFAULT_CONFIDENCE, DETAILS, InvalidMemory, line_schema, normalise, project
from lro_reference.memory.store import IN_MEMORY, Store

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def demo() -> Store:
    return Store.open(IN_MEMORY, demo_memories())


def only(**fields: object) -> Store:
    store = Store.open(IN_MEMORY)
    store.add(fields)
    return store


def found(store: Store, query: str | None = None, **options: Any) -> list[str]:
    return [hit.memory["id"] for hit in store.find(query, **options)]


def test_demo_is_the_same_everywhere_and_spans_ten_namespaces() -> None:
    memories = list(demo_memories())
    assert memories == list(demo_memories())
    assert len({memory["id"] for memory in memories}) == COUNT == 500
    assert len({memory["namespace"] for memory in memories}) == 10
    text = json.dumps(memories, ensure_ascii=False)
    for needed in ("数据库", "検索", "회의", "🚀", "\u2028", '\\"', "\\\\", "\\n"):
        assert needed in text


def test_demo_is_stored_untouched(demo: Store) -> None:
    assert [hit.memory for hit in demo.find()] == list(demo_memories())


@pytest.mark.parametrize("query", [None, "", "*", "  "])
def test_all_memories_newest_first(demo: Store, query: str | None) -> None:
    hits = demo.find(query)
    assert len(hits) == len(demo) == COUNT
    created = [hit.memory["created"] for hit in hits]
    assert created == sorted(created, reverse=True)
    assert {hit.score for hit in hits} == {None}
    assert [hit.memory["id"] for hit in demo.find(query, limit=3, ranked=True)] == [h.memory["id"] for h in hits[:3]]


def test_order_is_by_moment_not_by_text_and_ties_by_id() -> None:
    store = Store.open(IN_MEMORY)
    for identity, created in (
        ("b", "2026-01-01T10:00:00Z"),
        ("a", "2026-01-01T11:00:00+01:00"),
        ("newest", "2026-01-01T09:30:00-05:00"),
        ("oldest", "2025-12-31T23:00:00.123456789"),
    ):
        store.add({"id": identity, "created": created})
    assert found(store) == ["newest", "a", "b", "oldest"]


def test_search_wants_every_word_and_ranks(demo: Store) -> None:
    hits = demo.find("memory certificate", ranked=True)
    assert hits
    for hit in hits:
        text = json.dumps(hit.memory).lower()
        assert "memory" in text
        assert "certificate" in text
    scores = [hit.score for hit in hits]
    assert all(isinstance(score, float) for score in scores)
    assert scores == sorted(scores, key=lambda score: -(score or 0))


@pytest.mark.parametrize("query", ["数据库", "节点", "次の", "결정된", "🚀", "NAÏVE", "straße", "temp", "org", "it's"])
def test_search_finds_words_of_any_script(query: str) -> None:
    content = "数据库备份 第二个节点 次のリリース 회의에서 결정된 🚀 Naïve Straße C:\\temp org it's"
    assert found(only(id="x", content=content), query) == ["x"]


@pytest.mark.parametrize("query", ['"', "'", "AND", "NEAR(", "a*", "col:x", "\0", "-x", "^", "%", "🎉", "(", "_"])
def test_query_is_words_never_syntax(query: str) -> None:
    store = only(id="x", content="nothing to see")
    assert found(store, query) in ([], ["x"])


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
def test_no_query_fails(demo: Store, query: str) -> None:
    assert len(demo.find(query, ranked=True)) <= COUNT


def test_namespace_keeps_what_is_below_and_not_what_merely_begins_so() -> None:
    store = Store.open(IN_MEMORY)
    for namespace in ("a", "a/b", "ab", "A", "a_/c"):
        store.add({"id": namespace, "namespace": namespace})
    assert sorted(found(store, namespace="a")) == ["a", "a/b"]
    assert found(store, namespace="a_") == ["a_/c"]


def test_same_id_replaces() -> None:
    store = only(id="x", content="first words")
    assert store.add({"id": "x", "content": "second"}) == ("x", True)
    assert len(store) == 1
    assert found(store, "first") == []
    assert found(store, "second") == ["x"]


def test_memories_stay_in_the_folder(tmp_path: Path) -> None:
    first = Store.open(str(tmp_path / "new"), [{"id": "demo"}])
    second = Store.open(str(tmp_path / "new"), [{"id": "not again"}])
    first.add({"id": "mine"})
    assert sorted(found(second)) == ["demo", "mine"]
    first.close()
    second.close()
    assert sorted(found(Store.open(str(tmp_path / "new")))) == ["demo", "mine"]


def test_servers_that_start_together_share_one_folder(tmp_path: Path) -> None:
    program = (
        "import sys, time; from lro_reference.memory.store import Store\n"
        "from lro_reference.memory.demo import demo_memories\n"
        "sys.stdin.read(); print(len(Store.open(sys.argv[1], demo_memories())))"
    )
    together = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for _ in range(4)
    ]
    time.sleep(0.5)
    for process in together:
        assert process.stdin
        process.stdin.close()
    for process in together:
        with process:
            assert process.stdout
            assert process.stderr
            assert (process.stdout.read(), process.stderr.read()) == (b"500\n", b"")


def test_store_of_a_later_version_is_refused(tmp_path: Path) -> None:
    Store.open(str(tmp_path)).close()
    with sqlite3.connect(tmp_path / "memories.sqlite3") as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(sqlite3.DatabaseError, match="layout is version 99"):
        Store.open(str(tmp_path))


def test_refused_memory_changes_nothing() -> None:
    store = only(id="x", content="kept")
    for bad in ({"id": "x", "n": float("nan")}, {"id": "x", "content": 5}, {"id": "x", "title": "half \ud800"}):
        with pytest.raises(InvalidMemory):
            store.add(bad)
    assert found(store, "kept") == ["x"]


def test_bare_memory_gets_what_the_recipes_need() -> None:
    made = normalise({"content": "First line\nsecond"}, NOW)
    assert made["title"] == "First line"
    assert made["provenance"] == {"confidence": DEFAULT_CONFIDENCE}
    assert made["created"] == made["modified"] == "2026-05-01T00:00:00.000Z"
    assert (made["tags"], made["status"], made["namespace"]) == ([], "active", "_semantic")
    assert len(made["id"]) == 26


def test_null_is_as_missing_and_other_provenance_stays() -> None:
    made = normalise({"title": None, "content": None, "provenance": {"agent": "a", "confidence": None}}, NOW)
    assert (made["title"], made["content"]) == ("", "")
    assert made["provenance"] == {"agent": "a", "confidence": DEFAULT_CONFIDENCE}


def test_long_first_line_is_cut_for_the_title() -> None:
    title = normalise({"content": "x" * 200}, NOW)["title"]
    assert len(title) == 80
    assert title.endswith("…")


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        ({"id": ""}, "memory.id must not be empty"),
        ({"id": 5}, "memory.id must be a string, not 5"),
        ({"title": ["x"]}, "memory.title must be a string"),
        ({"tags": "x"}, "memory.tags must be an array of strings"),
        ({"tags": [1]}, "memory.tags must be an array of strings"),
        ({"entities": {}}, "memory.entities must be an array"),
        ({"provenance": []}, "memory.provenance must be an object"),
        ({"provenance": {"confidence": "high"}}, "memory.provenance.confidence must be a number, not 'high'"),
        ({"provenance": {"confidence": True}}, "memory.provenance.confidence must be a number, not True"),
        ({"created": "yesterday"}, "memory.created must be an ISO 8601 date and time, not 'yesterday'"),
    ],
)
def test_wrong_field_is_named(memory: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidMemory) as caught:
        normalise(memory, NOW)
    assert message in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
).filter(lambda value: "\\ud" not in json.dumps(value))
MEMORY = st.fixed_dictionaries(
    {},
    optional={
        "id": st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6),
        "title": st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        "content": st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
        "tags": st.lists(st.sampled_from(["a", "b", "字"])),
        "entities": st.none() | st.lists(JSON, max_size=2),
        "summary": st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
        "provenance": st.fixed_dictionaries({}, optional={"confidence": st.floats(0, 1), "agent": JSON}),
        "extensions": JSON,
        "anything else": JSON,
    },
)


VALIDATORS = {detail: jsonschema.Draft202012Validator(line_schema(detail)) for detail in DETAILS}


@settings(max_examples=60, deadline=None)
@given(MEMORY)
def test_stored_memory_comes_back_and_satisfies_the_schema_of_every_level(memory: dict[str, Any]) -> None:
    store = Store.open(IN_MEMORY)
    identity, _ = store.add(memory)
    (hit,) = store.find()
    assert hit.memory["id"] == identity
    for field, value in memory.items():
        if field != "provenance":
            assert hit.memory[field] == value
        else:
            assert {**value, "confidence": 0} == {**hit.memory[field], "confidence": 0}
    for detail in DETAILS:
        record = project(hit.memory, detail)
        VALIDATORS[detail].validate(record)
        assert isinstance(record["content"], str)
        assert isinstance(record["provenance"]["confidence"], (int, float))


def test_detail_levels_grow(demo: Store) -> None:
    memory = next(hit.memory for hit in demo.find() if "extensions" in hit.memory and "entities" in hit.memory)
    light, medium, full = (project(memory, detail) for detail in DETAILS)
    assert light["content"] == ""
    assert set(light["provenance"]) == {"confidence"}
    assert medium["content"] == memory["content"]
    assert medium["provenance"] == memory["provenance"]
    assert set(light) < set(medium) < set(full)
    assert full == memory
    assert "extensions" not in medium


def test_line_schema_is_not_vacuous() -> None:
    for detail in DETAILS:
        schema = line_schema(detail)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert not jsonschema.Draft202012Validator(schema).is_valid({"type": "lro_header"})
