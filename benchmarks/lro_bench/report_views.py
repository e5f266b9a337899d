"""Renderings of a report: JSON, Markdown, and one HTML page with the paper's figures beside ours."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lro_bench.agents import NULL_AGENTS
from lro_bench.conditions import conditions
from lro_bench.corpus import PAPER_SIZES
from lro_bench.paper import Figures, published
from lro_bench.report import Cell, Pair, Report
from lro_bench.svg import grouped_bars, heat_map
from lro_bench.tasks import FAMILIES, fewer_tasks
from lro_bench.templates import page
from lro_conformance.report.sanitize import one_line
from lro_conformance.version import version

SOURCES = {
    "paper": "The paper's 21 conditions",
    "control": "Controls: the effects of the paper's limits",
    "today": "What people use today",
}


def to_json(report: Report) -> str:
    """The report as JSON (schemas/bench-report.schema.json)."""
    return json.dumps(report.to_dict(), ensure_ascii=False, indent=1) + "\n"


# --- tables


def reach_tables(report: Report, agent: str = "oracle") -> Iterator[tuple[str, list[tuple[str, str, list[str]]]]]:
    """The title and the rows of a table for each source of conditions.

    A row has the condition, the family, and a text for each size.
    """
    for source, title in SOURCES.items():
        rows: list[tuple[str, str, list[str]]] = []
        for name, condition in conditions().items():
            for family in condition.families:
                cells_by_size = [report.cell(agent, name, family, n) for n in report.sizes]
                if condition.source == source and any(cells_by_size):
                    rows.append((name, family, [_reach_text(cell) for cell in cells_by_size]))
        if rows:
            yield title, rows


def _reach_text(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    if cell.unreachable is not None and cell.agent == "oracle":
        return str(cell.unreachable)
    return f"{cell.correct}/{cell.tasks}, {cell.total_tokens:,.0f} tokens, {cell.turns:.3g} turns"


def null_rows(report: Report) -> list[tuple[str, list[str]]]:
    """Rows of a table of the agents that see nothing: agent and family, and the share of right answers at each size."""
    rows: list[tuple[str, list[str]]] = []
    for agent in [agent for agent in NULL_AGENTS if agent in report.agents]:
        for family in FAMILIES:
            cells = [
                next((c for c in report.cells if (c.agent, c.family, c.n) == (agent, family, n)), None)
                for n in report.sizes
            ]
            if any(cells):
                scores = ["–" if c is None else f"{c.correct}/{c.tasks}" for c in cells]
                rows.append((f"{agent}, {family}", scores))
    return rows


def detail_row(cell: Cell) -> list[str]:
    """All measures of a cell, as the cells of a row of a table (`DETAIL_COLUMNS`)."""
    low, high = cell.interval
    tokens_until_right = "–" if cell.tokens_until_right is None else f"{cell.tokens_until_right:,.0f}"
    turns_until_right = "–" if cell.turns_until_right is None else f"{cell.turns_until_right:.1f}"
    queries = ", ".join(f"{count} {kind}" for kind, count in cell.queries.items())
    return [
        f"{cell.correct}/{cell.tasks}",
        f"{100 * low:.0f}–{100 * high:.0f} %",
        f"{cell.total_tokens:,.0f} ({cell.total_tokens_interval[0]:,.0f}–{cell.total_tokens_interval[1]:,.0f})",
        f"{cell.fresh_tokens:,.0f}",
        f"{cell.cached_tokens:,.0f}",
        tokens_until_right,
        turns_until_right,
        f"{100 * cell.access_ratio:.1f} %",
        f"{cell.correct_of_saw_all}/{cell.saw_all}",
        ", ".join(f"{count} {stop}" for stop, count in cell.stops.items()),
        queries or "–",
        "–" if cell.cost is None else f"${cell.cost:.4f}",
    ]


DETAIL_COLUMNS = (
    *("right", "95 %", "tokens a task (95 %)", "billed in full", "cached", "tokens until right", "turns until right"),
    *("records read", "right if all records seen", "ends", "queries", "cost"),
)


def pair_row(pair: Pair) -> list[str]:
    """A comparison, as the cells of a row of a table (`PAIR_COLUMNS`)."""
    interval = pair.savings_interval
    savings_text = "–" if pair.savings is None else f"{100 * pair.savings:+.1f} %"
    if interval is not None:
        savings_text += f" ({100 * interval[0]:+.1f} to {100 * interval[1]:+.1f}; {pair.compared} tasks)"
    right_alone = f"{pair.only_first} : {pair.only_second}"
    return [
        pair.agent,
        pair.first,
        pair.second,
        pair.family,
        str(pair.n),
        right_alone,
        f"{pair.p:.3g}",
        f"{pair.p_holm:.3g}",
        savings_text,
    ]


PAIR_COLUMNS = ("agent", "first", "second", "family", "n", "right alone", "p", "p (Holm)", "tokens saved by the first")


def to_markdown(report: Report) -> str:
    """The report as Markdown."""
    lines = ["# lro-bench", "", *facts(report), "", *summary_lines(report)]
    for agent in [agent for agent in report.agents if agent not in NULL_AGENTS]:
        lines += [f"## All measures: {_cell(agent)}", "", *_table(("condition", "family", "n", *DETAIL_COLUMNS))]
        lines += [
            _line([cell.condition, cell.family, str(cell.n), *detail_row(cell)])
            for cell in report.cells
            if cell.agent == agent
        ]
        lines.append("")
    return "\n".join(lines)


def summary_lines(report: Report) -> list[str]:
    """The report without the measures of each cell, as lines of Markdown."""
    sizes = [f"n = {n:,}" for n in report.sizes]
    lines: list[str] = []
    if "oracle" in report.agents:
        lines += ["## What can be reached at all", "", REACH_TEXT, ""]
        for title, rows in reach_tables(report):
            lines += [f"### {title}", "", *_table(("condition", "family", *sizes))]
            lines += [_line([name, family, *cells]) for name, family, cells in rows]
            lines.append("")
    if nulls := null_rows(report):
        lines += ["## Agents that see nothing", "", NULLS_TEXT, "", *_table(("agent, family", *sizes))]
        lines += [_line([name, *scores]) for name, scores in nulls]
        lines.append("")
    lines += ["## Limits and tools", "", *_table(("condition", "limits", "tools (most characters of a result)"))]
    lines += [_line(row) for row in limit_rows(report)]
    lines.append("")
    if report.pairs:
        lines += ["## Comparisons task by task", "", COMPARED_TEXT, "", *_table(PAIR_COLUMNS)]
        lines += [_line(pair_row(pair)) for pair in report.pairs]
        lines.append("")
    return lines


NULLS_TEXT = (
    "If one of these agents does well in a family, the family measures nothing. *constant* gives the most frequent "
    "answer, *random* a random one that fits the question."
)
REACH_TEXT = (
    "The oracle knows how many records there are, makes all independent calls of a turn at once, and never errs. Where "
    "it fails, no model can succeed except by guessing. A scripted agent measures the conditions, not a model."
)
COMPARED_TEXT = (
    "The same tasks under two conditions. p: McNemar's exact test on right answers; Holm corrects for all comparisons "
    "of an agent. Tokens are compared only where both are right; a negative saving means that the first takes more."
)


def facts(report: Report) -> list[str]:
    """Sentences on what was run."""
    samples = sum(cell.tasks for cell in report.cells)
    agents = ", ".join(one_line(agent, 60) for agent in report.agents)
    sizes = ", ".join(f"{n:,}" for n in report.sizes)
    families = {cell.family for cell in report.cells}
    return [
        f"{samples:,} samples; agents: {agents}; corpora of {sizes} records.",
        *(f"{one_line(str(unfinished_run), 400)}." for unfinished_run in report.unfinished),
        "Tokens are counted by o200k for scripted agents, and as the provider reports them for models.",
        *(f"At n = {n:,}, {why}." for n in report.sizes for why in fewer_tasks(n) if why.split()[0] in families),
    ]


def limit_rows(report: Report) -> list[list[str]]:
    """Limits and tools of each condition that was run."""
    rows: list[list[str]] = []
    for name, condition in conditions().items():
        if any(cell.condition == name for cell in report.cells):
            max_characters = dict(condition.delivery.outputs)
            tools = ", ".join(
                f"{tool} (≤ {max_characters[tool]:,})" if tool in max_characters else tool
                for tool in condition.delivery.tools
            )
            rows.append([name, str(condition.limits), tools])
    return rows


def _table(columns: Sequence[str]) -> list[str]:
    return [_line(columns), f"|{'---|' * len(columns)}"]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return one_line(text, 300).replace("|", "\\|").replace("<", "&lt;")


# --- the page


def to_html(report: Report) -> str:
    """The report as one HTML page."""
    sizes = [f"n = {n:,}" for n in report.sizes]
    return page(
        "report",
        facts=facts(report),
        reach_text=REACH_TEXT,
        reach=list(reach_tables(report)) if "oracle" in report.agents else [],
        sizes=sizes,
        nulls=null_rows(report),
        limits=limit_rows(report),
        details=DETAIL_COLUMNS,
        agents=[
            (
                one_line(agent, 60),
                [(c.condition, c.family, c.n, detail_row(c)) for c in report.cells if c.agent == agent],
            )
            for agent in report.agents
            if agent not in NULL_AGENTS
        ],
        compared=COMPARED_TEXT,
        pair_columns=PAIR_COLUMNS,
        pairs=[pair_row(pair) for pair in report.pairs],
        figures=list(figures(report, published())),
        version=version(),
    )


def figures(report: Report, paper: Figures) -> Iterator[dict[str, Any]]:
    """The paper's six figures: the values of the paper, and our values for each agent that calls tools."""
    size_names = [f"n = {n}" for n in PAPER_SIZES]
    agents = [agent for agent in report.agents if agent not in NULL_AGENTS]

    def ours(condition: str, family: str, agent: str, value: Callable[[Cell], float | None]) -> list[float | None]:
        cells = [report.cell(agent, condition, family, n) for n in PAPER_SIZES]
        return [None if cell is None else value(cell) for cell in cells]

    def ratio(first: str, second: str, family: str, agent: str) -> list[float | None]:
        pairs = zip(
            ours(first, family, agent, lambda c: c.tokens_until_right),
            ours(second, family, agent, lambda c: c.tokens_until_right),
            strict=True,
        )
        return [round(a / b, 3) if a and b else None for a, b in pairs]

    def percent_correct(cell: Cell) -> float:
        return round(100 * cell.correct / cell.tasks, 1)

    models = {"Haiku 4.5": 0, "GPT-5-mini": 1}
    lookup = "id_lookup/paper"
    strategies = ("LRO", "Inline", "Inline+Code", "Summary", "Truncation")
    yield _figure(
        "Figure 1. Count accuracy of E1 by strategy, percent; the dashed line is 70 %",
        *[
            (
                model,
                grouped_bars(
                    model, size_names, {s: paper["table3"][s][column::2] for s in strategies}, maximum=100, line=70
                ),
            )
            for model, column in models.items()
        ],
        *[
            (
                agent,
                grouped_bars(
                    agent,
                    size_names,
                    {s: ours(f"E1/{s}", lookup, agent, percent_correct) for s in strategies},
                    maximum=100,
                    line=70,
                ),
            )
            for agent in agents
        ],
    )
    yield _figure(
        "Figure 2. Tokens of LRO ÷ tokens of inline (E1); below 1, LRO saves tokens. Ours compares with inline without "
        "the message limit, where both are right",
        (
            "paper",
            grouped_bars(
                "paper", size_names, {m: paper["table5"]["ratio"][column::2] for m, column in models.items()}, line=1
            ),
        ),
        (
            "ours",
            grouped_bars(
                "ours", size_names, {a: ratio("E1/LRO", "control/Inline open", lookup, a) for a in agents}, line=1
            ),
        ),
    )
    low, high = paper["claims"]["access_ratio"]
    access = {a: ours("E1/LRO", lookup, a, lambda c: round(100 * c.access_ratio, 2)) for a in agents}
    yield _figure(
        f"Figure 3. Records read by the LRO arm of E1, percent. The paper says {100 * low:.1f} to {100 * high:.1f} %",
        ("ours", grouped_bars("ours", size_names, access, maximum=10, line=100 * high)),
    )
    ablation = ("C1", "C2", "C3", "C4", "C5")
    columns = [f"{m} {n}" for n in PAPER_SIZES for m in ("H", "G")]
    yield _figure(
        "Figure 4. Count accuracy of E2 by parts of the descriptor, percent",
        (
            "paper (H: Haiku 4.5, G: GPT-5-mini)",
            heat_map("paper", columns, {row: paper["table6"][row] for row in ablation}),
        ),
        *[
            (
                agent,
                heat_map(
                    agent, size_names, {row: ours(f"E2/{row}", lookup, agent, percent_correct) for row in ablation}
                ),
            )
            for agent in agents
        ],
    )
    yield _figure(
        "Figure 5. Tokens of C1 ÷ tokens of C5 by size. The published figure's values are not in the text",
        (
            "ours, where both are right",
            grouped_bars("ours", size_names, {a: ratio("E2/C1", "E2/C5", lookup, a) for a in agents}, line=1),
        ),
    )
    goal = {a: ours("E3/Recipe", lookup, a, lambda c: 100 * (c.goal_achievement or 0)) for a in agents}
    yield _figure(
        "Figure 6. Goal achievement of E3, percent: queries that use the library of recipes. It has no recipe for the "
        "task of E3, so the shortest query, one grep, scores 0",
        *[
            (
                model,
                grouped_bars(
                    model,
                    size_names,
                    {row: paper["table9"][row][column::2] for row in ("Recipe", "NoRecipe")},
                    maximum=100,
                ),
            )
            for model, column in models.items()
        ],
        ("ours, Recipe", grouped_bars("ours", size_names, goal, maximum=100)),
    )


def _figure(title: str, *plots: tuple[str, Any]) -> dict[str, Any]:
    return {"title": title, "plots": [{"name": one_line(name, 60), "svg": svg} for name, svg in plots]}
