"""Any tool's result as records: nothing is lost, whatever it looks like."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from math import inf, nan
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest
from hypothesis import assume, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from lro_proxy import Interceptor
from lro_proxy.payload.interceptor import distinct_tool_name
from lro_proxy.payload.result import read_answer
from lro_reference.settings import Settings
from lro_spec.jsonl import lossless
from lro_spec.messages import OffloadResponse
from lro_spec.recipes.pipeline import parse_command
from lro_spec.schema.line_schema import judge_lines
from lro_spec.validation import validate_file
from tests.support.payloads import ROWS, TEXTS, VALUES, dumped
from tests.support.rebuilding import JsonLines, payload

OFF: Any = None


class Number(str):
    """A number by its digits, which is no text with these digits."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and str(self) == str(other)


def loaded(text: str | bytes) -> Any:
    """JSON with every number by its digits, so that 1.10 is not 1.1."""
    return json.loads(text, parse_float=lambda t: Number(t), parse_int=lambda t: Number(t))


def offload(result: str, folder: Path) -> tuple[dict[str, Any], list[Any], OffloadResponse]:
    """What the file of a result holds, numbers by their digits, and the descriptor."""
    interceptor = Interceptor(Settings(threshold_tokens=0, output_dir=str(folder)), emit=lambda event: None)
    made = interceptor.offload(read_answer(b'{"result":%b}' % result.encode()).result, tool="probe")
    if made is None:
        pytest.fail("nothing was offloaded")
    place = made["content"][0]["text"] if made.get("content") else orjson.dumps(made["structuredContent"])
    response = OffloadResponse.from_dict(json.loads(place))
    header, *lines = Path(response.file_path).read_bytes().removesuffix(b"\n").split(b"\n")
    return loaded(header), [loaded(line) for line in lines], response


def check(result: str, folder: Path) -> None:
    """The result is in its file, its descriptor describes it, and its recipes are recipes."""
    header, lines, response = offload(result, folder)
    texts, structured = payload(header, lines, loaded)
    sent = loaded(result)
    assert structured == sent.get("structuredContent")
    said = [block["text"] for block in sent.get("content", [])]
    assert len(texts or []) == len(said)
    for built, text in zip(texts or [], said, strict=True):
        if isinstance(built, JsonLines):
            assert built == [loaded(line) for line in text.removesuffix("\n").split("\n")]
        elif built != text:
            assert built == loaded(text)
    plain = [json.loads(line) for line in Path(response.file_path).read_text(encoding="utf-8").split("\n")[1:-1]]
    assert judge_lines(response.line_schema, plain).violations == ()
    assert response.summary.count == len(lines)
    for recipe in response.jq_recipes:
        assert parse_command(recipe.command).path == response.file_path
    Path(response.file_path).unlink()


def content(*texts: str, **more: str) -> str:
    """A result with these text blocks; *more* are members by their JSON text."""
    blocks = ",".join(json.dumps({"type": "text", "text": text}) for text in texts)
    members = [f'"content":[{blocks}]' if texts else "", *(f'"{key}":{value}' for key, value in more.items())]
    return "{" + ",".join(member for member in members if member) + "}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shapes")


@hypothesis_settings(max_examples=80, deadline=None)
@given(
    value=ROWS | VALUES | st.dictionaries(TEXTS, ROWS | VALUES, min_size=1, max_size=3),
    indent=st.sampled_from([None, 2]),
    way=st.integers(0, 3),
)
@example(value={"": {"": {"": None, "0": [None, None]}}}, indent=None, way=0)
def test_any_json_value_is_in_its_file_whichever_way_it_was_sent(
    folder: Path, value: Any, indent: int | None, way: int
) -> None:
    text = dumped(value, indent)
    assume(isinstance(value, (list, dict)) and bool(value))
    containers = [v for v in (value.values() if isinstance(value, dict) else value) if isinstance(v, (list, dict))]
    assume(isinstance(value, list) or containers != [[]])  # nothing was found
    wrapped = text if isinstance(value, dict) else f'{{"result":{text}}}'
    match way:
        case 0:
            check(content(text), folder)
        case 1:
            check(content(structuredContent=wrapped), folder)
        case 2:
            check(content(text, structuredContent=wrapped), folder)
        case _:
            check(content("a summary", structuredContent=wrapped), folder)


@hypothesis_settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text(max_size=200).filter(bool), min_size=1, max_size=3), both=st.booleans())
def test_any_text_is_in_its_file(folder: Path, texts: list[str], both: bool) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    more = {"structuredContent": json.dumps({"result": texts if len(texts) > 1 else texts[0]})} if both else {}
    check(content(*texts, **more), folder)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("a\n\n b \r\nc", "text"),
        ("\n", "text"),
        ('say "a",\nsay "b"},{"n":1,\n"},{\n', "text"),
        ('{"a": 1.10}\n{"a": 2}\n', "jsonl"),
        ('{"a": 1}\n{"a": 2', "text"),
        ("[1, 2, 1e400]", "json"),
        ('{"a": 1, "a": 2}', "text"),
        ("[NaN]", "text"),
        ("[" * 3000 + "]" * 3000, "text"),
        ('id,name\r\n1,a\r\n2,"b, c"\r\n3,d', "table"),
        ("id\tname\n1\ta\n2\tb\n3\tc\n", "table"),
        ("id,name\n1,'a'\n2,\"b\"\n3,c\n", "text"),
        ("id,id\n1,2\n3,4\n", "text"),
        ("country,2019,2020\nDE,1,2\nFR,3,4\n", "table"),
        ("Dear all,\nhow are you,\nbye,\n", "text"),
        ("2026-03-01 10:00:00,123 INFO up\n2026-03-01 10:00:01,7 INFO hit\n2026-03-01 10:00:02,44 WARN slow", "log"),
        ("One likes the sea, it seems\nOne likes the hills, too\nOne stays at home, or not\n", "text"),
        ("this is the first of some lines that\thave a tab\nand so has this\tone\nand\tthis", "text"),
        ("7,a\n8,b\n9,c\n", "text"),
    ],
)
def test_what_a_text_is_taken_for(folder: Path, text: str, form: str) -> None:
    result = content(text)
    assert offload(result, folder)[0]["extra"]["format"] == form
    check(result, folder)


def test_different_text_and_structured_content_are_both_kept(folder: Path) -> None:
    check(
        content("long\n" * 2000, structuredContent=json.dumps({"rows": [{"a": n} for n in range(300)], "x": "y"})),
        folder,
    )


def made(result: str, folder: Path, threshold_tokens: int) -> tuple[Any, Any]:
    """What becomes of a result, and what it was."""
    settings = Settings(threshold_tokens=threshold_tokens, output_dir=str(folder))
    sent = orjson.loads(result)
    return Interceptor(settings, emit=lambda event: None).result(sent, tool="probe"), sent


def test_a_short_text_does_not_carry_large_structured_content_past_the_threshold(folder: Path) -> None:
    rows = json.dumps({"rows": [{"a": n, "b": "x" * 20} for n in range(200)]})
    answer, sent = made(content("Found 200 rows.", structuredContent=rows), folder, 500)
    assert answer["structuredContent"]["offloaded"] is True
    assert answer["structuredContent"]["summary"]["estimated_tokens"] == math.ceil(
        len(json.dumps(sent["structuredContent"], separators=(",", ":"))) / 4
    )
    answer, sent = made(content("Found 3 rows.", structuredContent='{"rows":[1,2,3]}'), folder, 500)
    assert answer is sent


def test_a_payload_that_is_sent_twice_weighs_what_its_text_weighs(folder: Path) -> None:
    text = json.dumps([{"a": n, "b": "x" * 20} for n in range(50)], separators=(",", ":"))
    for repeated in (json.dumps({"result": text}), f'{{"result":{text},"note":"{"y" * 400}"}}'):
        answer, sent = made(content(text, structuredContent=repeated), folder, 450)
        assert answer is sent
        assert made(content(text, structuredContent=repeated), folder, 440)[0] is not sent


@pytest.mark.parametrize(
    ("text", "structured"),
    [
        ("1", "true"),
        ("0", "false"),
        ("1", "1.0"),
        ("0", "-0.0"),
        ("0.1", "0.1000000000000000000001"),
        ("10000000000000000000000001", "10000000000000000000000002"),
        ("9007199254740993.0", "9007199254740992.0"),
        ('"1"', "1"),
        ("null", '"null"'),
        ('{"a":1,"b":2}', '{"a":1,"b":2.0}'),
        ('{"a":1,"a":2}', '{"a":2}'),
    ],
)
@pytest.mark.parametrize("form", ['{"id":%s}', "[%s,7]", '[{"a":[%s]},{"b":2}]', "%s"])
def test_two_payloads_that_nearly_agree_are_both_kept(folder: Path, text: str, structured: str, form: str) -> None:
    one, other = form % text, form % structured
    check(content(one, structuredContent=f'{{"rows":{other}}}'), folder)
    check(content(one, '{"x":1}', structuredContent=f'{{"rows":[{other},{{"x":1}}]}}'), folder)
    if form[0] == "{":
        check(content(one, structuredContent=other), folder)


@pytest.mark.parametrize(
    ("texts", "items", "repeated_as"),
    [
        (['{"a":1}', '{"b":2}'], [{"a": 1}, {"b": 2}], "json"),
        (['{"a":1}', '{"b":2}'], ['{"a":1}', '{"b":2}'], "text"),
        (['{"a":1}', '{"b":2}'], [{"a": 1}, '{"b":2}'], None),
        (["5", "x"], [5, "x"], "json"),
        (["5", "5"], ["5", 5], None),
        (["null", "x"], [None, "x"], "json"),
    ],
)
def test_the_header_says_whether_items_are_texts_or_what_the_texts_say(
    folder: Path, texts: list[str], items: list[Any], repeated_as: str | None
) -> None:
    result = content(*texts, structuredContent=json.dumps({"result": items}))
    header, _, _ = offload(result, folder)
    assert header["extra"].get("as") == repeated_as
    if repeated_as != "text":  # of a text that is JSON, only its value is in the file
        check(result, folder)


def test_a_list_of_a_python_server_is_kept_once(folder: Path) -> None:
    rows = [{"id": n, "name": f"row {n}"} for n in range(30)]
    result = content(*(json.dumps(row, indent=2) for row in rows), structuredContent=json.dumps({"result": rows}))
    header, lines, _ = offload(result, folder)
    assert (header["extra"]["format"], len(lines)) == ("blocks", 30)
    check(result, folder)


def test_half_of_a_surrogate_pair_is_kept(folder: Path) -> None:
    interceptor = Interceptor(Settings(threshold_tokens=0, output_dir=str(folder)), emit=lambda event: None)
    result = json.loads('{"content":[{"type":"text","text":"a\\ud800b\\nc"}]}')
    path = json.loads(interceptor.result(result, tool="x")["content"][0]["text"])["file_path"]
    assert json.loads(Path(path).read_text().split("\n")[1]) == {"n": 1, "text": "a\ud800b"}


def test_half_of_a_surrogate_pair_in_a_name_is_kept(folder: Path) -> None:
    lro = Interceptor(Settings(threshold_tokens=100, output_dir=str(folder)), emit=lambda event: None)
    rows = [{"k\ud800": n} for n in range(2000)]
    for value in ({"rows": rows}, {"rows": rows, "about": {"\udfff": ["x"]}}, {"x\ud800": {"\ud800": rows}}):
        *_, last = Path(lro(value)["file_path"]).read_text().splitlines()
        assert json.loads(last) == rows[-1]


def test_the_file_and_the_descriptor_are_valid_by_the_papers_edition(folder: Path) -> None:
    rows = [{"id": n, "status": "open" if n % 3 else "closed", "price": n / 7, "tags": ["x"]} for n in range(100)]
    _, _, response = offload(content(json.dumps(rows)), folder)
    findings = validate_file(response.file_path, edition="lro-paper")
    assert [f for f in findings if f.line in (None, 1)] == []  # its records are no memories


def test_an_interceptor_gives_small_values_back_as_they_are(folder: Path) -> None:
    lro = Interceptor(Settings(threshold_tokens=100, output_dir=str(folder)), emit=lambda event: None)
    small = [{"id": 1}]
    assert lro(small) is small
    large = [{"id": n, "text": "word"} for n in range(200)]
    made = lro(large, operation="list issues!", arguments={"query": "word"})
    assert made["summary"]["operation"] == "list_issues"
    header = json.loads(Path(made["file_path"]).read_text().split("\n")[0])
    assert header["query"] == "word"


@pytest.mark.parametrize("value", [[], {"results": []}, {"count": 0, "query": "word", "results": []}])
def test_a_result_without_records_is_given_back(folder: Path, value: Any) -> None:
    lro = Interceptor(Settings(threshold_tokens=1, output_dir=str(folder)), emit=lambda event: None)
    assert lro(value, operation="recall") is value


@pytest.mark.parametrize("value", [{"results": [], "text": "word " * 2000}, {"results": [], "more": {"id": 1}}])
def test_an_empty_list_beside_other_content_is_offloaded_with_it(folder: Path, value: Any) -> None:
    lro = Interceptor(Settings(threshold_tokens=1, output_dir=str(folder)), emit=lambda event: None)
    assert lro(value)["summary"]["count"] >= 2


def test_a_program_says_the_operation_and_a_tool_of_that_name_is_none(folder: Path) -> None:
    lro = Interceptor(Settings(threshold_tokens=1, output_dir=str(folder)), emit=lambda event: None)
    assert lro({"results": [{"id": 1}]}, operation="recall")["summary"]["operation"] == "recall"
    assert [distinct_tool_name(tool) for tool in ("search", "search_notes")] == ["search_tool", "search_notes"]


@dataclass
class Point:
    x: float
    y: float


class Rows(NamedTuple):
    a: int
    b: str


class Level(IntEnum):
    LOW = 1


PROGRAMS: list[Any] = [
    ([(1, 2)] * 2000, {"n": 2000, "value": [1, 2]}),
    (((1, 2),) * 2000, {"n": 2000, "value": [1, 2]}),
    ([Rows(1, "b")] * 2000, {"n": 2000, "value": [1, "b"]}),
    ([Point(1.5, 2)] * 2000, {"x": 1.5, "y": 2}),
    ([OrderedDict(a=(1,), b=Level.LOW)] * 2000, {"a": [1], "b": 1}),
    (
        [{"at": datetime(2026, 1, 2, tzinfo=UTC), "big": 10**30}] * 2000,
        {"at": "2026-01-02T00:00:00+00:00", "big": 10**30},
    ),
    ([{1: "a"}] * 2000, {"1": "a"}),
    ([{"a": "\ud800"}] * 2000, {"a": "\ud800"}),
]


@pytest.mark.parametrize(("values", "line"), PROGRAMS)
def test_an_interceptor_takes_what_programs_have(folder: Path, values: Any, line: Any) -> None:
    lro = Interceptor(Settings(threshold_tokens=100, output_dir=str(folder)), emit=lambda event: None)
    assert lro(values[:2]) == values[:2]
    *_, last = Path(lro(values)["file_path"]).read_text().splitlines()
    assert json.loads(last) == line


@pytest.mark.parametrize("odd", [nan, inf, -inf, (1, nan), {"a": [inf]}, Point(nan, 1)])
def test_an_interceptor_keeps_what_no_json_has_as_text(folder: Path, odd: Any) -> None:
    lro = Interceptor(Settings(threshold_tokens=100, output_dir=str(folder)), emit=lambda event: None)
    values = [1.5, odd, 10**30] * 700
    assert lro(values[:2]) == values[:2]
    header, *lines = Path(lro(values)["file_path"]).read_text().splitlines()
    assert json.loads(header)["extra"] == {"format": "text", "from": "structuredContent", "ending": ""}
    again = json.loads("\n".join(json.loads(line)["text"] for line in lines))
    assert (len(again), len(lines), again[0], again[2]) == (2100, 2100, 1.5, 10**30)
    assert any(word in str(again[1]) for word in ("nan", "inf"))
    both = {"content": [{"type": "text", "text": "look"}], "structuredContent": {"v": values}}
    made = lro.result(both, tool="t")["structuredContent"]
    header, *lines = Path(made["file_path"]).read_text().splitlines()
    assert json.loads(header)["extra"]["from"] == "result"
    parts = [json.loads(line) for line in lines]  # of the one line of the text
    assert [(part["n"], part["part"]) for part in parts] == [(1, n) for n in range(1, len(parts) + 1)]
    assert json.loads("".join(part["text"] for part in parts))["content"] == both["content"]


def test_what_nobody_can_write_is_an_error(folder: Path) -> None:
    lro = Interceptor(Settings(threshold_tokens=100, output_dir=str(folder)), emit=lambda event: None)
    with pytest.raises(TypeError, match="set"):
        lro([{1, 2}] * 2000)


@pytest.mark.parametrize("text", ["\ufeff[1]", '{"a":1,"a":2}', "[NaN]", "[1,]", b"\xff", ""])
def test_what_cannot_be_written_again_is_refused(text: str | bytes) -> None:
    with pytest.raises(lossless.InexactError):
        lossless.parse(text)
