"""jq programs: tokens, literals, names of fields, and programs that reach beyond their input."""

from __future__ import annotations

import pytest

from lro_spec.recipes.lexer import field_paths, literals, refuse_other_inputs, tokens, unrepeatable, with_literal
from lro_spec.recipes.shell import RecipeSyntaxError

TOKENS: list[tuple[str, list[str]]] = [
    ('aé', ['word a', 'other é']),
    ('a\xa0b', ['word a', 'other \xa0', 'word b']),
    ('[{env:1}]', ['other [', 'other {', 'word env', 'other :', 'number 1', 'other }', 'other ]']),
    ('{(1):env:1}', ['other {', 'other (', 'number 1', 'other )', 'other :', 'word env', 'other :', 'number 1',
        'other }']),
    ('env:1,', ['word env', 'other :', 'number 1', 'other ,']),
    ('{env:', ['other {', 'word env', 'other :']),
    ('{a,env:1}', ['other {', 'word a', 'other ,', 'word env', 'other :', 'number 1', 'other }']),
    ('{a:1,env:1}', ['other {', 'word a', 'other :', 'number 1', 'other ,', 'word env', 'other :', 'number 1',
        'other }']),
    ('["b"] | ["c"]', ['other [', 'string "b" = b', 'other ]', 'space  ', 'other |', 'space  ', 'other [',
        'string "c" = c', 'other ]']),
    ('a[b]', ['word a', 'other [', 'word b', 'other ]']),
    ('.a["b"', ['field .a', 'other [', 'string "b" = b']),
    ('.a.b.c', ['field .a', 'field .b', 'field .c']),
    ('.a|.b.c', ['field .a', 'other |', 'field .b', 'field .c']),
    ('"a\\("b")c\\(1)"', ['interpolated "a\\("b")c\\(1)" = ac', 'string "b" = b', 'number 1']),
    ('.', ['other .']),
    ('', []),
    ('  ', ['space   ']),
    ('.a', ['field .a']),
    ('.a.b', ['field .a', 'field .b']),
    ('.a .b', ['field .a', 'space  ', 'field .b']),
    ('.a. b', ['field .a', 'other .', 'space  ', 'word b']),
    ('."a"', ['other .', 'string "a" = a']),
    ('.a."b".c', ['field .a', 'other .', 'string "b" = b', 'field .c']),
    ('. "a"', ['other .', 'space  ', 'string "a" = a']),
    ('.["a"]', ['other .', 'other [', 'string "a" = a', 'other ]']),
    ('.a["b"]', ['field .a', 'other [', 'string "b" = b', 'other ]']),
    ('["a"]', ['other [', 'string "a" = a', 'other ]']),
    ('$x["a"]', ['variable $x', 'other [', 'string "a" = a', 'other ]']),
    ('f["a"]', ['word f', 'other [', 'string "a" = a', 'other ]']),
    ('(.)["a"]', ['other (', 'other .', 'other )', 'other [', 'string "a" = a', 'other ]']),
    ('[.]["a"]', ['other [', 'other .', 'other ]', 'other [', 'string "a" = a', 'other ]']),
    ('.a | ["b"]', ['field .a', 'space  ', 'other |', 'space  ', 'other [', 'string "b" = b', 'other ]']),
    ('{id, title}', ['other {', 'word id', 'other ,', 'space  ', 'word title', 'other }']),
    ('{id}', ['other {', 'word id', 'other }']),
    ('{id: .a}', ['other {', 'word id', 'other :', 'space  ', 'field .a', 'other }']),
    ('{"id": 1}', ['other {', 'string "id" = id', 'other :', 'space  ', 'number 1', 'other }']),
    ('{"a": "b"}', ['other {', 'string "a" = a', 'other :', 'space  ', 'string "b" = b', 'other }']),
    ('{a: 1, b, c: .d}', ['other {', 'word a', 'other :', 'space  ', 'number 1', 'other ,', 'space  ', 'word b',
        'other ,', 'space  ', 'word c', 'other :', 'space  ', 'field .d', 'other }']),
    ('{(.a): 1}', ['other {', 'other (', 'field .a', 'other )', 'other :', 'space  ', 'number 1', 'other }']),
    ('{$x}', ['other {', 'variable $x', 'other }']),
    ('{a, env: 1}', ['other {', 'word a', 'other ,', 'space  ', 'word env', 'other :', 'space  ', 'number 1',
        'other }']),
    ('{env}', ['other {', 'word env', 'other }']),
    ('{env: 1}', ['other {', 'word env', 'other :', 'space  ', 'number 1', 'other }']),
    ('env', ['word env']),
    ('.env', ['field .env']),
    ('env.A', ['word env', 'field .A']),
    ('$ENV', ['variable $ENV']),
    ('$ ENV.A', ['variable $ ENV', 'field .A']),
    ('$__prog_args', ['variable $__prog_args']),
    ('__prog_name', ['word __prog_name']),
    ('input_filename', ['word input_filename']),
    ('import "a" as a; .', ['word import', 'space  ', 'string "a" = a', 'space  ', 'word as', 'space  ', 'word a',
        'other ;', 'space  ', 'other .']),
    ('include "a"; .', ['word include', 'space  ', 'string "a" = a', 'other ;', 'space  ', 'other .']),
    ('modulemeta', ['word modulemeta']),
    ('get_search_list', ['word get_search_list']),
    ('"env"', ['string "env" = env']),
    ('"\\(env)"', ['interpolated "\\(env)"', 'word env']),
    ('"a\\("b\\(.c)")d"', ['interpolated "a\\("b\\(.c)")d" = ad', 'interpolated "b\\(.c)" = b', 'field .c']),
    ('"\\(1 + (2 * (3)))"', ['interpolated "\\(1 + (2 * (3)))"', 'number 1', 'space  ', 'other +', 'space  ',
        'other (', 'number 2', 'space  ', 'other *', 'space  ', 'other (', 'number 3', 'other )', 'other )']),
    ('"\\(")")"', ['interpolated "\\(")")"', 'string ")" = )']),
    ('"a\\"b"', ['string "a\\"b" = a"b']),
    ('"a\\\\"', ['string "a\\\\" = a\\']),
    ('"\\b\\f\\n\\r\\t\\/\\q"', ['string "\\b\\f\\n\\r\\t\\/\\q" = \x08\x0c\n\r\t/q']),
    ('"\\u0041"', ['string "\\u0041" = A']),
    ('"\\u00e9\\uD83D\\uDE00"', ['string "\\u00e9\\uD83D\\uDE00" = é😀']),
    ('"\\ud800"', ['string "\\ud800" = �']),
    ('"\\u00"', ['string "\\u00" = u00']),
    ('"\\u00g0"', ['string "\\u00g0" = u00g0']),
    ('# c', ['comment # c']),
    ('. # c', ['other .', 'space  ', 'comment # c']),
    ('# c\n.a', ['comment # c', 'space \n', 'field .a']),
    ('# c\\', ['comment # c\\']),
    ('# c\\\n.', ['comment # c\\', 'space \n', 'other .']),
    ('# a\rb', ['comment # a\rb']),
    ('# a\r\n.b', ['comment # a\r', 'space \n', 'field .b']),
    ('"# no"', ['string "# no" = # no']),
    ('1.5e+3', ['number 1.5e+3']),
    ('.5', ['number .5']),
    ('1.', ['number 1.']),
    ('..', ['other .', 'other .']),
    ('.[]', ['other .', 'other [', 'other ]']),
    ('.[0]', ['other .', 'other [', 'number 0', 'other ]']),
    ('.a?', ['field .a', 'other ?']),
    ('.a[0].b', ['field .a', 'other [', 'number 0', 'other ]', 'field .b']),
    ('@tsv', ['word @tsv']),
    ('@tsv "\\(.a)"', ['word @tsv', 'space  ', 'interpolated "\\(.a)"', 'field .a']),
    ('@base64 "x"', ['word @base64', 'space  ', 'string "x" = x']),
    ('a::b', ['word a::b']),
    ('$a::b', ['variable $a::b']),
    ('$a :: b', ['variable $a', 'space  ', 'other :', 'other :', 'space  ', 'word b']),
    ('a::env', ['word a::env']),
    ('_a1', ['word _a1']),
    ('é', ['other é']),
    ('a.b', ['word a', 'field .b']),
    ('test("a")', ['word test', 'other (', 'string "a" = a', 'other )']),
    ('test("a"; "i")', ['word test', 'other (', 'string "a" = a', 'other ;', 'space  ', 'string "i" = i', 'other )']),
    ('test("a"; "ix")', ['word test', 'other (', 'string "a" = a', 'other ;', 'space  ', 'string "ix" = ix',
        'other )']),
    ('test("a"; "iz")', ['word test', 'other (', 'string "a" = a', 'other ;', 'space  ', 'string "iz" = iz',
        'other )']),
    ('test("a"; "")', ['word test', 'other (', 'string "a" = a', 'other ;', 'space  ', 'string ""', 'other )']),
    ('sub("a"; "b")', ['word sub', 'other (', 'string "a" = a', 'other ;', 'space  ', 'string "b" = b', 'other )']),
    ('sub("a"; "b"; "g")', ['word sub', 'other (', 'string "a" = a', 'other ;', 'space  ', 'string "b" = b',
        'other ;', 'space  ', 'string "g" = g', 'other )']),
    ('select(.title | test("key"; "i"))', ['word select', 'other (', 'field .title', 'space  ', 'other |', 'space  ',
        'word test', 'other (', 'string "key" = key', 'other ;', 'space  ', 'string "i" = i', 'other )', 'other )']),
    ('select(.namespace == "a")', ['word select', 'other (', 'field .namespace', 'space  ', 'other =', 'other =',
        'space  ', 'string "a" = a', 'other )']),
    ('"a" + "b"', ['string "a" = a', 'space  ', 'other +', 'space  ', 'string "b" = b']),
    ('startswith("a"), endswith("a")', ['word startswith', 'other (', 'string "a" = a', 'other )', 'other ,',
        'space  ', 'word endswith', 'other (', 'string "a" = a', 'other )']),
    ('.a == "x" or .b == "x"', ['field .a', 'space  ', 'other =', 'other =', 'space  ', 'string "x" = x', 'space  ',
        'word or', 'space  ', 'field .b', 'space  ', 'other =', 'other =', 'space  ', 'string "x" = x']),
    ('select(.a) | .b', ['word select', 'other (', 'field .a', 'other )', 'space  ', 'other |', 'space  ',
        'field .b']),
    ('{a: "b", "c": "d"}', ['other {', 'word a', 'other :', 'space  ', 'string "b" = b', 'other ,', 'space  ',
        'string "c" = c', 'other :', 'space  ', 'string "d" = d', 'other }']),
    ('{"a"}', ['other {', 'string "a" = a', 'other }']),
    ('.provenance.confidence // ""', ['field .provenance', 'field .confidence', 'space  ', 'other /', 'other /',
        'space  ', 'string ""']),
    ('[.title, .provenance.confidence] | @tsv', ['other [', 'field .title', 'other ,', 'space  ', 'field .provenance',
        'field .confidence', 'other ]', 'space  ', 'other |', 'space  ', 'word @tsv']),
    ('a\x00b', ['word a', 'other \x00', 'word b']),
    ('. as $x | $x.a', ['other .', 'space  ', 'word as', 'space  ', 'variable $x', 'space  ', 'other |', 'space  ',
        'variable $x', 'field .a']),
    ('. as [$a] | $a', ['other .', 'space  ', 'word as', 'space  ', 'other [', 'variable $a', 'other ]', 'space  ',
        'other |', 'space  ', 'variable $a']),
    ('.a as {b: $c} | $c', ['field .a', 'space  ', 'word as', 'space  ', 'other {', 'word b', 'other :', 'space  ',
        'variable $c', 'other }', 'space  ', 'other |', 'space  ', 'variable $c']),
    ('if .a then .b else .c end', ['word if', 'space  ', 'field .a', 'space  ', 'word then', 'space  ', 'field .b',
        'space  ', 'word else', 'space  ', 'field .c', 'space  ', 'word end']),
    ('reduce .[] as $x (0; . + $x.a)', ['word reduce', 'space  ', 'other .', 'other [', 'other ]', 'space  ',
        'word as', 'space  ', 'variable $x', 'space  ', 'other (', 'number 0', 'other ;', 'space  ', 'other .',
        'space  ', 'other +', 'space  ', 'variable $x', 'field .a', 'other )']),
    ('ascii_downcase | contains("a")', ['word ascii_downcase', 'space  ', 'other |', 'space  ', 'word contains',
        'other (', 'string "a" = a', 'other )']),
    ('{"a":env}', ['other {', 'string "a" = a', 'other :', 'word env', 'other }']),
    ('[env, 1]', ['other [', 'word env', 'other ,', 'space  ', 'number 1', 'other ]']),
    ('{x, env:.a}', ['other {', 'word x', 'other ,', 'space  ', 'word env', 'other :', 'field .a', 'other }']),
    ('{a:1, ENV:2}', ['other {', 'word a', 'other :', 'number 1', 'other ,', 'space  ', 'word ENV', 'other :',
        'number 2', 'other }']),
    ('[.a,env:1]', ['other [', 'field .a', 'other ,', 'word env', 'other :', 'number 1', 'other ]']),
    ('"\\(.a) \\(.b)"', ['interpolated "\\(.a) \\(.b)" =  ', 'field .a', 'field .b']),
    ('.a.b."c d".e', ['field .a', 'field .b', 'other .', 'string "c d" = c d', 'field .e']),
    ('. a', ['other .', 'space  ', 'word a']),
    ('-1', ['other -', 'number 1']),
    ('a-b', ['word a', 'other -', 'word b']),
    ('"" // "x"', ['string ""', 'space  ', 'other /', 'other /', 'space  ', 'string "x" = x']),
    ('.["a"].b', ['other .', 'other [', 'string "a" = a', 'other ]', 'field .b']),
    ('.a["b"]["c"]', ['field .a', 'other [', 'string "b" = b', 'other ]', 'other [', 'string "c" = c', 'other ]']),
    ('.a | .["b"]', ['field .a', 'space  ', 'other |', 'space  ', 'other .', 'other [', 'string "b" = b', 'other ]']),
    ('f("a"; "gi") , "gi"', ['word f', 'other (', 'string "a" = a', 'other ;', 'space  ', 'string "gi" = gi',
        'other )', 'space  ', 'other ,', 'space  ', 'string "gi" = gi']),
    ('("a"; "b")', ['other (', 'string "a" = a', 'other ;', 'space  ', 'string "b" = b', 'other )']),
]  # fmt: skip
"""Programs, and their tokens: the kind, the text, and of a string its value."""

UNREADABLE: dict[str, list[str]] = {
    "a string in the jq program is not closed": ['"\\', '"\\u00', '"\\("', '"\\(.a', '"a', '"a\\"'],
}
"""Of each reason, the programs that have no tokens for it."""

REACHING_OUT: dict[str, list[str]] = {
    "the jq program reads the environment (env)": [
        "{(1):env:1}",
        "env:1,",
        "{env}",
        "env",
        "env.A",
        '"\\(env)"',
        '{"a":env}',
        "[env, 1]",
    ],
    "the jq program reads the environment (ENV)": ["$ENV", "$ ENV.A"],
    "the jq program reads the command line (__prog_args)": ["$__prog_args"],
    "the jq program reads the command line (__prog_name)": ["__prog_name"],
    "the jq program reads the name of the file (input_filename)": ["input_filename"],
    "the jq program loads a module (import)": ['import "a" as a; .'],
    "the jq program loads a module (include)": ['include "a"; .'],
    "the jq program loads a module (modulemeta)": ["modulemeta"],
    "the jq program reads the module path (get_search_list)": ["get_search_list"],
    "a comment in the jq program ends differently in different versions of jq": [
        "# c\\",
        "# c\\\n.",
        "# a\rb",
        "# a\r\n.b",
    ],
    "a jq program cannot contain a NUL": ["a\x00b"],
}
"""Of each reason, the programs that are refused for what they read beside their input."""

SEARCHES: list[tuple[str, list[str], str]] = [
    ('["b"] | ["c"]', ["b", "c"], '["\\u00e9"] | ["c"]'),
    ('.a["b"', ["b"], '.a["\\u00e9"'),
    ('"a\\("b")c\\(1)"', ["b"], '"a\\("\\u00e9")c\\(1)"'),
    ('["a"]', ["a"], '["\\u00e9"]'),
    ('.a | ["b"]', ["b"], '.a | ["\\u00e9"]'),
    ('{"a": "b"}', ["b"], '{"a": "\\u00e9"}'),
    ('import "a" as a; .', ["a"], 'import "\\u00e9" as a; .'),
    ('include "a"; .', ["a"], 'include "\\u00e9"; .'),
    ('"env"', ["env"], '"\\u00e9"'),
    ('"\\(")")"', [")"], '"\\("\\u00e9")"'),
    ('"a\\"b"', ['a"b'], '"\\u00e9"'),
    ('"a\\\\"', ["a\\"], '"\\u00e9"'),
    ('"\\b\\f\\n\\r\\t\\/\\q"', ["\x08\x0c\n\r\t/q"], '"\\u00e9"'),
    ('"\\u0041"', ["A"], '"\\u00e9"'),
    ('"\\u00e9\\uD83D\\uDE00"', ["é😀"], '"\\u00e9"'),
    ('"\\ud800"', ["�"], '"\\u00e9"'),
    ('"\\u00"', ["u00"], '"\\u00e9"'),
    ('"\\u00g0"', ["u00g0"], '"\\u00e9"'),
    ('"# no"', ["# no"], '"\\u00e9"'),
    ('test("a")', ["a"], 'test("\\u00e9")'),
    ('test("a"; "i")', ["a"], 'test("\\u00e9"; "i")'),
    ('test("a"; "ix")', ["a"], 'test("\\u00e9"; "ix")'),
    ('test("a"; "iz")', ["a", "iz"], 'test("\\u00e9"; "iz")'),
    ('test("a"; "")', ["a"], 'test("\\u00e9"; "")'),
    ('sub("a"; "b")', ["a", "b"], 'sub("\\u00e9"; "b")'),
    ('sub("a"; "b"; "g")', ["a", "b"], 'sub("\\u00e9"; "b"; "g")'),
    ('select(.title | test("key"; "i"))', ["key"], 'select(.title | test("\\u00e9"; "i"))'),
    ('select(.namespace == "a")', ["a"], 'select(.namespace == "\\u00e9")'),
    ('"a" + "b"', ["a", "b"], '"\\u00e9" + "b"'),
    ('startswith("a"), endswith("a")', ["a", "a"], 'startswith("\\u00e9"), endswith("\\u00e9")'),
    ('.a == "x" or .b == "x"', ["x", "x"], '.a == "\\u00e9" or .b == "\\u00e9"'),
    ('{a: "b", "c": "d"}', ["b", "d"], '{a: "\\u00e9", "c": "d"}'),
    ('{"a"}', ["a"], '{"\\u00e9"}'),
    ('.provenance.confidence // ""', [""], '.provenance.confidence // "\\u00e9"'),
    ('ascii_downcase | contains("a")', ["a"], 'ascii_downcase | contains("\\u00e9")'),
    ('"" // "x"', ["", "x"], '"\\u00e9" // "x"'),
    ('f("a"; "gi") , "gi"', ["a", "gi"], 'f("\\u00e9"; "gi") , "gi"'),
    ('("a"; "b")', ["a", "b"], '("\\u00e9"; "b")'),
]
"""Programs, the literals that they look for, and the program that looks for another one in the first one's place."""

NAMES: list[tuple[str, list[tuple[str, ...]]]] = [
    ("{a,env:1}", [("a",)]),
    ('.a["b"', [("a",)]),
    (".a.b.c", [("a", "b", "c")]),
    (".a|.b.c", [("a",), ("b", "c")]),
    (".a", [("a",)]),
    (".a.b", [("a", "b")]),
    (".a .b", [("a",), ("b",)]),
    (".a. b", [("a",)]),
    ('."a"', [("a",)]),
    ('.a."b".c', [("a",), ("b", "c")]),
    ('. "a"', [("a",)]),
    ('.a["b"]', [("a",)]),
    ('.a | ["b"]', [("a",)]),
    ("{id, title}", [("id",), ("title",)]),
    ("[.a, length, .b]", [("a",), ("b",)]),
    ("{id}", [("id",)]),
    ("{id: .a}", [("a",)]),
    ("{a: 1, b, c: .d}", [("b",), ("d",)]),
    ("{(.a): 1}", [("a",)]),
    ("{a, env: 1}", [("a",)]),
    ("{env}", [("env",)]),
    (".env", [("env",)]),
    ("env.A", [("A",)]),
    ("$ ENV.A", [("A",)]),
    ('"a\\("b\\(.c)")d"', [("c",)]),
    ("# c\n.a", [("a",)]),
    ("# a\r\n.b", [("b",)]),
    (".a?", [("a",)]),
    (".a[0].b", [("a",), ("b",)]),
    ('@tsv "\\(.a)"', [("a",)]),
    ("a.b", [("b",)]),
    ('select(.title | test("key"; "i"))', [("title",)]),
    ('select(.namespace == "a")', [("namespace",)]),
    ('.a == "x" or .b == "x"', [("a",), ("b",)]),
    ("select(.a) | .b", [("a",), ("b",)]),
    ('.provenance.confidence // ""', [("provenance", "confidence")]),
    ("[.title, .provenance.confidence] | @tsv", [("title",), ("provenance", "confidence")]),
    (". as $x | $x.a", [("a",)]),
    (".a as {b: $c} | $c", [("a",)]),
    ("if .a then .b else .c end", [("a",), ("b",), ("c",)]),
    ("reduce .[] as $x (0; . + $x.a)", [("a",)]),
    ("{x, env:.a}", [("x",), ("a",)]),
    ("[.a,env:1]", [("a",)]),
    ('"\\(.a) \\(.b)"', [("a",), ("b",)]),
    ('.a.b."c d".e', [("a", "b"), ("c d", "e")]),
    ('.["a"].b', [("b",)]),
    ('.a["b"]["c"]', [("a",)]),
    ('.a | .["b"]', [("a",)]),
]
"""Programs, and the paths of the fields that they name."""


@pytest.mark.parametrize(("program", "expected"), TOKENS)
def test_a_program_is_cut_into_tokens(program: str, expected: list[str]) -> None:
    found = tokens(program)
    assert [f"{t.kind} {t.text}" + (f" = {t.value}" if t.value else "") for t in found] == expected
    assert all(program.startswith(t.text, t.start) for t in found)


@pytest.mark.parametrize(
    ("reason", "program"), [(why, one) for why, programs in UNREADABLE.items() for one in programs]
)
def test_a_program_that_breaks_off_is_unreadable(reason: str, program: str) -> None:
    with pytest.raises(RecipeSyntaxError) as problem:
        tokens(program)
    assert str(problem.value) == reason


@pytest.mark.parametrize(
    ("reason", "program"), [(why, one) for why, programs in REACHING_OUT.items() for one in programs]
)
def test_a_program_that_reads_beside_its_input_is_refused(reason: str, program: str) -> None:
    with pytest.raises(RecipeSyntaxError) as refusal:
        refuse_other_inputs(program)
    assert str(refusal.value) == reason


@pytest.mark.parametrize(
    "program", [one for one, _ in TOKENS if not any(one in programs for programs in REACHING_OUT.values())]
)
def test_any_other_program_is_allowed(program: str) -> None:
    refuse_other_inputs(program)


@pytest.mark.parametrize(("program", "found", "other"), SEARCHES)
def test_a_program_looks_for_its_literals(program: str, found: list[str], other: str) -> None:
    assert (literals(program), with_literal(program, found[0], "é")) == (found, other)


@pytest.mark.parametrize("program", [one for one, _ in TOKENS if one not in [program for program, _, _ in SEARCHES]])
def test_any_other_program_looks_for_nothing(program: str) -> None:
    assert literals(program) == []


@pytest.mark.parametrize(("program", "paths"), NAMES)
def test_a_program_names_fields(program: str, paths: list[tuple[str, ...]]) -> None:
    assert field_paths(program) == paths


@pytest.mark.parametrize("program", [one for one, _ in TOKENS if one not in [program for program, _ in NAMES]])
def test_any_other_program_names_no_fields(program: str) -> None:
    assert field_paths(program) == []


@pytest.mark.parametrize("program", ["now", "[.a, now, .b]", "{a: (1, now, 2)}", "{a, b: now}"])
def test_a_program_that_reads_the_clock_is_not_repeatable(program: str) -> None:
    assert unrepeatable(program) == "reads the clock (now)"


@pytest.mark.parametrize("program", ["{now}", "{a, now, b}", "{a: [1, 2], now}", ".now", "{now: 1}", '"now"'])
def test_a_field_with_the_name_of_the_clock_is_repeatable(program: str) -> None:
    assert unrepeatable(program) is None
