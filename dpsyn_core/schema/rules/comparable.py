"""Which columns a rule can compare or add: numbers, or dates that are written in full."""

from __future__ import annotations

from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.attributes.numeric import NumericAttribute
from dpsyn_core.schema.grids import OF_TIMES

COMPUTING = ("order", "difference", "sum", "ratio")  # kinds of rules that are about numbers, or about dates


def with_ranges(document: dict[str, Any]) -> dict[str, Any]:
    """The document of a schema in which listed whole numbers that rules compute with are a range.

    A list with gaps stays one: a range would let numbers come out that the list does not have.
    """
    named = [v for rule in document["rules"] if rule["kind"] in COMPUTING for v in rule.values()]
    computed = {n for v in named for n in ((v,) if isinstance(v, str) else v if isinstance(v, list | tuple) else ())}
    attributes = [_as_range(a) if a["name"] in computed else a for a in document["attributes"]]
    return {**document, "attributes": attributes}


def _as_range(attribute: dict[str, Any]) -> dict[str, Any]:
    values = attribute.get("values") or [""]
    whole = all(isinstance(v, int) and not isinstance(v, bool) for v in values)
    if attribute["kind"] != "categorical" or attribute.get("other") or not whole:
        return attribute
    least, most = min(values), max(values)
    if most - least + 1 != len(values):
        return attribute
    kept = {k: v for k, v in attribute.items() if k not in ("kind", "values", "ordered", "other", "by_prefix")}
    return kept | {"kind": "numeric", "dtype": "integer", "min": least, "max": most}


def check_comparable(first: Any, second: Any) -> None:
    """Raises SchemaError unless both are numbers, days, or times of day, written in full."""
    for attribute in (first, second):
        if not isinstance(attribute, NumericAttribute | DatetimeAttribute):
            msg = (
                f"'{attribute.name}' is {attribute.kind}, and the rule compares numbers or dates; declare it as numeric"
            )
            raise SchemaError(msg)
        if isinstance(attribute, DatetimeAttribute) and attribute.formats:
            from dpsyn_core.tables import instants

            written = instants.plain(attribute.formats[0])
            needed = ("%S",) if attribute.rhythm not in OF_TIMES else ("%M", "%S")
            if not any(day in written for day in ("%d", "%j")) or (
                attribute.precise and not any(part in written for part in needed)
            ):
                msg = f"'{attribute.name}' is written as {written}, which loses part of the date; write it in full"
                raise SchemaError(msg)
    if first.kind != second.kind or getattr(first, "precise", None) != getattr(second, "precise", None):
        msg = f"'{first.name}' and '{second.name}' cannot be compared: both must be numbers, days, or times of day"
        raise SchemaError(msg)


def check_number(attribute: Any) -> None:
    """Raises SchemaError for a column that holds no numbers."""
    if not isinstance(attribute, NumericAttribute):
        msg = f"'{attribute.name}' is {attribute.kind} and holds no numbers; declare it numeric"
        raise SchemaError(msg)
