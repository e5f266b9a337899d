"""The proxy in front of the reference memory server, which leaves offloading to it and loses nothing by that."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lro_conformance.engine.run import certify
from lro_conformance.profile import profile_for_command
from lro_conformance.profile.builtin import PROXIED
from lro_reference.memory.model import line_schema
from tests.support.documents import TEXTS, fenced
from tests.support.proxying import ROOTS, Client, proxy, records

MEMORY = (sys.executable, "-m", "lro_reference", "--data", ":memory:")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with proxy(tmp_path_factory.mktemp("memories"), server=MEMORY, threshold=3000) as made:
        made.answer(
            made.post(
                "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "t", "version": "1"}
            )
        )
        made.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield made


def test_an_injection_is_offloaded_whole_though_its_text_is_budgeted(client: Client) -> None:
    result = client.result("inject_context", query="*", max_tokens=50)
    descriptor = json.loads(result["content"][0]["text"])
    assert "_meta" not in result
    header, lines = records(descriptor["file_path"])
    assert (header["operation"], header["detail"], header["count"]) == ("inject", "medium", 500)
    assert len({line["id"] for line in lines}) == 500
    assert descriptor["line_schema"] == line_schema("medium")


def test_a_small_injection_is_its_text_and_nothing_else(client: Client) -> None:
    result = client.result("inject_context", query="*", limit=3)
    assert set(result) <= {"content", "isError"}
    assert result["content"][0]["text"].startswith("## ")


def test_a_search_tells_its_scores(client: Client) -> None:
    descriptor = json.loads(client.result("search_memories", query="memory", detail="full")["content"][0]["text"])
    low, high = descriptor["summary"]["score_range"]
    assert low < high
    assert Path(descriptor["file_path"]).name.startswith("atlatl-search-")
    assert len(descriptor["jq_recipes"]) == 10


@pytest.mark.long
@pytest.mark.timeout(400)
def test_level_3_is_proved_behind_the_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference server, whose own offloading the proxy has switched off."""
    monkeypatch.setenv("PYTHONPATH", ROOTS)
    monkeypatch.chdir(tmp_path)
    report = certify(profile_for_command(["lro", "proxy", "--", "lro", "serve"]), seed=1, jobs=2)
    assert [
        r.requirement.id for r in report.requirements if r.verdict.label in ("fail", "warn", "error", "not-observed")
    ] == []
    assert (report.claimed, report.achieved) == (3, 3)


@pytest.mark.long
@pytest.mark.timeout(400)
def test_the_cleanup_tool_of_the_server_behind_it_is_not_the_proxys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reference server by another command, for which there is no profile that names a restart."""
    monkeypatch.setenv("PYTHONPATH", ROOTS)
    monkeypatch.chdir(tmp_path)
    report = certify(profile_for_command(["lro", "proxy", "--", *MEMORY]), seed=1, jobs=2)
    assert [r.requirement.id for r in report.requirements if r.verdict.label in ("fail", "error")] == []
    assert "LRO-CLN-01" in {r.requirement.id for r in report.requirements if r.verdict.label == "pass"}


def test_the_profile_in_the_docs_is_the_bundled_one() -> None:
    assert fenced(TEXTS["docs/proxy.md"], "yaml")[0] == PROXIED.read_text(encoding="utf-8")
