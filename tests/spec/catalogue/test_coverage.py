"""The catalogue against the text it stands for: nothing normative is left out, no id is ever lost."""

from __future__ import annotations

import re
from collections import Counter

from lro_spec.catalogue import EXTENSIONS, GROUPS, Requirement, catalogue, chapters
from lro_spec.editions import EDITIONS
from tests.support.passages import FORCE, ids
from tests.support.paths import ROOT

CATALOGUE = catalogue()
BY_ID = {r.id: r for r in CATALOGUE}
DECIDING = [r for r in CATALOGUE if r.keyword == "MUST" and r.level and not r.excluded]

# Every keyword of the source in the order of its appearance: keyword, section, what it is about, where it is covered.
KEYWORDS: tuple[tuple[str, str, str, str], ...] = (
    ("SHOULD", "Motivation", "HTTP clients use cursors", "SCOPE-04"),
    ("MUST NOT", "Architecture", "service types stay", "SCOPE-05"),
    ("MUST", "Threshold Detection", "the heuristic of four characters", "THR-02"),
    ("RECOMMENDED", "Threshold Detection", "a tokenizer for wide scripts", "THR-03"),
    ("MUST", "Threshold Detection", "run, estimate, offload above, inline up to", "THR-04 THR-05 THR-06 THR-07"),
    ("MUST", "Detail Level", "file at the level of the call", "DET-01"),
    ("SHOULD", "Detail Level", "guidance names the level", "GUI-03"),
    ("MUST", "File Naming", "configurable folder, naming convention", "NAME-01 NAME-02 CFG-04"),
    ("MAY", "File Naming", "deletion after expiry", "CLN-07"),
    (
        "MUST",
        "Standard jq Recipe Library",
        "ten recipes, always",
        "REC-01 REC-02 REC-03 REC-04 REC-05 REC-06 REC-07 REC-08 REC-09 REC-10 REC-13",
    ),
    ("MUST", "Standard jq Recipe Library", "placeholder gives way to the path", "REC-11"),
    ("MUST", "Guidance Prompt", "brief instructions", "GUI-01 GUI-05"),
    ("SHOULD", "Guidance Prompt", "the template", "GUI-02"),
    ("MUST", "Cleanup and Lifecycle", "expired files go", "CLN-01"),
    ("MUST", "TTL", "creation time recorded", "CLN-03"),
    ("SHOULD", "Custodial Integration", "the task: scan, delete, announce", "CLN-04 CLN-05 CLN-06"),
    (
        "MUST",
        "Error Handling",
        "fallback: truncate, warn, announce",
        "ERR-01 ERR-02 ERR-03 ERR-04 ERR-05 ERR-06",
    ),
    ("MUST NOT", "Error Handling", "operation survives", "ERR-01"),
    ("SHOULD", "Remote Transport (streamable-http)", "off when remote", "DEP-01"),
    ("MAY", "Remote Transport (streamable-http)", "later revision", "DEP-05"),
    ("MAY", "Shell-less LLM Clients", "look at the client's capabilities", "DEP-02"),
    ("MAY", "Shell-less LLM Clients", "raise or disable", "DEP-03"),
    ("MUST NOT", "Shell-less LLM Clients", "presume a shell", "DEP-04 GUI-04"),
    ("MAY", "Conformance Requirements", "level 1, implementing", "IMPL-01"),
    ("MUST", "Conformance Requirements", "level 1, parts", "IMPL-04"),
    ("SHOULD", "Conformance Requirements", "level 2, implementing", "IMPL-02"),
    ("MUST", "Conformance Requirements", "level 2, parts", "IMPL-05"),
    ("MUST", "Conformance Requirements", "level 3, implementing and parts", "IMPL-03 IMPL-06"),
)

# What the source states as a fact of the protocol without a keyword, and implementers are still held to.
STATEMENTS: tuple[tuple[str, str, str], ...] = (
    ("Motivation", "recall is covered", "SCOPE-01"),
    ("Motivation", "injection is covered", "SCOPE-03"),
    ("Motivation", "search is covered", "SCOPE-02"),
    ("Motivation", "full fidelity is kept", "FILE-09 FILE-10"),
    ("Architecture", "works on the serialised response", "SCOPE-06"),
    ("Relationship to MCP Tasks", "a finished task carries the descriptor", "SCOPE-07"),
    ("Threshold Detection", "one global threshold", "THR-09"),
    ("Threshold Detection", "default 6400, configurable", "THR-01 CFG-02"),
    ("Threshold Detection", "total set, not single memories", "THR-08"),
    ("Detail Level", "default of recall", "DET-02"),
    ("Detail Level", "default of inject", "DET-03"),
    ("JSONL File Format", "JSON lines", "FILE-01"),
    ("JSONL File Format", "one header, then one memory a line", "FILE-02 FILE-11"),
    ("Header Line (Line 0)", "fields and types", "FILE-03"),
    ("Header Line (Line 0)", "marker", "FILE-02"),
    ("Header Line (Line 0)", "operation", "FILE-04"),
    ("Header Line (Line 0)", "query", "FILE-05"),
    ("Header Line (Line 0)", "count", "FILE-06"),
    ("Header Line (Line 0)", "schema version", "FILE-12"),
    ("Header Line (Line 0)", "timestamp", "FILE-07"),
    ("Header Line (Line 0)", "estimate", "FILE-13"),
    ("Header Line (Line 0)", "detail", "FILE-08"),
    ("Memory Lines (Line 1+)", "all fields of the level", "FILE-10 FILE-11"),
    ("File Naming", "folder defaults to the temporary one", "CFG-05"),
    ("File Naming", "operation in the name", "NAME-02"),
    ("File Naming", "ULID: unique and ordered by time", "NAME-03 NAME-04"),
    ("File Naming", "absolute path, creation time, time to live", "DESC-02 CLN-03"),
    ("Inline Response Format", "descriptor in place of the result", "DESC-11 DESC-12"),
    ("Inline Response Format", "compact", "DESC-15"),
    ("Inline Response Format", "fields of the descriptor", "DESC-01"),
    ("Inline Response Format", "absolute path to the file", "DESC-02"),
    ("Inline Response Format", "schema of each line", "DESC-09 DESC-10"),
    ("Inline Response Format", "recipes with description and command", "REC-13"),
    ("Inline Response Format", "summary: count", "DESC-03"),
    ("Inline Response Format", "summary: tokens saved", "DESC-04"),
    ("Inline Response Format", "summary: operation", "DESC-05"),
    ("Inline Response Format", "summary: up to five namespaces", "DESC-06"),
    ("Inline Response Format", "summary: score range", "DESC-07"),
    ("Inline Response Format", "summary: detail", "DESC-08"),
    ("Standard jq Recipe Library", "header is skipped", "REC-12"),
    ("Integration with inject_context", "judged before budgeting", "INJ-02"),
    ("Integration with inject_context", "full set offloaded", "INJ-03"),
    ("Integration with inject_context", "formatted text dropped", "INJ-04"),
    ("Integration with inject_context", "below: formatted text as usual", "INJ-01"),
    ("Decision Flow", "estimate, compare, write, build, return", "THR-05 THR-06 THR-07 DESC-01"),
    ("TTL", "one hour by default", "CLN-02"),
    ("TTL", "configurable", "CFG-03"),
    ("Custodial Integration", "by pattern in the folder", "CLN-04 HARD-04"),
    ("Custodial Integration", "event for expiry", "CLN-05"),
    ("Custodial Integration", "hourly", "CLN-06"),
    ("Error Handling", "event for a failed write", "ERR-04"),
    ("Configuration", "enabled, on by default", "CFG-01 CFG-06"),
    ("Configuration", "threshold", "CFG-02 THR-01"),
    ("Configuration", "time to live", "CFG-03 CLN-02"),
    ("Configuration", "folder", "CFG-04 CFG-05"),
    ("Configuration", "section and environment variables", "CFG-07"),
    ("Remote Transport (streamable-http)", "disabled means inline", "CFG-01"),
    ("Shell-less LLM Clients", "summary serves without a shell", "DESC-03 DESC-06 DESC-07 DESC-08"),
    ("Shell-less LLM Clients", "advisory language", "GUI-04"),
)

SECTIONS = {section for _, section, _, _ in KEYWORDS} | {section for section, _, _ in STATEMENTS}
OUTSIDE = {
    "protocol": {"MCP: Tools", "MCP: stdio transport"},
    "hardening": {"Not in the text"},
    "proxy": {"The paper, Appendix E", "Not in the text"},
    "extraction": {"The paper, Appendix E", "Virtual tools", "Scratchpad", "Context offload", "Not in the text"},
}


def prose(r: Requirement) -> str:
    return " ".join((r.statement, r.rationale, r.observed, r.fix, r.excluded or ""))


def test_the_source_uses_28_keywords() -> None:
    used = Counter(keyword for keyword, *_ in KEYWORDS)
    assert used == {"MUST": 13, "MUST NOT": 3, "SHOULD": 6, "RECOMMENDED": 1, "MAY": 5}


def test_every_keyword_of_the_source_is_covered_with_its_force() -> None:
    for keyword, section, about, covered in KEYWORDS:
        assert covered, f"{section}: {about}"
        assert {BY_ID[id].keyword for id in ids(covered)} == {FORCE.get(keyword, keyword)}, f"{section}: {about}"


def test_every_statement_of_the_source_is_covered() -> None:
    for section, about, covered in STATEMENTS:
        assert covered, f"{section}: {about}"
        assert not [id for id in ids(covered) if id not in BY_ID], f"{section}: {about}"


def test_every_requirement_has_its_place_in_the_source() -> None:
    mapped = {id for *_, covered in (*KEYWORDS, *STATEMENTS) for id in ids(covered)}
    unplaced = {r.id for r in CATALOGUE if r.section in SECTIONS} - mapped
    assert not unplaced


def test_no_id_is_removed_or_renamed() -> None:
    frozen = (ROOT / "tests/data/requirement_ids.txt").read_text(encoding="utf-8").split()
    ids = {r.id for c in chapters() for r in c.requirements}
    assert not set(frozen) - ids, "an id is for ever; mark the requirement excluded, or move it to an older edition"
    assert sorted(ids - set(frozen)) == [], "add new ids to tests/data/requirement_ids.txt"


def test_chapters_number_without_gaps() -> None:
    by_prefix: dict[str, list[int]] = {}
    for r in (r for c in chapters() for r in c.requirements):
        prefix, number = r.id.rsplit("-", 1)
        by_prefix.setdefault(prefix, []).append(int(number))
    for prefix, numbers in by_prefix.items():
        assert sorted(numbers) == list(range(1, len(numbers) + 1)), prefix


def test_no_key_is_written_twice_in_an_entry() -> None:
    """YAML lets the last one win in silence."""
    for path in sorted((ROOT / "lro_spec/catalogue/data").glob("*.yaml")):
        for entry in path.read_text(encoding="utf-8").split("\n  - id: ")[1:]:
            keys = re.findall(r"^    (\w+):", entry, re.MULTILINE)
            assert len(keys) == len(set(keys)), (path.name, entry[:12])


def test_every_group_has_requirements() -> None:
    assert {r.group for r in CATALOGUE} == set(GROUPS)


def test_chapter_titles_differ() -> None:
    assert len({c.title for c in chapters()}) == len(chapters())


def test_every_id_has_its_form() -> None:
    assert not [r.id for r in CATALOGUE if not re.match(r"^LRO-[A-Z]+-\d{2}$", r.id)]


def test_every_section_is_a_heading_of_the_source_or_says_that_there_is_none() -> None:
    assert not [r.id for r in CATALOGUE if r.section not in SECTIONS and r.section not in OUTSIDE.get(r.group, ())]


def test_only_what_is_outside_the_levels_binds_at_none() -> None:
    assert {r.group for r in CATALOGUE if r.level is None and not r.excluded} == set(OUTSIDE)
    assert {r.level for r in CATALOGUE if r.group in ("hardening", *EXTENSIONS)} == {None}


def test_the_table_of_levels_in_the_docs_is_that_of_the_catalogue() -> None:
    rows = re.findall(
        r"^\| (\d) \|.*\| ([a-z ]+) \|$", (ROOT / "docs/levels.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {int(level): groups.split() for level, groups in rows[:3]} == {
        level: [g for g in GROUPS if any((r.group, r.level) == (g, level) for r in DECIDING)] for level in (1, 2, 3)
    }


def test_statements_are_short_and_carry_their_keyword_and_no_other() -> None:
    assert not [r.id for r in CATALOGUE if len(r.statement) > 400]
    assert not [r.id for r in CATALOGUE if set(re.findall(r"\b(?:MUST|SHOULD|MAY)\b", r.statement)) != {r.keyword}]


def test_texts_are_whole_sentences_without_loose_ends() -> None:
    texts = [(r.id, text) for r in CATALOGUE for text in (r.statement, r.rationale, r.observed, r.fix)]
    assert not [(id, text) for id, text in texts if not text.endswith(".") or "  " in text]
    assert not [r.id for r in CATALOGUE if re.search(r"TODO|TBD|XXX", prose(r)) or r.title.endswith(".")]


def test_what_is_judged_says_how_it_is_seen() -> None:
    assert not [r.id for r in CATALOGUE if r.excluded is None and r.observed.startswith(("Not judged", "Through"))]


EVERY = {(name, r.id): r for name in EDITIONS for r in catalogue(name)}
"""Each requirement as each edition words it."""


def test_an_experiment_is_described_in_at_most_five_sentences() -> None:
    long = {r.id: count for r in EVERY.values() if (count := len(re.findall(r"[.?!](?:\s|\Z)", r.observed))) > 5}
    assert not long, "limits, tolerances and exemptions belong in the docstring of the check or in the interpretation"


def test_ids_cited_in_prose_exist() -> None:
    known = {id for _, id in EVERY}
    assert {id for r in EVERY.values() for id in re.findall(r"LRO-[A-Z]+-\d{2}", prose(r))} <= known


INTERPRETATIONS = (ROOT / "docs/interpretations.md").read_text(encoding="utf-8")
NOTES = {
    number: set(re.findall(r"LRO-[A-Z]+-\d{2}", text.rpartition("\n**")[2]))
    for number, text in re.findall(r"^### ([IE]-\d\d) (.*?)(?=^##|\Z)", INTERPRETATIONS, re.MULTILINE | re.DOTALL)
}


def cited(r: Requirement) -> set[str]:
    return set(re.findall(r"(?<![A-Z])[IE]-\d\d", prose(r)))


def test_notes_cited_in_prose_exist_and_name_the_requirement() -> None:
    assert not [(r.id, number) for r in EVERY.values() for number in cited(r) if r.id not in NOTES[number]]


def test_notes_name_existing_requirements() -> None:
    known = {id for _, id in EVERY}
    assert not [number for number, named in NOTES.items() if not named or named - known]


def test_an_interpretation_is_cited_by_every_requirement_that_rests_on_it() -> None:
    resting = {(number, id) for number, named in NOTES.items() if number.startswith("I") for id in named}
    assert resting == {(number, r.id) for r in EVERY.values() for number in cited(r) if number.startswith("I")}


def test_notes_are_numbered_without_gaps() -> None:
    for kind in "IE":
        numbers = [n for n in NOTES if n.startswith(kind)]
        assert numbers == [f"{kind}-{i:02d}" for i in range(1, len(numbers) + 1)]
