"""A scripted assistant that answers questions about an offloaded result.

It knows JSON Schema and jq, but not this project: of a result it has the descriptor, and a shell or the tool that the
guidance names. It chooses a recipe by the words of its description, puts a word of the question in, or writes a filter
for the fields of the schema.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from shlex import quote
from typing import Any, Protocol

Call = Callable[..., str]
"""Calls a tool with arguments by name and returns the text of its answer."""


class Hands(Protocol):
    """Ways to read a file."""

    def recipe(self, number: int, word: str | None) -> str:
        """Run a recipe of the descriptor, with another word in place of its own."""
        ...

    def query(self, filter: str, *, slurp: bool) -> str:
        """Run a jq filter on each record, or on the array of all."""
        ...


class Shell:
    """Hands with a shell."""

    def __init__(self, descriptor: dict[str, Any]) -> None:
        self._descriptor = descriptor

    def recipe(self, number: int, word: str | None) -> str:
        command: str = self._descriptor["jq_recipes"][number - 1]["command"]
        return self._run(command if word is None else re.sub(r'(?<=")word(?=")|(?<=80\})word(?=\.)', word, command))

    def query(self, filter: str, *, slurp: bool) -> str:
        path = quote(self._descriptor["file_path"])
        return self._run(f"tail -n +2 {path} | jq -c{'s' * slurp} {quote(filter)}")

    def _run(self, command: str) -> str:
        return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=30, check=True).stdout


class Tool:
    """Hands with `lro_extract` alone."""

    def __init__(self, descriptor: dict[str, Any], call: Call) -> None:
        self._path, self._call = descriptor["file_path"], call

    def recipe(self, number: int, word: str | None) -> str:
        params = {} if word is None else {"params": {"keyword": word}}
        return self._call("lro_extract", file_path=self._path, recipe=number, **params)

    def query(self, filter: str, *, slurp: bool) -> str:
        return self._call("lro_extract", file_path=self._path, query=filter, slurp=slurp)


@dataclass
class Assistant:
    """An assistant with a descriptor and hands."""

    descriptor: dict[str, Any]
    hands: Hands
    outputs: list[str] = field(default_factory=list[str])
    """The outputs of its queries."""

    def answer(self, question: str) -> str:
        """The output that answers a question."""
        word = next(iter(re.findall(r'"(.+?)"', question)), None)
        asked = [name for name in self._fields() if re.search(rf"\b{re.escape(name)}\b", question)]
        words = question.lower()
        if "of each" in words:
            return self._recipe(["how many", "each", asked[0]]) or self._query(_GROUPS % {"field": asked[0]})
        if "highest" in words:
            return self._recipe(["highest", asked[0]]) or self._query(f"max_by(.{asked[0]} | tonumber?)")
        if "total" in words or "mean" in words:
            number = f"map(.{asked[0]} | tonumber?)"
            return self._query(f"{number} | add{' / length' * ('mean' in words)}")
        if word is None:
            raise ValueError(f"nothing is looked for: {question}")
        if "how many" in words:
            test = f".{asked[0]} == {json.dumps(word)}" if asked else f"tostring | test({json.dumps(re.escape(word))})"
            return self._query(f"map(select({test})) | length")
        found = self._recipe(["lines of", "word"], word) or self._recipe(["word", "first"], word)
        shown = all(name in self._chosen for name in asked)
        if found and shown and not words.startswith(("who ", "what does ")):
            return found
        line = re.match(r"(\d+): ", found)
        if line is not None:  # of a text, whose neighbouring lines tell more
            return self._query(f"map(select(.n > {int(line[1]) - 9} and .n < {int(line[1]) + 9}))[] | .text")
        return self._query(f"map(select(tostring | test({json.dumps(word)})))[:3][]")

    _chosen: str = ""

    def _fields(self) -> list[str]:
        return list(self.descriptor["line_schema"]["properties"])

    def _recipe(self, wanted: list[str], word: str | None = None) -> str:
        """The output of the first recipe whose description has all these words; empty if there is none."""
        for number, recipe in enumerate(self.descriptor["jq_recipes"], 1):
            if all(part.lower() in recipe["description"].lower() for part in wanted):
                self._chosen = recipe["description"]
                self.outputs.append(self.hands.recipe(number, word))
                return self.outputs[-1]
        return ""

    def _query(self, filter: str) -> str:
        self.outputs.append(self.hands.query(filter, slurp=True))
        return self.outputs[-1]


_GROUPS = "group_by(.%(field)s)[] | [length, .[0].%(field)s]"
