"""The plain server with tools that read what it has offloaded, written by hand and from their documents alone.

Each decision is a separate method: a broken server is this one with one method overridden.
"""

from __future__ import annotations

import os
import re
import sys
from typing import ClassVar

from tests.servers.plain import RECIPES, BadArguments, Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from tests.servers.plain import Record

MOST = 40_000
SECONDS = 2.5
WORK = 0.4
"""CPU-seconds of a program, of which a sound one takes a tenth; every certification tries several that never end."""
SEARCH = """
import re, sys
pattern = re.compile(sys.argv[1], int(sys.argv[3]))
for n, line in enumerate(open(sys.argv[2], encoding="utf-8"), 1):
    if pattern.search(line):
        print(f"{n}: {line}", end="")
"""
PROFILE = "server: {command: [{command}], timeout_s: 4}\n"


class Extracting(Server):
    """Lists `lro_extract` and the family virtual."""

    listed: ClassVar[dict[str, dict[str, str]]] = {
        "lro_extract": {"file_path": "string", "recipe": "integer", "query": "string", "params": "object"},
        "read_large_output": {"filename": "string", "start": "integer", "end": "integer"},
        "search_large_output": {
            "filename": "string",
            "pattern": "string",
            "case_sensitive": "boolean",
            "max_results": "integer",
        },
        "query_large_output": {"filename": "string", "query": "string", "compact": "boolean", "raw": "boolean"},
    }
    prefix_of_tools = ""

    def __init__(self) -> None:
        super().__init__()
        self.offered: dict[str, tuple[int, int, int]] = {}
        """The state of each file when its descriptor was sent, by name."""

    def tools(self) -> list[Record]:
        own = [
            self.tool(
                self.prefix_of_tools + name, "Reads an offloaded file", {k: {"type": t} for k, t in takes.items()}
            )
            for name, takes in self.listed.items()
        ]
        return super().tools() + own

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        self.offered[os.path.basename(path)] = self.identity(path)
        return path

    def identity(self, path: str) -> tuple[int, int, int]:
        seen = os.lstat(path)
        return seen.st_ino, seen.st_size, seen.st_mtime_ns

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        short = name.removeprefix(self.prefix_of_tools)
        return self.extracted(short, arguments) if short in self.listed else super().call_tool(name, arguments)

    def extracted(self, name: str, arguments: dict[str, Any]) -> Record:
        return self.text(self.bounded(self.handler(name)(**arguments)))

    def handler(self, name: str) -> Callable[..., str]:
        """The function that answers the tool of this name."""
        return getattr(self, name)

    def bounded(self, text: str) -> str:
        if len(text) > MOST:
            raise BadArguments(f"the answer has {len(text)} characters, at most {MOST} are returned: ask for less")
        return text

    # Files

    def found(self, path: str) -> str:
        """The real path of a file that may be read."""
        name = self.within(path)
        if not self.is_offered(name):
            raise BadArguments(f"{name} is no result that was offloaded here, or is gone")
        return os.path.join(self.output_dir(), name)

    def within(self, path: str) -> str:
        """The name of a file in the folder."""
        folder, name = os.path.split(path)
        if "\0" in path or ".." in path.split("/") or (folder and os.path.realpath(folder) != self.real_dir()):
            raise BadArguments("not in the folder of offloaded results")
        return name

    def real_dir(self) -> str:
        return os.path.realpath(self.output_dir())

    def is_offered(self, name: str) -> bool:
        path = os.path.join(self.output_dir(), name)
        return name in self.offered and os.path.lexists(path) and self.identity(path) == self.offered[name]

    def contents(self, path: str) -> str:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()

    # lro_extract

    def lro_extract(
        self, file_path: str, recipe: int | None = None, query: str | None = None, params: Record | None = None
    ) -> str:
        if (recipe is None) == (query is None):
            raise BadArguments("give either recipe or query")
        path = self.found(file_path)
        if query is not None:
            return self.jq(query, path)
        return self.by_recipe(path, recipe or 0, params or {})

    def by_recipe(self, path: str, recipe: int, params: Record) -> str:
        if not 1 <= recipe <= len(RECIPES):
            raise BadArguments(f"there are recipes 1 to {len(RECIPES)}")
        options, program = self.program(recipe)
        if recipe == 3 and "keyword" in params:
            return self.with_keyword(path, params["keyword"])
        return self.run_jq(program, path, ["-c", *options])

    def program(self, recipe: int) -> tuple[list[str], str]:
        """Options and program of a recipe."""
        options, program, _ = RECIPES[recipe - 1][1].split("'")
        return options.split()[1:], program

    def with_keyword(self, path: str, keyword: str) -> str:
        program = "select(.title | ascii_downcase | contains($word | ascii_downcase))"
        return self.run_jq(program, path, ["-c", "--arg", "word", keyword])

    # Queries

    def jq(self, program: str, path: str, options: Sequence[str] = ("-c",)) -> str:
        self.refuse_other_inputs(program)
        return self.run_jq(f"(\n{program}\n)", path, [*options])

    def refuse_other_inputs(self, program: str) -> None:
        if re.search(r"\benv\b|\$\s*ENV|\b(import|include|input_filename|input|inputs)\b", program):
            raise BadArguments("the query asks for more than its input")

    def run_jq(self, program: str, path: str, options: list[str]) -> str:
        lines = self.contents(path).split("\n")[1:]
        return self.ran(["jq", *options, program], "\n".join(lines))

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ.get("PATH", "")}

    def ran(self, command: list[str], given: str, seconds: float | None = SECONDS) -> str:
        """The output of a program, limited in size and time, and to `WORK`."""
        import signal
        import subprocess

        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(),
            preexec_fn=lambda: signal.setitimer(signal.ITIMER_PROF, WORK),  # RLIMIT_CPU takes whole seconds only
        )
        try:
            out, said = process.communicate(given.encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise BadArguments(f"stopped after {seconds} s: ask for less") from None
        if process.returncode < 0:
            raise BadArguments(f"stopped after {WORK} s of work: ask for less")
        if process.returncode:
            raise BadArguments(said.decode("utf-8", "replace")[:300])
        return out.decode("utf-8", "replace").removesuffix("\n")

    # virtual

    def read_large_output(self, filename: str, start: int, end: int) -> str:
        text = self.contents(self.found(filename))
        if start > len(text) or end < start:
            raise BadArguments(f"a range within 0 to {len(text)} is wanted")
        return self.range_of(text, start, end)

    def range_of(self, text: str, start: int, end: int) -> str:
        return text[start:end]

    def search_large_output(
        self, filename: str, pattern: str, case_sensitive: bool = False, max_results: int = 50
    ) -> str:
        found = self.search(self.found(filename), pattern, case_sensitive)
        return "\n".join(found[: self.most(max_results)]) or "No matches found."

    def most(self, results: int) -> int:
        """How many of the lines that match are returned."""
        return results

    def search(self, path: str, pattern: str, case_sensitive: bool) -> list[str]:
        try:
            flags = 0 if case_sensitive else re.IGNORECASE
            re.compile(pattern)
        except re.error as problem:
            raise BadArguments(f"no regular expression: {problem}") from None
        return self.ran([sys.executable, "-I", "-S", "-c", SEARCH, pattern, path, str(int(flags))], "").splitlines()

    def query_large_output(self, filename: str, query: str, compact: bool = False, raw: bool = False) -> str:
        return self.jq(query, self.found(filename), self.form(compact, raw))

    def form(self, compact: bool, raw: bool) -> list[str]:
        """The options of jq for the form of what it prints."""
        return ["-c"] * compact + ["-r"] * raw
