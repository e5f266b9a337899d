"""Requests the names of the server's tools, because the proxy's own tools must not have the same names.

The names are needed before the first call of a tool of the proxy. If the server's list has several pages, they are also
needed before the first page is returned to the client, because the proxy's tools are added to that page.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, cast

from lro_proxy.wire.jsonrpc import Message, members

_MAX_PAGES = 1000
"""Maximum number of pages that are requested after the first one."""
_TIME_LIMIT_S = 10.0
"""Time limit for all pages together. Names on a page that comes later still count, but no further page is requested."""


class ServerTools:
    """Requests `tools/list` page by page; *add_names* receives the names on each page."""

    def __init__(self, add_names: Callable[[Iterable[object]], None]) -> None:
        self._add_names = add_names
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self._cursors: list[object] = []
        self._timer: threading.Timer | None = None
        self.is_complete = False
        """True once the names on all pages (up to `_MAX_PAGES`) are known. It becomes False when the server's tools
        change."""
        self.envelope: Message = {}
        """The parameters that every request carries (`protocol.envelope`)."""
        self.request_page: Callable[[Message], None] = lambda params: self.receive({})
        """Requests a page with these parameters; `receive` gets the answer."""

    def fetch(self, then: Callable[[], None]) -> None:
        """Request all pages, then call *then*. It is also called after a failure or when the time limit is reached."""
        with self._lock:
            self._callbacks.append(then)
            if self._timer is not None:
                return
            self._cursors = []
            self._timer = threading.Timer(_TIME_LIMIT_S, self._finish)
            self._timer.daemon = True
            self._timer.start()
        self.request_page(self.envelope)

    def receive(self, answer: Message) -> None:
        """Handle the answer to a request for a page. An answer without a result ends the list."""
        result = members(answer.get("result"))
        tools = result.get("tools")
        self._add_names(
            members(tool).get("name") for tool in (cast("list[Any]", tools) if isinstance(tools, list) else [])
        )
        cursor = result.get("nextCursor")
        with self._lock:
            if self._timer is None:  # too late
                return
            has_more = cursor is not None and cursor not in self._cursors and len(self._cursors) < _MAX_PAGES
            self._cursors.append(cursor)
        if has_more:
            self.request_page({**self.envelope, "cursor": cursor})
        else:
            self.is_complete = "result" in answer
            self._finish()

    def _finish(self) -> None:
        with self._lock:
            callbacks, self._callbacks = self._callbacks, []
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        for then in callbacks:
            then()
