"""Faults of expiry and clean-up."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress

from tests.servers.faults.catalogue import fault
from tests.servers.plain import Call, Server, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.servers.plain import Record


class Remembering(Server):
    """Knows which files this very process wrote, and when."""

    own: dict[str, float]

    def started(self) -> None:
        self.own = {}

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        self.own[path] = time.time()
        return path


@fault("LRO-CLN-01", says="is still there as", proves=1)
class renames_what_has_expired(Server):
    """Expired files get another suffix, and stay."""

    def delete(self, path: str) -> None:
        os.rename(path, f"{path}.expired")


@fault("LRO-CLN-01", says="is still there as .trash/", proves=1)
class moves_what_has_expired_to_a_folder(Server):
    """Expired files are moved to a folder beside the others, from which nobody deletes them."""

    def delete(self, path: str) -> None:
        trash = os.path.join(os.path.dirname(path), ".trash")
        os.makedirs(trash, exist_ok=True)
        os.rename(path, os.path.join(trash, os.path.basename(path)))


@fault("LRO-CLN-01", says="are gone after cleanup", proves=1)
class never_deletes_its_own_files(Remembering):
    """Files that this process wrote are taken to be in use."""

    def is_ours(self, path: str) -> bool:
        return super().is_ours(path) and path not in self.own


@fault(
    "LRO-CLN-01", says="are gone after cleanup", proves=1, also=("LRO-CLN-02", "LRO-CLN-04", "LRO-CFG-03", "LRO-CLN-05")
)
class only_reports_what_has_expired(Server):
    """Says that files were deleted, and deletes none."""

    def delete(self, path: str) -> None:
        pass


@fault("LRO-CLN-01", says="are gone after cleanup", proves=1, long=True)
class keeps_its_own_files_a_minute_longer(Remembering):
    """A minute of grace for what this process wrote."""

    def is_expired(self, path: str, now: float) -> bool:
        return super().is_expired(path, now - 60 if path in self.own else now)


@fault("LRO-CLN-01", says="say so (profile: cleanup.wait_s)", proves=1, profile="cleanup: {wait_s: 2}\n")
class cleans_up_by_itself_and_never_does(Server):
    """Nothing starts the timer that should clean up."""

    def tools(self) -> list[Record]:
        return [tool for tool in super().tools() if tool["name"] != "run_custodial_task"]


@fault("LRO-CLN-01", says="with ttl_seconds = 10", proves=1)
class refuses_short_ttls_and_never_deletes_its_own_files(never_deletes_its_own_files):
    """Files that this process wrote are taken to be in use, and a TTL below five seconds to be a mistake."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        if settings.ttl < 5:
            sys.exit(f"ttl_seconds: expected at least 5, not {settings.ttl}")
        return settings


@fault("LRO-CLN-03", says="a fresh file stays", proves=1)
class remembers_its_files_by_another_clock(Remembering):
    """The times of UTC at which this process wrote its files are read as local ones."""

    def created_at(self, path: str) -> float:
        if path in self.own:
            return time.mktime(time.gmtime(self.own[path]))
        return super().created_at(path)


@fault("LRO-CLN-01", says="are gone after cleanup", proves=1)
class never_deletes_its_newest_file(Remembering):
    """The file written last is never deleted, in case a client still reads it."""

    def is_expired(self, path: str, now: float) -> bool:
        return super().is_expired(path, now) and path != next(reversed(self.own), None)


@fault("LRO-CLN-01", says="those of inject, search are still there", proves=1)
class cleans_only_files_of_recall(Server):
    """The pattern contains the first operation: files of the others are never deleted."""

    def matches(self, name: str) -> bool:
        return super().matches(name) and name.startswith(f"{self.prefix}-recall-")


@fault("LRO-CLN-01", says="in the folder it", proves=1)
class takes_the_folder_for_a_pattern(Server):
    """Brackets in the path of the folder are read as a set of characters when files are looked for."""

    def candidates(self) -> list[str]:
        import glob

        return glob.glob(os.path.join(self.output_dir(), f"{self.prefix}-*.jsonl"))


@fault("LRO-CLN-01", says="those of recall are still there", proves=1)
class cleans_by_a_list_of_operations_without_recall(Server):
    """Looks into headers, and knows of search and inject only."""

    def is_ours(self, path: str) -> bool:
        if not super().is_ours(path):
            return False
        with open(path, encoding="utf-8") as file:
            return '"recall"' not in file.readline().partition('"operation"')[2].partition(",")[0]


@fault("LRO-CLN-03", says="without any cleanup", proves=1, also=("LRO-HARD-07",))
class takes_a_file_away_after_a_second(Server):
    """A timer removes what it takes to have been read by then."""

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        timer = threading.Timer(1.0, self.take_away, [path])
        timer.daemon = True
        timer.start()
        return path

    def take_away(self, path: str) -> None:
        with suppress(OSError):
            os.remove(path)


@fault("LRO-CLN-03", says="along with the older files", proves=1, long=True)
class a_timer_takes_the_latest_file(Server):
    """Each file has a timer, which deletes the one that was written last, as it looks up the path when it is due."""

    def offload(self, call: Call) -> str:
        self.latest = super().offload(call)
        timer = threading.Timer(self.settings.ttl, self.take_away)
        timer.daemon = True
        timer.start()
        return self.latest

    def take_away(self) -> None:
        with suppress(OSError):
            os.remove(self.latest)


class AnotherTtl(Server):
    """Has a different default TTL; a configured TTL is obeyed."""

    default: float

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        if not env.get("ATLATL_PROMPT__OFFLOAD__TTL_SECONDS"):
            settings.ttl = self.default
        return settings


@fault("LRO-CLN-02", says="3600", proves=1)
class default_ttl_is_a_day(AnotherTtl):
    """24 hours."""

    default = 86400


@fault("LRO-CLN-02", says="3600", proves=1, also=("LRO-CLN-03",))
class default_ttl_is_a_minute(AnotherTtl):
    """Files are gone after 60 seconds."""

    default = 60


@fault("LRO-CLN-02", says="3600", proves=1, long=True)
class default_ttl_is_3600_minutes(AnotherTtl):
    """The right number in another unit."""

    default = 3600 * 60


@fault("LRO-CLN-02", says="3600", proves=1, long=True)
class default_ttl_is_half_an_hour(AnotherTtl):
    """1800 seconds."""

    default = 1800


@fault("LRO-CLN-03", says="fresh when cleanup ran", proves=1)
class deletes_its_own_fresh_files(Remembering):
    """Files that this process wrote are deleted at every cleanup, however new."""

    def is_expired(self, path: str, now: float) -> bool:
        return path in self.own or super().is_expired(path, now)


@fault("LRO-CLN-03", says="fresh when cleanup ran", proves=1, also=("LRO-CLN-02",))
class one_expired_file_takes_all_with_it(Server):
    """As soon as one file has expired, all of them are deleted."""

    def is_expired(self, path: str, now: float) -> bool:
        ours = [path for path in self.candidates() if self.is_ours(path)]
        return super().is_expired(min(ours, key=self.created_at), now)


@fault("LRO-CLN-03", says="older than the TTL", proves=1)
class files_age_from_the_start_of_the_process(Remembering):
    """One creation time for all files of this process: that of its start."""

    born = 0.0

    def started(self) -> None:
        super().started()
        self.born = time.time()

    def created_at(self, path: str) -> float:
        return self.born if path in self.own else super().created_at(path)


@fault("LRO-CLN-04", says="40 days old, is deleted", proves=1, also=("LRO-CLN-02",))
class cleans_only_what_it_remembers(Remembering):
    """The folder is not scanned: files of an earlier process are never deleted."""

    def candidates(self) -> list[str]:
        return [path for path in self.own if os.path.exists(path)]


@fault("LRO-CLN-04", says="40 days old, is deleted", proves=3)
class scans_only_for_recall(Remembering):
    """Of earlier processes, only files of recall are found."""

    def is_ours(self, path: str) -> bool:
        return super().is_ours(path) and (path in self.own or "-recall-" in os.path.basename(path))


@fault("LRO-CLN-05", says="OffloadFileExpired", proves=3)
class deletes_in_silence(Server):
    """No event."""

    def expired(self, path: str) -> None:
        pass


@fault("LRO-CLN-05", says="OffloadFileExpired", proves=3)
class expiry_event_has_another_name(Server):
    """`offload_file_expired`."""

    def expired(self, path: str) -> None:
        self.emit("offload_file_expired", "info", path=path)


@fault("LRO-CLN-05", says="OffloadFileExpired", proves=3, profile="events: null\n")
class expiry_has_no_event_where_write_failures_have_one(Server):
    """Nothing says where events are; those of failed writes are seen, those of expiry are not emitted."""

    def expired(self, path: str) -> None:
        pass


@fault("LRO-CLN-05", says="OffloadFileExpired", proves=3)
class one_event_for_all_expired_files(Server):
    """A single event that names the first of them."""

    told = False

    def cleanup(self, now: float) -> list[str]:
        self.told = False
        return super().cleanup(now)

    def expired(self, path: str) -> None:
        if not self.told:
            super().expired(path)
        self.told = True


class Converting(Server):
    """Reads the TTL in its own way."""

    def converted(self, ttl: float) -> float:
        raise NotImplementedError

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = super().read_settings(env)
        if env.get("ATLATL_PROMPT__OFFLOAD__TTL_SECONDS"):
            settings.ttl = self.converted(settings.ttl)
        return settings


@fault("LRO-CFG-03", says="ttl_seconds", proves=1, also=("LRO-CLN-01",))
class ttl_setting_is_ignored(Converting):
    """An hour whatever is set."""

    def converted(self, ttl: float) -> float:
        return 3600


@fault("LRO-CFG-03", says="ttl_seconds", proves=1, also=("LRO-CLN-01",))
class ttl_setting_is_read_as_minutes(Converting):
    """Sixty times too long."""

    def converted(self, ttl: float) -> float:
        return ttl * 60


@fault("LRO-CFG-03", says="with a TTL of 172800 s a file 86400 s old stays", proves=1)
class ttl_setting_is_read_as_milliseconds(Converting):
    """A thousand times too short."""

    def converted(self, ttl: float) -> float:
        return ttl / 1000


@fault("LRO-CFG-03", says="with a TTL of 172800 s a file 86400 s old stays", proves=1, long=True)
class ttl_setting_is_read_as_microseconds(Converting):
    """A million times too short: a file is as good as expired when it is written, but for the default TTL."""

    def converted(self, ttl: float) -> float:
        return ttl / 1_000_000


@fault("LRO-CFG-03", says="ttl_seconds", proves=1, also=("LRO-CLN-01",))
class ttl_setting_has_a_floor_of_five_minutes(Converting):
    """Less than 300 seconds is silently rejected."""

    def converted(self, ttl: float) -> float:
        return max(300, ttl)


@fault("LRO-CFG-03", says="a file 86400 s old stays", proves=1)
class ttl_setting_is_taken_without_its_days(Converting):
    """`timedelta.seconds` in place of `total_seconds()`: what is left of two days is nothing."""

    def converted(self, ttl: float) -> float:
        return ttl % 86_400


@fault("LRO-CFG-03", says="a file 86400 s old stays", proves=1, long=True)
class ttl_setting_has_a_ceiling_of_an_hour(Converting):
    """A longer time is silently reduced to the default."""

    def converted(self, ttl: float) -> float:
        return min(3600, ttl)


@fault("LRO-CLN-03", says="though it was read just now", proves=1)
class expires_by_the_last_use(Server):
    """Whoever reads a file puts off its end."""

    def created_at(self, path: str) -> float:
        return max(super().created_at(path), os.lstat(path).st_atime)


@fault("LRO-CLN-03", says="though it was read just now", proves=1, profile="cleanup: {restart: true}\n")
class expires_by_the_last_use_when_it_starts(expires_by_the_last_use):
    """As above, of a server that cleans up when it starts only."""

    def tools(self) -> list[Record]:
        return [tool for tool in super().tools() if tool["name"] != "run_custodial_task"]

    def started(self) -> None:
        if os.path.isdir(self.output_dir()):
            self.cleanup(time.time())


@fault("LRO-CLN-03", says="in a time zone far from UTC", proves=1)
class cleans_up_by_local_time(Server):
    """Files are named by UTC, and weighed against a clock of local time."""

    def is_expired(self, path: str, now: float) -> bool:
        return super().is_expired(path, now + time.localtime(now).tm_gmtoff)


@fault("LRO-CLN-03", says="still exists after the server starts", proves=1)
class begins_with_an_empty_folder(Server):
    """Files of an earlier process are deleted at the start, however fresh."""

    def started(self) -> None:
        if os.path.isdir(self.output_dir()):
            for path in self.candidates():
                os.remove(path)


@fault("LRO-CLN-01", says="expired files are deleted even next to", proves=1)
class cleanup_stops_at_a_name_without_a_ulid(Server):
    """An exception that ends the run before anything is deleted."""

    def cleanup(self, now: float) -> list[str]:
        names = [os.path.basename(path).partition(".")[0] for path in self.candidates()]
        if any(self.ulid_time(name.rpartition("-")[2]) is None for name in names):
            return []
        return super().cleanup(now)


@fault("LRO-CLN-01", says="since younger files of the same operation were", proves=1)
class counts_ages_without_their_days(Server):
    """`timedelta.seconds` in place of `total_seconds()`: a file of forty days is as good as new."""

    def is_expired(self, path: str, now: float) -> bool:
        from datetime import timedelta

        return timedelta(seconds=now - self.created_at(path)).seconds >= self.settings.ttl


@fault("LRO-CLN-05", says="still there", proves=3)
class tells_the_expiry_of_every_file_it_sees(Server):
    """An event for each file of the folder, whether it is deleted or not."""

    def is_expired(self, path: str, now: float) -> bool:
        gone = super().is_expired(path, now)
        if not gone:
            self.expired(path)
        return gone


@fault("LRO-CLN-05", says="still there", proves=3, long=True)
class tells_the_expiry_when_it_writes(Server):
    """The event is emitted when the time to live begins."""

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        self.expired(path)
        return path


@fault("LRO-CLN-01", says="expired files are deleted even next to", proves=1, long=True)
class cleanup_dies_of_a_folder(Server):
    """Everything with a matching name is deleted as a file; a folder with such a name causes an uncaught error."""

    def is_ours(self, path: str) -> bool:
        return True


@fault("LRO-CLN-01", says="a link to nowhere", proves=1)
class cleanup_dies_of_a_dangling_link(Server):
    """The age of every listed entry is read; the missing target of a link raises an uncaught error."""

    def is_ours(self, path: str) -> bool:
        os.stat(path)
        return super().is_ours(path)


@fault("LRO-CLN-02", says="3900 s old is deleted", proves=1, also=("LRO-CFG-03",))
class files_live_twice_as_long(Server):
    """Deleted when the TTL has passed a second time."""

    def is_expired(self, path: str, now: float) -> bool:
        return self.created_at(path) + 2 * self.settings.ttl <= now


@fault("LRO-CLN-01", says="still there", proves=1)
class keeps_the_time_of_its_first_cleanup(Server):
    """The present is a default argument, evaluated once."""

    now: float | None = None

    def cleanup(self, now: float) -> list[str]:
        self.now = self.now or now
        return super().cleanup(self.now)
