"""The values of lines: read fast where they are surely strict JSON, and left to a closer look where they are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lro_spec.jsonl.parse import exact, plain_value, plain_values, read_leniently

LONG = "x" * (1 << 18)
"""A text of a line that is not written once more to count its quotes."""

PLAIN: list[tuple[str, Any]] = [
    ("1", 1), ("{}", {}), ('{"a":"\\""}', {"a": '"'}), ('"u0022"', "u0022"), (" [1, 2] ", [1, 2]),
    ('{"a":{"b":"c\\"d"},"e":["f"]}', {"a": {"b": 'c"d'}, "e": ["f"]}),
    (f'{{"a":"{LONG}","b":{{"c":["\\"",2]}}}}', {"a": LONG, "b": {"c": ['"', 2]}}),
]  # fmt: skip
CLOSER = [
    b'{"a":1,"a":2}', b'{"a":"x","b":"y","a":"z"}', b"[1]x", b"NaN", b"1e999", b'"\xff"', b"[" * 2000 + b"]" * 2000,
    b"[" * 300 + b"]" * 300, b"null",
    b'{"a":"\\u0022","a":1}', b'{"a":"\\u0022"}', b'"u0022\\n"',  # a quote by its number could make up for a key
    f'{{"a":"{LONG}","b":1,"b":2}}'.encode(), f'["{LONG}",'.encode() + b"[" * 300 + b"]" * 300 + b"]",
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), PLAIN)
def test_a_plain_line_is_read(text: str, value: Any) -> None:
    assert plain_value(text.encode()) == exact(text.encode(), value) == value
    assert plain_values([text.encode()]) == [value]


def test_a_long_line_may_be_nested_almost_as_deep_as_others() -> None:
    value = plain_value(f'["{LONG}",'.encode() + b"[" * 248 + b"]" * 248 + b"]")
    assert value[0] == LONG


@pytest.mark.parametrize("data", CLOSER)
def test_what_is_not_surely_strict_json_needs_a_closer_look(data: bytes) -> None:
    assert plain_value(data) is None
    assert plain_values([data]) is None


@pytest.mark.parametrize(
    "value", [12345678901234567890123, [18446744073709551616], {"a": -123456789012345678901}], ids=repr
)
def test_integers_beyond_64_bits_keep_their_digits_where_they_are_asked_for(value: Any) -> None:
    data = repr(value).replace("'", '"').encode()
    assert isinstance(str(plain_value(data)), str)
    assert exact(data, plain_value(data)) == value
    assert "e+" in repr(plain_value(data))


@pytest.mark.parametrize(
    "text",
    [
        *(
            '{"a":1,"a":2}',
            "[-0, 1e5, 1.0, 1e-400]",
            "1E400",
            "NaN",
            "[-Infinity]",
            " null ",
            '"\\ud800 \\u0000"',
            '"\x7f"',
        ),
        *("12345678901234567890123", "-9223372036854775809", "[18446744073709551616.5]", '"\ud800"'),
    ],
)
def test_a_lenient_reading_is_that_of_json(text: str) -> None:
    assert repr(read_leniently(text)) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["", "[1,]", '{"a" 1}', '"\n"', "[" * 99_999, "\ufeff1"])
def test_a_lenient_reading_fails_as_that_of_json(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)) as expected:
        json.loads(text)
    with pytest.raises(expected.type) as failed:
        read_leniently(text)
    assert str(failed.value) == str(expected.value)


@pytest.mark.parametrize("data", [b"1" * 30 + b"x", b"[" * 99_999 + b"1" * 30])
def test_a_line_that_breaks_off_keeps_the_value_that_it_was_taken_for(data: bytes) -> None:
    assert exact(data, 5) == 5


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        (["1", "2"], [1, 2]), (["1"], [1]), (["{}", "[]", "3"], [{}, [], 3]), ([" 1", "2 "], [1, 2]),
        (["null", "1"], [None, 1]), (['{"a":1}', '{"b":"\\""}'], [{"a": 1}, {"b": '"'}]),
    ],
)  # fmt: skip
def test_plain_lines_are_read_together(lines: list[str], values: list[Any]) -> None:
    assert plain_values([line.encode() for line in lines]) == values


@pytest.mark.parametrize(
    "lines",
    [
        ["1,2", "3"], ["1", ""], ["", ""], ["[1", "2]"], ['"', '"'], ["1 ,", "2"], ["1", "2,3"], ["1", ",2"],
        ["1", "x"], ["1e999", "2"], ['{"a":1}', '{"a":1,"a":2}'], ['{"a":"\\u0022"}', "1"],
    ],
)  # fmt: skip
def test_a_value_never_reaches_over_two_lines(lines: list[str]) -> None:
    assert plain_values([line.encode() for line in lines]) is None
