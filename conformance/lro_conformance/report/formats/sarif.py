"""SARIF 2.1.0 for code scanning: reports, and findings of `lro validate`.

Only some forty keys of the format are needed. They are written by hand, and tests validate them against the official
schema: the object models on PyPI have been unmaintained since 2019, or accept documents that the schema rejects.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from lro_conformance.judging.results import Acceptance, Report, RequirementResult
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.details import detail_of, failure_lines
from lro_conformance.report.formats.github import from_workspace
from lro_conformance.report.sanitize import one_line
from lro_conformance.report.view import acceptance_line

VERSION = "2.1.0"
SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

Level = Literal["error", "warning", "note", "none"]

NO_VERDICT, BASELINE = "no-verdict", "baseline"
"""Ids of `OWN_RULES`."""

LEVELS: Mapping[Verdict, Level] = {Verdict.FAIL: "error", Verdict.WARN: "warning", Verdict.ERROR: "note"}
"""Verdicts that become results, with their level in SARIF. An *error* is a defect of the suite, and so only a note."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that results violate: a requirement, or one of `OWN_RULES`."""

    id: str
    title: str
    statement: str = ""
    """The requirement in full."""
    help: str = ""
    """Instructions for fixing a violation."""
    level: Level = "error"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """A violation and its location."""

    rule: str
    """Id of the rule."""
    message: str
    level: Level = "error"
    path: str | None = None
    """The file; None for standard input, a response of a server, and anything else outside of files."""
    line: int | None = None
    """From 1."""
    column: int | None = None
    """From 1, in characters; ignored without a line."""
    snippet: str = ""
    """The line, or the part of it around the column."""
    logical_location: str = ""
    """Logical location: a JSON pointer or the name of a check."""
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further JSON values, for readers of the result."""
    accepted: str = ""
    """Reason for accepting the violation; empty if it is not accepted."""
    identity: str = ""
    """Text that is the same in every run, and distinguishes results with the same rule and place. If it is empty, the
    message is used instead."""


OWN_RULES = {
    NO_VERDICT: Rule(NO_VERDICT, "The server could not be observed"),
    BASELINE: Rule(BASELINE, "An entry of the baseline is stale or expired"),
}
"""Rules that do not stand for a requirement."""


def to_sarif(report: Report, profile: str) -> str:
    """The report as a SARIF log.

    It has a result for each check that gives its requirement the verdict *fail*, *warn* or *error*, and a result for
    each entry of the baseline that is stale or expired. If the run has no verdict (`Report.failure`), it has one more
    result.

    Code scanning only shows results that have a file, so all results point to the file *profile*.
    """
    rules = {**requirement_rules(), **{r.requirement.id: _rule_of(r) for r in report.requirements}}
    return as_json(
        sarif_log(
            _results(report, profile),
            rules | OWN_RULES,
            version=report.suite_version,
            successful=report.failure is None,
            properties={
                "edition": one_line(report.edition),
                "server": one_line(f"{report.server.name} {report.server.version}".strip()),
                "achieved": report.achieved,
                "levels": {str(n): level for n, level in report.levels.items()},
                "seed": report.seed,
            },
        )
    )


def requirement_rules() -> dict[str, Rule]:
    """The requirements of the catalogue as rules, by id."""
    from lro_spec.catalogue import chapters

    levels: Mapping[str, Level] = {"MUST": "error", "SHOULD": "warning", "MAY": "note"}
    return {
        r.id: Rule(r.id, r.title, r.statement, r.fix, levels[r.keyword], (r.group, r.keyword))
        for chapter in chapters()
        for r in chapter.requirements
    }


def sarif_log(
    results: Iterable[Result],
    rules: Mapping[str, Rule],
    *,
    version: str,
    successful: bool = True,
    properties: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A SARIF log with one run. The run lists the *rules* that its results refer to, and no others.

    *version* is the version of this package. *successful* is false if the tool could not do its work; results do not
    make a run unsuccessful. *properties* belong to the run.
    """
    listed = list(results)
    used = sorted({result.rule for result in listed})
    index = {id: number for number, id in enumerate(used)}
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "lro-spec",
                "version": version,
                "rules": [_rule_object(rules.get(id, Rule(id, id))) for id in used],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": successful}],
        "results": [_result_object(result, index[result.rule]) for result in listed],
    }
    if properties:
        run["properties"] = dict(properties)
    return {"$schema": SCHEMA_URI, "version": VERSION, "runs": [run]}


def as_json(document: Mapping[str, Any]) -> str:
    """A log as JSON in ASCII: lone surrogates are escaped, like all other characters outside ASCII."""
    return json.dumps(document, indent=1) + "\n"


def uri(path: str) -> str:
    """A path as a URI reference; a relative path stays relative, so that files of a repository are found."""
    path = from_workspace(path)
    if Path(path).is_absolute():
        return Path(path).as_uri()
    return quote(Path(path).as_posix().encode("utf-8", "surrogateescape"))


def _rule_object(rule: Rule) -> dict[str, Any]:
    value: dict[str, Any] = {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "defaultConfiguration": {"level": rule.level},
    }
    if rule.statement:
        value["fullDescription"] = {"text": rule.statement}
    if rule.help:
        value["help"] = {"text": rule.help}
    if rule.tags:
        value["properties"] = {"tags": list(rule.tags)}
    return value


def _result_object(result: Result, index: int) -> dict[str, Any]:
    value: dict[str, Any] = {
        "ruleId": result.rule,
        "ruleIndex": index,
        "level": result.level,
        "message": {"text": result.message},
    }
    location = _location_object(result)
    if location:
        value["locations"] = [location]
    # made without line numbers, so that the result is recognised in the next run even if lines have moved
    fingerprint = "\n".join(
        (result.rule, result.path or "", result.logical_location, result.identity or result.message)
    )
    value["partialFingerprints"] = {
        "lroResult/v1": hashlib.sha256(fingerprint.encode("utf-8", "replace")).hexdigest()[:32]
    }
    if result.accepted:
        value["suppressions"] = [{"kind": "external", "status": "accepted", "justification": result.accepted}]
    if result.properties:
        value["properties"] = dict(result.properties)
    return value


def _location_object(result: Result) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if result.path is not None:
        physical: dict[str, Any] = {"artifactLocation": {"uri": uri(result.path)}}
        if result.line is not None:
            physical["region"] = region = {"startLine": result.line}
            if result.column is not None:
                region["startColumn"] = result.column
            if result.snippet:
                physical["contextRegion"] = {"startLine": result.line, "snippet": {"text": result.snippet}}
        location["physicalLocation"] = physical
    if result.logical_location:
        location["logicalLocations"] = [{"fullyQualifiedName": result.logical_location}]
    return location


def _results(report: Report, profile: str) -> Iterator[Result]:
    if report.failure is not None:
        message = "\n".join(failure_lines(report))
        yield Result(NO_VERDICT, message, path=profile, line=1, identity="no verdict")
    for entry in report.baseline:
        if entry.state in ("stale", "expired"):
            message = f"{entry.state}: {acceptance_line(entry)}"
            yield Result(
                BASELINE, message, path=profile, line=1, logical_location=one_line(entry.check), identity=entry.state
            )
    accepted = {a.check: a for a in report.baseline if a.state == "accepted"}
    for result in report.requirements:
        if result.verdict in LEVELS:
            yield from _check_results(result, accepted, profile)


def _check_results(result: RequirementResult, accepted: Mapping[str, Acceptance], profile: str) -> Iterator[Result]:
    detail = detail_of(result)
    for check in detail.checks:
        expected, observed = " ".join(check.expected), " ".join(check.observed)
        yield Result(
            detail.id,
            f"{one_line(detail.title)}: expected {expected}; observed {observed}",
            LEVELS[detail.verdict],
            path=profile,
            line=1,
            logical_location=check.name,
            properties={"binding": detail.binding, "examined": check.subjects, "evidence": list(check.evidence)},
            accepted=_justification(accepted.get(check.name)),
            identity=check.name,  # numbers in the message may differ in the next run
        )


def _justification(entry: Acceptance | None) -> str:
    return "" if entry is None else one_line(f"until {entry.until}: {entry.explanation}")


def _rule_of(result: RequirementResult) -> Rule:
    detail, r = detail_of(result), result.requirement
    level: Level = "error" if r.keyword == "MUST" else "warning"
    return Rule(r.id, detail.title, detail.statement, detail.fix, level, (one_line(r.group), r.keyword))
