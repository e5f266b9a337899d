"""Writing a commented ``lro.yaml`` for a probed server; comments with NOT FOUND say what is missing."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING, Any

from lro_conformance.capture.summary import result_summary
from lro_conformance.lab.bench import CLEANUP_TOOL
from lro_conformance.lab.operations import (
    OPERATIONS,
    TOOLS,
    Operation,
    flag_levels,
    hinted_tool,
    operations_of,
    properties_of,
    required_of,
    sample_value,
)
from lro_conformance.profile.model import Setting, default_settings
from lro_conformance.report.sanitize import one_line

if TYPE_CHECKING:
    from lro_conformance.init.probe import ProbeResult

SETTINGS = {
    "enabled": "switches offloading on and off",
    "threshold_tokens": "the size above which a result is offloaded",
    "ttl_seconds": "lifetime of a file",
    "output_dir": "directory of the files",
}
"""The meaning of each setting, for the comment next to it."""

PURPOSES = {
    "recall": "returns many memories",
    "search": "finds memories by words",
    "inject": "gathers memories for a prompt",
}
"""The purpose of each operation, for a reader who does not know its name."""

OUTPUT = Path("lro.yaml")
"""The file that is written unless another is named."""


def profile_text(found: ProbeResult, redact: Callable[[str], str] = str, output: Path = OUTPUT) -> str:
    """Text of the profile.

    *redact* removes secrets from text of the server. *output* is the path at which the profile will be written. A
    relative path starts from the working directory, in which the server was started.
    """
    return "\n".join([*_lines(found, redact, output), ""])


_NOT_FOUND = re.compile(r"^[^#\n]*# (?:Perhaps this stores memories\. )?NOT FOUND: ", re.MULTILINE)
"""The beginning of a comment on something that was not found. Only the beginning is matched, because an error of the
server, which is quoted in comments, may contain NOT FOUND, too."""


def count_not_found(text: str) -> int:
    """Number of NOT FOUND comments in a written profile."""
    return len(_NOT_FOUND.findall(text))


def init_command(found: ProbeResult, command: Sequence[str], output: Path, tools: Mapping[str, str]) -> str:
    """The shell command that runs `lro init` again and overwrites the profile. It names *tools*, and the tools that
    were named before."""
    operations, seed = found.profile.operations or {}, found.profile.seed
    named_before = {name: operation.tool for name, operation in operations.items() if operation is not None}
    if seed is not None and seed.tool is not None:
        named_before["seed"] = seed.tool
    options = [f" --tool {quote(f'{name}={one_line(tool, 200)}')}" for name, tool in {**named_before, **tools}.items()]
    target = "" if output == OUTPUT else f" -o {quote(str(output))}"
    return f"lro init --force{target}{''.join(options)} -- {join(command)}"


def _lines(found: ProbeResult, redact: Callable[[str], str], output: Path) -> Iterator[str]:
    profile = found.profile

    variables = [f"{name}={value}" for name, value in profile.server.env.items()]
    command = ["env", *variables, *profile.server.command] if variables else profile.server.command

    def repeat_command(tools: Mapping[str, str]) -> str:
        line = init_command(found, command, output, tools)
        is_presentable = redact(line) == line and line.isprintable() and len(line) < 400
        return line if is_presentable else init_command(found, ["COMMAND"], output, tools)

    title = " ".join(_safe(w) for w in (found.name, found.version) if w) or "an unnamed server"
    path = _safe(quote(str(output)))
    how = "in this directory" if output == OUTPUT else f"with `--profile {path}`"
    yield f"# Profile of {title} for `lro certify` {how}, written by `lro init`."
    yield f"# `lro validate {path}` checks it; `lro schema profile` describes every key."
    yield ""
    yield f"edition: {profile.edition}"
    yield "# level: 3                     # the level that you claim; `lro certify` exits 0 if it is proved or attested"
    yield ""
    yield "server:"
    yield f"  command: {_flow(profile.server.command)}"
    folder = os.path.relpath(Path.cwd(), output.absolute().parent)
    if folder != os.curdir:
        yield f"  cwd: {_flow(folder)}   # the directory in which the server is started, relative to that of this file"
    if profile.server.env:
        yield f"  env: {_flow(profile.server.env)}"
    else:
        yield '  # env: {MY_DATA: "{workdir}/data"}   # {workdir}: a new directory for each server process'
    yield ""
    yield from _client(found)
    yield from _settings(found)
    yield ""
    yield from _operations(found, redact, repeat_command)
    yield ""
    yield from _seed(found, repeat_command)
    yield ""
    yield from _cleanup(found)
    yield from _events(found)
    if found.inline_form not in (None, "records"):
        yield ""
        yield from _inline(found)


def _client(found: ProbeResult) -> Iterator[str]:
    client = found.profile.client
    if client.name is not None:
        yield f"client: {_flow({'name': client.name})}   # nothing was offloaded for a client with the suite's name"
        yield ""
    elif found.operations and not found.offloads:
        yield "# If the server offloads only for certain clients, name one of them:"
        yield "# client: {name: claude-code}"
        yield ""


def _settings(found: ProbeResult) -> Iterator[str]:
    if not found.settings:
        why = "nothing was offloaded" if found.operations else "no tool could be called"
        if found.finds_nothing:
            why = "not tried, as no call returned records"
        yield f"# NOT FOUND: how a setting reaches the server ({why})."
        for name in SETTINGS:
            yield from _failed_attempt(found, name, what=name)
        yield "# Without the key `settings`, these variables are set:"
        yield "# settings:"
        for name, way in default_settings(found.profile.edition).items():
            yield f"#   {name}: {_setting_value(way)}"
        yield '#   or {arg: "--threshold={value}"}, or {toml: KEY} with config_file; null if there is none'
        return
    yield "settings:                      # each was seen to take effect, unless it is null"
    for name, meaning in SETTINGS.items():
        way = found.settings.get(name)
        if way is not None:
            yield f"  {name}: {_setting_value(way)}   # {meaning}"
        else:
            switch = ', {arg_if_false: "--no-flag"}' if name == "enabled" else ""
            ways = f'{{env: NAME}}, {{arg: "--flag={{value}}"}}{switch} or {{toml: KEY}}'
            yield f"  {name}: null   # NOT FOUND: {meaning}; {ways}"
            yield from _failed_attempt(found, name, "    ")


def _operations(
    found: ProbeResult, redact: Callable[[str], str], repeat_command: Callable[[Mapping[str, str]], str]
) -> Iterator[str]:
    if not found.operations:
        yield "# NOT FOUND: which tool performs which operation. The server lists"
        names = [_safe(str(t.get("name"))) for t in found.tools]
        yield f"#   {', '.join(names) if names else 'no tools'}"
        if names:
            yield "# If you know, this command finds the rest; leave out operations that the server does not have:"
            yield f"#   {repeat_command(proposed_tools(found, OPERATIONS))}"
        yield "# operations:"
        for name in OPERATIONS:
            arguments = '{query: "*"}, query: query, limit: limit, detail: detail'
            yield f"#   {name}: {{tool: {TOOLS[name]}, arguments: {arguments}}}"
        return
    yield "operations:                    # tool, arguments of every call, and names of the other arguments"
    for name in OPERATIONS:
        operation = found.operations.get(name)
        if operation is None:
            yield f"  # NOT FOUND: a tool for {name}, which {PURPOSES[name]}; fine if the server has none"
            yield from _guessed_operation(found, name)
            continue
        call = found.calls.get(name)
        yield f"  {name}: {_entry(operation)}"
        if name in found.recognised_queries:
            effect = "is the query: a word that is in no memory found fewer memories, or none"
            yield f"    # {_safe(operation.query or '')} {effect}"
        missing = [key for key in ("query", "limit", "detail") if getattr(operation, key) is None]
        if missing:
            argument = operation.possible_query
            is_query = f"; if {_safe(argument)} is the query, add query: {_flow(argument)}" if argument else ""
            yield f"    # NOT FOUND: an argument for {', '.join(missing)}{is_query or '; fine if the tool takes none'}"
            yield from _failed_attempt(found, f"{name}.query", "    ", f"{_safe(argument or '')} as the query")
            yield from _failed_attempt(found, f"{name}.detail", "    ", "an argument for detail")
        if name in found.operations_without_results:
            seed_advice = "if the server holds none, see `seed`" if found.finds_nothing else "fine with a seed"
            yield f"    # NOT FOUND: arguments that find memories, as many as possible; {seed_advice}"
        if call is not None and call.outcome in ("error", "no answer"):
            yield f"    # the call returned no result: {_safe(redact(result_summary(call)), 300)}"
    missing = [name for name in OPERATIONS if name not in found.operations]
    other_tools = _other_tools(found)
    if missing and other_tools:
        pronoun = "that" if len(other_tools) == 1 else "one of them"
        yield f"  # The server also lists {_safe(', '.join(other_tools))}. If {pronoun} performs an operation, name it:"
        yield f"  #   {repeat_command(proposed_tools(found, missing))}"


def proposed_tools(found: ProbeResult, operations: Sequence[str]) -> dict[str, str]:
    """A tool for each of these operations: one whose name hints at the operation, or else NAME.

    If the server has only one tool and no operation was found, that tool is proposed for recall. Descriptions are
    ignored, because the description of a tool that stores memories may mention recalling them.
    """
    if len(found.tools) == 1 and not found.operations:
        return {"recall": str(found.tools[0].get("name"))}
    used, chosen = {o.tool for o in found.operations.values()}, dict[str, str]()
    named_only = [{"name": tool.get("name")} for tool in found.tools]
    for name in operations:
        tool = hinted_tool(name, named_only, {*used, *chosen.values()})
        chosen[name] = "NAME" if tool is None else str(tool.get("name"))
    return chosen


def _entry(operation: Operation) -> str:
    """The value of an operation in the profile."""
    entry: dict[str, Any] = {"tool": operation.tool, "arguments": dict(operation.arguments)}
    for key in ("query", "limit", "detail", "budget"):
        if (value := getattr(operation, key)) is not None:
            entry[key] = value
    if (
        (detail_argument := operation.detail) is not None
        and operation.levels
        and not _is_true_for_full(operation, detail_argument)
    ):
        entry["detail"] = {"argument": detail_argument, **operation.levels}
    return _flow(entry)


def _is_true_for_full(operation: Operation, detail: str) -> bool:
    """True if a profile needs only the name of the argument, and not its values by level. This holds for a boolean that
    is true for full detail, because the suite assumes this anyway (`flag_levels`)."""
    return operation.levels == flag_levels(detail) and operation.levels["full"] is True


def _guessed_operation(found: ProbeResult, name: str) -> Iterator[str]:
    """A comment with a tool that may perform an operation, if there is one; the reader has to decide."""
    tool = hinted_tool(name, found.tools, {o.tool for o in found.operations.values()})
    if tool is not None:
        guess = operations_of({name: str(tool.get("name"))}, found.tools)[name]
        yield f"  # {name}: {_entry(guess)}   # perhaps; not tried"


def _other_tools(found: ProbeResult) -> list[str]:
    """Names of the listed tools, apart from those that perform an operation or store memories for the suite."""
    seed = found.profile.seed
    used = {*(o.tool for o in found.operations.values()), seed.tool if seed is not None else None}
    return [name for t in found.tools if (name := str(t.get("name"))) not in used]


def _seed(found: ProbeResult, repeat_command: Callable[[Mapping[str, str]], str]) -> Iterator[str]:
    seed = found.profile.seed
    if seed is not None and seed.tool is not None:
        yield f"seed: {_flow({'tool': seed.tool, 'arguments': seed.arguments})}   # stores the memories of the suite"
        yield from _seed_remarks(found)
        if found.unfound_message is not None:
            yield f"# NOT FOUND: {_safe(found.unfound_message, 1_000)}"
        return
    if found.storing_tool is None:
        yield "# NOT FOUND: a tool that stores memories. Without `seed`, the suite uses the memories of the server."
        yield '# seed: {tool: store_memory, arguments: {memory: "$memory"}}   # or {env: NAME}, or {command: […]}'
        return
    tool, proposed = str(found.storing_tool.get("name")), found.seed
    if proposed is None:
        yield "# Perhaps this stores memories. NOT FOUND: which of its arguments takes the text of a memory."
        arguments = dict.fromkeys([*properties_of(found.storing_tool)][:1], "$memory.content")
        yield f"# seed: {_flow({'tool': tool, 'arguments': arguments})}   # or {{env: NAME}}, or {{command: […]}}"
        return
    if "seed" in found.failed_attempts:
        yield from _failed_attempt(found, "seed")
    elif found.has_own_data:
        yield "# Perhaps this stores memories; it was not called. If the server's data are in {workdir}, use it: more"
        yield "# requirements can then be observed."
    else:
        yield "# Perhaps this stores memories; it was not called, as it would write into the server's data. If each"
        yield "# process has its own data (in memory, or in {workdir} in `command` or `env` above), use it: more"
        yield "# requirements can then be observed."
    yield f"# seed: {_flow({'tool': tool, 'arguments': proposed.arguments})}"
    yield from _seed_remarks(found)
    if found.finds_nothing and "seed" not in found.failed_attempts:
        yield "# This command uses it, and tries again what was not found:"
        yield f"#   {repeat_command({'seed': tool})}"


def _seed_remarks(found: ProbeResult) -> Iterator[str]:
    """Remarks on what is left out by the seed in the profile or by the proposed seed: fields of a memory, and arguments
    of the tool."""
    yield from (f"# Note: {_safe(remark, 1_000)}" for remark in found.seed_remarks)
    if found.unset_seed_arguments:
        names = _safe(", ".join(found.unset_seed_arguments), 400)
        yield f'# No value for: {names}; if one stands for a field of a memory, add NAME: "$memory.FIELD"'


def _cleanup(found: ProbeResult) -> Iterator[str]:
    way = found.cleanup or found.profile.cleanup
    if way is None:
        listed = any(t.get("name") == CLEANUP_TOOL for t in found.tools)
        untried = _untried(found)
        tried = "" if untried else f"; {CLEANUP_TOOL + ', ' if listed else ''}the next offload and a restart were tried"
        yield f"# NOT FOUND: what makes the server delete expired files{untried or tried}."
        yield f"# Without the key, {f'{CLEANUP_TOOL} is called' if listed else 'the server is restarted'}. Other ways:"
        yield f"# {'' if tried else '{next_offload: true}, '}{{command: […]}}, {{wait_s: 5}}"
        yield from _failed_attempt(found, "cleanup")
        untried_tools = (t for t in found.tools if not (tried and t.get("name") == CLEANUP_TOOL))
        tool = next(
            (t for t in untried_tools if _CLEANUP_WORDS.search(f"{t.get('name')} {t.get('description')}")), None
        )
        if tool is None:
            yield "# cleanup: {wait_s: 5}"
            return
        properties = properties_of(tool)
        arguments = {name: sample_value(properties.get(name, {})) for name in required_of(tool)}
        yield "# Not tried, as it may delete other things:"
        yield f"# cleanup: {_flow({'tool': str(tool.get('name')), **({'arguments': arguments} if arguments else {})})}"
    elif way.tool is not None:
        yield f"cleanup: {_flow({'tool': way.tool, 'arguments': way.arguments})}"
    else:
        yield f"cleanup: {{{'next_offload' if way.next_offload else 'restart'}: true}}"


def _events(found: ProbeResult) -> Iterator[str]:
    if found.events is not None:
        yield f"events: {found.events}"
    else:
        untried = _untried(found) or "; a write that failed showed none"
        yield f"# NOT FOUND: where the server's events appear{untried}. Without"
        yield "# the key, an event that is not seen leaves level 3 unproved. Choose notifications, stderr,"
        yield "# {file_env: NAME} or none:"
        yield "# events: notifications"


def _inline(found: ProbeResult) -> Iterator[str]:
    """Comments on inline results in which no records were found."""
    if found.inline_form == "text":
        yield "# Inline results are a text without records. Files are compared with the memories whose title and"
        yield "# content the text shows. If it contains JSON, name the path of the records:"
    else:
        yield "# NOT FOUND: records in an inline result. If they are JSON, name their path. In Markdown or prose, the"
        yield "# suite recognises memories that show title and content as they were stored, best with a `seed`:"
    yield '# inline: {records: ".results"}'


def _untried(found: ProbeResult) -> str:
    """The reason why cleanup and events were not tried, in brackets. Empty if they were tried."""
    if not found.offloads:
        return " (not tried, as nothing was offloaded)"
    return "" if "output_dir" in found.settings else " (not tried without output_dir)"


def _failed_attempt(found: ProbeResult, name: str, indent: str = "", what: str = "this") -> Iterator[str]:
    """A comment with the reason why something could not be tried to the end, if there is one."""
    if name in found.failed_attempts:
        yield f"{indent}# When {what} was tried: {_safe(found.failed_attempts[name], 1_000)}"


def _setting_value(way: Setting | None) -> str:
    if way is None:
        return "null"
    if way.env is not None:
        return _flow({"env": way.env})
    for key in ("arg", "arg_if_true", "arg_if_false"):
        if words := getattr(way, key):
            return _flow({key: words[0] if len(words) == 1 else words})
    return _flow({"toml": way.toml})


def _flow(value: object) -> str:
    """A value in the flow style of YAML; strings are JSON strings."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_flow(str(k))}: {_flow(v)}" for k, v in value.items()) + "}"  # pyright: ignore
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(_flow, value)) + "]"  # pyright: ignore
    if (
        isinstance(value, str)
        and value.isascii()
        and value.replace("_", "").replace("-", "").isalnum()
        and value[0].isalpha()
    ):
        return value if value.lower() not in _YAML_WORDS else json.dumps(value)
    return json.dumps(value, ensure_ascii=True)


_CLEANUP_WORDS = re.compile(r"clean|housekeep|custod|expire|purge|prune|sweep", re.IGNORECASE)
"""Matches names and descriptions of tools that may delete expired files."""

_YAML_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
"""Words that YAML reads as something other than a string unless they are in quotes."""


def _safe(text: str, limit: int = 200) -> str:
    """Untrusted text for a comment: one line of at most *limit* characters, all of them printable."""
    return one_line("".join(c if c.isprintable() else " " for c in text), limit)
