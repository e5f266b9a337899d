"""Starts the servers behind the proxy, connects them to the client, and ends them on a signal or when it leaves."""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lro_proxy import run_folder
from lro_proxy.config import Server
from lro_proxy.gain.ledger import Ledger
from lro_proxy.options import ESTIMATES, ProxyOptions
from lro_proxy.payload.interceptor import Interceptor
from lro_proxy.relay.pending import PendingRequests
from lro_proxy.relay.relay import Relay, RelayOptions
from lro_proxy.relay.tools import ProxyTools
from lro_proxy.upstream.stdio import StdioUpstream, Upstream
from lro_proxy.wire import malloc
from lro_proxy.wire.framing import LineWriter, Writer
from lro_reference import writer
from lro_reference.events import to_stderr
from lro_reference.settings import Settings

if TYPE_CHECKING:
    from lro_proxy.tools.toolbox import Toolbox
    from lro_spec.messages import OffloadResponse

_LAST_BYTES_S = 0.5
"""Time without any message after which no further message is expected.

It applies if no answer is pending, or if the server has ended. It is also the time that the client has to read the last
errors.
"""
_QUIET_S = 10
"""Time without any message after which the proxy gives up pending answers, if the client has closed its side."""
_GRACE_S = 30
"""Maximum time for pending answers of the proxy's own tools after the client has closed its side.

Afterwards, pending answers of servers get the same time again.
"""


def start(options: ProxyOptions, environ: Mapping[str, str]) -> dict[str, Upstream]:
    """Start the servers. Returns the servers that could be started, by name, and logs the failures."""
    started: dict[str, Upstream] = {}
    for server in options.servers:
        try:
            started[server.name] = _start(server, options, environ)
        except (OSError, ValueError) as problem:
            log(f"cannot start {(server.command or (server.url,))[0]}: {problem}")
    return started


def run(options: ProxyOptions, started: Mapping[str, Upstream]) -> None:
    """Relay between the client and the started servers until the client leaves; then end the servers."""
    upstreams = list(started.values())
    stop_functions: StopFunctions = []
    ledger = Ledger(options.record_path)
    shut_down_on_signals(upstreams, options, stop_functions, ledger)
    gc.freeze()
    try:
        _relay(options, started, stop_functions, ledger)
        _report(ledger)
    finally:
        _shut_down(upstreams, options)


def log(text: str) -> None:
    """Write a line to standard error, if that is open."""
    try:
        sys.stderr.write(f"lro proxy: {text}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass


def _start(server: Server, options: ProxyOptions, environ: Mapping[str, str]) -> Upstream:
    if not server.url:
        return StdioUpstream(server.command, {**environ, **server.env}, server.cwd)
    from lro_proxy.upstream.http import HttpUpstream

    return HttpUpstream(server.url, server.headers, options.max_line_mb << 20, log)


def _report(ledger: Ledger) -> None:
    if sums := ledger.report():
        log(sums)


def _relay(
    options: ProxyOptions, started: Mapping[str, Upstream], stop_functions: StopFunctions, ledger: Ledger
) -> None:
    """Serve the client until it closes its side; then wait for pending answers."""
    malloc.retain_freed_memory()
    client = LineWriter(1)
    toolbox = _toolbox(options)
    estimate = ESTIMATES[options.estimator]

    def publish(response: OffloadResponse) -> OffloadResponse:
        ledger.note_file(response.file_path, response.summary.estimated_tokens)
        return response if toolbox is None else toolbox.publish(response)

    interceptor = Interceptor(
        options.settings,
        emit=to_stderr,
        estimate=estimate,
        publish=publish,
        form=options.descriptor,
        links=options.links,
    )
    tools = None if toolbox is None else _tools(options, toolbox, client)
    if tools is not None:
        tools.count_answer = ledger.count_read_back
        stop_functions.append(tools.stop)
    stopped = threading.Event()
    wiring = Wiring(options, interceptor, stopped, stop_functions, ledger)
    connections = (_serve_several if options.has_servers_file else _serve_one)(wiring, started, client, tools)
    if tools is not None:
        tools.wait_for_calls(_GRACE_S)
    _drain(connections)
    stopped.set()
    if toolbox is not None:
        toolbox.report(to_stderr)


Connections = list[tuple[threading.Thread, Relay, Upstream]]
"""For each server: the thread that forwards its answers, its relay, and its upstream."""
StopFunctions = list[Callable[[str], None]]
"""Functions that answer all pending requests with an error. Their argument is the text of the error."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """Objects that are shared by the connections to all servers."""

    options: ProxyOptions
    interceptor: Interceptor
    stopped: threading.Event
    stop_functions: StopFunctions
    ledger: Ledger

    def listen(
        self, upstream: Upstream, client: Writer, tools: ProxyTools | None, connections: Connections, *, cleans: bool
    ) -> Relay:
        """Start forwarding the answers of a server. Adds the server to *connections* and returns its relay.

        If *cleans* is set, the housekeeping thread of this server also deletes expired files. It is set for only one
        server of a run, because the files of all servers are in one folder.
        """
        options = self.options
        requests = PendingRequests(options.request_timeout_s)
        relay_options = RelayOptions(
            options.max_line_mb << 20,
            options.threshold_of,
            {"version": "1", "proxy": True},
            options.masks,
            self.ledger,
            options.settings.enabled,
        )
        relay = Relay(relay_options, requests, self.interceptor, client, log, tools)
        self.stop_functions.append(relay.stop)
        answers_thread = threading.Thread(
            target=_forward_answers, args=(relay, requests, upstream), name="answers", daemon=True
        )
        answers_thread.start()
        arguments = (self.clean if cleans else None, options.settings, relay, requests, upstream, self.stopped)
        threading.Thread(target=_housekeep, args=arguments, name="keeper", daemon=True).start()
        connections.append((answers_thread, relay, upstream))
        return relay

    def clean(self) -> None:
        """Delete expired files, including those of earlier runs."""
        self.interceptor.clean()
        if self.options.private_folder:
            run_folder.clean_other_runs(self.options.settings.folder, self.interceptor.clean)


def _serve_one(
    wiring: Wiring, started: Mapping[str, Upstream], client: LineWriter, tools: ProxyTools | None
) -> Connections:
    (upstream,) = started.values()
    connections: Connections = []
    wiring.listen(upstream, client, tools, connections, cleans=True).forward(0, upstream.stdin)
    upstream.stdin.close()
    return connections


def _serve_several(
    wiring: Wiring, started: Mapping[str, Upstream], client: LineWriter, tools: ProxyTools | None
) -> Connections:
    from lro_proxy.relay.hub import Hub, Member, Port

    members = [Member(name, upstream) for name, upstream in started.items()]
    hub = Hub(client, members, log, tools)
    connections: Connections = []
    for member in members:
        member.start(wiring.listen(member.upstream, Port(hub, member), None, connections, cleans=member is members[0]))
    hub.forward(0, wiring.options.max_line_mb << 20)
    for member in members:
        member.close_input()
    return connections


def _tools(options: ProxyOptions, toolbox: Toolbox, client: LineWriter) -> ProxyTools:
    if not options.links:
        return ProxyTools(toolbox, client.write, log)
    from lro_proxy.relay.resources import OffloadedResources

    return ProxyTools(toolbox, client.write, log, OffloadedResources(toolbox.files))


def _toolbox(options: ProxyOptions) -> Toolbox | None:
    if not (options.families or options.links):
        return None
    from lro_proxy.tools.toolbox import Toolbox

    return Toolbox(
        options.families,
        options.settings,
        prefix=options.tool_prefix,
        remembers_all=options.links,
        form=options.descriptor,
    )


def _drain(connections: Connections) -> None:
    """Wait for pending answers after the client has closed its side, as a script does once it has sent its requests.

    Answers that do not come in time are replaced by errors.
    """
    deadline = time.monotonic() + _GRACE_S
    for answers_thread, relay, upstream in connections:
        quiet_since = time.monotonic()
        failure = "had not answered when the client stopped reading"
        while answers_thread.is_alive() and _client_reads():
            if time.monotonic() >= deadline:
                failure = f"has not answered within {_GRACE_S} s after the client had left"
                break
            answers_thread.join(0.02)
            if _in_transit(relay, upstream):
                quiet_since = time.monotonic()
            patience_s = _QUIET_S if relay.has_pending and upstream.exit_code() is None else _LAST_BYTES_S
            if time.monotonic() - quiet_since > patience_s:
                failure = f"has sent nothing for {_QUIET_S} s after the client had left"
                break
        if relay.has_pending:
            reason = (
                f"the server {upstream.name} {failure if upstream.exit_code() is None else upstream.describe_end()}"
            )
            error_thread = threading.Thread(target=relay.upstream_ended, args=(reason,), daemon=True)
            error_thread.start()
            error_thread.join(_LAST_BYTES_S)  # blocks if the client does not read


def _in_transit(relay: Relay, upstream: Upstream) -> bool:
    """True while a message of a server is in its pipe, or waits for a client that reads slowly.

    The pipe may stay open after the server has ended, because children of the server may still hold it.
    """
    return relay.busy or bool(select.select([upstream.stdout], [], [], 0)[0])


def _client_reads() -> bool:
    """True while the client may still read."""
    poller = select.poll()
    poller.register(1, 0)  # poll reports errors even if no events are requested
    return not poller.poll(0)


def _end(upstreams: Sequence[Upstream], *, patient: bool = True) -> None:
    """End all servers concurrently."""
    threads = [threading.Thread(target=upstream.end, kwargs={"patient": patient}) for upstream in upstreams[1:]]
    for thread in threads:
        thread.start()
    upstreams[0].end(patient=patient)
    for thread in threads:
        thread.join()


def _forward_answers(relay: Relay, requests: PendingRequests, upstream: Upstream) -> None:
    try:
        relay.answer(upstream.stdout)
    except Exception as problem:  # a defect of the proxy: every request must be answered
        relay.upstream_ended(f"internal error: {type(problem).__name__}: {problem}")
    if not relay.client_left or len(requests):
        relay.upstream_ended(f"the server {upstream.name} {upstream.describe_end()}")


def _housekeep(
    clean: Callable[[], None] | None,
    settings: Settings,
    relay: Relay,
    requests: PendingRequests,
    upstream: Upstream,
    stopped: threading.Event,
) -> None:
    """Clean up periodically, and fail requests that are overdue or whose server has ended."""
    next_cleanup = time.monotonic()
    while True:
        if clean is not None and settings.cleanup_interval_seconds and time.monotonic() >= next_cleanup:
            next_cleanup = time.monotonic() + settings.cleanup_interval_seconds
            clean()
        relay.expire(upstream.stdin)
        if upstream.exit_code() is not None and len(requests) and not _in_transit(relay, upstream):
            stopped.wait(_LAST_BYTES_S)
            if not _in_transit(relay, upstream):
                relay.upstream_ended(f"the server {upstream.name} {upstream.describe_end()}")
        if stopped.wait(1):
            return


def _shut_down(upstreams: Sequence[Upstream], options: ProxyOptions, *, patient: bool = True) -> None:
    _end(upstreams, patient=patient)
    if options.private_folder:
        run_folder.remove_if_empty(options.settings.folder)


def shut_down_on_signals(
    upstreams: Sequence[Upstream], options: ProxyOptions, stop_functions: StopFunctions, ledger: Ledger
) -> None:
    """From now on, end the servers and exit on SIGTERM, SIGINT and SIGHUP, whatever the main thread is doing then.

    Before the servers are ended, pending requests are answered with an error. The exit code is 128 + the number of the
    signal, as in a shell.
    """
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)

    def exit_on_signal() -> None:
        number = os.read(read_end, 1)[0]
        writer.abandon()
        answering = threading.Thread(target=answer_pending, args=(number,), name="stop", daemon=True)
        answering.start()
        answering.join(_LAST_BYTES_S)  # blocks if the client does not read
        _shut_down(upstreams, options, patient=False)
        writer.abandon()  # also abandons files that were begun in the meantime
        os._exit(128 + number)

    def answer_pending(number: int) -> None:
        for stop in list(stop_functions):
            stop(f"was ended by {signal.Signals(number).name}")
        _report(ledger)

    def ignore(*_: object) -> None:
        pass

    # Python runs a handler in the main thread, between two bytecode instructions: a signal just before a blocking read
    # is handled only when data arrives, and the interrupted code may hold a lock that the handler would wait for.
    # So a separate thread handles signals, which Python writes to a pipe when they arrive.
    threading.Thread(target=exit_on_signal, name="signals", daemon=True).start()
    signal.set_wakeup_fd(write_end)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, ignore)
