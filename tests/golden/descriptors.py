"""Descriptors, with nothing opened: each with one fault, or none."""

from __future__ import annotations

from typing import Any

from lro_spec.recipes.render import render
from lro_spec.validation.descriptor import validate_descriptor
from tests.golden import Cases
from tests.golden.files import NAME, told

PATH = f"/out/{NAME}"
RECIPES = [{"description": r.description, "command": r.command} for r in render("lro-6400", PATH)]
SUMMARY: dict[str, Any] = {
    "count": 2,
    "estimated_tokens": 10,
    "operation": "recall",
    "top_namespaces": ["a"],
    "score_range": None,
    "detail": "full",
}
DESCRIPTOR: dict[str, Any] = {
    "offloaded": True,
    "summary": SUMMARY,
    "file_path": PATH,
    "line_schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    "jq_recipes": RECIPES,
    "guidance": f"In {PATH}",
}


def of(edition: str = "lro-6400", **changed: Any) -> Any:
    """What is said of the descriptor with these parts changed; `...` leaves one out."""
    whole = {name: value for name, value in {**DESCRIPTOR, **changed}.items() if value is not ...}
    return lambda: [told(f) for f in validate_descriptor(whole, edition=edition)]


def summary(edition: str = "lro-6400", **changed: Any) -> Any:
    """The same for a part of the summary."""
    return of(edition, summary={n: v for n, v in {**SUMMARY, **changed}.items() if v is not ...})


def commands(*texts: str, path: str = PATH) -> Any:
    """The same for commands in the place of the first recipes."""
    changed = [{"description": "d", "command": text} for text in texts]
    return of(jq_recipes=[*changed, *RECIPES[len(changed) :]], file_path=path, guidance=path)


def moved(path: str) -> Any:
    """The same for a file elsewhere, with the path in the recipes as it is, not quoted."""
    return of(
        file_path=path,
        guidance=path,
        jq_recipes=[{"description": "d", "command": r["command"].replace(PATH, path)} for r in RECIPES],
    )


def beside(*texts: str, count: int = 10) -> Any:
    """The same for commands beside so many of the standard ones."""
    return of(jq_recipes=[*RECIPES[10 - count :], *({"description": "d", "command": text} for text in texts)])


PYTHON, OTHER = f"python x.py {PATH}", "python x.py /elsewhere"
WC = f"wc -l {PATH}"
SPARE = [
    (PYTHON,), (OTHER,), (PYTHON, PYTHON), (PYTHON, OTHER), (f"less {PATH}", PYTHON, f"cat {PATH}"), ("python",),
    (f"cat {PATH}",), ("",),
    (f"jq . {PATH}", PYTHON), (f"jq . {PATH} | less", f"jq . {PATH}"),
    (WC,), ("wc -l /elsewhere",), ("wc -l /zz.jsonl",), (WC, WC), (WC, WC, WC),
]  # fmt: skip
NAMES: dict[str, Any] = {"properties": {"id": {"type": "string"}}}
UNHELD: list[Any] = [
    {**NAMES, "$ref": "#/x"}, {"$ref": "#/x"}, {**NAMES, "pattern": "("}, {**NAMES, "pattern": "\\p{L}"},
    {"pattern": "\\p{L}"}, {"pattern": "*"},
    {**NAMES, "pattern": "(?!a)\\p{L}"}, {"pattern": "(?!a)\\p{L}"}, {"allOf": [{"$ref": "#/y"}, {"pattern": ")"}],
    **NAMES},
]  # fmt: skip
NO_JSON: list[dict[str, Any]] = [
    {"extra": float("nan"), "more": {1}}, {"guidance": f"\ud800 {PATH}"}, {"summary": {**SUMMARY,
    "count": float("nan")}, "x": {2}},
    {"line_schema": {"properties": {"id": {1}}}}, {"file_path": 3, "x": float("inf"), "guidance": {3}},
]  # fmt: skip

CASES: Cases = {
    "sound": of(),
    "no object": lambda: [told(f) for f in validate_descriptor([DESCRIPTOR])],
    "offloaded is false": of(offloaded=False),
    "a field more": of(extra=1),
    "nothing": lambda: [told(f) for f in validate_descriptor({})],
    "summary: none": of(summary=...),
    "summary: another operation than the name": summary(operation="search"),
    "summary: an unknown operation": summary(operation="fetch"),
    "summary: an unknown detail": summary(detail="huge"),
    "summary: no detail": summary(detail=...),
    "summary: a range of one score": summary(score_range=[0.5, 0.5]),
    "summary: a range turned round": summary(score_range=[0.6, 0.5]),
    "summary: half a range": summary(score_range=[0.6]),
    "summary: a range of texts": summary(score_range=["a", "b"]),
    "summary: namespaces twice": summary(top_namespaces=["a", "b", "b", "a"]),
    "summary: five namespaces": summary(top_namespaces=list("abcde")),
    "summary: six namespaces": summary(top_namespaces=list("abcdef")),
    "summary: a namespace that is no text": summary(top_namespaces=["a", 3]),
    "summary: a count below nothing": summary(count=-1),
    "summary: of lro-1600": summary("lro-1600", operation="list", detail="tiny"),
    "summary: of the paper": summary("lro-paper", detail=..., top_namespaces=...),
    "path: relative": of(file_path="relative.jsonl"),
    "path: of another name": of(file_path="/out/x.jsonl", jq_recipes=...),
    "path: of Windows": of(file_path=f"C:\\out\\{NAME}", jq_recipes=...),
    "path: a number": of(file_path=3),
    "path: none": of(file_path=...),
    "path: and guidance": of(file_path=3, guidance=""),
    "path: not quoted": moved(f"/o ut/{NAME}"),
    "schema: empty": of(line_schema={}),
    "schema: true": of(line_schema=True),
    "schema: an array": of(line_schema=[]),
    "schema: none": of(line_schema=...),
    "recipes: nine": of(jq_recipes=RECIPES[:9]),
    "recipes: eleven": of(jq_recipes=[*RECIPES, RECIPES[0]]),
    "recipes: eleven by lro-1600": of("lro-1600", jq_recipes=[*RECIPES, RECIPES[0]]),
    "recipes: nine by lro-1600": of("lro-1600", jq_recipes=RECIPES[:9]),
    "recipes: four by the paper": of("lro-paper", jq_recipes=RECIPES[:4], file_path=f"/out/lro{NAME[6:]}"),
    "recipes: one is a number": of(jq_recipes=[3, *RECIPES[1:]]),
    "recipes: one has no command": of(jq_recipes=[{"description": "d"}, *RECIPES[1:]]),
    **{f"recipes beside the standard ones: {n}": beside(*some) for n, some in enumerate(SPARE)},
    **{
        f"recipes: {count} of the standard ones and {more} beside": beside(*[WC] * more, count=count)
        for count, more in ((8, 1), (9, 1), (9, 2), (9, 3))
    },
    **{f"schema that cannot be held: {n}": of(line_schema=s) for n, s in enumerate(UNHELD)},
    **{f"no JSON: {n}": of(**changed) for n, changed in enumerate(NO_JSON)},
    "a key that is no text": lambda: [told(f) for f in validate_descriptor({**DESCRIPTOR, 1: 2})],
    "summary: of the paper, a distribution": summary(
        "lro-paper", detail=..., top_namespaces={"a": 2}, score_range=[0.6, 0.5]
    ),
    "by the paper, half of it": of("lro-paper", guidance=..., line_schema=..., jq_recipes=RECIPES[:3]),
    "by lro-1600, half of it": of("lro-1600", guidance=..., line_schema=...),
    "commands: placeholders": commands("jq . {file}", "jq . {file}"),
    "commands: a placeholder in the path": commands("jq . '/{file}/x'", path="/{file}/x"),
    "commands: another file": commands("jq . other", "jq . other"),
    "commands: another program": commands(f"python x {PATH}"),
    "commands: not closed": commands(f"jq . '{PATH}", f"jq . {PATH}'"),
    "commands: in the middle of a word": commands(f"jq . x{PATH}y | less"),
    "guidance: none": of(guidance=...),
    "guidance: empty": of(guidance=""),
    "guidance: blank": of(guidance=" \n"),
    "guidance: as long as allowed": of(guidance="x" * 4000),
    "guidance: too long": of(guidance="x" * 4001),
    "guidance: placeholders": of(guidance="read {detail} {path}"),
    "guidance: a placeholder that is the path": of(
        guidance="read {file}", file_path=f"/{{file}}/{NAME}", jq_recipes=...
    ),
    "by the paper": of("lro-paper"),
    "by lro-1600": of("lro-1600"),
}
