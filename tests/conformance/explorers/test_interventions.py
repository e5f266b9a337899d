"""Broken folders, old files and restarts in sequences: what they show is replayed by the script of the report."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lro_conformance import profile as profiles
from lro_conformance.capture.intervention import BREAKING, READ_ONLY, REMOVED
from lro_conformance.capture.records import Record
from lro_conformance.engine.capture import DEFAULT_SEQUENCES, Capture
from lro_conformance.engine.run import certify
from lro_conformance.explorers.budgeted_search import OutOfBudget
from lro_conformance.explorers.explorer import Explorer
from lro_conformance.judging.results import CheckResult
from lro_conformance.lab.broken_folder import BrokenFolder
from lro_conformance.lab.lab import Lab
from lro_conformance.trials import Trial
from tests.servers.sound.catalogue import sounds
from tests.servers.variants import profile_text
from tests.support.made import Made


def _failure(folder: Path, server: str, check: str) -> CheckResult:
    path = folder / "lro.yaml"
    path.write_text(profile_text(server), encoding="utf-8")
    report = certify(profiles.load(path), seed=1, only={check}, examples=DEFAULT_SEQUENCES)
    return next(c for r in report.requirements for c in r.checks if c.name == check and c.verdict.label == "fail")


def _output(check: CheckResult) -> str:
    return subprocess.run(["bash", "-c", check.reproduce], capture_output=True, text=True, timeout=120).stdout


@pytest.mark.parametrize("kind", BREAKING)
def test_a_folder_is_broken_until_it_is_mended(tmp_path: Path, kind: str) -> None:
    if kind == READ_ONLY and os.geteuid() == 0:
        pytest.skip("root ignores permissions")
    folder = tmp_path / "results" / "out"
    (folder / "below").mkdir(parents=True)
    (folder / "file").write_text("text")
    with BrokenFolder(folder, kind), pytest.raises(OSError, match="out"):
        (folder / "another").write_text("text")
    assert sorted(path.name for path in folder.iterdir()) == ["below", "file"]
    assert [path.name for path in folder.parent.iterdir()] == ["out"]
    assert [path.name for path in tmp_path.iterdir()] == ["results"]


@pytest.mark.parametrize("kind", BREAKING)
def test_the_command_of_a_script_breaks_the_folder_in_the_same_way(tmp_path: Path, kind: str) -> None:
    folder, other = tmp_path / "suite" / "out", tmp_path / "script" / "out"
    for made in (folder, other):
        made.mkdir(parents=True)
    subprocess.run(BREAKING[kind].format(folder=other, parent=other.parent), shell=True, check=True)
    with BrokenFolder(folder, kind):
        assert _state(folder) == _state(other)
        assert _state(folder.parent) == _state(other.parent)


def _state(path: Path) -> tuple[int, bytes | None] | None:
    """The type, the permissions and the text of an entry; None if there is none."""
    if not path.parent.is_dir() or not path.exists():
        return None
    return path.stat().st_mode, path.read_bytes() if path.is_file() else None


def test_files_of_a_folder_that_the_server_has_made_stay(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "file").write_text("text")
    broken = BrokenFolder(folder, REMOVED)
    folder.mkdir()
    (folder / "another").write_text("text")
    broken.mend()
    assert sorted(path.name for path in folder.iterdir()) == ["another", "file"]


def test_the_script_breaks_the_folder(tmp_path: Path) -> None:
    check = _failure(tmp_path, "fallback_without_a_memory_is_an_error", "fallback.operation_succeeds")
    assert "in the way" in check.reproduce or "rm -rf" in check.reproduce
    assert '"isError":true' in _output(check).replace(": ", ":")


def test_a_restarted_server_holds_what_an_earlier_attempt_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trial during which the clock was set is tried again with the same servers, whose scores depend on all that
    they hold."""
    attempt = Capture._attempt

    def twice(capture: Capture, lab: Lab, trial: Trial) -> object:
        if trial.name == "explored":
            attempt(capture, lab, trial)
        return attempt(capture, lab, trial)

    monkeypatch.setattr(Capture, "_attempt", twice)
    server = "scores_tell_how_rare_a_word_is"
    path = tmp_path / "lro.yaml"
    operations = "operations: {search: {tool: search_memories, arguments: {query: memory}, query: query, limit: limit}}"
    path.write_text(profile_text(server, f"{sounds()[server].profile}{operations}"), encoding="utf-8")
    report = certify(profiles.load(path), seed=1, only={"LRO-FILE-10"}, examples=1)
    (values,) = (r for r in report.requirements if r.requirement.id == "LRO-FILE-10")
    assert values.verdict.label == "pass", [c.observed for c in values.checks]


class Restarted:
    """A server that has lost its memories and repeats the query in each answer."""

    def __init__(self, memories: Sequence[Record]) -> None:
        self.memories = list(memories)

    def restart(self) -> None:
        self.memories = []

    def try_to_store(self, memory: Record) -> bool:
        self.memories.append(memory)
        return True

    def forget_experiment(self) -> None:
        pass

    def call(self, name: str, query: str, limit: int, detail: str | None) -> Any:
        return Made(file_records=[], records=[], text=f"0 memories for {query}")


@pytest.mark.parametrize("titles", [("word and more", "word", ""), ("word",)])
def test_a_query_that_an_answer_repeats_is_no_memory_that_a_restarted_server_holds(titles: Sequence[str]) -> None:
    """Titles may be blank, or the word alone by which the memory is found."""
    memories = [{"id": str(n), "title": title, "content": ""} for n, title in enumerate(titles)]
    server: Any = Restarted(memories)
    explorer: Any = Explorer.__new__(Explorer)
    explorer._benches, explorer._memories, explorer._stored_before = [None, server], memories, 1
    explorer.details, explorer._stores_titles = {"recall": ()}, True
    explorer._start_again(server)
    assert server.memories == memories


class Persistent(Restarted):
    """A server that keeps its memories, of which it shows the first texts in which a word is, under other names."""

    def restart(self) -> None:
        self.kept, self.memories = self.memories, []

    def call(self, name: str, query: str, limit: int, detail: str | None) -> Any:
        found = [m[self.field] for m in self.kept if query in m[self.field]]
        return Made(file_records=[{"heading": text} for text in found[:limit]], records=None, text="")


@pytest.mark.parametrize("field", ["title", "content"])
def test_a_server_that_shows_some_of_its_memories_has_kept_them_all(field: str) -> None:
    """Where the tool that stores memories takes no title, the word is in the content, of which the server may show but
    the beginning."""
    memories = [{"id": str(n), "title": "", "content": "", field: f"word {n}\nmore"} for n in range(9)]
    server: Any = Persistent(memories)
    server.field = field
    explorer: Any = Explorer.__new__(Explorer)
    explorer._benches, explorer._memories, explorer._stored_before = [None, server], memories, 0
    explorer.details, explorer._stores_titles = {"recall": ()}, field == "title"
    explorer._start_again(server)
    assert server.memories == memories, "nothing is stored again"


def test_a_sequence_that_begins_forgets_nothing_of_servers_of_other_trials() -> None:
    """Other trials store memories at the same time."""
    forgot: list[str] = []
    own: Any = Made(forget_experiment=lambda: forgot.append("own"))
    other: Any = Made(forget_experiment=lambda: forgot.append("other"))
    explorer: Any = Explorer.__new__(Explorer)
    explorer._lab = Made(kept={"cleanup": other}, _kept=[own, other])
    explorer._benches, explorer._memories = [own], []
    explorer._is_stuck = explorer._starts_afresh = False
    explorer._forget()
    assert forgot == ["own"]


def test_a_violation_is_tried_again_by_its_whole_sequence_if_no_time_is_left_to_reduce_it() -> None:
    def take(steps: Sequence[Any]) -> None:
        explorer._steps = [("begun", ())]
        raise OutOfBudget

    explorer: Any = Explorer.__new__(Explorer)
    explorer._take, explorer._forget = take, lambda: None
    whole = [("break", (1,)), ("call", (2,))]
    for reduce in (lambda: explorer._reduce_to_part([("break", 1), ("call", 2)]), lambda: explorer._reduce()):
        repeated: list[Any] = []
        explorer.step = lambda name, *given, into=repeated: into.append((name, given))
        explorer._steps, explorer._violating_steps = list(whole), tuple(whole)
        with pytest.raises(OutOfBudget):
            reduce()
        explorer._again()
        assert repeated == whole


@pytest.mark.long
def test_the_script_starts_a_second_process(tmp_path: Path) -> None:
    check = _failure(tmp_path, "hands_out_files_of_an_earlier_process", "naming.no_file_is_reused")
    assert check.reproduce.count("run.py") == 2
    assert _output(check).count('"serverInfo"') == 2


@pytest.mark.long
def test_the_script_cleans_up_after_a_failure(tmp_path: Path) -> None:
    check = _failure(tmp_path, "cleans_up_everything_after_a_failure", "cleanup.fresh_files_stay_at_any_step")
    assert "plant " in check.reproduce
    assert "offload_cleanup" in check.reproduce


def test_a_restarted_server_that_holds_a_memory_of_one_word_is_given_nothing_again() -> None:
    """As one that keeps its memories in a file."""
    memories = [{"id": "1", "title": "word", "content": ""}]
    server: Any = Restarted(memories)
    server.restart = lambda: None
    server.call = lambda name, **more: Made(file_records=memories, records=None, text="")
    explorer: Any = Explorer.__new__(Explorer)
    explorer._benches, explorer._memories, explorer._stored_before = [None, server], memories, 1
    explorer.details, explorer._stores_titles = {"recall": ()}, True
    explorer._start_again(server)
    assert server.memories == memories
