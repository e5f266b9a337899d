"""Large results of which only a batch of records exists at a time: file and descriptor are as if parsed at once."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Generator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import orjson
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from lro_proxy.payload import array, sample, text
from lro_proxy.payload import result as results
from lro_proxy.payload.array import Array
from lro_proxy.payload.elements import Elements
from lro_proxy.payload.fields import fields
from lro_proxy.payload.forms import jsonl, tables
from lro_proxy.payload.forms.form import PayloadRecords
from lro_proxy.payload.memories import are_memories
from lro_proxy.payload.records import payload_records
from lro_proxy.payload.result import Answer, cut_answer, read_answer, result_of_program
from lro_reference.writer import encode
from lro_spec.jsonl import lossless
from lro_spec.tokens import script_aware_estimate, tokens_of_counts, wide_characters_in_utf8
from tests.support.payloads import ROWS, TEXTS, VALUES, dumped

PAD = {"id": 1, "name": '},{ "id": [1], \\ – 字 ', "x": [{"id": 2}, {"id": 3}]}
SPELLINGS = ("compact", "python", "escaped", "indented", "spaced")


@contextmanager
def tiny(large: int = 2) -> Generator[None]:
    """Batches and pieces of a few bytes, so that a short result has many of them."""
    with (
        patch.multiple(
            array,
            _FIRST_BATCH_BYTES=40,
            _BATCH_BYTES=60,
            _MAX_SURROUNDING_BYTES=400,
            _BATCH_ELEMENTS=3,
            MIN_BATCHED_BYTES=large,
        ),
        patch.multiple(text, BEGINNING_BYTES=200, _FIRST_PIECE_BYTES=200, _PIECE_BYTES=20, _TAIL_BYTES=400),
        patch.multiple(jsonl, _FIRST_BLOCK_BYTES=50, _BLOCK_BYTES=50),
        patch.object(tables, "_BATCH_BYTES", 50),
        patch.object(results, "MIN_BATCHED_BYTES", large),
        patch.object(sample, "_MIN_RECORDS_TO_GUESS", 5),
    ):
        yield


def json_text(value: Any, spelling: str) -> str:
    match spelling:
        case "compact":
            return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        case "python":
            return json.dumps(value)
        case "escaped":
            return json.dumps(value, separators=(",", ":")).replace("/", "\\/")
        case "indented":
            return json.dumps(value, indent=2, ensure_ascii=False)
        case _:
            return "\r\n " + json.dumps(value, indent="\t", separators=(" , ", " : "), ensure_ascii=False) + "\n"


def line_of(*texts: str, structured: str | None = None) -> bytearray:
    content = json.dumps([{"type": "text", "text": text} for text in texts], ensure_ascii=False)
    more = "" if structured is None else f',"structuredContent":{structured}'
    return bytearray(
        f'{{"jsonrpc":"2.0","id":7,"result":{{"content":{content}{more},"isError":false,"_meta":{{"a":1}}}}}}'.encode()
    )


def described(found: PayloadRecords | None) -> tuple[Any, ...]:
    """All that the file and the descriptor are made of; the field that groups records is guessed from few of them."""
    assert found is not None
    lines = list(found.lines)
    assert len(found.lines) == len(lines) == len(found.records) or not len(found.records)
    assert len(list(found.records)) == len(found.records)
    assert found.wide_count in (None, wide_characters_in_utf8(b"\n".join(lines)))
    with patch.object(sample, "MIN_SAMPLE_SIZE", 7):
        return lines, orjson.dumps(found.extra), fields(found.records), are_memories(found.records)


def others(answer: Answer) -> dict[str, Any]:
    members = answer.message["result"]
    return {key: value for key, value in members.items() if key not in ("content", "structuredContent")}


def is_cut(line: bytearray, large: int = 2) -> bool:
    """True if something is cut out of the line; in any case its records are as if it were parsed at once."""
    with patch.object(results, "_MAX_SKELETON_BYTES", 0):
        at_once = read_answer(line)
        expected = described(payload_records(at_once.result))
    with tiny(large):
        answer = read_answer(line)
        assert described(payload_records(answer.result)) == expected
        assert tokens_of_counts(*answer.result.size) == script_aware_estimate(at_once.result.payload())
        assert tokens_of_counts(*answer.result.structured_size) == script_aware_estimate(
            "" if at_once.result.structured is None else encode(at_once.result.structured).decode()
        )
        assert others(answer) == others(at_once)
        return cut_answer(line) is not None


@hypothesis_settings(max_examples=60, deadline=None)
@given(
    rows=ROWS | st.lists(VALUES, min_size=1, max_size=6),
    around=st.dictionaries(TEXTS, st.none() | st.integers() | TEXTS, max_size=2),
    depth=st.integers(0, 3),
    indent=st.sampled_from([None, 2]),
    way=st.integers(0, 3),
)
def test_any_json_gives_the_same_in_batches(
    rows: list[Any], around: dict[str, Any], depth: int, indent: int | None, way: int
) -> None:
    value: Any = [*rows, *[PAD] * 40] if depth < 3 else [PAD, *rows, *[PAD] * 40]
    for _ in range(depth):
        value = {**around, "items": value}
    text = dumped(value, indent)
    match way:
        case 0:
            is_cut(line_of(text))
        case 1:
            is_cut(line_of(structured=text if depth else f'{{"result":{text}}}'))
        case 2:
            is_cut(line_of(text, structured=text if depth else f'{{"result":{text}}}'))
        case _:
            is_cut(line_of(text, structured=json.dumps({"content": text}, ensure_ascii=False).replace('": ', '":')))


def table_of(rows: int, *, end: str = "\n", delimiter: str = ",") -> str:
    made = io.StringIO(newline="")
    writer = csv.writer(made, delimiter=delimiter, lineterminator=end)
    writer.writerow(["id", "name", "city"])
    writer.writerows([n, f"name {n}", "Köln" if n < 20 or n % 7 else 'a "b"\nand, c'] for n in range(rows))
    return made.getvalue()


ITEMS = [{**PAD, "id": n, "state": ["open", "closed"][n % 2], "weight": n / 8} for n in range(50)]
NEARLY = {**ITEMS[-1], "id": 49.0}
BOTH = {"result": ITEMS}
JSONL = [json.dumps(item, ensure_ascii=False) for item in ITEMS]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(
    "value", [ITEMS, BOTH, {"a": {"b": 1, "c/d~": ITEMS}, "n": [1]}, list(range(1000)), [[1]] * 99]
)
def test_json_in_every_spelling(value: Any, spelling: str) -> None:
    text = json_text(value, spelling)
    assert is_cut(line_of(text))
    if isinstance(value, dict):
        assert is_cut(line_of(structured=text.strip()))
        assert is_cut(line_of(text, structured=json_text(value, "compact")))
    else:
        assert is_cut(line_of(text, structured=json_text({"result": value}, "compact")))


@pytest.mark.parametrize(
    "text",
    [
        dumped([{"a": Decimal("1.10"), "b": 10**30, "c": -(2**63)}] * 40 + [{"a": 5}]),
        json_text([*ITEMS, {"memory": True}, 5, "x", None], "python"),
        json_text([{"id": "m1", "title": "t", "namespace": "n", "content": "c"}] * 30, "compact"),
        "\n".join(JSONL),
        "\n".join(JSONL) + "\n",
        table_of(60),
        table_of(60).removesuffix("\n"),
        table_of(60, end="\r\n"),
        table_of(60, delimiter="\t"),
        table_of(20),
        table_of(20, end="\r\n"),
        "a" * 70 + ",b\n" + "1,2\n" * 90,
    ],
)
def test_texts_that_are_records(text: str) -> None:
    assert is_cut(line_of(text))
    assert is_cut(line_of(text, structured=json.dumps({"content": text}, ensure_ascii=False, separators=(",", ":"))))


def test_an_object_on_two_lines_beside_two_on_one_are_no_json_lines() -> None:
    rows = ['{"a":[{"x":1},{"x":2}]}'] * 40
    rows[20:20] = ['{"a":[{"x":1}', '{"x":2}]}', '{"a":[{"x":3}]},{"a":[{"x":4}]}']
    with tiny():
        assert jsonl.read("\n".join(rows).encode()) is None


def test_a_log_with_a_comma_in_each_line_is_no_table() -> None:
    line = line_of("".join(f"2026-03-01 10:00:{n % 60:02},{n} INFO request {n}\n" for n in range(200)))
    assert is_cut(line)
    with tiny():
        found = payload_records(read_answer(line).result)
    assert found is not None
    assert found.extra["format"] == "log"


INEXACT = [
    line_of(structured=json_text(ITEMS, "compact")[:-1] + ',{"a":1,"a":2}]'),
    line_of(structured=json_text(ITEMS, "compact")[:-1] + ",NaN]"),
    line_of("x" * 5000, structured='{"content":"y","content":"z"}'),
]


@pytest.mark.parametrize("line", INEXACT)
def test_structured_content_that_cannot_be_kept_is_refused(line: bytearray) -> None:
    with tiny():
        answer = read_answer(line)
        assert answer.result.size > (4000, -1)
        with pytest.raises(lossless.InexactError):
            payload_records(answer.result)


@pytest.mark.parametrize(
    "line",
    [
        line_of(json_text(ITEMS, "compact")[:-1] + ',{"a":1,"a":2}]'),
        line_of(json_text(ITEMS, "compact")[:-1] + ',{"a":1'),
        line_of(json_text(ITEMS, "compact")[:-1] + ",NaN]"),
        line_of(json_text(ITEMS, "compact") + "x"),
        line_of(json_text(ITEMS, "compact"), structured=json_text({"result": [*ITEMS, 1]}, "compact")),
        line_of(json_text(ITEMS, "compact"), structured=json_text({"result": [*ITEMS[:-1], {}]}, "compact")),
        line_of(json_text(ITEMS, "compact"), structured=json_text({"result": [*ITEMS[:-1], NEARLY]}, "compact")),
        line_of(json_text(BOTH, "compact"), structured=json_text({"result": [*ITEMS[:-1], NEARLY]}, "compact")),
        line_of("x" * 5000, structured=json_text({"result": ITEMS}, "compact")),
        line_of("short", structured=json_text({"result": ITEMS}, "compact")),
        line_of(structured=json_text({"a": {"b": {"c": {"d": {"e": ITEMS}}}}}, "compact")),
        line_of("\n".join([*JSONL, "x"])),
        line_of("\n".join([*JSONL, '{"a":1,"a":2}'])),
        line_of("\n".join([*JSONL, '{"a":[1', '{"b":2}]}'])),
        line_of("\n".join([*JSONL, '{"a":"\\ud800"}'])),
        line_of(table_of(60) + "1,2\n"),
        line_of(table_of(60) + '1,\'2","3"\n'),
        line_of(table_of(60) + '1,2,"open\n' + "3,4,5\n" * 40),
        line_of(table_of(60) + '1,2,"' + "a line\n" * 40 + '"\n' + "3,4,5\n" * 40),
        line_of("[INFO] up\n" * 100),
        line_of("a\tb\n" + "c\td\n" * 3 + "e" * 300),
    ],
)
def test_what_is_nearly_something_else_gives_the_same_in_batches(line: bytearray) -> None:
    is_cut(line)


SURPRISES = [
    '{"login":"b","id":2}',
    '{"login":"b"}',
    '{"id":2,"login":"b"}',
    '{"login":"b","id":2.0}',
    '{"login":"b","id":18446744073709551616}',
    '{"login":"b","id":1.10}',
    '{"login":"b","id":1,"more":[{"x":1},{"x":"1","y":null}]}',
    '{"login":["b"],"id":null}',
    '{"login":{"b":{"c":{"d":{"e":{"f":[1]}}}}},"id":1}',
    r'{"login":"\u0041\/","id":1}',
    "{}",
    "[]",
    '[1,"a",[{}]]',
    "null",
    '"b"',
    "[" * 300 + "]" * 300,
]
"""Values of a field that has had nothing but a login and an id."""


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("last", [*SURPRISES, '{"login":"a","login":"b","id":2}', '{"login":"b","id":2,}'])
def test_what_is_new_within_records_gives_the_same_in_batches(last: str, spelling: str) -> None:
    users = [{"n": n, "user": {"login": f"u{n}", "id": n}, "tags": ["a"] * (n % 3)} for n in range(60)]
    text = json_text(users, spelling).rstrip().removesuffix("]")
    is_cut(line_of(f'{text},{{"n":60,"user":{last},"tags":["b"]}}]'))
    is_cut(line_of("\n".join([*map(json.dumps, users), f'{{"n":60,"user":{last},"tags":[]}}'])))


@pytest.mark.parametrize("value", SURPRISES[:12])
def test_records_that_are_new_all_the_time_give_the_same_in_batches(value: str) -> None:
    keys = ("login", "a", "b", "c", "d")
    rows = [f'{{"n":{n},"user":{value.replace("login", keys[n % 5])},"map":{{"k{n}":{n}}}}}' for n in range(60)]
    assert is_cut(line_of(f"[{','.join(rows)}]"))
    is_cut(line_of(*rows, structured=f'{{"result":[{",".join(rows)}]}}'), 800)


def test_each_list_and_object_of_a_sample_is_as_it_was_sent() -> None:
    rows = [{"n": n, "user": {"login": f"u{n}", "id": n}, "tags": ["a", 1, None] * (n % 3)} for n in range(500)]
    found = payload_records(read_answer(line_of(json_text(rows, "compact") + " " * 10)).result)
    with tiny():
        batched = payload_records(read_answer(line_of(json_text(rows, "compact"))).result)
    assert found is not None
    assert batched is not None
    survey = getattr(batched.records, "findings", None)
    assert survey is not None
    assert len(survey.sample) >= 200
    assert all(dict(one) in rows for one in survey.sample)


@pytest.mark.parametrize(
    "structured",
    [
        '{"note":"[1]"}',
        '{"note":"[1]","pad":"%s"}' % ("x" * 600),
        '{"result":[{"note":"[1]"}]}',
        '[{"note":"[1]"}]',
        '{"text":"[1]","type":"text"}',
    ],
)
def test_the_end_of_a_text_is_found_before_other_texts_that_end_like_it(structured: str) -> None:
    text = json_text(ITEMS, "compact")
    assert is_cut(line_of(text, structured=structured), 2000)
    is_cut(line_of(text, "[2]", structured=structured), 2000)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("items", [ITEMS, [{"a": 1.5, "b": 10**15}] * 30, ["one", "{", "字", *["1"] * 40]])
def test_a_list_of_a_python_server_as_many_texts(items: list[Any], spelling: str) -> None:
    texts = [item if isinstance(item, str) else json_text(item, spelling) for item in items]
    assert is_cut(line_of(*texts), 800)
    assert is_cut(line_of(*texts, structured=json_text({"result": items}, "python")), 800)
    is_cut(line_of(*texts, structured=json_text({"result": [*items[:-1], 5]}, "python")), 800)
    is_cut(line_of(*texts, structured=json_text({"result": items, "more": 1}, "python")), 800)


def test_a_list_that_nearly_agrees_with_its_texts_gives_the_same_in_batches() -> None:
    texts = [json_text(item, "python") for item in ITEMS]
    is_cut(line_of(*texts, structured=json_text({"result": [*ITEMS[:-1], NEARLY]}, "python")), 800)


def test_digits_stay_in_many_texts() -> None:
    assert is_cut(line_of(*['{"a": 1.10, "b": 123456789012345678901234567890}'] * 30, '{"a":2}'), 800)
    is_cut(line_of(*['{"a": 1}'] * 30, '{"a":2,"a":3}'), 800)


def test_a_large_text_of_a_program_is_read_in_batches_as_well() -> None:
    with tiny():
        found = result_of_program({"content": [{"type": "text", "text": json_text(ITEMS, "indented")}]})
        assert found.text is not None
        assert found.text.utf8 is not None
        assert isinstance(array.parse(found.text.utf8), Array)


@pytest.mark.parametrize(
    "line",
    [
        line_of(json_text({"字": "字", "items": ITEMS}, "compact")),
        line_of(json_text(ITEMS, "indented")),
        line_of(structured=json_text({"字": ITEMS}, "python")),
        line_of("\n".join(JSONL)),
        line_of("\n".join(["字 and a word"] * 50)),
    ],
)
def test_wide_characters_are_counted_once(line: bytearray) -> None:
    with tiny():
        result = read_answer(line).result
        assert result.size[1] >= 50  # the interceptor compares it with the threshold before it looks at the shape
        found = payload_records(result)
        assert found is not None
        assert found.wide_count == 50


def test_wide_characters_that_are_escapes_in_the_text_are_left_to_be_counted_in_the_file() -> None:
    with tiny():
        found = payload_records(read_answer(line_of(json_text(ITEMS, "python"))).result)
        assert found is not None
        assert found.wide_count is None


@pytest.mark.parametrize(
    "lines",
    [
        b'{"a":[1\n2],"b":1}',
        b'{"a":[1,2]\n"b":1}',
        b'{"a":[1],"b":1},{"a":[2],"b":2}',
        b'{"a":[1\n2],"b":1},{"a":[],"b":2}',
        b'{"a":[1],"b":1}]\n[{"a":[2],"b":2}',
        b'{"a":[1],"b":1,"b":1}\n{"a":[2],"b":2}',
        b'{"a":[1], "b":1, "b":1}\n{"a":[2], "b":2}',
        b'{"a":[1],"b":1}\n',
        b'{"a":[1],"b":1}\n\n{"a":[2],"b":2}',
        b'{"a":[1],"b":1}{"a":[2],"b":2}',
        b'{"a":[1],"b":1} {"a":[2],"b":2}',
        b'{"a":[1],"b":1,"b":1} {"a":[2],"b":2}',
        b'{"a":[1]\n,"b":1}',
        b'{"a":[1],"b"\n:1} {"a":[2],"b":2}',
        b'{"a":[1],\n"b":1} {"a":[2],"b":2}',
    ],
)
def test_lines_and_texts_are_looked_at_as_one_array_only_if_each_is_an_object(lines: bytes) -> None:
    elements = Elements()
    elements.learn([{"a": [1, 2], "b": 1}])
    assert elements.take_lines(b'{"a":[1], "b":1}\n{"a":[2],"b":2}') is not None
    assert elements.take_lines(lines) is None
    assert elements.take_texts(b'{"a":[1],\n "b":1}\n\0{"a":[2],"b":2}') is not None
    assert elements.take_texts(lines.replace(b"\n", b"\0")) is None


@pytest.mark.parametrize("form", ["json", "table"])
@pytest.mark.parametrize("count", [400, 600, 1000, 5000])
def test_a_field_with_a_beat_groups_all_the_same(form: str, count: int) -> None:
    """Every third one is closed, and just these would be a sample of every third one."""
    step = count // 200
    records = [{"name": f"name {n}", "state": "open" if n % step else "closed"} for n in range(count)]
    table = "\n".join(["name\tstate", *(f"{r['name']}\t{r['state']}" for r in records)])
    text = json.dumps(records) if form == "json" else table
    found = payload_records(result_of_program({"content": [{"type": "text", "text": text}]}))
    assert found is not None
    assert found.extra["format"] == form
    assert dict(fields(found.records).top_values) == {"open": count - count // step, "closed": count // step}
