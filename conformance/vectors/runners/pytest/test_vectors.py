"""Runner for pytest: each vector is a test. Copy this file, and write `implementation.py` and `exceptions.json` beside it.

LRO_VECTORS: the folder of the vectors (default: two above). LRO_ADAPTER: a command to ask in place of implementation.py.
"""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FOLDER = Path(os.environ.get("LRO_VECTORS", HERE.parents[1]))
EXCEPTIONS = json.loads(Path(os.environ.get("LRO_EXCEPTIONS", HERE / "exceptions.json")).read_text(encoding="utf-8"))
INDEX = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
EVERY = [v for f in INDEX["files"] for v in json.loads((FOLDER / f["name"]).read_text(encoding="utf-8"))["vectors"]]
VECTORS = [v for v in EVERY if EXCEPTIONS["edition"] in v["editions"]]


def equal(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b


def contains(part, whole):
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(k in whole and contains(v, whole[k]) for k, v in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(contains, part, whole))
    return equal(part, whole)


def same(wanted, got):
    return isinstance(got, list) and len(got) == len(wanted) and all(any(equal(w, g) for g in got) for w in wanted)


MATCH = {
    "equals": equal,
    "same": same,
    "contains": contains,
    "between": lambda w, g: isinstance(g, int | float) and w[0] <= g <= w[1],
    "any": lambda w, g: any(equal(one, g) for one in w),
    "breaks": lambda w, g: g == ("invalid" if w else "valid") if isinstance(g, str) else sorted(g) == sorted(w),
    "mentions": lambda w, g: isinstance(g, str) and all(any(word.lower() in g.lower() for word in one) for one in w),
    "members": lambda w, g: isinstance(g, dict) and all(matches(one, g.get(name)) for name, one in w.items()),
}


def matches(expect, answer):
    ((comparison, wanted),) = expect.items()
    return MATCH[comparison](wanted, answer)


def answers():
    """The answer to each vector, by its id; those of kinds that the implementation lacks are missing."""
    if "LRO_ADAPTER" not in os.environ:
        import implementation

        return {
            v["id"]: implementation.KINDS[v["kind"]](v["input"]) for v in VECTORS if v["kind"] in implementation.KINDS
        }
    asked = [{"vector": v["id"], "edition": EXCEPTIONS["edition"], "input": v["input"]} for v in VECTORS]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": n, "method": v["kind"], "params": params})
        for n, (v, params) in enumerate(zip(VECTORS, asked, strict=True))
    ]
    command = shlex.split(os.environ["LRO_ADAPTER"])
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    return {VECTORS[r["id"]]["id"]: r["result"]["answer"] for r in replies if "result" in r}


@pytest.fixture(scope="session")
def answered():
    return answers()


def test_the_version_is_the_one_that_this_runner_was_written_for():
    assert INDEX["version"].split(".")[0] == EXCEPTIONS["vectors"], (
        "read CHANGELOG.md of the vectors, then exceptions.json"
    )


def test_exceptions_name_vectors_that_exist():
    assert set(EXCEPTIONS["known_failures"]) <= {v["id"] for v in EVERY}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["id"])
def test_vector(vector, answered):
    if vector["id"] not in answered:
        assert vector["kind"] in EXCEPTIONS["kinds"], (
            f"no answer to kind {vector['kind']}, and no reason in exceptions.json"
        )
        pytest.skip(EXCEPTIONS["kinds"][vector["kind"]])
    answer = answered[vector["id"]]
    if vector["kind"] == "write":  # compared by its parsed lines
        answer = {**answer, "lines": [json.loads(line) for line in answer["file"].rstrip("\n").split("\n")]}
    known, fits = EXCEPTIONS["known_failures"].get(vector["id"]), matches(vector["expect"], answer)
    if known is not None:
        assert not fits, f"{vector['id']} passes: remove it from exceptions.json"
        pytest.xfail(known)
    assert fits, f"{vector['why']} {vector['requirements']}\nexpected {vector['expect']}\ngot {answer}"
