"""The tools: what a caller gets inline, offloaded, truncated, and for a mistake."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lro_reference.events import Event
from lro_reference.memory.demo import demo_memories
from lro_reference.memory.store import IN_MEMORY, Store
from lro_reference.memory.tools import TOOLS, Answer, Service, format_context
from lro_reference.settings import Settings
from lro_spec.recipes.compare import agrees
from lro_spec.recipes.pipeline import parse_command
from lro_spec.recipes.runner import run
from lro_spec.tokens import script_aware_estimate

RETRIEVAL = ("recall_memories", "search_memories", "inject_context")


class Bench:
    """A service over the demo memories, with a folder of its own."""

    def __init__(self, folder: Path, store: Store, **settings: Any) -> None:
        self.folder = folder
        self.events: list[Event] = []
        self.service = Service(store, Settings(output_dir=str(folder), **settings))

    def __call__(self, tool: str, **arguments: Any) -> Answer:
        return self.service.call(tool, arguments, self.events.append)

    def json(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = self(tool, **arguments)
        assert not answer.is_error, answer.texts
        (text,) = answer.texts
        return json.loads(text)


@pytest.fixture(scope="module")
def demo() -> Store:
    return Store.open(IN_MEMORY, demo_memories())


@pytest.fixture
def bench(tmp_path: Path, demo: Store) -> Bench:
    return Bench(tmp_path / "out", demo)


@pytest.fixture
def inline(tmp_path: Path, demo: Store) -> Bench:
    return Bench(tmp_path / "out", demo, enabled=False)


def in_file(descriptor: dict[str, Any]) -> list[dict[str, Any]]:
    lines = Path(descriptor["file_path"]).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return [json.loads(line) for line in lines[1:]]


@pytest.mark.parametrize("tool", RETRIEVAL)
def test_all_demo_memories_are_offloaded_by_default(bench: Bench, tool: str) -> None:
    descriptor = bench.json(tool)
    assert descriptor["offloaded"] is True
    assert descriptor["summary"]["count"] == 500


@pytest.mark.parametrize(
    ("tool", "detail"), [("recall_memories", "light"), ("search_memories", "light"), ("inject_context", "medium")]
)
def test_default_detail(bench: Bench, tool: str, detail: str) -> None:
    assert bench.json(tool)["summary"]["detail"] == detail


def test_search_for_memory_is_offloaded_with_its_exact_score_range(bench: Bench) -> None:
    descriptor = bench.json("search_memories", query="memory")
    scores = [hit.score for hit in bench.service.store.find("memory", ranked=True)]
    assert descriptor["summary"]["score_range"] == [scores[-1], scores[0]]
    assert not any("score" in record for record in in_file(descriptor))
    assert bench.json("recall_memories", query="memory")["summary"]["score_range"] is None


@pytest.mark.parametrize("detail", ["light", "medium", "full"])
@pytest.mark.parametrize("tool", ["recall_memories", "search_memories"])
def test_file_and_inline_hold_the_same(bench: Bench, inline: Bench, tool: str, detail: str) -> None:
    usual = inline.json(tool, query="memory", detail=detail)
    assert usual["count"] == len(usual["results"])
    descriptor = bench.json(tool, query="memory", detail=detail)
    assert in_file(descriptor) == usual["results"]
    validator = jsonschema.Draft202012Validator(descriptor["line_schema"])
    assert all(validator.is_valid(record) for record in usual["results"])


def test_limit_and_namespace_narrow(inline: Bench) -> None:
    assert inline.json("recall_memories", limit=3)["count"] == 3
    found = inline.json("recall_memories", namespace="_episodic")["results"]
    assert len(found) == 150
    assert {record["memory_type"] for record in found} == {"episodic"}


def test_inject_formats_within_the_budget(bench: Bench) -> None:
    answer = bench("inject_context", query="memory", limit=20, max_tokens=300)
    (text,) = answer.texts
    assert text.startswith("## ")
    assert 100 < script_aware_estimate(text) <= 300


def test_inject_is_judged_before_the_budget(bench: Bench) -> None:
    descriptor = bench.json("inject_context", query="memory", max_tokens=10)
    assert descriptor["summary"]["operation"] == "inject"
    assert len(in_file(descriptor)) == len(bench.service.store.find("memory"))


def test_inject_says_when_there_is_nothing_to_say(bench: Bench) -> None:
    assert bench("inject_context", query="zyzzyva") == Answer(("No memories match.",))
    assert bench("inject_context", limit=2, max_tokens=1) == Answer(("None of 2 memories fits into 1 tokens.",))


def test_context_skips_what_is_too_long_for_the_rest() -> None:
    base = {"namespace": "n", "created": "2026-01-01T00:00:00Z"}
    found = [{"title": t, "content": t * n, **base} for t, n in (("a", 40), ("b", 4000), ("c", 40))]
    text = format_context(found, 60)
    assert "## a" in text
    assert "## b" not in text
    assert "## c" in text


@pytest.fixture
def no_room(bench: Bench) -> Iterator[Bench]:
    bench.folder.write_text("a file where the folder should be")
    yield bench
    assert bench.folder.read_text() == "a file where the folder should be"


def test_failed_write_returns_whole_memories_and_a_warning(no_room: Bench) -> None:
    answer = no_room.json("recall_memories")
    assert answer["total"] == 500
    assert 0 < answer["count"] == len(answer["results"]) < 500
    assert "truncated" in answer["warning"]
    lines = "".join(
        json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in answer["results"]
    )
    assert script_aware_estimate(lines) <= 6400
    assert [event.name for event in no_room.events] == ["OffloadWriteFailed"]


def test_failed_write_of_inject_returns_text_and_a_warning(no_room: Bench) -> None:
    text, warning = no_room("inject_context", max_tokens=100_000).texts
    assert text.startswith("## ")
    assert 3000 < script_aware_estimate(text) <= 6400
    assert "Offloading failed" in warning


def test_stored_memory_keeps_everything_and_returns_its_id(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Store.open(IN_MEMORY))
    memory = {"id": "my id", "content": "c", "extensions": {"a": [{"b": 0.1}, "\u2028字🚀"]}, "unknown": 1e-7}
    assert bench.json("store_memory", memory=memory) == {"id": "my id", "replaced": False}
    assert bench.json("store_memory", memory=memory) == {"id": "my id", "replaced": True}
    (found,) = bench.json("recall_memories", detail="full")["results"]
    assert {key: found[key] for key in memory} == memory


def test_cleanup_counts(bench: Bench) -> None:
    bench.json("recall_memories")
    assert bench.json("run_custodial_task", task="offload_cleanup")["deleted"] == 0
    at_once = Bench(bench.folder, bench.service.store, ttl_seconds=0)
    assert at_once.json("run_custodial_task", task="offload_cleanup") == {
        "task": "offload_cleanup",
        "deleted": 1,
        "failed": {},
    }
    assert [event.name for event in at_once.events] == ["OffloadFileExpired"]
    assert list(bench.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("recall", {}, "there is no tool 'recall'; there are recall_memories"),
        ("recall_memories", {"limit": "3"}, "recall_memories: limit must be a whole number, not '3'"),
        ("recall_memories", {"limit": 0}, "limit must be at least 1, not 0"),
        ("recall_memories", {"limit": True}, "limit must be a whole number, not True"),
        ("recall_memories", {"detail": "all"}, "detail must be one of light, medium, full, not 'all'"),
        ("recall_memories", {"query": 5}, "query must be a string, not 5"),
        ("recall_memories", {"qeury": "x"}, "recall_memories has no argument 'qeury'; it has query, limit"),
        ("store_memory", {}, "store_memory needs the argument 'memory'"),
        ("store_memory", {"memory": {"tags": 1}}, "memory.tags must be an array of strings, not 1"),
        ("run_custodial_task", {"task": "sweep"}, "task must be one of offload_cleanup, not 'sweep'"),
    ],
)
def test_mistake_is_an_error_that_says_what(bench: Bench, tool: str, arguments: dict[str, Any], message: str) -> None:
    answer = bench(tool, **arguments)
    assert answer.is_error
    assert message in answer.texts[0]
    assert "\n" not in answer.texts[0]


def test_limit_beyond_any_number_of_memories_is_fine(inline: Bench) -> None:
    assert inline.json("recall_memories", limit=10**30)["count"] == 500


def test_input_schemas_are_valid_and_agree_with_the_checks() -> None:
    for tool in TOOLS:
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.description


@pytest.mark.skipif(not shutil.which("jq"), reason="the recipes need a jq program")
@pytest.mark.parametrize("detail", ["light", "medium", "full"])
def test_recipes_run_as_they_stand(tmp_path: Path, detail: str) -> None:
    store = Store.open(IN_MEMORY, list(demo_memories())[:60])
    for memory in ({}, {"content": None, "title": None}, {"provenance": {"agent": "x"}}, {"entities": None}):
        store.add(memory)
    folder = tmp_path / 'it\'s a; "folder" $(x)'
    descriptor = Bench(folder, store, threshold_tokens=1).json("recall_memories", detail=detail)
    assert len(descriptor["jq_recipes"]) == 10
    for recipe in descriptor["jq_recipes"]:
        ran = subprocess.run(recipe["command"], shell=True, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, ""), recipe
    titles = subprocess.run(descriptor["jq_recipes"][0]["command"], shell=True, capture_output=True, check=True)
    assert len(titles.stdout.splitlines()) == 64


@pytest.mark.parametrize("detail", ["light", "medium", "full"])
def test_recipes_mean_what_the_library_means(tmp_path: Path, detail: str) -> None:
    store = Store.open(IN_MEMORY, list(demo_memories())[:80])
    store.add({"id": "bare"})
    descriptor = Bench(tmp_path, store, threshold_tokens=1).json("recall_memories", detail=detail)
    data = Path(descriptor["file_path"]).read_bytes()
    for number, recipe in enumerate(descriptor["jq_recipes"], 1):
        pipeline = parse_command(recipe["command"])
        assert pipeline.path == descriptor["file_path"]
        judged = agrees(number, run(pipeline, data, binary=None), in_file(descriptor), detail=detail)
        assert judged.ok, (number, judged)
        assert judged.erratum is None, (number, judged)
