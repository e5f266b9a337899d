"""Checks of recipes: the fields that they name, and what stands beside the standard ones."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any, ClassVar

import pytest

from lro_conformance.checks.test_recipes import headed, malformed
from lro_conformance.checks.test_recipes import test_recipes_are_well_formed as well_formed
from lro_conformance.judging.subjects import Subjects
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.trials.recipes import Command
from lro_spec.editions import edition
from tests.support.made_evidence import call, judged, seen

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
        return judged(f"recipes_by_level.{name}", recipes=Made(commands=commands, edition="lro-6400", unmet=()))

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


class Tried:
    """A run of a recipe of one purpose, and what came of it."""

    def __init__(self, *, ok: bool = False, literal: str | None = None, refused: str | None = None, **other: Any):
        header = {"type": "lro_header"}
        lines = [Made(record=header), Made(record={"id": "a"})]
        file = Made(header=header, lines=lines, path="/out/a.jsonl", data=other.pop("data", b"{}"))
        of = call(descriptor={"jq_recipes": []}, file=file, filed=[{}])
        self.command = command(other.pop("index", 1), "d", other.pop("text", "tail -n +2 /out/a.jsonl | jq ."))
        vars(self.command)["call"] = of
        self.standard = Made(requirement="LRO-REC-02")
        known: dict[str, Any] = {"erratum": None, "expected": "e", "observed": "o", "with_header": False}
        self.agreement = Made(**{**known, "ok": ok, **other})
        self.literal, self.refused, self.header_left_out = literal, refused, False
        self.evidence = self.reproducer = self.location = str


def ran(*tries: Tried, lacking: tuple[tuple[int, Any], ...] = (), commands: Any = None, **of: Any) -> Made:
    roles = [(Made(requirement="LRO-REC-02", number=n), of) for n, of in lacking]
    every = [t.command for t in tries] if commands is None else commands
    said = {"edition": "lro-6400", "unrun": {}, **of}
    return Made(tries=tries, commands=every, lacking=lambda: roles, unmet=(), real={}, **said)


class TestPurpose:
    def judged(self, *tries: Tried, **other: Any) -> Any:
        return judged("recipes.namespace_prefix", recipes=ran(*tries, **other))

    def test_counts_what_was_run(self) -> None:
        assert seen(self.judged(Tried(ok=True), Tried(ok=True))) == (PASS, 2)
        assert seen(self.judged(Tried(ok=True), Tried())) == (FAIL, 2)

    def test_a_file_that_is_not_utf_8_shows_what_is_right_only(self) -> None:
        surrogates = b'{"id": "\xed\xa0\xbd\xed\xb8\x80"}'
        assert seen(self.judged(Tried(ok=True, data=surrogates), Tried(data=surrogates))) == (PASS, 1)
        assert "not UTF-8" in self.judged(Tried(data=surrogates)).observed
        skipped = judged("recipes.header_is_skipped", recipes=ran(Tried(with_header=True, data=surrogates)))
        assert seen(skipped) == (NOT_OBSERVED, 0)
        both = ran(Tried(with_header=True, data=surrogates), Tried(with_header=True))
        assert seen(judged("recipes.header_is_skipped", recipes=both)) == (FAIL, 1)
        of = call(descriptor={"jq_recipes": [{}] * 10}, summary={}, file=Made(path="", data=surrogates))
        assert "not UTF-8" in self.judged(lacking=((4, of),), commands=[]).observed

    @pytest.mark.parametrize(
        ("literal", "looking"), [(None, ""), ("_se", ' looking for "_se"'), ("", ' looking for ""')]
    )
    def test_tells_what_was_looked_for(self, literal: str | None, looking: str) -> None:
        assert self.judged(Tried(literal=literal)).expected == "e" + looking
        refused = self.judged(Tried(ok=True, literal=literal, refused="jq: no"))
        assert refused.verdict is FAIL
        assert refused.expected == "a command that runs as it stands, as it does" + looking
        assert refused.observed == "jq: no"

    def test_what_the_text_has_wrong_is_its_own(self) -> None:
        result = self.judged(Tried(erratum="none", literal="_se"))
        assert (result.verdict, result.erratum) == (Verdict.WARN, True)
        assert result.expected == 'e looking for "_se"'

    @pytest.mark.parametrize("other", ["LRO-REC-01", "LRO-REC-03"])
    def test_what_has_another_purpose_is_passed_over(self, other: str) -> None:
        foreign = Tried()
        foreign.standard.requirement = other
        assert seen(self.judged(foreign)) == (NOT_OBSERVED, 0)
        assert seen(self.judged(foreign, Tried(ok=True))) == (PASS, 1)
        of = call(descriptor={"jq_recipes": [{}] * 10}, summary={}, filed=[{"id": "a"}], file=None)
        made = ran(lacking=((1, of), (2, of)))
        made.lacking()[0][0].requirement = other
        result = judged("recipes.namespace_prefix", recipes=made)
        assert (*seen(result), result.expected) == (FAIL, 1, "a recipe that does what #2 does")

    def test_what_is_wrong_is_not_told_as_refused(self) -> None:
        assert self.judged(Tried(refused="jq: no")).observed == "o"

    def test_a_file_without_its_header_hides_none_of_the_others(self) -> None:
        bare = Tried()
        vars(bare.command)["call"] = call(file=None, descriptor={})
        assert seen(self.judged(bare, Tried())) == (FAIL, 1)
        assert "no header on its first line" in self.judged(bare).observed

    def test_what_skips_other_lines_is_blamed_elsewhere(self) -> None:
        assert "does not skip the header" in self.judged(Tried(with_header=True)).observed
        assert "does not skip the header" in self.judged(Tried(text="tail -n +3 /out/a.jsonl | jq .")).observed
        assert self.judged(Tried(text="tail -n +2 /out/a.jsonl | jq .")).verdict is FAIL

    @pytest.mark.parametrize(
        ("index", "text", "observed"),
        [
            (3, "frob | jq", "its command could not be understood"),
            (3, None, "it has no command (LRO-REC-13)"),
            (3, 7, "it has no command (LRO-REC-13)"),
            (2, "frob | jq", "none"),
            (4, "frob | jq", "none"),
            (0, None, "none"),
            (3, "tail -n +2 /out/a.jsonl | jq .", "none"),
        ],
    )
    def test_a_recipe_that_lacks_is_told_with_the_reason(self, index: int, text: Any, observed: str) -> None:
        of = call(descriptor={"jq_recipes": [{}] * 10}, summary={}, filed=[{"id": "a"}], file=None)
        one, others = command(index, "d", text), command(3, "d", "another's")
        vars(one)["call"] = of
        result = self.judged(lacking=((4, of),), commands=[others, one])
        assert result.observed.startswith(observed)
        assert result.verdict is (FAIL if observed == "none" else NOT_OBSERVED)
        assert observed != "none" or result.expected == "a recipe that does what #4 does"

    def test_what_no_jq_here_can_run_is_not_seen(self) -> None:
        of = call(descriptor={"jq_recipes": [{}] * 10}, summary={}, filed=[{"id": "a"}], file=None)
        one = command(3, "d", "jq input /out/a.jsonl")
        vars(one)["call"] = of
        result = self.judged(lacking=((4, of),), commands=[one], unrun={"jq input FILE": "needs a jq"})
        assert (result.verdict, result.observed) == (NOT_OBSERVED, "needs a jq")

    def test_a_list_that_is_none_is_blamed_elsewhere(self) -> None:
        of = call(descriptor={"jq_recipes": "x"}, summary={})
        assert "jq_recipes is no list" in self.judged(lacking=((4, of),)).observed


class TestPaths:
    @pytest.mark.parametrize(
        ("meant", "real", "verdict"),
        [
            ("/out/a.jsonl", {}, PASS),
            ("/out/b.jsonl", {}, FAIL),
            ("/link/a.jsonl", {"/link/a.jsonl": "/out/a.jsonl", "/out/a.jsonl": "/out/a.jsonl"}, PASS),
            ("/link/a.jsonl", {"/link/a.jsonl": "/x", "/out/a.jsonl": "/out/a.jsonl"}, FAIL),
            (None, {"/out/a.jsonl": None}, FAIL),
        ],
    )
    def test_a_recipe_reads_the_file_of_its_descriptor(self, meant: Any, real: Any, verdict: Verdict) -> None:
        one = command(1, "d", "tail -n +2 /out/a.jsonl | jq .", descriptor={"file_path": meant})
        made = ran(commands=[one])
        made.real = real
        assert seen(judged("recipes.path_is_filled_in", recipes=made)) == (verdict, 1)

    @pytest.mark.parametrize("index", [0, 1, 4])
    def test_what_skips_too_much_is_told_by_its_number(self, index: int) -> None:
        one = Tried(index=index, text="tail -n +3 /out/a.jsonl | jq .", observed="two lines")
        result = judged("recipes.header_is_skipped", recipes=ran(one))
        assert result.expected == f"recipe #{index + 1} reads from line 2 on"
        assert result.observed == "it skips 2 lines: two lines"


class TestForm:
    GOOD = "tail -n +2 /out/a.jsonl | jq ."

    def judged(self, count: int, *, by: str = "lro-6400", text: Any = GOOD, before: Any = ()) -> Any:
        listed: Any = [{}] * count
        of: Any = call(descriptor={"jq_recipes": listed, "file_path": "/out/a.jsonl"}, summary={})
        commands = [Command(of, n, "d", text if n == 1 else self.GOOD) for n in range(count)]
        return judged("recipes.recipes_are_well_formed", by=by, recipes=ran(commands=[*before, *commands], edition=by))

    @pytest.mark.parametrize(
        ("by", "count", "expected"),
        [
            ("lro-6400", 10, None),
            ("lro-6400", 11, None),
            ("lro-6400", 9, "at least 10 recipes"),
            ("lro-1600", 10, None),
            ("lro-1600", 11, "exactly 10 recipes"),
            ("lro-1600", 9, "exactly 10 recipes"),
        ],
    )
    def test_as_many_as_the_text_asks_for(self, by: str, count: int, expected: str | None) -> None:
        result = self.judged(count, by=by)
        assert (result.verdict is PASS) is (expected is None)
        assert expected is None or (result.expected, result.observed.split()[0]) == (expected, str(count))

    def test_a_list_that_is_none_hides_none_of_the_others(self) -> None:
        unlisted = command(0, "d", self.GOOD, descriptor={"jq_recipes": "x"}, summary={})
        assert seen(self.judged(9, before=(unlisted,))) == (FAIL, 11)

    @pytest.mark.parametrize("index", [0, 5, 6])
    def test_what_may_be_right_is_told_by_its_number(self, index: int) -> None:
        of: Any = call(descriptor={"jq_recipes": [{}] * 10}, summary={})
        one = Command(of, index, "d", "awk '/x/' /out/a.jsonl | jq .")
        made: Any = ran(commands=[one])
        see = Subjects()
        well_formed(made, edition("lro-6400"), see)
        assert (see.examined, see.misses) == (1, [])
        assert [u.partition(":")[0] for u in see.not_observed_because] == [f"recipe #{index + 1}"]


def test_a_description_that_another_command_has_elsewhere_is_told_with_the_first_of_those() -> None:
    texts = ("jq .a /out/a.jsonl", "jq .b /out/a.jsonl", "jq .c /out/a.jsonl")
    first: Any = call(descriptor={}, path="/out/a.jsonl")
    other: Any = call(descriptor={}, path="/out/a.jsonl")
    own = [Command(first, n, d, t) for n, (d, t) in enumerate(zip(("same", "same", "its own"), texts, strict=True))]
    moved = [Command(other, 0, "its own", texts[0])]
    known = [*own, Command(other, 2, "same", texts[2]), *moved]
    result = judged("recipes.descriptions_stay_with_their_commands", recipes=ran(commands=known))
    assert seen(result) == (FAIL, 5)
    assert '"same", which is there for "jq .a' in result.observed
