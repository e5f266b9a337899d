"""The shell that is none: what it prints is what the programs print, and nothing else is run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from lro_bench.corpus import corpus
from lro_bench.run import recipes
from lro_bench.server import OFFLOADED_PATH
from lro_bench.shell import Shell

FILE = b"".join(line + b"\n" for line in corpus(50).lines)
COMMANDS = [
    "grep -c active {}",
    "grep -cF -e incidents -e sessions {}",
    "grep -ivE 'harrier|lodestar' {} | wc -l",
    "grep 'Unit U-10[0-2]' {} | head -n 1",
    "grep -n archived {} | tail -n 2",
    "grep -oF Harrier {} | sort | uniq -c",
    r"grep -c 'Harrier\|Basalt' {}",
    "tail -n +2 {} | head -3",
    "head -n 2 {} | wc -l",
    "tail -n +2 {} | jq -c 'select(.extensions.priority > 3) | .id' | sort -r",
    "jq -r .namespace {} | sort | uniq -c | sort -rn | head -n 1",
    "cat {} | jq -s 'length'",
    "tail -n 60 {} | wc -l",
    "tail -n -5 {}",
    "head -c 100 {}",
    "jq -r .namespace {} | sort -u",
    "jq .extensions.priority {} | sort -nu",
    "grep -m 2 active {}",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_print_what_the_programs_print(command: str, tmp_path: Path) -> None:
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed here")
    path = tmp_path / "file.jsonl"
    path.write_bytes(FILE)
    done = subprocess.run(
        ["bash", "-c", command.format(path)],
        capture_output=True,
        text=True,
        check=True,
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
    )
    with Shell({"/data/file.jsonl": FILE}) as shell:
        answer = shell.run(command.format("/data/file.jsonl"))
    assert not answer.failed, answer.text
    assert [line.split() for line in answer.text.splitlines()] == [line.split() for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("rm -rf /data", "rm: not available here"),
        ("head -c x /data/file.jsonl", "-c x: expected a number"),
        ("grep -m x active /data/file.jsonl", "-m x: expected a number"),
        ("cat /etc/passwd", "no such file"),
        ("cat /data/file.jsonl > /tmp/x", "redirection"),
        ("cat $(ls) /data/file.jsonl", "$"),
        ("jq 'env' /data/file.jsonl", "environment"),
        ("jq '.[' /data/file.jsonl", "jq"),
        ("grep '(' -E /data/file.jsonl", "regular expression"),
        ("grep -r x /data/file.jsonl", "option -r"),
        ("jq .", "name a file"),
    ],
)
def test_everything_else_is_refused_with_the_reason(command: str, word: str) -> None:
    with Shell({"/data/file.jsonl": FILE}) as shell:
        answer = shell.run(command)
    assert answer.failed
    assert word in answer.text


def test_each_recipe_of_the_descriptor_prints_the_same_bytes_each_time() -> None:
    outputs: list[list[str]] = []
    for _ in range(2):
        with Shell({OFFLOADED_PATH: b"{}\n" + FILE}) as shell:
            answers = [shell.run(command) for command in recipes()]
        assert not any(answer.failed for answer in answers)
        outputs.append([answer.text for answer in answers])
    assert outputs[0] == outputs[1]
