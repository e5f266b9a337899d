"""`lro validate` as it is called: what is looked at, how findings are told, what the shell learns."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lro_conformance.validate import progress
from lro_conformance.validate.paths import InputFile
from lro_spec.validation import validate_file
from tests.support.paths import ROOT
from tests.support.renderings import assert_sarif
from tests.support.validating import BAD, GOOD, HEADER, NAME, here, lines, said

__all__ = ["here", "said"]  # fixtures


class TestWhatIsMeant:
    def test_a_folder_is_everything_of_lro_in_it(self, here: Path, said: Any):
        (here / "out/deep").mkdir(parents=True)
        (here / "out" / NAME).write_bytes(GOOD)
        (here / "out/deep" / NAME).write_bytes(BAD)
        (here / "out/package.json").write_text('{"name": "x"}')
        (here / "out/notes.txt").write_text("no JSON at all")
        (here / "out/.hidden.jsonl").write_bytes(BAD)
        code, out, _ = said("out")
        assert code == 1
        assert out.startswith(f"out/deep/{NAME}:1:")
        assert out.endswith("1 error, in 1 of 2 documents: 2 files (4 lines); 1 other file skipped\n")

    def test_lines_of_something_else_are_passed_over_in_a_folder(self, here: Path, said: Any):
        (here / "evidence/servers/0001").mkdir(parents=True)
        (here / "evidence/evidence.json").write_text('{"format": "lro-evidence/1"}')
        (here / "evidence/calls.jsonl").write_bytes(lines({"number": 1, "id": 7, "operation": "recall"}))
        answer = json.dumps({"result": HEADER})
        (here / "evidence/servers/0001/transcript.jsonl").write_bytes(lines({"at": 1.5, "text": answer}))
        (here / "evidence/empty.jsonl").write_bytes(b"")
        (here / "renamed.jsonl").write_bytes(GOOD)
        (here / "headless.jsonl.gz").write_bytes(gzip.compress(lines({"id": "a", "title": "T"})))
        code, out, _ = said(".")
        assert code == 1
        assert [line.split(":")[0] for line in out.splitlines() if "LRO-FILE-02" in line] == ["./headless.jsonl.gz"]
        assert out.endswith("2 files (3 lines); 4 other files skipped\n")
        code, _, err = said("evidence/evidence.json")
        assert (code, "lro judge evidence\n" in err) == (2, True)
        (here / "accepted.yaml").write_text("# open issues\naccept: []\n")
        code, _, err = said("accepted.yaml")
        assert (code, "lro certify --baseline accepted.yaml\n" in err) == (2, True)  # and no broken profile
        assert said("evidence/calls.jsonl")[0] == 1  # named, and so meant

    @pytest.mark.parametrize("names", [("lines", "told"), ("lines.txt", "told.txt"), ("lines.json", "told.json")])
    def test_with_follow_a_file_is_judged_once_whatever_names_tell(self, here: Path, said: Any, names: tuple[str, str]):
        file, descriptor = names
        (here / file).write_bytes(GOOD)
        (here / f"packed {file}").write_bytes(gzip.compress(GOOD))
        (here / descriptor).write_text(json.dumps({"offloaded": True, "file_path": str(here / file)}, indent=1))
        _, out, _ = said("--follow", f"packed {file}", file, descriptor)
        assert ": 1 descriptor, 2 files (4 lines)\n" in out

    def test_one_line_is_one_line(self, here: Path, said: Any):
        (here / NAME).write_bytes(lines({**HEADER, "count": 0}))
        assert said(NAME)[1] == "nothing wrong: 1 file (1 line)\n"

    def test_a_folder_of_nothing_is_a_wrong_call(self, here: Path, said: Any):
        (here / "out").mkdir()
        code, out, err = said("out")
        assert (code, out) == (2, "")
        assert "out: no .json" in err

    def test_a_folder_without_anything_of_lro_is_a_wrong_call(self, here: Path, said: Any):
        (here / "x.json").write_text("[]")
        code, out, err = said(".")
        assert (code, out) == (2, "")
        assert "1 other file skipped" in err

    def test_a_pattern_is_what_it_matches(self, here: Path, said: Any):
        (here / "a").mkdir()
        (here / "a" / NAME).write_bytes(GOOD)
        (here / "a/x.json").write_text("[]")
        assert said("**/*.json*")[:2] == (0, "nothing wrong: 1 file (2 lines); 1 other file skipped\n")
        assert said("*.nothing")[0] == 2

    def test_a_file_named_twice_is_looked_at_once(self, here: Path, said: Any):
        (here / NAME).write_bytes(GOOD)
        assert said(NAME, NAME, ".")[1] == "nothing wrong: 2 files (4 lines)\n"  # ./NAME is another spelling

    def test_what_cannot_be_read_does_not_hide_the_rest(self, here: Path, said: Any):
        (here / NAME).write_bytes(BAD)
        code, out, err = said("missing.jsonl", NAME)
        assert code == 2
        assert "missing.jsonl: No such file" in err
        assert "LRO-FILE-06" in out

    def test_a_file_of_zstd_is_one_line(self, here: Path, said: Any):
        (here / f"{NAME}.zst").write_bytes(b"\x28\xb5\x2f\xfd\x00")
        code, _, err = said(f"{NAME}.zst")
        assert (code, err.count("\n")) == (2, 1)
        assert "compressed by zstd, but only gzip can be unpacked; use: zstdcat FILE | lro validate -" in err

    def test_compressed_files_are_unpacked(self, here: Path, said: Any):
        name = f"{NAME}.gz"
        (here / name).write_bytes(gzip.compress(BAD))
        code, out, _ = said(name)
        assert code == 1
        assert out.startswith(f"{name}:1:")
        assert "LRO-NAME" not in out

    @pytest.mark.parametrize(("pack", "how"), [(bz2.compress, "bzip2"), (lzma.compress, "xz")])
    def test_other_compression_is_named(self, here: Path, said: Any, pack: Callable[[bytes], bytes], how: str):
        (here / "x.jsonl.z").write_bytes(pack(GOOD))
        code, _, err = said("x.jsonl.z")
        assert (code, f"compressed by {how}; only gzip is supported" in err) == (2, True)

    def test_compressed_bytes_that_break_off_are_a_finding(self, here: Path, said: Any):
        whole = gzip.compress(lines({**HEADER, "count": 5000}, *({"id": f"{n * 7919:x}"} for n in range(5000))))
        (here / f"{NAME}.gz").write_bytes(whole[: len(whole) // 2])
        code, out, _ = said(f"{NAME}.gz")
        assert code == 1
        assert "LRO-FILE-01: the compressed data is truncated or damaged here" in out

    def test_a_stream_is_read_as_it_comes(self, monkeypatch: pytest.MonkeyPatch, said: Any):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(BAD))))
        code, out, _ = said("-")
        assert code == 1
        assert out.startswith("-:1:")

    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ('{"offloaded": true, "summary": {},}', "descriptor"),
            ('{"type": "lro_header",,}', "header"),
            ('{"format": "lro-report/1", nonsense', "report"),
            ('not json\n{"id": "a"}\n', "file"),
            (json.dumps(HEADER, indent=1), "header"),
        ],
    )
    def test_the_kind_of_what_is_broken_is_found(self, here: Path, said: Any, text: str, kind: str):
        (here / "x").write_text(text)
        told = json.loads(said("--format", "json", "x")[1])
        assert told["documents"] == {kind: 1}

    @pytest.mark.parametrize("place", ["text", "sentence", "resource", "structuredContent"])
    @pytest.mark.parametrize("kind", [(), ("--kind", "descriptor")])
    def test_a_descriptor_is_found_in_a_reply(self, here: Path, said: Any, place: str, kind: tuple[str, ...]):
        value = {"offloaded": True, "summary": {"count": -1}}
        text = {"type": "text", "text": f"{'See: ' if place == 'sentence' else ''}{json.dumps(value)}"}
        block = {"type": "resource", "resource": {"uri": "x:", **text}} if place == "resource" else text
        result = {place: value} if place == "structuredContent" else {"content": [{"type": "image"}, block]}
        here.joinpath("r.json").write_text(json.dumps(result))
        here.joinpath("rpc.json").write_text(json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}, indent=1))
        here.joinpath("d.json").write_text(json.dumps(value))
        pointers: list[list[str]] = []
        for path in ("d.json", "r.json", "rpc.json"):
            told = json.loads(said("--format", "json", *kind, path)[1])
            assert told["documents"] == {"descriptor": 1}
            pointers.append(sorted(finding["pointer"] for finding in told["findings"]))
        assert "/summary/count" in pointers[0]
        assert pointers[0] == pointers[1] == pointers[2]

    @pytest.mark.parametrize("kind", [(), ("--kind", "descriptor")])
    def test_a_reply_that_was_not_offloaded_is_no_descriptor(self, here: Path, said: Any, kind: tuple[str, ...]):
        here.joinpath("r.json").write_text('{"content": [{"type": "text", "text": "[]"}]}')
        code, out, err = said(*kind, "r.json")
        assert (code, out.strip()) == (2, "nothing wrong:" if out else "")
        assert err == "lro validate: r.json: this reply has no descriptor, so the result was not offloaded\n"


class TestHowItIsTold:
    def test_the_line_is_shown_and_marked(self, here: Path, said: Any):
        (here / NAME).write_bytes(lines({**HEADER, "count": 1}, {"id": "日本語", "tags": 3}))
        out = said(NAME)[1].split("\n")
        assert out[0].startswith(f"{NAME}:2:38: LRO-FILE-11 /tags: ")
        shown, mark = out[1], out[2]
        assert shown.startswith("     2 | {")
        assert shown[mark.index("^")] == "3"  # the text is escaped, so each character is one cell wide

    def test_the_mark_stands_below_the_place_in_wide_text_and_far_into_a_line(self, here: Path, said: Any):
        record = {"id": "a", "title": "語" * 200, "tags": 3}
        (here / NAME).write_bytes(
            GOOD[: GOOD.index(b"\n") + 1] + json.dumps(record, ensure_ascii=False).encode() + b"\n"
        )
        shown, mark = said(NAME)[1].split("\n")[1:3]
        wide = sum(2 if char == "語" else 1 for char in shown[: shown.index("3")])
        assert mark.index("^") >= wide - 2  # the mark's column counts cells
        assert len(shown) < 200

    def test_control_characters_do_not_reach_a_terminal(self, here: Path, said: Any):
        (here / NAME).write_bytes(GOOD + '{"id":"\u202e\x1b[2J"}'.encode() + b"\n")
        assert not re.search("[\x1b\u202e]", said(NAME)[1])

    def test_findings_beyond_the_cap_are_counted_and_the_rest_is_in_order(self, here: Path, said: Any):
        wrong = ["title", "tags", "namespace", "created"] * 225
        (here / NAME).write_bytes(lines({**HEADER, "count": 900}, *({"id": f"{n}", f: n} for n, f in enumerate(wrong))))
        code, out, _ = said("--max-findings", "3", NAME)
        assert code == 1
        assert [int(line.split(":")[1]) for line in out.split("\n") if line.startswith(NAME)] == [2, 3, 4]
        assert "900 errors, 225 of them not shown (--max-findings 0 shows all): 1 file (901 lines)" in out
        told = json.loads(said("--format", "json", "--max-findings", "0", NAME)[1])
        assert (len(told["findings"]), told["shown"], told["counts"]["error"]) == (900, 900, 900)

    def test_errors_are_shown_before_warnings_when_not_all_are(self, here: Path, said: Any):
        (here / "renamed.jsonl").write_bytes(BAD)
        out = said("--max-findings", "1", "renamed.jsonl")[1]
        assert "LRO-FILE-06" in out
        assert "LRO-NAME-02" not in out

    def test_sarif_satisfies_the_official_schema(self, here: Path, said: Any):
        (here / NAME).write_bytes(BAD)
        (here / "x.json").write_text('{"offloaded": true, "offloaded": true}')
        code, out, _ = said("--format", "sarif", ".")
        made = json.loads(out)
        assert code == 1
        assert_sarif(made)
        run = made["runs"][0]
        assert {result["ruleId"] for result in run["results"]} == {"LRO-DESC-01", "LRO-FILE-06", "json"}
        assert run["properties"]["counts"]["error"] == 7
        place = run["results"][0]["locations"][0]["physicalLocation"]
        assert place["region"] == {"startLine": 1, "startColumn": 70}
        assert '"count": 7' in place["contextRegion"]["snippet"]["text"]

    def test_sarif_of_nothing_is_a_run_without_results(self, here: Path, said: Any):
        (here / NAME).write_bytes(GOOD)
        made = json.loads(said("--format", "sarif", NAME)[1])
        assert_sarif(made)
        assert made["runs"][0]["results"] == []

    def test_github_annotations_are_escaped(self, here: Path, said: Any):
        (here / "a,b:c%.jsonl").write_bytes(BAD)
        out = said("--format", "github", "a,b:c%.jsonl")[1]
        assert re.search(
            r"^::error file=a%2Cb%3Ac%25\.jsonl,line=1,col=\d+,title=LRO-FILE-06::/count: .*%0A", out, re.M
        )
        assert "\n::warning file=" in f"\n{out}"

    def test_a_place_in_a_document_of_many_lines_is_found(self, here: Path, said: Any):
        (here / "h.json").write_text(json.dumps({**HEADER, "count": "one"}, indent=2))
        out = said("h.json")[1]
        assert out.startswith("h.json:5:12: LRO-FILE-03 /count: ")
        assert '     5 |   "count": "one",' in out

    def test_a_profile_shows_its_line(self, here: Path, said: Any):
        (here / "lro.yaml").write_text("server: {command: [x]}\nlevle: 3\n")
        out = said("lro.yaml")[1]
        assert out.startswith("lro.yaml:2:1: profile /levle: unknown key")
        assert "     2 | levle: 3\n       | ^\n1 error" in out  # without a mark, for its column is not known

    @pytest.mark.parametrize(
        ("text", "place", "shown"),
        [
            ("level: 3\n\tserver: 1\n", "2:1", "\\tserver: 1"),
            ('server: {command: ["\U0001f600"], zz: 1}\n', "1:26", 'server: {command: ["\U0001f600"], zz: 1}'),
            ('server: {command: ["a\u2028 is a line\u2028 in YAML"],\n  zz: 1}\n', "2:3", "  zz: 1}"),
            ("\ufefflevel: 9\nserver: {command: [x]}\n", "1:1", "level: 9"),  # a byte order mark has no column
            ("level: 9\r\nserver:\r\n  command: [x]\r\n", "1:1", "level: 9\n"),
            ("server: {command: [x]}\nlevel: 3\nlevel: 2\n", "3:1", "level: 2"),
            ("server: {command: [x]}\nlevel: .nan\n", "2:8", "level: .nan"),
            ("server: {command: [x], cwd: nowhere}\n", "1:24", "server: {"),
            ("server: {command: [x\n", "2:1", "\n"),
            ("server: {command: ['\udcff']}\n", "1:21", "server: {command: ['\ufffd']}"),
        ],
    )
    def test_a_profile_shows_the_place(self, here: Path, said: Any, text: str, place: str, shown: str):
        (here / "lro.yaml").write_bytes(text.encode("utf-8", "surrogateescape"))
        code, out, _ = said("lro.yaml")
        assert code == 1
        assert out.startswith(f"lro.yaml:{place}: profile")
        line, column = place.split(":")
        assert f"\n{line:>6} | {shown}" in out
        assert f"\n       | {' ' * (int(column) - 1)}" in out

    def test_a_profile_shows_its_key(self, here: Path, said: Any):
        (here / "lro.yaml").write_text("server: {command: [x, {a: 1}]}\nsettings:\n  enabled: {arg: x}\n")
        told = json.loads(said("--format", "json", "lro.yaml")[1])["findings"]
        assert {finding["pointer"] for finding in told} == {"/server/command/1", "/settings/enabled/arg"}

    def test_a_profile_says_what_was_expected_and_what_came(self, here: Path, said: Any):
        (here / "lro.yaml").write_text("level: 9\nlevle: 3\nserver: {cwd: .}\n")
        told = json.loads(said("--format", "json", "lro.yaml")[1])["findings"]
        assert {f["pointer"]: (f["message"], f["expected"], f["observed"], f["hint"]) for f in told} == {
            "/level": ("level is wrong", "at most 3", "9", ""),
            "/levle": ("unknown key", "", "", "did you mean level?"),
            "/server/command": ("server.command: missing", "a value, because the key is required", "nothing", ""),
        }


class Slow:
    """A stream of many reads."""

    def __init__(self, data: bytes) -> None:
        self._left = data

    def read(self, size: int = -1, /) -> bytes:
        part, self._left = self._left[:100], self._left[100:]
        return part


class TestMeter:
    def on_terminal(
        self, monkeypatch: pytest.MonkeyPatch, patience: float, *named: str, path: str = "long.jsonl"
    ) -> str:
        monkeypatch.setattr(progress, "PATIENCE_S", patience)
        monkeypatch.setenv("TERM", "xterm")
        controller, terminal = pty.openpty()
        with os.fdopen(terminal, "w") as stream:
            with progress.Meter(stream, [InputFile(each, True) for each in named]) as bar:
                watched = bar.watched(path, Slow(b"x" * 1000))
                while watched.read(100):
                    time.sleep(0.02)
            stream.flush()
            os.set_blocking(controller, False)
            try:
                return os.read(controller, 1 << 16).decode()
            except BlockingIOError:
                return ""
            finally:
                os.close(controller)

    def test_what_takes_long_shows_how_far_it_is(self, monkeypatch: pytest.MonkeyPatch):
        assert "long.jsonl" in self.on_terminal(monkeypatch, 0.05)

    def test_how_far_is_told_of_the_file_that_a_descriptor_leads_to(self, here: Path, monkeypatch: pytest.MonkeyPatch):
        (here / "d.json").write_bytes(b"x" * 50)
        (here / NAME).write_bytes(b"x" * 950)
        assert "/1.0 kB" in self.on_terminal(monkeypatch, 0.05, "d.json", path=NAME)

    def test_what_is_quick_shows_nothing(self, monkeypatch: pytest.MonkeyPatch):
        assert self.on_terminal(monkeypatch, 60) == ""

    def test_nothing_is_drawn_where_there_is_no_terminal(self, here: Path):
        (here / NAME).write_bytes(BAD)
        command = [sys.executable, "-m", "lro_conformance", "validate", "-q", NAME]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (1, "")


class TestHooks:
    """.pre-commit-hooks.yaml: each entry is a call that works, and the names that it takes are those of LRO."""

    @staticmethod
    def hooks() -> list[dict[str, Any]]:
        import yaml

        return yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))

    def test_each_finds_what_is_wrong_and_is_quiet_otherwise(self, here: Path, said: Any):
        (here / NAME).write_bytes(GOOD)
        (here / "descriptor.json").write_text('{"offloaded": true}')
        for hook in self.hooks():
            command, *arguments = hook["entry"].split()[1:]
            assert command == "validate"
            taken = [path.name for path in sorted(here.iterdir()) if re.search(hook["files"], path.name)]
            assert "descriptor.json" in taken
            code, out, _ = said(*arguments, *taken)
            assert code == 1
            assert {line.split(":")[0] for line in out.split("\n") if "LRO-" in line} == {"descriptor.json"}

    @pytest.mark.parametrize(
        ("name", "takes"),
        [
            (NAME, True),
            (f"out/{NAME}.gz", True),
            (f"out/{NAME}.zst", False),
            ("lro-x-1.jsonl", True),
            ("lro.yaml", True),
            ("a/recall-descriptor.json", True),
            ("package.json", False),
            ("data.jsonl", False),
            ("solro.yaml", False),
        ],
    )
    def test_the_names_are_those_of_lro(self, name: str, takes: bool):
        assert bool(re.search(self.hooks()[0]["files"], name)) == takes


class TestWhatIsNoFile:
    @pytest.mark.parametrize("argument", [".", "*.jsonl", "**/*.jsonl"])
    def test_pipes_are_passed_over(self, here: Path, said: Any, argument: str) -> None:
        (here / NAME).write_bytes(GOOD)
        os.mkfifo(here / "atlatl-pipe.jsonl")
        code, out, err = said(argument)
        assert (code, err) == (0, "")
        assert "1 file (2 lines)" in out

    def test_a_pattern_does_not_go_through_links_to_folders(self, here: Path, said: Any) -> None:
        (here / "loop").mkdir()
        (here / "loop" / NAME).write_bytes(GOOD)
        for name, target in (("self", "."), ("up", "..")):
            (here / "loop" / name).symlink_to(target)
        code, out, _ = said("loop/**/*.jsonl", "**/loop/**")
        assert code == 0
        assert "1 file (2 lines)" in out

    @pytest.mark.parametrize("argument", [".", "*/*.jsonl", "**/*.jsonl"])
    def test_a_folder_that_cannot_be_read_is_told(
        self, here: Path, said: Any, argument: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (here / "open").mkdir()
        (here / "open" / NAME).write_bytes(GOOD)
        (here / "closed").mkdir()

        def refusing(look: Any) -> Any:
            def refuse(path: str = ".") -> Any:
                if path.endswith("closed"):
                    raise PermissionError(13, "Permission denied", path)
                return look(path)

            return refuse

        monkeypatch.setattr(os, "scandir", refusing(os.scandir))
        monkeypatch.setattr(os, "listdir", refusing(os.listdir))
        code, out, err = said(argument)
        assert code == 2
        assert "closed: " in err
        assert "1 file (2 lines)" in out


class TestACountBesideLinesThatCannotBeRead:
    @pytest.mark.parametrize(
        ("broken", "count", "expected"),
        [
            (b"not json", 9, "expected 2 to 3"),
            (b"not json", 1, "expected 2 to 3"),
            (b'{"id": "c", "provenance": {"source": ', 4, "expected 2 to 3"),
            (b"[5]", 4, "expected 2 to 3"),
            (b'{"id": "c"}{"id": "d"}', 5, "expected 2 to 4"),
            (b'{"id": "c\xff"}', 2, "expected 3, the number of record lines"),
        ],
    )
    def test_is_reported_if_no_reading_of_them_explains_it(
        self, here: Path, said: Any, broken: bytes, count: int, expected: str
    ) -> None:
        (here / NAME).write_bytes(lines({**HEADER, "count": count}, {"id": "a"}) + broken + b"\n" + lines({"id": "b"}))
        _, out, _ = said(NAME)
        assert "LRO-FILE-01" in out
        assert f"LRO-FILE-06 /count: count is wrong: {expected}" in out

    @pytest.mark.parametrize(
        ("broken", "count"),
        [
            (b"not json", 2),
            (b"not json", 3),
            (b'{"id": "c"}{"id": "d"}', 4),
            (b'{"id": "c", "title"{"id": "d"}', 4),
            (b'[{"id": "c"}, {"id": "d"}, {"id": "e"}]', 5),
            (b'{\n"id": "c",\n"title": "T"\n}', 3),
        ],
    )
    def test_is_not_reported_if_they_may_be_the_reason(self, here: Path, said: Any, broken: bytes, count: int) -> None:
        (here / NAME).write_bytes(lines({**HEADER, "count": count}, {"id": "a"}) + broken + b"\n" + lines({"id": "b"}))
        _, out, _ = said(NAME)
        assert "LRO-FILE-01" in out
        assert "LRO-FILE-06" not in out


class TestWhatWasNotRead:
    @pytest.mark.parametrize("damage", ["garbage", "cut", "checksum"])
    @pytest.mark.parametrize("name", [f"{NAME}.gz", "packed"])
    def test_damage_is_not_held_against_the_count_and_what_came_before_is_judged(
        self, here: Path, said: Any, damage: str, name: str
    ) -> None:
        packed = gzip.compress(lines({**HEADER, "count": 9}, {"id": "a"}, {"id": True}))
        changed = {"garbage": packed + b"garbage", "cut": packed[:-9], "checksum": packed[:-8] + bytes(8)}[damage]
        (here / name).write_bytes(changed)
        code, out, _ = said(name)
        assert code == 1
        assert "LRO-FILE-06" not in out
        assert f"{name}:3:8: LRO-FILE-11 /id" in out
        assert f"{name}:4: LRO-FILE-01: the compressed data is truncated or damaged here" in out

    @pytest.mark.parametrize("edition", ["lro-6400", "lro-paper"])
    def test_a_line_that_is_too_long_is_an_error_of_no_requirement(self, edition: str) -> None:
        data = lines(HEADER, {"id": "a" * 300})
        (found,) = validate_file(io.BytesIO(data), edition=edition, max_line_bytes=250)
        assert (found.rule, found.severity, found.line) == ("json", "error", 2)


def shell(words: str) -> tuple[int, bytes]:
    """The exit code and standard error of `lro validate`, as a shell calls it."""
    command = f"exec '{sys.executable}' -m lro_conformance validate {words}"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, check=False, timeout=60)
    return done.returncode, done.stderr


def test_findings_that_a_closed_output_cannot_take_are_told_of(here: Path) -> None:
    (here / NAME).write_bytes(BAD)
    assert shell(f"{NAME} >&-") == (3, b"lro: the output could not be written: Bad file descriptor\n")
    (here / "header.json").write_text(json.dumps(HEADER))
    assert shell("-q header.json >&-") == (0, b"")  # there is nothing to be written
    assert shell("nothing.jsonl >&-")[0] == 2


@pytest.mark.skipif(sys.platform != "linux", reason="no other platform has such a device")
@pytest.mark.parametrize("words", ["nofile", "--bogus", "", f"{NAME} nofile"])
def test_a_wrong_call_has_its_exit_code_where_nothing_can_be_said(here: Path, words: str) -> None:
    (here / NAME).write_bytes(GOOD)
    assert shell(f"{words} 2>/dev/full") == (2, b"")
    assert shell(f"{words} 2>&-") == (2, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="no other platform has such a device")
@pytest.mark.parametrize("options", [["--max-findings", "0"], ["--format", "json"]])
def test_a_full_disk_is_told_in_one_line(here: Path, options: list[str]) -> None:
    (here / NAME).write_bytes(lines(HEADER, *({"id": n} for n in range(300))))
    command = [sys.executable, "-m", "lro_conformance", "validate", NAME, *options]
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert (ended.returncode, ended.stderr.count(b"\n")) == (3, 1)
    assert ended.stderr.startswith(b"lro: the output could not be written")


def test_a_profile_may_come_by_standard_input(here: Path, said: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for text, code in ((b"# mine\n---\nserver: {command: [a]}\n", 0), (b"level: 9\n", 1), (b"other: 9\n", 2)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert said("-")[0] == code


def test_sarif_tells_that_a_path_could_not_be_read(here: Path, said: Any) -> None:
    (here / NAME).write_bytes(GOOD)
    for paths, successful in ((["nothing", NAME], False), ([NAME], True)):
        code, out, _ = said("--format", "sarif", *paths)
        assert code == (0 if successful else 2)
        assert json.loads(out)["runs"][0]["invocations"] == [{"executionSuccessful": successful}]


def test_what_came_instead_of_strict_json_is_shown(here: Path, said: Any) -> None:
    (here / "descriptor.json").write_text('{"offloaded": true, "a": 1, "a": 2}')
    (here / "cut.json").write_text('{"offloaded": true, "a": 1')
    _, out, _ = said("descriptor.json", "cut.json")
    assert 'strict JSON in UTF-8, got "\\"a\\": 2}" — two readers' in out
    assert "strict JSON in UTF-8, got the end of the text\n" in out
