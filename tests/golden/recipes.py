"""Recipes of made-up descriptors, run on their files: as they should be, and with all of them changed in one way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lro_conformance.analysis.documents import Documents, commands, recipes
from lro_conformance.judging.check import checks, judge
from lro_conformance.judging.derived import Evidence
from lro_spec.catalogue import catalogue
from lro_spec.editions import EDITIONS
from tests.golden import Cases, Said
from tests.golden.evidence import evidence

Recipe = dict[str, Any]
Way = Callable[[Recipe], Recipe]


def put(old: str, new: str) -> Way:
    """Each command with something else in the place of a part of it."""
    return lambda r: {**r, "command": r["command"].replace(old, new)}


WAYS: dict[str, Way] = {
    "as they are": lambda r: r,
    "the header is not left out": lambda r: {**r, "command": r["command"].replace("tail -n +2", "cat")},
    "too much is left out": put("+2", "+3"),
    "in arrays": put("jq ", "jq -s "),
    "compact": put("jq ", "jq -c "),
    "of another file": put("/out/", "/other/"),
    "of no file": lambda r: {**r, "command": "tail -n +2 {file} | jq ."},
    "all the same": lambda r: {**r, "command": r["command"].partition("|")[0] + "| jq ."},
    "nothing comes of them": lambda r: {**r, "command": r["command"] + " | jq 'empty'"},
    "they name the score": lambda r: {**r, "command": r["command"] + " | jq 'if .score? then . else . end'"},
    "they name the content": lambda r: {**r, "command": r["command"] + " | jq 'if .content? then . else . end'"},
    "no programs": put("jq ", "jq '(' "),
    "not understood": put("| jq", "| awk '{print $1}' | jq"),
    "texts": lambda r: {**r, "command": r["description"]},
    "nothing": lambda r: {},
    "without a description": lambda r: {**r, "description": ""},
    "another word": put("keyword", "memory"),
}
JUDGED = [c for c in checks() if len(c.needs) == 1 and c.requirement.startswith("LRO-REC-")]


def of(edition: str, way: Way, *, only: slice = slice(None), turned: bool = False) -> Said:
    """What is found of the recipes of an edition, changed so."""

    def change(recipes: list[Recipe]) -> list[Recipe]:
        changed = [way(r) for r in recipes][only]
        return changed[::-1] if turned else changed

    def say() -> list[str]:
        have, text = evidence(-1, {"edition": edition, "recipes": change}), EDITIONS[edition]
        survey = have["survey"]
        every: Documents = Evidence(edition, have).select(["documents"])["documents"]
        chosen = replace(every, documents=tuple(every.of(survey.files)))
        known = {"documents": chosen, "recipes": recipes(chosen, {}, text), "commands": commands(survey)}
        said = [f"{len(commands(survey))} commands"]
        held = {r.id for r in catalogue(edition)}
        for one in (c for c in JUDGED if c.requirement in held):
            result = judge(one, known, edition=edition)
            told = f"{result.expected[:60]} / {result.observed[:60]}"
            said.append(f"{one.name} {result.verdict.label} {result.subjects}: {told}")
        return said

    return say


CASES: Cases = {
    **{f"{name}, {edition}": of(edition, way) for edition in ("lro-6400", "lro-1600") for name, way in WAYS.items()},
    "turned round": of("lro-6400", WAYS["as they are"], turned=True),
    "the first three": of("lro-6400", WAYS["as they are"], only=slice(3)),
    "all but one": of("lro-6400", WAYS["as they are"], only=slice(1, None)),
    "by the paper": of("lro-paper", WAYS["as they are"]),
}
