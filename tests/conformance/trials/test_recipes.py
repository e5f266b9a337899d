"""How recipes are run: which of them on which files, by which jq, and what is made of a command that is none."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace as Made
from typing import Any, cast

import pytest

from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import evidence_of
from lro_conformance.trials import recipe_runner, recipes
from lro_conformance.trials.recipe_runner import RecipeRunner
from lro_conformance.trials.recipes import (
    Command,
    again,
    attempt,
    commands_of,
    hides,
    recipes_by,
    roles,
    with_unusual_queries,
    without_path,
)
from lro_spec.editions import DEFAULT_EDITION
from lro_spec.recipes.pipeline import JqCall, Pipeline
from lro_spec.recipes.runner import EngineError, JqRun, JqRunner
from tests.golden.evidence import evidence, made
from tests.support.private import inner

Recipe = dict[str, Any]
MIB = 1 << 20


def put(**commands: str) -> Callable[[list[Recipe]], list[Recipe]]:
    """Recipes with other commands at some places (``at_3``), made of what stands there."""

    def change(found: list[Recipe]) -> list[Recipe]:
        said = [{**r, "command": commands.get(f"at_{n}", "{}").format(r["command"])} for n, r in enumerate(found, 1)]
        return [*said, {"description": "another", "command": "jq . /out/x.jsonl"}]

    return change


def one(change: dict[str, Any] | None = None, detail: str | None = "full") -> Any:
    return made(0, "recall", detail, None, change or {})


class Plain(RecipeRunner):
    """libjq, also where another jq was asked for."""

    asked: list[tuple[str | None, dict[str, Any]]]

    def __init__(self, binary: str | None = None, **limits: Any) -> None:
        self.asked.append((binary, limits))
        super().__init__(**limits)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str | None, dict[str, Any]]]:
    """What runners were asked for."""
    found: list[tuple[str | None, dict[str, Any]]] = []
    monkeypatch.setattr(Plain, "asked", found, raising=False)
    monkeypatch.setattr(recipes, "RecipeRunner", Plain)
    return found


def test_the_jq_of_the_machine_runs_each_recipe_once_on_the_last_file(
    monkeypatch: pytest.MonkeyPatch, asked: list[tuple[str | None, dict[str, Any]]]
) -> None:
    survey, steps = evidence(None, {})["survey"], list[str]()
    runs: dict[str | None, list[tuple[int, int, str | None]]] = {}
    for binary in (None, "/bin/jq"):
        monkeypatch.setattr(recipes.shutil, "which", lambda _, binary=binary: binary)
        monkeypatch.setattr(recipes, "OUTPUT_BYTES", recipes.OUTPUT_BYTES | (0xFFF if binary else 0))
        found = recipes_by(DEFAULT_EDITION, survey, steps.append)
        assert found.engine == (binary or "libjq")
        runs[binary] = [(id(t.command.call), t.number, t.literal) for t in found.tries]
    last = runs[None][-1][0]
    each = [[r for r in runs[None] if r[:2] == (last, number)][-1] for number in range(1, 11)]
    twice = [r for r in set(runs["/bin/jq"]) if runs["/bin/jq"].count(r) == 2]
    assert sorted(twice) == sorted(each)
    assert len(runs["/bin/jq"]) == len(runs[None]) + 10
    assert steps[: len(steps) // 2] == ["recall ", "recall medium", "recall full"][: len(steps) // 2]
    largest = max(len(c.file.data) for c in survey.whole.values())
    assert asked[0] == asked[1] == (None, {"max_output": MIB + 8 * largest})
    assert asked[2] == ("/bin/jq", {"max_output": MIB + 0xFFF + 8 * largest})


class Endless:
    """Runs that a limit ends: those of some programs, or of all."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *programs: str) -> None:
        self.ran: list[tuple[str, float]] = []
        self.programs = programs
        monkeypatch.setattr(JqRunner, "run", lambda runner, pipeline, _: self.run(runner, pipeline))

    def run(self, runner: JqRunner, pipeline: Pipeline) -> JqRun:
        self.ran.append((pipeline.jq.program, runner.timeout_s))
        ends = pipeline.jq.program not in (self.programs or [pipeline.jq.program])
        return JqRun(0, b"", "", not ends, "libjq", "" if ends else "timed out")


def test_who_waited_in_vain_waits_half_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Endless(monkeypatch, "a")
    with RecipeRunner() as runner:
        for program in "abaaaab":
            runner.run(Pipeline("/f", 0, JqCall(program), ()), b"")
    assert endless.ran == [*zip("abaaaab", (4.0, 2.0, 2.0, 1.0, 0.5, 0.5, 0.5), strict=True)]


def test_recipes_that_never_end_are_tried_on_one_file_and_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Endless(monkeypatch)
    found = recipes_by(DEFAULT_EDITION, evidence(None, {})["survey"])
    assert [t.number for t in found.tries] == list(range(1, 11))
    assert len({id(t.command.call) for t in found.tries}) == 1
    assert not any(t.agreement.ok or t.agreement.erratum for t in found.tries)
    assert found.unmet == ()
    # for the first purpose each is tried, and from then on each in its own place only
    assert len(endless.ran) == 19


@pytest.mark.parametrize(("many", "files"), [(1, 3), (3, 1)])
def test_three_that_were_ended_are_enough(monkeypatch: pytest.MonkeyPatch, many: int, files: int) -> None:
    survey = evidence(None, {})["survey"]
    real = JqRunner.run
    some = [commands_of(survey.files[0])[at] for at in (0, 4, 7)[:many]]  # they look for nothing
    never = [c.text.partition("| jq")[2] for c in some]

    def run(runner: JqRunner, pipeline: Pipeline, data: bytes) -> JqRun:
        ends = not any(pipeline.jq.program in text for text in never)
        return real(runner, pipeline, data) if ends else JqRun(-9, b"", "", True, "libjq", "timed out")

    monkeypatch.setattr(JqRunner, "run", run)
    found = recipes_by(DEFAULT_EDITION, survey)
    assert len({id(t.command.call) for t in found.tries}) == files


def test_what_never_ends_is_tried_for_one_purpose_and_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Endless(monkeypatch, "never")
    call = one({"recipes": lambda found: [{"description": "", "command": "jq never /out/x.jsonl"}, *found]})
    with RecipeRunner() as runner:
        for role in roles(DEFAULT_EDITION, call):
            attempt(runner, DEFAULT_EDITION, role, call, commands_of(call))
    assert [program for program, _ in endless.ran].count("never") == 1
    assert len(endless.ran) > 20


def test_the_run_is_asked_before_each_whether_it_goes_on() -> None:
    asked: list[object] = []
    editions = Made(own=Made(name=DEFAULT_EDITION))
    lab: Any = Made(editions=editions, step=lambda *_: None, run=Made(pause=asked.append))
    recipes.recipes(lab, evidence(None, {})["survey"])
    assert set(asked) == {0}


def test_a_file_without_records_is_not_looked_at() -> None:
    empty = one({"data": lambda rows: rows[0]})
    with pytest.raises(NotObserved, match="no file with records"):
        inner(recipes, "_to_run")(Made(whole={"recall": empty}), {id(empty): []})


def test_files_without_recipes_lack_those_of_the_level_of_the_first() -> None:
    light, full = (one({"recipes": lambda _: []}, d) for d in ("light", "full"))
    for files in ((light, full), (full, light)):
        survey: Any = Made(files=files)
        found = recipes_by("lro-paper", survey)
        assert found.unmet == tuple((role.number, files[0]) for role in roles("lro-paper", files[0]))
        assert found.unmet[0][1] is files[0]
    nothing: Any = Made(files=())
    assert recipes_by("lro-paper", nothing).unmet == ()


def test_a_recipe_is_told_by_its_place_from_one() -> None:
    for index in (1, 2):
        assert evidence_of(Command(one(), index, "d", "jq .")).startswith(f"recipe #{index + 1}: jq .\n")


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("tail -n +2 /a/b.jsonl | jq .", "tail -n +2 FILE | jq ."),
        ("jq . '/a b.jsonl'\n<x.jsonl", "jq . '/a FILE\nFILE"),
        ("jq '.jsonl.x'", "jq FILE"),
        ("jq .json l", "jq .json l"),
        (None, "None"),
        ("x" * 2_000_000, "x" * 2_000_000),  # an expression that looks for the end from every place takes hours
    ],
)
def test_commands_are_alike_whatever_file_they_are_for(text: Any, bare: str) -> None:
    assert without_path(Command(cast("Any", None), 0, "d", text)) == bare


def test_a_level_that_is_no_word_is_none() -> None:
    assert recipes.level_in(DEFAULT_EDITION, one({"summary": {"detail": []}})) == "full"
    assert recipes.level_in(DEFAULT_EDITION, one({"summary": {"detail": "x"}})) == "full"
    assert recipes.level_in(DEFAULT_EDITION, one(detail="light")) == "light"


def tried(call: Any, number: int, may: Callable[[Command], bool] | None = None) -> list[Any]:
    """The runs of what does the same as a standard recipe."""
    role = roles(DEFAULT_EDITION, call)[number - 1]
    with RecipeRunner() as runner:
        return attempt(runner, DEFAULT_EDITION, role, call, commands_of(call), may)


def test_a_command_at_another_place_is_taken_where_it_may_be() -> None:
    call = one({"recipes": lambda found: found[::-1]})
    assert {t.command.index for t in tried(call, 1)} == {9}
    assert {t.command.index for t in tried(call, 1, lambda _: True)} == {9}
    assert {t.command.index for t in tried(call, 1, lambda _: False)} == {0}
    assert {t.command.index for t in tried(one(), 1, lambda _: False)} == {0}


def test_one_that_is_not_understood_does_not_hide_the_next() -> None:
    call = one({"recipes": lambda found: [{"description": "", "command": "awk"}, *found]})
    assert {t.command.index for t in tried(call, 1)} == {1}


@pytest.mark.parametrize(
    ("command", "alone"),
    [
        ("cat /out/x.jsonl | jq 'select(.type != \"lro_header\") | .id'", True),
        ("cat /out/x.jsonl | jq '.id'", False),
        ("tail -n +2 /out/x.jsonl | jq '.id'", False),
    ],
)
def test_a_wrong_command_may_leave_out_the_header_by_itself(command: str, alone: bool) -> None:
    call = one({"recipes": lambda _: [{"description": "", "command": command}]})
    (found,) = tried(call, 1)
    assert (found.agreement.ok, found.header_left_out) == (False, alone)


@pytest.mark.parametrize(
    ("listed", "number", "fails", "hidden"),
    [(1, 2, "why", True), (0, 2, "why", False), (2, 2, "why", False), (1, 2, None, False), (9, 10, "why", True)],
)
def test_a_recipe_is_hidden_where_the_list_has_no_place_for_it(
    monkeypatch: pytest.MonkeyPatch, listed: int, number: int, fails: str | None, hidden: bool
) -> None:
    monkeypatch.setattr(recipes, "erratum", lambda *_, **__: fails)
    call = one({"recipes": lambda found: found[:listed]})
    assert hides(DEFAULT_EDITION, roles(DEFAULT_EDITION, call)[number - 1], call) is hidden


def test_a_word_that_is_looked_for_is_tried_beside_the_command_as_it_stands() -> None:
    runs: list[Pipeline] = []

    def run(pipeline: Pipeline, data: bytes) -> JqRun:
        runs.append(pipeline)
        return JqRun(0, b"as it stands", "", False, "libjq")

    delivered, runner = inner(recipes, "_delivered"), Made(run=run)
    some = tried(one(), 2)
    assert [t.literal for t in some] == ["a", "_semantic"]
    assert [t.ran == t.command.pipeline for t in some] == [False, True], "the text's own word is in the command"
    assert [t.delivered for t in delivered(runner, some)] == [some[1].output, None]
    assert runs == []
    other = tried(one({"recipes": lambda found: [{**r, "command": r["command"].replace("_", "x")} for r in found]}), 2)
    assert [t.delivered and t.delivered.stdout for t in delivered(runner, other)] == [b"as it stands", None]
    assert runs == [other[0].command.pipeline]
    alone = one({"recipes": lambda found: [{}, {**found[1], "command": found[1]["command"] + " | jq empty"}]})
    plain, wrong = tried(one(), 1), tried(alone, 2)
    assert [t.agreement.ok for t in wrong] == [False, True]
    assert [delivered(runner, t) for t in (plain, wrong, [])] == [plain, wrong, []]
    assert len(runs) == 1


@pytest.mark.parametrize(
    ("before", "now", "there"), [(0, 0, True), (3, 0, True), (0, 5, True), (0, 3, False), (3, 3, True)]
)
def test_a_program_that_another_jq_is_too_old_to_read_says_nothing(before: int, now: int, there: bool) -> None:
    first = replace(tried(one(), 1)[0], output=JqRun(before, b"", "", False, "libjq"))
    new = JqRun(now, b"", "", False, "jq")
    found = again(cast("Any", Made(run=lambda *_: new)), [first, cast("Any", Made(ran=None))])
    assert [t.output for t in found] == [new] * there


class TestUnusualQueries:
    def tried(self, survey: Any, *calls: Any) -> list[int]:
        return [t.number for t in with_unusual_queries(DEFAULT_EDITION, survey, calls)]

    def test_commands_that_no_other_descriptor_has_are_run_once(self) -> None:
        odd = one({"recipes": put(at_2="awk {}", at_3="{} | jq .", at_5="{} | jq -c .")})
        unfiled = one({"recipes": put(at_1="{} | jq ."), "data": lambda rows: rows[0]})
        survey: Any = Made(files=(one(),))
        assert self.tried(survey, unfiled, odd, odd) == [3, 5]

    def test_one_whose_engine_fails_is_left_out_and_one_without_end_is_the_last(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        survey: Any = Made(files=())
        ends: dict[str, Any] = {"engine": "", "problem": "", "status": 0}

        class Runner:
            def __init__(self, **_: Any) -> None: ...

            def __enter__(self) -> Runner:
                return self

            def __exit__(self, *_: object) -> None: ...

            def run(self, pipeline: Pipeline, data: bytes) -> JqRun:
                said = f"{pipeline.jq} {pipeline.more}"
                if ends["engine"] and ends["engine"] in said:
                    raise EngineError("no engine")
                slow = bool(ends["problem"]) and ends["problem"] in said
                return JqRun(ends["status"], b"", "", False, "libjq", "timed out" if slow else "")

        monkeypatch.setattr(recipes, "RecipeRunner", Runner)
        odd = one({"recipes": put(at_2="{} | jq '\"b\"'", at_4="{} | jq '\"d\"'")})
        assert self.tried(survey, odd) == [*range(1, 11)]
        ends["engine"] = '"b"'
        assert self.tried(survey, odd) == [1, *range(3, 11)]
        ends["problem"] = '"d"'
        assert self.tried(survey, odd) == [1, 3]
        ends["problem"] = "_semantic"  # what the command says, and not what it was made to look for
        assert self.tried(survey, one()) == [1]
        ends["problem"] = ""
        assert [t.literal for t in with_unusual_queries(DEFAULT_EDITION, survey, [one()])][1] == "a"
        ends["status"] = 3
        assert [t.literal for t in with_unusual_queries(DEFAULT_EDITION, survey, [one()])][1] is None


class TestWhatLibjqCannotRun:
    """A program with `input` in a way that only a jq can feed."""

    ODD = one({"recipes": put(at_5="jq 'input | {{id, title, namespace}}' /out/x.jsonl # {}")})

    def found(self, monkeypatch: pytest.MonkeyPatch, binary: str | None, call: Any = ODD) -> recipes.Recipes:
        monkeypatch.setattr(recipe_runner.shutil, "which", lambda _: binary)
        survey: Any = Made(files=(call,), concurrent_files=(), whole={("recall", "full"): call})
        return recipes_by(DEFAULT_EDITION, survey)

    def test_is_no_reason_to_judge_no_recipe(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found = self.found(monkeypatch, None)
        assert {t.number for t in found.tries} == {*range(1, 11)} - {5}
        assert [number for number, _ in found.unmet] == [5]
        assert [*found.unrun.values()] == ["this use of input and inputs needs a jq binary"]

    def test_leaves_another_recipe_its_turn(self, monkeypatch: pytest.MonkeyPatch) -> None:
        odd = put(at_5="jq 'input | {{id, title, namespace}}' /out/x.jsonl # {}")
        also = one({"recipes": lambda found: [*odd(found), found[4]]})
        found = self.found(monkeypatch, None, also)
        assert [(t.number, t.agreement.ok) for t in found.tries if t.number == 5] == [(5, True)]

    def test_is_run_by_the_jq_of_the_machine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        binary = shutil.which("jq")
        if binary is None:
            pytest.skip("this machine has no jq")
        found = self.found(monkeypatch, binary)
        assert not found.unrun
        assert {t.number for t in found.tries} == {*range(1, 11)}
        assert not any(t.agreement.ok for t in found.tries if t.number == 5)
