"""`lro proxy --config mcp.json`: several servers behind one proxy, and each of them may fail alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lro_proxy.relay.merge import Target, merge_initialize, merge_lists
from tests.support.hubs import entry, hub
from tests.support.proxying import gone, records

LARGE = json.dumps({"content": [{"type": "text", "text": "a line\n" * 3000}]})


def said(text: str) -> str:
    return json.dumps({"content": [{"type": "text", "text": text}]})


def test_each_call_goes_to_the_server_that_is_meant(tmp_path: Path) -> None:
    absent = {"command": "/no/such/server"}
    off = {"command": "false", "disabled": True}
    with hub(tmp_path, **{"the left": entry("--all"), "right": entry(), "absent": absent, "off": off}) as client:
        names = [tool["name"] for tool in client.answer(client.post("tools/list"))["result"]["tools"]]
        assert names == [
            *("the_left_say", "the_left_typed", "ask", "die", "hang", "sleep", "huge"),
            *("right_say", "right_typed"),
        ]
        for name in ("the_left_say", "right_say"):
            assert client.result(name, result=said(name))["content"][0]["text"] == name
        assert client.answer(client.post("ping"))["result"] == {}
        told = client.answer(client.call("say"))["error"]["message"]
        assert told.endswith("several servers have 'say': use one of right_say, the_left_say")
        assert "right_nothing" in client.answer(client.call("right_nothing"))["error"]["message"]
        assert client.answer(client.post("tasks/list"))["error"]["code"] == -32601

        descriptor = json.loads(client.result("right_say", result=LARGE)["content"][0]["text"])
        assert descriptor["summary"]["operation"] == "say"
        assert len(records(descriptor["file_path"])[1]) == 3000

        asking = client.call("ask")
        request = json.loads(client.line())
        assert (request["method"], request["id"]) == ("sampling/createMessage", "the left/str/q1")
        client.send({"jsonrpc": "2.0", "id": request["id"], "result": {"model": "m"}})
        assert json.loads(client.answer(asking)["result"]["content"][0]["text"])["id"] == "q1"


def test_a_server_that_writes_ids_as_texts_is_understood(tmp_path: Path) -> None:
    with hub(tmp_path, left=entry("--ids-as-texts"), right=entry("--ids-as-texts")) as client:
        names = [tool["name"] for tool in client.answer(client.post("tools/list"))["result"]["tools"]]
        assert names == ["left_say", "left_typed", "right_say", "right_typed"]


def test_a_call_before_any_list_finds_its_server(tmp_path: Path) -> None:
    with hub(tmp_path, left=entry("--all"), right=entry()) as client:
        assert client.result("right_say", result=said("found"))["content"][0]["text"] == "found"


def test_of_several_servers_each_fails_alone(tmp_path: Path) -> None:
    with hub(tmp_path, "--request-timeout-s", "1", dying=entry("--all"), deaf=entry("--all"), well=entry()) as client:
        client.answer(client.post("tools/list"))
        hanging, dying = client.call("dying_hang"), client.call("dying_die")
        for id in (hanging, dying, client.call("dying_say", result=said("x"))):
            error = client.answer(id)["error"]
            assert (error["code"], "exited with code 7" in error["message"]) == (-31001, True)
        deaf = [client.call("deaf_sleep"), *(client.call("deaf_say", result=said("x" * 10**6)) for _ in range(4))]
        assert client.result("well_say", result=said("well"))["content"][0]["text"] == "well"  # and does not wait
        assert {client.answer(id)["error"]["code"] for id in deaf} == {-31002}
        names = [tool["name"] for tool in client.answer(client.post("tools/list"))["result"]["tools"]]
        assert names == ["well_say", "well_typed"]  # of those that still answer, by the names that were given out
        assert client.result("well_say", result=said("still"))["content"][0]["text"] == "still"
        assert client.answer(client.call("dying_say"))["error"]["code"] == -31001
        assert client.answer(client.call("nobody_has_this"))["error"]["code"] == -32602
        assert client.result("well_say", result=said("still"))["content"][0]["text"] == "still"


def test_no_server_is_left_behind(tmp_path: Path) -> None:
    with hub(tmp_path, left=entry("--all"), right=entry("--deaf")) as client:
        children = Path(f"/proc/{client.process.pid}/task/{client.process.pid}/children").read_text().split()
        assert len(children) == 2
        client.process.terminate()
        assert client.process.wait(20) == 143
        assert all(gone(int(child)) for child in children)


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ("{", "not valid JSON"),
        ("[]", "an object mcpServers"),
        ('{"mcpServers": {}}', "names no server"),
        ('{"mcpServers": {"a": 1}}', "mcpServers.a must be an object"),
        ('{"mcpServers": {"a": {"url": "x"}}}', "mcpServers.a.url must be an address"),
        ('{"mcpServers": {"a": {"url": "http://${NOBODY_SET}"}}}', "the environment variable NOBODY_SET"),
        ('{"mcpServers": {"a": {"url": "http://x", "type": "sse"}}}', "mcpServers.a.type is sse"),
        ('{"mcpServers": {"a": {"url": "http://x", "headers": ["t0p"]}}}', "mcpServers.a.headers"),
        ('{"mcpServers": {"a": {"args": []}}}', "mcpServers.a.command"),
        ('{"mcpServers": {"a": {"command": "x", "args": "y"}}}', "mcpServers.a.args"),
        ('{"mcpServers": {"a": {"command": "x", "env": {"A": 1}}}}', "mcpServers.a.env"),
        ('{"servers": {"a": {"command": "x", "cwd": 1}}}', ": servers.a.cwd"),
        (None, "cannot read"),
        ('{"mcpServers": {"a": {"command": "x"}}}', "only one of"),
    ],
)
def test_a_wrong_file_is_one_line(
    tmp_path: Path, document: str | None, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from lro_proxy.__main__ import main

    path = tmp_path / "mcp.json"
    if document is not None:
        path.write_text(document)
    assert main(["--config", str(path), *(["--", "cat"] if named == "only one of" else [])]) == 2
    told = capsys.readouterr().err
    assert (named in told, told.count("\n")) == (True, 1), told


def test_capabilities_of_all_are_one() -> None:
    one = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "logging": {}}, "instructions": "Be quick."}
    two = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}, "prompts": {}}}
    made = merge_initialize({"one": one, "two": two})
    assert made["protocolVersion"] == "2025-06-18"
    assert made["capabilities"] == {"tools": {"listChanged": True}, "logging": {}, "prompts": {}}
    assert made["instructions"] == "one: Be quick."


def test_of_an_address_that_two_have_the_first_is_meant() -> None:
    made, known = merge_lists("resources/list", {"one": [{"uri": "file:///a"}, 5], "two": [{"uri": "file:///a"}]})
    assert made == [{"uri": "file:///a"}]
    assert known["file:///a"].server == "one"


def test_a_name_once_given_is_kept() -> None:
    given: dict[Target, str] = {}
    a, b = [{"name": "text"}, {"name": "a_only"}], [{"name": "text"}]
    _, both = merge_lists("tools/list", {"a": a, "b": b}, given)
    made, alone = merge_lists("tools/list", {"b": b}, given)
    assert list(both) == ["a_text", "a_only", "b_text"]
    assert (made, list(alone)) == ([{"name": "b_text"}], ["b_text"])
    _, more = merge_lists("tools/list", {"c": [{"name": "a_only"}], "b": b}, given)
    assert list(more) == ["c_a_only", "b_text"]
    assert more["c_a_only"] == Target("c", "a_only")


def test_a_signal_while_a_thread_is_started_ends_it(tmp_path: Path) -> None:
    """What the signal interrupts holds the lock that every start of a thread takes."""
    script = tmp_path / "held.py"
    script.write_text(
        "import os, signal, threading, time\n"
        "from types import SimpleNamespace as Made\n"
        "from lro_proxy import supervise\n"
        "server = Made(end=lambda patient: None)\n"
        "supervise.shut_down_on_signals([server, server, server], Made(private_folder=False), [], Made(report=str))\n"
        "with threading._active_limbo_lock:\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    time.sleep(0.2)\n"
        "time.sleep(60)\n"
    )
    assert subprocess.run([sys.executable, str(script)], timeout=20, check=False).returncode == 143


def test_a_signal_that_wakes_nobody_ends_it(tmp_path: Path) -> None:
    """The main thread waits in a read, as it does when the signal came just before: nothing interrupts it."""
    script = tmp_path / "deaf.py"
    script.write_text(
        "import os, signal, threading, time\n"
        "from types import SimpleNamespace as Made\n"
        "from lro_proxy import supervise\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "server, ledger = Made(end=lambda patient: None), Made(report=str)\n"
        "supervise.shut_down_on_signals([server], Made(private_folder=False), [], ledger)\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\n"
        "os.kill(os.getpid(), signal.SIGTERM)\n"
        "os.read(os.pipe()[0], 1)\n"
    )
    assert subprocess.run([sys.executable, str(script)], timeout=20, check=False).returncode == 143
