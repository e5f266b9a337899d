"""`lro validate`: check documents and print findings."""

from __future__ import annotations

import sys

import click

from lro_conformance.errors import EXIT_USAGE, UsageError

_KINDS = ["descriptor", "header", "file", "profile", "report"]
_FORMATS = ["text", "json", "sarif", "github"]


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH… [-]")
@click.option(
    "--kind",
    type=click.Choice(_KINDS),
    metavar="KIND",
    help=f"Treat every PATH as this kind instead of detecting it: {', '.join(_KINDS)}.",
)
@click.option("--follow", is_flag=True, help="Check each descriptor together with its file.")
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="text",
    metavar="FORM",
    help=f"Output format: {', '.join(_FORMATS)}.",
)
@click.option(
    "--max-findings",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    metavar="N",
    help="Show at most N findings and count the rest; 0: show all, as they are found (SARIF: at the end).",
)
@click.option("--edition", "edition_name", metavar="E", help="Edition to validate against (default: lro-6400).")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0.1),
    metavar="S",
    help="Give up on a pipe after S seconds, or after a tenth of that without a byte (default: 600).",
)
@click.option("-q", "--quiet", is_flag=True, help="Show findings only, without the summary line.")
def validate(
    paths: tuple[str, ...],
    kind: str | None,
    follow: bool,
    form: str,
    max_findings: int,
    edition_name: str | None,
    timeout_s: float | None,
    quiet: bool,
) -> int:
    """Check descriptors, headers, JSONL files, profiles and reports. The kind is detected.

    PATH is a file (or one compressed with gzip), a directory (all LRO documents in it), a pattern like
    'out/**/*.jsonl', or - for standard input.

    Exit code: 0 no errors, 1 errors, 2 the command line is invalid, a path cannot be read, its kind cannot be
    detected, or no LRO document was found.
    """
    import gc

    from lro_conformance.cli.streams import report_error, required_output
    from lro_conformance.patience import TIMEOUT_S
    from lro_conformance.report.sanitize import one_line
    from lro_conformance.validate.document import Document, UnknownKindError
    from lro_conformance.validate.output import FindingsPrinter, UnreadableError
    from lro_conformance.validate.paths import NothingFoundError, input_files
    from lro_conformance.validate.progress import Meter
    from lro_conformance.validate.visited_files import VisitedFiles, descriptors_first
    from lro_spec.editions import edition

    # Parsed documents have no cycles, and looking for cycles costs a fifth of the time.
    gc.set_threshold(100_000, 20, 20)
    try:
        valid_edition = edition(edition_name or "lro-6400").name
        inputs = descriptors_first(input_files(paths)) if follow else input_files(paths)
    except (ValueError, NothingFoundError) as problem:
        raise UsageError(str(problem)) from None
    visited = VisitedFiles()
    with Meter(sys.stderr, inputs) as meter:
        printer = FindingsPrinter(
            form, required_output(sys.stdout), max_findings or None, quiet=quiet, before_each_finding=meter.hide
        )
        for input_file in inputs:
            # `--follow` has validated the files in `visited` together with their descriptors.
            if kind in (None, "file") and input_file.path in visited:
                continue
            document = Document(
                input_file.path,
                kind,
                valid_edition,
                named=input_file.named,
                follow=follow,
                wrap_stream=meter.watched,
                visited=visited,
                timeout_s=timeout_s or TIMEOUT_S,
            )
            try:
                printer.add(document)
            except UnknownKindError as problem:
                if input_file.named:
                    printer.unread += 1
                    meter.hide()
                    report_error(f"lro validate: {problem}")
                else:
                    printer.skipped += 1
            except UnreadableError as problem:
                printer.unread += 1
                meter.hide()
                report_error(f"lro validate: {one_line(input_file.path)}: {problem}")
    if not printer.documents and not printer.unread:
        others = f"{printer.skipped} other {'file' if printer.skipped == 1 else 'files'} skipped"
        raise UsageError(f"no LRO document in {', '.join(paths)}: {others}")
    printer.end()
    return EXIT_USAGE if printer.unread else int(printer.counts["error"] > 0)
