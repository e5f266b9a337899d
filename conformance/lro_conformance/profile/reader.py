"""Reads ``lro.yaml`` into a `Profile`, or reports the problems of the file, each in one line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from difflib import get_close_matches
from itertools import takewhile
from pathlib import Path
from typing import Any, cast

from lro_conformance.profile.errors import (
    ENVIRONMENT,
    Complaint,
    Problem,
    ProfileError,
    did_you_mean,
    dotted,
    explain,
    value_at,
)
from lro_conformance.profile.model import (
    DEFAULT_EDITION,
    DEFAULT_START_TIMEOUT_S,
    DEFAULT_TIMEOUT_S,
    Channel,
    Cleanup,
    Client,
    ConfigFile,
    DetailValue,
    Events,
    Operation,
    Profile,
    Seed,
    ServerSpec,
    Setting,
    default_settings,
)
from lro_conformance.profile.proxy import UPSTREAM, UPSTREAM_CONFIG, UPSTREAM_URL
from lro_conformance.profile.yaml import Document, YamlError, read, read_file
from lro_spec.display import show
from lro_spec.editions import DETAILS
from lro_spec.findings import Kind
from lro_spec.schema.errors import SchemaError, violations

_ComplaintAtPath = tuple[tuple[str | int, ...], str | Complaint]


def load(path: str | os.PathLike[str], *, command: Sequence[str] = (), edition: str | None = None) -> Profile:
    """Read and check a profile.

    If *command* is given, it replaces ``server.command``, which may then be missing. Variables that ``env`` sets at the
    beginning of the command replace those of ``server.env``. If *edition* is given, it replaces the profile's edition,
    and all defaults that depend on the edition change with it.

    Raises `ProfileError` with all problems.
    """
    try:
        data = read_file(path)
    except OSError as problem:
        raise ProfileError(
            [Problem(os.fspath(path), None, "", Complaint(f"cannot be read: {problem.strerror}"))]
        ) from None
    return parse(data, path, command=command, edition=edition)


def parse(
    data: bytes, path: str | os.PathLike[str], *, command: Sequence[str] = (), edition: str | None = None
) -> Profile:
    """Parse and check a profile. *path* is used in messages, and its directory is the base of relative paths. See
    `load`."""
    file = os.fspath(path)
    try:
        document = read(data)
    except YamlError as problem:
        raise ProfileError([_unreadable_part(file, data, problem)]) from None
    if command:
        document = _with_command(document, command)
    root = _mapping(document.value)
    if edition is not None and root is not None:
        document = Document({**root, "edition": edition}, document.places, document.problems)
        root = _mapping(document.value)
    problems = [_unreadable_part(file, data, problem) for problem in document.problems]
    if root is None:
        problems += () if problems else (_no_keys_problem(file),)
        raise ProfileError(problems)
    errors = list(violations(root, "profile"))
    wrong = [*(problem.path for problem in document.problems), *(error.path for error in errors)]
    profile = _profile(_without_wrong_values(root, [error.path for error in errors]), Path(file).absolute())
    complaints = [
        *((e.path, explain(e, value_at(root, e.path))) for e in errors if not _is_consequence(e, document.problems)),
        *(each for each in _inconsistencies(profile, wrong) if not _is_unread(each[0], document.problems)),
    ]
    problems += (_problem(file, data, document, keys, message) for keys, message in complaints)
    if problems:
        raise ProfileError(sorted(problems, key=lambda problem: (problem.line or 0, problem.column or 0)))
    return profile


def _unreadable_part(file: str, data: bytes, problem: YamlError) -> Problem:
    """Return the `Problem` for a `YamlError`: the document, or a part of it, could not be read."""
    keys, column = tuple(problem.path), problem.place and problem.place.column
    is_private = _may_show_environment(data, problem.line)
    return Problem(file, problem.line, dotted(keys), Complaint(problem.message), keys, column, is_private)


def _no_keys_problem(file_name: str) -> Problem:
    return Problem(file_name, 1, "", Complaint("expected keys and values, at least server.command"))


def _is_unread(path: tuple[str | int, ...], problems: Sequence[YamlError]) -> bool:
    """True if the value at a path, or a value that contains it, could not be read."""
    return any(path[: len(p.path)] == p.path for p in problems if not p.is_about_keys)


def _is_consequence(error: SchemaError, problems: Sequence[YamlError]) -> bool:
    """True if a schema error may be a mere consequence of *problems*, because the wrong value, or the key that seems to
    be missing, could not be read."""
    mapping = error.path[:-1] if error.keyword == "required" else error.path
    is_about_absence = error.keyword in ("required", "oneOf", "minProperties", "dependentRequired")
    return _is_unread(error.path, problems) or (
        is_about_absence and any(mapping == p.path for p in problems if p.is_about_keys)
    )


_PLACEHOLDER_COMMAND = "server"


def _without_wrong_values(root: Mapping[str, Any], wrong: Sequence[tuple[str | int, ...]]) -> dict[str, Any]:
    """Return the profile without the values at the paths *wrong*, so that the rest can be read.

    Values that are incomplete as a result are left out, too. A missing command is replaced by `_PLACEHOLDER_COMMAND`.
    """
    remaining = cast("dict[str, Any]", deepcopy(root))
    while wrong:
        for path in wrong:
            if path != ("server", "command") or value_at(remaining, path) is not None:
                _remove(remaining, path)
        remaining.setdefault("server", {}).setdefault("command", [_PLACEHOLDER_COMMAND])
        wrong = [error.path for error in violations(remaining, "profile")]
    return remaining


def _remove(root: dict[str, Any], path: tuple[str | int, ...]) -> None:
    """Remove the value at a path. If the value is in a list, the whole list is removed. If the value is missing, the
    mapping that lacks it is removed."""
    keys = list(takewhile(lambda part: isinstance(part, str), path))
    mapping = value_at(root, keys[:-1])
    if isinstance(mapping, dict) and keys[-1] in mapping:
        del mapping[keys[-1]]
    elif len(keys) > 1:
        _remove(root, tuple(keys[:-1]))


def _may_show_environment(data: bytes, line: int | None) -> bool:
    """True if a line may show a value of ``server.env``, because the text ``env`` occurs on that line or before it.

    This is used for documents that could not be read completely, of which not all keys are known.
    """
    return ENVIRONMENT[-1].encode() in b"\n".join(data.split(b"\n")[:line])


def variables_apart(command: Sequence[str]) -> tuple[dict[str, str], Sequence[str]]:
    """The variables that ``env`` at the beginning of a command sets, and the rest of the command. Without ``env``, or
    if it has options, there are no variables, and the command is returned as it is."""
    if not command or os.path.basename(command[0]) != "env":
        return {}, command
    rest = list(command[1:])
    variables: dict[str, str] = {}
    while rest and re.match(r"[A-Za-z_]\w*=", rest[0]):
        name, _, value = rest.pop(0).partition("=")
        variables[name] = value
    return ({}, command) if not rest or rest[0].startswith("-") else (variables, rest)


def _with_command(document: Document, command: Sequence[str]) -> Document:
    root = _mapping(document.value)
    server = None if root is None else _mapping(root.get("server", {}))
    if root is None or server is None:
        return document
    variables, program = variables_apart(command)
    replaced: dict[str, Any] = {"command": list(program)}
    if variables and isinstance(env := server.get("env", {}), dict):
        replaced["env"] = {**env, **variables}
    return Document({**root, "server": {**server, **replaced}}, document.places, document.problems)


def _mapping(value: object) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _problem(
    file: str, data: bytes, document: Document, path: tuple[str | int, ...], complaint: str | Complaint
) -> Problem:
    line, column = document.place(path)
    complaint = complaint if isinstance(complaint, Complaint) else Complaint(complaint)
    is_private = line in document.lines_below(ENVIRONMENT)
    is_private = is_private or (bool(document.problems) and _may_show_environment(data, line))
    return Problem(file, line, dotted(path), complaint, path, column, is_private)


def _inconsistencies(profile: Profile, wrong: Sequence[tuple[str | int, ...]]) -> Iterator[_ComplaintAtPath]:
    """Yield problems that a schema cannot express: parts of the profile that contradict each other or the edition.

    *wrong* are the paths of values that were left out of *profile*, because these values have problems themselves.
    """
    from lro_spec.editions import edition

    keys_left_out = {
        key for key in ("edition", "config_file", "seed") if any(path[:1] in ((), (key,)) for path in wrong)
    }
    allowed_operations = () if "edition" in keys_left_out else edition(profile.edition).operations
    for name in profile.operations or {}:
        if allowed_operations and name not in allowed_operations:
            yield (
                ("operations", name),
                Complaint(
                    f"{profile.edition} has no such operation", hint=f"expected one of {', '.join(allowed_operations)}"
                ),
            )
    for name, operation in (profile.operations or {}).items():
        if operation is not None:
            yield from _detail_inconsistencies(("operations", name, "detail"), operation.levels)
    for name, setting in profile.settings.items():
        if setting and setting.toml and profile.config_file is None and "config_file" not in keys_left_out:
            yield ("settings", name, "toml"), "needs config_file: where the file is, or how its path reaches the server"
        if setting and setting.arg and not _any_contains(setting.arg, "{value}"):
            hint = "a bare flag is arg_if_true or arg_if_false" if name == "enabled" else ""
            yield ("settings", name, "arg"), Complaint("expected {value} where the value goes", hint=hint)
    yield from _config_file_inconsistencies(profile.config_file)
    if profile.seed and profile.seed.command and not _any_contains(profile.seed.command, "{seed_file}"):
        yield ("seed", "command"), "expected {seed_file} where the path of the memories goes"
    if profile.seed and profile.seed.tool:
        yield from _seed_inconsistencies(profile.seed.arguments, complete="seed" not in keys_left_out)
    if "{workdir}" not in profile.server.cwd and not (profile.folder / profile.server.cwd).is_dir():
        yield ("server", "cwd"), f"{profile.folder / profile.server.cwd} is not a directory"
    placeholders_used = (
        UPSTREAM in profile.proxy,
        *(_any_contains(profile.proxy, n) for n in (UPSTREAM_CONFIG, UPSTREAM_URL)),
    )
    if profile.proxy and sum(placeholders_used) != 1:
        inside = f"an argument that contains {UPSTREAM_CONFIG} or {UPSTREAM_URL}"
        alone = f"{UPSTREAM} as an argument of its own, where the server's command goes"
        yield ("proxy", "command"), f"expected exactly one of {alone}, and {inside}"
    if "edition" not in keys_left_out:
        yield from _attest_inconsistencies(profile)
    yield from _placeholder_inconsistencies(profile)
    if not profile.server.command[0]:
        yield ("server", "command", 0), Complaint("", "the name of a program", "an empty word")


def _detail_inconsistencies(key: tuple[str, ...], levels: Mapping[str, DetailValue]) -> Iterator[_ComplaintAtPath]:
    """Yield a problem for each level of detail that has the same value as an earlier level."""
    level_by_value: dict[tuple[type, DetailValue], str] = {}
    for level, value in levels.items():
        first = level_by_value.setdefault((type(value), value), level)  # with the type, because 1 == True in Python
        if first != level:
            yield (*key, level), f"{show(value)} is also the value of {first}; each level needs a value of its own"


def _seed_inconsistencies(arguments: Mapping[str, Any], *, complete: bool) -> Iterator[_ComplaintAtPath]:
    """Yield problems of the placeholders for a memory: a placeholder that would not be replaced by a value, or
    arguments without any placeholder.

    Missing placeholders are reported only if *complete* is true, which means that no part of ``seed`` was left out
    because of its own problems.
    """
    wrong_placeholders = [
        (path, problem) for path, text in _texts(arguments) if (problem := _placeholder_problem(text)) is not None
    ]
    yield from ((("seed", "arguments", *path), problem) for path, problem in wrong_placeholders)
    if complete and not wrong_placeholders and not any(memory_placeholders(arguments)):
        yield ("seed", "arguments"), 'expected "$memory" or "$memory.FIELD" where a memory goes'


def _texts(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the texts in arguments, with their paths."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, child in cast("dict[str, Any]", value).items():
            yield from _texts(child, (*path, key))
    elif isinstance(value, list):
        for number, child in enumerate(cast("list[Any]", value)):
            yield from _texts(child, (*path, number))


_MEMORY_PLACEHOLDER = re.compile(r"\$\{?(?P<name>\w+)(?:\.(?P<field>[\w-]+(?:\.[\w-]+)*))?\}?")


def _placeholder_problem(text: str) -> Complaint | None:
    """Return the problem if a text names a field that memories never have, or if the text is almost a placeholder of a
    memory; otherwise None."""
    placeholder = _MEMORY_PLACEHOLDER.match(text)
    if placeholder is None or not get_close_matches(placeholder["name"].lower(), ["memory"], n=1, cutoff=0.7):
        return None
    hint = _unknown_field(placeholder["field"]) if placeholder["field"] else None
    correct_placeholder = f"$memory.{placeholder['field']}" if placeholder["field"] else "$memory"
    if text == correct_placeholder:
        message = f"a memory has no field {placeholder['field']}"
        return None if hint is None else Complaint(message, hint=hint, kind=Kind.UNKNOWN_FIELD)
    if placeholder.group() == correct_placeholder:
        return Complaint(
            f"{show(text)} is not filled in", hint=f"write {correct_placeholder} alone, as the whole value"
        )
    return Complaint(f"{show(text)} is not filled in", hint=hint or f"did you mean {correct_placeholder}?")


def _unknown_field(field: str) -> str | None:
    """Return what to write instead of a field that memories never have; None if memories may have the field."""
    from lro_spec.schema.bundled import json_schema

    node: Mapping[str, Any] = json_schema("line")["$defs"]["any"]
    parent = "$memory"
    for name in field.split("."):
        known_fields: Mapping[str, Any] | None = node.get("properties")
        if known_fields is None:  # the schema lists no fields here, so every field may exist
            return None
        if name not in known_fields:
            near = get_close_matches(name, known_fields, n=1, cutoff=0.6)
            return f"did you mean {parent}.{near[0]}?" if near else f"expected one of {', '.join(known_fields)}"
        parent = f"{parent}.{name}"
        node = known_fields[name] if isinstance(known_fields[name], dict) else {}
    return None


def _config_file_inconsistencies(config_file: ConfigFile | None) -> Iterator[_ComplaintAtPath]:
    if config_file is None:
        return
    if config_file.arg and not _any_contains(config_file.arg, "{value}"):
        yield ("config_file", "arg"), "expected {value} where the path goes"
    if config_file.path is not None:
        parts = Path(config_file.path).parts
        if len(parts) < 2 or parts[0] != "{workdir}" or ".." in parts:
            yield ("config_file",), Complaint("", "a path below {workdir}", config_file.path)


_PLACEHOLDERS = ("{workdir}", "{value}", "{seed_file}", "{output_dir}", UPSTREAM, UPSTREAM_CONFIG, UPSTREAM_URL)


def _placeholder_inconsistencies(profile: Profile) -> Iterator[_ComplaintAtPath]:
    """Yield a problem for each placeholder that is not replaced in the place where the profile uses it.

    A word in braces counts as a mistake only if it is a placeholder in another place of the profile, or if it is
    similar to a placeholder that is replaced in this place. All other words in braces may belong to the server.
    """
    server, cleanup, seed = profile.server, profile.cleanup, profile.seed
    for path, words, replaced_here in (
        *((("server", "command", n), (word,), _PLACEHOLDERS[:1]) for n, word in enumerate(server.command)),
        *((("server", "env", name), (word,), _PLACEHOLDERS[:1]) for name, word in server.env.items()),
        (("server", "cwd"), (server.cwd,), _PLACEHOLDERS[:1]),
        *((("settings", n, "arg"), s.arg, ("{value}",)) for n, s in profile.settings.items() if s is not None),
        *((("settings", n), s.arg_if_true + s.arg_if_false, ()) for n, s in profile.settings.items() if s is not None),
        (("seed", "command"), seed.command if seed else (), ("{workdir}", "{seed_file}")),
        (("proxy", "command"), profile.proxy, ("{workdir}", UPSTREAM, UPSTREAM_CONFIG, UPSTREAM_URL)),
        (("cleanup", "command"), cleanup.command if cleanup else (), ("{workdir}", "{output_dir}")),
    ):
        placeholders = (m.group() for word in words for m in re.finditer(r"\{[A-Za-z_-]+\}", word))
        for placeholder in (p for p in placeholders if p not in replaced_here):
            near = get_close_matches(placeholder, replaced_here, n=1, cutoff=0.75)
            if placeholder in _PLACEHOLDERS or near:
                hint = (
                    f"did you mean {near[0]}?"
                    if near
                    else f"{', '.join(replaced_here) or 'nothing'} {'are' if len(replaced_here) > 1 else 'is'}"
                )
                yield path, Complaint(f"{placeholder} is not filled in here", hint=hint)


def _attest_inconsistencies(profile: Profile) -> Iterator[_ComplaintAtPath]:
    if not profile.attest:
        return
    from lro_spec.catalogue import catalogue

    requirement_ids = [r.id for r in catalogue(profile.edition)]
    for id in profile.attest:
        if requirement_ids and id not in requirement_ids:
            yield (
                ("attest", id),
                Complaint(f"{profile.edition} has no such requirement", hint=did_you_mean(id, requirement_ids)),
            )


def _profile(value: Mapping[str, Any], path: Path) -> Profile:
    server = value["server"]
    edition = value.get("edition", DEFAULT_EDITION)
    settings = default_settings(edition)
    settings.update({name: entry and _setting(entry) for name, entry in value.get("settings", {}).items()})
    operations = value.get("operations")
    return Profile(
        ServerSpec(
            command=_words(server["command"]),
            env={name: str(word) for name, word in server.get("env", {}).items()},
            cwd=server.get("cwd", "."),
            timeout_s=float(server.get("timeout_s", DEFAULT_TIMEOUT_S)),
            start_timeout_s=float(server.get("start_timeout_s", DEFAULT_START_TIMEOUT_S)),
        ),
        edition=edition,
        level=value.get("level"),
        client=Client(**value.get("client", {})),
        settings=settings,
        given=tuple(name for name, entry in value.get("settings", {}).items() if entry),
        config_file=_config_file(value.get("config_file")),
        operations=None if operations is None else {n: _operation(o) for n, o in operations.items()},
        seed=_seed(value.get("seed")),
        cleanup=_cleanup(value.get("cleanup")),
        events=_events(value["events"]) if "events" in value else Events(),
        inline_records=value.get("inline", {}).get("records"),
        attest=value.get("attest", {}),
        proxy=_words(value.get("proxy", {}).get("command", ())),
        path=path,
    )


def _operation(entry: Mapping[str, Any] | None) -> Operation | None:
    if entry is None:
        return None
    members: dict[str, Any] = {**entry, "without": tuple(name for name, value in entry.items() if value is None)}
    if (detail := _mapping(entry.get("detail"))) is not None:
        members["detail"] = detail["argument"]
        members["levels"] = {level: detail[level] for level in DETAILS if level in detail}
    return Operation(**members)


def _setting(entry: Mapping[str, Any]) -> Setting:
    words = {name: _words(entry.get(name, ())) for name in ("arg", "arg_if_true", "arg_if_false")}
    return Setting(env=entry.get("env"), toml=entry.get("toml"), **words)


def _config_file(entry: str | Mapping[str, Any] | None) -> ConfigFile | None:
    if entry is None:
        return None
    if isinstance(entry, str):
        return ConfigFile(path=entry)
    return ConfigFile(arg=_words(entry.get("arg", [])), env=entry.get("env"))


def _events(entry: Channel | Mapping[str, str]) -> Events:
    if isinstance(entry, str):
        return Events(entry, named=True)
    return Events("file", entry["file_env"], named=True)


def _seed(entry: Mapping[str, Any] | None) -> Seed | None:
    return None if entry is None else Seed(**_with_words(entry))


def _cleanup(entry: Mapping[str, Any] | None) -> Cleanup | None:
    return None if entry is None else Cleanup(**_with_words(entry))


def _with_words(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {**entry, "command": _words(entry.get("command", ()))}


def _words(words: str | Sequence[Any]) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else tuple(str(word) for word in words)


def _any_contains(words: Sequence[str], placeholder: str) -> bool:
    return any(placeholder in word for word in words)


def memory_placeholders(value: object) -> Iterator[str]:
    """Yield the placeholders of a memory and of its fields in the arguments of a seed: ``$memory``,
    ``$memory.title``."""
    if isinstance(value, str) and (value == "$memory" or value.startswith("$memory.")):
        yield value
    elif isinstance(value, dict):
        for child in cast("dict[str, Any]", value).values():
            yield from memory_placeholders(child)
    elif isinstance(value, list):
        for child in cast("list[Any]", value):
            yield from memory_placeholders(child)
