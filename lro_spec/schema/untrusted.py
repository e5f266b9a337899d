"""Evaluation of JSON Schemas that come from a server, with bounded time and memory, and without a network.

A schema is tame if its evaluation takes time in proportion to its own size and to the size of the record (`is_tame`). A
tame schema is evaluated in this process, any other schema in a sandbox (`SchemaChild`).
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import unquote

from lro_spec.display import pointer, show
from lro_spec.sandbox.process import JobLimits, Sandbox, WorkerError
from lro_spec.schema.regex import compiles, with_both_dialects

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

_MAX_EXPANDED = 2_000
"""Largest number of sub-schemas, with references followed, of a schema that is evaluated in this process."""
# Keywords whose evaluation may take more time than one pass over a record, which is enough for all others.
_COSTLY = frozenset(
    {"pattern", "patternProperties", "propertyNames", "uniqueItems", "$dynamicRef", "$recursiveRef", "contains"}
)
# Keywords that make a schema recursive, and so are costly even if regular expressions cannot backtrack.
_RECURSIVE = frozenset({"$dynamicRef", "$recursiveRef"})
MAPS = frozenset({"properties", "$defs", "definitions", "dependentSchemas", "patternProperties"})
"""Keywords whose values are objects with a schema under each name."""
DATA = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are never schemas."""
_FURTHER_FIELDS = frozenset({"additionalProperties", "unevaluatedProperties"})
_EXPLAINED_BY_MESSAGE = _FURTHER_FIELDS | {
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "required",
    "dependentRequired",
}
"""For violations of these keywords, jsonschema's message shows what is wrong, but the whole value would not."""
_MAX_MESSAGE = 300
_JOB = Path(__file__).with_name("job.py")
_MEMORY_BYTES = 1024 * 1024 * 1024
_BATCH_BYTES = 4 << 20
"""Bytes of records that are sent to a child at once."""


@dataclass(frozen=True, slots=True)
class Violation:
    """Reason why a record violates a schema."""

    pointer: str
    """A JSON pointer (RFC 6901) to the invalid value."""
    message: str
    expected: str = ""
    """Requirement of the schema for that value, if a few words can describe it."""
    observed: str = ""
    about: str = ""
    """A JSON pointer to the invalid value or, if a field is missing, to that field."""

    def __str__(self) -> str:
        return f"{self.pointer}: {self.message}" if self.pointer else self.message


@dataclass(frozen=True, slots=True)
class Judgement:
    """Result of the validation of records against a schema."""

    judged: int
    """Number of records that were checked before the time, the memory, the limit of violations or the records ran
    out."""
    violations: tuple[tuple[int, Violation], ...]
    """Violations, each with the index of its record."""
    stuck: bool = False
    """True if a record used up the time or the memory. The last violation then says so."""


def draft(schema: Mapping[str, Any]) -> type[Validator]:
    """The validator class of the draft that a schema declares. The default is draft 2020-12."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    if not isinstance(schema.get("$schema", ""), str):
        return Draft202012Validator
    return validator_for(cast("Any", schema), default=Draft202012Validator)


def is_tame(schema: object) -> bool:
    """True if evaluation takes time in proportion to the sizes of schema and record, and the schema is not too large.

    Such a schema has no recursion, no regular expressions, no keyword that takes quadratic time, and at most
    `_MAX_EXPANDED` sub-schemas.
    """
    return isinstance(schema, bool) or _expanded(schema, schema, (), _COSTLY) <= _MAX_EXPANDED


def is_bounded(schema: object) -> bool:
    """Like `is_tame`, for an engine whose regular expressions take linear time and whose sets are hashed."""
    return isinstance(schema, bool) or _expanded(schema, schema, (), _RECURSIVE) <= _MAX_EXPANDED


def judge_here(schema: object, records: Iterable[object], limit: int, timeout_s: float) -> Judgement:
    """Evaluate records by a tame schema (`is_tame`) in this process, until there are *limit* violations or *timeout_s*
    seconds have passed."""
    until = time.monotonic() + timeout_s
    judged = 0
    violations: list[tuple[int, Violation]] = []
    for judged, violation in enumerate(map(judge_of(schema), records), 1):
        if violation is not None:
            violations.append((judged - 1, violation))
        if len(violations) >= limit or time.monotonic() > until:
            break
    return Judgement(judged, tuple(violations))


class SchemaChild:
    """A child process that evaluates schemas, with limits on time and memory; a context manager."""

    def __init__(self) -> None:
        path = [os.path.abspath(folder) for folder in sys.path]  # the child has another working directory
        self._sandbox = Sandbox(_JOB, memory=_MEMORY_BYTES, path=path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._sandbox.close()

    def judge(self, schema: object, records: Iterable[object], limit: int, timeout_s: float) -> Judgement:
        """Evaluate records until there are *limit* violations or *timeout_s* seconds have passed; the start of the
        process does not count."""
        text = json.dumps(schema)
        judged, spent_s, stuck = 0, 0.0, False
        violations: list[tuple[int, Violation]] = []
        for data in _batches(records):
            request = {
                "schema": text,
                "limit": limit - len(violations),
                "timeout_s": max(timeout_s - spent_s, 0.001),  # 0 would mean no timer
                "spent_s": spent_s,
            }
            result = self._run(request, data, 2 * timeout_s + 5)
            violations += ((judged + found.pop("index"), Violation(**found)) for found in result["violations"])
            judged += result["judged"]
            stuck = result["stuck"]
            spent_s += result["seconds"]
            if stuck or len(violations) >= limit or spent_s >= timeout_s:
                break
        if stuck:
            self.close()  # the memory of the child may be exhausted
            limits = f"{timeout_s:g} s and {_MEMORY_BYTES >> 20} MiB of memory"
            message = f"line_schema could not be evaluated on this record within {limits}"
            violations.append((judged, Violation("", message)))
        return Judgement(judged, tuple(violations), stuck)

    def _run(self, request: Mapping[str, Any], data: bytes, hard_s: float) -> Mapping[str, Any]:
        try:
            return self._sandbox.run(request, data, limits=JobLimits(hard_s, hard_s, 0)).result
        except WorkerError as problem:
            if problem.status > 0 and problem.exception != "MemoryError":
                reason = problem.traceback[-2000:] or problem
                raise RuntimeError(f"evaluating a line_schema failed: {reason}") from problem
            return {"judged": 0, "stuck": True, "violations": [], "seconds": 0.0}


def _batches(records: Iterable[object]) -> Iterator[bytes]:
    """Records as JSON, one per line. They come in batches, because all of them may need more memory than a child
    has."""
    batch = bytearray()
    for record in records:
        batch += json.dumps(record).encode() + b"\n"
        if len(batch) >= _BATCH_BYTES:
            yield bytes(batch)
            batch.clear()
    if batch:
        yield bytes(batch)


def judge_in_child(schema: object, records: Iterable[object], limit: int, timeout_s: float) -> Judgement:
    """Evaluate records in a new child process (`SchemaChild.judge`)."""
    with SchemaChild() as child:
        return child.judge(schema, records, limit, timeout_s)


def validator_of(schema: object) -> Validator:
    """The jsonschema validator for a schema, by the draft that it declares."""
    from jsonschema_specifications import REGISTRY  # pyright: ignore[reportMissingTypeStubs]

    declared = draft(cast("Mapping[str, Any]", schema) if isinstance(schema, dict) else {})
    kind = with_both_dialects(declared)
    # The registry has the drafts' own schemas and cannot fetch any: an unknown reference remains unknown.
    return kind(cast("Any", _without_unevaluable_keywords(cast("object", schema))), registry=REGISTRY)


def judge_of(schema: object) -> Callable[[object], Violation | None]:
    """A function that returns the most relevant reason why a record violates the schema (jsonschema's `best_match`), or
    None if the record satisfies it."""
    from referencing.exceptions import Unresolvable

    validator = validator_of(schema)

    def judge(record: object) -> Violation | None:
        try:
            error = _best(lambda: validator.iter_errors(cast("Any", record)))
        except Unresolvable as problem:
            return Violation(
                "", f"line_schema refers to {problem.ref!r}, which it does not contain; nothing is fetched"
            )
        except (AttributeError, LookupError, TypeError) as problem:  # jsonschema raises these on odd schemas of draft 3
            return Violation("", f"line_schema cannot be evaluated: {type(problem).__name__}: {problem}"[:_MAX_MESSAGE])
        except BaseException as problem:
            # If Python's stack overflows within the registry of schemas, Rust reports it by an exception of its own.
            if not isinstance(problem, RecursionError) and type(problem).__name__ != "PanicException":
                raise
            return Violation("", "line_schema recurses without end on this record")
        return None if error is None else _violation(error)

    return judge


def _best(errors: Callable[[], Iterable[ValidationError]]) -> ValidationError | None:
    from jsonschema.exceptions import best_match  # pyright: ignore[reportUnknownVariableType]

    try:
        return cast("ValidationError | None", best_match(errors()))
    except TypeError:  # jsonschema cannot rank errors of draft 3, in which a type may be a schema
        return next(iter(errors()), None)


def _violation(error: ValidationError) -> Violation:
    from lro_spec.schema.describe import describe

    message, keyword = _message(error), str(error.validator)
    missing = _missing(error)
    expected = describe(keyword, cast("object", error.validator_value)) if missing is None else f"a field {missing!r}"
    if missing is not None:
        observed = "no such field"
    elif keyword in _EXPLAINED_BY_MESSAGE:
        observed = re.sub(r"^.*\((.*) (?:was|were) unexpected\)$", r"\1", message)
    else:
        observed = show(cast("object", error.instance))
    path = list(error.absolute_path)
    absent = [] if missing is None or cast("object", error.validator_value) is True else [missing]
    return Violation(pointer(path), message, expected, observed, pointer([*path, *absent]))


def _missing(error: ValidationError) -> str | None:
    """Return the missing field if an error is about a missing field, otherwise None. In draft 3, the field is at the
    end of the error's path."""
    keyword, wanted, value = error.validator, cast("Any", error.validator_value), cast("Any", error.instance)
    if keyword == "required" and wanted is True:
        return str(error.path[-1]) if error.path else None
    names = cast("list[Any]", wanted) if isinstance(wanted, list) else []
    if keyword in ("dependentRequired", "dependencies") and isinstance(wanted, dict):
        several = cast("dict[str, Any]", wanted).items()
        names = [name for key, needed in several if key in value for name in _listed(needed)]
    elif keyword != "required":
        return None
    return next((name for name in names if isinstance(name, str) and name not in value), None)


def _listed(needed: object) -> list[Any]:
    return cast("list[Any]", needed) if isinstance(needed, list) else [needed]


def _message(error: ValidationError) -> str:
    """The message of an error, with values as JSON. (jsonschema writes them as Python literals.)"""
    message = error.message
    wanted = cast("object", error.validator_value)
    several = cast("list[object]", wanted) if error.validator == "type" and isinstance(wanted, list) else [wanted]
    for values in ([cast("object", error.instance)], several):
        python, as_json = ", ".join(map(repr, values)), ", ".join(map(show, values))
        if message.startswith(f"{python} "):
            message = as_json + message[len(python) :]
        elif message.endswith(f" {python}"):
            message = message[: -len(python)] + as_json
    return message[:_MAX_MESSAGE]


def _without_unevaluable_keywords(schema: object) -> object:
    """The schema without ``unevaluatedProperties`` where ``patternProperties`` has a pattern that Python cannot
    compile.

    To find out which properties are evaluated, jsonschema uses Python's regular expressions only.
    """
    if isinstance(schema, list):
        return [_without_unevaluable_keywords(item) for item in cast("list[object]", schema)]
    if not isinstance(schema, dict):
        return schema
    node = cast("dict[str, object]", schema)
    names = node.get("patternProperties")
    has_foreign_pattern = isinstance(names, dict) and not all(map(compiles, cast("dict[str, object]", names)))
    kept = {k: v for k, v in node.items() if not (has_foreign_pattern and k == "unevaluatedProperties")}
    return {k: _without_unevaluable_keywords(v) for k, v in kept.items()}


def children(value: object) -> Iterable[Any]:
    """The values directly in a JSON value."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()


def local_target(root: Mapping[str, Any], reference: object) -> Any:
    """Return the target of a reference that is a JSON pointer within the document (``#/…``). Returns None if the target
    does not exist, and for any other reference."""
    path = unquote(reference) if isinstance(reference, str) and reference.startswith("#") else ""
    if path != "#" and not path.startswith("#/"):
        return None
    target: Any = root
    for part in path.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        members = cast("dict[str, Any]", target) if isinstance(target, dict) else dict(_indexed(target))
        if key not in members:
            return None
        target = members[key]
    return target


def _indexed(value: object) -> Iterator[tuple[str, Any]]:
    """The items of an array, each with its index as it is written in a pointer. Any other value has no items."""
    if isinstance(value, list):
        yield from ((str(i), item) for i, item in enumerate(cast("list[Any]", value)))


def _expanded(root: object, schema: object, open_refs: tuple[str, ...], costly: frozenset[str]) -> int:
    """Number of sub-schemas with all references followed.

    The number is above `_MAX_EXPANDED` if a keyword is costly, or if a reference is recursive or has no target in the
    document.
    """
    too_many = _MAX_EXPANDED + 1
    if not isinstance(schema, dict):
        return 1
    node = cast("dict[str, Any]", schema)
    if costly & node.keys():
        return too_many
    total = 1
    reference = node.get("$ref")
    if reference is not None:
        target = local_target(cast("Mapping[str, Any]", root), reference)
        if target is None or reference in open_refs:
            return too_many
        total += _expanded(root, target, (*open_refs, reference), costly)
    for keyword, value in cast("dict[str, object]", node).items():
        if keyword in DATA or keyword in ("$defs", "definitions"):
            continue
        parts = children(cast("object", value)) if keyword in MAPS or isinstance(value, list) else (value,)
        for part in parts:
            total += _expanded(root, part, open_refs, costly)
            if total > _MAX_EXPANDED:
                return too_many
    return total
