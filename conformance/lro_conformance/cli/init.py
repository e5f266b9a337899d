"""`lro init`: probe a server and write its profile."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import join, quote
from typing import Any

import click

from lro_conformance.cli.options import ServerCommand
from lro_conformance.errors import EXIT_FAILED, EXIT_NO_VERDICT, UsageError


@click.command(cls=ServerCommand)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("lro.yaml"),
    metavar="F",
    help="Write to F instead of lro.yaml.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option(
    "--tool",
    "tools",
    multiple=True,
    metavar="OPERATION=TOOL",
    help="Tool that performs recall, search or inject, if its name does not say so; repeatable.",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND [ARG…]")
def init(output: Path, force: bool, tools: tuple[str, ...], command: tuple[str, ...]) -> int:
    """Probe a server and write a commented profile: its tools, its settings, what triggers cleanup.

    The server is started several times, in temporary directories. No memory is stored in it. What could not be found
    is marked NOT FOUND in the profile. If no tool is named like an operation, you are asked for it in a terminal; in a
    script, name it with --tool.

    Exit code: 0 written, 1 written, but no operation was found, 2 the call is wrong or the file exists, 3 the server
    does not start or does not answer.
    """
    from lro_conformance.capture.summary import what_came
    from lro_conformance.init.probe import probe
    from lro_conformance.init.writer import profile_text
    from lro_conformance.lab.errors import ServerTrouble
    from lro_conformance.lab.operations import NoSuchTool
    from lro_conformance.profile import ProfileError, load, profile_for_command
    from lro_conformance.profile.secrets import masks_of
    from lro_conformance.report.atomic import check_target, write_text
    from lro_conformance.report.sanitize import one_line
    from lro_conformance.wire.subreaper import adopt_orphans

    tools_by_operation = _tools_by_operation(tools)
    if output.exists() and not force:
        raise UsageError(f"{output} already exists: choose a different file with -o, or overwrite it with --force")
    try:
        check_target(output)
    except OSError as problem:
        raise UsageError(f"{output}: {problem}") from None
    profile = profile_for_command(command)
    masks = masks_of(profile)
    try:
        with adopt_orphans():
            choose = _choose if sys.stdin.isatty() and sys.stderr.isatty() else None
            found = probe(profile, lambda step: click.echo(f"lro: {step}", err=True), tools_by_operation, choose)
    except NoSuchTool as problem:
        raise UsageError(f"--tool: {one_line(str(problem), 1_000)}") from None
    except ServerTrouble as trouble:
        click.echo(f"lro init: {one_line(masks.text(str(trouble)), 1_000)}", err=True)
        return EXIT_NO_VERDICT
    text = profile_text(found, masks.text)
    try:
        write_text(text, output)
        load(output)
    except OSError as problem:
        raise UsageError(f"{output}: {problem}") from None
    except ProfileError as problem:
        raise RuntimeError(f"the profile that was written is not valid: {problem}") from None
    missing = text.count("NOT FOUND")
    click.echo(f"{output}: {_summary(found.name, len(found.operations), len(found.settings))}")
    if missing:
        click.echo(f"{missing} not found: see the lines with NOT FOUND in {output}")
    if masks.value(command) != command:
        click.echo(f"{output}: its command contains a secret, which is a value of your environment", err=True)
    option = "" if output == Path("lro.yaml") else f" --profile {output}"
    if found.operations:
        if not found.offloads:
            is_empty = found.fruitless and len(found.fruitless) == len(found.operations)
            by_tool = f", as {output} proposes" if found.storing is not None else ""
            empty = (
                f"no call returned records: if the server holds none, give it some by `seed`{by_tool}; if it holds "
                f"some, give `operations` in {output} arguments that find them"
            )
            inline = f"this server does not seem to offload; if it does, say in {output} how its threshold is set"
            if not found.answers:
                failed = next(iter(found.calls.values()))
                said = one_line(masks.text(f"{failed.label}: {what_came(failed)}"), 400)
                click.echo(f"no call returned a result, so whether this server offloads is unknown; {said}")
                click.echo(f"remove the cause that the error names; if it is the arguments, change them in {output}")
            else:
                click.echo(empty if is_empty else inline)
        click.echo(f"next: lro certify{option}")
        return 0
    why = "none of the tools resembles recall, search or inject" if found.tools else "the server lists no tools"
    click.echo(f"lro init: no operation was found: {why}, so nothing could be observed", err=True)
    if found.tools:
        names = [str(tool.get("name")) for tool in found.tools]
        tool = quote(f"recall={one_line(names[0], 200)}") if len(names) == 1 else "recall=NAME"
        words = join(masks.value(command)) if len(names) == 1 else "COMMAND"
        click.echo(f"next: lro init --force{option and f' -o {output}'} --tool {tool} -- {words}")
    return EXIT_FAILED


def _choose(tools: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Ask which of the listed tools returns many records; it becomes that of recall."""
    from lro_conformance.report.sanitize import one_line

    click.echo("No tool is named like recall, search or inject. The server lists:", err=True)
    for number, tool in enumerate(tools, 1):
        words = one_line(str(tool.get("description") or ""), 70)
        click.echo(f"  {number:>3}  {one_line(str(tool.get('name')), 60)}{words and f': {words}'}", err=True)
    number = click.prompt(
        "Which one returns many records? It is called with sample arguments. Its number, or 0 for none",
        type=click.IntRange(0, len(tools)),
        default=0,
        err=True,
    )
    return {"recall": str(tools[number - 1].get("name"))} if number else {}


def _tools_by_operation(tools: tuple[str, ...]) -> dict[str, str]:
    """Parse the values of ``--tool``. Raises `UsageError` for a value that is not OPERATION=TOOL."""
    from lro_conformance.lab.operations import OPERATIONS

    parsed = {operation: tool for operation, _, tool in (value.partition("=") for value in tools)}
    for operation, tool in parsed.items():
        if operation not in OPERATIONS or not tool:
            raise UsageError(
                f"--tool {operation}={tool}: expected OPERATION=TOOL, where OPERATION is one of {', '.join(OPERATIONS)}"
            )
    return parsed


def _summary(name: str, operations: int, settings: int) -> str:
    from lro_conformance.report.sanitize import one_line

    title = one_line(name, 80) or "unnamed server"
    return f"{title}: {operations} of 3 operations, {settings} of 4 settings"
