"""Answers that are no documents are held to the rules by which `lro certify` judges servers."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any, cast

import pytest

from lro_conformance.analysis.exchanges import Context, Exchange, Judged, findings
from lro_conformance.analysis.sweeps import wrong_by_age, wrong_by_name
from lro_conformance.analysis.warnings import FAILED, SHORT
from lro_conformance.trials.exploration import Sweep
from lro_conformance.vectors.model import Vector, load
from lro_spec.filenames import parse_file_name

VECTORS = load().select(edition="lro-6400").vectors
ABOVE, UP_TO = "LRO-THR-06", "LRO-THR-07"


def of(kind: str) -> list[Vector]:
    return [v for v in VECTORS if v.kind == kind]


def verdicts(vector: Vector, outcome: object) -> list[bool]:
    """What the rules of the threshold say of a call with this estimate and this outcome."""
    threshold = vector.input.get("settings", {}).get("threshold_tokens", 6400)
    call = Made(
        operation="recall",
        settings={"threshold_tokens": threshold},
        outcome=outcome,
        label="recall",
        reply=Made(failure=None),
    )
    lowest = Made(estimate=vector.input["estimated_tokens"])
    survey = Made(volatile_operations=(), lowest=1)
    exchange = cast("Exchange", Made(call=call, lowest=lowest, stray=()))
    context = cast("Context", Made(decisions={"recall": "exact"}, survey=survey, edges=None))
    found = [one for id in (ABOVE, UP_TO) for one in findings(exchange, context, id)]
    return [one.holds for one in found if isinstance(one, Judged)]


DECISIONS = [v for v in of("decision") if v.input.get("settings", {}).get("enabled", True)]


@pytest.mark.parametrize("vector", DECISIONS, ids=lambda v: v.id)
def test_decisions_are_those_of_the_model_of_an_exchange(vector: Vector) -> None:
    assert vector.mistake is not None
    assert verdicts(vector, vector.expect["equals"]) == [True]
    assert verdicts(vector, vector.mistake["answer"]) == [False]


def sweep(vector: Vector, gone: list[str]) -> tuple[list[Any], list[str]]:
    """What the suite holds against a cleanup that deletes these files: by age, and by name."""
    now, aged, named = vector.input["now"], list[tuple[int, bool]](), list[tuple[str, bool]]()
    for entry in vector.input["entries"]:
        name = parse_file_name(entry["name"])
        if name is not None and entry["kind"] == "file":
            aged.append((round(now - name.milliseconds / 1000), entry["name"] in gone))
        else:
            named.append((entry["name"], entry["name"] in gone))
    made = cast("Sweep", Made(worked=True, aged=aged, named=named))
    return wrong_by_age(made, vector.input.get("settings", {}).get("ttl_seconds", 3600)), wrong_by_name(made)


CLEANUPS = [v for v in of("cleanup") if "same" in v.expect]


@pytest.mark.parametrize("vector", CLEANUPS, ids=lambda v: v.id)
def test_cleanups_are_those_of_a_sweep(vector: Vector) -> None:
    assert sweep(vector, vector.expect["same"]) == ([], [])
    if vector.mistake is not None:
        assert sweep(vector, vector.mistake["answer"]) != ([], [])


def test_a_warning_that_a_vector_asks_for_is_one_for_a_certification() -> None:
    wanted = {str(v.expect["members"]["warning"]["mentions"]) for v in of("fallback")}
    assert len(wanted) == 1
    failed, short = of("fallback")[0].expect["members"]["warning"]["mentions"]
    assert [word for word in failed if not FAILED.search(f"it {word} here")] == []
    assert [word for word in short if not SHORT.search(f"3{word} 7 {word}") and word != " of "] == []
