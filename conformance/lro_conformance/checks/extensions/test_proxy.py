"""A proxy in front of any server: small results pass unchanged, large results go to files, and nothing is lost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from lro_conformance.analysis.forwarding import first_difference, first_missing_part, proxy_text
from lro_conformance.capture.call import Call
from lro_conformance.capture.records import as_record, show
from lro_conformance.capture.warnings import mentions_failure
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.extensions import payloads
from lro_conformance.trials.extensions.proxy import LARGE_RESULT_FACTOR, Forwarded, Proxied
from lro_conformance.trials.extensions.upstream import FLOOD, ITEMS_SCHEMA, SAMPLING_PARAMS, STEPS
from lro_spec.display import counted
from lro_spec.schema.line_schema import lines_violating, schema_problem
from lro_spec.tokens import estimate_limits

PREVIEW_SHARE = 1 / 3
"""The answer may contain at most this share of an offloaded payload, as a preview. A payload is the content of a result
that the upstream server returns."""


@check("LRO-PROXY-01")
def test_small_results_are_unchanged(proxied: Proxied, subjects: Subjects) -> None:
    """A result below the threshold reaches the client with every member and value that the server returned."""
    for forwarded in proxied.small:
        difference = first_difference(forwarded.given, forwarded.call)
        subjects.expect(
            difference is None, expected=f"{forwarded.kind}, unchanged", observed=difference or "", subject=forwarded
        )


@check("LRO-PROXY-01")
def test_inline_up_to_the_threshold(proxied: Proxied, subjects: Subjects) -> None:
    """A text is not offloaded if every plausible estimate of its tokens (LRO-THR-02) is at most the threshold."""
    for forwarded, characters, (_, high) in _at_the_edge(proxied, "offloaded"):
        expected = f"a text of {characters} characters ({high} tokens at most) inline at threshold {proxied.threshold}"
        subjects.expect(high > proxied.threshold, expected=expected, observed="a descriptor", subject=forwarded)


@check("LRO-PROXY-02")
def test_small_results_keep_their_bytes(proxied: Proxied, subjects: Subjects) -> None:
    """A result below the threshold reaches the client byte for byte: digits, escapes, order and spaces are
    unchanged."""
    for forwarded in (*proxied.small, proxied.exact):
        same = forwarded.given.encode() in (forwarded.call.reply.raw or b"")
        subjects.expect(
            same, expected=f"{forwarded.kind}: the bytes of the result", observed="serialized again", subject=forwarded
        )


@check("LRO-PROXY-03")
def test_large_results_are_offloaded(proxied: Proxied, subjects: Subjects) -> None:
    """A result above the threshold is replaced by the descriptor of a file, which has a header and the records."""
    for forwarded in proxied.large:
        wrong = _not_offloaded(forwarded.call)
        subjects.expect(
            wrong is None,
            expected=f"{forwarded.kind}, {LARGE_RESULT_FACTOR} times the threshold of {proxied.threshold} tokens: "
            "a descriptor and a file",
            observed=wrong or "",
            subject=forwarded,
        )


@check("LRO-PROXY-03")
def test_offloaded_above_the_threshold(proxied: Proxied, subjects: Subjects) -> None:
    """A text is offloaded if every plausible estimate of its tokens (LRO-THR-02) is above the threshold."""
    for forwarded, characters, (low, _) in _at_the_edge(proxied, "inline"):
        expected = (
            f"a text of {characters} characters ({low} tokens at least) offloaded at threshold {proxied.threshold}"
        )
        subjects.expect(low <= proxied.threshold, expected=expected, observed="inline", subject=forwarded)


def _at_the_edge(proxied: Proxied, outcome: str) -> Iterator[tuple[Forwarded, int, tuple[int, int]]]:
    """Yield the texts near the threshold that had this outcome. Each comes with its length in characters, and with the
    lowest and the highest honest estimate of its tokens."""
    for forwarded in (o for o in proxied.edge if o.call.outcome == outcome):
        characters = len(as_record(json.loads(forwarded.given))["content"][0]["text"])
        yield forwarded, characters, estimate_limits(0, 0, characters)


def _not_offloaded(call: Call) -> str | None:
    """Return the reason why a call does not count as offloaded, or None if it does.

    It does if there is a file that begins with a header and has as many records as the header states.
    """
    if call.outcome != "offloaded":
        return f"{call.outcome}: {show(call.reply.error or call.text, 120)}"
    if call.file is None or call.file.problem is not None:
        return f"the file {call.file.problem if call.file is not None else 'is not named'}"
    if call.file.lines and call.file.lines[0].problem is None and call.file.header is not None:
        invalid_line = next((line for line in call.file.record_lines if line.problem is not None), None)
        if invalid_line is not None:
            return f"line {invalid_line.number} of the file is not JSON: {invalid_line.problem}"
        count, line_count = call.file.header.get("count"), len(call.file.record_lines)
        return None if count == line_count else f"the header's count is {show(count)}, but {line_count} lines follow it"
    return "the file does not begin with a header"


@check("LRO-PROXY-04")
def test_nothing_is_lost(proxied: Proxied, subjects: Subjects) -> None:
    """Every record, line and value of a large result is in its file."""
    payloads_by_kind = proxied.known
    for forwarded in _with_readable_file(proxied, subjects):
        missing = (
            first_missing_part(payloads_by_kind[forwarded.kind], forwarded.call.file)
            if forwarded.call.file is not None
            else None
        )
        subjects.expect(
            missing is None,
            expected=f"{forwarded.kind}: all of it in the file",
            observed=missing or "",
            subject=forwarded,
        )


@check("LRO-PROXY-05")
def test_numbers_keep_their_digits(proxied: Proxied, subjects: Subjects) -> None:
    """Integers of any size and decimals are in the file exactly as the server wrote them."""
    for forwarded in (o for o in _with_readable_file(proxied, subjects) if o.kind == "numbers"):
        data = forwarded.call.file.data if forwarded.call.file is not None else b""
        record_count = len(payloads.marks(data))
        for number in (payloads.BIG, payloads.EXACT):
            occurrences = data.count(number.encode())
            subjects.expect(
                occurrences >= record_count,
                expected=f"{number} in each of {record_count} records",
                observed=f"{occurrences} times in the file",
                subject=forwarded,
            )


@check("LRO-PROXY-06")
def test_no_payload_in_answers(proxied: Proxied, subjects: Subjects) -> None:
    """If a payload is in a file, the answer contains at most a third of it, as text or as structured content."""
    payloads_by_kind = proxied.known
    for forwarded in _with_readable_file(proxied, subjects):
        pieces_in_answer = len(set(payloads.marks(forwarded.call.reply.raw or b"")))
        subjects.expect(
            pieces_in_answer <= PREVIEW_SHARE * payloads_by_kind[forwarded.kind].count,
            expected=f"{forwarded.kind}: at most a third of its {payloads_by_kind[forwarded.kind].count} pieces in the "
            "answer",
            observed=f"{pieces_in_answer} of them, in an answer of {len(forwarded.call.reply.raw or b'')} bytes",
            subject=forwarded,
        )


@check("LRO-PROXY-07")
def test_payload_is_stored_once(proxied: Proxied, subjects: Subjects) -> None:
    """If a server sends a payload both as text and as structured content, the payload is in the file only once."""
    for forwarded in _with_readable_file(proxied, subjects):
        lines = [line.raw for line in forwarded.call.file.record_lines] if forwarded.call.file is not None else []
        repeated_pieces = [
            word.decode() for word, times in Counter(payloads.marks(b"\n".join(lines))).items() if times > 1
        ]
        subjects.expect(
            not repeated_pieces,
            expected=f"{forwarded.kind}: every piece once in the file",
            observed=f"{counted(len(repeated_pieces), 'piece')} more than once, "
            f"such as {', '.join(repeated_pieces[:1])}",
            subject=forwarded,
        )


@check("LRO-PROXY-08")
def test_output_schema_admits_both(proxied: Proxied, subjects: Subjects) -> None:
    """If a tool has an output schema, its results are valid for the schema that the proxy lists, whether they are
    offloaded or not."""
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
    for forwarded in (o for o in proxied.large if o.call.operation == "typed" and o.call.result is not None):
        structured = (forwarded.call.result or {}).get("structuredContent")
        wrong = "no structuredContent" if structured is None else _problem_with(listed, structured)
        subjects.expect(
            wrong is None,
            expected="structuredContent that is valid for the listed outputSchema",
            observed=wrong or "",
            subject=forwarded,
        )


def _problem_with(schema: Mapping[str, Any], value: Any) -> str | None:
    found = lines_violating(dict(schema), [value])
    return found[0][1] if found else None


@check("LRO-PROXY-09")
def test_other_blocks_stay(proxied: Proxied, subjects: Subjects) -> None:
    """An image and a link next to a large text are unchanged in the answer."""
    payloads_by_kind = proxied.known
    for forwarded in (o for o in proxied.large if payloads_by_kind[o.kind].beside and o.call.result is not None):
        content: Any = (forwarded.call.result or {}).get("content")
        blocks = [as_record(b) for b in cast("list[Any]", content)] if isinstance(content, list) else []
        other_blocks = [b for b in blocks if b.get("type") != "text"]
        subjects.expect(
            other_blocks == list(payloads_by_kind[forwarded.kind].beside),
            expected="the image and the link",
            observed=f"besides text, blocks of the types {', '.join(str(b.get('type')) for b in other_blocks)}"
            if other_blocks
            else "no blocks besides text",
            subject=forwarded,
        )


@check("LRO-PROXY-10")
def test_errors_stay_inline(proxied: Proxied, subjects: Subjects) -> None:
    """Results with isError and JSON-RPC errors are forwarded unchanged, however large they are.

    The proxy may add text to the message of a JSON-RPC error.
    """
    for forwarded in proxied.errors:
        if forwarded.call.operation == "refuse":
            wrong = _changed_error(json.loads(forwarded.given), forwarded.call)
        else:
            wrong = (
                "a descriptor"
                if forwarded.call.outcome == "offloaded"
                else first_difference(forwarded.given, forwarded.call)
            )
        subjects.expect(wrong is None, expected=f"{forwarded.kind}, unchanged", observed=wrong or "", subject=forwarded)


def _changed_error(original: Mapping[str, Any], call: Call) -> str | None:
    """Description of the difference between the JSON-RPC error of a call and the *original* error of the server; None
    if there is no difference."""
    error = as_record(call.reply.error)
    if not error:
        return f"{call.outcome}: {show(call.result, 120)}"
    message = error.get("message")
    text = message if isinstance(message, str) else ""
    wrong = [k for k in original if (original[k] not in text if k == "message" else original[k] != error.get(k))]
    return f"a different {wrong[0]}: {show(error.get(wrong[0]), 120)}" if wrong else None


@check("LRO-PROXY-11")
def test_concurrent_calls(proxied: Proxied, subjects: Subjects) -> None:
    """If several calls are made concurrently, each gets its own result, and a call does not wait for earlier calls."""
    concurrent = proxied.together
    files = [p.call.file.path for p in concurrent.passed if p.call.file is not None]
    for forwarded in concurrent.passed:
        wrong = _not_its_own(forwarded, files)
        subjects.expect(
            wrong is None,
            expected=f"{forwarded.kind}: its own result, while an earlier call waits",
            observed=wrong or "",
            subject=forwarded,
        )
    if concurrent.waited is not None:
        difference = first_difference(concurrent.waited.given, concurrent.waited.call)
        subjects.expect(
            difference is None,
            expected="the result of the call that waited, unchanged",
            observed=difference or "",
            subject=concurrent.waited,
        )


def _not_its_own(forwarded: Forwarded, files: Sequence[str]) -> str | None:
    """Return the reason why a call did not get its own result, or None if it did.

    *files* are the paths of the files of all calls that were made concurrently.
    """
    call = forwarded.call
    if call.reply.failure is not None:
        return call.reply.failure.detail
    if forwarded.kind.startswith("small"):
        return first_difference(forwarded.given, call)
    wanted = payloads.marks(forwarded.given.encode())
    if call.file is None:
        return None if set(wanted) <= set(payloads.marks(call.reply.raw or b"")) else "a different result"
    if files.count(call.file.path) > 1:
        return f"the file of another call: {call.file.path}"
    foreign = set(payloads.marks(call.file.data)) - set(wanted)
    return f"a file with a part of another call's result: {foreign.pop().decode()}" if foreign else None


@check("LRO-PROXY-12")
def test_cancellation(proxied: Proxied, subjects: Subjects) -> None:
    """If the client cancels a call, the cancellation reaches the server with the id that the call has there."""
    cancelled = proxied.cancelled
    if cancelled is None:
        subjects.not_observed("the proxy did not answer concurrent calls, so no call could be cancelled")
        return
    notes = [as_record(n) for n in cancelled.heard]
    ids = [as_record(n.get("params")).get("requestId") for n in notes if n.get("method") == "notifications/cancelled"]
    subjects.expect(
        any(id in cancelled.waiting or not cancelled.waiting for id in ids),
        expected=f"notifications/cancelled for {_ids(cancelled.waiting)}, the call that waits"
        if cancelled.waiting
        else "notifications/cancelled for the call",
        observed=f"cancellations of {_ids(ids)}" if ids else "the server received none",
        subject=cancelled,
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
        subject=progress,
    )
    logged = [as_record(n.get("params")) for n in notes if n.get("method") == "notifications/message"]
    subjects.expect(
        any(n.get("data") == {"n": 1} and n.get("level") == "warning" for n in logged),
        expected="the log message of the server",
        observed=show(logged, 120) if logged else "no log message",
        subject=progress,
    )


@check("LRO-PROXY-13")
def test_message_bursts_arrive(proxied: Proxied, subjects: Subjects) -> None:
    """If a call makes the server send a large burst of messages, all of them reach the client in order. The last
    arrives at the latest shortly after the answer to the call."""
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
        subject=flooded,
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
        subject=exchange,
    )
    if own:
        answer = exchange.call.text
        subjects.expect(
            '"code":-32601' in answer.replace(" ", ""),
            expected="the client's answer to it, the error -32601, received by the server",
            observed=show(answer or exchange.call.outcome, 120),
            subject=exchange,
        )


@check("LRO-PROXY-14")
def test_recipes_run(proxied: Proxied, subjects: Subjects) -> None:
    """Every recipe of a descriptor is a command that reads the descriptor's file and ends without an error."""
    for recipe in proxied.recipes:
        wrong = recipe.command.problem if recipe.run is None else None
        if recipe.run is not None and not recipe.run.ok:
            wrong = f"exit {recipe.run.status}: {recipe.run.problem or recipe.run.stderr.strip()[:200]}"
        path = recipe.call.path
        if wrong is None and recipe.command.pipeline is not None and recipe.command.pipeline.path != path:
            wrong = f"it reads {recipe.command.pipeline.path}"
        subjects.expect(
            wrong is None,
            expected=f"a command on {path} that ends without an error",
            observed=wrong or "",
            subject=recipe,
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
            subject=call,
        )


@check("LRO-PROXY-16")
def test_failed_write_keeps_the_result(proxied: Proxied, subjects: Subjects) -> None:
    """If a file cannot be written, the call still succeeds. It returns the complete result, or a part of it with a
    warning."""
    payloads_by_kind = proxied.known
    if not proxied.unwritable:
        subjects.not_observed(proxied.problem or "writing could not be made to fail")
    for forwarded in proxied.unwritable:
        wrong = _data_loss(forwarded, payloads_by_kind[forwarded.kind])
        subjects.expect(
            wrong is None,
            expected=f"{forwarded.kind}: all of it, or a part and a warning, since output_dir is a regular file",
            observed=wrong or "",
            subject=forwarded,
        )


def _data_loss(forwarded: Forwarded, payload: payloads.Large) -> str | None:
    call = forwarded.call
    if call.outcome == "offloaded":
        readable = call.file is not None and call.file.problem is None
        return None if readable else "a descriptor without a file that can be read"
    if call.outcome != "inline":
        return f"{call.outcome}: {show(call.reply.error or call.text, 120)}"
    pieces_in_answer = len(set(payloads.marks(call.reply.raw or b"")))
    if pieces_in_answer < payload.count and not mentions_failure(proxy_text(call.text, payload, forwarded.given)):
        return f"{pieces_in_answer} of {payload.count} pieces, and no warning"
    return None


@check("LRO-PROXY-17")
def test_no_other_copies(proxied: Proxied, subjects: Subjects) -> None:
    """Parts of a payload are only in files that are named by descriptors."""
    if proxied.copies is None or not any(_with_readable_file(proxied, subjects)):
        raise NotObserved("no file could be read, or the proxy's directories were not searched")
    subjects.expect(
        not proxied.copies,
        expected="payloads in the files that descriptors name, and in no other file of the proxy",
        observed=", ".join(proxied.copies[:3]),
    )


def _with_readable_file(proxied: Proxied, subjects: Subjects) -> Iterator[Forwarded]:
    """Yield the large results that have a readable file. The other large results are noted as not observed."""
    for forwarded in proxied.large:
        if (
            forwarded.call.outcome == "offloaded"
            and forwarded.call.file is not None
            and forwarded.call.file.problem is None
        ):
            yield forwarded
        else:
            subjects.not_observed(f"{forwarded.kind}: no file could be read")
