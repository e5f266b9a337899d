"""Strict reading and lenient equality of JSON."""

from __future__ import annotations

import gc
import json
import random
import weakref
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lro_spec.findings import Kind
from lro_spec.jsonl.strict import (
    MAX_LEVELS,
    StrictJsonError,
    canonical,
    equal,
    loads,
    read,
    spelling,
    too_deep,
)

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(), v, max_size=4), max_leaves=12
)


@given(values)
def test_what_json_writes_is_read_back(value: Any):
    assert loads(json.dumps(value)) == value
    assert loads(json.dumps(value, ensure_ascii=False).encode()) == value


def test_integers_keep_every_digit():
    assert loads("123456789012345678901234567890") == 123456789012345678901234567890


@pytest.mark.parametrize(
    ("source", "problem", "line", "column"),
    [
        ("", "Expecting value", 1, 1),
        ('{"a": 1,}', "", 1, 9),
        ("[1] 2", "Extra data", 1, 5),
        ('{"a":\n NaN}', "NaN is not JSON", 2, 2),
        ("[-Infinity]", "-Infinity is not JSON", 1, 2),
        ('["NaN", Infinity]', "Infinity is not JSON", 1, 9),
        ('{"a": 1, "b": {"a": 2}, "a": 3}', "key 'a' occurs twice", 1, 25),
        ('{"a": 1,\n"\\u0061": 3}', "key 'a' occurs twice", 2, 1),
        ('[{"a": ["a", "a"]}, {"b": 1, "b": 2}]', "key 'b' occurs twice", 1, 30),
        ("\ufeff{}", "byte order mark", 1, 1),
        (b"\xef\xbb\xbf{}", "byte order mark", 1, 1),
        (b'{"a":\n"\xc3\xa9\xff"}', "invalid UTF-8 (bytes ff)", 2, 3),
        (b'"\xed\xa0\x80"', "invalid UTF-8", 1, 2),
        ("[1, 1e400]", "number 1e400 is beyond", 1, 5),
        ("[-" + "9" * 400 + "]", "is beyond the range of a double", 1, 2),
        ("9" * 10_000, "is beyond the range of a double", 1, 1),
        ('"a\tb"', "control character", 1, 3),
        ("[" * (MAX_LEVELS + 1) + "]" * (MAX_LEVELS + 1), "deeper than 500", 1, 501),
        ('{"a":' * 100_000, "deeper than 500", 1, 2501),
        ("01", "Extra data", 1, 2),
        ("'a'", "Expecting value", 1, 1),
    ],
)
def test_what_is_refused_says_what_and_where(source: bytes | str, problem: str, line: int, column: int):
    with pytest.raises(StrictJsonError) as raised:
        loads(source)
    assert problem in raised.value.problem
    assert (raised.value.line, raised.value.column) == (line, column)
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize(
    "source",
    [
        "[" * MAX_LEVELS + "]" * MAX_LEVELS,
        '["' + "[" * 9000 + '"]',
        json.dumps([[]] * 5000),
        '["\\"[" ' + ', "[{"' * 600 + "]",
    ],
)
def test_brackets_count_as_nesting_only_where_they_nest(source: str):
    assert loads(source) == json.loads(source)


def test_a_lone_surrogate_escape_is_read():
    assert loads('"\\ud800"') == "\ud800"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (0, -0.0),
        (2**53, 2**53 + 1),
        (-(2**60), -(2**60) - 1),
        (10**400, 10**401),
        ("\ud800", "\ufffd"),
        ({"\udfff": 1}, {"\ufffd": 1.0}),
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}),
        ([], []),
    ],
)
def test_equal(a: Any, b: Any):
    assert equal(a, b)
    assert equal([{"x": a}], [{"x": b}])
    assert canonical(a) == canonical(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, True),
        (0, False),
        (None, False),
        (1, "1"),
        (2**53 - 1, 2**53 - 2),
        (0.1, 0.1 + 1e-16),
        ([1, 2], [2, 1]),
        ({"a": None}, {}),
        ({"a": 1}, [["a", 1]]),
        ([[1], 2], [[1, 2]]),
        ("a", "A"),
        ("é", "e\u0301"),
        ({"a": {"b": 1}}, {"a": 1, "b": 1}),
        (10**400, -(10**400)),
        ("[1.0,]", [1]),
    ],
)
def test_not_equal(a: Any, b: Any):
    assert not equal(a, b)
    assert canonical(a) != canonical(b)


def shuffled(value: Any, dice: random.Random) -> Any:
    """An equal value, spelling otherwise: keys in another order, whole numbers as floats and back."""
    if isinstance(value, dict):
        members = list(value.items())
        dice.shuffle(members)
        return {k: shuffled(v, dice) for k, v in members}
    if isinstance(value, list):
        return [shuffled(v, dice) for v in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        return float(value)
    return value


@given(values, st.randoms(use_true_random=False))
def test_equality_is_reflexive_through_json_and_blind_to_spelling(value: Any, dice: random.Random):
    assert equal(value, json.loads(json.dumps(value)))
    assert equal(value, shuffled(value, dice))


small = st.recursive(
    st.sampled_from([None, True, False, 0, 0.0, -0.0, 1, 1.0, 2**53, 2**53 + 1, "", "\ud800", "\ufffd"]),
    lambda v: st.lists(v, max_size=2) | st.dictionaries(st.sampled_from("ab"), v, max_size=2),
    max_leaves=3,
)


@given(small, small, small)
def test_equality_is_symmetric_and_transitive(a: Any, b: Any, c: Any):
    assert equal(a, b) == equal(b, a) == (canonical(a) == canonical(b))
    if equal(a, b) and equal(b, c):
        assert equal(a, c)


def test_deep_values_are_compared():
    deep = loads("[" * MAX_LEVELS + "]" * MAX_LEVELS)
    assert equal(deep, json.loads(json.dumps(deep)))
    assert not equal(deep, deep[0])


class Text(str):
    """A text that weak references can watch."""


@pytest.mark.parametrize("source", ["[" * (MAX_LEVELS + 1) + "]" * (MAX_LEVELS + 1), '{"a": 1, "a": 2}', "[1,", "[1]"])
def test_a_text_is_released_as_soon_as_it_was_read(source: str) -> None:
    text = Text(source)
    alive = weakref.ref(text)
    gc.disable()  # files of many megabytes must not wait for it
    try:
        with suppress(StrictJsonError):
            loads(text)
        del text
        assert alive() is None
    finally:
        gc.enable()


def test_what_is_no_json_value_cannot_be_compared():
    with pytest.raises(TypeError, match="set is not a JSON value"):
        equal({1}, {1})


SOUND = [
    "1",
    "9" * 308,
    "1" * 309,
    "-" + "9" * 308,
    '[{"a":"b","c":"a"},"a","a"]',
    '{"a":["b","b"],"b":"a"}',
    "[" * 500 + "]" * 500,
    "[" + "[]," * 499 + "[]]",
    '["x5", "5x", 5]',
    "-0",
    "1.0",
    "1e5",
    "1e308",
    "1" * 308,
    '"a"',
    '"\\ud800"',
    "null",
    "true",
    '[{"a":1},{"a":1}]',
    '{"a":["a","a"],"b":"a"}',
    '{"a":"a","b":"a"}',
    '[{"x":[],"y":1},"x","x"]',
    '"' + "[" * 600 + '"',
    "[[]]   ",
    "[" + "[]," * 599 + "[]]",
]
"""Texts of JSON that strict and lenient readers take alike."""

DISPUTED: list[tuple[str, int | None, int | None, int, Kind]] = [
    ("9" * 309, 0, None, 0, Kind.BAD_NUMBER),
    ("-" + "9" * 309, 0, None, 0, Kind.BAD_NUMBER),
    ('{"a":1,"a":' + "1" * 309 + "}", None, 7, 7, Kind.REPEATED_KEY),
    ('{"a":1,"a":' + "1" * 307 + "}", None, 7, 7, Kind.REPEATED_KEY),
    ('{"a":1,"a":' + "1" * 308 + "}", None, 7, 7, Kind.REPEATED_KEY),
    ('{"a":1,"a":' + "9" * 309 + "}", 11, 7, 7, Kind.REPEATED_KEY),
    ('{"a":NaN,"a":2}', 5, 9, 5, Kind.BAD_NUMBER),
    ('{"a":1,"b":NaN}', 11, None, 11, Kind.BAD_NUMBER),
    ("[1e999]", 1, None, 1, Kind.BAD_NUMBER),
    ('{"a":1,"a":1e999}', 11, 7, 7, Kind.REPEATED_KEY),
    ('{"a":{"b":1,"b":2}}', None, 12, 12, Kind.REPEATED_KEY),
    ('{"a":[{"a":1}],"a":2}', None, 15, 15, Kind.REPEATED_KEY),
    ('{"a":[],"a":2}', None, 8, 8, Kind.REPEATED_KEY),
    ("[" * 501 + "]" * 501, None, 500, 500, Kind.TOO_DEEP),
    ('{"a":1,"a":' + "[" * 500 + "]" * 500 + "}", None, 510, 510, Kind.TOO_DEEP),
    ('{"a":' * 499 + "NaN" + "}" * 499, 2495, None, 2495, Kind.BAD_NUMBER),
    ('{"a":' + "[" * 501 + "]" * 501 + ',"a":NaN}', 1012, 504, 504, Kind.TOO_DEEP),
    ('["[", -Infinity]', 6, None, 6, Kind.BAD_NUMBER),
    ('["a" , "b" , -1e999]', 13, None, 13, Kind.BAD_NUMBER),
    ("[1E400,NaN]", 1, None, 1, Kind.BAD_NUMBER),
    ('{"x":{},"y":1,"y":2}', None, 14, 14, Kind.REPEATED_KEY),
    ('{"x":[1,2],"x":3}', None, 11, 11, Kind.REPEATED_KEY),
    ('{"a":"x","b":{"a":"a"},"a":1}', None, 23, 23, Kind.REPEATED_KEY),
    ("[-1e5, 1e400]", 7, None, 7, Kind.BAD_NUMBER),
    ("[1e" + "9" * 22 + "]", 1, None, 1, Kind.BAD_NUMBER),
    ("[1e" + "9" * 23 + "]", 1, None, 1, Kind.BAD_NUMBER),
    ("[" + "[]," * 300 + "[" * 500 + "]" * 501, None, 1400, 1400, Kind.TOO_DEEP),
    ("1e309", 0, None, 0, Kind.BAD_NUMBER),
    ("-1e400", 0, None, 0, Kind.BAD_NUMBER),
    ("1" * 400, 0, None, 0, Kind.BAD_NUMBER),
    ("NaN", 0, None, 0, Kind.BAD_NUMBER),
    ("-Infinity", 0, None, 0, Kind.BAD_NUMBER),
    ("[NaN]", 1, None, 1, Kind.BAD_NUMBER),
    ('{"a": Infinity}', 6, None, 6, Kind.BAD_NUMBER),
    ('{"a":1,"a":2}', None, 7, 7, Kind.REPEATED_KEY),
    ('{"a":1,"b":{"a":1,"a":2}}', None, 18, 18, Kind.REPEATED_KEY),
    ('{"a":{"b":1},"a":2}', None, 13, 13, Kind.REPEATED_KEY),
    ('{"\\u0061":1,"a":2}', None, 12, 12, Kind.REPEATED_KEY),
    ('[1,\n 2,\n {"a":1,\n  "a":2}]', None, 19, 19, Kind.REPEATED_KEY),
    ('["NaN", 1e999]', 8, None, 8, Kind.BAD_NUMBER),
    ('[{"a":' * 251 + "1" + "}]" * 251, None, 1500, 1500, Kind.TOO_DEEP),
    ("[-1" + "0" * 400 + "]", 1, None, 1, Kind.BAD_NUMBER),
]
"""Texts that Python reads: where a number is beyond a double, where the text is disputed, where `loads` stops."""

NO_JSON: list[tuple[str, int, Kind]] = [
    ("\ufeff1", 0, Kind.BYTE_ORDER_MARK),
    ("[1, 2", 5, Kind.NOT_JSON),
    ('"a', 0, Kind.NOT_JSON),
    ("{", 1, Kind.NOT_JSON),
    ("[1] x", 4, Kind.NOT_JSON),
    ("", 0, Kind.NOT_JSON),
    (" ", 1, Kind.NOT_JSON),
    ('{"a":-NaN}', 5, Kind.NOT_JSON),
]
"""Texts that no reader takes, and where strict reading stops."""


@pytest.mark.parametrize("text", SOUND)
def test_what_is_sound_is_read_alike_by_all(text: str) -> None:
    reading = read(text)
    assert [problem for problem in reading.problems if problem.kind is not Kind.LONE_SURROGATE] == []
    assert loads(text) == reading.value == json.loads(text)


@pytest.mark.parametrize(("text", "number", "disputed", "stops", "kind"), DISPUTED)
def test_what_only_lenient_readers_take_is_told_by_its_place(
    text: str, number: int | None, disputed: int | None, stops: int, kind: Kind
) -> None:
    offsets = {problem.kind: problem.offset for problem in read(text).problems}
    assert offsets.get(Kind.BAD_NUMBER) == number
    assert offsets.get(Kind.TOO_DEEP, offsets.get(Kind.REPEATED_KEY)) == disputed
    with pytest.raises(StrictJsonError) as refusal:
        loads(text)
    assert (refusal.value.offset, refusal.value.kind) == (stops, kind)


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ('"\\ud800"', 1),
        ('["\\ud83d\\ude00", "\\ude00\\ud83d"]', 18),
        ('"\\ud800\\n\\udc00"', 1),
        ('"\\\\ud800"', None),
        ('"\\ud83d\\ude00"', None),
    ],
)
def test_half_a_surrogate_pair_is_a_problem_with_a_place(text: str, offset: int | None) -> None:
    problems = [(problem.kind, problem.offset) for problem in read(text).problems]
    assert problems == ([] if offset is None else [(Kind.LONE_SURROGATE, offset)])


def test_of_each_kind_only_the_first_problem_is_reported_and_all_in_their_order() -> None:
    text = '{"a":1e999,"b":NaN,"a":"\\ud800","a":"\\udc00"}'
    problems = [(problem.kind, problem.offset) for problem in read(text).problems]
    assert problems == [(Kind.BAD_NUMBER, 5), (Kind.REPEATED_KEY, 19), (Kind.LONE_SURROGATE, 24)]


@pytest.mark.parametrize(("text", "stops", "kind"), NO_JSON)
def test_what_is_no_json_is_refused_by_all(text: str, stops: int, kind: Kind) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read(text)
    with pytest.raises(StrictJsonError) as refusal:
        loads(text)
    assert (refusal.value.offset, refusal.value.kind) == (stops, kind)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": {"d": 1, "c": 2}}, '{"a": {"c": 2, "d": 1}, "b": 1}'),
        ([1.0, "é"], '[1.0, "\\u00e9"]'),
        (None, "null"),
    ],
)
def test_a_value_is_spelled_with_its_keys_in_order(value: Any, text: str) -> None:
    assert spelling(value) == text


@pytest.mark.parametrize(("depth", "deeper"), [(1, False), (4, False), (5, True), (6, True)])
def test_depth_is_counted_in_values_that_hold_each_other(depth: int, deeper: bool) -> None:
    assert too_deep(loads("[" * depth + "]" * depth), 4) is deeper
    assert not too_deep(3)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1, "a"], [1, "a"]),
        ([1.0], [1]),
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
        (10**400, 10**401),
        ([0.1], [0.1]),
        ([[]], [[]]),
        (("a",), ["a"]),
        ([-0.0], [0.0]),
        (1, 1.0),
        (0, -0.0),
        ("a", "a"),
        (9007199254740992, 9007199254740993),
        ([1, 2], [1.0, 2]),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}),
        ("\ud800", "�"),
        ([1], (1,)),
    ],
)
def test_values_are_equal_however_they_are_spelled(a: Any, b: Any) -> None:
    assert equal(a, b)
    assert equal(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"a": 1}, {"a": 2}),
        ([float("nan")], [1]),
        ([10**400], [-(10**400)]),
        (-(10**400), 1),
        (1, True),
        (0, False),
        (None, False),
        ("1", 1),
        (9007199254740991, 9007199254740992),
        ([1, 2], [2, 1]),
        ({"a": None}, {}),
        ([], {}),
        ([[]], [[], []]),
        (10**400, -(10**400)),
        ({"a": [1]}, {"a": [True]}),
        ("é", "é"),
        (1.5, 1.5000000000000002),
        ([None], [[]]),
    ],
)
def test_values_differ_however_near_they_are(a: Any, b: Any) -> None:
    assert not equal(a, b)
    assert not equal(b, a)
