"""Arithmetic of savings: a result counts for no more than the client would have shown, and every cost is subtracted.

A saving is negative where a descriptor, with all that was read back, costs more than the client would have shown.
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
    """The tool; for what was read from a file, the tool whose result the file holds, or ``(files)`` if that tool is not
    known. Empty for a list of tools."""
    client: str = ""
    """The name of the client."""
    at: str = ""
    """Time as ISO 8601."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Above *limit* characters, a client shortens a result by itself, and shows *shown* characters of it."""

    limit: float
    shown: float

    def tokens(self, tokens: int) -> int:
        """The tokens that the client would have shown of a result of *tokens* tokens."""
        return tokens if tokens * CHARACTERS_PER_TOKEN <= self.limit else round(self.shown / CHARACTERS_PER_TOKEN)


NO_CEILING = Ceiling(float("inf"), float("inf"))
CEILINGS: Mapping[str, Ceiling] = {
    "none": NO_CEILING,
    "claude-code": Ceiling(50_000, 2_000),  # the rest goes to a file
    "codex": Ceiling(10_240, 10_240),  # the middle is left out
}
"""Ceilings by the beginning of the client's name, from the rules that the clients publish. ``none`` is no client: it is
here because the names are also the values of ``lro gain --ceiling``."""


@cache
def ceiling_of(client: str) -> Ceiling:
    """The ceiling of a client, by the name that it has given itself."""
    name = client.lower()
    return next((ceiling for known, ceiling in CEILINGS.items() if name.startswith(known)), NO_CEILING)


@dataclass(slots=True)
class Account:
    """Sums of events: *calls* and *offloaded* count results, everything else is tokens. *saved* may be negative."""

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
    """Growth of `tools/list`."""

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
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"saved": self.saved}


@dataclass(slots=True)
class Accounts:
    """The account of each tool, and of all together."""

    ceiling: Ceiling | None = None
    """Ceiling for every client; None: each client has its own, by its name."""
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
    """The event in a JSON value; None if the value is not an event, or has a member of a wrong type."""
    members = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if members.get("kind") not in ("call", "read", "list"):
        return None
    known = {one.name: members[one.name] for one in fields(Entry) if one.name in members}
    types = {"tokens": int, "sent": int, "offloaded": bool}
    if any(type(part) is not types.get(name, str) for name, part in known.items()):
        return None
    return Entry(**known)
