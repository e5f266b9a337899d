"""Where identical calls differ, further ones may differ more than those that were compared."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.trials import edges
from tests.servers.variants import PROFILE
from tests.support.made import Made
from tests.support.paths import ROOT
from tests.support.private import inner

SERVER = """\
import sys
sys.path.insert(0, {root!r})
from tests.servers.plain import Server

class GrowsLater(Server):
    def at_detail(self, memory, detail):
        seen = (4 * (self.calls % 2)) if self.settings.threshold == 1 else 10
        return {{**super().at_detail(memory, detail), "x_seen": "." * seen}}

GrowsLater().serve()
"""
"""A server whose records differ by 0 or 4 characters at the lowest threshold, and are 6 longer at any other."""


def test_a_result_that_is_larger_than_the_largest_compared_one_is_not_blamed(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER.format(root=str(ROOT)))
    path = tmp_path / "lro.yaml"
    path.write_text(f"server: {{command: [{sys.executable}, -I, -S, {tmp_path / 'server.py'}]}}\n")
    name = "threshold.equal_to_threshold_stays_inline"
    report = certify(profiles.load(path), seed=1, examples=0, only={name})
    (result,) = [c for r in report.requirements for c in r.checks if c.name == name]
    assert result.verdict is Verdict.PASS, result


TEXT_SERVER = """\
import sys
sys.path.insert(0, {root!r})
from tests.servers.plain import Server

class DecidesByTheText(Server):
    def formatted(self, call):
        names = {fields!r}
        return "\\n".join(" ".join(str(r.get(name)) for name in names) for r in call.records)

    def inject_text(self, call, budget):
        return self.formatted(call)

    def inline(self, call):
        return self.text(self.formatted(call)) if call.operation == {operation!r} else super().inline(call)

    def exceeds(self, tokens, threshold):
        return self.compared > threshold

    def threshold(self, call):
        own = call.operation == {operation!r}
        self.compared = self.estimate([self.formatted(call)]) if own else call.tokens
        return super().threshold(call)

DecidesByTheText().serve()
"""
"""A server of which one operation compares its formatted text, while its header states the estimate of the records."""


@pytest.mark.parametrize(
    ("operation", "fields", "blamed"),
    [
        pytest.param(  # more than half of E
            "inject", ("title", "content", "entities", "namespace"), "LRO-INJ-02", marks=pytest.mark.long
        ),
        ("inject", ("title", "content"), "LRO-INJ-02"),
        ("recall", ("id", "title", "namespace"), "LRO-FILE-13"),
    ],
)
def test_a_decision_by_the_formatted_text_is_no_threshold_of_its_own(
    tmp_path: Path, operation: str, fields: tuple[str, ...], blamed: str
) -> None:
    server = TEXT_SERVER.format(root=str(ROOT), operation=operation, fields=fields)
    (tmp_path / "server.py").write_text(server)
    path = tmp_path / "lro.yaml"
    path.write_text(PROFILE.format(command=f'["{sys.executable}", "-I", "-S", "{tmp_path / "server.py"}"]'))
    judged = ("LRO-THR-06", "LRO-THR-07", "LRO-THR-09", "LRO-FILE-13", "LRO-INJ-02")
    report = certify(profiles.load(path), seed=1, examples=0, only={*judged})
    failed = [r for r in report.requirements if r.verdict is Verdict.FAIL]
    assert [r.requirement.id for r in failed] == [blamed]
    (said,) = [c.observed for c in failed[0].checks if c.verdict is Verdict.FAIL]
    assert " tokens): the same call is offloaded at threshold " in said


@pytest.mark.parametrize(("seconds", "expected"), [(0.01, True), (1.2, False)])
def test_no_result_is_placed_where_storing_takes_long(seconds: float, expected: bool) -> None:
    """Two servers more take less time than some hundred calls of a slow one."""
    calls = [Made(started=5.0, ended=5.0 + seconds) for _ in range(2)]
    operation = Made(query="q", budget=None)
    seen = Made(operations={"search": operation}, volatile_operations=frozenset(), repeats={"search": calls})
    lab = Made(profile=Made(seed=Made(tool="store")))
    assert inner(edges, "_can_be_filled")(lab, seen, "search") is expected


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("# one\n# two", False),
        ("# one", False),  # a budget may have cut it
        ("# one\nsee also: three", True),
        ("# one\n# two\nsee also: three", False),
        ("# two\n# three", True),
        ("nothing", False),
    ],
)
def test_a_text_shows_other_records_than_known_by_the_titles_of_stored_ones(text: str, others: bool) -> None:
    known = Made(file_records=[{"title": "one"}, {"title": "two"}, {"content": "untitled"}])
    stored = [{"title": title} for title in ("one", "two", "three", "")]
    call = Made(outcome="inline", records=None, file_records=[], text=text)
    assert inner(edges, "_returned_others")(call, known, stored) is others
