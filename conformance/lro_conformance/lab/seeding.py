"""Stores the suite's own memories in servers that hold too little, by the tool that the profile names (``seed``).

A memory is a record of a server. The suite's own memories are the `corpus`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, cast

from lro_conformance.capture.corpus import ABSENT, Memory, corpus, value_of, various_memories
from lro_conformance.capture.records import is_blank, mentions_any, show, strings_in, text_of
from lro_conformance.lab.operations import (
    alternatives,
    enumeration_of,
    may_have_format,
    plain_name,
    properties_of,
    required_of,
    sample_value,
    types_of,
)
from lro_conformance.lab.queries import is_enough, largest_result, replace_poor_queries
from lro_conformance.profile import Seed
from lro_conformance.profile.reader import memory_placeholders
from lro_conformance.wire.reply import Reply
from lro_conformance.wire.shortage import Shortage
from lro_spec.display import counted

if TYPE_CHECKING:
    from lro_conformance.capture.call import Call
    from lro_conformance.lab.bench import Bench


def reason_not_to_store(seed: Seed | None) -> str | None:
    """Return the reason why the suite cannot store memories while a server runs; None if it can."""
    if seed is None:
        return "the suite cannot store memories (profile: seed)"
    if seed.tool is not None:
        return None
    way = "seed.env" if seed.env is not None else "seed.command"
    return (
        f"{way} gives the server memories before it starts, but this experiment needs further memories while it runs "
        "(profile: seed.tool)"
    )


_MAX_SEARCHED_CHARACTERS = 1_000_000
"""The suite's memories are looked for in this many characters at the beginning of a result."""

_MAX_UNSEARCHED_MEMORIES = 500
"""Maximum number of stored memories that are remembered, so that they can be looked for in another process."""

_ARGUMENT_NAMES_BY_FIELD: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "memory_id"),
    "title": ("title", "name", "subject", "heading"),
    "content": ("content", "text", "body", "note", "notes", "value", "observation", "message"),
    "memory_type": ("memory_type", "type", "kind", "category"),
    "namespace": ("namespace", "scope", "project", "collection", "folder", "notebook", "category"),
    "tags": ("tags", "labels", "keywords"),
    "created": ("created", "created_at", "timestamp", "date"),
    "modified": ("modified", "modified_at", "updated", "updated_at"),
    "status": ("status",),
    "summary": ("summary", "abstract"),
    "entities": ("entities",),
    "embedding": ("embedding", "vector"),
    "relationships": ("relationships", "relations"),
    "wiki_links": ("wiki_links",),
    "provenance": ("provenance",),
    "provenance.confidence": ("confidence", "certainty"),
    "provenance.source_type": ("source_type",),
    "temporal": ("temporal",),
    "extensions": ("extensions", "metadata"),
    "blocks": ("blocks",),
    "citations": ("citations",),
}
"""For each field of a memory, the usual names of arguments for it, the most usual name first. If a name belongs to two
fields, the argument is used for the first of the two fields that it accepts and for which the tool has no argument with
a more usual name."""

_MEMORY_ARGUMENT_NAMES = ("memory", "record", "entry", "item", "object", "memories", "records", "entries", "items")
"""Usual names of arguments for a complete memory, or for a list of memories."""


def memory_arguments(tool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return arguments for a tool that stores a memory: one argument for the complete memory, or arguments with usual
    names for its fields. Returns None if no argument could accept the text of a memory.

    The values are placeholders: ``$memory`` for the memory, and ``$memory.FIELD`` for one of its fields. Other required
    arguments get a value of their type.
    """
    properties, required = properties_of(tool), required_of(tool)
    if not properties:
        return {"memory": "$memory"}
    kinds = {name: node.get("type") for name, node in properties.items()}
    arguments: dict[str, Any] = {}
    names_for_memory = (
        *_MEMORY_ARGUMENT_NAMES,
        *(n for n in _ARGUMENT_NAMES_BY_FIELD["content"] if kinds.get(n) == "object"),
    )
    memory_argument = next((n for n in properties if n in names_for_memory), None)
    if memory_argument is not None:
        is_text, is_list = kinds[memory_argument] == "string", kinds[memory_argument] == "array"
        arguments[memory_argument] = "$memory.content" if is_text else ["$memory"] if is_list else "$memory"
    if memory_argument is None or kinds[memory_argument] == "string":
        for name, field in _fields_by_argument(properties, arguments):
            if name not in required or all(value_of(field, m) is not ABSENT for m in corpus()):
                arguments[name] = f"$memory.{field}"
    if not {"$memory", "$memory.content"} & {*memory_placeholders(arguments)}:
        return None
    return {**arguments, **{n: sample_value(properties.get(n, {})) for n in required if n not in arguments}}


def fields_left_out(seed: Seed | None, tools: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield remarks on fields of a memory that the profile leaves out, although the seed's tool has arguments for them.

    For arguments with usual names, a remark names the fields to add, or says why a confidence cannot be given. If a
    field of `SUMMARISED_FIELDS` is not given to any argument, a remark names the arguments with unusual names that
    could accept this field. If the title is not given to any argument, there is a remark on each required argument that
    could be the title and gets the same sample value for every memory.
    """
    if (
        seed is None
        or seed.tool is None
        or (tool := next((t for t in tools if t.get("name") == seed.tool), None)) is None
    ):
        return
    used_fields = {word.removeprefix("$memory").removeprefix(".") for word in memory_placeholders(seed.arguments)}
    unused_arguments = {name: node for name, node in properties_of(tool).items() if name not in seed.arguments}
    missing_fields = {
        name: field
        for name, field in _fields_by_argument(unused_arguments, ())
        if not {"", field, field.partition(".")[0]} & used_fields
    }
    if missing_fields:
        added = ", ".join(f"{name}: $memory.{field}" for name, field in missing_fields.items())
        yield (
            f"the seed leaves out fields of a memory that {seed.tool} accepts, so fewer checks apply: add {added} "
            "(profile: seed.arguments)"
        )
    for name, scale in _other_scales(unused_arguments):
        yield (
            f"the seed gives {seed.tool} no {name}, because its scale is {scale}, but the confidence of a memory is a "
            "number from 0 to 1"
        )
    usual = {plain_name(n) for names in (*_ARGUMENT_NAMES_BY_FIELD.values(), _OTHER_ARGUMENT_NAMES) for n in names}
    properties = properties_of(tool)
    samples = {n: node for n, node in properties.items() if n in required_of(tool) and _is_sample(n, node, seed)}
    unknown = {n: node for n, node in {**samples, **unused_arguments}.items() if plain_name(n) not in usual}
    for field in SUMMARISED_FIELDS:
        takers = [name for name, node in unknown.items() if _names_a_type(node) and _accepts(node, field)]
        if takers and not {"", field, field.partition(".")[0]} & {*used_fields, *missing_fields.values()}:
            which = takers[0] if len(takers) == 1 else f"one of {', '.join(takers)}"
            yield (
                f"the seed gives {seed.tool} no {field.rpartition('.')[2]}, so fewer checks apply: if {which} stands "
                f"for it, add {takers[0] if len(takers) == 1 else 'NAME'}: $memory.{field} (profile: seed.arguments)"
            )
    if not {"", "title"} & {*used_fields, *missing_fields.values()}:
        for name in (n for n, node in samples.items() if n in unknown and _accepts(node, "title")):
            yield (
                f"the seed gives each memory the same {name}, {show(seed.arguments[name])}: if it stands for a title, "
                f"set {name}: $memory.title (profile: seed.arguments)"
            )


def _other_scales(properties: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the arguments for a confidence whose scale is not 0 to 1, each with its scale."""
    names = {plain_name(n) for n in _ARGUMENT_NAMES_BY_FIELD["provenance.confidence"]}
    for name, node in properties.items():
        kinds = {kind for one in alternatives(node) for kind in types_of(one)}
        if plain_name(name) in names and kinds & {"number", "integer"} and (scale := other_scale(node)) is not None:
            yield name, scale


def _is_sample(name: str, schema: Mapping[str, Any], seed: Seed) -> bool:
    return name in seed.arguments and seed.arguments[name] == sample_value(schema)


def arguments_without_value(seed: Seed | None, tools: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the optional arguments of the seed's tool that get no value. Arguments for a confidence on another scale
    than 0 to 1 are left out. The result is empty if the tool is given a complete memory."""
    tool = next((t for t in tools if seed is not None and t.get("name") == seed.tool), None)
    if seed is None or tool is None or "$memory" in memory_placeholders(seed.arguments):
        return []
    properties = properties_of(tool)
    others = {*seed.arguments, *required_of(tool), *dict(_other_scales(properties))}
    return [name for name in properties if name not in others]


_OTHER_ARGUMENT_NAMES = (
    "author",
    "creator",
    "owner",
    "user",
    "user_id",
    "by",
    "url",
    "link",
    "source",
    "language",
    "locale",
)
"""Usual names of arguments that do not correspond to a field of a memory."""

SUMMARISED_FIELDS = ("namespace", "provenance.confidence")
"""Fields whose values are used in summaries. If these values do not vary, a wrong summary can look right."""


SELECTING_FIELDS = ("namespace", "memory_type", "tags", "status")
"""Fields by which memories are usually selected."""


def filters(tool: Mapping[str, Any], records: Sequence[Mapping[str, Any]], taken: Collection[str]) -> dict[str, Any]:
    """Return the optional arguments of a tool that select memories by a field, each with the value of one of the
    *records*.

    *taken* are the names of arguments that are known to mean something else.
    """
    required = required_of(tool)
    found: dict[str, Any] = {}
    for name, field in _fields_by_argument(properties_of(tool), taken):
        value = next((v for r in records if not is_blank(v := r.get(field))), None)
        if field in SELECTING_FIELDS and name not in required and value is not None:
            found[name] = cast("list[Any]", value)[:1] if isinstance(value, list) else value
    return found


def _fields_by_argument(properties: Mapping[str, Any], taken: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each argument that has a usual name of a field and accepts this field, with the field. Arguments in *taken*
    are left out."""
    names_by_plain_name = {plain_name(name): name for name in properties if name not in taken}
    for field, names in _ARGUMENT_NAMES_BY_FIELD.items():
        name = next((names_by_plain_name[plain_name(n)] for n in names if plain_name(n) in names_by_plain_name), None)
        if name is not None and _accepts(properties[name], field):
            del names_by_plain_name[plain_name(name)]
            yield name, field


def _accepts(schema: Mapping[str, Any], field: str) -> bool:
    """Return whether an argument accepts this field of all memories of the suite."""
    if (field == "provenance.confidence" and other_scale(schema)) or (field in _TIME_FIELDS and _takes_days(schema)):
        return False
    values = [v for m in (*corpus(), *various_memories()) if (v := value_of(field, m)) is not ABSENT]
    options = enumeration_of(schema)
    if options is not None:
        return all(v in options for v in values)
    nodes = alternatives(schema)
    typed_nodes = [node for node in nodes if types_of(node)]
    return all(any(_admits(node, v) for node in typed_nodes or nodes) for v in values)


_TIME_FIELDS = ("created", "modified")


def _takes_days(schema: Mapping[str, Any]) -> bool:
    """True if the description of an argument asks for a date without a time: it has YYYY-MM-DD, but no hours follow."""
    return re.search(r"\bY{4}-?MM-?DD(?![\sT]*T?HH)", str(schema.get("description")), re.IGNORECASE) is not None


def other_scale(schema: Mapping[str, Any]) -> str | None:
    """Return the scale of the numbers that an argument accepts, by its schema or description. Returns None if the scale
    may be 0 to 1."""
    for node in alternatives(schema):
        maximum, minimum = (node.get(n, node.get(f"exclusive{n.title()}")) for n in ("maximum", "minimum"))
        low, high = (v if isinstance(v, int | float) else None for v in (minimum, maximum))
        if (high is not None and high != 1) or (low is not None and low > 0):
            return f"{show(low or 0)} to {show(high)}" if high is not None else f"{show(low)} or more"
        if high == 1:
            return None
    description = str(schema.get("description"))
    if (span := _RANGE.search(description)) is not None:
        return f"{span['low']} to {span['high']}" if float(span["high"]) > 1 else None
    return "per cent" if re.search(r"%|\bper ?cent", description, re.IGNORECASE) else None


_RANGE = re.compile(
    r"(?<![\w.-])(?P<low>[01](\.0+)?)\s*(?:to|and|-|–|—|\.{2,3}|…)\s*(?P<high>\d{1,4}(\.\d+)?)(?![\w-])"
)
"""Matches a range of numbers that begins at 0 or 1, such as "0 to 100", in the description of an argument."""


def _names_a_type(schema: Mapping[str, Any]) -> bool:
    return any(types_of(node) for node in alternatives(schema))


def _admits(schema: Mapping[str, Any], value: object) -> bool:
    """Return whether a schema admits a value, by its types and its format. Unions in the schema are ignored."""
    if isinstance(value, str) and not may_have_format(value, schema):
        return False
    kinds = types_of(schema)
    return not kinds or all(kind in kinds for types, kind in _JSON_TYPES if isinstance(value, types))


_JSON_TYPES: tuple[tuple[Any, str], ...] = (
    (str, "string"),
    ((int, float), "number"),
    (list, "array"),
    (dict, "object"),
)
"""The Python types of values in memories, each with its JSON type."""


MAX_SEARCH_S = 2.0
"""If memories are not found at first, they are looked for again until this many seconds after the last memory was
stored."""

MIN_LAG_S = 1.0
"""If a server does not find memories immediately, the suite waits at least this many seconds after it has stored a
memory. The server's index may be rebuilt at intervals, such as every second. Then some memories are found later than
others."""

_POLL_S = 0.1


class Seeding:
    """Stores the suite's memories in the servers of one profile."""

    def __init__(self, remark: Callable[[str], None]) -> None:
        self._remark = remark
        self.is_on = False
        """True if the suite's memories are stored in every server that starts."""
        self.refusal_reason: str | None = None
        """The reason why a memory was refused last, as a remark for the report; None if all memories were accepted."""
        self.not_found_remark: str | None = None
        """A remark for the report, with advice, if the stored memories were not found by any call. None if a call found
        one of them, or if no memories were stored."""
        self._unsearched: list[Memory] = []
        """Stored memories that have not been looked for in another process yet."""
        self._first_searched = False
        """True if the first process was searched for memories of an earlier run."""
        self._others_searched = False
        """True if memories that were stored in one process were looked for in another process, which was given no
        memories."""

    def note_stored(self, bench: Bench, memory: Memory, others: Iterable[Bench]) -> None:
        """Note a memory that a process has accepted. Also look for the noted memories in one of the *others* that was
        given no memories, unless such a search was made before (see `refuse_shared_data`)."""
        if self._others_searched or len(self._unsearched) >= _MAX_UNSEARCHED_MEMORIES:
            return
        self._unsearched.append(memory)
        for other in others:
            if other is not bench and other.server.alive and not other.state_changing_requests:
                self.refuse_shared_data(other)
                return

    def refuse_shared_data(self, bench: Bench) -> None:
        """Raise `Shortage` if a process that was given no memories finds memories that were stored in another process.

        Such processes share their data: servers that run at the same time find each other's memories, and the user's
        own data are mixed with the suite's data. The first process is searched for memories of an earlier run. After
        memories were stored, one further process is searched for them.
        """
        seed, stored = bench.profile.seed, tuple(self._unsearched)
        if seed is None or seed.tool is None or not bench.operations or self._others_searched:
            return
        if self._first_searched and not stored:
            return
        self._first_searched, self._others_searched = True, bool(stored)
        operations = bench.operations
        name = next((n for n, o in operations.items() if stored and o.query is not None), next(iter(operations)))
        queries = [None] if not stored or operations[name].query is None else [_words_of(stored[0]), None]
        if not any(_finds(largest_result(bench, name, query), stored or corpus(), bench) for query in queries):
            return
        if bench.state_changing_requests:  # another trial has stored memories in this process meanwhile
            self._others_searched = False
            return
        raise Shortage(
            f"server processes share their data: {operations[name].tool} of one process finds memories that "
            f"{seed.tool} stored in another, so that results of two processes cannot be compared: let each process "
            "keep its data in a directory of its own, {workdir} (profile: server.command or server.env), and remove "
            f"{_what_to_remove(stored)} from where the server keeps its data now"
        )

    def is_wanted(self, bench: Bench) -> bool:
        """Return whether the profile names a seed tool and the server has too few memories to exceed the default
        threshold."""
        seed = bench.profile.seed
        if seed is None or seed.tool is None or not bench.operations:
            return False
        return not is_enough(bench, largest_result(bench, next(iter(bench.operations))))

    def begin(self, bench: Bench, another: Callable[[], AbstractContextManager[Bench]]) -> list[str]:
        """Store the suite's memories in this server. If the server accepts at least one, they are also stored in every
        server that is started later.

        If the profile does not give each process a directory of its own, the first memory is looked for in *another*
        process before the others are stored, so that the data of a user are mixed with one memory at most. Raises
        `Shortage` if it is found there.

        If the server finds a memory only some time after it was stored, later calls wait for that time. Returns a
        remark for each operation for which no query finds anything. Returns no remarks if the memories are not found by
        any operation, because `not_found_remark` is the remark on that.
        """
        first, *others = corpus()
        stored = self._stored(bench, [first])
        if stored and not bench.profile.server.names_workdir:
            with another():  # which looks for the memory when it is opened (`refuse_shared_data`)
                self._others_searched = False  # a server may write its data to a disk some time later
        stored += self._stored(bench, others) if stored else []
        self.is_on = bool(stored)
        remarks = replace_poor_queries(bench)
        if stored:
            self._measure_lag(bench, stored)
            if bench.ledger.finding_lag_s:
                remarks = replace_poor_queries(bench)
        return remarks if self.not_found_remark is None else []  # `not_found_remark` is about all operations

    def fill(self, bench: Bench) -> None:
        """Store the suite's memories, until one is refused."""
        self._stored(bench, corpus())

    def _stored(self, bench: Bench, memories: Iterable[Memory]) -> list[Memory]:
        """Store *memories*, until one is refused. Returns those that were accepted."""
        stored: list[Memory] = []
        for memory in memories:
            reply = bench.store(memory)
            bench.corpus_requests = len(bench.state_changing_requests)
            if not self.is_stored(bench, reply):
                break
            stored.append(memory)
        return stored

    def _measure_lag(self, bench: Bench, stored: Sequence[Memory]) -> None:
        """Look for one of the last stored memories by each operation. If it is not found, look for it repeatedly, for
        up to `MAX_SEARCH_S` seconds. Note how long it took until it was found, or that the memories are not found by
        any operation."""
        stored_at = bench.stored_at
        seekers = [_Seeker(bench, name, stored) for name in bench.operations]
        unsuccessful = [s for s in seekers if not s.needs_no_wait()]
        lag_s = 0.0
        while unsuccessful and bench.server.alive and time.monotonic() - stored_at < MAX_SEARCH_S:
            bench.pause(_POLL_S)
            still_unsuccessful = [s for s in unsuccessful if not s.finds_now()]
            if len(still_unsuccessful) < len(unsuccessful):
                lag_s = time.monotonic() - stored_at
            unsuccessful = still_unsuccessful
        tool = bench.profile.seed.tool if bench.profile.seed is not None else None
        if lag_s:
            bench.ledger.finding_lag_s = max(MIN_LAG_S, 2 * lag_s)
            self._remark(
                f"a memory is found only {lag_s:.1f} s after {tool} stored it, so the suite waits "
                f"{bench.ledger.finding_lag_s:.1f} s after it has stored a memory before it calls a tool"
            )
        elif seekers and len(unsuccessful) == len(seekers) and not any(s.found_any for s in unsuccessful):
            calls = ", ".join(s.calls[0].label for s in unsuccessful)
            self.not_found_remark = (
                f"{tool} accepted {counted(len(stored), 'memory')} of the suite, but within {MAX_SEARCH_S:g} s none "
                f"was found by {calls}: if the tools need other arguments, name them (profile: operations); if the "
                f"server needs longer, let {tool} answer only once the memory can be found, or give the server the "
                "memories before it starts (profile: seed.command or seed.env)"
            )
            self._remark(self.not_found_remark)

    def fill_again(self, bench: Bench) -> None:
        """Store the suite's memories again if they were lost when the server was restarted."""
        if self.is_on and not self._holds_any(bench):
            self.fill(bench)

    def _holds_any(self, bench: Bench) -> bool:
        """Return whether a server finds at least one of the suite's memories."""
        for name, operation in bench.operations.items():
            for query in (None, _words_of(corpus()[0])) if operation.query is not None else (None,):
                if _finds(largest_result(bench, name, query), corpus(), bench):
                    return True
        return False

    def is_stored(self, bench: Bench, reply: Reply | None) -> bool:
        """Return whether the server accepted a memory. If it refused the memory, add a remark to the report."""
        result: object = reply.result if reply is not None else None
        answer = cast("dict[str, Any]", result) if isinstance(result, dict) else None
        if reply is None or (answer is not None and answer.get("isError") is not True):
            return answer is not None
        seed = bench.profile.seed
        tool = seed.tool if seed is not None else None
        if reply.failure is not None:
            self.refusal_reason = f"seeding failed: {tool} did not answer: {reply.failure.detail}"
        else:
            answer_text = show(reply.error or text_of(answer) or "no answer", 300)
            self.refusal_reason = (
                f"seeding failed: {tool} did not accept a memory of the suite (profile: seed): {answer_text}"
            )
        self._remark(self.refusal_reason)
        return False


def _what_to_remove(stored: Sequence[Memory]) -> str:
    """A description of memories that the suite has stored in the data of a user."""
    if not stored:
        return "the suite's memories of an earlier run"
    if len(stored) == 1:
        return f"the suite's memory {show(_words_of(stored[0]))}"
    return f"the suite's {len(stored)} memories, the first of which is {show(_words_of(stored[0]))},"


class _Seeker:
    """Looks for stored memories by one operation. If the operation has a query, but no token budget, single memories
    are looked for by their titles. Any of the suite's memories are looked for by a call with the usual query."""

    def __init__(self, bench: Bench, name: str, stored: Sequence[Memory]) -> None:
        self._bench, self._name = bench, name
        self._first, self._last = stored[0], stored[-2:][0]  # not the very last memory, because its title is unusual
        operation = bench.operations[name]
        # with a budget, the result may be cut, and may lack even the memory that fits the query best
        self._has_query = operation.query is not None and operation.budget is None
        self._finds_first = False
        self.calls: list[Call] = []
        """The calls that were made by the last search."""
        self.found_any = False
        """True if any of the suite's memories was found so far."""

    def needs_no_wait(self) -> bool:
        """True if the last memory is found. Also true if other memories are found, and the last memory may be missing
        because of the limit, or because the operation does not find memories by their titles."""
        self.calls = []
        if self._has_query:
            if self._finds(self._last):
                return True
            is_cut = (call := self.calls[0]).limit is None or len(call.file_records or call.records or ()) >= call.limit
            self._finds_first = self._finds(self._first)
            if self._finds_first:
                return is_cut
        return self._shows_any()

    def finds_now(self) -> bool:
        """True if a memory that was not found before is found now."""
        self.calls = []
        if self._has_query and self._finds(self._last):
            return True
        return not self._finds_first and self._shows_any()

    def _finds(self, memory: Memory) -> bool:
        return self._shows(largest_result(self._bench, self._name, _words_of(memory)), [memory])

    def _shows_any(self) -> bool:
        return self._shows(largest_result(self._bench, self._name), corpus())

    def _shows(self, call: Call, memories: Sequence[Memory]) -> bool:
        self.calls.append(call)
        found = _finds(call, memories, self._bench)
        self.found_any |= found
        return found


def _finds(call: Call, memories: Sequence[Memory], bench: Bench) -> bool:
    """Return whether a call has found one of these memories. It does not count if the answer only repeats the query."""
    text = _text_of(call)
    if not mentions_any(text, memories):
        return False
    query = call.query or ""
    if not query or mentions_any(
        text, [{k: v for k, v in m.items() if not mentions_any(query, [{k: v}])} for m in memories]
    ):
        return True
    # The words of the query in reverse order find the same memories, but do not occur in any of them. So an answer that
    # has the reversed words repeats its query.
    reversed_query = " ".join(reversed(query.split()))
    answer = largest_result(bench, call.operation, reversed_query)
    return not mentions_any(_text_of(answer), [{"title": reversed_query}])


def _words_of(memory: Memory) -> str:
    """Return a query that finds a memory: the beginning of its title or, if the title is empty, of its content."""
    return str(memory.get("title") or memory.get("content"))[:60]


def _text_of(call: Call) -> str:
    return "\n".join([call.text, *strings_in(call.file_records)])[:_MAX_SEARCHED_CHARACTERS]
