"""Overlap consistency: measurements agree wherever they share attributes, are non-negative, share a total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.consistency.lattice import overlaps
from dpsyn_core.consistency.simplex import RIPPLE_DEPTH, RULES, Rule, norm_sub
from dpsyn_core.consistency.totals import total_weights
from dpsyn_core.errors import EngineError
from dpsyn_core.marginals.algebra import project, spread
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema.domain import AttributeSet

Array = NDArray[np.float64]
TOLERANCE = 1e-9  # counts; a cell above minus this is not negative


def make_consistent(
    measured: Sequence[Measurement],
    *,
    rule: Rule = "norm_sub",
    rounds: int = 30,
    total: float | None = None,
    progress: Progress = silent,
) -> list[Measurement]:
    """Makes tables agree on overlaps and non-negative in turn; the result is non-negative tables of one total.

    Args:
        measured: released tables; an attribute has the same resolution on all of them.
        rule: how negative cells are removed; "none" makes one pass over the overlaps and stops. Where all cells are
            above minus RIPPLE_DEPTH, norm_sub takes over from ripple.
        rounds: cap on the alternation.
        total: the number of records when it is public; otherwise it is estimated by inverse variance.
        progress: reports the rounds.

    Returns:
        The measurements in the same order, with new values and the old sigma.

    Source: Qardaji, Yang, Li 2014 (PriView), sections 4.2-4.4, with inverse-variance weights.
    """
    _check_resolution(measured)
    values = [np.array(m.values, dtype=np.float64) for m in measured]
    sets = [m.attributes for m in measured]
    sigmas = [m.sigma for m in measured]
    lattice = overlaps(sets)
    for step in range(rounds if rule != "none" else 1):
        agree(values, sets, sigmas, lattice, total=total)
        worst = min((float(v.min()) for v in values if v.size), default=0.0)
        progress("consistency", step + 1, rounds, worst)
        if worst >= -TOLERANCE or rule == "none":
            break
        # ripple leaves shallow cells alone, so that more rounds of it would change nothing and tables stay apart
        remove = norm_sub if rule == "ripple" and worst >= -RIPPLE_DEPTH else RULES[rule]
        values = [remove(v) for v in values]
    if rule != "none" and values:
        weights = total_weights([v.size for v in values], sigmas)
        sums = sum(w * float(v.sum()) for w, v in zip(weights, values, strict=True))
        goal = max(0.0, sums if total is None else total)
        values = [norm_sub(v, goal) for v in values]
    return [replace(m, values=v) for m, v in zip(measured, values, strict=True)]


def agree(
    values: list[Array],
    sets: Sequence[AttributeSet],
    sigmas: Sequence[float],
    lattice: Sequence[tuple[AttributeSet, list[int]]],
    *,
    total: float | None = None,
) -> None:
    """One pass over the overlaps, in place: the tables that contain an overlap are moved to their weighted mean on it.

    A cell of the overlap sums g cells of a table, so its variance there is g sigma^2; the correction is spread
    evenly over those g cells, which leaves every smaller overlap as it was.
    """
    for names, holders in lattice:
        sums = [project(values[i], sets[i], names) for i in holders]
        spans = [values[i].size / max(s.size, 1) for i, s in zip(holders, sums, strict=True)]
        if not names and total is not None:
            goal = np.array(float(total))
        else:
            weights = total_weights([round(g) for g in spans], [sigmas[i] for i in holders])
            goal = sum((w * s for w, s in zip(weights, sums, strict=True)), start=np.zeros_like(sums[0]))
        if not names:
            goal = np.maximum(goal, 0)
        for i, s, g in zip(holders, sums, spans, strict=True):
            values[i] += spread((goal - s) / g, names, sets[i])


def disagreement(measured: Sequence[Measurement]) -> float:
    """The largest difference between two tables on a cell of an overlap, in counts; 0 when they are consistent."""
    worst = 0.0
    for names, holders in overlaps([m.attributes for m in measured]):
        sums = np.array([project(measured[i].values, measured[i].attributes, names).ravel() for i in holders])
        worst = max(worst, float(np.ptp(sums, axis=0).max(initial=0.0))) if len(holders) > 1 else worst
    return worst


def _check_resolution(measured: Sequence[Measurement]) -> None:
    sizes: dict[str, int] = {}
    for m in measured:
        for name, size in zip(m.attributes, m.values.shape, strict=True):
            if sizes.setdefault(name, size) != size:
                msg = f"attribute '{name}' is measured at two resolutions; bring the tables to one first"
                raise EngineError(msg)
