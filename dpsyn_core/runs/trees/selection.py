"""Selection: roots of synthetic linked tables that meet a condition, some of their columns, and further rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError, SettingError
from dpsyn_core.runs.refits.subset_schema import only_columns
from dpsyn_core.runs.trees.joined_columns import own_columns_of
from dpsyn_core.schema import Link, LinkedSchema, check_where, met, named

Tables = dict[str, Any]
Ints = NDArray[np.int64]


def parent_of(tables: Tables, link: Link) -> Ints:
    """Place of the parent of each child: synthetic keys count from 1."""
    parents: Ints = tables[link.child].column(link.key).to_numpy().astype(np.int64) - 1
    return parents


def gathered(tables: Tables, schema: LinkedSchema, source: Ints) -> Tables:
    """Copies of these roots, with all that hangs on them, under fresh keys."""
    import pyarrow as pa

    root = schema.root.name
    out = {root: _with(tables[root].take(pa.array(source)), {schema.root_key: np.arange(1, len(source) + 1)})}
    chosen = {root: source}
    for i in schema.downward:
        link = schema.links[i]
        above = chosen[link.parent]
        counts = np.bincount(parent_of(tables, link), minlength=tables[link.parent].num_rows)
        starts = (np.cumsum(counts) - counts)[above]
        taken = counts[above]
        rows = np.repeat(starts - (np.cumsum(taken) - taken), taken) + np.arange(int(taken.sum()))
        chosen[link.child] = rows
        named = {link.key: np.repeat(np.arange(1, len(above) + 1), taken)}
        key = schema[link.child].key
        if key is not None:
            named[key] = np.arange(1, len(rows) + 1)
        out[link.child] = _with(tables[link.child].take(pa.array(rows)), named)
    return out


def _with(table: Any, named: Mapping[str, Ints]) -> Any:
    import pyarrow as pa

    for name, values in named.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(values))
    return table


def with_tree_rules(schema: LinkedSchema, rules: Sequence[Mapping[str, Any]]) -> LinkedSchema:
    """The schema with further rules, each of a table ("table": NAME) or of the link to one ("link": NAME).

    Raises:
        SchemaError: a rule names neither, or does not fit the schema.
    """
    if not rules:
        return schema
    document = schema.document()
    for rule in rules:
        rule_fields = dict(rule)
        table, link = rule_fields.pop("table", None), rule_fields.pop("link", None)
        if table is not None and link is None:
            places = [t["schema"] for t in document["tables"] if t["name"] == table and "schema" in t]
        else:
            places = [one for one in document["links"] if one["child"] == link and table is None]
        if not places:
            some = ", ".join(t.name for t in schema.tables)
            msg = (
                'a further rule of linked tables says whose it is: "table" for a rule inside one of them, or "link" '
                f"with the child for one across a link; the tables are {some}"
            )
            raise SchemaError(msg)
        places[0]["rules"] = [*places[0].get("rules", ()), rule_fields]
    return LinkedSchema.of(document)


def further_rules(schema: LinkedSchema, rules: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The rules that `with_tree_rules` adds."""
    return [rule for rule in with_tree_rules(schema, rules).rules if rule not in schema.rules]


def check_condition(schema: LinkedSchema, where: str | None) -> None:
    """Raises SchemaError or QuestionError for a condition that is none on columns of the root."""
    columns = {a.name: a for a in schema.root.coded}
    for name in named(where):
        if name not in columns:
            msg = (
                f"'{name[:80]}' is no column of '{schema.root.name}': a condition is about the roots, which stay with "
                f"all that hangs on them; their columns are {', '.join(columns) or '-'}"
            )
            raise SchemaError(msg)
    check_where(where, columns)


def meeting(tables: Tables, schema: LinkedSchema, where: str | None) -> Tables:
    """The roots that meet a condition, with all that hangs on them, under fresh keys. where: None: all."""
    if where is None:
        return tables
    mask = met(where, own_columns_of(tables[schema.root.name], schema.root.coded))
    return gathered(tables, schema, np.flatnonzero(mask))


def kept_columns(schema: LinkedSchema, columns: Sequence[str] | None) -> dict[str, frozenset[str]] | None:
    """The columns of each table that are left out; None: none are.

    Args:
        schema: of the tables.
        columns: that are kept, as TABLE.COLUMN; keys are always kept.

    Raises:
        SettingError: a name that no table has.
    """
    if columns is None:
        return None
    every = {
        f"{t.name}.{n}": (t.name, n) for t in schema.tables if t.columns is not None for n in t.columns.output_names
    }
    unknown = next((c for c in columns if c not in every), None)
    if unknown is not None or not columns:
        msg = (
            f"'{(unknown or '')[:80]}' is no column of the release; write TABLE.COLUMN, of "
            f"{', '.join(list(every)[:20])}"
        )
        raise SettingError(msg)
    gone = [every[c] for c in every if c not in columns]
    return {t.name: frozenset(n for table, n in gone if table == t.name) for t in schema.tables}


def described_tree(
    schema: LinkedSchema, rules: Sequence[Mapping[str, Any]], columns: Sequence[str] | None
) -> LinkedSchema:
    """The schema of the tables of a refit: that of the run with further rules, without columns that are left out.

    Orders, roles and rules that need such a column go with it.

    Raises:
        InputError: a rule or a column that does not fit, or a child table of which no column is kept.
    """
    found = with_tree_rules(schema, rules)
    gone = kept_columns(found, columns)
    if gone is None:
        return found
    document, lost = found.document(), frozenset().union(*gone.values())
    for table, written in zip(found.tables, document["tables"], strict=True):
        if table.columns is None:
            continue
        stays = [n for n in table.columns.output_names if n not in gone[table.name]]
        if stays:
            written["schema"] = only_columns(table.columns, stays).document()
        elif table is found.root:
            del written["schema"]
        else:
            msg = f"no column of '{table.name}' is kept; name at least one of every table that hangs on another"
            raise SettingError(msg)
    for link, written in zip(found.links, document["links"], strict=True):
        if link.order in gone[link.child]:
            written.update(order=None, distinct=False)
        if link.roles is not None and link.roles.column in gone[link.child]:
            written["roles"] = None
        kept = [not {n.rpartition(".")[2] for n in rule.columns} & lost for rule in link.rules]
        written["rules"] = [r for r, stays in zip(written.get("rules", ()), kept, strict=True) if stays]
    return LinkedSchema.of(document)


def without(tables: Tables, schema: LinkedSchema, gone: Mapping[str, frozenset[str]] | None) -> Tables:
    """The tables without columns that are left out. Keys stay."""
    if gone is None:
        return tables
    lost = gone if not schema.one_file else {schema.name: frozenset().union(*gone.values())}
    return {
        name: table.drop_columns([c for c in table.column_names if c in lost[name]]) for name, table in tables.items()
    }
