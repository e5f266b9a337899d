"""Interface of the tools of all families: their definition, and the workbench for their calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lro_proxy.tools.access import OffloadedFiles
from lro_proxy.tools.budget import Budget
from lro_proxy.tools.context_store import ContextFiles
from lro_proxy.tools.limits import Limits
from lro_proxy.tools.queries import QueryRunner
from lro_reference.tool import Ask, Tool
from lro_spec.messages import OffloadResponse


@dataclass(frozen=True, slots=True)
class Workbench:
    """Files and limits of one server, shared by all families."""

    files: OffloadedFiles[OffloadResponse]
    context: ContextFiles
    """Messages that were moved out of conversations."""
    limits: Limits
    queries: QueryRunner
    budget: Budget = field(default_factory=Budget)
    """Token budget of the scratchpad's tools."""
    ask: Ask | None = None
    """The client's language model, if it supports sampling."""


Handler = Callable[[Workbench, Mapping[str, Any]], str]
"""Returns the text that answers a call. The arguments have been checked before. Raises `Refused`."""


@dataclass(frozen=True, slots=True)
class FamilyTool:
    """A tool and its handler."""

    tool: Tool
    handler: Handler
    gets_prefix: bool = True
    """True if the name gets the prefix of ``--tool-prefix``, because a server may have a tool of the same name."""
    reads_results: bool = True
    """True if the tool reads offloaded results. In that case, the descriptors of the results name the tool."""


def schema(required: tuple[str, ...], **properties: Mapping[str, Any]) -> dict[str, Any]:
    """The input schema of a tool: an object with these properties only."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
