"""Task families: questions about a whole corpus, each with its answer by two independent evaluations.

`answer_by_python` evaluates the predicate over parsed records, and `answer_by_jq` runs a jq program over their lines.
The answer of a task is the answer by Python; ``lro bench corpora --verify`` and the tests check that jq gives the same
answer to every task.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, cast

from lro_bench.corpus import NAMESPACES, PRIORITIES, PRODUCTS, SEED, Corpus, Dice, Record, corpus

TASKS_PER_FAMILY = 15
"""Number of tasks of a family at one size, as published."""
LOOKUP_IDS, LOOKUP_PRESENT = 12, 8
MATCH_RANGE = (3, 50)
"""The lowest and the highest number of records that match a published filter."""
ANSWER_FORMAT = "End with one line of the form `ANSWER: <answer>`."
_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
}
_OPERATOR_WORDS = {
    ">": "above {}",
    ">=": "of at least {}",
    "<": "below {}",
    "<=": "of at most {}",
    "==": "of exactly {}",
}
_MAX_REPEATS = 4
"""Maximum number of tasks with the same answer in a family that is not published.

It keeps a constant answer from being right often.
"""


@dataclass(frozen=True, slots=True)
class Task:
    """A question about a corpus."""

    id: str
    family: str
    n: int
    question: str
    answer: str
    """The text after ``ANSWER:``."""
    facts: Mapping[str, Any]
    """The predicate, from which both evaluations compute the answer."""
    jq: str
    """A jq program that computes the answer from the array of all records."""
    range: tuple[str, ...]
    """Possible answers for somebody who has read only the question."""


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of task."""

    name: str
    title: str
    is_published: bool
    """True for the two families that the paper describes."""
    reads: tuple[str, ...]
    """Fields of a record that the answer depends on."""
    make: Callable[[Corpus, Dice], Iterator[tuple[str, Mapping[str, Any], str, tuple[str, ...]]]]
    """Yields candidates without end. A candidate is a question, the facts, a jq program, and the range of answers."""
    evaluate: Callable[[Iterable[Record], Mapping[str, Any]], str]


def tasks(family: str, n: int) -> tuple[Task, ...]:
    """The tasks of a family at a size. They are fewer than fifteen if the corpus does not have more.

    Raises `KeyError` if the family is unknown.
    """
    return _tasks(family, n)


def fewer_tasks(n: int) -> list[str]:
    """A sentence for each family that has fewer than fifteen tasks at a size, with the reason."""
    return [
        f"{family} has {task_count} tasks, not {TASKS_PER_FAMILY}: the corpus has no more whose answers differ enough "
        f"(at most {_MAX_REPEATS} tasks share one)"
        for family in FAMILIES
        if (task_count := len(tasks(family, n))) < TASKS_PER_FAMILY
    ]


def answer_by_python(task: Task, records: Iterable[Record]) -> str:
    """The answer computed from *records*, which may be a part of the corpus."""
    return FAMILIES[task.family].evaluate(records, task.facts)


def answer_by_jq(task: Task, lines: Sequence[bytes]) -> str:
    """The answer of the task's jq program, run on the array of the records in *lines*."""
    import jq

    compiled: Any = cast("Any", jq).compile(task.jq)
    answer: Any = compiled.input_text("[" + ",".join(line.decode() for line in lines) + "]").first()
    return str(answer)


def digest(tasks: Iterable[Task]) -> str:
    """SHA-256 of the tasks as JSON lines."""
    text = "".join(json.dumps(asdict(task), sort_keys=True) + "\n" for task in tasks)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _tasks(name: str, n: int) -> tuple[Task, ...]:
    family, data = FAMILIES[name], corpus(n)
    accepted: list[Task] = []
    repeats, seen_keys = Counter[str](), set[str]()
    candidates = family.make(data, Dice(SEED, name, n))
    for _, (question, facts, program, choices) in zip(range(20_000), candidates, strict=False):
        if len(accepted) == TASKS_PER_FAMILY:
            break
        key = json.dumps(facts, sort_keys=True)
        answer = family.evaluate(data.records, facts)
        is_repeated = repeats[answer] >= _MAX_REPEATS and not family.is_published
        if key in seen_keys or is_repeated or not _is_feasible(name, answer):
            continue
        seen_keys.add(key)
        repeats[answer] += 1
        text = f"{question} {ANSWER_FORMAT}"
        accepted.append(Task(f"{name}/{n}/{len(accepted) + 1:02}", name, n, text, answer, facts, program, choices))
    return tuple(accepted)


def _is_feasible(family: str, answer: str) -> bool:
    if family == "aggregate_filter/paper":
        return MATCH_RANGE[0] <= int(answer) <= MATCH_RANGE[1]
    return answer != ""


@cache
def feasible_filters(n: int) -> Mapping[str, int]:
    """The number of permitted filters with 3 to 50 matches, by comparison operator. The published description says
    which filters are permitted."""
    counts = dict.fromkeys(_COMPARISONS, 0)
    data = corpus(n)
    for facts in _all_filters():
        if MATCH_RANGE[0] <= int(_count_matches(data.records, facts)) <= MATCH_RANGE[1]:
            counts[facts["comparison"]] += 1
    return counts


def _all_filters() -> Iterator[dict[str, Any]]:
    for namespace in _prefixes():
        for comparison in _COMPARISONS:
            for priority in PRIORITIES:
                for product in PRODUCTS:
                    yield {
                        "namespace": namespace,
                        "comparison": comparison,
                        "priority": priority,
                        "product": product,
                    }


# --- id_lookup


def _lookup_questions(choose_count: Callable[[Dice], int]) -> Callable[[Corpus, Dice], Iterator[Any]]:
    def make(data: Corpus, dice: Dice) -> Iterator[Any]:
        while True:
            count = choose_count(dice)
            present_ids = [record["id"] for record in dice.sample(data.records, count)]
            ids = [*present_ids, *(dice.uuid() for _ in range(LOOKUP_IDS - count))]
            ids = dice.sample(ids, len(ids))
            question = f"Determine how many of these IDs exist in the memory store.\n{chr(10).join(ids)}\n"
            program = f"[.[].id] as $there | {json.dumps(ids)} | map(select(. as $id | $there | index($id))) | length"
            yield question, {"ids": ids}, program, tuple(map(str, range(LOOKUP_IDS + 1)))

    return make


def _count_present(records: Iterable[Record], facts: Mapping[str, Any]) -> str:
    return str(len(set(facts["ids"]) & {record["id"] for record in records}))


# --- aggregate_filter


def _prefixes() -> list[str]:
    return sorted({*NAMESPACES, *(name.partition("/")[0] for name in NAMESPACES)})


def is_below(namespace: str, prefix: str) -> bool:
    """True if a namespace is *prefix* itself or lies below it."""
    return namespace == prefix or namespace.startswith(f"{prefix}/")


def _filter_questions(data: Corpus, dice: Dice) -> Iterator[Any]:
    while True:
        facts: dict[str, Any] = {
            "namespace": dice.pick(_prefixes()),
            "comparison": dice.pick(list(_COMPARISONS)),
            "priority": dice.pick(PRIORITIES),
            "product": dice.pick(PRODUCTS),
        }
        ordinal = _OPERATOR_WORDS[facts["comparison"]].format(facts["priority"])
        question = (
            f"How many memories in the namespace {facts['namespace']} (or below it) have a priority {ordinal} and "
            f"mention {facts['product']} in their content, in upper or lower case?"
        )
        yield question, facts, filter_program(facts), tuple(map(str, range(min(data.size, MATCH_RANGE[1]) + 1)))


def filter_condition(facts: Mapping[str, Any]) -> str:
    """The predicate of a filter as a jq condition."""
    prefix = facts["namespace"]
    inside = f'.namespace | . == "{prefix}" or startswith("{prefix}/")'
    return (
        f"({inside}) and .extensions.priority {facts['comparison']} {facts['priority']} and "
        f'(.content | ascii_downcase | contains("{facts["product"].lower()}"))'
    )


def filter_program(facts: Mapping[str, Any]) -> str:
    """The filter of the task as a jq program over the array of records."""
    return f"map(select({filter_condition(facts)})) | length"


def _count_matches(records: Iterable[Record], facts: Mapping[str, Any]) -> str:
    compare, product = _COMPARISONS[facts["comparison"]], facts["product"].casefold()
    return str(
        sum(
            is_below(record["namespace"], facts["namespace"])
            and compare(record["extensions"]["priority"], facts["priority"])
            and product in record["content"].casefold()
            for record in records
        )
    )


# --- group_count


def _group_questions(data: Corpus, dice: Dice) -> Iterator[Any]:
    keys = {"status": "status", "memory_type": "memory type"}
    while True:
        key = dice.pick(list(keys))
        value = dice.pick(sorted({record[key] for record in data.records}))
        facts: dict[str, Any] = {"key": key, "value": value, "priority": dice.pick(PRIORITIES)}
        question = (
            f"Among the memories of {keys[key]} {value} with priority {facts['priority']}: which namespace has the "
            "most, and how many? Answer with the namespace, a blank, and the number."
        )
        program = (
            f'map(select(.{key} == "{value}" and .extensions.priority == {facts["priority"]})) | '
            'group_by(.namespace) | max_by(length) | "\\(.[0].namespace) \\(length)"'
        )
        guesses = tuple(f"{namespace} {number}" for namespace in NAMESPACES for number in range(1, 21))
        yield question, facts, program, guesses


def _largest_group(records: Iterable[Record], facts: Mapping[str, Any]) -> str:
    counts = Counter[str](
        record["namespace"]
        for record in records
        if record[facts["key"]] == facts["value"] and record["extensions"]["priority"] == facts["priority"]
    )
    largest = counts.most_common(2)
    if not largest or (len(largest) == 2 and largest[0][1] == largest[1][1]):
        return ""  # there is no group, or there are two largest groups, so this makes no task
    return f"{largest[0][0]} {largest[0][1]}"


# --- top_k


def _top_questions(data: Corpus, dice: Dice) -> Iterator[Any]:
    while True:
        facts: dict[str, Any] = {"namespace": dice.pick(_prefixes()), "priority": dice.pick(PRIORITIES)}
        facts["k"] = dice.integer(2, 4)
        question = (
            f"Of the memories in the namespace {facts['namespace']} (or below it) with priority {facts['priority']}, "
            f"which {facts['k']} have the highest confidence? Answer with their ticket numbers, highest first, "
            "separated by commas without blanks."
        )
        prefix = facts["namespace"]
        program = (
            f'map(select((.namespace | . == "{prefix}" or startswith("{prefix}/")) and .extensions.priority == '
            f"{facts['priority']})) | sort_by(-.provenance.confidence) | .[:{facts['k']}] | "
            'map(.extensions.ticket | tostring) | join(",")'
        )
        first = data.records[0]["extensions"]["ticket"]
        guesses = tuple(
            ",".join(str(first + start + step) for step in range(facts["k"])) for start in range(0, data.size, 3)
        )
        yield question, facts, program, guesses


def _top_tickets(records: Iterable[Record], facts: Mapping[str, Any]) -> str:
    confidence_and_ticket = [
        (record["provenance"]["confidence"], record["extensions"]["ticket"])
        for record in records
        if is_below(record["namespace"], facts["namespace"]) and record["extensions"]["priority"] == facts["priority"]
    ]
    confidence_and_ticket.sort(key=lambda pair: -pair[0])
    confidences = [confidence for confidence, _ in confidence_and_ticket[: facts["k"] + 1]]
    if len(confidence_and_ticket) < facts["k"] or len(set(confidences)) < len(confidences):
        return ""  # there are too few, or there is a tie, so this makes no task
    return ",".join(str(ticket) for _, ticket in confidence_and_ticket[: facts["k"]])


# --- needle


def _needle_questions(data: Corpus, dice: Dice) -> Iterator[Any]:
    units = [
        record["content"].partition("Unit ")[2].partition(" ")[0]
        for record in data.records
        if "opens with the phrase" in record["content"]
    ]
    phrases = tuple(sorted(_phrase(data.records, {"unit": unit}) for unit in units))
    while True:
        facts = {"unit": dice.pick(units)}
        question = f"With which three words does unit {facts['unit']} open? Answer with the words, separated by blanks."
        program = (
            f'first(.[].content | capture("Unit {facts["unit"]} opens with the phrase (?<phrase>[^.]+)[.]") | .phrase)'
        )
        yield question, facts, program, phrases


def _phrase(records: Iterable[Record], facts: Mapping[str, Any]) -> str:
    beginning = f"Unit {facts['unit']} opens with the phrase "
    for record in records:
        if beginning in record["content"]:
            return cast("str", record["content"].partition(beginning)[2].partition(".")[0])
    return ""


# --- missing


def _missing_questions(data: Corpus, dice: Dice) -> Iterator[Any]:
    tickets = [record["extensions"]["ticket"] for record in data.records]
    span = 24
    while True:
        low = dice.integer(tickets[0], max(tickets[0], tickets[-1] - span))
        facts = {"low": low, "high": min(low + span, tickets[-1])}
        question = (
            f"Every ticket from {facts['low']} to {facts['high']} should have a memory (the field ticket). Which "
            "ticket numbers have none? Answer with the numbers in order, separated by commas without "
            "blanks, or with none."
        )
        program = (
            f"map(.extensions.ticket) as $there | [range({facts['low']}; {facts['high'] + 1}) | "
            'select(. as $t | $there | index($t) | not) | tostring] | if . == [] then "none" else join(",") end'
        )
        yield question, facts, program, ("none", *(str(facts["low"] + step) for step in range(span)))


def _missing_tickets(records: Iterable[Record], facts: Mapping[str, Any]) -> str:
    present_tickets = {record["extensions"]["ticket"] for record in records}
    missing_tickets = [
        str(ticket) for ticket in range(facts["low"], facts["high"] + 1) if ticket not in present_tickets
    ]
    return ",".join(missing_tickets) or "none"


FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family(
            "id_lookup/paper",
            "count of IDs, always 8 of 12",
            True,
            ("id",),
            _lookup_questions(lambda _: 8),
            _count_present,
        ),
        Family(
            "id_lookup/varied",
            "count of IDs, 0 to 12 of 12",
            False,
            ("id",),
            _lookup_questions(lambda dice: dice.integer(0, LOOKUP_IDS)),
            _count_present,
        ),
        Family(
            "aggregate_filter/paper",
            "count by three fields, 3 to 50 matches",
            True,
            ("namespace", "extensions", "content"),
            _filter_questions,
            _count_matches,
        ),
        Family(
            "aggregate_filter/varied",
            "count by three fields, any number of matches",
            False,
            ("namespace", "extensions", "content"),
            _filter_questions,
            _count_matches,
        ),
        Family(
            "group_count",
            "largest group and its count",
            False,
            ("namespace", "status", "memory_type", "extensions"),
            _group_questions,
            _largest_group,
        ),
        Family(
            "top_k",
            "the k best, in order",
            False,
            ("namespace", "provenance", "extensions"),
            _top_questions,
            _top_tickets,
        ),
        Family("needle", "one sentence of one record", False, ("content",), _needle_questions, _phrase),
        Family("missing", "what is not there", False, ("extensions",), _missing_questions, _missing_tickets),
    )
}
"""The families by name."""
