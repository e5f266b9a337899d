"""The MCP server over stdio: the tools of `lro_reference.tools`, spoken through the official SDK.

Everything runs in the event loop's own thread. A call takes milliseconds, and so there are no locks, and no signal can
fall into the middle of a write. Only tools that read offloaded files have threads of their own: they write nothing.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import warnings
from concurrent.futures import CancelledError
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPDeprecationWarning

from lro_reference.custodian import clean
from lro_reference.events import Event, to_stderr
from lro_reference.extraction import sampling
from lro_reference.extraction.sampling import Ask
from lro_reference.extraction.stopping import Stop
from lro_reference.proxy_hint import announced
from lro_reference.streams import Incoming, Outgoing
from lro_reference.tools import EDITION, Answer, Service

_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_LOGGER = "lro"
EXTENSION = "lro-spec/lro"
"""The identifier of the extension for clients of the 2026-07-28 protocol."""


def run(service: Service) -> None:
    """Serve until the client closes stdin, or SIGTERM or SIGINT comes."""
    # Logging is the channel the specification's events have in MCP today; the 2026 protocol has no successor yet.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    asyncio.run(_serve(service))


async def _serve(service: Service) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, _leave, service)
    relay = _Relay()
    server = _build(service, relay)
    custodian = asyncio.create_task(_custodian(service, relay))
    try:
        async with stdio_server() as (incoming, outgoing):
            options = server.create_initialization_options(experimental_capabilities={"lro": lro_capability()})
            answers = Outgoing(outgoing)
            await server.run(Incoming(incoming, answers), answers, options)
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the client has gone; there is nobody to tell
    finally:
        custodian.cancel()
        if service.toolbox is not None:
            service.toolbox.report(to_stderr)


def lro_capability() -> dict[str, Any]:
    """What the server says about itself to clients that know LRO."""
    return {"version": _version(), "edition": EDITION, "level": 3}


def _version() -> str:
    try:
        return version("lro-spec")
    except PackageNotFoundError:  # run from a checkout
        return "0"


def _leave(service: Service) -> None:
    # The SDK reads stdin in a thread that nothing can interrupt; a normal exit would wait for the next line.
    service.store.close()
    sys.stderr.flush()
    os._exit(0)


class _Relay:
    """Sends events to stderr, and to the client at or above the level it has asked for."""

    def __init__(self) -> None:
        self.level = "info"
        self.heard = asyncio.Event()
        """Set once the client has said something after the handshake."""
        self._session: Any = None
        self._waiting: list[Event] = []

    def attach(self, session: Any) -> None:
        """Send what comes next to this session; background events go to the latest one."""
        self._session = session
        self.heard.set()

    def emit(self, event: Event) -> None:
        to_stderr(event)
        self._waiting.append(event)

    async def flush(self, request_id: types.RequestId | None = None) -> None:
        waiting, self._waiting = self._waiting, []
        if self._session is None:
            return
        for event in waiting:
            if _LEVELS.index(event.level) >= _LEVELS.index(self.level):
                await self._session.send_log_message(event.level, event.data(), _LOGGER, related_request_id=request_id)


async def _custodian(service: Service, relay: _Relay) -> None:
    # Files of an earlier process may have expired, so it begins at once; but it must not delay the handshake.
    await relay.heard.wait()
    while interval := service.settings.cleanup_interval_seconds:
        clean(service.settings.folder, service.settings.ttl_seconds, relay.emit, edition=EDITION)
        await relay.flush()
        await asyncio.sleep(interval)


async def _called(service: Service, ctx: Any, params: types.CallToolRequestParams, relay: _Relay) -> Answer:
    arguments = params.arguments or {}
    if service.toolbox is not None and params.name in service.toolbox:
        # In a thread, for a query may take seconds, and a person may have to allow a summary.
        stop = Stop()
        try:
            return await asyncio.to_thread(service.toolbox.call, params.name, arguments, _asking(ctx), stop)
        except asyncio.CancelledError:
            stop.say()
            raise
    return service.call(params.name, arguments, relay.emit, for_proxy=announced(ctx.session.client_capabilities))


def _asking(ctx: Any) -> Ask | None:
    """How a thread reaches the client's language model; None where it lends none."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        return None
    loop = asyncio.get_running_loop()

    def ask(text: str) -> str:
        params = types.CreateMessageRequestParams.model_validate(sampling.request(text))
        made = ctx.session.create_message(
            params.messages,
            max_tokens=params.max_tokens,
            system_prompt=params.system_prompt,
            include_context=params.include_context,
            related_request_id=ctx.request_id,
        )
        waiting = asyncio.run_coroutine_threadsafe(made, loop)
        try:
            result = waiting.result(sampling.SECONDS)
        except (Exception, CancelledError) as problem:  # the client refuses, is too slow, or has left
            waiting.cancel()
            raise sampling.failed(problem) from None
        return sampling.answer(result.model_dump(mode="json"))

    return ask


def _build(service: Service, relay: _Relay) -> Server[Any]:
    async def list_tools(ctx: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        relay.attach(ctx.session)
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
        relay.attach(ctx.session)
        try:
            answer = await _called(service, ctx, params, relay)
        except Exception as problem:
            answer = Answer((f"{params.name} failed: {type(problem).__name__}: {problem}",), is_error=True)
        await relay.flush(ctx.request_id)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text) for text in answer.texts],
            is_error=answer.is_error,
            _meta=None if answer.meta is None else dict(answer.meta),
        )

    async def set_level(ctx: Any, params: types.SetLevelRequestParams) -> types.EmptyResult:
        relay.level = params.level
        return types.EmptyResult()

    async def initialized(ctx: Any, params: types.NotificationParams) -> None:
        relay.attach(ctx.session)

    server: Server[Any] = Server("lro-reference", version=_version(), on_list_tools=list_tools, on_call_tool=call_tool)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    server.add_notification_handler("notifications/initialized", types.NotificationParams, initialized)
    server.extensions[EXTENSION] = lro_capability()
    return server
