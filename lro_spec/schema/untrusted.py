"""Evaluating somebody else's JSON Schema without being hung, bloated or sent to the network by it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from lro_spec.display import pointer, shown
from lro_spec.schema.regex import compiles, reading_patterns_in_both_ways

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

_MAX_EXPANDED = 2_000
# Harmless in one pass over a record; every other keyword may cost more than its size.
_COSTLY = frozenset(
    {"pattern", "patternProperties", "propertyNames", "uniqueItems", "$dynamicRef", "$recursiveRef", "contains"}
)
# What stays costly where regular expressions cannot backtrack: the schema may recurse.
_RECURSIVE = frozenset({"$dynamicRef", "$recursiveRef"})
MAPS = frozenset({"properties", "$defs", "definitions", "dependentSchemas", "patternProperties"})
"""Keywords whose values are schemas by name."""
DATA = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are no schemas, whatever they look like."""
_OTHERS = frozenset({"additionalProperties", "unevaluatedProperties"})
_TOLD_BY_MESSAGE = _OTHERS | {"additionalItems", "unevaluatedItems", "contains", "required", "dependentRequired"}
_MESSAGE = 300
_START_S = 10.0

# The child finds the packages where the parent found them, and reads nothing else from its environment.
_CHILD = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from lro_spec.schema._worker import main; main()"


@dataclass(frozen=True, slots=True)
class Violation:
    """Why a record violates a schema."""

    pointer: str
    """A JSON pointer (RFC 6901) to the value that is meant."""
    message: str
    expected: str = ""
    """What the schema asks for there, where that can be said in few words."""
    observed: str = ""

    def __str__(self) -> str:
        return f"{self.pointer}: {self.message}" if self.pointer else self.message


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of holding records against a schema."""

    judged: int
    """How many records were judged before the time, the limit or the records ran out."""
    violations: tuple[tuple[int, Violation], ...]
    """The index of each that violates it, and why."""
    stuck: bool = False
    """Whether the last of them is one that the time was not enough for."""


def draft(schema: Mapping[str, Any]) -> type[Validator]:
    """The validator class of the draft that a schema declares; that of 2020-12 where it declares none that is known."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    if not isinstance(schema.get("$schema", ""), str):
        return Draft202012Validator
    return validator_for(cast("Any", schema), default=Draft202012Validator)


def is_tame(schema: object) -> bool:
    """Whether evaluating it costs about what its size says: no recursion, no regular expressions, nothing quadratic."""
    return isinstance(schema, bool) or _expanded(schema, schema, (), _COSTLY) <= _MAX_EXPANDED


def is_bounded(schema: object) -> bool:
    """The same for an engine whose regular expressions never backtrack, and whose sets are no lists."""
    return isinstance(schema, bool) or _expanded(schema, schema, (), _RECURSIVE) <= _MAX_EXPANDED


def judge_here(schema: object, records: Iterable[object], limit: int, timeout_s: float) -> Judgement:
    """Evaluates in this process. Only for what `is_tame`."""
    until = time.monotonic() + timeout_s
    judged = 0
    found: list[tuple[int, Violation]] = []
    for judged, violation in enumerate(map(judge_of(schema), records), 1):
        if violation is not None:
            found.append((judged - 1, violation))
        if len(found) >= limit or time.monotonic() > until:
            break
    return Judgement(judged, tuple(found))


def judge_in_child(schema: object, records: Iterable[object], limit: int, timeout_s: float) -> Judgement:
    """Evaluates in a child process, with a limit on time, memory and processor time."""
    import subprocess
    import tempfile

    with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as out:
        order = {"schema": schema, "limit": limit, "timeout_s": timeout_s, "parent": os.getpid()}
        told.write(json.dumps(order).encode() + b"\n")
        for record in records:
            told.write(json.dumps(record).encode() + b"\n")
        told.seek(0)
        argv = [sys.executable, "-I", "-S", "-c", _CHILD, json.dumps(sys.path)]
        with suppress(subprocess.TimeoutExpired):
            # The child's own start is not the schema's fault, so it is not counted against it.
            child = subprocess.run(
                argv, stdin=told, stdout=out, stderr=subprocess.PIPE, timeout=2 * timeout_s + _START_S, check=False
            )
            if child.returncode > 0:
                raise RuntimeError(f"judging a line_schema failed: {child.stderr[-2000:].decode(errors='replace')}")
        out.seek(0)
        return _read(out.read(), timeout_s)


def validator_of(schema: object) -> Validator:
    """The jsonschema validator of a schema, by the draft that it declares."""
    from jsonschema_specifications import REGISTRY  # pyright: ignore[reportMissingTypeStubs]

    declared = draft(cast("Mapping[str, Any]", schema) if isinstance(schema, dict) else {})
    kind = reading_patterns_in_both_ways(declared)
    # Holds the drafts' own schemas and cannot fetch: an unknown reference stays unknown.
    return kind(cast("Any", _without_unknown_names(cast("object", schema))), registry=REGISTRY)


def judge_of(schema: object) -> Callable[[object], Violation | None]:
    """What tells the first reason why a record violates the schema; None where it does not."""
    from referencing.exceptions import Unresolvable

    validator = validator_of(schema)

    def judge(record: object) -> Violation | None:
        try:
            error = _best(lambda: validator.iter_errors(cast("Any", record)))
        except Unresolvable as problem:
            return Violation(
                "", f"line_schema refers to {problem.ref!r}, which it does not contain; nothing is fetched"
            )
        except (AttributeError, LookupError, TypeError) as problem:  # as jsonschema does on odd schemas of draft 3
            return Violation("", f"line_schema cannot be evaluated: {type(problem).__name__}: {problem}"[:_MESSAGE])
        except BaseException as problem:
            # Where Python's stack ends within the registry of schemas, Rust tells of it in its own way.
            if not isinstance(problem, RecursionError) and type(problem).__name__ != "PanicException":
                raise
            return Violation("", "line_schema recurses without end on this record")
        return None if error is None else _violation(error)

    return judge


def _best(errors: Callable[[], Iterable[ValidationError]]) -> ValidationError | None:
    from jsonschema.exceptions import best_match  # pyright: ignore[reportUnknownVariableType]

    try:
        return cast("ValidationError | None", best_match(errors()))
    except TypeError:  # jsonschema does not know which is best where types are schemas, as draft 3 has it
        return next(iter(errors()), None)


def _violation(error: ValidationError) -> Violation:
    from lro_spec.schema.describe import asked

    message, keyword = _said(error), str(error.validator)
    missing = _missing(error)
    expected = asked(keyword, cast("object", error.validator_value)) if missing is None else f"a field {missing!r}"
    if missing is not None:
        observed = "no such field"
    elif keyword in _TOLD_BY_MESSAGE:
        observed = message
    else:
        observed = shown(cast("object", error.instance))
    return Violation(pointer(list(error.absolute_path)), message, expected, observed)


def _missing(error: ValidationError) -> str | None:
    """The field that is missing, where an error is about one; in draft 3 it stands at the end of the error's path."""
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


def _said(error: ValidationError) -> str:
    """What is wrong, with values spelled as in JSON: jsonschema spells them as in Python."""
    message = error.message
    wanted = cast("object", error.validator_value)
    several = cast("list[object]", wanted) if error.validator == "type" and isinstance(wanted, list) else [wanted]
    for values in ([cast("object", error.instance)], several):
        spelled, told = ", ".join(map(repr, values)), ", ".join(map(shown, values))
        if message.startswith(f"{spelled} "):
            message = told + message[len(spelled) :]
        elif message.endswith(f" {spelled}"):
            message = message[: -len(spelled)] + told
    return message[:_MESSAGE]


def _without_unknown_names(schema: object) -> object:
    """The schema less ``unevaluatedProperties`` beside an expression for names that Python does not have.

    jsonschema collects what was evaluated by expressions of Python's alone.
    """
    if isinstance(schema, list):
        return [_without_unknown_names(item) for item in cast("list[object]", schema)]
    if not isinstance(schema, dict):
        return schema
    node = cast("dict[str, object]", schema)
    names = node.get("patternProperties")
    unknown = isinstance(names, dict) and not all(map(compiles, cast("dict[str, object]", names)))
    kept = {k: v for k, v in node.items() if not (unknown and k == "unevaluatedProperties")}
    return {k: _without_unknown_names(v) for k, v in kept.items()}


def children(value: object) -> Iterable[Any]:
    """The values directly in a JSON value."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()


def local_target(root: Mapping[str, Any], reference: object) -> Any:
    """What a reference within the document points to; None for any other reference, or one to nothing."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    target: Any = root
    for part in unquote(reference).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        members = cast("dict[str, Any]", target) if isinstance(target, dict) else dict(_indexed(target))
        if key not in members:
            return None
        target = members[key]
    return target


def _indexed(value: object) -> Iterator[tuple[str, Any]]:
    """The items of an array by index, as a pointer writes it; nothing for any other value."""
    if isinstance(value, list):
        yield from ((str(i), item) for i, item in enumerate(cast("list[Any]", value)))


def _expanded(root: object, schema: object, open_refs: tuple[str, ...], costly: frozenset[str]) -> int:
    """How many sub-schemas there are once references are followed; over the limit as soon as something is costly."""
    over = _MAX_EXPANDED + 1
    if not isinstance(schema, dict):
        return 1
    node = cast("dict[str, Any]", schema)
    if costly & node.keys():
        return over
    total = 1
    reference = node.get("$ref")
    if reference is not None:
        target = local_target(cast("Mapping[str, Any]", root), reference)
        if target is None or reference in open_refs:
            return over
        total += _expanded(root, target, (*open_refs, reference), costly)
    for keyword, value in cast("dict[str, object]", node).items():
        if keyword in DATA or keyword in ("$defs", "definitions"):
            continue
        parts = children(cast("object", value)) if keyword in MAPS or isinstance(value, list) else (value,)
        for part in parts:
            total += _expanded(root, part, open_refs, costly)
            if total > _MAX_EXPANDED:
                return over
    return total


def _read(output: bytes, timeout_s: float) -> Judgement:
    """The child's lines: violations, and how far it came, which one that was ended has no time to say.

    A line that it had no time to finish is left out.
    """
    judged, stuck = 0, True
    found: list[tuple[int, Violation]] = []
    for line in output.split(b"\n")[:-1]:
        said = json.loads(line)
        if "message" in said:
            found.append((said.pop("index"), Violation(**said)))
        else:
            judged, stuck = said["judged"], said["stuck"]
    if stuck:
        message = f"line_schema could not be evaluated on this record within {timeout_s:g} s"
        found.append((judged, Violation("", message)))
    return Judgement(judged, tuple(found), stuck)
