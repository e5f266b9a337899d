"""`lro init`: what is found of a server, what is said of the rest, and that the profile certifies it unedited."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from lro_conformance.init.probe import ProbeResult, probe, setting_ways
from lro_conformance.init.writer import count_not_found, profile_text
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.lab.operations import operations_of
from lro_conformance.profile import Setting, profile_for_command
from tests.servers.variants import command
from tests.support import in_process
from tests.support.made import Made
from tests.support.paths import ROOT, SERVERS
from tests.support.registry import Installed


def _init(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return in_process.lro(folder, ["init", *words])


def _achieved(folder: Path) -> int:
    return certify(profiles.load(folder / "lro.yaml"), seed=1, examples=0).achieved


@pytest.fixture
def passes(request: pytest.FixtureRequest) -> Callable[..., bool]:
    """Whether some requirements pass by what was found; with ``--long``, whether level 3 is proved."""

    def passed(folder: Path, *ids: str) -> bool:
        if request.config.getoption("--long"):
            return _achieved(folder) == 3
        report = certify(profiles.load(folder / "lro.yaml"), seed=1, examples=0, only=ids)
        return {r.requirement.id for r in report.requirements if r.verdict is Verdict.PASS} == {*ids}

    return passed


def test_a_boolean_argument_is_the_level_of_detail_where_it_adds_fields(
    tmp_path: Path, passes: Callable[..., bool]
) -> None:
    assert _init(tmp_path, "--", *command("takes_full_as_true")).returncode == 0
    assert (tmp_path / "lro.yaml").read_text().count(", detail: full}\n") == 2
    assert passes(tmp_path, "LRO-DET-01", "LRO-DET-02")


@pytest.mark.parametrize(
    ("server", "detail"),
    [
        ("takes_brief_as_true", "{argument: brief, light: true, full: false}"),
        ("has_views_of_other_names", "{argument: view, light: summary, medium: normal, full: complete}"),
    ],
)
def test_values_of_other_names_are_levels_where_they_add_fields(
    tmp_path: Path, passes: Callable[..., bool], server: str, detail: str
) -> None:
    assert _init(tmp_path, "--", *command(server)).returncode == 0
    assert (tmp_path / "lro.yaml").read_text().count(f", detail: {detail}}}\n") == 2
    assert passes(tmp_path, "LRO-DET-01", "LRO-DET-02")


WORDS = """\
import sys, time
sys.path.insert(0, {root!r})
from tests.servers.plain import Server

class FindsWords(Server):
    def tools(self):
        tools = super().tools()[:2] + super().tools()[3:]
        for tool in tools[:2]:
            takes = tool["inputSchema"]
            takes["properties"] = {{n.replace("query", "words"): node for n, node in takes["properties"].items()}}
            takes["required"] = ["words"]
        return tools

    def call_tool(self, name, arguments):
        words = arguments.pop("words", None)
        if words is not None and "memory" not in words:
            {unknown}
        return super().call_tool(name, {{**arguments, "query": words}} if words is not None else arguments)

FindsWords().serve()
"""
"""A server whose query has an unusual name, and that does something of its own for a word that it does not know."""


def _words_server(folder: Path, unknown: str) -> list[str]:
    (folder / "server.py").write_text(WORDS.format(root=str(ROOT), unknown=unknown))
    return [sys.executable, "-I", "-S", str(folder / "server.py")]


def test_a_text_by_which_an_unknown_word_finds_less_is_the_query(tmp_path: Path) -> None:
    assert _init(tmp_path, "--", *_words_server(tmp_path, "pass")).returncode == 0
    text = (tmp_path / "lro.yaml").read_text()
    assert text.count(", query: words, limit: limit,") == 2
    assert text.count("    # words is the query: a word that is in no memory found fewer memories, or none\n") == 2
    assert "NOT FOUND: an argument for query" not in text


@pytest.mark.parametrize(
    ("unknown", "trouble"),
    [
        ("words = 'memory'", None),
        ("return self.error('no such word')", None),
        ("sys.exit('no such word')", "the server exited with code 1 before it answered; its stderr ends: no such word"),
        ("time.sleep(60)", "no response within 1 s"),
    ],
    ids=["finds as much", "is refused", "ends the server", "is not answered"],
)
def test_a_text_that_is_not_seen_to_select_stays_a_question(tmp_path: Path, unknown: str, trouble: str | None) -> None:
    """The profile says how the server ended, and everything else is tried all the same."""
    profile = profile_for_command(_words_server(tmp_path, unknown))
    profile = replace(profile, server=replace(profile.server, timeout_s=1.0))
    found = probe(profile, lambda step: None)
    text = profile_text(found)
    assert text.count("# NOT FOUND: an argument for query; if words is the query, add query: words\n") == 2
    assert text.count("    # When words as the query was tried: ") == (2 if trouble else 0)
    assert (trouble or "") in text
    assert (found.recognised_queries, found.offloads, len(found.settings)) == ([], True, 4)


def test_the_plain_server_is_certified_by_what_was_found(tmp_path: Path, passes: Callable[..., bool]) -> None:
    """Everything is found, nothing is stored, and the profile is enough for what each of its sections is for."""
    argv = [sys.executable, "-P", "-m", "lro_conformance", "init", "--", *command()]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=100, check=False, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout == "lro.yaml: plain-memory: 3 of 3 operations, 4 of 4 settings\nnext: lro certify\n"
    text = (tmp_path / "lro.yaml").read_text()
    assert "NOT FOUND" not in text
    assert '# seed: {tool: store_memory, arguments: {memory: "$memory"}}' in text
    assert passes(tmp_path, "LRO-THR-06", "LRO-DET-02", "LRO-INJ-02", "LRO-CFG-01", "LRO-CFG-04", "LRO-CLN-01")


def test_a_server_that_offloads_for_some_clients_is_asked_as_one_of_them(
    tmp_path: Path, passes: Callable[..., bool]
) -> None:
    assert _init(tmp_path, "--", *command("offloads_for_clients_that_it_knows_only")).returncode == 0
    assert "client: {name: claude-code}   # nothing was offloaded for" in (tmp_path / "lro.yaml").read_text()
    assert passes(tmp_path, "LRO-THR-06", "LRO-FILE-01", "LRO-SCOPE-02")


def test_a_server_that_dies_of_what_is_in_the_folder_is_told_where_it_was_tried(tmp_path: Path) -> None:
    script = tmp_path / "server.sh"
    script.write_text(
        'for f in "$ATLATL_PROMPT__OFFLOAD__OUTPUT_DIR"/atlatl-*.jsonl; do\n'
        '  if [ -d "$f" ]; then echo "EISDIR: illegal operation on a directory" >&2; exit 1; fi\n'
        f"done\nexec {shlex.join(command('cleans_up_at_start'))}\n"
    )
    text = profile_text(probe(profile_for_command(["sh", str(script)]), lambda step: None))
    told = [line for line in text.splitlines() if "EISDIR" in line]
    assert [line.partition(": ")[0].strip() for line in told] == 2 * ["# When this was tried"]
    assert all("exited with code 1" in line for line in told)


DIES = """\
import os, sys
sys.path.insert(0, {root!r})
from tests.servers.plain import Server

class Dies(Server):
    def {method}:
        if {condition}:
            sys.exit("out of memory")
        return super().{method}

Dies().serve()
"""
"""A server that ends under one condition."""


@pytest.mark.parametrize(
    ("setting", "method", "condition"),
    [
        ("ttl_seconds", "cleanup(self, now)", "len(os.listdir(self.output_dir())) > 3"),
        ("ttl_seconds", "execute(self, operation, arguments)", "self.settings.ttl == 600"),
        ("enabled", "execute(self, operation, arguments)", "not self.settings.enabled"),
        ("threshold_tokens", "execute(self, operation, arguments)", "self.settings.threshold > 10 ** 8"),
    ],
    ids=["in its cleanup", "in a call before its cleanup", "in a call when it is disabled", "in a call at a threshold"],
)
def test_a_setting_of_which_a_server_dies_is_null_with_the_reason(
    tmp_path: Path, setting: str, method: str, condition: str
) -> None:
    script = tmp_path / "server.py"
    text = DIES.format(root=str(ROOT), method=method, condition=condition)
    script.write_text(text.replace(f"super().{method}", f"super().{method.replace('self, ', '')}"))
    written = profile_text(probe(profile_for_command([sys.executable, "-I", "-S", str(script)]), lambda step: None))
    lines = written.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith(f"  {setting}: null   # NOT FOUND"))
    assert lines[at + 1].startswith("    # When this was tried: ")
    assert "the server exited with code 1 " in lines[at + 1]
    assert lines[at + 1].endswith("its stderr ends: out of memory")


def test_a_server_that_dies_when_settings_are_tried_is_not_only_said_to_offload_nothing() -> None:
    profile = profile_for_command(["notes"])
    tools = [{"name": "recall_memories"}]
    found = ProbeResult(profile, tools=tools, operations=operations_of({"recall": "recall_memories"}, tools))
    found.failed_attempts["threshold_tokens"] = "the server exited with code 1"
    assert (
        "# NOT FOUND: how a setting reaches the server (nothing was offloaded).\n"
        "# When threshold_tokens was tried: the server exited with code 1\n"
    ) in profile_text(found)


@pytest.mark.long
def test_the_reference_server_is_certified_by_what_was_found(tmp_path: Path) -> None:
    """Its memories are those of a demonstration, never the user's."""
    assert _init(tmp_path, "--", "lro", "serve").returncode == 0
    assert profiles.load(tmp_path / "lro.yaml").server.env["ATLATL_DATA_DIR"] == ":memory:"
    assert _achieved(tmp_path) == 3


def _init_of_typescript(folder: Path, installed: Installed) -> subprocess.CompletedProcess[str]:
    (folder / "node_modules").symlink_to(installed.node_modules())
    shutil.copy(SERVERS / "typescript" / "server.mjs", folder)
    return _init(folder, "--", "node", "server.mjs")


@pytest.mark.long
@pytest.mark.registry
@pytest.mark.timeout(400)
def test_all_is_found_of_a_typescript_server(installed: Installed, tmp_path: Path) -> None:
    """As of the plain server; test_typescript.py certifies it each time."""
    done = _init_of_typescript(tmp_path, installed)
    assert done.returncode == 0
    assert "3 of 3 operations, 4 of 4 settings\n" in done.stdout
    assert "NOT FOUND" not in (tmp_path / "lro.yaml").read_text()


@pytest.mark.long
@pytest.mark.registry
@pytest.mark.timeout(400)
def test_a_typescript_server_is_certified_by_what_was_found(installed: Installed, tmp_path: Path) -> None:
    """The same of the TypeScript SDK."""
    assert _init_of_typescript(tmp_path, installed).returncode == 0
    assert _achieved(tmp_path) == 3


def test_a_server_that_takes_flags_tells_them_in_its_help(tmp_path: Path) -> None:
    """Where the documented variables do nothing, flags of ``--help`` are tried; what is not there is marked."""
    words = command("is_set_by_flags")
    script = tmp_path / "server.sh"
    usage = "usage: server [--threshold=N] [--out=DIR] [--output-dir=DIR]"
    script.write_text(f'[ "$1" = --help ] && echo "{usage}" && exit\nexec {" ".join(words)} "$@"\n')
    found = probe(profile_for_command(["sh", str(script)]), lambda step: None)
    assert found.settings["threshold_tokens"] == Setting(arg=("--threshold={value}",))
    text = profile_text(found)
    assert 'threshold_tokens: {arg: "--threshold={value}"}' in text
    assert "ttl_seconds: null   # NOT FOUND" in text
    (tmp_path / "lro.yaml").write_text(text)
    assert profiles.load(tmp_path / "lro.yaml").settings["ttl_seconds"] is None


def test_a_lifetime_in_a_wrong_unit_is_a_setting_that_takes_effect() -> None:
    """Otherwise the profile says that there is none, and the fault is not observed."""
    found = probe(profile_for_command(command("ttl_setting_is_read_as_milliseconds")), lambda step: None)
    assert found.settings["ttl_seconds"].env == "ATLATL_PROMPT__OFFLOAD__TTL_SECONDS"


def test_the_help_leaves_no_temporary_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some libraries write one when they are loaded."""
    temporary, script = tmp_path / "tmp", tmp_path / "server.sh"
    temporary.mkdir()
    script.write_text(f'echo > "$TMPDIR"/session\nexec {shlex.join(command("knows_no_offloading"))} "$@"\n')
    monkeypatch.setenv("TMPDIR", str(temporary))
    assert _init(tmp_path, "--", "sh", str(script)).returncode == 0
    assert [p.name for p in temporary.iterdir()] == []


def test_flags_and_variables_are_read_from_help() -> None:
    """By their names: those of the setting, and no others."""
    text = "--offload-threshold N  --out-dir D  MY_TTL_SECONDS (default 3600)  --verbose"
    assert [w.arg[0] for w in setting_ways("threshold_tokens", text)] == [
        "--offload-threshold={value}",
        "--offload-threshold",
    ]
    assert [w.arg[0] for w in setting_ways("output_dir", text)] == ["--out-dir={value}", "--out-dir"]
    assert list(setting_ways("ttl_seconds", text)) == [Setting(env="MY_TTL_SECONDS")]
    assert list(setting_ways("output_dir", "LRO_MEMORY_RESULTS_DIR, HOME_DIRECTION")) == [
        Setting(env="LRO_MEMORY_RESULTS_DIR")
    ]


def test_a_flag_that_switches_off_is_tried_as_it_is(tmp_path: Path) -> None:
    """Without a value; also of the form in which many programs tell of a pair."""
    text = "--offload={on|off}  --[no-]lro  --no-spill  never write files  --disable-offload  --notes  --no-color"
    assert [w.arg_if_false for w in setting_ways("enabled", text) if w.arg_if_false] == [
        ("--no-lro",),
        ("--no-spill",),
        ("--disable-offload",),
    ]
    words = command("is_switched_off_by_a_bare_flag")
    script = tmp_path / "server.sh"
    script.write_text(f'[ "$1" = --help ] && echo "usage: server [--no-spill]" && exit\nexec {" ".join(words)} "$@"\n')
    found = probe(profile_for_command(["sh", str(script)]), lambda step: None)
    assert found.settings["enabled"] == Setting(arg_if_false=("--no-spill",))
    (tmp_path / "lro.yaml").write_text(profile_text(found))
    assert profiles.load(tmp_path / "lro.yaml").settings == found.profile.settings


def test_flags_of_other_names_are_known_by_what_is_said_of_them() -> None:
    """After those that are called like the setting."""
    text = """[--spill-above TOKENS] [--spill-dir DIR]
      --spill-above TOKENS  write results above this many tokens to a file
      --keep-for SECONDS    how long such files are kept
      --ttl N"""
    assert [w.arg[0] for w in setting_ways("threshold_tokens", text)] == ["--spill-above={value}", "--spill-above"]
    assert [w.arg[0] for w in setting_ways("ttl_seconds", text)][::2] == ["--ttl={value}", "--keep-for={value}"]


FLAT = """\
import sys
sys.path.insert(0, {root!r})
from tests.servers.plain import Server

class StoresFields(Server):
    def tools(self):
        tools = super().tools()
        text = {{"type": "string"}}
        fields = {{"text": text, "title": text, "summary": text, "status": text, "created_at": text}}
        takes = {{**fields, "confidence": {{"type": "number"}}, "tags": {{"type": "array", "items": text}}}}
        tools[3]["inputSchema"] = {{"type": "object", "properties": takes, "required": ["text"]}}
        return tools

    def call_tool(self, name, arguments):
        if name == "store_memory":
            names = {{"text": "content", "created_at": "created"}}
            given = {{names.get(k, k): v for k, v in arguments.items()}}
            given["provenance"] = {{"confidence": given.pop("confidence", 0.5)}}
            arguments = {{"memory": given}}
        return super().call_tool(name, arguments)

StoresFields().serve()
"""
"""A server whose tool takes a memory field by field."""


def test_a_tool_that_takes_fields_is_given_every_one_that_a_memory_has(tmp_path: Path) -> None:
    """With the seed that is proposed, no field is left out; with a shorter one, the report names the others once."""
    (tmp_path / "flat.py").write_text(FLAT.format(root=str(ROOT)))
    assert _init(tmp_path, "--", sys.executable, "-I", "-S", str(tmp_path / "flat.py")).returncode == 0
    written = (tmp_path / "lro.yaml").read_text()
    (seed,) = [line for line in written.splitlines() if line.startswith("# seed: ")]
    arguments = (
        '{title: "$memory.title", text: "$memory.content", tags: "$memory.tags", created_at: "$memory.created", '
        'status: "$memory.status", summary: "$memory.summary", confidence: "$memory.provenance.confidence"}'
    )
    assert seed == f"# seed: {{tool: store_memory, arguments: {arguments}}}"

    (tmp_path / "lro.yaml").write_text(written.replace(seed, seed.removeprefix("# ")))
    assert not [note for note in _notes(tmp_path) if "seed" in note]
    short = 'seed: {tool: store_memory, arguments: {text: "$memory.content", title: "$memory.title"}}'
    (tmp_path / "lro.yaml").write_text(written.replace(seed, short))
    (note,) = [note for note in _notes(tmp_path) if "seed" in note]
    assert note == (
        "the seed leaves out fields of a memory that store_memory accepts, so fewer checks apply: add tags: "
        "$memory.tags, created_at: $memory.created, status: $memory.status, summary: $memory.summary, confidence: "
        "$memory.provenance.confidence (profile: seed.arguments)"
    )


CHECKING = """\
import sys
sys.path.insert(0, {root!r})
from tests.servers.plain import BadArguments, Server

class ChecksAddresses(Server):
    def corpus(self):
        return []

    def tools(self):
        tools = super().tools()
        text = {{"type": "string"}}
        day = {{**text, "format": "date"}}
        takes = {{"url": {{**text, "format": "uri"}}, "title": text, "note": text, "bucket": text, "date": day}}
        tools[3]["inputSchema"] = {{"type": "object", "properties": takes, "required": ["url", "note"]}}
        return tools

    def call_tool(self, name, arguments):
        if name == "store_memory":
            if not arguments["url"].startswith("https://"):
                raise BadArguments("invalid URL at url")
            arguments = {{"memory": {{"title": arguments.get("title"), "content": arguments["note"]}}}}
        return super().call_tool(name, arguments)

ChecksAddresses().serve()
"""
"""A server whose tool checks the format of an argument, and takes a namespace under an unusual name."""


def test_a_seed_has_values_of_the_formats_and_its_gaps_are_told(tmp_path: Path) -> None:
    """In the terminal and in the profile, in the words of the note of `lro certify`."""
    (tmp_path / "checking.py").write_text(CHECKING.format(root=str(ROOT)))
    words = [sys.executable, "-I", "-S", str(tmp_path / "checking.py")]
    done = _init(tmp_path, "--tool", "seed=store_memory", "--", *words)
    assert "nothing was stored" not in done.stderr
    note = (
        "the seed gives store_memory no namespace, so fewer checks apply: if bucket stands for it, add bucket: "
        "$memory.namespace (profile: seed.arguments)"
    )
    assert f"note: {note}" in done.stdout.splitlines()
    written = (tmp_path / "lro.yaml").read_text()
    unused = 'No value for: bucket, date; if one stands for a field of a memory, add NAME: "$memory.FIELD"'
    assert f"\n# Note: {note}\n# {unused}\n" in written
    assert 'url: "https://example.org/memory"' in written
    assert note in _notes(tmp_path)

    done = _init(tmp_path, "--force", "--", *words)
    assert "note:" not in done.stdout
    assert "lro.yaml proposes a seed; comments that begin with Note say what it leaves out\n" in done.stdout
    assert f"\n# Note: {note}\n" in (tmp_path / "lro.yaml").read_text()


def test_words_of_a_server_are_not_counted_as_not_found() -> None:
    text = (
        "# Profile of NOT FOUND: a server\n"
        "  ttl_seconds: null   # NOT FOUND: lifetime of a file\n"
        "  # NOT FOUND: a tool for inject\n"
        "    # the call returned no result: error 404 # NOT FOUND: no such page\n"
        "# Perhaps this stores memories. NOT FOUND: which of its arguments takes the text of a memory.\n"
        "# Note: the seed gives no namespace\n"
    )
    assert count_not_found(text) == 3


@pytest.mark.parametrize("kind", ["inline_is_markdown", "inline_is_prose"])
def test_records_that_are_recognised_in_a_text_are_not_said_to_be_missing(tmp_path: Path, kind: str) -> None:
    done = _init(tmp_path, "--", *command(kind))
    assert done.returncode == 0
    text = (tmp_path / "lro.yaml").read_text()
    assert "NOT FOUND: records" not in text
    assert "Files are compared with the memories whose title and\n# content the text shows." in text


def _notes(folder: Path) -> tuple[str, ...]:
    return certify(profiles.load(folder / "lro.yaml"), seed=1, only={"LRO-SCOPE-01"}, examples=0).notes


HOUSEKEEPING = {
    "name": "housekeeping",
    "description": "Delete expired files.",
    "inputSchema": {"type": "object", "properties": {"dry": {"type": "boolean"}}, "required": ["dry"]},
}


def test_a_server_without_a_fitting_tool(tmp_path: Path) -> None:
    """Its tools are listed in the profile, which loads, and says what is to be filled in; also hostile names.

    With ``--tool`` the rest is found, too: what the tool's arguments are called.
    """
    arguments = {"text": {"type": "string"}, "top": {"type": "integer"}, "view": {"enum": ["light", "full"]}}
    schema = {"type": "object", "properties": arguments}
    answers = {
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "serverInfo": {"name": "x\nserver: {command: [rm]}", "version": "1"},
        },
        "tools/list": {
            "tools": [{"name": "read_file\n  evil: 1", "inputSchema": schema}, HOUSEKEEPING, {"name": "context_for"}]
        },
    }
    server = tmp_path / "server.py"
    server.write_text(
        "import json,sys\n"
        f"answers = json.loads({json.dumps(json.dumps(answers))})\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    said = {'jsonrpc': '2.0', 'id': m.get('id'), 'result': answers.get(m['method'], {})}\n"
        "    if 'id' in m: print(json.dumps(said), flush=True)\n"
    )
    done = _init(tmp_path, "-o", "mine.yaml", "--", sys.executable, str(server))
    assert done.returncode == 1
    assert "lro init: no operation was found: no tool clearly performs recall, search or inject" in done.stderr
    text = (tmp_path / "mine.yaml").read_text()
    assert "# NOT FOUND: which tool performs which operation" in text
    assert "#   read_file   evil: 1, housekeeping, context_for" in text
    assert "# cleanup: {tool: housekeeping, arguments: {dry: false}}" in text
    profile = profiles.load(tmp_path / "mine.yaml")
    assert profile.server.command == (sys.executable, str(server))
    assert ", or under `operations` in mine.yaml\n" in done.stdout
    own = f"--tool inject=context_for -- {sys.executable} {server}"
    assert f"next: lro init --force -o mine.yaml {own}\n" in done.stdout, "a command that can be run as it is"
    every = "--tool recall=NAME --tool search=NAME --tool inject=context_for"
    assert f"#   lro init --force -o mine.yaml {every} -- {sys.executable} {server}\n" in text
    words = ["--force", "--tool", "recall=read_file\n  evil: 1", "--", sys.executable, str(server)]
    done = _init(tmp_path, *words)
    assert done.returncode == 0
    recall = (profiles.load(tmp_path / "lro.yaml").operations or {})["recall"]
    assert recall is not None
    assert (recall.query, recall.limit, recall.detail) == ("text", "top", "view")
    text = (tmp_path / "lro.yaml").read_text()
    assert "a tool for inject, which gathers memories for a prompt; fine if the server has none\n" in text
    assert "# The server also lists housekeeping, context_for. If one of them performs an operation, name it:\n" in text
    assert f" --tool search=NAME --tool inject=context_for -- {sys.executable} {server}\n" in text
    told = [line for line in done.stdout.splitlines() if "may perform" in line]
    assert [line.partition(" --tool")[0] for line in told] == [
        (
            "judging by its name, context_for may perform inject; it was not called. "
            "If the guess is right, run: lro init --force"
        )
    ]
    assert told[0].endswith(f" --tool inject=context_for -- {sys.executable} {server}")
    (tmp_path / "profiles").mkdir()
    _init(tmp_path, "-o", "profiles/mine.yaml", "--", sys.executable, server.name)
    elsewhere = profiles.load(tmp_path / "profiles/mine.yaml")
    assert (elsewhere.folder / elsewhere.server.cwd).resolve() == tmp_path.resolve()
    first, second, *_ = (tmp_path / "profiles/mine.yaml").read_text().splitlines()
    assert "for `lro certify` with `--profile profiles/mine.yaml`, written by" in first
    assert second.startswith("# `lro validate profiles/mine.yaml` checks it;")


def test_a_server_with_one_tool_of_another_name(tmp_path: Path, passes: Callable[..., bool]) -> None:
    """Both words of the next command are known, so it can be pasted; an unknown query is replaced by one that finds."""
    words = command("has_one_tool_of_another_name")
    done = _init(tmp_path, "--", *words)
    assert done.returncode == 1
    following = done.stdout.splitlines()[-1].removeprefix("next: ")
    assert following == f"lro init --force --tool recall=find_bookmarks -- {shlex.join(words)}"
    assert _init(tmp_path, *shlex.split(following)[2:]).returncode == 0
    recall = (profiles.load(tmp_path / "lro.yaml").operations or {})["recall"]
    assert recall is not None
    assert (recall.arguments, recall.query) == ({"query": "memory"}, "query")
    assert passes(tmp_path, "LRO-THR-06", "LRO-FILE-01")


def test_an_operation_that_descriptors_contradict_is_noted(tmp_path: Path) -> None:
    done = _init(tmp_path, "--tool", "search=find_bookmarks", "--", *command("has_one_tool_of_another_name"))
    assert done.returncode == 0
    assert (
        "note: find_bookmarks stands under search in lro.yaml, but its descriptors state the operation recall; if that "
        "is right, write recall in place of search\n"
    ) in done.stdout
    done = _init(tmp_path, "--force", "--tool", "recall=find_bookmarks", "--", *command("has_one_tool_of_another_name"))
    assert (done.returncode, "stands under" in done.stdout) == (0, False)


def test_variables_of_the_command_are_in_the_command_of_the_comment(tmp_path: Path) -> None:
    found = ProbeResult(profile_for_command(["env", "NOTES={workdir}/n", "notes"]), tools=[{"name": "find_notes"}])
    assert "#   lro init --force --tool recall=find_notes -- env 'NOTES={workdir}/n' notes\n" in profile_text(found)


def test_a_tool_is_proposed_by_its_name_only(tmp_path: Path) -> None:
    """A description that speaks of an operation is no reason to propose that a tool be called."""
    tools: list[dict[str, Any]] = [
        {"name": "keep", "description": "Keeps a note, to be recalled or found later."},
        {"name": "find_notes"},
        {"name": "list_notes"},
    ]
    text = profile_text(ProbeResult(profile_for_command(["notes", "a b"]), tools=tools))
    chosen = "--tool recall=list_notes --tool search=find_notes --tool inject=NAME"
    assert f"#   lro init --force {chosen} -- notes 'a b'\n" in text


def test_a_server_that_does_not_seem_to_offload_is_told_so_in_one_sentence(tmp_path: Path) -> None:
    done = _init(tmp_path, "--", *command("knows_no_offloading"))
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "lro.yaml: plain-memory: 3 of 3 operations, 0 of 4 settings",
        "3 not found: each line with NOT FOUND in lro.yaml says whether it needs an entry",
        "this server does not seem to offload; if it does, say in lro.yaml how its threshold is set",
        "next: lro certify",
    ]


def test_an_option_of_the_command_is_one_that_may_be_set(tmp_path: Path) -> None:
    """Even if no help names it; the value that `lro certify` adds is the last, which counts."""
    script = tmp_path / "server.py"
    script.write_text(
        "import os, sys\nttl = None\n"
        "for word, value in zip(sys.argv, [*sys.argv[1:], '']):\n"
        "    name, _, inner = word.partition('=')\n"
        "    ttl = (inner or value) if name == '--offload-ttl' else ttl\n"
        "os.environ['ATLATL_PROMPT__OFFLOAD__TTL_SECONDS'] = ttl or '3600'\n"
        f"os.execv(sys.executable, {command()!r})\n"
    )
    found = probe(profile_for_command([sys.executable, str(script), "--offload-ttl", "5"]), lambda step: None)
    assert found.settings["ttl_seconds"] == Setting(arg=("--offload-ttl={value}",))


def test_an_option_that_sets_the_threshold_is_found(tmp_path: Path) -> None:
    """The documented variable has no effect beside it, which is no reason to end."""
    script = tmp_path / "server.py"
    script.write_text(
        "import os, sys\n"
        "given = [w.partition('=')[2] for w in sys.argv if w.startswith('--threshold-tokens=')]\n"
        "os.environ['ATLATL_PROMPT__OFFLOAD__THRESHOLD_TOKENS'] = given[-1]\n"
        f"os.execv(sys.executable, {command()!r})\n"
    )
    done = _init(tmp_path, "--", sys.executable, str(script), "--threshold-tokens=500")
    assert (done.returncode, done.stdout.splitlines()[0]) == (
        0,
        "lro.yaml: plain-memory: 3 of 3 operations, 4 of 4 settings",
    )


def test_arguments_that_find_nothing_are_told(tmp_path: Path) -> None:
    """An operation that finds nothing by any query is marked, as nothing of it could be observed."""
    done = _init(tmp_path, "--", *command("holds_nothing"))
    assert done.returncode == 0
    assert done.stdout == (
        "lro.yaml: plain-memory: 3 of 3 operations, settings could not be tried\n"
        "6 not found: each line with NOT FOUND in lro.yaml says whether it needs an entry\n"
        "no call returned records, so nothing else could be tried: if the server holds some, give `operations` in "
        "lro.yaml arguments that find them\n"
        "if it holds none, have store_memory store the memories of the suite: below, replace MY_DATA with the variable "
        "that says where its data are; {workdir} is a new directory for each process\n"
        "next, if its data are in a file or a directory: lro init --force --tool seed=store_memory -- "
        f"env 'MY_DATA={{workdir}}/data' {shlex.join(command('holds_nothing'))}\n"
        "next, if each process has data of its own: lro init --force --tool seed=store_memory -- "
        f"{shlex.join(command('holds_nothing'))}\n"
    )
    assert "looking for" not in done.stderr
    text = (tmp_path / "lro.yaml").read_text()
    assert text.count("NOT FOUND: arguments that find memories") == 3
    assert "reaches the server (not tried, as no call returned records)" in text
    assert text.count("(not tried, as nothing was offloaded)") == 2


def test_an_empty_server_is_probed_with_the_memories_of_the_suite(tmp_path: Path, passes: Callable[..., bool]) -> None:
    """The command that the first probe proposes finds everything, and the profile needs no editing."""
    *_, in_a_file, following = _init(tmp_path, "--", *command("holds_nothing")).stdout.splitlines()
    following = following.removeprefix("next, if each process has data of its own: ")
    words = shlex.split(in_a_file.removeprefix("next, if its data are in a file or a directory: "))
    assert words == shlex.split(following.replace(" -- ", " -- env 'MY_DATA={workdir}/data' "))
    done = _init(tmp_path, *shlex.split(following)[2:])
    assert done.stdout == "lro.yaml: plain-memory: 3 of 3 operations, 4 of 4 settings\nnext: lro certify\n"
    text = (tmp_path / "lro.yaml").read_text()
    assert "NOT FOUND" not in text
    assert '\nseed: {tool: store_memory, arguments: {memory: "$memory"}}   # stores' in text
    assert passes(tmp_path, "LRO-THR-03", "LRO-THR-06", "LRO-FILE-01", "LRO-SCOPE-02")


def test_tools_that_were_named_are_named_again(tmp_path: Path) -> None:
    """In the command that is proposed next; a directory of its own settles where the memories go."""
    words = [*command("holds_nothing"), "{workdir}"]
    done = _init(tmp_path, "--tool", "search=list_memories", "--", *words)
    assert done.returncode == 2
    done = _init(tmp_path, "--tool", "search=recall_memories", "--", *words)
    *_, advice, following = done.stdout.splitlines()
    assert advice == "if it holds none, have store_memory store the memories of the suite"
    assert "--tool search=recall_memories" in following
    assert following.endswith(f" --tool seed=store_memory -- {shlex.join(words)}")
    assert "it was not called. If the server's data are in {workdir}, use it" in (tmp_path / "lro.yaml").read_text()


REFUSING = """\
import sys
sys.path.insert(0, {root!r})
from tests.servers.plain import BadArguments, Server

class StoresNothing(Server):
    def corpus(self):
        return []

    def call_tool(self, name, arguments):
        if name == "store_memory":
            raise BadArguments("the store is read-only")
        return super().call_tool(name, arguments)

StoresNothing().serve()
"""
"""A server whose store is empty and accepts nothing."""


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ("store_memory", "the store is read-only"),
        ("recall_memories", "none of its arguments seems to take the text of a memory"),
    ],
)
def test_a_tool_that_stores_nothing_is_no_seed(tmp_path: Path, tool: str, why: str) -> None:
    """The reason is printed, the rest is written, and the same command is not proposed again."""
    (tmp_path / "server.py").write_text(REFUSING.format(root=str(ROOT)))
    words = [sys.executable, "-I", "-S", str(tmp_path / "server.py")]
    done = _init(tmp_path, "--tool", f"seed={tool}", "--", *words)
    assert done.returncode == 0
    assert f"lro init: nothing was stored by {tool}: " in done.stderr
    assert why in done.stderr
    assert done.stdout.splitlines()[-1] == "next: edit lro.yaml, then lro certify"
    assert profiles.load(tmp_path / "lro.yaml").seed is None


NAMED_OTHERWISE = REFUSING.replace(
    "StoresNothing().serve()",
    """\
class HasArticles(StoresNothing):
    def tools(self):
        tools = super().tools()
        return [{{**tools[0], "name": "articles"}}, {{**tools[3], "name": "save_article"}}]

    def call_tool(self, name, arguments):
        return super().call_tool("store_memory" if name == "save_article" else "recall_memories", arguments)

HasArticles().serve()""",
)
"""A server with an empty store that accepts nothing, whose tools have no usual names."""


def test_a_seed_that_was_named_is_not_asked_for(tmp_path: Path) -> None:
    """Although it stored nothing, and no operation was found."""
    (tmp_path / "server.py").write_text(NAMED_OTHERWISE.format(root=str(ROOT)))
    words = ["--", sys.executable, "-I", "-S", str(tmp_path / "server.py")]
    asked = "if the server starts empty, add --tool seed=save_article"
    assert asked in _init(tmp_path, *words).stdout
    done = _init(tmp_path, "--force", "--tool", "seed=save_article", *words)
    assert (done.returncode, asked in done.stdout) == (1, False)
    assert "nothing was stored by save_article: " in done.stderr


@pytest.mark.parametrize(
    ("tool", "tried", "usual"),
    [
        ("recall_memories", "the next offload and a restart were tried", "the server is restarted"),
        (
            "run_custodial_task",
            "run_custodial_task, the next offload and a restart were tried",
            "run_custodial_task is called",
        ),
    ],
)
def test_ways_of_cleanup_are_those_that_were_not_tried(tool: str, tried: str, usual: str) -> None:
    """And no tool is proposed that the server does not have."""
    found = ProbeResult(profile_for_command(["x"]), tools=[{"name": tool}])
    found.settings, found.calls = {"output_dir": Setting(env="OUT")}, {"recall": cast("Any", Made(outcome="offloaded"))}
    assert (
        f"# NOT FOUND: what makes the server delete expired files; {tried}.\n# Without the key, {usual}. Other ways:\n"
        "# {command: […]}, {wait_s: 5}\n# cleanup: {wait_s: 5}\n"
    ) in profile_text(found)


FORGETFUL = REFUSING.replace('raise BadArguments("the store is read-only")', 'return self.text("stored")')
"""A server whose store accepts everything, and in which nothing is found."""


def test_memories_that_are_stored_and_not_found_are_told(tmp_path: Path) -> None:
    """The message says where they were looked for, for how long, and what to do; the profile has it as well."""
    (tmp_path / "server.py").write_text(FORGETFUL.format(root=str(ROOT)))
    words = [sys.executable, "-I", "-S", str(tmp_path / "server.py")]
    done = _init(tmp_path, "--tool", "seed=store_memory", "--", *words)
    *_, advice, following = done.stdout.splitlines()
    assert advice.startswith("store_memory accepted 160 memories of the suite, but within 2 s none was found by ")
    assert following == "next: edit lro.yaml, then lro certify"
    assert f"# NOT FOUND: {advice}\n" in (tmp_path / "lro.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"words": {"type": "string"}, "max_results": {"type": "integer"}},
            "query; if words is the query, add query: words",
        ),
        ({"words": {"type": "string"}, "owner": {"type": "string"}}, "query, limit; fine if the tool takes none"),
        ({"folder": {"type": "string", "enum": ["a", "b"]}}, "query, limit; fine if the tool takes none"),
    ],
    ids=["one text", "two texts", "no free text"],
)
def test_a_required_text_may_be_the_query(arguments: dict[str, Any], said: str) -> None:
    schema: dict[str, Any] = {
        "properties": {**arguments, "detail": {}},
        "required": [n for n in arguments if n != "max_results"],
    }
    tools: list[dict[str, Any]] = [{"name": "find_notes", "inputSchema": schema}]
    found = ProbeResult(
        profile_for_command(["x"]), tools=tools, operations=operations_of({"search": "find_notes"}, tools)
    )
    assert f"# NOT FOUND: an argument for {said}\n" in profile_text(found)


@pytest.mark.parametrize("names", [("maxResults", "detailLevel"), ("max-results", "detail-level"), ("topK", "Details")])
def test_arguments_are_known_in_any_case(names: tuple[str, str]) -> None:
    schema = {"type": "object", "properties": {"q": {}, names[0]: {"type": "integer"}, names[1]: {}}}
    found = operations_of({"recall": "x"}, [{"name": "x", "inputSchema": schema}])["recall"]
    assert (found.query, found.limit, found.detail) == ("q", *names)


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("recall", "expected OPERATION=TOOL"),
        ("recal=x", "expected OPERATION=TOOL"),
        ("recall=x", "lists no tool x"),
        ("seed=x", "lists no tool x"),
    ],
)
def test_a_tool_that_is_named_wrongly(tmp_path: Path, tool: str, said: str) -> None:
    """One line and exit code 2."""
    done = _init(tmp_path, "--tool", tool, "--", *command())
    assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (2, True, False)


def test_a_secret_in_last_words_is_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As certify masks it."""
    monkeypatch.setenv("MEMORY_API_KEY", "open-sesame")
    done = _init(tmp_path, "--", sys.executable, "-c", "import os, sys; sys.exit(os.environ['MEMORY_API_KEY'])")
    assert done.returncode == 3
    assert "its stderr ends: [masked MEMORY_API_KEY]" in done.stderr


def test_a_profile_is_never_overwritten_unasked(tmp_path: Path) -> None:
    """One line and exit code 2, before the server is started."""
    (tmp_path / "lro.yaml").write_text("mine")
    done = _init(tmp_path, "--", "touch", "started")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "already exists" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["lro.yaml"]
    assert (tmp_path / "lro.yaml").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nonexistent"], 3, "cannot start nonexistent: it is not on the PATH"),
        (["false"], 3, "exited with code 1"),
        ([], 2, "Missing argument"),
        ([""], 3, "cannot start"),
    ],
)
def test_what_cannot_be_probed_is_one_line(tmp_path: Path, words: list[str], code: int, said: str) -> None:
    """Nothing is written."""
    done = _init(tmp_path, "--", *words)
    assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (code, True, False)
    assert not (tmp_path / "lro.yaml").exists()
