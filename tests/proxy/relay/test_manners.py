"""Manners towards clients, other proxies and other offloaders: what is announced, left alone, and answered."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lro_proxy.errors import CANCELLED, GONE, TIMED_OUT, TOO_LONG, UNREADABLE
from lro_proxy.relay import size_limits
from lro_proxy.relay.output_schemas import widen
from lro_proxy.relay.size_limits import LIMIT_KEY
from lro_spec.tokens import characters_estimate
from tests.support.proxying import SCRIPTED, Client, proxy, records

LARGE = json.dumps({"content": [{"type": "text", "text": "word\n" * 2000}]})
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}
ANNOUNCED = {"experimental": {"lro": {"proxy": True}}}


def offloaded(result: dict[str, Any]) -> bool:
    text = result["content"][0]["text"]
    return text.startswith("{") and json.loads(text)["offloaded"] is True


def greet(client: Client, **capabilities: Any) -> dict[str, Any]:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "clientInfo": {"name": "t", "version": "1"},
    }
    return client.answer(client.post("initialize", **params))["result"]


def listing(tmp_path: Path, tools: list[dict[str, Any]]) -> list[str]:
    """The command of a scripted server that lists these tools."""
    answered = 'json.dumps({"tools": TOOLS, "nextCursor": "page 2"})'
    text = Path(SCRIPTED[-1]).read_text()
    assert answered in text
    script = tmp_path / "listing.py"
    script.write_text(text.replace(answered, repr(json.dumps({"tools": tools}))))
    return [*SCRIPTED[:-1], str(script)]


def test_no_error_code_of_the_proxy_is_in_the_reserved_range() -> None:
    assert not {code for code in (GONE, TIMED_OUT, TOO_LONG, UNREADABLE, CANCELLED) if -32768 <= code <= -32000}


# --- output schemas

DESCRIPTORS = ({"offloaded": True, "file_path": "/x"}, {"offloaded": False, "results": [], "warning": ""})
SCHEMAS: list[tuple[dict[str, Any], Any, Any]] = [
    (
        {"type": "object", "required": ["items"], "additionalProperties": False, "properties": {"items": {}}},
        {"items": 1},
        {},
    ),
    (
        {
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"type": "integer"}},
        },
        {"a": 1},
        {"a": "x"},
    ),
    ({"$ref": "#/definitions/A", "definitions": {"A": {"type": "array"}}}, [], 5),
    (
        {"type": "object", "required": ["n"], "properties": {"n": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}}},
        {"n": {"n": None}},
        {"n": {"n": 1}},
    ),
    (
        {
            "type": "object",
            "properties": {"p": {"type": "string"}, "q": {"$ref": "#/properties/p"}, "r": {"$ref": "#/$defs/R"}},
            "$defs": {"R": {"type": "array", "items": {"$ref": "#/properties/p"}}, "$ref": {"type": "string"}},
            "required": ["q"],
        },
        {"q": "x", "r": ["y"]},
        {"q": 5},
    ),
    ({"type": "array", "items": {"type": "integer"}}, [1], ["x"]),
    (
        {"type": "object", "properties": {"d": {"const": {"$ref": "#/x"}}}, "required": ["d"]},
        {"d": {"$ref": "#/x"}},
        {"d": 5},
    ),
]


@pytest.mark.parametrize(("schema", "fits", "fails"), SCHEMAS)
def test_a_widened_schema_accepts_both_forms_and_nothing_else(schema: dict[str, Any], fits: Any, fails: Any) -> None:
    widened = widen(schema)
    check = jsonschema.Draft202012Validator(widened)
    check.check_schema(widened)
    assert jsonschema.Draft202012Validator(schema).is_valid(fits)
    assert not jsonschema.Draft202012Validator(schema).is_valid(fails)
    assert all(map(check.is_valid, (fits, *DESCRIPTORS)))
    assert not check.is_valid(fails)
    assert widened.get("type") == ("object" if schema.get("type") == "object" else None)


def test_a_widened_schema_costs_at_most_20_tokens() -> None:
    for schema, _, _ in SCHEMAS[:2]:
        grown = len(json.dumps(widen(schema), separators=(",", ":"))) - len(json.dumps(schema, separators=(",", ":")))
        assert characters_estimate("x" * grown) <= 15, schema


# --- a tool's own limit


def test_a_limit_that_a_tool_declares_is_its_threshold(tmp_path: Path) -> None:
    tools = [{"name": "say", "inputSchema": {"type": "object"}, "_meta": {LIMIT_KEY: 20_000, "x": 1.5}}]
    with proxy(tmp_path / "out", server=listing(tmp_path, tools)) as client:
        assert offloaded(client.result("say", result=LARGE))  # nothing is declared yet
        assert client.answer(client.post("tools/list"))["result"]["tools"] == tools
        assert not offloaded(client.result("say", result=LARGE))
    with proxy(tmp_path / "out", "--tool-threshold", "*=200", server=listing(tmp_path, tools)) as client:
        client.answer(client.post("tools/list"))
        assert offloaded(client.result("say", result=LARGE))


@pytest.mark.parametrize(
    ("declared", "threshold", "then"),
    [
        (None, 6400, None),
        (None, 12_500, None),
        (None, 12_501, 50_004),
        (None, None, 500_000),
        (None, 10**6, 500_000),
        (60_000, 20_000, 80_000),
        (100_000, 20_000, 100_000),
        (10_000, 2500, 10_000),
        (10_000, 6400, 25_600),
    ],
)
def test_a_limit_is_declared_where_the_threshold_needs_it(
    declared: int | None, threshold: int | None, then: int | None
) -> None:
    tool: dict[str, Any] = {"name": "t"} | ({} if declared is None else {"_meta": {LIMIT_KEY: declared}})
    before = json.dumps(tool)
    assert size_limits.raise_limit(tool, threshold) is (then != declared)
    assert size_limits.declared_limit(tool) == then
    assert (json.dumps(tool) == before) is (then == declared)


@pytest.mark.parametrize("odd", [0, -5, True, "50000", 1.5, None, []])
def test_a_limit_that_is_no_positive_number_is_none(odd: object) -> None:
    assert size_limits.declared_limit({"_meta": {LIMIT_KEY: odd}}) is None
    assert size_limits.declared_limit({"_meta": odd}) is None


# --- two proxies


def test_a_proxy_behind_a_proxy_leaves_offloading_to_it(tmp_path: Path) -> None:
    inner = [sys.executable, "-m", "lro_proxy", "--output-dir", str(tmp_path / "inner"), "--enabled", "true"]
    inner += ["--threshold-tokens", "10", "--", *SCRIPTED]
    with proxy(tmp_path / "outer", server=inner, stderr=subprocess.PIPE) as client:
        assert greet(client)["capabilities"]["experimental"]["lro"] == {"version": "1", "proxy": True}
        schema = client.answer(client.post("tools/list"))["result"]["tools"][1]["outputSchema"]
        assert [one.get("required") for one in schema["anyOf"]] == [["items"], ["offloaded"]]
        result = client.result("say", result=LARGE)
        assert records(json.loads(result["content"][0]["text"])["file_path"])[0]["count"] == 2000
        client.leave()
        assert client.process.stderr
        assert b"a proxy between this one and the client offloads" in client.process.stderr.read()
    assert len(list((tmp_path / "outer").iterdir())) == 1
    assert not (tmp_path / "inner").exists()


def test_since_2026_each_call_announces_it(tmp_path: Path) -> None:
    with proxy(tmp_path) as client:
        capabilities = {"io.modelcontextprotocol/clientCapabilities": ANNOUNCED}
        call: dict[str, Any] = {"name": "say", "arguments": {"result": LARGE}}
        id = client.post("tools/call", **call, _meta=MODERN | capabilities)
        assert not offloaded(client.answer(id)["result"])
        assert offloaded(client.answer(client.post("tools/call", **call, _meta=MODERN))["result"])


def test_a_proxy_that_offloads_nothing_announces_nothing(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    tee = ["sh", "-c", f'tee {heard} | "$@"', "sh", *SCRIPTED]
    for enabled in ("true", "false"):
        with proxy(tmp_path, "--enabled", enabled, server=tee) as client:
            greet(client)
            line = json.loads(heard.read_text().splitlines()[0])
            assert (line["params"]["capabilities"] == ANNOUNCED) is (enabled == "true")
            tools = client.answer(client.post("tools/list"))["result"]["tools"]
            assert ("anyOf" in tools[1]["outputSchema"]) is (enabled == "true")


# --- other offloaders

PREVIEW = "x" * 3000
POINTERS: list[dict[str, Any]] = [
    {"content": [{"type": "text", "text": PREVIEW}], "_meta": {"tt.dust/offload": {"fullContentPath": "/a"}}},
    {"content": [{"type": "text", "text": json.dumps({"__dust_offloaded__": True, "snippet": PREVIEW})}]},
    {"content": [{"type": "text", "text": json.dumps({"payloadPath": "/a", "payloadPreview": PREVIEW})}]},
    {"content": [], "structuredContent": {"outputId": "1", "outputFilePath": "/a", "metrics": PREVIEW}},
    {"content": [{"type": "text", "text": f"<persisted-output>\nOutput too large\n{PREVIEW}\n</persisted-output>"}]},
]


@pytest.mark.parametrize("pointer", POINTERS)
def test_what_another_program_has_offloaded_is_left_to_it(tmp_path: Path, pointer: dict[str, Any]) -> None:
    with proxy(tmp_path) as client:
        assert client.result("say", result=json.dumps(pointer)) == pointer
        about = {"content": [{"type": "text", "text": "about: " + json.dumps(pointer)}]}
        if "<" not in str(pointer):
            assert offloaded(client.result("say", result=json.dumps(about)))
        much = {
            "content": [{"type": "text", "text": json.dumps(pointer).ljust(70_000, "y")}],
            "_meta": pointer.get("_meta"),
        }
        assert offloaded(client.result("say", result=json.dumps(much)))


# --- tasks


def task(id: str, **more: Any) -> str:
    return json.dumps({"taskId": id, "ttlMs": 60_000, "createdAt": "2026-01-01T00:00:00Z", **more})


def test_the_result_of_a_task_is_one_of_the_tool_that_made_it(tmp_path: Path) -> None:
    with proxy(tmp_path, "--tool-threshold", "say=off", "--tool-threshold", "typed=100") as client:
        for tool, offloads in (("say", False), ("typed", True)):
            made = f'{{"task":{task(tool, status="working")}}}'
            assert client.result(tool, result=made)["task"]["taskId"] == tool
            hanging = {"jsonrpc": "2.0", "id": tool, "method": "tasks/result", "params": {"taskId": tool, "hang": True}}
            client.send(hanging)
            client.call("raw", text=f'{{"jsonrpc":"2.0","id":"{tool}","result":{LARGE}}}\n')
            assert offloaded(client.answer(tool)["result"]) is offloads
        (file,) = tmp_path.iterdir()
        assert file.name.startswith("lro-typed-")


def test_a_completed_task_of_the_extension_has_its_result_offloaded(tmp_path: Path) -> None:
    done = task("t", status="completed", result={**json.loads(LARGE), "exact": 1.5}, resultType="complete")
    with proxy(tmp_path) as client:
        client.result("typed", result=task("t", status="working", resultType="task"))
        client.send({"jsonrpc": "2.0", "id": "g", "method": "tasks/get", "params": {"taskId": "t", "hang": True}})
        client.call("raw", text=f'{{"jsonrpc":"2.0","id":"g","result":{done}}}\n')
        got = client.answer("g")["result"]
        assert (got["status"], got["taskId"], got["result"]["exact"]) == ("completed", "t", 1.5)
        assert offloaded(got["result"])
        note = f'{{"jsonrpc":"2.0","method":"notifications/tasks","params":{done}}}\n'
        client.call("raw", text=note)
        told = json.loads(client.line())
        assert told["method"] == "notifications/tasks"
        assert offloaded(told["params"]["result"])
        assert {file.name[:10] for file in tmp_path.iterdir()} == {"lro-typed-"}
        for small in (task("t", status="working"), task("t", status="completed", result={"content": [], "x": 1.50})):
            note = f'{{"jsonrpc":"2.0",  "method":"notifications/tasks","params":{small}}}\n'
            client.call("raw", text=note)
            assert client.line() == note.encode()[:-1]


# --- the end


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_answers_what_is_pending(tmp_path: Path, number: signal.Signals) -> None:
    with proxy(tmp_path) as client:
        greet(client)
        pending = [client.call("hang") for _ in range(3)]
        client.result("say", result=LARGE)
        client.process.send_signal(number)
        for id in pending:
            assert client.answer(id)["error"] == {"code": GONE, "message": f"lro proxy: was ended by {number.name}"}
        assert client.line() == b""
        assert client.process.wait(10) == 128 + number


def test_a_signal_answers_a_call_whose_result_is_being_written(tmp_path: Path) -> None:
    text = json.dumps({"content": [{"type": "text", "text": "GET /items\n" * 1_000_000}]})
    with proxy(tmp_path / "out") as client:
        id = client.call("say", result=text)
        while not ((tmp_path / "out").is_dir() and any((tmp_path / "out").iterdir())):
            pass
        client.process.send_signal(signal.SIGTERM)
        assert client.answer(id)["error"]["code"] == GONE
        assert client.line() == b""
        assert client.process.wait(10) == 143
        assert list((tmp_path / "out").iterdir()) == []


def test_a_signal_answers_a_call_of_a_tool_of_the_proxy(tmp_path: Path) -> None:
    with proxy(tmp_path, "--tools", "extract") as client:
        greet(client)
        client.answer(client.post("tools/list"))
        rows = json.dumps([{"n": n, "text": "x" * 100} for n in range(2000)])
        large = client.result("say", result=json.dumps({"content": [{"type": "text", "text": rows}]}))
        path = json.loads(large["content"][0]["text"])["file_path"]
        id = client.call("lro_extract", file_path=path, query="[range(100000000)] | length")
        client.answer(client.post("ping"))
        client.process.send_signal(signal.SIGTERM)
        assert client.answer(id)["error"]["code"] == GONE
        assert client.process.wait(10) == 143


def test_a_signal_answers_through_a_hub(tmp_path: Path) -> None:
    config = tmp_path / "servers.json"
    server = {"command": SCRIPTED[0], "args": [*SCRIPTED[1:], "--all"]}
    config.write_text(json.dumps({"mcpServers": {"a": server, "b": server}}))
    command = [sys.executable, "-m", "lro_proxy", "--config", str(config)]
    from tests.support.proxying import started

    with started(command) as client:
        greet(client)
        client.answer(client.post("tools/list"))
        pending = [client.call("a_hang"), client.call("b_hang")]
        client.process.send_signal(signal.SIGTERM)
        assert {client.answer(id)["error"]["code"] for id in pending} == {GONE}
        assert client.process.wait(10) == 143
