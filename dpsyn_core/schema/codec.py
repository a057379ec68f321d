"""Codec: a table into codes by its schema, and codes back into a table of the same columns and kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError, TableError
from dpsyn_core.schema import categories
from dpsyn_core.schema.attributes import (
    CategoricalAttribute,
    CodedColumn,
    DatetimeAttribute,
    DerivedAttribute,
    NumericAttribute,
    common_type,
)
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables import casting, instants
from dpsyn_core.tables.canonical import canonical
from dpsyn_core.tables.headers import locate, short

Codes = NDArray[np.unsignedinteger[Any]]
Column = NDArray[Any]
NO_OTHER = "add the value to the schema, or declare other: true"
NO_MISSING = "declare missing: true for it, or fill the blank cells"


@dataclass(frozen=True, kw_only=True, slots=True)
class Encoded:
    """A table as codes, private.

    codes: unsigned (n_attributes, n_records), C-contiguous. identifiers: pyarrow array (n_records,) of text that
    names each record's individual, or None when every record is an individual of its own.
    """

    codes: Codes
    identifiers: Any = None

    @property
    def n_records(self) -> int:
        """Number of records, private."""
        return int(self.codes.shape[1])


class Codec:
    """Encodes and decodes tables of one schema."""

    def __init__(self, schema: Schema) -> None:
        """Prepares the domain; reads no data."""
        self.schema = schema
        self.domain = schema.domain()
        self.dtype = np.min_scalar_type(max(self.domain.sizes) - 1)

    def encode(self, table: Any, *, individuals: bool = True) -> Encoded:
        """Codes of a pyarrow table with text or typed columns.

        A categorical value outside its list goes to the `other` cell, numbers and dates outside their range are
        clamped, blank cells (and cells that cannot be cast) go to the `missing` cell.

        Args:
            table: pyarrow table; columns that the schema does not name are left out.
            individuals: read the identifier column of the unit too; False for tables that have none, such as
                synthetic ones, and whenever nothing is released.

        Raises:
            TableError: a column is missing, or holds a cell that the schema has no place for; it names the column,
                never the cell.
        """
        at = locate(table.column_names, [a.name for a in self.schema.coded])
        key = self.schema.unit.identifier if individuals else None
        if table.num_rows == 0:
            msg = "the table has no records; give a table with at least one"
            raise TableError(msg)
        key_at = 0 if key is None else locate(table.column_names, [key])[0]
        comma = (table.schema.metadata or {}).get(b"dpsyn.decimal") == b","
        codes = np.empty((len(at), table.num_rows), dtype=self.dtype)
        for row, (attribute, i) in enumerate(zip(self.schema.coded, at, strict=True)):
            codes[row] = encode_column(table.column(i), attribute, comma=comma)
        if key is None:
            return Encoded(codes=codes)
        return Encoded(codes=codes, identifiers=identifiers(table.column(key_at), key))

    def decode(
        self,
        codes: Codes,
        *,
        rng: Generator,
        order: Sequence[str] | None = None,
        scores: Mapping[str, NDArray[np.floating]] | None = None,
    ) -> Any:
        """A pyarrow table of the coded attributes, drawn inside their bins.

        Args:
            codes: (n_attributes, n_records).
            rng: for positions inside bins; post-processing.
            order: column names of the original table; the output keeps their order (default: the schema's).
            scores: for numbers and dates, a score a record (n_records,): the values drawn in a bin are handed out in
                the order of the scores of its records. Default: by chance.

        Returns:
            pyarrow table: whole numbers stay whole, dates are dates (text where the schema declares how they
            are written), `missing` is null; `other` is the text
            '(other)' in text columns and null elsewhere. Identifiers and ignored columns are not in it.
        """
        import pyarrow as pa

        if codes.shape[0] != len(self.schema.coded):
            msg = f"{codes.shape[0]} rows of codes do not fit {len(self.schema.coded)} attributes"
            raise EngineError(msg)
        rows = dict(zip(self.domain.names, codes, strict=True))
        given = {} if scores is None else scores
        columns = {a.name: decode_column(rows[a.name], a, rng, scores=given.get(a.name)) for a in self.schema.coded}
        for a in self.schema.attributes:
            if isinstance(a, DerivedAttribute):
                columns[a.name] = _derived(rows[a.origin], a, self.schema[a.origin])
        table = pa.table({name: columns[name] for name in self.schema.output_names})
        if order is None:
            return table
        known = [n for n in table.column_names if n in order]
        at = locate(list(order), known)
        rest = [n for n in table.column_names if n not in order]
        return table.select([known[i] for i in np.argsort(at)] + rest)


def encode_column(column: Any, attribute: CodedColumn, *, comma: bool = False) -> NDArray[np.intp]:
    """Codes (n,) of one pyarrow ChunkedArray. Raises TableError that names the column, never a cell."""
    if isinstance(attribute, CategoricalAttribute):
        return _encode_categories(column, attribute)
    try:
        if isinstance(attribute, DatetimeAttribute):
            seconds, valid = casting.to_instants(column, attribute.formats)
            codes = attribute.binning.find(seconds // attribute.unit_seconds)
        else:
            numbers, valid = casting.to_numbers(column, whole=attribute.dtype == "integer", comma=comma)
            codes = attribute.binning.find(numbers)
            for i, value in enumerate(attribute.special_values):
                codes[numbers == value] = attribute.binning.size + i
    except TableError as error:
        msg = f"column '{short(attribute.name)}' is declared {attribute.kind}: {error}; change the schema or the table"
        raise TableError(msg) from error
    if valid.all():
        return codes
    if not attribute.missing:
        what = "numbers" if isinstance(attribute, NumericAttribute) else "dates"
        how = "" if isinstance(attribute, NumericAttribute) else ", declare how its dates are written (formats)"
        msg = f"column '{short(attribute.name)}' holds cells that are not {what}; {NO_MISSING}{how}"
        raise TableError(msg)
    codes[~valid] = attribute.size - 1
    return codes


def _encode_categories(column: Any, attribute: CategoricalAttribute) -> NDArray[np.intp]:
    found, blank = categories.match(column, attribute)
    unlisted = found < 0
    if not unlisted.any():
        return found
    if attribute.missing:
        found[blank] = attribute.size - 1
        unlisted &= ~blank
    if unlisted.any():
        if not attribute.other:
            if (blank & unlisted).any():
                msg = f"column '{short(attribute.name)}' holds blank cells; {NO_MISSING}"
                raise TableError(msg)
            msg = f"column '{short(attribute.name)}' holds a value outside its declared domain; {NO_OTHER}"
            raise TableError(msg)
        found[unlisted] = len(attribute.values)
    return found


def identifiers(column: Any, name: str) -> Any:
    """The column that names individuals, as a pyarrow text array (n,). Raises TableError for blank names."""
    import pyarrow as pa

    entries, index = casting.uniques(column)
    text = casting.to_text(entries)
    if (index < 0).any() or casting.blanks(text).any():
        msg = f"column '{short(name)}' names individuals but has blank cells; fill them, or remove unit.identifier"
        raise TableError(msg)
    # entries that differ only as typed values (0.0 and -0.0) or repeat in a dictionary name one individual
    named = text.dictionary_encode()
    return pa.DictionaryArray.from_arrays(named.indices.take(pa.array(index)), named.dictionary)


def decode_column(
    codes: Column, attribute: CodedColumn, rng: Generator, *, scores: NDArray[np.floating] | None = None
) -> Any:
    """A pyarrow array (n,) of one attribute's values, drawn inside their bins; `scores` as in `Codec.decode`."""
    import pyarrow as pa

    plain = attribute.size - attribute.special
    if isinstance(attribute, CategoricalAttribute):
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), _values(attribute)).dictionary_decode()
    special = codes >= plain
    bins = np.where(special, 0, codes).astype(np.intp)
    drawn = attribute.binning.draw(bins, rng)
    if scores is not None:
        by_value, by_score = np.lexsort((drawn, bins)), np.lexsort((scores, bins))
        drawn[by_score] = drawn[by_value]
    if isinstance(attribute, NumericAttribute):
        for i, value in enumerate(attribute.special_values):
            drawn[codes == plain + i] = value
        special = codes >= plain + len(attribute.special_values)
    mask = special if special.any() else None
    if isinstance(attribute, NumericAttribute):
        return pa.array(drawn, mask=mask)
    if attribute.precise:
        moments = pa.array(drawn, mask=mask).cast(pa.timestamp("s", tz="UTC" if attribute.zoned else None))
    else:
        moments = pa.array(drawn.astype(np.int32), mask=mask).cast(pa.date32())
    return instants.written(moments, attribute.formats[0]) if attribute.formats else moments


def _values(attribute: CategoricalAttribute) -> Any:
    """What each cell of a categorical attribute decodes to."""
    other = other_text(attribute) if attribute.type == "text" else None
    return _array([*attribute.values, *[other] * attribute.other, *[None] * attribute.missing], attribute.type)


def _array(listed: list[Any], type_: str) -> Any:
    """A pyarrow array of listed values; None is null."""
    import pyarrow as pa

    kind = {"text": pa.string(), "integer": pa.int64(), "float": pa.float64(), "boolean": pa.bool_()}[type_]
    casts: dict[str, Callable[[Any], Any]] = {"text": canonical, "float": float}
    cast = casts.get(type_, lambda v: v)
    return pa.array([None if v is None else cast(v) for v in listed], kind)


def _derived(codes: Column, attribute: DerivedAttribute, parent: CategoricalAttribute) -> Any:
    """The mapped value of each record; null where the other column is `other` or `missing`."""
    import pyarrow as pa

    targets: list[Any] = [*attribute.targets(parent.keys), *[None] * parent.special]
    values = _array(targets, common_type(v for v in targets if v is not None))
    return values.take(pa.array(codes.astype(np.int32)))


def other_text(attribute: CategoricalAttribute) -> str:
    """What `other` decodes to in a text column: a text that the domain does not list."""
    text = "(other)"
    while text in attribute.keys:
        text = f"({text})"
    return text
