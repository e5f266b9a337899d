"""What is mutated, and what it is tried with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lro_conformance.engine import LIVE
from lro_conformance.judge import checks
from tests.certifying import spread
from tests.faults.catalogue import faults
from tests.sound.catalogue import sounds

VALIDATION: Mapping[str, Sequence[str]] = {
    "rules": (
        *("descriptor_rules", "edition_findings", "file_rules", "guidance_rules", "header_rules", "line_rules"),
        *("name_rules", "record_rules", "summary_rules"),
    ),
    "recipes": (
        *("recipe_rules", "agreement", "evaluation", "jqtext", "line_filters", "near_numbers", "outcomes", "pipeline"),
        "shellwords",
    ),
    "schemas": ("bounded_schemas", "line_schemas", "quick_schema", "schema_errors", "schema_gate", "schema_places"),
    "lines": (
        *("beyond", "file_state", "json_lines", "json_position", "line_judge", "physical_lines", "quick_record"),
        *("second_reader", "seen_ids", "streams"),
    ),
    "values": ("findings", "following", "json_values", "messages", "naming", "strictjson", "timestamps", "tokens"),
}
"""Modules of the library that validation consists of, by what they are about."""

RULES = (
    "test_validation.py",
    "test_words.py",
    "test_validation_edges.py",
    "test_summary_edges.py",
    "test_yardstick.py",
    "test_following.py",
    "test_naming.py",
    "test_timestamps.py",
    "test_edition_validation.py",
    "test_schema_places.py",
    "test_second_reader.py",
    "test_beyond.py",
    "test_other_records.py",
    "test_more_recipes.py",
    "test_line_judge.py",
)
TESTS: Mapping[str, Sequence[str]] = {
    "rules": RULES,
    "recipes": (
        "test_words.py",
        "test_recipe_rules.py",
        "test_recipes.py",
        "test_pipeline.py",
        "test_validation.py",
        "test_following.py",
        "test_near_numbers.py",
        "test_more_recipes.py",
        "test_unusual_queries.py",
        "test_plain_readers.py",
        "test_other_records.py",
        "test_jqrun.py",
    ),
    "schemas": (
        *RULES,
        "test_schema_edges.py",
        "test_line_schemas.py",
        "test_schemas.py",
        "test_plain_readers.py",
    ),
    "lines": (*RULES, "test_reading_edges.py", "test_strictjson.py", "test_validate_command.py", "test_streams.py"),
    "values": (
        *RULES,
        "test_reading_edges.py",
        "test_strictjson.py",
        "test_messages.py",
        "test_tokens.py",
        "test_shapes.py",
        "test_json_values.py",
    ),
}
"""The tests that they are tried with."""

ABOUT: Mapping[str, Sequence[str]] = {
    "following": ("test_words.py", "test_following_edges.py", "test_following.py"),
    "recipe_rules": ("test_words.py", "test_recipe_rules.py", "test_more_recipes.py", "test_following.py"),
    "file_rules": ("test_words.py", "test_reading_edges.py", "test_two_readers.py", "test_second_reader.py"),
    "second_reader": ("test_two_readers.py", "test_words.py", "test_second_reader.py"),
}
"""Modules that have tests of their own: only these, since all would take hours."""

VERDICTS: Mapping[str, Sequence[str]] = {
    "lro_conformance.judge": ("test_judge.py",),
    "lro_conformance.verdicts": ("test_judge.py", "test_report_model.py"),
}
"""How verdicts come about has unit tests."""

DOCUMENTS: Mapping[str, Sequence[str]] = {
    "lro_conformance.documents": (
        *("test_documents.py", "test_kinds.py", "test_validate_command.py", "test_following.py"),
        "test_beyond.py",
    ),
}
"""What `lro validate` makes of documents has them, too."""

QUICK = (
    *("test_words.py", "test_validation_edges.py", "test_summary_edges.py", "test_naming.py", "test_timestamps.py"),
    *("test_following_edges.py", "test_plain_readers.py", "test_schema_edges.py"),
    *("test_messages.py", "test_tokens.py", "test_pipeline.py", "test_checks.py", "test_threshold_checks.py"),
    *(
        "test_judge.py",
        "test_kinds.py",
        "test_documents.py",
        "test_calls.py",
        "test_recipe_trials.py",
        "test_made_up_evidence.py",
        "test_odd_values.py",
        "test_recipe_rules.py",
        "test_line_judge.py",
        "test_near_numbers.py",
        "test_streams.py",
        "test_two_readers.py",
        "test_reading_edges.py",
    ),
    *("test_schema_places.py", "test_other_records.py", "test_more_recipes.py", "test_schemas.py", "test_yardstick.py"),
    *("test_unusual_queries.py", "test_more_checks.py", "test_estimate_checks.py", "test_recipe_checks.py"),
    *("test_guidance_checks.py", "test_inject_checks.py", "test_message_checks.py"),
)
"""Those of these files whose tests take milliseconds; what they kill, the others need not try."""

CHECK_TESTS = (
    *("test_checks.py", "test_threshold_checks.py", "test_more_checks.py", "test_estimate_checks.py"),
    *("test_recipe_checks.py", "test_guidance_checks.py", "test_inject_checks.py", "test_message_checks.py"),
    "test_made_up_evidence.py",
    "test_odd_values.py",
)
"""What a mutant of a check is tried with that no recording notices."""

JUDGING: Mapping[str, Sequence[str]] = {
    f"lro_conformance.{name}": (*CHECK_TESTS, "test_unusual_queries.py", "test_calls.py", "test_recipe_trials.py")
    for name in ("readings", "records", "calls", "trials.recipes")
}
"""What checks judge by: to ask a function takes a thousandth of the time that recordings of all checks take."""

OTHERS = 24
"""How many sound servers a check is tried with, in the first place."""


def judged() -> list[str]:
    """The modules that are tried with recordings: those of the checks."""
    return list(dict.fromkeys(c.function.__module__ for c in checks() if LIVE not in c.needs))


def tested() -> dict[str, Sequence[str]]:
    """The modules that are tried with unit tests, and the files of these."""
    library = {f"lro_spec.{n}": ABOUT.get(n, TESTS[part]) for part, names in VALIDATION.items() for n in names}
    return {**VERDICTS, **DOCUMENTS, **JUDGING, **library}


def servers(module: str, sound: int) -> list[str]:
    """Whose recordings a module is tried with: the faults of its checks, and so many sound servers of all chapters."""
    mine = {c.requirement for c in checks() if c.function.__module__ == module}
    broken = [n for n, f in faults().items() if mine & {f.requirement, *f.also}]
    chapters: dict[str, list[str]] = {}
    for name, variant in sounds().items():
        chapters.setdefault(variant.server.__module__, []).append(name)
    return [*broken, *spread(chapters, sound)]
