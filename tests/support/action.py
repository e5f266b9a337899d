"""The GitHub action's step that certifies, run as a runner would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.support.paths import ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
CERTIFY: str = next(s["run"] for s in ACTION["runs"]["steps"] if s.get("id") == "certify")


class Step:
    """The step that certifies, run as a runner would."""

    def __init__(self, folder: Path, **inputs: str) -> None:
        binaries = folder / "temp/lro-spec/bin"
        binaries.mkdir(parents=True)
        for name, module in (("python", ""), ("lro", "-m lro_conformance")):
            (binaries / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
            (binaries / name).chmod(0o755)
        defaults = {"REPORTS": "out", "ANNOTATIONS": "true"}
        names = ("COMMAND", "PROFILE", "LEVEL", "EDITION", "BASELINE", "SUBJECT")
        runner = {
            "RUNNER_TEMP": str(folder / "temp"),
            "GITHUB_WORKSPACE": str(folder),
            "GITHUB_OUTPUT": str(folder / "outputs"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        }
        self.done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", CERTIFY],
            cwd=folder,
            env=os.environ | dict.fromkeys(names, "") | defaults | runner | inputs | {"PYTHONPATH": _path()},
            capture_output=True,
            text=True,
            timeout=100,
        )
        self.outputs = dict(line.split("=", 1) for line in (folder / "outputs").read_text().splitlines())


def _path() -> str:
    return os.pathsep.join(str(ROOT / part) for part in ("", "conformance", "reference_impl"))
