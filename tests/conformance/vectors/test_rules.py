"""Answers that are no documents are held to the rules by which `lro certify` judges servers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace as Made
from typing import Any, cast

import pytest

from lro_conformance.analysis.exchanges import Context, Exchange, Judged, findings
from lro_conformance.analysis.failed_writes import not_truncated
from lro_conformance.analysis.sweeps import wrong_by_age, wrong_by_name
from lro_conformance.capture.call import Call
from lro_conformance.capture.warnings import FAILURE, TRUNCATION
from lro_conformance.trials.exploration import Sweep
from lro_conformance.trials.fallback import Failing
from lro_conformance.vectors.answers import lines_of, stream
from lro_conformance.vectors.match import mismatch
from lro_conformance.vectors.model import Vector, load
from lro_spec.editions import edition as edition_named
from lro_spec.filenames import parse_file_name
from lro_spec.tokens import characters_estimate
from tests.servers.extracting import Extracting
from tests.servers.plain import BadArguments

VECTORS = load().vectors
ABOVE, UP_TO, DISCARDED = "LRO-THR-06", "LRO-THR-07", "LRO-INJ-04"


def of(kind: str) -> list[Vector]:
    return [v for v in VECTORS if v.kind == kind]


def judged(exchange: object, *requirements: str, **context: object) -> list[bool]:
    """Whether each subject of an exchange satisfies these requirements, by the rules that judge live servers."""
    about = cast("Context", Made(headers_state_another_figure=False, unstable_operations=frozenset[str](), **context))
    found = [one for id in requirements for one in findings(cast("Exchange", exchange), about, id)]
    return [one.holds for one in found if isinstance(one, Judged)]


def verdicts(vector: Vector, outcome: object, operation: str = "recall") -> list[bool]:
    """What the rules of the threshold say of a call with this estimate and this outcome."""
    default = edition_named(vector.editions[0]).default_threshold_tokens
    settings = {"threshold_tokens": default, **vector.input.get("settings", {})}
    reply = Made(failure=None)
    call = Made(operation=operation, settings=settings, outcome=outcome, label=operation, reply=reply)
    lowest = Made(estimate=vector.input["estimated_tokens"], file_records=())
    exchange = Made(call=call, lowest=lowest, stray=(), has_file=False)
    survey = Made(volatile_operations=(), lowest=1)
    return judged(exchange, ABOVE, UP_TO, decisions={operation: "exact"}, survey=survey, edges=None, size_variation=0)


def expected(vector: Vector) -> Any:
    """The answer of a vector that has only one."""
    ((answer,),) = (rule["is"] for rule in vector.expect)
    return answer


def is_on(vector: Vector) -> bool:
    return vector.input.get("settings", {}).get("enabled", True)


DECISIONS = [v for v in of("decision") if is_on(v)]


@pytest.mark.parametrize("vector", DECISIONS, ids=lambda v: v.id)
def test_decisions_are_those_of_the_model_of_an_exchange(vector: Vector) -> None:
    assert vector.mistake is not None
    assert verdicts(vector, expected(vector)) == [True]
    assert verdicts(vector, vector.mistake["answer"]) == [False]


def injected(answer: dict[str, Any]) -> list[bool]:
    """What the rule of the discarded text says of an answer."""
    records = [{"id": f"m-{n}", "content": f"The content of memory {n}, {'at some length' * 5}."} for n in range(3)]
    around = "\n".join(str(record["content"]) for record in records) if answer["formatted"] else ""
    call = Made(
        operation="inject", outcome="offloaded", file=Made(problem=None), file_records=records, descriptor={},
        result={}, found_descriptor=Made(surrounding_text=around),
    )  # fmt: skip
    return judged(Exchange(cast("Call", call)), DISCARDED)


@pytest.mark.parametrize("vector", [v for v in of("injection") if is_on(v)], ids=lambda v: v.id)
def test_injections_are_those_of_the_model_of_an_exchange(vector: Vector) -> None:
    outcomes = {"text": "inline", "descriptor": "offloaded"}
    wanted = expected(vector)
    assert verdicts(vector, outcomes[wanted["result"]], "inject") == [True]
    assert vector.mistake is not None
    wrong = vector.mistake["answer"]
    by_decision = verdicts(vector, outcomes[wrong["result"]], "inject")
    by_text = injected(wrong) if wrong["result"] == "descriptor" else []
    assert False in by_decision + by_text
    if wanted["result"] == "descriptor":
        assert injected(wanted) == [True]
        assert wanted["records"] == vector.input["found"], "the set before budgeting"


def sweep(vector: Vector, gone: list[str]) -> tuple[list[Any], list[str]]:
    """What the suite holds against a cleanup that deletes these files: by age, and by name."""
    now, aged, named = vector.input["now"], list[tuple[int, bool]](), list[tuple[str, bool]]()
    for entry in vector.input["entries"]:
        name = parse_file_name(entry["name"], edition=vector.editions[0])
        if name is not None and entry["kind"] == "file":
            aged.append((round(now - name.milliseconds / 1000), entry["name"] in gone))
        else:
            named.append((entry["name"], entry["name"] in gone))
    made = cast("Sweep", Made(worked=True, aged=aged, named=named))
    return wrong_by_age(made, vector.input.get("settings", {}).get("ttl_seconds", 3600)), wrong_by_name(made)


CLEANUPS = [v for v in of("cleanup") if len(v.expect[0]["is"]) == 1]


@pytest.mark.parametrize("vector", CLEANUPS, ids=lambda v: v.id)
def test_cleanups_are_those_of_a_sweep(vector: Vector) -> None:
    assert sweep(vector, expected(vector)) == ([], [])
    if vector.mistake is not None:
        assert sweep(vector, vector.mistake["answer"]) != ([], [])


def rules_at(vector: Vector, place: str) -> list[dict[str, Any]]:
    return [rule for rule in vector.expect if rule["at"] == place]


NAMED = [v for v in of("fallback") if edition_named(v.editions[0]).named_events]
"""Fallbacks of the editions that give an amount and ask for a warning and an event."""


@pytest.mark.parametrize("vector", NAMED, ids=lambda v: v.id)
def test_fallbacks_are_those_of_a_failing_write(vector: Vector) -> None:
    records, threshold = vector.input["records"], vector.input["settings"]["threshold_tokens"]

    def wrong(kept: int) -> str | None:
        text = "".join(json.dumps(record, separators=(",", ":")) for record in records[:kept])
        whole = Made(file_records=records, estimate=None, file=None)
        known = {record["id"]: record for record in records}
        call = Made(records=records[:kept])
        failing = Made(
            call=call, threshold=threshold, known=known, original=whole, returned_estimate=characters_estimate(text)
        )
        return not_truncated(cast("Failing", failing), ())

    (counts,) = (rule["is"] for rule in rules_at(vector, "/records"))
    assert [kept for kept in counts if wrong(kept) is not None] == []
    assert wrong(len(records)) is not None


@pytest.mark.parametrize("vector", [v for v in of("fallback") if v not in NAMED], ids=lambda v: v.id)
def test_fallbacks_of_the_paper_are_truncated_by_any_amount(vector: Vector) -> None:
    (counts,) = (rule["is"] for rule in rules_at(vector, "/records"))
    assert counts == list(range(len(vector.input["records"])))
    assert rules_at(vector, "/warning") == rules_at(vector, "/event") == []


@pytest.mark.parametrize("vector", NAMED, ids=lambda v: v.id)
def test_a_warning_that_a_vector_asks_for_is_one_for_a_certification(vector: Vector) -> None:
    failed, short = (rule["has"] for rule in rules_at(vector, "/warning"))
    assert [words for words in failed if not FAILURE.search(f"it {words} here")] == []
    assert [words for words in short if not TRUNCATION.search(f"it is {words} here")] == []
    assert [words for words in (*failed, *short) if words in vector.input["error"].lower()] == []


EXTRACTIONS = [v for v in load().vectors if v.kind == "extract" and "recipe" not in v.input["arguments"]]
"""Without those by the number of a recipe: `lro_spec.editions` has the list of recipes, for vectors and checks."""


@pytest.mark.parametrize("vector", EXTRACTIONS, ids=lambda v: v.id)
def test_extractions_are_those_of_a_server_that_is_certified(vector: Vector, tmp_path: Path) -> None:
    """The sound server `reads_its_files` answers as the vector expects."""
    folder = tmp_path / "out"
    folder.mkdir()
    server = Extracting()
    server.settings.output_dir = str(folder)
    for path, text in vector.input["files"].items():
        target = folder / Path(path).name
        target.write_text(text, encoding="utf-8")
        server.offered[target.name] = server.identity(str(target))
    tool, given = vector.input["tool"], dict(vector.input["arguments"])
    for name in given.keys() & {"file_path", "filename"}:
        given[name] = given[name].replace("/out", str(folder), 1)
    if tool == "query_large_output":  # its own line is no header
        server.contents = lambda path: "\n" + Path(path).read_text(encoding="utf-8")
    try:
        text = server.handler(tool)(**given)
    except (BadArguments, TypeError, ValueError):
        answer: object = {"refused": True}
    else:
        answer = SHAPES[tool](text)
    assert mismatch(vector.expect, answer) is None


SHAPES: dict[str, Callable[[str], dict[str, Any]]] = {
    "lro_extract": lambda text: {"values": stream(text)},
    "read_large_output": lambda text: {"text": text},
    "search_large_output": lambda text: {"lines": [int(n) for n in re.findall(r"^(\d+): ", text, re.MULTILINE)]},
    "query_large_output": lambda text: {"lines": lines_of(text)},
}
