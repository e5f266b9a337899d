"""A run of scripted agents over conditions and sizes: one server for each form of delivery and size, two at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lro_bench.conditions import Condition, Delivery, conditions
from lro_bench.conversation import converse
from lro_bench.corpus import SEED, corpus
from lro_bench.samples import Sample, lines_of, read_samples, write_samples
from lro_bench.server import OFFLOADED
from lro_bench.session import Session, tool_text
from lro_bench.tasks import digest, tasks
from lro_conformance.errors import UsageError
from lro_conformance.report.atomic import write_text
from lro_conformance.version import version
from lro_spec.recipes.render import render

FORMAT = "lro-bench-run/1"
SAMPLES, RUN = "samples.jsonl", "run.json"
_WORKERS = 2
Key = tuple[str, str, int, str, str]
"""Key of a sample: `Sample.key`."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Choice of what to run."""

    conditions: tuple[str, ...]
    sizes: tuple[int, ...]
    agents: tuple[str, ...]
    limit: int | None = None
    """Most tasks of a family; None: all."""


@dataclass(frozen=True, slots=True)
class Group:
    """Samples that share a server."""

    delivery: Delivery
    n: int
    conditions: tuple[Condition, ...]


def run(choice: Choice, folder: Path, *, resume: bool, progress: Callable[[int, int], None]) -> list[Sample]:
    """Run everything that was chosen, and write it to a folder; *progress* receives samples done and samples in all.

    Samples are written as soon as their group is complete. With *resume* those in the folder are not run again. Raises
    `UsageError` for a folder with another run in it.
    """
    done = begin(folder, describe(choice), resume=resume)
    groups, total = groups_of(choice), count_samples(choice)
    progress(len(done), total)
    with ThreadPoolExecutor(_WORKERS) as pool, (folder / SAMPLES).open("a", encoding="utf-8") as file:
        pending = [pool.submit(_run_group, group, choice, frozenset(done)) for group in groups]
        try:
            for future in as_completed(pending):
                made = future.result()
                done.update({sample.key: sample for sample in made})
                file.write(lines_of(made))
                file.flush()
                progress(len(done), total)
        except BaseException:
            for future in pending:
                future.cancel()
            raise
    return finish(folder, done)


def begin(folder: Path, description: dict[str, Any], *, resume: bool) -> dict[Key, Sample]:
    """Make a folder the one of this run, and return the samples that it has. Raises `UsageError`."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(description, indent=1) + "\n"
    known = _known(folder, text, resume=resume)
    write_text(text, folder / RUN)
    write_samples(known, folder / SAMPLES)  # without half a line, to which the next would be appended
    return {sample.key: sample for sample in known}


def finish(folder: Path, done: Mapping[Key, Sample]) -> list[Sample]:
    """Write all samples of a run in one order, and return them."""
    samples = in_order(done.values())
    write_samples(samples, folder / SAMPLES)
    return samples


def describe(choice: Choice) -> dict[str, Any]:
    """The description of a run: everything that decides its results."""
    chosen = [conditions()[name] for name in choice.conditions]
    families = sorted({family for condition in chosen for family in condition.families})
    return {
        "format": FORMAT,
        "suite": {"name": "lro-spec", "version": version()},
        "seed": SEED,
        "agents": list(choice.agents),
        "sizes": list(choice.sizes),
        "tasks": choice.limit,
        "conditions": {
            c.name: {"title": c.title, "source": c.source, "limits": asdict(c.limits), "delivery": asdict(c.delivery)}
            for c in chosen
        },
        "corpora": {str(n): corpus(n).digest for n in choice.sizes},
        "families": {f"{family}/{n}": digest(tasks(family, n)) for family in families for n in choice.sizes},
    }


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


def in_order(samples: Iterable[Sample]) -> list[Sample]:
    """Samples in one order, whatever the order in which they were made."""
    order = {name: place for place, name in enumerate(conditions())}
    return sorted(samples, key=lambda s: (s.agent, order.get(s.condition, len(order)), s.n, s.family, s.task))


def recipes() -> list[str]:
    """Commands of the recipes of the reference's descriptor."""
    return [recipe.command for recipe in render("lro-6400", OFFLOADED)]


def _tasks(family: str, n: int, limit: int | None) -> Sequence[Any]:
    return tasks(family, n)[:limit]


def _run_group(group: Group, choice: Choice, done: frozenset[Any]) -> list[Sample]:
    samples: list[Sample] = []
    library = recipes()
    with Session(group.conditions[0].name, group.n) as session:
        tools = [tool_text(tool) for tool in session.tools]
        for condition in group.conditions:
            for family in condition.families:
                for agent in choice.agents:
                    for place, task in enumerate(_tasks(family, group.n, choice.limit)):
                        if (agent, condition.name, group.n, family, task.id) not in done:
                            # The plan is the same for all tasks of a family, so one tells how many messages it takes.
                            beyond = agent == "oracle" and place == 0
                            samples.append(
                                converse(condition, task, agent, tools, session.call, library, beyond_limits=beyond)
                            )
    return samples


def _known(folder: Path, description: str, *, resume: bool) -> list[Sample]:
    """The samples that are there already."""
    if not (folder / RUN).exists():
        return []
    if not resume:
        raise UsageError(f"{folder} has a run in it: continue it with --resume, or choose another folder")
    if (folder / RUN).read_bytes() != description.encode():
        raise UsageError(f"{folder} has another run in it (see {RUN}), which cannot be resumed by this one")
    try:
        return read_samples(folder / SAMPLES) if (folder / SAMPLES).exists() else []
    except ValueError as problem:
        raise UsageError(str(problem)) from None
