"""A server behind the proxy over HTTP (the transport "Streamable HTTP" of MCP).

It has the interface of a process: messages go in, and lines come out of a pipe. Each request is a POST, answered by
JSON or a stream of events; the server's own messages arrive over a GET that stays open, if the server offers one.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Generator, Mapping
from typing import Any, cast

import httpx2
import orjson

from lro_proxy.errors import CANCELLED, GONE, TOO_LONG, UNREADABLE, Log, error_line
from lro_proxy.protocol import message_version
from lro_proxy.upstream.headers import LAST_EVENT, SESSION, VERSION, media_type, message_headers, origin
from lro_proxy.upstream.sse import TooLargeError, events
from lro_proxy.wire.framing import Outbox, ends_of
from lro_proxy.wire.jsonrpc import Message, members, parse, parse_lossless, serialise, unreadable_reason
from lro_proxy.wire.truncated import id_in

_TIMEOUT = httpx2.Timeout(30, read=None)
"""No read timeout: the relay limits the time of an answer."""
_NOTICE_S = 30.0
"""Maximum time for the server to accept a notification or a response. Until then, later messages wait."""
_USUAL_RETRY_S, _MAX_RETRY_S = 1.0, 30.0
"""Usual and longest wait before a stream is reopened.

The server may ask for a different wait. It may be shorter than the usual one if the rest of an answer is missing, but
not if the stream only has messages of the server's own.
"""
_MAX_RESUMPTIONS = 5
"""Largest number of times that the stream of one answer is reopened."""
_LINE_ENDS_TO_SPACES = bytes.maketrans(b"\r\n", b"  ")
_DELETE_S = 2.0
"""Maximum time for the server to confirm the end of the session."""
_LARGE_BYTES = 1 << 18
"""Answers of at least this size in bytes are parsed here only if necessary, because parsing takes several times as much
memory."""


class HttpUpstream:
    """A server at a URL."""

    def __init__(self, url: str, headers: Mapping[str, str], max_bytes: int, log: Log) -> None:
        self.name = httpx2.URL(url).host
        self.stdin = Outbox()
        self.stdout, self._pipe = os.pipe()
        self._url, self._max_bytes, self._log = url, max_bytes, log
        self._display_url = str(
            httpx2.URL(url).copy_with(userinfo=b"", query=None, fragment=None)
        )  # without secrets, for messages
        self._http = httpx2.Client(headers=dict(headers), timeout=_TIMEOUT, limits=httpx2.Limits(max_connections=None))
        self._session: dict[str, str] = {}
        """Headers of the session and its protocol version."""
        self._renewing = threading.Lock()
        self._initialize_line = b""
        self._writing = threading.Lock()
        self._closed = threading.Event()
        self._threads: set[threading.Thread] = set()
        self._responses: dict[object, httpx2.Response | None] = {}
        """The response to each request in progress once its headers have come, by the request's id (`_id_key`)."""
        self._cancelled_ids: set[object] = set()
        """Ids of requests in progress that were cancelled by closing their connection."""
        threading.Thread(target=self._dispatch, name=f"to {self.name}", daemon=True).start()

    # --- the interface of a process

    def exit_code(self) -> int | None:
        """0 once the proxy has ended the session, otherwise None, even if requests have failed."""
        return 0 if self._closed.is_set() else None

    def describe_end(self) -> str:
        """The end of the connection, as a predicate for messages."""
        return "was disconnected"

    def end(self, *, patient: bool = True) -> None:
        """End the session, if there is one, and abandon requests in progress."""
        if self._closed.is_set():
            return
        self._closed.set()
        self.stdin.close()
        if SESSION in self._session:
            goodbye = threading.Thread(target=self._delete_session, name=f"leaving {self.name}", daemon=True)
            goodbye.start()
            goodbye.join(_DELETE_S if patient else 0.2)  # a limit for the complete response

    def _delete_session(self) -> None:
        with contextlib.suppress(httpx2.HTTPError):
            self._http.request("DELETE", self._url, headers=self._session)

    # --- to the server

    def _dispatch(self) -> None:
        """Send messages: requests other than `initialize` concurrently, all other messages one after the other."""
        while (line := self.stdin.next()) is not None:
            message = parse(line)
            if isinstance(message, list):  # servers over HTTP no longer accept batches
                for item in parse_lossless(line):
                    self._send(serialise(item), members(item))
            else:
                self._send(line, members(message))
        for thread in list(self._threads):
            thread.join()
        self._close()

    def _send(self, line: bytes, message: Message) -> None:
        method = message.get("method")
        if method is not None and "id" in message:
            self._responses[_id_key(message["id"])] = None
        if method == "initialize":
            self._initialize_line = line
            self._request(line, message)
        elif method is not None and "id" in message:
            thread = threading.Thread(target=self._request, args=(line, message), name=str(method), daemon=True)
            self._threads.add(thread)
            thread.start()
        else:
            self._notify(line, message)

    def _close(self) -> None:
        with self._writing:
            os.close(self._pipe)
            self._pipe = -1

    def _request(self, line: bytes, message: Message) -> None:
        """Send a request; a failure is answered with an error."""
        id = message["id"]
        try:
            self._ask(line, message)
        except _Rejection as refused:
            self._emit(refused.line or error_line(id, refused.code, str(refused)))
        except httpx2.HTTPError as problem:
            if _id_key(id) in self._cancelled_ids:
                self._emit(error_line(id, CANCELLED, "the call was cancelled"))
            elif not self._closed.is_set():
                self._emit(error_line(id, GONE, f"the connection to {self._display_url} failed: {_reason(problem)}"))
        except Exception as problem:  # a defect of the proxy: the client must receive an answer
            self._emit(error_line(id, GONE, f"internal error: {type(problem).__name__}: {problem}"))
        finally:
            self._responses.pop(_id_key(id), None)
            self._cancelled_ids.discard(_id_key(id))
            self._threads.discard(threading.current_thread())

    def _ask(self, line: bytes, message: Message) -> None:
        session = self._session
        try:
            position = self._exchange(line, message)
        except _SessionEnded:
            self._renew(session)
            position = self._exchange(line, message)
        for _ in range(_MAX_RESUMPTIONS):
            if position is None:
                return
            self._closed.wait(position.wait_s)
            position = self._resume(message["id"], position)
        if position is not None:
            raise _Rejection("the server's stream kept ending before the answer")

    def _exchange(self, line: bytes, message: Message) -> _StreamPosition | None:
        """Post a request and forward the response; returns the position of a stream that stopped before the answer."""
        with self._post(line, message) as response:
            self._responses[_id_key(message["id"])] = response
            if _id_key(message["id"]) in self._cancelled_ids:  # it was cancelled before there was a connection to close
                raise httpx2.ReadError("cancelled")
            if message["method"] == "initialize" and (session := response.headers.get(SESSION)):
                self._session = {SESSION: session}
            content_type = media_type(response)
            if content_type == "text/event-stream":
                return self._forward_events(response, message)
            if content_type != "application/json":
                content = f"content of the type {content_type}" if content_type else "no content"
                raise _Rejection(f"{self._display_url} answered HTTP {response.status_code} with {content}")
            body = self._body(response)
            if len(body) < _LARGE_BYTES and parse(body) is None:  # the relay checks large ones
                raise _Rejection(f"the server's answer {unreadable_reason(body)}", UNREADABLE)
            if not self._pass_on(body, message):
                raise _Rejection(f"{self._display_url} answered HTTP {response.status_code}, but not this request")
        return None

    def _resume(self, id: object, position: _StreamPosition) -> _StreamPosition | None:
        with self._http.stream("GET", self._url, headers=self._stream_headers(position.last_event)) as response:
            if response.status_code != 200:
                raise _Rejection(f"the stream ended before the answer; resuming it gave HTTP {response.status_code}")
            return self._forward_events(response, {"id": id}, position)

    def _forward_events(
        self, response: httpx2.Response, message: Message, earlier: _StreamPosition | None = None
    ) -> _StreamPosition | None:
        """Forward the messages of a stream, up to the answer to *message*.

        Returns None after that answer, or else the position at which the stream stopped. If the stream continues an
        earlier stream, *earlier* is the position at which that stream stopped.
        """
        last_event, wait_s = earlier.last_event if earlier else "", earlier.wait_s if earlier else _USUAL_RETRY_S
        try:
            for event in events(response.iter_bytes(), self._max_bytes):
                last_event = event.id or last_event
                wait_s = wait_s if event.retry_s is None else min(event.retry_s, _MAX_RETRY_S)
                if event.data and event.kind == "message" and self._pass_on(event.data, message):
                    return None
        except TooLargeError as problem:
            raise _Rejection(f"the server's answer cannot be accepted: {problem} (--max-line-mb)", TOO_LONG) from None
        except httpx2.TransportError:
            if not last_event:
                raise
        if not last_event:
            raise _Rejection("the server's stream ended before the answer")
        return _StreamPosition(last_event, wait_s)

    def _pass_on(self, data: bytearray, request: Message) -> bool:
        """Forward messages; True if the answer to *request* is among them."""
        answered = self._is_answer(data, request)
        self._emit(data)
        return answered

    def _is_answer(self, data: bytearray, request: Message) -> bool:
        if len(data) >= _LARGE_BYTES and request.get("method") != "initialize":  # parsing takes much memory
            line_ends = ends_of(data)
            if (id := id_in(line_ends)) is not None and b'"method"' not in line_ends.head + line_ends.tail:
                return _id_key(id) == _id_key(request.get("id"))
        parsed = parse(data)
        for item in cast("list[Any]", parsed) if isinstance(parsed, list) else [parsed]:
            message = members(item)
            if "id" in message and "method" not in message and _id_key(message["id"]) == _id_key(request.get("id")):
                version = members(message.get("result")).get("protocolVersion")
                if request.get("method") == "initialize" and isinstance(version, str):
                    self._session = {**self._session, VERSION: version}
                return True
        return False

    def _notify(self, line: bytes, message: Message) -> None:
        """Send a notification or a response."""
        method = message.get("method")
        if method == "notifications/cancelled" and self._cancel(message):
            return
        session = self._session
        try:
            try:
                self._post_without_answer(line, message)
            except _SessionEnded:
                self._renew(session)
                self._post_without_answer(line, message)
        except Exception as problem:  # later messages must still be sent
            if not self._closed.is_set():
                self._log(f"{self._display_url} did not accept {method or 'a response'}: {_reason(problem)}")
            return
        if method == "notifications/initialized":
            self._begin_listening()

    def _post_without_answer(self, line: bytes, message: Message) -> None:
        with self._post(line, message, timeout=_NOTICE_S):
            pass

    def _cancel(self, message: Message) -> bool:
        """Cancel a request by closing its connection, as clients do since MCP 2026-07-28.

        Returns False under an older version, in which the server must get the notification instead.
        """
        if message_version(message) is None and self._session:
            return False
        id = _id_key(members(message.get("params")).get("requestId"))
        self._cancelled_ids.add(id)
        if id not in self._responses:  # The request has been answered, and a later one may have the same id.
            self._cancelled_ids.discard(id)
            return True
        response = self._responses.get(id)
        stream = response.extensions.get("network_stream") if response is not None else None
        if stream is not None:
            with contextlib.suppress(OSError, AttributeError):
                cast("socket.socket", stream.get_extra_info("socket")).shutdown(socket.SHUT_RDWR)
        return True

    @contextlib.contextmanager
    def _post(self, line: bytes, message: Message, timeout: float | None = None) -> Generator[httpx2.Response]:
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            **({} if message.get("method") == "initialize" else self._session),
            **message_headers(message),
        }
        times = _TIMEOUT if timeout is None else httpx2.Timeout(timeout)
        with self._http.stream("POST", self._url, content=line, headers=headers, timeout=times) as response:
            new_url = self._redirect(response)
            if new_url is None:
                self._check_status(response, message)
                yield response
                return
        self._url = new_url
        with self._http.stream("POST", self._url, content=line, headers=headers, timeout=times) as response:
            self._check_status(response, message)
            yield response

    def _redirect(self, response: httpx2.Response) -> str | None:
        """The address of a redirect within the same origin (mostly a trailing slash); None otherwise."""
        next_request = response.next_request if response.status_code in (307, 308) else None
        return (
            str(next_request.url)
            if next_request is not None and origin(next_request.url) == origin(response.request.url)
            else None
        )

    def _check_status(self, response: httpx2.Response, message: Message) -> None:
        """Check the status of a response.

        Raises `_SessionEnded` if the server does not know the session any more, and `_Rejection` for any other error
        and for a request that is accepted without an answer.
        """
        status = response.status_code
        is_request = message.get("id") is not None and "method" in message
        if 200 <= status < 300:
            if is_request and status == 202:
                raise _Rejection(f"{self._display_url} accepted the request (HTTP 202), but gave no answer")
            return
        if status == 404 and SESSION in self._session and message.get("method") != "initialize":
            raise _SessionEnded(f"{self._display_url} no longer knows the session (HTTP 404)")
        body = bytes(self._body(response))
        answer = members(parse(body)) if media_type(response) == "application/json" else {}
        where = response.headers.get("location")
        hint = f": it has moved to {where}" if where else ": give the credentials as a header" if status == 401 else ""
        line = (
            orjson.dumps({**answer, "id": message["id"]})
            if is_request and isinstance(answer.get("error"), dict)
            else b""
        )
        raise _Rejection(f"{self._display_url} answered HTTP {status}{hint}", line=line)

    def _renew(self, forgotten: Mapping[str, str]) -> None:
        """Start a new session in place of a session that the server has forgotten; *forgotten* are its headers."""
        with self._renewing:
            if self._session is not forgotten:
                return  # another thread has done it
            initialize = members(parse(self._initialize_line))
            self._log(f"{self._display_url} no longer knows the session; a new one is started")
            with self._post(self._initialize_line, initialize) as response:
                session = response.headers.get(SESSION)
                self._session = {**forgotten, SESSION: session} if session else dict(forgotten)
            initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            self._post_without_answer(orjson.dumps(initialized), initialized)
            self._begin_listening()

    # --- from the server

    def _stream_headers(self, last_event: str) -> dict[str, str]:
        """Headers of a request for the messages of a stream after the event with this id.

        If the id is empty, the request is for a new stream.
        """
        return {"Accept": "text/event-stream", **self._session, **({LAST_EVENT: last_event} if last_event else {})}

    def _begin_listening(self) -> None:
        threading.Thread(target=self._listen, name=f"from {self.name}", daemon=True).start()

    def _listen(self) -> None:
        """Forward the server's own messages in this session, if the server offers a stream for them."""
        session, last_event, wait_s, failures = self._session, "", _USUAL_RETRY_S, 0
        while not self._closed.is_set() and self._session is session:
            try:
                with self._http.stream("GET", self._url, headers=self._stream_headers(last_event)) as response:
                    if response.status_code != 200 or media_type(response) != "text/event-stream":
                        return
                    failures = 0
                    for event in events(response.iter_bytes(), self._max_bytes):
                        last_event = event.id or last_event
                        wait_s = wait_s if event.retry_s is None else max(_USUAL_RETRY_S, event.retry_s)
                        if event.kind == "message" and event.data:
                            self._emit(event.data)
            except (httpx2.HTTPError, TooLargeError):
                failures += 1
            self._closed.wait(min(wait_s * 2 ** min(failures, 5), _MAX_RETRY_S))

    def _body(self, response: httpx2.Response) -> bytearray:
        whole = bytearray()
        for chunk in response.iter_bytes():
            whole += chunk
            if len(whole) > self._max_bytes:
                limit = f"{self._max_bytes} bytes that the proxy accepts (--max-line-mb)"
                raise _Rejection(f"the server's answer is larger than the {limit}: request less at a time", TOO_LONG)
        return whole

    def _emit(self, data: bytes | bytearray) -> None:
        """Write a message as one line. Line ends within it, which are whitespace in JSON, are replaced by spaces."""
        line = data.translate(_LINE_ENDS_TO_SPACES) if b"\n" in data or b"\r" in data else data  # avoids a copy
        with self._writing:
            for rest in (memoryview(line), memoryview(b"\n")):
                while rest and self._pipe >= 0:
                    rest = rest[os.write(self._pipe, rest) :]


class _StreamPosition:
    """Position of a stream that stopped before the answer: the id of its last event, and the wait until it resumes."""

    def __init__(self, last_event: str, wait_s: float) -> None:
        self.last_event, self.wait_s = last_event, wait_s


class _Rejection(Exception):
    """The server did not accept a message, or gave no usable answer; *line* is its error response, if it sent one."""

    def __init__(self, why: str, code: int = GONE, line: bytes = b"") -> None:
        super().__init__(why)
        self.code, self.line = code, line


class _SessionEnded(_Rejection):
    """The server no longer knows the session."""


def _id_key(id: object) -> tuple[type, str]:
    return type(id), repr(id)


def _reason(problem: Exception) -> str:
    return str(problem) or type(problem).__name__
