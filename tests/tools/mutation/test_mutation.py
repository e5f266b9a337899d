"""Mutation testing itself: what is changed, how it is put in place, what counts as killed; and a sample of it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("cosmic_ray", reason="pip install -e '.[mutation]'")

from tests.tools.mutation.judging import Judging
from tests.tools.mutation.kept import Fates
from tests.tools.mutation.mutants import ROOT, Mutant, mutants_of
from tests.tools.mutation.patching import Unpatchable, put
from tests.tools.mutation.recordings import load, record
from tests.tools.mutation.trying import (
    ERROR,
    KILLED,
    SURVIVES,
    TIME,
    UNREACHED,
    UNTRIED,
    VERDICT,
    WORDS,
    Fate,
    baseline,
    fate,
    in_a_child,
    try_all,
)

SOURCE = '''
"""A module."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cache

LIMIT = 3
OTHER = {"limit": LIMIT}


def above(size: int | None, *, least: int = 1) -> bool:
    """Whether it is above."""
    return size is not None and size > LIMIT


@cache
def kind(size: int) -> str:
    return "large" if above(size) else "small"


@dataclass(frozen=True)
class Thing:
    size: int = 2

    @property
    def large(self) -> bool:
        while not above(self.size):
            return False
        return self.size > 5


def never() -> int:
    return 1
'''


@pytest.fixture
def module(tmp_path: Path) -> Iterator[ModuleType]:
    path = tmp_path / "mutated_here.py"
    path.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("mutated_here", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["mutated_here"] = made
    spec.loader.exec_module(made)
    yield made
    del sys.modules["mutated_here"]


def pick(module: ModuleType, before: str, after: str) -> Mutant:
    found = [m for m in mutants_of(module).viable if m.before == before and m.after == after]
    assert len(found) == 1, [(m.before, m.after) for m in mutants_of(module).viable]
    return found[0]


COMPARED = "return size is not None and size > LIMIT"


class TestMutants:
    def test_are_changes_of_what_is_done(self, module: ModuleType) -> None:
        changes = {m.after for m in mutants_of(module).viable if m.before == COMPARED}
        assert "return size is not None and size >= LIMIT" in changes
        assert "return size is None and size > LIMIT" in changes
        assert "return size is not None or size > LIMIT" in changes

    def test_are_no_changes_of_types_or_of_how_arguments_are_passed(self, module: ModuleType) -> None:
        heads = [m.after for m in mutants_of(module).viable if m.after.startswith("def above")]
        assert sorted(heads) == [
            "def above(size: int | None, *, least: int = 0) -> bool:",
            "def above(size: int | None, *, least: int = 2) -> bool:",
        ]

    def test_leave_out_and_count_what_nothing_could_notice(self, module: ModuleType) -> None:
        found = mutants_of(module)
        assert found.idle == 1
        assert [m for m in found.viable if m.before.startswith("@dataclass")] == []

    def test_are_told_apart_when_they_look_alike(self, module: ModuleType) -> None:
        keys = [m.key for m in mutants_of(module).viable]
        assert len(set(keys)) == len(keys)


class TestPutting:
    def test_a_function_is_changed_wherever_it_is_known(self, module: ModuleType) -> None:
        known = module.above
        assert module.kind(3) == "small"
        put(pick(module, COMPARED, "return size is not None and size >= LIMIT"))
        assert known(3)
        assert module.kind(3) == "small", "what was remembered of earlier calls is that of another function"

    def test_a_remembering_function_forgets_when_it_is_changed(self, module: ModuleType) -> None:
        assert module.kind(9) == "large"
        before = 'return "large" if above(size) else "small"'
        put(pick(module, before, before.replace("if above", "if not above")))
        assert module.kind(9) == "small"

    def test_a_class_is_changed_for_what_was_made_before(self, module: ModuleType) -> None:
        thing = module.Thing(6)
        assert thing.large
        put(pick(module, "return self.size > 5", "return self.size > 6"))
        assert not thing.large
        put(pick(module, "size: int = 2", "size: int = 3"))
        assert module.Thing().size == 3

    def test_a_constant_is_changed_in_every_module(self, module: ModuleType) -> None:
        other = ModuleType("other")
        vars(other)["LIMIT"] = module.LIMIT
        sys.modules["other"] = other
        try:
            put(pick(module, "LIMIT = 3", "LIMIT = 4"))
        finally:
            del sys.modules["other"]
        assert (module.LIMIT, other.LIMIT) == (4, 4)
        assert not module.above(4)

    def test_members_of_an_enumeration_cannot_be_changed(self) -> None:
        module = importlib.import_module("lro_conformance.judging.verdicts")
        with pytest.raises(Unpatchable):
            put(pick(module, "PASS = 2", "PASS = 3"))


class TestAProcessOfItsOwn:
    def test_gives_what_was_made_and_leaves_nothing_behind(self) -> None:
        seen: list[int] = []
        assert in_a_child(lambda: seen.append(1) or "made", 20) == "made"
        assert seen == []

    def test_that_fails_says_why(self) -> None:
        with pytest.raises(ChildProcessError, match="ZeroDivisionError"):
            in_a_child(lambda: 1 // 0, 20)

    def test_that_ends_without_a_word_is_told(self) -> None:
        with pytest.raises(ChildProcessError, match="without a word"):
            in_a_child(lambda: os._exit(3), 20)

    def test_that_does_not_end_is_ended(self) -> None:
        with pytest.raises(TimeoutError):
            in_a_child(lambda: time.sleep(60), 0.2)


class Sizes:
    """A yardstick: what a function gives for some sizes."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def trials(self) -> list[str]:
        return ["above 3", "above 4", "large 4"]

    def measure(self, trial: str) -> object:
        name, _, size = trial.partition(" ")
        return self.module.above(int(size)) if name == "above" else self.module.Thing(int(size)).large

    def difference(self, before: object, after: object) -> str | None:
        return None if before == after else VERDICT

    def rank(self, trial: str, mutant: Mutant, before: object) -> int:
        return 0


class TestFates:
    @pytest.mark.parametrize(
        ("before", "after", "outcome", "trials"),
        [
            (COMPARED, "return size is not None and size >= LIMIT", VERDICT, None),
            (COMPARED, "return size is not None or size > LIMIT", VERDICT, None),
            (COMPARED, "return size is not None and size != LIMIT", SURVIVES, 3),
            ("return self.size > 5", "return self.size > 6", SURVIVES, 1),
            ("return 1", "return 2", UNREACHED, 0),
            ('OTHER = {"limit": LIMIT}', None, None, None),
        ],
    )
    def test_only_what_executes_the_change_is_tried(
        self, module: ModuleType, before: str, after: str | None, outcome: str | None, trials: int | None
    ) -> None:
        if after is None:
            assert [m for m in mutants_of(module).viable if m.before == before] == []
            return
        sizes = Sizes(module)
        known = baseline(sizes, module)
        found = fate(pick(module, before, after), sizes, known, 5)
        assert found.outcome == outcome
        assert trials is None or found.trials == trials

    def test_what_noticed_others_is_tried_first(self, module: ModuleType) -> None:
        sizes = Sizes(module)
        known = baseline(sizes, module)
        mutant = pick(module, COMPARED, "return size is not None and size <= LIMIT")
        assert [fate(mutant, sizes, known, 5, {trial}).by for trial in ("above 3", "above 4")] == ["above 3", "above 4"]

    def test_what_does_not_end_is_no_kill(self, module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tests.tools.mutation.trying.TRIAL_S", 0.3)
        module.above.__globals__["LIMIT"] = 3
        source = SOURCE.replace("            return False", "            self.size")
        Path(str(module.__file__)).write_text(source, encoding="utf-8")
        exec(compile(source, str(module.__file__), "exec"), vars(module))
        sizes = Sizes(module)
        known = baseline(sizes, module)
        endless = pick(module, "while not above(self.size):", "while  above(self.size):")
        assert fate(endless, sizes, known, 5).outcome == TIME
        assert TIME not in KILLED

    def test_all_are_tried_side_by_side(self, module: ModuleType) -> None:
        sizes = Sizes(module)
        known = baseline(sizes, module)
        viable = mutants_of(module).viable
        fates = list(try_all(viable, sizes, known, until=time.monotonic() + 60, patience_s=5, workers=2))
        assert sorted(f.mutant.key for f in fates) == sorted(m.key for m in viable)

    def test_are_kept_and_hold_until_the_code_changes(self, module: ModuleType, tmp_path: Path) -> None:
        mutant = pick(module, "return 1", "return 2")
        Fates(tmp_path / "fates.jsonl").add(Fate(mutant, SURVIVES, "by", 3))
        kept = Fates(tmp_path / "fates.jsonl")
        entry = kept.of(mutant)
        assert entry is not None
        assert (entry.outcome, entry.by, entry.trials, entry.killed) == (SURVIVES, "by", 3, False)
        Path(str(module.__file__)).write_text(SOURCE.replace("    return 1", "    # why\n    return 1"))
        assert kept.of(pick(module, "return 1", "return 2")) is None


# Samples


def test_a_sample_of_the_roll_up_of_verdicts(tmp_path: Path) -> None:
    """Their unit tests kill most; members of an enumeration cannot be changed in place."""
    modules = ["lro_conformance.judging.check", "lro_conformance.judging.verdicts"]
    command = [sys.executable, "-m", "tests.tools.mutation", "run", *modules, "--sample", "16", "--keep", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=100, env=dict(os.environ), capture_output=True)
    entries = Fates(tmp_path / "fates.jsonl").entries
    assert len(entries) == 16
    alive = [key for key, entry in entries.items() if not entry.killed and entry.outcome != UNTRIED]
    assert len(alive) <= 2, alive


NAMING = "lro_conformance.checks.test_naming"


def test_a_sample_of_the_checks_of_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the evidence of six servers: most die by it alone, none of them by more than the words without a verdict.

    None is explored, which would take longer than everything else here.
    """
    for name in ("name_of_inject_says_recall", "ulid_is_all_random", "same_arguments_share_a_file"):
        record(name, tmp_path)
    record("whole_numbers_have_no_point", tmp_path, only="LRO-NAME-02")
    for name in ("calls_in_flight_share_their_content", "calls_in_flight_come_inline"):
        record(name, tmp_path, only="LRO-NAME-04")
    module = importlib.import_module(NAMING)
    recordings = load([p.name for p in tmp_path.iterdir()], tmp_path)

    def tried() -> list[str]:
        judging = Judging(recordings, NAMING)  # after it, this process writes no scripts
        known = baseline(judging, module, here=True)
        sample = mutants_of(module).viable[::4]
        found = try_all(sample, judging, known, until=time.monotonic() + 60, patience_s=5, workers=2)
        return [one.outcome for one in found]

    outcomes = in_a_child(tried, 90)
    assert sum(o in KILLED for o in outcomes) >= 0.7 * len(outcomes)
    assert {VERDICT, ERROR, WORDS} <= set(outcomes)


def test_files_of_the_same_name_are_collected_together() -> None:
    """As those of two areas have them; in a process of its own, since pytest does not run within itself."""
    files = ["conformance/checks/test_recipes.py", "spec/validation/test_recipes.py"]
    code = (
        f"from tests.tools.mutation.units import with_units\nwith_units({files}, lambda units: print(*units.trials()))"
    )
    argv = [sys.executable, "-c", code]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert all(f"tests/{file}::" in done.stdout for file in files)
