"""`lro` as a shell sees it: exit codes, one clear line for every mistake, and no waiting."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from lro_conformance.cli.main import main
from lro_conformance.judging.check import checks
from lro_conformance.judging.events import RunFinished, RunStarted, TrialFinished, TrialStarted
from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.catalogue import check_sources, requirement_of
from lro_spec.catalogue import catalogue, chapters
from lro_spec.editions import EDITIONS
from lro_spec.filenames import file_name, ulid_at
from tests.servers.variants import command
from tests.support.offloads import made
from tests.support.report_samples import judged, mixed, report


class Engine:
    """Stands for the real one: emits a few events and returns, or raises, what it was given."""

    def __init__(self) -> None:
        self.outcome: Report | BaseException = report(judged("LRO-FILE-01", Verdict.PASS))
        self.calls: list[SimpleNamespace] = []

    def certify(
        self,
        profile: Any,
        *,
        seed: int | None,
        jobs: int | None,
        observer: Callable[[Any], None],
        evidence: Path | None,
        examples: int,
        timeout_s: float,
        fail_fast: bool,
    ) -> Report:
        self.calls.append(
            SimpleNamespace(profile=profile, seed=seed, jobs=jobs, examples=examples, timeout_s=timeout_s)
        )
        observer(RunStarted(profile.server.command, profile.edition, ("edges",)))
        observer(TrialStarted("edges", "the threshold"))
        observer(TrialFinished("edges", 0.1))
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        observer(RunFinished(self.outcome))
        return self.outcome


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    made = Engine()
    for module in ("run", "judgement"):
        monkeypatch.setitem(sys.modules, f"lro_conformance.engine.{module}", made)  # type: ignore[arg-type]
    return made


def shell(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lro_conformance", *arguments], capture_output=True, text=True, timeout=60, **options
    )


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """What stderr said, which must be a single line."""
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    return line


class TestCertify:
    def test_command_after_the_dashes_is_the_server_with_all_its_options(self, engine: Engine):
        assert main(["certify", "--", "my-server", "--level", "9", "-v"]) == 0
        assert tuple(engine.calls[0].profile.server.command) == ("my-server", "--level", "9", "-v")

    def test_options_reach_the_engine(self, engine: Engine):
        levels = {1: "proved", 2: "proved", 3: "failed"}
        engine.outcome = report(claimed=2, levels=levels, achieved=2)
        assert main(["certify", "--level", "2", "-j", "3", "--seed", "7", "--edition", "lro-6400", "--", "x"]) == 0
        (call,) = engine.calls
        assert (call.profile.level, call.jobs, call.seed, call.profile.edition) == (2, 3, 7, "lro-6400")

    def test_profile_of_the_working_directory_is_used_and_said_to_be(
        self, engine: Engine, here: Path, capsys: pytest.CaptureFixture[str]
    ):
        (here / "lro.yaml").write_text("level: 1\nserver:\n  command: [from-profile]\n")
        assert main(["certify", "-q"]) == 0
        assert tuple(engine.calls[0].profile.server.command) == ("from-profile",)
        assert engine.calls[0].profile.level == 1
        assert "lro.yaml" in capsys.readouterr().err

    def test_a_command_stands_instead_of_the_profiles_and_leaves_the_rest(self, engine: Engine, here: Path):
        (here / "other.yaml").write_text("level: 1\nserver:\n  command: [from-profile]\n  timeout_s: 7\n")
        assert main(["certify", "--profile", "other.yaml", "--", "mine", "-x"]) == 0
        server = engine.calls[0].profile.server
        assert (tuple(server.command), server.timeout_s) == (("mine", "-x"), 7)

    def test_code_scanning_is_led_to_the_profile_that_was_named(self, engine: Engine, here: Path):
        engine.outcome = mixed()
        (here / "ci").mkdir()
        (here / "ci" / "my server.yaml").write_text("server:\n  command: [from-profile]\n")
        assert main(["certify", "--profile", "ci/my server.yaml", "--sarif", "r.sarif"]) == 1
        assert set(re.findall(r'"uri": "(.*)"', (here / "r.sarif").read_text())) == {"ci/my%20server.yaml"}

    @pytest.mark.parametrize(
        ("outcome", "code"),
        [
            (report(), 0),
            (report(judged("LRO-FILE-06", Verdict.FAIL)), 1),
            (report(failure="it did not start"), 3),
            (report(claimed=3, levels={1: "proved", 2: "proved", 3: "unproved"}), 1),
        ],
    )
    def test_exit_code_is_that_of_the_report(self, engine: Engine, outcome: Report, code: int):
        engine.outcome = outcome
        assert main(["certify", "--", "x"]) == code

    def test_json_is_written_whatever_the_verdict(self, engine: Engine, here: Path):
        engine.outcome = mixed()
        assert main(["certify", "--json", "r.json", "--", "x"]) == 1
        assert json.loads((here / "r.json").read_bytes()) == mixed().to_dict()

    def test_json_on_stdout_sends_the_text_to_stderr(self, engine: Engine, capsys: pytest.CaptureFixture[str]):
        assert main(["certify", "--json", "-", "--", "x"]) == 0
        said = capsys.readouterr()
        assert json.loads(said.out)["format"] == "lro-report/1"
        assert "seed 42" in said.err

    def test_verbosity(self, engine: Engine, capsys: pytest.CaptureFixture[str]):
        engine.outcome = mixed()
        shown = {}
        for option in ("-q", "--plain", "-v"):
            main(["certify", option, "--", "x"])
            shown[option] = capsys.readouterr().out
        assert len(shown["-q"]) < len(shown["--plain"]) < len(shown["-v"])
        assert all("statement of LRO-FILE-06" in text and "seed 42" in text for text in shown.values())

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ([], "nothing to certify: pass the command of a server after --"),
            (["--level", "4", "--", "x"], "'--level'"),
            (["--levle", "3", "--", "x"], "--levle"),
            (["--edition", "lro-640", "--", "x"], "lro-6400"),
            (["--profile", "missing.yaml"], "missing.yaml"),
            (["--json", "no/folder/r.json", "--", "x"], "no/folder"),
            (["-j", "0", "--", "x"], "'-j'"),
            (["-v", "-q", "--", "x"], "exclude each other"),
        ],
    )
    def test_a_wrong_call_is_one_clear_line(
        self, engine: Engine, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
    ):
        assert main(["certify", *arguments]) == 2
        assert said in one_line(capsys)
        assert engine.calls == []

    def test_a_wrong_profile_is_named_with_its_line(
        self, engine: Engine, here: Path, capsys: pytest.CaptureFixture[str]
    ):
        (here / "bad.yaml").write_text("server:\n  command: [x]\nlevle: 3\n")
        assert main(["certify", "--profile", "bad.yaml"]) == 2
        assert re.search(r"bad\.yaml:3.*levle", one_line(capsys))

    def test_a_fault_of_the_suite_is_one_line_without_a_traceback(
        self, engine: Engine, capsys: pytest.CaptureFixture[str]
    ):
        engine.outcome = ZeroDivisionError("odd\x1b[2J")
        assert main(["certify", "--", "x", "-v"]) == 3
        said = one_line(capsys)
        assert said == "lro: ZeroDivisionError: odd\\u001b[2J (this is a defect of lro-spec; -v shows where)"

    def test_its_traceback_comes_on_request(self, engine: Engine, capsys: pytest.CaptureFixture[str]):
        engine.outcome = ZeroDivisionError("odd")
        assert main(["certify", "-v", "--", "x"]) == 3
        assert "Traceback" in capsys.readouterr().err

    def test_secrets_are_masked_in_it(
        self, engine: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        monkeypatch.setenv("API_TOKEN", "s3cretvalue")
        engine.outcome = ZeroDivisionError("odd s3cretvalue")
        assert main(["certify", "-v", "--", "x"]) == 3
        said = capsys.readouterr().err
        assert "s3cretvalue" not in said
        assert said.count("[masked API_TOKEN]") == 2

    def test_an_interrupt_is_one_line(self, engine: Engine, capsys: pytest.CaptureFixture[str]):
        engine.outcome = KeyboardInterrupt()
        assert main(["certify", "--", "x"]) == 130
        assert one_line(capsys) == "lro: interrupted"

    def test_a_broken_pipe_to_a_server_is_not_taken_for_ours(self, engine: Engine, capsys: pytest.CaptureFixture[str]):
        engine.outcome = BrokenPipeError()
        assert main(["certify", "--", "x"]) == 3
        assert "defect of lro-spec" in one_line(capsys)


class TestRequirements:
    def test_lists_all_of_the_edition(self, capsys: pytest.CaptureFixture[str]):
        assert main(["requirements"]) == 0
        listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
        assert listed == [r.id for r in catalogue()]
        assert len(listed) > 80

    def test_level_and_group_narrow_it(self, capsys: pytest.CaptureFixture[str]):
        assert main(["requirements", "--level", "1", "--group", "file", "--group", "cleanup"]) == 0
        listed = [line.split()[:4] for line in capsys.readouterr().out.splitlines()]
        assert {(level, group) for _, _, level, group in listed} == {("1", "file")}

    def test_json_holds_everything(self, capsys: pytest.CaptureFixture[str]):
        assert main(["requirements", "--json", "--group", "fallback"]) == 0
        listed = json.loads(capsys.readouterr().out)
        assert [r["id"] for r in listed] == [r.id for r in catalogue() if r.group == "fallback"]
        assert all(r["statement"] and r["fix"] for r in listed)

    @pytest.mark.parametrize("edition", list(EDITIONS))
    def test_traceability_has_a_row_for_every_must_and_should(self, edition: str, capsys: pytest.CaptureFixture[str]):
        assert main(["requirements", "--format", "sep", "--edition", edition]) == 0
        document = yaml.safe_load(capsys.readouterr().out)
        rows = document["requirements"]
        assert document.keys() == {"sep", "spec_url", "requirements"}
        assert {frozenset(row) for row in rows} <= {frozenset({"check", "text"}), frozenset({"text", "excluded"})}
        binding = [r for r in catalogue(edition) if r.keyword != "MAY"]
        assert list(dict.fromkeys(row["text"] for row in rows)) == [f"{r.id}: {r.statement}" for r in binding]
        assert {row["text"][: row["text"].index(":")] for row in rows if "excluded" in row} == {
            r.id for r in binding if r.excluded is not None
        }
        names = {check.name: check.requirement for check in checks()}
        assert [row for row in rows if "check" in row and not row["text"].startswith(names[row["check"]])] == []

    @pytest.mark.parametrize("arguments", [["--group", "nope"], ["--edition", "nope"], ["--level", "0"]])
    def test_what_does_not_exist_is_refused(self, arguments: list[str], capsys: pytest.CaptureFixture[str]):
        assert main(["requirements", *arguments]) == 2
        assert arguments[1] in one_line(capsys)


class TestExplain:
    def test_checks_are_those_that_the_judge_has_registered(self):
        registered = {(c.requirement, c.name, c.doc) for c in checks()}
        assert registered
        every = (r for chapter in chapters() for r in chapter.requirements)
        assert {(r.id, c.name, c.doc) for r in every for c in check_sources(r.id)} == registered

    def test_says_everything(self, capsys: pytest.CaptureFixture[str]):
        assert main(["explain", "LRO-FILE-06"]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        requirement = next(r for r in catalogue() if r.id == "LRO-FILE-06")
        for text in (requirement.statement, requirement.rationale, requirement.observed, requirement.fix):
            assert " ".join(text.split()) in shown
        assert requirement.section in shown
        assert check_sources("LRO-FILE-06")
        for check in check_sources("LRO-FILE-06"):
            reads = f"Evidence: {', '.join(check.evidence)}. Defined in `{check.path}`."
            assert f"{check.name} {' '.join(check.doc.split())} {reads}" in shown

    def test_takes_several_ids_and_short_ones(self, capsys: pytest.CaptureFixture[str]):
        assert main(["explain", "file-06", "LRO-IMPL-03"]) == 0
        shown = capsys.readouterr().out
        assert shown.index("LRO-FILE-06") < shown.index("LRO-IMPL-03")

    def test_an_excluded_one_says_why_it_is_not_judged(self, capsys: pytest.CaptureFixture[str]):
        assert main(["explain", "LRO-IMPL-01"]) == 0
        assert "Why it is not judged" in capsys.readouterr().out

    def test_an_unknown_id_names_the_nearest(self, capsys: pytest.CaptureFixture[str]):
        assert main(["explain", "LRO-FLIE-06"]) == 2
        assert re.search(r"LRO-FLIE-06.*did you mean .*LRO-FILE-06", one_line(capsys))

    def test_a_group_names_its_requirements(self, capsys: pytest.CaptureFixture[str]):
        assert main(["explain", "threshold"]) == 2
        assert "threshold is a group: LRO-SCOPE-01, LRO-SCOPE-02" in one_line(capsys)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["certify", "node", "server.js", "--level", "3"], "--level"),
        (["certify", "-q", "node", "server.js", "--junit=x.xml"], "--junit=x.xml"),
        (["certify", "npx", "server", "--", "--only", "threshold"], "--only"),
        (["init", "node", "server.js", "--force"], "--force"),
    ],
)
def test_an_option_behind_the_command_is_refused(
    words: list[str], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would go to the server, and a level that was not proved would pass."""
    assert main(words) == 2
    assert one_line(capsys).startswith(f"lro: {option} comes after the server's command")


@pytest.mark.parametrize(("word", "near"), [("certfy", "; did you mean certify?"), ("xyzzy", "")])
def test_a_command_that_does_not_exist_is_refused_with_the_nearest(
    word: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word]) == 2
    assert f"lro: no such command: {word}{near} (" in capsys.readouterr().err


@pytest.mark.parametrize("between", [[], ["--"]], ids=["without --", "with --"])
def test_a_command_needs_no_separator(between: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "--plain", "-q", "--only", "FILE-01", *between, *command()]) == 0
    assert "1 pass" in capsys.readouterr().out


def test_behind_the_separator_every_word_is_the_servers(capsys: pytest.CaptureFixture[str]) -> None:
    words = [sys.executable, "-c", "import sys; sys.exit(' '.join(sys.argv[1:]))", "--level", "3"]
    assert main(["certify", "--plain", "--", *words]) == 3
    assert "its stderr ends: --level 3" in capsys.readouterr().out


class TestSchema:
    def test_lists_names_and_prints_each(self, capsys: pytest.CaptureFixture[str]):
        assert main(["schema"]) == 0
        names = capsys.readouterr().out.split()
        assert "report" in names
        for name in names:
            assert main(["schema", name]) == 0
            assert json.loads(capsys.readouterr().out)["$schema"] == "https://json-schema.org/draft/2020-12/schema"

    def test_an_unknown_one_names_the_known(self, capsys: pytest.CaptureFixture[str]):
        assert main(["schema", "reprot"]) == 2
        assert "report" in one_line(capsys)


HEADER: dict[str, Any] = {
    "type": "lro_header",
    "operation": "recall",
    "query": "*",
    "count": 1,
    "schema_version": "1.0",
    "timestamp": "2026-11-21T10:15:00Z",
    "estimated_tokens": 20,
    "detail": "light",
}
RECORD = {
    "id": "m1",
    "memory_type": "semantic",
    "created": "2026-11-21T10:15:00Z",
    "modified": "2026-11-21T10:15:00Z",
    "namespace": "_semantic/x",
    "title": "One",
    "tags": [],
    "status": "active",
}


class TestValidate:
    @pytest.fixture
    def good(self, here: Path) -> Path:
        path = here / file_name("recall", ulid=ulid_at(datetime.fromisoformat(HEADER["timestamp"])))
        path.write_text(f"{json.dumps(HEADER)}\n{json.dumps(RECORD)}\n")
        return path

    @pytest.fixture
    def bad(self, here: Path) -> Path:
        path = here / "bad.jsonl"
        path.write_text(f"{json.dumps({**HEADER, 'count': 7})}\n{json.dumps(RECORD)}\n")
        return path

    def test_a_sound_file_is_one_line(self, good: Path, capsys: pytest.CaptureFixture[str]):
        assert main(["validate", str(good)]) == 0
        assert capsys.readouterr().out == "nothing wrong: 1 file (2 lines)\n"
        assert main(["validate", "-q", str(good)]) == 0
        assert capsys.readouterr().out == ""

    def test_a_finding_names_place_rule_and_both_sides(self, bad: Path, capsys: pytest.CaptureFixture[str]):
        assert main(["validate", str(bad)]) == 1
        assert re.search(r"bad\.jsonl:1(:\d+)?: LRO-FILE-06 /count: .*: expected .*1.*, got 7", capsys.readouterr().out)

    def test_json_is_one_object_over_all_paths(self, good: Path, bad: Path, capsys: pytest.CaptureFixture[str]):
        assert main(["validate", "--format", "json", str(good), str(bad)]) == 1
        told = json.loads(capsys.readouterr().out)
        found = told["findings"]
        assert told["counts"] == {"error": 1, "warning": 1}
        assert {(f["path"], f["rule"], f["severity"]) for f in found} == {
            (str(bad), "LRO-FILE-06", "error"),
            (str(bad), "LRO-NAME-02", "warning"),
        }
        assert main(["validate", "--format", "json", str(good)]) == 0
        assert json.loads(capsys.readouterr().out)["findings"] == []

    def test_warnings_are_told_and_fail_nothing(self, good: Path, capsys: pytest.CaptureFixture[str]):
        assert main(["validate", str(good.rename("renamed.jsonl"))]) == 0
        assert re.search(r"renamed\.jsonl: warning: LRO-NAME-02: ", capsys.readouterr().out)

    def test_standard_input_is_a_dash(self, bad: Path):
        done = shell("validate", "-", input=bad.read_text())
        assert done.returncode == 1
        assert done.stdout.startswith("-:1")

    @pytest.mark.parametrize(
        ("name", "text", "kind"),
        [
            ("h.json", json.dumps({**HEADER, "count": "one"}, indent=1), "LRO-FILE-03"),
            ("d.json", json.dumps({"offloaded": True, "file_path": "/x"}), "LRO-DESC-01"),
            ("r.json", json.dumps({"format": "lro-report/1"}), "report"),
            ("p.yaml", "levle: 3\n", "profile"),
        ],
    )
    def test_kind_is_found(self, here: Path, name: str, text: str, kind: str, capsys: pytest.CaptureFixture[str]):
        (here / name).write_text(text)
        assert main(["validate", name]) == 1
        assert f": {kind}" in capsys.readouterr().out

    def test_a_report_of_ours_is_valid(self, here: Path):
        (here / "r.json").write_text(json.dumps(mixed().to_dict()))
        assert main(["validate", "r.json"]) == 0

    def test_broken_json_is_a_finding_where_its_kind_is_given(self, here: Path, capsys: pytest.CaptureFixture[str]):
        (here / "x.json").write_text('{"offloaded": true,}')
        assert main(["validate", "--kind", "descriptor", "x.json"]) == 1
        assert capsys.readouterr().out.startswith("x.json:1:")

    @pytest.mark.parametrize(("name", "text"), [("missing", None), ("x.json", "[1]"), ("y.json", '{"a": 1}')])
    def test_what_cannot_be_read_or_told_is_a_wrong_call(
        self, here: Path, name: str, text: str | None, capsys: pytest.CaptureFixture[str]
    ):
        if text is not None:
            (here / name).write_text(text)
        assert main(["validate", name]) == 2
        assert name in one_line(capsys)


class TestServe:
    def test_hands_every_argument_over_and_returns_its_exit_code(self, monkeypatch: pytest.MonkeyPatch):
        taken: list[list[str]] = []

        def serve(arguments: list[str]) -> int:
            taken.append(arguments)
            return 7

        monkeypatch.setitem(sys.modules, "lro_proxy.serve", SimpleNamespace(main=serve))  # type: ignore[arg-type]
        assert main(["serve", "--help", "--seed-file", "x", "--", "-v"]) == 7
        assert taken == [["--help", "--seed-file", "x", "--", "-v"]]


class TestShell:
    def test_version(self, capsys: pytest.CaptureFixture[str]):
        assert main(["--version"]) == 0
        assert capsys.readouterr().out.startswith("lro-spec ")

    def test_help_names_every_command_and_none_that_does_not_work(self, capsys: pytest.CaptureFixture[str]):
        assert main(["--help"]) == 0
        commands = capsys.readouterr().out.partition("Commands:")[2]
        assert re.findall(r"^  (\w+) ", commands, re.MULTILINE) == [
            "bench",
            "certify",
            "compare",
            "doctor",
            "explain",
            "gain",
            "init",
            "judge",
            "proxy",
            "requirements",
            "schema",
            "serve",
            "validate",
            "vectors",
            "weigh",
        ]

    def test_no_command_is_a_wrong_call_that_shows_help(self, capsys: pytest.CaptureFixture[str]):
        assert main([]) == 2
        assert "certify" in capsys.readouterr().out

    def test_an_unknown_command_is_one_line(self, capsys: pytest.CaptureFixture[str]):
        assert main(["certfy"]) == 2
        assert "certfy" in one_line(capsys)

    def test_a_reader_that_has_enough_is_no_error(self):
        process = subprocess.Popen(
            [sys.executable, "-m", "lro_conformance", "requirements", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(30) == 141

    @pytest.mark.parametrize(
        "arguments",
        [["--help"], ["requirements"], ["explain", "LRO-FILE-06"], ["schema", "report"], ["validate", "{descriptor}"]],
    )
    def test_nothing_heavy_is_imported_to_look_something_up(self, arguments: list[str], tmp_path: Path):
        descriptor = tmp_path / "descriptor.json"
        descriptor.write_text(json.dumps(made(tmp_path)))
        arguments = [word.format(descriptor=descriptor) for word in arguments]
        heavy = ("rich", "mcp", "hypothesis", "pytest", "jsonschema", "jsonschema_rs", "asyncio", "pydantic")
        code = (
            "import sys; from lro_conformance.cli.main import main; main(sys.argv[1:]);"
            f"print([m for m in {heavy!r} if m in sys.modules], file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60)
        assert done.stderr.strip() == ("['jsonschema_rs']" if "validate" in arguments else "[]")

    @pytest.mark.parametrize(
        "arguments", [["--help"], ["requirements"], ["explain", "LRO-FILE-06"], ["schema", "report"]]
    )
    def test_looking_something_up_takes_less_than_a_third_of_a_second_of_work(self, arguments: list[str]):
        def seconds() -> float:
            before = os.times()
            started = time.perf_counter()
            assert shell(*arguments).returncode == 0
            after = os.times()
            # the processor's time where the machine is busy, the clock's where it waits: the lesser is the work
            used = after.children_user + after.children_system - before.children_user - before.children_system
            return min(used, time.perf_counter() - started)

        assert min(seconds() for _ in range(5)) < 0.3


@pytest.mark.parametrize(
    ("id", "begins"),
    [
        ("I-31", "I-31 Servers whose results vary\n\nOpen: "),
        ("e-04", "E-04 Scores that are confidences\n\nThe specification describes recipes 1 and 9"),
        ("file.header_count", "LRO-FILE-06  "),
        ("edge_cases.any_client_is_served", "LRO-THR-06  "),
    ],
)
def test_readings_errata_and_checks_are_explained_too(id: str, begins: str, capsys: pytest.CaptureFixture[str]):
    assert main(["explain", id]) == 0
    assert capsys.readouterr().out.startswith(begins)


@pytest.mark.parametrize("id", ["I-99", "file.nope", "../cli.main", "nope.header_count"])
def test_what_cannot_be_explained_is_misuse(id: str, capsys: pytest.CaptureFixture[str]):
    assert main(["explain", id]) == 2
    assert capsys.readouterr().err.startswith(f"lro: no requirement '{id}'")


def test_every_check_is_found_by_its_name():
    assert [c.name for c in checks() if requirement_of(c.name) != c.requirement] == []


def test_help_tells_of_commands_in_full(capsys: pytest.CaptureFixture[str]):
    assert main(["--help"]) == 0
    assert "..." not in capsys.readouterr().out.partition("Commands:")[2]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_no_defect():
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "lro_conformance", "requirements"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (3, b"lro: the output could not be written: No space left on device\n")


@pytest.mark.skipif(os.name != "posix", reason="needs cat")
def test_a_command_that_repeats_what_it_reads_is_no_server(capsys: pytest.CaptureFixture[str]):
    assert main(["certify", "--plain", "--", "cat"]) == 3
    assert "cat is no MCP server: it sends back what it reads" in capsys.readouterr().out


def test_an_output_that_cannot_show_a_character_escapes_it(tmp_path: Path):
    wrong = tmp_path / "header.json"
    wrong.write_text('{"type": "lro_header", "operation": "日本"}', encoding="utf-8")
    done = shell("validate", str(wrong), env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1
    assert "\\u65e5" in done.stdout
    assert done.stderr == ""


def test_a_reader_that_has_enough_is_no_fault_of_a_document(tmp_path: Path):
    many = tmp_path / "atlatl-recall-01KJPY44E0A1B2C3D4E5F6G7H8.jsonl"
    many.write_text("\n" * 200_000)
    script = f"{sys.executable} -m lro_conformance validate --max-findings 0 {many} | head -1"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_a_server_that_holds_nothing_gets_no_verdict(here: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["certify", "--plain", "-q", "--level", "2", "--", "lro", "serve", "--no-demo", "--data", "empty"]) == 3
    assert "no call returned a result that could have been offloaded" in capsys.readouterr().out
