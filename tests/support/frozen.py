"""Verdicts that an earlier version gave, kept in tests/data/frozen: how they are read, written and compared.

A server's entry holds what differs from the plain server's report, so that the file can be read: by verdict, the ids
without ``LRO-``, then the roll-ups. ``-`` stands for a requirement that the server's edition does not have.
"""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.paths import DATA

FOLDER = DATA / "frozen"
VERDICTS = FOLDER / "verdicts.json"
EVIDENCE = FOLDER / "evidence"
BASE = ("plain", "reference")
"""Servers that are certified beside those of the catalogues; the first is what the others differ from."""

Standing = dict[str, Any]
"""Verdicts of a report by requirement, and its roll-ups."""


def standing(report: Mapping[str, Any]) -> Standing:
    """Everything in a report (lro-report/1) that is a judgement, without words."""
    return {
        "verdicts": {entry["id"]: entry["verdict"] for entry in report["requirements"]},
        "level": report["level"],
        "hardening": report["hardening"],
        "extensions": report["extensions"],
        "implemented": report["implemented"],
        "counts": report["counts"],
        "edition": report["edition"],
    }


def as_frozen(one: Standing, name: str) -> Standing:
    """A standing of today without the requirements that the frozen one of this server has not: those came later."""
    verdicts = {id: v for id, v in one["verdicts"].items() if id in frozen_standings()[name]["verdicts"]}
    given = Counter(verdicts.values())
    return {**one, "verdicts": verdicts, "counts": {label: given[label] for label in one["counts"]}}


def reports(folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The reports in a folder of packed evidence, by the server's name."""
    for path in sorted(folder.glob("*.tar.gz")):
        name = path.name.removesuffix(".tar.gz")
        with tarfile.open(path) as archive:
            report = archive.extractfile(f"{name}/report.json")
            assert report is not None
            yield name, json.load(report)


def verdicts_text(found: Iterator[tuple[str, Mapping[str, Any]]]) -> str:
    """The text of verdicts.json: a line a server."""
    known = {name: standing(report) for name, report in found}
    plain = known.pop(BASE[0])
    lines = [f'"{BASE[0]}": {json.dumps(plain)}']
    lines += [f'"{name}": {json.dumps(_differences(plain, one))}' for name, one in sorted(known.items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"


@cache
def frozen_standings() -> Mapping[str, Standing]:
    """Every server's verdicts and roll-ups as they were."""
    stored = json.loads(VERDICTS.read_text(encoding="utf-8"))
    plain = stored.pop(BASE[0])
    return {BASE[0]: plain, **{name: _restored(plain, one) for name, one in stored.items()}}


def _differences(plain: Standing, one: Standing) -> Standing:
    base, verdicts = plain["verdicts"], one["verdicts"]
    differing: dict[str, str] = {}
    for id in [*base, *(id for id in verdicts if id not in base)]:
        verdict = verdicts.get(id, "-")
        if verdict != base.get(id):
            differing[verdict] = f"{differing.get(verdict, '')} {id.removeprefix('LRO-')}".lstrip()
    rest = (key for key in one if key not in ("verdicts", "counts") and one[key] != plain[key])
    return {"verdicts": differing, **{key: one[key] for key in rest}}


def _restored(plain: Standing, differences: Standing) -> Standing:
    verdicts = dict(plain["verdicts"])
    for verdict, ids in differences["verdicts"].items():
        verdicts |= {f"LRO-{id}": verdict for id in ids.split()}
    verdicts = {id: verdict for id, verdict in verdicts.items() if verdict != "-"}
    given = Counter(verdicts.values())
    return {**plain, **differences, "verdicts": verdicts, "counts": {label: given[label] for label in plain["counts"]}}
