"""The last step of every run: few cells of a synthetic table change, so that no record breaks a rule of the schema.

Rules are public and the records are synthetic, so that nothing here touches the promise. Rules that share a column are
kept together. For a record that breaks one, changes are tried in a fixed order, those first that leave no rule broken.
What a bounded number of rounds leaves broken takes the values of a record that keeps all of them: of this table, or,
where there is none, of records made from the public schema alone. Where records must differ, those that repeat an
earlier one are drawn again, and left out where nothing is free.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.derived import DerivedAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.columns import BLANK, Bools, Group, Ready, RuleColumn, any_broken, read_columns, repeats
from dpsyn_core.schema.rules.exchanging import exchange_blanks, exchange_conditions, exchange_orders, exchange_sums
from dpsyn_core.schema.rules.following import follow_all, ready
from dpsyn_core.schema.rules.mending import mend
from dpsyn_core.schema.rules.registry import KINDS, AnyRule, ImpossibleRule, UniqueRule, table_wide

REDRAWS = 40  # rounds in which repeated records are drawn again, before they are left out
TRIED = 4096  # records that are made from the schema alone, to see whether rules contradict each other


def combinations(rule: UniqueRule, schema: Schema) -> float:
    """How many records can differ in the columns of a rule, by their declared values; a blank cell makes it endless."""
    if any(schema[n].missing for n in rule.together):
        return math.inf
    return math.prod(_values_of(schema[n]) for n in rule.together)


def _values_of(attribute: Any) -> float:
    plain = RuleColumn.read(attribute.decode(np.zeros(1, dtype=np.int64), np.random.default_rng(0)), attribute)
    if attribute.kind == "categorical":
        return math.inf if attribute.other else len(attribute.values)
    low, high = plain.ends
    return math.inf if attribute.kind == "numeric" and attribute.special_values else (high - low) // plain.step + 1


def check_room(rules: Sequence[Any], schema: Schema, n_records: int | None) -> None:
    """Raises SchemaError where so many records cannot all differ; reads no data. None: the number is not public."""
    for rule in rules:
        if isinstance(rule, UniqueRule) and n_records is not None and combinations(rule, schema) < n_records:
            msg = (
                f"{rule}: the declared values have {combinations(rule, schema):,.0f} combinations and {n_records:,} "
                "records are asked for; ask for fewer, or name more columns in the rule"
            )
            raise SchemaError(msg)


def told_apart(
    unique: Sequence[UniqueRule], rules: Sequence[Ready], columns: Group, fine: Group, rng: Generator
) -> tuple[Bools, Bools]:
    """Draws repeated records again, in place; which records were changed, and which stay (the others must go).

    Args:
        unique: rules on records that must differ.
        rules: the others of the group, which all records keep already and keep afterwards.
        columns: the records.
        fine: records that keep the rules, to draw from.
        rng: for the draws.
    """
    n = len(next(iter(columns.values())).values)
    changed, kept = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    for turn in range(REDRAWS):
        again = np.logical_or.reduce([repeats(rule, columns) for rule in unique])
        at = np.flatnonzero(again)
        if not len(at):
            return changed, kept
        drawn = {name: c[at] for name, c in columns.items()}
        for rule in unique:
            mine = np.flatnonzero(repeats(rule, columns)[at])
            for name in _redrawn(rule, fine, turn):
                drawn[name].put(mine, _values(columns[name], fine, name, len(mine), rng, uniform=turn >= REDRAWS // 2))
        mend(rules, drawn, fine, rng)
        ok = np.flatnonzero(~any_broken(rules, drawn))
        for name, column in columns.items():
            column.put(at[ok], drawn[name][ok])
        changed[at[ok]] = True
    return changed, ~np.logical_or.reduce([repeats(rule, columns) for rule in unique])


def _redrawn(rule: UniqueRule, fine: Group, turn: int) -> tuple[str, ...]:
    """One column at a time, that of most values first; later all of them."""
    if turn % 4 == 3:
        return rule.together
    by_values = sorted(rule.together, key=lambda n: -len(np.unique(fine[n].values[:4096])))
    return (by_values[turn % 4 % len(by_values)],)


def _values(column: RuleColumn, fine: Group, name: str, n: int, rng: Generator, *, uniform: bool) -> RuleColumn:
    """Cells of other records; or uniform on the domain, where those leave no combination free."""
    held = len(fine[name].values)
    if held and not uniform:
        return fine[name][rng.integers(0, held, n)]
    a = column.attribute
    return RuleColumn.read(a.decode(rng.integers(0, a.size - a.special, n), rng), a)


@dataclass(frozen=True, kw_only=True, slots=True)
class Repairs:
    """What a repair changed in a synthetic table: records that broke a rule, and cells that are now others.

    left_out: records that would have had to differ from the others, and could not.
    """

    records: int = 0
    cells: int = 0
    left_out: int = 0


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
    return [sorted(listed, key=lambda r: KINDS.index(type(r))) for _, listed in found]


def witnesses(rules: Sequence[AnyRule], schema: Schema) -> Group:
    """Records that keep all rules of a group, made from the public schema alone; always the same ones.

    Raises SchemaError where none is found: the rules contradict each other.
    """
    names = list(dict.fromkeys(n for r in rules for n in r.columns))
    for special in (False, True):  # most rules say nothing of blank and special cells; some ask for them
        rng = default_rng(0)
        rows: Group = {}
        for name in names:
            attribute = schema[name]
            codes = rng.integers(0, attribute.size - (0 if special else attribute.special), TRIED)
            rows[name] = RuleColumn.read(attribute.decode(codes, rng), attribute)
        alone = ready([r for r in rules if not table_wide(r)], rows, np.ones(TRIED, dtype=bool))
        for _ in range(2):  # the second time with the fine ones of the first
            fine = np.flatnonzero(~any_broken(alone, rows))
            mend(alone, rows, {n: c[fine] for n, c in rows.items()}, rng)
        fine = np.flatnonzero(~any_broken(alone, rows))
        if len(fine):
            return {n: c[fine] for n, c in rows.items()}
    msg = (
        f"no record was found that keeps these rules together: {'; '.join(map(str, rules))[:500]}; they contradict "
        "each other or the declared domain, so change or remove one"
    )
    raise SchemaError(msg)


def check_rules(schema: Schema, n_records: int | None = None) -> None:
    """Raises SchemaError where rules contradict each other, or so many records cannot all differ; reads no data."""
    check_room(schema.rules, schema, n_records)
    for rules in groups_of(schema.rules):
        witnesses(rules, schema)


def repair(table: Any, rules: Sequence[AnyRule], schema: Schema, rng: Generator) -> tuple[Any, Repairs]:
    """A decoded synthetic table in which no record breaks a rule, and what was changed for it.

    A record that keeps all rules changes only where it exchanges a cell with another, and moves inside its bins for
    that. The same table, rules, schema and generator give the same result. Records that would have to differ and
    cannot are left out.

    Args:
        table: pyarrow, as `Codec.decode` makes it; all records of the table where a rule is about them together.
        rules: of the schema.
        schema: public metadata.
        rng: for cells that are drawn again; used only where a rule is broken.

    Raises:
        SchemaError: the rules contradict each other; runs find that before anything is charged.
    """
    records, stay = np.zeros(table.num_rows, dtype=bool), np.ones(table.num_rows, dtype=bool)
    before: Group = {}
    mended: list[tuple[list[AnyRule], Group]] = []
    for group in groups_of(rules):
        columns = read_columns(table, schema, list(dict.fromkeys(n for r in group for n in r.columns)))
        wrong = any_broken(group, columns)
        if wrong.any():
            records |= wrong
            before |= {n: c[np.arange(len(wrong))] for n, c in columns.items()}
            stay &= _repair_group(group, columns, wrong, schema, rng)
            mended.append((group, columns))
    _polished(mended, before, table, schema, rng)
    new = {n: _changed(before[n], c) for _, columns in mended for n, c in columns.items()}
    after = {n: c for _, columns in mended for n, c in columns.items() if new[n].any()}
    table = rewritten(table, after, new, schema, rng)
    cells = sum(int((c & stay).sum()) for c in new.values())
    return table if stay.all() else table.filter(stay), Repairs(
        records=int((records & stay).sum()), cells=cells, left_out=int((~stay).sum())
    )


def _changed(before: RuleColumn, after: RuleColumn) -> Bools:
    return np.asarray((after.state != before.state) | ((after.values != before.values) & (after.state != BLANK)))


def _polished(
    mended: Sequence[tuple[list[AnyRule], Group]], before: Group, table: Any, schema: Schema, rng: Generator
) -> None:
    """Brings pairs of columns back, in place, where no record has to differ from others."""
    groups = [(rules, columns) for rules, columns in mended if not any(isinstance(r, UniqueRule) for r in rules)]
    if not groups:
        return
    from dpsyn_core.schema.rules.pairs import polish

    now = {n: c for _, columns in mended for n, c in columns.items()}
    others = read_columns(table, schema, [a.name for a in schema.coded if a.name not in now])
    for rules, columns in groups:
        alone = ready(rules, columns, np.ones(table.num_rows, dtype=bool))
        rest = {n: c for n, c in (others | now).items() if n not in columns}
        polish(alone, before, columns, rest, rng)


def _repair_group(rules: Sequence[AnyRule], columns: Group, wrong: Bools, schema: Schema, rng: Generator) -> Bools:
    """Mends the records of a group, and says which of them stay."""
    public = [r for r in rules if not table_wide(r)]
    alone = ready(rules, columns, ~any_broken(public, columns))
    unique = [r for r in rules if isinstance(r, UniqueRule)]
    computed = [r for r in alone if not isinstance(r, ImpossibleRule)]
    follow_all(alone, columns, rng)
    exchange_blanks(alone, columns, rng)
    exchange_sums(alone, columns, rng)
    exchange_orders(alone, columns, rng)
    for some in (computed, alone):
        broke = any_broken(some, columns)
        at, kept = np.flatnonzero(broke), np.flatnonzero(~any_broken(alone, columns))
        fine = {n: c[kept] for n, c in columns.items()} if len(kept) else _closed(alone, rules, schema)
        rows = {n: c[at] for n, c in columns.items()}
        mend(some, rows, fine, rng, whole=columns)
        if some is computed:
            for name, column in rows.items():
                columns[name].put(at, column)
            exchange_conditions(alone, columns, rng)
            continue
        left = np.flatnonzero(any_broken(alone, rows))
        if len(left):
            donors = rng.integers(0, len(next(iter(fine.values())).values), len(left))
            for name, column in rows.items():
                column.put(left, fine[name][donors])
        for name, column in rows.items():
            columns[name].put(at, column)
    stay = told_apart(unique, alone, columns, fine, rng)[1] if unique else np.ones(len(wrong), dtype=bool)
    last = any_broken(rules, columns) & stay
    if last.any():  # a record of the schema alone may follow otherwise than those of the table
        same = {n: c[np.flatnonzero(~last)] for n, c in columns.items()} if not last.all() else fine
        for name, column in columns.items():
            column.put(np.flatnonzero(last), same[name][np.zeros(int(last.sum()), dtype=np.intp)])
        stay &= ~any_broken(unique, columns)
    return stay


def _closed(alone: Sequence[Ready], rules: Sequence[AnyRule], schema: Schema) -> Group:
    """Records that keep all rules, where no record of the table does: one of those that the schema alone gives.

    Only one, for what follows without a map must follow in one way.
    """
    found = witnesses(rules, schema)
    fine = np.flatnonzero(~any_broken(alone, found))
    if len(fine):
        return {n: c[fine] for n, c in found.items()}
    return {n: c[np.zeros(1, dtype=np.intp)] for n, c in found.items()}


def rewritten(table: Any, columns: Group, new: Mapping[str, Bools], schema: Schema, rng: Generator) -> Any:
    """The pyarrow table with new cells in these columns, and in those that are derived from them."""
    for name, column in columns.items():
        at = table.column_names.index(name)
        table = table.set_column(at, name, _rewritten(table.column(at), column, new[name], rng))
    for a in schema.attributes:
        if isinstance(a, DerivedAttribute) and a.origin in columns and a.name in table.column_names:
            filled = a.fill(columns[a.origin].values, schema[a.origin])
            table = table.set_column(table.column_names.index(a.name), a.name, filled)
    return table


def _rewritten(column: Any, found: RuleColumn, new: Bools, rng: Generator) -> Any:
    """The pyarrow column with the new cells; all others are the very same."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(found.attribute, CategoricalAttribute):
        return found.attribute.decode(found.values, rng, listed=pa.types.is_dictionary(column.type))
    blank = found.state == BLANK
    values = np.where(blank, 0, found.values).astype(found.values.dtype)
    fresh = found.attribute.cells(values, blank if blank.any() else None)
    return pc.if_else(pa.array(new), fresh, column)
