"""Runs of scripted agents over the benchmark's MCP servers, and their reports."""

from __future__ import annotations

import html
import json
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lro_bench.conditions import chosen_conditions, conditions, pairs
from lro_bench.queries import classify
from lro_bench.report import report_of
from lro_bench.report_views import to_html, to_markdown
from lro_bench.run import Choice, Journal, describe, expected_samples, recipes, run
from lro_bench.samples import answer_of, is_correct, read_samples, write_samples
from lro_bench.server import OFFLOADED_PATH
from lro_conformance.cli.main import main
from lro_conformance.errors import UsageError
from lro_spec.schema.bundled import json_schema
from tests.support.browser import browser, visit  # noqa: F401
from tests.support.paths import ROOT
from tests.support.pictures import VIEWS, assert_looks_as_it_did

CHOICE = Choice(tuple(conditions()), (50,), ("oracle", "constant", "random"), limit=2)
UNREACHABLE = {"today/Codex"}


def said(done: int, total: int) -> None:
    assert done <= total


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over all conditions at the smallest size."""
    made = tmp_path_factory.mktemp("bench")
    run(CHOICE, made, resume=False, progress=said)
    return made


# Conditions


def test_there_are_the_papers_conditions_and_what_people_have_today() -> None:
    sources = [condition.source for condition in conditions().values()]
    assert sources.count("paper") == 21
    assert sources.count("today") >= 6
    assert {name for pair in pairs() for name in pair} <= set(conditions())


def test_the_ablation_changes_the_descriptor_only() -> None:
    prompts = {conditions()[f"E2/C{n}"].system_prompt for n in (1, 2, 3, 4)}
    tools = {conditions()[f"E2/C{n}"].delivery.tools for n in (1, 2, 3, 4)}
    assert len(prompts) == len(tools) == 1


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("E2/C1", ("E2/C1",)),
        ("C1", ("E2/C1", "E4/C1")),
        ("E3", ("E3/Recipe", "E3/NoRecipe")),
        ("claude code", ("today/Claude Code",)),
        ("e1/lro", ("E1/LRO",)),
    ],
)
def test_a_condition_is_chosen_by_its_name_or_a_part_of_it(given: str, names: tuple[str, ...]) -> None:
    assert chosen_conditions([given, *names]) == names


def test_the_conditions_are_listed_by_the_command_and_the_names_of_the_documents_are_among_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "run", "--list"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.partition("  ")[0] for line in shown] == list(conditions())
    page = (ROOT / "docs/bench.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`((?:E\d|E2g|control|today)/[^`]+)`", page)) <= set(conditions())
    assert not re.search(r"(?<!/)\bC[1-5]\b(?!`)", page)


# Agents


def test_the_oracle_is_right_or_the_condition_is_unreachable(folder: Path) -> None:
    report = report_of([folder])
    for cell in report.cells:
        if cell.agent == "oracle" and cell.condition not in UNREACHABLE:
            assert cell.correct == cell.tasks, cell
        if cell.agent == "oracle":
            assert (cell.unreachable is not None) == (cell.condition in UNREACHABLE)


def test_a_limit_makes_a_condition_unreachable_and_says_how_many_messages_it_takes(tmp_path: Path) -> None:
    choice = Choice(("E1/Inline", "control/Inline open", "E1/Summary"), (200,), ("oracle", "typical"), limit=1)
    run(choice, tmp_path, resume=False, progress=said)
    report = report_of([tmp_path])
    inline = report.cell("oracle", "E1/Inline", "id_lookup/paper", 200)
    assert inline is not None
    assert inline.unreachable is not None
    assert (inline.unreachable.why, inline.unreachable.least_messages) == ("messages", 2 + 1 + 40 + 1)
    assert inline.unreachable.least_turns == 2  # all pages in one
    assert str(inline.unreachable) == "unreachable: takes 44 messages in 2 turns"
    assert inline.stops == {"messages": 1}
    free = report.cell("typical", "control/Inline open", "id_lookup/paper", 200)
    assert free is not None
    assert (free.correct, free.turns, free.access_ratio) == (1, 41, 1.0)


def test_the_constant_answer_wins_the_published_lookup_only(folder: Path) -> None:
    report = report_of([folder])
    paper = report.cell("constant", "E1/LRO", "id_lookup/paper", 50)
    varied = report.cell("constant", "E1/LRO", "id_lookup/varied", 50)
    assert paper is not None
    assert varied is not None
    assert paper.correct == paper.tasks
    assert varied.correct < varied.tasks


def test_answers_are_read_from_their_line() -> None:
    assert answer_of("Let me see.\nANSWER: 8") == "8"
    assert answer_of("**ANSWER: 1, 2**") == "1, 2"
    assert answer_of("It is 8.") is None
    assert is_correct("1, 2", "1,2")
    assert not is_correct(None, "8")


def test_queries_are_classified_by_the_recipes() -> None:
    library = recipes()
    assert classify("bash", {"command": library[1]}, library) == "verbatim"
    assert classify("bash", {"command": library[1].replace("_semantic", "_episodic")}, library) == "parameterized"
    counted = f"tail -n +2 {OFFLOADED_PATH} | jq 'select(.namespace | startswith(\"x\")) | length'"
    assert classify("bash", {"command": counted}, library) == "adapted"
    assert classify("bash", {"command": f"grep -c x {OFFLOADED_PATH}"}, library) == "novel"
    assert classify("lro_extract", {"recipe": 8}, library) == "verbatim"


# Runs


def test_two_runs_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    names = ("E1/LRO", "E2/C4", "today/LRO extract")
    run(Choice(names, (50,), ("oracle",), limit=2), tmp_path, resume=False, progress=said)
    again = (tmp_path / "samples.jsonl").read_bytes().splitlines()
    kept = [json.loads(line) for line in (folder / "samples.jsonl").read_bytes().splitlines()]
    of_these = [one["condition"] in names and one["agent"] == "oracle" for one in kept]
    assert again == list(compress((folder / "samples.jsonl").read_bytes().splitlines(), of_these))
    assert len(again) > len(names)


def test_a_run_is_resumed_without_repeating_samples(folder: Path, tmp_path: Path) -> None:
    whole = (folder / "samples.jsonl").read_text(encoding="utf-8")
    for name in ("run.json", "samples.jsonl"):
        (tmp_path / name).write_text((folder / name).read_text(encoding="utf-8"), encoding="utf-8")
    lines = whole.splitlines(keepends=True)
    kept = [line for line in lines if '"today/Codex"' not in line]
    (tmp_path / "samples.jsonl").write_text("".join(kept), encoding="utf-8")
    seen: list[int] = []
    run(CHOICE, tmp_path, resume=True, progress=lambda done, total: seen.append(done))
    assert seen[0] == len(kept)
    assert (tmp_path / "samples.jsonl").read_text(encoding="utf-8") == whole


def test_a_report_of_an_unfinished_run_says_so_and_how_to_continue_it(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "a run"
    place.mkdir()
    whole = (folder / "samples.jsonl").read_text(encoding="utf-8")
    (place / "run.json").write_bytes((folder / "run.json").read_bytes())
    (place / "samples.jsonl").write_text(whole.partition("\n")[2], encoding="utf-8")
    asked = len(whole.splitlines())
    command = f"lro bench run --resume -o '{place}'"
    told = f"{asked - 1:,} of {asked:,} samples: unfinished; {command} continues it"
    assert main(["bench", "report", str(place)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == told
    assert told in (place / "report.md").read_text(encoding="utf-8")
    assert told in html.unescape((place / "report.html").read_text(encoding="utf-8"))
    report = json.loads((place / "report.json").read_text(encoding="utf-8"))
    jsonschema.validate(report, json_schema("bench-report"))
    assert report["unfinished"] == [{"folder": str(place), "samples": asked - 1, "asked": asked, "told": told}]
    assert main(shlex.split(command)[1:]) == 0
    assert f"next: lro bench report '{place}'" in capsys.readouterr().out
    assert (place / "samples.jsonl").read_text(encoding="utf-8") == whole
    assert report_of([place]).unfinished == report_of([folder]).unfinished == ()


@pytest.mark.parametrize(("model", "asked"), [("openai/gpt-5", 4), ("mockllm/oracle", 6)])
def test_what_a_model_is_never_asked_is_not_missing(model: str, asked: int) -> None:
    choice = Choice(("E1/LRO", "E1/Inline+Code", "E1/Summary"), (50,), (model,), limit=1)
    assert expected_samples({**describe(choice), "model": model, "sandbox": None}) == asked


def test_only_a_run_that_is_there_is_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "run", "--resume", "-o", str(tmp_path / "none")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "there is no run in it to resume" in line
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [("5", "expected an object"), ("{}", "it lacks condition, family, n and "), ("x", "Expecting value")],
)
def test_a_line_that_is_no_sample_is_named(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").write_text(f"{text}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=f"line 1: not a sample.*{told}") as problem:
        read_samples(tmp_path / "samples.jsonl")
    assert "__init__" not in str(problem.value)


def test_a_run_that_was_killed_while_it_wrote_is_resumed(tmp_path: Path) -> None:
    choice = Choice(("E3/Recipe",), (50,), ("constant",), limit=2)
    run(choice, tmp_path, resume=False, progress=said)
    whole = (tmp_path / "samples.jsonl").read_bytes()
    (tmp_path / "samples.jsonl").write_bytes(whole[:-100])
    run(choice, tmp_path, resume=True, progress=said)
    assert (tmp_path / "samples.jsonl").read_bytes() == whole


def test_a_sample_may_hold_any_answer(folder: Path, tmp_path: Path) -> None:
    sample = replace(read_samples(folder / "samples.jsonl")[0], answer="\u2028\ud800\x85", correct=False)
    write_samples([sample], tmp_path / "samples.jsonl")
    assert read_samples(tmp_path / "samples.jsonl") == [sample]


@pytest.mark.parametrize(
    "change",
    [{"n": "50"}, {"n": 0}, {"queries": None}, {"queries": {"x": 1}}, {"answer": "another"}, {"input_tokens": "many"}],
)
def test_a_sample_that_was_changed_by_hand_is_refused(
    change: dict[str, Any], folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.json").write_bytes((folder / "run.json").read_bytes())
    lines = (json.loads(line) for line in (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines())
    sample = next(line for line in lines if line["correct"])
    (tmp_path / "samples.jsonl").write_text(json.dumps({**sample, **change}) + "\n", encoding="utf-8")
    assert main(["bench", "report", str(tmp_path)]) == 2
    assert "line 1: not a sample" in capsys.readouterr().err


def test_no_sample_is_counted_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "report", str(folder), str(folder)]) == 2
    assert "another folder has, too" in capsys.readouterr().err


def test_a_sample_that_stands_twice_or_is_of_another_run_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = (folder / "samples.jsonl").read_text(encoding="utf-8")
    first = json.loads(samples.partition("\n")[0])
    (tmp_path / "run.json").write_bytes((folder / "run.json").read_bytes())
    for added, told in ((first, "has a sample twice"), ({**first, "agent": "m"}, "m is none of its agents")):
        (tmp_path / "samples.jsonl").write_text(f"{samples}{json.dumps(added)}\n", encoding="utf-8")
        assert main(["bench", "report", str(tmp_path)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"{tmp_path / 'samples.jsonl'}: " in line
        assert told in line


def test_runs_of_other_tasks_are_not_compared(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = ["run", "--agent", "typical", "--condition", "E3", "-n", "50", "--limit", "1", "-o", str(tmp_path)]
    assert main(["bench", *other]) == 0
    assert main(["bench", "report", str(folder), str(tmp_path), "-o", str(tmp_path)]) == 0
    changed = (
        (tmp_path / "run.json")
        .read_text(encoding="utf-8")
        .replace('"id_lookup/paper/50": "', '"id_lookup/paper/50": "x')
    )
    (tmp_path / "run.json").write_text(changed, encoding="utf-8")
    capsys.readouterr()
    assert main(["bench", "report", str(folder), str(tmp_path), "-o", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "its families differ from those of the other runs (id_lookup/paper/50)" in line


@pytest.mark.parametrize("text", ["", "5", "[]", "{}", '{"format": "x"}', "\udcff", "[" * 100_000])
def test_a_description_that_is_none_is_refused_in_one_line(
    text: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    (tmp_path / "samples.jsonl").write_bytes((folder / "samples.jsonl").read_bytes())
    assert main(["bench", "report", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(tmp_path / "run.json") in line
    assert main(["bench", "run", "--resume", "-o", str(tmp_path)]) == 2


@pytest.mark.parametrize("command", ["run --agent constant --condition E3 -n 50 --limit 1", "report {folder}"])
def test_a_folder_that_cannot_be_made_is_named(
    command: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["bench", *command.format(folder=folder).split(), "-o", str(tmp_path / "file" / "x")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(tmp_path / "file") in line


def test_what_is_given_twice_is_run_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = "--agent constant --agent constant -n 50 -n 50 --condition E3/Recipe --condition recipe --limit 1"
    assert main(["bench", "run", *twice.split(), "-o", str(tmp_path)]) == 0
    assert f"{tmp_path}: 2 samples" in capsys.readouterr().out
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["sizes"] == [50]


def test_a_run_that_is_interrupted_keeps_each_finished_sample_and_is_resumed(tmp_path: Path) -> None:
    words = "bench run --agent oracle --condition E2 -n 50"
    command = [sys.executable, "-m", "lro_conformance", *words.split(), "-o"]
    with subprocess.Popen([*command, str(tmp_path / "one")], stderr=subprocess.PIPE, text=True) as process:
        for _ in range(600):
            time.sleep(0.05)
            if (tmp_path / "one" / "samples.jsonl").exists() and (tmp_path / "one" / "samples.jsonl").stat().st_size:
                break
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines()[-1].endswith(f": lro bench run --resume -o {tmp_path / 'one'} continues it")
    kept = read_samples(tmp_path / "one" / "samples.jsonl")
    assert main(["bench", "report", str(tmp_path / "one")]) == 0
    assert main(["bench", "run", "--resume", "-o", str(tmp_path / "one")]) == 0
    assert main([*words.split(), "-o", str(tmp_path / "two")]) == 0
    texts = [(tmp_path / name / "samples.jsonl").read_bytes() for name in ("one", "two")]
    assert texts[0] == texts[1]
    assert 0 < len(kept) < len(texts[0].splitlines())


def test_a_full_disk_ends_in_one_line_and_keeps_finished_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    append = Journal.append

    def fill(self: Journal, samples: Any) -> None:
        if self._path.stat().st_size:
            self._file = open("/dev/full", "ab", buffering=0)  # noqa: SIM115
        append(self, samples)

    words = ["bench", "run", "--agent", "constant", "--condition", "E3", "-n", "50", "-o", str(tmp_path)]
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", fill)
        assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "samples.jsonl: No space left on device: finished samples are kept" in line
    assert len(read_samples(tmp_path / "samples.jsonl")) == 1
    assert main([*words, "--resume"]) == 0


def test_a_write_that_fails_midway_leaves_no_half_a_line(folder: Path, tmp_path: Path) -> None:
    first, second = read_samples(folder / "samples.jsonl")[:2]
    with Journal(tmp_path) as journal:
        journal.append([first])
        size = (tmp_path / "samples.jsonl").stat().st_size
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, limits[1]))
        try:
            with pytest.raises(UsageError, match=r"samples\.jsonl: File too large: finished samples are kept"):
                journal.append([second])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        journal.append([second])
    assert read_samples(tmp_path / "samples.jsonl") == [first, second]


@pytest.mark.parametrize("words", ["paper", pytest.param("paper --json -", marks=pytest.mark.long), "run --list"])
def test_a_reader_that_goes_away_is_handled_as_by_the_other_commands(words: str) -> None:
    command = [sys.executable, "-m", "lro_conformance", "bench", *words.split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 141
    assert b"Traceback" not in said


def test_fewer_tasks_than_fifteen_have_a_reason(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    why = "missing has 14 tasks, not 15"
    assert main(["bench", "corpora"]) == 0
    assert why in capsys.readouterr().out
    assert why in to_markdown(report_of([folder]))
    assert why in to_html(report_of([folder]))
    assert "14" in (ROOT / "docs/bench.md").read_text(encoding="utf-8")


def test_a_run_without_a_sample_is_replaced_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    words = ["--condition", "E3", "-n", "50", "--limit", "1", "-o", str(tmp_path)]
    assert main(["bench", "run", "--model", "openai/gpt-5", *words]) == 3
    assert main(["bench", "run", "--agent", "constant", *words]) == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--model nobody/nothing", "--model nobody/nothing: Model API nobody"),
        ("--model nothing", "--model nothing: Model name"),
        ("--model mockllm/oracle --sandbox dockr", "--sandbox dockr: "),
    ],
)
def test_a_model_or_sandbox_that_nobody_knows_is_a_wrong_call_and_leaves_no_folder(
    options: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "run", *options.split(), "-n", "50", "-o", str(tmp_path / "made")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert not (tmp_path / "made").exists()


def test_without_a_command_the_help_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench"]) == 2
    shown = capsys.readouterr()
    assert shown.out.startswith("Usage: lro bench")
    assert "(lro bench --help)" not in shown.out + shown.err


def test_a_folder_with_another_run_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "run", "-o", str(folder)]) == 2
    assert "--resume" in capsys.readouterr().err
    assert main(["bench", "run", "--resume", "-n", "50", "-o", str(folder)]) == 2
    assert "another run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["run", "--condition", "E9"], "there is no such condition; near are E4"),
        (["run", "--condition", "lro shel"], "near are LRO shell"),
        (["run", "--condition", "x"], "lro bench run --list shows all"),
        (["run", "-n", "7"], "expected one of 50, 200, 500, 5000"),
        (["run", "--model", "mockllm/x"], "mockllm/oracle"),
        (["run", "--model", "a/b", "--agent", "oracle"], "exclude each other"),
        (["report", "nowhere"], "there is no run in it"),
    ],
)
def test_a_wrong_call_ends_in_one_line(arguments: list[str], word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert word in line


def test_without_the_extra_one_line_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lro_bench.cli.find_spec", lambda name: None)
    assert main(["bench", "paper"]) == 2
    assert "pip install 'lro-spec[bench]'" in capsys.readouterr().err


# Reports


def test_the_report_has_the_shape_of_its_schema(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["bench", "report", str(folder), "-o", str(tmp_path)]) == 0
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    jsonschema.validate(report, json_schema("bench-report"))
    assert {cell["condition"] for cell in report["cells"]} == set(conditions())
    assert "unreachable" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_negative_savings_are_shown(folder: Path) -> None:
    pair = next(
        p for p in report_of([folder]).pairs if (p.first, p.second) == ("today/LRO shell", "today/Code over pages")
    )
    assert pair.savings is not None
    assert pair.savings < 0
    assert f"{100 * pair.savings:+.1f} %" in to_markdown(report_of([folder]))


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_the_page_looks_as_it_did(folder: Path, tmp_path: Path, browser, width: int, scheme: str) -> None:  # noqa: F811
    path = tmp_path / "report.html"
    path.write_text(to_html(report_of([folder])), encoding="utf-8")
    assert_looks_as_it_did(browser, path, "bench", width, scheme)


def test_the_page_fits_a_phone_and_shows_the_figures(folder: Path, tmp_path: Path, browser) -> None:  # noqa: F811
    path = tmp_path / "report.html"
    path.write_text(to_html(report_of([folder])), encoding="utf-8")
    with visit(browser, path, viewport={"width": 390, "height": 844}) as seen:
        plots = seen.page.locator("svg.plot")
        assert plots.count() >= 10
        assert all(
            box["width"] > 250 and box["height"] > 60
            for n in range(plots.count())
            if (box := plots.nth(n).bounding_box())
        )
        picture = seen.page.locator(".pair").first.screenshot()
        assert len(picture) > 4_000  # an empty one has far fewer bytes
