"""Dependencies point one way: a judge that shares code with the accused convicts nobody."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SERVE = ("reference_commands.py", "serve", "lro_reference.__main__")
PROXY = ("reference_commands.py", "proxy", "lro_reference.proxy.__main__")
"""The exceptions: `lro serve` and `lro proxy` start the reference, by name and only when they are called."""


NOTHING: set[tuple[str, str, str]] = set()


def modules(folder: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found, f"no module below {folder}"
    return found


def named(tree: ast.AST) -> Iterator[str]:
    """Every module that the code imports, and every text that could be the name of one to import."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, level=0):
                yield module or ""
            case ast.Constant(value=str() as text):
                yield text
            case _:
                pass


def crossings(folder: str, forbidden: tuple[str, ...]) -> set[tuple[str, str, str]]:
    """File, enclosing top-level definition and name of each mention of a forbidden package."""
    found: set[tuple[str, str, str]] = set()
    for path in modules(folder):
        for top in ast.parse(path.read_text(encoding="utf-8")).body:
            for name in named(top):
                if name.split(".")[0] in forbidden:
                    found.add((path.name, getattr(top, "name", ""), name))
    return found


@pytest.mark.parametrize(
    ("folder", "forbidden", "allowed"),
    [
        ("conformance", ("lro_reference", "reference_impl"), {SERVE, PROXY}),
        (
            "lro_spec",
            ("lro_conformance", "lro_reference", "conformance", "reference_impl"),
            set[tuple[str, str, str]](),
        ),
        ("reference_impl", ("lro_conformance",), set[tuple[str, str, str]]()),
    ],
)
def test_no_import_crosses_the_line(folder: str, forbidden: tuple[str, ...], allowed: set[tuple[str, str, str]]):
    assert crossings(folder, forbidden) == allowed


def test_certifying_loads_neither_the_reference_nor_pytest():
    code = (
        "import sys; from lro_conformance.engine import certify; from lro_conformance.judge import checks; checks();"
        "print([m for m in sys.modules if m.split('.')[0] in ('lro_reference', 'pytest', '_pytest')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
