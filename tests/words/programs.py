"""Programs of jq: their tokens, what they look for, which fields they name, whether they reach out."""

from __future__ import annotations

from lro_spec.jqtext import field_paths, literals, refuse_reaching_out, tokens, with_literal
from lro_spec.shellwords import RecipeSyntaxError
from tests.words import Cases, Said

PROGRAMS = [
    "aé", "a\u00a0b", "[{env:1}]", '"\\', '"\\u00', "{(1):env:1}",
    "env:1,", "{env:", "{a,env:1}", "{a:1,env:1}",
    '["b"] | ["c"]', "a[b]", '.a["b"', ".a.b.c", ".a|.b.c", '"a\\("b")c\\(1)"',
    ".", "", "  ", ".a", ".a.b", ".a .b", ".a. b", '."a"', '.a."b".c', '. "a"', '.["a"]', '.a["b"]', '["a"]', '$x["a"]',
    'f["a"]', '(.)["a"]', '[.]["a"]', '.a | ["b"]', "{id, title}", "{id}", "{id: .a}", '{"id": 1}', '{"a": "b"}',
    "{a: 1, b, c: .d}", "{(.a): 1}", "{$x}", "{a, env: 1}", "{env}", "{env: 1}", "env", ".env", "env.A", "$ENV",
    "$ ENV.A",
    "$__prog_args", "__prog_name", "input_filename", 'import "a" as a; .', 'include "a"; .', "modulemeta",
    "get_search_list", '"env"', '"\\(env)"', '"a\\("b\\(.c)")d"', '"\\(1 + (2 * (3)))"', '"\\(")")"', '"\\("', '"\\(.a',
    '"a', '"a\\"', '"a\\"b"', '"a\\\\"', '"\\b\\f\\n\\r\\t\\/\\q"', '"\\u0041"', '"\\u00e9\\uD83D\\uDE00"', '"\\ud800"',
    '"\\u00"', '"\\u00g0"', "# c", ". # c", "# c\n.a", "# c\\", "# c\\\n.", "# a\rb", "# a\r\n.b", '"# no"',
    "1.5e+3", ".5", "1.",
    "..", ".[]", ".[0]", ".a?", ".a[0].b", "@tsv", '@tsv "\\(.a)"', '@base64 "x"', "a::b", "$a::b", "$a :: b", "a::env",
    "_a1", "é", "a.b", 'test("a")', 'test("a"; "i")', 'test("a"; "ix")', 'test("a"; "iz")', 'test("a"; "")',
    'sub("a"; "b")', 'sub("a"; "b"; "g")', 'select(.title | test("key"; "i"))', 'select(.namespace == "a")',
    '"a" + "b"',
    'startswith("a"), endswith("a")', '.a == "x" or .b == "x"', "select(.a) | .b", '{a: "b", "c": "d"}', '{"a"}',
    '.provenance.confidence // ""', '[.title, .provenance.confidence] | @tsv', "a\0b", '. as $x | $x.a',
    ". as [$a] | $a",
    ".a as {b: $c} | $c", "if .a then .b else .c end", "reduce .[] as $x (0; . + $x.a)",
    'ascii_downcase | contains("a")',
    '{"a":env}', '[env, 1]', "{x, env:.a}", '{a:1, ENV:2}', "[.a,env:1]", '"\\(.a) \\(.b)"', '.a.b."c d".e', ". a",
    "-1", "a-b",
    '"" // "x"', '.["a"].b', '.a["b"]["c"]', '.a | .["b"]', 'f("a"; "gi") , "gi"', '("a"; "b")',
]  # fmt: skip


def of(program: str) -> Said:
    """All that is read out of a program."""

    def say() -> list[str]:
        said: list[str] = []
        try:
            refuse_reaching_out(program)
        except RecipeSyntaxError as problem:
            said.append(f"refused: {problem}")
        try:
            said += [
                f"{t.kind} {t.text!r} at {t.start}" + (f" = {t.value!r}" if t.value else "") for t in tokens(program)
            ]
            said.append(f"looks for {literals(program)}, names {field_paths(program)}")
            said += [f"for {old!r}: {with_literal(program, old, 'é')}" for old in dict.fromkeys(literals(program))]
        except RecipeSyntaxError as problem:
            said.append(f"unreadable: {problem}")
        return said

    return say


CASES: Cases = {repr(program): of(program) for program in PROGRAMS}
