"""`lro requirements`, `lro explain` and `lro schema`: the catalogue and the published schemas."""

from __future__ import annotations

import re

import click

from lro_conformance.cli.options import known_edition
from lro_conformance.errors import UsageError

_edition = click.option("--edition", "edition_name", metavar="E", help="Edition to read (default: lro-6400).")


def _ids(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Ids for shell completion; case is ignored."""
    from lro_spec.catalogue import catalogue

    return [r.id for r in catalogue() if r.id.startswith(incomplete.upper())]


def _schemas(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from lro_spec.schema.bundled import SCHEMA_NAMES

    return [name for name in SCHEMA_NAMES if name.startswith(incomplete)]


@click.command()
@_edition
@click.option("--level", type=click.IntRange(1, 3), metavar="N", help="List only requirements of levels 1 to N.")
@click.option("--group", "groups", multiple=True, metavar="G", help="List only this group; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every field of the catalogue (--format json).")
@click.option(
    "--format",
    "form",
    type=click.Choice(["list", "json", "sep"]),
    default="list",
    help="sep: the traceability file of a proposal to MCP, which lists each check with the text that it tests.",
)
def requirements(
    edition_name: str | None, level: int | None, groups: tuple[str, ...], as_json: bool, form: str
) -> None:
    """List the requirements: id, keyword, level (-: decides no level), group, title."""
    from lro_conformance.report import catalogue
    from lro_spec.catalogue import GROUPS
    from lro_spec.catalogue import catalogue as load

    for group in groups:
        if group not in GROUPS:
            raise UsageError(f"no group {group!r}: expected one of {', '.join(GROUPS)}")
    edition = known_edition(edition_name)
    chosen = catalogue.select(load(edition), level=level, groups=groups)
    if as_json or form == "json":
        click.echo(catalogue.as_json(chosen))
    elif form == "sep":
        click.echo(catalogue.as_sep(chosen, edition), nl=False)
    else:
        click.echo("\n".join(catalogue.listing(chosen)))


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID…", shell_complete=_ids)
@_edition
def explain(ids: tuple[str, ...], edition_name: str | None) -> None:
    """Explain a requirement: what it says, why, how it is checked, how to fix a failure.

    ID is a requirement (LRO-FILE-06, or FILE-06), an interpretation or erratum (I-31, E-04), or the name of a check
    (file.header_count), which stands for its requirement.
    """
    from shutil import get_terminal_size

    from lro_conformance.cli.explain import WIDTH, as_text, explanation
    from lro_conformance.report.catalogue import full_id, nearest, note, requirement_of
    from lro_spec.catalogue import catalogue, wordings_by_edition

    edition = known_edition(edition_name)
    width = max(40, min(WIDTH, get_terminal_size((WIDTH, 24)).columns))
    texts: list[str] = []
    for word in ids:
        text = note(word.upper()) if re.fullmatch(r"[IEie]-\d+", word) else None
        id = requirement_of(word) or full_id(word)
        if text is not None:
            texts.append(text)
        elif edition in (versions := wordings_by_edition(id)):
            texts.append("\n".join(as_text(explanation(versions[edition]), width)))
        elif versions:
            raise UsageError(f"{edition} has no requirement {id}; it is in {', '.join(versions)} (--edition)")
        else:
            if group := [r.id for r in catalogue(edition) if r.group == word.lower()]:
                raise UsageError(f"{word} is a group: {', '.join(group)}")
            near = nearest(id, [r.id for r in catalogue(edition)])
            hint = f"; did you mean {' or '.join(near)}?" if near else "; `lro requirements` lists them"
            raise UsageError(f"no requirement {word!r} in {edition}{hint}")
    click.echo("\n\n".join(texts))


@click.command()
@click.argument("name", required=False, shell_complete=_schemas)
def schema(name: str | None) -> None:
    """Print a JSON Schema (2020-12), or list the schemas if no NAME is given."""
    from lro_spec.schema.bundled import SCHEMA_NAMES, schema_text

    if name is None:
        click.echo("\n".join(SCHEMA_NAMES))
    elif name in SCHEMA_NAMES:
        click.echo(schema_text(name), nl=False)
    else:
        raise UsageError(f"no schema {name!r}: expected one of {', '.join(SCHEMA_NAMES)}")
