"""Warnings of a failed write: which words of a result say it, when nothing was done to prevent writing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lro_conformance.capture.warnings import is_in_foreign_language, write_failure
from tests.support.made import Made

CONTENT = "\n".join(f"Paragraph {n} of a document, which says nothing of what it is about." for n in range(40))


def call(text: str, records: list[dict[str, Any]] | None = None) -> Any:
    """An inline result with a threshold of 1."""
    result = {"content": [{"type": "text", "text": text}], "isError": False}
    return Made(outcome="inline", settings={"threshold_tokens": 1}, records=records, result=result, text=text)


@pytest.mark.parametrize(
    "text",
    [
        f"{CONTENT}\n\n<error>Content truncated. Call the fetch tool with a start_index of 5000 to get more.</error>",
        "Error: the remote service failed for 2 of 5 regions, so the list is incomplete.",
        f"{CONTENT}\nA file that cannot be written is reported, and the result is truncated.\n{CONTENT}",
        f"This page is about errors. {'It has words. ' * 40}Files may be cut in two. {'It has words. ' * 40}",
    ],
    ids=["a page of a longer text", "a source that failed", "content on files", "words that are far apart"],
)
def test_a_text_that_speaks_of_no_file_of_its_own_is_no_failed_write(text: str) -> None:
    assert write_failure(call(text)) is None


def test_records_beside_a_source_that_failed_are_no_failed_write() -> None:
    text = '{"results": [{"id": "a"}], "truncated": true, "errors": "one shard failed"}'
    assert write_failure(call(text, [{"id": "a"}])) is None


@pytest.mark.parametrize(
    "text",
    [
        f"Warning: Offloading failed (No space left on device); results are truncated: 3 of 40.\n\n{CONTENT}",
        f"{CONTENT}\n\nCould not save the result: EACCES. Only the beginning is shown.",
        "Die Datei konnte nicht geschrieben werden, das Ergebnis ist gekürzt.",
        '{"context": "' + "words and more words " * 50 + '", "warning": "Unable to write the file: partial result"}',
    ],
    ids=["at the beginning", "at the end", "in German", "beside a long text"],
)
def test_a_warning_of_a_failed_write_is_read(text: str) -> None:
    assert write_failure(call(text)) is not None


def test_flags_beside_records_are_read_as_words() -> None:
    text = '{"results": [{"id": "a"}], "offload_failed": true, "truncated": true}'
    assert write_failure(call(text, [{"id": "a"}])) is not None


@pytest.mark.parametrize(
    ("text", "is_foreign"),
    [
        ("Kunde inte skriva till disken: resultatet är avkortat", True),
        ("Kunde inte skriva: [Errno 28] No space left on device: '/tmp/out/atlatl-recall-1.jsonl'", True),
        ("[Errno 20] Not a directory: '/tmp/run-a/work/out/atlatl-recall-1.jsonl'", False),
        ("ENOTDIR: not a directory, mkdir '/tmp/run-a/work/out'", False),
        ("open /tmp/run-a/work/out/atlatl-recall-1.jsonl: permission denied", False),
        ("Exekvering avbröts eftersom inget utrymme fanns", True),
    ],
)
def test_an_error_of_the_system_is_in_no_language(text: str, is_foreign: bool) -> None:
    """Its path has words of no language, too: without a warning the fallback fails, and is not left unobserved."""
    assert is_in_foreign_language(json.dumps({"error": text})) is is_foreign
