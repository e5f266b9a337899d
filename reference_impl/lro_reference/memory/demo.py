"""The demo memories: five hundred in ten namespaces, identical on every machine.

They are two sentences to more than a page long. To put JSON writers to the test, some hold Chinese, Japanese and
Korean, emoji, embedded newlines, U+2028, quotes, backslashes, nested extensions and long floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from lro_reference.events import timestamp

COUNT = 500
_SEED = 6400
_NEWEST = datetime(2026, 9, 30, 18, 0, tzinfo=UTC)

_NAMESPACES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    # namespace, tag, topics
    ("_semantic/decisions", "decision", ("SQLite as the store", "UTC in every log", "one repository for all services")),
    ("_semantic/knowledge", "fact", ("the billing schema", "rate limits of the mail gateway", "how leases expire")),
    ("_semantic/entities", "entity", ("the payments team", "the staging cluster", "the supplier in Osaka")),
    ("_semantic/preferences", "preference", ("short commit messages", "tabs in Makefiles", "metric units")),
    ("_episodic/incidents", "incident", ("the full disk on node 7", "the expired certificate", "the slow checkout")),
    ("_episodic/sessions", "session", ("pairing on the parser", "the review of the importer", "a call with support")),
    ("_episodic/releases", "release", ("version 4.2", "the hotfix for invoices", "the mobile beta")),
    ("_procedural/runbooks", "runbook", ("restoring a backup", "rotating the signing keys", "draining a node")),
    ("_procedural/patterns", "pattern", ("retry with jitter", "feature flags by account", "idempotent imports")),
    ("_procedural/migrations", "migration", ("moving to IPv6", "splitting the orders table", "leaving the old queue")),
)
_OPENINGS = (
    "This memory records {topic}.",
    "A memory of {topic}, written down while it was fresh.",
    "Noted about {topic}: it came up again.",
    "{topic}: what was learnt, in short.",
)
_SENTENCES = (
    "The first attempt failed because the timeout was shorter than the slowest query.",
    "Everyone agreed that the change is small enough to be undone within a day.",
    "Measured over a week, the median fell from 240 ms to 85 ms.",
    "The configuration lives beside the code, so a review sees both.",
    "Ask the owner before touching the retention rules.",
    "It took three people two afternoons, mostly spent on reading old tickets.",
    "The alert fired nine minutes late since it averaged over ten.",
    "Nothing was lost; the log had every record that the table lacked.",
    "A second reader found the mistake in the example, not in the code.",
    "It works on a laptop and in the cluster, but not behind the proxy.",
)
_ODDITIES = (
    '她说："请先备份，再迁移数据库。" 结果保存在第二个节点上。',
    "次のリリースでは検索が速くなります。\n担当者は佐藤さんです。",
    "회의에서 결정된 내용을 여기에 적어 둡니다.",
    "Shipped 🚀 and celebrated 🎉; the family emoji 👨‍👩‍👧‍👦 is one picture and seven code points.",
    "First line\nsecond line\r\nthird line\twith a tab",
    "A line separator\u2028and a paragraph separator\u2029inside one JSON line.",
    "He wrote \"C:\\temp\\new\" and then '$HOME; `ls`'.",
    "Naïve café, Straße, Ångström, Ελληνικά, кириллица, עברית, العربية.",
    '{"type": "lro_header", "count": 0}',
)


def demo_memories() -> Iterator[dict[str, Any]]:
    """The demo memories, newest first."""
    random = Random(_SEED)
    when = _NEWEST
    for number in range(COUNT):
        namespace, tag, topics = _NAMESPACES[number % len(_NAMESPACES)]
        topic = topics[random.randrange(len(topics))]
        yield _memory(random, number, namespace, tag, topic, when)
        when -= timedelta(seconds=random.randrange(600, 40_000))


def _memory(random: Random, number: int, namespace: str, tag: str, topic: str, when: datetime) -> dict[str, Any]:
    opening = _OPENINGS[random.randrange(len(_OPENINGS))].format(topic=topic)
    # Most are short; every twentieth is about a page long.
    length = random.randrange(40, 80) if number % 20 == 19 else random.randrange(1, 9)
    sentences = [opening, *random.choices(_SENTENCES, k=length)]
    if number % 5 == 0:
        sentences.append(_ODDITIES[number // 5 % len(_ODDITIES)])
    confidence = round(random.uniform(0.3, 1.0), 4)
    memory: dict[str, Any] = {
        "id": f"{random.getrandbits(128):032x}",
        "memory_type": namespace[1:].split("/")[0],
        "content": " ".join(sentences),
        "created": timestamp(when),
        "modified": timestamp(when + timedelta(hours=random.randrange(72))),
        "namespace": namespace,
        "title": f"{topic[0].upper()}{topic[1:]}, note {number}" + (" \u201c改訂\u201d" if number % 25 == 0 else ""),
        "tags": [tag, *random.sample(("ops", "data", "people", "speed", "cost", "q3"), k=random.randrange(3))],
        "status": "archived" if number % 17 == 0 else "active",
        "provenance": {
            "confidence": confidence,
            "trust_level": "verified" if confidence > 0.8 else "inferred",
            "source_type": random.choice(("conversation", "document", "observation")),
            "agent": f"agent-{random.randrange(4)}",
        },
        "temporal": {
            "valid_from": timestamp(when),
            "valid_until": None,
            "decay": {"model": "exponential", "half_life_days": 90, "strength": random.random()},
        },
    }
    if number % 3 == 0:
        memory["summary"] = opening
        memory["entities"] = [
            {"name": topic, "type": "topic"},
            {"name": f"ticket-{random.randrange(9999)}", "type": "ticket"},
        ]
    if number % 4 == 0:
        memory["relationships"] = [{"type": "relates_to", "target": f"note {random.randrange(COUNT)}"}]
        memory["wiki_links"] = [f"[[{topic}]]"]
    if number % 10 == 0:
        memory["embedding"] = {"model": "demo-4", "vector": [random.gauss(0, 1) for _ in range(4)]}
    if number % 6 == 0:
        memory["extensions"] = {
            "org.example": {"review": {"rounds": [{"by": "r1", "ok": True, "score": random.random()}]}}
        }
        memory["blocks"] = [{"type": "code", "language": "sh", "text": "printf '%s\\n' \"$1\" | sort -u"}]
        memory["citations"] = [{"title": "Minutes", "url": f"https://example.org/minutes/{number}?a=1&b=%20"}]
    return memory
