"""Files: bytes, and the requirements that they break."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.tools.vectors.build import HEADER, SECONDS, A, B, breaking, data, head, spell, text, vector

F = "LRO-FILE-"
JSON, MARKED, FIELDS, OPERATION, COUNT, TIME, DETAIL, MEMORY, VERSION = (
    f"{F}{n}" for n in ("01", "02", "03", "04", "06", "07", "08", "11", "12")
)
LEVEL, ONCE = "LRO-DET-01", "LRO-FILE-09"
ALL = (JSON, MARKED, FIELDS, COUNT, TIME, MEMORY, VERSION, ONCE)
FULL = {
    **A,
    "content": "Every ninety days.",
    "created": "2026-01-01T00:00:00Z",
    "tags": ["ops"],
    "provenance": {"confidence": 0.9},
}

Row = tuple[str, str, str | bytes, tuple[str, ...], tuple[str, ...], str]
"""Slug, what it is about, content, requirements broken, requirements it is about, why."""


def ok(slug: str, about: str, content: str | bytes, *about_ids: str, why: str = "") -> Row:
    return slug, about, content, (), about_ids, why


def bad(slug: str, about: str, content: str | bytes, *broken: str, why: str = "") -> Row:
    return slug, about, content, broken, broken, why


def with_record(raw: str, **header: Any) -> str:
    """A file whose second record is this text."""
    return text(head(**header), A, raw)


LINES: list[Row] = [
    ok("sound", "a header and two records", text(HEADER, A, B), *ALL),
    ok("no-final-newline", "the last line has no line feed", text(HEADER, A, B, end=""), JSON, COUNT,
       why="JSON lines may end with or without a last line feed."),
    ok("no-records", "a header that counts no records", text(head(count=0, estimated_tokens=0)), COUNT, MARKED),
    ok("spaces", "spaces around the tokens of each line", text(
        '{ "type" : "lro_header", "operation" : "recall", "count" : 1, "schema_version" : "1.0.0", '
        f'"timestamp" : "{HEADER["timestamp"]}", "estimated_tokens" : 9, "detail" : "light" }}', ' {"id": "m-1"} '), JSON,
       why="White space between tokens is JSON; only the line feed separates values."),
    ok("escapes", "characters as \\u escapes, a surrogate pair among them", with_record(
        '{"id":"m-2","title":"caf\\u00e9 \\ud83d\\ude80 \\/ \\u2028"}'), JSON, why="Every escape of JSON is allowed."),
    ok("line-separators", "U+2028, U+2029 and U+0085 within a text", with_record(
        '{"id":"m-2","title":"one\u2028two\u2029three\u0085four"}'), JSON,
       why="Only a line feed ends a line: a reader that splits at other separators of Unicode finds broken JSON."),
    ok("wide-characters", "texts in several scripts", with_record('{"id":"m-2","title":"決定：設定 ключ 🧭"}'), JSON),
    ok("delete-and-nul-escaped", "control characters, escaped", with_record('{"id":"m-2","title":"\\u0000\\u001f\x7f"}'), JSON,
       why="Control characters below U+0020 must be escaped, and DEL need not be."),
    ok("numbers", "numbers in every form of JSON", with_record(
        '{"id":"m-2","extensions":{"a":-0,"b":1e3,"c":1.5E-7,"d":123456789012345,"e":0.1}}'), JSON),
    ok("empty-values", "empty texts, arrays and objects", with_record('{"id":"m-2","title":"","tags":[],"extensions":{}}'), JSON, MEMORY),
    ok("deep", "a value that is nested forty deep", with_record('{"id":"m-2","extensions":{"x":' + "[" * 40 + "]" * 40 + "}}"), JSON),
    ok("more-fields", "a record with fields that the specification does not list", with_record(
        '{"id":"m-2","x-rank":4,"custom":{"a":null}}'), MEMORY, why="A record may have fields of its own."),
    ok("key-order", "fields in another order", with_record('{"memory_type":"semantic","title":"t","id":"m-2"}'), MEMORY),
    ok("number-id", "an id that is a number", with_record('{"id":7,"title":"t"}'), MEMORY),
    ok("type-field", "a record with a field `type` of its own", with_record('{"id":"m-2","type":"note"}'), MARKED,
       why="Only the value `lro_header` marks a header."),
    ok("mentions-the-marker", "a record whose title is lro_header", with_record('{"id":"m-2","title":"lro_header"}'), MARKED,
       why="The marker counts in the member `type` alone."),
    bad("empty", "no bytes at all", "", MARKED, why="Even an empty result has a header line."),
    bad("blank-line-between", "a blank line between two records", text(HEADER, A, "", B), JSON,
        why="Every line is one JSON object; a reader that counts lines counts this one."),
    bad("blank-line-at-the-end", "a second line feed at the end", text(HEADER, A, B, ""), JSON,
        why="The file ends after the line feed of the last record; a further one makes an empty line."),
    bad("blank-first-line", "a blank line before the header", text("", HEADER, A, B), JSON, MARKED,
        why="The header is the first line, and every line is an object."),
    bad("spaces-only-line", "a line of spaces", text(HEADER, A, "  \t", B), JSON),
    ok("crlf", "lines that end in CR LF", text(HEADER, A, B).replace("\n", "\r\n"), JSON,
       why="A carriage return is white space of JSON, so every line is still an object; `lro validate` warns of it."),
    bad("cr-only", "lines that end in CR", text(HEADER, A, B).replace("\n", "\r"), JSON),
    bad("byte-order-mark", "a byte order mark before the header", b"\xef\xbb\xbf" + text(HEADER, A, B).encode(), JSON,
        why="JSON is exchanged without a byte order mark (RFC 8259); jq and most parsers refuse the line."),
    bad("utf-16", "the file in UTF-16", text(HEADER, A, B).encode("utf-16"), JSON),
    bad("latin-1", "a record in Latin-1", text(HEADER, A).encode() + '{"id":"m-2","title":"café"}\n'.encode("latin-1"), JSON,
        why="JSON that is exchanged is UTF-8."),
    bad("cesu-8", "an emoji as two surrogates of three bytes each", text(HEADER, A).encode() + b'{"id":"m-2","title":"\xed\xa0\xbd\xed\xba\x80"}\n', JSON,
        why="UTF-8 has no surrogates; this is CESU-8, which other readers refuse."),
    bad("overlong", "an overlong encoding of /", text(HEADER, A).encode() + b'{"id":"m-2","title":"\xc0\xaf"}\n', JSON),
    bad("nul-padding", "NUL bytes after the last line", text(HEADER, A, B).encode() + bytes(8), JSON,
        why="A file that is allocated in blocks has to be cut to its length."),
    bad("comment", "a comment line", text(HEADER, A, B, "# end of file"), JSON),
    bad("pretty-printed", "a record over several lines", text(HEADER, A, '{\n "id": "m-2"\n}'), JSON,
        why="A record is complete on one line."),
    bad("array-of-records", "the records as one array", text(HEADER, f"[{spell(A)},{spell(B)}]"), JSON,
        why="A line holds an object, not the array of all of them."),
    bad("two-on-one-line", "two records on one line", text(HEADER, spell(A) + " " + spell(B)), JSON,
        why="Each line is one value; a second value after it is an error for line-based readers."),
    bad("trailing-comma", "a comma after the last member", with_record('{"id":"m-2",}'), JSON),
    bad("trailing-comma-line", "lines that end in commas", text(HEADER, spell(A) + ",", B), JSON),
    bad("single-quotes", "a Python dictionary", with_record("{'id': 'm-2'}"), JSON),
    bad("python-constants", "None and True", with_record('{"id":"m-2","summary":None}'), JSON),
    bad("nan", "NaN", with_record('{"id":"m-2","extensions":{"x":NaN}}'), JSON,
        why="NaN is no JSON; write null, or leave the member out."),
    bad("infinity", "Infinity", with_record('{"id":"m-2","extensions":{"x":-Infinity}}'), JSON),
    bad("overflow", "a number beyond the range of doubles", with_record('{"id":"m-2","extensions":{"x":1e999}}'), JSON),
    bad("leading-zero", "a number with a leading zero", with_record('{"id":"m-2","extensions":{"x":01}}'), JSON),
    bad("plus-sign", "a number with a plus sign", with_record('{"id":"m-2","extensions":{"x":+1}}'), JSON),
    bad("bare-point", "a number that begins with a point", with_record('{"id":"m-2","extensions":{"x":.5}}'), JSON),
    bad("hex-number", "a hexadecimal number", with_record('{"id":"m-2","extensions":{"x":0x1f}}'), JSON),
    bad("raw-tab", "a tab within a text, not escaped", with_record('{"id":"m-2","title":"a\tb"}'), JSON),
    bad("bad-escape", "an escape that JSON does not have", with_record('{"id":"m-2","title":"\\x41"}'), JSON),
    bad("short-escape", "a \\u escape of three digits", with_record('{"id":"m-2","title":"\\u00e"}'), JSON),
    ok("lone-surrogate", "half of a surrogate pair, escaped", with_record('{"id":"m-2","title":"\\ud800"}'), JSON,
       why="The grammar of JSON allows it, and not every library can keep it, so it is not held against a writer."),
    ok("repeated-key", "a member twice in one object", with_record('{"id":"m-2","title":"a","title":"b"}'), JSON,
       why="RFC 8259 advises against it and does not forbid it; `lro validate` warns of it."),
    bad("cut-off", "the last line ends within an object", text(HEADER, A, '{"id":"m-2"', end=""), JSON,
        why="A file is complete when a descriptor names it."),
    bad("cut-off-in-a-character", "the last byte is half of a character", text(HEADER, A).encode() + b'{"id":"\xc3', JSON),
    bad("closing-text", "words after a record", text(HEADER, A, spell(B) + " done"), JSON),
    bad("record-number", "a record that is a number", text(HEADER, A, "7"), JSON),
    bad("record-text", "a record that is a text", text(HEADER, A, '"m-2"'), JSON),
    bad("record-null", "a record that is null", text(HEADER, A, "null"), JSON),
    bad("record-array", "a record that is an array", text(HEADER, A, '["m-2","t"]'), JSON,
        why="Records are objects, so that recipes find fields by name."),
]  # fmt: skip

HEADERS: list[Row] = [
    bad("no-header", "records from the first line on", text(A, B), MARKED),
    bad("header-last", "the header after the records", text(A, B, HEADER), MARKED),
    bad("header-second", "the header in the second line", text(A, HEADER, B), MARKED),
    bad("header-twice", "a second header line at the end", text(HEADER, A, B, HEADER), MARKED,
        why="Only the first line is the header; recipes would treat another one as a memory."),
    bad("header-other-type", "a header of type `header`", text(head(type="header"), A, B), MARKED,
        why="The marker is exactly `lro_header`."),
    bad("header-type-case", "a header of type `LRO_HEADER`", text(head(type="LRO_HEADER"), A, B), MARKED),
    bad("header-without-type", "a header without its marker", text(head(type=...), A, B), MARKED),
    bad("header-wrapped", "a header within a member", text({"header": HEADER}, A, B), MARKED, MEMORY),
    bad("header-array", "a header as an array", text([HEADER], A, B), MARKED),
    ok("header-query-null", "a query that is null", text(head(query=None), A, B), FIELDS,
       why="The query is optional; null and absent are equal."),
    ok("header-query-absent", "no query", text(head(query=...), A, B), FIELDS),
    ok("header-query-empty", "a query that is empty", text(head(query=""), A, B), FIELDS),
    ok("header-more-fields", "a header with fields of its own", text(head(server="x", extra={"a": 1}), A, B), FIELDS,
       why="A header may have further fields."),
    ok("header-key-order", "header fields in another order", text(dict(reversed(HEADER.items())), A, B), FIELDS),
    ok("header-count-double", "a count written as 2.0", text(head(count=2.0), A, B), COUNT, FIELDS,
       why="JSON does not tell integers from doubles; 2.0 is 2."),
    ok("header-detail-medium", "detail medium, with content", text(head(detail="medium", count=1), FULL), DETAIL, LEVEL),
    ok("header-detail-full", "detail full, with every core field", text(head(detail="full", count=1), FULL), DETAIL, LEVEL, MEMORY),
    ok("header-operation-search", "operation search", text(head(operation="search"), A, B), OPERATION),
    ok("header-operation-inject", "operation inject", text(head(operation="inject", detail="medium"), A, B), OPERATION),
    ok("header-version-words", "a schema version in words", text(head(schema_version="mif-2026 draft"), A, B), VERSION,
       why="The specification fixes no form for the version."),
    bad("header-version-empty", "an empty schema version", text(head(schema_version=""), A, B), VERSION,
        why="An empty text names no version."),
    bad("count-too-high", "a count of 3 before two records", text(head(count=3), A, B), COUNT,
        why="The count is the number of lines that follow; a reader that trusts it looks for a record that is not there."),
    bad("count-too-low", "a count of 1 before two records", text(head(count=1), A, B), COUNT),
    bad("count-zero", "a count of 0 before two records", text(head(count=0), A, B), COUNT),
    bad("count-of-no-records", "a count of 1 and no record", text(head(count=1)), COUNT),
]  # fmt: skip

TYPES: dict[str, tuple[Any, ...]] = {
    "operation": (None, 3, True, ["recall"]),
    "query": (3, ["keys"], {"text": "keys"}),
    "count": (None, "2", -1, 2.5, [2]),
    "schema_version": (None, 1, ["1"]),
    "timestamp": (None, SECONDS, {"iso": "now"}),
    "estimated_tokens": (None, "60", -1, 1.5, False),
    "detail": (None, 1, ["light"]),
}
WORDS = {"-1": "negative", "2.5": "a fraction", "1.5": "a fraction"}


def kind_of(value: object) -> str:
    """A value's type in a word."""
    if spell(value) in WORDS:
        return WORDS[spell(value)]
    names = {bool: "a boolean", str: "a text", int: "a number", list: "an array", dict: "an object", type(None): "null"}
    return names[type(value)]


def _types() -> Iterator[Row]:
    for field, values in TYPES.items():
        if field != "query":
            yield bad(f"header-without-{_slug(field)}", f"a header without {field}", text(head(**{field: ...}), A, B), FIELDS,
                      why=f"The field {field} is not optional.")  # fmt: skip
        for value in values:
            what = kind_of(value)
            broken = (FIELDS, COUNT) if field == "count" and isinstance(value, int | float) else (FIELDS,)
            yield bad(f"header-{_slug(field)}-is-{_slug(what)}", f"{field} is {what}", text(head(**{field: value}), A, B), *broken,
                      why=f"The field {field} has another type in OffloadHeader.")  # fmt: skip


def _slug(words: str) -> str:
    return words.removeprefix("a ").removeprefix("an ").replace("_", "-").replace(" ", "-").lower()


GOOD_TIMES = {
    "utc": "2026-03-02T09:30:01Z",
    "milliseconds": "2026-03-02T09:30:00.123Z",
    "nanoseconds": "2026-03-02T09:30:00.123456789Z",
    "offset": "2026-03-02T11:30:00+02:00",
    "offset-west": "2026-03-02T03:30:00-06:00",
    "leap-day": "2028-02-29T00:00:00Z",
    "lower-case-z": "2026-03-02T09:30:00z",
    "midnight": "2026-03-02T00:00:00+00:00",
}
BAD_TIMES = {
    "seconds-since-1970": ("1772443800", "a number of seconds is not ISO 8601"),
    "words": ("2 March 2026, 09:30", "the form is that of ISO 8601"),
    "http-date": ("Mon, 02 Mar 2026 09:30:00 GMT", "this is the form of HTTP"),
    "date-only": ("2026-03-02", "the time is missing"),
    "time-only": ("09:30:00Z", "the day is missing"),
    "month-13": ("2026-13-02T09:30:00Z", "there are twelve months"),
    "day-30-of-february": ("2026-02-30T09:30:00Z", "February has no thirtieth day"),
    "leap-day-of-2027": ("2027-02-29T00:00:00Z", "2027 is no leap year"),
    "hour-25": ("2026-03-02T25:30:00Z", "a day has 24 hours"),
    "minute-60": ("2026-03-02T09:60:00Z", "an hour has 60 minutes, counted from 0"),
    "slashes": ("2026/03/02T09:30:00Z", "ISO 8601 separates by hyphens"),
    "no-seconds-sign": ("2026-03-02T09:30:00 UTC", "UTC is written Z"),
    "empty": ("", "an empty text is no time"),
    "trailing-text": ("2026-03-02T09:30:00Z[UTC]", "nothing follows the offset"),
    "offset-25": ("2026-03-02T09:30:00+25:00", "no time zone is so far from UTC"),
    "full-width-digits": ("２０２６-03-02T09:30:00Z", "the digits are those of ASCII"),
}


def _times() -> Iterator[Row]:
    for slug, time in GOOD_TIMES.items():
        yield ok(f"timestamp-{slug}", f"the timestamp {time}", text(head(timestamp=time), A, B), TIME)
    for slug, (time, why) in BAD_TIMES.items():
        why = f"The timestamp is ISO 8601: {why}."
        yield bad(f"timestamp-{slug}", f"the timestamp {time!r}", text(head(timestamp=time), A, B), TIME, why=why)


RECORDS: list[Row] = [
    bad("record-twice", "the same record twice", text(HEADER, A, A), ONCE,
        why="Each memory is in the file exactly once."),
    bad("record-id-twice", "two records with one id", text(HEADER, A, {**B, "id": A["id"]}), ONCE),
    bad("record-without-id", "a record without id", with_record('{"title":"t"}'), MEMORY,
        why="A memory is found again by its id."),
    bad("record-id-empty", "an empty id", with_record('{"id":""}'), MEMORY),
    bad("record-id-null", "an id that is null", with_record('{"id":null}'), MEMORY),
    bad("record-id-object", "an id that is an object", with_record('{"id":{"$oid":"1"}}'), MEMORY),
    bad("record-nested", "a memory within a member", with_record('{"memory":{"id":"m-2","title":"t"},"score":1}'), MEMORY,
        why="Each line is the memory itself, so that recipes find .title."),
    bad("light-with-content", "content in a light record", with_record('{"id":"m-2","content":"the whole text"}'), LEVEL,
        why="Light records have no content: the level that was asked for decides the fields."),
    ok("light-with-empty-content", "an empty content in a light record", with_record('{"id":"m-2","content":""}'), LEVEL,
       why="At light detail, an absent, a null and an empty content are equal."),
    ok("light-with-null-content", "a null content in a light record", with_record('{"id":"m-2","content":null}'), LEVEL),
    bad("full-without-content", "full detail, and no record has content", text(head(detail="full", count=2), *({k: v for k, v in {**FULL, "id": id}.items() if k != "content"} for id in ("m-1", "m-2"))), MEMORY,
        why="At full detail some record has each of the core fields."),
    bad("full-without-created", "full detail, and no record has created", text(head(detail="full", count=1), {k: v for k, v in FULL.items() if k != "created"}), MEMORY),
    bad("full-with-light-records", "full detail in the header, light records", text(head(detail="full"), A, B), MEMORY),
    ok("full-with-one-bare-record", "full detail, and one of the records lacks content", text(head(detail="full"), FULL, {**B, "created": "2026-01-01T00:00:00Z"}), MEMORY,
       why="A memory may lack a field; only a field that all of them lack was left out."),
]  # fmt: skip

FIELD_TYPES: dict[str, tuple[Any, ...]] = {
    "title": (3, ["t"]),
    "namespace": (3, {}),
    "memory_type": (3, ["semantic"]),
    "tags": ("ops", [1], {"a": 1}),
    "status": (1,),
    "created": (SECONDS,),
    "modified": (SECONDS,),
    "content": (3,),
    "provenance": ("user", [0.9]),
}


def _fields() -> Iterator[Row]:
    for field, values in FIELD_TYPES.items():
        for value in values:
            level = "full" if field == "content" else "light"
            slug = f"record-{_slug(field)}-is-{_slug(kind_of(value))}"
            slug += "-of-numbers" if value == [1] else ""
            record = {**FULL, "id": "m-2", field: value} if level == "full" else {"id": "m-2", field: value}
            yield bad(slug, f"{field} is {kind_of(value)}: {spell(value)}", text(head(detail=level), FULL if level == "full" else A, record), MEMORY,
                      why=f"The data model gives {field} another type.")  # fmt: skip


OTHERS: list[Row] = [
    ok("proxied-records", "records of a proxy: schema version 0, extra", text(head(operation="list_files", schema_version="0", extra={"from": "text"}), {"n": 1, "text": "a"}, {"n": 2, "text": "b"}), MARKED,
       why="A proxy offloads results of any tool; its header says so, and its records are any objects."),
    bad("proxied-record-number", "a record of a proxy that is a number", text(head(operation="list_files", schema_version="0", extra={}), {"n": 1}, "2"), JSON),
    bad("proxied-count", "a wrong count in a proxy's file", text(head(operation="list_files", count=5, schema_version="0", extra={}), {"n": 1}, {"n": 2}), COUNT),
]  # fmt: skip


def vectors() -> Iterator[Any]:
    """Functions that make the vectors of kind `file`."""
    for slug, about, content, broken, ids, why in (
        *LINES,
        *HEADERS,
        *_types(),
        *_times(),
        *RECORDS,
        *_fields(),
        *OTHERS,
    ):
        yield partial(vector, f"file.{slug}", about, data(content), breaking(broken), ids, why)
