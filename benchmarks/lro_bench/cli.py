"""`lro bench` and `lro weigh`: the commands, and the check that the extra is installed."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import click

from lro_bench.json_file import read_object
from lro_conformance.cli.help_examples import with_examples
from lro_conformance.cli.options import ServerCommand
from lro_conformance.errors import EXIT_INTERRUPTED, EXIT_NO_VERDICT, UsageError
from lro_conformance.report.atomic import write_text
from lro_conformance.report.outputs import Outputs, ReportFormat, format_options
from lro_conformance.report.sanitize import one_line

_FOLDER = click.Path(path_type=Path, file_okay=False)
AGENTS = ("oracle", "typical", "constant", "random")
_PACKAGE = "lro_bench"
PAPER_FORMS = (
    ReportFormat(
        "json",
        "All figures as JSON. Here and below, - is standard output.",
        (("", "paper_views:to_json"),),
        package=_PACKAGE,
    ),
    ReportFormat("markdown", "All figures as Markdown.", (("", "paper_views:to_markdown"),), package=_PACKAGE),
)
WEIGHT_FORMS = (
    ReportFormat(
        "json",
        "The report as JSON (lro-weights/1). Here and below, - is standard output.",
        (("", "weigh.report:to_json"),),
        package=_PACKAGE,
    ),
    ReportFormat("markdown", "The report as Markdown.", (("", "weigh.report:to_markdown"),), package=_PACKAGE),
    ReportFormat(
        "html", "The report as one HTML page, no network access.", (("", "weigh.report:to_html"),), package=_PACKAGE
    ),
)


def main(name: str, arguments: Sequence[str]) -> int:
    """Run ``lro bench`` or ``lro weigh``; click's exceptions are for the caller. Raises `UsageError`."""
    if find_spec("bpe_openai") is None:
        raise UsageError(f"lro {name} needs an extra that is not installed: pip install 'lro-spec[bench]'")
    command = with_examples({"bench": bench, "weigh": weigh}[name])
    try:
        with command.make_context(f"lro {name}", list(arguments)) as context:
            return command.invoke(context) or 0
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, FileExistsError, PermissionError) as problem:
        named = f"{problem.filename}: " if problem.filename else ""
        raise UsageError(f"{named}{problem.strerror or problem}") from None
    except UsageError as problem:
        if problem.exit_code != EXIT_NO_VERDICT:
            raise
        click.echo(f"lro {name}: {one_line(problem.message, 1_000)}", err=True)
        return EXIT_NO_VERDICT


@click.group()
def bench() -> None:
    """Benchmark of offloading: the published evaluation rebuilt, bounds without a model, and runs with one."""


@bench.command()
@click.option("--agent", "agents", multiple=True, type=click.Choice(AGENTS), help="Scripted agent; repeatable.")
@click.option(
    "--condition",
    "names",
    multiple=True,
    metavar="C",
    help="E1/LRO for one, E1 for a whole experiment, C1 for all with this name (--list shows them); repeatable.",
)
@click.option("--list", "show_list", is_flag=True, help="Show the conditions, with their tasks and limits, and exit.")
@click.option("-n", "sizes", multiple=True, type=int, metavar="N", help="Size of the corpus; repeatable.")
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of tasks per family (default: 15)."
)
@click.option(
    "-o", "--output", "folder", type=_FOLDER, default=Path("bench"), metavar="DIR", help="Folder (default: bench)."
)
@click.option("--model", metavar="M", help="Model of Inspect AI, such as openai/gpt-5-mini, in place of --agent.")
@click.option("--sandbox", metavar="S", help="Sandbox of Inspect AI for a model's shell and code, such as docker.")
@click.option("--resume", is_flag=True, help="Continue the run in DIR, by default with its options.")
def run(
    agents: tuple[str, ...],
    names: tuple[str, ...],
    sizes: tuple[int, ...],
    limit: int | None,
    folder: Path,
    model: str | None,
    sandbox: str | None,
    resume: bool,
    show_list: bool,
) -> int:
    """Let agents work on the tasks of conditions, and write the samples to DIR.

    Without options, the oracle and the two agents that call no tool work on all conditions and sizes. Two runs of
    scripted agents write the same bytes.

    Exit code: 0 done, 2 the call is wrong, or DIR has another run or cannot be written, 3 the server or the model does
    not answer.
    """
    from lro_bench.conditions import chosen_conditions, condition_lines
    from lro_bench.corpus import SIZES
    from lro_bench.models import run_model
    from lro_bench.progress import Progress
    from lro_bench.run import RUN, Choice, choice_of, read_run, resume_command
    from lro_bench.run import run as run_all

    if show_list:
        for line in condition_lines():
            click.echo(line)
        return 0
    if unknown := [n for n in sizes if n not in SIZES]:
        raise UsageError(f"-n {unknown[0]}: expected one of {', '.join(map(str, SIZES))}")
    chosen = Choice(
        chosen_conditions(names),
        tuple(dict.fromkeys(sizes)) or SIZES,
        tuple(dict.fromkeys(agents)) or ("oracle", "constant", "random"),
        limit,
    )
    if model is not None:
        if agents:
            raise UsageError("--model and --agent exclude each other")
    elif sandbox is not None:
        raise UsageError("--sandbox is for --model")
    if resume and not (names or sizes or agents or limit or model) and (folder / RUN).exists():
        try:  # with the options of the run
            described = read_run(folder / RUN)
            chosen, model, sandbox = choice_of(described), described.get("model"), described.get("sandbox")
        except ValueError as problem:
            raise UsageError(f"{folder}: {problem}") from None
    try:
        with Progress() as progress:
            samples = (
                run_all(chosen, folder, resume=resume, progress=progress.update)
                if model is None
                else run_model(
                    replace(chosen, agents=(model,)),
                    model,
                    folder,
                    sandbox=sandbox,
                    resume=resume,
                    progress=progress.update,
                    say=progress.say,
                )
            )
    except KeyboardInterrupt:
        click.echo(
            f"lro bench: interrupted; finished samples are kept: {resume_command(folder)} continues it", err=True
        )
        return EXIT_INTERRUPTED
    logs = "" if model is None else f", logs in {folder / 'logs'}"
    click.echo(f"{folder}: {len(samples)} samples{logs}; next: lro bench report {shlex.quote(str(folder))}")
    return 0


@bench.command()
@click.argument("folders", nargs=-1, required=True, type=_FOLDER, metavar="DIR…")
@click.option("-o", "--output", type=_FOLDER, metavar="DIR", help="Where to write (default: the first DIR).")
def report(folders: tuple[Path, ...], output: Path | None) -> int:
    """Write report.md, report.json and report.html of one or several runs.

    Exit code: 0 written, 2 a folder has no run, or cannot be written.
    """
    from lro_bench.report import report_of
    from lro_bench.report_views import to_html, to_json, to_markdown
    from lro_bench.run import writing

    made = report_of(folders)
    target = output or folders[0]
    texts = {"report.md": to_markdown(made), "report.json": to_json(made), "report.html": to_html(made)}
    with writing(target):
        target.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            write_text(text, target / name)
    for one in made.unfinished:
        click.echo(str(one))
    for name in texts:
        click.echo(target / name)
    return 0


@bench.command()
@click.option("-v", "--verbose", is_flag=True, help="Also show the figures that need a model, not only their number.")
@click.option(
    "--timing", is_flag=True, help="Also measure writing a file, and the start of jq and grep, on this machine."
)
@format_options(PAPER_FORMS)
def paper(verbose: bool, timing: bool, outputs: Outputs) -> int:
    """Recompute the paper's figures: each published number beside ours.

    Exit code: 0 exactly the known contradictions were found, 1 another one was found or a known one was not, 2 the call
    is wrong or a file cannot be written.
    """
    from lro_bench.paper import compare, published, unexpected
    from lro_bench.paper_views import text_lines, timing_lines

    outputs.check()
    figures = published()
    comparisons = compare(figures)
    outputs.write(comparisons)
    stream = sys.stderr if outputs.uses_stdout else sys.stdout
    for line in text_lines(comparisons, verbose=verbose):
        click.echo(line, file=stream)
    if timing:
        for line in timing_lines(figures):
            click.echo(line, file=stream)
    problems = unexpected(comparisons, figures)
    for problem in problems:
        click.echo(f"lro bench paper: {problem}", err=True)
    return int(bool(problems))


@bench.command()
@click.option("-v", "--verify", is_flag=True, help="Evaluate every task by jq, too, and compare.")
def corpora(verify: bool) -> int:
    """Generate corpora and tasks, and compare them with the digests of this version.

    Exit code: 0 they are the same, 1 they are not, or the two evaluations of a task disagree.
    """
    from lro_bench.digests import check

    differences = check(click.echo, verify=verify)
    for difference in differences:
        click.echo(f"lro bench corpora: {difference}", err=True)
    return int(bool(differences))


@click.command(cls=ServerCommand)
@click.option(
    "--calls",
    "calls_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="F",
    help="YAML file of calls to make.",
)
@click.option(
    "--against", type=click.Path(path_type=Path, dir_okay=False), metavar="REPORT", help="Earlier --json report."
)
@format_options(WEIGHT_FORMS)
@click.option("--register", type=_FOLDER, metavar="DIR", help="Weigh the published servers of the register, into DIR.")
@click.option("--only", multiple=True, metavar="NAME", help="With --register: this server only; repeatable.")
@click.option("--cache", type=_FOLDER, metavar="DIR", help="With --register: where servers are installed.")
@click.option(
    "--threshold", type=click.IntRange(min=1), default=6400, metavar="N", help="Threshold of LRO (default 6400)."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=30.0,
    metavar="S",
    help="Seconds for a call (30); a start has 60 or more.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND [ARG…]")
def weigh(
    calls_file: Path | None,
    against: Path | None,
    register: Path | None,
    only: tuple[str, ...],
    cache: Path | None,
    threshold: int,
    timeout: float,
    command: tuple[str, ...],
    outputs: Outputs,
) -> int:
    """Weigh the results of a server: how many tokens they take, how much clients show of them, what a descriptor takes.

    The calls are those of a file (--calls), or one of each tool that is annotated as read-only (readOnlyHint: true) and
    needs no arguments; nothing else is called. The file is YAML: calls: [{tool: NAME, arguments: {query: "*"}}].

    Exit code: 0 weighed, 1 with --against a result grew by more than a tenth or could not be weighed again, 2 the call
    is wrong, a file cannot be written, or REPORT has no weight to compare with, 3 nothing could be weighed.
    """
    from lro_bench.weigh.calls import read_calls
    from lro_bench.weigh.report import text_lines
    from lro_bench.weigh.weighing import compared
    from lro_bench.weigh.weighing import weigh as weigh_server
    from lro_conformance.wire.subreaper import adopt_orphans

    if register is not None:
        _refuse_with_register(command, calls_file, against, outputs)
        return _weigh_register(register, only, cache)
    if only or cache is not None:
        raise UsageError(f"{'--only' if only else '--cache'} is for --register")
    if not command:
        raise UsageError("expected a server: lro weigh -- COMMAND")
    earlier = _earlier(against) if against is not None else None
    outputs.check()
    calls = None if calls_file is None else read_calls(calls_file)
    with adopt_orphans():
        weights = weigh_server(
            command,
            calls,
            timeout_s=timeout,
            threshold=threshold,
            say=lambda text: click.echo(f"lro: {text}", err=True),
        )
    outputs.write(weights)
    stream = sys.stderr if outputs.uses_stdout else sys.stdout
    for line in text_lines(weights):
        click.echo(line, file=stream)
    if weights.failure:
        return EXIT_NO_VERDICT
    if not any(row.weight for row in weights.rows):
        is_empty = weights.tools is not None and not weights.tools.count
        advice = "give a file of calls by --calls, such as: calls: [{tool: NAME, arguments: {query: '*'}}]"
        click.echo(f"lro weigh: no result was weighed: {'the server lists no tools' if is_empty else advice}", err=True)
        return EXIT_NO_VERDICT
    if earlier is None:
        return 0
    outcome = compared(weights, earlier)
    for text in outcome.worse:
        click.echo(f"lro weigh: {text}", err=True)
    click.echo(f"against {against}: {outcome}", file=stream)
    return int(bool(outcome.worse))


def _refuse_with_register(
    command: tuple[str, ...], calls_file: Path | None, against: Path | None, outputs: Outputs
) -> None:
    """Raise `UsageError` for arguments that cannot be combined with `--register`."""
    given = {"a server": command, "--calls": calls_file, "--against": against, "a report file": outputs.files}
    for name, value in given.items():
        if value:
            raise UsageError(f"--register weighs the servers and calls of the register into DIR: leave out {name}")


def _weigh_register(folder: Path, only: tuple[str, ...], cache: Path | None) -> int:
    from lro_bench.run import writing
    from lro_bench.weigh.register import weigh_register, write
    from lro_conformance.wire.subreaper import adopt_orphans

    base = cache or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lro-spec" / "register"
    for place in (base, folder):  # made first, so that a failure is found before fifteen servers are installed
        with writing(place):
            place.mkdir(parents=True, exist_ok=True)
    with adopt_orphans():
        found = weigh_register(only, base.resolve(), lambda text: click.echo(f"lro: {text}", err=True))
    with writing(folder):
        write(found, folder, base.resolve())
    weighed = sum(one.weights is not None and not one.skipped for one in found)
    click.echo(f"{folder}: {weighed} of {len(found)} servers were weighed; see register.md")
    return 0 if weighed else EXIT_NO_VERDICT


def _earlier(path: Path) -> dict[str, int]:
    """The tokens of each result in a report on disk. Raises `UsageError`."""
    from lro_bench.weigh.weighing import FORMAT, earlier_tokens

    try:
        report = read_object(path, FORMAT)
    except ValueError as problem:
        raise UsageError(str(problem)) from None
    try:
        return earlier_tokens(report)
    except ValueError as problem:
        raise UsageError(f"{path}: {one_line(str(problem), 200)}") from None
