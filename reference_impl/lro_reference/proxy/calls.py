"""The client's requests that wait for an answer, and until when."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lro_reference.proxy.eras import modern
from lro_reference.proxy.messages import Message, members

Id = int | str
"""What a request is known by. A number that is read as neither (1.5, 10**30) could not be written as it came."""

_WHOLE = re.compile(r"-?[0-9]{1,19}")


@dataclass(slots=True)
class Request:
    """A request of the client."""

    id: Id
    method: str
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    progress: Hashable = None
    """Its progress token."""
    deadline: float = float("inf")
    cancelled: bool = False
    modern: bool = False
    """Whether it goes by the protocol of 2026-07-28."""


def as_number(id: object) -> object:
    """An id as the number that it may have been: official clients take "7" and 7.0 for an answer to 7."""
    if isinstance(id, str) and _WHOLE.fullmatch(id):
        return int(id)
    return int(id) if isinstance(id, float) and id.is_integer() else id


def request_of(message: Message, params: Message) -> Request:
    """What the client asks for with a message that has an id and these parameters."""
    method = message["method"] if isinstance(message["method"], str) else ""
    token = members(params.get("_meta")).get("progressToken")
    name, arguments = params.get("name"), params.get("arguments")
    return Request(
        id=message["id"],
        method=method,
        tool=name if isinstance(name, str) else "task" if method == "tasks/result" else "",
        arguments=members(arguments),
        progress=token if isinstance(token, (str, int)) else None,
        modern=modern(message) is not None,
    )


class Requests:
    """What is in flight. An id is known by type and value: 1 and "1" are two."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s or float("inf")
        self._waiting: dict[object, Request] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def wanted(self) -> bool:
        """Whether there is one that was not cancelled."""
        with self._lock:
            return not all(request.cancelled for request in self._waiting.values())

    def expect(self, request: Request) -> None:
        """A request goes to the server."""
        request.deadline = time.monotonic() + self._timeout_s
        with self._lock:
            self._waiting[request.id] = request

    def answered(self, id: object) -> Request | None:
        """The request that an answer is for; None when nobody waits for it."""
        with self._lock:
            return self._waiting.pop(self._meant(id), None)

    def look(self, id: object) -> Request | None:
        """The request that an answer is for, which goes on waiting."""
        with self._lock:
            return self._waiting.get(self._meant(id))

    def cancel(self, id: object) -> None:
        """The client has cancelled a request; an answer may still come."""
        with self._lock:
            if (found := self._waiting.get(self._meant(id))) is not None:
                found.cancelled = True

    def _meant(self, id: object) -> object:
        known = isinstance(id, Id) and id in self._waiting
        return id if known else None if isinstance(id, (dict, list)) else as_number(id)

    def progressed(self, token: object) -> None:
        """A request with this progress token is alive."""
        with self._lock:
            for request in self._waiting.values():
                if request.progress is not None and request.progress in (token, as_number(token)):
                    request.deadline = time.monotonic() + self._timeout_s

    def overdue(self) -> list[Request]:
        """Takes out the requests whose time is over."""
        now = time.monotonic()
        return self._take(lambda request: request.deadline <= now)

    def take_all(self) -> list[Request]:
        """Takes out everything."""
        return self._take(lambda request: True)

    def _take(self, wanted: Callable[[Request], bool]) -> list[Request]:
        with self._lock:
            taken = [request for request in self._waiting.values() if wanted(request)]
            for request in taken:
                del self._waiting[request.id]
        return taken
