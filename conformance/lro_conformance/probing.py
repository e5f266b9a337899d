"""What a server says of itself when it is tried out: which tools do what, and where its settings go.

Nothing is stored in the server; it is started a few times, called, and made to clean up a folder of the suite's own.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, cast

from lro_conformance.calls import Call
from lro_conformance.judge import NotObserved
from lro_conformance.lab import NEVER, Lab, ServerTrouble, Settings
from lro_conformance.operations import Operation, introduced, sample_value
from lro_conformance.profile import Cleanup, Profile, Setting
from lro_conformance.profile import Operation as NamedOperation
from lro_conformance.records import as_record
from lro_conformance.refusals import lowest_bench
from lro_conformance.seeds import corpus
from lro_conformance.trials.cleanup import TTL, Cleaning, clean
from lro_conformance.trials.planting import DAY
from lro_conformance.wire import Run

SETTINGS = ("threshold_tokens", "output_dir", "enabled", "ttl_seconds")
"""In the order in which they are tried: each later one needs that something is offloaded."""

HELP_S = 5.0
"""How long ``COMMAND --help`` may take."""

_LIKE = {
    "threshold_tokens": r"THRESHOLD|INLINE[_-]?(?:TOKENS|LIMIT|MAX)|MAX[_-]?(?:INLINE|RESULT)|TOKEN[_-]?LIMIT",
    "output_dir": r"(?:OFFLOAD|OUT(?:PUT)?|RESULTS?|SPILL|LRO|FILES?|TE?MP)[_-]?(?:DIR|PATH|FOLDER)",
    "enabled": r"OFFLOAD(?:ING)?[_-]?(?:ENABLED?|ON)|ENABLE[_-]?(?:OFFLOAD|LRO)|LRO[_-]?(?:ENABLED?|ON)\b"
    r"|(?:OFFLOAD(?:ING)?|\bLRO)(?![A-Z_-])|\b(?:NO|DISABLE)-(?:SPILL|FILES?)",
    "ttl_seconds": r"TTL|EXPIR|RETENTION|MAX[_-]?AGE|LIFETIME",
}
"""What a flag or a variable for each setting is likely to have in its name."""

_TOLD = {
    "threshold_tokens": r"\btokens\b",
    "output_dir": r"\b(?:folder|directory|where\b.*\bfiles?)\b",
    "enabled": r"\boffload",
    "ttl_seconds": r"\bseconds\b|\bexpire|\bhow long\b",
}
"""What its help is likely to say of a flag that is called otherwise."""

MOST_WAYS = 8
"""How many ways are tried for one setting: each takes a start or two."""

_FIELDS = {
    "id": ("id", "memory_id"),
    "title": ("title", "name", "subject", "heading"),
    "content": ("content", "text", "body", "note", "value", "observation", "message"),
    "namespace": ("namespace", "category", "scope", "project", "collection"),
    "memory_type": ("memory_type", "type", "kind"),
    "tags": ("tags", "labels", "keywords"),
    "created": ("created", "created_at", "timestamp"),
    "entities": ("entities",),
    "provenance": ("provenance",),
    "extensions": ("extensions", "metadata"),
}
"""Under which names a tool may take the fields of a memory."""

_WHOLE = ("memory", "record", "entry", "item", "object", "memories", "records", "entries", "items")
"""Under which it may take all of it."""

_STORING = re.compile(
    r"(store|add|create|save|write|remember|insert|capture)_?(memory|memories|note|record|entry)?", re.I
)


@dataclass
class Probed:
    """What was found; what was not is None, False or empty."""

    profile: Profile
    """As it would certify: the command, and the settings that took effect."""
    name: str = ""
    version: str = ""
    protocol: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    operations: Mapping[str, Operation] = field(default_factory=dict[str, Operation])
    calls: Mapping[str, Call] = field(default_factory=dict[str, Call])
    """One call of each operation at the lowest threshold that could be set."""
    settings: dict[str, Setting] = field(default_factory=dict[str, Setting])
    """Those that were seen to take effect."""
    cleanup: Cleanup | None = None
    events: str | None = None
    """The channel on which an event was seen."""
    storing: Mapping[str, Any] | None = None
    """The tool that seems to store memories."""
    words: str = ""
    """What the server says of itself and of its tools."""
    inline_found: bool | None = None
    """Whether records could be found in an inline result; None when none was seen."""

    @property
    def offloads(self) -> bool:
        """Whether anything was offloaded."""
        return any(c.outcome == "offloaded" for c in self.calls.values())


def probe(profile: Profile, tell: Callable[[str], None], tools: Mapping[str, str] | None = None) -> Probed:
    """Try a server out. *tell* is called with each thing that is about to be tried.

    *tools* names the tools of operations that their names do not give away. Raises `ServerTrouble` when the server does
    not start or does not answer, and `NoSuchTool` when it lists none of that name.
    """
    with Run() as run:
        lab = Lab(profile, run, lambda event: None, seed=0)
        try:
            tell("starting it with the documented variables")
            found = _first(lab, profile)
            if tools:
                known = {**found.operations, **introduced(tools, found.tools)}
                profile = replace(profile, operations={name: _as_written(o) for name, o in known.items()})
                lab = lab.another(profile)
                found = _first(lab, profile)
            if found.operations:
                _settings(lab, found, tell)
            if found.offloads:
                _rest(lab, found, tell)
        finally:
            lab.close()
        return found


def _first(lab: Lab, profile: Profile) -> Probed:
    with lowest_bench(lab, Settings(threshold_tokens=1)) as bench:
        calls = {name: bench.call(name) for name in bench.operations}
        made = Probed(profile, tools=bench.tools, operations=bench.operations, calls=calls)
        info = bench.server.server_info
        made.name, made.version = str(info.get("name", "")), str(info.get("version", ""))
        made.protocol = bench.server.protocol_version or ""
        made.words = json.dumps([lab.handshakes.opened, *made.tools])
        made.storing = next((t for t in made.tools if _STORING.search(str(t.get("name")))), None)
        return made


def _as_written(o: Operation) -> NamedOperation:
    return NamedOperation(o.tool, o.arguments, query=o.query, limit=o.limit, detail=o.detail, budget=o.budget)


def _settings(lab: Lab, found: Probed, tell: Callable[[str], None]) -> None:
    """Find the way of each setting: the documented one, or else one that its help or instructions name."""
    usual, texts = dict(found.profile.settings), None
    known: dict[str, Setting | None] = dict.fromkeys(SETTINGS)
    for name in SETTINGS:
        tell(f"looking where {name} goes")
        ways = [w for w in (usual.get(name),) if w is not None]
        for documented in (True, False):
            if not documented:
                texts = texts if texts is not None else f"{_texts(found.profile)}\n{found.words}"
                ways = list(islice(ways_in(name, texts), MOST_WAYS))
            way = next((w for w in ways if _takes_effect(lab, found, name, {**known, name: w})), None)
            if way is not None:
                known[name] = found.settings[name] = way
                break
        if name == "threshold_tokens" and not found.offloads:
            break  # all the others are seen by what is offloaded
    found.profile = replace(found.profile, settings=known)


def _takes_effect(lab: Lab, found: Probed, name: str, settings: dict[str, Setting | None]) -> bool:
    lab.profile = replace(found.profile, settings=settings)
    first = next((n for n, c in found.calls.items() if c.outcome == "offloaded"), next(iter(found.operations)))
    threshold = 1 if settings["threshold_tokens"] is not None else None
    own = "{own}" if settings["output_dir"] is not None else None
    with suppress(NotObserved):
        if name == "threshold_tokens":
            return _threshold(lab, found)
        if name == "ttl_seconds":
            return _ages(_cleaning(lab, first, threshold)) == (False, True)
        enabled = False if name == "enabled" else None
        with lab.bench(Settings(threshold_tokens=threshold, output_dir=own, enabled=enabled)) as bench:
            call = bench.call(first)
        if name == "enabled":
            return call.outcome == "inline" and found.calls[first].outcome == "offloaded"
        real = call.file.real if call.file is not None else None
        return real is not None and call.real_output_dir is not None and Path(real).is_relative_to(call.real_output_dir)
    return False


def _threshold(lab: Lab, found: Probed) -> bool:
    """Whether a threshold of 1, or the lowest that the server takes, offloads what one of a billion does not."""
    with lowest_bench(lab, Settings(threshold_tokens=1, output_dir=None)) as bench:
        low = {name: bench.call(name) for name in bench.operations}
    offloaded = [n for n, c in low.items() if c.outcome == "offloaded"]
    if not offloaded:
        return False
    found.calls = low
    with lab.bench(Settings(threshold_tokens=NEVER, output_dir=None)) as bench:
        high = bench.call(offloaded[0])
    if high.outcome == "inline":
        found.inline_found = high.records is not None
    return high.outcome == "inline"


def _cleaning(lab: Lab, name: str, threshold: int | None) -> Cleaning | None:
    with lab.bench(Settings(threshold_tokens=threshold, ttl_seconds=TTL)) as bench:
        return clean(bench, TTL, (TTL // 2, 2 * TTL), lambda: bench.call(name))


def _ages(cleaning: Cleaning | None) -> tuple[bool, bool] | None:
    """Whether the younger and the older of two back-dated files went."""
    planted = [p for p in cleaning.planted if p.age_s < DAY] if cleaning is not None else []
    return (planted[0].gone, planted[1].gone) if len(planted) > 1 else None


def _rest(lab: Lab, found: Probed, tell: Callable[[str], None]) -> None:
    """What sets cleanup off, and where events are seen."""
    lab.profile = found.profile
    first = next(n for n, c in found.calls.items() if c.outcome == "offloaded")
    threshold = 1 if "threshold_tokens" in found.settings else None
    if found.profile.cleanup is None and "output_dir" in found.settings:
        tell("looking what sets cleanup off")
        conventional = Cleanup("run_custodial_task", {"task": "offload_cleanup"})
        listed = any(t.get("name") == conventional.tool for t in found.tools)
        for way in ([conventional] if listed else []) + [Cleanup(restart=True)]:
            lab.profile = replace(found.profile, cleanup=way)
            with suppress(NotObserved), lab.bench(Settings(threshold_tokens=threshold)) as bench:
                cleaning = clean(bench, None, (), lambda bench=bench: bench.call(first))
                if cleaning is not None and any(p.gone for p in cleaning.planted):
                    found.cleanup = way
                    break
    lab.profile = found.profile
    if "output_dir" in found.settings:
        tell("looking where events are seen")
        with suppress(NotObserved), lab.bench(Settings(threshold_tokens=threshold), prepare=_a_file) as bench:
            bench.call(first)
            said = {e.partition(": ")[0] for e in bench.events("OffloadWriteFailed")}
            found.events = next((c for c in ("notifications", "stderr") if c in said), None)


def _a_file(path: Path) -> None:
    path.write_bytes(b"in the way\n")


def _texts(profile: Profile) -> str:
    """What the command says with ``--help``."""
    from lro_conformance.profile import own_lro

    try:
        done = subprocess.run(
            [*own_lro(profile.server.command), "--help"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=HELP_S,
            check=False,
            cwd=profile.folder / profile.server.cwd,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def ways_in(name: str, text: str) -> Iterator[Setting]:
    """Flags and variables in a text that look like those of a setting; last come flags of which it is only said."""
    named, told = re.compile(_LIKE[name], re.IGNORECASE), re.compile(_TOLD[name], re.IGNORECASE)
    text = re.sub(r"--\[no-\]([\w-]+)", r"--\1 --no-\1", text)
    flags = re.findall(r"(?<![\w-])(--[a-z][\w-]+)((?:(?![\s\[]--[a-z]).)*)", text, re.DOTALL)
    for flag in dict.fromkeys(flag for flag, _ in flags if named.search(flag)):
        yield from _flag(name, flag)
    for variable in dict.fromkeys(re.findall(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b", text)):
        if named.search(variable):
            yield Setting(env=variable)
    for flag in dict.fromkeys(flag for flag, said in flags if told.search(said) and not named.search(flag)):
        yield from _flag(name, flag)


def _flag(name: str, flag: str) -> Iterator[Setting]:
    if name == "enabled" and re.match("--(no|disable|without)-", flag):
        yield Setting(arg_if_false=(flag,))
        return
    yield Setting(arg=(f"{flag}={{value}}",))
    yield Setting(arg=(flag, "{value}"))


def _takes(schema: object, field: str) -> bool:
    """Whether an argument could hold this field of every memory of the suite's."""
    node = as_record(schema)
    if "enum" in node:
        options = cast("list[Any]", node["enum"]) if isinstance(node["enum"], list) else []
        return field == "memory_type" and all(m[field] in options for m in corpus())
    return not (field in ("tags", "entities", "provenance", "extensions") and node.get("type") == "string")


def memory_arguments(tool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Arguments for a tool that stores a memory: the whole object, or the fields that it has by names like theirs.

    What else it requires gets a value of its type. None where nothing in its schema could hold a memory's text.
    """
    schema = as_record(tool.get("inputSchema"))
    properties = as_record(schema.get("properties"))
    if not properties:
        return {"memory": "$memory"}
    kinds = {name: as_record(node).get("type") for name, node in properties.items()}
    made: dict[str, Any] = {}
    whole = next((n for n in properties if n in _WHOLE), None)
    if whole is not None:
        text, many = kinds[whole] == "string", kinds[whole] == "array"
        made[whole] = "$memory.content" if text else ["$memory"] if many else "$memory"
    if whole is None or kinds[whole] == "string":
        for name, known in _FIELDS.items():
            there = next((n for n in known if n in properties and n not in made), None)
            if there is not None and _takes(properties[there], name):
                made[there] = f"$memory.{name}"
    if not {"$memory", "$memory.content"} & set(map(str, made.values())) and ["$memory"] not in made.values():
        return None
    required: object = schema.get("required")
    for name in cast("list[Any]", required) if isinstance(required, list) else []:
        if isinstance(name, str) and name not in made:
            made[name] = sample_value(properties.get(name, {}))
    return made


__all__ = ["Probed", "ServerTrouble", "memory_arguments", "probe", "ways_in"]
