"""Faults of clean-up that only its next run shows."""

from __future__ import annotations

from tests.servers.faults.catalogue import fault
from tests.servers.plain import Server


@fault("LRO-CLN-03", says="was deleted", proves=1, also=("LRO-CLN-02",))
class deletes_a_file_at_every_run(Server):
    """The oldest one, whether it has expired or not."""

    def cleanup(self, now: float) -> list[str]:
        oldest = sorted((path for path in self.candidates() if self.is_ours(path)), key=self.created_at)[:1]
        for path in oldest:
            self.delete(path)
            self.expired(path)
        return oldest


@fault("LRO-CLN-03", says="fresh when cleanup ran", proves=1)
class deletes_all_where_nothing_has_expired(Server):
    """An empty list of expired files is as good as none, and none means all."""

    def cleanup(self, now: float) -> list[str]:
        ours = [path for path in self.candidates() if self.is_ours(path)]
        gone = [path for path in ours if self.is_expired(path, now)] or ours
        for path in gone:
            self.delete(path)
            self.expired(path)
        return gone


@fault("LRO-CLN-05", says="still there", proves=3)
class tells_the_expiry_of_all_and_deletes_two(Server):
    """The rest is told of once more in the next run."""

    def cleanup(self, now: float) -> list[str]:
        expired = [path for path in self.candidates() if self.is_ours(path) and self.is_expired(path, now)]
        for path in expired:
            self.expired(path)
        for path in expired[:2]:
            self.delete(path)
        return expired[:2]
