"""A proxy in front of a server of the suite's own, so that both sides of it are seen."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lro_conformance.capture.call import Call, OfACall
from lro_conformance.capture.records import as_record, show
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import evidence_of
from lro_conformance.lab.errors import ServerTrouble
from lro_conformance.lab.operations import Operation
from lro_conformance.lab.settings import Settings
from lro_conformance.profile import Profile, in_front, proxy_command
from lro_conformance.trials import trial
from lro_conformance.trials.extensions import payloads, upstream
from lro_conformance.trials.extensions.upstream import PREFIX, TOOLS
from lro_conformance.trials.recipe_runner import RecipeRunner
from lro_conformance.trials.recipes import Command, commands_of
from lro_spec.recipes.runner import JqRun

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench, Sent
    from lro_conformance.lab.lab import Lab

THRESHOLD = 1000
"""In tokens, where it can be set."""
FACTOR = 4
"""How many times the threshold, by four characters a token, a large result has; a small one has a fifth of it."""
FLEET = 4
"""How many small and how many large calls are in flight together."""


@dataclass(frozen=True)
class Passed(OfACall):
    """One result that the server gave to the proxy, and what the client got of it."""

    kind: str
    call: Call
    given: str
    """The result (or the error) as JSON, as the server wrote it."""


@evidence_of.register
def _(passed: Passed) -> str:
    given = passed.given
    shown = given if len(given) <= 1000 else f"{given[:1000]}… ({len(given)} characters)"
    return f"the server behind it answered: {shown}\n{evidence_of(passed.call)}"


@dataclass(frozen=True)
class Recipe(OfACall):
    """One recipe of a descriptor, run on its file."""

    call: Call
    command: Command
    run: JqRun | None
    """None where it could not be understood."""


@evidence_of.register
def _(recipe: Recipe) -> str:
    return evidence_of(recipe.command)


@dataclass(frozen=True)
class Together:
    """Calls in flight while another one waits."""

    passed: tuple[Passed, ...]
    waited: Passed | None
    """The call that waited until the others were answered; None where it could not be released."""


@dataclass(frozen=True)
class Cancelled(OfACall):
    """A call that was cancelled, and what its server had heard by then."""

    call: Call
    """The call that asked it."""
    waiting: tuple[Any, ...]
    """The ids of the calls that wait, as the server knows them."""
    heard: tuple[Any, ...]
    """The notifications that reached it."""


@evidence_of.register
def _(cancelled: Cancelled) -> str:
    return f"the server behind it was told: {show(cancelled.heard, 1000)}\n{evidence_of(cancelled.call)}"


@dataclass(frozen=True)
class Told(OfACall):
    """A call, and what else arrived until it was answered."""

    call: Call
    messages: tuple[str, ...]
    """The lines from the server that are no answers, as they arrived at the client."""
    given: str
    token: str


@evidence_of.register
def _(told: Told) -> str:
    first = "".join(f"\n{message[:400]}" for message in told.messages[:10])
    return f"messages before the answer: {len(told.messages)}{first}\n{evidence_of(told.call)}"


@dataclass(frozen=True)
class Proxied:
    """What a proxy made of everything that it was given."""

    threshold: int
    tools: Sequence[Mapping[str, Any]]
    """The tools as the proxy lists them."""
    names: Mapping[str, str]
    """The name that each tool of the suite's server has there."""
    small: tuple[Passed, ...]
    exact: Passed
    large: tuple[Passed, ...]
    recipes: tuple[Recipe, ...]
    errors: tuple[Passed, ...]
    told: Told
    asked: Told
    together: Together
    cancelled: Cancelled | None
    """None where the proxy no longer answered."""
    ended: tuple[Call, ...]
    """Calls that were in progress when the server behind it ended, the last of them the one that ended it."""
    unwritable: tuple[Passed, ...]
    """Large results where the output folder is a file."""
    problem: str = ""
    """Why writing could not be made to fail."""
    flooded: Told | None = None
    """A call before whose answer came very many messages; None where the proxy no longer answered."""
    edge: tuple[Passed, ...] = ()
    """The largest text that stayed inline and the smallest that did not, as near as was looked; or one of them."""

    @property
    def known(self) -> Mapping[str, payloads.Large]:
        """What of each large result must be found again, by its kind."""
        return _large(self.threshold)


def _no_proxy(profile: Profile) -> str | None:
    return None if proxy_command(profile) else "the server is no proxy (profile: proxy says how one is put in front)"


@trial("a proxy in front of the suite's own server", unbound=_no_proxy)
def proxied(lab: Lab) -> Proxied:
    """Put the server of the suite behind the proxy, and have it pass on what is worth passing on."""
    inner = _behind(lab, proxy_command(lab.profile) or ())
    threshold = THRESHOLD if inner.can_set("threshold_tokens") else inner.editions.own.default_threshold_tokens
    settings = Settings(threshold_tokens=threshold if inner.can_set("threshold_tokens") else None)
    large = _large(threshold)
    with inner.bench(settings) as bench:
        names = _find_tools(bench)
        lab.step("proxied", "small and large results")
        few = tuple(_pass(bench, "say", kind, result) for kind, result in payloads.small().items())
        exact = _pass(bench, "say", "numbers and escapes", payloads.exact())
        many = tuple(_pass(bench, "typed" if one.typed else "say", kind, one.result) for kind, one in large.items())
        edge = _edge(bench, threshold)
        wrong = tuple(_errors(bench, large["text"].result))
        lab.step("proxied", "messages, calls together, a cancellation, an end")
        told, asked = _tell(bench), _ask(bench)
        flooded = _flood(bench)
        together = _together(bench, large["text"])
        cancelled = _cancel(bench) if together.waited is not None else None
        ended = _end(bench) if cancelled is not None else ()
    unwritable, problem = _unwritable(inner, settings, large)
    return Proxied(
        threshold=threshold,
        tools=bench.tools,
        names=names,
        small=few,
        exact=exact,
        large=many,
        recipes=tuple(_recipes(many)),
        errors=wrong,
        told=told,
        asked=asked,
        together=together,
        cancelled=cancelled,
        ended=ended,
        unwritable=unwritable,
        problem=problem,
        flooded=flooded,
        edge=edge,
    )


def _large(threshold: int) -> Mapping[str, payloads.Large]:
    return payloads.large(FACTOR * 4 * threshold)


def _behind(lab: Lab, command: Sequence[str]) -> Lab:
    """A laboratory in which the proxy stands in front of the suite's own server."""
    words = [sys.executable, "-I", "-S", upstream.__file__]
    config = lab.workspace.root / "lro-upstream.json"
    servers = {"mcpServers": {"probe": {"command": words[0], "args": words[1:]}}}
    config.write_text(json.dumps(servers), encoding="utf-8")
    server = replace(lab.profile.server, command=in_front(command, words, str(config)))
    inner = lab.for_profile(replace(lab.profile, server=server, operations={}, seed=None, cleanup=None))
    inner.launcher.handshakes.capabilities = {"sampling": {}}
    return inner


def _find_tools(bench: Bench) -> dict[str, str]:
    """Makes the tools of the suite's server callable, under whatever names the proxy lists them."""
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


def _pass(bench: Bench, tool: str, kind: str, given: str) -> Passed:
    return Passed(kind, bench.calls([{"name": tool, "arguments": {"result": given}}])[0], given)


def _edge(bench: Bench, threshold: int) -> tuple[Passed, ...]:
    """Halves the distance between a text that stays inline and one that does not."""
    found: dict[bool, Passed] = {}
    below, above = threshold // 4, 16 * threshold  # characters: a sixteenth of the threshold, and four times it
    sizes = [below, above]
    while sizes:
        size = sizes.pop(0)
        one = _pass(bench, "say", f"a text of {size} characters", payloads.text_result(payloads.words(size)))
        if one.call.outcome not in ("inline", "offloaded"):
            break
        offloaded = one.call.outcome == "offloaded"
        found[offloaded] = one
        below, above = (below, size) if offloaded else (size, above)
        if not sizes and len(found) == 2 and above - below > max(threshold // 16, 1):
            sizes = [(below + above) // 2]
    return tuple(found[key] for key in sorted(found))


def _errors(bench: Bench, large: str) -> Iterator[Passed]:
    small = payloads.text_result("no such file: ä", isError=True)
    yield _pass(bench, "say", "a small error", small)
    yield _pass(bench, "say", "a large error", large[:-1] + ',"isError":true}')
    error = {"code": -32099, "message": "lro probe: refused ä", "data": {"why": ["kept", 1]}}
    yield _pass(bench, "refuse", "a JSON-RPC error", payloads.dumps(error))


def _tell(bench: Bench) -> Told:
    token, given = "lro-probe-token", payloads.text_result("done")
    wanted = {"name": "tell", "arguments": {"result": given}, "meta": {"progressToken": token}}
    return _listened(bench, wanted, given, token)


def _ask(bench: Bench) -> Told:
    return _listened(bench, {"name": "ask"}, "", "")


def _flood(bench: Bench) -> Told | None:
    told = _listened(bench, {"name": "flood", "arguments": {"result": payloads.text_result("dry")}}, "", "")
    return None if told.call.reply.failure is not None else told


def _listened(bench: Bench, wanted: Mapping[str, Any], given: str, token: str) -> Told:
    before = len(_messages(bench))
    call = bench.calls([wanted])[0]
    bench.server.drain(0.05)  # a message after the answer is late, and yet no other fault
    return Told(call, tuple(_messages(bench)[before:]), given, token)


def _messages(bench: Bench) -> list[str]:
    """The requests and notifications that came from the server, as they came."""
    lines = [m for m in bench.server.transcript if m.direction == "in" and isinstance(m.parsed, dict)]
    return [m.line.decode("utf-8", "replace") for m in lines if "method" in m.parsed]


def _patience(bench: Bench) -> float:
    return bench.server.limits.request_timeout_s / 2


def _together(bench: Bench, large: payloads.Large) -> Together:
    """Small and large calls in flight while one before them waits."""
    waiting = bench.post({"name": "wait"})
    sent: list[tuple[str, str, Sent]] = []
    for n in range(FLEET):
        few = payloads.text_result(f"call {n} of {FLEET}")
        many = large.result.replace("mktext", f"mkfleet{'abcdefgh'[n]}")
        for kind, given in ((f"small {n}", few), (f"large {n}", many)):
            sent.append((kind, given, bench.post({"name": "say", "arguments": {"result": given}})))
    passed = [Passed(kind, bench.collect(one, _patience(bench)), given) for kind, given, one in sent]
    if any(p.call.reply.failure is not None for p in passed):
        return Together(tuple(passed), None)
    given = payloads.text_result("released at last")
    bench.calls([{"name": "release", "arguments": {"result": given}}])
    return Together(tuple(passed), Passed("waited", bench.collect(waiting, _patience(bench)), given))


def _cancel(bench: Bench) -> Cancelled:
    """Cancels a call, and asks the server what it has heard until it has."""
    waiting = bench.post({"name": "wait"})
    bench.server.notify("notifications/cancelled", {"requestId": waiting.id, "reason": "lro probe"})
    until = time.monotonic() + _patience(bench)
    while True:
        call = bench.calls([{"name": "heard"}])[0]
        said = _said(call)
        heard = [as_record(n) for n in said.get("heard", [])]
        if any(n.get("method") == "notifications/cancelled" for n in heard) or time.monotonic() > until:
            return Cancelled(call, tuple(said.get("waiting", ())), tuple(heard))
        bench.server.drain(0.2)


def _said(call: Call) -> dict[str, Any]:
    try:
        return as_record(json.loads(call.text))
    except ValueError:
        return {}


def _end(bench: Bench) -> tuple[Call, ...]:
    """Ends the server behind the proxy while a call waits there."""
    sent = [bench.post({"name": "wait"}), bench.post({"name": "end"})]
    return tuple(bench.collect(one, _patience(bench)) for one in sent)


def _unwritable(lab: Lab, settings: Settings, large: Mapping[str, payloads.Large]) -> tuple[tuple[Passed, ...], str]:
    """Large results where the output folder is a file."""
    if not lab.can_set("output_dir"):
        return (), "the proxy offers no setting output_dir (profile: settings.output_dir)"
    try:
        with lab.bench(settings, prepare=lambda path: path.write_text("")) as bench:
            _find_tools(bench)
            kinds = ("an array", "text and structured content", "text")
            wanted = [(kind, large[kind]) for kind in kinds]
            return tuple(_pass(bench, "typed" if o.typed else "say", kind, o.result) for kind, o in wanted), ""
    except ServerTrouble as trouble:
        return (), f"the proxy does not start where output_dir is a file: {trouble}"


def _recipes(passed: Sequence[Passed]) -> Iterator[Recipe]:
    """Runs the recipes of every descriptor on its file."""
    readable = [p.call for p in passed if p.call.file is not None and p.call.file.problem is None]
    with RecipeRunner(max_output=8 << 20) as runner:
        for call in readable:
            for command in commands_of(call):
                data = call.file.data if call.file is not None else b""
                run = None if command.pipeline is None else runner.run(command.pipeline, data)
                yield Recipe(call, command, None if run is None else replace(run, stdout=run.stdout[:4096]))
