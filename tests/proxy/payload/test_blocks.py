"""Content blocks that are not text: what is a payload in them, and what stays in the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lro_proxy import Interceptor
from lro_proxy.payload.result import read_answer
from lro_reference.settings import Settings
from tests.support.rebuilding import payload

PICTURE = {"type": "image", "data": "iVBORw0KGgo" * 3000, "mimeType": "image/png"}
TEXT = "".join(f"line {n} of a file\n" for n in range(3000))


def resource(text: str = TEXT, **more: Any) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": "file:///a.py", "mimeType": "text/x-python", "text": text}, **more}


def text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def answered(folder: Path, result: dict[str, Any], *, cut: bool = False, **arguments: Any) -> dict[str, Any] | None:
    """The answer to a call with this result; None if it stays as it is."""
    lro = Interceptor(Settings(threshold_tokens=6400, output_dir=str(folder)), emit=lambda event: None)
    read = read_answer(json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode() + b" " * (cut << 20)).result
    made = lro.offload(read, tool="read", arguments=arguments)
    return None if made is None else json.loads(json.dumps(made))


def file_of(answer: dict[str, Any], place: int = 0) -> tuple[dict[str, Any], dict[str, Any], list[Any]]:
    descriptor = json.loads(answer["content"][place]["text"])
    header, *lines = map(json.loads, Path(descriptor["file_path"]).read_text().splitlines())
    return descriptor, header, lines


def test_the_text_of_an_embedded_resource_is_offloaded(tmp_path: Path) -> None:
    answer = answered(tmp_path, {"content": [resource(annotations={"priority": 1})]})
    assert answer is not None
    descriptor, header, lines = file_of(answer)
    assert payload(header, lines)[0] == [TEXT]
    named = {"uri": "file:///a.py", "mimeType": "text/x-python"}
    kept = {"type": "resource", "resource": named, "annotations": {"priority": 1}}
    assert header["extra"]["blocks"] == {"0": kept}
    assert descriptor["resources"] == [named]


def test_a_sentence_beside_an_embedded_resource_stays(tmp_path: Path) -> None:
    sentence = text("successfully downloaded text file (SHA: 1234)")
    answer = answered(tmp_path, {"content": [sentence, resource()]})
    assert answer is not None
    assert answer["content"][1:] == [sentence]
    _, header, lines = file_of(answer)
    assert payload(header, lines)[0] == [TEXT]
    assert list(header["extra"]["blocks"]) == ["1"]


def test_large_texts_and_resources_are_one_payload(tmp_path: Path) -> None:
    answer = answered(tmp_path, {"content": [text(TEXT), PICTURE, resource(TEXT[:9000])]})
    assert answer is not None
    assert answer["content"][1:] == [PICTURE]
    _, header, lines = file_of(answer)
    assert payload(header, lines)[0] == [TEXT, TEXT[:9000]]


def test_a_small_resource_and_a_binary_one_stay(tmp_path: Path) -> None:
    others = [resource("small"), {"type": "resource", "resource": {"uri": "a:b", "blob": "QUJD" * 9000}}, PICTURE]
    assert answered(tmp_path, {"content": others}) is None
    answer = answered(tmp_path, {"content": [*others, text(TEXT)]})
    assert answer is not None
    assert answer["content"][1:] == others


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("wrapped", [lambda b: {"content": b}, lambda b: {"result": {"images": b}}, lambda b: b[0]])
def test_structured_content_that_repeats_an_image_weighs_nothing(tmp_path: Path, wrapped: Any, cut: bool) -> None:
    assert answered(tmp_path, {"content": [PICTURE], "structuredContent": wrapped([PICTURE])}, cut=cut) is None
    small = {"type": "image", "data": "iVBORw0KGgo" * 1000, "mimeType": "image/png"}
    result = {"content": [small] * 5, "structuredContent": wrapped([small] * 5)}
    assert answered(tmp_path, result, cut=cut) is None


def test_structured_content_beside_an_image_refers_to_it(tmp_path: Path) -> None:
    rows = [{"id": n, "name": f"row {n}"} for n in range(2000)]
    answer = answered(tmp_path, {"content": [PICTURE], "structuredContent": {"rows": rows, "picture": PICTURE}})
    assert answer is not None
    assert answer["content"][1:] == [PICTURE]
    header = json.loads(Path(answer["structuredContent"]["file_path"]).read_text().splitlines()[0])
    assert header["extra"]["around"]["picture"] == {"$ref": "#/content/0"}


def test_structured_objects_beside_other_texts_are_kept_with_them(tmp_path: Path) -> None:
    texts = [json.dumps({"n": n, "text": "x" * 200}) for n in range(200)] + ["and no more"]
    structured = {"result": [{"n": n, "text": "x" * 200} for n in range(201)]}
    answer = answered(tmp_path, {"content": [text(one) for one in texts], "structuredContent": structured})
    assert answer is not None
    _, header, lines = file_of(answer)
    assert payload(header, lines) == (texts, structured)


def test_what_is_read_back_is_not_offloaded_again(tmp_path: Path) -> None:
    answer = answered(tmp_path, {"content": [text(TEXT)]})
    assert answer is not None
    path = file_of(answer)[0]["file_path"]
    result = {"content": [text(Path(path).read_text())]}
    assert answered(tmp_path, result, path=path) is None
    assert answered(tmp_path, result, command=f"tail -n +2 {path} | jq .") is None
    assert answered(tmp_path, result, path="/other/file.jsonl") is not None
