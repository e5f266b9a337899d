"""Validation of a descriptor by itself (sections "Inline Response Format" to "Guidance Prompt")."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, cast

from lro_spec.display import pointer, shorten, show
from lro_spec.editions import DEFAULT_EDITION, EDITIONS, OTHER_TOOLS_EDITION, Edition
from lro_spec.editions import edition as edition_named
from lro_spec.filenames import parse_file_name, real_path
from lro_spec.findings import Finding, Kind
from lro_spec.jsonl.values import not_json
from lro_spec.recipes.filters import NotInterpretedError
from lro_spec.recipes.lexer import field_paths, unrepeatable
from lro_spec.recipes.pipeline import Pipeline, file_read, parse_command
from lro_spec.recipes.shell import MAX_COMMAND_LENGTH, RecipeSyntaxError
from lro_spec.schema.errors import SchemaError, from_schema, violations
from lro_spec.validation.descriptions import unhelpful_descriptions
from lro_spec.validation.filename import name_problem
from lro_spec.validation.guidance import first_order, lacks_instructions, wrong_name, wrong_recipe

MAX_GUIDANCE = 4000
"""Largest number of characters of an instruction block that counts as "brief"."""

_HINTS = {"LRO-DESC-02": "resolve output_dir against the server's working directory before you return the path"}
_OPERATIONS = frozenset(operation for each in EDITIONS.values() for operation in each.operations)
_PLACEHOLDER = re.compile(r"\{(?:count|tokens|path|file|file_path|detail)\}")

_Path = tuple[str | int, ...]


def validate_descriptor(
    value: object, *, edition: str = "lro-6400", resolve_links: Callable[[str], str] = real_path
) -> Iterator[Finding]:
    """Findings about a descriptor, without opening its file. Raises `ValueError` for an unknown edition.

    *resolve_links* resolves symbolic links in a path, because recipes may name the file by a different path.
    """
    facts = edition_named(edition)
    findings = _findings(value, facts, resolve_links)
    if facts.name != DEFAULT_EDITION:
        from lro_spec.validation.editions import for_edition

        findings = for_edition(findings, facts)
    yield from findings


def _findings(value: object, edition: Edition, resolve_links: Callable[[str], str]) -> Iterator[Finding]:
    wrong_paths: set[_Path] = set()
    for error in violations(value, "descriptor"):
        rule = _rule(error)
        finding = from_schema(error, rule, "the descriptor", _HINTS.get(rule, ""))
        if edition.name == DEFAULT_EDITION or _applies(finding, edition):
            wrong_paths.add(error.path)
        yield finding
    if not isinstance(value, dict):
        return
    descriptor = cast("dict[str, Any]", value)
    for path, finding in not_json(descriptor):
        if path in wrong_paths:
            continue
        if finding.severity == "error":
            wrong_paths.add(path)
        yield finding
    # A part is examined only if its shape is right, so that one error causes only one finding.
    commands = partial(_commands, wrong=wrong_paths, resolve_links=resolve_links)
    summary, recipes = partial(_summary, wrong=wrong_paths), partial(_recipes, wrong=wrong_paths)
    for parts, findings_about in (
        (("summary",), summary),
        (("file_path",), _name),
        (("file_path", "summary.operation"), _name_and_summary),
        (("line_schema",), _line_schema),
        (("jq_recipes",), recipes),
        (("jq_recipes",), commands),
        (("guidance", "file_path"), _guidance),
    ):
        if all(_is_valid(descriptor, part, wrong_paths) for part in parts):
            yield from findings_about(descriptor, edition)


def _applies(finding: Finding, edition: Edition) -> bool:
    from lro_spec.validation.editions import for_edition

    return any(for_edition([finding], edition))


def _is_valid(descriptor: dict[str, Any], part: str, wrong: set[_Path]) -> bool:
    """True if a part, or a field of a part (``summary.operation``), exists and has the right shape.

    Errors in fields within it only matter if the part is in `_EXAMINED_WHOLE`.
    """
    value: object = descriptor
    path = tuple(part.split("."))
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return False
        value = cast("dict[str, object]", value)[name]
    outer_paths = {path[:n] for n in range(len(path) + 1)}
    has_inner_error = path[0] in _EXAMINED_WHOLE and any(each[: len(path)] == path for each in wrong)
    return not outer_paths & wrong and not has_inner_error


_EXAMINED_WHOLE = ("line_schema", "guidance")
"""Parts that are examined as a whole, so that an error anywhere in them makes them wrong."""


def _summary(descriptor: dict[str, Any], edition: Edition, *, wrong: set[_Path]) -> Iterator[Finding]:
    all_fields: dict[str, Any] = descriptor["summary"]
    invalid_fields = {path[1] for path in wrong if path[:1] == ("summary",) and len(path) > 1}
    summary = {field: value for field, value in all_fields.items() if field not in invalid_fields}
    namespaces: object = summary.get("top_namespaces")
    for field, rule, known in (
        ("operation", "LRO-DESC-05", edition.operations),
        ("detail", "LRO-DESC-08", edition.details),
    ):
        if known and field in summary and summary[field] not in known:
            message, expected = f"{field} is not a value that the specification defines", f"one of {', '.join(known)}"
            yield Finding(
                rule,
                Kind.UNKNOWN_WORD,
                f"/summary/{field}",
                message,
                expected,
                show(summary[field]),
                severity="warning",
            )
    low_high = summary.get("score_range")
    if low_high is not None and low_high[0] > low_high[1]:
        message = "score_range has the higher score first"
        yield Finding(
            "LRO-DESC-07", Kind.WRONG_ORDER, "/summary/score_range", message, "the lower score first", show(low_high)
        )
    # In editions other than the default one, top_namespaces may have other forms.
    names = [n for n in cast("list[object]", namespaces) if isinstance(n, str)] if isinstance(namespaces, list) else []
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        message = "a namespace is listed twice"
        yield Finding(
            "LRO-DESC-06",
            Kind.REPEATED_ITEM,
            "/summary/top_namespaces",
            message,
            "each namespace once",
            show(repeated[0]),
        )


def _name(descriptor: dict[str, Any], edition: Edition) -> Iterator[Finding]:
    name = _file_name(descriptor["file_path"])
    problem = name_problem(name, edition=edition.name, severity="error")
    if problem is None:
        return
    finding = replace(problem, pointer="/file_path")
    tool_name = parse_file_name(name, edition=OTHER_TOOLS_EDITION)
    if tool_name is not None and tool_name.operation not in _OPERATIONS:
        hint = "proxies use such names for results of other tools; "
        hint += "run with --follow to check that the file's header says so"
        finding = replace(finding, severity="warning", hint=hint)
    yield finding


def _name_and_summary(descriptor: dict[str, Any], edition: Edition) -> Iterator[Finding]:
    named, operation = operation_in_name(descriptor["file_path"], edition), descriptor["summary"]["operation"]
    if named is not None and named != operation:
        message = "name and summary do not agree on the operation"
        observed = f"{named} in the name, {operation} in the summary"
        yield Finding("LRO-NAME-02", Kind.NAME_AGAINST_SUMMARY, "/file_path", message, "the same in both", observed)


def operation_in_name(path: str, edition: Edition) -> str | None:
    """Return the operation in the name of a file, or None if the name does not follow the edition's convention."""
    parts = parse_file_name(_file_name(path), edition=edition.name)
    return None if parts is None else parts.operation


def _line_schema(descriptor: dict[str, Any], edition: Edition) -> Iterable[Finding]:
    from lro_spec.schema.fast import text_of

    schema = descriptor["line_schema"]
    text = text_of(schema)
    return _about_schema(schema, edition) if text is None else _about_text_of_schema(text, edition.name)


@lru_cache(maxsize=64)
def _about_text_of_schema(text: str, edition: str) -> tuple[Finding, ...]:
    return tuple(_about_schema(json.loads(text), edition_named(edition)))


def _about_schema(schema: object, edition: Edition) -> Iterator[Finding]:
    from lro_spec.schema.line_schema import is_vacuous, refuses_every_record, schema_problem

    problem = schema_problem(schema)
    if problem is not None:
        expected = "a JSON Schema (draft 2020-12, or the one it declares)"
        yield Finding(
            "LRO-DESC-09", Kind.NO_SCHEMA, "/line_schema", "line_schema is not a valid schema", expected, problem
        )
        return
    unevaluated = list(_not_evaluated(schema, edition))
    yield from unevaluated
    if any(finding.severity == "error" for finding in unevaluated):
        return
    rest = evaluable(schema)
    reason = is_vacuous(rest, ())
    if reason is not None and refuses_every_record(rest):
        message, expected = "no record can satisfy line_schema", "a schema of one record"
        yield Finding("LRO-DESC-09", Kind.VACUOUS_SCHEMA, "/line_schema", message, expected, show(schema))
    elif reason is not None and rest != schema:
        message, expected = "line_schema says nothing without another document", "a schema that names fields itself"
        yield Finding("LRO-DESC-10", Kind.NOT_EVALUATED, "/line_schema", message, expected, reason, severity="warning")
    elif reason is not None:
        expected = "a schema that names the fields of a record"
        hint = 'for example {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}'
        yield Finding(
            "LRO-DESC-10", Kind.VACUOUS_SCHEMA, "/line_schema", "line_schema describes nothing", expected, reason, hint
        )


def evaluable(schema: object) -> object:
    """A line schema without its references to other documents, which are never fetched."""
    from lro_spec.schema.lint import remote_references, without_references

    references = [path for path, _ in remote_references(schema)]
    return without_references(schema, references) if references else schema


def _not_evaluated(schema: object, edition: Edition) -> Iterator[Finding]:
    """Findings about the parts of a schema that cannot be evaluated."""
    from lro_spec.schema.lint import dangling_references, foreign_patterns, remote_references, syntax_error
    from lro_spec.schema.regex import is_evaluated

    for where, reference in dangling_references(schema):
        message, expected = "line_schema has a $ref whose target is not in it", "a reference within line_schema"
        hint = "put the target under $defs"
        yield Finding(
            "LRO-DESC-09", Kind.DANGLING_REFERENCE, f"/line_schema{where}", message, expected, show(reference), hint
        )
    for path, reference in remote_references(schema):
        where, expected = f"/line_schema{pointer(list(path))}", "a reference within line_schema"
        hint = "put the target under $defs: readers without a network, and this one, do not fetch it"
        if edition.self_contained_schema:
            message, kind = "line_schema needs another document", Kind.DANGLING_REFERENCE
            yield Finding("LRO-DESC-09", kind, where, message, expected, show(reference), hint)
            continue
        message = "line_schema refers to another document, which is not fetched, so lines are not checked against it"
        yield Finding(
            "LRO-DESC-09", Kind.NOT_EVALUATED, where, message, expected, show(reference), hint, severity="warning"
        )
    for path, pattern in foreign_patterns(schema):
        where, why = f"/line_schema{pointer(list(path))}", syntax_error(pattern)
        if why is not None:
            message, expected = f"a pattern is not a regular expression: {why}", "a regular expression (ECMA-262)"
            yield Finding("LRO-DESC-09", Kind.BAD_PATTERN, where, message, expected, show(pattern))
        elif not is_evaluated(pattern):
            message = "this pattern cannot be evaluated here, so lines are not checked against it"
            expected = "a pattern that Python's re also supports"
            yield Finding(
                "LRO-DESC-09", Kind.NOT_EVALUATED, where, message, expected, show(pattern), severity="warning"
            )


def _recipes(descriptor: dict[str, Any], edition: Edition, *, wrong: set[_Path]) -> Iterator[Finding]:
    recipes = descriptor["jq_recipes"]
    wanted = edition.recipe_count
    if len(recipes) < wanted or (len(recipes) > wanted and not edition.more_recipes):
        expected = f"{'at least' if edition.more_recipes else 'exactly'} {wanted} recipes"
        hint = f"recipes are required from level 2 on (I-19); `lro explain LRO-REC-13` lists those of {edition.name}"
        found = f"{len(recipes)}"
        message = "too few recipes" if len(recipes) < wanted else "too many recipes"
        yield Finding(
            "LRO-REC-13", Kind.RECIPE_COUNT, "/jq_recipes", message, expected, found, hint, severity="warning"
        )
    if not any(path[:1] == ("jq_recipes",) for path in wrong):
        yield from unhelpful_descriptions(recipes)


def _commands(
    descriptor: dict[str, Any], edition: Edition, *, wrong: set[_Path], resolve_links: Callable[[str], str]
) -> Iterator[Finding]:
    """Findings about the commands of recipes that have the right shape.

    If the descriptor has no valid path, the file that the commands read is not judged.
    """
    path = str(descriptor.get("file_path"))
    is_named = _is_valid(descriptor, "file_path", wrong)
    invalid_indexes = {place[1] for place in wrong if place[0] == "jq_recipes"}

    def is_file(other: str) -> bool:
        return (
            not is_named
            or other == path
            or (os.path.isabs(other) and os.path.isabs(path) and resolve_links(other) == resolve_links(path))
        )

    spare = len(descriptor["jq_recipes"]) - edition.recipe_count
    for index, recipe in enumerate(descriptor["jq_recipes"]):
        if index in invalid_indexes:
            continue
        command = recipe["command"]
        where = f"/jq_recipes/{index}/command"
        if is_named and "{file}" in command and "{file}" not in path:
            message, hint = "the placeholder {file} was not replaced", "replace it with the quoted file_path"
            yield Finding("LRO-REC-11", Kind.PLACEHOLDER, where, message, shorten(path), show(command), hint)
            continue
        problem = None
        try:
            pipeline = parse_command(command)
            reads_file = is_file(pipeline.path)
            if edition.deterministic_recipes:
                yield from _unrepeatable(pipeline, where)
            if not edition.score_in_recipes:
                yield from _with_score(pipeline, where, command)
        except RecipeSyntaxError as refusal:
            problem, reads_file = refusal, not (is_named and _is_unquoted(path, command))
            path_in_command = file_read(command) if spare > 0 else None
            if path_in_command is not None:  # recipes beyond the required number need not be parseable
                spare, problem, reads_file = spare - 1, None, is_file(path_in_command)
        if not reads_file:
            hint = "let the command read the descriptor's own file_path"
            if is_named and shlex.quote(path) != path and _is_unquoted(path, command):
                hint = "quote the path for the shell: an unquoted space or quotation mark in it ends the word"
            yield Finding(
                "LRO-REC-11",
                Kind.OTHER_FILE,
                where,
                "the command does not read the file",
                shorten(path),
                show(command),
                hint,
            )
        elif problem is not None:
            expected, hint = "one pipeline of plain commands that ends in jq", "use tail, sed, cat or head, and then jq"
            message = f"the command cannot be parsed: {problem}"
            finding = Finding("LRO-REC-13", Kind.BAD_COMMAND, where, message, expected, show(command), hint)
            may_be_right = isinstance(problem, NotInterpretedError)
            yield replace(finding, severity="warning", kind=Kind.NOT_EVALUATED) if may_be_right else finding


def _unrepeatable(pipeline: Pipeline, where: str) -> Iterator[Finding]:
    """The finding about a command whose output depends on more than the file."""
    why = next(filter(None, (unrepeatable(call.program) for call in (pipeline.jq, *pipeline.more))), None)
    if why is not None:
        expected, hint = "a program whose output depends on the file alone", "write the time into the command as a text"
        message = "the command may give different outputs for the same file"
        yield Finding("LRO-REC-21", Kind.UNREPEATABLE, where, message, expected, why, hint)


def _with_score(pipeline: Pipeline, where: str, command: str) -> Iterator[Finding]:
    """The finding about a command that refers to the score of a search hit."""
    if any(path[0] == "score" for call in (pipeline.jq, *pipeline.more) for path in field_paths(call.program)):
        expected, hint = "a program without .score", "sort by a field that records have, such as the confidence"
        message = "the command refers to .score, which is never written to the file"
        yield Finding("LRO-REC-20", Kind.ABSENT_SCORE, where, message, expected, show(command), hint)


def _is_unquoted(path: str, command: str) -> bool:
    """True if the path appears in the command, but not as a single shell word. False for a command that is too long to
    be read."""
    try:
        return len(command) <= MAX_COMMAND_LENGTH and path in command and path not in shlex.split(command)
    except ValueError:
        return False


def _guidance(descriptor: dict[str, Any], edition: Edition) -> Iterator[Finding]:
    guidance = descriptor["guidance"]
    if not guidance.strip():
        yield Finding(
            "LRO-GUI-01",
            Kind.BLANK_TEXT,
            "/guidance",
            "guidance is blank",
            "a brief block of instructions",
            show(guidance),
        )
    elif len(guidance) > MAX_GUIDANCE:
        expected, observed = f"at most {MAX_GUIDANCE} characters", f"{len(guidance)} characters"
        yield Finding("LRO-GUI-01", Kind.OUT_OF_BOUNDS, "/guidance", "guidance is too long", expected, observed)
    elif lacks_instructions(guidance, descriptor["file_path"]):
        message, expected = "guidance has no instructions", "a text that leads to the file, the recipes or a tool"
        yield Finding("LRO-GUI-01", Kind.TOO_LITTLE, "/guidance", message, expected, show(guidance))
    order = first_order(guidance.replace(descriptor["file_path"], "FILE"))
    if order is not None:
        message, expected = "guidance gives an order", "advice that can be skipped without a shell"
        hint = 'offer the recipes ("can be used", "if a shell is available")'
        yield Finding("LRO-GUI-04", Kind.ORDER, "/guidance", message, expected, show(order), hint)
    placeholder = _PLACEHOLDER.search(guidance)
    if placeholder is not None and placeholder.group() not in descriptor["file_path"]:
        message = f"the placeholder {placeholder.group()} was not replaced"
        yield Finding(
            "LRO-GUI-05", Kind.PLACEHOLDER, "/guidance", message, "the value itself", show(placeholder.group())
        )
    elif (wrong := wrong_name(guidance, descriptor) or wrong_recipe(guidance, descriptor, edition)) is not None:
        yield contradicting_guidance(wrong)
    elif (wrong := wrong_recipe(guidance, descriptor, None)) is not None:
        finding = contradicting_guidance(f"{wrong} (the specification's own wording has the same error)")
        yield replace(finding, severity="warning", kind=Kind.MISQUOTED)


def contradicting_guidance(wrong: str) -> Finding:
    """Finding about guidance that contradicts its descriptor, or its descriptor and file."""
    return Finding(
        "LRO-GUI-05",
        Kind.CONTRADICTION,
        "/guidance",
        "guidance contradicts the descriptor",
        "guidance that matches the descriptor",
        wrong,
    )


def _file_name(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


def _rule(error: SchemaError) -> str:
    match error.path:
        case ("file_path",) if error.keyword == "pattern":
            return "LRO-DESC-02"
        case ("guidance",) if error.keyword == "minLength":
            return "LRO-GUI-01"
        case ("summary", "top_namespaces") if error.keyword == "maxItems":
            return "LRO-DESC-06"
        case ("summary", "score_range", *_):
            return "LRO-DESC-07"
        case ("jq_recipes", _, *_):
            return "LRO-REC-13"
        case _:
            return "LRO-DESC-01"
