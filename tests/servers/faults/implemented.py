"""Servers without offloading."""

from __future__ import annotations

from tests.servers.faults.catalogue import fault
from tests.servers.plain import Call, Server, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
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
    """The file is written, but the result is returned inline and does not mention it."""

    def offloaded(self, call: Call, path: str) -> Record:
        return self.inline(call)


class ignores_its_settings_and_is_small(Server):
    """Offloads by the default threshold only, and has no result that exceeds it. Nobody can tell that it offloads."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        return Settings()

    def corpus(self) -> list[Record]:
        return super().corpus()[:12]


class is_small_and_says_nothing_of_files(ignores_its_settings_and_is_small):
    """Offloads by the default threshold, which no result exceeds, and its tools do not mention offloading."""

    def tools(self) -> list[Record]:
        tools = [tool for tool in super().tools() if tool["name"] != "run_custodial_task"]
        return [{name: value for name, value in tool.items() if name != "outputSchema"} for tool in tools]


class holds_nothing(Server):
    """Has no memories."""

    def corpus(self) -> list[Record]:
        return []


class names_its_tools_as_nobody_does(Server):
    """No tool sounds like recall, search or inject."""

    def tools(self) -> list[Record]:
        return [{**tool, "name": f"notes_{number}"} for number, tool in enumerate(super().tools())]
