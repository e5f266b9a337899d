"""The runners in four languages agree with the suite on every vector, and notice an expectation that was changed."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lro_conformance.vectors.adapter import ask
from lro_conformance.vectors.judge import judge
from lro_conformance.vectors.model import INDEX, Vector, folder, load
from lro_conformance.vectors.results import judge_answer
from lro_spec.editions import EDITIONS
from tests.support.documents import fenced
from tests.support.paths import ROOT
from tests.support.registry import Installed

EDITION = "lro-6400"
VERSION = load().version
VECTORS = load().select(edition=EDITION).vectors
ANSWERS = ROOT / "tests/support/vector_answers.py"
DEBIAN_CRATES = Path("/usr/share/cargo/registry")
CONFIG = f'[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "{DEBIAN_CRATES}"\n'
TIMEOUT_S = 200
OF_TEST = r"^(?:✔|▶) \w+: (\d+) passed"
OF_CHAPTER = r"^\w+ +(\d+) passed"

pytestmark = pytest.mark.timeout(400)


@dataclass(frozen=True)
class Runner:
    """A runner that is ready to run, in a copy of the vectors as an implementer has it."""

    command: list[str]
    cwd: Path
    passed: Callable[[str], int]
    """The number of vectors that passed, from the output."""

    @property
    def vectors(self) -> Path:
        """The folder of the vectors that it reads."""
        return self.cwd.parents[1]

    def __call__(self, **env: str) -> tuple[int, str]:
        """The exit code and the output."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "LRO_"))}
        clean["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # none is needed, and each start would import them all
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


def number(pattern: str) -> Callable[[str], int]:
    return lambda said: sum(map(int, re.findall(pattern, said, re.MULTILINE)))


def of_tests(said: str) -> int:
    """The number of vectors that passed, from the last line of pytest; one more test is about the exceptions."""
    return number(r"(\d+) passed")(said) - ("test_vectors.py::test_exceptions" not in said)


def of_pytest(home: Path, installed: Installed) -> Runner:
    (home / "conftest.py").write_text(REPLAY_PYTHON, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-rsf", "-p", "no:cacheprovider", "-p", "no:lro", "test_vectors.py"]
    return Runner(command, home, of_tests)


def of_typescript(home: Path, installed: Installed) -> Runner:
    (home / "node_modules").symlink_to(installed.tsx())
    (home / "replay.ts").write_text(REPLAY_TYPESCRIPT, encoding="utf-8")
    script = json.loads((home / "package.json").read_text(encoding="utf-8"))["scripts"]["test"]
    name, *options = shlex.split(script)
    assert name == "tsx"
    command = ["node", "node_modules/tsx/dist/cli.mjs", "--import", "./replay.ts", *options]
    return Runner(command, home, number(OF_TEST))


def of_go(home: Path, installed: Installed) -> Runner:
    if shutil.which("go") is None:
        pytest.skip("go is not installed here (Debian: golang-go)")
    (home / "replay_test.go").write_text(REPLAY_GO, encoding="utf-8")
    return Runner(["go", "test"], home, number(OF_CHAPTER))


def of_rust(home: Path, installed: Installed) -> Runner:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed here")
    if not any(DEBIAN_CRATES.glob("serde_json-*")):
        pytest.skip("the crate serde_json is not installed here (Debian: librust-serde-json-dev)")
    (home / ".cargo").mkdir()
    (home / ".cargo/config.toml").write_text(CONFIG, encoding="utf-8")
    library = home / "src/lib.rs"
    own = library.read_text(encoding="utf-8")
    assert own.count("pub fn answer(") == 1
    library.write_text(own.replace("pub fn answer(", "fn own_answer(") + REPLAY_RUST, encoding="utf-8")
    command = ["cargo", "test", "--offline", "--quiet", "--test", "vectors", "--", "--nocapture"]
    return Runner(command, home, number(OF_CHAPTER))


# With LRO_ANSWERS, a file of kinds, inputs and answers, each of these answers in place of the example.
REPLAY_PYTHON = """
import json, os
from implementation import KINDS
if path := os.environ.get("LRO_ANSWERS"):
    known = {json.dumps(row[:2]): row for row in json.load(open(path))}
    KINDS.clear()
    KINDS.update({row[0]: lambda asked, kind=row[0]: known[json.dumps([kind, asked])][2] for row in known.values()})
"""
REPLAY_TYPESCRIPT = """
import { readFileSync } from "node:fs";
import { KINDS } from "./implementation.ts";
if (process.env.LRO_ANSWERS) {
  const rows = JSON.parse(readFileSync(process.env.LRO_ANSWERS, "utf8"));
  const known = new Map(rows.map((row) => [JSON.stringify(row.slice(0, 2)), row[2]]));
  for (const kind in KINDS) delete KINDS[kind];
  for (const [kind] of rows) KINDS[kind] = (question) => known.get(JSON.stringify([kind, question]));
}
"""
REPLAY_GO = """
package vectors
import ("encoding/json"; "os")
func init() {
	path := os.Getenv("LRO_ANSWERS")
	if path == "" { return }
	data, _ := os.ReadFile(path)
	var rows [][]any
	if problem := json.Unmarshal(data, &rows); problem != nil { panic(problem) }
	known := map[string]any{}
	key := func(kind any, question any) string { text, _ := json.Marshal([]any{kind, question}); return string(text) }
	for kind := range Kinds { delete(Kinds, kind) }
	for _, row := range rows {
		kind := row[0].(string)
		known[key(kind, row[1])] = row[2]
		Kinds[kind] = func(question object) any { return known[key(kind, question)] }
	}
}
"""
REPLAY_RUST = """
type Known = std::collections::HashMap<String, Value>;
thread_local! {
    static KNOWN: Option<Known> = std::env::var("LRO_ANSWERS").ok().map(|path| {
        let rows: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        rows.into_iter().map(|row| (format!("{}{}", row[0], row[1]), row[2].clone())).collect()
    });
}
pub fn answer(kind: &str, question: &Value) -> Option<Value> {
    KNOWN.with(|known| match known {
        Some(known) => known.get(&format!("{}{}", json!(kind), question)).cloned(),
        None => own_answer(kind, question),
    })
}
"""
MAKERS = {"pytest": of_pytest, "typescript": of_typescript, "go": of_go, "rust": of_rust}
NATIVE = {"cleanup", "decision", "estimate", "file", "injection", "name", "recipe", "write"}
"""Kinds that each of the small implementations has."""


@cache
def answers_of(edition: str) -> dict[str, Any]:
    """The suite's answers to all vectors of an edition by their ids, which are as the vectors expect."""
    vectors = load().select(edition=edition).vectors
    found = {a.vector.id: a.value for a in ask(vectors, [sys.executable, str(ANSWERS)], edition=edition, timeout_s=30)}
    assert [v.id for v in vectors if judge(v, found[v.id], edition)] == []
    return found


@pytest.fixture(scope="module", autouse=True)
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One target folder for the crates in Rust, so that their dependencies are compiled once, and for no debugger."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("CARGO_TARGET_DIR", str(tmp_path_factory.mktemp("target")))
        environment.setenv("CARGO_PROFILE_DEV_DEBUG", "0")
        environment.setenv("CARGO_INCREMENTAL", "0")
        yield


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    return answers_of(EDITION)


@pytest.fixture(scope="module", params=MAKERS)
def prepared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, installed: Installed) -> Runner:
    home = tmp_path_factory.mktemp(request.param) / "vectors/runners" / request.param
    ignored = shutil.ignore_patterns("node_modules", "target", "__pycache__")
    shutil.copytree(folder() / "runners" / request.param, home, ignore=ignored)
    return MAKERS[request.param](home, installed)


@pytest.fixture
def runner(prepared: Runner) -> Runner:
    """A runner with the vectors and the exceptions as they are."""
    for path in folder().glob("*.json"):
        shutil.copy(path, prepared.vectors)
    shutil.copy(folder() / "runners" / prepared.cwd.name / "exceptions.json", prepared.cwd)
    return prepared


def written(answers: Mapping[str, Any], path: Path) -> str:
    """The path of a file with answers, in which every number is written with a point."""
    rows = [[v.kind, v.input, doubles(answers[v.id])] for v in load().vectors if v.id in answers]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return str(path)


def doubles(value: Any) -> Any:
    """A value with all numbers as doubles."""
    if isinstance(value, dict):
        return {name: doubles(one) for name, one in value.items()}
    if isinstance(value, list):
        return [doubles(one) for one in value]
    return float(value) if type(value) is int else value


def names(runner: Runner) -> list[str]:
    """The names by which the summary of a runner is arranged: chapters, for pytest the kinds that are skipped."""
    if runner.cwd.name == "pytest":
        return [f" {v}: " for v in {v.kind for v in VECTORS} - NATIVE]
    return [*load().chapters]


def exceptions(runner: Runner, known: Mapping[str, str] | None = None, **changes: str) -> None:
    """Change the exceptions of a runner, which by default has none."""
    whole = {"version": VERSION.partition(".")[0], "edition": EDITION, "exceptions": known or {}}
    (runner.cwd / "exceptions.json").write_text(json.dumps({**whole, **changes}), encoding="utf-8")


LANGUAGES = list(MAKERS)


def tried(*each_time: str) -> pytest.MarkDecorator:
    """The languages in which a test is tried each time; `--long` tries all."""
    given = [pytest.param(one, marks=() if one in each_time else pytest.mark.long) for one in LANGUAGES]
    return pytest.mark.parametrize("prepared", given, indirect=True)


needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed here (Debian: jq)")


@needs_jq
def test_the_small_implementation_passes(runner: Runner) -> None:
    code, said = runner()
    assert code == 0, said[-3000:]
    known = json.loads((runner.cwd / "exceptions.json").read_text(encoding="utf-8"))
    assert not NATIVE & known["exceptions"].keys()
    failing = [v for v in VECTORS if {v.kind, v.id} & known["exceptions"].keys()]
    assert runner.passed(said) == len(VECTORS) - len(failing)
    assert len(said.splitlines()) < 60, "a summary that can be read"
    assert [name for name in names(runner) if name not in said] == []
    if runner.cwd.name == "rust":
        assert [line for line in summary_of_the_page() if line not in said] == []


def summary_of_the_page() -> list[str]:
    """What the page shows of a green test in Rust."""
    passed = fenced((ROOT / "docs/vectors.md").read_text(encoding="utf-8"), "")[0].strip()
    shown = [line for line in passed.splitlines() if line != "…" and not line.startswith("$")]
    assert len(shown) >= 5
    return shown


BESIDE = {("go", "lro-1600")}
"""The runner that is tried with another edition each time; `--long` tries all of them with each."""


def each_with(edition: str, language: str) -> object:
    rare = edition != EDITION and (language, edition) not in BESIDE
    return pytest.param(language, edition, marks=pytest.mark.long if rare else ())


@pytest.mark.parametrize(
    ("prepared", "edition"), [each_with(e, language) for language in MAKERS for e in EDITIONS], indirect=["prepared"]
)
def test_it_agrees_with_the_suite_on_every_vector(runner: Runner, edition: str, tmp_path: Path) -> None:
    exceptions(runner, edition=edition)
    code, said = runner(LRO_ANSWERS=written(answers_of(edition), tmp_path / "answers.json"))
    assert code == 0, said[-3000:]
    assert runner.passed(said) == len(load().select(edition=edition).vectors)


@tried("go", "rust")
def test_a_known_failure_with_a_reason_is_no_failure(runner: Runner, answers: dict[str, Any], tmp_path: Path) -> None:
    changed = change(runner)
    exceptions(runner, dict.fromkeys(changed, "a reason"))
    code, said = runner(LRO_ANSWERS=written(answers, tmp_path / "answers.json"))
    assert code == 0, said[-3000:]
    assert runner.passed(said) == len(VECTORS) - len(changed)


def test_every_difference_is_noticed(runner: Runner, answers: dict[str, Any], tmp_path: Path) -> None:
    """Fails the vectors with a changed rule, and tells exceptions that are none."""
    changed = change(runner)
    exceptions(runner, {"decision.above-20000": "not yet", "decision.no-such-vector": "not yet"})
    code, said = runner(LRO_ANSWERS=written(answers, tmp_path / "answers.json"))
    assert code != 0
    excused = runner.cwd.name == "pytest"  # there the test fails whose vector passes
    assert runner.passed(said) == len(VECTORS) - len(changed) - excused, said[-3000:]
    words = ["decision.above-20000", "decision.no-such-vector"]
    assert [each for each in (*changed, *words) if each not in said] == []


@tried("typescript", "go")
def test_a_failure_shows_what_explains_it_and_a_kind_without_a_function_is_one_line(
    runner: Runner, answers: dict[str, Any], tmp_path: Path
) -> None:
    """A typo in the name of a kind is two lines: the kind that has no reason, and the name that is none."""
    exceptions(runner, {"injection": "not yet", "quotting": "not yet"})
    vector = next(v for v in VECTORS if v.id == "decision.equal-4096")
    assert vector.mistake is not None
    given = {id: value for id, value in answers.items() if id.partition(".")[0] not in {"injection", "quoting"}}
    wrong = {**given, vector.id: vector.mistake["answer"]}
    code, said = runner(LRO_ANSWERS=written(wrong, tmp_path / "answers.json"))
    assert code != 0
    assert runner.passed(said) == len(given) - 1
    start = said.index(vector.about)
    shown = said[max(0, start - 160) : start + 700]
    parts = [
        vector.id,
        vector.why,
        "LRO-THR-07",
        vector.mistake["why"],
        "expected",
        "inline",
        "got",
        "offloaded",
        "4096",
    ]
    assert [part for part in parts if part not in shown] == [], shown
    lines = [line for line in said.splitlines() if not line.startswith("FAILED ")]  # which has the same, or part of it
    (missing,) = {line.strip() for line in lines if "this kind of vectors" in line and "quoting" in line}
    assert "injection" not in missing
    assert any("quotting" in line for line in said.splitlines())
    assert said.count("quoting.") < 10, "no line for each vector"


@tried("go", "rust")
def test_an_empty_reason_is_none_and_another_wrong_answer_is_not_called_the_common_mistake(
    runner: Runner, answers: dict[str, Any], tmp_path: Path
) -> None:
    exceptions(runner, {"decision.equal-4096": "", "quoting": ""})
    vector = next(v for v in VECTORS if v.id == "decision.equal-4096")
    assert vector.mistake is not None
    given = {id: value for id, value in answers.items() if not id.startswith("quoting.")}
    code, said = runner(LRO_ANSWERS=written({**given, vector.id: "maybe"}, tmp_path / "answers.json"))
    assert code != 0
    assert any("this kind of vectors" in line and "quoting" in line for line in said.splitlines())
    assert vector.why in said
    assert vector.mistake["why"] not in said
    assert "mistake: " not in said


@pytest.mark.parametrize(
    "edition", ["lro-6400 lro-1600", *(pytest.param(e, marks=pytest.mark.long) for e in ("lro-640", ""))]
)
def test_an_unknown_edition_is_one_line_with_the_known_ones(runner: Runner, edition: str) -> None:
    exceptions(runner, edition=edition)
    code, said = runner()
    assert code != 0
    (line,) = {line for line in said.splitlines() if "has the edition" in line and "FAILED" not in line}
    assert [name for name in (edition, "lro-6400", "lro-1600", "lro-paper") if name not in line] == []
    assert runner.passed(said) == 0
    assert len(said.splitlines()) < 40


@tried("typescript", "go")
def test_a_version_of_another_format_is_noticed(runner: Runner) -> None:
    exceptions(runner, version="1")
    code, said = runner()
    assert code != 0
    assert "read CHANGELOG.md" in said


def change(runner: Runner) -> list[str]:
    """Change one rule of each form for each place in the answers to each kind; returns the ids of the vectors."""
    seen: dict[tuple[str, str, str], str] = {}
    for path in runner.vectors.glob("*.json"):
        value = json.loads(path.read_text(encoding="utf-8"))
        for vector in value["vectors"] if path.name != INDEX else ():
            for rule in vector["expect"] if EDITION in vector["editions"] else ():
                place, (form, wanted) = rule.pop("at"), rule.popitem()
                rule.update({"at": place, form: wanted})
                if (vector["kind"], place, form) not in seen and vector["id"] not in seen.values():
                    seen[vector["kind"], place, form] = vector["id"]
                    rule[form] = CHANGES[form](wanted)
        path.write_text(json.dumps(value), encoding="utf-8")
    return list(seen.values())


CHANGES: Mapping[str, Callable[[list[Any]], list[Any]]] = {
    "is": lambda wanted: [int(one) if isinstance(one, bool) else {"other": one} for one in wanted],
    "has": lambda wanted: ["no such words"],
    "between": lambda wanted: [wanted[1] + 1000, wanted[1] + 2000],
}


@pytest.mark.parametrize("prepared", ["typescript"], indirect=True)
def test_the_typescript_writer_passes(runner: Runner) -> None:
    """`lro vectors run` judges what it writes by validation, recipes included."""
    answered = ask(of_kind("write"), typescript(runner), edition=EDITION, timeout_s=30)
    assert [
        (a.vector.id, judge(a.vector, a.value, EDITION)) for a in answered if judge(a.vector, a.value, EDITION)
    ] == []


@pytest.mark.parametrize("prepared", ["typescript"], indirect=True)
def test_a_mistake_of_the_typescript_writer_is_told_with_the_reason(runner: Runner) -> None:
    writer = runner.cwd / "writer.ts"
    sound = writer.read_text(encoding="utf-8")
    wrong = sound.replace("`'${path.replaceAll(\"'\", \"'\\\\''\")}'`", "`'${path}'`")
    assert wrong != sound
    writer.write_text(wrong, encoding="utf-8")
    try:
        answered = ask(of_kind("write"), typescript(runner), edition=EDITION, timeout_s=30)
        failed = [r for a in answered if (r := judge_answer(a, EDITION)).verdict == "fail"]
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


@pytest.mark.long
@needs_jq
@pytest.mark.parametrize("prepared", ["rust"], indirect=True)
def test_the_documents_show_a_red_test_as_it_is(runner: Runner) -> None:
    """Compiles twice more. That the runner is red for a wrong rule is tried each time by other tests."""
    page = (ROOT / "docs/vectors.md").read_text(encoding="utf-8")
    failed = fenced(page, "")[1].strip()
    (changed,) = fenced(page, "rust")
    source = runner.cwd / "src/lib.rs"
    green, _ = runner()
    sound = source.read_text(encoding="utf-8")
    assert sound.count(changed.strip().replace(">=", ">")) == 1
    source.write_text(sound.replace(changed.strip().replace(">=", ">"), changed.strip()), encoding="utf-8")
    try:
        code, said = runner()
    finally:
        source.write_text(sound, encoding="utf-8")
    assert code != 0
    assert failed in said
    assert green == 0


OWN = ROOT / "docs/vectors.md"
MINE = {  # the implementer's own code, before the steps of the page
    "rust": {
        "Cargo.toml": '[package]\nname = "mine"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "pub fn is_offloaded(tokens: u64, threshold: u64, enabled: bool) -> bool {\n"
        "    enabled && tokens > threshold\n}\n",
        ".cargo/config.toml": CONFIG,
    },
    "go": {
        "go.mod": "module example.com/mine\n\ngo 1.19\n",
        "mine.go": "package mine\n\nfunc IsOffloaded(tokens, threshold float64, enabled bool) bool {\n"
        "\treturn enabled && tokens > threshold\n}\n",
    },
    "typescript": {
        "package.json": '{"type": "module"}',
        "mine.ts": "export const isOffloaded = (tokens: number, threshold: number, enabled: boolean) =>\n"
        "  enabled && tokens > threshold;\n",
    },
    "pytest": {
        "mine.py": "def is_offloaded(tokens, threshold, enabled):\n    return enabled and tokens > threshold\n",
    },
}
PASSED = {
    "rust": number(OF_CHAPTER),
    "go": number(OF_CHAPTER),
    "typescript": number(OF_TEST),
    "pytest": of_tests,
}
COMMANDS = {
    "rust": ["cargo", "test", "--offline", "--test", "vectors", "--", "--nocapture"],
    "go": ["go", "test"],
    "typescript": ["node", "node_modules/tsx/dist/cli.mjs", "--test", "--test-reporter", "spec", "vectors.test.ts"],
    "pytest": [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "-p", "no:lro", "test_vectors.py"],
}


@pytest.mark.parametrize(
    "language", [pytest.param(n, marks=() if n in ("go", "rust") else pytest.mark.long) for n in MINE]
)
def test_steps_of_the_page_put_a_runner_into_an_own_project(
    language: str, installed: Installed, tmp_path: Path
) -> None:
    """The example's exceptions are told first; with those of the page the test is green, and red for a mistake."""
    needs = {"rust": "cargo", "go": "go", "typescript": "node", "pytest": "bash"}
    if shutil.which(needs[language]) is None or (language == "rust" and not any(DEBIAN_CRATES.glob("serde_json-*"))):
        pytest.skip(f"{needs[language]} or a crate is not installed here")
    page = OWN.read_text(encoding="utf-8")
    (steps,) = (block for block in fenced(page, "sh") if f"runners/{language}/" in block)
    for name, text in MINE[language].items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    ignored = shutil.ignore_patterns("node_modules", "target", "__pycache__")
    shutil.copytree(folder(), tmp_path / "vectors", ignore=ignored)
    if language == "typescript":
        (tmp_path / "node_modules").symlink_to(installed.tsx())
    subprocess.run(["bash", "-euc", steps], cwd=tmp_path, check=True, timeout=20)
    runner = Runner(COMMANDS[language], tmp_path, PASSED[language])
    code, said = runner()
    assert code != 0
    assert "this kind of vectors" in said
    assert "file.light-with-content" in said, "an exception of the example, which this project does not need"
    known = next(block for block in fenced(page, "json") if '"mapping": "We are no proxy."' in block)
    (tmp_path / "exceptions.json").write_text(known, encoding="utf-8")
    code, said = runner()
    assert code == 0, said[-3000:]
    assert runner.passed(said) == sum(v.kind == "decision" for v in VECTORS)
    (source,) = (tmp_path / name for name, text in MINE[language].items() if "tokens > threshold" in text)
    wrong = source.read_text(encoding="utf-8").replace("tokens > threshold", "tokens >= threshold")
    source.write_text(wrong, encoding="utf-8")
    code, said = runner()
    assert code != 0
    assert "decision.equal-6400" in said
