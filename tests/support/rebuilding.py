"""A tool's result built again from nothing but its file: what is missing there cannot be built."""

from __future__ import annotations

import copy
import csv
import io
import json
from collections.abc import Callable
from typing import Any


def payload(
    header: dict[str, Any], lines: list[Any], loads: Callable[[str], Any] = json.loads
) -> tuple[list[Any] | None, Any]:
    """The texts (JSON ones as values) and the structured content that the file holds; None for what was not sent."""
    extra = header["extra"]
    value, texts = _content(extra, lines)
    match extra.get("from"):
        case None:
            return texts, None
        case "structuredContent":
            return extra.get("texts"), value
        case "both" if "repeated" in extra:
            sent = texts if extra["as"] == "text" else [_value(text, loads) for text in texts]
            repeated = sent if len(texts) > 1 or extra["format"] in ("blocks", "texts") else sent[0]
            return texts, {**extra["structured"], extra["repeated"]: repeated}
        case "both":
            return texts, texts[0]
        case _:
            content = [v for k, v in value.items() if k.startswith("content/")]
            structured = {k.split("/", 1)[1]: v for k, v in value.items() if k.startswith("structuredContent/")}
            return content, structured


def _value(text: Any, loads: Callable[[str], Any]) -> Any:
    try:
        return loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


def _content(extra: dict[str, Any], lines: list[Any]) -> tuple[Any, list[Any]]:
    match extra["format"]:
        case "text":
            text = "\n".join(line["text"] for line in lines) + extra["ending"]
            return text, [text]
        case "table":
            text = io.StringIO(newline="")
            writer = csv.writer(text, delimiter=extra["delimiter"], lineterminator=extra["line_end"])
            writer.writerow(extra["columns"])
            writer.writerows([line[name] for name in extra["columns"]] for line in lines)
            whole = text.getvalue().removesuffix(extra["line_end"]) + extra["ending"]
            return whole, [whole]
        case "jsonl":
            return None, [JsonLines(lines)]
        case "blocks":
            return None, lines
        case "texts":
            return None, [line["text"] for line in lines]
        case "members":
            value = _members(lines)
            return value, [value]
        case "value":
            return lines[0]["value"], [lines[0]["value"]]
        case _:
            items = [line["value"] for line in lines] if extra.get("wrapped") else lines
            value = _placed(extra["at"], extra.get("around"), items)
            return value, [value]


class JsonLines(list[Any]):
    """The values of a text of JSON Lines."""


def _members(lines: list[dict[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for line in lines:
        name = line["member"]
        if "n" not in line:
            made[name] = line["value"]
        elif "text" in line:
            made[name] = line["text"] if name not in made else made[name] + "\n" + line["text"]
        else:
            made.setdefault(name, []).append(line["value"])
    return made


def _placed(at: str, around: Any, items: list[Any]) -> Any:
    if not at:
        return items
    around = copy.deepcopy(around)
    *steps, last = [step.replace("~1", "/").replace("~0", "~") for step in at.split("/")[1:]]
    node = around
    for step in steps:
        node = node[step]
    node[last] = items
    return around
