"""Writes the pages of results: ``python -m tests.tools.bench_pages RUN REGISTER``.

RUN is the folder of a run of the scripted agents, or several separated by commas; REGISTER is the one of
``lro weigh --register``. docs/bench-paper.md needs neither.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from lro_bench.paper import compare, published
from lro_bench.paper_views import to_markdown
from lro_bench.report import report_of
from lro_bench.report_views import facts, summary_lines
from tests.support.paths import ROOT

PAPER, RESULTS, REGISTER = ROOT / "docs/bench-paper.md", ROOT / "docs/bench-results.md", ROOT / "docs/register.md"
MADE = "<!-- Made by python -m tests.tools.bench_pages; do not edit. -->"


def paper_page() -> str:
    """The page of the recomputed paper."""
    title, _, rest = to_markdown(compare(published())).partition("\n")
    lead = (
        "What `lro bench paper -v` prints: each published figure beside what follows from the paper's own formulae and "
        "tables. *measured here* is a measurement of our implementation or corpus, not a verdict. How to read "
        "it: [What offloading buys](bench.md)."
    )
    return f"{title}\n\n{MADE}\n\n{lead}\n{rest}"


def results_page(runs: Sequence[Path]) -> str:
    """The page of the scripted agents."""
    report = report_of(runs)
    lead = (
        "What scripted agents reach, without any model. How to read it, and what it does not show: "
        "[What offloading buys](bench.md)."
    )
    return "\n".join(["# Results without a model", "", MADE, "", lead, "", *facts(report), "", *summary_lines(report)])


def register_page(folder: Path) -> str:
    """The page of the published servers."""
    lead = (
        "What `lro weigh --register` found: published servers in pinned versions, with made files. "
        "[What your server's results weigh](weigh.md) explains the columns."
    )
    return (
        f"# Weights of published servers\n\n{MADE}\n\n{lead}\n\n{(folder / 'register.md').read_text(encoding='utf-8')}"
    )


def main() -> None:
    PAPER.write_text(paper_page(), encoding="utf-8")
    if len(sys.argv) > 1:
        RESULTS.write_text(results_page([Path(name) for name in sys.argv[1].split(",")]), encoding="utf-8")
    if len(sys.argv) > 2:
        REGISTER.write_text(register_page(Path(sys.argv[2])), encoding="utf-8")


if __name__ == "__main__":
    main()
