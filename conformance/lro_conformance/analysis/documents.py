"""Validation of the descriptors and files of a run. The findings are those that `lro validate` would report.

A *document* is a descriptor and the file that it names. A document can be examined for a requirement only if it meets
the precondition of the requirement.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, partial
from types import NoneType
from typing import Any, cast

from lro_conformance.analysis.detail import DetailLevels
from lro_conformance.capture.call import Call, CallInContext, Identity, mark_if_indirect, named_before
from lro_conformance.capture.marks import underlined
from lro_conformance.capture.recipes import Command, commands_of
from lro_conformance.capture.records import Record, repeated_ids, show
from lro_conformance.judging.derived import derived
from lro_conformance.judging.subjects import DETAIL_EVERYWHERE, OPERATION_EVERYWHERE, Mark, MarkedSubject, Subjects
from lro_conformance.trials.exploration import Explored, LiveFinding, Triple
from lro_conformance.trials.fallback import Failing
from lro_conformance.trials.seeded import Seeded
from lro_conformance.trials.survey import Survey
from lro_spec.editions import Edition
from lro_spec.findings import Finding, Kind
from lro_spec.jsonl.values import whole_number
from lro_spec.validation import validate_descriptor
from lro_spec.validation.editions import for_edition
from lro_spec.validation.file import judge_file
from lro_spec.validation.header import holds_memories
from lro_spec.validation.linked import SAMPLE_RECORDS, Following
from lro_spec.validation.recipes import RecipeJudge, Sample
from lro_spec.validation.request import Request
from lro_spec.validation.state import FileState

NOT_DOCUMENTS = frozenset(("proxied", "extraction", "families", "compaction"))
"""Names of evidence whose calls have no documents, because these calls are to tools that perform no operation."""


@dataclass(frozen=True)
class Document:
    """A descriptor and the file that it names, both from the same call."""

    call: Call
    request: Request
    reason_for_unknown_level: str | None
    """The reason why it is unknown which detail level applies to the document; None if the level is known."""
    findings: tuple[Finding, ...]
    """All findings of validation."""
    header: Record | None
    """The file's header as validation reads it."""
    file_was_read: bool
    """True if the file could be read."""
    countable: bool
    """True if the records of the file can be counted, because it is certain for each line whether it is a record."""
    sample: Sample | str = "a descriptor's file could not be read"
    """The beginning of the file, on which recipes run; if there is no such sample, the reason why."""
    may_be_empty: str | None = None
    """The reason why all records of the file may lack some texts; None if no text is lacking in all records, or if they
    must have it."""
    undecided: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """For the requirement of each standard recipe, the reason why validation could not decide whether it is met; None
    if it was decided."""

    def findings_about(self, rule: str) -> list[Finding]:
        """The findings about a requirement, errors first."""
        return sorted((f for f in self.findings if f.rule == rule), key=lambda f: f.severity)

    @property
    def broken_recipes(self) -> Mapping[int, Finding]:
        """A finding about each broken recipe, by the index of the recipe. Findings which only say that a recipe does
        not serve its purpose are left out."""
        places = ((_RECIPE_POINTER.match(f.pointer), f) for f in self.findings if f.kind not in _PURPOSE_KINDS)
        return {int(place[1]): finding for place, finding in places if place is not None}

    @property
    def descriptor(self) -> Record:
        """The descriptor; empty if there is none."""
        return self.call.descriptor

    def has(self, *path: str) -> bool:
        """Return whether the member of the descriptor at this path exists and is well-formed (LRO-DESC-01,
        LRO-DESC-14)."""
        value: Any = self.descriptor
        for key in path:
            members = cast("Record", value) if isinstance(value, dict) else {}
            if key not in members:
                return False
            value = members[key]
        pointer = "/" + "/".join(path)
        return not any(f.pointer == pointer and f.rule in ("LRO-DESC-01", "LRO-DESC-14") for f in self.findings)

    def value_at(self, *path: str) -> object:
        """The value of the member of the descriptor at this path, which must exist (`has`)."""
        value: Any = self.descriptor
        for key in path:
            value = value[key]
        return value


_RECIPE_POINTER = re.compile(r"/jq_recipes/([0-9]+)(?:/|$)")
_PURPOSE_KINDS = (Kind.WRONG_OUTPUT, Kind.READS_HEADER, Kind.FAILS_AS_PRINTED)

Commands = tuple[Command, ...]

Precondition = Callable[[Document], str | None]
"""A function that returns the reason why a document cannot be examined for a requirement, or None if it can."""


@dataclass(frozen=True)
class Documents:
    """All documents of a run."""

    documents: tuple[Document, ...]
    duplicate_ids: Mapping[str, int]
    """Ids that the store itself may hold more than once, each with the largest number of its occurrences in one inline
    result, or of the versions that the suite stored."""
    in_flight: frozenset[int] = frozenset()
    """The Python `id` of each call that was in flight together with other calls."""
    repeated: frozenset[Identity] = frozenset()
    """The calls whose file had already been named by an earlier call of the run."""

    def duplicates_in_store(self, document: Document) -> str | None:
        """The reason why a file may hold a memory several times, if the store itself holds it several times.

        None if the file holds no memory several times, or if it holds a memory more often than every inline result
        does.
        """
        repeated = repeated_ids(document.call.file_records)
        may_be_from_store = bool(repeated) and all(
            times <= self.duplicate_ids.get(key, 1) for key, times in repeated.items()
        )
        return "the store has several memories with the same id" if may_be_from_store else None

    @property
    def place_of_operation(self) -> str:
        """The place by which failures with a wrong operation are grouped: `OPERATION_EVERYWHERE` if each document that
        states a wrong operation states it in header, name and summary; otherwise empty."""
        return self._place_if_everywhere(OPERATION_EVERYWHERE, {"LRO-FILE-04", "LRO-NAME-02", "LRO-DESC-05"})

    @property
    def place_of_detail(self) -> str:
        """The place by which failures with a wrong detail level are grouped: `DETAIL_EVERYWHERE` if each document that
        states a wrong level states it in header and summary; otherwise empty."""
        return self._place_if_everywhere(DETAIL_EVERYWHERE, {"LRO-FILE-08", "LRO-DESC-08"})

    def _place_if_everywhere(self, place: str, rules: set[str]) -> str:
        contradicted = [{f.rule for f in d.findings if f.kind is Kind.NOT_AS_ASKED} & rules for d in self.documents]
        return place if rules in contradicted and all(found in (set(), rules) for found in contradicted) else ""

    def judge(
        self,
        rule: str,
        subjects: Subjects,
        *,
        skip: Precondition = lambda _: None,
        among: Collection[Call] | None = None,
        place: str = "",
    ) -> None:
        """Examine the documents for a requirement. If *among* is given, only the documents of these calls are examined.

        A document is noted as not observed if it does not meet the requirement's precondition, or if *skip* returns a
        reason: then the defect violates a different requirement.

        If *place* is not empty, it replaces the place of the defect in the document, by which failures are grouped. But
        if a different call may be the cause of the defect, the place says so instead.
        """
        chosen = self.documents if among is None else self.of(among)
        first_correct = _first_correct(chosen, rule)
        for document in chosen:
            if (reason := unmet_precondition(rule, document)) is not None or (reason := skip(document)) is not None:
                subjects.not_observed(reason)
                continue
            # If an earlier call of the same class was right, a failure of this call may depend on the calls before it.
            is_later = document.call.started > first_correct.get(_class_of(document.call), math.inf)
            _examine(document, rule, subjects, partial(self._placed, document, place, is_later=is_later))

    def _placed(self, document: Document, place: str, subject: MarkedSubject | Command, *, is_later: bool) -> object:
        subject_in_context = CallInContext(document.call, subject) if is_later else subject
        marked = mark_if_indirect(
            (document.call,), self.repeated, subject_in_context, in_flight=id(document.call) in self.in_flight
        )
        return MarkedSubject(subject_in_context, None, place) if marked is subject_in_context and place else marked

    def of(self, calls: Collection[Call]) -> list[Document]:
        """The documents of some calls."""
        chosen = {id(c) for c in calls}
        return [d for d in self.documents if id(d.call) in chosen]


_CallClass = tuple[int, str, str | None]


def _class_of(call: Call) -> _CallClass:
    """The process, the operation and the detail level of a call."""
    return id(call.start), call.operation, call.detail


def _first_correct(documents: Iterable[Document], rule: str) -> dict[_CallClass, float]:
    """For each class of calls, the time of the first call whose document satisfies a requirement."""
    first: dict[_CallClass, float] = {}
    for document in documents:
        if unmet_precondition(rule, document) is None and not any(map(violates, document.findings_about(rule))):
            key = _class_of(document.call)
            first[key] = min(document.call.started, first.get(key, math.inf))
    return first


def unmet_precondition(rule: str, document: Document) -> str | None:
    """The reason why a document cannot be examined for a requirement; None if it can."""
    return _PRECONDITIONS[rule](document)


def is_examined(rule: str) -> bool:
    """Return whether documents are examined for a rule. False for the rules of validation that belong to no
    requirement."""
    return rule in _PRECONDITIONS


def violates(finding: Finding) -> bool:
    """Return whether a finding violates its requirement: it is an error, or a warning of a kind in `_BINDING_KINDS`."""
    return finding.severity == "error" or finding.kind in _BINDING_KINDS


_BINDING_KINDS = (Kind.MISSING_FIELD, Kind.RECIPE_COUNT, Kind.MISSING_RECIPE)
"""Kinds of findings that violate their requirement even if they are only warnings. Validation reports them as warnings
if the requirement applies only at conformance level 2 and above."""


def _examine(
    document: Document, rule: str, subjects: Subjects, placed: Callable[[MarkedSubject | Command], object]
) -> None:
    found = document.findings_about(rule)
    first = next(filter(violates, found), None) or next(
        (f for f in found if f.kind is Kind.NOT_EVALUATED), found[0] if found else None
    )
    if first is None:
        subjects.expect(holds=True, expected="", observed="", subject=document.call)
    elif violates(first):
        placed_subject = placed(subject(document, first))
        subjects.expect(holds=False, expected=first.expected, observed=describe(first), subject=placed_subject)
    elif first.kind is Kind.NOT_EVALUATED:
        subjects.not_observed(first.sentence)
    else:
        note = subjects.erratum if first.kind is Kind.FAILS_AS_PRINTED else subjects.warn
        note(expected=first.expected, observed=describe(first), subject=subject(document, first))


def subject(document: Document, finding: Finding) -> MarkedSubject | Command:
    """The subject of a finding. If the finding is about a recipe, the subject is this recipe. Otherwise, it is the
    call, marked at the place of the finding in its file or descriptor."""
    place = _RECIPE_POINTER.match(finding.pointer)
    if place is not None:
        return commands_of(document.call)[int(place[1])]
    kind = "descriptor" if finding.line is None else "line"
    pointer_in_document = f"{kind} {finding.pointer}: {finding.kind}" if finding.pointer else ""
    return MarkedSubject(document.call, _mark(document, finding), pointer_in_document)


def _mark(document: Document, finding: Finding) -> Mark | None:
    excerpt = finding.excerpt
    if excerpt is not None and finding.line is not None:
        lines = underlined(f"line {finding.line}: ", excerpt.text, excerpt.mark, finding.pointer.removeprefix("/"))
        return Mark(lines, finding.line, (finding.column or 1) - 1)
    keys = [k.replace("~1", "/").replace("~0", "~") for k in finding.pointer.split("/")[1:]]
    value: Any = document.descriptor
    for key in keys:
        if isinstance(value, list) and key.isdigit() and int(key) < len(cast("list[Any]", value)):
            value = cast("list[Any]", value)[int(key)]
        elif isinstance(value, dict) and key in value:
            value = cast("Record", value)[key]
        else:
            return None
    return Mark((f"descriptor {finding.pointer}: {show(value)}",)) if keys and finding.line is None else None


def describe(finding: Finding) -> str:
    """A text for reports about a finding: its location, the problem, and the observed value."""
    place = f"line {finding.line}: " if finding.line is not None else ""
    name = finding.pointer.removeprefix("/").replace("/", ".")
    is_named = finding.message.startswith(f"{name} ")  # This is so in the messages of schema violations.
    where = f"{finding.pointer} " if finding.pointer and not is_named else ""
    return f"{place}{where}{finding.message}" + (f": {finding.observed}" if finding.observed else "")


@derived
def repeated(survey: Survey, found: Mapping[str, Any]) -> frozenset[Identity]:
    """The calls whose file had already been named by an earlier call of the run."""
    return named_before([c for c in _every_call(survey, found) if c.file is not None])


@derived
def documents(
    survey: Survey, details: DetailLevels, repeated: frozenset[Identity], found: Mapping[str, Any], edition: Edition
) -> Documents:
    """Validate every descriptor and file of the run by the edition of the report. If documents are identical, only one
    of them is validated."""
    validated_documents: dict[bytes, Document] = {}
    validated_calls: list[Document] = []
    calls = list(calls_of_run(survey, found))
    offloaded = [c for c in calls if c.outcome == "offloaded"]
    resolve_links = _without_links(survey.real)
    for call in offloaded:
        key = _digest(call, _request(call, details)[0])
        if key not in validated_documents:
            validated_documents[key] = document_of(call, details, edition, resolve_links)
        validated_calls.append(replace(validated_documents[key], call=call))
    seeded = found.get("seeded")
    calls_with_gaps = {id(c) for c in seeded.mixed} if isinstance(seeded, Seeded) else set[int]()
    validated_calls = [
        replace(d, sample=_MAY_LACK_CONFIDENCE) if id(d.call) in calls_with_gaps else d for d in validated_calls
    ]
    explored = found.get("explored")
    duplicate_ids = _stored_more_than_once((c for c in calls if c.outcome == "inline"), explored)
    in_flight = _calls_in_flight(survey, explored)
    return Documents(tuple(validated_calls), duplicate_ids, in_flight, repeated)


def _stored_more_than_once(inline_calls: Iterable[Call], explored: object) -> dict[str, int]:
    """Ids that the store may hold more than once, each with the largest number of its occurrences in one inline result,
    or of the versions that the explorer stored. A server may keep all versions."""
    found: dict[str, int] = {}
    stored = explored.memories if isinstance(explored, Explored) else ()
    for records in (stored, *(c.records or () for c in inline_calls)):
        for key, times in repeated_ids(records).items():
            found[key] = max(times, found.get(key, 1))
    return found


_MAY_LACK_CONFIDENCE = (
    "memories of this file may lack a confidence, on which the specification's own recipes fail (E-01)"
)
"""Reason why recipes do not run on a file whose memories were stored by the suite without some fields."""


def _calls_in_flight(survey: Survey, explored: object) -> frozenset[int]:
    triples = (*explored.smallest, *explored.triples) if isinstance(explored, Explored) else ()
    of_triples = (c for t in triples if t.in_flight for c in t.calls)
    return frozenset(id(c) for c in (*(c for c, _ in survey.together), *of_triples))


def prepare(
    survey: Survey, details: DetailLevels, evidence: object, edition: Edition, judge: RecipeJudge | None
) -> Iterator[None]:
    """Validate the documents of some evidence in advance, one at a time. The calls keep their documents, so that later
    validation is fast.

    If there is a *judge*, the recipes of the documents run afterwards. Samples keep the outputs for the final
    judgement. The function yields after each document.
    """
    resolve_links = _without_links(survey.real)
    prepared: list[Document] = []
    for call in calls_in(evidence):
        if call.outcome == "offloaded" and call.operation in survey.operations:
            prepared.append(document_of(call, details, edition, resolve_links))
            yield
    if judge is not None:
        for document in _largest_first(prepared):
            with_recipes(document, judge, edition)
            yield


def document_of(
    call: Call, details: DetailLevels, edition: Edition, resolve_links: Callable[[str], str] = str
) -> Document:
    """The document of a call of a server with these detail levels. *resolve_links* resolves symbolic links in a
    path."""
    request, reason_for_unknown_level = _request(call, details)
    document = validated(
        call, request, edition, reason_for_unknown_level=reason_for_unknown_level, resolve_links=resolve_links
    )
    return replace(document, may_be_empty=details.reason_for_missing_texts(call))


def _request(call: Call, details: DetailLevels) -> tuple[Request, str | None]:
    """The request that a call made, and the reason why its detail level is unknown; None if the level is known."""
    reason_for_unknown_level = details.reason_for_no_level(call)
    return Request(
        call.operation, details.level_of(call) if reason_for_unknown_level is None else None
    ), reason_for_unknown_level


@derived
def recipes(documents: Documents, found: Mapping[str, Any], edition: Edition) -> Documents:
    """The documents, each with the findings about its recipes."""
    explored = found.get("explored")
    live = explored.live if isinstance(explored, Explored) else ()
    with RecipeJudge(fallback=True) as judge:
        judged = (with_recipes(document, judge, edition) for document in _largest_first(documents.documents))
        return replace(documents, documents=tuple(_with_live(document, live) for document in judged))


def _largest_first(documents: Sequence[Document]) -> list[Document]:
    """The documents in the order in which their recipes run. The order matters because the first file is probed most
    thoroughly.

    Larger files come first. But files that are longer than a sample come last, because a finding on a sample cannot
    have the numbers of the whole file.
    """

    def rank(document: Document) -> tuple[bool, int, int]:
        return len(document.call.file_records) <= SAMPLE_RECORDS, len(document.call.file_records), document.call.weight

    return sorted(documents, key=rank, reverse=True)


def _with_live(document: Document, live: Sequence[LiveFinding]) -> Document:
    """A document with its *live* findings. They were made by the jq of the machine on which the suite ran, and cannot
    be made again elsewhere."""
    more = [f.finding for f in live if f.call is document.call]
    return replace(document, findings=(*document.findings, *more)) if more else document


def with_recipes(document: Document, judge: RecipeJudge, edition: Edition) -> Document:
    """The document with the findings about its recipes."""
    if not isinstance(document.descriptor.get("jq_recipes"), list):
        return document
    judgement = judge.judge(document.descriptor, document.sample, edition)
    found = (*document.findings, *for_edition(judgement.findings, edition))
    return replace(document, findings=found, undecided=judgement.undecided)


def _without_links(real_paths: Mapping[str, str]) -> Callable[[str], str]:
    """A function that resolves symbolic links in a path, even if the links no longer exist. *real_paths* maps paths to
    the real paths that they had while the links existed."""
    links: dict[str, str] = {}
    for path, real in real_paths.items():
        named_parts, real_parts = path.split("/"), real.split("/")
        while path != real and min(len(named_parts), len(real_parts)) > 2 and named_parts[-1] == real_parts[-1]:
            named_parts, real_parts = named_parts[:-1], real_parts[:-1]
        links["/".join(named_parts)] = "/".join(real_parts)

    def follow(path: str) -> str:
        start = max((link for link in links if f"{path}/".startswith(f"{link}/")), key=len, default="")
        return links.get(start, "") + path.removeprefix(start)

    return follow


@derived
def commands(survey: Survey) -> Commands:
    """The recipes of the survey's descriptors."""
    return tuple(c for call in (*survey.files, *survey.concurrent_files) for c in commands_of(call))


def calls_of_run(survey: Survey, found: Mapping[str, Any]) -> Iterator[Call]:
    """Every call of an operation in the run. Each call is yielded once.

    These calls are left out:

    - calls whose write failed (`calls_in`)
    - concurrent calls without a file that has records
    - all concurrent calls, if some of them have the same file, or the records of a different call
    - explored calls with a violation that did not recur

    If files were still growing when descriptors named them (`Survey.unsettled`), only the calls of the survey are
    included. Their files are those of the end of the run.
    """
    excluded = {id(c) for c in (*(c for c, _ in survey.together), *survey.unsettled)} - {
        id(c) for c in survey.concurrent_files if c.file_records
    }
    explored = found.get("explored")
    excluded |= {id(c) for t in (explored.unsteady if isinstance(explored, Explored) else ()) for c in t.calls}
    # If files grow after descriptors have named them, only the files of the survey were read again later.
    calls = survey.calls if survey.unsettled else _every_call(survey, found)
    yield from (c for c in calls if id(c) not in excluded and c.operation in survey.operations)


def _every_call(survey: Survey, found: Mapping[str, Any]) -> Iterable[Call]:
    evidence: list[object] = [survey, *(each for name, each in found.items() if name not in NOT_DOCUMENTS)]
    return {id(c): c for each in evidence for c in calls_in(each)}.values()


def calls_in(value: object) -> list[Call]:
    """Every call anywhere in the evidence. Calls whose write failed are left out, because they may have left a partial
    file."""
    found: list[Call] = []
    _add_calls(value, found)
    return found


def _add_calls(value: object, found: list[Call]) -> None:
    if isinstance(value, Call):
        found.append(value)
    elif isinstance(value, Failing):
        found.append(value.original)
    elif isinstance(value, Triple) and value.broken:
        found.append(value.inline)
    else:
        for member in _members(value):
            if type(member) not in _SCALARS:  # Most members are scalars, and there are thousands of them.
                _add_calls(member, found)


_SCALARS = frozenset((str, bytes, int, float, bool, NoneType))


def _members(value: object) -> Iterable[object]:
    """The parts of a value that may be calls or contain calls."""
    if isinstance(value, (tuple, list, frozenset)):
        return cast("Collection[object]", value)
    if isinstance(value, (dict, Mapping)):  # dict comes first, because the test for Mapping takes ten times as long
        return cast("Mapping[object, object]", value).values()
    return [getattr(value, name) for name in _kept_fields(type(value))]


@cache
def _kept_fields(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass that are kept as evidence; empty for any other type."""
    return tuple(f.name for f in fields(kind) if f.metadata.get("kept", True)) if is_dataclass(kind) else ()


def _digest(call: Call, request: Request) -> bytes:
    """A key that is equal for calls with identical documents."""
    digest = hashlib.blake2b(repr((call.descriptor, request)).encode("utf-8", "surrogatepass"))
    if call.file is not None:
        digest.update(repr((call.file.problem, call.lacks_descriptor)).encode("utf-8", "surrogatepass"))
        digest.update(call.file.data)
    return digest.digest()


def validated(
    call: Call,
    request: Request,
    edition: Edition,
    *,
    reason_for_unknown_level: str | None = None,
    resolve_links: Callable[[str], str] = str,
) -> Document:
    """The document of a call. *reason_for_unknown_level* is that of the document. *resolve_links* resolves symbolic
    links in a path."""
    key = (request, edition.name, reason_for_unknown_level, resolve_links(call.path))
    if key not in call.computed:
        call.computed[key] = _validated(call, request, edition, reason_for_unknown_level, resolve_links)
    return call.computed[key]


def _validated(
    call: Call,
    request: Request,
    edition: Edition,
    reason_for_unknown_level: str | None,
    resolve_links: Callable[[str], str],
) -> Document:
    content = call.file.data if call.file is not None and call.file.problem is None else None
    if content is None:
        found = tuple(validate_descriptor(call.descriptor, edition=edition.name, resolve_links=resolve_links))
        found = tuple(f for f in found if f.kind is not Kind.NAME_AGAINST_SUMMARY)
        return Document(call, request, reason_for_unknown_level, found, None, file_was_read=False, countable=False)
    linked = None
    if call.lacks_descriptor:
        found = tuple(validate_descriptor({}, edition=edition.name))
    else:
        linked = Following(
            call.descriptor,
            edition=edition.name,
            content=content,
            recipes=False,
            request=request,
            resolve_links=resolve_links,
        )
        found = tuple(linked.findings())
    if linked is not None and linked.was_read:
        countable = not linked.doubtful
        return Document(call, request, reason_for_unknown_level, found, linked.header, True, countable, linked.sample)
    # There is no descriptor, or it names no file that validation would open.
    state = FileState(edition.name, request=request)
    found += tuple(judge_file(io.BytesIO(content), state))
    countable = not state.doubtful
    return Document(call, request, reason_for_unknown_level, found, state.header, True, countable)


# Preconditions: what a document must have, so that it can be examined for a requirement


def _needs_file(document: Document) -> str | None:
    return None if document.file_was_read else "a descriptor's file could not be read"


def _needs_records(document: Document) -> str | None:
    return _needs_file(document) or (None if document.call.file_records else "a file has no records")


def _needs_filled_texts(document: Document) -> str | None:
    broken = [f.kind for f in document.findings_about("LRO-FILE-11") if violates(f)]
    return document.may_be_empty if broken == [Kind.ABSENT_FIELDS] else None


def _needs_header_count(document: Document) -> str | None:
    known = document.header is not None and whole_number(document.header.get("count")) is not None
    return None if known else _needs_file(document) or "a file has no header with a valid count (LRO-FILE-03)"


def _needs_countable_records(document: Document) -> str | None:
    return _needs_file(document) or (None if document.countable else "a file has lines that are not JSON objects")


def _needs_header(*names: str) -> Precondition:
    def unmet(document: Document) -> str | None:
        if document.header is None:
            return _needs_file(document) or "a file has no header"
        missing = next((n for n in names if document.header.get(n) in (None, "")), None)
        return None if missing is None else f"a header has no {missing} (LRO-FILE-03)"

    return unmet


def _needs_member(*path: str, type: type = object) -> Precondition:
    def unmet(document: Document) -> str | None:
        valid = document.has(*path) and isinstance(document.value_at(*path), type)
        return None if valid else f"a descriptor has no valid {'.'.join(path)}"

    return unmet


def _needs_valid_schema(document: Document) -> str | None:
    about = (f for f in document.findings if f.rule == "LRO-DESC-09" and f.severity == "error")
    broken = any(f.pointer.startswith("/line_schema") for f in about)
    return "a line_schema is not a schema that records can satisfy (LRO-DESC-09)" if broken else None


def _needs_timestamp(document: Document) -> str | None:
    written = document.header is not None and isinstance(document.header.get("timestamp"), str)
    return None if written else "a header's timestamp is missing or not a string (LRO-FILE-03)"


def _needs_level(document: Document) -> str | None:
    if document.header is not None and not holds_memories(document.header):
        return "only memories have detail levels, and a file's header says that it holds other records"
    return document.reason_for_unknown_level


def _needs_estimate(document: Document) -> str | None:
    known = document.header is not None and whole_number(document.header.get("estimated_tokens")) is not None
    return None if known else _needs_file(document) or "a file has no header with a valid estimate E"


def _needs_namespace(document: Document) -> str | None:
    named = any(isinstance(r.get("namespace"), str) for r in document.call.file_records)
    return None if named else "no record of a file has a namespace"


def _needs_schema_version(document: Document) -> str | None:
    known = document.header is not None and isinstance(document.header.get("schema_version"), str)
    return (
        None if known else _needs_file(document) or "a header's schema_version is missing or not a string (LRO-FILE-03)"
    )


def _needs_guidance(document: Document) -> str | None:
    return None if str(document.descriptor.get("guidance", "")).strip() else "guidance is blank (LRO-GUI-01)"


def _needs_light_detail(document: Document) -> str | None:
    return (
        None
        if document.request.detail == "light"
        else "a file of another detail level than light, or of an unknown one"
    )


_PURPOSES = tuple(f"LRO-REC-{number:02}" for number in (*range(1, 11), *range(14, 19)))
"""The requirements on the purposes of single recipes."""


def _needs_decision(rule: str) -> Precondition:
    return _all(_needs_recipe_list, lambda document: document.undecided.get(rule, "a detail level has no such recipe"))


def _needs_recipe_list(document: Document) -> str | None:
    listed = isinstance(document.descriptor.get("jq_recipes"), list)
    return None if listed else "jq_recipes is not a list (LRO-DESC-01)"


def _needs_a_recipe(document: Document) -> str | None:
    return None if document.descriptor["jq_recipes"] else "a descriptor has no recipe"


def _needs_any_decision(document: Document) -> str | None:
    if document.findings_about("LRO-REC-12") or None in document.undecided.values():
        return None
    return next(filter(None, document.undecided.values()), "a detail level has no standard recipes")


def _all(*conditions: Precondition) -> Precondition:
    return lambda one: next((reason for each in conditions if (reason := each(one)) is not None), None)


def _nothing(_: Document) -> None:
    return None


_PRECONDITIONS: Mapping[str, Precondition] = {
    "LRO-DESC-01": _nothing,
    "LRO-DESC-02": _needs_member("file_path", type=str),
    "LRO-DESC-03": _all(_needs_countable_records, _needs_header(), _needs_member("summary", "count")),
    "LRO-DESC-04": _all(_needs_estimate, _needs_member("summary", "estimated_tokens")),
    "LRO-DESC-05": _needs_member("summary", "operation"),
    "LRO-DESC-06": _all(_needs_countable_records, _needs_namespace, _needs_member("summary", "top_namespaces")),
    "LRO-DESC-07": _needs_member("summary", type=dict),
    "LRO-DESC-08": _all(_needs_level, _needs_member("summary", "detail")),
    "LRO-DESC-09": _all(_needs_records, _needs_member("line_schema")),
    "LRO-DESC-10": _all(_needs_records, _needs_member("line_schema"), _needs_valid_schema),
    "LRO-DESC-11": _needs_records,
    "LRO-DESC-14": _nothing,
    "LRO-DET-01": _all(_needs_light_detail, _needs_records),
    "LRO-FILE-01": _needs_file,
    "LRO-FILE-02": _needs_file,
    "LRO-FILE-03": _needs_header(),
    "LRO-FILE-04": _needs_header("operation"),
    "LRO-FILE-06": _all(_needs_header_count, _needs_countable_records),
    "LRO-FILE-07": _all(_needs_header(), _needs_timestamp),
    "LRO-FILE-08": _all(_needs_level, _needs_header("detail")),
    "LRO-FILE-09": _needs_records,
    "LRO-FILE-11": _all(_needs_records, _needs_filled_texts),
    "LRO-FILE-12": _needs_schema_version,
    "LRO-GUI-01": _needs_member("guidance", type=str),
    "LRO-GUI-04": _all(_needs_member("guidance", type=str), _needs_guidance),
    "LRO-GUI-05": _all(_needs_member("guidance", type=str), _needs_guidance, _needs_file),
    "LRO-NAME-02": _all(_needs_file, _needs_member("file_path", type=str)),
    "LRO-NAME-03": _all(_needs_file, _needs_member("file_path", type=str)),
    **{rule: _needs_decision(rule) for rule in _PURPOSES},
    "LRO-REC-11": _all(_needs_member("jq_recipes", type=list), _needs_a_recipe, _needs_member("file_path", type=str)),
    "LRO-REC-12": _all(_needs_recipe_list, _needs_a_recipe, _needs_any_decision),
    "LRO-REC-13": lambda one: None if one.findings_about("LRO-REC-13") else _needs_member("jq_recipes", type=list)(one),
    "LRO-REC-20": _all(_needs_recipe_list, _needs_a_recipe),
    "LRO-REC-21": _all(_needs_recipe_list, _needs_a_recipe),
    "LRO-THR-02": _all(_needs_records, _needs_estimate),
}
