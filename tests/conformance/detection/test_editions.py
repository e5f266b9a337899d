"""Other editions judge by their own sets: their sound servers are in peace, and each fault is blamed for one thing.

Every server takes seconds: two of them are tried each time, without property checks, and the rest with ``--long``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lro_conformance.engine.run import certify
from lro_conformance.profile import load
from lro_spec.catalogue import catalogue, requirement
from tests.servers.editions.catalogue import variants
from tests.servers.run import find
from tests.servers.variants import profile_text
from tests.support.certifying import Job, Outcome

SAMPLED = ("says_no_more_than_the_paper", "sorts_light_by_what_only_full_has")
"""The sound server that differs most from the plain one, and a fault, which is tried by its own requirement alone."""


def param(name: str) -> object:
    return pytest.param(Job(name), id=name, marks=() if name == SAMPLED[0] else pytest.mark.long)


@pytest.mark.parametrize("job", [param(name) for name in variants()])
def test_a_server_is_judged_by_its_own_edition(job: Job, certified: Callable[[Job], Outcome]) -> None:
    judge(variants()[job.server].name, certified(job))


@pytest.mark.parametrize("job", [pytest.param(Job(SAMPLED[1], only=variants()[SAMPLED[1]].requirement), id=SAMPLED[1])])
def test_a_fault_is_blamed_by_the_edition_that_knows_it(job: Job, certified: Callable[[Job], Outcome]) -> None:
    variant = variants()[job.server]
    outcome = certified(job)
    assert outcome.verdicts[str(variant.requirement)] == "fail"
    assert variant.says in "\n".join(outcome.messages[str(variant.requirement)])


@pytest.mark.long
@pytest.mark.parametrize("job", [pytest.param(Job(name, explored=True), id=name) for name in variants()])
def test_so_it_is_by_property_checks(job: Job, certified: Callable[[Job], Outcome]) -> None:
    judge(variants()[job.server].name, certified(job))


def judge(name: str, outcome: Outcome) -> None:
    variant = variants()[name]
    assert outcome.failure is None
    wrong = variant.requirement
    spared = {*variant.also, *variant.warns, *((wrong,) if wrong is not None else ())}
    assert {id: said for id, said in outcome.blamed.items() if id not in spared} == {}
    assert [id for id in variant.warns if outcome.verdicts[id] in ("fail", "error")] == []
    assert outcome.achieved == variant.proves
    if wrong is not None:
        verdict = "fail" if requirement(wrong, variant.edition).keyword == "MUST" else "warn"
        assert outcome.verdicts[wrong] == verdict
        assert variant.says.lower() in "\n".join(outcome.messages[wrong]).lower()


def test_servers_name_requirements_of_their_edition() -> None:
    for name, variant in variants().items():
        known = {r.id for r in catalogue(variant.edition) if r.excluded is None}
        assert {*variant.also, *variant.warns, *filter(None, [variant.requirement])} <= known, name
        assert variant.about.endswith((".", "…")), name
        assert find(name) == variant.server.__module__


@pytest.mark.parametrize("edition", ["lro-1600", "lro-paper"])
def test_what_only_an_edition_requires_has_a_fault_of_its_own(edition: str) -> None:
    usual = {r.id for r in catalogue()}
    own = {r.id for r in catalogue(edition) if r.id not in usual and r.excluded is None}
    blamed = Counter(v.requirement for v in variants().values())
    assert {id for id in own if not blamed[id]} == set()


def test_what_a_server_offers_beside_is_noted(tmp_path: Path) -> None:
    """Another transport is not made use of, nor are tasks that the handshake does not declare, so a reader is told."""
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text("offers_tasks_and_http"), encoding="utf-8")
    report = certify(load(path), only={"LRO-IMPL-03"}, examples=0)
    assert "MCP tasks" not in "\n".join(report.notes)
    assert "the server mentions streamable-http" in "\n".join(report.notes)


@pytest.mark.parametrize(
    ("name", "protocol", "noted"),
    [("speaks_both_protocols", "2025-11-25", True), ("speaks_the_modern_protocol_alone", "2026-07-28", False)],
)
def test_the_protocol_is_found_and_told(tmp_path: Path, name: str, protocol: str, noted: bool) -> None:
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text(name), encoding="utf-8")
    report = certify(load(path), only={"LRO-PROT-03"}, examples=0)
    assert report.server.protocol == protocol
    assert ("server/discover" in "\n".join(report.notes)) == noted
    assert {r.requirement.id: r.verdict.label for r in report.requirements}["LRO-PROT-03"] == "pass"
