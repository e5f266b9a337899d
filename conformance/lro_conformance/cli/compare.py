"""`lro compare`: changes between two reports, or a matrix of several."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lro_conformance.errors import UsageError
from lro_conformance.report.outputs import Outputs, ReportFormat, format_options

FORMATS = (
    ReportFormat("markdown", "Markdown, for a step summary or a comment.", (("", ".compare_views:to_markdown"),)),
    ReportFormat("html", "HTML page in one file, no network access.", (("", ".compare_views:to_html"),)),
)


@click.command()
@click.argument("reports", nargs=-1, type=click.Path(path_type=Path), metavar="OLD NEW")
@click.option("--matrix", "side_by_side", is_flag=True, help="Show any number of reports side by side.")
@click.option(
    "--all",
    "show_all",
    is_flag=True,
    help="With --matrix: include requirements that all reports pass, or that do not apply.",
)
@format_options(FORMATS)
def compare(reports: tuple[Path, ...], side_by_side: bool, show_all: bool, outputs: Outputs) -> int:
    """Show what changed between two reports of `lro certify --json`, or put several side by side.

    Exit code: 0 nothing got worse, 1 something did, 2 the command line is invalid or a report cannot be read. With
    --matrix it is 0 or 2.
    """
    is_complete = len(reports) >= 2 if side_by_side else len(reports) == 2
    if not is_complete:
        expected = "two reports or more" if side_by_side else "two reports, OLD and NEW (for more than two: --matrix)"
        raise UsageError(f"expected {expected}, got {len(reports)}")
    if show_all and not side_by_side:
        raise UsageError("--all requires --matrix")
    from lro_conformance.report.compare import Comparison, matrix
    from lro_conformance.report.compare import compare as compared
    from lro_conformance.report.compare_views import text_lines
    from lro_conformance.report.load import read_report

    outputs.check()
    read = [read_report(path) for path in reports]
    names = [str(path) for path in reports]
    comparison = (
        matrix(read, names, show_all=show_all) if side_by_side else compared(read[0], read[1], (names[0], names[1]))
    )
    outputs.write(comparison)
    stream = sys.stderr if outputs.uses_stdout else sys.stdout
    for line in text_lines(comparison):
        click.echo(line, file=stream)
    return int(isinstance(comparison, Comparison) and comparison.is_worse)
