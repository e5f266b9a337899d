"""Expected output of each standard recipe, computed in plain Python.

A recipe is judged by its effect (`StandardRecipe.effect`), not by its spelling. Its output may be a stream or an array,
of objects or rows. Records that are equal in a sort may come in any order. A record that lacks the field in which a
recipe searches does not match. If the specification's own command fails on some records, the specification has an
erratum, which is described by `find_erratum`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from lro_spec.editions import StandardRecipe
from lro_spec.editions import edition as _edition
from lro_spec.jsonl.strict import Json, canonical, number_of
from lro_spec.recipes.expected import ByOrder, Counts, Distinct, Expected, Projection, Ranking, Record, Selection, Table

_METACHARACTERS = re.compile(r"[\\^$.|?*+()\[\]{}]")
_TOP_COUNT = 10
"""Number of records that "top N by score" returns."""


def evaluate(
    number: int,
    records: Sequence[object],
    *,
    literal: str | None = None,
    edition: str = "lro-6400",
    detail: str = "full",
) -> Expected:
    """Expected output of standard recipe *number* of an edition for these records.

    *literal* is the prefix, keyword, type, tag or pattern for which the recipe searches, as plain text. The default is
    the literal in the specification's own command. A record that is not an object counts as an empty object. Raises
    `ValueError` for a keyword or pattern with regular-expression syntax, for a recipe that the edition does not have at
    this detail level, and for an unknown edition.
    """
    effect = standard(number, edition, detail).effect
    nothing: Record = {}
    objects = [cast("Record", r) if isinstance(r, Mapping) else nothing for r in records]
    return _EFFECTS[effect](objects, DEFAULT_LITERAL.get(effect, "") if literal is None else literal)


@dataclass(frozen=True, slots=True)
class Erratum:
    """A defect of the specification that makes its own command for a recipe fail."""

    reason: str
    """The failure, as a sentence without a full stop."""
    number: str = ""
    """Number of the erratum in docs/interpretations.md, such as ``E-01``; empty if it has no number."""
    remedy: str = ""
    """A program, or a part of a program, that does not fail; empty if no such program is known."""


def erratum(number: int, records: Sequence[object], *, edition: str = "lro-6400", detail: str = "full") -> str | None:
    """Reason why the specification's own command for a recipe fails on these records. None if it does not fail.

    A command that reads all records at once (``jq -s``) then has no output, and jq exits 5. Any other command prints
    nothing for the records on which it fails. jq then exits 5, but jq 1.6 to 1.8 exit 0 if a later record succeeds.
    """
    defect = find_erratum(number, records, edition=edition, detail=detail)
    return None if defect is None else defect.reason


def find_erratum(
    number: int, records: Sequence[object], *, edition: str = "lro-6400", detail: str = "full"
) -> Erratum | None:
    """The defect that makes the specification's own command for a recipe fail on these records; None if the command
    does not fail."""
    effect = standard(number, edition, detail).effect
    path, works_on, reason = _ERRATA.get(effect, _NEVER_FAILS)
    for place, record in enumerate(records, 1):
        if not isinstance(record, Mapping):
            return Erratum(f"record {place} of {len(records)} is {_kind(record)}, but only objects have fields")
        value = value_at(cast("Record", record), path)
        if not works_on(value):
            where = f"record {place} of {len(records)} has {_kind(value)} at .{'.'.join(path)}"
            return Erratum(f"{where}, but {reason}", *_NUMBERED_ERRATA.get(effect, ()))
    return None


def fails_at(effect: str) -> tuple[str, ...]:
    """The path of the field whose value may make the specification's own command for an effect fail. The path is empty
    if no value of a field can make it fail."""
    return _ERRATA.get(effect, _NEVER_FAILS)[0]


def standard(number: int, edition: str = "lro-6400", detail: str = "full") -> StandardRecipe:
    """The standard recipe with this number at a detail level. Raises `ValueError` if there is none."""
    for recipe in _edition(edition).recipes_at(detail):
        if recipe.number == number:
            return recipe
    raise ValueError(f"{edition} has no recipe {number} at detail {detail!r}")


# --- expected outputs


def _prefix(records: list[Record], literal: str) -> Expected:
    return _select(records, lambda r: isinstance(r.get("namespace"), str) and r["namespace"].startswith(literal))


def _search(field: str) -> Callable[[list[Record], str], Expected]:
    def search(records: list[Record], literal: str) -> Expected:
        if _METACHARACTERS.search(literal):
            raise ValueError(f"{literal!r} is not plain text: engines differ in how they read patterns")
        return Selection(records, [_contains(r.get(field), literal) for r in records])

    return search


def _contains(value: Json, literal: str) -> bool | None:
    """True if a text contains *literal*, ignoring case. None if engines differ on this, because they ignore case in
    different ways (ß, İ, ſ, é)."""
    if not isinstance(value, str):
        return False
    answers = {
        literal.casefold() in value.casefold(),
        re.search(re.escape(literal), value, re.IGNORECASE) is not None,
        _ascii_lower(literal) in _ascii_lower(value),
    }
    return answers.pop() if len(answers) == 1 else None


def _ascii_lower(text: str) -> str:
    return re.sub("[A-Z]", lambda m: m[0].lower(), text)


def _type(records: list[Record], literal: str) -> Expected:
    return _select(records, lambda r: r.get("memory_type") == literal)


def _tag(records: list[Record], literal: str) -> Expected:
    return _select(records, lambda r: isinstance(r.get("tags"), (list, str)) and literal in r["tags"])


def _entities(records: list[Record], _: str) -> Expected:
    return _select(records, lambda r: _has_length(r.get("entities")))


def _has_length(value: Json) -> bool:
    # jq: the length of a number is its absolute value
    return not isinstance(value, bool) and value is not None and bool(value)


def _select(records: list[Record], chosen: Callable[[Record], bool]) -> Expected:
    return Selection(records, [chosen(r) for r in records])


def _confidence(record: Record) -> float | None:
    return number_of(value_at(record, CONFIDENCE))


def _flat_confidence(record: Record) -> float | None:
    return number_of(record.get("confidence"))


def _count(field: str, *, descending: bool) -> Callable[[list[Record], str], Expected]:
    def count(records: list[Record], _: str) -> Expected:
        tally = Counter(canonical(r.get(field)) for r in records)
        first = {canonical(r.get(field)): r.get(field) for r in reversed(records)}
        return Counts(field, {key: (first[key], n) for key, n in tally.items()}, descending)

    return count


def _table(*paths: tuple[str, ...]) -> Callable[[list[Record], str], Expected]:
    return lambda records, _: Table([tuple(value_at(r, path) for path in paths) for r in records])


CONFIDENCE = ("provenance", "confidence")
"""The path of the confidence in a record."""
_EFFECTS: Mapping[str, Callable[[list[Record], str], Expected]] = {
    "title-confidence-table": _table(("title",), CONFIDENCE),
    "title-namespace-table": _table(("title",), ("namespace",)),
    "namespace-prefix": _prefix,
    "title-search": _search("title"),
    "content-search": _search("content"),
    "sort-by-confidence": lambda records, _: Ranking(records, _confidence),
    "sort-by-flat-confidence": lambda records, _: Ranking(records, _flat_confidence),
    "sort-by-created": lambda records, _: ByOrder(records, "created"),
    "top-by-confidence": lambda records, _: Ranking(records, _confidence, _TOP_COUNT),
    "identity-projection": lambda records, _: Projection(records, ("id", "title"), ("namespace",)),
    "memory-type": _type,
    "with-entities": _entities,
    "with-tag": _tag,
    "count-by-namespace": _count("namespace", descending=True),
    "count-by-namespace-unsorted": _count("namespace", descending=False),
    "count-by-type": _count("memory_type", descending=False),
    "namespaces": lambda records, _: Distinct(
        list({canonical(r.get("namespace")): r.get("namespace") for r in records}.values())
    ),
}
DEFAULT_LITERAL: Mapping[str, str] = {
    "namespace-prefix": "_semantic",
    "title-search": "keyword",
    "memory-type": "semantic",
    "content-search": "pattern",
    "with-tag": "TAG",
}
"""For each effect that searches: the text for which the specification's own command searches."""
CASE_INSENSITIVE_EFFECTS = frozenset({"title-search", "content-search"})
"""Effects that search regardless of letter case."""


def _is_string(value: Json) -> bool:
    return isinstance(value, str)


def _is_number(value: Json) -> bool:
    return number_of(value) is not None


def _is_scalar(value: Json) -> bool:
    return not isinstance(value, (dict, list))


_STARTSWITH = (("namespace",), _is_string, "startswith() needs a string")
_NEVER_FAILS: tuple[tuple[str, ...], Callable[[Json], bool], str] = ((), lambda _: True, "")
"""In place of an entry of `_ERRATA`, for effects whose command fails on no object."""
_ERRATA: Mapping[str, tuple[tuple[str, ...], Callable[[Json], bool], str]] = {
    "title-confidence-table": (("title",), _is_scalar, "@tsv takes no arrays or objects"),
    "title-namespace-table": (("title",), _is_scalar, "@tsv takes no arrays or objects"),
    "namespace-prefix": _STARTSWITH,
    "title-search": (("title",), _is_string, "test() needs a string"),
    "content-search": (("content",), _is_string, "test() needs a string"),
    "sort-by-confidence": (CONFIDENCE, _is_number, "only a number can be negated"),
    "sort-by-flat-confidence": (("confidence",), _is_number, "only a number can be negated"),
    "top-by-confidence": (CONFIDENCE, _is_number, "only a number can be negated"),
    "with-entities": (("entities",), lambda v: not isinstance(v, bool), "a boolean has no length"),
    "with-tag": (("tags",), lambda v: v is None or isinstance(v, (list, str)), "only arrays and strings are searched"),
}
"""For each effect whose command may fail: the path of the field on which this depends, a function that returns True for
the values on which the command works, and the reason why the command fails on other values."""

_NUMBERED_ERRATA: Mapping[str, tuple[str, str]] = {
    "namespace-prefix": ("E-16", 'select((.namespace // "") | startswith("_semantic"))'),
    "title-search": ("E-16", 'select((.title // "") | test("keyword"; "i"))'),
    "content-search": ("E-02", 'select((.content // "") | test("pattern"; "i"))'),
    "sort-by-confidence": ("E-01", "sort_by(-(.provenance.confidence // 0))"),
    "sort-by-flat-confidence": ("E-01", "sort_by(-(.confidence // 0))"),
    "top-by-confidence": ("E-01", "sort_by(-(.provenance.confidence // 0))"),
}
"""For each effect with a numbered erratum: the number, and a program, or a part of a program, that avoids the
erratum."""


def value_at(record: Record, path: Iterable[str]) -> Json:
    """Return the value at a path of names through objects, or None if there is no value."""
    value: Json = record
    for key in path:
        value = cast("Record", value).get(key) if isinstance(value, Mapping) else None
    return value


def _kind(value: Json) -> str:
    if value is None:
        return "nothing"
    kinds = {"bool": "a boolean", "int": "a number", "float": "a number", "str": "a string", "list": "an array"}
    return kinds.get(type(value).__name__, "an object")
