"""Help, shell completion, and what is said where a command does not run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from lro_conformance.cli import help_examples
from lro_conformance.cli.help_examples import EXAMPLES, STARTS_SERVERS
from lro_conformance.cli.main import COMMANDS, command_named, main
from tests.support.paths import DATA

CODE = "import sys; from lro_conformance.cli.main import main; sys.exit(main())"
POSIX_ONLY = ("resource", "fcntl", "termios", "pwd", "grp")
OWN_HELP = ("serve", "proxy", "gain")
"""Their arguments are read by the reference implementation, which has a help of its own."""


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CODE, *arguments]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60, check=False
    )


# Help


def test_every_command_has_examples_in_its_help(capsys: pytest.CaptureFixture[str]):
    assert set(EXAMPLES) == set(COMMANDS)
    for name in sorted(set(EXAMPLES) - set(OWN_HELP)):
        assert main([name, "--help"]) == 0
        shown = capsys.readouterr().out
        assert all(f"\n    {example}\n" in shown for example in EXAMPLES[name]), name


@pytest.mark.parametrize("name", OWN_HELP)
def test_the_reference_implementation_has_an_example_in_its_help(name: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main([name, "--help"])
    assert EXAMPLES[name][0] in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("example", [e for examples in EXAMPLES.values() for e in examples])
def test_an_example_is_a_call_that_is_understood(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lro.yaml").write_text("server: {command: [my-server]}\n", encoding="utf-8")
    program, name, *rest = shlex.split(example)
    assert program == "lro"
    command = command_named(name)
    if isinstance(command, click.Group):
        name, *rest = rest
        command = command.commands[name]
    with command.make_context(name, rest) as context:
        assert context.params or not context.command.params


@pytest.mark.parametrize("width", [40, 80, 200])
def test_help_fits_the_terminal(width: int):
    for name in COMMANDS:
        if name not in OWN_HELP:
            with click.Context(command_named(name), info_name=f"lro {name}", terminal_width=width) as context:
                prose = context.get_help().partition("Examples:")[0]
            wide = [line for line in prose.splitlines() if len(line) > width and not line.startswith("  -")]
            assert wide == [], name  # an option and its choices are one word


# Completion


@pytest.mark.parametrize(
    ("shell", "says"), [("bash", "complete -o nosort"), ("zsh", "#compdef lro"), ("fish", "complete")]
)
def test_a_script_is_made_for_each_shell(shell: str, says: str):
    done = run(_LRO_COMPLETE=f"{shell}_source")
    assert (done.returncode, done.stderr) == (0, "")
    assert says in done.stdout
    if (program := shutil.which(shell)) is not None:
        checked = subprocess.run([program, "-n", "-c", done.stdout], capture_output=True, timeout=30, check=False)
        assert checked.returncode == 0


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("lro cer", ["certify"]),
        ("lro certify --evi", ["--evidence"]),
        ("lro explain LRO-IMPL-0", ["LRO-IMPL-01", "LRO-IMPL-02", "LRO-IMPL-03"]),
        ("lro explain lro-impl-03", ["LRO-IMPL-03"]),
        ("lro schema pro", ["profile"]),
        ("lro validate --format sa", ["sarif"]),
    ],
)
def test_words_are_completed(words: str, offered: list[str]):
    done = run(_LRO_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1))
    found = [line.partition(",")[2] for line in done.stdout.splitlines()]
    assert found[: len(offered)] == offered, done.stderr


# Systems without POSIX


@pytest.mark.parametrize("name", sorted(STARTS_SERVERS))
def test_what_starts_servers_says_in_one_line_that_windows_is_not_supported(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    class Nt:
        name = "nt"

    monkeypatch.setattr(help_examples, "os", Nt)
    assert main([name, "--", "my-server"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        f"lro: {name} is not supported on Windows: run it in WSL or a container (supported here: compare, "
    )


def test_the_rest_needs_no_module_that_only_posix_has(tmp_path: Path):
    (tmp_path / "sitecustomize.py").write_text(
        f"import sys\nfor name in {POSIX_ONLY!r}:\n    sys.modules[name] = None\n", encoding="utf-8"
    )
    reports = DATA / "reports"
    path = os.pathsep.join((str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])))
    for arguments in (
        ["requirements"],
        ["explain", "LRO-FILE-06"],
        ["schema", "report"],
        ["validate", str(reports / "equal.json")],
        ["compare", str(reports / "equal.json"), str(reports / "equal.json")],
        ["judge", str(tmp_path)],
    ):
        done = run(*arguments, PYTHONPATH=path)
        assert done.returncode == (2 if arguments[0] == "judge" else 0), done.stderr
        assert not re.search("Error|Traceback", done.stderr)
