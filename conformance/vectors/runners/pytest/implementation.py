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


def above(question):
    settings = question.get("settings", {})
    return settings.get("enabled", True) and question["estimated_tokens"] > settings.get("threshold_tokens", 6400)


def name(question):
    found = NAME.fullmatch(question["name"])
    if found is None:
        return None
    milliseconds = 0
    for character in found[2][:10].upper():
        milliseconds = milliseconds * 32 + CROCKFORD.index(character)
    return {"operation": found[1], "milliseconds": milliseconds}


def injection(question):
    is_offloaded = above(question)
    return {
        "result": "descriptor" if is_offloaded else "text",
        "records": question["found"] if is_offloaded else 0,
        "formatted": not is_offloaded,
    }


def cleanup(question):
    ttl, gone = question.get("settings", {}).get("ttl_seconds", 3600), []
    for entry in question["entries"]:
        found = name(entry)
        if found and entry["kind"] == "file" and found["milliseconds"] / 1000 + ttl < question["now"]:
            gone.append(entry["name"])
    return sorted(gone)


def file(question):
    data = bytes.fromhex(question["hex"]) if "hex" in question else question["text"].encode()
    return "valid" if is_valid(data) else "invalid"


def recipe(question):
    command = [
        "jq",
        "-c",
        *(["-s"] if question["slurp"] else []),
        *(["-r"] if question["raw"] else []),
        question["program"],
    ]
    data = "".join(f"{line}\n" for line in question["lines"])
    outputs = subprocess.run(command, input=data, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    return outputs if question["raw"] else [json.loads(output) for output in outputs]


KINDS = {
    "decision": lambda question: "offloaded" if above(question) else "inline",
    "estimate": lambda question: -(-len(question["text"]) // 4),
    "injection": injection,
    "name": name,
    "cleanup": cleanup,
    "file": file,
    "recipe": recipe,
    "write": write,
}
