"""Writes the page of published servers: ``python -m tests.tools.results [--cache DIR] [NAME…]``.

Each server of the register (benchmarks/lro_bench/data/register.yaml) is installed once into the cache, weighed, and
certified, alone and behind `lro proxy`. docs/results.json keeps what was found, so that some NAMEs can be tried again;
docs/results.md and docs/results/ are made from it and from the reports. Nothing else is run: a server without network
or without a program that it needs has a reason in its row.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from lro_bench.weigh.register import Entry, InstallError, command_of, entries, make_data, weigh_entry
from lro_conformance.engine.run import certify
from lro_conformance.judging.results import Report
from lro_conformance.profile import profile_for_command
from lro_conformance.report.compare import matrix
from lro_conformance.report.compare_views import to_html
from lro_conformance.report.formats.badge import badge
from lro_conformance.report.sanitize import one_line
from lro_conformance.wire.subreaper import adopt_orphans
from tests.support.paths import ROOT

PAGE, KEPT, BOARD = ROOT / "docs/results.md", ROOT / "docs/results.json", ROOT / "docs/results/scoreboard.html"
MADE = "<!-- Made by python -m tests.tools.results; do not edit. -->"
TIMEOUT_S = 240.0
PROXY = (str(Path(sys.executable).with_name("lro")), "proxy", "--")

LEAD = """\
What `lro certify` says of published servers, none of which was written for LRO, and what `lro proxy` makes of them.
Their versions are pinned, and their data are made files: [weights of published servers](register.md) has the digests,
and each call in full. One command makes this page: `python -m tests.tools.results`.

- *alone*: the badge of `lro certify -- SERVER`. "without LRO" is no blame: levels 1 and 2 leave offloading to a server,
  if a result that could have been offloaded came inline. "no verdict": no tool sounds like recall, search or inject, so
  nothing was called, or what was called returned nothing that could have been offloaded.
- *behind `lro proxy`*: the verdict on the requirements of the `proxy` group, which decide no level.
- *largest result*: in tokens (o200k), as the server returns it. *offloaded*: the descriptor that stands in its place,
  and with a query that prints ten records.
"""


def tried(entry: Entry, cache: Path, data: Path) -> tuple[dict[str, Any], Report | None]:
    """The facts found about a server, and the report on it alone."""
    row: dict[str, Any] = {"name": entry.name, "package": entry.package, "ecosystem": entry.ecosystem}
    try:
        command, env, _ = command_of(entry, cache, data)
    except InstallError as problem:
        return {**row, "reason": one_line(str(problem), 200)}, None
    alone = certified(command, env, data)
    proxied = certified([*PROXY, *command], env, data)
    weighed = weigh_entry(entry, cache, data)
    weights = weighed.weights
    found = [w.weight for w in weights.rows if w.weight is not None] if weights is not None else []
    largest = max(found, key=lambda w: w.tokens["o200k"], default=None)
    row |= {
        "version": alone.server.version,
        "alone": badge(alone).message,
        "achieved": alone.achieved,
        "proxy": proxied.extensions.get("proxy", "not-observed"),
        "proxy_failures": [
            r.requirement.id
            for r in proxied.requirements
            if r.requirement.group == "proxy" and r.verdict.label == "fail"
        ],
        "reason": one_line(weighed.skipped, 200),
    }
    if largest is not None:
        row |= {
            "largest": largest.tokens["o200k"],
            "descriptor": largest.descriptor_tokens,
            "query": largest.query_tokens,
        }
    return row, alone


def certified(command: list[str], env: dict[str, str], data: Path) -> Report:
    """The report on a server in the folder of made files."""
    profile = profile_for_command(command)
    server = replace(profile.server, env={**profile.server.env, **env}, cwd=str(data))
    return certify(replace(profile, server=server), seed=1, timeout_s=TIMEOUT_S)


def page(rows: list[dict[str, Any]]) -> str:
    """The page, from what was found."""
    order = sorted(rows, key=lambda r: (bool(r.get("reason")), -r.get("achieved", 0), -(r.get("largest") or 0)))
    lines = [
        "| server | alone | behind lro proxy | largest result | offloaded | + query |",
        "|---|---|---|---:|---:|---:|",
        *map(_line, order),
    ]
    proxied = [r for r in rows if r.get("proxy") == "pass"]
    saved = [r for r in rows if r.get("descriptor")]
    total, left = sum(r["largest"] for r in saved), sum(r["descriptor"] for r in saved)
    summary = (
        f"{len(rows)} servers; {len(proxied)} pass the requirements of the proxy behind `lro proxy`. Of their largest "
        f"results {len(saved)} are above the threshold: {total:,} tokens, which {left:,} tokens of descriptors replace."
    )
    more = "[The scoreboard](results/scoreboard.html) compares all reports, requirement by requirement."
    return "\n".join(["# Results", "", MADE, "", LEAD, summary, more, "", *lines, ""])


def _line(row: dict[str, Any]) -> str:
    package, _, version = row["package"].replace("==", "@").rpartition("@")
    name = f"{package} {version} ({row['ecosystem']})"
    if "alone" not in row:
        return f"| {name} | {row['reason']} | | | | |"

    def number(key: str) -> str:
        value = row.get(key)
        return "" if value is None else f"{value:,}"

    failures = f": {', '.join(row['proxy_failures'])}" if row["proxy_failures"] else ""
    descriptor = number("descriptor") or ("inline" if row.get("largest") is not None else row["reason"])
    cells = [
        name,
        row["alone"],
        f"{row['proxy']}{failures}",
        number("largest"),
        descriptor,
        "" if row.get("query") is None else f"{row['descriptor'] + row['query']:,}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    arguments = argparse.ArgumentParser(description="Certify and weigh the servers of the register.")
    arguments.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "lro-spec" / "register")
    arguments.add_argument("--page", action="store_true", help="only write the page again")
    arguments.add_argument("names", nargs="*", metavar="NAME")
    given = arguments.parse_args()
    known = {row["name"]: row for row in json.loads(KEPT.read_text(encoding="utf-8"))} if KEPT.exists() else {}
    if not given.page:
        cache = given.cache.resolve()
        data = make_data(cache / "data")
        reports: list[tuple[Report, str]] = []
        with adopt_orphans(), tempfile.TemporaryDirectory() as folder:
            for name, entry in entries().items():
                if given.names and name not in given.names:
                    continue
                own = Path(folder) / name  # servers may change their files
                shutil.copytree(data, own)
                print(name, flush=True)
                row, report = tried(entry, cache, own)
                print(row, flush=True)
                known[name] = row
                if report is not None:
                    reports.append((report, name))
        KEPT.write_text(json.dumps(list(known.values()), indent=1) + "\n", encoding="utf-8")
        if not given.names:
            BOARD.parent.mkdir(exist_ok=True)
            made = matrix([r for r, _ in reports], [n for _, n in reports])
            BOARD.write_text(to_html(made), encoding="utf-8")
    PAGE.write_text(page(list(known.values())), encoding="utf-8")


if __name__ == "__main__":
    main()
