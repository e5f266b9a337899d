"""Where what is said is kept: a file for each group of inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.golden import (
    Cases,
    cleanup,
    descriptors,
    documents,
    evidence,
    extraction,
    facts,
    fallback,
    files,
    proxied,
    recipes,
    schemas,
    unusual,
)

FOLDER = Path(__file__).with_name("data")
GROUPS: Mapping[str, Cases] = {
    "files": files.CASES,
    "descriptors": descriptors.CASES,
    "schemas": schemas.CASES,
    "facts": facts.CASES,
}
"""What the library says."""

MADE_UP: Mapping[str, Cases] = {
    "evidence": evidence.CASES,
    "recipes": recipes.CASES,
    "fallback": fallback.CASES,
    "proxied": proxied.CASES,
    "unusual": unusual.CASES,
    "extraction": extraction.CASES,
    "cleanup": cleanup.CASES,
}
"""What the suite says of evidence that no server gave."""

DOCUMENTS: Mapping[str, Cases] = {"documents": documents.CASES}
"""What `lro validate` says."""


@cache
def kept(group: str) -> dict[str, list[str]]:
    """What was said of each input of a group."""
    return json.loads((FOLDER / f"{group}.json").read_text(encoding="utf-8"))


def write() -> None:
    """Keep what is said now."""
    FOLDER.mkdir(exist_ok=True)
    for group, cases in {**GROUPS, **MADE_UP, **DOCUMENTS}.items():
        said = {name: say() for name, say in cases.items()}
        text = json.dumps(said, ensure_ascii=False, indent=1)
        (FOLDER / f"{group}.json").write_text(text + "\n", encoding="utf-8")
