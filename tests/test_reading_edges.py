"""Edges of reading: bounds of what is kept, looked at and asked for, and what the fast ways leave to the slow ones."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lro_spec import line_judge, strictjson
from lro_spec.beyond import Beyond
from lro_spec.bounded_schemas import Judgement, Violation
from lro_spec.file_rules import validate_file
from lro_spec.json_lines import plain_value
from lro_spec.json_position import nearest_position
from lro_spec.json_values import not_strict
from lro_spec.line_judge import LineJudge
from lro_spec.physical_lines import MAX_LINE_BYTES, Block
from lro_spec.quick_record import plainly_sound
from lro_spec.seen_ids import SeenIds
from lro_spec.streams import Peekable, TooWideError, unpacked
from lro_spec.strictjson import StrictJsonError, equal, loads, too_deep
from tests.ending import ends
from tests.words.files import HEADER, NAME


@pytest.fixture(autouse=True)
def soon() -> Iterator[None]:
    with ends():
        yield


class TestIds:
    @pytest.mark.parametrize("few", [0, 2, 5, 41])
    def test_are_told_apart_however_they_are_kept(self, few: int) -> None:
        seen = SeenIds(limit=50, few=few)
        assert all(seen.add(str(n), n) for n in range(40))
        assert not any(seen.add(str(n), 40) for n in range(40))
        assert seen.count == 40

    def test_are_kept_with_their_lines_while_they_are_few(self) -> None:
        seen = SeenIds(few=5)
        for n in range(4):
            assert seen.add(str(n), 10 + n)
            assert seen.line_of("0") == 10
        assert seen.add("4", 14)
        assert seen.line_of("0") is None

    def test_kept_are_never_more_than_the_limit(self) -> None:
        seen = SeenIds(limit=5, few=1)
        assert seen.add_hashes([1, 2, 3], 1)
        assert seen.add_hashes([4, 5, 6], 4)
        assert seen.count == 5
        assert not seen.add_hashes([5], 7)
        assert seen.add_hashes([6], 8)
        assert list(seen.late()) == [8]

    def test_at_the_end_of_the_table_go_on_at_its_beginning(self) -> None:
        seen = SeenIds(limit=3, few=0)  # eight places
        assert seen.add_hashes([6, 14, 22], 1)  # all want the last but one
        assert not any(seen.add_hashes([again], 4) for again in (6, 14, 22))
        assert seen.add_hashes([30], 5)
        assert list(seen.late()) == []

    def test_whose_hash_is_zero_are_kept_like_others(self) -> None:
        seen = SeenIds(limit=1, few=0)
        assert seen.add_hashes([0], 1)
        assert not seen.add_hashes([0], 2)

    def test_beyond_the_limit_do_not_stay_in_memory(self) -> None:
        seen = SeenIds(limit=1, few=0)
        assert seen.add_hashes([1 << 40], 0)
        for line in range(2500):
            assert seen.add_hashes([2 << 40], line)
        pending = vars(vars(seen)["_spilled"])["_pending"]
        assert max(map(len, pending)) < 2 * 1024


class TestTexts:
    def test_without_bottom_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(strictjson, "DEEPEST", 10**6)  # so that the reader itself gives up
        with pytest.raises(StrictJsonError, match="nests deeper than 1000000 levels") as raised:
            loads("[" * 200_000 + "]" * 200_000)
        assert raised.value.offset == 0

    @pytest.mark.parametrize("most", [1, 2, 3])
    def test_nest_too_deep_or_not(self, most: int) -> None:
        value: list[Any] = []
        for _ in range(most - 1):
            value = [value, 1]
        assert not too_deep(value, most)
        assert too_deep({"a": value}, most)

    def test_are_equal_only_as_json(self) -> None:
        with pytest.raises(TypeError, match="object is not a JSON value"):
            equal([object()], [1])

    def test_that_are_not_strict_are_shown_from_the_fault_on(self) -> None:
        for before in (0, 3, 30, 31, 100):
            text = json.dumps(["x" * before]).replace('"]', '", NaN, "abcdefghijklmnopqrstuvwxyz"]')
            problem = strictjson.no_number(text)
            assert problem is not None
            found = not_strict(problem, text, "/a")
            assert (found.pointer, found.observed) == ("/a", '"NaN, \\"abcdefghijklmnopqrstuvwx"')
            assert found.hint == ""

    def test_that_are_not_strict_may_be_at_their_end(self) -> None:
        for text in ("[1,", "[1,  "):
            with pytest.raises(StrictJsonError) as raised:
                loads(text)
            assert not_strict(raised.value, text).observed == "the end of the text"

    def test_that_hold_a_key_twice_come_with_a_hint(self) -> None:
        problem = strictjson.dispute('{"a": 1, "a": 2}')
        assert problem is not None
        assert not_strict(problem, "").hint == "two readers may take different values for it"


class TestStreams:
    def test_are_not_asked_for_what_is_there(self) -> None:
        asked: list[int] = []
        source = BytesIO(b"abcdef")

        def read(size: int) -> bytes:
            asked.append(size)
            return source.read(min(size, 1))

        stream = Peekable(cast("Any", SimpleNamespace(read=read)))
        assert (stream.peek(4), asked) == (b"abcd", [4, 3, 2, 1])
        assert (stream.peek(2), asked) == (b"ab", [4, 3, 2, 1])
        assert stream.peek(9) == b"abcdef"

    def test_of_zstd_may_have_a_window_of_128_mib(self) -> None:
        pytest.importorskip("backports.zstd")

        def frame(exponent: int) -> bytes:
            return (
                b"\x28\xb5\x2f\xfd\x00" + bytes([(exponent - 10) << 3]) + (4 << 3 | 1).to_bytes(3, "little") + b"{}\n\n"
            )

        assert unpacked(BytesIO(frame(27))).read(9) == b"{}\n\n"
        with pytest.raises(TooWideError):
            unpacked(BytesIO(frame(28))).read(9)

    def test_have_lines_of_64_mib_at_most(self) -> None:
        assert MAX_LINE_BYTES == 64 * 2**20

    @pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
    def test_are_judged_as_they_come(self, tmp_path: Path) -> None:
        pipe, found, waited = tmp_path / "pipe.jsonl", Event(), list[bool]()
        os.mkfifo(pipe)

        def write() -> None:
            with pipe.open("wb", buffering=0) as into:
                into.write(json.dumps(HEADER).encode() + b"\n{}\n")
                waited.append(found.wait(2))

        writer = Thread(target=write)
        writer.start()
        findings = validate_file(pipe)
        assert next(findings).line == 2
        found.set()
        writer.join()
        assert waited == [True]
        assert [f.rule for f in findings] == ["LRO-NAME-02", "LRO-FILE-06"]

    def test_are_named_like_their_file_or_otherwise(self, tmp_path: Path) -> None:
        header = json.dumps({**HEADER, "count": 0}).encode() + b"\n"
        for called, name, wrong in ((NAME, None, False), ("x", None, True), ("x", NAME, False), (NAME, "x", True)):
            (tmp_path / called).write_bytes(header)
            found = list(validate_file(tmp_path / called, name=name))
            assert any("NAME" in each.rule for each in found) is wrong


class TestPlaces:
    def test_of_what_is_not_there_are_those_of_what_should_hold_it(self) -> None:
        text = ' {"a" : {"b": 1}}'
        assert [nearest_position(text, path) for path in ("", "/a", "/a/x/y", "/x/y")] == [1, 8, 8, 1]


class TestQuickLooks:
    @pytest.mark.parametrize("part", ["any", "medium", "full"])
    def test_take_plain_records(self, part: str) -> None:
        assert plainly_sound({"id": "a", "content": "x", "provenance": None}, part)
        assert plainly_sound({"id": "a", "provenance": {"confidence": 1}}, "light")

    def test_take_long_lines_with_quotes(self) -> None:
        value = {"a": '"' * 300_003}
        assert plain_value(json.dumps(value).encode()) == value


def many(*records: dict[str, Any]) -> tuple[list[dict[str, Any]], Block]:
    return list(records), Block(5, 0, [json.dumps(r).encode() for r in records])


DISPUTED = {"properties": {"n": {"minimum": 0}}}


class TestLinesAgainstSchemas:
    @pytest.mark.parametrize("wanted", range(4, 9))
    def test_are_counted_without_a_look_where_nobody_wants_to_know(
        self, monkeypatch: pytest.MonkeyPatch, wanted: int
    ) -> None:
        looked: list[object] = []
        judge_of = line_judge.judge_of
        monkeypatch.setattr(
            line_judge, "judge_of", lambda schema: lambda record: looked.append(record) or judge_of(schema)(record)
        )
        beyond = Beyond(errors_after=wanted)
        judge = LineJudge({"required": ["id"]}, beyond=beyond)
        found = list(judge.take(*many(*({"n": n} for n in range(4)))))
        assert [f.line for f in found] == list(range(5, wanted + 1))
        assert looked == [{"n": n} for n in range(wanted - 4)]
        assert (beyond.counts.total(), judge.judged) == (8 - wanted, 4)

    @pytest.mark.parametrize(
        ("schema", "gate"),
        [({"required": ["id"]}, None), (DISPUTED, None), (DISPUTED, lambda _: False)],  # type: ignore[reportUnknownLambdaType]
    )
    def test_are_not_accused_by_a_gate_that_does_not_decide(
        self, monkeypatch: pytest.MonkeyPatch, schema: dict[str, Any], gate: Any
    ) -> None:
        monkeypatch.setattr(line_judge, "foreign_gate", lambda _: gate)
        beyond = Beyond(errors_after=0)
        judge = LineJudge(schema, beyond=beyond)
        assert [*judge.take(*many({"id": "a", "n": 1}, {"id": "b"})), *judge.end()] == []
        assert (beyond.counts.total(), judge.judged) == (0, 2)

    def test_keep_their_digits_where_items_have_to_differ(self) -> None:
        lines = [b'{"a": [18446744073709551617, 18446744073709551619]}'] * 3
        judge = LineJudge({"properties": {"a": {"uniqueItems": True}}})
        records = [plain_value(line) for line in lines]
        assert records[0]["a"][0] == records[0]["a"][1]  # as orjson has them
        assert [*judge.take(records, Block(5, 0, lines)), *judge.end()] == []
        assert judge.judged == 3

    @pytest.mark.parametrize("problem", [ValueError, OverflowError])
    def test_are_looked_at_one_by_one_where_the_gate_cannot_read_one(
        self, monkeypatch: pytest.MonkeyPatch, problem: type[Exception]
    ) -> None:
        def gate(record: Any) -> bool:
            if record["a"] == "odd":
                raise problem
            return record["a"] == "x"

        monkeypatch.setattr(line_judge, "foreign_gate", lambda _: gate)
        judge = LineJudge({"properties": {"a": {"enum": ["x"]}}})
        assert [f.line for f in judge.take(*many({"a": "x"}, {"a": "odd"}, {"a": "x"}))] == [6]
        assert judge.judged == 3

    def test_that_nobody_had_time_for_may_be_one(self) -> None:
        judge = LineJudge({"required": ["id"]}, 0.0)
        assert list(judge.take(*many({}))) == []
        (found,) = judge.end()
        assert found.message == "1 line was not held against line_schema"
        assert found.observed == "0 lines judged until then"


UNBOUNDED = {"properties": {"a": {"$ref": "#"}}}
STUCK = Violation("", "stuck")


class TestLooksOfAChild:
    @pytest.fixture(autouse=True)
    def child(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.took_s = 0.0, 0.0
        self.given: list[int] = []
        self.judgements: list[Judgement] = []

        def judge(schema: object, records: list[object], limit: int, timeout_s: float) -> Judgement:
            self.given.append(limit)
            self.now += self.took_s
            return self.judgements.pop(0)

        monkeypatch.setattr(line_judge, "judge_in_child", judge)
        monkeypatch.setattr(line_judge, "time", SimpleNamespace(monotonic=lambda: self.now))

    def lines(self, judge: LineJudge, count: int) -> list[int | None]:
        assert list(judge.take(*many(*({"n": n} for n in range(count))))) == []
        return [found.line for found in judge.end()]

    def test_go_on_behind_the_line_that_took_the_time(self) -> None:
        self.judgements = [Judgement(1, ((1, STUCK),)), Judgement(3, ())]
        assert self.lines(LineJudge(UNBOUNDED), 5) == [6]
        assert self.given == [5, 3]

    def test_keep_what_was_found_when_little_time_was_left(self) -> None:
        self.took_s = 5.0
        self.judgements = [Judgement(1, ()), Judgement(2, ((0, STUCK), (2, STUCK)))]
        assert self.lines(LineJudge(UNBOUNDED, 6.0), 5) == [6, None]

    def test_count_all_that_nobody_wants_to_know(self) -> None:
        self.judgements = [Judgement(4, tuple((n, STUCK) for n in range(4)))]
        beyond = Beyond(errors_after=5)
        assert self.lines(LineJudge(UNBOUNDED, beyond=beyond), 4) == [5]
        assert beyond.counts.total() == 3
