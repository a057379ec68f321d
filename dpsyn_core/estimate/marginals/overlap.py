"""Agreement of marginals on the attributes that they share.

The intersection lattice of attribute sets: where measurements overlap.

The number of records, estimated from released tables by inverse variance.

Overlap consistency: measurements agree wherever they share attributes, are non-negative, share a total.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import AgreementWarning, EngineError, SizeError
from dpsyn_core.estimate.marginals.simplex import RIPPLE_DEPTH, RULES, NonNegativeRule, norm_sub
from dpsyn_core.estimate.marginals.types import Measurement, project, spread
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet

MAX_OVERLAPS = 50_000


def overlaps(sets: Sequence[AttributeSet]) -> list[tuple[AttributeSet, list[int]]]:
    """All intersections of two or more sets, smallest first, each with the positions of the sets that contain it.

    The list is closed under intersection and starts with the empty set, which every set contains. Visiting in this
    order lets a correction on a larger overlap leave the smaller ones untouched.

    Raises:
        SizeError: more than 50,000 overlaps.
    """
    names = [n for names in sets for n in names]
    position = {n: i for i, n in enumerate(dict.fromkeys(names))}
    masks = [sum(1 << position[n] for n in names) for names in sets]
    closed = _closure(masks, max((len(s) for s in sets), default=0))
    holders = _holders(closed, masks)
    out = []
    for mask in sorted(closed, key=lambda m: (m.bit_count(), m)):
        if len(holders[mask]) > 1 or (mask == 0 and sets):
            first = holders[mask][0]
            out.append((tuple(n for n in sets[first] if mask >> position[n] & 1), holders[mask]))
    return out


def _closure(masks: list[int], largest: int) -> set[int]:
    """Closure under intersection, with the empty set; pairs need no search."""
    if largest <= 2:
        singles = {1 << b for m in masks for b in range(m.bit_length()) if m >> b & 1}
        return {0} | singles | set(masks)
    closed: set[int] = {0}
    for mask in dict.fromkeys(masks):
        closed |= {mask & other for other in closed} | {mask}
        if len(closed) > MAX_OVERLAPS:
            msg = f"the attribute sets overlap in more than {MAX_OVERLAPS} ways; measure fewer or smaller sets"
            raise SizeError(msg)
    return closed


def _holders(closed: set[int], masks: list[int]) -> dict[int, list[int]]:
    """Overlap -> positions of the sets that contain it; only sets with its rarest attribute are looked at."""
    by_bit: dict[int, list[int]] = {}
    for i, mask in enumerate(masks):
        for b in range(mask.bit_length()):
            if mask >> b & 1:
                by_bit.setdefault(b, []).append(i)
    out: dict[int, list[int]] = {}
    for overlap in closed:
        bits = [b for b in range(overlap.bit_length()) if overlap >> b & 1]
        pool = min((by_bit[b] for b in bits), key=len) if bits else range(len(masks))
        out[overlap] = [i for i in pool if masks[i] & overlap == overlap]
    return out


def total_weights(cells: Sequence[int], sigmas: Sequence[float]) -> list[float]:
    """Weights, adding up to 1, of tables whose sums have variance cells * sigma^2."""
    raw = [1 / (c * s**2) if s > 0 else np.inf for c, s in zip(cells, sigmas, strict=True)]
    if any(np.isinf(w) for w in raw):
        raw = [1.0 if np.isinf(w) else 0.0 for w in raw]
    return [float(w / sum(raw)) for w in raw]


def estimate_total(measured: Sequence[Measurement]) -> float:
    """The number of records: sums of the tables weighted by 1 / (cells sigma^2), never below 0.

    The plain mean of the sums lets the largest tables, which are the noisiest, count as much as the smallest:
    on all pairs of Adult it has five times the standard deviation.
    """
    if not measured:
        return 0.0
    weights = total_weights([m.cells for m in measured], [m.sigma for m in measured])
    return max(0.0, float(sum(w * m.values.sum() for w, m in zip(weights, measured, strict=True))))


Array = NDArray[np.float64]
TOLERANCE = 1e-9  # counts; a cell above minus this is not negative
APART = 0.1  # counts; tables that differ by less on every cell of an overlap agree
SCALINGS = 1000  # rounds at most; 20 to 90 were needed for the pairs of Adult, 6 to 36 for views of eight attributes
FLOOR = 1e-3  # of the mean cell: what a scaling can raise a cell from


def make_consistent(
    measured: Sequence[Measurement],
    *,
    rule: NonNegativeRule = "norm_sub",
    rounds: int = 30,
    total: float | None = None,
    scaled: bool = True,
    progress: Progress = silent,
) -> list[Measurement]:
    """Non-negative tables of one total that agree on overlaps.

    Rounds of agreeing and of removing negative cells converge slowly: ten leave the pairs of Adult, with noise of 60,
    hundreds of records apart. What is left after them is scaled away, which keeps cells non-negative.

    Args:
        measured: released tables; an attribute has the same resolution on all of them.
        rule: how negative cells are removed; "none" makes one pass over the overlaps and stops. Where all cells are
            above minus RIPPLE_DEPTH, norm_sub takes over from ripple.
        rounds: cap on the alternation before the scaling.
        total: the number of records when it is public; otherwise it is estimated by inverse variance.
        scaled: False leaves what is apart after the rounds: records that follow such tables come out closer, since
            they average over them.
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
        if scaled:
            scale(values, sets, sigmas, lattice)
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


def scale(
    values: list[Array],
    sets: Sequence[AttributeSet],
    sigmas: Sequence[float],
    lattice: Sequence[tuple[AttributeSet, list[int]]],
) -> None:
    """Scales non-negative tables of one total, in place, until they agree on every overlap up to APART.

    On each overlap in turn, tables are multiplied to their weighted mean: proportional fitting to a goal that moves.
    Cells get a thousandth of the mean cell first, so that none is stuck at 0, but where there is no noise. Tables that
    agree stay as they are.

    Warns:
        AgreementWarning: they differ by more after SCALINGS rounds.
    """
    shared = [(names, holders) for names, holders in lattice if names and len(holders) > 1]
    for done in range(SCALINGS):
        worst = 0.0
        for names, holders in shared:
            sums = [project(values[i], sets[i], names) for i in holders]
            apart = float(np.ptp([s.ravel() for s in sums], axis=0).max())
            worst = max(worst, apart)
            if not done or apart == 0:  # the first round only looks
                continue
            spans = [values[i].size // max(s.size, 1) for i, s in zip(holders, sums, strict=True)]
            weights = total_weights(spans, [sigmas[i] for i in holders])
            goal = sum((w * s for w, s in zip(weights, sums, strict=True)), start=np.zeros_like(sums[0]))
            for i, s in zip(holders, sums, strict=True):
                values[i] *= spread(goal / np.where(s > 0, s, 1), names, sets[i])
        if worst <= APART and _apart(values, sets, shared) <= APART:  # a round moves tables after it saw them
            return
        if not done:
            exact = [s == 0 and max(sigmas) > 0 for s in sigmas]
            values[:] = [v if e else (v + FLOOR * v.mean()) / (1 + FLOOR) for v, e in zip(values, exact, strict=True)]
    if (worst := _apart(values, sets, shared)) > APART:
        msg = (
            f"released tables that should agree within {APART} counts still differ by {worst:.3g} on a cell that they "
            f"share, after {SCALINGS} rounds of scaling; a figure depends by as much on the table it is read from: "
            "measure fewer sets of attributes, or with less noise"
        )
        warnings.warn(msg, AgreementWarning, stacklevel=3)


def disagreement(measured: Sequence[Measurement]) -> float:
    """The largest difference between two tables on a cell of an overlap, in counts; 0 when they are consistent."""
    sets = [m.attributes for m in measured]
    return _apart([m.values for m in measured], sets, overlaps(sets))


def _apart(
    values: Sequence[Array], sets: Sequence[AttributeSet], lattice: Sequence[tuple[AttributeSet, list[int]]]
) -> float:
    worst = 0.0
    for names, holders in lattice:
        sums = np.array([project(values[i], sets[i], names).ravel() for i in holders])
        worst = max(worst, float(np.ptp(sums, axis=0).max(initial=0.0)))
    return worst


def _check_resolution(measured: Sequence[Measurement]) -> None:
    sizes: dict[str, int] = {}
    for m in measured:
        for name, size in zip(m.attributes, m.values.shape, strict=True):
            if sizes.setdefault(name, size) != size:
                msg = f"attribute '{name}' is measured at two resolutions; bring the tables to one first"
                raise EngineError(msg)
