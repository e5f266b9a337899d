"""Several servers behind one proxy: a request goes to all servers, or to the server that owns the requested name.

Each server has a `Relay` of its own. Independently of the other servers, the relay offloads the results of its server,
lets requests time out, and reports when the server has ended. To a relay, the hub is the client. The hub parses every
message again, and keeps track of the server to which each request was sent.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from lro_proxy.errors import INTERNAL, NO_METHOD, TOO_LONG, Log, error_line
from lro_proxy.relay.merge import LISTS, Target, merge_initialize, merge_lists
from lro_proxy.relay.pending import numeric_id
from lro_proxy.relay.relay import Relay
from lro_proxy.upstream.stdio import Upstream
from lro_proxy.wire.framing import LineWriter, OversizedLine, ends_of, read_lines
from lro_proxy.wire.jsonrpc import Message, members, parse_lossless, serialise
from lro_proxy.wire.truncated import id_in

if TYPE_CHECKING:
    from lro_proxy.relay.tools import ProxyTools

INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR = -32602, -32600, -32700
_ROUTED: Mapping[str, tuple[str, str]] = {
    "tools/call": ("tools/list", "name"),
    "prompts/get": ("prompts/list", "name"),
    "resources/read": ("resources/list", "uri"),
    "resources/subscribe": ("resources/list", "uri"),
    "resources/unsubscribe": ("resources/list", "uri"),
}
"""For each method: the list in which the server of the requested name is looked up, and the parameter with the name."""
_PROXY_METHODS = frozenset((None, "initialize", "notifications/cancelled", "tools/call")) | {
    "resources/read",
    "resources/list",
    "resources/templates/list",
}
"""Methods of messages that may concern the proxy's own tools and resources. None stands for a response."""
_BROADCASTS = frozenset(("initialize", "logging/setLevel", *LISTS))
_REQUIRED_CAPABILITY: Mapping[str, str] = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "logging/setLevel": "logging",
}
"""For each method: the capability that a server must have to receive requests of this method."""
_MAX_PAGES = 1000
"""Maximum number of pages of a server's list that are requested after the first one."""
_MAX_QUEUED = 1000
"""Maximum number of messages that wait for a server. If there are more, the server counts as stalled."""


class Member:
    """One server of a hub."""

    def __init__(self, name: str, upstream: Upstream) -> None:
        self.name, self.upstream = name, upstream
        self.relay: Relay
        self.capabilities: Message = {}
        self._inbox: queue.Queue[bytes | bytearray | None] = queue.Queue(_MAX_QUEUED)
        self._delivery = threading.Thread(target=self._deliver, name=f"to {name}", daemon=True)

    def start(self, relay: Relay) -> None:
        """Start the delivery thread, so that a server that does not read does not block the other servers."""
        self.relay = relay
        self._delivery.start()

    def forward(self, message: Message) -> None:
        """Forward a message of the client."""
        line = self.relay.track(bytearray(serialise(message)))
        try:
            if line is not None:
                self._inbox.put_nowait(line)
        except queue.Full:
            self.relay.upstream_stalled()
            return
        if self.relay.has_ended:
            self.relay.upstream_stalled()

    def close_input(self) -> None:
        """Close the server's input after the client has left.

        Before that, wait up to a second until the remaining messages are delivered.
        """
        try:
            self._inbox.put_nowait(None)
            self._delivery.join(1)
        except queue.Full:
            pass
        self.relay.client_left = True
        self.upstream.stdin.close()

    def _deliver(self) -> None:
        while (line := self._inbox.get()) is not None:
            self.upstream.stdin.write(line)


@dataclass(slots=True)
class _Broadcast:
    """One request to several servers, whose answers are merged."""

    request: Message
    waiting_for: set[str]
    then: Callable[[Mapping[str, Message]], None]
    ignore_errors: bool = False
    """The reaction if every server fails: if True, `then` is called without results; if False, the client receives the
    first error."""
    results: dict[str, Message] = field(default_factory=dict[str, Message])
    pages: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    error: Message | None = None


class Hub:
    """The hub between one client and several servers."""

    def __init__(
        self, client: LineWriter, members: Sequence[Member], log: Log, tools: ProxyTools | None = None
    ) -> None:
        self._client, self._log, self._tools = client, log, tools
        self._members = {member.name: member for member in members}
        self._broadcasts: dict[object, _Broadcast] = {}
        self._routes: dict[object, Member] = {}
        self._server_requests: dict[str, tuple[Member, object]] = {}
        self._targets: dict[str, dict[str, Target]] = {}
        self._templates: dict[str, Target] = {}
        self._assigned_names: dict[str, dict[Target, str]] = {}
        self._lock = threading.RLock()
        if tools is not None:
            tools.server_tools.request_page = self._send_tool_names
            tools.forward = self._handle_line

    # --- from the client

    def forward(self, pipe: int, max_bytes: int) -> None:
        """Forward the lines of the client until it leaves."""
        for line in read_lines(pipe, max_bytes):
            if isinstance(line, OversizedLine):
                self._error(id_in(line), TOO_LONG, f"the message is larger than {max_bytes} bytes: send less at a time")
            else:
                self._handle_line(line)

    def _handle_line(self, line: bytes | bytearray) -> None:
        message = parse_lossless(line)
        if not isinstance(message, dict):
            if line.strip():
                self._error(None, PARSE_ERROR, "with several servers, each line must be one JSON-RPC message")
            return
        try:
            with self._lock:
                self._handle_message(cast("Message", message))
        except Exception as problem:  # a defect of the proxy must not lose the calls in progress
            why = f"internal error: {type(problem).__name__}: {problem}"
            self._log(f"a message of the client is lost: {why}")
            if "method" in message and "id" in message:
                self._error(id_in(ends_of(line)), INTERNAL, why)

    def _handle_message(self, message: Message) -> None:
        method, id = message.get("method"), message.get("id")
        if not isinstance(method, str | None) or isinstance(id, (dict, list)):
            self._error(
                id if isinstance(id, (str, int)) else None,
                INVALID_REQUEST,
                "method must be a string, id a string or a number",
            )
            return
        if (
            self._tools is not None
            and method in _PROXY_METHODS
            and self._tools.handle(message, lambda: serialise(message))
        ):
            return
        if method is None:
            member, server_id = self._server_requests.pop(str(id), (None, None))
            if member is not None:
                member.forward({**message, "id": server_id})
        elif id is None:
            self._notify(message)
        elif method == "ping":
            self._reply(id, {})
        elif method in _BROADCASTS:
            self._ask_all(message, lambda results: self._merge(message, results))
        elif method in _ROUTED:
            self._route(message, refresh=True)
        elif method == "completion/complete":
            self._route_completion(message)
        else:
            self._error(id, NO_METHOD, f"{method} is not supported with several servers")

    def _notify(self, message: Message) -> None:
        params = members(message.get("params"))
        target = self._routes.get(_id_key(params.get("requestId")))
        if message["method"] == "notifications/cancelled" and target is not None:
            target.forward(message)
            return
        for member in self._members.values():
            member.forward(message)

    def _route(self, message: Message, *, refresh: bool) -> None:
        """Send a request to the server of the tool, prompt or resource that it names.

        If no server is known for that name and *refresh* is set, refresh the lists and try once more.
        """
        list_method, key = _ROUTED[message["method"]]
        params = members(message.get("params"))
        target = self._find_target(list_method, params.get(key))
        if target is not None:
            self._send(self._members[target.server], {**message, "params": {**params, key: target.name}})
        elif refresh:
            lists = [list_method, *(("resources/templates/list",) if list_method == "resources/list" else ())]
            self._refresh_lists(lists, lambda: self._route(message, refresh=False))
        else:
            listed_names = [
                name for name, target in self._targets.get(list_method, {}).items() if target.name == params.get(key)
            ]
            wanted = params.get(key)
            if listed_names:
                why = f"several servers have {wanted!r}: use one of {', '.join(sorted(listed_names))}"
            else:
                why = f"no server has {wanted!r}: see {list_method}"
            self._error(message["id"], INVALID_PARAMS, why)

    def _find_target(self, list_method: str, name: object) -> Target | None:
        target = self._targets.get(list_method, {}).get(str(name))
        if target is None and list_method == "resources/list":
            matching = [t for t in self._templates if str(name).startswith(t.split("{")[0])]
            longest = max(matching, key=lambda template: len(template.split("{")[0]), default=None)
            target = None if longest is None else Target(self._templates[longest].server, str(name))
        return target

    def _refresh_lists(self, lists: Sequence[str], then: Callable[[], None]) -> None:
        if not lists:
            then()
            return
        method = lists[0]
        request: Message = {"jsonrpc": "2.0", "id": f"lro-proxy-{method}-{id(then)}", "method": method}

        def refresh_rest(results: Mapping[str, Message]) -> None:
            self._merge_entries(method, results)
            self._refresh_lists(lists[1:], then)

        self._ask_all(request, refresh_rest, ignore_errors=True)

    def _route_completion(self, message: Message) -> None:
        params = members(message.get("params"))
        ref = members(params.get("ref"))
        if ref.get("type") == "ref/prompt":
            target = self._targets.get("prompts/list", {}).get(str(ref.get("name")))
            ref = {**ref, "name": target.name} if target else ref
        else:
            target = self._templates.get(str(ref.get("uri"))) or self._find_target("resources/list", ref.get("uri"))
        if target is None:
            self._error(message["id"], INVALID_PARAMS, f"no known server has {ref}")
        else:
            self._send(self._members[target.server], {**message, "params": {**params, "ref": ref}})

    def _send(self, member: Member, message: Message) -> None:
        self._routes[_id_key(message["id"])] = member
        member.forward(message)

    # --- requests to all servers

    def _ask_all(
        self, request: Message, then: Callable[[Mapping[str, Message]], None], *, ignore_errors: bool = False
    ) -> None:
        needed = _REQUIRED_CAPABILITY.get(request["method"])
        recipients = [m for m in self._members.values() if needed is None or needed in m.capabilities]
        broadcast = _Broadcast(request, {member.name for member in recipients}, then, ignore_errors)
        if not recipients:
            then({})
            return
        self._broadcasts[_id_key(request["id"])] = broadcast
        for member in recipients:
            member.forward(request)

    def _collect(self, broadcast: _Broadcast, member: Member, message: Message) -> None:
        request = broadcast.request
        if "result" in message:
            result = members(message["result"])
            pages = broadcast.pages.setdefault(member.name, [])
            cursor = result.get("nextCursor")
            is_new = cursor is not None and cursor not in [page.get("nextCursor") for page in pages]
            has_more = is_new and len(pages) < _MAX_PAGES
            pages.append(result)
            if request["method"] in LISTS and has_more:
                member.forward({**request, "params": {**members(request.get("params")), "cursor": cursor}})
                return
            if request["method"] in LISTS:
                member_with_entries, _ = LISTS[request["method"]]
                entries = [item for page in pages for item in _items(page.get(member_with_entries))]
                result = {member_with_entries: entries}
            broadcast.results[member.name] = result
        else:
            broadcast.error = broadcast.error or message
            reason = members(message.get("error")).get("message")
            self._log(f"{member.name} failed on {request['method']}: {reason}")
        broadcast.waiting_for.discard(member.name)
        if not broadcast.waiting_for:
            del self._broadcasts[_id_key(request["id"])]
            if broadcast.error is not None and not broadcast.results and not broadcast.ignore_errors:
                self._write({**broadcast.error, "id": request["id"]})
            else:
                # In the order of the servers' file.
                broadcast.then({name: broadcast.results[name] for name in self._members if name in broadcast.results})

    def _merge(self, request: Message, results: Mapping[str, Message]) -> None:
        method = request["method"]
        if method == "initialize":
            for name, result in results.items():
                self._members[name].capabilities = members(result.get("capabilities"))
            merged = merge_initialize(results)
            if self._tools is not None:
                self._tools.advertise(merged)
        elif method in LISTS:
            member_with_entries, _ = LISTS[method]
            merged = {member_with_entries: self._merge_entries(method, results)}
            if self._tools is not None and method == "tools/list":
                self._tools.add_to_list(merged, request["id"])
        else:
            merged = {}
        self._reply(request["id"], merged)

    def _merge_entries(self, method: str, results: Mapping[str, Message]) -> list[Any]:
        """Merge the lists of all servers, and remember the target of each name.

        Names of a server that has not answered keep their targets.
        """
        member_with_entries, _ = LISTS[method]
        entries = {server: _items(result.get(member_with_entries)) for server, result in results.items()}
        items, targets = merge_lists(method, entries, self._assigned_names.setdefault(method, {}))
        earlier_targets = self._templates if method == "resources/templates/list" else self._targets.get(method, {})
        unconfirmed = {name: target for name, target in earlier_targets.items() if target.server not in results}
        targets = unconfirmed | targets  # calls of these names fail with the reason why their server has ended
        if method == "resources/templates/list":
            self._templates = targets
        else:
            self._targets[method] = targets
        return items

    def _send_tool_names(self, params: Message) -> None:
        """Send the servers' tool names to the proxy's tools."""
        del params

        def pass_names_on() -> None:
            if self._tools is not None:
                tools = [{"name": name} for name in self._targets.get("tools/list", {})]
                self._tools.server_tools.receive({"result": {"tools": tools}})

        with self._lock:
            self._refresh_lists(["tools/list"], pass_names_on)

    # --- from the servers

    def receive(self, member: Member, line: bytes | bytearray) -> bool:
        """Handle a line that a server's relay forwards; False if the client is gone."""
        parsed = parse_lossless(line)
        if not isinstance(parsed, dict):
            return self._client.write(line)
        message = cast("Message", parsed)
        id = message.get("id")
        with self._lock:
            if "method" not in message:
                broadcast = self._broadcasts.get(_id_key(id)) or self._broadcasts.get(_id_key(numeric_id(id)))
                if broadcast is not None and member.name in broadcast.waiting_for:
                    self._collect(broadcast, member, message)
                    return not self._client.broken
                self._routes.pop(_id_key(id), None)
            elif id is not None:
                client_id = f"{member.name}/{type(id).__name__}/{id}"
                self._server_requests[client_id] = (member, id)
                return self._write({**message, "id": client_id})
            elif message["method"] == "notifications/tools/list_changed" and self._tools is not None:
                self._tools.server_tools.is_complete = False
            elif message["method"] == "notifications/cancelled":
                params = members(message.get("params"))
                server_id = params.get("requestId")
                client_id = f"{member.name}/{type(server_id).__name__}/{server_id}"
                return self._write({**message, "params": {**params, "requestId": client_id}})
        return self._client.write(line)

    def _reply(self, id: object, result: Message) -> None:
        self._write({"jsonrpc": "2.0", "id": id, "result": result})

    def _error(self, id: object, code: int, message: str) -> None:
        self._client.write(error_line(id, code, message))

    def _write(self, message: Message) -> bool:
        return self._client.write(serialise(message))


class Port:
    """The writer that the relay of one server uses as its client."""

    def __init__(self, hub: Hub, member: Member) -> None:
        self._hub, self._member = hub, member

    def write(self, line: bytes | bytearray) -> bool:
        """Forward a line to the hub; False if the client is gone."""
        return self._hub.receive(self._member, line)


def _items(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _id_key(id: object) -> tuple[type, str]:
    return type(id), str(id)
