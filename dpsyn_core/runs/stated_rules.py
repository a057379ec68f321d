"""Stated rules: what every record of a release keeps, as its manifest says it, and who vouches for each.

Rules of a schema are public by its definition, and what a run learns with budget is a value that it released: neither
says more of a record than the schema and the released marginals do.
"""

from __future__ import annotations

from typing import Any, Literal

from dpsyn_core.estimate import ReleasedTables
from dpsyn_core.privacy import StatedRule

BOUGHT: Literal["bought"] = "bought"
# by the source of a rule in a schema
_VOUCHED = {"public": "owner's word", "proposed": "proposed and agreed", None: "not said", "data": "nobody"}


def stated_rules(schema: Any) -> tuple[StatedRule, ...]:
    """The rules of a schema in the words of reports; of linked tables those of each table, then those of each link."""
    of_tables = [(t.name, t.columns.rules) for t in schema.tables if t.columns is not None]
    named = [*of_tables, *((link.child, link.rules) for link in schema.links)]
    return tuple(
        StatedRule.model_validate(
            {"table": table if schema.links else None, "rule": str(rule), "vouched": _VOUCHED[rule.source]}
        )
        for table, rules in named
        for rule in rules
    )


def bought_rules(released: ReleasedTables, schema: Any) -> tuple[StatedRule, ...]:
    """What a run learned with budget: columns that follow from others, and values that stand in the same records alone.

    The numbers of exceptions are noisy and were released, as all else here. schema: of one table.
    """
    said = []
    for f in released.followers:
        but = f", but for {f.exceptions:.2%} of the records" if f.exceptions else ""
        said.append(f"{f.name} follows from {f.of}{but}")
    for t in released.together:
        labels = {a.name: a.labels() for a in schema.coded if a.name in t.codes}
        parts = [f"{n} is {' or '.join(labels[n][c] if n in labels else str(c) for c in t.codes[n])}" for n in t.codes]
        said.append(f"in the same records alone: {'; '.join(parts)}")
    return tuple(StatedRule(rule=rule, vouched=BOUGHT) for rule in said)
