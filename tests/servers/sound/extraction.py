"""Sound servers with tools that read offloaded files."""

from __future__ import annotations

import os
from typing import ClassVar

from tests.servers.exploring import Exploring
from tests.servers.extracting import PROFILE, Extracting
from tests.servers.plain import BadArguments
from tests.servers.shortening import Shortening
from tests.servers.sound.catalogue import sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record


@sound("It is the plain one: whatever is blamed here is the suite's own fault.", profile=PROFILE)
class reads_its_files(Extracting):
    pass


@sound(
    "Its tools have other names, errors of its own, and it refuses every pattern and query but the plainest.",
    profile=PROFILE,
)
class is_strict_and_prefixed(Extracting):
    prefix_of_tools = "mem_"

    def refuse_other_inputs(self, program: str) -> None:
        if not all(c.isalnum() or c in "._|[]{}, " for c in program):
            raise BadArguments("only paths are allowed")
        super().refuse_other_inputs(program)

    def search(self, path: str, pattern: str, case_sensitive: bool) -> list[str]:
        lines = self.contents(path).splitlines()
        fold = str if case_sensitive else str.lower
        return [line for line in lines if fold(pattern) in fold(line)]

    def extracted(self, name: str, arguments: dict[str, Any]) -> Record:
        try:
            return super().extracted(name, arguments)
        except BadArguments as problem:
            return self.text(self.dumps({"error": name, "message": str(problem)}))


@sound("A tool of a name that some family has is another's where its arguments are others.", profile=PROFILE)
class has_a_grep_of_its_own(Extracting):
    listed: ClassVar[dict[str, dict[str, str]]] = {
        "grep": {"file": "string", "pattern": "string"},
        "read": {"file": "string"},
        "read_large_output": {"id": "string"},
    }

    def extracted(self, name: str, arguments: dict[str, Any]) -> Record:
        return self.text("a file of the project")


@sound("It is the plain one of another family, whose words for what is too large are a result.", profile=PROFILE)
class explores_its_files(Exploring):
    pass


@sound("It makes conversations shorter, has no model and no other tool, and its folder is its own.", profile=PROFILE)
class shortens_conversations(Shortening):
    pass


class Open:
    """Reads whatever regular file lies in the folder."""

    def is_offered(self, name: str) -> bool:
        path = os.path.join(self.output_dir(), name)  # type: ignore[attr-defined]
        return os.path.isfile(path) and not os.path.islink(path)


@sound(
    "It does what its documents say and decides the rest otherwise: any file of the folder may be read, a range ends "
    "within the file, case counts by default, and recipes have names.",
    profile=PROFILE,
    warns=("LRO-EXTRACT-03", "LRO-EXTRACT-12", "LRO-EXTRACT-13"),
)
class keeps_to_the_documents_of_its_tools(Open, Extracting):
    listed: ClassVar[dict[str, dict[str, str]]] = {
        **Extracting.listed,
        "lro_extract": {**Extracting.listed["lro_extract"], "recipe": "string"},
    }
    names = ("titles", "prefix", "keyword", "confidence", "ids", "type", "entities", "counts", "best", "pattern")

    def lro_extract(self, file_path: str, recipe: Any = None, query: str | None = None, **more: Any) -> str:
        if recipe is not None and recipe not in self.names:
            raise BadArguments(f"a recipe is one of {', '.join(self.names)}")
        number = None if recipe is None else self.names.index(recipe) + 1
        return super().lro_extract(file_path, number, query, **more)

    def range_of(self, text: str, start: int, end: int) -> str:
        if end > len(text):
            raise BadArguments(f"a range within 0 to {len(text)} is wanted")
        return super().range_of(text, start, end)

    def search_large_output(
        self, filename: str, pattern: str, case_sensitive: bool = True, max_results: int = 50
    ) -> str:
        return super().search_large_output(filename, pattern, case_sensitive, max_results)


@sound(
    "It does what its document says and decides the rest otherwise: any file of the folder may be read, lines count "
    "from 0, and what is too large, missing or no pattern is an error.",
    profile=PROFILE,
    warns=("LRO-EXTRACT-03", "LRO-EXTRACT-14", "LRO-EXTRACT-15", "LRO-EXTRACT-16", "LRO-EXTRACT-17"),
)
class keeps_to_the_document_of_the_scratchpad(Open, Exploring):
    def over(self, tokens: int) -> str:
        raise BadArguments(f"read_too_large: {tokens} tokens; try head, slice or grep")

    def tool_slice(self, file: str, start: int, end: int) -> str:
        return "\n".join(self.lines(file)[start : end + 1])

    def missing(self, key: str, value: dict[str, Any]) -> str:
        return "path not found"

    def invalid(self, pattern: str) -> str:
        raise BadArguments("no regular expression")


@sound(
    "It does what its document says: the folder is the caller's choice, and any path can be read.",
    profile=PROFILE,
    warns=("LRO-EXTRACT-20", "LRO-EXTRACT-21"),
)
class keeps_to_the_document_of_context_offload(Shortening):
    def tools(self) -> list[Record]:
        tools = super().tools()
        for tool in tools:
            if tool["name"] == "context_offload":
                tool["inputSchema"]["required"] = ["messages", "store_dir"]
        return tools

    def store_dir(self, asked: str | None) -> str:
        if not asked:
            raise BadArguments("store_dir is required")
        return asked

    def may_read(self, path: str) -> bool:
        return os.path.isfile(path)
