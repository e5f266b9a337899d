"""The suite's own answers to vectors, by the rules that `lro validate` and `lro certify` apply.

An expected answer that differs from these is a defect of the vector. Kinds that only an implementation can answer
(`write`, and `mapping` of a proxy) have no function here; `lro_conformance.vectors.judge` judges what was written.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Any, cast

from lro_conformance.analysis.documents import breaks
from lro_conformance.analysis.messages import wrong_call_result
from lro_conformance.analysis.results import (
    EXTRACT,
    against_output_schema,
    cursor_beside,
    differing_descriptors,
    is_failure,
    names_extraction,
)
from lro_spec.catalogue import catalogue
from lro_spec.discovery import find_descriptor
from lro_spec.editions import edition as edition_named
from lro_spec.filenames import is_expired, parse_file_name
from lro_spec.findings import Finding
from lro_spec.recipes.pipeline import JqCall, Pipeline, parse_command
from lro_spec.recipes.runner import JqRunner
from lro_spec.recipes.shell import RecipeSyntaxError, split_pipeline
from lro_spec.tokens import characters_estimate, exceeds, script_aware_estimate
from lro_spec.validation import validate_descriptor, validate_file
from lro_spec.validation.linked import Following
from lro_spec.validation.request import Request

Input = Mapping[str, Any]


class UnansweredError(LookupError):
    """The suite has no answer of its own to this kind of question."""


def answer(kind: str, question: Input, edition: str) -> object:
    """The suite's answer by an edition. Raises `UnansweredError` for a kind that only an implementation can answer."""
    function = ANSWERS.get(kind)
    if function is None:
        raise UnansweredError(f"only an implementation can answer a vector of kind {kind}")
    return function(question, edition)


def content(question: Input) -> bytes:
    """The bytes of the file in a question."""
    return bytes.fromhex(question["hex"]) if "hex" in question else str(question["text"]).encode()


def broken(findings: Iterable[Finding]) -> list[str]:
    """The requirements that findings violate, including those that bind only from level 2 on."""
    return sorted({f.rule for f in findings if breaks(f)})


# Documents


def _file(question: Input, edition: str) -> object:
    return broken(validate_file(io.BytesIO(content(question)), edition=edition))


def _descriptor(question: Input, edition: str) -> object:
    return broken(validate_descriptor(question["descriptor"], edition=edition, real=str))


def _descriptor_and_file(question: Input, edition: str) -> object:
    return broken(linked(question["descriptor"], content(question), question.get("call"), edition))


def linked(descriptor: object, data: bytes, call: Input | None, edition: str) -> Iterable[Finding]:
    """Findings about a descriptor, its recipes and its file; if *call* is known, also about contradictions to the
    call."""
    request = None
    if call is not None:
        level = call.get("detail") or edition_named(edition).default_detail.get(call["operation"])
        request = Request(call["operation"], level)
    return Following(descriptor, content=data, edition=edition, request=request, real=str).findings()


def _result(question: Input, edition: str) -> object:
    result: dict[str, Any] = question["result"]
    if wrong_call_result(result) is not None:
        return ["LRO-PROT-03"]
    found, schema, wrong = find_descriptor(result), question.get("output_schema"), list[str]()
    if found is not None and is_failure(result):
        wrong.append("LRO-DESC-12")
    if found is not None and differing_descriptors(result, found) is not None:
        wrong.append("LRO-DESC-11")
    if schema is not None and not is_failure(result) and against_output_schema(result, schema) is not None:
        wrong.append("LRO-PROT-01")
    if found is not None and cursor_beside(result, found) is not None:
        wrong.append("LRO-DESC-13")
    if found is not None and EXTRACT in question.get("tools", ()) and not names_extraction(found.value):
        wrong.append("LRO-GUI-06")
    return sorted(set(wrong) & {r.id for r in catalogue(edition) if r.keyword == "MUST"})


def _name(question: Input, edition: str) -> object:
    found = parse_file_name(question["name"], edition=edition)
    return None if found is None else {"operation": found.operation, "milliseconds": found.milliseconds}


# Decisions


def _estimate(question: Input, edition: str) -> object:
    return script_aware_estimate(question["text"])


def _threshold(question: Input, edition: str) -> float:
    settings: Input = question.get("settings", {})
    if not settings.get("enabled", edition_named(edition).default_enabled):
        return float("inf")
    return settings.get("threshold_tokens", edition_named(edition).default_threshold_tokens)


def _decision(question: Input, edition: str) -> object:
    return "offloaded" if exceeds(question["estimated_tokens"], _threshold(question, edition)) else "inline"


def _injection(question: Input, edition: str) -> object:
    if exceeds(question["estimated_tokens"], _threshold(question, edition)):
        return {"result": "descriptor", "records": question["found"], "formatted": False}
    return {"result": "text", "records": 0, "formatted": True}


def _cleanup(question: Input, edition: str) -> object:
    facts = edition_named(edition)
    ttl_s = question.get("settings", {}).get("ttl_seconds", facts.default_ttl_seconds)

    def is_due(entry: Input) -> bool:
        name = parse_file_name(entry["name"], edition=edition)
        is_own = name is not None and (not facts.operations or name.operation in facts.operations)
        created = name.milliseconds / 1000 if name is not None else 0
        return is_own and entry.get("kind", "file") == "file" and is_expired(question["now"] - created, ttl_s)

    return sorted(entry["name"] for entry in question["entries"] if is_due(entry))


def _fallback(question: Input, edition: str) -> object:
    threshold, kept, size = _threshold(question, edition), 0, ""
    lines = [json.dumps(r, ensure_ascii=False, separators=(",", ":")) for r in question["records"]]
    for line in lines:
        size += line
        if exceeds(characters_estimate(size), threshold):
            break
        kept += 1
    return {
        "is_error": False,
        "records": kept,
        "file_path": None,
        "warning": f"Offloading failed ({question['error']}); results are truncated: {kept} of {len(lines)} memories.",
        "event": "OffloadWriteFailed" if names_events(edition) else None,
    }


def names_events(edition: str) -> bool:
    """True if an edition names its events."""
    return edition_named(edition).named_events


# Recipes and commands


@cache
def _runner() -> JqRunner:
    return JqRunner(None)


def _recipe(question: Input, edition: str) -> object:
    data = "".join(f"{line}\n" for line in question["lines"]).encode()
    call = JqCall(question["program"], slurp=question.get("slurp", False), raw=question.get("raw", False))
    return run_jq(call, data)


def run_jq(call: JqCall, data: bytes) -> object:
    """The outputs of a jq program: values, or lines of text if the call asks for raw output; ``"error"`` if it
    fails."""
    done = _runner().run(Pipeline("", 0, call, ()), data)
    if not done.ok:
        return "error"
    text = done.stdout.decode()
    return lines_of(text) if call.raw else stream(text)


def lines_of(text: str) -> list[str]:
    """The lines of a text. Only a line feed ends one: U+2028 and others do not, unlike in `str.splitlines`."""
    return text.removesuffix("\n").split("\n") if text else []


def stream(text: str) -> list[object]:
    """The JSON values of a text, one after the other."""
    decoder, values, at = json.JSONDecoder(), list[object](), 0
    while match := re.compile(r"\s*(?=\S)").match(text, at):
        value, at = decoder.raw_decode(text, match.end())
        values.append(value)
    return values


def _quoting(question: Input, edition: str) -> object:
    if "path" in question:
        return "'" + question["path"].replace("'", "'\"'\"'") + "'"
    try:
        return [list(stage) for stage in split_pipeline(question["command"])]
    except RecipeSyntaxError:
        return "refused"


# Tools that read files

_REFUSED = {"refused": True}


def _extract(question: Input, edition: str) -> object:
    given: Input = question["arguments"]
    named = given.get("file_path", given.get("filename", ""))
    path = PurePosixPath(question["output_dir"], named)
    if ".." in path.parts or "\0" in named or str(path) not in question["files"]:
        return _REFUSED
    return _TOOLS[question["tool"]](question["files"][str(path)], given)


def _lro_extract(text: str, given: Input) -> object:
    if ("recipe" in given) == ("query" in given):
        return _REFUSED
    program = given.get("query")
    call = JqCall(str(program))
    if "recipe" in given:
        recipes = {r.number: r.command for r in edition_named("lro-1600").recipes_at("full")}
        if given["recipe"] not in recipes:
            return _REFUSED
        call = _with_parameters(recipes[given["recipe"]], given.get("params", {}))
    values = run_jq(call, text.partition("\n")[2].encode())
    return _REFUSED if values == "error" else {"values": values}


_PARAMETERS = {"namespace": '"_semantic"', "keyword": '"keyword"', "tag": '"TAG"', "type": '"semantic"'}
"""The literal in the standard recipes that stands for each parameter."""


def _with_parameters(command: str, params: Input) -> JqCall:
    """The jq call of a recipe, with its literals replaced by the values of the parameters."""
    call = parse_command(command.replace("{file}", "/file")).jq
    program = call.program
    for name, value in params.items():
        program = program.replace(_PARAMETERS[name], json.dumps(value))
    return JqCall(program, slurp=call.slurp, raw=call.raw)


def _read(text: str, given: Input) -> object:
    start, end = given["start"], given["end"]
    return _REFUSED if end < start or start > len(text) else {"text": text[start:end]}


def _search(text: str, given: Input) -> object:
    flags = 0 if given.get("case_sensitive", False) else re.IGNORECASE
    lines = [n for n, line in enumerate(lines_of(text), 1) if re.search(given["pattern"], line, flags)]
    return {"lines": lines[: given.get("max_results", 50)]}


def _query(text: str, given: Input) -> object:
    raw = given.get("raw", False)
    values = run_jq(JqCall(given["query"]), text.encode())
    if not isinstance(values, list):
        return _REFUSED
    indent, separators = (None, (",", ":")) if given.get("compact", False) else (2, None)
    shown = [
        v if raw and isinstance(v, str) else json.dumps(v, ensure_ascii=False, indent=indent, separators=separators)
        for v in cast("list[object]", values)
    ]
    return {"lines": lines_of("\n".join(shown))}


_TOOLS: Mapping[str, Callable[[str, Input], object]] = {
    "lro_extract": _lro_extract,
    "query_large_output": _query,
    "read_large_output": _read,
    "search_large_output": _search,
}

ANSWERS: Mapping[str, Callable[[Input, str], object]] = {
    "cleanup": _cleanup,
    "decision": _decision,
    "descriptor": _descriptor,
    "descriptor+file": _descriptor_and_file,
    "estimate": _estimate,
    "extract": _extract,
    "fallback": _fallback,
    "file": _file,
    "injection": _injection,
    "name": _name,
    "quoting": _quoting,
    "recipe": _recipe,
    "result": _result,
}
"""The suite's answer to each kind of question."""


def descriptor_and_file(answered: object) -> tuple[object, bytes] | None:
    """The descriptor and the file in an answer to `write`; None if it has another form."""
    if not isinstance(answered, dict):
        return None
    have = cast("dict[str, Any]", answered)
    data = have.get("file")
    if not isinstance(data, str) or "descriptor" not in have:
        return None
    return have["descriptor"], data.encode(
        "utf-8", "surrogatepass"
    )  # keeps half of a surrogate pair: validation reports it
