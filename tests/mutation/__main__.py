"""``python -m tests.mutation {record,run,page}``: see docs/mutation.md."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.faults.catalogue import faults
from tests.mutation import page
from tests.mutation.judging import CHECKS, Judging
from tests.mutation.kept import Fates
from tests.mutation.mutants import ROOT, Mutant, mutants_of
from tests.mutation.recordings import load, record_all
from tests.mutation.targets import CHECK_TESTS, OTHERS, judged, servers, tested
from tests.mutation.trying import UNREACHED, Yardstick, baseline, try_all
from tests.mutation.units import with_units
from tests.sound.catalogue import sounds

KEEP = ROOT / "build" / "mutation"


def main() -> int:
    """Record evidence, try mutants, or write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description="Mutation testing of our own code.")
    parser.add_argument("what", choices=("record", "run", "page"))
    parser.add_argument("modules", nargs="*", help="for run: these modules only")
    parser.add_argument("--keep", type=Path, default=KEEP, help="the folder of recordings and results (build/mutation)")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin nothing after so long; the next run goes on")
    parser.add_argument("--again", action="store_true", help="try once more what was not killed")
    parser.add_argument(
        "--sound", type=int, default=OTHERS, help=f"sound servers that a check is tried with ({OTHERS})"
    )
    parser.add_argument("--sample", type=int, help="about so many mutants, spread over the modules")
    parser.add_argument("--patience", type=float, default=8.0, help="seconds after which a mutant is a survivor (8)")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    if given.what == "record":
        lacking = record_all([*faults(), *sounds()], given.keep / "recordings", until, print, given.workers)
        print(f"{len(lacking)} are still to be recorded" if lacking else "all are recorded")
        return 0
    fates = Fates(given.keep / "fates.jsonl")
    if given.what == "page":
        return page.write(fates)
    modules = given.modules or [*judged(), *tested()]
    few = _sample(modules, given.sample) if given.sample is not None else {}
    for name in modules:
        if time.monotonic() < until:
            viable = few[name] if few else mutants_of(importlib.import_module(name)).viable
            _run(name, viable, fates, given, until)
    return 0


def _sample(modules: Sequence[str], size: int) -> dict[str, list[Mutant]]:
    """About so many mutants, spread over all that these modules have."""
    every = [(name, m) for name in modules for m in mutants_of(importlib.import_module(name)).viable]
    few = every[:: max(1, len(every) // size)][:size]
    return {name: [m for n, m in few if n == name] for name in modules}


def _run(name: str, viable: Sequence[Mutant], fates: Fates, given: argparse.Namespace, until: float) -> None:
    """Try those mutants of one module that were not tried yet: on recordings where it judges, and with unit tests."""
    module = importlib.import_module(name)
    left = [m for m in viable if (e := fates.of(m)) is None or (given.again and not e.killed)]

    def use(yardstick: Yardstick) -> None:
        trials = len(yardstick.trials())
        _tell(f"{name}: {len(left)} of {len(viable)} mutants, {trials} trials")
        # Calls and files remember what was made of them, and no check can change that: so once is enough.
        found = baseline(yardstick, module, here=isinstance(yardstick, Judging) and name.startswith(CHECKS))
        outcomes: Counter[str] = Counter()
        for fate in try_all(left, yardstick, found, until=until, patience_s=given.patience, workers=given.workers):
            known = fates.of(fate.mutant)
            if fate.outcome != UNREACHED or known is None:  # what recordings reach, but no unit test, is reached
                fates.add(fate)
            outcomes[fate.outcome] += 1
        _tell(f"{name}: {dict(outcomes)}")

    if left and name in judged():
        mine = name if name.startswith(CHECKS) else None
        use(Judging(load(servers(name, given.sound), given.keep / "recordings"), mine))
        left = [m for m in left if (e := fates.of(m)) is not None and not e.killed]
    if left and time.monotonic() < until:
        with_units(tested().get(name, CHECK_TESTS), use)


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
