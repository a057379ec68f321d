"""Rules that are proposed for a schema file, of one table or of linked ones, and the schema with some of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpsyn_core.schema import TableSchema

Offered = tuple[list[Any], Callable[[list[Any]], tuple[Any, int]]]


def offered_rules(path: Path) -> Offered:
    """Proposed rules, and what makes a checked schema with some of them, and says how many rules it has.

    Raises SchemaError where the file holds no schema; so does the second where rules contradict each other.
    """
    from dpsyn_core.schema import Schema

    schema = Schema.load(path)
    return _of_tree(schema) if schema.links else _of_one(schema.alone("each has rules of its own"))


def _of_one(schema: TableSchema) -> Offered:
    """Of one table."""
    from dpsyn_core.schema import Schema, check_rules, propose_rules

    def with_rules(chosen: list[Any]) -> tuple[Any, int]:
        rules = [
            *schema.document().get("rules", []),
            *(r.model_dump(mode="json") | {"source": "public"} for r in chosen),
        ]
        extended = Schema.of({**schema.document(), "rules": rules})
        check_rules(extended)
        return extended, len(extended.rules)

    return list(propose_rules(schema)), with_rules


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
