"""Servers from public registries, installed once a run into a temporary folder, whichever test process comes first.

Where one cannot be had the test is skipped, and says why.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

INSTALL_S = 180
"""How long an installation may take."""
NPM = ("server-memory", "server-everything", "server-filesystem")
BESIDE = {"mcp-server-sqlite": ["mcp<2"]}
"""What a server needs and does not ask for: this one was written for the first SDK, and starts with no other."""


@dataclass(frozen=True)
class Installed:
    """Where things are installed when somebody asks for them."""

    folder: Path

    def npm(self, server: str) -> list[str]:
        """The command of one of the protocol's own servers in TypeScript."""
        home = self.node_modules() / "@modelcontextprotocol" / server
        programs = json.loads((home / "package.json").read_text())["bin"]
        (program,) = {programs} if isinstance(programs, str) else set(programs.values())
        return ["node", str(home / program)]

    def node_modules(self) -> Path:
        """The folder of most npm packages, the TypeScript SDK of both generations among them."""
        folder = self.folder / "npm"
        if shutil.which("node") is None:
            pytest.skip("node is not installed here")
        quiet = ("--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts")
        packages = [f"@modelcontextprotocol/{name}" for name in (*NPM, "sdk", "client", "server")]
        self._once(folder, [["npm", "install", *quiet, f"--prefix={folder}", *packages]])
        return folder / "node_modules"

    def inspector(self) -> list[str]:
        """The command of the inspector, which has three times as many files as all others together."""
        folder = self.folder / "inspector"
        if shutil.which("node") is None:
            pytest.skip("node is not installed here")
        quiet = ("--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts")
        self._once(folder, [["npm", "install", *quiet, f"--prefix={folder}", "@modelcontextprotocol/inspector"]])
        return ["node", str(folder / "node_modules/@modelcontextprotocol/inspector/cli/build/cli.js")]

    def tsx(self) -> Path:
        """The folder of npm packages with tsx, which runs TypeScript on any version of node."""
        folder = self.folder / "tsx"
        if shutil.which("node") is None:
            pytest.skip("node is not installed here")
        quiet = ("--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts")
        self._once(folder, [["npm", "install", *quiet, f"--prefix={folder}", "tsx@4"]])
        return folder / "node_modules"

    def mcpb(self) -> str:
        """The program that packs bundles."""
        folder = self.folder / "mcpb"
        if shutil.which("node") is None:
            pytest.skip("node is not installed here")
        quiet = ("--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts")
        self._once(folder, [["npm", "install", *quiet, f"--prefix={folder}", "@anthropic-ai/mcpb@2"]])
        return str(folder / "node_modules/.bin/mcpb")

    def python(self, package: str) -> str:
        """A Python with a package from PyPI."""
        folder = self.folder / package
        python = str(folder / "bin" / "python")
        # no pip in it, and only what is imported is compiled: half of the time; by uv, where there is one, a tenth
        packages = [package, *BESIDE.get(package, [])]
        pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile"]
        install = shlex.join([*pip, "--disable-pip-version-check", *packages])
        if (uv := shutil.which("uv", path=os.path.dirname(sys.executable))) is not None:
            install = f"{shlex.join([uv, 'pip', 'install', '--quiet', '--python', python, *packages])} || {install}"
        make = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
        self._once(folder, [make, ["sh", "-c", install]])
        return python

    def pypi(self, server: str) -> list[str]:
        """The command of one of the protocol's own servers in Python."""
        return [str(Path(self.python(server)).with_name(server))]

    def _once(self, folder: Path, commands: Sequence[Sequence[str]]) -> None:
        """Runs the installers, if no other process has; a failure is remembered, too."""
        said = folder.with_suffix(".said")
        with open(folder.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not said.exists():
                failures = (why for command in commands if (why := _failure(command)))
                said.write_text(next(failures, ""))
        if why := said.read_text():
            pytest.skip(why)


def _failure(command: Sequence[str]) -> str:
    """Runs an installer; its last words where it cannot do its work."""
    name = os.path.basename(command[0])
    if shutil.which(command[0]) is None:
        return f"{name} is not installed here"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    except subprocess.TimeoutExpired:
        return f"{name} was not done within {INSTALL_S} s"
    said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return f"{name} failed with exit code {done.returncode}: {' | '.join(said[-3:])[:300]}" if done.returncode else ""
