"""Bash scripts that reproduce a finding. A script starts the same server in the same way, and sends it the same
JSON-RPC lines.

Text that was chosen by the server, such as the names of its tools and files, is always quoted in a script. A recipe of
a descriptor is never part of a script, because users paste scripts into their shells.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from pathlib import Path
from shlex import quote
from typing import Any, cast

from lro_conformance.capture.call import Call, CallAfterOthers, CallInContext, CallSubject, ComparedCall
from lro_conformance.capture.corpus import SETS, store_request
from lro_conformance.capture.file import FileSeen
from lro_conformance.capture.intervention import BREAKING, CLEANED_UP, FROM_START, MENDED, PARENT_REPLACED, Intervention
from lro_conformance.capture.start import HANDSHAKE, Entry, Start
from lro_conformance.judging.subjects import Mark, MarkedSubject, evidence_of, location_of, place_of, reproducer_of
from lro_conformance.profile import fill
from lro_conformance.wire.reply import Reply
from lro_spec.redaction import is_secret

MAX_BYTES = 32 << 10
"""Largest total size, in bytes, of the requests that a script contains. If the requests that store the suite's memories
are larger in total, they are replaced by commands that print them (`_generator`). If the other calls of a process are
larger in total, the longest of them are left out."""

RESTART = "restart"
"""An item of a script (`Item`). At this item, the server is ended and started again."""

_REMOVAL = '\nrm -rf "${d:?}"'
"""The end of a script, which removes the private folder of the process."""

SHOWN_LINES, SHOWN_CHARACTERS = 2, 200
"""A script shows the beginning of each file: this number of lines, and this number of characters of each line."""

_LIMIT_FILE_SIZE = 'prlimit --pid "$(cat "$d/pid")" --fsize='
"""The beginning of a command that limits the size of the files that a running server may write. The number of bytes has
to be appended."""

MAX_LATER_CALLS = 12
"""Largest number of later calls that the script of a call makes, too. They may have been in flight together with the
call."""

MAX_RESTARTS = 3
"""Largest number of restarts in a script that restarts the server to trigger cleanup."""

PATIENCE_S = 3
"""A script keeps stdin open for a time after the last request, because a server may exit when stdin closes. This time
is three times the recorded response time, plus this number of seconds."""


@dataclass(frozen=True, slots=True)
class Generated:
    """Requests that store memories of the suite, as one item of a script."""

    command: str
    """Shell command that prints the requests."""
    ids: range
    """The ids of the requests."""

    def __len__(self) -> int:
        """The length of the command, which counts towards `MAX_BYTES` like the length of a line."""
        return len(self.command)


Item = bytes | str | Generated
"""An item of a script: a line to send, a shell command to run at that point, or requests that are printed by a
command."""


def of_call(call: Call, *, items_before_call: Sequence[Item] = ()) -> str:
    """The script for a call. The items in *items_before_call* are inserted just before the call."""
    items = [*_with_data(call.start, call.before), *items_before_call, call.reply.request]
    return script(call.start, items, wait_s=patience(call), after=_outcome(call))


def of_call_in_context(call: Call, *, max_later: int = MAX_LATER_CALLS) -> str:
    """The script for a call, all earlier calls of its process, and the calls right after it.

    The calls after it may have been in flight at the same time; there are at most *max_later* of them. If the script
    would be too long (`MAX_BYTES`), the longest of the other calls are left out.
    """
    sent = list(call.start.sent())
    position = next((n for n, line in enumerate(sent, 1) if _id(line) == call.reply.id), len(sent))
    later = takewhile(_is_call, sent[position : position + max_later])
    others = [line for line in (*sent[:position], *later) if _is_call(line) and _id(line) not in call.before]
    removable = sorted((line for line in reversed(others) if _id(line) != call.reply.id), key=len)
    while removable and sum(map(len, others)) > MAX_BYTES:
        others.remove(removable.pop())
    items = [*_with_data(call.start, call.before), *others]
    return script(call.start, items, wait_s=2 * patience(call), after=_outcome(call))


def of_steps(call: Call, steps: Sequence[Call | Intervention], *last: Intervention) -> str:
    """The script for a call, with the earlier *steps* of its sequence before it and the *last* interventions after it.

    If the sequence had several server processes, the script starts the same number of processes, one after another.
    They share one folder.
    """
    previous = next(step for step in (*steps, call) if not isinstance(step, Intervention))
    items = _with_data(previous.start, previous.before)
    is_in_the_way = any(isinstance(step, Intervention) and step.kind == FROM_START for step in steps)
    setup = _in_the_way(previous.start) if is_in_the_way else None
    pause_s, broken = patience(previous), ""
    for step in (*steps, call, *last):
        if isinstance(step, Intervention):
            items += _intervention(previous, step, pause_s, broken)
            broken = step.kind if step.kind in BREAKING else broken
            continue
        if previous.start is not step.start:
            items += [RESTART, *requests_before(step.start, step.before)]
        else:
            opening = len(requests_before(step.start, ()))
            if previous.ended < step.started:  # A server may answer several requests at a time.
                items.append(f"sleep {3 * previous.reply.elapsed_s + 0.1:.1f}")
            stored = requests_before(step.start, [id for id in step.before if id not in previous.before])[opening:]
            items += [*stored, "sleep 0.5"] if stored else []
        items.append(step.reply.request)
        previous, pause_s = step, max(1, patience(step) - PATIENCE_S + 1)
    return script(call.start, items, wait_s=patience(call), setup=setup, after=_outcome(call, lists=True))


def of_expiry_between(first: Call, later: Call, trigger: int | None) -> str:
    """The script for a *later* call whose file is deleted too early: when the file of the *first* call expires.

    *trigger* is the id of the request that triggers cleanup at that time; None if no request triggers it.
    """
    start, apart_s = first.start, later.started - first.started
    ttl_s = float(str(start.settings.get("ttl_seconds") or apart_s))
    cleaning = [line for line in start.sent() if trigger is not None and _id(line) == trigger]
    items = [*_with_data(start, first.before), first.reply.request, f"sleep {apart_s:.2f}", later.reply.request]
    items += [f"sleep {max(0.0, ttl_s - apart_s) + 0.15:.2f}", *cleaning[:1]]
    return script(start, items, wait_s=1, after=_outcome(later, lists=True))


def _in_the_way(start: Start) -> str:
    """Shell commands that create a regular file at the path of the output folder."""
    parent = shell_word(start, str(start.output_dir.parent)) if start.output_dir is not None else ""
    return f"mkdir -p {parent}; printf 'in the way\\n' > {shell_word(start, str(start.output_dir))}"


def of_series(call: Call, calls: int) -> str:
    """The script that repeats a call until it was made *calls* times, and then shows the number of files."""
    start = call.start
    items = [*_with_data(start, call.before), _repeated(call.reply.request, call.reply.id, calls)]
    folder = shell_word(start, str(start.output_dir or start.temp))
    return script(start, items, wait_s=patience(call) + calls // 50, after=f"ls {folder} | wc -l")


def _repeated(request: bytes, id: int, times: int) -> str:
    """Shell command that prints a request this number of *times*. Each of the printed requests has a different id."""
    replacements = " ".join(f"l=${{l/{quote(spelling)}/'\"id\":\"again-'$n'\"'}};" for spelling in _spellings_of_id(id))
    text = quote(request.decode("utf-8", "replace"))
    return f"for n in {{1..{times}}}; do l={text}; {replacements} printf '%s\\n' \"$l\"; done"


def with_id(request: bytes, id: int, other: str) -> bytes:
    """A request with another id."""
    for spelling in _spellings_of_id(id):
        request = request.replace(spelling.encode(), f'"id":"{other}"'.encode(), 1)
    return request


def _spellings_of_id(id: int) -> tuple[str, str]:
    return f'"id": {id}', f'"id":{id}'


def _intervention(previous_call: Call, intervention: Intervention, pause_s: int, broken: str) -> list[bytes | str]:
    """Shell commands for an intervention, *pause_s* seconds after the *previous_call*. If a request triggered a
    cleanup, that request is the last item.

    *broken* is the kind of the latest intervention that made the folder unusable. `MENDED` has to undo it.
    """
    start = previous_call.start
    if start.output_dir is None:
        return []
    folder, parent = (shell_word(start, str(path)) for path in (start.output_dir, start.output_dir.parent))
    if intervention.kind == MENDED:
        outer = f"rm -f {parent}; " if broken == PARENT_REPLACED else ""
        return [f"sleep {pause_s}; {outer}rm -rf {folder}; mkdir -p {folder}"]
    if intervention.largest is not None:
        return [f"sleep {pause_s}; {_LIMIT_FILE_SIZE}{intervention.largest}"]
    if intervention.kind in BREAKING:
        return [f"sleep {pause_s}; {BREAKING[intervention.kind].format(folder=folder, parent=parent)}"]
    if intervention.kind != CLEANED_UP:
        return []
    request = next(
        (line for line in start.sent() if intervention.request is not None and _id(line) == intervention.request), None
    )
    planted = _planted(folder, _prefix(previous_call), [(age, intervention.operation) for age in intervention.ages])
    return [f"sleep {pause_s}", *planted, *([] if request is None else [request])]


def _outcome(call: Call, *, lists: bool = False) -> str:
    """Shell command that shows the outcome of a call.

    If the server did not answer, the command shows its exit code. Otherwise, it shows the files in the folder of the
    call's file, and the beginning of each file.

    If the call named no file, the command is empty. With *lists*, it then lists the folder, because files may be left
    there. If the folder is unknown, the command is that of `_removal`.
    """
    if call.reply.raw is None:
        return 'echo "exit code ${PIPESTATUS[1]}"'
    path = _folder_of_file(call)
    if path is None:
        return _removal(call)
    folder = shell_word(call.start, str(path))
    if call.file is None:
        return f"ls -lA {folder}" if lists else ""
    shown = f"ls -lA && head -n {SHOWN_LINES} ./* && wc -l ./*"
    return f"(cd {folder} && {shown}) | cut -c 1-{SHOWN_CHARACTERS} | sed 's/^/  /'"


def _folder_of_file(call: Call) -> Path | None:
    """The folder to which the server writes a call's file; None if it is unknown."""
    start, folder = call.start, call.start.output_dir
    if folder is None and call.file is not None and Path(call.file.path).is_relative_to(start.temp):
        folder = start.temp  # This is the usual place if no folder was set.
    return folder


def with_marked_line(text: str, call: Call, mark: Mark | None) -> str:
    """The script *text* of a call, extended by a command that shows the marked part of the call's file. If the script
    shows that part anyway, it is returned unchanged."""
    if not text or mark is None or mark.number is None or call.file is None:
        return text
    folder, line = _folder_of_file(call), next((line for line in call.file.lines if line.number == mark.number), None)
    if folder is None or line is None:
        return text
    offset = len(line.raw.decode("utf-8", "replace")[: mark.index].encode())
    if line.number <= SHOWN_LINES and offset < SHOWN_CHARACTERS:
        return text
    first = max(0, offset - SHOWN_CHARACTERS // 2) + 1
    part = f"awk 'FNR == {line.number}' ./* | cut -b {first}-{first + SHOWN_CHARACTERS - 1} | sed 's/^/  /'"
    shown = f"echo '  line {line.number} from byte {first} on:'; (cd {shell_word(call.start, str(folder))} && {part})"
    before, removal, after = text.rpartition(_REMOVAL)
    return f"{before}\n{shown}{removal}{after}"


def _removal(call: Call) -> str:
    """Shell command for a server without a configured output folder. It deletes the files that the server wrote to its
    working directory, and prints their paths. Empty if the call's file is not in the working directory."""
    start, path = call.start, call.file.path if call.file is not None else ""
    if not path or os.path.dirname(os.path.join(start.cwd, path)) != str(start.cwd):
        return ""
    prefix = re.sub(r"[*?\[\\]", r"\\\g<0>", os.path.basename(path).partition("-")[0])  # escape wildcards
    pattern = quote(f"{prefix}-*.jsonl")
    return f'find {shell_word(start, str(start.cwd))} -maxdepth 1 -name {pattern} -newer "$d" -print -delete'


def patience(call: Call) -> int:
    """Seconds after which a script no longer waits for the response to a call."""
    return PATIENCE_S + math.ceil(3 * call.reply.elapsed_s)


def requests_before(start: Start, ids: Iterable[int]) -> list[Item]:
    """The handshake, followed by the requests with these ids in the same order. If these requests are long, those that
    store the suite's memories are replaced by commands (`_with_generators`)."""
    sent = list(start.sent())
    kept = {id: line for line in sent if (id := _id(line)) is not None}
    opening = [line for line in sent if _method(line) in HANDSHAKE]
    return [*opening, *_with_generators(start, [kept[id] for id in ids if id in kept])]


def _with_data(start: Start, ids: Sequence[int]) -> list[Item]:
    """Like `requests_before`. If the suite's memories were stored only in an earlier process, before a restart, the
    items first start a process that stores them.

    A server may answer several requests at a time. So the last item waits until the memories are stored.
    """
    earlier: list[Item] = []
    if start.seeded is not None and len(ids) < len(start.seeded[1]):
        earlier = [*requests_before(*start.seeded), RESTART]
    return [*earlier, *requests_before(start, ids), *([f"sleep {1 + len(ids) // 25}"] if ids else [])]


def script(
    start: Start,
    items: Sequence[Item],
    *,
    wait_s: int = PATIENCE_S,
    setup: str | None = None,
    after: str = "",
) -> str:
    """The complete script.

    *setup* is a command that creates the output folder; by default, the folder is created with the entries that the
    suite had put there before the start. *after* is a command to run when the server has ended. Then the private folder
    is removed.

    The responses to requests that store memories are shown only if they are errors.
    """
    folders = [start.temp, *([_server_workdir(start)] if _uses_server_workdir(start) else [])]
    setup_commands = [f"mkdir -p {' '.join(shell_word(start, str(f)) for f in folders)}"]
    if start.output_dir is not None:
        setup_commands.append(f"mkdir -p {shell_word(start, str(start.output_dir))}" if setup is None else setup)
        setup_commands += _planting(start, start.output_dir, start.planted) if setup is None else ()
    for path, text in start.files.items():
        setup_commands.append(
            f"mkdir -p {shell_word(start, os.path.dirname(path))}; "
            f"printf %s {shell_word(start, text)} > {shell_word(start, path)}"
        )
    environment = [f"-u {quote(name)}" for name in start.unset]
    environment += [f"{quote(n)}={_value(start, n, v)}" for n, v in start.env.items()]
    enter_folder = f"cd {shell_word(start, str(start.cwd))}"
    if start.seed_file is not None:
        setup_commands.append(f"{_generator(start, 'corpus')} > {shell_word(start, str(start.seed_file))}")
    if start.seed_command:
        words = " ".join(shell_word(start, w) for w in start.seed_command)
        setup_commands.append(f"({enter_folder} && env {' '.join(environment)} {words})")
    command = f"env {' '.join(environment)} {' '.join(shell_word(start, w) for w in start.argv)}"
    if any(isinstance(item, str) and _LIMIT_FILE_SIZE in item for item in items):
        # The signal is ignored. So a write beyond the limit fails, and does not end the server.
        command = f"trap '' XFSZ && echo $BASHPID > \"$d/pid\" && exec {command}"
    sending_commands: list[str] = []
    storing_ids: list[int] = []
    for item in (*items, RESTART):
        if isinstance(item, Generated):
            sending_commands.append(f"  {item.command}")
            storing_ids += item.ids
        elif item == RESTART:
            sending_commands.append(
                f"  sleep {wait_s}\n}} | ({enter_folder} && {command}){_without_answers(storing_ids)}\n{{"
            )
            storing_ids = []
        elif isinstance(item, str):
            sending_commands.append(f"  {item}")
        else:
            storing_ids += _storing_ids(start, item)
            line = quote(item.decode("utf-8", "replace"))
            if sending_commands and sending_commands[-1].startswith("  printf '%s\\n'"):
                sending_commands[-1] += f" \\\n    {line}"
            else:
                sending_commands.append(f"  printf '%s\\n' {line}")
    sending_commands[-1] = sending_commands[-1].removesuffix("\n{")
    lines = [
        'd=$(mktemp -d) && d=$(cd "$d" && pwd -P)',
        *setup_commands,
        "{",
        *sending_commands,
    ]
    return "\n".join([*lines, *([after] if after else [])]) + _REMOVAL


def _storing_ids(start: Start, line: bytes) -> list[int]:
    """A list that contains the id of a request if the request stores a memory; otherwise an empty list."""
    message = _message(line) if start.seed is not None and start.seed[0].encode() in line else {}
    tool = message["params"]["name"] if message.get("method") == "tools/call" else None
    return [message["id"]] if start.seed is not None and tool == start.seed[0] else []


def _without_answers(ids: Sequence[int]) -> str:
    """The end of a pipe, which removes the responses to the requests with these ids from the output, except errors."""
    if not ids:
        return ""
    runs = [[id for _, id in run] for _, run in groupby(enumerate(ids), lambda pair: pair[1] - pair[0])]
    pattern = "|".join(f"$(seq -s '|' {run[0]} {run[-1]})" if len(run) > 2 else "|".join(map(str, run)) for run in runs)
    first = f"""/^\\{{("jsonrpc": ?"2.0", ?)?"id": ?('"{pattern}"'),/"""
    last = f"""/, ?"id": ?('"{pattern}"')(, ?"jsonrpc": ?"2.0")?\\}}$/"""
    unless_error = """{/"isError": ?true|"error": ?\\{/!d;}"""
    return f" |\n  sed -E -e '{first}{unless_error}' \\\n    -e '{last}{unless_error}'"


def _planting(start: Start, folder: Path, planted: Sequence[Entry]) -> Iterator[str]:
    """Commands that create these entries of the output folder, with the same times of modification."""

    def places(entries: Iterable[Entry]) -> str:
        return " ".join(shell_word(start, str(folder / e.path)) for e in entries)

    files: dict[str, list[Entry]] = {}
    for entry in planted:
        if entry.target is not None:
            yield f"ln -s -- {shell_word(start, entry.target)} {places([entry])}"
        elif entry.text is None:
            yield f"mkdir -p {places([entry])}"
        else:
            files.setdefault(entry.text, []).append(entry)
    for text, entries in files.items():
        yield f"printf %s {quote(text)} | tee {places(entries)} > /dev/null"
    ages: dict[int, list[Entry]] = {}
    for entry in reversed(planted):  # folders last
        ages.setdefault(entry.modified, []).append(entry)
    for modified, entries in ages.items():
        yield f"touch -h -d @{modified} {places(entries)}"


def shell_word(start: Start, text: str) -> str:
    """A text as a single word for the shell. In it, the path of the private folder of the process is replaced by
    ``$d``."""
    parts = text.split(str(start.workdir))
    return '"$d"'.join(quote(p) if p else "" for p in parts) or "''"


def _value(start: Start, name: str, value: str) -> str:
    return f'"${name}"' if is_secret(name, value) and name.isidentifier() else shell_word(start, value)


def _with_generators(start: Start, requests: Sequence[bytes]) -> list[Item]:
    """The requests. If they have more than `MAX_BYTES` in total, the requests that store a set of the suite's memories
    are replaced by commands that print them."""
    if sum(map(len, requests)) <= MAX_BYTES or start.seed is None:
        return list(requests)
    items: list[Item] = []
    position = 0
    while position < len(requests):
        generated = _generated(start, start.seed, requests[position:])
        items.append(generated or requests[position])
        position += 1 if generated is None else len(generated.ids)
    return items


def _generated(start: Start, seed: tuple[str, str], requests: Sequence[bytes]) -> Generated | None:
    """The requests at the beginning of the list that store the first memories of a set (`SETS`), as one item. None if
    there are fewer than two such requests."""
    first = _message(requests[0])
    if first.get("method") != "tools/call":
        return None
    tool, template, id, meta = seed[0], json.loads(seed[1]), first["id"], first["params"].get("_meta")
    for name, memories in SETS.items():
        expected = (store_request(memory, tool, template, n, meta) for n, memory in enumerate(memories(), id))
        count = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(expected, requests, strict=False)))
        if count > 1:
            envelope = () if meta is None else (json.dumps(meta, separators=(",", ":")),)
            command = _generator(start, name, tool, seed[1], str(id), str(count), *envelope)
            return Generated(command, range(id, id + count))
    return None


def _generator(start: Start, *arguments: str) -> str:
    """Shell command that prints memories of the suite, or requests that store them."""
    return " ".join(map(quote, (start.python, "-P", "-m", "lro_conformance.capture", *arguments)))


def _server_workdir(start: Start) -> Path:
    """The directory that replaces ``{workdir}`` in the profile."""
    return Path(fill("{workdir}", workdir=start.workdir))


def _uses_server_workdir(start: Start) -> bool:
    path = str(_server_workdir(start))
    return any(path in text for text in (*start.argv, *start.env.values(), *start.seed_command, str(start.cwd)))


def _message(line: bytes) -> dict[str, Any]:
    try:
        value: Any = json.loads(line)
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _id(line: bytes) -> int | None:
    message = _message(line)
    return message.get("id") if "method" in message else None


def _is_call(line: bytes) -> bool:
    return _method(line) == "tools/call"


def _method(line: bytes) -> str | None:
    return _message(line).get("method")


# Cleanup. The suite "plants" files that look like old files of an earlier process. It also adds "decoys": files that a
# cleanup must not delete, although their name or age may suggest it.

_PLANT = """\
plant() {  # AGE_S OPERATION [-m]: a copy of the newest file, back-dated in name, header and time
  local prefix=PREFIX a=0123456789ABCDEFGHJKMNPQRSTVWXYZ t=$((($(date +%s) - $1) * 1000)) u= p
  for _ in {1..10}; do u=${a:t%32:1}$u; t=$((t / 32)); done
  p=FOLDER/$prefix-$2-${u}0123456789ABC$((100 + n++)).jsonl
  sed "1s/\\(\\"timestamp\\": *\\"\\)[^\\"]*/\\1$(date -u -d "$1 seconds ago" +%FT%TZ)/" "$f" > "$p"
  touch $3 -d "@$(($(stat -c %Y "$f") - $1))" "$p"
}"""


def of_cleaning(
    call: Call,
    trigger: int | None,
    *,
    calls: Sequence[Call] = (),
    runs: int = 1,
    planted: Iterable[tuple[int, str]] = (),
    read: Iterable[tuple[int, str]] = (),
    decoys: Iterable[tuple[Path, str]] = (),
    entries: Sequence[Entry] = (),
    pause_s: int = 1,
) -> str:
    """The script for a cleanup of an output folder. At its end, it lists the entries that are left in the folder.

    Before the cleanup, the folder has the server's file of *call*, and copies of this file. The copies are described by
    *planted*: the age of each copy in seconds, and the operation in its name. *read* has the same for further copies,
    which have just been read. There are also *decoys*, with the path and the kind of each, and other *entries*. If
    *calls* has calls of the same process, they are made in place of *call*.

    *trigger* is the id of the request that triggered cleanup. It is None if no request did; then restarts trigger
    cleanup. Cleanup is triggered *runs* times. If restarts trigger it, that is limited to `MAX_RESTARTS` times.
    """
    start = call.start
    folder = shell_word(start, str(start.output_dir or start.temp))
    steps = [f"sleep {max(pause_s, patience(call) - 1)}", *_planted(folder, _prefix(call), planted, read)]
    for path, kind in decoys:
        steps += _decoy(start, path, kind)
    if entries and start.output_dir is not None:
        steps += _planting(start, start.output_dir, entries)
    request = next((line for line in start.sent() if trigger is not None and _id(line) == trigger), None)
    # Without a request, a restart is the most frequent trigger.
    cleaning = [RESTART, *requests_before(start, ())] * min(runs, MAX_RESTARTS)
    if request is not None and trigger is not None:
        cleaning = [request] if runs == 1 else [_repeated(request, trigger, runs)]
    requests = [each.reply.request for each in calls if each.start is start] or [call.reply.request]
    before = f"{{ echo before cleanup:; ls -l {folder}; }} >&2"
    items = [*_with_data(start, call.before), *requests, *steps, before, *cleaning]
    return script(start, items, after=f"echo after cleanup:; ls -l {folder}")


def _prefix(call: Call) -> str:
    """The first part of the name of a call's file."""
    return os.path.basename(call.file.path).partition("-")[0] if call.file is not None else "atlatl"


def _planted(
    folder: str, prefix: str, planted: Iterable[tuple[int, str]], read: Iterable[tuple[int, str]] = ()
) -> list[str]:
    """Commands that add copies of the newest file of a folder, with these ages and operations. The time of last access
    of the copies in *read* is the present."""
    planting = [f"plant {age} {quote(operation)}" for age, operation in planted]
    planting += [f"plant {age} {quote(operation)} -m" for age, operation in read]
    plant = _PLANT.replace("\n", "\n  ").replace("FOLDER", folder).replace("PREFIX", quote(prefix))
    return [f"f=$(ls -t {folder}/*.jsonl | head -n 1)", *([plant] if planting else []), *planting]


def _decoy(start: Start, path: Path, kind: str) -> list[str]:
    place = shell_word(start, str(path))
    commands = [f"mkdir -p {shell_word(start, str(path.parent))}; cp \"$f\" {place}; touch -d '40 days ago' {place}"]
    if kind in ("folder", "subfolder"):
        commands += [f"touch -d '40 days ago' {shell_word(start, str(path.parent))}"]
    if kind == "symlink" and start.output_dir is not None:
        links = {path.name: path, "shortcut": path.parent}
        commands += [
            f"ln -sfn {shell_word(start, str(p))} {shell_word(start, str(start.output_dir / n))}"
            for n, p in links.items()
        ]
    return commands


def of_cleaning_at_start(start: Start) -> str:
    """The script for a cleanup at the *start* of a process. The folder has the entries that it had then. At its end,
    the script lists the entries that are left."""
    return script(
        start, requests_before(start, ()), after=f"ls -l {shell_word(start, str(start.output_dir or start.temp))}"
    )


@dataclass(frozen=True, slots=True)
class Conversation:
    """The complete conversation with one server process. It is the subject of a failure that is not caused by a single
    call."""

    start: Start


# How calls, files and other captured evidence are shown in reports


@evidence_of.register
def _(file: FileSeen) -> str:
    return f"file {file.path}"


@evidence_of.register
def _(call: Call) -> str:
    settings = " ".join(f"{k}={v}" for k, v in call.settings.items()) or "none (defaults)"
    lines = [
        f"settings: {settings}",
        f"command: {' '.join(call.command)}",
        f"→ {call.reply.request.decode('utf-8', 'replace').strip() or call.label}",
        f"← {_answer(call.reply)}",
    ]
    if call.file is not None:
        lines.append(f"file: {call.file.path}")
        if call.file.data:
            lines.append(f"line 1: {_beginning(call.file.data)}")
    return "\n".join(lines)


@reproducer_of.register
def _(call: Call) -> str:
    return of_call(call)


@location_of.register
def _(call: Call) -> str:
    line = call.start.lines.get(call.reply.id)
    return "" if line is None else f"{call.start.folder}/transcript.jsonl:{line}"


@evidence_of.register
def _(record: CallSubject) -> str:
    return evidence_of(record.call)


@reproducer_of.register
def _(record: CallSubject) -> str:
    return reproducer_of(record.call)


@location_of.register
def _(record: CallSubject) -> str:
    return location_of(record.call)


@evidence_of.register
def _(compared: ComparedCall) -> str:
    return f"{evidence_of(compared.call)}\n{compared.setting}:\n{evidence_of(compared.other)}"


@reproducer_of.register
def _(compared: ComparedCall) -> str:
    between = f"echo; echo {quote(f'{compared.setting}:')}"
    return "\n".join((reproducer_of(compared.call), between, reproducer_of(compared.other)))


@reproducer_of.register
def _(after: CallAfterOthers) -> str:
    call, earlier = after.call, after.earlier
    if not reproducer_of(call):
        return ""
    if earlier is None:
        return of_call_in_context(call, max_later=0)
    return of_call(call, items_before_call=[one.reply.request for one in earlier if one.start is call.start])


@evidence_of.register
def _(among: CallInContext) -> str:
    return evidence_of(among.call if among.subject is None else among.subject)


@reproducer_of.register
def _(among: CallInContext) -> str:
    text, subject = of_call_in_context(among.call), among.subject
    return with_marked_line(text, among.call, subject.mark) if isinstance(subject, MarkedSubject) else text


@reproducer_of.register
def _(marked: MarkedSubject) -> str:
    text, subject = reproducer_of(marked.subject), marked.subject
    call = subject.call if isinstance(subject, CallSubject) else subject
    return with_marked_line(text, call, marked.mark) if isinstance(call, Call) else text


@place_of.register
def _(among: CallInContext) -> str:
    return place_of(among.subject)


@evidence_of.register
def _(conversation: Conversation) -> str:
    return f"command: {' '.join(conversation.start.argv)}"


@reproducer_of.register
def _(conversation: Conversation) -> str:
    sent = _with_generators(conversation.start, list(conversation.start.sent()))
    while sum(map(len, sent)) > MAX_BYTES:
        sent.remove(max(sent, key=len))
    return script(conversation.start, sent)


@location_of.register
def _(conversation: Conversation) -> str:
    return f"{conversation.start.folder}/transcript.jsonl:1" if conversation.start.lines else ""


def _beginning(data: bytes) -> str:
    first = data.partition(b"\n")[0]
    return first[:400].decode("utf-8", "replace").strip() + ("" if len(first) <= 400 else f" … ({len(first)} bytes)")


def _answer(reply: Reply) -> str:
    if reply.raw is None:
        failure = reply.failure
        return f"(no answer: {failure.kind}: {failure.detail})" if failure is not None else "(no answer)"
    text = reply.raw[:2000].decode("utf-8", "replace").strip()
    return text if len(reply.raw) <= 2000 else text + f" … ({len(reply.raw)} bytes)"
