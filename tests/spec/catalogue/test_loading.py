"""Loading the catalogue: what it gives, and what it says about a malformed chapter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from lro_spec.catalogue import Chapter, catalogue, chapters, load, requirement

ENTRY = {
    "id": "LRO-ABC-01",
    "title": "A title",
    "group": "file",
    "keyword": "MUST",
    "level": 1,
    "section": "A section",
    "statement": "It MUST be so.",
    "rationale": "Because.",
    "observed": "By looking.",
    "fix": "Do so.",
}


def loaded(folder: Path, *entries: dict[str, Any], file: str = "01-a.yaml") -> tuple[Chapter, ...]:
    (folder / file).write_text(
        yaml.safe_dump({"chapter": "A chapter", "requirements": list(entries)}), encoding="utf-8"
    )
    return tuple(load(folder))


def test_a_chapter_has_its_title_and_its_requirements_in_order(tmp_path: Path) -> None:
    (chapter,) = loaded(tmp_path, {**ENTRY, "id": "LRO-ABC-02"}, ENTRY)
    assert chapter.title == "A chapter"
    assert [r.id for r in chapter.requirements] == ["LRO-ABC-02", "LRO-ABC-01"]


def test_an_entry_belongs_to_the_default_edition_and_is_judged_unless_it_says_otherwise(tmp_path: Path) -> None:
    (chapter,) = loaded(tmp_path, ENTRY, {**ENTRY, "id": "LRO-ABC-02", "editions": ["lro-1600"], "excluded": "unseen"})
    plain, other = chapter.requirements
    assert (plain.editions, plain.excluded) == (("lro-6400",), None)
    assert (other.editions, other.excluded) == (("lro-1600",), "unseen")


def test_chapters_come_in_the_order_of_their_file_names(tmp_path: Path) -> None:
    loaded(tmp_path, {**ENTRY, "id": "LRO-ABC-02"}, file="02-b.yaml")
    assert [c.requirements[0].id for c in loaded(tmp_path, ENTRY)] == ["LRO-ABC-01", "LRO-ABC-02"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "LRO-abc-1"}, "LRO-abc-1: an id has the form"),
        ({"group": "fiel"}, "group 'fiel' is not one of implemented, threshold"),
        ({"keyword": "SHALL"}, "keyword 'SHALL' is not one of MUST, SHOULD, MAY"),
        ({"level": 4}, "level 4 is not 1, 2, 3 or null"),
        ({"fix": "  "}, "'fix' has to be a text"),
        ({"title": 6400}, "'title' has to be a text, not 6400"),
        ({"excluded": None}, "'excluded' has to be a text, not None"),
        ({"rational": "Because."}, "unknown key 'rational'"),
    ],
)
def test_a_wrong_entry_is_refused_with_its_file_its_id_and_the_reason(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=r"^01-a\.yaml: LRO-") as refused:
        loaded(tmp_path, {**ENTRY, **change})
    assert message in str(refused.value)


@pytest.mark.parametrize("key", sorted(ENTRY))
def test_every_key_is_needed(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match=f"'{key}' is missing"):
        loaded(tmp_path, {k: v for k, v in ENTRY.items() if k != key})


def test_all_problems_of_an_entry_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'title' is missing; group 'x' is not one of"):
        loaded(tmp_path, {k: v for k, v in {**ENTRY, "group": "x"}.items() if k != "title"})


def test_an_id_is_refused_the_second_time_in_another_chapter_too(tmp_path: Path) -> None:
    loaded(tmp_path, ENTRY)
    with pytest.raises(ValueError, match=r"02-b\.yaml: LRO-ABC-01 is used twice"):
        loaded(tmp_path, ENTRY, file="02-b.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "requirements: [{}]",
        "chapter: A chapter",
        "- a list",
        "chapter: A\nrequirements:",
        "chapter: 1\nrequirements: [{}]",
    ],
)
def test_a_file_that_is_no_chapter_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "01-a.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"01-a\.yaml: a chapter needs the keys"):
        list(load(tmp_path))


def test_a_file_that_is_no_yaml_is_refused_with_its_name_and_line(tmp_path: Path) -> None:
    (tmp_path / "01-a.yaml").write_text("chapter: A\nrequirements: a: b", encoding="utf-8")
    with pytest.raises(ValueError, match=r"(?s)01-a\.yaml: not YAML: .*line 2"):
        list(load(tmp_path))


def test_an_entry_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    (tmp_path / "01-a.yaml").write_text("chapter: A\nrequirements: [LRO-ABC-01]", encoding="utf-8")
    with pytest.raises(ValueError, match=r"01-a\.yaml: an entry has to be a mapping, not 'LRO-ABC-01'"):
        list(load(tmp_path))


def test_the_catalogue_is_the_chapters_in_one_row() -> None:
    every = [r for c in chapters() for r in c.requirements]
    assert [r.id for r in catalogue()] == [r.id for r in every if "lro-6400" in r.editions]
    assert [r.id for r in catalogue("lro-paper")] == [r.id for r in every if "lro-paper" in r.editions]


def test_a_requirement_is_found_by_its_id() -> None:
    assert requirement("LRO-THR-07").title == "At the threshold means inline"


def test_an_unknown_id_or_edition_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        requirement("LRO-THR-99")
    with pytest.raises(KeyError):
        requirement("LRO-THR-07", "no-such-edition")


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("LRO-THR-09", ("no other figure", "factors")),
        ("LRO-FILE-09", ("fewer records", "If it has more")),
        ("LRO-CLN-01", ("every operation", "name pattern")),
        ("LRO-CLN-03", ("every operation", "name pattern")),
    ],
)
def test_advice_names_each_way_in_which_a_requirement_is_missed(id: str, words: tuple[str, ...]) -> None:
    fix = " ".join(requirement(id).fix.split())
    assert [word for word in words if word not in fix] == []
