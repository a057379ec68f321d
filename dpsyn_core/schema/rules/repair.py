"""The last step of every run: few cells of a synthetic table change, so that no record breaks a rule of the schema.

Rules are public and the records are synthetic, so that nothing here touches the promise. Rules that share a column are
kept together, by one loop: changes of cells are proposed, and each is accepted where fewer rules are broken after it.
Proposals come from the kinds of rules: values moved inside their bins, cells exchanged with other records, then new
values. What a bounded number of rounds leaves broken takes the cells of a record that keeps all rules: of this table,
or, where there is none, of records drawn from the public schema alone. Where records must differ, those that repeat an
earlier one are drawn again, and left out where nothing is free. At last pairs of columns are brought back (`pairs`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.derived import DerivedAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.base import Bools, Change, RecordRule, Rows, Rule, RuleProposal
from dpsyn_core.schema.rules.bin_moves import moved_inside
from dpsyn_core.schema.rules.columns import (
    BLANK,
    Group,
    RuleColumn,
    any_broken,
    faults,
    part,
    put,
    read_columns,
    size_of,
)
from dpsyn_core.schema.rules.registry import KINDS
from dpsyn_core.schema.rules.unique import UniqueRule, drawn_again

Counts = NDArray[np.int64]
ROUNDS = 6  # through all rules of a group, before cells are taken from another record
REDRAWS = 40  # rounds in which repeated records are drawn again, before they are left out
TRIED = 4096  # records that are made from the schema alone, to see whether rules contradict each other


@dataclass(frozen=True, kw_only=True, slots=True)
class Repairs:
    """What a repair changed in a synthetic table: records that broke a rule, and cells that are now others.

    left_out: records that would have had to differ from the others, and could not.
    """

    records: int = 0
    cells: int = 0
    left_out: int = 0


def check_room(rules: Sequence[Any], schema: Schema, n_records: int | None) -> None:
    """Raises SchemaError where so many records cannot all differ; reads no data. None: the number is not public."""
    for rule in rules:
        if isinstance(rule, UniqueRule) and n_records is not None and rule.combinations(schema) < n_records:
            msg = (
                f"{rule}: the declared values have {rule.combinations(schema):,.0f} combinations and {n_records:,} "
                "records are asked for; ask for fewer, or name more columns in the rule"
            )
            raise SchemaError(msg)


def check_rules(schema: Schema, n_records: int | None = None) -> None:
    """Raises SchemaError where rules contradict each other, or so many records cannot all differ; reads no data."""
    check_room(schema.rules, schema, n_records)
    for rules in groups_of(schema.rules):
        witnesses(rules, schema)


def groups_of(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Rules that share columns, directly or by way of others, together and in their order; computed columns first."""
    out: list[tuple[set[str], list[Rule]]] = []
    for rule in rules:
        names, joined = set(rule.columns), [rule]
        for other in [f for f in out if f[0] & names]:
            names |= other[0]
            joined = [*other[1], *joined]
            out.remove(other)
        out.append((names, joined))
    order = list(KINDS)
    return [sorted(listed, key=lambda r: order.index(r.kind)) for _, listed in out]


def record_rules(rules: Sequence[Rule], group: Group, kept: Bools) -> list[RecordRule]:
    """Rules as they are kept record by record: what follows without a map follows as these records let expect.

    Rules are read one after the other, each on records that follow the ones before it, so that columns which follow
    from each other do so in one way.

    kept: records to go by, where there are any.
    """
    out: list[RecordRule] = []
    now = dict(group)
    for rule in rules:
        derived = rule.per_record(now, kept, rules)
        if derived is not None:
            out.append(derived)
            now |= derived.filled(now)
    return out


def witnesses(rules: Sequence[Rule], schema: Schema) -> Group:
    """Records that keep all rules of a group, drawn from the public schema alone with a fixed seed.

    Raises SchemaError where there is none: the rules contradict each other.
    """
    names = list(dict.fromkeys(n for r in rules for n in r.columns))
    for special in (False, True):  # most rules say nothing of blank and special cells; some ask for them
        rng = default_rng(0)
        rows: Group = {}
        for name in names:
            attribute = schema[name]
            codes = rng.integers(0, attribute.size - (0 if special else attribute.special), TRIED)
            rows[name] = RuleColumn.read(attribute.decode(codes, rng), attribute)
        alone = record_rules([r for r in rules if not r.table_wide], rows, np.ones(TRIED, dtype=bool))
        for _ in range(2):  # the second time with the fine ones of the first
            keepers = part(rows, np.flatnonzero(~any_broken(alone, rows)))
            change(alone, rows, dict.fromkeys(range(len(alone)), keepers), rng)
        fine = np.flatnonzero(~any_broken(alone, rows))
        if len(fine):
            return part(rows, fine)
    msg = (
        f"no record was found that keeps these rules together: {'; '.join(map(str, rules))[:500]}; they contradict "
        "each other or the declared domain, so change or remove one"
    )
    raise SchemaError(msg)


def repair(table: Any, rules: Sequence[Rule], schema: Schema, rng: Generator) -> tuple[Any, Repairs]:
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
    repaired: list[tuple[list[Rule], Group]] = []
    for group in groups_of(rules):
        columns = read_columns(table, schema, list(dict.fromkeys(n for r in group for n in r.columns)))
        wrong = any_broken(group, columns)
        if wrong.any():
            records |= wrong
            before |= part(columns, np.arange(len(wrong)))
            stay &= _repair_group(group, columns, schema, rng)
            repaired.append((group, columns))
    _bring_pairs_back(repaired, before, table, schema, rng)
    new = {n: c.differs(before[n]) for _, columns in repaired for n, c in columns.items()}
    after = {n: c for _, columns in repaired for n, c in columns.items() if new[n].any()}
    table = rewritten(table, after, new, schema, rng)
    cells = sum(int((c & stay).sum()) for c in new.values())
    return table if stay.all() else table.filter(stay), Repairs(
        records=int((records & stay).sum()), cells=cells, left_out=int((~stay).sum())
    )


def _bring_pairs_back(
    repaired: Sequence[tuple[list[Rule], Group]], before: Group, table: Any, schema: Schema, rng: Generator
) -> None:
    """Brings pairs of columns back, in place, where no record has to differ from others."""
    groups = [(rules, columns) for rules, columns in repaired if not any(r.unique for r in rules)]
    if not groups:
        return
    from dpsyn_core.schema.rules.pairs import bring_back

    now = {n: c for _, columns in repaired for n, c in columns.items()}
    others = read_columns(table, schema, [a.name for a in schema.coded if a.name not in now])
    for rules, columns in groups:
        alone = record_rules(rules, columns, np.ones(table.num_rows, dtype=bool))
        rest = {n: c for n, c in (others | now).items() if n not in columns}
        bring_back(alone, before, columns, rest, rng)


def _repair_group(rules: Sequence[Rule], columns: Group, schema: Schema, rng: Generator) -> Bools:
    """Changes the records of a group until they keep its rules, and says which of them stay."""
    public = [r for r in rules if not r.table_wide]
    alone = record_rules(rules, columns, ~any_broken(public, columns))
    accept_inside(RuleProposal(rows=np.flatnonzero(any_broken(alone, columns)), cells={}), alone, columns, rng)
    for rule in alone:
        if rule.broken(columns).any():
            for proposal in rule.exchanges(alone, columns, rng):
                accept_inside(proposal, alone, columns, rng)
    kept = np.flatnonzero(~any_broken(alone, columns))
    keepers = part(columns, kept) if len(kept) else _closed(alone, rules, schema)
    left = np.flatnonzero(any_broken(alone, columns))
    if len(left):
        rows = part(columns, left)
        change(alone, rows, _givers(alone, columns, keepers), rng)
        put(columns, left, rows)
        _replace(np.flatnonzero(any_broken(alone, columns)), columns, keepers, rng)
    unique = [r for r in rules if isinstance(r, UniqueRule)]
    stay = _set_apart(unique, alone, columns, keepers, rng) if unique else np.ones(size_of(columns), dtype=bool)
    last = any_broken(rules, columns) & stay
    if last.any():  # a record of the schema alone may follow otherwise than those of the table
        same = keepers if last.all() else part(columns, np.flatnonzero(~last))
        put(columns, np.flatnonzero(last), part(same, np.zeros(int(last.sum()), dtype=np.intp)))
        stay &= ~any_broken(unique, columns)
    return stay


def accept(proposal: RuleProposal, columns: Group, count: Callable[[Rows], Counts]) -> None:
    """Makes a change, in place, for the records (or blocks of them) that break fewer rules after it.

    count: how many rules some records break as the columns are now.
    """
    rows, now = proposal.rows, count(proposal.rows)
    before = part({n: columns[n] for n in proposal.cells}, rows)
    put(columns, rows, proposal.cells)
    more = count(rows) - now
    if proposal.block is not None:
        more = np.bincount(proposal.block, weights=more)[proposal.block]
    back = np.flatnonzero(more >= 0)
    put(columns, rows[back], part(before, back))


def accept_inside(proposal: RuleProposal, rules: Sequence[RecordRule], columns: Group, rng: Generator) -> None:
    """As `accept`; values that still break a rule are moved inside their bins before that is decided."""
    cells = moved_inside(rules, part(columns, proposal.rows) | dict(proposal.cells), rng)
    accept(replace(proposal, cells=cells), columns, lambda rows: faults(rules, part(columns, rows)))


def change(rules: Sequence[RecordRule], rows: Group, givers: Mapping[int, Group], rng: Generator) -> None:
    """Rounds through the rules, each with the changes of single records that its kind proposes, in place.

    Each record takes the first change after which it keeps all rules; else the first after which it breaks fewer.

    Args:
        rules: of a group.
        rows: records of which some break one; some may stay broken.
        givers: by the number of a rule, records to take cells from.
        rng: for what is drawn.
    """
    for _ in range(ROUNDS):
        before = faults(rules, rows).sum()
        for number, rule in enumerate(rules):
            left = np.flatnonzero(rule.broken(rows))
            for most in (0, None):
                if not len(left):
                    break
                here = part(rows, left)
                now = faults(rules, here)
                done = np.zeros(len(left), dtype=bool)
                for new in rule.moves(rules, here, givers[number], rng):
                    after, ok = changed(here, new)
                    count = faults(rules, after)
                    ok &= ~done & (count < now if most is None else count == 0)
                    put(rows, left[ok], {n: after[n][np.flatnonzero(ok)] for n in new})
                    done |= ok
                    if done.all():
                        break
                left = left[~done]
        if faults(rules, rows).sum() in (0, before):
            return


def changed(here: Group, new: Change) -> tuple[Group, Bools]:
    """The records after a change, and which of them keep to their domains."""
    after, ok = dict(here), np.ones(size_of(here), dtype=bool)
    for name, given in new.items():
        column = here[name]
        if isinstance(given, RuleColumn):
            after[name] = given
        elif isinstance(column.attribute, CategoricalAttribute):
            ok &= column.allows(given)
            after[name] = RuleColumn.of_codes(given.astype(np.int64), column.attribute)
        else:
            moved = given != column.values
            values = np.where(moved, column.snapped(given), column.values).astype(column.values.dtype)
            ok &= ~moved | column.allows(values)
            after[name] = column.holding(values)
    return after, ok


def _givers(rules: Sequence[RecordRule], columns: Group, keepers: Group) -> dict[int, Group]:
    """By the number of a rule the records that suit this one rule, which are more than keep all."""
    out = {}
    for number, rule in enumerate(rules):
        rows = rule.givers(columns)
        out[number] = part({n: columns[n] for n in rule.columns}, rows) if len(rows) else keepers
    return out


def _replace(rows: Rows, columns: Group, keepers: Group, rng: Generator) -> None:
    """Gives these records all cells of some that keep all rules."""
    if len(rows):
        put(columns, rows, part(keepers, rng.integers(0, size_of(keepers), len(rows))))


def _set_apart(
    unique: Sequence[UniqueRule], rules: Sequence[RecordRule], columns: Group, keepers: Group, rng: Generator
) -> Bools:
    """Draws repeated records again, in place; which records stay (the others must go).

    Args:
        unique: rules on records that must differ.
        rules: the others of the group, which all records keep already and keep afterwards.
        columns: the records.
        keepers: records that keep the rules, to draw from.
        rng: for the draws.
    """
    for turn in range(REDRAWS):
        at = np.flatnonzero(any_broken(unique, columns))
        if not len(at):
            break
        drawn = part(columns, at)
        for rule in unique:
            mine = np.flatnonzero(rule.broken(columns)[at])
            for name in rule.redrawn(keepers, turn):
                late = turn >= REDRAWS // 2
                cells = drawn_again(columns[name], keepers[name], len(mine), rng, uniform=late)
                drawn[name].put(mine, cells)
        change(rules, drawn, dict.fromkeys(range(len(rules)), keepers), rng)
        ok = np.flatnonzero(~any_broken(rules, drawn))
        put(columns, at[ok], part(drawn, ok))
    return ~any_broken(unique, columns)


def _closed(alone: Sequence[RecordRule], rules: Sequence[Rule], schema: Schema) -> Group:
    """Records that keep all rules, where no record of the table does: one of those that the schema alone gives.

    Only one, for what follows without a map must follow in one way.
    """
    records = witnesses(rules, schema)
    fine = np.flatnonzero(~any_broken(alone, records))
    return part(records, fine if len(fine) else np.zeros(1, dtype=np.intp))


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
