"""A panel of one file as linked tables: a person with what never changes, and the rows that follow each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.linked import MOST_ORDERS, LinkedSchema


def panel_schema(
    schema: Schema, *, person: str, wave: str, constant: Sequence[str] = (), max_children: int | None = None
) -> LinkedSchema:
    """The schema of a panel, from the schema of its one file.

    Args:
        schema: of version 1. Its unit of privacy is replaced: the person with all their rows; that it was
            read from the data stays marked.
        person: column that names persons; it may be missing from the schema.
        wave: column that orders a person's rows; where it has few values, no person has one twice.
        constant: columns that do not change from row to row of a person.
        max_children: rows of a person that are counted; default the number of waves.

    Raises:
        SchemaError: a column is missing, or the tables do not fit together.
    """
    names = {a.name for a in schema.coded}
    for name in (wave, *constant):
        if name not in names:
            msg = f"the schema has no column '{name}' that is synthesized; it has {', '.join(sorted(names))}"
            raise SchemaError(msg)
    size = schema[wave].coded_attribute().size
    distinct = size <= MOST_ORDERS and (max_children is None or max_children >= size)
    if max_children is None and not distinct:
        msg = f"'{wave}' has {size} values; say how many rows of a person are counted (max_children)"
        raise SchemaError(msg)
    every = [a for a in schema.document()["attributes"] if a["name"] != person]
    parts = {
        "persons": [a for a in every if a["name"] in constant],
        "rows": [a for a in every if a["name"] not in constant],
    }
    rules = {n: [r for r in schema.rules if set(r.columns) <= {a["name"] for a in part}] for n, part in parts.items()}
    across = next((r for r in schema.rules if not any(r in listed for listed in rules.values())), None)
    if across is not None:
        msg = f"the rule '{across}' names columns that change and columns that do not; leave it out"
        raise SchemaError(msg)
    return LinkedSchema.of(
        {
            "version": 2,
            "name": schema.name,
            "dataset": schema.dataset,
            "one_file": True,
            "unit": {"source": "data" if schema.unit_from_data else "public"},
            "tables": [
                {"name": n, **({"key": person} if n == "persons" else {}), **_schema(n, listed, rules[n])}
                for n, listed in parts.items()
            ],
            "links": [
                {
                    "parent": "persons",
                    "child": "rows",
                    "key": person,
                    "max_children": max_children or size,
                    "order": wave,
                    "distinct": distinct,
                }
            ],
        }
    )


def _schema(name: str, attributes: list[object], rules: Sequence[Any]) -> dict[str, object]:
    extra = {"rules": [r.model_dump(mode="json") for r in rules]} if rules else {}
    return {"schema": {"version": 1, "name": name, "attributes": attributes} | extra} if attributes else {}
