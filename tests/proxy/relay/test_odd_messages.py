"""Messages as nobody should write them: none ends the proxy, and none costs a call its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lro_proxy.payload.interceptor import Interceptor
from lro_proxy.relay.pending import PendingRequests
from lro_proxy.relay.relay import Relay, RelayOptions
from lro_proxy.wire.framing import ends
from lro_proxy.wire.jsonrpc import parse, parse_lossless, raw_member, serialise
from lro_proxy.wire.nesting import flatten
from lro_proxy.wire.truncated import id_in, response_id_in
from tests.support.hubs import entry, hub
from tests.support.proxying import Client, proxy, records

DEEP = '{"a":' * 1500 + "1.10" + "}" * 1500


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with proxy(tmp_path_factory.mktemp("odd"), "--tools", "extract") as made:
        yield made


@pytest.mark.parametrize("name", ["[1]", "{}", "null", "7"])
def test_a_name_that_is_no_text_ends_nothing(client: Client, name: str) -> None:
    waiting = client.post("tools/call", name=json.loads(name), arguments={"result": '{"content":[]}'})
    assert client.result("say", result='{"n":1}') == {"n": 1}
    assert client.process.poll() is None
    assert waiting


def test_a_client_line_that_the_proxy_cannot_take_is_the_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[bytes] = []
    relay, told = broken_in("track", monkeypatch, Silent(), b"a", b"b")
    relay.forward(0, Listening(heard))
    assert heard == [b"a", b"b"]
    assert len(told) == 2


def test_a_server_line_that_the_proxy_cannot_take_costs_its_own_call_only(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Silent()
    lines = b'{"jsonrpc":"2.0","id":5,"result":{}}', b'{"id":6,"result":{}}'
    relay, _ = broken_in("_answer_one", monkeypatch, client, *lines)
    relay.answer(0)
    assert [(m["id"], m["error"]["code"]) for m in map(json.loads, client.lines)] == [(5, -32603), (6, -32603)]


def broken_in(name: str, monkeypatch: pytest.MonkeyPatch, client: Silent, *lines: bytes) -> tuple[Relay, list[str]]:
    """A relay with a defect that hears these lines, and what it tells."""

    def fail(*given: object) -> None:
        raise KeyError(*given)

    def read(*given: object) -> Iterator[bytearray]:
        del given
        return map(bytearray, lines)

    told: list[str] = []
    options = RelayOptions(1 << 20, dict[str, int]().get, {})
    relay = Relay(options, PendingRequests(1), Interceptor(), client, told.append)
    monkeypatch.setattr(relay, name, fail)
    monkeypatch.setattr("lro_proxy.relay.relay.read_lines", read)
    return relay, told


class Silent:
    """A client that is written to."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def write(self, line: bytes | bytearray) -> bool:
        self.lines.append(bytes(line))
        return True


class Listening:
    """A server that is written to."""

    def __init__(self, heard: list[bytes]) -> None:
        self._heard = heard

    def write(self, line: bytes | bytearray) -> bool:
        self._heard.append(bytes(line))
        return True

    offer = write

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"method": ["tools/call"]}, -32600),
        ({"method": {}}, -32600),
        ({"method": "tools/call", "params": {"name": ["x"]}}, -32602),
        ({"method": "resources/read", "params": {"uri": {}}}, -32602),
        ({"method": "completion/complete", "params": {"ref": [1]}}, -32602),
        ({"method": "logging/setLevel", "params": 5}, None),
    ],
)
def test_several_servers_outlive_odd_requests(several: Client, message: dict[str, Any], code: int | None) -> None:
    several.send({"jsonrpc": "2.0", "id": "odd", **message})
    answer = several.answer("odd")
    assert answer.get("error", {}).get("code") == code


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with hub(tmp_path_factory.mktemp("several"), "--tools", "extract", left=entry(), right=entry()) as made:
        yield made


def test_several_servers_take_what_is_nested_deeply(several: Client) -> None:
    result = f'{{"content":[],"structuredContent":{DEEP}}}'
    descriptor = several.result("left_say", result=result)["structuredContent"]
    assert "".join(line["text"] for line in records(descriptor["file_path"])[1]) == result


BROKEN = [
    '{"id":$ID,"jsonrpc":"2.0","result":{"content":[}}\n',
    '{"id":$ID,"result":{"content":[}}\n',
    '{"x":{"id":0},"id":$ID,"result":tru,"jsonrpc":"2.0"}\n',
    '{"result":tru,"id":$ID,"_more":{"id":0}}\n',
    '{"result":tru,"id":$ID}\n',
]


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_answer_is_an_error_wherever_its_id_stands(client: Client, text: str) -> None:
    assert client.answer(client.call("raw", text=text), 5)["error"]["code"] == -32004


def test_a_byte_order_mark_is_left_out(client: Client) -> None:
    id = client.call("raw", text='\ufeff{"jsonrpc":"2.0","id":$ID,"result":{"n":1.0}}\n')
    assert client.line() == f'{{"jsonrpc":"2.0","id":{id},"result":{{"n":1.0}}}}'.encode()


@pytest.mark.parametrize(
    ("text", "id", "answered"),
    [
        ('{"id":4,"jsonrpc":"2.0","result":{', 4, 4),
        ('{"jsonrpc" : "2.0", "id" : "a\\"b" , "result":[}', 'a"b', 'a"b'),
        ('{"method":"ping","id":4,"params":[}', 4, None),
        ('{"id":4,"method":"ping","params":[}', 4, None),
        ('{"result":{"id":5},"x":1}', None, None),
        ('{"result":{"x":[{"id":5}]}}', None, None),
        ('{"result":"%s","id":7,"_meta":{"id":3}}' % ("x" * 9000), 7, 7),
        ('{"result":{"a":"%s","id":7}}' % ("x" * 9000), None, None),
        ('{"result":"\\"id\\":5}', None, None),
        ('{"x":"id","id":5,', 5, 5),
        ('{"id":{"id":4}}', None, None),
        ("", None, None),
    ],
)
def test_an_id_is_found_at_the_top_level_only(text: str, id: object, answered: object) -> None:
    assert (id_in(ends(text.encode())), response_id_in(ends(text.encode()))) == (id, answered)


@pytest.mark.parametrize("depth", [200, 400, 1500, 100_000])
def test_json_below_the_threshold_passes_however_deep_it_is(patient: Client, depth: int) -> None:
    result = f'{{"content":[],"structuredContent":{"[" * depth}1.10{"]" * depth}}}'
    id = patient.call("say", result=result)
    assert patient.line() == f'{{"jsonrpc": "2.0",  "id":{id},"result":{result}}}'.encode()


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with proxy(tmp_path_factory.mktemp("patient"), threshold=10**7) as made:
        yield made


def test_large_json_is_offloaded_however_deep_it_is(tmp_path: Path) -> None:
    result = f'{{"content":[{{"type":"text","text":"short"}}],"structuredContent":{DEEP},"_meta":{{"deep":{DEEP}}}}}'
    with proxy(tmp_path) as client:
        message = json.loads(client_line := _line(client, result))["result"]["structuredContent"]
        header, lines = records(message["file_path"])
    assert "".join(line["text"] for line in lines) == result
    assert header["extra"]["from"] == "result"
    assert len(client_line) < len(result)


def _line(client: Client, result: str) -> bytes:
    client.call("say", result=result)
    line = client.line()
    return line.replace(DEEP.encode(), b"1")


@pytest.mark.parametrize("text", [DEEP, f'{{"jsonrpc":"2.0","id":1,"result":{DEEP}, "x":[[1.10]]}}', f"[{DEEP},1.50]"])
def test_what_is_nested_deeply_is_written_again_without_a_loss(text: str) -> None:
    assert serialise(parse_lossless(text.encode())).replace(b" ", b"") == text.replace(" ", "").encode()
    assert parse(text.encode()) is not None


def test_a_member_is_as_it_came_however_deep_it_is() -> None:
    assert raw_member(f'{{"id":1, "result": {DEEP} }}'.encode(), "result") == DEEP


@pytest.mark.parametrize(
    "text", ["[" * 5000, "[" * 2000 + "]" * 1999, "[" * 2000 + "1 2" + "]" * 2000, "[" * 1500 + "}" + "]" * 1499]
)
def test_what_is_no_json_deep_down_is_none(text: str) -> None:
    assert parse(text.encode()) is None
    assert parse_lossless(text.encode()) is None


def test_what_is_not_deep_needs_no_marks() -> None:
    assert flatten("[" * 100 + '"]]"' + "]" * 100, json.loads) is None
