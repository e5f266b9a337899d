"""Faults of the file's lines and of its header."""

from __future__ import annotations

import time

from tests.servers.faults.catalogue import fault
from tests.servers.plain import Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.servers.plain import Record

RECIPES = tuple(f"LRO-REC-{number:02}" for number in range(1, 11))
# what a line that is no JSON takes with it, unless the check looks away
UNREADABLE = (*RECIPES, "LRO-FILE-06", "LRO-FILE-09", "LRO-FILE-10", "LRO-DESC-03", "LRO-DESC-09", "LRO-INJ-03")

# Lines


@fault("LRO-FILE-01", says="byte order mark", proves=0)
class starts_with_a_byte_order_mark(Server):
    """Written as `utf-8-sig`."""

    def file_bytes(self, call: Call) -> bytes:
        return b"\xef\xbb\xbf" + super().file_bytes(call)


@fault("LRO-FILE-01", says="blank", proves=0)
class ends_with_a_blank_line(Server):
    """The last line end is written twice."""

    def file_bytes(self, call: Call) -> bytes:
        return super().file_bytes(call) + b"\n"


@fault("LRO-FILE-01", says="blank", proves=0)
class leaves_a_blank_line_now_and_then(Server):
    """A blank line follows every hundredth record."""

    def file_lines(self, call: Call) -> list[str]:
        header, *lines = super().file_lines(call)
        return [header, *(line + "\n" * (n % 100 == 0) for n, line in enumerate(lines, 1))]


@fault("LRO-FILE-01", says="NaN", proves=0, also=UNREADABLE)
class writes_nan(Server):
    """A number that is not there is written as NaN, which is no JSON."""

    def file_lines(self, call: Call) -> list[str]:
        header, *lines = super().file_lines(call)
        return [header, *(line[:-1] + ', "rank": NaN}' for line in lines)]


@fault("LRO-FILE-01", says="Infinity", proves=0, also=UNREADABLE)
class writes_infinity_once(Server):
    """One line has an infinite number."""

    def file_lines(self, call: Call) -> list[str]:
        lines = super().file_lines(call)
        lines[-1] = lines[-1][:-1] + ', "rank": -Infinity}'
        return lines


@fault("LRO-FILE-01", says="UTF-8", proves=0)
class writes_some_lines_in_latin_1(Server):
    """A line that Latin-1 can hold is written in it."""

    def file_bytes(self, call: Call) -> bytes:
        return "\n".join([*self.file_lines(call), ""]).replace("é", "\udce9").encode("utf-8", "surrogateescape")


@fault("LRO-FILE-01", says="UTF-8", proves=0)
class writes_emoji_in_cesu_8(Server):
    """Characters with two units of UTF-16 are written as two surrogates of three bytes each."""

    def file_bytes(self, call: Call) -> bytes:
        units = super().file_bytes(call).decode().encode("utf-16-be")
        return b"".join(
            chr(int.from_bytes(units[at : at + 2], "big")).encode("utf-8", "surrogatepass")
            for at in range(0, len(units), 2)
        )


@fault("LRO-FILE-01", says="JSON", proves=0, also=UNREADABLE)
class pads_the_file_with_nul_bytes(Server):
    """The file is allocated in blocks of 4096 bytes and never shortened."""

    def file_bytes(self, call: Call) -> bytes:
        data = super().file_bytes(call)
        return data + bytes(-len(data) % 4096)


@fault("LRO-FILE-01", says="JSON", proves=0, also=UNREADABLE)
class closes_with_a_count_line(Server):
    """A last line in plain words."""

    def file_bytes(self, call: Call) -> bytes:
        return super().file_bytes(call) + b"# end of file\n"


# The header


class Headed(Server):
    """Changes the header."""

    def mended(self, call: Call, header: Record) -> Record:
        raise NotImplementedError

    def header(self, call: Call) -> Record:
        return self.mended(call, super().header(call))


@fault("LRO-FILE-02", says="header", proves=0)
class writes_no_header(Server):
    """Records from the first line on."""

    def file_lines(self, call: Call) -> list[str]:
        return call.lines


@fault("LRO-FILE-02", says="lro_header", proves=0)
class header_is_typed_header(Headed):
    """The type is `header`."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "type": "header"}


@fault("LRO-FILE-02", says="type", proves=0)
class header_type_keeps_its_field_name(Headed):
    """The marker is under `header_type`, the name of the field in the source, not under `type`."""

    def mended(self, call: Call, header: Record) -> Record:
        return {"header_type": header.pop("type"), **header}


@fault("LRO-FILE-02", says="lro_header", proves=0)
class header_type_is_in_capitals(Headed):
    """LRO_HEADER."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "type": "LRO_HEADER"}


@fault(
    "LRO-FILE-02",
    says="header",
    proves=0,
    also=("LRO-FILE-06", "LRO-FILE-09", "LRO-FILE-11", "LRO-DESC-03", "LRO-DESC-09", "LRO-INJ-03", *RECIPES),
)
class repeats_the_header_at_the_end(Server):
    """The header is also a footer."""

    def file_lines(self, call: Call) -> list[str]:
        lines = super().file_lines(call)
        return [*lines, lines[0]]


@fault("LRO-FILE-03", says="count", proves=0)
class header_count_is_a_string(Headed):
    """`"200"`."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "count": str(header["count"])}


@fault("LRO-FILE-03", says="count", proves=0)
class header_lacks_the_count(Headed):
    """No count at all."""

    def mended(self, call: Call, header: Record) -> Record:
        del header["count"]
        return header


@fault("LRO-FILE-03", says="timestamp", proves=0)
class header_timestamp_is_a_number(Headed):
    """Seconds since 1970 as a number, where a string is required."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "timestamp": time.time()}


@fault("LRO-FILE-03", says="query", proves=0)
class header_query_is_an_object(Headed):
    """The whole arguments in place of the query."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "query": call.arguments}


@fault("LRO-FILE-03", says="detail", proves=0)
class header_lacks_the_detail(Headed):
    """No detail level at all."""

    def mended(self, call: Call, header: Record) -> Record:
        del header["detail"]
        return header


@fault("LRO-FILE-04", says="operation", proves=0)
class header_operation_is_the_tool(Headed):
    """`recall_memories` where `recall` belongs."""

    def mended(self, call: Call, header: Record) -> Record:
        tools = {"recall": "recall_memories", "search": "search_memories", "inject": "inject_context"}
        return {**header, "operation": tools[call.operation]}


@fault("LRO-FILE-04", says="operation", proves=0)
class header_operation_is_always_recall(Headed):
    """A constant."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "operation": "recall"}


@fault("LRO-FILE-04", says="inject", proves=0)
class header_of_inject_says_recall(Headed):
    """Inject composes recall, and the header tells of the inner operation."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "operation": "recall" if call.operation == "inject" else call.operation}


@fault("LRO-FILE-05", says="query", proves=0)
class header_query_is_always_null(Headed):
    """There was a query, and the header has none."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "query": None}


@fault("LRO-FILE-05", says="query", proves=0)
class header_query_is_always_a_star(Headed):
    """A constant."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "query": "*"}


@fault("LRO-FILE-05", says="query", proves=0)
class header_query_is_encoded_twice(Headed):
    """Its letters beyond ASCII, as by a writer that encodes what is encoded already."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "query": (header["query"] or "").encode().decode("latin-1")}


@fault("LRO-FILE-05", says="query", proves=0)
class header_query_is_in_capitals(Headed):
    """The query as it was folded for the comparison."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "query": call.query.upper()}


@fault("LRO-FILE-05", says="query", proves=0)
class header_query_is_of_the_call_before(Headed):
    """State that is written after it is read."""

    before = "*"

    def mended(self, call: Call, header: Record) -> Record:
        before, self.before = self.before, call.query
        return {**header, "query": before}


@fault("LRO-FILE-05", says="query", proves=0)
class header_query_loses_its_last_letter(Headed):
    """Cut one short."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "query": call.query[:-1] if len(call.query) > 1 else call.query}


@fault("LRO-FILE-05", says="query", proves=0)
class header_query_is_parsed_as_json(Headed):
    """A framework that parses arguments, for which the word null is no query."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "query": None if call.query == "null" else call.query}


@fault("LRO-FILE-06", says="count", proves=0)
class header_count_includes_the_header(Headed):
    """Lines, not records."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "count": header["count"] + 1}


@fault("LRO-FILE-06", says="count", proves=0)
class header_count_is_of_all_memories(Headed):
    """Counts the stored memories, not those found; right whenever everything was found."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "count": len(self.memories)}


@fault("LRO-FILE-06", says="count", proves=0)
class header_count_splits_at_unicode_separators(Headed):
    """Lines are counted with `splitlines`, which also ends one at U+2028."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "count": len("\n".join(call.lines).splitlines())}


@fault("LRO-FILE-07", says="local time, which is +7 h from UTC", proves=0)
class timestamp_is_local_time_called_utc(Server):
    """Local time with a Z behind it."""

    def timestamp(self, now: float) -> str:
        return super().timestamp(now + time.localtime(now).tm_gmtoff)


@fault("LRO-FILE-07", says="ISO 8601", proves=0)
class timestamp_is_a_count_of_seconds(Server):
    """Seconds since 1970, in a string."""

    def timestamp(self, now: float) -> str:
        return str(int(now))


@fault("LRO-FILE-07", says="timestamp", proves=0)
class timestamp_is_empty(Server):
    """An empty string."""

    def timestamp(self, now: float) -> str:
        return ""


@fault("LRO-FILE-07", says="ISO 8601", proves=0)
class timestamp_is_in_the_format_of_mail(Server):
    """`Sat, 21 Nov 2026 21:22:12 +0000`."""

    def timestamp(self, now: float) -> str:
        return time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(now))


@fault("LRO-FILE-07", says="an ISO 8601 time between", proves=0)
class timestamp_is_an_hour_ahead(Server):
    """Local time in summer with a Z behind it."""

    def timestamp(self, now: float) -> str:
        return super().timestamp(now + 3600)


@fault("LRO-FILE-07", says="2025-01-01T00:00:00Z", proves=0)
class timestamp_is_of_the_first_memory(Headed):
    """When the first memory was created, not when the file was written."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "timestamp": call.found[0]["created"] if call.found else header["timestamp"]}


@fault("LRO-FILE-07", says="1970-01-01T00:00:00", proves=0)
class timestamp_is_the_epoch(Server):
    """A default that was never filled in."""

    def timestamp(self, now: float) -> str:
        return super().timestamp(0)


@fault("LRO-FILE-08", says="detail", proves=0)
class header_detail_is_the_default(Headed):
    """The operation's default level, whatever was asked for."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "detail": self.default_detail(call.operation)}


@fault("LRO-FILE-08", says="detail", proves=0)
class header_detail_is_always_full(Headed):
    """The level of the store, not that of the call."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "detail": "full"}


@fault("LRO-FILE-08", says="detail", proves=0)
class header_detail_is_capitalised(Headed):
    """`Light`, as the variant is named in the source."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "detail": header["detail"].capitalize()}


@fault("LRO-FILE-12", says="schema_version", proves=0)
class schema_version_is_empty(Headed):
    """An empty string."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "schema_version": ""}


@fault("LRO-FILE-12", says="schema_version", proves=0)
class schema_version_counts_the_calls(Headed):
    """Another version in every file."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "schema_version": f"1.0.{self.calls}"}


@fault("LRO-FILE-12", says="schema_version", proves=0)
class schema_version_differs_by_operation(Headed):
    """Each operation names a different version for the same object."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "schema_version": f"1.{len(call.operation)}.{ord(call.operation[0])}"}


@fault("LRO-FILE-13", says="as in a file with the same memories", proves=0, also=("LRO-THR-06", "LRO-DESC-04"))
class header_estimate_grows_with_every_call(Headed):
    """The decision is made with E; the header says E and the number of calls so far."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "estimated_tokens": header["estimated_tokens"] + 5 * self.calls}


@fault("LRO-FILE-13", says="estimated_tokens", proves=0, also=("LRO-THR-07", "LRO-THR-09", "LRO-DESC-04"))
class header_estimate_is_rounded_down_to_hundreds(Headed):
    """The decision is made with E; the header has it in whole hundreds."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "estimated_tokens": header["estimated_tokens"] // 100 * 100}


@fault("LRO-FILE-13", says="estimated_tokens", proves=0, also=("LRO-THR-06", "LRO-THR-09", "LRO-DESC-04"))
class header_estimate_adds_the_header(Headed):
    """The decision is made with E; the header says E and a hundred tokens for itself."""

    def mended(self, call: Call, header: Record) -> Record:
        return {**header, "estimated_tokens": header["estimated_tokens"] + 100}
