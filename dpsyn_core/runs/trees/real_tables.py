"""The real tables of a run: whole, or divided by root among private files where they exceed memory. Private.

All records that hang on one root meet in one part, chosen by a keyed hash of the root's key. What stays of a root is a
function of its records and of the key of the run alone (`bounding.bounded`): so it is what stays in memory under
the same key, and counts of the parts add up to the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import NO_RECODES, Recodes
from dpsyn_core.measure import Counter, MemoryCounter, Store, StoredCounter, draw_key, full, text_hashes
from dpsyn_core.runs.trees.bounding import LeftOut, bounded_part, check_all_placed, check_names
from dpsyn_core.runs.trees.forest import Children, Forest, shapes_of
from dpsyn_core.runs.trees.keys import key_names
from dpsyn_core.runs.trees.measurement import counter_of, sibling_counter
from dpsyn_core.runs.trees.stages import Stage, View, root_columns
from dpsyn_core.schema import AttributeSet, Codec, Domain, LinkedSchema, LinkedTable
from dpsyn_core.scratch import Scratch, scratch
from dpsyn_core.tables import Batches, joined, locate, naming

Ints = NDArray[np.int64]
SALT = np.uint64(0x5851F42D4C957F2D)  # so that the part of a root says nothing about the hashes of its records
LENGTH = 8  # bytes that say how long a piece of a file is
NAME, PART = "name", "part"  # columns of the files that say in which parts a child's own key is


class SummedCounter:
    """Counts records that lie in several parts: sums of what counters of the parts count. See `Counter`."""

    def __init__(self, domain: Domain, parts: Sequence[Callable[[], Counter]]) -> None:
        """parts: each makes the counter of a part anew, so that no two are in memory at a time."""
        self.domain, self._parts = domain, parts

    def marginal(self, attributes: AttributeSet, recodes: Recodes = NO_RECODES) -> NDArray[np.int64]:
        """Exact sums, one axis an attribute."""
        return self.marginals([attributes], recodes)[0]

    def marginals(self, sets: Sequence[AttributeSet], recodes: Recodes = NO_RECODES) -> list[NDArray[np.int64]]:
        """Many, in one pass through the parts."""
        out: list[NDArray[np.int64]] = []
        for counter in self._parts:
            tables = counter().marginals(sets, recodes)
            out = [a + b for a, b in zip(out, tables, strict=True)] if out else tables
        return out


class RealForests:
    """Forests that hold different roots. What is counted of all is the sum over them, in whatever order they come."""

    def __init__(self, schema: LinkedSchema, parts: Sequence[Callable[[], Forest]], roots: Counter) -> None:
        """parts: each gives a forest when it is called. roots: counts the root table, with the numbers of children."""
        self._schema, self._parts, self.roots = schema, parts, roots

    @classmethod
    def whole(cls, forest: Forest, schema: LinkedSchema) -> RealForests:
        """One forest in memory."""
        return cls(schema, [lambda: forest], MemoryCounter(stacked(forest, schema), root_domain(schema)))

    def children(self, stage: Stage) -> Counter:
        """Counts the children of a stage."""
        return self._summed(stage.view.domain, lambda part: counter_of(part(), stage, self._schema))

    def siblings(self, stage: Stage, view: View) -> Counter:
        """Counts consecutive siblings of a stage, which has this view of them."""
        return self._summed(view.domain, lambda part: sibling_counter(part(), stage))

    def _summed(self, domain: Domain, made: Callable[[Callable[[], Forest]], Any]) -> Counter:
        if len(self._parts) == 1:
            counter: Counter = made(self._parts[0])
            return counter
        return SummedCounter(domain, [partial(made, part) for part in self._parts])


def root_domain(schema: LinkedSchema) -> Domain:
    """The attributes of the root, with the shapes of its links."""
    return Domain(tuple(replace(a, name=f"{schema.root.name}.{a.name}") for a in root_columns(schema)))


def stacked(forest: Forest, schema: LinkedSchema) -> Any:
    """The root's codes with its shapes below them, in the narrowest unsigned type that holds all of them."""
    rows = [*forest.roots, *(forest.shapes[i] for i in schema.below(schema.root.name))]
    most = max((a.size for a in root_columns(schema)), default=1)
    return np.stack(rows).astype(np.min_scalar_type(most - 1))


class StoredForest:
    """A forest in a private file, each array in a narrow type; called, it is read back."""

    def __init__(self, forest: Forest, schema: LinkedSchema, file: BinaryIO) -> None:
        """Writes it to the end of the file."""
        self._schema, self._above, self._file = schema, forest.above, file
        self._at: list[tuple[int, Any, tuple[int, ...]]] = []  # of each array: where it begins, its type and shape
        arrays: list[NDArray[Any]] = [forest.roots, *forest.shapes]
        for children in forest.children:
            arrays += [a for single in children.singles for a in single] + [children.rest, children.counts]
        file.seek(0, 2)
        for array in arrays:
            kind = array.dtype if array.dtype == bool else np.min_scalar_type(int(array.max(initial=0)))
            self._at.append((file.tell(), kind, array.shape))
            file.write(np.ascontiguousarray(array, dtype=kind).data)

    def __call__(self) -> Forest:
        """The forest."""
        forests = iter([self._read(*at) for at in self._at])
        roots = next(forests)
        shapes = tuple(next(forests).astype(np.int64) for _ in self._schema.links)
        children = []
        for shape in shapes_of(self._schema):
            singles = tuple((next(forests), next(forests)) for _ in shape.single)
            children.append(Children(singles=singles, rest=next(forests), counts=next(forests).astype(np.int64)))
        return Forest(roots=roots, shapes=shapes, children=tuple(children), above=self._above)

    def _read(self, start: int, kind: Any, shape: tuple[int, ...]) -> NDArray[Any]:
        self._file.seek(start)
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        return np.frombuffer(self._file.read(size), dtype=kind).reshape(shape)


class Spill:
    """Rows of one table in a private file: pieces in Arrow's stream format, each with its length before it."""

    def __init__(self, file: BinaryIO) -> None:
        """file: empty, open for reading and writing."""
        self.file = file

    def write(self, table: Any) -> None:
        """Adds rows. Raises SizeError."""
        import pyarrow as pa

        piece = pa.BufferOutputStream()
        with pa.ipc.new_stream(piece, table.schema) as stream:
            stream.write_table(table)
        data = piece.getvalue()
        try:
            self.file.write(data.size.to_bytes(LENGTH, "little"))
            self.file.write(data)
        except OSError as error:
            raise full(error) from error

    def pieces(self) -> Iterator[Any]:
        """The tables that were written, one after the other."""
        import pyarrow as pa

        self.file.seek(0)
        while length := self.file.read(LENGTH):
            yield pa.ipc.open_stream(self.file.read(int.from_bytes(length, "little"))).read_all()


@contextmanager
def stored_forests(
    schema: LinkedSchema, tables: Mapping[str, Batches], *, parts: int, strict: bool = False, key: bytes | None = None
) -> Iterator[RealForests]:
    """Bounded forests of all roots, in private files; on leaving, these are gone.

    Args:
        schema: public metadata.
        tables: by name; each is read once, grandchildren are written twice.
        parts: among which roots are divided.
        strict: see `bounded`.
        key: 32 bytes; default: drawn from the operating system.

    Raises:
        TableError: see `bounded`.
        SizeError: the scratch folder is full.
    """
    check_names(schema, tables)
    key = draw_key() if key is None else key
    columns = {t.name: _columns(t, schema, tables[t.name]) for t in schema.tables}
    with scratch() as room:
        spills = _divided(schema, tables, columns, key, parts, room)
        file, store = room.file(), Store(room.file(), root_domain(schema))
        forests: list[StoredForest] = []
        lost: list[LeftOut] = []
        for part in range(parts):
            arrow = {n: joined(list(spilled[part].pieces()), columns[n]) for n, spilled in spills.items()}
            forest, left = bounded_part(schema, arrow, key=key, strict=strict)
            lost = [a + b for a, b in zip(lost, left, strict=True)] if lost else list(left)
            for spilled in spills.values():
                room.close(spilled[part].file)
            store.append(stacked(forest, schema))
            forests.append(StoredForest(forest, schema, file))
        store.finish()
        if strict:
            check_all_placed(lost)
        yield RealForests(schema, forests, StoredCounter(store))


def _columns(table: LinkedTable, schema: LinkedSchema, batches: Batches) -> list[str]:
    """The columns of a table that are read, in its order. Raises TableError where one is missing."""
    names = {str(k) for k in (table.key, *(link.key for link in schema.links if link.child == table.name)) if k}
    if table.columns is not None:
        names |= set(Codec(table.columns).reads)
    with naming(table.name):
        return [batches.columns[i] for i in sorted(locate(batches.columns, sorted(names)))]


def _divided(
    schema: LinkedSchema,
    tables: Mapping[str, Batches],
    columns: Mapping[str, list[str]],
    key: bytes,
    parts: int,
    room: Scratch,
) -> dict[str, list[Spill]]:
    """The rows of each table by part. Of grandchildren, the part is that of the child whose key they hold."""
    out = {t.name: [Spill(room.file()) for _ in range(parts)] for t in schema.tables}
    salted = (np.frombuffer(key, dtype=np.uint64) ^ SALT).tobytes()
    for rows in _batches(tables[schema.root.name], columns[schema.root.name]):
        _write(rows, _part(key_names(rows, schema.root_key), salted, parts), out[schema.root.name])
    places: dict[str, list[Spill]] = {}  # of each table with children: keys and their parts, by a hash of the key
    for i in schema.downward:
        link = schema.links[i]
        if schema.above(link) is None:
            key_column = schema[link.child].key if schema.below(link.child) else None
            places[link.child] = [Spill(room.file()) for _ in range(parts)] if key_column is not None else []
            for rows in _batches(tables[link.child], columns[link.child]):
                part = _part(key_names(rows, link.key), salted, parts)
                _write(rows, part, out[link.child])
                if key_column is not None:
                    _write_places(key_names(rows, key_column), part, salted, places[link.child])
            continue
        between = [Spill(room.file()) for _ in range(parts)]
        for rows in _batches(tables[link.child], columns[link.child]):
            _write(rows, _part(key_names(rows, link.key), salted, parts), between)
        for of_parents, spill in zip(places[link.parent], between, strict=True):
            _hang(spill, of_parents, link.key, out[link.child])
            room.close(spill.file)
    for spill in (s for key_column in places.values() for s in key_column):
        room.close(spill.file)
    return out


def _batches(batches: Batches, names: Sequence[str]) -> Iterator[Any]:
    """The parts of a table, with these columns, text as text: a piece of a batch would carry all of its dictionary."""
    import pyarrow as pa

    for table in batches.read():
        rows = table.select(names)
        for i, field in enumerate(rows.schema):
            if pa.types.is_dictionary(field.type):
                rows = rows.set_column(i, field.name, rows.column(i).cast(field.type.value_type))
        if rows.num_rows:
            yield rows.combine_chunks()


def _part(names: Any, salted: bytes, parts: int) -> Ints:
    """The part of each name; 0 where there is none, which is left out there."""
    import pyarrow.compute as pc

    index = pc.fill_null(names.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    of_name = np.append((text_hashes(names.dictionary, salted) % np.uint64(parts)).astype(np.int64), 0)
    part: Ints = of_name[index]
    return part


def _write(rows: Any, part: Ints, spills: Sequence[Spill]) -> None:
    """Adds rows to the files of their parts."""
    import pyarrow as pa

    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.arange(len(spills)), side="right")
    sorted_rows, begin = rows.take(pa.array(order)), 0
    for spill, end in zip(spills, ends.tolist(), strict=True):
        if end > begin:
            spill.write(sorted_rows.slice(begin, end - begin).combine_chunks())
        begin = end


def _write_places(names: Any, part: Ints, salted: bytes, spills: Sequence[Spill]) -> None:
    """Adds the parts in which keys are to the files of these keys."""
    import pyarrow as pa

    rows = pa.table({NAME: names.cast(pa.large_string()), PART: part})
    _write(rows, _part(names, salted, len(spills)), spills)


def _hang(spill: Spill, of_parents: Spill, key: str, out: Sequence[Spill]) -> None:
    """Hands grandchildren to every part in which a child of their parent's name is; to the first where none is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pairs = [p.filter(p.column(NAME).is_valid()) for p in of_parents.pieces()]
    kept = (
        pa.concat_tables(pairs)
        if pairs
        else pa.table({NAME: pa.array([], pa.large_string()), PART: pa.array([], pa.int64())})
    )
    names = pc.unique(kept.column(NAME))
    place = pc.index_in(kept.column(NAME), value_set=names).to_numpy(zero_copy_only=False).astype(np.int64)
    both = np.unique(place * len(out) + kept.column(PART).to_numpy())  # each name once in each part
    of_name, part = both // len(out), both % len(out)
    counts = np.bincount(of_name, minlength=len(names))
    starts = np.cumsum(counts) - counts
    for rows in spill.pieces():
        places = pc.index_in(key_names(rows, key).cast(pa.large_string()), value_set=names)
        at = pc.fill_null(places, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        some = np.flatnonzero(at >= 0)
        taken = counts[at[some]]
        within = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken, taken)
        which = np.concatenate([np.flatnonzero(at < 0), np.repeat(some, taken)])
        parts = np.concatenate(
            [np.zeros(int((at < 0).sum()), dtype=np.int64), part[np.repeat(starts[at[some]], taken) + within]]
        )
        _write(rows.take(pa.array(which)), parts, out)
