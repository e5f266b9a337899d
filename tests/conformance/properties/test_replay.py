"""A seed replays a run: the same examples are tried, and a failure is made as small as before."""

from __future__ import annotations

from pathlib import Path

from lro_conformance import profile as profiles
from lro_conformance.engine.capture import PropertyChecks
from lro_conformance.engine.run import certify
from lro_conformance.judging.check import checks
from lro_conformance.judging.derived import Evidence, captured
from lro_conformance.judging.outcome import NotObserved
from lro_spec.editions import DEFAULT_EDITION
from tests.servers.variants import profile_text


def _failure(folder: Path, seed: int) -> list[str]:
    """What the property check says of a server that trims contents: expected, observed, and the memory it tried."""
    path = folder / "lro.yaml"
    path.write_text(profile_text("trims_contents"), encoding="utf-8")
    report = certify(profiles.load(path), seed=seed, only={"properties.any_memory_survives"})
    (check,) = (c for r in report.requirements for c in r.checks)
    return [check.expected, check.observed, check.evidence.splitlines()[0]]


def test_a_seed_replays_the_shrunk_failure_to_the_letter(tmp_path: Path) -> None:
    first, again = _failure(tmp_path, 11), _failure(tmp_path, 11)
    assert first == again
    assert first[2].startswith("memory: ")
    assert '"content":"Content ' in first[2].replace('": "', '":"')


def test_another_seed_tries_other_memories(tmp_path: Path) -> None:
    assert _failure(tmp_path, 11)[2] != _failure(tmp_path, 12)[2]


def test_property_checks_keep_their_order_and_let_other_trials_begin_between_them() -> None:
    live = [c for c in checks() if c.is_live]
    refused = NotObserved("not tried")
    evidence = Evidence(
        DEFAULT_EDITION, {name: refused for c in live for name in captured(c.needs) if name != "cleanup"}
    )
    properties = PropertyChecks(live, evidence)

    properties.advance(None, lambda: True)
    assert list(properties.results) == [live[0].name]

    properties.advance(None)
    first = next(n for n, one in enumerate(live) if "cleanup" in one.needs)
    assert list(properties.results) == [c.name for c in live[:first]]
    assert first > 1
    assert "properties.titles_of_any_memories" not in properties.results
