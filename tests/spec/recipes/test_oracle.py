"""The independent evaluation agrees with jq on the specification's commands, and knows where they fail."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lro_spec.editions import EDITIONS, edition
from lro_spec.recipes.compare import agrees, probe
from lro_spec.recipes.oracle import erratum, evaluate
from lro_spec.recipes.pipeline import parse_command
from lro_spec.recipes.render import render
from lro_spec.recipes.runner import JqRun, JqRunner

HEADER = {
    "type": "lro_header",
    "operation": "recall",
    "query": None,
    "count": 3,
    "schema_version": "0.1.0",
    "timestamp": "2026-11-21T10:00:00Z",
    "estimated_tokens": 9000,
    "detail": "full",
}
text = st.text(max_size=8) | st.sampled_from(["keyword", "A KEYWORD\tand\nmore\\n", "pattern", "PATTERN\r\0", "", "ſK"])
namespace = st.sampled_from(["_semantic", "_semantic/a", "_episodic", "", "x_semantic", "é\t"]) | text
number = st.floats(0, 1) | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False) | st.integers()
record = st.fixed_dictionaries(
    {
        "id": text,
        "memory_type": st.sampled_from(["semantic", "episodic", "procedural"]),
        "content": text,
        "namespace": namespace,
        "title": text,
        "entities": st.lists(st.dictionaries(text, number, max_size=2), max_size=2),
        "provenance": st.fixed_dictionaries({"confidence": st.sampled_from([0.1, 0.5, 0.5, 1, 1.0, 0]) | number}),
    },
    optional={"tags": st.lists(text, max_size=3), "extensions": st.dictionaries(text, text | number, max_size=2)},
)
BINARY = shutil.which("jq")


@pytest.fixture(
    scope="module", params=[None, pytest.param(BINARY, marks=pytest.mark.skipif(not BINARY, reason="no jq"))]
)
def runner(request: pytest.FixtureRequest) -> Iterator[JqRunner]:
    with JqRunner(request.param) as runner:
        yield runner


@pytest.fixture(scope="module")
def libjq() -> Iterator[JqRunner]:
    with JqRunner() as runner:
        yield runner


def jsonl(*values: Any) -> bytes:
    return b"".join(json.dumps(v).encode() + b"\n" for v in values)


def gave(stdout: str | bytes, status: int = 0, stderr: str = "") -> JqRun:
    return JqRun(status, stdout.encode() if isinstance(stdout, str) else stdout, stderr, False, "libjq")


def stream(*values: Any, indent: int | None = None) -> JqRun:
    return gave("".join(json.dumps(v, indent=indent) + "\n" for v in values))


def command(number: int, name: str = "lro-6400") -> str:
    return render(name, "/f")[number - 1].command


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(record, max_size=12), st.integers(1, 10))
def test_evaluation_agrees_with_libjq_on_any_full_records(libjq: JqRunner, records: list[Any], number: int):
    output = libjq.run(parse_command(command(number)), jsonl(HEADER, *records))
    assert erratum(number, records) is None
    found = agrees(number, output, records)
    assert found.ok, found
    assert not found.with_header


some = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["semantic", "_semantic", "keyword pattern"])
loose = st.dictionaries(
    st.sampled_from(["id", "title", "namespace", "memory_type", "content"]),
    some | st.lists(some, max_size=2) | st.dictionaries(st.sampled_from("ab"), some, max_size=1),
)
loose_record = st.builds(
    lambda members, entities, provenance: {**members, **entities, **provenance},
    loose,
    st.fixed_dictionaries({}, optional={"entities": some | st.lists(some, max_size=2)}),
    st.fixed_dictionaries({}, optional={"provenance": st.fixed_dictionaries({}, optional={"confidence": some})}),
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(loose_record, max_size=6), st.integers(1, 10))
def test_the_text_fails_exactly_where_an_erratum_says(libjq: JqRunner, records: list[Any], number: int):
    output = libjq.run(parse_command(command(number)), jsonl(HEADER, *records))
    why = erratum(number, records)
    assert (why is not None) == bool(output.stderr), (why, output)
    found = agrees(number, output, records)
    assert found.erratum == (None if found.ok and output.ok else why)
    if why is None:
        assert found.ok, found
    elif number not in (1, 4, 9):
        # A filter only drops what lacks the field, which is what it means anyway.
        assert found.ok, found


@pytest.mark.parametrize("name", EDITIONS)
@pytest.mark.parametrize("detail", ["light", "medium", "full"])
def test_every_edition_s_recipes_agree_with_jq(runner: JqRunner, name: str, detail: str):
    records = [
        {
            "id": f"m{i}",
            "title": f"Title {i} keyword\t" if i % 2 else "Other",
            "namespace": ["_semantic/a", "_episodic", "_semantic/b"][i % 3],
            "memory_type": ["semantic", "episodic"][i % 2],
            "tags": ["TAG", "x"][: i % 3],
            "created": f"2026-01-{30 - i:02}T00:00:00Z",
            "confidence": i % 5 / 4,
            "provenance": {"confidence": i % 4 / 3},
            "content": "some Pattern here" if i % 4 else "",
            "entities": [{"name": "e"}] if i % 3 else [],
        }
        for i in range(25)
    ]
    data = jsonl(HEADER, *records)
    for recipe in edition(name).recipes_at(detail):
        output = runner.run(parse_command(recipe.command.replace("{file}", "/f")), data)
        found = agrees(recipe.number, output, records, header=HEADER, edition=name, detail=detail)
        assert (found.ok, found.erratum) == (True, None), (recipe, found)


RECORDS = [
    {"id": "a", "title": "First keyword", "namespace": "_semantic/x", "memory_type": "semantic", "content": "a Pattern",
     "entities": [{"name": "e"}], "provenance": {"confidence": 0.5}},
    {"id": "b", "title": "Second\t\"one\"\\", "namespace": "_episodic", "memory_type": "episodic", "content": "",
     "entities": [], "provenance": {"confidence": 0.9}},
    {"id": "c", "title": None, "namespace": "_semantic/x", "memory_type": "semantic", "content": "plain",
     "entities": None, "provenance": {"confidence": 0.5}},
]  # fmt: skip
A, B, C = RECORDS


@pytest.mark.parametrize(
    ("number", "jq"),
    [
        (1, "jq -r '[.title, .provenance.confidence] | @tsv'"),
        (1, "jq -c '[.title, .provenance.confidence]'"),
        (1, "jq '[.title, .provenance.confidence]'"),
        (1, "jq -s 'map([.title, .provenance.confidence])'"),
        (1, "jq '{title, confidence: .provenance.confidence}'"),
        (2, "jq -c 'select(.namespace | startswith(\"_semantic\"))'"),
        (2, "jq -s '[.[] | select(.namespace | startswith(\"_semantic\"))]'"),
        (3, 'jq \'select((.title // "") | test("keyword"; "i"))\''),
        (3, 'jq \'select((.title // "") | ascii_downcase | contains("keyword"))\''),
        (4, "jq -s 'sort_by(.provenance.confidence) | reverse'"),
        (4, "jq -s 'sort_by(-.provenance.confidence) | .[]'"),
        (4, "jq -c -s 'sort_by(-(.provenance.confidence // 0))'"),
        (5, "jq -c '{id, title, namespace, memory_type}'"),
        (5, "jq -s 'map({id, title, namespace})'"),
        (6, "jq 'select(.memory_type | . == \"semantic\")'"),
        (7, "jq 'select((.entities // []) != [])'"),
        (8, "jq -s 'group_by(.namespace) | map({namespace: .[0].namespace, n: length}) | sort_by(.n) | reverse | .[]'"),
        (8, "jq -s 'group_by(.namespace) | map([.[0].namespace, length]) | sort_by(-.[1])'"),
        (9, "jq -s 'sort_by(.provenance.confidence) | reverse | limit(10; .[])'"),
        (10, 'jq --arg q PATTERN \'select((.content // "") | test($q; "i"))\''),
    ],
)
def test_honest_variants_agree(runner: JqRunner, number: int, jq: str):
    output = runner.run(parse_command(f"tail -n +2 /f | {jq}"), jsonl(HEADER, *RECORDS))
    found = agrees(number, output, RECORDS)
    assert found.ok, found


@pytest.mark.parametrize(
    ("number", "jq"),
    [
        (1, "jq '[.title, .provenance.confidence] | @tsv'"),  # JSON strings, their tabs escaped: no table
        (1, "jq -r '[.title] | @tsv'"),
        (1, "jq -r '[.provenance.confidence, .title] | @tsv'"),
        (1, "jq -r '[.title, .provenance.confidence] | @csv'"),
        (1, "jq -j '[.title, .provenance.confidence] | @tsv'"),
        (1, "jq -r 'select(.title) | [.title, .provenance.confidence] | @tsv'"),
        (2, "jq 'select(.namespace | startswith(\"_episodic\"))'"),
        (2, "jq ."),
        (2, "jq 'select(.namespace | startswith(\"_semantic\")) | .id'"),
        (3, 'jq \'select(.title // "" | test("KEYWORD"))\''),
        (4, "jq -s 'sort_by(.provenance.confidence)'"),
        (4, "jq -s 'sort_by(-.provenance.confidence) | .[:2]'"),
        (4, "jq -s 'sort_by(-.provenance.confidence) | . + [.[-1]]'"),
        (4, "jq -s 'sort_by(-.provenance.confidence) | map({id})'"),
        (5, "jq ."),
        (5, "jq '{id, namespace}'"),
        (5, "jq '{id, title, namespace: .title}'"),
        (5, "jq '. + {extra: 1}'"),
        (6, "jq 'select(.memory_type != \"semantic\")'"),
        (7, "jq 'select(.entities)'"),
        (8, "jq -s 'group_by(.namespace) | map({namespace: .[0].namespace, count: length}) | sort_by(.count)'"),
        (8, "jq -s 'map({namespace, count: 1})'"),
        (8, "jq -s length"),
        (9, "jq -s '.[:10]'"),
        (9, "jq -s 'sort_by(-.provenance.confidence) | .[:1]'"),
        (10, 'jq \'select(.title // "" | test("pattern"; "i"))\''),
        (10, "jq empty"),
        (10, "jq '.nosuch | nosuch'"),
        (10, "jq -r '\"not json\"'"),
    ],
)
def test_wrong_effects_do_not_agree(runner: JqRunner, number: int, jq: str):
    output = runner.run(parse_command(f"tail -n +2 /f | {jq}"), jsonl(HEADER, *RECORDS))
    found = agrees(number, output, RECORDS)
    assert not found.ok, found
    assert found.expected
    assert found.observed


def test_layout_does_not_matter():
    assert agrees(2, stream(A, C), RECORDS).ok
    assert agrees(2, stream(A, C, indent=2), RECORDS).ok
    assert agrees(2, stream([A, C], indent=2), RECORDS).ok
    assert not agrees(2, stream([A], [C]), RECORDS).ok
    assert not agrees(2, stream(C, A), RECORDS).ok


def test_nothing_found_is_no_output_or_an_empty_array():
    for output in (gave(""), gave("\n"), gave("[]\n")):
        assert agrees(6, output, RECORDS, "nothing").ok
        assert agrees(4, output, []).ok


def test_ties_come_in_any_order_and_any_of_them_makes_the_cut():
    tied = [{"id": str(i), "provenance": {"confidence": 1 if i < 5 else 0.5}} for i in range(14)]
    assert agrees(9, stream(tied[:10]), tied).ok
    assert agrees(9, stream(tied[:5][::-1] + tied[9:]), tied).ok
    assert not agrees(9, stream(tied[1:11]), tied).ok
    assert not agrees(9, stream([*tied[:9], tied[0]]), tied).ok
    assert not agrees(9, stream(tied[:9]), tied).ok
    assert not agrees(9, stream(tied[:11]), tied).ok
    assert agrees(4, stream(tied[:5][::-1] + tied[5:][::-1]), tied).ok
    assert not agrees(4, stream(tied[::-1]), tied).ok


def test_records_without_confidence_sort_last_or_as_zero():
    bare = {"id": "n"}
    low = {"id": "l", "provenance": {"confidence": -1}}
    high = {"id": "h", "provenance": {"confidence": 1}}
    for order, ok in (([high, low, bare], True), ([high, bare, low], True), ([bare, high, low], False)):
        assert agrees(4, stream(order), [bare, low, high]).ok is ok


def test_the_header_taken_for_a_record_is_told():
    titles = parse_command("jq -r '[.title, .provenance.confidence] | @tsv' /f")
    counts = parse_command(command(8).replace("tail -n +2", "cat"))
    with JqRunner() as runner:
        for number, pipeline in ((1, titles), (8, counts)):
            output = runner.run(pipeline, jsonl(HEADER, *RECORDS))
            found = agrees(number, output, RECORDS, header=HEADER)
            assert (found.ok, found.with_header) == (False, True)
            assert not agrees(number, output, RECORDS).with_header


@pytest.mark.parametrize(
    ("number", "change", "says"),
    [
        (
            4,
            {"provenance": None},
            "record 2 of 3 has nothing at .provenance.confidence, but only a number can be negated",
        ),
        (9, {"provenance": {"confidence": "high"}}, "has a string at .provenance.confidence"),
        (10, {"content": None}, "has nothing at .content, but test() needs a string"),
        (3, {"title": 3}, "has a number at .title"),
        (2, {"namespace": ["a"]}, "has an array at .namespace"),
        (1, {"title": {"a": 1}}, "has an object at .title, but @tsv"),
        (7, {"entities": True}, "has a boolean at .entities"),
    ],
)
def test_an_erratum_names_the_record_the_field_and_the_reason(number: int, change: dict[str, Any], says: str):
    full: list[dict[str, Any]] = [{**r, "title": "t", "entities": []} for r in RECORDS]
    assert erratum(number, full) is None
    full[1] = {**full[1], **change}
    assert says in (erratum(number, full) or "")


def test_an_error_of_jq_counts_only_where_the_text_s_own_command_would_go_wrong_too():
    complaint = "jq: error: null cannot be matched, as it is not a string"
    full = [A, B, {**C, "title": "t"}]
    assert not agrees(3, gave(stream(A).stdout, 5, complaint), full).ok
    lenient = agrees(3, gave(stream(A).stdout, 5, complaint), RECORDS)
    assert lenient.ok
    assert lenient.erratum
    assert not agrees(4, gave("", 5, "jq: error: null cannot be negated"), [{"id": "x"}]).ok
    assert not agrees(3, JqRun(-9, stream(A).stdout, "", True, "libjq", "timed out"), RECORDS).ok


def test_case_is_judged_only_where_every_reader_agrees():
    records = [{"title": t} for t in ("STRASSE", "straße", "Straße", "KELVIN", "\u212aelvin", "x")]
    yes = records[1]
    assert agrees(3, stream(yes, records[2]), records, "straße").ok
    assert agrees(3, stream(*records[:3]), records, "straße").ok
    assert not agrees(3, stream(records[0], yes), records, "straße").ok
    assert agrees(3, stream(records[3]), records, "kelvin").ok
    assert agrees(3, stream(*records[3:5]), records, "kelvin").ok
    assert not agrees(3, stream(*records[3:]), records, "kelvin").ok


@pytest.mark.parametrize("literal", ["a.b", "(x", "[", "a|b", "^a", "a\\b"])
def test_a_pattern_is_plain_text(literal: str):
    with pytest.raises(ValueError, match="plain text"):
        evaluate(3, RECORDS, literal=literal)
    evaluate(6, RECORDS, literal=literal)


def test_a_line_that_is_no_object_is_an_erratum_for_every_recipe():
    lines: list[Any] = [A, ["an", "array"], "text", C]
    for number in range(1, 11):
        assert erratum(number, lines) == "record 2 of 4 is an array, but only objects have fields"
        assert not agrees(number, gave("", 5, "jq: error"), lines).ok


@pytest.mark.parametrize("number", [0, 11])
def test_an_edition_has_no_other_recipes(number: int):
    with pytest.raises(ValueError, match="lro-6400 has no recipe"):
        evaluate(number, RECORDS)


literal = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\\^$.|?*+()[]{}"), max_size=6)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(literal, st.sampled_from([2, 3, 6, 10]))
def test_a_probe_finds_what_it_is_given(libjq: JqRunner, literal: str, number: int):
    records: Sequence[dict[str, Any]] = [
        {"title": f"a{literal}b", "namespace": f"{literal}/x", "memory_type": literal, "content": literal.upper()},
        {"title": "other", "namespace": "other", "memory_type": "other", "content": "other"},
    ]
    probed = probe(parse_command(command(number)), number, literal)
    assert probed is not None
    found = agrees(number, libjq.run(probed, jsonl(HEADER, *records)), records, literal)
    assert found.ok, found


@pytest.mark.parametrize(
    "jq",
    [
        """'select(.title | test("word"; "i"))'""",
        """'select(.title | ascii_downcase | contains("word"))'""",
        """--arg q word 'select(.title | test($q; "i"))'""",
        """--argjson q '"word"' 'select(.title | test($q; "i"))'""",
        """'select(.title | test("(?i)word"))'""",
        """'.' | jq 'select(.title | test("word"; "i"))'""",
        """'select(."title" | test("word"; "ix"))'""",
    ],
)
def test_a_probe_replaces_what_the_author_put_there(libjq: JqRunner, jq: str):
    records = [{"title": "a one"}, {"title": "a word"}]
    probed = probe(parse_command(f"tail -n +2 /f | jq {jq}"), 3, "one")
    assert probed is not None
    assert agrees(3, libjq.run(probed, jsonl(HEADER, *records)), records, "one").ok


def test_a_probe_is_quoted_for_jq(libjq: JqRunner):
    literal = '"; "x") | env | ("\\\n$x \'é🧭'
    probed = probe(parse_command(command(2)), 2, literal)
    assert probed is not None
    records = [{"namespace": f"{literal}/a"}, {"namespace": "b"}]
    assert agrees(2, libjq.run(probed, jsonl(HEADER, *records)), records, literal).ok


def test_a_probe_finds_no_literal_where_there_is_none():
    assert probe(parse_command("jq 'select(.title)' /f"), 3, "x") is None
    with pytest.raises(ValueError, match="has no search text"):
        probe(parse_command("jq . /f"), 4, "x")


def test_texts_for_a_report_are_short_and_printable():
    records = [{**A, "id": "\x1b[31m\n" * 50, "title": "\0\u202e" * 100} for _ in range(50)]
    for number in range(1, 11):
        found = agrees(number, gave(b"\x1b[2J\xff" * 1000, 5, "\x07bad\n" * 100), records)
        for shown in (found.expected, found.observed):
            assert 0 < len(shown) <= 300
            assert shown.isprintable()
    assert agrees(2, stream(A), RECORDS).observed.startswith('1 value: {"id": "a"')
    assert agrees(2, stream(A), RECORDS).expected == "2 of 3 records: a, c"
    assert "exited 5; jq: error: x; no output" in agrees(2, gave("", 5, "jq: error: x"), RECORDS).observed
