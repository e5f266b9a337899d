"""Which recipe is blamed for what, apart from jq: what each command does is written in its program."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from lro_spec.editions import edition
from lro_spec.findings import Finding
from lro_spec.recipes.compare import Agreement
from lro_spec.recipes.pipeline import Pipeline
from lro_spec.recipes.runner import EngineError
from lro_spec.validation import recipes
from lro_spec.validation.recipes import Judgement, RecipeJudge, Sample

LRO = edition("lro-6400")
NUMBERS = range(1, 11)
TEXTS = {r.number: r.description.lower() for r in LRO.recipes_at("full")}


UNREADABLE = {
    "broken": "jq: error: syntax error\njq: 1 compile error\n",
    "younger": "jq: error: f/0 is not defined at <top-level>\n",
}
"""Programs that jq cannot read, and what it says of them."""
REGEX = "jq: error (at <stdin>): Regex failure\n"
FAILING = {'3,"*"': REGEX, '10,"*"': REGEX, '10,"pattern"': REGEX}
"""Programs that fail by what they look for."""


class Output(str):
    """What a program put out."""

    ok, problem, engine, stdout = True, "", "jq", b""

    @property
    def stderr(self) -> str:
        return {**UNREADABLE, **FAILING}.get(self, "")

    @property
    def status(self) -> int:
        return 3 if self in UNREADABLE else 0


class Runner:
    """Gives the program back in the place of what it would put out."""

    max_output, installed = 0, None

    def __init__(self, *, fallback: bool, memory: int) -> None:
        assert not fallback
        self.memory = memory

    def close(self) -> None:
        return None

    def run(self, pipeline: Pipeline, data: bytes) -> Output:
        assert bool(data) <= self.max_output < self.memory
        if "no engine" in pipeline.jq.program or (pipeline.jq.program == "only whole" and pipeline.skip):
            raise EngineError("no engine")
        assert data in (b"{}\n", b"")
        if not data:  # it is only compiled, and so must not begin with a value
            assert not any((pipeline.jq.slurp, pipeline.jq.null_input, pipeline.more))
        return Output(pipeline.jq.program)


def agreed(number: int, output: str, records: object, literal: str | None, **told: Any) -> Agreement:
    """``3``: does what recipe 3 does. ``e3``: the same, but for an erratum. ``h3``: the same, with the header.

    ``3,"x"``: the same, searching for something. ``3,"x" # y``: the same, but not for y.
    """
    assert told["header"] == {"detail": "full"}
    assert (told["edition"], told["detail"]) == ("lro-6400", "full")
    does = output.lstrip("eh").partition(",")[0]
    right = does == str(number) and output.partition(" # ")[2] != literal
    seen = f"{output} for {literal}"
    erratum = "nothing there" if output.startswith("e") and right else None
    return Agreement(right and output[0] not in "eh", "E", seen, output.startswith("h") and right, erratum)


def same(one: str, other: str) -> bool:
    return one == other == "same"


@pytest.fixture(autouse=True)
def without_jq(monkeypatch: pytest.MonkeyPatch) -> None:
    trial: Any = vars(recipes)["_Trial"]
    monkeypatch.setattr(trial, "_can_search", lambda self, recipe, pipeline: True)  # a number stands for a search
    monkeypatch.setattr(recipes, "BoundedRunner", Runner)
    monkeypatch.setattr(recipes, "agrees", agreed)
    monkeypatch.setattr(recipes, "same_output", same)


def of(*programs: str) -> dict[str, Any]:
    return {"jq_recipes": [{"command": p if " f" in p else f"tail -n +2 f | jq '{p}'"} for p in programs]}


def said(*programs: str, records: Sequence[dict[str, Any]] = ({"id": "a"},)) -> list[str]:
    return [str(finding) for finding in judged(*programs, records=records).findings]


def judged(*programs: str, records: Sequence[dict[str, Any]] = ({"id": "a"},)) -> Judgement:
    with RecipeJudge() as judge:
        return judge.judge(of(*programs), Sample(b"{}\n", {"detail": "full"}, records), LRO)


def undecided(*programs: str, records: Sequence[dict[str, Any]] = ({"id": "a"},)) -> dict[str, str]:
    found = judged(*programs, records=records).undecided
    assert [*found] == [r.requirement for r in LRO.recipes_at("full")]
    return {rule: reason for rule, reason in found.items() if reason is not None}


def compiled(descriptor: dict[str, Any]) -> list[Finding]:
    with RecipeJudge() as judge:
        return list(judge.judge(descriptor, "no records", LRO).findings)


def all_but(**changed: str) -> list[str]:
    return [changed.get(f"at{n}", str(n)) for n in NUMBERS]


def test_ten_right_ones_have_no_findings() -> None:
    assert said(*all_but()) == []


@pytest.mark.parametrize("number", [1, 5, 10])
def test_one_that_does_something_else_is_blamed_at_its_place(number: int) -> None:
    found = said(*all_but(**{f"at{number}": "99"}))
    assert len(found) == 1
    assert f"/jq_recipes/{number - 1}/command: recipe {number} ({TEXTS[number]}" in found[0]


def test_one_that_is_done_elsewhere_is_not_missed() -> None:
    assert said("2", "1", *map(str, range(3, 11))) == []
    assert said(*all_but(at5="99"), "5") == []


def test_one_that_does_more_with_the_header_is_blamed_for_that() -> None:
    (found,) = said(*all_but(at4="h4"))
    assert found == (
        "LRO-REC-12 /jq_recipes/3/command: recipe 4 does not start reading at line 2: expected E, got h4 for None"
        " — skip the header, and nothing else: tail -n +2"
    )
    assert undecided(*all_but(at4="h4")) == {"LRO-REC-04": "it does not skip exactly the header line"}


@pytest.mark.parametrize("command", ["jq '99' f", "tail -n +3 f | jq '99'"])
def test_one_that_reads_from_another_line_is_blamed_for_that(command: str) -> None:
    (found,) = said(*all_but(at4=command))
    assert found.startswith("LRO-REC-12 /jq_recipes/3/command: recipe 4 does not start reading at line 2")


def test_one_that_gives_the_same_without_the_header_is_blamed_for_what_it_does() -> None:
    for command in ("jq 'same' f", "jq 'only whole' f", "tail -n +2 f | head -n 5 | jq '99'"):
        (found,) = said(*all_but(at4=command))
        assert "recipe 4 (" in found


def test_an_erratum_of_the_text_is_a_warning_at_its_place() -> None:
    (found,) = said(*all_but(at4="e4"))
    assert found == (
        "warning: LRO-REC-04 /jq_recipes/3/command: recipe 4 fails on this file because of an erratum in the "
        "specification (E-01), not a fault of the server: nothing there: expected E, got e4 for None — nothing has "
        "to be repaired; a recipe with `sort_by(-(.provenance.confidence // 0))` works for such records, too"
    )
    assert len(said(*all_but(at4="e4"), "4")) == 1, "what stands at its place is warned of all the same"
    for elsewhere in (said(*all_but(at4="99"), "e4"), said(*all_but(at1="e4", at4="99"), "1")):
        (found,) = elsewhere
        assert "recipe 4 (" in found, "elsewhere it is none"


def test_what_is_looked_for_is_told() -> None:
    (found,) = said(*all_but(at3='99,"x"'))
    assert found.startswith(f"LRO-REC-03 /jq_recipes/2/command: recipe 3 ({TEXTS[3]}, searching")
    assert 'searching for "keyword" in any letter case)' in found


def test_where_one_is_left_out_those_behind_it_are_not_blamed() -> None:
    (missing,) = said(*(str(n) for n in NUMBERS if n != 4))
    assert "no recipe does what recipe 4 is for" in missing
    found = said("1", "2", "3", "99", *map(str, range(6, 11)))
    assert [one.partition(" (")[0].split(" /", 1)[1] for one in found] == [
        "jq_recipes: no recipe does what recipe 4 is for",
        "jq_recipes/3/command: recipe 4",
        "jq_recipes: no recipe does what recipe 5 is for",
    ]


def test_one_that_is_there_too_often_is_blamed_where_none_is_left_out() -> None:
    (found,) = said(*all_but(at4="5"))
    assert "/jq_recipes/3/command: recipe 4 (" in found


def test_what_cannot_be_understood_is_not_blamed_here() -> None:
    assert said(*all_but(at4="python f")) == []
    assert undecided(*all_but(at4="python f")) == {"LRO-REC-04": "its command could not be understood"}
    assert undecided(*all_but(at4="python f"), "4") == {}
    assert said(*all_but(at4="python f", at6="99")) != []


def test_what_cannot_be_run_is_told_and_blamed_for_nothing() -> None:
    (told,) = said(*all_but(at4="no engine"))
    assert told.startswith("warning: LRO-REC-13 /jq_recipes/3/command: recipe 4 was not run: ")
    assert told.endswith(": expected a program that can be run here, within the limits, got no engine")
    assert said(*all_but(at4="99"), "no engine") == []  # which may do it, for all one knows
    assert said(*all_but(at4="no engine"), "4") == [], "another one does it"
    assert undecided(*all_but(at4="no engine"), "4") == {}
    assert [*undecided(*all_but(at4="no engine"))] == [*undecided(*all_but(at4="99"), "no engine")] == ["LRO-REC-04"]


def test_after_forty_recipes_no_more_are_looked_at() -> None:
    filler = ["99"] * 29
    assert said(*all_but(at4="99"), *filler, "4") == []
    assert len(said(*all_but(at4="99"), *filler, "99", "4")) == 1


def test_runs_end_when_patience_does(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([100.0, 100.0, 120.0, 120.1])
    monkeypatch.setattr(recipes, "time", SimpleNamespace(monotonic=lambda: next(now)))
    first, second, end = said(*all_but(at1="99", at2="99"))
    assert ("recipe 1" in first, "recipe 2" in second) == (True, True)
    assert end == (
        "warning: LRO-REC-13 /jq_recipes: not all recipes were run: the time limit of 20 s for all of them was reached"
    )


@pytest.mark.parametrize("number", NUMBERS)
def test_one_that_jq_cannot_read_is_blamed_once_though_another_does_the_same(number: int) -> None:
    last = said(*all_but(**{f"at{number}": "broken"}), str(number))
    first = said(*all_but(at1=str(number), **{f"at{number}": "broken"}), "1") if number > 1 else last
    assert last == first
    (found,) = last
    assert f"/jq_recipes/{number - 1}/command: recipe {number} (" in found


TEXTUAL = [{"title": "alpha x", "content": "gamma x"}, {"title": "beta y", "content": "delta y"}]


@pytest.mark.parametrize("number", [3, 10])
def test_one_that_fails_by_what_it_looks_for_is_blamed_though_another_does_the_same(number: int) -> None:
    failing = f'{number},"*"'
    told = said(*all_but(**{f"at{number}": failing}), records=TEXTUAL)
    word = {3: "alpha", 10: "gamma"}[number]
    assert told == [
        (
            f"LRO-REC-{number:02} /jq_recipes/{number - 1}/command: recipe {number} fails because of the search text "
            f'inserted into it: expected no error, as with the search text "{word}", got jq exited 0; '
            f"{REGEX.strip()} — "
            "escape text taken from the query, or use a plain word"
        )
    ]
    assert told == said(*all_but(**{f"at{number}": failing}), str(number), records=TEXTUAL)
    assert told == said(*all_but(at1=str(number), **{f"at{number}": failing}), "1", records=TEXTUAL)


def test_one_that_fails_by_what_it_looks_for_elsewhere_is_not_blamed_for_that() -> None:
    for elsewhere in (said(*all_but(at3="99"), '3,"*"'), said(*all_but(at1='3,"*"', at3="99"), "1")):
        (found,) = elsewhere
        assert "/jq_recipes/2/command: recipe 3 (" in found


def test_one_that_was_judged_as_it_stands_is_not_looked_at_again() -> None:
    assert said(*all_but(at10='10,"pattern"'), records=TEXTUAL) == []
    assert said(*all_but(at3='3,"x"'), records=TEXTUAL) == []


def test_each_word_that_can_be_looked_for_is() -> None:
    (found,) = said(*all_but(at3='3,"x" # keyword'), records=TEXTUAL)
    assert 'searching for "keyword" in any letter case)' in found


def test_what_runs_for_one_word_only_is_blamed_for_nothing_else() -> None:
    assert said(*all_but(at3='3,"no engine"')) == []
    assert said(*all_but(at3='99,"no engine"'), "3") == []
    (found,) = said(*all_but(at3='99,"no engine"'))
    assert "recipe 3 (" in found


@pytest.mark.parametrize("command", ["broken", "jq -sn 'broken' f", "jq . f | jq 'broken' | jq -s ."])
def test_one_beside_the_standard_ones_that_jq_cannot_read_is_told(command: str) -> None:
    expected = (
        "LRO-REC-13 /jq_recipes/10/command: jq cannot compile the command's program: "
        "expected a program that jq compiles, got syntax error"
    )
    assert said(*all_but(), command) == [expected]
    assert list(map(str, compiled(of(*all_but(), command)))) == [expected]


def test_one_that_a_younger_jq_may_read_is_worth_a_warning() -> None:
    (found,) = said(*all_but(), "younger")
    assert found.startswith("warning: LRO-REC-13 /jq_recipes/10/command: jq cannot compile the command's program")


@pytest.mark.parametrize("other", ["python f", "no engine"])
def test_what_cannot_be_compiled_hides_nothing_behind_it(other: str) -> None:
    (found,) = compiled(of(*all_but(), other, "broken"))
    assert found.pointer == "/jq_recipes/11/command"


def test_of_forty_recipes_each_is_compiled_and_no_more() -> None:
    found = compiled(of(*["."] * 38, *["broken"] * 4))
    assert [f.pointer for f in found] == [f"/jq_recipes/{n}/command" for n in (38, 39)]


def test_compiling_ends_when_patience_does(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([100.0, 119.0, 120.0, 120.1])
    monkeypatch.setattr(recipes, "time", SimpleNamespace(monotonic=lambda: next(now)))
    found = compiled(of(*["broken"] * 5))
    assert [f.message for f in found] == [
        "jq cannot compile the command's program",
        "jq cannot compile the command's program",
        "not all recipes were run: the time limit of 20 s for all of them was reached",
    ]


def test_one_that_does_what_an_earlier_one_is_for_is_not_blamed_where_its_own_is_left_out() -> None:
    found = said("1", "2", "3", "2", *map(str, range(5, 10)))
    assert [one.partition(" (")[0].split("/", 1)[1] for one in found] == [
        "jq_recipes: no recipe does what recipe 4 is for",
        "jq_recipes: no recipe does what recipe 10 is for",
    ]


@pytest.mark.parametrize(
    ("level", "meant"), [("light", "light"), ("huge", "full"), (("light",), "full"), (None, "full")]
)
def test_recipes_are_those_of_the_level_that_the_header_names(
    level: object, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels: set[str] = set()

    def agrees(*_: object, detail: str, **__: object) -> Agreement:
        levels.add(detail)
        return Agreement(True, "", "")

    monkeypatch.setattr(recipes, "agrees", agrees)
    with RecipeJudge() as judge:
        sample = Sample(b"{}\n", {"detail": level}, [])
        assert judge.judge(of(*all_but()), sample, LRO).findings == ()
    assert levels == {meant}


def test_a_file_that_cannot_tell_which_recipe_is_missing_accuses_none() -> None:
    assert said(*map(str, range(1, 9)), "e10") == [
        (
            f"warning: LRO-REC-09 /jq_recipes: no recipe does what recipe 9 is for ({TEXTS[9]}): "
            "expected the edition's 10 recipes, got 9 recipes"
        )
    ]
    assert "does not show which are missing" in undecided(*map(str, range(1, 9)), "e10")["LRO-REC-10"]


def test_a_missing_recipe_is_decided() -> None:
    assert undecided() == {}
    assert [f.rule for f in judged().findings] == [r.requirement for r in LRO.recipes_at("full")]


class TestSeveralFiles:
    """Descriptors that one judge has to judge, one after the other."""

    @pytest.fixture
    def runs(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """What was run: the program, and on how many lines."""
        seen: list[str] = []

        def run(_: Runner, pipeline: Pipeline, data: bytes) -> Output:
            seen.append(f"{pipeline.jq.program} on {data.count(bytes([10]))}")
            return Output(pipeline.jq.program)

        monkeypatch.setattr(Runner, "run", run)
        return seen

    def sample(self, count: int, *, first: int = 0) -> Sample:
        records = [{"title": f"alpha {n}" if n % 2 else f"beta {n}"} for n in range(first, first + count)]
        lines = "".join(f"{r}\n" for r in ({"detail": "full"}, *records))
        return Sample(lines.encode(), {"detail": "full"}, records)

    def of(self, **changed: str) -> dict[str, Any]:
        return of(*(program if " f" in program else f'{program},"x"' for program in all_but(**changed)))

    def test_the_same_records_are_run_once(self, runs: list[str]) -> None:
        with RecipeJudge() as judge:
            first = judge.judge(self.of(), self.sample(3), LRO)
            count = len(runs)
            moved = {"jq_recipes": [{"command": r["command"].replace(" f ", " g ")} for r in self.of()["jq_recipes"]]}
            assert judge.judge(moved, self.sample(3), LRO) == first
            assert len(runs) == count > 0

    def test_a_file_that_another_judge_has_seen_is_not_run_again(self, runs: list[str]) -> None:
        sample, judgements = self.sample(40), list[Judgement]()
        for _ in range(2):
            with RecipeJudge() as judge:
                judgements.append(judge.judge(self.of(), sample, LRO))
                judgements.append(judge.judge(self.of(at5="tail -n +2 f | jq '5,\"y\"'"), sample, LRO))
        assert judgements[:2] == judgements[2:]
        assert runs.count('1,"x" on 41') == 2, "on its own records, and on them with other values"

    def test_the_first_file_is_searched_for_every_word_and_others_for_the_text_s_own(self, runs: list[str]) -> None:
        with RecipeJudge() as judge:
            judge.judge(self.of(), self.sample(40), LRO)
            assert [r for r in runs if r.startswith("3,")] == ['3,"beta" on 41', '3,"keyword" on 41', '3,"x" on 41']
            runs.clear()
            judge.judge(self.of(), self.sample(30, first=90), LRO)
            assert [r for r in runs if r.startswith("3,")] == [f'3,"keyword" on {recipes.FEW_RECORDS + 1}']
            runs.clear()
            judge.judge(self.of(at5="tail -n +2 f | jq '5,\"y\"'"), self.sample(30, first=90), LRO)
            assert '5,"y" on 31' in runs, "what has another command is run on all records"

    def test_a_sample_that_leaves_out_records_says_so(self) -> None:
        assert self.sample(40).head(recipes.FEW_RECORDS).is_part
        assert not self.sample(recipes.FEW_RECORDS).head(recipes.FEW_RECORDS).is_part

    def test_every_word_is_looked_for_in_each_where_that_is_asked_for(self, runs: list[str]) -> None:
        with RecipeJudge(every_word=True) as judge:
            for first in (0, 90):
                runs.clear()
                judge.judge(self.of(), self.sample(40, first=first), LRO)
                assert '3,"beta" on 41' in runs

    def test_what_was_wrong_on_one_file_is_not_right_by_chance_on_another(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def by_chance(number: int, output: str, records: Sequence[object], *rest: Any, **told: Any) -> Agreement:
            does = output.partition(",")[0]
            return Agreement(does == str(number) or (does == "6" and len(records) == 1), "E", output)

        monkeypatch.setattr(recipes, "agrees", by_chance)
        monkeypatch.setattr(Runner, "run", lambda _, pipeline, data: Output(pipeline.jq.program))
        wrong = self.of(at4="99")
        with RecipeJudge() as judge:
            assert judge.judge(wrong, self.sample(1), LRO).findings == ()
        with RecipeJudge() as judge:
            for count in (2, 1):
                (found,) = judge.judge(wrong, self.sample(count), LRO).findings
                assert (found.rule, found.pointer) == ("LRO-REC-04", "/jq_recipes/3/command")

    def test_what_a_limit_ended_is_run_on_no_other_file(self, runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Output, "problem", property(lambda self: "timed out" if self.startswith("5") else ""))
        with RecipeJudge() as judge:
            (found,) = judge.judge(self.of(at5="55"), self.sample(2), LRO).findings
            assert (found.rule, found.severity) == ("LRO-REC-05", "error")
            assert [r.partition(" ")[0] for r in runs].count('55,"x"') == 1, "once, and for no other recipe"
            runs.clear()
            later = judge.judge(self.of(at5="55"), self.sample(2, first=90), LRO)
            assert [f.kind for f in later.findings] == ["not-evaluated"]
            assert later.undecided["LRO-REC-05"] is not None
            assert not any(r.startswith("55") for r in runs)


class TestTheMachinesJq:
    """A jq that runs each command once more."""

    @pytest.mark.parametrize(("output", "rules"), [("4", []), ("99", ["LRO-REC-04"]), ("broken", [])])
    def test_is_heard_once_where_it_can_read_a_program(
        self, output: str, rules: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[str] = []

        class Installed(Runner):
            def __init__(self) -> None: ...

            def run(self, pipeline: Pipeline, data: bytes) -> Output:
                asked.append(pipeline.jq.program)
                return Output(output if pipeline.jq.program == "4" else pipeline.jq.program)

        monkeypatch.setattr(Runner, "installed", Installed())
        with RecipeJudge(compare_with_installed_jq=True) as judge:
            for detail in ("full", "full", "light"):
                found = judge.judge(of(*all_but()), Sample(b"{}\n", {"detail": "full"}, [{"id": detail}]), LRO)
                if detail == "full":
                    assert [f.rule for f in found.findings] == rules
        assert sorted(asked) == sorted(map(str, NUMBERS))
