"""The minimum that a proxy does: ``python raw_forwarder.py COMMAND…`` passes bytes both ways without reading them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

CHUNK = 1 << 16


def pump(source: int, target: int) -> None:
    while chunk := os.read(source, CHUNK):
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(target, rest) :]
    os.close(target)


def main() -> None:
    server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert server.stdin is not None
    assert server.stdout is not None
    threading.Thread(target=pump, args=(0, server.stdin.fileno()), daemon=True).start()
    pump(server.stdout.fileno(), 1)
    server.wait()


main()
