"""Conditions: how a corpus reaches an agent, with which tools, and under which limits.

They are read from ``data/conditions.yaml``. The name of a condition begins with its experiment: E1 to E4 are the
experiments of the paper.
"""

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
    """Maximum number of messages of a conversation, from both sides, including the system prompt and tool results."""
    context_tokens: int
    """Maximum number of tokens of one request to a model, by o200k."""

    def __str__(self) -> str:
        """The limits in words, for reports."""
        messages = "any number of messages" if self.messages is None else f"{self.messages} messages"
        return f"{messages}, {self.context_tokens:,} tokens of context"


@dataclass(frozen=True, slots=True)
class Delivery:
    """The form in which the corpus reaches the agent: everything that the MCP server has to know."""

    kind: str
    """``descriptor``, ``pages``, ``pages_in_code`` or ``whole``."""
    tools: tuple[str, ...]
    outputs: tuple[tuple[str, int], ...]
    """Pairs of a tool and the maximum number of characters of its result."""
    keep: tuple[str, ...] = ()
    """Parts of the descriptor that are left in."""
    page_size: int = 0
    fields: tuple[str, ...] = ()
    """Fields that a record has on a page. Empty if it has all fields."""
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
        """Names by which a user may choose the condition: the whole name, and the parts before and after the slash."""
        return self.name, self.experiment, self.name.partition("/")[2]


@cache
def conditions() -> Mapping[str, Condition]:
    """All conditions by name, in the order of the file."""
    data: Any = yaml.safe_load((DATA / "conditions.yaml").read_text(encoding="utf-8"))
    return {name: _condition(name, members, data) for name, members in data["conditions"].items()}


def _condition(name: str, members: Mapping[str, Any], data: Mapping[str, Any]) -> Condition:
    tools = tuple(members["tools"])
    delivery = Delivery(
        kind=members["delivery"],
        tools=tools,
        outputs=tuple((tool, max_characters) for tool, max_characters in data["outputs"].items() if tool in tools),
        keep=tuple(members.get("keep", ())),
        page_size=members.get("page_size", 0),
        fields=tuple(members.get("fields", ())),
        ceiling=members.get("ceiling", "none"),
    )
    return Condition(
        name=name,
        source=members["source"],
        title=members["title"],
        delivery=delivery,
        system_prompt=data["prompts"][members["prompt"]],
        limits=Limits(**data["limits"][members["limits"]]),
        families=tuple(
            family
            for family in FAMILIES
            if "all" in members["families"] or family.partition("/")[0] in cast("list[str]", members["families"])
        ),
    )


def chosen_conditions(names: Sequence[str]) -> tuple[str, ...]:
    """The conditions that are selected by a user's *names*, in the order of the names. Without names, all conditions.

    Raises `UsageError` for a name that no condition has.
    """
    selected: list[str] = []
    for wanted in names:
        matches = [
            condition.name
            for condition in conditions().values()
            if wanted.casefold() in map(str.casefold, condition.names)
        ]
        if not matches:
            full_names = {name.casefold(): name for condition in conditions().values() for name in condition.names}
            similar = ", ".join(
                full_names[name] for name in get_close_matches(wanted.casefold(), full_names, n=3, cutoff=0.5)
            )
            hint = f"near are {similar}; " if similar else ""
            raise UsageError(f"--condition {wanted}: there is no such condition; {hint}lro bench run --list shows all")
        selected += matches
    return tuple(dict.fromkeys(selected)) or tuple(conditions())


def condition_lines() -> Iterator[str]:
    """The conditions for a terminal: name, title, families of tasks, and limits."""
    widths = [max(len(text) for text in column) for column in zip(*map(_columns, conditions().values()), strict=True)]
    for condition in conditions().values():
        yield "  ".join(text.ljust(width) for text, width in zip(_columns(condition), widths, strict=True)).rstrip()


def _columns(condition: Condition) -> tuple[str, ...]:
    family_kinds = dict.fromkeys(family.partition("/")[0] for family in condition.families)
    families = "all families" if condition.families == tuple(FAMILIES) else ", ".join(family_kinds)
    return condition.name, condition.title, families, str(condition.limits)


@cache
def pairs() -> tuple[tuple[str, str], ...]:
    """Pairs of conditions, by name, that are compared task by task: the first against the second."""
    data: Any = yaml.safe_load((DATA / "conditions.yaml").read_text(encoding="utf-8"))
    return tuple((first, second) for first, second in data["pairs"])
