"""The whole server over stdio: with the official client, and with raw lines where that client hides too much."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client

import lro_reference
import lro_spec
from lro_spec.filenames import file_name, ulid_at
from lro_spec.messages import find_descriptor

ROOTS = os.pathsep.join(str(Path(module.__file__ or "").parent.parent) for module in (lro_spec, lro_reference))
E = "ATLATL_PROMPT__OFFLOAD__"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "start",
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {"PYTHONPATH": ROOTS, "ATLATL_DATA_DIR": ":memory:", f"{E}OUTPUT_DIR": str(folder), **more}


def call(number: int | str, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@contextmanager
def raw_server(folder: Path, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "lro_reference"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment(folder, **more)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe
            with suppress(BrokenPipeError):
                pipe.close()


def send(process: subprocess.Popen[bytes], *messages: dict[str, Any]) -> None:
    assert process.stdin
    process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    process.stdin.flush()


def receive(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout
    return json.loads(process.stdout.readline())


def text_of(result: Any) -> str:
    (block,) = result.content
    return block.text


def test_official_client_sees_offloading_from_end_to_end(tmp_path: Path) -> None:
    logged: list[Any] = []

    async def on_log(message: Any) -> None:
        logged.append(message)

    async def converse() -> None:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "lro_reference"], env=environment(tmp_path / "out")
        )
        async with (
            stdio_client(server) as (incoming, outgoing),
            ClientSession(incoming, outgoing, logging_callback=on_log) as session,
        ):
            hello = await session.initialize()
            assert hello.server_info.name == "lro-reference"
            lro = (hello.capabilities.experimental or {})["lro"]
            assert (lro["edition"], lro["level"]) == ("lro-6400", 3)
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            assert set(tools) == {
                "recall_memories",
                "search_memories",
                "inject_context",
                "store_memory",
                "run_custodial_task",
            }
            assert all(tool.output_schema is None for tool in tools.values())

            result = await session.call_tool("recall_memories", {})
            assert result.is_error is False
            found = find_descriptor(result.model_dump(by_alias=True, mode="json", exclude_none=True))
            assert found is not None
            path = Path(found.value["file_path"])
            assert len(path.read_text(encoding="utf-8").removesuffix("\n").split("\n")) == 501

            memory = {"id": "mine", "content": 'wörds\u2028字🚀 "\\', "extensions": {"x": [0.1, {"y": None}]}}
            stored = await session.call_tool("store_memory", {"memory": memory})
            assert json.loads(text_of(stored))["id"] == "mine"
            back = await session.call_tool("recall_memories", {"query": "wörds", "detail": "full"})
            (record,) = json.loads(text_of(back))["results"]
            assert {key: record[key] for key in memory} == memory

            wrong = await session.call_tool("recall_memories", {"limit": -1})
            assert wrong.is_error is True
            unknown = await session.call_tool("nothing", {})
            assert unknown.is_error is True

    asyncio.run(asyncio.wait_for(converse(), 60))
    assert [(entry.logger, entry.data["event"]) for entry in logged] == [("lro", "OffloadFileWritten")]


def test_requests_sent_before_the_end_of_stdin_are_all_answered(tmp_path: Path) -> None:
    with raw_server(tmp_path) as server:
        lines = [INITIALIZE, INITIALIZED, *(call(n, "recall_memories") for n in range(20))]
        out, err = server.communicate(b"".join(json.dumps(line).encode() + b"\n" for line in lines), timeout=60)
    messages = [json.loads(line) for line in out.splitlines()]
    answers = [message for message in messages if "id" in message]
    assert sorted(str(message["id"]) for message in answers) == sorted(["start", *map(str, range(20))])
    paths = {json.loads(a["result"]["content"][0]["text"])["file_path"] for a in answers if a["id"] != "start"}
    assert {str(path) for path in tmp_path.iterdir()} == paths
    assert len(paths) == 20
    assert server.returncode == 0
    assert [json.loads(line)["event"] for line in err.splitlines()] == ["OffloadFileWritten"] * 20


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_it_quickly_and_quietly(tmp_path: Path, number: signal.Signals) -> None:
    with raw_server(tmp_path) as server:
        send(server, INITIALIZE)
        assert receive(server)["id"] == "start"
        began = time.monotonic()
        server.send_signal(number)
        out, err = server.communicate(timeout=10)
        assert (server.returncode, out, err) == (0, b"", b"")
        assert time.monotonic() - began < 5


def test_signal_during_the_start_shows_no_traceback(tmp_path: Path) -> None:
    with raw_server(tmp_path, ATLATL_DEMO="0") as server:
        time.sleep(0.2)
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=10)
        assert b"Traceback" not in err


def test_client_that_stops_reading_ends_it_quietly(tmp_path: Path) -> None:
    with raw_server(tmp_path) as server:
        send(server, INITIALIZE, INITIALIZED)
        receive(server)
        assert server.stdout
        assert server.stdin
        assert server.stderr
        server.stdout.close()
        send(server, call(1, "recall_memories", limit=1), call(2, "recall_memories", limit=1))
        server.stdin.close()
        assert server.wait(10) == 0
        assert server.stderr.read() == b""


UNREADABLE = (
    (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\\ud83d"}}', -32700, 7),
    (b'{"jsonrpc":"2.0","id":"a","method":5}', -32600, "a"),
    (b'{"jsonrpc":"2.0","id":1', -32700, None),
    (b"[" * 100_000, -32700, None),
    (b"\xff\xfe", -32700, None),
    (b"[]", -32600, None),
)


def test_line_that_is_no_message_is_answered_with_an_error(tmp_path: Path) -> None:
    with raw_server(tmp_path, ATLATL_DEMO="0") as server:
        send(server, INITIALIZE, INITIALIZED)
        receive(server)
        for line, code, identity in UNREADABLE:
            assert server.stdin
            server.stdin.write(b"\n" + line + b"\n")
            send(server, call(99, "recall_memories"))
            refused = receive(server)
            assert (refused["id"], refused["error"]["code"]) == (identity, code), line[:80]
            assert receive(server)["id"] == 99


def test_files_of_an_earlier_process_are_cleaned_up_at_once_and_then_regularly(tmp_path: Path) -> None:
    def expired() -> Path:
        path = tmp_path / file_name("recall", ulid=ulid_at(datetime.now(UTC) - timedelta(hours=2)))
        path.touch()
        return path

    first = expired()
    with raw_server(tmp_path, **{f"{E}CLEANUP_INTERVAL_SECONDS": "1"}) as server:
        send(server, INITIALIZE, INITIALIZED)
        receive(server)
        for path in (first, None):
            path = path or expired()
            told = receive(server)
            assert told["method"] == "notifications/message"
            assert (told["params"]["level"], told["params"]["logger"]) == ("info", "lro")
            assert told["params"]["data"]["event"] == "OffloadFileExpired"
            assert told["params"]["data"]["path"] == str(path)
            assert not path.exists()


def test_client_chooses_the_level_of_events(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with raw_server(tmp_path / "out") as server:
        level = {"jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": {"level": "warning"}}
        send(server, INITIALIZE, INITIALIZED, level, call(2, "recall_memories"))
        assert [receive(server).get("id") for _ in range(3)] == ["start", 1, 2]  # no OffloadFileWritten, it is info
        for file in (tmp_path / "out").iterdir():
            file.unlink()
        (tmp_path / "out").rmdir()
        (tmp_path / "out").touch()
        send(server, call(3, "recall_memories"))
        told, answer = receive(server), receive(server)
        assert told["params"]["level"] == "warning"
        assert told["params"]["data"]["event"] == "OffloadWriteFailed"
        assert told["params"]["data"]["error"] == "Not a directory"
        assert "warning" in json.loads(answer["result"]["content"][0]["text"])
        (tmp_path / "out").unlink()
        send(server, call(4, "recall_memories"))
        assert json.loads(receive(server)["result"]["content"][0]["text"])["offloaded"] is True


def test_client_of_the_2026_protocol_is_served(tmp_path: Path) -> None:
    prefix = "io.modelcontextprotocol/"
    meta = {
        f"{prefix}protocolVersion": "2026-07-28",
        f"{prefix}clientInfo": {"name": "test", "version": "1"},
        f"{prefix}clientCapabilities": {},
    }
    with raw_server(tmp_path) as server:
        send(server, {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}})
        extensions = receive(server)["result"]["capabilities"]["extensions"]
        assert extensions["lro-spec/lro"]["edition"] == "lro-6400"
        quiet = call(2, "recall_memories")
        quiet["params"]["_meta"] = meta
        asking = call(3, "recall_memories")
        asking["params"]["_meta"] = {**meta, f"{prefix}logLevel": "info"}
        send(server, quiet)
        assert receive(server)["id"] == 2  # events only for who asks
        send(server, asking)
        assert receive(server)["params"]["data"]["event"] == "OffloadFileWritten"
        assert json.loads(receive(server)["result"]["content"][0]["text"])["offloaded"] is True


def test_wrong_setting_ends_the_start_with_exit_code_2(tmp_path: Path) -> None:
    with raw_server(tmp_path, **{f"{E}THRESHOLD_TOKENS": "-5"}) as server:
        out, err = server.communicate(timeout=20)
    assert (server.returncode, out) == (2, b"")
    assert err.decode().splitlines() == [
        f"lro serve: {E}THRESHOLD_TOKENS must be a whole number from 0 to 18446744073709551615, not '-5'",
    ]
