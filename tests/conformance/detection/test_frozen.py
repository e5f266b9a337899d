"""Every server is judged as it was when tests/data/frozen was recorded: each verdict, level and count.

A whole certification takes seconds: some servers of different chapters are tried each time, the rest with ``--long``.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.servers.editions.catalogue import variants
from tests.servers.faults.catalogue import faults
from tests.servers.sound.catalogue import sounds
from tests.support.certifying import Job, Outcome, explored_servers, spread
from tests.support.frozen import BASE, as_frozen, frozen_standings

SERVERS = {**faults(), **sounds(), **variants()}


def chapters() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, variant in SERVERS.items():
        if name in frozen_standings() and name not in explored_servers():
            found.setdefault(variant.server.__module__, []).append(name)
    return found


SAMPLED = (*BASE, *spread(chapters(), 6))


def param(name: str) -> object:
    marks = () if name in SAMPLED else pytest.mark.long
    return pytest.param(Job(name, explored=name in explored_servers()), id=name, marks=marks)


@pytest.mark.parametrize("job", [param(name) for name in frozen_standings() if name in SERVERS or name in BASE])
def test_a_server_is_judged_as_it_was(job: Job, certified: Callable[[Job], Outcome]) -> None:
    assert as_frozen(certified(job).standing, job.server) == frozen_standings()[job.server]


def test_what_is_recorded_is_of_servers_that_there_are() -> None:
    assert [name for name in frozen_standings() if name not in SERVERS and name not in BASE] == []
