"""Reading reports from JSON, including reports of other releases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from lro_conformance.errors import UsageError
from lro_conformance.judging.results import (
    Acceptance,
    CheckResult,
    Coverage,
    DecidedCall,
    ExploredCalls,
    Report,
    RequirementResult,
    ServerInfo,
    Span,
)
from lro_conformance.judging.verdicts import Verdict
from lro_spec.catalogue import Requirement, catalogue
from lro_spec.display import pointer
from lro_spec.jsonl.strict import StrictJsonError, loads

MAX_BYTES = 16 * 1024 * 1024
"""Largest file that is read. Reports have a few megabytes at most."""

MAX_REQUIREMENTS = 1_000
"""Largest number of requirements in a report."""

MAX_NAME_CHARACTERS = 1_000
"""Largest number of characters in the name of the server, and in its version."""


def read_report(path: Path) -> Report:
    """Read the report in the file at *path*. Raises `UsageError` if the file cannot be read or is not a report."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read: {problem.strerror}") from None
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path}: larger than {MAX_BYTES:,} bytes; expected a report of `lro certify --json`")
    try:
        value: Any = loads(data)
    except StrictJsonError as problem:
        raise UsageError(
            f"{path}:{problem.line}: {problem.problem}: expected a report of `lro certify --json`"
        ) from None
    return parse_report(value, str(path))


def parse_report(value: Any, name: str = "the report") -> Report:
    """Build a report from its JSON form; keys that this release does not know are ignored.

    Title, keyword and level of a requirement come from the report. Its statement and fix are not part of a report:
    they come from the catalogue of this release, and are empty if the catalogue does not have the id. Raises
    `UsageError` if *value* is not a report.
    """
    from lro_spec.schema.errors import violations

    if not _has_format(value):
        raise UsageError(f"{name}: not a report; expected a report of `lro certify --json`")
    if (reason := _reason_to_reject(value)) is not None:  # before validation by the schema, which would take minutes
        raise UsageError(f"{name}: {reason}; expected a report of `lro certify --json`")
    for error in violations(value, "report"):
        where = pointer(list(error.path)) or "the document"
        raise UsageError(f"{name}: {where}: expected {error.expected}, got {error.observed}")
    definitions = {r.id: r for r in catalogue(value["edition"])}
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
        requirements=tuple(_result(r, definitions, value["edition"]) for r in value["requirements"]),
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
        decided=tuple(
            DecidedCall(**{f.name: d[f.name] for f in fields(DecidedCall)}) for d in value.get("decided", ())
        ),
        incomplete=value.get("incomplete", ""),
        all_experiments=value.get("all_experiments", False),
        coverage=_coverage(value["explored"]) if "explored" in value else None,
    )


def _reason_to_reject(value: Mapping[str, Any]) -> str | None:
    """Reason why a report is absurdly large or contradictory; None if it is neither."""
    results, server = value.get("requirements"), value.get("server")
    if isinstance(results, list):
        ids = [cast("dict[str, Any]", r).get("id") for r in cast("list[Any]", results) if isinstance(r, dict)]
        if len(ids) > MAX_REQUIREMENTS:
            return f"{len(ids):,} requirements"
        repeated_id = next((id for id, times in Counter(map(str, ids)).items() if times > 1), None)
        if repeated_id is not None:
            return f"the requirement {repeated_id[:40]} occurs twice"
    for key in ("name", "version") if isinstance(server, dict) else ():
        text = cast("dict[str, Any]", server).get(key)
        if isinstance(text, str) and len(text) > MAX_NAME_CHARACTERS:
            return f"server.{key} has {len(text):,} characters"
    return None


def _has_format(value: object) -> bool:
    return isinstance(value, Mapping) and "format" in value


def _result(value: Mapping[str, Any], definitions: Mapping[str, Requirement], edition: str) -> RequirementResult:
    id = value["id"]
    definition = definitions.get(id)
    requirement = Requirement(
        id=id,
        title=value.get("title", definition.title if definition else id),
        group=value["group"],
        keyword=value["keyword"],
        level=value["level"],
        section=definition.section if definition else "",
        statement=definition.statement if definition else "",
        rationale=definition.rationale if definition else "",
        observed=definition.observed if definition else "",
        fix=definition.fix if definition else "",
        editions=definition.editions if definition else (edition,),
        excluded=definition.excluded if definition else None,
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
            place=c.get("place", ""),
            elsewhere=c.get("elsewhere", False),
            hindered=c.get("hindered", False),
        )
        for c in value["checks"]
    )
    return RequirementResult(requirement, Verdict.of(value["verdict"]), checks, value.get("reason", ""))


def _acceptance(value: Mapping[str, Any]) -> Acceptance:
    verdict = Verdict.of(value["verdict"])
    return Acceptance(value["check"], value["requirement"], verdict, value["until"], value["reason"], value["state"])


def _coverage(value: Mapping[str, Any]) -> Coverage:
    calls = tuple(
        ExploredCalls(**{f.name: c[f.name] for f in fields(ExploredCalls) if f.name in c}) for c in value["calls"]
    )
    counts = {f.name: value[f.name] for f in fields(Coverage) if f.name != "calls" and f.name in value}
    return Coverage(**counts, calls=calls)


def _span(value: Mapping[str, Any]) -> Span:
    return Span(
        value["name"],
        value.get("title", ""),
        value["kind"],
        value["started_s"],
        value["duration_s"],
        value.get("problem"),
    )
