"""Failures by cause: what to repair, in which order, on two screens; and what a baseline leaves open."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date

import pytest

from lro_conformance.judging.results import Report, RequirementResult
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.baseline import Entry, apply_baseline
from lro_conformance.report.causes import MAX_SHOWN_CAUSES, causes, next_step
from lro_conformance.report.details import brief_lines
from lro_conformance.report.exit_code import exit_code
from lro_conformance.report.formats.html import to_html
from lro_conformance.report.formats.markdown import to_markdown
from lro_conformance.report.live import LiveView
from lro_conformance.report.terminal import VERBOSE, plain_lines
from lro_conformance.report.view import facts, sections
from lro_spec.catalogue import catalogue
from tests.support.report_samples import check, judged, report

FAILED = {1: "failed", 2: "failed", 3: "failed"}


def at(place: str, id: str, level: int = 2, verdict: Verdict = Verdict.FAIL) -> RequirementResult:
    result = judged(id, verdict, level=level)
    return replace(result, checks=tuple(replace(c, place=place) for c in result.checks))


def recipes() -> list[RequirementResult]:
    return [at("descriptor /jq_recipes", f"LRO-REC-{n:02}") for n in range(1, 11)]


def made(*results: RequirementResult, **more: object) -> Report:
    return replace(report(*results), **{"levels": FAILED, "achieved": 0, **more})  # pyright: ignore


def test_failures_at_one_place_are_one_cause() -> None:
    (cause,) = causes(made(*recipes()))
    assert (cause.first.id, len(cause.others), cause.level) == ("LRO-REC-01", 9, 2)


def test_what_blocks_the_lowest_level_comes_first() -> None:
    found = causes(made(*recipes(), at("", "LRO-ERR-02", 3), at("", "LRO-THR-07", 1)))
    assert [c.first.id for c in found] == ["LRO-THR-07", "LRO-REC-01", "LRO-ERR-02"]


def test_other_places_and_other_observations_are_other_causes() -> None:
    assert len(causes(made(at("line /a", "LRO-A-01"), at("line /b", "LRO-A-02"), at("", "LRO-A-03")))) == 3


def test_the_next_step_names_causes_and_the_level() -> None:
    levels = {1: "proved", 2: "failed", 3: "failed"}
    assert next_step(made(*recipes(), at("", "LRO-ERR-02", 3), levels=levels)) == (
        "fix this: LRO-REC-01 (and 9 with the same cause), and level 2 is proved"
    )
    unseen = judged("LRO-CLN-01", Verdict.NOT_OBSERVED, level=2)
    step = next_step(made(at("", "LRO-THR-07", 1), at("", "LRO-THR-06", 1), unseen))
    assert step is not None
    assert step.startswith("fix these 2: LRO-THR-")
    assert step.endswith("and level 1 is proved")
    step = next_step(made(*recipes(), unseen, levels=levels))
    assert step is not None
    assert step.endswith("level 2 also needs LRO-CLN-01, not observed so far")


def test_the_next_step_names_the_highest_level_that_it_proves() -> None:
    passed = (judged("LRO-REC-01", Verdict.PASS, level=2), judged("LRO-ERR-02", Verdict.PASS, level=3))
    step = next_step(made(at("", "LRO-FILE-09", 1), *passed))
    assert step == "fix this: LRO-FILE-09, and level 3 is proved"
    unseen = judged("LRO-ERR-04", Verdict.NOT_OBSERVED, level=3)
    assert next_step(made(at("", "LRO-FILE-09", 1), *passed, unseen)) == "fix this: LRO-FILE-09, and level 2 is proved"


def test_a_server_without_lro_needs_more_than_the_one_that_failed() -> None:
    levels = {1: "proved", 2: "proved", 3: "failed"}
    assert next_step(made(at("", "LRO-IMPL-03", 3), levels=levels, implemented=False)) == (
        "fix this: LRO-IMPL-03; only then do the other requirements of LRO apply"
    )


def test_a_server_without_lro_may_claim_what_it_has_proved() -> None:
    levels = {1: "proved", 2: "proved", 3: "failed"}
    found = made(at("", "LRO-IMPL-03", 3), levels=levels, implemented=False, achieved=2)
    assert next_step(found) == (
        "claim level 2, which needs no LRO (--level 2), or fix this: LRO-IMPL-03; only then do the other requirements "
        "of LRO apply"
    )
    claimed = replace(found, claimed=2)
    assert next_step(claimed) == "fix this: LRO-IMPL-03; only then do the other requirements of LRO apply"


def test_a_level_names_only_what_the_levels_below_do_not() -> None:
    results = (at("", "LRO-A-01", 1), judged("LRO-B-01", Verdict.NOT_OBSERVED, level=1), at("", "LRO-C-01", 3))
    shown = {f.label: f.text for f in facts(made(*results))}
    assert (shown["Level 1"], shown["Level 2"]) == ("failed by LRO-A-01", "failed by the same")
    assert shown["Level 3"] == "failed by the same and LRO-C-01"


def test_a_server_that_ended_is_the_first_step() -> None:
    hidden = judged("LRO-CLN-01", Verdict.NOT_OBSERVED, level=2)
    ended = replace(hidden, checks=tuple(replace(c, reproduce="sh", observed="it exited") for c in hidden.checks))
    step = next_step(made(at("", "LRO-THR-07", 1), ended))
    assert step == "fix the trouble that hides 1 requirement, then this: LRO-THR-07, and level 1 is proved"


def test_a_run_that_its_time_limit_ended_is_to_be_run_to_its_end() -> None:
    """The option that helps is in the line; a failure or trouble that was seen comes first."""
    why = "the run ended at its time limit of 3 s (raise it with --timeout)"
    unseen = replace(judged("LRO-CLN-01", Verdict.NOT_OBSERVED, level=1), reason=why)
    ended = made(unseen, levels=dict.fromkeys((1, 2, 3), "unproved"), incomplete=why)
    assert next_step(ended) == f"run the suite to its end, to observe LRO-CLN-01: {why}"
    failed = made(at("", "LRO-THR-07", 1), unseen, incomplete=why)
    assert (next_step(failed) or "").startswith(
        "fix this: LRO-THR-07, and certify again: level 1 also needs LRO-CLN-01"
    )


def test_many_requirements_without_a_verdict_for_one_reason_are_one_row_and_no_next_step() -> None:
    why = "no tool of the server resembles recall, search or inject, so none was called and no level is proved"
    unseen = [replace(judged(r.id, Verdict.NOT_OBSERVED, level=1), reason=why) for r in catalogue()[:20]]
    other = replace(judged("LRO-CLN-01", Verdict.NOT_OBSERVED, level=1), reason="something else")
    unproved = made(*unseen, other, levels=dict.fromkeys((1, 2, 3), "unproved"), notes=(why,))
    shown = "\n".join(plain_lines(unproved))
    assert shown.count(f": {why}\n") == 1
    assert "20 not observed (LRO-" in shown
    assert "something else" in shown
    assert next_step(unproved) is not None
    assert next_step(made(*unseen, levels=unproved.levels, notes=(why,))) is None


def bad_server() -> Report:
    """A report in which each requirement fails, or is not observed because another one fails."""
    said = "the server said something else than what was expected, " * 3
    script = "\n".join(['printf \'%s\' \'{"jsonrpc":"2.0","id":1,"method":"initialize"}\''] * 18)
    results: list[RequirementResult] = []
    for n, r in enumerate(catalogue()):
        verdict = Verdict.NOT_OBSERVED if n % 3 == 2 else Verdict.FAIL
        evidence, shown = ("\n".join([said * 5] * 40), script) if verdict is Verdict.FAIL else ("", "")
        seen = check(r.id, verdict, observed=f"{n} {said}", place=f"place {n}", evidence=evidence, reproduce=shown)
        results.append(RequirementResult(r, verdict, (seen,)))
    return made(*results, notes=("a note",) * 3)


def rows(lines: Iterable[str], columns: int = 100) -> int:
    return sum(max(1, -(-len(line) // columns)) for line in lines)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bad_server_fits_two_screens_and_verbose_shows_all() -> None:
    bad = bad_server()
    shown = list(plain_lines(bad, columns=100))
    stream = Terminal()
    LiveView(stream, width=100).show(bad)
    assert rows(shown) <= 120
    assert rows(re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).splitlines()) <= 120
    assert sum(line.startswith("FAIL LRO-") for line in shown) == MAX_SHOWN_CAUSES
    assert any(line.startswith("also failed    LRO-") for line in shown)
    failed = sum(r.verdict is Verdict.FAIL for r in bad.requirements)
    assert sum(line.startswith("FAIL LRO-") for line in plain_lines(bad, VERBOSE)) == failed


@pytest.mark.parametrize("columns", [80, 100, 120, 200])
@pytest.mark.parametrize("lines", [14, 40])
def test_evidence_and_scripts_of_long_lines_fit_two_screens(columns: int, lines: int) -> None:
    path = f"{'../' * 32}tmp/run/work/out/atlatl-recall-01M8AYMTF7YCF8CSMXNHTD2WSM.jsonl"
    script = "\n".join([f"printf '%s' {path}"] * lines)
    evidence = "\n".join([f"file: {path} {path}"] * lines)
    failed = [
        judged(f"LRO-A-{n:02}", Verdict.FAIL, observed=f"{n} {path} {path}", evidence=evidence, reproduce=script)
        for n in range(5)
    ]
    passed = [judged(f"LRO-B-{n:02}", Verdict.PASS, level=n % 4 or None) for n in range(60)]
    unseen = [judged(f"LRO-C-{n:02}", Verdict.NOT_OBSERVED, reason=f"{n} {path}") for n in range(12)]
    bad = made(*failed, *passed, *unseen, levels=dict.fromkeys((1, 2, 3), "failed"), notes=(path, path))
    stream = Terminal()
    LiveView(stream, width=columns).show(bad)
    drawn = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    for shown in (list(plain_lines(bad, columns=columns)), drawn.splitlines()):
        assert rows(shown, columns) <= 120
        assert any(re.match(r" *reproduce +a script of [0-9,]+ characters; -v and the HTML", line) for line in shown)
        assert not any("paste this" in line for line in shown)
    assert any(script.splitlines()[0] in line for line in plain_lines(bad, VERBOSE, columns))


def test_a_pipe_wraps_nothing_so_its_script_stays() -> None:
    script = "\n".join(["x" * 180] * 10)
    bad = made(*(judged(f"LRO-A-{n:02}", Verdict.FAIL, observed=f"{n}", reproduce=script) for n in range(12)))
    assert script in "\n".join(plain_lines(bad))


def test_a_long_reason_is_cut_on_a_terminal_only() -> None:
    said = " ".join(map(str, range(90)))
    many = made(*(judged(f"LRO-A-{n:03}", Verdict.WARN, level=1, observed=f"{n}: {said}") for n in range(120)))
    assert sum(line.endswith(said) for line in plain_lines(many)) == 120
    assert not any(line.endswith(said) for line in plain_lines(many, columns=100))


def test_a_short_report_names_each_requirement_with_its_reason() -> None:
    few = made(judged("LRO-A-01", Verdict.FAIL), judged("LRO-A-02", Verdict.NOT_OBSERVED))
    shown = list(plain_lines(few))
    assert any(line.startswith("not-observed    LRO-A-02") and line.endswith("observed of LRO-A-02") for line in shown)


def test_one_cause_is_shown_in_full_with_the_others_below() -> None:
    shown = list(plain_lines(made(*recipes())))
    assert sum(line.startswith("FAIL LRO-REC") for line in shown) == 1
    assert any(line.startswith("  same cause   LRO-REC-02, LRO-REC-03") for line in shown)


def test_what_a_baseline_leaves_open_is_named() -> None:
    unseen = judged("LRO-THR-09", Verdict.NOT_OBSERVED, level=1)
    results = (judged("LRO-THR-07", Verdict.FAIL, level=1), unseen, judged("LRO-THR-06", Verdict.PASS, level=1))
    day = date(2099, 1, 1)
    name = results[0].checks[0].name
    accepted = apply_baseline(made(*results, claimed=3), (Entry(name, Verdict.FAIL, day, "issue 1"),))
    assert exit_code(accepted) == 1
    shown = [line for line in plain_lines(accepted) if line.startswith("still open")]
    assert len(shown) == 1
    assert shown[0].split(maxsplit=2)[2] == (
        "LRO-THR-09 file.lro_thr_09 (not-observed): let it be observed, or accept it with verdict: not-observed"
    )
    both = (Entry(name, Verdict.FAIL, day, "i"), Entry(unseen.checks[0].name, Verdict.NOT_OBSERVED, day, "i"))
    done = apply_baseline(made(*results, claimed=3), both)
    assert exit_code(done) == 0
    assert not [line for line in plain_lines(done) if line.startswith("still open")]


def test_what_a_failure_may_hide_is_not_to_be_accepted() -> None:
    failed = [judged(f"LRO-THR-{n:02}", Verdict.FAIL, level=1) for n in (6, 7)]
    unseen = judged("LRO-THR-09", Verdict.NOT_OBSERVED, level=1)
    entry = Entry(failed[0].checks[0].name, Verdict.FAIL, date(2099, 1, 1), "issue 1")
    shown = list(plain_lines(apply_baseline(made(*failed, unseen, claimed=3), (entry,))))
    assert [line.split(maxsplit=2)[2] for line in shown if line.startswith("still open")] == [
        "LRO-THR-07 file.lro_thr_07 (fail): fix it, or accept it",
        "LRO-THR-09 (not-observed): fix the failures first, which may hide it",
    ]
    assert "gate            red, exit code 1: 2 still open" in shown


@pytest.mark.parametrize("claimed", [None, 3])
def test_all_that_closes_the_gate_is_named_beside_a_stale_entry(claimed: int | None) -> None:
    passed, failed = judged("LRO-REC-08", Verdict.PASS), judged("LRO-ERR-04", Verdict.FAIL)
    entry = Entry(passed.checks[0].name, Verdict.FAIL, date(2099, 1, 1), "issue 1")
    shown = list(plain_lines(apply_baseline(made(passed, failed, claimed=claimed), (entry,))))
    assert "still open      LRO-ERR-04 file.lro_err_04 (fail): fix it, or accept it" in shown
    assert "gate            red, exit code 1: 1 entry stale, 1 still open" in shown


def test_a_pointer_to_more_says_only_what_there_is() -> None:
    failed = [judged(f"LRO-A-{n:02}", Verdict.FAIL, observed=f"{n}") for n in range(2)]
    unseen = judged("LRO-A-03", Verdict.NOT_OBSERVED)
    assert not any(line.startswith("more  ") for line in plain_lines(made(failed[0], unseen)))
    text = "-v shows all failures with evidence and script; --only ID runs one of them again"
    assert f"more           {text}" in list(plain_lines(made(*failed)))
    assert any("and why 1 requirement was not observed" in line for line in plain_lines(made(*failed, unseen)))


@pytest.mark.parametrize(("number", "last"), [(9, "line 9"), (10, "line 10"), (11, "… (2 more lines; -v shows them)")])
def test_no_single_line_of_evidence_is_left_out(number: int, last: str) -> None:
    lines = [f"line {n + 1}" for n in range(number)]
    assert list(brief_lines(lines))[-1] == last


def test_without_a_failure_the_next_step_is_an_observation() -> None:
    unseen = judged("LRO-CFG-03", Verdict.NOT_OBSERVED, level=2, observed="the profile gives no way to set the TTL")
    levels = {1: "proved", 2: "unproved", 3: "unproved"}
    assert next_step(made(judged("LRO-THR-07", Verdict.PASS, level=1), unseen, levels=levels)) == (
        "let the suite observe LRO-CFG-03 (the profile gives no way to set the TTL)"
    )
    later = judged("LRO-CLN-01", Verdict.NOT_OBSERVED, level=2)
    assert "LRO-CFG-03, LRO-CLN-01 (the first: the" in (next_step(made(unseen, later, levels=levels)) or "")
    proved = {1: "proved", 2: "proved", 3: "proved"}
    assert next_step(made(judged("LRO-THR-07", Verdict.PASS, level=1), levels=proved)) is None


def test_a_server_that_exits_in_many_experiments_says_why_once() -> None:
    why = "the server exited with code 1: Traceback (most recent call last): KeyError: 'title' in line 12 of server.py"
    ids = ("LRO-CLN-01", "LRO-CLN-02", "LRO-CLN-03")
    ended = [
        judged(id, Verdict.NOT_OBSERVED, level=level, observed=why, reproduce="sh", evidence="seen")
        for id, level in zip(ids, (2, 1, None), strict=True)
    ]
    found = made(*ended)
    rows = [row.text for section in sections(found, unfold=True) for row in section.rows]
    assert [text.partition(": ")[2] for text in rows] == [why, *["for the same reason as LRO-CLN-02"] * 2]
    page = to_html(found)
    assert (page.count("KeyError"), page.count("for the same reason as LRO-CLN-01")) == (1, 2)
    table = to_markdown(found).partition("All requirements")[2]
    assert (table.count("KeyError"), table.count("for the same reason as LRO-CLN-01")) == (1, 2)


def test_a_short_reason_is_repeated() -> None:
    found = made(*(judged(id, Verdict.NOT_OBSERVED, observed="no file") for id in ("LRO-CLN-01", "LRO-CLN-02")))
    rows = [row.text for section in sections(found, unfold=True) for row in section.rows]
    assert [text.partition(": ")[2] for text in rows] == ["no file"] * 2
