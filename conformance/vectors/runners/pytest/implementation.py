"""An implementation under test, as small as it can be: put your own functions here, one for each kind."""

import json
import re
import subprocess

from reader import is_valid
from writer import write

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
NAME = re.compile(
    r"atlatl-([A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*)-([0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25})\.jsonl", re.ASCII
)


def above(asked):
    settings = asked.get("settings", {})
    return settings.get("enabled", True) and asked["estimated_tokens"] > settings.get("threshold_tokens", 6400)


def name(asked):
    found = NAME.fullmatch(asked["name"])
    if found is None:
        return None
    milliseconds = 0
    for character in found[2][:10].upper():
        milliseconds = milliseconds * 32 + CROCKFORD.index(character)
    return {"operation": found[1], "milliseconds": milliseconds}


def injection(asked):
    filed = above(asked)
    return {
        "result": "descriptor" if filed else "text",
        "records": asked["found"] if filed else 0,
        "formatted": not filed,
    }


def cleanup(asked):
    lives, gone = asked.get("settings", {}).get("ttl_seconds", 3600), []
    for entry in asked["entries"]:
        found = name(entry)
        if found and entry["kind"] == "file" and found["milliseconds"] / 1000 + lives < asked["now"]:
            gone.append(entry["name"])
    return sorted(gone)


def file(asked):
    data = bytes.fromhex(asked["hex"]) if "hex" in asked else asked["text"].encode()
    return "valid" if is_valid(data) else "invalid"


def recipe(asked):
    command = ["jq", "-c", *(["-s"] if asked["slurp"] else []), *(["-r"] if asked["raw"] else []), asked["program"]]
    data = "".join(f"{line}\n" for line in asked["lines"])
    outputs = subprocess.run(command, input=data, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    return outputs if asked["raw"] else [json.loads(output) for output in outputs]


KINDS = {
    "decision": lambda asked: "offloaded" if above(asked) else "inline",
    "estimate": lambda asked: -(-len(asked["text"]) // 4),
    "injection": injection,
    "name": name,
    "cleanup": cleanup,
    "file": file,
    "recipe": recipe,
    "write": write,
}
