"""JSON values, and values that are read like JSON: arrays, tables of arrays, trees, objects.

The records are the elements of the array that is nearly all of a value. If an object has several arrays, each becomes a
``table`` of its own. ``extra`` has the place of the records (a JSON pointer), and the value around them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from typing import Any, cast

import orjson

from lro_proxy.payload.array import Array, ParsedArray, in_memory
from lro_proxy.payload.batches import Batched, BatchedLines, encoded, numbered
from lro_proxy.payload.forms.form import MAX_BYTES_AT_ONCE, SMALL_SIZE, Extra, PayloadRecords, Record
from lro_proxy.payload.forms.tables import are_names
from lro_reference.writer import encode

_MAX_STEPS = 4
"""Maximum number of steps from a value to its main part, the member that is nearly all of it."""
_MIN_MAIN_SHARE = 0.8
"""Smallest share of an object that a member must have to be its main part."""
_MAX_SHORT_TEXT = 1024
"""Maximum number of characters of a text that is not long."""
_MAX_COLUMNS = 500
"""Maximum length of the arrays in an array that is read as a table."""
_COLUMN_LIST_KEYS = ("columns", "headers", "header", "fields", "names", "schema", "columnNames", "column_names")
"""Members beside an array of arrays that may list the names of its columns."""
_NAME_KEYS = ("name", "title", "path", "key", "label")
"""Members that may hold the name of an object that is a column, or a node of a tree."""

AnyArray = Array | ParsedArray


@dataclass(frozen=True, slots=True)
class MainPart:
    """The member that is nearly all of a value. If there is no such member, it is the value itself."""

    value: Any
    pointer: str
    """Its place as a JSON pointer; empty for the value itself."""
    around: Any
    """The whole value, with null in the place of the member; None if `value` is the whole value."""

    def extra(self) -> dict[str, Any]:
        """Its place, for the header."""
        return {"at": self.pointer} | ({} if self.around is None else {"around": self.around})


def of_value(value: Any, extra: Extra) -> PayloadRecords:
    """A value as records."""
    part = _empty_list(value) or main_part(value)
    array = _as_array(part.value)
    if array is not None:
        return _of_array(array, part.around, {"format": "json", **extra, **part.extra()})
    if isinstance(part.value, dict):
        tables = _tables(part)
        if tables is not None:
            return of_records(tables[0], {"format": "tables", **extra, **tables[1]})
    if isinstance(value, dict):
        return of_records(list(members(in_memory(value))), {"format": "members", **extra})
    return of_records([{"value": value}], {"format": "value", **extra})


def _as_array(value: Any) -> AnyArray | None:
    if isinstance(value, list):
        return ParsedArray(cast("list[Any]", value))
    return value if isinstance(value, Array) else None


def _empty_list(value: Any) -> MainPart | None:
    """The empty array in a small object that has no other array or object.

    A search without hits often returns such an object.
    """
    node = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    containers = [key for key, member in node.items() if isinstance(member, (dict, list, Array, ParsedArray))]
    if len(containers) != 1 or isinstance(node[containers[0]], dict) or len(node[containers[0]]):
        return None
    key = containers[0]
    return MainPart([], f"/{escaped(key)}", {**node, key: None}) if size_of(node) <= SMALL_SIZE else None


def main_part(value: Any) -> MainPart:
    """The array, the long text or the object that is nearly all of a value: the value itself, or a member within it."""
    around: dict[str, Any] | None = None
    hole: dict[str, Any] = {}
    pointer = ""
    for _ in range(_MAX_STEPS):
        node = cast("dict[str, Any]", value)
        sizes = {key: size_of(member) for key, member in node.items()} if isinstance(value, dict) else {}
        key = max(sizes, key=sizes.__getitem__, default=None)
        total = sum(sizes.values())
        if key is None or sizes[key] < _MIN_MAIN_SHARE * total or total - sizes[key] > SMALL_SIZE:
            break
        value = node[key]
        is_long = len(value) > _MAX_SHORT_TEXT if isinstance(value, str) else isinstance(value, (dict, list, Array))
        if not is_long or (not isinstance(value, Array) and not value):
            value = node
            break
        frame = {k: None if k == key else v for k, v in node.items()}
        if around is None:
            around = hole = frame
        else:
            parent, last = hole, pointer.rpartition("/")[2]
            parent[_unescaped(last)] = frame
            hole = frame
        pointer += "/" + escaped(key)
    return MainPart(value, pointer, around)


def escaped(key: str) -> str:
    """A key as a step of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def size_of(value: object) -> int:
    """The size of a value as JSON, in bytes; a number, a boolean or null by itself counts as eight bytes."""
    if isinstance(value, (dict, Array)):
        large: list[Array] = []
        try:
            size = len(orjson.dumps(value, default=large.append))
        except TypeError:  # half of a surrogate pair, or deep nesting
            return len(encode(in_memory(value)))
        return size + sum(array.stop - array.start for array in large)
    return len(encode(value)) if isinstance(value, (list, str)) else 8


def of_records(records: list[Any], extra: Extra) -> PayloadRecords:
    """Records in memory."""
    return _plain(ParsedArray(records), extra)


# --- arrays


def _of_array(array: AnyArray, around: Any, extra: Extra) -> PayloadRecords:
    if array.are_objects:
        tree = _tree(array)
        return _plain(array, extra) if tree is None else of_records(tree[0], {**extra, **tree[1]})
    names, has_head = _names(array, around)
    if names:
        return _table(array, names, {**extra, "columns": names} | ({"head": True} if has_head else {}), skip=has_head)
    count = len(array)
    lines = BatchedLines(count, lambda: encoded(numbered(array.lossless_batches(), "value")))
    return PayloadRecords(lines, Batched(count, lambda: numbered(array.batches(), "value")), {**extra, "wrapped": True})


def _plain(array: AnyArray, extra: Extra) -> PayloadRecords:
    count = len(array)
    is_array = isinstance(array, Array)  # parsed by orjson, which refuses half of a surrogate pair
    records = Batched(count, array.batches, array.texts if is_array else None)
    records.findings = array.findings() if is_array else None
    wide_count = array.wide_count if is_array else None
    return PayloadRecords(
        BatchedLines(count, array.lines), records, extra, is_well_formed=is_array, wide_count=wide_count
    )


def _names(array: AnyArray, around: Any) -> tuple[list[str], bool]:
    """The names of the columns of an array of arrays, and whether they are its first row.

    No names if the array is not a table, or if its columns have no names.
    """
    first: list[Any] | None = None
    quantities = set[int]()
    for batch in array.batches():
        if set(map(type, batch)) != {list}:
            return [], False
        rows = cast("list[list[Any]]", batch)
        if first is None:
            first, rows = rows[0], rows[1:]
            quantities = {place for place, name in enumerate(first) if not _is_quantity(name)}
        if not 0 < len(first) <= _MAX_COLUMNS or not set(map(len, rows)) <= {len(first)}:
            return [], False
        quantities = {place for place in quantities if _are_quantities(map(itemgetter(place), rows))}
    other_members = cast("dict[str, Any]", around) if isinstance(around, dict) else {}
    for key in _COLUMN_LIST_KEYS:
        names = _names_of(other_members.get(key))
        if names and first is not None and len(names) == len(first):
            return names, False
    names = _names_of(first)
    # If all values of a column but the first are numbers or dates, the first row has the names of the columns.
    has_head = len(array) > 2 and len(names) > 1 and are_names(names) and bool(quantities)
    return (names, True) if has_head else ([], False)


def _is_quantity(value: Any) -> bool:
    """True for numbers, booleans and null, and for a text that is empty or begins like a number or a date."""
    return value[:1] in ("", "-", *"0123456789") if isinstance(value, str) else not isinstance(value, (list, dict))


def _are_quantities(values: Iterable[Any]) -> bool:
    values = list(values)
    return set(map(type, values)) <= {int, float} or all(map(_is_quantity, values))


def _names_of(value: Any) -> list[str]:
    """The names in a list of names, or of objects that have names (`_NAME_KEYS`).

    Empty if the value is anything else, or if a name occurs twice.
    """
    if not isinstance(value, list):
        return []
    items = cast("list[Any]", value)
    names = [_name_of(item) for item in items]
    return cast("list[str]", names) if None not in names and len(set(names)) == len(names) else []


def _name_of(item: Any) -> str | None:
    if isinstance(item, dict):
        item = next(
            (text for key in _NAME_KEYS if isinstance(text := cast("dict[str, Any]", item).get(key), str)), None
        )
    return item if isinstance(item, str) and item else None


def _table(array: AnyArray, names: Sequence[str], extra: Extra, *, skip: bool) -> PayloadRecords:
    def rows(batches: Callable[[], Iterable[Sequence[Any]]]) -> Iterator[list[Record]]:
        is_first = skip
        for batch in batches():
            yield [dict(zip(names, row, strict=True)) for row in (batch[1:] if is_first else batch)]
            is_first = False

    count = len(array) - skip
    lines = BatchedLines(count, lambda: (block for block in encoded(rows(array.lossless_batches)) if block))
    return PayloadRecords(lines, Batched(count, lambda: rows(array.batches)), extra)


# --- trees: objects with lists of such objects

_CHILDREN = ("children", "nodes", "entries", "contents")
_FIRST_ROOTS = 100
"""Number of elements among which one with children is looked for."""


def _tree(array: AnyArray) -> tuple[list[Record], Extra] | None:
    """The nodes of a tree as records with their paths, parents first, and the layout of the tree.

    None if the elements are not a tree whose nodes are all alike.
    """
    if isinstance(array, Array) and array.stop - array.start > MAX_BYTES_AT_ONCE:
        return None
    candidates = (
        (root, key) for root in islice(chain.from_iterable(array.batches()), _FIRST_ROOTS) for key in _CHILDREN
    )
    layout = next(
        (
            {"tree": key, "name": name}
            for root, key in candidates
            for name in _NAME_KEYS
            if _are_nodes(root.get(key)) and root[key] and isinstance(root.get(name), str)
        ),
        None,
    )
    if layout is None:
        return None
    roots: list[Record] = list(chain.from_iterable(array.lossless_batches()))
    try:
        nodes = list(_nodes(roots, "", **layout, members=set(roots[0]) - {layout["tree"]}))
        return (nodes, layout) if tree_of(nodes, **layout) == roots else None
    except (ValueError, RecursionError):
        return None


def _are_nodes(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in cast("list[Any]", value))


def _nodes(siblings: list[Record], parent: str, *, tree: str, name: str, members: set[str]) -> Iterator[Record]:
    """Nodes by their paths, with the number of their children. Raises `ValueError` if a node is unlike the others."""
    for node in siblings:
        node_name, inner = node.get(name), node.get(tree, [])
        if set(node) - {tree} != members or "path" in members or not isinstance(node_name, str) or "/" in node_name:
            raise ValueError("not a node")
        if not _are_nodes(inner):
            raise ValueError("not a list of nodes")
        children = {tree: len(inner)} if tree in node else {}
        yield {"path": f"{parent}{node_name}", **{k: v for k, v in node.items() if k not in (name, tree)}, **children}
        yield from _nodes(inner, f"{parent}{node_name}/", tree=tree, name=name, members=members)


def tree_of(nodes: Iterable[Mapping[str, Any]], *, tree: str, name: str) -> list[Record]:
    """The tree of which `_nodes` made these records: the roots, each with its children.

    *tree* is the member of a node that holds its children, and *name* the one that holds its name.
    """
    remaining = iter(nodes)

    def with_children(node: Mapping[str, Any]) -> Record:
        members = {name: node["path"].rpartition("/")[2], **{k: v for k, v in node.items() if k not in ("path", tree)}}
        return (
            members
            if tree not in node
            else {**members, tree: [with_children(next(remaining)) for _ in range(node[tree])]}
        )

    return [with_children(node) for node in remaining]


# --- objects with several arrays


def _tables(part: MainPart) -> tuple[list[Record], Extra] | None:
    """Records for the elements of an object's arrays and for the lines of its long texts, and the layout of these.

    None if the object has no arrays and no long texts, if it has much else, or if an element has a member ``table``.
    """
    node = cast("dict[str, Any]", in_memory(part.value))
    large = {key: member for key, member in node.items() if _is_large(member)}
    rest = {key: None if key in large else member for key, member in node.items()}
    if not large or size_of(rest) > SMALL_SIZE:
        return None
    records: list[Record] = []
    wrapped: list[str] = []
    for key, member in large.items():
        if isinstance(member, str):
            items: list[Any] = [{"n": n, "text": line} for n, line in enumerate(member.split("\n"), 1)]
        elif _are_nodes(member):
            items = cast("list[Any]", member)
        else:
            items = [{"n": n, "value": item} for n, item in enumerate(cast("list[Any]", member), 1)]
            wrapped.append(key)
        if any("table" in item for item in items):
            return None
        records += [{"table": key, **item} for item in items]
    texts = [key for key, member in large.items() if isinstance(member, str)]
    around = rest if part.around is None else _filled(part.around, part.pointer, rest)
    layout = {"at": part.pointer, "around": around, "wrapped": wrapped, "texts": texts}
    return records, {key: part for key, part in layout.items() if part not in ("", [])}


def _is_large(member: Any) -> bool:
    return (
        len(member) > _MAX_SHORT_TEXT
        if isinstance(member, str)
        else isinstance(member, list) and len(cast("list[Any]", member)) > 1
    )


def _filled(around: Any, pointer: str, value: Any) -> Any:
    """The value *around*, with *value* at the place *pointer*, which is null in it."""
    if not pointer:
        return value
    step, slash, rest = pointer[1:].partition("/")
    key = _unescaped(step)
    return {**around, key: _filled(around[key], slash + rest, value)}


def members(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A record ``{"member", "value"}`` for each member.

    An array of several items becomes a record for each item. A long text becomes a record for each line, with ``text``
    instead of ``value``. Items and lines are numbered from 1 (``n``).
    """
    for key, member in value.items():
        if isinstance(member, list) and len(cast("list[Any]", member)) > 1:
            for n, item in enumerate(cast("list[Any]", member), 1):
                yield {"member": key, "n": n, "value": item}
        elif isinstance(member, str) and len(member) > _MAX_SHORT_TEXT:
            for n, line in enumerate(member.split("\n"), 1):
                yield {"member": key, "n": n, "text": line}
        else:
            yield {"member": key, "value": member}
