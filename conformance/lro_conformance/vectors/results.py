"""The results of a run of vectors, by vector and by requirement, and their output as text, JSON and JUnit XML."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast
from xml.etree import ElementTree

from lro_conformance.report.sanitize import one_line
from lro_conformance.vectors.adapter import Answer
from lro_conformance.vectors.judge import Problem, judge
from lro_conformance.vectors.match import value_at
from lro_conformance.vectors.model import Corpus, Vector
from lro_spec.catalogue import catalogue, first_wording
from lro_spec.jsonl.strict import equal

Verdict = Literal["pass", "fail", "not-observed"]


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one vector."""

    vector: Vector
    verdict: Verdict
    problems: tuple[Problem, ...] = ()
    mistake: str = ""
    """The mistake that leads to the answer, if it is described by the vector; otherwise empty."""
    unsupported: bool = False
    """True if the adapter does not have the kind of the vector."""

    @property
    def lines(self) -> Iterator[str]:
        """Lines to show to a user: the problems, the mistake if it is known, the reason for the expected answer, and
        the question."""
        for problem in self.problems:
            yield f"{problem.requirement}: {problem.text}"
            if problem.requirement != self.vector.requirements[0]:
                yield f"rule: {first_wording(problem.requirement).statement}"
        if self.mistake:
            yield f"mistake: {self.mistake}"
        yield f"why: {self.vector.why}"
        yield f"input: {json.dumps(self.vector.input, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class RequirementResult:
    """The result for one requirement. It depends on all vectors about the requirement, and on other vectors whose
    answers violate it."""

    id: str
    title: str
    group: str
    verdict: Verdict
    passed_vectors: int
    """Number of vectors about the requirement that passed."""
    violations: tuple[Result, ...]
    """Results with a problem that violates the requirement. The vector may be about other requirements."""
    total_vectors: int
    """Number of vectors about the requirement."""


@dataclass(frozen=True)
class Results:
    """The results of a run."""

    corpus: Corpus
    edition: str
    results: tuple[Result, ...]

    def of(self, verdict: Verdict) -> list[Result]:
        """The results with this verdict."""
        return [r for r in self.results if r.verdict == verdict]

    @cached_property
    def requirements(self) -> list[RequirementResult]:
        """The results by requirement, in the order of the catalogue. A requirement is included if a vector is about it,
        or if an answer violates it."""
        found: list[RequirementResult] = []
        for r in catalogue(self.edition):
            about = [one for one in self.results if r.id in one.vector.requirements]
            blamed = tuple(one for one in self.results if any(p.requirement == r.id for p in one.problems))
            passed_vectors = sum(one.verdict == "pass" for one in about)
            if about or blamed:
                verdict: Verdict = "fail" if blamed else "pass" if passed_vectors else "not-observed"
                found.append(RequirementResult(r.id, r.title, r.group, verdict, passed_vectors, blamed, len(about)))
        return found

    @property
    def exit_code(self) -> int:
        """1 if an answer is not as expected or a required kind is missing. Otherwise 3 if there was no answer, and 0 if
        there were answers."""
        return 1 if self.of("fail") else 0 if self.of("pass") else 3


def judge_answers(answers: Iterable[Answer], corpus: Corpus, edition: str, required: Collection[str] = ()) -> Results:
    """Judge answers. If the adapter does not have a kind that is *required*, the vectors of this kind fail."""
    return Results(corpus, edition, tuple(judge_answer(answer, edition, required) for answer in answers))


def judge_answer(answer: Answer, edition: str, required: Collection[str] = ()) -> Result:
    """Judge one answer; *required* is as in `judge_answers`."""
    vector = answer.vector
    if answer.unsupported and vector.kind in required:
        problem = Problem(vector.requirements[0], f"the adapter does not have kind {vector.kind}, which is required")
        return Result(vector, "fail", (problem,), unsupported=True)
    if answer.unsupported:
        return Result(vector, "not-observed", unsupported=True)
    if answer.refusal:
        problem = Problem(vector.requirements[0], f"the adapter answers with an error: {answer.refusal}")
        return Result(vector, "fail", (problem,))
    problems = tuple(judge(vector, answer.value, edition))
    mistake = mistake_in(answer.value, vector) if problems else ""
    return Result(vector, "fail" if problems else "pass", problems, mistake)


def mistake_in(answer: object, vector: Vector) -> str:
    """The mistake that is described by the vector, if this mistake leads to the given *answer*; otherwise empty.

    Answers are compared only at the places to which the rules of the vector refer.
    """
    if vector.mistake is None:
        return ""
    wrong_answer, places = vector.mistake["answer"], [rule["at"] for rule in vector.expect]
    same = all(equal(cast("Any", value_at(at, wrong_answer)), cast("Any", value_at(at, answer))) for at in places)
    return str(vector.mistake["why"]) if same else ""


def as_text(results: Results, *, verbose: bool = False) -> Iterator[str]:
    """The results as lines for a terminal: every failure, a line for each requirement that failed, and a summary. If
    *verbose*, there is a line for every requirement."""
    for kind, number in Counter(r.vector.kind for r in results.of("fail") if r.unsupported).items():
        yield f"FAIL {kind}: the adapter does not have this kind, which is required ({number} vectors)"
    for result in (r for r in results.of("fail") if not r.unsupported):
        yield f"FAIL {result.vector.id} ({one_line(result.vector.about, 100)})"
        yield from (f"     {one_line(line, 400)}" for line in result.lines)
    if results.of("fail"):
        yield ""
    for r in results.requirements:
        if verbose or r.verdict == "fail":
            verdict = {"pass": "PASS", "fail": "FAIL", "not-observed": "not observed"}[r.verdict]
            yield f"{r.id}  {r.group:<10}  {verdict:<12}  {r.passed_vectors} of {r.total_vectors} vectors  {r.title}"
    missing = results.of("not-observed")
    if missing:
        kinds = sorted({r.vector.kind for r in missing})
        yield f"not observed: {len(missing)} vectors of kinds that the adapter does not have ({', '.join(kinds)})"
    counts = {v: sum(r.verdict == v for r in results.requirements) for v in ("pass", "fail", "not-observed")}
    yield (
        f"{len(results.of('pass'))} of {len(results.results)} vectors as expected, {len(results.of('fail'))} not; "
        f"requirements: {counts['pass']} pass, {counts['fail']} fail, {counts['not-observed']} not observed "
        f"(vectors {results.corpus.version or 'of your own'}, {results.edition})"
    )


def as_json(results: Results) -> str:
    """The results as JSON."""
    value: dict[str, Any] = {
        "format": "lro-vector-results/1",
        "edition": results.edition,
        "vectors": {"version": results.corpus.version, "digest": results.corpus.digest},
        "requirements": [
            {"id": r.id, "group": r.group, "verdict": r.verdict, "passed": r.passed_vectors, "total": r.total_vectors}
            for r in results.requirements
        ],
        "results": [
            {
                "id": r.vector.id,
                "kind": r.vector.kind,
                "verdict": r.verdict,
                "problems": [{"requirement": p.requirement, "text": p.text} for p in r.problems],
                **({"mistake": r.mistake} if r.mistake else {}),
            }
            for r in results.results
        ],
    }
    return json.dumps(value, indent=1) + "\n"  # in ASCII, because an answer may contain half of a surrogate pair


def to_junit(results: Results) -> str:
    """The results as JUnit XML. There is a suite for each group and a case for each requirement."""
    root = ElementTree.Element("testsuites", name=f"lro-vectors {results.edition}")
    for group in dict.fromkeys(r.group for r in results.requirements):
        ones = [r for r in results.requirements if r.group == group]
        failed, skipped = (sum(r.verdict == v for r in ones) for v in ("fail", "not-observed"))
        suite = ElementTree.SubElement(
            root, "testsuite", name=group, tests=str(len(ones)), failures=str(failed), skipped=str(skipped), errors="0"
        )
        for r in ones:
            name = one_line(f"{r.id} {r.title}")
            case = ElementTree.SubElement(
                suite, "testcase", name=name, classname=f"{results.edition}.{group}", time="0"
            )
            if r.verdict == "fail":
                first = one_line(f"{r.violations[0].vector.id}: {r.violations[0].problems[0].text}", 400)
                failure = ElementTree.SubElement(case, "failure", message=first, type="vector")
                failure.text = "\n".join(
                    f"{one.vector.id}\n" + "\n".join(f"  {one_line(line, 400)}" for line in one.lines)
                    for one in r.violations
                )
            elif r.verdict == "not-observed":
                ElementTree.SubElement(
                    case, "skipped", message="no vector of this requirement was answered as expected"
                )
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'
