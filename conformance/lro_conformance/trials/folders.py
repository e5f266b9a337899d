"""Files of a server without an output folder, and in a folder with an awkward name. Also calls by another client, in
another time zone, and with odd queries."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call
from lro_conformance.capture.corpus import NOWHERE, NULL_QUERY, long_query, odd_memory, odd_query, shell_query
from lro_conformance.capture.file import see_file
from lro_conformance.capture.start import Start
from lro_conformance.lab.errors import ServerTrouble
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import USUAL_LIMIT
from lro_conformance.trials import trial
from lro_conformance.trials.decoys import OLD_AGE_S
from lro_conformance.trials.defaults import real_temps
from lro_conformance.trials.disabled import calls_with_query
from lro_conformance.trials.exploration import Sweep
from lro_conformance.trials.survey import Survey
from lro_conformance.trials.trigger import sweep_beside, template_in

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

FALLBACK_CLIENT_NAME = "claude-code"
"""A client whose model has a shell, so that a server has no reason not to offload for it (LRO-DEP-03)."""

AWKWARD = 'it\'s; a $(touch owned) `folder` & "more" for 5$$, $1 or 6$&, 100%s {0} [a-z] Für 記憶'
"""A folder name that breaks out of any command in which it is not quoted. It has parts that templates, format strings
and glob patterns would replace, capitals, and characters beyond ASCII."""


@dataclass(frozen=True)
class Folders:
    """Calls without an output folder, some by a different client, and calls in a folder with an awkward name."""

    unset: tuple[Call, ...]
    """Calls with an output folder that is the empty string. They are the calls of `by_other_client` if all calls there
    were offloaded."""
    real_temps: tuple[Path, ...]
    """The directory that TMPDIR named for that server, and the system's temporary directories, with links resolved."""
    refused: str | None
    """Reason why the server did not start with an empty output_dir, so that the calls of `unset` were made without that
    setting; None if it started, or if output_dir cannot be set."""
    by_other_client: tuple[Call, ...] = field(metadata={"formerly": "stranger"})
    """The calls of `unset`, but made as `client`, and on a server whose local time is far from UTC."""
    unusual_queries: tuple[Call, ...] = field(metadata={"formerly": "odd"})
    """Calls with a query that needs escaping in JSON, one call with a very long query, and one call with a query that
    needs quoting in a shell."""
    nothing: tuple[Call, ...]
    """Calls that should find nothing."""
    awkward: tuple[Call, ...]
    """Calls with an output folder of an awkward name, set by a relative path if the server accepts a relative path."""
    awkward_dir: Path | None
    """That folder; None if it could not be set, or if the server did not start with it."""
    not_switched_on: tuple[Call, ...] = ()
    """The calls of `awkward`, but with ``enabled = true``; empty unless files were written only without this
    setting."""
    refusing: Start | None = None
    """The start with an empty output_dir, if it failed."""
    client: str | None = FALLBACK_CLIENT_NAME
    """The name of the client of `by_other_client`; None if the profile names a client, so that no other client is
    tried."""
    at_zero: tuple[Call, ...] = ()
    """The calls of `awkward`, but at a threshold of 0. They are those of `awkward` if a file was written. Empty if the
    threshold cannot be set to 0, or if no file was written under the same settings at a threshold of 1, either."""
    swept: Sweep | None = None
    """A cleanup of the folder with the awkward name; None if nothing triggers it in a running process, or if no file
    was written there that could be copied to make old files."""


@trial("no output folder; different client; unusual queries; awkward folder name")
def folders(lab: Lab, survey: Survey) -> Folders:
    """Call the server with an empty ``output_dir``, then with a relative path that has spaces, quotes and the like."""
    names = [n for n in survey.operations if survey.offloads(n)]
    empty = _empty(lab, survey, names)
    return _awkward(lab, survey, names, empty)


def _settings(survey: Survey, output_dir: str | None, enabled: bool | None = None, threshold: int = 1) -> Settings:
    return Settings(enabled=enabled, threshold_tokens=threshold if survey.adjustable else None, output_dir=output_dir)


def _empty(lab: Lab, survey: Survey, names: list[str]) -> Folders:
    """Calls with an empty output_dir by another client in another time zone.

    If any is not offloaded, they are made again on a second server, with the usual client and time zone. Then
    `Folders.unset` are the calls of the second server.
    """
    client = FALLBACK_CLIENT_NAME if lab.profile.client.name is None else None
    settings, refused = _settings(survey, "" if lab.can_set("output_dir") else None), None
    refusing: Start | None = None
    try:
        observed = _observe(lab, survey, names, settings, client)
    except ServerTrouble as trouble:
        refused, refusing = str(trouble), trouble.start
        settings = _settings(survey, None)
        observed = _observe(lab, survey, names, settings, client)
    if all(c.outcome == "offloaded" for c in observed.by_other_client):
        return replace(observed, refused=refused, refusing=refusing)
    with lab.bench(settings) as bench:
        unset = _unset(bench, survey, names)
        return replace(observed, unset=unset, real_temps=real_temps(bench), refused=refused, refusing=refusing)


def _observe(lab: Lab, survey: Survey, names: list[str], settings: Settings, client: str | None) -> Folders:
    with lab.bench(settings, client=client, in_far_zone=True) as bench:
        unset = _unset(bench, survey, names)
        nothing = tuple(calls_with_query(bench, names, NOWHERE))
        word = survey.word or "memory"
        bench.store(odd_memory(word))
        unusual = [*calls_with_query(bench, names, odd_query(word))]
        other_queries = (long_query(word), shell_query(word), NULL_QUERY)
        unusual += [c for query in other_queries for c in calls_with_query(bench, names[:1], query)]
        return Folders(unset, real_temps(bench), None, unset, tuple(unusual), nothing, (), None, client=client)


def _small_calls(bench: Bench, survey: Survey, names: list[str]) -> tuple[Call, ...]:
    return tuple(bench.offloading_call(n, 5 if survey.adjustable else USUAL_LIMIT) for n in names)


def _unset(bench: Bench, survey: Survey, names: list[str]) -> tuple[Call, ...]:
    calls = _small_calls(bench, survey, names)
    for call in calls:
        _note_stray(bench, call)
    return calls


def _note_stray(bench: Bench, call: Call) -> None:
    """Note the file of a call if it is in the server's working directory, so that the suite deletes it in the end.

    A server that uses an empty output_dir as a relative path writes its files there.
    """
    if call.file is not None and call.file.problem is not None:
        path = os.path.join(bench.cwd, call.file.path)
        if os.path.dirname(path) == str(bench.cwd):
            bench.ledger.stray_files.note(see_file(path, (bench.cwd,)))


def _awkward(lab: Lab, survey: Survey, names: list[str], observed: Folders) -> Folders:
    """Add calls in the folder `AWKWARD`, and a cleanup of it, to the observations.

    The folder is set in up to three ways, until a readable file is written there: by a relative path with LRO
    explicitly switched on (if that can be set), by a relative path without this setting, and by its absolute path. The
    first way is tried with a threshold of 0 before that.
    """
    on = (True,) if lab.can_set("enabled") else ()
    ways = [*(("{relative}", o) for o in on), ("{relative}", None), ("{own}", None)]
    at_zero: tuple[Call, ...] = ()
    attempts: list[tuple[Call, ...]] = []
    starts = [(1, way) for way in ways]
    if survey.adjustable and survey.lowest == 1:
        starts.insert(0, (0, ways[0]))
    for threshold, (output_dir, enabled) in starts:
        settings = _settings(survey, output_dir, enabled, threshold)
        with suppress(ServerTrouble), lab.bench(settings, folder=AWKWARD, modern=None) as bench:
            calls = _small_calls(bench, survey, names)
            observed = replace(observed, awkward=calls, awkward_dir=bench.output_dir, swept=_sweep(bench, calls))
            if threshold == 0:
                at_zero = calls
            else:
                attempts.append(calls)
        if any(c.file is not None and c.file.problem is None for c in observed.awkward):
            only_without = output_dir == "{relative}" and enabled is None and len(attempts) == 2
            return replace(
                observed,
                at_zero=at_zero if len(attempts) <= 1 else (),
                not_switched_on=attempts[0] if only_without else (),
            )
    return observed


def _sweep(bench: Bench, calls: Iterable[Call]) -> Sweep | None:
    trigger, edition = bench.profile.cleanup, bench.editions.own.name
    if not bench.has_trigger or (trigger is not None and trigger.restart):
        return None
    own = ((call, file) for call in calls if (file := template_in(call, edition)) is not None)
    return next((sweep_beside(bench, call, file, (OLD_AGE_S,)) for call, file in own), None)
