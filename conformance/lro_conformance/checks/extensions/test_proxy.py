"""A proxy in front of any server: small results pass unchanged, large results go to files, and nothing is lost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from lro_conformance.analysis.forwarding import changed, lost, proxy_text
from lro_conformance.capture.call import Call
from lro_conformance.capture.records import as_record, show
from lro_conformance.capture.warnings import mentions_failure
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.extensions import payloads
from lro_conformance.trials.extensions.proxy import FACTOR, Forwarded, Proxied
from lro_conformance.trials.extensions.upstream import FLOOD, ITEMS_SCHEMA, SAMPLING_PARAMS, STEPS
from lro_spec.display import counted
from lro_spec.schema.line_schema import lines_violating, schema_problem
from lro_spec.tokens import honest_estimates

PREVIEW_SHARE = 1 / 3
"""Largest share of an offloaded payload that the answer may contain as a preview."""


@check("LRO-PROXY-01")
def test_small_results_are_unchanged(proxied: Proxied, subjects: Subjects) -> None:
    """A result below the threshold arrives with every member and value that the server returned."""
    for one in proxied.small:
        difference = changed(one.given, one.call)
        subjects.expect(difference is None, expected=f"{one.kind}, unchanged", observed=difference or "", at=one)


@check("LRO-PROXY-01")
def test_inline_up_to_the_threshold(proxied: Proxied, subjects: Subjects) -> None:
    """A text that no honest estimate puts above the threshold is not offloaded."""
    for one, characters, (_, high) in _at_the_edge(proxied, "offloaded"):
        expected = f"a text of {characters} characters ({high} tokens at most) inline at threshold {proxied.threshold}"
        subjects.expect(high > proxied.threshold, expected=expected, observed="a descriptor", at=one)


@check("LRO-PROXY-02")
def test_small_results_keep_their_bytes(proxied: Proxied, subjects: Subjects) -> None:
    """A result below the threshold arrives byte for byte: digits, escapes, order and spaces."""
    for one in (*proxied.small, proxied.exact):
        same = one.given.encode() in (one.call.reply.raw or b"")
        subjects.expect(same, expected=f"{one.kind}: the bytes of the result", observed="serialized again", at=one)


@check("LRO-PROXY-03")
def test_large_results_are_offloaded(proxied: Proxied, subjects: Subjects) -> None:
    """A result above the threshold is replaced by the descriptor of a file, which has a header and the records."""
    for one in proxied.large:
        wrong = _not_offloaded(one.call)
        subjects.expect(
            wrong is None,
            expected=f"{one.kind}, {FACTOR} times the threshold of {proxied.threshold} tokens: a descriptor and a file",
            observed=wrong or "",
            at=one,
        )


@check("LRO-PROXY-03")
def test_offloaded_above_the_threshold(proxied: Proxied, subjects: Subjects) -> None:
    """A text that every honest estimate puts above the threshold is offloaded."""
    for one, characters, (low, _) in _at_the_edge(proxied, "inline"):
        expected = (
            f"a text of {characters} characters ({low} tokens at least) offloaded at threshold {proxied.threshold}"
        )
        subjects.expect(low <= proxied.threshold, expected=expected, observed="inline", at=one)


def _at_the_edge(proxied: Proxied, outcome: str) -> Iterator[tuple[Forwarded, int, tuple[int, int]]]:
    """Texts near the threshold with this outcome, each with its length in characters and its lowest and highest honest
    estimates."""
    for one in (o for o in proxied.edge if o.call.outcome == outcome):
        characters = len(as_record(json.loads(one.given))["content"][0]["text"])
        yield one, characters, honest_estimates(0, 0, characters)


def _not_offloaded(call: Call) -> str | None:
    """The reason why a call was not offloaded to a file with a header and as many records as the header states.

    None if it was.
    """
    if call.outcome != "offloaded":
        return f"{call.outcome}: {show(call.reply.error or call.text, 120)}"
    if call.file is None or call.file.problem is not None:
        return f"the file {call.file.problem if call.file is not None else 'is not named'}"
    if call.file.lines and call.file.lines[0].problem is None and call.file.header is not None:
        bad = next((line for line in call.file.record_lines if line.problem is not None), None)
        if bad is not None:
            return f"line {bad.number} of the file is not JSON: {bad.problem}"
        count, there = call.file.header.get("count"), len(call.file.record_lines)
        return None if count == there else f"the header's count is {show(count)}, but {there} lines follow it"
    return "the file does not begin with a header"


@check("LRO-PROXY-04")
def test_nothing_is_lost(proxied: Proxied, subjects: Subjects) -> None:
    """Every record, line and value of a large result is in its file."""
    known = proxied.known
    for one in _with_readable_file(proxied, subjects):
        missing = lost(known[one.kind], one.call.file) if one.call.file is not None else None
        subjects.expect(missing is None, expected=f"{one.kind}: all of it in the file", observed=missing or "", at=one)


@check("LRO-PROXY-05")
def test_numbers_keep_their_digits(proxied: Proxied, subjects: Subjects) -> None:
    """An integer of any size and a decimal are in the file as the server wrote them."""
    for one in (o for o in _with_readable_file(proxied, subjects) if o.kind == "numbers"):
        data = one.call.file.data if one.call.file is not None else b""
        wanted = len(payloads.marks(data))
        for number in (payloads.BIG, payloads.EXACT):
            there = data.count(number.encode())
            subjects.expect(
                there >= wanted,
                expected=f"{number} in each of {wanted} records",
                observed=f"{there} times in the file",
                at=one,
            )


@check("LRO-PROXY-06")
def test_no_payload_in_answers(proxied: Proxied, subjects: Subjects) -> None:
    """Of a payload that is in a file, at most a third is in the answer, as text or as structured content."""
    known = proxied.known
    for one in _with_readable_file(proxied, subjects):
        shown = len(set(payloads.marks(one.call.reply.raw or b"")))
        subjects.expect(
            shown <= PREVIEW_SHARE * known[one.kind].count,
            expected=f"{one.kind}: at most a third of its {known[one.kind].count} pieces in the answer",
            observed=f"{shown} of them, in an answer of {len(one.call.reply.raw or b'')} bytes",
            at=one,
        )


@check("LRO-PROXY-07")
def test_payload_is_stored_once(proxied: Proxied, subjects: Subjects) -> None:
    """A payload that a server sends as text and as structured content is in the file only once."""
    for one in _with_readable_file(proxied, subjects):
        lines = [line.raw for line in one.call.file.record_lines] if one.call.file is not None else []
        twice = [word.decode() for word, times in Counter(payloads.marks(b"\n".join(lines))).items() if times > 1]
        subjects.expect(
            not twice,
            expected=f"{one.kind}: every piece once in the file",
            observed=f"{counted(len(twice), 'piece')} more than once, such as {', '.join(twice[:1])}",
            at=one,
        )


@check("LRO-PROXY-08")
def test_output_schema_admits_both(proxied: Proxied, subjects: Subjects) -> None:
    """A result of a tool with an output schema, offloaded or not, is valid for the schema that the proxy lists."""
    schema: Any = next((t.get("outputSchema") for t in proxied.tools if t.get("name") == proxied.names["typed"]), None)
    if schema is None:
        raise NotApplicable("the proxy lists no output schema")
    listed = as_record(schema)
    if listed != schema or schema_problem(listed) is not None:
        subjects.expect(holds=False, expected="a valid outputSchema", observed=show(schema, 200))
        return
    example = {"items": [{"id": 1}]}
    subjects.expect(
        not lines_violating(listed, [example]) and not lines_violating(ITEMS_SCHEMA, [example]),
        expected=f"the listed schema admits each value that the server's own schema admits, such as {show(example)}",
        observed=f"it does not admit this value: {show(listed, 200)}",
    )
    for one in (o for o in proxied.large if o.call.operation == "typed" and o.call.result is not None):
        structured = (one.call.result or {}).get("structuredContent")
        wrong = "no structuredContent" if structured is None else _problem_with(listed, structured)
        subjects.expect(
            wrong is None,
            expected="structuredContent that is valid for the listed outputSchema",
            observed=wrong or "",
            at=one,
        )


def _problem_with(schema: Mapping[str, Any], value: Any) -> str | None:
    found = lines_violating(dict(schema), [value])
    return found[0][1] if found else None


@check("LRO-PROXY-09")
def test_other_blocks_stay(proxied: Proxied, subjects: Subjects) -> None:
    """An image and a link next to a large text are unchanged in the answer."""
    known = proxied.known
    for one in (o for o in proxied.large if known[o.kind].beside and o.call.result is not None):
        content: Any = (one.call.result or {}).get("content")
        blocks = [as_record(b) for b in cast("list[Any]", content)] if isinstance(content, list) else []
        found = [b for b in blocks if b.get("type") != "text"]
        subjects.expect(
            found == list(known[one.kind].beside),
            expected="the image and the link",
            observed=f"besides text, blocks of the types {', '.join(str(b.get('type')) for b in found)}"
            if found
            else "no blocks besides text",
            at=one,
        )


@check("LRO-PROXY-10")
def test_errors_stay_inline(proxied: Proxied, subjects: Subjects) -> None:
    """Errors are forwarded unchanged, however large: results with isError, and JSON-RPC errors.

    The message of a JSON-RPC error may have text added to it.
    """
    for one in proxied.errors:
        if one.call.operation == "refuse":
            wrong = _changed_error(json.loads(one.given), one.call)
        else:
            wrong = "a descriptor" if one.call.outcome == "offloaded" else changed(one.given, one.call)
        subjects.expect(wrong is None, expected=f"{one.kind}, unchanged", observed=wrong or "", at=one)


def _changed_error(given: Mapping[str, Any], call: Call) -> str | None:
    """The difference of a call's JSON-RPC error from the one that the server has *given*; None if there is none."""
    error = as_record(call.reply.error)
    if not error:
        return f"{call.outcome}: {show(call.result, 120)}"
    message = error.get("message")
    text = message if isinstance(message, str) else ""
    wrong = [k for k in given if (given[k] not in text if k == "message" else given[k] != error.get(k))]
    return f"a different {wrong[0]}: {show(error.get(wrong[0]), 120)}" if wrong else None


@check("LRO-PROXY-11")
def test_concurrent_calls(proxied: Proxied, subjects: Subjects) -> None:
    """Each of several concurrent calls gets its own result, and none waits for an earlier call."""
    fleet = proxied.together
    files = [p.call.file.path for p in fleet.passed if p.call.file is not None]
    for one in fleet.passed:
        wrong = _not_its_own(one, files)
        subjects.expect(
            wrong is None,
            expected=f"{one.kind}: its own result, while an earlier call waits",
            observed=wrong or "",
            at=one,
        )
    if fleet.waited is not None:
        difference = changed(fleet.waited.given, fleet.waited.call)
        subjects.expect(
            difference is None,
            expected="the result of the call that waited, unchanged",
            observed=difference or "",
            at=fleet.waited,
        )


def _not_its_own(one: Forwarded, files: Sequence[str]) -> str | None:
    """The reason why a call did not get its own result; None if it did.

    *files* are the paths of the files of all calls that were in flight together.
    """
    call = one.call
    if call.reply.failure is not None:
        return call.reply.failure.detail
    if one.kind.startswith("small"):
        return changed(one.given, call)
    wanted = payloads.marks(one.given.encode())
    if call.file is None:
        return None if set(wanted) <= set(payloads.marks(call.reply.raw or b"")) else "a different result"
    if files.count(call.file.path) > 1:
        return f"the file of another call: {call.file.path}"
    foreign = set(payloads.marks(call.file.data)) - set(wanted)
    return f"a file with a part of another call's result: {foreign.pop().decode()}" if foreign else None


@check("LRO-PROXY-12")
def test_cancellation(proxied: Proxied, subjects: Subjects) -> None:
    """A cancellation reaches the server, with the id by which the server knows the call."""
    one = proxied.cancelled
    if one is None:
        subjects.not_observed("the proxy did not answer concurrent calls, so no call could be cancelled")
        return
    notes = [as_record(n) for n in one.heard]
    ids = [as_record(n.get("params")).get("requestId") for n in notes if n.get("method") == "notifications/cancelled"]
    subjects.expect(
        any(id in one.waiting or not one.waiting for id in ids),
        expected=f"notifications/cancelled for {_ids(one.waiting)}, the call that waits"
        if one.waiting
        else "notifications/cancelled for the call",
        observed=f"cancellations of {_ids(ids)}" if ids else "the server received none",
        at=one,
    )


def _ids(ids: Sequence[Any]) -> str:
    return ", ".join(json.dumps(id) for id in ids)


@check("LRO-PROXY-13")
def test_notifications_arrive(proxied: Proxied, subjects: Subjects) -> None:
    """Progress and log messages of the server reach the client in order and unchanged."""
    progress = proxied.notified
    notes = [as_record(json.loads(line)) for line in progress.messages]
    steps = [as_record(n.get("params")) for n in notes if n.get("method") == "notifications/progress"]
    own = [s for s in steps if s.get("progressToken") == progress.token]
    subjects.expect(
        [(s.get("progress"), s.get("message")) for s in own] == [(n, f"step {n}") for n in range(1, STEPS + 1)],
        expected=f"{STEPS} progress notifications with the token {progress.token}, in order",
        observed=f"{len(own)} of {counted(len(steps), 'progress notification')} with the token, with progress "
        f"{show([s.get('progress') for s in own], 80)}",
        at=progress,
    )
    logged = [as_record(n.get("params")) for n in notes if n.get("method") == "notifications/message"]
    subjects.expect(
        any(n.get("data") == {"n": 1} and n.get("level") == "warning" for n in logged),
        expected="the log message of the server",
        observed=show(logged, 120) if logged else "no log message",
        at=progress,
    )


@check("LRO-PROXY-13")
def test_message_bursts_arrive(proxied: Proxied, subjects: Subjects) -> None:
    """All messages of a large burst reach the client in order, at the latest shortly after the answer to the call."""
    flooded = proxied.flooded
    if flooded is None:
        subjects.not_observed("the call that causes a burst of messages was not answered")
        return
    notes = [as_record(as_record(json.loads(line)).get("params")) for line in flooded.messages]
    numbers = [as_record(n.get("data")).get("n") for n in notes if n.get("logger") == "lro-probe-flood"]
    subjects.expect(
        numbers == list(range(FLOOD)),
        expected=f"{FLOOD} log messages, in order",
        observed=counted(len(numbers), "log message") if len(numbers) != FLOOD else "all of them, in a different order",
        at=flooded,
    )


@check("LRO-PROXY-13")
def test_server_requests_arrive(proxied: Proxied, subjects: Subjects) -> None:
    """A request of the server reaches the client, and the client's answer reaches the server."""
    exchange = proxied.requested
    requests = [as_record(json.loads(line)) for line in exchange.messages]
    own = [as_record(r.get("params")) for r in requests if r.get("method") == "sampling/createMessage"]
    subjects.expect(
        any(all(r.get(k) == v for k, v in SAMPLING_PARAMS.items()) for r in own),
        expected="the server's request sampling/createMessage",
        observed=show(own, 120) if own else "no such request",
        at=exchange,
    )
    if own:
        answer = exchange.call.text
        subjects.expect(
            '"code":-32601' in answer.replace(" ", ""),
            expected="the client's answer to it, the error -32601, received by the server",
            observed=show(answer or exchange.call.outcome, 120),
            at=exchange,
        )


@check("LRO-PROXY-14")
def test_recipes_run(proxied: Proxied, subjects: Subjects) -> None:
    """Every recipe of a descriptor is a command on the descriptor's file that ends without an error."""
    for one in proxied.recipes:
        wrong = one.command.problem if one.run is None else None
        if one.run is not None and not one.run.ok:
            wrong = f"exit {one.run.status}: {one.run.problem or one.run.stderr.strip()[:200]}"
        path = one.call.path
        if wrong is None and one.command.pipeline is not None and one.command.pipeline.path != path:
            wrong = f"it reads {one.command.pipeline.path}"
        subjects.expect(
            wrong is None, expected=f"a command on {path} that ends without an error", observed=wrong or "", at=one
        )


@check("LRO-PROXY-15")
def test_upstream_exit_fails_pending_calls(proxied: Proxied, subjects: Subjects) -> None:
    """When the upstream server exits, every call in progress is answered with an error."""
    if not proxied.ended:
        subjects.not_observed("the proxy did not answer earlier calls, so its upstream server was not stopped")
    for call in proxied.ended:
        subjects.expect(
            call.outcome == "error",
            expected="an error for a call that was in progress when the server exited",
            observed=f"{call.outcome}: {show(call.reply.failure or call.text, 120)}",
            at=call,
        )


@check("LRO-PROXY-16")
def test_failed_write_keeps_the_result(proxied: Proxied, subjects: Subjects) -> None:
    """A call whose file cannot be written succeeds with the complete result, or with a part of it and a warning."""
    known = proxied.known
    if not proxied.unwritable:
        subjects.not_observed(proxied.problem or "writing could not be made to fail")
    for one in proxied.unwritable:
        wrong = _data_loss(one, known[one.kind])
        subjects.expect(
            wrong is None,
            expected=f"{one.kind}: all of it, or a part and a warning, since output_dir is a regular file",
            observed=wrong or "",
            at=one,
        )


def _data_loss(one: Forwarded, known: payloads.Large) -> str | None:
    call = one.call
    if call.outcome == "offloaded":
        readable = call.file is not None and call.file.problem is None
        return None if readable else "a descriptor without a file that can be read"
    if call.outcome != "inline":
        return f"{call.outcome}: {show(call.reply.error or call.text, 120)}"
    there = len(set(payloads.marks(call.reply.raw or b"")))
    if there < known.count and not mentions_failure(proxy_text(call.text, known, one.given)):
        return f"{there} of {known.count} pieces, and no warning"
    return None


@check("LRO-PROXY-17")
def test_no_other_copies(proxied: Proxied, subjects: Subjects) -> None:
    """Only files that descriptors name have a part of a payload in them."""
    if proxied.copies is None or not any(_with_readable_file(proxied, subjects)):
        raise NotObserved("no file could be read, or the proxy's directories were not searched")
    subjects.expect(
        not proxied.copies,
        expected="payloads in the files that descriptors name, and in no other file of the proxy",
        observed=", ".join(proxied.copies[:3]),
    )


def _with_readable_file(proxied: Proxied, subjects: Subjects) -> Iterator[Forwarded]:
    """Large results with a readable file; those without one are noted as not observed."""
    for one in proxied.large:
        if one.call.outcome == "offloaded" and one.call.file is not None and one.call.file.problem is None:
            yield one
        else:
            subjects.not_observed(f"{one.kind}: no file could be read")
