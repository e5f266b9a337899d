"""Large texts cut out of the raw line: the same file as the general way makes, or no shortcut at all."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from lro_proxy.fastpath import result as raw_result
from lro_proxy.payload.classify import shape, text_of
from lro_proxy.payload.lines import TextLines
from lro_spec.tokens import estimate_of, script_aware_estimate

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


@hypothesis_settings(max_examples=50, deadline=None)
@given(
    pieces=st.lists(st.sampled_from(PIECES), max_size=60),
    both=st.booleans(),
    first=st.booleans(),
    spelt=st.sampled_from([None, *SPELLINGS]),
)
@example(pieces=["x\n\\name", "\n"], both=False, first=True, spelt=b"\\n")
@example(pieces=["\x7f", "\n", "\\n", "字", "\n"], both=True, first=True, spelt=None)
def test_the_same_records_as_the_general_way(pieces: list[str], both: bool, first: bool, spelt: bytes | None) -> None:
    odd = "".join(pieces)
    text = f"x{odd}{FILL}" if first else f"x{FILL}{odd}"
    line = line_of(text, both)
    if spelt is not None:
        kept = line.replace(rb"\\", b"\0").replace(spelt if spelt != rb"\\" else b"\0", SPELLINGS[spelt])
        line = kept.replace(b"\0", rb"\\")
    found = raw_result.read(line)
    if found is None and rb'\u000a"' in line:
        return
    assert found is not None
    general = orjson.loads(line)
    expected = shape(general["result"], lambda: general["result"])
    assert expected is not None
    assert found.shape.extra == expected.extra
    assert [json.loads(one) for one in found.shape.lines] == [json.loads(one) for one in expected.lines]
    assert len(found.shape.lines) == len(list(found.shape.lines)) == len(TextLines(text))
    assert estimate_of(found.characters, found.wide) == script_aware_estimate(text_of(general["result"]))
    assert found.message["id"] == 7


@pytest.mark.parametrize(
    "line",
    [
        line_of(FILL, _meta={"lro-spec/results": {}}),
        line_of(FILL, structuredContent={"other": "text"}),
        line_of(FILL, both=True, structuredContent={"content": FILL + "x"}),
        line_of(FILL)[:-30],
        bytearray(line_of(FILL).replace(b"line 5 ", b"line \x01 ")),
        bytearray(line_of(FILL).replace(b"line 5 ", b"line \\x ")),
        bytearray(line_of(FILL).replace(b"line 5 ", b"line \xff ")),
        bytearray(line_of(FILL).replace(b'"type"', b'"kind"')),
        bytearray(orjson.dumps({"id": 1, "result": {"content": [{"type": "text", "text": FILL}] * 2}})),
        bytearray(orjson.dumps({"id": 1, "params": {"text": FILL}})),
    ],
)
def test_anything_less_simple_takes_the_general_way(line: bytearray) -> None:
    assert raw_result.read(line) is None


@pytest.mark.parametrize("both", [False, True])
def test_half_a_surrogate_pair_takes_the_general_way(both: bool) -> None:
    """Whose recipes are looked after: jq would stop at it."""
    line = line_of(f"x{FILL}", both)
    assert raw_result.read(line) is not None
    assert raw_result.read(line.replace(b"line 7 of", rb"line \ud83d of")) is None
