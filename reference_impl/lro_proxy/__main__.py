"""``lro proxy -- COMMAND…``: the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from lro_proxy import supervise
from lro_proxy.install import is_installation
from lro_proxy.options import load, server_environment
from lro_reference.settings import SettingsError


def main(argv: Sequence[str] | None = None) -> int:
    """Run until the client leaves; returns the exit code (2: wrong arguments or settings, 3: no server can be started).

    With ``--install`` it edits a client's configuration instead (1: not every edit could be undone; 2: wrong arguments,
    or the configuration cannot be edited).
    """
    arguments = sys.argv[1:] if argv is None else argv
    try:
        if is_installation(arguments):
            from lro_proxy.install.command import main as install  # keeps the start of a proxy fast

            return install(arguments, os.environ)
        options = load(arguments, os.environ)
    except SettingsError as problem:
        supervise.log(" ".join(str(problem).split()))
        return 2
    started = supervise.start(options, server_environment(os.environ))
    if not started:
        return 3
    supervise.run(options, started)
    return 0


if __name__ == "__main__":
    sys.exit(main())
