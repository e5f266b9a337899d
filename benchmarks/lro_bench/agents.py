"""Scripted agents: without a model, they show what any model could reach with the tools of a condition.

A condition (`lro_bench.conditions`) is the form in which a corpus reaches an agent, with tools and limits. An agent is
a generator: it yields the tool calls of a turn, receives their results, and returns its last message. It knows only the
task, its tools and the results. The oracle also knows the number of pages.

- `oracle` takes the fewest turns and, for that number of turns, few tokens. It knows how many records there are, makes
  all independent calls of a turn at once, and evaluates the results without mistakes.
- `typical` makes one call per turn. It looks at the first two lines of a file if the descriptor has no schema, and
  reads pages one after the other.
- `constant` and `random` call no tool. The first gives the most frequent answer, the second a random answer that fits
  the question.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from lro_bench.corpus import SEED, Dice, Record
from lro_bench.tasks import FAMILIES, Task, answer_by_python, filter_condition, tasks

_CHUNK_LINES = 50
"""Number of lines of a file that fit into one result of `read_file`."""
_SAVED_PATH = re.compile(r"(?:saved to|at this path): (\S+)")
_NO_ANSWER = "ANSWER: unknown"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Setting:
    """The task of an agent, and its tools."""

    task: Task
    tools: tuple[str, ...]
    page_count: int = 1
    """Number of pages of the result. Only the oracle is told; all other agents see 1."""


Plan = Generator[Sequence[Call], Sequence[str], str]
Agent = Callable[[Setting], Plan]


def _final(answer: str) -> str:
    return f"ANSWER: {answer}" if answer else _NO_ANSWER


def oracle(setting: Setting) -> Plan:
    """The plan with the fewest turns that solves the task with these tools."""
    if setting.tools == ("python_exec",):
        (printed,) = yield [Call("python_exec", {"code": code_over_pages(setting.task)})]
        return _final(printed.strip())
    if setting.page_count > 1:
        pages = yield [Call("list_memories", {"page": page}) for page in range(1, setting.page_count + 1)]
        return _final(_answer_from(setting.task, [r for text in pages for r in _records(text)]))
    (first_result,) = yield [Call("list_memories")]
    return (yield from _continue_from(setting, first_result, at_once=True))


def typical(setting: Setting) -> Plan:
    """A careful agent that does one thing at a time."""
    if setting.tools == ("python_exec",):
        yield [Call("python_exec", {"code": "print(list_memories(1)['total'], list_memories(1)['results'][:2])"})]
        (printed,) = yield [Call("python_exec", {"code": code_over_pages(setting.task)})]
        return _final(printed.strip())
    (first_result,) = yield [Call("list_memories")]
    first_page = _json(first_result)
    if first_page is not None and "pages" in first_page:
        records = _records(first_result)
        for number in range(2, cast("int", first_page["pages"]) + 1):
            (text,) = yield [Call("list_memories", {"page": number})]
            records += _records(text)
        return _final(_answer_from(setting.task, records))
    if (
        first_page is not None
        and first_page.get("offloaded")
        and "line_schema" not in first_page
        and "bash" in setting.tools
    ):
        yield [Call("bash", {"command": f"head -n 2 {first_page['file_path']}"})]
    return (yield from _continue_from(setting, first_result, at_once=False))


def _continue_from(setting: Setting, first_result: str, *, at_once: bool) -> Plan:
    """Act on the result of `list_memories`: a descriptor, a pointer to a saved result, or all records."""
    parsed, task = _json(first_result), setting.task
    if parsed is not None and parsed.get("offloaded"):
        path = cast("str", parsed["file_path"])
        if "bash" in setting.tools:
            (printed,) = yield [Call("bash", {"command": command_over_lines(task, path)})]
            return _final(printed.strip())
        if "lro_extract" in setting.tools:
            query = {"file_path": path, "query": task.jq, "slurp": True}
            (printed,) = yield [Call("lro_extract", query)]
            return _final(printed.strip().strip('"'))
        return _final(_answer_from(task, (yield from _read_file(setting, path, at_once=at_once))))
    if parsed is not None and "results" in parsed:
        return _final(_answer_from(task, _records(first_result)))
    saved_path = _SAVED_PATH.search(first_result)
    if saved_path is None:
        return _NO_ANSWER  # the rest of the result was cut out, and no tool can return it
    if "bash" in setting.tools:
        (printed,) = yield [Call("bash", {"command": f"jq -r '.results | {task.jq}' {saved_path[1]}"})]
        return _final(printed.strip())
    return (yield from _search_lines(task, saved_path[1], at_once=at_once))


def _read_file(setting: Setting, path: str, *, at_once: bool) -> Generator[Sequence[Call], Sequence[str], list[Record]]:
    """All records of a file that can only be read by lines."""
    if at_once:
        starts = range(2, setting.task.n + 2, _CHUNK_LINES)
        calls = [
            Call("read_file", {"path": path, "offset_lines": start, "limit_lines": _CHUNK_LINES}) for start in starts
        ]
        texts = yield calls
        return [record for text in texts for record in _records_of_lines(text)]
    records: list[Record] = []
    offset = 1
    while True:
        (text,) = yield [Call("read_file", {"path": path, "offset_lines": offset})]
        records += _records_of_lines(text)
        continuation = re.search(r"continue with offset_lines (\d+)\]", text)
        if continuation is None:
            return records
        offset = int(continuation[1])


def _search_lines(task: Task, path: str, *, at_once: bool) -> Plan:
    """Look up IDs. No other task can be solved by tools that only search for texts and show lines cut short."""
    if "ids" not in task.facts:
        yield [Call("read_lines", {"path": path})]
        return _NO_ANSWER
    calls = [Call("search_file", {"path": path, "text": id}) for id in task.facts["ids"]]
    outputs: list[str] = []
    for batch in [calls] if at_once else [[call] for call in calls]:
        outputs += yield batch
    return _final(str(sum(text == path for text in outputs)))


def constant(setting: Setting) -> Plan:
    """The most frequent answer of the tasks of this family and size, whatever the question is."""
    answers = Counter(task.answer for task in tasks(setting.task.family, setting.task.n))
    return _final(answers.most_common(1)[0][0])
    yield []  # makes the function a generator


def guess(setting: Setting) -> Plan:
    """A random answer that fits the question."""
    return _final(Dice(SEED, "guess", setting.task.id).pick(setting.task.range))
    yield []


AGENTS: Mapping[str, Agent] = {"oracle": oracle, "typical": typical, "constant": constant, "random": guess}
"""The agents by name."""
NULL_AGENTS = ("constant", "random")


# --- from a task to a query


def command_over_lines(task: Task, path: str) -> str:
    """A shell command that prints the answer from an offloaded file."""
    if "ids" in task.facts:
        return f"grep -cF {' '.join(f'-e {id}' for id in task.facts['ids'])} {path}"
    if "comparison" in task.facts:
        return f"tail -n +2 {path} | jq 'select({filter_condition(task.facts)}) | .id' | wc -l"
    return f"tail -n +2 {path} | jq -rs '{task.jq}'"


def code_over_pages(task: Task) -> str:
    """Python code that goes through all pages and prints the answer."""
    collect = (
        "R, p = [], 1\nwhile True:\n    page = list_memories(p)\n    R += page['results']\n"
        "    if p >= page['pages']: break\n    p += 1\n"
    )
    return collect + _EXPRESSIONS[task.family.partition("/")[0]](task.facts)


def _inside(prefix: str) -> str:
    return f"(r['namespace'] == {prefix!r} or r['namespace'].startswith({prefix + '/'!r}))"


_EXPRESSIONS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "id_lookup": lambda f: f"print(len({{r['id'] for r in R}} & set({f['ids']!r})))",
    "aggregate_filter": lambda f: (
        f"print(sum({_inside(f['namespace'])} and r['extensions']['priority'] {f['comparison']} {f['priority']} "
        f"and {f['product'].lower()!r} in r['content'].lower() for r in R))"
    ),
    "group_count": lambda f: (
        f"c = Counter(r['namespace'] for r in R if r[{f['key']!r}] == {f['value']!r} and "
        f"r['extensions']['priority'] == {f['priority']})\nprint(*c.most_common(1)[0])"
    ),
    "top_k": lambda f: (
        f"S = [r for r in R if {_inside(f['namespace'])} and r['extensions']['priority'] == {f['priority']}]\n"
        "S.sort(key=lambda r: -r['provenance']['confidence'])\n"
        f"print(','.join(str(r['extensions']['ticket']) for r in S[:{f['k']}]))"
    ),
    "needle": lambda f: (
        f"print(next(m[1] for r in R if (m := re.search(r'Unit {f['unit']} opens with the phrase ([^.]+)', "
        "r['content']))))"
    ),
    "missing": lambda f: (
        "T = {r['extensions']['ticket'] for r in R}\n"
        f"print(','.join(str(t) for t in range({f['low']}, {f['high'] + 1}) if t not in T) or 'none')"
    ),
}


# --- from a result to records


def _json(text: str) -> dict[str, Any] | None:
    """The JSON object of a text; None if the text is not a JSON object."""
    try:
        parsed = json.loads(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else None


def _records(text: str) -> list[Record]:
    """The records of a page or of a whole result."""
    parsed = _json(text)
    return list(cast("list[Record]", parsed["results"])) if parsed is not None and "results" in parsed else []


def _records_of_lines(text: str) -> list[Record]:
    lines = [_json(line) for line in text.splitlines()]
    return [line for line in lines if line is not None and "id" in line]


def _answer_from(task: Task, records: Sequence[Record]) -> str:
    """The answer computed from these records. Empty if a record is missing, or a field that the task needs."""
    if len(records) < task.n or not set(FAMILIES[task.family].reads) <= set(records[0]):
        return ""
    return answer_by_python(task, records)
