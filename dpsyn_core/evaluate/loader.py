"""Builds a comparison from tables and their schema.

A table that somebody else made, or that was changed since, may hold blank cells where none are declared, or values that
are not listed. They are judged as what they are and not refused: the schema of the comparison gets a cell for them. A
column of which no cell fits was made with another schema and stays refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dpsyn_core.errors import TableError
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.evaluate.comparison import Codes, Comparison, Floats, Roles
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute, match_entries
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.attributes.numeric import NumericAttribute
from dpsyn_core.schema.attributes.registry import CodedColumn
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.rule_breaks import rule_breaks
from dpsyn_core.tables.cells import numbers as casting
from dpsyn_core.tables.cells.canonical import blanks, has_decimal_comma, to_text, uniques
from dpsyn_core.tables.headers import locate

FAR = 1e150  # numbers farther out than this have squares beyond all floats
KEPT = 8  # columns of floats kept in memory


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


def compare_tables(
    schema: Schema,
    synthetic: Any,
    real: Any = None,
    *,
    held_out: Any = None,
    roles: Roles | None = None,
    measurements: Sequence[Measurement] = (),
    real_of: int | None = None,
    synthetic_of: int | None = None,
) -> Comparison:
    """A comparison of pyarrow tables, encoded by one schema, so that numbers meet on common bins.

    Blank and unlisted cells of the synthetic table get cells of their own where the schema has none.

    Args:
        schema: of both tables.
        synthetic: the synthetic table; identifier columns are not asked of it.
        real: the real table, or None for metrics that read released values alone.
        held_out: real records that the synthesizer never saw.
        roles: who is the income, the group, the sides, the target; None: guessed from the schema.
        measurements: what was released on the way.
        real_of: how many records the real table has, where a random sample of it is given.
        synthetic_of: the same for the synthetic one.

    Raises:
        TableError: a column is missing, or holds a cell that the schema has no place for; it names the table and
            the column, never the cell.
    """
    declared, schema = schema, widened(schema, synthetic)
    further = changed(declared, schema)
    coded = schema.coded
    codes: dict[str, Codes] = {}
    values: dict[str, Columns] = {}
    kept: dict[str, Any] = {}  # the tables, without records that the schema has no place for
    for what, table in (("synthetic", synthetic), ("real", real), ("held-out", held_out)):
        if table is not None:
            codes[what], described = encode(schema, table, what)
            values[what] = numbers(schema, described, codes[what])
            kept[what] = described
    names = set(schema.domain().names)  # beside these, times between dates may have been measured
    return Comparison(
        domain=schema.domain(),
        synthetic=codes["synthetic"],
        real=codes.get("real"),
        held_out=codes.get("held-out"),
        real_values=values.get("real", {}),
        synthetic_values=values["synthetic"],
        held_out_values=values.get("held-out", {}),
        real_dates=dates(schema, kept["real"]) if "real" in kept else {},
        synthetic_dates=dates(schema, kept["synthetic"]),
        date_units={a.name: a.unit_seconds for a in coded if isinstance(a, DatetimeAttribute)},
        bounds={a.name: (float(a.min), float(a.max)) for a in coded if isinstance(a, NumericAttribute)},
        labels={a.name: tuple(a.labels()) for a in coded},
        measurements=[m for m in measurements if names.issuperset(m.attributes) and further.isdisjoint(m.attributes)],
        roles=roles or Roles(),
        rules=rule_breaks(declared, kept["synthetic"], kept.get("real")),
        real_of=None if real_of is None else round(real_of * codes["real"].shape[1] / real.num_rows),
        synthetic_of=synthetic_of,
    )


def encode(schema: Schema, table: Any, what: str) -> tuple[Codes, Any]:
    """Codes of a table, without asking for its identifier column, and the records of it that the schema describes.

    Records of private tables that the schema has no place for are left out, as they are of a run. A synthetic table
    must fit as a whole, else it was made with another schema. Raises TableError for one that does not fit, and for a
    table of which no record is left.
    """
    anonymous = schema.model_copy(update={"unit": schema.unit.model_copy(update={"identifier": None})})
    try:
        encoded = Codec(anonymous).encode(table, strict=what == "synthetic")
    except TableError as error:
        msg = f"the {what} table: {error}"
        raise TableError(msg) from error
    if encoded.n_records == 0:
        msg = f"the {what} table has no records that the schema describes; there is nothing to compare"
        raise TableError(msg)
    return encoded.codes, table if encoded.kept is None else table.filter(encoded.kept)


class Columns(Mapping[str, Floats]):
    """Exact numbers of attributes, read when they are asked for: a wide table would not fit in memory as floats."""

    def __init__(self, readers: Mapping[str, Callable[[], Floats]]) -> None:
        """Takes one reader an attribute; keeps the columns that were used last."""
        self._readers = readers
        self._read = lru_cache(maxsize=KEPT)(lambda name: readers[name]())

    def __getitem__(self, name: str) -> Floats:
        """The numbers of an attribute, NaN where missing."""
        if name not in self._readers:
            raise KeyError(name)
        return self._read(name)

    def __contains__(self, name: object) -> bool:
        """Whether an attribute has numbers; reads nothing."""
        return name in self._readers

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._readers)

    def __len__(self) -> int:
        """How many attributes have numbers."""
        return len(self._readers)


def numbers(schema: Schema, table: Any, codes: Codes) -> Columns:
    """Numbers of the numeric attributes and of categories that are numbers, listed or not; NaN for missing cells."""
    at = locate(table.column_names, [a.name for a in schema.coded])
    comma = has_decimal_comma(table)
    readers: dict[str, Callable[[], Floats]] = {}
    for row, (attribute, i) in enumerate(zip(schema.coded, at, strict=True)):
        if isinstance(attribute, NumericAttribute):
            readers[attribute.name] = partial(_cast, table.column(i), attribute, comma)
        elif isinstance(attribute, CategoricalAttribute):
            middles = attribute.middles()
            if middles is not None:
                readers[attribute.name] = partial(_listed, table.column(i), attribute, middles, codes[row], comma)
    return Columns(readers)


def dates(schema: Schema, table: Any) -> Columns:
    """Dates and times as days or seconds since 1970, NaN where missing."""
    at = locate(table.column_names, [a.name for a in schema.coded])
    pairs = zip(schema.coded, at, strict=True)
    return Columns({a.name: partial(_date, table.column(i), a) for a, i in pairs if isinstance(a, DatetimeAttribute)})


def _listed(column: Any, attribute: CategoricalAttribute, middles: Floats, codes: Codes, comma: bool) -> Floats:
    """What the listed values stand for; unlisted ones as they are written."""
    out = np.asarray(middles[codes])
    at = np.flatnonzero(np.isnan(out) & (codes >= len(attribute.values)))
    if len(at):
        found, valid = casting.to_numbers(column.take(at), whole=False, comma=comma, written=None)
        out[at] = np.where(valid, np.clip(found.astype(np.float64), -FAR, FAR), np.nan)
    return out


def _date(column: Any, attribute: DatetimeAttribute) -> Floats:
    found, valid = attribute.seconds_of(column)
    return np.where(valid, (found // attribute.unit_seconds).astype(np.float64), np.nan)


def _cast(column: Any, attribute: NumericAttribute, comma: bool) -> Floats:
    """The numbers as they are written; only those whose squares have no float are clamped to the public range."""
    found, valid = casting.to_numbers(
        column, whole=attribute.dtype == "integer", comma=comma, written=attribute.written
    )
    out = np.where(valid, found.astype(np.float64), np.nan)
    return np.asarray(np.where(np.abs(out) > FAR, np.clip(out, float(attribute.min), float(attribute.max)), out))
