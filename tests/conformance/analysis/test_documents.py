"""`lro validate` and `lro certify` agree on every descriptor and file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lro_conformance import profile as profiles
from lro_conformance.analysis import documents
from lro_conformance.analysis.documents import Documents
from lro_conformance.analysis.documents import validated as validated_document
from lro_conformance.cli.main import main
from lro_conformance.engine.run import certify
from lro_conformance.evidence.reader import read
from lro_conformance.judging.check import checks_of
from lro_conformance.judging.check import judge as judge_check
from lro_conformance.judging.subjects import PLACES_OF_INDIRECT_CAUSES, SHARED_FILE
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.trials.exploration import Explored
from lro_conformance.trials.survey import Survey
from lro_spec.editions import edition
from lro_spec.validation.request import Request
from tests.golden.unusual import of as made_call
from tests.servers.editions.catalogue import variants
from tests.servers.faults.catalogue import faults
from tests.servers.sound.catalogue import sounds
from tests.servers.variants import profile_text
from tests.support.agreement import disagreements
from tests.support.made import Made
from tests.support.private import inner

SERVERS = {**faults(), **sounds(), **variants()}


@pytest.mark.long
@pytest.mark.parametrize("name", SERVERS)
def test_documents_of_servers_are_judged_alike(name: str, tmp_path: Path) -> None:
    """Those of a recorded server are judged each time (evidence/test_earlier_releases.py)."""
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text(name, SERVERS[name].profile), encoding="utf-8")
    report = certify(profiles.load(path), seed=1, examples=0, evidence=tmp_path / "evidence")
    stored = read(tmp_path / "evidence")
    if isinstance(stored.trials.get("survey"), Survey) and report.implemented:
        assert list(disagreements(stored, report, tmp_path)) == []


RECORD: dict[str, Any] = {
    "id": "m1", "memory_type": "semantic", "namespace": "a", "title": "one", "content": "text", "created": "2026-01-01",
}  # fmt: skip
FORMS: dict[str, tuple[str, dict[str, Any], dict[str, Any], bool]] = {
    "a confidence in words": ("LRO-FILE-11", {"provenance": {"confidence": "0.9"}}, {}, True),
    "an id that is a number": ("LRO-FILE-11", {"id": 7}, {}, True),
    "a temporal that is a text": ("LRO-FILE-11", {"temporal": "x"}, {}, True),
    "extensions in a list": ("LRO-FILE-11", {"extensions": [1]}, {}, True),
    "a provenance in a list": ("LRO-FILE-11", {"provenance": [1]}, {}, False),
    "a count with a fraction of nothing": ("LRO-FILE-03", {}, {"count": 1.0}, True),
    "a count with a fraction": ("LRO-FILE-03", {}, {"count": 1.5}, False),
    "a version of blanks": ("LRO-FILE-12", {}, {"schema_version": " "}, True),
    "a version of nothing": ("LRO-FILE-12", {}, {"schema_version": ""}, False),
}
"""Forms on which the two once disagreed: the requirement, a change of record and header, and whether it is allowed."""


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_values_are_judged_alike(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule, record, header, allowed = FORMS[form]
    call = made_call([{**RECORD, **record}], 3, header=header)
    document = validated_document(call, Request(call.operation, "full"), edition("lro-6400"))
    verdicts = {
        judge_check(c, {"documents": Documents((document,), {})}).verdict
        for c in checks_of(rule)
        if c.needs == ("documents",)
    }
    assert verdicts == {Verdict.PASS if allowed else Verdict.FAIL}
    assert call.file is not None
    path = tmp_path / Path(call.file.path).name
    path.write_bytes(call.file.data)
    main(["validate", str(path), "--format", "json"])
    assert (f'"{rule}"' in capsys.readouterr().out) is not allowed


def test_a_file_that_was_wrong_from_the_first_is_a_cause_of_its_own() -> None:
    """Only where each call that names it was not the first may the reason be that calls share files."""
    call = made_call([RECORD], 3, header={"count": 1.5})
    document = validated_document(call, Request(call.operation, "full"), edition("lro-6400"))
    reply: Any = Made(**{**vars(call.reply), "id": 8})
    again = replace(document, call=replace(call, reply=reply))
    (check,) = (c for c in checks_of("LRO-FILE-03") if c.needs == ("documents",))
    places = [
        judge_check(check, {"documents": Documents(seen, {}, repeated=frozenset({again.call.identity}))}).place
        for seen in ((again,), (again, document))
    ]
    assert places[0] == SHARED_FILE
    assert places[1] not in PLACES_OF_INDIRECT_CAUSES


def test_half_of_a_surrogate_pair_is_no_erratum_of_the_specification() -> None:
    """JSON allows its escape, but readers differ in what they make of it."""
    call = made_call([{**RECORD, "content": "half"}], 3)
    assert call.file is not None
    call = replace(call, file=replace(call.file, data=call.file.data.replace(b'"half"', b'"\\ud83d"')))
    document = validated_document(call, Request(call.operation, "full"), edition("lro-6400"))
    (check,) = (c for c in checks_of("LRO-FILE-01") if c.needs == ("documents",))
    found = judge_check(check, {"documents": Documents((document,), {})})
    assert (found.verdict, found.erratum) == (Verdict.WARN, False)
    assert "surrogate" in found.observed


def test_a_text_that_no_record_has_is_no_failure_where_it_may_be_empty() -> None:
    records = [{key: value for key, value in {**RECORD, "id": id}.items() if key != "content"} for id in "ab"]
    call = made_call(records, 3, header={"detail": "full"})
    document = validated_document(call, Request(call.operation, "full"), edition("lro-6400"))
    (check,) = (c for c in checks_of("LRO-FILE-11") if c.needs == ("documents",))
    verdicts = [
        judge_check(check, {"documents": Documents((one,), {})}).verdict
        for one in (document, replace(document, may_be_empty="other files have it"))
    ]
    assert verdicts == [Verdict.FAIL, Verdict.NOT_OBSERVED]


def test_a_memory_that_the_suite_stored_twice_may_be_in_a_file_twice() -> None:
    """A server that keeps all versions may find one of them inline, and both in a file."""
    older, newer = {"id": "m1", "title": "older"}, {"id": "m1", "title": "newer"}
    found = inner(documents, "_stored_more_than_once")
    assert found([], Explored(memories=(older, newer, {"id": "m2"}))) == {"m1": 2}
    assert found([Made(records=[older, older, older])], Explored(memories=(older, newer))) == {"m1": 3}
    assert found([Made(records=None)], None) == {}
