"""Changes of single records that mend a broken rule, in the order in which they are tried. Post-processing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.rules.computed import open_part, widest
from dpsyn_core.schema.rules.formulas import AdditionRule, DifferenceRule, OrderRule, RatioRule
from dpsyn_core.schema.rules.in_bins import Moved, divided_in_bins, drawn_in_bins, ordered_in_bins, summed_in_bins
from dpsyn_core.schema.rules.lookups import Lookup
from dpsyn_core.schema.rules.meant import Meant
from dpsyn_core.schema.rules.ruled import (
    PLAIN,
    Bools,
    Group,
    Ready,
    RuledColumn,
    any_broken,
    broken,
    excess_of,
    follow,
    meanings,
    ratio,
    weights_of,
    where,
)  # fmt: skip
from dpsyn_core.schema.rules.rules import BlankRule, ImpossibleRule

ROUNDS = 6  # through all rules of a group, before values are taken from another record
DRAWS = 3  # of a value for a cell that must not be blank
WANTED = ("all rules kept", "no other rule broken", "this rule kept")  # of a change, one after the other

Change = Mapping[str, NDArray[Any] | RuledColumn]  # new plain values, or cells of other records


def mend(rules: Sequence[Ready], rows: Group, fine: Group, rng: Generator, *, whole: Group | None = None) -> None:
    """Rounds through the rules; changes `rows` in place, and may leave some broken.

    Args:
        rules: of a group.
        rows: records of which some break one.
        fine: records that break none.
        rng: for what is drawn again.
        whole: all records of the table; cells for a rule then come from those that suit this one rule, which are more
            than keep all, and more like the table. None: from `fine`.
    """
    givers: dict[int, Group] = {}
    for _ in range(ROUNDS):
        clean = True
        for number, rule in enumerate(rules):
            left = np.flatnonzero(broken(rule, rows))
            if len(left) and number not in givers:
                givers[number] = _givers(rule, fine, whole)
            for wanted in WANTED:
                if not len(left):
                    break
                clean = False
                here = {n: c[left] for n, c in rows.items()}
                done = np.zeros(len(left), dtype=bool)
                for change in _tries(rule, rules, here, givers[number], rng):
                    after, ok = _changed(here, change)
                    ok &= ~done & ~_unwanted(wanted, rule, rules, here, after)
                    at = np.flatnonzero(ok)
                    for name in change:
                        rows[name].put(left[at], after[name][at])
                    done |= ok
                    if done.all():
                        break
                left = left[~done]
        if clean:
            return


def _givers(rule: Ready, fine: Group, whole: Group | None) -> Group:
    """Records whose cells mend a rule: for a rule of conditions all, since single cells are taken; else its keepers."""
    if whole is None:
        return fine
    if isinstance(rule, ImpossibleRule | BlankRule):
        return whole
    kept = np.flatnonzero(~broken(rule, whole))
    return {n: whole[n][kept] for n in rule.columns} if len(kept) else fine


def _unwanted(wanted: str, rule: Ready, rules: Sequence[Ready], before: Group, after: Group) -> Bools:
    """Which records a change does not mend well enough."""
    if wanted == "all rules kept":
        return any_broken(rules, after)
    wrong = broken(rule, after)
    if wanted == "no other rule broken":
        for other in rules:
            if other is not rule:
                wrong = wrong | (broken(other, after) & ~broken(other, before))
    return wrong


def _changed(here: Group, change: Change) -> tuple[Group, Bools]:
    """The records after a change, and which of them keep to their domains."""
    after, ok = dict(here), np.ones(len(next(iter(here.values())).values), dtype=bool)
    for name, given in change.items():
        column = here[name]
        if isinstance(given, RuledColumn):
            after[name] = given
        elif isinstance(column.attribute, CategoricalAttribute):
            ok &= column.allows(given)
            after[name] = RuledColumn.of_codes(given.astype(np.int64), column.attribute)
        else:
            moved = given != column.values
            new = np.where(moved, column.snapped(given), column.values).astype(column.values.dtype)
            ok &= ~moved | column.allows(new)
            after[name] = RuledColumn(column.attribute, new, column.state)
    return after, ok


def _tries(rule: Ready, rules: Sequence[Ready], rows: Group, fine: Group, rng: Generator) -> Iterator[Change]:
    if isinstance(rule, ImpossibleRule):
        yield from _other_values(rule, rules, rows, fine, rng)
    elif isinstance(rule, BlankRule):
        yield from _blanked(rule, rules, rows, fine, rng)
    elif isinstance(rule, Lookup):
        yield from _followed(rule, rows, fine, rng)
    elif isinstance(rule, OrderRule):
        yield from _ordered(rule, rows, fine, rng)
    elif isinstance(rule, RatioRule):
        yield from _divided(rule, rows, rng)
    else:
        yield from _summed(rule, rows, rng)


def _drawn(column: RuledColumn, pool: NDArray[np.intp], n: int, rng: Generator) -> RuledColumn:
    return column[pool[rng.integers(0, len(pool), n)]]


def _size(rows: Group) -> int:
    return len(next(iter(rows.values())).values)


def _other_values(
    rule: ImpossibleRule | BlankRule, rules: Sequence[Ready], rows: Group, fine: Group, rng: Generator
) -> Iterator[Change]:  # fmt: skip
    """A number drawn again inside its bin; else one column's cell, from records that fail its condition.

    Of these, those first that meet the other conditions. Where no record fails it, a value next to what it names.
    """
    yield from ({name: values} for name, values in drawn_in_bins(rule, rows, rng))
    said = meanings(rule, fine)
    met = {n: np.logical_and.reduce([fine[n].meets(m) for m in listed]) for n, listed in said.items()}
    pools = []
    for name, own in met.items():
        others = np.logical_and.reduce([np.ones_like(own), *(m for n, m in met.items() if n != name)])
        used = sum(name in r.columns for r in rules)
        for rest, free in ((0, ~own & others), (1, ~own)):
            pools.append((rest, used, -int(free.sum()), name, np.flatnonzero(free)))
    for *_, name, pool in sorted(pools, key=lambda p: p[:4]):
        if len(pool):
            yield {name: _drawn(fine[name], pool, _size(rows), rng)}
    for name, listed in said.items():
        yield from ({name: values} for meant in listed for values in _next_to(meant, rows[name]))


def _next_to(meant: Meant, column: RuledColumn) -> Iterator[NDArray[Any]]:
    """The numbers or dates next to each interval and value of a condition; of one with `not`, its ends themselves."""
    if meant.codes is not None:  # a category has no neighbours
        return
    beyond = 0 if meant.negated else column.step
    for low, high in (*meant.spans, *((p, p) for p in meant.points)):
        for place, up in ((low - beyond, meant.negated), (high + beyond, not meant.negated)):
            if np.isfinite(place):
                values = column.nearest(np.full(len(column.values), place), up=up)
                yield np.where(column.state == PLAIN, values, column.values)


def _blanked(
    rule: BlankRule, rules: Sequence[Ready], rows: Group, fine: Group, rng: Generator
) -> Iterator[Change]:  # fmt: skip
    """The cell made blank; or filled, from records that are filled; or the conditions made to fit."""
    yield {rule.column: rows[rule.column].all_of(rule.value)}
    filled = np.flatnonzero(~fine[rule.column].holds(rule.value))
    for _ in range(DRAWS if len(filled) else 0):
        yield {rule.column: _drawn(fine[rule.column], filled, _size(rows), rng)}
    yield from _other_values(rule, rules, rows, fine, rng)
    met = np.flatnonzero(where(rule, fine))
    if len(met):
        at = met[rng.integers(0, len(met), _size(rows))]
        yield {n: fine[n][at] for n in rule.columns[1:]}


def _followed(rule: Lookup, rows: Group, fine: Group, rng: Generator) -> Iterator[Change]:
    """What the map gives; else what it follows from, from a record that the value here follows from."""
    column = rows[rule.rule.column]
    target, known = follow(rule, rows)
    yield {rule.rule.column: np.where(known, target, column.values)}
    held = fine[rule.rule.column]
    order = np.argsort(held.values, kind="stable")
    first, last = (np.searchsorted(held.values[order], column.values, side=side) for side in ("left", "right"))
    if len(order):
        at = order[np.minimum((first + rng.random(len(first)) * (last - first)).astype(np.intp), len(order) - 1)]
        yield {n: fine[n][at] for n in rule.rule.of}


def _ordered(rule: OrderRule, rows: Group, fine: Group, rng: Generator) -> Iterator[Change]:
    """Both moved inside their bins; else exchanged; else one at another record's distance, or next to the other."""
    low, high = rows[rule.lower], rows[rule.upper]
    yield ordered_in_bins(rule, low, high, rng)
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


def _summed(rule: DifferenceRule | AdditionRule, rows: Group, rng: Generator) -> Iterator[Change]:
    """One column computed from the others; else as little as possible of several.

    Of a sum it is the sum; of a difference see `widest`. Where a unit is coarser than the dates, a part of it is drawn.
    """
    yield summed_in_bins(rule, rows)
    if isinstance(rule, DifferenceRule) and rule.completed:
        yield from _counted(rule, rows, rng)
        return
    excess, weights = excess_of(rule, rows), weights_of(rule, rows)
    weighted = list(zip(weights, rule.columns, strict=True))
    if isinstance(rule, DifferenceRule):
        wide = widest(rule, rows)
        weighted.sort(key=lambda w: w[1] != wide)
    part = open_part(rule, rows, rng)
    weight, name = weighted[0]
    yield _handed_out(rule, rows, name, rows[name].values - excess / weight)
    for weight, name in weighted:
        if name == rule.column:
            yield {name: rows[name].snapped(rows[name].values - excess / weight, np.floor)}
        else:
            yield {name: rows[name].values - weight * (excess + part)}
            if isinstance(part, np.ndarray):
                yield {name: rows[name].values - weight * excess}
    out: Moved = {}
    for weight, name in zip(weights, rule.columns, strict=True):
        column = rows[name]
        moved = column.nearest(column.values - excess / weight, up=False)
        excess = excess + weight * (moved - column.values)
        out[name] = moved
    yield out


def _counted(rule: DifferenceRule, rows: Group, rng: Generator) -> Iterator[Change]:
    """One column of completed years or months given by the two others; else the nearest count, and a date with it."""
    from dpsyn_core.schema.rules.completed import solved

    wide = widest(rule, rows)
    for name in sorted(rule.columns, key=lambda n: n != wide):
        yield {name: solved(rule, name, rows, rng)}
    column = rows[rule.column]
    nearest = column.nearest(solved(rule, rule.column, rows, rng), up=False)
    known = {**rows, rule.column: RuledColumn(column.attribute, nearest, column.state)}
    for name in (rule.minus, rule.of):
        yield {rule.column: nearest, name: solved(rule, name, known, rng)}


def _handed_out(rule: DifferenceRule | AdditionRule | RatioRule, rows: Group, name: str, wanted: Any) -> Change:
    """One column's values among the records that stay broken inside their bins, in the order of what it should be.

    The column keeps its counts, and most of these records then agree with the rule inside their bins.
    """

    def inside(group: Group) -> Moved:
        return divided_in_bins(rule, group) if isinstance(rule, RatioRule) else summed_in_bins(rule, group)

    first, ok = _changed(rows, inside(rows))
    stuck = np.flatnonzero(broken(rule, first) | ~ok)
    values = rows[name].values.copy()
    values[stuck[np.argsort(wanted[stuck], kind="stable")]] = np.sort(values[stuck])
    return inside({**rows, name: RuledColumn(rows[name].attribute, values, rows[name].state)})


def _apart(values: NDArray[Any], wanted: NDArray[Any]) -> float:
    """How far the values of a column are from those that it should have, in any order, as part of their spread."""
    return float(np.abs(np.sort(values) - np.sort(wanted)).mean() / (values.std() or 1.0))


def _divided(rule: RatioRule, rows: Group, rng: Generator) -> Iterator[Change]:
    """All moved inside their bins, then with ratios handed out; else the ratio computed, or half of what is divided."""
    column, of = rows[rule.column], rows[rule.of]
    exact, known = ratio(rule, rows)
    exact = np.where(known, exact, column.values)
    yield divided_in_bins(rule, rows)
    by = np.multiply.reduce([rows[n].values.astype(np.float64) for n in rule.by])
    half = rng.random(len(by)) < 0.5  # so that neither column alone bears what does not fit
    wanted = {rule.column: exact, rule.of: column.values * by / rule.times}
    for name in sorted(wanted, key=lambda n: _apart(rows[n].values, wanted[n])):
        yield _handed_out(rule, rows, name, wanted[name])
    yield {rule.column: np.where(half, column.snapped(exact), column.values)}
    yield {rule.of: of.snapped(column.values * by / rule.times)}
    moved = column.nearest(exact, up=False)
    yield {rule.column: moved, rule.of: of.snapped(moved * by / rule.times)}
    divided = of.nearest(moved * by / rule.times, up=False)
    again = np.where(known, rule.times * divided / np.where(known, by, 1.0), column.values)
    yield {rule.column: column.nearest(again, up=False), rule.of: divided}
