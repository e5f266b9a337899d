"""How bytes become lines and values, and how places in them and in schemas are found; whether an id was seen before."""

from __future__ import annotations

import io
from itertools import product
from typing import Any

from lro_spec.json_lines import exact, plain_value, plain_values
from lro_spec.physical_lines import Block, PhysicalLine, blocks
from lro_spec.schema_places import broken, dangling, foreign_patterns, subschemas
from lro_spec.seen_ids import SeenIds
from lro_spec.streams import DamagedError, Peekable
from lro_spec.strictjson import StrictJsonError, dispute, equal, loads, no_number, read, spelled
from lro_spec.tokens import characters_in_utf8, estimate_of, honest_estimates, wide_in_utf8
from tests.words import Cases, Said

ROWS: list[list[int]] = [
    [1, 2, 3], [4], [1], [5, 5], [6, 7, 8, 9], [9], [0, 0], [0], [16, 32, 48], [48], [17], [33, 1], [-1], [-1], [15],
    [31],
    [10, 11, 12, 13, 14], [64, 80], [80], [10], [100], [101, 100], [100],
]  # fmt: skip


def seen(limit: int, few: int) -> Said:
    """What is new of hashes in a row, and what is told in the end."""

    def say() -> list[str]:
        ids, line, said = SeenIds(limit, few), 1, list[str]()
        for row in ROWS:
            said.append(f"{row}: {ids.add_hashes(row, line)}, {ids.count}")
            line += len(row)
        places = len(vars(ids)["_table"])
        return [*said, f"{sorted(ids.late())} late, {places} places"]

    return say


def spilled() -> list[str]:
    """Many that come after those that are kept, some of them again."""
    ids = SeenIds(4, 2)
    for start in range(0, 900_000, 1000):
        ids.add_hashes([n << 32 for n in range(start, start + 1000)], start + 1)
    ids.add_hashes([n << 32 for n in (7, 256, 5000, 899_999)], 1_000_001)
    return [f"{ids.count} kept, {sorted(ids.late())} late"]


class Steps(io.BytesIO):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, step: int, *, damaged: bool = False) -> None:
        super().__init__(data)
        self._step, self._damaged = step, damaged

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(self._step if size is None or size < 0 else min(size, self._step))
        if not found and self._damaged:
            raise DamagedError("cut off")
        return found


DATA = [
    b"", b"a", b"\n", b"a\n", b"a\nbc\n\ndef", b"abcdef\ngh\ni", b"a\r\nb\n", b"a\nb\r\ncdefghijkl\nm", b"\n\n\r\n",
    b"abc\rdef\nghi\njklmnop\n",
]  # fmt: skip


def cut(data: bytes, limit: int, step: int) -> str:
    """The lines of a stream."""
    said: list[str] = []
    for part in blocks(Steps(data, step), limit, 5, 100):
        if isinstance(part, PhysicalLine):
            said.append(f"{part.number}@{part.offset} {part.data!r} {part.length} {part.terminated} {part.too_long}")
        else:
            said.append(f"{part.number}@{part.offset} {part.lines} {part.returns}")
    return "; ".join(said)


def by_default() -> list[str]:
    """The lines of a long stream, with nothing said about it."""
    data = b"\n".join([b"a" * 70_000, b"b", b"c" * 65_535, b"d\r", b"e" * 200_000, b"f"]) + b"\n"
    return [
        f"{p.number}@{p.offset} {list(map(len, p.lines))} {p.returns}"
        if isinstance(p, Block)
        else f"{p.number}@{p.offset} {p.length} {p.too_long}"
        for p in blocks(io.BytesIO(data))
    ]


def peeked() -> list[str]:
    """What is looked at before it is read, of streams that end or break."""
    said: list[str] = []
    for step, damaged in product((1, 2, 3, 9), (False, True)):
        stream = Peekable(Steps(b"abcdef", step, damaged=damaged))
        for look, size in ((2, 1), (3, 2), (0, 1), (9, 1), (4, 9), (1, 1), (1, -1)):
            for do in (stream.peek, stream.read):
                try:
                    said.append(str(do(look if do == stream.peek else size)))
                except DamagedError as problem:
                    said.append(str(problem))
        stream = Peekable(Steps(b"abcdef", step))
        said.append(f"{stream.peek(2)} {stream.read()} {stream.readable()}")
    return said


NINES, ONES = "9" * 309, "1" * 309
TEXTS = [
    "1", NINES, "9" * 308, ONES, f"-{NINES}", "-" + "9" * 308, '{"a":1,"a":' + ONES + "}",
    '{"a":1,"a":' + "1" * 307 + "}",
    '{"a":1,"a":' + "1" * 308 + "}", '{"a":1,"a":' + NINES + "}", '{"a":NaN,"a":2}', '{"a":1,"b":NaN}', "[1e999]",
    '{"a":1,"a":1e999}',
    '{"a":{"b":1,"b":2}}', '[{"a":"b","c":"a"},"a","a"]', '{"a":["b","b"],"b":"a"}', '{"a":[{"a":1}],"a":2}',
    '{"a":[],"a":2}',
    "[" * 501 + "]" * 501, "[" * 500 + "]" * 500, "[" + "[]," * 499 + "[]]",
    '{"a":1,"a":' + "[" * 500 + "]" * 500 + "}", "\ufeff1",
    '{"a":' * 499 + "NaN" + "}" * 499, '{"a":' + "[" * 501 + "]" * 501 + ',"a":NaN}', '["[", -Infinity]',
    '["a" , "b" , -1e999]',
    "[1E400,NaN]", '{"x":{},"y":1,"y":2}', '{"x":[1,2],"x":3}', '{"a":"x","b":{"a":"a"},"a":1}', '["x5", "5x", 5]',
    "[-1e5, 1e400]",
]  # fmt: skip


def readings(text: str) -> Said:
    """A text as lenient readers take it, and where strict ones stop."""

    def say() -> list[str]:
        said: list[str] = []
        try:
            one = read(text)
            said += [f"{type(one.value).__name__} {str(one.value)[:40]} {one.fits} {one.undisputed}"]
            said += [f"{p and p.problem} {p and p.offset}" for p in (no_number(text), dispute(text))]
        except ValueError as problem:
            said.append(f"{problem}")
        try:
            loads(text)
        except StrictJsonError as problem:
            said.append(f"{problem} {problem.offset} {problem.disputed}")
        return said

    return say


PAIRS: list[tuple[Any, Any]] = [
    ([1, "a"], [1, "a"]), ([1.0], [1]), ({"a": 1, "b": [2]}, {"b": [2], "a": 1}), ({"a": 1}, {"a": 2}),
    ([float("nan")], [1]),
    (10**400, 10**401), ([10**400], [-(10**400)]), ([0.1], [0.1]), ([[]], [[]]), (("a",), ["a"]), ([-0.0], [0.0]),
]  # fmt: skip
PLAIN = [
    b"1", b"null", b"{}", b'{"a":1,"a":2}', b'{"a":"\\u0022","a":1}', b'{"a":"\\u0022"}', b'{"a":"\\""}',
    b'"u0022\\n"', b'"u0022"', b"[1]x",
    b"NaN", b"1e999", b'"\xff"', b'{"a":{"b":"c\\"d"},"e":["f"]}', b" [1, 2] ", b'{"a":"x","b":"y","a":"z"}',
    b"[" * 2000 + b"]" * 2000,
    b'{"a":"' + b"x" * (1 << 18) + b'","b":{"c":["\\"",2]}}', b'{"a":"' + b"x" * (1 << 18) + b'","b":1,"b":2}',
    b'["' + b"x" * (1 << 18) + b'",' + b"[" * 248 + b"]" * 248 + b"]",
    b'["' + b"x" * (1 << 18) + b'",' + b"[" * 300 + b"]" * 300 + b"]",
    b"12345678901234567890123", b"[18446744073709551616]", b'{"a":-123456789012345678901}', b"[" * 300 + b"]" * 300,
]  # fmt: skip
TOGETHER: list[list[bytes]] = [
    [b"1", b"2"], [b"1"], [b"1,2", b"3"], [b"1", b""], [b"[1", b"2]"], [b'{"a":1}', b'{"a":1,"a":2}'], [b"1", b"x"],
    [b"{}", b"[]", b"3"],
    [b'"', b'"'], [b'{"a":1}', b'{"b":"\\""}'], [b"1e999", b"2"], [b'{"a":"\\u0022"}', b"1"], [b" 1", b"2 "], [b"1 ,",
    b"2"], [b"null", b"1"],
    [b"1", b"2,3"], [b"1", b",2"], [b"", b""],
]  # fmt: skip
PATTERNS = [
    "a", "", "\\", "a\\", "\\\\", "\\(", "[", "[]", "[]a]", "[a", "[\\]", "[\\]]", "[a\\]b]", "(", ")", "()", "(a))",
    "((a)", "((a)(b))", "(a(b)c)d",
    "*", "+", "?", "a*", "a**", "a+?", "(*a)", "(?:a)*", "(?=a)", "|*", "a|*", "a|b*", "^*", "(|a)", "{1}", "a{1}",
    "{1,2}", "a{1,}", "a{x}",
    "({2})", "|{2}", "[a]*", "[a]{2}", "\\d*", "\\d{2}", "(a)*", "(a){2}", "^a$", "a||b", "(?<n>a)\\k<n>", "a?", "(?",
    "((((", "))", "(()", "\\)(",
    "(\\()", "[(]", "[)]*", "(a)?", "(a|b)+", "a(?:b(?:c))d*", "()(", "(((a)))", "*a", "a(*)", "a(+b)", "(a*)",
    "b[\\\\]c", "x[a-z\\", "[[]", "\\(*", "\\|+", "(^*)", "a|^*", "(?*a)",
]  # fmt: skip
ESCAPED = "\\p{L}"
SCHEMAS: list[Any] = [
    True, 3, {}, [], {"pattern": ESCAPED}, {"properties": {"a": {"pattern": "("}, "b": True, "c": {"pattern": "a"}}},
    {"allOf": [{"pattern": ESCAPED}, True, {"not": {"pattern": "["}}]}, {"const": {"pattern": "("},
    "items": {"pattern": "("}},
    {"patternProperties": {"(": {"pattern": ")"}, "a": {}, ESCAPED: {}}}, {"enum": [{"pattern": "("}], "default": 1,
    "if": {"pattern": "*"}},
    {"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/x"}}}, {"$ref": "urn:x"}, {"$ref": 3,
    "items": {"$ref": "#/y"}},
    {"$defs": {"a": {"$id": "urn:a", "$defs": {"b": {}}, "$ref": "#/$defs/b"}}, "$ref": "urn:a"}, {"$dynamicRef": "#a"},
    {"$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a"}}}, {"const": {"$ref": "#/z"},
    "items": {"$ref": "#/$defs/q"}},
    {"$ref": "http://json-schema.org/draft-07/schema#"}, {"properties": {"$ref": {"type": "string"}}}, {"$schema": 3,
    "$ref": "#/a"},
    {"$defs": {"a": {"$schema": "urn:own", "x": 1}, "b": {"$ref": "#/c"}}}, {"allOf": 3, "$ref": "#/a"}, {"$ref": "#",
    "allOf": [{"$ref": "#/b"}, 1]},
    {"properties": {"a": 1, "b": {"$ref": "#/b"}}}, {"$ref": "#/%%"},
    {"items": [{"$ref": "#/a"}]}, {"allOf": [{"not": {"$schema": 3}}, {"$ref": "#/c"}]},
]  # fmt: skip


def places(schema: Any) -> Said:
    """The parts of a schema, its expressions, and its references to nothing."""
    return lambda: [
        *(f"{path}" for path, _ in subschemas(schema)),
        *(f"{path}: {pattern}" for path, pattern in foreign_patterns(schema)),
        *(f"{where} -> {reference}" for where, reference in dangling(schema)),
    ]


WIDE = [
    "a",
    "é",
    "漢字",
    "a漢",
    "\u1100\uffef",
    "😀x",
    "\x7f\x80",
    "\u00bf\u00c0",
    "한\u303f",
    "\u2e7f\u2e80",
    "\U00020000\U0003ffff",
    "\ua4d0",
]

CASES: Cases = {
    **{f"seen {limit}, {few}": seen(limit, few) for limit, few in ((1, 0), (2, 9), (3, 1), (5, 3), (6, 6), (7, 0), (12,
    4), (24, 7), (99, 9))},
    "seen, spilled": spilled,
    "seen, by default": lambda: [str({name: n for name, n in vars(SeenIds()).items() if isinstance(n, int)})],
    **{f"lines of {data!r} by {step}": lambda d=data, s=step: [f"{limit}: {cut(d, limit, s)}" for limit in (1, 2, 3, 6,
    99)]
       for data in DATA for step in (1, 2, 3, 99)},
    "lines by default": by_default,
    "a line too long": lambda: [cut(b"a" * 70_000 + b"\n" + b"b" * 10 + b"\n", 65_000,
    65_536)[:0] + str(len(cut(b"a" * 70_000, 65_000, 9999)))],
    "peeked": peeked,
    **{f"read {text[:40]!r} ({len(text)})": readings(text) for text in TEXTS},
    "equal values": lambda: [f"{equal(a, b)} {equal(b, a)}" for a, b in PAIRS],
    "spelled": lambda: [spelled(v) for v in ({"b": 1, "a": {"d": 1, "c": 2}}, [1.0, "é"], None)],
    "plain": lambda: [str(plain_value(data))[:60] for data in PLAIN],
    "plain, exact": lambda: [str(exact(data, plain_value(data)))[:60] for data in PLAIN],
    "plain, one by one": lambda: [str(plain_values([data]))[:60] for data in PLAIN],
    "plain, exact but broken": lambda: [str(exact(data, 5)) for data in (b"1" * 30 + b"x", b"[" * 99999 + b"1" * 30)],
    "together": lambda: [str(plain_values(lines)) for lines in TOGETHER],
    "patterns": lambda: [f"{pattern}  {broken(pattern)}" for pattern in PATTERNS],
    **{f"places {n}": places(schema) for n, schema in enumerate(SCHEMAS)},
    "wide": lambda: [f"{wide_in_utf8(t.encode())} of {characters_in_utf8(t.encode())}" for t in WIDE],
    "estimates": lambda: [str(estimate_of(n, w)) for n in (0, 1, 7, 100) for w in (0, 1, 5) if w <= n],
    "honest estimates": lambda: [f"{n}: {honest_estimates(*n)}" for n in product((0, 1, 501), (0, 3, 499), (0, 2,
    1003))],
}  # fmt: skip
