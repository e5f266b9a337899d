"""``lro gain``: the record of the proxy as a table."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import orjson

from lro_proxy.gain.accounts import CEILINGS, Accounts, Ceiling, Entry, entry_of
from lro_proxy.gain.ledger import PATH_VARIABLE, record_path

_COLUMNS = ("calls", "offloaded", "raw", "shown", "descriptors", "read_back", "saved")
_TITLES = ("calls", "offloaded", "raw", "shown", "descriptors", "read back", "saved")


def main(argv: Sequence[str] | None = None) -> int:
    """Print what the proxy saved; returns the exit code (2: an argument is wrong, 3: no record can be read)."""
    flags = _parser().parse_args(sys.argv[1:] if argv is None else list(argv))
    path = flags.record or record_path(os.environ)
    if path is None:
        return _refuse(f"no record is kept: {PATH_VARIABLE} is off, or there is no home directory", 3)
    try:
        ceiling = _ceiling(flags.ceiling)
        since = datetime.now(UTC) - timedelta(days=flags.days) if flags.days is not None else None
    except (ValueError, OverflowError) as problem:
        return _refuse(str(problem), 2)
    if not os.path.exists(path):
        return _refuse(f"there is no record yet at {path}: lro proxy writes it with the first result", 3)
    try:
        accounts = Accounts(ceiling).add_all(_entries(path, since))
    except OSError as problem:
        return _refuse(f"the record cannot be read: {problem.filename}: {problem.strerror}", 3)
    print(_json(accounts) if flags.json else "\n".join(_table(accounts, flags.ceiling)))  # noqa: T201
    return 0


def _entries(path: str, since: datetime | None) -> Iterator[Entry]:
    """The events of a record and of the older record that was set aside (``.1``). Invalid lines are skipped."""
    for name in (f"{path}.1", path):
        if not os.path.exists(name):
            continue
        with open(name, "rb") as file:
            for line in file:
                try:
                    entry = entry_of(orjson.loads(line))
                except ValueError:
                    continue
                if entry is not None and (since is None or entry.at >= since.isoformat(timespec="seconds")):
                    yield entry


def _table(accounts: Accounts, ceiling: str) -> Iterator[str]:
    total = accounts.total
    ordered = sorted(accounts.tools.items(), key=lambda item: (-item[1].saved, item[0]))
    rows = [(name, *(f"{account.to_dict()[column]:,}" for column in _COLUMNS)) for name, account in ordered]
    # What the proxy adds to tools/list belongs to no result, and is subtracted only in the net sum below.
    rows.append(("all results", *(f"{total.to_dict()[c] + total.listed * (c == 'saved'):,}" for c in _COLUMNS)))
    table = [("tool", *_TITLES), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for row in table:
        cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        yield f"{row[0].ljust(widths[0])}  {'  '.join(cells)}"
    yield ""
    inline_results = total.calls - total.offloaded
    yield f"inline        {total.inline:,} tokens in {inline_results:,} results, which stayed as they came"
    yield f"tools/list    {total.listed:,} tokens added"
    yield (
        f"net           {total.saved:,} tokens saved"
        if total.saved >= 0
        else f"net           {-total.saved:,} tokens lost"
    )
    rule = "each client's, by its name" if ceiling == "auto" else ceiling
    yield f"shown         what the client would have shown of the offloaded results (ceiling: {rule})"
    yield "read back     through the proxy or its server; what a shell reads from the files is not counted"
    if total.offloaded:
        tokens_per_result = (total.saved + total.read_back) / total.offloaded
        yield f"break-even    {tokens_per_result:,.0f} tokens read back for each offloaded result"


def _json(accounts: Accounts) -> str:
    tools = {name: account.to_dict() for name, account in sorted(accounts.tools.items())}
    return json.dumps({"total": accounts.total.to_dict(), "tools": tools}, indent=2)


def _ceiling(text: str) -> Ceiling | None:
    if text == "auto":
        return None
    if text in CEILINGS:
        return CEILINGS[text]
    if text.isascii() and text.isdigit():
        return Ceiling(int(text), int(text))
    raise ValueError(f"--ceiling must be auto, {', '.join(CEILINGS)} or a number of characters, not {text!r}")


def _refuse(why: str, code: int) -> int:
    sys.stderr.write(f"lro gain: {why}\n")
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lro gain",
        epilog="example: lro gain --ceiling claude-code --days 30",
        description="Show what lro proxy saved, in estimated tokens: losses are negative, and costs are subtracted.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--ceiling",
        default="auto",
        metavar="CLIENT|N",
        help="what a client shows of a large result anyway: auto (by the client's name; default), "
        f"{', '.join(CEILINGS)}, or N characters",
    )
    parser.add_argument("--days", type=float, metavar="N", help="only the last N days")
    parser.add_argument(
        "--record", metavar="FILE", help=f"record to read (default: the one that lro proxy writes, see {PATH_VARIABLE})"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
