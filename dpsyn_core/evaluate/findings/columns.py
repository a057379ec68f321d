"""What moved in single columns, groups and pairs, as findings: the same figures that the verdict lists."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import shifts
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.findings.finding import SURE, Finding
from dpsyn_core.evaluate.group_differences import group_gaps
from dpsyn_core.evaluate.relations import relations

if TYPE_CHECKING:
    from dpsyn_core.evaluate.grades import Verdict

OF_A_PAIR = 0.6  # weight of a correlation that is off by 1: it says less of single records than a wrong value does
FIXED = 0.9
OF_SOME = 0.5  # weight where some relations are left: a finding that names columns says more
NEARLY = 0.1  # share of the relations that is lost beyond chance
OF_GROUPS = 0.3  # of differences between groups that are all gone
NAMED = 3
ONE_OF_MANY = 0.25  # of the weight of a mean that is off by more than chance makes one, and not the worst of all
OTHER_CELL = "(other)"  # what the schema calls the cell of unlisted values
RARE = 0.1  # added where a value is gone or new: who asks for it is wrong about all of it
CLEAR = 3.0  # times what a fresh sample is off: a column of weaker relations may have them by chance alone
LOST, OTHERS = 0.25, 0.7  # a column that keeps at most so much of its relations, where the others keep at least so much


def moved(found: Verdict, c: Comparison) -> Iterator[Finding]:
    """Columns of one value, means, dates, days, blank cells, groups, shares, and pairs."""
    yield from _fixed(found)
    for p in found.correlations:
        gap = abs(p.real - p.synthetic)
        yield Finding(key="pair", weight=min(1.0, OF_A_PAIR * gap), columns=p.columns, real=p.real,
                      synthetic=p.synthetic, fresh=p.real, remedy="declare")  # fmt: skip
    for x in [x for x in found.lost if x.measure != "rank correlation" and x.weaker][:NAMED]:
        key = "ratio" if x.measure == "correlation ratio" else "v"
        gap = abs(x.real) - abs(x.synthetic or 0.0)
        if gap <= SURE * math.sqrt(1 / c.n + 1 / c.m):  # about the error of both measures where columns are unrelated
            continue
        yield Finding(key=key, weight=OF_A_PAIR * gap, columns=x.columns, real=x.real, synthetic=x.synthetic or 0.0,
                      fresh=x.real, remedy="declare")  # fmt: skip
    sure = {m.column for m in shifts.means(c)}
    for m in found.means:
        yield Finding(
            key="mean",
            weight=(1 - math.exp(-m.distance)) * (1 if m.column in sure else ONE_OF_MANY),
            columns=(m.column,),
            real=m.real,
            synthetic=m.synthetic,
            fresh=m.real,
        )
    for d in found.dates:
        yield Finding(key="date", weight=1 - math.exp(-d.distance), columns=(d.column,), real=d.real,
                      synthetic=d.synthetic, fresh=d.real, what={"precise": d.precise})  # fmt: skip
    for day in found.days:
        yield Finding(key="day", weight=abs(day.real - day.synthetic), columns=(day.column,), real=day.real,
                      synthetic=day.synthetic, fresh=day.real, what={"day": day.day})  # fmt: skip
    for b in found.blanks:
        yield Finding(
            key="blank",
            weight=abs(b.real - b.synthetic),
            columns=(b.column,),
            real=b.real,
            synthetic=b.synthetic,
            fresh=b.real,
        )
    yield from _groups(found, c)


def _fixed(found: Verdict) -> Iterator[Finding]:
    if found.whole:
        yield Finding(key="all_same", weight=1.5)
        return
    for x in found.fixed[:NAMED]:
        yield Finding(key="fixed", weight=FIXED, columns=(x.column,), real=x.real, synthetic=1, what={"value": x.value})
    more = found.fixed[NAMED:]
    if more:
        yield Finding(key="fixed_more", weight=FIXED, columns=tuple(x.column for x in more), synthetic=len(more))


def _groups(found: Verdict, c: Comparison) -> Iterator[Finding]:
    for g in found.groups:
        value = c.intake.unlisted.get(g.category, g.value) if g.value == OTHER_CELL and not g.real else g.value
        what = {"value": value, "decimal": g.decimal}
        if not g.column:
            weight = abs(g.real - g.synthetic) + RARE * (min(g.real, g.synthetic) == 0)
            yield Finding(key="share", weight=weight, columns=(g.category,), real=g.real, synthetic=g.synthetic,
                          fresh=g.real, what=what, remedy="declare")  # fmt: skip
            continue
        codes = c.truth[c.domain.index(g.category)]
        part = float((codes == c.words(g.category).index(g.value)).mean())
        yield Finding(key="group", weight=(1 - math.exp(-g.distance)) * part, columns=(g.column, g.category),
                      real=g.real, synthetic=g.synthetic, fresh=g.real, what=what, remedy="declare")  # fmt: skip


def gaps(c: Comparison) -> Iterator[Finding]:
    """The differences between groups that the figure of groups shows, where they are weaker than they were, or lost."""
    shown = group_gaps(c)
    if shown is None or shown.grade in ("kept", "moved"):  # a mean that moved is a finding of its own
        return
    columns = (shown.column, shown.between, shown.by) if shown.between else (shown.column, shown.by)
    yield Finding(
        key="pay_gap" if shown.between else "gaps",
        weight=OF_GROUPS * (1 - max(0.0, shown.kept)),
        columns=columns,
        real=1.0,
        synthetic=shown.kept if shown.between else max(0.0, shown.kept),
        fresh=shown.fresh,
        remedy="declare",
    )


def unrelated(c: Comparison) -> Iterator[Finding]:
    """The column that has lost its relations to all others, where these keep theirs among each other."""
    try:
        pairs = relations(c)
    except MetricError:
        return
    way, left = pairs.unrelated - pairs.fresh, pairs.unrelated - pairs.distance
    beyond = pairs.distance - pairs.fresh - SURE * pairs.deviations  # pairs of one column move together by chance
    values = np.array([not b for b in pairs.blank], dtype=bool)
    best: tuple[float, str, float] | None = None
    for name in c.domain.names:
        mine = values & np.array([name in p for p in pairs.pairs], dtype=bool)
        others = values & ~mine
        if mine.sum() < 2 or not others.any() or beyond[mine].sum() <= 0:
            continue
        if pairs.unrelated[mine].sum() < CLEAR * pairs.fresh[mine].sum():
            continue
        kept, rest = left[mine].sum() / way[mine].sum(), left[others].sum() / way[others].sum()
        if kept <= LOST and rest >= OTHERS and (best is None or kept < best[0]):
            best = float(kept), name, float(way[mine].sum() / way[values].sum())
    if best is not None:
        kept, name, part = best
        yield Finding(key="unrelated", weight=0.4 + part / 5, columns=(name,), real=1.0,
                      synthetic=max(0.0, kept), fresh=1.0, remedy="declare")  # fmt: skip


def of_other_people(c: Comparison) -> float:
    """The share of the relations that a fresh sample keeps: less than 1, for the real table is a sample as well.

    Two samples are farther apart than one is from what it was drawn from, by the square root of 1 + m / n.
    """
    try:
        pairs = relations(c)
    except MetricError:
        return 1.0
    farther = float(pairs.fresh.sum()) * (math.sqrt(1 + c.m / c.n) - 1)
    return max(0.0, 1 - farther / float((pairs.unrelated - pairs.fresh).sum()))


def whole(found: Verdict, c: Comparison) -> Iterator[Finding]:
    """What is lost of the relations as a whole, or that even single columns are off; nothing where all is well."""
    ones, floor = found.ones.value, found.ones.floor or 0.0
    kept, fresh = found.relations_kept or 0.0, of_other_people(c)
    if found.grade in ("few", "few_alone", "shares"):
        weight = ones - floor
    elif found.grade == "bins":
        weight = 0.0 if found.pairs is None else found.pairs.score.value
    elif found.grade in ("weak", "kept"):
        weight = OF_SOME * (fresh - kept) if fresh - kept > NEARLY else 0.0
    else:
        weight = 1 - kept if found.grade == "gone" else 0.0
    if weight > 0:
        remedy = {"kept": "more", "bins": "bins"}.get(found.grade, "budget")
        yield Finding(key="relations", weight=weight, real=1.0, synthetic=found.relations_kept, fresh=fresh,
                      what={"grade": found.grade}, remedy=remedy)  # fmt: skip
