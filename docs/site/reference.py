"""The reference pages of the site, generated from the catalogue, the schemas, the command line and docstrings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, cast

import click
import traceability
from api import python_page

from lro_conformance.cli.explain import as_markdown, explanation
from lro_conformance.cli.main import COMMANDS, command_named, lro
from lro_conformance.report.catalogue import notes
from lro_spec.catalogue import Chapter, chapters
from lro_spec.schema.bundled import SCHEMA_NAMES, schema_text

WIDTH = 100


def pages() -> Iterator[tuple[str, str]]:
    """All generated pages: path among the sources, and text."""
    yield "reference/requirements/index.md", _lines(_requirements(chapters()))
    for chapter in chapters():
        for r in chapter.requirements:
            page = chain(as_markdown(explanation(r), _address), traceability.of_requirement(r.id))
            yield f"reference/requirements/{r.id}.md", _lines(page)
    yield from traceability.pages()
    yield "reference/schemas/index.md", _lines(_schemas())
    for name in SCHEMA_NAMES:
        yield f"reference/schemas/{name}.md", _lines(_schema(name))
    yield "reference/command-line.md", _lines(_commands())
    yield "reference/python.md", _lines(python_page())


def _lines(lines: Iterator[str]) -> str:
    return "\n".join(lines) + "\n"


def _address(name: str) -> str | None:
    """Address of a requirement, an interpretation or an erratum, relative to a requirement's page."""
    if name.startswith("LRO-"):
        return f"{name}.md" if name in {r.id for c in chapters() for r in c.requirements} else None
    return next((f"../../interpretations.md#{_anchor(f'{n} {title}')}" for n, title, _ in notes() if n == name), None)


def _anchor(heading: str) -> str:
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def _requirements(all: tuple[Chapter, ...]) -> Iterator[str]:
    count = sum(len(c.requirements) for c in all)
    yield "# Requirements"
    yield ""
    yield f"The {count} requirements of the catalogue, by chapter. `lro explain ID` shows the same pages in a terminal,"
    yield "and `lro requirements` this list. A dash in place of a level: it decides none. Some cannot be judged from"
    yield "outside; their pages say why."
    for chapter in all:
        yield from ("", f"## {chapter.title}", "", "| id | keyword | level | title |", "|---|---|---|---|")
        for r in chapter.requirements:
            judged = "" if r.excluded is None else " (not judged)"
            yield f"| [{r.id}]({r.id}.md) | {r.keyword} | {r.level or '–'} | {r.title}{judged} |"


def _schemas() -> Iterator[str]:
    yield from (
        "# Schemas",
        "",
        "JSON Schema 2020-12, as `lro schema NAME` prints them.",
        "",
        "| name | of |",
        "|---|---|",
    )
    for name in SCHEMA_NAMES:
        schema = json.loads(schema_text(name))
        yield f"| [{name}]({name}.md) | {_cell(schema.get('description', schema.get('title', '')))} |"


def _schema(name: str) -> Iterator[str]:
    schema = cast("dict[str, Any]", json.loads(schema_text(name)))
    yield from (f"# {schema['title']}", "", schema.get("description", ""), "", "| key | type | is |", "|---|---|---|")
    for key, type, meaning in _keys(schema, schema, ""):
        yield f"| `{key}` | {_cell(type)} | {_cell(meaning)} |"
    yield from ("", f"## The schema, `lro schema {name}`", "", "``` json", schema_text(name).rstrip(), "```")


def _keys(schema: Mapping[str, Any], root: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str, str]]:
    """Each key of an object with its type and meaning, followed by the keys of nested objects and arrays."""
    required = cast("list[str]", schema.get("required", []))
    for key, given in cast("dict[str, Any]", schema.get("properties", {})).items():
        part = _resolved(given, root) if isinstance(given, dict) else {}
        path = f"{prefix}{key}"
        must = "" if key in required or not required else ", optional"
        yield path, f"{_type(part)}{must}", str(part.get("description", ""))
        if path.count(".") < 3:
            yield from _keys(part, root, f"{path}.")
            items = part.get("items")
            if isinstance(items, dict):
                yield from _keys(_resolved(cast("dict[str, Any]", items), root), root, f"{path}[].")


def _resolved(given: Any, root: Mapping[str, Any]) -> dict[str, Any]:
    part = cast("dict[str, Any]", given)
    found = part
    reference = part.get("$ref", "")
    if reference.startswith("#/"):
        target: Any = root
        for step in reference.removeprefix("#/").split("/"):
            target = target[step]
        found = {**target, **{k: v for k, v in part.items() if k != "$ref"}}
    return found


def _type(part: Mapping[str, Any]) -> str:
    if "const" in part:
        return f"`{json.dumps(part['const'])}`"
    if "enum" in part:
        return ", ".join(f"`{json.dumps(value)}`" for value in part["enum"])
    type = part.get("type")
    if isinstance(type, list):
        return " or ".join(cast("list[str]", type))
    if type is None and (choice := part.get("oneOf") or part.get("anyOf")):
        return " or ".join(dict.fromkeys(_type(one) for one in choice))
    return str(type or "any")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _commands() -> Iterator[str]:
    yield from ("# Command line", "", "What `lro --help` and the help of each command say.", "")
    yield from _help("lro", lro)
    for name in COMMANDS:
        yield from ("", f"## lro {name}", "")
        command = command_named(name)
        yield from _help(f"lro {name}", command)
        for part, inner in command.commands.items() if isinstance(command, click.Group) else ():
            yield from ("", f"### lro {name} {part}", "")
            yield from _help(f"lro {name} {part}", inner)


def _help(path: str, command: click.Command) -> Iterator[str]:
    with click.Context(command, info_name=path, max_content_width=WIDTH, terminal_width=WIDTH) as context:
        yield from ("``` text", *command.get_help(context).splitlines(), "```")
