"""Checks of recipes: the fields that they name, and what stands beside the standard ones."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any, ClassVar

import pytest

from lro_conformance.checks.test_recipes import headed, malformed
from lro_conformance.trials.recipes import Command
from lro_conformance.verdicts import Verdict
from lro_spec.editions import edition
from tests.test_checks import call, judged, seen

PASS, FAIL, NOT_OBSERVED = Verdict.PASS, Verdict.FAIL, Verdict.NOT_OBSERVED


def command(index: int, description: Any, text: Any, **of: Any) -> Command:
    made: Any = call(**of)
    return Command(made, index, description, text)


class TestLevelsOfRecipes:
    """What recipes name, and what records of their level and of others have."""

    LIGHT: ClassVar[Any] = [{"id": "a", "title": "t", "score": 1, "score_of": {"score": 1}}]
    FULL: ClassVar[Any] = [{"id": "a", "title": "t", "content": "c", "deep": {"x": 1}}]

    def judged(self, *of: tuple[str, Any, str], name: str = "fields_are_those_of_the_level") -> Any:
        """Files at a level, with their records, and a program of one recipe each, which stands at the fifth place."""
        commands = [
            command(
                5,
                "what it does",
                f"tail -n +2 /out/a.jsonl | jq '{program}'",
                detail=level,
                filed=filed,
                header={"detail": level},
                summary={"detail": level},
                descriptor={},
            )
            for level, filed, program in of
        ]
        return judged(f"recipe_levels.{name}", recipes=Made(commands=commands, edition="lro-6400", unmet=()))

    def test_one_level_shows_nothing(self) -> None:
        one = ("light", self.LIGHT, ".content")
        assert seen(self.judged(one, one)) == (NOT_OBSERVED, 0)
        assert seen(self.judged(one, ("full", [], ".id"))) == (NOT_OBSERVED, 0)

    @pytest.mark.parametrize("others", ["full", "a level before it in order"])
    def test_a_field_of_another_level_is_foreign(self, others: str) -> None:
        other = (others, self.FULL, ".id")
        result = self.judged(("light", self.LIGHT, ".content"), other)
        assert seen(result) == (FAIL, 2)
        assert result.expected == "recipe #6 at level light: fields that its records have"
        assert result.observed.startswith(".content, which records of another level have: tail")

    def test_the_first_is_told_that_is(self) -> None:
        result = self.judged(("light", self.LIGHT, "{a: .deep.x, b: .content}"), ("full", self.FULL, ".id"))
        assert result.observed.startswith(".deep.x, which")

    def test_what_nobody_has_is_none(self) -> None:
        third = ("medium", [{"id": "a", "summary": "s"}], ".id")
        known = (("light", self.LIGHT, ".nobody"), ("full", self.FULL, ".content"), third)
        assert seen(self.judged(*known)) == (PASS, 3)

    @pytest.mark.parametrize(
        ("program", "verdict"),
        [(".score", FAIL), (".score.x", FAIL), (".score_of.score", PASS), (".x.score", PASS), (".scores", PASS)],
    )
    def test_no_recipe_names_the_score(self, program: str, verdict: Verdict) -> None:
        result = self.judged(("light", self.LIGHT, program), name="no_recipe_names_the_score")
        assert seen(result) == (verdict, 1)
        assert verdict is PASS or result.expected == "recipe #6 without .score"


class TestRecipesAsTheyStand:
    PATH = "/out/a.jsonl"
    ROW = f"tail -n +2 {PATH} | wc -l"

    def command(self, index: int = 10, description: Any = "d", text: Any = ROW, path: Any = PATH) -> Command:
        return command(index, description, text, descriptor={"file_path": path})

    @pytest.mark.parametrize(
        ("index", "malformed_there"), [(0, True), (9, True), (10, False), (11, False), (12, False)]
    )
    def test_a_row_of_other_tools_may_stand_beside_the_ten(self, index: int, malformed_there: bool) -> None:
        assert (malformed(self.command(index), edition("lro-6400")) is not None) is malformed_there

    @pytest.mark.parametrize("path", ["/out/b.jsonl", "/out", "", None])
    def test_but_not_one_that_reads_another_file(self, path: Any) -> None:
        assert malformed(self.command(path=path), edition("lro-6400")) is not None

    @pytest.mark.parametrize("text", [None, 3, "rm -rf x > y", "", "cat $(x)"])
    def test_nor_what_is_none(self, text: Any) -> None:
        assert malformed(self.command(text=text), edition("lro-6400")) is not None

    @pytest.mark.parametrize("description", [None, "", " ", 3])
    def test_has_a_description(self, description: Any) -> None:
        assert malformed(self.command(description=description), edition("lro-6400")) == "no description"

    @pytest.mark.parametrize(
        ("first", "others", "found"),
        [
            ({"type": "lro_header"}, [{"id": "a"}], True),
            ({"type": "lro_header"}, [{"id": "a"}, {"type": "lro_header"}], False),
            ({"type": "lro_header"}, [{"type": "lro_header"}], False),
            ({"type": "lro_header"}, [None, {"type": "other"}], True),
            ({"count": 1}, [{"id": "a"}, {"type": "lro_header"}], True),
            ({"count": 1}, [{"type": None}], True),
            (None, [{"id": "a"}], False),
        ],
    )
    def test_a_header_is_skipped_where_it_is_the_first_line_alone(
        self, first: Any, others: list[Any], found: bool
    ) -> None:
        lines = [Made(record=r) for r in (first, *others)]
        one: Any = Made(command=Made(call=Made(file=Made(header=first, lines=lines))))
        assert headed(one) is found

    def test_a_header_on_another_line_is_not_skipped_with_the_first(self) -> None:
        header = {"type": "lro_header"}
        lines = [Made(record={"id": "a"}), Made(record=header)]
        one: Any = Made(command=Made(call=Made(file=Made(header=header, lines=lines))))
        assert headed(one) is False
        one.command.call.file = None
        assert headed(one) is False
