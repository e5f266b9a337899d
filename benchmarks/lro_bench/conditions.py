"""Conditions: how a corpus reaches an agent, with which tools, and under which limits. All of it is data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

from lro_bench.tasks import FAMILIES
from lro_conformance.errors import UsageError

DATA = Path(__file__).parent / "data"
DESCRIPTOR_PARTS = ("summary", "line_schema", "jq_recipes", "guidance")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one task."""

    messages: int | None
    """Maximum number of messages of a conversation: of both sides, with the system prompt and tool results."""
    context_tokens: int
    """Maximum number of tokens of one request to a model, by o200k."""

    def __str__(self) -> str:
        """Words for it in reports."""
        messages = "any number of messages" if self.messages is None else f"{self.messages} messages"
        return f"{messages}, {self.context_tokens:,} tokens of context"


@dataclass(frozen=True, slots=True)
class Delivery:
    """The form in which the corpus reaches the agent: everything that the MCP server has to know."""

    kind: str
    """``descriptor``, ``pages``, ``pages_in_code`` or ``whole``."""
    tools: tuple[str, ...]
    outputs: tuple[tuple[str, int], ...]
    """Maximum number of characters of a tool's result, by tool."""
    keep: tuple[str, ...] = ()
    """Parts of the descriptor that are left in."""
    page_size: int = 0
    fields: tuple[str, ...] = ()
    """Fields of a record on a page; empty for all fields."""
    ceiling: str = "none"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition under which agents work: how they get the corpus, their tools, limits and tasks."""

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

    @property
    def names(self) -> tuple[str, str, str]:
        """Names by which a user may choose it: its own, its experiment's, and the part after the slash."""
        return self.name, self.experiment, self.name.partition("/")[2]


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


def chosen_conditions(names: Sequence[str]) -> tuple[str, ...]:
    """The conditions that a user's *names* select, in their order; all if there are no names. Raises `UsageError`."""
    chosen: list[str] = []
    for given in names:
        found = [one.name for one in conditions().values() if given.casefold() in map(str.casefold, one.names)]
        if not found:
            known = {name.casefold(): name for one in conditions().values() for name in one.names}
            near = ", ".join(known[name] for name in get_close_matches(given.casefold(), known, n=3, cutoff=0.5))
            hint = f"near are {near}; " if near else ""
            raise UsageError(f"--condition {given}: there is no such condition; {hint}lro bench run --list shows all")
        chosen += found
    return tuple(dict.fromkeys(chosen)) or tuple(conditions())


def condition_lines() -> Iterator[str]:
    """The conditions for a terminal: name, title, families of tasks, and limits."""
    widths = [max(len(text) for text in column) for column in zip(*map(_columns, conditions().values()), strict=True)]
    for condition in conditions().values():
        yield "  ".join(text.ljust(width) for text, width in zip(_columns(condition), widths, strict=True)).rstrip()


def _columns(condition: Condition) -> tuple[str, ...]:
    kinds = dict.fromkeys(family.partition("/")[0] for family in condition.families)
    shown = "all families" if condition.families == tuple(FAMILIES) else ", ".join(kinds)
    return condition.name, condition.title, shown, str(condition.limits)


@cache
def pairs() -> tuple[tuple[str, str], ...]:
    """Names of conditions that are compared task by task: the first against the second."""
    data: Any = yaml.safe_load((DATA / "conditions.yaml").read_text(encoding="utf-8"))
    return tuple((first, second) for first, second in data["pairs"])
