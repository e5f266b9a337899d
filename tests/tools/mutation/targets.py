"""What is mutated, and what it is tried with: modules by folder, since tests mirror the code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import lro_conformance
import lro_spec
from lro_conformance.judging.check import checks
from tests.servers.faults.catalogue import faults
from tests.servers.sound.catalogue import sounds
from tests.support.certifying import spread

PACKAGES = {one.__name__: Path(one.__file__ or "").parent for one in (lro_spec, lro_conformance)}

RULES = ("spec/validation", "golden/test_validation.py")
CHECK_TESTS = ("conformance/checks", "golden/test_checks.py")
"""What a mutant of a check is tried with that no recording notices."""


@dataclass(frozen=True, slots=True)
class Area:
    """Modules, and the tests that they are tried with."""

    modules: Sequence[str]
    """Paths in a package; a folder stands for the modules in it."""
    tests: Sequence[str]
    """Paths below tests."""


MODEL = "the model"

AREAS: Mapping[str, Area] = {
    MODEL: Area(
        ("lro_conformance/analysis",),
        (*CHECK_TESTS, "conformance/analysis", "conformance/trials", "spec/validation/test_unusual_queries.py"),
    ),
    "captured records": Area(("lro_conformance/capture",), (*CHECK_TESTS, "conformance/capture")),
    "verdicts": Area(
        ("lro_conformance/judging/check", "lro_conformance/judging/verdicts"),
        ("conformance/judging", "conformance/report/test_model.py"),
    ),
    "documents of `lro validate`": Area(("lro_conformance/validate/document",), ("conformance/validate",)),
    "validation: rules": Area(("lro_spec/validation",), RULES),
    "validation: recipes": Area(("lro_spec/recipes",), ("spec/recipes", *RULES)),
    "validation: schemas": Area(("lro_spec/schema",), ("spec/schema", *RULES)),
    "validation: lines": Area(("lro_spec/jsonl",), ("spec/jsonl", *RULES)),
    "validation: values": Area(
        tuple(f"lro_spec/{name}" for name in ("findings", "filenames", "messages", "timestamps", "tokens")),
        ("spec/test_filenames.py", "spec/test_messages.py", "spec/test_timestamps.py", "spec/test_tokens.py", *RULES),
    ),
}

SLOW = ("conformance/validate", "conformance/trials", "conformance/capture")
"""Tests that take longer than milliseconds; what the others kill, these need not try."""

OTHERS = 24
"""How many sound servers a check is tried with, in the first place."""


def judged() -> list[str]:
    """The modules that are tried with recordings: those of the checks."""
    return list(dict.fromkeys(c.function.__module__ for c in checks()))


def of_the_model() -> list[str]:
    """The modules that checks judge by, which are tried with the recordings of all servers."""
    return modules(AREAS[MODEL])


def modules(area: Area) -> list[str]:
    """The dotted names of an area's modules."""
    found: list[str] = []
    for path in area.modules:
        package, _, rest = path.partition("/")
        folder = PACKAGES[package] / rest
        files = sorted(folder.glob("[!_]*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
        found += [".".join((package, *file.relative_to(PACKAGES[package]).with_suffix("").parts)) for file in files]
    return found


def tested() -> dict[str, Sequence[str]]:
    """The modules that are tried with unit tests, and where these are."""
    return {name: area.tests for area in AREAS.values() for name in modules(area)}


def servers(module: str, sound: int) -> list[str]:
    """Whose recordings a module is tried with: the faults of its checks, and so many sound servers of all chapters."""
    mine = {c.requirement for c in checks() if c.function.__module__ == module}
    broken = [n for n, f in faults().items() if mine & {f.requirement, *f.also}]
    return [*broken, *sound_servers(sound)]


def sound_servers(most: int) -> list[str]:
    """At most so many sound servers, of all chapters."""
    chapters: dict[str, list[str]] = {}
    for name, variant in sounds().items():
        chapters.setdefault(variant.server.__module__, []).append(name)
    return spread(chapters, most)
