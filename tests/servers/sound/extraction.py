"""Sound servers with tools that read offloaded files."""

from __future__ import annotations

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

    def refuse_reaching_out(self, program: str) -> None:
        if not all(c.isalnum() or c in "._|[]{}, " for c in program):
            raise BadArguments("only paths are allowed")
        super().refuse_reaching_out(program)

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
