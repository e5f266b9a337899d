"""The native recipes return the same results as jq and as the independent evaluation."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import jq
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lro_proxy.tools.casefold import finder
from lro_proxy.tools.recipes import RECIPES
from lro_reference.memory.demo import demo_memories
from lro_spec.editions import EDITIONS, StandardRecipe
from lro_spec.recipes.compare import agrees
from lro_spec.recipes.pipeline import parse_command
from lro_spec.recipes.runner import JqRun

STANDARD = [
    pytest.param(name, recipe, id=f"{name}-{recipe.number}-{recipe.effect}")
    for name, edition in EDITIONS.items()
    for recipe in edition.recipes
]
WORDS = {"namespace": "_semantic", "keyword": "THE", "type": "semantic", "tag": "data"}
ODD: list[Any] = [
    {"id": "1", "title": "the\ttab \\ and\nline", "namespace": "_semantic/a", "provenance": {"confidence": 1}},
    {"id": 2, "title": None, "namespace": None, "provenance": None, "content": None, "tags": None, "entities": None},
    {"id": "3", "title": "The title", "namespace": "_semantic", "provenance": {"confidence": -0.25}, "entities": [1]},
    {"id": "4", "title": "The ſame", "namespace": "x", "provenance": {"confidence": 1}, "tags": ["data"]},
    {},
]


def opened(records: list[Any]) -> BinaryIO:
    file = tempfile.TemporaryFile("w+b", buffering=1 << 16)  # noqa: SIM115
    file.write(b'{"type":"lro_header"}\n' + b"".join(orjson.dumps(record) + b"\n" for record in records))
    file.flush()
    return file


def answer(effect: str, records: list[Any], word: str | None = None, most: int | None = None) -> list[bytes]:
    recipe = RECIPES[effect]
    with opened(records) as file:
        return list(recipe.rows(file, recipe.default if word is None else word, most or recipe.most))


@pytest.fixture(scope="module")
def demo() -> list[Any]:
    return [{**memory, "confidence": memory["provenance"]["confidence"]} for memory in list(demo_memories())[:120]]


@pytest.mark.parametrize(("edition", "recipe"), STANDARD)
def test_a_recipe_gives_what_jq_gives(edition: str, recipe: StandardRecipe, demo: list[Any]) -> None:
    known = RECIPES[recipe.effect]
    word = WORDS.get(known.word, "")
    call = parse_command(recipe.command.replace("{file}", "/f")).jq
    program = call.program.replace(json.dumps(known.default), json.dumps(word)) if known.word else call.program
    given_ = demo if call.slurp else "\n".join(json.dumps(record) for record in demo)
    compiled = jq.compile(program)
    theirs = (compiled.input_value(given_) if call.slurp else compiled.input_text(given_)).all()
    mine = answer(recipe.effect, demo, word)
    if call.raw:
        assert [row.decode() for row in mine] == theirs
    elif known.array:
        assert [[orjson.loads(row) for row in mine]] == theirs
    else:
        assert [orjson.loads(row) for row in mine] == theirs
    assert mine


@pytest.mark.parametrize(("edition", "recipe"), STANDARD)
def test_records_without_the_field_stop_nothing(edition: str, recipe: StandardRecipe) -> None:
    """If jq would end with an error, the results equal those of the independent evaluation."""
    known = RECIPES[recipe.effect]
    rows = answer(recipe.effect, ODD)
    raw = recipe.effect.endswith("-table")
    values = [row.decode() for row in rows] if raw else [orjson.loads(row) for row in rows]
    output = "\n".join(values) if raw else json.dumps(values) if known.array else "\n".join(map(json.dumps, values))
    run = JqRun(0, output.encode(), "", timed_out=False, engine="native")
    assert agrees(recipe.number, run, ODD, edition=edition, detail=recipe.details[-1]).ok


def test_a_selected_record_is_the_line_that_came() -> None:
    line = b'{"namespace": "_semantic",  "n": 1.10, "big": 12345678901234567890123}'
    file = io.BytesIO(b"{}\n" + line + b"\n")
    assert list(RECIPES["namespace-prefix"].rows(file, "_sem", None)) == [line]


@pytest.mark.parametrize("digits", ["12345678901234567890123", "0.12345678901234567890", "1.50"])
def test_a_number_that_is_shown_keeps_its_digits(digits: str) -> None:
    file = io.BytesIO(
        b'{}\n{"id":%b,"title":"t","provenance":{"confidence":%b}}\n' % (digits.encode(), digits.encode())
    )
    assert list(RECIPES["identity-projection"].rows(file, "", None)) == [
        b'{"id":%b,"title":"t","namespace":null}' % digits.encode()
    ]
    assert list(RECIPES["title-confidence-table"].rows(file, "", None)) == [b"t\t" + digits.encode()]


ROWS = {
    '{"title":"a","provenance":{"confidence":1.10}}': "a\t1.10",
    '{"title":"said \\"a\\tb\\" \\\\","provenance":{"confidence":"0.5"}}': 'said "a\\tb" \\\\\t0.5',
    '{"title":"not null, [a] {b} 改","provenance":{"confidence":null}}': "not null, [a] {b} 改\t",
    '{"title":null,"provenance":null}': "\t",
    '{"title":"","provenance":[1]}': "\t",
    '{"title":5,"provenance":{"confidence":true}}': "5\ttrue",
    '{"provenance":{}}': "\t",
}


def test_rows_of_a_table_are_cells_whatever_is_in_them() -> None:
    file = io.BytesIO("\n".join(["{}", *ROWS]).encode() + b'\n{"title":"\xff","provenance":{"confidence":1}}\n')
    assert list(RECIPES["title-confidence-table"].rows(file, "", None)) == [*map(str.encode, ROWS.values()), b"\t"]


@pytest.mark.parametrize("effect", RECIPES)
def test_n_is_the_beginning_of_the_whole_answer(effect: str, demo: list[Any]) -> None:
    word = WORDS.get(RECIPES[effect].word, "")
    assert answer(effect, demo, word, 3) == answer(effect, demo, word, 1000)[:3]


def test_lines_that_are_no_records_are_passed_over_or_empty() -> None:
    def rows(effect: str) -> Iterator[bytes]:
        return RECIPES[effect].rows(io.BytesIO(b'{}\n[1]\n7\nnot json\n{"id":"a","title":"\\ud800"}\n'), "", None)

    assert list(rows("namespace-prefix")) == []
    assert list(rows("namespaces")) == [b"null"]
    assert len(list(rows("title-confidence-table"))) == 4


CASES = st.text(st.sampled_from("aAsSkKiIßſKİıﬁéÉσςΣ日.+ x"), min_size=1, max_size=6)


@settings(max_examples=60)
@given(word=CASES, text=CASES)
def test_a_word_is_found_whatever_the_case_just_as_jq_finds_it(word: str, text: str) -> None:
    pattern = "".join(f"\\{c}" if c in ".+" else c for c in word)
    expected = jq.compile('test($p; "i")', args={"p": pattern}).input_value(text).first()
    assert finder(word)(text) == expected


def test_only_what_is_kept_is_in_memory(tmp_path: Path) -> None:
    """Fifty times the lines, and no more memory: neither to select, to show, to count nor to take the top."""
    import tracemalloc

    def peak(lines: int, effect: str) -> int:
        path = tmp_path / str(lines)
        record = orjson.dumps({"id": "i", "title": "t", "namespace": "_semantic", "content": "x" * 2000})
        path.write_bytes(b"{}\n" + (record + b"\n") * lines)
        with path.open("rb") as file:
            tracemalloc.start()
            for _ in RECIPES[effect].rows(file, "", 10 if "top" in effect else None):
                pass
            found = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        return found

    for effect in ("namespace-prefix", "identity-projection", "count-by-namespace"):
        assert peak(1000, effect) < peak(20, effect) + 100_000
    assert peak(1000, "top-by-confidence") < peak(20, "top-by-confidence") + 400_000
