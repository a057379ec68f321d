"""From tables to a forest: keys are matched, and of each root as many children stay as its links declare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import TableError
from dpsyn_core.measure import draw_key, kept, name_hashes, record_hashes
from dpsyn_core.runs.trees.forest import Children, ChildShape, Forest, shapes_of
from dpsyn_core.runs.trees.keys import key_names
from dpsyn_core.schema import Codec, Codes, Encoded, Link, LinkedSchema, LinkedTable
from dpsyn_core.tables import naming, short

Bools = NDArray[np.bool_]
Rows = tuple[Encoded, Any, int]
"""Codes by the names in a key column, the names in the table's own key (None: not asked), and the number of rows."""
Reader = Callable[[LinkedTable, str, bool], Rows]
"""Gives the rows of a table. Asked with the table, the key column, and whether the table's own key is needed too."""
OWNER = "(strict: whether a table is refused is an exact answer about it, for the owner only)"


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """Records that have no place in the forest, private: for the owner alone.

    table: its name. blank: without a key, or with a cell that its schema has no place for. repeated: of a root, beside
    the one that stays. orphans: of a child, without a parent. beyond: of a child, beyond `max_children`, a role or an
    order that a parent's children share. shared: of a grandchild, with several parents of one name; these stay, with
    each of them.
    """

    table: str
    blank: int = 0
    repeated: int = 0
    orphans: int = 0
    beyond: int = 0
    shared: int = 0

    @property
    def any(self) -> bool:
        """Whether there are some."""
        return bool(self.blank or self.repeated or self.orphans or self.beyond or self.shared)

    def __add__(self, other: LeftOut) -> LeftOut:
        """Those of the same table in two parts of the roots."""
        return LeftOut(
            table=self.table,
            blank=self.blank + other.blank,
            repeated=self.repeated + other.repeated,
            orphans=self.orphans + other.orphans,
            beyond=self.beyond + other.beyond,
            shared=self.shared + other.shared,
        )

    def sentences(self) -> list[str]:
        """For the owner: what is left out, and what stays with several parents."""
        lost = (
            (self.blank, "have no key, or a cell that the schema has no place for"),
            (self.repeated, "repeat the key of another"),
            (self.orphans, "have no parent"),
            (self.beyond, "are more than their parent may have"),
        )
        kept = ((self.shared, "name a key that several parents have, and count with each"),)
        texts = [", ".join(f"{n:,} records {what}" for n, what in parts if n) for parts in (lost, kept)]
        return [
            f"table '{self.table}': {words}{end}" for words, end in zip(texts, (": left out", ""), strict=True) if words
        ]


def bounded(
    schema: LinkedSchema, tables: Mapping[str, Any], *, key: bytes | None = None, strict: bool = False
) -> tuple[Forest, tuple[LeftOut, ...]]:
    """Encodes and bounds linked tables.

    Guarantee: what stays of a root, and in which order, is a function of the key and of the records alone that carry
    the key of the root, or that of one of its children: its record in the root table (of several the one with the
    smallest keyed hash), its children, of which those with the smallest keyed hashes stay, and theirs. Records without
    a key and children without a parent are left out (docs/proofs/linked.md).

    Args:
        schema: public metadata.
        tables: pyarrow tables by name.
        key: 32 bytes; default: drawn from the operating system, anew for every run.
        strict: refuse what would be left out. Such a refusal is an exact answer about the data.

    Returns:
        The forest, and what was left out of each table, for the owner alone.

    Raises:
        TableError: a table or a column is missing; with `strict`, the above.
    """
    check_names(schema, tables)
    forest, lost = bounded_part(schema, tables, key=draw_key() if key is None else key, strict=strict)
    if strict:
        check_all_placed(lost)
    return forest, lost


def bounded_part(
    schema: LinkedSchema, tables: Mapping[str, Any], *, key: bytes, strict: bool
) -> tuple[Forest, tuple[LeftOut, ...]]:
    """As `bounded`, of some of the roots with all that hangs on them; strict: refuse cells without a place alone."""

    def read(table: LinkedTable, column: str, own: bool) -> Rows:
        given = tables[table.name]
        return *_encoded(table, column, given, strict, own=own), given.num_rows

    return bounded_rows(schema, read, key=key)


def bounded_rows(schema: LinkedSchema, read: Reader, *, key: bytes) -> tuple[Forest, tuple[LeftOut, ...]]:
    """As `bounded`, of rows that are encoded. read: gives the rows of each table; each is asked for once."""
    root, _, n = read(schema.root, schema.root_key, False)
    names = root.identifiers
    stays = kept(_positions(names), record_hashes(root, key), 1)
    repeated = 0 if schema.one_file else int((~stays).sum())  # one file repeats a root for each child
    shapes, encoded, left = shapes_of(schema), {}, {}
    names = {schema.root.name: names.filter(stays)}
    for i in schema.downward:
        link = schema.links[i]
        rows = read(schema[link.child], link.key, bool(schema.below(link.child)))
        encoded[i], names[link.child], left[i] = _children(schema, link, shapes[i], names[link.parent], rows, key)
    for i in reversed(schema.downward):
        below = schema.below(schema.links[i].child)
        if below:
            encoded[i] = encoded[i].with_columns(np.stack([shapes[b].codes(encoded[b]) for b in below]))
    lost = (_left(schema.root, n, root, repeated=repeated), *(left[i] for i in range(len(schema.links))))
    ordered = [encoded[i] for i in range(len(schema.links))]
    return Forest(
        roots=np.ascontiguousarray(root.codes[:, stays]),
        shapes=tuple(shape.codes(children) for shape, children in zip(shapes, ordered, strict=True)),
        children=tuple(ordered),
        above=tuple(schema.above(link) for link in schema.links),
    ), lost


def check_all_placed(lost: Sequence[LeftOut]) -> None:
    """Raises TableError for records that are left out: an exact answer about the tables."""
    for out in lost:
        if out.any:
            reasons = "; ".join(out.sentences()).replace(": left out", "")
            msg = f"{reasons}; correct the table, or leave strict out {OWNER}"
            raise TableError(msg)


def check_names(schema: LinkedSchema, tables: Mapping[str, Any]) -> None:
    """Raises TableError unless there is a table for each name, and no other."""
    expected = [t.name for t in schema.tables]
    for name in expected:
        if name not in tables:
            msg = f"there is no table '{name}'; the schema declares {', '.join(expected)}"
            raise TableError(msg)
    for name in tables:
        if name not in expected:
            msg = f"the schema has no table '{short(str(name))}'; it declares {', '.join(expected)}"
            raise TableError(msg)


def _encoded(table: LinkedTable, key: str, given: Any, strict: bool, *, own: bool = False) -> tuple[Encoded, Any]:
    """Codes and the names in the key column, without records that have no place; `kept` says which have one.

    own: also the names in the key column of the table, to which children refer; a record without one has no place.
    """
    codes: Codes = np.zeros((0, given.num_rows), dtype=np.uint8)
    here = np.ones(given.num_rows, dtype=bool)
    with naming(table.name):
        names = key_names(given, key)
        mine = key_names(given, str(table.key)) if own else None
        if table.columns is not None:
            encoded = Codec(table.columns).encode(given, individuals=False, strict=strict and given.num_rows > 0)
            codes, here = encoded.codes, here if encoded.kept is None else encoded.kept
    named = names.is_valid().to_numpy(zero_copy_only=False)
    if mine is not None:
        named &= mine.is_valid().to_numpy(zero_copy_only=False)
    encoded = Encoded(
        codes=np.ascontiguousarray(codes[:, named[here]]), identifiers=names.filter(named & here), kept=named & here
    )
    return encoded, None if mine is None else mine.filter(named & here)


def _left(table: LinkedTable, rows: int, found: Encoded, **more: int) -> LeftOut:
    return LeftOut(table=table.name, blank=rows - found.n_records, **more)


def _positions(names: Any) -> NDArray[np.int64]:
    """Of each record its place among the distinct names."""
    places: NDArray[np.int64] = names.indices.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return places


def _children(
    schema: LinkedSchema, link: Link, shape: ChildShape, parents: Any, rows: Rows, key: bytes
) -> tuple[Children, Any, LeftOut]:
    """The children of one link, bounded, and, where they have children themselves, their names.

    parents: names of the parents. Two roots may each hold a child of one name: what names it hangs on both.
    """
    import pyarrow as pa

    table, (encoded, names, n) = schema[link.child], rows
    once = parents.unique()
    place_of_name = _places(encoded.identifiers.dictionary, once)
    parent = place_of_name[_positions(encoded.identifiers)] if encoded.n_records else np.zeros(0, dtype=np.int64)
    hashes = record_hashes(encoded, key)
    if names is not None and len(names):  # children that are equal but for their names have children of their own
        hashes = hashes ^ name_hashes(names, bytes(reversed(key)))
    hashes = told_apart(hashes, parent)
    slot = _slots(shape, encoded.codes, schema)
    stays = parent >= 0
    orphans = int((~stays).sum())
    repeated = 0
    if names is not None and encoded.n_records:
        both = parent * max(len(names.dictionary), 1) + _positions(names)
        stays[stays] = kept(both[stays], hashes[stays], 1)
        repeated = encoded.n_records - orphans - int(stays.sum())
    for single in range(len(shape.single)):
        mine = np.flatnonzero(stays & (slot == single))
        stays[mine] = kept(parent[mine], hashes[mine], 1)
    if shape.distinct and shape.order is not None:
        both = parent * shape.distinct + encoded.codes[shape.order]
        stays[stays] = kept(both[stays], hashes[stays], 1)
    # single roles stay before others, which have no place without them
    order = np.lexsort((hashes, slot, parent))
    order = order[stays[order]]
    grouped = parent[order]
    starts = np.flatnonzero(np.append(True, grouped[1:] != grouped[:-1])) if len(order) else np.zeros(0, dtype=np.int64)
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    order = order[rank < link.max_children]
    of_parent = _places(parents, once)
    left = _left(
        table,
        n,
        encoded,
        orphans=orphans,
        repeated=repeated,
        beyond=encoded.n_records - orphans - repeated - len(order),
        shared=int((np.bincount(of_parent, minlength=len(once))[parent[order]] > 1).sum()),
    )
    if shape.order is not None:
        order = order[np.lexsort((hashes[order], encoded.codes[shape.order][order], parent[order]))]
    if len(once) < len(parents):
        order, parent = _on_each(order, parent, of_parent, len(once))
    else:
        parent = parent[order]
    children, order = _arranged(shape, encoded.codes, parent, slot, order, len(parents))
    return children, None if names is None else names.take(pa.array(order)), left


def _on_each(
    order: NDArray[np.int64], parent: NDArray[np.int64], of_parent: NDArray[np.int64], names: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Records in their order, and their parents, where several parents have one name: each has all of its children.

    Args:
        order: records, those of one name together and in their order.
        parent: of each record the place of the name.
        of_parent: of each parent the place of its name.
        names: how many there are.
    """
    counts = np.bincount(parent[order], minlength=names)
    starts = np.cumsum(counts) - counts
    taken = counts[of_parent]
    within = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken, taken)
    return order[np.repeat(starts[of_parent], taken) + within], np.repeat(np.arange(len(of_parent)), taken)


def told_apart(hashes: NDArray[np.uint64], parent: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Hashes in which equal children of one parent differ by how many of them there are already.

    Else equal siblings would always follow each other, and consecutive ones seem to be alike. Children that are equal
    are exchangeable: which of them is the first makes no difference. Mixed by the finalizer of splitmix64 (Steele, Lea
    and Flood 2014).
    """
    order = np.lexsort((hashes, parent))
    same = (hashes[order][1:] == hashes[order][:-1]) & (parent[order][1:] == parent[order][:-1])
    starts = np.flatnonzero(np.append(True, ~same)) if len(order) else np.zeros(0, dtype=np.int64)
    copies = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    out = np.empty_like(hashes)
    out[order] = hashes[order] + copies.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        out = (out ^ (out >> np.uint64(shift))) * np.uint64(factor)
    return out ^ (out >> np.uint64(31))


def _places(names: Any, parents: Any) -> NDArray[np.int64]:
    """Of each name its place among those of the parents; -1 where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = parents.cast(pa.large_string())
    positions = pc.index_in(names.cast(pa.large_string()), value_set=plain)
    places: NDArray[np.int64] = pc.fill_null(positions, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return places


def _slots(shape: ChildShape, codes: Codes, schema: LinkedSchema) -> NDArray[np.int64]:
    """Of each child the place of its single role; the number of these for all others."""
    slot = np.full(codes.shape[1], len(shape.single), dtype=np.int64)
    if shape.role is not None:
        keys = schema[shape.link.child].coded[shape.role].keys
        for place, value in enumerate(shape.single):
            slot[codes[shape.role] == keys.index(value)] = place
    return slot


def _arranged(
    shape: ChildShape,
    codes: Codes,
    parent: NDArray[np.int64],
    slot: NDArray[np.int64],
    order: NDArray[np.int64],
    parents: int,
) -> tuple[Children, NDArray[np.int64]]:
    """Children, and the records in the order of `Children.parents`; parent: of each record in `order`."""
    singles, places = [], []
    for single in range(len(shape.single)):
        at = np.flatnonzero(slot[order] == single)
        there, out = np.zeros(parents, dtype=bool), np.zeros((len(codes), parents), dtype=codes.dtype)
        there[parent[at]] = True
        out[:, parent[at]] = codes[:, order[at]]
        singles.append((there, out))
        places.append(order[at])
    rest = np.flatnonzero(slot[order] == len(shape.single))
    children = Children(
        singles=tuple(singles),
        rest=np.ascontiguousarray(codes[:, order[rest]]),
        counts=np.bincount(parent[rest], minlength=parents).astype(np.int64),
    )
    return children, np.concatenate([*places, order[rest]]).astype(np.int64)
