"""Findings of strangers who tried the tool, each with the tests that would notice it again.

Three played a newcomer, a CI engineer and an attacker; another ran it with published servers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CONTACT = "tests/conformance/cli/test_first_contact.py"
BAD_SERVERS = "tests/conformance/cli/test_certify_bad_servers.py"
MARKDOWN = "tests/conformance/report/test_markdown.py"
LOOP = "tests/conformance/cli/test_loop.py"
INIT = "tests/conformance/cli/test_init.py"
COMMANDS = "tests/conformance/cli/test_commands.py"
SHORTAGE = "tests/conformance/engine/test_shortage.py"
CAUSES = "tests/conformance/report/test_causes.py"
HTML = "tests/conformance/report/test_html.py"
BROWSER = "tests/conformance/report/test_html_browser.py"
SITE = "tests/project/test_site.py"
CI = "tests/project/test_ci.py"
ATTACKS = "tests/data/attacks_on_documents.yaml"
TOOL_ATTACKS = "tests/data/attacks.yaml"
RECIPES = "tests/proxy/payload/test_recipes.py"
FORMS = "tests/proxy/payload/test_forms.py"
BLOCKS = "tests/proxy/payload/test_blocks.py"
MANNERS = "tests/proxy/relay/test_manners.py"

FINDINGS: dict[str, tuple[str, ...]] = {
    # A newcomer
    "levels 1 and 2 were proved although no tool was called": (
        f"{CONTACT}::test_no_level_is_proved_without_an_observation",
        f"{CONTACT}::test_nothing_is_called_where_no_tool_performs_an_operation",
    ),
    "an error, an empty result or no answer counted as an inline result": (
        f"{CONTACT}::test_no_level_is_proved_without_an_observation",
        f"{CONTACT}::test_less_than_the_threshold_in_force_proves_nothing",
        f"{BAD_SERVERS}::test_words_for_nothing_found_do_not_show_that_nothing_is_offloaded",
    ),
    "a query that finds nothing was not named as the cause": (
        f"{INIT}::test_arguments_that_find_nothing_are_told",
        f"{COMMANDS}::test_a_server_that_holds_nothing_gets_no_verdict",
    ),
    "a crash in an experiment was hidden behind a dozen requirements without a verdict": (
        f"{SHORTAGE}::test_a_crash_in_an_experiment_is_one_finding",
        f"{CAUSES}::test_a_server_that_ended_is_the_first_step",
    ),
    "the end of stderr was shown without the line that names the error": (
        "tests/spec/test_display.py::test_the_line_that_names_an_error_is_found_among_what_follows_it",
    ),
    "init did not ask for the tool, and succeeded without any": (
        f"{CONTACT}::test_init_asks_for_the_tool_in_a_terminal",
        f"{INIT}::test_a_server_without_a_fitting_tool",
        f"{INIT}::test_a_server_with_one_tool_of_another_name",
    ),
    "init of a server without offloading did not say so in a sentence": (
        f"{INIT}::test_a_server_that_does_not_seem_to_offload_is_told_so_in_one_sentence",
    ),
    "evidence did not show the record that was wrong": (
        f"{CONTACT}::test_evidence_shows_the_offending_record_and_marks_its_key",
        f"{CONTACT}::test_evidence_of_a_wrong_default_shows_the_record_and_not_only_the_header",
        f"{HTML}::test_the_offending_key_and_value_are_marked",
    ),
    "failures of one cause filled 700 lines": (
        f"{CAUSES}::test_failures_at_one_place_are_one_cause",
        f"{CAUSES}::test_a_bad_server_fits_two_screens_and_verbose_shows_all",
        f"{MARKDOWN}::test_failures_of_one_cause_are_folded_below_the_first_without_the_evidence_again",
    ),
    "nothing said what to repair first": (
        f"{CAUSES}::test_what_blocks_the_lowest_level_comes_first",
        f"{CAUSES}::test_the_next_step_names_causes_and_the_level",
    ),
    "code in a fix was escaped in Markdown": (f"{MARKDOWN}::test_code_in_a_fix_is_code",),
    "a command without -- and a group for explain were misread": (
        f"{COMMANDS}::test_a_command_needs_no_separator",
        f"{COMMANDS}::test_what_cannot_be_explained_is_misuse",
    ),
    "a rerun made all experiments": (
        f"{LOOP}::test_the_last_failures_are_run_again_in_seconds",
        f"{LOOP}::test_fail_fast_ends_at_the_first_failure",
        f"{LOOP}::test_watch_runs_again_until_it_is_interrupted",
        f"{LOOP}::test_ids_groups_and_checks_are_selected",
    ),
    "nothing showed what of the machine is missing": (
        f"{LOOP}::test_doctor_names_what_is_there",
        f"{LOOP}::test_doctor_says_what_to_do",
    ),
    "the report had no picture of levels, requirements and threshold": (
        f"{HTML}::test_the_page_begins_with_a_bar_for_each_level_and_a_cell_for_each_requirement",
        f"{HTML}::test_each_call_is_shown_on_its_side_of_the_threshold",
        f"{BROWSER}::test_axe_finds_nothing_and_nothing_leaves_the_page",
        f"{BROWSER}::test_a_phone_scrolls_in_one_direction_only",
    ),
    "a reproducer could not be copied": (f"{BROWSER}::test_the_command_that_shows_a_failure_again_can_be_copied",),
    "the site began with a list of links": (
        f"{SITE}::test_the_front_page_says_what_it_is_and_shows_a_command_a_report_and_a_picture",
        f"{SITE}::test_the_page_of_results_is_made_of_what_was_kept",
    ),
    "ids broke in two on the site, and heads of the matrix left the screen": (
        f"{SITE}::test_an_id_is_on_one_line",
        f"{BROWSER}::test_the_heads_of_a_long_matrix_stay_in_sight_and_a_row_has_an_address",
    ),
    "there was no scoreboard and no trend": (
        "tests/conformance/cli/test_compare.py::test_reports_of_several_servers_are_a_scoreboard_with_the_best_first",
        "tests/conformance/cli/test_compare.py::test_reports_of_one_server_are_a_trend_in_the_order_of_their_runs",
    ),
    "validation alone installed fifty packages": (
        "tests/project/test_install.py::test_what_needs_no_server_needs_no_extra",
    ),
    # A CI engineer
    "a full temporary folder accused a sound server": (
        f"{SHORTAGE}::test_a_full_folder_is_named_before_the_run",
        f"{SHORTAGE}::test_a_folder_that_fills_ends_the_run_without_blame",
        f"{SHORTAGE}::test_a_trial_that_meets_a_full_disk_ends_the_run",
        f"{SHORTAGE}::test_a_limit_that_is_too_low_is_said_in_one_line",
    ),
    "a result that the server could not write was a failure of LRO-THR-06": (
        "tests/conformance/engine/test_unwritten_results.py::test_what_could_not_be_written_is_not_observed",
        "tests/conformance/engine/test_unwritten_results.py::test_a_server_that_can_write_nothing_has_no_verdict",
    ),
    "the action certified another server than it was told": (
        f"{ATTACKS}::an unbalanced quote beside a profile",
        f"{ATTACKS}::nothing but blanks beside a profile",
    ),
    "the action did not fit Windows and the jobs of a matrix": (
        f"{CI}::test_the_action_names_another_runner_on_windows",
        f"{CI}::test_the_jobs_of_a_matrix_are_told_to_name_their_artifacts",
    ),
    "a baseline left a level open and did not say why": (
        f"{CAUSES}::test_what_a_baseline_leaves_open_is_named",
        f"{LOOP}::test_a_written_baseline_is_one_that_accepts_what_is_there",
    ),
    "a run had no time limit": (
        f"{CONTACT}::test_a_run_ends_at_its_time_limit_with_what_is_known",
        f"{CONTACT}::test_a_tool_that_timed_out_twice_is_not_called_again",
    ),
    "secrets of the command line were in every report": (
        f"{CONTACT}::test_secrets_of_the_command_line_are_in_no_report",
    ),
    # An attacker
    "validate --follow showed secrets of the machine": (
        f"{ATTACKS}::the environment of the process",
        f"{ATTACKS}::hashes of passwords",
        f"{ATTACKS}::a link with the right name to a secret",
        f"{ATTACKS}::a secret for annotations",
        f"{ATTACKS}::a secret for code scanning",
    ),
    "pipes, devices and links in evidence were opened": (
        f"{ATTACKS}::a pipe in the evidence",
        f"{ATTACKS}::a link to a secret in the evidence",
        f"{ATTACKS}::the kernel's log",
        f"{ATTACKS}::zeros behind a link",
    ),
    "gzip unpacked without end": (
        f"{ATTACKS}::half a gigabyte of newlines in half a megabyte",
        f"{ATTACKS}::half a gigabyte of blanks in one line",
    ),
    "a number in base 60 was read, and very long ones were a defect": (
        f"{ATTACKS}::a number in base 60",
        f"{ATTACKS}::minutes and seconds",
    ),
    "deep nesting in evidence was a defect": (f"{ATTACKS}::brackets in a trial",),
    "a name of 50 MB and repeated requirements took gigabytes": (
        f"{ATTACKS}::a name of fifty megabytes",
        f"{ATTACKS}::400000 requirements",
        f"{ATTACKS}::a requirement twice",
    ),
    "halt in a recipe was no error": (f"{TOOL_ATTACKS}::queries that would end jq",),
    # Published servers
    "a server that does not start was started again and again": (
        f"{CONTACT}::test_a_server_that_does_not_start_is_started_twice",
        f"{CONTACT}::test_a_missing_program_is_one_line",
    ),
    "the proxy was not recognised by an absolute path": (
        f"{CONTACT}::test_the_proxy_is_recognised_however_it_is_started",
        f"{CONTACT}::test_a_proxy_that_only_its_handshake_shows_is_known_as_one",
    ),
    "results that are no memories failed level 1 behind the proxy": (
        f"{CONTACT}::test_results_that_are_no_memories_are_not_judged_as_such_behind_a_proxy",
    ),
    "recipes returned as much as was offloaded": (
        f"{RECIPES}::test_no_recipe_of_a_captured_result_exceeds_its_bound",
        f"{RECIPES}::test_a_field_that_all_records_share_is_no_recipe",
        f"{RECIPES}::test_descriptions_tell_about_how_much_comes_out",
    ),
    "a text of one line could not be read by any recipe": (
        f"{RECIPES}::test_a_long_line_is_read_in_parts_and_around_a_word",
        f"{FORMS}::test_rows_in_pythons_spelling_are_rows",
    ),
    "rows that are arrays, and several arrays, had recipes about the wrapping": (
        "tests/proxy/payload/test_captures.py::test_a_capture_becomes_the_records_that_a_person_would_make",
        f"{RECIPES}::test_fields_within_an_object_have_recipes",
        f"{RECIPES}::test_groups_are_those_of_a_field_with_few_short_values",
        f"{RECIPES}::test_numbers_in_a_table_are_numbers_to_sort_by",
    ),
    "an image with structured content was offloaded as well as shown": (
        f"{BLOCKS}::test_structured_content_that_repeats_an_image_weighs_nothing",
        f"{RECIPES}::test_recipes_and_preview_show_no_base64",
    ),
    "large texts in embedded resources passed whole": (
        f"{BLOCKS}::test_the_text_of_an_embedded_resource_is_offloaded",
    ),
    "widened output schemas weighed 175 tokens a tool": (f"{MANNERS}::test_a_widened_schema_costs_at_most_20_tokens",),
    "a descriptor had no preview, and one set of recipes for all texts": (
        f"{RECIPES}::test_a_preview_shows_the_beginning_and_is_small",
        f"{RECIPES}::test_the_headings_of_a_text_have_a_recipe",
        f"{FORMS}::test_forms_have_these_fields",
    ),
    "each recipe repeated the path": (f"{RECIPES}::test_each_command_has_the_path_once_and_stands_alone",),
    "one record was counted in the plural": (f"{RECIPES}::test_one_of_something_is_called_so",),
    "a pending call had no answer when a signal came, and the exit code was 0": (
        f"{MANNERS}::test_a_signal_answers_what_is_pending",
    ),
    "a limit that a tool declares for a client was ignored": (
        f"{MANNERS}::test_a_limit_that_a_tool_declares_is_its_threshold",
    ),
    "a name that several servers of a proxy have was only said to be unknown": (
        "tests/proxy/relay/test_hub.py::test_each_call_goes_to_the_server_that_is_meant",
    ),
}
"""Findings, and the tests that settle each: functions, or attacks by what they are about."""


@cache
def _tests_of(file: str) -> frozenset[str]:
    """Names of the tests of a module, with their class, or what the attacks of a table are about."""
    text = (ROOT / file).read_text(encoding="utf-8")
    if file.endswith(".yaml"):
        return frozenset(attack["about"] for attack in yaml.safe_load(text))
    return frozenset(_functions(ast.parse(text)))


def _functions(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            yield from (f"{node.name}::{each.name}" for each in node.body if isinstance(each, ast.FunctionDef))


@pytest.mark.parametrize("finding", FINDINGS)
def test_a_finding_has_tests_that_exist(finding: str) -> None:
    tests = [test.partition("::") for test in FINDINGS[finding]]
    assert tests
    assert [f"{file}::{name}" for file, _, name in tests if name not in _tests_of(file)] == []
