"""Large texts cut out of their line: the same records as if the message were parsed at once."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import orjson
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from lro_proxy.payload import result as results
from lro_proxy.payload.records import payload_records
from lro_proxy.payload.result import Answer, cut_answer, read_answer
from lro_spec.tokens import script_aware_estimate, tokens_of_counts

PIECES = [
    "a line",
    '",',
    '"},{',
    '"},{"n":5,',
    '"}',
    "\n",
    "\\",
    '"',
    "\\n",
    "\\\\n",
    "\t",
    "–",
    "字",
    "😀",
    "\r\n",
    '","',
    "\\\\",
    "\u2028",
    "/",
    "\x7f",
    " ",
    '"text":"',
]
FILL = "".join(f"line {n} of {'many ' * 100}\n" for n in range(300))


def line_of(text: str, both: bool = False, **result: Any) -> bytearray:
    structured = {"structuredContent": {"content": text}} if both else {}
    content = {"content": [{"type": "text", "text": text}], **structured, **result}
    return bytearray(orjson.dumps({"result": content, "jsonrpc": "2.0", "id": 7}))


SPELLINGS = {
    b"a line": rb"\u0061 l\u0069ne",
    b"\\n": rb"\u000a",
    rb"\\": rb"\u005C",
    "字".encode(): rb"\u5b57",
    b"/": rb"\/",
}
"""Other ways to write the same in JSON."""


def parsed_at_once(line: bytearray) -> Answer:
    with patch.object(results, "_MAX_SKELETON_BYTES", 0):
        return read_answer(line)


def assert_same(answer: Answer, expected: Answer) -> None:
    found, wanted = payload_records(answer.result), payload_records(expected.result)
    assert found is not None
    assert wanted is not None
    assert found.extra == wanted.extra
    assert [json.loads(one) for one in found.lines] == [json.loads(one) for one in wanted.lines]
    assert len(found.lines) == len(list(found.lines)) == len(wanted.lines)
    assert tokens_of_counts(*answer.result.size) == script_aware_estimate(expected.result.payload())


@hypothesis_settings(max_examples=50, deadline=None)
@given(
    pieces=st.lists(st.sampled_from(PIECES), max_size=60),
    both=st.booleans(),
    first=st.booleans(),
    spelling=st.sampled_from([None, *SPELLINGS]),
)
@example(pieces=["x\n\\name", "\n"], both=False, first=True, spelling=b"\\n")
@example(pieces=["\x7f", "\n", "\\n", "字", "\n"], both=True, first=True, spelling=None)
def test_a_text_gives_the_same_records_however_it_is_read(
    pieces: list[str], both: bool, first: bool, spelling: bytes | None
) -> None:
    odd = "".join(pieces)
    text = f"x{odd}{FILL}" if first else f"x{FILL}{odd}"
    line = line_of(text, both)
    if spelling is not None:
        kept = line.replace(rb"\\", b"\0").replace(spelling if spelling != rb"\\" else b"\0", SPELLINGS[spelling])
        line = kept.replace(b"\0", rb"\\")
    answer = cut_answer(line)
    assert answer is not None
    assert_same(answer, parsed_at_once(line))
    assert answer.message["id"] == 7


@pytest.mark.parametrize(
    "line",
    [
        line_of(FILL, structuredContent={"other": "text"}),
        line_of(FILL, both=True, structuredContent={"content": FILL + "x"}),
        line_of(FILL, both=True, structuredContent={"rows": {"content": FILL}}),
        line_of(FILL, both=True, structuredContent={"rows": [{"content": FILL}]}),
        line_of(FILL, both=True, structuredContent={"content": FILL, "more": FILL}),
        line_of(FILL, _meta={"text": FILL}),
        bytearray(orjson.dumps({"id": 1, "result": {"content": [{"type": "text", "text": FILL}] * 2}})),
        bytearray(orjson.dumps({"id": 1, "result": {"content": [{"text": FILL}, {"type": "text", "text": "x"}]}})),
    ],
)
def test_a_payload_that_is_not_one_text_gives_the_same_records(line: bytearray) -> None:
    assert_same(read_answer(line), parsed_at_once(line))


@pytest.mark.parametrize(
    "line",
    [
        line_of(FILL)[:-30],
        bytearray(line_of(FILL).replace(b"line 5 ", b"line \x01 ")),
        bytearray(line_of(FILL).replace(b"line 5 ", b"line \\x ")),
        bytearray(line_of(FILL).replace(b"line 5 ", b"line \xff ")),
        bytearray(line_of(FILL).replace(b'"type"', b'"kind"')),
        bytearray(orjson.dumps({"id": 1, "params": {"text": FILL}})),
        bytearray(orjson.dumps({"id": 1, "result": {"contents": [{"text": FILL}]}})),
    ],
)
def test_nothing_is_cut_out_of_another_message_or_invalid_json(line: bytearray) -> None:
    assert cut_answer(line) is None


@pytest.mark.parametrize("both", [False, True])
def test_half_of_a_surrogate_pair_is_kept_and_known(both: bool) -> None:
    """jq stops at it, so that there are no recipes."""
    line = line_of(f"x{FILL}", both)
    whole, half = read_answer(line), read_answer(line.replace(b"line 7 of", rb"line \ud83d of"))
    assert half.result.text is not None
    assert "line \ud83d of" in str(half.result.text)
    known = [found.is_well_formed for answer in (whole, half) if (found := text_of(answer)) is not None]
    assert known == [True, False]


def text_of(answer: Answer) -> Any:
    return answer.result.text
