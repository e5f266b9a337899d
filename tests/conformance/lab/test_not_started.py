"""A server that does not start: what shows it once more, in every form of the report, and from evidence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from lro_conformance.engine.judgement import judge_again
from lro_conformance.engine.run import certify
from lro_conformance.evidence.reader import read
from lro_conformance.profile import profile_for_command
from lro_conformance.report.formats.html import to_html
from lro_conformance.report.formats.markdown import to_markdown
from lro_conformance.report.live import LiveView
from lro_conformance.report.load import read_report
from lro_conformance.report.terminal import plain_lines
from lro_spec.schema.errors import violations
from tests.support.paths import ROOT
from tests.support.renderings import Terminal


def test_a_server_that_does_not_start_can_be_started_once_more(tmp_path: Path):
    server = tmp_path / "server.py"
    server.write_text("import sys\nsys.exit('no database')\n", encoding="utf-8")
    made = certify(profile_for_command([sys.executable, str(server)]), evidence=tmp_path / "seen")
    assert made.failure is not None
    assert "no database" in made.failure

    again = subprocess.run(["bash", "-c", made.reproduce], capture_output=True, text=True, timeout=60, check=False)
    assert again.stderr.strip() == "no database"

    assert judge_again(read(tmp_path / "seen")).reproduce == made.reproduce
    told = made.to_dict()
    assert list(violations(told, "report")) == []
    assert told["reproduce"] == made.reproduce
    path = tmp_path / "report.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    assert read_report(path).reproduce == made.reproduce

    stream = Terminal()
    LiveView(stream, width=80).show(made)
    last = made.reproduce.splitlines()[-2]
    assert last in "\n".join(plain_lines(made))
    assert "reproduce" in stream.getvalue()
    assert "Reproduce" in to_markdown(made)
    assert "Reproduce" in to_html(made)


def test_a_program_that_is_nowhere_needs_no_command_to_show_that(tmp_path: Path):
    made = certify(profile_for_command(["no-such-program-anywhere"]))
    assert made.failure is not None
    assert (made.reproduce, "reproduce" in made.to_dict()) == ("", False)


CLEANING = """\
import os, sys
sys.path.insert(0, {root!r})
from tests.servers.plain import Server

class Cleaning(Server):
    def cleanup(self, now):
        if "ttl" in sys.argv:
            return super().cleanup(now)
        return [name for name in os.listdir(self.output_dir()) if int(name)]

if "ttl" in sys.argv and int(os.environ.get("ATLATL_PROMPT__OFFLOAD__TTL_SECONDS", "3600")) < 100:
    raise RuntimeError("no such lifetime")
server = Cleaning()
if "start" in sys.argv:
    os.listdir(server.output_dir())
server.serve()
"""
"""A server whose cleanup fails as soon as there is a file; or its start, if a file is its folder or a TTL is short."""


def notes_of(folder: Path, mode: str, only: str) -> str:
    server = folder / "server.py"
    server.write_text(CLEANING.format(root=str(ROOT)), encoding="utf-8")
    profile = profile_for_command([sys.executable, "-I", "-S", str(server), mode])
    made = certify(profile, seed=1, only={only}, examples=0)
    observed = [check.observed for one in made.requirements for check in one.checks]
    return "\n".join([*made.notes, *observed])


def test_a_server_that_ends_in_its_cleanup_is_said_to(tmp_path: Path):
    said = notes_of(tmp_path, "", "cleanup.expired_files_are_deleted")
    assert "the server ended while it cleaned up (run_custodial_task): " in said
    assert "the server exited with code 1" in said
    assert "ValueError: invalid literal for int()" in said


def test_a_server_that_ends_at_its_start_is_said_to_with_the_situation_and_its_last_words(tmp_path: Path):
    said = notes_of(tmp_path, "start", "fallback.operation_succeeds")
    start = "output_dir is a file when the server starts: not tested, because the server does not start then, which is"
    assert f"{start} allowed: initialize: the server exited with code 1 at its start" in said
    assert "NotADirectoryError" in said
    assert "refuses" not in said


def test_a_server_that_starts_with_no_short_lifetime_is_said_to_with_its_last_words(tmp_path: Path):
    said = notes_of(tmp_path, "ttl", "cleanup.expired_files_are_deleted")
    assert "the server starts with no TTL of 2, 10, 60 seconds: initialize: the server exited with code 1" in said
    assert "RuntimeError: no such lifetime" in said
