"""Outputs of recipes that are a selection, a ranking, a projection, a table or counts of some records."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lro_spec.recipes.expected import (
    ByOrder,
    Counts,
    Distinct,
    Expected,
    Projection,
    Ranking,
    Selection,
    Table,
    number_of,
)

A, B, C = {"id": "a", "n": 3}, {"id": "b", "n": 1}, {"id": "c"}
D = {"id": "d", "n": 1.0}
LESS = {"id": "e", "n": -1}
ONE, SAME, TWO = {"n": 1}, {"n": 1.0}, {"n": 2}
"""Two of them are spelling otherwise, and equal."""
VALUES: list[list[Any]] = [
    [], [A], [B], [A, B], [B, A], [A, A], [A, B, C], [A, B, C, C], [C, A, B], [A, B, D], [A, D, B], [A, B, D, C],
    [A, B, C, D],
    [A, C, B, D], [D, B, A], [{"id": "b", "n": 1.0}, A], [{"n": 3, "id": "a"}], [{"id": "a"}], [{"id": "a", "n": 4}],
    [3],
    [{"id": "a"}, {"id": "b"}], [{"id": "a", "n": None}, {"id": "b"}], [["a"], ["b"]], ["a", "b"], ["a"],
    [["a", 3], ["b", 1]],
    ["a\t3", "b\t1"], ["a\t3.0", "b\t1"], ["a\t4", "b\t1"], ["a\tx", "b\t1"],
    [{"x": "a", "y": 3}, {"x": "b", "y": 1}], ["a\t3"],
    ["a\t3", "b\t1", "c\t"], ["x\\ty\t", "true\tfalse"], ["x\ty\t", "true\tfalse"], [["x\ty", None], [True, False]],
    [["x", 2], ["y", 1]], [["y", 1], ["x", 2]], [["x", 2]], [["x", 2], ["y", True]], [["x", 2], ["y", 1], ["y", 1]],
    [{"k": "x", "count": 2}, {"k": "y", "n": 1.0}], [{"x": 2}, {"y": 1}],
    [{"k": "x", "a": 2, "b": 1}, {"k": "y", "a": 1}],
    [{"k": "x", "count": "2"}, {"k": "y", "count": 1}], [{"count": 2}, {"k": "y", "count": 1}], ["x", "y"],
    ["y", "x"], ["x", "x"],
    ["x", "y", "y"], ["x", None], [None, "x"],
    [A, LESS, C], [A, C, LESS], [{"m": 1}], [{"id": "a", "n": None}], ["a\t3\tx", "b\t1"], ["x\\\\y"], [{"count": 2}],
    [{"k": "z"}, {"k": [1]}], [{"k": [1]}, {"k": "z"}], [ONE, SAME], [SAME, SAME], [TWO, SAME], [TWO, SAME, ONE],
    [ONE, ONE, TWO], [ONE, SAME, SAME], [ONE, ONE, ONE], [3, A], ["A", 3], [[2, 1]],
]  # fmt: skip


"""Outputs, each of which is tried on every expectation."""


def key(record: Any) -> float | None:
    return number_of(record.get("n"))


EXPECTED: dict[str, tuple[Expected, str, list[Any]]] = {
    "all": (Selection([A, B], [True, True]), "2 of 2 records: a, b", [[A, B]]),
    "the first": (Selection([A, B], [True, False]), "1 of 2 records: a", [[A], [{"n": 3, "id": "a"}]]),
    "the second": (Selection([A, B], [False, True]), "1 of 2 records: b", [[B]]),
    "the first, perhaps": (Selection([A, B], [None, True]), "1 of 2 records (and up to 1 more): b", [[B], [A, B]]),
    "none": (Selection([A, B], [False, False]), "0 of 2 records", [[]]),
    "perhaps any": (
        Selection([A, B, C], [None, None, None]),
        "0 of 3 records (and up to 3 more)",
        [[], [A], [B], [A, B], [A, B, C], [{"n": 3, "id": "a"}]],
    ),
    "ranked": (Ranking([C, B, A], key), "3 of 3 records in descending order of confidence: 3, 1, none", [[A, B, C]]),
    "the first two": (Ranking([C, B, A], key, 2), "2 of 3 records in descending order of confidence: 3, 1", [[A, B]]),
    "the first of one": (
        Ranking([A], key, 2),
        "1 of 1 records in descending order of confidence: 3",
        [[A], [{"n": 3, "id": "a"}]],
    ),
    "ties": (
        Ranking([D, B, A], key),
        "3 of 3 records in descending order of confidence: 3, 1 (2 times)",
        [[A, B, D], [A, D, B]],
    ),
    "ties with none": (
        Ranking([D, B, A, C], key, 4),
        "4 of 4 records in descending order of confidence: 3, 1 (2 times), none",
        [[A, B, D, C]],
    ),
    "twice the same": (Ranking([A, A], key), "2 of 2 records in descending order of confidence: 3 (2 times)", [[A, A]]),
    "ordered": (ByOrder([A, B, C], "id"), "3 records in ascending order of id: a, b, c", [[A, B, C]]),
    "ordered by numbers": (
        ByOrder([B, A], "n"),
        "2 records in ascending order of n: 1, 3",
        [[B, A], [{"id": "b", "n": 1.0}, A]],
    ),
    "ordered with nothing": (ByOrder([A, C, B], "n"), "3 records in ascending order of n: None, 1, 3", []),
    "cut": (Projection([A, B], ("id",)), '2 objects with id: {"id":"a"}, {"id":"b"}', [[{"id": "a"}, {"id": "b"}]]),
    "cut to all": (
        Projection([{"id": "a"}, {"id": "b"}], ("id",)),
        '2 objects with id: {"id":"a"}, {"id":"b"}',
        [[A, B], [{"id": "a"}, {"id": "b"}], [{"id": "a", "n": None}, {"id": "b"}]],
    ),
    "cut with more": (
        Projection([{"id": "a", "n": 3, "m": 1}], ("id", "n")),
        '1 object with id, n: {"id":"a","n":3.0}',
        [[A], [{"n": 3, "id": "a"}]],
    ),
    "rows": (
        Table([("a", 3), ("b", 1)]),
        "2 rows: a | 3.0, b | 1.0",
        [[A, B], [["a", 3], ["b", 1]], ["a\t3", "b\t1"], ["a\t3.0", "b\t1"], [{"x": "a", "y": 3}, {"x": "b", "y": 1}]],
    ),
    "a row": (Table([("a", 3)]), "1 row: a | 3.0", [[A], ["a\t3"]]),
    "rows with nothing": (
        Table([("a", 3), ("b", 1), ("c", None)]),
        "3 rows: a | 3.0, b | 1.0, c | null",
        [["a\t3", "b\t1", "c\t"]],
    ),
    "rows of texts": (
        Table([("x\ty", None), (True, False)]),
        "2 rows: x\ty | null, true | false",
        [["x\\ty\t", "true\tfalse"], [["x\ty", None], [True, False]]],
    ),
    "no rows": (Table([]), "0 rows", [[]]),
    "counts": (
        Counts("k", {'"x"': ("x", 2), '"y"': ("y", 1)}, descending=False),
        "2 values of k: x: 2, y: 1",
        [[["x", 2], ["y", 1]], [["y", 1], ["x", 2]], [{"k": "x", "count": 2}, {"k": "y", "n": 1.0}]],
    ),
    "counts, most first": (
        Counts("k", {'"x"': ("x", 2), '"y"': ("y", 1)}, descending=True),
        "2 values of k, most frequent first: x: 2, y: 1",
        [[["x", 2], ["y", 1]], [{"k": "x", "count": 2}, {"k": "y", "n": 1.0}]],
    ),
    "counts of one": (
        Counts("k", {'"x"': ("x", 2)}, descending=True),
        "1 value of k, most frequent first: x: 2",
        [[["x", 2]]],
    ),
    "counts of nothing": (Counts("k", {}, descending=True), "0 values of k, most frequent first", [[]]),
    "distinct": (Distinct(["x", "y"]), "2 values: x, y", [["x", "y"], ["y", "x"]]),
    "distinct with nothing": (Distinct(["x", None]), "2 values: x, null", [["x", None], [None, "x"]]),
    "long": (
        Selection([{"id": "x" * 999}, A, B], [True] * 3),
        "3 of 3 records: " + "x" * 999 + ", a, b",
        [],
    ),
    "longer": (
        Selection([{"id": "x" * 1001}, A, B], [True] * 3),
        "3 of 3 records: " + "x" * 1001,
        [],
    ),
    "ranked below nothing": (
        Ranking([A, LESS, C], key),
        "3 of 3 records in descending order of confidence: 3, -1, none",
        [[A, LESS, C], [A, C, LESS]],
    ),
    "the first two of those alike": (
        Ranking([C, ONE, TWO], key, 2),
        "2 of 3 records in descending order of confidence: 2, 1",
        [[TWO, SAME]],
    ),
    "ordered, two alike": (
        ByOrder([ONE, ONE], "n"),
        "2 records in ascending order of n: 1 (2 times)",
        [[ONE, SAME], [SAME, SAME]],
    ),
    "ordered, one alike": (ByOrder([ONE, TWO], "n"), "2 records in ascending order of n: 1, 2", []),
    "ordered, two alike of three": (
        ByOrder([ONE, ONE, TWO], "n"),
        "3 records in ascending order of n: 1 (2 times), 2",
        [[ONE, ONE, TWO]],
    ),
    "ordered, two spelling otherwise": (
        ByOrder([ONE, SAME, TWO], "n"),
        "3 records in ascending order of n: 1, 1.0, 2",
        [[ONE, ONE, TWO]],
    ),
    "ordered, three that are equal": (
        ByOrder([ONE, ONE, SAME], "n"),
        "3 records in ascending order of n: 1 (2 times), 1.0",
        [[ONE, SAME, SAME], [ONE, ONE, ONE]],
    ),
    "ordered by what is no text": (
        ByOrder([{"k": [1]}, {"k": "z"}], "k"),
        "2 records in ascending order of k: z, [1]",
        [[{"k": "z"}, {"k": [1]}]],
    ),
    "cut to a field that is not there": (
        Projection([{"id": "a"}], ("id", "n")),
        '1 object with id, n: {"id":"a","n":null}',
        [[{"id": "a"}], [{"id": "a", "n": None}]],
    ),
    "cut to nothing": (Projection([{"m": 1}], ("id",)), '1 object with id: {"id":null}', [[{"count": 2}]]),
    "a row with a backslash": (Table([("x\\y",)]), "1 row: x\\y", [["x\\\\y"]]),
    "counts without the field": (
        Counts("k", {"null": (None, 2)}, descending=False),
        "1 value of k: null: 2",
        [[{"count": 2}]],
    ),
    "two empty names": (Selection([{"id": ""}, {"id": ""}], [True] * 2), "2 of 2 records:  (2 times)", []),
    "without names": (Selection([{"n": 1}, {"id": ""}], [True] * 2), '2 of 2 records: {"n":1.0}, ', []),
    "an empty name": (Selection([{"id": ""}], [True]), "1 of 1 records", []),
}
"""Expectations, their words, and those of the outputs that meet them."""
HALF = {"id": "h", "n": -0.5}


@pytest.mark.parametrize("name", EXPECTED)
def test_any_other_output_has_a_difference_in_words(name: str) -> None:
    expected, _, _ = EXPECTED[name]
    assert all(expected.difference(value) for value in VALUES if not expected.met_by(value))


COUNTS = Counts("k", {'"x"': ("x", 2), '"y"': ("y", 1)}, descending=True)
TITLES = Projection([A, B], ("id",), ("n",))


@pytest.mark.parametrize(
    ("expected", "output", "words"),
    [
        (COUNTS, [["y", 1], ["x", 2]], "the counts are right, but not in descending order: 1 comes before 2"),
        (COUNTS, [["x", 3], ["y", 1]], "x has a count of 3 instead of 2"),
        (COUNTS, [["x", 2]], "1 value of k missing: y"),
        (COUNTS, [["x", 2], ["y", 1], ["z", 1]], "no record has the k z"),
        (COUNTS, [["x", 2], ["y", 1], ["y", 1]], "a k is listed twice"),
        (COUNTS, [{"x": 2, "y": 1, "z": 3}], "it is not a list of k and count"),
        (Ranking([A, B], key), [B, A], "the records are not in descending order of confidence: 1 comes before 3"),
        (Ranking([A, B, D], key), [A, B], "it has 2 records instead of 3"),
        (Ranking([A, B], key), [A, {"id": "b"}], "1 value is not a complete record of the file, or repeats one"),
        (Ranking([A, B, C], key, 1), [B], "these are not the records with the highest confidence"),
        (ByOrder([A, B], "n"), [A, B], "the records are not in ascending order of n: 3 comes before 1"),
        (Selection([A, B, C], [True, True, False]), [B, C], "1 record missing and 1 record too many"),
        (Selection([A, B], [True, True]), [B, A], "the records are the right ones, but not in the order of the file"),
        (TITLES, [{"id": "a"}, {"n": 1}], "value 2 has no id"),
        (TITLES, [{"id": "a"}, {"id": "b", "n": 3}], "value 2 has a different n than its record"),
        (TITLES, [{"id": "a"}, {"id": "b", "n": 1}], "some of the objects have n, and some have not"),
        (Projection([A], ("id",)), [A], "value 1 is the complete record"),
        (Table([("a",), ("b",)]), ["a", "c"], "row 2 is wrong"),
        (Distinct(["x", "y"]), ["x", "y", "y"], "values are repeated"),
    ],
)
def test_a_difference_names_what_is_wrong(expected: Expected, output: list[Any], words: str) -> None:
    assert not expected.met_by(output)
    assert expected.difference(output) == words


@pytest.mark.parametrize("name", EXPECTED)
def test_an_expectation_is_met_by_its_outputs_and_no_others(name: str) -> None:
    expected, words, outputs = EXPECTED[name]
    assert expected.text() == words
    met = [value for value in VALUES if expected.met_by(value)]
    assert json.dumps(met) == json.dumps(outputs)  # 1 and 1.0 and true are told apart


@pytest.mark.parametrize(
    ("output", "met"),
    [([A, C, HALF], True), ([A, HALF, C], True), ([C, A, HALF], False), ([HALF, A, C], False)],
)
def test_a_record_without_a_number_ranks_as_zero_or_last(output: list[Any], met: bool) -> None:
    assert Ranking([C, HALF, A], key).met_by(output) is met


@pytest.mark.parametrize(("text", "met"), [("true", True), ("trud", False), ("truf", False)])
def test_a_truth_value_in_a_row_is_spelled_out(text: str, met: bool) -> None:
    assert Table([(True, False)]).met_by([f"{text}\tfalse"]) is met


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1.0),
        (-0.0, 0.0),
        (True, None),
        ("1", None),
        (None, None),
        (1.5, 1.5),
        (10**400, 1.7976931348623157e308),
        (-(10**400), -1.7976931348623157e308),
    ],
)
def test_a_number_is_a_double_or_the_nearest_one(value: Any, number: float | None) -> None:
    assert number_of(value) == number


def test_values_of_any_type_are_in_the_order_of_jq() -> None:
    records = [{"k": value} for value in (None, False, True, 0, "z", [1], {"a": 1})]
    assert ByOrder(records[::-1], "k").met_by(records)
    assert not ByOrder(records, "k").met_by(records[::-1])
