"""Comparison of a recipe's output with the expected output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from lro_spec.display import counted
from lro_spec.jsonl.parse import read_leniently
from lro_spec.recipes.expected import Expected, Table
from lro_spec.recipes.lexer import literals, with_literal
from lro_spec.recipes.numbers import unify_near
from lro_spec.recipes.oracle import erratum, evaluate, standard
from lro_spec.recipes.pipeline import JqCall, Pipeline
from lro_spec.recipes.runner import JqRun

_MAX_SHOWN_LENGTH = 300
_COMPILE_ERROR_STATUS = 3  # jq's exit status if it cannot compile a program
_QUOTED_VALUES = re.compile(r"\(.*\)")  # excerpts of values and patterns in jq's messages
_SURROUNDING_PATTERN = re.compile(r"((?:\(\?[imsx]+\)|\^|\.\*|\\b)*)[^^]*?((?:\.\*|\$|\\b)*)", re.DOTALL)
_LONGEST_LITERAL = 200
"""In a literal of at most this many characters, only the text is replaced, and a regular expression around the text is
kept (`_in_place_of`). A longer literal is replaced as a whole, because `_SURROUNDING_PATTERN` takes quadratic time."""
PARAMETRISED = frozenset({"namespace-prefix", "title-search", "memory-type", "content-search", "with-tag"})
"""The purposes (`StandardRecipe.effect`) of the standard recipes that search for a text."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Result of comparing the output of a recipe with what `lro_spec.recipes.oracle` expects."""

    ok: bool
    """True if the output is right, and any error of jq is due to an erratum of the specification (see `erratum`)."""
    expected: str
    """Short text for a report, without control characters; empty if the output is right and jq exited with 0."""
    observed: str
    """Short text that shows the output, without control characters; empty if `expected` is empty."""
    with_header: bool = False
    """True if the output is right for the header and the records together: the header was not skipped."""
    erratum: str | None = None
    """Reason why the specification's own command fails on these records, so that an error of jq is not the server's
    fault. None if that command does not fail, if jq reported no error, if a limit ended jq, or if the output is right
    and jq exited with 0."""
    difference: str = ""
    """Difference of the output from the expected output, as a clause. Empty if the output is right, cannot be read, or
    was ended by a limit."""

    def __bool__(self) -> bool:
        return self.ok


def agrees(
    number: int,
    output: JqRun,
    records: Sequence[object],
    literal: str | None = None,
    *,
    header: object | None = None,
    edition: str = "lro-6400",
    detail: str = "full",
) -> Agreement:
    """Compare the output of a recipe with the expected output of standard recipe *number* for these records.

    An error of jq counts against the recipe, unless the specification's own command fails on the same records and the
    output before the error is right. With *header*, the result also says whether the header was treated as a record.
    """
    options: dict[str, Any] = {"edition": edition, "detail": detail}
    expected = evaluate(number, records, literal=literal, **options)
    values = _stream(output.stdout.decode("utf-8", "replace"))
    readings = list(_readings(output, values, expected))
    is_right = any(map(expected.met_by, readings)) or _nearly(number, readings, records, literal, options)
    if is_right and output.ok:
        return Agreement(True, "", "")
    # Only a program that fails within its limits can fail for the same reason as the specification's own program.
    known_erratum = erratum(number, records, **options) if output.stderr and not output.problem else None
    ok = is_right and known_erratum is not None
    with_header = False
    if not is_right and header is not None:
        all_lines = [header, *records]
        expected_with_header = evaluate(number, all_lines, literal=literal, **options)
        with_header = any(map(expected_with_header.met_by, readings)) or _nearly(
            number, readings, all_lines, literal, options
        )
    difference = "" if is_right or not readings or output.problem else show(expected.difference(readings[-1]))
    return Agreement(ok, show(expected.text()), _observed(output, values), with_header, known_erratum, difference)


def _nearly(
    number: int,
    readings: Sequence[list[Any]],
    records: Sequence[object],
    literal: str | None,
    options: Mapping[str, Any],
) -> bool:
    """True if an output is right when numbers are compared only as precisely as jq can represent them."""
    for values in readings:
        unified = unify_near(records, values)
        if unified is not None and evaluate(number, unified[0], literal=literal, **options).met_by(unified[1]):
            return True
    return False


def probe(
    pipeline: Pipeline,
    number: int,
    literal: str,
    *,
    header: object | None = None,
    edition: str = "lro-6400",
    detail: str = "full",
) -> Pipeline | None:
    """Return the command with *literal* in place of its author's search text, or None if it has no search text.

    The search text is the value of the first ``--arg`` or ``--argjson`` that the program uses, if that value is a text.
    Otherwise it is the program's first string literal. A text that is a key or a value of *header* may serve to leave
    out the header, so it is replaced only if there is no other text. Some spellings (`ascii_downcase | contains`) only
    find lower case, so *literal* should be in lower case. Raises `ValueError` for a recipe that searches for nothing.
    """
    effect = standard(number, edition, detail).effect
    if effect not in PARAMETRISED:
        raise ValueError(f"recipe {number} of {edition} has no search text that could be replaced")
    calls = [pipeline.jq, *pipeline.more]
    members = cast("dict[str, Any]", header) if isinstance(header, dict) else {}
    of_header = frozenset([*members, *(value for value in members.values() if isinstance(value, str))])
    for kept_texts in (of_header, frozenset[str]()) if of_header else (of_header,):
        for i, call in enumerate(calls):
            changed_call = _with_search_text(call, literal, kept_texts)
            if changed_call is not None:
                calls[i] = changed_call
                return replace(pipeline, jq=calls[0], more=tuple(calls[1:]))
    return None


def on_records_alone(pipeline: Pipeline) -> Pipeline | None:
    """Return the command with its programs applied to all lines but the first.

    It does not matter which lines the original command skips. If the returned command and the original command print
    the same, an error in the output has nothing to do with the header. Returns None if the command already reads only
    these lines.
    """
    alone = replace(pipeline, skip=1, take=None, last=None, is_last_after=False, without=None)
    return None if alone == pipeline else alone


def same_output(one: JqRun, other: JqRun) -> bool:
    """True if two runs printed the same output and both succeeded or both failed."""
    return (one.stdout, one.ok) == (other.stdout, other.ok)


def compiles(output: JqRun) -> bool:
    """True if jq could compile the program that produced this output."""
    return output.status != _COMPILE_ERROR_STATUS


def literal_error(delivered: JqRun, probed: JqRun | None) -> str | None:
    """Error that jq reports for a command as delivered, but not for the same command rewritten to search for a word.

    *probed* is the run of the rewritten command. Errors that are caused by the records appear in both runs. If *probed*
    is None, or if its errors were cut off, only a program that does not compile is reported. Returns None if there is
    no such error, if a limit ended one of the runs, or if the rewritten command does not compile.
    """
    if delivered.problem or (probed is not None and (probed.problem or not compiles(probed))):
        return None
    if not compiles(delivered):
        return show(f"{delivered.engine} exited {delivered.status}; {delivered.stderr.strip()}")
    cut_off = probed is not None and probed.stderr and not probed.stderr.endswith("\n")
    if probed is None or cut_off:
        return None
    expected_errors = {_QUOTED_VALUES.sub("()", line) for line in probed.stderr.splitlines()}
    new_errors = [
        line for line in delivered.stderr.splitlines() if _QUOTED_VALUES.sub("()", line) not in expected_errors
    ]
    return show(f"{delivered.engine} exited {delivered.status}; {new_errors[0]}") if new_errors else None


def _with_search_text(call: JqCall, literal: str, kept_texts: frozenset[str]) -> JqCall | None:
    for name, value in call.args.items():
        if f"${name}" in call.program and value not in kept_texts:
            return replace(call, args={**call.args, name: _in_place_of(value, literal)})
    for name, value in call.argjson.items():
        if isinstance(value, str) and f"${name}" in call.program and value not in kept_texts:
            return replace(call, argjson={**call.argjson, name: _in_place_of(value, literal)})
    # An empty literal is no search text: it stands for an absent value, as in `(.title // "")`.
    for search_text in (text for text in literals(call.program) if text and text not in kept_texts):
        return replace(call, program=with_literal(call.program, search_text, _in_place_of(search_text, literal)))
    return None


def _in_place_of(search_text: str, literal: str) -> str:
    """Return *literal* within the regular expression that surrounds the text in *search_text*. For ``^_semantic``, this
    is ``^`` and the literal."""
    match = _SURROUNDING_PATTERN.fullmatch(search_text) if len(search_text) <= _LONGEST_LITERAL else None
    before, after = match.groups() if match is not None else ("", "")
    return f"{before}{re.escape(literal)}{after}" if before or after else literal


def show(text: str) -> str:
    """A short text for a report: control characters escaped, cut to 300 characters."""
    cut = text if len(text) <= _MAX_SHOWN_LENGTH else f"{text[: _MAX_SHOWN_LENGTH - 1]}…"
    if cut.isprintable():
        return cut
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in cut)[
        :_MAX_SHOWN_LENGTH
    ]


def _readings(output: JqRun, values: list[Any] | None, expected: Expected) -> Iterator[list[Any]]:
    """The ways to read an output: as a stream of values, as an array of values and, for a table, as raw lines."""
    if isinstance(expected, Table):
        lines = output.stdout.decode("utf-8", "replace").split("\n")
        yield cast("list[Any]", lines[:-1] if lines[-1] == "" else lines)
        if values is not None and any(isinstance(value, str) for value in values):
            return  # rows in JSON quotes with escaped tabs are not a table
    if values is not None:
        yield values
        if len(values) == 1 and isinstance(values[0], list):
            yield cast("list[Any]", values[0])


def _stream(text: str) -> list[Any] | None:
    """Return the JSON values of an output, or None if the output is not JSON."""
    with suppress(ValueError, RecursionError):  # usually each value is on a line of its own
        return [read_leniently(line) for line in text.split("\n") if line.strip(" \t\r")]
    values: list[Any] = []
    decoder = json.JSONDecoder()
    index = _skip_space(text, 0)
    try:
        while index < len(text):
            value, index = decoder.raw_decode(text, index)
            values.append(value)
            index = _skip_space(text, index)
    except (ValueError, RecursionError):
        return None
    return values


def _skip_space(text: str, index: int) -> int:
    while index < len(text) and text[index] in " \t\r\n":
        index += 1
    return index


def _observed(output: JqRun, values: list[Any] | None) -> str:
    parts: list[str] = []
    if output.problem:
        parts.append(f"{output.engine} {output.problem}")
    elif output.status:
        parts.append(f"{output.engine} exited {output.status}")
    if output.stderr.strip():
        parts.append(output.stderr.strip())
    text = output.stdout[: 4 * _MAX_SHOWN_LENGTH].decode("utf-8", "replace")
    if values is not None and len(values) == 1 and isinstance(values[0], list):
        parts.append(f"an array of {len(cast('list[Any]', values[0]))}: {text}")
    elif values is not None:
        parts.append(f"{counted(len(values), 'value')}: {text}" if values else "no output")
    else:
        parts.append(text)
    return show("; ".join(parts))
