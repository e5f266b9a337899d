"""Which recipe is blamed for what, apart from jq: what each command does is written in its program."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from lro_spec.editions import edition
from lro_spec.recipes.compare import Agreement
from lro_spec.recipes.pipeline import Pipeline
from lro_spec.recipes.runner import EngineError
from lro_spec.validation import recipes
from lro_spec.validation.recipes import Sample, recipes_against_file, recipes_compiled

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

    def __init__(self, *, timeout_s: float, memory: int, max_output: int, ends_with_thread: bool) -> None:
        assert 1 < timeout_s < recipes.PATIENCE_S
        assert max_output < memory
        assert ends_with_thread  # recipes run beside the reading of a file, which may break off

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def run(self, pipeline: Pipeline, data: bytes) -> Output:
        if "no engine" in pipeline.jq.program or (pipeline.jq.program == "only whole" and pipeline.skip):
            raise EngineError("no engine")
        assert data in (b"{}\n", b"")
        if not data:  # it is only compiled, and so must not begin with a value
            assert not any((pipeline.jq.slurp, pipeline.jq.null_input, pipeline.more))
        return Output(pipeline.jq.program)


def agreed(number: int, output: str, records: object, literal: str | None, **told: Any) -> Agreement:
    """``3``: does what recipe 3 does. ``e3``: the same, but for an erratum. ``h3``: the same, with the header.

    ``3,"x"``: the same, looking for something. ``3,"x" # y``: the same, but not for y.
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
    monkeypatch.setattr(recipes, "JqRunner", Runner)
    monkeypatch.setattr(recipes, "agrees", agreed)
    monkeypatch.setattr(recipes, "same_output", same)


def of(*programs: str) -> dict[str, Any]:
    return {"jq_recipes": [{"command": p if " f" in p else f"tail -n +2 f | jq '{p}'"} for p in programs]}


def said(*programs: str, records: Sequence[dict[str, Any]] = ({"id": "a"},)) -> list[str]:
    descriptor = of(*programs)
    found = recipes_against_file(descriptor, Sample(b"{}\n", {"detail": "full"}, records), LRO)
    return [str(finding) for finding in found]


def all_but(**changed: str) -> list[str]:
    return [changed.get(f"at{n}", str(n)) for n in NUMBERS]


def test_ten_right_ones_have_no_findings() -> None:
    assert said(*all_but()) == []


@pytest.mark.parametrize("number", [1, 5, 10])
def test_one_that_does_something_else_is_blamed_at_its_place(number: int) -> None:
    found = said(*all_but(**{f"at{number}": "99"}))
    assert len(found) == 1
    assert f"/jq_recipes/{number - 1}/command: recipe {number} does not do what it is for ({TEXTS[number]}" in found[0]


def test_one_that_is_done_elsewhere_is_not_missed() -> None:
    assert said("2", "1", *map(str, range(3, 11))) == []
    assert said(*all_but(at5="99"), "5") == []


def test_one_that_does_more_with_the_header_is_blamed_for_that() -> None:
    (found,) = said(*all_but(at4="h4"))
    assert found == (
        "LRO-REC-12 /jq_recipes/3/command: recipe 4 does not read from line 2 on: expected E, got h4 for None"
        " — skip the header, and nothing else: tail -n +2"
    )


@pytest.mark.parametrize("command", ["jq '99' f", "tail -n +3 f | jq '99'"])
def test_one_that_reads_from_another_line_is_blamed_for_that(command: str) -> None:
    (found,) = said(*all_but(at4=command))
    assert found.startswith("LRO-REC-12 /jq_recipes/3/command: recipe 4 does not read from line 2 on")


def test_one_that_gives_the_same_without_the_header_is_blamed_for_what_it_does() -> None:
    for command in ("jq 'same' f", "jq 'only whole' f", "tail -n +2 f | head -n 5 | jq '99'"):
        (found,) = said(*all_but(at4=command))
        assert "recipe 4 does not do what it is for" in found


def test_an_erratum_of_the_text_is_a_warning_at_its_place() -> None:
    (found,) = said(*all_but(at4="e4"))
    assert found == (
        "warning: LRO-REC-04 /jq_recipes/3/command: recipe 4 fails on this file as the specification prints it: "
        "nothing there: expected E, got e4 for None"
    )
    assert len(said(*all_but(at4="e4"), "4")) == 1, "what stands at its place is warned of all the same"
    for elsewhere in (said(*all_but(at4="99"), "e4"), said(*all_but(at1="e4", at4="99"), "1")):
        (found,) = elsewhere
        assert "recipe 4 does not do what it is for" in found, "elsewhere it is none"


def test_what_is_looked_for_is_told() -> None:
    (found,) = said(*all_but(at3='99,"x"'))
    assert found.startswith(
        f"LRO-REC-03 /jq_recipes/2/command: recipe 3 does not do what it is for ({TEXTS[3]}, looking"
    )
    assert 'looking for "keyword")' in found


def test_where_one_is_left_out_those_behind_it_are_not_blamed() -> None:
    (missing,) = said(*(str(n) for n in NUMBERS if n != 4))
    assert "no recipe does what recipe 4 is for" in missing
    found = said("1", "2", "3", "99", *map(str, range(6, 11)))
    assert [one.partition(" (")[0].split(" /", 1)[1] for one in found] == [
        "jq_recipes: no recipe does what recipe 4 is for",
        "jq_recipes/3/command: recipe 4 does not do what it is for",
        "jq_recipes: no recipe does what recipe 5 is for",
    ]


def test_one_that_is_there_too_often_is_blamed_where_none_is_left_out() -> None:
    (found,) = said(*all_but(at4="5"))
    assert "/jq_recipes/3/command: recipe 4 does not" in found


def test_what_cannot_be_understood_is_not_blamed_here() -> None:
    assert said(*all_but(at4="python f")) == []
    assert said(*all_but(at4="python f", at6="99")) != []


def test_what_cannot_be_run_is_told_and_blamed_for_nothing() -> None:
    (told,) = said(*all_but(at4="no engine"))
    assert told.startswith("warning: LRO-REC-13 /jq_recipes/3/command: recipe 4 was not run: ")
    assert told.endswith(": expected a program that libjq can run by itself, got no engine")
    assert said(*all_but(at4="99"), "no engine") == []  # which may do it, for all one knows
    assert said(*all_but(at1="no engine", at4="99"), "1") == [
        told.replace("/3/", "/0/").replace("recipe 4", "recipe 1")
    ]


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
        "warning: LRO-REC-13 /jq_recipes: recipes were not run to the end: expected all of them within 20 s, got more"
    )


@pytest.mark.parametrize("number", NUMBERS)
def test_one_that_jq_cannot_read_is_blamed_once_though_another_does_the_same(number: int) -> None:
    last = said(*all_but(**{f"at{number}": "broken"}), str(number))
    first = said(*all_but(at1=str(number), **{f"at{number}": "broken"}), "1") if number > 1 else last
    assert last == first
    (found,) = last
    assert f"/jq_recipes/{number - 1}/command: recipe {number} does not do what it is for" in found


TEXTUAL = [{"title": "alpha x", "content": "gamma x"}, {"title": "beta y", "content": "delta y"}]


@pytest.mark.parametrize("number", [3, 10])
def test_one_that_fails_by_what_it_looks_for_is_blamed_though_another_does_the_same(number: int) -> None:
    failing = f'{number},"*"'
    told = said(*all_but(**{f"at{number}": failing}), records=TEXTUAL)
    word = {3: "alpha", 10: "gamma"}[number]
    assert told == [
        (
            f"LRO-REC-{number:02} /jq_recipes/{number - 1}/command: recipe {number} fails by what it looks for as it "
            f'stands: expected no error, as where it looks for "{word}", got jq exited 0; {REGEX.strip()} — '
            "quote what comes from a query, or leave a word"
        )
    ]
    assert told == said(*all_but(**{f"at{number}": failing}), str(number), records=TEXTUAL)
    assert told == said(*all_but(at1=str(number), **{f"at{number}": failing}), "1", records=TEXTUAL)


def test_one_that_fails_by_what_it_looks_for_elsewhere_is_not_blamed_for_that() -> None:
    for elsewhere in (said(*all_but(at3="99"), '3,"*"'), said(*all_but(at1='3,"*"', at3="99"), "1")):
        (found,) = elsewhere
        assert "/jq_recipes/2/command: recipe 3 does not do what it is for" in found


def test_one_that_was_judged_as_it_stands_is_not_looked_at_again() -> None:
    assert said(*all_but(at10='10,"pattern"'), records=TEXTUAL) == []
    assert said(*all_but(at3='3,"x"'), records=TEXTUAL) == []


def test_each_word_that_can_be_looked_for_is() -> None:
    (found,) = said(*all_but(at3='3,"x" # keyword'), records=TEXTUAL)
    assert 'looking for "keyword")' in found


def test_what_runs_for_one_word_only_is_blamed_for_nothing_else() -> None:
    assert said(*all_but(at3='3,"no engine"')) == []
    assert said(*all_but(at3='99,"no engine"'), "3") == []
    (found,) = said(*all_but(at3='99,"no engine"'))
    assert "recipe 3 does not do what it is for" in found


@pytest.mark.parametrize("command", ["broken", "jq -sn 'broken' f", "jq . f | jq 'broken' | jq -s ."])
def test_one_beside_the_standard_ones_that_jq_cannot_read_is_told(command: str) -> None:
    expected = (
        "LRO-REC-13 /jq_recipes/10/command: the command's program is none that jq can read: "
        "expected a program that jq compiles, got syntax error"
    )
    assert said(*all_but(), command) == [expected]
    assert list(map(str, recipes_compiled(of(*all_but(), command)))) == [expected]


def test_one_that_a_younger_jq_may_read_is_worth_a_warning() -> None:
    (found,) = said(*all_but(), "younger")
    assert found.startswith("warning: LRO-REC-13 /jq_recipes/10/command: the command's program is none")


@pytest.mark.parametrize("other", ["python f", "no engine"])
def test_what_cannot_be_compiled_hides_nothing_behind_it(other: str) -> None:
    (found,) = recipes_compiled(of(*all_but(), other, "broken"))
    assert found.pointer == "/jq_recipes/11/command"


def test_of_forty_recipes_each_is_compiled_and_no_more() -> None:
    found = recipes_compiled(of(*["."] * 38, *["broken"] * 4))
    assert [f.pointer for f in found] == [f"/jq_recipes/{n}/command" for n in (38, 39)]


def test_compiling_ends_when_patience_does(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([100.0, 119.0, 120.0, 120.1])
    monkeypatch.setattr(recipes, "time", SimpleNamespace(monotonic=lambda: next(now)))
    found = recipes_compiled(of(*["broken"] * 5))
    assert [f.message for f in found] == [
        "the command's program is none that jq can read",
        "the command's program is none that jq can read",
        "recipes were not run to the end",
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
    assert list(recipes_against_file(of(*all_but()), Sample(b"{}\n", {"detail": level}, []), LRO)) == []
    assert levels == {meant}
