"""Detail levels that a server answers at."""

from __future__ import annotations

from typing import Any

import pytest

from lro_conformance.analysis.detail import DetailLevels
from lro_conformance.analysis.estimate import Estimates
from tests.support.made_survey import FULL, LIGHT, MEDIUM, B, one, survey


@pytest.mark.parametrize(
    ("whole", "levels", "deaf", "follows"),
    [
        ({}, [None, None, "full", None, None], None, None),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("recall", "full"): one(900, 200, FULL, header={"detail": "full"}),
            },
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("recall", "full"): one(400, 100, LIGHT, header={"detail": "light"}),
            },
            ["light", None, "full", None, None],
            "light",
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("recall", "full"): one(400, 100, LIGHT, header={"detail": "full"}),
            },
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={}),
                ("recall", "full"): one(400, 100, LIGHT, header={"detail": None}),
            },
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("recall", "full"): one(400, 200, LIGHT, header={"detail": "full"}),
                ("search", "full"): one(400, 100, FULL),
            },
            ["light", None, "full", None, None],
            "the same",
            (100, 200),
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("recall", "full"): one(400, 151, LIGHT, header={"detail": "full"}),
                ("search", "full"): one(400, 100, LIGHT),
                ("inject", "medium"): one(400, 100, MEDIUM),
            },
            ["light", None, "full", "medium", None],
            None,
            (100, 151),
        ),
        (
            {
                ("recall", "light"): one(400, 100, FULL, header={"detail": "light"}),
                ("recall", "full"): one(440, 100, FULL, header={"detail": "full"}),
                ("search", "full"): one(400, 100, FULL),
            },
            [None, "light", "full", None, None],
            None,
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT),
                ("recall", "full"): one(441, 100, FULL),
                ("recall", None): one(400, 100, LIGHT),
            },
            ["light", None, "full", None, None],
            None,
            (100, 100),
        ),
        (
            {("recall", "light"): one(400, 100, LIGHT), ("recall", "full"): one(412, 160, FULL)},
            ["light", None, "full", None, None],
            None,
            None,
        ),
        ({("recall", "light"): one(400, 100, LIGHT, file_records=[])}, [None, None, "full", None, None], None, None),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT),
                ("recall", "full"): one(411, 160, FULL),
                ("inject", "medium"): one(4, 1, {**MEDIUM, "content": "c"}),
            },
            ["light", None, "full", None, None],
            None,
            (100, 160),
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": ""}),
                ("recall", "full"): one(400, 100, LIGHT, header={"detail": ""}),
            },
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {
                ("recall", "light"): one(0, 100, LIGHT),
                ("recall", "full"): one(400, None, FULL),
                ("recall", "medium"): one(400, 100, B),
            },
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("inject", "full"): one(400, 100, LIGHT, header={"detail": "light"}),
            },
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {("recall", d): one(400, 100, LIGHT, header={"detail": "light"}) for d in ("light", "medium", "full")},
            ["light", None, "full", None, None],
            "light",
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("recall", "full"): one(400, 100, FULL, header={"detail": "light"}),
            },
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("recall", "full"): one(400, 100, LIGHT, header={"detail": "full"}),
                ("inject", "full"): one(400, 100, FULL),
            },
            ["light", None, "full", None, None],
            "the same",
            None,
        ),
        ({("recall", "light"): one(400, 100, {**LIGHT, "content": ""})}, [None, None, "full", None, None], None, None),
        (
            {("recall", "light"): one(400, 100, LIGHT), ("recall", "full"): one(900, 100, B)},
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {("recall", "light"): one(400, 100, LIGHT), ("recall", "full"): one(404, 150, LIGHT)},
            ["light", None, "full", None, None],
            None,
            None,
        ),
    ],
)
def test_a_level_is_told_by_fields_where_headers_do_not_tell_it(
    whole: dict[Any, Any], levels: list[str | None], deaf: str | None, follows: tuple[int, int] | None
) -> None:
    known = survey(*whole.values(), whole=whole, details=("light", "full"))
    levels_of = DetailLevels(known)
    calls = [
        one(400, 100, LIGHT), one(400, 100, FULL), one(400, 100, FULL, detail="full"),
        one(400, 100, MEDIUM, operation="inject"), one(file_records=[]),
    ]  # fmt: skip
    assert [levels_of.level_of(c) for c in calls] == levels
    against = Estimates(known, levels_of).call_ignoring_detail("recall")
    estimates = None if against is None else tuple(call.estimate for call in against)
    assert (levels_of.level_returned_always("recall"), estimates) == (deaf, follows)


WHOLE = {"detail": "full"}
WITHOUT_CONTENT = {name: value for name, value in FULL.items() if name != "content"}


@pytest.mark.parametrize(
    ("other", "call", "may_be_empty"),
    [
        (FULL, one(90, 9, WITHOUT_CONTENT, header=WHOLE), True),
        (FULL, one(90, 9, FULL, header=WHOLE), False),
        (FULL, one(90, 9, WITHOUT_CONTENT, header={"detail": "light"}), False),
        (FULL, one(90, 9, WITHOUT_CONTENT, header=WHOLE, operation="search"), False),
        (FULL, one(90, 9, {"id": "a", "title": "t", "namespace": "n"}, header=WHOLE), False),
        (WITHOUT_CONTENT, one(90, 9, WITHOUT_CONTENT, header=WHOLE), False),
    ],
)
def test_texts_may_be_empty_and_left_out_if_the_operation_writes_them_elsewhere(
    other: dict[str, Any], call: Any, may_be_empty: bool
) -> None:
    levels = DetailLevels(survey(one(900, 90, other, header=WHOLE), call))
    assert (levels.reason_for_missing_texts(call) is not None) is may_be_empty
