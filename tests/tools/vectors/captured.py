"""Descriptors with their files, as the faulty and the sound servers of tests/servers return them.

Each server runs in this process with five small memories, at a fixed time and with fixed random bytes. Its docstring
says what is wrong with it, or why it is conformant although it is unusual.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from functools import cache, partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from lro_conformance.vectors.answers import answer
from lro_conformance.vectors.model import Vector
from lro_spec.catalogue import catalogue, wordings_by_edition
from lro_spec.editions import DEFAULT_EDITION
from tests.servers.editions.catalogue import Variant, variants
from tests.servers.editions.plain import PLAIN
from tests.servers.faults.catalogue import Fault, faults
from tests.servers.plain import Server
from tests.servers.sound.catalogue import sounds
from tests.tools.vectors.build import SECONDS, breaking, data, vector

CHOSEN = Path(__file__).with_name("captured.json")
"""The servers, each with the number of the call; a list, so that a new server does not change the vectors."""
MOST = 4
"""Number of servers for each requirement."""
CALLS: tuple[dict[str, str], ...] = (
    {"operation": "recall", "detail": "light"},
    {"operation": "search", "detail": "full"},
    {"operation": "inject", "detail": "medium"},
)
ALL = (
    *(f"LRO-FILE-{n}" for n in ("01", "02", "03", "04", "06", "07", "08", "09", "11", "12")), "LRO-DET-01", "LRO-NAME-02", "LRO-NAME-03", "LRO-THR-02",
    *(f"LRO-DESC-{n:02}" for n in range(1, 12)), *(f"LRO-REC-{n:02}" for n in range(1, 14)), "LRO-GUI-01", "LRO-GUI-04", "LRO-GUI-05",
)  # fmt: skip
"""Requirements that a sound descriptor and its file together show as met."""
OTHERS = ("LRO-DESC-14", *(f"LRO-REC-{n}" for n in (14, 15, 16, 17, 18, 20, 21)))
"""Those that the default edition does not have."""


PREFIX: Mapping[str, str] = {DEFAULT_EDITION: "", "lro-1600": "lro-1600-", "lro-paper": "paper-"}
"""The beginning of the names of an edition's vectors."""
_BOTH = ("LRO-DESC-04", "LRO-DESC-05", "LRO-DESC-07", "LRO-DESC-09", "LRO-FILE-04", "LRO-FILE-08", "LRO-NAME-02", "LRO-REC-12", "LRO-REC-13")  # fmt: skip
APART: Mapping[str, tuple[str, ...]] = {
    "lro-1600": (
        *_BOTH,
        "LRO-DESC-08",
        "LRO-GUI-05",
        *(f"LRO-REC-{n:02}" for n in (2, 3, 5, 6, 8, 14, 15, 16, 17, 18, 20)),
    ),
    "lro-paper": (*_BOTH, *(f"LRO-REC-{n:02}" for n in (1, 2, 3, 8, 9, 21))),
}
"""Requirements that the documents of another edition break in which everything contradicts something."""


def corpus() -> list[dict[str, Any]]:
    """Five memories with every field of the data model, as short as they can be."""
    made: list[dict[str, Any]] = []
    for n, (space, kind, title) in enumerate(
        (
            ("_semantic/ops", "semantic", "Rotate the signing keys"), ("_semantic/ops", "semantic", "Keyword search, a memory"),
            ("_episodic/log", "episodic", "The billing outage"), ("_semantic/ops", "semantic", "café 🧭 memory"), ("_episodic/log", "episodic", "Name branches"),
        ),
        1,
    ):  # fmt: skip
        day = f"2026-01-{n:02}T00:00:00Z"
        made.append(
            {
                "id": f"m-{n}", "title": title, "namespace": space, "memory_type": kind, "tags": ["memory"], "status": "active", "created": day,
                "modified": day, "content": f"Pattern {n}: what was agreed, é.", "summary": None, "entities": [{"name": "vault"}] * (n % 2),
                "relationships": [], "wiki_links": [], "embedding": None, "provenance": {"confidence": n / 8}, "temporal": None, "extensions": None,
                "blocks": [], "citations": [],
            }
        )  # fmt: skip
    return made


def exchange(
    server: type[Server], call: dict[str, str], memories: int | None = None
) -> tuple[dict[str, Any], str, bytes] | None:
    """The descriptor, the name and the content of its file that a server gives; None if it gives none.

    The server has the first *memories* of the corpus, by default all of them.
    """
    with TemporaryDirectory() as folder, ExitStack() as stack:
        settings = {"ENABLED": "true", "THRESHOLD_TOKENS": "1", "TTL_SECONDS": "3600", "OUTPUT_DIR": folder}
        stack.enter_context(patch.dict(os.environ, {f"ATLATL_PROMPT__OFFLOAD__{k}": v for k, v in settings.items()}))
        stack.enter_context(chdir("/usr"))  # some paths are relative to it, so it is the same everywhere
        stack.enter_context(patch("time.time", lambda: float(SECONDS)))
        stack.enter_context(patch("time.sleep", lambda _: None))
        stack.enter_context(patch("os.urandom", lambda n: bytes(range(17, 17 + n))))
        stack.enter_context(patch.object(Server, "corpus", lambda _: corpus()[:memories]))
        stack.enter_context(redirect_stdout(StringIO()))
        stack.enter_context(redirect_stderr(StringIO()))
        try:
            one = server()
            one.send_line = lambda line: None  # type: ignore[method-assign]
            result = one.offer(
                call["operation"],
                {"query": "memory" if call["operation"] == "search" else "*", "detail": call["detail"]},
            )
            value = json.loads(result["content"][0]["text"])
        except (Exception, SystemExit):
            return None
        files = [p for p in Path(folder).iterdir() if p.is_file()]
        if not isinstance(value, dict) or not value.get("offloaded") or len(files) != 1:
            return None
        spelled = json.dumps(value, ensure_ascii=False)
        content = files[0].read_bytes()
        if folder.encode() in content or folder in spelled.replace(folder + "/", ""):
            return None
        return json.loads(spelled.replace(folder, "/out")), files[0].name, content


def _captured() -> Iterator[Any]:
    chosen = json.loads(CHOSEN.read_text(encoding="utf-8"))
    yield from (partial(_of_fault, name, call) for name, call in chosen["faults"].items())
    yield from (partial(_of_sound, name, call) for name, call in chosen["sound"].items())


def choose() -> None:
    """Choose servers whose documents show what they are about, a few for each requirement, and write their names."""
    taken: Counter[str] = Counter()
    seen: set[str] = set()

    def is_new(made: Vector | None) -> bool:
        size = len(seen)
        seen.update([] if made is None else [json.dumps(made.input)])
        return len(seen) > size

    chosen: dict[str, dict[str, int]] = {"faults": {}, "sound": {}}
    for name, fault in _faults().items():
        if issubclass(fault.server, Server) and _has_documents(fault) and taken[fault.requirement] < MOST:
            call = next((n for n in range(len(CALLS)) if is_new(_of_fault(name, n))), None)
            if call is not None:
                chosen["faults"][name] = call
                taken[fault.requirement] += 1
    for name, sound in sounds().items():
        if issubclass(sound.server, Server) and not sound.profile and not sound.warns:
            made = next(
                ((n, v) for n in range(len(CALLS)) if (v := _of_sound(name, n)) is not None and is_new(v)), None
            )
            if made is not None and taken[key := " ".join(made[1].requirements)] < MOST:
                chosen["sound"][name] = made[0]
                taken[key] += 1
    CHOSEN.write_text(json.dumps(chosen, indent=1) + "\n", encoding="utf-8")


def _faults() -> dict[str, Fault | Variant]:
    """The faulty servers of all editions, by name."""
    return {**faults(), **{name: one for name, one in variants().items() if one.requirement in (*ALL, *OTHERS)}}


def _has_documents(fault: Fault | Variant) -> bool:
    id = fault.requirement
    return id in (*ALL, *OTHERS) and wordings_by_edition(id)[_edition(fault)].keyword == "MUST"


def _edition(fault: Fault | Variant) -> str:
    return fault.edition if isinstance(fault, Variant) else DEFAULT_EDITION


def _question(found: tuple[dict[str, Any], str, bytes], call: dict[str, str]) -> dict[str, Any]:
    described, name, content = found
    return {"call": call, "descriptor": described, "name": name, **data(content)}


def _slug(name: str) -> str:
    return name.replace("_", "-")


def _of_fault(name: str, number: int) -> Vector | None:
    """The vector of a fault, by the documents of one of the calls; None if they do not show it, or more than it."""
    fault, call = _faults()[name], CALLS[number]
    assert issubclass(fault.server, Server)
    found = exchange(fault.server, call)
    if found is None or fault.requirement is None:
        return None
    edition = _edition(fault)
    question = _question(found, call)
    broken = answer("descriptor+file", question, edition)
    assert isinstance(broken, list)
    if fault.requirement not in broken or not set(broken) <= {fault.requirement, *fault.also}:
        return None
    ids = (fault.requirement, *(id for id in broken if id != fault.requirement))
    about = " ".join(fault.about.split())
    return vector(
        f"documents.{PREFIX[edition]}{_slug(name)}",
        about.rstrip("."),
        question,
        breaking(broken),
        ids,
        edition=edition,
        only=True,
        answered=True,
    )


def _of_sound(name: str, number: int) -> Vector | None:
    """The vector of a sound server, if its documents differ from the plain one's; None if not."""
    sound, call = sounds()[name], CALLS[number]
    assert issubclass(sound.server, Server)
    found, usual = exchange(sound.server, call), exchange(Server, call)
    if found is None or found == usual:
        return None
    question = _question(found, call)
    if answer("descriptor+file", question, "lro-6400") != []:
        return None
    about = " ".join(sound.why.rstrip(".").split())
    why = "It is unusual, and breaks no requirement."
    return vector(
        f"documents.sound-{_slug(name)}",
        about,
        question,
        breaking(()),
        _differing(found, usual),
        why,
        only=True,
        answered=True,
    )


def _differing(found: Any, usual: Any) -> tuple[str, ...]:
    """Requirements about the parts in which an exchange differs from the usual one."""
    parts = {
        "line_schema": ("LRO-DESC-09", "LRO-DESC-10"), "jq_recipes": ("LRO-REC-13", "LRO-REC-11", "LRO-REC-12"), "guidance": ("LRO-GUI-01", "LRO-GUI-04", "LRO-GUI-05"),
        "summary": ("LRO-DESC-03", "LRO-DESC-06"), "file_path": ("LRO-NAME-02", "LRO-NAME-03"),
    }  # fmt: skip
    ids = [id for part, some in parts.items() if found[0].get(part) != usual[0].get(part) for id in some]
    if set(found[0]) != set(usual[0]):
        ids.append("LRO-DESC-01")
    if re.sub(rb"[^\n]*", b"", found[2]) != re.sub(rb"[^\n]*", b"", usual[2]) or found[2] != usual[2]:
        ids += ["LRO-FILE-01", "LRO-FILE-11"]
    return tuple(dict.fromkeys(ids)) or ("LRO-DESC-01",)


@cache
def _usual(edition: str, number: int = 0) -> dict[str, Any]:
    """The question with the documents that the plain server of an edition gives for one of the calls."""
    call = CALLS[number]
    found = exchange(PLAIN[edition], call, memories=None if edition == DEFAULT_EDITION else 1)
    assert found is not None
    return _question(found, call)


def _plain(edition: str) -> Iterator[Any]:
    """The plain server's documents of an operation, which show all requirements as met."""
    for number, call in enumerate(CALLS if edition == DEFAULT_EDITION else CALLS[:1]):
        about = f"a sound {call['operation']} at {call['detail']} detail"
        ids = tuple(id for id in ALL if id != "LRO-REC-10" or call["detail"] != "light")
        musts = {r.id for r in catalogue(edition) if r.keyword == "MUST"}
        yield partial(
            vector,
            f"documents.{PREFIX[edition]}plain-{call['operation']}",
            about,
            _usual(edition, number),
            breaking(()),
            ids if edition == DEFAULT_EDITION else tuple(id for id in (*ids, *OTHERS) if id in musts),
            "Every part is there and agrees with the others.",
            edition=edition,
            only=True,
        )


def _row(
    slug: str,
    about: str,
    broken: tuple[str, ...],
    why: str = "",
    *,
    edition: str = DEFAULT_EDITION,
    summary: dict[str, Any] | None = None,
    header: dict[str, Any] | None = None,
    **more: Any,
) -> Any:
    """The plain server's documents of an edition with some parts changed."""
    usual = _usual(edition)
    whole, lines = usual["descriptor"], usual["text"].splitlines()
    given = {**whole, "summary": {**whole["summary"], **(summary or {})}, **more.pop("descriptor", {})}
    first = json.dumps({**json.loads(lines[0]), **(header or {})}, ensure_ascii=False)
    question = {**usual, "descriptor": given, "text": "\n".join([first, *lines[1:]]) + "\n", **more}
    id = f"documents.{PREFIX[edition]}{slug}"
    return partial(vector, id, about, question, breaking(broken), broken, why, edition=edition, only=True)


def _apart() -> Iterator[Any]:
    """A sound pair with one contradiction between its parts."""
    tokens = _usual(DEFAULT_EDITION)["descriptor"]["summary"]["estimated_tokens"]
    yield _row(
        "call-of-another-operation",
        "the call was a search",
        ("LRO-FILE-04", "LRO-NAME-02", "LRO-DESC-05"),
        call={"operation": "search", "detail": "light"},
    )
    yield _row(
        "call-of-another-detail",
        "the call asked for medium detail",
        ("LRO-DESC-08", "LRO-FILE-08"),
        call={"operation": "recall", "detail": "medium"},
    )
    yield _row(
        "namespace-missing",
        "the most frequent namespace is missing from the summary",
        ("LRO-DESC-06",),
        summary={"top_namespaces": ["_episodic/log"]},
    )
    yield _row(
        "namespace-unknown",
        "a namespace that the file does not have",
        ("LRO-DESC-06",),
        summary={"top_namespaces": ["_semantic/ops", "project/x"]},
    )
    yield _row(
        "tokens-far-off",
        "an estimate of the summary far above the file's",
        ("LRO-DESC-04",),
        summary={"estimated_tokens": tokens * 50},
    )
    yield _row(
        "schema-refuses",
        "a line schema that the records do not satisfy",
        ("LRO-DESC-09",),
        descriptor={"line_schema": {"properties": {"id": {"type": "integer"}}, "required": ["id"]}},
    )
    yield _row(
        "schema-of-others",
        "a line schema of other records",
        ("LRO-DESC-10",),
        descriptor={"line_schema": {"properties": {"name": {"type": "string"}, "size": {"type": "integer"}}}},
    )
    yield _row(
        "detail-of-the-header",
        "the header names another detail level than the call",
        ("LRO-FILE-08",),
        header={"detail": "medium"},
    )


def _all_apart() -> Iterator[Any]:
    """A sound pair of each other edition in which every part contradicts another one."""
    for edition, broken in APART.items():
        usual = _usual(edition)["descriptor"]
        command = f"cat {usual['file_path']} | jq '[.title, .score, now]'"
        yield _row(
            "contradictions",
            "a descriptor that agrees with neither call nor file",
            broken,
            "A check that finds one contradiction finds the others, too.",
            edition=edition,
            call={"operation": "search", "detail": "medium"},
            summary={"estimated_tokens": 9000, "score_range": [0.9, 0.1]},
            descriptor={
                "line_schema": {"properties": {"name": {"type": "string"}}, "required": ["name"]},
                "jq_recipes": [{"description": "Titles", "command": command}],
            },
        )


def vectors() -> Iterator[Any]:
    """Functions that make the vectors of kind `descriptor+file`; some return None."""
    for edition in PLAIN:
        yield from _plain(edition)
    yield from _apart()
    yield from _all_apart()
    yield from _captured()
