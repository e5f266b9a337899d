"""`lro judge`: judge recorded evidence again, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lro_conformance.cli.options import ALL_EDITIONS, ReportOptions, known_edition, report_options
from lro_conformance.errors import UsageError

if TYPE_CHECKING:
    from lro_conformance.judging.results import Report
    from lro_conformance.report.terminal import View


@click.command()
@click.option(
    "--level", type=click.IntRange(1, 3), metavar="N", help="Level that you claim, instead of the recorded one."
)
@click.option("--edition", "edition_name", metavar="E", help="Edition to judge by, or all (default: the recorded one).")
@report_options
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def judge(folder: Path, level: int | None, edition_name: str | None, options: ReportOptions) -> int:
    """Judge again what `lro certify --evidence DIR` kept, with the checks of this version. No server is started.

    If you judge by a different edition, requirements for which the run did not look are not-observed. With --edition
    all, the recorded edition decides the exit code, and the others are shown in brief.

    Exit code: as for certify; also 2 if DIR is not evidence, is incomplete, or was changed.
    """
    from dataclasses import replace

    from lro_conformance.engine.judgement import judge_again
    from lro_conformance.evidence.format import EvidenceError
    from lro_conformance.evidence.reader import read
    from lro_spec.editions import EDITIONS

    options.check()
    try:
        stored = read(folder)
    except EvidenceError as problem:
        raise UsageError(str(problem)) from None
    if level is not None:
        stored = replace(stored, profile=replace(stored.profile, level=level))

    recorded = stored.profile.edition
    if edition_name == ALL_EDITIONS:
        editions = [recorded, *(name for name in EDITIONS if name != recorded)]
    else:
        editions = [recorded if edition_name is None else known_edition(edition_name)]

    def run(view: View) -> list[Report]:
        unclaimed = replace(stored, profile=replace(stored.profile, level=None))  # the claim counts for one edition
        with view:
            return [judge_again(stored if n == 0 else unclaimed, view, edition=name) for n, name in enumerate(editions)]

    return options.run_and_render(run)
