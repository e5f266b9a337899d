"""Sound proxies: other ids, other names, other forms of the same records."""

from __future__ import annotations

from tests.servers.fastjson import dumps, loads
from tests.servers.proxy import AT_AN_ADDRESS, PROFILE, Proxy, Remote, Renumbering, Rewriting
from tests.servers.sound.catalogue import sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.servers.proxy import Record


def honest(why: str, *, warns: tuple[str, ...] = (), profile: str = PROFILE) -> Callable[[type[Proxy]], type[Proxy]]:
    """Enter a proxy as one that nobody may blame; of a server whose tools are not called it proves no level."""
    ids = tuple(f"LRO-PROXY-{id}" for id in warns)
    return sound(why, proves=0, warns=ids, profile=profile)


@honest("It is the plain one: whatever is blamed here is the suite's own fault.")
class is_a_plain_proxy(Proxy):
    pass


@honest("Small results are read and written again, and digits change, which a SHOULD asks to avoid.", warns=("02",))
class reads_and_writes_everything(Rewriting):
    def small(self, result: Record) -> Record:
        return result


@honest("A program in JavaScript has no other numbers than doubles.", warns=("02", "05"))
class has_doubles_only(Rewriting):
    def small(self, result: Record) -> Record:
        return result

    def of_json(self, text: str) -> tuple[list[str], str]:
        records, extra = super().of_json(text)
        return [dumps(loads(r.replace("12345678901234567890123", "1.2345678901234568e22"))) for r in records], extra


@honest("The server sees other ids than the client, and cancellations with those.")
class maps_all_ids(Renumbering):
    def mapped(self, message: Record, line: bytes) -> bytes:
        if message.get("method") != "notifications/cancelled":
            return line
        own = {id: number for number, id in self.ids.items()}
        params = message["params"]
        return dumps({**message, "params": {**params, "requestId": own[params["requestId"]]}}).encode()


@honest("The names of tools say which server they are of.")
class puts_a_prefix_before_names(Proxy):
    def listed(self, message: Record, line: bytes) -> bytes:
        for tool in message["result"]["tools"]:
            tool["name"] = "probe__" + tool["name"]
        return super().listed(message, line)

    def from_client(self, message: Record, line: bytes) -> None:
        self.tell(line.replace(b'"name":"probe__', b'"name":"', 1))


@honest("Without an output schema in the list, no client holds a result against one.")
class lists_no_output_schema(Proxy):
    def listed(self, message: Record, line: bytes) -> bytes:
        for tool in message["result"]["tools"]:
            tool.pop("outputSchema", None)
        return self.encode(message)

    def replaced(self, result: Record, descriptor: Record) -> Record:
        return {k: v for k, v in super().replaced(result, descriptor).items() if k != "structuredContent"}


@honest("Each record is a member of its line, which has a number as well.")
class wraps_each_record(Proxy):
    def of_json(self, text: str) -> tuple[list[str], str]:
        records, extra = super().of_json(text)
        return [f'{{"n":{n},"value":{record}}}' for n, record in enumerate(records, 1)], extra


@honest("Lines of a text are kept by the dozen.")
class keeps_lines_in_chunks(Proxy):
    def of_text(self, text: str) -> tuple[list[str], str]:
        lines = text.split("\n")
        return [dumps({"from": n, "text": "\n".join(lines[n : n + 12])}) for n in range(0, len(lines), 12)], ""


@honest("The first records are shown beside the descriptor.")
class shows_a_preview(Proxy):
    def descriptor(self, path: str, records: Sequence[str]) -> Record:
        return {**super().descriptor(path, records), "preview": [loads(record) for record in records[:5]]}


@honest("When the file cannot be written, the whole result is passed on.")
class passes_all_when_it_cannot_write(Proxy):
    def failed(self, message: Record, records: Sequence[str], problem: OSError) -> bytes:
        return self.encode(message)


@honest("When the server ends, calls in progress end in a result that is an error.")
class tells_the_end_by_a_result(Proxy):
    def at_the_end(self) -> None:
        text = {"type": "text", "text": "the server behind this proxy has ended"}
        for id in list(self.asked):
            self.say(self.encode({"jsonrpc": "2.0", "id": id, "result": {"content": [text], "isError": True}}))


FILED = PROFILE.replace('--, "{upstream}"', '"--config={upstream_config}"')


@honest("Its server is named in a file.", profile=FILED)
class reads_its_server_from_a_file(Proxy):
    def behind(self) -> list[str]:
        import sys

        named = [word.removeprefix("--config=") for word in sys.argv if word.startswith("--config=")]
        if not named:
            return super().behind()
        with open(named[0], encoding="utf-8") as file:
            (server,) = loads(file.read())["mcpServers"].values()
        return [server["command"], *server["args"]]


@honest("Its server is at an address, and may stream its answers.", profile=AT_AN_ADDRESS)
class stands_before_an_address(Remote):
    pass
