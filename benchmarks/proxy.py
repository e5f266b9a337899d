"""Cost of the proxy for a call: ``python benchmarks/proxy.py --server COMMAND… [--jmunch F] [--rlm F] [--runs N]``.

Calls `read_text_file` of a real filesystem server in interleaved rounds: directly, through a bare forwarder that looks
at nothing, through `lro proxy`, and through other proxies if their programs are given. The ratio to the direct call
counts, because seconds differ from machine to machine. The memory shown is the growth of the proxy's own process,
divided by the size of the answer. The growth is counted from the end of a first answer of 100 KB, when the modules are
loaded, to the peak. The times of the first round of each size do not count.

COMMAND is the server without its folder, for example `node …/server-filesystem/dist/index.js`.

``python benchmarks/proxy.py --shapes [--runs N]`` uses results of 10 MB that are JSON or a table, from
result_server.py. The last two figures are then the proxy's own CPU time, in milliseconds per megabyte of the answer,
and its ratio to the time that orjson takes for a megabyte of the same records in the same rounds. The ratio is shown
because milliseconds differ from machine to machine, and double while another program uses the core.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import orjson

ROOT = Path(__file__).resolve().parent.parent
PYTHONPATH = os.pathsep.join(str(folder) for folder in (ROOT / "reference_impl", ROOT / "conformance", ROOT))
SIZES = {"small": 200, "1 MB": 1_000_000, "10 MB": 10_000_000}
LARGE_BYTES = 100_000
TOOL = "read_text_file"
MAX_RATIO = 1.5
MAX_MEMORY_RATIO = 4.0
TIMEOUT_S = 30


class Contender:
    """A started command that speaks MCP."""

    def __init__(
        self, name: str, command: Sequence[str], env: Mapping[str, str] = {}, cwd: Path | None = None, tool: str = TOOL
    ) -> None:
        self.name, self._tool = name, tool
        self.times, self.size, self.memory = dict[str, list[float]](), dict[str, int](), dict[str, float]()
        self.cpu_s: dict[str, list[float]] = {}
        self._warm_bytes = 0.0
        self.failed: dict[str, str] = {}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
            env={**os.environ, **env},
        )
        assert self.process.stdout is not None
        self._out = self.process.stdout.fileno()
        self._id = 0
        client = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "benchmark", "version": "1"},
        }
        self.request("initialize", client)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.request("tools/list", {})

    def _send(self, message: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, params: object) -> int:
        """Send a request and read to the end of its answer; returns the number of bytes of the answer."""
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        deadline = time.monotonic() + TIMEOUT_S
        id_pattern = re.compile(rb'"id": ?%d[,}]' % self._id)
        while True:
            parts: list[bytes] = []
            while True:
                if not select.select([self._out], [], [], max(0.0, deadline - time.monotonic()))[0]:
                    raise TimeoutError
                chunk = os.read(self._out, 1 << 20)
                if not chunk:
                    raise EOFError
                parts.append(chunk)
                if chunk.endswith(b"\n"):
                    break
            line = b"".join(parts)
            if id_pattern.search(line[:300]) or id_pattern.search(line[-300:]):
                return len(line)

    def measure(self, size: str, path: str) -> None:
        """Measure one call; a failure is kept, and the call is not tried again."""
        if size in self.failed or "all" in self.failed:
            return
        cpu_before = self._cpu_s()
        start = time.perf_counter()
        try:
            self.size[size] = self.request("tools/call", {"name": self._tool, "arguments": {"path": path}})
        except TimeoutError:
            self.failed |= {size: "hangs", "all": "hung"}
            return
        except EOFError:
            self.failed |= {size: "dies", "all": "died"}
            return
        self.times.setdefault(size, []).append(time.perf_counter() - start)
        self.memory[size] = max(self.memory.get(size, 0), self._peak() - self._warm_bytes)
        self.cpu_s.setdefault(size, []).append(self._cpu_s() - cpu_before)

    def forget(self, size: str) -> None:
        """Discard the times that were measured so far for a size."""
        self.times.pop(size, None)
        self.cpu_s.pop(size, None)

    def warm(self, path: str) -> None:
        """Make one call, which loads the modules. Memory is counted from here on."""
        self.measure("warm", path)
        self._warm_bytes = self._resident()

    def _cpu_s(self) -> float:
        # This is how Linux numbers the CPU clock of a process; /proc/PID/stat counts in hundredths of a second.
        return time.clock_gettime(~self.process.pid << 3 | 2)

    def _resident(self) -> float:
        """The resident memory of the process now. Also resets its peak memory, if the kernel supports this."""
        with suppress(OSError):
            Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        return self._status("VmRSS")

    def _peak(self) -> float:
        return self._status("VmHWM")

    def _status(self, key: str) -> float:
        match = re.search(rf"{key}:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())
        return int(match[1]) * 1024 if match else 0

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def text(size: int) -> str:
    line = 'GET /api/items/%d HTTP/1.1 200 "a quoted – agent" \\path\\%d took %d ms\n'
    lines = (line % (n, n * 7, n % 900) for n in range(size // 60))
    return "".join(lines)[:size]


def shapes(size: int) -> dict[str, bytes]:
    """Results of about *size* bytes each, in the forms in which servers send them."""
    rows = [
        {
            "number": n,
            "title": f"Problem {n} with the “second” page",
            "state": ("open", "closed", "draft")[n % 3],
            "labels": ["bug", f"area-{n % 17}"],
            "author": {"login": f"user{n % 90}", "id": n * 7},
            "weight": n / 8,
            "body": f'Steps for {n}: open it,\n then "save", and it is gone. ' * 4,
        }
        for n in range(size // 430)
    ]
    table = "id,name,city,amount\n" + "".join(f'{n},name {n},"Ulm, Donau",{n * 7}.50\n' for n in range(size // 36))
    compact = json.dumps(rows, separators=(",", ":"), ensure_ascii=False)
    wrapped = {"total": len(rows), "page": {"next": None, "items": rows}}
    blocks = [json.dumps(row, indent=2, ensure_ascii=False) for row in rows]
    first_half = rows[: len(rows) // 2]
    return {
        "compact": _result(compact),
        "python": _result(json.dumps(rows)),
        "indented": _result(json.dumps(rows, indent=2, ensure_ascii=False)),
        "wide": _result(compact.replace("Steps for", "日本語の手順")),
        "in an object": _result(json.dumps(wrapped, separators=(",", ":"), ensure_ascii=False)),
        "structured": _result(None, wrapped),
        "both": _result(json.dumps({"result": first_half}, indent=2, ensure_ascii=False), {"result": first_half}),
        "blocks": _result(blocks[: len(blocks) // 2], {"result": first_half}),
        "json lines": _result("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)),
        "table": _result(table),
    }


def _result(text: str | list[str] | None, structured: object = None) -> bytes:
    texts = [text] if isinstance(text, str) else text or []
    content: list[object] = [{"type": "text", "text": part} for part in texts]
    result = {"content": content} | ({} if structured is None else {"structuredContent": structured})
    return json.dumps(result, separators=(",", ":"), ensure_ascii=False).encode()


def start_contenders(options: argparse.Namespace, folder: Path, stack: ExitStack) -> list[Contender]:
    server = [*(options.server or [sys.executable, str(ROOT / "benchmarks/result_server.py")]), str(folder)]
    lro = {"PYTHONPATH": PYTHONPATH, "ATLATL_PROMPT__OFFLOAD__OUTPUT_DIR": str(folder / "offloaded")}
    starters: dict[str, Callable[[str], Contender]] = {
        "direct": lambda name: Contender(name, server),
        "forwarder": lambda name: Contender(name, [sys.executable, str(ROOT / "benchmarks/raw_forwarder.py"), *server]),
        "lro proxy": lambda name: Contender(name, [sys.executable, "-m", "lro_proxy", "--", *server], lro),
    }
    if options.jmunch:
        jmunch = folder / "jmunch.json"
        jmunch.write_text(json.dumps({"upstream": {"command": server[0], "args": server[1:]}}))
        starters["jmunch-mcp"] = lambda name: Contender(name, [options.jmunch, "--config", str(jmunch)])
    if options.rlm:  # it reads its configuration in the working directory, and prefixes tools with the server's name
        rlm_folder = folder / "rlm"
        rlm_folder.mkdir()
        (rlm_folder / "mcp.json").write_text(
            json.dumps({"mcpServers": {"fs": {"command": server[0], "args": server[1:]}}})
        )
        starters["mcp-rlm-proxy"] = lambda name: Contender(name, [options.rlm], cwd=rlm_folder, tool=f"fs_{TOOL}")
    started: list[Contender] = []
    for name, start in starters.items():
        try:
            contender = start(name)
        except (OSError, TimeoutError, EOFError) as problem:
            print(f"{name}: cannot be started ({type(problem).__name__})", file=sys.stderr)
            continue
        stack.callback(contender.end)
        started.append(contender)
    return started


def parse_ms(records: bytes) -> float:
    """CPU time that orjson takes to parse *records*, in milliseconds per megabyte of their text."""
    start = time.process_time()
    orjson.loads(records)
    return (time.process_time() - start) * 1e9 / len(records)


def report(contenders: Sequence[Contender], cases: Sequence[str], *, orjson_ms: float | None = None) -> bool:
    """Print the measurements, and return True if the targets are met.

    With *orjson_ms*, which is the result of `parse_ms`, CPU times are printed, too.
    """
    has_cpu = orjson_ms is not None
    direct = contenders[0]
    print(f"{'':14}" + "".join(f"{case:>32}" for case in cases))
    targets_met = True
    for contender in contenders:
        cells: list[str] = []
        for case in cases:
            if case not in contender.times:
                cells.append(contender.failed.get(case, "-"))
                continue
            median_s, ratio = statistics.median(contender.times[case]), _median_ratio(contender, direct, case)
            memory, is_large = contender.memory[case] / direct.size[case], direct.size[case] > LARGE_BYTES
            cell = f"{median_s * 1e3:.2f} ms ×{ratio:.2f}" + f" {memory:.1f}" * is_large
            if orjson_ms is not None:
                cpu_ms = statistics.median(contender.cpu_s[case]) * 1e9 / direct.size[case]
                cell += f" {cpu_ms:.1f} ×{cpu_ms / orjson_ms:.1f}"
            cells.append(cell)
            if contender.name == "lro proxy":
                targets_met = (
                    targets_met and (has_cpu or ratio < MAX_RATIO) and (not is_large or memory < MAX_MEMORY_RATIO)
                )
        print(f"{contender.name:14}" + "".join(f"{cell:>32}" for cell in cells))
    print(
        "median, ratio to direct (median of the ratios of all rounds), peak memory ÷ size of the answer"
        + (f", CPU ms/MB and its ratio to orjson's {orjson_ms:.1f}" if has_cpu else "")
    )
    ratio = "" if has_cpu else f"ratio {MAX_RATIO}, "
    print(f"targets of lro proxy: {ratio}memory {MAX_MEMORY_RATIO}: {'met' if targets_met else 'not met'}")
    return targets_met


def _median_ratio(contender: Contender, direct: Contender, size: str) -> float:
    return statistics.median(
        mine / theirs for mine, theirs in zip(contender.times[size], direct.times[size], strict=False)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--server", nargs="+", help="the filesystem server's command, without its folder")
    mode.add_argument("--shapes", action="store_true", help="results that are JSON or a table")
    parser.add_argument("--jmunch", help="the program jmunch-mcp")
    parser.add_argument("--rlm", help="the program mcp-proxy of mcp-rlm-proxy")
    parser.add_argument("--runs", type=int, default=15, help="rounds (default 15)")
    parser.add_argument("--only", help="one of the shapes")
    options = parser.parse_args()
    if options.shapes:
        cases = {name: data for name, data in shapes(10_000_000).items() if options.only in (None, name)}
    else:
        cases = {name: text(size).encode() for name, size in SIZES.items()}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for name, data in cases.items():
            (folder / f"{name}.txt").write_bytes(data)
        if options.shapes:
            return 0 if _measure_shapes(options, list(cases), folder) else 1
        (folder / "warm.txt").write_text(text(LARGE_BYTES))
        contenders = start_contenders(options, folder, stack)
        for contender in contenders:
            contender.warm(str(folder / "warm.txt"))
        for name in cases:
            for round_ in range(options.runs * (10 if name == "small" else 1) + 1):
                for contender in contenders:
                    contender.measure(name, str(folder / f"{name}.txt"))
                    if round_ == 0:
                        contender.forget(name)
        return 0 if report(contenders, list(cases)) else 1


def _measure_shapes(options: argparse.Namespace, cases: Sequence[str], folder: Path) -> bool:
    """Measure each shape in fresh processes, because memory that is left over from one shape would favour the next.

    The processes are warmed up with a small result. The offloaded files of a shape are deleted before the next shape
    begins, because each further write takes longer while a gigabyte waits to be written to disk.
    """
    records = orjson.dumps(orjson.loads(shapes(10_000_000)["structured"])["structuredContent"])
    for name, data in shapes(400_000).items():
        (folder / f"{name} warm.txt").write_bytes(data)
    targets_met = True
    for name in cases:
        with ExitStack() as stack:
            contenders = start_contenders(options, folder, stack)
            for contender in contenders:
                contender.warm(str(folder / f"{name} warm.txt"))
            parse_times: list[float] = []
            for _ in range(options.runs):
                for contender in contenders:
                    contender.measure(name, str(folder / f"{name}.txt"))
                parse_times.append(parse_ms(records))
            targets_met = report(contenders, [name], orjson_ms=statistics.median(parse_times)) and targets_met
        shutil.rmtree(folder / "offloaded", ignore_errors=True)
    return targets_met


if __name__ == "__main__":
    sys.exit(main())
