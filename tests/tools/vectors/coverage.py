"""Requirements that vectors cannot be about, and how many vectors each other one has."""

from __future__ import annotations

from collections.abc import Sequence

from lro_conformance.vectors.model import Vector
from lro_spec.catalogue import catalogue

_TALK = "It takes a conversation with a running server: `lro certify` judges it."
_FILES = "It takes a file system on which the implementation has written: `lro certify` judges it."
_PROXY = "It takes a running proxy between a client and a server: `lro certify` judges it."
_CHAT = "It concerns a conversation that is compacted, not an offloaded result: `lro certify` judges it."

NOT_COVERED = {
    "LRO-IMPL-03": _TALK,
    "LRO-SCOPE-07": _TALK,
    "LRO-THR-04": _TALK,
    "LRO-NAME-04": "It concerns two calls of one running server: `lro certify` judges it.",
    "LRO-ERR-06": "It concerns two calls of one running server: `lro certify` judges it.",
    "LRO-CFG-05": "The temporary directory is that of the machine: `lro certify` judges it.",
    "LRO-PROT-02": _TALK,
    "LRO-CLN-05": "It takes the events of a running server: `lro certify` judges it.",
    "LRO-REC-19": "It compares recipes for one detail level with the records of others: `lro certify` judges it.",
    "LRO-HARD-01": _FILES,
    "LRO-HARD-02": "It concerns the random parts of many names: `lro certify` judges it.",
    "LRO-HARD-06": _FILES,
    "LRO-HARD-07": _FILES,
    **dict.fromkeys((f"LRO-PROXY-{n:02}" for n in (6, 8, 11, 12, 13, 14, 15, 16, 17)), _PROXY),
    "LRO-EXTRACT-07": "It takes time limits on a machine: `lro certify` judges it.",
    "LRO-EXTRACT-08": "Each implementation has its own bound: `lro certify` judges it.",
    "LRO-EXTRACT-09": _TALK,
    "LRO-EXTRACT-24": "Each implementation has its own budget: `lro certify` judges it.",
    **dict.fromkeys((f"LRO-EXTRACT-{n}" for n in (18, 19, 25, 28, 29, 30)), _CHAT),
}
"""By requirement, the reason."""


def uncovered(vectors: Sequence[Vector], edition: str) -> list[str]:
    """MUSTs of an edition that checks judge, and of which its vectors do not show both verdicts.

    Documents show them by one that breaks the requirement and one that does not. Other questions show them by the
    expected answer and a mistake, which is refused.
    """
    mine = [v for v in vectors if edition in v.editions]
    return [id for id in musts(edition) if not _has_both([v for v in mine if id in v.requirements], id)]


def musts(edition: str) -> list[str]:
    """MUSTs of an edition that checks judge."""
    return [r.id for r in catalogue(edition) if r.keyword == "MUST" and r.excluded is None]


def _has_both(about: Sequence[Vector], id: str) -> bool:
    documents = [id in v.broken for v in about if v.is_of_documents]
    return {True, False} <= set(documents) or any(v.mistake is not None for v in about if not v.is_of_documents)
