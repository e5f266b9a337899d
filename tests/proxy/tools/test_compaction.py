"""The family `compaction`: a conversation gets shorter, and the removed parts can be read."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lro_proxy.relay.tools import arguments
from lro_proxy.tools.conversation import Message, Shortened, ShorteningOptions, shorten, tokens_of
from lro_proxy.tools.limits import Refused
from lro_proxy.tools.toolbox import Toolbox
from lro_reference.custodian import STALE_AFTER_S, clean
from lro_reference.settings import Settings
from lro_spec.filenames import ulid_at
from tests.support.extraction import greet, said
from tests.support.hubs import entry, hub
from tests.support.proxying import SETTING, Client, proxy, started

LONG = "\n".join(f"row {n}: 日本 {10**30 + n}" for n in range(2000))
SYSTEM: Message = {"role": "system", "content": "You help."}
USER: Message = {"role": "user", "content": "Find it."}
CALLING: Message = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "name": "find", "arguments": {}}]}
LARGE: Message = {"role": "tool", "tool_call_id": "c1", "content": LONG}
DONE: Message = {"role": "assistant", "content": "Found."}
TALK = [SYSTEM, USER, CALLING, LARGE, DONE]
PROSE: list[Message] = [{"role": "user", "content": f"{n} {'word ' * 400}"} for n in range(12)]


def short(messages: list[Message], mode: Any = "auto", summarise: Any = None, **terms: Any) -> Shortened:
    return shorten(messages, ShorteningOptions("/store", "chat", mode, **{"max_total_tokens": 100, **terms}), summarise)


# --- the function


def test_within_the_total_nothing_is_done() -> None:
    at_most = tokens_of(TALK)
    assert short(TALK, max_total_tokens=at_most).messages == TALK
    assert short(TALK, max_total_tokens=at_most - 1).messages != TALK


def test_a_large_older_result_becomes_a_preview_and_a_path() -> None:
    done = short(TALK, "compact")
    path = "/store/tool_call_c1.txt"
    assert done.write_file_dict == {path: LONG}
    assert done.messages[3] == {**LARGE, "content": f"{LONG[:100]}… (detailed result is stored in {path})"}
    assert [*done.messages[:3], done.messages[4]] == [*TALK[:3], DONE]


def test_the_most_recent_messages_stay() -> None:
    assert short(TALK[:4], "compact").messages == TALK[:4]
    assert short(TALK[:4], "compact", keep_recent_count=0).write_file_dict
    assert short(TALK, "compact", keep_recent_count=2).messages == TALK


def test_a_result_at_the_limit_stays_and_one_above_it_goes() -> None:
    tokens = tokens_of([LARGE])
    assert not short(TALK, "compact", max_tool_message_tokens=tokens).write_file_dict
    assert short(TALK, "compact", max_tool_message_tokens=tokens - 1).write_file_dict


def test_what_would_be_no_shorter_stays() -> None:
    """So a result that was compacted before is not compacted again, however low the limit."""
    once = short(TALK, "compact", max_tool_message_tokens=0)
    assert len(once.write_file_dict) == 1
    again = short(once.messages, "compact", max_tool_message_tokens=0, max_total_tokens=0)
    assert (again.messages, again.write_file_dict) == (once.messages, {})


def test_a_name_is_never_given_to_another_text() -> None:
    other = {**LARGE, "content": LONG.upper()}
    done = short([LARGE, other, LARGE, DONE], "compact")
    assert sorted(done.write_file_dict.values()) == sorted([LONG, LONG.upper()])
    assert done.messages[0] == done.messages[2] != done.messages[1]


@pytest.mark.parametrize(
    "id", ["../../etc/x", "/etc/passwd", "a b", "a/../b", "x" * 101, "日", ".", "", "a\nb", "CON:"]
)
def test_an_id_is_never_part_of_a_path(id: str) -> None:
    (path,) = short([{**LARGE, "tool_call_id": id}, DONE], "compact").write_file_dict
    folder, name = os.path.split(path)
    assert folder == "/store"
    assert name.isascii()
    assert name.replace("_", "").removesuffix(".txt").isalnum()


def test_blocks_are_stored_as_the_json_that_they_are() -> None:
    blocks = [{"type": "text", "text": LONG, "n": 10**30, "f": 0.1}]
    (text,) = short([{**LARGE, "content": blocks}, DONE], "compact").write_file_dict.values()
    assert json.loads(text) == blocks


def test_older_messages_become_a_snapshot_in_the_system_message() -> None:
    asked: list[str] = []
    done = short([SYSTEM, *PROSE, DONE], "compress", lambda text: asked.append(text) or " They <state_snapshot>spoke. ")
    path = "/store/compressed_group_chat_0.json"
    assert [json.loads(text) for text in asked] == [PROSE[:-1]]
    assert json.loads(done.write_file_dict[path]) == PROSE[:-1]
    assert done.messages == [
        {
            "role": "system",
            "content": "You help.\n\n<state_snapshot>\nThey spoke.\n"
            f"(original messages are stored in {path})\n</state_snapshot>",
        },
        PROSE[-1],
        DONE,
    ]


def test_groups_have_at_least_their_tokens_and_are_all_there() -> None:
    least = tokens_of(PROSE[:3])
    done = short([*PROSE, DONE], "compress", lambda text: "s", group_token_threshold=least, keep_recent_count=1)
    groups = [json.loads(text) for text in done.write_file_dict.values()]
    assert [len(group) for group in groups] == [3, 3, 3, 3]
    assert [message for group in groups for message in group] == PROSE
    assert done.messages[0]["role"] == "system"
    assert done.messages[0]["content"].count("<state_snapshot>") == 4


def test_a_result_stays_with_the_call_that_it_answers() -> None:
    done = short([*PROSE, CALLING, LARGE, DONE], "compress", lambda text: "s")
    assert done.messages[1:] == [CALLING, LARGE, DONE]
    grouped = short([*PROSE, CALLING, LARGE, DONE, USER, DONE], "compress", lambda text: "s", group_token_threshold=1)
    assert [json.loads(text)[0]["role"] for text in grouped.write_file_dict.values()].count("tool") == 0


def test_auto_compresses_what_compacting_leaves_and_not_what_it_was_given() -> None:
    asked: list[str] = []
    messages = [*TALK, *PROSE, *PROSE, *PROSE, *PROSE, DONE]
    compacted = short(messages, "compact")
    assert tokens_of(compacted.messages) / tokens_of(messages) > 0.25
    done = short(messages, "auto", lambda text: asked.append(text) or "s", compact_ratio_threshold=0.25)
    assert json.loads(asked[0])[2]["content"] == compacted.messages[3]["content"]
    assert set(done.write_file_dict) == {"/store/tool_call_c1.txt", "/store/compressed_group_chat_0.json"}
    enough = short(messages, "auto", lambda text: asked.append(text) or "s", compact_ratio_threshold=0.9)
    assert (enough.messages, len(asked)) == (compacted.messages, 1)


def test_without_a_model_compress_is_refused_and_auto_keeps_what_was_compacted() -> None:
    with pytest.raises(Refused, match="sampling"):
        short(PROSE, "compress")
    messages = [*TALK, *PROSE, DONE]
    done = short(messages, "auto", compact_ratio_threshold=0.01)
    assert done.messages == short(messages, "compact").messages
    assert "sampling" in done.note


_TEXTS = st.text(alphabet='a日𝄞"\n\\ ', max_size=60)
_MESSAGES = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["system", "user", "assistant", "tool"]),
        "content": st.none() | _TEXTS | st.lists(st.dictionaries(_TEXTS, st.integers()), max_size=3),
        "tool_call_id": st.sampled_from(["a", "b", "../c"]),
    }
)
_STORED = re.compile(r"original messages are stored in (\S+?)\)")


@example([PROSE[0], PROSE[0]], "compress", 0, 1)
@given(
    st.lists(_MESSAGES, max_size=12),
    st.sampled_from(["compact", "compress", "auto"]),
    st.integers(0, 3),
    st.integers(0, 60),
)
def test_every_message_can_be_put_together_again(messages: list[Message], mode: Any, keep: int, size: int) -> None:
    terms = {
        "max_total_tokens": 0,
        "max_tool_message_tokens": size,
        "keep_recent_count": keep,
        "preview_char_length": 3,
    }
    done = short(messages, mode, lambda text: "s", group_token_threshold=size, **terms)
    files = done.write_file_dict

    def restored(message: Message) -> Message:
        path = str(message["content"]).rpartition("is stored in ")[2].removesuffix(")")
        return {**message, "content": files[path]} if path in files else message

    snapshots = json.dumps([m["content"] for m in done.messages if m["role"] == "system"])
    groups = [json.loads(files[path]) for path in _STORED.findall(snapshots)]  # equal groups share a file
    there = [restored(m) for m in [*chain.from_iterable(groups), *done.messages] if m["role"] != "system"]
    were = [m for m in messages if m["role"] != "system"]
    as_stored = [m["content"] if isinstance(m["content"], str) else json.dumps(m["content"]) for m in were]
    as_found = [m["content"] if isinstance(m["content"], str) else json.dumps(m["content"]) for m in there]
    assert [json.loads(t) if t[:1] == "[" else t for t in as_found] == [
        json.loads(t) if t[:1] == "[" else t for t in as_stored
    ]
    if keep and mode == "compact":
        assert done.messages[-keep:] == messages[-keep:]


# --- the tools


@pytest.fixture
def toolbox(tmp_path: Path) -> Toolbox:
    return Toolbox(["compaction"], Settings(output_dir=str(tmp_path)))


def offload(toolbox: Toolbox, messages: list[Message] = TALK, **terms: Any) -> dict[str, Any]:
    answer = toolbox.call("context_offload", {"messages": messages, "max_total_tokens": 100, **terms})
    assert not answer.is_error, answer.texts
    return json.loads(answer.texts[0])


def called(toolbox: Toolbox, tool: str, **arguments: Any) -> str:
    answer = toolbox.call(tool, arguments)
    assert not answer.is_error, answer.texts
    return answer.texts[0]


def test_what_left_a_conversation_can_be_found_and_read(toolbox: Toolbox) -> None:
    answer = offload(
        toolbox, [*TALK, {**LARGE, "tool_call_id": "c2", "content": "needle\r\n" + "y" * 9000 + "\n"}, DONE]
    )
    sizes = answer["metadata"]["write_file_dict"]
    first, second = sizes
    assert answer["success"] is True
    assert sizes == {first: len(LONG), second: 9009}
    assert Path(first).read_text(encoding="utf-8") == LONG
    assert (os.stat(first).st_mode & 0o777, os.stat(Path(first).parent).st_mode & 0o777) == (0o600, 0o700)
    found = called(toolbox, "grep", pattern="needle|row 19.9:")
    assert [line.partition(": ")[0] for line in found.splitlines() if line[0] in "FL"] == [
        *("Found 11 matches in " + str(Path(first).parent) + " (*):", "File", "L1", "File"),
        *(f"L{n}" for n in range(1910, 2001, 10)),
    ]
    assert called(toolbox, "grep", pattern="row", limit=2).startswith("Found more than 2 matches in ")
    assert called(toolbox, "grep", pattern="needle", limit=1).startswith("Found 1 match in ")
    assert called(toolbox, "grep", pattern="row 7:", glob="*c2*") == "No matches found."
    assert "L8:" in called(toolbox, "grep", pattern="row 7:", path=first)
    assert called(toolbox, "read_file", absolute_path=first, offset=7, limit=1) == LONG.split("\n")[7]
    assert called(toolbox, "read_file", absolute_path=first, start=3, end=900) == LONG[3:900]
    assert called(toolbox, "read_file", absolute_path=second) == "needle\r\n" + "y" * 9000 + "\n"


def test_the_same_conversation_again_writes_nothing_new(toolbox: Toolbox, tmp_path: Path) -> None:
    (path,) = offload(toolbox)["metadata"]["write_file_dict"]
    before = os.stat(path).st_mtime_ns
    assert offload(toolbox)["metadata"]["write_file_dict"] == {path: len(LONG)}
    assert os.stat(path).st_mtime_ns == before
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("how", ["deleted", "changed", "a link"])
def test_a_text_that_somebody_took_away_is_stored_again(toolbox: Toolbox, tmp_path: Path, how: str) -> None:
    (path,) = offload(toolbox)["metadata"]["write_file_dict"]
    Path(path).unlink()
    if how == "changed":
        Path(path).write_text("nothing")
    elif how == "a link":
        (tmp_path / "mine").write_text("mine")
        Path(path).symlink_to(tmp_path / "mine")
    assert offload(toolbox)["metadata"]["write_file_dict"] == {path: len(LONG)}
    assert called(toolbox, "read_file", absolute_path=path, end=20) == LONG[:20]
    assert how != "a link" or (tmp_path / "mine").read_text() == "mine"


def test_an_expired_text_is_told_from_one_that_never_was_and_comes_again(tmp_path: Path) -> None:
    toolbox = Toolbox(["compaction"], Settings(output_dir=str(tmp_path), ttl_seconds=0))
    (path,) = offload(toolbox)["metadata"]["write_file_dict"]
    assert "has expired" in toolbox.call("read_file", {"absolute_path": path}).texts[0]
    assert offload(toolbox)["metadata"]["write_file_dict"] == {path: len(LONG)}


def test_what_cannot_be_stored_stays_in_the_conversation(toolbox: Toolbox, tmp_path: Path) -> None:
    (path,) = offload(toolbox)["metadata"]["write_file_dict"]
    taken = Path(path).with_name("tool_call_zz.txt")
    taken.mkdir()
    messages = [{**LARGE, "tool_call_id": id, "content": f"{id} {LONG}"} for id in ("first", "zz")]
    answer = toolbox.call("context_offload", {"messages": [*messages, DONE], "max_total_tokens": 100})
    assert answer.is_error
    assert "cannot be stored" in answer.texts[0]
    assert sorted(os.listdir(taken.parent)) == ["tool_call_c1.txt", "tool_call_zz.txt"]
    taken.rmdir()
    assert len(offload(toolbox, [*messages, DONE])["metadata"]["write_file_dict"]) == 2


def test_fifty_conversations_at_once_each_keep_their_own_text(toolbox: Toolbox) -> None:
    answers: dict[int, dict[str, Any]] = {}

    def one(n: int) -> None:
        answers[n] = offload(toolbox, [{**LARGE, "content": f"{n % 25} {LONG}"}, DONE], context_manage_mode="compact")

    threads = [threading.Thread(target=one, args=(n,)) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    paths = {n: next(iter(answer["metadata"]["write_file_dict"])) for n, answer in answers.items()}
    assert len(set(paths.values())) == 25
    assert all(Path(path).read_text(encoding="utf-8") == f"{n % 25} {LONG}" for n, path in paths.items())


def test_cleanup_empties_and_removes_the_folder_and_nothing_else(toolbox: Toolbox, tmp_path: Path) -> None:
    (path,) = offload(toolbox)["metadata"]["write_file_dict"]
    store, now = Path(path).parent, datetime.now(UTC).timestamp()
    stray = store / "notes.txt"
    stray.touch()
    link = tmp_path / f"lro-context-{ulid_at(datetime.now(UTC))}"
    link.symlink_to(store)
    other = tmp_path / "lro-context-mine"
    other.mkdir()
    (other / "tool_call_1.txt").touch()

    def run(later_s: float) -> list[str]:
        return clean(str(tmp_path), 3600, lambda event: None, now=now + later_s).deleted

    assert run(3590) == []
    assert run(3700) == [path]
    assert stray.exists()
    stray.unlink()
    assert run(3700 + STALE_AFTER_S) == []
    assert not store.exists()
    assert (other / "tool_call_1.txt").exists()
    assert offload(toolbox)["metadata"]["write_file_dict"] == {path: len(LONG)}, "the folder is made again"


def test_the_common_names_of_two_families_are_told_apart(tmp_path: Path) -> None:
    tools = Toolbox(["scratchpad", "compaction"], Settings(output_dir=str(tmp_path)), prefix="x_").tools
    assert {"x_grep", "x_compaction_grep", "x_read", "x_read_file"} <= {tool.name for tool in tools}
    assert len({tool.name for tool in tools}) == len(tools) == 11


# --- over the wire


def serving(folder: Path, front: str) -> AbstractContextManager[Client]:
    if front == "proxy":
        return proxy(folder, "--tools", "compaction")
    command = [sys.executable, "-m", "lro_proxy.serve", "--data", ":memory:", "--tools", "compaction"]
    return started(command, **{f"{SETTING}OUTPUT_DIR": str(folder)})


def compress_over(client: Client, prefix: str = "") -> dict[str, Any]:
    """Asks for a summary and gives it when asked for it; what the tool answers."""
    id = client.call(
        f"{prefix}context_offload", messages=[SYSTEM, *PROSE], context_manage_mode="compress", max_total_tokens=0
    )
    while "method" not in (asked := json.loads(client.line())) or asked["method"].startswith("notifications/"):
        pass
    assert asked["method"] == "sampling/createMessage"
    assert "0 word word" in asked["params"]["messages"][0]["content"]["text"]
    result = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "They said words."}}
    client.send({"jsonrpc": "2.0", "id": asked["id"], "result": result})
    return client.answer(id)["result"]


def lending(client: Client, **capabilities: Any) -> None:
    info = {"name": "t", "version": "1"}
    client.answer(client.post("initialize", protocolVersion="2025-11-25", capabilities=capabilities, clientInfo=info))
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})


@pytest.mark.parametrize("front", ["server", "proxy"])
def test_the_clients_own_model_makes_the_summary(tmp_path: Path, front: str) -> None:
    with serving(tmp_path, front) as client:
        lending(client, sampling={})
        answer = json.loads(said(compress_over(client)))
        assert "They said words." in answer["messages"][0]["content"]
        (path,) = answer["metadata"]["write_file_dict"]
        assert json.loads(Path(path).read_text(encoding="utf-8")) == PROSE[:-2]
        reloaded = said(client.result("read_file", absolute_path=path))
        assert json.loads(reloaded) == PROSE[:-2]


@pytest.mark.parametrize("front", [pytest.param("server", marks=pytest.mark.long), "proxy"])
def test_a_summary_that_never_comes_holds_up_no_end(tmp_path: Path, front: str) -> None:
    with serving(tmp_path, front) as client:
        lending(client, sampling={})
        client.call("context_offload", messages=PROSE, context_manage_mode="compress", max_total_tokens=0)
        assert json.loads(client.line())["method"] == "sampling/createMessage"
        assert client.leave() == 0


def test_several_servers_get_the_summary_from_the_one_client(tmp_path: Path) -> None:
    with hub(tmp_path, "--tools", "compaction", left=entry(), right=entry()) as client:
        refused = client.result("context_offload", messages=PROSE, context_manage_mode="compress", max_total_tokens=0)
        assert refused["isError"]
        lending(client, sampling={})
        assert not compress_over(client)["isError"]


def test_a_client_that_refuses_or_lends_no_model_is_told_so(tmp_path: Path) -> None:
    with proxy(tmp_path, "--tools", "compaction") as client:
        greet(client)
        arguments: dict[str, Any] = {"messages": PROSE, "context_manage_mode": "compress", "max_total_tokens": 0}
        assert "lends none (sampling)" in said(client.result("context_offload", **arguments))
        lending(client, sampling={})
        id = client.call("context_offload", **arguments)
        asked = json.loads(client.line())
        client.send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -1, "message": "not today"}})
        answer = client.answer(id)["result"]
        assert (answer["isError"], "not today" in said(answer)) == (True, True)
        assert not list(tmp_path.iterdir())


def test_numbers_of_a_conversation_keep_their_digits_through_the_proxy(tmp_path: Path) -> None:
    content = f'[{{"n": 123456789012345678901234567890, "text": "{"x" * 9000}"}}]'
    messages = f'[{{"role":"tool","content":{content}}},{{"role":"user","content":"?"}}]'
    call = f'{{"name":"context_offload","arguments":{{"max_total_tokens":0,"messages":{messages}}}}}'
    with proxy(tmp_path, "--tools", "compaction") as client:
        greet(client)
        client.send(f'{{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{call}}}\n'.encode())
        (path,) = json.loads(said(client.answer(77)["result"]))["metadata"]["write_file_dict"]
        assert Path(path).read_text(encoding="utf-8") == content


DIGITS = '{"v": 3.14159265358979323846, "big": 12345678901234567890123, "u": 1.10, "e": 1e5, "z": -0}'


def test_behind_the_proxy_every_digit_of_a_conversation_stays(tmp_path: Path) -> None:
    content = f"[{', '.join([DIGITS] * 20)}]"
    said = f'[{{"role": "tool", "content": {content}}}, {{"role": "tool", "content": {content}}}]'
    line = f'{{"params": {{"arguments": {{"messages": {said}, "max_total_tokens": 90%s}}}}}}'
    toolbox = Toolbox(["compaction"], Settings(output_dir=str(tmp_path)))
    whole = toolbox.call("context_offload", arguments((line % "00").encode())).texts[0]
    assert f'"messages": {said}' in whole
    less = toolbox.call("context_offload", arguments((line % ', "max_tool_message_tokens": 3').encode())).texts[0]
    (path,) = json.loads(less)["metadata"]["write_file_dict"]
    assert Path(path).read_text() == content


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("{}", {}),
        ("null", {}),
        ('{"r": 0.750, "n": 5}', {"r": 0.75, "n": 5}),
        ('{"params": {"n": 1000000000000000000000000000000}}', {"params": {"n": 10**30}}),
        (f'{{"n": {"9" * 5000}}}', {"n": float("inf")}),
        ('{"fields": [1.10, "a"]}', {"fields": [1.1, "a"]}),
        (r'{"path": "\ud800"}', {"path": "\ud800"}),
        ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_other_arguments_are_plain_numbers(written: str, read: Any) -> None:
    assert arguments(f'{{"params": {{"arguments": {written}}}}}'.encode()) == read
