"""Entry point of ``lro`` and of ``python -m lro_conformance``."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn


def run() -> NoReturn:
    """Run `lro`, and end the process at once. After a certification, the usual shutdown of Python would take 0.2 s."""
    try:
        from lro_conformance.cli.main import main

        code = main()
    except KeyboardInterrupt:  # while the command line is imported
        sys.stderr.write("lro: interrupted\n")
        code = 130
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing is left to clean up, so Ctrl-C may end the process
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # the stream is closed, or has no reader any more
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
