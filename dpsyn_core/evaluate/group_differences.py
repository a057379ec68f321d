"""Gaps between groups: the means of a number by group in both tables, and whether their order is kept. Private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.inequality import PayGap
from dpsyn_core.evaluate.shifts import GroupMeans, gaps

GapGrade = Literal["kept", "moved", "weaker", "lost"]
KEPT, WEAKER = 0.8, 0.3  # share of the gaps, or rank agreement, from which on they are kept, and weaker
MOST = 8  # groups that are shown, those with the most records


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupGaps:
    """A number by the groups of another column, or its gap between two values of `between` by these groups.

    kept: share of the gaps that is left, or the rank agreement of the groups; 1 where real groups do not differ. fresh:
    what fresh samples of the same people have at least, or None. grade: moved where the largest gaps are
    left, but the means of these groups are far off.
    """

    column: str
    by: str
    between: str
    sides: tuple[str, ...]
    groups: tuple[str, ...]
    real: tuple[float, ...]
    synthetic: tuple[float | None, ...]
    kept: float
    fresh: float | None
    grade: GapGrade


def group_gaps(c: Comparison) -> GroupGaps | None:
    """The pay gap by group where the schema names one, else the number that differs most between groups.

    Where that one is kept, a number of which the means of groups moved comes instead.
    """
    if "group gaps" not in c.scores:
        c.scores["group gaps"] = _pay_gap(c) or _strongest(c)
    gap: GroupGaps | None = c.scores["group gaps"]
    return gap


def _grade(kept: float, least: float) -> GapGrade:
    return "kept" if kept >= least else "weaker" if kept >= WEAKER else "lost"


def _pay_gap(c: Comparison) -> GroupGaps | None:
    try:
        got = PayGap().score(c)
    except MetricError:
        return None
    d, agreement = got.details, got.details["fresh_agreement"]
    least = KEPT if agreement is None else min(KEPT, float(agreement[0]))
    rows = [r for r in d["groups"] if r["gap_real"] is not None]
    if d["group"] is None or len(rows) < 2:
        return None
    rows = sorted(rows, key=lambda r: -int(r["size_real"]))[:MOST]
    return GroupGaps(
        column=d["income"],
        by=d["group"],
        between=d["split"],
        sides=tuple(d["sides"]),
        groups=tuple(str(r["group"]) for r in rows),
        real=tuple(float(r["gap_real"]) for r in rows),
        synthetic=tuple(r["gap_synthetic"] for r in rows),
        kept=got.value,
        fresh=None if agreement is None else float(agreement[0]),
        grade=_grade(got.value, least),
    )


def _strongest(c: Comparison) -> GroupGaps | None:
    listed = [g for g in gaps(c) if g.deviation > 0]
    moved = [g for g in listed if g.moved.any()]
    # others differ by a few large values alone
    clear = [g for g in listed if g.kept is not None and (g.kept >= KEPT or g.moved.any())]
    g = max(clear, key=_explained, default=None)
    of_means = bool(moved) and (g is None or float(g.kept or 0.0) >= KEPT)
    g = max(moved, key=_moved) if of_means else g
    if g is None:
        return None
    largest = np.argsort(-g.sizes[0], kind="stable")
    order = [int(k) for k in largest if g.sizes[0][k] > 0][:MOST]
    kept = 1.0 if g.kept is None else float(g.kept)
    return GroupGaps(
        column=g.column,
        by=g.category,
        between="",
        sides=(),
        groups=tuple(g.values[k] for k in order),
        real=tuple(float(g.real[k]) for k in order),
        synthetic=tuple(float(g.synthetic[k]) if g.sizes[1][k] > 0 else None for k in order),
        kept=kept,
        fresh=None,
        grade="moved" if of_means else _grade(kept, KEPT),
    )


def _moved(g: GroupMeans) -> float:
    """Mean square by which means of groups moved, over all records, in variances of the number."""
    far = (np.nan_to_num(g.synthetic) - np.nan_to_num(g.real)) * g.moved
    return float((g.sizes[0] * far**2).sum() / max(1, g.sizes[0].sum())) / g.deviation**2


def _explained(g: GroupMeans) -> float:
    """Share of the variance of the number that lies between the groups."""
    n, real = g.sizes[0], np.nan_to_num(g.real)
    whole = float((n * real).sum() / max(1, n.sum()))
    return float((n * (real - whole) ** 2).sum() / max(1, n.sum())) / g.deviation**2
