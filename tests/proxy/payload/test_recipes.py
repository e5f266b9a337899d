"""Recipes for any records: they are for the fields that are there, they run, and their output has a bound."""

from __future__ import annotations

import csv
import importlib
import io
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from ulid import ULID

from lro_proxy import Interceptor
from lro_proxy.payload import guide, recipes
from lro_proxy.payload.descriptor_form import MAX_TOKENS_BY_FORM
from lro_proxy.payload.result import result_of_program
from lro_reference.settings import Settings
from lro_reference.writer import encode
from lro_spec.editions import EDITIONS
from lro_spec.messages import JqRecipe, OffloadResponse
from lro_spec.recipes.pipeline import parse_command
from lro_spec.recipes.runner import JqRunner
from lro_spec.tokens import script_aware_estimate
from lro_spec.validation import validate_descriptor
from tests.support.captures import CAPTURES, Capture
from tests.support.payloads import ROWS, TEXTS, VALUES

JQ = shutil.which("jq")
BASE64 = "QUJDRA" * 400


def offloaded(folder: Path, value: Any, threshold: int = 0, form: Any = "full") -> dict[str, Any]:
    """The descriptor of a value, or of a text."""
    lro = Interceptor(Settings(threshold_tokens=threshold, output_dir=str(folder)), emit=lambda event: None, form=form)
    result = {"content": [{"type": "text", "text": value}]} if isinstance(value, str) else {"structuredContent": value}
    answer = lro.offload(result_of_program(result), tool="probe")
    assert answer is not None
    return json.loads(
        encode(answer["structuredContent"]) if "structuredContent" in answer else answer["content"][0]["text"]
    )


def outputs(runner: JqRunner, descriptor: dict[str, Any], word: str | None = None) -> dict[str, str]:
    """The output of each recipe on the whole file by its description; *word* replaces the one that it looks for."""
    data = Path(descriptor["file_path"]).read_bytes()
    made: dict[str, str] = {}
    for recipe in descriptor["jq_recipes"]:
        command = recipe["command"] if word is None else recipe["command"].replace('"word"', json.dumps(word))
        command = command if word is None else command.replace("80}word.", "80}.")
        done = runner.run(parse_command(command), data)
        assert done.ok, (command, done.stderr)
        made[recipe["description"]] = done.stdout.decode()
    return made


def bounded(runner: JqRunner, descriptor: dict[str, Any], threshold: int) -> None:
    """Every recipe returns no more than its bound, also if each record has the word."""
    most = max(1000, threshold // 5)
    for word in (None, ""):
        for description, output in outputs(runner, descriptor, word).items():
            assert script_aware_estimate(output) <= most, description


@pytest.fixture(scope="module", params=["libjq", *(["jq"] if JQ else [])])
def runner(request: pytest.FixtureRequest) -> Any:
    with JqRunner(JQ if request.param == "jq" else None) as engine:
        yield engine


@pytest.fixture(scope="module")
def libjq() -> Any:
    with JqRunner(None) as engine:
        yield engine


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recipes")


@pytest.fixture(scope="module", autouse=True)
def every_recipe() -> Iterator[None]:
    """Descriptors have room for all recipes, so that each is tried."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guide, "MAX_TOKENS_BY_FORM", {**MAX_TOKENS_BY_FORM, "full": 5000})
        yield


@pytest.fixture
def usual_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Descriptors have the room that they have for a client."""
    monkeypatch.setattr(guide, "MAX_TOKENS_BY_FORM", MAX_TOKENS_BY_FORM)


# --- bounds


@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_no_recipe_of_a_captured_result_exceeds_its_bound(libjq: JqRunner, tmp_path: Path, capture: Capture) -> None:
    bounded(libjq, capture.descriptor(tmp_path), 0)


LONG = st.text(st.characters(codec="utf-8"), min_size=100, max_size=300).map(lambda text: text * 20)
"""Texts of some thousand characters, of any script."""


@hypothesis_settings(max_examples=25, deadline=None)
@given(
    value=st.one_of(
        ROWS,
        st.lists(st.dictionaries(st.sampled_from(["id", "name", "n"]), LONG | VALUES), min_size=1, max_size=4).map(
            lambda rows: rows * 15
        ),
        st.dictionaries(TEXTS, LONG | VALUES, min_size=1, max_size=4),
        st.lists(LONG | VALUES, min_size=1, max_size=6),
        LONG,
    )
)
def test_no_recipe_of_any_result_exceeds_its_bound(libjq: JqRunner, folder: Path, value: Any) -> None:
    value = json.loads(json.dumps(value, default=float))
    bounded(libjq, offloaded(folder, value if value else "x"), 0)


FEW = st.integers(0, 99) | st.sampled_from(["open", "closed", "draft"]) | st.none()
TAILS = st.one_of(
    VALUES,
    LONG,
    st.integers(0, 10**9).map(lambda n: f"group {n}"),
    st.dictionaries(TEXTS, LONG | VALUES, min_size=1, max_size=3),
    st.lists(LONG | VALUES, min_size=1, max_size=3),
)
"""Values unlike those that the first records have."""


@hypothesis_settings(max_examples=25, deadline=None)
@given(
    data=st.data(),
    names=st.lists(st.sampled_from(["id", "title", "state", "score", "in", "x y"]), min_size=1, unique=True),
)
def test_no_recipe_exceeds_its_bound_if_later_records_are_unlike_the_first(
    libjq: JqRunner, folder: Path, data: st.DataObject, names: list[str]
) -> None:
    first = data.draw(st.lists(st.fixed_dictionaries(dict.fromkeys(names, FEW)), min_size=2, max_size=5))
    later = data.draw(st.lists(st.fixed_dictionaries(dict.fromkeys(names, TAILS)), min_size=1, max_size=5))
    rows = [*first * 50, *later * data.draw(st.sampled_from([1, 24]))]
    numbered = [{**row, "id": f"{n}"} for n, row in enumerate(rows)] if data.draw(st.booleans()) else rows
    bounded(libjq, offloaded(folder, json.loads(json.dumps(numbered, default=float))), 0)


@hypothesis_settings(max_examples=30, deadline=None)
@given(
    first=st.lists(st.text("ab #:,\t", max_size=40), min_size=1, max_size=5),
    later=st.lists(LONG | st.text(max_size=40), min_size=1, max_size=4),
    times=st.sampled_from([1, 10, 200]),
)
@example(first=["a"], later=["b " * 100_000], times=1)  # the parts of a line have its number
def test_no_recipe_exceeds_its_bound_if_later_lines_are_unlike_the_first(
    libjq: JqRunner, folder: Path, first: list[str], later: list[str], times: int
) -> None:
    lines = [*(first * 100)[:119], *later * times]
    bounded(libjq, offloaded(folder, "\n".join(line.replace("\n", " ") for line in lines) + "\n"), 0)


def test_no_recipe_exceeds_its_bound_if_each_later_record_is_a_group(runner: JqRunner, folder: Path) -> None:
    few = [{"id": n, "state": ("open", "closed")[n % 2], "score": n} for n in range(1000)]
    many = [{"id": n, "state": f"state {n} " + "x" * 5000, "score": 10**15 + n} for n in range(1000, 1300)]
    bounded(runner, offloaded(folder, {"rows": few + many}), 0)


@pytest.mark.parametrize("text", ["字" * 100, "😀" * 100, "é" * 100, "\x01" * 100, "a" * 4000], ids=repr)
@pytest.mark.parametrize("place", ["all", "last"])
def test_a_bound_holds_where_a_token_has_few_characters(libjq: JqRunner, folder: Path, text: str, place: str) -> None:
    rows = [{"id": n, "title": text if place == "all" else "short", "kind": "ab"[n % 2]} for n in range(200)]
    rows[100:] = [{**row, "title": text} for row in rows[100:]]
    bounded(libjq, offloaded(folder, {"rows": rows}), 0)


def test_recipes_and_preview_show_no_base64(runner: JqRunner, folder: Path) -> None:
    rows = [{"id": n, "name": f"file {n}", "data": BASE64, "in": {"data": BASE64}} for n in range(30)]
    descriptor = offloaded(folder, {"rows": rows})
    shown = [*outputs(runner, descriptor).values(), *outputs(runner, descriptor, "").values(), json.dumps(descriptor)]
    assert not [text for text in shown if BASE64[:100] in text]
    assert any("(2400 characters)" in text for text in shown)


def test_descriptions_tell_about_how_much_comes_out(runner: JqRunner, folder: Path) -> None:
    rows = [{"id": n, "title": f"title {n}", "state": "ab"[n % 2], "score": n / 7} for n in range(300)]
    for description, output in outputs(runner, offloaded(folder, {"rows": rows}), "").items():
        told = re.search(r"\((about|up to) (\d+) tokens\)$", description)
        assert told is not None
        assert script_aware_estimate(output) / 2 <= int(told[2]) + 10
        assert int(told[2]) <= 2 * script_aware_estimate(output) + 10


# --- fields


def recipe(descriptor: dict[str, Any], beginning: str) -> JqRecipe:
    response = OffloadResponse.from_dict(descriptor)
    return next(one for one in response.jq_recipes if one.description.startswith(beginning))


def run(runner: JqRunner, descriptor: dict[str, Any], beginning: str) -> str:
    command = recipe(descriptor, beginning).command
    return runner.run(parse_command(command), Path(descriptor["file_path"]).read_bytes()).stdout.decode()


def test_recipes_are_for_the_fields_that_are_there(runner: JqRunner, folder: Path) -> None:
    rows = [
        {"id": n, "a b": "it's \\(env)", "status": ["open", "done", 'o"dd'][n % 3], "price": n, "and": "x"}
        for n in range(90)
    ]
    descriptor = offloaded(folder, {"rows": rows})
    assert descriptor["summary"]["top_namespaces"] == ["open", "done", 'o"dd']
    assert run(runner, descriptor, "How many of each status") == '30\tdone\n30\to"dd\n30\topen\n'
    assert run(runner, descriptor, "The 10 records with the highest price").startswith("89\t")
    assert json.loads(run(runner, descriptor, "One record in full, by id")) == rows[0]


def test_numbers_in_a_table_are_numbers_to_sort_by(runner: JqRunner, folder: Path) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([("id", "country", "balance", "zip")])
    csv.writer(text).writerows((n, ["DE", "FR"][n % 2], f"{n * 1.5:.2f}" if n else "", f"0{n:04d}") for n in range(90))
    descriptor = offloaded(folder, text.getvalue())
    assert run(runner, descriptor, "The 10 records with the highest balance").startswith("89\tFR\t133.5")
    assert "zip" not in " ".join(one["description"].partition(":")[0] for one in descriptor["jq_recipes"])


def test_fields_within_an_object_have_recipes(runner: JqRunner, folder: Path) -> None:
    rows = [{"number": n, "user": {"login": ["ann", "bob"][n % 2], "id": n}, "body": "x" * 500} for n in range(60)]
    rows[7]["user"] = None
    descriptor = offloaded(folder, {"rows": rows})
    assert "user.login" in recipe(descriptor, "Records with a word").description
    assert run(runner, descriptor, "How many of each user.login").startswith("30\tann\n")
    assert descriptor["line_schema"]["properties"]["user"]["properties"] == {"login": {}, "id": {}}


def test_groups_are_those_of_a_field_with_few_short_values(folder: Path) -> None:
    notes, countries = ["", "VIP, since 2020", 'said "hi"'], ["DE", "FR", "IT", "US"]
    rows = [{"id": n, "notes": notes[n % 3], "country": countries[n % 4]} for n in range(120)]
    assert offloaded(folder, {"rows": rows})["summary"]["top_namespaces"] == countries


def test_a_field_that_all_records_share_is_no_recipe(folder: Path) -> None:
    rows = [{"id": n, "labels": ["a"], "type": "issue", "title": f"t {n}"} for n in range(90)]
    descriptor = offloaded(folder, {"rows": rows})
    assert "labels" not in json.dumps(descriptor["jq_recipes"])
    assert "type" not in json.dumps(descriptor["jq_recipes"])


def test_a_long_line_is_read_in_parts_and_around_a_word(runner: JqRunner, folder: Path) -> None:
    descriptor = offloaded(folder, "".join(f"<p>part {n}</p>" for n in range(3000)))
    found = next(o for d, o in outputs(runner, descriptor, "").items() if d.startswith("Text around a word"))
    assert len(found.splitlines()) == 20
    assert run(runner, descriptor, "Line 1, part 1").startswith("<p>part 0</p>")
    assert "part" in descriptor["line_schema"]["properties"]


def test_one_of_something_is_called_so(folder: Path) -> None:
    assert "1 line of text (~" in offloaded(folder, "x" * 3000)["guidance"]
    assert "1 record (~" in offloaded(folder, {"rows": [{"id": 1, "text": "x" * 3000}]})["guidance"]


def test_lines_with_a_word_are_found_within_long_texts(runner: JqRunner, folder: Path) -> None:
    rows = [{"path": f"f{n}.py", "text": "".join(f"line {i} of {n}\n" for i in range(50))} for n in range(20)]
    descriptor = offloaded(folder, {"rows": rows})
    found = next(o for d, o in outputs(runner, descriptor, "line 7 of 3").items() if d.startswith("Lines of text"))
    assert found == "f3.py\tline 7 of 3\n"


def test_the_headings_of_a_text_have_a_recipe(runner: JqRunner, folder: Path) -> None:
    descriptor = offloaded(folder, "".join(f"## Part {n}\n\nwords and words\n" for n in range(90)))
    assert run(runner, descriptor, "Headings and definitions").startswith("1: ## Part 0\n4: ## Part 1\n")


def test_each_command_has_the_path_once_and_stands_alone(folder: Path) -> None:
    descriptor = offloaded(folder / "a b'c $x", {"rows": [{"id": n, "state": "ab"[n % 2]} for n in range(90)]})
    for one in descriptor["jq_recipes"]:
        assert parse_command(one["command"]).path == descriptor["file_path"]
        done = subprocess.run(["sh", "-c", one["command"]], capture_output=True, timeout=20, check=False)
        assert (done.returncode, done.stderr) == (0, b"") if JQ else True


def test_recipes_have_run_on_all_records_of_a_small_file(libjq: JqRunner, folder: Path) -> None:
    rows = [{"id": n, "state": "open" if n < 90 else f"state {n % 12}", "size": n**4} for n in range(180)]
    descriptor = offloaded(folder, rows)
    assert descriptor["size"] < 1 << 16
    exact = 0
    for description, output in outputs(libjq, descriptor).items():
        found = re.search(r"\(about (\d+) tokens\)", description)
        if found is not None:
            tokens = script_aware_estimate(output)
            assert tokens <= int(found[1]) <= tokens + max(10, tokens // 10), description
            exact += 1
    assert exact >= 2


def test_a_recipe_that_stops_at_any_record_of_a_small_file_is_not_offered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draft(*_: object) -> list[Any]:
        return [recipes._Draft(f"{size}", "-r", f"if .id == {size - 1} then error else .id end") for size in (70, 500)]

    monkeypatch.setattr(recipes, "_for_records", draft)
    offered = offloaded(folder, [{"id": n} for n in range(90)])["jq_recipes"]
    assert [one["description"].partition(" ")[0] for one in offered] == ["500"]


def test_results_of_one_tool_share_the_program_that_tries_their_recipes(folder: Path) -> None:
    recipes._compiled.cache_clear()
    for start in (0, 1001):
        offloaded(folder, [{"id": n, "state": "ab"[n % 2], "size": n} for n in range(start, start + 90)])
    assert recipes._compiled.cache_info().hits == recipes._compiled.cache_info().misses >= 1


# --- forms


@pytest.mark.parametrize("form", ["full", "compact"])
def test_a_descriptor_of_any_form_that_may_be_valid_is(folder: Path, form: str) -> None:
    for value in ({"rows": [{"id": n, "state": "ab"[n % 2]} for n in range(90)]}, "a line\n" * 500):
        findings = list(validate_descriptor(offloaded(folder, value, form=form)))
        assert [finding for finding in findings if finding.severity == "error"] == []


@pytest.mark.parametrize("form", ["full", "compact"])
@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_descriptors_of_captured_results_are_valid_by_every_edition(
    tmp_path: Path, capture: Capture, form: str
) -> None:
    descriptor = capture.descriptor(tmp_path, form=form)
    for edition in EDITIONS:
        findings = list(validate_descriptor(descriptor, edition=edition))
        assert [finding for finding in findings if finding.severity == "error"] == [], edition


def test_a_pointer_has_a_path_and_a_sentence(folder: Path) -> None:
    descriptor = offloaded(folder, "a line\n" * 500, form="pointer")
    assert list(descriptor) == ["offloaded", "file_path", "guidance"]
    assert descriptor["guidance"] == "500 lines of text (~875 tokens), JSON lines from line 2."
    missing = {f.pointer for f in validate_descriptor(descriptor) if f.severity == "error"}
    assert missing == {"/summary", "/line_schema", "/jq_recipes"}


@pytest.mark.skipif(not CAPTURES, reason="there are no captures")
@pytest.mark.usefixtures("usual_sizes")
@pytest.mark.parametrize(("form", "most"), [("full", 600), ("compact", 250), ("pointer", 60)])
def test_descriptors_of_captured_results_are_small(form: str, most: int) -> None:
    with TemporaryDirectory(prefix="lro") as folder:
        texts = [capture.answer(Path(folder), form=form)["content"][0]["text"] for capture in CAPTURES]
    texts = [text.replace(folder, "/tmp") for text in texts]  # the usual folder
    assert sum(map(script_aware_estimate, texts)) / len(texts) <= most


@pytest.mark.skipif(not CAPTURES, reason="there are no captures")
@pytest.mark.usefixtures("usual_sizes")
@pytest.mark.parametrize(("form", "most"), [("full", 600), ("compact", 250), ("pointer", 60)])
def test_descriptors_are_small_by_a_real_tokenizer(form: str, most: int) -> None:
    pytest.importorskip("bpe_openai", reason="the extra bench is not installed")
    tokens = importlib.import_module("lro_bench.tokens")
    with TemporaryDirectory(prefix="lro") as folder:
        texts = [capture.answer(Path(folder), form=form)["content"][0]["text"] for capture in CAPTURES]
    # How many tokens a ULID has depends on its time, which all files of a moment share: each gets one of any time.
    random = Random(0)

    def some_ulid(_: re.Match[str]) -> str:
        return str(ULID.from_timestamp(random.uniform(1.76e9, 2e9)))

    texts = [re.sub(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b", some_ulid, text.replace(folder, "/tmp")) for text in texts]
    assert sum(map(tokens.count, texts)) / len(texts) <= most


def test_a_full_descriptor_has_the_size_and_digest_of_its_file(folder: Path) -> None:
    import hashlib

    descriptor = offloaded(folder, {"rows": [{"id": n, "name": "字" * n} for n in range(300)]})
    data = Path(descriptor["file_path"]).read_bytes()
    assert (descriptor["size"], descriptor["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())


@hypothesis_settings(max_examples=10, deadline=None)
@given(value=st.one_of(ROWS, st.lists(LONG | VALUES, min_size=1, max_size=9), LONG))
def test_a_preview_shows_the_beginning_and_is_small(folder: Path, value: Any) -> None:
    value = json.loads(json.dumps(value, default=float))
    descriptor = offloaded(folder, value if value else "x")
    shown = descriptor.get("preview", [])
    assert script_aware_estimate(json.dumps(shown, ensure_ascii=False)) <= 300
    assert len(shown) <= max(1, descriptor["summary"]["count"] // 4)
