"""An MCP server that does what its client asks for, however wrong: `python -I -S scripted.py`, standard library only.

A tool's name says what happens; everything is answered verbatim, so that a test can compare bytes.
"""

import json
import os
import subprocess
import sys
import time

SCHEMA = {"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]}
TOOLS = [
    {"name": "say", "description": "the result that is asked for", "inputSchema": {"type": "object"}},
    {"name": "typed", "inputSchema": {"type": "object"}, "outputSchema": SCHEMA, "x-unknown": [1.50, 1e2]},
]
if "--all" in sys.argv:  # lists everything that `call` knows
    TOOLS += [{"name": n, "inputSchema": {"type": "object"}} for n in ("ask", "die", "hang", "sleep", "huge")]


def write(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()


def answer(id: object, result: str | dict) -> None:
    result = result if isinstance(result, str) else json.dumps(result)  # the inspector reads arguments as JSON
    id = str(id) if "--ids-as-texts" in sys.argv else id
    write(f'{{"jsonrpc": "2.0",  "id":{json.dumps(id)},"result":{result}}}\n')


def call(id: object, name: str, arguments: dict) -> None:
    match name:
        case "say" | "typed":
            answer(id, arguments["result"])
        case "raw":
            write(arguments["text"].replace("$ID", json.dumps(id)))
        case "sleep":
            time.sleep(1000)
        case "hang":
            pass
        case "die":
            sys.stderr.write("the disk is on fire\n")
            sys.stderr.flush()
            os._exit(7)
        case "killed":
            os.kill(os.getpid(), 9)
        case "half":
            write(f'{{"jsonrpc":"2.0","id":{json.dumps(id)},"result":{{"content":[')
            os._exit(0)
        case "huge":
            where = arguments.get("id", "front")
            write(
                '{"jsonrpc":"2.0",' + (f'"id":{json.dumps(id)},' if where == "front" else "") + '"result":{"content":"'
            )
            block = "x" * (1 << 20)
            for _ in range(arguments["mb"]):
                write(block)
            write('"}' + (f',"id":{json.dumps(id)}' if where == "end" else "") + "}\n")
        case "flood":
            line = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s"}}\n' % (
                "y" * 900
            )
            for _ in range(arguments["lines"]):
                write(line)
            answer(id, '{"content":[]}')
        case "child":
            child = subprocess.Popen(["sleep", "1000"])
            answer(id, json.dumps({"content": [{"type": "text", "text": str(child.pid)}]}))
        case "ask":
            write(
                '{"jsonrpc":"2.0","id":"q1","method":"sampling/createMessage",'
                '"params":{"messages":[], "maxTokens":5}}\n'
            )
            reply = sys.stdin.readline()
            answer(id, json.dumps({"content": [{"type": "text", "text": reply}]}))
        case "slow":
            for n in range(arguments["steps"]):
                time.sleep(arguments["pause_s"])
                note = {"progressToken": arguments["token"], "progress": n}
                write(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": note}) + "\n")
            answer(id, '{"content":[{"type":"text","text":"done"}]}')
        case "environment":
            answer(id, json.dumps({"content": [{"type": "text", "text": json.dumps(dict(os.environ))}]}))


def main() -> None:
    if "--deaf" in sys.argv:  # neither a closed stdin nor SIGTERM ends it
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            write('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}\n')
            continue
        for one in message if isinstance(message, list) else [message]:
            id, method = one.get("id"), one.get("method")
            if id is None or method is None:
                if method == "notifications/cancelled":
                    sys.stderr.write(f"cancelled {json.dumps(one['params']['requestId'])}\n")
                    sys.stderr.flush()
                continue
            if method == "initialize":
                info = {"name": "scripted", "version": "1"}
                capabilities = {"tools": {}, "experimental": {"mine": {"exact": 1}}}
                answer(
                    id, json.dumps({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info})
                )
            elif method == "tools/list":
                answer(id, json.dumps({"tools": TOOLS, "nextCursor": "page 2"}))
            elif method == "tools/call":
                call(id, one["params"]["name"], one["params"].get("arguments") or {})
            elif not (one.get("params") or {}).get("hang"):
                answer(id, f'{{"method":{json.dumps(method)},  "kept":1.10}}')
    while "--deaf" in sys.argv:
        time.sleep(1)


main()
