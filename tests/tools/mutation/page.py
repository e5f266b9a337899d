"""docs/mutation.md: the number of killed mutants, what killed them, and the accepted survivors with the reasons."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.tools.mutation.alike import alike
from tests.tools.mutation.kept import Entry, Fates, accepted
from tests.tools.mutation.mutants import ROOT, Key, Mutant, mutants_of
from tests.tools.mutation.targets import AREAS, judged, modules, tested
from tests.tools.mutation.trying import ERROR, KILLED, SURVIVES, TEST, TIME, UNREACHED, UNTRIED, VERDICT, WORDS

PAGE = ROOT / "docs" / "mutation.md"
HEAD = Path(__file__).with_name("page.md").read_text(encoding="utf-8")
COLUMNS = (VERDICT, ERROR, WORDS, TEST)
ENDLESS = "it does not end: every run of the tests would, by the limit that each of them has"
WANTED = 0.9
"""The share of viable mutants that must be killed."""


def areas() -> dict[str, list[str]]:
    """The modules by area."""
    return {"the checks": judged(), **{title: modules(area) for title, area in AREAS.items()}}


def write(fates: Fates) -> int:
    """Write the page and print the mutants that are neither killed nor accepted; 1 if there are any, or if too few are
    killed."""
    reasons = accepted()
    found = {name: mutants_of(importlib.import_module(name)) for name in (*judged(), *tested())}
    rows: list[Sequence[str]] = []
    everything: Counter[str] = Counter()
    left: list[tuple[Mutant, Entry | None]] = []
    ruled: dict[Key, str] = {}
    for area, names in areas().items():
        counts: Counter[str] = Counter()
        for mutant in (m for n in names for m in found[n].viable):
            entry = fates.of(mutant)
            counts[entry.outcome if entry is not None else UNTRIED] += 1
            why = ENDLESS if entry is not None and entry.outcome == TIME else alike(mutant)
            if entry is not None and not entry.killed and mutant.key not in reasons and why is not None:
                ruled[mutant.key] = why
            elif (entry is None or not entry.killed) and mutant.key not in reasons:
                left.append((mutant, entry))
        everything += counts
        rows.append(row(area, counts))
    rows.append(row("**all**", everything))
    idle = sum(one.idle for one in found.values())
    titles = (
        "mutants of",
        "viable",
        "killed",
        "by a verdict",
        "by an error",
        "by the words",
        "by a test",
        "did not end",
    )
    table = _table((*titles, "not reached", "survive", "not tried"), rows)
    open_ = sum(entry is not None and entry.outcome != UNTRIED for _, entry in left)
    missing = f"{open_} more survive, and nobody has looked into them yet." if open_ else "There are no others."
    filled = {"table": "\n".join(table), "idle": str(idle), "reasons": _reasons({**reasons, **ruled}), "open": missing}
    text = HEAD
    for name, value in filled.items():
        text = text.replace(f"{{{name}}}", value)
    PAGE.write_text(text, encoding="utf-8")
    for mutant, entry in left:
        what = "not tried" if entry is None else f"{entry.outcome} {entry.by}".strip()
        print(f"{mutant.module}:{mutant.line} {mutant.place} [{what}]\n    - {mutant.before}\n    + {mutant.after}")
    tried = everything.total() - everything[UNTRIED]
    share = killed(everything) / max(1, tried)
    print(
        f"{killed(everything)} of {tried} that were tried die, {share:.1%}; {len(left)} are not tried or not accepted"
    )
    return int(bool(left) or share < WANTED)


def killed(counts: Mapping[str, int]) -> int:
    """Number of mutants that were killed, without those that did not end."""
    return sum(counts.get(outcome, 0) for outcome in KILLED)


def row(area: str, counts: Counter[str]) -> Sequence[str]:
    """A line of the table."""
    total = counts.total() - counts[UNTRIED]
    share = f"{killed(counts)} ({killed(counts) / total:.1%})" if total else "0"
    rest = (counts[o] for o in (*COLUMNS, TIME, UNREACHED, SURVIVES, UNTRIED))
    return area, str(counts.total()), share, *(str(n) for n in rest)


def _reasons(reasons: Mapping[tuple[str, str, str, str, int], str]) -> str:
    by_reason: dict[str, Counter[str]] = {}
    for (module, place, *_), reason in reasons.items():
        by_reason.setdefault(reason, Counter())[f"`{module.rpartition('.')[2]}.{place}`"] += 1
    rows = [
        (reason, str(places.total()), ", ".join(f"{p} {n}" if n > 1 else p for p, n in sorted(places.items())))
        for reason, places in sorted(by_reason.items(), key=lambda item: -item[1].total())
    ]
    return "\n".join(_table(("why it is accepted", "mutants", "where"), rows))


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (titles, ["---"] * len(titles), *rows)]
