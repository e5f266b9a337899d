"""Tools that read offloaded files, results that a proxy turns into records, and writers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from lro_spec.editions import edition as edition_named
from lro_spec.filenames import file_name
from lro_spec.tokens import script_aware_estimate
from tests.tools.vectors.build import NAME, PATH, TIMESTAMP, ULID, A, B, having, head, one_of, spell, text, vector

# --- extract

OTHER = PATH.replace("recall", "search")
C = {**A, "id": "m-3", "title": "KEYS of the café", "namespace": "project/a", "memory_type": "episodic"}
FILES = {PATH: text(head(count=3), A, B, C), OTHER: text(head(operation="search", count=1), {**B, "id": "m-9"})}
REFUSED = one_of(True, at="/refused")
E = "LRO-EXTRACT-"


def extract(slug: str, about: str, tool: str, given: dict[str, Any], expect: list[dict[str, Any]], ids: tuple[str, ...], why: str = "", files: dict[str, str] | None = None) -> Any:  # fmt: skip
    question = {"tool": tool, "arguments": given, "output_dir": "/out", "files": FILES if files is None else files}
    mistake = (
        ({"values": [A]}, "It was answered instead of refused.")
        if expect == REFUSED
        else ({"refused": True}, "It was refused.")
    )
    return partial(vector, f"extract.{slug}", about, question, expect, ids, why, edition="lro-1600", mistake=mistake)


def _extracts() -> Iterator[Any]:
    def query(
        slug: str,
        about: str,
        program: str,
        values: list[Any] | None,
        ids: tuple[str, ...],
        why: str = "",
        path: str = PATH,
    ) -> Any:
        expect = REFUSED if values is None else one_of({"values": values})
        return extract(slug, about, "lro_extract", {"file_path": path, "query": program}, expect, ids, why)

    def recipe(number: int, values: list[Any], **params: str) -> Any:
        given: dict[str, Any] = {"file_path": PATH, "recipe": number, **({"params": params} if params else {})}
        slug = f"recipe-{number}" + ("-" + "-".join(params) if params else "")
        about = f"recipe {number}" + (f" with {json.dumps(params, ensure_ascii=False)}" if params else "")
        return extract(
            slug,
            about,
            "lro_extract",
            given,
            one_of({"values": values}),
            (f"{E}10",),
            "A number stands for the recipe of the descriptor.",
        )

    yield query(
        "titles",
        "the title of each record",
        ".title",
        [A["title"], B["title"], C["title"]],
        (f"{E}01",),
        "The header is no record.",
    )
    yield query("other-file", "the file that is named, not the other one", ".id", ["m-9"], (f"{E}01",), path=OTHER)
    yield query("nothing", "a query without output", "empty", [], (f"{E}01",))
    yield query("whole", "the records as they are", ".", [A, B, C], (f"{E}01",))
    yield recipe(1, [f"{r['title']}\t{r['namespace']}" for r in (A, B, C)])
    yield recipe(2, [A, B])
    yield recipe(3, [])
    yield recipe(4, [{k: r[k] for k in ("id", "title", "namespace")} for r in (A, B, C)])
    yield recipe(5, [A, B])
    yield recipe(2, [C], namespace="project/")
    yield recipe(3, [A, C], keyword="keys")
    yield recipe(5, [C], type="episodic")
    for slug, word in (
        ("quotation-mark", 'a"b'),
        ("end-of-text", '") or true or ("'),
        ("interpolation", "\\(env)"),
        ("pipe", "x | env"),
    ):
        given = {"file_path": PATH, "recipe": 2, "params": {"namespace": word}}
        yield extract(f"parameter-{slug}", f"the parameter {word}", "lro_extract", given, one_of({"values": []}), (f"{E}06",),
                      "A parameter is a value: no namespace begins with it, and no program runs.")  # fmt: skip
    for slug, path in (
        ("parent", f"/out/../out2/{NAME}"), ("dots", f"/out/../etc/{NAME}"), ("passwd", "/etc/passwd"), ("sibling", f"/out_evil/{NAME}"),
        ("nul", f"{PATH}\0"), ("relative-parent", "../etc/passwd"), ("directory", "/out"), ("root", "/"),
    ):  # fmt: skip
        yield extract(f"path-{slug}", f"the path {path!r}", "lro_extract", {"file_path": path, "query": "."}, REFUSED, (f"{E}02", f"{E}04"),
                      "No path leads out of the directory of offloaded results.")  # fmt: skip
    for slug, path in (
        ("unknown", PATH.replace("G7H8", "G7H9")),
        ("deleted", "/out/atlatl-recall-00000000000000000000000001.jsonl"),
        ("empty", ""),
    ):
        yield extract(
            f"file-{slug}",
            f"the file {path!r}",
            "lro_extract",
            {"file_path": path, "query": "."},
            REFUSED,
            (f"{E}04",),
            "A file that is not there is an error with a message.",
        )
    both = {"file_path": PATH, "recipe": 1, "query": "."}
    yield extract("recipe-and-query", "a recipe and a query", "lro_extract", both, REFUSED, (f"{E}11",))
    yield extract("neither", "neither a recipe nor a query", "lro_extract", {"file_path": PATH}, REFUSED, (f"{E}11",))
    yield extract(
        "recipe-11",
        "a recipe that does not exist",
        "lro_extract",
        {"file_path": PATH, "recipe": 11},
        REFUSED,
        (f"{E}10", f"{E}04"),
    )
    yield query("bad-program", "a program that does not compile", ".title |", None, (f"{E}04",))
    for slug, program in (("module", 'import "a" as a; .'), ("include", 'include "a"; .')):
        yield query(
            f"reads-{slug}",
            f"the query {program}",
            program,
            None,
            (f"{E}05",),
            "A query reads its input and nothing else.",
        )
    lines = {"/out/notes.jsonl": "alpha\nBeta\ngamma alpha\né🧭z\nALPHA\n"}
    whole = lines["/out/notes.jsonl"]
    for start, end in (
        (0, 5),
        (5, 11),
        (0, len(whole)),
        (23, 26),
        (24, 25),
        (3, 3),
        (len(whole), len(whole) + 9),
        (0, 10_000),
    ):
        given = {"filename": "/out/notes.jsonl", "start": start, "end": end}
        yield extract(f"range-{start}-{end}", f"the characters {start} to {end}", "read_large_output", given, one_of({"text": whole[start:end]}), (f"{E}22", f"{E}12"),
                      "Characters are counted from 0, the end is excluded, and an end beyond the file means its end.", lines)  # fmt: skip
    for start, end in ((5, 3), (len(whole) + 1, len(whole) + 2)):
        given = {"filename": "/out/notes.jsonl", "start": start, "end": end}
        yield extract(
            f"range-{start}-{end}",
            f"the characters {start} to {end}",
            "read_large_output",
            given,
            REFUSED,
            (f"{E}04",),
            "There is no such range.",
            lines,
        )
    for slug, more, found, ids in (
        ("default", {}, [1, 3, 5], (f"{E}13",)), ("sensitive", {"case_sensitive": True}, [1, 3], (f"{E}23",)),
        ("insensitive", {"case_sensitive": False}, [1, 3, 5], (f"{E}23",)), ("one", {"max_results": 1}, [1], (f"{E}26",)),
        ("two", {"max_results": 2}, [1, 3], (f"{E}26",)), ("many", {"max_results": 50}, [1, 3, 5], (f"{E}26",)),
    ):  # fmt: skip
        given = {"filename": "/out/notes.jsonl", "pattern": "alpha", **more}
        yield extract(
            f"search-{slug}",
            f"lines with alpha {more or ''}".strip(),
            "search_large_output",
            given,
            one_of({"lines": found}),
            ids,
            files=lines,
        )
    for slug, program, more, found, why in (
        ("raw", ".[]", {"raw": True}, ["one", "two words"], "Raw texts come without quotation marks."),
        ("quoted", ".[]", {"raw": False}, ['"one"', '"two words"'], "A result is JSON unless raw is true."),
        ("compact", "{a: .[0]}", {"compact": True}, ['{"a":"one"}'], "A compact result is one line."),
        (
            "compact-raw",
            ".[1], .",
            {"compact": True, "raw": True},
            ["two words", '["one","two words"]'],
            "Raw concerns texts alone.",
        ),
    ):
        given = {"filename": "/out/list.json", "query": program, **more}
        yield extract(f"query-{slug}", f"the query {program} with {json.dumps(more)}", "query_large_output", given, one_of({"lines": found}), (f"{E}27",), why, {"/out/list.json": '["one","two words"]'})  # fmt: skip
    given = {"filename": "/out/notes.jsonl", "pattern": "delta"}
    yield extract(
        "search-nothing",
        "lines with a word that is not there",
        "search_large_output",
        given,
        one_of({"lines": []}),
        (f"{E}01",),
        "Nothing found is no error.",
        lines,
    )
    given = {"filename": "/out/notes.jsonl", "pattern": "^[bB]eta$", "case_sensitive": True}
    yield extract(
        "search-pattern",
        "a regular expression",
        "search_large_output",
        given,
        one_of({"lines": [2]}),
        (f"{E}23",),
        files=lines,
    )


# --- mapping

P = "LRO-PROXY-"
ROWS = [{"name": "a.txt", "size": 12}, {"name": "b.txt", "size": 7}, {"name": "c/d.txt", "size": 0}]
IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
CSV = "name,size\na.txt,12\nb.txt,7\nc/d.txt,0\n"


def block(value: Any) -> dict[str, Any]:
    return {"type": "text", "text": value if isinstance(value, str) else spell(value)}


def mapping(
    slug: str,
    about: str,
    result: dict[str, Any],
    expect: list[dict[str, Any]],
    ids: tuple[str, ...],
    why: str = "",
    *,
    exceeds: bool = True,
) -> Any:
    question = {"tool": "list_files", "result": result, "exceeds": exceeds}
    wrong = (
        {"outcome": "inline", "result": result}
        if exceeds and not result.get("isError")
        else {"outcome": "offloaded", "records": []}
    )
    if any(rule["at"] == "/records" for rule in expect):
        wrong = {"outcome": "offloaded", "records": [*ROWS, *ROWS], "kept": []}
    mistake = wrong, "The payload was stored twice." if "kept" in wrong else "It was decided the other way."
    return partial(vector, f"mapping.{slug}", about, question, expect, ids, why, mistake=mistake)


OFFLOADED, INLINE = one_of("offloaded", at="/outcome"), one_of("inline", at="/outcome")


def _mappings() -> Iterator[Any]:
    given = (f"{P}03", f"{P}04", f"{P}07")
    of_rows = OFFLOADED + one_of(ROWS, at="/records")
    yield mapping(
        "array", "an array of objects as text", {"content": [block(ROWS)]}, of_rows, given, "Each object is a record."
    )
    yield mapping(
        "array-indented",
        "an indented array",
        {"content": [block(json.dumps(ROWS, indent=2))]},
        of_rows,
        given,
        "The layout of the text is not part of the records.",
    )
    yield mapping(
        "structured",
        "an object with one large array, as structured content alone",
        {"content": [], "structuredContent": {"files": ROWS}},
        of_rows,
        given,
    )
    yield mapping("both", "the same array as text and as structured content", {"content": [block({"files": ROWS})], "structuredContent": {"files": ROWS}}, of_rows, given,
                  "What is sent twice is one payload, and is stored once.")  # fmt: skip
    yield mapping(
        "member",
        "an object with one large array",
        {"content": [block({"files": ROWS, "total": 3})]},
        of_rows,
        given,
        "The array is the records; the rest is kept beside them.",
    )
    yield mapping(
        "json-lines",
        "JSON lines",
        {"content": [block("\n".join(map(spell, ROWS)))]},
        of_rows,
        given,
        "A text of JSON lines is records already.",
    )
    for slug, result, pieces in (
        ("text", {"content": [block("first line\nsecond line\n\nfourth line")]}, ["first line", "second line", "fourth line"]),
        ("one-line", {"content": [block("a single line without an end")]}, ["a single line without an end"]),
        ("table", {"content": [block(CSV)]}, ["a.txt", "b.txt", "c/d.txt", "12"]),
        ("blocks", {"content": [block("the first block"), block("the second block")]}, ["the first block", "the second block"]),
        ("object", {"content": [block({"title": "one object", "body": "its body"})]}, ["one object", "its body"]),
        ("numbers", {"content": [block([3.25, 17, 99])]}, ["3.25", "17", "99"]),
        ("texts", {"content": [block(["alpha", "beta"])]}, ["alpha", "beta"]),
        ("uneven", {"content": [block([{"a": 1}, {"b": "two"}, "three"])]}, ["two", "three"]),
        ("different", {"content": [block("words for a reader")], "structuredContent": {"rows": ["for a program"]}}, ["words for a reader", "for a program"]),
        ("big-integer", {"content": [block('[{"n":12345678901234567890}]')]}, ["12345678901234567890"]),
        ("decimal", {"content": [block('[{"n":1.10}]')]}, ["1.1"]),
        ("nested", {"content": [block({"page": {"items": ROWS, "next": "token-7"}})]}, ["a.txt", "b.txt", "c/d.txt"]),
        ("empty-lines", {"content": [block("top\n\n\nbottom")]}, ["top", "bottom"]),
        ("code", {"content": [block("def f(x):\n    return x + 1\n")]}, ["def f(x):", "    return x + 1"]),
    ):  # fmt: skip
        yield mapping(slug, f"{slug.replace('-', ' ')}: {json.dumps(result, ensure_ascii=False)[:60]}…", result, OFFLOADED + [rule for p in pieces for rule in having(p, at="/file")], (f"{P}04", f"{P}03"),
                      "However a proxy cuts it into records, every part of the payload is in the file.")  # fmt: skip
    yield mapping(
        "image-stays",
        "a text and an image",
        {"content": [block(ROWS), IMAGE]},
        of_rows + one_of([IMAGE], at="/kept"),
        (f"{P}09", f"{P}04"),
        "What is not text stays in the answer.",
    )
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    yield mapping(
        "link-stays",
        "a text and a link to a resource",
        {"content": [link, block(ROWS)]},
        of_rows + one_of([link], at="/kept"),
        (f"{P}09", f"{P}04"),
    )
    for slug, result in (
        ("error", {"content": [block(ROWS)], "isError": True}),
        ("error-structured", {"content": [block("it failed")], "structuredContent": {"code": 7}, "isError": True}),
    ):
        yield mapping(
            f"{slug}-stays",
            "an error above the threshold",
            result,
            INLINE + one_of(result, at="/result"),
            (f"{P}10",),
            "Errors are never offloaded.",
        )
    for slug, result in (
        ("text", {"content": [block("ok")]}), ("object", {"content": [block({"a": 1})], "structuredContent": {"a": 1}}),
        ("unknown-member", {"content": [block("ok")], "_meta": {"x": 1}, "vendor": [1]}), ("image", {"content": [IMAGE]}), ("empty", {"content": []}),
    ):  # fmt: skip
        yield mapping(f"small-{slug}", f"a small result: {slug.replace('-', ' ')}", result, INLINE + one_of(result, at="/result"), (f"{P}01",),
                      "At or below the threshold every member arrives as it was sent.", exceeds=False)  # fmt: skip


# --- write


def full(n: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"m-{n}", "title": f"Memory {n}", "namespace": "_semantic/ops", "memory_type": "semantic", "tags": ["ops"],
        "content": f"The content of memory {n}, with a pattern.", "created": f"2026-01-{n:02}T00:00:00Z", "modified": f"2026-01-{n:02}T00:00:00Z",
        "entities": [{"name": "vault"}] if n % 2 else [], "provenance": {"confidence": n / 16}, **more,
    }  # fmt: skip


def light(n: int, **more: Any) -> dict[str, Any]:
    return {k: v for k, v in {**full(n), **more}.items() if k not in ("content", "entities", "modified")}


ALL_OF_IT = (
    "LRO-FILE-09", "LRO-FILE-10", "LRO-FILE-01", "LRO-FILE-02", "LRO-FILE-03", "LRO-FILE-06", "LRO-FILE-07", "LRO-FILE-13",
    "LRO-NAME-02", "LRO-NAME-03", "LRO-DESC-01", "LRO-DESC-03", "LRO-DESC-09", "LRO-REC-13", "LRO-GUI-01",
)  # fmt: skip


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "one-record": (
        {"/header/estimated_tokens": 97},
        "The estimate is that of the file with its header, not the one that decided.",
    ),
    "default-recall": (
        {"/header/detail": "medium", "/descriptor/summary/detail": "medium"},
        "The default of an injection was taken.",
    ),
    "default-inject": (
        {"/header/detail": "light", "/descriptor/summary/detail": "light"},
        "The default of a recall was taken.",
    ),
    "query-with-quotes": ({"/header/query": 'say \\"keys\\"\\n\\\\ 🧭'}, "The query was escaped twice."),
    "title-line-feed": (
        {"/records": [light(1, title="two lines"), light(2)]},
        "The line feed was replaced by a space.",
    ),
    "folder-plain": ({"/descriptor/file_path": f"/tmp/atlatl-recall-{ULID}.jsonl"}, "The setting was ignored."),
    "folder-deep": (
        {"/descriptor/file_path": f"/srv/lro/a/b/c/recall/atlatl-recall-{ULID}.jsonl"},
        "The file is in a folder below the output directory.",
    ),
    "paper": (
        {"/descriptor/file_path": f"/tmp/lro-recall-{ULID}.jsonl", "/header/estimated_tokens": 1},
        "The setting was ignored, and the estimate is that of something else.",
    ),
}
"""By vector, the places of an answer that is wrong with the wrong values, and the mistake behind it."""


def write(
    slug: str,
    about: str,
    call: dict[str, Any],
    records: list[dict[str, Any]],
    ids: tuple[str, ...],
    why: str = "",
    folder: str = "/out",
    edition: str = "lro-6400",
) -> Any:
    facts = edition_named(edition)
    operation = call["operation"]
    detail = call.get("detail") or {"recall": "light", "inject": "medium"}[operation]
    tokens = script_aware_estimate("".join(map(spell, records)))
    question = {
        "call": call, "records": records, "output_dir": folder, "ulid": ULID, "timestamp": TIMESTAMP, "estimated_tokens": tokens,
    }  # fmt: skip
    header = {
        "operation": operation,
        "count": len(records),
        "estimated_tokens": tokens,
        "detail": detail,
        "timestamp": TIMESTAMP,
    }
    if facts.marked_header:
        header = {"type": "lro_header", **header, **({"query": call["query"]} if "query" in call else {})}
    tally = Counter(r["namespace"] for r in records).most_common()
    summary: dict[str, Any] = {"count": len(records), "operation": operation, "detail": detail}
    if len({n for _, n in tally}) == len(tally) <= 5:  # no ties
        summary["top_namespaces"] = [name for name, _ in tally]
    summary = {name: value for name, value in summary.items() if name in facts.summary_fields}
    path = f"{folder}/{file_name(operation, edition=edition, ulid=ULID)}"
    marked = {"/descriptor/offloaded": True} if "offloaded" in facts.descriptor_fields else {}
    written: dict[str, Any] = {**marked, "/descriptor/file_path": path, "/records": records}
    written |= {f"/descriptor/summary/{name}": value for name, value in summary.items()}
    written |= {f"/header/{name}": value for name, value in header.items()}
    expect = [rule for place, value in written.items() for rule in one_of(value, at=place)]
    mistake = None
    if slug in MISTAKES:
        wrong, reason = MISTAKES[slug]
        mistake = (_nested({**written, **wrong}), reason)
    return partial(vector, f"write.{slug}", about, question, expect, ids, why or "The file holds every record unchanged, and header and descriptor say what is in it.", edition=edition, mistake=mistake)  # fmt: skip


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """The object that has these values at these places."""
    whole: dict[str, Any] = {}
    for place, value in values.items():
        *folders, name = place.split("/")[1:]
        inner = whole
        for folder in folders:
            inner = inner.setdefault(folder, {})
        inner[name] = value
    return whole


def _writes() -> Iterator[Any]:
    yield write(
        "recall",
        "a recall of three memories",
        {"operation": "recall", "query": "keys", "detail": "light"},
        [light(n) for n in (1, 2, 3)],
        ALL_OF_IT,
    )
    yield write(
        "one-record", "one memory", {"operation": "recall", "query": "keys", "detail": "light"}, [light(1)], ALL_OF_IT
    )
    yield write(
        "search-full",
        "a search at full detail",
        {"operation": "search", "query": "memory", "detail": "full"},
        [full(n, score=n / 8) for n in (3, 2, 1)],
        ("LRO-FILE-04", "LRO-DESC-05", "LRO-DESC-07", "LRO-DESC-08", "LRO-FILE-08", *ALL_OF_IT[:2]),
    )
    yield write(
        "default-recall",
        "a recall without a detail level",
        {"operation": "recall", "query": "keys"},
        [light(n) for n in (1, 2)],
        ("LRO-DET-02", "LRO-FILE-08"),
        "A recall without a detail level is light.",
    )
    yield write(
        "default-inject",
        "an injection without a detail level",
        {"operation": "inject", "query": "keys"},
        [{k: v for k, v in full(n).items() if k != "modified"} for n in (1, 2)],
        ("LRO-DET-03", "LRO-FILE-08"),
        "An injection without a detail level is medium.",
    )
    yield write(
        "recall-full",
        "a recall at full detail",
        {"operation": "recall", "query": "*", "detail": "full"},
        [full(n) for n in (1, 2)],
        ("LRO-DET-01", "LRO-DET-02", "LRO-FILE-08"),
        "The level that was asked for decides, not the default.",
    )
    yield write(
        "inject-light",
        "an injection at light detail",
        {"operation": "inject", "query": "*", "detail": "light"},
        [light(n) for n in (1, 2)],
        ("LRO-DET-01", "LRO-DET-03", "LRO-FILE-04"),
        "The level that was asked for decides, not the default.",
    )
    yield write(
        "query-with-quotes",
        "a query that JSON escapes",
        {"operation": "recall", "query": 'say "keys"\n\\ 🧭', "detail": "light"},
        [light(1)],
        ("LRO-FILE-05",),
        "The header repeats the query as it was.",
    )
    yield write(
        "query-plain",
        "a query of two words",
        {"operation": "recall", "query": "rotate keys", "detail": "light"},
        [light(1), light(2)],
        ("LRO-FILE-05",),
        "The header repeats the query as it was.",
    )
    for slug, title in (
        ("line-feed", "two\nlines"), ("separators", "one\u2028two\u2029three\u0085four"), ("controls", "\u0000\u001f\u007f"), ("quotes", "\"it's\" \\ /"),
        ("wide", "決定：設定 ключ"), ("emoji", "🧭👩‍👩‍👧"), ("combining", "e\u0301 is not é"), ("empty", ""), ("html", "<b>&amp;</b>"),
    ):  # fmt: skip
        yield write(f"title-{slug}", f"the title {title!r}", {"operation": "recall", "query": "*", "detail": "light"}, [light(1, title=title), light(2)], ("LRO-FILE-10", "LRO-FILE-01"),
                    "Values arrive untouched, and each record is one line.")  # fmt: skip
    extra: dict[str, Any] = {
        "extensions": {"x-ratio": 0.125, "x-none": None, "x-list": [1, [2, {"a": []}]], "x-int": 9007199254740991}
    }
    yield write(
        "nested-values",
        "nested values, null and large numbers",
        {"operation": "recall", "query": "*", "detail": "full"},
        [full(1, **extra), full(2)],
        ("LRO-FILE-10",),
        "Values arrive untouched, unknown fields and null included.",
    )
    yield write(
        "number-id",
        "ids that are numbers",
        {"operation": "recall", "query": "*", "detail": "light"},
        [light(1, id=1), light(2, id=2)],
        ("LRO-FILE-10",),
        "Values keep their types.",
    )
    spaces = ["a"] * 6 + ["b"] * 5 + ["c"] * 4 + ["d"] * 3 + ["e"] * 2 + ["f"]
    yield write(
        "six-namespaces",
        "six namespaces",
        {"operation": "recall", "query": "*", "detail": "light"},
        [light(1, id=f"m-{n}", namespace=name) for n, name in enumerate(spaces)],
        ("LRO-DESC-06", "LRO-FILE-06"),
        "The summary has the five most frequent namespaces.",
    )
    yield write(
        "three-namespaces",
        "three namespaces, the most frequent one last",
        {"operation": "recall", "query": "*", "detail": "light"},
        [light(1, id=f"m-{n}", namespace=name) for n, name in enumerate("abbccc")],
        ("LRO-DESC-06",),
        "The most frequent namespace comes first.",
    )
    yield write(
        "many",
        "thirty memories",
        {"operation": "recall", "query": "*", "detail": "light"},
        [light(1, id=f"m-{n}") for n in range(30)],
        ("LRO-FILE-06", "LRO-DESC-03", "LRO-FILE-09"),
        "Every memory is in the file, once.",
    )
    for slug, folder in (
        ("plain", "/srv/lro"),
        ("deep", "/srv/lro/a/b/c"),
        ("space", "/srv/my files"),
        ("apostrophe", "/srv/it's"),
        ("quotation-mark", '/srv/a"b'),
        ("semicolon", "/srv/a;b"),
        ("dollar", "/srv/$HOME"),
        ("backslash", "/srv/a\\b"),
        ("wide", "/srv/出力"),
    ):
        ids = (
            ("LRO-NAME-01", "LRO-CFG-04") if slug in ("plain", "deep") else ("LRO-HARD-03", "LRO-REC-11", "LRO-NAME-01")
        )
        yield write(f"folder-{slug}", f"the output directory {folder}", {"operation": "recall", "query": "*", "detail": "light"}, [light(1), light(2)], ids,
                    "The file is directly in the output directory, and the recipes read it whatever its name is.", folder)  # fmt: skip

    ids = ("LRO-NAME-01", "LRO-CFG-04", "LRO-FILE-13", *(f"LRO-FILE-{n}" for n in ("04", "08", "09", "10")), *(f"LRO-DESC-{n}" for n in ("03", "05", "06")))  # fmt: skip
    yield write(
        "paper", "a recall of one memory by the paper", {"operation": "recall", "detail": "light"}, [{n: v for n, v in light(1).items() if n != "created"}], ids,
        "The paper has other names of files, and no mark in header and descriptor.", "/srv/lro", "lro-paper",
    )  # fmt: skip


def vectors() -> Iterator[Any]:
    """Functions that make the vectors of these kinds."""
    yield from _extracts()
    yield from _mappings()
    yield from _writes()
