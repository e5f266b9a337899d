"""Faults of the descriptor's summary."""

from __future__ import annotations

from tests.servers.faults.catalogue import fault
from tests.servers.plain import Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tests.servers.plain import Record


class Summarised(Server):
    """Changes the summary before the guidance is made of it."""

    def summarised(self, call: Call, summary: Record) -> Record:
        raise NotImplementedError

    def summary(self, call: Call) -> Record:
        return self.summarised(call, super().summary(call))


@fault("LRO-DESC-01", says="top_namespaces", proves=0)
class top_namespaces_is_one_string(Summarised):
    """Names joined by commas where a list belongs."""

    def summarised(self, call: Call, summary: Record) -> Record:
        return {**summary, "top_namespaces": ", ".join(summary["top_namespaces"])}


@fault("LRO-DESC-01", says="count", proves=0)
class summary_count_is_a_string(Summarised):
    """`"200"`."""

    def summarised(self, call: Call, summary: Record) -> Record:
        return {**summary, "count": str(summary["count"])}


@fault("LRO-DESC-03", says="count", proves=0)
class summary_count_includes_the_header(Summarised):
    """Lines, not records."""

    def summarised(self, call: Call, summary: Record) -> Record:
        return {**summary, "count": summary["count"] + 1}


@fault("LRO-DESC-03", says="count", proves=0)
class summary_count_ends_at_a_hundred(Summarised):
    """The size of a page."""

    def summarised(self, call: Call, summary: Record) -> Record:
        return {**summary, "count": min(100, summary["count"])}


@fault("LRO-DESC-03", says="count", proves=0)
class summary_count_is_of_all_memories(Summarised):
    """Counts the stored memories, not those found; right whenever everything was found."""

    def summarised(self, call: Call, summary: Record) -> Record:
        return {**summary, "count": len(self.memories)}


@fault("LRO-DESC-01", says="too low: -", proves=0)
class summary_estimate_goes_below_zero(Summarised):
    """E less a fixed cost of the descriptor, which is more than a few records have."""

    def summarised(self, call: Call, summary: Record) -> Record:
        return {**summary, "estimated_tokens": call.tokens - 800}


@fault("LRO-DESC-04", says="the descriptor's own tokens", proves=0)
class summary_estimate_is_zero(Summarised):
    """Never filled in."""

    def summarised(self, call: Call, summary: Record) -> Record:
        return {**summary, "estimated_tokens": 0}


@fault("LRO-DESC-04", says="the descriptor's own tokens", proves=0)
class summary_estimate_is_in_characters(Summarised):
    """Four times as many."""

    def summarised(self, call: Call, summary: Record) -> Record:
        return {**summary, "estimated_tokens": sum(len(line) for line in call.lines)}


@fault("LRO-DESC-04", says="the descriptor's own tokens", proves=0)
class summary_estimate_is_of_full_detail(Summarised):
    """The cost of the set at full detail; right if that level was requested."""

    def summarised(self, call: Call, summary: Record) -> Record:
        return {**summary, "estimated_tokens": self.estimate([self.record_line(memory) for memory in call.found])}


@fault("LRO-DESC-04", says="the descriptor's own tokens", proves=0)
class summary_estimate_is_the_threshold(Summarised):
    """The limit, not what exceeded it."""

    def summarised(self, call: Call, summary: Record) -> Record:
        return {**summary, "estimated_tokens": self.settings.threshold}


@fault("LRO-DESC-05", says='"recall_memories"', proves=0)
class summary_operation_is_the_tool(Summarised):
    """`recall_memories` where `recall` belongs."""

    def summarised(self, call: Call, summary: Record) -> Record:
        tools = {"recall": "recall_memories", "search": "search_memories", "inject": "inject_context"}
        return {**summary, "operation": tools[call.operation]}


@fault("LRO-DESC-05", says='not that of the call: "recall"', proves=0)
class summary_operation_is_always_recall(Summarised):
    """A constant."""

    def summarised(self, call: Call, summary: Record) -> Record:
        return {**summary, "operation": "recall"}


@fault("LRO-DESC-05", says='not that of the call: "recall"', proves=0)
class summary_operation_is_of_the_call_before(Summarised):
    """State that is written after it is read."""

    before = "recall"

    def summarised(self, call: Call, summary: Record) -> Record:
        before, self.before = self.before, call.operation
        return {**summary, "operation": before}


@fault("LRO-DESC-06", says="7 items", proves=0)
class names_seven_namespaces(Server):
    """All of them."""

    def top_namespaces(self, records: Sequence[Record]) -> list[str]:
        return list({record["namespace"]: None for record in records})


@fault("LRO-DESC-06", says="frequent", proves=0)
class names_the_rarest_namespaces(Server):
    """Sorted the wrong way round."""

    def top_namespaces(self, records: Sequence[Record]) -> list[str]:
        names = [record["namespace"] for record in records]
        return sorted(set(names), key=names.count)[:5]


@fault("LRO-DESC-06", says="frequent", proves=0)
class names_the_first_namespaces_seen(Server):
    """In the order of the file, not by frequency."""

    def top_namespaces(self, records: Sequence[Record]) -> list[str]:
        return list({record["namespace"]: None for record in records})[:5]


@fault("LRO-DESC-06", says="frequent", proves=0)
class names_namespaces_by_the_alphabet(Server):
    """The first five of the alphabet."""

    def top_namespaces(self, records: Sequence[Record]) -> list[str]:
        return sorted({record["namespace"] for record in records})[:5]


@fault("LRO-DESC-06", says="namespace", proves=0)
class names_only_the_first_segment(Server):
    """`_semantic` for `_semantic/decisions`."""

    def top_namespaces(self, records: Sequence[Record]) -> list[str]:
        return list({name.partition("/")[0]: None for name in super().top_namespaces(records)})


@fault("LRO-DESC-07", says="higher score first: [1.0,0.5]", proves=0)
class score_range_is_upside_down(Server):
    """The greater one first."""

    def score_range(self, call: Call) -> list[float] | None:
        found = super().score_range(call)
        return found and found[::-1]


@fault("LRO-DESC-07", says="does not match the file: [0.0,", proves=0)
class score_range_of_search_starts_at_zero(Server):
    """The lowest possible score in place of the lowest one found."""

    def score_range(self, call: Call) -> list[float] | None:
        found = super().score_range(call)
        return [0.0, found[1]] if found else None


@fault("LRO-DESC-07", says='wrong type: {"min"', proves=0)
class score_range_is_an_object(Server):
    """`{"min": …, "max": …}` where a pair belongs."""

    def score_range(self, call: Call) -> Any:
        found = super().score_range(call)
        return found and {"min": found[0], "max": found[1]}


@fault("LRO-DESC-07", says="too many items: 3 items", proves=0)
class score_range_has_three_numbers(Server):
    """Lowest, mean and highest."""

    def score_range(self, call: Call) -> list[float] | None:
        found = super().score_range(call)
        return found and [found[0], sum(found) / 2, found[1]]


@fault("LRO-DESC-07", says="score_range does not match the file: [50.0,", proves=0)
class score_range_is_in_percent(Server):
    """0 to 100 where the file says 0 to 1."""

    def score_range(self, call: Call) -> list[float] | None:
        found = super().score_range(call)
        return found and [score * 100 for score in found]


@fault("LRO-DESC-07", says="the range of the confidences, as of other files", proves=0, everywhere=True)
class score_range_of_recall_is_that_of_its_first_page(Server):
    """Of more than ten memories, only the first ten count."""

    def scores(self, call: Call) -> list[float]:
        scores = super().scores(call)
        return scores if call.operation == "search" else scores[:10]


@fault("LRO-DESC-08", says='not that of the call: "light"', proves=0)
class summary_detail_is_the_default(Summarised):
    """The operation's default level, whatever was asked for."""

    def summarised(self, call: Call, summary: Record) -> Record:
        return {**summary, "detail": self.default_detail(call.operation)}


@fault("LRO-DESC-08", says='not that of the call: "full"', proves=0)
class summary_detail_is_always_full(Summarised):
    """The level of the store, not that of the call."""

    def summarised(self, call: Call, summary: Record) -> Record:
        return {**summary, "detail": "full"}


@fault("LRO-DESC-08", says='not that of the call: "full"', proves=0)
class summary_detail_is_of_the_call_before(Summarised):
    """State that is written after it is read."""

    before = "light"

    def summarised(self, call: Call, summary: Record) -> Record:
        before, self.before = self.before, call.detail
        return {**summary, "detail": before}
