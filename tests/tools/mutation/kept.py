"""The outcomes of mutants in earlier runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.tools.mutation.mutants import Key, Mutant
from tests.tools.mutation.trying import KILLED, Fate


@dataclass(frozen=True, slots=True)
class Entry:
    """The outcome of one mutant."""

    digest: str
    """Digest of its code, so that a changed statement is tried again."""
    outcome: str
    by: str
    trials: int

    @property
    def killed(self) -> bool:
        return self.outcome in KILLED


def digest(mutant: Mutant) -> str:
    """A digest that distinguishes a mutant from mutants of other versions of the statement."""
    return sha256(mutant.code.encode()).hexdigest()[:16]


class Fates:
    """The file of outcomes; the last line of a mutant counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries: dict[Key, Entry] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            told: dict[str, Any] = json.loads(line)
            module, place, before, after, nth = told.pop("key")
            self.entries[module, place, before, after, nth] = Entry(**told)

    def of(self, mutant: Mutant) -> Entry | None:
        """The outcome of this mutant, if it was tried."""
        entry = self.entries.get(mutant.key)
        return entry if entry is not None and entry.digest == digest(mutant) else None

    def add(self, fate: Fate) -> None:
        """Save an outcome."""
        entry = Entry(digest(fate.mutant), fate.outcome, fate.by, fate.trials)
        self.entries[fate.mutant.key] = entry
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            told = {name: getattr(entry, name) for name in Entry.__slots__}
            file.write(json.dumps({"key": fate.mutant.key, **told}, ensure_ascii=False) + "\n")
