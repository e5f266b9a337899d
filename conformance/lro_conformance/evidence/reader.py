"""Reader of recorded evidence. The evidence is not trusted: every checksum and the type of every value is verified."""

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
"""Maximum size, in bytes, of a file of evidence. Larger files are not read."""

_KNOWN_PROBLEMS = {k.__name__: k for k in (ServerTrouble, Refused, NotObserved, NotApplicable)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored(CapturedRun):
    """A captured run from recorded evidence."""

    version: str
    """The version of the suite that recorded the run."""
    machine: Mapping[str, str | None]
    """Versions of the system and of the libraries in the run."""


def read(folder: Path) -> Stored:
    """Return the run in a folder of evidence.

    Raises `EvidenceError` if the folder is not evidence, or if the evidence is incomplete or damaged.
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
    """Return the server's information about itself. Earlier versions of the suite recorded it in the survey."""
    if recorded is None and isinstance(survey, Survey):
        return ServerInfo.from_handshake(survey.server_info, survey.protocol, command)
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
            incomplete=str(manifest.get("incomplete", "")),  # earlier evidence lacks this and the next member
            shortage=str(manifest.get("shortage", "")),
            trials=trials,
            machine=self._codec.decode(Mapping[str, str | None], manifest["machine"]),
        )

    def _check(self, checksums: Any) -> None:
        if not isinstance(checksums, dict):
            raise ValueError("checksums are not an object")  # noqa: TRY004 - one kind of problem for the caller
        for name, checksum in cast("dict[str, str]", checksums).items():
            if ".." in Path(name).parts or Path(name).is_absolute():
                raise ValueError(f"{name} is outside of the directory")
            if hashlib.sha256(self._read(name)).hexdigest() != checksum:
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
            exception = _raised(str(value["raised"]), str(value["message"]))
            if isinstance(exception, ServerTrouble) and value.get("start") is not None:
                exception.start = self._codec.decode(Start, value["start"])
            return exception
        trial_name = name.removeprefix("trials/").removesuffix(".json")
        trial = trials().get(trial_name)
        if trial is None and trial_name != OVERALL:
            return NotObserved("this version has no such trial")
        kind = Overall if trial is None else trial.record
        try:
            return self._codec.decode(kind, value["found"])
        except ValueError as problem:
            raise ValueError(f"{name}: {problem}") from None

    @cached_property
    def _recorded_calls(self) -> dict[int, dict[str, Any]]:
        return {int(c["number"]): c for c in self._jsonl(format.CALLS)}

    def _call(self, number: Any) -> Call:
        call = self._calls.get(number)
        if call is None:
            recorded = self._recorded_calls.get(number)
            if recorded is None:
                raise ValueError(f"{format.CALLS} has no call {number!r:.20}")
            call = self._calls[number] = self._decoded_call(recorded)
        return call

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
        line_number = recorded["request"]  # None if the suite decided not to send the request
        request = b"" if line_number is None else server.line(_typed(int, line_number), self._bytes)
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
        transcript = self._servers.get(number)
        if transcript is None:
            folder = f"{format.SERVERS}/{number:04}"
            start: Start = Codec({}, fetch=self._bytes).decode(Start, self._json(f"{folder}/{format.START}"))
            lines = self._jsonl(f"{folder}/{format.TRANSCRIPT}")
            # a line that was cut is left out, because it cannot be sent again
            sent_lines = [(i, ln) for i, ln in enumerate(lines, 1) if ln["direction"] == "out" and "cut" not in ln]
            start = replace(start, sent=lambda: [self._bytes(ln) for _, ln in sent_lines])
            for i, ln in sent_lines:
                id = json.loads(self._bytes(ln)).get("id")
                if isinstance(id, int) and b'"method":' in self._bytes(ln):
                    start.lines[id] = i
            transcript = self._servers[number] = _Transcript(start, lines)
        return transcript

    def _file(self, recorded: Any) -> FileSeen:
        decode = self._codec.decode
        return FileSeen(
            path=_typed(str, recorded["path"]),
            problem=decode(str | None, recorded["problem"]),
            data=self._bytes(recorded["data"]) if "data" in recorded else b"",
            mode=decode(int | None, recorded["mode"]),
            mtime=decode(float | None, recorded["mtime"]),
            real_path=decode(str | None, recorded["real"]),
            may_be_written_by_call=decode(
                bool, recorded.get("lately", True)
            ),  # earlier evidence lacks it; see `FileSeen`
        )

    def _bytes(self, value: Any) -> bytes:
        name = value.get("sha256")
        if name is None:
            return as_bytes(value)
        content = self._contents.get(name)
        if content is None:
            if not isinstance(name, str) or len(name) != 64 or not name.isalnum():
                raise ValueError(f"{name!r:.80} is not a checksum")
            content = self._contents[name] = self._read(f"{format.FILES}/{name}")
            if hashlib.sha256(content).hexdigest() != name:
                path = self._folder / format.FILES / name
                raise EvidenceError(f"{path}: changed since it was recorded: its checksum differs")
        return content


def _trials(manifest: Mapping[str, Any]) -> list[str]:
    return [n for n in manifest["checksums"] if n.startswith(f"{format.TRIALS}/")]


def _raised(kind: str, message: str) -> Exception:
    exception_class = _KNOWN_PROBLEMS.get(kind) or type(kind, (Exception,), {})
    return exception_class(message)


def _typed(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}, got {value!r:.40}")
    return value
