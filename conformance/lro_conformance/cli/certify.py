"""`lro certify`: certify a server over stdio."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lro_conformance import PROFILE_NAME
from lro_conformance.cli.options import ALL_EDITIONS, EDITION_HELP, ReportOptions, known_edition, report_options
from lro_conformance.errors import UsageError

BUDGETS = {"quick": 3, "standard": 8, "thorough": 300}
"""Number of sequences that the explorer tries, by the name of a budget."""

TIMEOUTS_S = {"quick": 600.0, "standard": 600.0, "thorough": 3600.0}
"""Longest time of a run, by the name of its budget."""

if TYPE_CHECKING:
    from lro_conformance.judging.results import Report
    from lro_conformance.profile import Profile
    from lro_conformance.report.terminal import View


# the first word that is not an option begins the command of the server
@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--profile",
    "profile_path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"How to start and call the server (default: {PROFILE_NAME} in the working directory, if it exists).",
)
@click.option("--edition", "edition_name", metavar="E", help=EDITION_HELP)
@click.option(
    "--level", type=click.IntRange(1, 3), metavar="N", help="Level that you claim: exit 0 only if it is proved."
)
@click.option(
    "--evidence",
    "evidence",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep everything that is observed, for `lro judge DIR`. DIR must be new, empty, or hold earlier evidence.",
)
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Maximum concurrent servers (default: one per core)."
)
@click.option(
    "--budget",
    type=click.Choice(list(BUDGETS)),
    metavar="B",
    default="standard",
    help="How much is explored: quick, standard (the default) or thorough.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=1),
    metavar="S",
    help="End the run after S seconds and report what is known (default: 600; with --budget thorough: 3600).",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Repeat the random choices of an earlier run.")
@report_options
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ARG…]")
def certify(
    profile_path: Path | None,
    edition_name: str | None,
    level: int | None,
    evidence: Path | None,
    jobs: int | None,
    budget: str,
    timeout_s: float | None,
    seed: int | None,
    options: ReportOptions,
    command: tuple[str, ...],
) -> int:
    """Certify a server over stdio: report which level it has proved, and what is wrong with the rest.

    COMMAND starts the server and overrides the profile's command. Without a profile, tools and settings are found by
    their documented names.

    With --edition all, the profile's edition decides and is shown in full. The others follow in short; their files
    have the edition in the name (report.json, report.lro-paper.json).

    Exit code: 0 the claim holds (without a claim: no MUST failed), 1 it does not hold, 2 the call or the profile is
    wrong, 3 no verdict.
    """
    options.check()
    all_editions = edition_name == ALL_EDITIONS
    profile = _profile(profile_path, command, None if all_editions else edition_name, level)
    problems: list[str] = []

    def run(view: View) -> tuple[Report, ...]:
        reports, problem = _certify(
            profile,
            view,
            all_editions=all_editions,
            seed=seed,
            jobs=jobs,
            evidence=evidence,
            examples=BUDGETS[budget],
            timeout_s=timeout_s or TIMEOUTS_S[budget],
        )
        problems.extend([problem] if problem is not None else [])
        return reports

    return options.for_profile(profile_path).run_and_render(run, lambda: next(iter(problems), None))


def _profile(path: Path | None, command: tuple[str, ...], edition_name: str | None, level: int | None) -> Profile:
    from dataclasses import replace

    from lro_conformance.profile import ProfileError, load, profile_for_command
    from lro_spec.editions import DEFAULT_EDITION

    if path is None and Path(PROFILE_NAME).is_file():
        path = Path(PROFILE_NAME)
        click.echo(f"lro: using {PROFILE_NAME} of the working directory", err=True)
    if path is None and not command:
        raise UsageError(f"nothing to certify: pass the command of a server after --, or a profile ({PROFILE_NAME})")
    edition = None if edition_name is None else known_edition(edition_name)
    try:
        if path is not None:
            profile = load(path, command=command, edition=edition)
        else:
            profile = profile_for_command(command, edition=edition or DEFAULT_EDITION)
    except ProfileError as problem:
        raise UsageError(str(problem)) from None
    return replace(profile, level=level) if level is not None else profile


def _certify(profile: Profile, view: View, *, all_editions: bool, **how: Any) -> tuple[tuple[Report, ...], str | None]:
    """Certify a server: the report, or one for each edition, and the reason for which evidence is incomplete.

    *how* is passed to `lro_conformance.engine.run.certify`.
    """
    from lro_conformance.engine.run import certify as run
    from lro_conformance.evidence.format import EvidenceError
    from lro_conformance.profile import ProfileError
    from lro_conformance.wire.subreaper import adopt_orphans

    # a run keeps almost all objects that it allocates; default collection takes a tenth of its time
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        with adopt_orphans(), view:
            if all_editions:
                from lro_conformance.engine.run import certify_by_all

                return certify_by_all(profile, observer=view, **how), None
            report = run(profile, observer=view, **how)
            return (report,), None
    except ProfileError as problem:  # problems that only the tools of the server reveal
        raise UsageError(str(problem)) from None
    except EvidenceError as problem:
        if problem.report is None:
            raise UsageError(f"--evidence: {problem}") from None
        return (problem.report,), f"--evidence: {problem}"
    except BrokenPipeError as problem:  # main would mistake it for a closed standard output and be silent
        raise RuntimeError("a pipe to a server broke unnoticed") from problem
