"""`lro requirements`, `lro explain`, `lro schema`: what is required, and what is published."""

from __future__ import annotations

import re

import click

from lro_conformance.misuse import Misuse
from lro_conformance.showing import known_edition

_edition = click.option("--edition", "edition_name", metavar="E", help="The text to judge by (default: lro-6400).")


def _ids(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """For the shell: ids that begin so, in any case."""
    from lro_spec.requirements import catalogue

    return [r.id for r in catalogue() if r.id.startswith(incomplete.upper())]


def _schemas(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from lro_spec.schemas import SCHEMA_NAMES

    return [name for name in SCHEMA_NAMES if name.startswith(incomplete)]


@click.command()
@_edition
@click.option("--level", type=click.IntRange(1, 3), metavar="N", help="Only what binds a server that claims level N.")
@click.option("--group", "groups", multiple=True, metavar="G", help="Only this group; may be given more than once.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with everything the catalogue knows.")
def requirements(edition_name: str | None, level: int | None, groups: tuple[str, ...], as_json: bool) -> None:
    """List what is required: id, keyword, level (-: decides none), group, title."""
    from lro_conformance.report import catalogue
    from lro_spec.requirements import GROUPS
    from lro_spec.requirements import catalogue as load

    for group in groups:
        if group not in GROUPS:
            raise Misuse(f"no group {group!r}: expected one of {', '.join(GROUPS)}")
    chosen = catalogue.select(load(known_edition(edition_name)), level=level, groups=groups)
    click.echo(catalogue.as_json(chosen) if as_json else "\n".join(catalogue.listing(chosen)))


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID…", shell_complete=_ids)
@_edition
def explain(ids: tuple[str, ...], edition_name: str | None) -> None:
    """Explain a requirement: what it says, why, how it is checked, how a failure is mended.

    ID is that of a requirement (LRO-FILE-06, or FILE-06), of a reading or an erratum of the text (I-31, E-04), or the
    name of a check (file.header_count), which stands for its requirement.
    """
    from shutil import get_terminal_size

    from lro_conformance.report.catalogue import full_id, nearest, note, requirement_of
    from lro_conformance.report.explaining import WIDTH, as_text, explained
    from lro_spec.requirements import by_edition, catalogue

    edition = known_edition(edition_name)
    width = max(40, min(WIDTH, get_terminal_size((WIDTH, 24)).columns))
    texts: list[str] = []
    for given in ids:
        told = note(given.upper()) if re.fullmatch(r"[IEie]-\d+", given) else None
        id = requirement_of(given) or full_id(given)
        if told is not None:
            texts.append(told)
        elif edition in (held := by_edition(id)):
            texts.append("\n".join(as_text(explained(held[edition]), width)))
        elif held:
            raise Misuse(f"{id} is no requirement of {edition}: it is one of {', '.join(held)} (--edition)")
        else:
            near = nearest(id, [r.id for r in catalogue(edition)])
            hint = f"; did you mean {' or '.join(near)}?" if near else "; `lro requirements` lists them"
            raise Misuse(f"no requirement {given!r} in {edition}{hint}")
    click.echo("\n\n".join(texts))


@click.command()
@click.argument("name", required=False, shell_complete=_schemas)
def schema(name: str | None) -> None:
    """Print a JSON Schema (2020-12); without NAME, list which there are."""
    from lro_spec.schemas import SCHEMA_NAMES, schema_text

    if name is None:
        click.echo("\n".join(SCHEMA_NAMES))
    elif name in SCHEMA_NAMES:
        click.echo(schema_text(name), nl=False)
    else:
        raise Misuse(f"no schema {name!r}: expected one of {', '.join(SCHEMA_NAMES)}")
