"""Relations between columns, as changes of a schema: groups, columns that follow from others, labels of values.

Every function returns a new schema that the engine has checked, or raises SchemaError.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema import CategoricalAttribute, Schema
from dpsyn_core.tables import canonical
from ui.schema.rows import turned, with_columns

WHOLE = re.compile(r"-?(0|[1-9]\d{0,14})")
LABELS = "labels"  # where the schema document keeps them, under an attribute's notes


def groups(schema: Schema) -> dict[str, tuple[str, ...]]:
    """Columns by the group they are kept in, in the order of the table."""
    out: dict[str, tuple[str, ...]] = {}
    for a in schema.coded:
        if a.group is not None:
            out[a.group] = (*out.get(a.group, ()), a.name)
    return out


def grouped(schema: Schema, name: str, columns: Sequence[str]) -> Schema:
    """These columns kept together under a name; a column leaves the group in which it was."""
    if not name.strip():
        msg = "the group has no name; give it one, for example home"
        raise SchemaError(msg)
    if len(columns) < 2:
        msg = f"the group '{name.strip()}' has {len(columns)} columns; choose at least two that belong together"
        raise SchemaError(msg)
    return _edited(schema, {c: {"group": name.strip()} for c in columns})


def ungrouped(schema: Schema, name: str) -> Schema:
    """The columns of a group on their own again."""
    return _edited(schema, {c: {"group": None} for c in groups(schema).get(name, ())})


def parents(schema: Schema, column: str) -> list[str]:
    """Columns that another one may follow from: those with a list of values."""
    return [a.name for a in schema.attributes if a.listed and a.name != column]


def followers(schema: Schema) -> list[Any]:
    """Columns that follow from another one."""
    return list(schema.derived)


def known_pairs(schema: Schema, column: str, origin: str) -> dict[str, str]:
    """What the schema says already of a column that follows from another: its value by the other's."""
    a = schema[column]
    if a.origins != (origin,):
        return {}
    return {canonical(k): canonical(v) for k, v in a.map}


def following(schema: Schema, column: str, origin: str, pairs: Mapping[str, str]) -> Schema:
    """A column that is not synthesized but looked up: `pairs` gives its value for every value of the other one."""
    blank = [k for k in schema[origin].keys if not pairs.get(k, "").strip()]
    if blank:
        more = f" (and {len(blank) - 1} more)" if blank[1:] else ""
        msg = f"'{blank[0][:80]}' of '{origin}' has no value{more}; say what '{column}' is there"
        raise SchemaError(msg)
    found = [pairs[k].strip() for k in schema[origin].keys]
    values: list[Any] = [int(v) for v in found] if all(WHOLE.fullmatch(v) for v in found) else list(found)
    listed = [[k, v] for k, v in zip(schema[origin].values, values, strict=True)]
    return _replaced(schema, column, {"kind": "derived", "from": origin, "map": listed, "source": "public"})


def standing_alone(schema: Schema, column: str) -> Schema:
    """A column that followed from another one, as a category of its own again."""
    values = list(dict.fromkeys(v for _, v in schema[column].map))
    return _replaced(schema, column, {"kind": "categorical", "values": values, "source": schema[column].source})


def labels(schema: Schema, column: str) -> dict[str, str]:
    """Words for the values of a column, by value."""
    found = schema[column].notes.get(LABELS)
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def labelled(schema: Schema, column: str, words: Mapping[str, str], *, codes: bool = False) -> Schema:
    """Words for the values of a column; with `codes`, values that the column does not list yet are added to it."""
    a = schema[column]
    if not a.listed:
        msg = f"column '{column}' is no category; make it one before its values get labels"
        raise SchemaError(msg)
    kept = {_code(k, a): v.strip() for k, v in words.items() if v.strip()}
    new = [k for k in kept if k not in a.keys]
    if new and not codes:
        more = f" (and {len(new) - 1} more)" if new[1:] else ""
        msg = f"'{new[0][:80]}'{more} is no value of '{column}'; tick the box to add it, or check the column"
        raise SchemaError(msg)
    whole = a.type == "integer" and all(WHOLE.fullmatch(k) for k in new)
    change: dict[str, Any] = {"notes": {**a.notes, LABELS: kept}}
    if not kept:
        change["notes"] = {k: v for k, v in a.notes.items() if k != LABELS}
    if new:
        change["values"] = [*a.values, *(int(k) if whole else k for k in new)]
    return _edited(schema, {column: change})


def _code(typed: str, attribute: CategoricalAttribute) -> str:
    """A code as the column writes it: a list of whole numbers knows 01 as 1."""
    code = typed.strip()
    if attribute.type == "integer" and code not in attribute.keys and re.fullmatch(r"[+-]?\d{1,15}", code):
        return str(int(code))
    return code


def _edited(schema: Schema, changes: Mapping[str, Mapping[str, Any]]) -> Schema:
    return with_columns(schema, {name: {**schema[name].document(), **change} for name, change in changes.items()})


def _replaced(schema: Schema, column: str, what: dict[str, Any]) -> Schema:
    return with_columns(schema, {column: turned(schema, column, what)})
