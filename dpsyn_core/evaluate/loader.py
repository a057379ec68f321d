"""Builds a comparison from tables and their schema.

A table of another program, or that was changed since, may hold blank cells where none are declared, or values that
are not listed. They are judged as what they are and not refused: the schema of the comparison gets a cell for them.
Columns that are lacking or that cannot be read are left out of the comparison, which says so (`foreign`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import TableError
from dpsyn_core.estimate import Measurement
from dpsyn_core.evaluate.comparison import Codes, Comparison, Floats, Roles
from dpsyn_core.evaluate.foreign import columns_beyond, fitted, in_words_of, only_unlisted
from dpsyn_core.evaluate.intake import Intake
from dpsyn_core.schema import Codec, Schema, propose_rules, rule_breaks
from dpsyn_core.tables import has_decimal_comma, locate

MANY_PERSONS, SEVERAL, MOST_RECORDS = 50, 1.1, 50  # values of a column that names persons, and records of each
KEPT = 8  # columns of floats kept in memory
KEPT_CELLS = 8_000_000  # of such columns of one table together: 64 MB


def widened(schema: Schema, synthetic: Any) -> Schema:
    """The schema with cells for blank cells and for other values where the synthetic table needs them."""
    try:
        at = locate(synthetic.column_names, [a.name for a in schema.coded])
    except TableError:  # whoever encodes the table says so
        return schema
    more = {}
    for attribute, i in zip(schema.coded, at, strict=True):
        needed = attribute.further_cells(synthetic.column(i))
        if needed:
            more[attribute.name] = attribute.model_copy(update=needed)
    if not more:
        return schema
    return schema.model_copy(update={"attributes": tuple(more.get(a.name, a) for a in schema.attributes)})


def changed(before: Schema, after: Schema) -> set[str]:
    """The attributes that have further cells."""
    return {a.name for a, b in zip(before.coded, after.coded, strict=True) if a.size != b.size}


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

    Blank and unlisted cells of the synthetic table get separate codes where the schema has none.

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
    asked, first = schema, None
    synthetic, reworded = in_words_of(schema, synthetic)
    declared, schema, intake = schema, widened(schema, synthetic), Intake(further=columns_beyond(schema, synthetic))
    try:
        first = encode(schema, synthetic, "synthetic")
    except TableError:  # as far as it fits
        declared, synthetic, intake = fitted(asked, synthetic)
        schema = widened(declared, synthetic)
    intake = replace(intake, reworded=reworded, unlisted=only_unlisted(schema, synthetic))
    further = (
        changed(asked, schema) if declared is asked else {a.name for a in asked.coded} - set(schema.domain().names)
    )
    further |= changed(declared, schema)
    coded = schema.coded
    codes: dict[str, Codes] = {}
    values: dict[str, Columns] = {}
    kept: dict[str, Any] = {}  # the tables, without records that the schema has no place for
    used = None if real is None else within_limit(asked, real)
    for what, table in (("synthetic", synthetic), ("real", used), ("held-out", held_out)):
        if table is not None:
            done = first if what == "synthetic" else None
            codes[what], described = done or encode(schema, table, what)
            values[what] = numbers(schema, described, codes[what])
            kept[what] = described
    if real is not None:
        intake = _of_real(asked, declared, intake, (real, used, kept["real"]), kept["synthetic"])
    names = set(schema.domain().names)  # beside these, times between dates may have been measured
    return Comparison(
        domain=schema.domain(),
        synthetic=codes["synthetic"],
        real=codes.get("real"),
        held_out=codes.get("held-out"),
        real_values=values.get("real", {}),
        synthetic_values=values["synthetic"],
        held_out_values=values.get("held-out", {}),
        real_dates=dates(schema, kept["real"], codes["real"]) if "real" in kept else {},
        synthetic_dates=dates(schema, kept["synthetic"], codes["synthetic"]),
        date_units={a.name: a.unit_seconds for a in coded if a.dated},
        bounds={a.name: a.limits for a in coded if a.limits is not None},
        labels={a.name: tuple(a.labels()) for a in coded},
        measurements=[m for m in measurements if names.issuperset(m.attributes) and further.isdisjoint(m.attributes)],
        roles=roles or Roles(),
        rules=rule_breaks(declared, kept["synthetic"], kept.get("real")),
        intake=intake,
        left_out=tuple(a.name for a in asked.attributes if a.kind == "ignored"),
        persons=_persons(asked, kept["real"], intake.ignored) if "real" in kept else None,
        real_of=None if real_of is None else round(real_of * codes["real"].shape[1] / real.num_rows),
        synthetic_of=synthetic_of,
    )


def within_limit(schema: Schema, real: Any) -> Any:
    """The rows of a real table that a run may use: at most `max_records` of each individual, drawn by chance."""
    unit = schema.unit
    if unit.identifier is None or unit.max_records is None or unit.identifier not in real.column_names:
        return real
    names = real.column(unit.identifier).combine_chunks().dictionary_encode()
    who = names.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    if np.bincount(who + 1)[1:].max(initial=0) <= unit.max_records:
        return real
    order = np.lexsort((np.random.default_rng(0).random(len(who)), who))
    starts = np.flatnonzero(np.diff(who[order], prepend=-2))
    rank = np.arange(len(who)) - np.repeat(starts, np.diff(np.append(starts, len(who))))
    chosen = np.zeros(len(who), dtype=bool)
    chosen[order[rank < unit.max_records]] = True
    return real.filter(chosen)


def _of_real(asked: Schema, declared: Schema, intake: Intake, real: tuple[Any, Any, Any], synthetic: Any) -> Intake:
    """What became of the rows of the real table: all of them, those within the limit, and those that the schema has."""
    every, used, fits = real
    named = {a.name for a in asked.attributes} | {asked.unit.identifier}
    ignored = [n for n in every.column_names if n not in named]
    used_names = {a.name for a in (*asked.coded, *asked.derived)}
    ignored += [a.name for a in asked.attributes if a.name not in used_names and a.name in every.column_names]
    proposals = propose_rules(declared)
    proposed: tuple[Any, ...] = ()
    if proposals:
        broken = rule_breaks(declared.model_copy(update={"rules": tuple(proposals)}), synthetic, fits)
        proposed = tuple(zip(proposals, broken, strict=False))
    return replace(
        intake,
        rows=every.num_rows,
        limited=every.num_rows - used.num_rows,
        misfits=used.num_rows - fits.num_rows,
        ignored=tuple(n for n in ignored if n != asked.unit.identifier),
        proposed=proposed,
        again=_again([n for n in ignored if n in synthetic.column_names], every, synthetic),
        texts=_texts(declared, fits),
    )


def _persons(schema: Schema, real: Any, ignored: Sequence[str]) -> NDArray[np.intp] | None:
    """Whose record each is: by the identifier, or by a left-out column of whose values few records have each."""
    named = [schema.unit.identifier] if schema.unit.identifier else ignored
    for name in (n for n in named if n in real.column_names):
        cells = real.column(name).combine_chunks()
        who = cells.dictionary_encode().indices
        if who.null_count:
            continue
        codes: NDArray[np.intp] = who.to_numpy(zero_copy_only=False).astype(np.intp)
        persons = int(codes.max(initial=0)) + 1
        if persons >= MANY_PERSONS and SEVERAL <= len(codes) / persons <= MOST_RECORDS:
            return codes
    return None


def _again(names: Sequence[str], real: Any, synthetic: Any) -> dict[str, float]:
    """Of columns that are a key of the real table, the share of synthetic records that repeat an earlier value."""
    import pyarrow.compute as pc

    out = {}
    for name in names:
        x, z = (t.column(name).drop_null() for t in (real, synthetic))
        if len(x) == real.num_rows and pc.count_distinct(x).as_py() == len(x) and len(z):
            out[name] = 1 - pc.count_distinct(z).as_py() / len(z)
    return {name: share for name, share in out.items() if share > 0}


def _texts(schema: Schema, real: Any) -> dict[str, str]:
    """Of each column of numbers in text with a mark of decimals or thousands, the first cell."""
    out = {}
    for a in schema.coded:
        if a.numbers() is not None and a.name in real.column_names:
            for cell in real.column(a.name).slice(0, 100).to_pylist():
                if isinstance(cell, str) and ("," in cell or "." in cell):
                    out[a.name] = cell.strip()
                    break
    return out


def encode(schema: Schema, table: Any, what: str) -> tuple[Codes, Any]:
    """Codes of a table, without asking for its identifier column, and the records of it that the schema describes.

    Records of private tables that the schema has no place for are left out, as they are of a run. A synthetic table
    must fit as a whole, else it follows another schema. Raises TableError for one that does not fit, and for a
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

    def __init__(self, readers: Mapping[str, Callable[[], Floats]], records: int) -> None:
        """Takes one reader an attribute; keeps the columns that were used last, more of them where records are few."""
        self._readers = readers
        self._read = lru_cache(maxsize=max(KEPT, KEPT_CELLS // max(1, records)))(lambda name: readers[name]())

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
    return _columns(schema, table, codes, lambda attribute: attribute.numbers() is not None)


def dates(schema: Schema, table: Any, codes: Codes) -> Columns:
    """Dates and times as days or seconds since 1970, NaN where missing."""
    return _columns(schema, table, codes, lambda attribute: bool(attribute.dated))


def _columns(schema: Schema, table: Any, codes: Codes, chosen: Callable[[Any], bool]) -> Columns:
    at = locate(table.column_names, [a.name for a in schema.coded])
    comma = has_decimal_comma(table)
    parts = zip(schema.coded, at, codes, strict=True)
    return Columns(
        {a.name: partial(a.values_of, table.column(i), row, comma=comma) for a, i, row in parts if chosen(a)},
        codes.shape[1],
    )
