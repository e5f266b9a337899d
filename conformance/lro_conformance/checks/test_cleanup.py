"""Cleanup deletes expired files, keeps fresh ones, and touches nothing else."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from lro_conformance.analysis.events import events_in, number_of_events
from lro_conformance.analysis.sequences import explored_sweeps
from lro_conformance.analysis.sweeps import wrong_by_age, wrong_by_name
from lro_conformance.capture.records import show
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.cleanup import EXPIRED_EVENT, HOUR, Cleaning, Cleanup, Planted
from lro_conformance.trials.decoys import OLD_AGE_S, operation_of
from lro_conformance.trials.defaults import Defaults, require_default
from lro_conformance.trials.exploration import Explored, Sweeps
from lro_conformance.trials.fallback import Fallback
from lro_conformance.trials.folders import AWKWARD, Folders
from lro_conformance.trials.lasting import Lasting
from lro_conformance.trials.survey import Survey
from lro_spec.display import counted
from lro_spec.editions import Edition


@check("LRO-CLN-01")
def test_expired_files_are_deleted(cleanup: Cleanup, defaults: Defaults, subjects: Subjects) -> None:
    """An offloaded file is deleted once its TTL has passed and cleanup has run."""
    own, cleanings = cleanup.own, [c for c in (cleanup.set_ttl, defaults.cleaning) if c is not None]
    cleans_at_all = any(p.gone for c in cleanings for p in c.planted) or (own is not None and own.gone)
    undeleted = undeleted_operations(cleanup, defaults)
    if own is not None and undeleted:
        subjects.expect(
            holds=False,
            expected="expired files of every operation that offloads are gone after cleanup",
            observed=f"files of {', '.join(sorted(undeleted))} are still there, however old; files of other operations "
            "are gone",
            subject=own,
        )
        return
    for cleaning in cleanings:
        if cleaning.renamed:
            old, new = cleaning.renamed[0]
            expected, observed = f"{old}, which has expired, is deleted", f"it is still there as {new}"
            subjects.expect(holds=False, expected=expected, observed=observed, subject=cleaning)
            return
        if (stuck := cleaning.stuck) and not stopped(cleanup):
            subjects.expect(
                holds=False,
                expected=f"{stuck[0].path.name} ({OLD_AGE_S} s old) is deleted, "
                "since younger files of the same operation were deleted",
                observed=f"{stuck[0].path.name} is still there",
                subject=cleaning,
            )
            return
    if own is not None and not own.gone and cleans_at_all and not (goes_by_age(cleanup.set_ttl) and own.aged_gone):
        subjects.not_observed("the server cleans up, but not by the TTL that was set")
        own = None
    if own is not None and stopped(cleanup):
        subjects.expect(
            holds=False,
            expected=f"expired files are deleted even next to {', '.join(own.stopped_by)}",
            observed="some remained after repeated cleanups, "
            "and were deleted only after the suite had removed the unrelated entries",
            subject=own,
        )
        return
    if own is not None and not own.gone and not own.triggered:
        raise NotObserved(_NO_TRIGGER)
    if own is not None:
        subjects.expect(
            own.gone,
            expected=f"the server's own expired files are gone after cleanup with ttl_seconds = {own.ttl_s}",
            observed=f"{len(own.left)} of {len(own.paths)} still there {own.waited_s:.1f} s later, "
            + (
                f"cleanup triggered {counted(own.cleanups, 'time')}"
                if own.within_s is None
                else f"although the server cleans up by itself within {own.within_s:g} s; if it takes longer, say so "
                "(profile: cleanup.wait_s)"
            ),
            subject=own,
        )
    elif cleanup.own is None and cleanings:
        if not cleans_at_all and not cleanings[0].triggered:
            raise NotObserved(_NO_TRIGGER)
        subjects.expect(
            cleans_at_all,
            expected="a file 40 days old is gone after cleanup",
            observed="every file is still there, however old",
            subject=cleanings[0],
        )
        if cleanup.refused is not None:
            subjects.inconclusive(f"{cleanup.refused}, so the expiry of its own files could not be observed")
    elif cleanup.own is None:
        subjects.not_observed(cleanup.reason or "the expiry of the server's own files could not be observed")


_NO_TRIGGER = "a restart deleted nothing, and no other trigger is known: if there is one, name it (profile: cleanup)"


@check("LRO-CLN-02")
def test_default_ttl(cleanup: Cleanup, defaults: Defaults, subjects: Subjects) -> None:
    """The default TTL is 3600 seconds: a file that is five minutes younger stays, and one that is five minutes older is
    deleted."""
    require_default(defaults.preset, "ttl_seconds")
    _expect_deletion_by_age(_require_age_based(defaults.cleaning, cleanup), cleanup, defaults, subjects)


@check("LRO-CLN-03")
def test_files_survive_until_expiry(lasting: Lasting, subjects: Subjects) -> None:
    """As long as no cleanup is triggered, no file is deleted before its TTL has passed."""
    for call, gone in lasting.calls:
        subjects.expect(
            not gone,
            expected=f"{Path(call.path).name} is still there under the default TTL",
            observed=f"gone {lasting.age_s:.0f} s after the last file was written, without any cleanup",
            subject=call,
        )


@check("LRO-CLN-03")
def test_new_sessions_keep_fresh_files(cleanup: Cleanup, subjects: Subjects) -> None:
    """A file whose TTL has not passed stays when a new server process starts."""
    sessions = cleanup.sessions
    if sessions is None:
        if cleanup.crowd is None:
            unknown = "the server wrote no readable file under the TTL that was set"
        else:
            unknown = "the server has no output folder of its own that could be inspected"
        raise NotObserved(cleanup.reason or cleanup.nothing_planted or unknown)
    subjects.expect(
        sessions.at_start is None,
        expected="a one-minute-old file from an earlier process still exists after the server starts",
        observed=f"{sessions.at_start} was deleted",
        subject=sessions,
    )


@check("LRO-CLN-03")
def test_age_counts_from_creation(cleanup: Cleanup, defaults: Defaults, subjects: Subjects) -> None:
    """The age of a file is counted from its creation. It expires at the same time if it is read, and if the server's
    local time is far from UTC."""
    for cleaning in (cleanup.set_ttl, defaults.cleaning):
        read = cleaning.read if cleaning is not None else None
        if cleaning is None or read is None:
            continue
        if not read.gone and stopped(cleanup):
            subjects.not_observed(_STOPPED)
        elif any(p.gone for p in cleaning.planted if p.age_s == read.age_s and p.operation == read.operation):
            subjects.expect(
                read.gone,
                expected="a file written 40 days ago is deleted, although it was read just now",
                observed="the file is still there; a file of the same age that was not read is gone",
                subject=cleaning,
            )
    cleaning = cleanup.set_ttl
    if cleaning is None or cleaning.takes_fresh or not goes_by_age(cleaning):
        if cleaning is None:
            subjects.not_observed(cleanup.reason or cleanup.nothing_planted or _NO_CLEANUP)
        else:
            subjects.not_observed("files are not deleted by their age under the TTL that was set")
        return
    default_cleaning = defaults.cleaning
    expires_late = default_cleaning is not None and any(
        _has_expired(p, default_cleaning) and not _is_very_old(p) and not p.gone for p in default_cleaning.planted
    )
    for planted in (
        p for p in cleaning.planted if p.near and p.operation not in undeleted_operations(cleanup, defaults)
    ):
        must_go = _has_expired(planted, cleaning)
        if must_go and not planted.gone and stopped(cleanup):
            subjects.not_observed(_STOPPED)
            continue
        if must_go and expires_late:
            subjects.not_observed("files also expire late in UTC, so this is not a time-zone bug")
            continue
        subjects.expect(
            planted.gone == must_go,
            expected=f"in a time zone far from UTC, with ttl_seconds = {cleaning.ttl_s}, "
            f"a file that is {planted.age_s} s old {'is deleted' if must_go else 'stays'}",
            observed=f"{planted.path.name} {'is still there' if must_go else 'was deleted'}",
            subject=cleaning,
        )


@check("LRO-CLN-03")
def test_fresh_files_stay(cleanup: Cleanup, defaults: Defaults, subjects: Subjects) -> None:
    """A file that is younger than the TTL stays, even when other files expire."""
    set_ttl, own_expiry = cleanup.set_ttl, cleanup.own
    if _only_under_set_ttl(cleanup, defaults):
        subjects.not_observed(
            "files are deleted too early under the TTL that was set, but not under the default TTL, so the setting is "
            "at fault (LRO-CFG-03)"
        )
        set_ttl, own_expiry = None, None
    for cleaning in (set_ttl, defaults.cleaning):
        if cleaning is not None:
            _expect_fresh_files_stay(cleaning, subjects)
    if own_expiry is not None and own_expiry.fresh_stays is not None:
        subjects.expect(
            own_expiry.fresh_stays,
            expected="a fresh file stays, although the server process is older than the TTL",
            observed="the file was deleted",
            subject=own_expiry,
        )
    if own_expiry is not None and own_expiry.younger is not None:
        subjects.expect(
            own_expiry.younger.stays,
            expected=f"with ttl_seconds = {own_expiry.ttl_s}, a file that has not yet expired stays when older "
            "files expire",
            observed="it was deleted along with the older files",
            subject=own_expiry.younger,
        )


def _expect_fresh_files_stay(cleaning: Cleaning, subjects: Subjects) -> None:
    for path, gone in cleaning.own:
        subjects.expect(
            not gone,
            expected=f"{Path(path).name}, fresh when cleanup ran, stays",
            observed=f"{Path(path).name} was deleted",
            subject=cleaning,
        )


@check("LRO-CLN-03")
def test_many_fresh_files_stay(cleanup: Cleanup, subjects: Subjects) -> None:
    """A call does not delete files whose TTL has not passed, however many files there are."""
    crowd = cleanup.crowd
    if crowd is None or crowd.call.outcome != "offloaded":
        raise NotObserved(cleanup.reason or "no file was written to a folder with many other files")
    subjects.expect(
        not crowd.gone,
        expected=f"{crowd.files} files younger than a minute all stay when one more is written",
        observed=f"{len(crowd.gone)} of them were deleted",
        subject=crowd,
    )


@check("LRO-CLN-04")
def test_files_of_earlier_processes_are_deleted(
    survey: Survey, cleanup: Cleanup, defaults: Defaults, subjects: Subjects
) -> None:
    """Cleanup scans the folder, so that expired files of earlier server processes are deleted, too."""
    cleanings = [c for c in (cleanup.set_ttl, defaults.cleaning) if c is not None]
    scans = any(p.gone for c in cleanings for p in c.planted)
    if not scans and not (cleanup.own is not None and cleanup.own.gone):
        raise NotObserved(
            "the server was not seen to clean up: it deleted neither back-dated files under longer TTLs nor all of its "
            "own expired files under a short one"
        )
    if not scans and cleanup.own is not None and cleanup.own.aged_gone:
        # A server may clean up by itself, at intervals that grow with the TTL. Under the longer TTLs, it has perhaps
        # not cleaned up yet.
        subjects.expect(
            holds=True,
            expected=f"an old file of an earlier process is deleted, with ttl_seconds = {cleanup.own.ttl_s}",
            observed="the file was deleted",
            subject=cleanup.own,
        )
        return
    undeleted = undeleted_operations(cleanup, defaults)
    for cleaning in cleanings:
        if scans and cleaning.ttl_s is not None and not any(p.gone for p in cleaning.planted):
            subjects.not_observed("the server cleans up, but not by the TTL that was set (LRO-CFG-03)")
            continue
        for old in (p for p in cleaning.planted if _is_very_old(p) and p.operation not in undeleted):
            if not old.gone and (cleaning.stuck or stopped(cleanup)):
                subjects.not_observed(
                    _STOPPED if stopped(cleanup) else "younger files were found and deleted (LRO-CLN-01)"
                )
                continue
            subjects.expect(
                old.gone,
                expected=f"{old.path.name}, a file of an earlier process that is 40 days old, is deleted",
                observed=f"{old.path.name} is still there{_why_foreign_files(old.operation, survey)}",
                subject=cleaning,
            )


def _why_foreign_files(operation: str, survey: Survey) -> str:
    """Part of a message. If the server does not have an operation, this is the reason why it nevertheless has to delete
    files of this operation. Empty if the server has the operation.
    """
    if operation in survey.operations:
        return ""
    return (
        f"; this server has no {operation}, but other servers that share the folder, or an earlier version of this "
        "server, may have left such a file, and only a scan by the name pattern finds it"
    )


@check("LRO-CFG-03")
def test_ttl_setting(cleanup: Cleanup, defaults: Defaults, subjects: Subjects) -> None:
    """ttl_seconds takes effect.

    If ttl_seconds is two days, a one-day-old file stays and a four-day-old file is deleted. If it is 2 s, the server's
    own files are deleted. If the server does not start with these values, other TTLs are tried.
    """
    if cleanup.reason is not None:
        raise NotObserved(cleanup.reason)
    only_under_set_ttl = _only_under_set_ttl(cleanup, defaults)
    if cleanup.set_ttl is not None and cleanup.set_ttl.takes_fresh and not only_under_set_ttl:
        raise NotObserved(_FRESH_TOO)
    others_clean = any(p.gone for c in (cleanup.set_ttl, defaults.cleaning) if c is not None for p in c.planted)
    own = None if undeleted_operations(cleanup, defaults) else cleanup.own
    if own is not None and (own.gone or (others_clean and not (goes_by_age(cleanup.set_ttl) and own.aged_gone))):
        subjects.expect(
            own.gone,
            expected=f"with ttl_seconds = {own.ttl_s} the server's own file is gone after cleanup",
            observed=f"still there {own.waited_s:.1f} s later",
            subject=own,
        )
    cleaning = _require_age_based(cleanup.set_ttl, cleanup, accept_deletion_of_fresh_files=only_under_set_ttl)
    _expect_deletion_by_age(cleaning, cleanup, defaults, subjects)
    if only_under_set_ttl:
        _expect_fresh_files_stay(cleaning, subjects)


def stopped(cleanup: Cleanup) -> bool:
    """Return whether cleanup did not delete expired files because there was an unrelated entry in the folder
    (LRO-CLN-01)."""
    return cleanup.own is not None and cleanup.own.gone and bool(cleanup.own.stopped_by)


_STOPPED = "cleanup stops at an unrelated entry in the folder (LRO-CLN-01)"


def _only_under_set_ttl(cleanup: Cleanup, defaults: Defaults) -> bool:
    """Return whether files are deleted too early under the TTL that was set, but not under the default TTL.

    If so, the cause is the setting, which is judged by LRO-CFG-03. Otherwise, files that are deleted too early are
    judged by LRO-CLN-03.
    """
    default_cleaning, set_cleaning = defaults.cleaning, cleanup.set_ttl
    if set_cleaning is None or default_cleaning is None or default_cleaning.takes_fresh:
        return False
    if not all(any(p.gone for p in cleaning.planted) for cleaning in (set_cleaning, default_cleaning)):
        return False
    return set_cleaning.takes_fresh or any(
        p.gone and not p.near and not _has_expired(p, set_cleaning) for p in set_cleaning.planted
    )


def goes_by_age(cleaning: Cleaning | None) -> bool:
    """Return whether the files older than the TTL were deleted and the others were not. Files whose age is near the TTL
    are ignored. False if there was no cleanup."""
    if cleaning is None:
        return False
    return all(p.gone == _has_expired(p, cleaning) for p in cleaning.planted if not p.near)


def _ttl_in_force(cleaning: Cleaning) -> int:
    return HOUR if cleaning.ttl_s is None else cleaning.ttl_s


def _has_expired(planted: Planted, cleaning: Cleaning) -> bool:
    return planted.age_s > _ttl_in_force(cleaning)


def _is_very_old(planted: Planted) -> bool:
    return planted.age_s >= OLD_AGE_S


def undeleted_operations(cleanup: Cleanup, defaults: Defaults) -> frozenset[str]:
    """Operations whose files are never deleted, however old, although files of other operations are deleted.

    The age of the files cannot be the cause, and the scan of the folder cannot be the cause, so this is a failure of
    LRO-CLN-01.
    """
    cleanings = [c for c in (cleanup.set_ttl, defaults.cleaning) if c is not None]
    old = [p for c in cleanings for p in c.planted if _is_very_old(p)]
    gone = {p.operation for p in old if p.gone}
    left = {operation_of(Path(p).name) for p in cleanup.own.left} if cleanup.own is not None else set[str]()
    return frozenset(left & {p.operation for p in old} - gone if gone else ())


def _expect_deletion_by_age(cleaning: Cleaning, cleanup: Cleanup, defaults: Defaults, subjects: Subjects) -> None:
    undeleted, ttl_s = undeleted_operations(cleanup, defaults), _ttl_in_force(cleaning)
    for planted in (p for p in cleaning.planted if not _is_very_old(p) and not p.near):
        must_go = _has_expired(planted, cleaning)
        if planted.operation in undeleted:
            subjects.not_observed("files of this operation are never deleted (LRO-CLN-01)")
            continue
        if must_go and not planted.gone and stopped(cleanup):
            subjects.not_observed(_STOPPED)
            continue
        subjects.expect(
            planted.gone == must_go,
            expected=f"with a TTL of {ttl_s} s, a file that is {planted.age_s} s old "
            + ("is deleted" if must_go else "stays"),
            observed=f"{planted.path.name} {'was deleted' if planted.gone else 'is still there'}",
            subject=cleaning,
        )


_FRESH_TOO = "fresh files are deleted too, so age-based deletion cannot be judged"

_NO_CLEANUP = "no cleanup could be observed under a TTL that this check examines"


def _require_age_based(
    cleaning: Cleaning | None, cleanup: Cleanup, *, accept_deletion_of_fresh_files: bool = False
) -> Cleaning:
    """Return *cleaning* if it shows which files are deleted because of their age; otherwise raise `NotObserved`.

    If the cleaning also deleted fresh files, it is returned only if *accept_deletion_of_fresh_files* is true.
    """
    if cleaning is None:
        raise NotObserved(cleanup.nothing_planted or _NO_CLEANUP)
    if cleaning.takes_fresh and not accept_deletion_of_fresh_files:
        raise NotObserved(_FRESH_TOO)
    if not any(p.gone for p in cleaning.planted):
        raise NotObserved(
            "no back-dated file was deleted under this TTL: the server misreads the age of files, keeps files of "
            "earlier processes, or does not clean up when the profile says (profile: cleanup)"
        )
    return cleaning


@check("LRO-CLN-05", optional=("fallback",))
def test_expiry_event_is_emitted(
    cleanup: Cleanup, defaults: Defaults, fallback: Fallback | None, edition: Edition, subjects: Subjects
) -> None:
    """An OffloadFileExpired event is emitted for each deleted file."""
    # If the suite has seen an event about a failed write, it is watching the channel on which the server emits events.
    channel_is_known = fallback is not None and any(f.events for f in fallback.failing)
    for cleaning in (cleanup.set_ttl, defaults.cleaning):
        if cleaning is None:
            if cleanup.nothing_planted is not None:
                subjects.not_observed(cleanup.nothing_planted)
            continue
        gone = [p.path.name for p in cleaning.planted if p.gone]
        if not gone:
            subjects.not_observed("none of the planted files was deleted")
            continue
        events = cleaning.events if edition.named_events else (*cleaning.events, *cleaning.other_lines)
        if not events and not cleaning.events_observable and not channel_is_known:
            subjects.not_observed(
                "no event was seen, but the suite may not be watching the right channel (profile: events)"
            )
            continue
        channels = Counter(
            e.partition(": ")[0] for e in events for _ in range(number_of_events(EXPIRED_EVENT, e, gone))
        )
        most_events = max(channels.values(), default=0)
        subjects.expect(
            most_events >= len(gone),
            expected=f"an {'OffloadFileExpired ' if edition.named_events else ''}event for each of {', '.join(gone)}",
            observed=counted(most_events, "event"),
            subject=cleaning,
        )


@check("LRO-CLN-05")
def test_no_expiry_event_for_retained_files(
    survey: Survey, cleanup: Cleanup, defaults: Defaults, subjects: Subjects
) -> None:
    """No OffloadFileExpired event names a file that still exists, and no such event is emitted as long as no file has
    expired."""
    emitting = [c for c in (cleanup.set_ttl, defaults.cleaning) if c and c.events and any(p.gone for p in c.planted)]
    for cleaning in emitting:
        existing_files = cleaning.premature
        subjects.expect(
            not existing_files,
            expected="OffloadFileExpired events for deleted files only",
            observed=f"an event for {existing_files[0]}, which was still there" if existing_files else "no other event",
            subject=cleaning,
        )
    unjustified = events_in(survey, "OffloadFileExpired")
    if (unjustified or emitting) and survey.files and all(c.output_dir is not None for c in survey.files):
        subjects.expect(
            not unjustified,
            expected="no OffloadFileExpired event, since every file is a few seconds old and the TTL is the default",
            observed=show(unjustified[0], 200) if unjustified else "no such event",
            subject=survey.files[0],
        )
    subjects.not_observed(
        "an event reports a deletion, which may have been due: the suite set no output folder, or could read no file"
        if unjustified
        else "no event that reports a deletion was seen"
    )


@check("LRO-HARD-04")
def test_nothing_else_is_deleted(cleanup: Cleanup, defaults: Defaults, subjects: Subjects) -> None:
    """Cleanup leaves files with other names alone, and also subfolders and the files in them, however old they are."""
    _expect_decoys_stay(cleanup, defaults, ("name", "folder", "subfolder"), subjects)


@check("LRO-HARD-05")
def test_links_are_not_followed(cleanup: Cleanup, defaults: Defaults, subjects: Subjects) -> None:
    """Cleanup does not delete the target of a symbolic link, even if the link has the name of an offloaded file."""
    _expect_decoys_stay(cleanup, defaults, ("symlink",), subjects)


def _expect_decoys_stay(cleanup: Cleanup, defaults: Defaults, kinds: tuple[str, ...], subjects: Subjects) -> None:
    for cleaning in (cleanup.set_ttl, defaults.cleaning):
        if cleaning is None:
            subjects.not_observed(cleanup.nothing_planted or _NO_CLEANUP)
            continue
        if not any(p.gone for p in cleaning.planted):
            subjects.not_observed(
                "cleanup deleted none of the planted files, so it proves nothing that it left other files alone"
            )
            continue
        for decoy in (d for d in cleaning.decoys if d.kind in kinds):
            subjects.expect(
                not decoy.gone,
                expected=f"{json.dumps(decoy.path.name)} ({decoy.kind}) is left alone",
                observed=f"{json.dumps(decoy.path.name)} was deleted",
                subject=cleaning,
            )


@check("LRO-HARD-04")
def test_any_other_name_stays(sweeps: Sweeps, subjects: Subjects) -> None:
    """Cleanup leaves a file alone if its name does not match the pattern of names of offloaded files."""
    for sweep in (*sweeps.smallest, *sweeps.sweeps):
        if not sweep.worked:
            subjects.not_observed(_NO_SWEEP)
            continue
        if not sweep.named:
            continue
        gone = wrong_by_name(sweep)
        subjects.expect(
            not gone,
            expected=f"{show(gone[0])} is left alone" if gone else "",
            observed=f"{show(gone[0])} was deleted" if gone else "",
            subject=sweep,
        )


@check("LRO-CLN-01")
def test_folder_may_have_any_name(folders: Folders, cleanup: Cleanup, subjects: Subjects) -> None:
    """Expired files are deleted from a folder whose name has blanks, quotes, brackets and dollar signs."""
    if folders.swept is None:
        raise NotObserved(
            "cleanup of a folder with an awkward name was not tried: it needs a trigger other than a restart (profile: "
            "cleanup), and a file that could be copied"
        )
    usual_cleaning = cleanup.set_ttl
    if usual_cleaning is None or usual_cleaning.trigger is None or not any(p.gone for p in usual_cleaning.planted):
        not_triggered = "no cleanup of another folder could be triggered soon after the server had started"
        raise NotObserved((usual_cleaning is None and cleanup.nothing_planted) or not_triggered)
    if folders.swept.worked and cleanup.own is None:
        raise NotObserved("the expiry of the server's own files was not observed")
    subjects.expect(
        folders.swept.worked,
        expected=f"an expired file in the folder {AWKWARD} is deleted, as in other folders",
        observed="the file is still there",
        subject=folders.swept,
    )


@check("LRO-CFG-03")
def test_any_age_by_the_ttl(sweeps: Sweeps, cleanup: Cleanup, subjects: Subjects) -> None:
    """The TTL that was set decides whether a file is deleted, whatever its age."""
    cleaning = cleanup.set_ttl
    if cleaning is None or cleaning.takes_fresh or not goes_by_age(cleaning):
        raise NotObserved("no cleanup under the TTL that was set deleted exactly the files that had expired")
    for sweep in (*sweeps.smallest, *sweeps.sweeps):
        if not sweep.worked:
            subjects.not_observed(_NO_SWEEP)
            continue
        if not sweep.aged:
            continue
        wrong = next(iter(wrong_by_age(sweep, sweeps.ttl_s)), None)
        age, gone = wrong or (0, False)
        subjects.expect(
            wrong is None,
            expected=f"with a TTL of {sweeps.ttl_s} s, a file that is {age} s old {'stays' if gone else 'is deleted'}",
            observed="the file was deleted" if gone else "the file is still there",
            subject=sweep,
        )


@check("LRO-CLN-02", optional=("sweeps", "defaults"))
def test_any_age_at_any_step(
    explored: Explored, sweeps: Sweeps | None, defaults: Defaults | None, edition: Edition, subjects: Subjects
) -> None:
    """The default TTL decides whether a file is deleted, whatever its age. Earlier calls, failed writes and restarts
    make no difference."""
    if defaults is not None:
        require_default(defaults.preset, "ttl_seconds")
    if sweeps is not None and any(wrong_by_age(s, sweeps.ttl_s) for s in sweeps.smallest):
        raise NotObserved("files of some ages are deleted or kept wrongly under a TTL that was set, too (LRO-CFG-03)")
    ttl_s = edition.default_ttl_seconds
    for sweep, step in explored_sweeps(explored):
        if not sweep.worked:
            subjects.not_observed(_NO_SWEEP)
            continue
        if sweep.own_gone:
            subjects.not_observed("the server's own files are deleted too early (LRO-CLN-03)")
            continue
        age, gone = next(iter(wrong_by_age(sweep, ttl_s)), (0, False))
        subjects.expect(
            not age,
            expected=f"with the default TTL of {ttl_s} s, a file that is {age} s old "
            + ("stays" if gone else "is deleted"),
            observed="the file was deleted" if gone else "the file is still there",
            subject=step,
        )


@check("LRO-CLN-03")
def test_fresh_files_stay_at_any_step(explored: Explored, cleanup: Cleanup, subjects: Subjects) -> None:
    """A fresh file stays when older files are cleaned up. Earlier calls, failed writes and restarts make no
    difference."""
    if cleanup.set_ttl is not None and cleanup.set_ttl.takes_fresh:
        raise NotObserved(_FRESH_TOO)
    for sweep, step in explored_sweeps(explored):
        if sweep.worked:
            name = sweep.own_gone[0] if sweep.own_gone else ""
            subjects.expect(
                not name,
                expected=f"{name}, which was written just before, stays",
                observed=f"{name} was deleted",
                subject=step,
            )
        else:
            subjects.not_observed(_NO_SWEEP)


@check("LRO-CLN-03")
def test_files_of_a_long_session_stay(explored: Explored, subjects: Subjects) -> None:
    """The files of a server process stay until their TTL has passed, however many results the process offloads."""
    series = explored.series
    if series is None or not (written := series.calls - (series.call.outcome != "offloaded")):
        raise NotObserved("no further calls of one process were offloaded")
    file = series.call.file
    if file is not None and file.problem is not None:
        raise NotObserved("the files of further calls could not be read")
    subjects.expect(
        not series.gone,
        expected=f"{counted(written, 'fresh file')} of one process stay",
        observed=f"{len(series.gone)} of them were deleted: {series.gone[0] if series.gone else ''}",
        subject=series,
    )


_NO_SWEEP = "a further cleanup, soon after an earlier one, deleted nothing (profile: cleanup)"
