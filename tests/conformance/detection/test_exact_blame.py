"""The whole suite on each fault: it blames the requirement that the fault breaks, nothing else, in words that name it,
and the level is right.

Every fault takes seconds here, so that one of each of two chapters is tried each time, without the explorer, and the
rest with ``--long``. A fault of every group and chapter is tried each time, here or in test_faults.py.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lro_spec.catalogue import requirement
from tests.servers.faults.catalogue import Fault, faults
from tests.support.certifying import Job, Outcome, now_and_then


def group(fault: Fault) -> str:
    return requirement(fault.requirement).group


def chapter(fault: Fault) -> str:
    return fault.server.__module__.rpartition(".")[2]


SAMPLED = ["tells_the_expiry_of_all_and_deletes_two", "header_tells_the_query_without_its_quotes"]
"""Each takes five seconds of one core. They are of the chapters `repeated` and `unusual`, whose faults test_faults.py
leaves out, as their requirements have others. What is blamed for others is tried there each time, and that nothing else
is with `--long`."""


def judge(outcome: Outcome, fault: Fault) -> None:
    assert outcome.failure is None
    assert fault.says.lower() in "\n".join(outcome.blamed[fault.requirement]).lower()
    assert {id: said for id, said in outcome.blamed.items() if id not in (fault.requirement, *fault.also)} == {}
    assert outcome.achieved == fault.proves


@pytest.mark.parametrize("job", [pytest.param(Job(n, explored=faults()[n].explored), id=n) for n in SAMPLED])
def test_nothing_but_the_fault_is_blamed(job: Job, certified: Callable[[Job], Outcome]) -> None:
    judge(certified(job), faults()[job.server])
    now, then = now_and_then(job, certified(job))
    assert now == then


@pytest.mark.long
@pytest.mark.parametrize("job", [pytest.param(Job(name, explored=True), id=name) for name in faults()])
def test_nothing_but_the_fault_is_blamed_by_all_checks(job: Job, certified: Callable[[Job], Outcome]) -> None:
    judge(certified(job), faults()[job.server])
