"""No sound server is accused, however unusual: nothing fails, nothing warns that may not, and the level is proved.

Every server takes seconds, so that a few tricky ones are tried each time, of different chapters, and the rest with
``--long``. The plain server and the reference server are certified whole each time, too.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.servers.sound.catalogue import sounds
from tests.support.certifying import Job, Outcome, now_and_then

TRICKY = (
    "has_twelve_large_memories",
    "inline_is_jsonl",
    "is_set_by_flags",
)
"""Some that the suite has once accused, or that take another way through it."""


def param(name: str) -> object:
    return pytest.param(Job(name), id=name, marks=() if name in TRICKY else pytest.mark.long)


@pytest.mark.parametrize("job", [param(name) for name in sounds()])
def test_a_sound_server_is_not_accused(job: Job, certified: Callable[[Job], Outcome]) -> None:
    sound = sounds()[job.server]
    outcome = certified(job)
    assert outcome.failure is None
    assert {id: said for id, said in outcome.blamed.items() if id not in (*sound.warns, *sound.lacks)} == {}
    assert [id for id in sound.warns if outcome.verdicts[id] in ("fail", "error")] == []
    assert outcome.achieved == sound.proves
    now, then = now_and_then(job, outcome)
    assert now == then


def test_those_that_are_tried_each_time_are_of_different_chapters() -> None:
    assert len({sounds()[name].server.__module__ for name in TRICKY}) == len(TRICKY) == 3
