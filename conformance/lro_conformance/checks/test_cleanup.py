"""Cleanup: what expires goes, what is fresh stays, and nothing else is touched."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from lro_conformance.judge import NotObserved, Subjects, check
from lro_conformance.trials.cleanup import DAY, SHORT_TTL, Cleaning, Cleanup, operation_of
from lro_conformance.trials.defaults import HOUR, Defaults
from lro_conformance.trials.lasting import Lasting
from lro_spec.editions import Edition


@check("LRO-CLN-01")
def test_expired_files_go(cleanup: Cleanup, defaults: Defaults, see: Subjects) -> None:
    """An offloaded file is deleted once its TTL has passed and cleanup has run."""
    own, scans = cleanup.own, [c for c in (cleanup.set_ttl, defaults.cleaning) if c is not None]
    cleans_at_all = any(p.gone for c in scans for p in c.planted) or (own is not None and own.gone)
    kept = spared(cleanup, defaults)
    if own is not None and kept:
        see.expect(
            holds=False,
            expected="expired files of every operation that offloads are gone after cleanup",
            observed=f"those of {', '.join(sorted(kept))} are still there, however old; others are gone",
            at=own,
        )
        return
    if own is not None and not own.gone and cleans_at_all and not (by_age(cleanup.set_ttl) and own.aged_gone):
        see.unseen("the server cleans up, but not by the TTL that was set")
        own = None
    if own is not None and not own.gone and not own.triggered:
        raise NotObserved("nothing that sets cleanup off is known, and a restart did not (profile: cleanup)")
    if own is not None:
        see.expect(
            own.gone,
            expected="the server's own expired files of a TTL of two seconds are gone after cleanup",
            observed=f"{len(own.left)} of {len(own.paths)} still there {own.waited_s:.1f} s later, "
            f"cleanup set off {own.cleanups} times",
            at=own,
        )
    elif scans and not cleanup.own:
        see.expect(
            cleans_at_all,
            expected="a file 40 days old is gone after cleanup",
            observed="it is still there",
            at=scans[0],
        )
    else:
        see.unseen(cleanup.reason or "no file of the server's own could be watched")


@check("LRO-CLN-02")
def test_default_ttl(cleanup: Cleanup, defaults: Defaults, see: Subjects) -> None:
    """Without a setting files live for 3600 seconds: five minutes less stays, five minutes more goes."""
    _by_ages(_scanning(defaults.cleaning), HOUR, spared(cleanup, defaults), see)


@check("LRO-CLN-03")
def test_files_last(lasting: Lasting, see: Subjects) -> None:
    """A file does not go before its time where nobody cleans up."""
    for call, gone in lasting.calls:
        see.expect(
            not gone,
            expected=f"{Path(call.file.path if call.file is not None else '').name} is there with the default TTL",
            observed=f"gone {lasting.age_s:.0f} s after the last file was written, and nobody had cleaned up",
            at=call,
        )


@check("LRO-CLN-03")
def test_fresh_files_stay(cleanup: Cleanup, defaults: Defaults, see: Subjects) -> None:
    """A file younger than the TTL stays, even while others expire."""
    for cleaning in (cleanup.set_ttl, defaults.cleaning):
        for path, gone in cleaning.own if cleaning is not None else ():
            see.expect(
                not gone,
                expected=f"{Path(path).name}, fresh when cleanup ran, stays",
                observed="it was deleted",
                at=cleaning,
            )
    own = cleanup.own
    if own is not None and own.fresh_stays is not None:
        see.expect(
            own.fresh_stays,
            expected="a fresh file stays, though the server process is older than the TTL",
            observed="it was deleted",
            at=own,
        )


@check("LRO-CLN-03")
def test_many_fresh_files_stay(cleanup: Cleanup, see: Subjects) -> None:
    """However many fresh files there are, a further call deletes none of them."""
    crowd = cleanup.crowd
    if crowd is None or crowd.call.outcome != "offloaded":
        raise NotObserved(cleanup.reason or "no file was written beside many others")
    see.expect(
        not crowd.gone,
        expected=f"{crowd.files} files of less than a minute all stay when one more is written",
        observed=f"{len(crowd.gone)} of them were deleted",
        at=crowd,
    )


@check("LRO-CLN-04")
def test_files_of_earlier_processes_go(cleanup: Cleanup, defaults: Defaults, see: Subjects) -> None:
    """Cleanup scans the folder: expired files that an earlier process wrote go too."""
    cleanings = [c for c in (cleanup.set_ttl, defaults.cleaning) if c is not None]
    if not any(p.gone for c in cleanings for p in c.planted) and not (cleanup.own is not None and cleanup.own.gone):
        raise NotObserved("the server deletes nothing at all")
    kept = spared(cleanup, defaults)
    for cleaning in cleanings:
        for old in (p for p in cleaning.planted if p.age_s >= DAY and p.operation not in kept):
            see.expect(
                old.gone,
                expected=f"the scan finds {old.path.name}, 40 days old, and deletes it",
                observed="it is still there",
                at=cleaning,
            )


@check("LRO-CFG-03")
def test_ttl_setting(cleanup: Cleanup, defaults: Defaults, see: Subjects) -> None:
    """ttl_seconds takes effect: with 600 a file of 300 seconds stays and one of 1200 goes; with 2 an own file goes."""
    if cleanup.reason is not None:
        raise NotObserved(cleanup.reason)
    # That fresh files go only under this TTL is the setting's doing; that they always do is another fault (LRO-CLN-03).
    usual, kept = defaults.cleaning, spared(cleanup, defaults)
    only_here = usual is not None and any(p.gone for p in usual.planted) and not usual.takes_fresh
    if cleanup.set_ttl is not None and cleanup.set_ttl.takes_fresh and not only_here:
        raise NotObserved(_FRESH_TOO)
    others_clean = any(p.gone for c in (cleanup.set_ttl, defaults.cleaning) if c is not None for p in c.planted)
    own = cleanup.own if not kept else None
    if own is not None and (own.gone or (others_clean and not (by_age(cleanup.set_ttl) and own.aged_gone))):
        see.expect(
            own.gone,
            expected=f"with ttl_seconds = {SHORT_TTL} the server's own file is gone after cleanup",
            observed=f"still there {own.waited_s:.1f} s later",
            at=own,
        )
    cleaning = _scanning(cleanup.set_ttl, though_fresh_go=only_here)
    _by_ages(cleaning, cleaning.ttl_s or 0, kept, see)


def by_age(cleaning: Cleaning | None) -> bool:
    """Whether files went and stayed by the TTL that was set."""
    return cleaning is not None and all(p.gone == (p.age_s > (cleaning.ttl_s or 0)) for p in cleaning.planted)


def spared(cleanup: Cleanup, defaults: Defaults) -> frozenset[str]:
    """The operations whose files are never deleted, the server's own as little as old ones, though those of others are.

    That is no matter of ages, nor of whether the folder is scanned: it is LRO-CLN-01.
    """
    scans = [c for c in (cleanup.set_ttl, defaults.cleaning) if c is not None]
    old = [p for c in scans for p in c.planted if p.age_s >= DAY]
    gone = {p.operation for p in old if p.gone}
    left = {operation_of(Path(p).name) for p in cleanup.own.left} if cleanup.own is not None else set[str]()
    return frozenset(left & {p.operation for p in old} - gone if gone else ())


def _by_ages(cleaning: Cleaning, ttl_s: int, but: frozenset[str], see: Subjects) -> None:
    for planted in (p for p in cleaning.planted if p.age_s < DAY):
        goes = planted.age_s > ttl_s
        if planted.operation in but:
            see.unseen("files of this operation are spared at any age (LRO-CLN-01)")
            continue
        see.expect(
            planted.gone == goes,
            expected=f"with a TTL of {ttl_s} s a file {planted.age_s} s old {'goes' if goes else 'stays'}",
            observed="it was deleted" if planted.gone else "it is still there",
            at=cleaning,
        )


_FRESH_TOO = "fresh files are deleted too, so nothing can be said of ages"


def _scanning(cleaning: Cleaning | None, *, though_fresh_go: bool = False) -> Cleaning:
    """The cleaning, where ages can be told from it: the server deletes by age, and files of earlier processes too."""
    if cleaning is None:
        raise NotObserved("no cleanup could be watched under this TTL")
    if cleaning.takes_fresh and not though_fresh_go:
        raise NotObserved(_FRESH_TOO)
    if not any(p.gone for p in cleaning.planted):
        raise NotObserved("files of earlier processes are not deleted at any age, so back-dated ones tell nothing")
    return cleaning


@check("LRO-CLN-05")
def test_expiry_is_told(cleanup: Cleanup, defaults: Defaults, text: Edition, see: Subjects) -> None:
    """Each deleted file is told in an OffloadFileExpired event."""
    for cleaning in (cleanup.set_ttl, defaults.cleaning):
        if cleaning is None:
            continue
        gone = [p.path.name for p in cleaning.planted if p.gone]
        if not gone:
            see.unseen("no file was deleted")
            continue
        events = cleaning.events if text.named_events else (*cleaning.events, *cleaning.told)
        if not events and not cleaning.listened:
            see.unseen("no event was seen, and none may be visible (profile: events)")
            continue
        channels = Counter(e.partition(": ")[0] for e in events)
        most = max(channels.values(), default=0)
        see.expect(
            most >= len(gone),
            expected=f"an {'OffloadFileExpired ' if text.named_events else ''}event for each of {', '.join(gone)}",
            observed=f"{most} events",
            at=cleaning,
        )


@check("LRO-HARD-04")
def test_nothing_else_is_deleted(cleanup: Cleanup, defaults: Defaults, see: Subjects) -> None:
    """Files of other names, subfolders and what lies in them stay, however old they are."""
    _decoys(cleanup, defaults, ("name", "folder", "subfolder"), see)


@check("LRO-HARD-05")
def test_links_are_not_followed(cleanup: Cleanup, defaults: Defaults, see: Subjects) -> None:
    """The target of a symbolic link whose name matches stays."""
    _decoys(cleanup, defaults, ("symlink",), see)


def _decoys(cleanup: Cleanup, defaults: Defaults, kinds: tuple[str, ...], see: Subjects) -> None:
    for cleaning in (cleanup.set_ttl, defaults.cleaning):
        if cleaning is None or not any(p.gone for p in cleaning.planted):
            see.unseen("cleanup deleted nothing, so it spared nothing either")
            continue
        for decoy in (d for d in cleaning.decoys if d.kind in kinds):
            see.expect(
                not decoy.gone,
                expected=f"{json.dumps(decoy.path.name)} ({decoy.kind}) is left alone",
                observed="it was deleted",
                at=cleaning,
            )
