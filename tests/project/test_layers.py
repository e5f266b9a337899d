"""Imports run down one list of layers in each package, without a circle, and never from the suite to the reference."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import ROOT

FOLDERS = {
    "lro_spec": ROOT,
    "lro_conformance": ROOT / "conformance",
    "lro_reference": ROOT / "reference_impl",
    "lro_proxy": ROOT / "reference_impl",
    "lro_bench": ROOT / "benchmarks",
}

LAYERS: Mapping[str, tuple[str, ...]] = {
    "lro_spec": (
        "testing",
        "validation",
        "recipes",
        "schema",
        "messages",
        "discovery",
        "jsonl",
        "catalogue",
        "quota findings display",
        "sandbox",
        "filenames redaction",
        "editions tokens timestamps",
    ),
    "lro_conformance": (
        "__main__",
        "cli plugin",
        "validate engine init vectors",
        "report",
        "checks",
        "explorers",
        "analysis evidence",
        "trials",
        "lab",
        "capture",
        "judging",
        "wire profile",
        "errors version patience",
    ),
    "lro_reference": (
        "__main__",
        "memory",
        "interceptor custodian delegation",
        "guide tool",
        "results writer settings events cancellation",
    ),
    "lro_proxy": (
        "__main__ serve",
        "supervise install",
        "options",
        "config run_folder",
        "relay",
        "upstream",
        "protocol errors gain",
        "tools payload",
        "wire",
    ),
    "lro_bench": (
        "cli",
        "report_views paper_views digests progress",
        "paper report models",
        "run material",
        "conversation",
        "samples",
        "session",
        "server",
        "weigh",
        "templates svg json_file",
        "agents shell ceilings queries python_job",
        "conditions statistics",
        "tasks",
        "corpus tokens",
    ),
}
"""From the top down; a module imports from its own layer and from those below. A package's own ``__init__`` is free."""

ACROSS = {
    "lro_spec": (),
    "lro_conformance": ("lro_spec",),
    "lro_reference": ("lro_spec",),
    "lro_proxy": ("lro_reference", "lro_spec"),
    "lro_bench": ("lro_conformance", "lro_proxy", "lro_reference", "lro_spec"),
}
"""The other packages that each may import."""

STARTS = {
    ("cli/reference.py", "lro_proxy.serve"),
    ("cli/reference.py", "lro_proxy.__main__"),
    ("cli/reference.py", "lro_proxy.gain.command"),
    ("cli/benchmark.py", "lro_bench.cli"),
    ("profile/proxy.py", "lro_proxy"),  # the word in `python -m lro_proxy`; nothing is imported
}
"""`lro serve`, `lro proxy` and `lro gain` start the reference, `lro bench` and `lro weigh` the benchmark: by name, and
only when they are called."""

OWN_COMMANDS = {("lro_bench", "lro_bench.server")}
"""Modules that a package starts as programs of its own."""


@cache
def sources(package: str) -> dict[str, Path]:
    """The modules of a package by their dotted names."""
    folder = FOLDERS[package]
    found: dict[str, Path] = {}
    for path in sorted((folder / package).rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    assert found, f"no module in {package}"
    return found


@cache
def every_module() -> frozenset[str]:
    return frozenset(name for package in FOLDERS for name in sources(package))


def imported(path: Path) -> Iterator[str]:
    """The modules of ours that a module imports anywhere, also in functions and for types only."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names if alias.name in every_module())
            case ast.ImportFrom(module=str() as module, names=names, level=0) if module in every_module():
                for alias in names:
                    below = f"{module}.{alias.name}"
                    yield below if below in every_module() else module
            case _:
                pass


def layer_of(package: str, module: str) -> int | None:
    """The number of a module's layer, from the top; None for the package itself."""
    first = module.removeprefix(package).strip(".").partition(".")[0]
    if not first:
        return None
    numbers = [n for n, names in enumerate(LAYERS[package]) if first in names.split()]
    assert len(numbers) == 1, f"{module} is in {len(numbers)} layers"
    return numbers[0]


@pytest.mark.parametrize("package", FOLDERS)
def test_imports_run_down_the_layers(package: str) -> None:
    upwards = [
        f"{name} -> {other}"
        for name, path in sources(package).items()
        for other in imported(path)
        if other.partition(".")[0] == package
        for own, its in [(layer_of(package, name), layer_of(package, other))]
        if own is not None and its is not None and its < own
    ]
    assert upwards == []


@pytest.mark.parametrize("package", FOLDERS)
def test_no_import_circle(package: str) -> None:
    graph = {name: set(imported(path)) & set(sources(package)) - {name} for name, path in sources(package).items()}
    assert circles(graph) == []


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one node (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


@pytest.mark.parametrize("package", FOLDERS)
def test_packages_import_only_those_below(package: str) -> None:
    crossing = {
        (str(path.relative_to(FOLDERS[package] / package)), name)
        for path in sources(package).values()
        for name in mentioned(path)
        if name.partition(".")[0] in {*FOLDERS, "conformance", "reference_impl"} - {package, *ACROSS[package]}
    }
    crossing = {(file, name) for file, name in crossing if (package, name) not in OWN_COMMANDS}
    assert crossing == (STARTS if package == "lro_conformance" else set())


def mentioned(path: Path) -> Iterator[str]:
    """Every module that the code imports, and every text that could be the name of one to import."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, level=0):
                yield module or ""
            case ast.Constant(value=str() as text):
                yield text
            case _:
                pass


def test_certifying_loads_neither_the_reference_nor_pytest() -> None:
    code = (
        "import sys; from lro_conformance.engine.run import certify;"
        "from lro_conformance.judging.check import checks; checks();"
        "print([m for m in sys.modules if m.split('.')[0] in ('lro_reference', 'lro_proxy', 'pytest', '_pytest')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_starting_servers_loads_neither_the_report_nor_the_checks() -> None:
    code = (
        "import sys; import lro_conformance.lab.lab;"
        "above = ('lro_conformance.report', 'lro_conformance.judging.check', 'lro_conformance.evidence');"
        "print([m for m in sys.modules if m.startswith(above)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
