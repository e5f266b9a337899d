"""Servers with a fault that only a later event of a process shows.

``python -I -S tests/servers/later_events.py NAME`` runs one.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.servers.plain import Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.servers.plain import Record


class sound(Server):
    """A conformant server."""


class announces_only_its_first_failure(Server):
    """A flag that is never lowered keeps a process from announcing a second failed write."""

    announced = False

    def write_failed(self, call: Call, problem: OSError) -> None:
        if not self.announced:
            super().write_failed(call, problem)
        self.announced = True


class breaker_opens_at_the_fourth_failure(Server):
    """After four failed writes nothing is offloaded any more: the circuit breaker is never closed."""

    failures = 0

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        self.failures += 1
        self.settings.enabled = self.failures < 4
        return super().on_write_failure(call, problem)


class warns_only_twice(Server):
    """The third failed write of a process is truncated without a word."""

    failures = 0

    def truncated(self, call: Call, warning: str) -> Record:
        self.failures += 1
        return super().truncated(call, warning) if self.failures < 3 else self.inline(call)


class forgets_its_third_file(Server):
    """The third file that a process has written is never deleted."""

    written = 0
    third = ""

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        self.written += 1
        self.third = path if self.written == 3 else self.third
        return path

    def is_expired(self, path: str, now: float) -> bool:
        return path != self.third and super().is_expired(path, now)


if __name__ == "__main__":
    globals()[sys.argv[1]]().serve()
