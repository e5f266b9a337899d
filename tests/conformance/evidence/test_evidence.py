"""Evidence: what a run observed is kept, and judged again without a server to the same report."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lro_conformance import profile as profiles
from lro_conformance.capture.intervention import REPLACED, Intervention
from lro_conformance.capture.reproduce import of_call, of_steps
from lro_conformance.capture.start import Start
from lro_conformance.engine.judgement import judge_again
from lro_conformance.engine.run import certify
from lro_conformance.evidence.codec import Codec
from lro_conformance.evidence.format import EvidenceError
from lro_conformance.evidence.reader import read
from lro_conformance.judging.results import CheckResult, Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.lab.operations import Operation
from lro_spec.messages import find_descriptor
from lro_spec.redaction import Masks, looks_secret
from lro_spec.sandbox import process
from tests.servers.sound.catalogue import sounds
from tests.servers.variants import profile_text

FAULT = "offloads_at_equal_threshold"


def _certified(
    folder: Path, name: str, sections: str = "", *, only: set[str] | None = None, examples: int = 0
) -> Report:
    profile = folder / "lro.yaml"
    profile.write_text(profile_text(name, sections), encoding="utf-8")
    return certify(profiles.load(profile), seed=1, jobs=2, only=only, examples=examples, evidence=folder / "evidence")


@pytest.fixture(scope="module")
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    """A whole run against a server with one fault; with ``--long`` also what is explored (as test_replay.py has it)."""
    folder = tmp_path_factory.mktemp("recorded")
    examples = 2 if request.config.getoption("--long") else 0
    return folder / "evidence", _certified(folder, FAULT, examples=examples)


def _refused(*_: object, **__: object) -> None:
    raise AssertionError("a judgement looked at this machine")


def _sandbox_alone(command: Any, **options: Any) -> Any:
    """Starts the sandbox of lro_spec, whose libjq runs recipes on captured files; nothing else."""
    if Path(process.__file__).parent.name not in {Path(str(word)).parent.name for word in command}:
        raise AssertionError(f"a judgement started {command}")
    with pytest.MonkeyPatch.context() as starting:
        starting.setattr(os, "open", _OPEN)  # of /dev/null
        return _POPEN(command, **options)


_POPEN: Any = subprocess.Popen
_OPEN = os.open


def test_the_same_report_comes_of_evidence_alone(
    recorded: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but the folder is looked at: no path of the recorded run, no process but the suite's own libjq, no clock,
    no time zone, no jq of the machine."""
    folder, report = recorded
    assert [r.requirement.id for r in report.requirements if r.verdict is Verdict.FAIL] == ["LRO-THR-07"]
    stored = read(folder)
    process.jq_folder()  # where the suite's own libjq is
    for module, names in (
        (os.path, ("realpath",)),
        (os, ("stat", "lstat", "scandir", "listdir", "access", "open")),
        (subprocess, ("run",)),
        (shutil, ("which",)),
        (tempfile, ("gettempdir",)),
        (time, ("time",)),
    ):
        for name in names:
            monkeypatch.setattr(module, name, _refused)
    monkeypatch.setattr(subprocess, "Popen", _sandbox_alone)
    again = judge_again(stored)
    monkeypatch.undo()
    assert again.to_dict() == report.to_dict()
    assert json.loads((folder / "report.json").read_text()) == report.to_dict()


def test_a_memory_that_quotes_a_descriptor_is_none_from_evidence_either(tmp_path: Path) -> None:
    """Whether the file that it names was written by the call is kept. Among those that would fail are these two."""
    name, ids = "has_a_memory_of_an_earlier_descriptor", {"LRO-THR-09", "LRO-CFG-02"}
    for report in (
        _certified(tmp_path, name, sounds()[name].profile, only=ids),
        judge_again(read(tmp_path / "evidence")),
    ):
        assert {r.requirement.id for r in report.requirements if r.verdict is Verdict.PASS} == ids


def test_levels_of_other_names_are_judged_alike_from_evidence(tmp_path: Path) -> None:
    name, ids = "has_views_of_other_names", {"LRO-DET-01"}
    report = _certified(tmp_path, name, sounds()[name].profile, only=ids)
    assert {r.requirement.id for r in report.requirements if r.verdict is Verdict.PASS} == ids
    assert judge_again(read(tmp_path / "evidence")).to_dict() == report.to_dict()


def test_operations_are_read_as_earlier_versions_recorded_them() -> None:
    """With a mark for a boolean argument of the level, and without the values of levels."""
    recorded: dict[str, Any] = dict.fromkeys(("query", "limit", "budget", "limit_maximum"))
    recorded |= {"name": "recall", "tool": "find", "arguments": {}, "detail": "full", "details": ["light", "full"]}
    made = Codec({}).decode(Operation, {**recorded, "is_flag": True, "possible_flag": None})
    assert (made.detail, made.details, made.levels, made.possible_details) == ("full", ("light", "full"), {}, {})


def test_a_server_that_does_not_start_is_evidence_too(tmp_path: Path) -> None:
    """Why there is no verdict is kept, with the words of the server."""
    sections = 'server: {command: [sh, -c, "echo out of luck >&2; exit 7"]}'
    report = _certified(tmp_path, "", sections)
    again = judge_again(read(tmp_path / "evidence"))
    assert "exited with code 7" in (again.failure or "")
    assert "out of luck" in (again.failure or "")
    assert again.to_dict() == report.to_dict()


def _damaged(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


@pytest.mark.parametrize("name", ["calls.jsonl", "trials/survey.json", "servers/0001/transcript.jsonl", "report.json"])
def test_changed_evidence_is_refused(recorded: tuple[Path, Report], tmp_path: Path, name: str) -> None:
    """One byte that is another, or the end cut off: the line names the file."""
    copy = _damaged(recorded[0], tmp_path)
    data = (copy / name).read_bytes()
    for wrong in (data.replace(b"1", b"2", 1), data[:-2]):
        (copy / name).write_bytes(wrong)
        with pytest.raises(EvidenceError, match=f"{name}: changed since it was recorded"):
            read(copy)
    (copy / name).unlink()
    with pytest.raises(EvidenceError, match=f"{name}: part of the evidence, but cannot be read: No such file"):
        read(copy)


def test_changed_contents_are_refused(recorded: tuple[Path, Report], tmp_path: Path) -> None:
    """A file that the server wrote is named by its own checksum."""
    copy = _damaged(recorded[0], tmp_path)
    for path in (copy / "files").iterdir():
        path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(EvidenceError, match="changed since it was recorded"):
        read(copy)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "expected format lro-evidence/1"),
        ('{"format": "lro-evidence/9", "complete": true}', "got 'lro-evidence/9'"),
        ('{"format": "lro-evidence/1", "complete": false}', "incomplete"),
        ('{"format": "lro-evidence/1", "complete": true}', "'checksums' is missing"),
        ('{"format": "lro-evidence/1", "complete": true, "checksums": {"../../etc/passwd": "0"}}', "outside of"),
    ],
)
def test_a_wrong_manifest_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    """Whatever stands in it, there is a sentence and no traceback."""
    (tmp_path / "evidence.json").write_text(text)
    with pytest.raises(EvidenceError, match=said) as refused:
        read(tmp_path)
    assert "\n" not in str(refused.value)


def _pasted(script: str) -> tuple[list[dict[str, Any]], str]:
    """The messages that a script prints in bash, and all else that it prints."""
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    said = done.stdout.splitlines()
    return [json.loads(line) for line in said if line.startswith("{")], "\n".join(
        line for line in said if not line.startswith("{")
    )


def _failed(report: Report) -> CheckResult:
    return next(c for r in report.requirements for c in r.checks if c.verdict is Verdict.FAIL)


def test_a_failure_pasted_into_bash_shows_itself(recorded: tuple[Path, Report]) -> None:
    """The script gets the descriptor that should not have been; the location is the line of that very request."""
    folder, report = recorded
    failed = _failed(report)
    said, shown = _pasted(failed.reproduce)
    answer = said[-1]
    descriptor = find_descriptor(answer["result"])
    assert descriptor is not None
    assert "  -rw------- 1 " in shown
    assert Path(descriptor.value["file_path"]).name in shown
    assert '  {"type": "lro_header", ' in shown
    name, _, line = failed.location.partition(":")
    kept = json.loads((folder / name).read_text().splitlines()[int(line) - 1])
    asked = json.loads(kept["text"])
    assert (kept["direction"], asked["id"], asked["method"]) == ("out", answer["id"], "tools/call")


def test_calls_that_share_a_file_are_shown_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call alone would show nothing. The script leaves no folder behind."""
    report = _certified(tmp_path, "same_arguments_share_a_file", only={"LRO-NAME-04"})
    (tmp_path / "made").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "made"))
    said, _ = _pasted(_failed(report).reproduce)
    found = [f.value["file_path"] for m in said if (f := find_descriptor(m.get("result") or {})) is not None]
    assert len(found) > len(set(found))
    assert list((tmp_path / "made").iterdir()) == []


@pytest.mark.long
def test_files_that_should_have_gone_are_there_again(tmp_path: Path) -> None:
    """A script for cleanup waits as the suite did, sets cleanup off, and lists what is left."""
    report = _certified(tmp_path, "never_deletes_its_own_files", only={"LRO-CLN-01"})
    said, listed = _pasted(_failed(report).reproduce)
    assert said[-1]["result"]["isError"] is False
    assert len(re.findall(r"atlatl-recall-\S+\.jsonl", listed)) == 1


def test_what_a_failed_write_leaves_is_listed() -> None:
    work = Path("/w")
    start = Start(1, ("server",), {}, (), work, work, work / "tmp", {}, work / "out")
    reply = SimpleNamespace(raw=b"{}", request=b"{}", elapsed_s=0.1)
    call: Any = SimpleNamespace(start=start, before=(), reply=reply, file=None, started=0, ended=0)
    assert of_steps(call, [Intervention(REPLACED)]).splitlines()[-2] == 'ls -lA "$d"/out'
    assert "ls" not in of_call(call).split()
    start = replace(start, output_dir=None)
    call = SimpleNamespace(start=start, before=(), reply=reply, file=SimpleNamespace(path="/w/tmp/x.jsonl"))
    assert of_call(call).splitlines()[-2].startswith('(cd "$d"/tmp && ls -lA && head'), "no folder was set"
    call.file.path = "/w/lro-x.jsonl"
    assert of_call(call).splitlines()[-2] == """find "$d" -maxdepth 1 -name 'lro-*.jsonl' -newer "$d" -print -delete"""


def test_a_server_that_ended_is_shown_with_its_exit_code(tmp_path: Path) -> None:
    """No answer is nothing to see."""
    report = _certified(tmp_path, "write_failure_ends_the_process", only={"LRO-ERR-01"})
    _, shown = _pasted(_failed(report).reproduce)
    assert shown.splitlines()[-1] == "exit code 1"


SECRET = 'sesame/"open" it\\now'


def test_secrets_are_in_nothing_that_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of variables with secret names are masked: in the environment, on stderr, in answers and in reports."""
    monkeypatch.setenv("MEMORY_API_TOKEN", SECRET)
    says = (
        "import json,os; s=os.environ['MEMORY_API_TOKEN']; print(s, json.dumps(s), json.dumps(json.dumps(s)));"
        "raise SystemExit(s + os.environ['DB_URL'])"
    )
    env = {"DB_PASSWORD": "hunter2222", "DB_URL": "postgres://me:swordfish@host/db"}
    server = json.dumps({"command": [sys.executable, "-c", says], "env": env})
    report = _certified(tmp_path, "", f"server: {server}")
    texts = [p.read_text() for p in (tmp_path / "evidence").rglob("*") if p.is_file()]
    texts.append(json.dumps(report.to_dict()))
    for text in texts:
        assert "hunter2222" not in text
        assert "sesame" not in text
        assert "swordfish" not in text
    assert any("[masked MEMORY_API_TOKEN]" in text for text in texts)
    assert judge_again(read(tmp_path / "evidence")).to_dict() == report.to_dict()


_DIES_IN_A_CALL = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "tools/call":
        raise SystemExit(os.environ["MEMORY_API_TOKEN"])
    can, info = {"tools": {}}, {"name": "x", "version": "1"}
    said = {"protocolVersion": "2025-11-25", "capabilities": can, "serverInfo": info, "tools": []}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": said}), flush=True)
"""


def test_last_words_of_a_server_are_masked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are told as the reason why a call had no answer."""
    monkeypatch.setenv("MEMORY_API_TOKEN", SECRET)
    server = json.dumps({"command": [sys.executable, "-c", _DIES_IN_A_CALL]})
    report = _certified(tmp_path, "", f"server: {server}", only={"LRO-THR-06"})
    kept = [p.read_text() for p in (tmp_path / "evidence").rglob("*") if p.is_file()]
    assert [text for text in (*kept, json.dumps(report.to_dict())) if "sesame" in text] == []
    assert "its stderr ends: [masked MEMORY_API_TOKEN]" in (tmp_path / "evidence/evidence.json").read_text()
    assert judge_again(read(tmp_path / "evidence")).to_dict() == report.to_dict()


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        *((n, True) for n in ("API_TOKEN", "githubToken", "DB_PASSWORD", "AWS_ACCESS_KEY_ID", "GH_PAT", "SENTRY_DSN")),
        *((n, False) for n in ("PATH", "PWD", "MAX_TOKENS", "KEYBOARD", "ATLATL_PROMPT__OFFLOAD__THRESHOLD_TOKENS")),
    ],
)
def test_which_names_look_secret(name: str, secret: bool) -> None:
    """By their words, so that a count of tokens is none."""
    assert looks_secret(name) is secret


def test_masking_leaves_json_whole() -> None:
    """A value that begins where an escape ends is no value there."""
    masks = Masks({"MY_KEY": "nabcdef", "SHORT_KEY": "ab"})
    line = json.dumps({"text": "\nabcdef nabcdef ab"})
    assert json.loads(masks.text(line)) == {"text": "\nabcdef [masked MY_KEY] ab"}
    assert masks.data(b"\xffnabcdef") == b"\xff[masked MY_KEY]"
    assert masks.variable("SHORT_KEY", "ab") == "[masked SHORT_KEY]"


@pytest.mark.parametrize(
    "spelt",
    [
        r"n1/<é+\"z",
        r"n1\/<\u00e9+\"z",  # PHP
        r"n1/\u003cé+\"z",  # Go
        r"n1/\u003C\u00E9\u002B\u0022z",  # .NET
        r"n1\\/<\\u00e9+\\\"z",
    ],
)
def test_a_secret_is_found_however_json_spells_it(spelt: str) -> None:
    """Also behind a backslash that is no escape, which stays."""
    masks = Masks({"MY_KEY": 'n1/<é+"z'})
    assert masks.text(f'{{"dir": "x\\\\{spelt}"}}') == r'{"dir": "x\\[masked MY_KEY]"}'


def _spelt_anyhow(sign: str, odd: random.Random) -> str:
    units = sign.encode("utf-16-be").hex()
    mixed = "".join(odd.choice([digit, digit.upper()]) for digit in units)
    escape = "".join("\\u" + mixed[at : at + 4] for at in range(0, len(mixed), 4))
    short = {'"': ['\\"'], "\\": [r"\\"], "/": [r"\/", "/"], "\n": [r"\n"]}.get(sign, [sign])
    return odd.choice([escape, *short])


@pytest.mark.parametrize("seed", range(100))
def test_a_secret_is_found_however_each_of_its_characters_is_spelt(seed: int) -> None:
    secret, odd = 'p\u00e4ssword\u2039x>1234/"q\\z\n\U0001f600', random.Random(seed)
    masks = Masks({"MY_KEY": secret})
    spelt = "".join(_spelt_anyhow(sign, odd) for sign in secret)
    assert json.loads(f'"{spelt}"') == secret
    line = f'{{"a":"x\\n {spelt} y"}}'
    assert masks.text(line) == r'{"a":"x\n [masked MY_KEY] y"}'
    assert masks.data(line.encode()) == rb'{"a":"x\n [masked MY_KEY] y"}'
    for ascii in (True, False):
        again = masks.text(json.dumps(line, ensure_ascii=ascii))
        assert json.loads(json.loads(again)) == {"a": "x\n [masked MY_KEY] y"}


def test_very_many_backslashes_take_no_time() -> None:
    masks = Masks({"MY_KEY": '/x"yz\u00e4', "OTHER_KEY": "p\u00e4ssword"})
    flood = "\\" * 300_000 + r"\u00e4"
    assert masks.data(flood.encode()) == flood.encode()


def test_escapes_beside_a_secret_stay() -> None:
    masks = Masks({"MY_KEY": "nabcdef"})
    assert masks.text(r'{"a":"\nabcdef \\nabcde\u0066 \u006eabcdef \u006Eabcdex"}') == (
        r'{"a":"\nabcdef \\[masked MY_KEY] [masked MY_KEY] \u006Eabcdex"}'
    )


def _lro(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "lro_conformance", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=folder)


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    """One line and exit code 2, and nothing in it is touched; the same for what stands beside evidence."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    done = _lro(tmp_path, "certify", "--evidence", "mine", "--", "true")
    assert done.returncode == 2
    assert done.stderr == "lro: --evidence: mine is not empty and is not evidence: choose a new or an empty directory\n"
    (tmp_path / "mine" / "evidence.json").write_text('{"format": "lro-evidence/1", "complete": true}')
    done = _lro(tmp_path, "certify", "--evidence", "mine", "--", "true")
    assert (done.returncode, "thesis.txt, which is not part of evidence" in done.stderr) == (2, True)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


def test_earlier_evidence_is_replaced(tmp_path: Path) -> None:
    """By a whole run, of which `lro judge` gives the same exit code and lines."""
    first = _lro(tmp_path, "certify", "--plain", "--evidence", "kept", "--", "false")
    (tmp_path / "kept" / "files" / "stale").write_text("of an earlier run")
    second = _lro(tmp_path, "certify", "--plain", "--evidence", "kept", "--", "false")
    again = _lro(tmp_path, "judge", "--plain", "kept", "--json", "again.json")
    assert (first.returncode, second.returncode, again.returncode) == (3, 3, 3)
    assert again.stdout == second.stdout
    assert not (tmp_path / "kept" / "files" / "stale").exists()
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads((tmp_path / "kept/report.json").read_text())
    (tmp_path / "kept" / "calls.jsonl").write_text("{}")
    wrong = _lro(tmp_path, "judge", "kept")
    assert (wrong.returncode, wrong.stderr.count("\n"), "changed since it was recorded" in wrong.stderr) == (2, 1, True)


def test_an_interrupted_run_leaves_evidence_that_says_so(tmp_path: Path) -> None:
    """What was said until then is there to be read, and is not judged."""
    (tmp_path / "lro.yaml").write_text(profile_text(), encoding="utf-8")
    command = [sys.executable, "-P", "-m", "lro_conformance", "certify", "--evidence", "kept"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while not list(tmp_path.glob("kept/servers/0003/transcript.jsonl")) and time.monotonic() < until:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    assert running.wait(30) == 130
    assert "tools/call" in (tmp_path / "kept/servers/0001/transcript.jsonl").read_text()
    done = _lro(tmp_path, "judge", "kept")
    assert (done.returncode, "incomplete: the run was interrupted" in done.stderr) == (2, True)
