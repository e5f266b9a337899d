"""Profiles: what is read, what is refused and with which words, and what starts a server."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lro_conformance.cli.main import main
from lro_conformance.engine.run import certify
from lro_conformance.profile import Problem, ProfileError, SettingNotOffered, launch, load, profile_for_command
from lro_conformance.profile.launcher import toml
from lro_conformance.profile.model import Client, ConfigFile, Setting
from lro_conformance.profile.tools import match
from lro_spec.editions import EDITIONS
from tests.servers.variants import profile_text

MINIMAL = "server: {command: [python, -m, my_server]}\n"

WHOLE = """\
edition: lro-6400
level: 3
server:
  command: [python, -m, my_server, --port, 8080]
  env: {MY_DATA: "{workdir}/data", WORKERS: 2}
  cwd: .
  timeout_s: 5
client: {name: cursor, capabilities: {roots: {}}}
settings:
  threshold_tokens: {arg: "--threshold={value}"}
  ttl_seconds: null
  output_dir: {toml: prompt.offload.output_dir}
config_file: {arg: [--config, "{value}"]}
operations:
  recall: {tool: recall_memories, arguments: {query: "*"}, query: query, limit: limit, detail: detail}
  inject: {tool: inject_context, query: query, budget: max_tokens}
  search: null
seed: {tool: store_memory, arguments: {memory: "$memory"}}
cleanup: {tool: run_custodial_task, arguments: {task: offload_cleanup}}
events: {file_env: EVENTS}
inline: {records: ".results"}
attest: {LRO-SCOPE-05: "code review"}
"""


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "lro.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusals(folder: Path, text: str | bytes) -> list[str]:
    """The lines of the error, with the folder left out."""
    with pytest.raises(ProfileError) as caught:
        load(written(folder, text))
    return str(caught.value).replace(f"{folder}/", "").splitlines()


def test_minimal_profile_has_the_documented_defaults(tmp_path: Path):
    profile = load(written(tmp_path, MINIMAL))
    assert profile.edition == "lro-6400"
    assert profile.level is None
    assert profile.operations is None
    assert profile.server.command == ("python", "-m", "my_server")
    assert (profile.server.timeout_s, profile.server.start_timeout_s) == (20, 30)
    assert profile.settings == profile_for_command(["x"]).settings
    assert profile.settings["output_dir"] == Setting(env="ATLATL_PROMPT__OFFLOAD__OUTPUT_DIR")
    assert profile.events.channel == "notifications"
    assert profile.folder == tmp_path


def test_every_key_arrives(tmp_path: Path):
    profile = load(written(tmp_path, WHOLE))
    assert profile.level == 3
    assert profile.server.command[-1] == "8080"
    assert profile.server.env == {"MY_DATA": "{workdir}/data", "WORKERS": "2"}
    assert profile.client == Client("cursor", None, {"roots": {}})
    assert profile.settings["ttl_seconds"] is None
    assert profile.settings["threshold_tokens"] == Setting(arg=("--threshold={value}",))
    assert profile.settings["enabled"] == Setting(env="ATLATL_PROMPT__OFFLOAD__ENABLED")
    assert profile.config_file == ConfigFile(arg=("--config", "{value}"))
    assert profile.operations is not None
    assert profile.operations["search"] is None
    assert profile.operations["recall"].arguments == {"query": "*"}
    assert profile.operations["inject"].budget == "max_tokens"
    assert profile.operations["inject"].limit is None
    assert profile.seed is not None
    assert profile.seed.arguments == {"memory": "$memory"}
    assert profile.cleanup is not None
    assert profile.cleanup.tool == "run_custodial_task"
    assert (profile.events.channel, profile.events.file_env) == ("file", "EVENTS")
    assert profile.inline_records == ".results"
    assert profile.attest == {"LRO-SCOPE-05": "code review"}


def test_fields_of_the_store_and_other_words_with_a_dollar_are_no_mistakes(tmp_path: Path):
    text = "seed: {tool: x, arguments: {a: $memory.extensions.x-rank, b: $memory.temporal.valid_from, c: $HOME, d: $5}}"
    seed = load(written(tmp_path, MINIMAL + text)).seed
    assert seed is not None
    assert list(seed.arguments.values()) == ["$memory.extensions.x-rank", "$memory.temporal.valid_from", "$HOME", "$5"]


def test_command_of_the_caller_stands_in_for_that_of_the_profile(tmp_path: Path):
    path = written(tmp_path, "level: 2\n")
    profile = load(path, command=["node", "server.js"])
    assert profile.server.command == ("node", "server.js")
    assert profile.level == 2


def test_mistakes_are_named_with_a_command_of_the_caller_too(tmp_path: Path):
    with pytest.raises(ProfileError, match="2: level: written twice"):
        load(written(tmp_path, "level: 1\nlevel: 2\n"), command=["node", "server.js"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            MINIMAL + "settings:\n  treshold_tokens: {env: X}\n",
            "lro.yaml:3: settings.treshold_tokens: unknown key; did you mean threshold_tokens?",
        ),
        (MINIMAL + "sever: 1\n", "lro.yaml:2: sever: unknown key; did you mean server?"),
        (MINIMAL + "edition: lro-640\n", "did you mean lro-6400?"),
        (MINIMAL + "level: 4\n", "lro.yaml:2: level: expected at most 3, got 4"),
        (MINIMAL + "level: three\n", 'lro.yaml:2: level: expected a whole number, got a string ("three")'),
        ("level: 3\n", "lro.yaml:1: server: missing; it is required"),
        ("server: {cwd: .}\n", "lro.yaml:1: server.command: missing; it is required"),
        (
            "server:\n  command: python -m x\n",
            'expected a list, got a string ("python -m x"); write it as a list of words: ["python","-m","x"]',
        ),
        ("server: {command: []}\n", "lro.yaml:1: server.command: expected at least one, got []"),
        ('server: {command: [""]}\n', "expected the name of a program"),
        (
            "server:\n  command: [x]\n  env: {DEBUG: yes}\n",
            "lro.yaml:3: server.env.DEBUG: expected a string or a whole number, got true; put it in quotes",
        ),
        ("server: {command: [x], timeout_s: 0}\n", "server.timeout_s: expected more than 0, got 0"),
        ("server: {command: [x], timeout_s: .inf}\n", "server.timeout_s: the value is not a JSON number"),
        ("server: {command: [x], cwd: nowhere}\n", "nowhere is not a directory"),
        (
            MINIMAL + "settings: {enabled: {env: A, arg: b}}\n",
            "expected exactly one of env, arg, toml, arg_if_true, arg_if_false, got env and arg",
        ),
        (
            MINIMAL + "settings: {ttl_seconds: {}}\n",
            "settings.ttl_seconds: expected exactly one of env, arg, toml, got {}",
        ),
        (MINIMAL + "settings: {ttl_seconds: {arg_if_false: --x}}\n", "ttl_seconds.arg_if_false: unknown key; expected"),
        (MINIMAL + "settings: {enabled: {arg_if_true: '--on={value}'}}\n", "{value} is not filled in here"),
        (MINIMAL + "settings: {enabled: {arg: --on}}\n", "settings.enabled.arg: expected {value} where the value goes"),
        (MINIMAL + "settings: {enabled: {toml: a.b}}\n", "settings.enabled.toml: needs config_file"),
        (MINIMAL + "settings: {enabled: {env: 'A B'}}\n", "expected the name of an environment variable"),
        (MINIMAL + "config_file: /etc/x.toml\n", "config_file: expected a path below {workdir}, got /etc/x.toml"),
        (MINIMAL + "config_file: '{workdir}/../x'\n", "config_file: expected a path below {workdir}"),
        (MINIMAL + "config_file: {arg: --config}\n", "config_file.arg: expected {value} where the path goes"),
        (MINIMAL + "operations: {recal: {tool: x}}\n", "operations.recal: unknown key; did you mean recall?"),
        (MINIMAL + "operations:\n  recall: {}\n", "lro.yaml:3: operations.recall.tool: missing; it is required"),
        (MINIMAL + "operations: {list: {tool: x}}\n", "operations.list: lro-6400 has no such operation"),
        (
            MINIMAL + "operations:\n  recall:\n    tool: x\n    detail: {light: true, full: false}\n",
            "lro.yaml:5: operations.recall.detail.argument: missing; it is required",
        ),
        (
            MINIMAL + "operations: {recall: {tool: x, detail: {argument: brief, light: true}}}\n",
            "recall.detail: expected the argument, and its value for at least two of light, medium and full, got",
        ),
        (
            MINIMAL + "operations: {recall: {tool: x, detail: {argument: view, light: a, complete: b}}}\n",
            "operations.recall.detail.complete: unknown key; expected one of argument, full, light, medium",
        ),
        (
            MINIMAL
            + "operations:\n  recall:\n    tool: x\n    detail:\n      argument: view\n      full: a\n      light: a\n",
            'lro.yaml:7: operations.recall.detail.full: "a" is also the value of light; each level needs',
        ),
        (
            MINIMAL + "operations: {recall: {tool: x, detail: {argument: view, light: 0.5, full: 1}}}\n",
            "operations.recall.detail.light: expected a string or true or false or a whole number, got a number (0.5)",
        ),
        (
            MINIMAL + "operations: {recall: {tool: x, detail: 3}}\n",
            "operations.recall.detail: expected a string or keys with values or null, got a whole number (3)",
        ),
        (MINIMAL + "seed: {tool: x}\n", "seed: expected arguments together with tool, got tool"),
        (MINIMAL + "seed: {tool: x, arguments: {a: 1}}\n", 'seed.arguments: expected "$memory"'),
        (
            MINIMAL + "seed:\n  tool: x\n  arguments:\n    a: $memory.titel\n    b: $memory.content\n",
            "lro.yaml:5: seed.arguments.a: a memory has no field titel; did you mean $memory.title?",
        ),
        (
            MINIMAL + "seed: {tool: x, arguments: {a: [{b: $memory.provenance.confidenze}]}}\n",
            "[0].b: a memory has no field provenance.confidenze; did you mean $memory.provenance.confidence?",
        ),
        (
            MINIMAL + "seed: {tool: x, arguments: {a: $memory.colour}}\n",
            "seed.arguments.a: a memory has no field colour; expected one of id, memory_type, content, created",
        ),
        (
            MINIMAL + "seed: {tool: x, arguments: {a: $memry.title}}\n",
            'lro.yaml:2: seed.arguments.a: "$memry.title" is not filled in; did you mean $memory.title?',
        ),
        (
            MINIMAL + "seed: {tool: x, arguments: {a: $Memory, b: $memory.content}}\n",
            'seed.arguments.a: "$Memory" is not filled in; did you mean $memory?',
        ),
        (
            MINIMAL + "seed: {tool: x, arguments: {a: '${memory.title}'}}\n",
            'seed.arguments.a: "${memory.title}" is not filled in; did you mean $memory.title?',
        ),
        (
            MINIMAL + "seed: {tool: x, arguments: {a: '$memory.title, in short'}}\n",
            'seed.arguments.a: "$memory.title, in short" is not filled in; write $memory.title alone',
        ),
        (MINIMAL + "seed: {command: [load, file]}\n", "seed.command: expected {seed_file}"),
        (
            MINIMAL + "cleanup: {restart: true, wait_s: 1}\n",
            "cleanup: expected exactly one of tool, restart, command, wait_s, next_offload, got restart and wait_s",
        ),
        (MINIMAL + "events: notification\n", "did you mean notifications?"),
        (MINIMAL + "events: {file: X}\n", "events.file_env: missing; it is required"),
        (MINIMAL + "inline: {records: results}\n", "inline.records: expected a jq path"),
        (MINIMAL + "attest: {LRO-SCOPE-05: ''}\n", "attest.LRO-SCOPE-05: expected a non-empty string"),
        ("server: {command: [x]}\nserver: {command: [y]}\n", "lro.yaml:2: server: written twice, first on line 1"),
        ("server: {command: [x]}\n  level: 3\n", "lro.yaml:2: not YAML:"),
        ("server: [x\n", "not YAML:"),
        ("server: {command: [x]}\n---\nlevel: 1\n", "not YAML:"),
        ("server: {command: [2026-01-01]}\n", "server.command[0]: a date is not allowed here; put text in quotes"),
        ("server: !!python/object:os.system {}\n", "is not allowed here"),
        ("server: {command: [!!int x]}\n", "server.command[0]: the value cannot be read as int"),
        ("a: &a {b: 1}\nserver: {<<: *a}\n", "lro.yaml:2: server: merge keys (<<) are not supported"),
        ("? [a]\n: 1\n", "a key must be a scalar"),
        ("- a\n", "lro.yaml:1: expected keys and values, at least server.command"),
        ("just words\n", "lro.yaml:1: expected keys and values"),
        ("", "lro.yaml: empty: expected at least server.command"),
        ("# nothing\n", "lro.yaml: empty: expected at least server.command"),
        (b"level: 3\nserver: \xff\n", "lro.yaml:2: not UTF-8: byte 0xff at offset 17"),
        ("level: 3\nserver: \x07\n", "lro.yaml:2: not YAML: the character U+0007 is not allowed"),
        ("[" * 5000, "lro.yaml: nested deeper than 40 levels"),
        ("server: " + "[" * 60 + "]" * 60, "nested deeper than 40 levels"),
        ("a: &a [*a]\n", "nested deeper than 40 levels"),
        (b"#" * 300_000, "too large"),
    ],
)
def test_each_mistake_is_named_in_one_line(tmp_path: Path, text: str | bytes, expected: str):
    lines = refusals(tmp_path, text)
    assert any(expected in line for line in lines), lines
    assert all(line.startswith("lro.yaml") for line in lines)


@pytest.mark.parametrize(
    "environment",
    [
        "{API_TOKEN: 12345678.5}",
        "{API_TOKEN: [s3cretvalue]}",
        "{API_TOKEN: {s3cretvalue: 1}}",
        "{API_TOKEN: *s3cretvalue}",
        "{API_TOKEN: !s3cretvalue x}",
        "{API_TOKEN: !!int s3cretvalue}",
        "{API_TOKEN: s3cretvalue, OTHER: []}",
        "s3cretvalue",
    ],
)
def test_values_of_the_environment_are_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str], environment: str):
    profile = written(tmp_path, f"server:\n  command: [x]\n  env: {environment}\n")
    assert main(["certify", "--profile", str(profile)]) == 2
    assert main(["validate", str(profile)]) == 1
    shown = "".join(capsys.readouterr())
    assert "lro.yaml:3" in shown
    assert "s3cretvalue" not in shown
    assert "12345678" not in shown


def test_all_problems_are_named_at_once_in_the_order_of_the_file(tmp_path: Path):
    lines = refusals(tmp_path, "level: 9\nserver: {comand: [x]}\nevents: no-where\n")
    assert [line.split(":")[1] for line in lines] == ["1", "2", "2", "3"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "server: {command: [x], cwd: nowhere}\nlevel: 9\n",
            ["1: server.cwd: ", "2: level: expected at most 3"],
        ),
        (
            "level: 3\nlevel: 2\nserver: {command: [x], comand: [y]}\nattest: {LRO-THR-999: by hand}\n",
            ["2: level: written twice", "3: server.comand: unknown key", "4: attest.LRO-THR-999: lro-6400 has no"],
        ),
        (
            "server: {cwd: nowhere}\nseed: {tool: x, arguments: {a: $memory.titel}}\n",
            ["1: server.command: missing", "1: server.cwd: ", "2: seed.arguments.a: a memory has no field titel"],
        ),
        (
            "server:\n  command: [2026-01-01]\n  cwd: .nan\nevents: telegraph\nseed: {tool: x, arguments: {a: 1}}\n",
            [
                "2: server.command[0]: a date is not allowed",
                "3: server.cwd: the value is not a JSON number",
                "4: events: expected",
                "5: seed.arguments: expected",
            ],
        ),
        (
            "server: {command: ['{seed_file}']}\nsettings: {enabled: {arg: --on}, ttl_secnds: {env: X}}\n",
            [
                "1: server.command[0]: {seed_file} is not",
                "2: settings.enabled.arg: ",
                "2: settings.ttl_secnds: unknown",
            ],
        ),
    ],
)
def test_mistakes_of_different_kinds_are_named_at_once(tmp_path: Path, text: str, expected: list[str]):
    lines = refusals(tmp_path, text)
    assert len(lines) == len(expected), lines
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(f"lro.yaml:{start}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MINIMAL + "edition: lro-1\noperations: {list: {tool: x}}\nattest: {LRO-THR-999: by}\n", "2: edition: "),
        (MINIMAL + "settings: {enabled: {toml: a.b}}\nconfig_file: 5\n", "3: config_file: expected"),
        (MINIMAL + "seed: {tool: x, arguments: {a: 1}, argumets: {m: $memory}}\n", "2: seed.argumets: unknown key"),
        ("a: &a {command: [x]}\nserver: {<<: *a}\n", "1: a: unknown key"),
        ("level: 1\nlevel: 9\nserver: {command: [x]}\n", "2: level: written twice"),
        ("server: !!binary aGVsbG8=\n", "1: server: binary data is not allowed"),
    ],
)
def test_what_only_follows_from_another_mistake_is_not_named(tmp_path: Path, text: str, expected: str):
    lines = [line for line in refusals(tmp_path, text) if "merge keys" not in line]
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"lro.yaml:{expected}")


def test_anchors_that_multiply_are_bounded(tmp_path: Path):
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for name, of in zip("bcdefg", "abcdef", strict=True):
        bomb += f"{name}: &{name} [{', '.join([f'*{of}'] * 10)}]\n"
    assert "too large: more than 20000 values once its anchors are followed" in refusals(tmp_path, bomb)[0]


def test_a_plain_anchor_is_followed(tmp_path: Path):
    text = MINIMAL + "operations:\n  recall: {tool: t, arguments: &a {query: x}}\n  search: {tool: t, arguments: *a}\n"
    operations = load(written(tmp_path, text)).operations
    assert operations is not None
    assert operations["search"].arguments == {"query": "x"}


def test_missing_file_is_a_profile_error(tmp_path: Path):
    with pytest.raises(ProfileError, match=r"lro\.yaml: cannot be read: No such file or directory"):
        load(tmp_path / "lro.yaml")


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes):
    path = written(tmp_path_factory.getbasetemp(), data)
    problems: tuple[Problem, ...] = ()
    try:
        load(path)
    except ProfileError as error:
        problems = error.problems
    assert all(problem.file == str(path) and problem.message for problem in problems)


def test_bare_command_needs_a_word():
    with pytest.raises(ValueError, match="no command"):
        profile_for_command([])


def test_settings_reach_the_server_each_in_its_own_way(tmp_path: Path):
    profile = load(written(tmp_path, WHOLE))
    work = tmp_path / "work"
    work.mkdir()
    started = launch(profile, {"enabled": False, "threshold_tokens": 1, "output_dir": 'a "b" \x7f 漢'}, work)
    config = work / "lro-config.toml"
    head = ("python", "-m", "my_server", "--port", "8080")
    assert started.argv == (*head, "--threshold=1", "--config", str(config))
    assert started.env["ATLATL_PROMPT__OFFLOAD__ENABLED"] == "false"
    assert started.env["MY_DATA"] == f"{work}/work/data"
    assert started.env["EVENTS"] == str(started.events_file)
    assert tomllib.loads(config.read_text()) == {"prompt": {"offload": {"output_dir": 'a "b" \x7f 漢'}}}
    assert started.cwd.samefile(tmp_path)


@pytest.mark.parametrize(
    ("way", "on", "off"),
    [
        ("arg_if_true: [--offload, --yes]", ("--offload", "--yes"), ()),
        ("arg_if_false: --no-offload", (), ("--no-offload",)),
    ],
)
def test_bare_flag_is_there_for_one_of_two_values(tmp_path: Path, way: str, on: tuple[str], off: tuple[str]):
    profile = load(written(tmp_path, MINIMAL + f"settings: {{enabled: {{{way}}}}}\n"))
    head = profile.server.command
    assert launch(profile, {"enabled": True}, tmp_path).argv == (*head, *on)
    assert launch(profile, {"enabled": False}, tmp_path).argv == (*head, *off)
    assert launch(profile, {}, tmp_path).argv == head
    assert str(profile.settings["enabled"]) == " ".join(on or off)


def test_config_file_is_written_even_when_it_holds_nothing(tmp_path: Path):
    started = launch(load(written(tmp_path, WHOLE)), {}, tmp_path)
    assert started.config_file is not None
    assert tomllib.loads(started.config_file.read_text()) == {}


def test_config_file_can_be_where_the_server_looks_by_itself(tmp_path: Path):
    text = MINIMAL + "config_file: '{workdir}/.config/s.toml'\nsettings: {enabled: {toml: enabled}}\n"
    launch(load(written(tmp_path, text)), {"enabled": True}, tmp_path)
    assert (tmp_path / "work/.config/s.toml").read_text() == "enabled = true\n"


def test_config_file_can_be_told_by_a_variable(tmp_path: Path):
    text = MINIMAL + "config_file: {env: CONF}\nsettings: {enabled: {toml: a.enabled}}\n"
    started = launch(load(written(tmp_path, text)), {"enabled": True}, tmp_path)
    assert Path(started.env["CONF"]).read_text() == "[a]\nenabled = true\n"


def test_variables_of_settings_without_a_value_are_unset(tmp_path: Path):
    started = launch(load(written(tmp_path, MINIMAL)), {"ttl_seconds": 60}, tmp_path)
    assert started.env == {"ATLATL_PROMPT__OFFLOAD__TTL_SECONDS": "60"}
    assert "ATLATL_PROMPT__OFFLOAD__ENABLED" in started.unset
    assert "ATLATL_PROMPT__OFFLOAD__TTL_SECONDS" not in started.unset


def test_setting_that_is_not_offered_is_refused(tmp_path: Path):
    with pytest.raises(SettingNotOffered, match="ttl_seconds"):
        launch(load(written(tmp_path, WHOLE)), {"ttl_seconds": 1}, tmp_path)


def test_bare_lro_means_this_installation(tmp_path: Path):
    assert launch(profile_for_command(["lro", "serve"]), {}, tmp_path).argv == (
        sys.executable,
        "-P",
        "-m",
        "lro_conformance",
        "serve",
    )
    assert launch(profile_for_command(["python", "lro"]), {}, tmp_path).argv == ("python", "lro")


def test_seed_file_reaches_the_server_by_its_variable(tmp_path: Path):
    profile = load(written(tmp_path, MINIMAL + "seed: {env: SEED}\n"))
    assert launch(profile, {}, tmp_path, seed_file=tmp_path / "s.jsonl").env["SEED"] == str(tmp_path / "s.jsonl")
    assert "SEED" not in launch(profile, {}, tmp_path).env


def test_working_directory_may_be_the_private_folder(tmp_path: Path):
    profile = load(written(tmp_path, "server: {command: [x], cwd: '{workdir}'}\n"))
    assert launch(profile, {}, tmp_path / "w").cwd == tmp_path / "w" / "work"


def test_no_name_in_the_private_folder_is_reserved(tmp_path: Path):
    text = """\
server: {command: [x, "{workdir}/lro-config.toml"], env: {DATA: "{workdir}/seed.jsonl", OUT: "{workdir}/out"}}
config_file: {env: CONFIG}
seed: {env: SEED}
events: {file_env: EVENTS}
"""
    made = launch(load(written(tmp_path, text)), {}, tmp_path, seed_file=tmp_path / "seed.jsonl")
    theirs = {Path(text) for text in (made.argv[1], made.env["DATA"], made.env["OUT"])}
    ours = {Path(made.env[name]) for name in ("CONFIG", "SEED", "EVENTS")} | {tmp_path / "out", tmp_path / "tmp"}
    assert not theirs & ours
    assert all(path.parent.is_dir() and not path.exists() for path in theirs)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_the_config_file(text: str):
    assert tomllib.loads(toml({"a.b": text})) == {"a": {"b": text}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "server: {command: [s], env: {D: '{work_dir}/x'}}",
            "server.env.D: {work_dir} is not filled in here; did you mean {workdir}?",
        ),
        (
            "server: {command: [s, '--out={output_dir}']}",
            "server.command[1]: {output_dir} is not filled in here; {workdir} is",
        ),
        (
            "server: {command: [s]}\nsettings: {ttl_seconds: {arg: [--ttl, '{value}', '{val}']}}",
            "did you mean {value}?",
        ),
        (
            "server: {command: [s]}\ncleanup: {command: [c, '{outputdir}']}",
            "cleanup.command: {outputdir} is not filled in here",
        ),
    ],
)
def test_a_placeholder_that_is_none_is_named(tmp_path: Path, text: str, said: str):
    (tmp_path / "lro.yaml").write_text(text)
    with pytest.raises(ProfileError) as problem:
        load(tmp_path / "lro.yaml")
    assert said in str(problem.value)


def test_other_braces_are_the_servers_own(tmp_path: Path):
    (tmp_path / "lro.yaml").write_text("server: {command: [s, '{query}'], env: {J: '{\"a\": {}}', T: '{name}'}}")
    assert load(tmp_path / "lro.yaml").server.command == ("s", "{query}")


def test_another_edition_brings_its_own_settings(tmp_path: Path):
    (tmp_path / "lro.yaml").write_text("edition: lro-6400\n" + MINIMAL)
    for name in EDITIONS:
        profile = load(tmp_path / "lro.yaml", edition=name)
        assert (profile.edition, profile.settings) == (name, profile_for_command(["s"], edition=name).settings)


TOOLS: list[dict[str, Any]] = [
    {"name": "recall_memories", "inputSchema": {"type": "object", "properties": {"query": {}, "limit": {}}}},
    {"name": "store_memory", "inputSchema": {"type": "object", "properties": {"memory": {}}}},
    {"name": "strict", "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False}},
    {"name": "vague", "inputSchema": {"type": "object"}},
]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "operations: {recall: {tool: recal_memories}}",
            "2: operations.recall.tool: the server lists no tool recal_memories; did you mean recall_memories?",
        ),
        (
            "operations: {recall: {tool: recall_memories, limit: limits}}",
            "recall_memories takes no argument limits; did you mean limit?",
        ),
        (
            "operations: {recall: {tool: recall_memories, detail: detail}}",
            "takes no argument detail; it takes query, limit",
        ),
        (
            "operations: {recall: {tool: recall_memories, detail: {argument: limits, light: 1, full: 2}}}",
            "2: operations.recall.detail.argument: recall_memories takes no argument limits; did you mean limit?",
        ),
        ("seed: {tool: store, arguments: {m: $memory}}", "seed.tool: the server lists no tool store"),
        (
            "seed: {tool: store_memory, arguments: {memroy: $memory}}",
            "seed.arguments.memroy: store_memory takes no argument memroy",
        ),
        (
            "cleanup: {tool: strict, arguments: {task: x}}",
            "cleanup.arguments.task: strict takes no argument task; it takes none",
        ),
    ],
)
def test_names_that_the_server_does_not_have_are_named(tmp_path: Path, text: str, said: str):
    (tmp_path / "lro.yaml").write_text(MINIMAL + text)
    with pytest.raises(ProfileError) as problem:
        match(load(tmp_path / "lro.yaml"), TOOLS)
    assert said in str(problem.value)


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (
            "operations: {recall: {tool: vague, query: query}}",
            ["the inputSchema of vague does not list query (profile: operations.recall.query)"],
        ),
        (
            "cleanup: {tool: store_memory, arguments: {task: x}}",
            ["the inputSchema of store_memory does not list task (profile: cleanup.arguments.task)"],
        ),
        ("operations: {recall: {tool: recall_memories, query: query, limit: limit}}", []),
    ],
)
def test_what_the_server_may_well_take_is_noted(tmp_path: Path, text: str, notes: list[str]):
    (tmp_path / "lro.yaml").write_text(MINIMAL + text)
    assert match(load(tmp_path / "lro.yaml"), TOOLS) == notes
    assert match(load(tmp_path / "lro.yaml"), []) == []


def test_a_profile_that_does_not_fit_its_server_ends_with_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text().replace("tool: store_memory", "tool: store_memories"))
    assert main(["certify", "--profile", str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"lro: {path}:7: seed.tool: the server lists no tool store_memories; did you mean store_memory?"]


def test_seeding_that_failed_is_told_in_the_notes(tmp_path: Path):
    path = tmp_path / "lro.yaml"
    text = profile_text().replace(
        "tool: store_memory, arguments: {memory:", "tool: run_custodial_task, arguments: {task:"
    )
    path.write_text(text)
    report = certify(load(path), only={"LRO-THR-03"}, examples=0)
    refusal = 'run_custodial_task did not accept a memory of the suite (profile: seed): "the only task'
    assert [n for n in report.notes if refusal in n] != []


def test_a_setting_that_the_server_is_started_with_hides_its_default(tmp_path: Path):
    path = tmp_path / "lro.yaml"
    ttl, threshold = "ATLATL_PROMPT__OFFLOAD__TTL_SECONDS", "ATLATL_PROMPT__OFFLOAD__THRESHOLD_TOKENS"
    path.write_text(profile_text(sections=f"server: {{command: [{{command}}], env: {{{ttl}: 5, {threshold}: 99}}}}\n"))
    profile = load(path)
    assert profile.preset == {"ttl_seconds": ttl, "threshold_tokens": threshold}
    report = certify(profile, only={"LRO-THR-01", "LRO-CLN-02"}, examples=0, seed=1)
    assert {c.name: c.observed for r in report.requirements for c in r.checks if c.observed} == {
        "threshold.default_threshold": (
            f"the server is started with {threshold}, so the default of threshold_tokens is not in force"
        ),
        "cleanup.default_ttl": f"the server is started with {ttl}, so the default of ttl_seconds is not in force",
        "cleanup.any_age_at_any_step": "this run did not explore",
    }


def test_a_flag_of_the_command_is_that_of_a_setting(tmp_path: Path):
    path = tmp_path / "lro.yaml"
    path.write_text("server: {command: [x, --ttl=5]}\nsettings: {ttl_seconds: {arg: [--ttl, '{value}']}}\n")
    assert load(path).preset == {"ttl_seconds": "--ttl"}


@pytest.mark.parametrize(
    ("word", "setting"),
    [
        ("--ttl-seconds", "ttl_seconds"),
        ("--ttl=5", "ttl_seconds"),
        ("--threshold", "threshold_tokens"),
        ("--threshold_tokens", "threshold_tokens"),
        ("--lro-threshold-tokens", "threshold_tokens"),
        ("--offload-ttl", "ttl_seconds"),
        ("--prompt.offload.ttl_seconds", "ttl_seconds"),
    ],
)
def test_a_flag_with_the_name_of_a_setting_presets_it(tmp_path: Path, word: str, setting: str) -> None:
    path = tmp_path / "lro.yaml"
    path.write_text(f"server: {{command: [serve, {word}, '5']}}\n", encoding="utf-8")
    profile = load(path)
    assert profile.preset == {setting: word.partition("=")[0]}
    assert not profile.can_set(setting), "a flag has precedence over the variable"
    assert profile.can_set("output_dir")
    assert profile.fixed == profile.preset
    assert profile.reason_not_set(setting).startswith(f"{profile.preset[setting]} in the server's command fixes the ")


@pytest.mark.parametrize(
    "word",
    [
        "--tt",
        "--thresholds",
        "ttl_seconds",
        "--",
        "--no-ttl",
        "--output",
        "--cache-ttl",
        "--log-output-dir",
        "--session-enabled",
        "--lro",
    ],
)
def test_any_other_word_presets_nothing(tmp_path: Path, word: str) -> None:
    path = tmp_path / "lro.yaml"
    path.write_text(f"server: {{command: [serve, {word}]}}\n", encoding="utf-8")
    assert load(path).preset == {}
