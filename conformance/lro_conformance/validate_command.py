"""The command `lro validate`: which documents are meant, how findings are shown, what the shell is told."""

from __future__ import annotations

import sys

import click

from lro_conformance.misuse import MISUSE, Misuse

_KINDS = ["descriptor", "header", "file", "profile", "report"]
_FORMATS = ["text", "json", "sarif", "github"]


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH… [-]")
@click.option(
    "--kind",
    type=click.Choice(_KINDS),
    metavar="KIND",
    help=f"What each PATH is, where it is not found by itself: {', '.join(_KINDS)}.",
)
@click.option("--follow", is_flag=True, help="Open a descriptor's file too, and check the two together.")
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="text",
    metavar="FORM",
    help=f"How findings are told: {', '.join(_FORMATS)}.",
)
@click.option(
    "--max-findings",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    metavar="N",
    help="Show N findings at the most, and count the rest; 0: show all, in the order of reading.",
)
@click.option("--edition", "edition_name", metavar="E", help="The text to judge by (default: lro-6400).")
@click.option("-q", "--quiet", is_flag=True, help="Findings only, without the line that sums up.")
def validate(
    paths: tuple[str, ...],
    kind: str | None,
    follow: bool,
    form: str,
    max_findings: int,
    edition_name: str | None,
    quiet: bool,
) -> int:
    """Check descriptors, headers, JSONL files, profiles and reports; what each is, is found by itself.

    PATH is a file, also one of gzip or zstd; a folder, for everything of LRO in it; a pattern like 'out/**/*.jsonl'; or
    - for standard input.

    Exit code: 0 nothing is wrong, 1 something is, 2 a path cannot be read or its kind not be told.
    """
    import gc

    from lro_conformance.chosen_paths import NothingFoundError, chosen
    from lro_conformance.documents import Document, UnknownKindError
    from lro_conformance.led_to import LedTo, files_last
    from lro_conformance.report.findings import Telling, UnreadableError
    from lro_conformance.report.meter import Meter
    from lro_conformance.report.text import one_line
    from lro_conformance.standard_streams import complain, must_be_read
    from lro_spec.editions import edition

    # What is parsed has no cycles, and a collector that looks for them costs a fifth of the time.
    gc.set_threshold(100_000, 20, 20)
    try:
        known = edition(edition_name or "lro-6400").name
        found = files_last(chosen(paths)) if follow else chosen(paths)
    except (ValueError, NothingFoundError) as problem:
        raise Misuse(str(problem)) from None
    led_to = LedTo()
    with Meter(sys.stderr, found) as meter:
        telling = Telling(form, must_be_read(sys.stdout), max_findings or None, quiet=quiet, before=meter.hide)
        for each in found:
            if kind in (None, "file") and each.path in led_to:
                continue
            document = Document(
                each.path,
                kind,
                known,
                named=each.named,
                follow=follow,
                opened=meter.watched,
                passed=meter.add,
                led_to=led_to,
            )
            try:
                telling.tell(document)
            except UnknownKindError as problem:
                if each.named:
                    telling.unread += 1
                    meter.hide()
                    complain(f"lro validate: {problem}")
                else:
                    telling.skipped += 1
            except UnreadableError as problem:
                telling.unread += 1
                meter.hide()
                complain(f"lro validate: {one_line(each.path)}: {problem}")
    if not telling.documents and not telling.unread:
        others = f"{telling.skipped} {'file' if telling.skipped == 1 else 'files'} of another kind passed over"
        raise Misuse(f"nothing of LRO in {', '.join(paths)}: {others}")
    telling.end()
    return MISUSE if telling.unread else int(telling.counts["error"] > 0)
