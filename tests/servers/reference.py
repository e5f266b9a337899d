"""The reference server broken on purpose: ``python tests/servers/reference.py FAULT``, one small override each."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lro_reference import guide, interceptor
from lro_reference.__main__ import main
from lro_reference.custodian import Cleanup
from lro_reference.memory import tools
from lro_reference.settings import Settings

Change = Callable[[], None]


def _settings(change: Callable[[Settings], Settings]) -> Change:
    whole = tools.intercept

    def intercept(results: Any, settings: Settings, emit: Any, **more: Any) -> Any:
        return whole(results, change(settings), emit, **more)

    return lambda: setattr(tools, "intercept", intercept)


def _counts_one_more(made: type[Any]) -> Callable[..., Any]:
    return lambda **given: made(**{**given, "count": given["count"] + 1})


def _recipes_sort_upwards() -> None:
    whole = guide.MemoryGuide.recipes

    def recipes(self: Any, path: str) -> Any:
        found = list(whole(self, path))
        found[3] = replace(found[3], command=found[3].command.replace("sort_by(-", "sort_by("))
        return found

    guide.MemoryGuide.recipes = recipes


def _recall_in_full() -> None:
    whole = tools.with_defaults

    def with_defaults(tool: Any, arguments: Any) -> dict[str, Any]:
        default = {"detail": "full"} if tool.name == "recall_memories" and "detail" not in arguments else {}
        return whole(tool, {**arguments, **default})

    tools.with_defaults = with_defaults


def _failed_writes_fail() -> None:
    whole = interceptor._truncate  # pyright: ignore[reportPrivateUsage]

    def truncate(*given: Any) -> Any:
        raise tools.BadCall(whole(*given).warning)

    interceptor._truncate = truncate


def _failed_writes_are_silent() -> None:
    whole = interceptor._truncate  # pyright: ignore[reportPrivateUsage]

    def truncate(results: Any, lines: Any, tokens: int, settings: Any, emit: Any, *more: Any) -> Any:
        return whole(results, lines, tokens, settings, lambda event: None, *more)

    interceptor._truncate = truncate


def _files_are_public() -> None:
    whole = interceptor.write

    def write(*given: Any) -> str:
        path = whole(*given)
        os.chmod(path, 0o644)
        return path

    interceptor.write = write


FAULTS: dict[str, tuple[str, str, Change]] = {
    "offloads_at_the_threshold": (
        "LRO-THR-07",
        "offloaded",
        _settings(lambda s: replace(s, threshold_tokens=max(1, s.threshold_tokens - 1))),
    ),
    "recall_defaults_to_full": ("LRO-DET-02", "light", _recall_in_full),
    "header_counts_itself": (
        "LRO-FILE-06",
        "count",
        lambda: setattr(interceptor, "OffloadHeader", _counts_one_more(interceptor.OffloadHeader)),
    ),
    "summary_counts_the_header": (
        "LRO-DESC-03",
        "count",
        lambda: setattr(interceptor, "OffloadSummary", _counts_one_more(interceptor.OffloadSummary)),
    ),
    "recipe_4_sorts_upwards": ("LRO-REC-04", "records in descending order of confidence", _recipes_sort_upwards),
    "guidance_is_a_treatise": (
        "LRO-GUI-01",
        "characters",
        lambda: setattr(guide.MemoryGuide, "guidance", _long(guide.MemoryGuide.guidance)),
    ),
    "never_cleans_up": ("LRO-CLN-01", "still", lambda: setattr(tools, "clean", lambda *_, **__: Cleanup())),
    "a_failed_write_fails_the_call": ("LRO-ERR-01", "error", _failed_writes_fail),
    "a_failed_write_is_not_announced": ("LRO-ERR-04", "no event", _failed_writes_are_silent),
    "cannot_be_switched_off": ("LRO-CFG-01", "offloaded", _settings(lambda s: replace(s, enabled=True))),
    "files_are_readable_by_all": ("LRO-HARD-01", "644", _files_are_public),
}
"""For each fault the requirement that it breaks, what the finding says, and the override."""


def _long(whole: Callable[..., str]) -> Callable[..., str]:
    return lambda *given: whole(*given) + "\nTake your time." * 400


if __name__ == "__main__":
    FAULTS[sys.argv.pop(1)][2]()
    sys.exit(main())
