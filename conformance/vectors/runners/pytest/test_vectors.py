"""Runner for pytest: each vector is a test. Put your own code into `implementation.py`, and run `pytest`."""

import json
from pathlib import Path

import pytest
from implementation import KINDS

HERE = Path(__file__).resolve().parent
VECTORS = HERE.parents[1]


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


INDEX = read(VECTORS / "index.json")
EXCEPTIONS = read(HERE / "exceptions.json")
EVERY = [v for file in INDEX["files"] for v in read(VECTORS / file["name"])["vectors"]]


def normal(value):
    """A value as text, in which 1 and 1.0 are alike, and 1 and true are not."""
    return json.dumps(json.loads(json.dumps(value), parse_int=float), sort_keys=True)


def holds(rule, value):
    for name in rule["at"].split("/")[1:]:
        value = value.get(name) if isinstance(value, dict) else None
    if "between" in rule:
        low, high = rule["between"]
        return isinstance(value, int | float) and low <= value <= high
    if "has" in rule:
        return isinstance(value, str) and any(part in value.lower() for part in rule["has"])
    return normal(value) in map(normal, rule["is"])


def test_exceptions_are_up_to_date():
    version = INDEX["version"]
    assert version.split(".")[0] == EXCEPTIONS["vectors"], f"version {version}: read CHANGELOG.md of the vectors"
    assert EXCEPTIONS["known_failures"].keys() - {v["id"] for v in EVERY} == set(), "there are no such vectors"


@pytest.mark.parametrize("vector", [v for v in EVERY if EXCEPTIONS["edition"] in v["editions"]], ids=lambda v: v["id"])
def test_vector(vector):
    kind = vector["kind"]
    if kind in EXCEPTIONS["kinds"]:
        pytest.skip(EXCEPTIONS["kinds"][kind])
    assert kind in KINDS, f"no answer to the kind {kind}, and no reason in exceptions.json"
    answer = KINDS[kind](vector["input"])
    broken = [rule for rule in vector["expect"] if not holds(rule, answer)]
    if vector["id"] in EXCEPTIONS["known_failures"]:
        assert broken, f"{vector['id']} passes: remove it from exceptions.json"
        pytest.xfail(EXCEPTIONS["known_failures"][vector["id"]])
    assert not broken, f"{vector['why']} {vector['requirements']}\nexpected {broken[0]}\ngot {answer}"
