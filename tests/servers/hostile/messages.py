"""Attacks by JSON-RPC messages."""

from __future__ import annotations

from tests.servers.hostile.catalogue import hostile
from tests.servers.plain import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record

DEEP = 100_000


@hostile("a result nested a hundred thousand deep")
class bottomless_result(Server):
    def dumps(self, value: Any) -> str:
        return super().dumps(value).replace('"@DEEP@"', "[" * DEEP + "]" * DEEP)

    def structured(self, value: Any) -> Record:
        return {**super().structured(value), "_meta": {"deep": "@DEEP@"}}


@hostile("results nested a little deeper each time, so that some can be parsed and not be walked")
class deeper_and_deeper(Server):
    depth = 150

    def dumps(self, value: Any) -> str:
        return super().dumps(value).replace('"@DEEP@"', '{"a":' * self.depth + "1" + "}" * self.depth)

    def at_detail(self, memory: Record, detail: str) -> Record:
        return {**super().at_detail(memory, detail), "extensions": {"x": "@DEEP@"}}

    def offer(self, operation: str, arguments: Record) -> Record:
        self.depth = 150 + self.calls * 9 % 900
        return super().offer(operation, arguments)


@hostile("notifications and errors nested as deep as can be parsed")
class deep_notifications(Server):
    def dumps(self, value: Any) -> str:
        depth = 700 + self.calls * 7 % 300
        return super().dumps(value).replace('"@DEEP@"', '{"a":' * depth + "1" + "}" * depth)

    def reply(self, id: Any, result: Record) -> None:
        self.notify("notifications/message", {"level": "info", "data": "@DEEP@", "event": "OffloadFileExpired"})
        if self.calls % 9 == 8:
            self.send({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": "no", "data": "@DEEP@"}})
        else:
            super().reply(id, result)


@hostile("answers twice, answers what was not asked, and answers before it is asked")
class answers_at_will(Server):
    def reply(self, id: Any, result: Record) -> None:
        super().reply(id + 1, {"content": [{"type": "text", "text": "too early"}]})
        super().reply(10**6, result)
        super().reply(-1, result)
        super().reply(id, result)
        super().reply(id, {"content": "again"})


@hostile("asks the client to sample, to elicit and to list its roots, a thousand times")
class asks_the_client(Server):
    def reply(self, id: Any, result: Record) -> None:
        for n in range(300):
            for method in ("sampling/createMessage", "elicitation/create", "roots/list"):
                self.send({"jsonrpc": "2.0", "id": f"{method}-{n}", "method": method, "params": {"maxTokens": 1}})
        super().reply(id, result)


@hostile("other versions of JSON-RPC, and members of the wrong type")
class wrong_jsonrpc(Server):
    def send(self, message: Record) -> None:
        odd: list[Any] = ["1.0", 2.0, None, ["2.0"], {}]
        super().send({**message, "jsonrpc": odd[self.calls % 5]})


@hostile("ids as text, as floats, as lists, as null")
class wrong_ids(Server):
    def reply(self, id: Any, result: Record) -> None:
        odd: list[Any] = [str(id), float(id), [id], {"id": id}, None, True]
        super().reply(odd[self.calls % 6], result)
        if self.calls % 6 in (2, 3, 5):
            super().reply(id, result)


@hostile("results that are lists, texts, numbers; content as an object; isError as text")
class wrong_types(Server):
    def reply(self, id: Any, result: Any) -> None:
        if self.calls > 4:
            odd: list[Any] = [
                [result],
                "text",
                0,
                {"content": {"type": "text", "text": "x"}},
                {**result, "isError": "no"},
                {**result, "content": [None, 1, [], {"type": "text"}, {"type": "text", "text": 5}]},
                {**result, "structuredContent": [1]},
                result,
                result,
            ]
            result = odd[self.calls % len(odd)]
        super().reply(id, result)


@hostile("fields of the descriptor, the header and the records of every wrong type")
class wrong_fields(Server):
    odd: tuple[Any, ...] = (None, True, -1, 1.5, "x", [], {}, [[]], [{}], {"a": []}, "", 10**18)

    def twisted(self, value: Record, salt: int) -> Record:
        keys = sorted(value)
        chosen = keys[(self.calls + salt) % len(keys)]
        return {**value, chosen: self.odd[(self.calls * 5 + salt) % len(self.odd)]}

    def descriptor(self, call: Any, path: str) -> Record:
        return self.twisted(super().descriptor(call, path), 1)

    def summary(self, call: Any) -> Record:
        return super().summary(call)

    def header(self, call: Any) -> Record:
        return self.twisted(super().header(call), 2)

    def record_line(self, record: Record) -> str:
        return super().record_line(self.twisted(record, len(record["title"])))


@hostile("a handshake of the wrong types")
class wrong_handshake(Server):
    def initialize(self, params: Record) -> Record:
        return {"protocolVersion": ["x"], "capabilities": {"logging": 1}, "serverInfo": [{"name": {}}]}


@hostile("a handshake whose names and versions are objects")
class odd_handshake(Server):
    def initialize(self, params: Record) -> Record:
        info: Record = {"name": {"a": [1]}, "version": 10**300}
        return {"protocolVersion": 5, "capabilities": [], "serverInfo": info, "instructions": {}}
