"""Which pairs of children's columns are measured, and which constraints a fit gets from them. Released values alone.

That a household has no spouse stands in each column of the spouse, and each of them depends on the role of a child as
much as the first. Scores compare with independence and ask for a table of each. Once one is measured, a fit gives the
others the same dependence, for the joint table of the context columns is fixed.

A fit may also add dependence against a released score, as in one table (`systems/rls/implied_dependence.py`): two
causes of one outcome, as a team's trade and a member's years are of pay, come out dependent on each other where only
their pairs with the outcome were measured. `denied_targets` takes it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import LinkedAxis, LinkedRecords, LinkedTarget, Measurement, Recodes
from dpsyn_core.measure import choose_tables
from dpsyn_core.runs.trees.stages import Columns, Stage
from dpsyn_core.schema import AttributeSet, Domain
from dpsyn_core.systems import RlsEvidence, beyond, sampling_errors

Floats = NDArray[np.float64]
STRENGTH = np.pi / 2  # of a Gaussian copula, for its L1 distance from independence, a record
MOST_TOLD = 0.5  # of its score must a pair have left, for a table that tells others


class ViewEvidence(RlsEvidence):
    """What is released of a view, with the scores of its pairs and how coarse their columns were in them."""

    def __init__(self, domain: Domain, measured: Sequence[Measurement], n: int, coarse: Sequence[Recodes] = ()) -> None:
        """Coarse: as of `usual_recodes`, where `measured` has scores."""
        super().__init__(domain, measured, n)
        self._coarse = coarse

    def scored_at(self, pair: AttributeSet) -> Recodes:
        """How coarse the columns of a scored pair were."""
        return self._coarse[len(self.numbers.intersection(pair))]


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """Chooses among scored pairs of a view; called as `measurement.select.choose_tables`.

    places: of the columns of each pair. kept: which pairs count in full. total: weight of all records. standing: (its
    columns, its columns), how strongly columns that stand depend on each other, from 0 to 1; 0 for others.
    """

    places: NDArray[np.int64]
    kept: NDArray[np.bool_]
    total: float
    standing: Floats

    @classmethod
    def by(
        cls,
        evidence: RlsEvidence,
        pairs: Sequence[AttributeSet],
        coarse: Sequence[Recodes],
        columns: Columns,
        weights: NDArray[np.float64],
    ) -> Told:
        """What the columns that stand tell.

        Args:
            evidence: the released one-ways of a view.
            pairs: that are scored.
            coarse: how coarse columns are in them; see `usual_recodes`.
            columns: context columns of the synthetic records, the first of the view.
            weights: of these records.
        """
        names = evidence.domain.names
        standing = np.zeros((len(names), len(names)))
        for j in range(len(columns)):
            for i in range(j):
                maps = coarse[len(evidence.numbers.intersection((names[i], names[j])))]
                first, second = maps[names[i]], maps[names[j]]
                cells = np.ravel_multi_index((first.map[columns[i]], second.map[columns[j]]), (first.size, second.size))
                table: Floats = np.bincount(cells, weights, first.size * second.size).astype(np.float64)
                standing[i, j] = standing[j, i] = _dependence(table.reshape(first.size, second.size), weights)
        # how many children there are decides what each weighs: without such tables, counts of records are off
        kept = np.array([any(n.endswith(": number") for n in pair) for pair in pairs])
        places = np.array([[evidence.domain.index(n) for n in pair] for pair in pairs])
        return cls(
            places=places, kept=kept, total=max(evidence.total, 1.0), standing=np.minimum(standing * STRENGTH, 1.0)
        )

    def __call__(self, errors: Floats, cells: Floats, **how: Any) -> NDArray[np.intp]:
        """The option of every pair; see `choose_tables`."""
        left = self.left(errors[:, 0], choose_tables(errors, cells, **how) > 0)[:, None]
        return choose_tables(np.where(np.isfinite(errors), np.minimum(errors, left), errors), cells, **how)

    def left(self, scores: Floats, chosen: NDArray[np.bool_]) -> Floats:
        """What is left of each score, once the strongest of the chosen pairs and the context explain their part.

        Strengths multiply along a path over one column in between; errors that have nothing to do with each other add
        in squares.
        """
        strengths, left = self.standing.copy(), scores.copy()
        telling = np.zeros(len(scores), dtype=bool)

        def less_told(at: int) -> float:
            i, j = self.places[at]
            return beyond(float(scores[at]), float((strengths[i] * strengths[j]).max()) * self.total / STRENGTH)

        for at in np.argsort(-scores, kind="stable").tolist():
            if chosen[at] and less_told(at) > MOST_TOLD * scores[at]:
                left[at], telling[at] = less_told(at), True
                i, j = self.places[at]
                strengths[i, j] = strengths[j, i] = max(strengths[i, j], min(scores[at] / self.total * STRENGTH, 1.0))
        for at in np.flatnonzero(~telling).tolist():
            left[at] = less_told(at)
        return np.where(self.kept, scores, left)


def _dependence(table: Floats, weights: NDArray[np.float64]) -> float:
    """L1 distance of a table from independence that chance does not explain, a record."""
    total = float(table.sum())
    if total <= 0:
        return 0.0
    alone = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    one = float(np.square(weights).sum()) / total
    (chance,) = sampling_errors([alone / one])
    return beyond(float(np.abs(table - alone).sum()), float(chance) * one) / total


def by_chance(alone: Floats, records: LinkedRecords) -> float:
    """Mean L1 distance of the weighted counts of independent columns from these, which they are expected to have."""
    total = max(float(alone.sum()), 1e-300)
    one = float(np.square(records.weight, dtype=np.float64).sum()) / total  # as much as a record adds to the noise
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
    sigma, total = float(np.median(tables)), float(records.weight.sum())
    scale, most = total / evidence.total, scores.bounds(evidence.tuning.pairs.denied)
    place = {c.attribute.name: i for i, c in enumerate(stage.view.columns[: records.rows.shape[1]])}
    measured = {m.attributes for m in evidence.joint}
    out = []
    for pair, score in zip(scores.sets, scores.values, strict=True):
        if pair in measured or not place.keys() >= set(pair):
            continue
        maps = evidence.scored_at(pair)
        alone = evidence.product(pair, maps) * scale
        cells = np.ravel_multi_index([maps[n].map[records.rows[:, place[n]]] for n in pair], alone.shape)
        excess = np.bincount(cells, records.weight, alone.size).reshape(alone.shape) - alone
        chance = by_chance(alone, records)
        fitted = beyond(float(np.abs(excess).sum()), chance)
        if fitted <= beyond(most[pair] * scale, chance):
            continue
        goal = alone + excess * (beyond(float(score) * scale, chance) / fitted)
        axes = tuple(LinkedAxis(map=maps[n].map, column=place[n]) for n in pair)
        out.append(LinkedTarget(axes=axes, values=goal, sigma=sigma))
    return out
