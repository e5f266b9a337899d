"""Attacks by JSON values that are hard to read."""

from __future__ import annotations

from tests.servers.hostile.catalogue import hostile
from tests.servers.plain import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Call, Record


class Raw(Server):
    """JSON in which marks stand for what cannot be written otherwise."""

    marks: dict[str, str] = {}  # noqa: RUF012 - replaced as a whole

    def dumps(self, value: Any) -> str:
        text = super().dumps(value)
        for mark, raw in self.marks.items():
            text = text.replace(f'"{mark}"', raw)
        return text


@hostile("an estimate of four hundred digits")
class estimate_of_400_digits(Raw):
    marks = {"@N@": "9" * 400}  # noqa: RUF012

    def header(self, call: Call) -> Record:
        return {**super().header(call), "estimated_tokens": "@N@", "count": "@N@"}

    def summary(self, call: Call) -> Record:
        return {**super().summary(call), "estimated_tokens": "@N@", "count": "@N@"}


@hostile("an estimate of four hundred digits in the summary only")
class summary_of_400_digits(Raw):
    marks = {"@N@": "9" * 400}  # noqa: RUF012

    def header(self, call: Call) -> Record:
        made = super().header(call)
        del made["estimated_tokens"]
        return made

    def summary(self, call: Call) -> Record:
        return {**super().summary(call), "estimated_tokens": "@N@", "score_range": ["@N@", "@N@"]}


@hostile("integers of ten thousand digits")
class ten_thousand_digits(Raw):
    marks = {"@N@": "9" * 10_000}  # noqa: RUF012

    def at_detail(self, memory: Record, detail: str) -> Record:
        return {**super().at_detail(memory, detail), "extensions": {"x": "@N@"}}

    def summary(self, call: Call) -> Record:
        return {**super().summary(call), "score_range": ["@N@", "@N@"]}


@hostile("1e999, NaN and infinities, everywhere")
class not_numbers(Raw):
    marks = {"@NAN@": "NaN", "@INF@": "-Infinity", "@BIG@": "1e999"}  # noqa: RUF012

    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        return {**record, "provenance": {"confidence": "@NAN@"}, "score": "@BIG@"}

    def header(self, call: Call) -> Record:
        return {**super().header(call), "estimated_tokens": ("@NAN@", "@INF@", "@BIG@")[self.calls % 3]}

    def scores(self, call: Call) -> list[float]:
        return []

    def summary(self, call: Call) -> Record:
        odd: list[Any] = [["@NAN@", "@NAN@"], ["@INF@", "@BIG@"], "@NAN@"]
        return {
            **super().summary(call),
            "estimated_tokens": "@BIG@",
            "count": "@INF@",
            "score_range": odd[self.calls % 3],
        }


@hostile("confidences beyond all floats")
class huge_confidences(Raw):
    marks = {"@N@": "9" * 350, "@M@": "-" + "9" * 350}  # noqa: RUF012

    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        return {**record, "provenance": {"confidence": "@N@" if len(memory["title"]) % 2 else "@M@"}, "score": "@M@"}

    def scores(self, call: Call) -> list[float]:
        return []

    def score_range(self, call: Call) -> Any:
        return ["@M@", "@N@"]


@hostile("lone surrogates and NUL in every text of the records")
class lone_surrogates(Raw):
    def dumps(self, value: Any) -> str:
        return super().dumps(value).replace("@S@", "\\ud800\\u0000\\udfff")

    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        for name in ("title", "namespace", "content", "memory_type", "id", "created"):
            if name in record:
                record[name] = f"{record[name]}@S@"
        return {**record, "@S@": "@S@"}

    def header(self, call: Call) -> Record:
        return {**super().header(call), "query": "@S@", "schema_version": "@S@", "timestamp": "@S@"}

    def summary(self, call: Call) -> Record:
        return {**super().summary(call), "detail": "@S@", "top_namespaces": ["@S@"]}


@hostile("records nested a hundred thousand deep")
class bottomless_lines(Raw):
    marks = {"@D@": "[" * 100_000 + "]" * 100_000}  # noqa: RUF012

    def record_line(self, record: Record) -> str:
        return super().record_line({**record, "extensions": {"d": "@D@"}} if len(record["title"]) % 2 else record)


@hostile("the same key a hundred times in one object, ids that are all the same or none")
class doubled_keys(Server):
    def record_line(self, record: Record) -> str:
        line = super().record_line({**record, "id": ("x", None, 1, 1.0, True, "")[len(record["title"]) % 6]})
        return line[:-1] + ', "id": "other"' * (len(record["title"]) % 2) + ', "title": 5' * 100 + "}"


@hostile("times beyond the calendar")
class impossible_times(Server):
    odd = ("9999-12-31T23:59:59.999999999Z", "-0001-01-01", "10000-01-01T00:00:00Z", "2026-02-30T25:61:61+99:99", "NaN")

    def timestamp(self, now: float) -> str:
        return self.odd[self.calls % len(self.odd)]

    def ulid(self) -> str:
        return "7ZZZZZZZZZ" + super().ulid()[10:]
