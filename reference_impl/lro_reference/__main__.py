"""``python -m lro_reference``: the reference server over stdio."""

from __future__ import annotations

import gc
import os
import signal
import sqlite3
import sys
from collections.abc import Sequence

from lro_reference.corpus import demo_memories
from lro_reference.settings import SettingsError, load
from lro_reference.store import Store


def main(argv: Sequence[str] | None = None) -> int:
    """Run the server until its client leaves; returns the exit code (2: a setting or the data folder is wrong)."""
    try:
        options = load(sys.argv[1:] if argv is None else argv, os.environ)
    except SettingsError as problem:
        return _refuse(str(problem))
    try:
        store = Store.open(options.data, demo_memories() if options.demo else ())
    except (OSError, sqlite3.Error) as problem:
        return _refuse(f"cannot use the data folder {options.data}: {problem}")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the server listens, Ctrl-C is a plain end, not a traceback
    # Importing the SDK takes most of the start, a tenth of it in the collector, which finds nothing to free.
    gc.disable()
    from lro_reference.server import run
    from lro_reference.tools import Service

    gc.freeze()
    gc.enable()
    toolbox = None
    if options.families:
        from lro_reference.extraction.families import Toolbox

        toolbox = Toolbox(options.families, options.settings)
    run(Service(store, options.settings, toolbox))
    store.close()
    return 0


def _refuse(reason: str) -> int:
    sys.stderr.write(f"lro serve: {' '.join(reason.split())}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
