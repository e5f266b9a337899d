"""Comparison of jq's outputs with the meaning of a recipe, and probes that replace a recipe's literal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lro_spec.recipes.compare import agrees, probe, same_output, show
from lro_spec.recipes.oracle import evaluate
from lro_spec.recipes.pipeline import parse_command
from lro_spec.recipes.runner import JqRun

RANKED: list[Any] = [{"id": n, "provenance": {"confidence": n / 4}} for n in (3, 2, 1)]
THIRDS: list[Any] = [{"id": n, "provenance": {"confidence": c}} for n, c in ((1, 0.3), (2, 0.9))]
NEAR = {"id": 1, "provenance": {"confidence": 0.1 + 0.2}}
HEAD = {"type": "lro_header"}


def run(stdout: bytes, status: int = 0, stderr: str = "", problem: str = "", *, timed_out: bool = False) -> JqRun:
    return JqRun(status, stdout, stderr, timed_out, "jq", problem)


def gave(*values: Any) -> bytes:
    return "\n".join(map(json.dumps, values)).encode()


@pytest.mark.parametrize(
    ("number", "records", "output", "ok"),
    [
        (4, RANKED, gave(*RANKED), True),
        (4, RANKED, gave(RANKED), True),
        (4, RANKED, gave(RANKED, RANKED), False),
        (4, RANKED, gave(*RANKED[:2]), False),
        (4, THIRDS, gave(THIRDS[1], NEAR), True),
        (4, THIRDS, gave(NEAR), False),
        (1, RANKED, gave("\t0.75", "\t0.5", "\t0.25"), False),
        (1, RANKED, gave([None, 0.75], [None, 0.5], [None, 0.25]), True),
        (1, RANKED[:1], gave([None, 0.75]), True),
        (8, [{"namespace": n} for n in "aab"], gave(["b", 1], ["a", 2]), False),
        (8, [{"namespace": n} for n in "aab"], gave(["a", 2], ["b", 1]), True),
    ],
)
def test_an_output_agrees_as_a_stream_or_as_one_array(number: int, records: list[Any], output: bytes, ok: bool) -> None:
    assert agrees(number, run(output), records).ok is ok


def test_a_disagreement_says_what_is_wrong() -> None:
    namespaces = [{"namespace": n} for n in "aab"]
    found = agrees(8, run(gave([{"namespace": "b", "count": 1}, {"namespace": "a", "count": 2}])), namespaces)
    assert found.expected == "2 values of namespace, most frequent first: a: 2, b: 1"
    assert found.difference == "the counts are right, but not in descending order: 1 comes before 2"
    assert agrees(8, run(b"not JSON"), namespaces).difference == ""
    assert agrees(4, run(gave(*RANKED)), RANKED).difference == ""


def test_an_error_counts_but_where_the_text_s_own_command_fails() -> None:
    assert not agrees(4, run(gave(*RANKED), 5), RANKED)
    odd = [*RANKED, {}]
    excused = agrees(4, run(gave(*odd), 5, "jq: error: null (null) cannot be negated"), odd)
    assert (excused.ok, excused.erratum) == (
        True,
        "record 4 of 4 has nothing at .provenance.confidence, but only a number can be negated",
    )
    assert agrees(4, run(gave(*odd[1:])), odd).erratum is None, (
        "what jq did without an error is not the text's own command"
    )


def test_a_limit_counts_always() -> None:
    odd = [*RANKED, {}]
    for records, status in ((RANKED, 5), (odd, 0)):
        ended = agrees(4, run(gave(*records), status, problem="ran out of time"), records)
        assert (ended.ok, ended.erratum) == (False, None)
        assert ended.observed.startswith("jq ran out of time; ")


@pytest.mark.parametrize(
    ("output", "header", "ok", "with_header"),
    [
        (gave(*RANKED, HEAD), HEAD, False, True),
        (gave(*RANKED, HEAD), None, False, False),
        (gave(*RANKED), HEAD, True, False),
        (gave(*RANKED[:2]), HEAD, False, False),
    ],
)
def test_the_header_among_the_records_is_told(output: bytes, header: Any, ok: bool, with_header: bool) -> None:
    found = agrees(4, run(output), RANKED, header=header)
    assert (found.ok, found.with_header) == (ok, with_header)


@pytest.mark.parametrize(
    ("output", "ok", "observed"),
    [
        (run(b""), False, "no output"),
        (run(b"[]"), False, "an array of 0: []"),
        (run(b"null\n"), False, "1 value: null\\n"),
        (run(b"x"), False, "x"),
        (run(b'"a"\n"b"'), False, '2 values: "a"\\n"b"'),
        (run(b"{}"), True, ""),
        (run(b"[{}]"), True, ""),
        (run(b"[{},{}]"), False, "an array of 2: [{},{}]"),
        (run(b"[1]\n[2]"), False, "2 values: [1]\\n[2]"),
        (run(b"\t\n\t\n"), False, "no output"),
        (run(b'{"id":"1"}'), False, '1 value: {"id":"1"}'),
        (run(b"[[]]\n"), False, "an array of 1: [[]]\\n"),
        (run(b"1", 5, "jq: error\n"), False, "jq exited 5; jq: error; 1 value: 1"),
        (run(b"", -9, problem="ran out of time", timed_out=True), False, "jq ran out of time; no output"),
        (run(b"", 5, " "), False, "jq exited 5; no output"),
        (run(b"[1, 2] "), False, "an array of 2: [1, 2] "),
        (run(b"1 2\r\n3"), False, "3 values: 1 2\\r\\n3"),
        (run(b"\xff"), False, "�"),
        (run(b"x" * 300), False, "x" * 300),
        (run(b"x" * 301), False, "x" * 299 + "…"),
    ],
)
def test_an_output_is_told_in_short(output: JqRun, ok: bool, observed: str) -> None:
    found = agrees(9, output, [{}])
    assert (found.ok, found.observed) == (ok, observed)


@pytest.mark.parametrize(
    ("text", "printable"),
    [("a\tb", "a\\tb"), ("é\x1b[0m", "é\\x1b[0m"), ("x" * 300, "x" * 300), ("x" * 301, "x" * 299 + "…")],
)
def test_a_text_is_shown_printable_and_in_short(text: str, printable: str) -> None:
    assert show(text) == printable


def test_the_same_output_is_the_same_values_and_the_same_end() -> None:
    nothing, empty, null = run(b""), run(b"[]"), run(b"null\n")
    assert all(same_output(one, one) for one in (nothing, empty, null))
    assert not any(same_output(*pair) for pair in ((nothing, empty), (empty, null), (nothing, run(b"", 5))))


HEADER = {"type": "lro_header", "title": "h"}


@pytest.mark.parametrize(
    ("command", "program", "args"),
    [
        ("jq --arg a x 'select(.title | test($a))' f", "select(.title | test($a))", {"a": "z"}),
        ("jq --argjson a '\"x\"' '$a' f", "$a", {"a": "z"}),
        ("jq --argjson a 1 '$a, \"y\"' f", '$a, "z"', {"a": 1}),
        ('jq \'test("x"; "i")\' f', 'test("z"; "i")', {}),
        ('jq \'"" // "x"\' f', '"" // "z"', {}),
        ("jq . f | jq '\"x\"'", '"z"', {}),
        ('jq \'select(.type != "lro_header") | test("x")\' f', 'select(.type != "lro_header") | test("z")', {}),
        ("jq 'select(.title == \"h\")' f", 'select(.title == "z")', {}),
        ("jq 'select(.type != \"lro_header\")' f | jq 'test(\"x\")'", 'test("z")', {}),
        *(
            (f"jq 'test(\"{old}\")' f", f'test("{new}")', {})
            for old, new in (("^a", "^z"), ("a$", "z$"), (".*a", ".*z"), ("a.*", "z.*"), ("(?i)^a.*", "(?i)^z.*"))
        ),
        ("jq 'test(\"a^b\")' f", 'test("z")', {}),
    ],
)
def test_another_literal_takes_the_place_of_the_author_s(command: str, program: str, args: dict[str, Any]) -> None:
    probed = probe(parse_command(command), 3, "z", header=HEADER)
    assert probed is not None
    last = [probed.jq, *probed.more][-1]
    assert (last.program, {**last.args, **last.argjson}) == (program, args)


def test_where_a_pattern_was_a_pattern_is_put() -> None:
    probed = probe(parse_command("jq 'test(\"^a\")' f"), 3, "_x.y")
    assert probed is not None
    assert probed.jq.program == 'test("^_x\\\\.y")'


@pytest.mark.parametrize("command", ["jq --arg b x '.a' f", "jq . f"])
def test_a_recipe_that_looks_for_nothing_is_not_probed(command: str) -> None:
    assert probe(parse_command(command), 3, "z") is None


@pytest.mark.parametrize(
    "literal", ["^a", "a$", "^a$", ".*a", "a.*", "(?i)a", "a^b", "^^", ".*", "(?i)", "a$b", "^" + "a" * 200]
)
def test_a_pattern_has_no_one_meaning(literal: str) -> None:
    with pytest.raises(ValueError, match="is not plain text"):
        evaluate(3, RANKED, literal=literal)
