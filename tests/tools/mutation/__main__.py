"""``python -m tests.tools.mutation {record,run,page}``: see docs/mutation.md."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.servers.faults.catalogue import faults
from tests.servers.sound.catalogue import sounds
from tests.support.certifying import explored_servers
from tests.tools.mutation import page
from tests.tools.mutation.judging import Judging, JudgingServers
from tests.tools.mutation.kept import Fates
from tests.tools.mutation.mutants import ROOT, Mutant, mutants_of
from tests.tools.mutation.recordings import load, record_all
from tests.tools.mutation.targets import CHECK_TESTS, OTHERS, SLOW, judged, of_the_model, servers, sound_servers, tested
from tests.tools.mutation.trying import UNREACHED, Yardstick, baseline, try_all
from tests.tools.mutation.units import with_units

KEEP = ROOT / "build" / "mutation"


def main() -> int:
    """Record evidence, try mutants, or write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.mutation", description="Mutation testing of our own code."
    )
    parser.add_argument("what", choices=("record", "run", "page"))
    parser.add_argument("modules", nargs="*", help="for run: these modules only")
    parser.add_argument("--keep", type=Path, default=KEEP, help="the folder of recordings and results (build/mutation)")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin nothing after so long; the next run goes on")
    parser.add_argument("--again", action="store_true", help="try once more what was not killed")
    parser.add_argument(
        "--sound", type=int, default=OTHERS, help=f"sound servers that a check is tried with ({OTHERS})"
    )
    parser.add_argument("--quick", action="store_true", help="without the unit tests that take longer")
    parser.add_argument("--units", action="store_true", help="with unit tests only, without recordings")
    parser.add_argument("--sample", type=int, help="about so many mutants, spread over the modules")
    parser.add_argument("--patience", type=float, default=8.0, help="seconds after which a mutant is a survivor (8)")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_intermixed_args()
    until = time.monotonic() + 60 * given.minutes
    if given.what == "record":
        lacking = record_all([*faults(), *sounds()], given.keep / "recordings", until, print, given.workers)
        print(f"{len(lacking)} are still to be recorded" if lacking else "all are recorded")
        return 0
    fates = Fates(given.keep / "fates.jsonl")
    if given.what == "page":
        return page.write(fates)
    names = given.modules or [*judged(), *tested()]
    few = _sample(names, given.sample) if given.sample is not None else None
    viable = few or {name: mutants_of(importlib.import_module(name)).viable for name in names}
    run = _Run(viable, fates, until, given)

    def units(*, quick: bool, first: bool = False) -> None:
        files = {f for n in names if run.left[n] for f in tested().get(n, CHECK_TESTS) if quick is (f not in SLOW)}
        if files and time.monotonic() < until:
            with_units(sorted(files), lambda units: run.use(units, names, look=tested(), first=first))

    if given.again:  # what recordings did not notice, a new test may
        units(quick=True, first=True)
    of_model = [name for name in names if name in of_the_model() and not given.units]
    if any(run.left[name] for name in of_model):
        recorded = dict.fromkeys([*faults(), *sound_servers(given.sound), *explored_servers()])
        run.use(JudgingServers(load([*recorded], given.keep / "recordings")), of_model)
    for name in (n for n in names if n in judged() and run.left[n] and not given.units):
        # Calls and files remember what was made of them, and no check can change that: so once is enough.
        judging = Judging(load(servers(name, given.sound), given.keep / "recordings"), name)
        run.use(judging, [name], here=True)
    if not given.again:
        units(quick=True)
    if not given.quick:
        units(quick=False)
    return 0


def _sample(modules: Sequence[str], size: int) -> dict[str, list[Mutant]]:
    """Approximately this number of mutants, spread over all mutants of these modules."""
    every = [(name, m) for name in modules for m in mutants_of(importlib.import_module(name)).viable]
    few = every[:: max(1, len(every) // size)][:size]
    return {name: [m for n, m in few if n == name] for name in modules}


class _Run:
    """Tries the remaining mutants, with one kind of trial after the other."""

    def __init__(
        self, viable: Mapping[str, Sequence[Mutant]], fates: Fates, until: float, given: argparse.Namespace
    ) -> None:
        self._fates, self._until, self._given = fates, until, given
        self.left = {
            name: [m for m in mutants if (e := fates.of(m)) is None or (given.again and not e.killed)]
            for name, mutants in viable.items()
        }
        """The mutants of each module that nothing has killed yet."""

    def use(
        self,
        yardstick: Yardstick,
        names: Sequence[str],
        *,
        here: bool = False,
        look: Iterable[str] = (),
        first: bool = False,
    ) -> None:
        """Try the remaining mutants of these modules.

        *look*: further modules whose execution matters. *first*: recordings follow, so that only killed mutants are
        saved.
        """
        names = [name for name in names if self.left[name]]
        modules = [importlib.import_module(name) for name in dict.fromkeys([*names, *look])]
        known = baseline(yardstick, *modules, here=here)
        _tell(f"{len(known)} trials for {', '.join(names)}")
        for name in names:
            mutants, given, begun = self.left[name], self._given, time.monotonic()
            outcomes: Counter[str] = Counter()
            for fate in try_all(
                mutants, yardstick, known, until=self._until, patience_s=given.patience, workers=given.workers
            ):
                before = self._fates.of(fate.mutant)
                known_better = before is not None and fate.outcome == UNREACHED  # recordings reach it, if no unit test
                if fate.killed or not (known_better or (first and name in judged())):
                    self._fates.add(fate)
                outcomes[fate.outcome] += 1
            self.left[name] = [m for m in mutants if (e := self._fates.of(m)) is None or not e.killed]
            _tell(f"{name}: {outcomes.total()} in {time.monotonic() - begun:.0f} s: {dict(outcomes)}")


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
