"""Other ways to estimate that keep within what the text says."""

from __future__ import annotations

from tests.servers.plain import Call, Server
from tests.servers.sound.catalogue import sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.servers.plain import Record

LATIN = ("LRO-THR-03",)


@sound("it recomputes the estimate with another rounding", warns=LATIN)
class rounds_down(Server):
    def estimate(self, lines: Sequence[str]) -> int:
        return sum(len(line) for line in lines) // 4


@sound("it recomputes the estimate with another rounding", warns=LATIN)
class rounds_to_the_nearest(Server):
    def estimate(self, lines: Sequence[str]) -> int:
        return round(sum(len(line) for line in lines) / 4)


@sound("it recomputes the estimate of the whole, not of each line", warns=LATIN)
class rounds_up_for_each_record(Server):
    def estimate(self, lines: Sequence[str]) -> int:
        return sum(-(-len(line) // 4) for line in lines)


@sound("it counts characters where this server counts bytes")
class counts_bytes_over_four(Server):
    def estimate(self, lines: Sequence[str]) -> int:
        return -(-sum(len(line.encode()) for line in lines) // 4)


@sound("its tolerance ends below a fifth more, which is nearer to a tokenizer on JSON")
class counts_bytes_over_three_point_three(Server):
    def estimate(self, lines: Sequence[str]) -> int:
        return round(sum(len(line.encode()) for line in lines) / 3.3)


@sound("its tolerance is too narrow for a model's own tokenizer")
class counts_like_a_tokenizer(Server):
    def estimate(self, lines: Sequence[str]) -> int:
        return super().estimate(lines) * 13 // 10


@sound("it counts characters where a JavaScript server counts UTF-16 units", warns=LATIN)
class counts_utf_16_units(Server):
    def estimate(self, lines: Sequence[str]) -> int:
        return -(-sum(len(line.encode("utf-16-le")) // 2 for line in lines) // 4)


@sound("it leaves out line ends and the envelope, which this server counts every time")
class counts_the_envelope_always(Server):
    def tokens(self, call: Call) -> int:
        return self.estimate([*call.lines, "x" * (60 + len(call.lines))])


@sound("it estimates what is written with spaces, where this server estimates without them")
class estimates_without_spaces(Server):
    def tokens(self, call: Call) -> int:
        return self.estimate([line.replace('": ', '":').replace(', "', ',"') for line in call.lines])


@sound("it expects the same figure in header and summary")
class summary_subtracts_the_descriptor(Server):
    def descriptor(self, call: Call, path: str) -> Record:
        value = super().descriptor(call, path)
        saved = max(0, call.tokens - self.estimate([self.dumps(value)]))
        summary = {**value["summary"], "estimated_tokens": saved}
        return {**value, "summary": summary, "guidance": self.guidance(path, summary)}


@sound("it takes rendered text, which has fewer characters than JSON, for another divisor")
class estimates_a_text_without_quotation_marks(Server):
    def tokens(self, call: Call) -> int:
        return self.estimate([line.replace('"', "") for line in call.lines])
