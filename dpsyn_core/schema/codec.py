"""Codec: a table into codes by its schema, and codes back into a table of the same columns and kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError, TableError
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables import canonical_text, has_decimal_comma, locate, short

Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Encoded:
    """A table as codes, private.

    codes: unsigned (n_attributes, n_records), C-contiguous. identifiers: pyarrow array (n_records,) of text that
    names each record's individual, or None when every record is a separate individual. kept: bool, one a record
    of the table, False where the schema has no place for it; None: all have one.
    """

    codes: Codes
    identifiers: Any = None
    kept: NDArray[np.bool_] | None = None

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
        self.reads = list(dict.fromkeys(name for a in schema.coded for name in a.reads))  # columns of a table
        self.dtype = np.min_scalar_type(max(self.domain.sizes) - 1)

    def encode(self, table: Any, *, individuals: bool = True, strict: bool = False) -> Encoded:
        """Codes of a pyarrow table with text or typed columns.

        Guarantee: the codes of a record, whether it is kept, and its identifier are a function of that record and
        the schema alone (docs/proofs/encoding.md). No cell is refused.

        A categorical value outside its list goes to the `other` cell, else to the `missing` cell; blank cells and
        cells that are no number or no date go to the `missing` cell (blank categories to `other` where there is no
        `missing`); numbers and dates outside their range are clamped. A record with a cell that has no place, or
        without a name where the schema names individuals, is left out.

        Args:
            table: pyarrow table; columns that the schema does not name are left out.
            individuals: read the identifier column of the unit too; False for tables that have none, such as
                synthetic ones, and whenever nothing is released.
            strict: refuse a table without records, a value outside its list, a blank cell or one that cannot be cast
                without a cell for it, and a record without a name. Such a refusal is an exact answer about the data.

        Raises:
            TableError: a column is missing; with `strict`, the above. It names the column, never the cell.
        """
        at = dict(zip(self.reads, locate(table.column_names, self.reads), strict=True))
        key = self.schema.unit.identifier if individuals else None
        key_at = 0 if key is None else locate(table.column_names, [key])[0]
        if strict and table.num_rows == 0:
            msg = "the table has no records; give a table with at least one"
            raise TableError(msg)
        comma = has_decimal_comma(table)
        codes = np.empty((len(self.schema.coded), table.num_rows), dtype=self.dtype)
        kept = np.ones(table.num_rows, dtype=bool)
        for row, attribute in enumerate(self.schema.coded):
            columns = (table.column(at[n]) for n in attribute.reads)
            column_codes = attribute.encode(*columns, comma=comma, strict=strict)
            if len(column_codes) and column_codes.min() < 0:
                kept &= column_codes >= 0
            codes[row] = column_codes
        names = None if key is None else identifiers(table.column(key_at), key, strict=strict)
        if names is not None and names.null_count:
            kept &= names.is_valid().to_numpy(zero_copy_only=False)
        if kept.all():
            return Encoded(codes=codes, identifiers=names)
        if names is not None:
            names = names.filter(kept)
        return Encoded(codes=np.ascontiguousarray(codes[:, kept]), identifiers=names, kept=kept)

    def decode(
        self,
        codes: Codes,
        *,
        rng: Generator,
        order: Sequence[str] | None = None,
        scores: Mapping[str, NDArray[np.floating]] | None = None,
        listed: bool = False,
    ) -> Any:
        """A pyarrow table of the coded attributes, drawn inside their bins.

        Args:
            codes: (n_attributes, n_records).
            rng: for positions inside bins; post-processing.
            order: column names of the original table; the output keeps their order (default: the schema's).
            scores: for numbers and dates, a score a record (n_records,): the values drawn in a bin are handed out in
                the order of the scores of its records. Default: by chance.
            listed: categories as pyarrow dictionaries, which Parquet and digests take without looking at each cell.

        Returns:
            pyarrow table: whole numbers stay whole, dates are dates (both text where the schema declares how they
            are written), `missing` is null; `other` is a listed "other", else the text '(other)', and in columns of
            numbers a declared value (`without_other`). Identifiers and ignored columns are not in it. Where amounts
            are written with a decimal comma, the metadata says so, and text formats write all numbers with one.
        """
        import pyarrow as pa

        if codes.shape[0] != len(self.schema.coded):
            msg = f"{codes.shape[0]} rows of codes do not fit {len(self.schema.coded)} attributes"
            raise EngineError(msg)
        rows = dict(zip(self.domain.names, codes, strict=True))
        rows |= {a.name: a.without_other(rows[a.name], rng) for a in self.schema.coded}
        given = {} if scores is None else scores
        columns = {
            a.name: a.decode(rows[a.name], rng, scores=given.get(a.name), listed=listed) for a in self.schema.coded
        }
        for a in self.schema.derived:
            columns[a.name] = a.fill(rows[a.origin], self.schema[a.origin])
        marks = {key: value for a in self.schema.coded for key, value in a.marks.items()}
        table = pa.table({name: columns[name] for name in self.schema.output_names}, metadata=marks or None)
        return table if order is None else in_order(table, self.schema.output_names, order)


def in_order(table: Any, names: Sequence[str], order: Sequence[str]) -> Any:
    """A pyarrow table with these columns in an order that perhaps knows only some of them; the others come last."""
    listed = [n for n in names if n in order]
    at = locate(list(order), listed)
    return table.select([listed[i] for i in np.argsort(at)] + [n for n in names if n not in order])


def identifiers(column: Any, name: str, *, strict: bool = False) -> Any:
    """The column that names individuals, as a pyarrow dictionary array (n,) of text; null where there is no name.

    A name is blank when its cell is null, NaN, empty or only white space; a name with a character that could not be
    read (U+FFFD) is none either, since two people may share what is left of theirs. Composed and decomposed accents
    are one name. Raises TableError when `strict` and some name is blank.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    entries, index = canonical_text.uniques(column)
    text = canonical_text.to_text(entries)
    if pa.types.is_integer(column.type):  # distinct entries, each with a name of its own and none of them blank
        return pa.DictionaryArray.from_arrays(_numbered(index, strict, name), text)
    plain = pc.all(pc.string_is_ascii(text), min_count=0).as_py()
    if not plain:
        text = pc.utf8_normalize(text, "NFC")
    nameless = canonical_text.blanks(text)
    if not plain:
        unreadable = pc.match_substring(text, canonical_text.UNREADABLE)
        nameless |= pc.fill_null(unreadable, True).to_numpy(zero_copy_only=False)
    nameless = np.append(nameless, True)[index]  # the last one serves null cells
    if strict and nameless.any():
        raise _nameless(name)
    # entries that differ only as typed values (0.0 and -0.0) or repeat in a dictionary name one individual
    named = text.dictionary_encode()
    return pa.DictionaryArray.from_arrays(named.indices.take(pa.array(index, mask=nameless)), named.dictionary)


def _numbered(index: NDArray[np.intp], strict: bool, name: str) -> Any:
    """The positions of whole numbers as a pyarrow array (n,), null where the cell is."""
    import pyarrow as pa

    nameless = index < 0
    if strict and nameless.any():
        raise _nameless(name)
    return pa.array(index, mask=nameless)


def _nameless(name: str) -> TableError:
    return TableError(
        f"column '{short(name)}' names individuals but has blank cells; fill them, or remove unit.identifier"
    )
