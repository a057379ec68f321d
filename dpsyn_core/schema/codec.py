"""Codec: a table into codes by its schema, and codes back into a table of the same columns and kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError, TableError
from dpsyn_core.schema.attributes import categorical
from dpsyn_core.schema.attributes.base import common_type
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.attributes.derived import DerivedAttribute
from dpsyn_core.schema.attributes.numeric import NumericAttribute
from dpsyn_core.schema.attributes.registry import CodedColumn
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.cells import canonical as canonical_text
from dpsyn_core.tables.cells import numbers as casting
from dpsyn_core.tables.cells.canonical import COMMA, canonical, has_decimal_comma
from dpsyn_core.tables.headers import locate, short

Codes = NDArray[np.unsignedinteger[Any]]
Column = NDArray[Any]
OTHER = "other"  # a listed value that says what the cell of unlisted values says
NO_OTHER = "add the value to the schema, or declare other: true"
NO_MISSING = "declare missing: true for it, or fill the blank cells"


@dataclass(frozen=True, kw_only=True, slots=True)
class Encoded:
    """A table as codes, private.

    codes: unsigned (n_attributes, n_records), C-contiguous. identifiers: pyarrow array (n_records,) of text that
    names each record's individual, or None when every record is an individual of its own. kept: bool, one a record
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
            if len(attribute.reads) > 1:
                found = attribute.encode(*(table.column(at[n]) for n in attribute.reads))
            else:
                found = encode_column(table.column(at[attribute.name]), attribute, comma=comma, strict=strict)
            if len(found) and found.min() < 0:
                kept &= found >= 0
            codes[row] = found
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
            numbers a declared value (`declared`). Identifiers and ignored columns are not in it. Where amounts
            are written with a decimal comma, the metadata says so, and text formats write all numbers with one.
        """
        import pyarrow as pa

        if codes.shape[0] != len(self.schema.coded):
            msg = f"{codes.shape[0]} rows of codes do not fit {len(self.schema.coded)} attributes"
            raise EngineError(msg)
        rows = dict(zip(self.domain.names, codes, strict=True))
        rows |= {
            a.name: declared(rows[a.name], a, rng)
            for a in self.schema.coded
            if isinstance(a, CategoricalAttribute) and a.other
        }
        given = {} if scores is None else scores
        columns = {
            a.name: decode_column(rows[a.name], a, rng, scores=given.get(a.name), listed=listed)
            for a in self.schema.coded
        }
        for a in self.schema.attributes:
            if isinstance(a, DerivedAttribute):
                columns[a.name] = derived_column(rows[a.origin], a, self.schema[a.origin])
        examples = [a.written for a in self.schema.coded if isinstance(a, NumericAttribute) and a.written is not None]
        comma = bool(examples) and _has_comma(examples)
        table = pa.table({name: columns[name] for name in self.schema.output_names}, metadata=COMMA if comma else None)
        return table if order is None else in_order(table, self.schema.output_names, order)


def _has_comma(examples: Sequence[str]) -> bool:
    """Whether some amounts are written with a decimal comma."""
    from dpsyn_core.tables.cells import amounts

    return any(amounts.form(example).mark == "," for example in examples)


def in_order(table: Any, names: Sequence[str], order: Sequence[str]) -> Any:
    """A pyarrow table with these columns in an order that perhaps knows only some of them; the others come last."""
    known = [n for n in names if n in order]
    at = locate(list(order), known)
    return table.select([known[i] for i in np.argsort(at)] + [n for n in names if n not in order])


def encode_column(
    column: Any, attribute: CodedColumn, *, comma: bool = False, strict: bool = False
) -> NDArray[np.signedinteger]:  # fmt: skip
    """Codes (n,) of one pyarrow ChunkedArray; -1 where the attribute has no cell for a value.

    Raises TableError, which names the column and never a cell, in place of -1 when `strict`.
    """
    if isinstance(attribute, CategoricalAttribute):
        return _encode_categories(column, attribute, strict)
    if isinstance(attribute, DatetimeAttribute):
        seconds, valid = attribute.seconds_of(column)
        codes = attribute.binning.find(seconds // attribute.unit_seconds)
    else:
        numbers, valid = casting.to_numbers(
            column, whole=attribute.dtype == "integer", comma=comma, written=attribute.written
        )
        codes = attribute.binning.find(numbers)
        for i, value in enumerate(attribute.special_values):
            codes[numbers == value] = attribute.binning.size + i
    if valid.all():
        return codes
    if strict and not attribute.missing:
        what = "numbers" if isinstance(attribute, NumericAttribute) else "dates"
        how = "" if isinstance(attribute, NumericAttribute) else ", declare how its dates are written (formats)"
        msg = f"column '{short(attribute.name)}' holds cells that are not {what}; {NO_MISSING}{how}"
        raise TableError(msg)
    codes[~valid] = attribute.size - 1 if attribute.missing else -1
    return codes


def _encode_categories(column: Any, attribute: CategoricalAttribute, strict: bool) -> NDArray[np.signedinteger]:
    found, blank, index = categorical.match_entries(column, attribute)
    missing = attribute.size - 1 if attribute.missing else -1
    other = len(attribute.values) if attribute.other else -1
    unlisted = (found < 0) & ~blank
    if strict:
        used = np.zeros(len(found), dtype=bool)
        used[index] = True
        if not attribute.other and (unlisted & used).any():
            msg = f"column '{short(attribute.name)}' holds a value outside its declared domain; {NO_OTHER}"
            raise TableError(msg)
        if (blank & used).any() and max(missing, other) < 0:
            msg = f"column '{short(attribute.name)}' holds blank cells; {NO_MISSING}"
            raise TableError(msg)
    found[blank] = missing if missing >= 0 else other
    found[unlisted] = other if other >= 0 else missing
    return found.astype(np.int32)[index]  # of each entry once, then of each record


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


def decode_column(
    codes: Column, attribute: CodedColumn, rng: Generator, *, scores: NDArray[np.floating] | None = None,
    listed: bool = False,
) -> Any:  # fmt: skip
    """A pyarrow array (n,) of one attribute's values, drawn inside their bins; the others as in `Codec.decode`."""
    import pyarrow as pa

    plain = attribute.size - attribute.special
    if isinstance(attribute, CategoricalAttribute):
        values = _values(attribute)
        if not listed:
            return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), values).dictionary_decode()
        nowhere = values.is_null().to_numpy(zero_copy_only=False)  # Parquet has no dictionaries with a null in them
        mask = nowhere[codes] if nowhere.any() else None
        kept = len(values) - int(nowhere.sum())  # nulls stand at the end
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=mask), values[:kept])
    special = codes >= plain
    bins = np.where(special, 0, codes).astype(np.intp)
    drawn = attribute.binning.draw(bins, rng)
    if scores is not None:
        by_value, by_score = np.lexsort((drawn, bins)), np.lexsort((scores, bins))
        drawn[by_score] = drawn[by_value]
    if isinstance(attribute, NumericAttribute):
        if attribute.special_values and attribute.dtype == "float" and attribute.step is attribute.decimals is None:
            met = ~special & np.isin(drawn, attribute.special_values)  # by the rounding of wide ranges
            drawn[met] = attribute.binning.middles()[bins[met]]
        for i, value in enumerate(attribute.special_values):
            drawn[codes == plain + i] = value
        special = codes >= plain + len(attribute.special_values)
    return cells_of(drawn, attribute, special if special.any() else None)


def declared(codes: Column, attribute: CategoricalAttribute, rng: Generator) -> Column:
    """Codes without those of `other` that no cell can show: values that nobody has would come out, or blank cells.

    Where the list has a value called other, that is what other values are. In a column of numbers they are drawn anew
    among the declared values, as often as those occur; post-processing.
    """
    plain = len(attribute.values)
    said = next((i for i, key in enumerate(attribute.keys) if str(key).strip().casefold() == OTHER), None)
    if said is None and attribute.type == "text":
        return codes
    lost = codes == plain
    if not lost.any():
        return codes
    out = codes.copy()
    known = codes[codes < plain]
    if said is not None:
        out[lost] = said
    elif len(known):
        out[lost] = rng.choice(known, int(lost.sum()))
    else:
        out[lost] = rng.integers(0, plain, int(lost.sum()))
    return out


def cells_of(drawn: Column, attribute: NumericAttribute | DatetimeAttribute, mask: NDArray[np.bool_] | None) -> Any:
    """A pyarrow array (n,) of numbers, or of days or seconds since 1970, as the schema declares them; mask: nulls."""
    import pyarrow as pa

    if isinstance(attribute, NumericAttribute):
        if attribute.written is not None:
            from dpsyn_core.tables.cells import amounts

            return amounts.written(drawn, amounts.form(attribute.written), mask)
        return pa.array(drawn, mask=mask)
    if attribute.precise:
        moments = pa.array(drawn, mask=mask).cast(pa.timestamp("s", tz="UTC" if attribute.zoned else None))
    else:
        moments = pa.array(drawn.astype(np.int32), mask=mask).cast(pa.date32())
    if not attribute.formats:
        return moments
    from dpsyn_core.tables.cells import instants

    return instants.written(moments, attribute.formats[0])


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


def derived_column(codes: Column, attribute: DerivedAttribute, parent: CategoricalAttribute) -> Any:
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
