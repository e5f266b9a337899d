"""Checks on evidence that no server of ours gives: every subject is looked at, every guard is there for something."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lro_conformance.analysis.timestamps import CLOCK_TOLERANCE_S
from lro_conformance.capture import reproduce
from lro_conformance.judging.results import CheckResult
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.trials.cleanup import Cleaning, Decoy, Planted
from lro_conformance.trials.decoys import DAY
from lro_conformance.trials.folders import AWKWARD
from tests.support.made import Made
from tests.support.made_evidence import NAME, OUT, WRITTEN, call, file, judged, seen, survey

assert NAME is not None


class TestWhereFilesLie:
    NAME = "naming.file_is_in_the_output_directory"

    @pytest.mark.parametrize(
        "unknown",
        [
            {"output_dir": None},
            {"real_output_dir": None},
            {"file": file(real_path=None)},
            {"file": file("/elsewhere/a.jsonl")},
        ],
    )
    def test_one_that_tells_nothing_does_not_hide_the_next(self, unknown: dict[str, Any]) -> None:
        result = judged(self.NAME, survey=survey(call(**unknown), call()))
        assert seen(result) == (Verdict.PASS, 1)

    @pytest.mark.parametrize("below", ["/out/a/x.jsonl", "/out/a/b/x.jsonl"])
    def test_a_folder_below_is_another(self, below: str) -> None:
        assert judged(self.NAME, survey=survey(call(file=file(below)))).verdict is Verdict.FAIL


class TestNames:
    @pytest.mark.parametrize(
        ("off", "verdict"),
        [
            (-CLOCK_TOLERANCE_S, Verdict.PASS),
            (CLOCK_TOLERANCE_S, Verdict.PASS),
            (-CLOCK_TOLERANCE_S - 1, Verdict.FAIL),
            (CLOCK_TOLERANCE_S + 1, Verdict.FAIL),
        ],
    )
    def test_the_time_may_be_as_much_beside_as_clocks_are(self, off: float, verdict: Verdict) -> None:
        one = call(started=WRITTEN + off, ended=WRITTEN + off)
        assert judged("naming.ulid_encodes_creation_time", survey=survey(one)).verdict is verdict

    @pytest.mark.parametrize("path", ["/out/plain.jsonl", "/out/atlatl-recall-short.jsonl"])
    def test_one_without_a_ulid_does_not_hide_the_next(self, path: str) -> None:
        late = call(started=WRITTEN + 60, ended=WRITTEN + 60)
        result = judged("naming.ulid_encodes_creation_time", survey=survey(call(file=file(path)), late, call()))
        assert result.verdict is Verdict.FAIL
        assert result.subjects == 2


class TestCallsInFlight:
    NAME = "naming.every_call_has_its_own_file"

    @pytest.fixture(autouse=True)
    def without_scripts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """No script is made of a call that no server was asked."""
        monkeypatch.setattr(reproduce, "of_call_in_context", lambda one: "")

    def test_a_pair_that_tells_nothing_does_not_hide_the_next(self) -> None:
        lost = (call(), call(file_records=[{"id": "a"}, {"id": "b"}]))
        first = (call(file=file("/out/first")), call(file=file("/out/alone"), file_records=[]))
        result = judged(self.NAME, survey=survey(together=(first, lost)))
        assert seen(result) == (Verdict.FAIL, 3), "two files of their own, and one pair"
        assert "has the 2 records" in result.expected

    @pytest.mark.parametrize(
        ("records", "said"),
        [
            ([{"id": "0"}], "1 record, in a file of its own"),
            ([{"id": "0"}, {"id": "1"}, {"id": "2"}], "3 records, in a file of its own"),
            ([{"id": "0"}, {"id": "2"}], "2 records, different ones or with different fields, in a file of its own"),
            ([{"id": "1"}, {"id": "0"}], "2 records, different ones or with different fields, in a file of its own"),
            (
                [{"id": "0", "content": "x"}, {"id": "1"}],
                "2 records, different ones or with different fields, in a file of",
            ),
            ([], "0 records, in a file of its own"),
        ],
    )
    def test_other_records_than_alone_are_wrong(self, records: Any, said: str) -> None:
        """Whatever the header says of them, which may be another call's."""
        alone = [{"id": "0"}, {"id": "1"}]
        for count in (2, len(records)):
            pair = (
                call(outcome="inline", file_records=records, header={"count": count}),
                call(file_records=alone, header={"count": 2}),
            )
            result = judged(self.NAME, survey=survey(together=(pair,)))
            assert result.verdict is Verdict.FAIL
            assert result.observed.startswith(said)

    def test_a_call_that_is_offloaded_alone_is_offloaded_in_flight(self) -> None:
        inline = call(outcome="inline", file=None, file_records=[], text="Offloading failed")
        result = judged(self.NAME, survey=survey(together=((inline, call(file_records=[{"id": "0"}])),)))
        assert seen(result) == (Verdict.FAIL, 1)
        assert result.observed == 'inline: "Offloading failed"'
        refused = call(outcome="error", file=None, file_records=[])
        assert seen(judged(self.NAME, survey=survey(together=((refused, call()),)))) == (Verdict.NOT_OBSERVED, 0)

    def test_only_numbers_are_compared_if_identical_calls_differ(self) -> None:
        pair = (call(outcome="inline", file_records=[{"id": "0"}]), call(file_records=[{"id": "1"}]))
        restless = survey(together=(pair,), volatile_operations={"recall"})
        assert judged(self.NAME, survey=restless).verdict is Verdict.PASS

    def test_a_file_that_could_not_be_read_is_no_file_of_another_call(self) -> None:
        gone = file(problem="cannot be opened")
        result = judged(self.NAME, survey=survey(call(), call(file=gone), call(file=None)))
        assert seen(result) == (Verdict.PASS, 1)


class TestThresholdSetting:
    NAME = "config.threshold_setting"

    def judged(self, tiny: dict[str, Made], *, inline: dict[Any, Made] | None = None, **other: Any) -> CheckResult:
        calls = [call(operation=name) for name in ("recall", "search")]
        weighed = call(estimate=100, file=file(characters=400))
        made = survey(*calls, tiny=tiny, repeats=dict.fromkeys(tiny, (weighed, weighed)), **{"effective": [], **other})
        return judged(self.NAME, survey=made, inline=Made(whole=inline or {}, threshold=1000))

    def test_two_records_inline_are_more_than_one_token(self) -> None:
        small = call(outcome="inline", records=[{"id": "a"}, {"id": "b"}])
        result = self.judged({"recall": small})
        assert result.verdict is Verdict.FAIL
        assert result.expected == "recall: two records are offloaded at threshold_tokens = 1"

    @pytest.mark.parametrize(("record", "found"), [(12345, (Verdict.PASS, 1)), (123456, (Verdict.FAIL, 2))])
    def test_what_may_be_one_token_is_not_held_against_it(self, record: int, found: tuple[Verdict, int]) -> None:
        """A quarter of a token for each character: two tokens are eight of them."""
        few = call(outcome="inline", records=[record])
        assert seen(self.judged({"recall": few, "search": call()})) == found

    def test_what_may_be_within_the_lowest_threshold_is_not_held_against_it(self) -> None:
        some = call(outcome="inline", records=[{"id": "a" * 90}, {"id": "b" * 90}])
        known: Any = {"lowest": 2, "is_small": lambda call: call is some}
        result = self.judged({"recall": some, "search": call(outcome="inline", records=[{"id": "c" * 90}])}, **known)
        assert (result.verdict, result.expected) == (
            Verdict.FAIL,
            "search: some records are offloaded at threshold_tokens = 2",
        )
        assert self.judged({"recall": some}, **known).verdict is Verdict.NOT_OBSERVED

    def test_one_operation_that_goes_its_own_way_does_not_hide_the_next(self) -> None:
        inline = call(outcome="inline", records=[{"id": "a"}, {"id": "b"}])
        result = self.judged({"recall": inline, "search": call()}, effective=["search"])
        assert seen(result) == (Verdict.PASS, 1)

    def test_an_operation_that_never_offloads_or_returned_nothing_is_left_out(self) -> None:
        nothing = call(outcome="inline", records=[])
        unknown = call(outcome="inline", records=[{"id": "a"}, {"id": "b"}])
        result = self.judged({"inject": unknown, "recall": nothing, "search": call()})
        assert seen(result) == (Verdict.PASS, 1)

    def test_a_billion_leaves_everything_inline(self) -> None:
        whole = {
            ("recall", None): call(outcome="inline"),
            ("search", None): call(outcome="error"),
            ("inject", None): call(),
        }
        assert seen(self.judged({}, inline=whole)) == (Verdict.PASS, 1)

    @pytest.mark.parametrize(("estimate", "verdict"), [(1000, Verdict.FAIL), (1001, Verdict.NOT_OBSERVED)])
    def test_what_exceeds_the_highest_threshold_may_be_offloaded(self, estimate: int, verdict: Verdict) -> None:
        result = self.judged({}, inline={("recall", None): call(estimate=estimate, file=file(characters=2000))})
        assert result.verdict is verdict
        if verdict is Verdict.FAIL:
            assert result.expected == "recall: inline at threshold_tokens = 1000"

    @pytest.mark.parametrize(("characters", "verdict"), [(1000, Verdict.FAIL), (1001, Verdict.NOT_OBSERVED)])
    def test_a_header_alone_does_not_tell_that_a_result_exceeds_it(self, characters: int, verdict: Verdict) -> None:
        boasting = call(estimate=2_000_000_000, file=file(characters=characters))
        assert self.judged({}, inline={("recall", None): boasting}).verdict is verdict
        unread = call(estimate=2_000_000_000, file=None)
        assert self.judged({}, inline={("recall", None): unread}).verdict is Verdict.FAIL
        assert self.judged({}, inline={("search", None): call()}).verdict is Verdict.FAIL


class TestOutputFolder:
    NAME = "config.output_dir_setting"

    def judged(self, *calls: Made) -> CheckResult:
        return judged(self.NAME, survey=survey(), documents=Made(documents=[Made(call=one) for one in calls]))

    @pytest.mark.parametrize("unknown", [{"file": None}, {"real_output_dir": None}])
    def test_that_cannot_be_set_tells_nothing(self, unknown: dict[str, Any]) -> None:
        assert self.judged(call(**unknown)).verdict is Verdict.NOT_OBSERVED

    def test_a_relative_path_does_not_hide_the_next(self) -> None:
        elsewhere = call(file=file("/elsewhere/a.jsonl"))
        assert seen(self.judged(call(file=file("a.jsonl")), elsewhere)) == (Verdict.FAIL, 1)

    def test_a_link_into_the_folder_is_where_it_leads(self) -> None:
        assert self.judged(call(file=file("/x/a", real_path="/out/a"))).verdict is Verdict.PASS
        assert self.judged(call(file=file("/out/a", real_path="/x/a"))).verdict is Verdict.FAIL
        assert self.judged(call(file=file("/out/a", real_path=None))).verdict is Verdict.PASS


class TestSwitchedOn:
    def judged(self, *awkward: Made, before: tuple[Made, ...] = ()) -> tuple[Verdict, int]:
        return seen(judged("config.enabled_offloads", folders=Made(awkward=awkward, not_switched_on=before)))

    def test_what_is_offloaded_without_the_setting_is_offloaded_with_it(self) -> None:
        on = {"settings": {"enabled": True}}
        assert self.judged(call(**on), call(**on, outcome="error")) == (Verdict.PASS, 1), "an error is not this one's"
        inline = call(**on, outcome="inline")
        assert self.judged(call(), before=(inline, inline)) == (Verdict.FAIL, 2)
        assert self.judged(call()) == (Verdict.NOT_OBSERVED, 0)


class TestFolderOfAnyName:
    NAME = "config.folder_may_have_any_name"

    def judged(self, *awkward: Made, adjustable: bool = True) -> CheckResult:
        known = survey(adjustable=adjustable, effective=("recall",))
        return judged(self.NAME, survey=known, folders=Made(awkward=awkward, unset=()))

    def made(self, outcome: str, value: str = f"/out/{AWKWARD}", **other: Any) -> Made:
        return call(outcome=outcome, text="[]", start=Made(env={"OUTPUT_DIR": value}), **other)

    def test_what_is_inline_there_is_told(self) -> None:
        result = self.judged(self.made("offloaded"), self.made("inline"), self.made("error"))
        assert seen(result) == (Verdict.FAIL, 3)
        assert self.judged(self.made("offloaded")).verdict is Verdict.PASS

    def test_what_does_not_depend_on_the_name_tells_nothing(self) -> None:
        assert self.judged(self.made("inline"), adjustable=False).verdict is Verdict.NOT_OBSERVED
        assert self.judged(self.made("inline", "config.toml")).verdict is Verdict.NOT_OBSERVED
        assert self.judged(self.made("inline", operation="search")).verdict is Verdict.NOT_OBSERVED
        assert self.judged(self.made("no answer")).verdict is Verdict.NOT_OBSERVED


class TestTemporaryFolder:
    NAME = "config.system_temporary_directory"

    def judged(
        self, *unset: Made, known: tuple[Made, ...] = (call(),), preset: Any = None, fixed: Any = None, **other: Any
    ) -> CheckResult:
        bare = other.pop("bare", None)
        folders = Made(**{"unset": unset, "real_temps": (Path("/tmp"),), "refused": None, "refusing": None, **other})
        defaults = Made(bare=bare, bare_temps=(Path("/tmp"),), preset=preset or {})
        return judged(self.NAME, survey=survey(*known, fixed=fixed or {}), folders=folders, defaults=defaults)

    @pytest.mark.parametrize(
        ("path", "verdict"),
        [
            ("/tmp/a", Verdict.PASS),
            ("/tmp/mine/a", Verdict.PASS),
            ("/tmp/mine/own/a", Verdict.FAIL),
            ("/var/a", Verdict.FAIL),
        ],
    )
    def test_is_where_files_go_or_one_folder_in_it(self, path: str, verdict: Verdict) -> None:
        assert self.judged(call(file=file(path))).verdict is verdict
        assert self.judged(bare=call(file=file(path))).verdict is verdict

    @pytest.mark.parametrize(("cwd", "verdict"), [("/tmp/checkout", Verdict.FAIL), ("/tmp", Verdict.PASS)])
    def test_the_working_directory_is_no_temporary_one_though_it_may_be_in_it(self, cwd: str, verdict: Verdict) -> None:
        assert self.judged(call(file=file(f"{cwd}/a"), start=Made(cwd=Path(cwd)))).verdict is verdict

    def test_the_path_without_links_counts_where_it_is_known(self) -> None:
        assert self.judged(call(file=file("/var/a", real_path="/tmp/a"))).verdict is Verdict.PASS
        assert self.judged(call(file=file("/tmp/a", real_path=None))).verdict is Verdict.PASS

    def test_an_operation_that_goes_astray_with_a_folder_tells_nothing_without(self) -> None:
        astray = call(file=file("/elsewhere/a"))
        result = self.judged(call(file=file("/var/a")), known=(call(), astray))
        assert (result.verdict, result.observed) == (
            Verdict.NOT_OBSERVED,
            "no file with a reliable path was written without output_dir",
        )
        assert self.judged(call(file=file("/tmp/a")), known=()).verdict is Verdict.NOT_OBSERVED
        other = call(operation="search", file=file("/elsewhere/a"))
        assert self.judged(call(file=file("/tmp/a")), known=(call(), other)).verdict is Verdict.PASS
        unset = call(real_output_dir=None, file=file("/elsewhere/a"))
        assert self.judged(call(file=file("/tmp/a")), known=(call(), unset)).verdict is Verdict.PASS

    def test_what_is_inline_when_it_is_empty_is_wrong_only_where_it_is_not_when_unset(self) -> None:
        inline = call(outcome="inline", file=None)
        assert self.judged(inline, bare=call(file=file("/tmp/a"))).verdict is Verdict.FAIL
        assert self.judged(inline, bare=call(outcome="inline", file=None)).verdict is Verdict.NOT_OBSERVED
        assert self.judged(inline).verdict is Verdict.NOT_OBSERVED

    def test_of_a_server_that_is_started_with_a_folder_only_the_empty_value_counts(self) -> None:
        """If the suite can give it a value at all: else the folder of the command is in force."""
        inside, outside = call(file=file("/tmp/a")), call(file=file("/x/a"))
        flag = {"output_dir": "--output-dir"}
        assert seen(self.judged(inside, bare=outside, preset=flag)) == (Verdict.PASS, 1)
        assert seen(self.judged(outside, bare=outside, preset=flag)) == (Verdict.FAIL, 1)
        unseen = self.judged(outside, bare=outside, preset=flag, fixed=flag)
        assert (unseen.verdict, unseen.observed.partition(" (")[0]) == (
            Verdict.NOT_OBSERVED,
            "--output-dir in the server's command fixes the output folder",
        )

    def test_a_server_that_does_not_start_with_it_is_blamed(self) -> None:
        result = self.judged(refused="exit code 1", bare=call(file=file("/tmp/a")))
        assert (result.verdict, result.observed) == (Verdict.FAIL, "exit code 1 (1 of 2 subjects)")


class TestOnByDefault:
    NAME = "config.enabled_by_default"

    @pytest.mark.parametrize(
        ("bare", "verdict"),
        [
            (call(), Verdict.PASS),
            (call(outcome="inline"), Verdict.FAIL),
            (call(outcome="error"), Verdict.NOT_OBSERVED),
            (None, Verdict.NOT_OBSERVED),
        ],
    )
    def test_is_seen_without_any_setting(self, bare: Made | None, verdict: Verdict) -> None:
        defaults = Made(brackets=(Made(offloaded=call()),), bare=bare, enabled=(), preset={})
        assert judged(self.NAME, defaults=defaults).verdict is verdict

    @pytest.mark.parametrize(
        ("late", "verdict"), [((call(outcome="inline"), call()), Verdict.FAIL), ((), Verdict.NOT_OBSERVED)]
    )
    def test_is_not_what_has_to_be_switched_on(self, late: tuple[Made, ...], verdict: Verdict) -> None:
        defaults = Made(brackets=(Made(offloaded=None),), bare=None, enabled=late, preset={})
        assert judged(self.NAME, defaults=defaults).verdict is verdict


def cleaning(*ages: tuple[int, bool], ttl: int | None = 600, **other: Any) -> Cleaning:
    """A cleanup: files of some age, and whether they are gone."""
    planted = tuple(Planted(OUT / f"atlatl-recall-{n}.jsonl", age, gone) for n, (age, gone) in enumerate(ages))
    known: dict[str, Any] = {"decoys": (), "own": (), "events": (), "events_observable": True, "call": None}
    return Cleaning(ttl, planted, **{**known, **other})


OLD, BOTH = (40 * DAY, True), ((300, False), (1200, True), (40 * DAY, True))
SPARES = cleaning((40 * DAY, False))


def cleanup(set_ttl: Cleaning | None = None, **other: Any) -> Made:
    known: dict[str, Any] = {"own": None, "crowd": None, "reason": None, "refused": None, "nothing_planted": None}
    return Made(**{"set_ttl": set_ttl, **known, **other})


def own(*left: str, **other: Any) -> Made:
    known: dict[str, Any] = {"stopped_by": (), "late": None, "ttl_s": 2}
    known |= {
        "aged_gone": True,
        "fresh_stays": None,
        "younger": None,
        "triggered": True,
        "waited_s": 8.0,
        "cleanups": 3,
        "within_s": None,
    }
    return Made(**{"paths": ("/out/a", "/out/b"), "left": left, "gone": not left, **known, **other})


class TestExpiry:
    NAME = "cleanup.expired_files_are_deleted"

    @pytest.mark.parametrize(
        ("found", "usual", "verdict"),
        [
            (cleanup(cleaning(*BOTH), own=own()), None, Verdict.PASS),
            (cleanup(cleaning(*BOTH), own=own("/out/a")), None, Verdict.FAIL),
            (cleanup(cleaning(*BOTH), own=own("/out/a", aged_gone=False)), None, Verdict.NOT_OBSERVED),
            (cleanup(cleaning((300, True), OLD), own=own("/out/a")), None, Verdict.NOT_OBSERVED),
            (cleanup(SPARES, own=own("/out/a")), None, Verdict.FAIL),
            (cleanup(SPARES, own=own("/out/a", triggered=False)), None, Verdict.NOT_OBSERVED),
            (cleanup(SPARES, own=own(triggered=False)), None, Verdict.PASS),
            (cleanup(cleaning(OLD)), None, Verdict.PASS),
            (cleanup(SPARES), None, Verdict.FAIL),
            (cleanup(cleaning((40 * DAY, False), triggered=False)), None, Verdict.NOT_OBSERVED),
            (cleanup(SPARES), cleaning(OLD, ttl=None), Verdict.PASS),
            (cleanup(None), cleaning(OLD, ttl=None), Verdict.PASS),
            (cleanup(None), None, Verdict.NOT_OBSERVED),
            (cleanup(None, own=own()), None, Verdict.PASS),
            (cleanup(cleaning(OLD), refused="it says no"), None, Verdict.NOT_OBSERVED),
            (cleanup(SPARES, refused="it says no"), None, Verdict.FAIL),
        ],
    )
    def test_is_seen_of_the_own_files_or_else_of_planted_ones(
        self, found: Made, usual: Cleaning | None, verdict: Verdict
    ) -> None:
        assert judged(self.NAME, cleanup=found, defaults=Made(cleaning=usual)).verdict is verdict

    @pytest.mark.parametrize(
        ("ages", "blamed"),
        [
            (((300, False), (1200, True), OLD), []),
            (((300, True), (1200, True), OLD), ["300 s old stays"]),
            (((300, False), (1200, False), OLD), ["1200 s old is deleted"]),
        ],
    )
    def test_under_a_ttl_goes_by_it(self, ages: tuple[tuple[int, bool], ...], blamed: list[str]) -> None:
        result = judged("cleanup.ttl_setting", cleanup=cleanup(cleaning(*ages)), defaults=Made(cleaning=None))
        assert seen(result) == (Verdict.FAIL if blamed else Verdict.PASS, 2)
        assert all(words in result.expected for words in blamed)

    def test_of_many_fresh_files_is_none(self) -> None:
        for crowd, verdict in (
            (Made(call=call(), files=200, gone=()), Verdict.PASS),
            (Made(call=call(), files=200, gone=("a",)), Verdict.FAIL),
            (Made(call=call(outcome="inline"), files=200, gone=("a",)), Verdict.NOT_OBSERVED),
            (None, Verdict.NOT_OBSERVED),
        ):
            assert judged("cleanup.many_fresh_files_stay", cleanup=cleanup(crowd=crowd)).verdict is verdict

    @pytest.mark.parametrize("stays", [True, False])
    def test_stay_when_older_ones_expire(self, stays: bool) -> None:
        younger = Made(stays=stays)
        seen_files = cleanup(own=own(younger=younger))
        result = judged("cleanup.fresh_files_stay", cleanup=seen_files, defaults=Made(cleaning=None))
        assert seen(result) == (Verdict.PASS if stays else Verdict.FAIL, 1)

    def test_that_could_not_be_seen_says_why(self) -> None:
        for reason, said in (
            (None, "no file was written to a folder with many other files"),
            ("no folder", "no folder"),
        ):
            assert judged("cleanup.many_fresh_files_stay", cleanup=cleanup(reason=reason)).observed == said

    @pytest.mark.parametrize(
        ("first", "second", "found"),
        [
            (None, cleaning(OLD), (Verdict.FAIL, 1)),
            (SPARES, cleaning(OLD), (Verdict.FAIL, 1)),
            (cleaning(OLD, events_observable=False), cleaning(OLD), (Verdict.FAIL, 1)),
            (cleaning(OLD, events=("stderr: x",)), cleaning(OLD, events=("stderr: x",)), (Verdict.PASS, 2)),
            (cleaning(OLD, events=("stderr: x",), events_observable=False), None, (Verdict.PASS, 1)),
            (cleaning(OLD, OLD, events=("stderr: x", "notifications: x")), None, (Verdict.FAIL, 1)),
            (cleaning(OLD, OLD, events=("stderr: x", "stderr: y", "file: x")), None, (Verdict.PASS, 1)),
        ],
    )
    def test_is_told_once_for_each_file_in_one_place(
        self, first: Cleaning | None, second: Cleaning | None, found: tuple[Verdict, int]
    ) -> None:
        result = judged("cleanup.expiry_event_is_emitted", cleanup=cleanup(first), defaults=Made(cleaning=second))
        verdict, subjects = found
        assert (result.verdict, result.subjects) == (Verdict.WARN if verdict is Verdict.FAIL else verdict, subjects)

    @pytest.mark.parametrize("gone", [False, True])
    def test_lists_the_old_file_that_was_read(self, gone: bool) -> None:
        read = Planted(OUT / "atlatl-recall-read.jsonl", 40 * DAY, gone)
        found = cleanup(cleaning(OLD, read=read, own=(("/out/a.jsonl", True),)))
        name = "cleanup.fresh_files_stay" if gone else "cleanup.age_counts_from_creation"
        result = judged(name, cleanup=found, defaults=Made(cleaning=None))
        assert result.verdict is Verdict.FAIL
        state = "deleted" if gone else "still there"
        line = f"atlatl-recall-read.jsonl: {40 * DAY} s old, read just before the cleanup, {state}"
        assert line in result.evidence.splitlines()

    def test_spares_other_names_wherever_it_deletes_at_all(self) -> None:
        decoy = Decoy(OUT / "notes.jsonl", "name", gone=True)
        found = cleanup(SPARES)
        result = judged(
            "cleanup.nothing_else_is_deleted", cleanup=found, defaults=Made(cleaning=cleaning(OLD, decoys=(decoy,)))
        )
        assert (result.verdict in (Verdict.FAIL, Verdict.WARN), result.subjects) == (True, 1)
        assert judged("cleanup.links_are_not_followed", cleanup=found, defaults=Made(cleaning=None)).subjects == 0


class TestDefaultDetail:
    def judged(self, whole: Mapping[Any, Made], operation: str = "recall") -> CheckResult:
        name = "detail.recall_defaults_to_light" if operation == "recall" else "detail.inject_defaults_to_medium"
        return judged(name, survey=survey(operations={operation: Made(details=(), needs_detail=False)}, whole=whole))

    def of(self, *records: Mapping[str, Any], header: str | None = None, summary: str | None = None, **o: Any) -> Made:
        return call(file_records=list(records), header={"detail": header}, summary={"detail": summary}, **o)

    @pytest.mark.parametrize(
        ("records", "said", "found"),
        [
            ([{"id": "a", "content": ""}], None, (Verdict.PASS, 1)),
            ([{"id": "a"}], "light", (Verdict.PASS, 2)),
            ([{"id": "a"}, {"id": "b", "content": "text"}], None, (Verdict.FAIL, 1)),
            ([{"id": "a"}], "medium", (Verdict.FAIL, 2)),
            ([{"id": "a"}], "full", (Verdict.FAIL, 2)),
        ],
    )
    def test_without_levels_shows_in_the_content_and_in_what_is_said(
        self, records: Any, said: str | None, found: tuple[Verdict, int]
    ) -> None:
        assert seen(self.judged({("recall", None): self.of(*records, header=said)})) == found
        assert seen(self.judged({("recall", None): self.of(*records, summary=said)})) == found

    def test_of_inject_may_have_a_content(self) -> None:
        one = self.of({"id": "a", "content": "text"}, header="medium")
        assert seen(self.judged({("inject", None): one}, "inject")) == (Verdict.PASS, 1)

    def test_that_is_said_in_two_ways_is_wrong_in_one(self) -> None:
        one = self.of({"id": "a"}, header="light", summary="medium")
        assert self.judged({("recall", None): one}).verdict is Verdict.FAIL

    @pytest.mark.parametrize("whole", [{}, {"file": None}, {"file_records": []}])
    def test_is_not_seen_without_a_file_to_read(self, whole: dict[str, Any]) -> None:
        calls = {("recall", None): call(**whole)} if whole else {}
        assert self.judged(calls).verdict is Verdict.NOT_OBSERVED

    @pytest.mark.parametrize(
        ("one", "other", "verdict"),
        [
            ({"id": "a", "title": "t"}, {"id": "a", "title": "u"}, Verdict.PASS),
            ({"id": "a", "title": "t", "content": "c"}, {"id": "a", "title": "t"}, Verdict.FAIL),
            ({"id": "a", "title": "t"}, {"id": "a", "title": "t", "content": "c"}, Verdict.FAIL),
            ({"id": "a", "content": ""}, {"id": "a"}, Verdict.PASS),
            ({"id": "a", "rank": 1}, {"id": "a"}, Verdict.PASS),
            ({"id": "a", "tags": ["x"]}, {"id": "a", "tags": []}, Verdict.FAIL),
            ({"id": "a", "temporal": {"ttl": 1}}, {"id": "a", "temporal": {"ttl": 2}}, Verdict.PASS),
            ({"id": "a", "temporal": {"content": 1}}, {"id": "a", "temporal": {"ttl": 2}}, Verdict.PASS),
            ({"id": "a"}, {"id": "b", "content": "c"}, Verdict.PASS),
        ],
    )
    def test_has_the_fields_of_the_level_by_its_name(
        self, one: Mapping[str, Any], other: Mapping[str, Any], verdict: Verdict
    ) -> None:
        result = self.judged({("recall", None): self.of(one), ("recall", "light"): self.of(other)})
        assert seen(result) == (verdict, 1)

    def test_by_its_name_without_records_leaves_the_content_to_tell(self) -> None:
        one = self.of({"id": "a", "content": "text"})
        result = self.judged({("recall", None): one, ("recall", "light"): self.of()})
        assert (result.verdict, result.expected) == (Verdict.FAIL, "recall without a detail level has no content")

    def test_by_its_name_is_looked_at_and_not_what_is_said(self) -> None:
        light = self.of({"id": "a"}, header="light")
        result = self.judged({("recall", None): self.of({"id": "a"}, header="full"), ("recall", "light"): light})
        assert seen(result) == (Verdict.PASS, 1)


class TestInject:
    def survey(self, *calls: Made, **other: Any) -> Made:
        return survey(*calls, operations={"inject": Made(details=())}, **{"budgets": (), "whole": {}, **other})

    @pytest.mark.parametrize(
        ("memory", "text", "tells"),
        [
            ({"title": "Rotate keys"}, "## Rotate keys", True),
            ({"title": "Rotate keys"}, "## Other things", False),
            ({"title": "abc", "id": "0001"}, "abc", False),
            ({"title": "abcd"}, "x abcd y", True),
            ({"content": "\n\nLate start"}, "nothing of it", False),
            ({"content": "\n\nLate start"}, "Late start", True),
            ({"content": "    \n"}, "nothing of it", False),
            ({"content": "Hi\nand more"}, "Hi there", False),
            ({"content": "Hi\nand more"}, "so and more", True),
            ({"content": "x" * 41}, "x" * 40, True),
            ({"content": "x" * 41}, "x" * 39, False),
            ({"content": None, "title": 5, "id": "memory-1"}, "see memory-1", True),
        ],
    )
    def test_text_tells_of_a_memory_by_how_it_begins(self, memory: Mapping[str, Any], text: str, tells: bool) -> None:
        same = {"operation": "inject", "arguments": {"query": "*"}}
        filed = self.survey(
            call(**same, file_records=[memory]),
            call(operation="search", arguments={"query": "*"}, file_records=[{"title": text}]),
        )
        inline = Made(calls=(call(**same, outcome="inline", text=text),))
        stable = Made(unstable_operations=set())
        result = judged("inject.text_inline_below_the_threshold", survey=filed, inline=inline, comparison=stable)
        assert seen(result) == (Verdict.PASS if tells else Verdict.FAIL, 1)

    def test_another_call_tells_nothing_of_what_was_found(self) -> None:
        filed = self.survey(call(operation="inject", arguments={"query": "a"}, file_records=[{"title": "Rotate keys"}]))
        nothing = call(operation="inject", arguments={"query": "*"}, outcome="inline", text="# Context")
        inline, stable = Made(calls=(nothing,)), Made(unstable_operations=set())
        result = judged("inject.text_inline_below_the_threshold", survey=filed, inline=inline, comparison=stable)
        assert result.verdict is Verdict.NOT_OBSERVED

    @pytest.mark.parametrize(
        ("small", "large", "verdict"),
        [
            (90, 100, Verdict.PASS),
            (89, 100, Verdict.FAIL),
            (None, 100, None),
            (90, None, None),
            (100, 90, Verdict.PASS),
        ],
    )
    def test_is_weighed_alike_whatever_the_budget(
        self, small: int | None, large: int | None, verdict: Verdict | None
    ) -> None:
        budgets = (call(estimate=small), call(estimate=large))
        edges = Made(edges={}, reason=None)
        for made, expected in (
            (self.survey(budgets=budgets), verdict or Verdict.NOT_OBSERVED),
            (self.survey(budgets=budgets[:1]), Verdict.NOT_OBSERVED),
        ):
            result = judged("inject.decided_before_budgeting", survey=made, edges=edges)
            assert result.verdict is expected
        assert result.observed == "the exact threshold of inject could not be tested"


def ulid(milliseconds: int, random: int) -> str:
    value = milliseconds << 80 | random
    return "".join("0123456789ABCDEFGHJKMNPQRSTVWXYZ"[value >> 5 * place & 31] for place in range(25, -1, -1))


class TestNamesCannotBeGuessed:
    NAME = "hardening.names_cannot_be_guessed"

    def judged(self, *parts: tuple[int, int], others: tuple[tuple[int, int], ...] = ()) -> CheckResult:
        calls, more = (
            [
                call(file=file(f"/out/atlatl-recall-{ulid(1_772_480_001_000 + t, r)}.jsonl"), start=Made(number=number))
                for t, r in few
            ]
            for number, few in enumerate((parts, others))
        )
        return judged(self.NAME, survey=survey(*calls), folders=Made(unset=(), awkward=more))

    @pytest.mark.parametrize(
        ("one", "other", "verdict"),
        [
            ((0, 2**70), (1, 2**70 + 2**40), Verdict.PASS),
            ((0, 2**70 + 2**40), (1, 2**70), Verdict.PASS),
            ((0, 2**70), (1, 2**70 + 2**40 - 1), Verdict.WARN),
            ((1, 2**70), (0, 2**70 - 2**40 + 1), Verdict.WARN),
            ((0, 2**70), (0, 2**70 + 1), Verdict.NOT_OBSERVED),
        ],
    )
    def test_by_counting_on(self, one: tuple[int, int], other: tuple[int, int], verdict: Verdict) -> None:
        assert self.judged(one, other).verdict in (verdict, Verdict.FAIL if verdict is Verdict.WARN else verdict)

    def test_within_a_millisecond_does_not_hide_what_comes_after(self) -> None:
        assert self.judged((0, 5), (0, 6), (9, 7)).subjects == 1

    def test_from_those_of_another_process(self) -> None:
        assert self.judged((0, 5), others=((9, 2**60),)).verdict is Verdict.PASS
        assert self.judged((0, 5), others=((9, 5),)).verdict not in (Verdict.PASS, Verdict.NOT_OBSERVED)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o700, 0o000, None])
def test_a_file_for_the_user_alone_is_private(mode: int | None) -> None:
    result = judged("hardening.files_are_private", survey=survey(call(file=file(mode=mode))))
    assert seen(result) == (Verdict.PASS, 1)


@pytest.mark.parametrize("bit", [0o001, 0o002, 0o004, 0o010, 0o020, 0o040])
def test_a_file_with_any_right_of_others_is_not(bit: int) -> None:
    result = judged("hardening.files_are_private", survey=survey(call(file=file(mode=0o600 | bit))))
    assert result.verdict in (Verdict.FAIL, Verdict.WARN)


class TestLeftBehind:
    def judged(
        self, *calls: Made, unnamed: tuple[str, ...] = (), litter: tuple[tuple[str, ...], ...] = ()
    ) -> CheckResult:
        failing = [Made(new_entries=names) for names in litter]
        return judged(
            "hardening.no_temporary_files_remain",
            survey=survey(*calls, unnamed=unnamed),
            fallback=Made(failing=failing),
        )

    def test_is_only_seen_in_a_folder_of_its_own(self) -> None:
        assert self.judged(call(output_dir=None), call(), unnamed=("x",)).subjects == 0
        assert self.judged(call(), call(output_dir=None), unnamed=("x",)).subjects == 1
        assert self.judged(unnamed=("x",)).subjects == 0

    def test_is_told_by_five_names(self) -> None:
        names = tuple("abcdefg")
        assert '"e"' in self.judged(call(), unnamed=names).observed
        assert '"f"' not in self.judged(call(), unnamed=names).observed
        assert '"e" and 2 more' in self.judged(litter=((), names)).observed
        assert '"f"' not in self.judged(litter=((), names)).observed


class TestShapeOfResults:
    @pytest.mark.parametrize(
        ("result", "right"),
        [
            ({"content": []}, True),
            ({"content": [{"type": "text", "text": "x"}]}, True),
            ({"content": [], "isError": True, "structuredContent": {}}, True),
            ({"content": "x"}, False),
            ({"content": [{"type": 1}]}, False),
            ({"content": [{"type": "text", "text": "x"}, {"type": "text", "text": 5}]}, False),
            ({"content": [], "isError": "no"}, False),
            ({"content": [], "structuredContent": []}, False),
        ],
    )
    def test_is_that_of_mcp(self, result: Any, right: bool) -> None:
        calls = [call(result=None), call(result=result)]
        found = judged("protocol.shape_of_results", survey=survey(*calls, protocol="2025-11-25"))
        assert seen(found) == (Verdict.PASS if right else Verdict.FAIL, 1)

    def test_by_a_schema_that_is_none_is_not_looked_at(self) -> None:
        operations = {
            "recall": Made(output_schema={"type": 5}),
            "search": Made(output_schema={"type": "object", "required": ["x", "y"]}),
        }
        calls = [
            call(tool="recall", result={}),
            call(operation="search", tool="search", result={}),
            call(operation="search", tool="search", result={"structuredContent": {"z": 1}}),
            call(operation="search", tool="search", result={"structuredContent": {"x": 1, "y": 2}}),
        ]
        for shown, found in (
            (calls, (Verdict.FAIL, 3)),
            (calls[:1], (Verdict.NOT_OBSERVED, 0)),
            (calls[3:], (Verdict.PASS, 1)),
        ):
            assert seen(judged("protocol.output_schema", survey=survey(*shown, operations=operations))) == found
