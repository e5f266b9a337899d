"""Runs of jq programs in a child process, under limits, whatever the program does."""

from __future__ import annotations

import json
import shlex
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lro_spec.recipes.pipeline import Pipeline, parse_command
from lro_spec.recipes.runner import EngineError, JqRun, JqRunner, run, run_many
from tests.support.children import children

BINARY = shutil.which("jq")
ENGINES = [pytest.param(None, id="libjq")]
if BINARY:
    ENGINES.append(pytest.param(BINARY, id="binary"))

needs_binary = pytest.mark.skipif(BINARY is None, reason="no jq binary here")


@pytest.fixture(params=ENGINES)
def runner(request: pytest.FixtureRequest) -> Iterator[JqRunner]:
    with JqRunner(request.param, timeout_s=5) as runner:
        yield runner


@pytest.fixture(params=ENGINES)
def binary(request: pytest.FixtureRequest) -> str | None:
    return request.param


def piped(program: str, options: str = "") -> Pipeline:
    return parse_command(f"tail -n +2 /f | jq {options} {shlex.quote(program)}")


DATA = b'{"header":true}\n{"a":1,"t":"x\\ty"}\n{"a":2}\n{"a":null}\n'


def lines(output: JqRun) -> list[str]:
    assert output.ok, output
    return output.stdout.decode().split("\n")[:-1]


def test_a_run_gives_what_jq_gives(runner: JqRunner):
    assert lines(runner.run(piped(".a"), DATA)) == ["1", "2", "null"]
    assert lines(runner.run(piped("map(.a)", "-s"), DATA)) == ["[1,2,null]"]
    assert lines(runner.run(piped(".t // empty", "-r"), DATA)) == ["x\ty"]
    assert runner.run(piped(".a", "-j"), DATA).stdout == b"12null"
    assert lines(runner.run(piped("[$v, $w]", "--arg v é --argjson w '[1]' -n"), DATA)) == ['["é",[1]]']
    assert lines(runner.run(piped("-(.a // 0)", "--"), DATA)) in (["-1", "-2", "0"], ["-1", "-2", "-0"])


def test_lines_are_left_out_and_taken_before_jq(runner: JqRunner):
    assert lines(runner.run(parse_command("head -n 1 /f | jq -c ."), DATA)) == ['{"header":true}']
    assert lines(runner.run(parse_command("tail -n +2 /f | head -n 2 | jq .a"), DATA)) == ["1", "2"]
    assert lines(runner.run(parse_command("tail -n +9 /f | jq ."), DATA)) == []
    assert lines(runner.run(parse_command("tail -n +2 /f | tail -n 2 | jq .a"), DATA)) == ["2", "null"]
    assert lines(runner.run(parse_command("tail -n +2 /f | tail -n 9 | jq .a"), DATA)) == ["1", "2", "null"]
    assert lines(runner.run(parse_command("head -n 3 /f | tail -n 2 | jq .a"), DATA)) == ["1", "2"]
    assert lines(runner.run(parse_command("tail -n 3 /f | head -n 1 | jq .a"), DATA)) == ["1"]
    assert lines(runner.run(parse_command("jq -s length /f"), DATA)) == ["4"]
    assert lines(runner.run(parse_command("tail -n +2 /f | jq -s length"), DATA[:-1])) == ["3"]


def test_several_jq_in_a_row_are_run(runner: JqRunner):
    assert lines(runner.run(parse_command("sed 1d /f | jq 'select(.a)' | jq -s length"), DATA)) == ["2"]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("jq -n 'input | inputs | .a' /f", ["1", "2", "null"]),
        ("jq -n 'input as $h | [inputs | .a] | length' /f", ["3"]),
        ("jq -n '[inputs] | length' /f", ["4"]),
        ("jq -n 'input' /f", ['{"header":true}']),
        ("jq 'inputs | .a' /f", ["1", "2", "null"]),
        ("jq -n 'reduce inputs as $r (0; . + ($r.a // 10))' /f", ["23"]),
        ("jq -n 'input as $h | reduce inputs as $r (0; . + ($r.a // 10))' /f", ["13"]),
        ("jq -n 'foreach inputs as $r (0; . + 1)' /f", ["1", "2", "3", "4"]),
        ("jq '[inputs | .a] # rest' /f", ["[1,2,null]"]),
        ("jq -n 'limit(2; inputs | .a // 9)' /f", ["9", "1"]),
        ("jq -n 'first(inputs | select(.a)) | if .a == 1 then \"one\" else . end' /f", ['"one"']),
        ("jq -n '[inputs | .a?] | length' /f", ["4"]),
    ],
)
def test_input_and_inputs_skip_a_header_in_both_engines(runner: JqRunner, command: str, output: list[str]):
    assert lines(runner.run(parse_command(command), DATA)) == output


@pytest.mark.parametrize(
    "program",
    ["input", "inputs, inputs", "if .a then inputs else 1 end", "first(inputs)", "reduce .a as $x (0; inputs)"],
)
def test_an_unusual_use_of_input_needs_a_binary(program: str):
    with pytest.raises(EngineError, match="needs a jq binary"):
        run(piped(program), DATA, binary=None)


def test_an_error_drops_its_record_and_the_last_record_decides_the_status(runner: JqRunner):
    data = b'{}\n{"a":"x"}\n{"a":3}\n{"a":"y"}\n'
    middle = runner.run(piped('.a | startswith("x")'), data)
    assert (middle.stdout, middle.status) == (b"true\nfalse\n", 0)
    assert "startswith() requires string inputs" in middle.stderr
    last = runner.run(piped('.a | startswith("x")'), data + b'{"a":null}\n')
    assert (last.stdout, last.status, last.ok) == (b"true\nfalse\n", 5, False)


def test_a_program_that_does_not_compile_is_status_3(runner: JqRunner):
    output = runner.run(piped(".a | nosuch("), DATA)
    assert (output.status, output.stdout) == (3, b"")
    assert "error" in output.stderr


def test_a_program_cannot_escape_what_is_put_around_it():
    output = run(parse_command("jq -n 'inputs) | (1' /f"), DATA, binary=None)
    assert output.status == 3


def test_input_that_is_not_json_is_an_error(runner: JqRunner):
    output = runner.run(piped(".a"), DATA + b'{"a": nonsense\n')
    assert output.status in (2, 4)  # jq 1.6 says 4
    assert output.stdout.startswith(b"1\n2\n")


def test_half_a_surrogate_pair_and_bad_utf_8_are_read_as_replacements(runner: JqRunner):
    data = b'{}\n{"a":"\\ud800|\\ud83e\\udded|\\\\ud800|\\udc00"}\n'
    assert json.loads(runner.run(piped(".a"), data).stdout) == "\ufffd|🧭|\\ud800|\ufffd"
    assert json.loads(runner.run(piped(".a"), b'{}\n{"a":"\xff"}\n').stdout) == "\ufffd"


def test_strings_of_any_kind_come_through(runner: JqRunner):
    value = 'nul \0, sep \u2028\u2029, emoji 🧭, quote ", slash \\, del \x7f'
    data = b"{}\n" + json.dumps({"a": value}).encode() + b"\n"
    assert json.loads(runner.run(piped(".a"), data).stdout) == value


@pytest.mark.parametrize("program", ["def f: f; f", "[range(1e12)] | length", "last(repeat(1))"])
def test_an_endless_program_is_ended_and_the_next_one_runs(program: str):
    with JqRunner(None, timeout_s=0.5, memory=400 << 20) as runner:
        began = time.monotonic()
        output = runner.run(piped(program, "-n"), DATA)
        assert not output.ok
        assert output.problem
        assert time.monotonic() - began < 5
        assert lines(runner.run(piped(".a"), DATA)) == ["1", "2", "null"]


@needs_binary
def test_an_endless_binary_is_ended_and_the_next_one_runs():
    with JqRunner(BINARY, timeout_s=1) as runner:
        output = runner.run(piped("def f: f; f", "-n"), DATA)
        assert (output.timed_out, output.problem) == (True, "timed out")
        assert lines(runner.run(piped(".a"), DATA)) == ["1", "2", "null"]


def test_a_program_that_was_left_to_wait_is_tried_once_more(tmp_path: Path):
    binary = tmp_path / "jq"
    binary.write_text(
        f"""#!/bin/sh
case "$*" in
*--version*) echo jq-1.7; exit ;;
*endless*) while :; do :; done ;;
esac
if mkdir {tmp_path}/waited; then exec sleep 60; fi
echo 1
"""
    )
    binary.chmod(0o755)
    with JqRunner(str(binary), timeout_s=1) as runner:
        assert runner.run(piped('"endless"'), DATA).timed_out  # uses up the patience with the first
        assert lines(runner.run(piped(".a"), DATA)) == ["1"]


def test_endless_output_is_cut(binary: str | None):
    with JqRunner(binary, timeout_s=5, max_output=10_000) as runner:
        output = runner.run(piped("repeat(1)", "-n"), DATA)
        assert output.problem == "more than 10000 bytes of output"
        assert output.stdout == b"1\n" * 5000
        assert lines(runner.run(piped(".a"), DATA)) == ["1", "2", "null"]


def test_memory_is_limited(binary: str | None):
    with JqRunner(binary, timeout_s=20, memory=300 << 20) as runner:
        output = runner.run(piped('"x" * 1000000 | [range(2000) as $i | . + "\\($i)"] | length', "-n"), DATA)
        assert not output.ok
        assert not output.timed_out
        assert lines(runner.run(piped(".a"), DATA)) == ["1", "2", "null"]


def test_nothing_of_our_environment_reaches_a_program(
    binary: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("SECRET", "s3cret")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".jq").write_text('def a: "from the home folder";')
    # Such a program is refused by parse_command; this looks behind that.
    pipeline = parse_command("jq -n 1 /f")
    output = run(replace(pipeline, jq=replace(pipeline.jq, program="env")), b"", binary=binary)
    assert json.loads(output.stdout) in ({}, {"HOME": "/nonexistent"})
    assert run(parse_command("jq -n a /f"), b"", binary=binary).status == 3


def test_many_jobs_keep_their_order(binary: str | None):
    jobs = [(piped(f".a // {i}", "-r"), DATA if i % 2 else b"{}\n{}\n") for i in range(8)]
    wanted = [lines(run(*job, binary=binary)) for job in jobs]
    assert [lines(o) for o in run_many(jobs, binary=binary)] == wanted
    assert [lines(o) for o in run_many(jobs, binary=binary, workers=3)] == wanted
    assert run_many([], binary=binary) == []


def test_large_data_goes_through(runner: JqRunner):
    data = b"{}\n" + b'{"a":"%s"}\n' % (b"x" * 1000) * 5000
    assert len(runner.run(piped(".a"), data).stdout) == 5000 * 1003


def test_closing_leaves_no_process(runner: JqRunner):
    before = children()
    runner.run(piped(".a"), DATA)
    assert len(children()) == len(before) + 1
    runner.close()
    assert children() == before
    assert lines(runner.run(piped(".a"), DATA)) == ["1", "2", "null"]


def test_a_result_names_its_engine(runner: JqRunner):
    engine = runner.run(piped(".a"), DATA).engine
    assert engine == "libjq" if runner.binary is None else engine.startswith("jq 1.")


def test_a_binary_that_is_none_is_an_engine_error():
    with pytest.raises(EngineError, match="is not a working jq"):
        run(piped(".a"), DATA, binary="/nonexistent/jq")


def test_without_the_jq_package_there_is_no_engine(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lro_spec.recipes.runner.jq_folder", lambda: None)
    with pytest.raises(EngineError, match="no jq binary is used, and the jq package is not installed"):
        run(piped(".a"), DATA, binary=None)


def test_without_a_binary_libjq_runs_everything(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    assert lines(run(piped(".a"), DATA, binary=None)) == ["1", "2", "null"]
