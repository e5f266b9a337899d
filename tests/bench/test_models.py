"""Runs through Inspect AI, with scripted agents in a model's place."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from lro_bench.models import ModelError, ScriptedModel, run_model
from lro_bench.report import report_of
from lro_bench.run import Choice, run
from lro_bench.samples import read_samples
from lro_conformance.cli.main import main

CONDITIONS = ("E1/LRO", "E1/Inline")
MODEL = "mockllm/oracle"


def quiet(*_: object) -> None:
    pass


def test_a_scripted_model_gives_the_samples_of_the_scripted_agent(tmp_path: Path) -> None:
    one, other = tmp_path / "model", tmp_path / "agent"
    choice = Choice(CONDITIONS, (50,), (MODEL,), limit=1)
    run_model(choice, MODEL, one, sandbox=None, resume=False, progress=quiet, say=quiet)
    run(Choice(CONDITIONS, (50,), ("oracle",), limit=1), other, resume=False, progress=quiet)
    first, second = (
        [json.loads(line) for line in (f / "samples.jsonl").read_text().splitlines()] for f in (one, other)
    )
    for sample in (*first, *second):
        for key in ("agent", "least_turns", "least_messages", "least_context"):
            del sample[key]
    assert first == second
    cells = [(c.condition, c.family, c.correct, c.total_tokens) for c in report_of([one]).cells]
    assert cells == [(c.condition, c.family, c.correct, c.total_tokens) for c in report_of([other]).cells]


@pytest.mark.long
def test_the_logs_are_shown_by_the_viewer_of_inspect(tmp_path: Path) -> None:
    """That Inspect reads them is tried each time, below."""
    choice = Choice(CONDITIONS, (50,), (MODEL,), limit=1)
    run_model(choice, MODEL, tmp_path / "model", sandbox=None, resume=False, progress=quiet, say=quiet)
    bundle = [sys.executable, "-m", "inspect_ai", "view", "bundle", "--log-dir", str(tmp_path / "model" / "logs")]
    subprocess.run([*bundle, "--output-dir", str(tmp_path / "view")], check=True, capture_output=True, timeout=100)
    assert (tmp_path / "view" / "index.html").is_file()


def test_a_model_that_fails_ends_in_one_line_and_loses_no_finished_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = ScriptedModel.__call__
    asked: list[str] = []

    def fail_later(self: ScriptedModel, messages, *rest: object):
        if "varied" in str(self._batch.family):
            raise ConnectionError("no route to the provider")
        asked.append(messages[1].text)
        return answer(self, messages, *rest)

    call = ["bench", "run", "--model", MODEL, "--condition", "E1/LRO", "-n", "50", "--limit", "1", "-o", str(tmp_path)]
    with monkeypatch.context() as patch:
        patch.setattr(ScriptedModel, "__call__", fail_later)
        assert main(call) == 3
        last = capsys.readouterr().err.splitlines()[-1]
        assert last.startswith(f"lro bench: {MODEL}: ")
        assert "no route to the provider" in last
        assert f"1 of 2 samples are kept: lro bench run --resume -o {tmp_path} continues it" in last
    assert len((tmp_path / "samples.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    assert main([*call, "--resume"]) == 0
    assert len((tmp_path / "samples.jsonl").read_text(encoding="utf-8").splitlines()) == 2


def test_a_sample_that_fails_does_not_end_those_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = ScriptedModel.__call__
    asked: list[str] = []

    def refuse_the_first(self: ScriptedModel, messages, *rest: object):
        question = messages[1].text
        if not asked or question == asked[0]:
            asked.append(question)
            raise ConnectionError("no credit")
        return answer(self, messages, *rest)

    monkeypatch.setattr(ScriptedModel, "__call__", refuse_the_first)
    choice = Choice(("E3/Recipe",), (50,), (MODEL,), limit=4)
    counts: list[int] = []
    with pytest.raises(ModelError, match=r"no credit'\) \(3 of 8 samples are kept: lro bench run --resume -o "):
        run_model(
            choice,
            MODEL,
            tmp_path,
            sandbox=None,
            resume=False,
            progress=lambda done, total: counts.append(done),
            say=quiet,
        )
    assert counts == [0, 1, 2, 3, 3]
    assert len(read_samples(tmp_path / "samples.jsonl")) == 3


def test_an_interrupted_model_run_keeps_finished_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = ScriptedModel.__call__

    def interrupt_later(self: ScriptedModel, messages, *rest: object):
        if "varied" in str(self._batch.family):
            os.kill(os.getpid(), signal.SIGINT)
        return answer(self, messages, *rest)

    words = ["bench", "run", "--model", MODEL, "--condition", "E3/Recipe", "-n", "50", "--limit", "1"]
    call = [*words, "-o", str(tmp_path)]
    with monkeypatch.context() as patch:
        patch.setattr(ScriptedModel, "__call__", interrupt_later)
        assert main(call) == 130
    assert capsys.readouterr().err.splitlines()[-1].endswith(f"lro bench run --resume -o {tmp_path} continues it")
    assert len(read_samples(tmp_path / "samples.jsonl")) == 1
    assert main([*call, "--resume"]) == 0
    assert len(read_samples(tmp_path / "samples.jsonl")) == 2


def test_the_logs_alone_give_the_table_of_the_report(tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log

    choice = Choice(("E1/LRO", "E1/Summary"), (50,), ("mockllm/typical",), limit=2)
    run_model(choice, "mockllm/typical", tmp_path, sandbox=None, resume=False, progress=quiet, say=quiet)
    cells = {(c.condition, c.family): (c.tasks, c.correct, c.total_tokens) for c in report_of([tmp_path]).cells}
    read: dict[tuple[str, str], tuple[int, int, float]] = {}
    for path in (tmp_path / "logs").glob("*.eval"):
        log = read_eval_log(str(path))
        assert log.eval.metadata is not None
        assert log.samples is not None
        right = [sample.scores["exact_answer"].value == "C" for sample in log.samples if sample.scores]
        tokens = [sum(usage.total_tokens for usage in sample.model_usage.values()) for sample in log.samples]
        key = log.eval.metadata["condition"], log.eval.metadata["family"]
        read[key] = len(log.samples), sum(right), sum(tokens) / len(tokens)
    assert read == cells


class Refusing(BaseHTTPRequestHandler):
    """A provider to which every key is wrong."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({"error": {"message": "Incorrect API key provided: sk-wrong.", "code": "invalid_api_key"}})
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.parametrize(
    ("model", "key", "told"),  # of two models, because Inspect keeps the client of each
    [
        ("openai/gpt-5-mini", "sk-wrong", "401 - Incorrect API key provided: sk-wrong."),
        ("openai/gpt-5", None, "No OPENAI_API_KEY, "),
    ],
)
def test_a_wrong_key_or_none_at_a_provider_ends_in_one_line(
    model: str,
    key: str | None,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as provider:
        Thread(target=provider.serve_forever, daemon=True).start()
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{provider.server_port}/v1")
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        if key is not None:
            monkeypatch.setenv("OPENAI_API_KEY", key)
        call = ["bench", "run", "--model", model, "--condition", "E1/LRO", "-n", "50", "--limit", "1"]
        assert main([*call, "-o", str(tmp_path)]) == 3
        provider.shutdown()
    output = capsys.readouterr()
    (line,) = [line for line in output.err.splitlines() if not line.startswith("lro bench: 0 of")]
    assert line.startswith(f"lro bench: {model}: ")
    assert told in line
    assert line.endswith("(no sample is finished)")


def test_code_of_a_model_is_not_run_without_a_sandbox(tmp_path: Path) -> None:
    said: list[str] = []
    choice = Choice(("E1/Inline+Code",), (50,), ("openai/none",), limit=1)
    samples = run_model(choice, "openai/none", tmp_path, sandbox=None, resume=False, progress=quiet, say=said.append)
    assert samples == []
    assert "--sandbox" in said[0]


def test_code_of_a_model_runs_in_a_sandbox_of_inspect(tmp_path: Path) -> None:
    choice = Choice(("today/Code over pages",), (50,), ("mockllm/typical",), limit=1)
    run_model(choice, "mockllm/typical", tmp_path, sandbox="local", resume=False, progress=quiet, say=quiet)
    samples = [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text().splitlines()]
    assert [(sample["correct"], sample["calls"]) for sample in samples] == [(True, 2)] * len(samples)
    assert len(samples) == 8
