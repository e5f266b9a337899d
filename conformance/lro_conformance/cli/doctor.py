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
    found: str
    advice: str = ""
    """Advice if it is missing or too small; empty otherwise."""


@click.command()
def doctor() -> int:
    """Check that this machine has what a run needs: packages, temporary space, open files, memory, jq, permissions.

    Exit code: 0 no problem was found, 3 there is a problem.
    """
    found = list(findings())
    for each in found:
        click.echo(f"{'problem' if each.advice else 'ok':<8} {each.name:<18} {each.found}")
        if each.advice:
            click.echo(f"{'':<8} {'':<18} {each.advice}")
    return EXIT_NO_VERDICT if any(each.advice for each in found) else EXIT_OK


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
    from lro_conformance.wire.shortage import LEAST_BYTES, lack_of_space

    place = tempfile.gettempdir()
    free = shutil.disk_usage(place).free >> 20
    lack = lack_of_space()
    found = f"{place}: {free:,} MiB free ({LEAST_BYTES >> 20} are needed)"
    if lack is None and not os.access(place, os.W_OK | os.X_OK):
        lack = f"{place} cannot be written: set TMPDIR to another folder"
    return Finding("temporary folder", found, lack or "")


def _limits() -> Iterator[Finding]:
    from lro_conformance.wire.shortage import limits

    for name, found, lack in limits():
        yield Finding(name, found, lack or "")


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
