"""A proxy in front of the suite's own server, so that both of its sides are observed."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lro_conformance.capture.call import Call, CallSubject
from lro_conformance.capture.recipes import Command, commands_of
from lro_conformance.capture.records import as_record, show
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import evidence_of
from lro_conformance.lab.errors import ServerTrouble
from lro_conformance.lab.operations import Operation
from lro_conformance.lab.settings import Settings
from lro_conformance.profile import Profile, fill_upstream, proxy_command
from lro_conformance.profile.proxy import UPSTREAM_URL
from lro_conformance.trials import trial
from lro_conformance.trials.extensions import payloads, upstream
from lro_conformance.trials.extensions.upstream import PREFIX, TOOLS
from lro_conformance.trials.extensions.upstream_http import serving
from lro_spec.recipes.bounded import BoundedRunner
from lro_spec.recipes.runner import JqRun

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench, SentCall
    from lro_conformance.lab.lab import Lab

THRESHOLD = 1000
"""Threshold of the proxy in tokens, if it can be set."""
LARGE_RESULT_FACTOR = 4
"""Size of a large result as a multiple of the threshold, at four characters a token."""
CONCURRENT_CALLS = 4
"""Number of small calls, and also of large calls, that are in flight at the same time."""


@dataclass(frozen=True)
class Forwarded(CallSubject):
    """One result of the upstream server, and what the client received."""

    kind: str
    """The kind of the result, in a few words."""
    call: Call
    """The call, with what the client received."""
    given: str
    """The result (or the error) as JSON, as the server wrote it."""


@evidence_of.register
def _(forwarded: Forwarded) -> str:
    given = forwarded.given
    shown = given if len(given) <= 1000 else f"{given[:1000]}… ({len(given)} characters)"
    return f"the upstream server answered: {shown}\n{evidence_of(forwarded.call)}"


@dataclass(frozen=True)
class Recipe(CallSubject):
    """One recipe of a descriptor, run on its file."""

    call: Call
    command: Command
    run: JqRun | None
    """None if the suite does not understand the command."""


@evidence_of.register
def _(recipe: Recipe) -> str:
    return evidence_of(recipe.command)


@dataclass(frozen=True)
class Together:
    """Calls that are in flight together while an earlier call waits."""

    passed: tuple[Forwarded, ...]
    """The calls in flight together."""
    waited: Forwarded | None
    """The call that waited until the others were answered; None if it could not be released."""


@dataclass(frozen=True)
class Cancelled(CallSubject):
    """A cancelled call, and the notifications that the upstream server received."""

    call: Call
    """A later call, by which the upstream server reported `waiting` and `heard`."""
    waiting: tuple[Any, ...]
    """The ids under which the upstream server knows the calls that it has not answered yet."""
    heard: tuple[Any, ...]
    """The notifications that the upstream server received."""


@evidence_of.register
def _(cancelled: Cancelled) -> str:
    return f"the upstream server received: {show(cancelled.heard, 1000)}\n{evidence_of(cancelled.call)}"


@dataclass(frozen=True)
class CallWithMessages(CallSubject):
    """A call, and the messages that arrived before its answer, or shortly after it."""

    call: Call
    messages: tuple[str, ...]
    """The lines of the server's requests and notifications, in the order in which they arrived at the client."""
    given: str
    """The result as JSON, as the server wrote it; empty if it is not compared."""
    token: str
    """The progress token of the call; empty if it has none."""


@evidence_of.register
def _(exchange: CallWithMessages) -> str:
    first = "".join(f"\n{message[:400]}" for message in exchange.messages[:10])
    return f"messages until shortly after the answer: {len(exchange.messages)}{first}\n{evidence_of(exchange.call)}"


@dataclass(frozen=True)
class Proxied:
    """Observations of a proxy between the suite's client and the suite's server."""

    threshold: int
    tools: Sequence[Mapping[str, Any]]
    """The tools as the proxy lists them."""
    names: Mapping[str, str]
    """The proxy's name for each tool of the suite's server."""
    small: tuple[Forwarded, ...]
    exact: Forwarded
    large: tuple[Forwarded, ...]
    recipes: tuple[Recipe, ...]
    errors: tuple[Forwarded, ...]
    notified: CallWithMessages = field(metadata={"formerly": "told"})
    requested: CallWithMessages = field(metadata={"formerly": "asked"})
    together: Together
    cancelled: Cancelled | None
    """A cancelled call; None if an earlier call was not answered, so that it was not tried."""
    ended: tuple[Call, ...]
    """Calls in progress when the upstream server exited. The last of these calls ended the server. Empty if `cancelled`
    is None."""
    unwritable: tuple[Forwarded, ...]
    """Large results while output_dir is a regular file; empty if writing could not be made to fail."""
    problem: str = ""
    """Reason why writing could not be made to fail; empty if it could."""
    flooded: CallWithMessages | None = None
    """A call with very many messages before its answer; None if the proxy no longer answered."""
    copies: tuple[str, ...] | None = None
    """Files in the folders of the proxy's process that contain parts of payloads, but were not named by a descriptor.
    None in evidence of an earlier version, which did not look for such files."""
    edge: tuple[Forwarded, ...] = ()
    """The largest text that stayed inline, and the smallest text that was offloaded. If one of these texts was not
    found, only the other is included."""

    @property
    def known(self) -> Mapping[str, payloads.Large]:
        """The large results by kind, with their parts that must be in the file."""
        return _large(self.threshold)


def _reason_not_applicable(profile: Profile) -> str | None:
    return (
        None
        if proxy_command(profile)
        else "the server is not a proxy (profile: proxy is the command that puts one in front of a server)"
    )


@trial("a proxy in front of the suite's own server", reason_not_applicable=_reason_not_applicable)
def proxied(lab: Lab) -> Proxied:
    """Put the suite's server behind the proxy and call its tools."""
    threshold = THRESHOLD if lab.can_set("threshold_tokens") else lab.editions.own.default_threshold_tokens
    settings = Settings(threshold_tokens=threshold if lab.can_set("threshold_tokens") else None)
    large = _large(threshold)
    with _with_upstream(lab) as proxy_lab, proxy_lab.bench(settings) as bench:
        names = _find_tools(bench)
        lab.step("proxied", "small and large results")
        small = tuple(_forward(bench, "say", kind, result) for kind, result in payloads.small().items())
        exact = _forward(bench, "say", "numbers and escapes", payloads.exact())
        forwarded = tuple(
            _forward(bench, "typed" if one.typed else "say", kind, one.result) for kind, one in large.items()
        )
        edge = _edge(bench, threshold)
        errors = tuple(_errors(bench, large["text"].result))
        lab.step("proxied", "messages, calls together, a cancellation, an end")
        notified, requested = _exchange_with_notifications(bench), _exchange_with_request(bench)
        flooded = _flood(bench)
        together = _together(bench, large["text"])
        cancelled = _cancel(bench) if together.waited is not None else None
        ended = _end(bench) if cancelled is not None else ()
        copies = tuple(_copies(bench))
    with _with_upstream(lab) as proxy_lab:
        unwritable, problem = _unwritable(proxy_lab, settings, large)
    return Proxied(
        threshold=threshold,
        tools=bench.tools,
        names=names,
        small=small,
        exact=exact,
        large=forwarded,
        recipes=tuple(_recipes(forwarded)),
        errors=errors,
        notified=notified,
        requested=requested,
        together=together,
        cancelled=cancelled,
        ended=ended,
        unwritable=unwritable,
        problem=problem,
        flooded=flooded,
        edge=edge,
        copies=copies,
    )


def _large(threshold: int) -> Mapping[str, payloads.Large]:
    return payloads.large(LARGE_RESULT_FACTOR * 4 * threshold)


@contextmanager
def _with_upstream(lab: Lab) -> Generator[Lab]:
    """A lab whose server is the proxy. The suite's own server is behind the proxy, which gets its command or its
    address."""
    command = proxy_command(lab.profile) or ()
    if any(UPSTREAM_URL in word for word in command):
        with serving() as url:
            yield _lab_in_front(lab, command, url)
    else:
        yield _lab_in_front(lab, command, "")


def _lab_in_front(lab: Lab, command: Sequence[str], url: str) -> Lab:
    words = [sys.executable, "-I", "-S", upstream.__file__]
    config = lab.workspace.root / "lro-upstream.json"
    servers = {"mcpServers": {"probe": {"command": words[0], "args": words[1:]}}}
    config.write_text(json.dumps(servers), encoding="utf-8")
    server = replace(lab.profile.server, command=fill_upstream(command, words, str(config), url))
    proxy_lab = lab.for_profile(replace(lab.profile, server=server, operations={}, seed=None, cleanup=None))
    proxy_lab.launcher.handshakes.capabilities = {"sampling": {}}
    return proxy_lab


def _find_tools(bench: Bench) -> dict[str, str]:
    """Make the tools of the suite's server callable, by the names under which the proxy lists them."""
    listed = {str(tool.get("name")): tool for tool in bench.tools}
    names: dict[str, str] = {}
    operations: dict[str, Operation] = {}
    for one in TOOLS:
        name = next((n for n in listed if n == one["name"]), None)
        name = name or next((n for n in listed if n.endswith(one["name"])), None)
        if name is None:
            raise NotObserved(
                f"behind the proxy there is no tool {one['name']}: it lists {', '.join(listed) or 'none'}"
            )
        short = one["name"].removeprefix(PREFIX)
        names[short] = name
        operations[short] = Operation(
            short, name, {}, None, None, None, None, (), None, output_schema=listed[name].get("outputSchema")
        )
    bench.operations = operations
    return names


def _forward(bench: Bench, tool: str, kind: str, given: str) -> Forwarded:
    return Forwarded(kind, bench.calls([{"name": tool, "arguments": {"result": given}}])[0], given)


def _edge(bench: Bench, threshold: int) -> tuple[Forwarded, ...]:
    """Find the largest text that stays inline and the smallest that is offloaded, by halving an interval of sizes."""
    found: dict[bool, Forwarded] = {}
    # in characters, for a sixteenth of the threshold and for four times the threshold, in tokens
    below, above = threshold // 4, 16 * threshold
    sizes = [below, above]
    while sizes:
        size = sizes.pop(0)
        one = _forward(bench, "say", f"a text of {size} characters", payloads.text_result(payloads.words(size)))
        if one.call.outcome not in ("inline", "offloaded"):
            break
        offloaded = one.call.outcome == "offloaded"
        found[offloaded] = one
        below, above = (below, size) if offloaded else (size, above)
        if not sizes and len(found) == 2 and above - below > max(threshold // 16, 1):
            sizes = [(below + above) // 2]
    return tuple(found[key] for key in sorted(found))


def _errors(bench: Bench, large: str) -> Iterator[Forwarded]:
    small = payloads.text_result("no such file: ä", isError=True)
    yield _forward(bench, "say", "a small error", small)
    yield _forward(bench, "say", "a large error", large[:-1] + ',"isError":true}')
    error = {"code": -32099, "message": "lro probe: refused ä", "data": {"why": ["kept", 1]}}
    yield _forward(bench, "refuse", "a JSON-RPC error", payloads.dumps(error))


def _exchange_with_notifications(bench: Bench) -> CallWithMessages:
    token, given = "lro-probe-token", payloads.text_result("done")
    request = {"name": "tell", "arguments": {"result": given}, "meta": {"progressToken": token}}
    return _exchange(bench, request, given, token)


def _exchange_with_request(bench: Bench) -> CallWithMessages:
    return _exchange(bench, {"name": "ask"}, "", "")


def _flood(bench: Bench) -> CallWithMessages | None:
    flood = _exchange(bench, {"name": "flood", "arguments": {"result": payloads.text_result("dry")}}, "", "")
    return None if flood.call.reply.failure is not None else flood


def _exchange(bench: Bench, request: Mapping[str, Any], given: str, token: str) -> CallWithMessages:
    before = len(_messages(bench))
    call = bench.calls([request])[0]
    bench.server.drain(0.05)  # a message shortly after the answer counts, too
    return CallWithMessages(call, tuple(_messages(bench)[before:]), given, token)


def _messages(bench: Bench) -> list[str]:
    """Requests and notifications from the server, unparsed."""
    lines = [m for m in bench.server.transcript if m.direction == "in" and isinstance(m.parsed, dict)]
    return [m.line.decode("utf-8", "replace") for m in lines if "method" in m.parsed]


def _patience(bench: Bench) -> float:
    return bench.server.limits.request_timeout_s / 2


def _together(bench: Bench, large: payloads.Large) -> Together:
    """Calls with small and large results that are in flight while an earlier call waits.

    The earlier call is released in the end, unless one of the other calls was not answered.
    """
    waiting = bench.start_call({"name": "wait"})
    sent: list[tuple[str, str, SentCall]] = []
    for n in range(CONCURRENT_CALLS):
        small_result = payloads.text_result(f"call {n} of {CONCURRENT_CALLS}")
        large_result = large.result.replace("mktext", f"mkfleet{'abcdefgh'[n]}")
        for kind, given in ((f"small {n}", small_result), (f"large {n}", large_result)):
            sent.append((kind, given, bench.start_call({"name": "say", "arguments": {"result": given}})))
    forwarded = [Forwarded(kind, bench.finish_call(one, _patience(bench)), given) for kind, given, one in sent]
    if any(p.call.reply.failure is not None for p in forwarded):
        return Together(tuple(forwarded), None)
    given = payloads.text_result("released at last")
    bench.calls([{"name": "release", "arguments": {"result": given}}])
    return Together(tuple(forwarded), Forwarded("waited", bench.finish_call(waiting, _patience(bench)), given))


def _cancel(bench: Bench) -> Cancelled:
    """Cancel a call. Then fetch the notifications that the upstream server has received, repeatedly until the
    cancellation is among them, or for half the request timeout."""
    waiting = bench.start_call({"name": "wait"})
    bench.server.notify("notifications/cancelled", {"requestId": waiting.id, "reason": "lro probe"})
    until = time.monotonic() + _patience(bench)
    while True:
        call = bench.calls([{"name": "heard"}])[0]
        answer = _answer(call)
        notes, calls = [as_record(n) for n in answer.get("heard", [])], answer.get("waiting", [])
        cancelled = (n.get("params") for n in notes if n.get("method") == "notifications/cancelled")
        if any(as_record(one).get("requestId") in calls for one in cancelled) or time.monotonic() > until:
            return Cancelled(call, tuple(calls), tuple(notes))
        bench.server.drain(0.2)


def _copies(bench: Bench) -> Iterator[str]:
    """Files below the private folder of the proxy's process that hold pieces of payloads, and that no result named."""
    for path in sorted(bench.workdir.rglob("*")):
        if path.name not in bench.named_files and path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if payloads.marks(file.read(_MAX_SEARCHED_BYTES)):
                    yield str(path)


_MAX_SEARCHED_BYTES = 16 << 20
"""Number of bytes that are searched for pieces of payloads, at the beginning of each file."""


def _answer(call: Call) -> dict[str, Any]:
    try:
        return as_record(json.loads(call.text))
    except ValueError:
        return {}


def _end(bench: Bench) -> tuple[Call, ...]:
    """End the upstream server while a call waits there."""
    sent = [bench.start_call({"name": "wait"}), bench.start_call({"name": "end"})]
    return tuple(bench.finish_call(one, _patience(bench)) for one in sent)


def _unwritable(lab: Lab, settings: Settings, large: Mapping[str, payloads.Large]) -> tuple[tuple[Forwarded, ...], str]:
    """Large results while output_dir is a regular file."""
    if not lab.can_set("output_dir"):
        return (), lab.profile.reason_not_set("output_dir")
    try:
        with lab.bench(settings, prepare=lambda path: path.write_text("")) as bench:
            _find_tools(bench)
            kinds = ("an array", "text and structured content", "text")
            wanted = [(kind, large[kind]) for kind in kinds]
            return tuple(_forward(bench, "typed" if o.typed else "say", kind, o.result) for kind, o in wanted), ""
    except ServerTrouble as trouble:
        return (), f"the proxy does not start while output_dir is a regular file: {trouble}"


def _recipes(forwarded: Sequence[Forwarded]) -> Iterator[Recipe]:
    """Run the recipes of every descriptor whose file could be read."""
    readable = [p.call for p in forwarded if p.call.file is not None and p.call.file.problem is None]
    with BoundedRunner(fallback=True, max_output=8 << 20) as runner:
        for call in readable:
            for command in commands_of(call):
                data = call.file.data if call.file is not None else b""
                run = None if command.pipeline is None else runner.run(command.pipeline, data)
                yield Recipe(call, command, None if run is None else replace(run, stdout=run.stdout[:4096]))
