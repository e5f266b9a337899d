"""The protocol around it: what MCP itself asks of an offloaded result and of the server's output."""

from __future__ import annotations

from typing import Any, cast

from lro_conformance.judge import NotApplicable, Subjects, check
from lro_conformance.readings import died
from lro_conformance.records import as_record, show
from lro_conformance.reproducing import Everything
from lro_conformance.trials.folders import Folders
from lro_conformance.trials.overall import Overall
from lro_conformance.trials.survey import Disabled, Survey
from lro_spec.line_schemas import lines_violating, schema_problem


@check("LRO-PROT-01")
def test_output_schema(survey: Survey, see: Subjects) -> None:
    """A tool that declares an outputSchema returns structuredContent valid for it when it offloads."""
    declared = {n: o.output_schema for n, o in survey.operations.items() if o.output_schema is not None}
    if not declared:
        raise NotApplicable("no tool declares an outputSchema")
    for call in (c for c in survey.offloaded if c.operation in declared):
        schema = dict(declared[call.operation] or {})
        if schema_problem(schema) is not None:
            see.unseen(f"the outputSchema of {call.tool} is no valid JSON Schema")
            continue
        structured = (call.result or {}).get("structuredContent")
        if structured is None:
            see.expect(holds=False, expected="structuredContent, as outputSchema asks", observed="none", at=call)
            continue
        wrong = lines_violating(schema, [structured], limit=1)
        see.expect(
            not wrong,
            expected=f"structuredContent valid for the outputSchema of {call.tool}",
            observed=wrong[0][1] if wrong else "",
            at=call,
        )


@check("LRO-PROT-02")
def test_only_messages_on_stdout(survey: Survey, see: Subjects) -> None:
    """stdout carries JSON-RPC messages only, and each request is answered once."""
    for call in survey.calls:
        if call.reply.raw is not None:
            see.expect(holds=True, expected="", observed="")
    said = Everything(survey.calls[0].start) if survey.calls else None
    for anomaly in survey.anomalies[:3]:
        expected = "a JSON-RPC message of MCP on each line of stdout"
        see.expect(holds=False, expected=expected, observed=anomaly, at=said)


@check("LRO-PROT-02")
def test_only_messages_from_any_server(survey: Survey, overall: Overall, see: Subjects) -> None:
    """The same of every server of the run: under each setting, while writing fails, while cleaning up."""
    if survey.anomalies:
        see.unseen("the first server did so already")
        return
    see.expect(
        not overall.lawless,
        expected=f"JSON-RPC messages of MCP only on the stdout of {overall.starts} servers",
        observed=overall.lawless[0] if overall.lawless else "",
        at=Everything(overall.first) if overall.first is not None else None,
    )


@check("LRO-PROT-02")
def test_every_call_is_answered(folders: Folders, disabled: Disabled, see: Subjects) -> None:
    """A call is answered, be it by an error: no query ends the server."""
    usual = {c.operation: c for c in disabled.nothing}
    calls = [c for c in folders.nothing if usual.get(c.operation) is None or died(usual[c.operation])]
    for call in (*calls, *folders.odd, *disabled.nothing):
        see.expect(
            not died(call),
            expected=f"an answer to the query {show(call.query)}",
            observed=call.reply.failure.detail if call.reply.failure is not None else "",
            at=call,
        )


@check("LRO-PROT-03")
def test_shape_of_results(survey: Survey, see: Subjects) -> None:
    """A tool's result has a list of content blocks, each an object with a type; isError is true, false or absent."""
    for call in survey.calls:
        result = call.result
        if result is None:
            continue
        wrong = _wrong_shape(result)
        see.expect(wrong is None, expected="the shape of MCP's CallToolResult", observed=wrong or "", at=call)


def _wrong_shape(result: dict[str, Any]) -> str | None:
    content = result.get("content")
    if not isinstance(content, list):
        return f"content is {show(content, 60)}, not a list"
    for entry in cast("list[Any]", content):
        block = as_record(entry)
        if not isinstance(block.get("type"), str):
            return f"a content block is {show(block, 60)}"
        if block["type"] == "text" and not isinstance(block.get("text"), str):
            return f"a text block's text is {show(block.get('text'), 60)}"
    if not isinstance(result.get("isError", False), bool):
        return f"isError is {show(result['isError'])}"
    structured = result.get("structuredContent")
    if structured is not None and not isinstance(structured, dict):
        return f"structuredContent is {show(structured, 60)}, not an object"
    return None
