"""What validation says on either side of an edge, word for word: what a small change to it would shift."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any

import pytest

from lro_spec.display import pointer, show
from lro_spec.editions import edition
from lro_spec.filenames import file_name, parse_file_name, ulid_at, ulid_time
from lro_spec.findings import Excerpt, Finding, Kind, excerpt, in_text
from lro_spec.jsonl import compression
from lro_spec.jsonl.compression import DamagedError, Peekable, plain_name, unpacked
from lro_spec.jsonl.lines import Block, PhysicalLine, blocks
from lro_spec.jsonl.strict import nearest_position, position
from lro_spec.schema.checker import LineSchemaChecker
from lro_spec.timestamps import moments, parse, utc
from lro_spec.validation.duplicates import SeenIds
from lro_spec.validation.filename import name_against_header
from lro_spec.validation.header import resembles_header, validate_header
from lro_spec.validation.record import validate_line
from tests.golden.files import HEADER

LRO = edition("lro-6400")


def said(found: Any) -> list[str]:
    return [str(finding) for finding in found]


class TestTimes:
    def test_a_leap_second_is_the_second_before_it(self) -> None:
        assert parse("2016-12-31T23:59:60.5Z") == datetime(2016, 12, 31, 23, 59, 59, 500_000, UTC)
        assert parse("2016-12-31T23:59:60Z") == datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)
        assert parse("2016-12-31T23:60:60Z") is None

    def test_digits_beyond_microseconds_are_cut(self) -> None:
        assert parse("2026-01-01T00:00:00.1234569Z") == datetime(2026, 1, 1, 0, 0, 0, 123_456, UTC)
        assert parse("2026-01-01T00:00:00.5-03") == datetime(2026, 1, 1, 3, 0, 0, 500_000, UTC)

    def test_without_an_offset_the_zone_is_that_which_is_told_or_this_machines(self) -> None:
        east = timezone(timedelta(hours=5))
        written = datetime(2026, 1, 1, 12)
        assert moments("2026-01-01T12:00:00", east) == [written.replace(tzinfo=UTC), written.replace(tzinfo=east)]
        assert moments("2026-01-01T12:00:00")[1] == written.astimezone()

    def test_the_ends_of_the_calendar_are_moments_too(self) -> None:
        last = datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))
        assert utc(last) == last.replace(tzinfo=UTC)
        assert utc(datetime(2026, 1, 1)) == datetime(2026, 1, 1, tzinfo=UTC)


class TestNames:
    def test_time_begins_in_1970(self) -> None:
        start = datetime(1970, 1, 1, tzinfo=UTC)
        assert ulid_time(ulid_at(start)) == start
        assert ulid_time(ulid_at(start + timedelta(milliseconds=1))) == start + timedelta(milliseconds=1)
        with pytest.raises(ValueError, match="starts in 1970"):
            ulid_at(start - timedelta(milliseconds=1))

    @pytest.mark.parametrize("name", ["lro-6400", "lro-1600", "lro-paper"])
    def test_a_name_is_read_behind_the_prefix_of_each_edition(self, name: str) -> None:
        parts = parse_file_name(file_name("recall", edition=name), edition=name)
        assert parts is not None
        assert (parts.prefix, parts.operation, len(parts.random)) == (edition(name).file_prefix, "recall", 10)

    def test_letters_that_only_look_alike_are_no_ulid(self) -> None:
        with pytest.raises(ValueError, match="is not a ULID"):
            file_name("recall", ulid="01ARZ3NDE\u212aTSV4RRFFQ69G5FAV")

    @pytest.mark.parametrize(
        ("seconds", "zone", "agrees"),
        [
            (60, "Z", True),
            (61, "Z", False),
            (-60, "Z", True),
            (-61, "Z", False),
            (14 * 3600, "", True),
            (14 * 3600 + 1, "", False),
        ],
    )
    def test_a_name_may_be_a_minute_off_and_half_a_day_without_a_zone(
        self, seconds: int, zone: str, agrees: bool
    ) -> None:
        when = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
        name = f"atlatl-recall-{ulid_at(when)}.jsonl"
        written = (when + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S") + zone
        found = said(name_against_header(name, {"timestamp": written}, edition="lro-6400"))
        assert found == ([] if agrees else [_other_time(written, 60 if zone else 50_400)])

    @pytest.mark.parametrize("operation", ["inject", "search"])
    def test_a_name_tells_the_operation_of_its_header(self, operation: str) -> None:
        found = name_against_header(file_name("recall"), {"operation": operation}, edition="lro-6400")
        assert [(f.rule, f.observed) for f in found] == [
            ("LRO-NAME-02", f'recall in the name, "{operation}" in the header')
        ]

    def test_a_name_says_nothing_against_a_header_that_tells_no_time(self) -> None:
        name = f"atlatl-recall-{ulid_at(datetime(2026, 3, 2, tzinfo=UTC))}.jsonl"
        for header in ({}, {"operation": 1, "timestamp": 2}, {"timestamp": "never"}):
            assert said(name_against_header(name, header, edition="lro-6400")) == []


def _other_time(written: str, tolerance_s: int) -> str:
    return (
        "LRO-NAME-03 /timestamp: the ULID in the name encodes a different time than the header: "
        f"expected times at most {tolerance_s} s apart, got 2026-03-02T09:30:00+00:00 in the name, "
        f'"{written}" in the header — '
        "create the ULID when the file is created, from the same clock"
    )


class TestHeaders:
    @pytest.mark.parametrize(
        ("fields", "resembles"),
        [
            ({}, False),
            ({"x": 1}, False),
            ({"type": "lro_header"}, True),
            ({"type": "lro_header", "id": "a"}, True),
            ({"operation": 1, "count": 1}, False),
            ({"operation": 1, "count": 1, "timestamp": 1}, True),
            ({"operation": 1, "count": 1, "timestamp": 1, "schema_version": 1}, True),
            ({"operation": 1, "count": 1, "timestamp": 1, "id": "a"}, False),
            ([], False),
        ],
    )
    def test_three_telling_fields_without_an_id_are_a_header(self, fields: Any, resembles: bool) -> None:
        assert resembles_header(fields) is resembles

    @pytest.mark.parametrize("other", [{}, {"count": "3"}, {"type": "x"}])
    def test_a_day_that_is_none_is_found_beside_other_faults(self, other: dict[str, Any]) -> None:
        found = said(validate_header({**HEADER, "timestamp": "2026-02-30T00:00:00Z", **other}))
        expected = (
            "LRO-FILE-07 /timestamp: timestamp is not a real date and time: "
            'expected a day that exists, a valid UTC offset (if any), and nothing after it, got "2026-02-30T00:00:00Z"'
        )
        assert expected in found
        assert len(found) == 1 + len(other)

    def test_an_offset_that_does_not_exist_is_not_laid_to_the_day(self) -> None:
        (found,) = validate_header({**HEADER, "timestamp": "2026-03-02T09:30:00+24:00"})
        assert found.expected == "a day that exists, a valid UTC offset (if any), and nothing after it"

    def test_a_line_feed_behind_a_timestamp_is_one_fault(self) -> None:
        assert [f.rule for f in validate_header({**HEADER, "timestamp": "2026-03-02T09:30:00Z\n"})] == ["LRO-FILE-07"]

    def test_a_timestamp_of_another_form_is_one_fault(self) -> None:
        assert [f.rule for f in validate_header({**HEADER, "timestamp": "yesterday"})] == ["LRO-FILE-07"]

    def test_words_that_nobody_knows_are_worth_a_warning(self) -> None:
        found = said(validate_header({**HEADER, "operation": "fetch", "detail": "huge"}))
        assert found == [
            (
                "warning: LRO-FILE-04 /operation: operation is not a value that the specification defines: "
                'expected one of recall, search, inject, got "fetch"'
            ),
            (
                "warning: LRO-FILE-08 /detail: detail is not a value that the specification defines: "
                'expected one of light, medium, full, got "huge"'
            ),
        ]

    def test_each_edition_holds_a_header_to_its_own_text(self) -> None:
        wrong = {**HEADER, "schema_version": "", "detail": 3}
        rules = {name: [f.rule for f in validate_header(wrong, edition=name)] for name in ("lro-6400", "lro-paper")}
        assert rules == {"lro-6400": ["LRO-FILE-03", "LRO-FILE-12"], "lro-paper": ["LRO-FILE-03", "LRO-FILE-12"]}


class TestTexts:
    def test_are_cut_where_they_are_longer_than_a_line_of_a_report(self) -> None:
        assert show("x" * 118) == f'"{"x" * 118}"'
        assert show("x" * 119) == f'"{"x" * 118}…'
        assert show({1, 2}) == "a set"

    def test_are_shown_around_the_place(self) -> None:
        line = "".join(chr(0x100 + n) for n in range(300))
        assert excerpt(line[:120], 60) == Excerpt(line[:120], 60)
        assert excerpt(line[:121], 60) == Excerpt(line[10:121], 50)
        assert excerpt(line, 49) == Excerpt(line[:120], 49)
        assert excerpt(line, 51) == Excerpt(line[1:121], 50)
        assert excerpt(line, 400) == Excerpt(line[350:470], -50)
        assert excerpt("abc", 9) == Excerpt("abc", 3)

    def test_have_lines_and_columns(self) -> None:
        finding = Finding("LRO-FILE-01", Kind.INVALID, "", "wrong", "", "")
        text = "ab\ncd\nef"
        for at, line, column, part in ((0, 1, 1, "ab"), (3, 2, 1, "cd"), (4, 2, 2, "cd"), (7, 3, 2, "ef")):
            found = in_text(finding, text, at)
            assert (found.line, found.column, found.excerpt) == (line, column, Excerpt(part, column - 1))

    def test_of_findings_leave_out_what_is_not_known(self) -> None:
        assert str(Finding("R", Kind.INVALID, "", "wrong", "", "")) == "R: wrong"
        finding = Finding("R", Kind.INVALID, "/a", "wrong", "one", "two", "mend it", 3, 4, "warning", None, "f")
        assert str(finding) == "f:3:4: warning: R /a: wrong: expected one, got two — mend it"
        assert (
            str(Finding("R", Kind.INVALID, "", "wrong", "one", "two", line=3)) == "3: R: wrong: expected one, got two"
        )

    def test_begin_with_a_line_that_is_empty(self) -> None:
        finding = Finding("LRO-FILE-01", Kind.INVALID, "", "wrong", "", "")
        for at, line, column, part in ((0, 1, 1, ""), (1, 2, 1, "ab"), (2, 2, 2, "ab")):
            found = in_text(finding, "\nab", at)
            assert (found.line, found.column, found.excerpt) == (line, column, Excerpt(part, column - 1))

    def test_pointers_are_escaped(self) -> None:
        assert pointer(["a/b", 0, "c~d"]) == "/a~1b/0/c~0d"

    @pytest.mark.parametrize(
        ("text", "path", "at"),
        [
            ("[1,2]", "/0", 1),
            ("[1,2]", "/1", 3),
            ("[1,2]", "/2", None),
            ("[1,2]", "/-1", None),
            ("[1,2]", "/x", None),
            ('{"a":1,"b":2}', "/b", 11),
            (' {"a" : {"b" : [ 1 , 2 ]}}', "/a/b/1", 21),
            ('{"a":1}', "/a/b", None),
            ('{"a":1}', "", 0),
            ('{"x/y":1,"x~y":2}', "/x~1y", 7),
            ('{"x/y":1,"x~y":2}', "/x~0y", 15),
            ("[]", "/0", None),
            ("{}", "/a", None),
            ('{"a":1,"b":{"a":2},"a":3}', "/a", 23),
            ('{"a":{"b":1},"a":{"c":2}}', "/a/b", None),
        ],
    )
    def test_pointers_lead_to_places(self, text: str, path: str, at: int | None) -> None:
        assert position(text, path) == at

    def test_what_is_not_there_is_where_it_should_be(self) -> None:
        assert nearest_position('{"a":{"b":1}}', "/a/x/y") == 5
        assert nearest_position("", "/a") == 0
        assert nearest_position(" 1", "/a") == 1


class TestLines:
    def read(self, data: bytes, limit: int = 1 << 20) -> list[PhysicalLine]:
        parts = blocks(io.BytesIO(data), limit)
        return [line for part in parts for line in (part.physical() if isinstance(part, Block) else [part])]

    def test_are_numbered_and_placed(self) -> None:
        assert self.read(b"a\n\nbc\nd") == [
            PhysicalLine(1, 0, b"a", 1, True),
            PhysicalLine(2, 2, b"", 0, True),
            PhysicalLine(3, 3, b"bc", 2, True),
            PhysicalLine(4, 6, b"d", 1, False),
        ]
        assert self.read(b"") == []

    @pytest.mark.parametrize("long", [70_000, 140_000])
    def test_longer_than_the_limit_are_counted_but_not_kept(self, long: int) -> None:
        data = b"a\n" + b"x" * long + b"\nabcd\nabcde\nb\n" + b"y" * long
        assert self.read(data, 4) == [
            PhysicalLine(1, 0, b"a", 1, True),
            PhysicalLine(2, 2, b"xxxx", long, True),
            PhysicalLine(3, 3 + long, b"abcd", 4, True),
            PhysicalLine(4, 8 + long, b"abcd", 5, True),
            PhysicalLine(5, 14 + long, b"b", 1, True),
            PhysicalLine(6, 16 + long, b"yyyy", long, False),
        ]
        assert [line.too_long for line in self.read(data, 4)] == [False, True, False, True, False, True]
        assert [len(line.data) for line in self.read(data)] == [1, long, 4, 5, 1, long]

    def test_around_the_size_of_a_chunk_are_whole(self) -> None:
        for size in (65_534, 65_535, 65_536, 65_537):
            data = b"x" * size + b"\nab\n"
            assert self.read(data) == [
                PhysicalLine(1, 0, b"x" * size, size, True),
                PhysicalLine(2, size + 1, b"ab", 2, True),
            ]

    def test_with_a_carriage_return_are_told_apart(self) -> None:
        returns = [part.returns for part in blocks(io.BytesIO(b"a\n" * 40_000 + b"b\r\n")) if isinstance(part, Block)]
        assert returns == [False, True]


class TestStreams:
    def test_are_looked_at_before_they_are_read(self) -> None:
        stream = Peekable(io.BytesIO(b"abcdef"))
        assert (stream.peek(2), stream.peek(3), stream.peek(1)) == (b"ab", b"abc", b"a")
        assert (stream.read(2), stream.read(), stream.read(), stream.read(3)) == (b"ab", b"cdef", b"", b"")
        assert Peekable(io.BytesIO(b"ab")).peek(4) == b"ab"
        assert Peekable(io.BytesIO(b"ab")).read(1) == b"a"

    @pytest.mark.parametrize(
        ("name", "plain"), [("a.jsonl.gz", "a.jsonl"), ("a.ZST", "a"), ("a.jsonl", "a.jsonl"), ("gz", "gz")]
    )
    def test_names_lose_the_suffix_of_compression(self, name: str, plain: str) -> None:
        assert plain_name(name) == plain

    def test_of_zstd_are_not_unpacked(self) -> None:
        with pytest.raises(compression.UnreadPackingError, match=r"zstdcat FILE \| lro validate -"):
            unpacked(io.BytesIO(b"\x28\xb5\x2f\xfd\x00"))
        assert unpacked(io.BytesIO(b"\x28\xb5\x2f\xfe")).read() == b"\x28\xb5\x2f\xfe"

    def test_are_asked_for_no_more_than_is_looked_at(self) -> None:
        asked: list[int] = []
        source = io.BytesIO(b"abcdef")

        def read(size: int) -> bytes:
            asked.append(size)
            return source.read(min(size, 1))

        slow: Any = SimpleNamespace(read=read)
        stream = Peekable(slow)
        assert (stream.peek(3), asked) == (b"abc", [3, 2, 1])
        assert (stream.read(0), stream.read(1), stream.peek(2), asked) == (b"", b"a", b"bc", [3, 2, 1])

    def test_that_break_off_say_so(self) -> None:
        with pytest.raises(DamagedError, match="ended before"):
            unpacked(io.BytesIO(b"\x1f\x8b\x08")).read()
        assert unpacked(io.BytesIO(b"\x1f")).read() == b"\x1f"
        assert unpacked(io.BytesIO(b"")).read() == b""


class TestIds:
    @pytest.mark.parametrize("few", [0, 1, 3, 4, 5, 100])
    def test_a_repeated_one_is_found_however_they_are_kept(self, few: int) -> None:
        seen = SeenIds(max_with_lines=few)
        assert [seen.add(id, n) for n, id in enumerate("abcdabce")] == [True] * 4 + [False] * 3 + [True]
        assert seen.count == 5
        assert seen.add_all(["f", "g"], 9) == []
        assert seen.add_all(["h", "h", "a", "i"], 11) == [1, 2]
        assert seen.count == 9
        assert list(seen.late()) == []

    def test_those_beyond_the_limit_are_found_at_the_end(self) -> None:
        seen = SeenIds(limit=2, max_with_lines=1)
        assert [seen.add(id, 10 + n) for n, id in enumerate("abcdcad")] == [True] * 5 + [False, True]
        assert (seen.count, sorted(seen.late())) == (2, [14, 16])

    def test_those_of_lines_in_a_row_are_found_on_their_lines(self) -> None:
        seen = SeenIds(limit=1, max_with_lines=1)
        assert seen.add_all(["a", "b", "c", "b", "d", "c"], 10) == []
        assert sorted(seen.late()) == [13, 15]

    def test_those_that_were_written_out_are_found_too(self) -> None:
        seen = SeenIds(limit=1)
        assert seen.add("kept", 0)
        for line in range(2500):
            assert seen.add("written", line)
        assert list(seen.late()) == list(range(1, 2500))

    def test_hashes_that_want_one_place_are_kept_apart(self) -> None:
        seen, far = SeenIds(max_with_lines=0), 1 << 40  # one place for all of these
        assert seen.add_hashes([0, far, 2 * far, -far], 1)
        assert not seen.add_hashes([3 * far, 4 * far, 3 * far], 5)
        assert not seen.add_hashes([3 * far, 2 * far], 5)
        assert not any(seen.add_hashes([each], 5) for each in (0, far, 2 * far, -far))
        assert seen.count == 4
        assert seen.add_hashes([4 * far, 3 * far], 5)  # none of them was taken before
        assert seen.count == 6

    def test_hashes_that_overlap_in_memory_are_different(self) -> None:
        seen = SeenIds(max_with_lines=1)
        for number in range(5_000):
            assert seen.add(f"id {number}", 0)
        assert not any(seen.add(f"id {number}", 0) for number in range(0, 5_000, 7))


class TestSchemasOfLines:
    def judged(self, schema: object, records: list[dict[str, Any]], patience_s: float = 30.0) -> list[str]:
        judge = LineSchemaChecker(schema, patience_s)
        block = Block(5, 0, [json.dumps(r).encode() for r in records])
        return said([*judge.take(records, block), *judge.end()])

    def test_what_does_not_satisfy_is_found_on_its_line(self) -> None:
        schema = {"type": "object", "required": ["id"]}
        assert self.judged(schema, [{"id": "a"}, {"x": 1}, {"id": "b"}, {}]) == [
            f"{line}:1: LRO-DESC-09: the line does not satisfy line_schema: expected a field 'id', got no such field"
            " — if the record is right, line_schema is too narrow"
            for line in (6, 8)
        ]
        assert self.judged(schema, [{"id": "a"}]) == []

    def test_without_patience_what_is_left_is_told(self) -> None:
        assert self.judged({"required": ["id"]}, [{"id": "a"}, {}, {}], 0.0) == [
            (
                "warning: LRO-DESC-09: 2 lines were not checked against line_schema: expected a schema that needs less "
                "than 0 s for the lines that jsonschema-rs refuses, got 1 line checked until then — "
                "recursion, and regular expressions that need backtracking, are slow"
            )
        ]


class TestRecords:
    @pytest.mark.parametrize(
        ("record", "detail", "found"),
        [
            ({"id": "a"}, None, []),
            ({"id": "a", "content": "x"}, "medium", []),
            ({"id": "a", "content": "x"}, "huge", []),
            ({"id": ""}, None, ['LRO-FILE-11 /id: id is empty: expected a non-empty string, got ""']),
            (3, None, ["LRO-FILE-01: the record has the wrong type: expected an object, got 3"]),
        ],
    )
    def test_are_held_to_their_level(self, record: object, detail: str | None, found: list[str]) -> None:
        assert said(validate_line(record, detail)) == found
