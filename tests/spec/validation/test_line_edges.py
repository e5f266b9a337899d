"""Edges of reading: bounds of what is kept, looked at and asked for, and what the fast ways leave to the slow ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lro_spec.jsonl import strict
from lro_spec.jsonl.compression import Peekable
from lro_spec.jsonl.lines import Block
from lro_spec.jsonl.parse import plain_value
from lro_spec.jsonl.strict import StrictJsonError, equal, loads, nearest_position, too_deep
from lro_spec.jsonl.values import not_strict
from lro_spec.schema import checker
from lro_spec.schema.checker import LineSchemaChecker
from lro_spec.schema.untrusted import Judgement, Violation
from lro_spec.validation.duplicates import SeenIds
from tests.support.ending import ends


@pytest.fixture(autouse=True)
def soon() -> Iterator[None]:
    with ends():
        yield


class TestIds:
    @pytest.mark.parametrize("few", [0, 2, 5, 41])
    def test_are_told_apart_however_they_are_kept(self, few: int) -> None:
        seen = SeenIds(limit=50, max_with_lines=few)
        assert all(seen.add(str(n), n) for n in range(40))
        assert not any(seen.add(str(n), 40) for n in range(40))
        assert seen.count == 40

    @pytest.mark.parametrize("few", [0, 9])
    def test_that_python_hashes_alike_are_told_apart(self, few: int) -> None:
        seen = SeenIds(limit=50, max_with_lines=few)
        assert seen.add_all([-1, -2, 0], 2) == []
        assert seen.add_all([3, -1, -2], 5) == [1, 2]

    def test_are_kept_with_their_lines_while_they_are_few(self) -> None:
        seen = SeenIds(max_with_lines=5)
        for n in range(4):
            assert seen.add(str(n), 10 + n)
            assert seen.line_of("0") == 10
        assert seen.add("4", 14)
        assert seen.line_of("0") is None

    def test_kept_are_never_more_than_the_limit(self) -> None:
        seen = SeenIds(limit=5, max_with_lines=1)
        assert seen.add_hashes([1, 2, 3], 1)
        assert seen.add_hashes([4, 5, 6], 4)
        assert seen.count == 5
        assert not seen.add_hashes([5], 7)
        assert seen.add_hashes([6], 8)
        assert list(seen.late()) == [8]

    def test_at_the_end_of_the_table_go_on_at_its_beginning(self) -> None:
        seen = SeenIds(limit=3, max_with_lines=0)  # eight places
        assert seen.add_hashes([6, 14, 22], 1)  # all want the last but one
        assert not any(seen.add_hashes([again], 4) for again in (6, 14, 22))
        assert seen.add_hashes([30], 5)
        assert list(seen.late()) == []

    def test_whose_hash_is_zero_are_kept_like_others(self) -> None:
        seen = SeenIds(limit=1, max_with_lines=0)
        assert seen.add_hashes([0], 1)
        assert not seen.add_hashes([0], 2)

    def test_beyond_the_limit_do_not_stay_in_memory(self) -> None:
        seen = SeenIds(limit=1, max_with_lines=0)
        assert seen.add_hashes([1 << 40], 0)
        for line in range(2500):
            assert seen.add_hashes([2 << 40], line)
        pending = vars(vars(seen)["_hash_file"])["_pending"]
        assert max(map(len, pending)) < 2 * 1024


class TestTexts:
    def test_without_bottom_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(strict, "MAX_LEVELS", 10**6)  # so that the reader itself gives up
        with pytest.raises(StrictJsonError, match="is nested deeper than 1000000 levels") as raised:
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
            (problem,) = strict.read(text).problems
            found = not_strict(problem, text, "/a")
            assert (found.pointer, found.observed) == ("/a", '"NaN, \\"abcdefghijklmnopqrstuvwx"')
            assert found.hint == ""

    def test_that_are_not_strict_may_be_at_their_end(self) -> None:
        for text in ("[1,", "[1,  "):
            with pytest.raises(StrictJsonError) as raised:
                loads(text)
            assert not_strict(raised.value, text).observed == "the end of the text"

    def test_that_hold_a_key_twice_come_with_a_hint(self) -> None:
        (problem,) = strict.read('{"a": 1, "a": 2}').problems
        assert not_strict(problem, "").hint == "two readers may read different values"


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


class TestPlaces:
    def test_of_what_is_not_there_are_those_of_what_should_hold_it(self) -> None:
        text = ' {"a" : {"b": 1}}'
        assert [nearest_position(text, path) for path in ("", "/a", "/a/x/y", "/x/y")] == [1, 8, 8, 1]


class TestLongLines:
    def test_take_long_lines_with_quotes(self) -> None:
        value = {"a": '"' * 300_003}
        assert plain_value(json.dumps(value).encode()) == value


def many(*records: dict[str, Any]) -> tuple[list[dict[str, Any]], Block]:
    return list(records), Block(5, 0, [json.dumps(r).encode() for r in records])


DISPUTED = {"properties": {"n": {"multipleOf": 0.5}}}


class TestLinesAgainstSchemas:
    @pytest.mark.parametrize(
        ("schema", "fast"),
        [({"required": ["id"]}, None), (DISPUTED, None), (DISPUTED, lambda _: False)],  # type: ignore[reportUnknownLambdaType]
    )
    def test_are_not_accused_by_a_fast_validator_whose_refusal_is_not_final(
        self, monkeypatch: pytest.MonkeyPatch, schema: dict[str, Any], fast: Any
    ) -> None:
        monkeypatch.setattr(checker, "foreign_fast_validator", lambda _: fast)
        judge = LineSchemaChecker(schema)
        assert [*judge.take(*many({"id": "a", "n": 1}, {"id": "b"})), *judge.end()] == []
        assert judge.judged == 2

    def test_keep_their_digits_where_items_have_to_differ(self) -> None:
        lines = [b'{"a": [18446744073709551617, 18446744073709551619]}'] * 3
        judge = LineSchemaChecker({"properties": {"a": {"uniqueItems": True}}})
        records = [plain_value(line) for line in lines]
        assert records[0]["a"][0] == records[0]["a"][1]  # as orjson has them
        assert [*judge.take(records, Block(5, 0, lines)), *judge.end()] == []
        assert judge.judged == 3

    @pytest.mark.parametrize("problem", [ValueError, OverflowError])
    def test_are_looked_at_one_by_one_where_the_fast_validator_cannot_read_one(
        self, monkeypatch: pytest.MonkeyPatch, problem: type[Exception]
    ) -> None:
        def fast(record: Any) -> bool:
            if record["a"] == "odd":
                raise problem
            return record["a"] == "x"

        monkeypatch.setattr(checker, "foreign_fast_validator", lambda _: fast)
        judge = LineSchemaChecker({"properties": {"a": {"enum": ["x"]}}})
        assert [f.line for f in judge.take(*many({"a": "x"}, {"a": "odd"}, {"a": "x"}))] == [6]
        assert judge.judged == 3

    def test_that_nobody_had_time_for_may_be_one(self) -> None:
        judge = LineSchemaChecker({"required": ["id"]}, 0.0)
        assert list(judge.take(*many({}))) == []
        (found,) = judge.end()
        assert found.message == "1 line was not checked against line_schema"
        assert found.observed == "0 lines checked until then"


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

        monkeypatch.setattr(checker, "SchemaChild", lambda: SimpleNamespace(judge=judge, close=lambda: None))
        monkeypatch.setattr(checker, "time", SimpleNamespace(monotonic=lambda: self.now))

    def lines(self, judge: LineSchemaChecker, count: int) -> list[int | None]:
        assert list(judge.take(*many(*({"n": n} for n in range(count))))) == []
        return [found.line for found in judge.end()]

    def test_go_on_behind_the_line_that_took_the_time(self) -> None:
        self.judgements = [Judgement(1, ((1, STUCK),)), Judgement(3, ())]
        assert self.lines(LineSchemaChecker(UNBOUNDED), 5) == [6]
        assert self.given == [5, 3]

    def test_keep_what_was_found_when_little_time_was_left(self) -> None:
        self.took_s = 5.0
        self.judgements = [Judgement(1, ()), Judgement(2, ((0, STUCK), (2, STUCK)))]
        assert self.lines(LineSchemaChecker(UNBOUNDED, 6.0), 5) == [6, None]
