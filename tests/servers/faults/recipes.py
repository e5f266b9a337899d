"""Faults of the jq recipes."""

from __future__ import annotations

from tests.servers.faults.catalogue import fault
from tests.servers.plain import RECIPES, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.servers.plain import Call, Record

EFFECTS = tuple(f"LRO-REC-{number:02}" for number in range(1, 11))


class Spelled(Server):
    """Has another program for one of the ten."""

    number: int
    program: str

    def programs(self) -> Sequence[tuple[str, str]]:
        programs = list(RECIPES)
        programs[self.number - 1] = (programs[self.number - 1][0], self.program)
        return programs


@fault("LRO-REC-01", says="title", proves=1)
class recipe_1_turns_the_columns_round(Spelled):
    """The score comes before the title."""

    number, program = 1, "jq -r '[.provenance.confidence, .title] | @tsv'"


@fault("LRO-REC-01", says="title", proves=1)
class recipe_1_prints_json_strings(Spelled):
    """Without -r every line is a quoted string."""

    number, program = 1, "jq '[.title, .provenance.confidence] | @tsv'"


@fault("LRO-REC-01", says="200 rows", proves=1)
class recipe_1_lists_namespaces(Spelled):
    """The first recipe of another edition."""

    number, program = 1, "jq -r '[.title, .namespace] | @tsv'"


@fault("LRO-REC-01", says="200 rows", proves=1)
class recipe_1_reads_the_score_at_another_place(Spelled):
    """`.confidence` is not there."""

    number, program = 1, "jq -r '[.title, .confidence] | @tsv'"


@fault("LRO-REC-02", says="102 of 200 records", proves=1)
class recipe_2_compares_the_whole_namespace(Spelled):
    """Equality in place of a prefix."""

    number, program = 2, "jq 'select(.namespace == \"_semantic\")'"


@fault("LRO-REC-02", says="102 of 200 records", proves=1)
class recipe_2_compares_the_end(Spelled):
    """`endswith`."""

    number, program = 2, "jq 'select(.namespace | endswith(\"_semantic\"))'"


@fault("LRO-REC-02", says="namespace", proves=1)
class recipe_2_finds_the_prefix_anywhere(Spelled):
    """`contains`: right wherever no namespace has the prefix further on."""

    number, program = 2, "jq 'select(.namespace | contains(\"_semantic\"))'"


@fault("LRO-REC-02", says="namespace", proves=1)
class recipe_2_selects_the_others(Spelled):
    """The test is negated."""

    number, program = 2, "jq 'select(.namespace | startswith(\"_semantic\") | not)'"


@fault("LRO-REC-03", says="200 of 200 records", proves=1)
class recipe_3_minds_upper_and_lower_case(Spelled):
    """Without the flag `i`."""

    number, program = 3, "jq 'select(.title | test(\"keyword\"))'"


@fault("LRO-REC-03", says="no output", proves=1)
class recipe_3_compares_the_whole_title(Spelled):
    """Equality in place of a search."""

    number, program = 3, "jq 'select((.title | ascii_downcase) == \"keyword\")'"


@fault("LRO-REC-03", says="no output", proves=1)
class recipe_3_searches_the_namespace(Spelled):
    """Another field."""

    number, program = 3, 'jq \'select(.namespace | test("keyword"; "i"))\''


@fault("LRO-REC-04", says="200 of 200 records in descending order of confidence: 1", proves=1)
class recipe_4_sorts_upwards(Spelled):
    """The least confident first."""

    number, program = 4, "jq -s 'sort_by(.provenance.confidence)'"


@fault("LRO-REC-04", says="200 of 200 records in descending order of confidence: 1", proves=1)
class recipe_4_sorts_by_title(Spelled):
    """Another field."""

    number, program = 4, "jq -s 'sort_by(.title)'"


class EquallyConfident(Spelled):
    """All memories have the same confidence, so that files show no order."""

    def confidence(self, record: Record) -> float | None:
        return 0.5

    def at_detail(self, memory: Record, detail: str) -> Record:
        return {**super().at_detail(memory, detail), "provenance": {"confidence": 0.5}}


@fault("LRO-REC-04", says="other values of", proves=1)
class recipe_4_sorts_equals_upwards(EquallyConfident):
    """The least confident first, where all are equally so."""

    number, program = 4, "jq -s 'sort_by(.provenance.confidence)'"


@fault("LRO-REC-09", says="other values of", proves=1)
class recipe_9_takes_the_first_of_equals(EquallyConfident):
    """The first ten memories, where all are equally confident."""

    number, program = 9, "jq -s '.[:10]'"


@fault("LRO-REC-04", says="exited 5", proves=1)
class recipe_4_forgets_to_slurp(Spelled):
    """Without -s there is nothing to sort."""

    number, program = 4, "jq 'sort_by(-.provenance.confidence)'"


@fault("LRO-REC-04", says="an array of 100", proves=1)
class recipe_4_keeps_a_hundred(Spelled):
    """Sorted, but cut."""

    number, program = 4, "jq -s 'sort_by(-.provenance.confidence) | .[:100]'"


@fault("LRO-REC-05", says="title", proves=1)
class recipe_5_lacks_the_title(Spelled):
    """Ids and namespaces, which nobody can choose from."""

    number, program = 5, "jq '{id, namespace}'"


@fault("LRO-REC-05", says="id", proves=1)
class recipe_5_prints_arrays(Spelled):
    """Arrays in place of objects."""

    number, program = 5, "jq -c '[.id, .title, .namespace]'"


@fault("LRO-REC-05", says="id", proves=1)
class recipe_5_prints_whole_records(Spelled):
    """Nothing is extracted."""

    number, program = 5, "jq ."


@fault("LRO-REC-06", says="114 of 200 records", proves=1)
class recipe_6_reads_type(Spelled):
    """`.type` is a field of the header."""

    number, program = 6, "jq 'select(.type == \"semantic\")'"


@fault("LRO-REC-06", says="memory_type", proves=1)
class recipe_6_selects_the_others(Spelled):
    """`!=`."""

    number, program = 6, "jq 'select(.memory_type != \"semantic\")'"


@fault("LRO-REC-06", says="memory_type", proves=1)
class recipe_6_takes_part_of_a_type(Spelled):
    """`contains`: right wherever no type is part of another's name."""

    number, program = 6, "jq 'select(.memory_type | contains(\"semantic\"))'"


@fault("LRO-REC-06", says="memory_type", proves=1)
class recipe_6_wants_archived_ones_only(Spelled):
    """An additional condition."""

    number, program = 6, 'jq \'select(.memory_type == "semantic" and .status == "archived")\''


@fault("LRO-REC-07", says="67 of 200 records", proves=1)
class recipe_7_takes_empty_lists_for_entities(Spelled):
    """Tests if the field exists, not if it has elements."""

    number, program = 7, "jq 'select(.entities != null)'"


@fault("LRO-REC-07", says="67 of 200 records", proves=1)
class recipe_7_wants_two_entities(Spelled):
    """Off by one."""

    number, program = 7, "jq 'select(.entities | length > 1)'"


@fault("LRO-REC-07", says="67 of 200 records", proves=1)
class recipe_7_looks_at_tags(Spelled):
    """Another field."""

    number, program = 7, "jq 'select(.tags | length > 0)'"


@fault("LRO-REC-08", says="count", proves=1)
class recipe_8_counts_by_type(Spelled):
    """Another field."""

    number, program = (
        8,
        "jq -s 'group_by(.memory_type) | map({namespace: .[0].memory_type, count: length}) | sort_by(-.count)'",
    )


@fault("LRO-REC-08", says="7 values of namespace", proves=1)
class recipe_8_sorts_upwards(Spelled):
    """The rarest first."""

    number, program = (
        8,
        "jq -s 'group_by(.namespace) | map({namespace: .[0].namespace, count: length}) | sort_by(.count)'",
    )


@fault("LRO-REC-08", says="7 values of namespace", proves=1)
class recipe_8_does_not_sort(Spelled):
    """The recipe of another edition."""

    number, program = 8, "jq -s 'group_by(.namespace) | map({namespace: .[0].namespace, count: length})'"


@fault("LRO-REC-08", says="1 value: 7", proves=1)
class recipe_8_only_counts_namespaces(Spelled):
    """Prints only the number of namespaces."""

    number, program = 8, "jq -s 'map(.namespace) | unique | length'"


@fault("LRO-REC-09", says="10 of 200 records in descending order of confidence: 1", proves=1)
class recipe_9_takes_the_first_ten(Spelled):
    """Without sorting."""

    number, program = 9, "jq -s '.[:10]'"


@fault("LRO-REC-09", says="10 of 200 records in descending order of confidence: 1", proves=1)
class recipe_9_takes_the_worst_ten(Spelled):
    """Sorted the wrong way round."""

    number, program = 9, "jq -s 'sort_by(.provenance.confidence) | .[:10]'"


@fault("LRO-REC-09", says="an array of 190", proves=1)
class recipe_9_takes_all_but_ten(Spelled):
    """The slice is turned round."""

    number, program = 9, "jq -s 'sort_by(-.provenance.confidence) | .[10:]'"


@fault("LRO-REC-10", says="of 200 records", proves=1)
class recipe_10_searches_the_title(Spelled):
    """Another field."""

    number, program = 10, 'jq \'select(.title | test("pattern"; "i"))\''


@fault("LRO-REC-10", says="searching for", proves=1)
class recipe_10_minds_upper_and_lower_case(Spelled):
    """Without the flag `i`."""

    number, program = 10, "jq 'select(.content | test(\"pattern\"))'"


@fault("LRO-REC-10", says="no recipe does what recipe 10 is for", proves=1, also=("LRO-REC-13",))
class recipe_10_is_missing(Server):
    """Nine recipes."""

    def programs(self) -> Sequence[tuple[str, str]]:
        return RECIPES[:9]


@fault("LRO-REC-10", says="of 200 records", proves=1)
class recipe_10_compares_the_whole_content(Spelled):
    """Equality in place of a search."""

    number, program = 10, "jq 'select(.content == \"pattern\")'"


@fault("LRO-REC-11", says="{file}", proves=1, also=EFFECTS)
class recipes_keep_the_placeholder(Server):
    """`{file}` is left as printed in the specification."""

    def quote(self, path: str) -> str:
        return "{file}"


@fault("LRO-REC-11", says="the file", proves=1, also=EFFECTS)
class recipes_have_only_the_file_name(Server):
    """Without the folder they work in that folder only."""

    def quote(self, path: str) -> str:
        return path.rpartition("/")[2]


@fault("LRO-REC-11", says="the file", proves=1, also=("LRO-HARD-03",), everywhere=True)
class dollars_in_the_path_are_interpreted(Server):
    """`template.replace("{file}", path)` in JavaScript, for which `$$` in the path is one dollar."""

    def quote(self, path: str) -> str:
        return super().quote(path).replace("$$", "$")


@fault("LRO-REC-11", says="the file", proves=1, also=EFFECTS)
class recipes_name_the_file_before(Server):
    """From the second call on, the path is that of the call before."""

    before = ""

    def recipes(self, path: str) -> list[Record]:
        before, self.before = self.before or path, path
        return super().recipes(before)


@fault("LRO-REC-11", says="{file}", proves=1, also=("LRO-REC-10",))
class last_recipe_keeps_the_placeholder(Server):
    """Nine are filled in."""

    def recipes(self, path: str) -> list[Record]:
        recipes = super().recipes(path)
        recipes[-1]["command"] = f"tail -n +2 {{file}} | {RECIPES[-1][1]}"
        return recipes


@fault("LRO-REC-12", says="does not start reading at line 2", proves=1, also=EFFECTS)
class recipes_read_the_header_too(Server):
    """`tail -n +1` begins with line 1."""

    def recipe(self, path: str, program: str) -> str:
        return f"tail -n +1 {self.quote(path)} | {program}"


@fault("LRO-REC-12", says="does not start reading at line 2", proves=1, also=EFFECTS, long=True)
class substitutions_read_the_header_too(Server):
    """A file in a variable is read from its first line on."""

    def recipe(self, path: str, program: str) -> str:
        return f'FILE={self.quote(path)}; {program} <(cat "$FILE")'


@fault("LRO-REC-12", says="does not start reading at line 2", proves=1, also=EFFECTS)
class recipes_skip_two_lines(Server):
    """`tail -n +3` loses the first record."""

    def recipe(self, path: str, program: str) -> str:
        return f"tail -n +3 {self.quote(path)} | {program}"


@fault("LRO-REC-12", says="does not start reading at line 2", proves=1, also=EFFECTS)
class recipes_forget_the_plus(Server):
    """`tail -n 2` takes the last two lines."""

    def recipe(self, path: str, program: str) -> str:
        return f"tail -n 2 {self.quote(path)} | {program}"


@fault("LRO-REC-12", says="recipe 5 does not start reading at line 2", proves=1, also=("LRO-REC-05",))
class recipe_5_reads_the_header_too(Server):
    """Nine skip it."""

    def recipes(self, path: str) -> list[Record]:
        recipes = super().recipes(path)
        recipes[4]["command"] = f"cat {self.quote(path)} | {RECIPES[4][1]}"
        return recipes


@fault("LRO-REC-13", says="at least 10 recipes", proves=1, also=("LRO-REC-10",))
class light_files_have_nine_recipes(Server):
    """A search in content is not offered where there is no content."""

    def descriptor(self, call: Call, path: str) -> Record:
        value = super().descriptor(call, path)
        return {**value, "jq_recipes": value["jq_recipes"][:9]} if call.detail == "light" else value


@fault("LRO-REC-13", says="description", proves=1)
class a_description_is_empty(Server):
    """The sixth recipe says nothing."""

    def recipes(self, path: str) -> list[Record]:
        recipes = super().recipes(path)
        recipes[5]["description"] = ""
        return recipes


@fault("LRO-REC-13", says="command", proves=1)
class an_eleventh_recipe_has_no_command(Server):
    """Ten are whole."""

    def recipes(self, path: str) -> list[Record]:
        return [*super().recipes(path), {"description": "Whatever else is needed", "command": ""}]


@fault("LRO-REC-13", says="command", proves=1)
class an_eleventh_recipe_deletes_the_file(Server):
    """`rm` is no extraction."""

    def recipes(self, path: str) -> list[Record]:
        return [*super().recipes(path), {"description": "Delete the file", "command": f"rm -f {self.quote(path)}"}]


@fault("LRO-REC-13", says="command", proves=1)
class an_eleventh_recipe_writes_a_file(Server):
    """The output goes into another file."""

    def recipes(self, path: str) -> list[Record]:
        command = self.recipe(path, f"jq -c . > {self.quote(path)}.copy")
        return [*super().recipes(path), {"description": "Copy the records", "command": command}]


@fault("LRO-REC-13", says="description", proves=1)
class descriptions_are_called_title(Server):
    """Another name for the field."""

    def recipes(self, path: str) -> list[Record]:
        return [{"title": r["description"], "command": r["command"]} for r in super().recipes(path)]


class Described(Server):
    """Other descriptions for the standard programs, and guidance that cites no number."""

    def descriptions(self) -> Sequence[str]:
        raise NotImplementedError

    def programs(self) -> Sequence[tuple[str, str]]:
        return [(about, program) for about, (_, program) in zip(self.descriptions(), RECIPES, strict=True)]

    def guidance(self, path: str, summary: Record) -> str:
        return "\n".join(line for line in super().guidance(path, summary).split("\n") if "#" not in line)


@fault("LRO-REC-13", says="told apart", proves=1)
class recipes_are_all_described_alike(Described):
    """Ten times `recipe`."""

    def descriptions(self) -> Sequence[str]:
        return ["recipe"] * 10


@fault("LRO-REC-13", says="do not fit their commands", proves=1)
class recipes_have_their_neighbours_descriptions(Described):
    """The list of descriptions is off by one."""

    def descriptions(self) -> Sequence[str]:
        about = [about for about, _ in RECIPES]
        return [*about[1:], about[0]]


@fault(
    "LRO-REC-04",
    says="once the suite gives the file's records other values of .provenance.confidence",
    proves=1,
    also=("LRO-REC-09",),
)
class recipe_4_sorts_upwards_as_no_record_has_a_confidence(Spelled):
    """Memories have no provenance, so that any order of them is right."""

    number, program = 4, "jq -s 'sort_by(.provenance.confidence) | .[]'"

    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        return {name: value for name, value in record.items() if name != "provenance"}


@fault("LRO-REC-13", says="has no jq", proves=1, also=("LRO-HARD-03",), everywhere=True)
class cuts_commands_at_255_characters(Server):
    """A column of a table, in which recipes were kept once."""

    def recipe(self, path: str, program: str) -> str:
        return super().recipe(path, program)[:255]
