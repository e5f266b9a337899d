"""`lro validate` and `lro certify` agree on every descriptor and file, and no verdict depends on words."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lro_conformance import profile as profiles
from lro_conformance.analysis.documents import Document, Documents
from lro_conformance.analysis.documents import validated as validated_document
from lro_conformance.cli.main import main
from lro_conformance.engine.judgement import judge_again
from lro_conformance.engine.run import certify
from lro_conformance.evidence.reader import Stored, read
from lro_conformance.judging.check import Subjects, checks, checks_of
from lro_conformance.judging.check import judge as judge_check
from lro_conformance.judging.derived import Evidence
from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.trials.survey import Survey
from lro_spec.catalogue import catalogue
from lro_spec.editions import edition
from lro_spec.findings import Finding, Kind
from lro_spec.validation.editions import for_edition
from lro_spec.validation.linked import Following
from lro_spec.validation.recipes import RecipeJudge
from lro_spec.validation.request import Request
from tests.golden.unusual import of as made_call
from tests.servers.editions.catalogue import variants
from tests.servers.faults.catalogue import faults
from tests.servers.sound.catalogue import sounds
from tests.servers.variants import profile_text
from tests.support.paths import ROOT

SERVERS = {**faults(), **sounds(), **variants()}
ALWAYS = ("summary_count_includes_the_header", "integers_pass_through_floats")
"""Servers that are tried each time; the others with ``--long``."""
RECORDED = sorted((ROOT / "tests/data/evidence").glob("*.tar.xz"))

IN_DOUBT = frozenset((Kind.CONTRADICTION, Kind.NAME_AGAINST_SUMMARY))
"""Without the call nobody knows which of two parts is wrong; with it, only one is."""
OF_THE_CALL = frozenset((Kind.NOT_AS_ASKED,))


def of_documents() -> frozenset[str]:
    """The requirements that are judged by what validation finds."""
    return frozenset(c.requirement for c in checks() if {"documents", "recipes"} & {*c.needs})


def found(stored: Stored) -> Documents:
    survey = stored.trials["survey"]
    assert isinstance(survey, Survey)
    known = {n: one for n, one in stored.trials.items() if not isinstance(one, BaseException)}
    selected = Evidence(stored.profile.edition, known).select(["recipes"])["recipes"]
    assert isinstance(selected, Documents)
    return selected


def validated(one: Document, folder: Path, text: str, judge: RecipeJudge) -> list[Finding]:
    """What `lro validate --follow` finds, with the file in a folder of its own.

    As there are many files, *judge* looks for what it looks for in the others.
    """
    if one.call.file is not None and one.read and one.call.found is not None:
        folder.mkdir()
        (folder / Path(one.call.file.path).name).write_bytes(one.call.file.data)
    linked = Following(one.descriptor, edition=text, folder=folder, recipes=False)
    alone = list(linked.findings())
    if not isinstance(one.descriptor.get("jq_recipes"), list) or linked.path is None:
        return alone
    return [*alone, *for_edition(judge.judge(one.descriptor, linked.sample, edition(text)).findings, edition(text))]


def disagreements(stored: Stored, report: Report, folder: Path) -> Iterator[str]:
    """The requirements that one of the two says a document breaks, and the other one does not."""
    text = stored.profile.edition
    verdicts = {r.requirement.id: r.verdict for r in report.requirements}
    judged = {r.id for r in catalogue(text)} & of_documents()
    with RecipeJudge(fallback=True) as judge:
        known = [(one, validated(one, folder / str(n), text, judge)) for n, one in enumerate(found(stored).documents)]
    for one, told in known:
        alone = {f.rule for f in told if f.severity == "error" and f.kind not in IN_DOUBT}
        certified = {f.rule for f in one.findings if f.severity == "error" and f.kind not in IN_DOUBT | OF_THE_CALL}
        for rule in sorted((alone ^ certified) & judged - {"LRO-DESC-02"}):
            yield f"{rule}: {one.call.label}: {[str(f) for f in (*told, *one.findings) if f.rule == rule][:2]}"
        for rule in sorted(alone & judged):
            if verdicts[rule] is Verdict.PASS:
                yield f"{rule}: {one.call.label} breaks it, and certify passes it"


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recorded_documents_are_judged_alike(path: Path, tmp_path: Path) -> None:
    stored = unpacked(path, tmp_path)
    assert list(disagreements(stored, judge_again(stored), tmp_path)) == []


@pytest.mark.parametrize("name", [n if n in ALWAYS else pytest.param(n, marks=pytest.mark.long) for n in SERVERS])
def test_documents_of_servers_are_judged_alike(name: str, tmp_path: Path) -> None:
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text(name, SERVERS[name].profile), encoding="utf-8")
    report = certify(profiles.load(path), seed=1, examples=0, evidence=tmp_path / "evidence")
    stored = read(tmp_path / "evidence")
    if isinstance(stored.trials.get("survey"), Survey) and report.implemented:
        assert list(disagreements(stored, report, tmp_path)) == []


def unpacked(path: Path, folder: Path) -> Stored:
    with tarfile.open(path) as archive:
        archive.extractall(folder, filter="data")
    return read(next(folder.rglob("evidence.json")).parent)


def counted(report: Report) -> list[Any]:
    return [(c.name, c.verdict, c.subjects, c.erratum) for r in report.requirements for c in r.checks]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_other_words_leave_verdicts_and_counts(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = unpacked(path, tmp_path)
    usual = counted(judge_again(stored))
    made, expect = Finding.__init__, Subjects.expect

    def mute(
        self: Finding, rule: Any, kind: Any, pointer: Any, message: Any, expected: Any, observed: Any, hint: Any = "",
        *rest: Any, **others: Any
    ) -> None:  # fmt: skip
        made(self, rule, kind, pointer, "word", "word", "word", "word", *rest, **others)

    def mute_expect(self: Subjects, holds: bool, *, expected: str, observed: str, at: object = None) -> bool:
        return expect(self, holds, expected="word", observed="word", at=at)

    monkeypatch.setattr(Finding, "__init__", mute)
    monkeypatch.setattr(Subjects, "expect", mute_expect)
    assert counted(judge_again(stored)) == usual


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
