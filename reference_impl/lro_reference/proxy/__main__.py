"""``lro proxy -- COMMAND…``: starts the server or servers, relays, and leaves nothing behind."""

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

from lro_reference import writer
from lro_reference.events import to_stderr
from lro_reference.proxy import heap, run_folder
from lro_reference.proxy.calls import Requests
from lro_reference.proxy.lines import LineWriter, Writer
from lro_reference.proxy.options import COUNTED, ESTIMATES, ProxyOptions, load, server_environment
from lro_reference.proxy.own_tools import OwnTools
from lro_reference.proxy.relay import Relay
from lro_reference.proxy.servers_file import Server
from lro_reference.proxy.terms import Terms
from lro_reference.proxy.upstream import Behind, Upstream
from lro_reference.settings import Settings, SettingsError
from lro_reference.tool_results import Interceptor

if TYPE_CHECKING:
    from lro_reference.extraction.families import Toolbox

_LAST_BYTES_S = 0.5
_ANSWERS_S = 10
"""How long nothing may come from a server that owes answers to a client which has closed its side."""
_GRACE_S = 30
"""How long that client is served at most."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs until the client leaves; returns the exit code (2: wrong arguments, 3: the server cannot be started)."""
    try:
        options = load(sys.argv[1:] if argv is None else argv, os.environ)
    except SettingsError as problem:
        return _complain(str(problem), 2)
    environ = server_environment(os.environ)
    started: dict[str, Behind] = {}
    for server in options.servers:
        try:
            started[server.name] = _started(server, options, environ)
        except (OSError, ValueError) as problem:
            _say(f"cannot start {(server.command or (server.url,))[0]}: {problem}")
    if not started:
        return 3
    upstreams = list(started.values())
    _leave_on_signals(upstreams, options)
    gc.freeze()
    try:
        return _relay(options, started)
    finally:
        _leave(upstreams, options)


def _started(server: Server, options: ProxyOptions, environ: Mapping[str, str]) -> Behind:
    if not server.url:
        return Upstream(server.command, {**environ, **server.env}, server.cwd)
    from lro_reference.proxy.http_upstream import HttpUpstream

    return HttpUpstream(server.url, server.headers, options.max_line_mb << 20, _say)


def _relay(options: ProxyOptions, started: Mapping[str, Behind]) -> int:
    heap.keep()
    client = LineWriter(1)
    toolbox = _toolbox(options)
    estimate = ESTIMATES[options.estimator]
    if toolbox is None:
        interceptor, own = Interceptor(options.settings, emit=to_stderr, estimate=estimate), None
    else:
        interceptor = Interceptor(options.settings, emit=to_stderr, estimate=estimate, offered=toolbox.offered)
        own = OwnTools(toolbox, client.write, _say)
    over = threading.Event()
    passage = Passage(options, interceptor, over)
    waiting = (_several if options.several else _one)(passage, started, client, own)
    if own is not None:
        own.settle(_GRACE_S)
    _drain(waiting)
    over.set()
    if toolbox is not None:
        toolbox.report(to_stderr)
    return 0


Waiting = list[tuple[threading.Thread, Relay, Behind]]
"""Who still passes answers on."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What the ways to all servers share."""

    options: ProxyOptions
    interceptor: Interceptor
    over: threading.Event

    def listen(
        self, upstream: Behind, client: Writer, own: OwnTools | None, waiting: Waiting, *, cleans: bool
    ) -> Relay:
        """The relay of a server, whose answers are passed on from now on."""
        options = self.options
        requests = Requests(options.request_timeout_s)
        terms = Terms(
            options.max_line_mb << 20,
            options.threshold_of,
            {"version": "1", "proxy": True},
            COUNTED[options.estimator],
            options.masks,
        )
        relay = Relay(terms, requests, self.interceptor, client, _say, own)
        answers = threading.Thread(target=_answers, args=(relay, requests, upstream), name="answers", daemon=True)
        answers.start()
        house = (self.clean if cleans else None, options.settings, relay, requests, upstream, self.over)
        threading.Thread(target=_keep_house, args=house, name="keeper", daemon=True).start()
        waiting.append((answers, relay, upstream))
        return relay

    def clean(self) -> None:
        """Deletes expired files, also those of earlier runs."""
        self.interceptor.clean()
        if self.options.private_folder:
            run_folder.clean_others(self.options.settings.folder, self.interceptor.clean)


def _one(passage: Passage, started: Mapping[str, Behind], client: LineWriter, own: OwnTools | None) -> Waiting:
    (upstream,) = started.values()
    waiting: Waiting = []
    passage.listen(upstream, client, own, waiting, cleans=True).forward(0, upstream.stdin)
    upstream.stdin.close()
    return waiting


def _several(passage: Passage, started: Mapping[str, Behind], client: LineWriter, own: OwnTools | None) -> Waiting:
    from lro_reference.proxy.hub import Hub, Member, Port

    members = [Member(name, upstream) for name, upstream in started.items()]
    hub = Hub(client, members, _say, own)
    waiting: Waiting = []
    for member in members:
        member.begin(passage.listen(member.upstream, Port(hub, member), None, waiting, cleans=member is members[0]))
    hub.forward(0, passage.options.max_line_mb << 20)
    for member in members:
        member.leave()
    return waiting


def _toolbox(options: ProxyOptions) -> Toolbox | None:
    if not options.families:
        return None
    from lro_reference.extraction.families import Toolbox

    return Toolbox(options.families, options.settings, prefix=options.tool_prefix)


def _drain(waiting: Waiting) -> None:
    """Waits for answers in progress: a script that pipes its requests in wants the last ones, too."""
    until = time.monotonic() + _GRACE_S
    for answers, relay, upstream in waiting:
        quiet_since = time.monotonic()
        while answers.is_alive() and time.monotonic() < until and _is_heard():
            answers.join(0.02)
            if _on_its_way(relay, upstream):
                quiet_since = time.monotonic()
            patience_s = _ANSWERS_S if relay.owes and upstream.ended() is None else _LAST_BYTES_S
            if time.monotonic() - quiet_since > patience_s:
                break
        if relay.owes:
            late = f"has not answered within {_ANSWERS_S} s after the client had left"
            why = f"the server {upstream.name} {late if upstream.ended() is None else upstream.ending()}"
            last_words = threading.Thread(target=relay.gone, args=(why,), daemon=True)
            last_words.start()
            last_words.join(_LAST_BYTES_S)  # the client may not read


def _on_its_way(relay: Relay, upstream: Behind) -> bool:
    """Whether something that a server wrote waits in its pipe still, or for a client that reads slowly.

    That its pipe is open says nothing of a server that has ended: what it started may hold it.
    """
    return relay.busy or bool(select.select([upstream.stdout], [], [], 0)[0])


def _is_heard() -> bool:
    """Whether somebody may still read what the proxy writes."""
    watch = select.poll()
    watch.register(1, 0)  # what went wrong there is told without being asked for
    return not watch.poll(0)


def _end(upstreams: Sequence[Behind], *, patient: bool = True) -> None:
    """Ends the servers, all at a time."""
    ending = [threading.Thread(target=one.end, kwargs={"patient": patient}) for one in upstreams[1:]]
    for thread in ending:
        thread.start()
    upstreams[0].end(patient=patient)
    for thread in ending:
        thread.join()


def _answers(relay: Relay, requests: Requests, upstream: Behind) -> None:
    try:
        relay.answer(upstream.stdout)
    except Exception as problem:  # a defect of the proxy: nobody may wait for ever because of it
        relay.gone(f"internal error: {type(problem).__name__}: {problem}")
    if not relay.client_left or len(requests):
        relay.gone(f"the server {upstream.name} {upstream.ending()}")


def _keep_house(
    clean: Callable[[], None] | None,
    settings: Settings,
    relay: Relay,
    requests: Requests,
    upstream: Behind,
    over: threading.Event,
) -> None:
    """Cleans up now and then, and gives up on requests that are never answered."""
    next_cleanup = time.monotonic()
    while True:
        if clean is not None and settings.cleanup_interval_seconds and time.monotonic() >= next_cleanup:
            next_cleanup = time.monotonic() + settings.cleanup_interval_seconds
            clean()
        relay.expire(upstream.stdin)
        if upstream.ended() is not None and len(requests) and not _on_its_way(relay, upstream):
            over.wait(_LAST_BYTES_S)
            if not _on_its_way(relay, upstream):
                relay.gone(f"the server {upstream.name} {upstream.ending()}")
        if over.wait(1):
            return


def _leave(upstreams: Sequence[Behind], options: ProxyOptions, *, patient: bool = True) -> None:
    _end(upstreams, patient=patient)
    if options.private_folder:
        run_folder.leave(options.settings.folder)


def _leave_on_signals(upstreams: Sequence[Behind], options: ProxyOptions) -> None:
    told, tell = os.pipe()
    os.set_blocking(tell, False)

    def leave() -> None:
        number = os.read(told, 1)[0]
        writer.abandon()
        _leave(upstreams, options, patient=False)
        writer.abandon()  # what was begun meanwhile
        os._exit(0 if number == signal.SIGTERM else 128 + number)

    def unheeded(*_: object) -> None:
        pass

    # Python runs a handler in the main thread, between two of its steps: a signal just before a read that waits is
    # heard only when something comes. What the handler interrupts may hold a lock, too, and could wait for nothing.
    # So a thread of its own hears of signals, by the pipe that they are written to when they arrive.
    threading.Thread(target=leave, name="signals", daemon=True).start()
    signal.set_wakeup_fd(tell)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, unheeded)


def _say(text: str) -> None:
    try:
        sys.stderr.write(f"lro proxy: {text}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass


def _complain(reason: str, code: int) -> int:
    _say(" ".join(reason.split()))
    return code


if __name__ == "__main__":
    sys.exit(main())
