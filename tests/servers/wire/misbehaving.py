"""Servers that are each wrong in one way, named for how: ``python -S -E misbehaving.py NAME [ARG…]``."""

import json
import os
import signal
import subprocess
import sys
import time

import base

SERVERS = {}


def server(function):
    SERVERS[function.__name__.replace("_", "-")] = function
    return function


def around_answers(before=b"", after=b""):
    """A server that writes these bytes around every answer but that of initialize."""

    def handle(message):
        base.write_all(1, before)
        base.answer(message["id"], {"echo": message.get("params")})
        base.write_all(1, after)

    base.serve(handle)


@server
def sound():
    base.serve()


@server
def exits_at_once():
    os.write(2, b"no database\n")
    sys.exit(3)


@server
def dies_of_a_signal():
    os.write(2, b"about to crash\n")
    os.kill(os.getpid(), signal.SIGSEGV)


@server
def hangs_at_initialize():
    os.write(2, b"waiting for a lock\n")
    time.sleep(60)


@server
def prints_garbage():
    base.write_all(1, b"Welcome to my server!\nlistening ...\n")
    time.sleep(60)


@server
def exits_when_called():
    base.serve(lambda _: os._exit(7))


@server
def answers_and_exits():
    def handle(message):
        base.answer(message["id"], {"big": "x" * 300_000})
        os._exit(0)

    base.serve(handle)


@server
def half_a_line_at_exit():
    def handle(message):
        os.write(1, b'{"jsonrpc":"2.0","id":%d,"res' % message["id"])
        os._exit(0)

    base.serve(handle)


@server
def no_newline_at_exit():
    def handle(message):
        os.write(1, b'{"jsonrpc":"2.0","id":%d,"result":{}}' % message["id"])
        os._exit(0)

    base.serve(handle)


@server
def closes_stdout():
    def handle(_):
        os.close(1)
        time.sleep(60)

    base.serve(handle)


@server
def closes_stdin():
    base.initialize(json.loads(sys.stdin.buffer.readline()))
    os.close(0)
    time.sleep(60)


@server
def never_reads():
    base.initialize(json.loads(sys.stdin.buffer.raw.readline()))
    time.sleep(60)


@server
def floods_stderr_before_reading():
    base.initialize(json.loads(sys.stdin.buffer.raw.readline()))
    base.write_all(2, b"noise on stderr, line after line\n" * 60_000)
    base.serve()


@server
def floods_stderr_for_ever():
    base.initialize(json.loads(sys.stdin.buffer.raw.readline()))
    while True:
        base.write_all(2, b"noise\n" * 10_000)


@server
def floods_notifications():
    base.initialize(json.loads(sys.stdin.buffer.raw.readline()))
    line = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x" * 100}})
    while True:
        base.write_all(1, (line + "\n").encode() * 1000)


@server
def floods_pings():
    base.initialize(json.loads(sys.stdin.buffer.raw.readline()))
    while True:
        base.write_all(1, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 1000)


@server
def long_line(size, where="result"):
    def handle(message):
        head = {
            "result": b'{"jsonrpc":"2.0","id":%d,"result":{"text":"' % message["id"],
            "id-last": b'{"result":{"text":"',
            "notification": b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"',
        }[where]
        tail = b'"},"jsonrpc":"2.0","id":%d}' % message["id"] if where == "id-last" else b'"}}'
        base.write_all(1, head)
        block = b"x" * (1 << 20)
        left = int(size)
        while left > 0:
            base.write_all(1, block[:left])
            left -= len(block)
        base.write_all(1, tail + b"\n")
        return where == "notification"

    base.serve(handle)


@server
def endless_line():
    def handle(_):
        while True:
            base.write_all(1, b"x" * 65536)

    base.serve(handle)


@server
def invalid_utf8():
    def handle(message):
        base.send(b'{"jsonrpc":"2.0","id":%d,"result":{"text":"caf\xe9"}}' % message["id"])

    base.serve(handle)


@server
def writes(pattern):
    """Answers with the bytes of its argument; ID stands for the id of the request."""
    raw = os.fsencode(pattern)
    base.serve(lambda message: base.write_all(1, raw.replace(b"ID", b"%d" % message["id"])))


@server
def garbage_between():
    around_answers(b'\n[]garbage\n"text"\n42\n{"a":1}\n', b"after\n")


@server
def answers_twice():
    def handle(message):
        base.answer(message["id"], {"n": 1})
        base.answer(message["id"], {"n": 2})

    base.serve(handle)


@server
def answers_before_it_is_asked():
    def handle(message):
        base.answer(message["id"], {"honest": True})
        base.answer(message["id"] + 1, {"honest": False})

    base.serve(handle)


@server
def answers_late():
    def handle(message):
        if message["method"] == "slow":
            time.sleep(0.4)
        return True

    base.serve(handle)


@server
def asks_the_client():
    """Asks ping, roots/list and sampling before it answers, and answers with what the client said."""

    def handle(message):
        said = []
        for id, method in (("p", "ping"), (2, "roots/list"), (3, "sampling/createMessage")):
            base.send({"jsonrpc": "2.0", "id": id, "method": method})
            said.append(json.loads(sys.stdin.buffer.readline()))
        base.answer(message["id"], said)

    base.serve(handle)


@server
def answers_in_reverse():
    requests = base.messages()
    base.initialize(next(requests))
    held = []
    for message in requests:
        if "id" in message:
            held.append(message)
        if len(held) == 3:
            for each in reversed(held):
                base.answer(each["id"], {"echo": each["params"]})
            held.clear()


@server
def odd_initialize():
    for message in base.messages():
        if message["method"] == "initialize":
            base.answer(message["id"], {"protocolVersion": 3, "serverInfo": "me", "capabilities": ["tools"]})


@server
def pages(kind):
    def handle(message):
        cursor = (message.get("params") or {}).get("cursor")
        number = int(cursor or 0)
        following = {"three": str(number + 1) if number < 2 else None, "loop": "1", "endless": str(number + 1)}[kind]
        result = {"tools": [{"name": f"tool{number}"}, "not a tool"]}
        base.answer(message["id"], result | ({"nextCursor": following} if following else {}))

    base.serve(handle)


@server
def ignores_the_end():
    """Neither the end of stdin nor SIGTERM makes it stop."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    base.serve()
    time.sleep(60)


@server
def stops_on_sigterm():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    base.serve()
    time.sleep(60)


@server
def floods_when_stdin_ends():
    base.serve()
    base.write_all(1, b"bye\n" * 30_000)
    base.write_all(2, b"bye\n" * 30_000)


@server
def leaves_children(how):
    """Starts a child that outlives it, in its own group or in a session of its own, and tells its pid."""
    code = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code],
        start_new_session=how == "session",
        stdin=subprocess.DEVNULL,
        stdout=None if how == "pipes" else subprocess.DEVNULL,
        stderr=None if how == "pipes" else subprocess.DEVNULL,
    )

    def handle(message):
        if message["method"] == "crash":
            os._exit(9)
        base.answer(message["id"], {"child": child.pid})

    base.serve(handle)


@server
def writes_files():
    """Writes a file of the size that it is asked for and tells what came of it."""

    def handle(message):
        path, size = message["params"]["path"], message["params"]["size"]
        try:
            with open(path, "wb", buffering=0) as file:
                base.write_all(file.fileno(), b"x" * size)
            problem = None
        except OSError as error:
            problem = error.errno
        pipe = signal.getsignal(signal.SIGPIPE) if message["method"] == "signals" else None
        base.answer(message["id"], {"errno": problem, "size": os.path.getsize(path), "pipe": str(pipe)})

    base.serve(handle)


@server
def tells_its_environment():
    def handle(message):
        with open("/proc/self/status") as file:
            status = dict(line.split(":\t", 1) for line in file)
        facts = {"env": dict(os.environ), "cwd": os.getcwd(), "session": os.getsid(0), "pid": os.getpid()}
        facts |= {"fds": os.listdir("/proc/self/fd"), "ignored": status["SigIgn"].strip()}
        base.answer(message["id"], facts)

    base.serve(handle)


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    SERVERS[name](*arguments)
