"""Notes of a report: they say what was done, and name what helps."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from lro_conformance import profile as profiles
from lro_conformance.analysis.comparison import Comparison
from lro_conformance.analysis.exchanges import Exchanges
from lro_conformance.engine import notes
from lro_conformance.engine.run import certify
from lro_conformance.judging.derived import Evidence
from lro_conformance.trials.survey import Survey
from lro_spec.editions import DEFAULT_EDITION
from tests.servers.sound.catalogue import sounds
from tests.servers.variants import profile_text
from tests.support.made import Made
from tests.support.paths import ROOT


def compared(
    filed: list[str],
    shown: list[str | None],
    *by_title: bool,
    seeded_by: str | None = None,
    by_text: tuple[str, ...] = (),
    names: Mapping[str, str] = MappingProxyType({}),
    unpaired: tuple[str, ...] = (),
) -> str:
    records = [{"id": id} for id in shown]
    survey: Any = Made(files=[Made(file_records=[{"id": id} for id in filed])], seeded_by=seeded_by)
    inline: Any = Made(calls=[Made(records=records)])
    exchanges: Any = Made(
        by_title=any(by_title), operations_compared_by_text=by_text, names=names, fields_missing_inline=unpaired
    )
    return notes._compared(Comparison(survey, inline), exchanges)  # pyright: ignore[reportPrivateUsage]


def test_names_under_which_records_were_compared_are_said() -> None:
    said = compared(["a"], ["b"], True, names={"subject": "title", "body": "content"})
    assert said.endswith("; inline fields were compared with those of files: subject with title, body with content")
    told = compared(["a"], ["b"], True, names={"subject": "title"}, unpaired=("namespace", "created"))
    assert told.endswith("; files may have further fields, which were not compared: namespace, created")


def test_records_that_were_compared_by_title_are_said_to_be() -> None:
    said = compared(["a"], ["b"], False, True)
    assert "were compared with inline results, by their titles" in said
    assert "cannot be compared" not in said


def test_records_that_were_compared_with_a_text_are_said_to_be() -> None:
    said = compared(["a"], [], by_text=("inject",))
    assert "only with those memories that appear, with title and content, in the text that inject returned" in said
    assert "cannot be compared" not in said


NO_IDS = "no key of the profile helps: the server would have to give each record an id, the same in files and inline"


@pytest.mark.parametrize(
    ("filed", "shown", "seeded_by", "remedy"),
    [
        (["a"], ["b"], None, "profile: seed.tool, or the key server"),
        (["a"], ["b"], "tool", "profile: seed.arguments"),
        ([], ["b"], None, NO_IDS),
        (["a"], [None], None, NO_IDS),
        (["a"], [], None, "profile: inline.records, the path of the records in an inline result"),
    ],
)
def test_records_that_were_not_compared_have_a_remedy(
    filed: list[str], shown: list[str | None], seeded_by: str | None, remedy: str
) -> None:
    said = compared(filed, shown, False, seeded_by=seeded_by)
    assert "cannot be compared with inline results" in said
    assert remedy in said


@pytest.mark.parametrize(("absent", "said"), [((), ["inject"]), (("inject",), [])])
def test_an_operation_that_the_profile_denies_is_not_said_to_be_missing(
    absent: tuple[str, ...], said: list[str]
) -> None:
    operations: Any = {n: Made(tool=n, possible_details={}) for n in ("recall", "search")}
    survey = Survey(
        operations=operations,
        tools=(),
        calls=(),
        whole={},
        repeats={},
        tiny={},
        single={},
        together=(),
        budgets=(),
        unsettled=(),
        later={},
        unnamed=(),
        word=None,
        adjustable=True,
        anomalies=(),
        server_info={},
        protocol=None,
        absent=absent,
    )
    found = notes.notes(Evidence(DEFAULT_EDITION, {"survey": survey}), None)
    assert [n.partition(";")[0].removeprefix("no tool was found for ") for n in found if "no tool" in n] == said


@pytest.mark.parametrize("record", [{"id": "a"}, {"id": "a", "score": 0.5}])
@pytest.mark.parametrize("inline", [None, {"structuredContent": {"results": [{"id": "a", "score": 0.5}]}}])
def test_scores_that_nothing_shows_are_said_to_be_compared_with_nothing(
    record: dict[str, Any], inline: dict[str, Any] | None
) -> None:
    file: Any = Made(problem=None, data=b"x")
    call = Made(operation="search", query="x", file=file, file_records=[record], summary={"score_range": [0, 1]})
    of: Any = Exchanges
    context = Made(scored_by_confidence=frozenset())
    twin = None if inline is None else Made(result=inline)
    found = of([Made(call=call, twin=twin, has_file=True)], context).hidden_scores
    assert found == (("search",) if inline is None and "score" not in record else ())


@pytest.mark.parametrize(
    ("possible", "said"),
    [
        ({"full": (False, True)}, "argument full was left out of all calls; if it chooses"),
        ({"full": (False, True)}, "as in {argument: full, light: false, full: true},"),
        ({"brief": (False, True)}, "as in {argument: brief, light: true, full: false},"),
        ({"view": ("summary", "complete")}, "as in {argument: view, light: summary, full: complete},"),
        ({"full": (False, True), "brief": (False, True)}, "arguments full, brief were left out of all calls; if one"),
    ],
)
def test_an_argument_that_was_left_out_and_may_choose_the_level_is_named_with_its_key(
    possible: dict[str, tuple[str | bool, ...]], said: str
) -> None:
    """The sentence is true whichever value asks for more."""
    recall, search = Made(tool="a", possible_details=possible, details=()), Made(tool="b", possible_details={})
    survey: Any = Made(operations={"recall": recall, "search": search}, tools=[], messages=[])
    (note,) = notes._unused_features(survey)  # pyright: ignore[reportPrivateUsage]
    assert said in note
    assert note.endswith("(profile: operations.recall.detail)")


def test_an_argument_of_which_a_level_was_asked_is_not_said_to_be_left_out() -> None:
    recall = Made(tool="a", possible_details={"detail": ("brief", "full")}, details=("full",))
    survey: Any = Made(operations={"recall": recall}, tools=[], messages=[])
    assert [*notes._unused_features(survey)] == []  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        (
            {"search": "words"},
            (
                "the argument words of find_it had the same text in all calls; if it is the query, name it, and "
                "results of other sizes and with other memories can be observed (profile: operations.search.query)"
            ),
        ),
        (
            {"recall": "topic", "search": "words"},
            (
                "the arguments topic of find_it and words of find_it had the same text in all calls; if they are "
                "queries, name them, and results of other sizes and with other memories can be observed (profile: "
                "operations.recall.query, operations.search.query)"
            ),
        ),
        ({"search": None}, None),
    ],
)
def test_texts_that_may_be_queries_are_named_with_their_keys(queries: dict[str, str | None], said: str | None) -> None:
    survey: Any = Made(operations={n: Made(tool="find_it", possible_query=q) for n, q in queries.items()})
    found = [*notes._unnamed_queries(survey)]  # pyright: ignore[reportPrivateUsage]
    assert found == ([said] if said else [])


@pytest.mark.parametrize(("only", "times"), [("LRO-THR-03", 1), ("LRO-FILE-01", 0)])
def test_a_query_is_asked_for_where_a_requirement_was_not_observed(tmp_path: Path, only: str, times: int) -> None:
    """Whether the profile gives the text a value or not."""
    name = "requires_words"
    (tmp_path / "server.py").write_text(REQUIRES_WORDS.format(root=str(ROOT)))
    command = [sys.executable, "-I", "-S", str(tmp_path / "server.py")]
    inject = "{tool: inject_context, arguments: {words: memory}}"
    (tmp_path / "lro.yaml").write_text(
        f"server: {{command: {json.dumps(command)}}}\noperations: {{recall: {{tool: {name}}}, inject: {inject}}}\n"
    )
    report = certify(profiles.load(tmp_path / "lro.yaml"), seed=1, examples=0, only={only})
    assert len([note for note in report.notes if f"the arguments words of {name} and words of inject" in note]) == times


REQUIRES_WORDS = """\
import sys
from collections.abc import Mapping
sys.path.insert(0, {root!r})
from tests.servers.plain import Server

class RequiresWords(Server):
    def tools(self):
        tools = super().tools()
        for tool in tools[:3]:
            takes = tool["inputSchema"]
            takes["properties"] = {{n.replace("query", "words"): node for n, node in takes["properties"].items()}}
            takes["required"] = ["words"]
        return [{{**tools[0], "name": "requires_words"}}, tools[2]]

    def call_tool(self, name, arguments):
        name = "recall_memories" if name == "requires_words" else name
        return super().call_tool(name, {{**arguments, "query": arguments["words"]}})

RequiresWords().serve()
"""
"""A server whose query has an unusual name."""


def test_results_that_each_process_orders_otherwise_are_said_to_be_compared_by_their_number(tmp_path: Path) -> None:
    name = "orders_its_memories_by_the_moment_of_storing"
    (tmp_path / "lro.yaml").write_text(profile_text(name, sounds()[name].profile), encoding="utf-8")
    report = certify(profiles.load(tmp_path / "lro.yaml"), seed=1, examples=0, only={"LRO-FILE-09"})
    assert any("only its number of records was compared (lro explain I-31)" in note for note in report.notes)
