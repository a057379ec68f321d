"""Rules that are proposed for a schema file, of one table or of linked ones, and the schema with some of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.errors import SchemaError

if TYPE_CHECKING:
    from dpsyn_core.schema import Rule, Schema, TableSchema

Offered = tuple[list[Any], Callable[[list[Any]], tuple[Any, int]]]


def offered_rules(path: Path, table: Any = None) -> Offered:
    """Proposed rules, and what makes a checked schema with some of them, and says how many rules it has.

    table: of one table a pyarrow table, whose records then propose rules too (`kept_rules`).
    Raises SchemaError where the file holds no schema; so does the second where rules contradict each other.
    """
    from dpsyn_core.schema import Schema

    schema = Schema.load(path)
    if schema.links and table is None:
        return _of_tree(schema)
    return _of_one(schema.alone("each has rules of its own, which its headers propose"), table)


def kept_rules(schema: Schema, table: Any) -> list[Rule]:
    """Rules that no record of a pyarrow table breaks, but for those that headers propose: orders, sums, times, maps.

    Reads the data: private, for the owner of the table. Each has the source "data": a table that obeys one is NOT
    PRIVATE until a person confirms that it could be stated without the table. Raises TableError.
    """
    from dpsyn_core.evaluate import compare_tables, record_rules
    from dpsyn_core.schema import broken_counts, propose_rules, public_maps

    named = {frozenset(rule.columns) for rule in schema.rules}
    named |= {frozenset(rule.columns) for rule in propose_rules(schema) if rule.kind != "follows"}  # those have no map
    out: list[Rule] = []
    seen = [
        *_plain(record_rules(compare_tables(schema, table, table))),
        *(m.as_rule() for m in public_maps(schema, table)),
    ]
    for document in seen:
        for extended in _possible(schema, document | {"source": "data"}):
            rule = extended.rules[-1]
            alone = extended.model_copy(update={"rules": (rule,)})
            if frozenset(rule.columns) not in named and not broken_counts(table, alone)[0][1]:
                out.append(rule)
    return out


def declarable(schema: Schema, documents: list[dict[str, Any]]) -> list[Rule]:
    """Those of some rules that a schema has room for as its columns are declared, as a refit needs them."""
    return [one.rules[-1] for d in _plain(documents) for one in _possible(schema, d, ranges=False)]


def _plain(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rules without orders that follow from others: from two orders, a time between or a sum of what is above 0."""
    pairs = [(d["lower"], d["upper"]) for d in documents if d["kind"] == "order"]
    implied = {(a, d) for a, b in pairs for c, d in pairs if b == c and a != d}
    implied |= {(d["minus"], d["of"]) for d in documents if d["kind"] == "difference"}
    implied |= {(part, d["column"]) for d in documents if d["kind"] == "sum" for part in d["parts"]}
    return [d for d in documents if d["kind"] != "order" or (d["lower"], d["upper"]) not in implied]


def _possible(schema: Schema, document: dict[str, Any], *, ranges: bool = True) -> list[TableSchema]:
    """The schema with a rule; none where the declared kinds and ranges leave no room for it."""
    try:
        return [_extended(schema, [document], ranges=ranges)[0]]
    except SchemaError:
        return []


def _extended(schema: Schema, documents: list[dict[str, Any]], *, ranges: bool = True) -> tuple[TableSchema, int]:
    """The schema with further rules, checked. ranges: see `with_ranges`. Raises SchemaError."""
    from dpsyn_core.schema import TableSchema, check_rules, with_ranges

    whole = schema.document()
    whole["rules"] = [*whole.get("rules", []), *documents]
    extended = TableSchema.of(with_ranges(whole) if ranges else whole)
    check_rules(extended)
    return extended, len(extended.rules)


def _of_one(schema: TableSchema, table: Any) -> Offered:
    """Of one table."""
    from dpsyn_core.schema import propose_rules

    def with_rules(chosen: list[Any]) -> tuple[Any, int]:
        documents = [r.model_dump(mode="json") for r in chosen]
        return _extended(schema, [d | {"source": d["source"] or "proposed"} for d in documents])

    return [*propose_rules(schema), *([] if table is None else kept_rules(schema, table))], with_rules


def _of_tree(schema: Any) -> Offered:
    """As `_of_one`, for tables that hang together."""
    from dpsyn_core.runs.trees.decoder import check_linked_rules
    from dpsyn_core.schema import propose_linked_rules

    def with_rules(chosen: list[Any]) -> tuple[Any, int]:
        extended = schema
        for proposal in chosen:
            extended = proposal.added(extended)
        check_linked_rules(extended)
        inside = sum(len(t.columns.rules) for t in extended.tables if t.columns is not None)
        return extended, inside + sum(len(link.rules) for link in extended.links)

    return list(propose_linked_rules(schema)), with_rules
