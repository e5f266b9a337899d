"""Evidence that is made up: what checks are given where no server is run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lro_conformance.analysis.comparison import Comparison
from lro_conformance.analysis.exchanges import Context, Exchange, Exchanges
from lro_conformance.capture.call import Call, CallInContext, descriptor_in
from lro_conformance.capture.file import FileSeen
from lro_conformance.judging.check import checks, judge
from lro_conformance.judging.derived import Evidence, captured
from lro_conformance.judging.results import CheckResult
from lro_conformance.judging.subjects import reproducer_of
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.profile.model import reason_not_set
from lro_conformance.trials.edges import Edge, Probe
from lro_conformance.trials.survey import Survey
from lro_spec.catalogue import first_wording
from lro_spec.editions import DEFAULT_EDITION
from lro_spec.editions import edition as edition_named
from lro_spec.filenames import parse_file_name
from tests.support.made import Made

OUT = Path("/out")


_in_context = reproducer_of.dispatch(CallInContext)


@reproducer_of.register
def _(among: CallInContext) -> str:
    """A made-up call has no conversation to replay."""
    try:
        return _in_context(among)
    except AttributeError:
        return ""


ULID = "01KJPY44E0A1B2C3D4E5F6G7H8"
NAME = parse_file_name(f"atlatl-recall-{ULID}.jsonl")
WRITTEN = NAME.created.timestamp()


def judged(name: str, by: str | None = None, **have: Any) -> CheckResult:
    """What a check finds, by this edition, or else the first that holds its requirement."""
    one = next(c for c in checks() if c.name == name)
    held = first_wording(one.requirement).editions
    known = by or (DEFAULT_EDITION if DEFAULT_EDITION in held else held[0])
    if "exchanges" in one.needs and "exchanges" not in have:
        have["exchanges"] = exchanges(have, known)
    have = {**dict.fromkeys(one.optional), **have}
    evidence = Evidence(known, {name: have.get(name, Made()) for name in captured(one.needs)})
    given = {need: have[need] if need in have else evidence.select([need])[need] for need in one.needs}
    return judge(one, given, edition=known)


def exchanges(have: Mapping[str, Any], edition: str) -> Exchanges:
    """The exchanges of a made-up survey: its calls, and those that a comparison pairs with the same calls inline."""
    survey, comparison = have.get("survey"), have.get("comparison")
    if comparison is None and "inline" in have:
        comparison = Comparison(have["survey"], have["inline"])
    pairs = list(comparison.pairs) if comparison is not None else []
    paired = {id(filed) for filed, _ in pairs}
    made = [Exchange(filed, shown) for filed, shown in pairs]
    made += [Exchange(c) for c in getattr(survey, "calls", ()) if id(c) not in paired]
    made += [Exchange(c, in_flight=True) for c, _ in getattr(survey, "together", ())]
    of: Any = Context
    return Exchanges(made, of(survey, None, edition_named(edition), comparison))


def seen(result: CheckResult) -> tuple[Verdict, int]:
    return result.verdict, result.subjects


def file(path: str = f"/out/atlatl-recall-{ULID}.jsonl", **other: Any) -> Made:
    return Made(
        **{"path": path, "real_path": path, "problem": None, "lines": [], "record_lines": [], "characters": 0, **other}
    )


START = Made(cwd=Path("/srv"))


def call(**other: Any) -> Made:
    """A call as checks see it; what they do not look at is not there."""
    known: Mapping[str, Any] = {
        "operation": "recall",
        "outcome": "offloaded",
        "label": "recall()",
        "detail": None,
        "query": "*",
        "limit": None,
        "text": "",
        "records": None,
        "file_records": [{"id": "a"}],
        "header": {"count": 1},
        "estimate": 10,
        "output_dir": OUT,
        "start": START,
        "reply": Made(id=7),
        "real_output_dir": OUT,
        "started": WRITTEN,
        "ended": WRITTEN,
        "utc_offset_s": 0,
        "evidence": str,
        "location": str,
        "reproducer": lambda **_: "",
        "file": file(),
        "settings": {},
        "result": None,
        "computed": {},
    }
    made = Made(**{**known, **other})
    return Made(**{**vars(made), "path": made.file.path if made.file is not None else ""})


def survey(*calls: Made, **other: Any) -> Made:
    offloaded = [c for c in calls if c.outcome == "offloaded"]
    files = [c for c in offloaded if c.file is not None and c.file.problem is None]
    known: Mapping[str, Any] = {
        "calls": calls,
        "offloaded": offloaded,
        "files": files,
        "together": (),
        "whole": {},
        "repeats": {},
        "adjustable": True,
        "effective": ["recall"],
        "offloads": lambda name: any(c.operation == name for c in offloaded),
        "lowest": 1,
        "is_small": lambda call: False,
        "minimal_calls": other.get("tiny"),
        "seed_advice": "profile: seed",
        "fixed": other.get("fixed", {}),
        "reason_not_set": lambda name: reason_not_set(name, other.get("fixed", {})),
        "volatile_operations": frozenset[str](),
        "seeded_by": None,
        "files_change": False,
    }
    made: Any = Made(**{**known, **other})
    made.has_records_of = lambda call, alone: Survey.has_records_of(made, call, alone)
    return made


NO_EDGES = Made(edges={}, reason=None, far=())


def probe(made: Any, estimate: int, threshold: int) -> Probe:
    return Probe(made, estimate, threshold)


def edge(at: str = "inline", below: str = "offloaded", **other: Any) -> Edge:
    known: dict[str, Any] = {"operation": "recall", "estimate": 100, "drift": 0, "largest": 10, **other}
    return Edge(
        **known,
        at=(probe(call(outcome=at), 100, 100),),
        below=(probe(call(outcome=below), 100, 99), probe(call(outcome=below), 100, 90)),
    )


def offloaded(*, beside: str = "", result: Any = None, **other: Any) -> Any:
    """A call with a descriptor, found in a text."""
    descriptor: dict[str, Any] = {"summary": {}, "file_path": "/out/a.jsonl", **other.pop("descriptor", {})}
    found = Made(surrounding_text=beside, where="text", value=descriptor, text_value=descriptor, structured_value=None)
    return call(descriptor=descriptor, summary=descriptor["summary"], found_descriptor=found, result=result, **other)


def answered(
    result: Any, file: FileSeen | None = None, *, error: Any = None, raw: bytes | None = b"", failure: Any = None
) -> Call:
    """A call of recall that was answered so."""
    reply: Any = Made(result=result, error=error, raw=raw, failure=failure, request=b'{"x"}\n', id=7)
    start: Any = Made(
        number=1,
        settings={"A": 1} if file else {},
        argv=("run", "it"),
        output_dir=None,
        lines={7: 12} if file else {},
        folder="f",
    )
    of: Any = Call
    arguments = {"q": "x" * 50, "n": 1}
    found = descriptor_in(reply)
    sent = ("recall", "recall_memories", arguments, None, None, "x")
    return of(*sent, start, (), reply, 0.0, 1.0, 3600, file, None, found)
