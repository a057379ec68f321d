"""How many records of a table break each rule of its schema, for its owner only; and a record that would break one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.derived import DerivedAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.base import Rule
from dpsyn_core.schema.rules.columns import read_columns
from dpsyn_core.schema.rules.follows import FollowsRule
from dpsyn_core.tables import canonical, has_decimal_comma

DRAWN = 500  # records among which one is looked for that a rule forbids


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleBreaks:
    """A rule in words; the share and number of real (None: not read) and synthetic records that break it."""

    rule: str
    real: float | None
    synthetic: float
    real_records: int | None
    synthetic_records: int


def rule_breaks(schema: Schema, synthetic: Any, real: Any = None) -> tuple[RuleBreaks, ...]:
    """For each rule of the schema, of pyarrow tables with at least one record; private where real is given."""
    theirs = broken_counts(synthetic, schema)
    ours = {} if real is None else {str(rule): count for rule, count in broken_counts(real, schema)}
    return tuple(
        RuleBreaks(
            rule=str(rule),
            real=ours[str(rule)] / real.num_rows if str(rule) in ours else None,
            synthetic=count / synthetic.num_rows,
            real_records=ours.get(str(rule)),
            synthetic_records=count,
        )
        for rule, count in theirs
    )


def broken_counts(table: Any, schema: Schema) -> list[tuple[Rule, int]]:
    """How many records of a pyarrow table break each rule: of a real table this is private, for its owner only.

    A derived column follows by its map; it counts where the table has it.
    """
    comma = has_decimal_comma(table)
    out: list[tuple[Rule, int]] = []
    for rule in schema.rules:
        group = read_columns(table, schema, rule.columns, comma=comma)
        out.append((rule, int(rule.broken(group).sum())))
    derived = derived_rules(schema)
    for a in schema.attributes:
        if isinstance(a, DerivedAttribute) and a.name in table.column_names:
            out.append((derived[a.name], _derived_otherwise(table, a, schema[a.origin])))
    return out


def breaking_record(rule: Rule, schema: Schema) -> dict[str, Any]:
    """The cells of a record that a rule forbids, by column, drawn among declared values; empty where none was drawn.

    No table is read. A rule about all records of a table has none.
    """
    import pyarrow as pa

    if rule.table_wide:
        return {}
    rng, attributes = np.random.default_rng(0), {n: schema[n] for n in rule.columns}
    table = pa.table(
        {n: a.decode(a.without_other(rng.integers(0, a.size, DRAWN), rng), rng) for n, a in attributes.items()}
    )
    group = read_columns(table, schema, rule.columns, comma=any(a.decimal_comma for a in attributes.values()))
    found = np.flatnonzero(rule.broken(group))[:1].tolist()
    return {n: table[n][i].as_py() for i in found for n in rule.columns if table[n][i].is_valid}


def derived_rules(schema: Schema) -> dict[str, FollowsRule]:
    """The rule that each derived column keeps, by its name."""
    derived = [a for a in schema.attributes if isinstance(a, DerivedAttribute)]
    more: dict[str, Any] = {"part": None, "on": None, "measured": False}
    return {a.name: FollowsRule(column=a.name, of=(a.origin,), map=a.map, **more) for a in derived}


def _derived_otherwise(table: Any, a: DerivedAttribute, parent: CategoricalAttribute) -> int:
    """Records whose derived cell is not blank and differs from what the map gives."""
    targets = a.targets(parent.keys)
    listed = CategoricalAttribute.model_validate(
        {"name": a.name, "values": list({canonical(v): v for v in targets}.values())}
    )
    codes_there, blank = listed.match(table.column(a.name))
    codes = parent.encode(table.column(a.origin))
    listed_codes = (codes >= 0) & (codes < len(targets))
    follows = np.array([listed.keys.index(canonical(v)) for v in targets])[np.where(listed_codes, codes, 0)]
    return int((listed_codes & ~blank & (codes_there != follows)).sum())
