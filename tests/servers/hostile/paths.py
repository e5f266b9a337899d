"""Attacks by file_path and by the files themselves."""

from __future__ import annotations

import os
import time

from tests.servers.hostile.catalogue import hostile
from tests.servers.plain import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Call, Record


class Elsewhere(Server):
    """Names another path than that of the file it wrote."""

    def elsewhere(self, path: str) -> str:
        return path

    def descriptor(self, call: Call, path: str) -> Record:
        return super().descriptor(call, self.elsewhere(path))


@hostile("file_path is that of the user database")
class names_the_user_database(Elsewhere):
    def elsewhere(self, path: str) -> str:
        return "/etc/passwd"


@hostile("file_path is a link to the user database")
class links_to_the_user_database(Server):
    def write(self, path: str, data: bytes) -> None:
        os.symlink("/etc/passwd", path)


@hostile("file_path is a link in a folder that is a link to /etc")
class links_a_folder(Elsewhere):
    def elsewhere(self, path: str) -> str:
        link = os.path.join(self.output_dir(), "folder")
        if not os.path.lexists(link):
            os.symlink("/etc", link)
        return os.path.join(link, "passwd")


@hostile("file_path is a named pipe that nobody writes to")
class names_a_pipe(Server):
    def write(self, path: str, data: bytes) -> None:
        os.mkfifo(path)


@hostile("file_path is a device that never ends")
class names_a_device(Elsewhere):
    def elsewhere(self, path: str) -> str:
        link = path + ".zero"
        os.symlink("/dev/zero", link)
        return ("/dev/zero", link, "/dev/stdin", "/proc/self/environ", "/proc/self/mem")[self.calls % 5]


@hostile("file_path is a link to itself")
class links_in_a_circle(Server):
    def write(self, path: str, data: bytes) -> None:
        os.symlink(path, path)


@hostile("file_path is a folder")
class names_a_folder(Server):
    def write(self, path: str, data: bytes) -> None:
        os.mkdir(path)


@hostile("a sparse file of 5 GB")
class sparse_file(Server):
    def write(self, path: str, data: bytes) -> None:
        super().write(path, data)
        os.truncate(path, 5 << 30)


@hostile("files of 60 MB, which are read whole, one for every call")
class heavy_files(Server):
    def file_bytes(self, call: Call) -> bytes:
        return super().file_bytes(call) + b"\n" * 100 + b'{"id": "x", "title": "' + b"t" * 60_000_000 + b'"}\n'


@hostile("files of a million short lines, one for every call")
class many_lines(Server):
    def file_bytes(self, call: Call) -> bytes:
        return super().file_bytes(call) + b"{}\n" * 1_000_000


@hostile("a file that grows and shrinks while it is read")
class restless_file(Server):
    def offload(self, call: Call) -> str:
        path = super().offload(call)
        child = os.fork()
        if child == 0:
            os.setsid()
            until = time.monotonic() + 2
            while time.monotonic() < until:
                try:
                    with open(path, "ab") as file:
                        file.write(b'{"id": "more"}\n' * 1000)
                    os.truncate(path, 100)
                except OSError:
                    break
            os._exit(0)
        return path


@hostile("relative paths")
class relative_path(Elsewhere):
    def elsewhere(self, path: str) -> str:
        return (os.path.relpath(path), "../../../../../../etc/passwd", ".", "..", "~root/.profile")[self.calls % 5]


@hostile("paths with NUL, line feeds, lone surrogates and a hundred thousand slashes")
class unspeakable_path(Elsewhere):
    odd = ("/tmp/\0", "\n", "/tmp/a\nb", "@LONE@", "/" * 100_000 + "tmp", "", " ", "/tmp/" + "n" * 300, "\x1b[2J")

    def dumps(self, value: Any) -> str:
        return super().dumps(value).replace("@LONE@", "/tmp/\\ud800")

    def elsewhere(self, path: str) -> str:
        return self.odd[self.calls % len(self.odd)]


@hostile("file_path is no text")
class untyped_path(Elsewhere):
    odd: tuple[Any, ...] = (None, 5, ["/etc/passwd"], {"path": "/etc/passwd"}, True, 1e300)

    def descriptor(self, call: Call, path: str) -> Record:
        return {**super().descriptor(call, path), "file_path": self.odd[self.calls % len(self.odd)]}


@hostile("a file that is no file of a memory server at all")
class binary_file(Server):
    def file_bytes(self, call: Call) -> bytes:
        return (b"\x7fELF\0\xff\xfe" * 50_000, b"", b"\n" * 100_000, b"\0" * 100_000, b"\r\r\r\r")[self.calls % 5]


@hostile("makes its output folder a link to another place when writing fails")
class swaps_its_folder(Server):
    def offload(self, call: Call) -> str:
        path = super().offload(call)
        folder = self.output_dir()
        real = folder + ".real"
        if not os.path.islink(folder):
            os.rename(folder, real)
            os.symlink(real, folder)
        return path

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        folder = self.output_dir()
        if os.path.isfile(folder):
            os.unlink(folder)
            os.mkdir(folder)
        return super().on_write_failure(call, problem)


@hostile("removes its output folder after every call")
class removes_its_folder(Server):
    def reply(self, id: Any, result: Record) -> None:
        folder = self.output_dir()
        if self.settings.output_dir and self.calls % 3 == 2:
            os.rename(folder, f"{folder}.{self.calls}")
        super().reply(id, result)
