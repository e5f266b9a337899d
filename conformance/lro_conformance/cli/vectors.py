"""`lro vectors`: the specification as data, for implementations in any language."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lro_conformance.cli.options import known_edition
from lro_conformance.errors import EXIT_NO_VERDICT, EXIT_OK, UsageError
from lro_conformance.report.outputs import Outputs, ReportFormat, format_options

if TYPE_CHECKING:
    from lro_conformance.vectors.model import Corpus, Vector

FORMATS = (
    ReportFormat(
        "json",
        "Write the results as JSON. Here and below, - is standard output.",
        (("", "results:as_json"),),
        package="lro_conformance.vectors",
    ),
    ReportFormat("junit", "Write them as JUnit XML.", (("", "results:to_junit"),), package="lro_conformance.vectors"),
)

_edition = click.option("--edition", "edition_name", metavar="E", help="Only vectors of this edition.")
_chapters = click.option("--chapter", "chapters", multiple=True, metavar="C", help="Only this chapter; repeatable.")
_tested_edition = click.option("--edition", "edition_name", metavar="E", help="Edition to test (default: lro-6400).")
_kinds = click.option("--kind", "kinds", multiple=True, metavar="K", help="Only this kind; repeatable.")


@click.group()
def vectors() -> None:
    """Test vectors: list, export or run them, or check your own."""


@vectors.command("list")
@_edition
@_chapters
@_kinds
@click.option("--json", "as_json", is_flag=True, help="Print whole vectors as JSON.")
def list_(edition_name: str | None, chapters: tuple[str, ...], kinds: tuple[str, ...], as_json: bool) -> None:
    """List vectors: id, kind, deciding requirement, subject."""
    import json

    chosen = _chosen(None, edition_name and known_edition(edition_name), chapters, kinds)
    if as_json:
        click.echo(json.dumps([v.as_json() for v in chosen.vectors], ensure_ascii=False, indent=1))
        return
    width = max((len(v.id) for v in chosen.vectors), default=0)
    for v in chosen.vectors:
        click.echo(f"{v.id:<{width}}  {v.kind:<15}  {v.requirements[0]:<14}  {v.about}")


@vectors.command("export")
@click.argument("target", metavar="DIR", type=click.Path(path_type=Path))
@_edition
@_chapters
@_kinds
@click.option("--archive", is_flag=True, help="Write one .tar.gz file named DIR instead, always with the same bytes.")
def export(
    target: Path, edition_name: str | None, chapters: tuple[str, ...], kinds: tuple[str, ...], archive: bool
) -> None:
    """Write vectors, their documentation and the runners to a folder."""
    from lro_conformance.vectors import export as exports

    edition = edition_name and known_edition(edition_name)
    chosen = _chosen(None, edition, chapters, kinds)
    try:
        if archive:
            target.write_bytes(exports.archive(chosen, edition))
            written = 1
        else:
            written = exports.write_folder(chosen, target, edition)
    except OSError as problem:
        raise UsageError(f"{target}: {problem.strerror}") from None
    click.echo(f"{target}: {len(chosen.vectors)} vectors, version {chosen.version}, in {written} files")


@vectors.command("run", context_settings={"ignore_unknown_options": False})
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND…")
@_tested_edition
@_chapters
@_kinds
@click.option(
    "--vectors", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Use the vectors in this folder."
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0.1),
    default=10.0,
    metavar="S",
    help="Seconds to wait for each answer (default: 10).",
)
@click.option(
    "--require", "required", multiple=True, metavar="K", help="Fail if the adapter lacks this kind; repeatable."
)
@format_options(FORMATS)
@click.option("-v", "--verbose", is_flag=True, help="Show every requirement.")
def run(
    command: tuple[str, ...],
    edition_name: str | None,
    chapters: tuple[str, ...],
    kinds: tuple[str, ...],
    folder: Path | None,
    timeout_s: float,
    required: tuple[str, ...],
    verbose: bool,
    outputs: Outputs,
) -> int:
    """Test an implementation through its adapter.

    Reports a verdict for each requirement that the vectors are about. COMMAND is the adapter: it reads a JSON-RPC
    request from each line of stdin, with the kind of vector as its method, and responds on stdout with {"answer": …}.

    Exit code: 0 all answers are as expected, 1 one is not or a required kind is missing, 2 the command line is invalid,
    3 the adapter gave no answers.
    """
    from lro_conformance.vectors import results as rendering
    from lro_conformance.vectors.adapter import AdapterError, ask

    edition = known_edition(edition_name)
    corpus = _chosen(folder, edition, chapters, kinds)
    available_kinds = sorted({v.kind for v in corpus.vectors})
    for kind in required:
        if kind not in available_kinds:
            raise UsageError(
                f"--require {kind}: none of the chosen vectors is of this kind; "
                f"expected one of {', '.join(available_kinds)}"
            )
    outputs.check()
    try:
        answers = list(ask(corpus.vectors, command, edition=edition, timeout_s=timeout_s))
    except AdapterError as problem:
        click.echo(f"lro vectors run: {problem}", err=True)
        return EXIT_NO_VERDICT
    results = rendering.judge_answers(answers, corpus, edition, required)
    for line in rendering.as_text(results, verbose=verbose):
        click.echo(line, file=sys.stderr if outputs.uses_stdout else sys.stdout)
    outputs.write(results)
    return results.exit_code


@vectors.command("check")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("-v", "--verbose", is_flag=True, help="Show the vectors that only an implementation can answer.")
def check(folder: Path, verbose: bool) -> int:
    """Check that the suite agrees with your vectors.

    The suite has to give the answers that the vectors expect, in each of their editions.

    Exit code: 0 all expected answers are right, 1 one is wrong, 2 a file is not a file of vectors, 3 only an
    implementation can answer them.
    """
    from lro_conformance.vectors.answers import UnansweredError
    from lro_conformance.vectors.model import load

    wrong = judged = 0
    unanswered = set[str]()
    for vector in load(folder).vectors:
        for edition in vector.editions:
            try:
                problem = _problem(vector, edition)
            except UnansweredError as reason:
                unanswered.add(vector.id)
                if verbose:
                    click.echo(f"not judged  {vector.id}: {reason}")
                continue
            judged += 1
            if problem is not None:
                wrong += 1
                click.echo(f"WRONG       {vector.id}, {edition}: {problem}")
    more = f"; only an implementation can answer {len(unanswered)} vectors (-v lists them)" if unanswered else ""
    click.echo(f"{judged} expected answers judged, {wrong} of them wrong{more}")
    return 1 if wrong else EXIT_OK if judged else EXIT_NO_VERDICT


def _problem(vector: Vector, edition: str) -> str | None:
    """The reason why a vector is wrong in an edition; None if the suite gives the expected answer.

    Raises `UnansweredError` if only an implementation can answer the vector.
    """
    from lro_conformance.vectors.answers import answer
    from lro_conformance.vectors.match import mismatch
    from lro_spec.catalogue import catalogue

    unknown = sorted(set(vector.requirements) - {r.id for r in catalogue(edition)})
    if unknown:
        return f"this edition has no requirement {', '.join(unknown)} (`lro requirements --edition {edition}`)"
    try:
        return mismatch(vector.expect, answer(vector.kind, vector.input, edition))
    except KeyError as missing:
        return f"input does not fit kind {vector.kind}: it lacks {missing}, or has a value that is not defined"
    except (AttributeError, TypeError, ValueError):
        return f"input does not fit kind {vector.kind}: a member does not have the type of its format"


def _chosen(folder: Path | None, edition: str | None, chapters: tuple[str, ...], kinds: tuple[str, ...]) -> Corpus:
    from lro_conformance.vectors.model import load

    corpus = load(folder)
    for name, requested, available in (
        ("chapter", chapters, corpus.chapters),
        ("kind", kinds, sorted({v.kind for v in corpus.vectors})),
    ):
        for value in requested:
            if value not in available:
                raise UsageError(f"no {name} {value!r}: expected one of {', '.join(available)}")
    chosen = corpus.select(edition=edition, chapters=chapters, kinds=kinds)
    if not chosen.vectors:
        others = corpus.select(chapters=chapters, kinds=kinds)
        editions = ", ".join(dict.fromkeys(e for v in others.vectors for e in v.editions)) or "none"
        raise UsageError(
            f"no vector of {edition or 'any edition'} has this chapter and kind; editions with such vectors: {editions}"
        )
    return chosen
