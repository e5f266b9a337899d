"""The clients whose configuration can be edited: the file, the section with the servers, and what an entry needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from lro_proxy.install.document import Document, Json, Toml


@dataclass(frozen=True, slots=True)
class Client:
    """A client's configuration."""

    file: str
    """The user's file; the path may begin with ``~``."""
    section: str = "mcpServers"
    project_file: str = ""
    """The file of a project, as a path within the working directory; it is used instead if it exists."""
    entry_members: Mapping[str, str] = field(default_factory=dict[str, str])
    """Members of every entry that is added, besides its command."""
    document_class: type[Document] = Json
    options: tuple[str, ...] = ()
    """Options that the proxy gets if the user gives none, such as ``--tools extract`` for a client without a shell."""

    def path(self) -> str:
        """The file to edit."""
        if self.project_file and os.path.exists(self.project_file):
            return os.path.abspath(self.project_file)
        return os.path.expanduser(self.file)


def clients(environ: Mapping[str, str]) -> Mapping[str, Client]:
    """The clients by name."""
    settings_folder = _settings_folder(environ)
    codex = environ.get("CODEX_HOME") or os.path.join("~", ".codex")
    return {
        "claude-code": Client(os.path.join("~", ".claude.json"), project_file=".mcp.json"),
        "claude-desktop": Client(
            os.path.join(settings_folder, "Claude", "claude_desktop_config.json"), options=("--tools", "extract")
        ),
        "cursor": Client(os.path.join("~", ".cursor", "mcp.json"), project_file=os.path.join(".cursor", "mcp.json")),
        "vscode": Client(
            os.path.join(settings_folder, "Code", "User", "mcp.json"),
            section="servers",
            project_file=os.path.join(".vscode", "mcp.json"),
            entry_members={"type": "stdio"},
        ),
        "codex": Client(os.path.join(codex, "config.toml"), section="mcp_servers", document_class=Toml),
    }


def _settings_folder(environ: Mapping[str, str]) -> str:
    """The folder of the settings of desktop programs."""
    if sys.platform == "darwin":
        return os.path.join("~", "Library", "Application Support")
    if sys.platform == "win32":
        return environ.get("APPDATA") or os.path.join("~", "AppData", "Roaming")
    return environ.get("XDG_CONFIG_HOME") or os.path.join("~", ".config")
