"""Guidance of descriptors whose files can be read by tools instead of a shell."""

from __future__ import annotations

from collections.abc import Sequence

from lro_proxy.payload.guide import PART_SCHEMA, TEXT_SCHEMA
from lro_proxy.payload.recipes import with_pattern
from lro_spec.messages import OffloadResponse

_WITH_EXTRA = "its `extra` holds what came with the records"
"""Words in the guidance by `payload.guide` if the header has ``extra``. This module replaces that guidance."""


def guidance(response: OffloadResponse, noun: str, tool_names: Sequence[str]) -> str:
    """Advice that names the tools by which this server's clients read the file."""
    summary = response.summary
    noun = "lines of text" if noun == "records" and response.line_schema in (TEXT_SCHEMA, PART_SCHEMA) else noun
    lines = [
        f"Results offloaded to a JSONL file ({summary.count} {noun}, ~{summary.estimated_tokens} tokens saved).",
        f"File: {response.file_path}",
        f"Detail level: {summary.detail}.",
    ]
    if summary.detail == "light" and noun == "memories":
        lines[-1] += " Content is empty at this level: ask again with detail medium or full to search it."
    if "lro_extract" in tool_names:
        way = "as `recipe`, the number of a recipe above" if response.jq_recipes else "as `query`, a jq filter"
        lines.append(f"Read it with the tool lro_extract: it takes this file_path and, {way}.")
        lines += _EXAMPLES if noun == "memories" else _generated_examples(response)
    others = [name for name in tool_names if name != "lro_extract"]
    if others:
        lines.append(f"These tools read it{', too' * ('lro_extract' in tool_names)}: {', '.join(others)}.")
    header = "a header with metadata"
    if others and _WITH_EXTRA in response.guidance:
        header = f"a header, and {_WITH_EXTRA}"
    lines.append(f"Line 1 of the file is {header}; records start at line 2. No shell is needed.")
    return "\n".join(lines)


def brief_guidance(response: OffloadResponse, noun: str, tool_names: Sequence[str]) -> str:
    """Advice in two sentences, for a small descriptor."""
    summary = response.summary
    noun = "lines of text" if response.line_schema in (TEXT_SCHEMA, PART_SCHEMA) else noun
    way = "this file_path and a jq filter as `query`" if "lro_extract" in tool_names else "this file"
    saved = f"{summary.count} {noun}, ~{summary.estimated_tokens} tokens saved"
    return f"JSONL file ({saved}; line 1 is a header). {', '.join(tool_names)} can read it: {way}."


_EXAMPLES = (
    "- browse: recipe #1",
    '- filter: recipe #2 with params {"namespace": "…"}, or #3 with params {"keyword": "…"}',
    "- analyse: recipe #8 (how many in each namespace)",
    "- anything else: a jq filter as `query`, such as {id, title}",
)


def _generated_examples(response: OffloadResponse) -> list[str]:
    """Examples of calls for recipes that were generated for the file."""
    lines = ['- less at a time: params {"n": 20, "skip": 0}']
    for number, recipe in enumerate(response.jq_recipes, 1):
        if with_pattern(recipe.command) is not None:
            lines.append(f'- a word: recipe #{number} with params {{"keyword": "…"}}')
            break
    return [*lines, "- anything else: a jq filter as `query`, for each record"]
