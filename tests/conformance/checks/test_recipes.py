"""Checks of recipes: the fields that they name, and what stands beside the standard ones."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from lro_conformance.analysis import documents as documents_of
from lro_conformance.analysis.documents import Documents, recipes, validated
from lro_conformance.capture.recipes import Command
from lro_conformance.judging.verdicts import Verdict
from lro_spec.editions import edition
from lro_spec.validation.request import Request
from tests.golden.evidence import made
from tests.support.made import Made
from tests.support.made_evidence import call, judged, seen
from tests.support.private import inner

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
                file_records=filed,
                header={"detail": level},
                summary={"detail": level},
                descriptor={},
            )
            for level, filed, program in of
        ]
        return judged(f"recipes_by_level.{name}", commands=commands)

    def test_one_level_shows_nothing(self) -> None:
        one = ("light", self.LIGHT, ".content")
        assert seen(self.judged(one, one)) == (NOT_OBSERVED, 0)
        assert seen(self.judged(one, ("full", [], ".id"))) == (NOT_OBSERVED, 0)

    @pytest.mark.parametrize("others", ["full", "a level before it in order"])
    def test_a_field_of_another_level_is_foreign(self, others: str) -> None:
        other = (others, self.FULL, ".id")
        result = self.judged(("light", self.LIGHT, ".content"), other)
        assert seen(result) == (FAIL, 2)
        assert result.expected == "recipe #6 at level light: only fields that records of this level have"
        assert result.observed.startswith(".content, which only records of another level have: tail")

    def test_the_first_is_told_that_is(self) -> None:
        result = self.judged(("light", self.LIGHT, "{a: .deep.x, b: .content}"), ("full", self.FULL, ".id"))
        assert result.observed.startswith(".deep.x, which")

    def test_any_other_level_may_have_it(self) -> None:
        """Whatever the order of the levels."""
        medium = [{"id": "a", "summary": "s"}]
        result = self.judged(("full", self.FULL, ".summary"), ("light", self.LIGHT, ".id"), ("medium", medium, ".id"))
        assert result.observed.startswith(".summary, which")
        result = self.judged(("medium", medium, ".score"), ("light", self.LIGHT, ".id"), ("full", self.FULL, ".id"))
        assert result.observed.startswith(".score, which")

    def test_what_nobody_has_is_none(self) -> None:
        third = ("medium", [{"id": "a", "summary": "s"}], ".id")
        known = (("light", self.LIGHT, ".nobody"), ("full", self.FULL, ".content"), third)
        assert seen(self.judged(*known)) == (PASS, 3)


class TestDocuments:
    """Checks of what single recipes are for: by the findings of validation, on every document."""

    NUMBER, NAME = 5, "recipes.ids_and_titles"

    def judged(self, *ways: Any, name: str = NAME, **change: Any) -> Any:
        """Each document's recipes, changed."""
        calls = [made(n, "recall", "full", None, {"recipes": way, **change}) for n, way in enumerate(ways)]
        survey: Any = Made(real={}, operations=("recall",))
        text = edition("lro-6400")
        found = tuple(validated(c, Request("recall", "full"), text) for c in calls)
        return judged(name, recipes=recipes(Documents(found, {}), {}, text), survey=survey)

    def put(self: Any, command: Any, at: int = NUMBER) -> Any:
        return lambda found: [{**r, "command": command} if n == at else r for n, r in enumerate(found, 1)]

    def test_every_document_is_a_subject(self) -> None:
        assert seen(self.judged(list, list)) == (PASS, 2)
        wrong = self.put("tail -n +2 /out/x.jsonl | jq '{id}'")
        result = self.judged(list, wrong)
        assert seen(result) == (FAIL, 2)
        assert "/jq_recipes/4/command recipe 5 (" in result.observed
        assert result.evidence.startswith("recipe #5: tail -n +2 /out/x.jsonl")

    def test_one_that_is_missing_is_missed_at_its_level(self) -> None:
        result = self.judged(lambda found: [*found[:4], *found[5:]])
        assert seen(result) == (FAIL, 1)
        assert "no recipe does what recipe 5 is for" in result.observed
        assert seen(self.judged(lambda _: [])) == (FAIL, 1)

    @pytest.mark.parametrize(
        ("way", "reason"),
        [
            (lambda _: "x", "jq_recipes is not a list (LRO-DESC-01)"),
            (put(None, "frob | jq"), "its command could not be understood"),
            (put(None, 3), "its command could not be understood"),
            (put(None, "jq '{id, title, namespace}' /out/x.jsonl"), "it does not skip exactly the header line"),
        ],
    )
    def test_what_is_blamed_elsewhere_is_not_observed(self, way: Any, reason: str) -> None:
        result = self.judged(way)
        assert (*seen(result), result.observed) == (NOT_OBSERVED, 0, reason)

    @pytest.mark.parametrize(
        "rows",
        [
            lambda rows: b"\n".join(rows[1:]),
            lambda rows: b"\n".join([rows[1], rows[0], *rows[2:]]),
            lambda rows: b"\n".join([rows[0], b'{"id": "\xed\xa0\xbd"}', *rows[1:]]),
            lambda rows: rows[0],
        ],
    )
    def test_a_file_that_is_none_decides_nothing(self, rows: Any) -> None:
        assert seen(self.judged(list, data=rows)) == (NOT_OBSERVED, 0)
        assert seen(self.judged(list, data=rows, name="recipes.header_is_skipped")) == (NOT_OBSERVED, 0)

    def test_the_header_is_blamed_once(self) -> None:
        reads = self.put("jq 'select(.type != \"x\") | {id, title, namespace}' /out/x.jsonl", 5)
        result = self.judged(list, reads, name="recipes.header_is_skipped")
        assert seen(result) == (FAIL, 2)
        assert "recipe 5 does not start reading at line 2" in result.observed
        assert seen(self.judged(lambda _: [], name="recipes.header_is_skipped")) == (NOT_OBSERVED, 0)

    @pytest.mark.parametrize(
        ("way", "verdict"),
        [
            (list, PASS),
            (lambda found: found[:9], FAIL),
            (lambda found: [*found, {"description": "d", "command": "jq '(' /out/x.jsonl"}], FAIL),
            (lambda found: [*found, {"description": "d", "command": "jq 'halt' /out/x.jsonl"}], FAIL),
            (lambda found: [*found, {"command": "jq . /out/x.jsonl"}], FAIL),
            (put(None, "tail -n +2 /out/x.jsonl | jq -R ."), NOT_OBSERVED),
            (lambda found: [found[0], {"description": "d", "command": "rm -f x"}, *found[2:]], FAIL),
            (lambda _: "x", NOT_OBSERVED),
        ],
    )
    def test_recipes_are_well_formed(self, way: Any, verdict: Verdict) -> None:
        assert self.judged(way, name="recipes.recipes_are_well_formed").verdict is verdict

    def test_what_one_recipe_lacks_hides_none_of_the_others(self) -> None:
        def bare(found: Any) -> Any:
            way = self.put("tail -n +2 /out/x.jsonl | jq '{id}'")
            return [{"command": found[0]["command"]}, *way(found)[1:]]

        assert seen(self.judged(bare, name="recipes.titles_with_scores")) == (PASS, 1)
        assert seen(self.judged(bare)) == (FAIL, 1)


class TestPaths:
    """Recipes that name their file by another path."""

    REAL: ClassVar[dict[str, str]] = {"/link/x/a.jsonl": "/far/out/a.jsonl", "/far/out/a.jsonl": "/far/out/a.jsonl"}

    def judged(self, named: str, meant: Any, real: dict[str, str]) -> Any:
        one = {"description": "d", "command": f"jq . {named}"}
        call = made(0, "recall", "full", None, {"recipes": lambda _: [one], "descriptor": {"file_path": meant}})
        by = inner(documents_of, "_without_links")(real)
        found = validated(call, Request("recall", "full"), edition("lro-6400"), resolve_links=by)
        return judged("recipes.path_is_filled_in", documents=Documents((found,), {}))

    @pytest.mark.parametrize(
        ("named", "meant", "real", "verdict"),
        [
            ("/out/a.jsonl", "/out/a.jsonl", {}, PASS),
            ("/out/a.jsonl", "/out/b.jsonl", {}, FAIL),
            ("/link/x/a.jsonl", "/far/out/a.jsonl", REAL, PASS),
            ("/link/x/b.jsonl", "/far/out/b.jsonl", REAL, PASS),
            ("/far/out/b.jsonl", "/link/x/b.jsonl", REAL, PASS),
            ("/link/x/b.jsonl", "/far/out/a.jsonl", REAL, FAIL),
            ("/linked/x/a.jsonl", "/far/out/a.jsonl", REAL, FAIL),
            ("a.jsonl", "/far/out/a.jsonl", REAL, FAIL),
            ("/out/a.jsonl", None, {}, NOT_OBSERVED),
        ],
    )
    def test_lead_to_the_file_of_the_descriptor(
        self, named: str, meant: Any, real: dict[str, str], verdict: Verdict
    ) -> None:
        assert self.judged(named, meant, real).verdict is verdict


def test_a_description_that_another_command_has_elsewhere_is_told_with_the_first_of_those() -> None:
    texts = ("jq .a /out/a.jsonl", "jq .b /out/a.jsonl", "jq .c /out/a.jsonl")
    first: Any = call(descriptor={}, path="/out/a.jsonl")
    other: Any = call(descriptor={}, path="/out/a.jsonl")
    own = [Command(first, n, d, t) for n, (d, t) in enumerate(zip(("same", "same", "its own"), texts, strict=True))]
    moved = [Command(other, 0, "its own", texts[0])]
    known = [*own, Command(other, 2, "same", texts[2]), *moved]
    result = judged("recipes.descriptions_stay_with_their_commands", commands=known)
    assert seen(result) == (FAIL, 5)
    assert '"same", which the other descriptor has for "jq .a' in result.observed
