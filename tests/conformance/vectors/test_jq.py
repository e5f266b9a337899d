"""Every recipe vector has the same output in libjq, in jq's own binary, and in gojq where it is installed."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from lro_conformance.vectors.answers import lines_of, stream
from lro_conformance.vectors.match import mismatch
from lro_conformance.vectors.model import Vector, load

RECIPES = [v for v in load().vectors if v.kind == "recipe"]


def output_of(program: str, vector: Vector) -> object:
    """The output of a binary; whether texts are raw and inputs are slurped is as in the vector."""
    asked = vector.input
    options = ["-c", *(["-s"] if asked["slurp"] else []), *(["-r"] if asked["raw"] else [])]
    data = "".join(f"{line}\n" for line in asked["lines"])
    done = subprocess.run(
        [program, *options, asked["program"]], input=data, capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 0, done.stderr
    return lines_of(done.stdout) if asked["raw"] else stream(done.stdout)


@pytest.mark.parametrize("program", ["jq", "gojq"])
def test_outputs_of_binaries_are_the_expected_ones(program: str) -> None:
    """The expected output is that of the jq package, which `test_vectors` holds."""
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed here (Debian: {program})")
    assert len(RECIPES) >= 80
    found = {v.id: mismatch(v.expect, output_of(path, v)) for v in RECIPES}
    assert {id: problem for id, problem in found.items() if problem is not None} == {}


def test_there_are_recipes_of_every_edition() -> None:
    programs = {v.input["program"] for v in RECIPES}
    assert len(programs) > 30
    assert json.dumps([v.editions for v in RECIPES]).count("lro-1600") > 20
