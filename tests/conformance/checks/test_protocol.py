"""Checks of messages and results as the protocol has them, on evidence made for it."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any, ClassVar

import pytest

from lro_conformance.capture.overall import Overall
from lro_conformance.capture.reproduce import Conversation
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.wire.reply import MODERN_VERSION
from tests.support.made_evidence import call, judged, seen, survey

PASS, FAIL = Verdict.PASS, Verdict.FAIL


def starts() -> tuple[Made, Made]:
    """A call to each of two servers, the transcripts of which lie in two folders."""
    first, second = (
        Made(argv=("serve", name), sent=list[bytes], settings={}, lines={1: b"x"}, folder=name) for name in ("a", "b")
    )
    return call(start=first), call(start=second)


class TestMessages:
    @pytest.fixture(autouse=True)
    def without_scripts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lro_conformance.capture.reproduce.script", lambda start, sent: "script")  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]

    def survey(self, *calls: Made, protocol: str = "2025-11-25", **other: Any) -> Made:
        return survey(*calls, protocol=protocol, messages=(), **other)

    OLD: ClassVar[Any] = {"content": [{"type": "text", "text": "x"}]}
    NEW: ClassVar[Any] = {**OLD, "resultType": "complete"}

    def eras(self, *results: Any, outcome: str = "offloaded", messages: tuple[Any, ...] = ()) -> Made:
        calls = [(call(result=r, outcome=outcome), call(label="recall(x)")) for r in results]
        return Made(calls=calls, messages=messages, protocol=MODERN_VERSION)

    def test_results_by_the_other_protocol_are_looked_at(self) -> None:
        name = "protocol.shape_in_the_other_protocol"
        made = self.survey(*starts())
        assert seen(judged(name, survey=made, eras=self.eras(self.NEW, None, self.NEW))) == (PASS, 2)
        result = judged(name, survey=made, eras=self.eras(self.OLD))
        assert result.verdict is FAIL
        assert result.expected == f"a result of MCP {MODERN_VERSION}"
        assert "resultType" in result.observed

    def test_and_so_are_messages(self) -> None:
        one = Made(kind="tools/call", value=self.OLD)
        name = "protocol.shape_in_the_other_protocol"
        result = judged(name, survey=self.survey(*starts()), eras=self.eras(messages=(one,)))
        assert seen(result) == (FAIL, 1)
        assert "resultType" in result.observed
        assert result.location == "a/transcript.jsonl:1"

    def test_stdout_of_the_first_server_is_told(self) -> None:
        calls = starts()
        for one in calls:
            one.reply = Made(raw=b"x")
        made = self.survey(*calls, anomalies=("one", "two", "three", "four"))
        result = judged("protocol.only_messages_on_stdout", survey=made)
        assert seen(result) == (FAIL, 5)
        assert result.location == "a/transcript.jsonl:1"

    def test_stdout_of_any_server_is_shown_by_what_came_with_it(self) -> None:
        name, at = "protocol.only_messages_on_stdout_of_any_server", Conversation(starts()[1].start)
        made = {"survey": self.survey(*starts(), anomalies=()), "wrong_output": at}
        result = judged(name, **made, overall=Overall(("a warning", "an empty line"), 3))
        assert (*seen(result), result.observed, result.location) == (FAIL, 1, "a warning", "b/transcript.jsonl:1")
        assert seen(judged(name, **made, overall=Overall((), 3))) == (PASS, 1)

    @pytest.mark.parametrize(
        ("protocol", "result", "verdict"),
        [
            ("2025-11-25", OLD, PASS),
            (MODERN_VERSION, OLD, FAIL),
            (MODERN_VERSION, NEW, PASS),
            ("2099-01-01", OLD, PASS),  # of what is not known nothing is asked that is
        ],
    )
    def test_are_judged_by_the_protocol_that_was_agreed(self, protocol: str, result: Any, verdict: Verdict) -> None:
        made = self.survey(call(result=result), protocol=protocol)
        assert judged("protocol.shape_of_results", survey=made).verdict is verdict
        made = self.survey(*starts(), protocol=protocol)
        made.messages = (Made(kind="tools/call", value=result),)
        assert judged("protocol.shape_of_messages", survey=made).verdict is verdict

    @pytest.mark.parametrize(("outcome", "verdict"), [("offloaded", PASS), ("inline", FAIL), ("error", FAIL)])
    def test_any_protocol_is_served(self, outcome: str, verdict: Verdict) -> None:
        eras = self.eras(self.NEW, outcome=outcome)
        assert seen(judged("protocol.any_protocol_is_served", eras=eras)) == (verdict, 1)

    def test_structured_content_is_told_of_with_what_is_wrong(self) -> None:
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
        one = call(result={"structuredContent": {"a": "x"}}, tool="t")
        made = self.survey(one, operations={"recall": Made(output_schema=schema)})
        result = judged("protocol.output_schema", survey=made)
        assert seen(result) == (FAIL, 1)
        assert '"x"' in result.observed or "integer" in result.observed
