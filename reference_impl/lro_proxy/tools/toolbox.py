"""The tools of the selected families: their list, their calls, and their part in descriptors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any

from lro_proxy.payload.descriptor_form import Form
from lro_proxy.tools import sampling
from lro_proxy.tools.access import OffloadedFiles
from lro_proxy.tools.base import FamilyTool, Workbench
from lro_proxy.tools.compaction import COMPACTION
from lro_proxy.tools.context_store import ContextFiles
from lro_proxy.tools.extract import EXTRACT, MEMORY_EDITION
from lro_proxy.tools.guidance import brief_guidance, guidance
from lro_proxy.tools.limits import Limits, Refused
from lro_proxy.tools.queries import QueryRunner
from lro_proxy.tools.scratchpad import SCRATCHPAD
from lro_proxy.tools.virtual import VIRTUAL
from lro_reference.cancellation import Cancellation
from lro_reference.events import Emit, Event
from lro_reference.settings import Settings
from lro_reference.tool import Answer, Ask, BadCall, SendSampling, Tool, check_arguments, find_tool
from lro_spec.messages import OffloadResponse

FAMILIES: Mapping[str, tuple[FamilyTool, ...]] = {
    "extract": EXTRACT,
    "virtual": VIRTUAL,
    "scratchpad": SCRATCHPAD,
    "compaction": COMPACTION,
}
"""The families by name, as in ``--tools`` (`lro_proxy.tools.families`)."""


class Toolbox:
    """The tools of some families over the files of one process. Thread-safe.

    If *remembers_all* is set, `files` has every published file, even if no tool reads it. *form* is the form of
    descriptors. Unless it is ``full``, the guidance for records that are not memories is brief.
    """

    def __init__(
        self,
        families: Sequence[str],
        settings: Settings,
        limits: Limits | None = None,
        *,
        prefix: str = "",
        remembers_all: bool = False,
        form: Form = "full",
    ) -> None:
        limits = limits or Limits()
        self._remembers_all, self._form = remembers_all, form
        files: OffloadedFiles[OffloadResponse] = OffloadedFiles(settings.folder, settings.ttl_seconds)
        self._bench = Workbench(files, ContextFiles(settings.folder, settings.ttl_seconds), limits, QueryRunner(limits))
        self._by_name: dict[str, tuple[Tool, FamilyTool]] = {}
        self._hidden: set[str] = set()
        for family in families:
            for family_tool in FAMILIES[family]:
                name = f"{prefix * family_tool.gets_prefix}{family_tool.tool.name}"
                if name in self._by_name:  # two families have a grep
                    name = f"{prefix * family_tool.gets_prefix}{family}_{family_tool.tool.name}"
                self._by_name[name] = replace(family_tool.tool, name=name), family_tool

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The entries of `tools/list`, including hidden tools (`hide`)."""
        return tuple(tool for tool, _ in self._by_name.values())

    @property
    def files(self) -> OffloadedFiles[OffloadResponse]:
        """The published files."""
        return self._bench.files

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def hide(self, name: str) -> bool:
        """Leave a tool out of descriptors, because it is not listed: the server has a tool of this name.

        Returns True if ``--tool-prefix`` would give it another name.
        """
        self._hidden.add(name)
        return self._by_name[name][1].gets_prefix

    def call(
        self, name: str, arguments: Mapping[str, Any], ask: Ask | None = None, cancellation: Cancellation | None = None
    ) -> Answer:
        """Call a tool. *ask* is the client's language model, if it offers one; *cancellation* ends the call early.

        A refused call returns an answer with ``is_error``. Answers are never offloaded.
        """
        try:
            tool = find_tool(name, self.tools)
            check_arguments(tool, arguments)
            queries = (
                self._bench.queries if cancellation is None else self._bench.queries.with_cancellation(cancellation)
            )
            bench = replace(self._bench, ask=ask, queries=queries)
            return Answer((self._by_name[name][1].handler(bench, arguments),))
        except (BadCall, Refused) as problem:
            return Answer((str(problem),), is_error=True)

    def ask_through(self, send: SendSampling) -> Ask:
        """An `Ask` over *send*, for clients that support sampling. It raises `Refused` if there is no summary."""

        def ask(text: str) -> str:
            try:
                result = send(sampling.request(text), sampling.TIME_LIMIT_S)
            except (Exception, CancelledError) as problem:  # refused, timed out, or the client has left
                raise sampling.failure(problem) from None
            return sampling.answer(result)

        return ask

    def report(self, emit: Emit) -> None:
        """Emit how many tokens were offloaded, and how many the scratchpad's tools returned.

        Nothing is emitted if these tools have returned none.
        """
        budget = self._bench.budget
        if budget.tokens_extracted:
            counts = {"tokens_intercepted": budget.tokens_intercepted, "tokens_extracted": budget.tokens_extracted}
            emit(Event("ScratchpadUsage", "info", counts))

    def publish(self, response: OffloadResponse) -> OffloadResponse:
        """Make the file of a descriptor readable by the tools; returns the descriptor with guidance that names them.

        If no listed tool reads offloaded results, the descriptor is returned unchanged.
        """
        readers = [name for name, (_, family_tool) in self._by_name.items() if family_tool.reads_results]
        names = [name for name in readers if name not in self._hidden]
        if names or self._remembers_all:
            self._bench.files.remember(response.file_path, response)
        if not names:
            return response
        self._bench.budget.count_offloaded(response.summary.estimated_tokens)
        if f"/{MEMORY_EDITION.file_prefix}-" in response.file_path:
            return replace(response, guidance=guidance(response, "memories", names))
        advise = guidance if self._form == "full" else brief_guidance
        return replace(response, guidance=advise(response, "records", names))
