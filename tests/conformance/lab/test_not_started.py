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
