"""`lro compare`: two reports, or several servers side by side."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lro_conformance.misuse import Misuse
from lro_conformance.report.outputs import Form, Outputs, form_options

FORMS = (
    Form("markdown", "Markdown, for a step summary or a comment.", (("", "compared:to_markdown"),)),
    Form("html", "A page for people: one file, no network.", (("", "compared:to_html"),)),
)


@click.command()
@click.argument("reports", nargs=-1, type=click.Path(path_type=Path), metavar="OLD NEW")
@click.option(
    "--matrix", "side_by_side", is_flag=True, help="Any number of reports side by side, mostly of other servers."
)
@click.option("--all", "every", is_flag=True, help="With --matrix: also what all of them pass.")
@form_options(FORMS)
def compare(reports: tuple[Path, ...], side_by_side: bool, every: bool, outputs: Outputs) -> int:
    """Say what changed between two reports of `lro certify --json`, or put several side by side.

    Exit code: 0 nothing got worse, 1 something did, 2 a report cannot be read. With --matrix it is 0 or 2.
    """
    wanted = len(reports) >= 2 if side_by_side else len(reports) == 2
    if not wanted:
        asked = "two reports or more" if side_by_side else "two reports, OLD and NEW (more: --matrix)"
        raise Misuse(f"expected {asked}, got {len(reports)}")
    if every and not side_by_side:
        raise Misuse("--all belongs to --matrix")
    from lro_conformance.report.compared import text_lines
    from lro_conformance.report.comparing import Comparison, matrix
    from lro_conformance.report.comparing import compare as compared
    from lro_conformance.report.reading import read_report

    outputs.check()
    read = [read_report(path) for path in reports]
    names = [str(path) for path in reports]
    made = matrix(read, names, every=every) if side_by_side else compared(read[0], read[1], (names[0], names[1]))
    outputs.write(made)
    stream = sys.stderr if outputs.takes_stdout else sys.stdout
    for line in text_lines(made):
        click.echo(line, file=stream)
    return int(isinstance(made, Comparison) and made.worse)
