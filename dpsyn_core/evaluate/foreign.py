"""Tables that other programs wrote: matched with a schema as far as they fit, with all that was done to them.

A column under nearly the same name is taken (marital.status for "marital status"), dates in another form are read,
so are words (month_to_month for "Month to month", NA for a blank cell), cells that cannot be read count as blank, and
columns that lack or of which nothing can be read are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpsyn_core.errors import SchemaError, TableError
from dpsyn_core.evaluate.intake import Intake
from dpsyn_core.schema import CategoricalAttribute, Codec, DatetimeAttribute, Schema
from dpsyn_core.tables import FALSE, TRUE, has_decimal_comma, locate

FORMS = (
    "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y%m%d", "%d %b %Y", "%b %d, %Y", "%d %B %Y",
    "%m-%d-%Y", "%m/%d/%y", "%d.%m.%y",
)  # fmt: skip
TIMES = ("", " %H:%M:%S", " %H:%M", "T%H:%M:%S")
BLANKS = ("na", "n/a", "nan", "null", "none", "<na>", "#n/a")  # what other programs write for a blank cell
BETWEEN = re.compile(r"(?<=[^\W_])[\s_.-]+(?=[^\W_])")  # marks between letters that programs exchange
MOST_UNREAD = 0.5  # share of the cells of a column of which more cannot be read: the column is left out
LOOKED_AT = 1000  # cells by which the form of dates is chosen


def fitted(schema: Schema, synthetic: Any) -> tuple[Schema, Any, Intake]:
    """Schema and synthetic table as far as these fit each other, and what was done.

    Raises:
        TableError: the table has no records, or no column of the schema.
    """
    if synthetic.num_rows == 0:
        return schema, synthetic, Intake()  # whoever encodes the table says so
    named, renamed, lacking = _named(schema, synthetic)
    further = columns_beyond(schema, synthetic)
    whole = [a for a in schema.coded if lacking.isdisjoint(a.reads)]
    unread, blanked, reformed, more = [], {}, [], {}
    for a in whole:
        table, changed, share, other_form = _read(a, named)
        if table is None:
            unread.append(a.name)
            continue
        named = table
        if share:
            blanked[a.name] = share
        if other_form:
            reformed.append(a.name)
        if changed is not a:
            more[a.name] = changed
    gone = {a.name for a in schema.coded if not lacking.isdisjoint(a.reads)}
    without = gone | set(unread)
    kept = _without(schema, without, more)
    if not kept.coded:
        locate(synthetic.column_names, [n for a in schema.coded for n in a.reads])  # says which columns it lacks
        msg = "no column of the synthetic table can be read by the schema; give the schema that it was made by"
        raise TableError(msg)
    intake = Intake(
        lacking=tuple(n for n in schema.domain().names if n in gone),
        unreadable=tuple(unread),
        further=further,
        renamed=tuple(renamed),
        reformed=tuple(reformed),
        blanked=blanked,
    )
    return kept, named, intake


def in_words_of(schema: Schema, synthetic: Any) -> tuple[Any, tuple[str, ...]]:
    """The table with blank cells for the words that stand for them, and listed words in the form of the schema.

    And the columns whose words had another form, but for those of yes and no. Words that the schema lists are left.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    reworded = []
    for a in (a for a in schema.coded if len(a.reads) == 1 and a.reads[0] in synthetic.column_names):
        at = synthetic.column_names.index(a.reads[0])
        column = synthetic.column(at)
        if pa.types.is_dictionary(column.type) or not (
            pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        ):
            continue
        words = pc.unique(column.combine_chunks()).drop_null()
        listed = [str(v) for v in a.values] if isinstance(a, CategoricalAttribute) else []
        new = _translated(words.to_pylist(), listed)
        if not new:
            continue
        coded = column.combine_chunks().dictionary_encode()
        values = [new.get(w, w) for w in coded.dictionary.to_pylist()]
        cells = pa.array(values, column.type).take(coded.indices)
        synthetic = synthetic.set_column(at, synthetic.column_names[at], cells)
        if any(w.strip().lower() not in (*TRUE, *FALSE) for w, to in new.items() if to is not None):
            reworded.append(a.name)
    return synthetic, tuple(reworded)


def _translated(words: Sequence[str], listed: Sequence[str]) -> dict[str, str | None]:
    """Words that are not listed, with what they stand for: a listed one, or None for a blank cell."""
    plain: dict[str, list[str]] = {}
    for label in listed:
        plain.setdefault(_plain(label), []).append(label)
    out: dict[str, str | None] = {}
    for word in words:
        if word in listed or word.strip() in listed:
            continue
        meant = plain.get(_plain(word), [])
        if len(meant) == 1 and any(ch.isalpha() for ch in word):
            out[word] = meant[0]
        elif word.strip().lower() in BLANKS:
            out[word] = None
    return out


def _plain(word: str) -> str:
    """A word without case, and with a space for marks between letters."""
    return BETWEEN.sub(" ", word.strip()).casefold()


def only_unlisted(schema: Schema, synthetic: Any) -> dict[str, str]:
    """Of each list with a cell for other values the one such value of the table, where there is no second one."""
    import pyarrow.compute as pc

    out = {}
    for a in schema.coded:
        if not isinstance(a, CategoricalAttribute) or not a.other or a.name not in synthetic.column_names:
            continue
        words = {str(w) for w in pc.unique(synthetic.column(a.name)).drop_null().to_pylist() if str(w).strip()}
        if len(words) <= len(a.values) + 1 and len(new := words - {str(v) for v in a.values}) == 1:
            out[a.name] = new.pop()
    return out


def _codes(a: Any, table: Any, *, strict: bool) -> Any:
    columns = (table.column(i) for i in locate(table.column_names, list(a.reads)))
    return a.encode(*columns, comma=has_decimal_comma(table), strict=strict)


def _key(name: str) -> str:
    """Letters and digits of a header in lower case: what other programs keep of it."""
    return "".join(ch for ch in name.lower() if ch.isalnum())


def _named(schema: Schema, table: Any) -> tuple[Any, list[str], set[str]]:
    """The table with headers of the schema where they differ in marks and case alone; those columns; lacking ones."""
    names, renamed, lacking = list(table.column_names), [], set[str]()
    wanted = list(dict.fromkeys(n for a in schema.coded for n in a.reads))
    for name in wanted:
        try:
            locate(names, [name])
        except TableError:
            alike = [i for i, n in enumerate(names) if _key(n) == _key(name) and n not in wanted and _key(name)]
            if len(alike) == 1:
                names[alike[0]] = name
                renamed.append(name)
            else:
                lacking.add(name)
    return table.rename_columns(names) if renamed else table, renamed, lacking


def columns_beyond(schema: Schema, table: Any) -> tuple[str, ...]:
    """Columns that the schema does not name, under no other marks or case either."""
    names = {_key(a.name) for a in schema.attributes} | {_key(n) for a in schema.coded for n in a.reads}
    names |= {_key(schema.unit.identifier)} if schema.unit.identifier else set()
    return tuple(n or "(no name)" for n in table.column_names if _key(n) not in names or not _key(n))


def _read(a: Any, table: Any) -> tuple[Any, Any, float, bool]:
    """The table with a column that can be read, its attribute, the share of unread cells, whether dates were reformed.

    The table is None where more than half of the cells cannot be read.
    """
    needed = a.further_cells(table.column(locate(table.column_names, [a.name])[0])) if len(a.reads) == 1 else {}
    further = {} if needed else _other_numbers(a, table)
    if further:
        return table, a.model_copy(update=further), 0.0, False
    try:
        _codes(a.model_copy(update=needed) if needed else a, table, strict=True)
        return table, a, 0.0, False
    except TableError:
        pass
    if isinstance(a, DatetimeAttribute) and len(a.reads) == 1:
        again = _reformed(a, table)
        if again is not None:
            return again, a, 0.0, True
    wide = a.model_copy(update={"missing": True})
    codes = np.asarray(_codes(wide, table, strict=False))
    labels = list(wide.labels())
    column = table.column(locate(table.column_names, [a.name])[0])
    blank = column.null_count / len(column)
    unread = float(((codes < 0) | (codes == len(labels) - 1)).mean()) - blank
    if unread > MOST_UNREAD:
        return None, a, unread, False
    import pyarrow as pa
    import pyarrow.compute as pc

    # blank in the table, so that all who read it again find the same
    mask = pa.array((codes < 0) | (codes == len(labels) - 1))
    at = locate(table.column_names, [a.name])[0]
    flat = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    flat_read = pc.if_else(mask, pa.scalar(None, flat.type), flat)
    return table.set_column(at, table.column_names[at], flat_read), a, unread, False


def _other_numbers(a: Any, table: Any) -> dict[str, bool]:
    """A field for unlisted values, where a column of numbers has none of the numbers that its list has."""
    if "other" not in type(a).model_fields or a.numbers() is None:
        return {}
    more = a.model_copy(update={"other": True})
    column = table.column(locate(table.column_names, [a.name])[0])
    values = more.values_of(column, np.asarray(_codes(more, table, strict=False)), comma=has_decimal_comma(table))
    return {} if np.isnan(values).any() else {"other": True}


def _reformed(a: DatetimeAttribute, table: Any) -> Any:
    """The table with a column of dates in the form of the schema; None where no other form fits all cells."""
    import pyarrow as pa
    import pyarrow.compute as pc

    at = locate(table.column_names, [a.name])[0]
    column = table.column(at)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return None
    text = pc.utf8_trim_whitespace(column.combine_chunks())
    text = pc.if_else(pc.equal(text, ""), pa.scalar(None, text.type), text)
    best: tuple[int, Any] | None = None
    for form in (d + t for d in FORMS for t in TIMES):
        few = pc.strptime(text.slice(0, LOOKED_AT), form, "s", error_is_null=True)
        if few.null_count > text.slice(0, LOOKED_AT).null_count:
            continue
        every = pc.strptime(text, form, "s", error_is_null=True)
        if every.null_count > text.null_count:
            continue
        days = pc.strftime(every, "%Y-%m-%dT%H:%M:%S" if a.precise else "%Y-%m-%d")
        out = table.set_column(at, table.column_names[at], days)
        try:
            codes = _codes(a, out, strict=not text.null_count)
        except TableError:
            continue
        spread = len(np.unique(codes))
        if best is None or spread > best[0]:
            best = spread, out
    return None if best is None else best[1]


def _without(schema: Schema, names: set[str], more: dict[str, Any]) -> Schema:
    """The schema without some attributes and all that rests on them."""
    if not names and not more:
        return schema
    origins = {a.name for a in schema.derived if a.origin in names}
    attributes = tuple(more.get(a.name, a) for a in schema.attributes if a.name not in names | origins)
    rules = tuple(r for r in schema.rules if names.isdisjoint(r.columns))
    try:
        Codec(schema.model_copy(update={"attributes": attributes, "rules": rules}))
    except (SchemaError, ValueError):
        return schema.model_copy(update={"attributes": (), "rules": ()})
    return schema.model_copy(update={"attributes": attributes, "rules": rules})
