"""Reader of recorded evidence. Nothing in it is trusted: every checksum and the type of every value is verified."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from lro_conformance.capture.call import Call, descriptor_in
from lro_conformance.capture.file import FileSeen
from lro_conformance.capture.overall import OVERALL, Overall
from lro_conformance.capture.run import CapturedRun
from lro_conformance.capture.start import Start
from lro_conformance.evidence import format
from lro_conformance.evidence.codec import Codec, answer
from lro_conformance.evidence.format import EvidenceError, as_bytes
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.results import ServerInfo, Span
from lro_conformance.lab.errors import Refused, ServerTrouble
from lro_conformance.profile import Profile
from lro_conformance.trials import trials
from lro_conformance.trials.survey import Survey
from lro_conformance.wire.reply import Failure, Reply
from lro_spec.jsonl.opening import read_regular

MAX_BYTES = 1 << 30
"""Size, in bytes, of the largest file of evidence that is read."""

_KNOWN_PROBLEMS = {k.__name__: k for k in (ServerTrouble, Refused, NotObserved, NotApplicable)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored(CapturedRun):
    """A captured run from recorded evidence."""

    version: str
    """Version of the suite that recorded it."""
    machine: Mapping[str, str | None]
    """Versions of the system and of the libraries in the run."""


def read(folder: Path) -> Stored:
    """The run in a folder of evidence.

    Raises `EvidenceError` if it is incomplete or damaged, or if it is not evidence.
    """
    return _Reader(folder).stored()


@dataclass(frozen=True)
class _Transcript:
    start: Start
    lines: list[dict[str, Any]]

    def line(self, number: int, fetch: Callable[[Any], bytes]) -> bytes:
        if not 1 <= number <= len(self.lines):
            raise ValueError(f"{self.start.folder}/{format.TRANSCRIPT} has no line {number}")
        return fetch(self.lines[number - 1])


def _server(recorded: Any, survey: object, command: tuple[str, ...]) -> ServerInfo:
    """The server's information about itself; earlier versions of the suite recorded it with the survey."""
    if recorded is None and isinstance(survey, Survey):
        return ServerInfo.introduced(survey.server_info, survey.protocol, command)
    names = cast("dict[str, Any]", recorded or {})
    name, version, protocol = (_typed(str, names.get(n, "")) for n in ("name", "version", "protocol"))
    return ServerInfo(name, version, command, protocol)


class _Reader:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._calls: dict[int, Call] = {}
        self._servers: dict[int, _Transcript] = {}
        self._contents: dict[str, bytes] = {}
        special: dict[type, Callable[[Any], Any]] = {Call: self._call, FileSeen: self._file, Start: self._start}
        self._codec = Codec(special, fetch=self._bytes)

    def stored(self) -> Stored:
        manifest = self._manifest()
        try:
            return self._stored(manifest)
        except RecursionError:
            raise EvidenceError(f"{self._folder}: not written by the suite: a value is nested too deeply") from None
        except (ValueError, TypeError, KeyError) as problem:
            reason = f"{problem} is missing" if isinstance(problem, KeyError) else str(problem)
            raise EvidenceError(f"{self._folder}: not written by the suite, or changed since: {reason}") from None

    def _manifest(self) -> dict[str, Any]:
        path = self._folder / format.MANIFEST
        if not self._folder.is_dir():
            raise EvidenceError(f"{self._folder}: no such directory")
        if not path.is_file() or path.is_symlink():
            raise EvidenceError(f"{self._folder}: not evidence: it has no {format.MANIFEST}")
        try:
            value: Any = json.loads(read_regular(path, MAX_BYTES, follow_links=False))
        except (ValueError, RecursionError):
            raise EvidenceError(f"{path}: not JSON: it was truncated or changed") from None
        except OSError as problem:
            raise EvidenceError(f"{path}: {problem.strerror}") from None
        manifest = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        form = manifest.get("format")
        if form != format.FORMAT:
            raise EvidenceError(f"{path}: expected format {format.FORMAT}, got {form!r:.40} (a later version?)")
        if manifest.get("complete") is not True:
            raise EvidenceError(
                f"{self._folder}: incomplete: the run was interrupted before its end, so record it anew"
            )
        return manifest

    def _stored(self, manifest: dict[str, Any]) -> Stored:
        self._check(manifest["checksums"])
        profile: Profile = self._codec.decode(Profile, manifest["profile"])
        claimed = self._codec.decode(int | None, manifest["claimed"])
        only = self._codec.decode(tuple[str, ...] | None, manifest["only"])
        trials = {n.removeprefix("trials/").removesuffix(".json"): self._trial(n) for n in _trials(manifest)}
        return Stored(
            version=_typed(str, manifest["suite"]["version"]),
            profile=replace(profile, edition=_typed(str, manifest["edition"]), level=claimed),
            seed=_typed(int, manifest["seed"]),
            examples=_typed(int, manifest["examples"]),
            only=None if only is None else frozenset(only),
            started_at=_typed(str, manifest["started_at"]),
            duration_s=float(manifest["duration_s"]),
            starts=_typed(int, manifest["server_starts"]),
            server=_server(manifest.get("server"), trials.get("survey"), profile.server.command),
            timeline=self._codec.decode(tuple[Span, ...], manifest["timeline"]),
            trouble=self._codec.decode(str | None, manifest["trouble"]),
            incomplete=str(manifest.get("incomplete", "")),  # earlier evidence has neither this nor the next
            shortage=str(manifest.get("shortage", "")),
            trials=trials,
            machine=self._codec.decode(Mapping[str, str | None], manifest["machine"]),
        )

    def _check(self, checksums: Any) -> None:
        if not isinstance(checksums, dict):
            raise ValueError("checksums are not an object")  # noqa: TRY004 - one kind of problem for the caller
        for name, sum in cast("dict[str, str]", checksums).items():
            if ".." in Path(name).parts or Path(name).is_absolute():
                raise ValueError(f"{name} is outside of the directory")
            if hashlib.sha256(self._read(name)).hexdigest() != sum:
                raise EvidenceError(f"{self._folder / name}: changed since it was recorded: its checksum differs")

    def _read(self, name: str) -> bytes:
        path = self._folder / name
        try:
            return read_regular(path, MAX_BYTES, follow_links=False)
        except OSError as problem:
            raise EvidenceError(f"{path}: part of the evidence, but cannot be read: {problem.strerror}") from None

    def _json(self, name: str) -> Any:
        return json.loads(self._read(name))

    def _jsonl(self, name: str) -> list[Any]:
        return [json.loads(line) for line in self._read(name).split(b"\n") if line]

    # parts

    def _trial(self, name: str) -> Any:
        value = self._json(name)
        if "raised" in value:
            made = _raised(str(value["raised"]), str(value["message"]))
            if isinstance(made, ServerTrouble) and value.get("start") is not None:
                made.start = self._codec.decode(Start, value["start"])
            return made
        title = name.removeprefix("trials/").removesuffix(".json")
        known = trials().get(title)
        if known is None and title != OVERALL:
            return NotObserved("this version has no such trial")
        kind = Overall if known is None else known.record
        try:
            return self._codec.decode(kind, value["found"])
        except ValueError as problem:
            raise ValueError(f"{name}: {problem}") from None

    @cached_property
    def _recorded_calls(self) -> dict[int, dict[str, Any]]:
        return {int(c["number"]): c for c in self._jsonl(format.CALLS)}

    def _call(self, number: Any) -> Call:
        known = self._calls.get(number)
        if known is None:
            recorded = self._recorded_calls.get(number)
            if recorded is None:
                raise ValueError(f"{format.CALLS} has no call {number!r:.20}")
            known = self._calls[number] = self._decoded_call(recorded)
        return known

    def _decoded_call(self, recorded: dict[str, Any]) -> Call:
        server = self._server(_typed(int, recorded["server"]))
        decode = self._codec.decode
        reply = self._reply(recorded["reply"], server)
        return Call(
            operation=_typed(str, recorded["operation"]),
            tool=_typed(str, recorded["tool"]),
            arguments=_typed(dict, recorded["arguments"]),
            detail=decode(str | None, recorded["detail"]),
            limit=decode(int | None, recorded["limit"]),
            query=decode(str | None, recorded["query"]),
            start=server.start,
            before=decode(tuple[int, ...], recorded["before"]),
            reply=reply,
            started=decode(float, recorded["started"]),
            ended=decode(float, recorded["ended"]),
            utc_offset_s=_typed(int, recorded["utc_offset_s"]),
            file=decode(FileSeen | None, recorded["file"]),
            real_output_dir=decode(Path | None, recorded["real_output_dir"]),
            in_reply=descriptor_in(reply),
            inline_path=decode(str | None, recorded["inline_path"]),
        )

    def _reply(self, recorded: dict[str, Any], server: _Transcript) -> Reply:
        id = _typed(int, recorded["id"])
        sent = recorded["request"]  # None for a call that was not made
        request = b"" if sent is None else server.line(_typed(int, sent), self._bytes)
        raw = None if recorded["response"] is None else server.line(_typed(int, recorded["response"]), self._bytes)
        result, error = (None, None) if raw is None else answer(raw, id)
        if "result" in recorded:
            result, error = recorded["result"], recorded["error"]
        return Reply(
            id=id,
            request=request,
            raw=raw,
            result=result,
            error=error,
            failure=self._codec.decode(Failure | None, recorded["failure"]),
            sent_at=float(recorded["sent_at"]),
            elapsed_s=float(recorded["elapsed_s"]),
            problems=self._codec.decode(tuple[tuple[str, str], ...], recorded["problems"]),
        )

    def _start(self, number: Any) -> Start:
        return self._server(_typed(int, number)).start

    def _server(self, number: int) -> _Transcript:
        known = self._servers.get(number)
        if known is None:
            folder = f"{format.SERVERS}/{number:04}"
            start: Start = Codec({}, fetch=self._bytes).decode(Start, self._json(f"{folder}/{format.START}"))
            lines = self._jsonl(f"{folder}/{format.TRANSCRIPT}")
            # a line that was cut cannot be sent again
            out = [(i, ln) for i, ln in enumerate(lines, 1) if ln["direction"] == "out" and "cut" not in ln]
            start = replace(start, sent=lambda: [self._bytes(ln) for _, ln in out])
            for i, ln in out:
                id = json.loads(self._bytes(ln)).get("id")
                if isinstance(id, int) and b'"method":' in self._bytes(ln):
                    start.lines[id] = i
            known = self._servers[number] = _Transcript(start, lines)
        return known

    def _file(self, recorded: Any) -> FileSeen:
        decode = self._codec.decode
        return FileSeen(
            path=_typed(str, recorded["path"]),
            problem=decode(str | None, recorded["problem"]),
            data=self._bytes(recorded["data"]) if "data" in recorded else b"",
            mode=decode(int | None, recorded["mode"]),
            mtime=decode(float | None, recorded["mtime"]),
            real=decode(str | None, recorded["real"]),
            lately=decode(bool, recorded.get("lately", True)),  # earlier evidence lacks it; see `FileSeen`
        )

    def _bytes(self, value: Any) -> bytes:
        name = value.get("sha256")
        if name is None:
            return as_bytes(value)
        known = self._contents.get(name)
        if known is None:
            if not isinstance(name, str) or len(name) != 64 or not name.isalnum():
                raise ValueError(f"{name!r:.80} is not a checksum")
            known = self._contents[name] = self._read(f"{format.FILES}/{name}")
            if hashlib.sha256(known).hexdigest() != name:
                path = self._folder / format.FILES / name
                raise EvidenceError(f"{path}: changed since it was recorded: its checksum differs")
        return known


def _trials(manifest: Mapping[str, Any]) -> list[str]:
    return [n for n in manifest["checksums"] if n.startswith(f"{format.TRIALS}/")]


def _raised(kind: str, message: str) -> Exception:
    made = _KNOWN_PROBLEMS.get(kind) or type(kind, (Exception,), {})
    return made(message)


def _typed(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}, got {value!r:.40}")
    return value
