"""The tools of the memory server, independent of any protocol: a name and arguments in, texts out.

A result is one text block of JSON. Only `inject_context` returns formatted text, unless the result is offloaded; if it
is truncated, a warning follows as a second block. There is no structured content, since none of the tools declares an
output schema: a descriptor and an inline result have different shapes, and a client would have to accept both under one
schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lro_reference.custodian import clean
from lro_reference.delegation import result_meta
from lro_reference.events import Emit
from lro_reference.interceptor import Inline, Offloaded, ResultSet, Truncated, intercept
from lro_reference.memory import model
from lro_reference.memory.store import Hit, Store
from lro_reference.results import Lines
from lro_reference.settings import Settings
from lro_reference.tool import Answer, BadCall, FileTools, Tool, check_arguments, find_tool, with_defaults
from lro_reference.writer import encode
from lro_spec.editions import DETAILS
from lro_spec.tokens import script_aware_estimate

EDITION = "lro-6400"
_BUDGET_TOKENS = 2000


def _retrieval_schema(default_detail: str, query: str, **more_properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": query},
            "limit": {"type": "integer", "minimum": 1, "description": "Maximum number of memories; default: all."},
            "detail": {
                "type": "string",
                "enum": list(DETAILS),
                "default": default_detail,
                "description": "light: no content; medium: content, summary, entities; full: everything stored.",
            },
            "namespace": {"type": "string", "description": "Only this namespace and those below it."},
            **more_properties,
        },
        "additionalProperties": False,
    }


_QUERY_HELP = "Words that a memory must contain; * or nothing for all memories"
TOOLS: tuple[Tool, ...] = (
    Tool("recall_memories", "Recall memories, newest first.", _retrieval_schema("light", f"{_QUERY_HELP}.")),
    Tool(
        "search_memories",
        "Search memories by full text, best match first.",
        _retrieval_schema("light", f"{_QUERY_HELP}."),
    ),
    Tool(
        "inject_context",
        "Memories as formatted text within a token budget, best match first, ready to be put into a prompt.",
        _retrieval_schema(
            "medium",
            f"{_QUERY_HELP}.",
            max_tokens={
                "type": "integer",
                "minimum": 1,
                "default": _BUDGET_TOKENS,
                "description": "Token budget of the formatted text.",
            },
        ),
    ),
    Tool(
        "store_memory",
        "Store a memory object and return its id. A memory of the same id is replaced.",
        {
            "type": "object",
            "properties": {
                "memory": {"type": "object", "description": "A MIF memory; additional fields are stored too."}
            },
            "required": ["memory"],
            "additionalProperties": False,
        },
        reads_only=False,
    ),
    Tool(
        "run_custodial_task",
        "Run a custodial task now. offload_cleanup deletes offloaded result files whose time to live has passed.",
        {
            "type": "object",
            "properties": {"task": {"type": "string", "enum": ["offload_cleanup"]}},
            "required": ["task"],
            "additionalProperties": False,
        },
        reads_only=False,
    ),
)
_OPERATIONS = {"recall_memories": "recall", "search_memories": "search", "inject_context": "inject"}


@dataclass(frozen=True, slots=True)
class Service:
    """A store, the settings under which it is served, and further tools if there are any."""

    store: Store
    settings: Settings
    toolbox: FileTools | None = None
    """Tools that read offloaded files."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """All tools, for `tools/list`."""
        return TOOLS if self.toolbox is None else (*TOOLS, *self.toolbox.tools)

    def call(self, name: str, arguments: Mapping[str, Any], emit: Emit, *, for_proxy: bool = False) -> Answer:
        """Call a tool. An invalid call returns an answer with ``is_error``.

        *for_proxy* is set if a proxy offloads for this server; then every result is inline.
        """
        try:
            tool = find_tool(name, self.tools)
            if self.toolbox is not None and name in self.toolbox:
                return self.toolbox.call(name, arguments)
            check_arguments(tool, arguments)
            if name == "store_memory":
                identity, replaced = self.store.add(arguments["memory"])
                return _json({"id": identity, "replaced": replaced})
            if name == "run_custodial_task":
                return self._clean(emit)
            return self._retrieve(_OPERATIONS[name], with_defaults(tool, arguments), emit, for_proxy)
        except (BadCall, model.InvalidMemory) as problem:
            return Answer((str(problem),), is_error=True)

    def _clean(self, emit: Emit) -> Answer:
        cleanup = clean(self.settings.folder, self.settings.ttl_seconds, emit, edition=EDITION)
        return _json({"task": "offload_cleanup", "deleted": len(cleanup.deleted), "failed": cleanup.failed})

    def _retrieve(self, operation: str, arguments: Mapping[str, Any], emit: Emit, for_proxy: bool) -> Answer:
        query, detail = arguments.get("query"), arguments["detail"]
        hits = self.store.find(
            query, namespace=arguments.get("namespace"), limit=arguments.get("limit"), ranked=operation != "recall"
        )
        records = [model.project(hit.memory, detail) for hit in hits]
        results = ResultSet(
            operation=operation,
            detail=detail,
            records=records,
            line_schema=model.line_schema(detail),
            schema_version=model.SCHEMA_VERSION,
            query=query,
            scores=_scores(hits) if operation == "search" else None,
        )
        if for_proxy:
            inject = operation == "inject"
            text = _context(records, arguments["max_tokens"]) if inject else _inline([encode(r) for r in records])
            return Answer((text,), meta=result_meta(results, with_records=inject))
        outcome = intercept(results, self.settings, emit, edition=EDITION)
        match outcome:
            case Offloaded(response):
                published = response if self.toolbox is None else self.toolbox.publish(response)
                return _json(published.to_dict())
            case Inline(lines):
                if operation == "inject":
                    return Answer((_context(records, arguments["max_tokens"]),))
                return Answer((_inline(lines),))
            case Truncated(lines, total, warning):
                if operation == "inject":
                    budget = min(arguments["max_tokens"], self.settings.threshold_tokens)
                    return Answer((format_context(records[: len(lines)], budget), warning))
                warning_json = encode(warning).decode()
                return Answer(
                    (f'{{"results":{_array(lines)},"count":{len(lines)},"total":{total},"warning":{warning_json}}}',)
                )


def format_context(records: Sequence[Mapping[str, Any]], max_tokens: int) -> str:
    """Memories as text of at most ``max_tokens`` estimated tokens.

    Memories are added in their order, each as a whole. A memory that does not fit any more is skipped.
    """
    sections: list[str] = []
    room = max_tokens
    for record in records:
        heading = f"## {record['title']} ({record['namespace']}, {record['created'][:10]})"
        section = f"{heading}\n{record['content']}".rstrip() + "\n\n"
        cost = script_aware_estimate(section)
        if cost <= room:
            sections.append(section)
            room -= cost
    return "".join(sections).rstrip()


def _context(records: Sequence[Mapping[str, Any]], max_tokens: int) -> str:
    if not records:
        return "No memories match."
    return format_context(records, max_tokens) or f"None of {len(records)} memories fits into {max_tokens} tokens."


def _scores(hits: Sequence[Hit]) -> list[float] | None:
    scores = [hit.score for hit in hits if hit.score is not None]
    return scores or None


def _inline(lines: Lines) -> str:
    return f'{{"results":{_array(lines)},"count":{len(lines)}}}'


def _array(lines: Lines) -> str:
    return f"[{b','.join(lines).decode()}]"


def _json(value: object) -> Answer:
    return Answer((encode(value).decode(),))
