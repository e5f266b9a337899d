"""The catalogues of the other editions against the texts they stand for, and the files they are read from."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from lro_spec.catalogue import Requirement, catalogue, edition_chapters, first_wording, requirement, wordings_by_edition
from lro_spec.catalogue.overlays import read
from tests.support.passages import FORCE, ids

# Every keyword of lro-1600 that the older text does not have, in the order of its appearance, and where it is covered.
KEYWORDS_1600: tuple[tuple[str, str, str, str], ...] = (
    ("SHOULD", "Motivation", "HTTP clients use limit and offset", "SCOPE-04"),
    ("MUST NOT", "Relationship to Pagination", "no cursor with a descriptor", "DESC-13"),
    ("MUST", "Standard jq Recipe Library", "exactly ten recipes", "REC-13"),
    ("MUST", "Detail-Level Adaptive Recipes (9-10)", "fields of the level", "REC-19 REC-04"),
    ("MUST NOT", "Detail-Level Adaptive Recipes (9-10)", "no score", "REC-20"),
    ("SHOULD", "Remote Transport (streamable-http)", "off without a proxy", "DEP-01"),
    ("MAY", "Local LRO Proxy for Remote Servers", "a local proxy", "DEP-07"),
    ("MUST", "Local LRO Proxy for Remote Servers", "detection and files in the proxy", "DEP-08"),
    ("MUST NOT", "Local LRO Proxy for Remote Servers", "memories are not altered", "DEP-09"),
    ("MAY", "Native Extraction via MCP Tools", "extraction as a tool", "DEP-10"),
    ("MUST", "Native Extraction via MCP Tools", "recipes stay in the descriptor", "REC-13"),
    ("MUST", "Native Guidance Prompt", "guidance of the tool's own", "GUI-06"),
    ("SHOULD", "Native Guidance Prompt", "its template", "GUI-02"),
)
# What the paper's levels list, and what else its architecture states of a server.
LEVELS_OF_THE_PAPER: tuple[tuple[int, str, str], ...] = (
    (
        1,
        "threshold detection",
        "THR-01 THR-02 THR-04 THR-05 THR-06 THR-07 THR-08 THR-09 SCOPE-01 SCOPE-02 SCOPE-08 IMPL-03",
    ),
    (1, "materialisation", "FILE-01 FILE-02 FILE-03 FILE-09 FILE-10 NAME-01 NAME-02 NAME-03 NAME-04 DET-01"),
    (1, "file reference and summary", "DESC-01 DESC-02 DESC-03 DESC-04 DESC-05 DESC-06 DESC-07 DESC-11 DESC-12"),
    (2, "schema definition", "DESC-14 DESC-09 DESC-10"),
    (2, "extraction queries", "REC-01 REC-02 REC-03 REC-08 REC-09 REC-11 REC-12 REC-13 REC-21"),
    (3, "custodial cleanup", "CLN-01 CLN-02 CLN-03 CLN-04"),
    (3, "fallback", "ERR-01 ERR-05 ERR-06 ERR-07"),
    (3, "events", "CLN-05"),
)
SILENT = (
    "DET-02",
    "DET-03",
    "FILE-05",
    "FILE-11",
    "DESC-08",
    "INJ-01",
    "ERR-03",
    "ERR-04",
    "CFG-01",
    "CFG-05",
    "GUI-02",
)
"""What the paper says nothing of."""

HEADINGS = {
    "lro-1600": """Motivation; Architecture; Relationship to MCP Tasks; Relationship to Pagination; Threshold Detection;
        Detail Level; JSONL File Format; Header Line (Line 1); Memory Lines (Line 2+); File Naming; Inline Response
        Format; Standard jq Recipe Library; Universal Recipes (1-8); Detail-Level Adaptive Recipes (9-10); Guidance
        Prompt; Integration with inject_context; Cleanup and Lifecycle; TTL; Custodial Integration; Error Handling;
        Configuration; Remote Transport (streamable-http); Local LRO Proxy for Remote Servers; Native Extraction via MCP
        Tools; Native Guidance Prompt; Shell-less LLM Clients; Conformance Requirements""",
    "lro-paper": """Formal Definition; Decision Flow; Materialization Format; Compact Descriptor; Lifecycle Management;
        Comparison with Compression Approaches; Specification and Implementation; Appendix B: Extraction Query Library;
        Determinism and Auditability; Deployment Applicability;
        Appendix D: Deployment Matrix; Appendix E: Alternative Extraction Interface Details; Appendix F: Conformance
        Levels""",
}
OUTSIDE = {"MCP: Tools", "MCP: stdio transport", "Virtual tools", "Scratchpad", "Context offload", "Not in the text"}


@pytest.mark.parametrize(("keyword", "section", "about", "covered"), KEYWORDS_1600)
def test_every_new_keyword_of_the_revision_is_covered(keyword: str, section: str, about: str, covered: str) -> None:
    found = [requirement(id, "lro-1600") for id in ids(covered)]
    assert {r.keyword for r in found} == {FORCE.get(keyword, keyword)}, f"{section}: {about}"


def test_the_revision_is_the_older_text_but_for_what_it_dropped() -> None:
    older, newer = ({r.id for r in catalogue(name)} for name in ("lro-6400", "lro-1600"))
    assert older - newer == set(ids("REC-01 REC-07 REC-09 DEP-05"))


@pytest.mark.parametrize(("level", "about", "covered"), LEVELS_OF_THE_PAPER)
def test_what_the_papers_levels_list_binds_there(level: int, about: str, covered: str) -> None:
    found = [requirement(id, "lro-paper") for id in ids(covered)]
    assert {(r.keyword, r.level) for r in found} == {("MUST", level)}, about


def test_every_must_of_the_paper_is_listed_at_a_level() -> None:
    listed = {id for *_, covered in LEVELS_OF_THE_PAPER for id in ids(covered)}
    rest = {r.id for r in catalogue("lro-paper") if r.keyword == "MUST" and r.level and not r.excluded} - listed
    assert {r.rpartition("-")[0] for r in rest} == {"LRO-FILE", "LRO-CFG", "LRO-PROT"}


def test_the_paper_asks_for_nothing_that_it_is_silent_on() -> None:
    held = {r.id for r in catalogue("lro-paper")}
    assert not held & set(ids(" ".join(SILENT)))


@pytest.mark.parametrize("edition", HEADINGS)
def test_every_section_is_a_heading_of_its_text(edition: str) -> None:
    headings = set(re.split(r";\s+", " ".join(HEADINGS[edition].split()))) | OUTSIDE
    assert {r.section for r in catalogue(edition)} - headings == set()


@pytest.mark.parametrize("edition", HEADINGS)
def test_statements_carry_their_keyword_and_texts_are_whole_sentences(edition: str) -> None:
    for r in catalogue(edition):
        assert set(re.findall(r"\b(?:MUST|SHOULD|MAY)\b", r.statement)) == {r.keyword}, r.id
        assert len(r.statement) <= 400, r.id
        assert all(t.endswith(".") and "  " not in t for t in (r.statement, r.rationale, r.observed, r.fix)), r.id
        assert r.excluded is not None or not r.observed.startswith(("Not judged", "Through")), r.id


@pytest.mark.parametrize("edition", HEADINGS)
def test_an_edition_speaks_of_its_own_default_and_prefix(edition: str) -> None:
    other = r"\b6400\b" if edition == "lro-1600" else r"\b6400\b|atlatl-"
    assert [r.id for r in catalogue(edition) if re.search(other, f"{r.title} {r.statement} {r.observed} {r.fix}")] == []


def test_a_requirement_means_the_same_in_every_edition_that_holds_it() -> None:
    groups = [(r.id, r.group) for name in ("lro-6400", *HEADINGS) for r in catalogue(name)]
    assert {id for id, n in Counter(id for id, _ in set(groups)).items() if n > 1} == set()


def test_one_requirement_is_read_by_itself_as_the_whole_catalogue_has_it() -> None:
    held: dict[str, dict[str, Requirement]] = {}
    for name in ("lro-6400", *HEADINGS):
        for r in catalogue(name):
            held.setdefault(r.id, {})[name] = r
    assert {id: wordings_by_edition(id) for id in held} == held
    assert wordings_by_edition("LRO-DESC-99") == {}


def test_what_is_an_editions_own_stands_with_its_kind() -> None:
    order = [r.id for c in edition_chapters("lro-1600") for r in c.requirements]
    assert order.index("LRO-REC-14") == order.index("LRO-REC-13") + 1
    assert first_wording("LRO-DESC-14").editions == ("lro-paper",)
    assert requirement("LRO-SCOPE-08", "lro-1600").editions == ("lro-1600", "lro-paper")
    with pytest.raises(KeyError):
        first_wording("LRO-DESC-99")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("edition: lro-x\nheld: {}\nrequirements: []", "'edition', which is lro-9"),
        ("edition: lro-9\nheld: []\nrequirements: []", "'held', a mapping"),
        ("edition: lro-9\nheld: {A: [LRO-A-01]}\nrequirements: [{id: LRO-A-01}]", "LRO-A-01 is listed twice"),
        ("edition: lro-9\nheld: {}\nrequirements: [{title: x}]", "an entry without id"),
        ("edition: lro-9\nheld: {}\nrequirements: [{id: LRO-A-01, titel: x}]", "LRO-A-01: unknown key 'titel'"),
    ],
)
def test_a_wrong_set_is_refused_with_its_file_and_the_reason(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "lro-9.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"^lro-9\.yaml: ") as refused:
        read(path)
    assert message in str(refused.value)
