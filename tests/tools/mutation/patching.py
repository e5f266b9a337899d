"""Replaces code by a mutant in this process.

A module is not loaded anew: others hold its functions, and evidence is made of its classes. So the new statement is
executed in the old namespace, and the code of the old functions replaced by that of the new ones.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from tests.tools.mutation.mutants import Mutant

Restore = Callable[[], None]
HIT = "__hit__"
"""The function that an instrumented statement calls."""


class Unpatchable(Exception):
    """The change cannot be made while the program runs; the message says why."""


def put(mutant: Mutant) -> None:
    """Make this process behave as if the mutant had been there from the start.

    Exceptions of the statement are propagated.
    """
    _replace(sys.modules[mutant.module], mutant.code, mutant.first)


Line = tuple[str, int]
"""The name of a module and the number of a line."""


def instrument(module: ModuleType, hit: Callable[[Line], object]) -> Restore:
    """Make every statement in a function report its line before it is executed; the returned function undoes this.

    It takes a hundredth of the time of tracing.
    """
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    vars(module)[HIT] = hit
    done: list[tuple[str, int]] = []
    for node in ast.parse(source).body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        first = min((d.lineno for d in node.decorator_list), default=node.lineno)
        text = "".join(lines[first - 1 : node.end_lineno])
        if _Telling.cannot(node):
            continue
        try:
            _replace(module, ast.unparse(_Telling(module.__name__).visit(node)), 1)
        except Unpatchable:
            continue
        done.append((text, first))

    def restore() -> None:
        for text, first in done:
            _replace(module, text, first)

    return restore


@functools.cache
def tells(module: ModuleType, place: str) -> bool:
    """True if the statements of a function or class can be instrumented."""
    value = vars(module).get(place)
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == place]
    return bool(found) and not _Telling.cannot(found[0]) and not (isinstance(value, type) and _is_made_once(value))


class _Telling(ast.NodeTransformer):
    """Puts a call before every statement of a function."""

    def __init__(self, module: str) -> None:
        self._module = module

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        start = min((d.lineno for d in node.decorator_list), default=node.lineno)
        head = [self._hit(line) for line in range(start, node.body[0].lineno)]
        text = [node.body.pop(0)] if ast.get_docstring(node) is not None else []
        self._bodies(node)
        node.body = [*text, *head, *node.body]
        return node

    def _bodies(self, node: ast.AST) -> None:
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                setattr(node, name, [part for inner in body for part in (self._hit(inner.lineno), self._deep(inner))])
        for handler in getattr(node, "handlers", []):
            self._bodies(handler)
            handler.body.insert(0, self._hit(handler.lineno))

    def _deep(self, node: ast.stmt) -> ast.stmt:
        if isinstance(node, ast.FunctionDef):
            return self.visit_FunctionDef(node)
        self._bodies(node)
        return node

    def _hit(self, line: int) -> ast.stmt:
        return ast.Expr(ast.Call(ast.Name(HIT, ast.Load()), [ast.Constant((self._module, line))], []), lineno=line)

    @staticmethod
    def cannot(node: ast.stmt) -> bool:
        """`super()` knows the class that it was written in; a match statement has bodies of another kind."""
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        return "super" in names or any(isinstance(n, ast.Match) for n in ast.walk(node))


def _replace(module: ModuleType, text: str, first: int) -> None:
    """Execute a statement in a module, and replace the existing objects by those that it creates."""
    before = dict(vars(module))
    made: dict[str, Any] = {}
    code = compile("\n" * (first - 1) + text, str(module.__file__), "exec", dont_inherit=True, flags=_flags(module))
    exec(code, vars(module), made)
    for name, new in made.items():
        old = before.get(name)
        if isinstance(old, type) and isinstance(new, type):
            _reclass(old, new)
        elif _function(old) is not None and _function(new) is not None:
            _recode(_function(old), _function(new))
            for holder in (old, new):
                if hasattr(holder, "cache_clear"):
                    holder.cache_clear()
        else:
            _rebind(name, old, new)


def _flags(module: ModuleType) -> int:
    """The future features that a module is compiled with."""
    feature = vars(module).get("annotations")
    return getattr(feature, "compiler_flag", 0)


def _function(value: object) -> Any:
    """The function behind decorators, or None."""
    while value is not None and not isinstance(value, FunctionType):
        value = getattr(value, "__wrapped__", None) or getattr(value, "__func__", None) or getattr(value, "func", None)
    return value


def _recode(old: Any, new: Any) -> None:
    """Give an old function the body and the defaults of the new one."""
    while hasattr(old, "__wrapped__"):
        old, new = old.__wrapped__, new.__wrapped__
    if old.__code__.co_freevars != new.__code__.co_freevars or old.__closure__:
        raise Unpatchable("a function that closes over others")
    old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__


def _reclass(old: type, new: type) -> None:
    """Copy the differing members of a new class to the old one."""
    if _is_made_once(old):
        raise Unpatchable("the members of an enumeration are made once")
    for name, value in vars(new).items():
        kept = ("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__")
        if name in (*kept, *getattr(old, "__slots__", ()), *getattr(old, "_fields", ())):
            continue
        setattr(old, name, value)
        if isinstance(value, functools.cached_property):
            value.__set_name__(old, name)


def _is_made_once(kind: type) -> bool:
    return type(kind).__name__ == "EnumType"


def _rebind(name: str, old: object, new: object) -> None:
    """Replace an old value by a new one wherever it is bound to this name."""
    for module in list(sys.modules.values()):
        known = getattr(module, "__dict__", {})
        if name in known and known[name] is old:
            known[name] = new
