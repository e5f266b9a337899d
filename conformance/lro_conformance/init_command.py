"""`lro init`: try a server out, and write a profile of what was found."""

from __future__ import annotations

from pathlib import Path

import click

from lro_conformance.misuse import Misuse

NO_VERDICT = 3


@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("lro.yaml"),
    metavar="F",
    help="Not lro.yaml, but F.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option(
    "--tool",
    "tools",
    multiple=True,
    metavar="OPERATION=TOOL",
    help="The tool of recall, search or inject, where its name does not say so; may be given for each.",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND [ARG…]")
def init(output: Path, force: bool, tools: tuple[str, ...], command: tuple[str, ...]) -> int:
    """Try a server out and write a commented profile of it: its tools, its settings, what makes it clean up.

    The server is started some times, in folders of the suite's own; no memory is stored in it. What could not be found
    is marked in the profile.

    Exit code: 0 written, 2 the call is wrong or the file is there, 3 the server does not start or does not answer.
    """
    from lro_conformance.evidence.masking import masks_of
    from lro_conformance.lab import ServerTrouble
    from lro_conformance.operations import NoSuchTool
    from lro_conformance.probing import probe
    from lro_conformance.profile import Profile, ProfileError, load
    from lro_conformance.profile.writing import profile_text
    from lro_conformance.report.target import check_target, write_text
    from lro_conformance.report.text import one_line
    from lro_conformance.wire.orphans import adopting

    named = _named(tools)
    if output.exists() and not force:
        raise Misuse(f"{output} is there already: name another file with -o, or replace it with --force")
    try:
        check_target(output)
    except OSError as problem:
        raise Misuse(f"{output}: {problem}") from None
    profile = Profile.for_command(command)
    masks = masks_of(profile)
    try:
        with adopting():
            found = probe(profile, lambda step: click.echo(f"lro: {step}", err=True), named)
    except NoSuchTool as problem:
        raise Misuse(f"--tool: {one_line(str(problem), 1_000)}") from None
    except ServerTrouble as trouble:
        click.echo(f"lro init: {one_line(masks.text(str(trouble)), 1_000)}", err=True)
        return NO_VERDICT
    text = profile_text(found, masks.text)
    try:
        write_text(text, output)
        load(output)
    except OSError as problem:
        raise Misuse(f"{output}: {problem}") from None
    except ProfileError as problem:
        raise RuntimeError(f"the profile that was written is not valid: {problem}") from None
    missing = text.count("NOT FOUND")
    click.echo(f"{output}: {_summary(found.name, len(found.operations), len(found.settings))}")
    if missing:
        click.echo(f"{missing} not found: look for NOT FOUND in {output}")
    if masks.value(command) != command:
        click.echo(f"{output}: there is a secret in its command, from a variable of your environment", err=True)
    given = "" if output == Path("lro.yaml") else f" --profile {output}"
    again = f"lro init --force{given and f' -o {output}'} --tool recall=NAME -- COMMAND"
    click.echo(f"next: {again if found.tools and not found.operations else f'lro certify{given}'}")
    return 0


def _named(tools: tuple[str, ...]) -> dict[str, str]:
    """The tools of operations as ``--tool`` gives them. Raises `Misuse` for what is no OPERATION=TOOL."""
    from lro_conformance.operations import OPERATIONS

    found = {operation: tool for operation, _, tool in (given.partition("=") for given in tools)}
    for operation, tool in found.items():
        if operation not in OPERATIONS or not tool:
            raise Misuse(
                f"--tool {operation}={tool}: expected OPERATION=TOOL, with {', '.join(OPERATIONS)} before the ="
            )
    return found


def _summary(name: str, operations: int, settings: int) -> str:
    from lro_conformance.report.text import one_line

    said = one_line(name, 80) or "a server without a name"
    return f"{said}: {operations} of 3 operations, {settings} of 4 settings"
