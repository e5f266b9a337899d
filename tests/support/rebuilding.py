"""A tool's result built again from nothing but its file: what is missing there cannot be built."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from lro_proxy.payload.forms import FORMS
from lro_proxy.payload.forms.python import spelling


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
    value = _value_of(extra, lines)
    if extra["format"] in ("jsonl", "blocks", "texts"):
        return None, value
    if extra.get("notation") == "python":
        return None, [spelling(_plain(value), are_tuples=extra.get("tuples", False))]
    return value, [value]


def _value_of(extra: dict[str, Any], lines: list[Any]) -> Any:
    match extra["format"]:
        case "jsonl":
            return [JsonLines(lines)]
        case "blocks":
            return lines
        case "texts":
            return [line["text"] for line in lines]
        case "members":
            return _members(lines)
        case "value":
            return lines[0]["value"]
        case "tables":
            return _of_tables(extra, lines)
        case "json":
            return _placed(extra.get("at"), extra.get("around"), _items(extra, lines))
        case "text":
            return _placed(extra.get("at"), extra.get("around"), _joined(lines) + extra["ending"])
        case name:
            form = next(form for form in FORMS if form.name == name)
            return _placed(extra.get("at"), extra.get("around"), "".join(form.rebuild(extra, lines)))


def _joined(lines: list[Any]) -> str:
    """Lines of text, some of them in parts."""
    return "".join(("" if int(line.get("part", 1)) > 1 else "\n") + line["text"] for line in lines)[1:]


def _items(extra: dict[str, Any], lines: list[Any]) -> list[Any]:
    if extra.get("wrapped"):
        return [line["value"] for line in lines]
    if "tree" in extra:
        return _planted(iter(lines), extra["tree"], extra["name"])
    if "columns" in extra:
        rows = [[line[name] for name in extra["columns"]] for line in lines]
        return [extra["columns"], *rows] if extra.get("head") else rows
    return lines


def _planted(nodes: Iterator[dict[str, Any]], key: str, name: str, count: int | None = None) -> list[Any]:
    """The next nodes of a tree, with all below them."""
    made: list[Any] = []
    for node in nodes if count is None else islice(nodes, count):
        rest = {k: v for k, v in node.items() if k not in ("path", key)}
        below = {key: _planted(nodes, key, name, int(node[key]))} if key in node else {}
        made.append({name: node["path"].split("/")[-1], **rest, **below})
    return made


def _of_tables(extra: dict[str, Any], lines: list[Any]) -> Any:
    tables: dict[str, list[Any]] = {}
    for line in lines:
        name = line["table"]
        item = {key: value for key, value in line.items() if key != "table"}
        is_part = name in extra.get("wrapped", ()) or name in extra.get("texts", ())
        tables.setdefault(name, []).append(item.get("value", item.get("text")) if is_part else item)
    value = copy.deepcopy(extra["around"])
    node = value
    for step in _steps(extra.get("at", "")):
        node = node[step]
    node.update({name: "\n".join(items) if name in extra.get("texts", ()) else items for name, items in tables.items()})
    return value


def _plain(value: Any) -> Any:
    """A value with Python's numbers instead of digits."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return json.loads(value) if type(value) is not str and isinstance(value, str) else value


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


def _placed(at: str | None, around: Any, value: Any) -> Any:
    if not at:
        return value
    around = copy.deepcopy(around)
    *steps, last = _steps(at)
    node = around
    for step in steps:
        node = node[step]
    node[last] = value
    return around


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
