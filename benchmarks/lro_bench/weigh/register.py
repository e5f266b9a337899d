"""The register: published servers, which are installed in pinned versions into a cache and weighed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from xml.sax.saxutils import escape

import yaml

from lro_bench.conditions import DATA
from lro_bench.corpus import SEED, Dice
from lro_bench.weigh.calls import call_of, fill_placeholders
from lro_bench.weigh.report import cells, legend, to_json
from lro_bench.weigh.weighing import Weights, weigh
from lro_conformance.errors import UsageError
from lro_conformance.report.sanitize import one_line

FORMAT = "lro-register/1"
COLUMNS = (
    *("server", "version", "call", "tokens", "bytes", "twice", "form", "cut by itself", "Claude Code", "Codex"),
    *("deepagents", "LRO", "+ query", "reason"),
)
INSTALL_TIMEOUT_S = 300
CALL_TIMEOUT_S = 90.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A server of the register."""

    name: str
    ecosystem: str
    """``npm`` or ``pypi``."""
    package: str
    """Name and version, as the package manager takes them."""
    further_requirements: tuple[str, ...]
    """Requirements that have to be installed, too, because the package does not state them."""
    program: str
    arguments: tuple[str, ...]
    env: Mapping[str, str]
    needs: str
    """A program that has to be on the PATH. Empty if the server does not need one."""
    calls: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class WeighedServer:
    """A server with its weights, or the reason why it was skipped."""

    entry: Entry
    weights: Weights | None
    digest: str
    """Digest of the package, as its registry states it."""
    skipped: str = ""


class InstallError(RuntimeError):
    """A server cannot be installed; the message is one line."""


def entries() -> dict[str, Entry]:
    """The servers of the register by name."""
    data: Any = yaml.safe_load((DATA / "register.yaml").read_text(encoding="utf-8"))
    return {name: entry_of(name, members) for name, members in data["servers"].items()}


def entry_of(name: str, members: Mapping[str, Any]) -> Entry:
    """A server from its entry in the register's file."""
    ecosystem = "npm" if "npm" in members else "pypi"
    return Entry(
        name=name,
        ecosystem=ecosystem,
        package=members[ecosystem],
        further_requirements=tuple(members.get("with", ())),
        program=members["program"],
        arguments=tuple(members.get("arguments", ())),
        env=members.get("env", {}),
        needs=members.get("needs", ""),
        calls=tuple(members["calls"]),
    )


def weigh_register(names: Sequence[str], cache: Path, say: Callable[[str], object]) -> list[WeighedServer]:
    """Install and weigh servers of the register (default: all). Raises `UsageError` for an unknown name."""
    all_entries = entries()
    if unknown := [name for name in names if name not in all_entries]:
        raise UsageError(f"--only {unknown[0]}: expected one of {', '.join(all_entries)}")
    data = make_data(cache / "data")
    weighed: list[WeighedServer] = []
    for name in names or all_entries:
        say(f"{name}: {all_entries[name].package}")
        server = weigh_entry(all_entries[name], cache, data)
        weighed.append(server)
        if server.skipped:
            say(f"{name}: skipped: {server.skipped}")
    return weighed


def weigh_entry(entry: Entry, cache: Path, data: Path) -> WeighedServer:
    """Install one server, and weigh it. If the server does not work, the result says why."""
    try:
        command, env, digest = command_of(entry, cache, data)
    except InstallError as problem:
        return WeighedServer(entry, None, "", str(problem))
    values = _values(data)
    calls = [call_of(call, f"register: {entry.name}", values) for call in entry.calls]
    weights = weigh(command, calls, timeout_s=CALL_TIMEOUT_S, env=env, cwd=str(data))
    return WeighedServer(entry, weights, digest, weights.failure)


def command_of(entry: Entry, cache: Path, data: Path) -> tuple[list[str], dict[str, str], str]:
    """Install a server; returns its command, its environment and the digest of its package. Raises `InstallError`."""
    if entry.needs and shutil.which(entry.needs) is None:
        raise InstallError(f"needs {entry.needs}, which is not on the PATH")
    program, digest = install(entry, cache)
    values = _values(data)
    command = [program, *(cast("str", fill_placeholders(argument, values)) for argument in entry.arguments)]
    return command, {key: cast("str", fill_placeholders(value, values)) for key, value in entry.env.items()}, digest


def _values(data: Path) -> dict[str, str]:
    return {"data": str(data), "text": (data / "text.txt").read_text(encoding="utf-8")}


# --- installing


def install(entry: Entry, cache: Path) -> tuple[str, str]:
    """Install a server once; returns its program and the digest of its package. Raises `InstallError`."""
    key = hashlib.sha256(json.dumps([entry.package, entry.further_requirements]).encode()).hexdigest()[:8]
    folder = cache / f"{entry.name}-{key}"
    record_path = folder / "installed.json"
    if not record_path.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        program, digest = _install_npm(entry, folder) if entry.ecosystem == "npm" else _install_pypi(entry, folder)
        if not Path(program).exists():
            raise InstallError(f"{entry.package} has no program {entry.program}")
        record_path.write_text(json.dumps({"program": program, "digest": digest}), encoding="utf-8")
    record = json.loads(record_path.read_text(encoding="utf-8"))
    return record["program"], record["digest"]


def _install_npm(entry: Entry, folder: Path) -> tuple[str, str]:
    options = ["--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts", f"--prefix={folder}"]
    _run_installer(
        ["npm", "install", *options, entry.package, *entry.further_requirements], {"PUPPETEER_SKIP_DOWNLOAD": "1"}
    )
    lock = json.loads((folder / "node_modules" / ".package-lock.json").read_text(encoding="utf-8"))
    name = entry.package.rpartition("@")[0]
    digest = lock["packages"][f"node_modules/{name}"].get("integrity", "")
    return str(folder / "node_modules" / ".bin" / entry.program), digest


def _install_pypi(entry: Entry, folder: Path) -> tuple[str, str]:
    _run_installer([sys.executable, "-m", "venv", str(folder / "venv")])
    report = folder / "report.json"
    pip = [str(folder / "venv" / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    _run_installer([*pip, f"--report={report}", entry.package, *entry.further_requirements])
    name = entry.package.partition("==")[0].replace("_", "-").lower()
    installed = json.loads(report.read_text(encoding="utf-8"))["install"]
    matching = [package for package in installed if package["metadata"]["name"].replace("_", "-").lower() == name]
    hashes: Any = matching[0]["download_info"].get("archive_info", {}).get("hashes", {}) if matching else {}
    return str(folder / "venv" / "bin" / entry.program), f"sha256:{hashes['sha256']}" if "sha256" in hashes else ""


def _run_installer(command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
    if shutil.which(command[0]) is None:
        raise InstallError(f"{command[0]} is not installed here")
    try:
        completed = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT_S,
            check=False,
            env={**os.environ, **(env or {})},
        )
    except subprocess.TimeoutExpired:
        raise InstallError(f"the installation took more than {INSTALL_TIMEOUT_S} s") from None
    if completed.returncode:
        output = [line.strip() for line in (completed.stderr or completed.stdout).splitlines() if line.strip()]
        raise InstallError(f"the installation failed: {one_line(' | '.join(output[-2:]), 240)}")


# --- the files that servers read


def make_data(folder: Path, *, rows: int = 5000, nodes: int = 800, modules: int = 60, types: int = 120) -> Path:
    """Make the files that servers read, unless they exist, and return their folder.

    The files have the same bytes each time.
    """
    if (folder / "text.txt").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "code").mkdir(parents=True)
    orders = list(_orders(rows))
    (folder / "orders.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in orders), encoding="utf-8")
    with closing(sqlite3.connect(folder / "orders.db")) as database:
        database.execute(f"CREATE TABLE orders ({', '.join(map(str, orders[0]))})")
        database.executemany(f"INSERT INTO orders VALUES ({', '.join('?' * len(orders[0]))})", orders[1:])
        database.commit()
    _write_workbook(orders, folder / "orders.xlsx")
    (folder / "graph.jsonl").write_text("".join(json.dumps(line) + "\n" for line in _graph(nodes)), encoding="utf-8")
    for number in range(modules):
        (folder / "code" / f"module_{number:02}.py").write_text(_module(number), encoding="utf-8")
    (folder / "schema.graphql").write_text(_schema(types), encoding="utf-8")
    _make_repository(folder)
    (folder / "text.txt").write_text(
        "".join(f"line {number:05} of the text\n" for number in range(1200)), encoding="utf-8"
    )
    return folder


def _orders(count: int) -> Iterator[tuple[object, ...]]:
    dice = Dice(SEED, "orders")
    yield "id", "customer", "product", "quantity", "price", "status", "ordered_at", "note"
    for number in range(1, count + 1):
        status = dice.pick(("open", "paid", "shipped", "returned"))
        day = f"2025-{dice.integer(1, 12):02}-{dice.integer(1, 28):02}"
        product, note = f"product-{dice.integer(1, 120)}", dice.pick(("gift", "call first", "leave at the door", ""))
        price = f"{dice.integer(100, 99999) / 100:.2f}"
        yield number, f"customer-{dice.integer(1, 800):04}", product, dice.integer(1, 9), price, status, day, note


def _graph(nodes: int) -> Iterator[dict[str, Any]]:
    dice = Dice(SEED, "graph")
    for number in range(nodes):
        facts = [f"observation {dice.integer(1, 9999)} about node {number}" for _ in range(3)]
        yield {
            "type": "entity",
            "name": f"node-{number}",
            "entityType": dice.pick(("person", "place")),
            "observations": facts,
        }
    for number in range(nodes - 1):
        yield {"type": "relation", "from": f"node-{number}", "to": f"node-{number + 1}", "relationType": "knows"}


def _module(number: int) -> str:
    dice = Dice(SEED, "module", number)
    parts = [f'"""Module {number}."""\n']
    for function in range(30):
        value = dice.integer(1, 99)
        parts.append(
            f"\n\ndef function_{function}(value: int) -> int:\n"
            f'    """Adds {value}."""\n    if value > {dice.integer(1, 99)}:\n        return value + {value}\n'
            "    return value\n"
        )
    return "".join(parts)


def _schema(count: int) -> str:
    types = [
        f"type Type{number} {{\n  id: ID!\n  name: String\n  size: Int\n  next: Type{(number + 1) % count}\n}}\n"
        for number in range(count)
    ]
    return "type Query {\n  all: [Type0]\n}\n\n" + "\n".join(types)


_WORKBOOK_PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default '
    'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override '
    'PartName="/xl/worksheets/sheet1.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="orders" '
    'sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": "<Relationships "
    'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/></Relationships>',
}
"""The parts of a workbook with one sheet, apart from the sheet."""


def _write_workbook(rows: Sequence[Sequence[object]], path: Path) -> None:
    """Write the rows as an Excel workbook."""
    cells = "".join(
        "<row>" + "".join(f'<c t="inlineStr"><is><t>{escape(str(value))}</t></is></c>' for value in row) + "</row>"
        for row in rows
    )
    namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in {
            **_WORKBOOK_PARTS,
            "xl/worksheets/sheet1.xml": _sheet(namespace, cells, f"A1:H{len(rows)}"),
        }.items():
            file.writestr(zipfile.ZipInfo(name, (2025, 1, 1, 0, 0, 0)), f'<?xml version="1.0" encoding="UTF-8"?>{part}')


def _sheet(namespace: str, cells: str, cell_range: str) -> str:
    return f'<worksheet xmlns="{namespace}"><dimension ref="{cell_range}"/><sheetData>{cells}</sheetData></worksheet>'


def _make_repository(folder: Path) -> None:
    """Make a git repository with one commit, if git is installed."""
    if shutil.which("git") is None:
        return
    repository = folder / "repo"
    shutil.copytree(folder / "code", repository)
    commit_date = "2025-01-01T00:00:00Z"
    env = {
        **os.environ,
        "GIT_AUTHOR_DATE": commit_date,
        "GIT_COMMITTER_DATE": commit_date,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    author_options = ["-c", "user.name=lro", "-c", "user.email=lro@example.org"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*author_options, "commit", "-q", "-m", "All modules"]):
        subprocess.run(["git", "-C", str(repository), *command], check=True, env=env, capture_output=True)


# --- the table


def to_markdown(servers: Sequence[WeighedServer]) -> str:
    """The register as Markdown. The table has a row for each call, and a row for each server that was skipped."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    for server in servers:
        package, _, version = server.entry.package.replace("==", "@").rpartition("@")
        name = f"{server.entry.ecosystem} {package}"
        if server.weights is None or server.skipped:
            lines.append(_line([name, version, *[""] * 11, f"skipped: {server.skipped}"]))
            continue
        for row in server.weights.rows:
            all_cells = cells(row)
            cut_word = "" if row.weight is None else row.weight.cuts_itself
            tool, tokens, _, _, size, duplicated, form, *rest = all_cells
            lines.append(_line([name, version, tool, tokens, size, duplicated, form, cut_word, *rest, row.reason]))
    digests = [f"- `{server.entry.package}`: `{server.digest}`" for server in servers if server.digest]
    return "\n".join(
        [*lines, "", *legend(COLUMNS), "", "Digests of the packages, as their registries state them:", "", *digests, ""]
    )


def _line(parts: Sequence[str]) -> str:
    return f"| {' | '.join(one_line(part, 160).replace('|', chr(92) + '|').replace('<', '&lt;') for part in parts)} |"


def to_dict(servers: Sequence[WeighedServer], cache: Path) -> dict[str, Any]:
    """The register as JSON, with ``{cache}`` in place of the cache's path."""
    report = {
        "format": FORMAT,
        "servers": [
            {
                "name": server.entry.name,
                "ecosystem": server.entry.ecosystem,
                "package": server.entry.package,
                "digest": server.digest,
                "skipped": server.skipped,
                "weights": None if server.weights is None else server.weights.to_dict(),
            }
            for server in servers
        ],
    }
    return json.loads(json.dumps(report).replace(str(cache), "{cache}"))


def write_register(servers: Sequence[WeighedServer], folder: Path, cache: Path) -> None:
    """Write register.md, register.json, and the report of each server that was weighed."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "register.md").write_text(to_markdown(servers), encoding="utf-8")
    (folder / "register.json").write_text(json.dumps(to_dict(servers, cache), indent=1) + "\n", encoding="utf-8")
    for server in servers:
        if server.weights is not None:
            (folder / f"{server.entry.name}.json").write_text(to_json(server.weights), encoding="utf-8")
