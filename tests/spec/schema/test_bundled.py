"""The published JSON Schemas: valid, self-contained, lenient where the specification is silent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lro_spec.editions import EDITIONS
from lro_spec.schema import bundled
from lro_spec.schema.bundled import SCHEMA_NAMES, json_schema, schema_text

OURS = ("header", "line", "descriptor", "profile")
CHECKOUT = Path(bundled.__file__).parents[2] / "schemas"


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for child in value.values():
            yield from nodes(child)
    elif isinstance(value, list):
        for child in value:
            yield from nodes(child)


@pytest.mark.parametrize("name", OURS)
def test_schema_is_valid_and_says_what_it_is(name: str):
    schema = json_schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:lro-spec:schema:{name}"
    assert schema["title"]
    assert schema["description"]


@pytest.mark.parametrize("name", OURS)
def test_schema_refers_only_to_itself(name: str):
    references = [node["$ref"] for node in nodes(json_schema(name)) if isinstance(node.get("$ref"), str)]
    assert all(reference.startswith("#/$defs/") for reference in references)


@pytest.mark.parametrize("name", OURS)
def test_examples_satisfy_their_schema(name: str):
    schema = json_schema(name)
    validator = Draft202012Validator(schema)
    assert schema["examples"]
    for example in schema["examples"]:
        validator.validate(example)


@pytest.mark.parametrize("detail", ["light", "medium", "full"])
def test_examples_of_a_detail_level_satisfy_it(detail: str):
    schema = json_schema("line")
    level = Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{detail}"})
    assert schema["$defs"][detail]["examples"]
    for example in schema["$defs"][detail]["examples"]:
        level.validate(example)


@pytest.mark.parametrize("name", ["header", "descriptor"])
def test_examples_of_properties_satisfy_them(name: str):
    for node in json_schema(name)["properties"].values():
        for example in node.get("examples", []):
            Draft202012Validator(node).validate(example)


@pytest.mark.parametrize("name", ["header", "line", "descriptor"])
def test_unknown_fields_are_welcome(name: str):
    example = {**json_schema(name)["examples"][0], "x-vendor": {"anything": [1, None]}}
    assert Draft202012Validator(json_schema(name)).is_valid(example)


@pytest.mark.parametrize("name", ["header", "descriptor"])
def test_every_required_field_is_demanded(name: str):
    schema = json_schema(name)
    whole = schema["examples"][0]
    for field in schema["required"]:
        assert not Draft202012Validator(schema).is_valid({k: v for k, v in whole.items() if k != field})


@pytest.mark.parametrize(
    ("timestamp", "valid"),
    [
        ("2026-03-02T09:30:00Z", True),
        ("2026-03-02T09:30:00.123456789+01:00", True),
        ("2026-03-02t09:30:00z", True),
        ("2026-03-02T09:30:00", True),
        ("2026-03-02T09:30Z", True),
        ("20260302T093000Z", True),
        ("20260302T093000,5+0100", True),
        ("2026-03-02T23:59:60Z", True),
        ("2026-03-02", False),
        ("2026-13-02T09:30:00Z", False),
        ("2026-03-02T24:30:00Z", False),
        ("02.03.2026 09:30", False),
        ("1772443800", False),
        ("２０２６-03-02T09:30:00Z", False),
        ("", False),
    ],
)
def test_timestamp_is_iso_8601(timestamp: str, valid: bool):
    header = {**json_schema("header")["examples"][0], "timestamp": timestamp}
    assert Draft202012Validator(json_schema("header")).is_valid(header) is valid


@pytest.mark.parametrize("query", ["words", "", None])
def test_query_may_be_text_or_null_or_absent(query: str | None):
    header = dict(json_schema("header")["examples"][0])
    validator = Draft202012Validator(json_schema("header"))
    assert validator.is_valid({**header, "query": query})
    del header["query"]
    assert validator.is_valid(header)
    assert not validator.is_valid({**header, "query": 3})


def test_editions_and_operations_of_a_profile_are_those_of_the_library():
    properties = json_schema("profile")["properties"]
    assert properties["edition"]["enum"] == list(EDITIONS)
    operations = {operation for edition in EDITIONS.values() for operation in edition.operations}
    assert set(properties["operations"]["properties"]) == operations
    for edition in EDITIONS.values():
        assert set(properties["settings"]["properties"]) == set(edition.settings)


def test_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="expected one of header, line"):
        schema_text("headers")
    assert set(OURS) < set(SCHEMA_NAMES)


def test_an_installed_package_finds_its_own_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    inside = tmp_path / "lro_spec" / "schemas"
    inside.mkdir(parents=True)
    (inside / "header.schema.json").write_text('{"title": "of the wheel"}')
    monkeypatch.setattr(bundled, "_FOLDERS", (inside, CHECKOUT))
    schema_text.cache_clear()
    try:
        assert "of the wheel" in schema_text("header")
        assert "LRO record line" in schema_text("line")
    finally:
        schema_text.cache_clear()


def test_a_broken_installation_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundled, "_FOLDERS", (tmp_path,))
    schema_text.cache_clear()
    try:
        with pytest.raises(FileNotFoundError, match="reinstall"):
            schema_text("header")
    finally:
        schema_text.cache_clear()
