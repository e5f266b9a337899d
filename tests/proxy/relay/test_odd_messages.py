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
from lro_proxy.wire.framing import ends_of
from lro_proxy.wire.jsonrpc import parse, parse_lossless, raw_member, serialise
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
    received: list[bytes] = []
    relay, log = broken_in("track", monkeypatch, Silent(), b"a", b"b")
    relay.forward(0, Listening(received))
    assert received == [b"a", b"b"]
    assert len(log) == 2


def test_a_server_line_that_the_proxy_cannot_take_costs_its_own_call_only(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Silent()
    lines = b'{"jsonrpc":"2.0","id":5,"result":{}}', b'{"id":6,"result":{}}'
    relay, _ = broken_in("_answer_one", monkeypatch, client, *lines)
    relay.answer(0)
    assert [(m["id"], m["error"]["code"]) for m in map(json.loads, client.lines)] == [(5, -32603), (6, -32603)]


def broken_in(name: str, monkeypatch: pytest.MonkeyPatch, client: Silent, *lines: bytes) -> tuple[Relay, list[str]]:
    """A relay with a defect that reads these lines, and its log."""

    def fail(*given: object) -> None:
        raise KeyError(*given)

    def read(*given: object) -> Iterator[bytearray]:
        del given
        return map(bytearray, lines)

    log: list[str] = []
    options = RelayOptions(1 << 20, dict[str, int]().get, {})
    relay = Relay(options, PendingRequests(1), Interceptor(), client, log.append)
    monkeypatch.setattr(relay, name, fail)
    monkeypatch.setattr("lro_proxy.relay.relay.read_lines", read)
    return relay, log


class Silent:
    """A client that is written to."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def write(self, line: bytes | bytearray) -> bool:
        self.lines.append(bytes(line))
        return True


class Listening:
    """A server that is written to."""

    def __init__(self, received: list[bytes]) -> None:
        self._heard = received

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


def test_of_several_servers_too_deep_an_answer_is_an_error(several: Client) -> None:
    answer = several.answer(several.call("left_say", result=f'{{"content":[],"structuredContent":{DEEP}}}'))
    assert answer["error"]["code"] == -31004
    assert "nested more deeply" in answer["error"]["message"]
    assert several.result("left_say", result='{"n":1}') == {"n": 1}


BROKEN = [
    '{"id":$ID,"jsonrpc":"2.0","result":{"content":[}}\n',
    '{"id":$ID,"result":{"content":[}}\n',
    '{"x":{"id":0},"id":$ID,"result":tru,"jsonrpc":"2.0"}\n',
    '{"result":tru,"id":$ID,"_more":{"id":0}}\n',
    '{"result":tru,"id":$ID}\n',
]


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_answer_is_an_error_wherever_its_id_stands(client: Client, text: str) -> None:
    assert client.answer(client.call("raw", text=text), 5)["error"]["code"] == -31004


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
    assert (id_in(ends_of(text.encode())), response_id_in(ends_of(text.encode()))) == (id, answered)


@pytest.mark.parametrize("depth", [200, 400, 900])
def test_deep_json_below_the_threshold_passes(patient: Client, depth: int) -> None:
    result = f'{{"content":[],"structuredContent":{"[" * depth}1.10{"]" * depth}}}'
    id = patient.call("say", result=result)
    assert patient.line() == f'{{"jsonrpc": "2.0",  "id":{id},"result":{result}}}'.encode()


@pytest.mark.parametrize("depth", [1500, 100_000])
def test_deeper_json_is_an_error_that_says_so(patient: Client, depth: int) -> None:
    result = f'{{"content":[],"structuredContent":{"[" * depth}1.10{"]" * depth}}}'
    error = patient.answer(patient.call("say", result=result))["error"]
    assert error["code"] == -31004
    assert error["message"] == "lro proxy: the server's answer is nested more deeply than the proxy can read"
    assert patient.result("say", result='{"n":1}') == {"n": 1}


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with proxy(tmp_path_factory.mktemp("patient"), threshold=10**7) as made:
        yield made


@pytest.mark.parametrize("depth", [300, 900])
def test_large_deep_json_is_offloaded_as_its_text(tmp_path: Path, depth: int) -> None:
    deep = '{"a":' * depth + f'"{"x" * 1000}"' + "}" * depth
    result = f'{{"content":[{{"type":"text","text":"short"}}],"structuredContent":{deep},"_meta":{{"deep":{deep}}}}}'
    with proxy(tmp_path) as client:
        answer = client.result("say", result=result)
        header, lines = records(answer["structuredContent"]["file_path"])
    assert "".join(line["text"] for line in lines) == result
    assert header["extra"]["from"] == "result"
    assert answer["_meta"] == json.loads(f'{{"deep":{deep}}}')


@pytest.mark.parametrize("depth", [100, 300, 900])
def test_deep_json_is_written_again_without_a_loss(depth: int) -> None:
    text = '{"a":' * depth + "[1.10,1e400]" + "}" * depth
    assert serialise(parse_lossless(text.encode())) == text.encode()
    assert raw_member(f'{{"id":1, "result": {text} }}'.encode(), "result") == text


@pytest.mark.parametrize("text", ["[" * 5000, "[" * 2000 + "]" * 2000, "[" * 900 + "1 2" + "]" * 900])
def test_too_deep_or_invalid_json_is_none(text: str) -> None:
    assert parse(text.encode()) is None
    assert parse_lossless(text.encode()) is None
