"""Which tools the server has: asked before the proxy's own are first called, and where its list has several pages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, cast

from lro_reference.proxy.messages import Message, members

_MOST_PAGES = 1000
_PATIENCE_S = 10.0
"""How long the server may take, page by page; later its names are taken as they become known."""


class ServerTools:
    """Asks for one page after the other, and tells *found* the names on each."""

    def __init__(self, found: Callable[[Iterable[object]], None]) -> None:
        self._found = found
        self._lock = threading.Lock()
        self._then: list[Callable[[], None]] = []
        self._cursors: list[object] = []
        self._giving_up: threading.Timer | None = None
        self.known = False
        """Whether all names are known."""
        self.envelope: Message = {}
        """What each request has among its parameters."""
        self.ask: Callable[[Message], None] = lambda params: self.heard({})
        """Asks for a page with these parameters; `heard` gets the answer."""

    def learn(self, then: Callable[[], None]) -> None:
        """Finds them out, and goes on with *then*; also where the server does not tell."""
        with self._lock:
            self._then.append(then)
            if self._giving_up is not None:
                return
            self._cursors = []
            self._giving_up = threading.Timer(_PATIENCE_S, self._go_on)
            self._giving_up.daemon = True
            self._giving_up.start()
        self.ask(self.envelope)

    def heard(self, answer: Message) -> None:
        """The answer to what was asked; one without a result is the last."""
        result = members(answer.get("result"))
        tools = result.get("tools")
        self._found(members(tool).get("name") for tool in (cast("list[Any]", tools) if isinstance(tools, list) else []))
        cursor = result.get("nextCursor")
        with self._lock:
            if self._giving_up is None:  # it comes too late
                return
            on = cursor is not None and cursor not in self._cursors and len(self._cursors) < _MOST_PAGES
            self._cursors.append(cursor)
        if on:
            self.ask({**self.envelope, "cursor": cursor})
        else:
            self.known = "result" in answer
            self._go_on()

    def _go_on(self) -> None:
        with self._lock:
            waiting, self._then = self._then, []
            if self._giving_up is not None:
                self._giving_up.cancel()
                self._giving_up = None
        for then in waiting:
            then()
