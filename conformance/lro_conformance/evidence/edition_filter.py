"""Restriction of evidence to an edition.

One capture is judged by several editions. For each edition, two things are removed: calls of operations that the
edition does not have, and observations of cleanup with foreign planted files. A planted file belongs to the edition if
its name begins like the files of this edition, or like a file that the server itself wrote. Every other planted file is
foreign: the server need not delete it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from lro_conformance import trials
from lro_conformance.capture.call import Call
from lro_conformance.lab.operations import TOOLS
from lro_conformance.trials.cleanup import Cleaning, Cleanup
from lro_conformance.trials.defaults import Defaults
from lro_conformance.trials.survey import Survey
from lro_spec.editions import Edition


def restricted(evidence: Mapping[str, Any], edition: Edition) -> dict[str, Any]:
    """Return the evidence that concerns an edition. Calls remain the same objects."""
    filtered = {name: _without_foreign_files(one, edition) for name, one in evidence.items()}
    if not foreign_operations(evidence.get("survey"), edition):
        return filtered
    return {name: _without_other_operations(one, edition.operations) for name, one in filtered.items()}


def foreign_operations(survey: object, edition: Edition) -> bool:
    """True if the survey called operations that an edition does not have."""
    return (
        isinstance(survey, Survey)
        and bool(edition.operations)
        and not set(survey.operations) <= set(edition.operations)
    )


def _without_foreign_files(found: object, edition: Edition) -> object:
    """Return the evidence of a trial without the observations of cleanup that have foreign planted files."""
    if isinstance(found, Cleanup):
        return replace(found, set_ttl=_unless_foreign(found.set_ttl, edition))
    if isinstance(found, Defaults):
        return replace(found, cleaning=_unless_foreign(found.cleaning, edition))
    return found


def _unless_foreign(cleaning: Cleaning | None, edition: Edition) -> Cleaning | None:
    if cleaning is None:
        return None
    allowed_prefixes = {_prefix(path) for path, _ in cleaning.own} | {edition.file_prefix}
    return cleaning if all(_prefix(str(p.path)) in allowed_prefixes for p in cleaning.planted) else None


def _prefix(path: str) -> str:
    return os.path.basename(path).partition("-")[0]


def _without_other_operations(value: object, operations: Collection[str]) -> Any:
    """Return the value without the parts that belong to operations other than *operations*."""
    if isinstance(value, Call | BaseException):
        return value
    if isinstance(value, Mapping):
        members = cast("Mapping[Any, Any]", value)
        kept = {
            k: v
            for k, v in members.items()
            if not (_is_key_of_other(k, operations) or _belongs_to_other(v, operations))
        }
        return {k: _without_other_operations(v, operations) for k, v in kept.items()}
    if isinstance(value, tuple | list):
        entries = cast("tuple[Any, ...]", value)
        filtered = [_without_other_operations(v, operations) for v in entries if not _belongs_to_other(v, operations)]
        return tuple(filtered) if isinstance(value, tuple) else filtered
    if is_dataclass(value) and not isinstance(value, type) and _is_of_a_trial(value):
        old = {f.name: getattr(value, f.name) for f in fields(value) if f.metadata.get("kept", True) and f.init}
        new = {name: _without_other_operations(v, operations) for name, v in old.items()}
        changed = {name: v for name, v in new.items() if v != old[name]}
        return replace(value, **changed) if changed else value
    return value


def _is_of_a_trial(value: object) -> bool:
    return type(value).__module__.startswith(f"{trials.__name__}.")


def _is_key_of_other(key: object, operations: Collection[str]) -> bool:
    """True if a key is the name of an operation outside of *operations*, or a tuple that begins with such a name."""
    name = cast("tuple[object, ...]", key)[:1] if isinstance(key, tuple) else (key,)
    return any(_is_other_operation(n, operations) for n in name)


def _is_other_operation(name: object, operations: Collection[str]) -> bool:
    return isinstance(name, str) and name in TOOLS and name not in operations


def _belongs_to_other(value: object, operations: Collection[str]) -> bool:
    """True if a value belongs to a call of an operation outside of *operations*."""
    if isinstance(value, tuple):
        return any(_belongs_to_other(v, operations) for v in cast("tuple[object, ...]", value))
    if isinstance(value, Call):
        return _is_other_operation(value.operation, operations)
    inner: object = getattr(value, "call", None)
    return (
        _is_other_operation(getattr(value, "operation", None), operations)
        if inner is None
        else _belongs_to_other(inner, operations)
    )
