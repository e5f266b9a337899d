"""`lro vectors run`: answers are judged by requirement, and an adapter that misbehaves ends in one clear line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lro_conformance.cli.main import main
from lro_conformance.vectors.judge import judge
from lro_conformance.vectors.model import load
from lro_spec.editions import EDITIONS
from tests.servers.vectors import Writer
from tests.support.documents import fenced
from tests.support.paths import ROOT

PLAIN = [sys.executable, str(ROOT / "tests/servers/vectors.py")]
SUITE = [sys.executable, str(ROOT / "tests/support/vector_answers.py")]
DECISIONS = ["vectors", "run", "--kind", "decision"]


def adapter(folder: Path, body: str) -> list[str]:
    """An adapter whose loop has this body: `request` is the request; `reply(answer)` or `refuse(code, …)` responds."""
    path = folder / "adapter.py"
    path.write_text(
        "import json, sys, time\n"
        "def reply(answer, **more):\n"
        "    response = {'jsonrpc': '2.0', 'id': request['id'], 'result': {'answer': answer}, **more}\n"
        "    print(json.dumps(response), flush=True)\n"
        "def refuse(code, message):\n"
        "    error = {'code': code, 'message': message}\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': request['id'], 'error': error}), flush=True)\n"
        "for line in sys.stdin:\n    request = json.loads(line)\n    asked = request['params']['input']\n"
        + "".join(f"    {one}\n" for one in body.splitlines()),
        encoding="utf-8",
    )
    return [sys.executable, str(path)]


@pytest.mark.parametrize("edition", EDITIONS)
def test_the_plain_writer_passes(edition: str, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = [option for kind in ("write", "fallback", "cleanup") for option in ("--require", kind)]
    assert main(["vectors", "run", "--edition", edition, *kinds, "--", *PLAIN]) == 0
    said = capsys.readouterr().out
    assert ", 0 not; requirements: " in said
    assert " 0 fail" in said


@pytest.mark.parametrize("path", ["tests/servers/vectors.py", "conformance/vectors/runners/typescript/adapter.ts"])
def test_an_adapter_is_short(path: str) -> None:
    assert len((ROOT / path).read_text(encoding="utf-8").splitlines()) <= 80


def test_a_writers_mistake_is_told_with_the_reason(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    junit, report = tmp_path / "j.xml", tmp_path / "r.json"
    options = ["--kind", "write", "--junit", str(junit), "--json", str(report)]
    assert main(["vectors", "run", *options, "--", *PLAIN, "counts_the_header"]) == 1
    said = capsys.readouterr().out
    assert "LRO-FILE-06: line 1: count is wrong: expected 3, the number of record lines, got 4" in said
    assert "rule: The header's count MUST be the number of record lines that follow." in said
    assert "why: The file holds every record unchanged, and header and descriptor say what is in it." in said
    etree = pytest.importorskip("lxml.etree")
    etree.XMLSchema(etree.parse(str(ROOT / "tests/data/junit-10.xsd"))).assertValid(etree.parse(str(junit)))
    suites = ElementTree.parse(junit).getroot()
    failed = [case.get("name", "") for case in suites.iter("testcase") if case.find("failure") is not None]
    assert [name.partition(" ")[0] for name in failed] == ["LRO-FILE-06"], "the count is the only thing that is wrong"
    results = json.loads(report.read_text())
    assert {r["id"]: r["verdict"] for r in results["requirements"]}["LRO-FILE-06"] == "fail"


@pytest.mark.parametrize(
    ("change", "requirement", "text"),
    [
        ({"file_path": None}, "LRO-DESC-01", "file_path has the wrong type: expected a string, got null"),
        ({"file_path": ...}, "LRO-DESC-01", "file_path is missing"),
        ({"summary": {}}, "LRO-DESC-01", "summary.count is missing"),
        ({"guidance": " "}, "LRO-GUI-01", "guidance is blank: expected a brief block of instructions, got "),
    ],
)
def test_a_wrong_value_is_named_once(change: dict[str, Any], requirement: str, text: str) -> None:
    """Also one that is missing, and one below another."""
    vector = next(v for v in load().vectors if v.id == "write.default-recall")
    answer = Writer().write_vector({**vector.input, "call": {**vector.input["call"], "detail": "light"}})
    descriptor = {k: v for k, v in (answer["descriptor"] | change).items() if v is not ...}
    problems = judge(vector, {"descriptor": descriptor, "file": answer["file"]}, "lro-6400")
    assert any(p.requirement == requirement and p.text.startswith(text) for p in problems), problems
    assert not any(p.text.startswith("/") for p in problems)


def test_every_known_mistake_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """An adapter that compares by >= gets the reason of the vectors at the threshold."""
    body = "known = asked.get('settings', {})\nE, T = asked['estimated_tokens'], known.get('threshold_tokens', 6400)\n"
    body += "reply('offloaded' if known.get('enabled', True) and E >= T else 'inline')"
    assert main([*DECISIONS, "--", *adapter(tmp_path, body)]) == 1
    said = capsys.readouterr().out
    assert "FAIL decision.equal-6400 " in said
    assert "why: Only an estimate greater than the threshold is offloaded." in said
    assert "mistake: It was compared by >=" in said
    assert "FAIL decision.above-6400" not in said


@pytest.mark.parametrize(
    ("kind", "answer"),
    [("decision", "'\\ud800\\0\\x1b[31m'"), ("write", "{'descriptor': {}, 'file': '\\ud800'}")],
)
def test_half_of_a_surrogate_pair_is_a_wrong_answer(
    kind: str, answer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--json", str(tmp_path / "r.json"), "--junit", str(tmp_path / "r.xml")]
    command = adapter(tmp_path, f"reply({answer})")
    assert main(["vectors", "run", "--kind", kind, *files, "--", *command]) == 1
    assert capsys.readouterr().err == ""
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["requirements"]
    ElementTree.parse(tmp_path / "r.xml")


def test_a_failure_shows_the_question(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main([*DECISIONS, "--", *adapter(tmp_path, "reply('maybe')")]) == 1
    said = capsys.readouterr().out
    assert '     input: {"estimated_tokens": 6400, "settings": {"threshold_tokens": 6400}}\n' in said


def test_kinds_that_an_adapter_lacks_are_not_observed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    body = "refuse(-32601, 'no')"
    assert main([*DECISIONS, "-v", "--", *adapter(tmp_path, body)]) == 3
    said = capsys.readouterr().out
    assert "LRO-THR-06" in said
    assert "PASS" not in said
    assert "not observed: " in said


def test_a_required_kind_that_an_adapter_lacks_is_a_failure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    command = adapter(tmp_path, "refuse(-32601, 'no') if request['method'] == 'name' else reply('inline')")
    junit, required = tmp_path / "j.xml", ["--require", "name", "--junit", str(tmp_path / "j.xml")]
    assert main(["vectors", "run", "--kind", "name", *required, "--", *command]) == 1
    said = capsys.readouterr().out
    number = sum(v.kind == "name" for v in load().select(edition="lro-6400").vectors)
    assert said.startswith(f"FAIL name: the adapter does not have this kind, which is required ({number} vectors)\n\n")
    assert said.splitlines()[0] in (ROOT / "docs/vectors.md").read_text(encoding="utf-8").splitlines()
    assert "name.recall" not in said
    assert "not observed: " not in said
    cases = ElementTree.parse(junit).getroot().iter("testcase")
    assert {case.get("name", "").partition(" ")[0] for case in cases if case.find("failure") is not None} == {
        "LRO-NAME-02",
        "LRO-NAME-03",
    }
    assert main([*DECISIONS, "--require", "decision", "--", *SUITE]) == 0


def test_a_kind_is_required_only_of_the_vectors_that_are_put(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*DECISIONS, "--require", "write", "--", "true"]) == 2
    assert capsys.readouterr().err.endswith(
        "--require write: none of the chosen vectors is of this kind; expected one of decision\n"
    )


def test_the_mistake_of_a_writer_is_named_whatever_else_it_answers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Mistakes of `write` have only the members that the rules look at."""
    plain = str(ROOT / "tests/servers")
    body = f"sys.path[:0] = [{str(ROOT)!r}, {plain!r}]\nfrom vectors import Writer\n"
    body += "asked['call'].setdefault('detail', 'light')\nreply(Writer().write_vector(asked))"
    command = adapter(tmp_path, body)
    assert main(["vectors", "run", "--kind", "write", "--chapter", "detail", "--json", "-", "--", *command]) == 1
    mistakes = {r["id"]: r.get("mistake") for r in json.loads(capsys.readouterr().out)["results"]}
    assert mistakes["write.default-inject"] == "The default of a recall was taken."


def test_an_error_is_a_wrong_answer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    body = "refuse(7, 'panic!')"
    assert main([*DECISIONS, "--", *adapter(tmp_path, body)]) == 1
    assert "the adapter answers with an error: panic!" in capsys.readouterr().out


def test_an_error_without_a_message_is_no_null_answer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Null is the right answer to some vectors of this kind."""
    assert main(["vectors", "run", "--kind", "name", "--json", "-", "--", *adapter(tmp_path, "refuse(7, '')")]) == 1
    assert {r["verdict"] for r in json.loads(capsys.readouterr().out)["results"]} == {"fail"}


BAD = {  # the loop's body, and what is said of it
    "hangs": ("time.sleep(60)", "no response within 0.5 s"),
    "dies": (
        "sys.exit('out of ideas')",
        "the adapter exited with code 1 before it answered; stderr ends: out of ideas",
    ),
    "chatters": ("print('thinking', flush=True)\nreply('inline')", "write everything else to stderr"),
    "answers-another": ("request['id'] += 1\nreply('inline')", "write everything else to stderr"),
    "answers-twice": ("reply('inline')\nreply('inline')", "write everything else to stderr"),
    "answers-without-json": ("print('inline', flush=True)", "inline"),
    "answers-without-answer": ("reply('', result='inline')", 'expected the result {"answer": …}'),
    "closes-stdout": ("import os\nos.close(1)\ntime.sleep(60)", "no response within 0.5 s"),
    "floods": ("while True: sys.stdout.write('y' * 65536)", "more than 16,777,216 bytes"),
    "never-ends-a-line": ("sys.stdout.write('{')\nsys.stdout.flush()\ntime.sleep(60)", "no response within 0.5 s"),
    "answers-with-an-array": ("print(json.dumps([{'id': request['id']}]), flush=True)", "the adapter wrote an array: "),
    "asks-itself": (
        "print(json.dumps({'jsonrpc': '2.0', 'id': 'x', 'method': 'm'}), flush=True)\nreply('inline')",
        "the adapter wrote a request of its own: ",
    ),
    "answers-with-a-number": ("print(3, flush=True)", "the adapter wrote JSON that is not an object: 3: "),
    "answers-with-neither": (
        "print(json.dumps({'jsonrpc': '2.0', 'id': request['id']}), flush=True)",
        "the adapter wrote an object that is not a response: ",
    ),
    "stops-writing": ("import os\nos.close(1)\ntime.sleep(60)", "the adapter closed its stdout but keeps running"),
    "is-killed": ("import os\nos.kill(os.getpid(), 9)", "was ended by SIGKILL"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_adapter_that_misbehaves_ends_in_one_line(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    body, says = BAD[name]
    patience_s = "0.5" if "0.5 s" in says else "6"
    started = time.monotonic()
    assert main([*DECISIONS, "--timeout", patience_s, "--", *adapter(tmp_path, body)]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert says in said.err
    assert [word for word in ("MCP", "batch", "server", "client") if word in said.err] == []
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("command", ["no-such-program-at-all", "/"])
def test_an_adapter_that_does_not_start_ends_in_one_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*DECISIONS, "--", command]) == 3
    said = capsys.readouterr().err
    assert said.startswith("lro vectors run: the adapter could not be started: ")
    assert said.count("\n") == 1


def test_children_of_an_adapter_end_with_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    body = "import subprocess\nchild = subprocess.Popen(['sleep', '300'], start_new_session=True)\n"
    body += "open(sys.argv[0] + '.pid', 'w').write(str(child.pid))\nsys.exit(0)"
    command = adapter(tmp_path, body)
    assert main([*DECISIONS, "--", *command]) == 3
    pid = int(Path(command[1] + ".pid").read_text())
    gone = not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split(") ")[1][:1]
    assert gone


# check, list, export


def test_own_vectors_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = next(v for v in load().vectors if v.id == "decision.equal-6400").as_json()
    wrong = {**one, "id": "decision.mine", "expect": [{"at": "", "is": ["offloaded"]}]}
    wrong.pop("mistake")
    mine = {"format": "lro-vectors/2", "chapter": "threshold", "vectors": [one, wrong]}
    (tmp_path / "mine.json").write_text(json.dumps(mine))
    assert main(["vectors", "check", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert 'WRONG       decision.mine, lro-6400: expected "offloaded", got "inline"' in said
    assert "decision.equal-6400" not in said
    (tmp_path / "mine.json").write_text(json.dumps({**mine, "vectors": [one]}))
    assert main(["vectors", "check", str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "Expecting value"),
        ("[" * 100_000, "not valid JSON"),
        ("\udcff", "not valid JSON"),
        ("[]", "expected a JSON object"),
        ('{"format": "lro-vectors/3", "chapter": "x", "vectors": []}', "lro schema vectors"),
        ('{"format": "lro-vectors/2", "chapter": "file", "vectors": [{"id": "A"}]}', "lro schema vectors"),
        ('{"format": "lro-vectors/2", "vectors": []}', ": the file: expected a field 'chapter', got no such field ("),
    ],
)
def test_files_that_are_no_vectors_are_a_usage_error(
    text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.json").write_text(text, errors="surrogateescape")
    assert main(["vectors", "check", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert str(tmp_path / "mine.json") in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("files", ["[]", "[1]", '[{"name": 3}]', "[{}]"])
def test_an_index_without_names_of_files_is_a_usage_error(
    files: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Judging nothing would be green."""
    assert main(["vectors", "export", str(tmp_path), "--chapter", "cleanup"]) == 0
    (tmp_path / "index.json").write_text(f'{{"files": {files}}}')
    assert main(["vectors", "check", str(tmp_path)]) == 2
    assert "expected `files` to be a list" in capsys.readouterr().err


def test_vectors_that_only_an_implementation_can_answer_are_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["vectors", "export", str(tmp_path), "--kind", "write"]) == 0
    assert main(["vectors", "check", str(tmp_path)]) == 3
    assert "0 expected answers judged" in capsys.readouterr().out


def test_an_input_of_another_kind_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = next(v for v in load().vectors if v.id == "decision.equal-6400").as_json()
    mine = {"format": "lro-vectors/2", "chapter": "threshold", "vectors": [{**one, "input": {"tokens": 3}}]}
    (tmp_path / "mine.json").write_text(json.dumps(mine))
    assert main(["vectors", "check", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "input does not fit kind decision: it lacks 'estimated_tokens'" in said
    assert "Error" not in said


@pytest.mark.parametrize("wrong", [{"settings": []}, {"estimated_tokens": "many"}])
def test_a_member_of_another_type_is_wrong(
    wrong: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = next(v for v in load().vectors if v.id == "decision.equal-6400").as_json()
    mine = {
        "format": "lro-vectors/2",
        "chapter": "threshold",
        "vectors": [{**one, "input": {**one["input"], **wrong}}],
    }
    (tmp_path / "mine.json").write_text(json.dumps(mine))
    assert main(["vectors", "check", str(tmp_path)]) == 1
    assert "input does not fit kind decision: a member does not have the type" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "id"), [("decision", "LRO-XXX-01"), ("write", "LRO-XXX-01"), ("decision", "LRO-THR-99")]
)
def test_an_unknown_requirement_is_wrong(
    kind: str, id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = next(v for v in load().vectors if v.kind == kind).as_json()
    one = {**one, "requirements": [*one["requirements"], id], "editions": ["lro-6400"]}
    (tmp_path / "mine.json").write_text(
        json.dumps({"format": "lro-vectors/2", "chapter": "threshold", "vectors": [one]})
    )
    assert main(["vectors", "check", str(tmp_path)]) == 1
    assert f"this edition has no requirement {id} " in capsys.readouterr().out


def test_the_documents_show_a_file_of_vectors_of_your_own(tmp_path: Path) -> None:
    page = (ROOT / "docs/vectors.md").read_text(encoding="utf-8")
    (block,) = (block for block in fenced(page, "json") if "decision.mine-equal" in block)
    (tmp_path / "mine.json").write_text(block, encoding="utf-8")
    assert main(["vectors", "check", str(tmp_path)]) == 0


def test_a_folder_that_is_not_there_needs_no_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "check", str(tmp_path / "none")]) == 2
    said = capsys.readouterr().err
    assert "expected one with files of vectors (*.json)" in said
    assert "index.json" not in said


def test_an_export_is_a_folder_that_can_be_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "v"
    assert main(["vectors", "export", str(target), "--chapter", "threshold", "--edition", "lro-6400"]) == 0
    assert {p.name for p in target.iterdir()} >= {
        "index.json",
        "threshold.json",
        "README.md",
        "CHANGELOG.md",
        "runners",
    }
    assert {v.chapter for v in load(target).vectors} == {"threshold"}
    assert main(["vectors", "run", "--vectors", str(target), "--kind", "decision", "--", *SUITE]) == 0


@pytest.mark.parametrize("index", [None, "{}", "[", '{"format": "mine/1", "files": []}'])
def test_a_folder_with_files_of_others_is_left_alone(
    index: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("My project")
    if index is not None:
        (tmp_path / "index.json").write_text(index)
    before = sorted(tmp_path.rglob("*"))
    assert main(["vectors", "export", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "name a folder that is new, empty, or an earlier export" in line
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "README.md").read_text() == "My project"


def test_an_export_replaces_an_earlier_one(tmp_path: Path) -> None:
    """Files of vectors that the new export lacks are removed, and no other file."""
    target = tmp_path / "v"
    assert main(["vectors", "export", str(target)]) == 0
    index = json.loads((target / "index.json").read_text(encoding="utf-8"))
    index["files"] += [{"name": "../mine.json"}, {}]
    (target / "index.json").write_text(json.dumps(index))
    for path in (target / "mine.json", tmp_path / "mine.json"):
        path.write_text("{}")
    assert main(["vectors", "export", str(target), "--chapter", "threshold"]) == 0
    assert {p.name for p in target.glob("*.json")} == {"index.json", "threshold.json", "mine.json"}
    assert (tmp_path / "mine.json").exists()


def test_exceptions_of_an_export_are_of_its_edition_and_vectors(tmp_path: Path) -> None:
    assert main(["vectors", "export", str(tmp_path), "--chapter", "detail", "--edition", "lro-1600"]) == 0
    ids = {v.id for v in load(tmp_path).vectors}
    for path in tmp_path.glob("runners/*/exceptions.json"):
        exceptions = json.loads(path.read_text(encoding="utf-8"))
        assert exceptions["edition"] == "lro-1600"
        assert {name for name in exceptions["exceptions"] if "." in name} <= ids
        assert "mapping" not in exceptions["exceptions"]


def test_an_archive_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in "ab":
        assert main(["vectors", "export", str(tmp_path / name), "--archive"]) == 0
        time.sleep(1.1 if name == "a" else 0)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("path", ["no/such/folder/r.json", "."])
def test_results_that_cannot_be_written_are_a_usage_error(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*DECISIONS, "--json", path, "--", "true"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"lro: --json {path}: ")
    assert line.endswith(": name another file")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("option", ["--json", "--junit"])
def test_results_that_meet_a_full_disk_are_still_printed(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*DECISIONS, option, "/dev/full", "--", *SUITE]) == 2
    said = capsys.readouterr()
    assert "vectors as expected" in said.out
    assert said.err == f"lro: {option} /dev/full: No space left on device: name another file\n"


def test_an_edition_without_such_vectors_is_told_with_those_that_have_some(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--edition", "lro-paper", "--chapter", "config", "--kind", "decision"]
    assert main(["vectors", "list", *chosen]) == 2
    assert capsys.readouterr().err.endswith("editions with such vectors: lro-6400, lro-1600\n")


def test_an_interrupt_ends_the_adapter_and_is_one_line(tmp_path: Path) -> None:
    body = "open(sys.argv[0] + '.pid', 'w').write(str(__import__('os').getpid()))\ntime.sleep(300)"
    command = adapter(tmp_path, body)
    pid = Path(command[1] + ".pid")
    program = [sys.executable, "-c", "import sys; from lro_conformance.cli.main import main; sys.exit(main())"]
    run = subprocess.Popen(
        [*program, *DECISIONS, "--timeout", "60", "--", *command],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    for _ in range(300):
        if pid.exists() and pid.read_text():
            break
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=20)
    assert run.returncode == 130
    assert said == "lro: interrupted\n"
    state = Path(f"/proc/{pid.read_text()}/stat")
    assert not state.exists() or state.read_text().split(") ")[1][0] == "Z"


def test_a_file_that_the_index_does_not_list_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "export", str(tmp_path), "--chapter", "threshold"]) == 0
    (tmp_path / "mine.json").write_text("no vectors")
    assert {v.chapter for v in load(tmp_path).vectors} == {"threshold"}
    (tmp_path / "threshold.json").unlink()
    assert main(["vectors", "check", str(tmp_path)]) == 2
    assert "lists threshold.json, which is not there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "says"),
    [(["--chapter", "x"], "no chapter 'x'"), (["--kind", "x"], "no kind 'x'"), (["--edition", "x"], "unknown edition")],
)
def test_unknown_choices_are_usage_errors(options: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "list", *options]) == 2
    assert says in capsys.readouterr().err


def test_a_list_has_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "list", "--kind", "name"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == sum(v.kind == "name" for v in load().vectors)
    assert main(["vectors", "list", "--kind", "name", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(lines)
