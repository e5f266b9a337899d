"""Faults of tools that read offloaded files."""

from __future__ import annotations

import os
import re

from tests.servers.exploring import Exploring
from tests.servers.extracting import MOST, PROFILE, Extracting
from tests.servers.faults.catalogue import fault
from tests.servers.plain import BadArguments
from tests.servers.shortening import Shortening

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from tests.servers.plain import Record


def broken(
    id: str, *, says: str, also: tuple[str, ...] = (), profile: str = PROFILE
) -> Callable[[type[Extracting]], type[Extracting]]:
    """Enter a server as the offender of one requirement; its levels are no concern of the tools."""
    ids = tuple(f"LRO-EXTRACT-{a}" for a in also)
    return fault(f"LRO-EXTRACT-{id}", says=says, proves=3, also=ids, profile=profile)


# which file is read


@broken("01", says="is no result")
class knows_only_its_last_file(Extracting):
    """Files offloaded before the last result can no longer be read."""

    def is_offered(self, name: str) -> bool:
        return name == list(self.offered)[-1] and super().is_offered(name)


@broken("01", says="an answer with")
class reads_another_file(Extracting):
    """Whichever offered file is asked for, the first is read."""

    def found(self, path: str) -> str:
        super().found(path)
        return os.path.join(self.output_dir(), next(iter(self.offered)))


class Trusting(Extracting):
    """Asks for no offer, only where a file lies."""

    def is_offered(self, name: str) -> bool:
        return name in self.offered or not self.is_in_folder(name)

    def is_in_folder(self, name: str) -> bool:
        return not os.path.isabs(name)

    def found(self, path: str) -> str:
        if not os.path.exists(path.replace("\0", "")) and not self.is_offered(os.path.basename(path)):
            raise BadArguments("there is no such file")
        return super().found(path)


@broken("02", says="elsewhere is refused")
class reads_any_absolute_path(Extracting):
    """Every existing file outside of the folder is read."""

    def found(self, path: str) -> str:
        elsewhere = "\0" not in path and os.path.realpath(os.path.dirname(path)) != self.real_dir()
        return path if elsewhere and os.path.isfile(path) else super().found(path)


@broken("02", says="begins like")
class compares_the_beginning_of_the_folder(Extracting):
    """A path that begins with the folder's is thought to lie in it."""

    def found(self, path: str) -> str:
        real = os.path.realpath(path.replace("\0", ""))
        elsewhere = os.path.dirname(real) != self.real_dir() and real.startswith(self.real_dir())
        return real if elsewhere and os.path.isfile(real) else super().found(path)


@broken("02", says="with ..")
class compares_paths_as_they_are_written(Extracting):
    """If a path begins with the folder and a slash, the rest is not examined."""

    def found(self, path: str) -> str:
        inside = path.startswith(f"{self.output_dir()}/..") and "\0" not in path
        return path if inside and os.path.isfile(path) else super().found(path)


@broken("02", says="a link in the")
class follows_links(Extracting):
    """A link that lies in the folder is read, wherever it leads."""

    def is_offered(self, name: str) -> bool:
        return os.path.islink(os.path.join(self.output_dir(), name)) or super().is_offered(name)


@broken("02", says="in the place of")
class knows_its_files_by_name_only(Extracting):
    """Whatever stands under the name of an offered file is read."""

    def is_offered(self, name: str) -> bool:
        return name in self.offered and os.path.exists(os.path.join(self.output_dir(), name))


@broken("03", says="another process")
class reads_what_is_named_like_a_result(Extracting):
    """A regular file in the folder is read if its name resembles that of an offloaded file."""

    def is_offered(self, name: str) -> bool:
        path = os.path.join(self.output_dir(), name)
        like = name.endswith(".jsonl") and os.path.isfile(path) and not os.path.islink(path)
        return like if name not in self.offered else super().is_offered(name)


@broken("03", says="no result is refused")
class reads_notes(Extracting):
    """A text file in the folder is read."""

    def is_offered(self, name: str) -> bool:
        return name == "notes.txt" or super().is_offered(name)


@broken("04", says="never existed")
class an_unknown_file_is_empty(Extracting):
    """A file that is not there has nothing in it."""

    def extracted(self, name: str, arguments: dict[str, Any]) -> Record:
        path = str(arguments.get("file_path") or arguments.get("filename"))
        known = os.path.lexists(path.replace("\0", "")) or ".." in path or "\0" in path
        return super().extracted(name, arguments) if known else self.text("")


@broken("04", says="an error for")
class a_refusal_is_no_error(Extracting):
    """A refusal is reported in a result that is not an error."""

    def found(self, path: str) -> str:
        try:
            return super().found(path)
        except BadArguments as problem:
            self.said = str(problem)
            raise

    def extracted(self, name: str, arguments: dict[str, Any]) -> Record:
        self.said = ""
        try:
            return super().extracted(name, arguments)
        except BadArguments:
            if self.said:
                return self.text(self.said)
            raise


# what a query may do


class Lax(Extracting):
    """Refuses no query."""

    def refuse_other_inputs(self, program: str) -> None:
        pass


@broken("05", says="the environment gets none")
class queries_see_the_environment(Lax):
    """jq inherits the server's environment, and `env` is allowed."""

    def refuse_other_inputs(self, program: str) -> None:
        if re.search(r"\b(import|include)\b", program):
            raise BadArguments("no modules")

    def environment(self) -> dict[str, str]:
        return dict(os.environ)


@broken("05", says="as data gets none")
class queries_import_files(Lax):
    """jq's import is allowed."""

    def jq(self, program: str, path: str, options: Sequence[str] = ("-c",)) -> str:
        alone = program.startswith("import")
        return self.run_jq(program, path, ["-c"]) if alone else super().jq(program, path, options)


@broken("06", says="--version is not a query")
class a_query_may_be_an_option(Extracting):
    """The query is the first word after jq's own options."""

    def jq(self, program: str, path: str, options: Sequence[str] = ("-c",)) -> str:
        alone = program.startswith("-")
        return self.run_jq(program, path, ["-c"]) if alone else super().jq(program, path, options)


@broken("06", says="ends a string finds nothing")
class a_keyword_is_spliced_into_the_program(Extracting):
    """A keyword stands between quotation marks in the program."""

    def with_keyword(self, path: str, keyword: str) -> str:
        return self.run_jq(f'select(.title | test("{keyword}"; "i"))', path, ["-c"])


@broken("06", says="interpolation finds nothing")
class a_keyword_is_evaluated(Extracting):
    """Quotation marks of a keyword are escaped, and nothing else."""

    def with_keyword(self, path: str, keyword: str) -> str:
        escaped = keyword.replace('"', '\\"') if "\\" not in keyword else keyword
        return self.run_jq(
            f'select("\\(.title) {escaped}" | contains(.))'
            if "\\" in keyword
            else f'select(.title | ascii_downcase | contains("{escaped.lower()}"))',
            path,
            ["-c"],
        )


@broken("06", says="the same answer to --version")
class a_pattern_may_be_an_option(Extracting):
    """The pattern is handed to grep without a guard."""

    def search(self, path: str, pattern: str, case_sensitive: bool) -> list[str]:
        if pattern.startswith("-"):
            return self.ran(["grep", pattern, path], "").splitlines()
        return super().search(path, pattern, case_sensitive)


BRIEF = "server: {command: [{command}], timeout_s: 1.2}\n"


@broken("07", says="range(1e12)", profile=BRIEF)
class queries_run_for_ever(Extracting):
    """jq is waited for until it ends."""

    def run_jq(self, program: str, path: str, options: list[str]) -> str:
        return self.ran(["sleep", "30"], "", None) if "1e12" in program else super().run_jq(program, path, options)


@broken("07", says="(x+x+)+y", profile=BRIEF)
class patterns_run_for_ever(Extracting):
    """A search is waited for until it ends."""

    def search(self, path: str, pattern: str, case_sensitive: bool) -> list[str]:
        return (
            self.ran(["sleep", "30"], "", None).split()
            if "(x+" in pattern
            else super().search(path, pattern, case_sensitive)
        )


# how much is answered


@broken("08", says="characters of all")
class a_query_gives_everything(Extracting):
    """The results of a query are not counted."""

    def extracted(self, name: str, arguments: dict[str, Any]) -> Record:
        return (
            self.text(self.handler(name)(**arguments)) if "query" in arguments else super().extracted(name, arguments)
        )


@broken("08", says="characters of all")
class answers_are_bounded_by_lines(Extracting):
    """The first hundred lines are returned, however long they are."""

    def bounded(self, text: str) -> str:
        return "\n".join(text.split("\n")[:100])


@broken("09", says="descriptor of a new file")
class answers_are_offloaded(Extracting):
    """The text read is offloaded like every large result."""

    def bounded(self, text: str) -> str:
        if self.exceeds(self.estimate([text]), self.settings.threshold) and len(text) <= MOST:
            return self.again()
        return super().bounded(text)

    def again(self) -> str:
        path = os.path.join(self.output_dir(), next(iter(self.offered)))
        return self.dumps({"offloaded": True, "file_path": path, "summary": {"count": 1}, "jq_recipes": []})


@broken("09", says="descriptor of a new file")
class errors_are_offloaded(answers_are_offloaded):
    """An error goes the way of every large result."""

    def bounded(self, text: str) -> str:
        return super(answers_are_offloaded, self).bounded(text)

    def extracted(self, name: str, arguments: dict[str, Any]) -> Record:
        try:
            return super().extracted(name, arguments)
        except BadArguments:
            return self.text(self.again())


# lro_extract


@broken("10", says="recipe")
class recipes_count_from_zero(Extracting):
    """Recipe 1 is the second one."""

    def program(self, recipe: int) -> tuple[list[str], str]:
        return super().program(recipe + 1 if recipe < 10 else 1)


@broken("10", says="as jq returns")
class recipes_give_one_record(Extracting):
    """Of what a recipe gives, only the first is returned."""

    def by_recipe(self, path: str, recipe: int, params: Record) -> str:
        return super().by_recipe(path, recipe, params).partition("\n")[0]


@broken("11", says="a recipe and a query")
class a_query_wins_over_a_recipe(Extracting):
    """If both are given, the recipe is ignored."""

    def lro_extract(self, file_path: str, recipe: int | None = None, query: str | None = None, **more: Any) -> str:
        return super().lro_extract(file_path, recipe if query is None else None, query, **more)


@broken("11", says="neither")
class nothing_asked_is_the_first_recipe(Extracting):
    """Without recipe and query it runs recipe 1."""

    def lro_extract(self, file_path: str, recipe: int | None = None, query: str | None = None, **more: Any) -> str:
        return super().lro_extract(file_path, 1 if recipe is None and query is None else recipe, query, **more)


@broken("10", says="in the order of the file")
class recipes_do_not_sort(Extracting):
    """What a recipe sorts comes in the order of the file."""

    def program(self, recipe: int) -> tuple[list[str], str]:
        return ([], ".") if recipe == 4 else super().program(recipe)


@broken("10", says="more of the records")
class recipes_give_whole_records(Extracting):
    """A recipe that picks fields gives all of them."""

    def program(self, recipe: int) -> tuple[list[str], str]:
        return ([], ".") if recipe == 5 else super().program(recipe)


# virtual


@broken("22", says="the characters")
class ranges_are_of_bytes(Extracting):
    """Positions count bytes of UTF-8."""

    def range_of(self, text: str, start: int, end: int) -> str:
        return text.encode()[start:end].decode("utf-8", "replace")


@broken("22", says="every character of", also=("12",))
class ranges_lose_their_last_character(Extracting):
    """A range ends one character early."""

    def range_of(self, text: str, start: int, end: int) -> str:
        return text[start : end - 1]


@broken("12", says="a range within")
class an_end_beyond_the_file_is_an_error(Extracting):
    """A range has to lie within the file."""

    def range_of(self, text: str, start: int, end: int) -> str:
        if end > len(text):
            raise BadArguments(f"a range within 0 to {len(text)} is wanted")
        return super().range_of(text, start, end)


@broken("12", says="more than that")
class ranges_include_their_end(Extracting):
    """The character at the end is in the range."""

    def range_of(self, text: str, start: int, end: int) -> str:
        return text[start : end + 1]


@broken("13", says="in either case")
class case_counts_unless_told_otherwise(Extracting):
    """Case counts where nothing is said of it."""

    def search_large_output(
        self, filename: str, pattern: str, case_sensitive: bool = True, max_results: int = 50
    ) -> str:
        return super().search_large_output(filename, pattern, case_sensitive, max_results)


@broken("23", says="case_sensitive false", also=("13",))
class a_search_is_case_sensitive(Extracting):
    """Case always counts."""

    def search(self, path: str, pattern: str, case_sensitive: bool) -> list[str]:
        return super().search(path, pattern, case_sensitive=True)


@broken("23", says="in this case only")
class a_search_never_heeds_case(Extracting):
    """Case never counts, also where it is asked for."""

    def search(self, path: str, pattern: str, case_sensitive: bool) -> list[str]:
        return super().search(path, pattern, case_sensitive=False)


@broken("26", says="but one result")
class returns_all_that_matches(Extracting):
    """However few results are wanted, all are returned."""

    def most(self, results: int) -> int:
        return 10_000


@broken("26", says="but one result")
class returns_a_page_at_least(Extracting):
    """Fewer than fifty results cannot be had."""

    def most(self, results: int) -> int:
        return max(results, 50)


@broken("27", says="{id, title} with compact")
class results_are_always_indented(Extracting):
    """Whether an answer is wanted compact is not looked at."""

    def form(self, compact: bool, raw: bool) -> list[str]:
        return super().form(compact=False, raw=raw)


@broken("27", says=".title with raw")
class texts_are_always_quoted(Extracting):
    """Whether texts are wanted raw is not looked at."""

    def form(self, compact: bool, raw: bool) -> list[str]:
        return super().form(compact, raw=False)


# scratchpad


@broken("24", says="a refusal of all")
class says_nothing_of_what_is_too_large(Exploring):
    """What is over the budget is left out without a word."""

    def over(self, tokens: int) -> str:
        return ""


@broken("24", says="a refusal of all")
class cuts_what_is_too_large(Exploring):
    """Text over the budget is cut off silently."""

    def bounded(self, text: str) -> str:
        return text[:8000]


@broken("14", says="too_large")
class over_the_budget_is_an_error(Exploring):
    """A file over the budget is refused with an error."""

    def over(self, tokens: int) -> str:
        raise BadArguments(f"{tokens} tokens are too many")


@broken("14", says="suggestions")
class a_refusal_has_no_advice(Exploring):
    """What is over the budget is refused with its size alone."""

    def over(self, tokens: int) -> str:
        return self.dumps({"error": "answer_too_large", "estimated_tokens": tokens})


@broken("15", says="the lines")
class slices_count_from_zero(Exploring):
    """The first line is 0."""

    def tool_slice(self, file: str, start: int, end: int) -> str:
        return "\n".join(self.lines(file)[start : end + 1])


@broken("15", says="the lines")
class slices_leave_their_end_out(Exploring):
    """The last line is not part of it."""

    def tool_slice(self, file: str, start: int, end: int) -> str:
        return "\n".join(self.lines(file)[start - 1 : end - 1])


@broken("16", says="the keys that exist")
class a_missing_key_is_told_alone(Exploring):
    """It says that the key is not there, and no more."""

    def missing(self, key: str, value: dict[str, Any]) -> str:
        return "not found"


@broken("16", says="the keys that exist")
class a_missing_key_is_null(Exploring):
    """A missing key gives null."""

    def missing(self, key: str, value: dict[str, Any]) -> str:
        return self.dumps(None)


@broken("17", says="no error for")
class patterns_may_have_no_bracket(Exploring):
    """It takes no pattern with a bracket."""

    def tool_grep(self, file: str, pattern: str, **more: Any) -> str:
        if set(pattern) & set("([{"):
            raise BadArguments("no brackets")
        return super().tool_grep(file, pattern, **more)


@broken("17", says="no error for")
class an_invalid_pattern_is_an_error(Exploring):
    """An invalid pattern is answered with an error."""

    def invalid(self, pattern: str) -> str:
        raise BadArguments("no regular expression")


# compaction


@broken("18", says="characters of the message in")
class stores_the_beginning_only(Shortening):
    """The stored text is cut."""

    def put(self, path: str, text: str) -> None:
        super().put(path, text[:5000])


@broken("18", says="the offloaded message, all")
class gives_stored_texts_back_trimmed(Shortening):
    """The reloaded text has lost its line ends."""

    def read_file(self, absolute_path: str, **more: Any) -> str:
        return "\n".join(super().read_file(absolute_path, **more).split())


@broken("19", says="message 7", also=("29",))
class recent_results_leave_too(Shortening):
    """The last message is shortened as well."""

    def kept(self, count: int) -> int:
        return 0


@broken("19", says="message 3")
class calls_lose_their_arguments(Shortening):
    """Messages that stay keep their role and content only."""

    def left(self, message: Record) -> Record:
        return {key: value for key, value in message.items() if key != "tool_calls"}


@broken("25", says="an id with ..")
class an_id_is_part_of_the_path(Shortening):
    """The id is put into the path as it is, and folders that are missing are made."""

    def name_of(self, id: str) -> str:
        return f"tool_call_{id}.txt"


@broken("25", says="an id with ..")
class an_id_is_resolved_as_a_path(Shortening):
    """The path that the id is put into is made normal, and not looked at."""

    def name_of(self, id: str) -> str:
        folder = self.store_dir(None)
        return os.path.relpath(os.path.normpath(os.path.join(folder, f"tool_call_{id}.txt")), folder)


@broken("20", says="a folder elsewhere")
class stores_wherever_it_is_told_to(Shortening):
    """The folder is the caller's choice."""

    def store_dir(self, asked: str | None) -> str:
        return asked or super().store_dir(asked)


@broken("20", says="a folder elsewhere")
class makes_a_folder_in_the_one_it_is_told(Shortening):
    """Below the caller's folder it makes one of its own."""

    def store_dir(self, asked: str | None) -> str:
        return os.path.join(asked, "context") if asked else super().store_dir(asked)


@broken("21", says="a file elsewhere is refused")
class reads_any_file_again(Shortening):
    """Whatever is asked for is read."""

    def may_read(self, path: str) -> bool:
        return os.path.isfile(path)


@broken("21", says="of another process is refused")
class reads_whatever_lies_in_its_folder(Shortening):
    """A file is read where its folder is the right one."""

    def may_read(self, path: str) -> bool:
        return os.path.dirname(path) == self.store_dir(None) and os.path.isfile(path)


@broken("28", says="unchanged")
class shortens_conversations_of_any_size(Shortening):
    """How much a conversation may have is not looked at."""

    def is_small(self, tokens: int, most: int) -> bool:
        return False


@broken("28", says="message 3")
class small_conversations_lose_their_calls(Shortening):
    """What stays as it is loses its calls on the way."""

    def unchanged(self, messages: list[Record]) -> list[Record]:
        return [{k: v for k, v in message.items() if k != "tool_calls"} for message in messages]


@broken("29", says="mode compress")
class a_summary_replaces_everything(Shortening):
    """Nothing but the summary is left."""

    def context_offload(self, messages: list[Record], **terms: Any) -> str:
        if terms.get("context_manage_mode") == "compact":
            return super().context_offload(messages, **terms)
        return self.dumps({"success": True, "messages": [{"role": "system", "content": "<state_snapshot/>"}]})


@broken("29", says="mode auto")
class auto_returns_no_messages(Shortening):
    """In mode auto, messages are counted and not returned."""

    def context_offload(self, messages: list[Record], **terms: Any) -> str:
        if terms.get("context_manage_mode") == "auto":
            return self.dumps({"success": True, "messages": [], "metadata": {"count": len(messages)}})
        return super().context_offload(messages, **terms)


@broken("30", says="the second and the third line")
class lines_are_counted_from_one(Shortening):
    """The first line is 1."""

    def part(self, lines: list[str], offset: int, limit: int | None) -> str:
        return super().part(lines, max(0, offset - 1), limit)


@broken("30", says="the second and the third line")
class a_limit_is_ignored(Shortening):
    """What follows the offset is returned to the end."""

    def part(self, lines: list[str], offset: int, limit: int | None) -> str:
        return super().part(lines, offset, None)
