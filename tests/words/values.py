"""Values of JSON: how they are read, compared, shown, and what standard recipes make of records."""

from __future__ import annotations

import json
from typing import Any

from lro_spec.agreement import Agreement, agrees, probe, same_output, shown
from lro_spec.editions import EDITIONS
from lro_spec.evaluation import erratum, evaluate
from lro_spec.jqrun import JqRun
from lro_spec.outcomes import number_of
from lro_spec.pipeline import parse_command
from lro_spec.record_rules import validate_line
from lro_spec.schema_errors import type_words, violations
from lro_spec.strictjson import DEEPEST, StrictJsonError, canonical, equal, loads, too_deep
from tests.words import Cases, Said

TEXTS = [
    "[1e" + "9" * 22 + "]", "[1e" + "9" * 23 + "]", "[" + "[]," * 300 + "[" * 500 + "]" * 501,
    "1", "-0", "1.0", "1e5", "1e308", "1e309", "-1e400", "1" * 308, "1" * 309, "1" * 400, '"a"', '"\\ud800"', "null",
    "true",
    "NaN", "-Infinity", "[NaN]", '{"a": Infinity}', '{"a":1,"a":2}', '{"a":1,"b":{"a":1,"a":2}}', '[{"a":1},{"a":1}]',
    '{"a":{"b":1},"a":2}', '{"a":["a","a"],"b":"a"}', '{"\\u0061":1,"a":2}', '{"a":"a","b":"a"}',
    '[{"x":[],"y":1},"x","x"]',
    "[1,\n 2,\n {\"a\":1,\n  \"a\":2}]", "[1e999]", '["NaN", 1e999]', "[1, 2", '"a', "{", "[1] x", "\ufeff1", "", " ",
    "[" * DEEPEST + "]" * DEEPEST, "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), '[{"a":' * 251 + "1" + "}]" * 251,
    '"' + "[" * 600 + '"', "[[]]" + " " * 3, "[" + ",".join(["[]"] * 600) + "]", '{"a":-NaN}', "[-1" + "0" * 400 + "]",
]  # fmt: skip
PAIRS: list[tuple[Any, Any]] = [
    (-(10**400), 1),
    (1, 1.0), (0, -0.0), (1, True), (0, False), (None, False), ("a", "a"), ("1", 1), (2**53, 2**53 + 1),
    (2**53 - 1, 2**53),
    ([1, 2], [1.0, 2]), ([1, 2], [2, 1]), ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}), ({"a": None}, {}),
    ("\ud800", "\ufffd"),
    ("\ud800", "\udfff"), ([], {}), ([[]], [[], []]), (10**400, 10**401), (10**400, -(10**400)),
    ({"a": [1]}, {"a": [True]}),
    ("é", "e\u0301"), ([1], (1,)), (1.5, 1.5000000000000002), ([None], [[]]),
]  # fmt: skip


def read(text: str) -> Said:
    """What a text holds, or what is wrong with it and where."""

    def say() -> list[str]:
        try:
            return [repr(loads(text))[:80]]
        except StrictJsonError as problem:
            return [f"{problem} (offset {problem.offset})"]

    return say


def compared(a: Any, b: Any) -> Said:
    """Whether two values are equal, either way."""
    return lambda: [str(equal(a, b)), str(equal(b, a)), canonical(a)[:60]]


RECORDS: list[Any] = [
    {"id": "1", "title": "Key word", "namespace": "_semantic/a", "memory_type": "semantic", "content": "a Pattern"}
    | {"provenance": {"confidence": 0.5}, "entities": [1], "tags": ["TAG"], "created": "2026-01-02", "confidence": 1},
    {"id": "2", "title": "keyword", "namespace": "_episodic", "memory_type": "episodic", "content": "straße"}
    | {"provenance": {"confidence": 0.9}, "entities": [], "tags": "xTAGx", "created": "2026-01-01", "confidence": 0},
    {"id": "3", "title": "İ KEYWORD", "namespace": "_semantic", "memory_type": "semantic", "provenance": {}}
    | {"entities": None, "tags": [], "created": "2026-01-02"},
    {
        "id": "4",
        "title": None,
        "namespace": None,
        "provenance": {"confidence": "x"},
        "entities": {"a": 1},
        "created": 3,
    },
    {"id": "5", "title": ["x"], "provenance": 3, "entities": True, "tags": None, "memory_type": 1, "namespace": 2},
    3,
]
LITERALS = {
    "namespace-prefix": "_e",
    "title-search": "KEY",
    "content-search": "SS",
    "memory-type": "episodic",
    "with-tag": "x",
}
OUTPUTS: list[bytes] = [
    b"", b"[]", b"null\n", b"x", b'"a"\n"b"', b"{}", b"[{}]", b"[1]\n[2]", b"\t\n\t\n", b'{"id":"1"}', b"[[]]\n",
]  # fmt: skip


def meaning(number: int, edition: str, literal: str | None) -> Said:
    """What a standard recipe gives for some records, and where the text's own command fails on them."""

    def say() -> list[str]:
        said = [evaluate(number, some, literal=literal, edition=edition).text() for some in (RECORDS, RECORDS[:3], [])]
        return said + [f"{place}: {erratum(number, [r], edition=edition)}" for place, r in enumerate(RECORDS)]

    return say


def met(number: int, edition: str) -> Said:
    """Which outputs are what a standard recipe gives: made of the records, and others."""

    def say() -> list[str]:
        some = RECORDS[:3]
        made = [*OUTPUTS, *(_text(v) for v in _candidates(some))]
        header = {"type": "lro_header", "title": "h"}
        runs = [JqRun(0, stdout, "", False, "jq") for stdout in made]
        told = [agrees(number, run, some, header=header, edition=edition) for run in runs]
        return ["".join("+" if one else "h" if one.with_header else "-" for one in told)]

    return say


RUNS = [
    *(JqRun(0, stdout, "", False, "jq") for stdout in OUTPUTS),
    JqRun(5, b"1", "jq: error\n", False, "jq"),
    JqRun(-9, b"", "", True, "libjq", "ran out of time"),
    JqRun(5, b"", " ", False, "jq"),
    JqRun(0, b"x" * 2000, "", False, "jq"),
    JqRun(0, b"[1, 2] ", "", False, "jq"),
    JqRun(0, b"1 2\r\n3", "", False, "jq"),
    JqRun(0, b"\xff", "", False, "jq"),
    JqRun(0, ("\U0001f600" * 400).encode(), "", False, "jq"),
    JqRun(0, b"x" * 299, "", False, "jq"),
    JqRun(0, b"x" * 300, "", False, "jq"),
]


def seen(number: int) -> Said:
    """What is said of a run, whatever it should have given."""
    return lambda: [str(bool(one := agrees(9, RUNS[number], [3]))), one.expected, one.observed, str(one.erratum)]


RANKED: list[Any] = [{"id": n, "provenance": {"confidence": n / 4}} for n in (3, 2, 1)]
THIRDS: list[Any] = [{"id": n, "provenance": {"confidence": c}} for n, c in ((1, 0.3), (2, 0.9))]
HEAD = {"type": "lro_header"}


def told_of(number: int, records: list[Any], output: list[Any], header: Any = None, **run: Any) -> Said:
    """What comes of an output, and of a run that did not go well."""
    known: dict[str, Any] = {"status": 0, "stderr": "", "timed_out": False, "engine": "jq", "problem": "", **run}

    def say() -> list[str]:
        one = agrees(number, JqRun(stdout=_text(output), **known), records, header=header)
        return [f"{one.ok}, with the header {one.with_header}", one.expected, one.observed, str(one.erratum)]

    return say


def _text(values: list[Any]) -> bytes:
    return "\n".join(json.dumps(v) for v in values).encode()


def _candidates(some: list[Any]) -> list[list[Any]]:
    a, b, c = some
    cut = [{k: r.get(k) for k in ("id", "title", "namespace")} for r in some]
    rows = [[r.get("title"), r.get("provenance", {}).get("confidence")] for r in some]
    counts = [{"namespace": r["namespace"], "count": 1} for r in some]
    return [
        [a], [b], [a, c], [c, a], [a, b], [b, a], [a, b, c], [b, a, c], [c, b, a], [[b, a, c]], [b, c, a], [b, b, c],
        cut, [cut], cut[:2], [{**cut[0], "x": 1}, *cut[1:]], [{**cut[0], "title": "z"}, *cut[1:]], rows, [rows],
        [[r["title"], r["namespace"]] for r in some], counts, [counts], counts[:2],
    [{**counts[0], "count": 2}, *counts[1:]],
        [r["namespace"] for r in some], [[r["namespace"] for r in some]], ["_semantic", "_semantic", "_episodic"],
        [{"semantic": 2}, {"episodic": 1}], [["semantic", 2], ["episodic", 1]], [["episodic", 1], ["semantic", 2]],
        [{"memory_type": "semantic", "count": 2}, {"memory_type": "episodic", "count": 1}],
    ]  # fmt: skip


AGREED: Cases = {
    "right": told_of(4, RANKED, RANKED),
    "right, as an array": told_of(4, RANKED, [RANKED]),
    "right, and an array more": told_of(4, RANKED, [RANKED, RANKED]),
    "right, after an error": told_of(4, RANKED, RANKED, status=5),
    "right, after a limit": told_of(4, RANKED, RANKED, status=5, problem="ran out of time"),
    "right but for what the text's own command fails on": told_of(4, [*RANKED, {}], [*RANKED, {}], status=5),
    "right, after a limit, where the text's fails": told_of(4, [*RANKED, {}], [*RANKED, {}], problem="too much"),
    "wrong": told_of(4, RANKED, RANKED[:2]),
    "with the header": told_of(4, RANKED, [*RANKED, HEAD], HEAD),
    "with the header that nobody tells of": told_of(4, RANKED, [*RANKED, HEAD]),
    "right, and the header is told of": told_of(4, RANKED, RANKED, HEAD),
    "wrong, and the header is told of": told_of(4, RANKED, RANKED[:2], HEAD),
    "rows in quotes": told_of(1, RANKED, ["\t0.75", "\t0.5", "\t0.25"]),
    "rows as arrays": told_of(1, RANKED, [[None, 0.75], [None, 0.5], [None, 0.25]]),
    "nothing, and the header is told of": told_of(7, RANKED, [], HEAD, status=5),
    "near, but one is left out": told_of(4, THIRDS, [{"id": 1, "provenance": {"confidence": 0.1 + 0.2}}]),
    "near": told_of(4, THIRDS, [THIRDS[1], {"id": 1, "provenance": {"confidence": 0.1 + 0.2}}]),
    "one row": told_of(1, RANKED[:1], [[None, 0.75]]),
    "counts, least first": told_of(8, [{"namespace": n} for n in "aab"], [["b", 1], ["a", 2]]),
}
KINDS = {"count-by-namespace-unsorted": "namespace", "count-by-type": "memory_type", "count-by-namespace": "namespace"}


def in_order(number: int, edition: str, field: str) -> Said:
    """Whether counts may come with the least or with the most first."""
    records = [{field: v} for v in "aab"]
    counts = [["b", 1], ["a", 2]]
    return lambda: [str(evaluate(number, records, edition=edition).met_by(v)) for v in (counts, counts[::-1])]


def refused(number: int, literal: str | None = None) -> Said:
    """What a recipe's meaning is refused for."""

    def say() -> list[str]:
        try:
            return [evaluate(number, RECORDS, literal=literal).text()]
        except ValueError as problem:
            return [str(problem)]

    return say


MEANT: Cases = {
    **{f"{e} recipe {r.number} in order": in_order(r.number, e, KINDS[r.effect]) for e in EDITIONS
       for r in EDITIONS[e].recipes_at("full") if r.effect in KINDS},
    **{f"{e} recipe {r.number} of twelve": lambda e=e, r=r: [evaluate(r.number, RANKED * 4, edition=e).text()]
       for e in EDITIONS for r in EDITIONS[e].recipes_at("full") if r.effect == "top-by-confidence"},
    "no recipe 0": refused(0),
    "no recipe 99": refused(99),
    "a pattern": refused(3, "a.b"),
    "no pattern": refused(3, "a-b"),
    "an agreement": lambda: [repr(Agreement(True, "", ""))],
    "the same output": lambda: [str(same_output(a, b)) for a in RUNS[:3] for b in RUNS[:3]],
    "the same output, ended otherwise": lambda: [str(same_output(RUNS[0], JqRun(5, b"", "", False, "jq")))],
    "a literal of the header": lambda: [repr(probe(parse_command(t), 3, "z", header=HEADER)) for t in OF_THE_HEADER],
}  # fmt: skip
HEADER = {"type": "lro_header", "title": "h"}
OF_THE_HEADER = [
    'jq \'select(.type != "lro_header") | test("x")\' f', 'jq \'select(.title == "h")\' f', "jq . f",
    'jq \'select(.type != "lro_header")\' f | jq \'test("x")\'', 'jq --arg a h --arg b x \'$a, $b\' f',
]  # fmt: skip
PROBED = [
    'jq --arg a x \'select(.title | test($a))\' f', 'jq --arg b x \'.a\' f', 'jq --argjson a \'"x"\' \'$a\' f',
    'jq --argjson a 1 \'$a, "y"\' f', 'jq \'test("x"; "i")\' f', 'jq \'"" // "x"\' f', "jq . f", 'jq . f | jq \'"x"\'',
]  # fmt: skip
LINES: list[Any] = [
    {}, {"id": 1}, {"id": "a", "tags": "x"}, {"id": "a", "provenance": []}, {"id": "a", "created": 3}, [], None,
    {"id": "a", "content": None}, {"id": "a", "content": 5}, {"id": "a", "extensions": 3},
]  # fmt: skip
PROFILES: list[Any] = [
    {}, {"server": {}}, {"server": {"command": []}}, {"server": {"command": ["a"], "timeout_s": 0}}, {"level": 4},
    {"server": {"command": ["a"], "x": 1}}, {"server": {"command": "a"}}, {"edition": "x"}, {"level": "3"}, 3,
    {"server": {"command": ["a"]}, "cleanup": {"restart": True, "wait_s": 1}},
    {"server": {"command": ["a"]}, "seed": {}},
    {"server": {"command": ["a"]}, "settings": {"enabled": {}}},
    {"server": {"command": ["a"]}, "operations": {"recall": {}}},
    {"server": {"command": ["a"]}, "operations": {}},
    {"server": {"command": ["a"]}, "settings": {"enabled": {"env": "A", "arg": "b"}}},
]  # fmt: skip

CASES: Cases = {
    **{f"text {text[:30]!r} ({len(text)})": read(text) for text in TEXTS},
    **{f"equal {i}": compared(a, b) for i, (a, b) in enumerate(PAIRS)},
    "too deep": lambda: [str(too_deep(loads("[" * n + "]" * n), 4)) for n in (1, 4, 5, 6)] + [str(too_deep(3))],
    **AGREED,
    **MEANT,
    **{f"output {n}": seen(n) for n in range(len(RUNS))},
    "numbers": lambda: [repr(number_of(v)) for v in (1, -0.0, True, "1", None, 10**400, -(10**400), 1.5)],
    "shown": lambda: [shown(t) for t in ("a\tb", "é\x1b[0m", "x" * 300, "x" * 301, "\n" * 200)],
    **{f"{e} recipe {r.number} at {d}": meaning(r.number, e, None) for e in EDITIONS for d in ("full",)
       for r in EDITIONS[e].recipes_at(d)},
    **{f"{e} recipe {r.number} looking": meaning(r.number, e, LITERALS[r.effect]) for e in EDITIONS
       for r in EDITIONS[e].recipes_at("full") if r.effect in LITERALS},
    **{f"{e} recipe {r.number} met": met(r.number, e) for e in ("lro-6400", "lro-1600", "lro-paper")
       for r in EDITIONS[e].recipes_at("full")},
    **{f"probe {text}": lambda t=text: [repr(probe(parse_command(t), 3, "z"))] for text in PROBED},
    **{f"line {i} at {d}": lambda v=v, d=d: [str(f) for f in validate_line(v, d)] for i, v in enumerate(LINES)
       for d in (None, "light", "full")},
    **{f"profile {i}": lambda v=v: [f"{'/'.join(map(str, e.path))} {e.keyword}: {e.expected}, {e.observed}"
       for e in violations(v, "profile")] for i, v in enumerate(PROFILES)},
    "types": lambda: [type_words("object"), type_words(["string", "null"])],
}  # fmt: skip
