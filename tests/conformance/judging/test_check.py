"""How verdicts come about: from what a check saw to its result, and from results to requirements and levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lro_conformance.judging.check import Check, check, checks, checks_of, checks_of_edition, judge, reason_not_bound
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.results import CheckResult
from lro_conformance.judging.subjects import (
    Miss,
    Subjects,
    evidence_of,
    hindrance_of,
    location_of,
    reproducer_of,
)
from lro_conformance.judging.verdicts import Verdict, achieved, level_verdict, requirement_verdict
from lro_spec.catalogue import requirement

MUST, SHOULD = "LRO-FILE-01", "LRO-GUI-02"


def made(function: Callable[..., None], id: str = MUST, *needs: str) -> Check:
    return Check("chapter.it", id, function, needs, "What readers\nsee first.\n\nAnd more.")


def judged(function: Callable[..., None], id: str = MUST, **have: Any) -> CheckResult:
    return judge(made(function, id, *have), have)


def expecting(*holds: bool) -> Callable[..., None]:
    def function(subjects: Subjects) -> None:
        for number, one in enumerate(holds, 1):
            subjects.expect(one, expected=f"thing {number}", observed=f"no thing {number}", subject=f"at {number}")

    return function


class Shown:
    """A record with an evidence, a script and a location of its own."""


@evidence_of.register
def _(_record: Shown) -> str:
    return "evidence"


@reproducer_of.register
def _(_record: Shown) -> str:
    return "script"


@location_of.register
def _(_record: Shown) -> str:
    return "line"


class Unwritten(str):
    """A result that could not be written, and the reason."""


@hindrance_of.register
def _(unwritten: Unwritten) -> str | None:
    return str(unwritten) or None


class TestACheck:
    def test_observes_nothing_of_what_could_not_be_written_and_tells_the_first_reason(self) -> None:
        def function(subjects: Subjects) -> None:
            for reason in ("no space", "no folder"):
                assert not subjects.expect(holds=False, expected="", observed="", subject=Unwritten(reason))
            subjects.expect(holds=True, expected="", observed="", subject=Unwritten("no permission"))

        result = judged(function)
        assert (result.verdict, result.subjects, result.observed) == (Verdict.NOT_OBSERVED, 0, "no space")
        assert result.hindered

    def test_fails_for_what_was_written_whatever_could_not_be(self) -> None:
        def function(subjects: Subjects) -> None:
            for reason in ("no space", ""):
                subjects.expect(holds=False, expected="a file", observed="none", subject=Unwritten(reason))

        result = judged(function)
        assert (result.verdict, result.observed, result.hindered) == (Verdict.FAIL, "none", False)

    def test_passes_when_everything_it_saw_holds(self) -> None:
        result = judged(expecting(True, True, True))
        assert result == CheckResult(
            "chapter.it", MUST, Verdict.PASS, 3, "What readers see first.", "as expected in 3 of 3"
        )

    def test_that_saw_nothing_has_not_observed(self) -> None:
        assert judged(expecting()).verdict is Verdict.NOT_OBSERVED
        assert judged(expecting()).observed == "nothing to examine"

    def test_tells_the_first_miss_and_how_many_there_are(self) -> None:
        result = judged(expecting(True, False, False))
        assert (result.verdict, result.subjects) == (Verdict.FAIL, 3)
        assert (result.expected, result.observed) == ("thing 2", "no thing 2 (2 of 3 subjects)")
        assert result.evidence == "at 2"
        assert not result.erratum

    def test_does_not_count_a_single_subject(self) -> None:
        assert judged(expecting(False)).observed == "no thing 1"

    def test_of_a_should_only_warns(self) -> None:
        assert requirement(SHOULD).keyword == "SHOULD"
        assert judged(expecting(False), SHOULD).verdict is Verdict.WARN

    def test_says_why_it_saw_nothing_each_reason_once(self) -> None:
        def function(subjects: Subjects) -> None:
            for reason in ("no file", "no call", "no file"):
                subjects.not_observed(reason)

        assert judged(function).observed == "no file; no call"

    def test_that_saw_something_does_not_say_what_it_did_not_see(self) -> None:
        def function(subjects: Subjects) -> None:
            subjects.not_observed("no file")
            subjects.not_applicable("no tool")
            subjects.expect(True, expected="", observed="")

        assert judged(function).verdict is Verdict.PASS

    def test_that_does_not_apply_says_so(self) -> None:
        def function(subjects: Subjects) -> None:
            subjects.not_observed("no file")
            subjects.not_applicable("no tool")

        result = judged(function)
        assert (result.verdict, result.subjects, result.observed) == (Verdict.NOT_APPLICABLE, 0, "no tool")

    @pytest.mark.parametrize(
        ("problem", "verdict", "says"),
        [
            (NotApplicable("no tool"), Verdict.NOT_APPLICABLE, "no tool"),
            (NotObserved("no file"), Verdict.NOT_OBSERVED, "no file"),
            (KeyError("x"), Verdict.ERROR, "KeyError: 'x'"),
        ],
    )
    def test_may_raise_what_keeps_it_from_a_verdict(self, problem: Exception, verdict: Verdict, says: str) -> None:
        def function(subjects: Subjects) -> None:
            raise problem

        result = judged(function)
        assert (result.verdict, result.subjects, result.observed) == (verdict, 0, says)

    def test_that_breaks_half_way_is_an_error_whatever_it_had_seen(self) -> None:
        def function(subjects: Subjects) -> None:
            subjects.expect(False, expected="", observed="")
            raise KeyError("x")

        assert (judged(function).verdict, judged(function).subjects) == (Verdict.ERROR, 1)

    @pytest.mark.parametrize(
        ("evidence", "verdict", "says"),
        [
            (NotApplicable("no tool"), Verdict.NOT_APPLICABLE, "no tool"),
            (NotObserved("no file"), Verdict.NOT_OBSERVED, "no file"),
            (OSError("disk"), Verdict.ERROR, "the trial survey failed: OSError: disk"),
        ],
    )
    def test_is_not_run_without_its_evidence(self, evidence: Exception, verdict: Verdict, says: str) -> None:
        def function(survey: object, subjects: Subjects) -> None:
            pytest.fail("it was run")

        result = judged(function, survey=evidence)
        assert (result.verdict, result.subjects, result.observed) == (verdict, 0, says)

    @pytest.mark.parametrize("absent", [NotObserved("no file"), NotApplicable("no tool")])
    def test_does_without_what_may_be_none(self, absent: Exception) -> None:
        def function(survey: object, fallback: object | None, subjects: Subjects) -> None:
            subjects.expect(fallback is not None, expected="a fallback", observed=f"{survey} alone")

        def result(fallback: object) -> tuple[Verdict, str]:
            known = replace(made(function, MUST, "survey", "fallback"), optional=("fallback",))
            found = judge(known, {"survey": "a survey", "fallback": fallback})
            return found.verdict, found.observed

        assert result(absent) == (Verdict.FAIL, "a survey alone")
        assert result("seen")[0] is Verdict.PASS
        assert result(OSError("disk"))[0] is Verdict.ERROR

    def test_says_by_its_parameters_what_may_be_none(self) -> None:
        assert [c.optional for c in checks() if c.name == "fallback.no_failure_event_for_success"] == [
            ("failed_writes",)
        ]

    def test_is_given_the_evidence_that_it_names(self) -> None:
        def function(survey: int, inline: int, subjects: Subjects) -> None:
            subjects.expect((survey, inline) == (1, 2), expected="1 and 2", observed=f"{survey} and {inline}")

        assert judged(function, survey=1, inline=2).verdict is Verdict.PASS


class TestAnotherEdition:
    def test_holds_what_it_has_and_does_not_exclude(self) -> None:
        known = [made(expecting(), id) for id in (MUST, "LRO-IMPL-01", "LRO-NONE-01", SHOULD)]
        assert checks_of_edition("lro-6400", known) == [known[0], known[3]]


class TestAnErratum:
    def test_warns_and_is_marked(self) -> None:
        def function(subjects: Subjects) -> None:
            subjects.expect(True, expected="", observed="")
            subjects.erratum(expected="a sorted list", observed="the text's own command fails", subject=Shown())

        result = judged(function)
        assert (result.verdict, result.subjects, result.erratum) == (Verdict.WARN, 2, True)
        assert (result.expected, result.observed) == (
            "a sorted list",
            "the text's own command fails (1 of 2 subjects)",
        )
        assert (result.evidence, result.reproduce, result.location) == ("evidence", "script", "line")

    def test_never_hides_a_miss(self) -> None:
        def function(subjects: Subjects) -> None:
            subjects.erratum(expected="", observed="")
            subjects.expect(False, expected="all", observed="none")

        result = judged(function)
        assert (result.verdict, result.expected, result.erratum) == (Verdict.FAIL, "all", False)


class TestASubject:
    def test_says_whether_it_holds(self) -> None:
        see = Subjects()
        assert see.expect(True, expected="", observed="")
        assert not see.expect(False, expected="", observed="")
        assert see.examined == 2

    def test_renders_what_it_is_about_for_the_first_miss_only(self) -> None:
        see = Subjects()
        for _ in range(2):
            see.expect(False, expected="e", observed="o", subject=Shown())
        assert see.misses == [Miss("e", "o", "evidence", "script", "line"), Miss("e", "o")]

    def test_is_not_rendered_where_it_holds(self) -> None:
        class Loud:
            def __str__(self) -> str:
                raise AssertionError

        Subjects().expect(True, expected="", observed="", subject=Loud())

    def test_shows_itself_or_its_text(self) -> None:
        assert [evidence_of(None), evidence_of("text"), evidence_of(Shown())] == ["", "text", "evidence"]

    def test_is_told_with_what_was_found_before(self) -> None:
        assert Miss.of("e", "o", Shown(), evidence="before").evidence == "before\nevidence"
        assert Miss.of("e", "o", evidence="before") == Miss("e", "o", "before")


class TestRegistering:
    def test_names_a_check_by_module_and_function(self) -> None:
        one = next(c for c in checks() if c.name == "file.every_line_is_json")
        assert one.function.__name__ == "test_every_line_is_json"
        assert one.function.__module__ == "lro_conformance.checks.test_file"
        assert "see" not in one.needs
        assert one in checks_of(one.requirement)
        assert {c.requirement for c in checks_of(one.requirement)} == {one.requirement}

    def test_takes_the_names_of_its_evidence_from_its_arguments(self, monkeypatch: pytest.MonkeyPatch) -> None:
        known: dict[str, Check] = {}
        monkeypatch.setattr("lro_conformance.judging.check._REGISTRY", known)

        def test_it(survey: object, subjects: Subjects, zeal: object) -> None:
            """What it says."""

        assert check(MUST)(test_it) is test_it
        assert known == {"check.it": Check("check.it", MUST, test_it, ("survey", "zeal"), "What it says.")}
        assert check(MUST)(test_it) is test_it, "a module may be loaded twice"

    def test_needs_a_requirement_that_there_is(self) -> None:
        with pytest.raises(ValueError, match="no requirement LRO-NONE-01 in the catalogue"):
            check("LRO-NONE-01")(lambda see: None)

    def test_declares_only_what_it_reads_as_optional(self) -> None:
        def test_it(survey: object, subjects: Subjects) -> None:
            """What it says."""

        with pytest.raises(ValueError, match=r"check check.it has no parameter fallback"):
            check(MUST, optional=("fallback",))(test_it)

    def test_reports_show_the_first_paragraph_of_its_docstring(self, monkeypatch: pytest.MonkeyPatch) -> None:
        known: dict[str, Check] = {}
        monkeypatch.setattr("lro_conformance.judging.check._REGISTRY", known)

        def test_it(subjects: Subjects) -> None:
            """What it
            says.

            And what it does not examine.
            """
            raise NotObserved("nothing to see")

        check(MUST)(test_it)
        assert judge(known["check.it"], {}).expected == "What it says."

    def test_needs_a_docstring(self) -> None:
        def test_it(subjects: Subjects) -> None: ...

        with pytest.raises(ValueError, match=r"check check.it has no docstring"):
            check(MUST)(test_it)

    def test_refuses_a_name_of_another_file(self) -> None:
        one = next(c for c in checks() if c.name == "file.every_line_is_json")

        def test_every_line_is_json(subjects: Subjects) -> None:
            """Another."""

        test_every_line_is_json.__module__ = "elsewhere.test_file"
        with pytest.raises(ValueError, match=r"two checks are named file.every_line_is_json"):
            check(MUST)(test_every_line_is_json)
        assert one in checks()


class TestARequirement:
    def test_that_was_seen_is_judged_by_what_was_seen(self) -> None:
        assert requirement_verdict([Verdict.NOT_OBSERVED, Verdict.PASS, Verdict.NOT_APPLICABLE]) is Verdict.PASS

    def test_that_nothing_was_seen_of_is_not_observed(self) -> None:
        assert requirement_verdict([Verdict.NOT_OBSERVED, Verdict.NOT_APPLICABLE]) is Verdict.NOT_OBSERVED
        assert requirement_verdict([Verdict.NOT_APPLICABLE]) is Verdict.NOT_APPLICABLE
        assert requirement_verdict([]) is Verdict.NOT_OBSERVED
        assert requirement_verdict([Verdict.NOT_JUDGED, Verdict.NOT_APPLICABLE]) is Verdict.NOT_APPLICABLE

    def test_that_was_not_observed_may_be_attested(self) -> None:
        assert requirement_verdict([Verdict.NOT_OBSERVED], attested=True) is Verdict.ATTESTED
        assert requirement_verdict([Verdict.NOT_APPLICABLE], attested=True) is Verdict.NOT_APPLICABLE
        assert requirement_verdict([Verdict.FAIL], attested=True) is Verdict.FAIL


ONE, TWO, THREE = requirement("LRO-FILE-01"), requirement("LRO-CLN-01"), requirement("LRO-ERR-01")


class TestALevel:
    def test_the_three_requirements_here_bind_at_levels_one_two_and_three(self) -> None:
        assert [(r.keyword, r.level) for r in (ONE, TWO, THREE)] == [("MUST", 1), ("MUST", 2), ("MUST", 3)]

    @pytest.mark.parametrize(
        ("verdict", "level"),
        [
            (Verdict.PASS, "proved"),
            (Verdict.NOT_APPLICABLE, "proved"),
            (Verdict.WARN, "proved"),
            (Verdict.ATTESTED, "attested"),
            (Verdict.NOT_OBSERVED, "unproved"),
            (Verdict.ERROR, "unproved"),
            (Verdict.FAIL, "failed"),
        ],
    )
    def test_is_what_its_weakest_must_is(self, verdict: Verdict, level: str) -> None:
        assert level_verdict(2, [(ONE, Verdict.PASS), (TWO, verdict), (THREE, Verdict.FAIL)]) == level

    def test_failed_is_worse_than_unproved_and_that_than_attested(self) -> None:
        assert level_verdict(2, [(ONE, Verdict.FAIL), (TWO, Verdict.NOT_OBSERVED)]) == "failed"
        assert level_verdict(2, [(ONE, Verdict.ATTESTED), (TWO, Verdict.NOT_OBSERVED)]) == "unproved"

    def test_does_not_ask_for_a_should(self) -> None:
        assert level_verdict(3, [(ONE, Verdict.PASS), (requirement(SHOULD), Verdict.FAIL)]) == "proved"

    def test_that_nothing_was_asked_of_is_unproved(self) -> None:
        assert level_verdict(1, [(TWO, Verdict.PASS)]) == "unproved"

    def test_what_is_not_judged_counts_neither_way(self) -> None:
        assert level_verdict(1, [(ONE, Verdict.NOT_JUDGED)]) == "unproved"
        assert level_verdict(2, [(ONE, Verdict.PASS), (TWO, Verdict.NOT_JUDGED)]) == "proved"

    def test_counts_only_on_top_of_those_below(self) -> None:
        assert achieved({1: "proved", 2: "proved", 3: "unproved"}) == 2
        assert achieved({3: "proved", 1: "proved", 2: "attested"}) == 1
        assert achieved({1: "failed", 2: "proved"}) == 0
        assert achieved({2: "proved", 3: "proved", 1: "proved"}) == 3


def test_labels_are_those_of_reports() -> None:
    assert [v.label for v in Verdict] == [
        *("not-applicable", "not-judged", "pass", "attested", "not-observed", "warn", "fail", "error"),
    ]
    assert Verdict.of("not-observed") is Verdict.NOT_OBSERVED


def test_a_check_names_parameters_that_it_does_not_have() -> None:
    def function(one: object, subjects: Subjects) -> None:
        """It looks at one thing."""

    with pytest.raises(ValueError, match=r"has no parameter other, third$"):
        check(MUST, optional=("one", "third", "other"))(function)


def test_checks_are_in_the_order_of_modules_and_of_definition() -> None:
    names = [c.name.partition(".")[0] for c in checks()]
    assert names == sorted(names)
    fallback = [c for c in checks() if c.name.startswith("fallback.")]
    lines = [c.function.__code__.co_firstlineno for c in fallback]
    assert lines == sorted(lines)


class TestNotBound:
    """A requirement that does not bind the server does not, whatever else was captured."""

    ended = NotObserved("the run ended")

    def test_of_a_check_that_says_so_before_it_reads_what_is_missing(self):
        def function(survey: str, edges: Any, subjects: Subjects) -> None:
            if survey == "no inject":
                raise NotApplicable("the server lists no tool for inject")
            subjects.expect(edges.of == "recall", expected="", observed="")

        one = made(function, MUST, "survey", "edges")
        assert reason_not_bound(one, {"survey": "no inject", "edges": self.ended}) == (
            "the server lists no tool for inject"
        )
        assert reason_not_bound(one, {"survey": "all", "edges": self.ended}) is None
        assert reason_not_bound(one, {"survey": self.ended, "edges": self.ended}) is None

    @pytest.mark.parametrize(
        "read",
        [bool, len, iter, list, lambda e: e == 1, lambda e: isinstance(e, str), lambda e: 1 in e, lambda e: e.name],
    )
    def test_nothing_is_concluded_from_what_is_missing(self, read: Callable[[Any], Any]):
        def function(edges: Any, subjects: Subjects) -> None:
            read(edges)
            raise NotApplicable("there are no edges")

        assert reason_not_bound(made(function, MUST, "edges"), {"edges": self.ended}) is None
