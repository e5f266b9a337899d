"""Building blocks of vectors, and the proof that the suite's own rules give the expected answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from lro_conformance.vectors.answers import UnansweredError, answer
from lro_conformance.vectors.judge import judge
from lro_conformance.vectors.match import mismatch
from lro_conformance.vectors.model import Vector
from lro_spec.catalogue import first_wording, wordings_by_edition
from lro_spec.editions import EDITIONS
from lro_spec.filenames import parse_file_name
from tests.support.vector_answers import answer_of

ULID = "01KJPY44E0A1B2C3D4E5F6G7H8"
NAME = f"atlatl-recall-{ULID}.jsonl"
_PARTS = parse_file_name(NAME)
assert _PARTS is not None
SECONDS = _PARTS.milliseconds // 1000
"""The time in the ULID."""
TIMESTAMP = _PARTS.created.strftime("%Y-%m-%dT%H:%M:%SZ")
PATH = f"/out/{NAME}"

HEADER: dict[str, Any] = {
    "type": "lro_header",
    "operation": "recall",
    "query": "keys",
    "count": 2,
    "schema_version": "1.0.0",
    "timestamp": TIMESTAMP,
    "estimated_tokens": 60,
    "detail": "light",
}
A: dict[str, Any] = {"id": "m-1", "title": "Rotate the keys", "namespace": "_semantic/ops", "memory_type": "semantic"}
B: dict[str, Any] = {"id": "m-2", "title": "Name branches", "namespace": "_semantic/ops", "memory_type": "semantic"}


def spell(value: object) -> str:
    """A value as compact JSON, as most writers spell it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text(*lines: object, end: str = "\n") -> str:
    """A file of values or texts, one on each line."""
    return "\n".join(line if isinstance(line, str) else spell(line) for line in lines) + end


def head(**changed: Any) -> dict[str, Any]:
    """The header with some fields changed; `...` leaves one out."""
    return {name: value for name, value in {**HEADER, **changed}.items() if value is not ...}


def data(content: str | bytes) -> dict[str, Any]:
    """Content of a file as the input of a vector has it: as text if it is UTF-8."""
    if isinstance(content, str):
        return {"text": content}
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"hex": content.hex()}


# Rules for answers


def one_of(*values: object, at: str = "") -> list[dict[str, Any]]:
    """A rule: the answer, or the value at a place of it, is one of these."""
    return [{"at": at, "is": list(values)}]


def breaking(ids: Iterable[str]) -> list[dict[str, Any]]:
    """A rule: the documents break exactly these requirements, which an answer lists in order or only counts as invalid."""
    broken = sorted(ids)
    return one_of(broken, "invalid" if broken else "valid")


def between(low: float, high: float) -> list[dict[str, Any]]:
    """A rule: the answer is a number from the first to the second."""
    return [{"at": "", "between": [low, high]}]


def having(*parts: str, at: str) -> list[dict[str, Any]]:
    """A rule: the text at a place has one of these parts, whatever the letter case."""
    return [{"at": at, "has": [part.lower() for part in parts]}]


@cache
def group_of(requirement: str) -> str:
    """The chapter of a requirement."""
    return first_wording(requirement).group


def vector(
    id: str,
    about: str,
    question: Mapping[str, Any],
    expect: Sequence[Mapping[str, Any]],
    requirements: Sequence[str],
    why: str = "",
    *,
    edition: str = "lro-6400",
    only: bool = False,
    mistake: tuple[object, str] | None = None,
    answered: bool = False,
) -> Vector:
    """A vector whose expected answer the suite gives, too.

    *why* is by default the statement of the deciding requirement. Its editions are those that give the same answer, or
    with *only* the one that it is written for. *mistake* is a wrong answer and the mistake behind it; with *answered*, the expected answer is known to be the suite's. Raises `ValueError` if the suite's own answer is another one.
    """
    kind = id.partition(".")[0]
    kind = {"documents": "descriptor+file"}.get(kind, kind)
    made = Vector(
        id,
        kind,
        about,
        why or wordings_by_edition(requirements[0])[edition].statement,
        tuple(requirements),
        (edition,),
        dict(question),
        [dict(rule) for rule in expect],
        group_of(requirements[0]),
        None if mistake is None else {"answer": mistake[0], "why": mistake[1]},
    )
    if made.mistake is not None and mismatch(made.expect, made.mistake["answer"]) is None:
        raise ValueError(f"{id}: the mistake is as expected")
    problem = None if answered else disagreement(made, edition)
    if problem is not None:
        raise ValueError(f"{id}, {edition}: {problem}")
    if only:
        return made
    others = [e for e in EDITIONS if e != edition and _holds_in(made, e)]
    return replace(made, editions=(edition, *others))


def disagreement(made: Vector, edition: str) -> str | None:
    """The difference between the expected answer and the suite's; None if there is none.

    Where the suite has no answer, that of an edition's plain server or of the proxy is judged.
    """
    try:
        return mismatch(made.expect, answer(made.kind, made.input, edition))
    except UnansweredError:
        problems = judge(made, answer_of(made.kind, made.input, edition), edition)
        return problems[0].text if problems else None


def _holds_in(made: Vector, edition: str) -> bool:
    has = [edition in wordings_by_edition(id) for id in made.requirements]
    return all(has) and disagreement(made, edition) is None


class Mistakes(list[str]):
    """Collects the vectors that the suite contradicts, so that all of them are seen at once."""

    def of(self, vectors: Iterable[Any]) -> Iterator[Vector]:
        """The vectors of some functions; a `ValueError` of one is collected."""
        for make in vectors:
            try:
                made = make()
                if made is not None:
                    yield made
            except ValueError as problem:
                self.append(str(problem))
