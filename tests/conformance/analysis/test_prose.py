"""Known memories in inline results that are a text."""

from __future__ import annotations

from typing import Any, cast

import pytest

from lro_conformance.analysis.prose import RecognisableMemories, members_shown_in, titles_missing_from
from lro_conformance.capture.corpus import corpus
from tests.support.made import Made
from tests.support.made_survey import one, survey

RIVER = {"id": 1, "title": "How the river was crossed", "content": "By a ford, at night."}
BRIDGE = {"id": 2, "title": "Why the bridge was burnt", "content": "See: How the ford was found."}
FORD = {"id": 3, "title": "How the ford was found", "content": "By asking a shepherd."}


def _shown(text: str, *known: dict[str, Any], seeded_by: str | None = None) -> list[Any]:
    prose = RecognisableMemories(survey(one(400, 100, *known), seeded_by=seeded_by))
    return [record["id"] for record in prose.memories_shown_in(cast("Any", Made(text=text)))]


def _worded(*memories: dict[str, Any]) -> str:
    return "\n\n".join(f"## {m['title']}\n{m['content']}" for m in memories)


def test_a_text_shows_memories_by_title_and_content() -> None:
    assert _shown(_worded(RIVER, FORD), RIVER, FORD) == [1, 3]
    assert _shown(_worded(RIVER), RIVER, FORD) == [1]


def test_a_mention_is_no_memory() -> None:
    """Neither a title alone, nor one that another memory has in its content."""
    assert _shown(f"{_worded(RIVER)}\nRelated: {FORD['title']}", RIVER, FORD) == [1]
    assert _shown(_worded(RIVER, BRIDGE, FORD), RIVER, BRIDGE, FORD) == [1, 2]


def test_stored_memories_are_known_without_a_file() -> None:
    first, second, *_ = corpus()
    assert _shown(_worded(first, second), RIVER, seeded_by="env") == [first["id"], second["id"]]
    assert _shown(_worded(first, second), RIVER) == []


def test_a_file_has_a_memory_by_its_id_or_its_title() -> None:
    filed = one(400, 100, {"id": 1}, {"id": 9, "title": FORD["title"]})
    assert titles_missing_from(filed, [RIVER, BRIDGE, FORD], _worded(RIVER, BRIDGE, FORD)) == [BRIDGE["title"]]


def test_a_mention_is_not_missing_where_its_content_is_that_of_another_memory() -> None:
    longer = {"id": 4, "title": "Fords in general", "content": f"{FORD['content']} Or a miller."}
    text = f"{_worded(longer)}\nRelated: {FORD['title']}"
    assert titles_missing_from(one(400, 100, longer), [FORD], text) == []
    assert titles_missing_from(one(400, 100, longer), [FORD], f"{text}\n{_worded(FORD)}") == [FORD["title"]]


@pytest.mark.parametrize("text", [RIVER["content"].upper(), "By a ford,\nat night.", ""])
def test_only_what_is_there_as_it_was_stored_is_shown(text: str) -> None:
    assert members_shown_in(RIVER, text) == {}
