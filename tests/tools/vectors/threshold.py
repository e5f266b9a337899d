"""Estimates, decisions, injections, the fallback of a failed write, and cleanup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, cast

from lro_conformance.capture.warnings import FAILURE_WORDS, TRUNCATION_WORDS
from lro_conformance.vectors.answers import answer
from lro_spec.catalogue import first_wording
from lro_spec.editions import EDITIONS
from lro_spec.filenames import file_name, parse_file_name
from lro_spec.tokens import estimate_limits, wide_characters
from tests.tools.vectors.build import ULID, between, having, one_of, vector

HOUR, DAY = 3600, 86_400

# --- estimates

ENGLISH = "The signing keys are rotated every ninety days, and the old ones stay valid for one more week. "
RECORD = '{"id":"m-17","title":"Rotate the signing keys","namespace":"_semantic/ops","tags":["keys","ops"],"created":"2026-01-01T00:00:00Z"}\n'
TEXTS: dict[str, tuple[str, str, str]] = {
    "empty": ("", "an empty text", ""),
    "one-character": ("a", "one character", ""),
    "english": (ENGLISH * 12, "English prose", ""),
    "german": ("Die Schlüssel werden alle neunzig Tage getauscht; größere Änderungen folgen später. " * 12, "German prose",
               "Umlauts are Latin script: one token for four characters, with a tolerance for other honest estimates."),
    "french": ("Les clés sont renouvelées après quatre-vingt-dix jours, et déjà prêtes à l'été. " * 12, "French prose", ""),
    "records": (RECORD * 8, "records as JSON lines", "JSON is text: its punctuation counts as characters."),
    "indented": (RECORD.replace(",", ",\n    ") * 8, "indented JSON", ""),
    "digits": ("3.14159 26535 89793 23846 " * 40, "digits", ""),
    "code": ("    if estimated_tokens > threshold_tokens { offload(&records)?; }\n" * 14, "source code", ""),
    "spaces": (" " * 900, "spaces", "White space has characters, too."),
    "escapes": ("\\n\\t\\\" line \\\\ " * 60, "escapes of JSON", ""),
    "url": ("https://example.org/a/b?c=d&e=f#g " * 28, "addresses", ""),
}  # fmt: skip
WIDE: dict[str, tuple[str, str]] = {
    "chinese": ("签名密钥每九十天轮换一次，旧密钥再保留一周。" * 20, "Chinese prose"),
    "japanese": ("署名鍵は九十日ごとに交換され、古い鍵はもう一週間有効です。" * 16, "Japanese prose"),
    "korean": ("서명 키는 구십 일마다 교체되고 이전 키는 일주일 더 유효합니다. " * 14, "Korean prose"),
    "emoji": ("🧭🚀🔑✅ " * 60, "emoji"),
    "mixed": (("rotate keys 鍵を交換する " * 24), "English and Japanese mixed"),
}


def _estimates() -> Iterator[Any]:
    for slug, (text, about, why) in TEXTS.items():
        low, high = estimate_limits(wide_characters(text), 0, len(text) - wide_characters(text))
        why = why or "One token for four characters of Latin script, with a tolerance for other honest estimates."
        mistake = (len(text), "Each character was counted as a token.") if slug in ("english", "records") else None
        yield partial(
            vector, f"estimate.{slug}", about, {"text": text}, between(low, high), ("LRO-THR-02",), why, mistake=mistake
        )
    for slug, (text, about) in WIDE.items():
        wide = wide_characters(text)
        low, high = estimate_limits(wide, 0, len(text) - wide)
        why = "A wide character is about one token for real tokenizers; a quarter of that is still admitted."
        yield partial(vector, f"estimate.{slug}", about, {"text": text}, between(low, high), ("LRO-THR-03",), why)


# --- decisions

ABOVE, UP_TO, WHOLE, ONE = "LRO-THR-06", "LRO-THR-07", "LRO-THR-08", "LRO-THR-09"
SET, OFF, ON, DEFAULT = "LRO-CFG-02", "LRO-CFG-01", "LRO-CFG-06", "LRO-THR-01"
SCOPES = {"recall": "LRO-SCOPE-01", "search": "LRO-SCOPE-02", "inject": "LRO-SCOPE-03", "list": "LRO-SCOPE-08"}


def decide(
    slug: str,
    about: str,
    tokens: int,
    outcome: str,
    ids: tuple[str, ...],
    why: str = "",
    *,
    edition: str = "lro-6400",
    **more: Any,
) -> Any:
    question = {"estimated_tokens": tokens, **more}
    other = ("offloaded", "It was compared by >=, with another threshold, or in spite of `enabled`.") if outcome == "inline" else (
        "inline", "It was compared with another threshold, or each memory by itself.")  # fmt: skip
    return partial(
        vector, f"decision.{slug}", about, question, one_of(outcome), ids, why, edition=edition, mistake=other
    )


def _decisions() -> Iterator[Any]:
    for threshold in (1, 50, 1600, 4096, 6400, 20_000, 1_000_000):
        for tokens, slug, outcome, rule in (
            (threshold - 1, "below", "inline", UP_TO),
            (threshold, "equal", "inline", UP_TO),
            (threshold + 1, "above", "offloaded", ABOVE),
        ):
            why = "Only an estimate greater than the threshold is offloaded." if slug == "equal" else ""
            yield decide(f"{slug}-{threshold}", f"{tokens} tokens at a threshold of {threshold}", tokens, outcome, (rule, SET), why,
                         settings={"threshold_tokens": threshold})  # fmt: skip
    yield decide(
        "zero-threshold-nothing",
        "an empty result at a threshold of 0",
        0,
        "inline",
        (UP_TO, SET),
        "0 is not greater than 0.",
        settings={"threshold_tokens": 0},
    )
    yield decide(
        "zero-threshold-something",
        "one token at a threshold of 0",
        1,
        "offloaded",
        (ABOVE, SET),
        settings={"threshold_tokens": 0},
    )
    yield decide(
        "far-above",
        "a hundred times the threshold",
        640_000,
        "offloaded",
        (ABOVE,),
        settings={"threshold_tokens": 6400},
    )
    for edition, facts in EDITIONS.items():
        default = facts.default_threshold_tokens
        if edition == "lro-paper" and default == EDITIONS["lro-1600"].default_threshold_tokens:
            continue
        for tokens, slug, outcome in ((default, "at", "inline"), (default + 1, "above", "offloaded")):
            yield decide(f"default-{slug}-{default}", f"{tokens} tokens without a setting", tokens, outcome, (DEFAULT,),
                         f"Without a setting the threshold is {default} tokens.", edition=edition)  # fmt: skip
    yield decide("switched-off", "far above the threshold, LRO switched off", 640_000, "inline", (OFF,),
                 "Switched off means that every result is inline.", settings={"enabled": False})  # fmt: skip
    yield decide(
        "switched-off-with-threshold",
        "above a threshold that is set, LRO switched off",
        2,
        "inline",
        (OFF,),
        settings={"enabled": False, "threshold_tokens": 1},
    )
    yield decide(
        "switched-on",
        "above the threshold, LRO switched on",
        2,
        "offloaded",
        (OFF, ON),
        settings={"enabled": True, "threshold_tokens": 1},
    )
    yield decide("on-by-default", "above the threshold, nothing said of `enabled`", 3, "offloaded", (ON,),
                 "Without configuration, LRO is on.", settings={"threshold_tokens": 2})  # fmt: skip
    for operation, scope in SCOPES.items():
        for tokens, outcome in ((101, "offloaded"), (100, "inline")):
            yield decide(f"{operation}-{outcome}", f"{operation}: {tokens} tokens at a threshold of 100", tokens, outcome, (scope, ONE),
                         "Every operation is subject to the same threshold.", edition=first_wording(scope).editions[0], operation=operation, settings={"threshold_tokens": 100})  # fmt: skip
    for detail in ("light", "medium", "full"):
        for tokens, outcome in ((1001, "offloaded"), (1000, "inline")):
            yield decide(f"{detail}-{outcome}", f"{detail} detail: {tokens} tokens at a threshold of 1000", tokens, outcome, (ONE, "LRO-THR-05"),
                         "The threshold is the same for every detail level; the estimate is that of the level.", detail=detail, settings={"threshold_tokens": 1000})  # fmt: skip
    yield decide("many-small", "fifty memories of 30 tokens at a threshold of 1000", 1500, "offloaded", (WHOLE, ABOVE),
                 "The result set counts as a whole: many small memories exceed the threshold together.", memories=[30] * 50, settings={"threshold_tokens": 1000})  # fmt: skip
    yield decide("one-large-below", "one memory of 900 tokens at a threshold of 1000", 900, "inline", (WHOLE, UP_TO),
                 "A single large memory below the threshold is inline.", memories=[900], settings={"threshold_tokens": 1000})  # fmt: skip
    yield decide("one-large-above", "one memory of 1100 tokens at a threshold of 1000", 1100, "offloaded", (WHOLE, ABOVE),
                 "One memory is a result set, too.", memories=[1100], settings={"threshold_tokens": 1000})  # fmt: skip
    yield decide(
        "large-among-small",
        "a memory of 990 tokens and one of 20 at a threshold of 1000",
        1010,
        "offloaded",
        (WHOLE, ABOVE),
        memories=[990, 20],
        settings={"threshold_tokens": 1000},
    )
    yield decide("many-memories-few-tokens", "two hundred memories of 4 tokens at a threshold of 1000", 800, "inline", (WHOLE, UP_TO),
                 "The number of memories decides nothing.", memories=[4] * 200, settings={"threshold_tokens": 1000})  # fmt: skip


# --- injections


def _injections() -> Iterator[Any]:
    rows = [
        ("small", 12, 300, 2000, 6400, False, ("LRO-INJ-01", "LRO-INJ-02"), "Below the threshold the formatted text is returned as always."),
        ("at-the-threshold", 40, 6400, 2000, 6400, False, ("LRO-INJ-01",), "At the threshold the text is still inline, although the budget cuts it."),
        ("above", 41, 6401, 2000, 6400, True, ("LRO-INJ-02", "LRO-INJ-03", "LRO-INJ-04"), "The set before budgeting exceeds the threshold; its formatted text is dropped."),
        ("budget-below-the-threshold", 200, 40_000, 100, 6400, True, ("LRO-INJ-02", "LRO-INJ-03"), "The budget would leave 100 tokens; the threshold is compared before it trims."),
        ("budget-above-the-set", 20, 900, 100_000, 6400, False, ("LRO-INJ-02",), "A large budget offloads nothing."),
        ("budget-zero", 200, 40_000, 0, 6400, True, ("LRO-INJ-03",), "The file holds all memories that were found, also with a budget of 0."),
        ("nothing-found", 0, 0, 2000, 6400, False, ("LRO-INJ-01",), "Nothing found is a small result."),
        ("one-memory", 1, 7000, 2000, 6400, True, ("LRO-INJ-02", "LRO-INJ-04"), "One memory above the threshold is offloaded, too."),
        ("low-threshold", 3, 60, 2000, 50, True, ("LRO-INJ-02", "LRO-INJ-04"), "The threshold is the one that is set."),
        ("high-threshold", 500, 90_000, 2000, 100_000, False, ("LRO-INJ-01", "LRO-INJ-02"), "The threshold is the one that is set."),
    ]  # fmt: skip
    for slug, found, tokens, budget, threshold, filed, ids, why in rows:
        question = {
            "found": found,
            "estimated_tokens": tokens,
            "max_tokens": budget,
            "settings": {"threshold_tokens": threshold},
        }
        wanted = {"result": "descriptor" if filed else "text", "records": found if filed else 0, "formatted": not filed}
        about = f"{found} memories of {tokens} tokens, a budget of {budget}, a threshold of {threshold}"
        wrong = (
            {"result": "text", "records": 0, "formatted": True}
            if filed
            else {"result": "descriptor", "records": found, "formatted": True}
        )
        mistake = (
            wrong,
            "The text after budgeting was compared."
            if filed
            else "The formatted text was returned beside the descriptor, or the threshold was ignored.",
        )
        yield partial(vector, f"injection.{slug}", about, question, one_of(wanted), ids, why, mistake=mistake)
    question = {"found": 9, "estimated_tokens": 40_000, "max_tokens": 2000, "settings": {"enabled": False}}
    wanted = {"result": "text", "records": 0, "formatted": True}
    yield partial(vector, "injection.switched-off", "40000 tokens, LRO switched off", question, one_of(wanted), ("LRO-INJ-01", "LRO-CFG-01"), "Switched off, the text is returned as always.")  # fmt: skip


# --- the fallback

SUCCEEDS, FITS, WARNS, ANNOUNCES, NO_FILE, TRUNCATED = (f"LRO-ERR-{n}" for n in ("01", "02", "03", "04", "05", "07"))


def memories(number: int, characters: int) -> list[dict[str, str]]:
    """Records of exactly so many characters as compact JSON."""
    bare = len('{"id":"m-00","title":""}')
    return [{"id": f"m-{n:02}", "title": ("keys " * characters)[: characters - bare]} for n in range(number)]


def _unless_in(error: str, words: Sequence[str]) -> list[str]:
    """The words that a warning does not have already because it quotes the error."""
    return [word for word in words if word not in error.lower()]


def _fallbacks() -> Iterator[Any]:
    rows = [
        ("disk-full", memories(8, 400), 350, "No space left on device", 1, 3),
        ("permission-denied", memories(8, 400), 350, "Permission denied", 1, 3),
        ("read-only", memories(6, 200), 120, "Read-only file system", 1, 2),
        ("file-too-large", memories(12, 100), 200, "File too large", 1, 8),
        ("folder-gone", memories(4, 400), 250, "No such file or directory", 1, 2),
        ("folder-is-a-file", memories(3, 800), 450, "Not a directory", 1, 2),
        ("one-fits", memories(5, 400), 110, "No space left on device", 1, 1),
        ("none-fits", memories(3, 2000), 100, "No space left on device", 0, 0),
        ("single-memory-too-large", memories(1, 2000), 100, "No space left on device", 0, 0),
        ("all-but-one", memories(5, 400), 420, "Input/output error", 1, 4),
        ("quota", memories(10, 120), 100, "Disk quota exceeded", 1, 3),
        ("too-many-open-files", memories(10, 160), 200, "Too many open files", 1, 5),
    ]  # fmt: skip
    mistakes: dict[str, tuple[dict[str, Any], str]] = {
        "disk-full": ({"is_error": True}, "The failed write failed the call."),
        "permission-denied": ({"records": 8}, "All records were returned, whatever they weigh."),
        "read-only": ({"warning": None}, "There is no warning."),
        "file-too-large": ({"event": None}, "The failure was not announced."),
        "folder-gone": (
            {"file_path": f"/out/atlatl-recall-{ULID}.jsonl"},
            "A path was returned to a file that does not exist.",
        ),
    }
    for slug, records, threshold, error, low, high in rows:
        question = {"records": records, "error": error, "settings": {"threshold_tokens": threshold}}
        counts = [f"{kept} of {len(records)}" for kept in range(low, high + 1)]
        expect = [
            *one_of(False, at="/is_error"),
            *one_of(*range(low, high + 1), at="/records"),
            *one_of(None, at="/file_path"),
            *having(*_unless_in(error, FAILURE_WORDS), at="/warning"),
            *having(*_unless_in(error, TRUNCATION_WORDS), *counts, at="/warning"),
            *one_of("OffloadWriteFailed", at="/event"),
        ]
        why = (
            f"The operation succeeded although the file could not be written: whole records, at most {high} of {len(records)}, "
            f"that fit within {threshold} tokens, with a warning, and no path to a file that does not exist."
        )
        mistake = None
        if slug in mistakes:
            changes, reason = mistakes[slug]
            right = cast("dict[str, Any]", answer("fallback", question, "lro-6400"))
            mistake = ({**right, **changes}, reason)
        about = f"{error}: {len(records)} records at a threshold of {threshold}"
        yield partial(
            vector,
            f"fallback.{slug}",
            about,
            question,
            expect,
            (FITS, SUCCEEDS, WARNS, ANNOUNCES, NO_FILE),
            why,
            mistake=mistake,
        )
    records, count = memories(2, 60), 2
    right = {"is_error": False, "records": 1, "file_path": None, "warning": None, "event": None}
    path = f"/out/{file_name('recall', edition='lro-paper', ulid=ULID)}"
    for slug, error, first, wrong, reason in (
        ("disk-full", "No space left on device", SUCCEEDS, {"is_error": True}, "The failed write failed the call."),
        ("read-only", "Read-only file system", TRUNCATED, {"records": count}, "All records were returned."),
        ("folder-gone", "No such file or directory", NO_FILE, {"file_path": path}, "A path was returned to a file that does not exist."),
    ):  # fmt: skip
        question = {"records": records, "error": error, "settings": {"threshold_tokens": 20}}
        expect = one_of(False, at="/is_error") + one_of(*range(count), at="/records") + one_of(None, at="/file_path")
        ids = (first, *(id for id in (TRUNCATED, SUCCEEDS, NO_FILE) if id != first))
        yield partial(
            vector,
            f"fallback.paper-{slug}",
            f"{error}: {count} records",
            question,
            expect,
            ids,
            "Some of the records come inline, without a path.",
            edition="lro-paper",
            only=True,
            mistake=({**right, **wrong}, reason),
        )


# --- cleanup

EXPIRED, HOURLY, CREATION, TTL = "LRO-CLN-01", "LRO-CLN-02", "LRO-CLN-03", "LRO-CFG-03"
OWN, LINKS, SCANS = "LRO-HARD-04", "LRO-HARD-05", "LRO-CLN-04"
NOW = 1_772_443_800
RANDOM = ULID[10:]


def aged(seconds: float, operation: str = "recall", edition: str = "lro-6400", random: str = RANDOM) -> str:
    """The name of a file of this age."""
    milliseconds, digits = int((NOW - seconds) * 1000), "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    time = "".join(digits[milliseconds >> 5 * place & 31] for place in range(9, -1, -1))
    name = file_name(operation, edition=edition, ulid=time + random)
    found = parse_file_name(name, edition=edition)
    assert found is not None
    assert found.milliseconds == milliseconds
    return name


def entry(name: str, age: float, kind: str = "file", **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": kind, "modified": NOW - age, **more}


def _cleanups() -> Iterator[Any]:
    def row(slug: str, about: str, entries: list[dict[str, Any]], gone: list[str], ids: tuple[str, ...], why: str = "", ttl: int | None = None, edition: str = "lro-6400", more: dict[str, Any] | None = None) -> Any:  # fmt: skip
        settings = {} if ttl is None else {"settings": {"ttl_seconds": ttl}}
        question = {"output_dir": "/out", "now": NOW, **settings, "entries": entries, **(more or {})}
        others = [e["name"] for e in entries if e["name"] not in gone]
        mistake = (
            ([e["name"] for e in entries], f"{others[0]} was deleted, too.")
            if others
            else ([], "It was left.")
            if gone
            else None
        )
        return partial(
            vector, f"cleanup.{slug}", about, question, one_of(sorted(gone)), ids, why, edition=edition, mistake=mistake
        )

    for ttl in (1, 60, 600, HOUR, DAY, 30 * DAY):
        old, young = aged(ttl + 1), aged(max(0, ttl - 1), random=RANDOM[::-1])
        yield row(
            f"around-ttl-{ttl}",
            f"one second either side of a TTL of {ttl} s",
            [entry(old, ttl + 1), entry(young, ttl - 1)],
            [old],
            (EXPIRED, CREATION, TTL),
            ttl=ttl,
        )
    for age in (0, 59, HOUR - 300, HOUR - 1):
        yield row(
            f"default-stays-{age}",
            f"a file of {age} s under the default TTL",
            [entry(aged(age), age)],
            [],
            (HOURLY, CREATION),
            "The default TTL is 3600 seconds.",
        )
    for age in (HOUR + 1, HOUR + 300, DAY, 400 * DAY):
        yield row(
            f"default-goes-{age}",
            f"a file of {age} s under the default TTL",
            [entry(aged(age), age)],
            [aged(age)],
            (HOURLY, EXPIRED),
            "The default TTL is 3600 seconds.",
        )
    each = [aged(2 * DAY, operation) for operation in ("recall", "search", "inject")]
    yield row(
        "every-operation",
        "an expired file of each operation",
        [entry(n, 2 * DAY) for n in each],
        each,
        (EXPIRED,),
        "Files of every operation expire.",
    )
    many = [aged(2 * DAY + n, random=f"{n:016d}") for n in range(12)]
    yield row("many", "a dozen expired files", [entry(n, 2 * DAY) for n in many], many, (EXPIRED,))
    fresh = [aged(n, random=f"{n:016d}") for n in range(12)]
    yield row(
        "many-fresh",
        "a dozen fresh files",
        [entry(n, 1) for n in fresh],
        [],
        (CREATION,),
        "However many there are, fresh files stay.",
    )
    yield row("empty-folder", "an empty folder", [], [], (EXPIRED,), "Nothing to do is no error.")
    old = aged(2 * DAY)
    yield row(
        "read-just-now",
        "an expired file that was read a moment ago",
        [entry(old, 2 * DAY, accessed=NOW)],
        [old],
        (CREATION, EXPIRED),
        "Expiry runs from creation; reading does not prolong it.",
    )
    for slug, name in (
        ("other-prefix", old.replace("atlatl-", "lro-")), ("other-ending", old.replace(".jsonl", ".json")), ("backup", f"{old}.bak"),
        ("readme", "README.md"), ("hidden", f".{old}"), ("user-data", "memories.jsonl"), ("upper-case", old.upper()),
    ):  # fmt: skip
        yield row(f"foreign-{slug}", f"an old file named {name}", [entry(name, 2 * DAY), entry(old, 2 * DAY)], [old], (OWN, SCANS),
                  "Only files that match the name pattern are deleted; anything else belongs to somebody.")  # fmt: skip
    yield row(
        "subfolder",
        "an expired file in a subfolder",
        [entry(f"sub/{old}", 2 * DAY)],
        [],
        (OWN,),
        "Cleanup looks directly in the output directory.",
    )
    yield row(
        "folder-of-that-name",
        "a folder with the name of an expired file",
        [entry(old, 2 * DAY, "directory")],
        [],
        (OWN,),
        "A folder is no offloaded file.",
    )
    for slug, about, kind in (("file", "an old file", "file"), ("folder", "a folder", "directory")):
        entries = [entry(old, 2 * DAY, "link", target="notes"), entry("notes", 2 * DAY, kind)]
        yield partial(vector, f"cleanup.link-to-a-{slug}", f"a symbolic link to {about}, named like an expired file", {"output_dir": "/out", "now": NOW, "entries": entries},
                      one_of([], [old]), (LINKS,), "What a link points to is neither deleted nor altered; the link itself may go.", mistake=([old, "notes"], "The link was followed."))  # fmt: skip
    yield row(
        "from-the-future",
        "a file whose ULID is an hour ahead",
        [entry(aged(-HOUR), -HOUR)],
        [],
        (CREATION,),
        "A clock that was set back does not make a file old.",
    )
    paper = aged(2 * DAY, "fetch", edition="lro-paper")
    yield row(
        "paper",
        "an expired file by the paper's names",
        [entry(paper, 2 * DAY), entry(old, 2 * DAY)],
        [paper],
        (EXPIRED, OWN),
        "The paper's files begin with lro-.",
        edition="lro-paper",
    )
    young = aged(59, "fetch", edition="lro-paper", random=RANDOM[::-1])
    yield row(
        "paper-ttl",
        "one second either side of a TTL of 60 s, by the paper's names",
        [entry(expired := aged(61, "fetch", edition="lro-paper"), 61), entry(young, 59)],
        [expired],
        (TTL, SCANS, EXPIRED, CREATION),
        ttl=60,
        edition="lro-paper",
    )


def vectors() -> Iterator[Any]:
    """Functions that make the vectors of these kinds."""
    yield from _estimates()
    yield from _decisions()
    yield from _injections()
    yield from _fallbacks()
    yield from _cleanups()
