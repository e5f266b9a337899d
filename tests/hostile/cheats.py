"""Broken servers that hide it where a judge may not look. Not in the catalogue: they are not hostile, only wrong."""

from __future__ import annotations

import os

from tests.servers.plain import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.servers.plain import Call, Record


class builds_its_header_by_hand(Server):
    """A query with a quote, a backslash or a line feed in it breaks the header line."""

    def file_lines(self, call: Call) -> list[str]:
        header = self.dumps({**self.header(call), "query": "@Q@"}).replace("@Q@", call.query)
        return [header, *call.lines]


class counts_in_16_bits(Server):
    """A result of 65,536 tokens weighs nothing."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return tokens & 0xFFFF > threshold


class keeps_64_files(Server):
    """The oldest file goes when there are more than 64, whatever its age."""

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        mine = sorted(n for n in os.listdir(self.output_dir()) if self.matches(n))
        for name in mine[:-64]:
            try:
                os.unlink(os.path.join(self.output_dir(), name))
            except OSError:
                continue
        return path


class knows_its_judge(Server):
    """Offloads for the suite only, whose client says who it is."""

    judge = False

    def initialize(self, params: Record) -> Record:
        self.judge = params.get("clientInfo", {}).get("name") == "lro-certify"
        return super().initialize(params)

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return self.judge and tokens > threshold


class fails_where_nothing_is_found(Server):
    """The least of no scores is an error."""

    def execute(self, operation: str, arguments: Record) -> Call:
        call = super().execute(operation, arguments)
        if not call.records:
            raise ValueError("min() of an empty list")
        return call


class cuts_long_content_in_files(Server):
    """The column of the file's writer holds 4,000 characters."""

    def file_lines(self, call: Call) -> list[str]:
        lines = [
            self.dumps({**r, "content": r["content"][:4000]}) if len(r.get("content") or "") > 4000 else line
            for r, line in zip(call.records, call.lines, strict=True)
        ]
        return [self.dumps(self.header(call)), *lines]
