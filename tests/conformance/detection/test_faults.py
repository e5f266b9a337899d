"""Each fault is blamed for what it breaks, in words that say so.

A fault runs only the trials that its requirement needs. What else is blamed is the concern of test_exact_blame.py.
Each takes a second of one core, those of the chapter `explored` several, as Hypothesis looks for the smallest example:
a sample from all groups and chapters is tried each time, and all with `--long`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lro_spec.catalogue import GROUPS, requirement
from tests.conformance.detection.test_exact_blame import SAMPLED, chapter, group
from tests.servers.faults.catalogue import CHAPTERS, Fault, faults
from tests.support.certifying import Job, Outcome, spread

SAMPLE = 26
"""Number of faults that are tried each time, of as many requirements. Each check is tried on made-up evidence each time
(tests/golden)."""
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
    """True if a fault of the same requirement comes before it or is tried by all checks, or its group is too dear."""
    id = faults()[name].requirement
    same = [n for n, fault in faults().items() if fault.requirement == id and not slow(fault)]
    return id in BY_ALL_CHECKS or name not in same[:1] or id not in DEAR.get(requirement(id).group, (id,))


def tried(key: Callable[[Fault], str]) -> dict[str, list[str]]:
    """The faults that may be tried each time, by their group or chapter."""
    found: dict[str, list[str]] = {}
    for name, fault in faults().items():
        if not spare(name):
            found.setdefault(key(fault), []).append(name)
    return found


EACH_TIME = list(dict.fromkeys([*spread(tried(group), len(GROUPS)), *spread(tried(chapter), SAMPLE)]))[:SAMPLE]
"""One of each group, and as many of each chapter as there is room for."""


def param(name: str, fault: Fault) -> object:
    job = Job(name, only=None if fault.everywhere else fault.requirement, explored=fault.explored)
    return pytest.param(job, id=name, marks=() if name in EACH_TIME else pytest.mark.long)


def test_in_every_group_and_chapter_a_fault_is_tried_each_time() -> None:
    each_time = [faults()[name] for name in (*SAMPLED, *EACH_TIME)]
    assert {group(fault) for fault in each_time} == set(GROUPS)
    assert {chapter(fault) for fault in each_time} == {*CHAPTERS} - {"explored"}
    assert len({fault.requirement for fault in each_time}) == len(each_time)


@pytest.mark.parametrize("job", [param(name, fault) for name, fault in faults().items()])
def test_the_fault_is_blamed_in_words_that_name_it(job: Job, certified: Callable[[Job], Outcome]) -> None:
    fault = faults()[job.server]
    outcome = certified(job)
    assert outcome.failure is None
    verdict = "fail" if requirement(fault.requirement).keyword == "MUST" else "warn"
    assert outcome.verdicts[fault.requirement] == verdict
    assert fault.says.lower() in "\n".join(outcome.messages[fault.requirement]).lower()
