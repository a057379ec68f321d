"""Children spread over the columns of their parents: what a fit leaves to chance follows what is expected of it. Blind.

A fit matches coarse tables, and leaves to chance which values of a coarse cell go together, and how pairs that were not
measured come out: as far off as a fresh sample would be. Released tables, or for pairs without one the fitted records
at a coarse resolution, let expect a count of each fine cell, and records that come near it are nearer the truth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Coarsening, LinkedAxis, LinkedRecords, LinkedTarget
from dpsyn_core.runs.trees.pair_choice import by_chance
from dpsyn_core.runs.trees.stages import Stage
from dpsyn_core.schema import CodedAttribute
from dpsyn_core.systems import RlsEvidence, beyond

Floats = NDArray[np.float64]

FEWEST_CELLS = 200  # of a table: fewer hold many records each, of which chance moves a small part
FINEST = 128  # values of a column; where it has more, about this many with equally many records
COARSE = 8.0  # values at which pairs without a table are read off the fitted records
NOISIEST = 0.006  # noise of a typical table, as part of the records, above which pairs of own columns fit worse
NOISE = 1.0  # of the noise of a typical table; with less, pairs of own columns fit worse


def spread_targets(
    stage: Stage, evidence: RlsEvidence, records: LinkedRecords, targets: Sequence[LinkedTarget]
) -> list[LinkedTarget]:
    """Tables of each child column with each column of parent or root, at the resolution of the targets.

    Siblings in single roles are left out: what ties a child to them is a difference, finer than tables of both; so are
    dates of which the time between is measured. There are none where noise is large: pairs of child columns came out
    further off.

    Args:
        stage: of the records.
        evidence: what is released of it.
        records: fitted to the targets.
        targets: what they were fitted to.
    """
    tables = [t.sigma for t in targets if len(t.axes) > 1 and not t.coupled]
    sigma = NOISE * float(np.median(tables or [t.sigma for t in targets]))
    if sigma > NOISIEST * float(records.weight.sum()):
        return []
    measured = {m.attributes: evidence.maps(m) for m in evidence.joint}
    columns = list(enumerate(stage.view.columns[: records.rows.shape[1]]))
    spanned = {c.of for c in stage.view.columns if c.span is not None}
    out = []
    for i, above in columns[: records.first_own]:
        for k, child in columns[records.first_own :]:
            pair, places = (above.attribute.name, child.attribute.name), (i, k)
            fine = [_fine(evidence, n) for n in pair]
            if above.sibling or places in spanned or fine[0].size * fine[1].size < FEWEST_CELLS:
                continue
            sides = [_counts(records, (i,), stage), evidence.probabilities[k]]
            sides[1] = sides[1] / sides[1].sum() * sides[0].sum()
            if pair in measured:
                coarse = [measured[pair][n] for n in pair]
                ratio = _ratio(evidence.expected(pair, measured[pair]), evidence.product(pair, measured[pair]))
            else:
                coarse = [evidence.recode(n, COARSE) for n in pair]
                ratio = _fitted(records, places, sides, coarse, stage)
            first, second = (
                _between(c, side, column.attribute)
                for c, side, column in zip(coarse, sides, (above, child), strict=True)
            )
            whole = first.T @ ratio @ second / max(float(sides[0].sum()), 1e-300)
            values = fine[1].sum(fine[0].sum(whole), axis=1)
            stands, sums = fine[0].sum(sides[0]), values.sum(axis=1)
            alone = stands[:, None] * fine[1].sum(sides[1]) / max(float(stands.sum()), 1e-300)
            scale = np.divide(stands, sums, out=np.zeros_like(sums), where=sums > 0)
            values = np.where(sums[:, None] > 0, values * scale[:, None], alone)
            axes = tuple(LinkedAxis(map=m.map, column=at) for m, at in zip(fine, places, strict=True))
            out.append(LinkedTarget(axes=axes, values=values, sigma=sigma))
    return out


def _fine(evidence: RlsEvidence, name: str) -> Coarsening:
    size = evidence.domain[name].size
    return Coarsening.identity(size) if size <= FINEST else evidence.recode(name, float(FINEST))


def _ratio(found: Floats, alone: Floats) -> Floats:
    """How many times as many records a cell has as independence expects; 1 where it expects none."""
    return np.divide(found, alone, out=np.ones_like(alone), where=alone > 0)


def _fitted(
    records: LinkedRecords, places: tuple[int, int], sides: list[Floats], coarse: list[Coarsening], stage: Stage
) -> Floats:
    """The ratios of the coarse table of the records; what chance explains of them is taken away."""
    total = max(float(sides[0].sum()), 1e-300)
    counts = coarse[1].sum(coarse[0].sum(_counts(records, places, stage)), axis=1)
    alone = coarse[0].sum(sides[0])[:, None] * coarse[1].sum(sides[1]) / total
    apart = float(np.abs(counts - alone).sum())
    return 1 + (_ratio(counts, alone) - 1) * beyond(apart, by_chance(alone, records)) / max(apart, 1e-300)


def _between(coarse: Coarsening, side: Floats, attribute: CodedAttribute) -> Floats:
    """Counts of a column (coarse values, values): a value in order lies between the middles of two coarse ones."""
    size, ranked = len(side), attribute.size - attribute.special
    out = np.zeros((coarse.size, size))
    out[coarse.map, np.arange(size)] = 1.0
    steps = coarse.map[:ranked]
    if attribute.ordered and steps[-1] and (np.diff(steps) >= 0).all():
        mass = np.maximum(side[:ranked], 1e-12)
        middle = np.bincount(steps, mass * np.arange(ranked)) / np.bincount(steps, mass)
        at = np.interp(np.arange(ranked), middle, np.arange(len(middle)))
        low = np.minimum(at.astype(np.int64), len(middle) - 2)
        out[:, :ranked] = 0.0
        out[low, np.arange(ranked)] = 1 - (at - low)
        out[low + 1, np.arange(ranked)] = at - low
    return out * side


def _counts(records: LinkedRecords, places: tuple[int, ...], stage: Stage) -> Floats:
    """The weighted counts of some columns of the records, one axis each."""
    shape = tuple(stage.view.columns[p].attribute.size for p in places)
    cells = np.ravel_multi_index(tuple(records.rows[:, p] for p in places), shape)
    out: Floats = np.bincount(cells, records.weight, int(np.prod(shape))).reshape(shape).astype(np.float64)
    return out
