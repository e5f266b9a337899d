"""Options of `lro proxy`, from flags and environment variables."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lro_proxy import run_folder
from lro_proxy.config import Server, address, header, read_servers
from lro_proxy.gain import ledger
from lro_proxy.payload.descriptor_form import MAX_TOKENS_BY_FORM, Form
from lro_proxy.tools.families import add_tools_flag, selected_families
from lro_reference.settings import ENVIRONMENT_PREFIX, Settings, SettingsError, add_flags, resolve
from lro_spec.tokens import characters_estimate, script_aware_estimate

if TYPE_CHECKING:
    from lro_spec.redaction import Masks


ESTIMATES = {"scripts": script_aware_estimate, "characters": characters_estimate}
"""Token estimates by name."""
_JSON_LITERAL = re.compile(r"[-+0-9.eE]+|true|false|null")
"""A text that may be a number or a literal in JSON."""


@dataclass(frozen=True, slots=True)
class ProxyOptions:
    """Options of a proxy start."""

    servers: tuple[Server, ...]
    """At least one; there can be several only if they come from a file with `mcpServers`."""
    settings: Settings
    has_servers_file: bool = False
    """True if the servers come from a file with `mcpServers`, even if the file names only one server."""
    thresholds: tuple[tuple[str, int | None], ...] = ()
    """Thresholds in tokens, each with a glob for the names of the tools to which it applies.

    If several globs match, the longest one counts. None as the threshold means that results are never offloaded.
    """
    estimator: str = "scripts"
    request_timeout_s: float = 600
    """Time without an answer or progress after which a request fails. If it is 0, requests never time out."""
    max_line_mb: int = 128
    """Size of the longest message, in MiB."""
    families: tuple[str, ...] = ()
    """Families of tools that the proxy adds to those of the servers, such as tools that read offloaded files."""
    tool_prefix: str = ""
    descriptor: Form = "full"
    """Form of the descriptors of files whose records are not memories."""
    links: bool = False
    """True if answers link to their file as a resource."""
    private_folder: bool = False
    """True if this run writes to a private folder, which the settings name."""
    masks: Masks | None = None
    """Secrets that are redacted in all messages of servers."""
    record_path: str | None = None
    """Path of the record of result sizes, from which `lro gain` shows how many tokens offloading has saved. None if no
    record is kept."""

    def threshold_of(self, tool: str, declared: int | None = None) -> int | None:
        """The threshold of a tool in tokens, or None if the tool's results are never offloaded.

        *declared* is the threshold that the tool's server declares. It replaces the general threshold, but not the
        threshold of a matching glob.
        """
        if not self.settings.enabled:
            return None
        matching = [(len(glob), tokens) for glob, tokens in self.thresholds if fnmatch.fnmatchcase(tool, glob)]
        if matching:
            return max(matching, key=lambda match: match[0])[1]
        return self.settings.threshold_tokens if declared is None else declared


def load(argv: Sequence[str], environ: Mapping[str, str]) -> ProxyOptions:
    """Parse the arguments. Raises `SettingsError` if they are invalid, and `SystemExit` where argparse does."""
    flags = _parser().parse_args(list(argv))
    command = flags.command[1:] if flags.command[:1] == ["--"] else flags.command
    has_servers_file = bool(flags.config) and flags.config.endswith(".json")
    sources = [
        ("a command after --", bool(command)),
        ("--url", bool(flags.url)),
        ("the servers' file", has_servers_file),
    ]
    given_sources = [source for source, chosen in sources if chosen]
    if len(given_sources) != 1:
        raise SettingsError(
            f"give only one of {', '.join(given_sources[:-1])} and {given_sources[-1]}"
            if given_sources
            else "no server is named: give its command after --, or its address as --url"
        )
    if flags.header and not flags.url:
        raise SettingsError("--header needs --url")
    if has_servers_file:
        servers, flags.config = read_servers(flags.config, environ), None
    elif flags.url:
        servers = (Server("", url=address(flags.url, "--url", flags.url), headers=dict(map(_header, flags.header))),)
    else:
        servers = (Server("", tuple(command)),)
    if flags.max_line_mb < 1:
        raise SettingsError(f"--max-line-mb must be a whole number of at least 1, not {flags.max_line_mb}")
    if not flags.request_timeout_s >= 0:
        raise SettingsError(
            f"--request-timeout-s must be a number of seconds, at least 0, not {flags.request_timeout_s}"
        )
    settings = resolve(flags, environ)
    return ProxyOptions(
        servers=servers,
        has_servers_file=has_servers_file,
        settings=run_folder.with_run_folder(settings) if flags.private_folder else settings,
        thresholds=tuple(_threshold(text) for text in flags.tool_threshold),
        estimator=flags.estimator,
        request_timeout_s=flags.request_timeout_s,
        max_line_mb=flags.max_line_mb,
        families=selected_families(flags, environ),
        tool_prefix=flags.tool_prefix,
        descriptor=flags.descriptor,
        links=flags.links,
        private_folder=flags.private_folder,
        masks=_masks(servers, environ) if flags.mask_secrets else None,
        record_path=None if flags.no_record else ledger.record_path(environ),
    )


def server_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for servers. It lacks the proxy's settings, and disables offloading by the servers themselves."""
    kept = {name: value for name, value in environ.items() if not name.startswith(ENVIRONMENT_PREFIX)}
    return kept | {f"{ENVIRONMENT_PREFIX}ENABLED": "false"}


def _masks(servers: Sequence[Server], environ: Mapping[str, str]) -> Masks:
    from lro_spec.redaction import Masks

    values_by_name = dict(environ)
    for server in servers:
        values_by_name |= server.env
        values_by_name |= {name: value.rpartition(" ")[2] for name, value in server.headers.items()}  # without "Bearer"
    # A value that looks like a JSON number or literal is not masked: the mask would make the message invalid JSON.
    return Masks({name: value for name, value in values_by_name.items() if not _JSON_LITERAL.fullmatch(value.strip())})


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or re.search(r"\s", name):
        raise SettingsError("--header must be 'NAME: VALUE'")  # without the value, which may be a secret
    return header(name, value, "--header")


def _threshold(text: str) -> tuple[str, int | None]:
    glob, equals, tokens = text.rpartition("=")
    if equals and glob and tokens == "off":
        return glob, None
    if equals and glob and tokens.isascii() and tokens.isdigit():
        return glob, int(tokens)
    raise SettingsError(f"--tool-threshold must be GLOB=TOKENS or GLOB=off, not {text!r}")


def _parser() -> Any:
    import argparse

    parser = argparse.ArgumentParser(
        prog="lro proxy",
        usage="lro proxy [OPTION…] -- COMMAND [ARG…]\n       lro proxy [OPTION…] --url URL\n"
        "       lro proxy [OPTION…] --config mcp.json\n"
        "       lro proxy --install CLIENT [--undo] [--server NAME] [--file FILE] [OPTION…] [-- COMMAND [ARG…]]",
        epilog="example: lro proxy -- npx -y @modelcontextprotocol/server-filesystem /home/me",
        description="Run in front of any MCP server, and offload its large results.",
        allow_abbrev=False,
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND…", help="command that starts the server")
    parser.add_argument("--url", metavar="URL", help="address of a server over HTTP, instead of COMMAND")
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="send this header with each request to --url; repeatable",
    )
    add_flags(
        parser,
        config="TOML file with a [prompt.offload] section (ATLATL_CONFIG), or JSON file with mcpServers to run several "
        "servers instead of COMMAND",
    )
    add_tools_flag(parser)
    parser.add_argument(
        "--tool-threshold",
        action="append",
        default=[],
        metavar="GLOB=N",
        help="threshold for the tools that match, or GLOB=off; the longest matching GLOB wins; repeatable",
    )
    parser.add_argument(
        "--estimator",
        choices=list(ESTIMATES),
        default="scripts",
        help="token estimate: scripts (default: CJK scripts and emoji weigh more) or characters (4 per token)",
    )
    parser.add_argument(
        "--request-timeout-s",
        type=float,
        default=600,
        metavar="S",
        help="fail a request after S seconds without an answer or progress (default 600; 0: never)",
    )
    parser.add_argument(
        "--tool-prefix",
        default="",
        metavar="TEXT",
        help="prefix for those names of the added tools that servers may also use",
    )
    parser.add_argument(
        "--descriptor",
        choices=list(MAX_TOKENS_BY_FORM),
        default="full",
        help="how much a descriptor says, in tokens: full (default; about 600), compact (250) or pointer (60)",
    )
    parser.add_argument(
        "--links",
        action="store_true",
        help="add a link to the file as a resource, for clients that cannot read the disk but use resources/read",
    )
    parser.add_argument(
        "--private-folder", action="store_true", help="write to a new private directory inside the output directory"
    )
    parser.add_argument(
        "--mask-secrets",
        action="store_true",
        help="mask the values of secret-looking environment variables and headers in everything servers send",
    )
    parser.add_argument(
        "--no-record", action="store_true", help="keep no record for lro gain (LRO_GAIN=off does the same)"
    )
    parser.add_argument(
        "--max-line-mb", type=int, default=128, metavar="N", help="longest message, in MiB (default 128)"
    )
    return parser
