"""The suite's own answers to vectors, by the rules that `lro validate` and `lro certify` apply.

If the expected answer of a vector differs from the suite's answer, the vector has a defect. Two kinds of vectors can be
answered only by an implementation, so they have no function here: `write`, and `mapping` of a proxy.
`lro_conformance.vectors.judge` judges what an implementation has written.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Any, cast

from lro_conformance.analysis.documents import violates
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
from lro_spec.tokens import characters_estimate, exceeds_threshold, script_aware_estimate
from lro_spec.validation import validate_descriptor, validate_file
from lro_spec.validation.linked import Following
from lro_spec.validation.request import Request

Input = Mapping[str, Any]


class UnansweredError(LookupError):
    """The suite cannot answer this kind of question itself."""


def answer(kind: str, question: Input, edition: str) -> object:
    """The answer of the suite by the rules of an edition. Raises `UnansweredError` if only an implementation can answer
    this kind of question."""
    function = ANSWERS.get(kind)
    if function is None:
        raise UnansweredError(f"only an implementation can answer a vector of kind {kind}")
    return function(question, edition)


def content(question: Input) -> bytes:
    """The bytes of the file in a question."""
    return bytes.fromhex(question["hex"]) if "hex" in question else str(question["text"]).encode()


def broken(findings: Iterable[Finding]) -> list[str]:
    """The requirements that findings violate, including those that bind only from level 2 on."""
    return sorted({f.rule for f in findings if violates(f)})


# Documents


def _file(question: Input, edition: str) -> object:
    return broken(validate_file(io.BytesIO(content(question)), edition=edition))


def _descriptor(question: Input, edition: str) -> object:
    return broken(validate_descriptor(question["descriptor"], edition=edition, resolve_links=str))


def _descriptor_and_file(question: Input, edition: str) -> object:
    return broken(linked(question["descriptor"], content(question), question.get("call"), edition))


def linked(descriptor: object, data: bytes, call: Input | None, edition: str) -> Iterable[Finding]:
    """Findings about a descriptor, its recipes and its file. If *call* is not None, there are also findings about
    values that contradict the call."""
    request = None
    if call is not None:
        level = call.get("detail") or edition_named(edition).default_detail.get(call["operation"])
        request = Request(call["operation"], level)
    return Following(descriptor, content=data, edition=edition, request=request, resolve_links=str).findings()


def _result(question: Input, edition: str) -> object:
    result: dict[str, Any] = question["result"]
    if wrong_call_result(result) is not None:
        return ["LRO-PROT-03"]
    found, schema, violated = find_descriptor(result), question.get("output_schema"), list[str]()
    if found is not None and is_failure(result):
        violated.append("LRO-DESC-12")
    if found is not None and differing_descriptors(result, found) is not None:
        violated.append("LRO-DESC-11")
    if schema is not None and not is_failure(result) and against_output_schema(result, schema) is not None:
        violated.append("LRO-PROT-01")
    if found is not None and cursor_beside(result, found) is not None:
        violated.append("LRO-DESC-13")
    if found is not None and EXTRACT in question.get("tools", ()) and not names_extraction(found.value):
        violated.append("LRO-GUI-06")
    return sorted(set(violated) & {r.id for r in catalogue(edition) if r.keyword == "MUST"})


def _name(question: Input, edition: str) -> object:
    parsed_name = parse_file_name(question["name"], edition=edition)
    return (
        None if parsed_name is None else {"operation": parsed_name.operation, "milliseconds": parsed_name.milliseconds}
    )


# Decisions


def _estimate(question: Input, edition: str) -> object:
    return script_aware_estimate(question["text"])


def _threshold(question: Input, edition: str) -> float:
    settings: Input = question.get("settings", {})
    if not settings.get("enabled", edition_named(edition).default_enabled):
        return float("inf")
    return settings.get("threshold_tokens", edition_named(edition).default_threshold_tokens)


def _decision(question: Input, edition: str) -> object:
    return "offloaded" if exceeds_threshold(question["estimated_tokens"], _threshold(question, edition)) else "inline"


def _injection(question: Input, edition: str) -> object:
    if exceeds_threshold(question["estimated_tokens"], _threshold(question, edition)):
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
        if exceeds_threshold(characters_estimate(size), threshold):
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
    """The outputs of a jq program: a list of JSON values, or a list of lines of text if the call asks for raw output.
    Returns ``"error"`` if the program fails."""
    done = _runner().run(Pipeline("", 0, call, ()), data)
    if not done.ok:
        return "error"
    text = done.stdout.decode()
    return lines_of(text) if call.raw else stream(text)


def lines_of(text: str) -> list[str]:
    """The lines of a text. Only a line feed ends a line. Other characters such as U+2028 do not, although they do in
    `str.splitlines`."""
    return text.removesuffix("\n").split("\n") if text else []


def stream(text: str) -> list[object]:
    """The JSON values of a text, one after the other."""
    decoder, values, index = json.JSONDecoder(), list[object](), 0
    while match := re.compile(r"\s*(?=\S)").match(text, index):
        value, index = decoder.raw_decode(text, match.end())
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
    arguments: Input = question["arguments"]
    requested_path = arguments.get("file_path", arguments.get("filename", ""))
    path = PurePosixPath(question["output_dir"], requested_path)
    if ".." in path.parts or "\0" in requested_path or str(path) not in question["files"]:
        return _REFUSED
    return _ANSWERS_OF_TOOLS[question["tool"]](question["files"][str(path)], arguments)


def _lro_extract(text: str, arguments: Input) -> object:
    if ("recipe" in arguments) == ("query" in arguments):
        return _REFUSED
    program = arguments.get("query")
    call = JqCall(str(program))
    if "recipe" in arguments:
        recipes = {r.number: r.command for r in edition_named("lro-1600").recipes_at("full")}
        if arguments["recipe"] not in recipes:
            return _REFUSED
        call = _with_parameters(recipes[arguments["recipe"]], arguments.get("params", {}))
    values = run_jq(call, text.partition("\n")[2].encode())
    return _REFUSED if values == "error" else {"values": values}


_PARAMETERS = {"namespace": '"_semantic"', "keyword": '"keyword"', "tag": '"TAG"', "type": '"semantic"'}
"""For each parameter, the literal in the standard recipes that is replaced by the value of the parameter."""


def _with_parameters(command: str, params: Input) -> JqCall:
    """The jq call of a recipe, with its literals replaced by the values of the parameters."""
    call = parse_command(command.replace("{file}", "/file")).jq
    program = call.program
    for name, value in params.items():
        program = program.replace(_PARAMETERS[name], json.dumps(value))
    return JqCall(program, slurp=call.slurp, raw=call.raw)


def _read(text: str, arguments: Input) -> object:
    start, end = arguments["start"], arguments["end"]
    return _REFUSED if end < start or start > len(text) else {"text": text[start:end]}


def _search(text: str, arguments: Input) -> object:
    flags = 0 if arguments.get("case_sensitive", False) else re.IGNORECASE
    lines = [n for n, line in enumerate(lines_of(text), 1) if re.search(arguments["pattern"], line, flags)]
    return {"lines": lines[: arguments.get("max_results", 50)]}


def _query(text: str, arguments: Input) -> object:
    raw = arguments.get("raw", False)
    values = run_jq(JqCall(arguments["query"]), text.encode())
    if not isinstance(values, list):
        return _REFUSED
    indent, separators = (None, (",", ":")) if arguments.get("compact", False) else (2, None)
    texts = [
        v if raw and isinstance(v, str) else json.dumps(v, ensure_ascii=False, indent=indent, separators=separators)
        for v in cast("list[object]", values)
    ]
    return {"lines": lines_of("\n".join(texts))}


_ANSWERS_OF_TOOLS: Mapping[str, Callable[[str, Input], object]] = {
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
"""The functions that compute the suite's answers, by kind of question."""


def descriptor_and_file(answered: object) -> tuple[object, bytes] | None:
    """The descriptor and the content of the file in an answer to `write`; None if the answer has another form."""
    if not isinstance(answered, dict):
        return None
    members = cast("dict[str, Any]", answered)
    data = members.get("file")
    if not isinstance(data, str) or "descriptor" not in members:
        return None
    return members["descriptor"], data.encode(
        "utf-8", "surrogatepass"
    )  # keeps half of a surrogate pair: validation reports it
