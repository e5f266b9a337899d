"""Faults of what happens when writing fails."""

from __future__ import annotations

import os

from tests.servers.faults.catalogue import fault
from tests.servers.plain import Call, Server
from tests.servers.tasks import Tasking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record


@fault("LRO-ERR-01", says="error", proves=2, also=("LRO-ERR-02", "LRO-ERR-03"))
class write_failure_is_a_tool_error(Server):
    """The call fails with `isError`, though the operation succeeded."""

    def truncated(self, call: Call, warning: str) -> Record:
        return self.error(warning)


@fault("LRO-ERR-01", says="the folder that output_dir is in", proves=2, also=("LRO-ERR-04",))
class folder_that_cannot_be_made_is_a_tool_error(Server):
    """The folder is made where no write error is caught, so the call fails where its parent is a regular file."""

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        folder = self.output_dir()
        if os.path.isfile(os.path.dirname(folder)):
            return self.error(f"cannot make {folder}")
        return super().on_write_failure(call, problem)


@fault("LRO-ERR-01", says="error", proves=2, also=("LRO-ERR-02", "LRO-ERR-03"))
class write_failure_asks_for_a_smaller_limit(Server):
    """The call fails, and its error names the limit that would have stayed inline."""

    def truncated(self, call: Call, warning: str) -> Record:
        return self.error(f"{warning} Ask for less: limit {self.fitting(call)}")


@fault("LRO-ERR-01", says="error: ", proves=2)
class write_failure_sets_is_error(Server):
    """The right fallback, flagged as an error."""

    def truncated(self, call: Call, warning: str) -> Record:
        return {**super().truncated(call, warning), "isError": True}


@fault("LRO-ERR-01", says="the server ended", proves=2, also=("LRO-ERR-02", "LRO-ERR-03", "LRO-ERR-04", "LRO-ERR-06"))
class write_failure_ends_the_process(Server):
    """An uncaught exception."""

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        os._exit(1)


@fault("LRO-ERR-01", says="error", proves=2, also=("LRO-ERR-02", "LRO-ERR-03"))
class write_failure_is_a_protocol_error(Server):
    """A JSON-RPC error in place of a result."""

    failed = False

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        self.failed = True
        return super().on_write_failure(call, problem)

    def reply(self, id: Any, result: Record) -> None:
        failed, self.failed = self.failed, False
        if failed:
            self.fail(id, -32603, "internal error")
        else:
            super().reply(id, result)


@fault("LRO-ERR-02", says="all 40 records", proves=2)
class fallback_returns_everything(Server):
    """Nothing is truncated."""

    def fitting(self, call: Call) -> int:
        return len(call.lines)

    def truncated(self, call: Call, warning: str) -> Record:
        if call.operation == "inject":
            return self.text(f"Warning: {warning}\n\n{self.inject_text(call, 10**9)}")
        return super().truncated(call, warning)


@fault("LRO-ERR-02", says="no records", proves=2)
class fallback_returns_only_the_warning(Server):
    """Truncated to nothing, and without the list in which records would be."""

    def truncated(self, call: Call, warning: str) -> Record:
        return self.structured({"warning": warning})


@fault("LRO-ERR-02", says="10 records", proves=2)
class fallback_keeps_ten(Server):
    """The first ten, whatever their size and the threshold."""

    def fitting(self, call: Call) -> int:
        return 10


@fault("LRO-ERR-02", says="only 1 distinct id", proves=2, long=True)
class fallback_repeats_the_first(Server):
    """As many records as fit, and each of them is the first."""

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        call.records, call.lines = ([items[0]] * len(items) for items in (call.records, call.lines))
        return super().on_write_failure(call, problem)


@fault("LRO-ERR-02", says="whole, within", proves=2, long=True)
class fallback_is_weighed_at_light_detail(Server):
    """The truncated result is measured at light detail, whatever level is returned."""

    def fitting(self, call: Call) -> int:
        light = [self.record_line(self.at_detail(memory, "light")) for memory in call.found]
        kept = len(light)
        while kept and self.estimate(light[:kept]) > self.settings.threshold:
            kept -= 1
        return kept


@fault("LRO-ERR-02", says="whole, within", proves=2)
class fallback_at_light_detail_has_full_records(Server):
    """As many memories as fit at light detail, each with all of its fields."""

    def truncated(self, call: Call, warning: str) -> Record:
        if call.detail == "light":
            call.records = [dict(memory) for memory in call.found[: len(call.records)]]
        return super().truncated(call, warning)


@fault("LRO-ERR-02", says="whole, within", proves=2)
class fallback_keeps_more_than_fits(Server):
    """Two and a half times the threshold."""

    def fitting(self, call: Call) -> int:
        kept = len(call.lines)
        while kept and self.estimate(call.lines[:kept]) > self.settings.threshold * 2.5:
            kept -= 1
        return kept


@fault("LRO-ERR-02", says="whole, within", proves=2)
class fallback_keeps_the_share_that_fits_of_average_memories(Server):
    """As large a share of the memories as the threshold is of the estimate, whatever the first ones weigh."""

    def fitting(self, call: Call) -> int:
        return len(call.lines) * self.settings.threshold // max(1, self.estimate(call.lines))


@fault("LRO-ERR-02", says="20 records", proves=2, long=True)
class fallback_keeps_half(Server):
    """Half of the memories."""

    def fitting(self, call: Call) -> int:
        return len(call.lines) // 2


@fault("LRO-ERR-02", says="whole, within", proves=2, long=True)
class fallback_takes_all_memories_for_as_large_as_the_first(Server):
    """The threshold divided by the size of the first memory."""

    def fitting(self, call: Call) -> int:
        return self.settings.threshold // max(1, self.estimate(call.lines[:1]))


@fault("LRO-ERR-02", says="/tags is", proves=2)
class fallback_drops_the_tags(Server):
    """As many records as fit once each has at most one tag."""

    def fitting(self, call: Call) -> int:
        call.records = [{**r, "tags": r["tags"][:1]} for r in call.records]
        call.lines = [self.record_line(record) for record in call.records]
        return super().fitting(call)


@fault("LRO-ERR-02", says="/provenance", proves=2)
class fallback_has_no_confidence(Server):
    """The records of a truncated result have no number."""

    def fitting(self, call: Call) -> int:
        call.records = [{**r, "provenance": {}} for r in call.records]
        call.lines = [self.record_line(record) for record in call.records]
        return super().fitting(call)


@fault("LRO-ERR-02", says="whole", proves=2)
class fallback_cuts_the_contents(Server):
    """All records are kept, and each is cut until they fit."""

    def fitting(self, call: Call) -> int:
        room = 1 + self.settings.threshold // max(1, len(call.records))
        call.records = [{**r, "title": r["title"][:room], "content": ""} for r in call.records]
        call.lines = [self.record_line(record) for record in call.records]
        return super().fitting(call)


@fault("LRO-ERR-02", says="no records, although the first one", proves=2)
class fallback_returns_nothing(Server):
    """An empty result, though some records would fit."""

    def fitting(self, call: Call) -> int:
        return 0


@fault("LRO-ERR-03", says="warning", proves=2)
class fallback_has_no_warning(Server):
    """Truncated without a word."""

    def truncated(self, call: Call, warning: str) -> Record:
        return self.inline(call)


@fault("LRO-ERR-03", says="offload", proves=2)
class fallback_warns_of_truncation_only(Server):
    """The warning does not say that offloading failed."""

    def warning(self, kept: int, everything: int, problem: OSError) -> str:
        return f"Results are truncated: {kept} of {everything} memories."


@fault("LRO-ERR-03", says="truncated", proves=2)
class fallback_warns_of_the_failure_only(Server):
    """The warning does not say that memories are missing."""

    def warning(self, kept: int, everything: int, problem: OSError) -> str:
        return f"Offloading failed: {problem.strerror}."

    def truncated(self, call: Call, warning: str) -> Record:
        result = super().truncated(call, warning)
        if "structuredContent" in result:
            value = {k: v for k, v in result["structuredContent"].items() if k != "truncated"}
            return self.structured(value)
        return result


@fault("LRO-ERR-03", says="warning", proves=2)
class every_result_has_room_for_a_warning(Server):
    """Members for an error and a truncation are in every envelope, and say nothing when writing fails either."""

    def inline_value(self, call: Call) -> Any:
        return {**super().inline_value(call), "error": None, "truncated": False}

    def truncated(self, call: Call, warning: str) -> Record:
        return self.inline(call)


@fault("LRO-ERR-03", says="warning", proves=2)
class every_result_speaks_of_errors(Server):
    """A note with the words of a warning is in every result, and when writing fails nothing is added to it."""

    def noted(self, result: Record) -> Record:
        note = "Only active memories are shown; report errors to the operator."
        return {**result, "content": [*result["content"], {"type": "text", "text": note}]}

    def inline(self, call: Call) -> Record:
        return self.noted(super().inline(call))

    def truncated(self, call: Call, warning: str) -> Record:
        return self.inline(call)


@fault("LRO-ERR-04", says="OffloadWriteFailed", proves=2)
class fallback_emits_no_event(Server):
    """Nobody watching learns of it."""

    def write_failed(self, call: Call, problem: OSError) -> None:
        pass


@fault("LRO-ERR-04", says="error", proves=2)
class failure_event_has_no_details(Server):
    """The event's name and nothing else."""

    def write_failed(self, call: Call, problem: OSError) -> None:
        self.emit("OffloadWriteFailed", "warning")


@fault("LRO-ERR-04", says="without details", proves=2)
class failure_event_has_an_empty_error(Server):
    """An exception that no serialiser knows: the event names the folder, and its error is an empty object."""

    def write_failed(self, call: Call, problem: OSError) -> None:
        self.emit("OffloadWriteFailed", "warning", operation=call.operation, output_dir=self.output_dir(), error={})


@fault("LRO-ERR-04", says="without details", proves=2)
class failure_event_names_the_operation_only(Server):
    """The event says which operation was called, and nothing of the error."""

    def write_failed(self, call: Call, problem: OSError) -> None:
        self.emit("OffloadWriteFailed", "warning", operation=call.operation, error=None)


@fault("LRO-ERR-04", says="without details", proves=2)
class failure_notification_has_no_details(Server):
    """It is a notification of its own, and its error is empty."""

    def write_failed(self, call: Call, problem: OSError) -> None:
        self.notify("notifications/OffloadWriteFailed", {"operation": call.operation, "error": ""})


@fault("LRO-ERR-04", says="without details", proves=2)
class failure_event_reports_success(Server):
    """The error is asked for when it has been forgotten."""

    def write_failed(self, call: Call, problem: OSError) -> None:
        self.emit("OffloadWriteFailed", "warning", operation=call.operation, error=os.strerror(0))


@fault("LRO-ERR-04", says="OffloadWriteFailed", proves=2)
class failure_event_has_another_name(Server):
    """`OffloadFailed`."""

    def write_failed(self, call: Call, problem: OSError) -> None:
        self.emit("OffloadFailed", "warning", error=str(problem))


@fault("LRO-ERR-04", says="results were written", proves=2)
class every_write_is_told_as_a_failure(Server):
    """The event is emitted before the write, in case that it fails."""

    def offload(self, call: Call) -> str:
        self.emit("OffloadWriteFailed", "warning", error="", operation=call.operation)
        return super().offload(call)


@fault("LRO-ERR-04", says="results were written", proves=2, profile="events: stderr\n")
class every_write_is_told_as_a_failure_on_stderr(every_write_is_told_as_a_failure):
    """The event is emitted before the write, on stderr only."""

    def notify(self, method: str, params: Record) -> None:
        pass


@fault("LRO-ERR-05", says="no descriptor, as there is no file", proves=2, also=("LRO-ERR-02", "LRO-ERR-03"))
class returns_the_descriptor_all_the_same(Server):
    """A descriptor of a file that could not be written."""

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        self.write_failed(call, problem)
        return self.offloaded(call, os.path.join(self.output_dir(), self.file_name(call)))


@fault("LRO-ERR-05", says="incomplete file", proves=2)
class names_what_one_write_took(Server):
    """A full disk takes a part of the file, and how much is not looked at."""

    def write(self, path: str, data: bytes) -> None:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(file, data)
        finally:
            os.close(file)


@fault("LRO-ERR-05", says="file_path", proves=2)
class fallback_names_the_missing_file(Server):
    """The right fallback, with the path of the file that is not there."""

    def truncated(self, call: Call, warning: str) -> Record:
        path = os.path.join(self.output_dir(), self.file_name(call))
        result = super().truncated(call, warning)
        value = result.get("structuredContent")
        return result if value is None else self.structured({**value, "file_path": path})


@fault("LRO-ERR-06", says="with", proves=2)
class warns_for_ever_after_a_failure(Server):
    """Descriptors carry the warning of an earlier failed write."""

    warned = ""

    def warning(self, kept: int, everything: int, problem: OSError) -> str:
        self.warned = super().warning(kept, everything, problem)
        return self.warned

    def descriptor(self, call: Call, path: str) -> Record:
        value = super().descriptor(call, path)
        return {**value, "warning": self.warned} if self.warned else value


@fault("LRO-ERR-06", says="again", proves=2)
class gives_up_offloading_after_a_failure(Server):
    """One failure turns offloading off until the process ends."""

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        result = super().on_write_failure(call, problem)
        self.settings.enabled = False
        return result


@fault("LRO-ERR-06", says="again", proves=2)
class keeps_falling_back_after_a_failure(Server):
    """The first failure is remembered and repeated without another try."""

    problem: OSError | None = None

    def offload(self, call: Call) -> str:
        if self.problem:
            raise self.problem
        return super().offload(call)

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        self.problem = problem
        return super().on_write_failure(call, problem)


@fault("LRO-ERR-05", says="a different folder", proves=2)
class falls_back_to_the_temporary_folder(Server):
    """If the configured folder cannot be written, the file goes to another one, where it is neither expected nor
    cleaned up."""

    def offload(self, call: Call) -> str:
        try:
            return super().offload(call)
        except OSError:
            path = os.path.join(os.environ.get("TMPDIR", "/tmp"), self.file_name(call))
            self.write(path, self.file_bytes(call))
            return path


@fault("LRO-ERR-02", says="cut off", proves=2)
class fallback_cuts_the_text(Server):
    """The JSON of everything, cut at so many characters as four times the threshold."""

    def truncated(self, call: Call, warning: str) -> Record:
        found = self.dumps([self.at_detail(memory, call.detail) for memory in call.found])
        return self.text(f"Warning: {warning}\n{found[: 4 * self.settings.threshold]}")


@fault("LRO-ERR-02", says="cut off", proves=2)
class fallback_cuts_the_text_before_a_warning(Server):
    """The JSON of everything, cut likewise, and the warning as a block of its own."""

    def truncated(self, call: Call, warning: str) -> Record:
        found = self.dumps([self.at_detail(memory, call.detail) for memory in call.found])
        texts = found[: 4 * self.settings.threshold], f"Warning: {warning}. Ask again once the folder can be written."
        return {"content": [{"type": "text", "text": text} for text in texts]}


@fault("LRO-ERR-03", says="warning", proves=2)
class fallback_ends_with_a_member_that_is_no_warning(Server):
    """The last member of the list says how many memories are shown, and nothing of a failure."""

    def truncated(self, call: Call, warning: str) -> Record:
        if call.operation == "inject":
            return super().truncated(call, warning)
        value = self.inline_value(call)
        return self.structured({**value, "results": [*value["results"], {"shown": f"{len(call.records)} memories"}]})


@fault("LRO-ERR-03", says="no warning", proves=2)
class fallback_of_inject_only_lists_memories(Server):
    """The shortened text of inject has no warning, and each memory in it has a line of labels and figures."""

    def inject_text(self, call: Call, budget: int) -> str:
        lines = [f"- {r['title']} [{r['namespace']}, {r['memory_type']}]: {r.get('content', '')}" for r in call.records]
        return "\n".join(["Relevant memories:", *lines])[: budget * 4]

    def truncated(self, call: Call, warning: str) -> Record:
        if call.operation == "inject":
            return self.text(self.inject_text(call, self.settings.threshold))
        return super().truncated(call, warning)


@fault("LRO-ERR-01", says="a task that failed", proves=2, everywhere=True)
class write_failure_fails_the_task(Tasking):
    """The result of a task that could not be written is whole and warns, but the task counts as failed."""

    def state(self, id: str) -> Record:
        state = super().state(id)
        return {**state, "status": "failed"} if not os.path.isdir(self.output_dir()) else state


@fault("LRO-ERR-06", says="deleted the only file in the folder", proves=2)
class cleanup_removes_the_empty_folder(Server):
    """The folder is made at the start, and by nothing after a cleanup that left it empty."""

    def cleanup(self, now: float) -> list[str]:
        gone, folder = super().cleanup(now), self.output_dir()
        if gone and not os.listdir(folder):
            os.rmdir(folder)
        return gone
