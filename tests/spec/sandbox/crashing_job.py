"""A job that does to its process what a request asks for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

Result = tuple[dict[str, Any], bytes]


def prepare(context: Any) -> Callable[[dict[str, Any], bytes], Result]:
    if context.options.get("fails"):
        raise ImportError("there is no such engine")

    def run(request: dict[str, Any], data: bytes) -> Result:
        wish = request.get("do") or eval(request["schema"])["request"]
        output = data
        if wish == "signal":
            os.kill(os.getpid(), request.get("number", signal.SIGSEGV))
        elif wish == "exit":
            os._exit(3)
        elif wish == "defect":
            raise ZeroDivisionError("1 / 0")
        elif wish == "spin":
            while True:
                pass
        elif wish == "sleep":
            time.sleep(60)
        elif wish == "allocate":
            output = b"x" * (1 << 32)
        elif wish == "flood":
            output = b"x" * request["bytes"]
        elif wish == "garbage":
            os.write(3, b'{"bytes": "many"}\n')
            time.sleep(60)
        elif wish == "print":
            print("not an answer", flush=True)
            os.write(1, b"not an answer\n")
        elif wish == "grandchild":
            process = subprocess.Popen(["/bin/sleep", "60"], preexec_fn=context.end_with_parent)
            return {"pid": process.pid}, b""
        elif wish == "open":
            with open(request["path"]) as file:
                output = file.read().encode()
        elif wish == "write":
            with open(request["path"], "w") as file:
                file.write("x")
        elif wish == "look":
            environment = dict(os.environ)
            return {"env": environment, "cwd": os.getcwd(), "pid": os.getpid(), "typing": "re" in sys.modules}, b""
        return {"files": [file.read().decode() for file in context.files]}, output

    return run
