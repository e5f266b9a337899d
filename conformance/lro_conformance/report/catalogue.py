"""The catalogue for readers: a list to grep, and everything about one requirement."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

import lro_spec
from lro_spec.requirements import Requirement

CHECKS = Path(__file__).parent.parent / "checks"


@dataclass(frozen=True, slots=True)
class WrittenCheck:
    """A check as its source has it."""

    name: str
    """``chapter.what_it_says``, as `lro_conformance.judge` names it."""
    doc: str
    """Its docstring: what it looks at."""


def written_checks(id: str) -> tuple[WrittenCheck, ...]:
    """The checks bound to a requirement, by module and place.

    Read from their source: to import them is to import every experiment, which takes longer than all else that
    explaining a requirement needs.
    """
    return tuple(
        WrittenCheck(
            f"{path.stem.removeprefix('test_')}.{node.name.removeprefix('test_')}", ast.get_docstring(node) or ""
        )
        for path in sorted(CHECKS.glob("*.py"))
        if f'"{id}"' in (source := path.read_text(encoding="utf-8"))
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and any(_binds(decorator, id) for decorator in node.decorator_list)
    )


def every_check() -> tuple[str, ...]:
    """The names of all checks, from their source like `written_checks`."""
    return tuple(
        f"{path.stem.removeprefix('test_')}.{node.name.removeprefix('test_')}"
        for path in sorted(CHECKS.glob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(decorator).startswith("check(") for decorator in node.decorator_list)
    )


def requirement_of(check: str) -> str | None:
    """The requirement that a check judges, by the check's name; None when there is no such check."""
    chapter, _, name = check.partition(".")
    path = CHECKS / f"test_{chapter}.py"
    if not chapter.isidentifier() or not path.is_file():
        return None
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == f"test_{name}":
            calls = [d for d in node.decorator_list if isinstance(d, ast.Call) and ast.unparse(d.func) == "check"]
            return next((str(ast.literal_eval(d.args[0])) for d in calls), None)
    return None


def note(name: str) -> str | None:
    """A numbered reading or erratum (``I-31``, ``E-04``) as the documents have it; None when there is no such one."""
    found = re.search(rf"^### ({re.escape(name)} .*?)(?=^##|\Z)", _notes(), re.DOTALL | re.MULTILINE)
    return None if found is None else found[1].strip().replace("**", "")


@cache
def notes() -> tuple[tuple[str, str, frozenset[str]], ...]:
    """Every reading and erratum: its number, its title, and the requirements that rest on it."""
    found = re.findall(r"^### ([IE]-\d+) ([^\n]*)\n(.*?)(?=^##|\Z)", _notes(), re.DOTALL | re.MULTILINE)
    return tuple((name, title, frozenset(re.findall(r"LRO-[A-Z]+-\d{2}", text))) for name, title, text in found)


def _notes() -> str:
    for path in _NOTES:
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise FileNotFoundError(f"interpretations.md is in none of {', '.join(map(str, _NOTES))}: reinstall lro-spec")


_SPEC = Path(lro_spec.__file__).parent
_NOTES = (_SPEC / "interpretations.md", _SPEC.parent / "docs" / "interpretations.md")


def _binds(decorator: ast.expr, id: str) -> bool:
    """Whether it is ``@check("<id>")``."""
    return ast.unparse(decorator) == f"check({id!r})"


def select(
    requirements: Iterable[Requirement], *, level: int | None = None, groups: Sequence[str] = ()
) -> list[Requirement]:
    """Those that bind a server which claims *level* (its own and all below), in these groups; empty means any."""
    return [
        r
        for r in requirements
        if (level is None or (r.level is not None and r.level <= level)) and (not groups or r.group in groups)
    ]


def listing(requirements: Sequence[Requirement]) -> Iterator[str]:
    """One line a requirement: id, keyword, level (``-``: decides none), group, title."""
    width = max((len(r.id) for r in requirements), default=0)
    for r in requirements:
        judged = "" if r.excluded is None else " [not judged]"
        yield f"{r.id:<{width}}  {r.keyword:<6}  {r.level or '-'}  {r.group:<11}  {r.title}{judged}"


def as_json(requirements: Sequence[Requirement]) -> str:
    """The requirements as a JSON array of objects with the catalogue's own keys."""
    return json.dumps([asdict(r) for r in requirements], ensure_ascii=False, indent=2)


def nearest(wanted: str, known: Sequence[str]) -> list[str]:
    """Up to three of *known* that *wanted* may have meant."""
    return get_close_matches(wanted, known, n=3, cutoff=0.6)


def full_id(given: str) -> str:
    """The id as the catalogue spells it: ``file-06`` is short for ``LRO-FILE-06``."""
    upper = given.strip().upper()
    return upper if upper.startswith("LRO-") else f"LRO-{upper}"
