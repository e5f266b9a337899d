"""The memories of the suite, as scripts of reports store them."""

from __future__ import annotations

import json
import subprocess
import sys

from lro_conformance.capture.corpus import SETS, substitute


def printed(*words: str) -> list[dict[str, object]]:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "lro_conformance.capture", *words], capture_output=True, check=True, timeout=60
    )
    assert done.stderr == b"", "a script prints nothing of its own"
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_set_is_printed_as_lines() -> None:
    assert printed("wide") == list(SETS["wide"]())


def test_requests_store_a_set() -> None:
    requests = printed("wide", "store", '{"memory": "$memory"}', "7", "3")
    assert [one["id"] for one in requests] == [7, 8, 9]
    assert {one["method"] for one in requests} == {"tools/call"}


def test_a_template_is_given_a_memory_its_fields_and_their_fields() -> None:
    memory = {"title": "x", "provenance": {"confidence": 0.5}, "tags": ["y"]}
    template = {
        "whole": ["$memory", "$memory.summary"],
        "name": "$memory.title",
        "confidence": "$memory.provenance.confidence",
        "absent": "$memory.provenance.agent",
        "no_object": "$memory.tags.first",
        "user": "me",
    }
    assert substitute(template, memory) == {"whole": [memory], "name": "x", "confidence": 0.5, "user": "me"}
