"""The columns of linked tables that are measured: in place of a close date the time between it and another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dpsyn_core.linked.document import LinkedSchema, LinkedTable
from dpsyn_core.schema.computed import computed_columns, measured_part


def measured_schema(schema: LinkedSchema, questions: Sequence[Any] = ()) -> LinkedSchema:
    """The schema of the codes that a run counts: dates that `schema.spans` computes give way to the times between.

    Not those by which children follow each other, nor those that a question names. What other rules compute is
    measured all the same.

    Args:
        schema: public.
        questions: declared, as documents.
    """
    said = json.dumps(list(questions), ensure_ascii=False)
    return schema.model_copy(update={"tables": tuple(_measured(t, schema, said) for t in schema.tables)})


def _measured(table: LinkedTable, schema: LinkedSchema, said: str) -> LinkedTable:
    if table.columns is None or not table.columns.rules:
        return table
    fixed = {link.order for link in schema.links if link.child == table.name and link.order is not None}
    fixed |= {a.name for a in table.coded if a.name in said}
    computed = computed_columns(table.columns, fixed)
    if all(c.named == c.sources for c in computed):
        return table
    fixed |= {c.column for c in computed if c.named == c.sources}
    return table.model_copy(update={"columns": measured_part(table.columns, fixed)})
