"""Keys of linked tables: the text that they match by, and whether they hold in synthetic tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema import LinkedSchema, identifiers
from dpsyn_core.tables import locate

Ints = NDArray[np.int64]
WHOLE = r"^(0|-?[1-9][0-9]*)\.0+$"  # how a program writes a whole number that stands in a column of floats


@dataclass(frozen=True, kw_only=True, slots=True)
class KeysOfLink:
    """What the keys of one link hold, counted in the tables.

    parents, children: records. orphans: children whose key no parent has. repeated: parents whose key another one has.
    most: children of the parent that has most. allowed: what the link declares. childless: parents without a child.
    """

    parent: str
    child: str
    parents: int
    children: int
    orphans: int
    repeated: int
    most: int
    allowed: int
    childless: int

    @property
    def hold(self) -> bool:
        """Whether every child has one parent, and no parent too many children."""
        return not self.orphans and not self.repeated and self.most <= self.allowed


def key_names(table: Any, key: str) -> Any:
    """The column that names roots, as `identifiers` reads it, with one name for 5, "5", 5.0 and "5.0".

    Tables that were written by different programs have the same keys as text, as whole numbers or with a fraction of
    zeros. Which root a record names depends on that cell alone: 05, 5.5 and 5,0 are other keys in every table.

    Args:
        table: pyarrow.
        key: the column.

    Returns:
        A pyarrow dictionary array (n,) of text; null where there is no name.

    Raises:
        TableError: the column is missing.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(locate(table.column_names, [key])[0])
    names = identifiers(column, key)
    if pa.types.is_integer(column.type):
        return names
    merged = pc.replace_substring_regex(names.dictionary, WHOLE, r"\1").dictionary_encode()
    return pa.DictionaryArray.from_arrays(merged.indices.take(names.indices), merged.dictionary)


def distinct_keys(table: Any, key: str) -> tuple[Any, Ints]:
    """The distinct names in a column of keys as a pyarrow array, and the first row of each; blank keys are none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = key_names(table, key).cast(pa.string())
    names = pc.drop_null(pc.unique(text))
    rows: Ints = pc.index_in(names, value_set=text).to_numpy(zero_copy_only=False).astype(np.int64)
    return names, rows


def places_of_keys(table: Any, key: str, names: Any) -> Ints:
    """Of each row the place of its key among the names of `distinct_keys`; -1 where it is none of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    positions = pc.index_in(key_names(table, key).cast(pa.string()), value_set=names)
    places: Ints = pc.fill_null(positions, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return places


def check_keys(schema: LinkedSchema, tables: Mapping[str, Any]) -> tuple[KeysOfLink, ...]:
    """Counts keys in tables, link by link; of synthetic tables that is public.

    Args:
        schema: of the tables.
        tables: pyarrow tables by name; the table of one file by the name of the schema.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    out = []
    for link in schema.links:
        parent, child = (tables[schema.name if schema.one_file else n] for n in (link.parent, link.child))
        keys = parent.column(str(schema[link.parent].key)).combine_chunks()
        names = pc.unique(keys) if schema.one_file else keys  # in one file a key stands in each row of its person
        place = pc.index_in(child.column(link.key).combine_chunks(), value_set=pc.unique(names))
        counts = np.bincount(pc.drop_null(pa.chunked_array([place])).to_numpy(), minlength=len(pc.unique(names)))
        out.append(
            KeysOfLink(
                parent=link.parent,
                child=link.child,
                parents=len(names),
                children=child.num_rows,
                orphans=place.null_count,
                repeated=len(names) - len(pc.unique(names)),
                most=int(counts.max(initial=0)),
                allowed=link.max_children,
                childless=int((counts == 0).sum()),
            )
        )
    return tuple(out)
