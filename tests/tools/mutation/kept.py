"""The outcomes of mutants in earlier runs, and the accepted survivors, each with its reason."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.tools.mutation.mutants import Key, Mutant
from tests.tools.mutation.trying import KILLED, Fate

ACCEPTED = Path(__file__).with_name("survivors.json")


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


def accepted(path: Path = ACCEPTED) -> dict[Key, str]:
    """The accepted survivors, with the reasons."""
    found: dict[Key, str] = {}
    for group in json.loads(path.read_text(encoding="utf-8")) if path.exists() else []:
        for module, place, before, after, nth in group["mutants"]:
            found[module, place, before, after, nth] = group["reason"]
    return found


def accept(reasons: Mapping[Key, str], path: Path = ACCEPTED) -> None:
    """Write the file of accepted survivors, in a fixed order."""
    groups: dict[str, list[Key]] = {}
    for key, reason in reasons.items():
        groups.setdefault(reason, []).append(key)
    text = [
        f' {{"reason": {json.dumps(reason, ensure_ascii=False)},\n  "mutants": [\n   {_lines(sorted(keys))}\n  ]}}'
        for reason, keys in sorted(groups.items())
    ]
    path.write_text("[\n" + ",\n".join(text) + "\n]\n", encoding="utf-8")


def _lines(keys: Iterable[Key]) -> str:
    return ",\n   ".join(json.dumps(key, ensure_ascii=False) for key in keys)
