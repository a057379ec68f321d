"""The last step of every run: changes few cells of a synthetic table, so that no record breaks a rule of the schema.

Rules are public and the records are synthetic, so that nothing here touches the promise. Rules that share a column are
kept together. For a record that breaks one, changes are tried in a fixed order, those first that leave no rule broken.
What a bounded number of rounds leaves broken takes the values of a record that keeps all of them: of this table, or,
where there is none, of records made from the public schema alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes import DerivedAttribute
from dpsyn_core.schema.categorical import CategoricalAttribute
from dpsyn_core.schema.codec import cells_of, decode_column, derived_column
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.ruled import (
    BLANK,
    PLAIN,
    Bools,
    Group,
    RuledColumn,
    any_broken,
    broken,
    excess_of,
    meanings,
    read_ruled,
)  # fmt: skip
from dpsyn_core.schema.rules import AdditionRule, AnyRule, DifferenceRule, ImpossibleRule, OrderRule

ROUNDS = 6  # through all rules of a group, before values are taken from another record
TRIED = 4096  # records that are made from the schema alone, to see whether rules contradict each other


@dataclass(frozen=True, kw_only=True, slots=True)
class Repairs:
    """What a repair changed in a synthetic table: records that broke a rule, and cells that are now others."""

    records: int = 0
    cells: int = 0


Try = dict[str, NDArray[Any] | RuledColumn]  # new plain values, or cells of other records


def groups_of(rules: Sequence[AnyRule]) -> list[list[AnyRule]]:
    """Rules that share columns, directly or by way of others, together and in their order; computed columns first."""
    found: list[tuple[set[str], list[AnyRule]]] = []
    for rule in rules:
        names, joined = set(rule.columns), [rule]
        for other in [f for f in found if f[0] & names]:
            names |= other[0]
            joined = [*other[1], *joined]
            found.remove(other)
        found.append((names, joined))
    last = (ImpossibleRule, DifferenceRule, AdditionRule, OrderRule)
    return [sorted(listed, key=lambda r: last.index(type(r))) for _, listed in found]


def _tries(rule: AnyRule, rules: Sequence[AnyRule], rows: Group, fine: Group, rng: Generator) -> Iterator[Try]:
    """Changes that may mend records which all break a rule, in the order in which they are tried.

    fine: of records that break no rule of the group.
    """
    if isinstance(rule, ImpossibleRule):
        yield from _other_values(rule, rules, rows, fine, rng)
    elif isinstance(rule, OrderRule):
        yield from _ordered(rule, rows, fine, rng)
    else:
        yield from _summed(rule, rows)


def _other_values(
    rule: ImpossibleRule, rules: Sequence[AnyRule], rows: Group, fine: Group, rng: Generator
) -> Iterator[Try]:  # fmt: skip
    """One column's cell, from records that agree with the rule; those first that meet its other conditions."""
    said = meanings(rule, fine)
    met = {n: np.logical_and.reduce([fine[n].meets(m) for m in listed]) for n, listed in said.items()}
    pools = []
    for name, own in met.items():
        others = np.logical_and.reduce([np.ones_like(own), *(m for n, m in met.items() if n != name)])
        used = sum(name in r.columns for r in rules)
        for rest, free in ((0, ~own & others), (1, ~own)):
            pools.append((rest, used, -int(free.sum()), name, np.flatnonzero(free)))
    n = len(rows[rule.columns[0]].values)
    for *_, name, pool in sorted(pools, key=lambda p: p[:4]):
        if len(pool):
            yield {name: fine[name][pool[rng.integers(0, len(pool), n)]]}


def _ordered(rule: OrderRule, rows: Group, fine: Group, rng: Generator) -> Iterator[Try]:
    """Both values exchanged; else one of them at the distance that another record has; else next to the other."""
    low, high = rows[rule.lower], rows[rule.upper]
    yield {rule.lower: high.values.astype(low.values.dtype), rule.upper: low.values.astype(high.values.dtype)}
    first, second = fine[rule.lower], fine[rule.upper]
    known = np.flatnonzero((first.state == PLAIN) & (second.state == PLAIN))
    if len(known):
        at = known[rng.integers(0, len(known), len(low.values))]
        gap = second.values[at] - first.values[at]
        yield {rule.upper: high.nearest(low.values + gap, up=True)}
        yield {rule.lower: low.nearest(high.values - gap, up=False)}
    extra = max(low.step, high.step) if rule.strict else 0
    yield {rule.upper: high.nearest(low.values + extra, up=True)}
    yield {rule.lower: low.nearest(high.values - extra, up=False)}


def _summed(rule: DifferenceRule | AdditionRule, rows: Group) -> Iterator[Try]:
    """One column computed from the others; else as little as possible of several.

    Of a sum it is the sum. Of a difference it is what is subtracted from: a stay is told by its first day and its
    length, whose counts were measured, while the difference of two dates that were made apart is mostly chance.
    """
    excess = excess_of(rule, rows)
    signed = list(zip(rule.signs, rule.columns, strict=True))
    for sign, name in sorted(signed, key=lambda s: isinstance(rule, DifferenceRule) and s[1] != rule.of):
        yield {name: rows[name].values - sign * excess}
    out: Try = {}
    for sign, name in zip(rule.signs, rule.columns, strict=True):
        column = rows[name]
        moved = column.nearest(column.values - sign * excess, up=False)
        excess = excess + sign * (moved - column.values)
        out[name] = moved
    yield out


def _mend(rules: Sequence[AnyRule], rows: Group, fine: Group, rng: Generator) -> None:
    """Rounds through the rules; changes `rows` in place, and may leave some broken."""
    for _ in range(ROUNDS):
        clean = True
        for rule in rules:
            left = np.flatnonzero(broken(rule, rows))
            for all_kept in (True, False):
                if not len(left):
                    break
                clean = False
                here = {n: c[left] for n, c in rows.items()}
                done = np.zeros(len(left), dtype=bool)
                for change in _tries(rule, rules, here, fine, rng):
                    after, ok = _changed(here, change)
                    ok &= ~done & ~(any_broken(rules, after) if all_kept else broken(rule, after))
                    at = np.flatnonzero(ok)
                    for name in change:
                        rows[name].put(left[at], after[name][at])
                    done |= ok
                    if done.all():
                        break
                left = left[~done]
        if clean:
            return


def _changed(here: Group, change: Try) -> tuple[Group, Bools]:
    """The records after a change, and which of them keep to their domains."""
    after, ok = dict(here), np.ones(len(next(iter(here.values())).values), dtype=bool)
    for name, given in change.items():
        if isinstance(given, RuledColumn):
            after[name] = given
        else:
            column = here[name]
            moved = given != column.values
            ok &= ~moved | column.allows(given)
            after[name] = RuledColumn(column.attribute, given.astype(column.values.dtype), column.state)
    return after, ok


def witnesses(rules: Sequence[AnyRule], schema: Schema) -> Group:
    """Records that keep all rules of a group, made from the public schema alone; always the same ones.

    Raises SchemaError where none is found: the rules contradict each other.
    """
    rng = default_rng(0)
    rows: Group = {}
    for name in dict.fromkeys(n for r in rules for n in r.columns):
        attribute = schema[name]
        codes = rng.integers(0, attribute.size - attribute.special, TRIED)
        rows[name] = RuledColumn.read(decode_column(codes, attribute, rng), attribute)
    for _ in range(2):  # the second time with the fine ones of the first
        fine = np.flatnonzero(~any_broken(rules, rows))
        _mend(rules, rows, {n: c[fine] for n, c in rows.items()}, rng)
    fine = np.flatnonzero(~any_broken(rules, rows))
    if not len(fine):
        msg = (
            f"no record was found that keeps these rules together: {'; '.join(map(str, rules))[:500]}; they contradict "
            "each other or the declared domain, so change or remove one"
        )
        raise SchemaError(msg)
    return {n: c[fine] for n, c in rows.items()}


def check_rules(schema: Schema) -> None:
    """Raises SchemaError where rules contradict each other; reads no data."""
    for rules in groups_of(schema.rules):
        witnesses(rules, schema)


@dataclass(slots=True)
class _Changes:
    """Columns of a table and which of their cells are new."""

    columns: Group = field(default_factory=dict)
    cells: dict[str, Bools] = field(default_factory=dict)


def repair(table: Any, rules: Sequence[AnyRule], schema: Schema, rng: Generator) -> tuple[Any, Repairs]:
    """A decoded synthetic table in which no record breaks a rule, and what was changed for it.

    Records that keep all rules stay as they are. The same table, rules, schema and generator give the same result.

    Args:
        table: pyarrow, as `Codec.decode` makes it.
        rules: of the schema.
        schema: public metadata.
        rng: for cells that are drawn again; used only where a rule is broken.

    Raises:
        SchemaError: the rules contradict each other; runs find that before anything is charged.
    """
    changes, records = _Changes(), np.zeros(table.num_rows, dtype=bool)
    for group in groups_of(rules):
        columns = read_ruled(table, schema, list(dict.fromkeys(n for r in group for n in r.columns)))
        wrong = any_broken(group, columns)
        if wrong.any():
            records |= wrong
            _repair_group(group, columns, wrong, schema, rng, changes)
    for name, column in changes.columns.items():
        at = table.column_names.index(name)
        table = table.set_column(at, name, _rewritten(table.column(at), column, changes.cells[name], rng))
    for a in schema.attributes:
        if isinstance(a, DerivedAttribute) and a.origin in changes.columns and a.name in table.column_names:
            codes = changes.columns[a.origin].values
            filled = derived_column(codes, a, schema[a.origin])
            table = table.set_column(table.column_names.index(a.name), a.name, filled)
    return table, Repairs(records=int(records.sum()), cells=sum(int(c.sum()) for c in changes.cells.values()))


def _repair_group(
    rules: Sequence[AnyRule], columns: Group, wrong: Bools, schema: Schema, rng: Generator, changes: _Changes
) -> None:
    at, kept = np.flatnonzero(wrong), np.flatnonzero(~wrong)
    fine = {n: c[kept] for n, c in columns.items()} if len(kept) else witnesses(rules, schema)
    rows = {n: c[at] for n, c in columns.items()}
    _mend(rules, rows, fine, rng)
    left = np.flatnonzero(any_broken(rules, rows))
    if len(left):
        donors = rng.integers(0, len(next(iter(fine.values())).values), len(left))
        for name, column in rows.items():
            column.put(left, fine[name][donors])
    for name, column in rows.items():
        old = columns[name][at]
        new = (column.state != old.state) | ((column.values != old.values) & (column.state != BLANK))
        if new.any():
            whole = np.zeros(len(wrong), dtype=bool)
            whole[at] = new
            columns[name].put(at, column)
            changes.columns[name], changes.cells[name] = columns[name], whole


def _rewritten(column: Any, found: RuledColumn, new: Bools, rng: Generator) -> Any:
    """The pyarrow column with the new cells; all others are the very same."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(found.attribute, CategoricalAttribute):
        return decode_column(found.values, found.attribute, rng, listed=pa.types.is_dictionary(column.type))
    blank = found.state == BLANK
    values = np.where(blank, 0, found.values).astype(found.values.dtype)
    fresh = cells_of(values, found.attribute, blank if blank.any() else None)
    return pc.if_else(pa.array(new), fresh, column)
