"""Start commands of the servers of the three families, and their profiles."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from lro_conformance.trials.extensions import upstream

RUN = Path(__file__).resolve().parent / "run.py"

PROFILE = """\
server:
  command: {command}
operations:
  recall: {{tool: recall_memories, arguments: {{query: "*"}}, query: query, limit: limit, detail: detail}}
  search: {{tool: search_memories, arguments: {{query: memory}}, query: query, limit: limit, detail: detail}}
  inject: {{tool: inject_context, arguments: {{query: "*"}}, query: query, limit: limit, detail: detail}}
seed: {{tool: store_memory, arguments: {{memory: "$memory"}}}}
cleanup: {{tool: run_custodial_task, arguments: {{task: offload_cleanup}}}}
events: notifications
"""
"""The profile of the plain server; that of a variant differs by whole top-level sections."""


PROBE = (sys.executable, "-I", "-S", upstream.__file__)
"""The suite's own server, to be used behind a proxy: it has no memories and does not implement LRO."""


def command(name: str = "") -> list[str]:
    """The command line that starts a server; without a name, the plain one."""
    return [sys.executable, "-I", "-S", str(RUN), *([name] if name else [])]


def profile_text(name: str = "", sections: str = "") -> str:
    """The text of lro.yaml for a server.

    *sections* replaces top-level sections of `PROFILE`, adds others, and leaves out those that it gives as ``null``;
    ``{command}`` in it stands for the command line as a YAML list without its brackets, ``{probe}`` for that of the
    suite's own server.
    """
    words = ", ".join(f'"{word}"' for word in command(name))
    chosen = _sections(PROFILE.format(command=f"[{words}]"))
    probe = ", ".join(f'"{word}"' for word in PROBE)
    chosen |= _sections(sections.replace("{command}", words).replace("{probe}", probe))
    return "".join(text for text in chosen.values() if not text.rstrip().endswith(": null"))


def _sections(text: str) -> dict[str, str]:
    parts = re.split(r"(?m)^(?=\w+:)", text)
    return {part.partition(":")[0]: part.rstrip() + "\n" for part in parts if part.strip()}
