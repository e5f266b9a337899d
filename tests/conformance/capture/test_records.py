"""Records in results: where they are found, how they are matched and compared, what tells of them."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from lro_conformance.capture import records
from lro_conformance.capture.records import Path, Record, comparable_keys, show_path

A, B, C = {"id": "a", "title": "A"}, {"id": "b", "title": "B"}, {"id": 3, "title": "C"}
WITH_LISTS = {**A, "content": "text", "notes": [{"by": 1}, {"by": 2}], "extensions": {"x": [{"n": 1}, {"n": 2}]}}
"""A memory with lists of objects, one of them in a field of the server's own."""


def texts(*parts: Any) -> dict[str, Any]:
    """A result of text blocks."""
    return {"content": [{"type": "text", "text": p if isinstance(p, str) else json.dumps(p)} for p in parts]}


FOUND: list[tuple[Any, list[Record] | None]] = [
    (None, None),
    ({}, None),
    ({"content": 3}, None),
    ({"content": [3, {"text": 5}]}, None),
    (texts(), None),
    (texts("words"), None),
    (texts([A, B]), [A, B]),
    (texts({"memories": [A]}), [A]),
    (texts(A), None),
    (texts(A, B), [A, B]),
    (texts(A, 3), None),
    (texts(A, {"x": 1}), None),
    (texts([A], [A, B]), [A, B]),
    (texts([A, 3]), None),
    (texts({"a": [A], "b": [A, B]}), [A, B]),
    (texts({"a": {"b": {"c": {"d": [A]}}}}), [A]),
    (texts({"a": {"b": {"c": [A]}}}), [A]),
    (texts({"entities": [A, B], "x": [A]}), [A]),
    (texts("[]"), []),
    (texts({"entities": [A, B]}), None),
    (texts('found {"id": "a"} here'), None),
    (texts('found [{"id": "a"}] and {"id": "b"}'), [{"id": "a"}]),
    (texts("{x [1] {"), None),
    (texts('{"id": "a"}\n{"id": "b"}'), [{"id": "a"}, {"id": "b"}]),
    (texts('{"id": "a"}\nwords'), None),
    (texts('words\n {"id": "a"}\n{"id": "b"}'), [{"id": "a"}, {"id": "b"}]),
    (texts("[" * 9999), None),
    (texts('{"id": "a"}\n{"id": '), None),
    (texts("[" * 600 + "]" * 600), None),
    (texts("x " + "[" * 600 + "]" * 600), None),
    (texts("[" * 500 + "]" * 500), None),
    (texts('{"a": 1}\n{"b": ' + "[" * 600 + "]" * 600 + "}"), None),
    (texts("{bad [1]"), None),
    (texts("[bad {}"), None),
    (texts('{"id":"a"} {"id":"b"}'), None),
    ({"structuredContent": {"results": [A, B, C]}, "content": texts([A])["content"]}, [A, B, C]),
    ({"structuredContent": [A], "content": []}, [A]),
    ({"structuredContent": None, "content": texts([A])["content"]}, [A]),
    (texts([{"score": 1, "memory": A}, {"memory": {"x": 1}}]), [A, {"memory": {"x": 1}}]),
    (texts({"memory": A}, {"memory": B}), [A, B]),
    (texts([], {"id": "a"}), []),
    (texts({"a": [], "b": []}), []),
    (texts([], []), []),
    (texts("null", [A]), [A]),
    (texts('{"id": "a"}\n[1]'), None),
    (texts('\n{"id": "a"}'), None),
    (texts([[A]]), None),
    (texts({"x": {"id": 1}, "y": {"id": 2}}), None),
    (texts("[]", A, B), [A, B]),
    (texts(WITH_LISTS, {**WITH_LISTS, "id": "b"}), [WITH_LISTS, {**WITH_LISTS, "id": "b"}]),
    (texts({**WITH_LISTS, "notes": None}), [{**WITH_LISTS, "notes": None}]),
    (texts({"a": {"b": {"c": {"d": {"e": [A]}}}}}), None),
]
"""Results, and the records in them."""

AT_PATHS: list[tuple[Any, str, list[Record]]] = [
    (texts([A, B]), "", [A, B]),
    (texts([A, B]), ".", [A, B]),
    (texts({"memories": [A]}), ".memories", [A]),
    (texts({"memories": [A]}), "memories[]", [A]),
    (texts([A], [A, B]), "", [A]),
    (texts([A], [A, B]), ".", [A]),
    (texts([A, 3]), "", [A]),
    (texts([A, 3]), ".", [A]),
    (texts({"a": [A], "b": [A, B]}), "a", [A]),
    (texts({"a": [A], "b": [A, B]}), ".b", [A, B]),
    (texts({"a": {"b": {"c": [A]}}}), ".a.b.c", [A]),
    (texts({"entities": [A, B], "x": [A]}), " .x ", [A]),
    (texts("[]"), "", []),
    (texts("[]"), ".", []),
    (texts('found [{"id": "a"}] and {"id": "b"}'), "", [{"id": "a"}]),
    (texts('found [{"id": "a"}] and {"id": "b"}'), ".", [{"id": "a"}]),
    (texts("{x [1] {"), "", []),
    (texts("{x [1] {"), ".", []),
    (texts('{"id": "a"}\n{"id": "b"}'), "", [{"id": "a"}, {"id": "b"}]),
    (texts('{"id": "a"}\n{"id": "b"}'), ".", [{"id": "a"}, {"id": "b"}]),
    (texts('words\n {"id": "a"}\n{"id": "b"}'), "", [{"id": "a"}, {"id": "b"}]),
    (texts('words\n {"id": "a"}\n{"id": "b"}'), ".", [{"id": "a"}, {"id": "b"}]),
    (texts("[" * 500 + "]" * 500), "", []),
    (texts("[" * 500 + "]" * 500), ".", []),
    (texts("{bad [1]"), "", []),
    (texts("{bad [1]"), ".", []),
    ({"structuredContent": {"results": [A, B, C]}, "content": texts([A])["content"]}, "", [A]),
    ({"structuredContent": {"results": [A, B, C]}, "content": texts([A])["content"]}, ".", [A]),
    ({"structuredContent": {"results": [A, B, C]}, "content": texts([A])["content"]}, ".results[]", [A, B, C]),
    ({"structuredContent": [A], "content": []}, "", [A]),
    ({"structuredContent": [A], "content": []}, ".", [A]),
    ({"structuredContent": None, "content": texts([A])["content"]}, "", [A]),
    ({"structuredContent": None, "content": texts([A])["content"]}, ".", [A]),
    (texts([{"score": 1, "memory": A}, {"memory": {"x": 1}}]), "", [A, {"memory": {"x": 1}}]),
    (texts([{"score": 1, "memory": A}, {"memory": {"x": 1}}]), ".", [A, {"memory": {"x": 1}}]),
    (texts([], {"id": "a"}), "", []),
    (texts([], {"id": "a"}), ".", []),
    (texts({"a": [], "b": []}), "a", []),
    (texts({"a": [], "b": []}), ".b", []),
    (texts([], []), "", []),
    (texts([], []), ".", []),
    (texts("null", [A]), "", [A]),
    (texts("null", [A]), ".", [A]),
    (texts([[A]]), "", []),
    (texts([[A]]), ".", []),
    (texts("[]", A, B), "", []),
    (texts("[]", A, B), ".", []),
]
"""Results, paths in them, and the records that are there."""


LAST = [
    (texts([{"id": 1}, {"id": 2}, {"warning": "truncated"}]), [{"id": 1}, {"id": 2}]),
    (texts([{"id": 1}, {"id": 2}, "Warning: truncated"]), [{"id": 1}, {"id": 2}]),
    (texts([{"total": 2}, {"id": 1}, {"id": 2}]), [{"id": 1}, {"id": 2}]),
    (texts([{"total": 2}, {"id": 1}, {"id": 2}, {"more": False}]), [{"id": 1}, {"id": 2}]),
    (texts([{"id": 1}, {"title": "A memory without an id"}]), [{"id": 1}, {"title": "A memory without an id"}]),
    (texts([{"x": 1}, {"warning": "truncated"}]), [{"x": 1}, {"warning": "truncated"}]),
    (texts([{"warning": "truncated"}]), [{"warning": "truncated"}]),
    (texts(["Warning: truncated"]), None),
    (texts("# Context\n\n## A title with =[]|\n\nText"), None),
    (texts("# Context\n\nWhat {} means"), None),
    (texts("Nothing found:\n[]\n"), []),
    (texts('Found 2: [{"id": 1}, {"id": 2}]\nAsk for more.'), [{"id": 1}, {"id": 2}]),
    (texts('## A title\n- entities: [{"name": "A"}]\n'), None),
    (texts('| A title | [{"name": "A"}] |'), None),
    (texts('A title, of [{"name": "A"}], says that ' + "words " * 9), None),
    (texts("A warning of many words\n" * 9 + '[{"id": 1}]'), [{"id": 1}]),
    (texts("A warning of many words\n" * 9 + '{"id": 1}\n\n{"id": 2}'), [{"id": 1}, {"id": 2}]),
    (texts('## 1\n{"id": 1}\n## 2\n{"id": 2}'), [{"id": 1}, {"id": 2}]),
    (texts("".join(f"## {n}\n{'words ' * 20}\n" + '{"names": [{"x": 1}, {"x": 2}]}\n' for n in range(3))), None),
]
"""Lists whose first or last member may say something of the others."""


@pytest.mark.parametrize(("result", "expected"), LAST)
def test_a_member_that_is_no_memory_is_no_record(result: Any, expected: list[Record] | None) -> None:
    assert records.find_records(result) == expected


@pytest.mark.parametrize(("result", "expected"), FOUND)
def test_records_are_found_by_themselves(result: Any, expected: list[Record] | None) -> None:
    assert records.find_records(result) == expected


@pytest.mark.parametrize(("result", "path", "expected"), AT_PATHS)
def test_records_are_found_at_a_path(result: Any, path: str, expected: list[Record]) -> None:
    assert records.find_records(result, path) == expected


@pytest.mark.parametrize("result", [result for result, _ in FOUND])
def test_at_any_other_path_there_are_none(result: Any) -> None:
    known = [path for one, path, _ in AT_PATHS if one == result]
    others = ["", ".", ".memories", "memories[]", ".results[]", ".a.b.c", "a", ".a[].b", " .x ", ".b"]
    assert [path for path in others if path not in known and records.find_records(result, path) is not None] == []


@pytest.mark.parametrize("hit", [A, {"memory": A}, {"x": {"y": 1}, "memory": A}, {"id": None, "m": A}])
def test_a_hit_holds_its_memory(hit: Record) -> None:
    assert records.unwrap(hit) == A


@pytest.mark.parametrize("hit", [{"id": [1], "m": {"id": {}}}, {}, {"id": 0}, {"id": ""}])
def test_any_other_object_is_the_memory_itself(hit: Record) -> None:
    assert records.unwrap(hit) == hit


@pytest.mark.parametrize(
    ("record", "id"),
    [(A, "a"), (C, "3"), ({}, None), ({"id": None}, None), ({"id": [1]}, None), ({"id": 0}, "0"), ({"id": ""}, "")],
)
def test_an_id_is_a_text(record: Record, id: str | None) -> None:
    assert records.id_of(record) == id


def test_of_equal_ids_the_first_counts() -> None:
    assert records.by_id([A, B, {"id": "a", "x": 1}, {}, C]) == {"a": A, "b": B, "3": C}


DIFFERENCES: list[tuple[Record, Record, list[Path]]] = [
    ({"id": "a"}, {"id": "a", "title": "x"}, [("title",)]),
    ({"id": "a"}, {"id": "a", "title": ""}, [("title",)]),
    ({"id": "a"}, {"id": "a", "score": 1}, [("score",)]),
    ({"id": "a", "title": "x"}, {"id": "a", "title": None}, [("title",)]),
    ({"id": "a", "title": "x"}, {"id": "a", "score": 1}, [("title",), ("score",)]),
    (
        {"id": "a", "title": "x"},
        {"id": "a", "provenance": {"confidence": 0.5, "by": "x"}},
        [("title",), ("provenance",)],
    ),
    (
        {"id": "a", "provenance": {"confidence": 0.5, "by": "x"}},
        {"id": "a", "provenance": {"confidence": 0.75}},
        [("provenance", "confidence"), ("provenance", "by")],
    ),
    (
        {"id": "a", "provenance": {"confidence": 0.5, "by": "x"}},
        {"id": "a", "extensions": {"x": []}},
        [("provenance",), ("extensions",)],
    ),
    (
        {"id": "a", "provenance": {"confidence": 0.5, "by": "x"}},
        {"id": "a", "extensions": {}},
        [("provenance",), ("extensions",)],
    ),
    ({"id": "a", "extensions": {"x": []}}, {"id": "a", "extensions": {}}, [("extensions", "x")]),
    ({"id": "a", "extensions": {"x": []}}, {"id": "a", "extensions": {"x": None}}, [("extensions", "x")]),
    ({"id": "a", "extensions": {"x": []}}, {"id": "a", "extensions": {"x": {"y": ""}}}, [("extensions", "x")]),
]

LONG = "A text of more letters than a word or a time has"
LOST: list[tuple[Record, Record, list[Path], list[Path]]] = [
    ({}, {"id": "a", "extensions": {"x": []}}, [], [("extensions",)]),
    ({"id": "a", "title": "x"}, {"id": "a"}, [], [("title",)]),
    ({"id": "a", "title": "x"}, {"id": "a", "provenance": {"confidence": 0.75}}, [], [("title",), ("provenance",)]),
    ({"id": "a", "title": "x"}, {"id": "a", "extensions": {"x": {"y": ""}}}, [], [("title",), ("extensions",)]),
    ({"id": "a", "title": "x"}, {"id": "a", "score": None, "rank": 0}, [], [("title",)]),
    # names of the server's own, which the file maps
    (
        {"id": "a", "body": f"{LONG}.", "labels": ["x"], "at": 5},
        {"id": "a", "content": f"{LONG}.", "tags": ["x"], "created": "1970", "memory_type": "semantic"},
        [],
        [],
    ),
    ({"id": "a", "body": f"{LONG}.", "labels": ["x"]}, {"id": "a", "content": LONG, "tags": ["x"]}, [], [("content",)]),
    ({"id": "a", "score": 0.5}, {"id": "a", "provenance": {"confidence": 0.5}}, [], [("provenance",)]),
    ({"id": "a", "title": None}, {"id": "a", "extensions": {"x": None}}, [], [("extensions",)]),
    ({"id": "a", "score": 1}, {"id": 1, "score": 2}, [], [("id",), ("score",)]),
    ({"id": "a", "provenance": {"confidence": 0.5, "by": "x"}}, {"id": "a", "title": None}, [], [("provenance",)]),
    (
        {"id": "a", "provenance": {"confidence": 0.5, "by": "x"}},
        {"id": "a", "extensions": {"x": []}},
        [],
        [("provenance",), ("extensions",)],
    ),
    ({"id": "a", "provenance": {"confidence": 0.5, "by": "x"}}, {"id": 1.0}, [], [("id",), ("provenance",)]),
    ({"id": "a", "extensions": {"x": []}}, {}, [], [("extensions",)]),
    (
        {"id": "a", "extensions": {"x": []}},
        {"id": "a", "provenance": {"confidence": 0.5, "by": "x"}},
        [],
        [("extensions",), ("provenance",)],
    ),
    ({"id": "a", "extensions": {"x": []}}, {"score": {"a": 1}}, [], [("extensions",)]),
    ({"id": "a", "extensions": {"x": {"y": ""}}}, {"id": "a", "title": "x"}, [], [("extensions",), ("title",)]),
    ({"id": "a", "extensions": {"x": {"y": ""}}}, {"id": "a", "provenance": None}, [], [("extensions",)]),
    ({"id": "a", "extensions": {"x": {"y": ""}}}, {"id": "a", "tags": ["t"]}, [], [("extensions",), ("tags",)]),
    ({"id": "a", "tags": ["t"]}, {"id": "a"}, [], [("tags",)]),
    ({"id": "a", "tags": ["t"]}, {"id": "a", "provenance": {"confidence": 0.75}}, [], [("tags",), ("provenance",)]),
    ({"id": "a", "tags": ["t"]}, {"id": "a", "extensions": {"x": {"y": ""}}}, [], [("tags",), ("extensions",)]),
    ({"id": "a", "tags": ["t"]}, {"id": "a", "score": None, "rank": 0}, [], [("tags",)]),
    ({"id": 1.0}, {"id": "a", "provenance": {"confidence": 0.5, "by": "x"}}, [], [("id",), ("provenance",)]),
    ({"id": 1.0}, {"id": "a", "extensions": {"x": None}}, [], [("id",), ("extensions",)]),
    ({"id": 1, "score": 2}, {"id": "a", "extensions": None}, [], [("id",)]),
    ({"score": {"a": 1}}, {"id": "a", "extensions": {"x": []}}, [], [("extensions",)]),
    ({}, {"id": "a", "title": "x"}, [("title",)], []),
    ({"id": "a", "title": "x"}, {"id": "a", "title": ""}, [("title",)], []),
    ({"id": "a", "title": "x"}, {"id": "a", "tags": []}, [("title",)], []),
    (
        {"id": "a", "score": 1},
        {"id": "a", "provenance": {"confidence": 0.75}},
        [("provenance",), ("extensions", "x")],
        [],
    ),
    (
        {"id": "a", "provenance": {"confidence": 0.5, "by": "x"}},
        {"id": "a", "provenance": {"confidence": 0.75}},
        [("provenance",), ("extensions", "x")],
        [],
    ),
    (
        {"id": "a", "provenance": {"confidence": 0.75}},
        {"id": "a", "title": None},
        [("provenance",), ("extensions", "x")],
        [],
    ),
    ({"id": "a", "provenance": None}, {"id": "a", "title": "x"}, [("title",)], []),
    (
        {"id": "a", "extensions": {}},
        {"id": "a", "provenance": {"confidence": 0.75}},
        [("provenance",), ("extensions", "x")],
        [],
    ),
]
"""A record inline, the same in a file, what is volatile, and what is lost or changed."""

KEPT: list[tuple[Record, Record]] = [
    ({}, {"id": "a", "title": ""}),
    ({}, {"id": "a", "provenance": None}),
    ({}, {"id": "a", "extensions": {}}),
    ({}, {"id": 1, "score": 2}),
    ({}, {"score": {"a": 1}}),
    ({"id": "a", "title": ""}, {}),
    ({"id": "a", "title": ""}, {"id": "a", "provenance": None}),
    ({"id": "a", "title": ""}, {"id": "a", "extensions": {}}),
    ({"id": "a", "title": ""}, {"score": {"a": 1}}),
    ({"id": "a", "provenance": None}, {}),
    ({"id": "a", "provenance": None}, {"id": "a", "title": ""}),
    ({"id": "a", "provenance": None}, {"id": "a", "extensions": {}}),
    ({"id": "a", "provenance": None}, {"score": {"a": 1}}),
    ({"id": "a", "extensions": {}}, {"id": "a"}),
    ({"id": "a", "extensions": {}}, {"id": "a", "title": None}),
    ({"id": "a", "extensions": {}}, {"id": "a", "score": 1}),
    ({"id": "a", "extensions": {}}, {"id": "a", "extensions": {"x": []}}),
    ({"id": "a", "extensions": {}}, {"id": "a", "tags": []}),
    ({"id": "a", "extensions": {}}, {"id": "a", "extensions": None}),
    ({"id": "a", "extensions": {}}, {"id": "a", "score": None, "rank": 0}),
    ({"id": "a", "extensions": {"x": None}}, {"id": "a", "extensions": {}}),
    ({"id": 1, "score": 2}, {}),
    ({"score": {"a": 1}}, {"id": "a"}),
    ({"score": {"a": 1}}, {"id": "a", "title": None}),
    ({"score": {"a": 1}}, {"id": "a", "tags": []}),
    ({"score": {"a": 1}}, {"id": 1.0}),
    ({"score": {"a": 1}}, {"id": "a", "extensions": None}),
]
"""Records inline, and those of files that show as much."""


@pytest.mark.parametrize(("one", "other", "paths"), DIFFERENCES)
def test_differences_are_told_by_their_paths(one: Record, other: Record, paths: list[Path]) -> None:
    assert records.differences(one, other) == paths
    assert sorted(records.differences(other, one)) == sorted(paths)
    assert records.differences(one, one) == []


@pytest.mark.parametrize(("inline", "filed", "volatile", "paths"), LOST)
def test_what_a_file_lacks_or_alters_is_told(
    inline: Record, filed: Record, volatile: list[Path], paths: list[Path]
) -> None:
    assert records.lost_or_changed(inline, filed, volatile) == paths


@pytest.mark.parametrize(("inline", "filed"), KEPT)
def test_what_is_empty_or_undocumented_may_be_left_out(inline: Record, filed: Record) -> None:
    assert records.lost_or_changed(inline, filed, []) == []


def test_what_differs_between_identical_calls_is_volatile() -> None:
    first, again = {"id": "a", "title": "x", "score": 1}, {"id": "a", "title": "y", "score": 2}
    assert records.volatile_paths([first, B], [B, again]) == {("title",), ("score",)}
    assert records.volatile_paths([first], [B]) == records.volatile_paths([first], []) == set()


MEMORIES: list[Record] = [
    {"title": "abc"},
    {"title": "abcd"},
    {"summary": "\n  \nabc\n  the summary of it all, which is longer than forty characters"},
    {"content": "first line\nsecond"},
    {"id": "memory-1"},
    {"id": 1234},
    {"title": None, "content": ["x"]},
    {},
    {"title": "x" * 39 + " y z"},
]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", []),
        ("abc", []),
        ("abcd", [1]),
        ("has abcd in it", [1]),
        ("the summary of it all, which is longer t", [2]),
        ("the summary of it all, which is longer", []),
        ("second", []),
        ("first line", [3]),
        ("memory-1", [4]),
        ("1234", []),
        ("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", [8]),
        ("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", []),
    ],
)
def test_a_text_tells_of_a_memory_by_how_a_part_of_it_begins(text: str, told: list[int]) -> None:
    assert [n for n, memory in enumerate(MEMORIES) if records.mentions_any(text, [memory])] == told
    assert records.mentions_any(text, MEMORIES) is bool(told)


@pytest.mark.parametrize(
    ("text", "wide", "share"),
    [("", 0, 0.0), ("a", 0, 0.0), ("漢字a", 2, 2 / 3), ("\u2e7f\u2e80", 1, 0.5), ("é", 0, 0.0)],
)
def test_wide_characters_are_counted(text: str, wide: int, share: float) -> None:
    assert (records.wide_characters(text), records.wide_share(text)) == (wide, share)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", '"a"'),
        ("é\n\x00", '"é\\n\\u0000"'),
        ({"a": {1}}, '{"a": "{1}"}'),
        ("x" * 158, f'"{"x" * 158}"'),
        ("x" * 159, f'"{"x" * 158}…'),
        ("\u2028", '"\\u2028"'),
        ("cafe\u0301", '"cafe\\u0301"'),
    ],
)
def test_a_value_is_shown_in_short(value: Any, shown: str) -> None:
    assert records.show(value) == shown


@pytest.mark.parametrize("value", [None, "", [], {}])
def test_nothing_and_what_is_empty_are_blank(value: Any) -> None:
    assert records.is_blank(value)


@pytest.mark.parametrize("value", [0, False, "a", [0], {"a": 0}])
def test_anything_else_is_not_blank(value: Any) -> None:
    assert not records.is_blank(value)


@pytest.mark.parametrize(
    ("record", "size"),
    [({}, 2), ({"id": "a"}, 10), ({"id": "a", "tags": ["t"]}, 23), ({"t": "é"}, 9), ({"t": "漢", "u": [1, None]}, 22)],
)
def test_the_size_of_a_record_is_that_of_its_json(record: Record, size: int) -> None:
    assert records.size(record) == size


@pytest.mark.parametrize(
    "page",
    [
        {"next_cursor": "x"},
        {"hits": [A], "page": {"nextPageToken": 1}},
        {"has_more": True},
        {"next_offset": 1},
        {"next_offset": -1},
    ],
)
def test_a_page_says_that_there_are_more(page: Record) -> None:
    assert records.is_a_page(texts(page))


@pytest.mark.parametrize(
    "page", [{"has_more": False}, {"next_offset": 0}, {"cursor": ""}, {"cursor": None}, {"total": 7}]
)
def test_the_last_page_is_all_there_is(page: Record) -> None:
    assert not records.is_a_page(texts(page))


@pytest.mark.parametrize(
    "text",
    [
        '{"summary": {',
        'x {"summary": {',
        '{"summary": }',
        '```json\n{"summary": }\n```',
        '\ufeff{"file_path": 3,}',
        '{"file_path": "a',
        'see {"file_path": "a',
        '{ "guidance" : x}',
        '{"jq_recipes": [}',
    ],
)
def test_a_descriptor_that_breaks_off_is_seen(text: str) -> None:
    assert records.broken_descriptor(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "words",
        '{"summary": {}}',
        'so {"summary": } it is',
        '{"other": }',
        '[{"id": "a"}, {"id": "b',
        '[{"id": "a"}, {"id": "b"}]',
        '[{"id": "a"}, {"id"... (cut)',
        '[{"id": "a"}, {"id"... xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
        '[{"id": "a"}, {"id"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
        '[{"id": "a"}, {"id"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
        '[{"id": "a"}, {"id"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
        '[{"id": "a"}, {"id"... xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
        'found [{"id": "a"}',
        '{"id": "a"',
        '{"summary": ' + "[" * 9999,
        '[{"id": "a", "x": ' + "[" * 9999,
        '{"a\\"b": "a", ',
        '{"line_schema": {}} {"summary":',
    ],
)
def test_other_texts_are_no_broken_descriptor(text: str) -> None:
    assert records.broken_descriptor(text) is None


KEYS: list[tuple[str, ...]] = [(), ("a",), ("zz", "a"), ("b",)]
CUT: list[tuple[str, list[tuple[str, ...]]]] = [
    ('[{"id": "a"}, {"id": "b', [("a",), ("zz", "a")]),
    ('[{"id": "a"}, {"id"... (cut)', [("a",), ("zz", "a")]),
    ('[{"id": "a"}, {"id"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', [("a",), ("zz", "a")]),
    ('[{"id": "a"}, {"id"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', [("a",), ("zz", "a")]),
    ('found [{"id": "a"}', [("a",), ("zz", "a")]),
    ('{"id": "a"', [("a",), ("zz", "a")]),
    ('{"a\\"b": "a", ', [("a",), ("zz", "a"), ("b",)]),
]
"""Texts in which records break off, and the ids that show it."""


@pytest.mark.parametrize(("text", "ids"), CUT)
def test_records_that_break_off_are_seen(text: str, ids: list[tuple[str, ...]]) -> None:
    assert [known for known in KEYS if records.cut_off(text, known)] == ids


UNCUT = [
    "",
    "words",
    '{"summary": {}}',
    'so {"summary": } it is',
    '{"other": }',
    '[{"id": "a"}, {"id": "b"}]',
    '[{"id": "a"}, {"id"... xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    '[{"id": "a"}, {"id"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    '[{"id": "a"}, {"id"... xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    '{"summary": ' + "[" * 9999,
    '[{"id": "a", "x": ' + "[" * 9999,
    '{"line_schema": {}} {"summary":',
]


@pytest.mark.parametrize(("text", "ids"), list(product(UNCUT, KEYS)))
def test_other_texts_are_not_cut_off(text: str, ids: tuple[str, ...]) -> None:
    assert not records.cut_off(text, ids)


def test_a_path_with_many_steps_upwards_shows_its_end() -> None:
    assert show_path("/tmp/a/../b") == '"/tmp/a/../b"'
    assert show_path("../" * 32 + "tmp/x.jsonl") == '"(../ × 32)tmp/x.jsonl"'
    assert show_path("/srv/" + "../" * 5 + "x") == '"/srv/(../ × 5)x"'


def test_a_record_whose_texts_are_empty_is_compared_by_names_that_other_records_show() -> None:
    inline: Record = {"id": "a", "body": "", "updatedAt": "2026-01-02T03:04:05Z"}
    filed: Record = {"id": "a", "modified": "2026-01-02T03:04:06Z", "memory_type": "semantic"}
    assert records.lost_or_changed(inline, filed, []) == [("modified",), ("memory_type",)]
    assert records.lost_or_changed(inline, filed, [], added=records.MEMORY_FIELDS) == []


def noted(*headings: str, process: str) -> list[Record]:
    """Inline records with names of the server's own, and ids that differ from process to process."""
    return [
        {"noteId": f"{process}{n}", "heading": heading, "kind": "note", "createdAt": f"{process}:{n}"}
        for n, heading in enumerate(headings)
    ]


def test_records_of_two_results_are_told_apart_by_a_field_that_both_have() -> None:
    one, other = noted("Ash", "Oak", "Elm", process="x"), noted("Oak", "Ash", "Elm", process="y")
    assert comparable_keys(one, other) == (["Ash", "Oak", "Elm"], ["Oak", "Ash", "Elm"])
    filed = [{"id": f"z{n}", "title": title, "memory_type": "semantic"} for n, title in enumerate(("Ash", "Oak"))]
    assert comparable_keys(one, filed) == (["Ash", "Oak", "Elm"], ["Ash", "Oak"])
    assert comparable_keys(filed, filed[::-1]) == (["z0", "z1"], ["z1", "z0"])
    elsewhere = [{**record, "id": f"w{n}"} for n, record in enumerate(filed)]
    assert comparable_keys(filed, elsewhere) == (["Ash", "Oak"], ["Ash", "Oak"])
    assert comparable_keys(one, noted("Fir", "Yew", process="y")) == ([], [])
    assert comparable_keys(one, []) == ([], [])
