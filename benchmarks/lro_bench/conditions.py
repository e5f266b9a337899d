"""Conditions: how a corpus reaches an agent, with which tools, and under which limits. All of it is data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

from lro_bench.tasks import FAMILIES

DATA = Path(__file__).parent / "data"
DESCRIPTOR_PARTS = ("summary", "line_schema", "jq_recipes", "guidance")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one task."""

    messages: int | None
    """Most messages of a conversation, counting those of both sides, the system prompt and tool results."""
    context_tokens: int
    """Most tokens of one request to a model, by o200k."""

    def __str__(self) -> str:
        """Words for it in reports."""
        messages = "any number of messages" if self.messages is None else f"{self.messages} messages"
        return f"{messages}, {self.context_tokens:,} tokens of context"


@dataclass(frozen=True, slots=True)
class Delivery:
    """The form in which the corpus reaches the agent; what the MCP server has to know."""

    kind: str
    """``descriptor``, ``pages``, ``pages_in_code`` or ``whole``."""
    tools: tuple[str, ...]
    outputs: tuple[tuple[str, int], ...]
    """Most characters of a tool's result, by tool."""
    keep: tuple[str, ...] = ()
    """Parts of the descriptor that are left in."""
    page_size: int = 0
    fields: tuple[str, ...] = ()
    """Fields of a record on a page; empty: all."""
    ceiling: str = "none"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition."""

    name: str
    source: str
    """``paper``, ``control`` or ``today``."""
    title: str
    delivery: Delivery
    system_prompt: str
    limits: Limits
    families: tuple[str, ...]

    @property
    def experiment(self) -> str:
        """The part of the name before the slash."""
        return self.name.partition("/")[0]


@cache
def conditions() -> Mapping[str, Condition]:
    """All conditions by name, in the order of the file."""
    data: Any = yaml.safe_load((DATA / "conditions.yaml").read_text(encoding="utf-8"))
    return {name: _condition(name, given, data) for name, given in data["conditions"].items()}


def _condition(name: str, given: Mapping[str, Any], data: Mapping[str, Any]) -> Condition:
    tools = tuple(given["tools"])
    delivery = Delivery(
        kind=given["delivery"],
        tools=tools,
        outputs=tuple((tool, most) for tool, most in data["outputs"].items() if tool in tools),
        keep=tuple(given.get("keep", ())),
        page_size=given.get("page_size", 0),
        fields=tuple(given.get("fields", ())),
        ceiling=given.get("ceiling", "none"),
    )
    return Condition(
        name=name,
        source=given["source"],
        title=given["title"],
        delivery=delivery,
        system_prompt=data["prompts"][given["prompt"]],
        limits=Limits(**data["limits"][given["limits"]]),
        families=tuple(
            family
            for family in FAMILIES
            if "all" in given["families"] or family.partition("/")[0] in cast("list[str]", given["families"])
        ),
    )


@cache
def pairs() -> tuple[tuple[str, str], ...]:
    """Names of conditions that are compared task by task: the first against the second."""
    data: Any = yaml.safe_load((DATA / "conditions.yaml").read_text(encoding="utf-8"))
    return tuple((first, second) for first, second in data["pairs"])
