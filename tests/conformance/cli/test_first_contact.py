"""The first five minutes with a server: no level without an observation, and no run without an end."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from lro_conformance import profile as profiles
from lro_conformance.capture.marks import MARK
from lro_conformance.engine.run import certify
from lro_conformance.init.probe import probe
from lro_conformance.init.writer import profile_text
from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.profile import profile_for_command
from lro_conformance.profile.proxy import UPSTREAM, proxy_command
from lro_conformance.report.details import reason_of
from lro_conformance.report.exit_code import EXIT_NO_VERDICT, exit_code
from lro_conformance.report.formats.badge import to_svg
from lro_conformance.report.formats.junit import to_junit
from lro_conformance.report.terminal import plain_lines
from tests.support import in_process
from tests.support.paths import SERVERS

SERVER = """\
import json, sys, time
def send(o): print(json.dumps({{"jsonrpc": "2.0", **o}}), flush=True)
ask = {{"type": "object", "properties": {{"query": {{"type": "string"}}}}, "required": ["query"]}}
for line in sys.stdin:
    m = json.loads(line)
    id, method = m.get("id"), m["method"]
    if method == "initialize":
        send({{"id": id, "result": {{"protocolVersion": "2025-11-25", "capabilities": {{"tools": {{}}}},
              "serverInfo": {{"name": "notes", "version": "1"}}}}}})
    elif method == "tools/list":
        send({{"id": id, "result": {{"tools": [{{"name": n, "inputSchema": ask}} for n in {tools!r}]}}}})
    elif method == "tools/call":
        {act}
    elif id is not None:
        send({{"id": id, "error": {{"code": -32601, "message": "no"}}}})
"""
ERROR = 'send({"id": id, "result": {"content": [{"type": "text", "text": "no such notebook"}], "isError": True}})'
EMPTY = 'send({"id": id, "result": {"content": [{"type": "text", "text": "[]"}]}})'
NOTHING = 'send({"id": id, "result": {"content": []}})'
SILENT = "pass"
OTHER_ID = 'send({"id": id + 100000, "result": {"content": []}})'
RECALL = ["recall_memories", "search_memories"]
FEW = (
    'text = json.dumps([{"id": "a", "content": "b" * 900}]); '
    'send({"id": id, "result": {"content": [{"type": "text", "text": text}]}})'
)


def server(folder: Path, tools: list[str], act: str) -> list[str]:
    path = folder / "server.py"
    path.write_text(SERVER.format(tools=tools, act=act), encoding="utf-8")
    return [sys.executable, str(path)]


@pytest.mark.parametrize(
    ("tools", "act", "words"),
    [
        (
            ["find_bookmarks"],
            EMPTY,
            [
                "no tool of the server resembles recall, search or inject",
                "find_bookmarks",
                "lro init --tool recall=NAME",
            ],
        ),
        ([], EMPTY, ["no tool of the server resembles recall, search or inject", "the server lists []"]),
        (
            ["search_notes"],
            ERROR,
            ["search_notes(query=", 'an error: "no such notebook"', "operations.search.arguments"],
        ),
        (RECALL, EMPTY, ["recall_memories(query=", "no records", "operations.recall.arguments"]),
        (RECALL, NOTHING, ["recall_memories(query=", "no text", "operations.recall.arguments"]),
    ],
    ids=["no tool that sounds right", "no tool", "errors only", "empty lists", "nothing"],
)
def test_no_level_is_proved_without_an_observation(
    tmp_path: Path, tools: list[str], act: str, words: list[str]
) -> None:
    report = certify(profile_for_command(server(tmp_path, tools, act)), seed=1, examples=0)
    assert (report.implemented, report.achieved, exit_code(report)) == (None, 0, EXIT_NO_VERDICT)
    assert not [r for r in report.requirements if r.verdict in (Verdict.PASS, Verdict.FAIL, Verdict.WARN)]
    for word in words:
        assert word in (report.failure or "")
    assert "proved" not in to_svg(report)
    assert not any("finds no records" in note for note in report.notes) or act in (EMPTY, NOTHING)


def test_a_server_that_only_answers_with_errors_is_not_asked_for_long(tmp_path: Path) -> None:
    """Each error may take long, as without a network; and arguments may not be its cause."""
    act = f"print(m['params'], file=open({str(tmp_path / 'calls')!r}, 'a')); {ERROR}"
    report = certify(profile_for_command(server(tmp_path, ["search_notes"], act)), seed=1, examples=0)
    said = (report.failure or "").splitlines()
    assert said[-1].startswith("remove the cause that the error names; if it is the arguments, name arguments with")
    assert len((tmp_path / "calls").read_text().splitlines()) <= 10


@pytest.mark.parametrize("words", [2, 200], ids=["a short error", "a long error"])
def test_init_says_what_the_error_is(tmp_path: Path, words: int) -> None:
    """It neither says that such a server does not offload, nor that it is empty."""
    act = ERROR.replace('"no such notebook"', f'"no such notebook" + " at all" * {words}')
    done = in_process.lro(tmp_path, ["init", "--", *server(tmp_path, ["search_notes"], act)])
    assert done.returncode == 0, done.stderr
    assert done.stderr == "lro: starting the server with the documented variables\n"
    said = done.stdout.splitlines()[2:]
    assert said[0].startswith(
        "no call returned a result, so whether this server offloads is unknown; "
        'search_notes(query="memory"): an error: "no such notebook at all'
    )
    assert said[1:] == [
        "remove the cause that the error names; if it is the arguments, change them in lro.yaml",
        "next: lro certify",
    ]
    text = (tmp_path / "lro.yaml").read_text()
    assert '    # the call returned no result: an error: "no such notebook at all' in text
    assert "# NOT FOUND: arguments that find memories" in text


def test_less_than_the_threshold_in_force_proves_nothing(tmp_path: Path) -> None:
    """The threshold cannot be set, and one memory is below any default."""
    path = tmp_path / "lro.yaml"
    command = json.dumps(server(tmp_path, RECALL, FEW))
    path.write_text(f"server: {{command: {command}}}\nsettings: {{threshold_tokens: null}}\n", encoding="utf-8")
    report = certify(profiles.load(path), seed=1, examples=0)
    assert (report.implemented, exit_code(report)) == (None, EXIT_NO_VERDICT)
    assert "is surely above the default of 6400 tokens" in (report.failure or "")


@pytest.mark.parametrize("act", [SILENT, OTHER_ID], ids=["silent", "another id"])
def test_a_tool_that_timed_out_twice_is_not_called_again(tmp_path: Path, act: str) -> None:
    path = tmp_path / "lro.yaml"
    command = json.dumps(server(tmp_path, RECALL, act))
    path.write_text(f"server: {{command: {command}, timeout_s: 1}}\n", encoding="utf-8")
    report = certify(profiles.load(path), seed=1, examples=0)
    assert exit_code(report) == EXIT_NO_VERDICT
    assert report.duration_s < 8
    assert "no response within 1 s" in (report.failure or "")
    assert "or the tool was not called again because of that" in (report.failure or "")


def test_evidence_of_calls_that_were_not_made_is_judged_again(tmp_path: Path) -> None:
    from lro_conformance.engine.judgement import judge_again
    from lro_conformance.evidence.reader import read

    path = tmp_path / "lro.yaml"
    command = json.dumps(server(tmp_path, ["recall_memories", "search_memories", "inject_context"], SILENT))
    path.write_text(f"server: {{command: {command}, timeout_s: 0.3}}\n", encoding="utf-8")
    report = certify(profiles.load(path), seed=1, examples=0, evidence=tmp_path / "kept")
    assert judge_again(read(tmp_path / "kept")).failure == report.failure


def ended(seconds: float, evidence: Path | None = None) -> Report:
    """The report on a conformant server that takes its time, so that no run is over by then."""
    slow = [sys.executable, "-I", "-S", str(SERVERS / "broken" / "run.py"), "Slow", "0.3"]
    return certify(profile_for_command(slow), seed=1, examples=0, timeout_s=seconds, evidence=evidence)


def test_a_run_ends_at_its_time_limit_with_what_is_known(tmp_path: Path) -> None:
    report = ended(4, tmp_path / "kept")
    assert report.duration_s < 12
    assert report.incomplete == "the run ended at its time limit of 4 s (raise it with --timeout)"
    assert exit_code(report) == EXIT_NO_VERDICT
    assert "proved" not in report.levels.values()
    assert not [r.requirement.id for r in report.requirements if r.verdict in (Verdict.FAIL, Verdict.ERROR)]
    assert any("the run ended at its time limit of 4 s" in line for line in plain_lines(report))
    assert f'<error message="{report.incomplete}" type="no verdict">' in to_junit(report)
    from lro_conformance.engine.judgement import judge_again
    from lro_conformance.evidence.reader import read

    again = judge_again(read(tmp_path / "kept"))
    assert (again.incomplete, again.levels) == (report.incomplete, report.levels)


@pytest.mark.parametrize(
    "words",
    [
        ["lro", "proxy", "--", "server"],
        ["/opt/tools/bin/lro", "proxy", "--threshold", "10", "--", "server"],
        [sys.executable, "-m", "lro_conformance", "proxy", "--", "server"],
        ["uvx", "--from", "lro-spec", "lro", "proxy", "--", "server"],
        ["uvx", "--from", "lro-spec", "--", "lro", "proxy", "--private-folder", "--", "server"],
        ["uvx", "lro-spec@0.1.0", "proxy", "--", "server"],
        ["uvx", "lro-spec[certify]==0.1.0", "proxy", "--", "server"],
        ["uv", "run", "--with", "lro-spec", "lro", "proxy", "--", "server"],
        ["pipx", "run", "--spec", "lro-spec", "lro", "proxy", "--", "server"],
        [sys.executable, "-m", "lro_proxy", "--", "server"],
        ["C:/Tools/lro.exe", "proxy", "--", "server"],
    ],
)
def test_the_proxy_is_recognised_however_it_is_started(words: list[str]) -> None:
    assert proxy_command(profile_for_command(words)) == (*words[:-1], UPSTREAM)


@pytest.mark.parametrize("words", [["lro", "serve"], ["server", "--", "lro", "proxy"], ["lro", "proxy"]])
def test_another_command_is_no_proxy(words: list[str]) -> None:
    assert proxy_command(profile_for_command(words)) is None


def test_init_asks_for_the_tool_in_a_terminal(tmp_path: Path) -> None:
    words = server(tmp_path, ["find_bookmarks", "add_bookmark"], EMPTY)
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-P", "-m", "lro_conformance", "init", "--", *words]
    with subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path) as asking:
        os.close(theirs)
        seen = b""
        while b"0 for none" not in seen:
            seen += os.read(ours, 1000)
        os.write(ours, b"1\n")
        with suppress(OSError):  # the other end is closed
            while True:
                seen += os.read(ours, 1000)
        assert asking.wait(60) == 0
    os.close(ours)
    assert b"1  find_bookmarks" in seen
    recall = (profiles.load(tmp_path / "lro.yaml").operations or {})["recall"]
    assert recall is not None
    assert recall.tool == "find_bookmarks"


def test_init_proposes_a_tool_that_only_hints_at_an_operation(tmp_path: Path) -> None:
    words = server(tmp_path, ["save_context", "memory_context", *RECALL], FEW)
    text = profile_text(probe(profile_for_command(words), lambda step: None))
    assert '  # inject: {tool: memory_context, arguments: {query: "*"}, query: query}   # perhaps; not tried' in text


def test_init_proposes_to_store_by_a_tool_that_stores(tmp_path: Path) -> None:
    """Not by one whose name only contains such a verb."""
    for tools, seed in ((["address_lookup", "find_notes"], ""), (["address_lookup", "add_note"], "add_note")):
        done = in_process.lro(tmp_path, ["init", "--force", "--", *server(tmp_path, tools, EMPTY)])
        assert done.returncode == 1
        assert ("add --tool seed=" in done.stdout) == bool(seed)
        assert (
            f"if the server starts empty, add --tool seed={seed}; if the server keeps its data in" in done.stdout
            or not seed
        )
        assert f"as in `-- env 'MY_DATA={{workdir}}/data' {sys.executable} " in done.stdout or not seed
        assert ("address_lookup" in (tmp_path / "lro.yaml").read_text().partition("# seed:")[2]) is False


@pytest.mark.parametrize("tools", [["read_query"], ["find_notes", "save_search", "start_search"]])
def test_nothing_is_called_where_no_tool_performs_an_operation(tmp_path: Path, tools: list[str]) -> None:
    """A query of something else would be of no use: no requirement could be judged by it."""
    called = tmp_path / "called"
    report = certify(profile_for_command(server(tmp_path, tools, f"open({str(called)!r}, 'w')")), seed=1, examples=0)
    assert "no tool of the server resembles recall, search or inject" in (report.failure or "")
    assert not called.exists()


def test_a_long_list_of_tools_is_shown_to_choose_from(tmp_path: Path) -> None:
    tools = [f"git_subcommand_{number:02}" for number in range(40)]
    report = certify(profile_for_command(server(tmp_path, tools, EMPTY)), seed=1, examples=0)
    assert '"git_subcommand_39"' in (report.failure or "")


def test_a_proxy_whose_calls_all_fail_is_not_said_to_offload(tmp_path: Path) -> None:
    words = ["lro", "proxy", "--", *server(tmp_path, ["search_nodes"], ERROR)]
    report = certify(profile_for_command(words), seed=1, examples=0)
    assert report.extensions["proxy"] == "pass"
    assert any("no call returned a result" in note for note in report.notes)
    assert any("whether results of recall, search and inject are offloaded is unknown" in note for note in report.notes)
    assert any("or another tool that does (operations.search.tool)" in note for note in report.notes)
    assert not any("these hold no memories" in note for note in report.notes)


GRAPH = (
    'text = json.dumps({"entities": [{"name": "Ada", "type": "person"}], "relations": []}); '
    'send({"id": id, "result": {"content": [{"type": "text", "text": text}]}})'
)


def test_results_that_are_no_memories_are_not_judged_as_such_behind_a_proxy(tmp_path: Path) -> None:
    """A search of something else is offloaded by the proxy as it should be: no operation fails for that."""
    report = certify(
        profile_for_command(["lro", "proxy", "--", *server(tmp_path, ["search_nodes"], GRAPH)]), seed=1, examples=0
    )
    assert [r.requirement.id for r in report.requirements if r.verdict is Verdict.FAIL] == []
    assert (report.failure, report.implemented, exit_code(report)) == (None, None, EXIT_NO_VERDICT)
    assert report.extensions["proxy"] == "pass"
    assert any(
        "the proxy offloads results of search_nodes, but these hold no memories" in note for note in report.notes
    )
    (level3,) = (r for r in report.requirements if r.requirement.id == "LRO-IMPL-03")
    assert reason_of(level3) == "no call of recall, search or inject shows whether the server offloads"


def test_a_proxy_that_only_its_handshake_shows_is_known_as_one(tmp_path: Path) -> None:
    behind = shlex.join([sys.executable, "-m", "lro_proxy", "--", *server(tmp_path, ["search_nodes"], GRAPH)])
    report = certify(profile_for_command(["sh", "-c", f"exec {behind}"]), seed=1, examples=0)
    assert [r.requirement.id for r in report.requirements if r.verdict is Verdict.FAIL] == []
    assert exit_code(report) == EXIT_NO_VERDICT
    assert any("says that it is a proxy" in note for note in report.notes)


def test_evidence_shows_the_offending_record_and_marks_its_key(tmp_path: Path) -> None:
    from tests.servers.variants import command

    report = certify(
        profile_for_command(command("light_file_carries_content")), seed=1, only={"LRO-DET-01"}, examples=0
    )
    (result,) = [r for r in report.requirements if r.verdict is Verdict.FAIL]
    lines = result.checks[0].evidence.splitlines()
    mark = next(n for n, line in enumerate(lines) if line.strip().startswith("^"))
    found = MARK.fullmatch(lines[mark])
    assert found is not None
    assert found["name"] == "content"
    assert lines[mark - 1].startswith("line 2: ")
    assert lines[mark - 1][found.start("underline") : found.end("underline")].startswith('"content": "')


def test_evidence_of_a_wrong_default_shows_the_record_and_not_only_the_header() -> None:
    from tests.servers.variants import command

    report = certify(profile_for_command(command("recall_defaults_to_full")), seed=1, only={"LRO-DET-02"}, examples=0)
    (check,) = [c for r in report.requirements for c in r.checks if c.verdict is Verdict.FAIL]
    shown, mark = check.evidence.splitlines()[-2:]
    found = MARK.fullmatch(mark)
    assert found is not None
    assert shown.startswith("line 2: ")
    assert shown[found.start("underline") : found.end("underline")].startswith('"content": ')


@pytest.mark.parametrize(
    "words", [["--token=hunter2hunter2"], ["--token", "hunter2hunter2"], ["-u", "postgres://me:hunter2hunter2@db/x"]]
)
def test_secrets_of_the_command_line_are_in_no_report(tmp_path: Path, words: list[str]) -> None:
    command = [*server(tmp_path, ["search_notes"], ERROR), *words]
    report = certify(profile_for_command(command), seed=1, examples=0, only={"LRO-IMPL-03"})
    assert "hunter2" not in json.dumps(report.to_dict())
    assert "[masked " in json.dumps(report.to_dict())


DIES = """\
import pathlib, sys
with pathlib.Path("starts").open("a") as starts:
    starts.write("x")
sys.exit({words!r})
"""


@pytest.mark.parametrize("verb", [["certify", "--plain", "--only", "LRO-THR-01"], ["init"]], ids=["certify", "init"])
@pytest.mark.parametrize("words", ["ModuleNotFoundError: No module named 'notes'", "threshold_tokens: bad", ""])
def test_a_server_that_does_not_start_is_started_twice(tmp_path: Path, verb: list[str], words: str) -> None:
    """Once more, with a threshold that most servers accept; its words decide nothing."""
    (tmp_path / "dies.py").write_text(DIES.format(words=words), encoding="utf-8")
    done = in_process.lro(tmp_path, [*verb, "--", sys.executable, "dies.py"])
    assert done.returncode == EXIT_NO_VERDICT
    assert len((tmp_path / "starts").read_text()) == 2
    told = [line for line in (done.stdout + done.stderr).splitlines() if "exited with code" in line]
    assert len(told) == 1
    assert told[0].endswith(f"its stderr ends: {words}" if words else "before it answered")


@pytest.mark.parametrize("verb", [["certify", "--plain"], ["init"]], ids=["certify", "init"])
def test_a_missing_program_is_one_line(tmp_path: Path, verb: list[str]) -> None:
    done = in_process.lro(tmp_path, [*verb, "--", "no-such-server"])
    assert done.returncode == EXIT_NO_VERDICT
    told = [line for line in (done.stdout + done.stderr).splitlines() if "no-such-server" in line]
    assert [line.endswith("cannot start no-such-server: it is not on the PATH") for line in told] == [True]
