"""`lro init`: probe a server and write its profile."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

import click

from lro_conformance.cli.options import ServerCommand
from lro_conformance.errors import EXIT_FAILED, EXIT_NO_VERDICT, UsageError
from lro_conformance.report.sanitize import one_line

if TYPE_CHECKING:
    from lro_conformance.init.probe import ProbeResult


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
    help="Tool that performs recall, search or inject, if its name does not say so; with seed=TOOL, TOOL stores the "
    "suite's memories. Repeatable.",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND [ARG…]")
def init(output: Path, force: bool, tools: tuple[str, ...], command: tuple[str, ...]) -> int:
    """Probe a server and write a commented profile: its tools, its settings, what triggers cleanup.

    The server is started several times, in temporary directories. What could not be found is marked NOT FOUND in the
    profile. If no tool is named like an operation, you are asked to choose one; where there is no terminal, use --tool.

    No memory is stored in the server, unless you name the tool that stores one: --tool seed=TOOL. Do so only if each
    process has data of its own: {workdir} in COMMAND stands for a new directory for each process.

    Exit code: 0: the profile was written. 1: it was written, but no operation was found. 2: the command line is
    invalid, or the file exists or cannot be written. 3: the server does not start or does not answer.
    """
    from lro_conformance.capture.summary import result_summary
    from lro_conformance.init.probe import probe
    from lro_conformance.init.writer import OUTPUT, count_not_found, init_command, profile_text, proposed_tools
    from lro_conformance.lab.errors import ServerTrouble
    from lro_conformance.lab.operations import OPERATIONS, NoSuchTool
    from lro_conformance.profile import ProfileError, load, profile_for_command
    from lro_conformance.profile.secrets import masks_of
    from lro_conformance.report.atomic import check_target, write_text
    from lro_conformance.wire.subreaper import adopt_orphans

    tools_by_operation = _tools_by_operation(tools)
    seed = tools_by_operation.pop("seed", None)
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
            found = probe(profile, lambda step: click.echo(f"lro: {step}", err=True), tools_by_operation, choose, seed)
    except NoSuchTool as problem:
        raise UsageError(f"--tool: {one_line(str(problem), 1_000)}") from None
    except ServerTrouble as trouble:
        click.echo(f"lro init: {one_line(masks.text(str(trouble)), 1_000)}", err=True)
        if not profile.server.env:
            click.echo("if the server needs variables, put them before its command: env NAME=VALUE COMMAND", err=True)
        return EXIT_NO_VERDICT
    text = profile_text(found, masks.text, output)
    try:
        write_text(text, output)
        load(output)
    except OSError as problem:
        raise UsageError(f"{output}: {problem}") from None
    except ProfileError as problem:
        raise RuntimeError(f"the profile that was written is not valid: {problem}") from None
    not_found_count = count_not_found(text)
    click.echo(f"{output}: {_summary(found)}")
    if not_found_count and found.operations:
        click.echo(f"{not_found_count} not found: each line with NOT FOUND in {output} says whether it needs an entry")
    if masks.value(command) != command:
        click.echo(f"{output}: its command contains a secret: a value from your environment", err=True)
    if "seed" in found.failed_attempts:
        why = one_line(masks.text(found.failed_attempts["seed"]), 1_000)
        click.echo(f"lro init: nothing was stored by {seed}: {why}", err=True)

    if found.profile.seed is not None:
        for remark in found.seed_remarks:
            click.echo(f"note: {one_line(remark, 1_000)}")
    elif found.seed is not None and found.seed_remarks:
        click.echo(f"{output} proposes a seed; comments that begin with Note say what it leaves out")

    with_own_data = ["env", "MY_DATA={workdir}/data", *masks.value(command)]

    def repeat_command(tools: Mapping[str, str], words: Sequence[str] = masks.value(command)) -> str:
        return init_command(found, words, output, tools)

    own_data = f"`-- {join(with_own_data)}`"

    missing_operations = [name for name in OPERATIONS if found.operations and name not in found.operations]
    guessed = {name: tool for name, tool in proposed_tools(found, missing_operations).items() if tool != "NAME"}
    if guessed:
        guesses = " and ".join(f"{one_line(tool, 200)} may perform {name}" for name, tool in guessed.items())
        its, was = ("its name", "it was") if len(guessed) == 1 else ("their names", "they were")
        click.echo(
            f"judging by {its}, {guesses}; {was} not called. If the guess is right, run: {repeat_command(guessed)}"
        )

    for name, stated in found.stated_operations.items():
        tool = one_line(found.operations[name].tool, 200)
        click.echo(
            f"note: {tool} stands under {name} in {output}, but its descriptors state the operation {stated}; if that "
            f"is right, write {stated} in place of {name}"
        )

    certify = "lro certify" if output == OUTPUT else f"lro certify --profile {output}"
    if found.finds_nothing:
        for line in _advice_on_empty(found, output, certify, own_data):
            click.echo(line)
        if _may_be_seeded(found):
            storing = {"seed": str((found.storing_tool or {}).get("name"))}
            if found.has_own_data:
                click.echo(f"next: {repeat_command(storing)}")
            else:
                click.echo(f"next, if its data are in a file or a directory: {repeat_command(storing, with_own_data)}")
                click.echo(f"next, if each process has data of its own: {repeat_command(storing)}")
        return 0
    if found.operations:
        if not found.offloads:
            if not found.answers:
                failed = next(iter(found.calls.values()))
                error_text = one_line(masks.text(f"{failed.label}: {result_summary(failed)}"), 400)
                click.echo(f"no call returned a result, so whether this server offloads is unknown; {error_text}")
                click.echo(f"remove the cause that the error names; if it is the arguments, change them in {output}")
            else:
                advice = f"this server does not seem to offload; if it does, say in {output} how its threshold is set"
                click.echo(advice)
        click.echo(f"next: {certify}")
        return 0
    why = "no tool clearly performs recall, search or inject" if found.tools else "the server lists no tools"
    click.echo(f"lro init: no operation was found: {why}, so nothing could be observed", err=True)
    if found.tools:
        click.echo(
            "name your tools with --tool recall=TOOL (it returns many records), --tool search=TOOL (it finds some by "
            f"words) and --tool inject=TOOL (it gathers context for a prompt), or under `operations` in {output}"
        )
        tools_by_operation = proposed_tools(found, OPERATIONS)
        proposed = {name: tool for name, tool in tools_by_operation.items() if tool != "NAME"} or {"recall": "NAME"}
        if _may_be_seeded(found) and found.has_own_data:
            proposed["seed"] = str((found.storing_tool or {}).get("name"))
        elif _may_be_seeded(found):
            seed_option = f"add --tool seed={one_line(str((found.storing_tool or {}).get('name')), 200)}"
            click.echo(f"if the server starts empty, {seed_option}{_with_own_data(found, own_data)}")
        click.echo(f"next: {repeat_command(proposed)}")
    return EXIT_FAILED


def _may_be_seeded(found: ProbeResult) -> bool:
    """True if a tool seems to store memories and has not been called yet. The next step may then be to name it as
    seed."""
    is_seeded = found.profile.seed is not None or "seed" in found.failed_attempts
    return found.storing_tool is not None and found.unfound_message is None and not is_seeded


def _advice_on_empty(found: ProbeResult, output: Path, certify: str, own_data: str) -> Iterator[str]:
    """Advice on a server that returned no records. If `_may_be_seeded` is false, the last line is the next step.

    *own_data* is the end of a command that gives each process a directory of its own.
    """
    if found.unfound_message is not None:
        yield one_line(found.unfound_message, 1_000)
        yield f"next: edit {output}, then {certify}"
        return
    arguments_advice = f"if the server holds some, give `operations` in {output} arguments that find them"
    if not _may_be_seeded(found):
        yield f"no call returned records: {arguments_advice}"
        if found.storing_tool is None and found.profile.seed is None:
            condition = _with_own_data(found, own_data)
            yield f"if it holds none, name the tool that stores one: add --tool seed=NAME{condition}"
        yield f"next: edit {output}, then {certify}"
        return
    tool = one_line(str((found.storing_tool or {}).get("name")), 200)
    yield f"no call returned records, so nothing else could be tried: {arguments_advice}"
    data_advice = (
        ""
        if found.has_own_data
        else (
            ": below, replace MY_DATA with the variable that says where its data are; {workdir} is a new directory for "
            "each process"
        )
    )
    yield f"if it holds none, have {tool} store the memories of the suite{data_advice}"


def _with_own_data(found: ProbeResult, own_data: str) -> str:
    """The condition under which the suite may store memories; empty if the command meets it."""
    if found.has_own_data:
        return ""
    return (
        "; if the server keeps its data in a file or a directory, let the command put them into {workdir}, a new "
        f"directory for each process, as in {own_data}"
    )


def _choose(tools: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Ask which of the listed tools returns many records, and return it as the tool of recall. Empty if the user names
    no tool."""
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
    names = (*OPERATIONS, "seed")
    for operation, tool in parsed.items():
        if operation not in names or not tool:
            raise UsageError(
                f"--tool {operation}={tool}: expected OPERATION=TOOL, where OPERATION is one of {', '.join(names)}"
            )
    return parsed


def _summary(found: ProbeResult) -> str:
    title = one_line(found.name, 80) or "unnamed server"
    if not found.operations:
        return f"a draft for {title}; none of its operations is known yet"
    tried = found.operations and not found.finds_nothing
    settings = f"{len(found.settings)} of 4 settings" if tried else "settings could not be tried"
    return f"{title}: {len(found.operations)} of 3 operations, {settings}"
