"""The proxy's own tools beside a server's: in both eras of the protocol, cancelled, and where names collide."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client as OfficialClient
from mcp import StdioServerParameters

from lro_proxy.relay.output_schemas import widen_tools
from lro_proxy.relay.server_tools import ServerTools
from lro_proxy.relay.tools import ProxyTools
from lro_proxy.tools.limits import Limits, Refused
from lro_proxy.tools.queries import QueryRunner
from lro_proxy.tools.toolbox import Toolbox
from lro_reference.cancellation import Cancellation
from lro_reference.settings import Settings
from tests.support.extraction import BUSY, greet, names, offloaded, said, server
from tests.support.hubs import entry, hub
from tests.support.proxying import ROOTS, SCRIPTED, SETTING, proxy

PROSE = [{"role": "user", "content": f"{n} " + "word " * 400} for n in range(6)]
ERAS = ["legacy", "auto"]
MISSING = "head needs the argument 'file'"
NO_TOOLS = """
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def prompts(ctx, params):
    return types.ListPromptsResult(prompts=[])

async def main():
    server = Server("none", on_list_prompts=prompts)
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())

anyio.run(main)
"""


def talk(folder: Path, mode: Any, do: Callable[[OfficialClient], Any], *command: str, **more: Any) -> Any:
    """What *do* makes of a client of the official kind behind which the proxy is."""

    async def run() -> Any:
        env = {"PYTHONPATH": ROOTS, f"{SETTING}OUTPUT_DIR": str(folder), f"{SETTING}THRESHOLD_TOKENS": "500"}
        args = ["-m", "lro_proxy", *command]
        server = StdioServerParameters(command=sys.executable, args=args, env=env)
        async with OfficialClient(server, mode=mode, **more) as client:
            return await do(client)

    return anyio.run(run)


@pytest.mark.parametrize("mode", ERAS)
def test_the_official_client_reads_a_file_in_both_eras(tmp_path: Path, mode: str) -> None:
    async def do(client: OfficialClient) -> tuple[list[str], Any, str]:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        large: Any = await client.call_tool("recall_memories", {"detail": "full"})
        path = json.loads(large.content[0].text)["file_path"]
        answer: Any = await client.call_tool("lro_extract", {"file_path": path, "recipe": 5, "params": {"n": 2}})
        return listed, client.server_capabilities, answer.content[0].text

    memories = [sys.executable, "-m", "lro_reference", "--data", ":memory:"]
    listed, capabilities, text = talk(tmp_path, mode, do, "--tools", "extract", "--", *memories)
    assert "lro_extract" in listed
    assert "lro" in capabilities.experimental
    assert len(text.splitlines()) == 2


@pytest.mark.parametrize("mode", ERAS)
def test_a_server_without_tools_gets_the_proxys_and_the_clients_model_is_asked(tmp_path: Path, mode: str) -> None:
    script = tmp_path / "none.py"
    script.write_text(NO_TOOLS)
    asked: list[str] = []

    async def summary(context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        del context
        asked.append(str(params.messages[0].content))
        text = types.TextContent(type="text", text="They said words.")
        return types.CreateMessageResult(role="assistant", model="m", content=text)

    async def do(client: OfficialClient) -> tuple[list[str], Any]:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        arguments = {"messages": PROSE, "context_manage_mode": "compress", "max_total_tokens": 0}
        return listed, await client.call_tool("context_offload", arguments)

    command = ["--tools", "compaction", "--", sys.executable, str(script)]
    listed, answer = talk(tmp_path, mode, do, *command, sampling_callback=summary)
    assert listed == ["context_offload", "grep", "read_file"]
    assert not answer.is_error
    assert "They said words." in answer.content[0].text
    assert len(asked) == 1


@pytest.mark.parametrize("front", ["proxy", "server"])
def test_cancelled_calls_leave_the_queue_and_their_processes_end(tmp_path: Path, front: str) -> None:
    with proxy(tmp_path, "--tools", "extract") if front == "proxy" else server(tmp_path) as client:
        if front == "proxy":
            greet(client)
            names(client)
            path = offloaded(client)["file_path"]
        else:
            path = json.loads(said(client.result("recall_memories", detail="full")))["file_path"]
        ids = [client.call("lro_extract", file_path=path, query=BUSY, slurp=True) for _ in range(12)]
        time.sleep(0.3)
        begun = time.monotonic()
        for id in ids:
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
        assert said(client.result("lro_extract", file_path=path, query="1", params={"n": 1})) == "1"
        assert time.monotonic() - begun < 8  # of twelve that may run for ten seconds each, two at a time


def test_a_stopped_job_does_not_begin() -> None:
    stop = Cancellation()
    stop.request()
    with pytest.raises(Refused, match="cancelled"):
        QueryRunner(Limits()).with_cancellation(stop).search("x", [], case_sensitive=True, limit=1)


def test_what_is_stopped_is_told_once_and_never_afterwards() -> None:
    stop, heard = Cancellation(), list[int]()
    with stop.on_request(lambda: heard.append(1)):
        pass
    with stop.on_request(lambda: heard.append(2)):
        stop.request()
    with stop.on_request(lambda: heard.append(3)):
        pass
    assert heard == [2, 3]


PAGES = """
import json, sys
PAGES = {None: ["say"], "2": ["grep", "other"]}
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        info = {"name": "pages", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        cursor = params.get("cursor")
        result = {"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in PAGES[cursor]]}
        result |= {} if cursor else {"nextCursor": "2"}
    elif params.get("name") == "say":
        result = json.loads(params["arguments"]["result"])
    else:
        result = {"content": [{"type": "text", "text": "the server's"}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def paged(folder: Path, *options: str) -> Any:
    script = folder / "pages.py"
    script.write_text(PAGES)
    return proxy(folder / "out", *options, server=[*SCRIPTED[:-1], str(script)])


def test_a_name_on_a_later_page_is_the_servers_and_listed_once(tmp_path: Path) -> None:
    with paged(tmp_path, "--tools", "scratchpad,extract") as client:
        greet(client)
        first = names(client)
        rest = client.answer(client.post("tools/list", cursor="2"))["result"]["tools"]
        assert [*first, *(tool["name"] for tool in rest)].count("grep") == 1
        assert {"say", "head", "lro_extract"} <= set(first)
        assert said(client.result("grep")) == "the server's"
        guidance = offloaded(client)["guidance"]
        assert "head" in guidance
        assert "grep" not in guidance


def test_calls_of_both_within_a_batch_are_each_answered(tmp_path: Path) -> None:
    """The proxy's own by itself, which is no part of the server's answer to the rest."""
    with proxy(tmp_path, "--tools", "scratchpad") as client:
        greet(client)
        own = {"jsonrpc": "2.0", "id": "own", "method": "tools/call", "params": {"name": "head", "arguments": {}}}
        ping = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}
        client.send(json.dumps([own, ping]).encode() + b"\n")
        client.send(json.dumps([own | {"id": "alone"}]).encode() + b"\n")
        answers = {message["id"]: message["result"] for message in (json.loads(client.line()) for _ in range(3))}
        assert answers.pop("ping") == {"method": "ping", "kept": 1.1}
        assert {id: said(result) for id, result in answers.items()} == dict.fromkeys(("own", "alone"), MISSING)


def test_before_any_list_a_name_that_the_server_has_is_the_servers(tmp_path: Path) -> None:
    with paged(tmp_path, "--tools", "scratchpad") as client:
        greet(client)
        assert said(client.result("grep")) == "the server's"
        assert client.result("head", file_path="nothing")["isError"] is True


def test_with_several_servers_a_name_that_one_has_is_its_own(tmp_path: Path) -> None:
    script = tmp_path / "pages.py"
    script.write_text(PAGES)
    pages = {"command": sys.executable, "args": ["-I", "-S", str(script)]}
    with hub(tmp_path, "--tools", "scratchpad", other=entry(), pages=pages) as client:
        assert said(client.result("grep")) == "the server's"
        assert client.result("head", file_path="nothing")["isError"] is True


ODD: list[dict[str, Any]] = [
    {"name": ["x"], "inputSchema": {"type": "object"}},
    {"name": "deep", "outputSchema": json.loads('{"properties":{"a":' * 100 + "{}" + "}}" * 100)},
    {"name": "reference", "outputSchema": json.loads('{"properties":{"a":' * 100 + '{"$ref":"#"}' + "}}" * 100)},
    {"name": "high", "outputSchema": {"type": "object", "maximum": 12345678901234567890123, "properties": {"b": True}}},
]


@pytest.mark.parametrize("odd", ODD, ids=["name", "deep", "reference", "number"])
def test_an_odd_tool_costs_the_others_nothing(tmp_path: Path, odd: dict[str, Any]) -> None:
    typed = {"name": "typed", "outputSchema": {"type": "object", "required": ["items"]}}
    script = tmp_path / "odd.py"
    answered = 'json.dumps({"tools": TOOLS, "nextCursor": "page 2"})'
    text = Path(SCRIPTED[-1]).read_text()
    assert answered in text
    script.write_text(text.replace(answered, repr(json.dumps({"tools": [odd, typed]}))))
    with proxy(tmp_path / "out", "--tools", "extract", server=[*SCRIPTED[:-1], str(script)]) as client:
        greet(client)
        listed = client.answer(client.post("tools/list"))["result"]["tools"]
    assert listed[0]["name"] == odd["name"]
    assert listed[1]["outputSchema"]["anyOf"][0] == typed["outputSchema"]
    assert listed[2]["name"] == "lro_extract"
    if "outputSchema" in odd:
        expected = json.dumps(odd["outputSchema"]).replace('"#"', '"#/anyOf/0"')
        assert json.dumps(listed[0]["outputSchema"]["anyOf"][0]) == expected


def test_a_schema_that_is_nested_too_deeply_accepts_all_objects() -> None:
    schema: dict[str, Any] = {}
    for _ in range(2000):
        schema = {"properties": {"a": schema}}
    result: dict[str, Any] = {"tools": [{"name": "deep", "outputSchema": schema}]}
    widen_tools(result)
    assert result["tools"][0]["outputSchema"] == {"type": "object"}


def test_a_server_that_answers_that_it_has_no_list_is_one_without_tools(tmp_path: Path) -> None:
    sent: list[bytes] = []
    tools = ProxyTools(Toolbox(["extract"], Settings(output_dir=str(tmp_path))), sent.append, print)
    message = {"jsonrpc": "2.0", "id": 3, "error": {"code": -32601, "message": "no such method"}}
    line = tools.list_without_server(message, 3, modern=True)
    assert line is not None
    result = json.loads(line)["result"]
    assert (result["resultType"], result["cacheScope"], result["ttlMs"]) == ("complete", "private", 0)
    assert [tool["name"] for tool in result["tools"]] == ["lro_extract"]
    assert tools.list_without_server({"error": {"code": -32000}}, 3, modern=True) is None
    assert tools.server_has_none


def test_pages_are_asked_for_until_one_is_the_last_or_comes_again() -> None:
    pages: dict[object, dict[str, Any]] = {
        None: {"nextCursor": "a"},
        "a": {"nextCursor": "b"},
        "b": {"nextCursor": "a"},
    }
    asked: list[object] = []
    done: list[str] = []
    tools = ServerTools(lambda names: list(names).clear())

    def ask(params: dict[str, Any]) -> None:
        asked.append(params.get("cursor"))
        tools.receive({"result": {"tools": [5, {"name": ["x"]}], **pages[params.get("cursor")]}})

    tools.request_page = ask
    tools.fetch(lambda: done.append("known"))
    tools.receive({"result": {"nextCursor": "late"}})
    assert (asked, done, tools.is_complete) == ([None, "a", "b"], ["known"], True)


def test_a_server_that_does_not_tell_its_tools_holds_nobody_up() -> None:
    done: list[str] = []
    tools = ServerTools(lambda names: list(names).clear())
    tools.fetch(lambda: done.append("anyway"))
    assert (done, tools.is_complete) == (["anyway"], False)
