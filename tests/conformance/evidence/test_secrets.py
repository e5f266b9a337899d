"""No secret of the environment leaves the program: by a report, the evidence, the terminal, or an error message."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lro_conformance.engine import run as engine
from lro_conformance.engine.capture import Capture
from lro_conformance.engine.run import certify
from lro_conformance.evidence.store import Store, claim
from lro_conformance.judging.events import Event, TrialFinished, TrialStep, redacting
from lro_conformance.profile import Problem, ProfileError, profile_for_command
from lro_conformance.profile.errors import Complaint
from lro_spec.findings import Kind
from lro_spec.redaction import Masks

SECRET = "sesame-4711-open<&>_now*"
"""It has characters that HTML, XML and Markdown escape: a rendered report would not be redacted any more."""

LEAKS = """
import json, os, sys
secret = os.environ["MEMORY_API_TOKEN"]
for line in sys.stdin:
    asked = json.loads(line)
    print(secret, file=sys.stderr, flush=True)
    result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "instructions": "offloads " + secret,
              "serverInfo": {"name": "server " + secret, "version": secret}}
    if asked["method"] == "tools/list":
        schema = {"type": "object", "properties": {"query": {"type": "string", "description": secret}}}
        tools = [("recall_memories", secret), ("key_" + secret, "large result offloading (LRO)")]
        result = {"tools": [{"name": n, "description": d, "inputSchema": schema} for n, d in tools]}
    elif asked["method"] == "tools/call":
        if asked["id"] % 7 == 0:
            raise SystemExit("cannot go on with " + secret)
        memories = [{"id": str(n), "title": secret, "content": secret * 40} for n in range(60)]
        result = {"content": [{"type": "text", "text": json.dumps(memories)}], "structuredContent": {"r": memories}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
        print(secret, flush=True)
"""

FILES = ("report.json", "report.xml", "report.html", "report.md", "report.sarif", "badge.svg", "badge.json")
OPTIONS = ("--json", "--junit", "--html", "--markdown", "--sarif", "--badge", "--badge")


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Everything that leaves `lro certify`, and `lro judge` of its evidence, of a server that leaks a secret."""
    folder = tmp_path_factory.mktemp("leaks")
    (folder / "server.py").write_text(LEAKS, encoding="utf-8")
    outputs = [word for option, name in zip(OPTIONS, FILES, strict=True) for word in (option, name)]
    known = {"MEMORY_API_TOKEN": SECRET, "COLUMNS": "100"}
    written: dict[str, str] = {}
    for how in (["certify", "--evidence", "evidence", "--seed", "1"], ["judge"]):
        last = ["evidence"] if how == ["judge"] else ["--", sys.executable, "server.py"]
        done = subprocess.run(
            [sys.executable, "-m", "lro_conformance", *how, "-v", "--plain", *outputs, *last],
            capture_output=True,
            text=True,
            timeout=300,
            cwd=folder,
            env={**os.environ, **known},
        )
        assert "Traceback" not in done.stderr
        assert (done.stdout, done.returncode) != ("", 2), done.stderr
        written |= {f"{how[0]}: {name}": (folder / name).read_text(encoding="utf-8") for name in FILES}
        written |= {f"{how[0]}: stdout": done.stdout, f"{how[0]}: stderr": done.stderr}
    for path in (folder / "evidence").rglob("*"):
        if path.is_file():
            written[str(path.relative_to(folder))] = path.read_bytes().decode("utf-8", "replace")
    return written


def test_nothing_that_leaves_a_run_holds_a_secret(left: Mapping[str, str]) -> None:
    assert [name for name, text in left.items() if "sesame" in text or "4711-" in text] == []


def test_what_held_it_says_which_variable_it_was(left: Mapping[str, str]) -> None:
    named = {name for name, text in left.items() if "masked MEMORY_API_TOKEN" in text.replace("\\", "")}
    assert {"certify: report.json", "certify: report.html", "certify: stdout", "judge: stdout"} <= named
    assert any(name.endswith("transcript.jsonl") for name in named)
    assert "evidence/evidence.json" in named


def test_scripts_that_reproduce_a_failure_take_it_from_the_environment(left: Mapping[str, str]) -> None:
    report: dict[str, Any] = json.loads(left["certify: report.json"])
    scripts = [c["reproduce"] for r in report["requirements"] for c in r["checks"] if c.get("reproduce")]
    assert scripts
    assert all("MEMORY_API_TOKEN" not in script or "$MEMORY_API_TOKEN" in script for script in scripts)


def test_events_reach_an_observer_without_it() -> None:
    seen: list[Event] = []
    watch = redacting(seen.append, Masks({"MY_TOKEN": SECRET}))
    watch(TrialStep("survey", f"calls {SECRET}"))
    watch(TrialFinished("survey", 1.0, SECRET))
    assert seen == [TrialStep("survey", "calls [masked MY_TOKEN]"), TrialFinished("survey", 1.0, "[masked MY_TOKEN]")]


def test_no_observer_is_told_nothing() -> None:
    redacting(None, Masks({}))(TrialStep("survey", "calls"))


def test_an_error_of_the_profile_is_raised_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem("lro.yaml", 3, "operations", Complaint("", f"a tool {SECRET}", "none", kind=Kind.INVALID))

    def fails(*_: object) -> object:
        raise ProfileError([problem])

    monkeypatch.setenv("MY_TOKEN", SECRET)
    monkeypatch.setattr(Capture, "run", fails)
    with pytest.raises(ProfileError) as raised:
        certify(profile_for_command(["server"]))
    assert str(raised.value) == "lro.yaml:3: operations: expected a tool [masked MY_TOKEN], got none"
    assert raised.value.problems[0].complaint.kind is Kind.INVALID
    assert engine.certify is certify


class TestStore:
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        claim(tmp_path / "evidence")
        return Store(tmp_path / "evidence", Masks({"MY_TOKEN": SECRET, "PIN_KEY": "12"}))

    def test_redacts_documents_lines_and_contents(self, store: Store) -> None:
        store.write_json("a.json", {SECRET: [SECRET, {"in": f"x{SECRET}"}]})
        store.write_lines("b.jsonl", [{"text": SECRET}])
        kept = store.contents(SECRET.encode())
        assert json.loads((store.folder / "a.json").read_text()) == {
            "[masked MY_TOKEN]": ["[masked MY_TOKEN]", {"in": "x[masked MY_TOKEN]"}]
        }
        assert (store.folder / "b.jsonl").read_text() == '{"text": "[masked MY_TOKEN]"}\n'
        assert (store.folder / "files" / kept["sha256"]).read_text() == "[masked MY_TOKEN]"
        assert store.bytes(SECRET.encode()) == {"text": "[masked MY_TOKEN]"}
        assert json.loads(store.line([SECRET])) == ["[masked MY_TOKEN]"]

    def test_redacts_short_values_of_secret_variables_by_their_names(self, store: Store) -> None:
        assert store.environment({"PIN_KEY": "12", "MODE": "12"}) == {"PIN_KEY": "[masked PIN_KEY]", "MODE": "12"}
