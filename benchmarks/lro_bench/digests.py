"""Digests of corpora and tasks, which show that they do not change from version to version (``data/digests.json``)."""

from __future__ import annotations

import json
from collections.abc import Callable

from lro_bench.conditions import DATA
from lro_bench.corpus import SIZES, corpus
from lro_bench.tasks import FAMILIES, answer_by_jq, digest, fewer_tasks, tasks

RECORDED = DATA / "digests.json"


def computed(sizes: tuple[int, ...] = SIZES) -> dict[str, str]:
    """The digests of corpora and tasks as they are generated now."""
    found = {f"corpus/{n}": corpus(n).digest for n in sizes}
    return found | {f"{family}/{n}": digest(tasks(family, n)) for n in sizes for family in FAMILIES}


def recorded() -> dict[str, str]:
    """The digests of this version."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def disagreements(n: int) -> list[str]:
    """A line for each task for which jq and Python give different answers."""
    lines = corpus(n).lines
    found: list[str] = []
    for family in FAMILIES:
        for task in tasks(family, n):
            other = answer_by_jq(task, lines)
            if other != task.answer:
                found.append(f"{task.id}: {task.answer} by Python, {other} by jq")
    return found


def check(say: Callable[[str], object], *, verify: bool, sizes: tuple[int, ...] = SIZES) -> list[str]:
    """Generate everything, and return lines about differences from the recorded digests.

    With *verify*, also evaluate each task by jq, and return the differences from the answers by Python.
    """
    now, known = computed(sizes), recorded()
    differences = [
        f"{name}: expected the digest {known.get(name)}, got {now[name]}"
        for name in now
        if now[name] != known.get(name)
    ]
    for n in sizes:
        data = corpus(n)
        count = sum(len(tasks(family, n)) for family in FAMILIES)
        say(f"n = {n}: {data.mean_tokens:.1f} tokens a record (characters ÷ 4), {count} tasks, {data.digest[:16]}")
        for why in fewer_tasks(n):
            say(f"n = {n}: {why}")
        if verify:
            found = disagreements(n)
            say(f"n = {n}: {count - len(found)} of {count} tasks have the same answer by Python and by jq")
            differences += found
    return differences
