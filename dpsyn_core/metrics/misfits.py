"""Cells of a synthetic table that its schema has no place for: they are judged, as what they are, and not refused.

A table that somebody else made, or that was changed since, may hold blank cells where none are declared, or values that
are not listed. The schema of the comparison gets a cell for them. A column of which no cell fits was made with another
schema and stays refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsyn_core.errors import TableError
from dpsyn_core.schema.attributes import CodedColumn
from dpsyn_core.schema.categorical import CategoricalAttribute, match_entries
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.canonical import blanks, to_text, uniques
from dpsyn_core.tables.headers import locate


def widened(schema: Schema, synthetic: Any) -> Schema:
    """The schema with cells for blank cells and for other values where the synthetic table needs them."""
    try:
        at = locate(synthetic.column_names, [a.name for a in schema.coded])
    except TableError:  # whoever encodes the table says so
        return schema
    more = {}
    for attribute, i in zip(schema.coded, at, strict=True):
        needed = _needed(synthetic.column(i), attribute)
        if needed:
            more[attribute.name] = attribute.model_copy(update=needed)
    if not more:
        return schema
    return schema.model_copy(update={"attributes": tuple(more.get(a.name, a) for a in schema.attributes)})


def changed(before: Schema, after: Schema) -> set[str]:
    """The attributes that have further cells."""
    return {a.name for a, b in zip(before.coded, after.coded, strict=True) if a.size != b.size}


def _needed(column: Any, attribute: CodedColumn) -> dict[str, bool]:
    if isinstance(attribute, CategoricalAttribute):
        found, blank, index = match_entries(column, attribute)
        used = np.zeros(len(found), dtype=bool)
        used[index] = True
        unlisted = (found < 0) & ~blank & used
        needed = {"missing": True} if (blank & used).any() and not attribute.missing else {}
        return needed | ({"other": True} if unlisted.any() and (found >= 0)[used].any() and not attribute.other else {})
    if attribute.missing:
        return {}
    entries, index = uniques(column)
    empty = np.append(blanks(to_text(entries)), True)
    return {"missing": True} if empty[index].any() else {}
