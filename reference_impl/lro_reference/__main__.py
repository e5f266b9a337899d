"""``python -m lro_reference``: the memory server over stdio.

`lro serve` starts this server too, and offers ``--tools``: tools that read offloaded files (`lro_proxy.serve`).
"""

from __future__ import annotations

import gc
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lro_reference.memory.demo import demo_memories
from lro_reference.memory.store import Store
from lro_reference.settings import Options, SettingsError, load

if TYPE_CHECKING:
    from lro_reference.tool import FileTools


def main(argv: Sequence[str] | None = None) -> int:
    """Run the server until its client leaves. Returns the exit code: 2 if a setting or the data folder is wrong."""
    try:
        options = load(sys.argv[1:] if argv is None else argv, os.environ)
    except SettingsError as problem:
        return refuse_to_start(str(problem))
    return serve(options)


def serve(options: Options, open_tools: Callable[[], FileTools] | None = None) -> int:
    """Run the server under *options*, with the additional tools that *open_tools* returns; returns the exit code."""
    try:
        store = Store.open(options.data, demo_memories() if options.demo else ())
    except (OSError, sqlite3.Error) as problem:
        return refuse_to_start(f"cannot use the data folder {options.data}: {problem}")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the server listens, Ctrl-C ends it without a traceback
    # Importing the SDK takes most of the start-up time. A tenth of that is garbage collection, which finds nothing.
    gc.disable()
    from lro_reference.memory.server import run
    from lro_reference.memory.tools import Service

    gc.freeze()
    gc.enable()
    run(Service(store, options.settings, None if open_tools is None else open_tools()))
    store.close()
    return 0


def refuse_to_start(reason: str) -> int:
    """Write the reason why the server does not start to stderr, as one line; returns the exit code."""
    sys.stderr.write(f"lro serve: {' '.join(reason.split())}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
