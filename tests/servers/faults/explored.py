"""Faults that show with some limits, memories, names or ages only: what the explorer is for.

The memories that a server holds, and the calls that every run makes, are right with them.
"""

from __future__ import annotations

from tests.servers.faults.catalogue import fault
from tests.servers.plain import RECIPES, Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.servers.plain import Record

# Limits


@fault("LRO-THR-06", says="offloaded", proves=0, also=("LRO-THR-09",), explored=True)
class lets_pages_of_41_to_79_be_twice_as_large(Server):
    """A page of 41 to 79 memories may be twice as large."""

    def threshold(self, call: Call) -> int:
        return self.settings.threshold * (2 if 41 <= call.arguments.get("limit", 0) <= 79 else 1)


@fault("LRO-THR-06", says="offloaded", proves=0, also=("LRO-THR-09",), explored=True)
class forgets_a_page_that_has_just_begun(Server):
    """Nothing is offloaded if the last page of sixteen memories has only one."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return super().exceeds(tokens, threshold) and not self.begun

    def tokens(self, call: Call) -> int:
        self.begun = len(call.lines) > 16 and len(call.lines) % 16 == 1
        return super().tokens(call)


@fault("LRO-THR-07", says="inline", proves=0, also=("LRO-THR-09",), explored=True)
class offloads_short_pages(Server):
    """A page of 2 to 20 memories is offloaded with whatever threshold."""

    def threshold(self, call: Call) -> int:
        return 1 if 2 <= call.arguments.get("limit", 0) <= 20 else self.settings.threshold


# Memories


@fault(
    "LRO-FILE-01",
    says="one JSON object",
    proves=0,
    also=tuple(f"LRO-REC-{n:02}" for n in range(1, 11)),
    explored=True,
)
class writes_carriage_returns_as_they_are(Server):
    """Strings are escaped, but not carriage returns in them."""

    def record_line(self, record: Record) -> str:
        return super().record_line(record).replace("\\r", "\r")


# Cleanup


@fault("LRO-CFG-03", says="with a TTL of", proves=1, explored=True)
class takes_an_age_of_two_months_for_a_wrong_clock(Server):
    """Files that seem older than sixty days are kept."""

    def is_expired(self, path: str, now: float) -> bool:
        return super().is_expired(path, now) and now - self.created_at(path) < 60 * 86400


@fault("LRO-HARD-04", says="is left alone", proves=3, explored=True)
class ignores_case_in_names(Server):
    """`Atlatl-notes.JSONL` is taken for an offloaded file."""

    def matches(self, name: str) -> bool:
        return super().matches(name.lower())


# Recipes


class OneRecipe(Server):
    """Has another program in the place of one standard recipe."""

    number: int
    program: str

    def programs(self) -> Sequence[tuple[str, str]]:
        return [(t, self.program if n == self.number else p) for n, (t, p) in enumerate(RECIPES, 1)]


@fault("LRO-REC-01", says="rows", proves=1, explored=True)
class recipe_1_trims_titles(OneRecipe):
    """Spaces at the end of a title are cut off."""

    number = 1
    program = 'jq -r \'[(.title | sub(" +$"; "")), .provenance.confidence] | @tsv\''


@fault("LRO-REC-02", says="records", proves=1, explored=True)
class recipe_2_wants_tags(OneRecipe):
    """Memories without tags are left out."""

    number = 2
    program = "jq 'select(.namespace | startswith(\"_semantic\")) | select(.tags | length > 0)'"


@fault("LRO-REC-03", says="records", proves=1, explored=True)
class recipe_3_wants_tags(OneRecipe):
    """Memories without tags are left out."""

    number = 3
    program = 'jq \'select(.title | test("keyword"; "i")) | select(.tags | length > 0)\''


@fault("LRO-REC-03", says="records", proves=1, explored=True)
class recipe_3_gives_a_memory_for_each_match(OneRecipe):
    """`match` with `g`: a title that has the keyword twice is listed twice."""

    number = 3
    program = 'jq \'select(.title | match("keyword"; "ig"))\''


@fault("LRO-REC-03", says="record", proves=1, explored=True)
class recipe_3_finds_whole_words(OneRecipe):
    """The keyword stands between bounds of words."""

    number = 3
    program = 'jq \'select(.title | test("\\\\bkeyword\\\\b"; "i"))\''


@fault("LRO-REC-07", says="records", proves=1, explored=True)
class recipe_7_takes_no_entities_for_some(OneRecipe):
    """Selects lists that differ from the empty one, and so also records without the list."""

    number = 7
    program = "jq 'select(.entities != [])'"


@fault("LRO-REC-04", says="by: ", proves=1, explored=True)
class recipe_4_does_not_sort_low_scores(OneRecipe):
    """Confidences below one half count as one half."""

    number = 4
    program = "jq -s 'sort_by(-([.provenance.confidence, 0.5] | max))'"


@fault("LRO-REC-05", says="objects of id, title", proves=1, explored=True)
class recipe_5_trims_titles(OneRecipe):
    """Spaces at the end of a title are cut off."""

    number = 5
    program = 'jq \'{id, title: (.title | sub(" +$"; "")), namespace}\''


@fault("LRO-REC-06", says="records", proves=1, explored=True)
class recipe_6_wants_tags(OneRecipe):
    """Memories without tags are left out."""

    number = 6
    program = "jq 'select(.memory_type == \"semantic\") | select(.tags | length > 0)'"


@fault("LRO-REC-07", says="records", proves=1, explored=True)
class recipe_7_wants_one_entity(OneRecipe):
    """`== 1` in place of `> 0`."""

    number = 7
    program = "jq 'select(.entities | length == 1)'"


@fault("LRO-REC-08", says="values of namespace", proves=1, explored=True)
class recipe_8_leaves_out_what_is_there_once(OneRecipe):
    """Namespaces with a single memory are not listed."""

    number = 8
    program = (
        "jq -s 'group_by(.namespace) | map({namespace: .[0].namespace, count: length}) | map(select(.count > 1))"
        " | sort_by(-.count)'"
    )


@fault("LRO-REC-09", says="by: ", proves=1, explored=True)
class recipe_9_leaves_out_low_scores(OneRecipe):
    """A confidence below one half is not among the best, even where there is no better."""

    number = 9
    program = "jq -s 'map(select(.provenance.confidence >= 0.5)) | sort_by(-.provenance.confidence) | .[:10]'"


@fault("LRO-REC-10", says="records", proves=1, explored=True)
class recipe_10_wants_long_contents(OneRecipe):
    """Contents of less than sixty characters are not searched."""

    number = 10
    program = 'jq \'select(.content | length >= 60) | select(.content | test("pattern"; "i"))\''
