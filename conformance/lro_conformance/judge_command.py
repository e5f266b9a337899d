"""`lro judge`: recorded evidence judged again, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lro_conformance.misuse import Misuse
from lro_conformance.showing import EVERY, Showing, known_edition, showing_options

if TYPE_CHECKING:
    from lro_conformance.report.model import Report
    from lro_conformance.report.terminal import View


@click.command()
@click.option(
    "--level", type=click.IntRange(1, 3), metavar="N", help="The level that is claimed, in place of the recorded one."
)
@click.option("--edition", "edition_name", metavar="E", help="The text to judge by, or all (default: as recorded).")
@showing_options
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def judge(folder: Path, level: int | None, edition_name: str | None, showing: Showing) -> int:
    """Judge once more what `lro certify --evidence DIR` kept, with the checks of this version. No server is started.

    By another edition than the recorded one, what was looked at with that one in mind is not observed. With --edition
    all the recorded one decides, and the others are shown in short.

    Exit code: as of certify; 2 also where DIR is no evidence, is incomplete or was changed.
    """
    from dataclasses import replace

    from lro_conformance.engine import judge_again
    from lro_conformance.evidence.layout import EvidenceError
    from lro_conformance.evidence.reader import read
    from lro_spec.editions import EDITIONS

    showing.check()
    try:
        stored = read(folder)
    except EvidenceError as problem:
        raise Misuse(str(problem)) from None
    if level is not None:
        stored = replace(stored, profile=replace(stored.profile, level=level))

    recorded = stored.profile.edition
    if edition_name == EVERY:
        wanted = [recorded, *(name for name in EDITIONS if name != recorded)]
    else:
        wanted = [recorded if edition_name is None else known_edition(edition_name)]

    def make(view: View) -> list[Report]:
        with view:
            return [judge_again(stored, view, edition=name) for name in wanted]

    return showing.show(make)
