"""The E of a result that stayed inline under the default threshold."""

from __future__ import annotations

from typing import Any

import pytest

from lro_conformance.trials.defaults import _estimate_of
from tests.support.made import Made
from tests.support.made_evidence import call

A, B, C = ({"id": name, "title": f"Title {name}"} for name in "abc")


def without_titles(*records: dict[str, str]) -> list[dict[str, str]]:
    return [{"id": record["id"]} for record in records]


@pytest.mark.parametrize(
    ("inline", "filed", "estimate"),
    [
        ([A, B], [A, B], 6754),
        ([A, B], [B, A], 6754),
        ([A, B], [B, C], None),
        ([A], [B], None),
        (without_titles(A, B), without_titles(B, C), None),
        (without_titles(A), without_titles(B), 6754),  # each process may give ids of its own
        ("# Context\n" + A["title"], [A, B], None),  # a text without records
        (f"{B['title']}, {A['title']}, and what a budget left of it", [A, B], 6754),
        ("nothing of it", without_titles(A), 6754),  # which has nothing that could be shown
    ],
)
def test_it_is_known_only_from_a_file_with_the_same_records(inline: Any, filed: Any, estimate: int | None) -> None:
    records, text = (None, inline) if isinstance(inline, str) else (inline, "")
    asked = call(operation="recall", detail=None, limit=2, query="*", outcome="inline", records=records, text=text)
    same = call(operation="recall", estimate=6754, file_records=filed)
    lab: Any = Made(kept={"survey": Made(call=lambda *_, **__: same)})
    survey: Any = Made(adjustable=True)
    assert _estimate_of(lab, survey, asked) == estimate
