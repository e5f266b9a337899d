"""The sweeper plants files whose ages and names are chosen by Hypothesis, and triggers cleanup."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lro_conformance.analysis.sweeps import wrong_by_age, wrong_by_name
from lro_conformance.capture.call import Call
from lro_conformance.capture.file import FileSeen
from lro_conformance.explorers.budgeted_search import BudgetedSearch
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.trials import trial
from lro_conformance.trials.cleanup import HOUR, Cleanup
from lro_conformance.trials.decoys import DAY, OLD_AGE_S
from lro_conformance.trials.exploration import Sweep, Sweeps
from lro_conformance.trials.survey import Survey
from lro_conformance.trials.trigger import sweep_beside, template_in

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

Value = TypeVar("Value")


@trial("sweeper: cleanup of files of any age and name")
def sweeps(lab: Lab, survey: Survey, cleanup: Cleanup) -> Sweeps:
    """Plant files and clean up, again and again; find the smallest set of files that is treated wrongly."""
    if cleanup.set_ttl is None:
        no_template = "the server wrote no readable file of which back-dated copies could be planted"
        raise NotObserved(cleanup.reason or cleanup.nothing_planted or no_template)
    if not any(p.gone for p in cleanup.set_ttl.planted):
        raise NotObserved("no back-dated file was deleted (profile: cleanup)")
    from lro_conformance.explorers.hypothesis_runner import isolated
    from lro_conformance.explorers.strategies import any_ages, any_names

    name = cleanup.set_ttl.call.operation if cleanup.set_ttl.call is not None else "recall"
    ttl_s = cleanup.set_ttl.ttl_s or HOUR
    with isolated(lab.workspace.root / "hypothesis"):
        sweeper = _Sweeper(lab, lab.kept["cleanup"], name, survey, ttl_s)
        prefix = lab.editions.own.file_prefix
        by_name = sweeper.explore(any_names(prefix), sweeper.by_name, wrong_by_name)
        by_age = sweeper.explore(
            any_ages((0, ttl_s - 60), (ttl_s + 5, 100 * DAY)), sweeper.by_age, lambda sweep: wrong_by_age(sweep, ttl_s)
        )
    return Sweeps(ttl_s, sweeps=(*by_name[0], *by_age[0]), smallest=(*by_name[1], *by_age[1]))


class _Sweeper:
    def __init__(self, lab: Lab, bench: Bench, name: str, survey: Survey, ttl_s: int) -> None:
        self._lab = lab
        self._bench = bench
        self._name = name
        self._ttl_s = ttl_s
        trigger = bench.profile.cleanup
        listed = any(t.get("name") == "run_custodial_task" for t in survey.tools)
        by_tool = listed if trigger is None else trigger.tool is not None
        self._examples = max(2, int(lab.budget.sequences * (1.0 if by_tool else 0.2)))

    def explore(
        self,
        strategy: SearchStrategy[Value],
        sweep: Callable[[Value], Sweep],
        is_wrong: Callable[[Sweep], object],
    ) -> tuple[Sequence[Sweep], Sequence[Sweep]]:
        """Return the sweeps before the first violation, and the smallest sweep with a violation.

        The second part is empty if there was no violation, or if it did not recur.
        """
        from lro_conformance.explorers.hypothesis_runner import run_examples

        until = time.monotonic() + self._lab.budget.seconds / 2
        search: BudgetedSearch[Sweep] = BudgetedSearch(until, lambda: self._lab.workspace.aborted)
        last_value: list[Value] = []

        def attempt(value: Value) -> None:
            search.begin()
            last_value[:] = [value]
            self._bench.forget_experiment()
            result = sweep(value)
            if is_wrong(result):
                search.record_violation(result)
            elif not search.failing:
                search.clean_attempts.append(result)

        recurred = search.run(
            lambda: run_examples(strategy, attempt, seed=self._lab.seed, examples=self._examples),
            lambda: attempt(last_value[0]),
        )
        return search.clean_attempts, search.failing[-1:] if recurred else []

    def by_name(self, names: Sequence[str]) -> Sweep:
        """Clean up a folder with old files of these names, except names that match the pattern of offloaded files."""
        call, folder, template = self._folder()
        pattern = rf"{self._lab.editions.own.file_prefix}-.*\.jsonl"
        planted = [folder / n for n in names if n not in (".", "..") and not re.fullmatch(pattern, n)]
        past = time.time() - OLD_AGE_S
        for path in planted:
            path.write_bytes(template.data)
            os.utime(path, (past, past))
        return self._sweep(call, folder, template, (), planted)

    def by_age(self, ages: Sequence[int]) -> Sweep:
        """Clean up a folder with files of these ages, in seconds."""
        call, folder, template = self._folder()
        return self._sweep(call, folder, template, ages, ())

    def _sweep(self, call: Call, folder: Path, template: FileSeen, ages: Sequence[int], named: Sequence[Path]) -> Sweep:
        result = sweep_beside(self._bench, call, template, ages, named, self._ttl_s)
        for path in named:
            path.unlink(missing_ok=True)
        return result

    def _folder(self) -> tuple[Call, Path, FileSeen]:
        """A call, the folder of its file, and the file, which is the template for planted files."""
        call = self._bench.offloading_call(self._name, 3)
        file = template_in(call, self._lab.editions.own.name)
        if file is None:
            raise NotObserved("no file of the server could be copied to plant back-dated ones")
        return call, Path(os.path.dirname(file.path)), file
