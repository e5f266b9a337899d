"""`lro weigh`: what is called, what is measured, and what becomes of servers that misbehave."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lro_bench.ceilings import CEILINGS
from lro_bench.weigh import register
from lro_bench.weigh.calls import read_only_calls
from lro_bench.weigh.measure import weigh_result
from lro_bench.weigh.register import entries, install, make_data
from lro_bench.weigh.report import COLUMNS, legend, legend_entries, sentence, text_lines, to_html, to_markdown
from lro_bench.weigh.weighing import Row, ToolList, Weights, weigh
from lro_conformance.cli.main import main
from lro_spec.schema.bundled import json_schema
from tests.support.bench import independent_encoding
from tests.support.browser import browser  # noqa: F401
from tests.support.pictures import VIEWS, assert_looks_as_it_did
from tests.tools.bench_pages import REGISTER

ODD = [sys.executable, str(Path(__file__).with_name("odd_server.py"))]


@pytest.fixture(scope="module")
def weights() -> Weights:
    """The weights of the odd server."""
    return weigh(ODD, None, timeout_s=2)


def reason(weights: Weights, tool: str) -> str:
    return next(row.reason for row in weights.rows if row.tool == tool)


# What is called


def test_only_tools_that_say_they_read_and_need_nothing_are_called(weights: Weights) -> None:
    assert "not annotated as read-only (readOnlyHint: true): name it" in reason(weights, "deletes")
    assert "needs arguments (path)" in reason(weights, "needy")


@pytest.mark.parametrize(
    ("tool", "word"),
    [
        ("hangs", "no response within 2 s"),
        ("dies", "out of cheese"),
        ("asks", "asked for input ('elicitation/create')"),
        ("floods", "over"),
        ("fails", "no such table"),
    ],
)
def test_a_server_that_misbehaves_is_a_row_with_the_reason(weights: Weights, tool: str, word: str) -> None:
    assert word in reason(weights, tool)
    assert next(row for row in weights.rows if row.tool == "table").weight is not None


def test_calls_of_a_file_are_made_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "calls.yaml").write_text("calls: [{tool: truncated}, {tool: nothing}]\n", encoding="utf-8")
    assert main(["weigh", "--calls", str(tmp_path / "calls.yaml"), "--", *ODD]) == 0
    shown = capsys.readouterr().out
    assert "nothing: the server lists no tool nothing" in shown
    assert "deletes" not in shown


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("calls: 3", "expected a key calls"),
        ("calls: [{tools: x}]", "tool: NAME"),
        ("calls: [{tool: x, args: {}}]", "unknown key args"),
        ("calls: [", "not valid YAML"),
        ("calls: [{tool: x, arguments: []}]", "expected an object"),
        ("calls: [{tool: x, arguments: {day: 2026-01-01}}]", "a date or a time needs quotes"),
        ("calls: [{tool: x, arguments: &a {b: *a}}]", "not JSON"),
        ("calls: \udcff", "not UTF-8"),
    ],
)
def test_a_wrong_calls_file_is_named(text: str, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "calls.yaml").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert main(["weigh", "--calls", str(tmp_path / "calls.yaml"), "--", *ODD]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert word in line


def test_a_server_that_does_not_start_gives_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["weigh", "--", "there-is-no-such-server"]) == 3
    assert "it is not on the PATH" in capsys.readouterr().out


def test_a_server_that_never_answered_has_no_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "weights.json"
    dead = [sys.executable, "-c", "import sys; sys.stderr.write('no ' * 100 + 'more'); sys.exit(3)"]
    files = [f"--{form}={tmp_path / form}" for form in ("markdown", "html")]
    assert main(["weigh", "--json", str(report), *files, "--", *dead]) == 3
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("unnamed server: nothing was weighed: initialize: the server exited with code 3")
    assert line.endswith("…)")
    told = json.loads(report.read_text(encoding="utf-8"))
    jsonschema.validate(told, json_schema("weights"))
    assert (told["server"]["name"], told["tools"], told["calls"]) == (None, None, [])
    for form in ("markdown", "html"):
        text = (tmp_path / form).read_text(encoding="utf-8")
        assert "nothing was weighed" in text
        assert " tokens" not in text


@pytest.mark.parametrize(
    "result",
    [
        {"content": [{"type": "text", "text": "half a character: \ud800"}]},
        {"content": [], "structuredContent": {"rows": [{"\ud800": 1}] * 9_000}},
        {"content": [{"type": "text", "text": "[" * 50_000 + "]" * 50_000}]},
        {"content": [{"type": "text", "text": '{"a":' * 900 + "1" + "}" * 900}], "structuredContent": {}},
        {"content": [None, 5, {"type": "text", "text": 5}], "structuredContent": [1, 2]},
    ],
)
def test_odd_results_are_weighed(result: dict[str, Any]) -> None:
    assert weigh_result(result, 0, "odd").tokens["o200k"] > 0


def test_a_tool_whose_schema_is_wrong_is_not_called() -> None:
    tool = {"name": "odd", "annotations": {"readOnlyHint": True}, "inputSchema": {"required": 5}}
    (call,) = read_only_calls([tool])
    assert call.skipped


def test_a_result_that_is_no_object_has_no_weight(weights: Weights) -> None:
    assert "not an object" in reason(weights, "mumbles")


def test_no_server_is_left_when_the_command_is_killed(tmp_path: Path) -> None:
    (tmp_path / "calls.yaml").write_text("calls: [{tool: hangs}]\n", encoding="utf-8")
    server = "import os, sys; open(sys.argv[1], 'w').write(str(os.getpid())); os.execv(sys.argv[2], sys.argv[2:])"
    pid_file = tmp_path / "pid"
    argv = [sys.executable, "-m", "lro_conformance", "weigh", "--calls", str(tmp_path / "calls.yaml"), "--"]
    with subprocess.Popen(
        [*argv, sys.executable, "-c", server, str(pid_file), *ODD], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as command:
        assert command.stderr is not None
        assert b"hangs" in command.stderr.readline()
        command.terminate()
    folder = Path("/proc", pid_file.read_text(encoding="utf-8").strip())
    for _ in range(100):
        if not folder.exists():
            return
        time.sleep(0.1)
    pytest.fail(f"{folder} is still there")


# What is measured


def test_figures_are_those_of_an_independent_count(weights: Weights) -> None:
    row = next(row for row in weights.rows if row.tool == "table")
    assert row.weight is not None
    rows = [{"id": n, "name": f"row {n}", "note": "äöü <|endoftext|>"} for n in range(3000)]
    text = json.dumps(rows)
    structured = json.dumps({"rows": rows}, separators=(",", ":"), ensure_ascii=False)
    assert (row.weight.text_characters, row.weight.structured_characters) == (len(text), len(structured))
    for name in ("o200k", "cl100k"):
        encoding = independent_encoding(name)
        assert row.weight.tokens[name] == sum(len(encoding.encode_ordinary(part)) for part in (text, structured))
    assert row.weight.duplication == "both"
    assert (row.weight.records, row.weight.fields) == (3000, ["id", "name", "note"])
    assert row.weight.descriptor_tokens is not None
    assert row.weight.descriptor_tokens < 2000
    assert weights.tools is not None
    assert weights.tools.tokens_proxied > weights.tools.tokens


def test_a_server_that_cuts_itself_is_noticed(weights: Weights) -> None:
    row = next(row for row in weights.rows if row.tool == "truncated")
    assert row.weight is not None
    assert row.weight.cuts_itself == "truncat"
    assert row.weight.descriptor_tokens is None


@pytest.mark.parametrize(
    ("content", "form"),
    [
        ("a,b\n1,2\n3,4\n", "CSV"),
        ("diff --git a b\n@@ -1 +1 @@\n-x\n+y\n", "diff"),
        ("a.py:1:x\nb.py:2:y\nc.py:3:z\n", "path:line:text"),
        ('{"a": 1}\n{"a": 2}\n', "JSON Lines"),
        ("[1, 2]", "JSON array"),
        ("one line", "text of one line"),
    ],
)
def test_forms_are_recognised(content: str, form: str) -> None:
    assert weigh_result({"content": [{"type": "text", "text": content}]}, 0, "tool").form == form


@pytest.mark.parametrize(
    ("blocks", "form"),
    [
        ([{"type": "image", "data": "QUJD" * 60_000, "mimeType": "image/png"}] * 2, "image, not counted"),
        (
            [{"type": "text", "text": "one line"}, {"type": "audio", "data": "QUJD", "mimeType": "audio/wav"}],
            "text of one line; audio, not counted",
        ),
        (
            [
                {"type": "resource_link", "uri": "file:///a", "name": "a"},
                {"type": "resource", "resource": {"uri": "file:///a", "blob": "QUJD"}},
            ],
            "resource link, embedded resource, not counted",
        ),
        ([{"type": "film"}, None], "content of an unknown type, not counted"),
        ([{"type": "text", "text": ""}], "empty"),
        ([], "empty"),
    ],
)
def test_content_that_is_no_text_is_named_and_not_counted(blocks: list[Any], form: str) -> None:
    weight = weigh_result({"content": blocks}, 240_000, "tool")
    assert weight.form == form
    assert weight.tokens["o200k"] == (2 if "one line" in form else 0)
    assert f"; {form}; " in sentence(weight)
    row = Row("tool", {}, "", weight, "")
    weights = Weights("s", "1", (), ToolList(1, 1, 1), 6400, (row,))
    for text in ("\n".join(text_lines(weights)), to_markdown(weights), to_html(weights)):
        assert form in text


@pytest.mark.parametrize(
    ("name", "least", "is_saved"),
    [("claude-code", 50_001, True), ("codex", 10_241, False), ("deepagents", 80_001, True)],
)
def test_a_ceiling_cuts_from_its_limit_on(name: str, least: int, is_saved: bool) -> None:
    rule = CEILINGS[name]
    assert not rule.apply("x" * (least - 1), "/f").is_cut
    shown = rule.apply("x" * least, "/f")
    assert shown.is_cut
    assert (shown.is_saved, "/f" in shown.text) == (is_saved, is_saved)


# Reports


def test_reports_have_their_shape(weights: Weights) -> None:
    jsonschema.validate(weights.to_dict(), json_schema("weights"))
    assert "| table |" in to_markdown(weights)
    page = to_html(weights)
    assert page.count("<h2>") == len(weights.rows)
    assert "<script" not in page


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_the_page_looks_as_it_did(weights: Weights, tmp_path: Path, browser, width: int, scheme: str) -> None:  # noqa: F811
    path = tmp_path / "weights.html"
    path.write_text(to_html(replace(weights, command=("odd-server",))), encoding="utf-8")
    assert_looks_as_it_did(browser, path, "weights", width, scheme)


def test_growth_by_more_than_a_tenth_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, calls = tmp_path / "weights.json", tmp_path / "calls.yaml"
    calls.write_text("calls: [{tool: table}]\n", encoding="utf-8")
    options = ["weigh", "--calls", str(calls)]
    assert main([*options, "--json", str(report), "--", *ODD, "100"]) == 0
    assert main([*options, "--against", str(report), "--", *ODD, "105"]) == 0
    assert main([*options, "--against", str(report), "--", *ODD, "115"]) == 1
    assert "grown by more than a tenth: table" in capsys.readouterr().err


def test_a_result_that_cannot_be_weighed_again_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, calls = tmp_path / "weights.json", tmp_path / "calls.yaml"
    calls.write_text("calls: [{tool: table}, {tool: truncated}]\n", encoding="utf-8")
    assert main(["weigh", "--calls", str(calls), "--json", str(report), "--", *ODD]) == 0
    earlier = json.loads(report.read_text(encoding="utf-8"))
    for call, tool in zip(earlier["calls"], ("fails", "table"), strict=True):
        call["tool"] = tool
    report.write_text(json.dumps(earlier), encoding="utf-8")
    calls.write_text("calls: [{tool: fails}, {tool: truncated}]\n", encoding="utf-8")
    assert main(["weigh", "--calls", str(calls), "--against", str(report), "--", *ODD]) == 1
    said = capsys.readouterr().err
    assert "weighed before, not now: fails {}: the tool reported an error: no such table" in said
    assert "weighed before, not now: table {}: this call was not made" in said


@pytest.mark.parametrize(
    "calls",
    [
        "null",
        "[5]",
        '[{"tool": "table", "arguments": {}}]',
        '[{"tool": "table", "arguments": {}, "weight": {"tokens": {"o200k": "many"}}}]',
        '[{"tool": "table", "arguments": {}, "weight": {"tokens": {"o200k": -5}}}]',
        "[" * 100_000,
    ],
)
def test_a_report_that_was_changed_by_hand_is_refused_before_anything_is_called(
    calls: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "weights.json"
    report.write_text(f'{{"format": "lro-weights/1", "calls": {calls}}}', encoding="utf-8")
    assert main(["weigh", "--against", str(report), "--", "there-is-no-such-server"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(report) in line


@pytest.mark.parametrize("failure", ["", "it died"])
def test_a_report_without_any_weight_is_no_baseline(
    failure: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "weights.json"
    calls = [{"tool": "table", "arguments": {}, "weight": None}]
    report.write_text(json.dumps({"format": "lro-weights/1", "failure": failure, "calls": calls}), encoding="utf-8")
    assert main(["weigh", "--against", str(report), "--", *ODD]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{report}: has no weight to compare with: make another report with --json" in line
    assert failure in line


def test_results_that_the_earlier_report_lacks_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, calls = tmp_path / "weights.json", tmp_path / "calls.yaml"
    calls.write_text("calls: [{tool: truncated}]\n", encoding="utf-8")
    assert main(["weigh", "--calls", str(calls), "--json", str(report), "--", *ODD]) == 0
    calls.write_text("calls: [{tool: truncated}, {tool: table}]\n", encoding="utf-8")
    assert main(["weigh", "--calls", str(calls), "--against", str(report), "--", *ODD]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert "1 of 1 results have grown by no more than a tenth; not in it, and not compared: table {}" in last


@pytest.mark.parametrize("form", ["json", "markdown", "html"])
def test_a_full_disk_is_told_as_by_the_other_commands(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "calls.yaml").write_text("calls: [{tool: truncated}]\n", encoding="utf-8")
    assert main(["weigh", "--calls", str(tmp_path / "calls.yaml"), f"--{form}", "/dev/full", "--", *ODD]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == f"lro: --{form} /dev/full: No space left on device: name another file"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--only memory -- server", "--only is for --register"),
        ("--cache x -- server", "--cache is for --register"),
        ("--register x --json y", "leave out a report file"),
        ("--register x --calls y", "leave out --calls"),
        ("--register x -- server", "leave out a server"),
    ],
)
def test_options_that_would_have_no_effect_are_refused(
    words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["weigh", *words.split()]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


def test_each_column_and_each_word_in_it_is_explained(weights: Weights) -> None:
    entries = [name for name, _ in legend_entries(COLUMNS)]
    assert {word for name in entries for word in name.split(", ")} == {*COLUMNS, "(file)", "(cut)"} - {"tool"}
    for name in entries:
        assert f"*{name}*: " in to_markdown(weights)
        assert any(line.strip().startswith(f"{name}: ") for line in text_lines(weights))
    page = to_html(weights)
    assert all(rule.rule in page for name, rule in CEILINGS.items() if name != "none")
    told = {word for name, _ in legend_entries(register.COLUMNS) for word in name.split(", ")}
    assert set(register.COLUMNS) - told == {"server", "version", "call", "reason"}


@pytest.mark.parametrize("listed", ["[]", '"none"'])
def test_a_server_without_tools_is_told_so(listed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = Path(ODD[1]).read_text(encoding="utf-8").replace('{"tools": TOOLS}', f'{{"tools": {listed}}}')
    (tmp_path / "server.py").write_text(source, encoding="utf-8")
    assert main(["weigh", "--", sys.executable, str(tmp_path / "server.py")]) == 3
    assert "no result was weighed: the server lists no tools" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_told_before_anything_is_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "none" / "weights.json")
    assert main(["weigh", "--json", target, "--", "there-is-no-such-server"]) == 2
    assert str(tmp_path / "none") in capsys.readouterr().err


def test_a_report_of_another_format_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    assert main(["weigh", "--against", str(tmp_path / "x.json"), "--", *ODD]) == 2
    assert "lro-weights/1" in capsys.readouterr().err


# The register


def test_the_register_has_pinned_versions_of_at_least_twelve_servers() -> None:
    assert len(entries()) >= 12
    for entry in entries().values():
        assert ("==" if entry.ecosystem == "pypi" else "@") in entry.package[1:], entry.name


def test_the_page_of_the_register_has_its_servers_and_the_legend_of_today() -> None:
    page = REGISTER.read_text(encoding="utf-8")
    assert "\n".join(legend(register.COLUMNS)) in page
    assert all(
        f"| {entry.ecosystem} {entry.package.replace('==', '@').rpartition('@')[0]} |" in page
        for entry in entries().values()
    )


def test_the_files_of_the_register_are_the_same_each_time(tmp_path: Path) -> None:
    one, other = make_data(tmp_path / "one"), make_data(tmp_path / "other")
    for name in ("orders.csv", "orders.xlsx", "graph.jsonl", "schema.graphql", "code/module_00.py"):
        assert (one / name).read_bytes() == (other / name).read_bytes()
    assert make_data(one) == one


@pytest.mark.long
@pytest.mark.registry
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["filesystem", "memory", "everything", "git", "sqlite", "motherduck"])
def test_figures_of_real_servers_are_those_of_an_independent_count(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    from lro_bench.weigh.calls import call_of, fill_placeholders
    from lro_bench.weigh.register import InstallError, weigh_entry

    cache = tmp_path_factory.getbasetemp() / "register"
    data, entry = make_data(cache / "data"), entries()[name]
    try:
        program, _ = install(entry, cache)
    except InstallError as problem:
        pytest.skip(str(problem))
    weighed = weigh_entry(entry, cache, data)
    assert weighed.weights is not None
    values = {"data": str(data), "text": (data / "text.txt").read_text(encoding="utf-8")}
    command = [program, *(fill_placeholders(a, values) for a in entry.arguments)]
    calls = [call_of(call, name, values) for call in entry.calls]
    lines = replies(
        command, {k: fill_placeholders(v, values) for k, v in entry.env.items()}, [(c.tool, c.arguments) for c in calls]
    )
    for row, line in zip(weighed.weights.rows, lines, strict=True):
        result = json.loads(line)["result"]
        texts = [block["text"] for block in result["content"] if "text" in block]
        structured = result.get("structuredContent")
        parts = [*texts, *([json.dumps(structured, separators=(",", ":"), ensure_ascii=False)] if structured else [])]
        assert row.weight is not None, row.reason
        assert row.weight.text_characters == sum(map(len, texts))
        assert row.weight.tokens["o200k"] == sum(len(independent_encoding("o200k").encode_ordinary(p)) for p in parts)
        assert abs(row.weight.reply_bytes - len(line.rstrip(b"\n"))) <= 2  # the id may have another length


def replies(command: list[str], env: dict[str, str], calls: list[tuple[str, Any]]) -> list[bytes]:
    """The lines that answer calls, by a client of ten lines."""
    import os

    client = {"name": "count", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **env}
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        ask = asker(process.stdin.write, process.stdin.flush, process.stdout.readline)
        ask("initialize", params)
        process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        lines = [ask("tools/call", {"name": tool, "arguments": dict(arguments)}) for tool, arguments in calls]
        process.kill()
    return lines


def asker(
    write: Callable[[bytes], object], flush: Callable[[], object], read: Callable[[], bytes]
) -> Callable[..., bytes]:
    count = 0

    def ask(method: str, params: object) -> bytes:
        nonlocal count
        count += 1
        write(json.dumps({"jsonrpc": "2.0", "id": count, "method": method, "params": params}).encode() + b"\n")
        flush()
        while line := read():
            if json.loads(line).get("id") == count and "method" not in json.loads(line):
                return line
        raise AssertionError("the server has ended")

    return ask
