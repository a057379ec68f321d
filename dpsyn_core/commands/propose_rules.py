"""`dpsyn schema propose-rules`: rules that headers, kinds and ranges let expect; reads no table."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any


def point_out_rules(proposed: int) -> None:
    """Says how many rules the headers propose, where they do."""
    if proposed:
        what = "1 rule" if proposed == 1 else f"{proposed} rules"
        print(f"note: the headers propose {what} on records; see with 'dpsyn schema propose-rules'")


def run_propose_rules(args: argparse.Namespace) -> None:
    """Lists proposals with their numbers, or writes the schema with those that a person chose."""
    from dpsyn_core.errors import SettingError
    from dpsyn_core.files import check_writable
    from dpsyn_core.schema.document import is_linked

    proposed, with_rules = _linked_proposals(args.schema) if is_linked(args.schema) else _proposals(args.schema)
    for number, rule in enumerate(proposed, 1):
        print(f"{number}: {rule}")
    if not proposed:
        print("the headers propose no rule that the schema does not have")
    if bool(args.add) != (args.out is not None):
        msg = "--add and --out belong together: which proposals you know to hold, and where the schema with them goes"
        raise SettingError(msg)
    if args.out is None:
        return
    if not all(1 <= n <= len(proposed) for n in args.add):
        msg = f"--add got {' '.join(map(str, args.add))}; there are {len(proposed)} proposals, numbered from 1"
        raise SettingError(msg)
    check_writable(args.out)
    made, held = with_rules([proposed[n - 1] for n in dict.fromkeys(args.add)])
    made.dump(args.out)
    print(f"wrote {args.out}: {held} rules")


def _proposals(path: Path) -> tuple[list[Any], Callable[[list[Any]], tuple[Any, int]]]:
    """Proposed rules of one table, and what makes a checked schema of some of them, with its number of rules."""
    from dpsyn_core.runs.repair import check_rules
    from dpsyn_core.schema.document import Schema
    from dpsyn_core.schema.usual_rules import propose_rules

    schema = Schema.load(path)

    def with_rules(chosen: list[Any]) -> tuple[Any, int]:
        rules = [*schema.document().get("rules", []), *(r.model_dump(mode="json") for r in chosen)]
        made = Schema.of({**schema.document(), "rules": rules})
        check_rules(made)
        return made, len(made.rules)

    return list(propose_rules(schema)), with_rules


def _linked_proposals(path: Path) -> tuple[list[Any], Callable[[list[Any]], tuple[Any, int]]]:
    """As `_proposals`, for tables that hang together."""
    from dpsyn_core.linked.decoding import check_linked_rules
    from dpsyn_core.linked.document import LinkedSchema
    from dpsyn_core.suggest.linked_rules import propose_linked_rules

    schema = LinkedSchema.load(path)

    def with_rules(chosen: list[Any]) -> tuple[Any, int]:
        made = schema
        for proposal in chosen:
            made = proposal.added(made)
        check_linked_rules(made)
        inside = sum(len(t.columns.rules) for t in made.tables if t.columns is not None)
        return made, inside + sum(len(link.rules) for link in made.links)

    return list(propose_linked_rules(schema)), with_rules
