"""Faults of the guidance."""

from __future__ import annotations

from tests.servers.faults.catalogue import fault
from tests.servers.plain import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.servers.plain import Record


class Guiding(Server):
    """Changes the text of the guidance."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        raise NotImplementedError

    def guidance(self, path: str, summary: Record) -> str:
        return self.guided(super().guidance(path, summary), path, summary)


@fault("LRO-GUI-01", says="empty", proves=0, also=("LRO-GUI-02", "LRO-GUI-03"))
class guidance_is_empty(Guiding):
    """An empty string."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return ""


@fault("LRO-GUI-01", says="blank", proves=0, also=("LRO-GUI-02", "LRO-GUI-03"))
class guidance_is_blank(Guiding):
    """Spaces and line ends."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return "   \n\n"


@fault("LRO-GUI-01", says="at most 4000 characters", proves=0)
class guidance_is_a_treatise(Guiding):
    """Twelve thousand characters, the template first."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return text + "\nOffloading keeps large results out of the conversation. " * 220


@fault("LRO-GUI-02", says="path", proves=3)
class guidance_lacks_the_path(Guiding):
    """The line with the file is left out."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return text.replace(f"File: {path}\n", "")


@fault("LRO-GUI-02", says="recipe", proves=3)
class guidance_lacks_the_recipes(Guiding):
    """Nothing points to the recipes."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return "\n".join(line for line in text.split("\n") if "recipe" not in line)


@fault("LRO-GUI-02", says="header", proves=3)
class guidance_does_not_mention_the_header(Guiding):
    """The reader of the file is not told that line 1 is no memory."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return text.rpartition("\n")[0]


@fault("LRO-GUI-02", says="count", proves=3)
class guidance_lacks_the_count(Guiding):
    """The number of memories is not stated."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        first, _, rest = text.partition("\n")
        return f"The memories were offloaded ({first.partition('(')[2]}\n{rest}"


@fault("LRO-GUI-03", says='"light" in the guidance', proves=3)
class guidance_lacks_the_detail_level(Guiding):
    """The line with the level is left out."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return text.replace(f"Detail level: {summary['detail']}\n", "")


@fault("LRO-GUI-03", says="detail", proves=3)
class guidance_calls_the_detail_level_requested(Guiding):
    """`as requested` names no level."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return text.replace(f"Detail level: {summary['detail']}", "Detail level: as requested")


@fault("LRO-GUI-04", says="shell", proves=0)
class guidance_orders_a_shell(Guiding):
    """An order to run commands in a shell."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return f"{text}\nYou MUST run the recipes in your shell before you answer."


@fault("LRO-GUI-04", says="running", proves=0)
class guidance_begins_with_a_recipe(Guiding):
    """An order that is to be followed first."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return f"{text}\nStart by running recipe #1 in bash, then answer."


@fault("LRO-GUI-04", says="read", proves=0)
class guidance_wants_the_file_read_before_an_answer(Guiding):
    """An order that a model without tools cannot follow."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return f"{text}\nImportant: before answering, read the file with your shell."


@fault("LRO-GUI-04", says="terminal", proves=0)
class guidance_takes_a_terminal_for_granted(Guiding):
    """It is taken for granted that there is a terminal."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return f"{text}\nOpen your terminal and execute recipe #1 now."


@fault("LRO-GUI-05", says="path", proves=0)
class guidance_names_another_file(Guiding):
    """The path ends in `.json`."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return text.replace(path, path.removesuffix("l"))


@fault("LRO-GUI-05", says="count", proves=0)
class guidance_counts_one_more(Guiding):
    """Lines, where the summary counts memories."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return text.replace(f"{summary['count']} memories", f"{summary['count'] + 1} memories", 1)


@fault("LRO-GUI-05", says="detail", proves=0, also=("LRO-GUI-03",))
class guidance_always_says_full(Guiding):
    """The level is a constant, and mostly wrong."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return text.replace(f"Detail level: {summary['detail']}", "Detail level: full")


@fault("LRO-GUI-05", says="recipe", proves=0)
class guidance_points_to_the_wrong_recipes(Guiding):
    """Browsing with number 8, analysing with number 1."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return text.replace("#1 ", "#0 ").replace("#8 ", "#1 ").replace("#0 ", "#8 ")


@fault("LRO-GUI-05", says="recipe", proves=0)
class guidance_points_to_a_recipe_that_is_not_there(Guiding):
    """Number 80."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return text.replace("#8 ", "#80 ")


@fault("LRO-GUI-05", says="tokens", proves=0)
class guidance_has_the_tokens_of_another_call(Guiding):
    """Ten times as many tokens as the summary says."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return text.replace(f"~{summary['estimated_tokens']} ", f"~{summary['estimated_tokens'] * 10} ")


@fault("LRO-GUI-01", says="no instructions", proves=0, also=("LRO-GUI-02", "LRO-GUI-03"))
class guidance_is_one_word(Guiding):
    """`ok`."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return "ok"


@fault("LRO-GUI-01", says="leads to the file", proves=0, also=("LRO-GUI-02", "LRO-GUI-03"))
class guidance_leads_nowhere(Guiding):
    """A sentence that excuses the size of the result."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return "Sorry, this was more than we could send you at once."


@fault("LRO-GUI-02", says="tokens", proves=3)
class guidance_lacks_the_tokens(Guiding):
    """What was saved is not said."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return text.replace(f" (~{summary['estimated_tokens']} tokens saved)", "")


@fault("LRO-GUI-04", says="Open bash", proves=0)
class guidance_tells_to_open_bash(Guiding):
    """Three short orders, none with `must` and `you`."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return (
            f"{text}\nOpen bash. Run recipe #1 with your shell tool. "
            "The shell is required: jq must be run on this file."
        )


@fault("LRO-GUI-04", says="with your shell tool", proves=0)
class guidance_tells_to_use_the_shell_tool(Guiding):
    """An imperative that takes a shell for granted."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return f"{text}\nRun recipe #1 with your shell tool."


@fault("LRO-GUI-04", says="must be run", proves=0)
class guidance_says_that_jq_must_be_run(Guiding):
    """An order in the passive voice."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return f"{text}\njq must be run on this file."


@fault("LRO-GUI-01", says="guidance is empty", proves=0, everywhere=True)
class guidance_is_empty_where_the_path_is_long(Guiding):
    """A template that is filled into a buffer of 512 bytes, or not at all."""

    def guided(self, text: str, path: str, summary: Record) -> str:
        return text if len(path) < 200 else ""
