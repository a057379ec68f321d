"""Entries, units and rules of a draft that become public by the word of a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.column import LEFT_OUT

CONFIRMED = {"data": "public", "bought-unconfirmed": "bought"}
SHOWN = 8  # values of a list that a sentence names


def confirm(
    schema: Schema,
    names: Iterable[str] = (),
    *,
    unit: bool | None = None,
    rules: bool = False,
    everything: bool = False,
) -> Schema:
    """The schema in which the named entries are public, by a person's word that they follow without the data.

    What was read from the data becomes public; what was bought for a kind and
    a form that were read from it becomes bought. Why a draft left a column out was read from the data too, and goes.

    Args:
        schema: with entries that were read from the data.
        names: of attributes whose kind, range or list, and bins are public knowledge.
        unit: whether the unit of privacy (identifier, max_records) is public knowledge too; None: with `everything`.
        rules: whether all rules are public knowledge too, whatever their trial on the table showed.
        everything: claims that every value, range, list, bin and rule of the schema and who counts as one individual
            could have been written down by somebody who has never seen the table. If that is not so, a run says that
            it is private and is not: the range of a draft is that of the records, so that its ends are single persons'
            values.

    Raises:
        SchemaError: nothing is named, or an attribute that the schema does not have.
    """
    names = schema.from_data if everything else [names] if isinstance(names, str) else list(names)
    if not (names or unit or rules or everything):
        msg = (
            "nothing is named to be confirmed; name the attributes whose entries are known without the data "
            f"({_some(schema.from_data) or 'none was read from it'}), or unit=True, or rules=True, "
            "or claim all with everything=True"
        )
        raise SchemaError(msg)
    chosen = set(names)
    existing = {a.name for a in schema.attributes}
    if chosen - existing:
        msg = f"the schema has no attribute '{sorted(chosen - existing)[0]}'; name one of its own"
        raise SchemaError(msg)
    attributes = tuple(
        a.model_copy(
            update={"source": CONFIRMED[a.source]} | ({"description": None} if a.description in LEFT_OUT else {})
        )
        if a.name in chosen and a.source in CONFIRMED
        else a
        for a in schema.attributes
    )
    changes: dict[str, Any] = {"attributes": attributes}
    if unit or (unit is None and everything):
        changes |= _confirmed_unit(schema)
    elif schema.unit_from_data:  # stays so when the last column is confirmed, also where the document did not say it
        changes["unit"] = schema.unit.model_copy(update={"source": "data"})
    confirmed = schema.model_copy(update=changes)
    return rules_known(confirmed) if rules or everything else confirmed


def rules_known(schema: Schema) -> Schema:
    """The schema with its rules marked public, by a person's word; proposals that one agreed to stay so marked."""
    return schema.model_copy(update={"rules": tuple(rule.known for rule in schema.rules)})


def _confirmed_unit(schema: Schema) -> dict[str, Any]:
    """The unit as public, also where it stands as whom something was bought for."""
    if not schema.unit_from_data:
        return {}
    unit = schema.unit.model_copy(update={"source": "public"})
    same = [b.unit is not None and b.unit.model_copy(update={"source": "public"}) == unit for b in schema.bought]
    bought = tuple(b.model_copy(update={"unit": unit}) if s else b for b, s in zip(schema.bought, same, strict=True))
    return {"unit": unit, "bought": bought}


def _some(values: Sequence[str]) -> str:
    more = len(values) - SHOWN
    return ", ".join(values[:SHOWN]) + (f" and {more} more" if more > 0 else "")
