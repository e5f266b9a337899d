"""The specification of Large Result Offloading as a library.

The library starts child processes only for jq programs, and for schemas that could take too much time or memory. The
names below are the public interface. They are loaded on first use, because ``lro --help`` needs none of them.
`lro_spec.catalogue.catalogue` returns the requirements of an edition.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lro_spec.catalogue import Requirement, requirement
    from lro_spec.editions import Edition, edition
    from lro_spec.findings import Finding, Kind
    from lro_spec.messages import (
        JqRecipe,
        MessageError,
        OffloadHeader,
        OffloadResponse,
        OffloadSummary,
        find_descriptor,
    )
    from lro_spec.schema.bundled import json_schema
    from lro_spec.testing import assert_valid_descriptor
    from lro_spec.validation import follow, validate_descriptor, validate_file, validate_header, validate_line

_NAMES_BY_MODULE = {
    "lro_spec.catalogue": ("Requirement", "requirement"),
    "lro_spec.editions": ("Edition", "edition"),
    "lro_spec.findings": ("Finding", "Kind"),
    "lro_spec.messages": (
        *("JqRecipe", "MessageError", "OffloadHeader", "OffloadResponse", "OffloadSummary", "find_descriptor"),
    ),
    "lro_spec.schema.bundled": ("json_schema",),
    "lro_spec.testing": ("assert_valid_descriptor",),
    "lro_spec.validation": ("follow", "validate_descriptor", "validate_file", "validate_header", "validate_line"),
}
_MODULE_BY_NAME = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}

__all__ = [
    "Edition",
    "Finding",
    "JqRecipe",
    "Kind",
    "MessageError",
    "OffloadHeader",
    "OffloadResponse",
    "OffloadSummary",
    "Requirement",
    "assert_valid_descriptor",
    "edition",
    "find_descriptor",
    "follow",
    "json_schema",
    "requirement",
    "validate_descriptor",
    "validate_file",
    "validate_header",
    "validate_line",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_BY_NAME[name]), name)
