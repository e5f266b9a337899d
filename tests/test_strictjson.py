"""Strict reading and lenient equality of JSON."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lro_spec.strictjson import DEEPEST, StrictJsonError, canonical, equal, loads

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
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "deeper than 500", 1, 501),
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
        "[" * DEEPEST + "]" * DEEPEST,
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
    """An equal value, spelled otherwise: keys in another order, whole numbers as floats and back."""
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
    deep = loads("[" * DEEPEST + "]" * DEEPEST)
    assert equal(deep, json.loads(json.dumps(deep)))
    assert not equal(deep, deep[0])


def test_what_is_no_json_value_cannot_be_compared():
    with pytest.raises(TypeError, match="set is not a JSON value"):
        equal({1}, {1})
