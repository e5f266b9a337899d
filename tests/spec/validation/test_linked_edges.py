"""What follows from a descriptor's file on either side of each edge; recipes are noted, and not run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lro_spec.validation import linked
from lro_spec.validation.linked import Following, follow
from lro_spec.validation.recipes import Judgement, RecipeJudge, Sample
from tests.support.offloads import NAME, Change, header, made, summary

Ran = list[Sample | str]
LENGTH = len(json.dumps({"id": "m00", "title": "x"}))


@pytest.fixture(autouse=True)
def ran(monkeypatch: pytest.MonkeyPatch) -> Ran:
    """The sample that recipes would have been run on, each time; the reason where they would have been compiled."""
    seen: Ran = []

    def judge(_: RecipeJudge, descriptor: object, sample: Sample | str, text: object) -> Judgement:
        seen.append(sample)
        return Judgement((), {})

    monkeypatch.setattr(RecipeJudge, "judge", judge)
    return seen


def told(found: Any) -> list[tuple[str, str]]:
    return [(f.rule, f.pointer) for f in found]


def rewritten(folder: Path, change: Callable[[list[bytes]], object]) -> None:
    lines = (folder / NAME).read_bytes().splitlines(keepends=True)
    change(lines)
    (folder / NAME).write_bytes(b"".join(lines))


def equal_lines(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    lines[1:] = [{"id": f"m{n:02}", "title": "x"} for n in range(len(lines) - 1)]


class TestSamples:
    def test_are_the_first_250_records_with_the_header(self, tmp_path: Path, ran: Ran) -> None:
        list(follow(made(tmp_path, count=300)))
        (sample,) = ran
        assert not isinstance(sample, str)
        lines = (tmp_path / NAME).read_bytes().splitlines(keepends=True)
        assert sample.lines == b"".join(lines[:251])
        assert [r["id"] for r in sample.records] == [f"m{n}" for n in range(250)]
        assert sample.header["operation"] == "recall"

    @pytest.mark.parametrize(("limit", "taken"), [(3 * LENGTH - 1, 3), (3 * LENGTH, 3), (3 * LENGTH + 1, 4)])
    def test_end_with_the_record_that_makes_them_large_enough(
        self, tmp_path: Path, ran: Ran, limit: int, taken: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(linked, "_SAMPLE_BYTES", limit)
        list(follow(made(tmp_path, equal_lines)))
        assert [len(s.records) for s in ran if not isinstance(s, str)] == [taken]

    @pytest.mark.parametrize(("over", "taken"), [(0, 60), (1, 49)])
    def test_end_before_a_line_that_is_too_long(
        self, tmp_path: Path, ran: Ran, over: int, taken: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
            for line in lines[1:41]:  # more than is read at once before there is a header
                line["content"] = "x" * 3_000
            lines[50]["content"] = "x" * 4_000
            monkeypatch.setattr(linked, "_SAMPLE_LINE_BYTES", len(json.dumps(lines[50])) - over)

        list(follow(made(tmp_path, change, count=60)))
        assert [len(s.records) for s in ran if not isinstance(s, str)] == [taken]

    def test_are_none_where_a_line_among_them_is_no_record(self, tmp_path: Path, ran: Ran) -> None:
        descriptor = made(tmp_path)
        rewritten(tmp_path, lambda lines: lines.insert(4, b"no JSON\n"))
        list(follow(descriptor))
        assert ran == ["one of the file's first lines is not a record"]

    def test_are_none_where_there_is_no_record(self, tmp_path: Path, ran: Ran) -> None:
        list(follow(made(tmp_path, count=0)))
        assert ran == ["the file has no records, or the first one is too long"]

    def test_are_none_of_what_is_no_memories(self, tmp_path: Path, ran: Ran) -> None:
        list(follow(made(tmp_path, header(schema_version="0", extra={}))))
        assert ran == ["the standard recipes are for memories, and the file's header says that it holds other records"]

    def test_are_there_for_others_where_none_are_run_here(self, tmp_path: Path, ran: Ran) -> None:
        one = Following(made(tmp_path), recipes=False)
        assert one.sample == "the file was not read"
        assert list(one.findings()) == []
        assert not isinstance(one.sample, str)
        assert (len(one.sample.records), ran) == (24, [])

    def test_are_none_without_a_header(self, tmp_path: Path, ran: Ran) -> None:
        descriptor = made(tmp_path)
        rewritten(tmp_path, lambda lines: lines.pop(0))
        list(follow(descriptor))
        assert ran == []

    def test_that_fail_fail_where_they_are_asked_for(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> Judgement:
            raise ValueError("of our own making")

        monkeypatch.setattr(RecipeJudge, "judge", fail)
        with pytest.raises(ValueError, match="of our own making"):
            list(follow(made(tmp_path)))


class TestWhatIsKnown:
    def test_before_anything_was_opened(self) -> None:
        one = Following({})
        assert list(one.findings()) != []
        assert (one.lines, one.path, one.header, one.was_read) == (0, None, None, False)

    def test_at_the_end(self, tmp_path: Path) -> None:
        one = Following(made(tmp_path))
        assert list(one.findings()) == []
        assert (one.lines, one.path, one.was_read) == (25, str(tmp_path / NAME), True)
        assert one.header is not None
        assert one.header["operation"] == "recall"

    def test_of_a_descriptor_that_is_no_json(self, tmp_path: Path) -> None:
        one = Following({**made(tmp_path, summary(count=3)), 1: 2})
        assert told(one.findings()) == [("json", "")]
        assert one.path is None


class TestParts:
    """What of a descriptor is wrong, or not there, is not held against the file; the others are."""

    @pytest.mark.parametrize(
        ("part", "rule"),
        [("summary", "LRO-DESC-01"), ("line_schema", "LRO-DESC-01"), ("jq_recipes", "LRO-DESC-01")],
    )
    def test_that_are_wrong_are_told_once(self, tmp_path: Path, ran: Ran, part: str, rule: str) -> None:
        one = {**made(tmp_path, header(count=7)), part: 3}
        assert told(follow(one)) == [(rule, f"/{part}"), ("LRO-FILE-06", "/count")]
        assert len(ran) == (part != "jq_recipes")

    @pytest.mark.parametrize("part", ["summary", "line_schema", "jq_recipes", "guidance"])
    def test_that_are_missing_are_told_once(self, tmp_path: Path, ran: Ran, part: str) -> None:
        one = made(tmp_path, header(count=7))
        del one[part]
        assert told(follow(one)) == [("LRO-DESC-01", f"/{part}"), ("LRO-FILE-06", "/count")]
        assert len(ran) == (part != "jq_recipes")

    def test_a_path_that_is_no_right_one_leads_to_the_file_all_the_same(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        one = {**made(tmp_path, summary(count=7)), "file_path": NAME, "guidance": "x"}
        assert ("LRO-DESC-03", "/summary/count") in told(follow(one))


class TestOperations:
    def renamed(self, folder: Path, change: Change, name: str) -> list[tuple[str, str]]:
        one = made(folder, change)
        (folder / NAME).rename(folder / name)
        text = json.dumps(one).replace(NAME, name)
        return told(follow(json.loads(text)))

    def test_of_name_and_summary_the_header_tells_which_is_wrong(self, tmp_path: Path) -> None:
        def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
            descriptor["summary"]["operation"] = lines[0]["operation"] = "search"

        assert told(follow(made(tmp_path, change))) == [("LRO-NAME-02", "/operation"), ("LRO-NAME-02", "/file_path")]
        assert told(follow(made(tmp_path, summary(operation="search")))) == [("LRO-DESC-05", "/summary/operation")]

    def test_a_name_that_is_none_is_told_once(self, tmp_path: Path) -> None:
        assert self.renamed(tmp_path, header(), "x.jsonl") == [("LRO-NAME-02", "/file_path")]

    @pytest.mark.parametrize("version", ["1.0", "0"])
    def test_of_other_records_is_anybodys_to_name(self, tmp_path: Path, version: str) -> None:
        def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
            descriptor["summary"]["operation"] = lines[0]["operation"] = "fetch"
            lines[0] |= {"schema_version": version, "extra": {}}

        found = self.renamed(tmp_path, change, NAME.replace("atlatl-recall", "lro-fetch"))
        of_memories = [("LRO-NAME-02", "/file_path"), ("LRO-DESC-05", "/summary/operation")]
        assert [one for one in of_memories if one in found] == (of_memories if version == "1.0" else [])


class TestEditions:
    def test_what_one_does_not_ask_for_is_not_told(self, tmp_path: Path) -> None:
        one = made(tmp_path, summary(detail="light"))
        assert ("LRO-DESC-08", "/summary/detail") in told(follow(one))
        assert ("LRO-DESC-08", "/summary/detail") in told(follow(one, edition="lro-1600"))
        assert ("LRO-DESC-08", "/summary/detail") not in told(follow(one, edition="lro-paper"))


class TestHeaders:
    """What a header says of the lines, and what is known of those."""

    @pytest.mark.parametrize("version", ["1.0", "0"])
    def test_tell_an_estimate_of_memories(self, tmp_path: Path, version: str) -> None:
        def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
            descriptor["summary"] |= {"estimated_tokens": 9, "top_namespaces": ["z"]}
            lines[0] |= {"estimated_tokens": 9, "schema_version": version, "extra": {}}

        expected = [("LRO-THR-02", "/estimated_tokens"), ("LRO-DESC-06", "/summary/top_namespaces")]
        assert told(follow(made(tmp_path, change))) == (expected if version == "1.0" else [])

    def test_tell_nothing_of_what_cannot_be_known(self, tmp_path: Path) -> None:
        one = made(tmp_path, summary(top_namespaces=["z"], score_range=[0.0, 1.0]))
        rewritten(tmp_path, lambda lines: lines.__setitem__(4, b'{"id": "y", "score": NaN}\n'))
        assert told(follow(one)) == [("LRO-FILE-01", "")]


class TestFiles:
    def test_that_are_not_there_are_told_with_the_reason(self, tmp_path: Path) -> None:
        one = {**made(tmp_path), "file_path": f"/nowhere/{NAME}"}
        (finding,) = (f for f in follow(one, folder=tmp_path / "x") if f.pointer == "/file_path")
        assert finding.observed == f'"/nowhere/{NAME}": No such file or directory'

    @pytest.mark.parametrize("folder", ["/!nowhere", "/~nowhere"])
    def test_beside_a_descriptor_that_leads_elsewhere_are_taken(self, tmp_path: Path, folder: str) -> None:
        text = json.dumps(made(tmp_path)).replace(str(tmp_path), folder)
        assert [f.message for f in follow(json.loads(text), folder=tmp_path)] == [
            "file_path does not exist on this machine; using the file of that name next to the descriptor"
        ]

    def test_that_break_off_are_told(self, tmp_path: Path) -> None:
        def broken(path: str, stream: object) -> Any:
            raise OSError(5, "Input/output error")

        one = Following(made(tmp_path), wrap_stream=broken)
        (finding,) = one.findings()
        assert (finding.message, finding.observed) == (
            "the file cannot be read",
            f'"{tmp_path / NAME}": Input/output error',
        )
        assert one.was_read is False
