"""Dependence that a fit adds to pairs of children's columns against their scores, and how it is taken back. Blind.

As in one table (`synthesizers/rls/implied.py`): two causes of one outcome, as a team's trade and a member's years are
of pay, come out dependent on each other where only their pairs with the outcome were measured. The released score of
the pair says that they should not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.linked.evidence import ViewEvidence
from dpsyn_core.linked.stages import Stage
from dpsyn_core.records.linked import LinkedAxis, LinkedRecords, LinkedTarget
from dpsyn_core.synthesizers.rls.implied import beyond
from dpsyn_core.synthesizers.rls.pairs import sampling_errors

Floats = NDArray[np.float64]


def by_chance(alone: Floats, records: LinkedRecords) -> float:
    """Mean L1 distance of the weighted counts of independent columns from these, which they are expected to have."""
    held = max(float(alone.sum()), 1e-300)
    one = float(np.square(records.weight, dtype=np.float64).sum()) / held  # as much as a record adds to the noise
    (chance,) = sampling_errors([alone / one])
    return float(chance) * one


def denied_targets(
    stage: Stage, evidence: ViewEvidence, records: LinkedRecords, targets: Sequence[LinkedTarget]
) -> list[LinkedTarget]:
    """Tables for pairs without one that the records make more dependent than their scores allow.

    The goal keeps the dependence of the records, at the strength of the score.

    Args:
        stage: of the records.
        evidence: what is released of it, with the scores of its pairs.
        records: fitted to the targets.
        targets: what they were fitted to.
    """
    tables, scores = [t.sigma for t in targets if len(t.axes) > 1 and not t.coupled], evidence.scores
    if scores is None or not tables:
        return []
    sigma, held = float(np.median(tables)), float(records.weight.sum())
    scale, most = held / evidence.total, scores.bounds(evidence.tuning.pairs.denied)
    place = {c.attribute.name: i for i, c in enumerate(stage.view.columns[: records.rows.shape[1]])}
    measured = {m.attributes for m in evidence.joint}
    out = []
    for pair, score in zip(scores.sets, scores.values, strict=True):
        if pair in measured or not place.keys() >= set(pair):
            continue
        maps = evidence.scored_at(pair)
        alone = evidence.product(pair, maps) * scale
        cells = np.ravel_multi_index([maps[n].map[records.rows[:, place[n]]] for n in pair], alone.shape)
        found = np.bincount(cells, records.weight, alone.size).reshape(alone.shape) - alone
        chance = by_chance(alone, records)
        fitted = beyond(float(np.abs(found).sum()), chance)
        if fitted <= beyond(most[pair] * scale, chance):
            continue
        goal = alone + found * (beyond(float(score) * scale, chance) / fitted)
        axes = tuple(LinkedAxis(map=maps[n].map, column=place[n]) for n in pair)
        out.append(LinkedTarget(axes=axes, values=goal, sigma=sigma))
    return out
