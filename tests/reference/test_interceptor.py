"""The interceptor: the decision, the descriptor, and what happens when the file cannot be written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from lro_reference import interceptor
from lro_reference.events import Event
from lro_reference.interceptor import Inline, Offloaded, Outcome, ResultSet, Truncated, intercept
from lro_reference.settings import Settings
from lro_spec.filenames import parse_file_name
from lro_spec.messages import OffloadHeader, OffloadResponse
from lro_spec.tokens import script_aware_estimate


def records(count: int, text: str = "x" * 100) -> list[dict[str, Any]]:
    return [{"id": f"m{n}", "namespace": f"n{n % 7}", "content": text} for n in range(count)]


def results(found: list[dict[str, Any]], **changes: Any) -> ResultSet:
    fields: dict[str, Any] = {
        "operation": "recall",
        "detail": "full",
        "records": found,
        "line_schema": {"type": "object"},
        "schema_version": "1.0.0",
        "query": "*",
    }
    return ResultSet(**(fields | changes))


def decide(found: ResultSet, folder: Path, threshold: int = 100, **settings: Any) -> tuple[Outcome, list[Event]]:
    events: list[Event] = []
    chosen = Settings(threshold_tokens=threshold, output_dir=str(folder), **settings)
    return intercept(found, chosen, events.append), events


def offloaded(found: ResultSet, folder: Path, threshold: int = 100) -> OffloadResponse:
    outcome, _ = decide(found, folder, threshold)
    assert isinstance(outcome, Offloaded)
    return outcome.response


def lines_of(response: OffloadResponse) -> list[str]:
    return Path(response.file_path).read_text(encoding="utf-8").removesuffix("\n").split("\n")


def test_equal_to_threshold_stays_inline_and_one_more_is_offloaded(tmp_path: Path) -> None:
    found = results(records(10))
    exactly = offloaded(found, tmp_path, 1).summary.estimated_tokens
    assert isinstance(decide(found, tmp_path, exactly)[0], Inline)
    assert isinstance(decide(found, tmp_path, exactly - 1)[0], Offloaded)


def test_estimate_is_of_the_lines_in_the_file(tmp_path: Path) -> None:
    found = results(records(10, "字" * 50))
    response = offloaded(found, tmp_path)
    text = "".join(f"{line}\n" for line in lines_of(response)[1:])
    assert response.summary.estimated_tokens == script_aware_estimate(text)
    assert json.loads(lines_of(response)[0])["estimated_tokens"] == script_aware_estimate(text)


def test_disabled_is_always_inline_and_writes_nothing(tmp_path: Path) -> None:
    outcome, events = decide(results(records(100)), tmp_path, 1, enabled=False)
    assert isinstance(outcome, Inline)
    assert len(outcome.lines) == 100
    assert (events, os.listdir(tmp_path)) == ([], [])


def test_nothing_found_is_inline_even_at_threshold_zero(tmp_path: Path) -> None:
    assert decide(results([]), tmp_path, 0)[0] == Inline([])
    assert isinstance(decide(results(records(1)), tmp_path, 0)[0], Offloaded)


def test_file_holds_header_and_every_record(tmp_path: Path) -> None:
    found = records(20, 'line\n\u2028 "quoted" \\ 字 🚀')
    response = offloaded(results(found), tmp_path)
    head, *lines = lines_of(response)
    header = OffloadHeader.from_dict(json.loads(head))
    assert (header.operation, header.query, header.count, header.detail) == ("recall", "*", 20, "full")
    assert [json.loads(line) for line in lines] == found
    name = parse_file_name(os.path.basename(response.file_path))
    assert name is not None
    assert name.operation == "recall"
    assert name.created.isoformat(timespec="milliseconds").replace("+00:00", "Z") == header.timestamp


def test_descriptor_describes(tmp_path: Path) -> None:
    response = offloaded(results(records(20), operation="search", scores=[0.1 + n for n in range(20)]), tmp_path)
    assert OffloadResponse.from_dict(json.loads(json.dumps(response.to_dict()))) == response
    assert response.summary.count == 20
    assert response.summary.operation == "search"
    assert response.summary.top_namespaces == ("n0", "n1", "n2", "n3", "n4")
    assert response.summary.score_range == (0.1, 19.1)
    assert len(response.jq_recipes) == 10
    assert all(response.file_path in recipe.command for recipe in response.jq_recipes)


@pytest.mark.parametrize("detail", ["light", "medium", "full"])
def test_guidance_tells_what_is_so(tmp_path: Path, detail: str) -> None:
    response = offloaded(results(records(20), detail=detail), tmp_path)
    for said in ("20 memories", f"~{response.summary.estimated_tokens} tokens", response.file_path, f"level: {detail}"):
        assert said in response.guidance
    assert ("Content is empty" in response.guidance) == (detail == "light")
    assert len(response.guidance) < 1500


def test_records_without_namespace_are_no_error(tmp_path: Path) -> None:
    assert offloaded(results([{"n": 1, "text": "y" * 500}, {"namespace": None}]), tmp_path).summary.top_namespaces == ()


def test_offloading_tells_where(tmp_path: Path) -> None:
    outcome, (event,) = decide(results(records(20)), tmp_path)
    assert isinstance(outcome, Offloaded)
    assert event.name == "OffloadFileWritten"
    assert event.details["path"] == outcome.response.file_path


def test_failed_write_truncates_and_warns(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = results(records(50))
    outcome, (event,) = decide(found, tmp_path / "file", 300)
    assert isinstance(outcome, Truncated)
    assert 0 < len(outcome.lines) < 50
    assert [json.loads(line) for line in outcome.lines] == found.records[: len(outcome.lines)]
    for said in ("Offloading failed", "Not a directory", "truncated", f"{len(outcome.lines)} of 50"):
        assert said in outcome.warning
    assert (event.name, event.level) == ("OffloadWriteFailed", "warning")
    assert event.details["error"] == "Not a directory"
    assert event.details["returned"] == len(outcome.lines)


def test_single_record_above_the_threshold_leaves_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    outcome, _ = decide(results(records(1, "x" * 1000)), tmp_path / "file")
    assert isinstance(outcome, Truncated)
    assert outcome.lines == []
    assert "0 of 1" in outcome.warning


def test_offloads_again_once_writing_works(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.touch()
    assert isinstance(decide(results(records(20)), folder)[0], Truncated)
    folder.unlink()
    assert isinstance(decide(results(records(20)), folder)[0], Offloaded)


def test_other_failures_are_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise AssertionError("a bug, not a full disk")

    monkeypatch.setattr(interceptor, "write", broken)
    with pytest.raises(AssertionError, match="a bug"):
        decide(results(records(20)), tmp_path)


@hypothesis_settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), max_size=25),
    threshold=st.integers(0, 400),
)
def test_whatever_fits_is_inline_and_a_cut_result_fits(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], threshold: int
) -> None:
    folder = tmp_path_factory.mktemp("out")
    (folder / "file").touch()
    found = results([{"id": str(n), "content": text} for n, text in enumerate(texts)])
    outcome, _ = decide(found, folder / "file", threshold)
    whole = script_aware_estimate("".join(f"{line}\n" for line in _lines(found)))
    assert isinstance(outcome, Inline) == (whole <= threshold)
    if isinstance(outcome, Truncated):
        kept = "".join(f"{line.decode()}\n" for line in outcome.lines)
        assert script_aware_estimate(kept) <= threshold
        assert [line.decode() for line in outcome.lines] == _lines(found)[: len(outcome.lines)]


def _lines(found: ResultSet) -> list[str]:
    return [interceptor.encode(record).decode() for record in found.records]


def test_heart_is_small() -> None:
    assert len(Path(interceptor.__file__).read_text(encoding="utf-8").splitlines()) < 200
