"""The page of the Python interface, from signatures and docstrings, without importing the code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import griffe

ROOT = Path(__file__).resolve().parent.parent.parent
PATHS = [ROOT, ROOT / "conformance", ROOT / "reference_impl"]

PUBLIC = (
    (
        "Validation",
        "lro_spec.validation",
        (
            "validate_descriptor",
            "validate_file",
            "validate_header",
            "validate_line",
            "follow",
            "Finding",
            "json_schema",
        ),
    ),
    ("In a server's own tests", "lro_spec.testing", ("assert_valid_descriptor",)),
    (
        "Messages",
        "lro_spec.messages",
        ("OffloadResponse", "OffloadSummary", "OffloadHeader", "JqRecipe", "find_descriptor", "MessageError"),
    ),
    ("Editions and requirements", "lro_spec.editions", ("Edition", "edition")),
    ("", "lro_spec.catalogue", ("Requirement", "catalogue", "requirement")),
    ("Certifying", "lro_conformance.engine.run", ("certify",)),
    ("", "lro_conformance.profile", ("Profile", "load")),
    ("", "lro_conformance.judging.results", ("Report",)),
    ("Offloading", "lro_proxy", ("Interceptor",)),
    ("", "lro_reference", ("Settings",)),
)
"""Headings, each with a module and its public names."""


def python_page() -> Iterator[str]:
    """The lines of the page."""
    yield from ("# Python", "", "The public interface. Everything else may change without notice.")
    loaded = griffe.GriffeLoader(search_paths=PATHS)
    for package in ("lro_spec", "lro_conformance", "lro_reference", "lro_proxy"):
        loaded.load(package)
    loaded.resolve_aliases()
    for heading, module, names in PUBLIC:
        if heading:
            yield from ("", f"## {heading}")
        yield from ("", f"From `{module}`:")
        for name in names:
            found = loaded.modules_collection[f"{module}.{name}"]
            if isinstance(found, griffe.Alias):
                found = found.final_target
            yield from _object(name, found)


def _object(name: str, found: griffe.Object) -> Iterator[str]:
    yield from ("", f"### {name}", "")
    if isinstance(found, griffe.Function):
        yield from ("``` python", *_signature(name, found), "```", "")
    elif isinstance(found, griffe.Class) and isinstance(start := found.members.get("__init__"), griffe.Function):
        yield from ("``` python", *_signature(name, start), "```", "")
    yield from _doc(found)
    if isinstance(found, griffe.Class):
        yield from _members(found)


def _members(found: griffe.Class) -> Iterator[str]:
    for name, member in found.members.items():
        if name.startswith("_") and name != "__call__":
            continue
        if isinstance(member, griffe.Attribute):
            type = f": `{member.annotation}`" if member.annotation is not None else ""
            said = " ".join(member.docstring.value.split()) if member.docstring is not None else ""
            yield from ("", f"- `{name}`{type}{'. ' if said else ''}{said}")
        elif isinstance(member, griffe.Function) and member.docstring is not None:
            yield from ("", f"#### {found.name}.{name}", "", "``` python", *_signature(name, member), "```", "")
            yield from _doc(member)


def _signature(name: str, function: griffe.Function) -> Iterator[str]:
    parts: list[str] = []
    kinds = griffe.ParameterKind
    starred = False
    for p in function.parameters:
        if p.name in ("self", "cls"):
            continue
        if p.kind is kinds.keyword_only and not starred:
            parts.append("*")
            starred = True
        starred = starred or p.kind is kinds.var_positional
        lead = {kinds.var_positional: "*", kinds.var_keyword: "**"}.get(p.kind or kinds.positional_or_keyword, "")
        type = f": {p.annotation}" if p.annotation is not None else ""
        default = "" if p.default is None or lead else f" = {p.default}" if type else f"={p.default}"
        parts.append(f"{lead}{p.name}{type}{default}")
    returns = f" -> {function.returns}" if function.returns is not None else ""
    whole = f"{name}({', '.join(parts)}){returns}"
    if len(whole) <= 100:
        yield whole
    else:
        yield from (f"{name}(", *(f"    {part}," for part in parts), f"){returns}")


def _doc(found: griffe.Object) -> Iterator[str]:
    if found.docstring is not None:
        yield from found.docstring.value.splitlines()
