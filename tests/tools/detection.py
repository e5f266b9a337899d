"""Measures detection: ``python tests/tools/detection.py [--sample N] [--keep FILE] [--explore]``.

Certifies every fault and every sound server in full, prints the totals, and writes docs/detection.md. The full product
takes half an hour on two cores. With ``--keep`` outcomes are appended to a file, and what stands there already is not
done again; ``--sample`` takes about N servers from all chapters and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
for folder in (ROOT / "reference_impl", ROOT / "conformance", ROOT):
    sys.path.insert(0, str(folder))

from lro_conformance.judging.check import checks  # noqa: E402
from tests.servers.faults.catalogue import Fault, faults  # noqa: E402
from tests.servers.sound.catalogue import Sound, sounds  # noqa: E402
from tests.support.certifying import Job, Outcome, explored_servers, side_by_side, spread  # noqa: E402

PAGE = ROOT / "docs" / "detection.md"

HEAD = """\
# What the suite detects

Every check has servers that it must blame and others that it must not. This page shows the result of certifying all of
them in full: the broken servers of `tests/servers/faults`, each wrong in one respect, and the sound servers of
`tests/servers/sound`, each conformant in an unusual way. `python tests/tools/detection.py` makes the page again.

A fault is *caught* if the requirement that it violates fails, or warns if it is a SHOULD. It is *blamed exactly* if
no other requirement does, except requirements that the fault necessarily violates, too. The *level* is right if the
highest level that is proved is the highest one that the fault does not affect.

A table that is perfect on its own cases proves little. [Another page](fresh-faults.md) shows how the suite judges
faults that it has never met.

Some checks belong to another edition only, or look at messages of MCP's protocols other than results. Their servers are
in `tests/servers/editions`. Three checks of the second kind are counted below, although no server here violates them.
"""


def caught(fault: Fault, outcome: Outcome) -> bool:
    """True if the broken requirement fails, with the expected words."""
    said = "\n".join(outcome.blamed.get(fault.requirement, ()))
    return fault.says.lower() in said.lower() if said else False


def beside(fault: Fault, outcome: Outcome) -> list[str]:
    """Requirements that fail in addition to the broken one and those that it necessarily affects."""
    return [id for id in outcome.blamed if id not in (fault.requirement, *fault.also)]


def accused(sound: Sound, outcome: Outcome) -> list[str]:
    """Requirements that a sound server fails wrongly."""
    forgiven = {id for id in sound.warns if outcome.verdicts[id] == "warn"}
    return [id for id in outcome.blamed if id not in forgiven | set(sound.lacks)]


def totals(outcomes: Mapping[str, Outcome]) -> dict[str, str]:
    """The figures: name, number, and total."""
    broken = [(f, outcomes[n]) for n, f in faults().items() if n in outcomes]
    sound = [(s, outcomes[n]) for n, s in sounds().items() if n in outcomes]
    failed = {name for _, o in broken for name, verdict in o.checks.items() if verdict in ("fail", "warn")}
    passed = {name for _, o in sound for name, verdict in o.checks.items() if verdict == "pass"}
    ran = {name for o in outcomes.values() for name in o.checks}
    counts = {
        "faults caught": (sum(caught(f, o) for f, o in broken), len(broken)),
        "faults blamed exactly": (sum(caught(f, o) and not beside(f, o) for f, o in broken), len(broken)),
        "faults with the right level": (sum(o.achieved == f.proves for f, o in broken), len(broken)),
        "sound servers accused": (sum(bool(accused(s, o)) for s, o in sound), len(sound)),
        "sound servers with the right level": (sum(o.achieved == s.proves for s, o in sound), len(sound)),
        "runs without a verdict, or with an error": (sum(map(broke, outcomes.values())), len(outcomes)),
        "checks that some fault fails": (len(failed), len(ran)),
        "checks that some sound server passes": (len(passed), len(ran)),
    }
    return {what: f"{n} of {all}" for what, (n, all) in counts.items()}


def broke(outcome: Outcome) -> bool:
    """True if the suite itself failed."""
    return outcome.failure is not None or "error" in outcome.verdicts.values()


def surprises(outcomes: Mapping[str, Outcome]) -> Iterable[str]:
    """A line for each server that the suite does not judge exactly right."""
    for name, outcome in outcomes.items():
        variant = faults().get(name) or sounds()[name]
        found: list[str] = []
        if isinstance(variant, Fault):
            if variant.requirement not in outcome.blamed:
                found.append(f"missed {variant.requirement}")
            elif not caught(variant, outcome):
                said = " / ".join(outcome.blamed[variant.requirement])
                found.append(f"{variant.requirement} without the words {variant.says!r}: {said[:300]}")
            wrong = beside(variant, outcome)
        else:
            wrong = accused(variant, outcome)
        found += [f"{id}: {' / '.join(outcome.messages[id])[:300]}" for id in wrong]
        if outcome.achieved != variant.proves:
            found.append(f"level {outcome.achieved} in place of {variant.proves}")
        if outcome.failure is not None:
            found.append(outcome.failure)
        if found:
            yield f"{name}: " + "\n    ".join(found)


def page(outcomes: Mapping[str, Outcome]) -> str:
    """The content of docs/detection.md."""
    lines = [HEAD, *_table(("", ""), totals(outcomes).items()), "", "## Faults", ""]
    rows: list[Sequence[str]] = []
    for name, fault in faults().items():
        outcome = outcomes[name]
        wrong = beside(fault, outcome)
        rows.append(
            (
                f"`{name}`",
                fault.about.replace("\n", " "),
                fault.requirement,
                ", ".join(outcome.blamed) or "nothing",
                "missed" if not caught(fault, outcome) else f"also {', '.join(wrong)}" if wrong else "yes",
                str(outcome.achieved),
            )
        )
    lines += _table(("fault", "what it does", "breaks", "blamed", "exactly?", "level"), rows)
    lines += ["", "## Sound servers", ""]
    rows = []
    for name, sound in sounds().items():
        wrong = accused(sound, outcomes[name])
        verdict = f"accused: {', '.join(wrong)}" if wrong else "nothing"
        rows.append((f"`{name}`", sound.why, verdict, str(outcomes[name].achieved)))
    lines += _table(("server", "why a hasty suite would blame it", "blamed", "level"), rows)
    return "\n".join(lines) + "\n"


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [titles, ["---"] * len(titles), *([c.replace("|", "\\|") for c in row] for row in rows)]
    return [f"| {' | '.join(row)} |" for row in cells]


def kept(path: Path | None) -> dict[str, Outcome]:
    """The outcomes of earlier runs."""
    if path is None or not path.exists():
        return {}
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {entry["server"]: _outcome(entry["outcome"]) for entry in entries}


def _outcome(entry: dict[str, Any]) -> Outcome:
    messages = {id: tuple(said) for id, said in entry.pop("messages").items()}
    return Outcome(messages=messages, **entry)


def main() -> None:
    """Run the missing certifications, print the totals, and write the page."""
    arguments = argparse.ArgumentParser(description="Certify every fault and every sound server.")
    arguments.add_argument("--sample", type=int, help="only so many servers; nothing is written to the docs")
    arguments.add_argument("--keep", type=Path, help="append outcomes to this file, and do not repeat those in it")
    arguments.add_argument("--explore", action="store_true", help="explore every server")
    given = arguments.parse_args()
    names = [*faults(), *sounds()]
    if given.sample is not None:
        chapters: dict[str, list[str]] = {}
        for name, variant in {**faults(), **sounds()}.items():
            chapters.setdefault(variant.server.__module__, []).append(name)
        names = spread(chapters, given.sample)
    outcomes = {n: o for n, o in kept(given.keep).items() if n in names}
    wanted = explored_servers()
    jobs = [Job(n, explored=given.explore or n in wanted) for n in names if n not in outcomes]
    with side_by_side(jobs) as outcome:
        for job in jobs:
            found = outcomes[job.server] = outcome(job)
            for line in surprises({job.server: found}):
                print(line, flush=True)
            if given.keep is not None:
                with given.keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"server": job.server, "outcome": asdict(found)}) + "\n")
    for what, count in totals(outcomes).items():
        print(f"{what}: {count}")
    print("no fault fails:", ", ".join(never(outcomes, ("fail", "warn"))) or "none is left")
    print("no sound server passes:", ", ".join(never(outcomes, ("pass",))) or "none is left")
    if given.sample is None:
        PAGE.write_text(page(outcomes), encoding="utf-8")


def never(outcomes: Mapping[str, Outcome], verdicts: Sequence[str]) -> list[str]:
    """Checks that have none of these verdicts in any outcome."""
    seen = {name for o in outcomes.values() for name, verdict in o.checks.items() if verdict in verdicts}
    return [c.name for c in checks() if c.name not in seen]


if __name__ == "__main__":
    main()
