"""The editions of the specification, each with the facts that it fixes.

Evidence is judged by one edition at a time, never by a mixture of two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

DETAILS: tuple[str, ...] = ("light", "medium", "full")
"""Detail levels, the leanest first."""

_SKIP_HEADER = "tail -n +2 {file} | "


@dataclass(frozen=True, slots=True)
class StandardRecipe:
    """One entry of an edition's recipe library."""

    number: int
    """Number of the recipe in the library, from 1."""
    description: str
    """The result of the recipe, in a few words."""
    command: str
    """The shell command, with the placeholder ``{file}`` where the path belongs."""
    effect: str
    """Name of the recipe's purpose, from which `lro_spec.recipes.oracle.evaluate` computes the expected output."""
    details: tuple[str, ...] = DETAILS
    """The detail levels at which the recipe is part of the library."""

    @property
    def requirement(self) -> str:
        """The id of the requirement that the recipe fulfils. It depends on the recipe's purpose, not on its number."""
        return _REQUIREMENT_BY_EFFECT[self.effect]


_REQUIREMENT_BY_EFFECT = MappingProxyType(
    {
        "title-confidence-table": "LRO-REC-01",
        "namespace-prefix": "LRO-REC-02",
        "title-search": "LRO-REC-03",
        "sort-by-confidence": "LRO-REC-04",
        "sort-by-flat-confidence": "LRO-REC-04",
        "identity-projection": "LRO-REC-05",
        "memory-type": "LRO-REC-06",
        "with-entities": "LRO-REC-07",
        "count-by-namespace": "LRO-REC-08",
        "count-by-namespace-unsorted": "LRO-REC-08",
        "top-by-confidence": "LRO-REC-09",
        "content-search": "LRO-REC-10",
        "title-namespace-table": "LRO-REC-14",
        "with-tag": "LRO-REC-15",
        "sort-by-created": "LRO-REC-16",
        "namespaces": "LRO-REC-17",
        "count-by-type": "LRO-REC-18",
    }
)


@dataclass(frozen=True, slots=True)
class Edition:
    """One edition of the specification: the facts that it fixes."""

    name: str
    """``lro-6400``, ``lro-1600`` or ``lro-paper``."""
    default_threshold_tokens: int
    """The default threshold in tokens: a result whose estimate is greater is offloaded."""
    file_prefix: str
    """The beginning of a file name, before ``-{operation}-{ulid}.jsonl``."""
    operations: tuple[str, ...]
    """The operations that can offload; empty if the edition does not enumerate them."""
    recipes: tuple[StandardRecipe, ...]
    """The recipes that the text of the edition contains. The text of ``lro-paper`` contains only five of its ten
    recipes."""
    settings: Mapping[str, str]
    """The environment variable of each setting. The paper does not name the variables, so its edition has the variables
    of the other editions here."""
    default_ttl_seconds: int = 3600
    """Lifetime of a file, in seconds."""
    default_detail: Mapping[str, str] = field(default_factory=lambda: _DEFAULT_DETAIL)
    """The detail level of calls that request no level, by operation. Operations for which the edition states no default
    are missing."""
    details: tuple[str, ...] = ("light", "medium", "full")
    """The detail levels, leanest first."""
    default_enabled: bool = True
    """True if results are offloaded when no setting says so."""
    default_output_dir: str = ""
    """Default output directory; empty means the system's temporary directory."""
    recipe_count: int = 10
    """Number of recipes in a descriptor."""
    more_recipes: bool = True
    """True if a descriptor may have more than `recipe_count` recipes."""
    deterministic_recipes: bool = False
    """True if a recipe's output must depend on the file alone."""
    score_in_recipes: bool = True
    """True if a recipe may refer to ``.score``."""
    marked_header: bool = True
    """True if a header has to state its type, ``lro_header``. In the editions with this rule, the header also has the
    query."""
    descriptor_fields: tuple[str, ...] = (
        "offloaded", "summary", "file_path", "line_schema", "jq_recipes", "guidance",
    )  # fmt: skip
    """Fields that a descriptor must have at level 1."""
    summary_fields: tuple[str, ...] = ("count", "estimated_tokens", "operation", "top_namespaces", "detail")
    """Required fields of the summary; `score_range` is optional in every edition."""
    self_contained_schema: bool = False
    """True if a line schema must be complete without any other document."""
    top_namespaces: int | None = 5
    """Largest number of namespaces in the summary; None if the edition states neither a number nor a type for this
    field."""
    misquoted: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    """Recipes that the edition's own guidance cites wrongly: the number, and the purpose that the guidance states."""
    switchable: bool = True
    """True if the edition has a setting that switches LRO off."""
    named_events: bool = True
    """True if events have the names OffloadFileExpired and OffloadWriteFailed."""

    def is_file_name(self, name: str) -> bool:
        """True if a name begins and ends like that of an offloaded file. Cleanup looks for such names."""
        return name.startswith(f"{self.file_prefix}-") and name.endswith(".jsonl")

    def recipes_at(self, detail: str) -> tuple[StandardRecipe, ...]:
        """The recipes of one detail level."""
        return tuple(r for r in self.recipes if detail in r.details)


def edition(name: str) -> Edition:
    """The edition of this name.

    Raises `ValueError` for any other name; the message lists the known names and suggests the nearest.
    """
    try:
        return EDITIONS[name]
    except KeyError:
        from difflib import get_close_matches

        near = get_close_matches(name, EDITIONS, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"unknown edition {name!r}: expected one of {', '.join(EDITIONS)}{hint}") from None


def _recipe(number: int, description: str, jq: str, effect: str, *details: str) -> StandardRecipe:
    levels = details or ("light", "medium", "full")
    return StandardRecipe(number, description, f"{_SKIP_HEADER}jq {jq}", effect, levels)


_DEFAULT_DETAIL = MappingProxyType({"recall": "light", "inject": "medium"})

_SETTINGS = MappingProxyType(
    {
        "enabled": "ATLATL_PROMPT__OFFLOAD__ENABLED",
        "threshold_tokens": "ATLATL_PROMPT__OFFLOAD__THRESHOLD_TOKENS",
        "ttl_seconds": "ATLATL_PROMPT__OFFLOAD__TTL_SECONDS",
        "output_dir": "ATLATL_PROMPT__OFFLOAD__OUTPUT_DIR",
    }
)

_TITLES = _recipe(
    1, "Every title beside its confidence", "-r '[.title, .provenance.confidence] | @tsv'", "title-confidence-table"
)
_PREFIX = _recipe(
    2, "Memories under a namespace prefix", """'select(.namespace | startswith("_semantic"))'""", "namespace-prefix"
)
_KEYWORD = _recipe(
    3, "Memories with a keyword in the title", """'select(.title | test("keyword"; "i"))'""", "title-search"
)
_IDENTITY = "'{id, title, namespace}'"
_GROUPS = "group_by(.namespace) | map({namespace: .[0].namespace, count: length})"
_TYPE = """'select(.memory_type == "semantic")'"""
_CONTENT = """'select(.content | test("pattern"; "i"))'"""

_LRO_6400 = (
    _TITLES,
    _PREFIX,
    _KEYWORD,
    _recipe(4, "All memories, most confident first", "-s 'sort_by(-.provenance.confidence)'", "sort-by-confidence"),
    _recipe(5, "Ids, titles and namespaces alone", _IDENTITY, "identity-projection"),
    _recipe(6, "Memories of one type", _TYPE, "memory-type"),
    _recipe(7, "Memories that mention entities", "'select(.entities | length > 0)'", "with-entities"),
    _recipe(8, "How many memories each namespace holds", f"-s '{_GROUPS} | sort_by(-.count)'", "count-by-namespace"),
    _recipe(9, "The most confident memories", "-s 'sort_by(-.provenance.confidence) | .[:10]'", "top-by-confidence"),
    _recipe(10, "Memories with a pattern in the content", _CONTENT, "content-search"),
)

_LRO_1600 = (
    _recipe(1, "Every title beside its namespace", "-r '[.title, .namespace] | @tsv'", "title-namespace-table"),
    _PREFIX,
    _KEYWORD,
    _recipe(4, "Ids, titles and namespaces alone", _IDENTITY, "identity-projection"),
    _recipe(5, "Memories of one type", _TYPE, "memory-type"),
    _recipe(6, "How many memories each namespace holds", f"-s '{_GROUPS}'", "count-by-namespace-unsorted"),
    _recipe(7, "Memories with a tag", """'select(.tags | index("TAG"))'""", "with-tag"),
    _recipe(8, "All memories, oldest first", "-s 'sort_by(.created)'", "sort-by-created"),
    _recipe(9, "The namespaces that occur", "-s 'map(.namespace) | unique'", "namespaces", "light"),
    _recipe(
        10,
        "How many memories of each type",
        "-s 'group_by(.memory_type) | map({memory_type: .[0].memory_type, count: length})'",
        "count-by-type",
        "light",
    ),
    _recipe(9, "All memories, most confident first", "-s 'sort_by(-.confidence)'", "sort-by-flat-confidence", "medium"),
    _recipe(
        9, "All memories, most confident first", "-s 'sort_by(-.provenance.confidence)'", "sort-by-confidence", "full"
    ),
    _recipe(10, "Memories with a pattern in the content", _CONTENT, "content-search", "medium", "full"),
)

_LRO_PAPER = (
    _TITLES,
    _PREFIX,
    _KEYWORD,
    _recipe(4, "How many memories each namespace holds", f"-s '{_GROUPS}'", "count-by-namespace-unsorted"),
    _recipe(5, "The most confident memories", "-s 'sort_by(-.provenance.confidence) | .[:10]'", "top-by-confidence"),
)

EDITIONS: Mapping[str, Edition] = MappingProxyType(
    {
        e.name: e
        for e in (
            Edition("lro-6400", 6400, "atlatl", ("recall", "search", "inject"), _LRO_6400, _SETTINGS),
            Edition(
                "lro-1600",
                1600,
                "atlatl",
                ("recall", "search", "inject", "list"),
                _LRO_1600,
                _SETTINGS,
                more_recipes=False,
                score_in_recipes=False,
                misquoted=MappingProxyType({8: "count by namespace"}),
            ),
            Edition(
                "lro-paper",
                1600,
                "lro",
                (),
                _LRO_PAPER,
                _SETTINGS,
                default_detail=MappingProxyType({}),
                marked_header=False,
                descriptor_fields=("summary", "file_path"),
                summary_fields=("count", "estimated_tokens", "operation", "top_namespaces"),
                self_contained_schema=True,
                top_namespaces=None,
                deterministic_recipes=True,
                misquoted=MappingProxyType({1: "titles with namespaces", 6: "count by namespace"}),
                switchable=False,
                named_events=False,
            ),
        )
    }
)
"""Every edition by name; the default one comes first."""

DEFAULT_EDITION = next(iter(EDITIONS))

OTHER_TOOLS_EDITION = "lro-paper"
"""The edition for offloading results that are not memories; it is the only one that does not list the operations."""
