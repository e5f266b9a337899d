"""Outputs of recipes: which are a selection, a ranking, a projection, a table, counts of some records."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from lro_spec import agreement, evaluation
from lro_spec.outcomes import ByOrder, Counts, Distinct, Expected, Projection, Ranking, Selection, Table, number_of
from tests.words import Cases, Said
from tests.words.judging import inner

A, B, C = {"id": "a", "n": 3}, {"id": "b", "n": 1}, {"id": "c"}
D = {"id": "d", "n": 1.0}
LESS = {"id": "e", "n": -1}
ONE, SAME, TWO = {"n": 1}, {"n": 1.0}, {"n": 2}
"""Two of them are spelled otherwise, and equal."""
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


def key(record: Any) -> float | None:
    """What they are ranked by."""
    return number_of(record.get("n"))


EXPECTED: dict[str, Expected] = {
    "all": Selection([A, B], [True, True]),
    "the first": Selection([A, B], [True, False]),
    "the second": Selection([A, B], [False, True]),
    "the first, perhaps": Selection([A, B], [None, True]),
    "none": Selection([A, B], [False, False]),
    "perhaps any": Selection([A, B, C], [None, None, None]),
    "ranked": Ranking([C, B, A], key),
    "the first two": Ranking([C, B, A], key, 2),
    "the first of one": Ranking([A], key, 2),
    "ties": Ranking([D, B, A], key),
    "ties with none": Ranking([D, B, A, C], key, 4),
    "twice the same": Ranking([A, A], key),
    "ordered": ByOrder([A, B, C], "id"),
    "ordered by numbers": ByOrder([B, A], "n"),
    "ordered with nothing": ByOrder([A, C, B], "n"),
    "cut": Projection([A, B], ("id",)),
    "cut to all": Projection([{"id": "a"}, {"id": "b"}], ("id",)),
    "cut with more": Projection([{"id": "a", "n": 3, "m": 1}], ("id", "n")),
    "rows": Table([("a", 3), ("b", 1)]),
    "a row": Table([("a", 3)]),
    "rows with nothing": Table([("a", 3), ("b", 1), ("c", None)]),
    "rows of texts": Table([("x\ty", None), (True, False)]),
    "no rows": Table([]),
    "counts": Counts("k", {'"x"': ("x", 2), '"y"': ("y", 1)}, descending=False),
    "counts, most first": Counts("k", {'"x"': ("x", 2), '"y"': ("y", 1)}, descending=True),
    "counts of one": Counts("k", {'"x"': ("x", 2)}, descending=True),
    "counts of nothing": Counts("k", {}, descending=True),
    "distinct": Distinct(["x", "y"]),
    "distinct with nothing": Distinct(["x", None]),
    "long": Selection([{"id": "x" * 999}, A, B], [True] * 3),
    "longer": Selection([{"id": "x" * 1001}, A, B], [True] * 3),
    "ranked below nothing": Ranking([A, LESS, C], key),
    "the first two of those alike": Ranking([C, ONE, TWO], key, 2),
    "ordered, two alike": ByOrder([ONE, ONE], "n"),
    "ordered, one alike": ByOrder([ONE, TWO], "n"),
    "ordered, two alike of three": ByOrder([ONE, ONE, TWO], "n"),
    "ordered, two spelled otherwise": ByOrder([ONE, SAME, TWO], "n"),
    "ordered, three that are equal": ByOrder([ONE, ONE, SAME], "n"),
    "ordered by what is no text": ByOrder([{"k": [1]}, {"k": "z"}], "k"),
    "cut to a field that is not there": Projection([{"id": "a"}], ("id", "n")),
    "cut to nothing": Projection([{"m": 1}], ("id",)),
    "a row with a backslash": Table([("x\\y",)]),
    "counts without the field": Counts("k", {"null": (None, 2)}, descending=False),
    "two empty names": Selection([{"id": ""}, {"id": ""}], [True] * 2),
    "without names": Selection([{"n": 1}, {"id": ""}], [True] * 2),
    "an empty name": Selection([{"id": ""}], [True]),
}


def of(expected: Expected) -> Said:
    """What it is in words, and which of the outputs are it."""
    return lambda: [expected.text(), *(json.dumps(v) for v in VALUES if expected.met_by(v))]


def taken(ask: Callable[[], object]) -> bool:
    """Whether something is taken for a right input."""
    try:
        ask()
    except ValueError:
        return False
    return True


HALF = {"id": "h", "n": -0.5}


def met(expected: Expected, *several: list[Any]) -> Said:
    """Which of these are it."""
    return lambda: [json.dumps(v) for v in several if expected.met_by(v)]


LITERALS = [
    "", "a", "^a", "a$", "^a$", ".*a", "a.*", "(?i)a", "(?i)^a.*", "a^b", "^^", ".*", "(?i)", "a$b", "^" + "a" * 199,
    "^" + "a" * 200,
]  # fmt: skip
"""What recipes look for, as patterns and as plain texts."""

CASES: Cases = {
    "in place of a literal": lambda: [repr(inner(agreement, "_in_place_of")(text, "_x.y")) for text in LITERALS],
    "plain texts": lambda: [
        text for text in LITERALS if taken(lambda t=text: inner(evaluation, "_search")("k")([A], t))
    ],
    **{name: of(expected) for name, expected in EXPECTED.items()},
    "half below nothing": met(Ranking([C, HALF, A], key), [A, C, HALF], [A, HALF, C], [C, A, HALF], [HALF, A, C]),
    "true or false": met(Table([(True, False)]), *([f"{t}\tfalse"] for t in ("true", "trud", "truf"))),
}
