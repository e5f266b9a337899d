"""The families of tools that read offloaded files or shorten conversations, and the flag that names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lro_reference.settings import SettingsError, suggestion

FAMILIES = ("extract", "virtual", "scratchpad", "compaction")


def add_tools_flag(parser: Any) -> None:
    """Add ``--tools`` to an argparse parser; `selected_families` reads it."""
    parser.add_argument(
        "--tools",
        metavar="FAMILY,…",
        help=f"add tools that read offloaded files, for clients without a shell: {', '.join(FAMILIES)} (ATLATL_TOOLS)",
    )


def selected_families(flags: Any, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The requested families of tools, without repetitions. Raises `SettingsError` if a family is unknown."""
    text, where = (environ.get("ATLATL_TOOLS", ""), "ATLATL_TOOLS") if flags.tools is None else (flags.tools, "--tools")
    requested = [name.strip() for name in text.split(",") if name.strip()]
    for name in requested:
        if name not in FAMILIES:
            raise SettingsError(f"{where}: {name!r} is not a family of tools; {suggestion(name, list(FAMILIES))}")
    return tuple(dict.fromkeys(requested))
