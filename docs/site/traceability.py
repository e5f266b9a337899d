"""Pages that lead from a requirement to its checks, its vectors and the faults that break it, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lro_conformance.report.catalogue import checks_by_requirement
from lro_conformance.vectors.model import Vector, load

_DETECTION = Path(__file__).resolve().parents[1] / "detection.md"
_FAULT = re.compile(r"^\| `(\w+)` \| (.*) \| (LRO-[A-Z]+-\d\d) \|", re.MULTILINE)

_SOUND = re.compile(r"^\| `(\w+)` \| (.*?) \|", re.MULTILINE)


@cache
def faults() -> tuple[tuple[str, str, str], ...]:
    """The faulty servers: name, what it does, and the requirement that it breaks."""
    return tuple(_FAULT.findall(_DETECTION.read_text(encoding="utf-8").partition("## Sound")[0]))


@cache
def sound() -> tuple[tuple[str, str], ...]:
    """The sound servers: name, and why a hasty suite would blame it."""
    return tuple(_SOUND.findall(_DETECTION.read_text(encoding="utf-8").partition("## Sound")[2]))


@cache
def vectors_by_requirement() -> dict[str, tuple[Vector, ...]]:
    """The vectors about each requirement."""
    found: dict[str, tuple[Vector, ...]] = {}
    for vector in load().vectors:
        for id in vector.requirements:
            found[id] = (*found.get(id, ()), vector)
    return found


def of_requirement(id: str) -> Iterator[str]:
    """The section of a requirement's page that lists what belongs to it."""
    checks = [f"[`{name}`](../checks.md#{_anchor(name)})" for name in checks_by_requirement().get(id, ())]
    broken = [f"[`{name}`](../faults.md#{_anchor(name)})" for name, _, broken in faults() if broken == id]
    vectors = [f"[`{v.id}`](../vectors/{v.chapter}.md#{_anchor(v.id)})" for v in vectors_by_requirement().get(id, ())]
    if not vectors and (why := load().not_covered.get(id)) is not None:
        vectors = [f"none. {why}"]
    for name, links in (("Checks", checks), ("Vectors", vectors), ("Faulty servers", broken)):
        if links:
            yield from ("", f"## {name}", "", ", ".join(links))


def pages() -> Iterator[tuple[str, str]]:
    """The pages of checks, of faults, and of vectors by chapter."""
    yield "reference/checks.md", "\n".join(_checks()) + "\n"
    yield "reference/faults.md", "\n".join(_faults()) + "\n"
    yield "reference/vectors/index.md", "\n".join(_index()) + "\n"
    for chapter in load().chapters:
        yield f"reference/vectors/{chapter}.md", "\n".join(_chapter(chapter)) + "\n"


def _checks() -> Iterator[str]:
    yield from ("# Checks", "", "Every check of a certification, with the requirement that it judges.", "")
    yield from ("| check | requirement |", "|---|---|")
    for id, names in sorted(checks_by_requirement().items()):
        yield from (f"| {_marked(name)} | [{id}](requirements/{id}.md) |" for name in names)


def _faults() -> Iterator[str]:
    yield from ("# Faulty and sound servers", "", "## Faulty servers", "")
    yield from ("Each breaks one requirement, and the suite must blame exactly that one.", "")
    yield from ("| server | what it does | breaks |", "|---|---|---|")
    yield from (f"| {_marked(name)} | {about} | [{id}](requirements/{id}.md) |" for name, about, id in faults())
    yield from ("", "## Sound servers", "", "Each is unusual and breaks nothing, and the suite must not blame it.", "")
    yield from ("| server | why a hasty suite would blame it |", "|---|---|")
    yield from (f"| {_marked(name)} | {why} |" for name, why in sound())


def _index() -> Iterator[str]:
    whole = load()
    yield "# Vectors"
    yield ""
    yield f"Version {whole.version}, {len(whole.vectors)} vectors. [How to use them](../../vectors.md)."
    yield from ("", "| chapter | vectors |", "|---|---|")
    for chapter in whole.chapters:
        yield f"| [{chapter}]({chapter}.md) | {sum(v.chapter == chapter for v in whole.vectors)} |"
    yield from ("", "## Requirements without a vector", "")
    yield from (f"- [{id}](../requirements/{id}.md): {why}" for id, why in whole.not_covered.items())


def _chapter(chapter: str) -> Iterator[str]:
    yield from (
        f"# Vectors: {chapter}",
        "",
        "| vector | about | why | requirements | editions |",
        "|---|---|---|---|---|",
    )
    servers = {_anchor(row[0]) for row in (*faults(), *sound())}
    for v in load().vectors:
        if v.chapter == chapter:
            server = v.id.removeprefix("documents.").removeprefix("sound-")
            about = f"[{_cell(v.about)}](../faults.md#{server})" if server in servers else _cell(v.about)
            ids = ", ".join(f"[{id}](../requirements/{id}.md)" for id in v.requirements)
            yield f"| {_marked(v.id)} | {about} | {_cell(v.why)} | {ids} | {', '.join(v.editions)} |"


def _marked(name: str) -> str:
    """A name in code, with an anchor to which other pages lead."""
    return f'<span id="{_anchor(name)}">`{name}`</span>'


def _anchor(name: str) -> str:
    return name.replace(".", "-").replace("_", "-").lower()


def _cell(text: str) -> str:
    """A text that is no markup, in a cell of a table."""
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", " ".join(text.split()))
