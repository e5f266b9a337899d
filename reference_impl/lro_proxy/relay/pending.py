"""The client's pending requests and their deadlines."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lro_proxy.protocol import TOOL_RESULT_METHODS, client_name, is_announced, message_version
from lro_proxy.wire.jsonrpc import Message, members

Id = int | str
"""Id of a request that the relay tracks. Other numbers (1.5, 1e30) are not tracked: they may change when serialised."""

_INTEGER = re.compile(r"-?[0-9]{1,19}")


@dataclass(slots=True)
class Request:
    """A request of the client."""

    id: Id
    method: str
    tool: str = ""
    """The parameter ``name``, which is the name of the tool in a call.

    In a request for the result of a task, it is ``task`` if the call that created the task is unknown.
    """
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    progress_token: Hashable = None
    deadline: float = float("inf")
    """On the monotonic clock."""
    cancelled: bool = False
    modern: bool = False
    """True for a request of protocol 2026-07-28."""
    defers: bool = False
    """True if another proxy, which is nearer to the client, offloads the result."""
    task: str | None = None
    """Id of the task that the request is about."""
    client: str = ""
    """The client's name, if the request states it."""


def numeric_id(id: object) -> object:
    """The integer 7 for an id such as "7" or 7.0. Any other id is returned unchanged.

    Official clients accept an answer to "7" or 7.0 as an answer to 7.
    """
    if isinstance(id, str) and _INTEGER.fullmatch(id):
        return int(id)
    return int(id) if isinstance(id, float) and id.is_integer() else id


def request_of(message: Message, params: Message) -> Request:
    """The request in a message that has an id; *params* are the parameters of the message."""
    method = message["method"] if isinstance(message["method"], str) else ""
    token = members(params.get("_meta")).get("progressToken")
    modern = message_version(message) is not None
    states_client = modern or method == "initialize"
    name, arguments, task = params.get("name"), params.get("arguments"), params.get("taskId")
    return Request(
        id=message["id"],
        method=method,
        tool=name if isinstance(name, str) else "task" if method in TOOL_RESULT_METHODS else "",
        arguments=members(arguments),
        progress_token=token if isinstance(token, (str, int)) else None,
        modern=modern,
        defers=states_client and is_announced(message),
        client=client_name(message) if states_client else "",
        task=task if isinstance(task, str) else None,
    )


class PendingRequests:
    """Pending requests.

    The ids 1 and "1" are different. But if no request with the id "1" is pending, an answer with that id counts as the
    answer to 1.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s or float("inf")
        self._waiting: dict[object, Request] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def has_uncancelled(self) -> bool:
        """True if there is a pending request that was not cancelled."""
        with self._lock:
            return not all(request.cancelled for request in self._waiting.values())

    def add(self, request: Request) -> None:
        """Add a request, and start its timeout."""
        request.deadline = time.monotonic() + self._timeout_s
        with self._lock:
            self._waiting[request.id] = request

    def pop(self, id: object) -> Request | None:
        """Remove and return the request with this id, or None if it is not pending."""
        with self._lock:
            return self._waiting.pop(self._key_of(id), None)

    def get(self, id: object) -> Request | None:
        """Return the request with this id without removing it, or None if it is not pending."""
        with self._lock:
            return self._waiting.get(self._key_of(id))

    def cancel(self, id: object) -> None:
        """Mark a request as cancelled; an answer may still come."""
        with self._lock:
            if (request := self._waiting.get(self._key_of(id))) is not None:
                request.cancelled = True

    def _key_of(self, id: object) -> object:
        is_pending = isinstance(id, Id) and id in self._waiting
        return id if is_pending else None if isinstance(id, (dict, list)) else numeric_id(id)

    def extend(self, token: object) -> None:
        """Restart the timeout of the request with this progress token."""
        with self._lock:
            for request in self._waiting.values():
                if request.progress_token is not None and request.progress_token in (token, numeric_id(token)):
                    request.deadline = time.monotonic() + self._timeout_s

    def pop_overdue(self) -> list[Request]:
        """Remove and return the overdue requests."""
        now = time.monotonic()
        return self._pop_where(lambda request: request.deadline <= now)

    def pop_all(self) -> list[Request]:
        """Remove and return all requests."""
        return self._pop_where(lambda request: True)

    def _pop_where(self, condition: Callable[[Request], bool]) -> list[Request]:
        with self._lock:
            popped = [request for request in self._waiting.values() if condition(request)]
            for request in popped:
                del self._waiting[request.id]
        return popped
