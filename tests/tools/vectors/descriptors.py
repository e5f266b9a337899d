"""Descriptors by themselves, file names, and the results of tools that carry descriptors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from lro_spec.editions import EDITIONS
from lro_spec.recipes.render import render
from tests.tools.vectors.build import NAME, PATH, SECONDS, ULID, breaking, one_of, spell, vector

D = "LRO-DESC-"
SHAPE, LEADS, NAMESPACES, SCORES, SCHEMA, DESCRIBES = (f"{D}{n}" for n in ("01", "02", "06", "07", "09", "10"))
READS, COMPLETE, BRIEF, TONE, AGREES = "LRO-REC-11", "LRO-REC-13", "LRO-GUI-01", "LRO-GUI-04", "LRO-GUI-05"
PATTERN, TIMED = "LRO-NAME-02", "LRO-NAME-03"
DESCRIBED, CURSORLESS, DIRECTS = "LRO-DESC-14", "LRO-DESC-13", "LRO-GUI-06"
ALL = (SHAPE, LEADS, NAMESPACES, SCORES, SCHEMA, DESCRIBES, READS, COMPLETE, BRIEF, TONE, AGREES, PATTERN, TIMED)


def recipes(path: str = PATH, edition: str = "lro-6400") -> list[dict[str, str]]:
    return [{"description": r.description, "command": r.command} for r in render(edition, path)]


SUMMARY: dict[str, Any] = {
    "count": 2,
    "estimated_tokens": 60,
    "operation": "recall",
    "top_namespaces": ["_semantic/ops"],
    "score_range": None,
    "detail": "light",
}
LINE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "title": {"type": "string"}},
    "required": ["id"],
}


def guidance(path: str = PATH, count: int = 2, tokens: int = 60, detail: str = "light") -> str:
    return (
        f"{count} memories were offloaded to a JSONL file (~{tokens} tokens saved).\nFile: {path}\n"
        f"Detail level: {detail}\nUse the jq recipes above to extract what is needed.\n"
        "The header is line 1; memories start at line 2."
    )


def descriptor(**changed: Any) -> dict[str, Any]:
    """A sound descriptor with some parts changed; `...` leaves one out."""
    path = changed.get("file_path", PATH)
    there = path if isinstance(path, str) and path.startswith("/") and "\0" not in path else PATH
    whole = {
        "offloaded": True,
        "summary": SUMMARY,
        "file_path": PATH,
        "line_schema": LINE_SCHEMA,
        "jq_recipes": recipes(there),
        "guidance": guidance(there),
        **changed,
    }
    return {name: value for name, value in whole.items() if value is not ...}


def summed(**changed: Any) -> dict[str, Any]:
    """A sound descriptor with parts of the summary changed."""
    return descriptor(summary={n: v for n, v in {**SUMMARY, **changed}.items() if v is not ...})


def commands(*texts: str) -> dict[str, Any]:
    """A sound descriptor with these commands in place of the first recipes'."""
    standard = recipes()
    changed = [{**r, "command": text} for r, text in zip(standard, texts, strict=False)]
    return descriptor(jq_recipes=[*changed, *standard[len(changed) :]])


Row = tuple[str, str, Any, tuple[str, ...], tuple[str, ...], str]


def ok(slug: str, about: str, value: Any, *ids: str, why: str = "") -> Row:
    return slug, about, value, (), ids, why


def bad(slug: str, about: str, value: Any, *broken: str, why: str = "") -> Row:
    return slug, about, value, broken, broken, why


def schema(slug: str, about: str, value: Any, *broken: str, why: str = "") -> Row:
    return f"schema-{slug}", about, descriptor(line_schema=value), broken, broken or (SCHEMA, DESCRIBES), why


PARTS: list[Row] = [
    ok("sound", "a descriptor with all its parts", descriptor(), *ALL, why="Every part is there and agrees with the others."),
    ok("more-members", "a descriptor with members of its own", descriptor(expires_at="2026-03-02T10:30:00Z", tool="x"), SHAPE,
       why="A descriptor may have further members."),
    bad("not-an-object", "an array with the descriptor", [descriptor()], SHAPE),
    bad("text", "the descriptor as a text", spell(descriptor()), SHAPE, why="The descriptor is an object, not JSON within JSON."),
    bad("empty", "an empty object", {}, SHAPE),
    bad("offloaded-false", "`offloaded` is false", descriptor(offloaded=False), SHAPE,
        why="A client tells a descriptor from a result by `offloaded: true`."),
    bad("offloaded-text", "`offloaded` is the text true", descriptor(offloaded="true"), SHAPE),
    bad("offloaded-number", "`offloaded` is 1", descriptor(offloaded=1), SHAPE),
    *(bad(f"without-{n.replace('_', '-')}", f"a descriptor without {n}", descriptor(**{n: ...}), SHAPE,
          why=f"{n} is a field of OffloadResponse and is not optional.")
      for n in ("offloaded", "summary", "file_path", "line_schema", "guidance")),
    *(bad(f"{n.replace('_', '-')}-null", f"{n} is null", descriptor(**{n: None}), SHAPE)
      for n in ("offloaded", "summary", "file_path", "guidance")),
    bad("camel-case", "members in camelCase", {"offloaded": True, "filePath": PATH, "lineSchema": LINE_SCHEMA, "jqRecipes": recipes(), "summary": SUMMARY, "guidance": guidance()}, SHAPE,
        why="The names of the members are those of the specification."),
    *(bad(f"summary-without-{n.replace('_', '-')}", f"a summary without {n}", summed(**{n: ...}), SHAPE)
      for n in ("count", "estimated_tokens", "operation", "top_namespaces", "detail")),
    *(bad(f"summary-{n.replace('_', '-')}-{w}", f"the summary's {n} is {spell(v)}", summed(**{n: v}), SHAPE)
      for n, w, v in (("count", "text", "2"), ("count", "negative", -1), ("count", "fraction", 2.5), ("estimated_tokens", "text", "60"),
                      ("estimated_tokens", "negative", -60), ("operation", "number", 1), ("detail", "number", 2),
                      ("top_namespaces", "text", "_semantic/ops"), ("top_namespaces", "numbers", [1, 2]))),
    ok("summary-count-double", "a count written as 2.0", summed(count=2.0), SHAPE, why="JSON does not tell integers from doubles."),
]  # fmt: skip

SUMMARIES: list[Row] = [
    ok("namespaces-five", "five namespaces", summed(top_namespaces=list("abcde")), NAMESPACES),
    ok("namespaces-none", "no namespaces", summed(top_namespaces=[]), NAMESPACES, why="A result set may have none."),
    bad("namespaces-six", "six namespaces", summed(top_namespaces=list("abcdef")), NAMESPACES, why="The list has at most five."),
    bad("namespaces-twice", "a namespace twice", summed(top_namespaces=["a", "b", "a"]), NAMESPACES,
        why="A list of the most frequent namespaces names each of them once."),
    ok("scores-absent", "no score_range", summed(score_range=...), SCORES, why="Null and absent are equal."),
    ok("scores", "a range of two scores", summed(score_range=[0.25, 1]), SCORES),
    ok("scores-equal", "a range of one score", summed(score_range=[0.5, 0.5]), SCORES),
    ok("scores-negative", "a range of negative scores", summed(score_range=[-3.5, -1]), SCORES),
    bad("scores-turned", "the higher score first", summed(score_range=[0.9, 0.1]), SCORES, why="The range is (min, max)."),
    bad("scores-one", "one score", summed(score_range=[0.5]), SCORES),
    bad("scores-three", "three scores", summed(score_range=[0.1, 0.2, 0.3]), SCORES),
    bad("scores-texts", "scores as texts", summed(score_range=["0.1", "0.9"]), SCORES),
    bad("scores-object", "scores as an object", summed(score_range={"min": 0.1, "max": 0.9}), SCORES,
        why="The specification's pair is an array in JSON."),
    bad("name-of-another-operation", "a name of another operation than the summary's", summed(operation="search"), PATTERN,
        why="Name and summary name the operation that was performed."),
]  # fmt: skip

PATHS: list[Row] = [
    bad("path-relative", "a relative path", descriptor(file_path=f"out/{NAME}"), LEADS,
        why="The reader may be in another directory."),
    bad("path-bare", "a bare name", descriptor(file_path=NAME), LEADS),
    bad("path-empty", "an empty path", descriptor(file_path=""), LEADS),
    bad("path-home", "a path that begins with ~", descriptor(file_path=f"~/{NAME}"), LEADS, why="~ is a word of shells, not of file systems."),
    bad("path-url", "a file URL", descriptor(file_path=f"file://{PATH}"), LEADS, why="file_path is a path, not a URL."),
    ok("path-space", "a path with a space", descriptor(file_path=f"/o ut/{NAME}", guidance=guidance(f"/o ut/{NAME}"), jq_recipes=recipes(f"/o ut/{NAME}")), LEADS, READS),
    ok("path-quote", "a path with an apostrophe", descriptor(file_path=f"/it's/{NAME}", guidance=guidance(f"/it's/{NAME}"), jq_recipes=recipes(f"/it's/{NAME}")), LEADS, READS),
    ok("path-wide", "a path in another script", descriptor(file_path=f"/出力/{NAME}"), LEADS, READS),
    *(bad(f"path-name-{slug}", f"the name {name}", descriptor(file_path=f"/out/{name}"), rule, why=why)
      for slug, name, rule, why in (
        ("other-prefix", f"lro-recall-{ULID}.jsonl", PATTERN, "The prefix is atlatl."),
        ("no-operation", f"atlatl-{ULID}.jsonl", PATTERN, "The name has the operation between prefix and ULID."),
        ("other-ending", f"atlatl-recall-{ULID}.json", PATTERN, "The ending is .jsonl."),
        ("upper-ending", f"atlatl-recall-{ULID}.JSONL", PATTERN, "The ending is .jsonl, in lower case."),
        ("uuid", "atlatl-recall-9b2f6c1e-4f5a-4c55-8a51-0f4b8d0a9c11.jsonl", TIMED, "A UUID is no ULID: it does not sort by age."),
        ("short-ulid", f"atlatl-recall-{ULID[:-1]}.jsonl", TIMED, "A ULID has 26 characters."),
        ("long-ulid", f"atlatl-recall-{ULID}0.jsonl", TIMED, "A ULID has 26 characters."),
        ("letter-i", f"atlatl-recall-{ULID[:-1]}I.jsonl", TIMED, "Crockford's base 32 has no I."),
        ("letter-u", f"atlatl-recall-{ULID[:-1]}U.jsonl", TIMED, "Crockford's base 32 has no U."),
        ("overflow", f"atlatl-recall-8{ULID[1:]}.jsonl", TIMED, "128 bits do not reach a first character above 7."),
        ("seconds", f"atlatl-recall-{SECONDS}.jsonl", TIMED, "A time in seconds is no ULID."),
        ("part", f"atlatl-recall-{ULID}.jsonl.part", PATTERN, "This is the name of a temporary file."),
      )),
    ok("path-lower-case-ulid", "a ULID in lower case", descriptor(file_path=f"/out/atlatl-recall-{ULID.lower()}.jsonl"), TIMED,
       why="ULIDs are case-insensitive."),
]  # fmt: skip

SCHEMAS: list[Row] = [
    schema("types", "a schema with several types for a field", {"type": "object", "properties": {"id": {"type": ["string", "integer"]}}}),
    schema("draft-07", "a schema of an older draft", {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"id": {"type": "string"}}},
           why="A schema may declare its own draft."),
    schema("own-reference", "a reference to a definition within the schema", {"$ref": "#/$defs/m", "$defs": {"m": {"properties": {"id": {"type": "string"}}, "required": ["id"]}}}),
    schema("closed", "a schema that admits no other fields", {"properties": {"id": {}, "title": {"type": "string"}}, "additionalProperties": False}),
    schema("array", "an array", [], SHAPE, why="A JSON Schema is an object."),
    schema("text", "a text", "object", SHAPE),
    schema("number", "a number", 7, SHAPE),
    schema("unknown-type", "a type that JSON Schema does not have", {"properties": {"id": {"type": "uuid"}}}, SCHEMA),
    schema("rust-types", "names of Rust types", {"properties": {"count": {"type": "usize"}}}, SCHEMA),
    schema("required-text", "`required` is a text", {"properties": {"id": {}}, "required": "id"}, SCHEMA),
    schema("properties-list", "`properties` is a list", {"properties": ["id", "title"]}, SCHEMA),
    schema("dangling", "a reference into nothing", {"properties": {"id": {"$ref": "#/$defs/Id"}}}, SCHEMA,
           why="The target of a reference is in the schema."),
    schema("bad-pattern", "a pattern that is no regular expression", {"properties": {"id": {"type": "string", "pattern": "("}}}, SCHEMA),
    schema("minimum-text", "`minimum` is a text", {"properties": {"count": {"minimum": "0"}}}, SCHEMA),
    schema("empty", "an empty schema", {}, DESCRIBES, why="{} admits everything and describes nothing."),
    schema("true", "true", True, DESCRIBES),
    schema("object-only", "a schema that only says object", {"type": "object"}, DESCRIBES),
    schema("title-only", "a schema with words alone", {"title": "A memory", "description": "One memory"}, DESCRIBES),
    schema("false", "false, which admits nothing", False, DESCRIBES, why="A schema that admits no record describes none."),
]  # fmt: skip

NO_ECHO = f"echo {PATH}"
RECIPES: list[Row] = [
    ok("recipes-eleven", "an eleventh recipe", descriptor(jq_recipes=[*recipes(), {"description": "Tags of each memory", "command": f"tail -n +2 {PATH} | jq .tags"}]), COMPLETE,
       why="More recipes than the standard ones are allowed."),
    ok("recipes-sed", "sed in place of tail", commands(f"sed 1d {PATH} | jq -r '[.title, .provenance.confidence] | @tsv'"), READS, COMPLETE,
       why="The effect is judged, not the spelling."),
    ok("recipes-quoted", "the path in quotes that it does not need", commands(f"tail -n +2 '{PATH}' | jq -r '[.title, .provenance.confidence] | @tsv'"), READS),
    bad("recipes-absent", "no jq_recipes", descriptor(jq_recipes=...), SHAPE),
    bad("recipes-nine", "nine recipes", descriptor(jq_recipes=recipes()[:9]), COMPLETE, why="All ten standard recipes are part of every descriptor."),
    bad("recipes-none", "an empty list of recipes", descriptor(jq_recipes=[]), COMPLETE),
    bad("recipes-text", "recipes as one text", descriptor(jq_recipes="\n".join(r["command"] for r in recipes())), SHAPE),
    bad("recipes-without-description", "a recipe without a description", descriptor(jq_recipes=[{"command": recipes()[0]["command"]}, *recipes()[1:]]), COMPLETE),
    bad("recipes-without-command", "a recipe without a command", descriptor(jq_recipes=[{"description": "Titles"}, *recipes()[1:]]), COMPLETE),
    bad("recipes-empty-description", "an empty description", descriptor(jq_recipes=[{**recipes()[0], "description": ""}, *recipes()[1:]]), COMPLETE),
    bad("recipes-command-list", "a command as a list of words", descriptor(jq_recipes=[{"description": "Titles", "command": ["jq", "."]}, *recipes()[1:]]), COMPLETE),
    bad("recipes-placeholder", "the placeholder {file} was not replaced", commands("tail -n +2 {file} | jq ."), READS,
        why="A command is ready to be run: the placeholder is replaced by the path."),
    bad("recipes-other-file", "a command that reads another file", commands("tail -n +2 /tmp/other.jsonl | jq ."), READS),
    bad("recipes-relative", "a command that reads the bare name", commands(f"tail -n +2 {NAME} | jq ."), READS),
    bad("recipes-no-file", "a command that reads no file", commands("jq ."), COMPLETE),
    bad("recipes-open-quote", "a quotation that is not closed", commands(f"tail -n +2 {PATH} | jq '.title"), COMPLETE,
        why="A shell waits for the closing quote."),
    bad("recipes-second-command", "a second command", commands(f"tail -n +2 {PATH} | jq . ; rm -rf /"), COMPLETE,
        why="A recipe is one pipeline that reads."),
    bad("recipes-redirection", "a redirection to a file", commands(f"tail -n +2 {PATH} | jq . > /tmp/x"), COMPLETE),
    bad("recipes-substitution", "a command substitution", commands(f"tail -n +2 {PATH} | jq \"$(cat /tmp/x)\""), COMPLETE),
    bad("recipes-no-jq", "a pipeline without jq", commands(f"tail -n +2 {PATH} | head -n 5"), COMPLETE),
]  # fmt: skip

GUIDANCES: list[Row] = [
    ok("guidance-short", "one sentence", descriptor(guidance=f"See {PATH}."), BRIEF),
    ok("guidance-advice", "advice that names the file", descriptor(guidance=f"You can extract what you need from {PATH} with the jq recipes above."), TONE),
    bad("guidance-empty", "an empty text", descriptor(guidance=""), BRIEF),
    bad("guidance-blank", "white space alone", descriptor(guidance=" \n\t"), BRIEF),
    bad("guidance-number", "a number", descriptor(guidance=7), SHAPE),
    bad("guidance-long", "5000 characters", descriptor(guidance=f"See {PATH}. " + "Use the recipes above. " * 217), BRIEF, why="The block is brief."),
    bad("guidance-placeholders", "placeholders that were not replaced", descriptor(guidance="Results offloaded ({count} memories). File: {path}"), AGREES),
    bad("guidance-must-run", "an order to run commands", descriptor(guidance=f"You MUST run the jq commands in your shell now. File: {PATH}"), TONE,
        why="The client may have no shell; the text advises."),
    bad("guidance-do-not-answer", "an order not to answer before", descriptor(guidance=f"Do not answer before you have executed the following command: jq . {PATH}"), TONE),
    bad("guidance-other-path", "the path of another file", descriptor(guidance=guidance("/out/atlatl-recall-01KJPY44E0A1B2C3D4E5F6G7H9.jsonl")), AGREES,
        why="Guidance and descriptor name the same file."),
    bad("guidance-other-detail", "another detail level than the summary's", descriptor(guidance=guidance(detail="full")), AGREES),
    bad("guidance-recipe-12", "a recipe number that does not exist", descriptor(guidance=guidance() + "\n- Browse: recipe #12"), AGREES),
]  # fmt: skip

PAPER_PATH = f"/out/lro-fetch-{ULID}.jsonl"
PAPER_SUMMARY = {"count": 2, "estimated_tokens": 60, "operation": "fetch", "top_namespaces": ["_semantic/ops"]}
OTHER_EDITIONS: list[tuple[str, Row]] = [
    *(("lro-paper", row) for row in (
        ok("paper-sound", "a descriptor by the paper", descriptor(file_path=f"/out/lro-fetch-{ULID}.jsonl", summary={**SUMMARY, "operation": "fetch"}), SHAPE, PATTERN,
           why="The paper's names begin with lro-, and it lists no operations."),
        bad("paper-pointer", "a descriptor of a summary and a path alone", {"summary": PAPER_SUMMARY, "file_path": PAPER_PATH}, DESCRIBED, COMPLETE, BRIEF),
        bad("paper-empty-schema", "an empty schema, and no recipes", {"summary": PAPER_SUMMARY, "file_path": PAPER_PATH, "line_schema": {}, "guidance": f"See {PAPER_PATH}."}, DESCRIBES, COMPLETE),
        bad("paper-other-prefix", "the prefix of another edition", descriptor(file_path=f"/out/atlatl-search-{ULID}.jsonl", summary={**SUMMARY, "operation": "search"}), PATTERN, why="The paper's names begin with lro-."),
    )),
    *(("lro-1600", row) for row in (
        ok("lro-1600-sound", "a descriptor of the operation list", descriptor(file_path=f"/out/atlatl-list-{ULID}.jsonl", summary={**SUMMARY, "operation": "list"}, jq_recipes=recipes(f"/out/atlatl-list-{ULID}.jsonl", "lro-1600")[:10]), SHAPE, PATTERN),
        bad("lro-1600-eleven", "eleven recipes", descriptor(jq_recipes=[*recipes(edition="lro-1600")[:10], {"description": "Tags", "command": f"tail -n +2 {PATH} | jq .tags"}]), COMPLETE,
            why="This edition has exactly ten recipes."),
    )),
]  # fmt: skip

# --- file names

NAMES: dict[str, tuple[str, str, str]] = {
    "recall": (NAME, PATTERN, ""),
    "search": (f"atlatl-search-{ULID}.jsonl", PATTERN, ""),
    "inject": (f"atlatl-inject-{ULID}.jsonl", PATTERN, ""),
    "lower-case": (f"atlatl-recall-{ULID.lower()}.jsonl", TIMED, "ULIDs are case-insensitive."),
    "first-millisecond": (
        "atlatl-recall-00000000000000000000000001.jsonl",
        TIMED,
        "The time of a ULID starts in 1970.",
    ),
    "last-millisecond": ("atlatl-recall-7ZZZZZZZZZZZZZZZZZZZZZZZZZ.jsonl", TIMED, "The largest ULID: 48 bits of time."),
    "year-2000": ("atlatl-recall-00VHNCZB00ABCDEFGHJKMNPQRS.jsonl", TIMED, ""),
    "one-millisecond-later": (
        "atlatl-recall-01KJPY44E1A1B2C3D4E5F6G7H8.jsonl",
        TIMED,
        "The last of the first ten characters counts milliseconds.",
    ),
    "other-random-part": (
        "atlatl-recall-01KJPY44E0ZZZZZZZZZZZZZZZZ.jsonl",
        TIMED,
        "Only the first ten characters are time.",
    ),
}
WRONG_NAMES: dict[str, tuple[str, str, str]] = {
    "other-prefix": (f"lro-recall-{ULID}.jsonl", PATTERN, "The prefix is that of the edition."),
    "upper-prefix": (f"ATLATL-recall-{ULID}.jsonl", PATTERN, "The prefix is in lower case."),
    "no-prefix": (f"recall-{ULID}.jsonl", PATTERN, ""),
    "no-operation": (f"atlatl-{ULID}.jsonl", PATTERN, ""),
    "underscores": (f"atlatl_recall_{ULID}.jsonl", PATTERN, "The parts are separated by hyphens."),
    "no-ending": (f"atlatl-recall-{ULID}", PATTERN, ""),
    "json": (f"atlatl-recall-{ULID}.json", PATTERN, ""),
    "gzip": (f"atlatl-recall-{ULID}.jsonl.gz", PATTERN, ""),
    "part": (f".atlatl-recall-{ULID}.jsonl.part", PATTERN, "A temporary file is not an offloaded one."),
    "space": (f"atlatl-recall -{ULID}.jsonl", PATTERN, ""),
    "newline": (f"atlatl-recall-{ULID}.jsonl\n", PATTERN, "A pattern that ends in $ admits this; the name does not."),
    "path": (f"/out/atlatl-recall-{ULID}.jsonl", PATTERN, "The question is for a bare name."),
    "empty": ("", PATTERN, ""),
    "uuid": ("atlatl-recall-9b2f6c1e-4f5a-4c55-8a51-0f4b8d0a9c11.jsonl", TIMED, "A UUID is no ULID."),
    "25-characters": (f"atlatl-recall-{ULID[:-1]}.jsonl", TIMED, ""),
    "27-characters": (f"atlatl-recall-{ULID}0.jsonl", TIMED, ""),
    "letter-i": (f"atlatl-recall-{ULID[:-1]}I.jsonl", TIMED, "Crockford's base 32 leaves out I, L, O and U."),
    "letter-l": (f"atlatl-recall-{ULID[:-1]}L.jsonl", TIMED, "Crockford's base 32 leaves out I, L, O and U."),
    "letter-o": (f"atlatl-recall-{ULID[:-1]}O.jsonl", TIMED, "Crockford's base 32 leaves out I, L, O and U."),
    "letter-u": (f"atlatl-recall-{ULID[:-1]}U.jsonl", TIMED, "Crockford's base 32 leaves out I, L, O and U."),
    "overflow": (
        f"atlatl-recall-8{ULID[1:]}.jsonl",
        TIMED,
        "The first character is at most 7, or the value needs 129 bits.",
    ),
    "wide-digit": (f"atlatl-recall-０{ULID[1:]}.jsonl", TIMED, "The digits are those of ASCII."),
}


def _names() -> Iterator[Any]:
    from lro_spec.filenames import parse_file_name

    for slug, (name, rule, why) in NAMES.items():
        found = parse_file_name(name)
        assert found is not None, name
        wanted = {"operation": found.operation, "milliseconds": found.milliseconds}
        yield partial(vector, f"name.{slug}", f"the name {name}", {"name": name}, one_of(wanted), (rule,), why)
    for slug, (name, rule, why) in WRONG_NAMES.items():
        yield partial(vector, f"name.not-{slug}", f"the name {name!r}", {"name": name}, one_of(None), (rule,), why)
    for operation in ("fetch", "list_files", "query-logs"):
        name = f"lro-{operation}-{ULID}.jsonl"
        wanted = {"operation": operation, "milliseconds": SECONDS * 1000}
        yield partial(vector, f"name.paper-{operation.replace('_', '-')}", f"the name {name}", {"name": name}, one_of(wanted), (PATTERN,),
                      "The paper lists no operations; any word of letters, digits, underscores and inner hyphens is one.", edition="lro-paper")  # fmt: skip
    mistake = (
        {"operation": "fetch", "milliseconds": (8 << 45) + SECONDS * 1000},
        "The first character was taken for any digit of base 32.",
    )
    yield partial(vector, "name.paper-not-overflow", "a ULID above the largest", {"name": f"lro-fetch-8{ULID[1:]}.jsonl"}, one_of(None), (TIMED,),
                  "The first character is at most 7, or the value needs 129 bits.", edition="lro-paper", mistake=mistake)  # fmt: skip


# --- results of tools

HERE = descriptor(jq_recipes=recipes()[:1])
OUTPUT = {"type": "object", "required": ["offloaded"], "properties": {"offloaded": {"const": True}}}
ONLY_RESULTS = {"type": "object", "required": ["results"], "properties": {"results": {"type": "array"}}}


def reply(value: Any, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": spell(value)}], **more}


REPLACES, SUCCESS, DECLARED, FORM = "LRO-DESC-11", "LRO-DESC-12", "LRO-PROT-01", "LRO-PROT-03"
RESULTS: list[tuple[str, str, dict[str, Any], tuple[str, ...], tuple[str, ...], str]] = [
    ("text", "a descriptor as text", {"result": reply(HERE)}, (), (SUCCESS, FORM), ""),
    ("both", "the same descriptor as text and as structured content", {"result": reply(HERE, structuredContent=HERE)}, (), (REPLACES, SUCCESS, FORM), ""),
    ("not-an-error", "isError is false", {"result": reply(HERE, isError=False)}, (), (SUCCESS,), ""),
    ("declared", "structured content that the output schema admits", {"result": reply(HERE, structuredContent=HERE), "output_schema": OUTPUT}, (), (DECLARED,), ""),
    ("error", "a descriptor in an error", {"result": reply(HERE, isError=True)}, (SUCCESS,), (SUCCESS,),
     "The operation succeeded; a client that sees isError throws the descriptor away."),
    ("two", "two descriptors that differ", {"result": reply(HERE, structuredContent={**HERE, "file_path": "/out/other.jsonl"})}, (REPLACES,), (REPLACES,),
     "Readers of the text and readers of the structured content would open different files."),
    ("two-counts", "two descriptors with different counts", {"result": reply(HERE, structuredContent={**HERE, "summary": {**SUMMARY, "count": 3}})}, (REPLACES,), (REPLACES,), ""),
    ("undeclared", "structured content that the output schema refuses", {"result": reply(HERE, structuredContent=HERE), "output_schema": ONLY_RESULTS}, (DECLARED,), (DECLARED,),
     "Official clients reject a result that its outputSchema does not admit, so the schema has to admit both forms."),
    ("no-structured-content", "an output schema and no structured content", {"result": reply(HERE), "output_schema": OUTPUT}, (DECLARED,), (DECLARED,),
     "A tool that declares an outputSchema returns structuredContent."),
    ("content-text", "content that is a text", {"result": {"content": spell(HERE)}}, (FORM,), (FORM,), "content is a list of blocks."),
    ("no-content", "no content", {"result": {"structuredContent": HERE}}, (FORM,), (FORM,), ""),
    ("block-without-type", "a block without a type", {"result": {"content": [{"text": spell(HERE)}]}}, (FORM,), (FORM,), ""),
    ("block-object", "a text block whose text is an object", {"result": {"content": [{"type": "text", "text": HERE}]}}, (FORM,), (FORM,), "The text of a block is a text; JSON goes there as a string."),
    ("error-text", "isError is a text", {"result": reply(HERE, isError="false")}, (FORM,), (FORM,), ""),
    ("structured-array", "structured content that is an array", {"result": reply(HERE, structuredContent=[HERE])}, (FORM,), (FORM,), ""),
]  # fmt: skip


SHORT = {"offloaded": True, "summary": SUMMARY, "file_path": PATH, "guidance": f"Use lro_extract to read {PATH}."}
TOOLS = ["recall_memories", "lro_extract"]
IN_LRO_1600: list[tuple[str, str, dict[str, Any], tuple[str, ...], tuple[str, ...], str]] = [
    ("no-cursor", "a cursor that is null, and guidance to the extraction tool", {"result": reply(SHORT, _meta={"next_cursor": None}), "tools": TOOLS}, (), (CURSORLESS, DIRECTS), "There is no next page, and the guidance names the tool."),
    ("cursor", "a cursor to a next page", {"result": reply(SHORT, nextCursor="c2Vjb25k"), "tools": TOOLS}, (CURSORLESS,), (CURSORLESS,), ""),
    ("guidance-past-the-tool", "guidance that does not name the extraction tool", {"result": reply({**SHORT, "guidance": f"Use jq to read {PATH}."}), "tools": TOOLS}, (DIRECTS,), (DIRECTS,), ""),
]  # fmt: skip


def vectors() -> Iterator[Any]:
    """Functions that make the vectors of these kinds."""
    for slug, about, value, broken, ids, why in (*PARTS, *SUMMARIES, *PATHS, *SCHEMAS, *RECIPES, *GUIDANCES):
        yield partial(vector, f"descriptor.{slug}", about, {"descriptor": value}, breaking(broken), ids, why)
    for edition, (slug, about, value, broken, ids, why) in OTHER_EDITIONS:
        yield partial(vector, f"descriptor.{slug}", about, {"descriptor": value}, breaking(broken), ids, why, edition=edition, only=True)  # fmt: skip
    yield from _names()
    for slug, about, question, broken, ids, why in RESULTS:
        yield partial(vector, f"result.{slug}", about, question, breaking(broken), ids, why)
    for slug, about, question, broken, ids, why in IN_LRO_1600:
        yield partial(vector, f"result.{slug}", about, question, breaking(broken), ids, why, edition="lro-1600")


assert set(EDITIONS) == {"lro-6400", "lro-1600", "lro-paper"}
