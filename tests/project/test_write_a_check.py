"""The steps of docs/how-to/write-a-check.md add a check that works, and touch five files."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PAGE = (ROOT / "docs/how-to/write-a-check.md").read_text(encoding="utf-8")
ADDED = re.findall(r"[Aa]t\s+the\s+end\s+of\s+`([^`]+)`:\n\n```\w+\n(.*?)```\n", PAGE, re.DOTALL)
STEPS = PAGE.partition("## 6.")[2].partition("## 7.")[0]
COMMANDS = [shlex.split(line, comments=True) for line in re.findall(r"^(?:lro|pytest) .*$", STEPS, re.MULTILINE)]
NEEDED = ("lro_spec", "conformance", "reference_impl", "schemas", "tests", "docs", "pyproject.toml")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, with the check in it."""
    root = tmp_path_factory.mktemp("copy")
    for name in filter(lambda name: (ROOT / name).exists(), NEEDED):
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("node_modules", "captures", "reports")
            # with what is compiled, so that this need not be done again
            shutil.copytree(ROOT / name, root / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, root / name)
    for path, text in ADDED:
        with open(root / path, "a", encoding="utf-8") as file:
            file.write(text)
    return root


def test_five_files_are_touched() -> None:
    assert len({path for path, _ in ADDED}) == len(ADDED) == 5
    assert [path for path, _ in ADDED if not (ROOT / path).is_file()] == []


def test_what_is_added_is_not_there_yet() -> None:
    catalogue = (ROOT / ADDED[0][0]).read_text(encoding="utf-8")
    assert re.findall(r"- id: (.*)", ADDED[0][1]) != []
    assert ADDED[0][1].split("\n")[1] not in catalogue


def test_there_are_commands_to_see_it_work() -> None:
    assert [command[0] for command in COMMANDS] == ["lro", "pytest", "pytest", "pytest"]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(c, id=" ".join(c[:2]), marks=pytest.mark.long if c[1].endswith("/test_sound.py") else ())
        for c in COMMANDS
    ],
)
def test_the_check_works(command: list[str], copy: Path) -> None:
    """A whole certification of a sound server by it, which takes seven seconds, is left to ``--long``."""
    program, *arguments = command
    module = {"lro": ("lro_conformance",), "pytest": ("pytest", "-q", "-n", "0", "-p", "no:cacheprovider")}[program]
    if "-n" in arguments:
        del arguments[(at := arguments.index("-n")) : at + 2]
    paths = (copy, copy / "conformance", copy / "reference_impl")
    done = subprocess.run(
        [sys.executable, "-m", *module, *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    if program == "pytest":
        assert " passed" in done.stdout
    else:
        assert "LRO-HARD-08" in done.stdout
