"""Digests of corpora and tasks (``data/digests.json``).

They show that corpora and tasks do not change from version to version.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from lro_bench.conditions import DATA
from lro_bench.corpus import SIZES, corpus
from lro_bench.tasks import FAMILIES, answer_by_jq, digest, fewer_tasks, tasks

RECORDED_PATH = DATA / "digests.json"


def compute_digests(sizes: tuple[int, ...] = SIZES) -> dict[str, str]:
    """The digests of corpora and tasks as they are generated now."""
    digests = {f"corpus/{n}": corpus(n).digest for n in sizes}
    return digests | {f"{family}/{n}": digest(tasks(family, n)) for n in sizes for family in FAMILIES}


def recorded_digests() -> dict[str, str]:
    """The digests of this version."""
    return json.loads(RECORDED_PATH.read_text(encoding="utf-8"))


def disagreements(n: int) -> list[str]:
    """A line for each task for which jq and Python give different answers."""
    corpus_lines = corpus(n).lines
    messages: list[str] = []
    for family in FAMILIES:
        for task in tasks(family, n):
            jq_answer = answer_by_jq(task, corpus_lines)
            if jq_answer != task.answer:
                messages.append(f"{task.id}: {task.answer} by Python, {jq_answer} by jq")
    return messages


def check_digests(say: Callable[[str], object], *, verify: bool, sizes: tuple[int, ...] = SIZES) -> list[str]:
    """Generate corpora and tasks, and return a line for each digest that differs from the recorded digest.

    With *verify*, also evaluate each task by jq, and return a line for each answer that differs from the answer by
    Python. *say* receives lines about each corpus.
    """
    digests, expected = compute_digests(sizes), recorded_digests()
    differences = [
        f"{name}: expected the digest {expected.get(name)}, got {digests[name]}"
        for name in digests
        if digests[name] != expected.get(name)
    ]
    for n in sizes:
        data = corpus(n)
        count = sum(len(tasks(family, n)) for family in FAMILIES)
        say(f"n = {n}: {data.mean_tokens:.1f} tokens a record (characters ÷ 4), {count} tasks, {data.digest[:16]}")
        for reason in fewer_tasks(n):
            say(f"n = {n}: {reason}")
        if verify:
            disagreeing = disagreements(n)
            say(f"n = {n}: {count - len(disagreeing)} of {count} tasks have the same answer by Python and by jq")
            differences += disagreeing
    return differences
