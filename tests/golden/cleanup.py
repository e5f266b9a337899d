"""Checks of cleanup, on evidence that is made up: as a sound server gives it, and with one thing changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace as Made
from typing import Any

from lro_conformance.judging.subjects import reproducer_of
from lro_conformance.trials.cleanup import (
    FALLBACK_TTL_S,
    HOUR,
    LONG_TTL,
    NEAR_TTL_S,
    Cleaning,
    Cleanup,
    Crowd,
    Decoy,
    Planted,
    Sessions,
)
from lro_conformance.trials.decoys import OLD_AGE_S
from lro_conformance.trials.defaults import MARGIN_S, Defaults
from lro_conformance.trials.expiry import Expiry
from lro_conformance.trials.exploration import Explored, Sweep, Sweeps
from lro_conformance.trials.lasting import Lasting
from tests.golden import Cases
from tests.golden.evidence import Change, evidence, made
from tests.golden.finding import Evidence, Finding, judged

OUT = Path("/out")
CALLS = [made(n, "recall", None, 5, {}) for n in range(3)]
MINE = tuple(call.path for call in CALLS[:2])
EVENT = "stderr: OffloadFileExpired {}"


class Watched(Expiry):
    """One that no script makes once more."""


class Cleaned(Cleaning):
    """One that no script makes once more."""


class Swept(Sweep):
    """One that no script makes once more."""


@reproducer_of.register
def _(_sweep: Swept) -> str:
    return ""


@reproducer_of.register
def _(_expiry: Watched) -> str:
    return ""


@reproducer_of.register
def _(_cleaning: Cleaned) -> str:
    return ""


SWEPT = Swept(CALLS[0], 8, worked=True)


def name(operation: str, number: int) -> Path:
    """A planted file."""
    return OUT / f"atlatl-{operation}-{number:026}.jsonl"


def planted(ttl_s: int, ages: tuple[int, ...], near: tuple[int, ...] = ()) -> list[Planted]:
    """Files of these ages and old ones of all operations, deleted as their ages say."""
    some = [Planted(name("recall", age), age, age > ttl_s, age in near) for age in (*ages, *near)]
    return [*some, *(Planted(name(n, OLD_AGE_S), OLD_AGE_S, gone=True) for n in ("recall", "inject", "search"))]


def cleaning(ttl_s: int | None, files: list[Planted], gone: Mapping[Any, bool], change: Change) -> Cleaned:
    """A cleanup that took other files than it ought to: by age, or by operation where that is old."""
    taken = [
        replace(p, gone=gone.get(p.age_s, gone.get(p.operation if p.age_s == OLD_AGE_S else "", p.gone))) for p in files
    ]
    decoys = (Decoy(OUT / "notes.txt", "name", gone=False), Decoy(OUT / "a/keep.txt", "folder", gone=False))
    decoys += Decoy(OUT / "b/x.jsonl", "subfolder", gone=False), Decoy(Path("/elsewhere/x"), "symlink", gone=False)
    known: Change = {
        "decoys": decoys, "own": tuple((path, False) for path in MINE),
        "events": tuple(EVENT.format(p.path.name) for p in taken if p.gone), "events_observable": True,
        "call": CALLS[0], "trigger": 7,
        "read": Planted(name("recall", 1), OLD_AGE_S, gone=True),
    }  # fmt: skip
    return Cleaned(ttl_s, tuple(taken), **{**known, **change})


@cache
def usual() -> Evidence:
    """What a sound server does otherwise."""
    return evidence(None, {})


def have(
    *,
    taken: Mapping[Any, bool] | None = None,
    late: Mapping[Any, bool] | None = None,
    long: Change | None = None,
    short: Change | None = None,
    default: Change | None = None,
    told: tuple[str, ...] = (),
    survey: Change | None = None,
    lasts: Mapping[int, bool] | None = None,
    without: tuple[str, ...] = (),
    turned: bool = False,
    swept: Sweep | None = SWEPT,
    **change: Any,
) -> Evidence:
    """The evidence of a sound server; *taken* under a TTL that was set and *late* under the default are not by age."""
    order = -1 if turned else 1
    long_ages = planted(LONG_TTL, (LONG_TTL // 2, 2 * LONG_TTL), (LONG_TTL - NEAR_TTL_S, LONG_TTL + NEAR_TTL_S))
    set_ttl = cleaning(LONG_TTL, long_ages[::order], taken or {}, long or {})
    ages = planted(HOUR, (HOUR - MARGIN_S, HOUR + MARGIN_S))
    usually = cleaning(None, ages[::order], late or {}, default or {})
    known: Change = {
        "ttl_s": 2, "call": CALLS[0], "paths": MINE, "left": (), "aged_gone": True, "fresh_stays": True,
        "triggered": True, "waited_s": 2.5, "cleanups": 1, **(short or {}),
    }  # fmt: skip
    found: Change = {
        "crowd": Crowd(CALLS[0], 201, ()), "set_ttl": set_ttl, "own": Watched(**known), "reason": None,
        "sessions": Sessions(CALLS[0], None), **dict.fromkeys(without), **change,
    }  # fmt: skip
    found.pop("cleaning", None)
    return {
        "cleanup": Cleanup(**found),
        "defaults": Defaults((), None if "cleaning" in without else usually, None, (), ()),
        "lasting": Lasting(tuple((call, (lasts or {}).get(n, False)) for n, call in enumerate(CALLS)), 9.0),
        "survey": replace(usual()["survey"], event_lines=told, **(survey or {})),
        "explored": Explored(),
        "folders": Made(swept=swept),
        "sweeps": Sweeps(FALLBACK_TTL_S),
    }


DAY, FOUR = LONG_TTL // 2, 2 * LONG_TTL
EARLY, LATE = LONG_TTL - NEAR_TTL_S, LONG_TTL + NEAR_TTL_S
BEFORE, AFTER = HOUR - MARGIN_S, HOUR + MARGIN_S
ALL = {DAY: True, EARLY: True}
NONE = dict.fromkeys((FOUR, LATE, OLD_AGE_S), False)
KEPT = dict.fromkeys((AFTER, OLD_AGE_S), False)
LEFT: Change = {"left": MINE, "fresh_stays": None}
STOPPED: Change = {"stopped_by": ("atlatl-0.jsonl", "a folder")}
FRESH: Change = {"own": ((MINE[0], True), (MINE[1], False))}
UNREAD = {"read": Planted(name("recall", 1), OLD_AGE_S, gone=False)}
FALSE = ("x: OffloadFileExpired a", "x: OffloadFileExpired b")
SHARED = replace(CALLS[0], start=Made(settings={}, env={}, argv=("serve",), output_dir=None, lines={}, folder=""))
SPARED = {"inject": False}
RECALL: Change = {
    "taken": {"recall": False, FOUR: False, LATE: False}, "late": {"recall": False, AFTER: False},
    "short": {"left": MINE[:1]},
}  # fmt: skip
INJECT = (str(name("inject", 3)),)
CHANGES: dict[str, Change] = {
    "own files stay": {"short": LEFT},
    "own files stay, and nothing sets cleanup off": {"short": {**LEFT, "triggered": False}},
    "own files go, and nothing sets cleanup off": {"short": {"triggered": False}},
    "own files stay, as old ones do": {"short": {**LEFT, "aged_gone": False}},
    "nothing goes": {"short": {**LEFT, "aged_gone": False}, "taken": NONE, "late": KEPT},
    "nothing goes, and nothing sets cleanup off": {
        "short": {**LEFT, "aged_gone": False, "triggered": False}, "taken": NONE, "late": KEPT,
    },
    "own files alone go": {"taken": NONE, "late": KEPT},
    "own files alone go, and not old ones": {"taken": NONE, "late": KEPT, "short": {"aged_gone": False}},
    "own files stay, and all others go": {"short": LEFT, "taken": ALL},
    "no own files": {"without": ("own",)},
    "no own files, and nothing goes": {"without": ("own",), "taken": NONE, "late": KEPT},
    "no own files, and nothing goes where it was set": {"without": ("own",), "taken": NONE},
    "no own files, and no TTL was set": {"without": ("own", "set_ttl"), "late": KEPT},
    "no own files, and no default": {"without": ("own", "cleaning"), "taken": NONE},
    "no own files, as it refuses to have them expire": {"without": ("own",), "refused": "it says no"},
    "no own files, as it refuses that, and nothing goes": {
        "without": ("own",), "refused": "it says no", "taken": NONE, "late": KEPT,
    },
    "own files stay for a minute": {"short": {**LEFT, "ttl_s": 60}},
    "old files stay under a minute, and own ones go": {"short": {"ttl_s": 60, "aged_gone": False}},
    "old files stay in a folder with an awkward name": {"swept": Swept(CALLS[0], 8)},
    "old files stay in such a folder as in others": {"swept": Swept(CALLS[0], 8), "taken": {**NONE, "recall": False}},
    "no cleanup of such a folder": {"swept": None},
    "nothing was cleaned": {"without": ("own", "set_ttl", "cleaning")},
    "nothing was cleaned, and why": {
        "without": ("own", "set_ttl", "cleaning", "crowd", "sessions"), "reason": "no setting",
    },
    "own files only": {"without": ("set_ttl", "cleaning")},
    "own files only, and they stay": {"without": ("set_ttl", "cleaning"), "short": LEFT},
    "those of one operation are spared": {"taken": SPARED, "late": SPARED, "short": {"left": INJECT}},
    "those of one operation are spared, and none is left": {"taken": SPARED, "late": SPARED},
    "those of an operation that the server does not have are spared": {
        "taken": SPARED, "late": SPARED, "survey": {"operations": {"recall": None, "search": None}},
    },
    "those of one operation are spared where it was set": {"taken": SPARED, "short": {"left": INJECT}},
    "those of recall are spared": RECALL,
    "those of recall are spared, the other way round": {**RECALL, "turned": True},
    "own files stay, and no TTL was set elsewhere": {"without": ("set_ttl",), "short": LEFT},
    "some are left of an operation whose old ones go": {"short": {"left": INJECT}},
    "none of any operation goes": {"taken": {OLD_AGE_S: False}, "late": {OLD_AGE_S: False}, "short": {"left": INJECT}},
    "names that tell no time stop it": {"short": STOPPED, "taken": NONE},
    "names that tell no time stop it in part": {"short": STOPPED, "taken": {OLD_AGE_S: False}, "late": {AFTER: False}},
    "names that tell no time stop it in part, the other way round": {
        "short": STOPPED, "taken": {OLD_AGE_S: False}, "late": {AFTER: False}, "turned": True,
    },
    "names that tell no time stop it at one age, the other way round": {
        "short": STOPPED, "taken": {LATE: False, EARLY: True}, "late": {AFTER: False, "inject": False}, "turned": True,
    },
    "names that tell no time stop it for one operation": {"short": STOPPED, "taken": {"inject": False}},
    "names that tell no time stop it, and a fresh one goes": {
        "short": STOPPED, "taken": {**NONE, DAY: True}, "late": KEPT,
    },
    "names that tell no time stop it near the TTL": {"short": STOPPED, "taken": {LATE: False, EARLY: True}},
    "names that tell no time stop it, and one that was read": {"short": STOPPED, "long": UNREAD},
    "names that tell no time are in the way of own files": {"short": {**STOPPED, **LEFT}},
    "too late by default": {"late": {AFTER: False}},
    "too late by default, and near the TTL": {"late": {AFTER: False}, "taken": {LATE: False}},
    "too late by default, and early near the TTL": {"late": {AFTER: False}, "taken": {EARLY: True}},
    "too late by default, and both near the TTL, the other way round": {
        "late": {AFTER: False}, "taken": {EARLY: True, LATE: False}, "turned": True,
    },
    "old ones stay by default, and late near the TTL": {"late": {OLD_AGE_S: False}, "taken": {LATE: False}},
    "too early by default": {"late": {BEFORE: True}},
    "late near the TTL": {"taken": {LATE: False}},
    "early near the TTL": {"taken": {EARLY: True}},
    "both near the TTL": {"taken": {EARLY: True, LATE: False}},
    "too late where it was set": {"taken": {FOUR: False}},
    "too early where it was set": {"taken": {DAY: True}},
    "too early where it was set, with own files": {"taken": {DAY: True}, "long": FRESH},
    "too early everywhere": {"taken": {DAY: True}, "late": {BEFORE: True}},
    "fresh ones go where it was set": {"long": FRESH},
    "fresh ones go by default": {"default": FRESH},
    "fresh ones go everywhere": {"long": FRESH, "default": FRESH},
    "fresh ones go, and nothing by default": {"long": FRESH, "late": KEPT},
    "fresh ones go where it was set, and others stay": {"long": FRESH, "taken": NONE},
    "a fresh one goes of a process that is older": {"short": {"fresh_stays": False}},
    "a fresh one of such a process was not seen": {"short": {"fresh_stays": None}},
    "nothing goes where it was set": {"taken": NONE},
    "nothing goes by default": {"late": KEPT},
    "old ones stay where it was set": {"taken": {OLD_AGE_S: False}},
    "one that was read stays": {"long": UNREAD},
    "one that was read stays by default": {"default": UNREAD},
    "one that was read stays, as all old ones do": {"long": UNREAD, "taken": {OLD_AGE_S: False}},
    "one that was read stays, as all of its operation do": {"long": UNREAD, "taken": {"recall": False}},
    "one that was read stays, and old ones of its operation": {
        "long": UNREAD, "taken": {"recall": False, FOUR: True, LATE: True},
    },
    "one that was read stays, and only those go that are not as old": {
        "long": {"read": Planted(name("recall", 1), FOUR, gone=False)}, "taken": {FOUR: False},
    },
    "none was read": {"long": {"read": None}},
    "none was read under the default": {"default": {"read": None}, "long": UNREAD},
    "no TTL was set": {"without": ("set_ttl",)},
    "no default": {"without": ("cleaning",)},
    "why no TTL was set": {"without": ("set_ttl", "own", "crowd", "sessions"), "reason": "the TTL cannot be set"},
    "a start takes a file": {"sessions": Sessions(CALLS[1], "x.jsonl")},
    "no crowd": {"without": ("crowd", "sessions")},
    "a crowd is thinned": {"crowd": Crowd(CALLS[1], 201, ("a", "b"))},
    "a crowd at which nothing was written": {
        "crowd": Crowd(made(0, "recall", None, 5, {}, inline=True), 201, ("a",)),
    },
    "files do not last": {"lasts": {1: True}},
    "no events": {"long": {"events": ()}},
    "no events, and nobody listens": {"long": {"events": (), "events_observable": False}, "default": {"events": ()}},
    "events of fewer": {"long": {"events": (EVENT.format("x"), "file: y", "file: z")}},
    "other words instead of events": {"long": {"events": (), "other_lines": ("stderr: deleted a",) * 6}},
    "events of what was still there": {"long": {"premature": (name("recall", DAY).name, "x")}},
    "no events but of what was still there": {"long": {"events": (), "premature": (name("recall", DAY).name,)}},
    "no events at all": {"long": {"events": ()}, "default": {"events": ()}},
    "no events at all, and false ones": {
        "long": {"events": ()}, "default": {"events": ()}, "told": FALSE,
    },
    "events of what was written just now": {"told": FALSE},
    "such events in a folder of all": {"told": FALSE, "survey": {"calls": (SHARED, CALLS[1])}},
    **{
        f"a {kind} is deleted": {"long": {"decoys": (Decoy(OUT / "x", kind, gone=True),)}}
        for kind in ("name", "folder", "subfolder", "symlink")
    },
    "a name is deleted where nothing else is": {
        "default": {"decoys": (Decoy(OUT / "x", "name", gone=True),)}, "late": KEPT,
    },
    "a name is deleted where something else is": {
        "default": {"decoys": (Decoy(OUT / "x", "name", gone=True),)}, "taken": NONE,
    },
}  # fmt: skip
FINDING = Finding(judged("cleanup", "config.ttl_setting"), have)
PAPER = Finding(judged("cleanup"), have, "lro-paper")
CASES: Cases = {
    **FINDING.cases(CHANGES),
    **{f"{name} by the paper": PAPER.of(**CHANGES[name]) for name in ("no events", "other words instead of events")},
}
