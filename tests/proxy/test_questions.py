"""An assistant that does not know the tool answers questions about results of published servers, in two queries."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from lro_proxy import Interceptor
from lro_proxy.tools.toolbox import Toolbox
from lro_reference.settings import Settings
from lro_spec.tokens import script_aware_estimate
from tests.support.assistant import Assistant, Shell, Tool
from tests.support.captures import CAPTURES, FOLDER


class Question(NamedTuple):
    """A question, and a pattern of the right answer."""

    capture: str
    question: str
    answer: str


QUESTIONS = [Question(**one) for one in yaml.safe_load((FOLDER.parent / "questions.yaml").read_text(encoding="utf-8"))]
BY_NAME = {capture.name: capture for capture in CAPTURES}


def assistant(folder: Path, name: str, *, shell: bool) -> Assistant:
    settings = Settings(threshold_tokens=0, output_dir=str(folder))
    toolbox = Toolbox([] if shell else ["extract"], settings)
    lro = Interceptor(settings, emit=lambda event: None, publish=toolbox.publish)
    capture = BY_NAME[name]
    text = lro.result(capture.result, tool=capture.tool)["content"][0]["text"]
    descriptor: dict[str, Any] = json.loads(text)

    def call(tool: str, **arguments: Any) -> str:
        answer = toolbox.call(tool, arguments)
        assert not answer.is_error, answer.texts[0]
        return answer.texts[0]

    return Assistant(descriptor, Shell(descriptor) if shell else Tool(descriptor, call))


@pytest.mark.parametrize("hands", ["shell", "lro_extract"])
@pytest.mark.parametrize("one", QUESTIONS, ids=lambda one: f"{one.capture}: {one.question}")
def test_a_question_is_answered_in_two_queries_at_most(tmp_path: Path, one: Question, hands: str) -> None:
    if hands == "shell" and shutil.which("jq") is None:
        pytest.skip("there is no jq here")
    asked = assistant(tmp_path, one.capture, shell=hands == "shell")
    answer = asked.answer(one.question)
    assert re.search(one.answer, answer, re.MULTILINE), answer[:1000]
    assert len(asked.outputs) <= 2
    assert all(script_aware_estimate(output) <= 1000 for output in asked.outputs)


def test_there_are_thirty_questions_about_all_captures() -> None:
    assert len(QUESTIONS) >= 30
    assert {one.capture for one in QUESTIONS} == set(BY_NAME)
