"""Executes a program that cannot write files beyond a size: ``python -I -S rlimit_exec.py BYTES KEEP PROGRAM ARG…``.

KEEP is ``LC_CTYPE`` if the caller has set the environment variable of this name. Otherwise the variable is removed,
because the Python interpreter that runs this script may have set it.

This intermediate program is necessary: the limit must apply before the server's first instruction, and SIGXFSZ must be
ignored, so that a write beyond the limit fails with EFBIG instead of killing the server. The alternatives have
problems: ``preexec_fn`` is unsafe with threads. With ``restore_signals=False``, the server would also ignore SIGPIPE,
so that pipelines in the server would behave differently than usual. A shell's ``ulimit -f`` counts blocks of 512 or
1024 bytes, and the shell removes environment variables with unusual names.
"""

from __future__ import annotations

import os
import resource
import signal
import sys


def main(argv: list[str]) -> None:
    """Set the limit and execute the program. If that fails, exit with code 126 or 127, as a shell does."""
    limit, keep, command = int(argv[1]), argv[2], argv[3:]
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if keep != "LC_CTYPE":  # it was set by this interpreter in a C locale, and not by the caller
        os.environ.pop("LC_CTYPE", None)
    try:
        os.execvp(command[0], command)
    except OSError as problem:
        os.write(2, f"cannot start {command[0]}: {problem.strerror}\n".encode(errors="replace"))
        os._exit(127 if isinstance(problem, FileNotFoundError) else 126)


if __name__ == "__main__":
    main(sys.argv)
