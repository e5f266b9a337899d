"""Reading ``lro.yaml`` into a `Profile`, or reporting its problems in one line each."""

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

_Keyed = tuple[tuple[str | int, ...], str | Complaint]


def load(path: str | os.PathLike[str], *, command: Sequence[str] = (), edition: str | None = None) -> Profile:
    """Read and check a profile.

    *command* replaces ``server.command``, which may then be missing. *edition* replaces the profile's edition, with all
    defaults that depend on it.

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
    """Parse and check a profile; *path* is used in messages and as the base of relative paths. See `load`."""
    file = os.fspath(path)
    try:
        document = read(data)
    except YamlError as problem:
        raise ProfileError([_unread(file, data, problem)]) from None
    if command:
        document = _with_command(document, command)
    root = _mapping(document.value)
    if edition is not None and root is not None:
        document = Document({**root, "edition": edition}, document.places, document.problems)
        root = _mapping(document.value)
    problems = [_unread(file, data, problem) for problem in document.problems]
    if root is None:
        problems += () if problems else (_without_keys(file),)
        raise ProfileError(problems)
    errors = list(violations(root, "profile"))
    wrong = [*(problem.path for problem in document.problems), *(error.path for error in errors)]
    profile = _profile(_sound_part(root, [error.path for error in errors]), Path(file).absolute())
    found = [
        *((e.path, explain(e, value_at(root, e.path))) for e in errors if not _is_consequence(e, document.problems)),
        *(each for each in _inconsistencies(profile, wrong) if not _is_unread(each[0], document.problems)),
    ]
    problems += (_problem(file, data, document, keys, message) for keys, message in found)
    if problems:
        raise ProfileError(sorted(problems, key=lambda problem: (problem.line or 0, problem.column or 0)))
    return profile


def _unread(file: str, data: bytes, problem: YamlError) -> Problem:
    """The `Problem` for an error of the YAML reader, which could not read the document or a part of it."""
    keys, column = tuple(problem.path), problem.place and problem.place.column
    is_private = _may_show_environment(data, problem.line)
    return Problem(file, problem.line, dotted(keys), Complaint(problem.message), keys, column, is_private)


def _without_keys(file: str) -> Problem:
    return Problem(file, 1, "", Complaint("expected keys and values, at least server.command"))


def _is_unread(keys: tuple[str | int, ...], problems: Sequence[YamlError]) -> bool:
    """True if the value at a path, or a value that contains it, could not be read."""
    return any(keys[: len(p.path)] == p.path for p in problems if not p.is_about_keys)


def _is_consequence(error: SchemaError, problems: Sequence[YamlError]) -> bool:
    """True for an error that may be a mere consequence of *problems*: the value, or the missing key, could not be
    read."""
    mapping = error.path[:-1] if error.keyword == "required" else error.path
    is_about_absence = error.keyword in ("required", "oneOf", "minProperties", "dependentRequired")
    return _is_unread(error.path, problems) or (
        is_about_absence and any(mapping == p.path for p in problems if p.is_about_keys)
    )


_STAND_IN = "server"


def _sound_part(root: Mapping[str, Any], wrong: Sequence[tuple[str | int, ...]]) -> dict[str, Any]:
    """The profile without the values at the paths *wrong*, and without values that are incomplete as a result, so that
    the rest can be read. `_STAND_IN` takes the place of a missing command."""
    rest = cast("dict[str, Any]", deepcopy(root))
    while wrong:
        for path in wrong:
            if path != ("server", "command") or value_at(rest, path) is not None:
                _remove(rest, path)
        rest.setdefault("server", {}).setdefault("command", [_STAND_IN])
        wrong = [error.path for error in violations(rest, "profile")]
    return rest


def _remove(root: dict[str, Any], path: tuple[str | int, ...]) -> None:
    """Remove the value at a path; if it is in a list, the list; if it is missing, the mapping that lacks it."""
    keys = list(takewhile(lambda part: isinstance(part, str), path))
    inside = value_at(root, keys[:-1])
    if isinstance(inside, dict) and keys[-1] in inside:
        del inside[keys[-1]]
    elif len(keys) > 1:
        _remove(root, tuple(keys[:-1]))


def _may_show_environment(data: bytes, line: int | None) -> bool:
    """True if a line may show a value of ``server.env``: the text ``env`` occurs on that line or before it.

    Used for documents that could not be read completely, so that not all keys are known.
    """
    return ENVIRONMENT[-1].encode() in b"\n".join(data.split(b"\n")[:line])


def _with_command(document: Document, command: Sequence[str]) -> Document:
    root = _mapping(document.value)
    server = None if root is None else _mapping(root.get("server", {}))
    if root is None or server is None:
        return document
    return Document({**root, "server": {**server, "command": list(command)}}, document.places, document.problems)


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


def _inconsistencies(profile: Profile, wrong: Sequence[tuple[str | int, ...]]) -> Iterator[_Keyed]:
    """Problems that a schema cannot express: parts that contradict each other or the edition.

    *wrong* are paths of values that are not in *profile*, because they have problems themselves.
    """
    from lro_spec.editions import edition

    unknown = {key for key in ("edition", "config_file", "seed") if any(path[:1] in ((), (key,)) for path in wrong)}
    known = () if "edition" in unknown else edition(profile.edition).operations
    for name in profile.operations or {}:
        if known and name not in known:
            yield (
                ("operations", name),
                Complaint(f"{profile.edition} has no such operation", hint=f"expected one of {', '.join(known)}"),
            )
    for name, operation in (profile.operations or {}).items():
        if operation is not None:
            yield from _detail_inconsistencies(("operations", name, "detail"), operation.levels)
    for name, setting in profile.settings.items():
        if setting and setting.toml and profile.config_file is None and "config_file" not in unknown:
            yield ("settings", name, "toml"), "needs config_file: where the file is, or how its path reaches the server"
        if setting and setting.arg and not _mentions(setting.arg, "{value}"):
            bare = "a bare flag is arg_if_true or arg_if_false" if name == "enabled" else ""
            yield ("settings", name, "arg"), Complaint("expected {value} where the value goes", hint=bare)
    yield from _config_file_inconsistencies(profile.config_file)
    if profile.seed and profile.seed.command and not _mentions(profile.seed.command, "{seed_file}"):
        yield ("seed", "command"), "expected {seed_file} where the path of the memories goes"
    if profile.seed and profile.seed.tool:
        yield from _seed_inconsistencies(profile.seed.arguments, complete="seed" not in unknown)
    if "{workdir}" not in profile.server.cwd and not (profile.folder / profile.server.cwd).is_dir():
        yield ("server", "cwd"), f"{profile.folder / profile.server.cwd} is not a directory"
    named = (UPSTREAM in profile.proxy, *(_mentions(profile.proxy, n) for n in (UPSTREAM_CONFIG, UPSTREAM_URL)))
    if profile.proxy and sum(named) != 1:
        inside = f"an argument that contains {UPSTREAM_CONFIG} or {UPSTREAM_URL}"
        alone = f"{UPSTREAM} as an argument of its own, where the server's command goes"
        yield ("proxy", "command"), f"expected exactly one of {alone}, and {inside}"
    if "edition" not in unknown:
        yield from _attest_inconsistencies(profile)
    yield from _placeholder_inconsistencies(profile)
    if not profile.server.command[0]:
        yield ("server", "command", 0), Complaint("", "the name of a program", "an empty word")


def _detail_inconsistencies(key: tuple[str, ...], levels: Mapping[str, DetailValue]) -> Iterator[_Keyed]:
    """Levels of detail that have the same value as another level."""
    known: dict[tuple[type, DetailValue], str] = {}
    for level, value in levels.items():
        first = known.setdefault((type(value), value), level)  # as 1 == True in Python
        if first != level:
            yield (*key, level), f"{show(value)} is also the value of {first}; each level needs a value of its own"


def _seed_inconsistencies(arguments: Mapping[str, Any], *, complete: bool) -> Iterator[_Keyed]:
    """Placeholders of a memory that would not be replaced by a value, or the lack of any placeholder.

    The lack is reported only if *complete*: no part of ``seed`` was left out because it has problems of its own.
    """
    wrong = [(path, problem) for path, text in _texts(arguments) if (problem := _wrong_memory_word(text)) is not None]
    yield from ((("seed", "arguments", *path), problem) for path, problem in wrong)
    if complete and not wrong and not any(memory_placeholders(arguments)):
        yield ("seed", "arguments"), 'expected "$memory" or "$memory.FIELD" where a memory goes'


def _texts(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The texts in arguments, with their paths."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, child in cast("dict[str, Any]", value).items():
            yield from _texts(child, (*path, key))
    elif isinstance(value, list):
        for number, child in enumerate(cast("list[Any]", value)):
            yield from _texts(child, (*path, number))


_MEMORY_WORD = re.compile(r"\$\{?(?P<name>\w+)(?:\.(?P<field>[\w-]+(?:\.[\w-]+)*))?\}?")


def _wrong_memory_word(text: str) -> Complaint | None:
    """The problem of a text that names a field that no memory has, or that is almost a placeholder of a memory."""
    word = _MEMORY_WORD.match(text)
    if word is None or not get_close_matches(word["name"].lower(), ["memory"], n=1, cutoff=0.7):
        return None
    hint = _unknown_field(word["field"]) if word["field"] else None
    place = f"$memory.{word['field']}" if word["field"] else "$memory"
    if text == place:
        message = f"a memory has no field {word['field']}"
        return None if hint is None else Complaint(message, hint=hint, kind=Kind.UNKNOWN_FIELD)
    if word.group() == place:
        return Complaint(f"{show(text)} is not filled in", hint=f"write {place} alone, as the whole value")
    return Complaint(f"{show(text)} is not filled in", hint=hint or f"did you mean {place}?")


def _unknown_field(field: str) -> str | None:
    """A hint at what to write instead of a field that no memory has; None if memories may have it."""
    from lro_spec.schema.bundled import json_schema

    node: Mapping[str, Any] = json_schema("line")["$defs"]["any"]
    so_far = "$memory"
    for name in field.split("."):
        known: Mapping[str, Any] | None = node.get("properties")
        if known is None:  # the schema lists no fields here, so any may exist
            return None
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.6)
            return f"did you mean {so_far}.{near[0]}?" if near else f"expected one of {', '.join(known)}"
        so_far = f"{so_far}.{name}"
        node = known[name] if isinstance(known[name], dict) else {}
    return None


def _config_file_inconsistencies(config_file: ConfigFile | None) -> Iterator[_Keyed]:
    if config_file is None:
        return
    if config_file.arg and not _mentions(config_file.arg, "{value}"):
        yield ("config_file", "arg"), "expected {value} where the path goes"
    if config_file.path is not None:
        parts = Path(config_file.path).parts
        if len(parts) < 2 or parts[0] != "{workdir}" or ".." in parts:
            yield ("config_file",), Complaint("", "a path below {workdir}", config_file.path)


_PLACEHOLDERS = ("{workdir}", "{value}", "{seed_file}", "{output_dir}", UPSTREAM, UPSTREAM_CONFIG, UPSTREAM_URL)


def _placeholder_inconsistencies(profile: Profile) -> Iterator[_Keyed]:
    """Placeholders that are not replaced where they are used.

    Only words that are placeholders elsewhere, or similar to one that is replaced here, are mistakes. Other braces may
    belong to the server.
    """
    server, cleanup, seed = profile.server, profile.cleanup, profile.seed
    for where, words, known in (
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
        for placeholder in (p for p in placeholders if p not in known):
            near = get_close_matches(placeholder, known, n=1, cutoff=0.75)
            if placeholder in _PLACEHOLDERS or near:
                hint = (
                    f"did you mean {near[0]}?"
                    if near
                    else f"{', '.join(known) or 'nothing'} {'are' if len(known) > 1 else 'is'}"
                )
                yield where, Complaint(f"{placeholder} is not filled in here", hint=hint)


def _attest_inconsistencies(profile: Profile) -> Iterator[_Keyed]:
    if not profile.attest:
        return
    from lro_spec.catalogue import catalogue

    known = [r.id for r in catalogue(profile.edition)]
    for id in profile.attest:
        if known and id not in known:
            yield ("attest", id), Complaint(f"{profile.edition} has no such requirement", hint=did_you_mean(id, known))


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
    known: dict[str, Any] = {**entry, "without": tuple(name for name, value in entry.items() if value is None)}
    if (detail := _mapping(entry.get("detail"))) is not None:
        known["detail"] = detail["argument"]
        known["levels"] = {level: detail[level] for level in DETAILS if level in detail}
    return Operation(**known)


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


def _mentions(words: Sequence[str], placeholder: str) -> bool:
    return any(placeholder in word for word in words)


def memory_placeholders(value: object) -> Iterator[str]:
    """The placeholders of a memory and of its fields in the arguments of a seed: ``$memory``, ``$memory.title``."""
    if isinstance(value, str) and (value == "$memory" or value.startswith("$memory.")):
        yield value
    elif isinstance(value, dict):
        for child in cast("dict[str, Any]", value).values():
            yield from memory_placeholders(child)
    elif isinstance(value, list):
        for child in cast("list[Any]", value):
            yield from memory_placeholders(child)
