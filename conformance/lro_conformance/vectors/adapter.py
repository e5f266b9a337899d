"""A conversation with an adapter.

A vector is a question with the answer that the specification expects. An adapter is a program that passes the questions
to an implementation, which may be in any language. The adapter reads a JSON-RPC 2.0 request from each line of its
stdin, and writes the response to a line of its stdout. The method of the request is the kind of the vector. The
parameters are ``vector`` (the id of the vector), ``edition`` and ``input``. The result is ``{"answer": …}``. If the
implementation cannot answer vectors of this kind, the adapter responds with an error of code -32601.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from lro_conformance.capture.records import as_record
from lro_conformance.vectors.model import Vector
from lro_conformance.wire.jsonrpc import KINDS
from lro_conformance.wire.reply import Reply
from lro_conformance.wire.server import Limits
from lro_conformance.wire.transcript import Anomaly
from lro_conformance.wire.workspace import Workspace
from lro_spec.display import show

NOT_FOUND = -32601
"""The code of JSON-RPC for an unknown method, here an unknown kind of vector."""

_MAX_STDERR_CHARACTERS = 160
"""Number of characters at the end of stderr that are shown in an error."""
_MAX_SHOWN_CHARACTERS = 2 * _MAX_STDERR_CHARACTERS
"""Largest length of any text of the adapter in an error. Longer texts are shortened."""
_ADVICE = "answer each request with one JSON-RPC 2.0 response, on one line of stdout; write everything else to stderr"
_VIOLATIONS = {
    "batch": "wrote an array",
    "not-an-object": "wrote JSON that is not an object",
    "not-a-message": "wrote an object that is not a response",
    "server-request": "wrote a request of its own",
    "stdin-closed": "no longer reads its stdin",
    "stdout-closed": "closed its stdout but keeps running",
}
"""Mistakes of an adapter by kind of anomaly, each as the predicate of a sentence.

Only some kinds are listed. For them, the words in `lro_conformance.wire.jsonrpc.KINDS` do not fit an adapter, because
they speak of a server, of MCP, or of messages that an adapter does not send. For all other kinds, the words in `KINDS`
are used.
"""


class AdapterError(Exception):
    """There is no verdict, because the adapter could not be started, violated the protocol, or did not answer in time.

    The message is a single line.
    """


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a vector."""

    vector: Vector
    value: object = None
    refusal: str = ""
    """The message of the error that the adapter returned instead of an answer; empty if it returned an answer."""
    unsupported: bool = False
    """True if the implementation cannot answer vectors of this kind."""


def ask(vectors: Iterable[Vector], argv: Sequence[str], *, edition: str, timeout_s: float) -> Iterator[Answer]:
    """Start an adapter, and yield its answers in the order of the vectors. When the iterator ends, the process group of
    the adapter is ended, too.

    Raises `AdapterError` if the adapter cannot be started. Also raises `AdapterError` at the first vector for which the
    adapter violates the protocol or does not respond within *timeout_s* seconds.
    """
    limits = Limits(request_timeout_s=timeout_s, start_timeout_s=timeout_s, max_line_bytes=16 << 20)
    with Workspace(limits=limits) as workspace:
        process = workspace.server(argv)
        failure = process.start()
        if failure is not None:
            raise AdapterError(f"the adapter could not be started: {_in_one_line(failure.detail)}")
        for vector in vectors:
            params = {"vector": vector.id, "edition": edition, "input": vector.input}
            reply = process.request(vector.kind, params)
            if anomalies := process.transcript.anomalies:
                raise AdapterError(f"{vector.id}: the adapter {_in_one_line(_violation(anomalies[0]))}: {_ADVICE}")
            yield _answer(vector, reply)


def _violation(anomaly: Anomaly) -> str:
    """The mistake of the adapter, as the predicate of a sentence."""
    return f"{_VIOLATIONS.get(anomaly.kind) or f'wrote {KINDS[anomaly.kind]}'}: {anomaly.detail}"


def _answer(vector: Vector, reply: Reply) -> Answer:
    if reply.failure is not None:
        stderr_note = (
            f"; stderr ends: {_in_one_line(reply.failure.stderr[-_MAX_STDERR_CHARACTERS:])}"
            if reply.failure.stderr
            else ""
        )
        detail = reply.failure.detail.replace("the server", "the adapter")
        raise AdapterError(f"{vector.id}: {_in_one_line(detail)}{stderr_note}")
    if reply.error is not None:
        error = as_record(reply.error)
        message = _in_one_line(str(error.get("message", ""))) or _in_one_line(show(reply.error))
        return Answer(vector, refusal=message, unsupported=error.get("code") == NOT_FOUND)
    result: object = reply.result
    if not isinstance(result, dict) or "answer" not in result:
        raise AdapterError(
            f'{vector.id}: expected the result {{"answer": …}}, got {_in_one_line(show(cast("object", result)))}'
        )
    return Answer(vector, cast("dict[str, Any]", result)["answer"])


def _in_one_line(text: str) -> str:
    """A text from the adapter in one line, shortened and escaped for a terminal."""
    from lro_conformance.report.sanitize import one_line

    return one_line(" ".join(text.split()), _MAX_SHOWN_CHARACTERS)
