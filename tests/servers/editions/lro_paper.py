"""Servers of the paper's edition."""

from __future__ import annotations

import os

from tests.servers.editions.catalogue import fault, sound
from tests.servers.plain import RECIPES, Call, Server, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tests.servers.plain import Record

EDITION = "lro-paper"
UNNAMED = "settings: {enabled: null}\n"
"""The paper has no setting that switches LRO off."""


@sound(EDITION)
class plain_paper(Server):
    """The plain server with the paper's names and default."""

    prefix = "lro"

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        return super().read_settings({"ATLATL_PROMPT__OFFLOAD__THRESHOLD_TOKENS": "1600", **env})


@sound(EDITION, profile=UNNAMED, warns=("LRO-GUI-01",))
class says_no_more_than_the_paper(plain_paper):
    """An unmarked header without query; a descriptor without flag, guidance and level; a failed write in silence."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        return super().read_settings({**env, "ATLATL_PROMPT__OFFLOAD__ENABLED": ""})

    def header(self, call: Call) -> Record:
        return {k: v for k, v in super().header(call).items() if k not in ("type", "query")}

    def summary(self, call: Call) -> Record:
        summary = super().summary(call)
        del summary["detail"]
        counts: dict[str, int] = {}
        for record in call.records:
            counts[record["namespace"]] = counts.get(record["namespace"], 0) + 1
        summary["top_namespaces"] = [
            {"namespace": n, "count": c} for n, c in sorted(counts.items(), key=lambda item: -item[1])
        ]
        return summary

    def descriptor(self, call: Call, path: str) -> Record:
        value = super().descriptor(call, path)
        del value["offloaded"], value["guidance"]
        return value

    def guidance(self, path: str, summary: Record) -> str:
        return ""

    def output_schema(self) -> Record:
        return {"type": "object"}

    def truncated(self, call: Call, warning: str) -> Record:
        return self.structured(self.inline_value(call))

    def emit(self, event: str, level: str, **data: Any) -> None:
        if event == "OffloadFileExpired":
            super().emit("file-removed", level, **data)


@sound(EDITION)
class finds_other_defaults_for_details(plain_paper):
    """A recall without a level is medium, an injection full: the paper gives no defaults."""

    def default_detail(self, operation: str) -> str:
        return "full" if operation == "inject" else "medium"


@sound(EDITION)
class lists_seven_namespaces(plain_paper):
    """The summary has all namespaces: the paper's k is no number."""

    def top_namespaces(self, records: Sequence[Record]) -> list[str]:
        counts: dict[str, int] = {}
        for record in records:
            counts[record["namespace"]] = counts.get(record["namespace"], 0) + 1
        return sorted(counts, key=lambda namespace: -counts[namespace])


@sound(EDITION)
class lists_five_recipes_of_its_own(plain_paper):
    """Beside the five recipes that the paper shows there are five of the server's making."""

    def programs(self) -> Sequence[tuple[str, str]]:
        own = [(f"Field {n}", f"jq '.{n}'") for n in ("id", "title", "tags", "status", "created")]
        return [*(RECIPES[i] for i in (0, 1, 2, 7, 8)), *own]

    def guidance(self, path: str, summary: Record) -> str:
        return f"{summary['count']} memories were written to {path}; the jq recipes can be used on it."


@sound(EDITION)
class leads_to_its_extraction_tool(plain_paper):
    """The guidance names lro_extract beside the recipes, one of which has a field called now."""

    def tools(self) -> list[Record]:
        return [*super().tools(), self.tool("lro_extract", "Read a file", {"file_path": {"type": "string"}})]

    def guidance(self, path: str, summary: Record) -> str:
        return f"{super().guidance(path, summary)}\nWithout a shell, lro_extract reads the file."

    def programs(self) -> Sequence[tuple[str, str]]:
        return [*super().programs(), ("What is on now", "jq '{now: .status, at: \"now\"} | .now'")]


@sound(EDITION, warns=("LRO-ERR-02",))
class truncates_to_nine_tenths(plain_paper):
    """A failed write leaves nine tenths of a result, whatever the threshold: the paper gives no amount."""

    def fitting(self, call: Call) -> int:
        return max(0, min(len(call.lines) - 1, len(call.lines) * 9 // 10))


@fault(EDITION, "LRO-ERR-07", says="fewer than", proves=2, also=("LRO-ERR-02",))
class returns_everything_when_writing_fails(plain_paper):
    """A result that cannot be written comes inline, all of it."""

    def fitting(self, call: Call) -> int:
        return len(call.lines)


@fault(EDITION, "LRO-REC-21", says="clock", proves=1)
class asks_for_the_last_hour(plain_paper):
    """A recipe beside the ten looks for memories of the last hour."""

    def programs(self) -> Sequence[tuple[str, str]]:
        return [*super().programs(), ("Of the last hour", "jq 'select((.created | fromdate) > now - 3600)'")]


@fault(EDITION, "LRO-GUI-06", says="lro_extract", proves=3)
class guides_past_its_extraction_tool(plain_paper):
    """The server lists lro_extract, and its guidance knows jq alone."""

    def tools(self) -> list[Record]:
        return [*super().tools(), self.tool("lro_extract", "Read a file", {"file_path": {"type": "string"}})]


@fault(EDITION, "LRO-NAME-02", says="lro-{operation}", proves=0)
class keeps_the_specifications_prefix(plain_paper):
    """Files are called atlatl-…"""

    def file_name(self, call: Call) -> str:
        return f"atlatl-{call.operation}-{self.ulid()}.jsonl"

    def matches(self, name: str) -> bool:
        return super().matches(name) or (name.startswith("atlatl-") and name.endswith(".jsonl"))


@fault(EDITION, "LRO-THR-01", says="threshold 1600", proves=0)
class keeps_the_specifications_default(plain_paper):
    """The default threshold is 6400."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        return Server.read_settings(self, env)


@fault(EDITION, "LRO-IMPL-03", says="inline", proves=0)
class offloads_nothing(plain_paper):
    """Every result comes inline, which no level of the paper allows."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return False


@fault(EDITION, "LRO-DESC-01", says="summary", proves=0, also=("LRO-GUI-05",))
class is_a_bare_pointer(plain_paper):
    """The descriptor has a path, a schema and recipes, and no summary."""

    def descriptor(self, call: Call, path: str) -> Record:
        return {**super().descriptor(call, path), "summary": None}


@fault(EDITION, "LRO-DESC-06", says="counted", proves=0)
class miscounts_the_distribution(plain_paper):
    """The distribution of namespaces is off by one."""

    def summary(self, call: Call) -> Record:
        summary = super().summary(call)
        counts = [sum(r["namespace"] == n for r in call.records) for n in summary["top_namespaces"]]
        summary["top_namespaces"] = {n: c + 1 for n, c in zip(summary["top_namespaces"], counts, strict=True)}
        return summary


@fault(EDITION, "LRO-DESC-14", says="line_schema", proves=1)
class has_no_line_schema(plain_paper):
    """The descriptor does not describe a line."""

    def descriptor(self, call: Call, path: str) -> Record:
        value = super().descriptor(call, path)
        del value["line_schema"]
        return value


@fault(EDITION, "LRO-REC-13", says="at least 10", proves=1)
class shows_five_recipes(plain_paper):
    """The five that the paper shows, and no others."""

    def programs(self) -> Sequence[tuple[str, str]]:
        return [RECIPES[i] for i in (0, 1, 2, 7, 8)]

    def guidance(self, path: str, summary: Record) -> str:
        return f"{summary['count']} memories were written to {path}; the jq recipes can be used on it."


@fault(EDITION, "LRO-FILE-02", says="line 1", proves=0, also=("LRO-FILE-01",))
class starts_with_a_record(plain_paper):
    """The header is nowhere."""

    def file_lines(self, call: Call) -> list[str]:
        return list(call.lines)


@fault(EDITION, "LRO-CLN-05", says="event", proves=2)
class removes_files_in_silence(plain_paper):
    """Nothing is said of a file that expired."""

    def expired(self, path: str) -> None:
        pass


@fault(EDITION, "LRO-CLN-04", says="40 days old, is deleted", proves=2, also=("LRO-CLN-02",))
class remembers_its_own_files_only(plain_paper):
    """Files of an earlier process are never deleted."""

    written: tuple[str, ...] = ()

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        self.written = (*self.written, path)
        return path

    def candidates(self) -> list[str]:
        return [path for path in self.written if os.path.exists(path)]


@fault(EDITION, "LRO-GUI-01", says="guidance is empty", proves=3)
class guides_nobody(plain_paper):
    """The guidance is an empty text."""

    def guidance(self, path: str, summary: Record) -> str:
        return ""
