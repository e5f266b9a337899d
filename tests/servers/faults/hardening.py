"""Faults that the text does not forbid and that a careful operator does not forgive."""

from __future__ import annotations

import os
import time

from tests.servers.fastjson import loads
from tests.servers.faults.catalogue import fault
from tests.servers.plain import CROCKFORD, Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


class Moded(Server):
    """Gives its files other permissions."""

    mode: int

    def write(self, path: str, data: bytes) -> None:
        super().write(path, data)
        os.chmod(path, self.mode)


@fault("LRO-HARD-01", says="0600", proves=3)
class files_are_readable_by_everyone(Moded):
    """0644."""

    mode = 0o644


@fault("LRO-HARD-01", says="0600", proves=3)
class files_are_readable_by_the_group(Moded):
    """0640."""

    mode = 0o640


@fault("LRO-HARD-01", says="0600", proves=3)
class files_are_writable_by_everyone(Moded):
    """Mode 0622: others cannot read the files, but can write them."""

    mode = 0o622


class Numbered(Server):
    """Has ULIDs whose last 80 bits are no secret."""

    def tail(self) -> int:
        raise NotImplementedError

    def ulid(self) -> str:
        value = int(time.time() * 1000) << 80 | self.tail()
        return "".join(CROCKFORD[value >> 5 * place & 31] for place in range(25, -1, -1))


@fault("LRO-HARD-02", says="predict", proves=3)
class names_count_from_zero(Numbered):
    """A counter in place of the random part."""

    def tail(self) -> int:
        return self.calls


@fault("LRO-HARD-02", says="predict", proves=3)
class names_are_seeded_by_a_constant(Numbered):
    """Every process draws the same sequence of pseudo-random numbers."""

    state = 1

    def tail(self) -> int:
        self.state = (self.state * 0x5DEECE66D + 11) % (1 << 80)
        return self.state


@fault("LRO-HARD-02", says="predict", proves=3)
class names_repeat_the_process_number(Numbered):
    """The process number and the call's number."""

    def tail(self) -> int:
        return os.getpid() << 40 | self.calls


@fault("LRO-HARD-03", says="quot", proves=3)
class paths_are_not_quoted(Server):
    """A space splits the path, a semicolon begins a command."""

    def quote(self, path: str) -> str:
        return path


@fault("LRO-HARD-03", says="quot", proves=3)
class only_spaces_are_escaped(Server):
    """A backslash before each space; a semicolon still begins a command."""

    def quote(self, path: str) -> str:
        return path.replace(" ", "\\ ")


@fault("LRO-HARD-03", says="the single quote within it is not escaped", proves=3)
class quotes_within_paths_are_not_escaped(Server):
    """Single quotes around a path that may hold one."""

    def quote(self, path: str) -> str:
        return f"'{path}'"


@fault("LRO-HARD-03", says="quot", proves=3)
class what_follows_a_single_quote_is_repeated(Server):
    """`gsub("'", "'\\\\''")` in Ruby, where `\\'` is the text behind the match."""

    def quote(self, path: str) -> str:
        before, quoted, after = path.partition("'")
        return f"'{before}'{after}'{after}'" if quoted else f"'{path}'"


@fault("LRO-HARD-04", says="deleted", proves=3)
class deletes_any_old_jsonl(Server):
    """Every `*.jsonl` of sufficient age."""

    def matches(self, name: str) -> bool:
        return name.endswith(".jsonl")


@fault("LRO-HARD-04", says="deleted", proves=3)
class deletes_whatever_begins_with_atlatl(Server):
    """The ending is not looked at."""

    def matches(self, name: str) -> bool:
        return name.startswith("atlatl-")


@fault("LRO-HARD-04", says="deleted", proves=3)
class deletes_whatever_is_old(Server):
    """The folder is taken to be its own."""

    def matches(self, name: str) -> bool:
        return True


@fault("LRO-HARD-04", says="deleted", proves=3)
class deletes_old_folders_of_such_names(Server):
    """Folders with matching names are deleted with their contents."""

    def is_ours(self, path: str) -> bool:
        return not os.path.islink(path)

    def is_expired(self, path: str, now: float) -> bool:
        return self.changed_at(path) + self.settings.ttl <= now

    def delete(self, path: str) -> None:
        if os.path.isdir(path):
            from shutil import rmtree

            rmtree(path)
        else:
            super().delete(path)


@fault("LRO-HARD-04", says="deleted", proves=3)
class cleans_subfolders_too(Server):
    """The folder is walked, not listed."""

    def candidates(self) -> list[str]:
        found = os.walk(self.output_dir())
        return [os.path.join(folder, name) for folder, _, names in found for name in names if self.matches(name)]


@fault("LRO-HARD-04", says="deleted", proves=3)
class looks_for_atlatl_anywhere_in_the_name(Server):
    """`my-atlatl-notes.jsonl` goes too."""

    def matches(self, name: str) -> bool:
        return "atlatl-" in name and name.endswith(".jsonl")


@fault("LRO-HARD-05", says="link", proves=3)
class deletes_what_a_link_points_to(Server):
    """The path is resolved before it is deleted."""

    def is_ours(self, path: str) -> bool:
        return os.path.isfile(path)

    def delete(self, path: str) -> None:
        os.unlink(os.path.realpath(path))


@fault("LRO-HARD-05", says="link", proves=3)
class deletes_behind_links_by_the_header(deletes_what_a_link_points_to):
    """The path is resolved before it is opened, and the header tells how old the file is."""

    def created_at(self, path: str) -> float:
        import calendar

        try:
            with open(path, encoding="utf-8") as file:
                stamp = loads(file.readline())["timestamp"]
            return calendar.timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S"))
        except (OSError, ValueError, KeyError):
            return time.time()


@fault("LRO-HARD-05", says="link", proves=3)
class walks_into_linked_folders(Server):
    """A folder that is a link is searched too, and its files are deleted."""

    def candidates(self) -> list[str]:
        found = super().candidates()
        for path in [os.path.join(self.output_dir(), name) for name in os.listdir(self.output_dir())]:
            if os.path.islink(path) and os.path.isdir(path):
                found += [os.path.join(path, name) for name in os.listdir(path) if self.matches(name)]
        return found


@fault("LRO-HARD-06", says=".part", proves=3)
class leaves_its_temporary_files(Server):
    """The file is linked to its place, and the temporary name stays."""

    def write(self, path: str, data: bytes) -> None:
        super().write(path, data)
        folder, name = os.path.split(path)
        os.link(path, os.path.join(folder, f".{name}.part"))


@fault("LRO-HARD-06", says='".atlatl.lock"', proves=3)
class leaves_a_lock_file(Server):
    """A lock that is never removed."""

    def write(self, path: str, data: bytes) -> None:
        super().write(path, data)
        super().write(os.path.join(os.path.dirname(path), ".atlatl.lock"), b"")


@fault("LRO-HARD-06", says="after a failed write", proves=3)
class leaves_what_it_could_not_finish(Server):
    """When writing fails, the partial file stays."""

    def write(self, path: str, data: bytes) -> None:
        try:
            super().write(path, data)
        except OSError:
            folder, name = os.path.split(path)
            if os.path.isdir(folder) and not os.path.exists(path):
                os.close(os.open(os.path.join(folder, f".{name}.part"), os.O_WRONLY | os.O_CREAT, 0o600))
            raise


class Meddling(Server):
    """Touches the file of the call before whenever it writes another."""

    before = ""

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        before, self.before = self.before, path
        if before and os.path.exists(before):
            self.meddle(before)
        return path

    def meddle(self, path: str) -> None:
        raise NotImplementedError


@fault("LRO-HARD-07", says="bytes that it had when its descriptor was returned", proves=3)
class appends_to_the_file_before(Meddling):
    """A footer is added once the next file is written."""

    def meddle(self, path: str) -> None:
        with open(path, "a", encoding="utf-8") as file:
            file.write('{"type": "lro_footer"}\n')


@fault("LRO-HARD-07", says="0 different bytes", proves=3)
class empties_the_file_before(Meddling):
    """Room is made by cutting off what was written last."""

    def meddle(self, path: str) -> None:
        os.truncate(path, 0)


@fault(
    "LRO-HARD-07",
    says="that it had when its descriptor was returned",
    proves=0,  # what is read too early cannot be compared (LRO-FILE-10)
    also=("LRO-ERR-05",),
)
class answers_before_the_file_is_complete(Server):
    """The second half is written by a thread, a third of a second later."""

    def write(self, path: str, data: bytes) -> None:
        import threading

        half = data.rfind(b"\n", 0, max(1, len(data) // 2)) + 1
        super().write(path, data[:half])
        threading.Timer(0.3, self.finish, (path, data[half:])).start()

    def finish(self, path: str, rest: bytes) -> None:
        if os.path.exists(path):
            with open(path, "ab") as file:
                file.write(rest)
