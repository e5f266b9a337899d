"""A seed replays a run: the same examples are tried, and a failure is made as small as before."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from lro_conformance import profile as profiles
from lro_conformance.engine.session import LIVE, Session, certify
from lro_conformance.judging.outcome import NotObserved
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


def test_property_checks_keep_their_order_and_let_other_trials_begin_between_them(tmp_path: Path) -> None:
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text("plain"), encoding="utf-8")
    session = Session(profiles.load(path), seed=1)
    refused = NotObserved("not tried")
    session.evidence = {name: refused for one in session.checks for name in one.needs if name != "cleanup"}
    properties = [one.name for one in session.checks if LIVE in one.needs]
    finished: Future[None] = Future()
    finished.set_result(None)

    session._judge(beside=[finished])  # pyright: ignore[reportPrivateUsage]
    assert [name for name in session.results if name in properties] == properties[:1]

    session._judge()  # pyright: ignore[reportPrivateUsage]
    first = next(n for n, one in enumerate(session.checks) if LIVE in one.needs and "cleanup" in one.needs)
    before = [one.name for one in session.checks[:first] if LIVE in one.needs]
    assert [name for name in session.results if name in properties] == before
    assert before
    assert "properties.titles_of_any_memories" not in before
