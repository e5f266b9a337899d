"""Notes of a report: facts about a run that no verdict states, and the reason why there is no verdict."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

from lro_conformance.analysis.comparison import Comparison
from lro_conformance.analysis.exchanges import Exchanges
from lro_conformance.capture.overall import OVERALL, Overall
from lro_conformance.capture.records import as_record, show
from lro_conformance.capture.reproduce import Conversation
from lro_conformance.capture.summary import result_summary
from lro_conformance.capture.warnings import write_failure
from lro_conformance.judging.derived import Evidence
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import reproducer_of
from lro_conformance.lab.errors import ServerTrouble
from lro_conformance.lab.operations import flag_levels, levels_of
from lro_conformance.lab.thresholds import MAX_THRESHOLD
from lro_conformance.profile import DetailValue
from lro_conformance.trials.cleanup import Cleanup
from lro_conformance.trials.edges import Edges
from lro_conformance.trials.eras import Eras
from lro_conformance.trials.extensions.proxy import Proxied
from lro_conformance.trials.fallback import FROM_START, Fallback
from lro_conformance.trials.survey import Inline, Survey
from lro_conformance.trials.tasks import operations_as_tasks
from lro_spec.display import counted


def notes(evidence: Evidence, unanswered_call: str | None, *, observed_all: bool = True) -> tuple[str, ...]:
    """Notes on a run. *unanswered_call* describes the first call without a response; *observed_all* is False if a
    requirement of a level was not observed."""
    collected: list[str] = []
    captured = evidence.captured
    survey, inline, edges, fallback = (captured.get(n) for n in ("survey", "inline", "edges", "fallback"))
    if isinstance(survey, Survey):
        wanted = (o for o in ("recall", "search", "inject") if o not in survey.absent)
        missing = [o for o in wanted if o not in survey.operations]
        if survey.operations and missing:
            collected.append(
                f"no tool was found for {', '.join(missing)}; if the server has one, name it (profile: operations)"
            )
        if not survey.adjustable:
            instead = ", so the suite varied the size of results by their limit instead" if survey.offloaded else ""
            collected.append(f"{survey.reason_not_set('threshold_tokens')}{instead}")
        # `survey.fixed` maps each setting that a flag of the command fixes to this flag.
        collected += [survey.reason_not_set(name) for name in survey.fixed if name != "threshold_tokens"]
        if survey.lowest > 1:
            collected.append(
                f"the server rejects a threshold of 1; of the tried values, {survey.lowest} is the lowest accepted"
            )
        if survey.proxied and not isinstance(captured.get("proxied"), Proxied):
            collected.append("the server says that it is a proxy; with the key proxy in lro.yaml it is tested as one")
        collected += _unwritten(survey)
        collected += _unused_features(survey)
        collected += () if observed_all else _unnamed_queries(survey)
        collected += _undecided(survey)
    cleanup = captured.get("cleanup")
    if isinstance(cleanup, Cleanup) and cleanup.at_start_only and cleanup.own is not None and cleanup.own.gone:
        collected.append(
            "expired files were deleted when the server started; whether a running server deletes them, too, was not "
            "observed (lro explain LRO-CLN-06)"
        )
    eras = captured.get("eras")  # calls under a second protocol version
    if isinstance(eras, Eras):
        collected.append(
            f"the server also speaks MCP {eras.protocol} (server/discover): its calls were judged under both protocol "
            "versions"
        )
    if isinstance(inline, Inline) and inline.threshold < MAX_THRESHOLD:
        collected.append(f"the server rejects a threshold of {MAX_THRESHOLD}; {inline.threshold} was used instead")
    if isinstance(survey, Survey) and isinstance(inline, Inline):
        comparison: Comparison = evidence.select(["comparison"])["comparison"]
        paths = sorted({"/".join(p) for n in survey.operations for p in comparison.volatile(n)})
        if paths:
            collected.append(
                "ignored in comparisons, because they differ between identical calls or server processes: "
                f"{', '.join(paths)}"
            )
        # `survey.files` are the calls whose file could be read
        if survey.files and comparison.operations_differing_between_processes:
            collected.append(
                f"{', '.join(sorted(comparison.operations_differing_between_processes))}: identical calls in another "
                "server process return other records, or the records in another order; if a limit cuts a result, only "
                "its number of records was compared (lro explain I-31)"
            )
        exchanges: Exchanges = evidence.select(["exchanges"])["exchanges"]
        if survey.files and comparison.obstacle is not None:
            collected.append(_compared(comparison, exchanges))
        if exchanges.hidden_scores:
            collected.append(
                f"score_range of {', '.join(exchanges.hidden_scores)} could not be compared with scores, since neither "
                "records nor inline results show any: only its form was judged (LRO-DESC-07)"
            )
    if isinstance(edges, Edges):
        collected += [
            f"the estimate of {e.operation} differs by {e.drift} tokens between identical calls: its threshold was "
            f"tested with a margin of {2 * e.drift} tokens on each side"
            for e in edges.edges.values()
            if e.drift
        ]
        if isinstance(survey, Survey) and edges.reason is None:
            # `survey.effective` has the operations for which the lowest threshold takes effect.
            collected += [
                f"the exact threshold of {n} was not tested: {_reason_for_no_edge(survey, n)}"
                for n in survey.effective
                if n not in edges.edges
            ]
    overall = captured.get(OVERALL)  # observations about all servers of the run
    if isinstance(overall, Overall):
        collected += overall.remarks
    if isinstance(fallback, Fallback):
        collected += [
            f"write failure, {_FAILURE_DESCRIPTIONS.get(kind, kind)}: not tested, because {why}"
            for kind, why in fallback.skipped.items()
        ]
    if unanswered_call is not None:
        collected.append(f"a call had no response: {unanswered_call}")
    return tuple(collected)


def _reason_for_no_edge(survey: Survey, operation: str) -> str:
    """The reason why the exact threshold of an operation was not tested; see `lro_conformance.trials.edges`."""
    if any(c.estimate is not None for c in survey.repeats.get(operation, ())):
        return f"its result has fewer than {survey.lowest + 2} tokens"
    return "no header of its files states an estimate"


_FAILURE_DESCRIPTIONS = {FROM_START: "output_dir is a file when the server starts"}
"""Descriptions of those kinds of write failures whose names say too little."""


def _compared(comparison: Comparison, exchanges: Exchanges) -> str:
    """A note for a run whose files and inline results have no ids in common: what was compared instead, if anything."""
    if names := exchanges.names:
        matches = ", ".join(f"{own} with {name}" for own, name in names.items())
        unpaired = exchanges.fields_missing_inline
        unmatched = f"; files may have further fields, which were not compared: {', '.join(unpaired)}"
        pairs = (
            f"inline records have field names of their own; inline fields were compared with those of files: {matches}"
        )
        return pairs + (unmatched if unpaired else "")
    if exchanges.by_title:
        return (
            f"{comparison.unmatched}, so only memories that the suite stored were compared with inline results, by "
            "their titles"
        )
    if exchanges.operations_compared_by_text:
        return (
            f"{comparison.unmatched}, so files were compared only with those memories that appear, with title and "
            f"content, in the text that {' and '.join(exchanges.operations_compared_by_text)} returned; if the result "
            "has records with ids elsewhere, say where (profile: inline)"
        )
    return comparison.obstacle or ""


def no_verdict(survey: object, unanswered_call: str | None) -> str | None:
    """The reason why there is no verdict, in one or more lines; None if there is a verdict. For *unanswered_call* see
    `notes`."""
    if isinstance(survey, Survey):
        return None if survey.implemented is not None else "\n".join(_nothing_observed(survey, unanswered_call))
    if isinstance(survey, ServerTrouble):
        return str(survey) if unanswered_call is None else f"{survey}; the first: {unanswered_call}"
    if isinstance(survey, NotObserved):
        return unanswered_call or str(survey)
    return f"the suite failed: {type(survey).__name__}: {survey}"


def nothing_observed(survey: Survey) -> str:
    """One line on why a server that responded could not be judged."""
    return next(_nothing_observed(survey, None))


def _nothing_observed(survey: Survey, unanswered_call: str | None) -> Iterator[str]:
    """Lines that explain why a server that responded could not be judged: the calls, their results, and advice."""
    if not survey.operations:
        yield "no tool of the server resembles recall, search or inject, so none was called and no level is proved"
        yield f"the server lists {show([str(t.get('name')) for t in survey.tools], MAX_LIST_LENGTH)}"
        yield from _signs(survey)
        yield "name the tool that returns many records: lro init --tool recall=NAME -- COMMAND (profile: operations)"
        return
    if survey.offloads_other_records:
        tools = ", ".join(o.tool for o in survey.operations.values())
        yield (
            f"the proxy offloads results of {tools}, but these hold no memories; the levels are about tools that "
            "return memories (recall, search, inject), so no level is proved"
        )
        return
    whose = "results of recall, search and inject are offloaded" if survey.proxied else "the server offloads"
    yield f"no call returned a result {_required_size(survey)}, so no level is proved: whether {whose} is unknown"
    calls = Counter((c.tool, result_summary(c)) for c in survey.calls if c.outcome != "no answer")
    for (tool, came), times in list(calls.items())[:MAX_OUTCOMES]:
        first = next(c for c in survey.calls if c.tool == tool and result_summary(c) == came)
        yield f"{first.label}: {came}{f' ({times} such calls)' if times > 1 else ''}"
    if len(calls) > MAX_OUTCOMES:
        yield f"and {len(calls) - MAX_OUTCOMES} other outcomes"
    if silent := [c for c in survey.calls if c.outcome == "no answer"]:
        yield unanswered_call or f"{silent[0].label}: {result_summary(silent[0])}"
        tools = ", ".join(dict.fromkeys(c.tool for c in silent))
        made = counted(len(silent), "call")
        yield (
            f"{made} of {tools} gave no result: there was no response, or the tool was not called again because of "
            "that (profile: server.timeout_s)"
        )
    yield from _signs(survey)
    if len(silent) < len(survey.calls):
        yield _advice(survey)


def _signs(survey: Survey) -> Iterator[str]:
    """Signs that a server which offloaded nothing may have LRO."""
    return (f"it may offload nevertheless: {claim}" for claim in survey.claims)


MAX_LIST_LENGTH = 900
"""Maximum length of the list of tools in a report without a verdict; reports show lines of up to 1,000 characters."""

MAX_OUTCOMES = 8
"""Maximum number of different outcomes of calls that a report without a verdict lists."""


def _required_size(survey: Survey) -> str:
    """The end of the sentence "no call returned a result …". It says how large a result must be to show whether the
    server offloads."""
    if not survey.returned_anything:
        return "that could have been offloaded"
    largest = f"(the largest has {survey.largest_inline} characters)"
    if (flag := survey.fixed.get("threshold_tokens")) is not None:
        return f"that is surely above the threshold that {flag} fixes {largest}"
    default = f"that is surely above the default of {survey.default_tokens} tokens {largest}"
    if not survey.adjustable:
        return default
    if survey.claims and survey.lowest == 1:
        return f"{default}, and none was offloaded with threshold_tokens = 1"
    return (
        f"above {survey.lowest} token{'s' if survey.lowest > 1 else ''}, the lowest threshold that the server accepts"
    )


def _advice(survey: Survey) -> str:
    """Advice on what to change, so that the next run observes more. Most advice names a key of the profile."""
    name, operation = next(iter(survey.operations.items()))
    if survey.returned_anything and "threshold_tokens" in survey.fixed:
        return survey.reason_not_set("threshold_tokens")
    if survey.returned_anything and survey.claims:
        return "if the setting has another name, give it (profile: settings.threshold_tokens)"
    if survey.returned_anything:
        return f"give the server more memories ({survey.seed_advice})"
    if any(write_failure(c) is not None for c in survey.answered):
        return "let the server write its files: give it a folder with free space (TMPDIR; profile: settings.output_dir)"
    if survey.answered and survey.seeded_by is None:
        return (
            f"if {operation.tool} needs other arguments to find many records, name them (profile: "
            f"operations.{name}.arguments), or another tool (operations.{name}.tool); if the server holds nothing, "
            "give it memories (profile: seed)"
        )
    arguments = f"{operation.tool} finds many records (profile: operations.{name}.arguments)"
    if survey.seeded_by is None:
        words = f"name arguments with which {arguments}, or another tool that does (operations.{name}.tool)"
        return words if survey.answered else f"remove the cause that the error names; if it is the arguments, {words}"
    given = f"the server was given the suite's memories (profile: seed.{survey.seeded_by})"
    return (
        f"{given}, but no call found them: name arguments with which {arguments}, or, if {operation.tool} caches "
        "memories, make it read those that were stored later"
    )


def start_reproducer(survey: object) -> str:
    """Script that repeats the conversation with a server that failed before it could be observed. Empty if the server
    did not fail in this way."""
    start = survey.start if isinstance(survey, ServerTrouble) else None
    return "" if start is None else reproducer_of(Conversation(start))


def _undecided(survey: Survey) -> Iterator[str]:
    """A note on the verdict that a server does not implement LRO, if this verdict may be wrong."""
    if survey.implemented is not False:
        return
    if survey.claims:
        claims = "; ".join(survey.claims)
        yield f"{claims}; but nothing was offloaded, not even a result of {survey.largest_inline} characters"
    elif not survey.exceeds_default:
        yield (
            f"no result was surely above the default threshold of {survey.default_tokens} tokens, and a threshold of "
            f"{survey.lowest} had no effect: if the server has settings of its own, name them (profile: settings)"
        )


def _unwritten(survey: Survey) -> Iterator[str]:
    """A note on results that the server reported as not written, although the suite had not made writing fail."""
    statements = [words for c in survey.calls if (words := write_failure(c)) is not None]
    if statements:
        calls = f"{len(statements)} of {len(survey.calls)} results" if len(statements) > 1 else "a result"
        yield (
            f"the server says of {calls} that a file could not be written: {statements[0]}; requirements on such files "
            "are not observed: make sure that the folder is writable and has free space (TMPDIR)"
        )


def _unused_features(survey: Survey) -> Iterator[str]:
    """Notes on features of the server that the suite does not use."""
    tools = [o.tool for o in survey.operations.values()]  # a list, because a name from the server may be unhashable
    yield from _unused_details(survey)
    listed = [t for t in survey.tools if t.get("name") in tools]
    tasks = [str(t["name"]) for t in listed if as_record(t.get("execution")).get("taskSupport") in _TASK_SUPPORT]
    if tasks and not any(operations_as_tasks(survey)):
        declares = "but the server does not declare the capability tasks.requests.tools.call"
        yield f"{', '.join(tasks)} may be called as MCP tasks, {declares}: called only without a task (LRO-SCOPE-07)"
    handshake = json.dumps([m.value for m in survey.messages if m.kind in ("initialize", "server/discover")])
    if re.search(r"streamable[-_ ]?http", handshake, re.IGNORECASE):
        yield "the server mentions streamable-http: it was run over stdio, but LRO-DEP-01 concerns streamable-http"


def _unnamed_queries(survey: Survey) -> Iterator[str]:
    """A note on arguments that may be queries, but had the same value in all calls."""
    found = {name: o for name, o in survey.operations.items() if o.possible_query is not None}
    if not found:
        return
    several = len(found) > 1
    which = " and ".join(f"{o.possible_query} of {o.tool}" for o in found.values())
    keys = ", ".join(f"operations.{name}.query" for name in found)
    name = "they are queries, name them" if several else "it is the query, name it"
    yield (
        f"the argument{'s' if several else ''} {which} had the same text in all calls; if {name}, and results of other "
        f"sizes and with other memories can be observed (profile: {keys})"
    )


def _unused_details(survey: Survey) -> Iterator[str]:
    """A note on arguments that may choose the level of detail, but were left out of all calls."""
    found = {name: o.possible_details for name, o in survey.operations.items() if o.possible_details and not o.details}
    if not found:
        return
    arguments = dict[str, tuple[DetailValue, ...]]()
    for each in found.values():
        arguments |= each
    first, values = next(iter(arguments.items()))
    levels = flag_levels(first) if isinstance(values[0], bool) else levels_of(values)
    example = ", ".join(f"{level}: {v if isinstance(v, str) else json.dumps(v)}" for level, v in levels.items())
    keys = ", ".join(f"operations.{name}.detail" for name in found)
    several = len(arguments) > 1
    yield (
        f"the argument{'s' if several else ''} {', '.join(arguments)} {'were' if several else 'was'} left out of all "
        f"calls; if {'one of them' if several else 'it'} chooses the level of detail, say which value selects which "
        f"level, as in {{argument: {first}, {example}}}, and each is tried (profile: {keys})"
    )


_TASK_SUPPORT = ("optional", "required")
"""Values of ``taskSupport`` with which a tool may be called as a task."""
