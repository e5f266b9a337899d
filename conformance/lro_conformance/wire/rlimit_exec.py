"""Executes a program that cannot write files beyond a size: ``python -I -S rlimit_exec.py BYTES KEEP PROGRAM ARG…``.

KEEP is ``LC_CTYPE`` if the caller has set this variable. Otherwise the variable is removed, because this interpreter
may have set it.

An intermediate program is necessary: the limit must apply before the server's first instruction, and SIGXFSZ must be
ignored, so that a write beyond the limit fails with EFBIG instead of killing the server. The alternatives do not work:
``preexec_fn`` is unsafe with threads. ``restore_signals=False`` would also pass on an ignored SIGPIPE, so that a
server's own pipelines would behave differently than usual. A shell's ``ulimit -f`` counts blocks of 512 or 1024 bytes,
and drops variables with odd names.
"""

from __future__ import annotations

import os
import resource
import signal
import sys


def main(argv: list[str]) -> None:
    """Set the limit and execute the program; exit with 126 or 127 like a shell if that fails."""
    limit, keep, command = int(argv[1]), argv[2], argv[3:]
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if keep != "LC_CTYPE":  # set by this interpreter in a C locale, not by the caller
        os.environ.pop("LC_CTYPE", None)
    try:
        os.execvp(command[0], command)
    except OSError as problem:
        os.write(2, f"cannot start {command[0]}: {problem.strerror}\n".encode(errors="replace"))
        os._exit(127 if isinstance(problem, FileNotFoundError) else 126)


if __name__ == "__main__":
    main(sys.argv)
