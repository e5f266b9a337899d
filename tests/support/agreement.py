"""Whether `lro validate` and `lro certify` agree on the descriptors and files that a run captured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lro_conformance.analysis.documents import Document, Documents
from lro_conformance.evidence.reader import Stored
from lro_conformance.judging.check import checks
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
    """The findings of `lro validate --follow`, with the file in a folder of its own.

    As there are many files, *judge* looks for what it looks for in the others.
    """
    if one.call.file is not None and one.file_was_read and one.call.found_descriptor is not None:
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
