"""What estimates, levels and edges say, where more than one check reads them."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace as Made
from typing import Any

from lro_conformance import readings as plain
from tests.words import Cases
from tests.words.judging import A, B, C

readings: Any = plain
"""What is made up is no survey, but looks like one."""


def one(
    characters: int = 400,
    estimate: Any = 100,
    *filed: dict[str, Any],
    scripts: Any = None,
    header: Any = ...,
    **other: Any,
) -> Any:
    """A call as readings see it."""
    file = Made(characters=characters, scripts=scripts or (0, 0, characters), problem=None)
    known: dict[str, Any] = {
        "operation": "recall", "detail": None, "limit": None, "query": "*", "file": file, "estimate": estimate,
        "filed": list(filed) or [A],
        "header": {"estimated_tokens": estimate} if header is ... else header, "records": None, "outcome": "offloaded",
    }  # fmt: skip
    return Made(**{**known, **other})


FULL = {"id": "a", "memory_type": "m", "namespace": "n", "title": "t", "content": "c", "created": "d"}
LIGHT = {"id": "a", "title": "t"}
MEDIUM = {"id": "a", "title": "t", "summary": "s"}


def survey(*files: Made, details: tuple[str, ...] = ("light", "full"), **other: Any) -> Any:
    """A survey with these files."""
    known: dict[str, Any] = {
        "files": files, "whole": {}, "restless": (), "repeats": {},
        "operations": {n: Made(details=details) for n in ("recall", "search", "inject")},
    }  # fmt: skip
    return Made(**{**known, **other})


def grains() -> list[str]:
    """What all estimates are multiples of."""
    sets = [(10, 20, 30, 40, 50, 60), (10, 20, 30, 40, 50), (9, 18, 27, 36, 45, 54), (10, 20, 30, 40, 50, 61), (0, 10,
    20, 30, 40, 50, 60),

            (-5, 10, 20, 30, 40, 50, 60), (0, 10, 20, 30, 40, 50), (1, 10, 20, 30, 40, 50, 60),
            (11, 22, 33, 44, 55, 66), (25, 50, 75, 100, 125, 150, "x"), (1, 20, 40, 60,
            80, 100)]  # fmt: skip
    return [str(readings.grain(survey(*(one(estimate=e) for e in s)))) for s in sets]


def probe(threshold: int, outcome: str) -> Any:
    """A call at a threshold."""
    return Made(threshold=threshold, call=Made(outcome=outcome))


SIDES_OF = [
    ("inline", "offloaded"),
    ("offloaded", "offloaded"),
    ("inline", "inline"),
    ("offloaded", "inline"),
    ("error", "offloaded"),
]
FURTHER: list[dict[str, Any]] = [
    {}, {"near": probe(102, "inline")}, {"near": probe(98, "offloaded")}, {"near": probe(98, "inline")},
    {"near": probe(100, "inline")},
    {"next": probe(103, "offloaded"), "near": probe(110, "inline")}, {"next": probe(103, "inline"), "near": probe(110,
    "inline")},
    {"next": probe(97, "inline"), "near": probe(90, "offloaded")}, {"half": probe(50, "inline"), "low": probe(10,
    "offloaded")},
    {"half": probe(50, "inline"), "low": probe(10, "inline")}, {"half": probe(50, "offloaded"), "low": probe(10,
    "offloaded")},
    {"half": probe(50, "inline"), "low": probe(10, "offloaded"), "largest": 50}, {"half": probe(50, "inline")},
    {"low": probe(1, "offloaded")},
    {"half": probe(50, "inline"), "low": probe(10, "offloaded"), "largest": 49}, {"next": probe(103, "offloaded")},
    {"half": probe(50, "inline"), "low": probe(10, "offloaded"), "largest": 60},
    {"half": probe(50, "inline"), "low": probe(10, "offloaded"), "largest": 50, "estimate": 101},
]  # fmt: skip


def edge(sides: tuple[str, str], **other: Any) -> Any:
    """An edge at 100 tokens."""
    at, above = sides
    found = (probe(100, at), probe(100, "inline")), (probe(99, above), probe(99, "offloaded"))
    known: dict[str, Any] = {"after": None, "next": None, "near": None, "half": None, "low": None}
    return Made(
        **{"operation": "recall", "estimate": 100, "largest": 20, "at": found[0], "above": found[1], **known, **other}
    )


def decided() -> list[str]:
    """How operations decide, by themselves and beside another."""
    plain, said = survey(), list[str]()
    for sides, further in product(SIDES_OF, FURTHER):
        here = edge(sides, **further)
        for name, beside in (("recall", {}), ("inject", {}), ("recall", {"search": edge(SIDES_OF[0])}),
                             ("inject", {"recall": edge(SIDES_OF[2], **FURTHER[8])})):  # fmt: skip
            said.append(str(readings.rules(plain, Made(edges={name: here, **beside}))))
    rounded = survey(*(one(estimate=10 * n) for n in range(1, 8)))
    said.append(str(readings.rules(rounded, Made(edges={"recall": edge(SIDES_OF[1])}))))
    stuck = [edge(s, after=a) for s in SIDES_OF[:2] for a in (None, probe(100, "offloaded"), probe(100, "inline"))]
    return said + [str(readings.sticks(Made(edges={"recall": e}))) for e in stuck]


def same() -> list[str]:
    """Files that hold the same, and whether they have the same E."""
    groups = [
        [one(400, 100), one(400, 100)], [one(400, 100), one(402, 101)], [one(400, 100), one(402, 105)], [one(400, 100),
        one(402, 104)],
        [one(400, 100), one(400, 103)], [one(400, 100), one(400, 102)], [one(400, 100), one(400, 99, B)], [one(400,
        100), one(400, 90, {"id": "a"})],
        [one(400, 100), one(400, 90, operation="search")], [one(400, 100), one(400, None)], [one(400, 100), one(400,
        True)],
        [one(400, 100, A, B), one(300, 90), one(300, 80, limit=5)], [one(400, 100, A), one(400, 90, A, limit=5)],
        [one(), one(header={})],
        [one(400, 100, A, B), one(400, 50, A, B, limit=2), one(900, 90, A, B, C)], [one(400, 100, filed=[]), one(400,
        90, filed=[])],
        [one(400, 100, A), one(400, 90, A, limit=5), one(900, 90, A, B, C, operation="inject")], [one(399, 100),
        one(402, 100)],
        [one(400, 100, A, {"id": "b"}), one(400, 90, A, B)], [one(400, 100, detail="light"), one(400, 90,
        detail="full")],
        [one(400, 100, A, B, limit=9), one(400, 90, A, B, limit=5), one(100, 20, A, limit=1)],
        [one(400, 100, A, limit=1), one(400, 90, A, limit=5), one(900, 90, A, B, C, operation="search")],
    ]  # fmt: skip
    said: list[str] = []
    for group in groups:
        found = list(readings.of_the_same(survey(*group)))
        places = [(group.index(a), group.index(b), readings.slack_of(a, b)) for a, b in found]
        said.append(f"{places} {readings.is_steady(survey(*group))}")
    return said


def honest() -> list[str]:
    """Which estimates are honest, and what a character weighs."""
    some = [
        one(n, e, scripts=s)
        for n, s in ((4000, None), (4000, (1000, 10, 2940)), (0, None))
        for e in (None, 0, 535, 536, 537, 1864, 1865, 1866, 9999)
    ]
    some += [one(file=None), one(file=None, estimate=None), *(one(n, None) for n in (1, 2, 8, 433, 434, 435))]
    return [
        f"{readings.is_honest(c)} {readings.honest_range(c)} "
        f"{readings.tokens_per_character(c):.4f} {readings.characters(c)}"
        for c in some
    ]


def parts() -> list[str]:
    """Which calls show that E covers a part, or was made before the limit."""
    groups = [
        [one(400, 100), one(800, 200), one(8000, 200)], [one(400, 100), one(800, 200), one(8000, 2000)], [one(400,
        100), one(8000, 200)],
        [one(400, 100), one(600, 150), one(8000, 200)], [one(400, 100), one(596, 149), one(8000, 200)], [one(8000,
        2000), one(400, 100), one(300, 0)],
        [one(400, 100), one(800, 200), one(8000, 200, query="x")], [one(400, 100), one(800, 200), one(8000, 200,
        {"id": "b"})], [],
        [one(400, 100), one(800, 200), one(8000, 200, operation="search")], [one(400, 100), one(800, 200), one(8000,
        200, filed=[])],
        [one(400, 100, limit=1), one(4000, 100, limit=9), one(400, 50, query="x")], [one(400, 1000, limit=1), one(4000,
        1002, limit=9), one(9, 3, limit=9, query="x")],
        [one(400, 1000, limit=1), one(4000, 1003, limit=9), one(9, 3, limit=9, query="x")], [one(400, 1000, limit=1),
        one(800, 1000, limit=9), one(9, 3, limit=9, query="x")],
        [one(400, 1000, limit=1), one(799, 1000, limit=9), one(9, 3, limit=9, query="x")], [one(400, 1000, limit=1),
        one(4000, 1000, limit=9)],
        [one(400, 100, limit=1), one(4000, 100, limit=9), one(9, 3, limit=9, query="x")], [one(400, 1000), one(4000,
        1000, limit=9), one(9, 3, limit=9, query="x")],
    ]  # fmt: skip
    wide, narrow = (one(8000, 0, scripts=s) for s in ((8000, 0, 0), (0, 0, 8000)))
    low, least = readings.honest_range(wide)[0], readings.honest_range(narrow)[0]
    groups += [
        [one(400, 100), one(800, 200), one(8000, 200, operation="inject")],
        [one(400, 100), one(800, 200, A, {"id": "b"}), one(8000, 200, A, B)],
        *([one(400, e), one(800, 2 * e), one(8000, 200)] for e in (59, 60, 61, 70, 150, 180, 181, 300)),
        [one(400, 100), one(800, 200), one(8000, 9000)],
        *([one(400, 100), one(800, 200), one(8000, e, scripts=(8000, 0, 0))] for e in (low - 1, low, low + 1)),
        *([one(400, 1000, limit=1), one(4000, 1000, limit=9, operation=o), one(9, 3, limit=9, query="x")]
          for o in ("inject", "search")),
        *([one(400, 100, limit=1), one(4000, 101, limit=9), one(400, 100, limit=3, operation=o)]
          for o in ("inject", "search")),
        [one(400, 1000, A, {"id": "b"}, limit=1), one(4000, 1000, A, B, limit=9), one(9, 3, limit=9, query="x")],
        [one(400, 999, limit=1), one(4000, 1001, limit=9), one(9, 3, limit=9, query="x")],
        *([one(400, e, limit=1), one(8000, e, limit=9), one(9, 3, limit=9, query="x")] for e in (least - 1, least)),
    ]  # fmt: skip
    said: list[str] = []
    for group in groups:
        part = readings.covers_part(survey(*group), "recall")
        both: Any = readings.before_the_limit(survey(*group), "recall")
        said.append(f"{part and group.index(part)} {both and [group.index(c) for c in both]}")
        said.append(str(readings.weighs_otherwise(survey(*group), "recall")))
    return said


def levels() -> list[str]:
    """Which level a call was answered at, by what it asked for and by its fields."""
    said: list[str] = []
    wholes: list[dict[Any, Any]] = [
        {}, {("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}), ("recall", "full"): one(900, 200,
        FULL, header={"detail": "full"})},
        {("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}), ("recall", "full"): one(400, 100,
        LIGHT, header={"detail": "light"})},
        {("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}), ("recall", "full"): one(400, 100,
        LIGHT, header={"detail": "full"})},
        {("recall", "light"): one(400, 100, LIGHT, header={}), ("recall", "full"): one(400, 100, LIGHT,
        header={"detail": None})},
        {("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}), ("recall", "full"): one(400, 200,
        LIGHT, header={"detail": "full"}),
         ("search", "full"): one(400, 100, FULL)},
        {("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}), ("recall", "full"): one(400, 151,
        LIGHT, header={"detail": "full"}),
         ("search", "full"): one(400, 100, LIGHT), ("inject", "medium"): one(400, 100, MEDIUM)},
        {("recall", "light"): one(400, 100, FULL, header={"detail": "light"}), ("recall", "full"): one(440, 100, FULL,
        header={"detail": "full"}),
         ("search", "full"): one(400, 100, FULL)},
        {("recall", "light"): one(400, 100, LIGHT), ("recall", "full"): one(441, 100, FULL), ("recall", None): one(400,
        100, LIGHT)},
        {("recall", "light"): one(400, 100, LIGHT), ("recall", "full"): one(412, 160, FULL)}, {("recall",
        "light"): one(400, 100, LIGHT, filed=[])},
        {("recall", "light"): one(400, 100, LIGHT), ("recall", "full"): one(411, 160, FULL), ("inject",
        "medium"): one(4, 1, {**MEDIUM, "content": "c"})},
        {("recall", "light"): one(400, 100, LIGHT, header={"detail": ""}), ("recall", "full"): one(400, 100, LIGHT,
        header={"detail": ""})},
        {("recall", "light"): one(0, 100, LIGHT), ("recall", "full"): one(400, None, FULL), ("recall",
        "medium"): one(400, 100, B)},
        {("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}), ("inject", "full"): one(400, 100,
        LIGHT, header={"detail": "light"})},
        {("recall", d): one(400, 100, LIGHT, header={"detail": "light"}) for d in ("light", "medium", "full")},
        {("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}), ("recall", "full"): one(400, 100, FULL,
        header={"detail": "light"})},
        {("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}), ("recall", "full"): one(400, 100,
        LIGHT, header={"detail": "full"}), ("inject", "full"): one(400, 100, FULL)},
        {("recall", "light"): one(400, 100, {**LIGHT, "content": ""})},
        {("recall", "light"): one(400, 100, LIGHT), ("recall", "full"): one(900, 100, B)},
        {("recall", "light"): one(400, 100, LIGHT), ("recall", "full"): one(404, 150, LIGHT)},
    ]  # fmt: skip
    made = [
        one(400, 100, LIGHT), one(400, 100, FULL), one(400, 100, FULL, detail="full"), one(400, 100, MEDIUM,
        operation="inject"), one(filed=[]),
        one(400, 100, {**LIGHT, "content": "c"}), one(400, 100, LIGHT, operation="search"), one(400, 100, {**MEDIUM,
        "content": ""}, operation="inject"),
    ]  # fmt: skip
    for whole, details in product(wholes, ((), ("light", "full"))):
        known = survey(*whole.values(), whole=whole, details=details)
        said.append(f"{[readings.level_of(known, c) for c in made]}")
        said.append(f"{[readings.no_level(known, c) for c in made]}")
        said.append(f"{readings.deaf_to_detail(known, 'recall')}, {readings.follows_detail(known, 'recall')}")
    return said


def fewer() -> list[str]:
    """What an inject's file has beside that of a recall."""
    recalls = [
        one(400, 100, A, B),
        one(400, 100, A, B, query="x"),
        one(400, 100, A, B, limit=3),
        one(400, 1, A, B),
        one(400, None, A, B),
        one(filed=[]),
    ]
    injects = [one(200, 100, A, B, C, operation="inject"),
               one(200, 100, A, operation="inject"), one(200, 80, A, operation="inject"), one(200, 81, A,
    operation="inject"), one(200, 100, A),
               one(400, 100, A, B, operation="inject"), one(400, 100, filed=[], operation="inject"), one(200, None, A,
               operation="inject")]  # fmt: skip
    said: list[str] = []
    for recall, inject in product([*recalls, None], injects):
        inject.detail = "light"
        whole = {("recall", "light"): recall} if recall is not None else {}
        known, restless = survey(whole=whole), survey(whole=whole, restless=("recall",))
        rounded = survey(*(one(estimate=10 * n) for n in range(1, 8)), whole=whole)
        less = [readings.fewer_for_the_same_estimate(s, inject) for s in (known, restless, rounded)]
        said.append(f"{readings.cut_short(known, inject)} {less}")
    return said


def inlines() -> list[str]:
    """What differs between identical calls, what can be compared, and which level a file was taken for."""
    a, b, c = ([{"id": "a", "score": n, "x": {"y": n % 2}}] for n in (1, 2, 3))
    of = [one(records=r) for r in (a, b, c, None)]
    wholes: list[dict[Any, Any]] = [
        {},
        {("recall", None): of[0]},
        {("recall", None): of[3]},
        {("recall", None): of[0], ("recall", "full"): one(records=[FULL])},
    ]
    said: list[str] = []
    for whole, again, away, near in product(
        wholes, ({}, {"recall": of[1]}), ({}, {"recall": of[2]}), ({}, {"recall": of[1]})
    ):
        known: Any = Made(whole=whole, again=again, elsewhere=away, edges=near, fullest={}, calls=[*whole.values()])
        alike = [readings.incomparable(survey(f), known) for f in (one(400, 100, A), one(400, 100, B))]
        said.append(f"{sorted(readings.volatile(known, 'recall'))} {alike}")
        repeats = {"recall": [one(400, 100, B), one(400, 100, C)]}
        files = {
            ("recall", None): one(400, 100, A),
            ("recall", "x"): one(400, 100, A),
            ("recall", "full"): one(file=Made(problem="p")),
        }
        said.append(
            str(
                [
                    (f.filed[0]["id"], s.records[0]["id"])
                    for f, s in readings.pairs(survey(whole=files, repeats=repeats), known)
                ]
            )
        )
        shown = one(records=[LIGHT])
        said.append(
            str(
                [
                    readings.taken_for(known, one(400, 100, f, detail=d), shown)
                    for f in (LIGHT, FULL, MEDIUM)
                    for d in (None, "full")
                ]
            )
        )
    return said


def taken() -> list[str]:
    """Which level a file was taken for, by what other levels and other operations show inline."""
    whole = {
        ("recall", "light"): one(records=[LIGHT]), ("recall", "full"): one(records=[FULL]),
        ("inject", "medium"): one(records=[MEDIUM]), ("search", "medium"): one(records=[MEDIUM]),
    }  # fmt: skip
    records = (LIGHT, MEDIUM, FULL, {"title": "", "summary": "s"})
    said = [str(sorted(readings.filled_fields([r]))) for r in records]
    for filed, shown in product(records, repeat=2):
        said.append(str(readings.taken_for(Made(whole=whole), one(400, 100, filed), one(records=[shown]))))
    return said


CASES: Cases = {
    "grains": grains,
    "decided": decided,
    "the same": same,
    "honest": honest,
    "parts": parts,
    "levels": levels,
    "fewer": fewer,
    "inline": inlines,
    "taken": taken,
}
