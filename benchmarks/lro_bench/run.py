"""A run of scripted agents over conditions and sizes.

Conditions with the same delivery share a server for each size. Two servers run at a time.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Event, Lock
from typing import Any, Self

from lro_bench.conditions import Condition, Delivery, conditions
from lro_bench.conversation import converse
from lro_bench.corpus import SEED, SIZES, corpus
from lro_bench.json_file import read_object
from lro_bench.samples import Sample, lines_of, read_samples, write_samples
from lro_bench.server import OFFLOADED_PATH
from lro_bench.session import Session, tool_text
from lro_bench.tasks import Task, digest, tasks
from lro_conformance.errors import UsageError
from lro_conformance.report.atomic import write_text
from lro_conformance.version import version
from lro_spec.recipes.render import render

FORMAT = "lro-bench-run/1"
SAMPLES, RUN = "samples.jsonl", "run.json"
MOCK_PREFIX = "mockllm/"
"""Prefix of the names by which scripted agents are used in the place of a model."""
_CODE_TOOLS = {"python_exec"}
"""Tools that run a model's own programs, which is permitted only in a sandbox of Inspect."""
_WORKERS = 2
Key = tuple[str, str, int, str, str]
"""Key of a sample: `Sample.key`."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The conditions, sizes, agents and tasks of a run."""

    conditions: tuple[str, ...]
    sizes: tuple[int, ...]
    agents: tuple[str, ...]
    limit: int | None = None
    """Maximum number of tasks per family; None for all."""


@dataclass(frozen=True, slots=True)
class Group:
    """Conditions whose samples share a server."""

    delivery: Delivery
    n: int
    conditions: tuple[Condition, ...]


def run(choice: Choice, folder: Path, *, resume: bool, progress: Callable[[int, int], None]) -> list[Sample]:
    """Run everything that was chosen, and write the samples to a folder.

    *progress* receives the number of finished samples and the number of all samples. Each sample is written as soon as
    it is finished. With *resume*, samples that are in the folder are not run again. Raises `UsageError` if the folder
    has another run in it, or cannot be written.
    """
    done = begin_run(folder, describe(choice), resume=resume)
    finished_keys, groups, total = frozenset(done), groups_of(choice), count_samples(choice)
    progress(len(done), total)
    stop, lock = Event(), Lock()
    with Journal(folder) as journal, ThreadPoolExecutor(_WORKERS) as pool:

        def keep_sample(sample: Sample) -> None:
            with lock:
                journal.append([sample])
                done[sample.key] = sample
                progress(len(done), total)

        futures = [pool.submit(_run_group, group, choice, finished_keys, keep_sample, stop) for group in groups]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:  # after Ctrl-C, too, finished samples are kept and no others are begun
            stop.set()
            for future in futures:
                future.cancel()
            raise
    return finish_run(folder, done)


@contextmanager
def reporting_write_errors(folder: Path, advice: str = "") -> Generator[None]:
    """Turn an `OSError` within the block into a `UsageError` of one line.

    The line names the file, or *folder* if the error does not name a file, and ends with *advice*.
    """
    try:
        yield
    except OSError as problem:
        raise UsageError(f"{problem.filename or folder}: {problem.strerror or problem}{advice}") from None


class Journal:
    """Appends samples to the file of a run. A write that fails leaves no partial sample. A context manager."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / SAMPLES
        with reporting_write_errors(self._path):
            self._file = self._path.open("ab", buffering=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, samples: Iterable[Sample]) -> None:
        """Write samples. Raises `UsageError`."""
        data = lines_of(samples).encode()
        with reporting_write_errors(
            self._path, ": finished samples are kept, free some space and continue with --resume"
        ):
            size_before = os.fstat(self._file.fileno()).st_size
            try:
                while data:
                    data = data[self._file.write(data) or 0 :]
            except OSError:  # remove a partial line, to which another thread would append
                with suppress(OSError):
                    os.ftruncate(self._file.fileno(), size_before)
                raise


def begin_run(folder: Path, description: dict[str, Any], *, resume: bool) -> dict[Key, Sample]:
    """Prepare the folder of a run, and return the samples that it already has. Raises `UsageError`."""
    text = json.dumps(description, indent=1) + "\n"
    if resume and not (folder / RUN).exists():
        raise UsageError(f"{folder}: there is no run in it to resume ({RUN} is missing)")
    with reporting_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    samples = _earlier_samples(folder, text, resume=resume)
    with reporting_write_errors(folder):
        write_text(text, folder / RUN)
        write_samples(
            samples, folder / SAMPLES
        )  # without a partial last line, to which the next sample would be appended
    return {sample.key: sample for sample in samples}


def finish_run(folder: Path, done: Mapping[Key, Sample]) -> list[Sample]:
    """Write all samples of a run in a fixed order, and return them."""
    samples = sorted_samples(done.values())
    with reporting_write_errors(folder):
        write_samples(samples, folder / SAMPLES)
    return samples


def describe(choice: Choice) -> dict[str, Any]:
    """The description of a run: everything that decides its results."""
    selected = [conditions()[name] for name in choice.conditions]
    families = sorted({family for condition in selected for family in condition.families})
    return {
        "format": FORMAT,
        "suite": {"name": "lro-spec", "version": version()},
        "seed": SEED,
        "agents": list(choice.agents),
        "sizes": list(choice.sizes),
        "tasks": choice.limit,
        "conditions": {
            c.name: {"title": c.title, "source": c.source, "limits": asdict(c.limits), "delivery": asdict(c.delivery)}
            for c in selected
        },
        "corpora": {str(n): corpus(n).digest for n in choice.sizes},
        "families": {f"{family}/{n}": digest(tasks(family, n)) for family in families for n in choice.sizes},
    }


def read_run(path: Path) -> Mapping[str, Any]:
    """The description of a run. Raises `OSError` and `ValueError`."""
    return read_object(path, FORMAT)


def choice_of(run: Mapping[str, Any]) -> Choice:
    """The choice in the description of a run.

    Raises `ValueError` if the description is incomplete, or has a condition or a size that this version lacks.
    """
    try:
        choice = Choice(tuple(run["conditions"]), tuple(run["sizes"]), tuple(run["agents"]), run["tasks"])
    except (KeyError, TypeError) as problem:
        raise ValueError(f"the description of the run is incomplete ({problem})") from None
    if unknown := [name for name in choice.conditions if name not in conditions()]:
        raise ValueError(f"there is no condition {unknown[0]} in this version")
    if unknown := [n for n in choice.sizes if n not in SIZES]:
        raise ValueError(f"there is no corpus of size {unknown[0]} in this version")
    return choice


def expected_samples(run: Mapping[str, Any]) -> int:
    """Number of samples that a described run has when it is finished. Raises `ValueError` as `choice_of` does."""
    choice = choice_of(run)
    kept = [
        name for name in choice.conditions if not is_left_out(conditions()[name], run.get("model"), run.get("sandbox"))
    ]
    return count_samples(replace(choice, conditions=tuple(kept)))


def is_left_out(condition: Condition, model: str | None, sandbox: str | None) -> bool:
    """True if the condition would run programs of a real model, but there is no sandbox in which to run them."""
    is_real_model = model is not None and not model.startswith(MOCK_PREFIX)
    return is_real_model and sandbox is None and bool(_CODE_TOOLS & set(condition.delivery.tools))


def resume_command(folder: Path) -> str:
    """The command that continues the run in a folder."""
    return f"lro bench run --resume -o {shlex.quote(str(folder))}"


def groups_of(choice: Choice) -> list[Group]:
    """The groups of a run, the largest corpora first."""
    by_delivery: dict[tuple[Delivery, int], list[Condition]] = {}
    for n in sorted(choice.sizes, reverse=True):
        for name in choice.conditions:
            condition = conditions()[name]
            by_delivery.setdefault((condition.delivery, n), []).append(condition)
    return [Group(delivery, n, tuple(members)) for (delivery, n), members in by_delivery.items()]


def count_samples(choice: Choice) -> int:
    """Number of samples of a run."""
    return sum(
        len(_tasks(family, n, choice.limit)) * len(choice.agents)
        for name in choice.conditions
        for n in choice.sizes
        for family in conditions()[name].families
    )


def sorted_samples(samples: Iterable[Sample]) -> list[Sample]:
    """Samples sorted by agent, condition (in the order of conditions.yaml), size, family and task."""
    positions = {name: position for position, name in enumerate(conditions())}
    return sorted(samples, key=lambda s: (s.agent, positions.get(s.condition, len(positions)), s.n, s.family, s.task))


def recipes() -> list[str]:
    """Commands of the recipes in the descriptor of the reference interceptor."""
    return [recipe.command for recipe in render("lro-6400", OFFLOADED_PATH)]


def _tasks(family: str, n: int, limit: int | None) -> Sequence[Task]:
    return tasks(family, n)[:limit]


def _run_group(
    group: Group, choice: Choice, finished_keys: frozenset[Key], keep_sample: Callable[[Sample], None], stop: Event
) -> None:
    pending = list(_pending(group, choice, finished_keys))
    if not pending:
        return
    recipe_commands = recipes()
    with Session(group.conditions[0].name, group.n) as session:
        tools = [tool_text(tool) for tool in session.tools]
        for condition, agent, task, beyond_limits in pending:
            if stop.is_set():
                return
            keep_sample(
                converse(condition, task, agent, tools, session.call, recipe_commands, beyond_limits=beyond_limits)
            )


def _pending(
    group: Group, choice: Choice, finished_keys: frozenset[Key]
) -> Iterator[tuple[Condition, str, Task, bool]]:
    """Samples to be made: condition, agent, task, and whether the plan is carried out beyond the limits."""
    for condition in group.conditions:
        for family in condition.families:
            for agent in choice.agents:
                for position, task in enumerate(_tasks(family, group.n, choice.limit)):
                    if (agent, condition.name, group.n, family, task.id) not in finished_keys:
                        # All tasks of a family have the same plan, so one task shows how many messages the plan takes.
                        yield condition, agent, task, agent == "oracle" and position == 0


def _earlier_samples(folder: Path, description: str, *, resume: bool) -> list[Sample]:
    """The samples in a folder. Empty if there is no run, or a run without samples, for example after a wrong API key.

    Raises `UsageError` if the run in the folder has samples and is not to be resumed, or is another run.
    """
    samples = folder / SAMPLES
    if not (folder / RUN).exists() or not samples.exists() or not samples.stat().st_size:
        return []
    if not resume:
        raise UsageError(f"{folder} has a run in it: {resume_command(folder)} continues it, or choose another folder")
    if (folder / RUN).read_bytes() != description.encode():
        raise UsageError(f"{folder} has another run in it (see {RUN}), which cannot be resumed by this one")
    try:
        return read_samples(samples)
    except (ValueError, OSError) as problem:
        raise UsageError(str(problem)) from None
