"""Commands as a shell would read them: words and stages, and which file they read from which line on."""

from __future__ import annotations

from collections.abc import Callable

from lro_spec.pipeline import JqCall, Pipeline, parse_command
from lro_spec.shellwords import LONGEST, RecipeSyntaxError, split_pipeline
from tests.words import Cases, Said


def said(read: Callable[[str], object], text: str) -> Said:
    """What a reader makes of a text, or why it does not."""

    def say() -> list[str]:
        try:
            return [repr(read(text))]
        except RecipeSyntaxError as problem:
            return [f"refused: {problem}"]

    return say


WORDS = [
    '"~"', '"{a,b}"', "abc || b", "abc |& b", "a | b |\n c", "<\nf jq .", "<f\njq .", "#c\njq . f", "#c\n #d\n\njq . f",
    "#c\n|a", "<f #c\njq .", "a <&3 b", "a <(b)", "a <>f", '"\\\nb"', "{a,b", "{a..b", "a <f <g", "<f a |\nb",
    "jq . f", "  jq\t.\tf  ", "jq '.a | .b' f", 'jq ".a" f', "jq a'b'\"c\"d f", "jq '' f", 'jq "" f', "jq a\\ b f",
    "jq \\\n. f", "jq a\\\nb f", "a|b", "a | b | c", "a |\nb", "a | \n\n b", "a\n", "a\n \n", "\n a", "a\nb",
    "a | b\nc",
    "a # c", "a# c", "a #c\n", "#c", "a | # c\n b", "a #c\nb", "'a\nb'", "a;b", "a&b", "a && b", "a || b", "a |& b",
    "a < b", "a > b", "(a)", "a)", "`a`", "$a", "a$", "'$a' '`a`'", '"$a"', '"${a}"', '"$(a)"', '"a$"', '"a$ b"',
    '"$|x"', '"$)"', '"$.a"', '"`a`"', '"a\\$b"', '"a\\`b"', '"a\\"b"', '"a\\\\b"', '"a\\nb"', '"a\\\nb"', '"a\\',
    '"a', "'a", "a\\", "~", "~/a", "a~", "'~'", "\\~", "{a,b}", "a{1..2}", "{a}", "a{,}b", "'{a,b}'", "{a',b'}", "}a,{",
    "{a},b", "x,{a}", "", " ", "|", "a |", "| a", "a | | b", "a\0b", "*.jsonl ?", "a" * LONGEST, "a" * (LONGEST + 1),
    "é 漢", "a\\|b", "a'|'b", "a\\'b", "a\r", '"\\', "a\\\\", "!a", "a=b c", "[a]",
]  # fmt: skip
PIPELINES = [
    "jq --x . f", "jq -- . - f", "cat - f | jq .", "cat -x -y f | jq .", "tail -n x -n +2 f | jq .",
    "tail -n +2 - | jq . -", "a | (b)",
    "jq . f", "tail -n +2 f | jq .", "tail -n+2 f | jq .", "tail --lines=+2 f | jq .", "tail --lines +2 f | jq .",
    "tail -n 2 f | jq .", "tail -2 f | jq .", "tail +2 f | jq .", "tail f | jq .", "tail -n +1 f | jq .",
    "tail -n +0 f | jq .", "tail -n +3 f | jq .", "tail -n x f | jq .", "tail -n", "tail -n +2", "tail -n +2 | jq . f",
    "tail -n +2 -q f | jq .", "tail -f f | jq .", "tail -n +2 -- f | jq .", "tail -n +2 -- -f | jq .",
    "tail -n +2 a b | jq .", "tail -n +2 - | jq .", "tail -n +1234567890123456 f | jq .", "tail f +2 | jq .",
    "tail f -n +2 | jq .", "tail --quiet -n +4 f | jq .", "tail -n +2 f | tail -n +2 | jq .",
    "head -n 1 f | jq .", "head -1 f | jq .", "head f | jq .", "head -n 5 f | tail -n +2 | jq .",
    "head --lines=3 f | jq .",
    "head -n 1 f | tail -n +3 | jq .", "tail -n +2 f | head -n 3 | jq .", "head -n 3 f | head -n 5 | jq .",
    "head -n 5 f | head -n 3 | jq .", "head -n +2 f | jq .", "head -c 3 f | jq .", "tail -n +2 f | head | jq .",
    "sed 1d f | jq .", "sed '1d' f | jq .", "sed 1,3d f | jq .", "sed -n '2,$p' f | jq .", "sed -n 2,$ f | jq .",
    "sed -n 1p f | jq .", "sed -n 1,4p f | jq .", "sed -e 1d f | jq .", "sed --expression 1d f | jq .", "sed -e",
    "sed 2d f | jq .", "sed -n 1d f | jq .", "sed '2,$p' f | jq .", "sed -i 1d f | jq .", "sed 1d -- f | jq .",
    "sed '1 d' f | jq .", "sed -n '0,$p' f | jq .", "sed 1d a b c d | jq .", "sed f | jq .", "sed", "sed 1d - | jq .",
    "sed --quiet 3,\\$p f | jq .", "sed 1,0d f | jq .", "sed -n 1,0p f | jq .",
    "cat f | jq .", "cat -u f | jq .", "cat -n f | jq .", "cat -- f | jq .", "cat a b | jq .", "cat | jq .",
    "cat - | jq . f",
    "cat f | tail -n +2 | jq .", "cat f | jq . g", "cat f", "jq .", "jq", "jq -", "jq . a b", "jq . -",
    "jq -r . f", "jq -j . f", "jq -s . f", "jq -n . f", "jq -c . f", "jq -rsc . f", "jq -e . f", "jq -x . f",
    "jq -f p f",
    "jq -L d . f", "jq --raw-output . f", "jq --slurp . f", "jq --null-input '[inputs]' f", "jq --join-output . f",
    "jq --tab . f", "jq --indent 2 . f", "jq --indent x . f", "jq --indent", "jq --from-file p f",
    "jq --slurpfile a b . f",
    "jq --rawfile a b . f", "jq --unknown . f", "jq --arg a b '$a' f", "jq --arg a", "jq --arg a b f", "jq --arg",
    "jq --argjson a 1 '$a' f", "jq --argjson a '{\"b\": [1]}' . f", "jq --argjson a x . f", "jq --argjson a",
    "jq -- . f",
    "jq -- -r f", "jq . f | jq .a", "jq . f | jq -r .a | jq -s .", "jq . f | tail -n 2", "jq . f | cat",
    "jq . f | jq . g",
    "jq env f", "jq '$ENV' f", "jq input_filename f", "python f", "tail -n +2 f | grep a | jq .", "./jq . f",
    "jq -sr . f",
]  # fmt: skip

FILTERS = [
    "awk -- 'NR>1'", "awk -- 'NR>1' --", "awk 'NR>=2'", "awk 'NR>=0'", "awk 'NR>0'",
    "awk 'NR<3'", "awk 'NR<=3'", "awk 'NR<0'", "awk 'NR<1'", "awk 'NR==1'",
    "awk 'NR!=1'", "awk 'NR!=2'", "awk 'NR==2'", "awk -- '!/x/'", "awk '!/x/'",
    'awk', 'awk --', "awk 'FNR > 4 { print $0; }'", "awk 'NR<6'", "awk 'NR>=5'",
    'grep -v x', "grep -vF 'a.b'", "grep -v 'a.b'", "grep -vE 'a+b'", "grep -v 'a+b'",
    'grep x', "grep -v ''", 'grep -v -e x', 'grep -v -e x -e y', 'grep -av x',
    'grep -v -- x', 'grep -vc x', "grep -F -v 'a*'", "grep -v $'x'", 'sed /x/d',
    "sed '/a.b/d'", "sed '/a*b/d'", "sed ' /x/ d'", 'grep --v x', 'grep -ah -Fv x',
    'grep -hF x',
]  # fmt: skip

CASES: Cases = {
    "what jq does by default": lambda: [repr(JqCall(".")), repr(Pipeline("f", 1, JqCall("."), ()))],
    **{f"words of {text[:40]!r} ({len(text)})": said(split_pipeline, text) for text in WORDS if len(text) < 1000},
    **{f"words of {len(text)}": lambda t=text: [s[:80] for s in said(split_pipeline, t)()] for text in WORDS
       if len(text) >= 1000},
    **{f"pipeline {text!r}": said(parse_command, text) for text in PIPELINES},
    **{f"filter {text!r}": said(parse_command, f"{text} f | jq .") for text in FILTERS},
    **{f"filter {text!r} alone": said(parse_command, f"{text} | jq .") for text in FILTERS[:8]},
}  # fmt: skip
