"""The runners in four languages agree with the suite on every vector, and notice an expectation that was changed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from lro_conformance.vectors.adapter import ask
from lro_conformance.vectors.judge import judge
from lro_conformance.vectors.model import INDEX, Vector, folder, load
from lro_conformance.vectors.results import result_of
from tests.support.documents import fenced
from tests.support.paths import ROOT
from tests.support.registry import Installed

EDITION = "lro-6400"
VECTORS = load().select(edition=EDITION).vectors
ANSWERS = ROOT / "tests/support/vector_answers.py"
DEBIAN_CRATES = Path("/usr/share/cargo/registry")
CONFIG = f'[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "{DEBIAN_CRATES}"\n'
TIMEOUT_S = 200

pytestmark = pytest.mark.timeout(400)


@dataclass(frozen=True)
class Runner:
    """A runner that is ready to run."""

    command: list[str]
    cwd: Path
    passed: Callable[[str], int]
    """The number of vectors that passed, from the output."""

    def __call__(self, **env: str) -> tuple[int, str]:
        """The exit code and the output."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "LRO_"))}
        done = subprocess.run(
            self.command,
            cwd=self.cwd,
            env={**clean, **env},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr


def count(pattern: str) -> Callable[[str], int]:
    return lambda said: len(re.findall(pattern, said, re.MULTILINE))


def number(pattern: str) -> Callable[[str], int]:
    return lambda said: sum(map(int, re.findall(pattern, said)))


def of_pytest(home: Path, installed: Installed) -> Runner:
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:lro", "test_vectors.py"]
    return Runner(command, home, count(r"^test_vectors.py::test_vector\[.*PASSED"))


def of_typescript(home: Path, installed: Installed) -> Runner:
    (home / "node_modules").symlink_to(installed.tsx())
    command = ["node", "node_modules/tsx/dist/cli.mjs", "--test", "vectors.test.ts"]
    return Runner(command, home, count(r"^\s*(?:ok \d+ -|✔) [a-z]+\.[\w.-]+(?!.*(?:# SKIP|﹣))"))


def of_go(home: Path, installed: Installed) -> Runner:
    if shutil.which("go") is None:
        pytest.skip("go is not installed here (Debian: golang-go)")
    return Runner(["go", "test", "-count=1", "-v", "."], home, count(r"^    --- PASS: TestVectors/"))


def of_rust(home: Path, installed: Installed) -> Runner:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed here")
    if not any(DEBIAN_CRATES.glob("serde_json-*")):
        pytest.skip("the crate serde_json is not installed here (Debian: librust-serde-json-dev)")
    (home / ".cargo").mkdir()
    (home / ".cargo/config.toml").write_text(CONFIG, encoding="utf-8")
    command = ["cargo", "test", "--offline", "--quiet", "--", "--nocapture"]
    return Runner(command, home, number(r"(\d+) vectors passed"))


MAKERS = {"pytest": of_pytest, "typescript": of_typescript, "go": of_go, "rust": of_rust}
NATIVE = {"cleanup", "decision", "estimate", "injection", "name"}
"""Kinds that each of the small implementations has."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the suite's answers to all vectors, which are as the vectors expect."""
    found = {a.vector.id: a.value for a in ask(VECTORS, [sys.executable, str(ANSWERS)], edition=EDITION, timeout_s=30)}
    assert [v.id for v in VECTORS if judge(v, found[v.id], EDITION)] == []
    path = tmp_path_factory.mktemp("answers") / "answers.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


@pytest.fixture(scope="module", params=MAKERS)
def runner(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, installed: Installed) -> Runner:
    """A runner in a copy of its folder, as an implementer has it."""
    home = tmp_path_factory.mktemp(request.param) / "runner"
    ignored = shutil.ignore_patterns("node_modules", "target", "__pycache__")
    shutil.copytree(folder() / "runners" / request.param, home, ignore=ignored)
    return MAKERS[request.param](home, installed)


def adapter(answers: Path) -> str:
    return f"{sys.executable} {ANSWERS} {answers}"


def test_the_small_implementation_passes(runner: Runner) -> None:
    code, said = runner(LRO_VECTORS=str(folder()))
    assert code == 0, said[-3000:]
    assert runner.passed(said) >= sum(v.kind in NATIVE for v in VECTORS)


def test_it_agrees_with_the_suite_on_every_vector(runner: Runner, answers: Path) -> None:
    code, said = runner(LRO_VECTORS=str(folder()), LRO_ADAPTER=adapter(answers))
    assert code == 0, said[-3000:]
    assert runner.passed(said) == len(VECTORS)


def test_a_changed_expectation_is_noticed(runner: Runner, answers: Path, tmp_path: Path) -> None:
    """One vector of each kind and each comparison is changed, and those fail and no others."""
    changed = changed_copy(tmp_path)
    code, said = runner(LRO_VECTORS=str(tmp_path), LRO_ADAPTER=adapter(answers))
    assert code != 0
    assert runner.passed(said) == len(VECTORS) - len(changed), said[-3000:]
    assert [id for id in changed if id not in said] == []


def changed_copy(target: Path) -> list[str]:
    """Copy the vectors with one expectation of each kind and each comparison changed; returns their ids."""
    seen: dict[tuple[str, str], str] = {}
    for path in folder().glob("*.json"):
        value = json.loads(path.read_text(encoding="utf-8"))
        for vector in value["vectors"] if path.name != INDEX else ():
            ((comparison, wanted),) = vector["expect"].items()
            if EDITION in vector["editions"] and (vector["kind"], comparison) not in seen:
                seen[vector["kind"], comparison] = vector["id"]
                vector["expect"] = {comparison: CHANGES[comparison](wanted)}
        (target / path.name).write_text(json.dumps(value), encoding="utf-8")
    return list(seen.values())


CHANGES: Mapping[str, Callable[..., object]] = {
    "breaks": lambda wanted: [] if wanted else ["LRO-FILE-01"],
    "equals": lambda wanted: {"other": wanted},
    "same": lambda wanted: [*wanted, "another"],
    "between": lambda wanted: [wanted[1] + 1000, wanted[1] + 2000],
    "contains": lambda wanted: {**wanted, "another": 1},
    "any": lambda wanted: ["another"],
    "members": lambda wanted: {**wanted, "another": {"equals": 1}},
}


STALE = {
    "known_failures": {"decision.above-6400": "not yet", "decision.no-such-vector": "not yet"},
    "kinds": {},
}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"vectors": "2"}, ["CHANGELOG.md"]),
        (STALE, ["remove it from exceptions.json", "decision.no-such-vector", "no reason in exceptions.json"]),
    ],
    ids=["version", "stale"],
)
def test_exceptions_that_no_longer_hold_are_noticed(
    runner: Runner, change: dict[str, object], says: list[str], tmp_path: Path
) -> None:
    known = json.loads((runner.cwd / "exceptions.json").read_text(encoding="utf-8"))
    (tmp_path / "exceptions.json").write_text(json.dumps({**known, **change}), encoding="utf-8")
    code, said = runner(LRO_VECTORS=str(folder()), LRO_EXCEPTIONS=str(tmp_path / "exceptions.json"))
    assert code != 0
    assert [words for words in says if words not in said] == []


def test_a_known_failure_with_a_reason_is_no_failure(runner: Runner, tmp_path: Path) -> None:
    changed_copy(tmp_path)
    known = json.loads((runner.cwd / "exceptions.json").read_text(encoding="utf-8"))
    ids = [v.id for v in load(tmp_path).select(edition=EDITION).vectors if v.expect != ORIGINAL[v.id]]
    known["known_failures"] = {id: "a reason" for id in ids if id.partition(".")[0] in NATIVE | {"write"}}
    known["known_failures"] = {id: why for id, why in known["known_failures"].items() if kind(id) not in known["kinds"]}
    (tmp_path / "exceptions.txt").write_text(json.dumps(known), encoding="utf-8")
    code, said = runner(LRO_VECTORS=str(tmp_path), LRO_EXCEPTIONS=str(tmp_path / "exceptions.txt"))
    assert code == 0, said[-3000:]


ORIGINAL = {v.id: v.expect for v in VECTORS}


def kind(id: str) -> str:
    return id.partition(".")[0]


@pytest.mark.parametrize("runner", ["typescript"], indirect=True)
def test_the_typescript_writer_passes(runner: Runner) -> None:
    """`lro vectors run` judges what it writes by validation, recipes included."""
    answered = ask(of_kind("write"), typescript(runner), edition=EDITION, timeout_s=30)
    assert [
        (a.vector.id, judge(a.vector, a.value, EDITION)) for a in answered if judge(a.vector, a.value, EDITION)
    ] == []


@pytest.mark.parametrize("runner", ["typescript"], indirect=True)
def test_a_mistake_of_the_typescript_writer_is_told_with_the_reason(runner: Runner) -> None:
    writer = runner.cwd / "writer.ts"
    sound = writer.read_text(encoding="utf-8")
    wrong = sound.replace("`'${path.replaceAll(\"'\", \"'\\\\''\")}'`", "`'${path}'`")
    assert wrong != sound
    writer.write_text(wrong, encoding="utf-8")
    try:
        answered = ask(of_kind("write"), typescript(runner), edition=EDITION, timeout_s=30)
        failed = [r for a in answered if (r := result_of(a, EDITION)).verdict == "fail"]
    finally:
        writer.write_text(sound, encoding="utf-8")
    assert [r.vector.id for r in failed] == ["write.folder-apostrophe"]
    said = "\n".join(failed[0].lines)
    assert "LRO-REC-13: /jq_recipes/0/command the command cannot be parsed: a single quote is not closed" in said
    assert "why: The file is directly in the output directory, and the recipes read it whatever its name is." in said


def of_kind(name: str) -> list[Vector]:
    return [v for v in VECTORS if v.kind == name]


def typescript(runner: Runner) -> list[str]:
    return ["node", str(runner.cwd / "node_modules/tsx/dist/cli.mjs"), str(runner.cwd / "adapter.ts")]


@pytest.mark.parametrize("runner", ["rust"], indirect=True)
def test_the_documents_show_a_red_test_as_it_is(runner: Runner) -> None:
    page = (ROOT / "docs/vectors.md").read_text(encoding="utf-8")
    passed, failed = fenced(page, "")[0], fenced(page, "")[1]
    (changed,) = fenced(page, "rust")
    code, said = runner(LRO_VECTORS=str(folder()))
    assert code == 0
    assert passed.strip().splitlines()[-1] in said
    source = runner.cwd / "src/lib.rs"
    sound = source.read_text(encoding="utf-8")
    assert sound.count(changed.strip().replace(">=", ">")) == 1
    source.write_text(sound.replace(changed.strip().replace(">=", ">"), changed.strip()), encoding="utf-8")
    try:
        code, said = runner(LRO_VECTORS=str(folder()))
    finally:
        source.write_text(sound, encoding="utf-8")
    assert code != 0
    assert failed.strip() in said
