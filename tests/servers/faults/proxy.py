"""Faults of proxies: what they do to results that are none of their business, to large ones, and to all else."""

from __future__ import annotations

import os

from tests.servers.fastjson import dumps, loads
from tests.servers.faults.catalogue import fault
from tests.servers.proxy import AT_AN_ADDRESS, PROFILE, Proxy, Remote, Renumbering, Rewriting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from tests.servers.proxy import Record


def broken(
    id: str, *, says: str, also: tuple[str, ...] = (), profile: str = PROFILE
) -> Callable[[type[Proxy]], type[Proxy]]:
    """Enter a proxy as the offender of one requirement; of a server whose tools are not called it proves no level."""
    ids = tuple(f"LRO-PROXY-{a}" for a in also)
    return fault(f"LRO-PROXY-{id}", says=says, proves=0, also=ids, profile=profile)


# small results


@broken("01", says="lroProbe: missing", also=("02",))
class keeps_only_what_it_knows(Rewriting):
    """Members of a result that a typed model does not have are dropped."""

    def small(self, result: Record) -> Record:
        return {k: v for k, v in result.items() if k in ("content", "structuredContent", "isError", "_meta")}


@broken("01", says="structuredContent: missing", also=("02",))
class drops_structured_content(Rewriting):
    """Only the content is passed on."""

    def small(self, result: Record) -> Record:
        return {k: v for k, v in result.items() if k != "structuredContent"}


@broken("01", says="content:", also=("02",))
class passes_on_text_only(Rewriting):
    """Images, audio and links are taken out."""

    def small(self, result: Record) -> Record:
        return {**result, "content": [b for b in result["content"] if b["type"] == "text"]}


@broken("01", says="added", also=("02", "10", "11"))
class adds_structured_content(Rewriting):
    """A text is sent once more as structured content, which no schema announces."""

    def small(self, result: Record) -> Record:
        return {"structuredContent": {"result": self.text(result)}, **result}


@broken("01", says="tokens at most")
class offloads_at_half_the_threshold(Proxy):
    """Results of more than half of the threshold are offloaded."""

    def passes(self, result: Record) -> bool:
        return result.get("isError") is True or self.size(result) / 2 <= self.threshold


@broken("02", says="serialized again")
class writes_small_results_anew(Rewriting):
    """Read and written again: other spaces, other escapes, other digits."""

    def small(self, result: Record) -> Record:
        return result


# large results


@broken("03", says="structured content alone")
class offloads_text_only(Proxy):
    """The size is that of the text; a payload in structured content passes."""

    def size(self, result: Record) -> int:
        return len(self.text(result))


@broken("03", says="a short text beside structured content")
class weighs_the_text_where_there_is_one(Proxy):
    """A line of text carries large structured content past the threshold."""

    def size(self, result: Record) -> int:
        return len(self.text(result)) or super().size(result)


@broken("03", says="tokens at least")
class offloads_at_twice_the_threshold(Proxy):
    """Results of up to twice the threshold stay inline."""

    def passes(self, result: Record) -> bool:
        return result.get("isError") is True or self.size(result) / 8 <= self.threshold


@broken("03", says="the header's count is")
class counts_its_header_as_a_record(Proxy):
    """One more than there are."""

    def header(self, records: Sequence[str], extra: str, request: Record) -> str:
        return super().header([*records, ""], extra, request)


@broken("03", says="does not begin with a header")
class writes_records_from_the_first_line(Proxy):
    """The first line is a record."""

    def header(self, records: Sequence[str], extra: str, request: Record) -> str:
        return dumps({"n": 0, "extra": extra})


@broken("04", says="an object around an array")
class keeps_nothing_around_an_array(Proxy):
    """Totals and cursors beside the array are lost."""

    def of_json(self, text: str) -> tuple[list[str], str]:
        return super().of_json(text)[0], ""


@broken("04", says="no line has")
class cuts_long_lines(Proxy):
    """Sixty characters of each line of text."""

    def of_text(self, text: str) -> tuple[list[str], str]:
        return super().of_text("\n".join(line[:60] for line in text.split("\n")))


@broken("04", says="no record mk")
class keeps_a_hundred_records(Proxy):
    """And the header counts them."""

    def records(self, result: Record) -> tuple[list[str], str]:
        records, extra = super().records(result)
        return records[:100], extra


@broken("04", says="differs")
class flattens_records(Proxy):
    """Nested values of a record become strings."""

    def of_json(self, text: str) -> tuple[list[str], str]:
        records, extra = super().of_json(text)
        return [self.flat(loads(record), record) for record in records], extra

    def flat(self, value: Record, record: str) -> str:
        nested = [key for key, member in value.items() if isinstance(member, dict)]
        return dumps(value | {key: str(value[key]) for key in nested}) if nested else record


@broken("05", says="12345678901234567890123")
class reads_numbers_as_doubles(Proxy):
    """An id of 23 digits is rounded, and 1.10 becomes 1.1."""

    def of_json(self, text: str) -> tuple[list[str], str]:
        records, extra = super().of_json(text)
        return [dumps(rounded(loads(record))) for record in records], extra


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return float(value) if isinstance(value, int) and abs(value) > 2**53 else value


@broken("05", says="1.10 in each")
class shortens_decimals(Proxy):
    """Integers are kept, and 1.10 becomes 1.1."""

    def of_json(self, text: str) -> tuple[list[str], str]:
        records, extra = super().of_json(text)
        return [dumps(loads(record)) for record in records], extra


@broken("06", says="text and structured content")
class leaves_structured_content(Proxy):
    """Only the text is replaced, and the payload leaves the other way."""

    def replaced(self, result: Record, descriptor: Record) -> Record:
        made = super().replaced(result, descriptor)
        return made | ({"structuredContent": result["structuredContent"]} if "structuredContent" in result else {})


@broken("06", says="in an answer of")
class sends_the_payload_along(Proxy):
    """The descriptor comes first, and the text after it."""

    def replaced(self, result: Record, descriptor: Record) -> Record:
        made = super().replaced(result, descriptor)
        return {**made, "content": [made["content"][0], *result["content"]]}


@broken("07", says="more than once")
class keeps_both_forms(Proxy):
    """The text and the structured content are in the file, one after the other."""

    def records(self, result: Record) -> tuple[list[str], str]:
        records, extra = super().records(result)
        twice = "structuredContent" in result and self.text(result)
        return records + (super().of_text(self.text(result))[0] if twice else []), extra


@broken("07", says="more than once")
class repeats_the_whole_in_the_first_record(Proxy):
    """A copy of the raw text leads the file."""

    def of_text(self, text: str) -> tuple[list[str], str]:
        records, extra = super().of_text(text)
        return [dumps({"n": 0, "text": text}), *records], extra


@broken("08", says="structuredContent that is valid")
class lists_the_schema_as_it_was(Proxy):
    """A descriptor is not valid for it."""

    def schema(self, schema: Record) -> Record:
        return schema


@broken("08", says="there is none")
class replaces_by_text_alone(Proxy):
    """The answer of a tool with an output schema has no structured content."""

    def replaced(self, result: Record, descriptor: Record) -> Record:
        return {k: v for k, v in super().replaced(result, descriptor).items() if k != "structuredContent"}


@broken("08", says="admits each value")
class lists_the_schema_of_a_descriptor(Proxy):
    """Small results are not valid any more."""

    def schema(self, schema: Record) -> Record:
        return {"type": "object", "required": ["offloaded"]}


@broken("09", says="no blocks besides text")
class drops_images_beside_a_text(Proxy):
    """The answer is the descriptor and nothing else."""

    def replaced(self, result: Record, descriptor: Record) -> Record:
        made = super().replaced(result, descriptor)
        return {**made, "content": made["content"][:1]}


@broken("09", says="blocks of the types image")
class drops_links_beside_a_text(Proxy):
    """Images stay, links do not."""

    def replaced(self, result: Record, descriptor: Record) -> Record:
        made = super().replaced(result, descriptor)
        return {**made, "content": [b for b in made["content"] if b["type"] != "resource_link"]}


# errors, order, messages


@broken("10", says="a descriptor")
class offloads_errors(Proxy):
    """A large error is a large result."""

    def passes(self, result: Record) -> bool:
        return self.size(result) / 4 <= self.threshold


@broken("10", says="isError: missing")
class forgets_that_it_was_an_error(Proxy):
    """The text of an error arrives as a result."""

    def passed(self, message: Record, line: bytes) -> bytes:
        if message["result"].get("isError") is not True:
            return line
        return self.encode({**message, "result": {"content": message["result"]["content"]}})


@broken("10", says="a different code")
class has_an_error_of_its_own(Proxy):
    """Whatever the server's error was, the client gets -32603."""

    def other(self, message: Record, line: bytes) -> bytes:
        if "error" not in message:
            return line
        return self.encode({**message, "error": {"code": -32603, "message": message["error"]["message"]}})


@broken("11", says="another call")
class has_one_file_for_each_tool(Proxy):
    """The file of the call before is overwritten."""

    def write(self, records: Sequence[str], extra: str, request: Record) -> str:
        path = os.path.join(self.folder, f"lro-{self.operation(request)}-{'0' * 26}.jsonl")
        if os.path.exists(path):
            os.unlink(path)
        made = super().write(records, extra, request)
        os.rename(made, path)
        return path


@broken("11", says="no response within")
class takes_one_call_at_a_time(Proxy):
    """The next call is passed on when the one before was answered."""

    def __init__(self) -> None:
        super().__init__()
        self.queue: list[bytes] = []
        self.busy: Any = None

    def from_client(self, message: Record, line: bytes) -> None:
        if message.get("method") != "tools/call":
            self.tell(line)
        elif self.busy is None:
            self.busy = message["id"]
            self.tell(line)
        else:
            self.queue.append(line)

    def from_server(self, line: bytes) -> None:
        super().from_server(line)
        if loads(line.decode()).get("id") == self.busy:
            self.busy = None
            if self.queue:
                following = self.queue.pop(0)
                self.busy = loads(following.decode())["id"]
                self.tell(following)


@broken("12", says="the server received none")
class keeps_cancellations_to_itself(Proxy):
    """The server goes on."""

    def from_client(self, message: Record, line: bytes) -> None:
        if message.get("method") != "notifications/cancelled":
            self.tell(line)


@broken("12", says="cancellations of")
class maps_ids_but_not_those_of_cancellations(Renumbering):
    """The server is told to stop a call that it does not know."""


@broken("13", says="progress notifications")
class drops_progress(Proxy):
    """Progress notifications are dropped."""

    def unasked(self, message: Record, line: bytes) -> None:
        if message["method"] != "notifications/progress":
            self.say(line)


@broken("13", says="the log message")
class drops_log_messages(Proxy):
    """The server's log messages are dropped."""

    def unasked(self, message: Record, line: bytes) -> None:
        if message["method"] != "notifications/message":
            self.say(line)


@broken("13", says="of them")
class drops_a_flood(Proxy):
    """After a thousand messages the rest is dropped."""

    messages = 0

    def unasked(self, message: Record, line: bytes) -> None:
        self.messages += 1
        if "id" in message or self.messages <= 1000:
            self.say(line)


@broken("13", says="sampling/createMessage")
class answers_the_server_itself(Proxy):
    """A request of the server gets an error, and the client never sees it."""

    def unasked(self, message: Record, line: bytes) -> None:
        if "id" not in message:
            self.say(line)
            return
        error = {"code": -32601, "message": "a proxy cannot do that"}
        self.tell(dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode())


@broken("14", says="exit 5")
class has_recipes_for_memories_only(Proxy):
    """They sort by a confidence that no other record has."""

    def programs(self) -> Sequence[tuple[str, str]]:
        return (("The best", "jq -s 'sort_by(-.provenance.confidence) | .[:10]'"),)


@broken("14", says="it reads")
class has_recipes_for_a_placeholder(Proxy):
    """The path is that of an example."""

    def recipe(self, path: str, jq: str) -> str:
        return super().recipe("/tmp/lro-example.jsonl", jq)


@broken("15", says="no answer")
class ends_without_a_word(Proxy):
    """When the server ends it ends, too, and calls in progress have no answer."""

    def at_the_end(self) -> None:
        return


@broken("15", says="an error for a call")
class answers_with_nothing_when_the_server_ends(Proxy):
    """Calls in progress succeed, with an empty result."""

    def at_the_end(self) -> None:
        for id in list(self.asked):
            self.say(self.encode({"jsonrpc": "2.0", "id": id, "result": {"content": []}}))


@broken("16", says="a descriptor of a file")
class does_not_look_whether_it_was_written(Proxy):
    """The descriptor names a file that is not there."""

    def write(self, records: Sequence[str], extra: str, request: Record) -> str:
        try:
            return super().write(records, extra, request)
        except OSError:
            return os.path.join(self.folder, f"lro-say-{self.ulid()}.jsonl")


@broken("16", says="error")
class fails_the_call_when_it_cannot_write(Proxy):
    """The data was there, and is gone."""

    def failed(self, message: Record, records: Sequence[str], problem: OSError) -> bytes:
        text = {"type": "text", "text": f"the result could not be written: {problem.strerror}"}
        return self.encode({**message, "result": {"content": [text], "isError": True}})


@broken("16", says="and no warning")
class cuts_without_a_word(Proxy):
    """Five records, and nothing says that there were more."""

    def failed(self, message: Record, records: Sequence[str], problem: OSError) -> bytes:
        value = {"offloaded": False, "results": [loads(line) for line in records[:5]]}
        return self.encode({**message, "result": self.replaced(message["result"], value)})


# a server at an address


@broken("13", says="progress notifications", profile=AT_AN_ADDRESS)
class reads_the_last_event_alone(Remote):
    """Of a stream, only the answer is passed on."""

    def event(self, line: bytes) -> None:
        if "method" not in loads(line.decode()):
            super().event(line)


@broken("15", says="an error for a call", profile=AT_AN_ADDRESS)
class says_nothing_when_the_address_is_gone(Remote):
    """A connection that breaks off is left at that."""

    def unreachable(self, message: Record, problem: Exception) -> None:
        pass


# what it keeps


@broken("17", says="no other file")
class keeps_a_log_of_results(Proxy):
    """What goes through is appended to a log."""

    def passed(self, message: Record, line: bytes) -> bytes:
        self.keep(line)
        return super().passed(message, line)

    def keep(self, line: bytes) -> None:
        with open(os.path.join(os.environ["TMPDIR"], "proxy.log"), "ab") as file:
            file.write(line)


@broken("17", says="no other file")
class leaves_its_first_draft(Proxy):
    """A file is written under another name first, which stays."""

    def write(self, records: Sequence[str], extra: str, request: Record) -> str:
        path = super().write(records, extra, request)
        with open(path, "rb") as file, open(f"{path}.part", "wb") as draft:
            draft.write(file.read())
        return path
