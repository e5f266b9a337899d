"""Nothing is decided by the wording of a finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lro_spec.findings import Finding
from lro_spec.jsonl.strict import StrictJsonError
from tests.golden.kept import DOCUMENTS, GROUPS

INPUTS: Mapping[str, Any] = {
    f"{group}: {name}": say
    for group, cases in {**DOCUMENTS, "files": GROUPS["files"], "descriptors": GROUPS["descriptors"]}.items()
    for name, say in cases.items()
}
WORD = "word"


def _without_words(finding: Finding) -> str:
    place = f"{finding.path} {finding.line} {finding.column} {finding.pointer}"
    return f"{finding.severity} {finding.rule} {finding.kind} at {place}"


@pytest.mark.parametrize("name", INPUTS)
def test_other_words_leave_rules_kinds_severities_and_places(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Finding, "__str__", _without_words)
    usual = INPUTS[name]()
    made, strict = Finding.__init__, StrictJsonError.__init__

    def mute(
        self: Finding, rule: Any, kind: Any, pointer: Any, message: Any, expected: Any, observed: Any, hint: Any = "",
        *rest: Any, **others: Any
    ) -> None:  # fmt: skip
        made(self, rule, kind, pointer, WORD, WORD, WORD, WORD, *rest, **others)

    def mute_error(self: StrictJsonError, problem: Any, *rest: Any, **others: Any) -> None:
        strict(self, WORD, *rest, **others)

    monkeypatch.setattr(Finding, "__init__", mute)
    monkeypatch.setattr(StrictJsonError, "__init__", mute_error)
    assert INPUTS[name]() == usual
