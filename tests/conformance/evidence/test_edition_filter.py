"""Evidence as another edition sees it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lro_conformance.evidence.edition_filter import foreign_operations, restricted
from lro_conformance.evidence.reader import read
from lro_conformance.trials.edges import Edges
from lro_conformance.trials.survey import Inline, Survey
from lro_spec.editions import edition
from tests.support.archives import unpack
from tests.support.paths import DATA

RECORDED = DATA / "evidence" / "0.1.0-before_its_release.tar.xz"


def test_trials_lose_operations_that_an_edition_does_not_have(tmp_path: Path):
    unpack(RECORDED, tmp_path)
    found = read(next(tmp_path.rglob("evidence.json")).parent).trials
    recall_only = replace(edition("lro-6400"), operations=("recall",))
    assert foreign_operations(found["survey"], recall_only)
    seen = restricted(found, recall_only)
    survey, inline, edges = seen["survey"], seen["inline"], seen["edges"]
    assert isinstance(survey, Survey)
    assert isinstance(inline, Inline)
    assert isinstance(edges, Edges)
    assert {*survey.operations, *(name for name, _ in survey.whole), *survey.repeats} == {"recall"}
    assert {c.operation for c in survey.calls} == {"recall"}
    assert {c.operation for c in inline.calls} == {"recall"}
    assert set(edges.edges) == {"recall"}
    assert {p.call.operation for p in edges.far} <= {"recall"}
