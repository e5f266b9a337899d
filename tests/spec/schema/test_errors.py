"""Errors of a schema in words: the place, the keyword, the expected and the observed value."""

from __future__ import annotations

from typing import Any

import pytest

from lro_spec.schema.errors import type_words, violations

NO_SERVER = ("server", "required", "a field 'server'", "no such field")
SERVER: dict[str, Any] = {"command": ["a"]}


def seen(profile: Any) -> list[tuple[str, str, str, str]]:
    found = violations(profile, "profile")
    return [("/".join(map(str, e.path)), str(e.keyword), e.expected, e.observed) for e in found]


@pytest.mark.parametrize(
    ("profile", "error"),
    [
        ({}, NO_SERVER),
        ({"server": {}}, ("server/command", "required", "a field 'command'", "no such field")),
        ({"server": {"command": []}}, ("server/command", "minItems", "at least one", "[]")),
        ({"server": {"command": "a"}}, ("server/command", "type", "an array", '"a"')),
        ({"server": {**SERVER, "timeout_s": 0}}, ("server/timeout_s", "exclusiveMinimum", "more than 0", "0")),
        (
            {"server": {**SERVER, "x": 1}},
            ("server/x", "additionalProperties", "one of command, cwd, env, start_timeout_s, timeout_s", "a field 'x'"),
        ),
        (3, ("", "type", "an object", "3")),
        (
            {"server": SERVER, "cleanup": {"restart": True, "wait_s": 1}},
            ("cleanup", "oneOf", "exactly one of tool, restart, command, wait_s, next_offload", "restart and wait_s"),
        ),
        ({"server": SERVER, "seed": {}}, ("seed", "oneOf", "exactly one of tool, env, command", "{}")),
        (
            {"server": SERVER, "settings": {"enabled": {}}},
            ("settings/enabled", "minProperties", "exactly one of env, arg, toml, arg_if_true, arg_if_false", "{}"),
        ),
        (
            {"server": SERVER, "settings": {"enabled": {"env": "A", "arg": "b"}}},
            (
                "settings/enabled",
                "maxProperties",
                "exactly one of env, arg, toml, arg_if_true, arg_if_false",
                "env and arg",
            ),
        ),
        (
            {"server": SERVER, "operations": {"recall": {}}},
            ("operations/recall/tool", "required", "a field 'tool'", "no such field"),
        ),
        ({"server": SERVER, "operations": {}}, ("operations", "minProperties", "at least one", "{}")),
    ],
)
def test_an_error_says_where_and_what_was_expected(profile: Any, error: tuple[str, str, str, str]) -> None:
    assert seen(profile) == [error]


@pytest.mark.parametrize(
    ("profile", "error"),
    [
        ({"level": 4}, ("level", "maximum", "at most 3", "4")),
        ({"level": "3"}, ("level", "type", "a whole number", '"3"')),
        ({"edition": "x"}, ("edition", "enum", '"lro-6400" or "lro-1600" or "lro-paper"', '"x"')),
    ],
)
def test_errors_are_told_one_by_one(profile: Any, error: tuple[str, str, str, str]) -> None:
    assert seen(profile) == [error, NO_SERVER]


def test_types_are_told_in_words() -> None:
    assert (type_words("object"), type_words(["string", "null"])) == ("an object", "a string or null")
