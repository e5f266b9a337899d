"""Arithmetic of savings: a result counts for no more than the client would have shown, and every cost is subtracted.

The costs of an offloaded result are its descriptor and everything that is later read back from its file. If they exceed
what the client would have shown of the result, the saving is negative.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, cast

from lro_spec.tokens import CHARACTERS_PER_TOKEN

Kind = Literal["call", "read", "list"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One event: a result, an answer from an offloaded file, or a list of tools."""

    kind: Kind
    tokens: int = 0
    """Estimated tokens of the result as the server sent it; 0 for other events."""
    sent: int = 0
    """Tokens that the client received; for a list of tools, only those that the proxy added."""
    offloaded: bool = False
    tool: str = ""
    """The tool that was called; empty for a list of tools.

    If an offloaded file was read, it is the tool whose result the file holds, or ``(files)`` if that tool is unknown.
    """
    client: str = ""
    """The name of the client."""
    at: str = ""
    """Time as ISO 8601."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A client's own limit: results above *max_characters* are shortened, and *shown_characters* of them are shown."""

    max_characters: float
    shown_characters: float

    def tokens(self, tokens: int) -> int:
        """The tokens that the client would have shown of a result of *tokens* tokens."""
        return (
            tokens
            if tokens * CHARACTERS_PER_TOKEN <= self.max_characters
            else round(self.shown_characters / CHARACTERS_PER_TOKEN)
        )


NO_CEILING = Ceiling(float("inf"), float("inf"))
CEILINGS: Mapping[str, Ceiling] = {
    "none": NO_CEILING,
    "claude-code": Ceiling(50_000, 2_000),  # the rest goes to a file
    "codex": Ceiling(10_240, 10_240),  # the middle is left out
}
"""Ceilings by the beginning of the client's name, from the rules that the clients publish. ``none`` is not a
client, but is included because the names are also the values of ``lro gain --ceiling``."""


@cache
def ceiling_of(client: str) -> Ceiling:
    """The ceiling of a client, by the name that it has given itself."""
    name = client.lower()
    return next((ceiling for prefix, ceiling in CEILINGS.items() if name.startswith(prefix)), NO_CEILING)


@dataclass(slots=True)
class Account:
    """Sums over events. *calls* and *offloaded* count results, the others count tokens; *saved* may be negative."""

    calls: int = 0
    offloaded: int = 0
    inline: int = 0
    """Tokens of results that stayed inline."""
    raw: int = 0
    """Tokens of offloaded results, as the server sent them."""
    shown: int = 0
    """Tokens of offloaded results, as the client would have shown them."""
    descriptors: int = 0
    read_back: int = 0
    listed: int = 0
    """Tokens by which the proxy has enlarged the answers to `tools/list`."""

    @property
    def saved(self) -> int:
        """The tokens that the client would have shown, minus all that it got instead."""
        return self.shown - self.descriptors - self.read_back - self.listed

    def add(self, entry: Entry, ceiling: Ceiling) -> None:
        """Add an event."""
        if entry.kind == "list":
            self.listed += entry.sent
        elif entry.kind == "read":
            self.read_back += entry.sent
        elif entry.offloaded:
            self.calls += 1
            self.offloaded += 1
            self.raw += entry.tokens
            self.shown += ceiling.tokens(entry.tokens)
            self.descriptors += entry.sent
        else:
            self.calls += 1
            self.inline += entry.sent

    def to_dict(self) -> dict[str, int]:
        """The sums as JSON."""
        return {sum_field.name: getattr(self, sum_field.name) for sum_field in fields(self)} | {"saved": self.saved}


@dataclass(slots=True)
class Accounts:
    """The account of each tool, and the account of all tools together."""

    ceiling: Ceiling | None = None
    """Ceiling for every client. If it is None, each client has its own ceiling, which depends on its name."""
    tools: dict[str, Account] = field(default_factory=dict[str, Account])
    total: Account = field(default_factory=Account)

    def add(self, entry: Entry) -> None:
        """Add an event to its tool and to the total."""
        ceiling = ceiling_of(entry.client) if self.ceiling is None else self.ceiling
        self.total.add(entry, ceiling)
        if entry.kind != "list":
            self.tools.setdefault(entry.tool, Account()).add(entry, ceiling)

    def add_all(self, entries: Iterable[Entry]) -> Accounts:
        """Add all events; returns itself."""
        for entry in entries:
            self.add(entry)
        return self


def entry_of(value: Any) -> Entry | None:
    """The event in a JSON value, or None if the value is not an event or has a member of a wrong type."""
    members = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if members.get("kind") not in ("call", "read", "list"):
        return None
    event = {member.name: members[member.name] for member in fields(Entry) if member.name in members}
    types = {"tokens": int, "sent": int, "offloaded": bool}
    if any(type(part) is not types.get(name, str) for name, part in event.items()):
        return None
    return Entry(**event)
