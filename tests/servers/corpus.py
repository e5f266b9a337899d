"""Two hundred memories, the same ones in every process."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
SHIFTS = range(125, -1, -5)
# (namespace, memory type, how many): no two equally frequent, so that the five most frequent are one definite set
PLACES = (
    ("_semantic/decisions", "semantic", 58),
    ("_semantic/knowledge", "semantic", 44),
    ("_episodic/incidents", "episodic", 33),
    ("_procedural/runbooks", "procedural", 27),
    ("project/alpha", "episodic", 19),
    ("project/beta", "semantic", 12),
    ("_episodic/sessions", "episodic", 7),
)
TOPICS = (
    "rotate the signing keys",
    "retry with back-off",
    "naming of branches",
    "cache keyword expansion",
    "the billing outage",
    "index rebuild at night",
    'quotes "inside" a title',
    "a back\\slash and a / slash",
    "決定：設定を統一する",
    "façade of the café API 🚀",
)
SENTENCES = (
    "This memory records what was agreed and why.",
    "The pattern held in every environment that was looked at.",
    "Line one of the note.\nLine two, after a newline;\tand a tab.",
    "検索の結果が大きいときはファイルに書き出す。要約だけを返す。",
    "An emoji 🧭 and a family 👩‍👩‍👧 and a separator\u2028in the middle.",
    "Measured twice: 12.5 ms before, 3.25 ms after; the keyword is latency.",
    'See also the runbook; C:\\temp\\x and "quoted" words are kept as they are.',
)


def _number(i: int, salt: int) -> int:
    value = 0
    for step in range(2):
        value = value << 64 | ((i + 1) * 0x9E3779B97F4A7C15 ^ (salt + step) * 0xC2B2AE3D27D4EB4F) & (1 << 64) - 1
    return value


def _uuid(i: int) -> str:
    h = f"{_number(i, 1):032x}"
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"


def _ulid(i: int) -> str:
    value = (1735689600000 + i * 3_600_000) << 80 | _number(i, 2) >> 48
    return "".join([CROCKFORD[value >> shift & 31] for shift in SHIFTS])


def memory(i: int, namespace: str, memory_type: str) -> dict[str, Any]:
    """The memory number *i*, with every field of the data model."""
    day = f"2025-{i % 12 + 1:02}-{i % 28 + 1:02}T{i % 24:02}:{i % 60:02}:00Z"
    topic = TOPICS[i % len(TOPICS)]
    made: dict[str, Any] = {
        "id": _uuid(i) if i % 2 else _ulid(i),
        "title": f"Memory {i:04}: {topic}",
        "namespace": namespace,
        "memory_type": memory_type,
        "tags": ["memory", ("infra", "team", "設計", "cost")[i % 4]],
        "status": "active" if i % 9 else "archived",
        "created": day,
        "modified": day,
        "content": " ".join(SENTENCES[(i + k) % len(SENTENCES)] for k in range(2 + i % 4)),
        "summary": f"About {topic}.",
        "entities": [{"name": f"service-{i % 5}", "type": "system"}] * (i % 3 == 0),
        "relationships": [] if i % 5 else [{"type": "relates_to", "target": _ulid(i + 2)}],
        "wiki_links": ["[[Runbook]]"] * (i % 7 == 0),
        "embedding": None,
        "provenance": {
            "confidence": (50 + i * 37 % 51 // 5 * 5) / 100,
            "trust_level": "high" if i % 2 else "moderate",
            "source_type": "user_explicit",
            "agent": "assistant",
        },
        "temporal": {
            "valid_from": day,
            "valid_until": None,
            "ttl": None,
            "decay": {"model": "exponential", "half_life": 7.5},
        },
        "extensions": {"x-rank": i, "x-ratio": i / 8, "x-note": "ключ ✓"},
        "blocks": [],
        "citations": [],
    }
    return made


def corpus() -> list[dict[str, Any]]:
    """All of them, namespaces mixed."""
    places = [(namespace, kind) for namespace, kind, times in PLACES for _ in range(times)]
    return [memory(i, *places[i * 77 % len(places)]) for i in range(len(places))]
