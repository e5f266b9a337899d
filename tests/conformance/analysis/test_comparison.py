"""Files against the same calls inline."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any, cast

import pytest

from lro_conformance.analysis.comparison import Comparison
from tests.support.made_survey import FULL, LIGHT, MEDIUM, one, survey


@pytest.mark.parametrize(
    ("filed", "shown", "level"),
    [
        (LIGHT, LIGHT, None),
        (LIGHT, MEDIUM, "light"),
        (LIGHT, FULL, "light"),
        (MEDIUM, LIGHT, None),
        (MEDIUM, MEDIUM, None),
        (MEDIUM, FULL, None),
        (FULL, LIGHT, "full"),
        (FULL, MEDIUM, "full"),
        (FULL, FULL, None),
    ],
)
def test_a_file_is_taken_for_the_level_whose_fields_it_has(filed: Any, shown: Any, level: str | None) -> None:
    whole = {
        ("recall", "light"): one(records=[LIGHT]), ("recall", "full"): one(records=[FULL]),
        ("inject", "medium"): one(records=[MEDIUM]), ("search", "medium"): one(records=[MEDIUM]),
    }  # fmt: skip
    comparison = Comparison(survey(), cast("Any", Made(whole=whole)))
    assert comparison.other_level(one(400, 100, filed), one(records=[shown])) == level
