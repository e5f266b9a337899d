"""Recipes with their outputs, and commands with the words that a shell makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from lro_conformance.vectors.answers import run_jq
from lro_spec.editions import EDITIONS
from lro_spec.recipes.compare import PARAMETRISED
from lro_spec.recipes.lexer import literals, with_literal
from lro_spec.recipes.oracle import evaluate
from lro_spec.recipes.pipeline import parse_command
from tests.tools.vectors.build import one_of, spell, vector


def memory(
    n: int, title: str, namespace: str, kind: str, confidence: float, content: str, **more: Any
) -> dict[str, Any]:
    return {
        "id": f"m-{n}", "title": title, "namespace": namespace, "memory_type": kind, "content": content,
        "created": f"2026-0{n}-01T00:00:00Z", "provenance": {"confidence": confidence}, "confidence": confidence,
        "tags": ["ops"], "entities": [], **more,
    }  # fmt: skip


USUAL = [
    memory(1, "Rotate the keys", "_semantic/ops", "semantic", 0.9, "A pattern of ninety days.", entities=[{"name": "vault"}]),
    memory(2, "Keyword search", "_episodic/log", "episodic", 0.4, "Nothing of note.", tags=["ops", "TAG"]),
    memory(3, "The KEYWORD in capitals", "_semantic/ops", "semantic", 0.7, "Patterns everywhere.", entities=[{"name": "a"}, {"name": "b"}]),
    memory(4, "Name branches", "project/semantic", "procedural", 1, "No match here.", tags=[]),
    memory(5, "Retry with back-off", "_semantic/api", "semantic", 0.25, "PATTERN in capitals"),
]  # fmt: skip
WIDE = [
    memory(1, "決定: keyword を統一する", "_semantic/設計", "semantic", 0.5, "a pattern 検索 🧭", entities=[{"name": "設計"}]),
    memory(2, 'quotes "inside" a title', "_semantic", "semantic-note", 0.75, 'say "pattern"'),
    memory(3, "tab\tand newline\nand back\\slash", "_semanticx", "semantic", 0.125, "line one\nline two"),
    memory(4, "", "", "", 0, "", tags=["TAGGED"]),
]  # fmt: skip
ONE = [memory(1, "keyword", "_semantic", "semantic", 0.5, "pattern", tags=["TAG"], entities=[{}])]
NONE = [memory(1, "title", "other", "other", 0.5, "text", tags=[], entities=[])]
MANY = [memory(n % 9 + 1, f"title {n}", "abc"[n % 3] * (n % 3 + 1), "semantic", (n + 1) / 32, "text", id=f"m-{n}", created=f"2026-01-{n + 1:02}T00:00:00Z") for n in (7, 2, 11, 0, 13, 5, 9, 4, 12, 1, 8, 3, 6, 10, 14, 15)]  # fmt: skip
UNEVEN = MANY[:15]  # as many of each namespace would tie
SETS = {"usual": USUAL, "wide": WIDE, "one": ONE, "none": NONE, "many": UNEVEN}
WORDS = {
    "namespace-prefix": ("_episodic", "project/", "", "_"),
    "title-search": ("keys", "RETRY", "back-off"),
    "memory-type": ("episodic", "Semantic", "semantic-note"),
    "content-search": ("ninety", "NOTE", "line two"),
    "with-tag": ("ops", "missing"),
}
ABOUT = {
    "usual": "five memories",
    "wide": "texts that need care",
    "one": "one memory that matches",
    "none": "no memory that matches",
    "many": "fifteen memories",
}


ORDERED = {"LRO-REC-04", "LRO-REC-09"}
"""Recipes whose output is one sorted list."""
MISTAKES: dict[str, tuple[list[Any], str]] = {
    "recipe.title-confidence-table-one": (["keyword"], "The title stands alone."),
    "recipe.title-namespace-table-one": (["keyword"], "The title stands alone."),
    "recipe.count-by-namespace-one": ([{"_semantic": 1}], "It is an object of counts, not a list."),
    "recipe.count-by-namespace-unsorted-one": ([{"_semantic": 1}], "It is an object of counts, not a list."),
    "recipe.count-by-type-one": ([{"semantic": 1}], "It is an object of counts, not a list."),
    "recipe.namespaces-usual": ([sorted(r["namespace"] for r in USUAL)], "A namespace is repeated."),
    "recipe.content-search-none": (NONE, "A memory was kept that does not match."),
}
"""By vector, a wrong output and the mistake behind it."""


def _recipes() -> Iterator[Any]:
    seen: set[tuple[str, str]] = set()
    for edition, facts in EDITIONS.items():
        for recipe in facts.recipes:
            call = parse_command(recipe.command.replace("{file}", "/file")).jq
            if (recipe.effect, call.program) in seen:
                continue
            seen.add((recipe.effect, call.program))
            detail = recipe.details[-1]
            rows: list[tuple[str, str, Sequence[dict[str, Any]], str | None]] = [
                (s, ABOUT[s], r, None) for s, r in SETS.items()
            ]
            if recipe.effect in PARAMETRISED:
                rows += [
                    (f"word-{n}", f"searching for {word!r}", [*USUAL, *WIDE[:2]], word)
                    for n, word in enumerate(WORDS[recipe.effect], 1)
                ]
            for slug, about, records, word in rows:
                program = call.program if word is None else _searching(call.program, word)
                yield partial(_one, f"recipe.{recipe.effect}-{slug}", f"{recipe.description.lower()}: {about}", program, call.slurp, call.raw,
                              records, recipe.requirement, recipe.number, word, edition, detail)  # fmt: skip


def _searching(program: str, word: str) -> str:
    """The program with another text to search for."""
    return with_literal(program, literals(program)[-1], word)


def _one(id: str, about: str, program: str, slurp: bool, raw: bool, records: Sequence[dict[str, Any]], requirement: str, number: int, word: str | None, edition: str, detail: str) -> Any:  # fmt: skip
    """A vector whose output by jq is the one of the independent evaluation, too."""
    call = parse_command(f"jq {'-s ' * slurp}{'-r ' * raw}. /file").jq
    lines = [spell(r) for r in records]
    output = run_jq(type(call)(program, slurp=slurp, raw=raw), "".join(f"{line}\n" for line in lines).encode())
    if not isinstance(output, list):
        raise ValueError(f"{id}: jq fails")  # noqa: TRY004 - the vector is at fault
    values = output[0] if slurp else output
    if not evaluate(number, records, literal=word, edition=edition, detail=detail).met_by(values):
        raise ValueError(f"{id}: jq's output is not that of the independent evaluation: {json.dumps(values)[:300]}")
    question: dict[str, Any] = {"program": program, "slurp": slurp, "raw": raw, "lines": lines}
    mistake = MISTAKES.get(id)
    if requirement in ORDERED and (reverse := [values[::-1]]) != output:
        mistake = (reverse, "The order is the reverse.")
    return vector(id, about, question, one_of(output), (requirement,), edition=edition, mistake=mistake)


# --- quoting

HOSTILE, REAL, WELL_FORMED = "LRO-HARD-03", "LRO-REC-11", "LRO-REC-13"
PATHS = {
    "plain": "/out/f.jsonl", "space": "/o ut/f.jsonl", "two-spaces": "/o  ut/f.jsonl", "apostrophe": "/it's/f.jsonl",
    "quotation-mark": '/a"b/f.jsonl', "both-quotes": "/a'b\"c/f.jsonl", "dollar": "/a$HOME/f.jsonl", "backtick": "/a`id`/f.jsonl",
    "semicolon": "/a;rm -rf x/f.jsonl", "ampersand": "/a&b/f.jsonl", "pipe": "/a|b/f.jsonl", "parentheses": "/a(b)/f.jsonl",
    "redirections": "/a<b>c/f.jsonl", "star": "/a*/f.jsonl", "question-mark": "/a?/f.jsonl", "brackets": "/[ab]/f.jsonl",
    "braces": "/{a,b}/f.jsonl", "tilde": "/~a/f.jsonl", "hash": "/a #b/f.jsonl", "exclamation": "/a!b/f.jsonl",
    "backslash": "/a\\b/f.jsonl", "tab": "/a\tb/f.jsonl", "newline": "/a\nb/f.jsonl", "equals": "/a=b/f.jsonl",
    "percent": "/a%20b/f.jsonl", "wide": "/出力 先/f.jsonl", "emoji": "/🧭/f.jsonl", "only-apostrophes": "/'''/f.jsonl",
    "leading-hyphen": "/-n/f.jsonl", "accent": "/café/f.jsonl",
}  # fmt: skip
COMMANDS: dict[str, tuple[str, list[list[str]] | None, str]] = {
    "standard": ("tail -n +2 /out/f.jsonl | jq .", [["tail", "-n", "+2", "/out/f.jsonl"], ["jq", "."]], ""),
    "single-quotes": ("tail -n +2 '/o ut/f' | jq '.a | .b'", [["tail", "-n", "+2", "/o ut/f"], ["jq", ".a | .b"]], "Within single quotes everything is literal."),
    "double-quotes": ('jq "select(.a)" "/o ut/f"', [["jq", "select(.a)", "/o ut/f"]], ""),
    "escaped-in-double": ('jq ".a == \\"b\\"" f', [["jq", '.a == "b"', "f"]], "Within double quotes a backslash escapes a quotation mark."),
    "backslash-in-double": ('jq "a\\nb" f', [["jq", "a\\nb", "f"]], "Before n, a backslash within double quotes is literal."),
    "dollar-in-double": ('jq "a\\$b" f', [["jq", "a$b", "f"]], ""),
    "backslash-space": ("jq . /o\\ ut/f", [["jq", ".", "/o ut/f"]], ""),
    "glued": ("jq . '/it'\\''s'/f", [["jq", ".", "/it's/f"]], "Quoted and unquoted parts without a space between them are one word."),
    "glued-double": ("jq . '/it'\"'\"'s/f'", [["jq", ".", "/it's/f"]], ""),
    "empty-word": ("jq '' f", [["jq", "", "f"]], "Empty quotes are an empty word."),
    "spaces": ("jq   .    f", [["jq", ".", "f"]], "Any number of spaces separates two words."),
    "tabs": ("jq\t.\tf", [["jq", ".", "f"]], ""),
    "no-space-at-pipe": ("cat f|jq .", [["cat", "f"], ["jq", "."]], "A pipe needs no space."),
    "three-stages": ("cat f | tail -n +2 | jq .", [["cat", "f"], ["tail", "-n", "+2"], ["jq", "."]], ""),
    "pipe-in-quotes": ("jq '.a|.b' f", [["jq", ".a|.b", "f"]], "A quoted pipe belongs to the word."),
    "comment": ("jq . f # all of it", [["jq", ".", "f"]], "A word that begins with # begins a comment."),
    "hash-inside": ("jq . a#b", [["jq", ".", "a#b"]], "Within a word, # is literal."),
    "redirected-input": ("jq . < f", [["jq", ".", "f"]], "A redirected input is the file that is read."),
    "continued-line": ("jq . \\\n f", [["jq", ".", "f"]], "A backslash before a line feed continues the line."),
    "star": ("jq . *.jsonl", [["jq", ".", "*.jsonl"]], "Without a file that matches, a pattern stays as it is."),
    "unclosed-single": ("jq '. f", None, "The quotation is not closed."),
    "unclosed-double": ('jq ". f', None, "The quotation is not closed."),
    "ends-in-backslash": ("jq . f\\", None, "Nothing follows the backslash."),
    "semicolon": ("jq . f; rm f", None, "A recipe is one pipeline."),
    "and": ("jq . f && rm f", None, "A recipe is one pipeline."),
    "or": ("jq . f || rm f", None, "A recipe is one pipeline."),
    "background": ("jq . f &", None, "A recipe is one pipeline."),
    "output": ("jq . f > g", None, "A recipe writes no file."),
    "append": ("jq . f >> g", None, "A recipe writes no file."),
    "substitution": ("jq . $(ls)", None, "A recipe starts nothing but the programs of its pipeline."),
    "backticks": ("jq . `ls`", None, "A recipe starts nothing but the programs of its pipeline."),
    "substitution-in-quotes": ('jq "$(id)" f', None, "Within double quotes a shell still substitutes."),
    "variable": ("jq . $FILE", None, "A variable has whatever value the shell has."),
    "variable-in-quotes": ('jq . "$HOME/f"', None, "Within double quotes a shell still expands."),
    "subshell": ("(jq . f)", None, "A recipe is one pipeline of plain commands.") ,
    "empty-stage": ("cat f | | jq .", None, "A stage of the pipeline is empty."),
    "pipe-at-the-end": ("jq . f |", None, "A stage of the pipeline is empty."),
    "tilde": ("jq . ~/f", None, "An unquoted ~ is expanded."),
    "two-lines": ("jq . f\nrm f", None, "A line feed ends the command, and another one begins."),
}  # fmt: skip


def spellings(path: str) -> list[str]:
    """Spellings of a path as one word of a shell that writers use."""
    double = '"' + "".join(f"\\{c}" if c in '"\\$`' else c for c in path) + '"'
    escaped = "".join(f"\\{c}" if not (c.isalnum() or c in "/._-+,:@%") else c for c in path)
    found = ["'" + path.replace("'", "'\"'\"'") + "'", "'" + path.replace("'", "'\\''") + "'", double]
    if "\n" not in path:
        found.append(escaped)
    return list(dict.fromkeys(found))


def _quoting() -> Iterator[Any]:
    for slug, path in PATHS.items():
        mistake = None if path in spellings(path) else (path, "The path is not quoted.")
        yield partial(vector, f"quoting.path-{slug}", f"the path {path!r} as one word", {"path": path}, one_of(*spellings(path)), (HOSTILE, REAL), mistake=mistake,
                      why="In a command the path is one word and nothing else, whatever characters it has.")  # fmt: skip
    for slug, (command, stages, why) in COMMANDS.items():
        wanted = "refused" if stages is None else stages
        yield partial(vector, f"quoting.command-{slug}", f"the command {command!r}", {"command": command}, one_of(wanted), (WELL_FORMED, HOSTILE), why or "The words are those of a POSIX shell.")  # fmt: skip


def vectors() -> Iterator[Any]:
    """Functions that make the vectors of these kinds."""
    yield from _recipes()
    yield from _quoting()
