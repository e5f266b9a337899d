"""Servers whose processes keep their data in one place: what the suite stores in one is found by the others."""

from __future__ import annotations

import json
from pathlib import Path

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.exit_code import EXIT_NO_VERDICT, exit_code
from tests.servers.sound.catalogue import sounds
from tests.servers.variants import profile_text

SERVER = "speaks_both_protocols_and_keeps_memories_on_disk"
PERSISTENT = "numbers_its_memories_and_shows_titles_only"


def test_shared_data_are_no_fault_and_no_level(tmp_path: Path) -> None:
    """Neither in the run that stores the suite's memories, nor in the next one, which finds them from the beginning."""
    stored = tmp_path / "memories.jsonl"
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text(SERVER, f"server:\n  command: [{{command}}]\n  env: {{MEMORIES: {stored}}}\n"))
    for run in ("the first", "the next"):
        report = certify(profiles.load(path), seed=1, examples=0)
        assert exit_code(report) == EXIT_NO_VERDICT, run
        assert (report.failure or "").startswith(
            "server processes share their data: recall_memories of one process finds"
        )
        assert "{workdir}" in (report.failure or "")
        assert [r.requirement.id for r in report.requirements if r.verdict is Verdict.FAIL] == [], run
        assert "proved" not in report.levels.values(), run
    assert report.starts == 1


def test_a_user_with_few_memories_gets_one_more_at_most(tmp_path: Path) -> None:
    """A command after ``--`` has no ``{workdir}``, though the profile stores memories."""
    stored = tmp_path / "memories.jsonl"
    stored.write_text("".join(json.dumps(_bookmark(number)) + "\n" for number in range(2)))
    path = tmp_path / "lro.yaml"
    own_folder = sounds()[PERSISTENT].profile
    assert "{workdir}/memories.jsonl" in own_folder
    path.write_text(profile_text(PERSISTENT, own_folder.replace("{workdir}/memories.jsonl", str(stored))))
    report = certify(profiles.load(path), seed=1, examples=0)
    assert exit_code(report) == EXIT_NO_VERDICT
    assert (report.failure or "").endswith('" from where the server keeps its data now')
    assert len(stored.read_text().splitlines()) == 3


def test_shared_data_of_a_user_that_are_enough_are_noticed_by_the_first_memory(tmp_path: Path) -> None:
    """The suite stores nothing at the start where a server holds enough, so what is shared shows only later."""
    stored = tmp_path / "memories.jsonl"
    stored.write_text("".join(json.dumps(_bookmark(number)) + "\n" for number in range(300)))
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text(SERVER, f"server:\n  command: [{{command}}]\n  env: {{MEMORIES: {stored}}}\n"))
    report = certify(profiles.load(path), seed=1, examples=0)
    assert exit_code(report) == EXIT_NO_VERDICT
    assert (report.failure or "").startswith("server processes share their data: ")
    assert 301 <= len(stored.read_text().splitlines()) <= 303  # another trial may have stored one meanwhile


def _bookmark(number: int) -> dict[str, object]:
    return {
        "id": f"note-{number + 1:04}",
        "memory_type": "semantic",
        "namespace": "bookmarks",
        "title": f"Bookmark of page {number}",
        "content": f"What page {number} says about a harbour, told at some length. " * 4,
        "created": "2026-01-01T08:00:00Z",
        "modified": "2026-01-02T08:00:00Z",
        "status": "active",
        "tags": ["web"],
        "provenance": {"confidence": 0.5, "source_type": "observation"},
    }
