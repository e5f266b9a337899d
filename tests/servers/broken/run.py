"""Run one server by its name: ``python -I -S tests/servers/broken/run.py NAME [ARG…]``."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))
    from tests.servers.broken import broken

    getattr(broken, sys.argv[1])(*sys.argv[2:]).serve()
