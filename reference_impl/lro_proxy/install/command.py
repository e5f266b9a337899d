"""``lro proxy --install CLIENT``: edits a client's configuration, keeps a copy, and can undo the edits."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from lro_proxy.install import FLAG
from lro_proxy.install.clients import Client, clients
from lro_proxy.install.document import Document
from lro_proxy.install.edits import Edit, Edited, add, is_proxy, undo, wrap
from lro_proxy.options import load
from lro_reference.settings import SettingsError

_COPY_SUFFIX = ".before-lro"
_LAUNCHERS = frozenset(("npx", "uvx", "pipx", "bunx", "uv", "python", "python3", "node", "docker"))


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Edit the configuration; returns the exit code (1: not every edit could be undone).

    Raises `SettingsError` if the configuration cannot be edited, and `SystemExit` where argparse does.
    """
    words = list(argv)
    command = words[words.index("--") + 1 :] if "--" in words else []
    flags, options = _parser().parse_known_args(words[: words.index("--")] if "--" in words else words)
    client = clients(environ)[flags.install]
    path = os.path.realpath(flags.file or client.path())
    try:
        if flags.undo:
            return _undo(client, path, flags.install, environ)
        return _install(client, path, flags, options, command, environ)
    except SettingsError:
        raise
    except OSError as problem:
        raise SettingsError(f"{problem.filename or path}: {problem.strerror}") from None
    except ValueError as problem:
        raise SettingsError(f"{path} is left as it is: {problem}") from None


def _install(
    client: Client, path: str, flags: Any, options: Sequence[str], command: Sequence[str], environ: Mapping[str, str]
) -> int:
    old_text = _read(path)
    document = client.document_class(old_text or "", client.section)
    options = options or client.options
    load([*options, "--", "server"], environ)  # only to check the options
    proxy = [*_proxy_command(), *options, "--"]
    if command and is_proxy([*command, "--"]):
        raise SettingsError("give the server's own command after --, without lro proxy")
    unknown = [name for name in flags.server if not command and name not in document.servers]
    if unknown:
        server_names = ", ".join(document.servers) or "none"
        raise SettingsError(f"{path} has no server {unknown[0]!r} (its servers: {server_names})")
    edited = (
        _add_or_wrap(client, document, flags.server, proxy, command) if command else wrap(document, flags.server, proxy)
    )
    if not edited.outcomes:
        raise SettingsError(f"{path} has no servers: give a server's command after --")
    if edited.edits:
        _record_edits(path, old_text, edited.edits, environ)
        _write(path, edited.text)
    _print_outcomes(path, edited, f"copy: {path}{_COPY_SUFFIX}" if edited.edits and old_text is not None else "")
    if edited.edits:
        file = f" --file {path}" if flags.file else ""
        sys.stdout.write(f"undo: lro proxy {FLAG} {flags.install} --undo{file}\n")
    return 0


def _add_or_wrap(
    client: Client, document: Document, names: Sequence[str], proxy: Sequence[str], command: Sequence[str]
) -> Edited:
    name = names[0] if names else _server_name(command)
    words = [*proxy, *command]
    present_entry = document.servers.get(name)
    if present_entry is None:
        return add(document, name, {**client.entry_members, "command": words[0], "args": words[1:]})
    entry = cast("dict[str, Any]", present_entry) if isinstance(present_entry, dict) else {}
    arguments = entry.get("args", [])
    present_command: list[Any] = (
        [entry.get("command"), *cast("list[Any]", arguments)] if isinstance(arguments, list) else []
    )
    if present_command == words:
        return Edited(document.text, (), {name: "already behind lro proxy"})
    if present_command == list(command):
        return wrap(document, [name], proxy)
    raise SettingsError(f"there is a server {name!r} already, with another command: give --server another name")


def _undo(client: Client, path: str, name: str, environ: Mapping[str, str]) -> int:
    record_path = _record_path(path, environ)
    if not os.path.exists(record_path):
        raise SettingsError(f"nothing to undo: lro proxy {FLAG} {name} has not changed {path}")
    with open(record_path, encoding="utf-8") as file:
        record = json.load(file)
    edits = [Edit(**members) for members in record["edits"]]
    text = _read(path)
    if text is None:
        copy = f"; its copy is {path}{_COPY_SUFFIX}" if record["existed"] else ""
        raise SettingsError(f"nothing to undo: {path} is gone{copy}")
    undone = undo(client.document_class(text, client.section), edits)
    is_complete = not undone.changed_since
    if undone.text or record["existed"]:
        _write(path, undone.text)
    else:
        os.unlink(path)
    _print_outcomes(
        path, undone, "" if is_complete or not record["existed"] else f"copy of the old file: {path}{_COPY_SUFFIX}"
    )
    if is_complete:
        os.unlink(record_path)
        if record["existed"] and _read(path + _COPY_SUFFIX) == _read(path):
            os.unlink(path + _COPY_SUFFIX)
        return 0
    record["edits"] = [asdict(edit) for edit in edits if edit.server in undone.changed_since]
    _write(record_path, json.dumps(record, indent=1))
    return 1


def _record_edits(path: str, old_text: str | None, edits: Sequence[Edit], environ: Mapping[str, str]) -> None:
    """Add the edits to the record from which they can be undone. If there is no record yet, first copy the file."""
    record_path = _record_path(path, environ)
    record: dict[str, Any] = {"file": path, "existed": old_text is not None, "edits": []}
    if os.path.exists(record_path):
        with open(record_path, encoding="utf-8") as file:
            record = json.load(file)
    elif old_text is not None:
        _write(path + _COPY_SUFFIX, old_text, mode_from=path)
    record["edits"] += [asdict(edit) for edit in edits]
    os.makedirs(os.path.dirname(record_path), mode=0o700, exist_ok=True)
    _write(record_path, json.dumps(record, indent=1))


def _record_path(path: str, environ: Mapping[str, str]) -> str:
    """The path of the record from which the edits of a configuration can be undone."""
    state = environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "lro", "installed", f"{hashlib.sha256(path.encode()).hexdigest()[:24]}.json")


def _read(path: str) -> str | None:
    """The text of a file with unchanged line ends, or None if the file does not exist."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write(path: str, text: str, *, mode_from: str = "") -> None:
    """Replace a file as a whole. It gets the mode of the file *mode_from* or, if that is empty, keeps its own mode."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".lro-")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        model = mode_from or path
        if os.path.exists(model):
            os.chmod(temporary, os.stat(model).st_mode & 0o7777)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _proxy_command() -> list[str]:
    """The command that starts this proxy. It includes the full path, because a client may have another PATH."""
    script = os.path.join(os.path.dirname(sys.executable), "lro")
    return [script, "proxy"] if os.path.exists(script) else [sys.executable, "-m", "lro_proxy"]


def _server_name(command: Sequence[str]) -> str:
    """A name for a server: the name of its package or program, without common parts such as ``mcp-server-``."""
    program = os.path.basename(command[0])
    words = [word for word in command[1:] if not word.startswith("-") and word not in ("run", "tool")]
    name = words[0] if program in _LAUNCHERS and words else program
    name = re.sub(r"(?<=.)@.*$|==.*$|\.(?:py|js|mjs)$", "", os.path.basename(name))
    return re.sub(r"^(?:mcp-)?server-|^mcp-|-mcp-server$|-mcp$|-server$|[^A-Za-z0-9_-]", "", name) or "server"


def _print_outcomes(path: str, edited: Edited, note: str) -> None:
    sys.stdout.write(f"{path}{f' ({note})' if note else ''}\n")
    width = max(map(len, edited.outcomes), default=0)
    for name, outcome in edited.outcomes.items():
        sys.stdout.write(f"  {name.ljust(width)}  {outcome}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lro proxy", allow_abbrev=False)
    parser.add_argument(FLAG, choices=list(clients({})), required=True)
    parser.add_argument("--undo", action="store_true")
    parser.add_argument("--server", action="append", default=[])
    parser.add_argument("--file")
    return parser
