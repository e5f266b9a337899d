"""docs/mutation.md: the number of killed mutants, and what killed them."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.tools.mutation.kept import Fates
from tests.tools.mutation.mutants import ROOT, mutants_of
from tests.tools.mutation.targets import AREAS, judged, modules, tested
from tests.tools.mutation.trying import ERROR, KILLED, SURVIVES, TEST, TIME, UNREACHED, UNTRIED, VERDICT, WORDS

PAGE = ROOT / "docs" / "mutation.md"
HEAD = Path(__file__).with_name("page.md").read_text(encoding="utf-8")
COLUMNS = (VERDICT, ERROR, WORDS, TEST)
TITLES = (
    "mutants of",
    "viable",
    "killed",
    "by a verdict",
    "by an error",
    "by the words",
    "by a test",
    "did not end",
    "not reached",
    "survived",
    "not tried",
)
WANTED = 0.95
"""Share of the mutants tried that must be killed."""


def areas() -> dict[str, list[str]]:
    """The modules by area."""
    return {"the checks": judged(), **{title: modules(area) for title, area in AREAS.items()}}


def write(fates: Fates) -> int:
    """Write the page and print the mutants that nothing has killed; 1 if too few are killed."""
    found = {name: mutants_of(importlib.import_module(name)) for name in (*judged(), *tested())}
    rows: list[Sequence[str]] = []
    everything: Counter[str] = Counter()
    for area, names in areas().items():
        counts: Counter[str] = Counter()
        for mutant in (m for n in names for m in found[n].viable):
            entry = fates.of(mutant)
            outcome = UNTRIED if entry is None else entry.outcome
            counts[outcome] += 1
            if entry is not None and not entry.killed:
                what = f"{outcome} {entry.by}".strip()
                print(f"{mutant.module}:{mutant.line} {mutant.place} [{what}]")
                print(f"    - {mutant.before}\n    + {mutant.after}")
        everything += counts
        rows.append(row(area, counts))
    rows.append(row("**all**", everything))
    idle = sum(one.idle for one in found.values())
    PAGE.write_text(HEAD.replace("{table}", _table(rows)).replace("{idle}", str(idle)), encoding="utf-8")
    tried = everything.total() - everything[UNTRIED]
    share = killed(everything) / max(1, tried)
    print(f"{killed(everything)} of the {tried} mutants that were tried were killed, {share:.1%}")
    return int(share < WANTED)


def killed(counts: Mapping[str, int]) -> int:
    """Number of mutants that were killed, without those that did not end."""
    return sum(counts.get(outcome, 0) for outcome in KILLED)


def row(area: str, counts: Counter[str]) -> Sequence[str]:
    """A line of the table."""
    total = counts.total() - counts[UNTRIED]
    share = f"{killed(counts)} ({killed(counts) / total:.1%})" if total else "0"
    rest = (counts[o] for o in (*COLUMNS, TIME, UNREACHED, SURVIVES, UNTRIED))
    return area, str(counts.total()), share, *(str(n) for n in rest)


def _table(rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (TITLES, ["---"] * len(TITLES), *rows))
