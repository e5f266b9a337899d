"""Faults of inject_context."""

from __future__ import annotations

from tests.servers.faults.catalogue import fault
from tests.servers.fixed_budget import PROFILE, FixedBudget
from tests.servers.plain import Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record

BUDGET = 2000


class Budgeting(Server):
    """Knows how many memories the text would hold."""

    def within_budget(self, call: Call) -> int:
        """Number of records, from the first, that fit into the formatted text."""
        budget = self.argument(call.arguments, "max_tokens", self.budget, int)
        return self.inject_text(call, budget).count("\n## ")

    def keep(self, call: Call, kept: int) -> None:
        call.found, call.records, call.lines = call.found[:kept], call.records[:kept], call.lines[:kept]


@fault("LRO-INJ-01", says="text", proves=0)
class inject_returns_an_unfilled_template(Server):
    """Below the threshold: the text with its placeholders."""

    def inject_text(self, call: Call, budget: int) -> str:
        return "\n".join("## {title}\n{content}" for _ in call.records)


@fault("LRO-INJ-01", says="text", proves=0)
class inject_returns_an_empty_text(Server):
    """Below the threshold: the text is lost."""

    def inject_text(self, call: Call, budget: int) -> str:
        return ""


@fault("LRO-INJ-01", says="text", proves=0)
class inject_only_reports_how_many(Server):
    """Below the threshold: a sentence about the memories in place of them."""

    def inject_text(self, call: Call, budget: int) -> str:
        return f"{len(call.records)} memories were found."


@fault("LRO-THR-06", says="is offloaded at threshold_tokens = 1", proves=0, also=("LRO-THR-09",), long=True)
class inject_has_its_budget_as_least_threshold(Server):
    """A result that fits into the budget is never offloaded, whatever the threshold is."""

    def threshold(self, call: Call) -> int:
        least = self.argument(call.arguments, "max_tokens", self.budget, int) if call.operation == "inject" else 0
        return max(self.settings.threshold, least)


@fault("LRO-INJ-02", says="budget", proves=0, also=("LRO-THR-06", "LRO-THR-09"))
class inject_is_judged_by_its_text(Server):
    """The budgeted text is compared with the threshold, which it hardly ever exceeds."""

    def threshold(self, call: Call) -> int:
        if call.operation != "inject":
            return self.settings.threshold
        budget = self.argument(call.arguments, "max_tokens", self.budget, int)
        text = self.estimate([self.inject_text(call, budget)])
        return call.tokens - 1 if text > self.settings.threshold else call.tokens


@fault("LRO-INJ-02", says="budget", proves=0, also=("LRO-THR-06", "LRO-THR-09"))
class inject_is_judged_by_its_budget(Server):
    """A set counts for no more than the budget."""

    def threshold(self, call: Call) -> int:
        if call.operation != "inject":
            return self.settings.threshold
        budget = self.argument(call.arguments, "max_tokens", self.budget, int)
        return self.settings.threshold if budget > self.settings.threshold else call.tokens


@fault("LRO-INJ-02", says="left after budgeting", proves=0)
class inject_is_estimated_after_budgeting(Server):
    """The estimate, in the header too, is that of the text, which no caller can make longer or shorter."""

    budget = 4000

    def tokens(self, call: Call) -> int:
        if call.operation != "inject":
            return super().tokens(call)
        return self.estimate([self.inject_text(call, self.budget)])


@fault("LRO-INJ-02", says="budget", proves=0, also=("LRO-INJ-03", "LRO-THR-09", "LRO-FILE-09"))
class inject_is_budgeted_before_it_is_judged(Budgeting):
    """Records that do not fit into the text are dropped before the interceptor sees the set."""

    def execute(self, operation: str, arguments: dict[str, object]) -> Call:
        call = super().execute(operation, arguments)
        if operation == "inject":
            self.keep(call, self.within_budget(call))
            call.tokens = self.tokens(call)
        return call


@fault("LRO-INJ-02", says="an inline result", proves=0, also=("LRO-INJ-03", "LRO-THR-09", "LRO-FILE-09"), long=True)
class inject_is_budgeted_by_whole_records(Budgeting):
    """Records are dropped before the interceptor sees the set: those from the first that exceeds the budget."""

    def execute(self, operation: str, arguments: dict[str, object]) -> Call:
        call = super().execute(operation, arguments)
        if operation == "inject":
            budget, kept = self.argument(call.arguments, "max_tokens", self.budget, int), 0
            while kept < len(call.lines) and self.estimate(call.lines[: kept + 1]) <= budget:
                kept += 1
            self.keep(call, kept)
            call.tokens = self.tokens(call)
        return call


@fault("LRO-INJ-02", says="small budget", proves=0, also=("LRO-INJ-03",))
class inject_looks_for_no_more_than_its_budget_may_hold(Server):
    """Without a limit, inject asks for one memory for each hundred tokens of its budget."""

    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        if operation == "inject":
            budget = self.argument(arguments, "max_tokens", self.budget, int)
            arguments = {"limit": max(1, budget // 100), **arguments}
        return super().execute(operation, arguments)


@fault("LRO-INJ-03", says="every memory that E =", proves=0, also=("LRO-FILE-09",))
class inject_file_holds_what_the_text_would(Budgeting):
    """Judged by the whole set, but only what fits into the budget is written."""

    def offload(self, call: Call) -> str:
        if call.operation == "inject":
            self.keep(call, max(1, self.within_budget(call)))
        return super().offload(call)


@fault("LRO-INJ-03", says="cut to a budget", proves=0)
class inject_is_cut_before_it_is_judged(Server):
    """The service returns what fits into 4,000 tokens, so that E and the file are those of the rest."""

    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        call = super().execute(operation, arguments)
        while operation == "inject" and call.tokens > 4000:
            kept = len(call.lines) * 9 // 10
            call.found, call.records, call.lines = call.found[:kept], call.records[:kept], call.lines[:kept]
            call.tokens = self.tokens(call)
        return call


@fault("LRO-INJ-03", says="file", proves=0, also=("LRO-FILE-09",))
class inject_file_holds_fifty_at_most(Budgeting):
    """A cap on the number of memories."""

    def offload(self, call: Call) -> str:
        if call.operation == "inject":
            self.keep(call, 50)
        return super().offload(call)


@fault("LRO-INJ-03", says="but a file of recall has", proves=0)
class inject_file_lacks_the_last_memory(Budgeting):
    """Off by one; the header counts what is there."""

    def offload(self, call: Call) -> str:
        if call.operation == "inject":
            self.keep(call, max(1, len(call.lines) - 1))
        return super().offload(call)


@fault("LRO-INJ-03", says="far too few for this E", proves=0, also=("LRO-FILE-09",), profile=PROFILE)
class inject_file_holds_what_a_fixed_budget_leaves(FixedBudget, inject_file_holds_what_the_text_would):
    """No argument of the tool shows what the budget cuts."""


@fault("LRO-INJ-04", says="text", proves=0, also=("LRO-DESC-11",))
class inject_returns_the_text_beside_the_descriptor(Server):
    """Two blocks: the descriptor, and the formatted text that should have been discarded."""

    def offloaded(self, call: Call, path: str) -> Record:
        result = super().offloaded(call, path)
        if call.operation == "inject":
            result["content"].append({"type": "text", "text": self.inject_text(call, BUDGET)})
        return result


@fault("LRO-INJ-04", says="text", proves=0, also=("LRO-DESC-11",))
class inject_keeps_the_text_in_the_descriptor(Server):
    """A field `context` with the formatted text."""

    def descriptor(self, call: Call, path: str) -> Record:
        value = super().descriptor(call, path)
        return {**value, "context": self.inject_text(call, BUDGET)} if call.operation == "inject" else value


class Listing(Server):
    """Returns the memories found as records, as many as its budget allows."""

    def inline(self, call: Call) -> Record:
        if call.operation != "inject":
            return super().inline(call)
        kept = len(call.lines)
        while kept and self.estimate(call.lines[:kept]) > 20_000:
            kept -= 1
        return self.text(self.dumps({"memories": call.records[:kept]}))


@fault("LRO-FILE-09", says="additional", proves=0, explored=True)
class inject_files_a_neighbour_too(Listing):
    """Below the threshold inject returns what was found, as a list; the file has one memory more."""

    def file_lines(self, call: Call) -> list[str]:
        if call.operation != "inject" or not 0 < len(call.records) < 4:
            return super().file_lines(call)
        known = [memory["id"] for memory in call.found]
        other = next(memory for memory in self.memories if memory["id"] not in known)
        call.records.append(self.at_detail(other, call.detail))
        call.lines.append(self.record_line(call.records[-1]))
        return super().file_lines(call)


@fault("LRO-INJ-03", says="0 memories", proves=0, also=("LRO-FILE-09",))
class a_budget_empties_files(Server):
    """Only with a budget that is asked for: the file has the memories that fit, and a small budget fits none."""

    def offload(self, call: Call) -> str:
        budget = call.arguments.get("max_tokens") if call.operation == "inject" else None
        if isinstance(budget, int):
            kept = sum(self.estimate(call.lines[: n + 1]) <= budget for n in range(len(call.lines)))
            call.found, call.records, call.lines = call.found[:kept], call.records[:kept], call.lines[:kept]
        return super().offload(call)


@fault("LRO-THR-07", says="offloaded", proves=0, explored=True)
class a_budget_is_the_threshold(Server):
    """Only with a budget that is asked for."""

    def threshold(self, call: Call) -> int:
        budget = call.arguments.get("max_tokens") if call.operation == "inject" else None
        return budget if isinstance(budget, int) else super().threshold(call)
