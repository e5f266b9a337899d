"""Records examples of passes and failures: ``python tests/tools/examples.py [--missing] [--outcomes FILE] [ID…]``.

Writes conformance/lro_conformance/cli/examples.json, which `lro explain` and the documents show: for each requirement
that is judged, the first thing that a check found as it should be, on a sound server, and what it blamed a broken
server of tests/servers/faults for; where another edition words it, or alone requires it, on servers of
tests/servers/editions. Both are recorded from runs, word by word but for paths and long values, which are cut.
``--missing`` records what is not there yet; ``--outcomes`` is a file of ``tests/tools/detection.py --keep``, which
knows the servers that pass what the plain one is not even asked.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
for folder in (ROOT / "reference_impl", ROOT / "conformance", ROOT):
    sys.path.insert(0, str(folder))

from lro_conformance import profile as profiles  # noqa: E402
from lro_conformance.cli.explain import EXAMPLES, example_key  # noqa: E402
from lro_conformance.engine import capture, judgement  # noqa: E402
from lro_conformance.engine.capture import DEFAULT_SEQUENCES as TRIES  # noqa: E402
from lro_conformance.engine.run import certify  # noqa: E402
from lro_conformance.judging.results import CheckResult, Report  # noqa: E402
from lro_conformance.judging.subjects import Subjects, evidence_of  # noqa: E402
from lro_spec.catalogue import catalogue  # noqa: E402
from lro_spec.editions import DEFAULT_EDITION, EDITIONS  # noqa: E402
from tests.servers.editions.catalogue import Variant, variants  # noqa: E402
from tests.servers.faults.catalogue import Fault, faults  # noqa: E402
from tests.servers.sound.catalogue import sounds  # noqa: E402
from tests.servers.variants import profile_text  # noqa: E402

PLAIN = "a plain memory server"
LINES, LENGTH = 6, 240
"""Limits of the recorded evidence: number of lines, and characters of each."""


@contextmanager
def held() -> Generator[dict[str, tuple[str, str]]]:
    """Context in which the first expected subject of each check is recorded: the expectation and the evidence."""
    first: dict[int, tuple[str, object]] = {}
    told: dict[str, tuple[str, str]] = {}
    expect, judge = Subjects.expect, judgement.judge

    def expecting(self: Subjects, holds: bool, *, expected: str, subject: object = None, **more: Any) -> bool:
        if holds:
            first.setdefault(id(self), (expected, subject))
        return expect(self, holds, expected=expected, subject=subject, **more)

    def judging(one: Any, *given: Any, **more: Any) -> CheckResult:
        first.clear()
        result = judge(one, *given, **more)
        for expected, subject in list(first.values())[:1]:
            told[one.name] = (expected or one.doc.partition("\n\n")[0].replace("\n", " "), evidence_of(subject))
        return result

    Subjects.expect = expecting  # type: ignore[method-assign]
    capture.judge = judgement.judge = judging
    try:
        yield told
    finally:
        Subjects.expect = expect  # type: ignore[method-assign]
        capture.judge = judgement.judge = judge


def run(
    server: str, sections: str, ids: set[str] | None, *, tries: int = 0
) -> tuple[Report, dict[str, tuple[str, str]]]:
    """The report on a server of the tests, and the expected subjects of its checks."""
    with tempfile.TemporaryDirectory() as folder, held() as told:
        path = Path(folder) / "lro.yaml"
        path.write_text(profile_text(server, sections), encoding="utf-8")
        return certify(profiles.load(path), seed=1, jobs=2, only=ids, examples=tries), told


def failing(id: str, shown: str | None) -> dict[str, Any] | None:
    """The failure of a fault of this requirement, preferably the one *shown*; None if no fault breaks it."""
    mine = [f for f in faults().values() if f.requirement == id]
    for fault in sorted(mine, key=lambda f: (f.name != shown, f.explored, bool(f.also))):
        if (made := blamed(id, fault, tries=TRIES if fault.explored else 0)) is not None:
            return made
    return None


def blamed(id: str, fault: Fault | Variant, *, tries: int = 0) -> dict[str, Any] | None:
    """The failure of a broken server; None if a different requirement failed."""
    report, _ = run(fault.name, fault.profile, {id}, tries=tries)
    blamed = [c for r in report.requirements if r.requirement.id == id for c in r.checks]
    for check in blamed:
        said = f"{check.expected}: {check.observed}"
        if check.verdict.label in ("fail", "warn") and fault.says.lower() in said.lower():
            return {
                "server": fault.name,
                "about": _about(fault),
                "verdict": check.verdict.label,
                "check": check.name,
                "expected": _cut(check.expected),
                "observed": _cut(check.observed),
                "seen": excerpt(check.evidence),
            }
    return None


def abroad(id: str, edition: str) -> dict[str, Any]:
    """The examples of a requirement that only this edition has."""
    there = [v for v in variants().values() if v.edition == edition]
    broken = (blamed(id, v) for v in there if v.requirement == id)
    sound = (passing(id, *run(v.name, v.profile, {id}), f"`{v.name}`") for v in there if v.requirement is None)
    return {"pass": next(filter(None, sound), None), "fail": next(filter(None, broken), None)}


def passing(id: str, report: Report, told: Mapping[str, tuple[str, str]], about: str) -> dict[str, Any] | None:
    """An expected subject of a check of this requirement, in a run that passes it."""
    for one in report.requirements:
        if one.requirement.id != id or one.verdict.label != "pass":
            continue
        for check in one.checks:
            if check.verdict.label == "pass" and check.name in told:
                expected, evidence = told[check.name]
                return {
                    "about": about,
                    "check": check.name,
                    "examined": check.subjects,
                    "expected": _cut(expected),
                    "seen": excerpt(evidence),
                }
    return None


def excerpt(evidence: str) -> list[str]:
    """The first informative lines of the evidence, each cut if it is long."""
    lines = [line for line in evidence.splitlines() if line.strip() and not re.match(r"(settings|command): ", line)]
    return [_cut(line) for line in lines[:LINES]]


def _cut(text: str) -> str:
    plain = re.sub(r"(/[\w.+-]+)*/lro-[\w.-]+(/work-\w+)?", "…", text)  # folders of the suite's own
    plain = plain.replace(str(ROOT), "…").replace(sys.executable, "python")
    return plain if len(plain) <= LENGTH else plain[: LENGTH - 1] + "…"


def _about(fault: Fault | Variant) -> str:
    return " ".join(fault.about.split("\n\n")[0].split())


def elsewhere(id: str, outcomes: Path | None) -> tuple[str, str] | None:
    """A sound server that passes, and the respect in which it is unusual."""
    if outcomes is None:
        return None
    for line in outcomes.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["server"] in sounds() and entry["outcome"]["verdicts"].get(id) == "pass":
            return entry["server"], sounds()[entry["server"]].why
    return None


def usual(
    id: str, whole: Report, told: Mapping[str, tuple[str, str]], outcomes: Path | None, shown: str | None
) -> dict[str, Any]:
    """The examples of a requirement of the default edition; *whole* is a run on the plain server."""
    made = {"pass": passing(id, whole, told, PLAIN), "fail": failing(id, shown)}
    if made["pass"] is None and (other := elsewhere(id, outcomes)) is not None:
        report, also = run(other[0], sounds()[other[0]].profile, {id})
        made["pass"] = passing(id, report, also, f"`{other[0]}`")
    if made["pass"] is None:
        made["pass"] = passing(id, *run("", "", {id}, tries=TRIES), PLAIN)
    return made


def record(
    homes: Mapping[str, tuple[str, str]], outcomes: Path | None, known: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields each key of a requirement and an edition with its examples, and prints those that could not be recorded,
    of which those in *known* are kept.

    The failing server in *known* is kept as long as it fails.
    """
    usuals = {id for id, edition in homes.values() if edition == DEFAULT_EDITION}
    whole, told = run("", "", None if len(usuals) > 20 else usuals or {"LRO-PROT-03"})
    for key, (id, edition) in homes.items():
        shown = known.get(key, {}).get("fail", {}).get("server")
        made = usual(id, whole, told, outcomes, shown) if edition == DEFAULT_EDITION else abroad(id, edition)
        lacking = [kind for kind, example in made.items() if example is None]
        print(f"{key}: {'no ' + ' and no '.join(lacking) + ' recorded' if lacking else 'recorded'}", flush=True)
        earlier = {kind: example for kind, example in known.get(key, {}).items() if kind in lacking}
        yield key, {kind: example for kind, example in {**made, **earlier}.items() if example is not None}


def main() -> None:
    """Record the requested examples, and write the file in the catalogue's order."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("ids", nargs="*", metavar="ID")
    arguments.add_argument("--missing", action="store_true", help="only what is not there yet")
    arguments.add_argument("--outcomes", type=Path, help="outcomes that tests/tools/detection.py kept")
    given = arguments.parse_args()
    homes: dict[str, tuple[str, str]] = {}
    for edition in (DEFAULT_EDITION, *EDITIONS):
        for one in catalogue(edition):
            if one.excluded is None:
                homes.setdefault(example_key(one), (one.id, edition))
    known: dict[str, Any] = json.loads(EXAMPLES.read_text(encoding="utf-8")) if EXAMPLES.exists() else {}
    chosen = {
        key: home
        for key, home in homes.items()
        if (not given.ids or {key, home[0]} & set(given.ids)) and not (given.missing and len(known.get(key, ())) == 2)
    }
    for key, made in record(chosen, given.outcomes, known):
        known[key] = made
        kept = {key: known[key] for key in homes if key in known}
        EXAMPLES.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
