"""Where files go without an output folder and in one with an awkward name; another client in another time zone, and
unusual queries."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call
from lro_conformance.capture.corpus import NOWHERE, long_query, odd, odd_query, shell_query
from lro_conformance.capture.file import see_file
from lro_conformance.capture.start import Start
from lro_conformance.lab.errors import ServerTrouble
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import LIMIT
from lro_conformance.trials import trial
from lro_conformance.trials.defaults import real_temps
from lro_conformance.trials.disabled import asking
from lro_conformance.trials.recipes import Try, with_unusual_queries
from lro_conformance.trials.survey import Survey

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

CLIENT = "claude-code"
"""The client that one server believes to serve. It is one whose model has a shell, so that no server has a reason to
spare it (LRO-DEP-03)."""

AWKWARD = 'it\'s; a $(touch owned) `folder` & "more"'
"""A folder name that breaks out of any command in which it is not quoted."""


@dataclass(frozen=True)
class Folders:
    """Calls without an output folder, some of them by another client, and calls in a folder with an awkward name."""

    unset: tuple[Call, ...]
    """With an output folder that is the empty string."""
    real_temps: tuple[Path, ...]
    """The folder that TMPDIR named for that server, and the system's own for temporary files, without links."""
    refused: str | None
    """Why the server did not start with an empty output folder; `unset` are then calls without that setting."""
    stranger: tuple[Call, ...]
    """The calls of `unset` made by another client, `CLIENT`, of a server whose local time is far from UTC."""
    odd: tuple[Call, ...]
    """Calls whose query JSON has to escape, one whose query a shell would have to, and one with a query of several
    hundred characters."""
    nothing: tuple[Call, ...]
    """Calls that should find nothing."""
    awkward: tuple[Call, ...]
    """Calls with an output folder of such a name, set by a relative path where the server takes one."""
    awkward_dir: Path | None
    refusing: Start | None = None
    """The server that did not start so."""
    tried: tuple[Try, ...] = ()
    """Recipes of the calls of `odd` that the survey has not seen, run as they stand."""


@trial("no output folder; another client; unusual queries; an awkward folder")
def folders(lab: Lab, survey: Survey) -> Folders:
    """Make ``output_dir`` empty, then set it to a relative path with spaces, quotes and shell characters."""
    names = [n for n in survey.operations if survey.offloads(n)]
    empty = _empty(lab, survey, names)
    awkward, where = _awkward(lab, survey, names)
    tried = with_unusual_queries(lab.editions.own.name, survey, empty.odd, lambda: lab.workspace.pause(0))
    return replace(empty, awkward=awkward, awkward_dir=where, tried=tried)


def _settings(survey: Survey, output_dir: str | None) -> Settings:
    return Settings(threshold_tokens=1 if survey.adjustable else None, output_dir=output_dir)


def _empty(lab: Lab, survey: Survey, names: list[str]) -> Folders:
    """One server: the folder is empty, client and time zone are others; a second only where that made a difference."""
    settings, refused = _settings(survey, "" if lab.can_set("output_dir") else None), None
    refusing: Start | None = None
    try:
        seen = _look(lab, survey, names, settings, CLIENT)
    except ServerTrouble as trouble:
        refused, refusing = str(trouble), trouble.start
        settings = _settings(survey, None)
        seen = _look(lab, survey, names, settings, CLIENT)
    if all(c.outcome == "offloaded" for c in seen.stranger):
        return replace(seen, refused=refused, refusing=refusing)
    with lab.bench(settings) as bench:
        unset = _unset(bench, survey, names)
        return replace(seen, unset=unset, real_temps=real_temps(bench), refused=refused, refusing=refusing)


def _look(lab: Lab, survey: Survey, names: list[str], settings: Settings, client: str) -> Folders:
    with lab.bench(settings, client=client, in_far_zone=True) as bench:
        unset = _unset(bench, survey, names)
        nothing = tuple(asking(bench, names, NOWHERE))
        word = survey.word or "memory"
        bench.store(odd(word))
        unusual = [*asking(bench, names, odd_query(word))]
        unusual += [c for query in (long_query(word), shell_query(word)) for c in asking(bench, names[:1], query)]
        return Folders(unset, real_temps(bench), None, unset, tuple(unusual), nothing, (), None)


def _few(bench: Bench, survey: Survey, names: list[str]) -> tuple[Call, ...]:
    return tuple(bench.offloading_call(n, 5 if survey.adjustable else LIMIT) for n in names)


def _unset(bench: Bench, survey: Survey, names: list[str]) -> tuple[Call, ...]:
    calls = _few(bench, survey, names)
    for call in calls:
        _remember(bench, call)
    return calls


def _remember(bench: Bench, call: Call) -> None:
    """A server that takes the empty string for its working directory leaves its file there: it is to go in the end."""
    if call.file is not None and call.file.problem is not None:
        path = os.path.join(bench.cwd, call.file.path)
        if os.path.dirname(path) == str(bench.cwd):
            bench.ledger.stray.note(see_file(path, (bench.cwd,)))


def _awkward(lab: Lab, survey: Survey, names: list[str]) -> tuple[tuple[Call, ...], Path | None]:
    """Calls in the awkward folder, named by a relative path; where a server offloads nothing there, by its own path."""
    calls, where = (), None
    for output_dir in ("{relative}", "{own}"):
        with suppress(ServerTrouble), lab.bench(_settings(survey, output_dir), folder=AWKWARD) as bench:
            calls, where = _few(bench, survey, names), bench.output_dir
        if any(c.file is not None and c.file.problem is None for c in calls):
            break
    return calls, where
