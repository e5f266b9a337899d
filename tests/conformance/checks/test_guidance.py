"""Checks of guidance: the tool that it leads to, and recipes that it describes as the text itself misquotes them."""

from __future__ import annotations

from typing import Any

import pytest

from lro_conformance.judging.results import CheckResult
from lro_conformance.judging.verdicts import Verdict
from lro_spec.editions import edition
from tests.support.made_evidence import call, judged, seen, survey

PASS, FAIL, WARN, NOT_APPLICABLE = Verdict.PASS, Verdict.FAIL, Verdict.WARN, Verdict.NOT_APPLICABLE


def guided(check: str, *guidance: str, tools: tuple[str, ...] = (), by: str = "lro-6400", **other: Any) -> CheckResult:
    """What a check finds of descriptors with these texts."""
    summary = {"count": 2, "detail": "light", "estimated_tokens": 50}
    recipes = [{"description": r.description, "command": r.command} for r in edition(by).recipes_at("light")]
    recipes[5]["description"] = "Count by namespace"
    known = {"file_path": "/out/a.jsonl", "jq_recipes": recipes, "summary": summary, **other}
    calls = [
        call(descriptor={**known, "guidance": g}, summary=summary, header={}, file_records=[{}, {}]) for g in guidance
    ]
    made = survey(*calls, tools=[{"name": name} for name in tools])
    return judged(f"guidance.{check}", by, survey=made)


class TestTheTool:
    CHECK = "guidance_names_the_tool"
    BY = "lro-1600"

    @pytest.mark.parametrize("tools", [(), ("recall_memories", "zoo"), ("lro_extracts", "lro_extrac")])
    def test_is_only_to_be_named_where_there_is_one(self, tools: tuple[str, ...]) -> None:
        assert guided(self.CHECK, "use jq", tools=tools, by=self.BY).verdict is NOT_APPLICABLE

    def test_is_named_in_every_guidance(self) -> None:
        tools = ("zoo", "lro_extract", "a")
        assert seen(guided(self.CHECK, "call lro_extract", "or lro_extract", tools=tools, by=self.BY)) == (PASS, 2)
        result = guided(self.CHECK, "call lro_extract", "use jq", tools=tools, by=self.BY)
        assert result.verdict in (FAIL, WARN)
        assert result.observed.startswith('"use jq"')


class TestTheTemplate:
    TEXT = "2 memories in /out/a.jsonl (50 tokens saved): see the recipes"

    @pytest.mark.parametrize(
        ("tools", "by", "complete"),
        [
            ((), "lro-6400", False),
            (("lro_extract",), "lro-6400", False),
            ((), "lro-1600", False),
            (("lro_extract",), "lro-1600", True),
        ],
    )
    def test_tells_of_the_header_but_where_a_tool_skips_it(
        self, tools: tuple[str, ...], by: str, complete: bool
    ) -> None:
        result = guided("guidance_follows_the_template", self.TEXT, tools=tools, by=by)
        assert (result.verdict is PASS) is complete
        assert complete or result.observed == "missing: the header line"

    def test_any_words_for_the_header_do(self) -> None:
        for words in ("the header", "line 1", "The FIRST LINE"):
            assert guided("guidance_follows_the_template", f"{self.TEXT}; skip {words}").verdict is PASS
