"""Rules by which survivors with the same kind of change are accepted, each with its reason."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.tools.mutation.mutants import Mutant


@dataclass(frozen=True, slots=True)
class Alike:
    """A kind of change that no test can be expected to detect."""

    reason: str
    before: re.Pattern[str]
    """The text before the change."""
    old: re.Pattern[str]
    """The changed text and the text after it."""
    new: re.Pattern[str]
    """The text that replaces it."""
    by_half: bool = False
    """True if the rule only applies to a number that is at most halved or doubled."""


def _alike(reason: str, before: str, old: str, new: str, *, by_half: bool = False) -> Alike:
    return Alike(reason, re.compile(f"(?:{before})$"), re.compile(old), re.compile(new), by_half)


ALIKE = (
    _alike(
        "which share a hash is kept in is no matter, as long as it is the same each time",
        r"^share = \(hashed.*",
        "",
        "",
    ),
    _alike(
        "a quick way: what does not take it goes the slow one, and nothing else comes of it",
        r"^if (?:self\._few is not None and|not satisfied|again|orjson is|lines and \(max_line_bytes) .*",
        "",
        "",
    ),
    _alike("the text is cut for the reader at about this length", r"\bshow\([\w.\[\]()' ]+, ", r"\d+\)", r" ?\d+\)"),
    _alike(
        "flags of a pattern have one bit each, so that their sum is their union",
        r"\bre\.[A-Z]+ ",
        r"\| re\.",
        r"[+^] re\.",
    ),
    _alike(
        "a limit on time, on memory, or on what is read or remembered at once, with room to spare",
        r"^(?:PATIENCE_S|_ONE_S|_START_S|_MEMORY|_OUTPUT|_SAMPLE_BYTES|_CHUNK|_BATCH|_REGEX_BYTES|_MAX_FIELDS"
        r"|_MUTANT_RECORDS) = .*|maxsize=|timeout_s: float = |timeout=2 ?\*?",
        r"",
        r"",
        by_half=True,
    ),
    _alike(
        "no text is as long as this, so that it is shown whole",
        r"\bshow\([^,]*, (?:(?:10_|1_)?00?0?_?)*",
        r"(?:1|10)_000(?:_000)?\)",
        r" ?\d+\)",
    ),
    _alike(
        "both are as long as each other, for they are made together; it is a guard against our own mistakes",
        r"\bzip\(.*, strict=",
        r"True",
        r"False",
    ),
    _alike(
        "nothing is shorter than nothing, so that an order holds where equality does",
        r"\blen\([\w.]+\) ",
        r"== 0",
        r"<= 0",
    ),
)


def alike(mutant: Mutant) -> str | None:
    """The reason of the first rule that applies to a mutant; None if none applies."""
    same = (a == b for a, b in zip(mutant.before, mutant.after, strict=False))
    at = next((n for n, equal in enumerate(same) if not equal), min(len(mutant.before), len(mutant.after)))
    # Numbers that begin alike: the change is that of the whole number.
    start = len(mutant.before[:at].rstrip("0123456789"))
    for rule in ALIKE:
        for cut in {at, start}:
            before, old, new = mutant.before[:cut], mutant.before[cut:], mutant.after[cut:]
            fits = rule.before.search(before) and rule.old.match(old) and rule.new.match(new)
            if fits and (not rule.by_half or _by_half(mutant)):
                return rule.reason
    return None


def _by_half(mutant: Mutant) -> bool:
    """True if neither of the numbers in the two lines, once evaluated, is more than twice the other."""
    values = [_value(line) for line in (mutant.before, mutant.after)]
    return all(a is not None and b is not None and a <= 2 * b for a, b in (values, values[::-1]))


def _value(line: str) -> float | None:
    """The assigned or passed value: the first expression of numbers after ``=``."""
    found = re.search(r"= ?([\d_. ]+(?:(?:\*\*?|\+|-|//?|%|<<|>>|[|&^]) ?[\d_. ]+)*)(?=[,)]|\s*(?:#|$))", line)
    if found is None:
        return None
    try:
        return float(eval(found[1].strip(), {"__builtins__": {}}))
    except (ArithmeticError, SyntaxError, TypeError, ValueError):
        return None
