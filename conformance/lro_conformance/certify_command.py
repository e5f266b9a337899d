"""`lro certify`: a server judged over stdio."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lro_conformance.misuse import Misuse
from lro_conformance.report.outputs import PROFILE_NAME
from lro_conformance.showing import EDITION_HELP, EVERY, Showing, known_edition, showing_options

if TYPE_CHECKING:
    from lro_conformance.profile import Profile
    from lro_conformance.report.model import Report
    from lro_conformance.report.terminal import View


# From the first word that is no option on, all is the server's.
@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--profile",
    "profile_path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"How to start and call the server (default: {PROFILE_NAME} of the working directory, if there is one).",
)
@click.option("--edition", "edition_name", metavar="E", help=EDITION_HELP)
@click.option(
    "--level", type=click.IntRange(1, 3), metavar="N", help="The level that is claimed: exit 0 only when it is proved."
)
@click.option(
    "--evidence",
    "evidence",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep all that was observed in DIR, for `lro judge DIR`: a new, empty or earlier folder of evidence.",
)
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Servers at a time (default: a core each).")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Replay the choices of an earlier run.")
@showing_options
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ARG…]")
def certify(
    profile_path: Path | None,
    edition_name: str | None,
    level: int | None,
    evidence: Path | None,
    jobs: int | None,
    seed: int | None,
    showing: Showing,
    command: tuple[str, ...],
) -> int:
    """Judge a server over stdio: which level it has proved, and what is wrong with the rest.

    COMMAND starts the server. It stands instead of the profile's; without a profile the usual names are tried.

    With --edition all one run is judged by every edition: by the profile's own as ever, and in short by the others,
    whose files have the edition in their names (report.json, report.lro-paper.json).

    Exit code: 0 what was claimed holds (without a claim: no MUST failed), 1 it does not, 2 the call or the profile is
    wrong, 3 no verdict.
    """
    showing.check()
    every = edition_name == EVERY
    profile = _profile(profile_path, command, None if every else edition_name, level)
    lost: list[str] = []

    def make(view: View) -> tuple[Report, ...]:
        reports, problem = _run(profile, seed, jobs, evidence, view, every=every)
        lost.extend([problem] if problem is not None else [])
        return reports

    return showing.of(profile_path).show(make, lambda: next(iter(lost), None))


def _profile(path: Path | None, command: tuple[str, ...], edition_name: str | None, level: int | None) -> Profile:
    from dataclasses import replace

    from lro_conformance.profile import Profile, ProfileError, load
    from lro_conformance.profile.model import DEFAULT_EDITION

    if path is None and Path(PROFILE_NAME).is_file():
        path = Path(PROFILE_NAME)
        click.echo(f"lro: using {PROFILE_NAME} of the working directory", err=True)
    if path is None and not command:
        raise Misuse(f"nothing to certify: give a server's command after --, or a profile ({PROFILE_NAME})")
    edition = None if edition_name is None else known_edition(edition_name)
    try:
        if path is not None:
            profile = load(path, command=command, edition=edition)
        else:
            profile = Profile.for_command(command, edition=edition or DEFAULT_EDITION)
    except ProfileError as problem:
        raise Misuse(str(problem)) from None
    return replace(profile, level=level) if level is not None else profile


def _run(
    profile: Profile, seed: int | None, jobs: int | None, evidence: Path | None, view: View, *, every: bool
) -> tuple[tuple[Report, ...], str | None]:
    """The report, or one of each edition, and what kept evidence from being complete."""
    from lro_conformance.engine import certify as run
    from lro_conformance.evidence.layout import EvidenceError
    from lro_conformance.profile import ProfileError
    from lro_conformance.wire.orphans import adopting

    # A run keeps nearly all that it makes: looking for garbage as often as usual takes a tenth of its time.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        with adopting(), view:
            if every:
                from lro_conformance.engine import certify_by_all

                return certify_by_all(profile, seed=seed, jobs=jobs, observer=view, evidence=evidence), None
            return (run(profile, seed=seed, jobs=jobs, observer=view, evidence=evidence),), None
    except ProfileError as problem:  # what only the server's list of tools shows
        raise Misuse(str(problem)) from None
    except EvidenceError as problem:
        if problem.report is None:
            raise Misuse(f"--evidence: {problem}") from None
        return (problem.report,), f"--evidence: {problem}"
    except BrokenPipeError as problem:  # not our output's: main would take it for that and be quiet
        raise RuntimeError("a pipe to a server broke unnoticed") from problem
