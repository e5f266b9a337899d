"""A limit that only an error tells of: learned where it is proved, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from lro_conformance.lab.bench import Bench
from lro_conformance.lab.operations import Operation
from lro_conformance.lab.thresholds import AcceptedThresholds


@dataclass
class Answering:
    """Answers calls for up to so many records, and refuses the others with *said*."""

    said: str
    most: int
    threshold: int | None = 1
    asked: list[int] = field(default_factory=list[int])

    def __post_init__(self) -> None:
        self.settings = {"threshold_tokens": self.threshold}
        self.accepted = AcceptedThresholds()
        self.operations = {"recall": Operation("recall", "find", {}, "query", "limit", None, None, (), None)}

    def call(self, limit: int) -> Any:
        outcome = "error" if limit > self.most else "offloaded"
        reply = SimpleNamespace(error=None)
        return SimpleNamespace(
            operation="recall", detail=None, query="*", limit=limit, outcome=outcome, text=self.said, reply=reply
        )

    def calls(self, wanted: list[dict[str, Any]]) -> list[Any]:
        self.asked += [one["limit"] for one in wanted]
        return [self.call(one["limit"]) for one in wanted]


def test_it_is_learned_by_asking_for_as_many_and_for_one_more() -> None:
    bench: Any = Answering("limit 200: expected 1 to 50", most=50)
    found = Bench.retry_with_server_limit(bench, bench.call(200))
    assert (found is not None and found.limit, bench.asked) == (50, [50, 51])
    assert bench.operations["recall"].limit_maximum == 50


@pytest.mark.parametrize(
    ("said", "most", "threshold"),
    [
        ("limit: 50 of 200 memories are returned", 50, 2000),
        ("limit: 50 of 200 memories are returned", 50, None),
        ("limit: expected 1 to 50", 60, 1),
        ("limit: expected 1 to 50", 0, 1),
        ("too many: expected 1 to 50", 50, 1),
        ("limit: too many", 50, 1),
    ],
    ids=["a write that fails", "no threshold set", "more are given", "none are given", "another argument", "no figure"],
)
def test_nothing_is_learned_of_anything_else(said: str, most: int, threshold: int | None) -> None:
    bench: Any = Answering(said, most, threshold)
    assert Bench.retry_with_server_limit(bench, bench.call(200)) is None
    assert bench.operations["recall"].limit_maximum is None
