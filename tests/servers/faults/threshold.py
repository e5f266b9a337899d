"""Faults of scope and threshold."""

from __future__ import annotations

import os

from tests.servers.fastjson import loads
from tests.servers.faults.catalogue import fault
from tests.servers.limitless import NO_LIMIT, Limitless
from tests.servers.plain import Call, Server, Settings
from tests.servers.replacing import Replacing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tests.servers.plain import Record


class Sparing(Server):
    """Leaves some results inline whatever their size."""

    def spares(self, call: Call) -> bool:
        raise NotImplementedError

    def offer(self, operation: str, arguments: dict[str, Any]) -> Record:
        call = self.execute(operation, arguments)
        return self.inline(call) if self.spares(call) else super().offer(operation, arguments)


@fault("LRO-SCOPE-01", says="recall", proves=0)
class never_offloads_recall(Sparing):
    """Recall is left out: only search and inject are intercepted."""

    def spares(self, call: Call) -> bool:
        return call.operation == "recall"


@fault("LRO-SCOPE-01", says="recall", proves=0)
class recalls_everything_inline(Sparing):
    """A recall of `*` goes past the interceptor; one with words does not."""

    def spares(self, call: Call) -> bool:
        return call.operation == "recall" and call.query == "*"


@fault("LRO-SCOPE-02", says="search", proves=0)
class never_offloads_search(Sparing):
    """The search service is left out: only recall and inject are intercepted."""

    def spares(self, call: Call) -> bool:
        return call.operation == "search"


@fault("LRO-SCOPE-02", says="search", proves=0)
class offloads_search_only_at_medium_and_full(Sparing):
    """A search at light detail, its default, goes past the interceptor."""

    def spares(self, call: Call) -> bool:
        return call.operation == "search" and call.detail == "light"


@fault("LRO-SCOPE-03", says="inject", proves=0)
class never_offloads_inject(Sparing):
    """Inject is left out because its text has a budget anyway."""

    def spares(self, call: Call) -> bool:
        return call.operation == "inject"


@fault("LRO-SCOPE-03", says="inject", proves=0)
class offloads_inject_only_at_full(Sparing):
    """Inject is intercepted at full detail only, which is not its default."""

    def spares(self, call: Call) -> bool:
        return call.operation == "inject" and call.detail != "full"


class AnotherDefault(Server):
    """Has a different default threshold; a configured threshold is obeyed."""

    default: int

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        if not env.get("ATLATL_PROMPT__OFFLOAD__THRESHOLD_TOKENS"):
            settings.threshold = self.default
        return settings


@fault("LRO-THR-01", says="6400", proves=0)
class default_threshold_is_1600(AnotherDefault):
    """The default of another edition, or 6400 taken for characters."""

    default = 1600


@fault("LRO-THR-01", says="6400", proves=0, long=True)
class default_threshold_is_4096(AnotherDefault):
    """A round power of two."""

    default = 4096


@fault("LRO-THR-01", says="6400", proves=0, long=True)
class default_threshold_is_6000(AnotherDefault):
    """Nearly right."""

    default = 6000


@fault("LRO-THR-01", says="6400", proves=0)
class default_threshold_is_8000(AnotherDefault):
    """Nearly right on the other side."""

    default = 8000


@fault("LRO-THR-01", says="6400", proves=0, also=("LRO-CFG-06",))
class default_threshold_is_64000(AnotherDefault):
    """A digit too many."""

    default = 64000


@fault("LRO-THR-01", says="6400", proves=0, profile=NO_LIMIT)
class takes_no_limit_and_its_default_is_6000(Limitless, AnotherDefault):
    """Nearly right, and only stored memories vary what a call returns."""

    default = 6000

    def corpus(self) -> list[Record]:
        return []


@fault("LRO-THR-01", says="6400", proves=0, profile=NO_LIMIT)
class takes_no_limit_and_its_default_is_8000(Limitless, AnotherDefault):
    """Nearly right on the other side, with memories whose titles have the same words."""

    default = 8000

    def corpus(self) -> list[Record]:
        return [{**memory, "title": "A memory"} for memory in super().corpus()]


@fault("LRO-THR-02", says="characters", proves=0)
class counts_characters_as_tokens(Server):
    """The division by four is forgotten."""

    def estimate(self, lines: Sequence[str]) -> int:
        return sum(len(line) for line in lines)


@fault("LRO-THR-02", says="characters", proves=0)
class divides_by_two(Server):
    """Two characters a token."""

    def estimate(self, lines: Sequence[str]) -> int:
        return 2 * super().estimate(lines)


@fault("LRO-THR-02", says="characters", proves=0)
class divides_by_ten(Server):
    """Ten characters a token."""

    def estimate(self, lines: Sequence[str]) -> int:
        return super().estimate(lines) * 2 // 5


@fault("LRO-THR-02", says="characters", proves=0, also=("LRO-THR-05",))
class counts_words_between_spaces(Server):
    """A word is a token; JSON has few spaces."""

    def estimate(self, lines: Sequence[str]) -> int:
        return sum(len(line.split(" ")) for line in lines)


@fault("LRO-THR-02", says="record lines", proves=0, also=("LRO-THR-05",))
class leaves_vectors_out_of_the_estimate(Server):
    """Only what can be read is counted."""

    def estimate(self, lines: Sequence[str]) -> int:
        return super().estimate([self.readable(line) for line in lines])

    def readable(self, line: str) -> str:
        return self.dumps({**loads(line), "embedding": None}) if "embedding" in line else line


@fault("LRO-THR-02", says="one heuristic for all operations", proves=0)
class counts_words_in_a_search(Server):
    """A search counts words, as its index does; everything else counts characters."""

    def tokens(self, call: Call) -> int:
        if call.operation != "search":
            return super().tokens(call)
        return int(1.6 * sum(len("".join(c if c.isalpha() else " " for c in line).split()) for line in call.lines))


@fault("LRO-THR-02", says="characters", proves=0)
class counts_every_record_twice(Server):
    """Text and structured content are both counted, though one alone is read."""

    def tokens(self, call: Call) -> int:
        return self.estimate([*call.lines, *call.lines])


@fault("LRO-THR-02", says="characters", proves=0, also=("LRO-THR-08",))
class counts_kilobytes(Server):
    """One for each full 1024 bytes."""

    def estimate(self, lines: Sequence[str]) -> int:
        return -(-sum(len(line.encode()) for line in lines) // 1024)


@fault("LRO-THR-02", says="characters ÷ 6", proves=0)
class divides_by_six(Server):
    """Six characters a token, which rendered text could have."""

    def estimate(self, lines: Sequence[str]) -> int:
        return -(-sum(len(line) for line in lines) // 6)


@fault("LRO-THR-03", says="CJK", proves=3)
class counts_cjk_like_latin(Server):
    """Four characters a token in every script."""

    def estimate(self, lines: Sequence[str]) -> int:
        return -(-sum(len(line) for line in lines) // 4)


@fault("LRO-THR-03", says="CJK", proves=3)
class leaves_cjk_out_of_the_estimate(Server):
    """Only characters below U+1100 are counted."""

    def estimate(self, lines: Sequence[str]) -> int:
        return -(-sum(c < "\u1100" for line in lines for c in line) // 4)


class EstimatesAt(Server):
    """Estimates at another detail level than that of the records."""

    def estimated_detail(self, call: Call) -> str:
        raise NotImplementedError

    def tokens(self, call: Call) -> int:
        detail = self.estimated_detail(call)
        return self.estimate([self.record_line(self.at_detail(memory, detail)) for memory in call.found])


@fault("LRO-THR-05", says="enough for only some of the records", proves=0, also=("LRO-THR-02",))
class estimates_the_first_page_only(Server):
    """Twenty records are estimated, however many are found."""

    def tokens(self, call: Call) -> int:
        return self.estimate(call.lines[:20])


@fault("LRO-THR-05", says="enough for only some of the records", proves=0)
class estimates_the_first_hundred_only(Server):
    """Only a hundred records are estimated, however many are found."""

    def tokens(self, call: Call) -> int:
        return self.estimate(call.lines[:100])


@fault("LRO-THR-05", says="nearly all other files", proves=0, explored=True, long=True)
class estimates_by_a_sample(Server):
    """Ten records are estimated, and the rest is taken to be as large."""

    def tokens(self, call: Call) -> int:
        sample = call.lines[:10]
        return self.estimate(sample) * len(call.lines) // max(1, len(sample))


@fault("LRO-THR-05", says="nearly all other files", proves=0, also=("LRO-THR-03",), explored=True, long=True)
class estimates_ascii_only(Server):
    """Bytes are signed, and those of other letters are below zero: they are not counted."""

    def estimate(self, lines: Sequence[str]) -> int:
        return super().estimate([line.encode("ascii", "ignore").decode() for line in lines])


@fault("LRO-THR-05", says="nearly all other files", proves=0, explored=True, long=True)
class keeps_estimates_when_memories_are_stored(Server):
    """The estimate of equal arguments is kept, also if more memories are found by them later."""

    def tokens(self, call: Call) -> int:
        limit = call.arguments.get("limit")
        return kept(self).setdefault((call.operation, call.query, call.detail, limit), super().tokens(call))


@fault("LRO-THR-05", says="nearly all other files", proves=0, also=("LRO-THR-09",), explored=True, long=True)
class estimates_a_memory_as_it_was_at_first(Replacing):
    """The line of a memory is kept for further estimates at the same level, even once it has been stored again."""

    def tokens(self, call: Call) -> int:
        lines = vars(self).setdefault("counted", {})
        pairs = zip(call.found, call.lines, strict=True)
        return self.estimate([lines.setdefault((m["id"], call.detail), line) for m, line in pairs])


@fault("LRO-THR-05", says="detail", proves=0)
class estimates_full_as_medium(EstimatesAt):
    """Full detail is estimated by the fields of medium."""

    def estimated_detail(self, call: Call) -> str:
        return "medium" if call.detail == "full" else call.detail


@fault("LRO-THR-05", says="detail", proves=0, also=("LRO-THR-02",))
class estimates_at_the_default_detail(EstimatesAt):
    """The operation's default level is estimated, whatever was asked for."""

    def estimated_detail(self, call: Call) -> str:
        return self.default_detail(call.operation)


@fault("LRO-THR-05", says="detail", proves=0, also=("LRO-THR-02",))
class estimates_at_full_detail(EstimatesAt):
    """The stored memory is estimated, not the record that would be returned."""

    def estimated_detail(self, call: Call) -> str:
        return "full"


@fault("LRO-THR-06", says="offload", proves=0)
class needs_one_token_more(Server):
    """Off by one: exactly one token over the threshold stays inline."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return tokens > threshold + 1


@fault("LRO-THR-06", says="offload", proves=0)
class compares_in_whole_tens(Server):
    """Both sides are rounded down to tens before they are compared."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return tokens // 10 > threshold // 10


@fault("LRO-THR-06", says="offload", proves=0)
class is_strict_only_at_one_and_at_the_default(Server):
    """Right with the thresholds 1 and 6400, which everybody tries; elsewhere a tenth more is let through."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return tokens > (threshold if threshold in (1, 6400) else threshold * 1.1)


@fault("LRO-THR-06", says="for the query", proves=0)
class answers_long_questions_inline(Sparing):
    """A query of more than sixty characters is taken for a conversation, in which no file belongs."""

    def spares(self, call: Call) -> bool:
        return len(call.query) > 60


@fault("LRO-THR-06", says="offload", proves=0, also=("LRO-THR-08",))
class leaves_a_single_record_inline(Sparing):
    """One record alone is never offloaded, however large."""

    def spares(self, call: Call) -> bool:
        return len(call.records) == 1


@fault("LRO-THR-07", says="inline", proves=0)
class offloads_at_equal_threshold(Server):
    """`>=` where the text says `>`."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return tokens >= threshold


@fault("LRO-THR-07", says="inline", proves=0, also=("LRO-FILE-13",))
class rounds_the_threshold_down_to_hundreds(Server):
    """The threshold is held in hundreds of tokens; 6400 is not changed by that.

    Where it loses many of them, that looks like an estimate which is not the one in the header.
    """

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return tokens > threshold // 100 * 100


@fault("LRO-THR-07", says="inline", proves=0)
class counts_the_envelope_when_it_compares(Server):
    """The wrapping of the inline result is added before the comparison, but not in the header."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return tokens + 12 > threshold


@fault("LRO-THR-07", says="inline", proves=0, also=("LRO-THR-01", "LRO-THR-09", "LRO-INJ-01"))
class keeps_offloading_once_it_has(Server):
    """After one offloaded call every later one of the process is offloaded too."""

    latched = False

    def exceeds(self, tokens: int, threshold: int) -> bool:
        self.latched = self.latched or tokens > threshold
        return self.latched


@fault("LRO-THR-07", says="inline", proves=0, also=("LRO-THR-09",))
class offloads_at_equal_threshold_when_words_are_sought(Server):
    """`>=` for a query of words, `>` for `*`."""

    def threshold(self, call: Call) -> int:
        return self.settings.threshold - (call.query != "*")


@fault("LRO-THR-08", says="one memory of", proves=0)
class offloads_a_single_large_record(Server):
    """One record of more than a thousand tokens is offloaded even below the threshold."""

    def threshold(self, call: Call) -> int:
        large = any(self.estimate([line]) > 1000 for line in call.lines)
        return 0 if large else self.settings.threshold


@fault(
    "LRO-THR-08",
    says="leave it out of the estimate",
    proves=0,
    also=(
        "LRO-THR-05",
        "LRO-THR-06",
    ),
    explored=True,
)
class small_memories_do_not_count(Server):
    """Memories with less than eighty characters of content are left out of the total."""

    def tokens(self, call: Call) -> int:
        pairs = zip(call.found, call.lines, strict=True)
        return self.estimate([line for memory, line in pairs if len(memory["content"]) >= 80])


@fault(
    "LRO-THR-08", says="largest single record", proves=0, also=("LRO-THR-06", "LRO-THR-01", "LRO-THR-09", "LRO-CFG-06")
)
class compares_the_largest_record(Server):
    """Offloads when a single record exceeds the threshold, not when all of them together do."""

    def threshold(self, call: Call) -> int:
        largest = max((self.estimate([line]) for line in call.lines), default=0)
        return 0 if largest > self.settings.threshold else call.tokens


@fault("LRO-THR-09", says="threshold", proves=0, also=("LRO-THR-06",))
class search_has_twice_the_threshold(Server):
    """Search is given more room than recall."""

    def threshold(self, call: Call) -> int:
        return self.settings.threshold * (2 if call.operation == "search" else 1)


@fault("LRO-THR-09", says="threshold", proves=0, also=("LRO-THR-06",))
class full_detail_has_a_threshold_of_its_own(Server):
    """Full detail is given four times the room of the other levels."""

    def threshold(self, call: Call) -> int:
        return self.settings.threshold * (4 if call.detail == "full" else 1)


@fault("LRO-THR-09", says="threshold", proves=0, also=("LRO-THR-07", "LRO-CFG-02", "LRO-INJ-01"))
class inject_keeps_the_default_threshold(Server):
    """The setting reaches recall and search; inject goes on with 6400."""

    def threshold(self, call: Call) -> int:
        return min(6400, self.settings.threshold) if call.operation == "inject" else self.settings.threshold


@fault("LRO-CFG-02", says="threshold", proves=0, also=("LRO-THR-06", "LRO-THR-07", "LRO-THR-08", "LRO-THR-09"))
class threshold_setting_is_ignored(Server):
    """6400 whatever is set."""

    def threshold(self, call: Call) -> int:
        return 6400


@fault("LRO-CFG-02", says="threshold", proves=0, also=("LRO-THR-06", "LRO-THR-07", "LRO-THR-08", "LRO-THR-09"))
class threshold_is_read_from_another_variable(Server):
    """The single underscore of ATLATL_PROMPT_OFFLOAD_THRESHOLD_TOKENS is a typing error."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        settings.threshold = int(os.environ.get("ATLATL_PROMPT_OFFLOAD_THRESHOLD_TOKENS", "6400"))
        return settings


@fault("LRO-THR-05", says="computed before the limit was applied", proves=0)
class keeps_the_estimate_of_a_query(Server):
    """The estimate of the first call with a query is kept, whatever limit and level come with it later."""

    def tokens(self, call: Call) -> int:
        return kept(self).setdefault((call.operation, call.query), super().tokens(call))


@fault(
    "LRO-THR-02",
    says="the estimate does not fit the record lines",
    proves=0,
    also=(
        "LRO-THR-05",
        "LRO-THR-06",
    ),
)
class keeps_the_estimate_of_a_limit(Server):
    """The estimate of the first call with a limit and a level is kept, whatever is asked for later."""

    def tokens(self, call: Call) -> int:
        limit = call.arguments.get("limit")
        return kept(self).setdefault((call.operation, call.detail, limit), super().tokens(call))


def kept(server: Server) -> dict[Any, int]:
    """The estimates that a server keeps."""
    return vars(server).setdefault("kept", {})


@fault("LRO-THR-05", says="computed before the limit was applied", proves=0)
class estimate_is_made_before_the_limit(Server):
    """All that was found is weighed, and then cut."""

    def tokens(self, call: Call) -> int:
        found = [self.at_detail(memory, call.detail) for memory in self.find(call.operation, call.query)]
        return self.estimate([self.record_line(record) for record in found])
