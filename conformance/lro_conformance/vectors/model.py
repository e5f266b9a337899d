"""The vectors: the classes for them, and functions that read and write their files.

A vector is one question with the answer that it expects. ``schemas/vectors.schema.json`` describes the files, and
``conformance/vectors/README.md`` each kind of question.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import lro_spec
from lro_conformance.capture.records import as_record
from lro_conformance.errors import UsageError

_OF_DOCUMENTS = frozenset({"descriptor", "descriptor+file", "file", "result"})

INDEX = "index.json"
"""The file that lists the other files, and states the version of the vectors and a digest."""

# In a wheel, the vectors are in the package lro_spec. In a checkout, they have a folder of their own.
_FOLDERS = (Path(lro_spec.__file__).parent / "vectors", Path(__file__).parents[2] / "vectors")


@dataclass(frozen=True, slots=True)
class Vector:
    """One question, and the answer that it expects."""

    id: str
    """The id never changes its meaning. If the vector is removed, its id is never used again."""
    kind: str
    about: str
    """A description in a few words, to be shown in lists."""
    why: str
    """The reason for the expected answer."""
    requirements: tuple[str, ...]
    """The requirements that the vector is about. The first is the requirement that decides the answer."""
    editions: tuple[str, ...]
    """The editions by whose rules the answer is expected. The vector was written for the first of them."""
    input: dict[str, Any]
    expect: list[dict[str, Any]]
    """Rules for the answer (see `lro_conformance.vectors.match`)."""
    chapter: str = ""
    """The chapter that is stated by the vector's file: the group of the first requirement. In this package, it is also
    the name of the file without the suffix."""
    mistake: dict[str, Any] | None = None
    """A wrong answer that a careless implementation may give, and the mistake that leads to it. None if no mistake is
    described."""

    @property
    def is_of_documents(self) -> bool:
        """True if the answer is the list of the requirements that are violated by the documents in the question."""
        return self.kind in _OF_DOCUMENTS

    @property
    def broken(self) -> tuple[str, ...]:
        """The requirements that are violated by the documents in the question; empty for other kinds of questions."""
        return tuple(self.expect[0]["is"][0]) if self.is_of_documents else ()

    def as_json(self) -> dict[str, Any]:
        """The vector as a JSON object, as it is in its file."""
        return {
            "id": self.id,
            "kind": self.kind,
            "about": self.about,
            "why": self.why,
            "requirements": list(self.requirements),
            "editions": list(self.editions),
            "input": self.input,
            "expect": self.expect,
            **({} if self.mistake is None else {"mistake": self.mistake}),
        }


@dataclass(frozen=True, slots=True)
class Corpus:
    """The vectors of a folder, or a selection of them."""

    version: str
    """The version that is stated by the index of the folder; empty if there is no index."""
    digest: str
    """The digest of the whole folder that is stated by the index; empty if there is no index. It is not verified."""
    vectors: tuple[Vector, ...]
    not_covered: Mapping[str, str] = field(default_factory=dict[str, str])
    """For each MUST that no vector is about, the reason why there is no vector."""

    def select(
        self, *, edition: str | None = None, chapters: Collection[str] = (), kinds: Collection[str] = ()
    ) -> Corpus:
        """Select the vectors of this edition, these chapters and these kinds. If an argument is omitted, it does not
        restrict the selection."""
        chosen = tuple(
            v
            for v in self.vectors
            if (edition is None or edition in v.editions)
            and (not chapters or v.chapter in chapters)
            and (not kinds or v.kind in kinds)
        )
        return replace(self, vectors=chosen)

    @property
    def chapters(self) -> tuple[str, ...]:
        """The chapters, in the order of the vectors."""
        return tuple(dict.fromkeys(v.chapter for v in self.vectors))


def folder() -> Path:
    """The folder with the vectors of this package. Raises `UsageError` if the installation lacks it."""
    for path in _FOLDERS:
        if (path / INDEX).is_file():
            return path
    raise UsageError(f"no vectors in {' or '.join(map(str, _FOLDERS))}: reinstall lro-spec")


def load(path: Path | None = None) -> Corpus:
    """Read the vectors of a folder, or of this package if *path* is None.

    Raises `UsageError` if a file is missing, cannot be read or does not have the documented form, or if two vectors
    have the same id. The message names the file and the reason.
    """
    root = folder() if path is None else path
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder: expected one with files of vectors (*.json)")
    files = sorted(p for p in root.glob("*.json") if p.name != INDEX)
    if not files:
        raise UsageError(f"{root} has no files of vectors (*.json): `lro vectors export DIR` writes them")
    version, digest, not_covered = "", "", dict[str, str]()
    if (root / INDEX).is_file():
        index = _read(root / INDEX)
        version, digest = str(index.get("version", "")), str(index.get("digest", ""))
        not_covered = {id: str(why) for id, why in as_record(index.get("not_covered")).items()}
        if isinstance(listed := index.get("files"), list):
            named = [as_record(one).get("name") for one in cast("list[object]", listed)]
            if not named or not all(isinstance(name, str) for name in named):
                raise UsageError(f"{root / INDEX}: expected `files` to be a list with the name of each file of vectors")
            files = [root / str(name) for name in named]
            if missing := [path.name for path in files if not path.is_file()]:
                raise UsageError(f"{root / INDEX} lists {missing[0]}, which is not there")
    vectors = tuple(v for p in files for v in _vectors(p))
    seen: set[str] = set()
    for vector in vectors:
        if vector.id in seen:
            raise UsageError(f"{root}: two vectors have the id {vector.id}")
        seen.add(vector.id)
    return Corpus(version, digest, vectors, not_covered)


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise UsageError(f"{path}: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"{path}: not valid JSON: {problem}") from None
    if not isinstance(value, dict):
        raise UsageError(f"{path}: expected a JSON object")
    return cast("dict[str, Any]", value)


def _vectors(path: Path) -> Iterator[Vector]:
    from lro_spec.findings import Kind
    from lro_spec.schema.errors import violations

    value = _read(path)
    for problem in violations(value, "vectors"):
        is_named = problem.kind in (Kind.MISSING_FIELD, Kind.UNKNOWN_FIELD)  # the sentence names the field
        where = "/".join(map(str, problem.path[:-1] if is_named else problem.path))
        raise UsageError(
            f"{path}: {where or 'the file'}: expected {problem.expected}, got {problem.observed} (lro schema vectors)"
        )
    for entry in cast("list[dict[str, Any]]", value["vectors"]):
        lists = {name: tuple(entry[name]) for name in ("requirements", "editions")}
        members: dict[str, Any] = {**entry, **lists, "chapter": value["chapter"]}
        yield Vector(**members)


def chapter_text(chapter: str, vectors: Sequence[Vector]) -> str:
    """The text of a file of vectors. Each vector is on a line of its own, so that a diff shows which vectors have
    changed."""
    lines = ",\n".join(json.dumps(v.as_json(), ensure_ascii=False, separators=(",", ":")) for v in vectors)
    return f'{{"format": "lro-vectors/2", "chapter": {json.dumps(chapter)}, "vectors": [\n{lines}\n]}}\n'


def index_text(corpus: Corpus, texts: dict[str, str]) -> str:
    """The text of the index. *texts* are the contents of the files of vectors, by name."""
    files = [
        {
            "name": name,
            "vectors": sum(v.chapter == name.removesuffix(".json") for v in corpus.vectors),
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
        }
        for name, text in texts.items()
    ]
    value = {
        "format": "lro-vectors/2",
        "version": corpus.version,
        "count": len(corpus.vectors),
        "editions": dict(Counter(edition for v in corpus.vectors for edition in v.editions)),
        "digest": digest_of(texts),
        "files": files,
        "not_covered": dict(corpus.not_covered),
    }
    return json.dumps(value, indent=1) + "\n"


def digest_of(texts: dict[str, str]) -> str:
    """A digest of all files: the SHA-256 of the concatenated texts ``name NUL content NUL`` of the files, which are
    sorted by name."""
    digest = hashlib.sha256()
    for name in sorted(texts):
        digest.update(name.encode() + b"\0" + texts[name].encode() + b"\0")
    return f"sha256:{digest.hexdigest()}"


def files_of(corpus: Corpus) -> dict[str, str]:
    """The contents of a corpus's files by name, including the index."""
    texts = {f"{c}.json": chapter_text(c, [v for v in corpus.vectors if v.chapter == c]) for c in corpus.chapters}
    return {INDEX: index_text(corpus, texts), **texts}
