"""All renderings at once: what a server said stays text in each of them, and the options that write them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lro_conformance.errors import UsageError
from lro_conformance.judging.results import Report
from lro_conformance.report.formats.attestation import Subject
from lro_conformance.report.outputs import FORMATS, Output, Outputs, ReportFormat
from lro_conformance.report.terminal import VERBOSE, plain_lines
from tests.support.renderings import LOG_COMMAND, UNSAFE
from tests.support.report_samples import ATTACKS, hostile, mixed

Render = Callable[[Report], str]


def terminal(made: Report) -> str:
    return "\n".join(plain_lines(made, VERBOSE))


ABOUT = (Subject("\x1b[2Jowned\n::error::", "0" * 64),)


def rendered(output: Output) -> Render:
    return lambda made: Outputs((output,), ABOUT).text(output, made)


TARGETS = {f"{form.name}{ending or '.out'}": form for form in FORMATS for ending, _ in form.renderers}
ALL: dict[str, Render] = {"terminal": terminal, **{n: rendered(Output(f, n)) for n, f in TARGETS.items()}}
QUIET = ("badge.svg", "badge.json")
"""What is so short that a server has no say in it."""


def form(name: str) -> ReportFormat:
    return next(f for f in FORMATS if f.name == name)


@pytest.fixture
def everyone_says_it() -> Report:
    """A hostile report that really holds every attack."""
    made = hostile()
    assert all(word in made.notes[0] for word in ATTACKS.values())
    return made


@pytest.mark.parametrize("name", ALL)
def test_no_character_that_acts_on_its_reader_stays_raw(name: str, everyone_says_it: Report):
    text = ALL[name](everyone_says_it)
    assert ("owned" in text) == (name not in QUIET)  # it was said, harmlessly
    assert UNSAFE.search(text.replace("\t", "")) is None


@pytest.mark.parametrize("name", ALL)
def test_no_line_is_a_command_to_the_machine_that_logs_it(name: str, everyone_says_it: Report):
    assert LOG_COMMAND.search(ALL[name](everyone_says_it)) is None


@pytest.mark.parametrize("name", ALL)
def test_a_rendering_does_not_depend_on_anything_but_the_report(name: str):
    assert ALL[name](mixed()) == ALL[name](mixed())


class TestOutputs:
    def test_each_form_is_written_to_its_file(self, tmp_path: Path):
        wanted = tuple(Output(form, str(tmp_path / name)) for name, form in TARGETS.items())
        Outputs(wanted, ABOUT).check()
        Outputs(wanted, ABOUT).write(mixed())
        for output in wanted:
            assert Path(output.target).read_text(encoding="utf-8") == ALL[Path(output.target).name](mixed())

    def test_one_may_go_to_standard_output(self, capsys: pytest.CaptureFixture[str]):
        outputs = Outputs((Output(form("junit"), "-"),))
        outputs.write(mixed())
        assert outputs.uses_stdout
        assert capsys.readouterr().out == ALL["junit.out"](mixed())

    @pytest.mark.parametrize("target", ["-", "one.txt", "./one.txt"])
    def test_two_in_one_place_are_refused_before_the_run(
        self, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.chdir(tmp_path)
        first = "-" if target == "-" else "one.txt"
        with pytest.raises(UsageError, match=f"--json {first} and --junit {target} would overwrite each other"):
            Outputs((Output(form("json"), first), Output(form("junit"), target))).check()

    def test_all_may_go_to_nowhere(self):
        Outputs(tuple(Output(f, "/dev/null") for f in FORMATS if f.name != "badge"), ABOUT).check()

    def test_the_name_of_a_badge_tells_its_kind(self):
        with pytest.raises(UsageError, match=r"--badge b\.png: expected a name that ends with \.svg or \.json"):
            Outputs((Output(form("badge"), "b.png"),)).check()

    def test_a_file_that_cannot_be_written_does_not_cost_the_others(self, tmp_path: Path):
        lost, kept = str(tmp_path / "no" / "r.json"), tmp_path / "r.xml"
        with pytest.raises(UsageError, match="--json"):
            Outputs((Output(form("json"), lost), Output(form("junit"), str(kept)))).write(mixed())
        assert kept.exists()

    def test_a_folder_that_is_not_there_is_found_before_the_run(self, tmp_path: Path):
        with pytest.raises(UsageError, match="does not exist"):
            Outputs((Output(form("junit"), str(tmp_path / "no" / "r.xml")),)).check()
