"""No sound server is accused, however unusual: nothing fails, nothing warns that may not, and the level is proved.

Every server takes seconds, so that a few are tried each time, tricky ones and some of other chapters, and the rest with
``--long``.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.servers.sound.catalogue import CHAPTERS, sounds
from tests.support.certifying import Job, Outcome, now_and_then, spread

TRICKY = (
    "has_twelve_large_memories",
    "inline_is_jsonl",
    "is_set_by_flags",
)
"""Some that the suite has once accused, or that take another way through it."""


def chapter(name: str) -> str:
    return sounds()[name].server.__module__.rpartition(".")[2]


BY_CHAPTER = {c: [n for n in sounds() if chapter(n) == c] for c in CHAPTERS}
OTHERS = {c: names for c, names in BY_CHAPTER.items() if not {*names} & {*TRICKY}}
SAMPLED = [*TRICKY, *spread(OTHERS, 2)]


def param(name: str) -> object:
    return pytest.param(Job(name), id=name, marks=() if name in SAMPLED else pytest.mark.long)


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


def test_the_sample_is_of_other_chapters_than_the_tricky_ones() -> None:
    added = [chapter(name) for name in SAMPLED if name not in TRICKY]
    assert len({*added} - {chapter(name) for name in TRICKY}) == len(added) == 2
