"""What a reader sees: the plain lines, the live view, and that no server can write to the terminal through them."""

import io
import json
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console

from lro_conformance.judging.events import CheckJudged, RunStarted, TrialFinished, TrialStarted, TrialStep
from lro_conformance.judging.results import Report, ServerInfo
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.formats.markdown import to_markdown
from lro_conformance.report.live import LiveView, Progress
from lro_conformance.report.sanitize import lines, one_line
from lro_conformance.report.terminal import NORMAL, QUIET, VERBOSE, PlainView, open_view, plain_lines
from tests.support.renderings import Terminal
from tests.support.report_samples import check, judged, mixed, report

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u2066[bold red]:smile:[/]\x00\r\u200b\U000e0041\ud800"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\U000e0041\ud800-\udfff]")


def plain(made: Report, verbosity: int = NORMAL) -> str:
    return "\n".join(plain_lines(made, verbosity))


def live(made: Report, verbosity: int = NORMAL, width: int = 100) -> str:
    stream = Terminal()
    LiveView(stream, verbosity, width=width).show(made)
    return re.sub("\x1b\\[[0-9;]*m", "", stream.getvalue())


both = pytest.mark.parametrize("render", [plain, live])
Render = Callable[..., str]


def hostile_report() -> Report:
    said = {"observed": HOSTILE, "evidence": f'{{"id":1,"x":"{HOSTILE}"}}', "expected": HOSTILE}
    return report(
        judged("LRO-A-01", Verdict.FAIL, **said),
        judged("LRO-A-02", Verdict.WARN, keyword="SHOULD", **said),
        judged("LRO-A-03", Verdict.NOT_OBSERVED, reason=HOSTILE),
        judged("LRO-A-04", Verdict.ERROR, **said),
        server=ServerInfo(HOSTILE, HOSTILE, (HOSTILE,), HOSTILE),
        notes=(HOSTILE,),
    )


class TestText:
    def test_escapes_are_the_ones_of_json(self):
        said = "a\x1b\u202e\U000e0041b"
        assert json.loads('"' + one_line(said) + '"') == said

    def test_letters_of_any_script_and_emoji_stay(self):
        assert one_line("naïve 漢字 עברית 🙂") == "naïve 漢字 עברית 🙂"

    def test_one_line_is_one_line_and_no_longer_than_its_limit(self):
        assert one_line("a\nb\tc\rd") == "a\\nb\\tc\\rd"
        assert one_line("abcdef", 4) == "abc…"
        assert len(one_line("\x1b" * 1_000_000, 40)) <= 40

    def test_lines_keep_breaks_and_tabs(self):
        assert lines("a\tb\r\nc\x07\n") == ["a\tb", "c\\u0007"]
        assert lines(" \n") == []


class TestReport:
    @both
    def test_nothing_that_a_server_said_reaches_the_terminal_raw(self, render: Render):
        for verbosity in (QUIET, NORMAL, VERBOSE):
            shown = render(hostile_report(), verbosity)
            assert "LRO-A-01" in shown
            assert UNSAFE.findall(shown) == []
        assert UNSAFE.findall(render(report(failure=f"died\n{HOSTILE}"))) == []

    @both
    def test_markup_and_emoji_codes_are_shown_as_they_are(self, render: Render):
        assert "[bold red]:smile:[/]" in render(hostile_report(), NORMAL)

    @both
    def test_levels_come_in_order_and_those_that_decide_none_last(self, render: Render):
        shown = render(mixed())
        headings = ["Level 1 failed", "Level 2 failed", "Level 3 failed", "Deciding no level"]
        found = [shown.index(h) for h in headings]
        assert found == sorted(found)

    @both
    def test_a_row_of_a_failure_cannot_be_read_as_what_was_seen(self, render: Render):
        shown = render(mixed())
        failed = [r for r in mixed().requirements if r.verdict is Verdict.FAIL]
        assert failed
        assert all(f"not met: {r.requirement.title}" in shown for r in failed)

    @both
    def test_passes_fold_into_a_count_and_unfold_on_request(self, render: Render):
        assert re.search(r"file +2 passed", render(mixed()))
        assert "LRO-FILE-02" not in render(mixed())
        assert "LRO-FILE-02" in render(mixed(), VERBOSE)

    @both
    def test_what_was_not_observed_of_a_pass_is_shown_on_request(self, render: Render):
        id = "LRO-CLN-01"
        parts = [check(id, Verdict.NOT_OBSERVED, observed=why) for why in ("no other folder", "no TTL", "no TTL")]
        passed = replace(judged(id, Verdict.PASS), checks=(check(id, Verdict.PASS), *parts))
        made = report(passed, judged("LRO-CLN-02", Verdict.PASS))
        part = "title of LRO-CLN-01: 3 of 4 checks not observed (no other folder; no TTL)"
        assert part in re.sub(r"\s+", " ", render(made, VERBOSE))
        assert "title of LRO-CLN-02:" not in render(made, VERBOSE)
        assert "not observed" not in render(made)

    @both
    def test_failures_come_in_full_after_all_verdicts_and_before_the_summary(self, render: Render):
        shown = render(mixed())
        full = shown.index("statement of LRO-FILE-06")
        assert shown.index("Deciding no level") < full < shown.index("edition ")
        for text in ("expected of LRO-FILE-06", "observed of LRO-FILE-06", "how to fix LRO-FILE-06"):
            assert shown.rindex(text) > full
        assert '\n{"jsonrpc":"2.0","id":7,"method":"tools/call"}' in shown
        assert "lro explain LRO-FILE-06" in shown

    @both
    def test_an_error_is_said_to_be_the_suites(self, render: Render):
        assert "defect of lro-spec, not of the server" in render(mixed())

    @both
    def test_reasons_stand_beside_what_has_no_verdict(self, render: Render):
        shown = render(mixed())
        assert re.search(r"LRO-CLN-01 +title of LRO-CLN-01: no cleanup key in the profile", shown)
        assert re.search(r"LRO-ERR-04 +title of LRO-ERR-04: our audit of May", shown)
        assert re.search(r"LRO-REC-04 .*erratum of the specification: observed of LRO-REC-04", shown)

    @both
    def test_quiet_leaves_failures_and_summary(self, render: Render):
        shown = render(mixed(), QUIET)
        assert "Deciding no level" not in shown
        assert "LRO-CLN-01" not in shown
        assert "statement of LRO-FILE-06" in shown
        assert "seed 42" in shown

    @both
    def test_warnings_are_in_full_only_on_request(self, render: Render):
        assert "statement of LRO-GUI-03" not in render(mixed())
        shown = render(mixed(), VERBOSE)
        assert shown.index("statement of LRO-GUI-03") < shown.index("statement of LRO-FILE-06")

    @both
    def test_summary_says_who_was_judged_and_what_was_found(self, render: Render):
        shown = render(mixed(notes=("created differs between equal calls",)))
        for pattern in (
            r"server +memories 1\.4\.0 \(MCP 2025-11-25\)",
            r"Level 1 +failed by LRO-FILE-06",
            r"achieved +no level",
            r"errata +defects of the specification, not of the server: LRO-REC-04 *\n",
            r"note +created differs between equal calls",
            r"run +seed 42, 8\.2 s, 9 server starts",
        ):
            assert re.search(pattern, shown), pattern

    def test_an_unproved_level_names_what_is_missing_and_an_attested_one_who_vouches(self):
        levels = {1: "proved", 2: "unproved", 3: "attested"}
        shown = plain(
            report(
                judged("LRO-CLN-01", Verdict.NOT_OBSERVED, level=2),
                judged("LRO-CLN-04", Verdict.NOT_OBSERVED, level=2, keyword="SHOULD"),
                judged("LRO-ERR-04", Verdict.ATTESTED, level=3),
                levels=levels,
                achieved=1,
                claimed=3,
            )
        )
        assert re.search(r"Level 1 +proved\n", shown)
        assert re.search(r"Level 2 +unproved: no verdict on LRO-CLN-01\n", shown)
        assert re.search(r"Level 3 +attested by the vendor for LRO-ERR-04\n", shown)
        assert re.search(r"achieved +level 1 \(claimed: level 3\)", shown)

    def test_a_server_without_lro_is_told_calmly(self):
        shown = plain(report(implemented=False, levels={1: "proved", 2: "proved", 3: "failed"}, achieved=2))
        assert re.search(r"offloads +no: .*optional at levels 1 and 2 and required at level 3", shown)

    @both
    def test_no_verdict_is_one_finding_with_the_end_of_stderr(self, render: Render):
        shown = render(
            report(judged("LRO-A-01", Verdict.NOT_OBSERVED), failure="exited with 1\nTraceback\nKeyError: 'DB'")
        )
        assert "exited with 1" in shown
        assert "KeyError: 'DB'" in shown
        assert "LRO-A-01" not in shown
        assert "Level 1" not in shown

    def test_evidence_is_not_wrapped_and_floods_no_terminal(self):
        long = '{"x":"' + "y" * 300 + '"}'
        assert f"\n{long}\n" in live(report(judged("LRO-A-01", Verdict.FAIL, evidence=long)), VERBOSE, width=40)
        flood = report(judged("LRO-A-01", Verdict.FAIL, evidence=("z" * 100_000 + "\n") * 100))
        assert len(plain(flood)) < 20_000
        shown = plain(flood, VERBOSE)
        assert len(shown) < 400_000
        assert "(100,000 characters; complete in the JSON report)" in shown
        assert "(60 more lines; complete in the JSON report)" in shown

    def test_a_message_of_which_evidence_has_the_beginning_is_not_said_to_be_complete_elsewhere(self):
        message = '← {"result":"' + "y" * 1_988 + " … (52456 bytes)"
        cut = report(judged("LRO-A-01", Verdict.FAIL, evidence=message))
        assert "… (52,456 bytes; -v shows more)" in plain(cut)
        assert message in plain(cut, VERBOSE)
        assert "… (52,456 bytes; more in the JSON report)" in to_markdown(cut)

    @pytest.mark.parametrize("width", [40, 72, 100, 200])
    def test_narrow_and_wide_terminals_keep_ids_whole_and_no_line_is_too_long(self, width: int):
        shown = live(mixed(), VERBOSE, width=width)
        for result in mixed().requirements:
            assert re.search(rf"^  . {result.requirement.id} ", shown, re.MULTILINE), result.requirement.id
        evidence = '{"jsonrpc":"2.0","id":7,"method":"tools/call"}'
        assert [line for line in shown.splitlines() if len(line) > width and line != evidence] == []

    def test_plain_lines_hold_no_escapes_and_do_not_depend_on_the_order_of_events(self):
        stream = io.StringIO()
        with PlainView(stream) as view:
            for name in ("b", "a"):
                view(TrialFinished(name, 1.0))
            view.show(mixed())
        assert stream.getvalue() == plain(mixed()) + "\n"
        assert "\x1b" not in stream.getvalue()

    def test_plain_verdicts_are_words_at_the_start_of_a_line(self):
        assert re.search(r"^fail +LRO-FILE-06 ", plain(mixed()), re.MULTILINE)
        assert re.search(r"^not-observed +LRO-CLN-01 ", plain(mixed()), re.MULTILINE)


class TestChoice:
    def test_live_on_a_terminal(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv("TERM", "xterm")
        assert isinstance(open_view(Terminal()), LiveView)

    @pytest.mark.parametrize(
        ("stream", "environment", "wanted"),
        [
            (io.StringIO(), {}, False),
            (Terminal(), {"NO_COLOR": "1"}, False),
            (Terminal(), {"TERM": "dumb"}, False),
            (Terminal(), {}, True),
        ],
    )
    def test_plain_elsewhere_and_on_request(
        self, stream: io.StringIO, environment: dict, wanted: bool, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv("TERM", "xterm")
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        assert isinstance(open_view(stream, plain=wanted), PlainView)

    def test_a_locale_without_the_marks_does_not_end_the_run(self):
        stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        view = open_view(stream)
        view.show(report(judged("LRO-A-01", Verdict.FAIL, observed="漢")))
        assert b"\\u6f22" in stream.buffer.getvalue()  # type: ignore[attr-defined]


class TestProgress:
    def test_follows_the_trials(self):
        now = [0.0]
        progress = Progress(lambda: now[0])
        progress.apply(RunStarted(("x",), "lro-6400", ("edges", "cleanup", "writes")))
        progress.apply(TrialStarted("edges", "the threshold, from both sides"))
        progress.apply(TrialStep("edges", "calibrating\x1b[2J"))
        progress.apply(TrialStarted("writes", "failing writes"))
        progress.apply(TrialFinished("writes", 1.5, "no folder"))
        progress.apply(CheckJudged(check("LRO-A-01", Verdict.PASS)))
        now[0] = 2.0
        edges, cleanup, writes = progress.trials()
        assert (edges.state, edges.seconds, edges.detail) == ("running", 2.0, "calibrating\\u001b[2J")
        assert (cleanup.state, cleanup.name) == ("waiting", "cleanup")
        assert (writes.state, writes.seconds, writes.detail) == ("broken", 1.5, "no folder")
        assert progress.checks() == {Verdict.PASS: 1}

    def test_counts_from_many_threads(self):
        progress = Progress()
        event = CheckJudged(check("LRO-A-01", Verdict.PASS))
        threads = [threading.Thread(target=lambda: [progress.apply(event) for _ in range(500)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert progress.checks() == {Verdict.PASS: 4_000}

    def test_live_view_shows_a_run_and_clears_it_before_the_report(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("TERM", "xterm")
        stream = Terminal()
        with LiveView(stream, width=60) as view:
            view(RunStarted(("x",), "lro-6400", tuple(f"trial-{n}" for n in range(60))))
            view(TrialStarted("trial-59", "the last"))
            view(TrialFinished("trial-0", 0.5))
            view(CheckJudged(check("LRO-A-01", Verdict.FAIL)))
            shown = Console(file=Terminal(), width=60, height=20, record=True)
            shown.print(view.progress_table())
        text = shown.export_text()
        assert "the last" in text  # what is under way is shown however many there are
        assert "1 of 60 trials, checks 1: ✗ 1" in text
        assert "\x1b[?25h" in stream.getvalue()  # the cursor is back

    def test_live_view_keeps_marks_and_times_on_a_narrow_terminal(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("TERM", "xterm")
        view = LiveView(Terminal(), width=40)
        view(TrialStarted("edges", "a title much longer than there is room for on forty columns"))
        view(TrialFinished("edges", 1234.56, "a problem that is also longer than there is room for"))
        shown = Console(file=Terminal(), width=40, record=True)
        shown.print(view.progress_table())
        row = shown.export_text().splitlines()[0]
        assert row.startswith("! a title")
        assert "1234.6 s" in row
        assert len(row) <= 40

    def test_plain_view_reports_trials_beside_the_report_on_request(self, capsys: pytest.CaptureFixture[str]):
        view = PlainView(sys.stdout, VERBOSE)
        view(TrialFinished("survey", 1.25, "timed out\x1b"))
        view(TrialStarted("edges", "exact threshold"))
        view(TrialFinished("edges", 0.5))
        shown = capsys.readouterr()
        lines = "trial survey 1.2 s: timed out\\u001b\ntrial edges (exact threshold) 0.5 s\n"
        assert (shown.out, shown.err) == ("", lines)
