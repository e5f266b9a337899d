"""What is told of a file as a whole, and of a guidance: numbers, names and namespaces, held against what there is."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import product
from typing import Any

from lro_spec.editions import EDITIONS
from lro_spec.findings import Finding, Kind
from lro_spec.jsonl.lines import Block
from lro_spec.jsonl.values import not_json, whole_number
from lro_spec.recipes.numbers import near, unify_near
from lro_spec.timestamps import utc
from lro_spec.validation.editions import for_edition
from lro_spec.validation.guidance import paths, wrong_name, wrong_number, wrong_recipe
from lro_spec.validation.header import holds_memories, validate_header
from lro_spec.validation.state import ANY_NUMBER, RecordCount
from lro_spec.validation.summary import Facts, estimate_of_header, summary_against_file, wrong_namespaces
from tests.golden import Cases, Said
from tests.golden.files import HEADER, told

GUIDANCE = [
    "3 memories", "3 memories, 10 tokens", "1,000 records", "12 results", "12 tokens", "1_000 tokens", "0 memories",
    "1.0 records, 9 tokens", "1050 records", "1051 records", "950 records", "949 records", "3 memos",
    "9 tokens, 3 records",
    "1" * 101 + " records", "x" * 7990 + " 5 records", "x" * 7995 + " 5 records", "a 7 records, 1000 records",
    "1020 records",
]  # fmt: skip
COUNTS: list[tuple[list[object], list[object]]] = [
    ([3], [10]), ([1000], [1000]), ([], []), ([0], [0]), ([None, 12.0], ["12"]), ([-1000, 3], [9.5]), ([10**99], []),
    ([10**100], []),
]  # fmt: skip


def numbers(guidance: str) -> Said:
    """Which counts and tokens a guidance contradicts, and how."""
    return lambda: [str(wrong_number(guidance, *known))[:60] for known in COUNTS]


PATH = "/a/x.jsonl"
NAMED = [
    f"in {PATH}", "in /b/y.jsonl", "in /b/y.jsonl, /c/z.json", f"in /b/y.jsonl and {PATH}", "a/b.json",
    "x" * 7990 + "/b/y.json",
    "x" * 7992 + " /b/y.json",
    "Detail level: full", "detail = light", "detail: 'medium'", "detail: FULL", "detail: huge",
    "detail level = `light`",
    "recipe #0", "recipe #1", "recipe #2", "recipe #3", "recipes #2, recipe #4 and recipe #9", "recipe  #12",
]  # fmt: skip
RECIPES: list[Any] = [
    {"description": "titles by confidence"}, {"description": "Count the records of each namespace"}, 3,
    {"description": None},
]  # fmt: skip
DESCRIPTORS: list[dict[str, Any]] = [
    {"file_path": PATH, "summary": {"detail": "full"}, "jq_recipes": RECIPES[:2]},
    {"file_path": PATH, "summary": {"detail": "light"}, "jq_recipes": RECIPES},
    {"file_path": PATH, "summary": {"detail": "x"}, "jq_recipes": []},
    {"file_path": 3, "summary": 3, "jq_recipes": 3},
]
DESCRIBED = [
    "#1 (titles)", "#2 (titles)", "#2 (counts by namespace)", "#1 (count of namespaces)", "#1 (dates)", "#1 ()",
    "#2 (the)",
    "#2 (titles), #1 (namespaces)", "#1 (titles by confidence)", "#2 (title with confidences)", "#3 (titles)",
    "#9 (titles)",
    "#8 (count by namespace), #2 (titles)", "#1 (titles of namespaces)", "#1 (namespace titles count)",
    "x" * 7990 + " #2 (titles)",
    "x" * 7980 + " #2 (titles)", "#2 (confidence, count)", "#1 (titles with namespaces)", "#6 (count by namespace)",
]  # fmt: skip
SAME_SIZE: list[Any] = [{"description": d} for d in ("titles", "titles first", "dates", "titles last")]


def recipes(guidance: str) -> Said:
    """Which recipe it calls by the words of another, by its own words and by those of each text."""
    texts = [None, *EDITIONS.values()]
    many: list[Any] = [*RECIPES[:2], *SAME_SIZE, {"description": "names"}, {"description": "dates"}]
    return lambda: [str(wrong_recipe(guidance, {"jq_recipes": r}, t)) for r in (RECIPES, many, 3) for t in texts]


WORDS = ((Kind.MISSING_FIELD, "x is missing"), (Kind.WRONG_VALUE, "x is wrong"))
RULES = ("LRO-DESC-01", "LRO-FILE-02", "LRO-FILE-03", "LRO-DESC-03", "json", "LRO-REC-01")
POINTERS = (
    "", "/type", "/guidance", "/line_schema", "/jq_recipes", "/offloaded", "/summary", "/summary/detail",
    "/summary/count",
    "/summary/top_namespaces", "/summary/top_namespaces/0", "/summary/score_range", "/query", "/file_path/x",
)  # fmt: skip


def held(edition: str, rule: str) -> Said:
    """What becomes of findings in an edition."""
    found = [Finding(rule, k, p, m, "e", "o") for p, (k, m) in product(POINTERS, WORDS)]

    def say() -> list[str]:
        return [
            f"{f.severity} {f.rule} {f.pointer} {f.message} {f.hint}" for f in for_edition(found, EDITIONS[edition])
        ]

    return say


MEMBERS: list[dict[str, Any]] = [
    {}, {"schema_version": "0"}, {"extra": {}}, {"schema_version": "0", "extra": {}}, {"schema_version": "0",
    "extra": 3},
    {"schema_version": "1.0", "extra": {}},
]  # fmt: skip
HEADERS: list[Any] = [
    {**HEADER, "query": float("nan")}, {**HEADER, "query": "\ud800"}, {**HEADER, "count": float("nan")}, {**HEADER,
    "x": {1}},
    {**HEADER, "count": "x", "query": {"a": float("inf")}}, {**HEADER, "count": float("inf"), "estimated_tokens": "x"},
    {n: v for n, v in HEADER.items() if n != "type"}, {n: v for n, v in HEADER.items() if n != "query"}, {}, 3,
    {**HEADER, "operation": "fetch"}, {**HEADER, "operation": "fetch", "schema_version": "0", "extra": {}},
    {**HEADER, "timestamp": "2026-02-30T00:00:00Z"}, {**HEADER, "type": "x"},
    {**HEADER, "extra": float("nan"), "timestamp": "x"},
]  # fmt: skip
TIMES = ["2026-01-01T00:00:00", "2026-01-01T00:00:00+02:00", "0001-01-01T00:00:00+02:00", "9999-12-31T23:59:59-02:00"]
LISTS = [
    [],
    ["a"],
    ["b"],
    ["a", "b"],
    ["b", "a"],
    ["a", "a"],
    ["c"],
    ["x"],
    ["x", "y"],
    ["a", "b", "c"],
    ["a", "c"],
    ["d", "c"],
]
TALLY = Counter({"a": 3, "b": 2, "c": 1, "d": 1, "e": 0})
TALLIES: list[Counter[str]] = [
    TALLY,
    Counter(),
    Counter({"a": 1}),
    Counter({"b": 2, "a": 2, "c": 2}),
    Counter({"c": -1}),
]


def facts(*records: dict[str, Any], scored: bool = True) -> Facts:
    """What is gathered of these records."""
    gathered = Facts(scored=scored)
    gathered.take(list(records), Block(1, 0, [str(r).encode() for r in records]))
    return gathered


SOME = [
    facts({"namespace": "a", "score": 0.5}, {"namespace": "b", "score": 0.75}, {"namespace": "a"}),
    facts({"namespace": "a", "provenance": {"confidence": 0.25}}, {"namespace": ["a"], "score": 1}, {"namespace": "b"}),
    facts({"namespace": "é\\u", "score": True}, scored=False), facts(),
    Facts(namespaces=None, characters=100, wide_characters=20, escapes=3), Facts(characters=4000), Facts(characters=400,
    escapes=9),
    Facts(characters=400, wide_characters=400), Facts(characters=100_000, wide_characters=300, escapes=100),
    Facts(namespaces=Counter(map(str, range(99_999)))), Facts(namespaces=Counter(map(str, range(-1, 1)))),
    Facts(namespaces=Counter(map(str, range(100_000)))),
]  # fmt: skip


def of(one: Facts) -> str:
    """Facts in words."""
    names = None if one.namespaces is None else len(one.namespaces), sum((one.namespaces or Counter()).values())
    return f"{names} {one.scores} {one.confidences} {one.characters} {one.wide_characters} {one.escapes}"


SUMMARIES: list[dict[str, Any]] = [
    {"top_namespaces": ["a"]}, {"top_namespaces": ["b", "a"], "score_range": [0.5, 0.75]},
    {"top_namespaces": [], "score_range": [0.0, 0.0], "operation": "search"},
    {"top_namespaces": ["a", "b"], "score_range": [0.25, 1.0], "detail": "full", "estimated_tokens": 0},
    {"count": 0, "top_namespaces": ["z"], "score_range": [0.0, 0.1], "operation": "inject", "detail": "a"},
    {"count": 9, "top_namespaces": list("abcdef"), "score_range": [0.51, 0.74], "estimated_tokens": 999},
    {"count": 3, "top_namespaces": {"a": 2, "b": 1}, "score_range": [0.52, 0.75]}, {"count": 3, "top_namespaces": "a"},
]  # fmt: skip


def _count(records: int | None) -> RecordCount:
    return ANY_NUMBER if records is None else RecordCount(records, records)


def summary(edition: str, changed: dict[str, Any], records: int | None) -> Said:
    """What is said of a summary for several files."""
    plain: dict[str, Any] = {"count": 2, "operation": "recall", "estimated_tokens": 10, "detail": "light"}

    def say() -> list[str]:
        text, descriptor = EDITIONS[edition], {"summary": {**plain, **changed}}
        return [
            f"{n} {f.pointer[9:]}: {f.message[-30:]}, {f.expected[:40]}"
            for n, one in enumerate(SOME[:5])
            for f in summary_against_file(descriptor, HEADER, one, _count(records), text)
        ]

    return say


WEIGHED: list[dict[str, Any]] = [{**HEADER, "estimated_tokens": n} for n in (1000, 1000.0, "x", 100, 0)]
AROUND: list[tuple[Any, int]] = [
    *((extra, said) for extra in ("", "x" * 2000, "é" * 2000, {1}) for said in (0, 1, 435, 436, 437, 999, 1000, 1001))
]  # fmt: skip


def estimates() -> list[str]:
    """Which estimates are far from a file's thousand, for descriptors of several lengths."""
    said: list[str] = []
    for (extra, number), header in product(AROUND, WEIGHED):
        whole: dict[str, Any] = {"x": extra, "summary": {"count": 0, "estimated_tokens": number, "top_namespaces": []}}
        found = summary_against_file(whole, header, Facts(), _count(None), EDITIONS["lro-6400"])
        said.append(f"{number}: {[f.expected for f in found if f.rule == 'LRO-DESC-04']}")
    return said


def honest(one: Facts) -> Said:
    """Between which numbers a header's estimate is honest."""

    def say() -> list[str]:
        said = [
            list(estimate_of_header({"estimated_tokens": n, "operation": o}, one))
            for n, o in ((-1, "a"), (1e9, "inject"))
        ]
        return [f"{f.severity}: {f.expected}, {f.observed}" for found in said for f in found]

    return say


HOLDS_ITSELF: list[Any] = []
HOLDS_ITSELF.append(HOLDS_ITSELF)
NO_JSON: list[Any] = [
    1, 1.5, float("nan"), float("-inf"), 10**400, -(10**400), {1}, b"a", None, "\ud800", "a\udfffb", {"\ud800": 1},
    {1: 2, "a": {3}},
    [[1], [float("nan"), 2]], ({"a": (float("inf"),)},), HOLDS_ITSELF, [[1], [1]], {"a": [HOLDS_ITSELF, {2}]}, "é",
    {"b": object},
]  # fmt: skip
NUMBERS: list[tuple[list[Any], list[Any]]] = [
    ([0.1 + 0.2], [0.3]), ([1, 2], [2, 1.0]), ([{"a": [0.3]}], [[0.1 + 0.2, None, "x", True]]), ([], []),
    ([float("nan")], [1.0]),
    ([1, 1 + 2**-51], [1 + 2**-50, 1 + 2**-49]), ([0.3, 0.1 + 0.2, 5], [4]),
]  # fmt: skip

CASES: Cases = {
    **{f"numbers in {text[-40:]!r} ({len(text)})": numbers(text) for text in GUIDANCE},
    **{f"names in {text[-40:]!r} ({len(text)})": lambda t=text: [str(wrong_name(t,
    d)) for d in DESCRIPTORS] for text in NAMED},
    **{f"recipes in {text[-40:]!r} ({len(text)})": recipes(text) for text in DESCRIBED},
    "paths": lambda: [str(paths(t)) for t in ("/a.json", "a/b.json", "(/a.jsonl) '/b.json'", "/a b.json",
    "/a.jsonl.gz")],
    **{f"{rule} held by {edition}": held(edition, rule) for edition in EDITIONS for rule in RULES},
    "memories": lambda: [str(holds_memories(m)) for m in MEMBERS],
    **{f"header {n} by {e}": lambda h=h, e=e: [ascii(told(f)) for f in validate_header(h, edition=e)]
       for e in EDITIONS for n, h in enumerate(HEADERS)},
    "in UTC": lambda: [str(utc(datetime.fromisoformat(t))) for t in TIMES],
    "namespaces": lambda: [str(wrong_namespaces(s, t)) for t in TALLIES for s in LISTS],
    "two namespaces": lambda: [str(wrong_namespaces(s, TALLY, 2)) for s in LISTS],
    "gathered": lambda: [of(one) for one in SOME],
    **{f"summary {n} by {e} of {r}": summary(e, s, r) for e in EDITIONS for n, s in enumerate(SUMMARIES)
       for r in (None, 0, 2, 3)},
    "estimates": estimates,
    **{f"honest for {n}": honest(one) for n, one in enumerate(SOME[:9])},
    **{f"not JSON {n}": lambda v=v: [ascii(f"{p} {told(f)}") for p, f in not_json(v)] for n, v in enumerate(NO_JSON)},
    "whole numbers": lambda: [str(whole_number(v)) for v in (1, 1.0, 1.5, True, "1", None, -2.0, 1e300)],
    "near": lambda: [str(near(1.0, 1.0 + n * 2**-52)) for n in range(-6, 7)],
    **{f"taken alike {n}": lambda r=r, v=v: [str(unify_near(r, v))] for n, (r, v) in enumerate(NUMBERS)},
}  # fmt: skip
