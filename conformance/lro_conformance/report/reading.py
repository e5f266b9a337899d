"""A report read back from its JSON form, of this release or of another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lro_conformance.misuse import Misuse
from lro_conformance.report.model import Acceptance, CheckResult, Report, RequirementResult, ServerInfo, Span
from lro_conformance.verdicts import Verdict
from lro_spec.findings import pointer
from lro_spec.requirements import Requirement, catalogue
from lro_spec.strictjson import StrictJsonError, loads

MAX_BYTES = 256 * 1024 * 1024
"""A larger file is no report: the largest one seen had three megabytes."""


def read_report(path: Path) -> Report:
    """The report in the file at *path*. Raises `Misuse`, in one line, when there is none."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as problem:
        raise Misuse(f"{path}: cannot be read: {problem.strerror}") from None
    if len(data) > MAX_BYTES:
        raise Misuse(f"{path}: more than {MAX_BYTES:,} bytes: that is no report of `lro certify --json`")
    try:
        value: Any = loads(data)
    except StrictJsonError as problem:
        raise Misuse(f"{path}:{problem.line}: {problem.problem}: expected a report of `lro certify --json`") from None
    return report_of(value, str(path))


def report_of(value: Any, name: str = "the report") -> Report:
    """The report whose JSON form is *value*; keys that this release does not know are left out.

    What a requirement says, and how its failure is mended, comes from this release's catalogue where it still knows the
    id; its title, keyword and level are the report's. Raises `Misuse` when *value* is no report.
    """
    from lro_spec.schema_errors import violations

    if not _names_its_format(value):
        raise Misuse(f"{name}: no report: expected what `lro certify --json` writes")
    for error in violations(value, "report"):
        where = pointer(list(error.path)) or "the document"
        raise Misuse(f"{name}: {where}: expected {error.expected}, got {error.observed}")
    known = {r.id: r for r in catalogue(value["edition"])}
    level = value["level"]
    return Report(
        suite_version=value["suite"]["version"],
        edition=value["edition"],
        server=ServerInfo(
            value["server"]["name"],
            value["server"]["version"],
            tuple(value["server"]["command"]),
            value["server"]["protocol"],
        ),
        implemented=value["implemented"],
        claimed=level["claimed"],
        levels={n: level[str(n)] for n in (1, 2, 3)},
        achieved=level["achieved"],
        requirements=tuple(_result(r, known, value["edition"]) for r in value["requirements"]),
        seed=value["seed"],
        started_at=value["started_at"],
        duration_s=value["duration_s"],
        notes=tuple(value.get("notes", ())),
        failure=value.get("failure"),
        reproduce=value.get("reproduce", ""),
        starts=value.get("server_starts", 0),
        hardening=value.get("hardening", "not-observed"),
        extensions=dict(value.get("extensions", {})),
        baseline=tuple(map(_acceptance, value.get("baseline", ()))),
        timeline=tuple(map(_span, value.get("timeline", ()))),
    )


def _names_its_format(value: object) -> bool:
    return isinstance(value, Mapping) and "format" in value


def _result(value: Mapping[str, Any], known: Mapping[str, Requirement], edition: str) -> RequirementResult:
    id = value["id"]
    here = known.get(id)
    requirement = Requirement(
        id=id,
        title=value.get("title", here.title if here else id),
        group=value["group"],
        keyword=value["keyword"],
        level=value["level"],
        section=here.section if here else "",
        statement=here.statement if here else "",
        rationale=here.rationale if here else "",
        observed=here.observed if here else "",
        mend=here.mend if here else "",
        editions=here.editions if here else (edition,),
        excluded=here.excluded if here else None,
    )
    checks = tuple(
        CheckResult(
            name=c["name"],
            requirement=id,
            verdict=Verdict.of(c["verdict"]),
            subjects=c["subjects"],
            expected=c["expected"],
            observed=c["observed"],
            evidence=c["evidence"],
            erratum=c.get("erratum", False),
            reproduce=c.get("reproduce", ""),
            location=c.get("location", ""),
        )
        for c in value["checks"]
    )
    return RequirementResult(requirement, Verdict.of(value["verdict"]), checks, value.get("reason", ""))


def _acceptance(value: Mapping[str, Any]) -> Acceptance:
    verdict = Verdict.of(value["verdict"])
    return Acceptance(value["check"], value["requirement"], verdict, value["until"], value["reason"], value["state"])


def _span(value: Mapping[str, Any]) -> Span:
    return Span(
        value["name"],
        value.get("title", ""),
        value["kind"],
        value["started_s"],
        value["duration_s"],
        value.get("problem"),
    )
