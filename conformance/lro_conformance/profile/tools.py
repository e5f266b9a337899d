"""Compares a profile with the tools that the server lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, cast

from lro_conformance.profile.errors import Complaint, Problem, ProfileError, dotted, nearest
from lro_conformance.profile.model import Operation, Profile
from lro_conformance.profile.yaml import YamlError, read

_Key = tuple[str, ...]

ARGUMENT_KEYS = ("query", "limit", "detail", "budget")
"""The keys of an operation that name an argument of its tool."""

_OPEN_KEYWORDS = {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas"}
"""Keywords by which a schema may admit arguments that its ``properties`` do not list."""


_MIN_SIMILARITY = 0.8
"""Minimum similarity, from 0 to 1, at which a name counts as a misspelling of a listed argument. It applies if the tool
may also admit arguments that it does not list."""


def match(profile: Profile, tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """Compare the names of tools and arguments in a profile with the tools of the server. Returns notes on doubtful
    names.

    Raises `ProfileError` for a tool that the server does not list, and for an argument that its tool seems to lack (see
    `_mistake`). If the server lists no tools, nothing is reported. If the inputSchema of a tool is missing or empty,
    nothing is reported on the arguments of this tool.
    """
    if not tools:
        return []
    listed = {str(t.get("name")): t for t in tools}
    problems: list[tuple[_Key, str]] = []
    notes: list[str] = []
    for tool_key, tool, arguments in _tools_used(profile):
        if tool not in listed:
            hint = nearest(tool, listed) or f"; it lists {', '.join(listed)}"
            problems.append(((*tool_key, "tool"), f"the server lists no tool {tool}{hint}"))
            continue
        for argument_key, name, must_be_listed in arguments:
            mistake = _mistake(name, listed[tool], must_be_listed=must_be_listed)
            if mistake is None:
                continue
            if mistake:
                problems.append(((*tool_key, *argument_key), f"{tool} takes no argument {name}{mistake}"))
            else:
                notes.append(
                    f"the inputSchema of {tool} does not list {name} (profile: {dotted((*tool_key, *argument_key))})"
                )
    if problems:
        raise ProfileError(_problems(profile, problems))
    return notes


def _tools_used(profile: Profile) -> Iterator[tuple[_Key, str, list[tuple[_Key, str, bool]]]]:
    """Yield the tools in the profile, each as a tuple of its key, its name and its arguments. Each argument is a tuple
    of its key, its name, and True if the tool's schema must list this argument."""
    for name, operation in (profile.operations or {}).items():
        if operation is not None:
            yield (
                ("operations", name),
                operation.tool,
                [*_named_arguments(operation), *_fixed_arguments(operation.arguments)],
            )
    for section_key, section in (("seed", profile.seed), ("cleanup", profile.cleanup)):
        if section is not None and section.tool is not None:
            yield (section_key,), section.tool, list(_fixed_arguments(section.arguments))


def _named_arguments(operation: Operation) -> Iterator[tuple[_Key, str, bool]]:
    for key in ARGUMENT_KEYS:
        name: str | None = getattr(operation, key)
        if name is not None:
            is_inside = key == "detail" and operation.levels
            yield (key, "argument") if is_inside else (key,), name, True


def _fixed_arguments(arguments: Mapping[str, Any]) -> Iterator[tuple[_Key, str, bool]]:
    for name in arguments:
        yield ("arguments", name), name, False


def _mistake(name: str, tool: Mapping[str, Any], *, must_be_listed: bool) -> str | None:
    """Judge the name of an argument by the tool's inputSchema.

    Returns None if the name is right, or if the inputSchema is missing or empty. Returns "" if the name is doubtful. If
    the name is wrong, returns the end of a message about it, which says what is right.

    A name that the schema does not list is wrong if the schema admits only the listed arguments. If the schema lists
    some arguments, and does not say whether it admits others, the name is wrong if it *must_be_listed*, or if it
    resembles a listed name.
    """
    schema = _object(tool.get("inputSchema"))
    properties = _object(schema.get("properties"))
    if name in properties:
        return None
    closed = schema.get("additionalProperties") is False
    if not properties and not closed:
        return None if not schema.get("type") and not properties else ""
    if _OPEN_KEYWORDS & schema.keys() or schema.get("additionalProperties", False) is not False:
        return ""
    similar = get_close_matches(
        name, list(properties), n=1, cutoff=0.6 if closed or must_be_listed else _MIN_SIMILARITY
    )
    if not closed and not must_be_listed and not similar:
        return ""
    if similar:
        return f"; did you mean {similar[0]}?"
    return f"; it takes {', '.join(properties)}" if properties else "; it takes none"


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _problems(profile: Profile, problems: Sequence[tuple[_Key, str]]) -> Iterator[Problem]:
    """Yield the problems with their lines in the file of the profile. The lines are left out if there is no file, or if
    it cannot be read."""
    try:
        document = read(profile.path.read_bytes()) if profile.path is not None else None
    except (OSError, YamlError):  # changed or removed since it was read
        document = None
    file = str(profile.path or "profile")
    for key, message in problems:
        yield Problem(file, document.line(key) if document is not None else None, dotted(key), Complaint(message))
