"""`lro doctor`: whether the machine has everything that a run needs."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

import click

from lro_conformance.errors import EXIT_NO_VERDICT, EXIT_OK, EXTRAS


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a run needs."""

    name: str
    observation: str
    advice: str = ""
    """Advice if the thing is missing or too small. Empty otherwise."""


@click.command()
def doctor() -> int:
    """Check that this machine has what a run needs: packages, temporary space, open files, memory, jq, permissions.

    Exit code: 0 no problem was found, 3 there is a problem.
    """
    all_findings = list(findings())
    for finding in all_findings:
        click.echo(f"{'problem' if finding.advice else 'ok':<8} {finding.name:<18} {finding.observation}")
        if finding.advice:
            click.echo(f"{'':<8} {'':<18} {finding.advice}")
    return EXIT_NO_VERDICT if any(finding.advice for finding in all_findings) else EXIT_OK


def findings() -> Iterator[Finding]:
    """A finding about each thing that a run needs."""
    yield _python()
    yield _packages()
    yield _temporary()
    yield from _limits()
    yield _jq()
    yield _user()


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    advice = "" if os.name == "posix" else "servers can be certified on POSIX systems only: use WSL or a container"
    return Finding("Python", f"{version} on {sys.platform}", advice)


def _packages() -> Finding:
    missing = sorted(name for name in EXTRAS["certify"] | EXTRAS["proxy"] if find_spec(name) is None)
    advice = "pip install 'lro-spec[certify]'" if missing else ""
    return Finding("packages", f"not installed: {', '.join(missing)}" if missing else "all that a run needs", advice)


def _temporary() -> Finding:
    from lro_conformance.wire.shortage import MIN_FREE_BYTES, lack_of_space

    folder = tempfile.gettempdir()
    free_mib = shutil.disk_usage(folder).free >> 20
    problem = lack_of_space()
    observation = f"{folder}: {free_mib:,} MiB free ({MIN_FREE_BYTES >> 20} are needed)"
    if problem is None and not os.access(folder, os.W_OK | os.X_OK):
        problem = f"{folder} cannot be written: set TMPDIR to another folder"
    return Finding("temporary folder", observation, problem or "")


def _limits() -> Iterator[Finding]:
    from lro_conformance.wire.shortage import limits

    for name, observation, problem in limits():
        yield Finding(name, observation, problem or "")


def _jq() -> Finding:
    from importlib.metadata import version

    binary = shutil.which("jq")
    return Finding(
        "jq", f"libjq {version('jq')}; {binary or 'no jq on the PATH, which only reproducing a failure needs'}"
    )


def _user() -> Finding:
    root = getattr(os, "geteuid", lambda: 1)() == 0
    remark = "root, which can write everywhere: a read-only folder is not tried" if root else "not root"
    return Finding("user", remark)
