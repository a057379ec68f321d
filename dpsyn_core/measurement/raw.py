"""Raw columns before a schema exists: contribution bounding and counts of distinct values, as discovery needs them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.codec import Encoded, identifiers
from dpsyn_core.schema.document import SchemaUnit
from dpsyn_core.sources.bounding import kept, record_hashes
from dpsyn_core.tables import canonical
from dpsyn_core.tables.headers import locate


def bounded(table: Any, unit: SchemaUnit) -> Any:
    """At most unit.max_records rows of each individual, by a keyed hash of the row's content. Private.

    Without an identifier every row is an individual of its own, or the owner vouches for max_records: all rows are
    kept.
    Rows without a name are left out: nobody can say whose they are.
    """
    if unit.identifier is None:
        return table
    key = os.urandom(32)
    names = named(table, unit.identifier)
    table, names = table.filter(names.is_valid()), names.filter(names.is_valid())
    nothing = np.zeros((0, table.num_rows), dtype=np.uint64)
    content = [
        record_hashes(Encoded(codes=nothing, identifiers=_texts(table.column(i))), key)
        for i in range(table.num_columns)
    ]
    hashes = record_hashes(Encoded(codes=np.stack(content), identifiers=names), key)
    groups = names.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return table.filter(kept(groups, hashes, unit.max_records))


def named(table: Any, identifier: str) -> Any:
    """The names of individuals, as `identifiers` gives them."""
    return identifiers(table.column(locate(table.column_names, [identifier])[0]), identifier)


def distinct_counts(table: Any, name: str, unit: SchemaUnit) -> tuple[list[str], NDArray[np.int64]]:
    """Distinct non-blank texts of a column and how many individuals (or records) have each. Private."""
    column = _texts(table.column(locate(table.column_names, [name])[0]))
    index = column.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    if unit.identifier is not None:
        owners = named(table, unit.identifier).indices.to_numpy(zero_copy_only=False).astype(np.int64)
        index = np.unique(np.stack([owners, index]), axis=1)[1]
    keys = column.dictionary.to_pylist()
    counts = np.bincount(index, minlength=len(keys)).astype(np.int64)
    return [k for k in keys if k != ""], counts[[i for i, k in enumerate(keys) if k != ""]]


def _texts(column: Any) -> Any:
    """A column as a dictionary array of canonical texts, as a schema's values are compared; blanks are ''."""
    import pyarrow as pa
    import pyarrow.compute as pc

    entries, index = canonical.uniques(column)
    texts = canonical.to_text(entries)
    blank = pa.array(canonical.blanks(texts))
    texts = pc.utf8_normalize(pc.if_else(blank, "", texts), "NFC").cast(pa.large_string())
    texts = pa.concat_arrays([texts, pa.array([""], pa.large_string())])
    at = np.where(index < 0, len(texts) - 1, index)
    unique, inverse = np.unique(np.asarray(texts.to_pylist(), dtype=object), return_inverse=True)
    return pa.DictionaryArray.from_arrays(
        pa.array(inverse.reshape(-1)[at].astype(np.int64)), pa.array(unique.tolist(), pa.large_string())
    )
