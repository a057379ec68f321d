"""Remarks on a schema of linked tables, and on tables that it does not describe: for the owner only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.runs.trees.bounding import check_names
from dpsyn_core.runs.trees.decoder import check_linked_rules
from dpsyn_core.runs.trees.rule_breaks import broken_roots
from dpsyn_core.schema import LinkedSchema, LinkedTable, check, has


def findings(schema: LinkedSchema, tables: Mapping[str, Any], *, strict: bool = False) -> Iterator[str]:
    """Sentences on each table and its keys. With tables this reads private data.

    Args:
        schema: of the tables.
        tables: pyarrow tables by their names; empty: the schema alone is checked.
        strict: cells that the schema does not describe are errors.

    Raises:
        TableError: a table is missing, or one too many is named. SchemaError: the first thing that stops a run, rules
            of links that contradict each other included.
    """
    if tables:
        check_names(schema, tables)
    for table in schema.tables:
        given = tables.get(table.name)
        keys = _keys(schema, table)
        yield f"table '{table.name}': {len(table.coded)} columns are synthesized; keys {', '.join(keys) or 'none'}"
        for key in keys:
            if given is not None and not has(given, key):
                msg = f"table '{table.name}': '{key}' is its key, and the table lacks it; check the headers"
                raise SchemaError(msg)
        elsewhere = {a.name for t in schema.tables if schema.one_file and t.columns for a in t.columns.attributes}
        for remark in () if table.columns is None else check(table.columns, given, strict=strict):
            if remark.about in keys or (remark.level == "note" and remark.about in elsewhere):
                continue  # keys stand in the links, and columns of one file in the schema of one of both tables
            sentence = f"table '{table.name}': " + (f"'{remark.about}' " if remark.about else "") + remark.text
            if remark.level == "error":
                raise SchemaError(sentence)
            yield f"{remark.level}: {sentence}"
    for link in schema.links:
        what = f"at most {link.max_children} of '{link.child}' for each of '{link.parent}', by '{link.key}'"
        yield f"link: {what}; one individual is one of '{schema.root.name}' with all that hangs on it"
    check_linked_rules(schema)
    for link in () if tables else schema.links:
        yield from (f"rule of the link to '{link.child}': {rule}" for rule in link.rules)
    for broken in broken_roots(schema, tables) if tables else ():
        yield f"rule of the link {broken.sentence()}"


def _keys(schema: LinkedSchema, table: LinkedTable) -> list[str]:
    """The columns that name records of a table, and their parents."""
    links = [link.key for link in schema.links if link.child == table.name]
    return list(dict.fromkeys(k for k in (table.key, *links) if k is not None))
