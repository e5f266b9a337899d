"""Derived evidence: computed once, missing for the reason of its parts, and never from a part of the trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lro_conformance.judging import derived as module
from lro_conformance.judging.derived import Evidence, captured, derived
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_spec.editions import DEFAULT_EDITION, Edition

CALLS: list[str] = []


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Derived evidence of a test is forgotten after it."""
    CALLS.clear()
    monkeypatch.setattr(module, "_REGISTRY", {})

    @derived
    def doubled(survey: int) -> int:
        CALLS.append("doubled")
        return 2 * survey

    @derived
    def both(doubled: int, inline: int) -> tuple[int, int]:
        CALLS.append("both")
        return doubled, inline

    @derived
    def everything(survey: int, found: Mapping[str, Any]) -> list[str]:
        CALLS.append("everything")
        return sorted(found)

    @derived
    def length(everything: list[str]) -> int:
        return len(everything)

    @derived
    def named(edition: Edition) -> str:
        return edition.name

    @derived
    def broken(survey: int) -> int:
        raise ValueError(f"no use: {survey}")


class TestComputing:
    def test_happens_once_a_run(self) -> None:
        evidence = Evidence(DEFAULT_EDITION, {"survey": 2, "inline": 3})
        assert evidence.select(["doubled", "both"]) == {"doubled": 4, "both": (4, 3)}
        assert evidence.select(["both"]) == {"both": (4, 3)}
        assert CALLS == ["doubled", "both"]

    def test_happens_again_for_another_run(self) -> None:
        assert [Evidence(DEFAULT_EDITION, {"survey": n}).select(["doubled"])["doubled"] for n in (1, 2)] == [2, 4]

    def test_does_not_happen_unasked(self) -> None:
        assert Evidence(DEFAULT_EDITION, {"survey": 2}).select(["survey"]) == {"survey": 2}
        assert CALLS == []

    def test_is_given_the_edition_to_judge_by(self) -> None:
        assert Evidence("lro-paper").select(["named"]) == {"named": "lro-paper"}

    def test_needs_what_its_parts_need(self) -> None:
        assert list(captured(["both", "survey"])) == ["survey", "inline", "survey"]


class TestMissingEvidence:
    @pytest.mark.parametrize("reason", [NotObserved("unseen"), NotApplicable("unbound"), OSError("disk")])
    def test_is_the_same_reason_for_all_that_is_derived_from_it(self, reason: Exception) -> None:
        evidence = Evidence(DEFAULT_EDITION, {"survey": reason, "inline": 3})
        assert evidence.select(["doubled", "both"]) == {"doubled": reason, "both": reason}
        assert CALLS == []

    def test_that_was_never_captured_is_an_error_of_the_caller(self) -> None:
        with pytest.raises(KeyError, match="inline"):
            Evidence(DEFAULT_EDITION, {"survey": 1}).select(["both"])

    def test_is_not_there_until_its_last_part_is(self) -> None:
        evidence = Evidence(DEFAULT_EDITION, {"survey": 1})
        assert evidence.has(["doubled"])
        assert not evidence.has(["doubled", "both"])
        evidence.add("inline", NotObserved("unseen"))
        assert evidence.has(["both"])


class TestOfAllTrials:
    @pytest.mark.parametrize("name", ["everything", "length"])
    def test_waits_for_the_last_of_them(self, name: str) -> None:
        evidence = Evidence(DEFAULT_EDITION, {"survey": 1}, expected={"survey", "cleanup"})
        assert not evidence.has([name])
        assert evidence.has(["doubled"])
        evidence.add("cleanup", 2)
        assert evidence.has([name])

    def test_is_made_of_those_that_succeeded(self) -> None:
        evidence = Evidence(DEFAULT_EDITION, {"survey": 1, "cleanup": NotObserved("unseen"), "inline": 2})
        assert evidence.select(["everything", "length"]) == {"everything": ["inline", "survey"], "length": 2}
        assert CALLS == ["everything"]


class TestErrors:
    def test_stand_for_the_evidence_and_for_what_is_derived_from_it(self) -> None:
        @derived
        def worse(broken: int) -> int:
            return broken

        made = Evidence(DEFAULT_EDITION, {"survey": 7}).select(["broken", "worse"])
        assert str(made["broken"]) == "no use: 7"
        assert made["worse"] is made["broken"]

    def test_name_may_be_used_by_one_module_only(self) -> None:
        def doubled() -> None: ...

        doubled.__module__ = "elsewhere"
        register: Callable[..., Any] = derived
        with pytest.raises(ValueError, match="two derived evidences are named doubled"):
            register(doubled)
