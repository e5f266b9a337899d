"""Recording of a run. Conversations with servers are written while they happen. The evidence of trials is written when
the run is over."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from lro_conformance.capture.call import Call
from lro_conformance.capture.file import FileSeen
from lro_conformance.capture.start import Start
from lro_conformance.evidence import format
from lro_conformance.evidence.codec import Codec, answer
from lro_conformance.evidence.format import EvidenceError
from lro_conformance.evidence.store import Store, claim
from lro_spec.redaction import Masks

if TYPE_CHECKING:
    from lro_conformance.capture.run import CapturedRun
    from lro_conformance.judging.results import Report
    from lro_conformance.wire.reply import Reply
    from lro_conformance.wire.server import ServerProcess
    from lro_conformance.wire.transcript import Entry


_ID = re.compile(rb'\{"jsonrpc":"2\.0","id":(\d+),"method":')
"""The beginning of a request that the suite sends, with its id."""


@dataclass
class _Track:
    """One server whose conversation is recorded."""

    start: Start
    server: ServerProcess
    stream: IO[bytes]
    lines: int = 0
    """Number of lines in the transcript so far."""
    chatter: int = 0
    """Bytes of unsolicited lines so far, including those that were not recorded."""
    dropped: int = 0
    """Number of unsolicited lines that were not recorded, because the limit `format.CHATTER_BYTES` was exceeded."""
    answer_lines: dict[bytes, int] = field(default_factory=dict[bytes, int])
    """The answers in the transcript: line numbers by the checksum of the line."""


class Recorder:
    """Writes the evidence of one run into a folder. Its methods may be called from any thread.

    The methods raise no error if the folder can no longer be written. Instead, `problem` has the reason.
    """

    def __init__(self, folder: Path, masks: Masks) -> None:
        """Prepare the folder for new evidence. Raises `EvidenceError` if that is not possible."""
        claim(folder)
        self.problem: str | None = None
        self._store = Store(folder, masks)
        self._tracks: dict[int, _Track] = {}
        self._lock = threading.Lock()

    # during the run

    def follow(self, server: ServerProcess, start: Start) -> None:
        """Record the conversation with this server from now on."""

        def begin() -> None:
            folder = self._store.folder / start.folder
            folder.mkdir(parents=True)
            self._store.write_json(f"{start.folder}/{format.START}", self._start(start))
            stream = open(folder / format.TRANSCRIPT, "wb")  # noqa: SIM115 - open while the server runs
            track = _Track(start, server, stream)
            with self._lock:
                self._tracks[start.number] = track
            server.transcript.sink = lambda entry, chatter: self._unless_failed(
                lambda: self._write_entry(track, entry, chatter)
            )
            server.on_closed = lambda: self._unless_failed(lambda: self._end(track))

        self._unless_failed(begin)

    def _write_entry(self, track: _Track, entry: Entry, chatter: bool) -> None:
        if track.stream.closed:
            return
        if chatter:
            track.chatter += len(entry.line)
            if track.chatter > format.CHATTER_BYTES:
                track.dropped += 1
                return
        track.lines += 1
        if entry.direction == "out":
            request = _ID.match(entry.line)
            if request is not None:
                track.start.lines[int(request.group(1))] = track.lines
        elif entry.direction == "in" and not chatter:
            track.answer_lines.setdefault(hashlib.sha256(entry.line).digest(), track.lines)
        line: dict[str, Any] = {"at": round(entry.at, 6), "direction": entry.direction}
        line |= self._store.bytes(entry.line)
        if entry.problem is not None:
            line["problem"] = entry.problem
        if entry.cut:
            line["cut"] = entry.cut
        track.stream.write(self._store.line(line))

    def _end(self, track: _Track) -> None:
        track.stream.close()
        exit, folder = track.server.exit, track.start.output_dir
        how = None if exit is None else {"code": exit.code, "signal": exit.signal, "killed": exit.killed}
        recorded = {
            "exit": how if exit is None or how is None else how | {"seconds": round(exit.seconds, 3)},
            "stderr": self._store.bytes(track.server.stderr),
            "anomalies": [
                {"at": round(a.at, 6), "kind": a.kind, "detail": a.detail} for a in track.server.transcript.anomalies
            ],
            "chatter_not_kept": track.dropped,
            "output_dir": None if folder is None else _listing(folder),
        }
        self._store.write_json(f"{track.start.folder}/{format.END}", recorded)

    def _start(self, start: Start) -> Any:
        recorded = Codec({}, store=self._store.bytes).encode(start)
        recorded["env"] = self._store.environment(start.env)
        return recorded

    # when the run is over

    def finish(self, run: CapturedRun, report: Report) -> None:
        """Write everything that is only known at the end of the run. This completes the evidence."""
        self._unless_failed(lambda: self._finish(run, report))

    def _finish(self, run: CapturedRun, report: Report) -> None:
        for track in self._tracks.values():
            if not track.stream.closed:
                self._end(track)
        numbers: dict[int, int] = {}
        calls: list[Any] = []

        def call_number(call: Call) -> int:
            number = numbers.get(id(call))
            if number is None:
                number = numbers[id(call)] = len(calls) + 1
                calls.append(None)
                calls[number - 1] = self._call(number, call, codec)
            return number

        special: dict[type, Callable[[Any], Any]] = {Call: call_number, FileSeen: self._file, Start: _number}
        codec = Codec(special, store=self._store.bytes)
        (self._store.folder / format.TRIALS).mkdir(exist_ok=True)
        for name, evidence in run.trials.items():
            recorded = _problem(evidence) if isinstance(evidence, BaseException) else {"found": codec.encode(evidence)}
            self._store.write_json(f"{format.TRIALS}/{name}.json", recorded)
        self._store.write_lines(format.CALLS, calls)
        self._store.write_json(format.REPORT, report.to_dict(), indent=2)
        self._store.write_json(format.MANIFEST, self._manifest(run, report, codec))

    def _call(self, number: int, call: Call, codec: Codec) -> dict[str, Any]:
        request_fields = ("operation", "tool", "arguments", "detail", "limit", "query", "before", "started", "ended")
        context_fields = ("utc_offset_s", "file", "real_output_dir", "inline_path")
        recorded = {name: codec.encode(getattr(call, name)) for name in (*request_fields, *context_fields)}
        return {"number": number, "server": call.start.number, **recorded, "reply": self._reply(call, codec)}

    def _reply(self, call: Call, codec: Codec) -> dict[str, Any]:
        reply: Reply = call.reply
        track = self._tracks[call.start.number]
        answer_line = None if reply.raw is None else track.answer_lines.get(hashlib.sha256(reply.raw).digest())
        if reply.raw is not None and answer_line is None:
            raise EvidenceError(f"the answer to request {reply.id} of {track.start.folder} is not in its transcript")
        recorded: dict[str, Any] = {
            "id": reply.id,
            "request": track.start.lines.get(reply.id),
            "response": answer_line,
            "sent_at": reply.sent_at,
            "elapsed_s": reply.elapsed_s,
            "problems": codec.encode(reply.problems),
            "failure": codec.encode(reply.failure),
        }
        if reply.raw is not None and answer(reply.raw, reply.id) != (reply.result, reply.error):
            recorded |= {"result": reply.result, "error": reply.error}
        return recorded

    def _file(self, file: FileSeen) -> dict[str, Any]:
        recorded: dict[str, Any] = {
            "path": file.path,
            "problem": file.problem,
            "mode": file.mode,
            "mtime": file.mtime,
            "real": file.real_path,
            "lately": file.may_be_written_by_call,
        }
        return recorded if file.problem is not None else recorded | {"data": self._store.contents(file.data)}

    def _manifest(self, run: CapturedRun, report: Report, codec: Codec) -> dict[str, Any]:
        profile = codec.encode(run.profile)
        profile["server"]["env"] = self._store.environment(run.profile.server.env)
        return {
            "format": format.FORMAT,
            "complete": True,
            "suite": {"name": "lro-spec", "version": report.suite_version},
            "machine": machine(),
            "edition": report.edition,
            "claimed": report.claimed,
            "seed": report.seed,
            "examples": run.examples,
            "only": None if run.only is None else sorted(run.only),
            "started_at": report.started_at,
            "duration_s": report.duration_s,
            "server_starts": report.starts,
            "server": {n: getattr(report.server, n) for n in ("name", "version", "protocol")},
            "timeline": codec.encode(report.timeline),
            "trouble": run.trouble,
            "incomplete": run.incomplete,
            "shortage": run.shortage,
            "masked": self._store.redacted,
            "profile": profile,
            "checksums": _checksums(self._store.folder),
        }

    def _unless_failed(self, act: Callable[[], None]) -> None:
        """Call *act*, unless there was a problem before.

        After the first problem, nothing more is recorded, and the evidence remains incomplete.
        """
        if self.problem is not None:
            return
        try:
            act()
        except OSError as problem:
            self.problem = f"{self._store.folder}: {problem.strerror or problem}; the evidence is incomplete"
        except EvidenceError as problem:
            self.problem = f"{problem}; the evidence is incomplete"


def _number(start: Start) -> int:
    return start.number


def _problem(problem: BaseException) -> dict[str, Any]:
    recorded: dict[str, Any] = {"raised": type(problem).__name__, "message": str(problem)}
    start = getattr(problem, "start", None)
    return recorded if start is None else recorded | {"start": _number(start)}


def _listing(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of an output folder after its server has exited. Returns no entries if it is not a folder."""
    entries: list[dict[str, Any]] = []
    with suppress(OSError):
        for entry in sorted(os.scandir(folder), key=lambda e: e.name):
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                entries.append(
                    {
                        "name": entry.name,
                        "bytes": status.st_size,
                        "mode": f"{status.st_mode:o}",
                        "mtime": status.st_mtime,
                    }
                )
    return entries


def _checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file, except for the manifest and for the files that are named by their checksum."""
    checksums: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name != format.MANIFEST and not name.startswith(f"{format.FILES}/"):
            with open(path, "rb") as stream:
                checksums[name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return checksums


def machine() -> dict[str, str | None]:
    """Return the versions of the system and of the libraries in the run."""
    jq = shutil.which("jq")
    output = None
    if jq is not None:
        with suppress(OSError, subprocess.SubprocessError):
            output = subprocess.run([jq, "--version"], capture_output=True, text=True, timeout=5, check=False).stdout
    versions: dict[str, str | None] = {"system": platform.platform(), "python": platform.python_version()}
    versions["jq"] = output.strip() if output else None
    for package in ("jq", "hypothesis", "orjson", "jsonschema"):
        try:
            versions["libjq" if package == "jq" else package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return versions
