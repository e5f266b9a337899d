"""The MCP server over stdio: the tools of `lro_reference.memory.tools`, served through the official SDK.

The memory tools run in the event loop's thread, one call at a time, and so do the signal handlers: no lock is needed,
and no signal can interrupt a write. A call takes milliseconds. Only the tools of `Service.toolbox` run in other
threads. Of these, `context_offload` may be writing a file when a signal comes; `_exit` removes what is incomplete.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPDeprecationWarning

from lro_reference import writer
from lro_reference.cancellation import Cancellation
from lro_reference.custodian import clean
from lro_reference.delegation import is_announced
from lro_reference.events import Event, to_stderr
from lro_reference.memory.stdio import Incoming, Outgoing
from lro_reference.memory.tools import EDITION, Service
from lro_reference.tool import Answer, SendSampling

_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_LOGGER = "lro"
EXTENSION = "lro-spec/lro"
"""Identifier under which clients of MCP 2026-07-28 find the server's capability."""


def run(service: Service) -> None:
    """Serve until the client closes stdin, or SIGTERM or SIGINT comes."""
    # Clients get the specification's events as log messages. MCP 2026-07-28 deprecates these without a successor.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    asyncio.run(_serve(service))


async def _serve(service: Service) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, _exit, service)
    events = _EventSender()
    server = _build(service, events)
    custodian = asyncio.create_task(_run_custodian(service, events))
    try:
        async with stdio_server() as (incoming, outgoing):
            options = server.create_initialization_options(experimental_capabilities={"lro": lro_capability()})
            answers = Outgoing(outgoing)
            await server.run(Incoming(incoming, answers), answers, options)
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the client has left
    finally:
        custodian.cancel()
        if service.toolbox is not None:
            service.toolbox.report(to_stderr)


def lro_capability() -> dict[str, Any]:
    """The server's capability, for clients that support LRO."""
    return {"version": _version(), "edition": EDITION, "level": 3}


def _version() -> str:
    try:
        return version("lro-spec")
    except PackageNotFoundError:  # run from a checkout
        return "0"


def _exit(service: Service) -> None:
    # The SDK reads stdin in a thread that cannot be interrupted; a normal exit would wait for the next line.
    service.store.close()
    sys.stderr.flush()
    writer.abandon()
    os._exit(0)


class _EventSender:
    """Sends all events to stderr, and those at or above the client's log level to the client."""

    def __init__(self) -> None:
        self.level = "info"
        self.client_ready = asyncio.Event()
        """Set by `notifications/initialized`, or by the first `tools/list` or `tools/call`."""
        self._session: Any = None
        self._pending: list[Event] = []

    def attach(self, session: Any) -> None:
        """Send later events to this session, including events of cleaning in the background."""
        self._session = session
        self.client_ready.set()

    def emit(self, event: Event) -> None:
        """Write an event to stderr, and keep it for the client until `flush`."""
        to_stderr(event)
        self._pending.append(event)

    async def flush(self, request_id: types.RequestId | None = None) -> None:
        """Send the client the events that were kept. If *request_id* is given, they are part of that request.

        Events below the client's log level are dropped. As long as there is no session, all events are dropped.
        """
        pending, self._pending = self._pending, []
        if self._session is None:
            return
        for event in pending:
            if _LEVELS.index(event.level) >= _LEVELS.index(self.level):
                await self._session.send_log_message(event.level, event.data(), _LOGGER, related_request_id=request_id)


async def _run_custodian(service: Service, events: _EventSender) -> None:
    # Files of an earlier process may have expired, so the first cleaning comes right after the handshake.
    await events.client_ready.wait()
    while interval := service.settings.cleanup_interval_seconds:
        clean(service.settings.folder, service.settings.ttl_seconds, events.emit, edition=EDITION)
        await events.flush()
        await asyncio.sleep(interval)


async def _call(service: Service, ctx: Any, params: types.CallToolRequestParams, events: _EventSender) -> Answer:
    arguments, toolbox = params.arguments or {}, service.toolbox
    if toolbox is not None and params.name in toolbox:
        # In a thread: a query may take seconds, and a person may have to approve a summary.
        send, cancellation = _sampling(ctx), Cancellation()
        ask = None if send is None else toolbox.ask_through(send)
        try:
            return await asyncio.to_thread(toolbox.call, params.name, arguments, ask, cancellation)
        except asyncio.CancelledError:
            cancellation.request()
            raise
    return service.call(params.name, arguments, events.emit, for_proxy=is_announced(ctx.session.client_capabilities))


def _sampling(ctx: Any) -> SendSampling | None:
    """A function by which another thread asks the client's model; None if the client does not support sampling."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        return None
    loop = asyncio.get_running_loop()

    def send(request: dict[str, Any], timeout_s: float) -> object:
        params = types.CreateMessageRequestParams.model_validate(request)
        request_model = ctx.session.create_message(
            params.messages,
            max_tokens=params.max_tokens,
            system_prompt=params.system_prompt,
            include_context=params.include_context,
            related_request_id=ctx.request_id,
        )
        pending = asyncio.run_coroutine_threadsafe(request_model, loop)
        try:
            return pending.result(timeout_s).model_dump(mode="json")
        finally:
            pending.cancel()

    return send


def _build(service: Service, events: _EventSender) -> Server[Any]:
    async def list_tools(ctx: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        events.attach(ctx.session)
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=dict(tool.input_schema),
                    annotations=types.ToolAnnotations(read_only_hint=tool.reads_only),
                )
                for tool in service.tools
            ]
        )

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        events.attach(ctx.session)
        try:
            answer = await _call(service, ctx, params, events)
        except Exception as problem:
            answer = Answer((f"{params.name} failed: {type(problem).__name__}: {problem}",), is_error=True)
        await events.flush(ctx.request_id)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text) for text in answer.texts],
            is_error=answer.is_error,
            _meta=None if answer.meta is None else dict(answer.meta),
        )

    async def set_level(ctx: Any, params: types.SetLevelRequestParams) -> types.EmptyResult:
        events.level = params.level
        return types.EmptyResult()

    async def initialized(ctx: Any, params: types.NotificationParams) -> None:
        events.attach(ctx.session)

    server: Server[Any] = Server("lro-reference", version=_version(), on_list_tools=list_tools, on_call_tool=call_tool)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    server.add_notification_handler("notifications/initialized", types.NotificationParams, initialized)
    server.extensions[EXTENSION] = lro_capability()
    return server
