"""Values moved inside their bins until they agree with a rule, so that no count of a bin changes. Post-processing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.rules.formulas import AdditionRule, DifferenceRule, OrderRule, RatioRule
from dpsyn_core.schema.rules.ruled import PLAIN, Group, RuledColumn, excess_of, meanings, weights_of
from dpsyn_core.schema.rules.rules import BlankRule, ImpossibleRule

DRAWS = 3  # of each number or date

Moved = dict[str, NDArray[Any]]  # new plain values


def drawn_in_bins(
    rule: ImpossibleRule | BlankRule, rows: Group, rng: Generator
) -> Iterator[tuple[str, NDArray[Any]]]:  # fmt: skip
    """Each number or date of the conditions drawn again inside its bin, some times."""
    for name in meanings(rule, rows):
        column = rows[name]
        if not isinstance(column.attribute, CategoricalAttribute):
            for _ in range(DRAWS):
                binning = column.attribute.binning
                drawn = binning.draw(binning.find(column.values), rng)
                yield name, np.where(column.state == PLAIN, drawn, column.values)


def met_in_bins(rule: BlankRule, rows: Group) -> Group:
    """The records with numbers and dates moved inside their bins to the nearest that meet the conditions, if any do."""
    after = dict(rows)
    for name, said in meanings(rule, rows).items():
        column = rows[name]
        if isinstance(column.attribute, CategoricalAttribute):
            continue
        (least, most), values = column.in_bins(), column.values
        for meant in said:
            for low, high in (*meant.spans, *((p, p) for p in meant.points)):
                moved = np.clip(column.nearest(np.clip(column.values, low, high), up=True), least, most)
                fits = (moved >= low) & (moved <= high) & ~meant.negated & (column.state == PLAIN)
                values = np.where(fits, moved, values)
        after[name] = RuledColumn(column.attribute, values.astype(column.values.dtype), column.state)
    return after


def ordered_in_bins(rule: OrderRule, low: RuledColumn, high: RuledColumn, rng: Generator) -> Moved:
    """Values on both sides of a place that lies in both bins, where they share one: no count of a bin changes."""
    (low_least, low_most), (high_least, high_most) = low.in_bins(), high.in_bins()
    least, most = np.maximum(low_least, high_least), np.minimum(low_most, high_most)
    place = least + (most - least) * rng.random(len(least))
    gap = max(low.step, high.step) if rule.strict else 0
    below = np.maximum(low.nearest(np.minimum(low.values, place), up=False), low_least)
    above = np.minimum(high.nearest(np.maximum(high.values, below + gap), up=True), high_most)
    return {rule.lower: below, rule.upper: above}


def kept_in_bins(rule: DifferenceRule | AdditionRule | RatioRule, rows: Group, still: Collection[str] = ()) -> Group:
    """The columns of a rule with values moved inside their bins, but for those of `still`."""
    moved = divided_in_bins(rule, rows, still) if isinstance(rule, RatioRule) else summed_in_bins(rule, rows, still)
    return {n: RuledColumn(rows[n].attribute, v, rows[n].state) for n, v in moved.items()}


def summed_in_bins(rule: DifferenceRule | AdditionRule, rows: Group, still: Collection[str] = ()) -> Moved:
    """Columns moved inside their bins, each by the same part of its room, then what rounding has left.

    still: columns that stay as they are.
    """
    excess, weights = excess_of(rule, rows), weights_of(rule, rows)
    room = []
    for weight, name in zip(weights, rule.columns, strict=True):
        (least, most), values = rows[name].in_bins(), rows[name].values
        room.append(np.where((excess > 0) == (weight > 0), least - values, most - values) * (name not in still))
    whole = np.add.reduce([w * r for w, r in zip(weights, room, strict=True)])  # of the other sign than the excess
    part = np.clip(np.divide(-excess, whole, out=np.zeros(len(excess)), where=whole != 0), 0, 1)
    out: Moved = {}
    for weight, name, more in zip(weights, rule.columns, room, strict=True):
        moved = rows[name].snapped(rows[name].values + part * more, np.trunc)
        excess = excess + weight * (moved - rows[name].values)
        out[name] = moved
    for weight, name, more in zip(weights, rule.columns, room, strict=True):
        ends = np.sort([rows[name].values, rows[name].values + more], axis=0)
        moved = np.clip(rows[name].snapped(out[name] - excess / weight), *ends)
        excess = excess + weight * (moved - out[name])
        out[name] = moved
    return out


def log_excess(rule: RatioRule, rows: Group) -> tuple[dict[str, int], dict[str, NDArray[np.float64]], NDArray[Any]]:
    """By column its power in the rule and its logarithms; and by how much the rule is exceeded, as a logarithm.

    Not finite where a value is not positive.
    """
    weights = {rule.column: 1, rule.of: -1, **{n: rule.by.count(n) for n in rule.by}}
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = {n: np.log(rows[n].values.astype(np.float64)) for n in weights}
        return weights, logs, np.add.reduce([w * logs[n] for n, w in weights.items()]) - np.log(rule.times)


def divided_in_bins(rule: RatioRule, rows: Group, still: Collection[str] = ()) -> Moved:
    """Columns moved inside their bins, on a log scale by the same part of their room. Only positive ones move.

    still: columns that stay as they are.
    """
    weights, logs, excess = log_excess(rule, rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = {}
        for name, weight in weights.items():
            # a bin that begins at 0 has room down to its first step, since 0 has no logarithm
            ends = (np.maximum(end, rows[name].step) for end in rows[name].in_bins())
            least, most = (np.log(end.astype(np.float64)) for end in ends)
            room[name] = np.where((excess > 0) == (weight > 0), least, most) - logs[name]
            room[name] *= name not in still
        part = np.clip(-excess / np.add.reduce([w * room[n] for n, w in weights.items()]), 0, 1)
        moved = {n: np.exp(logs[n] + part * room[n]) for n in weights}
    out: Moved = {}
    for name in weights:
        column = rows[name]
        wanted = np.where(np.isfinite(moved[name]), moved[name], column.values)
        out[name] = np.clip(column.snapped(wanted), *column.in_bins()) if name not in still else column.values
    by = np.multiply.reduce([out[n].astype(np.float64) for n in rule.by])
    column = rows[rule.column]
    last = np.divide(rule.times * out[rule.of], by, out=column.values.astype(np.float64), where=by != 0)
    return out if rule.column in still else {**out, rule.column: np.clip(column.snapped(last), *column.in_bins())}
