"""SARIF 2.1.0, the format in which code scanning takes results; for `lro validate` and for reports of a certification.

The shape is written by hand and held to the official schema by tests: the object models on PyPI either rest since 2019
or let through what the schema refuses, and twenty keys are all that is needed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from lro_conformance.report.workflow import from_workspace

VERSION = "2.1.0"
SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

Level = Literal["error", "warning", "note", "none"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a result breaks."""

    id: str
    title: str
    statement: str = ""
    """What is required."""
    help: str = ""
    """How it is mended."""
    level: Level = "error"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """One deviation, and where it is."""

    rule: str
    """The id of its rule."""
    message: str
    level: Level = "error"
    path: str | None = None
    """The file; None where it is in none, like standard input or a server's answer."""
    line: int | None = None
    """From 1."""
    column: int | None = None
    """From 1, in characters. Only told together with a line."""
    snippet: str = ""
    """The line, or the part of it around the column."""
    place: str = ""
    """Where it is in other words: a JSON pointer, the name of a tool."""
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What else a reader may want; any JSON values."""
    accepted: str = ""
    """Why it is accepted as it is; empty where it is not."""
    identity: str = ""
    """What tells it from others of its rule and place in every run; by default its message does."""


def requirement_rules() -> dict[str, Rule]:
    """The requirements of the catalogue as rules, by id."""
    from lro_spec.requirements import chapters

    levels: Mapping[str, Level] = {"MUST": "error", "SHOULD": "warning", "MAY": "note"}
    return {
        r.id: Rule(r.id, r.title, r.statement, r.mend, levels[r.keyword], (r.group, r.keyword))
        for chapter in chapters()
        for r in chapter.requirements
    }


def log(
    results: Iterable[Result],
    rules: Mapping[str, Rule],
    *,
    version: str,
    successful: bool = True,
    properties: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One SARIF log with one run. *rules* explains the results; those that no result breaks are left out.

    *version* is that of this package; *successful* is false where a tool could not do its work, not where it found
    something; *properties* belong to the run.
    """
    told = list(results)
    used = sorted({result.rule for result in told})
    index = {id: number for number, id in enumerate(used)}
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "lro-spec",
                "version": version,
                "rules": [_rule(rules.get(id, Rule(id, id))) for id in used],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": successful}],
        "results": [_result(result, index[result.rule]) for result in told],
    }
    if properties:
        run["properties"] = dict(properties)
    return {"$schema": SCHEMA_URI, "version": VERSION, "runs": [run]}


def text(made: Mapping[str, Any]) -> str:
    """A log as JSON. What is no Unicode character, half a surrogate pair, is escaped."""
    return json.dumps(made, indent=1) + "\n"


def uri(path: str) -> str:
    """A path as the reference of an artifact: relative where it is relative, so that a repository's files are found."""
    path = from_workspace(path)
    if Path(path).is_absolute():
        return Path(path).as_uri()
    return quote(Path(path).as_posix().encode("utf-8", "surrogateescape"))


def _rule(rule: Rule) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "defaultConfiguration": {"level": rule.level},
    }
    if rule.statement:
        told["fullDescription"] = {"text": rule.statement}
    if rule.help:
        told["help"] = {"text": rule.help}
    if rule.tags:
        told["properties"] = {"tags": list(rule.tags)}
    return told


def _result(result: Result, index: int) -> dict[str, Any]:
    told: dict[str, Any] = {
        "ruleId": result.rule,
        "ruleIndex": index,
        "level": result.level,
        "message": {"text": result.message},
    }
    location = _location(result)
    if location:
        told["locations"] = [location]
    # What stays the same when lines move, so that a result is not taken for a new one.
    same = "\n".join((result.rule, result.path or "", result.place, result.identity or result.message))
    told["partialFingerprints"] = {"lroResult/v1": hashlib.sha256(same.encode("utf-8", "replace")).hexdigest()[:32]}
    if result.accepted:
        told["suppressions"] = [{"kind": "external", "status": "accepted", "justification": result.accepted}]
    if result.properties:
        told["properties"] = dict(result.properties)
    return told


def _location(result: Result) -> dict[str, Any]:
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
    if result.place:
        location["logicalLocations"] = [{"fullyQualifiedName": result.place}]
    return location
