"""Runner for pytest: it needs exceptions.json, and KINDS, with your function for each kind of vector."""

import json
from functools import partial
from pathlib import Path

import pytest
from implementation import KINDS

fail = partial(pytest.fail, pytrace=False)
HERE = Path(__file__).resolve().parent
VECTORS = HERE.parents[1]


def read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        fail(f"{path}: {problem}")


INDEX, OWN = read(VECTORS / "index.json"), read(HERE / "exceptions.json")
EDITION, EXCEPTIONS = OWN["edition"], {name: why for name, why in OWN["exceptions"].items() if why}
EVERY = [v for file in INDEX["files"] for v in read(VECTORS / file["name"])["vectors"] if EDITION in v["editions"]]


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


def test_exceptions():
    version, known = OWN["version"], INDEX["editions"]
    if not INDEX["version"].startswith(f"{version}.") or EDITION not in known:
        about = f"exceptions.json is for vectors {version} and has the edition {EDITION!r}"
        fail(f"{about}; these are {INDEX['version']} with {known}: read CHANGELOG.md")
    missing = {v["kind"] for v in EVERY} - KINDS.keys()
    unused = EXCEPTIONS.keys() - missing - {v["id"] for v in EVERY if v["kind"] in KINDS}
    no_function = "no function, and no reason in exceptions.json, for this kind of vectors"
    problems = [f"{kind}: {no_function}" for kind in missing - EXCEPTIONS.keys()]
    problems += [f"exceptions.json excuses {name}, which does not fail, or is not there" for name in unused]
    if problems:
        fail("\n".join(sorted(problems)))


@pytest.mark.parametrize("vector", EVERY, ids=lambda v: v["id"])
def test_vector(vector):
    kind, expect, known = vector["kind"], vector["expect"], EXCEPTIONS.get(vector["id"])
    if kind not in KINDS:
        pytest.skip(f"{kind}: {EXCEPTIONS.get(kind, 'no function')}")
    answer = KINDS[kind](vector["input"])
    broken = next((rule for rule in expect if not holds(rule, answer)), None)
    if known:
        assert broken, "it passes: remove it from exceptions.json"
        pytest.xfail(known)
    if broken:
        lines = [f"{name}: {vector[name]}" for name in ("about", "why", "requirements")]
        if (mistake := vector.get("mistake")) and normal(mistake["answer"]) == normal(answer):
            lines.append(f"common mistake: {mistake['why']}")
        fail("\n".join([*lines, f"expected: {broken}", f"got: {answer}"[:500], f"input: {vector['input']}"[:500]]))
