"""Starting and ending servers: nothing is left behind, whatever happens to them or to the suite."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lro_conformance.wire import child
from lro_conformance.wire.server import Limits, ServerProcess
from lro_conformance.wire.watchdog import MARKER, marked, remove_tree
from lro_conformance.wire.workspace import Workspace
from tests.support.wire_helpers import command, eventually, lives

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
QUICK = Limits(stop_timeout_s=0.3, term_timeout_s=0.3)


def test_a_well_behaved_server_stops_quickly_and_cleanly() -> None:
    with Workspace() as run, run.server(command("sound")) as server:
        assert server.initialize().ok
        begun = time.monotonic()
        exit = server.close()
        assert time.monotonic() - begun < Limits().stop_timeout_s
        assert exit is not None
        assert (exit.code, exit.signal, exit.killed) == (0, None, False)
        assert server.close() is exit
        reply = server.request("too late")
        assert reply.failure is not None
        assert reply.failure.kind == "closed"


@pytest.mark.parametrize(
    ("name", "code", "number"), [("ignores-the-end", None, signal.SIGKILL), ("stops-on-sigterm", 0, None)]
)
def test_a_stubborn_server_is_made_to_stop(name: str, code: int | None, number: int | None) -> None:
    with Workspace(limits=QUICK) as run, run.server(command(name)) as server:
        assert server.initialize().ok
        begun = time.monotonic()
        exit = server.close()
        assert exit is not None
        assert (exit.code, exit.signal, exit.killed) == (code, number, True)
        assert 0.25 < time.monotonic() - begun < 5


def test_a_server_that_writes_a_lot_at_its_end_is_read_to_the_end() -> None:
    with Workspace(limits=Limits(stop_timeout_s=20)) as run, run.server(command("floods-when-stdin-ends")) as server:
        assert server.initialize().ok
        exit = server.close()
        assert exit is not None
        assert exit.code == 0
        assert server.transcript.counts["not-json"] == 30_000


@pytest.mark.parametrize("how", ["group", "pipes", pytest.param("session", marks=ON_LINUX)])
@pytest.mark.parametrize("crash", [False, True])
def test_what_a_server_started_goes_with_it(how: str, crash: bool) -> None:
    with Workspace(limits=QUICK) as run, run.server(command("leaves-children", how)) as server:
        assert server.initialize().ok
        pid = server.request("child").result["child"]
        assert lives(pid)
        if crash:
            reply = server.request("crash", timeout_s=10)
            assert reply.failure is not None
            assert reply.failure.kind == "exited"
            assert reply.elapsed_s < 5
        server.close()
        assert eventually(lambda: not lives(pid), 5)
        assert server.exit is not None
        assert server.exit.code == (9 if crash else 0)


@ON_LINUX
def test_a_server_has_a_session_a_marker_and_no_pipe_but_its_own() -> None:
    with Workspace() as run:
        work = run.workdir("a name/with slashes")
        others = [run.server(command("sound")) for _ in range(2)]
        for other in others:
            other.start()
        os.environ["LRO_TEST_INHERITED"] = "1"
        try:
            env = {"SOME.setting": "ü", "LRO_TEST_INHERITED": None}
            server = run.server(command("tells-its-environment"), env, work)
            server.start()
        finally:
            del os.environ["LRO_TEST_INHERITED"]
        assert server.initialize().ok
        seen = server.request("tell").result
        assert seen["env"][MARKER] == f"{run.id}:3"
        assert seen["env"]["SOME.setting"] == "ü"
        assert "LRO_TEST_INHERITED" not in seen["env"]
        assert seen["env"]["PATH"] == os.environ["PATH"]
        assert seen["session"] == seen["pid"] == server.pid
        assert seen["cwd"] == str(work)
        assert len(seen["fds"]) == 4
        assert int(seen["ignored"], 16) & ~(1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)) == 0
        assert work.parent == run.root
        assert stat.S_IMODE(work.stat().st_mode) == stat.S_IMODE(run.root.stat().st_mode) == 0o700


@pytest.mark.parametrize("limit", [None, 1000])
def test_a_file_size_limit_fails_a_write_and_kills_nobody(limit: int | None, tmp_path: Path) -> None:
    with Workspace() as run, run.server(command("writes-files"), file_size_limit=limit) as server:
        assert server.initialize().ok
        path = str(tmp_path / "file")
        wrote = server.request("write", {"path": path, "size": 5000}).result
        again = server.request("write", {"path": path, "size": 1000}).result
    assert (wrote["errno"], wrote["size"]) == ((errno.EFBIG, 1000) if limit else (None, 5000))
    assert (again["errno"], again["size"]) == (None, 1000)


def test_the_file_size_limit_leaves_signals_and_environment_as_they_are(tmp_path: Path) -> None:
    shell = "trap '' USR1; (yes; echo $? >&2) | head -1 >/dev/null; env | sort >&2"
    told: list[list[str]] = []
    for limit in (None, 1 << 20):
        plain = {"LC_ALL": None, "LANG": None, "LC_CTYPE": None}
        with ServerProcess(["sh", "-c", shell], file_size_limit=limit, env=plain) as server:
            server.drain(10)
        told.append(server.stderr_lines())
    assert told[0] == told[1]
    assert told[0][0] == str(128 + signal.SIGPIPE)


def test_a_limited_command_that_does_not_exist_is_told() -> None:
    with ServerProcess(["no-such-command"], file_size_limit=1000) as server:
        failure = server.initialize().failure
        assert failure is not None
        assert failure.exit is not None
        assert failure.exit.code == 127
        assert "cannot start no-such-command" in failure.stderr


@ON_LINUX
def test_fifty_servers_leave_no_descriptor_and_no_process() -> None:
    def open_files() -> set[str]:
        return {f"{n} {os.readlink(f'/proc/self/fd/{n}')}" for n in os.listdir("/proc/self/fd") if _is_open(n)}

    with Workspace() as run:
        with run.server(command("sound")) as warm:
            assert warm.initialize().ok
        before = open_files()
        pids: list[int] = []
        for n in range(50):
            server = run.server(command("sound") if n % 10 == 1 else ["true"] if n % 2 else ["cat"])
            server.start()
            assert n % 10 != 1 or server.initialize().ok
            assert server.pid
            pids.append(server.pid)
            server.close()
        assert open_files() == before
        assert not any(lives(pid) for pid in pids)
        assert marked(run.id.encode()) == []


def _is_open(number: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{number}") and not os.readlink(f"/proc/self/fd/{number}").startswith("/proc")


def test_an_old_system_without_pidfd_and_waitid_does_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_pidfd(_: int) -> None:
        return None

    monkeypatch.setattr(child, "_pidfd", no_pidfd)
    monkeypatch.delattr(os, "waitid")
    with Workspace(limits=QUICK) as run:
        for name, code in (("sound", 0), ("exits-when-called", 7), ("ignores-the-end", None)):
            server = run.server(command(name))
            server.start()
            assert server.initialize().ok
            if code == 7:
                failure = server.request("anything", timeout_s=10).failure
                assert failure is not None
                assert failure.exit is not None
                assert failure.exit.code == 7
            exit = server.close()
            assert exit is not None
            assert (exit.code, exit.killed) == (code, code is None)


@ON_LINUX
def test_the_guard_is_not_taken_for_part_of_a_run_that_this_one_is_inside_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARKER, "outer:1")
    with Workspace() as run, run.server(["cat"]) as server:
        assert eventually(lambda: marked(f"{run.id}:".encode()) == [server.pid])  # it may not be executed yet
        assert marked(b"outer:") == []


def test_a_run_ends_its_servers_and_removes_its_folders() -> None:
    with Workspace(limits=QUICK) as run:
        servers = [run.server(command("ignores-the-end")) for _ in range(10)]
        for server in servers:
            assert server.start() is None
            assert server.initialize().ok
        root = run.root
        locked = run.workdir() / "locked"
        (locked / "inner").mkdir(parents=True)
        (locked / "inner" / "file").write_text("x")
        (locked / "inner").chmod(0o500)
        locked.chmod(0o000)
        begun = time.monotonic()
    assert time.monotonic() - begun < 10 * 0.6  # as it would be one after the other
    assert all(server.exit is not None and server.exit.killed for server in servers)
    assert not root.exists()
    with pytest.raises(RuntimeError):
        run.workdir()
    with pytest.raises(RuntimeError):
        run.server(["true"])


def test_an_unused_run_writes_nothing(tmp_path: Path) -> None:
    with Workspace(parent=tmp_path) as run:
        assert os.listdir(tmp_path) == []
    assert run.starts == 0


def test_removing_a_tree_does_not_reach_through_links(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "link").symlink_to(outside)
    (tree / "dangling").symlink_to("nowhere")
    tree.chmod(0o500)
    assert remove_tree(str(tree))
    assert stat.S_IMODE(outside.stat().st_mode) == 0o500


def test_a_tree_goes_however_deep_it_is(tmp_path: Path) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    outside.mkdir()
    tree.mkdir()
    (tree / "link").symlink_to(outside)
    here = os.open(tree, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("deep", dir_fd=here)
        above, here = here, os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(above)
    os.symlink(outside, "link", dir_fd=here)
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    assert remove_tree(str(tree), patience_s=0)
    assert outside.is_dir()


def test_an_exception_ends_a_wait_in_another_thread() -> None:
    replies: list[str] = []
    ready = threading.Event()

    def trial(server: ServerProcess) -> None:
        ready.set()
        failure = server.request("hang", timeout_s=30).failure
        replies.append(failure.kind if failure else "answered")

    begun = time.monotonic()
    run = Workspace()
    server = run.server(command("never-reads"))
    server.start()
    assert server.initialize().ok
    thread = threading.Thread(target=trial, args=[server])
    thread.start()
    with pytest.raises(KeyboardInterrupt), run:  # noqa: PT012 - the run is what is tested
        ready.wait(5)
        time.sleep(0.1)
        raise KeyboardInterrupt
    thread.join(5)
    assert replies == ["closed"]
    assert time.monotonic() - begun < 10
    assert server.exit is not None
    assert server.exit.killed


def test_servers_are_made_and_used_in_several_threads() -> None:
    results: list[object] = []

    def trial(run: Workspace, n: int) -> None:
        with run.server(command("sound")) as server:
            server.initialize()
            results.append(server.request("echo", {"n": n}).result["echo"]["n"])

    with Workspace() as run:
        threads = [threading.Thread(target=trial, args=[run, n]) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(map(str, results)) == list("012345")
    assert run.starts == 6


PARENT = """
import sys, time
from lro_conformance.wire.server import Limits
from lro_conformance.wire.workspace import Workspace
run = Workspace()
servers = []
for command in {commands!r}:
    server = run.server(command)
    server.start()
    assert server.initialize().ok
    servers.append(server)
child = servers[0].request("child").result["child"]
work = run.workdir()
(work / "sub").mkdir()
(work / "sub" / "file").write_text("x")
(work / "sub").chmod(0o500)
print(run.root, run._reaper.pid, child, *[s.pid for s in servers], flush=True)
{last}
"""


@ON_LINUX
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, "exit", "forgotten"])
def test_nothing_survives_the_suite(how: signal.Signals | str) -> None:
    last = {"exit": "sys.exit(1)", "forgotten": ""}.get(str(how), "time.sleep(60)")
    script = PARENT.format(commands=[command("leaves-children", "session"), command("ignores-the-end")], last=last)
    if how == "exit":
        script = script.replace(
            "run = Workspace()", "run = Workspace(limits=Limits(stop_timeout_s=0.2, term_timeout_s=0.2))"
        )
    path = f"import sys; sys.path[:0] = {sys.path!r}\n"
    parent = subprocess.Popen(
        [sys.executable, "-c", path + script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert parent.stdout
    with parent, parent.stdout:
        root, *numbers = parent.stdout.readline().split()
        pids = [int(n) for n in numbers]
        if isinstance(how, signal.Signals):
            assert all(lives(pid) for pid in pids)
            parent.send_signal(how)
        parent.wait(20)
    assert eventually(lambda: not any(lives(pid) for pid in pids)), [lives(pid) for pid in pids]
    assert eventually(lambda: not os.path.exists(root))


def test_elsewhere_starting_says_that_it_is_not_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "SUPPORTED", False)
    failure = ServerProcess(["true"]).start()
    assert failure is not None
    assert "POSIX" in failure.detail
