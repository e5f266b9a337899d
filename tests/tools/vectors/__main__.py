"""``python -m tests.tools.vectors [--choose]`` writes conformance/vectors again, and tests/data/vector_ids.txt.

A change that is meant needs a new `VERSION` and an entry in conformance/vectors/CHANGELOG.md; tests hold both. With
``--choose`` the servers of `tests.tools.vectors.captured` are chosen again first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import cache

from lro_conformance.vectors.model import Corpus, Vector, files_of
from lro_spec.catalogue import GROUPS
from tests.support.paths import ROOT
from tests.tools.vectors import captured, descriptors, files, recipes, threshold, tools
from tests.tools.vectors.build import Mistakes
from tests.tools.vectors.coverage import NOT_COVERED

VERSION = "2.1.0"
"""The first number changes if a runner has to change, the second with new vectors, the third with any other change."""

FOLDER = ROOT / "conformance" / "vectors"
IDS = ROOT / "tests" / "data" / "vector_ids.txt"
KINDS = (files, descriptors, captured, recipes, threshold, tools)


def corpus() -> Corpus:
    """All vectors. Raises `ValueError` with every vector that the suite contradicts."""
    mistakes = Mistakes()
    made = [v for module in KINDS for v in mistakes.of(module.vectors())]
    if mistakes:
        raise ValueError("\n".join(mistakes))
    seen: dict[str, str] = {}
    for each in made:
        key = json.dumps([each.kind, each.editions[0], each.input], sort_keys=True)
        if seen.setdefault(key, each.id) != each.id:
            raise ValueError(f"{each.id} asks what {seen[key]} asks")
    order = {group: n for n, group in enumerate(GROUPS)}
    return Corpus(VERSION, "", tuple(sorted(made, key=lambda v: order[v.chapter])), NOT_COVERED)


@cache
def texts() -> dict[str, str]:
    """The files by their names."""
    return files_of(corpus())


def unknown_ids(vectors: Iterator[Vector] | tuple[Vector, ...]) -> list[str]:
    """Ids that are not in the list yet."""
    known = set(IDS.read_text(encoding="utf-8").split()) if IDS.exists() else set[str]()
    return [v.id for v in vectors if v.id not in known]


def main() -> None:
    """Write the files."""
    if "--choose" in sys.argv[1:]:
        captured.choose()
    made = corpus()
    for path in FOLDER.glob("*.json"):
        path.unlink()
    for name, text in files_of(made).items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    with IDS.open("a", encoding="utf-8") as ids:
        ids.writelines(f"{id}\n" for id in unknown_ids(made.vectors))
    size = sum(p.stat().st_size for p in FOLDER.glob("*.json"))
    print(f"{len(made.vectors)} vectors, {size} bytes")


if __name__ == "__main__":
    main()
