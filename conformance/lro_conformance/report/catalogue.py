"""The catalogue for readers: listing, selection, and the checks and notes that belong to a requirement."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import cast

import lro_spec
from lro_spec.catalogue import Requirement

CHECKS_FOLDER = Path(__file__).parent.parent / "checks"

_NO_EVIDENCE = {"subjects", "edition"}
"""Names of check parameters that are not names of evidence. Every run provides their values, whatever was observed."""


@dataclass(frozen=True, slots=True)
class CheckSource:
    """Name and docstring of a check, read from its source."""

    name: str
    """``module.function``, the name under which `lro_conformance.judging.check` registers the check."""
    doc: str
    """The docstring."""
    path: str
    """The path of the file with the check, beginning with ``lro_conformance/``."""
    evidence: tuple[str, ...]
    """Names of the evidence that the check reads. Evidence is either a trial or derived from trials."""


def check_sources(id: str) -> tuple[CheckSource, ...]:
    """The checks of a requirement, ordered by the name of their module, and within a module by their definition.

    The checks are read from source. To import them would be to import every trial, which takes longer than everything
    else that `lro explain` does.
    """
    return tuple(
        CheckSource(
            f"{path.stem.removeprefix('test_')}.{node.name.removeprefix('test_')}",
            ast.get_docstring(node) or "",
            path.relative_to(CHECKS_FOLDER.parent.parent).as_posix(),
            tuple(a.arg for a in (*node.args.args, *node.args.kwonlyargs) if a.arg not in _NO_EVIDENCE),
        )
        for path in _check_modules()
        if f'"{id}"' in (source := path.read_text(encoding="utf-8"))
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and any(_is_check_of(decorator, id) for decorator in node.decorator_list)
    )


@cache
def checks_by_requirement() -> dict[str, tuple[str, ...]]:
    """The names of the checks of each requirement, read from source for the reason given in `check_sources`."""
    names_by_requirement: dict[str, tuple[str, ...]] = {}
    for path in _check_modules():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "check":
                    id = str(ast.literal_eval(decorator.args[0]))
                    name = (
                        f"{path.stem.removeprefix('test_')}.{cast('ast.FunctionDef', node).name.removeprefix('test_')}"
                    )
                    names_by_requirement[id] = (*names_by_requirement.get(id, ()), name)
    return names_by_requirement


def _check_modules() -> list[Path]:
    return sorted(CHECKS_FOLDER.rglob("test_*.py"), key=lambda path: path.stem)


def check_names() -> tuple[str, ...]:
    """The names of all checks, read from source for the reason given in `check_sources`."""
    return tuple(
        f"{path.stem.removeprefix('test_')}.{node.name.removeprefix('test_')}"
        for path in _check_modules()
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(decorator).startswith("check(") for decorator in node.decorator_list)
    )


def requirement_of(check: str) -> str | None:
    """Return the id of the requirement that is judged by the check of this name, or None if there is no such check."""
    chapter, _, name = check.partition(".")
    path = next((p for p in _check_modules() if p.stem == f"test_{chapter}"), None)
    if path is None:
        return None
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == f"test_{name}":
            calls = [d for d in node.decorator_list if isinstance(d, ast.Call) and ast.unparse(d.func) == "check"]
            return next((str(ast.literal_eval(d.args[0])) for d in calls), None)
    return None


def note(name: str) -> str | None:
    """Text of a numbered interpretation or erratum (``I-31``, ``E-04``); None if the number does not exist."""
    match = re.search(rf"^### ({re.escape(name)} .*?)(?=^##|\Z)", _notes(), re.DOTALL | re.MULTILINE)
    return None if match is None else match[1].strip().replace("**", "")


@cache
def notes() -> tuple[tuple[str, str, frozenset[str]], ...]:
    """All interpretations and errata, each with its number, its title, and the requirements that its text names."""
    sections = re.findall(r"^### ([IE]-\d+) ([^\n]*)\n(.*?)(?=^##|\Z)", _notes(), re.DOTALL | re.MULTILINE)
    return tuple((name, title, frozenset(re.findall(r"LRO-[A-Z]+-\d{2}", text))) for name, title, text in sections)


def _notes() -> str:
    for path in _NOTES:
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise FileNotFoundError(f"interpretations.md is in none of {', '.join(map(str, _NOTES))}: reinstall lro-spec")


_SPEC = Path(lro_spec.__file__).parent
_NOTES = (_SPEC / "interpretations.md", _SPEC.parent / "docs" / "interpretations.md")


def _is_check_of(decorator: ast.expr, id: str) -> bool:
    """True for ``@check("<id>", …)``."""
    return ast.unparse(decorator).startswith(f"check({id!r}")


def select(
    requirements: Iterable[Requirement], *, level: int | None = None, groups: Sequence[str] = ()
) -> list[Requirement]:
    """The requirements of these groups, or of all groups if none is given. If *level* is given, only the requirements
    that belong to this level or to a lower level."""
    return [
        r
        for r in requirements
        if (level is None or (r.level is not None and r.level <= level)) and (not groups or r.group in groups)
    ]


def listing(requirements: Sequence[Requirement]) -> Iterator[str]:
    """A line for each requirement: id, keyword, level (``-`` if it belongs to no level), group, title."""
    width = max((len(r.id) for r in requirements), default=0)
    for r in requirements:
        suffix = "" if r.excluded is None else " [not judged]"
        yield f"{r.id:<{width}}  {r.keyword:<6}  {r.level or '-'}  {r.group:<11}  {r.title}{suffix}"


def as_json(requirements: Sequence[Requirement]) -> str:
    """The requirements as a JSON array of objects with the keys of the catalogue."""
    return json.dumps([asdict(r) for r in requirements], ensure_ascii=False, indent=2)


def as_sep(requirements: Sequence[Requirement], edition: str) -> str:
    """The requirements as a traceability file, in the form that MCP's SEP-2484 requires of a proposal.

    Each check has a row with the requirement that it tests, and each excluded requirement has a row with the reason.
    A requirement with the keyword MAY has no row, because SEP-2484 does not demand one.
    """
    rows: list[dict[str, str]] = []
    for r in requirements:
        text = f"{r.id}: {r.statement}"
        if r.excluded is not None:
            rows += [{"text": text, "excluded": r.excluded}] if r.keyword != "MAY" else []
        elif r.keyword != "MAY":
            rows += [{"check": name, "text": text} for name in checks_by_requirement()[r.id]]
    import yaml

    document = {"sep": edition, "spec_url": f"urn:lro-spec:edition:{edition}", "requirements": rows}
    return yaml.safe_dump(document, allow_unicode=True, sort_keys=False, width=120)


def nearest(word: str, candidates: Sequence[str]) -> list[str]:
    """Up to three *candidates* that resemble *word*."""
    return get_close_matches(word, candidates, n=3, cutoff=0.6)


def full_id(id: str) -> str:
    """The complete id: ``LRO-FILE-06`` for ``file-06``."""
    upper = id.strip().upper()
    return upper if upper.startswith("LRO-") else f"LRO-{upper}"
