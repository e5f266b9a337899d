"""Parts of a ``line_schema`` that cannot be evaluated, with their positions: invalid patterns, dangling references.

Regular expressions in JSON Schema have the dialect of ECMAScript. A regular expression that Python does not support is
accepted. A regular expression that is invalid in every dialect is an error. Dangling references are references without
a target. A reference to another document by its absolute HTTP address is called remote; it is not dangling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from lro_spec.display import pointer
from lro_spec.schema.regex import compiles
from lro_spec.schema.untrusted import DATA, MAPS, draft

Path = tuple[str | int, ...]

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_BRACES = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")


def subschemas(schema: object) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Each object in a place that is meant for a schema, with its path. Plain data, such as the value of ``const``, is
    skipped."""
    pending: list[tuple[Path, object]] = [((), schema)]
    while pending:
        path, value = pending.pop()
        if not isinstance(value, dict):
            continue
        node = cast("dict[str, object]", value)
        yield path, cast("dict[str, Any]", node)
        nested: list[tuple[Path, object]] = []
        for keyword, part in node.items():
            if keyword in DATA:
                continue
            if isinstance(part, list):
                nested += [((*path, keyword, n), item) for n, item in enumerate(cast("list[object]", part))]
            elif keyword in MAPS and isinstance(part, dict):
                nested += [((*path, keyword, name), item) for name, item in cast("dict[str, object]", part).items()]
            else:
                nested.append(((*path, keyword), part))
        pending += reversed(nested)


def foreign_patterns(schema: object) -> Iterator[tuple[Path, str]]:
    """The regular expressions that Python cannot compile, each with its path."""
    for path, node in subschemas(schema):
        pattern, names = node.get("pattern"), node.get("patternProperties")
        if isinstance(pattern, str) and not compiles(pattern):
            yield (*path, "pattern"), pattern
        for name in cast("dict[str, object]", names) if isinstance(names, dict) else ():
            if not compiles(name):
                yield (*path, "patternProperties", name), name


def syntax_error(pattern: str) -> str | None:
    """The reason why a text is not a regular expression in any dialect; None if it may be one in some dialect."""
    depth, index, nothing_to_repeat = 0, 0, True
    while index < len(pattern):
        character = pattern[index]
        if character == "\\":
            if index + 1 == len(pattern):
                return "it ends in a backslash"
            index, nothing_to_repeat = index + 1, False
        elif character == "[":
            end = _class_end(pattern, index)
            if end is None:
                return "a [ is not closed"
            index, nothing_to_repeat = end, False
        elif character == "(":
            depth, nothing_to_repeat = depth + 1, True
        elif character == ")":
            if not depth:
                return "a ) closes nothing"
            depth, nothing_to_repeat = depth - 1, False
        elif (
            character in "*+"
            or (character == "?" and pattern[index - 1 : index] != "(")
            or _BRACES.match(pattern, index)
        ):
            if nothing_to_repeat:
                return f"there is nothing for {character} to repeat"
        else:
            nothing_to_repeat = character == "|"
        index += 1
    return "a ( is not closed" if depth else None


def _class_end(pattern: str, index: int) -> int | None:
    """The index of the ``]`` that closes the class beginning at *index*; ``[]`` is an empty class, as in ECMAScript."""
    while index < len(pattern):
        if pattern[index] == "]":
            return index
        index += 2 if pattern[index] == "\\" else 1
    return None


def dangling_references(schema: object) -> Iterator[tuple[str, str]]:
    """References that have no target in the schema and are not remote.

    Yields the JSON pointer to each reference, and its text.
    """
    yield from ((pointer([*path]), text) for path, text, is_remote in _unresolved(schema) if not is_remote)


def remote_references(schema: object) -> Iterator[tuple[Path, str]]:
    """References to other documents by absolute HTTP address: the path and the text of each. Nothing is fetched."""
    yield from ((path, text) for path, text, is_remote in _unresolved(schema) if is_remote)


def without_references(schema: object, references: Iterable[Path]) -> object:
    """The schema without some of its references, so that the rest can be evaluated."""
    paths = set(references)
    dialect: object = cast("dict[str, object]", schema).get("$schema") if isinstance(schema, dict) else None
    # Up to draft 7, keywords beside a reference are ignored.
    siblings_apply = not isinstance(dialect, str) or not re.search(r"draft-0[3-7]", dialect)

    def copied(value: object, path: Path) -> object:
        if isinstance(value, list):
            return [copied(item, (*path, n)) for n, item in enumerate(cast("list[object]", value))]
        if not isinstance(value, dict):
            return value
        node = cast("dict[str, object]", value)
        left_out = {name for name in node if (*path, name) in paths}
        kept = node if siblings_apply or not left_out else {k: v for k, v in node.items() if k == "$schema"}
        return {name: copied(part, (*path, name)) for name, part in kept.items() if name not in left_out}

    return copied(cast("object", schema), ())


def _unresolved(schema: object) -> Iterator[tuple[Path, str, bool]]:
    """References without a target in the schema: path, text, and True if the reference is remote."""
    nodes = list(subschemas(schema))
    if not any(name in node for _, node in nodes for name in _REFERENCES):
        return
    from urllib.parse import urljoin

    from jsonschema_specifications import REGISTRY  # pyright: ignore[reportMissingTypeStubs]
    from referencing.exceptions import NoSuchAnchor, NoSuchResource, PointerToNowhere, Unresolvable, Unretrievable
    from referencing.jsonschema import UnknownDialect, specification_with

    whole = cast("Mapping[str, Any]", schema)
    places = {id(node): path for path, node in nodes}
    root = specification_with(str(draft(whole).META_SCHEMA.get("$schema"))).create_resource(cast("Any", whole))
    lookup_errors = (Unresolvable, Unretrievable, NoSuchResource, ValueError, TypeError)
    pending = [(root, REGISTRY.resolver_with_root(root), root.id() or "")]
    while pending:
        resource, resolver, base = pending.pop()
        contents: object = resource.contents
        node = cast("dict[str, Any]", contents) if isinstance(contents, dict) else {}
        for keyword in _REFERENCES if id(node) in places else ():
            reference: object = node.get(keyword)
            if not isinstance(reference, str):
                continue
            try:
                resolver.lookup(reference)
            except lookup_errors as problem:
                is_missing = isinstance(problem, Unresolvable) and not isinstance(
                    problem, (NoSuchAnchor, PointerToNowhere)
                )
                yield (*places[id(node)], keyword), reference, is_missing and _is_address(urljoin(base, reference))
        try:
            nested = list(resource.subresources())
            pending += [
                (part, resolver.in_subresource(part), urljoin(base, part.id() or "")) for part in reversed(nested)
            ]
        except (UnknownDialect, ValueError, TypeError, AttributeError):
            continue  # the part is malformed, or in an unknown dialect


def _is_address(reference: str) -> bool:
    """True if a reference is an absolute HTTP address."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(reference)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)
