"""Probing a server: its operations, how it takes settings, what triggers its cleanup, and where its events appear.

The server is started a few times and called. Nothing is stored in it unless a seed tool is named. Its cleanup is
triggered only while its output directory is a temporary one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Literal

from lro_conformance.analysis.prose import is_shown
from lro_conformance.capture.call import Call
from lro_conformance.capture.corpus import corpus
from lro_conformance.capture.records import is_blank
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.bench import CLEANUP_TOOL, Bench
from lro_conformance.lab.errors import ServerTrouble, describe
from lro_conformance.lab.lab import Lab
from lro_conformance.lab.operations import Operation, levels_of, listed_tool, operations_of, storing_tools
from lro_conformance.lab.queries import found_nothing, largest_result, replace_poor_queries
from lro_conformance.lab.seeding import arguments_without_value, fields_left_out, memory_arguments
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import NEVER
from lro_conformance.profile import Cleanup, Client, DetailValue, Profile, Seed, Setting
from lro_conformance.profile import Operation as NamedOperation
from lro_conformance.trials.cleanup import TTL, Cleaning, clean
from lro_conformance.trials.decoys import DAY
from lro_conformance.trials.folders import CLIENT
from lro_conformance.wire.interrupt import interruptible
from lro_conformance.wire.reply import Failure
from lro_conformance.wire.workspace import Workspace
from lro_spec.editions import DETAILS

SETTINGS = ("threshold_tokens", "output_dir", "enabled", "ttl_seconds")
"""Settings in the order of probing. The effect of all after the first can only be observed if something is
offloaded."""

HELP_S = 5.0
"""Time limit of ``COMMAND --help`` in seconds."""

_NAME_PATTERNS = {
    "threshold_tokens": r"THRESHOLD|INLINE[_-]?(?:TOKENS|LIMIT|MAX)|MAX[_-]?(?:INLINE|RESULT)|TOKEN[_-]?LIMIT",
    "output_dir": r"(?:OFFLOAD|OUT(?:PUT)?|RESULTS?|SPILL|LRO|FILES?|TE?MP)[_-]?(?:DIR|PATH|FOLDER)",
    "enabled": r"OFFLOAD(?:ING)?[_-]?(?:ENABLED?|ON)|ENABLE[_-]?(?:OFFLOAD|LRO)|LRO[_-]?(?:ENABLED?|ON)\b"
    r"|(?:OFFLOAD(?:ING)?|\bLRO)(?![A-Z_-])|\b(?:NO|DISABLE)-(?:SPILL|FILES?)",
    "ttl_seconds": r"TTL|EXPIR|RETENTION|MAX[_-]?AGE|LIFETIME",
}
"""For each setting, a pattern that is in the names of flags and variables that may set it."""

_HELP_PATTERNS = {
    "threshold_tokens": r"\btokens\b",
    "output_dir": r"\b(?:folder|directory|where\b.*\bfiles?)\b",
    "enabled": r"\boffload",
    "ttl_seconds": r"\bseconds\b|\bexpire|\bhow long\b",
}
"""For each setting, a pattern that is in the help of flags that may set it although their names do not say so."""

MAX_WAYS = 8
"""Largest number of undocumented ways that are tried for a setting. Each usually takes one or two starts of the
server."""


@dataclass
class ProbeResult:
    """Findings about a server. A field is None or empty if nothing was found for it."""

    profile: Profile
    """The profile with which the server was probed; once settings were tried, with those that took effect."""
    name: str = ""
    version: str = ""
    protocol: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    operations: Mapping[str, Operation] = field(default_factory=dict[str, Operation])
    calls: Mapping[str, Call] = field(default_factory=dict[str, Call])
    """One call of each operation at the lowest threshold that could be set."""
    selecting: list[str] = field(default_factory=list[str])
    """Names of the operations whose argument for the query has an unusual name and was recognised by its effect."""
    settings: dict[str, Setting] = field(default_factory=dict[str, Setting])
    """Settings that were seen to take effect."""
    cleanup: Cleanup | None = None
    events: str | None = None
    """Channel on which an event was observed."""
    storing: Mapping[str, Any] | None = None
    """The tool that seems to store memories."""
    description: str = ""
    """The server's description of itself and of its tools."""
    fruitless: Sequence[str] = ()
    """Names of the operations that found nothing by any query."""
    inline: Literal["records", "text", "unknown"] | None = None
    """The form of a result that was offloaded at the lowest threshold and inline at the highest one: ``records`` if
    the suite found records in it; ``text`` if its text shows the title and content of a memory that is known from a
    file or was stored by the suite; otherwise ``unknown``. None if no result was seen in both ways."""
    unfound: str | None = None
    """A message that no call found the memories that were stored, with advice; None if a call found one of them, or if
    none were stored."""
    troubles: dict[str, str] = field(default_factory=dict[str, str])
    """Reasons why something could not be tried to the end: the server did not start, ended, or gave no answer. The key
    is the name of a setting, ``cleanup``, or an argument such as ``search.query``. Under ``seed`` is the reason why
    nothing was stored."""

    @property
    def answers(self) -> bool:
        """True if any call returned a result other than an error; otherwise no effect of a setting can be observed."""
        return any(c.outcome in ("inline", "offloaded") for c in self.calls.values())

    @property
    def offloads(self) -> bool:
        """True if any call was offloaded."""
        return any(c.outcome == "offloaded" for c in self.calls.values())

    @property
    def empty(self) -> bool:
        """True if no operation found anything by any query, so nothing could be offloaded."""
        return self.answers and len(self.fruitless) == len(self.operations) and not self.offloads

    @property
    def seed(self) -> Seed | None:
        """The seed in `profile` or, if it has none, a seed to propose. None if no tool seems to store memories, or if
        none of its arguments seems to take their text."""
        if self.profile.seed is not None or self.storing is None:
            return self.profile.seed
        arguments = memory_arguments(self.storing)
        return None if arguments is None else Seed(str(self.storing.get("name")), arguments)

    @property
    def left_out(self) -> Sequence[str]:
        """Remarks on fields of a memory that `seed` leaves out."""
        return [*fields_left_out(self.seed, self.tools)]

    @property
    def without_value(self) -> Sequence[str]:
        """Optional arguments of the tool of `seed` that get no value."""
        return arguments_without_value(self.seed, self.tools)

    @property
    def has_own_data(self) -> bool:
        """True if the command or its environment contains ``{workdir}``, the directory that each process has for
        itself."""
        server = self.profile.server
        return any("{workdir}" in word for word in (*server.command, *server.env.values()))


Choice = Callable[[Sequence[Mapping[str, Any]]], Mapping[str, str]]
"""A function that chooses tools from those that a server lists, and returns the chosen names by operation."""


def probe(
    profile: Profile,
    report: Callable[[str], None],
    tools: Mapping[str, str] | None = None,
    choose: Choice | None = None,
    seed: str | None = None,
) -> ProbeResult:
    """Probe a server; *report* is called with each step before it is taken.

    *tools* has the name of a tool for each operation whose tool is not recognised by its name. *choose* is called if
    *tools* is empty and no tool is recognised. *seed* is the name of a tool that stores memories: every process is then
    given the suite's memories. Raises `ServerTrouble` if the server does not start or does not respond, and
    `NoSuchTool` if it does not list a tool that *tools* or *seed* names.
    """
    workspace = Workspace()
    with interruptible(workspace.abort), workspace:
        lab = Lab(profile, workspace, lambda event: None, seed=0)
        try:
            report("starting the server with the documented variables")
            found = _observations(lab, profile)
            if choose is not None and not tools and not found.operations and found.tools:
                tools = choose(found.tools)
            if tools:
                known = {**found.operations, **operations_of(tools, found.tools)}
                profile = replace(profile, operations={name: _as_written(o) for name, o in known.items()})
                lab = lab.for_profile(profile)
                found = _observations(lab, profile, [name for name in found.selecting if name not in tools])
            if seed is not None:
                report(f"storing the suite's memories by {seed}")
                lab, found = _seeded(lab, found, seed)
            if not found.answers:
                return found
            if not found.offloads and profile.client.name is None:
                report(f"starting the server once more as the client {CLIENT}")
                other = lab.for_profile(replace(found.profile, client=Client(CLIENT)))
                other.seed_like(lab)
                again = _observations(other, other.profile, found.selecting)
                lab, found = (other, again) if again.offloads else (lab, found)
            if not found.empty:
                _find_settings(lab, found, report)
            if found.offloads:
                _find_cleanup_and_events(lab, found, report)
        finally:
            lab.close()
        return found


def _observations(lab: Lab, profile: Profile, selecting: Sequence[str] = ()) -> ProbeResult:
    """Findings about a new server of a lab, apart from settings, cleanup and events.

    *selecting* has the names of operations whose argument for the query was recognised by its effect before.
    """
    with lab.lowest_bench(_lowest(lab)) as bench:
        replace_poor_queries(bench)
        calls = {name: bench.call(name) for name in bench.operations}
        result = ProbeResult(profile, tools=bench.tools, calls=calls)
        found_before = [name for name in selecting if bench.operations[name].query is not None]
        for name, operation in bench.operations.items():
            if operation.possible_query is not None and _selects(bench, result, operation, operation.possible_query):
                bench.operations[name] = operation.with_query(operation.possible_query)
                result.selecting.append(name)
        if result.selecting:
            replace_poor_queries(bench)
            calls |= {name: bench.call(name) for name in result.selecting}
        result.selecting += found_before
        result.operations = {n: _with_levels(bench, result, operation) for n, operation in bench.operations.items()}
        result.fruitless = [name for name, call in calls.items() if found_nothing(call)]
        info = bench.server.server_info
        result.name, result.version = str(info.get("name", "")), str(info.get("version", ""))
        result.protocol = bench.server.protocol_version or ""
        result.description = json.dumps([lab.launcher.handshakes.opened, *result.tools])
        storing = storing_tools(result.tools)
        takes_text = (t for t in storing if memory_arguments(t) is not None)
        result.storing = next(takes_text, next(iter(storing), None))
        return result


@contextmanager
def _experiment(bench: Bench, found: ProbeResult, name: str) -> Generator[None]:
    """A context for an attempt that may end the server.

    If the server ends or gives no answer, the attempt is over, the reason is noted in `troubles` under *name*, and the
    server is restarted.
    """
    with suppress(NotObserved), _noted(found, name), _while_it_runs(bench):
        yield
    if name in found.troubles:
        with suppress(NotObserved), _noted(found, name):
            bench.restart()


def _selects(bench: Bench, found: ProbeResult, operation: Operation, argument: str) -> bool:
    """True if a call with a word that is in no memory as *argument* finds less than the usual calls before and after
    it."""
    first = found.calls[operation.name]
    if found_nothing(first):
        return False
    with _experiment(bench, found, f"{operation.name}.query"):
        none = _answered(bench.call(operation.name, arguments={argument: UNKNOWN_WORD}))
        if none.outcome in ("inline", "offloaded") and _finds_less(none, first):
            return _finds_less(none, _answered(bench.call(operation.name)))
    return False


def _finds_less(one: Call, other: Call) -> bool:
    counts = [len(call.file_records or call.records or []) for call in (one, other)]
    return not found_nothing(other) and (found_nothing(one) or counts[0] < counts[1])


UNKNOWN_WORD = "zqxjvkwpzqxjvkwp"
"""A word that is in no memory."""


def _with_levels(bench: Bench, found: ProbeResult, operation: Operation) -> Operation:
    """An operation with the argument for its level of detail, if the fields of records show which value stands for
    which level; otherwise the operation unchanged."""
    for argument, values in operation.possible_details.items():
        with _experiment(bench, found, f"{operation.name}.detail"):
            fields = {value: _fields_with(bench, operation, {argument: value}) for value in values}
            levels = levels_by_fields(fields)
            if levels:
                return operation.with_levels(argument, levels)
    return operation


def _fields_with(bench: Bench, operation: Operation, arguments: Mapping[str, Any]) -> set[str]:
    """The fields that any record of a call with these arguments has, apart from empty fields."""
    call = _answered(bench.call(operation.name, limit=_FEW, arguments=arguments))
    records = call.file_records or call.records or []
    return {name for record in records for name, value in record.items() if not is_blank(value)}


def levels_by_fields(fields: Mapping[DetailValue, Collection[str]]) -> dict[str, DetailValue]:
    """Values of an argument by detail level, inferred from the *fields* that records have with each value.

    Empty unless every value gives fields, and the values can be ordered so that each gives more fields than the value
    before. If the value before gives three fields or more, one of them, such as an excerpt, may be missing. Also empty
    if a value has the name of a level, but its fields are those of another level.
    """
    ordered = sorted(fields, key=lambda value: len(fields[value]))
    levels = levels_of(ordered)
    is_nested = all(_gives_more(set(fields[a]), set(fields[b])) for a, b in pairwise(ordered))
    is_misnamed = any(value in DETAILS and value != level for level, value in levels.items())
    return levels if is_nested and fields[ordered[0]] and not is_misnamed else {}


def _gives_more(less: set[str], more: set[str]) -> bool:
    lost = less - more
    return len(more - less) > len(lost) and len(lost) <= min(1, len(less) // 3)


_FEW = 5
"""Number of records that a call asks for if it only has to show which fields records have."""


def _seeded(lab: Lab, found: ProbeResult, name: str) -> tuple[Lab, ProbeResult]:
    """A lab whose servers are all given the suite's memories by a tool, and findings about one of these servers.

    If no argument of the tool seems to take the text of a memory, or if the tool accepts no memory, returns the given
    lab and findings, with the reason in `troubles`.
    """
    tool = listed_tool(name, found.tools)
    arguments = memory_arguments(tool)
    if arguments is None:
        found.storing, found.troubles["seed"] = tool, "none of its arguments seems to take the text of a memory"
        return lab, found
    profile = replace(found.profile, seed=Seed(name, arguments))
    other = lab.for_profile(profile)
    with other.lowest_bench(_lowest(other)) as bench:
        other.seeding.begin(bench)
    if other.seeding.on:
        seeded = _observations(other, profile, found.selecting)
        seeded.unfound = other.seeding.unfound
        return other, seeded
    found.storing, found.troubles["seed"] = tool, other.seeding.refusal or "it accepted no memory"
    return lab, found


def _lowest(lab: Lab) -> Settings:
    return Settings(threshold_tokens=1 if lab.can_set("threshold_tokens") else None)


def _as_written(o: Operation) -> NamedOperation:
    return NamedOperation(
        o.tool, o.arguments, query=o.query, limit=o.limit, detail=o.detail, levels=o.levels, budget=o.budget
    )


def _find_settings(lab: Lab, found: ProbeResult, report: Callable[[str], None]) -> None:
    """Find a way to set each setting: the documented one, or one that the command, its help or the descriptions of the
    server name."""
    usual, texts = dict(found.profile.settings), None
    known: dict[str, Setting | None] = dict.fromkeys(SETTINGS)
    for name in SETTINGS:
        report(f"looking for the way to set {name}")
        ways = [w for w in (usual.get(name),) if w is not None]
        for documented in (True, False):
            if not documented:
                texts = texts if texts is not None else f"{_texts(found.profile, lab.workspace)}\n{found.description}"
                ways = list(islice(setting_ways(name, texts), MAX_WAYS))
            way = next((w for w in ways if _takes_effect(lab, found, name, {**known, name: w})), None)
            if way is not None:
                known[name] = found.settings[name] = way
                break
        if name == "threshold_tokens" and not found.offloads:
            break  # without offloading, the effect of the other settings cannot be observed
    found.profile = replace(found.profile, settings=known)


def _takes_effect(lab: Lab, found: ProbeResult, name: str, settings: dict[str, Setting | None]) -> bool:
    lab.launcher.profile = replace(found.profile, settings=settings)
    first = next((n for n, c in found.calls.items() if c.outcome == "offloaded"), next(iter(found.operations)))
    threshold = 1 if settings["threshold_tokens"] is not None else None
    own = "{own}" if settings["output_dir"] is not None else None
    with suppress(NotObserved), _noted(found, name, settings[name]):
        if name == "threshold_tokens":
            return _threshold(lab, found)
        if name == "ttl_seconds":
            deleted = _deleted_by_age(_cleaning(lab, first, threshold, TTL))
            # A server that reads the value in a wrong unit deletes both files with the setting, and neither without it.
            without = _cleaning(lab, first, threshold, None) if deleted == (True, True) else None
            return deleted == (False, True) or _deleted_by_age(without) == (False, False)
        enabled = False if name == "enabled" else None
        with lab.bench(Settings(threshold_tokens=threshold, output_dir=own, enabled=enabled)) as bench:
            call = _answered(bench.call(first))
        if name == "enabled":
            return call.outcome == "inline" and found.calls[first].outcome == "offloaded"
        real = call.file.real if call.file is not None else None
        return real is not None and call.real_output_dir is not None and Path(real).is_relative_to(call.real_output_dir)
    return False


class _NoAnswer(ServerTrouble):
    """The server started, but it ended or gave no answer while something was tried, so the attempt proves nothing."""


@contextmanager
def _noted(found: ProbeResult, name: str, way: Setting | None = None) -> Generator[None]:
    """A context that notes in `troubles` that the server failed, and raises the error again.

    It is not noted that the server does not start with a flag that was tried: the server may not have that flag.
    """
    try:
        yield
    except ServerTrouble as problem:
        if way is None or way.env is not None or isinstance(problem, _NoAnswer):
            found.troubles.setdefault(name, str(problem))
        raise


def _answered(call: Call) -> Call:
    """The call, if it has an answer. Raises `_NoAnswer` with the reason if it has none."""
    if call.reply.failure is not None:
        raise _NoAnswer(f"{call.label}: {describe(call.reply.failure)}")
    return call


@contextmanager
def _while_it_runs(bench: Bench) -> Generator[None]:
    """A context that raises `_NoAnswer` if the server ends within it, or cannot be started again."""
    try:
        yield
    except ServerTrouble as problem:
        raise _NoAnswer(str(problem)) from None
    server = bench.server
    if server.exit is not None:
        stderr = server.stderr.decode(errors="replace")
        raise _NoAnswer(describe(Failure("exited", f"the server {server.exit} meanwhile", server.exit, stderr)))


def _threshold(lab: Lab, found: ProbeResult) -> bool:
    """True if a result is offloaded at the lowest threshold that the server accepts, and inline at a billion tokens.

    Also sets `calls` if a result was offloaded at the first threshold, and `inline` if it was inline at the second.
    """
    with lab.lowest_bench(Settings(threshold_tokens=1, output_dir=None)) as bench:
        low = {name: bench.call(name) for name in bench.operations}
        offloaded = [n for n, c in low.items() if c.outcome == "offloaded"]
        filed = largest_result(bench, offloaded[0]).file_records if offloaded else []
    if not offloaded:
        for call in low.values():
            _answered(call)
        return False
    found.calls = low
    with lab.bench(Settings(threshold_tokens=NEVER, output_dir=None)) as bench:
        high = _answered(bench.call(offloaded[0]))
        shown = largest_result(bench, offloaded[0])
    if high.outcome == "inline":
        known = [*filed, *(corpus() if lab.seeding.on else ())]
        is_text = shown.outcome == "inline" and any(is_shown(memory, shown.text) for memory in known)
        found.inline = "records" if high.records is not None else "text" if is_text else "unknown"
    return high.outcome == "inline"


def _cleaning(lab: Lab, name: str, threshold: int | None, ttl: int | None) -> Cleaning | None:
    """A cleanup of back-dated files, among them one of half and one of twice the age `TTL`; None if none were planted.

    *ttl* is the TTL that is set; if it is None, the server's own default applies.
    """
    with lab.bench(Settings(threshold_tokens=threshold, ttl_seconds=ttl)) as bench, _while_it_runs(bench):
        return clean(bench, TTL, (TTL // 2, 2 * TTL), lambda: bench.call(name))


def _deleted_by_age(cleaning: Cleaning | None) -> tuple[bool, bool] | None:
    """True for each of the two back-dated files, the younger and the older, that was deleted; None if they were not
    planted."""
    planted = [p for p in cleaning.planted if p.age_s < DAY] if cleaning is not None else []
    return (planted[0].gone, planted[1].gone) if len(planted) > 1 else None


def _find_cleanup_and_events(lab: Lab, found: ProbeResult, report: Callable[[str], None]) -> None:
    """Find the trigger of cleanup and the channel of events."""
    lab.launcher.profile = found.profile
    first = next(n for n, c in found.calls.items() if c.outcome == "offloaded")
    threshold = 1 if "threshold_tokens" in found.settings else None
    if found.profile.cleanup is None and "output_dir" in found.settings:
        report("looking for what triggers cleanup")
        conventional = Cleanup(CLEANUP_TOOL, {"task": "offload_cleanup"})
        listed = any(t.get("name") == conventional.tool for t in found.tools)
        for way in ([conventional] if listed else []) + [Cleanup(next_offload=True), Cleanup(restart=True)]:
            lab.launcher.profile = replace(found.profile, cleanup=way)
            noted = _noted(found, "cleanup")
            with (
                suppress(NotObserved),
                noted,
                lab.bench(Settings(threshold_tokens=threshold)) as bench,
                _while_it_runs(bench),
            ):
                cleaning = clean(bench, None, (), lambda bench=bench: bench.call(first))
                if cleaning is not None and any(p.gone for p in cleaning.planted):
                    found.cleanup = way
                    break
    lab.launcher.profile = found.profile
    if "output_dir" in found.settings:
        report("looking for the channel of events")
        with suppress(NotObserved), lab.bench(Settings(threshold_tokens=threshold), prepare=_a_file) as bench:
            bench.call(first)
            channels = {e.partition(": ")[0] for e in bench.events("OffloadWriteFailed")}
            found.events = next((c for c in ("notifications", "stderr") if c in channels), None)


def _a_file(path: Path) -> None:
    path.write_bytes(b"in the way\n")


def _texts(profile: Profile, workspace: Workspace) -> str:
    """The words of the command, and its output with ``--help`` if there is any: both may name options."""
    from lro_conformance.profile import with_own_lro

    try:
        process = subprocess.run(
            [*with_own_lro(profile.server.command), "--help"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=HELP_S,
            check=False,
            cwd=profile.folder / profile.server.cwd,
            env={**os.environ, "TMPDIR": str(workspace.workdir("help"))},
        )
    except (OSError, subprocess.TimeoutExpired):
        return " ".join(profile.server.command)
    help = (process.stdout + process.stderr).decode("utf-8", "replace")
    return f"{' '.join(profile.server.command)}\n{help}"


def setting_ways(name: str, text: str) -> Iterator[Setting]:
    """Flags and variables in a text by which a setting may be set: first those whose names say so, then flags whose
    help does."""
    in_name = re.compile(_NAME_PATTERNS[name], re.IGNORECASE)
    in_help = re.compile(_HELP_PATTERNS[name], re.IGNORECASE)
    text = re.sub(r"--\[no-\]([\w-]+)", r"--\1 --no-\1", text)
    flags = re.findall(r"(?<![\w-])(--[a-z][\w-]+)((?:(?![\s\[]--[a-z]).)*)", text, re.DOTALL)
    for flag in dict.fromkeys(flag for flag, _ in flags if in_name.search(flag)):
        yield from _flag(name, flag)
    for variable in dict.fromkeys(re.findall(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b", text)):
        if in_name.search(variable):
            yield Setting(env=variable)
    for flag in dict.fromkeys(flag for flag, help in flags if in_help.search(help) and not in_name.search(flag)):
        yield from _flag(name, flag)


def _flag(name: str, flag: str) -> Iterator[Setting]:
    if name == "enabled" and re.match("--(no|disable|without)-", flag):
        yield Setting(arg_if_false=(flag,))
        return
    yield Setting(arg=(f"{flag}={{value}}",))
    yield Setting(arg=(flag, "{value}"))


__all__ = ["ProbeResult", "ServerTrouble", "probe", "setting_ways"]
