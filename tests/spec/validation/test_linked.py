"""A descriptor with its file: each untruth is found under its requirement, and nothing else is accused."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from lro_spec.schema import checker
from lro_spec.validation import linked, validate_descriptor
from lro_spec.validation.linked import follow
from tests.support.offloads import (
    NAME,
    Change,
    header,
    made,
    recipe,
    rules,
    schema,
    summary,
)


def test_a_true_descriptor_has_no_findings(tmp_path: Path):
    assert list(follow(made(tmp_path))) == []


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (summary(count=23), "LRO-DESC-03"),
        (summary(operation="search"), "LRO-DESC-05"),
        (summary(detail="medium"), "LRO-DESC-08"),
        (summary(estimated_tokens=100_000), "LRO-DESC-04"),
        (summary(top_namespaces=["_procedural/c"]), "LRO-DESC-06"),
        (summary(top_namespaces=["_semantic/a", "_other"]), "LRO-DESC-06"),
        (summary(top_namespaces=[]), "LRO-DESC-06"),
        (summary(score_range=[0.0, 1.0]), "LRO-DESC-07"),
        (header(count=25), "LRO-FILE-06"),
        (header(timestamp="2026-03-02T11:30:00Z"), "LRO-NAME-03"),
        (schema(required=["id", "name"]), "LRO-DESC-09"),
        (schema(properties={"id": {"type": "integer"}}), "LRO-DESC-09"),
        (schema(properties={"id": {"pattern": "^n"}}), "LRO-DESC-09"),
        (schema(properties={"id": {"pattern": "^(?!m)"}}), "LRO-DESC-09"),
        (schema(properties={"id": {"$ref": "urn:example:id"}}), "LRO-DESC-09"),
        (schema(required=[], properties={"uid": {}}), "LRO-DESC-10"),
        (recipe(1, "jq -r '[.title] | @tsv'"), "LRO-REC-01"),
        (recipe(2, "jq 'select(.namespace | endswith(\"a\"))'"), "LRO-REC-02"),
        (recipe(3, 'jq \'select(.title | test("*"; "i"))\''), "LRO-REC-03"),
        (recipe(10, 'jq \'select(.content | test("back\\slash"; "i"))\''), "LRO-REC-10"),
        (recipe(5, "jq '{id}'"), "LRO-REC-05"),
        (recipe(8, "jq -s length"), "LRO-REC-08"),
        (recipe(5, "jq '{id, title, namespace}'", "cat {path}"), "LRO-REC-12"),
        (recipe(5, "jq '{id, title, namespace}'; rm -rf x"), "LRO-REC-13"),
        (recipe(5, "jq -f /etc/passwd"), "LRO-REC-13"),
        (recipe(5, "jq '{id, title, namespace}'", "tail -n +2 /other.jsonl"), "LRO-REC-11"),
    ],
)
def test_each_untruth_is_found_under_its_requirement_alone(tmp_path: Path, change: Change, rule: str):
    assert rules(list(follow(made(tmp_path, change)))) == {rule}


@pytest.mark.parametrize(
    "invalid",
    [{"provenance": "0.3"}, {"tags": "x"}, {"namespace": 3}, {"title": ["t"]}, {"id": None}, {"content": {}}, {}],
)
def test_what_follows_from_an_invalid_record_is_not_found_beside_it(tmp_path: Path, invalid: dict[str, Any]):
    """The line schema refuses it, and recipes fail on it; the specification's own commands do, too."""

    def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        lines[7] = {**lines[7], **invalid} if invalid else {k: v for k, v in lines[7].items() if k != "id"}

    found = list(follow(made(tmp_path, change)))
    assert [(f.rule, f.severity) for f in found] == [("LRO-FILE-11", "error")]


def test_records_are_not_blamed_where_header_and_summary_do_not_agree_on_their_level(tmp_path: Path):
    assert rules(list(follow(made(tmp_path, header(detail="light"))))) == {"LRO-DESC-08"}


def test_a_wrong_path_is_not_taken_for_an_unquoted_one(tmp_path: Path):
    change = recipe(5, "jq '{id, title, namespace}'", "tail -n +2 '{path}.old'")
    (finding,) = follow(made(tmp_path, change))
    assert (finding.rule, finding.hint) == ("LRO-REC-11", "let the command read the descriptor's own file_path")


def guidance(text: str) -> Change:
    return lambda descriptor, lines: descriptor.update(guidance=text.format(**descriptor["summary"], **descriptor))


@pytest.mark.parametrize(
    ("said", "observed"),
    [
        ("{count} memories, ~{estimated_tokens} tokens, in {file_path}. Detail level: full. See recipe #10.", None),
        ("About 24 records (see `{file_path}`), recipe #4 (most confident first).", None),
        ("77 memories are in {file_path}.", "count: guidance says 77, descriptor and file 24"),
        ("240 articles were offloaded to {file_path}.", "count: guidance says 240, descriptor and file 24"),
        ("1,234,567 tokens are in {file_path}.", "tokens: guidance says 1234567, descriptor and file "),
        ("9" * 3900 + " records are in the file", "count: guidance says 999"),
        ("24 records are in /tmp/else.json.", 'path: guidance says "/tmp/else.json", the descriptor '),
        ("{file_path}, detail: light", "detail level: guidance says light, the descriptor full"),
        ("{file_path}, recipe #80", "recipe #80: the descriptor has 10"),
        ("{file_path}; the recipes pick out parts: #1 lists titles, #18 counts", "recipe #18: the descriptor has 10"),
        ("{file_path}. Recipes:\n- #3 (titles, keyword)\n- #44 (counts)", "recipe #44: the descriptor has 10"),
        ("{file_path} has what `bug #99` found. See #55, and recipes #2 and #3.", None),
        ("{file_path}, #8 (titles, keyword)", 'recipe #8 is not "titles, keyword": #3 is'),
    ],
)
def test_guidance_is_held_against_descriptor_and_file(tmp_path: Path, said: str, observed: str | None):
    value = made(tmp_path, guidance(said))
    found = list(follow(value) if "s " in said else validate_descriptor(value))  # figures are the file's, too
    assert [f.observed[: len(observed or "")] for f in found] == ([observed] if observed else [])
    assert all((f.rule, f.pointer) == ("LRO-GUI-05", "/guidance") for f in found)


def test_an_estimate_that_is_not_of_the_lines_is_found_in_the_file(tmp_path: Path):
    def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        descriptor["summary"]["estimated_tokens"] = lines[0]["estimated_tokens"] = 24

    (finding,) = follow(made(tmp_path, change))
    assert (finding.rule, finding.path, finding.line) == ("LRO-THR-02", str(tmp_path / NAME), 1)


@pytest.mark.parametrize(
    "change",
    [
        summary(score_range=None),
        summary(score_range=[0.67, 0.9]),  # the range of the confidences
        summary(top_namespaces=["_semantic/a"]),
        summary(estimated_tokens=900),  # less what the descriptor costs itself
        schema(properties={"id": {"pattern": "^m\\d+$"}}),
        schema(properties={"id": {"pattern": "\\p{L}"}, "title": {}}),
        schema(properties={"id": {"pattern": "^(?=m)"}, "title": {}}),
        schema(**{"$schema": "http://json-schema.org/draft-07/schema#"}),
        recipe(5, "jq '{id: .id, title: .title, namespace: .namespace}'"),
        recipe(5, "jq '{id, title, namespace}'", "sed 1d {path}"),
        recipe(2, 'jq \'select(.namespace // "" | startswith("_semantic/a"))\''),
        recipe(3, 'jq \'select(.title | test("\\\\*"; "i"))\''),
        recipe(10, "jq --arg q '*' 'select(.content | ascii_downcase | contains($q))'"),
    ],
)
def test_what_is_merely_unusual_is_not_accused(tmp_path: Path, change: Change):
    assert list(follow(made(tmp_path, change))) == []


def test_namespaces_of_records_that_have_none_are_not_accused(tmp_path: Path):
    """A light record may be an id and a title; the summary is of the memories."""

    def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        lines[0]["detail"] = descriptor["summary"]["detail"] = "light"
        for line in lines[1:]:
            del line["namespace"]

    assert "LRO-DESC-06" not in {f.rule for f in follow(made(tmp_path, change))}


def test_another_recipe_may_do_what_the_one_at_its_place_does_not(tmp_path: Path):
    def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        descriptor["jq_recipes"].reverse()

    assert list(follow(made(tmp_path, change))) == []


def test_a_recipe_that_jq_cannot_read_is_told_though_another_finds_nothing_either(tmp_path: Path):
    """No title has the word that recipe 3 looks for, and recipe 2 gives nothing on these records."""

    def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        recipe(3, "jq 'select(.title'")(descriptor, lines)
        for n, line in enumerate(lines[1:]):
            line |= {"title": f"{n}", "namespace": "_procedural/a"}

    found = [f for f in follow(made(tmp_path, change)) if f.pointer == "/jq_recipes/2/command"]
    assert [(f.rule, f.severity) for f in found] == [("LRO-REC-03", "error")]


def test_a_query_that_is_no_pattern_is_told_though_another_finds_nothing_either(tmp_path: Path):
    """Where no record has a content, recipe 10 fails by the text's own fault and never comes to its pattern."""

    def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        recipe(3, 'jq \'select(.title | test("*"; "i"))\'')(descriptor, lines)
        recipe(10, 'jq \'select(.content | test("*"; "i"))\'')(descriptor, lines)
        for n, line in enumerate(lines[1:]):
            del line["content"]
            line |= {"title": f"{n}", "namespace": "_procedural/a"}

    found = {f.rule: f for f in follow(made(tmp_path, change)) if f.rule in ("LRO-REC-03", "LRO-REC-10")}
    assert {rule: f.severity for rule, f in found.items()} == {"LRO-REC-03": "error"}
    assert "target of repeat operator is not specified" in found["LRO-REC-03"].observed


@pytest.mark.parametrize("left_out", range(10))
def test_a_recipe_that_is_left_out_is_missing_and_no_other_is_blamed(tmp_path: Path, left_out: int):
    def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        del descriptor["jq_recipes"][left_out], lines[5]["provenance"]

    found = list(follow(made(tmp_path, change)))
    assert {(f.rule, f.pointer) for f in found if f.rule == "LRO-REC-13"} == {("LRO-REC-13", "/jq_recipes")}
    named = [f.message.partition(" is for")[0] for f in found if "no recipe does" in f.message]
    assert named == [f"no recipe does what recipe {left_out + 1}"]
    assert [f for f in found if f.severity == "error"] == []


def test_what_no_reader_takes_alike_does_not_hide_a_wrong_count(tmp_path: Path):
    nan, cut = b'{"id": "m4", "score": NaN}\n', b'{"id": "m4", "title": "\n'
    for count, broken, hidden in ((-1, nan, False), (-1, cut, True), (99, cut, False)):
        value = made(tmp_path)
        lines = (tmp_path / NAME).read_bytes().splitlines(keepends=True)
        value["summary"]["count"] += count
        (tmp_path / NAME).write_bytes(b"".join([*lines[:5], broken, *lines[6:]]))
        found = rules(list(follow(value)))
        assert found == {"LRO-FILE-01"} | (set() if hidden else {"LRO-DESC-03"})


def test_a_line_too_long_for_a_sample_ends_it_and_is_held_against_no_recipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(linked, "_SAMPLE_LINE_BYTES", 5_000)
    for place, told in ((5, []), (1, [("LRO-REC-13", "recipes were not run", "warning")])):

        def change(descriptor: dict[str, Any], lines: list[dict[str, Any]], place: int = place) -> None:
            lines[place]["content"] = "x" * 5_000
            lines[0]["estimated_tokens"] = descriptor["summary"]["estimated_tokens"] = 2_800

        assert [(f.rule, f.message, f.severity) for f in follow(made(tmp_path, change))] == told


def test_a_failing_recipe_of_the_text_itself_is_a_warning(tmp_path: Path):
    def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        del lines[5]["provenance"]

    found = list(follow(made(tmp_path, change)))
    assert {(f.rule, f.severity) for f in found} == {("LRO-REC-04", "warning"), ("LRO-REC-09", "warning")}


def test_a_finding_in_the_file_names_the_file_and_its_line(tmp_path: Path):
    def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        lines[7]["title"] = 3

    found = list(follow(made(tmp_path, change)))
    assert {f.rule for f in found} == {"LRO-FILE-11"}  # that line_schema refuses it, too, follows
    assert {(f.path, f.line) for f in found} == {(str(tmp_path / NAME), 8)}
    assert all(f.excerpt is not None for f in found)


class TestWhereTheFileIs:
    def test_no_file(self, tmp_path: Path):
        descriptor = made(tmp_path)
        (tmp_path / NAME).unlink()
        (finding,) = follow(descriptor, folder=tmp_path)
        assert (finding.rule, finding.severity, finding.pointer) == ("LRO-DESC-02", "error", "/file_path")

    @pytest.mark.parametrize("packed", ["", ".gz"])
    def test_one_beside_the_descriptor_is_taken(self, tmp_path: Path, packed: str):
        import gzip

        descriptor = made(tmp_path, summary(count=3))
        data = (tmp_path / NAME).read_bytes()
        (tmp_path / NAME).unlink()
        (tmp_path / "moved").mkdir()
        target = tmp_path / "moved" / (NAME + packed)
        target.write_bytes(gzip.compress(data) if packed else data)
        found = list(follow(descriptor, folder=tmp_path / "moved"))
        assert [(f.rule, f.severity) for f in found] == [("LRO-DESC-02", "warning"), ("LRO-DESC-03", "error")]

    @pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
    def test_only_regular_files_are_opened(self, tmp_path: Path, kind: str):
        descriptor = made(tmp_path)
        path = tmp_path / NAME
        path.unlink()
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")
        (finding,) = follow(descriptor)
        assert (finding.rule, finding.message) == ("LRO-DESC-02", "file_path is not a regular file")

    @pytest.mark.parametrize("path", ["/x\0y", "/" + "x" * 5000, "/\ud800"])
    def test_paths_that_cannot_be_are_findings(self, tmp_path: Path, path: str):
        found = list(follow({**made(tmp_path), "file_path": path}))
        assert "LRO-DESC-02" in rules(found)


class TestSchemasOfOthers:
    @pytest.mark.parametrize(
        "line_schema",
        [
            {"properties": {"id": {"pattern": "^(a+)+$"}, "title": {"pattern": "^(?=.*x)(.*a){25}$"}}},
            {"properties": {"id": {}}, "$ref": "#"},
            {"properties": {"id": {}}, "$dynamicRef": "#x", "$defs": {"x": {"$dynamicAnchor": "x", "$ref": "#"}}},
            {"properties": {"id": {"pattern": "(a{1000}){1000}"}}},
        ],
    )
    def test_one_that_would_take_for_ever_is_bounded(
        self, tmp_path: Path, line_schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(checker, "PATIENCE_S", 3.0)

        def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
            descriptor["line_schema"] = line_schema
            lines[2]["title"] = "a" * 60
            lines[2]["id"] = "a" * 60 + "!"

        began = time.monotonic()
        list(follow(made(tmp_path, change)))
        assert time.monotonic() - began < 40

    def test_lines_that_no_time_was_left_for_are_told(self, tmp_path: Path):
        judge = checker.LineSchemaChecker({"$ref": "#"}, patience_s=0)
        from lro_spec.jsonl.lines import Block

        assert list(judge.take([{"id": "a"}], Block(2, 0, [b"{}"]))) == []
        (finding,) = judge.end()
        assert (finding.severity, finding.rule) == ("warning", "LRO-DESC-09")
        assert finding.message.startswith("1 line was not checked")


def test_nothing_is_left_behind(tmp_path: Path):
    folder = tmp_path / "t"
    folder.mkdir()
    list(follow(made(folder)))
    assert [p.name for p in folder.iterdir()] == [NAME]
    shutil.rmtree(folder)
