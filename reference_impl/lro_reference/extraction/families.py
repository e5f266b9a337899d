"""The families that a server was started with: their tools, their calls, and what descriptors say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lro_reference.events import Emit, Event
from lro_reference.extraction.compaction import COMPACTION
from lro_reference.extraction.context_files import ContextFiles
from lro_reference.extraction.extract import EXTRACT, MEMORY_EDITION
from lro_reference.extraction.family import FamilyTool, Workbench
from lro_reference.extraction.files import OffloadedFiles
from lro_reference.extraction.guidance import guidance
from lro_reference.extraction.limits import Limits, Refused
from lro_reference.extraction.sampling import Ask
from lro_reference.extraction.sandbox import Sandbox
from lro_reference.extraction.scratchpad import SCRATCHPAD
from lro_reference.extraction.stopping import Stop
from lro_reference.extraction.virtual import VIRTUAL
from lro_reference.settings import Settings
from lro_reference.tooling import Answer, BadCall, Tool, check_arguments, tool_named
from lro_spec.messages import OffloadResponse

FAMILIES: Mapping[str, tuple[FamilyTool, ...]] = {
    "extract": EXTRACT,
    "virtual": VIRTUAL,
    "scratchpad": SCRATCHPAD,
    "compaction": COMPACTION,
}
"""By name, as ``--tools`` takes them."""


class Toolbox:
    """The tools of some families over the files of one process; for any number of threads."""

    def __init__(
        self, families: Sequence[str], settings: Settings, limits: Limits | None = None, *, prefix: str = ""
    ) -> None:
        limits = limits or Limits()
        files: OffloadedFiles[OffloadResponse] = OffloadedFiles(settings.folder, settings.ttl_seconds)
        self._bench = Workbench(files, ContextFiles(settings.folder, settings.ttl_seconds), limits, Sandbox(limits))
        self._known: dict[str, tuple[Tool, FamilyTool]] = {}
        self._hidden: set[str] = set()
        for family in families:
            for member in FAMILIES[family]:
                name = f"{prefix * member.prefixed}{member.tool.name}"
                if name in self._known:  # two families have a grep
                    name = f"{prefix * member.prefixed}{family}_{member.tool.name}"
                self._known[name] = replace(member.tool, name=name), member

    @property
    def tools(self) -> tuple[Tool, ...]:
        """As they are listed."""
        return tuple(tool for tool, _ in self._known.values())

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def hide(self, name: str) -> None:
        """Of this tool descriptors say nothing from now on: it is not listed."""
        self._hidden.add(name)

    def call(self, name: str, arguments: Mapping[str, Any], ask: Ask | None = None, stop: Stop | None = None) -> Answer:
        """Calls a tool; *ask* reaches the caller's language model, where it lends one. *stop* ends the call early.

        What the tool refuses is an answer with ``is_error``; no answer is ever offloaded.
        """
        try:
            tool = tool_named(name, self.tools)
            check_arguments(tool, arguments)
            sandbox = self._bench.sandbox if stop is None else self._bench.sandbox.until(stop)
            bench = replace(self._bench, ask=ask, sandbox=sandbox)
            return Answer((self._known[name][1].handler(bench, arguments),))
        except (BadCall, Refused) as problem:
            return Answer((str(problem),), is_error=True)

    def report(self, emit: Emit) -> None:
        """Tells what the tools with a budget have saved and given out, where there are any."""
        budget = self._bench.budget
        if budget.tokens_extracted:
            counts = {"tokens_intercepted": budget.tokens_intercepted, "tokens_extracted": budget.tokens_extracted}
            emit(Event("ScratchpadUsage", "info", counts))

    def offered(self, response: OffloadResponse) -> OffloadResponse:
        """A descriptor that goes out: its file can be read from now on, and its guidance says how."""
        readers = [name for name, (_, member) in self._known.items() if member.reads_results]
        names = [name for name in readers if name not in self._hidden]
        if not names:
            return response
        self._bench.files.remember(response.file_path, response)
        self._bench.budget.intercepted(response.summary.estimated_tokens)
        memories = f"/{MEMORY_EDITION.file_prefix}-" in response.file_path
        return replace(response, guidance=guidance(response, "memories" if memories else "records", names))
