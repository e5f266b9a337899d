"""`assert_valid_descriptor`, as a server's own tests use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp.types import CallToolResult, TextContent

from lro_spec.testing import assert_valid_descriptor
from tests.support.offloads import made, summary


def test_a_sound_descriptor_is_returned(tmp_path: Path):
    descriptor = made(tmp_path)
    assert assert_valid_descriptor(descriptor, follow=True) == descriptor


@pytest.mark.parametrize("where", ["content", "structuredContent"])
def test_the_result_of_a_tool_call_is_looked_into(tmp_path: Path, where: str):
    descriptor = made(tmp_path)
    content = [{"type": "text", "text": json.dumps(descriptor)}]
    result = {"content": content} if where == "content" else {"content": [], "structuredContent": descriptor}
    assert assert_valid_descriptor(result) == descriptor


def test_the_message_says_all_that_is_wrong(tmp_path: Path):
    descriptor = made(tmp_path, summary(count=3))
    descriptor["guidance"] = ""
    assert_valid_descriptor({**descriptor, "guidance": "See the recipes."})
    with pytest.raises(AssertionError) as raised:
        assert_valid_descriptor(descriptor, follow=True)
    lines = str(raised.value).split("\n")
    assert lines[0] == "not a valid descriptor, 2 findings:"
    assert {line.split()[0] for line in lines[1:]} == {"LRO-GUI-01", "LRO-DESC-03"}


def test_an_inline_result_is_no_descriptor():
    with pytest.raises(AssertionError, match="was not offloaded"):
        assert_valid_descriptor({"content": [{"type": "text", "text": "[]"}]})


def test_warnings_fail_where_they_are_not_allowed(tmp_path: Path):
    descriptor = made(tmp_path, summary(operation="list"))
    descriptor = json.loads(json.dumps(descriptor).replace("recall", "list"))
    assert_valid_descriptor(descriptor)
    with pytest.raises(AssertionError, match="warning: LRO-DESC-05"):
        assert_valid_descriptor(descriptor, allow_warnings=False)


@pytest.mark.parametrize("value", [None, [], "text", {}, 3.5, object()])
def test_anything_else_is_an_assertion_error(value: object):
    with pytest.raises(AssertionError):
        assert_valid_descriptor(value)


def test_an_unknown_edition_is_the_callers_mistake(tmp_path: Path):
    with pytest.raises(ValueError, match="unknown edition"):
        assert_valid_descriptor(made(tmp_path), edition="lro-64")


def test_the_result_may_be_an_object_of_the_official_sdk(tmp_path: Path):
    descriptor = made(tmp_path)
    result = CallToolResult(content=[TextContent(type="text", text=json.dumps(descriptor))])
    assert assert_valid_descriptor(result, follow=True) == descriptor
    with pytest.raises(AssertionError, match="was not offloaded"):
        assert_valid_descriptor(CallToolResult(content=[]))


def test_the_message_can_be_printed(tmp_path: Path):
    descriptor = {**made(tmp_path), "file_path": "/tmp/\ud800\n\x1b[31m\x85.jsonl"}
    with pytest.raises(AssertionError) as raised:
        assert_valid_descriptor(descriptor)
    lines = str(raised.value).split("\n")[1:]
    assert all(line.startswith("  LRO-") and line.isprintable() for line in lines)
    assert any(r"/tmp/\ud800\n\u001b[31m\u0085.jsonl" in line for line in lines)
