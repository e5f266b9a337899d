"""A server whose recipes look for what was asked for, and the ways to write that into a command."""

from __future__ import annotations

from tests.servers.fastjson import dumps
from tests.servers.plain import RECIPES, Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.servers.plain import Record


class Asking(Server):
    """Recipes 3 and 10 hold the query in the place of a word to fill in."""

    query = "*"

    def descriptor(self, call: Call, path: str) -> Record:
        self.query = call.query
        return super().descriptor(call, path)

    def literal(self, query: str) -> str:
        """The query escaped for double quotes, in a program between single quotes."""
        raise NotImplementedError

    def programs(self) -> Sequence[tuple[str, str]]:
        programs = list(RECIPES)
        for number, field in ((3, "title"), (10, "content")):
            program = f'jq \'select(.{field} | test("{self.literal(self.query)}"; "i"))\''
            programs[number - 1] = (programs[number - 1][0], program)
        return programs


def in_test(text: str) -> str:
    """A text as a regular expression that finds it."""
    return "".join(f"\\{c}" if c in "\\^$.|?*+()[]{}" else c for c in text)


def in_json(text: str) -> str:
    """A text escaped for double quotes."""
    return dumps(text)[1:-1]


def in_shell(text: str) -> str:
    """A text escaped for single quotes."""
    return text.replace("'", "'\"'\"'")
