"""Seeds by a variable and by a command: told as seeds everywhere, and made again by a script that shows a call."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lro_conformance import profile as profiles
from lro_conformance.capture.corpus import corpus
from lro_conformance.engine.run import certify
from lro_conformance.judging.results import Report
from lro_conformance.judging.subjects import reproducer_of
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.lab.bench import Bench
from lro_conformance.lab.lab import Lab
from lro_conformance.lab.seeding import arguments_without_value, fields_left_out, memory_arguments, reason_not_to_store
from lro_conformance.lab.settings import Settings
from lro_conformance.profile import Seed
from lro_conformance.wire.workspace import Workspace
from tests.servers.sound.catalogue import sounds
from tests.servers.variants import profile_text
from tests.support.paths import ROOT

SEEDED = ("is_seeded_by_a_file", "is_seeded_by_a_command")


@contextmanager
def _bench(folder: Path, server: str) -> Iterator[Bench]:
    path = folder / "lro.yaml"
    path.write_text(profile_text(server, sounds()[server].profile))
    with Workspace() as workspace:
        lab = Lab(profiles.load(path), workspace, lambda event: None, seed=1)
        with lab.bench(Settings(threshold_tokens=1)) as bench:
            yield bench


@pytest.mark.parametrize("server", SEEDED)
def test_a_script_seeds_the_server_again(tmp_path: Path, server: str) -> None:
    """It is run after the file of the run is gone, and returns the same memories."""
    with _bench(tmp_path, server) as bench:
        call = bench.call("recall", limit=1000)
        script = reproducer_of(call)
    assert len(call.file_records) == len(corpus())
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert f'"count": {len(corpus())}' in done.stdout.replace('"count":', '"count": ').replace("  ", " ")
    assert done.stderr.count("No such file") == 0


def test_a_seed_that_is_no_tool_is_not_asked_for_again() -> None:
    """The reason names the key that the profile has, and the one that would help."""
    assert reason_not_to_store(Seed("store", {"memory": "$memory"})) is None
    assert reason_not_to_store(None) == "the suite cannot store memories (profile: seed)"
    for seed, key in ((Seed(env="S"), "seed.env"), (Seed(command=("x",)), "seed.command")):
        reason = reason_not_to_store(seed)
        assert reason is not None
        assert reason.startswith(f"{key} gives the server memories")
        assert reason.endswith("(profile: seed.tool)")


def test_a_server_that_drops_its_seed_is_told_of_the_seed(tmp_path: Path) -> None:
    """No message asks for a seed that is there."""
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text("holds_nothing", "seed: {env: SEED_FILE}\n"))
    failure = certify(profiles.load(path), examples=0).failure
    assert failure is not None
    assert "was given the suite's memories (profile: seed.env), but no call found them: name arguments" in failure


def test_a_server_that_refuses_its_seed_is_not_said_to_have_it(tmp_path: Path) -> None:
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text("holds_nothing", "seed: {tool: run_custodial_task, arguments: {task: $memory}}\n"))
    report = certify(profiles.load(path), examples=0)
    assert report.failure is not None
    assert "no call found them" not in report.failure
    assert any(
        "seeding failed: run_custodial_task did not accept a memory of the suite" in note for note in report.notes
    )


@pytest.mark.parametrize(
    ("properties", "required", "arguments"),
    [
        ({"memory": {"type": "object"}}, [], {"memory": "$memory"}),
        ({"note": {"type": "object"}}, [], {"note": "$memory"}),
        ({"note": {"type": "string"}}, [], {"note": "$memory.content"}),
        (
            {"memory": {"type": "string"}, "tags": {"type": "array"}},
            [],
            {"memory": "$memory.content", "tags": "$memory.tags"},
        ),
        ({"entries": {"type": "array"}}, [], {"entries": ["$memory"]}),
        (
            {
                "note": {"type": "string"},
                "url": {"type": "string", "format": "uri"},
                "created": {"type": "string", "format": "date-time"},
                "name": {"anyOf": [{"type": "string", "format": "email"}, {"type": "null"}]},
                "folder": {"type": "string"},
            },
            ["note", "url", "name"],
            {
                "note": "$memory.content",
                "folder": "$memory.namespace",
                "created": "$memory.created",
                "url": "https://example.org/memory",
                "name": "memory@example.org",
            },
        ),
        (
            {"text": {"type": "string"}, "kind": {"enum": ["fact"]}, "user": {"type": "string"}},
            ["text", "user"],
            {"text": "$memory.content", "user": "memory"},
        ),
        ({"path": {"type": "string"}}, ["path"], None),
        (
            {
                "content": {"type": "string"},
                "confidence": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                "createdAt": {"type": ["string", "null"]},
                "summary": {"type": "string"},
                "status": {"enum": ["active", "archived"]},
                "source_type": True,
            },
            ["content"],
            {
                "content": "$memory.content",
                "createdAt": "$memory.created",
                "status": "$memory.status",
                "summary": "$memory.summary",
                "confidence": "$memory.provenance.confidence",
                "source_type": "$memory.provenance.source_type",
            },
        ),
        (
            {
                "content": {"type": "string"},
                "timestamp": {"type": "integer"},
                "confidence": {"enum": ["low", "high"]},
                "status": {"enum": ["open", "closed"]},
                "tags": {"type": "string"},
                "summary": {"type": "string"},
            },
            ["content", "summary", "status"],
            {"content": "$memory.content", "summary": "memory", "status": "open"},
        ),
    ],
)
def test_what_a_tool_that_stores_is_given(properties: object, required: object, arguments: object) -> None:
    """A memory as it may take it, and a value for what else it requires; nothing where nothing fits.

    A field that only some memories have is nothing for an argument that each call needs.
    """
    tool = {"name": "add", "inputSchema": {"type": "object", "properties": properties, "required": required}}
    assert memory_arguments(tool) == arguments


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("properties", "fields"),
    [
        ({"kind": TEXT, "date": TEXT}, {"kind": "memory_type", "date": "created"}),
        (
            {"category": TEXT, "timestamp": {**TEXT, "format": "date-time"}},
            {"category": "memory_type", "timestamp": "created"},
        ),
        ({"category": TEXT, "type": TEXT}, {"category": "namespace", "type": "memory_type"}),
        ({"category": TEXT, "folder": TEXT}, {"category": "memory_type", "folder": "namespace"}),
        ({"kind": {"enum": ["note", "fact"]}, "date": {**TEXT, "format": "date"}}, {}),
        ({"date": {**TEXT, "description": "The day, as YYYY-MM-DD"}}, {}),
        ({"date": {**TEXT, "description": "As YYYY-MM-DDTHH:MM:SSZ"}}, {"date": "created"}),
    ],
)
def test_kinds_and_dates_are_fields_where_the_schema_admits_them(
    properties: dict[str, Any], fields: dict[str, str]
) -> None:
    schema = {"properties": {"text": TEXT, **properties}, "required": ["text"]}
    given = {"text": "content", **fields}
    assert memory_arguments({"name": "add", "inputSchema": schema}) == {n: f"$memory.{f}" for n, f in given.items()}


NUMBER = {"type": "number"}


@pytest.mark.parametrize(
    ("schema", "scale"),
    [
        (NUMBER, None),
        ({**NUMBER, "minimum": 0, "maximum": 1}, None),
        ({**NUMBER, "description": "Confidence, 0.0 to 1.0"}, None),
        ({**NUMBER, "description": "0-1, not 80 %"}, None),
        ({**NUMBER, "maximum": 1, "description": "As a percentage of one"}, None),
        ({**NUMBER, "minimum": 0, "maximum": 100}, "0 to 100"),
        ({**NUMBER, "minimum": 1, "maximum": 5}, "1 to 5"),
        ({**NUMBER, "exclusiveMinimum": 1}, "1 or more"),
        ({"anyOf": [{"type": "null"}, {**NUMBER, "maximum": 10}]}, "0 to 10"),
        ({**NUMBER, "description": "How sure, in per cent"}, "per cent"),
        ({**NUMBER, "description": "Certainty (%)"}, "per cent"),
        ({**NUMBER, "description": "between 0 and 100"}, "0 to 100"),
        ({**NUMBER, "description": "1..10"}, "1 to 10"),
    ],
)
def test_a_confidence_is_only_given_on_its_own_scale(schema: dict[str, Any], scale: str | None) -> None:
    """Otherwise it is left out, with the reason, or has a constant where it is required."""
    takes = {"text": TEXT, "certainty": schema}
    tool = {"name": "add", "inputSchema": {"properties": takes, "required": ["text"]}}
    arguments = memory_arguments(tool) or {}
    assert ("certainty" in arguments) is (scale is None)
    remarks = [*fields_left_out(Seed("add", arguments), [tool])]
    said = f"no certainty, because its scale is {scale}, but the confidence of a memory is a number from 0 to 1"
    assert any(said in remark for remark in remarks) is (scale is not None)
    tool["inputSchema"]["required"] = ["certainty"]
    required = memory_arguments(tool) or {}
    assert required["certainty"] == ("$memory.provenance.confidence" if scale is None else 1)


def _listed(*properties: str) -> list[dict[str, Any]]:
    return [{"name": "add", "inputSchema": {"type": "object", "properties": {name: {} for name in properties}}}]


@pytest.mark.parametrize(
    ("arguments", "properties", "missing"),
    [
        (
            {"text": "$memory.content"},
            ("text", "title", "confidence", "colour"),
            "title: $memory.title, confidence: $memory.provenance.confidence",
        ),
        ({"text": "$memory.content", "meta": {"name": "$memory.title"}}, ("text", "title", "meta"), None),
        ({"text": "$memory.content", "provenance": "$memory.provenance"}, ("text", "provenance", "confidence"), None),
        ({"text": "$memory.content", "project": "main"}, ("text", "project"), None),
        ({"item": "$memory"}, ("item", "confidence"), None),
        ({"items": ["$memory"]}, ("items", "confidence"), None),
    ],
)
def test_fields_that_the_seed_leaves_out_are_named(
    arguments: dict[str, Any], properties: tuple[str, ...], missing: str | None
) -> None:
    """Not those that it gives elsewhere, nor an argument to which it gives a value of its own."""
    said = (
        "the seed leaves out fields of a memory that add accepts, so fewer checks apply: add "
        f"{missing} (profile: seed.arguments)"
    )
    assert [*fields_left_out(Seed("add", arguments), _listed(*properties))] == ([said] if missing else [])


@pytest.mark.parametrize(
    ("arguments", "properties", "said"),
    [
        (
            {"text": "$memory.content"},
            {"text": {}, "bucket": {"type": "string"}, "weight": {"type": ["number", "null"]}},
            [
                (
                    "the seed gives add no namespace, so fewer checks apply: if bucket stands for it, add bucket: "
                    "$memory.namespace (profile: seed.arguments)"
                ),
                (
                    "the seed gives add no confidence, so fewer checks apply: if weight stands for it, add weight: "
                    "$memory.provenance.confidence (profile: seed.arguments)"
                ),
            ],
        ),
        (
            {"text": "$memory.content"},
            {"text": {}, "bucket": {"type": "string"}, "shelf": {"type": "string"}, "colour": {}},
            [
                (
                    "the seed gives add no namespace, so fewer checks apply: if one of bucket, shelf stands for it, "
                    "add NAME: $memory.namespace (profile: seed.arguments)"
                )
            ],
        ),
        (
            {"text": "$memory.content", "product": "memory"},
            {"text": {}, "author": {"type": "string"}, "product": {"type": "string"}},
            [
                (
                    "the seed gives add no namespace, so fewer checks apply: if product stands for it, add product: "
                    "$memory.namespace (profile: seed.arguments)"
                ),
                (
                    'the seed gives each memory the same product, "memory": if it stands for a title, set product: '
                    "$memory.title (profile: seed.arguments)"
                ),
            ],
        ),
        ({"text": "$memory.content"}, {"text": {}, "author": {"type": "string"}}, []),
        ({"text": "$memory.content", "shelf": "$memory.namespace"}, {"bucket": {"type": "string"}, "shelf": {}}, []),
        ({"text": "$memory.content", "bucket": "main"}, {"bucket": {"type": "string"}}, []),
        ({"text": "$memory.content"}, {"url": {"type": "string", "format": "uri"}, "days": {"type": "integer"}}, []),
        ({"memory": "$memory"}, {"memory": {}, "bucket": {"type": "string"}}, []),
    ],
)
def test_arguments_that_may_take_a_field_are_named(
    arguments: dict[str, Any], properties: dict[str, Any], said: list[str]
) -> None:
    """Those of a fitting type whose names are no usual ones, if nothing else is given the field."""
    required = ["product"] if "product" in properties else []
    schema = {"type": "object", "properties": properties, "required": required}
    tools = [{"name": "add", "inputSchema": schema}]
    assert [*fields_left_out(Seed("add", arguments), tools)] == said


def test_optional_arguments_without_a_value_are_named() -> None:
    """Not one whose scale is the reason, nor any if the whole memory is given."""
    takes = {"text": {}, "kind": {"enum": ["a"]}, "certainty": {"type": "integer", "maximum": 100}, "place": {}}
    tools = [{"name": "add", "inputSchema": {"properties": takes, "required": ["text", "place"]}}]
    assert arguments_without_value(Seed("add", {"text": "$memory.content"}), tools) == ["kind"]
    assert arguments_without_value(Seed("add", {"text": "$memory"}), tools) == []
    assert arguments_without_value(Seed("other", {"text": "$memory.content"}), tools) == []
    assert arguments_without_value(None, tools) == []


def test_no_field_is_left_out_without_a_tool_that_is_listed() -> None:
    for seed in (None, Seed(env="S"), Seed("other", {"text": "$memory.content"})):
        assert [*fields_left_out(seed, [*_listed("text", "title"), {}])] == []


@pytest.mark.parametrize(
    "node", [True, None, [], {"type": {}}, {"type": [[], "string"]}, {"anyOf": 1}, {"oneOf": [None, {"type": []}]}]
)
def test_a_malformed_schema_of_an_argument_does_no_harm(node: object) -> None:
    tools = [{"name": "add", "inputSchema": {"properties": {"title": node}}}]
    assert len([*fields_left_out(Seed("add", {"text": "$memory.content"}), tools)]) == 1


SERVER = """\
import sys, time
sys.path.insert(0, {root!r})
from tests.servers.plain import Server

class Later(Server):
    lag_s, first = {lag_s}, None

    def corpus(self):
        return []

    def store(self, memory):
        self.waiting = [*getattr(self, "waiting", []), (time.monotonic() + self.lag_s, self.completed(memory))]
        return self.waiting[-1][1]["id"]

    def find(self, operation, query):
        due = [m for at, m in getattr(self, "waiting", []) if at <= time.monotonic()]
        self.waiting = self.waiting[len(due):] if due else getattr(self, "waiting", [])
        self.memories.extend(due)
        return super().find(operation, query)

class OldestOnly(Later):
    def tools(self):
        tools = super().tools()
        tools[0]["inputSchema"]["properties"]["limit"] = {{"type": "integer", "maximum": 50}}
        return tools[:1] + tools[3:]

class ByNamespace(Later):
    def score(self, memory, query):
        return 1.0 if query in ("*", "") or query == memory["namespace"] else 0

{kind}().serve()
"""
"""A server that starts empty, and finds a memory some time after it was stored."""


def _seeded(folder: Path, kind: str = "Later", lag_s: float = 0.0) -> Report:
    (folder / "server.py").write_text(SERVER.format(root=str(ROOT), kind=kind, lag_s=lag_s))
    path = folder / "lro.yaml"
    command = json.dumps([sys.executable, "-I", "-S", str(folder / "server.py")])
    seed = 'seed: {tool: store_memory, arguments: {memory: "$memory"}}'
    path.write_text(f"server: {{command: {command}}}\n{seed}\n")
    return certify(profiles.load(path), seed=1, examples=0, only={"LRO-THR-03"})


def test_a_server_that_finds_a_memory_later_is_given_the_time(tmp_path: Path) -> None:
    """Also for memories that are stored later in the run."""
    report = _seeded(tmp_path, lag_s=0.6)
    (result,) = [r for r in report.requirements if r.requirement.id == "LRO-THR-03"]
    assert (report.failure, result.verdict) == (None, Verdict.PASS)
    (note,) = [n for n in report.notes if "stored" in n]
    assert re.fullmatch(
        r"a memory is found only 0\.\d s after store_memory stored it, so the suite waits \d\.\d s after it "
        r"has stored a memory before it calls a tool",
        note,
    )


def test_what_is_not_found_in_time_is_told_with_what_to_do(tmp_path: Path) -> None:
    """One message for all operations says what was stored, where it was looked for, and for how long."""
    report = _seeded(tmp_path, lag_s=600)
    assert report.failure is not None
    (note,) = [n for n in report.notes if "store" in n or "find" in n]
    assert note.startswith(
        "store_memory accepted 160 memories of the suite, but within 2 s none was found by recall_memories("
    )
    assert "search_memories(" in note
    assert "let store_memory answer only once the memory can be found" in note
    assert "seed.command or seed.env" in note


@pytest.mark.parametrize("kind", ["Later", "OldestOnly", "ByNamespace"])
def test_nothing_is_waited_for_where_memories_are_found_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Also where the last one is beyond the limit, or no query finds it by its title."""
    waits = list[float]()
    monkeypatch.setattr(Bench, "pause", lambda _, seconds: waits.append(seconds))
    report = _seeded(tmp_path, kind)
    assert (report.failure, waits) == (None, [])
    assert not [n for n in report.notes if "is found only" in n]


def test_a_restarted_server_is_seeded_again_only_if_it_lost_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not if it holds too little for the default threshold, as one does whose records have titles only."""
    path = tmp_path / "lro.yaml"
    name = "numbers_its_memories_and_shows_titles_only"
    path.write_text(profile_text(name, sounds()[name].profile))
    with Workspace() as workspace:
        lab = Lab(profiles.load(path), workspace, lambda event: None, seed=1)
        with lab.bench(Settings(threshold_tokens=1)) as bench:
            lab.seeding.begin(bench, lambda: lab.bench(Settings()))
            monkeypatch.setattr(lab.seeding, "is_wanted", lambda _: True)
            store = bench.workdir / "work" / "memories.jsonl"
            for kept in (True, False):
                if not kept:
                    store.unlink()
                bench.restart()
                assert store.read_bytes().count(b"\n") == len(corpus()), kept
