"""Requirements of MCP itself, for offloaded results and for the server's output."""

from __future__ import annotations

from collections.abc import Iterable

from lro_conformance.analysis.messages import wrong_message
from lro_conformance.analysis.results import against_output_schema
from lro_conformance.capture.call import died
from lro_conformance.capture.overall import Overall
from lro_conformance.capture.records import show
from lro_conformance.capture.reproduce import Conversation
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.disabled import Disabled
from lro_conformance.trials.eras import Eras
from lro_conformance.trials.fallback import Failing
from lro_conformance.trials.folders import Folders
from lro_conformance.trials.survey import ServerMessage, Survey
from lro_conformance.trials.tasks import Tasks
from lro_conformance.wire.reply import MODERN_VERSION
from lro_spec.display import counted
from lro_spec.schema.line_schema import schema_problem


@check("LRO-PROT-01")
def test_output_schema(survey: Survey, subjects: Subjects) -> None:
    """If a tool declares an outputSchema, the structuredContent of its offloaded results is valid for the schema."""
    declared = {n: o.output_schema for n, o in survey.operations.items() if o.output_schema is not None}
    if not declared:
        raise NotApplicable("no tool declares an outputSchema")
    for call in (c for c in survey.offloaded if c.operation in declared):
        schema = dict(declared[call.operation] or {})
        if schema_problem(schema) is not None:
            subjects.not_observed(f"the outputSchema of {call.tool} is not a valid JSON Schema")
            continue
        wrong = against_output_schema(call.result or {}, schema)
        subjects.expect(
            wrong is None,
            expected=f"structuredContent valid for the outputSchema of {call.tool}",
            observed=wrong or "",
            subject=call,
        )


@check("LRO-SCOPE-07")
def test_task_results_are_offloaded(tasks: Tasks, subjects: Subjects) -> None:
    """If a call that is not made as a task returns a descriptor, the same call made as a task also returns a
    descriptor."""
    for task_call in tasks.calls:
        if task_call.direct.outcome != "offloaded" or task_call.call.outcome in ("error", "no answer"):
            subjects.not_observed(
                f"{task_call.call.operation}: the call is not offloaded without a task, or it fails as a task"
            )
            continue
        subjects.expect(
            task_call.call.outcome == "offloaded",
            expected=f"{task_call.call.label} as a task: a descriptor, as without a task",
            observed=f"{counted(len(task_call.call.records or ()), 'record')} inline: {show(task_call.call.text, 120)}",
            subject=task_call,
        )


@check("LRO-PROT-02")
def test_only_messages_on_stdout(survey: Survey, subjects: Subjects) -> None:
    """The server writes only JSON-RPC messages of MCP to stdout, and answers each request once."""
    for call in survey.calls:
        if call.reply.raw is not None:
            subjects.expect(holds=True, expected="", observed="")
    conversation = Conversation(survey.calls[0].start) if survey.calls else None
    for anomaly in survey.anomalies[:3]:
        expected = "a JSON-RPC message of MCP on each line of stdout"
        subjects.expect(holds=False, expected=expected, observed=anomaly, subject=conversation)


@check("LRO-PROT-02")
def test_only_messages_on_stdout_of_any_server(
    survey: Survey, overall: Overall, wrong_output: Failing | Conversation | None, subjects: Subjects
) -> None:
    """Every server process of the run writes only JSON-RPC messages to stdout: with each setting, when writing a file
    fails, and during cleanup."""
    if survey.anomalies:
        subjects.not_observed("the first server already violates this (see the check protocol.only_messages_on_stdout)")
        return
    subjects.expect(
        not overall.protocol_violations,
        expected=f"only JSON-RPC messages of MCP on the stdout of {counted(overall.starts, 'server')}",
        observed=overall.protocol_violations[0] if overall.protocol_violations else "",
        subject=wrong_output,
    )


@check("LRO-PROT-02")
def test_every_call_is_answered(folders: Folders, disabled: Disabled, subjects: Subjects) -> None:
    """No query makes the server exit. Calls with unusual queries are answered, possibly with an error."""
    without_lro = {c.operation: c for c in disabled.nothing}
    # If the same query is answered with LRO off, LRO-THR-07 judges the call with LRO on.
    calls = [c for c in folders.nothing if without_lro.get(c.operation) is None or died(without_lro[c.operation])]
    for call in (*calls, *folders.unusual_queries, *disabled.nothing):
        subjects.expect(
            not died(call),
            expected=f"an answer to the query {show(call.query)}",
            observed=call.reply.failure.detail if call.reply.failure is not None else "",
            subject=call,
        )


@check("LRO-PROT-03")
def test_shape_of_results(survey: Survey, subjects: Subjects) -> None:
    """A tool's result has a list of content blocks, each an object with a type; isError is true, false or absent."""
    for call in survey.calls:
        result = call.result
        if result is None:
            continue
        wrong = wrong_message("tools/call", result, modern=survey.protocol == MODERN_VERSION)
        subjects.expect(wrong is None, expected="the shape of MCP's CallToolResult", observed=wrong or "", subject=call)


@check("LRO-PROT-03")
def test_shape_of_messages(survey: Survey, subjects: Subjects) -> None:
    """The result of the handshake, the list of tools and log messages have the shape that MCP defines."""
    _expect_shapes(survey.messages, survey.protocol == MODERN_VERSION, survey, subjects)


@check("LRO-PROT-03")
def test_shape_in_the_other_protocol(survey: Survey, eras: Eras, subjects: Subjects) -> None:
    """If the server speaks both MCP 2026-07-28 and an older version, its results and messages under MCP 2026-07-28 have
    the shape that MCP 2026-07-28 defines."""
    _expect_shapes(eras.messages, True, survey, subjects)
    for call, _ in eras.calls:
        if call.result is not None:
            wrong = wrong_message("tools/call", call.result, modern=True)
            subjects.expect(
                wrong is None, expected=f"a result of MCP {eras.protocol}", observed=wrong or "", subject=call
            )


def _expect_shapes(messages: Iterable[ServerMessage], modern: bool, survey: Survey, subjects: Subjects) -> None:
    """Expect each message to have the shape that MCP defines; *modern* is true for MCP 2026-07-28, and
    false for older versions."""
    conversation = Conversation(survey.calls[0].start) if survey.calls else None
    for message in messages:
        wrong = wrong_message(message.kind, message.value, modern=modern)
        subjects.expect(
            wrong is None, expected=f"the shape of MCP's {message.kind}", observed=wrong or "", subject=conversation
        )


@check("LRO-THR-06")
def test_any_protocol_is_served(eras: Eras, subjects: Subjects) -> None:
    """If the server speaks both MCP 2026-07-28 and an older version, a result that is offloaded under the older version
    is also offloaded under MCP 2026-07-28."""
    for call, before in eras.calls:
        subjects.expect(
            call.outcome == "offloaded",
            expected=f"{before.label} is offloaded under MCP {eras.protocol}, as under the older version",
            observed=call.outcome,
            subject=call,
        )
