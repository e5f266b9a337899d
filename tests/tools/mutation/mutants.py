"""Every small change that cosmic-ray's operators can make to a module, one statement of its top level at a time.

A mutant is viable when it compiles without a warning and does something else: what differs in annotations only, which
are never evaluated here, or in nothing at all, is none. Some are left out for a reason (`IDLE`) and counted.
"""

from __future__ import annotations

import ast
import pickle
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import MutationVisitor
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).resolve().parents[3]

WITHOUT = re.compile(
    r"/(NoOp|RemoveDecorator|Variable\w+|ReplaceComparisonOperator_((Eq|NotEq|Lt|LtE|Gt|GtE)_Is(Not)?|Is_Eq|IsNot_NotEq))$"
)
"""Operators that are not used: one changes nothing, one removes the decorator that registers a check, two need names as
arguments, and the interpreter decides whether equal values are the same object; `==` and `!=` are tried in any case."""

ORDER = re.compile(r"ReplaceComparisonOperator_(Eq|NotEq)_(Lt|LtE|Gt|GtE)$")
"""Operators that are not used next to a string, because the words of a closed set have no order."""

IDLE = (
    ("a dataclass that can be written to, or has a dictionary", re.compile(r"^@dataclass\(.*\)$")),
    ("the text of a type, which nothing evaluates", re.compile(r"\bcast\(|TypeVar\(|^if TYPE_CHECKING")),
)
"""Lines whose mutants behave exactly like the original."""


Key = tuple[str, str, str, str, int]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to one statement of a module's top level."""

    module: str
    """Its dotted name."""
    place: str
    """The changed function or class, or the assigned name."""
    line: int
    last: int
    """The lines, from and to, of the innermost statement that the change is in; of one with a body, its head."""
    column: int
    operator: str
    before: str
    after: str
    """The changed lines, joined, without the surrounding lines."""
    code: str
    """The complete changed statement; its first line is `first`."""
    first: int
    everywhere: bool
    """True if it is outside of functions, so that everything that uses its module may show it."""

    nth: int = 1
    """Its number among mutants that look alike."""

    @property
    def key(self) -> Key:
        """The key that identifies it even if other lines change."""
        return self.module, self.place, self.before, self.after, self.nth


@dataclass(frozen=True, slots=True)
class Mutants:
    """The mutants of one module."""

    viable: tuple[Mutant, ...]
    idle: int
    """Number of mutants left out by `IDLE`."""


def mutants_of(module: ModuleType) -> Mutants:
    """All mutants of a module, in the order of its lines."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    viable: list[Mutant] = []
    idle = 0
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node):
            continue
        first = min((d.lineno for d in getattr(node, "decorator_list", [])), default=node.lineno)
        text = "".join(lines[first - 1 : node.end_lineno])
        known = {_meaning(text)}
        for operator, code, (line, column) in _changes(text):
            meaning = _meaning(code)
            if meaning is None or meaning in known:
                continue
            known.add(meaning)
            before, after = _difference(text, code)
            if any(pattern.search(before) for _, pattern in IDLE):
                idle += 1
                continue
            start, last, everywhere = _statement(node, line + first - 1)
            place = (module.__name__, _name(node), start, last, column)
            viable.append(Mutant(*place, operator, before, after, code, first, everywhere))
    viable.sort(key=lambda m: (m.line, m.column))
    alike: Counter[Key] = Counter()
    numbered: list[Mutant] = []
    for mutant in viable:
        alike[mutant.key] += 1
        numbered.append(replace(mutant, nth=alike[mutant.key]))
    return Mutants(tuple(numbered), idle)


@cache
def _operators() -> tuple[tuple[str, Operator], ...]:
    names = [name for name in operator_names() if not WITHOUT.search(name)]
    return tuple((name.rpartition("/")[2], get_operator(name)()) for name in names)


def _changes(text: str) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Each change to the text: operator, new text, and position."""
    tree = get_ast(text)
    copy = pickle.dumps(tree)
    notes = _annotations(text)
    lines = text.splitlines()
    words = _comparisons_with_text(text)
    for name, operator in _operators():
        places = [start for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node)]
        for occurrence, place in enumerate(places):
            line, column = place
            if any(start <= place < end for start, end in notes) or lines[line - 1][column : column + 2] == "*,":
                continue  # a type, or the mark of arguments that have to be named
            if ORDER.search(name) and any(start <= place < end for start, end in words):
                continue
            try:
                changed = MutationVisitor(occurrence, operator).walk(pickle.loads(copy))
            except AttributeError:
                continue  # the operator for exceptions does not know those that are named with their module
            yield name, changed.get_code(), place


def _annotations(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The positions at which annotations begin and end."""
    nodes = list(ast.walk(ast.parse(text)))
    found = [n.annotation for n in nodes if isinstance(n, ast.arg | ast.AnnAssign)]
    found += [n.returns for n in nodes if isinstance(n, ast.FunctionDef)]
    return [((n.lineno, n.col_offset), (n.end_lineno or 0, n.end_col_offset or 0)) for n in found if n is not None]


def _comparisons_with_text(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The positions at which comparisons with a string begin and end."""
    return [
        ((n.lineno, n.col_offset), (n.end_lineno or 0, n.end_col_offset or 0))
        for n in ast.walk(ast.parse(text))
        if isinstance(n, ast.Compare)
        and any(isinstance(v, ast.Constant) and isinstance(v.value, str) for v in (n.left, *n.comparators))
    ]


def _meaning(text: str) -> str | None:
    """The meaning of a statement, whatever its layout; None if it is not Python, or if the linter refuses it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # `is` with a literal
            tree = ast.parse(text)
            compile(tree, "mutant", "exec")
    except (SyntaxError, ValueError):
        return None
    if any(_compares_with_none(node) for node in ast.walk(tree)):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
    return ast.dump(tree)


def _compares_with_none(node: ast.AST) -> bool:
    """`==` or `!=` with None, True or False, which ruff has its own rules against (E711, E712)."""
    if not isinstance(node, ast.Compare):
        return False
    values = (node.left, *node.comparators)
    same = any(isinstance(o, ast.Eq | ast.NotEq) for o in node.ops)
    return same and any(
        isinstance(v, ast.Constant) and (v.value is None or v.value is True or v.value is False) for v in values
    )


def _difference(text: str, code: str) -> tuple[str, str]:
    """The lines that differ, without the equal ones before and after them."""
    old, new = text.splitlines(), code.splitlines()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return tuple(" ".join(line.strip() for line in side) for side in (old, new))  # type: ignore[return-value]


def _statement(node: ast.stmt, line: int) -> tuple[int, int, bool]:
    """The lines of the innermost statement at a line (for a statement with a body, its head), and True if it is outside
    of functions."""
    found = (node.lineno, node.end_lineno or node.lineno)
    inside = [n for n in ast.walk(node) if isinstance(n, ast.stmt | ast.excepthandler)]
    for inner in inside:
        decorators = getattr(inner, "decorator_list", [])
        start = min((d.lineno for d in decorators), default=inner.lineno)
        body = getattr(inner, "body", None)
        last = max(start, body[0].lineno - 1) if body else inner.end_lineno or start
        if start <= line <= last and last - start <= found[1] - found[0]:
            found = (start, last)
    functions = [n for n in inside if isinstance(n, ast.FunctionDef)]
    return *found, not any(n.lineno <= line <= (n.end_lineno or n.lineno) for n in functions)


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return ", ".join(ast.unparse(t) for t in targets if t is not None) or type(node).__name__


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
