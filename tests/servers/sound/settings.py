"""Settings, seeds, tools and arguments that go by other names."""

from __future__ import annotations

import os
import sys
import time

from tests.servers.fastjson import loads
from tests.servers.plain import BadArguments, Server, Settings
from tests.servers.sound.catalogue import sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tests.servers.plain import Call, Record

FLAGS = """\
settings:
  enabled: {arg: "--offload={value}"}
  threshold_tokens: {arg: "--threshold={value}"}
  ttl_seconds: {arg: "--ttl={value}"}
  output_dir: {arg: "--out={value}"}
"""


def as_environment(values: Mapping[str, Any]) -> dict[str, str]:
    """Settings by the names of the text, as the variables that the plain server reads."""
    return {
        f"ATLATL_PROMPT__OFFLOAD__{name.upper()}": str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in values.items()
    }


@sound("it fails a server that takes a threshold of 0 for none", warns=("LRO-CFG-02",))
class takes_zero_for_no_threshold(Server):
    """`value or default`."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        settings.threshold = settings.threshold or Settings.threshold
        return settings


@sound("it knows the documented variables only", profile=FLAGS, warns=("LRO-CFG-07",))
class is_set_by_flags(Server):
    def read_settings(self, env: Mapping[str, str]) -> Settings:
        names = {
            "--offload": "enabled",
            "--threshold": "threshold_tokens",
            "--ttl": "ttl_seconds",
            "--out": "output_dir",
        }
        given = [word.partition("=") for word in sys.argv]
        return super().read_settings(as_environment({names[flag]: v for flag, _, v in given if flag in names}))


SWITCH = """\
settings:
  enabled: {arg_if_false: --no-spill}
"""


@sound("it gives every setting a value", profile=SWITCH)
class is_switched_off_by_a_bare_flag(Server):
    def read_settings(self, env: Mapping[str, str]) -> Settings:
        strange = [word for word in sys.argv if "spill" in word and word != "--no-spill"]
        if strange:
            sys.exit(f"unknown argument: {strange[0]}")
        switch = "ATLATL_PROMPT__OFFLOAD__ENABLED"
        kept = {k: v for k, v in env.items() if k != switch}
        return super().read_settings({**kept, switch: "false"} if "--no-spill" in sys.argv else kept)


@sound("it expects a threshold that can be set", profile="settings: {threshold_tokens: null}\n", proves=0)
class has_a_threshold_that_nobody_can_set(Server):
    def read_settings(self, env: Mapping[str, str]) -> Settings:
        return super().read_settings({k: v for k, v in env.items() if not k.endswith("THRESHOLD_TOKENS")})

    def corpus(self) -> list[Record]:
        return [{**memory, "title": f"{memory['title']} {'and more ' * 70}"} for memory in super().corpus()]


TOML = """\
server:
  command: [{command}, "--config={workdir}/atlatl.toml"]
config_file: "{workdir}/atlatl.toml"
settings:
  enabled: {toml: prompt.offload.enabled}
  threshold_tokens: {toml: prompt.offload.threshold_tokens}
  ttl_seconds: {toml: prompt.offload.ttl_seconds}
  output_dir: {toml: prompt.offload.output_dir}
"""


@sound("it knows the documented variables only", profile=TOML)
class is_set_by_a_toml_file(Server):
    def read_settings(self, env: Mapping[str, str]) -> Settings:
        import tomllib

        paths = [word.removeprefix("--config=") for word in sys.argv if word.startswith("--config=")]
        if not paths or not os.path.exists(paths[0]):
            return super().read_settings({})
        with open(paths[0], "rb") as file:
            document = tomllib.load(file)
        return super().read_settings(as_environment(document.get("prompt", {}).get("offload", {})))


VARIABLES = """\
settings:
  enabled: {env: LRO_ON}
  threshold_tokens: {env: LRO_TOKENS}
  ttl_seconds: {env: LRO_TTL}
  output_dir: {env: LRO_DIR}
"""


@sound("it knows the documented variables only", profile=VARIABLES, warns=("LRO-CFG-07",))
class is_set_by_other_variables(Server):
    def read_settings(self, env: Mapping[str, str]) -> Settings:
        names = {
            "LRO_ON": "enabled",
            "LRO_TOKENS": "threshold_tokens",
            "LRO_TTL": "ttl_seconds",
            "LRO_DIR": "output_dir",
        }
        return super().read_settings(as_environment({names[k]: v for k, v in env.items() if k in names}))


@sound("it cannot give it memories by a tool", profile="seed: {env: SEED_FILE}\n")
class is_seeded_by_a_file(Server):
    def corpus(self) -> list[Record]:
        path = os.environ.get("SEED_FILE")
        if not path:
            return super().corpus()
        with open(path, encoding="utf-8") as file:
            return [self.completed(loads(line)) for line in file if line.strip()]

    def tools(self) -> list[Record]:
        return [tool for tool in super().tools() if tool["name"] != "store_memory"]


FIELDS = """\
seed:
  tool: store_memory
  arguments: {id: $memory.id, title: $memory.title, namespace: $memory.namespace, memory_type: $memory.memory_type,
              tags: $memory.tags, content: $memory.content, created: $memory.created, provenance: $memory.provenance,
              entities: $memory.entities, extensions: $memory.extensions}
"""


@sound("it hands a memory over as one object", profile=FIELDS)
class stores_memories_field_by_field(Server):
    def tools(self) -> list[Record]:
        tools = super().tools()
        tools[3]["inputSchema"] = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
        return tools

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        if name == "store_memory":
            arguments = {"memory": {k: v for k, v in arguments.items() if v is not None}}
        return super().call_tool(name, arguments)


RENAMED = """\
operations:
  recall: {tool: memory.recall, arguments: {q: "*", user: me}, query: q, limit: top_k, detail: level}
  search: {tool: memory.search, arguments: {q: memory, user: me}, query: q, limit: top_k, detail: level}
  inject: {tool: memory.inject, arguments: {q: "*", user: me}, query: q, limit: top_k, detail: level}
seed: {tool: memory.store, arguments: {memory: "$memory", user: me}}
cleanup: {tool: memory.janitor, arguments: {task: offload_cleanup, user: me}}
"""
TOOLS = {
    "memory.recall": "recall_memories",
    "memory.search": "search_memories",
    "memory.inject": "inject_context",
    "memory.store": "store_memory",
    "memory.janitor": "run_custodial_task",
}
ARGUMENTS = {"q": "query", "top_k": "limit", "level": "detail"}


@sound("it knows tools and arguments by the names of the text, and no further required one", profile=RENAMED)
class has_other_names_for_everything(Server):
    def tools(self) -> list[Record]:
        tools = super().tools()
        for tool, name in zip(tools, TOOLS, strict=True):
            schema = tool["inputSchema"]
            backwards = {new: old for old, new in ARGUMENTS.items()}
            schema["properties"] = {backwards.get(k, k): v for k, v in schema["properties"].items()}
            schema["properties"]["user"] = {"type": "string"}
            schema["required"] = [*schema["required"], "user"]
            tool["name"] = name
        return tools

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        if "user" not in arguments:
            raise BadArguments("user is required")
        return super().call_tool(TOOLS[name], {ARGUMENTS.get(k, k): v for k, v in arguments.items()})


@sound("it sends arguments that the tool does not declare")
class refuses_unknown_arguments(Server):
    def tools(self) -> list[Record]:
        tools = super().tools()
        for tool in tools:
            tool["inputSchema"]["additionalProperties"] = False
        return tools

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        known = next(tool["inputSchema"]["properties"] for tool in self.tools() if tool["name"] == name)
        unknown = [argument for argument in arguments if argument not in known]
        if unknown:
            raise BadArguments(f"unknown: {', '.join(unknown)}")
        return super().call_tool(name, arguments)


DETAIL_LESS = """\
operations:
  recall: {tool: recall_memories, arguments: {query: "*"}, query: query, limit: limit, detail: detail}
  search: {tool: search_memories, arguments: {query: memory, detail: light}, query: query, limit: limit, detail: detail}
  inject: {tool: inject_context, arguments: {query: "*", max_tokens: 500}, query: query, limit: limit, detail: detail}
"""


@sound("it calls operations without the arguments that the profile gives", profile=DETAIL_LESS)
class has_fixed_arguments_in_its_profile(Server):
    def default_detail(self, operation: str) -> str:
        return "full" if operation == "search" else super().default_detail(operation)


@sound("it tries a TTL of days, which may be refused")
class refuses_a_ttl_of_more_than_a_day(Server):
    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        if settings.ttl > 86_400:
            sys.exit("ttl_seconds is at most 86400")
        return settings


@sound("it starts servers with a threshold of 1, which may be refused")
class refuses_a_threshold_below_256(Server):
    refused_below = 256

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        if settings.threshold < self.refused_below:
            sys.exit(f"threshold_tokens: expected at least {self.refused_below}, not {settings.threshold}")
        return settings


@sound("it expects two records to exceed the lowest threshold")
class refuses_a_threshold_below_a_thousand(refuses_a_threshold_below_256):
    refused_below = 1000


@sound("it tells a refused value from a broken server by words")
class refuses_a_low_threshold_without_naming_it(refuses_a_threshold_below_256):
    def read_settings(self, env: Mapping[str, str]) -> Settings:
        try:
            return super().read_settings(env)
        except SystemExit:
            sys.exit("Error: invalid configuration")


@sound("it waits for a TTL of two seconds, which may be refused as well")
class refuses_a_ttl_below_ten_seconds(refuses_a_threshold_below_256):
    refused_below, shortest = 10, 10

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        if settings.ttl < self.shortest:
            sys.exit(f"ttl_seconds: expected at least {self.shortest}, not {settings.ttl}")
        return settings


@sound("it takes files that it has aged for all there are", proves=1, lacks=("LRO-CLN-01",))
class takes_a_ttl_of_some_hours_only(refuses_a_ttl_below_ten_seconds):
    shortest = 900

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        if settings.ttl > 86_400:
            sys.exit(f"ttl_seconds: expected at most a day, not {settings.ttl}")
        return settings


@sound("it starts servers with a threshold of a billion, which may be refused")
class refuses_a_threshold_above_200000(Server):
    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        if settings.threshold > 200_000:
            sys.exit(f"threshold_tokens: expected at most 200000, not {settings.threshold}")
        return settings


@sound("it weighs all of an inline result where that may be within the lowest threshold")
class adds_a_legend_to_inline_results(refuses_a_threshold_below_256):
    def inline_value(self, call: Call) -> Any:
        return {**super().inline_value(call), "legend": "how this is read; " * 1000}


@sound("it takes an error of the handshake for one of the protocol")
class refuses_a_threshold_in_its_handshake(Server):
    refused_below = 100

    def take(self, message: Record) -> None:
        if message["method"] != "initialize" or self.settings.threshold >= self.refused_below:
            return super().take(message)
        return self.fail(message["id"], -32602, f"threshold_tokens: expected at least {self.refused_below}")


@sound("it takes a refused threshold of 0 for a server that cannot be started")
class refuses_a_threshold_of_0(refuses_a_threshold_in_its_handshake):
    refused_below = 1


@sound("it expects an inline result to the letter as it is without LRO")
class inline_results_say_that_they_are(Server):
    def inline_value(self, call: Call) -> Any:
        value = super().inline_value(call)
        if not self.settings.enabled:
            return {**value, "lro": "disabled"}
        return {"offloaded": False, **value, "estimated_tokens": call.tokens}

    def inject_text(self, call: Call, budget: int) -> str:
        off = "" if self.settings.enabled else "\n(LRO is disabled)"
        return super().inject_text(call, budget) + off


@sound("it knows no result but the one that a call had some seconds ago")
class is_reminded_of_the_time(Server):
    def inject_text(self, call: Call, budget: int) -> str:
        return f"It is {self.timestamp(time.time())}.\n{super().inject_text(call, budget)}"


NO_SEARCH = """\
operations:
  recall: {tool: recall_memories, arguments: {query: "*"}, query: query, limit: limit, detail: detail}
  inject: {tool: inject_context, arguments: {query: "*"}, query: query, limit: limit, detail: detail}
"""


class QueriesWithoutOffloading(Server):
    """Searches by a tool of another name, and never offloads what it finds."""

    def tools(self) -> list[Record]:
        others = [tool for tool in super().tools() if tool["name"] != "search_memories"]
        return [*others, self.tool("query_memories", "Memories, best first", {"query": {"type": "string"}})]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        if name == "query_memories":
            return self.structured(self.inline_value(self.execute("search", arguments)))
        return super().call_tool(name, arguments)


@sound("it takes every tool with a query for one that LRO leaves out", profile=NO_SEARCH)
class queries_with_offloading(QueriesWithoutOffloading):
    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        if name == "query_memories":
            return self.offer("search", arguments)
        return super().call_tool(name, arguments)
