"""Evidence: what was released, and what each released table alone says about a batch of functionals. Blind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement, ReleasedTables, merged, noisy_total, proper
from dpsyn_core.questions.answers.functionals import Batch, Floats, merged_weights
from dpsyn_core.schema import AttributeSet, Domain

CLOSE = 1e-9  # relative difference of weights that counts as none


@dataclass(frozen=True, kw_only=True, slots=True)
class TableEvidence:
    """What one released table says about K functionals that it covers.

    values: float64 (K,), sums over its noisy cells. weights: float64 (K, *coarse sizes), of those sums. variance: (K,),
    that of their noise. cells: (K,), effective number of cells, (sum w^2)^2 / sum w^4. inside: float64 (K, *sizes),
    weights less their averages over coarse values, or None where all functionals are aligned with its cells. aligned:
    bool (K,).
    """

    values: Floats
    weights: Floats
    variance: Floats
    cells: Floats
    aligned: NDArray[np.bool_]
    inside: Floats | None


class Evidence:
    """Released tables of one run, each once."""

    def __init__(
        self,
        domain: Domain,
        measured: Sequence[Measurement],
        *,
        n_public: int | None,
        scores: Mapping[AttributeSet, float] | None = None,
        pure: bool = False,
        made: int = 0,
    ) -> None:
        """Reads what was released.

        Args:
            domain: of the schema.
            measured: the released tables.
            n_public: the number of records where it is public.
            scores: released dependence of attribute sets, in records; None where none was kept.
            pure: whether the noise was two-sided geometric.
            made: number of synthetic records; the only number of records where none is public and nothing was measured.
        """
        self.domain, self.n_public, self.pure = domain, n_public, pure
        self.tables = merged(measured)
        self.sums = measured.sums if isinstance(measured, ReleasedTables) else ()
        self.scores = dict(scores or {})
        self.joint = [t for t in self.tables if len(t.attributes) > 1]
        released = noisy_total(self.tables) if self.tables else float(made)
        self.total = released if n_public is None else float(n_public)

    def covering(self, names: AttributeSet) -> list[Measurement]:
        """Released tables that tell values of all of some attributes apart: one coarse value for all says nothing."""
        asked = set(names)
        return [t for t in self.tables if asked <= self._told(t)]

    def covered(self, names: AttributeSet) -> bool:
        """Whether one released table does so."""
        return bool(self.covering(names))

    def _told(self, table: Measurement) -> set[str]:
        sizes = zip(table.attributes, table.values.shape, strict=True)
        return {n for n, size in sizes if size > 1 or self.domain[n].size == 1}

    def _by_noise(self, names: AttributeSet) -> list[list[Measurement]]:
        """Covering tables, those together whose noise is the same."""
        out: dict[object, list[Measurement]] = {}
        for i, table in enumerate(self.covering(names)):
            out.setdefault(table.shared or i, []).append(table)
        return list(out.values())

    def strength(self, names: AttributeSet, fitted: float) -> float:
        """Dependence of attributes as a share of the records: that of the fit, or what the released score bounds."""
        score = self.scores.get(names)
        return fitted if score is None else max(fitted, score / max(self.total, 1.0))

    def read(self, table: Measurement, batch: Batch, margins: Mapping[str, Floats]) -> TableEvidence:
        """What a table that covers a batch says about it: aligned functionals exactly, others by coarse averages."""
        names = batch.attributes
        dropped = tuple(i for i, n in enumerate(table.attributes) if n not in names)
        summed = int(np.prod([table.values.shape[i] for i in dropped], dtype=np.int64))
        projected = table.values.sum(axis=dropped)
        recodes = [proper(table.recodes.get(n)) for n in names]
        weights, inside = batch.weights, None
        aligned = np.ones(len(weights), dtype=bool)
        if any(r is not None for r in recodes):
            weights, inside = merged_weights(weights, recodes, [margins[n] for n in names])
            k = len(inside)
            span = np.abs(batch.weights).reshape(k, -1).max(axis=1, initial=0.0)
            aligned = np.abs(inside).reshape(k, -1).max(axis=1, initial=0.0) <= CLOSE * np.maximum(span, 1e-300)
            inside = None if aligned.all() else inside
        flat = weights.reshape(len(weights), -1)
        squares = (flat**2).sum(axis=1)
        fourth = np.maximum((flat**4).sum(axis=1), 1e-300)
        return TableEvidence(
            values=flat @ projected.ravel(),
            weights=weights,
            variance=table.sigma**2 * summed * squares,
            cells=np.maximum(squares**2 / fourth, 1.0) * summed,
            aligned=aligned,
            inside=inside,
        )

    def known(self, batch: Batch, margins: Mapping[str, Floats]) -> tuple[Floats, Floats, Floats]:
        """Aligned tables put together by inverse variance: estimate, variance and effective cells, (K,) each.

        NaN, infinity and 1 where no single table is aligned with a functional. The total of a public number of records
        is exact. Of tables that share their noise, each functional is read off the one with the least.
        """
        k = len(batch.weights)
        precision, mean, cells = np.zeros(k), np.zeros(k), np.ones(k)
        if not batch.attributes and self.n_public is not None:
            return batch.weights * float(self.n_public), np.zeros(k), cells
        for same in self._by_noise(batch.attributes):
            least, values, wide = np.full(k, np.inf), np.zeros(k), np.ones(k)
            for table in same:
                got = self.read(table, batch, margins)
                better = got.aligned & (got.variance > 0) & (got.variance < least)
                least = np.where(better, got.variance, least)
                values, wide = np.where(better, got.values, values), np.where(better, got.cells, wide)
            weight = 1 / least
            precision += weight
            mean += weight * values
            cells = np.maximum(cells, wide)
        some = precision > 0
        return (
            np.divide(mean, precision, out=np.full(k, np.nan), where=some),
            np.divide(1.0, precision, out=np.full(k, np.inf), where=some),
            cells,
        )
