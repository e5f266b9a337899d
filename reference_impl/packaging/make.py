"""Release files of the proxy for one owner and version: ``python reference_impl/packaging/make.py OWNER FOLDER``.

Writes ``server.json``, and the folders ``mcpb`` and ``plugin``, with the version of pyproject.toml.
"""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
PARTS = ("server.json", "mcpb", "plugin")
_OWNER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?")


def make(owner: str, folder: Path) -> None:
    """Write the release files to a folder. Raises `ValueError` if *owner* cannot be a GitHub account."""
    if not _OWNER.fullmatch(owner):
        raise ValueError(f"{owner!r} is not a valid name of a GitHub account")
    version = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    for part in PARTS:
        source = HERE / part
        for file in [source] if source.is_file() else sorted(one for one in source.rglob("*") if one.is_file()):
            text = file.read_text(encoding="utf-8").replace("OWNER", owner).replace("0.1.0", version)
            place = folder / file.relative_to(HERE)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    shutil.copy(HERE.parents[1] / "LICENSE", folder / "mcpb" / "LICENSE")


if __name__ == "__main__":
    make(sys.argv[1], Path(sys.argv[2]))
