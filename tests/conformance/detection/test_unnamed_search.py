"""A search by another name, which no profile mentions, leaves open whether search is subject to LRO."""

from __future__ import annotations

from pathlib import Path

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from tests.servers.sound.settings import NO_SEARCH, QueriesWithoutOffloading
from tests.servers.variants import profile_text


def test_search_is_not_observed_where_a_query_is_never_offloaded(tmp_path: Path) -> None:
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text(QueriesWithoutOffloading.__name__, NO_SEARCH), encoding="utf-8")
    report = certify(profiles.load(path), seed=1, jobs=1, only={"LRO-SCOPE-02"}, examples=0)
    [scope] = [r for r in report.requirements if r.requirement.id == "LRO-SCOPE-02"]
    assert scope.verdict.label == "not-observed"
    assert "query_memories" in scope.checks[0].observed
    assert "operations.search" in scope.checks[0].observed
