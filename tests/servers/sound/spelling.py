"""Servers that spell the same JSON differently."""

from __future__ import annotations

import json

from tests.servers.plain import Call, Server
from tests.servers.sound.catalogue import sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record


@sound("it searches the text for '\"offloaded\": true' with the space")
class compact_json(Server):
    def dumps(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@sound("it compares bytes of the file with text of the answer", warns=("LRO-THR-03",))
class ascii_escapes(Server):
    def dumps(self, value: Any) -> str:
        return json.dumps(value)


@sound("it expects the order of fields that the text shows")
class sorted_keys(Server):
    def dumps(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)


@sound("it looks for the header's type at the start of the line")
class header_type_comes_last(Server):
    def header(self, call: Call) -> Record:
        header = super().header(call)
        return {**{k: v for k, v in reversed(header.items()) if k != "type"}, "type": "lro_header"}


@sound("it compares the path as raw text, with slashes unescaped")
class slashes_are_escaped(Server):
    def dumps(self, value: Any) -> str:
        return super().dumps(value).replace("/", "\\/")


@sound("it expects the descriptor on one line")
class descriptor_is_pretty_printed(Server):
    def offloaded(self, call: Call, path: str) -> Record:
        value = self.descriptor(call, path)
        return {**self.text(json.dumps(value, indent=2)), "structuredContent": value}


@sound("it distinguishes 1 from 1.0, as a JavaScript server cannot")
class whole_numbers_have_no_point(Server):
    def whole(self, value: Any) -> Any:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, dict):
            return {k: self.whole(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType]
        return [self.whole(v) for v in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]

    def dumps(self, value: Any) -> str:
        return super().dumps(self.whole(value))


@sound("it compares integers beyond 2^53 digit by digit")
class integers_pass_through_floats(Server):
    def dumps(self, value: Any) -> str:
        return super().dumps(json.loads(super().dumps(value), parse_int=self.double))

    def double(self, text: str) -> int:
        value = int(text)
        return value if abs(value) < 1 << 53 else int(float(text))


@sound("it takes a missing line end for a missing record, as `wc -l` does")
class file_ends_without_a_newline(Server):
    def file_bytes(self, call: Call) -> bytes:
        return super().file_bytes(call).rstrip(b"\n")


@sound("it refuses white space around a line's JSON")
class lines_have_space_at_the_end(Server):
    def file_lines(self, call: Call) -> list[str]:
        return [line + " " for line in super().file_lines(call)]


@sound("it closes its schemas to fields that the text does not name")
class extra_fields_everywhere(Server):
    def header(self, call: Call) -> Record:
        return {**super().header(call), "x_host": "here", "created_at": self.timestamp(0)}

    def summary(self, call: Call) -> Record:
        return {**super().summary(call), "x_unique_tags": 4}

    def recipes(self, path: str) -> list[Record]:
        return [{**recipe, "id": number, "requires": ["jq"]} for number, recipe in enumerate(super().recipes(path), 1)]

    def descriptor(self, call: Call, path: str) -> Record:
        return {**super().descriptor(call, path), "expires_in": self.settings.ttl, "format": "jsonl"}

    def at_detail(self, memory: Record, detail: str) -> Record:
        return {**super().at_detail(memory, detail), "x_rank": None, "x_links": {"self": "/"}}

    def inline_value(self, call: Call) -> Any:
        return {**super().inline_value(call), "x_took_ms": 3, "next_cursor": None}

    def reply(self, id: Any, result: Record) -> None:
        super().reply(id, {**result, "_meta": {"example.org/trace": "abc"}})
