"""Large results of which a batch of records exists at a time: file and descriptor are those of the general way."""

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

from lro_proxy.fastpath import result as raw_result
from lro_proxy.fastpath import text as raw_text
from lro_proxy.payload import array, classify, jsonl, sample, tables
from lro_proxy.payload.classify import Shape, shape, text_of
from lro_proxy.payload.fields import fields
from lro_proxy.payload.lines import Batched
from lro_proxy.payload.memories import are_memories
from lro_spec.jsonl import lossless
from lro_spec.tokens import estimate_of, script_aware_estimate
from tests.support.payloads import ROWS, TEXTS, VALUES, dumped

PAD = {"id": 1, "name": '},{ "id": [1], \\ – 字 ', "x": [{"id": 2}, {"id": 3}]}
SPELLINGS = ("compact", "python", "escaped", "indented", "spaced")


@contextmanager
def tiny(large: int = 2) -> Generator[None]:
    """Batches and pieces of a few bytes, so that a short result has many of them."""
    with (
        patch.multiple(array, _FIRST=40, _BATCH=60, _AROUND=400),
        patch.multiple(raw_text, _FIRST_PIECE=200, _PIECE=20),
        patch.object(jsonl, "_BATCH", 50),
        patch.object(tables, "_BATCH", 50),
        patch.object(raw_result, "WORTH_IT", large),
        patch.object(sample, "_WORTH_A_GUESS", 5),
    ):
        yield


def spelt(value: Any, spelling: str) -> str:
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


def told(found: Shape) -> tuple[Any, ...]:
    """All that the file and the descriptor are made of; what groups records is guessed from few of them."""
    lines = list(found.lines)
    assert len(found.lines) == len(lines) == len(found.records) or not len(found.records)
    assert len(list(found.records)) == len(found.records)
    with patch.object(sample, "SAMPLE", 7):
        return lines, orjson.dumps(found.extra), fields(found.records), are_memories(found.records)


def both_ways(line: bytearray, large: int = 2) -> bool:
    """Whether the line is taken raw; then it gives the same as in the general way."""
    with tiny(large):
        raw = raw_result.read(line)
        seen = None if raw is None else told(raw.shape)
    if raw is None:
        return False
    result = orjson.loads(line)["result"]
    general = shape(result, lambda: lossless.parse(bytes(line))["result"])
    assert general is not None
    assert seen == told(general)
    assert estimate_of(raw.characters, raw.wide) == script_aware_estimate(text_of(result))
    assert {
        key: value for key, value in raw.message["result"].items() if key not in ("content", "structuredContent")
    } == {key: value for key, value in result.items() if key not in ("content", "structuredContent")}
    return True


@hypothesis_settings(max_examples=60, deadline=None)
@given(
    rows=ROWS | st.lists(VALUES, min_size=1, max_size=6),
    around=st.dictionaries(TEXTS, st.none() | st.integers() | TEXTS, max_size=2),
    depth=st.integers(0, 3),
    indent=st.sampled_from([None, 2]),
    way=st.integers(0, 3),
)
def test_any_json_gives_the_same_as_in_the_general_way(
    rows: list[Any], around: dict[str, Any], depth: int, indent: int | None, way: int
) -> None:
    value: Any = [*rows, *[PAD] * 40] if depth < 3 else [PAD, *rows, *[PAD] * 40]
    for _ in range(depth):
        value = {**around, "items": value}
    text = dumped(value, indent)
    match way:
        case 0:
            both_ways(line_of(text))
        case 1:
            both_ways(line_of(structured=text if depth else f'{{"result":{text}}}'))
        case 2:
            both_ways(line_of(text, structured=text if depth else f'{{"result":{text}}}'))
        case _:
            both_ways(line_of(text, structured=json.dumps({"content": text}, ensure_ascii=False).replace('": ', '":')))


def table(rows: int, *, end: str = "\n", delimiter: str = ",") -> str:
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
def test_json_however_it_is_spelt(value: Any, spelling: str) -> None:
    text = spelt(value, spelling)
    assert both_ways(line_of(text))
    if isinstance(value, dict):
        assert both_ways(line_of(structured=text.strip()))
        assert both_ways(line_of(text, structured=spelt(value, "compact")))
    else:
        assert both_ways(line_of(text, structured=spelt({"result": value}, "compact")))


@pytest.mark.parametrize(
    "text",
    [
        dumped([{"a": Decimal("1.10"), "b": 10**30, "c": -(2**63)}] * 40 + [{"a": 5}]),
        spelt([*ITEMS, {"memory": True}, 5, "x", None], "python"),
        spelt([{"id": "m1", "title": "t", "namespace": "n", "content": "c"}] * 30, "compact"),
        "\n".join(JSONL),
        "\n".join(JSONL) + "\n",
        table(60),
        table(60).removesuffix("\n"),
        table(60, end="\r\n"),
        table(60, delimiter="\t"),
        table(20),
        table(20, end="\r\n"),
        "a" * 70 + ",b\n" + "1,2\n" * 90,
    ],
)
def test_texts_that_are_records(text: str) -> None:
    assert both_ways(line_of(text))
    assert both_ways(line_of(text, structured=json.dumps({"content": text}, ensure_ascii=False, separators=(",", ":"))))


def test_a_log_with_a_comma_a_line_is_taken_as_the_text_it_is() -> None:
    line = line_of("".join(f"2026-03-01 10:00:{n % 60:02},{n} INFO request {n}\n" for n in range(200)))
    assert both_ways(line)
    with tiny():
        found = raw_result.read(line)
    assert found is not None
    assert found.shape.extra["format"] == "text"


@pytest.mark.parametrize(
    "line",
    [
        line_of(spelt(ITEMS, "compact")[:-1] + ',{"a":1,"a":2}]'),
        line_of(spelt(ITEMS, "compact")[:-1] + ',{"a":1'),
        line_of(spelt(ITEMS, "compact")[:-1] + ",NaN]"),
        line_of(spelt(ITEMS, "compact") + "x"),
        line_of(spelt(ITEMS, "compact"), structured=spelt({"result": [*ITEMS, 1]}, "compact")),
        line_of(spelt(ITEMS, "compact"), structured=spelt({"result": [*ITEMS[:-1], {}]}, "compact")),
        line_of(spelt(ITEMS, "compact"), structured=spelt({"result": [*ITEMS[:-1], NEARLY]}, "compact")),
        line_of(spelt(BOTH, "compact"), structured=spelt({"result": [*ITEMS[:-1], NEARLY]}, "compact")),
        line_of(structured=spelt({"a": {"b": {"c": {"d": {"e": ITEMS}}}}}, "compact")),
        line_of("\n".join([*JSONL, "x"])),
        line_of("\n".join([*JSONL, '{"a":1,"a":2}'])),
        line_of("\n".join([*JSONL, '{"a":[1', '{"b":2}]}'])),
        line_of(table(60) + "1,2\n"),
        line_of(table(60) + '1,\'2","3"\n'),
    ],
)
def test_what_cannot_be_taken_so_is_left_to_the_general_way(line: bytearray) -> None:
    assert not both_ways(line)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("items", [ITEMS, [{"a": 1.5, "b": 10**15}] * 30, ["one", "{", "字", *["1"] * 40]])
def test_a_list_of_a_python_server_as_many_texts(items: list[Any], spelling: str) -> None:
    texts = [item if isinstance(item, str) else spelt(item, spelling) for item in items]
    assert both_ways(line_of(*texts), 800)
    assert both_ways(line_of(*texts, structured=spelt({"result": items}, "python")), 800)
    assert not both_ways(line_of(*texts, structured=spelt({"result": [*items[:-1], 5]}, "python")), 800)
    assert not both_ways(line_of(*texts, structured=spelt({"result": items, "more": 1}, "python")), 800)


def test_a_list_that_nearly_agrees_with_its_texts_is_left_to_the_general_way() -> None:
    texts = [spelt(item, "python") for item in ITEMS]
    assert not both_ways(line_of(*texts, structured=spelt({"result": [*ITEMS[:-1], NEARLY]}, "python")), 800)


def test_digits_stay_in_many_texts() -> None:
    assert both_ways(line_of(*['{"a": 1.10, "b": 123456789012345678901234567890}'] * 30, '{"a":2}'), 800)
    assert not both_ways(line_of(*['{"a": 1}'] * 30, '{"a":2,"a":3}'), 800)


@pytest.mark.parametrize("text", [spelt(ITEMS, "indented"), table(60), "\n".join(JSONL)])
def test_a_text_that_somebody_has_in_memory_is_read_in_batches_as_well(text: str) -> None:
    """In servers that use the library."""
    result = {"content": [{"type": "text", "text": text}]}
    with tiny(), patch.object(classify, "LARGE", 1):
        large = shape(result, lambda: result)
        assert large is not None
        assert isinstance(large.records, Batched)
        seen = told(large)
    general = shape(result, lambda: result)
    assert general is not None
    assert seen == told(general)


@pytest.mark.parametrize("form", ["json", "table"])
@pytest.mark.parametrize("count", [400, 600, 1000, 5000])
def test_a_field_with_a_beat_groups_all_the_same(form: str, count: int) -> None:
    """Every third one is closed, and just these would be a sample of every third one."""
    step = count // 200
    records = [{"name": f"name {n}", "state": "open" if n % step else "closed"} for n in range(count)]
    table = "\n".join(["name\tstate", *(f"{r['name']}\t{r['state']}" for r in records)])
    text = json.dumps(records) if form == "json" else table
    found = shape({"content": [{"type": "text", "text": text}]}, dict)
    assert found is not None
    assert found.extra["format"] == form
    assert dict(fields(found.records).top) == {"open": count - count // step, "closed": count // step}
