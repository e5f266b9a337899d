"""Selection of requirements for a run: by id, group or check, or what failed in the last run of the same server."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lro_conformance.errors import UsageError

if TYPE_CHECKING:
    from lro_conformance.judging.results import Report
    from lro_conformance.profile import Profile

FAILED = "failed"
"""The word that selects what failed in the last run."""


class NothingFailed(UsageError):
    """Nothing failed in the last run, or there was none, so that `FAILED` selects nothing."""


def selected(words: Sequence[str], profile: Profile) -> frozenset[str] | None:
    """The ids and check names that the words of ``--only`` select; None if there are no words.

    Raises `UsageError` for a word that selects nothing, and `NothingFailed` if that word is `FAILED`.
    """
    if not words:
        return None
    from lro_conformance.profile.errors import nearest
    from lro_conformance.report.catalogue import check_names
    from lro_spec.catalogue import catalogue

    ids = {r.id for r in catalogue(profile.edition)}
    groups: dict[str, set[str]] = {}
    for requirement in catalogue(profile.edition):
        groups.setdefault(requirement.group, set()).add(requirement.id)
    checks = check_names()
    selected_names: set[str] = set()
    for word in (word for entry in words for word in entry.split(",")):
        id = word.upper() if word.upper().startswith("LRO-") else f"LRO-{word.upper()}"
        if word == FAILED:
            selected_names |= _last_failures(profile) & ids
        elif id in ids:
            selected_names.add(id)
        elif word in groups:
            selected_names |= groups[word]
        elif word in checks:
            selected_names.add(word)
        else:
            near = nearest(word, [*ids, *groups, *checks])
            raise UsageError(f"--only {word}: expected a requirement, a group, a check, or {FAILED}{near}")
    return frozenset(selected_names)


def needs_all_trials(chosen: Iterable[str], profile: Profile) -> bool:
    """True if a chosen requirement failed last time, but only in trials that are left out if just its checks are run.
    The explorer is such a trial."""
    failures = _failures(_failures_file(profile))
    return any(failures.get(id, False) for id in chosen)


def remember(report: Report, profile: Profile) -> None:
    """Record which requirements failed, for ``--only failed``.

    Earlier entries are kept for requirements that this run did not judge. A run without a verdict changes nothing.
    """
    if report.failure is not None:
        return
    judged = {r.requirement.id for r in report.requirements if r.checks}
    failed = {
        r.requirement.id: all(c.elsewhere for c in r.checks if c.verdict is r.verdict)
        for r in report.requirements
        if r.verdict.label in ("fail", "error")
    }
    path = _failures_file(profile)
    failures = failed | {
        id: only_in_other_trials for id, only_in_other_trials in _failures(path).items() if id not in judged
    }
    with suppress(OSError):  # only a convenience: there may be no writable home directory
        if failures:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.write_text(json.dumps(failures, sort_keys=True), encoding="utf-8")
        elif path.exists():  # nothing failed
            path.unlink()


def _last_failures(profile: Profile) -> set[str]:
    path = _failures_file(profile)
    failed = _failures(path)
    if not failed:
        raise NothingFailed(
            f"--only {FAILED}: nothing failed in the last run of this server in this directory, or there was none; "
            "to try a requirement again that was not observed, name it, for example --only CLN-02"
        )
    return set(failed)


def _failures(path: Path) -> dict[str, bool]:
    """Map the id of each failed requirement to True if its failure showed only in trials that are left out if just its
    checks are run. Otherwise the value is False."""
    try:
        value: Any = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return {id: bool(flag) for id, flag in cast("dict[str, Any]", value).items()} if isinstance(value, dict) else {}


def _failures_file(profile: Profile) -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    key = json.dumps([os.getcwd(), profile.path and str(profile.path), list(profile.server.command), profile.edition])
    return Path(root) / "lro-spec" / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"
