"""What a tool of any family is given to work with, and how it is listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lro_reference.extraction.budget import Budget
from lro_reference.extraction.context_files import ContextFiles
from lro_reference.extraction.files import OffloadedFiles
from lro_reference.extraction.limits import Limits
from lro_reference.extraction.sampling import Ask
from lro_reference.extraction.sandbox import Sandbox
from lro_reference.tooling import Tool
from lro_spec.messages import OffloadResponse


@dataclass(frozen=True, slots=True)
class Workbench:
    """One server's files and bounds, the same for every family."""

    files: OffloadedFiles[OffloadResponse]
    context: ContextFiles
    """Messages that were moved out of conversations."""
    limits: Limits
    sandbox: Sandbox
    budget: Budget = field(default_factory=Budget)
    """What the answers of the scratchpad's tools may cost."""
    ask: Ask | None = None
    """The language model of the client that calls, where it lends one."""


Handler = Callable[[Workbench, Mapping[str, Any]], str]
"""A call: checked arguments in, text out. Raises `Refused`."""


@dataclass(frozen=True, slots=True)
class FamilyTool:
    """A tool and what it does."""

    tool: Tool
    handler: Handler
    prefixed: bool = True
    """Whether its name is common enough to collide with another server's."""
    reads_results: bool = True
    """Whether it reads offloaded results, so that their descriptors name it."""


def schema(required: tuple[str, ...], **properties: Mapping[str, Any]) -> dict[str, Any]:
    """An input schema: an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
