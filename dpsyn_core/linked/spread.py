"""Children spread over the columns of their parents: what a fit leaves to chance follows what is expected of it. Blind.

A fit matches coarse tables, and leaves to chance which values of a coarse cell go together, and how pairs that were not
measured come out: as far off as a fresh sample would be. Released tables, or for pairs without one the fitted records
at a coarse resolution, let expect a count of each fine cell, and records that come near it are nearer the truth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.linked.stages import Stage
from dpsyn_core.marginals.coarsening import Coarsening
from dpsyn_core.records.linked import LinkedAxis, LinkedRecords, LinkedTarget
from dpsyn_core.synthesizers.rls.implied import beyond
from dpsyn_core.synthesizers.rls.pairs import sampling_errors
from dpsyn_core.synthesizers.rls.view import RlsEvidence

Floats = NDArray[np.float64]

FEWEST_CELLS = 200  # of a table: fewer hold many records each, of which chance moves a small part
FINEST = 128  # values of a column; where it has more, about this many with equally many records
COARSE = 8.0  # values at which pairs without a table are read off the fitted records
NOISE = 0.5  # of the noise of a typical table; with .25 and 1 records came out about as near


def spread_targets(
    stage: Stage, evidence: RlsEvidence, records: LinkedRecords, targets: Sequence[LinkedTarget]
) -> list[LinkedTarget]:
    """Tables of each own column with each column of parent or root, as fine as these are.

    Siblings in single roles are left out: what ties a child to them is a difference, finer than tables of both.

    Args:
        stage: of the records.
        evidence: what is released of it.
        records: fitted to the targets.
        targets: what they were fitted to.
    """
    tables = [t.sigma for t in targets if len(t.axes) > 1 and not t.coupled]
    sigma = NOISE * float(np.median(tables or [t.sigma for t in targets]))
    measured = {m.attributes for m in evidence.joint}
    columns = list(enumerate(stage.view.columns[: records.rows.shape[1]]))
    out = []
    for i, above in columns[: records.first_own]:
        for k, own in columns[records.first_own :]:
            pair, places = (above.attribute.name, own.attribute.name), (i, k)
            fine = [_fine(evidence, n) for n in pair]
            if above.sibling or fine[0].size * fine[1].size < FEWEST_CELLS:
                continue
            sides = [_counts(records, (i,), stage), evidence.probabilities[k]]
            sides[1] = sides[1] / sides[1].sum() * sides[0].sum()
            if pair in measured:
                values = evidence.expected(pair, dict(zip(pair, fine, strict=True)))
            else:
                values = _fitted(records, places, sides, [evidence.recode(n, COARSE) for n in pair], fine, stage)
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


def _fitted(
    records: LinkedRecords, places: tuple[int, int], sides: list[Floats], coarse: list[Coarsening],
    fine: list[Coarsening], stage: Stage,
) -> Floats:  # fmt: skip
    """What the coarse table of the records lets expect of the fine one; what chance explains of it is taken away."""
    counted = _counts(records, places, stage)
    held = max(float(sides[0].sum()), 1e-300)
    found = coarse[1].sum(coarse[0].sum(counted), axis=1)
    alone = coarse[0].sum(sides[0])[:, None] * coarse[1].sum(sides[1]) / held
    apart = float(np.abs(found - alone).sum())
    one = float(np.square(records.weight, dtype=np.float64).sum()) / held  # as much as a record adds to the noise
    (chance,) = sampling_errors([alone / one])
    ratio = 1 + np.divide(found - alone, alone, out=np.zeros_like(alone), where=alone > 0) * (
        beyond(apart, float(chance) * one) / max(apart, 1e-300)
    )
    crossed = []
    for c, f, side in zip(coarse, fine, sides, strict=True):
        both = np.bincount(c.map * f.size + f.map, side, c.size * f.size)
        crossed.append(both.reshape(c.size, f.size))
    out: Floats = crossed[0].T @ ratio @ crossed[1] / held
    return out


def _counts(records: LinkedRecords, places: tuple[int, ...], stage: Stage) -> Floats:
    """The weighted counts of some columns of the records, one axis each."""
    shape = tuple(stage.view.columns[p].attribute.size for p in places)
    cells = np.ravel_multi_index(tuple(records.rows[:, p] for p in places), shape)
    out: Floats = np.bincount(cells, records.weight, int(np.prod(shape))).reshape(shape).astype(np.float64)
    return out
