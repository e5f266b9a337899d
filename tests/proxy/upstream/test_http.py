"""`lro proxy --url`: a server that is reached by HTTP, behind the proxy."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.servers.upstream.over_http import Served, serving
from tests.support.paths import SERVERS
from tests.support.proxying import SCRIPTED, SETTING, Client, records, started

LARGE = "a line\n" * 3000


@contextmanager
def behind(folder: Path, *options: str, stderr: Any = subprocess.DEVNULL, **env: str) -> Generator[Client]:
    command = [sys.executable, "-m", "lro_proxy", *options]
    settings = {f"{SETTING}OUTPUT_DIR": str(folder), f"{SETTING}THRESHOLD_TOKENS": "200"}
    with started(command, stderr, **settings, **env) as client:
        yield client


def hello(client: Client) -> dict[str, Any]:
    result = client.answer(
        client.post(
            "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "t", "version": "1"}
        )
    )["result"]
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return result


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving() as made:
        yield made


@pytest.fixture(scope="module")
def client(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with behind(tmp_path_factory.mktemp("http"), "--url", served.url, "--header", "Authorization: Bearer abc") as made:
        assert hello(made)["capabilities"]["experimental"]["lro"]["proxy"] is True
        yield made


def said(client: Client, tool: str, **arguments: Any) -> str:
    return client.result(tool, **arguments)["content"][0]["text"]


def refused(client: Client, tool: str) -> tuple[int, str]:
    error = client.answer(client.call(tool))["error"]
    return error["code"], error["message"]


def test_messages_carry_the_session_the_version_and_the_headers_that_are_given(client: Client, served: Served) -> None:
    assert client.answer(client.post("tools/list"))["result"]["tools"][0]["name"] == "say"
    first, after = served.messages("initialize")[0][0], served.messages("tools/list")[0][0]
    assert "mcp-session-id" not in first
    assert (after["mcp-session-id"], after["mcp-protocol-version"]) == (served.session, "2025-11-25")
    assert {h["authorization"] for _, h, _ in served.seen} == {"Bearer abc"}
    assert after["accept"] == "application/json, text/event-stream"


def test_a_notification_has_arrived_before_what_is_asked_next(client: Client, served: Served) -> None:
    client.answer(client.post("tools/list"))
    asked = [m.get("method") for verb, _, m in served.seen if verb == "POST"]
    assert asked[:3] == ["initialize", "notifications/initialized", "tools/list"]


@pytest.mark.parametrize("tool", ["say", "stream"])
def test_small_results_pass_and_large_ones_are_offloaded(client: Client, tool: str) -> None:
    assert said(client, tool, text="small\u2028\nas it is") == "small\u2028\nas it is"
    descriptor = json.loads(said(client, tool, text=LARGE))
    assert [line["text"] for line in records(descriptor["file_path"])[1]] == ["a line"] * 3000


def test_an_answer_over_several_lines_is_one_line(client: Client) -> None:
    assert said(client, "pretty") == "two\nlines"


def test_a_notification_of_a_call_comes_before_its_answer(client: Client) -> None:
    id = client.call("stream", text="then")
    assert json.loads(client.line())["method"] == "notifications/message"
    assert json.loads(client.line())["id"] == id


def test_a_stream_that_stops_is_resumed_where_it_was(client: Client, served: Served) -> None:
    assert said(client, "stopped") == "resumed"
    assert any(h.get("last-event-id", "").startswith("stopped-") for verb, h, _ in served.seen if verb == "GET")


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        ("broken", "answered HTTP 500"),
        ("unauthorized", "answered HTTP 401: give the credentials as a header"),
        ("elsewhere", "answered HTTP 308: it has moved to http://192.0.2.1/mcp"),
        ("accepted", "accepted the request (HTTP 202), but gave no answer"),
        ("ended", "stream ended before the answer"),
        ("cut", "the connection to "),
        ("another", "answered HTTP 200, but not this request"),
    ],
)
def test_each_way_to_give_no_answer_is_an_error_of_that_call_alone(client: Client, tool: str, told: str) -> None:
    code, message = refused(client, tool)
    assert code == -31001
    assert message.startswith("lro proxy: ")
    assert told in message
    assert said(client, "say", text="still there") == "still there"


def test_what_is_no_json_is_an_error_whatever_its_type_says(client: Client) -> None:
    assert refused(client, "no JSON") == (-31004, "lro proxy: the server's answer is not valid JSON: <p>…")


def test_events_are_in_utf_8_whatever_their_type_says_and_may_begin_with_a_mark(client: Client) -> None:
    assert said(client, "marked", text="größe ☃") == "größe ☃"


def test_each_request_of_a_batch_is_answered(client: Client) -> None:
    client.send([{"jsonrpc": "2.0", "id": f"b-{n}", "method": "tools/list"} for n in range(2)])
    assert {json.loads(client.line())["id"] for _ in range(2)} == {"b-0", "b-1"}


def test_half_of_a_surrogate_pair_in_a_request_costs_no_answer(client: Client) -> None:
    client.send(
        b'{"jsonrpc":"2.0","id":"half","method":"tools/call","params":{"name":"say","arguments":{"x":"\\ud83d"}}}\n'
    )
    assert client.answer("half")["result"]


def test_an_error_of_the_servers_keeps_its_words_under_any_status(client: Client) -> None:
    assert refused(client, "refused") == (-32602, "not like this")


def test_what_the_server_says_by_itself_arrives_and_can_be_answered(client: Client, served: Served) -> None:
    said(client, "say", text="so that the stream is open")
    served.speaks.set()
    assert json.loads(client.line())["method"] == "notifications/tools/list_changed"
    assert json.loads(client.line()) == {"jsonrpc": "2.0", "id": "s-1", "method": "roots/list"}
    client.send({"jsonrpc": "2.0", "id": "s-1", "result": {"roots": []}})
    said(client, "say", text="after it")
    assert any(m.get("id") == "s-1" and "result" in m for _, _, m in served.seen)


def test_a_session_that_the_server_forgets_is_begun_anew(client: Client, served: Served) -> None:
    assert said(client, "forget") == "forgotten"
    assert said(client, "say", text="again") == "again"
    assert served.session == "session-2"
    assert len(served.messages("initialize")) == 2
    until = time.monotonic() + 10
    while time.monotonic() < until and all(
        h.get("mcp-session-id") != "session-2" for v, h, _ in served.seen if v == "GET"
    ):
        time.sleep(0.01)
    served.speaks.set()
    assert json.loads(client.line())["method"] == "notifications/tools/list_changed"
    client.line()


def test_fifty_calls_at_once_keep_apart(client: Client) -> None:
    ids = {client.call("stream" if n % 2 else "say", text=f"number {n}"): n for n in range(50)}
    found: dict[int, str] = {}
    while len(found) < 50:
        message = json.loads(client.line())
        if "result" in message:
            found[ids[message["id"]]] = message["result"]["content"][0]["text"]
    assert found == {n: f"number {n}" for n in range(50)}


def test_an_answer_over_the_limit_is_an_error_and_the_rest_goes_on(tmp_path: Path) -> None:
    with serving() as served, behind(tmp_path, "--url", served.url, "--max-line-mb", "1") as client:
        hello(client)
        for tool in ("say", "stream"):
            error = client.answer(client.call(tool, text="x", times=2 << 20))["error"]
            assert error["code"] == -31003
            assert "--max-line-mb" in error["message"]
        assert said(client, "say", text="small") == "small"


def test_leaving_ends_the_session_and_waits_for_answers(tmp_path: Path) -> None:
    with serving() as served, behind(tmp_path, "--url", served.url) as client:
        hello(client)
        last = client.call("say", text="the last words")
        assert client.process.stdin
        client.process.stdin.close()
        assert client.answer(last)["result"]["content"][0]["text"] == "the last words"
        assert client.process.wait(20) == 0
        # the request that listens for messages, which nobody needs any more, may arrive after it
        assert [headers["mcp-session-id"] for method, headers, *_ in served.seen if method == "DELETE"] == ["session-1"]


def test_a_server_that_never_ends_its_goodbye_is_left_all_the_same(tmp_path: Path) -> None:
    with serving(dawdles=True) as served, behind(tmp_path, "--url", served.url) as client:
        hello(client)
        client.call("hang")
        while not served.messages("tools/call"):
            time.sleep(0.01)
        client.process.terminate()
        assert client.process.wait(10) == 143
        assert served.seen[-1][0] == "DELETE"


def test_a_slash_too_few_is_followed_on_the_same_server(tmp_path: Path) -> None:
    with serving() as served:
        served.url += "/"
        with behind(tmp_path, "--url", served.url.removesuffix("/")) as client:
            hello(client)
            assert said(client, "say", text="here") == "here"


def test_since_2026_a_message_tells_its_version_and_hanging_up_cancels(tmp_path: Path) -> None:
    with serving(modern=True) as served, behind(tmp_path, "--url", served.url) as client:
        meta = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
        client.answer(client.post("tools/call", name="say", arguments={"text": "x"}, **meta))
        id = client.post("tools/call", name="größe", **meta)
        while len(served.messages("tools/call")) < 2:
            time.sleep(0.01)
        headers = served.messages("tools/call")[1][0]
        assert (headers["mcp-protocol-version"], headers["mcp-method"]) == ("2026-07-28", "tools/call")
        assert headers["mcp-name"] == "=?base64?Z3LDtsOfZQ==?="
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
        assert client.answer(id)["error"]["code"] == -31005
        assert served.hung_up.wait(10)
        assert not served.messages("notifications/cancelled")


def test_a_cancellation_after_the_answer_does_not_concern_a_later_request_with_the_same_id(tmp_path: Path) -> None:
    with serving(modern=True) as served, behind(tmp_path, "--url", served.url) as client:
        call = {
            "jsonrpc": "2.0",
            "id": "again",
            "method": "tools/call",
            "params": {
                "name": "say",
                "arguments": {"text": "x"},
                "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
            },
        }
        for _ in range(2):
            client.send(call)
            assert "result" in client.answer("again")
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "again"}})


def test_nobody_at_the_address_is_an_error_that_says_so(tmp_path: Path) -> None:
    with behind(tmp_path, "--url", "http://127.0.0.1:9/mcp?key=secret") as client:
        error = client.answer(
            client.post(
                "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "t", "version": "1"}
            )
        )["error"]
        assert error["message"].startswith("lro proxy: the connection to http://127.0.0.1:9/mcp failed: ")
        assert client.leave() == 0


def test_a_file_of_servers_has_those_over_http_too(tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    with serving() as served:
        remote = {"type": "http", "url": "${WHERE}", "headers": {"Authorization": "Bearer ${TOKEN}"}}
        local = {"command": SCRIPTED[0], "args": list(SCRIPTED[1:])}
        config.write_text(json.dumps({"mcpServers": {"remote": remote, "local": local}}))
        with behind(tmp_path, "--config", str(config), WHERE=served.url, TOKEN="t0p") as client:
            hello(client)
            names = [tool["name"] for tool in client.answer(client.post("tools/list"))["result"]["tools"]]
            assert names[:2] == ["remote_say", "local_say"]
            descriptor = json.loads(said(client, "remote_say", text=LARGE))
            assert len(records(descriptor["file_path"])[1]) == 3000
        assert served.messages("tools/list")[0][0]["authorization"] == "Bearer t0p"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--url", "ftp://x/"], "--url must be an address like https://example.org/mcp"),
        (["--url", "http://[::1"], "--url must be an address like https://example.org/mcp"),
        (["--url", "http://x/", "--header", "a: t0p\nb: c"], "--header: the value of a contains a line end"),
        (["--url", "http://x/", "--", "y"], "give only one of a command after -- and --url"),
        (["--header", "a: b", "--", "y"], "--header needs --url"),
        (["--url", "http://x/", "--header", "Bearer t0p"], "--header must be 'NAME: VALUE'"),
    ],
)
def test_a_wrong_address_is_one_line(tmp_path: Path, options: list[str], told: str) -> None:
    with behind(tmp_path, *options, stderr=subprocess.PIPE) as client:
        _, error = client.process.communicate()
        assert client.process.returncode == 2
        assert told in error.decode()
        assert "t0p" not in error.decode()
        assert error.count(b"\n") == 1


@pytest.mark.long
def test_a_server_on_the_official_sdk_is_understood(tmp_path: Path) -> None:
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port = chosen.getsockname()[1]
    command = [sys.executable, str(SERVERS / "upstream" / "rows_over_http.py"), str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            until = time.monotonic() + 60
            while socket.socket().connect_ex(("127.0.0.1", port)) and time.monotonic() < until:
                time.sleep(0.05)
            with behind(tmp_path, "--url", f"http://127.0.0.1:{port}/mcp/") as client:
                assert "logging" not in hello(client)["capabilities"]
                assert client.result("rows", n=2)["structuredContent"]["result"][1] == {"id": 1, "name": "row 1"}
                descriptor = client.result("rows", n=2000)["structuredContent"]
                assert records(descriptor["file_path"])[1][-1] == {"id": 1999, "name": "row 1999"}
        finally:
            server.terminate()
