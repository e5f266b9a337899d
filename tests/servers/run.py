"""Run one server by its name: ``python -I -S tests/servers/run.py [NAME]``; without a name, the plain one.

A name is that of a class in `faults`, `sound`, `editions` or `hostile`. The files are searched as text, because
importing them all would cost more time than the server's whole start.
"""

import gc
import os
import sys

gc.disable()  # a server lives for seconds, and servers are started thousands of times

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)


def find(name: str) -> str | None:
    """The module whose source defines this class, or None."""
    for folder in ("faults", "sound", "editions", "hostile"):
        for file in os.listdir(os.path.join(HERE, folder)):
            if file.endswith(".py"):
                with open(os.path.join(HERE, folder, file), encoding="utf-8") as source:
                    if f"\nclass {name}(" in source.read():
                        return f"tests.servers.{folder}.{file[:-3]}"
    return None


def main() -> None:
    sys.path.insert(0, os.path.dirname(TESTS))
    if len(sys.argv) < 2:
        from tests.servers.plain import Server

        return Server().serve()
    module = find(sys.argv[1])
    if module is None:
        sys.exit(f"no server is named {sys.argv[1]!r}")
    return getattr(__import__(module, fromlist=["*"]), sys.argv[1])().serve()


if __name__ == "__main__":
    main()
