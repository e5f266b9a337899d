"""Forms of text: each is recognised, rebuilt to the byte whatever the text, and left alone when in doubt."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from lro_proxy.payload import forms
from lro_proxy.payload.forms import FORMS, python
from lro_proxy.payload.forms.form import PayloadRecords
from lro_proxy.payload.forms.tables import SEPARATED
from lro_proxy.payload.records import payload_records
from lro_proxy.payload.result import result_of_program
from tests.support.rebuilding import payload

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=20)
WORDS = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=12)
NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,5})(\.[0-9]{1,4})?", fullmatch=True)
LINES = st.one_of(
    TEXTS,
    st.sampled_from(
        [
            *("", " ", "\r", "---", "--- a/x.py", "+++ b/x.py", "+++ /dev/null", "diff --git a/x b/x", "commit abc"),
            *("@@ -1,2 +1,3 @@ def x", "@@ -0,0 +1 @@", "@@ -3 +4,0 @@", "+added", "-gone", " same", "\\ No newline"),
            *("a/b.py:3:x = 1", "a/b.py:3:7: error: no", "C:\\a.c:12:y", "a/b.py:0:x", "a.py:12", "http://x.y:80/z"),
            *("2026-03-01 10:00:01,5 INFO up", "2026-03-01 10:00:01,5 INFO  up", "2026-03-01T10:00:01Z gone"),
            *(
                "[2026-03-01 10:00:01] [ERROR] x: y",
                "2026-03-01 10:00:01 - app.x - WARNING - no",
                "Traceback:",
                "  at x",
            ),
            *("id,name,city", "1,a,b", '2,"a, ""b""",c', "3,,", "id\tname", "1\t2", "| a | b |", "|---|:-:|", "|---|"),
            *("| 1 | x\\|y |", "|1|2|", "| 1  | 2  |", "<table>", "<tr><th>a</th><th>b</th></tr>", "</table>"),
            *(
                "<tr><td>1</td><td>x &amp; y</td></tr>",
                "<tr><td>&</td><td></td></tr>",
                "# One",
                "## Two ##",
                "```",
                "~~~",
            ),
            *(
                "<item id=\"1\" n='x'>",
                "</item>",
                '<item id="2"/>',
                "text </item> <item>",
                "def f(x):",
                "class A:",
                "@dec",
            ),
            *(
                "    return 1",
                "type X {",
                "  id: ID",
                "}",
                "import os",
                "fn main() {",
                "const X = 1;",
                "x = '''",
                "'''",
            ),
            *("Commit: a", "Author: b: c", "Message:", "Message: x"),
            *("src/a.py", "12:x = 1", "13:y", "13-y"),
            *("- id: 1", "  name: a", "- id: 0x1F", "- a: &b 1", "  c: *b", "  - x: yes", "items:", "  - {x: 1}", "-"),
            *('- row "x" [ref=e1]:', '  - cell "a \\"b\\"" [ref=e2]', "  - cell [active] [ref=e3]: text", "- /url: /x"),
        ]
    ),
)


def loaded(line: bytes) -> Any:
    """A record with every number by its digits."""
    return json.loads(line, parse_int=str, parse_float=str)


def rebuilt(name: str, found: PayloadRecords) -> str:
    form = next(form for form in FORMS if form.name == name)
    return "".join(form.rebuild(found.extra, map(loaded, found.lines)))


@hypothesis_settings(max_examples=300, deadline=None)
@given(
    lines=st.lists(LINES, min_size=1, max_size=14) | st.lists(LINES, min_size=2, max_size=4).map(lambda some: some * 4),
    end=st.sampled_from(["\n", "\r\n"]),
    ended=st.booleans(),
)
@example(lines=["a,b", "-0,x", "1,y"], end="\n", ended=True)
@example(lines=["Commit: a", "Message: b", ""] * 3, end="\n", ended=False)
@example(lines=["a.b:3:\x85", "a.b:4:\u2028", "a.b:5:x"], end="\n", ended=False)
@example(lines=["| a | b |", "|---|---|", "| - 1 |  |", "| 2 | |", "| 3 | x |"], end="\n", ended=True)
def test_whatever_form_takes_a_text_gives_it_back(lines: list[str], end: str, ended: bool) -> None:
    text = end.join(lines) + end * ended
    data = text.encode("utf-8", "surrogatepass")
    for form in FORMS:
        form.begins(text)
        found = form.read(data)
        if found is not None:
            assert rebuilt(form.name, found) == text
            assert found.extra["format"] == form.name
            assert len(list(found.lines)) == len(found.lines) == len(found.records)
            assert [json.loads(line) for line in found.lines] == list(found.records)


def form_of(text: str) -> tuple[str, list[dict[str, Any]]]:
    """The format that a text is taken for, and its records; the text can be rebuilt from them."""
    found = payload_records(result_of_program({"content": [{"type": "text", "text": text}]}))
    assert found is not None
    records = [json.loads(line) for line in found.lines]
    (built,) = payload({"extra": found.extra}, list(map(loaded, found.lines)))[0] or []
    if isinstance(built, str):
        assert built == text
    return found.extra["format"], records


NAMES = st.lists(WORDS, min_size=2, max_size=5, unique=True)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    names = draw(NAMES)
    kinds = [draw(st.sampled_from([NUMBERS, CELLS, WORDS, NUMBERS | st.just("")])) for _ in names]
    rows = draw(st.lists(st.tuples(*kinds).map(list), min_size=3, max_size=8))
    return names, rows


AWKWARD = st.text(st.sampled_from('ab,\t"\n\r\x00\x01\x7f\\é日'), max_size=5)


@hypothesis_settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.tuples(AWKWARD | NUMBERS, AWKWARD, WORDS | AWKWARD), min_size=2, max_size=6),
    line_end=st.sampled_from(["\n", "\r\n"]),
    wrong=st.sampled_from(["", '"', ",", '""', '"x",', '"b"']),
    place=st.integers(0, 150),
)
def test_separated_values_are_read_as_csv_reads_them(
    rows: list[tuple[str, ...]], line_end: str, wrong: str, place: int
) -> None:
    made = io.StringIO(newline="")
    csv.writer(made, lineterminator=line_end).writerows([("a", "b", "c"), *[("x", "y", "z")] * 30, *rows])
    text = made.getvalue()
    place += len(text) // 2
    found = SEPARATED.read((text[:place] + wrong + text[place:]).encode())
    if found is None:
        assert wrong or any("\r" in cell for row in rows for cell in row)
        return
    again = io.StringIO(rebuilt("table", found), newline="")
    assert ["" if v is None else str(v) for line in found.lines for v in loaded(line).values()] == [
        cell for row in list(csv.reader(again, strict=True))[1:] for cell in row
    ]


@hypothesis_settings(max_examples=80, deadline=None)
@given(
    table=tables(), banner=st.sampled_from(["", "Result of the query:\n\n"]), note=st.sampled_from(["", "\n(all)\n"])
)
def test_a_table_of_separated_values_has_its_columns(
    table: tuple[list[str], list[list[str]]], banner: str, note: str
) -> None:
    names, rows = table
    made = io.StringIO(newline="")
    csv.writer(made, lineterminator="\n").writerows([names, *rows])
    name, records = form_of(banner + made.getvalue() + note)
    if '"' in made.getvalue() or not rows[0][0].strip():  # what comes first decides, and quotes may hide it
        return
    assert name == "table"
    assert [list(record) for record in records] == [names] * len(rows)
    for record, row in zip(records, rows, strict=True):
        assert ["" if value is None else str(value) for value in record.values()] == [
            str(json.loads(cell)) if isinstance(value, (int, float)) else cell
            for cell, value in zip(row, record.values(), strict=True)
        ]


@pytest.mark.parametrize("last", ["plain", 'a "b" \\ c'])
@pytest.mark.parametrize("width", [2, 3, 12, 13, 40])
def test_a_table_of_any_width_has_its_values(width: int, last: str) -> None:
    texts = ["", "Ulm", "Ulm, Donau", "日本", "é, ü", "a:b,c"]
    names = [f"column {n}" for n in range(width)]
    rows: list[list[Any]] = [
        [row * 7 - place if (row + place) % 5 else None for place in range(0, width, 2)] for row in range(9000 // width)
    ]
    rows = [
        [numbers[place // 2] if place % 2 == 0 else texts[(row * place) % len(texts)] for place in range(width)]
        for row, numbers in enumerate(rows)
    ]
    rows[-1][1] = last
    made = io.StringIO(newline="")
    csv.writer(made, lineterminator="\n").writerows([names, *rows])
    found = SEPARATED.read(made.getvalue().encode())
    assert found is not None
    expected = [dict(zip(names, row, strict=True)) for row in rows]
    assert [json.loads(line) for line in found.lines] == expected == list(found.records)
    assert rebuilt("table", found) == made.getvalue()


def test_columns_of_numbers_are_numbers_and_their_gaps_are_null() -> None:
    text = "id,zip,price,big,when,gap\n1,01234,1.50,12345678901234567890,2026-01-01,\n2,99,-2,7,x,3\n"
    assert form_of(text)[1] == [
        {"id": 1, "zip": "01234", "price": 1.5, "big": "12345678901234567890", "when": "2026-01-01", "gap": None},
        {"id": 2, "zip": "99", "price": -2, "big": "7", "when": "x", "gap": 3},
    ]


def test_numbers_with_commas_are_texts() -> None:
    name, records = form_of('city,people\nUlm,"128,928"\nBonn,"336,465"\nRom,7\n')
    assert name == "table"
    assert [record["people"] for record in records] == ["128,928", "336,465", "7"]


@hypothesis_settings(max_examples=60, deadline=None)
@given(table=tables(), pad=st.sampled_from(["one", "none", "wide"]))
@example(table=(["c", "q"], [["", "0\t0"]] * 3), pad="none")
def test_a_markdown_table_is_rebuilt(table: tuple[list[str], list[list[str]]], pad: str) -> None:
    names, rows = table
    cells = [[cell.strip().replace("|", "\\|") for cell in row] for row in [names, *rows]]
    widths = [max(3, *(len(row[place]) for row in cells)) for place in range(len(names))]
    if pad == "wide":
        cells = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in cells]
    edge = "" if pad == "none" else " "
    lines = ["|" + "|".join(f"{edge}{cell}{edge}" for cell in row) + "|" for row in cells]
    rule = "|" + "|".join("-" * (width + 2 * len(edge)) for width in widths) + "|"
    name, records = form_of("\n".join(["Orders:", "", lines[0], rule, *lines[1:], "", "(end)"]))
    if name == "markdown table":
        assert [list(record) for record in records] == [names] * len(rows)
    else:
        assert any("\\" in cell for row in rows for cell in row)


@hypothesis_settings(max_examples=40, deadline=None)
@given(table=tables(), is_escaped=st.booleans())
def test_an_html_table_has_its_columns(table: tuple[list[str], list[list[str]]], is_escaped: bool) -> None:
    from html import escape

    names, rows = table
    lines = [
        "".join(f"<td>{escape(cell, quote=False) if is_escaped else cell.replace('<', '')}</td>" for cell in row)
        for row in rows
    ]
    head = "".join(f"<th>{name}</th>" for name in names)
    name, records = form_of(
        f"<table>\n<tr>{head}</tr>\n" + "\n".join(f"<tr>{line}</tr>" for line in lines) + "\n</table>\n"
    )
    assert name == "html table"
    assert [list(record) for record in records] == [names] * len(rows)


PYTHON = st.none() | st.booleans() | st.integers(-(10**25), 10**25) | st.floats(allow_nan=False, allow_infinity=False)


@hypothesis_settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.dictionaries(TEXTS | WORDS, PYTHON | st.text(max_size=12), min_size=1), min_size=1, max_size=6)
    | st.lists(st.tuples(PYTHON | st.text(max_size=12), TEXTS), min_size=1, max_size=6)
    | st.lists(st.tuples(TEXTS), min_size=1, max_size=6)
)
@example(rows=[{"a": 1e-05, "b": 1e20, "c": 10**30, "d": "it's"}])
@example(rows=[("None", "(True, 'x')"), ('"', "'")])
def test_rows_in_pythons_spelling_are_rows(rows: list[Any]) -> None:
    if not python.begins(repr(rows)):
        return
    found = payload_records(result_of_program({"content": [{"type": "text", "text": repr(rows)}]}))
    assert found is not None
    assert found.extra.get("notation") == "python"
    texts, _ = payload({"extra": found.extra}, [json.loads(line) for line in found.lines])
    assert texts == [repr(rows)]


@pytest.mark.parametrize(
    ("text", "format", "first"),
    [
        ("a/b.py:3:7: error: no\n" * 4, "hits", {"file": "a/b.py", "line": 3, "column": 7, "text": " error: no"}),
        ("src/x.rs:3:fn\n" * 4, "hits", {"file": "src/x.rs", "line": 3, "text": "fn"}),
        (
            "2026-03-01 10:00:01,5 - app.x - WARNING - no\n" * 4,
            "log",
            {"time": "2026-03-01 10:00:01,5", "logger": "app.x", "level": "WARNING", "text": "no"},
        ),
        (
            "[2026-03-01T10:00:01Z] [error] x: y\n" * 4,
            "log",
            {"time": "2026-03-01T10:00:01Z", "level": "error", "text": "x: y"},
        ),
        (
            "[2026/03/01 10:00:01] up\nand\nrunning\n" * 4,
            "log",
            {"time": "2026/03/01 10:00:01", "text": "up\nand\nrunning"},
        ),
        (
            "Commits:\n" + "Commit: 1\nMessage: one\n\ntwo\n\n\n" * 3,
            "stanzas",
            {"Commit": "1", "Message": "one\n\ntwo"},
        ),
        ("--- a.txt\t2026\n+++ b.txt\n@@ -1 +1 @@\n-x\n+y", "diff", {"file": "a.txt", "text": "--- a.txt\t2026"}),
        (
            'import os\n\n\n@x\ndef f():\n    pass\n\n\nclass A:\n    """\nA\n"""\n\n    def g(self): ...\n',
            "definitions",
            {"line": 1, "text": "import os\n\n\n"},
        ),
        (
            "// go\npackage x\n\nfunc (s *S) Run(a int) {\n\treturn\n}\n\ntype T struct {\n}\n\nfunc F() {\n}\n",
            "definitions",
            {"line": 1, "text": "// go\npackage x\n\n"},
        ),
        (
            '<rss>\n  <item id="1">a</item>\n  <item id="2">b &amp; c</item>\n  <item id="3">c</item>\n</rss>\n',
            "elements",
            {"line": 1, "text": "<rss>\n"},
        ),
    ],
)
def test_forms_have_these_fields(text: str, format: str, first: dict[str, Any]) -> None:
    name, records = form_of(text)
    assert (name, records[0]) == (format, first)


def test_changes_of_a_diff_have_their_file_hunk_and_line() -> None:
    text = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,3 @@ def f\n same\n--- gone\n+++ new\n+more\n"
    name, records = form_of(text)
    assert name == "diff"
    at = {"file": "x.py", "hunk": 1}
    assert records[3:] == [
        {**at, "text": "@@ -1,2 +1,3 @@ def f"},
        {**at, "change": " ", "line": 1, "text": "same"},
        {**at, "change": "-", "line": 2, "text": "-- gone"},
        {**at, "change": "+", "line": 2, "text": "++ new"},
        {**at, "change": "+", "line": 3, "text": "more"},
    ]


def test_definitions_of_a_class_are_its_methods() -> None:
    records = form_of("class A:\n    x = 1\n\n    def f(self): ...\n\n    async def g(self): ...\n\n\nX = 1\n")[1]
    assert [(r.get("kind"), r.get("name"), r["line"]) for r in records] == [
        ("class", "A", 1),
        ("method", "A.f", 4),
        ("method", "A.g", 6),
        (None, None, 9),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "10:12:13 up\n10:12:14 down\n10:12:15 up\n",
        "WARN:3:one\nWARN:4:two\nINFO:5:three\n",
        "Dear all,\n\nfirst, this\nsecond, that\nthird, more\n\nBye\n",
        "# one\nx = 1\n# two\ny = 2\n# three\nz = 3\n",
        "type the first word\ntype the second word\ntype the third word\n",
        "let us begin\nlet us go on\nlet us end\n",
        "- name: x\n  age: 3\n- name: y\n  age: 4\n",
        "a <b>word</b> here\nand <b>one</b> there\nand <b>more</b>\n",
        "|a|b|\n|c|d|\n|e|f|\n",
        "[INFO] up\n[INFO] down\n[WARN] slow\n",
        "INFO: one\nINFO: two\nINFO: three\n",
        "commit 1\nAuthor: a\nDate: x\n\n    one\n\n" * 3,
        "Note: one\n\nNote: two\n\nNote: three\n",
        "{'a', 'b'}",
        "[1, 2, None]" * 3,
    ],
)
def test_what_only_looks_like_a_form_stays_lines(text: str) -> None:
    assert form_of(text)[0] == "text"


@pytest.mark.parametrize(
    ("value", "format", "records"),
    [
        (
            {"columns": [{"name": "a", "type": "int"}, {"name": "b"}], "rows": [[1, "x"], [2, None]] * 30},
            "json",
            [{"a": 1, "b": "x"}, {"a": 2, "b": None}] * 30,
        ),
        ([["id", "name"], *[[n, f"n{n}"] for n in range(9)]], "json", [{"id": n, "name": f"n{n}"} for n in range(9)]),
        ([["x", "y"]] * 9, "json", [{"n": n, "value": ["x", "y"]} for n in range(1, 10)]),
        ([["Ulm", "Bonn"], ["Kiel", "Hof"], ["Lahr", "Genf"]], "json", None),
        (
            [{"name": "d", "type": "dir", "children": [{"name": "f", "type": "file"}]}, {"name": "e", "type": "file"}],
            "json",
            [
                {"path": "d", "type": "dir", "children": 1},
                {"path": "d/f", "type": "file"},
                {"path": "e", "type": "file"},
            ],
        ),
        ([{"name": "a/b", "children": [{"name": "c"}]}], "json", [{"name": "a/b", "children": [{"name": "c"}]}]),
        ([{"name": "a", "size": 1, "children": [{"name": "c"}]}], "json", None),
        (
            {"total": 3, "a": [{"x": 1}, {"x": 2}], "b": ["u", "v"], "c": [{"table": 1}]},
            "tables",
            [
                *({"table": "a", "x": n} for n in (1, 2)),
                *({"table": "b", "n": n, "value": value} for n, value in enumerate("uv", 1)),
            ],
        ),
        ({"a": [{"table": 1}, {"x": 2}], "b": [{"x": 1}, {"x": 2}]}, "members", None),
    ],
)
def test_values_become_rows(value: Any, format: str, records: Any) -> None:
    name, found = form_of(json.dumps(value))
    assert name == format
    if records is not None:
        assert found == records
    texts, _ = payload({"extra": shape_of(value).extra}, [json.loads(line) for line in shape_of(value).lines])
    assert texts == [value]


def shape_of(value: Any) -> PayloadRecords:
    found = payload_records(result_of_program({"content": [{"type": "text", "text": json.dumps(value)}]}))
    assert found is not None
    return found


NODES = st.recursive(
    st.fixed_dictionaries({"name": WORDS, "size": st.integers()}),
    lambda inner: st.fixed_dictionaries(
        {"name": WORDS, "size": st.integers(), "children": st.lists(inner, max_size=3)}
    ),
    max_leaves=12,
)


@hypothesis_settings(max_examples=60, deadline=None)
@given(roots=st.lists(NODES, min_size=1, max_size=4))
def test_a_tree_is_planted_again(roots: list[Any]) -> None:
    found = shape_of(roots)
    texts, _ = payload({"extra": found.extra}, [json.loads(line) for line in found.lines])
    assert texts == [roots]
    assert ("tree" in found.extra) == any(root.get("children") for root in roots)


@hypothesis_settings(max_examples=80, deadline=None)
@given(
    lines=st.lists(TEXTS | st.integers(3990, 13000).map(lambda n: "x, " * (n // 3)) | st.just("字" * 9000), max_size=6),
    ended=st.booleans(),
)
def test_parts_of_a_long_line_join(lines: list[str], ended: bool) -> None:
    text = "x\n" + "\n".join(lines) + "\n" * ended
    name, records = form_of(text)
    assume(name == "text")
    assert all(len(record["text"]) <= 4000 for record in records)
    assert all(record.get("part", 1) == 1 or len(record["text"]) for record in records)
    numbers = sorted({record["n"] for record in records})
    assert numbers == list(range(1, text.removesuffix("\n").count("\n") + 2))


def test_a_text_within_an_object_is_read_in_its_own_form() -> None:
    lines = "".join(f"-a{n}\n+b{n}\n" for n in range(300))
    diff = f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,300 +1,300 @@\n{lines}"
    value = {"ok": True, "data": {"diff": diff, "n": 1}}
    found = shape_of(value)
    assert (found.extra["format"], found.extra["at"]) == ("diff", "/data/diff")
    texts, _ = payload({"extra": found.extra}, [json.loads(line) for line in found.lines])
    assert texts == [value]
    assert forms.of_text(diff.encode()) is not None


# --- YAML

ITEMS = st.lists(
    st.dictionaries(
        WORDS.filter(lambda word: word not in ("line", "part", "text")),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(-(10**14), 10**14)
            | st.decimals(0, 10**6, places=3).map(float)
            | CELLS,
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
            max_leaves=4,
        ),
        min_size=1,
        max_size=4,
    ),
    min_size=3,
    max_size=6,
)


@hypothesis_settings(max_examples=100, deadline=None)
@given(items=ITEMS, around=st.booleans(), sort_keys=st.booleans(), indent=st.sampled_from([2, 4]), start=st.booleans())
def test_a_yaml_list_becomes_its_items(
    items: list[dict[str, Any]], around: bool, sort_keys: bool, indent: int, start: bool
) -> None:
    value = {"kind": "List", "items": items} if around else items
    text = yaml.safe_dump(value, sort_keys=sort_keys, indent=indent, explicit_start=start, allow_unicode=True)
    form, records = form_of(text)
    if form == "yaml":
        found = [{k: v for k, v in one.items() if k not in ("line", "text")} for one in records]
        assert [one for one in found if one] == items
    else:
        assert form == "text"


@pytest.mark.parametrize(
    "text",
    [
        "- id: 1\n  tags:\n    - a\n    - b\n  note: ''\n- id: 2\n  tags: []\n  note: \"a\\nb\"\n- id: 3\n",
        "items:\n    - id: 1\n      sub:\n        - x: 1\n    - id: 2\n    - id: 3\nkind: List\n",
        "# exported\n---\n- id: 1\n\n- id: 2 # two\n- id: 3\n",
        "- id: 1\r\n- id: 2\r\n- id: 3\r\n",
    ],
)
def test_other_emitters_of_yaml_are_understood(text: str) -> None:
    form, records = form_of(text)
    assert form == "yaml"
    assert [one["id"] for one in records if "id" in one] == [1, 2, 3]


@pytest.mark.parametrize(
    "last",
    [
        *("at: 12:30:45", "a: .nan", "a: -.INF", "a: &x 1", "a: !!str 1", "a: 1\n  a: 2", "<<: {b: 1}", "? [a]\n  : 1"),
        *("a: 1\n...\n---\n- b: 2", "a: [1", "a: 1\x852", "a: b: c"),
    ],
)
def test_yaml_that_readers_understand_differently_stays_lines(last: str) -> None:
    assert form_of("- a: 1\n- b: 2\n- c: 3\n" + f"- {last}\n")[0] == "text"


def test_scalars_of_which_readers_are_not_agreed_are_texts() -> None:
    spelled = ["yes", "0x1F", "017", "1_000", "1e3", "2024-01-02", "+1", "1.", "12345678901234567890"]
    form, records = form_of("".join(f"- a: {text}\n" for text in spelled))
    assert (form, [one["a"] for one in records]) == ("yaml", spelled)


def test_hits_under_headings_have_the_heading_as_their_file() -> None:
    text = "src/a.py\n3:x = 1\n12:12:y\n\nsrc/b.py\n7:\n\nsrc/a.py\n9:z\n"
    form, records = form_of(text)
    assert form == "headed hits"
    assert records == [
        {"file": "src/a.py", "line": 3, "text": "x = 1"},
        {"file": "src/a.py", "line": 12, "text": "12:y"},
        {"file": "src/b.py", "line": 7, "text": ""},
        {"file": "src/a.py", "line": 9, "text": "z"},
    ]


@pytest.mark.parametrize(
    "text",
    [
        "src/a.py\n3:x\n4-y\n--\n9:z\n\nsrc/b.py\n7:w\n",
        "src/a.py\n3:x\n\nsrc/a.py\n9:z\n12:y\n",
        "Agenda\n1: one\n2: two\n3: three\n",
        "src/a.py\n3:x\n9:z\n12:y\n\n",
        "src/a.py\n03:x\n9:z\n12:y\n",
    ],
)
def test_other_lines_with_numbers_are_no_hits(text: str) -> None:
    assert form_of(text)[0] == "text"


def test_lists_of_scalars_stay_lines() -> None:
    assert form_of("- one\n- two\n- three\n- four: 1\n")[0] == "text"
