"""Commands of a server under test are parsed, never run by a shell."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lro_spec.editions import EDITIONS
from lro_spec.recipes.filters import NotInterpretedError
from lro_spec.recipes.lexer import literals, with_literal
from lro_spec.recipes.pipeline import Pipeline, parse_command
from lro_spec.recipes.render import quote, render
from lro_spec.recipes.runner import run
from lro_spec.recipes.shell import RecipeSyntaxError, split_pipeline

HOSTILE = [
    "/tmp/a b",
    "/tmp/it's",
    '/tmp/say "hi"',
    "/tmp/a;touch pwned",
    "/tmp/$(touch pwned)",
    "/tmp/`id`",
    "/tmp/${HOME}",
    "/tmp/a|b",
    "/tmp/a&b",
    "/tmp/*?[x]",
    "/tmp/{a,b}",
    "/tmp/~",
    "/tmp/#c",
    "/tmp/new\nline",
    "/tmp/tab\t",
    "/tmp/back\\slash\\",
    "/tmp/'\"'\"'",
    "/tmp/-n +2",
    "/tmp/{file}",
    "/tmp/é漢🧭",
    "/tmp/\udcff",
    "/tmp/!x",
]

paths = st.text(st.characters(exclude_characters="\0")).map(lambda name: "/" + name)


@pytest.mark.parametrize("path", HOSTILE)
@pytest.mark.parametrize("edition", EDITIONS)
def test_a_rendered_recipe_gives_its_path_back(edition: str, path: str):
    for recipe in render(edition, path):
        pipeline = parse_command(recipe.command)
        assert pipeline.path == path
        assert (pipeline.skip, pipeline.take, pipeline.more) == (1, None, ())
        assert [stage[0] for stage in pipeline.stages] == ["tail", "jq"]


@given(paths)
def test_any_path_survives_quoting(path: str):
    assert shlex.split(quote(path)) == [path]
    assert parse_command(render("lro-6400", path)[0].command).path == path


def test_a_harmless_path_stays_without_quotes():
    assert quote("/tmp/atlatl-recall-01ARZ3NDEKTSV4RRFFQ69G5FAV.jsonl") == (
        "/tmp/atlatl-recall-01ARZ3NDEKTSV4RRFFQ69G5FAV.jsonl"
    )


@pytest.mark.parametrize("path", ["", "relative", "-n", "./x"])
def test_a_path_that_is_not_absolute_is_not_rendered(path: str):
    with pytest.raises(ValueError, match="absolute"):
        render("lro-6400", path)


def test_a_path_with_a_nul_cannot_be_quoted():
    with pytest.raises(ValueError, match="NUL"):
        quote("/tmp/\0")


def test_render_follows_the_detail_level_where_the_library_does():
    commands = {d: [r.command for r in render("lro-1600", "/x", d)] for d in ("light", "medium", "full")}
    assert [len(c) for c in commands.values()] == [10, 10, 10]
    assert "unique" in commands["light"][8]
    assert "sort_by(-.confidence)" in commands["medium"][8]
    assert "sort_by(-.provenance.confidence)" in commands["full"][8]


@given(st.lists(st.text(st.sampled_from("ab '\"\\\n|;$é#*"), max_size=6), min_size=1, max_size=5))
def test_words_are_read_as_the_shell_reads_them(words: list[str]):
    command = shlex.join(words)
    assert split_pipeline(command) == (tuple(shlex.split(command)),)


@given(st.text(st.sampled_from("ab '\"\\ "), max_size=12))
def test_free_quoting_is_read_as_the_shell_reads_it(text: str):
    try:
        expected = shlex.split(text, posix=True)
    except ValueError:
        expected = []
    if not expected:
        with pytest.raises(RecipeSyntaxError):
            split_pipeline(text)
    else:
        assert split_pipeline(text) == (tuple(expected),)


@given(st.text(max_size=40))
def test_any_command_is_understood_or_refused(command: str):
    for text in (command, f"tail -n +2 /x | jq {command}", f"tail {command} | jq ."):
        outcome: Pipeline | RecipeSyntaxError
        try:
            outcome = parse_command(text)
        except RecipeSyntaxError as refusal:
            outcome = refusal
        assert isinstance(outcome, Pipeline) or str(outcome)


@pytest.mark.parametrize(
    ("command", "skip", "take"),
    [
        ("tail -n +2 /f | jq .", 1, None),
        ("tail -n+2 /f | jq .", 1, None),
        ("tail +2 /f | jq .", 1, None),
        ("tail --lines=+2 /f | jq .", 1, None),
        ("tail --lines +2 /f|jq .", 1, None),
        ("tail -n '+2' -- /f | jq .", 1, None),
        ("tail /f -n +2 | jq .", 1, None),
        ("tail -q -n +0 /f | jq .", 0, None),
        ("tail -n +3 /f | jq .", 2, None),
        ("sed 1d /f | jq .", 1, None),
        ("sed -e '1,3d' /f | jq .", 3, None),
        ("sed -n '2,$p' /f | jq .", 1, None),
        ("sed -n 1p /f | jq .", 0, 1),
        ("sed -n '11,20p' /f | jq .", 10, 10),
        ("tail -n +2 /f | sed -n '11,20p' | jq .", 11, 10),
        ("head -n 15 /f | sed -n '11,20p' | jq .", 10, 5),
        ("sed -n '9,3p' /f | jq .", 8, 1),
        ("LC_ALL=C LANG=C.UTF-8 /bin/tail -n +2 /f | /usr/local/bin/jq .", 1, None),
        ("tail -n +2 $'/f' | jq .", 1, None),
        ("cat /f | tail -n +2 | jq .", 1, None),
        ("cat /f | jq .", 0, None),
        ("tail -n +2 < /f | jq .", 1, None),
        ("</f tail -n +2 | jq .", 1, None),
        ("jq . <'/f'", 0, None),
        ("awk 'NR > 1' /f | jq .", 1, None),
        ("awk NR\\>=2{print} /f | jq .", 1, None),
        ("awk 'FNR != 1 { print $0; }' < /f | jq .", 1, None),
        ("awk 'NR == 1' /f | jq .", 0, 1),
        ("awk 'NR <= 3' /f | awk 'NR > 1' | jq .", 1, 2),
        ("cat -- /f | sed 1d - | jq . -", 1, None),
        ("head -n 1 /f | jq .", 0, 1),
        ("head -1 /f | jq .", 0, 1),
        ("head /f | jq .", 0, 10),
        ("head -n 21 /f | tail -n +2 | jq .", 1, 20),
        ("tail -n +2 /f | head -n 5 | jq .", 1, 5),
        ("head -n 1 /f | tail -n +5 | jq .", 4, 0),
        ("jq . /f", 0, None),
        ("jq -n 'input | inputs' /f", 0, None),
        ("  tail -n +2 /f |\n  jq .  # titles\n", 1, None),
        ("tail -n +2 /f \\\n | jq .", 1, None),
        ('tail -n +2 "/f" | jq .', 1, None),
        ('FILE=/f; tail -n +2 "$FILE" | jq .', 1, None),
        ("F=; G=/f$F; tail $F -n +2 $G | jq .", 1, None),
        ("D=''\nF=\"${D}/f\" && tail -n +2 $F | jq .", 1, None),
        ("F=/f; { IFS= read -r _\n jq .; } < $F", 1, None),
        ("{ read -r _ && read -r _; cat; } < /f | jq .", 2, None),
        ("(read header; jq .) < /f", 1, None),
        ("jq . <(tail -n +2 /f | head -n 5)", 1, 5),
        ("jq . < <(sed 1d /f)", 1, None),
    ],
)
def test_honest_spellings_are_understood(command: str, skip: int, take: int | None):
    pipeline = parse_command(command)
    assert (pipeline.path, pipeline.skip, pipeline.take) == ("/f", skip, take)
    assert "input" in pipeline.jq.program or pipeline.jq.program == "."


def test_options_of_jq_are_understood():
    jq = parse_command("""jq -rsc -S --tab --arg t 'a "b"' --argjson n '{"x": [1]}' --indent 2 '.[$t]' /f""").jq
    assert (jq.program, jq.raw, jq.slurp, jq.null_input, jq.join) == (".[$t]", True, True, False, False)
    assert (jq.args, jq.argjson) == ({"t": 'a "b"'}, {"n": {"x": [1]}})
    assert parse_command("jq --raw-output --null-input inputs /f").jq.null_input
    joined = parse_command("jq -j . /f").jq
    assert (joined.raw, joined.join) == (True, True)
    assert parse_command("jq -- '-(.a)' /f").jq.program == "-(.a)"


def test_double_quotes_keep_the_program_as_a_shell_would():
    command = r'''tail -n +2 /f | jq "select(.title | test(\"key\\\\.$\"; \"i\")) | \$x"'''
    assert parse_command(command).jq.program == r"""select(.title | test("key\\.$"; "i")) | $x"""


def test_several_jq_in_a_row_are_understood():
    pipeline = parse_command("tail -n +2 /f | jq -c 'select(.a)' | jq -s length")
    assert (pipeline.jq.program, [c.program for c in pipeline.more]) == ("select(.a)", ["length"])
    assert pipeline.more[0].slurp


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("", "empty"),
        ("tail -n +2 /f", "no jq"),
        ("tail -n +2 | jq .", "no file"),
        ("jq .", "no file"),
        ("jq", "no program"),
        ("jq -r", "no program"),
        ("tail -n +2 /f | jq . ; rm -rf /", "second command"),
        ("tail -n +2 /f | jq . && id", "background"),
        ("tail -n +2 /f | jq . & id", "background"),
        ("tail -n +2 /f || jq .", "second command"),
        ("tail -n +2 /f |& jq .", "redirection"),
        ("tail -n +2 /f | jq .\nid", "second command"),
        ("id\njq . /f", "second command"),
        ("jq . /f > /etc/passwd", "redirection"),
        ("jq . <> /f", "redirection"),
        ("jq . << /f", "redirection"),
        ("jq . 2< /f", "redirection"),
        ("jq . <", "names no file"),
        ("jq . < | jq .", "names no file"),
        ("jq . < -f", "expected the file's path"),
        ("jq . < /f < /g", "redirection"),
        ("tail -n +2 /f | jq . < /g", "redirection"),
        ("tail -n +2 /f < /g | jq .", "reads 2 files"),
        ("awk '{system(\"id\")}' /f | jq .", "only a selection by line number"),
        ("awk 'NR != 2' /f | jq .", "only a selection by line number"),
        ("awk -f /g /f | jq .", "only a selection by line number"),
        ("grep lro_header /f | jq .", "only grep -v"),
        ("grep -v 'lro.header' /f | jq .", "only grep -v"),
        ("grep -vE 'a|b' /f | jq .", "only grep -v"),
        ("grep -v -f /g /f | jq .", "only grep -v"),
        ("tail -n +2 /f | grep -v a | jq .", "as the first"),
        ("sed 1d /f | awk '!/a/' | jq .", "as the first"),
        ("awk '!/lro.header/' /f | jq .", "only a selection"),
        ("awk '/lro_header/ { next } 1' /f | jq .", "only a selection"),
        ("jq . <(id)", "not a program"),
        ("jq <(tail -n +2 /f) .", "NUL"),
        ("jq . --arg f <(cat /f)", "not used as the file to read"),
        ("jq . <(cat /f) /g", "reads 2 files"),
        ("jq . <(cat /f", "not closed"),
        ("jq . <(cat <(cat /f))", "redirection"),
        ("jq . <(cat /f; id)", "second command"),
        ("F=/f; jq . $G", "expansion"),
        ("F=$(id); jq . $F", "expansion"),
        ("F=~/f; jq . $F", "home directory"),
        ("F='/f g'; jq . $F", "2 files"),
        ("F=/f; id; jq . $F", "second command"),
        ("F=/f & jq . $F", "background"),
        ("F=/f; jq . $F > $F", "redirection"),
        ("PATH=/tmp; jq . /f", "has a meaning"),
        ("A=aaaaaaaa;" + "A=$A$A;" * 40 + "jq . $A", "more than 65536"),
        ("{ id; jq .; } < /f", "read -r NAME"),
        ("{ read -r _; jq .; id; } < /f", "read -r NAME"),
        ("{ read -r _; jq . > /g; } < /f", "redirection"),
        ("{ read -r _; jq . /g; } < /f", "instead of the pipe"),
        ("{ read -r _; jq .; } /g < /f", "not a redirection"),
        ("{ read -r _; jq . } < /f", "not closed"),
        ("{ read -r _; jq .; }", "no file"),
        ("jq . $(id)", "expansion"),
        ("jq . `id`", "substitution"),
        ('jq "$(id)" /f', "expansion"),
        ('jq "`id`" /f', "substitution"),
        ('jq "$HOME" /f', "expansion"),
        ('jq "${HOME}" /f', "expansion"),
        ('jq "$1" /f', "expansion"),
        ("jq . $HOME/f", "expansion"),
        ("jq . $'\\x41'", "escape"),
        ("jq . $'a", "not closed"),
        ("tail -n +2 /f | LC_ALL=C jq .", "not a program"),
        ("PATH=/tmp tail -n +2 /f | jq .", "not a program"),
        ("/tmp/bin/tail -n +2 /f | jq .", "not a program"),
        ("(jq . /f)", "subshell"),
        ("jq {id,title} /f", "braces"),
        ("jq . ~/f", "home directory"),
        ("jq '. /f", "single quote"),
        ('jq ". /f', "double quote"),
        ("jq . /f \\", "backslash"),
        ("tail -n +2 /f | | jq .", "empty"),
        ("| jq . /f", "empty"),
        ("jq . /f |", "empty"),
        ("X=1 jq . /f", "not a program"),
        ("tail -n +2 /f | sh", "not a program"),
        ("python -c 1 | jq .", "not a program"),
        ("/usr/games/jq . /f", "not a program"),
        ("tail -n +2 /f | jq . | head -n 3", "after jq"),
        ("tail -n +2 /f | tee /x | jq .", "not a program"),
        ("cat /f | jq . /g", "instead of the pipe"),
        ("cat /f | tail -n +2 /g | jq .", "instead of the pipe"),
        ("jq . /f /g", "2 files"),
        ("cat /f /g | jq .", "2 files"),
        ("tail -f -n +2 /f | jq .", "not understood"),
        ("tail -n", "not understood"),
        ("sed 1e /f | jq .", "expected a script"),
        ("sed -i 1d /f | jq .", "not understood"),
        ("sed 's/a/b/w /tmp/x' /f | jq .", "expected a script"),
        ("jq -f /f", "program from a file"),
        ("jq --from-file p /f", "program from a file"),
        ("jq -L /m . /f", "modules"),
        ("jq -rf p /f", "program from a file"),
        ("jq --slurpfile a /g . /f", "another file"),
        ("jq --rawfile a /g . /f", "another file"),
        ("jq --args . /f | rm /f", "not a program"),
        ("jq -R env /f", "environment"),
        ("jq --stream -f p /f", "program from a file"),
        ("jq --arg a", "a name and a value"),
        ("jq --argjson a '{' . /f", "not JSON"),
        ("jq --indent x . /f", "needs a number"),
        ("jq '.\0' /f", "NUL"),
        ("jq . /f" + " " * 70_000 + "#", "more than 65536"),
    ],
)
def test_anything_else_is_refused_with_a_reason(command: str, reason: str):
    with pytest.raises(RecipeSyntaxError, match=reason):
        parse_command(command)


@pytest.mark.parametrize(
    "command", ["jq -R . /f", "jq -nR '[inputs]' /f", "jq . --args a", "tail -n +2 /f | jq --stream . | jq -s ."]
)
def test_options_of_jq_that_do_no_harm_are_refused_as_not_interpreted(command: str):
    with pytest.raises(NotInterpretedError, match=r"jq --[a-z-]+ is an option that is not interpreted"):
        parse_command(command)


def test_of_several_such_options_the_first_by_name_is_told():
    with pytest.raises(NotInterpretedError, match="--raw-input"):
        parse_command("jq --seq -R . /f")


@pytest.mark.parametrize(
    "program",
    [
        "env",
        "env.PATH",
        ".a | env | .b",
        "$ENV",
        "$ENV.HOME",
        "$ ENV",
        "$ #c\nENV",
        '"\\(env)"',
        '"a\\("b\\($ENV.X)")"',
        '{"env": env}',
        "{(env | keys[0]): 1}",
        "$__prog_args",
        "input_filename",
        'import "a" as a; .',
        'include "a"; .',
        "get_search_list",
        '"a" | modulemeta',
        "# \\\nenv",
        '# \\\n"\nenv # "',
        '# \r"\nenv#"',
        '@base64 "\\(env)"',
        '"' + '\\("' * 2000,
    ],
)
def test_a_program_that_reaches_outside_its_input_is_refused(program: str):
    with pytest.raises(RecipeSyntaxError):
        parse_command(f"jq {shlex.quote(program)} /f")


@pytest.mark.parametrize(
    "program",
    [
        ".env",
        ".a.env?",
        "{env: 1}",
        "{a: 1, env: .b}",
        'select(.title == "env $ENV input_filename import")',
        '.["env"]',
        ".environment | .input_filenames",
        "$env_name",
        "def environ: 1; environ",
    ],
)
def test_a_program_that_only_mentions_such_names_is_not(program: str):
    assert parse_command(f"jq {shlex.quote(program)} /f").jq.program == program


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ('select(.namespace | startswith("_semantic"))', ["_semantic"]),
        ('select(.title | test("keyword"; "i"))', ["keyword"]),
        ('select(.title | test("i"; "i"))', ["i"]),
        ('select(.memory_type == "semantic")', ["semantic"]),
        ('select((.title // "") | ascii_downcase | contains("key"))', ["", "key"]),
        ('select(.["memory_type"] == "x")', ["x"]),
        ('select(."memory_type" == "x")', ["x"]),
        ('[["x"]]', ["x"]),
        ('{"a": "b", c: "d"}', ["b", "d"]),
        ('"in \\(.a | test("code"))"', ["code"]),
        ('# "comment"\n.a == "x"', ["x"]),
        ('"\\u00e9\\n\\"\\\\"', ['é\n"\\']),
        ('"\\ud83e\\udded"', ["🧭"]),
        (".a", []),
    ],
)
def test_literals_are_what_a_program_looks_for(program: str, found: list[str]):
    assert literals(program) == found


@given(st.text(), st.text())
def test_a_literal_is_replaced_by_any_other(old: str, new: str):
    program = f'select(.title | test({json.dumps(old)}; "i")) | {{"{{": .x, k: "kept"}}'
    assume(old != "kept")
    changed = with_literal(program, literals(program)[0], new)
    wanted = new.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert literals(changed) == [wanted, "kept"]
    assert changed.endswith('; "i")) | {"{": .x, k: "kept"}')


@pytest.mark.parametrize(
    ("command", "last"), [("tail -n 2 /f | jq .", 2), ("tail /f | jq .", 10), ("tail -n +2 /f | jq .", None)]
)
def test_tail_without_a_plus_counts_from_the_end(command: str, last: int | None):
    assert parse_command(command).last == last


def test_only_the_last_lines_are_read():
    output = run(parse_command("tail -n 2 /f | jq -c ."), b"1\n2\n3\n", binary=None)
    assert output.stdout == b"2\n3\n"


@pytest.mark.parametrize(
    "grep",
    [
        *("grep -v head", "grep -vF head", "grep -F -v -e head", "grep -hv 'head'", "grep -Ev head"),
        *("awk '!/head/'", "awk '!/head/ { print $0; }'", "awk '$0 !~ /head/'", "sed '/head/d'", "sed -e '/head/ d'"),
    ],
)
def test_grep_leaves_out_the_lines_with_a_text(grep: str):
    pipeline = parse_command(f"{grep} /f | jq -c .n")
    assert (pipeline.path, pipeline.skip) == ("/f", 0)
    data = b'{"type": "head"}\n{"n": 1}\n{"n": 2, "t": "ahead"}\n{"n": 3}'
    assert run(pipeline, data, binary=None).stdout == b"1\n3\n"


def test_a_carriage_return_ends_no_line_for_grep():
    pipeline = parse_command("grep -v head /f | jq -c .n")
    assert run(pipeline, b'{"t": "head",\r"n": 1}\n{"n":\r2}\n', binary=None).stdout == b"2\n"
