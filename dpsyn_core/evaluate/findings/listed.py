"""The one list of findings on a synthetic table, the gravest first: sentence, cards and tables are drawn from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.findings import (
    amounts,
    blanks,
    columns,
    dependences,
    identities,
    interactions,
    nearness,
    outcomes,
    series,
    shapes,
    tables,
    variances,
)
from dpsyn_core.evaluate.findings.finding import LEAST, OF_RULES, Finding
from dpsyn_core.evaluate.relations import relations
from dpsyn_core.evaluate.shifts import SURE, error_of_share, gaps

if TYPE_CHECKING:
    from dpsyn_core.evaluate.grades import Verdict

HOLDS = 0.01  # share of the real records that break a proposed rule at most
EXPLAINED = 0.25  # of the weight of what follows: a cause that weighs less does not explain it
MUCH = 0.05  # share of the records that cannot be, from which on these come first
NEARLY = 0.25  # of its weight: a finding comes after what cannot be where that weighs so much at least
ALL_OF = 0.8  # of an order that is broken, or of a mean that moved: what says so much of it explains it
MOST_OF_ALL = 0.5  # of the records: a larger group moves the mean of all with it
FEW_PAIRS = 3  # related pairs: where there are no more, those that are lost say all
OF_RELATIONS = (
    "pair",
    "pair_within",
    "ratio",
    "v",
    "unrelated",
)  # which a column loses that goes against what decides it
NAMED_PAIRS = ("pair", "pair_within", "ratio", "v", "gaps", "blank_group", "blank_above")
FILTERS = ("filter_blank", "filter_zero")
DECIDED = ("function", *FILTERS)
SHAPES = ("stretch", "above", "below")
OF_A_SHAPE = ("mean", "rest", "high", "top", "bottom", "new_numbers", "share", "group", "unrelated", "weaker", "turned")
OF_COLUMNS = (
    "unrelated",
    "pair",
    "pair_within",
    "ratio",
    "v",
    "share",
    "mean",
    "date",
    "day",
    "group",
    "group_variance",
    "more_variance",
    "gaps",
    "rest",
    "high",
    "top",
    "bottom",
    "turned",
    "weaker",
    "outside",
    "new_numbers",
    "coarser",
    "blank_group",
    "blank_above",
    *SHAPES,
)
# what follows, in the same column, from what was found in it: it comes after that
CAUSES = {
    "blank": (
        "share", "mean", "outside", "new_numbers", "zeros", "rest", "high", "pair", "unrelated", "filter_blank",
        "blank_group", "blank_above", *SHAPES,
    ),
    "zeros": ("mean", "rest", "filter_zero", *SHAPES),
    "outside": (*OF_A_SHAPE, *SHAPES, "pair", "pair_within"),
    "fractions": (*OF_A_SHAPE, *SHAPES, "outside", "pair", "pair_within"),
    **dict.fromkeys(SHAPES, (*OF_A_SHAPE, "relations")),
    "turned": ("unrelated", "group"),
    "more_variance": ("unrelated", "group", *SHAPES),
    **{f"cycle_{part}": (*OF_RELATIONS[:3], "unrelated", "before") for part in ("hour", "weekday", "month")},
    **{f"moved_{part}": ("unrelated", "pair", "group") for part in ("hour", "weekday", "month")},
    "course_hour": ("unrelated", "pair", "group"),
    "course_weekday": ("unrelated", "pair", "group"),
    "course_month": ("unrelated", "pair", "group", "relations"),
    "coarser": ("new_numbers", "day", "times_hour", "heaps"),
    "heaps": ("share", "new_numbers", *SHAPES),
    "repeated": ("relations",),
    "date": ("outside", "cycle_month", *SHAPES),
}  # fmt: skip


def findings(c: Comparison, found: Verdict) -> list[Finding]:
    """All findings, the gravest first; those of the same columns and kind once."""
    still = {x.column for x in found.fixed}
    rules = list(_rules(c))
    listed = [
        *nearness.nearness(c),
        *_with_rules(rules, [*dependences.dependences(c), *identities.orders(c), *identities.sums(c)]),
        *identities.keys(c),
        *dependences.combinations(c),
        *tables.rows(c),
        *tables.foreign(c),
        *tables.readings(c),
        *tables.coarser(c),
        *tables.repeated(c),
        *shapes.shapes(c),
        *interactions.lost_interactions(c),
        *chain(tables.kinds(c), amounts.amounts(c), series.series(c), outcomes.outcomes(c), variances.variances(c)),
        *blanks.blanks_by_group(c),
        *columns.unrelated(c),
        *columns.gaps(c),
        *columns.whole(found, c),
        *columns.moved(found, c),
    ]
    same = {frozenset(f.columns) for f in listed if f.key in ("group_variance", "more_variance")}
    listed = [f for f in listed if f.key != "ratio" or frozenset(f.columns) not in same]
    pairs = {frozenset(f.columns) for f in listed if f.key == "pair"}  # which says it of all rows
    listed = [f for f in listed if f.key != "pair_within" or frozenset(f.columns[:2]) not in pairs]
    listed = _one_group_first(c, _causes_first(c, listed))
    listed = _named_pairs_first(c, _simpler_first(_impossible_first(listed)))
    of_fixed = ("fixed", "fixed_more", "one_bin")
    kept = [f for f in listed if f.weight >= LEAST and (f.key in of_fixed or still.isdisjoint(f.columns))]
    return sorted(kept, key=lambda f: -f.weight)


def _simpler_first(listed: list[Finding]) -> list[Finding]:
    """What is wrong of one or two columns comes before an interaction of these (marginality; Nelder 1977).

    And what is wrong of an outcome before what all other columns together say of it.
    """
    out = []
    for f in listed:
        simpler = []
        if f.key in ("interaction", "interaction_turned"):
            simpler = [g.weight for g in listed if set(g.columns) < set(f.columns) and g.weight >= MUCH]
        elif f.key == "explained":
            simpler = [g.weight for g in listed if g is not f and f.columns[0] in g.columns]
            simpler += [g.weight for g in listed if g.key in ("relations", "unrelated")]
        out.append(_after(f, simpler))
    return out


def _named_pairs_first(c: Comparison, listed: list[Finding]) -> list[Finding]:
    """Where few pairs are related, those that are lost say more than that relations are lost."""
    pairs = [f.weight for f in listed if f.key in NAMED_PAIRS]
    try:
        few = len({*map(frozenset, relations(c).pairs)}) <= FEW_PAIRS
    except MetricError:
        return listed
    return [_after(f, pairs) if few and f.key == "relations" else f for f in listed]


def _impossible_first(listed: list[Finding]) -> list[Finding]:
    """Records that cannot be come before moved means and lost relations of the same columns: they say more of them.

    An order of numbers that only values outside the real ones break comes after these.
    """
    beyond = [f for f in listed if f.key == "outside"]
    out, worst = [], []
    for f in (f for f in listed if f.key in (*OF_RULES, "proposed", "combinations") and f.weight >= MUCH):
        others = [g.weight for g in beyond if set(g.columns) <= set(f.columns) and g.weight >= ALL_OF * f.weight]
        if f.key == "order" and f.remedy != "proposed" and others:  # no header says so: a number of another size did it
            listed = [_after(f, others) if g is f else g for g in listed]
        else:
            worst.append(f)
    for f in listed:
        same = [g.weight for g in worst if f.key in OF_COLUMNS and set(f.columns) <= set(g.columns)]
        same += [g.weight for g in worst if f.key in OF_RELATIONS and g.key in DECIDED and g.columns[1] in f.columns]
        out.append(_after(f, [w for w in same if w >= NEARLY * f.weight]))
    return out


def _after(f: Finding, weights: list[float]) -> Finding:
    """The finding, lighter than the heaviest of some others."""
    return replace(f, weight=min(f.weight, max(weights) * 0.99)) if weights else f


def _causes_first(c: Comparison, listed: list[Finding]) -> list[Finding]:
    """A column that is blank, 0, or out of range more often has another mean for that reason: the cause comes first.

    A filter that says of all cells that are blank, filled or 0 where they should not be, but for some that chance
    adds, comes before their share. Weaker effects of a column follow from its values, however much they weigh.
    """
    out = {id(f): f for f in listed}
    causes = [f for f in listed if f.key in CAUSES and f.weight >= MUCH and f.what.get("another", True)]
    for cause in causes:
        follows = _that_follow(cause, listed)
        heavier = [f.weight for f in follows if f.weight > cause.weight]
        filters = [
            f for f in follows if f.key in FILTERS and f.columns[1] == cause.columns[0]
            and cause.weight - f.weight <= _by_chance(cause, c)
        ]  # fmt: skip
        if filters:
            most = max(filters, key=lambda f: f.weight)
            out[id(most)] = replace(most, weight=max([most.weight, *(w * 1.0001 for w in heavier)]))
            out[id(cause)] = _after(replace(cause, weight=2.0), [out[id(most)].weight])
        elif heavier:
            out[id(cause)] = replace(cause, weight=max(heavier) * 1.0001)
    for cause in causes:  # of two that were raised above the same finding
        for f in (f for f in _that_follow(cause, listed) if f.key in CAUSES):
            out[id(f)] = _after(out[id(f)], [out[id(cause)].weight])
    return list(out.values())


def _one_group_first(c: Comparison, listed: list[Finding]) -> list[Finding]:
    """A group, half of the records at most, whose mean moved so far that it moved that of all, comes before that."""
    out = {id(f): f for f in listed}
    of_some = {f.columns for f in listed if f.key == "rest"}  # amounts that other groups may never have
    for f in (f for f in listed if f.key == "mean" and f.columns not in of_some):
        for g in (g for g in listed if g.key == "group" and g.columns[0] == f.columns[0]):
            at = c.words(g.columns[1]).index(str(g.what["value"]))
            part = float((c.truth[c.domain.index(g.columns[1])] == at).mean())
            explained = part * ((g.synthetic or 0.0) - (g.real or 0.0)) / ((f.synthetic or 0.0) - (f.real or 0.0))
            if part <= MOST_OF_ALL and ALL_OF <= explained <= 1 / ALL_OF:
                same = [x.weight for x in listed if x.key in (*OF_A_SHAPE, *SHAPES) and x.columns == f.columns]
                out[id(g)] = replace(g, weight=max(g.weight, max(same) * 1.0001))
    for f in (f for f in listed if f.key == "gaps"):
        for g in (g for g in listed if g.key == "group" and g.columns == f.columns):
            if _of_gaps(c, g) >= ALL_OF:
                out[id(g)] = replace(out[id(g)], weight=max(out[id(g)].weight, f.weight * 1.0001))
    return list(out.values())


def _of_gaps(c: Comparison, group: Finding) -> float:
    """How much of the squared differences of the means of all groups is that of one."""
    means = next(g for g in gaps(c) if (g.column, g.category) == group.columns)
    apart = means.sizes[0] * np.nan_to_num(means.synthetic - means.real) ** 2
    return float(apart[means.values.index(str(group.what["value"]))] / max(apart.sum(), 1e-300))


def _by_chance(f: Finding, c: Comparison) -> float:
    """By how much a share is off in a fresh sample at most."""
    return SURE * float(error_of_share(np.array(f.real or 0.0), c.n, c.m))


def _that_follow(cause: Finding, listed: list[Finding]) -> list[Finding]:
    """Findings that a cause explains: of the same columns, and not much heavier than it is."""
    same = [
        f for f in listed if f.key in CAUSES[cause.key] and (f.key == "relations" or {*cause.columns} & {*f.columns})
        and (f.key != "before" or f.columns[0] == cause.columns[0])
    ]  # fmt: skip
    changed = {
        f.columns[0] for f in same if f.key == "weaker"
    }  # outcomes: a term that is another one moves all effects
    same += [f for f in listed if f.key == "weaker" and f.columns[0] in changed and f not in same]
    all_of = cause.key == "zeros" and not any(f.key == "rest" and f.columns == cause.columns for f in listed)
    return [
        f for f in same
        if f.key == "weaker" or f.weight <= cause.weight / EXPLAINED or (all_of and f.key == "mean")
    ]  # fmt: skip


def _rules(c: Comparison) -> Iterator[Finding]:
    """Rules of the schema that records break, and those that headers propose and the real table keeps."""
    for r in c.rules:
        excess = r.synthetic - (r.real or 0.0)
        if excess > 0 and r.synthetic_records:
            yield Finding(
                key="rule",
                weight=excess,
                real=r.real,
                synthetic=r.synthetic,
                fresh=r.real,
                what={"rule": r.rule},
                remedy="repair",
            )
    for rule, r in c.intake.proposed:
        if (r.real or 0.0) <= HOLDS and r.synthetic > HOLDS:
            yield Finding(
                key="proposed",
                weight=r.synthetic - (r.real or 0.0),
                columns=tuple(rule.columns),
                real=r.real,
                synthetic=r.synthetic,
                fresh=r.real,
                what={"rule": r.rule},
                remedy="proposed",
            )


def _with_rules(rules: list[Finding], sought: list[Finding]) -> list[Finding]:
    """Findings of the table, with the rule that was proposed on the same columns, and the other rules."""
    named = {frozenset(r.columns): r for r in rules if r.key == "proposed"}
    out, used = [], set()
    for f in sought:
        rule = named.get(frozenset(f.columns))
        if rule is None or f.key not in OF_RULES:
            out.append(f)
            continue
        used.add(frozenset(f.columns))
        out.append(replace(f, what={**f.what, "rule": rule.what["rule"]}, remedy="proposed"))
    return [*out, *(r for r in rules if frozenset(r.columns) not in used)]
