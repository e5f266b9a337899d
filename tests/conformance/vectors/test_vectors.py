"""The vectors are what their generator writes, differ from each other, and cover what can be judged from data."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter

import pytest
from jsonschema import Draft202012Validator

from lro_conformance.vectors.answers import answer
from lro_conformance.vectors.export import archive, contents
from lro_conformance.vectors.match import mismatch
from lro_conformance.vectors.model import INDEX, digest_of, load
from lro_spec.catalogue import wordings_by_edition
from lro_spec.editions import EDITIONS
from lro_spec.schema.bundled import json_schema
from tests.tools.vectors.__main__ import FOLDER, IDS, VERSION, texts
from tests.tools.vectors.coverage import NOT_COVERED, musts, uncovered

CORPUS = load()
VECTORS = CORPUS.vectors
README = (FOLDER / "README.md").read_text(encoding="utf-8")
IN_FILES = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.json"))}


@pytest.mark.timeout(400)
def test_files_are_those_of_the_generator() -> None:
    """It writes nothing that the suite's own rules contradict, so every expected answer is the suite's."""
    made = texts()
    assert {name: made.get(name) == text for name, text in IN_FILES.items()} == dict.fromkeys(IN_FILES, True)
    assert made.keys() == IN_FILES.keys(), "python -m tests.tools.vectors writes them"


@pytest.mark.parametrize("name", [name for name in IN_FILES if name != INDEX])
def test_files_satisfy_their_schema(name: str) -> None:
    Draft202012Validator(json_schema("vectors")).validate(json.loads(IN_FILES[name]))


def test_there_are_enough() -> None:
    assert len(VECTORS) >= 600


def test_no_two_ask_the_same() -> None:
    asked = Counter(json.dumps([v.kind, v.editions[0], v.input], sort_keys=True) for v in VECTORS)
    assert [text for text, times in asked.items() if times > 1] == []


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_must_that_can_be_judged_from_data_has_both_verdicts(edition: str) -> None:
    assert sorted(uncovered(VECTORS, edition)) == sorted(NOT_COVERED.keys() & set(musts(edition)))


def test_every_exclusion_is_a_must_of_some_edition() -> None:
    assert NOT_COVERED.keys() - {id for edition in EDITIONS for id in musts(edition)} == set()


def test_exclusions_have_reasons_and_are_in_the_index() -> None:
    assert json.loads(IN_FILES[INDEX])["not_covered"] == NOT_COVERED == CORPUS.not_covered
    assert [id for id, why in NOT_COVERED.items() if len(why.split()) < 6] == []


def test_known_mistakes_are_refused() -> None:
    known = [v for v in VECTORS if v.mistake is not None]
    assert len(known) > 150
    assert [v.id for v in known if v.mistake is not None and mismatch(v.expect, v.mistake["answer"]) is None] == []


def test_every_vector_names_requirements_of_its_editions() -> None:
    assert [
        v.id for v in VECTORS for id in v.requirements if not set(v.editions) <= wordings_by_edition(id).keys()
    ] == []
    assert [v.id for v in VECTORS if not set(v.broken) <= set(v.requirements)] == []


def test_reasons_are_sentences() -> None:
    assert [v.id for v in VECTORS if not re.search(r"[.:]$", v.why) or len(v.why.split()) < 3] == []


def test_truncated_results_are_as_long_as_possible() -> None:
    """The highest number of records that a fallback may return is the one that the heuristic gives."""
    for v in (v for v in VECTORS if v.kind == "fallback"):
        (counts,) = (rule["is"] for rule in v.expect if rule["at"] == "/records")
        assert answer("fallback", v.input, "lro-6400") == {
            **answer("fallback", v.input, "lro-6400"),
            "records": max(counts),
        }, v.id  # type: ignore[dict-item]


# Stability


def test_ids_are_those_of_the_list() -> None:
    """An id that was published is never removed from the list: `python -m tests.tools.vectors` adds new ones."""
    listed = IDS.read_text(encoding="utf-8").split()
    assert len(listed) == len(set(listed))
    assert sorted(v.id for v in VECTORS) == sorted(listed)


def test_version_is_that_of_the_changelog() -> None:
    text = (FOLDER / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.findall(r"^## (\d+\.\d+\.\d+)$", text, re.MULTILINE)[0]
    assert CORPUS.version == VERSION == newest
    assert str(len(VECTORS)) in text.partition(f"## {newest}")[2].partition("## ")[0]


def test_digest_is_that_of_the_files() -> None:
    files = {name: text for name, text in IN_FILES.items() if name != INDEX}
    assert CORPUS.digest == digest_of(files)
    listed = {one["name"]: one["sha256"] for one in json.loads(IN_FILES[INDEX])["files"]}
    assert listed == {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}


def test_lengths_of_runners_are_as_documented() -> None:
    shown = re.search(r"node:test, (\d+) lines\), pytest \((\d+)\), Rust \((\d+)\)\sand Go \((\d+)\)", README)
    names = ("typescript/vectors.test.ts", "pytest/test_vectors.py", "rust/tests/vectors.rs", "go/vectors_test.go")
    lengths = [len((FOLDER / "runners" / name).read_text(encoding="utf-8").splitlines()) for name in names]
    assert shown is not None
    assert list(map(int, shown.groups())) == lengths


def test_the_format_is_documented_with_every_field_of_every_kind() -> None:
    table = README.partition("### Fields")[2].partition("## Rules")[0]
    rows = [line for line in (README.partition("## Kinds")[2]).splitlines() if line.startswith("|")]
    for v in VECTORS:
        about = "".join(
            row for row in rows if f"`{v.kind}`" in row.split("|")[1] or row.split("|")[1].strip() in ("", "all")
        )
        assert [name for name in v.input if f"`{name}`" not in about] == [], v.id
        settings = v.input.get("settings", {})
        assert [name for name in settings if f"`{name}`" not in table] == [], v.id


def test_numbers_of_vectors_are_as_documented() -> None:
    editions = json.loads(IN_FILES[INDEX])["editions"]
    assert {e: sum(e in v.editions for v in VECTORS) for e in editions} == editions
    text = " ".join(README.split())
    by_edition = [f"{n} are of `{e}`" if e == "lro-6400" else f"{n} of `{e}`" for e, n in editions.items()]
    assert [
        words for words in (f"All editions together have {len(VECTORS)} vectors:", *by_edition) if words not in text
    ] == []


def test_every_chapter_has_a_link_in_the_documents() -> None:
    assert [name for name in CORPUS.chapters if f"[{name}]({name}.json)" not in README] == []


def test_size_is_that_of_a_wheel_without_an_extra() -> None:
    """A wheel is compressed: its size is about that of the archive."""
    assert len(archive(CORPUS)) < 500_000
    assert sum(map(len, contents(CORPUS).values())) < 2 * 1024 * 1024
