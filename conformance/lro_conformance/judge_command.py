"""`lro judge`: recorded evidence judged again, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lro_conformance.misuse import Misuse
from lro_conformance.showing import Showing, showing_options

if TYPE_CHECKING:
    from lro_conformance.report.model import Report
    from lro_conformance.report.terminal import View


@click.command()
@click.option(
    "--level", type=click.IntRange(1, 3), metavar="N", help="The level that is claimed, in place of the recorded one."
)
@showing_options
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def judge(folder: Path, level: int | None, showing: Showing) -> int:
    """Judge once more what `lro certify --evidence DIR` kept, with the checks of this version. No server is started.

    Exit code: as of certify; 2 also where DIR is no evidence, is incomplete or was changed.
    """
    from dataclasses import replace

    from lro_conformance.engine import judge_again
    from lro_conformance.evidence.layout import EvidenceError
    from lro_conformance.evidence.reader import read

    showing.check()
    try:
        stored = read(folder)
    except EvidenceError as problem:
        raise Misuse(str(problem)) from None
    if level is not None:
        stored = replace(stored, profile=replace(stored.profile, level=level))

    def make(view: View) -> Report:
        with view:
            return judge_again(stored, view)

    return showing.show(make)
