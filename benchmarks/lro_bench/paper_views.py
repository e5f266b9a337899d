"""Renderings of the recomputed paper: terminal, JSON, Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from lro_bench.material import timings
from lro_bench.paper import Comparison, Figures

FORMAT = "lro-bench-paper/1"
VERDICTS = ("equal", "within rounding", "contradicts", "not reproducible without a model", "measured here")
TITLES = {
    "design": "Design",
    "theory": "Formulae and the worked example",
    "table1": "Table 1: savings by access ratio and size",
    "table2": "Table 2: savings of others, as cited",
    "table3": "Table 3: E1 count accuracy",
    "table4": "Table 4: E1 tokens",
    "table5": "Table 5: E1 LRO against inline",
    "table6": "Table 6: E2 count accuracy",
    "table7": "Table 7: E2 means",
    "table8": "Table 8: E3 count accuracy",
    "table9": "Table 9: E3 goal achievement",
    "table10": "Table 10: E3 pattern alignment",
    "table11": "Table 11: E4",
    "cross_model": "Cross-model table",
    "claims": "Claims of the prose",
    "confounds": "Confounds",
    "material": "Material: records, descriptors, pages",
}


def sections(comparisons: Sequence[Comparison]) -> Iterator[tuple[str, list[Comparison]]]:
    """The title and the comparisons of each section."""
    for key, title in TITLES.items():
        yield title, [comparison for comparison in comparisons if comparison.id.partition("/")[0] == key]


def counts(comparisons: Sequence[Comparison]) -> dict[str, int]:
    """Number of comparisons by verdict."""
    counter = Counter(comparison.verdict for comparison in comparisons)
    return {verdict: counter[verdict] for verdict in VERDICTS}


def summary(comparisons: Sequence[Comparison]) -> str:
    """The counts as a sentence."""
    return ", ".join(f"{number} {verdict}" for verdict, number in counts(comparisons).items())


def text_lines(comparisons: Sequence[Comparison], *, verbose: bool) -> Iterator[str]:
    """The comparisons for a terminal. Without *verbose*, comparisons that need a model are only counted."""
    for title, members in sections(comparisons):
        visible = [
            comparison for comparison in members if verbose or comparison.verdict != "not reproducible without a model"
        ]
        hidden_count = len(members) - len(visible)
        yield ""
        yield title + (f" ({hidden_count} figures need a model: -v)" if hidden_count else "")
        width = max((len(comparison.what) for comparison in visible), default=0)
        for comparison in visible:
            why = f"  ({comparison.why})" if comparison.why else ""
            ours = f" | ours {comparison.ours}" if comparison.ours else ""
            published = f"published {comparison.published}" if comparison.published else "not published"
            yield f"  {comparison.what.ljust(width)}  {published}{ours} | {comparison.verdict}{why}"
    yield ""
    yield f"{len(comparisons)} figures: {summary(comparisons)}"


def timing_lines(figures: Figures) -> Iterator[str]:
    """Times on this machine beside the published ones."""
    measured = timings()
    published = {"write": figures["claims"]["file_write_ms"], "start of grep": "50 to 100", "start of jq": "50 to 100"}
    yield ""
    yield "Times on this machine, 500 records, 100 rounds (the paper's machine is unknown)"
    for name, times in measured.items():
        program = name.removeprefix("start of ")
        ours = f"median {times[0]:.1f} ms, 95th percentile {times[1]:.1f} ms" if times else f"no {program} on the PATH"
        yield f"  {name}: published {published[name]} ms | ours {ours}"


def to_json(comparisons: Sequence[Comparison]) -> str:
    """The comparisons as JSON."""
    data = {
        "format": FORMAT,
        "counts": counts(comparisons),
        "comparisons": [asdict(comparison) for comparison in comparisons],
    }
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def to_markdown(comparisons: Sequence[Comparison]) -> str:
    """The comparisons as Markdown."""
    lines = ["# The paper, recomputed", "", f"{len(comparisons)} figures: {summary(comparisons)}.", ""]
    for title, members in sections(comparisons):
        lines += [f"## {title}", "", "| figure | published | ours | verdict | how |", "|---|---|---|---|---|"]
        lines += [
            f"| {_cell(comparison.what)} | {_cell(comparison.published)} | {_cell(comparison.ours)} "
            f"| {_verdict(comparison)} | {_cell(comparison.why)} |"
            for comparison in members
        ]
        lines.append("")
    return "\n".join(lines)


def _verdict(comparison: Comparison) -> str:
    return f"**{comparison.verdict}**" if comparison.verdict == "contradicts" else comparison.verdict


def _cell(text: str) -> str:
    return text.replace("|", "\\|") or "–"
