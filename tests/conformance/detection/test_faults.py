"""Each fault is blamed for what it breaks, in words that say so.

A fault runs only the trials that its requirement needs. What else is blamed is the concern of test_exact_blame.py.
Those of the chapter `explored` take seconds each, as Hypothesis looks for the smallest example: `--long` runs them,
and those that are like another.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lro_spec.catalogue import GROUPS, requirement
from tests.conformance.detection.test_exact_blame import SAMPLED, chapter
from tests.servers.faults.catalogue import CHAPTERS, Fault, faults
from tests.support.certifying import Job, Outcome

ENOUGH = 1
"""Number of faults of each requirement that are tried each time: each takes a second of one core."""
BY_ALL_CHECKS = {faults()[name].requirement for name in SAMPLED}
DEAR = {
    "extraction": ("LRO-EXTRACT-02", "LRO-EXTRACT-05", "LRO-EXTRACT-08"),
    "recipes": ("LRO-REC-03", "LRO-REC-04", "LRO-REC-07", "LRO-REC-08", "LRO-REC-11", "LRO-REC-12"),
}
"""The requirements of which one is tried each time, for groups whose faults take long.

The ten standard recipes are judged alike; one that searches, one that sorts, one that selects and one that counts are
tried.
"""


def slow(fault: Fault) -> bool:
    """True if a fault takes many seconds to find."""
    return fault.long or fault.server.__module__ == "tests.servers.faults.explored"


def spare(name: str) -> bool:
    """True if a fault of the same requirement is tried here or by all checks, or its group is too dear.

    `--long` tries the rest.
    """
    id = faults()[name].requirement
    same = [n for n, fault in faults().items() if fault.requirement == id and not slow(fault)]
    return id in BY_ALL_CHECKS or name not in same[:ENOUGH] or id not in DEAR.get(requirement(id).group, (id,))


def param(name: str, fault: Fault) -> object:
    job = Job(name, only=None if fault.everywhere else fault.requirement, explored=fault.explored)
    return pytest.param(job, id=name, marks=pytest.mark.long if spare(name) else ())


def test_in_every_group_and_chapter_a_fault_is_tried_each_time() -> None:
    tried = [fault for name, fault in faults().items() if name in SAMPLED or not spare(name)]
    assert {requirement(fault.requirement).group for fault in tried} == set(GROUPS)
    assert {chapter(fault) for fault in tried} == {*CHAPTERS} - {"explored"}


@pytest.mark.parametrize("job", [param(name, fault) for name, fault in faults().items()])
def test_the_fault_is_blamed_in_words_that_name_it(job: Job, certified: Callable[[Job], Outcome]) -> None:
    fault = faults()[job.server]
    outcome = certified(job)
    assert outcome.failure is None
    verdict = "fail" if requirement(fault.requirement).keyword == "MUST" else "warn"
    assert outcome.verdicts[fault.requirement] == verdict
    assert fault.says.lower() in "\n".join(outcome.messages[fault.requirement]).lower()
