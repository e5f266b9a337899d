"""The tutorial as its reader goes through it: files and commands as they stand there, outputs as they are shown."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT

TUTORIAL = ROOT / "docs" / "tutorial.md"
INSTALL = "python3 -m venv .venv && . .venv/bin/activate && pip install 'lro-spec[certify]'"
"""Done by .ci/run, which installs the wheel."""
PATHS = [ROOT, ROOT / "conformance", ROOT / "reference_impl"]
CODE = """\
import sys
from lro_conformance.cli.certify import BUDGETS
from lro_conformance.cli.main import main
BUDGETS["standard"] = 0  # the explorer finds nothing here that the trials do not, and each sequence takes time
sys.exit(main())
"""

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY = (
    (re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b"), "ULID"),
    (re.compile(r"\b\d+(\.\d+)? s\b"), "N s"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"\bseed \d+"), "seed N"),
)
"""What differs from run to run."""


def normal(text: str) -> list[str]:
    for pattern, name in ANY:
        text = pattern.sub(name, text)
    return [line.rstrip() for line in text.rstrip("\n").split("\n")]


def agrees(shown: str, printed: str) -> bool:
    """Whether an output is what the page shows: ``…`` alone on a line is any lines, at its end any characters."""
    pattern = ""
    for line in normal(shown):
        if line == "…":
            pattern += r"(?:[^\n]*\n)*?"
        elif line.endswith("…"):
            pattern += re.escape(line[:-1]) + r"[^\n]*\n"
        else:
            pattern += re.escape(line) + r"\n"
    return re.fullmatch(pattern, "\n".join(normal(printed)) + "\n") is not None


def patched(text: str, diff: str) -> str:
    """A text with the lines of a diff changed, which have to be there once; the last may be the start of one."""
    old = "\n".join(line[1:] for line in diff.splitlines() if line[:1] != "+")
    new = "\n".join(line[1:] for line in diff.splitlines() if line[:1] != "-")
    assert text.count(old) == 1, f"{text.count(old)} times in the file: {old}"
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\n…\nd", "a\nb\nc\nd\n", True),
        ("a\n…\nd", "a\nd\n", True),
        ("a\n…\nd", "a\nb\nd\ne\n", False),
        ("run 4.5 s", "run 17 s", True),
        ("ab…\nc", "abc\nc", True),
        ("ab…\nc", "a\nc", False),
        ("level 3", "level 2", False),
    ],
)
def test_an_output_is_compared_line_by_line(shown: str, printed: str, same: bool):
    assert agrees(shown, printed) is same


def test_a_difference_that_fits_nowhere_is_found():
    assert patched("a\nb\nc\n", " b\n+x\n") == "a\nb\nx\nc\n"
    with pytest.raises(AssertionError, match="0 times"):
        patched("a\n", "-b\n+x\n")


@pytest.mark.timeout(600)
def test_every_command_of_the_tutorial_prints_what_it_shows(tmp_path: Path):
    blocks: Iterator[tuple[str, str]] = iter(BLOCK.findall(TUTORIAL.read_text(encoding="utf-8")))
    server = tmp_path / "notes.py"
    run: list[tuple[str, int]] = []
    for language, block in blocks:
        if language == "python":
            server.write_text(block, encoding="utf-8")
        elif language == "diff":
            server.write_text(patched(server.read_text(encoding="utf-8"), block), encoding="utf-8")
        elif block.strip() != INSTALL:
            assert language == "sh"
            command = shlex.split(block)
            kind, shown = next(blocks)
            assert (command[0], kind) == ("lro", "")
            code, printed = lro(command[1:], tmp_path)
            assert agrees(shown, printed), f"{block.strip()} printed:\n{printed}"
            run.append((command[1], code))
    assert run == [("--version", 0), ("certify", 1), ("certify", 1), ("explain", 0), ("certify", 0), ("judge", 0)]
    assert "level 3 proved" in (tmp_path / "badge.svg").read_text(encoding="utf-8")
    assert "LRO-DET-02" in (tmp_path / "report.html").read_text(encoding="utf-8")


def lro(arguments: list[str], folder: Path) -> tuple[int, str]:
    """The exit code of a call and what it prints; python is this one, and nothing of LRO is set."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("ATLATL_", "LRO_", "PYTEST_", "COLUMNS"))}
    path = os.pathsep.join((str(Path(sys.executable).parent), own.get("PATH", os.defpath)))
    done = subprocess.run(
        [sys.executable, "-c", CODE, *arguments],
        cwd=folder,
        env={**own, "PATH": path, "PYTHONPATH": os.pathsep.join(map(str, PATHS))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in (0, 1), f"{done.stdout}\n{done.stderr}"
    return done.returncode, done.stdout


def implemented(folder: Path) -> Path:
    """The server of the how-to page: its blocks, one after the other."""
    page = (ROOT / "docs" / "how-to" / "implement.md").read_text(encoding="utf-8")
    server = folder / "notes.py"
    server.write_text("\n\n".join(block for language, block in BLOCK.findall(page) if language == "python"), "utf-8")
    return server


@pytest.mark.timeout(600)
def test_the_server_that_is_put_together_step_by_step_proves_level_3(tmp_path: Path):
    implemented(tmp_path)
    code, printed = lro(["certify", "--level", "3", "-q", "--", "python", "notes.py"], tmp_path)
    assert code == 0, printed
    assert re.search(r"^achieved +level 3 \(claimed: level 3\)$", printed, re.MULTILINE), printed


@pytest.mark.timeout(600)
@pytest.mark.parametrize("field", ["provenance", "namespace"])
def test_its_recipes_serve_records_that_lack_a_field(tmp_path: Path, field: str):
    """As the page says of a server without confidences."""
    server = implemented(tmp_path)
    code, removed = re.subn(rf'^ +"{field}": .*\n', "", server.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE)
    assert removed == 1
    server.write_text(code, encoding="utf-8")
    status, printed = lro(["certify", "--only", "recipes,descriptor", "--", "python", "notes.py"], tmp_path)
    assert status == 0, printed
    assert not re.search(r"^(fail|warn) ", printed, re.MULTILINE), printed
