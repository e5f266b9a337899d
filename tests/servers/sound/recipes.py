"""Recipes of another spelling and the same effect."""

from __future__ import annotations

from tests.servers.plain import RECIPES, Server
from tests.servers.sound.catalogue import sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.servers.plain import Record


class Respelled(Server):
    """Replaces text in every program."""

    changes: tuple[tuple[str, str], ...]

    def programs(self) -> Sequence[tuple[str, str]]:
        made: list[tuple[str, str]] = []
        for about, program in RECIPES:
            for old, new in self.changes:
                program = program.replace(old, new)
            made.append((about, program))
        return made


@sound("it expects exactly ten")
class has_thirteen_recipes(Server):
    def programs(self) -> Sequence[tuple[str, str]]:
        more = (
            ("The header", "jq -c '{id, created}'"),
            ("Tags by frequency", "jq -s '[.[].tags[]] | group_by(.) | map({tag: .[0], count: length})'"),
            ("The newest", "jq -s 'sort_by(.created) | last'"),
        )
        return (*RECIPES, *more)


@sound("it has no more patience with the ten once another recipe was costly")
class has_a_wordy_recipe_first(Server):
    def guidance(self, path: str, summary: Record) -> str:
        return "\n".join(line for line in super().guidance(path, summary).split("\n") if "#" not in line)

    def programs(self) -> Sequence[tuple[str, str]]:
        return (("Titles, again and again", "jq -r '.title * 2000'"), *RECIPES)


@sound("it compares descriptions with those of the text")
class describes_recipes_in_its_own_words(Server):
    def recipes(self, path: str) -> list[Record]:
        return [{**recipe, "description": f"Rezept {n}"} for n, recipe in enumerate(super().recipes(path), 1)]


@sound("it searches the command for the bare path")
class paths_are_always_quoted(Server):
    def quote(self, path: str) -> str:
        return "'" + path.replace("'", "'\"'\"'") + "'"


@sound("it reads a shell's words with a regular expression")
class paths_are_escaped_by_backslashes(Server):
    def quote(self, path: str) -> str:
        return "".join(c if c.isalnum() or c in "/._-" else f"\\{c}" for c in path)


@sound("it searches for `tail -n +2`")
class headers_are_skipped_by_sed(Server):
    def recipe(self, path: str, program: str) -> str:
        return f"sed 1d {self.quote(path)} | {program}"


@sound("it searches for `tail -n +2`")
class tail_is_spelled_without_a_space(Server):
    def recipe(self, path: str, program: str) -> str:
        return f"tail -n+2 {self.quote(path)} | {program}"


@sound("it expects tail to read the file itself")
class files_come_through_cat(Server):
    def recipe(self, path: str, program: str) -> str:
        return f"cat {self.quote(path)} | tail -n +2 | {program}"


@sound("it expects no option before the program")
class output_is_compact(Respelled):
    changes = (("jq '", "jq -c '"), ("jq -s '", "jq -c -s '"))


@sound("it knows short options only")
class options_are_long(Respelled):
    changes = (("jq -r ", "jq --raw-output "), ("jq -s ", "jq --slurp "))


@sound("it compares programs with those of the text")
class confidence_is_guarded(Respelled):
    changes = (
        ("-.provenance.confidence", "-(.provenance.confidence // 0)"),
        (".title | test", '(.title // "") | test'),
        (".content | test", '(.content // "") | test'),
        (".entities | length", "(.entities // []) | length"),
    )


@sound("it looks for `test` and its flag")
class keywords_are_looked_for_in_lower_case(Respelled):
    changes = (
        ('.title | test("keyword"; "i")', '.title | ascii_downcase | contains("keyword" | ascii_downcase)'),
        ('.content | test("pattern"; "i")', '(.content // "") | test("pattern"; "i")'),
    )


@sound("it expects ties in the order of a negated sort")
class sorts_and_turns_round(Respelled):
    changes = (
        ("sort_by(-.provenance.confidence)", "sort_by(.provenance.confidence) | reverse"),
        ("sort_by(-.count)", "sort_by(.count) | reverse"),
    )


@sound("it expects the literal in the program")
class keywords_are_arguments(Respelled):
    changes = (
        ('jq \'select(.title | test("keyword"; "i"))\'', "jq --arg k keyword 'select(.title | test($k; \"i\"))'"),
        ('jq \'select(.content | test("pattern"; "i"))\'', "jq --arg p pattern 'select(.content | test($p; \"i\"))'"),
    )


@sound("it counts the spaces of a program")
class programs_have_no_spaces(Respelled):
    changes = ((" | ", "|"), (": ", ":"), (", ", ","), ("; ", ";"))

    def recipe(self, path: str, program: str) -> str:
        return f"tail -n +2 {self.quote(path)}|{program}"


@sound("it expects jq to see whole files only behind tail")
class reads_the_file_by_inputs(Server):
    def recipe(self, path: str, program: str) -> str:
        words, _, rest = program.partition("'")
        rest = rest.removesuffix("'")
        raw = "-r " if "-r" in words else ""
        slurped = f"[inputs] | {rest}" if "-s" in words else f"inputs | {rest}"
        return f"jq {raw}-n 'input as $header | {slurped}' {self.quote(path)}"


@sound("it has libjq alone, which gives no inputs to a program that folds them")
class folds_its_inputs(Server):
    def programs(self) -> Sequence[tuple[str, str]]:
        found = list(super().programs())
        count = "reduce inputs as $m ({}; .[$m.namespace] += 1)"
        pairs = "to_entries | map({namespace: .key, count: .value}) | sort_by(-.count)"
        found[7] = (found[7][0], f"jq -n '{count} | {pairs}'")
        best = "sort_by(-.provenance.confidence) | .[:10]"
        found[8] = (found[8][0], f"jq -n '[limit(100000; inputs)] | {best}'")
        return found


@sound("it takes an option of jq that it does not know for a fault", proves=1)
class takes_lines_for_text(Server):
    def programs(self) -> Sequence[tuple[str, str]]:
        found = list(super().programs())
        found[4] = (found[4][0], "jq -R 'fromjson | {id, title, namespace}'")
        return found


@sound("it knows tail and sed, and takes awk for a program that may do anything")
class headers_are_skipped_by_awk(Server):
    def recipe(self, path: str, program: str) -> str:
        return f"awk 'NR > 1' {self.quote(path)} | {program}"


@sound("it takes every redirection for one that writes")
class files_are_redirected_to_tail(Server):
    def recipe(self, path: str, program: str) -> str:
        return f"tail -n +2 < {self.quote(path)} | {program}"


@sound("it counts the lines that are skipped")
class headers_are_left_out_by_grep(Server):
    def recipe(self, path: str, program: str) -> str:
        return f"grep -v lro_header {self.quote(path)} | {program}"


@sound("it takes the first string of a program for what that looks for")
class headers_are_left_out_by_jq(Server):
    def recipe(self, path: str, program: str) -> str:
        words, _, rest = program.partition("'")
        left_out = '[.[] | select(.type != "lro_header")] | ' if "-s" in words else 'select(.type != "lro_header") | '
        return f"{words}'{left_out}{rest} {self.quote(path)}"


@sound("it reads sed and awk by the number of the line only")
class headers_are_left_out_by_awk_and_sed(Server):
    def recipe(self, path: str, program: str) -> str:
        filters = "sed '/lro_header/d'" if "-s" in program else "awk '!/\"lro_header\"/'"
        return f"{filters} {self.quote(path)} | {program}"


@sound("it takes the anchor and the flags of a regular expression for a part of the word that is looked for")
class words_stand_in_regular_expressions(Respelled):
    changes = (
        ('startswith("_semantic")', 'test("^_semantic")'),
        ('test("keyword"; "i")', 'test("(?i)keyword")'),
        ('.memory_type == "semantic"', '.memory_type | test("^semantic$")'),
        ('test("pattern"; "i")', 'test(".*pattern.*"; "i")'),
    )


@sound("it tries recipes with a jq that is too old for their functions")
class fields_are_picked(Respelled):
    changes = (("{id, title, namespace}", "pick(.id, .title, .namespace)"),)


@sound("it compares programs with those of the text")
class programs_take_other_ways(Respelled):
    changes = (
        ('.memory_type == "semantic"', '"semantic" == .memory_type'),
        (".entities | length > 0", "(.entities // []) != []"),
        (
            "group_by(.namespace) | map({namespace: .[0].namespace, count: length})",
            "reduce .[] as $m ({}; .[$m.namespace] += 1) | to_entries | map({namespace: .key, count: .value})",
        ),
        ("sort_by(-.provenance.confidence) | .[:10]", "[limit(10; sort_by(-.provenance.confidence)[])]"),
    )


@sound("it takes a locale that is set, and the path of a program, for a program that it does not know")
class programs_have_paths_and_a_locale(Server):
    def recipe(self, path: str, program: str) -> str:
        return f"LC_ALL=C /usr/bin/tail -n +2 {self.quote(path)} | /usr/bin/{program}"


@sound("it takes a quote behind a dollar for an expansion")
class paths_are_quoted_as_bash_does(Server):
    def quote(self, path: str) -> str:
        return "$'" + path.replace("\\", "\\\\").replace("'", "\\'") + "'"


@sound("it takes a variable, a substitution and a group of commands for what may do anything")
class files_are_named_before_the_pipeline(Server):
    def recipe(self, path: str, program: str) -> str:
        if "-s" in program:
            return f"{program} <(tail -n +2 {self.quote(path)})"
        if "-r" in program:
            return f"{{ read -r _; {program}; }} < {self.quote(path)}"
        return f'FILE={self.quote(path)}; tail -n +2 "$FILE" | {program}'


@sound("it wants a page of a file, which is beside the ten, to begin at the first record")
class has_a_recipe_for_a_page(Server):
    def recipes(self, path: str) -> list[Record]:
        page = f"tail -n +2 {self.quote(path)} | sed -n '11,20p' | jq -c ."
        return [*super().recipes(path), {"description": "The second ten", "command": page}]


@sound("it wants three fields from a recipe that the text describes as ids and titles only")
class recipe_5_has_ids_and_titles_only(Respelled):
    changes = (("{id, title, namespace}", "{id, title}"),)


@sound("it takes two variants of one recipe for one that has no description")
class has_two_recipes_of_one_description(Server):
    def programs(self) -> Sequence[tuple[str, str]]:
        more = (("Memories of one type", "jq 'select(.memory_type == \"episodic\")'"),)
        return (*RECIPES, *more)
