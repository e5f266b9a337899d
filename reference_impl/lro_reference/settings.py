"""Settings: defaults, then the ``[prompt.offload]`` section of a TOML file, then the environment, then flags.

A wrong setting stops the start with one line that says which, where, and what was expected. An output folder that
cannot be written is not a wrong setting: it is a write failure, which has a fallback of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

ENVIRONMENT_PREFIX = "ATLATL_PROMPT__OFFLOAD__"
_MAX_U64 = 2**64 - 1
_MAX_DIGITS = 4300
"""Maximum number of digits of an integer that Python parses."""
_BOOLEANS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


class SettingsError(ValueError):
    """A setting that cannot be used; the message is one line for the person who started the server."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The checked values of ``[prompt.offload]``."""

    enabled: bool = True
    """If False, every result is returned inline."""
    threshold_tokens: int = 6400
    """Results estimated at more tokens than this are offloaded."""
    ttl_seconds: int = 3600
    """Minimum time for which an offloaded file is retained."""
    output_dir: str = ""
    """The folder for offloaded files. If empty, it is the system's temporary folder."""
    cleanup_interval_seconds: int = 3600
    """Time between two background runs of ``offload_cleanup``. If 0, it runs only on demand."""

    @property
    def folder(self) -> str:
        """The absolute path of the folder for offloaded files."""
        if self.output_dir:
            return os.path.abspath(os.path.expanduser(self.output_dir))
        import tempfile

        return os.path.abspath(tempfile.gettempdir())


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a server start."""

    settings: Settings
    data: str
    """The data folder, or ``:memory:``."""
    demo: bool = True
    """If True, a new store is filled with the demo memories."""


def load(argv: Sequence[str], environ: Mapping[str, str]) -> Options:
    """Read the options of a start.

    Raises `SettingsError` for the first setting that is wrong, and `SystemExit` as argparse does for ``--help`` and
    unknown flags.
    """
    return options(build_parser().parse_args(argv), environ)


def options(flags: Any, environ: Mapping[str, str]) -> Options:
    """The options of a start, from parsed flags (`build_parser`) and the environment. Raises `SettingsError`."""
    return Options(
        settings=resolve(flags, environ),
        data=flags.data or environ.get("ATLATL_DATA_DIR") or default_data_folder(environ),
        demo=flags.demo if flags.demo is not None else _boolean(environ.get("ATLATL_DEMO", "true"), "ATLATL_DEMO"),
    )


def resolve(flags: Any, environ: Mapping[str, str]) -> Settings:
    """The settings from parsed flags (`add_flags`), a TOML file and the environment. Raises `SettingsError`."""
    values: dict[str, Any] = {}
    if path := flags.config or environ.get("ATLATL_CONFIG"):
        values |= _from_toml(path)
    values |= _from_environment(environ)
    for key, check in _CHECKS.items():
        if (text := getattr(flags, key)) is not None:
            values[key] = check(text, f"--{key.replace('_', '-')}")
    return Settings(**values)


def from_environment(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of the environment (``ATLATL_PROMPT__OFFLOAD__…``). Raises `SettingsError`."""
    return Settings(**_from_environment(os.environ if environ is None else environ))


def default_data_folder(environ: Mapping[str, str]) -> str:
    """The per-user folder of the memories, by the XDG rules."""
    base = environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(base, "lro-reference")


def build_parser() -> Any:
    """The argparse parser of the memory server's flags."""
    import argparse

    parser = argparse.ArgumentParser(
        prog="lro serve",
        description="Run a memory server over stdio that implements Large Result Offloading.",
        epilog="example: lro serve --data :memory: --threshold-tokens 1000",
        allow_abbrev=False,
    )
    parser.add_argument("--data", metavar="DIR", help="data directory (ATLATL_DATA_DIR); :memory: keeps nothing")
    parser.add_argument(
        "--demo", action=argparse.BooleanOptionalAction, help="fill a new store with 500 demo memories (ATLATL_DEMO)"
    )
    add_flags(parser)
    return parser


def add_flags(parser: Any, config: str = "TOML file with a [prompt.offload] section (ATLATL_CONFIG)") -> None:
    """Add the flags of offloading to an argparse parser; `resolve` reads them. *config* is the help of ``--config``."""
    parser.add_argument("--config", metavar="FILE", help=config)
    parser.add_argument("--enabled", metavar="BOOL", help="offload large results (default true)")
    parser.add_argument("--threshold-tokens", metavar="N", help="offload above this estimate (default 6400)")
    parser.add_argument("--ttl-seconds", metavar="N", help="keep files at least this long (default 3600)")
    parser.add_argument(
        "--output-dir", metavar="DIR", help="directory for files (default: the system's temporary directory)"
    )
    parser.add_argument(
        "--cleanup-interval-seconds",
        metavar="N",
        help="interval of background cleanup (default 3600; 0: on demand only)",
    )


def _from_toml(path: str) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except OSError as problem:
        raise SettingsError(f"cannot read the configuration {path}: {problem.strerror}") from None
    except ValueError as problem:  # also for text that is not UTF-8, and for integers of thousands of digits
        raise SettingsError(f"{path} is not valid TOML: {problem}") from None
    section: Any = document
    for key in ("prompt", "offload"):
        section = cast("dict[str, Any]", section).get(key, {})
        if not isinstance(section, dict):
            raise SettingsError(f"{path}: [prompt.offload] must be a table")
    values: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", section).items():
        if key not in _CHECKS:
            raise SettingsError(f"{path}: prompt.offload.{key} is not a setting; {suggestion(key, list(_CHECKS))}")
        where = f"{path}: prompt.offload.{key}"
        if isinstance(value, str) and _CHECKS[key] is not _folder:  # TOML has numbers and booleans of its own
            raise SettingsError(f"{where} must be without quotation marks, not {value!r}")
        values[key] = _CHECKS[key](value, where)
    return values


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, text in environ.items():
        if name.startswith(ENVIRONMENT_PREFIX):
            key = name.removeprefix(ENVIRONMENT_PREFIX).lower()
            if key not in _CHECKS or name != name.upper():
                valid_names = [ENVIRONMENT_PREFIX + key.upper() for key in _CHECKS]
                raise SettingsError(
                    f"the environment variable {name} is not a setting; {suggestion(name, valid_names)}"
                )
            values[key] = _CHECKS[key](text, name)
    return values


def suggestion(wrong_name: str, valid_names: list[str]) -> str:
    """A hint for an error message: the most similar known name, or all of them."""
    import difflib

    matches = difflib.get_close_matches(wrong_name, valid_names, n=1)
    return f"did you mean {matches[0]}?" if matches else f"there are {', '.join(valid_names)}"


def _number(value: object, where: str) -> int:
    text = value.strip() if isinstance(value, str) else ""
    if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS:
        value = int(text)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_U64:
        return value
    raise SettingsError(f"{where} must be a whole number from 0 to {_MAX_U64}, not {value!r}")


def _boolean(value: object, where: str) -> bool:
    if isinstance(value, str):
        value = _BOOLEANS.get(value.strip().lower(), value)
    if isinstance(value, bool):
        return value
    raise SettingsError(f"{where} must be true or false, not {value!r}")


def _folder(value: object, where: str) -> str:
    # The path must fit into a JSON text and into a shell command.
    if isinstance(value, str) and "\0" not in value and not any("\ud800" <= c <= "\udfff" for c in value):
        return value
    raise SettingsError(f"{where} must be a path in valid Unicode, not {value!r}")


_CHECKS: Mapping[str, Callable[[object, str], Any]] = {
    "enabled": _boolean,
    "threshold_tokens": _number,
    "ttl_seconds": _number,
    "output_dir": _folder,
    "cleanup_interval_seconds": _number,
}
