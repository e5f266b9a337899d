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

_COPY = ".before-lro"
_LAUNCHERS = frozenset(("npx", "uvx", "pipx", "bunx", "uv", "python", "python3", "node", "docker"))


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Edit the configuration; returns the exit code (1: not every edit could be undone).

    Raises `SettingsError`, and `SystemExit` as argparse does.
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
    before = _read(path)
    document = client.document(before or "", client.section)
    options = options or client.options
    load([*options, "--", "server"], environ)  # only to check the options
    proxy = [*_program(), *options, "--"]
    if command and is_proxy([*command, "--"]):
        raise SettingsError("give the server's own command after --, without lro proxy")
    unknown = [name for name in flags.server if not command and name not in document.servers]
    if unknown:
        known = ", ".join(document.servers) or "none"
        raise SettingsError(f"{path} has no server {unknown[0]!r} (its servers: {known})")
    edited = _added(client, document, flags.server, proxy, command) if command else wrap(document, flags.server, proxy)
    if not edited.outcomes:
        raise SettingsError(f"{path} has no servers: give a server's command after --")
    if edited.edits:
        _remember(path, before, edited.edits, environ)
        _write(path, edited.text)
    _print_outcomes(path, edited, f"copy: {path}{_COPY}" if edited.edits and before is not None else "")
    if edited.edits:
        file = f" --file {path}" if flags.file else ""
        sys.stdout.write(f"undo: lro proxy {FLAG} {flags.install} --undo{file}\n")
    return 0


def _added(
    client: Client, document: Document, names: Sequence[str], proxy: Sequence[str], command: Sequence[str]
) -> Edited:
    name = names[0] if names else _name(command)
    words = [*proxy, *command]
    present = document.servers.get(name)
    if present is None:
        return add(document, name, {**client.entry, "command": words[0], "args": words[1:]})
    entry = cast("dict[str, Any]", present) if isinstance(present, dict) else {}
    arguments = entry.get("args", [])
    written: list[Any] = [entry.get("command"), *cast("list[Any]", arguments)] if isinstance(arguments, list) else []
    if written == words:
        return Edited(document.text, (), {name: "already behind lro proxy"})
    if written == list(command):
        return wrap(document, [name], proxy)
    raise SettingsError(f"there is a server {name!r} already, with another command: give --server another name")


def _undo(client: Client, path: str, name: str, environ: Mapping[str, str]) -> int:
    manifest = _manifest(path, environ)
    if not os.path.exists(manifest):
        raise SettingsError(f"nothing to undo: lro proxy {FLAG} {name} has not changed {path}")
    with open(manifest, encoding="utf-8") as file:
        kept = json.load(file)
    edits = [Edit(**one) for one in kept["edits"]]
    text = _read(path)
    if text is None:
        copy = f"; its copy is {path}{_COPY}" if kept["existed"] else ""
        raise SettingsError(f"nothing to undo: {path} is gone{copy}")
    undone = undo(client.document(text, client.section), edits)
    is_complete = not undone.changed_since
    if undone.text or kept["existed"]:
        _write(path, undone.text)
    else:
        os.unlink(path)
    _print_outcomes(path, undone, "" if is_complete or not kept["existed"] else f"copy of the old file: {path}{_COPY}")
    if is_complete:
        os.unlink(manifest)
        if kept["existed"] and _read(path + _COPY) == _read(path):
            os.unlink(path + _COPY)
        return 0
    kept["edits"] = [asdict(edit) for edit in edits if edit.server in undone.changed_since]
    _write(manifest, json.dumps(kept, indent=1))
    return 1


def _remember(path: str, before: str | None, edits: Sequence[Edit], environ: Mapping[str, str]) -> None:
    """Add the edits to the record from which they can be undone; before the first ones, keep a copy of the file."""
    manifest = _manifest(path, environ)
    kept: dict[str, Any] = {"file": path, "existed": before is not None, "edits": []}
    if os.path.exists(manifest):
        with open(manifest, encoding="utf-8") as file:
            kept = json.load(file)
    elif before is not None:
        _write(path + _COPY, before, like=path)
    kept["edits"] += [asdict(edit) for edit in edits]
    os.makedirs(os.path.dirname(manifest), mode=0o700, exist_ok=True)
    _write(manifest, json.dumps(kept, indent=1))


def _manifest(path: str, environ: Mapping[str, str]) -> str:
    """The path of the record from which the edits of a configuration can be undone."""
    state = environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "lro", "installed", f"{hashlib.sha256(path.encode()).hexdigest()[:24]}.json")


def _read(path: str) -> str | None:
    """The text of a file, with its line ends as they are; None if the file does not exist."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write(path: str, text: str, *, like: str = "") -> None:
    """Replace a file as a whole; it keeps its mode, or gets the mode of the file *like*."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".lro-")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        model = like or path
        if os.path.exists(model):
            os.chmod(temporary, os.stat(model).st_mode & 0o7777)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _program() -> list[str]:
    """The command of this installation with its path, because a client may have another PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "lro")
    return [beside, "proxy"] if os.path.exists(beside) else [sys.executable, "-m", "lro_proxy"]


def _name(command: Sequence[str]) -> str:
    """A name for a server: its package's name without usual parts such as ``mcp-server-``."""
    program = os.path.basename(command[0])
    words = [word for word in command[1:] if not word.startswith("-") and word not in ("run", "tool")]
    chosen = words[0] if program in _LAUNCHERS and words else program
    chosen = re.sub(r"(?<=.)@.*$|==.*$|\.(?:py|js|mjs)$", "", os.path.basename(chosen))
    return re.sub(r"^(?:mcp-)?server-|^mcp-|-mcp-server$|-mcp$|-server$|[^A-Za-z0-9_-]", "", chosen) or "server"


def _print_outcomes(path: str, edited: Edited, more: str) -> None:
    sys.stdout.write(f"{path}{f' ({more})' if more else ''}\n")
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
