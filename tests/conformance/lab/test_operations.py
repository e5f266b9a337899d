"""Operations of a profile: what it says of a tool's arguments, and what is taken from the tool's schema instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from lro_conformance.init.probe import levels_by_fields
from lro_conformance.lab.operations import (
    FORMATS,
    Operation,
    hinted_tool,
    operations_of,
    reading_tools,
    resolve,
    sample_value,
    storing_tools,
)
from tests.servers.sound.catalogue import sounds
from tests.servers.variants import profile_text

PROPERTIES = {
    "query": {"type": "string"},
    "limit": {"type": "integer", "maximum": 50},
    "detail": {"enum": ["light", "full"]},
    "max_tokens": {"type": "integer"},
    "store": {"$ref": "#/$defs/Store"},
    "version": {"const": 2},
}
SCHEMA = {
    "type": "object",
    "$defs": {"Store": {"type": "string", "enum": ["team", "mine"]}},
    "properties": PROPERTIES,
    "required": ["query", "store", "version"],
}
TOOL = {"name": "find", "inputSchema": SCHEMA}


def _recall(folder: Path, operation: str) -> Operation:
    path = folder / "lro.yaml"
    path.write_text(f"server: {{command: [x]}}\noperations: {{recall: {operation}}}\n")
    return resolve(profiles.load(path), [TOOL])["recall"]


def test_what_a_profile_leaves_out_is_taken_from_the_schema(tmp_path: Path) -> None:
    found = _recall(tmp_path, "{tool: find}")
    assert (found.query, found.limit, found.detail, found.budget) == ("query", "limit", "detail", "max_tokens")
    assert (found.details, found.limit_maximum) == (("light", "full"), 50)
    assert found.arguments == {"query": "*", "store": "team", "version": 2}


def test_what_a_profile_says_stands(tmp_path: Path) -> None:
    """Also null, and an argument with a value, which is not varied."""
    found = _recall(tmp_path, "{tool: find, arguments: {query: a, store: mine, detail: full}, limit: null}")
    assert (found.query, found.limit, found.detail) == (None, None, None)
    assert found.arguments == {"query": "a", "store": "mine", "version": 2, "detail": "full"}


FLAG = {"anyOf": [{"type": "boolean"}, {"type": "null"}]}


def _flagged(folder: Path, operation: str, argument: str, *, required: bool = False) -> Operation:
    path = folder / "lro.yaml"
    path.write_text(f"server: {{command: [x]}}\noperations: {{recall: {operation}}}\n")
    schema = {"properties": {argument: FLAG}, "required": [argument] if required else []}
    return resolve(profiles.load(path), [{"name": "find", "inputSchema": schema}])["recall"]


def test_a_boolean_argument_is_true_for_full_detail(tmp_path: Path) -> None:
    found = _flagged(tmp_path, "{tool: find, detail: full}", "full", required=True)
    assert (found.detail, found.details, found.arguments) == ("full", ("light", "full"), {"full": False})
    assert [found.detail_value(level) for level in found.details] == [False, True]
    assert _flagged(tmp_path, "{tool: find}", "details").levels == {"light": False, "full": True}, "by its usual name"


@pytest.mark.parametrize("detail", ["brief", "{argument: brief, full: false, light: true}"])
def test_a_boolean_argument_may_be_true_for_light_detail(tmp_path: Path, detail: str) -> None:
    """As its name or the profile says; the levels are in their order in either case."""
    found = _flagged(tmp_path, f"{{tool: find, detail: {detail}}}", "brief", required=True)
    assert (found.detail, found.details, found.arguments) == ("brief", ("light", "full"), {"brief": True})
    assert [found.detail_value(level) for level in found.details] == [True, False]


def test_levels_may_have_other_words_and_numbers(tmp_path: Path) -> None:
    operation = "{tool: find, detail: {argument: view, medium: normal, full: 2}}"
    found = _flagged(tmp_path, operation, "view")
    assert (found.detail, found.details) == ("view", ("medium", "full"))
    assert [found.detail_value(level) for level in found.details] == ["normal", 2]


@pytest.mark.parametrize("name", ["includeContent", "summary-only"])
def test_a_boolean_argument_that_may_choose_the_level_is_not_taken_for_it(tmp_path: Path, name: str) -> None:
    found = _flagged(tmp_path, "{tool: find}", name)
    assert (found.detail, found.details, found.possible_details) == (None, (), {name: (False, True)})
    levels = {"light": True, "full": False}
    chosen = found.with_levels(name, levels)
    assert (chosen.detail, chosen.details, chosen.levels, chosen.possible_details) == (
        name, ("light", "full"), levels, {},
    )  # fmt: skip
    for operation in ("{tool: find, detail: null}", f"{{tool: find, arguments: {{{name}: true}}}}"):
        assert not _flagged(tmp_path, operation, name).possible_details
    assert not _flagged(tmp_path, "{tool: find}", "dry_run").possible_details


@pytest.mark.parametrize(
    ("name", "words", "possible"),
    [
        ("view", ["summary", "complete"], True),
        ("detail", ["short", "normal", "whole"], True),
        ("detail", ["brief", "full"], True),
        ("detail", ["light", "full"], False),
        ("format", ["json", "markdown"], False),
        ("view", ["a", "b", "c", "d"], False),
        ("order", ["summary", "complete"], False),
    ],
)
def test_an_enumeration_of_a_few_other_words_may_choose_the_level(
    name: str, words: list[str], *, possible: bool
) -> None:
    """If the argument has a usual name, and the words are no notations."""
    schema = {"properties": {name: {"type": "string", "enum": words}}, "required": [name]}
    found = operations_of({"recall": "x"}, [{"name": "x", "inputSchema": schema}])["recall"]
    assert found.possible_details == ({name: tuple(words)} if possible else {})
    assert found.details or found.arguments == {name: words[0]}, "a required argument has a value"


@pytest.mark.parametrize(
    ("fields", "levels"),
    [
        ({False: "a", True: "ab"}, {"light": False, "full": True}),
        ({False: "ab", True: "a"}, {"light": True, "full": False}),
        ({"all": "abc", "some": "ab", "few": "a"}, {"light": "few", "medium": "some", "full": "all"}),
        ({"x": "ab", "full": "abc"}, {"light": "x", "full": "full"}),
        ({"n": "abcde", "all": "abcfghi", "b": "abc"}, {}),
        ({"n": "abcd", "all": "abcef", "b": "abc"}, {"light": "b", "medium": "n", "full": "all"}),
        ({"n": "abcd", "all": "abef", "b": "ab"}, {}),
        ({"light": "ab", "x": "a"}, {}),
        ({False: "ab", True: "ab"}, {}),
        ({False: "ab", True: "ac"}, {}),
        ({False: "", True: "a"}, {}),
        ({"all": "abc", "some": "ab", "others": "c"}, {}),
    ],
)
def test_levels_are_known_by_fields_that_contain_each_other(
    fields: dict[str | bool, str], levels: dict[str, str | bool]
) -> None:
    """A call that found no records shows nothing."""
    assert levels_by_fields(fields) == levels
    assert list(levels_by_fields(fields)) == list(levels)


@pytest.mark.parametrize(
    ("operation", "possible"),
    [
        ("{tool: find}", "words"),
        ("{tool: find, arguments: {words: memory}}", "words"),
        ("{tool: find, query: words}", None),
        ("{tool: find, query: null}", None),
    ],
)
def test_the_only_text_that_a_tool_requires_may_be_its_query(
    tmp_path: Path, operation: str, possible: str | None
) -> None:
    """Also if the profile gives it a value, but not if the profile names the query, or says that there is none."""
    path = tmp_path / "lro.yaml"
    path.write_text(f"server: {{command: [x]}}\noperations: {{search: {operation}}}\n")
    text = {"type": "string"}
    properties = {"words": text, "since": {**text, "format": "date"}, "order": {"enum": ["a", "b"]}}
    schema = {"properties": properties, "required": [*properties]}
    found = resolve(profiles.load(path), [{"name": "find", "inputSchema": schema}])["search"]
    assert found.possible_query == possible
    assert found.with_query("words").possible_query is None


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"const": 0}, 0),
        ({"const": "a", "default": "b"}, "a"),
        ({"default": None, "enum": ["x"]}, None),
        ({"enum": ["x", "y"]}, "x"),
        ({"oneOf": [{"const": 2}, {"const": 3}]}, 2),
        ({"anyOf": [{"enum": ["x"]}, {"type": "null"}]}, "x"),
        ({"type": "integer"}, 1),
        ({"type": ["null", "integer"]}, 1),
        ({"type": "string", "format": "uri"}, "https://example.org/memory"),
        ({"anyOf": [{"type": "null"}, {"type": "string", "format": "date"}]}, "2026-01-02"),
        ({"format": "email"}, "memory@example.org"),
        ({"type": "integer", "format": "uri"}, 1),
        ({"type": "string", "format": "x-own"}, "memory"),
        ({"type": "string", "format": ["uri"]}, "memory"),
        ({}, "memory"),
        (True, "memory"),
    ],
)
def test_a_value_is_one_that_the_schema_admits(schema: Any, value: object) -> None:
    assert sample_value(schema) == value


@pytest.mark.parametrize("name", FORMATS)
def test_a_sample_has_its_format(name: str) -> None:
    """By the checker of jsonschema where it knows the format, and by the suite's own pattern."""
    text = sample_value({"type": "string", "format": name})
    Draft202012Validator({"format": name}, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(text)
    assert FORMATS[name].pattern.fullmatch(text)


@pytest.mark.parametrize(
    ("server", "search", "verdict"),
    [
        ("can_only_recall", None, "not-applicable"),
        ("searches_something_else", None, "not-observed"),
        ("searches_something_else", "null", "not-applicable"),
        ("refuses_unknown_arguments", "null", "not-observed"),
    ],
)
def test_an_operation_that_a_profile_leaves_out(tmp_path: Path, server: str, search: str | None, verdict: str) -> None:
    """It does not apply if the server lists no such tool, or null says that the listed one is none.

    A tool with the specified name is one whatever the profile says.
    """
    recall = '{tool: recall_memories, arguments: {query: "*"}, query: query}'
    operations = f"operations: {{recall: {recall}{f', search: {search}' if search else ''}}}\n"
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text(server, sounds()[server].profile + operations))
    report = certify(profiles.load(path), only={"LRO-SCOPE-02"}, examples=0)
    assert [r.verdict.label for r in report.requirements if r.requirement.id == "LRO-SCOPE-02"] == [verdict]


@pytest.mark.parametrize(
    ("name", "stores"),
    [
        *(
            (name, True)
            for name in ("store_memory", "addNote", "memory-create", "save_search", "remember", "add_to_list")
        ),
        *((name, False) for name in ("address_lookup", "get_write_status", "restore_backup", "recall", "createdNotes")),
    ],
)
def test_a_tool_that_stores_is_known_by_a_verb_of_its_name(name: str, *, stores: bool) -> None:
    """A word that merely contains a verb is none, and a verb of reading before it says more."""
    tool = {"name": name}
    assert storing_tools([tool]) == ([tool] if stores else [])


@pytest.mark.parametrize(
    ("name", "required", "operation"),
    [
        ("list_cards", [], "recall"),
        ("getNotes", [], "recall"),
        ("get_card", ["id"], None),
        ("find_cards", ["query"], "search"),
        ("find_cards", ["query", "folder"], None),
        ("delete_list", [], None),
        ("weather", [], None),
    ],
)
def test_a_tool_that_seems_to_perform_an_operation_needs_nothing_else(
    name: str, required: list[str], operation: str | None
) -> None:
    texts = {"type": "object", "properties": {key: {"type": "string"} for key in ["query", *required]}}
    tool: Any = {"name": name, "inputSchema": {**texts, "required": required}}
    assert [found for _, found, _ in reading_tools([tool], ())] == [operation][: operation is not None]
    assert not [*reading_tools([{**tool, "annotations": {"readOnlyHint": False}}], ())]
    assert not [*reading_tools([tool], [name])]


def test_a_tool_that_remembers_is_not_one_that_recalls() -> None:
    assert hinted_tool("recall", [{"name": "remember"}], ()) is None


@pytest.mark.parametrize(
    ("name", "limit"),
    [("maxArticles", "maxArticles"), ("max_notes", "max_notes"), ("maxTokens", None), ("maxAge", None)],
)
def test_the_largest_number_of_some_things_is_a_limit(name: str, limit: str | None) -> None:
    listed = [{"name": "x", "inputSchema": {"properties": {"question": {"type": "string"}, name: {"type": "integer"}}}}]
    assert operations_of({"inject": "x"}, listed)["inject"].limit == limit
