"""Faults of the settings; those of the threshold and the TTL are with theirs."""

from __future__ import annotations

import os
import sys

from tests.servers.faults.catalogue import fault
from tests.servers.plain import BadArguments, Call, Server, Settings
from tests.servers.worded import Markdown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tests.servers.plain import Record


@fault("LRO-CFG-01", says="enabled", proves=0)
class enabled_is_ignored(Server):
    """Offloads although it was turned off."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        settings.enabled = True
        return settings


@fault("LRO-CFG-02", says="beside a TTL", proves=0)
class a_ttl_resets_the_threshold(Server):
    """A configuration that names any other setting replaces all defaults, and the threshold is the default again."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        if "ATLATL_PROMPT__OFFLOAD__TTL_SECONDS" in env:
            settings.threshold = 6400
        return settings


@fault("LRO-CFG-01", says="enabled = true", proves=0)
class only_one_means_enabled(Server):
    """Without the setting LRO is on; it is off with any value of it but 1."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        settings.enabled = env.get("ATLATL_PROMPT__OFFLOAD__ENABLED", "1") == "1"
        return settings


@fault("LRO-CFG-01", says="enabled", proves=0)
class any_text_means_enabled(Server):
    """`bool("false")` is true."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        settings.enabled = bool(env.get("ATLATL_PROMPT__OFFLOAD__ENABLED", "true"))
        return settings


@fault("LRO-CFG-01", says="file", proves=0)
class writes_the_file_though_disabled(Server):
    """Returns the result inline, and writes a file without mentioning it."""

    def inline(self, call: Call) -> Record:
        if not self.settings.enabled and self.exceeds(call.tokens, self.threshold(call)):
            self.offload(call)
        return super().inline(call)


@fault("LRO-CFG-01", says="whatever the threshold", proves=0)
class cuts_to_the_threshold_though_disabled(Server):
    """Without offloading a result is cut to what the threshold allows, inject apart, whose text has its budget."""

    def inline(self, call: Call) -> Record:
        if not self.settings.enabled and call.operation != "inject":
            kept = self.fitting(call)
            call.records, call.lines = call.records[:kept], call.lines[:kept]
        return super().inline(call)


@fault("LRO-THR-07", says="no file if every result is inline", proves=0)
class writes_the_file_before_it_compares(Server):
    """Every result is written; the file of an inline result remains, and is not mentioned."""

    def inline(self, call: Call) -> Record:
        if self.settings.enabled and call.records:
            self.offload(call)
        return super().inline(call)


@fault("LRO-THR-07", says="no file if every result is inline", proves=0)
class files_inline_results_of_inject(Server):
    """Inline results of inject are written as well, under a different kind of name."""

    def inline(self, call: Call) -> Record:
        if self.settings.enabled and call.operation == "inject":
            self.write(os.path.join(self.output_dir(), f"inject-{self.ulid()}.json"), self.file_bytes(call))
        return super().inline(call)


@fault("LRO-CFG-01", says="enabled", proves=0)
class disabled_for_recall_only(Server):
    """Search and inject do not look at the setting."""

    def offer(self, operation: str, arguments: dict[str, object]) -> Record:
        enabled = self.settings.enabled
        self.settings.enabled = enabled or operation != "recall"
        result = super().offer(operation, arguments)
        self.settings.enabled = enabled
        return result


@fault("LRO-CFG-04", says="/tmp/atlatl-recall-", proves=0, also=("LRO-NAME-01",))
class output_dir_is_ignored(Server):
    """The system's temporary folder whatever is set."""

    def output_dir(self) -> str:
        return os.path.abspath(os.environ.get("TMPDIR") or "/tmp")


@fault("LRO-CFG-04", says="offloaded to the folder it", proves=0)
class blanks_in_output_dir_become_underscores(Server):
    """Files go to another folder than the one that was set."""

    def output_dir(self) -> str:
        folder = super().output_dir()
        return os.path.join(os.path.dirname(folder), os.path.basename(folder).replace(" ", "_"))


@fault("LRO-CFG-04", says="a file in", proves=0, also=("LRO-DESC-02",))
class the_path_is_ascii(Server):
    """Letters outside ASCII become question marks in the path that is named, as in a console that lacks them."""

    def offloaded(self, call: Call, path: str) -> Record:
        return super().offloaded(call, path.encode("ascii", "replace").decode())


@fault("LRO-CFG-04", says="offloaded to the folder it", proves=0)
class output_dir_is_in_lower_case(Server):
    """Settings are normalised when they are read."""

    def output_dir(self) -> str:
        return super().output_dir().lower()


@fault("LRO-CFG-04", says="offloaded to the folder it", proves=0)
class formats_the_path_of_a_recipe_twice(Server):
    """The path is part of a template by the time that the program is put in: a percent sign in it is an error."""

    def recipe(self, path: str, program: str) -> str:
        try:
            return f"tail -n +2 {self.quote(path)} | %s" % program
        except (TypeError, ValueError) as problem:
            raise BadArguments(str(problem)) from None


@fault("LRO-CFG-04", says="a file in", proves=0, also=("LRO-NAME-01",))
class output_dir_is_taken_for_a_file(Server):
    """Only its parent is used."""

    def output_dir(self) -> str:
        folder = super().output_dir()
        return os.path.dirname(folder) if self.settings.output_dir else folder


ELSEWHERE = """\
server:
  command: [{command}]
  cwd: "{workdir}"
"""
"""The tests may be started in the system's temporary folder, which would be the right one."""


@fault("LRO-CFG-05", says="(TMPDIR) or /tmp", proves=0, profile=ELSEWHERE)
class empty_output_dir_is_the_working_folder(Server):
    """The folder the server was started in."""

    def output_dir(self) -> str:
        return os.path.abspath(self.settings.output_dir)


@fault("LRO-CFG-05", says="/.cache/atlatl/", proves=0)
class empty_output_dir_is_the_home_folder(Server):
    """A hidden folder at home."""

    def output_dir(self) -> str:
        if self.settings.output_dir:
            return super().output_dir()
        folder = os.path.join(os.path.expanduser("~"), ".cache", "atlatl")
        os.makedirs(folder, exist_ok=True)
        return folder


@fault("LRO-CFG-06", says="enabled", proves=0, also=("LRO-THR-01", "LRO-CFG-05"))
class disabled_unless_asked_for(Server):
    """`enabled` is false by default."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        settings.enabled = settings.enabled and bool(env.get("ATLATL_PROMPT__OFFLOAD__ENABLED"))
        return settings


@fault("LRO-CFG-06", says="without any setting", proves=0, also=("LRO-THR-01", "LRO-CFG-05"))
class enabled_only_once_something_is_set(Server):
    """Without any setting, offloading is off."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        given = [value for name, value in env.items() if name.startswith("ATLATL_PROMPT__OFFLOAD__") and value]
        settings.enabled = settings.enabled and bool(given)
        return settings


class Clamping(Server):
    """Accepts thresholds within bounds only, and says nothing."""

    least, most = 0, 10**9

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        settings.threshold = min(self.most, max(self.least, settings.threshold))
        return settings


@fault("LRO-CFG-02", says="at threshold_tokens = 1", proves=0)
class settings_are_ignored_and_memories_few(Server):
    """Only memories of the suite's own make a result that the default threshold has offloaded."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        settings.threshold = Settings.threshold
        return settings

    def corpus(self) -> list[Record]:
        return super().corpus()[:12]


@fault("LRO-CFG-02", says="threshold", proves=0, also=("LRO-THR-06", "LRO-THR-08"))
class threshold_has_a_floor_of_a_thousand(Clamping):
    """Less is not accepted."""

    least = 1000


@fault("LRO-CFG-02", says="threshold", proves=0, also=("LRO-THR-07", "LRO-THR-08", "LRO-INJ-01", "LRO-THR-09"))
class threshold_has_a_ceiling_of_8192(Clamping):
    """More is not accepted."""

    most = 8192


class Refusing(Server):
    """Does not start with a threshold below 256."""

    refused_below = 256

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        if settings.threshold < self.refused_below:
            sys.exit(f"threshold_tokens: expected at least {self.refused_below}, not {settings.threshold}")
        return settings


@fault("LRO-CFG-02", says="1000000000", proves=0, also=("LRO-THR-06", "LRO-THR-07", "LRO-THR-08"))
class refuses_small_thresholds_and_keeps_its_own(Refusing):
    """The setting is looked at, and nothing is done with it."""

    def threshold(self, call: Call) -> int:
        return Settings.threshold


@fault("LRO-THR-06", says="is offloaded at threshold 256", proves=0)
class refuses_small_thresholds_and_leaves_a_single_record_inline(Refusing):
    """One record alone is never offloaded, however large; at the thresholds that are taken a small one need not be."""

    def offer(self, operation: str, arguments: dict[str, Any]) -> Record:
        call = self.execute(operation, arguments)
        return self.inline(call) if len(call.records) == 1 else super().offer(operation, arguments)


@fault("LRO-THR-07", says="at threshold", proves=0)
class refuses_small_thresholds_and_offloads_at_equal(Refusing):
    """`>=` where the text says `>`, in a server that looks careful."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return tokens >= threshold


@fault("LRO-CFG-01", says="at most 40 records", proves=0)
class ignores_the_limit_though_disabled(Server):
    """The limit is the interceptor's business, so that without it everything is returned."""

    def limited(self, found: list[Record], limit: int | None) -> list[Record]:
        return super().limited(found, limit if self.settings.enabled else None)


@fault("LRO-THR-04", says="200 records", proves=0)
class finds_a_hundred_at_most_with_offloading(Server):
    """Where results may be offloaded, no call finds more than a hundred memories."""

    def limited(self, found: list[Record], limit: int | None) -> list[Record]:
        return super().limited(found, min(limit or 100, 100) if self.settings.enabled else limit)


@fault("LRO-THR-04", says="lines of that text missing", proves=0)
class shows_a_hundred_at_most_with_offloading(Markdown):
    """Inline results are Markdown; where results may be offloaded, no call finds more than a hundred memories."""

    def limited(self, found: list[Record], limit: int | None) -> list[Record]:
        return super().limited(found, min(limit or 100, 100) if self.settings.enabled else limit)


@fault("LRO-THR-04", says="/content is", proves=0)
class leaves_contents_out_with_offloading(Server):
    """Where results may be offloaded, records at medium detail have no content, inline or filed."""

    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        if self.settings.enabled and detail == "medium":
            record.pop("content", None)
        return record


@fault("LRO-THR-04", says="/status is", proves=0)
class leaves_the_status_out_with_offloading(Server):
    """Where results may be offloaded, records have no status, inline or filed. Each process has ids of its own."""

    def corpus(self) -> list[Record]:
        return [{**memory, "id": self.ulid()} for memory in super().corpus()]

    def completed(self, memory: Record) -> Record:
        return {**super().completed(memory), "id": self.ulid()}

    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        if self.settings.enabled:
            record.pop("status", None)
        return record


@fault("LRO-THR-04", says="pairs are reversed", proves=0)
class sorts_by_title_with_offloading(Server):
    """Where results may be offloaded, they come by the alphabet, and not by relevance."""

    def find(self, operation: str, query: str) -> list[Record]:
        found = super().find(operation, query)
        return sorted(found, key=lambda memory: memory["title"]) if self.settings.enabled else found


@fault("LRO-THR-07", says="results", proves=0)
class has_another_envelope_with_offloading(Server):
    """Where results may be offloaded, the list of records has another name inline."""

    def inline_value(self, call: Call) -> Any:
        value = super().inline_value(call)
        return {"memories": value.pop("results"), **value} if self.settings.enabled else value

    def output_schema(self) -> Record:
        return {"type": "object"}


@fault("LRO-INJ-01", says="missing in a text", proves=0)
class injects_one_title_with_offloading(Server):
    """Where results may be offloaded, the text below the threshold is a heading and the title of one memory."""

    def inject_text(self, call: Call, budget: int) -> str:
        if self.settings.enabled and call.records:
            return f"# Context from memory\n\n{call.records[0]['title']}"
        return super().inject_text(call, budget)


OTHER_NAMES = """\
settings:
  enabled: {env: MY_LRO}
  threshold_tokens: {env: MY_LIMIT}
  ttl_seconds: {env: MY_TTL}
  output_dir: {env: MY_DIR}
"""


@fault("LRO-CFG-07", says="threshold_tokens is set by its documented variable", proves=3, profile=OTHER_NAMES)
class knows_variables_of_its_own_only(Server):
    """`MY_LIMIT` and others, which no deployment knows."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        names = {"MY_LRO": "ENABLED", "MY_LIMIT": "THRESHOLD_TOKENS", "MY_TTL": "TTL_SECONDS", "MY_DIR": "OUTPUT_DIR"}
        return super().read_settings({f"ATLATL_PROMPT__OFFLOAD__{names[k]}": v for k, v in env.items() if k in names})


@fault("LRO-CFG-07", says="output_dir is set by its documented variable", proves=3, profile=OTHER_NAMES)
class knows_its_folder_by_another_name(knows_variables_of_its_own_only):
    """The documented variables are read, but for that of the output folder."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        documented = {k: v for k, v in env.items() if not k.endswith("OUTPUT_DIR")}
        own = super().read_settings(env)
        return own if any(name.startswith("MY_") for name in env) else Server.read_settings(self, documented)
