"""Drafts a schema by reading the data: every entry is marked as read from the data until a person confirms it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dpsyn_core.errors import SchemaError, SchemaWarning, UnitWarning
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.column import LEFT_OUT, NUMBERED, OF_MANY, entry_of, has_decimals
from dpsyn_core.schema.individuals import Asked, asked
from dpsyn_core.tables import canonical_text as canonical
from dpsyn_core.tables import declared_in, headers, read_table, to_arrow

KEPT = "; with_list keeps it by a public list or by beginnings such as 'digits:2', buy_schema by values that many have"
LEFT = ("identifier", "ignored")  # kinds of columns that are not synthesized


def draft(table: Any, name: str, *, identifier: str | None = None) -> Schema:
    """A schema that fits a table, for a person to correct and `confirm`. Reads the data: not private.

    Args:
        table: pandas, polars or pyarrow, text or typed columns; or the path of a file.
        name: of the table.
        identifier: column that names individuals.

    Returns:
        A schema whose entries all have source "data", but for the identifier; a run with it is stamped NOT PRIVATE.

    Warns:
        UnitWarning: no identifier is given, and a column is named or filled as those that name persons are. Until a
            person decides, the unit "each record is one individual" has source "data" too.
        SchemaWarning: a column is left out, with the reason.
    """
    schema, why = drafted(table, name, identifier=identifier)
    if why is not None:
        remedy = (
            f"give identifier='{why.column}', or confirm that each record is one with confirm_schema(..., unit=True)"
        )
        warnings.warn(f"{why}; {remedy}", UnitWarning, stacklevel=2)
    for a in (a for a in schema.attributes if a.description in LEFT_OUT and a.description != NUMBERED):
        remedy = KEPT if a.description in OF_MANY else ""
        warnings.warn(
            f"column '{headers.short(a.name)}' is left out: {a.description}{remedy}", SchemaWarning, stacklevel=2
        )
    return schema


def drafted(table: Any, name: str, *, identifier: str | None = None) -> tuple[Schema, Asked | None]:
    """The same without the warning, with the column for which a person has to say who is one individual."""
    table = read_table(table) if isinstance(table, str | Path) else to_arrow(table)
    if identifier is not None:
        headers.locate(table.column_names, [identifier])
    attributes = entries_of(table, [] if identifier is None else [identifier])
    refuse_empty(attributes)
    unit = {"neighbours": "add-remove", "identifier": identifier, "max_records": 1, "source": "public"}
    schema = Schema.of({"version": 1, "name": name, "unit": unit, "attributes": attributes})
    why = None if identifier is not None else asked(schema, table)
    if why is not None:
        schema = schema.model_copy(update={"unit": schema.unit.model_copy(update={"source": "data"})})
    return schema, why


def entries_of(table: Any, keys: Sequence[str]) -> list[dict[str, Any]]:
    """The entries of a draft, one a column.

    Args:
        table: pyarrow.
        keys: columns that name individuals or link tables, which are not read.

    Raises:
        SchemaError: headers repeat or are blank, or there is no record.
    """
    headers.check(table.column_names)
    if table.num_rows == 0:
        msg = "the table has no records to draft a schema from; give one with records, or write the schema by hand"
        raise SchemaError(msg)
    comma = canonical.has_decimal_comma(table)
    points = comma and any(map(has_decimals, table.columns))
    declared = declared_in(table)
    return [
        {"name": n, "kind": "identifier"}
        if n in keys
        else {"name": n, "source": "data"} | entry_of(n, i, table.column(i), comma, points, declared.get(n))
        for i, n in enumerate(table.column_names)
    ]


def empty(attributes: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a draft keeps no column."""
    return all(a["kind"] in LEFT for a in attributes)


def refuse_empty(attributes: Sequence[Mapping[str, Any]]) -> None:
    """Raises SchemaError where a draft keeps no column."""
    if not empty(attributes):
        return
    first = attributes[0]["name"]
    if len(attributes) == 1 and len(first.split()) > 1:
        msg = (
            f"the whole table is one column, '{headers.short(first)}': nothing that is known as a "
            "delimiter separates its cells, or a title stands above its headers; name the delimiter, say in which "
            "line the headers are, or save the table as CSV"
        )
        raise SchemaError(msg)
    msg = (
        "no column of the table has few enough values to be drafted; shorten or group them in the file (years "
        "for days, regions for places), or write the schema by hand"
    )
    raise SchemaError(msg)
