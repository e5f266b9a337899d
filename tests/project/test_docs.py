"""The documents: links lead somewhere, commands parse, ids exist, profiles load, and the example proves its level."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import click
import pytest

from lro_conformance import plugin
from lro_conformance import profile as profiles
from lro_conformance.cli import main
from lro_conformance.engine.run import certify
from lro_conformance.plugin import run
from lro_conformance.report import baseline
from lro_conformance.trials import trials
from lro_spec.catalogue import catalogue, chapters
from tests.servers.faults.catalogue import faults
from tests.servers.sound.catalogue import sounds
from tests.support.documents import DOCS, FENCE, TEXTS, fenced
from tests.support.paths import ROOT

DOCUMENTED = ROOT / "tests/servers/documented.py"

PLACEHOLDERS = {"N": "3", "FILE": "report.json", "ID": "LRO-THR-07", "DIR": ".", "COMMAND": "my-server"}
"""What the documents leave to the reader, and something that could stand there."""

QUICK = {"requirements", "explain", "schema"}
"""Subcommands that are also run: they only print."""


def anchors(text: str) -> set[str]:
    """The names that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(text: str) -> list[str]:
    """Each call of `lro` that a text shows: in a shell block, or between backticks."""
    shell = [part for block in fenced(text, "sh") for line in block.splitlines() for part in line.split("&&")]
    inline = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", FENCE.sub("", text))]
    found = [re.sub(r"^\.venv/bin/", "", part.partition(" #")[0].strip()) for part in (*shell, *inline)]
    return [part for part in found if part.startswith("lro ") and part != "lro --version"]  # which is no subcommand


COMMANDS = sorted({command for text in TEXTS.values() for command in commands(text)})


def filled(command: str) -> list[str]:
    return [PLACEHOLDERS.get(word, word) for word in shlex.split(command)[1:]]


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_somewhere(name: str) -> None:
    here = ROOT / name
    lost: list[str] = []
    for link in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", TEXTS[name])):
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = here.parent / path if path else here
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            lost.append(link)
    assert lost == []


def test_the_index_has_a_line_for_every_page() -> None:
    index = re.findall(r"^- \[.*\]\((.*)\): .*\.$", TEXTS["docs/README.md"], re.MULTILINE)
    pages = [p.relative_to(ROOT / "docs").as_posix() for p in DOCS if p.is_relative_to(ROOT / "docs")]
    assert sorted(index) == sorted(page for page in pages if page != "README.md")


@pytest.mark.parametrize("call", COMMANDS)
def test_a_command_is_understood(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsed as the command line would, nothing is done; a name alone is a mention of that subcommand."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lro.yaml").write_text("server: {command: [my-server]}\n", encoding="utf-8")
    name, *rest = filled(call)
    assert name in main.COMMANDS
    command = main.command_named(name)
    if rest and isinstance(command, click.Group):
        name, *rest = rest
        command = command.commands[name]
    if rest:
        with command.make_context(name, rest) as context:
            assert context.params


OF_A_COPY = commands(TEXTS["docs/how-to/write-a-check.md"])
"""What works once that page's check is there: test_write_a_check.py runs it in a copy that has it."""


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.split()[1] in QUICK and c not in OF_A_COPY])
def test_a_command_that_prints_does(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(filled(command)) == 0
    assert capsys.readouterr().out.strip()


def test_there_are_commands_to_try() -> None:
    assert {command.split()[1] for command in COMMANDS} == set(main.COMMANDS)


def test_a_command_that_does_not_exist_would_be_found() -> None:
    assert commands("See `lro judge DIR` and\n```sh\ncd x && .venv/bin/lro init  # why\n```\n") == [
        "lro init",
        "lro judge DIR",
    ]
    with pytest.raises(click.UsageError):
        main.command_named("certify").make_context("certify", ["--pdf", "report.pdf", "--", "my-server"])


def test_options_of_the_plugin_are_those_that_there_are() -> None:
    said = {option for text in TEXTS.values() for option in re.findall(r"--lro-[a-z]+", text)}
    sources = [Path(str(module.__file__)).read_text(encoding="utf-8") for module in (plugin, run)]
    assert said == {option for text in sources for option in re.findall(r'"(--lro-[a-z]+)"', text)}


def test_ids_exist() -> None:
    known = {r.id for chapter in chapters() for r in chapter.requirements}
    made = {name: set(re.findall(r"^ *- id: (LRO-[A-Z]+-\d\d)$", text, re.MULTILINE)) for name, text in TEXTS.items()}
    said = {name: set(re.findall(r"LRO-[A-Z]+-\d\d", text)) - made[name] for name, text in TEXTS.items()}
    assert {name: ids - known for name, ids in said.items() if ids - known} == {}


YAML = [
    (f"{name}-{number}", block)
    for name, text in TEXTS.items()
    if name != "docs/ci.md"  # pipelines of others, which tests/project/test_ci.py holds to their schemas
    for number, block in enumerate(fenced(text, "yaml"))
]
BASELINES = [pytest.param(block, id=id) for id, block in YAML if block.startswith("accept:")]
REQUIREMENTS = [block for _, block in YAML if block.lstrip().startswith("- id: LRO-")]
PROFILES = [
    pytest.param(block, id=id) for id, block in YAML if not block.startswith("accept:") and block not in REQUIREMENTS
]


@pytest.mark.parametrize("block", BASELINES)
def test_a_baseline_loads(block: str, tmp_path: Path) -> None:
    (tmp_path / "baseline.yaml").write_text(block, encoding="utf-8")
    assert baseline.load(tmp_path / "baseline.yaml")


@pytest.mark.parametrize("block", PROFILES)
def test_a_profile_loads(block: str, tmp_path: Path) -> None:
    """An excerpt loads with a server to it."""
    whole = block if re.search(r"^server:", block, re.MULTILINE) else f"server: {{command: [my-server]}}\n{block}"
    path = tmp_path / "lro.yaml"
    path.write_text(whole, encoding="utf-8")
    assert profiles.load(path).server.command


def test_the_whole_example_proves_level_3(tmp_path: Path) -> None:
    """The last profile of docs/writing-a-profile.md, word by word, but for the program."""
    text = fenced(TEXTS["docs/writing-a-profile.md"], "yaml")[-1]
    words = ", ".join(f'"{word}"' for word in (sys.executable, "-I", "-S", str(DOCUMENTED)))
    assert "[python, -m, my_server, " in text
    path = tmp_path / "lro.yaml"
    path.write_text(text.replace("[python, -m, my_server, ", f"[{words}, "), encoding="utf-8")
    report = certify(profiles.load(path), seed=1, jobs=2, examples=0)
    assert report.failure is None
    blamed = {
        r.requirement.id: r.verdict.label for r in report.requirements if r.verdict.label in ("fail", "warn", "error")
    }
    assert blamed == {"LRO-CFG-07": "warn"}  # it is set by flags only, which the page says
    assert (report.claimed, report.achieved) == (3, 3)


def test_figures_are_those_of_the_catalogue() -> None:
    text = TEXTS["CHANGELOG.md"]
    requirements = re.search(r"(\d+) requirements", text)
    notes = re.search(r"(\d+) numbered interpretations .* (\d+) errata", text)
    sound = re.search(r"\b(\d+)\s+unusual but conformant", text)
    broken = re.search(r"\b(\d+) servers with one injected\s+fault", text)
    assert broken is not None
    assert int(broken[1]) == len(faults())
    assert requirements is not None
    assert notes is not None
    assert sound is not None
    told = TEXTS["docs/interpretations.md"]
    assert int(requirements[1]) == len(catalogue())
    assert [int(n) for n in notes.groups()] == [len(re.findall(rf"^### {kind}-", told, re.MULTILINE)) for kind in "IE"]
    assert int(sound[1]) == len(sounds())


def test_the_architecture_names_the_file_of_each_trial() -> None:
    table = re.findall(r"^\| `(\w+)` \| `([\w/]+)\.py` \|", TEXTS["docs/architecture.md"], re.MULTILINE)
    files = {name: one.function.__module__.partition(".")[2].replace(".", "/") for name, one in trials().items()}
    assert dict(table) == files
