"""Several servers behind one proxy: what concerns all is asked of all, and the rest goes to the one that is meant.

Each server has a `Relay` of its own, which offloads, times out and reports its end just as if it were alone; the hub
stands where its client would. It parses every message once more, and knows which server a request went to.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from lro_reference.proxy.calls import as_number
from lro_reference.proxy.ends import id_in
from lro_reference.proxy.errors import INTERNAL, NO_METHOD, TOO_LONG, Say, error_line
from lro_reference.proxy.lines import LineWriter, TooLong, ends, read_lines
from lro_reference.proxy.merging import LISTS, Known, introduced, listed
from lro_reference.proxy.messages import Message, exactly, members, written
from lro_reference.proxy.relay import Relay
from lro_reference.proxy.upstream import Behind

if TYPE_CHECKING:
    from lro_reference.proxy.own_tools import OwnTools

UNKNOWN, NO_REQUEST, NOT_JSON = -32602, -32600, -32700
_CHOSEN: Mapping[str, tuple[str, str]] = {
    "tools/call": ("tools/list", "name"),
    "prompts/get": ("prompts/list", "name"),
    "resources/read": ("resources/list", "uri"),
    "resources/subscribe": ("resources/list", "uri"),
    "resources/unsubscribe": ("resources/list", "uri"),
}
"""By method: whose list knows the server that is meant, and by which parameter."""
_MAYBE_OWN = frozenset((None, "initialize", "notifications/cancelled", "tools/call"))
"""What may be for the proxy's own tools; None: an answer."""
_TO_ALL = frozenset(("initialize", "logging/setLevel", *LISTS))
_NEEDS: Mapping[str, str] = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "logging/setLevel": "logging",
}
"""The capability without which a server is not asked."""
_MOST_PAGES = 1000
_MOST_WAITING = 1000


class Member:
    """One server of a hub."""

    def __init__(self, name: str, upstream: Behind) -> None:
        self.name, self.upstream = name, upstream
        self.relay: Relay
        self.capabilities: Message = {}
        self._inbox: queue.Queue[bytes | bytearray | None] = queue.Queue(_MOST_WAITING)
        self._postman = threading.Thread(target=self._deliver, name=f"to {name}", daemon=True)

    def begin(self, relay: Relay) -> None:
        """Starts to deliver, so that a server that does not read holds up nobody else."""
        self.relay = relay
        self._postman.start()

    def take(self, message: Message) -> None:
        """Passes a message of the client on."""
        line = self.relay.noted(bytearray(written(message)))
        try:
            if line is not None:
                self._inbox.put_nowait(line)
        except queue.Full:
            self.relay.unread()
            return
        if self.relay.ended:
            self.relay.unread()

    def leave(self) -> None:
        """The client has left: the server hears what is still to be delivered, and then the end of its input."""
        try:
            self._inbox.put_nowait(None)
            self._postman.join(1)
        except queue.Full:
            pass
        self.relay.client_left = True
        self.upstream.stdin.close()

    def _deliver(self) -> None:
        while (line := self._inbox.get()) is not None:
            self.upstream.stdin.write(line)


@dataclass(slots=True)
class _Round:
    """One request to several servers, whose answers become one."""

    request: Message
    waiting: set[str]
    then: Callable[[Mapping[str, Message]], None]
    anyway: bool = False
    """Whether it goes on where none of them has an answer; else the client gets the first error."""
    results: dict[str, Message] = field(default_factory=dict[str, Message])
    pages: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    error: Message | None = None


class Hub:
    """One client and several servers."""

    def __init__(self, client: LineWriter, members: Sequence[Member], say: Say, own: OwnTools | None = None) -> None:
        self._client, self._say, self._own = client, say, own
        self._members = {member.name: member for member in members}
        self._rounds: dict[object, _Round] = {}
        self._sent: dict[object, Member] = {}
        self._asked: dict[str, tuple[Member, object]] = {}
        self._known: dict[str, dict[str, Known]] = {}
        self._templates: dict[str, Known] = {}
        self._given: dict[str, dict[Known, str]] = {}
        self._lock = threading.RLock()
        if own is not None:
            own.of_server.ask = self._tell_tools
            own.pass_on = self._hear

    # --- from the client

    def forward(self, pipe: int, most_bytes: int) -> None:
        """Passes on what the client says until it leaves."""
        for line in read_lines(pipe, most_bytes):
            if isinstance(line, TooLong):
                self._error(
                    id_in(line), TOO_LONG, f"the message is larger than {most_bytes} bytes: send less at a time"
                )
            else:
                self._hear(line)

    def _hear(self, line: bytes | bytearray) -> None:
        message = exactly(line)
        if not isinstance(message, dict):
            if line.strip():
                self._error(None, NOT_JSON, "with several servers, each line is one JSON-RPC message")
            return
        try:
            with self._lock:
                self._take(cast("Message", message))
        except Exception as problem:  # a defect of the proxy: it may not cost the calls in progress
            why = f"internal error: {type(problem).__name__}: {problem}"
            self._say(f"a message of the client's is lost: {why}")
            if "method" in message and "id" in message:
                self._error(id_in(ends(line)), INTERNAL, why)

    def _take(self, message: Message) -> None:
        method, id = message.get("method"), message.get("id")
        if not isinstance(method, str | None) or isinstance(id, (dict, list)):
            self._error(
                id if isinstance(id, (str, int)) else None, NO_REQUEST, "a method is a text, an id no structure"
            )
            return
        if self._own is not None and method in _MAYBE_OWN and self._own.take(message, lambda: written(message)):
            return
        if method is None:
            member, asked = self._asked.pop(str(id), (None, None))
            if member is not None:
                member.take({**message, "id": asked})
        elif id is None:
            self._notify(message)
        elif method == "ping":
            self._reply(id, {})
        elif method in _TO_ALL:
            self._ask_all(message, lambda results: self._merge(message, results))
        elif method in _CHOSEN:
            self._choose(message, again=True)
        elif method == "completion/complete":
            self._complete(message)
        else:
            self._error(id, NO_METHOD, f"{method} cannot be asked of several servers")

    def _notify(self, message: Message) -> None:
        params = members(message.get("params"))
        target = self._sent.get(_key(params.get("requestId")))
        if message["method"] == "notifications/cancelled" and target is not None:
            target.take(message)
            return
        for member in self._members.values():
            member.take(message)

    def _choose(self, message: Message, *, again: bool) -> None:
        """To the server that has what is meant; where nobody is known to have it, they are asked once."""
        list_of, key = _CHOSEN[message["method"]]
        params = members(message.get("params"))
        known = self._meant(list_of, params.get(key))
        if known is not None:
            self._send(self._members[known.server], {**message, "params": {**params, key: known.name}})
        elif again:
            lists = [list_of, *(("resources/templates/list",) if list_of == "resources/list" else ())]
            self._learn(lists, lambda: self._choose(message, again=False))
        else:
            self._error(message["id"], UNKNOWN, f"no server has {params.get(key)!r}: see {list_of}")

    def _meant(self, list_of: str, name: object) -> Known | None:
        found = self._known.get(list_of, {}).get(str(name))
        if found is None and list_of == "resources/list":
            fitting = [t for t in self._templates if str(name).startswith(t.split("{")[0])]
            best = max(fitting, key=lambda template: len(template.split("{")[0]), default=None)
            found = None if best is None else Known(self._templates[best].server, str(name))
        return found

    def _learn(self, lists: Sequence[str], then: Callable[[], None]) -> None:
        if not lists:
            then()
            return
        method = lists[0]
        request: Message = {"jsonrpc": "2.0", "id": f"lro-proxy-{method}-{id(then)}", "method": method}

        def learnt(results: Mapping[str, Message]) -> None:
            self._entries(method, results)
            self._learn(lists[1:], then)

        self._ask_all(request, learnt, anyway=True)

    def _complete(self, message: Message) -> None:
        params = members(message.get("params"))
        ref = members(params.get("ref"))
        if ref.get("type") == "ref/prompt":
            known = self._known.get("prompts/list", {}).get(str(ref.get("name")))
            ref = {**ref, "name": known.name} if known else ref
        else:
            known = self._templates.get(str(ref.get("uri"))) or self._meant("resources/list", ref.get("uri"))
        if known is None:
            self._error(message["id"], UNKNOWN, f"no server is known to have {ref}")
        else:
            self._send(self._members[known.server], {**message, "params": {**params, "ref": ref}})

    def _send(self, member: Member, message: Message) -> None:
        self._sent[_key(message["id"])] = member
        member.take(message)

    # --- what concerns all

    def _ask_all(
        self, request: Message, then: Callable[[Mapping[str, Message]], None], *, anyway: bool = False
    ) -> None:
        needed = _NEEDS.get(request["method"])
        asked = [m for m in self._members.values() if needed is None or needed in m.capabilities]
        round_ = _Round(request, {member.name for member in asked}, then, anyway)
        if not asked:
            then({})
            return
        self._rounds[_key(request["id"])] = round_
        for member in asked:
            member.take(request)

    def _collect(self, round_: _Round, member: Member, message: Message) -> None:
        request = round_.request
        if "result" in message:
            result = members(message["result"])
            pages = round_.pages.setdefault(member.name, [])
            cursor = result.get("nextCursor")
            on = cursor is not None and len(pages) < _MOST_PAGES and cursor not in [p.get("nextCursor") for p in pages]
            pages.append(result)
            if request["method"] in LISTS and on:
                member.take({**request, "params": {**members(request.get("params")), "cursor": cursor}})
                return
            if request["method"] in LISTS:
                entries = LISTS[request["method"]][0]
                result = {entries: [item for page in pages for item in _items(page.get(entries))]}
            round_.results[member.name] = result
        else:
            round_.error = round_.error or message
            told = members(message.get("error")).get("message")
            self._say(f"{member.name} has no answer to {request['method']}: {told}")
        round_.waiting.discard(member.name)
        if not round_.waiting:
            del self._rounds[_key(request["id"])]
            if round_.error is not None and not round_.results and not round_.anyway:
                self._write({**round_.error, "id": request["id"]})
            else:
                # In the order of the file, whoever was quicker.
                round_.then({name: round_.results[name] for name in self._members if name in round_.results})

    def _merge(self, request: Message, results: Mapping[str, Message]) -> None:
        method = request["method"]
        if method == "initialize":
            for name, result in results.items():
                self._members[name].capabilities = members(result.get("capabilities"))
            made = introduced(results)
            if self._own is not None:
                self._own.advertise(made)
        elif method in LISTS:
            made = {LISTS[method][0]: self._entries(method, results)}
            if self._own is not None and method == "tools/list":
                self._own.add_to(made, request["id"])
        else:
            made = {}
        self._reply(request["id"], made)

    def _entries(self, method: str, results: Mapping[str, Message]) -> list[Any]:
        """One list of those of all, which is remembered."""
        entries = {name: _items(r.get(LISTS[method][0])) for name, r in results.items()}
        items, known = listed(method, entries, self._given.setdefault(method, {}))
        before = self._templates if method == "resources/templates/list" else self._known.get(method, {})
        silent = {shown: meant for shown, meant in before.items() if meant.server not in results}
        known = silent | known  # what a server has that has ended is not unknown: its calls are told why they fail
        if method == "resources/templates/list":
            self._templates = known
        else:
            self._known[method] = known
        return items

    def _tell_tools(self, params: Message) -> None:
        """Tells the proxy's own tools which names are the servers'."""
        del params

        def tell() -> None:
            if self._own is not None:
                tools = [{"name": name} for name in self._known.get("tools/list", {})]
                self._own.of_server.heard({"result": {"tools": tools}})

        with self._lock:
            self._learn(["tools/list"], tell)

    # --- from the servers

    def said(self, member: Member, line: bytes | bytearray) -> bool:
        """A line of a server's, after its relay has seen it; False when the client no longer reads."""
        message = exactly(line)
        if not isinstance(message, dict):
            return self._client.write(line)
        said = cast("Message", message)
        id = said.get("id")
        with self._lock:
            if "method" not in said:
                round_ = self._rounds.get(_key(id)) or self._rounds.get(_key(as_number(id)))
                if round_ is not None and member.name in round_.waiting:
                    self._collect(round_, member, said)
                    return not self._client.broken
                self._sent.pop(_key(id), None)
            elif id is not None:
                asked = f"{member.name}/{type(id).__name__}/{id}"
                self._asked[asked] = (member, id)
                return self._write({**said, "id": asked})
            elif said["method"] == "notifications/tools/list_changed" and self._own is not None:
                self._own.of_server.known = False
            elif said["method"] == "notifications/cancelled":
                params = members(said.get("params"))
                meant = params.get("requestId")
                asked = f"{member.name}/{type(meant).__name__}/{meant}"
                return self._write({**said, "params": {**params, "requestId": asked}})
        return self._client.write(line)

    def _reply(self, id: object, result: Message) -> None:
        self._write({"jsonrpc": "2.0", "id": id, "result": result})

    def _error(self, id: object, code: int, message: str) -> None:
        self._client.write(error_line(id, code, message))

    def _write(self, message: Message) -> bool:
        return self._client.write(written(message))


class Port:
    """Where the relay of one server finds its client."""

    def __init__(self, hub: Hub, member: Member) -> None:
        self._hub, self._member = hub, member

    def write(self, line: bytes | bytearray) -> bool:
        """Writes a line; False when nobody reads any more."""
        return self._hub.said(self._member, line)


def _items(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _key(id: object) -> tuple[type, str]:
    return type(id), str(id)
