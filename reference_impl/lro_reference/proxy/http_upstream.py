"""A server behind the proxy that is reached by HTTP (the transport "Streamable HTTP" of MCP).

It looks like a started one: messages go in, and lines come out of a pipe. Each request is a POST of its own, answered
by JSON or by a stream of events; what the server says by itself comes by a GET that stays open, where it offers one.
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

from lro_reference.proxy.ends import id_in
from lro_reference.proxy.eras import modern
from lro_reference.proxy.errors import CANCELLED, GONE, TOO_LONG, UNREADABLE, Say, error_line
from lro_reference.proxy.event_stream import TooLargeError, events
from lro_reference.proxy.http_headers import LAST_EVENT, SESSION, VERSION, kind_of, origin, repeated
from lro_reference.proxy.lines import Outbox, ends
from lro_reference.proxy.messages import Message, exactly, members, parsed, written

_TIMES = httpx2.Timeout(30, read=None)
"""How long an answer may take is the relay's concern."""
_NOTICE_S = 30.0
"""How long a server may take to accept a notification; later messages wait for it."""
_RETRY_S = (1.0, 30.0)
"""The shortest and the longest wait before a stream is opened again."""
_MOST_RESUMED = 5
_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")
_GOODBYE_S = 2.0
_LARGE = 1 << 18


class HttpUpstream:
    """A server at an address."""

    def __init__(self, url: str, headers: Mapping[str, str], most_bytes: int, say: Say) -> None:
        self.name = httpx2.URL(url).host
        self.stdin = Outbox()
        self.stdout, self._pipe = os.pipe()
        self._url, self._most, self._say = url, most_bytes, say
        self._place = str(httpx2.URL(url).copy_with(userinfo=b"", query=None, fragment=None))  # what may be shown of it
        self._http = httpx2.Client(headers=dict(headers), timeout=_TIMES, limits=httpx2.Limits(max_connections=None))
        self._session: dict[str, str] = {}
        """The headers that the session and its protocol version ask for."""
        self._renewing = threading.Lock()
        self._hello = b""
        self._writing = threading.Lock()
        self._over = threading.Event()
        self._under_way: set[threading.Thread] = set()
        self._open: dict[object, httpx2.Response] = {}
        self._hung_up: set[object] = set()
        """Requests that were cancelled by hanging up, as long as they have not noticed."""
        threading.Thread(target=self._dispatch, name=f"to {self.name}", daemon=True).start()

    # --- like a process

    def ended(self) -> int | None:
        """0 once the proxy has left it; by itself it never ends, but each request may fail."""
        return 0 if self._over.is_set() else None

    def ending(self) -> str:
        """How it ended, for people."""
        return "was left"

    def end(self, *, patient: bool = True) -> None:
        """Ends the session, where there is one, and leaves what is still under way."""
        if self._over.is_set():
            return
        self._over.set()
        self.stdin.close()
        if SESSION in self._session:
            goodbye = threading.Thread(target=self._take_leave, name=f"leaving {self.name}", daemon=True)
            goodbye.start()
            goodbye.join(_GOODBYE_S if patient else 0.2)  # a limit for all of it, in however small pieces it comes

    def _take_leave(self) -> None:
        with contextlib.suppress(httpx2.HTTPError):
            self._http.request("DELETE", self._url, headers=self._session)

    # --- to the server

    def _dispatch(self) -> None:
        """Passes messages on in order: requests side by side, and all else when the one before has been accepted."""
        while (line := self.stdin.next()) is not None:
            message = parsed(line)
            if isinstance(message, list):  # servers over HTTP no longer take batches
                for one in exactly(line):
                    self._send(written(one), members(one))
            else:
                self._send(line, members(message))
        for thread in list(self._under_way):
            thread.join()
        self._close()

    def _send(self, line: bytes, message: Message) -> None:
        method = message.get("method")
        if method == "initialize":
            self._hello = line
            self._request(line, message)
        elif method is not None and "id" in message:
            thread = threading.Thread(target=self._request, args=(line, message), name=str(method), daemon=True)
            self._under_way.add(thread)
            thread.start()
        else:
            self._notify(line, message)

    def _close(self) -> None:
        with self._writing:
            os.close(self._pipe)
            self._pipe = -1

    def _request(self, line: bytes, message: Message) -> None:
        """Sends a request; whatever happens, it is answered."""
        id = message["id"]
        try:
            self._ask(line, message)
        except _Refused as refused:
            self._emit(refused.line or error_line(id, refused.code, str(refused)))
        except httpx2.HTTPError as problem:
            if _key(id) in self._hung_up:
                self._emit(error_line(id, CANCELLED, "the call was cancelled"))
            elif not self._over.is_set():
                self._emit(error_line(id, GONE, f"{self._place} cannot be reached: {_why(problem)}"))
        except Exception as problem:  # a defect of the proxy: nobody may wait for ever because of it
            self._emit(error_line(id, GONE, f"internal error: {type(problem).__name__}: {problem}"))
        finally:
            self._open.pop(_key(id), None)
            self._hung_up.discard(_key(id))
            self._under_way.discard(threading.current_thread())

    def _ask(self, line: bytes, message: Message) -> None:
        used = self._session
        try:
            last_event = self._answered(line, message)
        except _SessionEnded:
            self._renew(used)
            last_event = self._answered(line, message)
        for _ in range(_MOST_RESUMED):
            if last_event is None:
                return
            self._over.wait(last_event.wait_s)
            last_event = self._resumed(message["id"], last_event)
        if last_event is not None:
            raise _Refused("the server's stream ended again and again before the answer")

    def _answered(self, line: bytes, message: Message) -> _Stopped | None:
        """Posts a request and passes on what comes; None, or where the stream stopped before the answer."""
        with self._posted(line, message) as response:
            self._open[_key(message["id"])] = response
            if _key(message["id"]) in self._hung_up:  # before there was anything to hang up
                raise httpx2.ReadError("cancelled")
            if message["method"] == "initialize" and (session := response.headers.get(SESSION)):
                self._session = {SESSION: session}
            kind = kind_of(response)
            if kind == "text/event-stream":
                return self._events(response, message)
            if kind != "application/json":
                raise _Refused(f"{self._place} answered HTTP {response.status_code} with {kind or 'nothing'}")
            body = self._body(response)
            if len(body) < _LARGE and parsed(body) is None:  # of a large one the relay says so
                shown = bytes(body[:80]).decode(errors="replace")
                raise _Refused(f"the server's answer is not valid JSON: {shown}…", UNREADABLE)
            if not self._pass_on(body, message):
                raise _Refused(f"{self._place} answered HTTP {response.status_code}, but not this request")
        return None

    def _resumed(self, id: object, stopped: _Stopped) -> _Stopped | None:
        with self._http.stream("GET", self._url, headers=self._listening(stopped.event)) as response:
            if response.status_code != 200:
                raise _Refused(f"the stream ended before the answer, and HTTP {response.status_code} on resuming it")
            return self._events(response, {"id": id}, stopped)

    def _events(self, response: httpx2.Response, message: Message, before: _Stopped | None = None) -> _Stopped | None:
        """Passes on the messages of a stream; None once the answer to *message* was among them."""
        last, wait_s = before.event if before else "", before.wait_s if before else _RETRY_S[0]
        try:
            for event in events(response.iter_bytes(), self._most):
                last = event.id or last
                wait_s = wait_s if event.retry_s is None else min(event.retry_s, _RETRY_S[1])
                if event.data and event.kind == "message" and self._pass_on(event.data, message):
                    return None
        except TooLargeError as problem:
            raise _Refused(f"the server's answer cannot be taken: {problem} (--max-line-mb)", TOO_LONG) from None
        except httpx2.TransportError:
            if not last:
                raise
        if not last:
            raise _Refused("the server's stream ended before the answer")
        return _Stopped(last, wait_s)

    def _pass_on(self, data: bytearray, asked: Message) -> bool:
        """Passes on messages; whether the answer to *asked* is among them."""
        answered = self._is_answer(data, asked)
        self._emit(data)
        return answered

    def _is_answer(self, data: bytearray, asked: Message) -> bool:
        if len(data) >= _LARGE and asked.get("method") != "initialize":  # parsed, it would be several times as large
            known = ends(data)
            if (id := id_in(known)) is not None and b'"method"' not in known.head + known.tail:
                return _key(id) == _key(asked.get("id"))
        found = parsed(data)
        for one in cast("list[Any]", found) if isinstance(found, list) else [found]:
            message = members(one)
            if "id" in message and "method" not in message and _key(message["id"]) == _key(asked.get("id")):
                version = members(message.get("result")).get("protocolVersion")
                if asked.get("method") == "initialize" and isinstance(version, str):
                    self._session = {**self._session, VERSION: version}
                return True
        return False

    def _notify(self, line: bytes, message: Message) -> None:
        """Sends what has no answer."""
        method = message.get("method")
        if method == "notifications/cancelled" and self._cancelled(message):
            return
        used = self._session
        try:
            try:
                self._give(line, message)
            except _SessionEnded:
                self._renew(used)
                self._give(line, message)
        except Exception as problem:  # whatever it is, later messages wait for their turn
            if not self._over.is_set():
                self._say(f"{self._place} did not take {method or 'an answer'}: {_why(problem)}")
            return
        if method == "notifications/initialized":
            self._begin_listening()

    def _give(self, line: bytes, message: Message) -> None:
        with self._posted(line, message, timeout=_NOTICE_S):
            pass

    def _cancelled(self, message: Message) -> bool:
        """Since protocol 2026-07-28 a request is cancelled by closing the connection that it went by."""
        if modern(message) is None and self._session:
            return False
        id = _key(members(message.get("params")).get("requestId"))
        self._hung_up.add(id)
        response = self._open.get(id)
        stream = response.extensions.get("network_stream") if response is not None else None
        if stream is not None:
            with contextlib.suppress(OSError, AttributeError):
                cast("socket.socket", stream.get_extra_info("socket")).shutdown(socket.SHUT_RDWR)
        return True

    @contextlib.contextmanager
    def _posted(self, line: bytes, message: Message, timeout: float | None = None) -> Generator[httpx2.Response]:
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            **({} if message.get("method") == "initialize" else self._session),
            **repeated(message),
        }
        times = _TIMES if timeout is None else httpx2.Timeout(timeout)
        with self._http.stream("POST", self._url, content=line, headers=headers, timeout=times) as response:
            moved = self._moved(response)
            if moved is None:
                self._accept(response, message)
                yield response
                return
        self._url = moved
        with self._http.stream("POST", self._url, content=line, headers=headers, timeout=times) as response:
            self._accept(response, message)
            yield response

    def _moved(self, response: httpx2.Response) -> str | None:
        """Where a server wants the same sent, if that is the same server (a slash at the end, mostly)."""
        after = response.next_request if response.status_code in (307, 308) else None
        return str(after.url) if after is not None and origin(after.url) == origin(response.request.url) else None

    def _accept(self, response: httpx2.Response, message: Message) -> None:
        """Raises `_Refused` for a status that is no success, and for a request that is never answered."""
        status = response.status_code
        asks = message.get("id") is not None and "method" in message
        if 200 <= status < 300:
            if asks and status == 202:
                raise _Refused(f"{self._place} accepted the request (HTTP 202), and gave no answer")
            return
        if status == 404 and self._session and message.get("method") != "initialize":
            raise _SessionEnded(f"{self._place} no longer knows the session (HTTP 404)")
        said = bytes(self._body(response))
        told = members(parsed(said)) if kind_of(response) == "application/json" else {}
        where = response.headers.get("location")
        hint = f": it is at {where} now" if where else ": give what authorizes as a header" if status == 401 else ""
        line = orjson.dumps({**told, "id": message["id"]}) if asks and isinstance(told.get("error"), dict) else b""
        raise _Refused(f"{self._place} answered HTTP {status}{hint}", line=line)

    def _renew(self, used: Mapping[str, str]) -> None:
        """Begins a new session where the server has forgotten the one that was *used*."""
        with self._renewing:
            if self._session is not used:
                return  # somebody else has
            hello = members(parsed(self._hello))
            self._say(f"{self._place} no longer knows the session; a new one is begun")
            with self._posted(self._hello, hello) as response:
                session = response.headers.get(SESSION)
                self._session = {**used, SESSION: session} if session else dict(used)
            greeting = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            self._give(orjson.dumps(greeting), greeting)
            self._begin_listening()

    # --- from the server

    def _listening(self, last_event: str) -> dict[str, str]:
        return {"Accept": "text/event-stream", **self._session, **({LAST_EVENT: last_event} if last_event else {})}

    def _begin_listening(self) -> None:
        threading.Thread(target=self._listen, name=f"from {self.name}", daemon=True).start()

    def _listen(self) -> None:
        """Passes on what the server says by itself in this session, as long as it offers a stream for that."""
        session, last, wait_s, failures = self._session, "", _RETRY_S[0], 0
        while not self._over.is_set() and self._session is session:
            try:
                with self._http.stream("GET", self._url, headers=self._listening(last)) as response:
                    if response.status_code != 200 or kind_of(response) != "text/event-stream":
                        return
                    failures = 0
                    for event in events(response.iter_bytes(), self._most):
                        last = event.id or last
                        wait_s = wait_s if event.retry_s is None else max(_RETRY_S[0], event.retry_s)
                        if event.kind == "message" and event.data:
                            self._emit(event.data)
            except (httpx2.HTTPError, TooLargeError):
                failures += 1
            self._over.wait(min(wait_s * 2 ** min(failures, 5), _RETRY_S[1]))

    def _body(self, response: httpx2.Response) -> bytearray:
        whole = bytearray()
        for chunk in response.iter_bytes():
            whole += chunk
            if len(whole) > self._most:
                why = f"the server's answer is larger than the {self._most} bytes that the proxy takes (--max-line-mb)"
                raise _Refused(f"{why}: ask for less at a time", TOO_LONG)
        return whole

    def _emit(self, data: bytes | bytearray) -> None:
        """A message as a line of its own: a line feed in JSON is but space between values."""
        line = data.translate(_ONE_LINE) if b"\n" in data or b"\r" in data else data  # a copy is as large as it is
        with self._writing:
            for rest in (memoryview(line), memoryview(b"\n")):
                while rest and self._pipe >= 0:
                    rest = rest[os.write(self._pipe, rest) :]


class _Stopped:
    """A stream that stopped before the answer."""

    def __init__(self, event: str, wait_s: float) -> None:
        self.event, self.wait_s = event, wait_s


class _Refused(Exception):
    """The server did not take a message; *line* is its own answer, where it has one."""

    def __init__(self, why: str, code: int = GONE, line: bytes = b"") -> None:
        super().__init__(why)
        self.code, self.line = code, line


class _SessionEnded(_Refused):
    """The server no longer knows the session."""


def _key(id: object) -> tuple[type, str]:
    return type(id), repr(id)


def _why(problem: Exception) -> str:
    return str(problem) or type(problem).__name__
