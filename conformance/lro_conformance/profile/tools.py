"""Comparing a profile with the tools that the server lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, cast

from lro_conformance.profile.errors import Complaint, Problem, ProfileError, dotted, nearest
from lro_conformance.profile.model import Operation, Profile
from lro_conformance.profile.yaml import YamlError, read

_Key = tuple[str, ...]

NAMED = ("query", "limit", "detail", "budget")
"""The keys of an operation that name an argument of its tool."""

_OPEN = {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas"}
"""Keywords by which a schema may admit arguments that its ``properties`` do not list."""


_MISSPELT = 0.8
"""Similarity from which a name counts as a misspelling of another, although the tool may admit arguments that it does
not list."""


def match(profile: Profile, tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """Compare the names of tools and arguments in a profile with those of the server; return notes on doubtful ones.

    Raises `ProfileError` for a tool that the server does not list, and for an argument that its tool seems not to have:
    see `_mistake`. Nothing is reported if the server lists no tools, and nothing on the arguments of a tool whose
    inputSchema is missing or empty.
    """
    if not tools:
        return []
    listed = {str(t.get("name")): t for t in tools}
    problems: list[tuple[_Key, str]] = []
    notes: list[str] = []
    for at, tool, arguments in _uses(profile):
        if tool not in listed:
            hint = nearest(tool, listed) or f"; it lists {', '.join(listed)}"
            problems.append(((*at, "tool"), f"the server lists no tool {tool}{hint}"))
            continue
        for key, name, must_be_listed in arguments:
            mistake = _mistake(name, listed[tool], must_be_listed=must_be_listed)
            if mistake is None:
                continue
            if mistake:
                problems.append(((*at, *key), f"{tool} takes no argument {name}{mistake}"))
            else:
                notes.append(f"the inputSchema of {tool} does not list {name} (profile: {dotted((*at, *key))})")
    if problems:
        raise ProfileError(_problems(profile, problems))
    return notes


def _uses(profile: Profile) -> Iterator[tuple[_Key, str, list[tuple[_Key, str, bool]]]]:
    """The tools in the profile, each as a tuple of its key, its name, and its arguments. Each argument is a tuple of
    its key, its name, and True if the tool's schema must list it."""
    for name, operation in (profile.operations or {}).items():
        if operation is not None:
            yield ("operations", name), operation.tool, [*_named(operation), *_fixed(operation.arguments)]
    for part, use in (("seed", profile.seed), ("cleanup", profile.cleanup)):
        if use is not None and use.tool is not None:
            yield (part,), use.tool, list(_fixed(use.arguments))


def _named(operation: Operation) -> Iterator[tuple[_Key, str, bool]]:
    for key in NAMED:
        name: str | None = getattr(operation, key)
        if name is not None:
            is_inside = key == "detail" and operation.levels
            yield (key, "argument") if is_inside else (key,), name, True


def _fixed(arguments: Mapping[str, Any]) -> Iterator[tuple[_Key, str, bool]]:
    for name in arguments:
        yield ("arguments", name), name, False


def _mistake(name: str, tool: Mapping[str, Any], *, must_be_listed: bool) -> str | None:
    """Suffix of a message about a wrong argument name; "" if the name is doubtful, None if it is right or if the tool's
    inputSchema is missing or empty.

    A name that the schema does not list is wrong if the schema admits no other arguments. If the schema lists some and
    does not say whether it admits others, the name is wrong if it *must_be_listed*, or if it resembles a listed one.
    """
    schema = _object(tool.get("inputSchema"))
    properties = _object(schema.get("properties"))
    if name in properties:
        return None
    closed = schema.get("additionalProperties") is False
    if not properties and not closed:
        return None if not schema.get("type") and not properties else ""
    if _OPEN & schema.keys() or schema.get("additionalProperties", False) is not False:
        return ""
    near = get_close_matches(name, list(properties), n=1, cutoff=0.6 if closed or must_be_listed else _MISSPELT)
    if not closed and not must_be_listed and not near:
        return ""
    if near:
        return f"; did you mean {near[0]}?"
    return f"; it takes {', '.join(properties)}" if properties else "; it takes none"


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _problems(profile: Profile, problems: Sequence[tuple[_Key, str]]) -> Iterator[Problem]:
    """The problems with their lines in the file of the profile; without lines if there is no file, or none that can be
    read."""
    try:
        document = read(profile.path.read_bytes()) if profile.path is not None else None
    except (OSError, YamlError):  # changed or removed since it was read
        document = None
    file = str(profile.path or "profile")
    for key, message in problems:
        yield Problem(file, document.line(key) if document is not None else None, dotted(key), Complaint(message))
