"""Probing a server: its operations, how it takes settings, what triggers its cleanup, and where its events appear.

The server is started a few times and called. Memories, which are the records of a server, are stored in it only if the
tool that stores them is named. This tool with its arguments is the *seed*. The server's cleanup is triggered only while
its output directory is a temporary one.
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

from lro_conformance.analysis.prose import text_contains_memory
from lro_conformance.capture.call import Call
from lro_conformance.capture.corpus import corpus
from lro_conformance.capture.records import is_blank
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.bench import CLEANUP_TOOL, Bench
from lro_conformance.lab.errors import ServerTrouble, describe
from lro_conformance.lab.lab import Lab
from lro_conformance.lab.operations import OPERATIONS, Operation, levels_of, listed_tool, operations_of, storing_tools
from lro_conformance.lab.queries import found_nothing, largest_result, replace_poor_queries
from lro_conformance.lab.seeding import arguments_without_value, fields_left_out, memory_arguments
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import MAX_THRESHOLD
from lro_conformance.profile import Cleanup, Client, DetailValue, Profile, Seed, Setting
from lro_conformance.profile import Operation as NamedOperation
from lro_conformance.trials.cleanup import FALLBACK_TTL_S, Cleaning, clean
from lro_conformance.trials.decoys import DAY
from lro_conformance.trials.folders import FALLBACK_CLIENT_NAME
from lro_conformance.wire.interrupt import interruptible
from lro_conformance.wire.reply import Failure
from lro_conformance.wire.workspace import Workspace
from lro_spec.editions import DETAILS

SETTINGS = ("threshold_tokens", "output_dir", "enabled", "ttl_seconds")
"""Settings in the order of probing. The effect of the settings after the first one can be observed only if something is
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
"""For each setting, a pattern that matches part of the name of a flag or variable that may set it."""

_HELP_PATTERNS = {
    "threshold_tokens": r"\btokens\b",
    "output_dir": r"\b(?:folder|directory|where\b.*\bfiles?)\b",
    "enabled": r"\boffload",
    "ttl_seconds": r"\bseconds\b|\bexpire|\bhow long\b",
}
"""For each setting, a pattern that matches part of the help of a flag that may set it although its name does not say
so."""

MAX_WAYS = 8
"""Largest number of undocumented ways that are tried for a setting. Each usually takes one or two starts of the
server."""


@dataclass
class ProbeResult:
    """Findings about a server. A field is None or empty if nothing was found for it."""

    profile: Profile
    """The profile with which the server was probed. Once settings have been tried, it has the settings that took
    effect."""
    name: str = ""
    version: str = ""
    protocol: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    operations: Mapping[str, Operation] = field(default_factory=dict[str, Operation])
    calls: Mapping[str, Call] = field(default_factory=dict[str, Call])
    """One call of each operation at the lowest threshold that could be set."""
    recognised_queries: list[str] = field(default_factory=list[str])
    """Names of the operations whose argument for the query has an unusual name and was recognised by its effect."""
    settings: dict[str, Setting] = field(default_factory=dict[str, Setting])
    """Settings that were seen to take effect."""
    cleanup: Cleanup | None = None
    events: str | None = None
    """Channel on which an event was observed."""
    storing_tool: Mapping[str, Any] | None = None
    """The tool that seems to store memories."""
    description: str = ""
    """The server's description of itself and of its tools."""
    operations_without_results: Sequence[str] = ()
    """Names of the operations that found nothing by any query."""
    inline_form: Literal["records", "text", "unknown"] | None = None
    """The form of a result that was offloaded at the lowest threshold and inline at the highest one: ``records`` if
    the suite found records in it; ``text`` if its text shows the title and content of a memory that is known from a
    file or was stored by the suite; otherwise ``unknown``. None if no result was seen in both ways."""
    unfound_message: str | None = None
    """A message with advice, if memories were stored and no call found any of them. None if a call found one of them,
    or if no memories were stored."""
    failed_attempts: dict[str, str] = field(default_factory=dict[str, str])
    """Reasons why something could not be tried to the end: the server did not start, ended, or gave no answer. The key
    is the name of a setting, ``cleanup``, or an argument such as ``search.query``. The key ``seed`` has the reason why
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
    def stated_operations(self) -> Mapping[str, str]:
        """The operations of the profile whose descriptors state another operation, which the profile does not have:
        that other operation, by the operation's own name."""
        stated = {
            name: call.summary.get("operation") for name, call in self.calls.items() if call.outcome == "offloaded"
        }
        return {n: s for n, s in stated.items() if s in OPERATIONS and s != n and s not in self.operations}

    @property
    def finds_nothing(self) -> bool:
        """True if no operation found anything by any query, so nothing could be offloaded."""
        return self.answers and len(self.operations_without_results) == len(self.operations) and not self.offloads

    @property
    def seed(self) -> Seed | None:
        """The seed in `profile`. If the profile has no seed, it is a seed to propose.

        None if there is nothing to propose: no tool seems to store memories, or no argument of this tool seems to take
        the text of a memory.
        """
        if self.profile.seed is not None or self.storing_tool is None:
            return self.profile.seed
        arguments = memory_arguments(self.storing_tool)
        return None if arguments is None else Seed(str(self.storing_tool.get("name")), arguments)

    @property
    def seed_remarks(self) -> Sequence[str]:
        """Remarks on fields of a memory that `seed` leaves out."""
        return [*fields_left_out(self.seed, self.tools)]

    @property
    def unset_seed_arguments(self) -> Sequence[str]:
        """Optional arguments of the tool of `seed` that get no value."""
        return arguments_without_value(self.seed, self.tools)

    @property
    def has_own_data(self) -> bool:
        """True if the profile gives each process a directory of its own for its data."""
        return self.profile.server.names_workdir


ToolChooser = Callable[[Sequence[Mapping[str, Any]]], Mapping[str, str]]
"""A function that chooses tools from those that a server lists, and returns the chosen names by operation."""


def probe(
    profile: Profile,
    report: Callable[[str], None],
    tools: Mapping[str, str] | None = None,
    choose: ToolChooser | None = None,
    seed: str | None = None,
) -> ProbeResult:
    """Probe a server; *report* is called with each step before it is taken.

    *tools* maps operations to the names of tools, for the operations whose tool is not recognised by its name. *choose*
    is called if *tools* is empty and no tool is recognised. *seed* is the name of a tool that stores memories: every
    process is then given the suite's memories. Raises `ServerTrouble` if the server does not start or does not respond,
    and `NoSuchTool` if it does not list a tool that is named by *tools* or *seed*.
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
                operations = {**found.operations, **operations_of(tools, found.tools)}
                profile = replace(profile, operations={name: _as_written(o) for name, o in operations.items()})
                lab = lab.for_profile(profile)
                found = _observations(lab, profile, [name for name in found.recognised_queries if name not in tools])
            if seed is not None:
                report(f"storing the suite's memories by {seed}")
                lab, found = _seeded(lab, found, seed)
            if not found.answers:
                return found
            if not found.offloads and profile.client.name is None:
                report(f"starting the server once more as the client {FALLBACK_CLIENT_NAME}")
                lab_as_client = lab.for_profile(replace(found.profile, client=Client(FALLBACK_CLIENT_NAME)))
                lab_as_client.seed_like(lab)
                found_as_client = _observations(lab_as_client, lab_as_client.profile, found.recognised_queries)
                lab, found = (lab_as_client, found_as_client) if found_as_client.offloads else (lab, found)
            if not found.finds_nothing:
                _find_settings(lab, found, report)
            if found.offloads:
                _find_cleanup_and_events(lab, found, report)
        finally:
            lab.close()
        return found


def _observations(lab: Lab, profile: Profile, recognised_queries: Sequence[str] = ()) -> ProbeResult:
    """Findings about a new server of a lab, apart from settings, cleanup and events.

    *recognised_queries* has the names of operations whose argument for the query was already recognised by its effect.
    """
    with lab.lowest_bench(_lowest_threshold(lab)) as bench:
        replace_poor_queries(bench)
        calls = {name: bench.call(name) for name in bench.operations}
        result = ProbeResult(profile, tools=bench.tools, calls=calls)
        found_before = [name for name in recognised_queries if bench.operations[name].query is not None]
        for name, operation in bench.operations.items():
            if operation.possible_query is not None and _is_query(bench, result, operation, operation.possible_query):
                bench.operations[name] = operation.with_query(operation.possible_query)
                result.recognised_queries.append(name)
        if result.recognised_queries:
            replace_poor_queries(bench)
            calls |= {name: bench.call(name) for name in result.recognised_queries}
        result.recognised_queries += found_before
        result.operations = {n: _with_levels(bench, result, operation) for n, operation in bench.operations.items()}
        result.operations_without_results = [name for name, call in calls.items() if found_nothing(call)]
        info = bench.server.server_info
        result.name, result.version = str(info.get("name", "")), str(info.get("version", ""))
        result.protocol = bench.server.protocol_version or ""
        result.description = json.dumps([lab.launcher.handshakes.opened, *result.tools])
        candidates = storing_tools(result.tools)
        takes_text = (t for t in candidates if memory_arguments(t) is not None)
        result.storing_tool = next(takes_text, next(iter(candidates), None))
        return result


@contextmanager
def _experiment(bench: Bench, found: ProbeResult, name: str) -> Generator[None]:
    """A context for an attempt that may end the server.

    If the server ends or gives no answer, the attempt is over, the reason is noted in `failed_attempts` under *name*,
    and the server is restarted.
    """
    with suppress(NotObserved), _failure_noted(found, name), _server_keeps_running(bench):
        yield
    if name in found.failed_attempts:
        with suppress(NotObserved), _failure_noted(found, name):
            bench.restart()


def _is_query(bench: Bench, found: ProbeResult, operation: Operation, argument: str) -> bool:
    """True if *argument* is the query, judging by its effect.

    A call whose *argument* is a word that is in no memory then finds less than the usual calls before and after it.
    """
    usual_call = found.calls[operation.name]
    if found_nothing(usual_call):
        return False
    with _experiment(bench, found, f"{operation.name}.query"):
        unknown_word_call = _answered(bench.call(operation.name, arguments={argument: UNKNOWN_WORD}))
        if unknown_word_call.outcome in ("inline", "offloaded") and _finds_less(unknown_word_call, usual_call):
            return _finds_less(unknown_word_call, _answered(bench.call(operation.name)))
    return False


def _finds_less(call: Call, other_call: Call) -> bool:
    counts = [len(c.file_records or c.records or []) for c in (call, other_call)]
    return not found_nothing(other_call) and (found_nothing(call) or counts[0] < counts[1])


UNKNOWN_WORD = "zqxjvkwpzqxjvkwp"
"""A word that is in no memory."""


def _with_levels(bench: Bench, found: ProbeResult, operation: Operation) -> Operation:
    """Return the operation with the argument for its level of detail, if the fields of records show which value means
    which level. Otherwise return the operation unchanged."""
    for argument, values in operation.possible_details.items():
        with _experiment(bench, found, f"{operation.name}.detail"):
            fields = {value: _fields_with(bench, operation, {argument: value}) for value in values}
            levels = levels_by_fields(fields)
            if levels:
                return operation.with_levels(argument, levels)
    return operation


def _fields_with(bench: Bench, operation: Operation, arguments: Mapping[str, Any]) -> set[str]:
    """The fields that any record of a call with these arguments has, apart from empty fields."""
    call = _answered(bench.call(operation.name, limit=SAMPLE_RECORDS, arguments=arguments))
    records = call.file_records or call.records or []
    return {name for record in records for name, value in record.items() if not is_blank(value)}


def levels_by_fields(fields: Mapping[DetailValue, Collection[str]]) -> dict[str, DetailValue]:
    """Values of an argument by detail level, inferred from the *fields* that records have with each value.

    The values are ordered so that each value gives more fields than the value before. If the value before gives three
    fields or more, one of these fields, such as an excerpt, may be missing.

    Empty if there is no such order, if a value gives no fields, or if a value has the name of a level but gives the
    fields of another level.
    """
    ordered = sorted(fields, key=lambda value: len(fields[value]))
    levels = levels_of(ordered)
    is_nested = all(_gives_more(set(fields[a]), set(fields[b])) for a, b in pairwise(ordered))
    is_misnamed = any(value in DETAILS and value != level for level, value in levels.items())
    return levels if is_nested and fields[ordered[0]] and not is_misnamed else {}


def _gives_more(less: set[str], more: set[str]) -> bool:
    lost = less - more
    return len(more - less) > len(lost) and len(lost) <= min(1, len(less) // 3)


SAMPLE_RECORDS = 5
"""Number of records that a call asks for if it only has to show which fields records have."""


def _seeded(lab: Lab, found: ProbeResult, name: str) -> tuple[Lab, ProbeResult]:
    """A lab whose servers are all given the suite's memories by a tool, and findings about one of these servers.

    If no argument of the tool seems to take the text of a memory, or if the tool accepts no memory, returns the given
    lab and findings, with the reason in `failed_attempts`.
    """
    tool = listed_tool(name, found.tools)
    arguments = memory_arguments(tool)
    if arguments is None:
        found.storing_tool, found.failed_attempts["seed"] = (
            tool,
            "none of its arguments seems to take the text of a memory",
        )
        return lab, found
    profile = replace(found.profile, seed=Seed(name, arguments))
    seeded_lab = lab.for_profile(profile)
    with seeded_lab.lowest_bench(_lowest_threshold(seeded_lab)) as bench:
        seeded_lab.seeding.begin(bench, lambda: seeded_lab.bench(Settings()))
    if seeded_lab.seeding.is_on:
        seeded_found = _observations(seeded_lab, profile, found.recognised_queries)
        seeded_found.unfound_message = seeded_lab.seeding.not_found_remark
        return seeded_lab, seeded_found
    found.storing_tool, found.failed_attempts["seed"] = (
        tool,
        seeded_lab.seeding.refusal_reason or "it accepted no memory",
    )
    return lab, found


def _lowest_threshold(lab: Lab) -> Settings:
    return Settings(threshold_tokens=1 if lab.can_set("threshold_tokens") else None)


def _as_written(o: Operation) -> NamedOperation:
    return NamedOperation(
        o.tool, o.arguments, query=o.query, limit=o.limit, detail=o.detail, levels=o.levels, budget=o.budget
    )


def _find_settings(lab: Lab, found: ProbeResult, report: Callable[[str], None]) -> None:
    """Find a way to set each setting: the documented way, or a way that is named in the command, in its help, or in the
    descriptions that come from the server."""
    configured, searched_text = dict(found.profile.settings), None
    working: dict[str, Setting | None] = dict.fromkeys(SETTINGS)
    for name in SETTINGS:
        report(f"looking for the way to set {name}")
        ways = [w for w in (configured.get(name),) if w is not None]
        for documented in (True, False):
            if not documented:
                searched_text = (
                    searched_text
                    if searched_text is not None
                    else f"{_command_and_help(found.profile, lab.workspace)}\n{found.description}"
                )
                ways = list(islice(setting_ways(name, searched_text), MAX_WAYS))
            way = next((w for w in ways if _takes_effect(lab, found, name, {**working, name: w})), None)
            if way is not None:
                working[name] = found.settings[name] = way
                break
        if name == "threshold_tokens" and not found.offloads:
            break  # without offloading, the effect of the other settings cannot be observed
    found.profile = replace(found.profile, settings=working)


def _takes_effect(lab: Lab, found: ProbeResult, name: str, settings: dict[str, Setting | None]) -> bool:
    lab.launcher.profile = replace(found.profile, settings=settings)
    operation = next((n for n, c in found.calls.items() if c.outcome == "offloaded"), next(iter(found.operations)))
    threshold = 1 if settings["threshold_tokens"] is not None else None
    output_dir = "{own}" if settings["output_dir"] is not None else None
    with suppress(NotObserved), _failure_noted(found, name, settings[name]):
        if name == "threshold_tokens":
            return _threshold_takes_effect(lab, found)
        if name == "ttl_seconds":
            deleted = _deleted_by_age(_cleaning(lab, operation, threshold, FALLBACK_TTL_S))
            # A server that reads the value in a wrong unit deletes both files with the setting, and neither without it.
            without_setting = _cleaning(lab, operation, threshold, None) if deleted == (True, True) else None
            return deleted == (False, True) or _deleted_by_age(without_setting) == (False, False)
        enabled = False if name == "enabled" else None
        with lab.bench(Settings(threshold_tokens=threshold, output_dir=output_dir, enabled=enabled)) as bench:
            call = _answered(bench.call(operation))
        if name == "enabled":
            return call.outcome == "inline" and found.calls[operation].outcome == "offloaded"
        file_path = call.file.real_path if call.file is not None else None
        return (
            file_path is not None
            and call.real_output_dir is not None
            and Path(file_path).is_relative_to(call.real_output_dir)
        )
    return False


class _NoAnswer(ServerTrouble):
    """The server started, but it ended or gave no answer while something was tried, so the attempt proves nothing."""


@contextmanager
def _failure_noted(found: ProbeResult, name: str, way: Setting | None = None) -> Generator[None]:
    """A context that notes in `failed_attempts` that the server failed, and raises the error again.

    If the server does not start with a flag that was tried, nothing is noted, because the server may not have this
    flag.
    """
    try:
        yield
    except ServerTrouble as problem:
        if way is None or way.env is not None or isinstance(problem, _NoAnswer):
            found.failed_attempts.setdefault(name, str(problem))
        raise


def _answered(call: Call) -> Call:
    """The call, if it has an answer. Raises `_NoAnswer` with the reason if it has none."""
    if call.reply.failure is not None:
        raise _NoAnswer(f"{call.label}: {describe(call.reply.failure)}")
    return call


@contextmanager
def _server_keeps_running(bench: Bench) -> Generator[None]:
    """A context that raises `_NoAnswer` if the server ends within it, or cannot be started again."""
    try:
        yield
    except ServerTrouble as problem:
        raise _NoAnswer(str(problem)) from None
    server = bench.server
    if server.exit is not None:
        stderr = server.stderr.decode(errors="replace")
        raise _NoAnswer(describe(Failure("exited", f"the server {server.exit} meanwhile", server.exit, stderr)))


def _threshold_takes_effect(lab: Lab, found: ProbeResult) -> bool:
    """True if a result is offloaded at the lowest threshold that the server accepts, and inline at a billion tokens.

    Also sets `calls` if a result was offloaded at the lowest threshold, and `inline_form` if it was inline at a billion
    tokens.
    """
    with lab.lowest_bench(Settings(threshold_tokens=1, output_dir=None)) as bench:
        low_calls = {name: bench.call(name) for name in bench.operations}
        offloaded = [n for n, c in low_calls.items() if c.outcome == "offloaded"]
        offloaded_records = largest_result(bench, offloaded[0]).file_records if offloaded else []
    if not offloaded:
        for call in low_calls.values():
            _answered(call)
        return False
    found.calls = low_calls
    with lab.bench(Settings(threshold_tokens=MAX_THRESHOLD, output_dir=None)) as bench:
        high_call = _answered(bench.call(offloaded[0]))
        largest = largest_result(bench, offloaded[0])
    if high_call.outcome == "inline":
        known_memories = [*offloaded_records, *(corpus() if lab.seeding.is_on else ())]
        is_text = largest.outcome == "inline" and any(
            text_contains_memory(memory, largest.text) for memory in known_memories
        )
        found.inline_form = "records" if high_call.records is not None else "text" if is_text else "unknown"
    return high_call.outcome == "inline"


def _cleaning(lab: Lab, name: str, threshold: int | None, ttl: int | None) -> Cleaning | None:
    """A cleanup of back-dated files: one is half as old as `FALLBACK_TTL_S`, one twice as old. None if none were
    planted.

    *ttl* is the TTL that is set; if it is None, the server's own default applies.
    """
    with lab.bench(Settings(threshold_tokens=threshold, ttl_seconds=ttl)) as bench, _server_keeps_running(bench):
        return clean(bench, FALLBACK_TTL_S, (FALLBACK_TTL_S // 2, 2 * FALLBACK_TTL_S), lambda: bench.call(name))


def _deleted_by_age(cleaning: Cleaning | None) -> tuple[bool, bool] | None:
    """For the younger and for the older of the two back-dated files, whether it was deleted. None if they were not
    planted."""
    planted = [p for p in cleaning.planted if p.age_s < DAY] if cleaning is not None else []
    return (planted[0].gone, planted[1].gone) if len(planted) > 1 else None


def _find_cleanup_and_events(lab: Lab, found: ProbeResult, report: Callable[[str], None]) -> None:
    """Find the trigger of cleanup and the channel of events."""
    lab.launcher.profile = found.profile
    operation = next(n for n, c in found.calls.items() if c.outcome == "offloaded")
    threshold = 1 if "threshold_tokens" in found.settings else None
    if found.profile.cleanup is None and "output_dir" in found.settings:
        report("looking for what triggers cleanup")
        conventional = Cleanup(CLEANUP_TOOL, {"task": "offload_cleanup"})
        listed = any(t.get("name") == conventional.tool for t in found.tools)
        for way in ([conventional] if listed else []) + [Cleanup(next_offload=True), Cleanup(restart=True)]:
            lab.launcher.profile = replace(found.profile, cleanup=way)
            noted = _failure_noted(found, "cleanup")
            with (
                suppress(NotObserved),
                noted,
                lab.bench(Settings(threshold_tokens=threshold)) as bench,
                _server_keeps_running(bench),
            ):
                cleaning = clean(bench, None, (), lambda bench=bench: bench.call(operation))
                if cleaning is not None and any(p.gone for p in cleaning.planted):
                    found.cleanup = way
                    break
    lab.launcher.profile = found.profile
    if "output_dir" in found.settings:
        report("looking for the channel of events")
        with suppress(NotObserved), lab.bench(Settings(threshold_tokens=threshold), prepare=_block_with_file) as bench:
            bench.call(operation)
            channels = {e.partition(": ")[0] for e in bench.events("OffloadWriteFailed")}
            found.events = next((c for c in ("notifications", "stderr") if c in channels), None)


def _block_with_file(path: Path) -> None:
    path.write_bytes(b"in the way\n")


def _command_and_help(profile: Profile, workspace: Workspace) -> str:
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
    help says so."""
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
