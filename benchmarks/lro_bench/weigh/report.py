"""Renderings of the weights of a server: terminal, JSON, Markdown, HTML."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from lro_bench.ceilings import CEILINGS
from lro_bench.svg import bar
from lro_bench.templates import page
from lro_bench.weigh.measure import QUERY_RECORDS, Weight, compact
from lro_bench.weigh.weighing import Row, Weights
from lro_conformance.report.formats.json import dump
from lro_conformance.report.sanitize import one_line
from lro_conformance.version import version

CLIENTS = ("claude-code", "codex", "deepagents")
"""Clients that have a column in tables. The HTML pages and the JSON have all clients of `CEILINGS`."""
COLUMNS = (
    "tool",
    "tokens",
    "cl100k",
    "chars/4",
    "bytes",
    "twice",
    "form",
    "Claude Code",
    "Codex",
    "deepagents",
    "LRO",
    "+ query",
)
LEGEND = {
    "tokens": "text and structured content together, by o200k",
    "cl100k": "the same by cl100k",
    "chars/4": "the same as characters ÷ 4",
    "bytes": "of the line that carried the result",
    "twice": "text and structured content hold the same, so that it is sent twice",
    "form": "what the result looks like",
    "cut by itself": "the word by which the server says that its result is incomplete",
    "Claude Code, Codex, deepagents": "tokens of what the client shows of the structured content, or else of the text",
    "(file)": "the rest is in a file",
    "(cut)": "the rest is lost",
    "LRO": "tokens of the descriptor in its place; inline: the result stays as it is, at this threshold; itself: the "
    "server has offloaded it",
    "+ query": f"the descriptor and a query that prints {QUERY_RECORDS} records, with its output",
}
"""Meaning of the columns and of the words in them."""


def to_json(weights: Weights) -> str:
    """The report as JSON (schemas/weights.schema.json)."""
    return dump(weights.to_dict())


def facts(weights: Weights) -> str:
    """A sentence on the server and its tools, or on why nothing was weighed."""
    name = f"{one_line(weights.server, 80) or 'unnamed server'} {one_line(weights.version, 40)}".strip()
    if weights.tools is None:
        return f"{name}: nothing was weighed: {one_line(weights.failure, 500)}"
    growth = weights.tools.tokens_proxied - weights.tools.tokens
    return (
        f"{name}: {weights.tools.count} tools, which take "
        f"{weights.tools.tokens:,} tokens of every conversation ({growth:+,} behind lro proxy). Threshold: "
        f"{weights.threshold:,} tokens."
    )


def sentence(weight: Weight) -> str:
    """A sentence on the weight of a result."""
    parts = [
        f"{weight.reply_bytes:,} bytes",
        f"{weight.text_characters:,} characters of text, {weight.structured_characters:,} of structured content",
    ]
    if weight.blocks > 1:
        parts.append(f"{weight.blocks:,} blocks")
    if weight.duplication == "both":
        parts.append("both hold the same, so it is sent twice")
    fields = ", ".join(one_line(name, 30) for name in weight.fields[:8]) or "lines or values without fields"
    parts.append(f"{weight.form}; {weight.records:,} records ({fields})")
    if weight.cuts_itself:
        parts.append(f'the server says that it is incomplete ("{one_line(weight.cuts_itself, 30)}")')
    if weight.is_offloaded:
        parts.append("the server has offloaded it itself")
    return "; ".join(parts) + "."


def cells(row: Row) -> tuple[str, ...]:
    """The cells of a call in a table. If there is no weight, all cells but the tool's name are empty."""
    weight = row.weight
    if weight is None:
        return (row.tool, *[""] * (len(COLUMNS) - 1))

    def client_cell(name: str) -> str:
        part = weight.clients[name]
        suffix = "" if not part.is_cut else " (file)" if part.is_saved else " (cut)"
        return f"{part.tokens:,}{suffix}"

    descriptor = "inline" if weight.descriptor_tokens is None else f"{weight.descriptor_tokens:,}"
    query = "" if weight.query_tokens is None else f"{(weight.descriptor_tokens or 0) + weight.query_tokens:,}"
    return (
        row.tool,
        f"{weight.tokens['o200k']:,}",
        f"{weight.tokens['cl100k']:,}",
        f"{weight.tokens['characters/4']:,}",
        f"{weight.reply_bytes:,}",
        "yes" if weight.duplication == "both" else "",
        weight.form,
        *(client_cell(name) for name in CLIENTS),
        "itself" if weight.is_offloaded else descriptor,
        query,
    )


def text_lines(weights: Weights) -> Iterator[str]:
    """The report for a terminal or a pipe."""
    yield facts(weights)
    weighed = [row for row in weights.rows if row.weight is not None]
    if weighed:
        table = [COLUMNS, *(tuple(map(one_line, cells(row))) for row in weighed)]
        max_widths = {"form": 60}
        widths = [
            min(max_widths.get(name, 28), max(len(line[column]) for line in table))
            for column, name in enumerate(COLUMNS)
        ]
        left_aligned = (0, 6)
        for line in table:
            padded = [
                one_line(cell, width).ljust(width) if column in left_aligned else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            ]
            yield "  ".join(padded).rstrip()
        yield from (
            "",
            *(f"  {name}: {text}" for name, text in legend_entries(COLUMNS)),
            f"  {client_rules(CLIENTS)}",
            "",
        )
    for row in weights.rows:
        if row.reason:
            yield f"{one_line(row.tool, 60)}: {one_line(row.reason, 400)}"


def to_markdown(weights: Weights) -> str:
    """The report as Markdown."""
    lines = [f"# Weights of {_cell(weights.server or 'the server')}", "", _cell(facts(weights)), ""]
    if weights.rows:
        lines += [f"| {' | '.join(COLUMNS)} | reason |", f"|{'---|' * (len(COLUMNS) + 1)}"]
        lines += [f"| {' | '.join(map(_cell, (*cells(row), row.reason)))} |" for row in weights.rows]
        lines += ["", *legend(COLUMNS), ""]
    return "\n".join(lines)


def legend_entries(columns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The entries of `LEGEND` for a table with these columns."""
    for name, text in LEGEND.items():
        if name.startswith("(") or set(name.split(", ")) & set(columns):
            yield name, text


def legend(columns: Sequence[str]) -> list[str]:
    """Explanation of the columns of a table, as paragraphs of Markdown."""
    return [" ".join(f"*{name}*: {text}." for name, text in legend_entries(columns)), "", client_rules(CLIENTS)]


def client_rules(names: Sequence[str]) -> str:
    """Sentences on the rules of the clients with these names."""
    rules = "; ".join(f"{CEILINGS[name].title}: {CEILINGS[name].rule}" for name in names)
    return f"No client was run: its published rule was applied to the result. {rules}."


def to_html(weights: Weights) -> str:
    """The report as one HTML page."""
    rows: list[dict[str, Any]] = []
    largest_result = max([row.weight.tokens["o200k"] for row in weights.rows if row.weight is not None], default=1)
    for row in weights.rows:
        entry: dict[str, Any] = {
            "tool": one_line(row.tool, 100),
            "arguments": one_line(compact(row.arguments), 200),
            "title": row.title,
            "reason": one_line(row.reason, 600),
            "bars": [],
            "sentence": "",
        }
        if row.weight is not None:
            entry["sentence"] = sentence(row.weight)
            entry["bars"] = [
                {
                    "name": name,
                    "tokens": f"{tokens:,}",
                    "bar": bar(tokens / max(1, largest_result), colour),
                    "note": note,
                }
                for name, tokens, colour, note in _bars(row.weight)
            ]
        rows.append(entry)
    return page(
        "weights",
        server=one_line(weights.server, 100) or "a server",
        command=one_line(shlex.join(weights.command), 300),
        facts=facts(weights),
        is_failed=weights.tools is None,
        rows=rows,
        rules=client_rules([name for name in CEILINGS if name != "none"]),
        version=version(),
    )


def _bars(weight: Weight) -> Iterator[tuple[str, int, int, str]]:
    yield "the whole result", weight.tokens["o200k"], 0, "text and structured content"
    for name, part in weight.clients.items():
        note = "whole" if not part.is_cut else "preview; the rest is in a file" if part.is_saved else "the rest is lost"
        yield CEILINGS[name].title, part.tokens, 1, note
    if weight.descriptor_tokens is not None:
        yield "LRO descriptor", weight.descriptor_tokens, 2, "the rest is in a file"
        query_tokens = weight.query_tokens or 0
        yield "LRO descriptor and a query", weight.descriptor_tokens + query_tokens, 2, f"{QUERY_RECORDS} records"


def _cell(text: str) -> str:
    return one_line(text, 400).replace("|", "\\|").replace("<", "&lt;")
