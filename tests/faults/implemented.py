"""Servers without offloading."""

from __future__ import annotations

from tests.faults.catalogue import fault
from tests.servers.plain import Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record


@fault("LRO-IMPL-03", says="offload", proves=2, also=("LRO-IMPL-02",))
class knows_no_offloading(Server):
    """Every result is inline, however large: conformant at levels 1 and 2, not at 3."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return False


@fault("LRO-IMPL-03", says="offload", proves=2, also=("LRO-IMPL-02",))
class says_only_that_nothing_was_offloaded(Server):
    """Every result is inline and carries `offloaded: false`, which is no implementation of anything."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return False

    def inline_value(self, call: Call) -> Any:
        return {"offloaded": False, **super().inline_value(call)}


@fault("LRO-IMPL-02", says="offload", proves=2, also=("LRO-IMPL-03",))
class writes_a_file_and_returns_everything(Server):
    """The file is written, and the result is inline all the same: nobody is told of it."""

    def offloaded(self, call: Call, path: str) -> Record:
        return self.inline(call)
