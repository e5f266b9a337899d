"""Every server is judged as it was when tests/data/frozen was recorded: each verdict, level and count.

A whole certification takes seconds. The servers that test_exact_blame.py and test_sound.py certify each time are
compared there, and the reference server in test_certify_reference.py; here, the plain server each time, and all with
``--long``.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.servers.editions.catalogue import variants
from tests.servers.faults.catalogue import faults
from tests.servers.sound.catalogue import sounds
from tests.support.certifying import Job, Outcome, explored_servers, now_and_then
from tests.support.frozen import BASE, frozen_standings

SERVERS = {**faults(), **sounds(), **variants()}


def param(name: str) -> object:
    marks = () if name == BASE[0] else pytest.mark.long
    return pytest.param(Job(name, explored=name in explored_servers()), id=name, marks=marks)


@pytest.mark.parametrize("job", [param(name) for name in frozen_standings() if name in SERVERS or name in BASE])
def test_a_server_is_judged_as_it_was(job: Job, certified: Callable[[Job], Outcome]) -> None:
    now, then = now_and_then(job, certified(job))
    assert now == then != {}


def test_what_is_recorded_is_of_servers_that_there_are() -> None:
    assert [name for name in frozen_standings() if name not in SERVERS and name not in BASE] == []
